"""The ASGI application: every operation of the API in front of Quart-Trio, and what happens around each request.

Quart's routing and contexts cost several times as much as an operation. So a request for one is answered here: address
bans and chosen faults come before the route; what comes after it is the endpoint's (`chat.api.endpoint`). Everything
else goes Quart's own way: pages for people, and the 404 of an unknown path. Quart's sessions stay closed, because no
secret key is set: nothing in here sets or reads a cookie. WebSockets are the gateway's, on its own listener; here they
are refused. Errors on demand are the next requests' answers that a test chose (development.md, Development routes).
"""

from __future__ import annotations

import functools
import math
import random
import re
import uuid
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from typing import Any, Final, Protocol
from urllib.parse import unquote, urlsplit

import attrs
import structlog
from quart import Blueprint, Request, Response, request
from quart_trio import QuartTrio
from werkzeug.exceptions import HTTPException

from chat.api.answers import (
    NOT_STORED,
    Answer,
    Encoded,
    Send,
    Streamed,
    encode,
    refusal,
    send_streamed,
)
from chat.api.bodies import ClientGone, Receive
from chat.api.endpoint import Backend, Endpoint, Exchange
from chat.api.mounts import NO_MOUNTS, Mounts
from chat.api.operation import Operation, Routes
from chat.api.routing import RouteTable
from chat.auth.address_bans import AddressBans
from chat.auth.client_address import ClientAddresses, ConnectionCounts, parse_address
from chat.errors import ApiError, RateLimited
from chat.observation import SEEN, Observation, Observer, told, watching
from chat.registries.error_codes import STATUS_FALLBACKS, ErrorCode
from chat.registries.limits import JSON_BODY_BYTES

log: Final = structlog.get_logger("chat.api")

UNKNOWN_TO_PEOPLE: Final = frozenset({404, 405})
"""Statuses that are 404 NOT_FOUND here: the API does not tell which methods a path would take (http.md, Addresses)."""


class Pages(Protocol):
    """The pages for people, which live beside the API (`chat.web`)."""

    @property
    def blueprint(self) -> Blueprint:
        """Their routes."""

    async def not_found(self, asked: Request) -> Response | None:
        """What a person sees who followed a link to nowhere; None for a client that wants JSON."""


class ChatApp(QuartTrio):
    """The whole HTTP side of one server as an ASGI application."""

    def __init__(self, kernel: Kernel, pages: Pages | None = None, observers: Sequence[Observer] = ()) -> None:
        super().__init__("chat.api", static_folder=None, template_folder=None)
        self._kernel = kernel
        self._pages = pages
        self._observers = observers
        self.config["MAX_CONTENT_LENGTH"] = JSON_BODY_BYTES
        self.url_map.redirect_defaults = False
        self.register_error_handler(HTTPException, self._refuse)
        self.register_error_handler(ApiError, self._explain)
        self.register_error_handler(Exception, self._fail)
        self._unregistered = None if pages is None else pages.blueprint
        if observers:
            self.after_request(_note_route)

    async def asgi_app(self, scope: Any, receive: Receive, send: Send) -> None:
        """ASGI's entry; what is observed is told of when it is over."""
        if not self._observers or scope["type"] != "http":
            await self._answer(scope, receive, send)
            return
        scope[SEEN] = seen = Observation(scope["method"])
        try:
            await self._answer(scope, receive, watching(seen, send))
        finally:
            told(self._observers, seen)

    async def _answer(self, scope: Any, receive: Receive, send: Send) -> None:
        """The kernel first, then Quart."""
        if scope["type"] == "http" and await self._kernel.serve(scope, receive, send):
            return
        if scope["type"] == "websocket":
            await _refuse_websocket(scope, receive, send)
            return
        if self._unregistered is not None and scope["type"] == "http":
            # Its paths take long to compile, and those who only use the API never ask for a page.
            blueprint, self._unregistered = self._unregistered, None
            self.register_blueprint(blueprint)
        await super().asgi_app(scope, receive, self._kernel.noting_failures(scope, receive, send))

    # Quart runs a handler that is no coroutine in a thread, and virtual time would jump meanwhile.

    async def _refuse(self, error: HTTPException) -> Response:
        status = 404 if error.code in UNKNOWN_TO_PEOPLE else error.code or 500
        return await self._explain(ApiError(STATUS_FALLBACKS.get(status, ErrorCode.GENERAL_ERROR), status=status))

    async def _explain(self, error: ApiError) -> Response:
        page = await self._pages.not_found(request) if self._pages is not None and error.status == 404 else None
        return self._response(refusal(error)) if page is None else page

    async def _fail(self, error: Exception) -> Response:
        log.error("page failed", path=request.path, exc_info=error)
        return self._response(refusal(ApiError(ErrorCode.INTERNAL_SERVER_ERROR)))

    def _response(self, answer: Answer) -> Response:
        status, headers, body = encode(answer, self._kernel.request_id(request.headers.get("X-Request-ID")))
        return Response(body, status, {name.decode("ascii"): value.decode("latin-1") for name, value in headers})


async def _note_route(response: Response) -> Response:
    seen: Any = request.scope.get(SEEN)
    rule = request.url_rule
    if seen is not None and rule is not None:
        seen.route = rule.rule
    return response


async def _refuse_websocket(scope: Any, receive: Receive, send: Send) -> None:
    """Decline the handshake: as 404 where the server can say so, else by closing it."""
    await receive()
    if "websocket.http.response" not in (scope.get("extensions") or {}):
        await send({"type": "websocket.close", "code": 1000})
        return
    status, headers, body = encode(refusal(ApiError(ErrorCode.NOT_FOUND)), "websocket")
    await send({"type": "websocket.http.response.start", "status": status, "headers": headers})
    await send({"type": "websocket.http.response.body", "body": body, "more_body": False})


_REQUEST_ID: Final = re.compile(r"[A-Za-z0-9._-]{1,128}", re.ASCII)

_UNCOUNTED: Final = nullcontext()
_NOWHERE: Final[tuple[Mapping[str, Operation], list[str]]] = ({}, [])
"""Where an unknown path of a mount leads: to the 404 of its dialect."""


@attrs.define(eq=False)
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
    _bans: AddressBans = attrs.field(init=False)
    _table: RouteTable[Operation] = attrs.field(init=False)
    _endpoints: dict[Operation, Endpoint] = attrs.field(init=False, factory=dict)
    """Those that were asked for: compiling all of them takes longer than most tests' conversations."""

    def __attrs_post_init__(self) -> None:
        self._bans = self._backend.address_bans
        self._table = _table(tuple(operation for module in self._routes for operation in module.operations))

    async def serve(self, scope: Mapping[str, Any], receive: Receive, send: Send) -> bool:
        """Answer the request if it names a path of the API; False leaves it to Quart.

        `scope`, `receive` and `send` are ASGI's.
        """
        method, (path, dialect) = scope["method"], self._mounts.lead(_raw_path(scope))
        if dialect is not None:
            method, path = dialect.address(method, path)
        found = self._table.find(path)
        if found is None and dialect is None and self._faults is None and not self._bans:
            return False
        exchange = Exchange(scope, receive, self._addresses, self._mounts)
        exchange.id = self.request_id(exchange.headers.get("x-request-id"))
        if dialect is not None:
            exchange.speak(dialect, method, path)
        streamed = None
        shared = found is None or not any(operation.same_origin for operation in found[0].values())
        seen: Observation | None = scope.get(SEEN)
        try:
            self._bans.refuse(exchange.address, exchange.by_unnamed_proxy)
            if self._faults is not None:
                self._faults.raise_due(method, unquote(path))
            if found is None and dialect is None:
                return False
            targets, exchange.members = found or _NOWHERE
            if seen is not None and targets:
                seen.route = _declared_path(targets)
            with self._counted(exchange.address) if exchange.by_proxy else _UNCOUNTED:
                (status, headers, body), streamed = await self._answer(method, targets, exchange, shared=shared)
        except ApiError as error:
            status, headers, body = self._encode(refusal(error), exchange, shared=shared)
            if seen is not None and isinstance(error, RateLimited):
                seen.limit = error.scope
        except ClientGone:
            return True
        finally:
            if seen is not None:
                seen.request_id, seen.account_id = exchange.id, exchange.caller_id
        if status == 401:
            self._bans.note_failure(exchange.address)
        head_only = method == "HEAD"
        if streamed is not None:
            await send_streamed(streamed, headers, receive, send, head_only=head_only)
            return True
        await send({"type": "http.response.start", "status": status, "headers": headers})
        await send({"type": "http.response.body", "body": b"" if head_only else body})
        return True

    @contextmanager
    def _counted(self, address: str) -> Iterator[None]:
        """Count a request that a trusted proxy passes on towards its client's address, as others' connections are.

        :raises RateLimited: when that has as many under way as it may.
        """
        with self._per_address.connection(address) as has_room:
            if not has_room:
                raise RateLimited(1.0)
            yield

    def noting_failures(self, scope: Mapping[str, Any], receive: Receive, send: Send) -> Send:
        """`send` for an answer that is made elsewhere: a 401 counts towards the ban of the client's address."""

        async def noted(event: Any) -> None:
            if event["type"] == "http.response.start" and event["status"] == 401:
                self._bans.note_failure(Exchange(scope, receive, self._addresses, NO_MOUNTS).address)
            await send(event)

        return noted

    async def _answer(
        self, method: str, targets: Mapping[str, Operation], exchange: Exchange, *, shared: bool
    ) -> tuple[Encoded, Streamed | None]:
        operation = targets.get("GET" if method == "HEAD" else method)
        if not shared:
            require_same_origin(exchange.headers, self._backend.core.settings.public_url)
        if operation is None:
            if shared and method == "OPTIONS" and "access-control-request-method" in exchange.headers:
                return encode(Answer(204, headers=self._mounts.preflight_headers), exchange.id), None
            raise ApiError(ErrorCode.NOT_FOUND)
        try:
            answer = await self._endpoint(operation)(exchange)
            if operation.secret:
                answer = attrs.evolve(answer, headers={**NOT_STORED, **answer.headers})
            encoded = self._encode(answer, exchange, shared=shared)
            return encoded, answer if isinstance(answer, Streamed) else None
        except ApiError as error:
            if operation.secret:  # a refusal may carry the ticket of what comes next
                error.headers = {**NOT_STORED, **error.headers}
            raise
        except ClientGone:
            raise
        except Exception as error:
            # Whatever it is, it is ours: the client learns that much, the log learns the rest.
            log.exception("request failed", request_id=exchange.id, method=method, path=operation.path)
            raise ApiError(ErrorCode.INTERNAL_SERVER_ERROR) from error

    def _encode(self, answer: Answer, exchange: Exchange, *, shared: bool) -> Encoded:
        answer = self._mounts.also_named(answer)
        if exchange.dialect is not None:
            answer = exchange.dialect.say(answer, exchange)
        return encode(answer, exchange.id, shared=shared)

    def _endpoint(self, operation: Operation) -> Endpoint:
        endpoint = self._endpoints.get(operation)
        if endpoint is None:
            endpoint = Endpoint(operation, self._backend, in_threads=self._in_threads)
            self._endpoints[operation] = endpoint
        return endpoint

    def request_id(self, offered: str | None) -> str:
        """The caller's own id, if it is a plain word of up to 128 characters; else a new UUID."""
        if offered is not None and _REQUEST_ID.fullmatch(offered) is not None:
            return offered
        return str(uuid.UUID(int=self._chance.getrandbits(128), version=4))


def _declared_path(targets: Mapping[str, Operation]) -> str:
    return next(iter(targets.values())).path


@functools.lru_cache(maxsize=8)
def _table(operations: tuple[Operation, ...]) -> RouteTable[Operation]:
    """Where each path leads; made once for all servers of a process, of which the test kit starts many."""
    table: RouteTable[Operation] = RouteTable()
    for operation in operations:
        table.add(operation.method, operation.path, operation)
    return table


def _raw_path(scope: Mapping[str, Any]) -> str:
    """The path as it was sent, still percent-encoded, without query; of an absolute request target its path."""
    path: str = scope["raw_path"].decode("latin-1")
    return path if path.startswith("/") else urlsplit(path).path


def require_same_origin(headers: Mapping[str, str], public_url: str) -> None:
    """Let a request pass whose Host is loopback or that of `public_url`, and whose Origin, if any, is the same.

    So no page of another origin reaches the operations for this server's own pages and for programs on this machine. A
    browser names in Host what its address bar says and in Origin whose script it runs, and lets neither be forged: a
    name that another party's DNS leads to us is refused, as is every origin but ours, the opaque one (`null`) included.

    :raises ApiError: ACCESS_DENIED.
    """
    host = headers.get("host", "").lower()
    origin = headers.get("origin")
    is_ours = _is_loopback(host) or host == urlsplit(public_url).netloc.lower()
    if not is_ours or (origin is not None and origin.lower() not in {f"http://{host}", f"https://{host}"}):
        raise ApiError(ErrorCode.ACCESS_DENIED)


def _is_loopback(host: str) -> bool:
    try:
        name = urlsplit(f"//{host}").hostname
    except ValueError:
        return False
    address = parse_address(name or "")
    return name == "localhost" or (address is not None and address.is_loopback)


UNTOUCHED_PREFIX: Final = "/v1/_dev/"
"""Requests below it are never answered with a fault: they are how faults are set and taken back."""

FALLBACK_CODE: Final = ErrorCode.GENERAL_ERROR
DEFAULT_RETRY_SECONDS: Final = 1.0


@attrs.define
class HttpFault:
    """Requests to be answered with an error: `method` and `path` None match every one; `times` is what is left."""

    status: int
    times: int
    method: str | None = None
    path: str | None = None
    code: str | None = None
    retry_after: float | None = None
    """Seconds."""

    def matches(self, method: str, path: str) -> bool:
        """Whether the fault is meant for this request."""
        return self.method in (None, method) and self.path in (None, path)

    def error(self) -> ApiError:
        """The answer. A code that nobody registered is its own message."""
        code = STATUS_FALLBACKS.get(self.status, FALLBACK_CODE) if self.code is None else self.code
        known = ErrorCode.__members__.get(code)
        message = code if known is None else known.message
        error = self._error(DEFAULT_RETRY_SECONDS if self.retry_after is None else self.retry_after)
        error.code, error.status, error.message = code, self.status, message
        return error

    def _error(self, seconds: float) -> ApiError:
        if self.status == 429:
            return RateLimited(seconds)
        # Retry-After belongs to 503 as well (http.md, Answers), and to whatever a test asks it for.
        asked = self.status == 503 or self.retry_after is not None
        return ApiError(FALLBACK_CODE, headers={"Retry-After": str(max(1, math.ceil(seconds)))} if asked else {})


class HttpFaults:
    """The faults that wait for their requests, oldest first."""

    def __init__(self) -> None:
        self._faults: list[HttpFault] = []

    def add(self, fault: HttpFault) -> None:
        """From now on the fault waits for its requests."""
        self._faults.append(fault)

    def clear(self) -> None:
        """Forget every fault."""
        self._faults.clear()

    def raise_due(self, method: str, path: str) -> None:
        """Raise the oldest fault that is meant for this request, and count it. `path` is whole, without query.

        :raises ApiError: where there is one.
        """
        if not self._faults or path.startswith(UNTOUCHED_PREFIX):
            return
        for fault in self._faults:
            if fault.matches(method, path):
                fault.times -= 1
                if fault.times <= 0:
                    self._faults.remove(fault)
                raise fault.error()
