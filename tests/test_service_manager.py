"""What systemd hears of a server, over the real socket and from the real program."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import trio
import trio.testing

from chat.service_manager import EXTENDED_EVERY_SECONDS, ServiceManager
from chat.store.data_directory import DataDirectory
from tests.patience import PATIENCE_SECONDS


class Manager:
    """The other end of the socket."""

    def __init__(self, address: str) -> None:
        self.address = address
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self._socket.bind("\0" + address[1:] if address.startswith("@") else address)
        self._socket.settimeout(PATIENCE_SECONDS)

    def heard(self) -> list[str]:
        """The lines of the next datagram."""
        return self._socket.recv(4_096).decode().split("\n")

    def heard_until(self, line: str) -> list[list[str]]:
        """All datagrams up to the one with this line."""
        datagrams = [self.heard()]
        while line not in datagrams[-1]:
            datagrams.append(self.heard())
        return datagrams

    def all_heard(self) -> list[str]:
        """The lines that are there already."""
        self._socket.setblocking(False)
        lines: list[str] = []
        while True:
            try:
                lines += self.heard()
            except BlockingIOError:
                return lines

    def close(self) -> None:
        self._socket.close()


@pytest.fixture(params=["path", "abstract"])
def manager(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Manager]:
    address = f"{tmp_path}/notify" if request.param == "path" else f"@chat-test-{os.getpid()}"
    other = Manager(address)
    yield other
    other.close()


async def test_the_loop_pings_and_a_start_is_extended_until_it_is_over(
    manager: Manager, autojump_clock: trio.testing.MockClock
) -> None:
    told = ServiceManager.of({"NOTIFY_SOCKET": manager.address, "WATCHDOG_USEC": "30000000"})
    async with told.kept_informed():
        await trio.sleep(2 * EXTENDED_EVERY_SECONDS + 1)
        starting = manager.all_heard()
        told.ready("serving")
        await trio.sleep(2 * EXTENDED_EVERY_SECONDS)
        serving = manager.all_heard()
        told.stopping("going")
    assert starting.count("EXTEND_TIMEOUT_USEC=60000000") == 3
    assert starting.count("WATCHDOG=1") == 4
    assert serving[:2] == ["READY=1", "STATUS=serving"]
    assert serving.count("WATCHDOG=1") == 3
    assert not any(line.startswith("EXTEND") for line in serving)
    assert manager.all_heard() == ["STOPPING=1", "STATUS=going"]


@pytest.mark.parametrize(
    "environment",
    [{}, {"NOTIFY_SOCKET": "vsock:2:1"}, {"NOTIFY_SOCKET": "/nowhere/at/all", "WATCHDOG_USEC": "1000000"}],
    ids=["none", "of another kind", "gone"],
)
async def test_a_manager_that_cannot_be_told_stops_nothing(
    environment: dict[str, str], autojump_clock: trio.testing.MockClock
) -> None:
    told = ServiceManager.of(environment)
    async with told.kept_informed():
        told.ready("serving")
        await trio.sleep(60)
        told.stopping("going")


@pytest.mark.parametrize(("name", "value"), [("WATCHDOG_PID", "1"), ("WATCHDOG_USEC", "0"), ("WATCHDOG_USEC", "soon")])
async def test_no_ping_goes_to_a_watchdog_that_is_not_ours(
    manager: Manager, autojump_clock: trio.testing.MockClock, name: str, value: str
) -> None:
    environment = {"NOTIFY_SOCKET": manager.address, "WATCHDOG_USEC": "1000000", name: value}
    told = ServiceManager.of(environment)
    async with told.kept_informed():
        told.ready("serving")
        await trio.sleep(10)
    assert "WATCHDOG=1" not in manager.all_heard()


async def test_a_loop_that_hangs_does_not_ping(manager: Manager) -> None:
    told = ServiceManager.of({"NOTIFY_SOCKET": manager.address, "WATCHDOG_USEC": "3000"})
    async with told.kept_informed():
        await trio.sleep(0.05)
        assert "WATCHDOG=1" in manager.all_heard()
        signal.sigtimedwait([], 0.05)  # the loop's thread waits
        assert not manager.all_heard()


def test_a_server_tells_that_it_serves_and_that_it_ends(manager: Manager, tmp_path: Path) -> None:
    data = tmp_path / "data"
    data.mkdir()
    DataDirectory(data).bring_database_up_to_date()
    server = subprocess.Popen(
        [sys.executable, "-m", "chat", "serve", "--data", str(data), "--port", "0"],
        env=os.environ | {"NOTIFY_SOCKET": manager.address, "WATCHDOG_USEC": "60000000"},
        stdout=subprocess.PIPE,
        text=True,
    )
    with server:
        assert server.stdout is not None
        try:
            address = server.stdout.readline().split()[2]
            said = manager.heard_until("READY=1")
            server.terminate()
            ending = manager.heard_until("STOPPING=1")
            assert server.wait(PATIENCE_SECONDS) == 0
        finally:
            server.kill()
    assert ["WATCHDOG=1"] in said
    assert said[-1] == ["READY=1", f"STATUS=serving {address}"]
    assert ending[-1][0] == "STOPPING=1"
