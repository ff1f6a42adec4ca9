"""`chat check` and the broker: whether it serves, and whether others can read what is on it."""

from __future__ import annotations

import socket
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

import pytest

from chat.checking.broker import problems, warnings
from chat.nodes.redis_broker import COMMANDS
from tests.cli.command_line import Run
from tests.nodes.redis_server import HOST, RedisServer, free_port

SECRET: Final = "hunter2-and-more"
USER: Final = ("--user", "chat", "on", f">{SECRET}", "~chat:*", *(f"+{name}" for name in COMMANDS))
INFORMED: Final = ("--user", "informed", *USER[2:], "+info")

Start = Callable[..., RedisServer]


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    """Starts servers with settings."""
    servers: list[RedisServer] = []

    def starts(*settings: str) -> RedisServer:
        servers.append(RedisServer(tmp_path, *settings))
        servers[-1].start()
        return servers[-1]

    yield starts
    for server in servers:
        server.kill()


def own_address() -> str:
    """An address of this machine that is not loopback."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(("192.0.2.1", 9))  # nothing is sent: the system only chooses the address
        except OSError:
            pytest.skip("this machine has no address but loopback")
        return str(probe.getsockname()[0])


def test_one_for_this_machine_alone_is_in_order_but_for_a_password(start: Start) -> None:
    server = start()
    assert problems(server.url) == []
    assert warnings(server.url) == [f"{server.url} has no password: every program of this machine can read messages"]


@pytest.mark.parametrize("settings", [("--save", "900 1"), ("--appendonly", "yes")], ids=["snapshots", "log"])
@pytest.mark.parametrize("user", ["", "chat", "informed"])
def test_one_that_keeps_messages_on_its_disk_is_told(start: Start, settings: tuple[str, ...], user: str) -> None:
    """As far as the user of the settings may know it."""
    server = start("--requirepass", SECRET, *USER, *INFORMED, *settings)
    told = warnings(f"redis://{user}:{SECRET}@{HOST}:{server.port}")
    can_know = user == "" or (user == "informed" and "--appendonly" in settings)
    assert [words for words in told if "writes messages to its disk" in words] == (told if can_know else [])
    assert bool(told) == can_know


def test_a_warning_is_told_and_nothing_wrong(
    run: Run, data: Path, alice: str, start: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    server = start()
    monkeypatch.setenv("CHAT_NODES", server.url)
    ending = run("check", "--data", data)
    assert (ending.status, ending.err) == (0, "")
    assert ending.out.startswith(f"warning: broker: {server.url} has no password")
    [told] = run("check", "--data", data, "--json").json
    assert told["only_warns"] is True


def test_one_with_users_is_in_order_while_the_default_user_is_closed(start: Start) -> None:
    server = start("--requirepass", SECRET, *USER)
    assert problems(f"redis://chat:{SECRET}@{HOST}:{server.port}") == []
    assert problems(f"redis://:{SECRET}@{HOST}:{server.port}") == []
    server = start(*USER)
    [words] = problems(f"redis://chat:{SECRET}@{HOST}:{server.port}")
    assert "lets every program of this machine read messages without a password" in words


def test_one_that_listens_to_others_is_told(start: Start) -> None:
    address = own_address()
    server = start("--bind", HOST, address, "--protected-mode", "no")
    [words] = problems(server.url)
    assert "lets all who reach this machine read messages without a password" in words
    clear, words = problems(f"redis://{address}:{server.port}")
    assert "messages cross the network" in clear
    assert "lets all who reach it read messages" in words

    # Protected mode is said to be as good as it is; before version 7 it counts for nothing once `bind` is set.
    server = start("--bind", HOST, address, "--protected-mode", "yes")
    is_open = any("lets all who reach it" in words for words in problems(f"redis://{address}:{server.port}"))
    assert any("lets all who reach this machine" in words for words in problems(server.url)) == is_open


def test_the_command_tells_it(run: Run, data: Path, alice: str, monkeypatch: pytest.MonkeyPatch) -> None:
    port = free_port()
    monkeypatch.setenv("CHAT_NODES", f"redis://chat:{SECRET}@{HOST}:{port}")
    ending = run("check", "--data", data)
    assert ending.status == 1
    assert f"broker: the broker redis://{HOST}:{port} cannot be reached: Connection refused\n" in ending.out
    assert SECRET not in ending.out + ending.err


def test_without_the_package_the_command_names_it(
    run: Run, data: Path, alice: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CHAT_NODES", "redis://localhost")
    monkeypatch.setitem(sys.modules, "coredis.exceptions", None)
    for name in ("chat.checking.broker", "chat.nodes.redis_broker", "chat.nodes.redis_connection"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    assert "comes with chat[nodes]: install that" in run("check", "--data", data).out
