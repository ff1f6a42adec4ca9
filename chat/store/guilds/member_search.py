"""Members as lists and searches need them: names and roles, without the rest of the row."""

from __future__ import annotations

import sqlite3
from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import Final

import attrs

from chat.store.accounts.accounts import Account
from chat.store.accounts.accounts import by_id as account_by_id
from chat.store.guilds import members
from chat.store.guilds.members import Member


@attrs.frozen
class NamedMember:
    """A member's names and roles, everyone's left out."""

    user_id: int
    nick: str | None
    global_name: str | None
    username: str
    role_ids: frozenset[int]


_ONE: Final = """
    SELECT members.user_id, members.nick, users.global_name, users.username
      FROM members JOIN users ON users.id = members.user_id
     WHERE members.guild_id = ? AND members.user_id = ?
"""
_OF_GUILD: Final = """
    SELECT members.user_id, members.nick, users.global_name, users.username
      FROM members JOIN users ON users.id = members.user_id
     WHERE members.guild_id = ?
     ORDER BY members.user_id
     LIMIT ?
"""


def named(connection: sqlite3.Connection, guild_id: int, user_id: int) -> NamedMember | None:
    """One member of the guild."""
    row = connection.execute(_ONE, (guild_id, user_id)).fetchone()
    if row is None:
        return None
    _, nick, global_name, username = row
    return NamedMember(user_id, nick, global_name, username, members.role_ids(connection, guild_id, user_id))


def all_named(connection: sqlite3.Connection, guild_id: int, limit: int) -> Iterator[NamedMember]:
    """The members of a guild in order of user id, at most `limit`."""
    roles: dict[int, list[int]] = defaultdict(list)
    for user_id, role_id in connection.execute(
        "SELECT user_id, role_id FROM member_roles WHERE guild_id = ?", (guild_id,)
    ):
        roles[user_id].append(role_id)
    # Most members share few sets of roles; one object stands for each.
    shared: dict[frozenset[int], frozenset[int]] = {}
    for user_id, nick, global_name, username in connection.execute(_OF_GUILD, (guild_id, limit)):
        role_ids = frozenset(roles.get(user_id, ()))
        yield NamedMember(user_id, nick, global_name, username, shared.setdefault(role_ids, role_ids))


def with_accounts(
    connection: sqlite3.Connection, guild_id: int, user_ids: Sequence[int]
) -> list[tuple[Member, Account]]:
    """These members with their accounts, in the order given; who is no member is left out."""
    found = []
    for user_id in user_ids:
        member, account = members.by_id(connection, guild_id, user_id), account_by_id(connection, user_id)
        if member is not None and account is not None:
            found.append((member, account))
    return found
