"""The way of a request through the API, the same for every operation.

    address ban > route > single sign-on > CAPTCHA > global limit > bucket > credential > policy > account gate
          > room on the bus > precondition > path, query, body > credential and policy again, after a body > handler
          > of an administrator: credential and policy again, in the first unit that is written

The credential is looked up first, because whose bucket a request goes into depends on it, but a missing or wrong one is
refused only after the limits (http.md, Order of checks). Administrative operations judge the caller before they count
in the operation's bucket (http.md, Order of checks), those on threads before any limit. A body may take its time: a
credential that was revoked while it came is not good for what it asks.

Everything that can be prepared is prepared
when the operations are compiled, so that a request allocates little: this runs in front of Quart, whose routing and
contexts cost several times as much.
"""

from __future__ import annotations

import functools
import random
import re
import sqlite3
import uuid
from collections.abc import Awaitable, Callable, Hashable, Iterable, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from typing import Any, Final
from urllib.parse import urlsplit

import attrs
import structlog
import trio

from chat.api.answers import NOT_STORED, PREFLIGHT_HEADERS, Answer, Encoded, Streamed, answer_of, encode, refusal
from chat.api.backend import Backend
from chat.api.bodies import BodyChunks, ClientGone, Receive, announces_little, comes_in_parts, read_body
from chat.api.exchange import Exchange
from chat.api.faults import HttpFaults
from chat.api.fields import SNOWFLAKE, Refusal
from chat.api.operation import Operation, Request, Routes
from chat.api.parsing import parse_json, parse_query
from chat.api.rate_limit import GLOBAL, HIGH_GLOBAL, limit_headers
from chat.api.routing import RouteTable
from chat.api.same_origin import require_same_origin
from chat.api.streaming import send_streamed
from chat.api.structuring import body_structure, query_structure, repeated_names
from chat.auth.client_address import ClientAddresses, network_of
from chat.auth.connection_counts import ConnectionCounts
from chat.auth.credentials import Credential, parse_authorization
from chat.auth.policy import ADMITTED_BEFORE_BUCKET, ADMITTED_UNCOUNTED, BOT_IN_ANY_CASE, Policy, admit, lost_acls
from chat.auth.principal import CredentialKind, Principal
from chat.auth.resolve import resolve
from chat.errors import ApiError, InvalidFormBody, RateLimited, StorageUnavailable
from chat.observation import SEEN, Observation
from chat.registries.limits import IMAGE_BODY_BYTES
from chat.registries.user_flags import UserFlag
from chat.store.guard import Guard, fallback

Send = Callable[[Any], Awaitable[None]]
"""ASGI's: the next event of the answer."""

LARGE_BODY: Final = 65_536
"""Bytes from which a body is parsed in a thread, so that it does not hold the loop."""

CAPTCHA_TOKEN: Final = "x-captcha-token"  # noqa: S105 - the name of a header
CAPTCHA_TYPE: Final = "x-captcha-type"

_HIGH_LIMIT: Final = int(UserFlag.HIGH_GLOBAL_RATE_LIMIT)
_NO_LIMIT: Final = int(UserFlag.RATE_LIMIT_BYPASS)
_REQUEST_ID: Final = re.compile(r"[A-Za-z0-9._-]{1,128}", re.ASCII)

_UNCOUNTED: Final = nullcontext()

log: Final = structlog.get_logger("chat.api")


class Endpoint:
    """A declared operation, compiled: answers the requests that name it."""

    def __init__(self, operation: Operation, backend: Backend, *, in_threads: bool) -> None:
        self.operation: Final = operation
        self._backend: Final = backend
        self._core: Final = backend.core
        self._limiter: Final = backend.limiter
        self._in_threads: Final = in_threads
        self._handler: Final = backend.bind(operation.handler)
        self._precondition: Final = None if operation.precondition is None else backend.bind(operation.precondition)
        settings = backend.core.settings
        self._closed_by_sso: Final = operation.closed_by_sso and settings.sso.is_enforced
        self._asks_captcha: Final = operation.asks_captcha and backend.captcha.is_on
        is_offered = operation.instance is None or operation.instance.is_kind_of(settings)
        self._not_offered: Final = None if is_offered else operation.instance
        self._reads_accounts: Final = operation.policy not in (Policy.NONE, Policy.GATEWAY_BOT, Policy.URL)
        self._ignores_authorization: Final = operation.policy is Policy.URL
        self._exempt_from_global: Final = operation.bucket is not None and operation.bucket.exempt_from_global
        self._bot_in_any_case: Final = operation.policy in BOT_IN_ANY_CASE
        self._takes_admin_keys: Final = operation.policy is Policy.ADMIN
        self._admitted_uncounted: Final = operation.policy in ADMITTED_UNCOUNTED
        self._admitted_before_bucket: Final = operation.policy in ADMITTED_BEFORE_BUCKET
        self._snowflakes: Final = tuple(name.endswith("_id") for name in operation.path_members)
        self._names: Final = operation.path_members
        self._counted: Final = _counted_members(operation)
        self._read_body: Final = None if operation.body is None else body_structure(operation.body)
        self._read_form: Final = None if operation.form is None else query_structure(operation.form)
        self._read_query: Final = None if operation.query is None else query_structure(operation.query)
        self._repeated: Final = frozenset() if operation.query is None else repeated_names(operation.query)
        self._reads_body: Final = operation.body is not None or operation.form is not None

    async def __call__(self, exchange: Exchange) -> Answer:
        """Take the request through all checks to the handler.

        :raises ApiError: the first refusal on the way.
        """
        if self._closed_by_sso:
            raise ApiError("SSO_REQUIRED")
        if self._reads_accounts and self._core.database.failing:
            raise StorageUnavailable
        credential = None
        if not self._ignores_authorization:
            credential = parse_authorization(exchange.authorizations, bot_in_any_case=self._bot_in_any_case)
        caller = self._caller(exchange, credential)
        exchange.caller_id = None if caller is None else caller.user_id
        if self._admitted_uncounted:
            self._admit(credential, caller)
        if self._asks_captcha and caller is None:
            headers = exchange.headers
            await self._backend.captcha.require(headers.get(CAPTCHA_TOKEN), headers.get(CAPTCHA_TYPE), exchange.address)
        identity = await self._limit_all(exchange, caller)
        if self._admitted_before_bucket:
            self._admit(credential, caller)
        headers = _NO_HEADERS if identity is None else self._limit(exchange, caller, identity)
        if not self._admitted_uncounted and not self._admitted_before_bucket:
            self._admit(credential, caller)
        if caller is not None:
            self._note_use(exchange, caller)
        if self.operation.changes:
            await self._core.bus.wait_for_room()
        request = Request(
            self._limiter,
            self._core.origins,
            exchange.id,
            exchange.address,
            exchange.headers,
            caller,
            exchange.receive,
            query_string=exchange.query_string,
            authorizations=exchange.authorizations,
        )
        if self._not_offered is not None:
            raise ApiError(self._not_offered.value)
        if self._precondition is not None:
            self._precondition(request)
        if self.operation.images and not announces_little(exchange.headers):
            answer = await self._handled_with_image(request, exchange, credential)
        else:
            answer = await self._handled(request, exchange, credential)
        headers = {**headers, **request.sudo_headers}
        if headers:
            answer = attrs.evolve(answer, headers={**headers, **answer.headers})
        return answer

    async def _handled(self, request: Request, exchange: Exchange, credential: Credential | None) -> Answer:
        """What the handler makes of the request."""
        arguments = await self._arguments(exchange)
        if self._reads_body and request.caller is not None:
            request.caller = self._caller(exchange, credential)
            self._admit(credential, request.caller)
        if not (self.operation.changes or self._takes_admin_keys):
            return await self._answered(request, arguments)
        still = functools.partial(self._admit_still, credential, request.caller, exchange.capabilities())
        comes_in_parts = "body" in arguments and arguments["body"] is None
        guard = request.be_guarded(Guard(still, is_due=self._takes_admin_keys or comes_in_parts))
        try:
            with fallback(guard):
                return await self._answered(request, arguments)
        finally:
            guard.release()

    async def _answered(self, request: Request, arguments: dict[str, Any]) -> Answer:
        if not self.operation.changes or self.operation.streamed or ("body" in arguments and arguments["body"] is None):
            # What is still to be received takes its time: nobody shall wait for the events that come of it.
            return answer_of(await self._handler(request, **arguments))
        bus = self._core.bus
        bus.causes += 1
        try:
            return answer_of(await self._handler(request, **arguments))
        finally:
            bus.causes -= 1

    async def _handled_with_image(self, request: Request, exchange: Exchange, credential: Credential | None) -> Answer:
        """As `_handled`, for a body that may hold images: it comes in on the disk, and few are in memory at a time."""
        storage = self._backend.areas.policy.media.storage
        announced = exchange.headers.get("content-length")
        async with storage.receiving() as spooled:
            async for chunk in BodyChunks(exchange.receive, announced, IMAGE_BODY_BYTES):
                await spooled.write(chunk)
            async with storage.large_bodies:
                exchange.body = await spooled.content()
                return await self._handled(request, exchange, credential)

    def _caller(self, exchange: Exchange, credential: Credential | None) -> Principal | None:
        """Whom the credential stands for. An admin API key stands for nobody outside /v1/admin (access.md, Refused
        credentials)."""
        if credential is None or (credential.kind is CredentialKind.ADMIN_KEY and not self._takes_admin_keys):
            return None
        return resolve(self._core.database.reader, credential, self._core.clock.now_ms(), exchange.capabilities())

    def _admit_still(
        self,
        credential: Credential | None,
        admitted: Principal | None,
        capabilities: frozenset[str],
        connection: sqlite3.Connection,
    ) -> None:
        """In the first unit that an administrator's request writes, and in others' first one after a slow step: judge
        the caller as they stand now.

        :raises ApiError: as `_admit`; MISSING_ACL also where an administrator was let in with an ACL that is gone by
            now, because more than the operation's own may have been asked of them since.
        """
        if admitted is None or credential is None:
            return
        caller = resolve(connection, credential, self._core.clock.now_ms(), capabilities)
        self._admit(credential, caller)
        if self._takes_admin_keys and (caller is None or lost_acls(admitted, caller)):
            raise ApiError("MISSING_ACL")

    def _note_use(self, exchange: Exchange, caller: Principal) -> None:
        if caller.session_id_hash is not None:
            self._backend.areas.signing_in.sign_ins.note_use(caller, exchange.address)
        elif caller.key_id is not None:
            self._backend.areas.administration.admin_api_keys.note_use(caller.key_id)

    def _admit(self, credential: Credential | None, caller: Principal | None) -> None:
        operation = self.operation
        if operation.first_run and caller is not None and self._backend.areas.administration.setup.is_open_to(caller):
            return
        admit(
            operation.policy,
            credential,
            caller,
            scope=operation.scope,
            bots_refused_with=operation.bots_refused_with,
            acls=operation.acls,
        )
        if operation.closed_to_limited and caller is not None and caller.account.is_limited:
            raise ApiError("ACCOUNT_LIMITED")

    async def _limit_all(self, exchange: Exchange, caller: Principal | None) -> Hashable | None:
        """Count the request among all of its caller; who that is, or None where nothing is counted.

        :raises RateLimited: when it is one too many.
        """
        limiter = self._limiter
        if not limiter.enabled:
            return None
        identity: Hashable
        if caller is None:
            identity = network_of(exchange.address)
            limit_of_all = GLOBAL
        else:
            if caller.account.flags & _NO_LIMIT:
                return None
            identity = (caller.user_id, caller.kind, caller.application_id)
            limit_of_all = HIGH_GLOBAL if caller.account.flags & _HIGH_LIMIT else GLOBAL
        retry_after = 0.0 if self._exempt_from_global else limiter.take(limit_of_all, identity)
        if retry_after:
            if caller is not None and caller.session_id_hash is not None:
                # The denial ends the sign-in (http.md, Request limits).
                await self._backend.areas.signing_in.sign_ins.end(caller.user_id, [caller.session_id_hash])
            raise RateLimited(retry_after, "global")
        return identity

    def _limit(self, exchange: Exchange, caller: Principal | None, identity: Hashable) -> Mapping[str, str]:
        """Count the request in the operation's bucket; the headers that tell a bot how it stands.

        :raises RateLimited: when it is one too many.
        """
        bucket = self.operation.bucket
        if bucket is None:
            return _NO_HEADERS
        limiter = self._limiter
        key = (identity, *(exchange.members[position] for position in self._counted)) if self._counted else identity
        retry_after = limiter.take(bucket, key)
        if not retry_after and not bucket.told_to_everyone and (caller is None or not caller.is_bot):
            return _NO_HEADERS
        headers = limit_headers(bucket, limiter.standing(bucket, key), self._core.clock.now_ms())
        if retry_after:
            refused = RateLimited(retry_after)
            refused.headers.update(headers)
            raise refused
        return headers

    async def _arguments(self, exchange: Exchange) -> dict[str, Any]:
        """The handler's arguments beside the request.

        :raises InvalidFormBody: with every field of path, query or body that is wrong.
        """
        arguments: dict[str, Any] = {}
        for name, is_snowflake, member in zip(self._names, self._snowflakes, exchange.members, strict=True):
            arguments[name] = _snowflake(name, member) if is_snowflake else member
        if self._read_query is not None:
            arguments["query"] = self._read_query(parse_query(exchange.query_string, self._repeated))
        if self._read_body is not None:
            # A form with files is the handler's to read, once it knows that it may come.
            in_parts = self.operation.multipart and comes_in_parts(exchange.headers)
            arguments["body"] = None if in_parts else self._read_body(await self._parsed_body(exchange))
        elif self._read_form is not None:
            form = await read_body(exchange.receive, exchange.headers.get("content-length"))
            arguments["body"] = self._read_form(parse_query(form))
        return arguments

    async def _parsed_body(self, exchange: Exchange) -> object:
        body = exchange.body
        if body is None:
            body = await read_body(exchange.receive, exchange.headers.get("content-length"))
        to_null = self.operation.empty_strings_are_null
        if len(body) < LARGE_BODY or not self._in_threads:
            return parse_json(body, empty_strings_are_null=to_null)
        return await trio.to_thread.run_sync(lambda: parse_json(body, empty_strings_are_null=to_null))


class Kernel:
    """Every operation of the API, and what happens around each.

    `chance` makes request ids; `faults` are the answers that a test asked for; `in_threads` False parses large bodies
    on the loop, because virtual time would jump while a thread works (architecture.md, Time and chance).
    """

    def __init__(
        self,
        backend: Backend,
        routes: Iterable[Routes],
        *,
        addresses: ClientAddresses,
        chance: random.Random,
        faults: HttpFaults | None = None,
        per_address: ConnectionCounts,
        in_threads: bool = True,
    ) -> None:
        self._per_address = per_address
        self._addresses = addresses
        self._bans = backend.address_bans
        self._chance = chance
        self._faults = faults
        self._backend = backend
        self._in_threads = in_threads
        self._table = _table(tuple(operation for module in routes for operation in module.operations))
        self._endpoints: dict[Operation, Endpoint] = {}
        """Those that were asked for: compiling all of them takes longer than most tests' conversations."""

    async def serve(self, scope: Mapping[str, Any], receive: Receive, send: Send) -> bool:
        """Answer the request if it names a path of the API; False leaves it to whoever comes next.

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
            raise ApiError("NOT_FOUND")
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
            raise ApiError("INTERNAL_SERVER_ERROR") from error

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


_NO_HEADERS: Final[Mapping[str, str]] = {}


@functools.lru_cache(maxsize=8)
def _table(operations: tuple[Operation, ...]) -> RouteTable[Operation]:
    """Where each path leads; made once for all servers of a process, of which the test kit starts many."""
    table: RouteTable[Operation] = RouteTable()
    for operation in operations:
        table.add(operation.method, operation.path, operation)
    return table


def _counted_members(operation: Operation) -> tuple[int, ...]:
    """Positions of the path's members that the operation's bucket counts apart."""
    if operation.bucket is None:
        return ()
    return tuple(operation.path_members.index(name) for name in operation.bucket.path_members)


def _snowflake(name: str, text: str) -> int:
    try:
        return SNOWFLAKE.read(text)
    except Refusal as refused:
        raise InvalidFormBody.at(name, refused.code) from None


def _raw_path(scope: Mapping[str, Any]) -> str:
    """The path as it was sent, still percent-encoded, without query; of an absolute request target its path."""
    path: str = scope["raw_path"].decode("latin-1")
    return path if path.startswith("/") else urlsplit(path).path
