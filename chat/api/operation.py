"""One declaration per operation: method and path, who may call it, how often, and what it reads.

A routes module makes a `Routes` and decorates its handlers; `chat.api.kernel` compiles what they declare into the table
that requests are matched against. A handler's arguments are the request, the areas and other parts
of the server that its annotations name (`chat.api.backend`), the members of the path by name (`*_id` are snowflakes,
the rest is text), and `body` and `query` where the declaration names their classes.
"""

from __future__ import annotations

import contextlib
from collections.abc import Awaitable, Callable, Hashable, Mapping, Sequence
from typing import Any, Final, TypeVar

import attrs

from chat.api.answers import NOT_STORED
from chat.api.answers import Answer as Answer
from chat.api.bodies import Receive
from chat.api.rate_limit import Bucket as Bucket
from chat.api.rate_limit import RateLimiter
from chat.api.schemas.shapes import Answers, ObjectShape, Shape
from chat.api.sudo import SudoFields
from chat.auth.policy import Acls
from chat.auth.policy import Policy as Policy
from chat.auth.principal import Principal
from chat.auth.turns import Asker
from chat.domain.policy.origins import Origins
from chat.domain.signing_in.sudo import SudoProof
from chat.errors import RateLimited
from chat.protocol.visible_text import visible
from chat.registries.scopes import Scope
from chat.store.guard import UNGUARDED, Guard

AUDIT_LOG_REASON_LENGTH: Final = 512
"""Characters; a longer X-Audit-Log-Reason is discarded (http.md, Client headers)."""


SUDO_HEADER: Final = "X-Service-Sudo-Mode-JWT"
"""Carries the sudo token, there and back (access.md, Sudo mode)."""


class Request:
    """What a handler knows of the request beside its path, query and body."""

    __slots__ = (
        "_limiter",
        "_origins",
        "_proof",
        "address",
        "authorizations",
        "caller",
        "guard",
        "headers",
        "id",
        "query_string",
        "receive",
    )

    def __init__(
        self,
        limiter: RateLimiter,
        origins: Origins,
        request_id: str,
        address: str,
        headers: Mapping[str, str],
        caller: Principal | None,
        receive: Receive,
        *,
        query_string: bytes = b"",
        authorizations: Sequence[str] = (),
    ) -> None:
        self._limiter: Final = limiter
        self._origins: Final = origins
        self.id: Final = request_id
        """The value of X-Request-ID."""
        self.address: Final = address
        """The client's address, IPv4 or IPv6 text."""
        self.headers: Final = headers
        """Request headers by lower-case name; of equal names the last."""
        self.caller = caller
        """Whomever the credential stands for; None only under Policy.NONE and Policy.GATEWAY_BOT."""
        self.guard: Guard = UNGUARDED
        """For the units of an operation that no account calls; elsewhere `principal.guard` is the same."""
        self.receive: Final = receive
        """The body as it arrives (ASGI's), for an operation that is declared as `streamed`."""
        self.query_string: Final = query_string
        """As it was sent, for an operation that has to see all of it."""
        self.authorizations: Final = authorizations
        """Every value of Authorization, for the operations where it is not one of this program's credentials."""
        self._proof: SudoProof | None = None

    @property
    def principal(self) -> Principal:
        """The caller of an operation whose policy asks for one."""
        if self.caller is None:
            raise TypeError("this operation's policy lets anyone in: ask for the caller")
        return self.caller

    def be_guarded(self, guard: Guard) -> Guard:
        """Hand the guard on with what the handler gets."""
        self.guard = guard
        if self.caller is not None:
            self.caller = attrs.evolve(self.caller, guard=guard)
        return guard

    @property
    def origin(self) -> str:
        """The origin for addresses in the answer to this request, and nowhere else."""
        return self._origins.of(self.headers.get("host"))

    @property
    def capabilities(self) -> frozenset[str]:
        """Client capabilities declared in X-Service-Features; empty without a session token (http.md, Client
        headers)."""
        return frozenset() if self.caller is None else self.caller.capabilities

    @property
    def audit_log_reason(self) -> str | None:
        """X-Audit-Log-Reason, trimmed; None when it is absent, empty or too long.

        Programs send other letters than those of Latin-1 as UTF-8, so bytes that are UTF-8 are read as such.
        """
        reason = self.headers.get("x-audit-log-reason", "")
        with contextlib.suppress(UnicodeDecodeError):
            reason = reason.encode("latin-1").decode("utf-8")
        reason = visible(reason).strip()
        return reason if 0 < len(reason) <= AUDIT_LOG_REASON_LENGTH else None

    def proof(self, fields: SudoFields) -> SudoProof:
        """What the request brings along for sudo mode, in its body and its header.

        Where `SudoMode.require` accepts it, the answer carries the sudo token that belongs to it.
        """
        self._proof = SudoProof(
            password=fields.password,
            mfa_method=fields.mfa_method,
            mfa_code=fields.mfa_code,
            webauthn_response=fields.webauthn_response,
            webauthn_challenge=fields.webauthn_challenge,
            token=self.headers.get("x-service-sudo-mode-jwt"),
            asker=Asker.at(self.address, self.principal.user_id),
            session_id_hash=self.principal.session_id_hash,
            guard=self.guard,
        )
        return self._proof

    @property
    def sudo_headers(self) -> Mapping[str, str]:
        """What a successful answer says of sudo mode."""
        token = None if self._proof is None else self._proof.answered
        return _NO_HEADERS if token is None else {SUDO_HEADER: token, **NOT_STORED}

    def limit(self, bucket: Bucket, key: Hashable) -> None:
        """Put one request into a bucket of the handler's own.

        :raises RateLimited: when it does not fit.
        """
        self.limit_all((bucket, key))

    def limit_all(self, *counted: tuple[Bucket, Hashable]) -> None:
        """As `limit`, with several buckets at once: a request that does not fit into one of them costs none of them.

        :raises RateLimited: when it does not fit.
        """
        retry_after = self._limiter.take_all(*counted)
        if retry_after:
            raise RateLimited(retry_after)


_NO_HEADERS: Final[Mapping[str, str]] = {}
_NO_EXTENSIONS: Final[Mapping[str, Any]] = {}

Handler = Callable[..., Awaitable[Any]]
H = TypeVar("H", bound=Handler)


@attrs.frozen(kw_only=True, eq=False)
class Operation:
    """A declared operation."""

    method: str
    path: str
    handler: Handler
    policy: Policy
    bucket: Bucket | None = None
    scope: Scope | None = None
    bots_refused_with: str | None = None
    acls: Acls = ()
    """Of each set the caller holds at least one; for Policy.ADMIN."""
    first_run: bool = False
    """Under Policy.ADMIN: whether it is open to the first account while the instance is not set up (access.md, First
    run)."""
    precondition: Callable[..., None] | None = None
    body: type[Any] | None = None
    form: type[Any] | None = None
    streamed: bool = False
    multipart: bool = False
    images: bool = False
    query: type[Any] | None = None
    empty_strings_are_null: bool = True
    accepts: Mapping[str, Shape] = attrs.field(factory=dict)
    """What a streamed operation reads by itself, by media type."""
    parameters: ObjectShape | None = None
    """The query that a handler reads by itself."""
    answers: Answers | None = None
    """What comes back when all is well; None where nobody has said yet."""
    secret: bool = False
    """Whether its answers carry what lets somebody in: nothing on the way may keep them."""
    same_origin: bool = False
    """Whether pages of other origins are kept out, and told nothing (`chat.api.same_origin`)."""
    name: str = ""
    """Of its own among all operations, and for good: programs are made of the OpenAPI document."""
    path_members: tuple[str, ...] = attrs.field(init=False)
    """The names of the path's members, in order."""

    @path_members.default
    def _members_of_the_path(self) -> tuple[str, ...]:
        return tuple(segment[1:-1] for segment in self.path.split("/") if segment.startswith("{"))

    @property
    def extensions(self) -> Mapping[str, Any]:
        """What the OpenAPI document says of it beside what everybody has to say; names begin with `x-`."""
        return _NO_EXTENSIONS


class Routes:
    """The operations of one routes module, in the order of their declaration; `same_origin` holds for all of them."""

    def __init__(self, *, same_origin: bool = False) -> None:
        self.operations: Final[list[Operation]] = []
        self._same_origin = same_origin

    def operation(
        self,
        method: str,
        path: str,
        *,
        policy: Policy,
        bucket: Bucket | None = None,
        scope: Scope | None = None,
        bots_refused_with: str | None = None,
        precondition: Callable[..., None] | None = None,
        body: type[Any] | None = None,
        form: type[Any] | None = None,
        streamed: bool = False,
        multipart: bool = False,
        images: bool = False,
        query: type[Any] | None = None,
        empty_strings_are_null: bool = True,
        accepts: Mapping[str, Shape] | None = None,
        parameters: ObjectShape | None = None,
        answers: Answers | None = None,
        secret: bool = False,
        name: str | None = None,
    ) -> Callable[[H], H]:
        """Declare the decorated coroutine function as the operation `method path`.

        A handler returns an object (200 with JSON), None (204) or an `Answer`. `scope` lets OAuth2 access tokens in;
        `bots_refused_with` is the code bots get where they may not call. `precondition` raises what is refused before
        path, query and body are looked at. `form` is a body in `application/x-www-form-urlencoded`, handed over as
        `body`; a `streamed` operation reads `request.receive` itself, and so does a `multipart` one when the body comes
        in `multipart/form-data`, which a `body` of None tells it. `images` lets bodies be as large as images are.
        `empty_strings_are_null=False` switches the normalisation of http.md, Empty values, off (message create and
        edit, webhook execute). `accepts` and `parameters` tell what a handler reads by itself. `answers` is what comes
        back: the shape of 200, NOTHING for 204, or shapes by status (`chat.api.schemas`); `secret` marks answers with
        tokens and the like. `name` is that of the handler unless it serves several operations.
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
                    precondition=precondition,
                    body=body,
                    form=form,
                    streamed=streamed,
                    multipart=multipart,
                    images=images,
                    query=query,
                    empty_strings_are_null=empty_strings_are_null,
                    accepts=accepts or {},
                    parameters=parameters,
                    answers=answers,
                    secret=secret,
                    same_origin=self._same_origin,
                    name=handler.__name__ if name is None else name,
                )
            )
            return handler

        return declare
