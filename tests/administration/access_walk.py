"""Walks administrative operations with every ACL but their own, and with their own."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Final

import attrs

from chat.admin.operation import AdminOperation
from chat.admin.routes import ADMIN_ROUTES
from chat.api.rate_limit import Bucket
from chat.registries.acls import ACLS
from chat.testing.server import ChatServer
from chat.testing.world import World
from tests.administration.audit import audit_log

AUTHENTICATE: Final = "admin:authenticate"


@attrs.frozen
class Walked:
    """One operation: its declared path, a request for it, the ACLs of which one opens it, and its bucket.

    `path` has the members of the declaration; `values` says what stands for them in the request.
    """

    method: str
    path: str
    acls: tuple[str, ...]
    bucket: Bucket
    body: Any = ...
    audited: bool = True


def declared(row: Walked) -> AdminOperation:
    """The declaration of a row."""
    [found] = [
        operation
        for routes in ADMIN_ROUTES
        for operation in routes.operations
        if (operation.method, operation.path) == (row.method, row.path.partition("?")[0])
    ]
    assert isinstance(found, AdminOperation)
    return found


def below(*prefixes: str) -> set[tuple[str, str]]:
    """Method and path of every declared operation whose path begins with one of these."""
    return {
        (operation.method, operation.path)
        for routes in ADMIN_ROUTES
        for operation in routes.operations
        if operation.path.startswith(prefixes)
    }


async def walk(server: ChatServer, world: World, rows: Sequence[Walked], values: dict[str, str]) -> None:
    """Ask for each of them as carol with the wrong ACLs, then with the right ones; refusals leave no entry."""

    async def ask(row: Walked, acls: Iterable[str]) -> tuple[int, str | None]:
        (await world.anyone.post(f"/v1/_dev/users/{world.carol.id}", {"acls": list(acls)})).expect(200)
        path = row.path
        for name, value in values.items():
            path = path.replace("{" + name + "}", value)
        answer = await world.carol.rest.request(row.method, path, json=row.body)
        return answer.status, answer.json().get("code") if answer.status >= 400 else None

    for row in rows:
        operation, before = declared(row), len(audit_log(server))
        assert operation.bucket == row.bucket, row
        assert (operation.audit is not None) is row.audited, row
        assert await ask(row, []) == (403, "MISSING_PERMISSIONS"), row
        assert await ask(row, row.acls) == (403, "MISSING_PERMISSIONS"), row
        others = [acl for acl in ACLS if acl not in {"*", *row.acls}]
        assert await ask(row, others) == (403, "MISSING_ACL"), row
        assert len(audit_log(server)) == before, row
        for acl in row.acls:
            status, code = await ask(row, [AUTHENTICATE, acl])
            assert status != 403 or code not in {"MISSING_ACL", "MISSING_PERMISSIONS"}, (row, status, code)
            assert status < 500, row
