"""Rows as archives and exports show them: names and values as on the wire, ids as text, moments as ISO 8601.

A table says which rows there are about a subject (`:subject`, an account or a guild). They are read by pages: `_key` is
what orders them, and a page has those above `:after`. Secrets are not left out afterwards, they are never selected:
no hash, no token, no secret of a second factor.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Mapping, Set
from types import MappingProxyType
from typing import Any, Final

import attrs

from chat.clock import iso_timestamp
from chat.store.connections import to_unsigned

FIRST: Final = -1
"""Below every key: text comes after all numbers."""

PAGE_ROWS: Final = 1_000

JSON_COLUMNS: Final = frozenset(
    {
        "acls",
        "bulk_message_deletion",
        "changes",
        "disabled",
        "features",
        "forum",
        "metadata",
        "options",
        "overwrites",
        "recipients",
        "redirect_uris",
        "roles",
        "scopes",
        "settings",
        "tags",
        "applied_tags",
        "thread",
        "traits",
    }
)

BITS: Final = frozenset({"allow", "deny", "disabled_operations", "flags", "permissions", "premium_flags"})

TRUTHS: Final = frozenset(
    {
        "animated",
        "archived",
        "auto_renew",
        "bot",
        "bot_public",
        "bot_require_code_grant",
        "deaf",
        "email_bounced",
        "email_verified",
        "has_password",
        "has_totp",
        "hoist",
        "invitable",
        "is_group",
        "is_shown",
        "locked",
        "mentionable",
        "mute",
        "muted",
        "nsfw",
        "passkey_second_factor",
        "share_voice_activity",
        "superseded",
        "system",
        "temporary",
    }
)


@attrs.frozen(kw_only=True)
class Table:
    """Rows of one kind. `name` is the path of their file in an archive without its ending."""

    name: str
    title: str
    """What they are, for people."""
    query: str
    single: bool = False
    """Whether there is one row at most, which then is the file's content, and not a list."""
    protected: Mapping[str, Set[str]] = MappingProxyType({})
    """Columns that are not for everybody who may have the rows, and the ACLs that it takes to see them."""


def page(
    connection: sqlite3.Connection, table: Table, subject_id: int, after: int | str | None, withheld: Set[str]
) -> tuple[list[dict[str, Any]], int | str | None]:
    """Up to PAGE_ROWS rows above `after`, and what the next page begins above; None where there is none.

    Columns that take an ACL of `withheld` are empty.
    """
    parameters = {"subject": subject_id, "after": FIRST if after is None else after, "limit": PAGE_ROWS}
    cursor = connection.execute(f"{table.query} ORDER BY _key LIMIT :limit", parameters)
    names = [description[0] for description in cursor.description]
    found = cursor.fetchall()
    hidden = {name for name, acls in table.protected.items() if acls & withheld}
    rows = [_object(names, row) | dict.fromkeys(hidden) for row in found]
    return rows, found[-1][0] if len(found) == PAGE_ROWS else None


def _object(names: list[str], row: tuple[Any, ...]) -> dict[str, Any]:
    return {name: _value(name, value) for name, value in zip(names, row, strict=True) if name != "_key"}


def _value(name: str, value: Any) -> Any:
    if value is None:
        return None
    if name in JSON_COLUMNS:
        return json.loads(value)
    if name in TRUTHS:
        return bool(value)
    if name in BITS:
        return str(to_unsigned(value))
    if isinstance(value, int):
        if name == "id" or name.endswith(("_id", "_by")):
            return str(value)
        if name.endswith(("_at", "_until")):
            return iso_timestamp(value)
    return value
