"""A request of the API: what its head says, and what becomes known of it until its answer."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Final

import attrs

from chat.api.answers import NOT_STORED, Encoded
from chat.api.bodies import Receive, comes_in_parts
from chat.api.fields import SudoFields
from chat.api.mounts import Dialect, Mounts
from chat.api.rate_limit import Bucket, RateLimiter
from chat.api.unread_members import UnreadMembers
from chat.auth.client_address import FORWARDED, FORWARDED_FOR, FORWARDED_HEADERS, TEST_HEADER, ClientAddresses
from chat.auth.credentials import Credential, parse_authorization
from chat.auth.passwords import Asker
from chat.auth.principal import Principal
from chat.classes import define
from chat.domain.policy.origins import Origins
from chat.domain.signing_in.sudo import SudoProof
from chat.errors import RateLimited
from chat.protocol.visible_text import visible
from chat.registries.error_codes import FieldCode
from chat.store.guard import UNGUARDED, Guard

AUDIT_LOG_REASON_LENGTH: Final = 512
"""Characters; a longer X-Audit-Log-Reason is discarded (http.md, Client headers)."""

SUDO_HEADER: Final = "X-Service-Sudo-Mode-JWT"
"""Carries the sudo token, there and back (access.md, Sudo mode)."""

CAPABILITIES_LIMIT: Final = 64
"""Names read from X-Service-Features (access.md, Client capabilities)."""

_REQUEST_ID: Final = re.compile(r"[A-Za-z0-9._-]{1,128}", re.ASCII)
_CAPABILITY: Final = re.compile(r"[a-z0-9_]{1,64}", re.ASCII)
_NO_CAPABILITIES: Final[frozenset[str]] = frozenset()
_NO_HEADERS: Final[Mapping[str, str]] = {}


def _declared(features: str) -> frozenset[str]:
    """The names in X-Service-Features (access.md, Client capabilities)."""
    names = (name.strip().lower() for name in features.split(",", CAPABILITIES_LIMIT)[:CAPABILITIES_LIMIT])
    return frozenset(name for name in names if _CAPABILITY.fullmatch(name))


class ReadHeaders:
    """What the API reads from a request's headers, shared by all requests of a connection with the same
    headers. `pairs` have names in lower case, `peer` is an IP address."""

    __slots__ = (
        "address",
        "authorizations",
        "by_proxy",
        "by_unnamed_proxy",
        "capabilities",
        "comes_in_parts",
        "credential",
        "fields",
        "request_id",
        "sender",
    )

    def __init__(self, pairs: Sequence[tuple[str, str]], peer: str, addresses: ClientAddresses, mounts: Mounts) -> None:
        self.fields: Final[dict[str, str]] = {}
        """The headers by name; of several with one name the last."""
        self.authorizations: Final[list[str]] = []
        forwarded_for: list[str] = []
        forwarded: list[str] = []
        is_forwarded = False
        for name, value in pairs:
            self.fields[name] = value
            if name == "authorization":
                self.authorizations.append(value)
            elif name in FORWARDED_HEADERS:
                is_forwarded = True
                if name == FORWARDED_FOR:
                    forwarded_for.append(value)
                elif name == FORWARDED:
                    forwarded.append(value)
        mounts.rename(self.fields)
        self.address: Final = addresses.of(peer, forwarded_for, self.fields.get(TEST_HEADER), forwarded)
        is_named = TEST_HEADER in self.fields
        self.sender: Final = addresses.of(peer, forwarded_for, None, forwarded) if is_named else self.address
        """The address that the request really comes from, even if a test makes it count as another one."""
        self.by_proxy: Final = is_forwarded and addresses.is_proxy(peer)
        self.by_unnamed_proxy: Final = is_forwarded and addresses.is_unnamed_proxy(peer)
        self.credential: Final = parse_authorization(self.authorizations)
        self.comes_in_parts: Final = comes_in_parts(self.fields)
        """Whether the body is a form with files."""
        declared = self.fields.get("x-service-features")
        self.capabilities: Final = _NO_CAPABILITIES if declared is None else _declared(declared)
        offered = self.fields.get("x-request-id")
        self.request_id: Final = offered if offered is not None and _REQUEST_ID.fullmatch(offered) else None
        """The caller's own id, if it is a plain word of up to 128 characters."""


@define(kw_only=True, eq=False)
class Request:
    """One request: what its handler may know beside path, query and body, and what its endpoint fills in."""

    read: ReadHeaders
    """What its headers say, which it shares with other requests of its connection."""
    id: str
    """The value of X-Request-ID."""
    address: str
    """The client's IP address, IPv4 or IPv6 text."""
    headers: dict[str, str]
    """Request headers by lower-case name; of equal names the last."""
    authorizations: list[str]
    """Every value of Authorization, for the operations where it is not one of this program's credentials."""
    credential: Credential | None
    """The credential in its headers, if its operation takes one."""
    query_string: bytes
    """The query string as it was sent, for operations that need all of it."""
    receive: Receive
    """The body as it arrives (ASGI's), for an operation that is declared as `streamed`."""
    arrived: Callable[[], bytes | None] | None = None
    """Gives the whole body if it has already arrived, so that no task has to wait for it."""
    body: bytes | None = attrs.field(default=None, init=False, repr=False)
    """The whole body, once it is received; a form or a stream is read by its own reader."""
    encode: Callable[..., Encoded]
    """How the answer is written."""
    members: Sequence[str] = attrs.field(default=(), init=False)
    """The members of the path, decoded, in order."""
    numbers: Sequence[int | FieldCode] = attrs.field(default=(), init=False)
    """Each of them as the snowflake that it is, or why it is none."""
    dialect: Dialect | None = attrs.field(default=None, init=False)
    """The dialect of the mount that was asked; None at the documented addresses."""
    path: str = attrs.field(default="", init=False)
    """The path that a dialect hears, in place of the mount."""
    unread: UnreadMembers | None = attrs.field(default=None, init=False)
    """What its body says and nothing reads; None where nobody wants to know."""
    now_ms: int = attrs.field(default=0, init=False)
    """When the caller was looked up, in Unix milliseconds."""
    waited: bool = attrs.field(default=False, init=False)
    """Whether something took time since then, such as the body on its way."""
    caller_id: int | None = attrs.field(default=None, init=False)
    """The account of the credential, even if the credential does not suffice for the request."""
    caller: Principal | None = attrs.field(default=None, init=False)
    """The account that the credential stands for; None only under Policy.NONE and Policy.GATEWAY_BOT."""
    principal: Principal = attrs.field(init=False)
    """The caller, for a handler whose policy demands one."""
    guard: Guard = attrs.field(default=UNGUARDED, init=False)
    """The guard for units of an operation without a caller; elsewhere `principal.guard` is the same."""
    _limiter: RateLimiter
    _origins: Origins
    brought_proof: SudoProof | None = attrs.field(default=None, init=False)
    """The proof that `proof` made."""

    def speak(self, dialect: Dialect, path: str) -> None:
        """The request is in this dialect; `path` is the one that it names, in place of the mount."""
        self.dialect, self.path = dialect, path
        # What was read belongs to the connection's other requests too.
        self.headers, self.authorizations = dict(self.headers), list(self.authorizations)
        dialect.hear(self)
        self.credential = parse_authorization(self.authorizations)

    @property
    def origin(self) -> str:
        """The origin for URLs in the answer to this request, and nowhere else."""
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
        """The proof for sudo mode from the request's body and header. If `SudoMode.require` accepts it, the answer
        carries the sudo token that belongs to it.
        """
        self.brought_proof = SudoProof(
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
        return self.brought_proof

    @property
    def sudo_headers(self) -> Mapping[str, str]:
        """The headers about sudo mode in a successful answer to a request with a proof."""
        token = None if self.brought_proof is None else self.brought_proof.answered
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
