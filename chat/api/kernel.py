"""Every operation of the API, and what happens around each request.

This runs in front of Quart, whose routing and contexts cost several times as much. Address bans and chosen faults come
before the route; what comes after it is the endpoint's (`chat.api.endpoint`).
"""

from __future__ import annotations

import functools
import random
import re
import uuid
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from typing import Any, Final
from urllib.parse import urlsplit

import attrs
import structlog

from chat.api.answers import (
    NOT_STORED,
    PREFLIGHT_HEADERS,
    Answer,
    Encoded,
    Send,
    Streamed,
    encode,
    refusal,
    send_streamed,
)
from chat.api.bodies import (
    ClientGone,
    Receive,
)
from chat.api.endpoint import Backend, Endpoint, Exchange
from chat.api.faults import HttpFaults
from chat.api.operation import Operation, Routes
from chat.api.routing import RouteTable
from chat.auth.address_bans import AddressBans
from chat.auth.client_address import ClientAddresses, ConnectionCounts, parse_address
from chat.errors import ApiError, RateLimited
from chat.observation import SEEN, Observation
from chat.registries.error_codes import ErrorCode

_REQUEST_ID: Final = re.compile(r"[A-Za-z0-9._-]{1,128}", re.ASCII)

_UNCOUNTED: Final = nullcontext()

log: Final = structlog.get_logger("chat.api")


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
        path = _raw_path(scope)
        found = self._table.find(path)
        if found is None and self._faults is None and not self._bans:
            return False
        exchange = Exchange(scope, receive, self._addresses)
        exchange.id = self.request_id(exchange.headers.get("x-request-id"))
        streamed = None
        shared = found is None or not any(operation.same_origin for operation in found[0].values())
        seen: Observation | None = scope.get(SEEN)
        try:
            self._bans.refuse(exchange.address, exchange.by_unnamed_proxy)
            if self._faults is not None:
                self._faults.raise_due(scope["method"], scope["path"])
            if found is None:
                return False
            targets, exchange.members = found
            if seen is not None:
                seen.route = _declared_path(targets)
            with self._counted(exchange.address) if exchange.by_proxy else _UNCOUNTED:
                (status, headers, body), streamed = await self._answer(
                    scope["method"], targets, exchange, shared=shared
                )
        except ApiError as error:
            status, headers, body = encode(refusal(error), exchange.id, shared=shared)
            if seen is not None and isinstance(error, RateLimited):
                seen.limit = error.scope
        except ClientGone:
            return True
        finally:
            if seen is not None:
                seen.request_id, seen.account_id = exchange.id, exchange.caller_id
        if status == 401:
            self._bans.note_failure(exchange.address)
        head_only = scope["method"] == "HEAD"
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
                self._bans.note_failure(Exchange(scope, receive, self._addresses).address)
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
                return encode(Answer(204, headers=PREFLIGHT_HEADERS), exchange.id), None
            raise ApiError(ErrorCode.NOT_FOUND)
        try:
            answer = await self._endpoint(operation)(exchange)
            if operation.secret:
                answer = attrs.evolve(answer, headers={**NOT_STORED, **answer.headers})
            return encode(answer, exchange.id, shared=shared), answer if isinstance(answer, Streamed) else None
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
