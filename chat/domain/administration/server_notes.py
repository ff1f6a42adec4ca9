"""What the command line tells a running server: for each change that a command makes, the notes that go with it.

A note is written in the transaction of its change (`chat.store.outside_changes`), so the server learns of what was
committed and of nothing else. No other module writes notes: a command that changes something new gets a function here,
and `chat.server.Server` a case for a new kind of note.
"""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from chat.clock import Clock
from chat.store import outside_changes
from chat.store.accounts.accounts import Account
from chat.store.database import Database
from chat.store.guilds.invites import Invite

Notes = Sequence[tuple[str, Mapping[str, Any]]]
"""Kinds of `chat.store.outside_changes`, with their bodies."""


def leave(connection: sqlite3.Connection, notes: Notes, now_ms: int) -> None:
    """In a unit: write the notes of a change."""
    for kind, body in notes:
        outside_changes.record(connection, kind, body, now_ms)


@contextlib.contextmanager
def telling(database: Database, notes: Notes, clock: Clock) -> Iterator[None]:
    """Write these notes in each transaction of the block, for a change that a service of the server's own makes."""
    database.besides = lambda connection: leave(connection, notes, clock.now_ms())
    try:
        yield
    finally:
        database.besides = None


def account_changed(user_id: int, *, signs_out: bool) -> Notes:
    """An administrator's change of an account: flags, a suspension, a deletion that is scheduled or cancelled. A ban
    may have put the account's address on a blocklist."""
    revoked = signed_out(user_id) if signs_out else ()
    return [*revoked, (outside_changes.ACCOUNT_CHANGED, {"user_id": user_id}), *blocklist_changed()]


def signed_out(user_id: int) -> Notes:
    """All sign-ins of an account ended, or its password or its bot's token is another."""
    return [(outside_changes.CREDENTIALS_REVOKED, {"user_id": user_id})]


def sessions_ended(account: Account) -> Notes:
    """An account's sign-ins ended. A bot is on the gateway with its token, which is not a sign-in."""
    return () if account.bot else signed_out(account.id)


def acls_changed(user_id: int) -> Notes:
    """An account holds other permissions of an administrator."""
    return [(outside_changes.ACCOUNT_CHANGED, {"user_id": user_id})]


def guild_changed(guild_id: int) -> Notes:
    """A guild has other features."""
    return [(outside_changes.GUILD_CHANGED, {"guild_id": guild_id})]


def guild_created(guild_id: int, user_id: int) -> Notes:
    """There is a new guild; `user_id` is its owner."""
    return [(outside_changes.GUILD_CREATED, {"guild_id": guild_id, "user_id": user_id})]


def guild_imported(guild_id: int) -> Notes:
    """An import brought something into a guild, or took it out again."""
    return [(outside_changes.GUILD_IMPORTED, {"guild_id": guild_id})]


def channel_created(guild_id: int, channel_id: int, entry_ids: Sequence[int]) -> Notes:
    """A guild has a new channel; `entry_ids` name the entries in the guild's audit log."""
    body = {"guild_id": guild_id, "channel_id": channel_id, "entry_ids": [*entry_ids]}
    return [(outside_changes.CHANNEL_CREATED, body)]


def invite_created(invite: Invite, entry_id: int) -> Notes:
    """There is a new invite into a guild; `entry_id` names its entry in the guild's audit log."""
    return [(outside_changes.INVITE_CREATED, {"code": invite.code, "entry_id": entry_id})]


def invite_deleted(invite: Invite, entry_id: int) -> Notes:
    """An invite into a guild was deleted; `entry_id` names the entry in the guild's audit log."""
    place = {"guild_id": invite.guild_id, "channel_id": invite.channel_id}
    return [(outside_changes.INVITE_DELETED, {"code": invite.code, **place, "entry_id": entry_id})]


def blocklist_changed() -> Notes:
    """An entry came onto a blocklist, or left it."""
    return [(outside_changes.BLOCKLISTS_CHANGED, {})]


def address_ban_lifted(network: str) -> Notes:
    """A network address is no longer banned."""
    return [(outside_changes.ADDRESS_BAN_LIFTED, {"network": network})]


def job_ordered() -> Notes:
    """There is a new job in the ledger."""
    return [(outside_changes.JOB_ORDERED, {})]


def node_drained(node_id: str) -> Notes:
    """A gateway node is to hand over its sessions and to end."""
    return [(outside_changes.NODE_DRAIN, {"node": node_id})]
