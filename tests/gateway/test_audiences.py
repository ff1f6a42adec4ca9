"""An event is for whom its row in `chat.registries.event_rules` says, and an event for others reaches nobody."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

import pytest
import trio
from trio.testing import MockClock

from chat.bus.audience import (
    OWN_RULES,
    Audience,
    ToAccounts,
    ToBot,
    ToChannel,
    ToGuild,
    ToPresenceSubscribers,
    ToSession,
    ToThread,
    ToUnsubscribed,
    is_for,
)
from chat.bus.bus import Event
from chat.registries.event_rules import EVENTS
from chat.registries.event_rules import Audience as Code
from chat.registries.events import EventName
from chat.testing.server import ChatServer
from chat.testing.world import World

CHAT: Final = Path(__file__).parents[2] / "chat"

ADDRESSED: Final[dict[Code, tuple[list[Audience], list[Audience]]]] = {
    Code.ACCOUNT: ([ToAccounts((1,))], [ToAccounts((1, 2)), ToGuild(1), ToSession("s")]),
    Code.GUILD: ([ToGuild(1)], [ToAccounts((1,)), ToChannel(1, 2)]),
    Code.CHANNEL_VIEWERS: (
        [ToChannel(1, 2), ToThread(1, 2), ToAccounts((1, 2)), ToSession("s", 1)],
        [ToGuild(1), ToSession("s")],
    ),
    Code.CHANNEL_READERS: (
        [ToChannel(1, 2, message_id=3), ToThread(1, 2, message_id=3), ToAccounts((1, 2)), ToSession("s", 1)],
        [ToChannel(1, 2), ToThread(1, 2), ToGuild(1), ToSession("s")],
    ),
    Code.REQUESTER: ([ToSession("s")], [ToAccounts((1,)), ToGuild(1)]),
    Code.RECIPIENTS: ([ToAccounts((1, 2))], [ToGuild(1), ToChannel(1, 2)]),
    Code.SESSION: ([ToSession("s")], [ToAccounts((1,)), ToGuild(1)]),
}
"""Of each audience: what is it, and what is more or something else."""

OWN: Final[dict[EventName, tuple[list[Audience], list[Audience]]]] = {
    **dict.fromkeys(
        (EventName.INVITE_CREATE, EventName.INVITE_DELETE),
        ([ToChannel(1, 2, permission=16), ToAccounts((1, 2))], [ToChannel(1, 2), ToGuild(1)]),
    ),
    EventName.INTERACTION_CREATE: (
        [ToBot(1), ToBot(1, 2), ToAccounts((1,)), ToSession("s", 1)],
        [ToAccounts((1, 2)), ToSession("s"), ToGuild(1), ToChannel(1, 2)],
    ),
    **dict.fromkeys(
        (
            EventName.INTERACTION_SUCCESS,
            EventName.INTERACTION_FAILURE,
            EventName.INTERACTION_AUTOCOMPLETE,
            EventName.INTERACTION_MODAL_CREATE,
        ),
        ([ToAccounts((1,)), ToSession("s", 1)], [ToBot(1, 2), ToAccounts((1, 2)), ToSession("s"), ToGuild(1)]),
    ),
    EventName.GUILD_AUDIT_LOG_ENTRY_CREATE: ([ToGuild(1, permission=128)], [ToGuild(1), ToAccounts((1,))]),
    EventName.PRESENCE_UPDATE: (
        [ToAccounts((1, 2)), ToPresenceSubscribers(1), ToUnsubscribed(1, 2)],
        [ToGuild(1), ToChannel(1, 2)],
    ),
    **dict.fromkeys(
        (EventName.THREAD_CREATE, EventName.THREAD_UPDATE, EventName.THREAD_MEMBERS_UPDATE),
        ([ToThread(1, 2)], [ToChannel(1, 2), ToGuild(1), ToAccounts((1,))]),
    ),
}


@pytest.mark.parametrize("name", EventName)
def test_an_event_is_for_the_audience_of_its_row_alone(name: EventName) -> None:
    code = EVENTS[name].audience
    right, wrong = OWN.get(name, ([], [ToGuild(1), ToAccounts((1,))])) if code is Code.OTHER else ADDRESSED[code]
    assert [audience for audience in right if not is_for(name, audience)] == []
    assert [audience for audience in wrong if is_for(name, audience)] == []


def test_what_has_no_rule_is_published_by_nothing() -> None:
    """The gateway sends it by itself; whoever publishes another event of its own kind says here whom it is for."""
    assert {name for name in OWN_RULES if EVENTS[name].audience is not Code.OTHER} == set()
    sources = [path.read_text(encoding="utf-8") for path in CHAT.rglob("*.py")]
    for name, rule in EVENTS.items():
        if rule.audience is Code.OTHER and name not in OWN_RULES:
            published = [text for text in sources if re.search(rf"\bEvent\(\s*EventName\.{name}\b", text)]
            assert published == [], f"give {name} a rule in OWN_RULES of chat/bus/audience.py"


async def test_an_event_for_others_reaches_nobody(
    chat_server: ChatServer, chat_world: World, autojump_clock: MockClock, failed_listeners: list[str]
) -> None:
    alice, bus = await chat_world.alice.connect(), chat_server.server.core.bus
    guild_id = int(chat_world.guild_id)
    bus.publish(Event(EventName.USER_NOTE_UPDATE, {"id": "1", "note": "a secret"}, ToGuild(guild_id)))
    bus.publish(Event(EventName.GUILD_BAN_REMOVE, {"guild_id": str(guild_id)}, ToGuild(guild_id)))
    await trio.sleep(1)
    assert [payload.name for payload in alice.unread()] == ["GUILD_BAN_REMOVE"]
    (failure,) = failed_listeners
    assert "WrongAudience" in failure
    failed_listeners.clear()
