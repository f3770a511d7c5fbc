"""Imports: a file of people is read, checked, shown, applied to a roster in chunks, and can be taken back.

`steps` are what a person does, `work` what the worker does, `questions` what a screen shows; `columns`, `rows` and
`plan` are pure.
"""

from . import columns as columns
from .chunks import ROWS_IN_A_CHUNK as ROWS_IN_A_CHUNK
from .plan import PlannedRow as PlannedRow
from .plan import plan as plan
from .record import OUTCOMES as OUTCOMES
from .record import WORKING as WORKING
from .record import Import as Import
from .record import ImportChunk as ImportChunk
from .rows import LastRows as LastRows
from .rows import Notice as Notice
from .rows import RowReader as RowReader
