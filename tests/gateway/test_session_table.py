"""Sessions without a socket: offline after 5,000 ms, over after 60,000 ms.

Area: gateway. Rules: 000.states.
"""

import itertools
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
import trio
import trio.testing
from trio.testing import MockClock

from chat.domain.presence.account_presence import SessionPresence
from chat.gateway.session import GatewaySession
from chat.gateway.session_table import DUE_PER_TURN, SessionTable
from chat.registries.statuses import Status


def session(name: str, user_id: int = 1) -> GatewaySession:
    return GatewaySession(
        name,
        user_id=user_id,
        bot=False,
        is_staff=False,
        session_id_hash=None,
        shard=None,
        threads=False,
        debounces_reactions=False,
        ignored_events=frozenset(),
        presence=SessionPresence(Status.ONLINE),
    )


class Told:
    """What a table said, and when."""

    def __init__(self, table: SessionTable) -> None:
        self.started = trio.current_time()
        self.heard: list[tuple[str, str, float]] = []
        table.on_offline.append(lambda session: self._note("offline", session))
        table.on_end.append(lambda session: self._note("end", session))

    def _note(self, what: str, session: GatewaySession) -> None:
        self.heard.append((what, session.id, round(trio.current_time() - self.started, 3)))


@asynccontextmanager
async def keeping() -> AsyncIterator[tuple[SessionTable, Told]]:
    table = SessionTable()
    async with trio.open_nursery() as nursery:
        nursery.start_soon(table.keep_deadlines)
        await trio.testing.wait_all_tasks_blocked()
        yield table, Told(table)
        nursery.cancel_scope.cancel()


async def test_a_dropped_session_goes_offline_and_then_ends(autojump_clock: MockClock) -> None:
    async with keeping() as (table, told):
        dropped = session("a")
        table.add(dropped)
        table.detach(dropped)
        await trio.sleep(59.9)
        assert told.heard == [("offline", "a", 5.0)]
        assert table.get("a") is dropped
        await trio.sleep(0.2)
        assert told.heard[1:] == [("end", "a", 60.0)]
        assert table.get("a") is None
        assert dropped.ended
        assert len(table) == 0


async def test_a_session_resumed_in_time_neither_goes_offline_nor_ends(autojump_clock: MockClock) -> None:
    async with keeping() as (table, told):
        resumed = session("a")
        table.add(resumed)
        table.detach(resumed)
        await trio.sleep(4)
        table.attach(resumed)
        await trio.sleep(120)
        assert told.heard == []


async def test_a_session_that_drops_anew_has_its_full_times_again(autojump_clock: MockClock) -> None:
    async with keeping() as (table, told):
        resumed = session("a")
        table.add(resumed)
        table.detach(resumed)
        await trio.sleep(6)
        table.attach(resumed)
        table.detach(resumed)
        await trio.sleep(59.9)
        assert told.heard == [("offline", "a", 5.0), ("offline", "a", 11.0)]
        await trio.sleep(0.2)
        assert told.heard[-1] == ("end", "a", 66.0)


async def test_sessions_end_in_the_order_of_their_drops(autojump_clock: MockClock) -> None:
    async with keeping() as (table, told):
        for name in "abc":
            table.add(session(name))
        for name in "bca":
            dropped = table.get(name)
            assert dropped is not None
            table.detach(dropped)
            await trio.sleep(1)
        await trio.sleep(70)
        assert [name for what, name, _ in told.heard if what == "end"] == ["b", "c", "a"]


@pytest.mark.rule("000.states.37")
async def test_a_session_that_is_ended_is_gone_at_once(autojump_clock: MockClock) -> None:
    async with keeping() as (table, told):
        first, second = session("a"), session("b")
        table.add(first)
        table.add(second)
        table.end(first)
        table.end(first)
        assert told.heard == [("end", "a", 0.0)]
        assert list(table.of_user(1)) == [second]
        table.end(second)
        assert list(table.of_user(1)) == []


async def test_many_that_drop_at_once_go_offline_a_few_at_a_turn(autojump_clock: MockClock) -> None:
    class Turns(trio.abc.Instrument):
        def after_io_wait(self, timeout: float) -> None:
            heard.append(len(told.heard))

    heard: list[int] = []
    async with keeping() as (table, told):
        for number in range(5 * DUE_PER_TURN):
            dropped = session(str(number), number)
            table.add(dropped)
            table.detach(dropped)
        trio.lowlevel.add_instrument(turns := Turns())
        await trio.sleep(70)
        trio.lowlevel.remove_instrument(turns)
    assert [what for what, _, _ in told.heard] == ["offline"] * 5 * DUE_PER_TURN + ["end"] * 5 * DUE_PER_TURN
    assert max(after - before for before, after in itertools.pairwise(heard)) == DUE_PER_TURN
