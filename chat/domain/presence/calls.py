"""The calls that are going on, in memory, and which accounts a call rings (people.md, Calls)."""

from __future__ import annotations

import enum
import sqlite3
from typing import Final

import attrs
import trio

from chat import wire
from chat.classes import define
from chat.clock import iso_timestamp
from chat.domain.presence.voice_states import VoiceStates
from chat.domain.standing.relationships import RelationshipType
from chat.domain.standing.user_objects import user_settings_object
from chat.store.accounts import accounts, user_settings
from chat.store.guilds import guilds
from chat.store.standing import relationships


@define(eq=False)
class Call:
    """A call in a conversation. `created_at` is Unix milliseconds, times to come are Trio's."""

    channel_id: int
    message_id: int
    created_at: int
    recipients: tuple[int, ...]
    """The accounts in the conversation."""
    participants: list[int]
    """The accounts that were in the call so far, the one that began it first."""
    empty_until: float
    """Until then it waits for the first one to connect."""
    region: str | None = None
    ringing: dict[int, float] = attrs.Factory(dict)
    """The accounts that are being called, and until when."""
    finished: trio.Event = attrs.Factory(trio.Event)
    """Set when the store knows that the call is over."""

    @property
    def next_deadline(self) -> float:
        """When something about it changes by itself: while it rings, or no account is connected."""
        return min((*self.ringing.values(), self.empty_until))

    def told(self, *, ended_at: int | None = None) -> wire.MessageCall:
        """The `call` of its message (people.md, Calls)."""
        return {
            "participants": [str(user_id) for user_id in self.participants],
            "ended_timestamp": None if ended_at is None else iso_timestamp(ended_at),
        }


@define(eq=False)
class ActiveCalls:
    _voice_states: VoiceStates
    by_channel: dict[int, Call] = attrs.field(factory=dict, init=False)

    def object_of(self, call: Call, *, created: bool = False) -> wire.CallState:
        """A call as CALL_UPDATE has it; `created` adds what CALL_CREATE has beside that."""
        data: wire.CallState = {
            "channel_id": str(call.channel_id),
            "message_id": str(call.message_id),
            "region": call.region,
            "ringing": [str(user_id) for user_id in call.ringing],
            "voice_states": self._voice_states.of_channel(call.channel_id),
        }
        if created:
            data["recipients"] = [str(user_id) for user_id in call.recipients]
            data["created_at"] = call.created_at
        return data

    def of_account(self, user_id: int) -> list[wire.CallState]:
        """The calls in the account's conversations, as a new session receives them."""
        return [self.object_of(call, created=True) for call in self.by_channel.values() if user_id in call.recipients]


class IncomingCallFlag(enum.IntFlag):
    """Bits of `incoming_call_flags`: who may make an account ring (people.md, Calls)."""

    FRIENDS_OF_FRIENDS = 1 << 0
    """Friends, and those who are friends with one of them."""

    GUILD_MEMBERS = 1 << 1
    """Friends, and those who are in a guild with the account."""

    EVERYONE = 1 << 2

    FRIENDS_ONLY = 1 << 3

    NOBODY = 1 << 4
    """Outweighs every other bit."""

    SILENT_EVERYONE = 1 << 5
    """Every account may call; one that no other bit names rings silently."""


class Ringing(enum.Enum):
    """What a call does to an account."""

    LOUD = "it rings"
    SILENT = "the call is shown, and nothing rings"
    REFUSED = "nothing rings, and the caller may know it"


_OF_FRIENDS: Final = (
    IncomingCallFlag.FRIENDS_OF_FRIENDS
    | IncomingCallFlag.GUILD_MEMBERS
    | IncomingCallFlag.EVERYONE
    | IncomingCallFlag.FRIENDS_ONLY
)
"""Every bit that lets friends ring."""


def ringing(connection: sqlite3.Connection, caller_id: int, recipient_id: int) -> Ringing:
    """What a call by one account does to another. Between accounts of which one has blocked the other nothing rings."""
    recipient = accounts.by_id(connection, recipient_id)
    if recipient is None or recipient.bot or recipient.is_deleted or caller_id == recipient_id:
        return Ringing.REFUSED
    own = relationships.by_id(connection, caller_id, recipient_id)
    theirs = relationships.by_id(connection, recipient_id, caller_id)
    kinds = {relationship.type for relationship in (own, theirs) if relationship is not None}
    settings = user_settings_object(user_settings.of_user(connection, recipient_id))
    flags = IncomingCallFlag(settings["incoming_call_flags"] & 0b111111)
    if RelationshipType.BLOCKED in kinds or IncomingCallFlag.NOBODY in flags:
        return Ringing.REFUSED
    if IncomingCallFlag.EVERYONE in flags:
        return Ringing.LOUD
    if RelationshipType.FRIEND in kinds and flags & _OF_FRIENDS:
        return Ringing.LOUD
    if IncomingCallFlag.FRIENDS_OF_FRIENDS in flags and _have_a_friend_in_common(connection, caller_id, recipient_id):
        return Ringing.LOUD
    if IncomingCallFlag.GUILD_MEMBERS in flags and _have_a_guild_in_common(connection, caller_id, recipient_id):
        return Ringing.LOUD
    return Ringing.SILENT if IncomingCallFlag.SILENT_EVERYONE in flags else Ringing.REFUSED


def _have_a_friend_in_common(connection: sqlite3.Connection, one: int, other: int) -> bool:
    friends = (relationships.targets(connection, user_id, RelationshipType.FRIEND) for user_id in (one, other))
    return bool(set(next(friends)) & set(next(friends)))


def _have_a_guild_in_common(connection: sqlite3.Connection, one: int, other: int) -> bool:
    return bool(set(guilds.ids_of_user(connection, one)) & set(guilds.ids_of_user(connection, other)))
