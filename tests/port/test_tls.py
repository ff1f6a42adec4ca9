"""TLS without a proxy: the transport over a network in memory, certificates that change, and a whole server."""

from __future__ import annotations

import contextlib
import os
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Final

import attrs
import pytest
import trio
from hypothesis import given, settings
from hypothesis import strategies as st
from structlog.testing import capture_logs

from chat.config import load_settings
from chat.errors import OperatorError
from chat.port.tls import RECORDS_BYTES, Certificates, TlsTransport
from chat.port.transport import MUCH_UNSENT_BYTES
from chat.testing import GatewayClient, RestClient
from chat.testing.network import MemoryNetwork, MemoryStream, TcpRoute
from tests.certificates import Authority, lock_behind_a_password
from tests.durability.server_process import running
from tests.port.loopback import sockets

AUTHORITY: Final = Authority()
NAME: Final = "chat.example"


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    return AUTHORITY.issue(tmp_path_factory.mktemp("tls"), NAME, "127.0.0.1")


@pytest.fixture(scope="module")
def context(files: tuple[Path, Path]) -> ssl.SSLContext:
    return Certificates.read(*files).context


@attrs.frozen
class Ends:
    """A connection: the server's transport, the client's stream of TLS, and that one's own stream below."""

    server: TlsTransport
    client: trio.SSLStream[MemoryStream]
    below: MemoryStream


@asynccontextmanager
async def connected(context: ssl.SSLContext, *, shaken: bool = True, capacity: int = 65_536) -> AsyncIterator[Ends]:
    network = MemoryNetwork()
    listener = network.listen()
    below = await network.connect(capacity=capacity)
    server = TlsTransport(await listener.accept(), context)
    client = trio.SSLStream(below, AUTHORITY.client_context(), server_hostname=NAME, https_compatible=True)
    try:
        if shaken:
            async with trio.open_nursery() as nursery:
                nursery.start_soon(client.send_all, b"!")
                assert await server.receive_some() == b"!"
        yield Ends(server, client, below)
    finally:
        server.close()
        below.close()


async def read_all(stream: trio.abc.ReceiveStream, size: int) -> bytes:
    received = b""
    while len(received) < size:
        piece = await stream.receive_some()
        assert piece, f"it ended after {len(received)} bytes"
        received += piece
    return received


async def test_bytes_come_as_they_were_sent(context: ssl.SSLContext) -> None:
    data = os.urandom(1_000_000)
    async with connected(context) as ends, trio.open_nursery() as nursery:
        nursery.start_soon(ends.server.send_all, data)
        assert await read_all(ends.client, len(data)) == data
        nursery.start_soon(ends.client.send_all, data)
        assert await read_all(ends.server, len(data)) == data
        assert ends.server.address == "127.0.0.1"


@settings(max_examples=15, deadline=None)
@given(sizes=st.lists(st.integers(1, 200_000), min_size=1, max_size=6), maximum=st.integers(1_000, 100_000))
def test_any_sizes_in_any_order(context: ssl.SSLContext, sizes: list[int], maximum: int) -> None:
    data = [bytes([number]) * size for number, size in enumerate(sizes)]

    async def main() -> None:
        async with connected(context, capacity=30_000) as ends, trio.open_nursery() as nursery:

            async def send() -> None:
                for each in data:
                    await ends.server.send_all(each)

            nursery.start_soon(send)
            assert await read_all(ends.client, sum(sizes)) == b"".join(data)
            nursery.start_soon(ends.client.send_all, b"".join(data))
            ends.server.unread(b"ahead")
            received = b""
            while len(received) < 5 + sum(sizes):
                piece = await ends.server.receive_some(maximum)
                assert 1 <= len(piece) <= maximum
                received += piece
            assert received == b"ahead" + b"".join(data)

    trio.run(main)


async def test_a_peer_that_does_not_read_is_not_sent_to(context: ssl.SSLContext, autojump_clock: Any) -> None:
    async with connected(context) as ends:
        data, taken = bytes(10_000_000), 0
        while sent := ends.server.try_send(data):
            taken += sent
            assert taken < 4 * RECORDS_BYTES, "what nobody reads is kept in bounds"
        assert ends.server.try_send(b"more") == 0
        with trio.move_on_after(5) as waiting:
            await ends.server.wait_writable()
        assert waiting.cancelled_caught
        # What was taken leaves once it is read, and then there is room.
        async with trio.open_nursery() as nursery:
            nursery.start_soon(ends.server.wait_writable)
            assert await read_all(ends.client, taken) == bytes(taken)
        assert ends.server.try_send(b"more") == 4
        assert await ends.client.receive_some() == b"more"
        # A transport that is closed wakes who waits.
        while ends.server.try_send(data):
            pass

        async def hears_of_it() -> None:
            with pytest.raises(trio.ClosedResourceError):
                await ends.server.wait_writable()

        async with trio.open_nursery() as nursery:
            nursery.start_soon(hears_of_it)
            await trio.sleep(1)
            ends.server.close()


async def test_something_large_is_taken_in_few_steps(context: ssl.SSLContext) -> None:
    below, client = await sockets()
    server = TlsTransport(below, context)
    stream = trio.SSLStream(client, AUTHORITY.client_context(), server_hostname=NAME)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(stream.send_all, b"!")
        assert await server.receive_some() == b"!"
    with server.much_unsent():
        assert server.try_send(bytes(MUCH_UNSENT_BYTES)) == MUCH_UNSENT_BYTES
    assert server.try_send(bytes(MUCH_UNSENT_BYTES)) < MUCH_UNSENT_BYTES
    assert await read_all(stream, MUCH_UNSENT_BYTES) == bytes(MUCH_UNSENT_BYTES)
    server.close()
    client.close()


async def test_what_is_said_before_the_handshake_and_the_end(context: ssl.SSLContext) -> None:
    async with connected(context, shaken=False) as ends, trio.open_nursery() as nursery:
        assert ends.server.try_send(b"full") == 4
        nursery.start_soon(ends.server.aclose_gracefully, 10)
        assert await ends.client.receive_some() == b"full"
        assert await ends.client.receive_some() == b"", "with a goodbye"
        await ends.client.aclose()
    async with connected(context) as ends:
        ends.server.half_close()
        ends.server.half_close()
        assert await ends.client.receive_some() == b""
        await ends.client.aclose()
        assert await ends.server.receive_some() == b""
        with pytest.raises(trio.ClosedResourceError):
            ends.server.try_send(b"x")


async def test_an_answer_larger_than_all_buffers_arrives_before_the_end(context: ssl.SSLContext) -> None:
    async with connected(context, capacity=5_000) as ends, trio.open_nursery() as nursery:

        async def answer() -> None:
            await ends.server.send_all(bytes(300_000))
            await ends.server.aclose_gracefully(10)

        nursery.start_soon(answer)
        assert len(await read_all(ends.client, 300_000)) == 300_000
        assert await ends.client.receive_some() == b""
        await ends.client.aclose()


@pytest.mark.parametrize(
    ("sent", "answered"),
    [
        (b"GET / HTTP/1.1\r\n\r\n", b"https"),
        (b"\x00" * 50, b"https"),
        (b"\x16\x03\x01\x00\x05hello", b""),
        (b"\x16", b""),
        (b"", b""),
    ],
)
async def test_who_does_not_speak_tls(context: ssl.SSLContext, sent: bytes, answered: bytes) -> None:
    async with connected(context, shaken=False) as ends:
        if sent:
            await ends.below.send_all(sent)
        ends.below.half_close()
        with contextlib.suppress(trio.BrokenResourceError):
            assert await ends.server.receive_some() == b""
        ends.server.close()
        answer = b""
        while piece := await ends.below.receive_some():
            answer += piece
        assert answered in answer
        assert (not answered) or answer.startswith(b"HTTP/1.1 400 ")


async def test_a_peer_that_is_gone(context: ssl.SSLContext) -> None:
    async with connected(context) as ends:
        ends.below.cut()
        with pytest.raises(trio.BrokenResourceError):
            await ends.server.receive_some()
        with pytest.raises(trio.BrokenResourceError):
            ends.server.try_send(b"x")
        ends.server.close()
        ends.server.close()
        for call in (ends.server.wait_writable, ends.server.receive_some):
            with pytest.raises(trio.ClosedResourceError):
                await call()


# Certificates


def test_what_cannot_be_used_is_told_with_its_file(tmp_path: Path, files: tuple[Path, Path]) -> None:
    certificate, key = AUTHORITY.issue(tmp_path, NAME)
    (tmp_path / "empty").write_bytes(b"")
    (tmp_path / "garbage").write_bytes(os.urandom(300))
    _, locked = AUTHORITY.issue(tmp_path, NAME, stem="locked")
    lock_behind_a_password(locked)
    for one, other, words in (
        (tmp_path / "none", key, "setting tls_certificate: cannot read .*none: No such file"),
        (certificate, tmp_path / "none", "setting tls_key: cannot read .*none: No such file"),
        (certificate, tmp_path, "setting tls_key: cannot read .*: Is a directory"),
        (certificate, files[1], "does not belong to the certificate"),
        (certificate, locked, "protected by a password"),
        (tmp_path / "empty", key, "no certificate and key in PEM"),
        (certificate, tmp_path / "garbage", "no certificate and key in PEM"),
        (key, certificate, "no certificate and key in PEM"),
    ):
        with pytest.raises(OperatorError, match=words):
            Certificates.read(one, other)


def test_changed_files_are_read_and_wrong_ones_are_not_used(tmp_path: Path) -> None:
    certificate, key = AUTHORITY.issue(tmp_path, NAME)
    certificates = Certificates.read(certificate, key)
    first = certificates.context
    assert not certificates.is_stale()
    certificate.write_text("nothing")
    assert certificates.is_stale()
    with capture_logs() as lines:
        certificates.reload(0)
    assert (certificates.context, certificates.is_stale()) == (first, False)
    assert [line["log_level"] for line in lines] == ["error"]
    key.unlink()
    assert certificates.is_stale()
    AUTHORITY.issue(tmp_path, NAME, days=3)
    with capture_logs() as lines:
        certificates.reload(0)
        certificates.tell_of_end(certificates.expires_at - 1)
        certificates.tell_of_end(certificates.expires_at)
    assert certificates.context is not first
    assert [line["event"] for line in lines] == [
        "certificate read",
        "the certificate expires soon",
        "the certificate has expired",
    ]


async def test_files_are_followed(tmp_path: Path) -> None:
    certificates = Certificates.read(*AUTHORITY.issue(tmp_path, NAME))
    first, is_read = certificates.context, trio.Event()

    async def sleep(_: float) -> None:
        await trio.lowlevel.checkpoint()
        if certificates.context is not first:
            is_read.set()
            await trio.sleep_forever()

    async with trio.open_nursery() as nursery:
        nursery.start_soon(certificates.follow, sleep, lambda: 0)
        AUTHORITY.issue(tmp_path, NAME)
        with trio.fail_after(60):
            await is_read.wait()
        nursery.cancel_scope.cancel()


async def test_a_connection_outlives_its_certificate(tmp_path: Path) -> None:
    certificates = Certificates.read(*AUTHORITY.issue(tmp_path, NAME))
    async with connected(certificates.context) as ends:
        AUTHORITY.issue(tmp_path, NAME)
        certificates.reload(0)
        await ends.client.send_all(b"still")
        assert await ends.server.receive_some() == b"still"
        async with connected(certificates.context) as others:
            assert others.client.getpeercert(binary_form=True) != ends.client.getpeercert(binary_form=True)


# A whole server


async def test_http_gateway_and_uploads_over_tls(tmp_path: Path, files: tuple[Path, Path]) -> None:
    certificate, key = files
    environment = {"CHAT_TLS_CERTIFICATE": str(certificate), "CHAT_TLS_KEY": str(key)}
    async with running(tmp_path / "data", **environment) as server, trio.open_nursery() as nursery:
        world = server.world
        assert world["base_url"].startswith("https://127.0.0.1:")
        assert world["gateway_url"].startswith("wss://127.0.0.1:")
        route = attrs.evolve(TcpRoute.of(world["base_url"]), ssl_context=AUTHORITY.client_context())
        alice = RestClient(route, token=server.token_of("alice"))
        client = await GatewayClient.connect(nursery, route)
        await client.identify(server.token_of("bob"))
        await client.expect("READY")
        noise = os.urandom(400_000)
        sent = (await alice.send_files(server.channel_id, {"noise.bin": noise}, content="a file")).expect(200)
        told = (await client.expect("MESSAGE_CREATE")).data
        assert told["id"] == sent["id"]
        address = told["attachments"][0]["url"]
        assert address.startswith(world["base_url"].removesuffix("/v1"))
        assert (await alice.fetch(address)).body == noise
        path = f"/v1/channels/{server.channel_id}/messages"
        for number in range(40):
            (await alice.post(path, {"content": f"{number} " + "x" * 1_900})).expect(200)
        seen = [(await client.expect("MESSAGE_CREATE")).data["content"].split()[0] for _ in range(40)]
        assert seen == [str(number) for number in range(40)]
        plain = RestClient(TcpRoute(route.hostname, route.port))
        assert (await plain.get("/_health")).status == 400
        for one in (plain, alice, client):
            await one.aclose()
        nursery.cancel_scope.cancel()


@pytest.mark.parametrize(
    ("environment", "told"),
    [
        ({"CHAT_TLS_CERTIFICATE": "x.pem"}, "setting tls_key: expected a path, because of tls_certificate"),
        ({"CHAT_TLS_KEY": "x.pem"}, "setting tls_certificate: expected a path, because of tls_key"),
    ],
)
def test_one_file_needs_the_other(tmp_path: Path, environment: dict[str, str], told: str) -> None:
    with pytest.raises(OperatorError, match=told):
        load_settings(tmp_path, None, environment)


def test_a_server_with_tls_is_reached_by_https(tmp_path: Path) -> None:
    files = {"tls_certificate": "x.pem", "tls_key": "x.key"}
    settings = load_settings(tmp_path, None, {}, {**files, "port": 0}).settings
    assert settings.listening_on(8_443).public_url == "https://127.0.0.1:8443"
    given = load_settings(tmp_path, None, {}, {**files, "public_url": "https://chat.example"}).settings
    assert given.listening_on(8_443).public_url == "https://chat.example"
