"""A core, nodes and a broker as processes of their own, each of which can be ended, stopped and started again."""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import attrs
import trio

from chat.testing.http_client import HttpClient, NoAnswer
from chat.testing.network import TcpRoute
from tests.durability.prepared import PreparedProcess, started
from tests.nodes.redis_server import HOST, RedisServer, free_port
from tests.patience import PATIENCE_SECONDS

POLL_SECONDS: Final = 0.03

BROKER_ADDRESS: Final = "10.213.1.1"
NODE_ADDRESSES: Final = ("10.213.1.2", "10.213.2.2")
"""Of the node beyond the partition: on the wire to the broker, and on that to its clients."""
CLIENT_ADDRESS: Final = "10.213.2.1"
LOCK: Final = Path(tempfile.gettempdir()) / "chat-tests-network.lock"
WIRES: Final = re.compile(r"c[bc]\d+")


@attrs.define(eq=False)
class Program:
    """One process of `chat` on a port, over its lives."""

    arguments: Sequence[str]
    port: int
    log: Path
    environment: Mapping[str, str] = attrs.field(factory=dict)
    host: str = HOST
    before: Sequence[str] = ()
    """What stands before the command, such as `ip netns exec NAME`."""
    process: PreparedProcess | trio.Process | None = None

    @property
    def route(self) -> TcpRoute:
        return TcpRoute(self.host, self.port)

    async def start(self) -> bytes:
        """Start, and wait for its first line, which it writes once it listens."""
        environment = {**os.environ, **self.environment}
        arguments = [*self.arguments, "--port", str(self.port)]
        with self.log.open("ab") as log:
            if self.before:
                command = [*self.before, sys.executable, "-m", "chat", *arguments]
                self.process = await trio.lowlevel.open_process(
                    command, stdout=subprocess.PIPE, stderr=log, env=environment
                )
            else:
                self.process = await started(arguments, environment, log=log)
        line = b""
        assert self.process.stdout is not None
        with trio.fail_after(PATIENCE_SECONDS):
            while not line.endswith(b"\n"):
                piece = await self.process.stdout.receive_some()
                assert piece, f"it ended before it could serve: {self.log.read_text()[-4_000:]}"
                line += piece
        return line

    def signal(self, number: signal.Signals) -> None:
        assert self.process is not None
        self.process.send_signal(number)

    async def end(self, how: signal.Signals) -> int:
        """Send the signal and wait for the end; the exit status. Nothing where it does not run."""
        if self.process is None:
            return 0
        process, self.process = self.process, None
        process.send_signal(how)
        with trio.fail_after(PATIENCE_SECONDS):
            status = await process.wait()
        if process.stdout is not None:
            await process.stdout.aclose()
        assert status is not None
        return status

    async def is_ready(self) -> None:
        """Wait until it says that it can serve."""
        client = HttpClient(self.route)
        with trio.fail_after(PATIENCE_SECONDS):
            while not await self._says_ready(client):  # noqa: ASYNC110 - it is another process
                await trio.sleep(POLL_SECONDS)
        await client.aclose()

    async def _says_ready(self, client: HttpClient) -> bool:
        try:
            return (await client.get("/_ready")).status == 200
        except (NoAnswer, OSError, trio.BrokenResourceError):
            return False


class Processes:
    """A broker, a core and two nodes, and perhaps one more node beyond a network of its own."""

    def __init__(self, folder: Path, *, network: Network | None) -> None:
        bind = ("--bind", f"{HOST} {BROKER_ADDRESS}", "--protected-mode", "no") if network is not None else ()
        self.folder, self.network = folder, network
        self.broker = RedisServer(folder, *bind)
        environment = {"CHAT_NODES": self.broker.url}
        self.core = Program(
            ["dev", "--data", str(folder / "data"), "--json"], free_port(), folder / "core.log", environment
        )
        self.nodes = [
            Program(["gateway", "--node-id", name], free_port(), folder / f"{name}.log", environment)
            for name in ("node-1", "node-2")
        ]
        self.world: dict[str, Any] = {}
        self._read: dict[Path, int] = {}

    def node_beyond(self) -> Program:
        """A node whose way to the broker can be cut while its clients still reach it."""
        assert self.network is not None
        return Program(
            ["gateway", "--node-id", "node-beyond", "--host", NODE_ADDRESSES[1]],
            free_port(),
            self.folder / "node-beyond.log",
            {"CHAT_NODES": f"redis://{BROKER_ADDRESS}:{self.broker.port}"},
            NODE_ADDRESSES[1],
            self.network.inside,
        )

    async def start(self) -> None:
        """All of them, in order."""
        await trio.to_thread.run_sync(self.broker.start)
        await self.start_core()
        for node in self.nodes:
            await node.start()
        for node in self.nodes:
            await node.is_ready()

    async def start_core(self) -> None:
        """Start the core, and learn its world anew: tokens stay."""
        self.world = json.loads(await self.core.start())

    def said(self) -> list[str]:
        """What core and nodes have logged since this was last asked."""
        lines = []
        for log in sorted(self.folder.glob("*.log")):
            text = log.read_bytes()
            start, self._read[log] = self._read.get(log, 0), len(text)
            lines += [f"{log.stem}: {line}" for line in text[start:].decode(errors="replace").splitlines()]
        return lines

    async def end(self) -> None:
        """Kill whatever runs."""
        for program in (*self.nodes, self.core):
            await program.end(signal.SIGKILL)
        self.broker.kill()


class Network:
    """A network namespace with two wires: to the broker, which can be cut, and to clients. Needs root."""

    def __init__(self) -> None:
        self.name = f"chat-{os.getpid()}"
        self.inside = ("ip", "netns", "exec", self.name)
        self._wire = f"cb{os.getpid() % 100_000}"
        self._other = f"cc{os.getpid() % 100_000}"
        self._alone = contextlib.ExitStack()

    def make(self) -> None:
        """Waits until no other run has such a network, for its addresses are these. Raises OSError,
        subprocess.CalledProcessError where the machine does not allow it."""
        lock = self._alone.enter_context(LOCK.open("w"))
        fcntl.flock(lock, fcntl.LOCK_EX)
        for link in json.loads(_ip("-json", "link", "show", "type", "veth") or "[]"):
            if WIRES.fullmatch(link["ifname"]):  # of a run that was killed
                _ip("link", "del", link["ifname"])
        _ip("netns", "add", self.name)
        try:
            for wire, ours, theirs in (
                (self._wire, BROKER_ADDRESS, NODE_ADDRESSES[0]),
                (self._other, CLIENT_ADDRESS, NODE_ADDRESSES[1]),
            ):
                _ip("link", "add", wire, "type", "veth", "peer", "name", f"{wire}n", "netns", self.name)
                _ip("addr", "add", f"{ours}/24", "dev", wire)
                _ip("link", "set", wire, "up")
                _ip("-n", self.name, "addr", "add", f"{theirs}/24", "dev", f"{wire}n")
                _ip("-n", self.name, "link", "set", f"{wire}n", "up")
            _ip("-n", self.name, "link", "set", "lo", "up")
        except BaseException:
            self.remove()
            raise

    def cut(self) -> None:
        """Nothing passes between the node and the broker, and neither is told."""
        _ip("link", "set", self._wire, "down")

    def mend(self) -> None:
        """End of `cut`."""
        _ip("link", "set", self._wire, "up")

    def remove(self) -> None:
        """Wires end with their namespace, which lasts as long as a process in it."""
        for number in _ip("netns", "pids", self.name).split():
            os.kill(int(number), signal.SIGKILL)
        _ip("netns", "del", self.name)
        self._alone.close()


def _ip(*arguments: str) -> str:
    done = subprocess.run(["ip", *arguments], check=True, capture_output=True, timeout=30)
    return done.stdout.decode()
