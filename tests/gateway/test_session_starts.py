"""While sessions start: presences that wait for Ready, and more Identifies than the node starts at once."""

from __future__ import annotations

import pytest
import trio
from trio.testing import MockClock

from chat.domain.presence.account_presence import SessionPresence
from chat.gateway.session import GatewaySession
from chat.gateway.starts import START_SECONDS
from chat.protocol.frames import EventRun, OutgoingEvent
from chat.registries.limits import PRESENCE_HOLD_ENTRIES, PRESENCE_HOLD_MS, SESSION_STARTS_IN_PROGRESS
from chat.registries.statuses import Status
from chat.testing import ChatServer, World
from tests.gateway.conversations import is_unauthenticated, no_turns


def starting_session() -> GatewaySession:
    """A session whose Ready is being made."""
    return GatewaySession(
        "session",
        user_id=1,
        bot=False,
        is_staff=False,
        session_id_hash=None,
        shard=None,
        threads=False,
        debounces_reactions=False,
        ignored_events=frozenset(),
        presence=SessionPresence(Status.ONLINE),
    )


def event(name: str, number: int) -> OutgoingEvent:
    return OutgoingEvent(name, b"%d" % number)


def received(session: GatewaySession) -> list[tuple[str, bytes]]:
    """What the session was dispatched, in order, once its Ready was."""
    session.ready = OutgoingEvent("READY", b"0")
    session.begin()
    return [(sent.name, sent.data) for _, sent in session.numbering.retained_above(0)]


def test_presences_are_held_back_until_ready_and_the_latest_of_them_are_kept() -> None:
    session = starting_session()
    session.dispatch(event("MESSAGE_CREATE", 1))
    for number in range(PRESENCE_HOLD_ENTRIES - 1):
        session.dispatch(event("PRESENCE_UPDATE", number))
    session.dispatch_run(EventRun([event("PRESENCE_UPDATE", PRESENCE_HOLD_ENTRIES - 1), event("MESSAGE_CREATE", 2)]))
    assert session.numbering.sequence == 0
    session.dispatch(event("PRESENCE_UPDATE", PRESENCE_HOLD_ENTRIES))
    session.dispatch_run(EventRun([event("PRESENCE_UPDATE", PRESENCE_HOLD_ENTRIES + 1)]))
    dispatched = received(session)
    assert dispatched[:2] == [("READY", b"0"), ("MESSAGE_CREATE", b"1")]
    presences = [int(data) for name, data in dispatched if name == "PRESENCE_UPDATE"]
    assert presences == list(range(2, PRESENCE_HOLD_ENTRIES + 2))
    assert dispatched[-3:-2] == [("MESSAGE_CREATE", b"2")]
    assert PRESENCE_HOLD_ENTRIES == 2_048


def test_other_events_that_wait_for_ready_are_all_kept() -> None:
    session = starting_session()
    for number in range(PRESENCE_HOLD_ENTRIES + 10):
        session.dispatch(event("TYPING_START", number))
    assert len(received(session)) == PRESENCE_HOLD_ENTRIES + 11


async def test_presences_are_held_back_no_longer_than_a_start_may_take(
    chat_server: ChatServer, chat_world: World, autojump_clock: MockClock
) -> None:
    assert START_SECONDS * 1_000 == PRESENCE_HOLD_MS == 10_000
    client = await chat_world.bob.open()
    async with no_turns(chat_server):
        await client.identify(chat_world.bob.token)
        await client.expect_silence(START_SECONDS + 0.5)
        await is_unauthenticated(client)
    await client.expect("READY", seconds=2)


async def test_further_identifies_are_held_while_as_many_sessions_start_as_may(
    chat_server: ChatServer, chat_world: World, autojump_clock: MockClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert SESSION_STARTS_IN_PROGRESS == 512
    monkeypatch.setattr("chat.gateway.starts.SESSION_STARTS_IN_PROGRESS", 2)
    clients = [await chat_world.bob.open() for _ in range(3)]
    async with no_turns(chat_server):
        for client in clients:
            await client.identify(chat_world.bob.token)
            await trio.sleep(0.05)  # virtual: it has come to the server, from a gateway node too
        began = trio.current_time()
        await is_unauthenticated(clients[2])
    for client in clients[:2]:
        await client.expect("READY")
    assert trio.current_time() - began < 0.9
    await clients[2].expect("READY", seconds=2)
    assert 0.9 <= trio.current_time() - began <= 2.0
