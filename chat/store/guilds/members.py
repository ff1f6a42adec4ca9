"""Members: the rows of `members` and `member_roles`; of `temporary_members`, memberships that last as long as their
account is connected; and of `kept_timeouts`, time-outs of accounts that are no members now.
"""

from __future__ import annotations

import contextlib
import functools
import itertools
import json
import sqlite3
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from typing import Any, Final, NamedTuple

import orjson

from chat.classes import frozen
from chat.registries.user_flags import UserFlag
from chat.store.accounts.accounts import Account
from chat.store.accounts.accounts import by_id as account_by_id

NO_ROLES: Final[frozenset[int]] = frozenset()
"""One empty set for all members without roles."""

ROLE_SETS_KEPT: Final = 16_384
"""Sets of roles, in all guilds, of which members that are read have one and the same: a few megabytes."""


class Member(NamedTuple):
    """One row of `members` with the member's roles, everyone's left out. A tuple is made from a row in a third of the
    time that a class of attrs takes, and they are read by the hundred thousand."""

    guild_id: int
    user_id: int
    joined_at: int
    """Unix milliseconds."""
    nick: str | None = None
    avatar: str | None = None
    banner: str | None = None
    accent_color: int | None = None
    mute: bool = False
    deaf: bool = False
    communication_disabled_until: int | None = None
    """Unix milliseconds; a moment in the past means nothing."""
    profile_flags: int = 0
    mention_flags: int = 0
    join_source: int | None = None
    inviter_id: int | None = None
    bio: str | None = None
    pronouns: str | None = None
    role_ids: frozenset[int] = NO_ROLES

    def is_timed_out(self, now_ms: int) -> bool:
        """Whether a moderator has taken the member's voice until after `now_ms`."""
        return self.communication_disabled_until is not None and self.communication_disabled_until > now_ms


_FIELDS: Final = Member._fields[:-1]
_COLUMNS: Final = ", ".join(_FIELDS)
_BY_ID: Final = f"""
    SELECT {_COLUMNS}, (SELECT group_concat(role_id) FROM member_roles WHERE guild_id = ?1 AND user_id = ?2)
      FROM members WHERE guild_id = ?1 AND user_id = ?2
"""  # noqa: S608 - our own names
_SELDOM: Final = tuple(name for name in _FIELDS[3:] if name not in ("join_source", "inviter_id"))
"""Columns that are empty in most memberships."""
_FLAGS: Final = ("mute", "deaf", "profile_flags", "mention_flags")
"""The columns among them whose empty value is 0."""
_OF_USER: Final = f"""
    SELECT guild_id, joined_at, join_source, inviter_id,
           CASE WHEN coalesce({", ".join(f"nullif({name}, 0)" if name in _FLAGS else name for name in _SELDOM)}) NOTNULL
                THEN json_array({", ".join(_SELDOM)}) END
      FROM members WHERE user_id = ?1 AND guild_id BETWEEN ?2 AND ?3
"""  # noqa: S608 - our own names
_ROLES_OF_USER: Final = """
    SELECT guild_id, group_concat(role_id) FROM member_roles
     WHERE user_id = ?1 AND guild_id BETWEEN ?2 AND ?3 GROUP BY guild_id
"""
_OF_GUILD: Final = f"""
    SELECT {_COLUMNS} FROM members WHERE guild_id = ? AND user_id > ? ORDER BY user_id LIMIT ?
"""  # noqa: S608
_INSERT: Final = f"INSERT INTO members ({_COLUMNS}) VALUES ({', '.join('?' * len(_FIELDS))})"  # noqa: S608

_CHANGEABLE: Final = tuple(name for name in _FIELDS if name not in ("guild_id", "user_id"))
_REPLACE: Final = f"""
    UPDATE members SET {", ".join(f"{name} = ?" for name in _CHANGEABLE)} WHERE guild_id = ? AND user_id = ?
"""  # noqa: S608


def by_id(connection: sqlite3.Connection, guild_id: int, user_id: int) -> Member | None:
    """One membership with its roles."""
    row = connection.execute(_BY_ID, (guild_id, user_id)).fetchone()
    return None if row is None else _member(row, _role_set(row[-1]) if row[-1] else NO_ROLES)


def of_user(connection: sqlite3.Connection, user_id: int, first: int, last: int) -> dict[int, Member]:
    """The memberships of an account in guilds with ids from `first` to `last`, with their roles, by guild."""
    found = {}
    wanted = user_id, first, last
    roles = dict(connection.execute(_ROLES_OF_USER, wanted).fetchall())
    for guild_id, joined_at, join_source, inviter_id, more in connection.execute(_OF_USER, wanted):
        ids = roles.get(guild_id)
        role_ids = NO_ROLES if ids is None else _role_set(ids)
        # What the constructor does, in half of its time.
        # fmt: off
        member = found[guild_id] = tuple.__new__(Member, (
            guild_id, user_id, joined_at,
            None, None, None, None, False, False, None, 0, 0,  # nothing of what most have nothing of
            join_source, inviter_id, None, None, role_ids,
        ))
        # fmt: on
        if more is not None:
            own = dict(zip(_SELDOM, orjson.loads(more), strict=True))
            own |= {"mute": bool(own["mute"]), "deaf": bool(own["deaf"])}
            found[guild_id] = member._replace(**own)
    return found


_MUTE: Final = _FIELDS.index("mute")
"""Its place in a row; `deaf` follows."""


def _member(row: Sequence[Any], role_ids: frozenset[int]) -> Member:
    """From a row that begins with the columns."""
    mute, deaf = row[_MUTE : _MUTE + 2]
    return Member._make((*row[:_MUTE], mute != 0, deaf != 0, *row[_MUTE + 2 : len(_FIELDS)], role_ids))


@functools.lru_cache(maxsize=ROLE_SETS_KEPT)
def _role_set(ids: str) -> frozenset[int]:
    """The same set for all members that have the same roles."""
    return frozenset(map(int, ids.split(",")))


def exists(connection: sqlite3.Connection, guild_id: int, user_id: int) -> bool:
    """Whether the account is in the guild."""
    row = connection.execute("SELECT 1 FROM members WHERE guild_id = ? AND user_id = ?", (guild_id, user_id)).fetchone()
    return row is not None


def common_guilds(connection: sqlite3.Connection, user_id: int, other_id: int) -> list[tuple[int, str | None]]:
    """The guilds that two accounts are in together, ascending, each with the nickname of `other_id` there."""
    rows = connection.execute(
        """
        SELECT own.guild_id, other.nick
          FROM members AS own JOIN members AS other ON other.guild_id = own.guild_id AND other.user_id = ?
         WHERE own.user_id = ?
         ORDER BY own.guild_id
        """,
        (other_id, user_id),
    )
    return rows.fetchall()


def ids_of_role(connection: sqlite3.Connection, guild_id: int, role_id: int, limit: int) -> list[int]:
    """Up to `limit` members of the guild that have the role."""
    rows = connection.execute(
        "SELECT user_id FROM member_roles WHERE guild_id = ? AND role_id = ? LIMIT ?", (guild_id, role_id, limit)
    )
    return [user_id for (user_id,) in rows]


def role_ids(connection: sqlite3.Connection, guild_id: int, user_id: int) -> frozenset[int]:
    """The roles of one member, everyone's left out."""
    rows = connection.execute(
        "SELECT role_id FROM member_roles WHERE guild_id = ? AND user_id = ?", (guild_id, user_id)
    ).fetchall()
    return frozenset([role_id for (role_id,) in rows])


def counts_of_roles(connection: sqlite3.Connection, guild_id: int) -> dict[int, int]:
    """How many members have each role that anybody has."""
    return dict(
        connection.execute(
            "SELECT role_id, count(*) FROM member_roles WHERE guild_id = ? GROUP BY role_id", (guild_id,)
        ).fetchall()
    )


def of_guild(connection: sqlite3.Connection, guild_id: int, after: int, limit: int) -> list[Member]:
    """Members with a user id above `after`, at most `limit`, in order of user id."""
    rows = connection.execute(_OF_GUILD, (guild_id, after, limit)).fetchall()
    if not rows:
        return []
    roles: dict[int, list[int]] = defaultdict(list)
    for user_id, role_id in connection.execute(
        "SELECT user_id, role_id FROM member_roles WHERE guild_id = ? AND user_id > ? AND user_id <= ?",
        (guild_id, after, rows[-1][1]),
    ):
        roles[user_id].append(role_id)
    return [_member(row, frozenset(roles.get(row[1], ()))) for row in rows]


def insert(connection: sqlite3.Connection, member: Member) -> None:
    """Add a membership and its roles."""
    connection.execute(_INSERT, member[:-1])
    add_roles(connection, member.guild_id, member.user_id, member.role_ids)


def replace(connection: sqlite3.Connection, member: Member) -> None:
    """Store a membership in place of what it was; the roles are left as they are."""
    connection.execute(_REPLACE, (*(getattr(member, name) for name in _CHANGEABLE), member.guild_id, member.user_id))


def remove_roles(connection: sqlite3.Connection, guild_id: int, user_id: int, roles: Iterable[int]) -> None:
    """Take roles from a member; those that it does not have are no matter."""
    connection.executemany(
        "DELETE FROM member_roles WHERE guild_id = ? AND user_id = ? AND role_id = ?",
        [(guild_id, user_id, role_id) for role_id in roles],
    )


def add_roles(connection: sqlite3.Connection, guild_id: int, user_id: int, roles: Iterable[int]) -> None:
    """Give a member further roles."""
    connection.executemany(
        "INSERT OR IGNORE INTO member_roles (guild_id, user_id, role_id) VALUES (?, ?, ?)",
        [(guild_id, user_id, role_id) for role_id in sorted(roles)],
    )


def delete(connection: sqlite3.Connection, guild_id: int, user_id: int) -> bool:
    """End a membership, roles and guild profile with it; returns whether there was one."""
    cursor = connection.execute("DELETE FROM members WHERE guild_id = ? AND user_id = ?", (guild_id, user_id))
    return cursor.rowcount > 0


def insert_temporary(connection: sqlite3.Connection, guild_id: int, user_id: int) -> None:
    """Mark a membership, which must exist, as one that lasts as long as its account is connected."""
    connection.execute("INSERT INTO temporary_members (user_id, guild_id) VALUES (?, ?)", (user_id, guild_id))


def delete_temporary(connection: sqlite3.Connection, guild_id: int, user_id: int) -> None:
    """Take that mark away."""
    connection.execute("DELETE FROM temporary_members WHERE user_id = ? AND guild_id = ?", (user_id, guild_id))


def temporary_guilds(connection: sqlite3.Connection, user_id: int) -> list[int]:
    """The guilds that the account is a temporary member of."""
    rows = connection.execute("SELECT guild_id FROM temporary_members WHERE user_id = ?", (user_id,))
    return [guild_id for (guild_id,) in rows]


def temporary_user_ids(connection: sqlite3.Connection) -> list[int]:
    """Every account that is a temporary member somewhere."""
    return [user_id for (user_id,) in connection.execute("SELECT DISTINCT user_id FROM temporary_members")]


def keep_timeout(connection: sqlite3.Connection, guild_id: int, user_id: int, *, until: int, left_at: int) -> None:
    """Keep the time-out of an account that leaves, in place of one that is kept already (Unix milliseconds)."""
    connection.execute(
        """
        INSERT INTO kept_timeouts (guild_id, user_id, until, left_at) VALUES (?, ?, ?, ?)
            ON CONFLICT (guild_id, user_id) DO UPDATE SET until = excluded.until, left_at = excluded.left_at
        """,
        (guild_id, user_id, until, left_at),
    )


def take_timeout(connection: sqlite3.Connection, guild_id: int, user_id: int) -> tuple[int, int] | None:
    """When a kept time-out ends and when its member left (Unix milliseconds); it is kept no longer."""
    row = connection.execute(
        "DELETE FROM kept_timeouts WHERE guild_id = ? AND user_id = ? RETURNING until, left_at", (guild_id, user_id)
    ).fetchone()
    return None if row is None else (row[0], row[1])


def delete_timeouts_over(connection: sqlite3.Connection, guild_id: int, now: int) -> None:
    """Forget the guild's time-outs that have ended."""
    connection.execute("DELETE FROM kept_timeouts WHERE guild_id = ? AND until <= ?", (guild_id, now))


@frozen
class NamedMember:
    """A member's names and roles, everyone's left out."""

    user_id: int
    nick: str | None
    global_name: str | None
    username: str
    role_ids: frozenset[int]


_NAMED: Final = """
    SELECT members.user_id, members.nick, users.global_name, users.username
      FROM members JOIN users ON users.id = members.user_id
     WHERE members.guild_id = ?
"""


def named(connection: sqlite3.Connection, guild_id: int, user_id: int) -> NamedMember | None:
    row = connection.execute(f"{_NAMED} AND members.user_id = ?", (guild_id, user_id)).fetchone()
    if row is None:
        return None
    _, nick, global_name, username = row
    return NamedMember(user_id, nick, global_name, username, role_ids(connection, guild_id, user_id))


def all_named(connection: sqlite3.Connection, guild_id: int, limit: int) -> Iterator[NamedMember]:
    """The members of a guild in order of user id, at most `limit`."""
    roles: dict[int, list[int]] = defaultdict(list)
    for user_id, role_id in connection.execute(
        "SELECT user_id, role_id FROM member_roles WHERE guild_id = ?", (guild_id,)
    ):
        roles[user_id].append(role_id)
    # Most members share few sets of roles; one object stands for each.
    shared: dict[frozenset[int], frozenset[int]] = {}
    for user_id, nick, global_name, username in connection.execute(
        f"{_NAMED} ORDER BY members.user_id LIMIT ?", (guild_id, limit)
    ):
        role_ids = frozenset(roles.get(user_id, ()))
        yield NamedMember(user_id, nick, global_name, username, shared.setdefault(role_ids, role_ids))


def named_among(connection: sqlite3.Connection, guild_id: int, user_ids: Collection[int]) -> list[NamedMember]:
    """The members of the guild among these accounts, in no order."""
    listed = json.dumps(list(user_ids))
    roles: dict[int, list[int]] = defaultdict(list)
    for user_id, role_id in connection.execute(
        "SELECT user_id, role_id FROM member_roles WHERE guild_id = ? AND user_id IN (SELECT value FROM json_each(?))",
        (guild_id, listed),
    ):
        roles[user_id].append(role_id)
    rows = connection.execute(
        f"{_NAMED} AND members.user_id IN (SELECT value FROM json_each(?))",  # noqa: S608
        (guild_id, listed),
    )
    return [
        NamedMember(user_id, nick, global_name, username, frozenset(roles.get(user_id, ())))
        for user_id, nick, global_name, username in rows
    ]


_BY_NAME: Final = "ORDER BY name_key, user_id LIMIT ?"


def first_by_name(
    connection: sqlite3.Connection,
    guild_id: int,
    last_id: int,
    limit: int,
    include: Callable[[int], bool],
    *,
    looked_at: int,
) -> list[int]:
    """The members up to `last_id` that `include` takes, in order of the case-folded name that is shown and then of user
    id: at most `limit`, and none behind the first `looked_at`. They are read from the index `members_by_name`."""
    query = f"SELECT user_id FROM members WHERE guild_id = ? AND user_id <= ? {_BY_NAME}"  # noqa: S608 - our own words
    with contextlib.closing(connection.execute(query, (guild_id, last_id, looked_at))) as rows:
        return list(itertools.islice((user_id for (user_id,) in rows if include(user_id)), limit))


def sorted_by_name(connection: sqlite3.Connection, guild_id: int, user_ids: Collection[int], limit: int) -> list[int]:
    """The members among these accounts, in the order of names, at most `limit`; each account is looked up."""
    rows = connection.execute(
        f"""
        SELECT user_id
          FROM json_each(?) AS listed CROSS JOIN members ON members.guild_id = ? AND members.user_id = listed.value
        {_BY_NAME}
        """,  # noqa: S608
        (json.dumps(list(user_ids)), guild_id, limit),
    )
    return [user_id for (user_id,) in rows]


def ids_of_roles(connection: sqlite3.Connection, guild_id: int, role_ids: Collection[int], last_id: int) -> set[int]:
    """The members up to `last_id` who have one of these roles. They come as one text, which takes half the time of a
    row each."""
    (found,) = connection.execute(
        """
        SELECT json_group_array(user_id) FROM member_roles
         WHERE guild_id = ? AND role_id IN (SELECT value FROM json_each(?)) AND user_id <= ?
        """,
        (guild_id, json.dumps(list(role_ids)), last_id),
    ).fetchone()
    return set(orjson.loads(found))


def ids_of_all(connection: sqlite3.Connection, guild_id: int, last_id: int) -> set[int]:
    """The members up to `last_id`."""
    (found,) = connection.execute(
        "SELECT json_group_array(user_id) FROM members WHERE guild_id = ? AND user_id <= ?", (guild_id, last_id)
    ).fetchone()
    return set(orjson.loads(found))


def nth_id(connection: sqlite3.Connection, guild_id: int, place: int) -> int | None:
    """The member at this place, counted from one, in order of user id; None where there are fewer."""
    row = connection.execute(
        "SELECT user_id FROM members WHERE guild_id = ? ORDER BY user_id LIMIT 1 OFFSET ?", (guild_id, place - 1)
    ).fetchone()
    return None if row is None else int(row[0])


def with_accounts(
    connection: sqlite3.Connection, guild_id: int, user_ids: Sequence[int]
) -> list[tuple[Member, Account]]:
    """These members with their accounts, in the order given; who is no member is left out."""
    found = []
    for user_id in user_ids:
        member, account = by_id(connection, guild_id, user_id), account_by_id(connection, user_id)
        if member is not None and account is not None:
            found.append((member, account))
    return found


_PERSON: Final = f"NOT users.bot AND NOT users.flags & {int(UserFlag.DELETED)}"
_WITH_ROLE: Final = f"""
    SELECT members.user_id
      FROM member_roles
      JOIN members ON members.guild_id = member_roles.guild_id AND members.user_id = member_roles.user_id
      JOIN users ON users.id = members.user_id
     WHERE member_roles.guild_id = ? AND member_roles.role_id = ? AND members.user_id <> ? AND {_PERSON}
     ORDER BY members.joined_at, members.user_id
     LIMIT 1
"""  # noqa: S608 - a number of our own
_BESIDE: Final = f"""
    SELECT members.user_id
      FROM members JOIN users ON users.id = members.user_id
     WHERE members.guild_id = ? AND members.user_id <> ? AND {_PERSON}
"""  # noqa: S608
_OLDEST_BESIDE: Final = f"{_BESIDE} ORDER BY members.joined_at, members.user_id LIMIT 1"
_PERSON_IN: Final = f"""
    SELECT 1
      FROM members JOIN users ON users.id = members.user_id
     WHERE members.guild_id = ? AND members.user_id = ? AND {_PERSON}
"""  # noqa: S608


def successor(connection: sqlite3.Connection, guild_id: int, owner_id: int, role_ids: Iterable[int]) -> int | None:
    """Of the people in the guild besides its owner: the one who has been there for longest among those with the first
    of these roles that has a holder, or, if none has, among all. Bots own nothing. None without such people.

    Looks at every member.
    """
    for role_id in role_ids:
        row = connection.execute(_WITH_ROLE, (guild_id, role_id, owner_id)).fetchone()
        if row is not None:
            return int(row[0])
    row = connection.execute(_OLDEST_BESIDE, (guild_id, owner_id)).fetchone()
    return None if row is None else int(row[0])


def is_person_in(connection: sqlite3.Connection, guild_id: int, user_id: int) -> bool:
    """Whether the account is a member who could own the guild."""
    return connection.execute(_PERSON_IN, (guild_id, user_id)).fetchone() is not None


def has_person_beside(connection: sqlite3.Connection, guild_id: int, owner_id: int) -> bool:
    """Whether there is a member besides the owner who could own the guild."""
    return connection.execute(f"{_BESIDE} LIMIT 1", (guild_id, owner_id)).fetchone() is not None
