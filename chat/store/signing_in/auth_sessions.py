"""Sign-ins, the networks that accounts may sign in from without a mailed link, and the subjects of an OpenID Connect
provider that sign in: the rows of `auth_sessions`, `authorized_addresses` and `sso_identities`.

Of a token its SHA-256 is stored, which is the key. A network that is empty says that the account once had authorised
networks and forgot them, which is not the same as never having had any.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable
from typing import Final

import attrs

from chat.classes import frozen
from chat.store.accounts import accounts
from chat.store.accounts.accounts import Account, qualified_columns
from chat.store.signing_in import tickets


@frozen
class AuthSession:
    """One row of `auth_sessions`. Times are Unix milliseconds."""

    token_hash: bytes = attrs.field(repr=False)
    user_id: int
    created_at: int
    last_used_at: int
    address: str | None = None
    user_agent: str | None = None
    client_os: str | None = None
    client_platform: str | None = None
    proved_at: int | None = None
    """When a password, a passkey or a provider proved whose sign-in it is; None where another sign-in vouched for it.
    Nothing to know of one that has ended."""


@frozen
class EndedAuthSession:
    """One row of `ended_auth_sessions`: a sign-in, and when it ended (Unix milliseconds)."""

    session: AuthSession
    ended_at: int


ENDED_KEPT: Final = 1_000
"""Ended sign-ins of one account that stay listed."""

NOWHERE: Final = ""
"""The network of the row that outlives `forget`."""

_NAMES: Final = [field.name for field in attrs.fields(AuthSession)]
_COLUMNS: Final = ", ".join(_NAMES)
_KEPT: Final = ", ".join(name for name in _NAMES if name != "proved_at")
_KEEP: Final = f"""
    INSERT OR REPLACE INTO ended_auth_sessions ({_KEPT}, ended_at)
    SELECT {_KEPT}, ? FROM auth_sessions WHERE user_id = ?
"""  # noqa: S608 - the column names are our own
_ENDED: Final = f"""
    SELECT {_KEPT}, ended_at FROM ended_auth_sessions WHERE user_id = ? ORDER BY created_at DESC, token_hash
"""  # noqa: S608
_OF_USER: Final = f"SELECT {_COLUMNS} FROM auth_sessions WHERE user_id = ? ORDER BY last_used_at DESC, token_hash"  # noqa: S608
_ACCOUNT: Final = f"""
    SELECT {qualified_columns("users")}
      FROM auth_sessions
      JOIN users ON users.id = auth_sessions.user_id
     WHERE auth_sessions.token_hash = ?
"""  # noqa: S608 - the column names are our own


def account_of(connection: sqlite3.Connection, token_hash: bytes) -> Account | None:
    """The account that signed in with the token of this hash."""
    row = connection.execute(_ACCOUNT, (token_hash,)).fetchone()
    return None if row is None else Account(*row)


def proved_at(connection: sqlite3.Connection, token_hash: bytes) -> int | None:
    """When it was last proved whose sign-in this is, as `AuthSession.proved_at`; None for one that is not."""
    row = connection.execute("SELECT proved_at FROM auth_sessions WHERE token_hash = ?", (token_hash,)).fetchone()
    return None if row is None else row[0]


def of_user(connection: sqlite3.Connection, user_id: int) -> list[AuthSession]:
    """The account's sign-ins, the most recently used first."""
    return [AuthSession(*row) for row in connection.execute(_OF_USER, (user_id,))]


def insert(connection: sqlite3.Connection, session: AuthSession) -> None:
    """Record a sign-in."""
    connection.execute(
        f"INSERT INTO auth_sessions ({_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",  # noqa: S608
        attrs.astuple(session),
    )


def ended_of_user(connection: sqlite3.Connection, user_id: int) -> list[EndedAuthSession]:
    """The account's sign-ins that have ended, the newest first; of very many only the last."""
    return [EndedAuthSession(AuthSession(*row), ended_at) for *row, ended_at in connection.execute(_ENDED, (user_id,))]


def end(connection: sqlite3.Connection, user_id: int, token_hashes: Iterable[bytes], ended_at: int) -> list[bytes]:
    """End those of the account's sign-ins that are named; returns the hashes of those that there were."""
    ended = [
        token_hash
        for token_hash in token_hashes
        if connection.execute(f"{_KEEP} AND token_hash = ?", (ended_at, user_id, token_hash)).rowcount
    ]
    for token_hash in ended:
        connection.execute("DELETE FROM auth_sessions WHERE token_hash = ?", (token_hash,))
    _forget_old(connection, user_id)
    return ended


def end_of_user(connection: sqlite3.Connection, user_id: int, ended_at: int) -> int:
    """End every sign-in of the account, and what could become one yet: sign-ins that wait for a factor or for a mailed
    link, hand-offs and passkey bridges that were agreed to, authorisation codes. Returns how many sign-ins there
    were."""
    tickets.delete_of_user(connection, user_id)
    connection.execute(_KEEP, (ended_at, user_id))
    _forget_old(connection, user_id)
    return connection.execute("DELETE FROM auth_sessions WHERE user_id = ?", (user_id,)).rowcount


def _forget_old(connection: sqlite3.Connection, user_id: int) -> None:
    connection.execute(
        """
        DELETE FROM ended_auth_sessions
         WHERE token_hash IN (SELECT token_hash FROM ended_auth_sessions
                               WHERE user_id = ? ORDER BY created_at DESC LIMIT -1 OFFSET ?)
        """,
        (user_id, ENDED_KEPT),
    )


def touch(connection: sqlite3.Connection, token_hash: bytes, used_at: int, address: str) -> None:
    """Record when and from which address the sign-in was last used; does nothing for one that has ended."""
    connection.execute(
        "UPDATE auth_sessions SET last_used_at = ?, address = ? WHERE token_hash = ?", (used_at, address, token_hash)
    )


def networks_of(connection: sqlite3.Connection, user_id: int) -> list[str]:
    """The account's networks, NOWHERE among them where they were once forgotten."""
    rows = connection.execute(
        "SELECT network FROM authorized_addresses WHERE user_id = ? ORDER BY authorized_at, network", (user_id,)
    )
    return [row[0] for row in rows]


def is_network_of(connection: sqlite3.Connection, user_id: int, network: str) -> bool:
    """Whether the network is one from which the account has signed in."""
    known = "SELECT 1 FROM authorized_addresses WHERE user_id = ? AND network = ?"
    return connection.execute(known, (user_id, network)).fetchone() is not None


def authorize_network(connection: sqlite3.Connection, user_id: int, network: str, now: int, most: int) -> None:
    """Authorise a network. Beyond `most` the longest authorised ones are forgotten."""
    connection.execute(
        """
        INSERT INTO authorized_addresses (user_id, network, authorized_at) VALUES (?, ?, ?)
            ON CONFLICT (user_id, network) DO UPDATE SET authorized_at = excluded.authorized_at
        """,
        (user_id, network, now),
    )
    connection.execute(
        """
        DELETE FROM authorized_addresses
         WHERE user_id = ?
           AND network <> ?
           AND network NOT IN (SELECT network FROM authorized_addresses
                                WHERE user_id = ?
                                ORDER BY authorized_at DESC, network
                                LIMIT ?)
        """,
        (user_id, NOWHERE, user_id, most),
    )


def forget_networks(connection: sqlite3.Connection, user_id: int, now: int) -> None:
    """Delete all networks of the account, and record that it had some."""
    connection.execute("DELETE FROM authorized_addresses WHERE user_id = ?", (user_id,))
    connection.execute(
        "INSERT INTO authorized_addresses (user_id, network, authorized_at) VALUES (?, ?, ?)", (user_id, NOWHERE, now)
    )


def account_of_subject(connection: sqlite3.Connection, issuer: str, subject: str) -> Account | None:
    """The account of the provider's subject, deleted ones included."""
    row = connection.execute(
        "SELECT user_id FROM sso_identities WHERE issuer = ? AND subject = ?", (issuer, subject)
    ).fetchone()
    return None if row is None else accounts.by_id(connection, row[0])


def has_other_subject(connection: sqlite3.Connection, issuer: str, subject: str, user_id: int) -> bool:
    """Whether the account belongs to another of the provider's subjects."""
    row = connection.execute(
        "SELECT 1 FROM sso_identities WHERE user_id = ? AND issuer = ? AND subject != ? LIMIT 1",
        (user_id, issuer, subject),
    ).fetchone()
    return row is not None


def put_subject(connection: sqlite3.Connection, issuer: str, subject: str, user_id: int, now: int) -> None:
    """The provider's subject has this account from now on, in place of any other."""
    connection.execute(
        """
        INSERT INTO sso_identities (issuer, subject, user_id, created_at)
        VALUES (?, ?, ?, ?)
        ON CONFLICT (issuer, subject) DO UPDATE SET user_id = excluded.user_id, created_at = excluded.created_at
         WHERE user_id != excluded.user_id
        """,
        (issuer, subject, user_id, now),
    )
