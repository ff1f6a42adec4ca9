"""Taking an account's relationships away for an administrator (document 002, Endpoints)."""

from __future__ import annotations

import sqlite3
from typing import Final

import structlog
import trio

from chat.domain.admin_audit_log import Acting, AdminAuditLog
from chat.domain.administered_accounts import found
from chat.domain.administered_lists import CATEGORIES
from chat.domain.relationships import Change, Relationships, neither_side
from chat.errors import ApiError
from chat.registries.admin_actions import AdminAction
from chat.store import relationships
from chat.store.database import Database

log: Final = structlog.get_logger("chat.admin")


class AdministeredRelationships:
    """Removes friendships and requests for both accounts, and blocks for the one that set them."""

    def __init__(self, database: Database, all_: Relationships, log: AdminAuditLog) -> None:
        self._database = database
        self._relationships = all_
        self._log = log

    async def remove(self, acting: Acting, user_id: int, target_id: int, category: str) -> None:
        """Remove what the account has with another in this category.

        :raises ApiError: UNKNOWN_USER, for the account as for the relationship.
        """

        def unit(connection: sqlite3.Connection) -> list[Change]:
            found(connection, user_id)
            own = relationships.by_id(connection, user_id, target_id)
            if own is None or own.type != CATEGORIES[category]:
                raise ApiError("UNKNOWN_USER")
            changes = neither_side(connection, user_id, target_id)
            metadata = {"target_user_id": target_id, "category": category}
            self._log.record(connection, acting, AdminAction.REMOVE_RELATIONSHIP, user_id, metadata)
            return changes

        await self._database.write(unit, self._relationships.publish)

    async def clear(self, acting: Acting, user_id: int, category: str) -> int:
        """Remove all that the account has in a category, one after the other; how many there were.

        A failure on the way leaves what was removed before, and its entry in the audit log (design 7, administrative
        audit of failures).

        :raises ApiError: UNKNOWN_USER; INTERNAL_SERVER_ERROR where it could not be done to the end.
        """

        def named(connection: sqlite3.Connection) -> tuple[int, ...]:
            found(connection, user_id)
            return relationships.targets(connection, user_id, CATEGORIES[category])

        targets = await self._database.read(named)
        removed, is_whole = 0, False
        try:
            for target_id in targets:
                removed += await self._remove_one(user_id, target_id, category)
            is_whole = True
        except (ApiError, sqlite3.Error) as error:
            if isinstance(error, ApiError) and not removed:
                raise  # it was not begun: the refusal is that of a request
            log.exception("relationships were removed in part", user_id=user_id, category=category, removed=removed)
            raise ApiError("INTERNAL_SERVER_ERROR") from error
        finally:
            if is_whole or removed:
                # Also where the server is about to end: what is done is told.
                with trio.CancelScope(shield=True):
                    metadata = {"category": category, "removed_count": removed}
                    await self._log.note(acting, AdminAction.REMOVE_RELATIONSHIPS_BY_CATEGORY, user_id, metadata)
        return removed

    async def _remove_one(self, user_id: int, target_id: int, category: str) -> bool:
        def unit(connection: sqlite3.Connection) -> list[Change]:
            own = relationships.by_id(connection, user_id, target_id)
            if own is None or own.type != CATEGORIES[category]:  # gone, or something else by now
                return []
            return neither_side(connection, user_id, target_id)

        changes = await self._database.write(unit, self._relationships.publish)
        return bool(changes)
