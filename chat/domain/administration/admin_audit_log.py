"""The administrative audit log: who did, or read, what (administration.md, Conventions; administration.md, Audit
entries)."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping, Sequence
from typing import Any, Final

import attrs

from chat.auth.principal import CredentialKind, Principal
from chat.registries.acls import Acl
from chat.registries.admin_actions import ADMIN_ACTIONS, AdminAction
from chat.snowflake import SnowflakeGenerator
from chat.store.accounts.accounts import Account
from chat.store.administration import admin_audit_log
from chat.store.administration.admin_audit_log import AdminAuditLogEntry
from chat.store.database import Database

ABSENT: Final = "null"
"""What stands for a value that there is none of (administration.md, Audit entries)."""

NO_TARGET: Final = 0
"""The target of what is about no single thing."""

INSTANCE: Final = 0
"""Who acts where no account does: the instance itself, at the hands of whoever has its data directory."""


@attrs.frozen
class Acting:
    """The administrator behind a request, and the reason that came with it."""

    principal: Principal
    reason: str | None = None

    @property
    def user_id(self) -> int:
        """The administrator's account."""
        return self.principal.user_id

    def holds(self, acl: str) -> bool:
        """Whether the administrator may make use of the ACL with this credential."""
        return self.principal.holds(acl)


def in_the_name_of(user_id: int, reason: str | None) -> Acting:
    """An administrator who asked for something that is done without them by now: whether they may was judged then."""
    account = Account(id=user_id, username="", discriminator=0, acls=(Acl.EVERYTHING,), created_at=0)
    return Acting(Principal(account, CredentialKind.SESSION), reason)


def the_instance(reason: str | None = None) -> Acting:
    """The command line as an administrator: it may do everything, and entries show no account for it."""
    return in_the_name_of(INSTANCE, reason)


class AdminAuditLog:
    """Writes entries; what was refused or failed leaves none."""

    def __init__(self, database: Database, snowflakes: SnowflakeGenerator) -> None:
        self._database = database
        self._snowflakes = snowflakes

    def record(
        self,
        connection: sqlite3.Connection,
        acting: Acting,
        action: AdminAction,
        target_id: int | str,
        metadata: Mapping[str, Any] | None = None,
        *,
        reason: str | None = None,
    ) -> int:
        """In the unit that does it: write the entry; its snowflake.

        `metadata` values become text as `text_of` has it. `reason` stands in the place of the request's own.
        """
        kind, values = ADMIN_ACTIONS[action], metadata or {}
        if unknown := values.keys() - kind.metadata:
            raise TypeError(f"{action} has no metadata {sorted(unknown)}")
        entry = AdminAuditLogEntry(
            id=self._snowflakes(),
            admin_user_id=acting.user_id,
            action=str(action),
            target_type=str(kind.target),
            target_id=str(target_id),
            reason=acting.reason if reason is None else reason,
            metadata={key: text_of(value) for key, value in values.items()},
        )
        admin_audit_log.insert(connection, entry)
        return entry.id

    async def note(
        self, acting: Acting, action: AdminAction, target_id: int | str, metadata: Mapping[str, Any] | None = None
    ) -> None:
        """As `record`, for what changes nothing else: a read that has succeeded."""
        await self._database.write(lambda connection: self.record(connection, acting, action, target_id, metadata))


def text_of(value: object) -> str:
    """A value as metadata has it: booleans in words, lists joined by commas, the literal `null` for none."""
    if value is None:
        return ABSENT
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, Sequence) and not isinstance(value, str):
        return ",".join(map(str, value))
    return str(value)
