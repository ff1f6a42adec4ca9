"""Notes from the command line for a running server. A command writes its change and a note of it in one transaction.
The server looks for notes a few times a second on the connection of its loop (a point read), takes them, and acts: a
password set on the command line ends the account's sessions. Notes that were left while no server ran wait for the next
one.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Final

import trio

from chat.classes import frozen
from chat.errors import StorageUnavailable
from chat.store.database import Database
from chat.store.guard import UNGUARDED

POLL_SECONDS: Final = 0.2
"""How long after its commit a change by the command line may go unnoticed."""

CREDENTIALS_REVOKED: Final = "credentials_revoked"
"""The account's sessions end. Body: `user_id`."""

ACCOUNT_CHANGED: Final = "account_changed"
"""Clients show something of the account that has changed. Body: `user_id`."""

GUILD_CHANGED: Final = "guild_changed"
"""A guild is not as it was. Body: `guild_id`."""

GUILD_CREATED: Final = "guild_created"
"""A guild was created. Body: `guild_id`, and `user_id` of its owner."""

CHANNEL_CREATED: Final = "channel_created"
"""A guild has another channel. Body: `guild_id`, `channel_id`, and `entry_ids` of the guild's audit log."""

BLOCKLISTS_CHANGED: Final = "blocklists_changed"
"""The blocklists of the instance changed. No body."""

ADDRESS_BAN_LIFTED: Final = "address_ban_lifted"
"""A network is banned no more. Body: `network`."""

INVITE_CREATED: Final = "invite_created"
"""A guild has another invite. Body: `code`, and `entry_id` of the entry in the guild's audit log."""

INVITE_DELETED: Final = "invite_deleted"
"""An invite into a guild is gone. Body: `code`, `guild_id`, `channel_id`, `entry_id`."""

GUILD_IMPORTED: Final = "guild_imported"
"""An import brought something into a guild, or took it out again. Body: `guild_id`."""

JOB_ORDERED: Final = "job_ordered"
"""A job was ordered. No body."""

NODE_DRAIN: Final = "node_drain"
"""A gateway node is to send its sessions elsewhere and to end. Body: `node`, its id."""


@frozen
class OutsideChange:
    """A note: `kind` is one of the constants of this module; `created_at` is Unix milliseconds."""

    id: int
    kind: str
    body: Mapping[str, Any]
    created_at: int


def record(connection: sqlite3.Connection, kind: str, body: Mapping[str, Any], created_at: int) -> None:
    """Write a note. Call it in the transaction of the change itself."""
    connection.execute(
        "INSERT INTO outside_changes (kind, body, created_at) VALUES (?, ?, ?)", (kind, json.dumps(body), created_at)
    )


def exist(connection: sqlite3.Connection) -> bool:
    """Whether there is anything to take."""
    return connection.execute("SELECT 1 FROM outside_changes LIMIT 1").fetchone() is not None


def take_all(connection: sqlite3.Connection) -> list[OutsideChange]:
    """Return every note in the order of writing, and forget them."""
    rows = connection.execute("DELETE FROM outside_changes RETURNING id, kind, body, created_at").fetchall()
    return [OutsideChange(row[0], row[1], json.loads(row[2]), row[3]) for row in sorted(rows)]


async def follow(
    database: Database,
    act: Callable[[OutsideChange], Awaitable[None]],
    *,
    poll_seconds: float = POLL_SECONDS,
    sleep: Callable[[float], Awaitable[None]] = trio.sleep,
) -> None:
    """Hand every note to `act`, for ever; runs in the server's nursery. `sleep` waits between two looks.

    While the store is unavailable the notes stay where they are.
    """
    while True:
        if exist(database.reader):
            try:
                changes = await database.write(take_all, guard=UNGUARDED)
            except StorageUnavailable:
                changes = []
            for change in changes:
                await act(change)
        await sleep(poll_seconds)
