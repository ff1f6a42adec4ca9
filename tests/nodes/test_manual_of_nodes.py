"""The manual's page about nodes (nodes.md): its commands, its settings of the broker and its proxy rules, with the real
programs. What the page shows is what runs here; only names, ports and files are others."""

from __future__ import annotations

import functools
import json
import re
import signal
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import pytest
import trio

from chat.checking.broker import problems, warnings
from chat.manual.library import FOLDER
from chat.nodes.broker import BrokerUnavailable
from chat.nodes.leases import CORE_LEASE, CORE_STREAM
from chat.nodes.redis_broker import open_broker
from chat.testing import GatewayClient, RestClient
from chat.testing.http_client import HttpClient
from chat.testing.network import TcpRoute
from tests.certificates import Authority
from tests.docs.test_manual_blocks import END_WHAT_RUNS, commands
from tests.durability.server_process import ServerProcess
from tests.nodes.processes import Program
from tests.nodes.redis_server import HOST, RedisServer
from tests.patience import PATIENCE_SECONDS
from tests.test_proxies import (
    ByProxy,
    behind,
    blocks,
    caddy_command,
    caddy_route,
    is_listening,
    is_passed_through,
    nginx_command,
    program,
)
from tests.test_readme import environment, free_port, run_in_shell

pytestmark = pytest.mark.long

PAGE: Final = (FOLDER / "nodes.md").read_text("utf-8")


@pytest.fixture
def redis(tmp_path: Path) -> Iterator[RedisServer]:
    """A broker for one test."""
    server = RedisServer(tmp_path)
    server.start()
    yield server
    server.kill()


def test_the_commands_run_as_printed(redis: RedisServer, tmp_path: Path) -> None:
    script = "\n".join(commands("nodes")).replace(":6379", f":{redis.port}")
    ports: defaultdict[str, int] = defaultdict(free_port)
    # In one pass: a free port may have the digits of another one of the manual's in it.
    script = re.sub(r"\b808[0-2]\b", lambda match: str(ports[match[0]]), script)
    path = f'PATH="{Path(sys.executable).parent}:$PATH"\n'
    said = run_in_shell(f"{path}{script}\n{END_WHAT_RUNS}", tmp_path)
    assert said.count('{"status":"ready"}') == 2


def by_the_page(folder: Path, **changes: str) -> RedisServer:
    """A broker with the settings of the page, but for a few whose values are others; its users have the passwords that
    stand there."""
    (settings,) = blocks("conf", PAGE)
    port, file = free_port(), folder / "redis.conf"
    settings = settings.replace("6379", str(port))
    for name, value in changes.items():
        settings, found = re.subn(rf"^{name} .*$", f"{name} {value}", settings, flags=re.MULTILINE)
        assert found == 1
    file.write_text(f"{settings}\nrdbcompression no\n")
    server = RedisServer(folder, port=port, file=file)
    server.start()
    return server


def as_user(server: RedisServer, user: str) -> str:
    return f"redis://{user}:PASSWORD-{user.rpartition('-')[2].upper()}@{HOST}:{server.port}"


def test_the_settings_of_the_broker_have_all_rights_and_no_more(tmp_path: Path) -> None:
    server = by_the_page(tmp_path)
    try:
        for user in ("core", "node-8081", "node-8082"):
            assert problems(as_user(server, user)) == warnings(as_user(server, user)) == []
        [words] = problems(f"redis://{HOST}:{server.port}")
        assert "does not accept user and password" in words
    finally:
        server.kill()


async def test_a_node_may_neither_speak_as_the_core_nor_take_its_place(tmp_path: Path) -> None:
    server = await trio.to_thread.run_sync(by_the_page, tmp_path)
    try:
        async with open_broker(as_user(server, "node-8081")) as broker:
            for denied in (
                lambda: broker.append("to:0123456789abcdef", [b"x"], keep_seconds=60),
                lambda: broker.read(CORE_STREAM, "0", wait_seconds=0),
                lambda: broker.claim(CORE_LEASE, b"x", seconds=3),
                lambda: broker.seize(CORE_LEASE, b"x", seconds=3),
                lambda: broker.forget("bans"),
                lambda: broker.put({"bans": b"[]"}, seconds=60),
                lambda: broker.put({"elsewhere": b""}, seconds=60),
            ):
                with pytest.raises(BrokerUnavailable, match="does not let its user"):
                    await denied()
    finally:
        server.kill()


@pytest.mark.parametrize("keeps", [{"save": "900 1"}, {"appendonly": "yes"}], ids=["snapshots", "log"])
async def test_core_and_nodes_work_with_these_rights_and_leave_no_token(tmp_path: Path, keeps: dict[str, str]) -> None:
    server = await trio.to_thread.run_sync(functools.partial(by_the_page, tmp_path, **keeps))
    [words] = await trio.to_thread.run_sync(warnings, as_user(server, "core")) if "appendonly" in keeps else ["disk"]
    assert "disk" in words
    logs = [tmp_path / f"{name}.log" for name in ("core", "one", "other")]
    core = Program(
        ["dev", "--data", str(tmp_path / "data"), "--json"],
        free_port(),
        logs[0],
        {"CHAT_NODES": as_user(server, "core")},
    )
    one, other = [
        Program(["gateway"], free_port(), log, {"CHAT_NODES": as_user(server, f"node-{port}")})
        for log, port in zip(logs[1:], (8081, 8082), strict=True)
    ]
    try:
        world = json.loads(await core.start())
        for node in (one, other):
            await node.start()
            await node.is_ready()
        tokens = [world["users"][0]["token"], world["bot"]["token"]]
        for token in tokens:
            await goes_from_node_to_node(token, one, other)
        await one.end(signal.SIGTERM)  # in good order, so that it leaves what it has
        for process in (other, core):
            await process.end(signal.SIGTERM)
        server.signal(signal.SIGTERM)
        await trio.to_thread.run_sync(server.wait)
    finally:
        for process in (core, one, other):
            await process.end(signal.SIGKILL)
        server.kill()
    assert not [line for log in logs for line in log.read_text().splitlines() if "does not do its work" in line]
    kept = await trio.to_thread.run_sync(dumped, tmp_path)
    assert b"withheld" in kept
    for token in tokens:
        assert token.encode() not in kept


def dumped(folder: Path) -> bytes:
    """What a broker has written to its disk."""
    files = (folder / "dump.rdb", *folder.glob("appendonlydir/*"))
    return b"".join(file.read_bytes() for file in files if file.is_file())


async def goes_from_node_to_node(token: str, one: Program, other: Program) -> None:
    """A session begins at a node and goes on at another one."""
    async with trio.open_nursery() as nursery:
        client = await GatewayClient.connect(nursery, one.route)
        await client.identify(token)
        await client.expect("READY", seconds=PATIENCE_SECONDS)
        client.drop()
        again = await GatewayClient.connect(nursery, other.route)
        await again.resume(token, client.session_id, client.sequence)
        await again.expect("RESUMED", seconds=PATIENCE_SECONDS)
        nursery.cancel_scope.cancel()


class Nodes:
    """Two nodes as processes, on the ports of the page's proxy rules."""

    def __init__(self, folder: Path, url: str) -> None:
        self.ports = (free_port(), free_port())
        self.log = folder / "nodes.log"
        self.processes = {port: self._started(port, url) for port in self.ports}

    def _started(self, port: int, url: str) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-m", "chat", "gateway", "--port", str(port)]
        with self.log.open("ab") as log:
            return subprocess.Popen(command, stdout=log, stderr=log, env={**environment(), "CHAT_NODES": url})

    async def are_ready(self) -> None:
        with trio.fail_after(PATIENCE_SECONDS):
            for port, process in self.processes.items():
                await is_listening(port, process, self.log)
                client = HttpClient(TcpRoute(HOST, port))
                while True:
                    if (await client.get("/_ready")).status == 200:
                        break
                    await trio.sleep(0.05)
                await client.aclose()

    def here(self, site: str) -> str:
        """A rule of the page, for these ports."""
        for theirs, ours in zip(("8081", "8082"), self.ports, strict=True):
            assert theirs in site
            site = site.replace(theirs, str(ours))
        return site

    def holder(self) -> subprocess.Popen[bytes]:
        """The node that a proxy keeps the only WebSocket of the test open to."""
        held = [port for port in self.ports if established(port)]
        assert len(held) == 1
        return self.processes[held[0]]

    def end(self) -> None:
        for process in self.processes.values():
            process.kill()
            process.wait()


def established(port: int) -> bool:
    """Whether a connection to this port of this machine is open."""
    rows = [line.split() for line in Path("/proc/net/tcp").read_text().splitlines()[1:]]
    return any(row[3] == "01" and int(row[1].rpartition(":")[2], 16) == port for row in rows)


@contextmanager
def two_nodes(folder: Path, url: str) -> Iterator[Nodes]:
    nodes = Nodes(folder, url)
    try:
        yield nodes
    finally:
        nodes.end()


async def resumes_at_another_node(server: ServerProcess, route: ByProxy, nodes: Nodes) -> None:
    """The node that holds a session is killed: the session goes on at the other one, through the same proxy."""
    alice = RestClient(route, token=server.token_of("alice"))
    async with trio.open_nursery() as nursery:
        client = await GatewayClient.connect(nursery, route)
        await client.identify(server.token_of("bob"))
        await client.expect("READY", seconds=PATIENCE_SECONDS)
        nodes.holder().send_signal(signal.SIGKILL)
        await client.closed(seconds=PATIENCE_SECONDS)
        path = f"/v1/channels/{server.channel_id}/messages"
        missed = (await alice.post(path, {"content": "in between"})).expect(200)

        again = await GatewayClient.connect(nursery, route)
        await again.resume(client.token, client.session_id, client.sequence)
        told = await again.expect("MESSAGE_CREATE", seconds=PATIENCE_SECONDS)
        assert told.data["id"] == missed["id"]
        await again.expect("RESUMED", seconds=PATIENCE_SECONDS)
        await again.aclose()
        await alice.aclose()
        nursery.cancel_scope.cancel()


async def test_caddy(redis: RedisServer, tmp_path: Path) -> None:
    program("caddy")
    (site,) = blocks("caddy", PAGE)
    with two_nodes(tmp_path, redis.url) as nodes:
        site = nodes.here(site)
        async with behind(
            tmp_path, "caddy", lambda *ports: caddy_command(tmp_path, site, ports), CHAT_NODES=redis.url
        ) as (server, secure, _):
            route = await caddy_route(tmp_path, secure)
            await nodes.are_ready()
            await is_passed_through(server, route, f"https://localhost:{secure}/")
            await resumes_at_another_node(server, route, nodes)


async def test_nginx(redis: RedisServer, tmp_path: Path) -> None:
    program("nginx")
    upstream, rule = blocks("nginx", PAGE)
    (site,), authority = blocks("nginx", (FOLDER / "proxy.md").read_text("utf-8")), Authority()
    site = upstream + re.sub(r"^    location / \{$", f"{rule}\n\\g<0>", site, flags=re.MULTILINE)
    with two_nodes(tmp_path, redis.url) as nodes:
        site = nodes.here(site)
        async with behind(
            tmp_path, "nginx", lambda *ports: nginx_command(tmp_path, authority, site, ports), CHAT_NODES=redis.url
        ) as (server, secure, _):
            route = ByProxy(hostname="localhost", port=secure, ssl_context=authority.client_context())
            await nodes.are_ready()
            await is_passed_through(server, route, f"https://localhost:{secure}/")
            await resumes_at_another_node(server, route, nodes)
