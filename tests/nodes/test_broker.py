"""What core and nodes may expect of a broker, and what the twin in memory can do to them."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator, Callable, Iterator
from random import Random
from typing import Final

import pytest
import trio
from trio.testing import MockClock

from chat.config.broker_address import broker_address
from chat.nodes.broker import BEGINNING, COMMAND_SECONDS, READ_BYTES, Broker, BrokerUnavailable, id_order
from chat.nodes.memory_broker import MemoryBroker
from chat.nodes.redis_broker import RedisBroker
from tests.nodes.redis_server import RedisServer
from tests.patience import PATIENCE_SECONDS

KEEP: Final = 60.0
SHORT: Final = 0.1
"""Real time passes in these tests where the broker is real."""

Connect = Callable[[], Broker]


@pytest.fixture(params=["memory", "redis"])
def kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def clock(kind: str) -> MockClock | None:
    """Virtual time for the twin; each test names it, so that it runs on it."""
    return MockClock(autojump_threshold=0) if kind == "memory" else None


@pytest.fixture(scope="module")
def redis(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RedisServer]:
    """One server for the tests that do nothing to it; each uses names of its own."""
    server = RedisServer(tmp_path_factory.mktemp("redis"))
    server.start()
    yield server
    server.kill()


@pytest.fixture
def server(kind: str, request: pytest.FixtureRequest) -> RedisServer | None:
    """The server, where the test needs it."""
    return request.getfixturevalue("redis") if kind == "redis" else None


@pytest.fixture
async def connect(server: RedisServer | None, request: pytest.FixtureRequest) -> AsyncIterator[Connect]:
    """Makes connections to one broker that is empty."""
    if server is None:
        yield MemoryBroker().client
        return
    address, prefix = broker_address(server.url), f"{request.node.name}:"
    with contextlib.ExitStack() as stack:
        yield lambda: stack.enter_context(contextlib.closing(RedisBroker(address, prefix)))


def entries_of(found: list[tuple[str, bytes]]) -> list[bytes]:
    return [entry for _, entry in found]


async def all_of(broker: Broker, stream: str) -> list[bytes]:
    found: list[bytes] = []
    after = BEGINNING
    while batch := await broker.read(stream, after, wait_seconds=0):
        found += entries_of(batch)
        after = batch[-1][0]
    return found


async def test_entries_are_read_in_order_and_each_once(connect: Connect, clock: MockClock | None) -> None:
    writer, reader = connect(), connect()
    sent = [b"%d" % number for number in range(600)]
    for start in range(0, 600, 150):
        await writer.append("s", sent[start : start + 150], keep_seconds=KEEP)
    await writer.append("other", [b"else"], keep_seconds=KEEP)

    assert await all_of(reader, "s") == sent
    first = await reader.read("s", BEGINNING, wait_seconds=0, most=7)
    assert entries_of(first) == sent[:7]
    orders = [id_order(entry) for entry, _ in first]
    assert orders == sorted(set(orders))
    assert entries_of(await reader.read("s", first[2][0], wait_seconds=0, most=2)) == sent[3:5]
    assert await reader.read("s", await writer.newest("s"), wait_seconds=0) == []


async def test_nothing_is_the_beginning(connect: Connect, clock: MockClock | None) -> None:
    broker = connect()
    assert await broker.newest("none") == BEGINNING
    assert await broker.read("none", BEGINNING, wait_seconds=0) == []
    assert await broker.get("none", "neither") == [None, None]
    await broker.forget("none", "neither")


async def test_a_reader_waits_for_the_first_entry(connect: Connect, clock: MockClock | None) -> None:
    writer, reader, other = connect(), connect(), connect()
    await writer.append("s", [b"before"], keep_seconds=KEEP)
    after = await writer.newest("s")
    heard: list[list[bytes]] = []

    async def hears(broker: Broker) -> None:
        heard.append(entries_of(await broker.read("s", after, wait_seconds=PATIENCE_SECONDS)))

    async with trio.open_nursery() as nursery:
        nursery.start_soon(hears, reader)
        nursery.start_soon(hears, other)
        await trio.sleep(SHORT)
        assert heard == []
        # A read that waits holds up no other call.
        assert await reader.get("k") == [None]
        await writer.append("s", [b"one", b"two"], keep_seconds=KEEP)
    assert [batch[0] for batch in heard] == [b"one", b"one"]


async def test_waiting_ends_with_nothing(connect: Connect, clock: MockClock | None) -> None:
    broker = connect()
    began = trio.current_time()
    assert await broker.read("s", BEGINNING, wait_seconds=SHORT) == []
    assert trio.current_time() - began >= SHORT / 2


async def test_a_reader_that_is_cancelled_leaves_nothing_behind(connect: Connect, clock: MockClock | None) -> None:
    broker = connect()
    for _ in range(40):  # more than there are connections
        with trio.move_on_after(0.001) as scope:
            await broker.read("s", BEGINNING, wait_seconds=PATIENCE_SECONDS)
        assert scope.cancelled_caught
    await broker.append("s", [b"one"], keep_seconds=KEEP)
    assert entries_of(await broker.read("s", BEGINNING, wait_seconds=PATIENCE_SECONDS)) == [b"one"]


async def test_old_entries_are_forgotten_and_new_ones_kept(connect: Connect, clock: MockClock | None) -> None:
    broker = connect()
    await broker.append("s", [b"old"] * 1_000, keep_seconds=KEEP)
    after = await broker.newest("s")
    await trio.sleep(2 * SHORT)
    await broker.append("s", [b"new"], keep_seconds=SHORT)
    await broker.append("s", [b"newer"], keep_seconds=KEEP)
    left = await all_of(broker, "s")
    assert left[-1] == b"newer"
    assert len(left) < 500
    assert entries_of(await broker.read("s", after, wait_seconds=0))[-1] == b"newer"


async def test_a_stream_that_none_appends_to_vanishes(connect: Connect, clock: MockClock | None) -> None:
    broker = connect()
    await broker.append("s", [b"one"], keep_seconds=SHORT)
    newest = await broker.newest("s")
    await trio.sleep(3 * SHORT)
    assert await broker.newest("s") == BEGINNING
    await broker.append("s", [b"two"], keep_seconds=KEEP)
    assert entries_of(await broker.read("s", newest, wait_seconds=0)) == [b"two"]


async def test_what_is_forgotten_is_gone(connect: Connect, clock: MockClock | None) -> None:
    broker = connect()
    await broker.append("s", [b"one"], keep_seconds=KEEP)
    await broker.put({"k": b"v", "l": b"w"}, seconds=KEEP)
    await broker.forget("s", "k")
    assert (await broker.newest("s"), await broker.get("k", "l")) == (BEGINNING, [None, b"w"])
    await broker.append("s", [b"two"], keep_seconds=KEEP)
    assert await all_of(broker, "s") == [b"two"]


async def test_keys_vanish(connect: Connect, clock: MockClock | None) -> None:
    broker = connect()
    await broker.put({"short": b"\x00\xff", "long": b""}, seconds=KEEP)
    assert await broker.get("long", "none", "short") == [b"", None, b"\x00\xff"]
    await broker.put({"short": b"again"}, seconds=KEEP)
    assert await broker.get("short") == [b"again"]
    await broker.put({"short": b"again"}, seconds=SHORT)
    await trio.sleep(2 * SHORT)
    assert await broker.get("short", "long") == [None, b""]


async def test_a_lease_has_one_holder(connect: Connect, clock: MockClock | None) -> None:
    one, two = connect(), connect()
    assert await one.claim("lease", b"one", seconds=SHORT)
    assert await one.claim("lease", b"one", seconds=KEEP)  # renewed, and longer
    await trio.sleep(2 * SHORT)
    assert not await two.claim("lease", b"two", seconds=SHORT)
    assert await two.get("lease") == [b"one"]
    assert await one.claim("lease", b"one", seconds=SHORT)  # and shorter
    await trio.sleep(2 * SHORT)
    assert await two.claim("lease", b"two", seconds=KEEP)
    assert not await one.claim("lease", b"one", seconds=KEEP)

    await one.seize("lease", b"one", seconds=KEEP)
    assert not await two.claim("lease", b"two", seconds=KEEP)
    await one.seize("lease", b"one", seconds=SHORT)
    await trio.sleep(2 * SHORT)
    assert await one.get("lease") == [None]


async def test_of_many_that_claim_at_once_one_gets_the_lease(connect: Connect, clock: MockClock | None) -> None:
    clients = [connect() for _ in range(8)]

    async def claims(number: int, lease: str, won: list[int]) -> None:
        if await clients[number].claim(lease, b"%d" % number, seconds=KEEP):
            won.append(number)

    for lease in ("one", "two", "three"):
        won: list[int] = []
        async with trio.open_nursery() as nursery:
            for number in range(len(clients)):
                nursery.start_soon(claims, number, lease, won)
        assert len(won) == 1


async def test_big_entries_pass_and_a_read_stays_bounded(connect: Connect, clock: MockClock | None) -> None:
    broker = connect()
    big = [bytes([number]) * 1_048_576 for number in range(6)]
    for entry in big:
        await broker.append("s", [entry], keep_seconds=KEEP)
    first = entries_of(await broker.read("s", BEGINNING, wait_seconds=0))
    assert 0 < sum(map(len, first)) <= 2 * READ_BYTES
    assert await all_of(broker, "s") == big


# The twin's faults.


async def is_refused(broker: Broker, *, within: float) -> None:
    """Each call raises within `within` seconds, and none hangs."""
    for call in (
        lambda: broker.append("s", [b"lost"], keep_seconds=KEEP),
        lambda: broker.read("s", BEGINNING, wait_seconds=PATIENCE_SECONDS),
        lambda: broker.newest("s"),
        lambda: broker.forget("k"),
        lambda: broker.put({"k": b""}, seconds=KEEP),
        lambda: broker.get("k"),
        lambda: broker.claim("k", b"", seconds=KEEP),
        lambda: broker.seize("k", b"", seconds=KEEP),
    ):
        with trio.fail_after(within), pytest.raises(BrokerUnavailable):
            await call()


async def test_a_broker_that_is_down_refuses_at_once_waiting_readers_too(autojump_clock: MockClock) -> None:
    broker = MemoryBroker()
    await broker.append("s", [b"kept"], keep_seconds=KEEP)
    async with trio.open_nursery() as nursery:

        @nursery.start_soon
        async def reads() -> None:
            with pytest.raises(BrokerUnavailable):
                await broker.read("s", await broker.newest("s"), wait_seconds=PATIENCE_SECONDS)

        await trio.sleep(1)
        broker.down = True
        await is_refused(broker, within=0.001)
    broker.down = False
    assert await all_of(broker, "s") == [b"kept"]
    broker.lose_everything()
    assert await all_of(broker, "s") == []


async def test_one_client_is_cut_off_and_the_others_go_on(autojump_clock: MockClock) -> None:
    engine = MemoryBroker()
    one, two = engine.client(), engine.client()
    one.cut_off = True
    await is_refused(one, within=COMMAND_SECONDS + 0.001)
    await two.append("s", [b"two"], keep_seconds=KEEP)
    one.cut_off = False
    assert await all_of(one, "s") == [b"two"]


async def test_a_stall_that_ends_in_time_is_only_slow(autojump_clock: MockClock) -> None:
    engine = MemoryBroker()
    engine.engine.stalled = True
    async with trio.open_nursery() as nursery:
        nursery.start_soon(lambda: engine.append("s", [b"late"], keep_seconds=KEEP))
        await trio.sleep(COMMAND_SECONDS / 2)
        engine.engine.stalled = False
    assert await all_of(engine, "s") == [b"late"]


async def test_a_stall_that_lasts_refuses_and_does_the_work_later(autojump_clock: MockClock) -> None:
    broker = MemoryBroker()
    broker.engine.stalled = True
    await is_refused(broker, within=COMMAND_SECONDS + 0.001)
    with trio.move_on_after(COMMAND_SECONDS / 2):  # it was sent, whatever became of its caller
        await broker.append("s", [b"cancelled"], keep_seconds=KEEP)
    broker.engine.stalled = False
    assert await all_of(broker, "s") == [b"lost", b"cancelled"]
    assert await broker.get("k") == [b""]
    broker.engine.stalled = True
    with pytest.raises(BrokerUnavailable):
        await broker.append("s", [b"too"], keep_seconds=KEEP)
    broker.down = True  # killed: what it had not done is gone
    broker.engine.stalled = broker.down = False
    assert await all_of(broker, "s") == [b"lost", b"cancelled"]


async def test_an_answer_is_lost_and_an_append_is(autojump_clock: MockClock) -> None:
    broker = MemoryBroker()
    broker.answers_lost = True
    with pytest.raises(BrokerUnavailable):
        await broker.append("s", [b"done"], keep_seconds=KEEP)
    broker.answers_lost = False
    broker.engine.drop_appends = 1
    await broker.append("s", [b"dropped"], keep_seconds=KEEP)
    await broker.append("s", [b"next"], keep_seconds=KEEP)
    assert await all_of(broker, "s") == [b"done", b"next"]


async def test_ids_grow_over_a_loss_and_delays_come_from_the_seed(autojump_clock: MockClock) -> None:
    async def times(seed: int) -> list[float]:
        broker, taken = MemoryBroker(chance=Random(seed), delay_seconds=0.5), []
        for _ in range(20):
            before, began = await broker.newest("s"), trio.current_time()
            broker.lose_everything()
            await broker.append("s", [b""], keep_seconds=KEEP)
            taken.append(trio.current_time() - began)
            assert id_order(await broker.newest("s")) > id_order(before)
        return taken

    first, again, other = await times(1), await times(1), await times(2)
    assert first == pytest.approx(again)
    assert first != pytest.approx(other)
    assert 0 < max(first) <= 1.0
