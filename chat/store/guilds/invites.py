"""Invites: the rows of `invites`. An invite whose time is over or whose uses are spent counts as gone."""

from __future__ import annotations

import enum
import sqlite3
from typing import Any, Final

import attrs

from chat.classes import frozen


class InviteType(enum.IntEnum):
    """Where an invite leads (guilds.md, Invites)."""

    GUILD = 0
    GROUP_DM = 1
    """A conversation of several accounts."""
    EMOJI_PACK = 2
    STICKER_PACK = 3


@frozen
class Invite:
    """One row of `invites`. `max_age` is seconds, 0 for ever; `max_uses` 0 is no limit; `_at` is Unix milliseconds."""

    code: str
    type: int
    guild_id: int | None
    channel_id: int
    inviter_id: int | None
    created_at: int
    expires_at: int | None
    max_age: int
    max_uses: int
    uses: int = 0
    temporary: bool = attrs.field(default=False, converter=bool)
    placeholder_id: int | None = None
    """The person of an import whom the newcomer becomes."""

    @property
    def is_spent(self) -> bool:
        """Whether the invite was used as often as allowed."""
        return 0 < self.max_uses <= self.uses


_FIELDS: Final = tuple(field.name for field in attrs.fields(Invite))
_COLUMNS: Final = ", ".join(_FIELDS)
_LIVE: Final = "(expires_at IS NULL OR expires_at > ?) AND (max_uses = 0 OR uses < max_uses)"
_SELECT: Final = f"SELECT {_COLUMNS} FROM invites"  # noqa: S608 - our own names, here and below
_BY_CODE: Final = f"{_SELECT} WHERE code = ? AND {_LIVE}"
_NAMED: Final = f"""
    {_SELECT}
     WHERE code IN (?1, (SELECT vanity_url_code FROM guilds WHERE vanity_url_code = lower(?1))) AND {_LIVE}
     ORDER BY code = ?1 DESC
     LIMIT 1
"""  # noqa: S608
_OF_GUILD: Final = f"{_SELECT} WHERE guild_id = ? AND {_LIVE} ORDER BY created_at DESC, code"
_OF_CHANNEL: Final = f"{_SELECT} WHERE channel_id = ? AND {_LIVE} ORDER BY created_at DESC, code"
_SIMILAR: Final = f"""
    {_SELECT}
     WHERE channel_id = ? AND inviter_id = ? AND max_age = ? AND max_uses = ? AND temporary = ?
       AND placeholder_id IS NULL AND {_LIVE}
     ORDER BY created_at DESC
     LIMIT 1
"""
_INSERT: Final = f"""
    INSERT INTO invites ({_COLUMNS}) VALUES ({", ".join("?" * len(_FIELDS))})
        ON CONFLICT (code) DO NOTHING
"""  # noqa: S608


def by_code(connection: sqlite3.Connection, code: str, now: int) -> Invite | None:
    """The live invite with this code; letter case matters."""
    return _invite(connection.execute(_BY_CODE, (code, now)).fetchone())


def named(connection: sqlite3.Connection, code: str, now: int) -> Invite | None:
    """As `by_code`, for a code that somebody typed: a custom invite code is found in upper or lower case."""
    return _invite(connection.execute(_NAMED, (code, now)).fetchone())


def leads_to(connection: sqlite3.Connection, code: str) -> int | None:
    """The channel that an invite leads to, dead or alive."""
    row = connection.execute("SELECT channel_id FROM invites WHERE code = ?", (code,)).fetchone()
    return None if row is None else row[0]


def lead_to(connection: sqlite3.Connection, code: str, channel_id: int) -> None:
    connection.execute("UPDATE invites SET channel_id = ? WHERE code = ?", (channel_id, code))


def similar(connection: sqlite3.Connection, invite: Invite, now: int) -> Invite | None:
    """The newest live invite that the same account made for the same channel on the same terms."""
    terms = (invite.channel_id, invite.inviter_id, invite.max_age, invite.max_uses, invite.temporary, now)
    return _invite(connection.execute(_SIMILAR, terms).fetchone())


def of_guild(connection: sqlite3.Connection, guild_id: int, now: int) -> list[Invite]:
    """The live invites of a guild, newest first."""
    return [Invite(*row) for row in connection.execute(_OF_GUILD, (guild_id, now))]


def of_channel(connection: sqlite3.Connection, channel_id: int, now: int) -> list[Invite]:
    """The live invites of a channel, newest first."""
    return [Invite(*row) for row in connection.execute(_OF_CHANNEL, (channel_id, now))]


def insert(connection: sqlite3.Connection, invite: Invite) -> bool:
    """Add an invite; False when its code is taken."""
    return connection.execute(_INSERT, tuple(getattr(invite, name) for name in _FIELDS)).rowcount > 0


def add_use(connection: sqlite3.Connection, code: str) -> None:
    connection.execute("UPDATE invites SET uses = uses + 1 WHERE code = ?", (code,))


def delete(connection: sqlite3.Connection, code: str) -> bool:
    """Remove an invite; returns whether there was one."""
    return connection.execute("DELETE FROM invites WHERE code = ?", (code,)).rowcount > 0


def delete_dead(connection: sqlite3.Connection, guild_id: int, now: int) -> None:
    """Remove the guild's invites whose time is over or whose uses are spent."""
    connection.execute(
        "DELETE FROM invites WHERE guild_id = ? AND (expires_at <= ? OR (max_uses > 0 AND uses >= max_uses))",
        (guild_id, now),
    )


def delete_dead_of_channel(connection: sqlite3.Connection, channel_id: int, now: int) -> None:
    """Remove the channel's invites whose time is over or whose uses are spent."""
    connection.execute(
        "DELETE FROM invites WHERE channel_id = ? AND (expires_at <= ? OR (max_uses > 0 AND uses >= max_uses))",
        (channel_id, now),
    )


def count_of_channel(connection: sqlite3.Connection, channel_id: int) -> int:
    """How many invites lead to a channel, dead ones included."""
    (count,) = connection.execute("SELECT count(*) FROM invites WHERE channel_id = ?", (channel_id,)).fetchone()
    return int(count)


def count_of_guild(connection: sqlite3.Connection, guild_id: int, *, except_code: str | None = None) -> int:
    """How many invites a guild has, dead ones included; `except_code` names one that does not count."""
    (count,) = connection.execute(
        "SELECT count(*) FROM invites WHERE guild_id = ? AND code IS NOT ?", (guild_id, except_code)
    ).fetchone()
    return int(count)


def _invite(row: tuple[Any, ...] | None) -> Invite | None:
    return None if row is None else Invite(*row)
