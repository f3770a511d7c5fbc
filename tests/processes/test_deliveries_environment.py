"""What stands around a worker and is none of its business: proxies, passwords of others, and a clock that is set."""

from __future__ import annotations

import signal
from pathlib import Path

from tests.jobs import hooks
from tests.outbound import receivers
from tests.processes.parts import LONG_LEASE, Parts, all_accepted, each_once, on_sqlite, wait_for
from tests.servers.receiver import Receiver
from tests.world import World

pytestmark = on_sqlite

PROXIES = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy")

# A loop whose clock is set an hour ahead, and then an hour back, when it is told so.
CLOCKED = """
import signal, sys, time
import time_machine
from app import create_app
from jobs import loop

booted = time.time() - time.monotonic()

def set_clock(seconds):
    time_machine.travel(booted + time.monotonic() + seconds, tick=True).start()

signal.signal(signal.SIGUSR1, lambda *_: set_clock(3600))
signal.signal(signal.SIGUSR2, lambda *_: set_clock(-3600))
sys.exit(loop.run(create_app()))
"""


def test_proxies_and_passwords_of_the_environment_are_ignored(
    parts: Parts, world: World, hook: Receiver, tmp_path: Path
) -> None:
    netrc = tmp_path / ".netrc"
    netrc.write_text("machine 127.0.0.1 login somebody password a-secret\ndefault login a password b\n")
    netrc.chmod(0o600)
    hooks.subscribe(world, hook.url)
    hooks.happen(world, 3)
    with receivers.receiver(receivers.answers(b"HTTP/1.1 200 OK\r\n\r\n")) as proxy:
        around = dict.fromkeys(PROXIES, proxy.url("")) | {"NO_PROXY": "", "no_proxy": ""}
        parts.start("loop", **around, NETRC=str(netrc), HOME=str(tmp_path))
        wait_for(all_accepted)
    each_once(hook, 3)
    assert proxy.connections == 0
    assert not any("authorization" in header for got in hook.got for header in got.headers)


def test_a_clock_that_is_set_ahead_and_back_repeats_nothing_and_holds_nothing_up(
    parts: Parts, world: World, hook: Receiver
) -> None:
    hook.seconds = 2.5
    hooks.subscribe(world, hook.url)
    hooks.happen(world, 30)
    worker = parts.run(["-c", CLOCKED], **LONG_LEASE)
    wait_for(lambda: len(hook.got) == 30)
    worker.send_signal(signal.SIGUSR1)
    wait_for(all_accepted)
    hooks.happen(world, 30)
    wait_for(lambda: len(hook.got) == 60)
    worker.send_signal(signal.SIGUSR2)
    wait_for(all_accepted)
    hooks.happen(world, 5)
    wait_for(all_accepted)
    each_once(hook, 65)
