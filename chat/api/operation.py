"""One declaration per operation: method and path, who may call it, how often, and what it reads.

A routes module makes a `Routes` and decorates its handlers; `chat.api.kernel` compiles what they declare into the table
that requests are matched against. A handler's arguments are the request, the areas and other parts
of the server that its annotations name (`chat.api.endpoint`), the members of the path by name (`*_id` are snowflakes,
the rest is text), and `body` and `query`, read as what they are annotated with unless the declaration says otherwise.
"""

from __future__ import annotations

import enum
import functools
from collections.abc import Awaitable, Callable, Mapping
from inspect import unwrap
from types import SimpleNamespace
from typing import Any, Concatenate, Final, ParamSpec, Protocol, TypeVar, cast, get_type_hints

import attrs

from chat.api.answers import Answer as Answer
from chat.api.rate_limit import Bucket as Bucket
from chat.api.request import Request as Request
from chat.api.schemas.shapes import NOTHING, Answers, ObjectShape, Shape, by_status
from chat.auth.policy import Acls
from chat.auth.policy import Policy as Policy
from chat.classes import define
from chat.config import Settings
from chat.registries.error_codes import ErrorCode
from chat.registries.scopes import Scope

_NO_EXTENSIONS: Final[Mapping[str, Any]] = {}

PAYLOAD_JSON: Final = "payload_json"
"""The field of a form that holds a message (messages.md, Sending messages)."""

Handler = Callable[..., Awaitable[Any]]
H = TypeVar("H", bound=Handler)
P = ParamSpec("P")


class InstanceKind(enum.Enum):
    """The kind of instance that an operation is for; on another one it refuses with the code (access.md, Account
    gates; administration.md, Store purchases)."""

    EMAIL = ErrorCode.EMAIL_UNAVAILABLE_ON_INSTANCE
    """Accounts sign in with an email address."""
    USERNAME = ErrorCode.USERNAME_SIGN_IN_ONLY
    """Accounts sign in with a username."""
    HOSTED = ErrorCode.NOT_FOUND
    """The instance is not self-hosted."""

    @property
    def refusal(self) -> ErrorCode:
        """The code on another instance."""
        return ErrorCode[self.value]

    def is_kind_of(self, settings: Settings) -> bool:
        """Whether an instance with these settings is of this kind."""
        if self is InstanceKind.HOSTED:
            return not settings.self_hosted
        return (settings.sign_in == "username") is (self is InstanceKind.USERNAME)


@define(kw_only=True, eq=False)
class Operation:
    """A declared operation: its whole contract. `Routes.operation` takes the same arguments, and so does `Routes` for
    what the operations of one module share."""

    method: str = attrs.field(init=False)
    path: str = attrs.field(init=False)
    handler: Handler = attrs.field(init=False)
    name: str = ""
    """A unique name that never changes, because programs are generated from the OpenAPI document. By default the
    handler's name; a handler of several operations names each."""

    # Who may call it, and how often

    policy: Policy = attrs.field(default=None)
    """Named here or for the module: there is none that holds by itself."""
    scope: Scope | None = None
    """The OAuth2 scope with which access tokens may call it; None refuses them."""
    bots_refused_with: ErrorCode | None = None
    """The error code for bots that may not call it."""
    acls: Acls = ()
    """The caller must hold at least one ACL of each set; for Policy.ADMIN."""
    bucket: Bucket | None = None
    closed_to_limited: bool = False
    """Whether it refuses a limited account with ACCOUNT_LIMITED (access.md, Account gates). The documents name the gate
    and leave the operations to the instance. Opening a conversation is limited only towards an account never written
    to, so the conversations themselves ask for that."""
    closed_by_sso: bool = False
    """Whether it refuses with SSO_REQUIRED while single sign-on is enforced (access.md, Single sign-on enforcement)."""
    asks_captcha: bool = False
    """Whether a caller without a valid credential has to solve a CAPTCHA where the instance has one (http.md, CAPTCHA;
    access.md, Credential policies)."""
    instance: InstanceKind | None = None
    """The only kind of instance that has it; None for all."""
    precondition: Callable[..., None] | None = None
    """Called before path, query and body are read; raises a refusal."""
    same_origin: bool = False
    """Whether pages of other origins are kept out, and told nothing (`chat.api.kernel`)."""

    # What it reads

    body: type[Any] | None = None
    """The class of the body; by default the annotation of the handler's parameter `body`. `query` works the same
    way."""
    form: type[Any] | None = None
    """The class of a body in `application/x-www-form-urlencoded`; the handler gets it as `body`."""
    streamed: bool = False
    """Whether the handler reads `request.receive` itself."""
    multipart: bool = False
    """Whether the handler reads a `multipart/form-data` body itself; its `body` is then None."""
    payload_field: str | None = None
    """The field of a form that may hold the whole body as JSON; where there is one, the body may come as a form
    (`chat.api.form_bodies`). `payload_json` where files come along and nothing else is said."""
    images: bool = False
    """Whether bodies may be as large as images are."""
    query: type[Any] | None = None
    empty_strings_are_null: bool = True
    """The normalisation of http.md, Empty values; off for message create and edit, and webhook execute."""
    accepts: Mapping[str, Shape] = attrs.field(factory=dict)
    """The media types that a streamed operation reads itself, with their shapes."""
    parameters: ObjectShape | None = None
    """The shape of a query that the handler reads itself."""
    client_credentials: bool = False
    """Whether an OAuth2 client shows its id and secret (RFC 6749 2.3.1)."""

    # What comes back

    told: Answers | Callable[[], Mapping[int, Any]] | None = attrs.field(default=None, alias="answers")
    """When all is well, where that is not 200 with what the handler returns (204 where it returns None): a shape, or a
    function that answers types or shapes by status. `answers` has the shapes."""
    kept: tuple[str, ...] | None = None
    """Whether the answer has an entity tag, and which members of the object in it are rendered once per change, so that
    they are encoded once (`chat.api.kept_encodings`); empty where all of the answer is."""
    secret: bool = False
    """Whether its answers carry secrets such as tokens, so that no cache may store them."""
    oauth2_errors: bool = False
    """Whether the OAuth2 protocol refuses in its own words with 400 and 401 (RFC 6749 5.2)."""

    path_members: tuple[str, ...] = attrs.field(default=(), init=False)
    """The names of the path's members, in order."""

    def declare(self, method: str, path: str, handler: Handler) -> None:
        """Say what is declared: once, when the module is imported.

        :raises TypeError: when neither the operation nor its module names a policy.
        """
        if not isinstance(self.policy, Policy):
            raise TypeError(f"{method} {path} names no policy")
        self.method, self.path, self.handler = method, path, handler
        self.name = self.name or handler.__name__
        self.path_members = tuple(segment[1:-1] for segment in path.split("/") if segment.startswith("{"))
        types = _types_of(handler, "body", "query")
        if self.body is None and self.form is None:
            self.body = types.get("body")
        if self.query is None:
            self.query = types.get("query")
        if self.multipart and self.payload_field is None:
            self.payload_field = PAYLOAD_JSON

    @functools.cached_property
    def answers(self) -> Mapping[int, Shape]:
        """The shape of each answer when all is well, by status (`chat.wire`). Reads declarations: not for a start."""
        from chat.api.schemas.declared import answer_shape, returned

        told = self.told
        if told is None:
            shapes = by_status(answer_shape(returned(self.handler)))
        elif isinstance(told, Shape | Mapping):
            shapes = by_status(told)
        else:
            shapes = {status: answer_shape(what) for status, what in told().items()}
        return shapes if self.kept is None else {**shapes, 304: NOTHING}

    @property
    def changes(self) -> bool:
        """Whether the operation is there to change something."""
        return self.method != "GET"

    @property
    def reads_body(self) -> bool:
        """Whether a body is read before the handler is called."""
        return self.body is not None or self.form is not None

    @property
    def extensions(self) -> Mapping[str, Any]:
        """The operation's extensions in the OpenAPI document; their names begin with `x-`."""
        return _NO_EXTENSIONS


# `dict[str, Any]`: an annotation may be anything.
def _types_of(handler: Handler, *names: str) -> dict[str, Any]:
    """The annotations of these parameters. Further ones are read when the operation is first used: reading all of them
    would take a thirtieth of the start."""
    written = {name: handler.__annotations__[name] for name in names if name in handler.__annotations__}
    if not written:
        return written
    return get_type_hints(SimpleNamespace(__annotations__=written), unwrap(handler).__globals__, include_extras=True)


class Declare(Protocol):
    """Decorates a handler, which stays as it is."""

    def __call__(self, handler: H, /) -> H: ...


def declaring(kind: Callable[P, Operation]) -> Callable[Concatenate[Routes, str, str, P], Declare]:
    """The method of a `Routes` that declares operations of a kind: it takes method, path and what the kind takes."""

    def operation(self: Routes, method: str, path: str, /, *named: P.args, **contract: P.kwargs) -> Declare:
        def declare(handler: H) -> H:
            declared = cast(Callable[..., Operation], kind)(*named, **{**self.shared, **contract})
            declared.declare(method, path, handler)
            self.operations.append(declared)
            return handler

        return declare

    return operation


class Routes:
    """The operations of one routes module, in the order of their declaration. `shared` is what holds for each that does
    not say otherwise, by the names of `Operation`.

    A handler returns an object (200 with JSON), None (204) or an `Answer`.
    """

    def __init__(self, **shared: Any) -> None:
        self.operations: Final[list[Operation]] = []
        self.shared: Final[Mapping[str, Any]] = shared

    operation = declaring(Operation)
