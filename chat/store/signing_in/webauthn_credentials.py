"""Passkeys: the rows of `webauthn_credentials`.

A passkey that another one has replaced points to its successor; it is kept and not listed, and goes with it.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Sequence
from typing import Final

import attrs

from chat.classes import frozen

REPLACED_KEPT: Final = 100
"""Replaced passkeys that an account keeps at most; of more the oldest go."""


def _texts(value: str | Sequence[str]) -> tuple[str, ...]:
    """A column that holds a JSON list of text, or such a list itself."""
    return tuple(json.loads(value)) if isinstance(value, str) else tuple(value)


@frozen
class WebauthnCredential:
    """One row of `webauthn_credentials`. Times are Unix milliseconds."""

    credential_id: bytes
    user_id: int
    name: str
    public_key: bytes
    """COSE."""
    sign_count: int
    aaguid: str
    transports: tuple[str, ...] = attrs.field(default=(), converter=_texts)
    backed_up: bool = attrs.field(default=False, converter=bool)
    created_at: int = 0
    last_used_at: int | None = None
    replaced_by: bytes | None = None


_NAMES: Final = tuple(field.name for field in attrs.fields(WebauthnCredential))
_COLUMNS: Final = ", ".join(_NAMES)
_INSERT: Final = f"INSERT INTO webauthn_credentials ({_COLUMNS}) VALUES ({', '.join('?' * len(_NAMES))})"  # noqa: S608
_BY_ID: Final = f"SELECT {_COLUMNS} FROM webauthn_credentials WHERE credential_id = ?"  # noqa: S608 - our own columns
_LISTED: Final = f"""
    SELECT {_COLUMNS}
      FROM webauthn_credentials
     WHERE user_id = ? AND replaced_by IS NULL
     ORDER BY created_at, credential_id
"""  # noqa: S608


def insert(connection: sqlite3.Connection, credential: WebauthnCredential) -> None:
    """Add a passkey.

    :raises sqlite3.IntegrityError: when its id is taken.
    """
    row: dict[str, object] = attrs.asdict(credential, recurse=False)
    row["transports"] = json.dumps(credential.transports)
    connection.execute(_INSERT, tuple(row.values()))


def by_id(connection: sqlite3.Connection, credential_id: bytes) -> WebauthnCredential | None:
    """The passkey with this id, a replaced one included."""
    row = connection.execute(_BY_ID, (credential_id,)).fetchone()
    return None if row is None else WebauthnCredential(*row)


def listed_of_user(connection: sqlite3.Connection, user_id: int) -> list[WebauthnCredential]:
    """The account's passkeys that nothing has replaced, the oldest first."""
    return [WebauthnCredential(*row) for row in connection.execute(_LISTED, (user_id,))]


def is_one_listed(connection: sqlite3.Connection, user_id: int) -> bool:
    """Whether the account has a passkey that nothing has replaced."""
    listed = "SELECT 1 FROM webauthn_credentials WHERE user_id = ? AND replaced_by IS NULL LIMIT 1"
    return connection.execute(listed, (user_id,)).fetchone() is not None


def replace(connection: sqlite3.Connection, predecessor_id: bytes, successor_id: bytes) -> None:
    """Put a passkey in place of another, and of all that the other one had replaced."""
    connection.execute(
        "UPDATE webauthn_credentials SET replaced_by = ? WHERE credential_id = ? OR replaced_by = ?",
        (successor_id, predecessor_id, predecessor_id),
    )
    connection.execute(
        """
        DELETE FROM webauthn_credentials
         WHERE credential_id IN (
               SELECT credential_id
                 FROM webauthn_credentials
                WHERE replaced_by IS NOT NULL
                  AND user_id = (SELECT user_id FROM webauthn_credentials WHERE credential_id = ?)
                ORDER BY created_at DESC, credential_id
                LIMIT -1 OFFSET ?)
        """,
        (successor_id, REPLACED_KEPT),
    )


def rename(connection: sqlite3.Connection, user_id: int, credential_id: bytes, name: str) -> bool:
    """Call a listed passkey of the account something else; False when there is none."""
    cursor = connection.execute(
        "UPDATE webauthn_credentials SET name = ? WHERE credential_id = ? AND user_id = ? AND replaced_by IS NULL",
        (name, credential_id, user_id),
    )
    return cursor.rowcount > 0


def note_use(connection: sqlite3.Connection, credential_id: bytes, sign_count: int, now: int) -> bool:
    """Note that a listed passkey signed, with its new counter; False when it is gone or its counter did not go forward.

    A counter that stays at zero is that of an authenticator that has none.
    """
    cursor = connection.execute(
        """
        UPDATE webauthn_credentials
           SET sign_count = ?, last_used_at = ?
         WHERE credential_id = ? AND replaced_by IS NULL AND (sign_count < ? OR (sign_count = 0 AND ? = 0))
        """,
        (sign_count, now, credential_id, sign_count, sign_count),
    )
    return cursor.rowcount > 0


def delete(connection: sqlite3.Connection, user_id: int, credential_id: bytes) -> bool:
    """Delete a listed passkey of the account, and the passkeys that it replaced; False if there is none."""
    cursor = connection.execute(
        "DELETE FROM webauthn_credentials WHERE credential_id = ? AND user_id = ? AND replaced_by IS NULL",
        (credential_id, user_id),
    )
    return cursor.rowcount > 0


def delete_of_user(connection: sqlite3.Connection, user_id: int) -> None:
    """Delete every passkey of the account."""
    connection.execute("DELETE FROM webauthn_credentials WHERE user_id = ?", (user_id,))
