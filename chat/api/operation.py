"""One declaration per operation: method and path, who may call it, how often, and what it reads.

A routes module makes a `Routes` and decorates its handlers; `chat.api.app` compiles what they declare into the table
that requests are matched against. A handler's arguments are the request, the members of the path by name (`*_id` are
snowflakes, the rest is text), and `body` and `query` where the declaration names their classes.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, TypeVar

import attrs

from chat.auth.policy import Policy as Policy
from chat.auth.principal import Principal
from chat.registries.scopes import Scope

if TYPE_CHECKING:
    from chat.api.services import Services


@attrs.frozen
class Bucket:
    """A rate limit: `limit` requests leak away within `window_ms`.

    `name` ends in `::member` for each member of the path that counts by itself, as in
    `channel:message:create::channel_id`.
    """

    name: str
    limit: int
    window_ms: int


@attrs.frozen
class Answer:
    """An answer with a status or headers of its own. `body` is an object for JSON; None sends no body."""

    status: int = 200
    body: Any = None
    headers: Sequence[tuple[str, str]] = ()


class Request:
    """What a handler knows of the request beside its path, query and body."""

    __slots__ = ("address", "audit_log_reason", "caller", "capabilities", "headers", "id", "services")

    services: Services
    id: str
    """The value of X-Request-ID."""
    address: str
    """The client's address, IPv4 or IPv6 text."""
    caller: Principal | None
    """Whoever the credential stands for; None only under Policy.NONE."""
    capabilities: frozenset[str]
    """Client capabilities declared in X-Service-Features (wire facts 3.3); empty without a session token."""
    headers: Mapping[str, str]
    """Request headers by lower-case name; the last of equal names counts."""
    audit_log_reason: str | None

    @property
    def principal(self) -> Principal:
        """The caller of an operation whose policy asks for one."""
        if self.caller is None:
            raise TypeError("this operation's policy lets anyone in: ask for the caller")
        return self.caller


Handler = Callable[..., Awaitable[Any]]
H = TypeVar("H", bound=Handler)


@attrs.frozen(kw_only=True)
class Operation:
    """A declared operation."""

    method: str
    path: str
    handler: Handler
    policy: Policy
    bucket: Bucket | None = None
    scope: Scope | None = None
    bots_refused_with: str | None = None
    body: type[Any] | None = None
    query: type[Any] | None = None
    empty_strings_are_null: bool = True


class Routes:
    """The operations of one routes module, in the order of their declaration."""

    def __init__(self) -> None:
        self.operations: Final[list[Operation]] = []

    def operation(
        self,
        method: str,
        path: str,
        *,
        policy: Policy,
        bucket: Bucket | None = None,
        scope: Scope | None = None,
        bots_refused_with: str | None = None,
        body: type[Any] | None = None,
        query: type[Any] | None = None,
        empty_strings_are_null: bool = True,
    ) -> Callable[[H], H]:
        """Declare the decorated coroutine function as the operation `method path`.

        A handler returns an object (200 with JSON), None (204) or an `Answer`. `scope` lets OAuth2 access tokens in;
        `bots_refused_with` is the code bots get where they may not call. `empty_strings_are_null=False` switches the
        normalisation of wire facts 3.2 off (message create and edit, webhook execute).
        """

        def declare(handler: H) -> H:
            self.operations.append(
                Operation(
                    method=method,
                    path=path,
                    handler=handler,
                    policy=policy,
                    bucket=bucket,
                    scope=scope,
                    bots_refused_with=bots_refused_with,
                    body=body,
                    query=query,
                    empty_strings_are_null=empty_strings_are_null,
                )
            )
            return handler

        return declare
