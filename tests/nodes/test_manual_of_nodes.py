"""The manual's page about nodes (nodes.md): its commands, its settings of the broker and its proxy rules, with the real
programs. What the page shows is what runs here; only names, ports and files are others."""

from __future__ import annotations

import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import pytest
import trio

from chat.checking.broker import problems
from chat.manual.library import FOLDER
from chat.testing import GatewayClient, RestClient
from chat.testing.http_client import HttpClient
from chat.testing.network import TcpRoute
from tests.certificates import Authority
from tests.docs.test_manual_blocks import END_WHAT_RUNS, commands
from tests.durability.server_process import ServerProcess
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
PASSWORD: Final = "four-unrelated-words"


@pytest.fixture
def redis(tmp_path: Path) -> Iterator[RedisServer]:
    """A broker for one test."""
    server = RedisServer(tmp_path)
    server.start()
    yield server
    server.kill()


def test_the_commands_run_as_printed(redis: RedisServer, tmp_path: Path) -> None:
    script = "\n".join(commands("nodes")).replace(":6379", f":{redis.port}")
    for port in ("8080", "8081", "8082"):
        script = script.replace(port, str(free_port()))
    path = f'PATH="{Path(sys.executable).parent}:$PATH"\n'
    said = run_in_shell(f"{path}{script}\n{END_WHAT_RUNS}", tmp_path)
    assert said.count('{"status":"ready"}') == 2


def test_the_settings_of_the_broker_have_all_rights_and_no_more(tmp_path: Path) -> None:
    (settings,) = blocks("conf", PAGE)
    port, file = free_port(), tmp_path / "redis.conf"
    file.write_text(settings.replace("6379", str(port)).replace("PASSWORD", PASSWORD))
    server = RedisServer(tmp_path, port=port, file=file)
    server.start()
    try:
        assert problems(f"redis://chat:{PASSWORD}@{HOST}:{server.port}") == []
        [words] = problems(f"redis://{HOST}:{server.port}")
        assert "does not accept user and password" in words
    finally:
        server.kill()


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
