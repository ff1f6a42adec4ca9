"""Taking an account's relationships away for an administrator (administration.md, Account relationships)."""

from __future__ import annotations

import sqlite3
from typing import Final

import structlog

from chat.domain.administration.admin_audit_log import Acting, AdminAuditLog, in_the_name_of
from chat.domain.administration.administered_accounts import found
from chat.domain.administration.administered_lists import CATEGORIES
from chat.domain.core import Core
from chat.domain.policy.errands import Errand, State
from chat.domain.standing.relationships import Change, Relationships, neither_side
from chat.errors import ApiError
from chat.registries.admin_actions import AdminAction
from chat.registries.errands import ErrandKind
from chat.store.standing import relationships

log: Final = structlog.get_logger("chat.admin")


class AdministeredRelationships:
    """Removes friendships and requests for both accounts, and blocks for the one that set them."""

    def __init__(self, core: Core, all_: Relationships, log: AdminAuditLog) -> None:
        self._core = core
        self._relationships = all_
        self._log = log
        core.errands.handle(ErrandKind.CLEAR_RELATIONSHIPS, self._clear)

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

        await self._core.database.write(unit, self._relationships.publish)

    async def clear(self, acting: Acting, user_id: int, category: str) -> int:
        """Remove all that the account has in a category, one after the other; how many there were.

        A failure on the way leaves what was removed before, and its entry in the audit log (administration.md, Account
        relationships).

        :raises ApiError: UNKNOWN_USER; INTERNAL_SERVER_ERROR where it could not be done to the end.
        """
        await self._core.database.read(lambda connection: found(connection, user_id))
        state = {
            "user_id": user_id,
            "category": category,
            "admin_id": acting.user_id,
            "reason": acting.reason,
            "last_id": 0,
            "removed": 0,
        }
        return (await self._core.errands.do(ErrandKind.CLEAR_RELATIONSHIPS, state)).count

    async def _clear(self, errand: Errand) -> None:
        user_id: int = errand.state["user_id"]
        category: str = errand.state["category"]
        acting = in_the_name_of(errand.state["admin_id"], errand.state["reason"])

        def end(connection: sqlite3.Connection, state: State) -> tuple[State | None, list[Change]]:
            metadata = {"category": category, "removed_count": state["removed"]}
            self._log.record(connection, acting, AdminAction.REMOVE_RELATIONSHIPS_BY_CATEGORY, user_id, metadata)
            return None, []

        def portion(connection: sqlite3.Connection, state: State) -> tuple[State | None, list[Change]]:
            target_id = relationships.next_target(connection, user_id, CATEGORIES[category], state["last_id"])
            if target_id is None:
                return end(connection, state)
            changes = neither_side(connection, user_id, target_id)
            return {**state, "last_id": target_id, "removed": state["removed"] + 1}, changes

        def then(changes: list[Change]) -> None:
            errand.count += bool(changes)
            self._relationships.publish(changes)

        try:
            while not errand.is_over:
                await errand.step(portion, then)
        except sqlite3.Error as error:
            log.exception("relationships were removed in part", user_id=user_id, category=category)
            if errand.id is not None:  # else nothing was removed, and there is nothing to tell
                await errand.step(end, then)
            raise ApiError("INTERNAL_SERVER_ERROR") from error
