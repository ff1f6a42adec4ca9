"""Applications: the rows of `applications`. Secrets and bot tokens are there as SHA-256 only."""

from __future__ import annotations

import json
import sqlite3
from typing import Final

import attrs

from chat.classes import frozen
from chat.store.connections import texts


@frozen
class Application:
    """One row of `applications`. Times are Unix milliseconds."""

    id: int
    owner_id: int
    name: str
    icon: str | None = None
    description: str | None = None
    bot_user_id: int | None = None
    bot_public: bool = attrs.field(default=True, converter=bool)
    bot_require_code_grant: bool = attrs.field(default=False, converter=bool)
    redirect_uris: tuple[str, ...] = attrs.field(default=(), converter=texts)
    client_secret_hash: bytes | None = attrs.field(default=None, repr=False)
    client_secret_created_at: int | None = None
    bot_token_hash: bytes | None = attrs.field(default=None, repr=False)
    bot_token_preview: str | None = None
    """The first characters of the token's secret, by which people recognise a token."""
    bot_token_created_at: int | None = None
    public_client: bool = attrs.field(default=False, converter=bool)
    """Whether the application says that it can keep no secret: with PKCE it redeems codes without one."""
    interactions_endpoint_url: str | None = None
    """Where the application hears interactions, in place of its bot's gateway sessions."""
    created_at: int = 0


_NAMES: Final = tuple(field.name for field in attrs.fields(Application))
_SELECT: Final = f"SELECT {', '.join(_NAMES)} FROM applications"  # noqa: S608 - the column names are our own
_BY_ID: Final = f"{_SELECT} WHERE id = ?"
_BY_BOT: Final = f"{_SELECT} WHERE bot_user_id = ?"
_OF_OWNER: Final = f"{_SELECT} WHERE owner_id = ? ORDER BY id"


def by_id(connection: sqlite3.Connection, application_id: int) -> Application | None:
    """The application with this snowflake."""
    row = connection.execute(_BY_ID, (application_id,)).fetchone()
    return None if row is None else Application(*row)


def by_bot(connection: sqlite3.Connection, bot_user_id: int) -> Application | None:
    """The application whose bot this account is."""
    row = connection.execute(_BY_BOT, (bot_user_id,)).fetchone()
    return None if row is None else Application(*row)


def of_owner(connection: sqlite3.Connection, owner_id: int) -> list[Application]:
    """The account's own applications, oldest first."""
    return [Application(*row) for row in connection.execute(_OF_OWNER, (owner_id,))]


def every(connection: sqlite3.Connection) -> list[Application]:
    """Every application, oldest first."""
    return [Application(*row) for row in connection.execute(f"{_SELECT} ORDER BY id")]


def count_of_owner(connection: sqlite3.Connection, owner_id: int) -> int:
    """How many applications the account owns."""
    row = connection.execute("SELECT count(*) FROM applications WHERE owner_id = ?", (owner_id,)).fetchone()
    count: int = row[0]
    return count


def insert(connection: sqlite3.Connection, application: Application) -> None:
    """Add an application; its owner and bot account exist already."""
    places = ", ".join("?" * len(_NAMES))
    connection.execute(
        f"INSERT INTO applications ({', '.join(_NAMES)}) VALUES ({places})",  # noqa: S608
        _row(application),
    )


def replace(connection: sqlite3.Connection, application: Application) -> None:
    """Write every column of an application that exists."""
    assignments = ", ".join(f"{name} = ?" for name in _NAMES[1:])
    connection.execute(
        f"UPDATE applications SET {assignments} WHERE id = ?",  # noqa: S608
        (*_row(application)[1:], application.id),
    )


def delete(connection: sqlite3.Connection, application_id: int) -> None:
    """Remove the application; its bot account stays."""
    connection.execute("DELETE FROM applications WHERE id = ?", (application_id,))


def _row(application: Application) -> tuple[object, ...]:
    values = attrs.asdict(application, recurse=False)
    values["redirect_uris"] = json.dumps(application.redirect_uris)
    return tuple(values[name] for name in _NAMES)
