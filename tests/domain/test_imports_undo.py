"""What an undo gives back: only what still holds the imported value."""

from __future__ import annotations

from domain.campaigns.imports.undoing import reverted


def test_a_field_that_still_holds_the_imported_value_goes_back() -> None:
    assert reverted({"first_name": ["Ana", "Anna"]}, {"first_name": "Anna"}) == ({"first_name": "Ana"}, [])


def test_a_field_changed_since_is_kept_and_named() -> None:
    changes = {"first_name": ["Ana", "Anna"], "language": [None, "fr"]}
    assert reverted(changes, {"first_name": "Anne", "language": "fr"}) == ({"language": None}, ["first_name"])


def test_metadata_goes_back_key_by_key_and_segments_axis_by_axis() -> None:
    before = {"a": 1, "segments": {"site": "Lyon"}}
    after = {"a": 2, "b": 3, "segments": {"site": "Nice", "team": "A"}}
    now = {"a": 2, "b": 4, "c": 5, "segments": {"site": "Nice", "team": "B"}}
    values, kept = reverted({"bag": [before, after]}, {"bag": now})
    assert values == {"bag": {"a": 1, "b": 4, "c": 5, "segments": {"site": "Lyon", "team": "B"}}}
    assert sorted(kept) == ["b", "team"]


def test_a_key_that_was_absent_is_absent_again() -> None:
    assert reverted({"bag": [{}, {"segments": {"site": "x"}}]}, {"bag": {"segments": {"site": "x"}}}) == (
        {"bag": {}},
        [],
    )
