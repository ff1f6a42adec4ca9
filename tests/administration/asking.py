"""Asking for administrative operations on accounts, and reading what came of them."""

from __future__ import annotations

from typing import Any

from chat.store.administration.admin_audit_log import AdminAuditLogEntry
from chat.testing.rest_client import Response
from chat.testing.server import ChatServer
from chat.testing.world import World
from tests.administration.audit import audit_log


class Asking:
    """Requests of the seeded administrator about one account, bob's unless it says otherwise."""

    def __init__(self, server: ChatServer, world: World, user_id: str | None = None) -> None:
        self.server = server
        self.world = world
        self.user_id = world.bob.id if user_id is None else user_id

    async def __call__(self, method: str, path: str, body: Any = ..., *, reason: str | None = None) -> Response:
        """A request below the account's path."""
        headers = {} if reason is None else {"X-Audit-Log-Reason": reason}
        target = f"/v1/admin/users/{self.user_id}{path}"
        return await self.world.admin.rest.request(method, target, json=body, headers=headers)

    async def user(self, method: str, path: str, body: Any = ..., *, reason: str | None = None) -> dict[str, Any]:
        """The account in the answer to a request that changes it."""
        answer = (await self(method, path, body, reason=reason)).expect(200)
        assert answer.keys() == {"user"}
        user: dict[str, Any] = answer["user"]
        return user

    async def refused(self, method: str, path: str, body: Any = ...) -> tuple[int, str, str | None]:
        """Status, code and the first field code of a refusal, which leaves nothing in the audit log."""
        before = audit_log(self.server)
        answer = await self(method, path, body)
        assert answer.status >= 400, answer.body
        assert audit_log(self.server) == before
        found = answer.json()
        errors = found.get("errors")
        return answer.status, found["code"], errors[0]["code"] if errors else None

    async def shown(self) -> dict[str, Any]:
        """The account as it is now, for an administrator who may see everything."""
        users = (await self("GET", "")).expect(200)["users"]
        assert len(users) == 1
        user: dict[str, Any] = users[0]
        return user

    async def set(self, **state: Any) -> None:
        """Give the account a state by the development route."""
        (await self.world.anyone.post(f"/v1/_dev/users/{self.user_id}", state)).expect(200)

    async def change_log(self) -> list[dict[str, Any]]:
        """The account's changes of name and address, the newest first."""
        entries: list[dict[str, Any]] = (await self("GET", "/change-log")).expect(200)["entries"]
        return entries

    def entries(self, action: str) -> list[AdminAuditLogEntry]:
        """The entries of the audit log about an action, the oldest first."""
        return [entry for entry in audit_log(self.server) if entry.action == action]
