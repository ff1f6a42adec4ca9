"""Changes: what they merely repeat (guilds.md, Modify guild), and which earlier email addresses and tags of accounts
are kept (administration.md, Change log)."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from typing import Any, Final

from chat.store.accounts import accounts
from chat.store.accounts.accounts import Account, AccountChange

Columns = dict[str, Any]
"""Values by the names of their columns, for `attrs.evolve` or an UPDATE. Each column has a type of its own, and which
ones are there is known at run time only."""

EMAIL: Final = "email"
SERVICE_TAG: Final = "service_tag"
BY_ADMINISTRATOR: Final = "admin_action"
"""The reason of an administrator's change; a holder's own has none."""


def note_changes(
    connection: sqlite3.Connection, before: Account, after: Account, now_ms: int, *, actor_id: int | None = None
) -> None:
    """In the unit that changes the account: keep what its address and its tag were, where they change. `actor_id` is
    the administrator who does it."""
    reason = None if actor_id is None else BY_ADMINISTRATOR
    for field, old, new in ((SERVICE_TAG, _tag(before), _tag(after)), (EMAIL, before.email, after.email)):
        if old != new:
            accounts.note_change(connection, AccountChange(after.id, field, old, new, reason, actor_id, now_ms))


def _tag(account: Account) -> str:
    return f"{account.username}#{account.discriminator:04}"


def without_repeated(known: object, columns: Mapping[str, Any]) -> Columns:
    """Those of the columns that are to be different from what was known.

    Clients send whole forms, of which people change one field. Where a change is judged before a slow step, another
    request may change another field meanwhile, and the form would undo that. So a value that is the same as the one
    known when the change was judged is no wish.
    """
    return {name: value for name, value in columns.items() if getattr(known, name) != value}
