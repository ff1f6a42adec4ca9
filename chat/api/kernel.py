"""Every operation of the API, and what happens around each request.

Address bans and chosen faults come before the route; what comes after it is the endpoint's (`chat.api.endpoint`). A
request comes here straight from its connection (`Kernel.serve`), or through the ASGI application where it went the
longer way (`Kernel.serve_asgi`): both have the same answer.
"""

from __future__ import annotations

import functools
import ipaddress
import random
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from typing import Any, Final, Protocol, cast
from urllib.parse import unquote, urlsplit

import attrs
import structlog
import trio

from chat.api.answers import (
    NOT_STORED,
    Answer,
    Encoded,
    EncodedPairs,
    RawHeaders,
    Send,
    Streamed,
    encode,
    encode_brief,
    refusal,
    send_streamed,
    with_pairs,
)
from chat.api.bodies import ClientGone, Receive
from chat.api.endpoint import Backend, Endpoint
from chat.api.fields import SNOWFLAKE, Refusal
from chat.api.http_connection import Call
from chat.api.http_faults import HttpFaults
from chat.api.kept_encodings import KeptEncodings
from chat.api.mounts import DOCUMENTED, NO_MOUNTS, Dialect, Mounts
from chat.api.operation import Operation, Routes
from chat.api.request import ReadHeaders, Request
from chat.api.routing import RouteTable, canonical
from chat.api.unread_members import UnreadNoting
from chat.auth.address_bans import AddressBans
from chat.auth.client_address import UNREADABLE, ClientAddresses, ConnectionCounts, parse_address
from chat.classes import define, frozen
from chat.config.settings import Settings
from chat.errors import ApiError, RateLimited
from chat.observation import CAUSE, SEEN, UNKNOWN, Observation, Observer, told, watching
from chat.registries.error_codes import ErrorCode, FieldCode

log: Final = structlog.get_logger("chat.api")


@frozen(eq=False)
class FoundOperation:
    """The operation to which a request leads. `method` and `path` are the documented ones, also for a request at a
    mount."""

    method: str
    path: str
    dialect: Dialect | None
    operations: Mapping[str, Operation]
    """By method; none for an unknown path of a mount, which leads to the 404 of its dialect."""
    members: list[str]
    """The values in the path, decoded, in order."""
    numbers: list[int | FieldCode] = attrs.field(init=False)
    """Each of them as the snowflake that it is, or why it is none."""
    asked: str
    """The path that was asked for at a mount, its prefix replaced; else `path`."""
    shared: bool = attrs.field(init=False)
    """Whether pages of other origins may read the answers."""
    route: str = attrs.field(init=False)
    """The path as it is declared, for those who look on."""

    @numbers.default
    def _numbers(self) -> list[int | FieldCode]:
        return [_snowflake(member) for member in self.members]

    @shared.default
    def _shared(self) -> bool:
        return not any(operation.same_origin for operation in self.operations.values())

    @route.default
    def _route(self) -> str:
        return next((operation.path for operation in self.operations.values()), UNKNOWN)


class RequestTap(Protocol):
    """Sees requests with their answers: under `chat dev`, the history (development.md, History)."""

    def began(self) -> tuple[int, int]:
        """The moment and the place in the history, to be handed back when the answer is there."""

    def answered(
        self,
        method: str,
        path: str,
        request: Request,
        operation: Operation | None,
        began: tuple[int, int],
        encoded: EncodedPairs,
    ) -> None:
        """The answer is about to be sent; that of a stream has no body yet. It must neither wait nor raise."""


LOOPBACK: Final = (ipaddress.ip_network("127.0.0.0/8"), ipaddress.ip_network("::1"))
NOT_NEAR: Final = "This is for programs on the server's own machine; `chat dev --allow NETWORK` lets others in."

FOUND_MAXIMUM: Final = 4_096
"""Paths whose way is remembered; all are forgotten when there are more."""

FOUND_LENGTH: Final = 160
"""Characters of a path that is remembered."""

_UNCOUNTED: Final = nullcontext()


@define(eq=False)
class Kernel:
    """Every operation of the API, and what happens around each.

    `chance` makes request ids; `faults` are the answers that a test asked for; `in_threads` False parses large bodies
    on the loop, because virtual time would jump while a thread works (architecture.md, Time and chance).
    """

    _backend: Backend
    _routes: Iterable[Routes]
    _addresses: ClientAddresses
    _chance: random.Random
    _per_address: ConnectionCounts
    _faults: HttpFaults | None = None
    _in_threads: bool = True
    _mounts: Mounts = NO_MOUNTS
    _noting: UnreadNoting | None = None
    """Notes what requests say and nothing reads, where somebody wants to know."""
    observers: Sequence[Observer] = ()
    """Are told of each request when it is over."""
    _tap: RequestTap | None = None
    _later: Callable[[], Iterable[Routes]] | None = None
    """Imports the operations that are not imported yet; None once all are."""
    _bans: AddressBans = attrs.field(init=False)
    _table: RouteTable[Operation] = attrs.field(init=False)
    _endpoints: dict[Operation, Endpoint] = attrs.field(init=False, factory=dict)
    """The endpoints that were used so far: compiling all of them would take longer than most tests do."""
    _found: dict[tuple[str, str], FoundOperation] = attrs.field(init=False, factory=dict)
    _encodings: KeptEncodings = attrs.field(init=False, factory=KeptEncodings)
    _ids: random.Random = attrs.field(init=False)
    _completing: trio.Lock = attrs.field(init=False, factory=trio.Lock)

    def __attrs_post_init__(self) -> None:
        self._bans = self._backend.address_bans
        # Ids of requests are no secrets, and each needs more of them than the system's chance gives quickly.
        self._ids = random.Random(self._chance.getrandbits(128))  # noqa: S311
        self._table = _table_of(self._routes)

    def find(self, method: str, path: str) -> FoundOperation | None:
        """What answers requests for a path (still percent-encoded); None if neither an operation nor a mount's dialect
        has the path."""
        found = self._found.get((method, path))
        if found is None:
            found = self._look_up(method, path)
            if found is not None and len(path) <= FOUND_LENGTH:
                if len(self._found) >= FOUND_MAXIMUM:
                    self._found.clear()
                self._found[method, path] = found
        return found

    def _look_up(self, method: str, path: str) -> FoundOperation | None:
        asked, dialect = self._mounts.lead(canonical(path))
        method, path = (method, asked) if dialect is None else dialect.address(method, asked)
        found = self._table.find(path)
        if found is not None:
            return FoundOperation(method, path, dialect, *found, asked)
        may_come = self._later is not None and path.startswith(DOCUMENTED)
        return None if dialect is None or may_come else FoundOperation(method, path, dialect, {}, [], asked)

    async def completed(self, path: str) -> bool:
        """Take in the operations that a start does not import, for a path that was not found. Whether any came: the
        path is worth another look then."""
        if self._later is None or not self._mounts.lead(canonical(path))[0].startswith(DOCUMENTED):
            return False
        async with self._completing:
            if self._later is not None:
                more = await trio.to_thread.run_sync(self._later) if self._in_threads else self._later()
                self._table = _table_of([*self._routes, *more])
                self._later = None
        return True

    async def serve(self, found: FoundOperation, call: Call) -> None:
        """Answer a request for a path that was found; nothing where the client left."""
        plain, receive = call.request, call.receive
        read: ReadHeaders | None = plain.block.read
        if read is None:
            read = plain.block.read = ReadHeaders(plain.block.pairs, call.peer, self._addresses, self._mounts)
        request = self._request(read, plain.query, receive, encode_brief, call.arrived)
        seen = Observation(plain.method) if self.observers else None
        CAUSE.set(seen)
        try:
            answered = await self._answered(found, found.method, found.path, request, seen)
            if answered is None:
                return
            (status, headers, body), streamed = answered
            head_only = plain.method == "HEAD"
            if streamed is not None:
                send = call.send if seen is None else watching(seen, call.send)
                await send_streamed(streamed, cast(RawHeaders, headers), receive, send, head_only=head_only)
                return
            if seen is not None:
                seen.note_answer(status)
                seen.bytes_sent = 0 if head_only else len(body)
            await call.send_whole(status, headers, body)
        finally:
            if seen is not None:
                told(self.observers, seen)

    async def serve_asgi(self, scope: Mapping[str, Any], receive: Receive, send: Send) -> bool:
        """Answer the request if it names a path of the API; False leaves it to Quart.

        `scope`, `receive` and `send` are ASGI's.
        """
        method, path = scope["method"], _raw_path(scope)
        found = self.find(method, path)
        if found is None and await self.completed(path):
            found = self.find(method, path)
        if found is not None:
            method, path = found.method, found.path
        read = self._read(scope)
        if found is None and self._faults is None and not self._bans and read.address != UNREADABLE:
            return False
        request = self._request(read, scope["query_string"], receive, encode)
        answered = await self._answered(found, method, path, request, scope.get(SEEN))
        if answered is None:
            return found is not None
        (status, headers, body), streamed = answered
        head_only = method == "HEAD"
        if streamed is not None:
            await send_streamed(streamed, cast(RawHeaders, headers), receive, send, head_only=head_only)
            return True
        await send({"type": "http.response.start", "status": status, "headers": headers})
        await send({"type": "http.response.body", "body": b"" if head_only else body})
        return True

    async def _answered(
        self, found: FoundOperation | None, method: str, path: str, request: Request, seen: Observation | None
    ) -> tuple[Encoded, Streamed | None] | None:
        """The answer, and what makes its body where that is streamed; None where nothing was found and nothing is to be
        refused, and for a client that left."""
        began = (0, 0) if self._tap is None else self._tap.began()
        if self._noting is not None:
            request.unread = self._noting.begin(mounted=found is not None and found.dialect is not None)
        if found is not None and found.dialect is not None:
            request.speak(found.dialect, found.asked)
        shared = found is None or found.shared
        streamed = None
        try:
            self._bans.refuse(request.address, request.read.by_unnamed_proxy)
            if self._faults is not None:
                self._faults.raise_due(method, unquote(path))
            if found is None:
                return None
            request.members, request.numbers = found.members, found.numbers
            if seen is not None:
                seen.route = found.route
            with self._counted(request.address) if request.read.by_proxy else _UNCOUNTED:
                encoded, streamed = await self._answer(method, found.operations, request, shared=shared)
        except ApiError as error:
            encoded = self._encode(refusal(error), request, shared=shared)
            if seen is not None and isinstance(error, RateLimited):
                seen.limit = error.scope
        except ClientGone:
            return None
        finally:
            if seen is not None:
                seen.request_id, seen.account_id = request.id, request.caller_id
        if self._noting is not None and found is not None and request.unread is not None:
            self._noting.tell(request.unread, f"{method} {found.route}")
        if encoded[0] == 401:
            self._bans.note_failure(request.address)
        if self._tap is not None:
            operation = None if found is None else found.operations.get(method)
            self._tap.answered(method, path, request, operation, began, with_pairs(encoded))
        return encoded, streamed

    @contextmanager
    def _counted(self, address: str) -> Iterator[None]:
        """Count a request that a trusted proxy passes on towards its client's address, as others' connections are.

        :raises RateLimited: when that has as many under way as it may.
        """
        with self._per_address.connection(address) as has_room:
            if not has_room:
                raise RateLimited(1.0)
            yield

    def _request(
        self,
        read: ReadHeaders,
        query_string: bytes,
        receive: Receive,
        encode: Callable[..., Encoded],
        arrived: Callable[[], bytes | None] | None = None,
    ) -> Request:
        return Request(
            read=read,
            id=read.request_id or self._new_id(),
            address=read.address,
            headers=read.fields,
            authorizations=read.authorizations,
            credential=read.credential,
            query_string=query_string,
            receive=receive,
            arrived=arrived,
            encode=encode,
            limiter=self._backend.limiter,
            origins=self._backend.core.origins,
        )

    def _read(self, scope: Mapping[str, Any]) -> ReadHeaders:
        pairs = [(name.decode("latin-1"), value.decode("latin-1")) for name, value in scope["headers"]]
        client = scope.get("client")
        return ReadHeaders(pairs, client[0] if client else "", self._addresses, self._mounts)

    def noting_failures(self, scope: Mapping[str, Any], send: Send) -> Send:
        """`send` for an answer that is made elsewhere: a 401 counts towards the ban of the client's address."""

        async def noted(event: Any) -> None:
            if event["type"] == "http.response.start" and event["status"] == 401:
                self._bans.note_failure(self._read(scope).address)
            await send(event)

        return noted

    async def _answer(
        self, method: str, targets: Mapping[str, Operation], request: Request, *, shared: bool
    ) -> tuple[Encoded, Streamed | None]:
        operation = targets.get("GET" if method == "HEAD" else method)
        if not shared:
            require_near(request.read, self._backend.core.settings)
        if operation is None:
            if shared and method == "OPTIONS" and "access-control-request-method" in request.headers:
                return request.encode(Answer(204, headers=self._mounts.preflight_headers), request.id), None
            raise ApiError(ErrorCode.NOT_FOUND)
        try:
            answer = await self._endpoint(operation)(request)
            if operation.secret:
                answer = attrs.evolve(answer, headers={**NOT_STORED, **answer.headers})
            encoded = self._encode(answer, request, shared=shared, kept=operation.kept)
            return encoded, answer if isinstance(answer, Streamed) else None
        except ApiError as error:
            if operation.secret:  # a refusal may carry the ticket of what comes next
                error.headers = {**NOT_STORED, **error.headers}
            raise
        except ClientGone:
            raise
        except Exception as error:
            # The fault is the server's: the client learns only that, the log has the rest.
            log.exception("request failed", request_id=request.id, method=method, path=operation.path)
            raise ApiError(ErrorCode.INTERNAL_SERVER_ERROR) from error

    def _encode(
        self, answer: Answer, request: Request, *, shared: bool, kept: tuple[str, ...] | None = None
    ) -> Encoded:
        if request.unread is not None and request.unread.names:
            answer = attrs.evolve(answer, headers={**answer.headers, **request.unread.header})
        if answer.headers:
            answer = self._mounts.also_named(answer)
        if request.dialect is not None:
            answer = request.dialect.say(answer, request)
        elif kept is not None and answer.status == 200:
            answer = self._encodings.answer(answer, kept, request.headers.get("if-none-match"))
        if isinstance(answer, Streamed):
            return encode(answer, request.id, shared=shared)
        return request.encode(answer, request.id, shared=shared)

    def _endpoint(self, operation: Operation) -> Endpoint:
        endpoint = self._endpoints.get(operation)
        if endpoint is None:
            endpoint = Endpoint(operation, self._backend, in_threads=self._in_threads)
            self._endpoints[operation] = endpoint
        return endpoint

    def request_id(self, scope: Mapping[str, Any]) -> str:
        """The id of a request that is answered elsewhere: the caller's own where it is a plain word, else a new one."""
        return self._read(scope).request_id or self._new_id()

    def _new_id(self) -> str:
        """A new id: a UUID of version 4."""
        bits = self._ids.getrandbits(128) & ~(0xF000 << 64 | 0xC000 << 48) | 0x4000 << 64 | 0x8000 << 48
        text = f"{bits:032x}"
        return f"{text[:8]}-{text[8:12]}-{text[12:16]}-{text[16:20]}-{text[20:]}"


def _table_of(modules: Iterable[Routes]) -> RouteTable[Operation]:
    return _table(tuple(operation for module in modules for operation in module.operations))


@functools.lru_cache(maxsize=8)
def _table(operations: tuple[Operation, ...]) -> RouteTable[Operation]:
    """The targets of all paths; made once for all servers of a process, since the test kit starts many."""
    table: RouteTable[Operation] = RouteTable()
    for operation in operations:
        table.add(operation.method, operation.path, operation)
    return table


def _snowflake(member: str) -> int | FieldCode:
    try:
        return SNOWFLAKE.read(member)
    except Refusal as refused:
        return refused.code


def _raw_path(scope: Mapping[str, Any]) -> str:
    """The path as it was sent, still percent-encoded, without query; of an absolute request target its path."""
    path: str = scope["raw_path"].decode("latin-1")
    return path if path.startswith("/") else urlsplit(path).path


def require_near(read: ReadHeaders, settings: Settings) -> None:
    """Let a request pass that comes from this machine, or from a network of the setting `dev_allow`, and that
    `require_same_origin` lets pass: who reaches the port may give itself any Host.

    Through a proxy that is not trusted everybody comes, so that only a network of all addresses opens to it.

    :raises ApiError: ACCESS_DENIED.
    """
    sender = parse_address(read.sender)
    allowed = [ipaddress.ip_network(network) for network in settings.dev_allow]
    if read.by_unnamed_proxy:
        allowed = [network for network in allowed if network.prefixlen == 0]
    else:
        allowed += LOOPBACK
    is_own = read.sender == settings.host and not read.by_unnamed_proxy
    if sender is None or not (is_own or any(sender in network for network in allowed)):
        raise ApiError(ErrorCode.ACCESS_DENIED, NOT_NEAR)
    require_same_origin(read.fields, settings.public_url, by_number=bool(settings.dev_allow))


def require_same_origin(headers: Mapping[str, str], public_url: str, *, by_number: bool = False) -> None:
    """Let a request pass whose Host is loopback or that of `public_url`, or with `by_number` any address in digits, and
    whose Origin, if any, is the same.

    So no page of another origin reaches the operations for this server's own pages and for programs on this machine. A
    browser names in Host what its address bar says and in Origin whose script it runs, and lets neither be forged: a
    name that another party's DNS leads to us is refused, as is every origin but ours, the opaque one (`null`) included.

    :raises ApiError: ACCESS_DENIED.
    """
    host = headers.get("host", "").lower()
    origin = headers.get("origin")
    is_ours = _is_loopback(host) or host == urlsplit(public_url).netloc.lower() or (by_number and _is_number(host))
    if not is_ours or (origin is not None and origin.lower() not in {f"http://{host}", f"https://{host}"}):
        raise ApiError(ErrorCode.ACCESS_DENIED)


def _is_loopback(host: str) -> bool:
    name = _name_of(host)
    address = parse_address(name)
    return name == "localhost" or (address is not None and address.is_loopback)


def _is_number(host: str) -> bool:
    """Whether the host is an address in digits, to which nobody else's DNS can lead a browser."""
    return parse_address(_name_of(host)) is not None


def _name_of(host: str) -> str:
    try:
        return urlsplit(f"//{host}").hostname or ""
    except ValueError:
        return ""
