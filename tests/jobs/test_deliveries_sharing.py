"""Who may have how many senders: four each first, then what is left, less the reserve."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from domain.events.delivery.claiming import MOST_WHILE_OTHERS_WAIT, share

NAMES = st.lists(st.sampled_from([f"whk_{n}" for n in range(12)]), unique=True, min_size=1)
FLYING = st.dictionaries(st.sampled_from([f"whk_{n}" for n in range(12)]), st.integers(1, 64))


@given(NAMES, FLYING, st.integers(0, 64), st.integers(0, 32))
def test_nobody_gets_more_than_there_is(names: list[str], flying: dict[str, int], idle: int, reserve: int) -> None:
    shares = share(names, flying, idle, reserve)
    assert sum(shares.values()) <= idle
    assert set(shares) <= set(names) and all(count > 0 for count in shares.values())


@given(NAMES, FLYING, st.integers(0, 64), st.integers(0, 32))
def test_more_than_four_are_given_only_when_everybody_has_four(
    names: list[str], flying: dict[str, int], idle: int, reserve: int
) -> None:
    shares = share(names, flying, idle, reserve)
    after = {name: flying.get(name, 0) + shares.get(name, 0) for name in names}
    beyond = [name for name in shares if after[name] > MOST_WHILE_OTHERS_WAIT]
    if beyond:
        assert min(after.values()) >= MOST_WHILE_OTHERS_WAIT
        assert idle - sum(shares.values()) >= reserve


@given(NAMES, st.integers(1, 64))
def test_the_first_senders_go_round(names: list[str], idle: int) -> None:
    shares = share(names, {}, idle, idle)
    counts = [shares.get(name, 0) for name in names]
    assert max(counts) - min(counts) <= 1


def test_one_alone_leaves_the_reserve() -> None:
    assert share(["whk_1"], {}, 64, 24) == {"whk_1": 40}
