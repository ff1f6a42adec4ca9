"""What administrators find and list: accounts by words, accounts by address, what is around an account, guilds
(administration.md, Finding accounts; administration.md, Account lists)."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping, Sequence
from typing import Final, TypeVar

import attrs

from chat.classes import frozen
from chat.registries.channel_types import ChannelType
from chat.snowflake import MAXIMUM
from chat.store.connections import beginning_with

T = TypeVar("T", bound=attrs.AttrsInstance)


@frozen(kw_only=True)
class ListingFilter:
    """Which rows are wanted, a page of them; `text` is words that they hold."""

    text: str | None = None
    limit: int = 50
    offset: int = 0

    @property
    def has_words(self) -> bool:
        """Whether words are asked for."""
        return self.text is not None and bool(self.text.strip())


def fitting(
    connection: sqlite3.Connection,
    row: type[T],
    table: str,
    index: str,
    wanted: ListingFilter,
    columns: Sequence[str],
    order: str,
) -> tuple[list[T], int]:
    """The page of rows of `table` (in SQL `entry`) that hold the words, by its full-text `index` (in SQL `found`), and
    that have in `columns` what is wanted there, if anything is; and how many there are in all."""
    conditions, source = ["1"], f"{table} AS entry"
    values: dict[str, object] = {"limit": wanted.limit, "offset": wanted.offset}
    if wanted.has_words:
        values["words"] = beginning_with(wanted.text or "")
        if values["words"] is None:
            return [], 0
        source += f" JOIN {index} AS found ON found.rowid = entry.id"
        conditions.append(f"found.{index} MATCH :words")
    for column in columns:
        value = getattr(wanted, column)
        if value is not None:
            values[column] = value
            conditions.append(f"entry.{column} = :{column}")
    where = f"FROM {source} WHERE {' AND '.join(conditions)}"
    (total,) = connection.execute(f"SELECT count(*) {where}", values).fetchone()
    names = ", ".join(f"entry.{field.name}" for field in attrs.fields(row))
    rows = connection.execute(f"SELECT {names} {where} ORDER BY {order} LIMIT :limit OFFSET :offset", values)
    return [row(*found) for found in rows], int(total)


def is_member(connection: sqlite3.Connection, user_id: int, guild_id: int) -> bool:
    """Whether the account is in the guild."""
    row = connection.execute("SELECT 1 FROM members WHERE user_id = ? AND guild_id = ?", (user_id, guild_id)).fetchone()
    return row is not None


def guild_ids_between(
    connection: sqlite3.Connection, user_id: int, after: int | None, before: int | None, limit: int
) -> list[int]:
    """The account's guilds with ids in the window, lowest first."""
    rows = connection.execute(
        """
        SELECT guild_id FROM members
         WHERE user_id = ? AND guild_id > ? AND guild_id < ?
         ORDER BY guild_id
         LIMIT ?
        """,
        (user_id, -1 if after is None else after, MAXIMUM if before is None else before, limit),
    )
    return [guild_id for (guild_id,) in rows]


def direct_messages_of(
    connection: sqlite3.Connection, user_id: int, after: int | None, before: int | None, limit: int
) -> list[tuple[int, bool]]:
    """Conversations of two that the account is in, and whether each is open for it; the newest channel first. With
    `after`, those `limit` nearest above it."""
    rows = connection.execute(
        f"""
        SELECT own.channel_id, own.is_shown
          FROM private_channel_recipients AS own
          JOIN channels ON channels.id = own.channel_id AND channels.type = ?
         WHERE own.user_id = ? AND own.channel_id > ? AND own.channel_id < ?
         ORDER BY own.channel_id {"DESC" if after is None else ""}
         LIMIT ?
        """,  # noqa: S608 - the direction is our own
        (ChannelType.DM.value, user_id, -1 if after is None else after, MAXIMUM if before is None else before, limit),
    ).fetchall()
    return [(channel_id, bool(shown)) for channel_id, shown in (rows if after is None else reversed(rows))]


def groups_of(connection: sqlite3.Connection, user_id: int, limit: int) -> list[tuple[int, bool]]:
    """Groups that the account is in, and whether each is open for it; the newest channel first."""
    rows = connection.execute(
        """
        SELECT own.channel_id, own.is_shown
          FROM private_channel_recipients AS own
          JOIN channels ON channels.id = own.channel_id AND channels.type = ?
         WHERE own.user_id = ?
         ORDER BY own.channel_id DESC
         LIMIT ?
        """,
        (ChannelType.GROUP_DM.value, user_id, limit),
    )
    return [(channel_id, bool(shown)) for channel_id, shown in rows]


def ids_by_last_address(
    connection: sqlite3.Connection, address: str, limit: int, offset: int
) -> tuple[Sequence[int], int]:
    """Accounts that were last seen at exactly this address, oldest first, and how many there are in all."""
    (total,) = connection.execute("SELECT count(*) FROM users WHERE last_active_ip = ?", (address,)).fetchone()
    rows = connection.execute(
        "SELECT id FROM users WHERE last_active_ip = ? ORDER BY id LIMIT ? OFFSET ?", (address, limit, offset)
    )
    return [user_id for (user_id,) in rows], int(total)


_NO_ACCOUNT: Final = -1
"""The snowflake of no account."""


def accounts_named(
    connection: sqlite3.Connection, text: str, limit: int, offset: int, *, without: int = _NO_ACCOUNT
) -> tuple[Sequence[int], int]:
    """Accounts whose names have words that begin with those of the text, the newest first, and how many there are in
    all. A blank text finds every account. `without` is left out of the list, though it counts."""
    if not text.strip():
        (total,) = connection.execute("SELECT count(*) FROM users").fetchone()
        rows = connection.execute("SELECT id FROM users ORDER BY id DESC LIMIT ? OFFSET ?", (limit, offset))
        return [user_id for (user_id,) in rows], int(total)
    wanted = beginning_with(text)
    if wanted is None:
        return [], 0
    (total,) = connection.execute(
        "SELECT count(*) FROM account_search WHERE account_search MATCH ?", (wanted,)
    ).fetchone()
    rows = connection.execute(
        "SELECT rowid FROM account_search WHERE account_search MATCH ? AND rowid <> ?"
        " ORDER BY rowid DESC LIMIT ? OFFSET ?",
        (wanted, without, limit, offset),
    )
    return [user_id for (user_id,) in rows], int(total)


def is_named(connection: sqlite3.Connection, text: str, user_id: int) -> bool:
    """Whether the text finds this account."""
    wanted = beginning_with(text)
    if wanted is None:
        return False
    row = connection.execute(
        "SELECT 1 FROM account_search WHERE account_search MATCH ? AND rowid = ?", (wanted, user_id)
    ).fetchone()
    return row is not None


ORDERS: Final[Mapping[str, str]] = {
    "created_at": "id",
    "name": "name COLLATE NOCASE {direction}, id",
    "member_count": "member_count {direction}, id",
}
"""By what a list of guilds can be ordered; the id decides among equals."""


def guilds_named(connection: sqlite3.Connection, text: str, order: str, *, descending: bool) -> list[int]:
    """The guilds whose name holds the text, in any letter case, or whose custom invite code is the text; a blank text
    finds every guild. `order` is one of ORDERS. Looks at every guild."""
    direction = "DESC" if descending else "ASC"
    ordered = f"{ORDERS[order].format(direction=direction)} {direction}"
    wanted = text.strip().casefold()
    if not wanted:
        return [guild_id for (guild_id,) in connection.execute(f"SELECT id FROM guilds ORDER BY {ordered}")]  # noqa: S608
    # SQLite knows letter case only of ASCII.
    rows = connection.execute(f"SELECT id, name, vanity_url_code FROM guilds ORDER BY {ordered}")  # noqa: S608
    return [guild_id for guild_id, name, code in rows if wanted in name.casefold() or wanted == code]
