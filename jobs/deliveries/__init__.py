"""Deliveries in the background: claim what is due, POST it on many threads, write what came of it, and again.

`draining` is one pass over what is due and alone touches the database, `sending` the threads that POST, `trust` when a
lease that ran out means that its sender is gone, `waking` who has this process drain.
"""

from .draining import RESERVE as RESERVE
from .draining import THREADS as THREADS
from .draining import Drain as Drain
from .draining import drain as drain
from .waking import FINISH_SECONDS as FINISH_SECONDS
from .waking import background as background
from .waking import finish as finish
from .waking import sweep_aside as sweep_aside
from .waking import wake as wake
