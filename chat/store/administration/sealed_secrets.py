"""Secrets that are stored encrypted. They are useless without the instance's signing key, which is a file beside the
database."""

from __future__ import annotations

import base64
import binascii
import sqlite3
from collections.abc import Iterator, Mapping
from typing import Final

AUTHENTICATORS: Final = "authenticators"
BACKUP_CODES: Final = "backup codes"
WEBHOOKS: Final = "webhook tokens"
MAILS: Final = "waiting mails"
DELIVERIES: Final = "waiting interactions"

COLUMNS: Final[Mapping[str, tuple[str, str, str]]] = {
    AUTHENTICATORS: ("users", "id", "totp_secret"),
    BACKUP_CODES: ("backup_codes", "user_id", "sealed_code"),
    WEBHOOKS: ("webhooks", "id", "sealed_token"),
    MAILS: ("mail_outbox", "recipient", "sealed_letter"),
    DELIVERIES: ("interactions", "id", "sealed_delivery"),
}
"""By kind: the table, the column that is the context of the sealing, and the column with what is sealed."""


def exist(connection: sqlite3.Connection) -> bool:
    """Whether anything here needs the key; the database may be of an older version of this program."""
    return any(
        connection.execute(f"SELECT 1 FROM {table} WHERE {column} IS NOT NULL LIMIT 1").fetchone()  # noqa: S608 - our own names
        for table, _, column in COLUMNS.values()
        if connection.execute("SELECT 1 FROM pragma_table_info(?) WHERE name = ?", (table, column)).fetchone()
    )


def of_kind(connection: sqlite3.Connection, kind: str) -> Iterator[tuple[bytes, bytes]]:
    """The context and the bytes of each sealed secret of a kind."""
    table, context, column = COLUMNS[kind]
    rows = connection.execute(f"SELECT {context}, {column} FROM {table} WHERE {column} IS NOT NULL")  # noqa: S608 - our own names
    return ((str(row[0]).encode(), _bytes(row[1])) for row in rows)


def _bytes(stored: str | bytes) -> bytes:
    """An authenticator's secret is stored as Base64, every other as it is."""
    if isinstance(stored, bytes):
        return stored
    try:
        return base64.b64decode(stored, validate=True)
    except binascii.Error:
        return b""
