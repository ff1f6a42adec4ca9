"""The broker on a real server: what goes wrong with it, and what an operator reads then."""

from __future__ import annotations

import functools
import signal
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Final

import pytest
import trio
from structlog.testing import capture_logs

from chat.config.broker_address import BrokerAddress, broker_address
from chat.errors import OperatorError
from chat.nodes.broker import BEGINNING, Broker, BrokerUnavailable, id_order
from chat.nodes.redis_broker import CALLS_AT_ONCE, COMMANDS, open_broker
from tests.certificates import Authority
from tests.nodes.redis_server import HOST, RedisServer, free_port
from tests.patience import PATIENCE_SECONDS

KEEP: Final = 60.0
SECRET: Final = "hunter2-and-more"
RIGHTS: Final = ("~chat:*", *(f"+{name}" for name in COMMANDS))

Start = Callable[..., Awaitable[RedisServer]]


@pytest.fixture
async def start(tmp_path: Path) -> AsyncIterator[Start]:
    """Starts servers with settings."""
    servers: list[RedisServer] = []

    async def starts(*settings: str) -> RedisServer:
        servers.append(RedisServer(tmp_path, *settings))
        await trio.to_thread.run_sync(servers[-1].start)
        return servers[-1]

    yield starts
    for server in servers:
        server.kill()


async def refusal(url: str) -> str:
    """What the operator reads; no secret is in it, nor in what it was raised from."""
    with trio.fail_after(PATIENCE_SECONDS), pytest.raises(OperatorError) as refused:
        async with open_broker(url):
            pytest.fail("it was opened")
    error: BaseException | None = refused.value
    while error is not None:
        assert SECRET not in str(error)
        error = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
    return str(refused.value)


async def asks(server: RedisServer, question: str) -> str:
    """An answer of the server to a command of one line."""
    stream = await trio.open_tcp_stream(HOST, server.port)
    async with stream:
        await stream.send_all(question.encode() + b"\r\nQUIT\r\n")
        return b"".join([part async for part in stream]).decode()


async def connections(server: RedisServer) -> int:
    """How many there are besides this one."""
    told = await asks(server, "INFO clients")
    [line] = [line for line in told.splitlines() if line.startswith("connected_clients:")]
    return int(line.partition(":")[2]) - 1


async def connections_fall(server: RedisServer, most: int) -> None:
    """Wait until no more are left."""
    with trio.fail_after(PATIENCE_SECONDS):
        while True:
            if await connections(server) <= most:
                return
            await trio.sleep(0.02)


@asynccontextmanager
async def answering(*answers: bytes) -> AsyncIterator[int]:
    """A server that gives these answers, one to each part that comes, and is silent then; its port."""

    async def serves(stream: trio.SocketStream) -> None:
        for answer in answers:
            await stream.receive_some()
            await stream.send_all(answer)
        await trio.sleep_forever()

    async with trio.open_nursery() as nursery:
        [listener] = await nursery.start(functools.partial(trio.serve_tcp, serves, 0, host=HOST))
        yield listener.socket.getsockname()[1]
        nursery.cancel_scope.cancel()


# Faults while it runs


async def test_a_server_is_killed_and_comes_back_empty(start: Start) -> None:
    server = await start()
    with capture_logs() as lines:
        await survives_a_kill(server)
    told = [(line["event"], line.get("reason", "")) for line in lines]
    place = f"the broker {server.url}"
    assert told == [("the broker does not serve", f"{place} was lost"), ("the broker serves again", "")]


async def survives_a_kill(server: RedisServer) -> None:
    heard: list[str] = []

    async def waits(broker: Broker, after: str) -> None:
        with pytest.raises(BrokerUnavailable, match="was lost"):
            await broker.read("s", after, wait_seconds=PATIENCE_SECONDS)
        heard.append("lost")

    async with open_broker(server.url) as broker:
        await broker.append("s", [b"before"], keep_seconds=KEEP)
        before = await broker.newest("s")
        async with trio.open_nursery() as nursery:
            nursery.start_soon(waits, broker, before)
            await trio.testing.wait_all_tasks_blocked(0.05)
            assert heard == []
            server.kill()
        assert heard == ["lost"]
        for _ in range(3):
            with pytest.raises(BrokerUnavailable, match="Connection refused"):
                await broker.append("s", [b"lost"], keep_seconds=KEEP)
        await trio.to_thread.run_sync(server.start)

        # It is used again without a word, and ids go on.
        assert await broker.read("s", BEGINNING, wait_seconds=0) == []
        await broker.append("s", [b"after"], keep_seconds=KEEP)
        [(entry, data)] = await broker.read("s", before, wait_seconds=0)
        assert (data, id_order(entry) > id_order(before)) == (b"after", True)


@pytest.mark.long
async def test_a_server_that_stands_still_ends_calls_in_time(start: Start) -> None:
    server = await start()
    async with open_broker(server.url) as broker:
        async with trio.open_nursery() as nursery:  # several connections wait, and none of them is trusted afterwards
            for _ in range(3):
                nursery.start_soon(broker.get, "k")
        server.signal(signal.SIGSTOP)
        for _ in range(2):
            with pytest.raises(BrokerUnavailable, match="in time"):
                await broker.put({"k": b"v"}, seconds=KEEP)
        server.signal(signal.SIGCONT)
        await broker.put({"k": b"w"}, seconds=KEEP)
        assert await broker.get("k") == [b"w"]


async def test_many_calls_share_few_connections_and_all_are_closed(start: Start) -> None:
    server = await start()
    async with open_broker(server.url) as broker:
        async with trio.open_nursery() as nursery:
            for number in range(400):
                nursery.start_soon(functools.partial(broker.put, {f"k{number}": b"v"}, seconds=KEEP))
        assert await broker.get(*(f"k{number}" for number in range(400))) == [b"v"] * 400
        assert 1 <= await connections(server) <= CALLS_AT_ONCE

        # Reads that are given up leave no connection at the server.
        idle = await connections(server)
        with trio.move_on_after(0.1):
            async with trio.open_nursery() as nursery:
                for _ in range(100):
                    nursery.start_soon(functools.partial(broker.read, "s", BEGINNING, wait_seconds=PATIENCE_SECONDS))
        await connections_fall(server, idle)
    await connections_fall(server, 0)


async def test_a_full_server_refuses_and_is_used_again(start: Start) -> None:
    server = await start("--maxmemory-policy", "noeviction")
    async with open_broker(server.url) as broker:
        await asks(server, "CONFIG SET maxmemory 1")
        with capture_logs() as lines:
            for _ in range(3):
                with pytest.raises(BrokerUnavailable, match="OOM"):
                    await broker.append("s", [b"x"], keep_seconds=KEEP)
        assert [line["event"] for line in lines] == ["the broker does not do its work"]
        await asks(server, "CONFIG SET maxmemory 0")
        await broker.append("s", [b"x"], keep_seconds=KEEP)
        await asks(server, "REPLICAOF 127.0.0.1 1")
        with pytest.raises(BrokerUnavailable, match="replica"):
            await broker.append("s", [b"x"], keep_seconds=KEEP)


async def test_the_clock_of_the_server_decides_what_is_old(start: Start) -> None:
    """Ids far ahead of this machine's clock: nothing that is young is forgotten."""
    server = await start()
    async with open_broker(server.url) as broker:
        await asks(server, "XADD chat:s 99999999999999-0 d first")
        for _ in range(300):
            await broker.append("s", [b"x" * 100], keep_seconds=KEEP)
        assert len(await broker.read("s", BEGINNING, wait_seconds=0, most=1)) == 1
        assert (await broker.read("s", BEGINNING, wait_seconds=0, most=1))[0][1] == b"first"


# What is told at the start


async def test_a_broker_that_is_not_there_is_told(tmp_path: Path) -> None:
    port = free_port()
    assert await refusal(f"redis://chat:{SECRET}@{HOST}:{port}") == (
        f"the broker redis://{HOST}:{port} cannot be reached: Connection refused"
    )
    assert "its name is not known" in await refusal(f"redis://:{SECRET}@broker.invalid")


async def test_a_password_and_rights_are_told(start: Start) -> None:
    server = await start(
        "--requirepass", SECRET,
        "--user", "whole", "on", f">{SECRET}", *RIGHTS,
        "--user", "bare", "on", f">{SECRET}", "~chat:*", "+get",
        "--user", "elsewhere", "on", f">{SECRET}", "~other:*", *RIGHTS[1:],
    )  # fmt: skip
    place = f"redis://{HOST}:{server.port}"
    at = f"{HOST}:{server.port}"
    assert await refusal(server.url) == f"the broker {place} does not accept user and password"
    assert await refusal(f"redis://:{SECRET}x@{at}") == f"the broker {place} does not accept user and password"
    assert await refusal(f"redis://bare:{SECRET}@{at}") == (
        f"the broker {place} does not let its user run set, mget, eval, xadd, pexpire, xread, xrevrange, unlink: "
        f"it needs the rights {' '.join(RIGHTS)}"
    )
    assert await refusal(f"redis://elsewhere:{SECRET}@{at}") == (
        f"the broker {place} does not let its user use keys that begin with chat:: it needs the right ~chat:*"
    )
    assert "this database" in await refusal(f"redis://whole:{SECRET}@{at}/3")
    for url in (f"redis://:{SECRET}@{at}/3", f"redis://whole:{SECRET}@{at}"):
        async with open_broker(url) as broker:
            assert await broker.claim("lease", b"me", seconds=KEEP)
            assert SECRET not in repr(broker.address)


@pytest.mark.parametrize(
    ("answers", "told"),
    [
        ([b"-ERR unknown command `HELLO`, with args beginning with: `3` `%b`\r\n" % SECRET.encode()], "is too old"),
        ([b"%3\r\n+version\r\n+6.0.16\r\n+proto\r\n:3\r\n+id\r\n:7\r\n", b"+OK\r\n" * 9], "of version 6.0.16"),
        ([b"-LOADING Redis is loading the dataset in memory\r\n"], "is still loading"),
        ([b"-DENIED Redis is running in protected mode\r\n"], "refuses: DENIED"),
        ([b"-ERR max number of clients reached\r\n"], "cannot be reached"),
        ([b"HTTP/1.1 400 Bad Request\r\n\r\n"], "does not speak the protocol"),
    ],
    ids=["old", "older", "loading", "protected", "full", "http"],
)
async def test_what_is_no_broker_of_ours_is_told(answers: list[bytes], told: str) -> None:
    async with answering(*answers) as port:
        assert told in await refusal(f"redis://chat:{SECRET}@{HOST}:{port}")


@pytest.mark.long
async def test_a_broker_that_stays_silent_is_told() -> None:
    async with answering() as port:
        assert "did not answer in time" in await refusal(f"redis://:{SECRET}@{HOST}:{port}")


async def test_tls_with_an_authority_of_its_own(start: Start, tmp_path: Path) -> None:
    authority = Authority()
    certificate, key = authority.issue(tmp_path, HOST)
    trusted = authority.write(tmp_path)
    port = free_port()
    server = RedisServer(
        tmp_path, "--port", "0", "--tls-port", str(port), "--tls-cert-file", str(certificate),
        "--tls-key-file", str(key), "--tls-auth-clients", "no", port=port,
    )  # fmt: skip
    await trio.to_thread.run_sync(server.start)
    try:
        async with open_broker(f"rediss://{HOST}:{port}?ca={trusted}") as broker:
            await broker.append("s", [b"x" * 100_000], keep_seconds=KEEP)
            assert (await broker.read("s", BEGINNING, wait_seconds=5))[0][1] == b"x" * 100_000
        assert "certificate that is not trusted" in await refusal(f"rediss://{HOST}:{port}")
        assert "cannot be reached" in await refusal(f"redis://:{SECRET}@{HOST}:{port}")
        assert "it holds no certificate" in await refusal(f"rediss://{HOST}:{port}?ca={key}")
        missing = tmp_path / "missing.pem"
        assert await refusal(f"rediss://{HOST}:{port}?ca={missing}") == (
            f"cannot trust the certificates of {missing}: No such file or directory"
        )
    finally:
        server.kill()


@pytest.mark.long
async def test_tls_where_there_is_none_is_told(start: Start) -> None:
    server = await start()
    assert "does it speak TLS?" in await refusal(f"rediss://:{SECRET}@{HOST}:{server.port}")


async def test_an_error_of_the_body_comes_out_as_it_is(start: Start) -> None:
    server = await start()
    with pytest.raises(KeyError):
        async with open_broker(server.url):
            raise KeyError


# Addresses


@pytest.mark.parametrize(
    ("text", "address"),
    [
        ("redis://h", BrokerAddress("h", 6379)),
        ("redis://h:1/2", BrokerAddress("h", 1, database=2)),
        ("redis://:p%40%2F@[::1]/", BrokerAddress("::1", 6379, password="p@/")),
        (
            "rediss://u:p@h?ca=/a/b.pem",
            BrokerAddress("h", 6379, tls=True, user="u", password="p", authority="/a/b.pem"),
        ),
    ],
)
def test_addresses(text: str, address: BrokerAddress) -> None:
    assert broker_address(text) == address
    assert "p@" not in address.place + repr(address)


@pytest.mark.parametrize(
    "text",
    ["", "h", "h:6379", "http://h", "redis://", "redis://h/x", "redis://h/-1", "redis://h:0", "redis://h:99999",
     "redis://h?ca=x", "rediss://h?db=1", "rediss://h?ca=x&ca=y", "redis://h#x", "redis://[h"],
)  # fmt: skip
def test_what_is_no_address(text: str) -> None:
    with pytest.raises(ValueError, match="expected an address such as"):
        broker_address(text)
