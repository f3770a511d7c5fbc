"""A campaign's roster: who stands on it, how they are written, and how they are found.

The v2 API, the v1 API, the page, the import and the bundle all write through `upsert` and `upsert_many`.
"""

from .batch import locked as locked
from .batch import restore_many as restore_many
from .batch import stored as stored
from .batch import take_back as take_back
from .merge import NOBODY as NOBODY
from .merge import Merged as Merged
from .merge import merge as merge
from .participant import Participant as Participant
from .participant import as_public as as_public
from .participant import display_name as display_name
from .participant import stated_language as stated_language
from .placing import Placement as Placement
from .placing import place_many as place_many
from .questions import Filters as Filters
from .questions import Sort as Sort
from .questions import by_address as by_address
from .questions import count as count
from .questions import get as get
from .questions import page as page
from .questions import public_page as public_page
from .questions import selection as selection
from .questions import standing as standing
from .write import Written as Written
from .write import add as add
from .write import change as change
from .write import change_many as change_many
from .write import remove as remove
from .write import set_status as set_status
from .write import upsert as upsert
from .write import upsert_many as upsert_many
