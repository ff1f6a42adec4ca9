"""One declaration per administrative operation: what `chat.api.operation` has, with the ACLs it asks for and the action
under which the audit log knows it.

    @routes.admin_operation("GET", "/v1/admin/users/{user_id}", acls=[Acl.USER_LOOKUP], audit=AdminAction.GET_USER, ...)

`admin:authenticate` or the wildcard is asked of every caller and never named (access.md, Admin credentials). Each
entry of `acls` is needed; one that is a tuple is satisfied by any of its members, as in `(Acl.APPLICATION_LOOKUP,
Acl.APPLICATION_LIST_BY_OWNER)`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

import attrs

from chat.api.operation import Handler, Operation, Routes
from chat.api.rate_limit import Bucket
from chat.api.schemas.shapes import Answers
from chat.auth.policy import Policy
from chat.registries.acls import Acl
from chat.registries.admin_actions import AdminAction

H = TypeVar("H", bound=Handler)


@attrs.frozen(kw_only=True, eq=False)
class AdminOperation(Operation):
    """A declared administrative operation."""

    audit: AdminAction | None
    """The action of its entry in the audit log; None for an operation that leaves none."""

    @property
    def extensions(self) -> Mapping[str, Any]:
        """Under which name the audit log knows it."""
        return {} if self.audit is None else {"x-audit-action": self.audit.value}


class AdminRoutes(Routes):
    """The operations of one module of administrative routes."""

    def admin_operation(
        self,
        method: str,
        path: str,
        *,
        acls: Sequence[Acl | tuple[Acl, ...]],
        audit: AdminAction | None,
        bucket: Bucket,
        first_run: bool = False,
        precondition: Callable[..., None] | None = None,
        body: type[Any] | None = None,
        query: type[Any] | None = None,
        answers: Answers | None = None,
        secret: bool = False,
    ) -> Callable[[H], H]:
        """Declare the decorated coroutine function as the operation `method path`; see `Routes.operation`.

        `first_run` opens it to the first account while the instance is not set up
        (`chat.domain.administration.instance_setup`).
        """

        def declare(handler: H) -> H:
            self.operations.append(
                AdminOperation(
                    method=method,
                    path=path,
                    handler=handler,
                    policy=Policy.ADMIN,
                    acls=[frozenset(acl) if isinstance(acl, tuple) else frozenset({acl}) for acl in acls],
                    audit=audit,
                    bucket=bucket,
                    first_run=first_run,
                    precondition=precondition,
                    body=body,
                    query=query,
                    answers=answers,
                    secret=secret,
                    name=f"admin_{handler.__name__}",
                )
            )
            return handler

        return declare
