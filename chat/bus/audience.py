"""Who an event is for, said by the domain without knowing who is connected.

Each class is one audience code of the dispatch registry (`chat.registries.event_rules`). The gateway turns an audience
into sessions at the moment of publication, so an event is judged on the state at its commit.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from chat.classes import frozen
from chat.registries.event_rules import EVENTS
from chat.registries.event_rules import Audience as Code
from chat.registries.events import EventName


@frozen
class ToSession:
    """One session; where `user_id` is given, only if it is one of this account."""

    session_id: str
    user_id: int | None = None


@frozen
class ToAccounts:
    """Every session of these accounts (the account itself, or the recipients of a private channel); with `threads` only
    those that know threads."""

    user_ids: tuple[int, ...]
    threads: bool = False


@frozen
class ToGuild:
    """Every session connected to the guild; `permission` narrows it to members who hold that bit in the guild."""

    guild_id: int
    permission: int = 0


@frozen
class ToChannel:
    """Every session that can view the channel of a guild.

    With `message_id` only those that may read that message's history (READ_MESSAGE_HISTORY, or a message at or after
    the guild's `message_history_cutoff`); `permission` asks for one more bit in the channel.
    """

    guild_id: int
    channel_id: int
    message_id: int | None = None
    permission: int = 0


@frozen
class ToThread:
    """Every session with thread access that sees a thread below this channel.

    `member_ids` narrows it to the members of a private thread and to those who manage threads there; with `message_id`
    to those who may read that message. Of these `only` asks for the sessions of one account, `without` leaves those of
    one out.
    """

    guild_id: int
    parent_id: int
    member_ids: frozenset[int] | None = None
    message_id: int | None = None
    only: int | None = None
    without: int | None = None


@frozen
class ToBot:
    """The sessions of a bot that hold the shard of a guild; without a guild those of shard 0."""

    user_id: int
    guild_id: int | None = None


@frozen
class ToPresenceSubscribers:
    """Sessions that asked, by Lazy Request, to be told of this account's presence in a guild they share with it.

    Those of the accounts in `without` are left out: they are told anyway, as friends.
    """

    user_id: int
    without: tuple[int, ...] = ()


@frozen
class ToUnsubscribed:
    """Sessions of an account that did not ask, by Lazy Request, to be told of another one's presence."""

    user_id: int
    of_user_id: int


Audience = ToBot | ToPresenceSubscribers | ToUnsubscribed | ToSession | ToAccounts | ToGuild | ToChannel | ToThread


def _to_one_account(audience: Audience) -> bool:
    return isinstance(audience, ToAccounts) and len(audience.user_ids) == 1


def _to_recipients(audience: Audience) -> bool:
    return isinstance(audience, ToAccounts)


def _to_guild(audience: Audience) -> bool:
    return isinstance(audience, ToGuild)


def _to_session(audience: Audience) -> bool:
    return isinstance(audience, ToSession)


def _to_viewers(audience: Audience) -> bool:
    """Of a channel, of a thread, or of a private channel: its recipients. An answer that one person alone sees goes to
    one session."""
    return isinstance(audience, (ToChannel, ToThread, ToAccounts)) or _to_session_of(audience)


def _to_session_of(audience: Audience) -> bool:
    """One session of a known account."""
    return isinstance(audience, ToSession) and audience.user_id is not None


def _to_interaction(audience: Audience) -> bool:
    """The bot that is to answer, or the person who acts."""
    return isinstance(audience, ToBot) or _to_who_acts(audience)


def _to_who_acts(audience: Audience) -> bool:
    return _to_one_account(audience) or _to_session_of(audience)


def _to_readers(audience: Audience) -> bool:
    return (
        isinstance(audience, ToAccounts)
        or _to_session_of(audience)
        or (isinstance(audience, (ToChannel, ToThread)) and audience.message_id is not None)
    )


def _to_thread(audience: Audience) -> bool:
    return isinstance(audience, ToThread)


def _to_some_in_channel(audience: Audience) -> bool:
    return isinstance(audience, ToAccounts) or (isinstance(audience, ToChannel) and audience.permission != 0)


def _to_some_in_guild(audience: Audience) -> bool:
    return isinstance(audience, ToGuild) and audience.permission != 0


def _to_who_sees_a_presence(audience: Audience) -> bool:
    return isinstance(audience, (ToAccounts, ToPresenceSubscribers, ToUnsubscribed))


Rule = Callable[[Audience], bool]

RULES: Final[Mapping[Code, Rule]] = {
    Code.ACCOUNT: _to_one_account,
    Code.GUILD: _to_guild,
    Code.CHANNEL_VIEWERS: _to_viewers,
    Code.CHANNEL_READERS: _to_readers,
    Code.REQUESTER: _to_session,
    Code.RECIPIENTS: _to_recipients,
    Code.SESSION: _to_session,
}

OWN_RULES: Final[Mapping[EventName, Rule]] = {
    EventName.INTERACTION_CREATE: _to_interaction,
    EventName.INTERACTION_SUCCESS: _to_who_acts,
    EventName.INTERACTION_FAILURE: _to_who_acts,
    EventName.INTERACTION_AUTOCOMPLETE: _to_who_acts,
    EventName.INTERACTION_MODAL_CREATE: _to_who_acts,
    EventName.INVITE_CREATE: _to_some_in_channel,
    EventName.INVITE_DELETE: _to_some_in_channel,
    EventName.GUILD_AUDIT_LOG_ENTRY_CREATE: _to_some_in_guild,
    EventName.PRESENCE_UPDATE: _to_who_sees_a_presence,
    EventName.THREAD_CREATE: _to_thread,
    EventName.THREAD_UPDATE: _to_thread,
    EventName.THREAD_MEMBERS_UPDATE: _to_thread,
}
"""Of the events whose audience is `OTHER`. One that is not here is never published: the gateway sends it by itself."""

_RULE_OF: Final[dict[EventName, Rule | None]] = {
    name: OWN_RULES.get(name) if row.audience is Code.OTHER else RULES[row.audience] for name, row in EVENTS.items()
}


def is_for(name: EventName, audience: Audience) -> bool:
    """Whether an event of that name may be addressed so: its row in `chat.registries.event_rules` says it."""
    rule = _RULE_OF[name]
    return rule is not None and rule(audience)


@frozen
class Mentions:
    """Whom a message names, for sessions that otherwise would not be told."""

    everyone: bool = False
    here: bool = False
    user_ids: frozenset[int] = frozenset()
    role_ids: frozenset[int] = frozenset()
