"""The merge of a body into a row, for any body and any row: service.md 4.2; contract 2, Upsert body."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from contract.participants import MOST_KEYS, SYSTEM_OWNED_KEYS, ParticipantUpsert
from core.errors import Refused
from core.i18n import LANGUAGES
from domain.campaigns.roster import NOBODY, merge
from domain.messages import language

keys = st.sampled_from(["a", "b", "lang", "segments", "takerLink", "synthetic", "", "é"])
scalars = st.none() | st.booleans() | st.integers(-5, 5) | st.floats(allow_nan=False, allow_infinity=False) | st.text()
values = st.recursive(scalars, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(keys, inner, max_size=3))
axes = st.dictionaries(st.sampled_from(["site", "region"]), st.none() | st.text(max_size=4), max_size=2)
names = st.none() | st.text(max_size=10)
bags = st.dictionaries(keys, values.filter(lambda value: value is not None), max_size=6)


@st.composite
def bodies(draw: st.DrawFn) -> dict[str, Any]:
    """A body of an upsert, each property there or not."""
    properties = {
        "firstName": names,
        "lastName": names,
        "language": st.sampled_from([*LANGUAGES, None]),
        "metadata": st.dictionaries(keys, values, max_size=6),
        "segments": axes,
    }
    chosen = draw(st.sets(st.sampled_from(sorted(properties))))
    return {"email": "a@example.com", **{name: draw(properties[name]) for name in sorted(chosen)}}


@st.composite
def rows(draw: st.DrawFn) -> dict[str, Any]:
    """A row as it may stand."""
    return {
        "first_name": draw(names),
        "last_name": draw(names),
        "language": draw(st.sampled_from([*LANGUAGES, None])),
        "bag_language_ended": draw(st.booleans()),
        "bag": draw(bags),
    }


def read(body: dict[str, Any]) -> ParticipantUpsert:
    return ParticipantUpsert.model_validate(body)


def as_written(value: Any) -> Any:
    """To tell 1, 1.0 and True apart, as a reader of the JSON does."""
    return repr(value)


@given(rows(), bodies())
def test_the_same_body_again_changes_nothing(row, body):
    after = merge(row, read(body)).values
    again = merge(after, read(body))
    assert again.changes == {}
    assert as_written(again.values) == as_written(after)


@given(rows(), bodies())
def test_what_the_body_does_not_name_stays(row, body):
    after = merge(row, read(body)).values
    for public, column in (("firstName", "first_name"), ("lastName", "last_name"), ("language", "language")):
        if public not in body:
            assert after[column] == row[column]
    touched = body.get("metadata", {}).keys() | ({"segments"} if "segments" in body else set())
    for key in row["bag"].keys() - touched:
        assert as_written(after["bag"][key]) == as_written(row["bag"][key])


@given(rows(), bodies())
def test_system_owned_keys_stay_as_they_are_and_are_named(row, body):
    merged = merge(row, read(body))
    for key in SYSTEM_OWNED_KEYS:
        assert as_written(merged.values["bag"].get(key, ...)) == as_written(row["bag"].get(key, ...))
    assert set(merged.preserved_keys) == SYSTEM_OWNED_KEYS & body.get("metadata", {}).keys()


@given(rows(), bodies())
def test_only_null_deletes_and_every_other_value_replaces(row, body):
    bag = merge(row, read(body)).values["bag"]
    for key, value in body.get("metadata", {}).items():
        if key in SYSTEM_OWNED_KEYS or (key == "segments" and "segments" in body):
            continue
        assert (key not in bag) if value is None else (as_written(bag[key]) == as_written(value))


@given(rows(), bodies())
def test_a_named_axis_wins_and_a_null_axis_is_dropped(row, body):
    bag = merge(row, read(body)).values["bag"]
    for axis, value in body.get("segments", {}).items():
        stored = bag.get("segments")
        if value is not None:
            assert stored[axis] == value
        else:
            assert not isinstance(stored, dict) or axis not in stored


@given(rows(), bodies())
def test_changes_tell_exactly_what_differs(row, body):
    merged = merge(row, read(body))
    differing = {name for name in row if as_written(row[name]) != as_written(merged.values[name])}
    assert {name for name in merged.changes if name != "bag"} == differing - {"bag"}
    assert merged.changes.keys() <= merged.values.keys()
    for name, (before, after) in merged.changes.items():
        assert as_written([before, after]) == as_written([row[name], merged.values[name]])


@given(rows(), bodies())
def test_the_row_that_was_given_is_left_untouched(row, body):
    before = as_written(row)
    merge(row, read(body))
    assert as_written(row) == before


@given(rows(), st.lists(bodies(), max_size=4))
def test_once_cleared_the_bag_never_speaks_again(row, bodies_after):
    after = merge(row, read({"email": "a@example.com", "language": None})).values
    for body in bodies_after:
        after = merge(after, read(body)).values
        assert after["bag_language_ended"] is True
        assert language.stated(after["language"], after["bag"], after["bag_language_ended"]) == after["language"]


@given(st.integers(0, MOST_KEYS), st.integers(0, MOST_KEYS))
def test_a_bag_never_holds_more_than_fifty_keys_of_its_own(stored, sent):
    row = {**NOBODY, "bag": {**{f"old{n}": 1 for n in range(stored)}, "takerLink": "x", "synthetic": True}}
    body = read({"email": "a@example.com", "metadata": {f"new{n}": 1 for n in range(sent)}})
    try:
        bag = merge(row, body).values["bag"]
    except Refused as refused:
        assert refused.code == "TOO_MANY_METADATA_KEYS"
        assert stored + sent > MOST_KEYS
    else:
        assert len(bag) == stored + sent + len(SYSTEM_OWNED_KEYS)
        assert stored + sent <= MOST_KEYS


def test_a_number_written_in_another_form_is_a_change():
    for before, after in ((1, 1.0), (1, True), (0.0, -0.0), ([1], [1.0])):
        merged = merge({**NOBODY, "bag": {"n": before}}, read({"email": "a@example.com", "metadata": {"n": after}}))
        assert "bag" in merged.changes
