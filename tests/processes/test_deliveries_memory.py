"""The worker's memory under long payloads and receivers that send without end, on both databases."""

from __future__ import annotations

from contextlib import ExitStack

from tests.jobs import hooks
from tests.outbound import receivers
from tests.outbound import test_guarded_floods as floods
from tests.outbound.receivers import Caller
from tests.outbound.test_guarded import after_reading
from tests.processes.parts import LONG_LEASE, MOST_MIB, Parts, family, peak_mib, wait_for
from tests.servers.receiver import Receiver
from tests.world import World


def never_answers(caller: Caller) -> None:
    caller.read()
    caller.over.wait(5)


def drips_headers(caller: Caller) -> None:
    caller.read()
    caller.without_end(b"X", pause=0.05)


def floods_a_redirect(caller: Caller) -> None:
    caller.read()
    caller.say(b"HTTP/1.1 307 Elsewhere\r\nLocation: http://127.0.0.1:1/\r\n\r\n")
    caller.without_end(b"a" * 1_000_000)


HOSTILE = (
    never_answers,
    drips_headers,
    floods_a_redirect,
    after_reading(floods.floods_headers),
    after_reading(floods.says_one_long_header),
    after_reading(floods.floods_the_body),
    after_reading(floods.floods_with_small_chunks),
    after_reading(floods.floods_with_trailers),
    receivers.answers(b""),
    receivers.answers(b"\x00\xff garbage" * 1000),
)


# One character outside the basic plane makes Python keep four bytes for each of the others: 600 to 800 KB as they go.
LONG = [filler + "\U0001f600" for filler in ("語" * 200_000, "Ω" * 350_000, "x" * 800_000)]


def test_long_payloads_and_hostile_receivers_cost_no_memory_and_nobody_else_anything(
    parts: Parts, world: World, hook: Receiver
) -> None:
    with ExitStack() as open_now:
        hostile = [open_now.enter_context(receivers.receiver(behaviour)) for behaviour in HOSTILE]
        for each in hostile:
            hooks.subscribe(world, each.url(), "file.deleted")
        hooks.subscribe(world, hook.url)
        for number in range(20):
            hooks.happen(world, 1, "file.deleted", filler=LONG[number % len(LONG)])
        hooks.happen(world, 50)
        worker = parts.start(WEBHOOK_TIMEOUT_SECONDS="1", WEBHOOK_MAX_ATTEMPTS="1", **LONG_LEASE)
        wait_for(lambda: len(hook.got) == 50)
        assert len(hostile[0].requests) < 20, "the honest one's do not wait behind those that take their time"
        wait_for(lambda: len(hooks.attempts()) == 250, 60)
        peaks = {(pid, command): peak_mib(pid) for pid, command in family(worker).items()}
    assert len(peaks) >= 4 and max(peaks.values()) < MOST_MIB, peaks
    assert len(hook.got) == 50 == len(set(hook.ids))
