"""One declaration per administrative operation: what `chat.api.operation` has, with the ACLs it asks for and the action
under which the audit log knows it.

    @routes.admin_operation("GET", "/v1/admin/users/{user_id}", [Acl.USER_LOOKUP], AdminAction.GET_USER, answers=USERS)

`admin:authenticate` or the wildcard is asked of every caller and never named (access.md, Admin credentials). Each
entry of `acls` is needed; one that is a tuple is satisfied by any of its members, as in `(Acl.APPLICATION_LOOKUP,
Acl.APPLICATION_LIST_BY_OWNER)`.

An operation that names no bucket is counted in LOOKUP if it reads and in MODIFY if it changes something.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import attrs

from chat.admin import buckets
from chat.api.operation import Bucket, Handler, Operation, Request, Routes, declaring
from chat.auth.policy import Acls, Policy
from chat.classes import define
from chat.domain.administration.admin_audit_log import Acting
from chat.registries.acls import Acl
from chat.registries.admin_actions import AdminAction


def _alternatives(acls: Iterable[Acl | tuple[Acl, ...]]) -> Acls:
    return tuple(frozenset(acl) if isinstance(acl, tuple) else frozenset({acl}) for acl in acls)


@define(eq=False)
class AdminOperation(Operation):
    """A declared administrative operation."""

    policy: Policy = attrs.field(default=Policy.ADMIN, init=False)
    acls: Acls = attrs.field(converter=_alternatives)
    audit: AdminAction | None
    """The action of its entry in the audit log; None for an operation that leaves none."""
    bucket_of_changes: Bucket = attrs.field(default=buckets.MODIFY, kw_only=True)
    """Where it is counted if it changes something and names no bucket: for a module, at `AdminRoutes`."""

    def declare(self, method: str, path: str, handler: Handler) -> None:
        """As for other operations, under a name of its own."""
        self.name = f"admin_{handler.__name__}"
        if self.bucket is None:
            self.bucket = buckets.LOOKUP if method == "GET" else self.bucket_of_changes
        super().declare(method, path, handler)

    @property
    def extensions(self) -> Mapping[str, Any]:
        """Under which name the audit log knows it."""
        return {} if self.audit is None else {"x-audit-action": self.audit.value}


class AdminRoutes(Routes):
    """The operations of one module of administrative routes."""

    admin_operation = declaring(AdminOperation)


def acting(request: Request) -> Acting:
    """The administrator behind the request, with the reason that its header gives."""
    return Acting(request.principal, request.audit_log_reason)
