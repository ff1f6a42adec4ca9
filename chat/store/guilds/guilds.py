"""Guilds: the rows of `guilds`."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Sequence
from typing import Any, Final

import attrs
import orjson

from chat.classes import frozen


def _features(value: str | Iterable[str]) -> frozenset[str]:
    """A column that holds a JSON list of names, or such names themselves."""
    return frozenset(json.loads(value) if isinstance(value, str) else value)


@frozen
class Guild:
    """One row of `guilds`. Times are Unix milliseconds, `afk_timeout` seconds.

    `message_retention_days` is None as the instance has it, 0 for ever.

    The defaults are those of a new guild (guilds.md, Guild values).
    """

    id: int
    owner_id: int
    name: str
    created_at: int
    icon: str | None = None
    banner: str | None = None
    banner_width: int | None = None
    banner_height: int | None = None
    splash: str | None = None
    splash_width: int | None = None
    splash_height: int | None = None
    splash_card_alignment: int = 0
    embed_splash: str | None = None
    embed_splash_width: int | None = None
    embed_splash_height: int | None = None
    vanity_url_code: str | None = None
    system_channel_id: int | None = None
    system_channel_flags: int = 0
    rules_channel_id: int | None = None
    afk_channel_id: int | None = None
    afk_timeout: int = 300
    features: frozenset[str] = attrs.field(default=frozenset(), converter=_features)
    verification_level: int = 0
    mfa_level: int = 0
    nsfw: bool = attrs.field(default=False, converter=bool)
    content_warning_level: int = 0
    content_warning_text: str | None = None
    explicit_content_filter: int = 0
    default_message_notifications: int = 0
    disabled_operations: int = 0
    message_history_cutoff: int | None = None
    message_retention_days: int | None = None
    member_count: int = 1


_FIELDS: Final = tuple(field.name for field in attrs.fields(Guild))
_COLUMNS: Final = ", ".join(_FIELDS)
_PREFIXED: Final = ", ".join(f"guilds.{name}" for name in _FIELDS)
_BY_ID: Final = f"SELECT {_COLUMNS} FROM guilds WHERE id = ?"  # noqa: S608 - the column names are our own
_WITH_FEATURE: Final = f"""
    SELECT {_COLUMNS}
      FROM guilds
     WHERE EXISTS (SELECT 1 FROM json_each(guilds.features) WHERE json_each.value = ?)
     ORDER BY member_count DESC, id
"""  # noqa: S608
_INSERT: Final = f"INSERT INTO guilds ({_COLUMNS}) VALUES ({', '.join('?' * len(_FIELDS))})"  # noqa: S608
_OF_USER_AFTER: Final = f"""
    SELECT {_PREFIXED}
      FROM members JOIN guilds ON guilds.id = members.guild_id
     WHERE members.user_id = ? AND members.guild_id > ?
     ORDER BY members.guild_id ASC
     LIMIT ?
"""  # noqa: S608
_OF_USER_BEFORE: Final = f"""
    SELECT {_PREFIXED}
      FROM members JOIN guilds ON guilds.id = members.guild_id
     WHERE members.user_id = ? AND members.guild_id < ?
     ORDER BY members.guild_id DESC
     LIMIT ?
"""  # noqa: S608


def by_id(connection: sqlite3.Connection, guild_id: int) -> Guild | None:
    row = connection.execute(_BY_ID, (guild_id,)).fetchone()
    return None if row is None else Guild(*row)


def every(connection: sqlite3.Connection) -> list[Guild]:
    """Every guild, the oldest first."""
    return [Guild(*row) for row in connection.execute(f"SELECT {_COLUMNS} FROM guilds ORDER BY id")]  # noqa: S608


def any_exists(connection: sqlite3.Connection) -> bool:
    """Whether there is a guild at all."""
    return connection.execute("SELECT 1 FROM guilds LIMIT 1").fetchone() is not None


def insert(connection: sqlite3.Connection, guild: Guild) -> None:
    connection.execute(_INSERT, _values(guild))


def replace(connection: sqlite3.Connection, guild: Guild) -> None:
    """Write every column of a guild that exists.

    :raises sqlite3.IntegrityError: when the custom invite code is taken.
    """
    assignments = ", ".join(f"{name} = ?" for name in _FIELDS[1:])
    connection.execute(
        f"UPDATE guilds SET {assignments} WHERE id = ?",  # noqa: S608 - the column names are our own
        (*_values(guild)[1:], guild.id),
    )


def ids_between(connection: sqlite3.Connection, first: int, last: int) -> list[int]:
    """The guilds with ids from `first` to `last`, ascending."""
    rows = connection.execute("SELECT id FROM guilds WHERE id BETWEEN ? AND ? ORDER BY id", (first, last))
    return [guild_id for (guild_id,) in rows]


def with_feature(connection: sqlite3.Connection, feature: str, *, but_none_of: Sequence[str]) -> list[Guild]:
    """The guilds that have a feature and none of the others, the largest first; looks at every guild."""
    found = [Guild(*row) for row in connection.execute(_WITH_FEATURE, (feature,))]
    return [guild for guild in found if guild.features.isdisjoint(but_none_of)]


def of_user_after(connection: sqlite3.Connection, user_id: int, after: int, limit: int) -> list[Guild]:
    """The account's guilds with an id above `after`, at most `limit`, ascending."""
    return [Guild(*row) for row in connection.execute(_OF_USER_AFTER, (user_id, after, limit))]


def of_user_before(connection: sqlite3.Connection, user_id: int, before: int, limit: int) -> list[Guild]:
    """The `limit` guilds of the account that lie nearest below `before`, ascending."""
    rows = connection.execute(_OF_USER_BEFORE, (user_id, before, limit)).fetchall()
    return [Guild(*row) for row in reversed(rows)]


def delete(connection: sqlite3.Connection, guild_id: int) -> None:
    """Remove a guild with its roles, members, invites, bans and audit log; and channels, unless they were cut loose."""
    connection.execute("DELETE FROM guilds WHERE id = ?", (guild_id,))


def by_vanity_url_code(connection: sqlite3.Connection, code: str) -> int | None:
    """The id of the guild that has this custom invite code."""
    row = connection.execute("SELECT id FROM guilds WHERE vanity_url_code = ?", (code,)).fetchone()
    return None if row is None else row[0]


def ids_of_user(connection: sqlite3.Connection, user_id: int) -> list[int]:
    """The guilds that the account is in, ascending. They come as one text, as in `members.ids_of_roles`."""
    (found,) = connection.execute(
        "SELECT json_group_array(guild_id) FROM members WHERE user_id = ?", (user_id,)
    ).fetchone()
    return sorted(orjson.loads(found))  # SQLite does not promise the order of such a list


GONE: Final = (
    "(CAST({0} AS INTEGER) >= (SELECT min(id) FROM users) AND CAST({0} AS INTEGER) NOT IN (SELECT id FROM guilds))"
)
"""An SQL condition on an id: this instance may have given it to a guild that no longer exists. Smaller ids are older
than the instance."""


def gone(connection: sqlite3.Connection, guild_ids: Iterable[int]) -> frozenset[int]:
    """The ids among these that may have been guilds and no longer are."""
    rows = connection.execute(
        f"SELECT value FROM json_each(?) WHERE {GONE.format('value')}",  # noqa: S608 - our own text
        (json.dumps(list(guild_ids)),),
    )
    return frozenset(guild_id for (guild_id,) in rows)


def next_of_user(connection: sqlite3.Connection, user_id: int, above_id: int) -> int | None:
    """The first guild above an id that the account is in."""
    row = connection.execute(
        "SELECT min(guild_id) FROM members WHERE user_id = ? AND guild_id > ?", (user_id, above_id)
    ).fetchone()
    guild_id: int | None = row[0]
    return guild_id


def share_one(connection: sqlite3.Connection, user_id: int, other_id: int) -> bool:
    """Whether two accounts are in a guild together."""
    row = connection.execute(
        """
        SELECT 1
          FROM members AS own JOIN members AS other ON other.guild_id = own.guild_id AND other.user_id = ?
         WHERE own.user_id = ?
         LIMIT 1
        """,
        (other_id, user_id),
    ).fetchone()
    return row is not None


def count_of_user(connection: sqlite3.Connection, user_id: int) -> int:
    """How many guilds the account is in."""
    (count,) = connection.execute("SELECT count(*) FROM members WHERE user_id = ?", (user_id,)).fetchone()
    return int(count)


def are_owned_by(connection: sqlite3.Connection, user_id: int) -> bool:
    """Whether the account owns a guild; owners are members."""
    row = connection.execute(
        """
        SELECT 1
          FROM members JOIN guilds ON guilds.id = members.guild_id
         WHERE members.user_id = ? AND guilds.owner_id = ?
         LIMIT 1
        """,
        (user_id, user_id),
    ).fetchone()
    return row is not None


def add_to_member_count(connection: sqlite3.Connection, guild_id: int, change: int) -> int:
    """Change the stored number of members; returns the new one."""
    (count,) = connection.execute(
        "UPDATE guilds SET member_count = member_count + ? WHERE id = ? RETURNING member_count", (change, guild_id)
    ).fetchone()
    return int(count)


def _values(guild: Guild) -> tuple[Any, ...]:
    return tuple(json.dumps(sorted(guild.features)) if name == "features" else getattr(guild, name) for name in _FIELDS)
