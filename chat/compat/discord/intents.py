"""Which Dispatches a session at the mount hears: those of the intents that its Identify asked for (compat.md, Intents).

What has no row is of ours alone and does not come.
"""

from __future__ import annotations

import enum
from collections.abc import Mapping
from typing import Any, Final

from chat.classes import frozen
from chat.protocol.whole_numbers import whole
from chat.registries.close_codes import Close
from chat.registries.events import EventName

INTENT_BITS: Final = 33
"""An Identify with a higher bit is refused."""

INVALID_INTENTS: Final = Close(4013, "Invalid intents")
"""The one way to close a socket that the documented gateway does not have."""


class Intent(enum.IntFlag):
    """The bits of Identify's `intents` that this server has events for."""

    GUILDS = 1 << 0
    GUILD_MEMBERS = 1 << 1
    GUILD_MODERATION = 1 << 2
    GUILD_EXPRESSIONS = 1 << 3
    GUILD_WEBHOOKS = 1 << 5
    GUILD_INVITES = 1 << 6
    GUILD_VOICE_STATES = 1 << 7
    GUILD_PRESENCES = 1 << 8
    GUILD_MESSAGES = 1 << 9
    GUILD_MESSAGE_REACTIONS = 1 << 10
    GUILD_MESSAGE_TYPING = 1 << 11
    DIRECT_MESSAGES = 1 << 12
    DIRECT_MESSAGE_REACTIONS = 1 << 13
    DIRECT_MESSAGE_TYPING = 1 << 14
    MESSAGE_CONTENT = 1 << 15
    GUILD_MESSAGE_POLLS = 1 << 24
    DIRECT_MESSAGE_POLLS = 1 << 25


ALL_INTENTS: Final = int(sum(Intent))


@frozen
class Asked:
    """The intents that an event comes with, in a guild and in a conversation; one of several is enough. None: it comes
    unasked."""

    guild: Intent | None
    private: Intent | None = None


_GUILDS: Final = Asked(Intent.GUILDS)
_PINS: Final = Asked(Intent.GUILDS, Intent.DIRECT_MESSAGES)
_MEMBERS: Final = Asked(Intent.GUILD_MEMBERS)
_MESSAGES: Final = Asked(Intent.GUILD_MESSAGES, Intent.DIRECT_MESSAGES)
_REACTIONS: Final = Asked(Intent.GUILD_MESSAGE_REACTIONS, Intent.DIRECT_MESSAGE_REACTIONS)
_POLLS: Final = Asked(Intent.GUILD_MESSAGE_POLLS, Intent.DIRECT_MESSAGE_POLLS)
_UNASKED: Final = Asked(None, None)

HEARD: Final[Mapping[EventName, Asked]] = {
    EventName.READY: _UNASKED,
    EventName.USER_UPDATE: _UNASKED,
    EventName.RATE_LIMITED: _UNASKED,
    EventName.GUILD_MEMBERS_CHUNK: _UNASKED,
    EventName.INTERACTION_CREATE: _UNASKED,
    EventName.GUILD_CREATE: _GUILDS,
    EventName.GUILD_UPDATE: _GUILDS,
    EventName.GUILD_DELETE: _GUILDS,
    EventName.GUILD_ROLE_CREATE: _GUILDS,
    EventName.GUILD_ROLE_UPDATE: _GUILDS,
    EventName.GUILD_ROLE_UPDATE_BULK: _GUILDS,
    EventName.GUILD_ROLE_DELETE: _GUILDS,
    EventName.CHANNEL_CREATE: _GUILDS,
    EventName.CHANNEL_UPDATE: _GUILDS,
    EventName.CHANNEL_UPDATE_BULK: _GUILDS,
    EventName.CHANNEL_DELETE: _GUILDS,
    EventName.CHANNEL_PINS_UPDATE: _PINS,
    EventName.THREAD_CREATE: _GUILDS,
    EventName.THREAD_UPDATE: _GUILDS,
    EventName.THREAD_DELETE: _GUILDS,
    EventName.THREAD_LIST_SYNC: _GUILDS,
    EventName.THREAD_MEMBER_UPDATE: _GUILDS,
    EventName.THREAD_MEMBERS_UPDATE: Asked(Intent.GUILDS | Intent.GUILD_MEMBERS),
    EventName.GUILD_MEMBER_ADD: _MEMBERS,
    EventName.GUILD_MEMBER_UPDATE: _MEMBERS,
    EventName.GUILD_MEMBER_REMOVE: _MEMBERS,
    EventName.GUILD_AUDIT_LOG_ENTRY_CREATE: Asked(Intent.GUILD_MODERATION),
    EventName.GUILD_BAN_ADD: Asked(Intent.GUILD_MODERATION),
    EventName.GUILD_BAN_REMOVE: Asked(Intent.GUILD_MODERATION),
    EventName.GUILD_EMOJIS_UPDATE: Asked(Intent.GUILD_EXPRESSIONS),
    EventName.GUILD_STICKERS_UPDATE: Asked(Intent.GUILD_EXPRESSIONS),
    EventName.WEBHOOKS_UPDATE: Asked(Intent.GUILD_WEBHOOKS),
    EventName.INVITE_CREATE: Asked(Intent.GUILD_INVITES),
    EventName.INVITE_DELETE: Asked(Intent.GUILD_INVITES),
    EventName.VOICE_STATE_UPDATE: Asked(Intent.GUILD_VOICE_STATES),
    EventName.PRESENCE_UPDATE: Asked(Intent.GUILD_PRESENCES),
    EventName.PRESENCE_UPDATE_BULK: Asked(Intent.GUILD_PRESENCES),
    EventName.MESSAGE_CREATE: _MESSAGES,
    EventName.MESSAGE_UPDATE: _MESSAGES,
    EventName.MESSAGE_DELETE: _MESSAGES,
    EventName.MESSAGE_DELETE_BULK: _MESSAGES,
    EventName.MESSAGE_REACTION_ADD: _REACTIONS,
    EventName.MESSAGE_REACTION_REMOVE: _REACTIONS,
    EventName.MESSAGE_REACTION_REMOVE_ALL: _REACTIONS,
    EventName.MESSAGE_REACTION_REMOVE_EMOJI: _REACTIONS,
    EventName.MESSAGE_POLL_VOTE_ADD: _POLLS,
    EventName.MESSAGE_POLL_VOTE_REMOVE: _POLLS,
    EventName.TYPING_START: Asked(Intent.GUILD_MESSAGE_TYPING, Intent.DIRECT_MESSAGE_TYPING),
}

HEARD_BY_THEMSELVES: Final = frozenset({EventName.GUILD_MEMBER_UPDATE})
"""Come unasked to the account that they are about."""

WITH_CONTENT: Final = frozenset({EventName.MESSAGE_CREATE, EventName.MESSAGE_UPDATE})
"""In a guild what they say is empty without MESSAGE_CONTENT, but for the author and those who are mentioned."""


def is_heard(event: EventName, intents: int, *, private: bool) -> bool:
    """Whether an event comes to a session with these intents; `private` where it is of no guild."""
    asked = HEARD.get(event)
    if asked is None:
        return False
    needed = asked.private if private else asked.guild
    if needed is None:  # a conversation's that has no intent of its own does not come
        return asked is _UNASKED
    return bool(needed & intents)


def read_intents(value: Any) -> int | Close:
    """Identify's `intents`; the bits that stand for nothing here are left out."""
    bits = whole(value)
    if type(bits) is not int or not 0 <= bits < 1 << INTENT_BITS:
        return INVALID_INTENTS
    return bits & ALL_INTENTS
