"""Accounts, people and bots alike, and what addresses and tags they have had: the rows of `users` and `account_changes`
(administration.md, Change log).

A change's number is its id on the wire. The store gives numbers from 1 on; rows that were put in from elsewhere without
an id have one below that.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Collection, Sequence
from typing import Any, Final, NamedTuple

import attrs

from chat.classes import frozen
from chat.registries.user_flags import UserFlag
from chat.store.connections import to_signed

_2_64: Final = 1 << 64


def _unsigned(value: int) -> int:
    """A column that SQLite reads as signed, or the unsigned number itself."""
    return value + _2_64 if value < 0 else value


def _texts(value: str | Sequence[str]) -> tuple[str, ...]:
    """A column that holds a JSON list of text, or such a list itself."""
    if isinstance(value, str):
        return () if value == "[]" else tuple(json.loads(value))
    return tuple(value)


@frozen
class Account:
    """One row of `users`, its fields in the order of the columns. Times are Unix milliseconds."""

    id: int
    username: str
    discriminator: int
    global_name: str | None = None
    email: str | None = None
    email_verified: bool = attrs.field(default=False, converter=bool)
    email_bounced: bool = attrs.field(default=False, converter=bool)
    password_hash: str | None = attrs.field(default=None, repr=False)
    bot: bool = attrs.field(default=False, converter=bool)
    system: bool = attrs.field(default=False, converter=bool)
    flags: int = attrs.field(default=0, converter=_unsigned)
    """Unsigned 64-bit, `chat.registries.user_flags.UserFlag`."""
    avatar: str | None = None
    avatar_color: int | None = None
    banner: str | None = None
    banner_color: int | None = None
    accent_color: int | None = None
    bio: str | None = None
    pronouns: str | None = None
    date_of_birth: str | None = None
    """As YYYY-MM-DD."""
    acls: tuple[str, ...] = attrs.field(default=(), converter=_texts)
    traits: tuple[str, ...] = attrs.field(default=(), converter=_texts)
    premium_type: int | None = None
    premium_since: int | None = None
    premium_until: int | None = None
    passkey_second_factor: bool = attrs.field(default=False, converter=bool)
    totp_secret: str | None = attrs.field(default=None, repr=False)
    created_at: int = 0
    last_active_at: int | None = None
    last_active_ip: str | None = None
    temp_banned_until: int | None = None
    password_last_changed_at: int | None = None
    terms_agreed_at: int | None = None
    privacy_agreed_at: int | None = None
    pending_bulk_message_deletion_at: int | None = None
    premium_flags: int = 0
    """Unsigned 32-bit, `chat.registries.user_flags.PremiumFlag`."""
    premium_grace_ends_at: int | None = None
    premium_lifetime_sequence: int | None = None
    mention_flags: int = 0
    """`chat.registries.user_flags.MentionFlag`."""
    voice_sharing_changed_at: int | None = None
    bulk_deletion_channels: int = 0
    """How many channels held messages to delete when `pending_bulk_message_deletion_at` was set."""
    bulk_deletion_messages: int = 0

    @property
    def is_limited(self) -> bool:
        """Whether a set of operations answers ACCOUNT_LIMITED (access.md, Account gates)."""
        return bool(self.flags & UserFlag.ACCOUNT_LIMITED)

    @property
    def is_limited_to_known(self) -> bool:
        """Whether the account may only write to accounts that it has written with before: it is limited, and not exempt
        from limits (administration.md, Account flags)."""
        return self.is_limited and not self.flags & UserFlag.LIMIT_EXEMPT

    @property
    def is_disabled(self) -> bool:
        """Whether the account is banned, or disabled by the holder."""
        return bool(self.flags & UserFlag.DISABLED)

    def is_banned(self, now_ms: int) -> bool:
        """Whether an administrator's ban stands at this moment (Unix)."""
        return self.is_disabled and self.temp_banned_until is not None and self.temp_banned_until > now_ms

    @property
    def is_deleted(self) -> bool:
        """Whether the account is erased and shown as the deleted placeholder."""
        return bool(self.flags & UserFlag.DELETED)


class ShownAccount(NamedTuple):
    """The columns of an account that others may see, as in a partial user (`flags` may come signed)."""

    id: int
    username: str = ""
    discriminator: int = 0
    global_name: str | None = None
    avatar: str | None = None
    avatar_color: int | None = None
    flags: int = 0
    bot: bool = False
    system: bool = False
    mention_flags: int = 0


_NAMES: Final = tuple(field.name for field in attrs.fields(Account))
_COLUMNS: Final = ", ".join(_NAMES)
_BY_ID: Final = f"SELECT {_COLUMNS} FROM users WHERE id = ?"  # noqa: S608 - the column names are our own
_SHOWN: Final = f"SELECT {', '.join(ShownAccount._fields)} FROM users"  # noqa: S608
_SHOWN_BY_ID: Final = f"{_SHOWN} WHERE id = ?"
_SHOWN_BY_IDS: Final = f"{_SHOWN} WHERE id IN (SELECT value FROM json_each(?))"  # noqa: S608
_BY_EMAIL_KEY: Final = f"SELECT {_COLUMNS} FROM users WHERE email_key = ?"  # noqa: S608
_OF_ADDRESS: Final = f"SELECT {_COLUMNS} FROM users WHERE address_key = ? ORDER BY email_key IS NULL, id"  # noqa: S608
_EVERY: Final = f"SELECT {_COLUMNS} FROM users ORDER BY id"  # noqa: S608
_BY_USERNAME: Final = f"SELECT {_COLUMNS} FROM users WHERE username_key = ? ORDER BY discriminator"  # noqa: S608
_BY_TAG: Final = f"SELECT {_COLUMNS} FROM users WHERE username_key = ? AND discriminator = ?"  # noqa: S608


def qualified_columns(table: str) -> str:
    """The columns of an `Account` for a join in which `users` goes by this name."""
    return ", ".join(f"{table}.{name}" for name in _NAMES)


def email_key(email: str) -> str:
    """The form under which addresses are compared: letter case does not matter (signing_in.md, Login)."""
    return email.casefold()


def username_key(username: str) -> str:
    """The form under which usernames are compared."""
    return username.casefold()


def by_id(connection: sqlite3.Connection, user_id: int) -> Account | None:
    """The account with this snowflake, deleted ones included."""
    return _account(connection.execute(_BY_ID, (user_id,)).fetchone())


def by_email_key(connection: sqlite3.Connection, email: str) -> Account | None:
    """The account that signs in by this address, in any letter case: the first that had it."""
    return _account(connection.execute(_BY_EMAIL_KEY, (email_key(email),)).fetchone())


def of_address(connection: sqlite3.Connection, email: str) -> list[Account]:
    """Every account with this address, in any letter case; the one that signs in by it first."""
    return [Account(*row) for row in connection.execute(_OF_ADDRESS, (email_key(email),))]


_PEOPLE: Final = f"NOT bot AND NOT system AND NOT flags & {int(UserFlag.DELETED)}"


def newest_person(connection: sqlite3.Connection) -> int:
    """The newest account of a person that is not deleted; 0 where there is none."""
    row = connection.execute(f"SELECT id FROM users WHERE {_PEOPLE} ORDER BY id DESC LIMIT 1").fetchone()  # noqa: S608
    return 0 if row is None else int(row[0])


def count_people(connection: sqlite3.Connection) -> int:
    """How many accounts of people there are that are not deleted; looks at every account."""
    (count,) = connection.execute(f"SELECT count(*) FROM users WHERE {_PEOPLE}").fetchone()  # noqa: S608
    return int(count)


def people_between(connection: sqlite3.Connection, after: int, last: int, limit: int) -> list[int]:
    """Accounts of people that are not deleted, with ids above `after` and up to `last`, ascending."""
    rows = connection.execute(
        f"SELECT id FROM users WHERE id > ? AND id <= ? AND {_PEOPLE} ORDER BY id LIMIT ?",  # noqa: S608
        (after, last, limit),
    )
    return [user_id for (user_id,) in rows]


def by_tag(connection: sqlite3.Connection, username: str, discriminator: int) -> Account | None:
    """The account with this username, in any letter case, and this discriminator."""
    return _account(connection.execute(_BY_TAG, (username_key(username), discriminator)).fetchone())


def _account(row: tuple[Any, ...] | None) -> Account | None:
    return None if row is None else Account(*row)


def by_username(connection: sqlite3.Connection, username: str) -> list[Account]:
    """The accounts with this username, in any letter case."""
    return [Account(*row) for row in connection.execute(_BY_USERNAME, (username_key(username),))]


def every(connection: sqlite3.Connection) -> list[Account]:
    """Every account, deleted ones included, the oldest first."""
    return [Account(*row) for row in connection.execute(_EVERY)]


def by_ids(connection: sqlite3.Connection, user_ids: Sequence[int]) -> list[Account]:
    """The accounts with these snowflakes that exist, in the order of the ids given."""
    found = (by_id(connection, user_id) for user_id in user_ids)
    return [account for account in found if account is not None]


def shown(connection: sqlite3.Connection, user_ids: Collection[int]) -> dict[int, ShownAccount]:
    """The visible columns of these accounts; ids without an account are left out."""
    if len(user_ids) == 1:
        rows = connection.execute(_SHOWN_BY_ID, tuple(user_ids))
    elif user_ids:
        rows = connection.execute(_SHOWN_BY_IDS, (json.dumps(list(user_ids)),))
    else:
        return {}
    return {row[0]: ShownAccount._make(row) for row in rows}


def with_bulk_deletion_due(connection: sqlite3.Connection, now_ms: int) -> list[int]:
    """The accounts whose own messages are to go by now, the longest overdue first."""
    rows = connection.execute(
        """
        SELECT id FROM users
         WHERE pending_bulk_message_deletion_at IS NOT NULL AND pending_bulk_message_deletion_at <= ?
         ORDER BY pending_bulk_message_deletion_at
        """,
        (now_ms,),
    )
    return [user_id for (user_id,) in rows]


def next_bulk_deletion(connection: sqlite3.Connection) -> int | None:
    """When an account's own messages are to go next (Unix milliseconds)."""
    row = connection.execute(
        "SELECT min(pending_bulk_message_deletion_at) FROM users WHERE pending_bulk_message_deletion_at IS NOT NULL"
    ).fetchone()
    return None if row is None else row[0]


def discriminators_of(connection: sqlite3.Connection, username: str) -> set[int]:
    """The discriminators that are taken for this username."""
    rows = connection.execute("SELECT discriminator FROM users WHERE username_key = ?", (username_key(username),))
    return {row[0] for row in rows}


def insert(connection: sqlite3.Connection, account: Account) -> None:
    """Add an account.

    :raises sqlite3.IntegrityError: when the id, the address or the tag is taken.
    """
    row = _row(account)
    connection.execute(
        f"INSERT INTO users ({', '.join(row)}) VALUES ({', '.join('?' * len(row))})",  # noqa: S608
        tuple(row.values()),
    )


def replace(connection: sqlite3.Connection, account: Account) -> None:
    """Write every column of an account that exists.

    An administrator may give an account the address of another one (administration.md, Account fields): it signs in by
    that address from when the other no longer has it, which the store sees to (accounts.md, Names and tags).

    :raises sqlite3.IntegrityError: when the new tag is taken.
    """
    row = _row(account)
    del row["id"]
    key = row["email_key"]
    if key is not None:
        holder = connection.execute("SELECT id FROM users WHERE email_key = ?", (key,)).fetchone()
        if holder is not None and holder[0] != account.id:
            row["email_key"] = None
    connection.execute(
        f"UPDATE users SET {', '.join(f'{name} = ?' for name in row)} WHERE id = ?",  # noqa: S608
        (*row.values(), account.id),
    )


def touch(connection: sqlite3.Connection, user_id: int, active_at: int, address: str | None) -> None:
    """Record when and from which address the account was last active; does nothing for a deleted account."""
    connection.execute(
        "UPDATE users SET last_active_at = ?, last_active_ip = ? WHERE id = ? AND NOT flags & ?",
        (active_at, address, user_id, int(UserFlag.DELETED)),
    )


def _row(account: Account) -> dict[str, object]:
    row: dict[str, object] = attrs.asdict(account, recurse=False)
    row["flags"] = to_signed(account.flags)
    row["acls"] = json.dumps(account.acls)
    row["traits"] = json.dumps(account.traits)
    row["username_key"] = username_key(account.username)
    row["email_key"] = row["address_key"] = None if account.email is None else email_key(account.email)
    return row


@frozen
class AccountChange:
    """One row of `account_changes`, without its number, which the store assigns."""

    user_id: int
    field: str
    """`email` or `service_tag`."""
    old_value: str | None
    new_value: str | None
    reason: str | None
    actor_user_id: int | None
    """The administrator who made the change; None if the holder did."""
    changed_at: int


_ACCOUNT_CHANGES_COLUMNS: Final = ", ".join(field.name for field in attrs.fields(AccountChange))


def note_change(connection: sqlite3.Connection, change: AccountChange) -> None:
    """Insert a row that records a change."""
    connection.execute(
        f"INSERT INTO account_changes ({_ACCOUNT_CHANGES_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?)",  # noqa: S608 - our own names
        attrs.astuple(change),
    )


def changes_of(
    connection: sqlite3.Connection, user_id: int, limit: int, before_id: int | None
) -> list[tuple[int, AccountChange]]:
    """Up to `limit` changes of an account, the newest first, each with its number; those before `before_id`."""
    rows = connection.execute(
        f"""
        SELECT id, {_ACCOUNT_CHANGES_COLUMNS} FROM account_changes
         WHERE user_id = ? AND (? IS NULL OR id < ?)
         ORDER BY id DESC
         LIMIT ?
        """,  # noqa: S608
        (user_id, before_id, before_id, limit),
    )
    return [(number, AccountChange(*rest)) for number, *rest in rows]
