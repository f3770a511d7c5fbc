"""Deliveries: one event on its way to one subscription (service.md 6, contract 3 "Webhook attempts").

`record` has the rows and how they come into being, `claiming` and `results` what a sender does with them, `mending`
what a dead one left behind, `questions` and `counting` what screens ask, `refiring` what a person may repeat, `tally`
the counts for operators.
"""

from .record import Delivery as Delivery
from .record import DeliveryAttempt as DeliveryAttempt
from .tally import DeliveryTally as DeliveryTally
