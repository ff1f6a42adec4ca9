"""Who an event is for, said by the domain without knowing who is connected.

Each class is one audience code of the dispatch registry (`chat.registries.events`). The gateway turns an audience into
sessions at the moment of publication, so an event is judged on the state at its commit.
"""

from __future__ import annotations

from chat.classes import frozen


@frozen
class ToSession:
    session_id: str


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


Audience = ToPresenceSubscribers | ToUnsubscribed | ToSession | ToAccounts | ToGuild | ToChannel | ToThread


@frozen
class Mentions:
    """Whom a message names, for sessions that otherwise would not be told."""

    everyone: bool = False
    here: bool = False
    user_ids: frozenset[int] = frozenset()
    role_ids: frozenset[int] = frozenset()
