"""Browsers that take push messages: the rows of `push_subscriptions`."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable
from typing import Final

import attrs

from chat.classes import frozen


@frozen
class PushSubscription:
    """One row of `push_subscriptions`. `created_at` is Unix milliseconds."""

    id: str
    user_id: int
    token_hash: bytes = attrs.field(repr=False)
    endpoint: str = attrs.field(repr=False)
    public_key: bytes = attrs.field(repr=False)
    auth: bytes = attrs.field(repr=False)
    user_agent: str | None
    created_at: int


_FIELDS: Final = tuple(field.name for field in attrs.fields(PushSubscription))
_COLUMNS: Final = ", ".join(_FIELDS)
_SELECT: Final = f"SELECT {_COLUMNS} FROM push_subscriptions"  # noqa: S608 - our own names
_OF_USERS: Final = f"{_SELECT} WHERE user_id IN (SELECT value FROM json_each(?)) ORDER BY user_id, created_at, id"  # noqa: S608
_PUT: Final = f"""
    INSERT OR REPLACE INTO push_subscriptions ({_COLUMNS}) VALUES ({", ".join("?" * len(_FIELDS))})
"""  # noqa: S608


def by_id(connection: sqlite3.Connection, subscription_id: str) -> PushSubscription | None:
    """The subscription with this name."""
    row = connection.execute(f"{_SELECT} WHERE id = ?", (subscription_id,)).fetchone()
    return None if row is None else PushSubscription(*row)


def of_users(connection: sqlite3.Connection, user_ids: Iterable[int]) -> list[PushSubscription]:
    """The subscriptions of these accounts, for each account oldest first."""
    return [PushSubscription(*row) for row in connection.execute(_OF_USERS, (json.dumps(list(user_ids)),))]


def user_ids(connection: sqlite3.Connection) -> set[int]:
    """Every account with a subscription."""
    return {user_id for (user_id,) in connection.execute("SELECT DISTINCT user_id FROM push_subscriptions")}


def user_ids_in(connection: sqlite3.Connection, guild_id: int) -> frozenset[int]:
    """The members of a guild with a subscription."""
    rows = connection.execute(
        """
        SELECT members.user_id
          FROM (SELECT DISTINCT user_id FROM push_subscriptions) AS subscribed
          JOIN members ON members.guild_id = ? AND members.user_id = subscribed.user_id
        """,
        (guild_id,),
    )
    return frozenset(user_id for (user_id,) in rows)


def put(connection: sqlite3.Connection, subscription: PushSubscription, most: int) -> bool:
    """Add a subscription, in place of what the same browser had before; of more than `most` the oldest go.

    Nothing happens when its sign-in has ended; returns whether it has not.
    """
    signed_in = "SELECT 1 FROM auth_sessions WHERE token_hash = ?"
    if connection.execute(signed_in, (subscription.token_hash,)).fetchone() is None:
        return False
    # Takes the place of a row with the same id, and of one with the same endpoint, whosever that is.
    connection.execute(_PUT, attrs.astuple(subscription))
    connection.execute(
        """
        DELETE FROM push_subscriptions
         WHERE id IN (SELECT id FROM push_subscriptions
                       WHERE user_id = ?1 ORDER BY created_at DESC, id = ?3 DESC LIMIT -1 OFFSET ?2)
        """,
        (subscription.user_id, most, subscription.id),
    )
    return True


def delete(connection: sqlite3.Connection, user_id: int, subscription_id: str) -> bool:
    """Take a subscription of the account away; whether there was one."""
    gone = "DELETE FROM push_subscriptions WHERE id = ? AND user_id = ?"
    return connection.execute(gone, (subscription_id, user_id)).rowcount > 0
