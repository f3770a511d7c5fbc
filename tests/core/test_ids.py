from uuid import RFC_4122, UUID

from core import clock
from core.ids import ALPHABET, first_of, is_id, new_id, new_ids


def test_ids_sort_in_the_order_of_their_creation():
    ids = [new_id("par") for _ in range(5000)]
    assert ids == sorted(ids)
    assert len(set(ids)) == len(ids)


def test_an_id_has_its_prefix_and_26_characters():
    made = new_id("cmp")
    assert is_id(made, "cmp")
    assert not is_id(made, "par")
    assert not is_id("cmp_short", "cmp")


def test_a_batch_of_ids_sorts_between_the_ids_before_and_after_it():
    before = new_id("par")
    batch = new_ids("par", 10_000)
    ids = [before, *batch, new_id("par")]
    assert ids == sorted(ids)
    assert len(set(ids)) == len(ids)
    assert all(is_id(each, "par") for each in batch)
    assert new_ids("par", 0) == []


def test_an_id_is_a_version_7_uuid_of_its_creation():
    at = clock.now_ms() + clock.DAY_MS
    made = new_ids("par", 2, at)[1]
    value = 0
    for char in made.removeprefix("par_"):
        value = value << 5 | ALPHABET.index(char)
    as_uuid = UUID(int=value)
    assert (as_uuid.version, as_uuid.variant, value >> 80) == (7, RFC_4122, at)
    assert first_of("par", at) < made < first_of("par", at + 1)


def test_ids_follow_a_clock_that_is_set_back_by_more_than_they_may_run_ahead():
    now = clock.now_ms()
    new_id("par", now + 3 * clock.DAY_MS)
    near = new_id("par", now + 2 * clock.DAY_MS)
    assert near > first_of("par", now + 3 * clock.DAY_MS)
    assert first_of("par", now) < new_id("par", now) < first_of("par", now + 1)
