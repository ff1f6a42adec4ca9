"""Reactions that are held back for a moment: when they go, to whom, and how many at most."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import trio
import trio.testing
from trio.testing import MockClock

from chat.bus.audience import ToAccounts
from chat.bus.bus import Event
from chat.domain.presence.account_presence import SessionPresence
from chat.gateway.reaction_debounce import ReactionDebounce
from chat.gateway.session import GatewaySession
from chat.registries.events import EventName
from chat.registries.limits import REACTION_DEBOUNCE_ADDITIONS
from chat.registries.statuses import Status

Sent = list[tuple[list[str], str, list[str]]]
"""Names of sessions, the message, and who reacted."""


def session(name: str, *, debounces: bool = True) -> GatewaySession:
    return GatewaySession(
        name,
        user_id=7,
        bot=False,
        is_staff=False,
        session_id_hash=None,
        shard=None,
        threads=False,
        debounces_reactions=debounces,
        ignored_events=frozenset(),
        presence=SessionPresence(Status.ONLINE),
    )


def debounce() -> tuple[ReactionDebounce, Sent]:
    sent: Sent = []

    def send(sessions: Sequence[GatewaySession], name: EventName, data: Any) -> None:
        assert name == EventName.MESSAGE_REACTION_ADD_MANY
        who = [addition["user_id"] for addition in data["reactions"]]
        sent.append(([receiver.id for receiver in sessions], data["message_id"], who))

    return ReactionDebounce(send), sent


def addition(user_id: int, message_id: str = "1", channel_id: str = "5") -> Event:
    data = {"user_id": str(user_id), "emoji": {"name": "x"}, "channel_id": channel_id, "message_id": message_id}
    return Event(EventName.MESSAGE_REACTION_ADD, data, ToAccounts((7,)))


async def test_a_window_holds_so_many(autojump_clock: MockClock) -> None:
    gathering, sent = debounce()
    one = session("one")
    for user_id in range(REACTION_DEBOUNCE_ADDITIONS + 1):
        assert gathering.gather(addition(user_id), (one,)) == ()
    everybody = [str(user_id) for user_id in range(REACTION_DEBOUNCE_ADDITIONS + 1)]
    assert sent == [(["one"], "1", everybody[:-1])]
    async with trio.open_nursery() as nursery:
        nursery.start_soon(gathering.run)
        await trio.sleep(0.7)
        nursery.cancel_scope.cancel()
    assert sent[1:] == [(["one"], "1", everybody[-1:])]
    assert not gathering.windows


async def test_others_are_told_at_once_and_newcomers_of_what_came_after_them() -> None:
    gathering, sent = debounce()
    one, two, plain = session("one"), session("two"), session("plain", debounces=False)
    assert gathering.gather(addition(1), (one, plain)) == (plain,)
    assert gathering.gather(addition(2), (plain,)) == (plain,)
    assert gathering.gather(addition(3), (one, two, plain)) == (plain,)
    assert gathering.gather(addition(4), (one, two)) == ()
    gathering.close_all()
    assert sent == [(["one"], "1", ["1"]), (["one", "two"], "1", ["3", "4"])]


async def test_only_the_channel_that_something_goes_from_is_hurried() -> None:
    gathering, sent = debounce()
    one = session("one")
    for message_id, channel_id in (("1", "5"), ("2", "6"), ("3", "5")):
        gathering.gather(addition(1, message_id, channel_id), (one,))
    gathering.before(Event(EventName.MESSAGE_CREATE, {"channel_id": "5"}, ToAccounts((7,))))
    assert sent == []
    gathering.before(Event(EventName.MESSAGE_DELETE, {"channel_id": "5", "id": "1"}, ToAccounts((7,))))
    assert [message_id for _, message_id, _ in sent] == ["1", "3"]
    assert gathering.windows


async def test_windows_close_in_turn(autojump_clock: MockClock) -> None:
    gathering, sent = debounce()
    one = session("one")
    async with trio.open_nursery() as nursery:
        nursery.start_soon(gathering.run)
        for message_id in ("1", "2"):
            gathering.gather(addition(1, message_id), (one,))
            await trio.sleep(0.3)
        gathering.gather(addition(2, "1"), (one,))
        await trio.sleep(0.06)
        assert [message_id for _, message_id, _ in sent] == ["1"]
        await trio.sleep(0.3)
        assert [message_id for _, message_id, _ in sent] == ["1", "2"]
        nursery.cancel_scope.cancel()
