"""The proxies of the manual (proxy.md), started with the real programs: TLS, the gateway, uploads, and who asks.

What the page shows is what runs here; only names, ports and files are others.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import socket
import ssl
import subprocess
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Final

import attrs
import pytest
import trio

from chat.manual.library import FOLDER
from chat.testing import GatewayClient, RestClient
from chat.testing.network import TcpRoute
from tests.certificates import Authority
from tests.durability.server_process import ServerProcess, running
from tests.patience import PATIENCE_SECONDS

pytestmark = pytest.mark.long

PAGE: Final = (FOLDER / "proxy.md").read_text("utf-8")
CLIENT: Final = "127.0.0.9"
"""The address that the client comes from, which is not the proxy's."""

PROXY: Final = "127.0.0.1"
UPLOAD_BYTES: Final = 8_000_000
"""More than a proxy takes that was not told otherwise."""


def blocks(language: str, page: str = PAGE) -> list[str]:
    """The examples of the page in a language."""
    return re.findall(rf"^```{language}\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)


def program(name: str) -> str:
    """Where a program is; the test is left out, or fails where it must not be."""
    found = shutil.which(name) or shutil.which(name, path="/usr/sbin:/usr/local/sbin")
    if found is None:
        if "TESTS_REQUIRE_PROXIES" in os.environ:
            pytest.fail(f"TESTS_REQUIRE_PROXIES is set and there is no {name}")
        pytest.skip(f"no {name} on this machine")
    return found


def free_port() -> int:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return int(taken.getsockname()[1])


@attrs.frozen(kw_only=True)
class ByProxy(TcpRoute):
    """The way through a proxy, from CLIENT."""

    async def connect(self) -> trio.abc.HalfCloseableStream:
        assert self.ssl_context is not None
        plain = await trio.open_tcp_stream(PROXY, self.port, local_address=CLIENT)
        secure = trio.SSLStream(plain, self.ssl_context, server_hostname=self.hostname, https_compatible=True)
        try:
            await secure.do_handshake()
        except BaseException:
            await trio.aclose_forcefully(plain)
            raise
        return _Both(secure)

    async def connect_to_gateway(self) -> trio.abc.HalfCloseableStream:
        return await self.connect()


class _Both(trio.abc.HalfCloseableStream):
    """TLS as the test kit's clients want it."""

    def __init__(self, stream: trio.SSLStream[trio.SocketStream]) -> None:
        self._stream = stream
        self.socket = stream.transport_stream.socket

    async def send_all(self, data: bytes | bytearray | memoryview) -> None:
        await self._stream.send_all(data)

    async def wait_send_all_might_not_block(self) -> None:
        await self._stream.wait_send_all_might_not_block()

    async def receive_some(self, max_bytes: int | None = None) -> bytes | bytearray:
        return await self._stream.receive_some(max_bytes)

    async def send_eof(self) -> None:
        await self._stream.aclose()

    async def aclose(self) -> None:
        await trio.aclose_forcefully(self._stream)


@asynccontextmanager
async def behind(
    folder: Path, name: str, configure: Callable[[int, int, int], list[str]], **settings: str
) -> AsyncIterator[tuple[ServerProcess, int, int]]:
    """A server and a proxy in front of it, which `configure` makes ready: from the server's port and two of the proxy's
    own (TLS and plain) to a command line. `settings` are further variables of the server's environment."""
    secure, plain = free_port(), free_port()
    environment = {
        "CHAT_PUBLIC_URL": f"https://localhost:{secure}",
        "CHAT_TRUSTED_PROXIES": json.dumps([f"{PROXY}/32"]),
        "CHAT_METRICS": "on",
        **settings,
    }
    async with running(folder / "data", **environment) as server:
        port = await trio.to_thread.run_sync(port_of, server.process.pid)
        command = configure(port, secure, plain)
        process = started(command, folder, folder / f"{name}.log")
        try:
            with trio.fail_after(PATIENCE_SECONDS):
                await is_listening(secure, process, folder / f"{name}.log")
            yield server, secure, plain
        finally:
            process.terminate()
            await trio.to_thread.run_sync(process.wait)


def started(command: list[str], folder: Path, log: Path) -> subprocess.Popen[bytes]:
    environment = {**os.environ, "XDG_DATA_HOME": str(folder), "HOME": str(folder)}
    with log.open("wb") as output:
        return subprocess.Popen(command, stdout=output, stderr=output, cwd=folder, env=environment)


def ended(process: subprocess.Popen[bytes], log: Path) -> str:
    """What a process said that has ended; nothing while it runs."""
    return "" if process.poll() is None else log.read_text(errors="replace") or "it ended"


def port_of(process: int) -> int:
    """The port that a process listens on, of its open files."""
    sockets = set()
    for file in Path(f"/proc/{process}/fd").iterdir():
        try:
            target = os.readlink(file)
        except OSError:
            continue
        if target.startswith("socket:["):
            sockets.add(target[8:-1])
    for line in Path("/proc/net/tcp").read_text().splitlines()[1:]:
        fields = line.split()
        if fields[3] == "0A" and fields[9] in sockets:
            return int(fields[1].rpartition(":")[2], 16)
    raise AssertionError("it does not listen")


async def is_listening(port: int, process: subprocess.Popen[bytes], log: Path) -> None:
    while True:
        assert not ended(process, log)
        try:
            stream = await trio.open_tcp_stream(PROXY, port)
        except OSError:
            await trio.sleep(0.05)
        else:
            await stream.aclose()
            return


async def there(file: Path) -> Path:
    """Wait for a file."""
    with trio.fail_after(PATIENCE_SECONDS):
        while True:
            if await trio.Path(file).exists():
                return file
            await trio.sleep(0.05)


async def has_certificate(route: TcpRoute) -> None:
    """Wait until the proxy has one: Caddy makes its own when it starts."""
    while True:
        try:
            stream = await route.connect()
        except trio.BrokenResourceError:
            await trio.sleep(0.05)
        else:
            await stream.aclose()
            return


async def is_passed_through(server: ServerProcess, route: TcpRoute, origin: str) -> None:
    """Everything that an instance needs of its proxy."""
    alice = RestClient(route, token=server.token_of("alice"))
    with trio.fail_after(PATIENCE_SECONDS):
        await has_certificate(route)
    async with trio.open_nursery() as nursery:
        document = (await alice.get("/.well-known/chat")).expect(200)
        assert document["endpoints"]["api"].startswith(origin)
        client = await GatewayClient.connect(nursery, route)
        await client.identify(server.token_of("bob"))
        await client.expect("READY")

        # Who asks is the client, whatever it claims.
        (session,) = (await alice.get("/v1/_dev/sessions")).expect(200)
        assert session["address"] == CLIENT
        carol, admin = server.world["users"][2], RestClient(route, token=server.world["admin"]["token"])
        login = {key: carol[key] for key in ("email", "password")}
        claimed = {"X-Forwarded-For": "203.0.113.7"}
        (await alice.request("POST", "/v1/auth/login", json=login, headers=claimed)).expect(200)
        listed = (await admin.get(f"/v1/admin/users/{carol['id']}/sessions")).expect(200)["sessions"]
        assert CLIENT in {one["client_ip"] for one in listed}
        assert "203.0.113.7" not in {one["client_ip"] for one in listed}

        # An upload, what it causes, and the file itself.
        noise = os.urandom(UPLOAD_BYTES)
        sent = (await alice.send_files(server.channel_id, {"noise.bin": noise}, content="a file")).expect(200)
        told = (await client.expect("MESSAGE_CREATE")).data
        assert told["id"] == sent["id"]
        assert (await alice.fetch(told["attachments"][0]["url"])).body == noise
        for number in range(20):
            path = f"/v1/channels/{server.channel_id}/messages"
            (await alice.post(path, {"content": str(number)})).expect(200)
            assert (await client.expect("MESSAGE_CREATE")).data["content"] == str(number)

        # What is for the machine itself stays there.
        assert (await alice.get("/metrics")).status == 404
        for one in (client, alice, admin):
            await one.aclose()
        nursery.cancel_scope.cancel()


def caddy_command(folder: Path, site: str, ports: tuple[int, int, int]) -> list[str]:
    """Caddy with a site of the manual, for the server's port and its own two."""
    port, secure, plain = ports
    site = site.replace("127.0.0.1:8080", f"127.0.0.1:{port}")
    site = re.sub(r"chat\.(example\.org|home\.arpa)", "localhost", site)
    ours = f"{{\n\tadmin off\n\tskip_install_trust\n\thttps_port {secure}\n\thttp_port {plain}\n}}\n"
    (folder / "Caddyfile").write_text(ours + site)
    return [program("caddy"), "run", "--config", "Caddyfile", "--adapter", "caddyfile"]


async def caddy_route(folder: Path, secure: int) -> ByProxy:
    """The way through it, once its own authority is there."""
    root = await there(folder / "caddy" / "pki" / "authorities" / "local" / "root.crt")
    return ByProxy(hostname="localhost", port=secure, ssl_context=ssl.create_default_context(cafile=str(root)))


def nginx_command(folder: Path, authority: Authority, site: str, ports: tuple[int, int, int]) -> list[str]:
    """nginx with a site of the manual, for the server's port and its own two."""
    port, secure, plain = ports
    certificate, key = authority.issue(folder, "localhost")
    for theirs, ours in (
        ("127.0.0.1:8080", f"127.0.0.1:{port}"),
        ("listen 443 ssl", f"listen {secure} ssl"),
        ("listen 80;", f"listen {plain};"),
        ("/etc/letsencrypt/live/chat.example.org/fullchain.pem", str(certificate)),
        ("/etc/letsencrypt/live/chat.example.org/privkey.pem", str(key)),
        ("server_name chat.example.org", "server_name localhost"),
        ("proxy_set_header Host $host;", f"proxy_set_header Host $host:{secure};"),
    ):
        assert theirs in site
        site = site.replace(theirs, ours)
    temporary = "".join(
        f"    {kind}_temp_path {folder}/{kind};\n" for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    )
    (folder / "nginx.conf").write_text(
        f"daemon off;\npid {folder}/nginx.pid;\nerror_log stderr;\nevents {{}}\n"
        f"http {{\n    access_log off;\n{temporary}{site}}}\n"
    )
    return [program("nginx"), "-p", str(folder), "-e", "stderr", "-c", str(folder / "nginx.conf")]


@pytest.mark.parametrize("number", [0, 1], ids=["public name", "own authority"])
async def test_caddy(tmp_path: Path, number: int) -> None:
    program("caddy")
    site = blocks("caddy")[number]
    async with behind(tmp_path, "caddy", lambda *ports: caddy_command(tmp_path, site, ports)) as (server, secure, _):
        route = await caddy_route(tmp_path, secure)
        await is_passed_through(server, route, f"https://localhost:{secure}/")


async def test_nginx(tmp_path: Path) -> None:
    program("nginx")
    (site,), authority = blocks("nginx"), Authority()

    def configure(*ports: int) -> list[str]:
        return nginx_command(tmp_path, authority, site, ports)

    async with behind(tmp_path, "nginx", configure) as (server, secure, plain):
        route = ByProxy(hostname="localhost", port=secure, ssl_context=authority.client_context())
        await is_passed_through(server, route, f"https://localhost:{secure}/")
        sent_on = RestClient(TcpRoute(PROXY, plain))
        answer = await sent_on.request("GET", "/channels/@me", headers={"Host": "localhost"})
        assert (answer.status, answer.header("location")) == (301, "https://localhost/channels/@me")
        await sent_on.aclose()
