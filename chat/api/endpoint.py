"""The way of a request through one operation, the same for every one.

    single sign-on > CAPTCHA > global limit > bucket > credential > policy > account gate > room on the bus
          > kind of instance > precondition > path, query, body > credential and policy again, after a wait > handler
          > of an administrator: credential and policy again, in the first unit that is written

The credential is looked up first, because whose bucket a request goes into depends on it, but a missing or wrong one is
refused only after the limits (http.md, Order of checks). Administrative operations judge the caller before they count
in the operation's bucket, those on threads before any limit. A body may take its time: a credential that was revoked
while it came is not good for what it asks. A body that came with its head takes none.

What can be prepared is prepared when an operation is compiled, so that a request allocates little.
"""

from __future__ import annotations

import functools
import sqlite3
from collections.abc import Callable, Hashable, Mapping
from typing import Any, Final

import attrs
import trio

from chat.api.answers import Answer
from chat.api.bodies import BodyChunks, announces_little, parse_json, parse_query, read_body
from chat.api.form_bodies import FormBody, is_urlencoded, urlencoded_fields
from chat.api.operation import Operation
from chat.api.rate_limit import GLOBAL, HIGH_GLOBAL, RateLimiter, limit_headers
from chat.api.request import Request
from chat.api.structuring import body_structure, query_structure, repeated_names
from chat.auth.address_bans import AddressBans
from chat.auth.captcha import Captcha
from chat.auth.client_address import network_of
from chat.auth.credentials import Credential, parse_authorization, resolve
from chat.auth.policy import ADMITTED_BEFORE_BUCKET, ADMITTED_UNCOUNTED, BOT_IN_ANY_CASE, Policy, admit, lost_acls
from chat.auth.principal import CredentialKind, Principal
from chat.auth.remembered import RememberedCallers
from chat.bus.bus import BACKLOG_LIMIT
from chat.classes import frozen
from chat.domain.areas import Areas
from chat.domain.core import Core
from chat.errors import ApiError, InvalidFormBody, RateLimited, StorageUnavailable
from chat.registries.error_codes import ErrorCode
from chat.registries.limits import IMAGE_BODY_BYTES, JSON_BODY_BYTES
from chat.registries.user_flags import UserFlag
from chat.store.guard import UNGUARDED, Guard

LARGE_BODY: Final = 65_536
"""Bytes from which a body is parsed in a thread, so that it does not hold the loop."""

CAPTCHA_TOKEN: Final = "x-captcha-token"  # noqa: S105 - the name of a header
CAPTCHA_TYPE: Final = "x-captcha-type"

_HIGH_LIMIT: Final = int(UserFlag.HIGH_GLOBAL_RATE_LIMIT)
_NO_LIMIT: Final = int(UserFlag.RATE_LIMIT_BYPASS)


_NO_HEADERS: Final[Mapping[str, str]] = {}


@frozen(kw_only=True)
class Backend:
    """The services that endpoints and handlers use: the domain by its areas, and those of the API itself."""

    core: Core
    areas: Areas
    limiter: RateLimiter
    captcha: Captcha
    address_bans: AddressBans
    callers: RememberedCallers
    others: tuple[object, ...] = ()
    """Further services that single handlers take, found by the name of their type."""
    _by_name: Mapping[str, object] = attrs.field(init=False)

    @_by_name.default
    def _parts_by_name(self) -> Mapping[str, object]:
        areas = attrs.asdict(self.areas, recurse=False).values()
        parts = (self.core, self.limiter, self.captcha, self.address_bans, *areas, *self.others)
        return {type(part).__name__: part for part in parts}

    def bind(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """The function with each parameter filled in whose annotation names one of these parts."""
        named = {
            parameter: self._by_name[annotation]
            for parameter, annotation in function.__annotations__.items()
            if annotation in self._by_name and parameter != "return"
        }
        return functools.partial(function, **named) if named else function


class Endpoint:
    """A declared operation, compiled; it answers the requests for that operation."""

    def __init__(self, operation: Operation, backend: Backend, *, in_threads: bool) -> None:
        self.operation: Final = operation
        self._backend: Final = backend
        self._core: Final = backend.core
        self._bus: Final = backend.core.bus
        self._limiter: Final = backend.limiter
        self._callers: Final = backend.callers
        self._in_threads: Final = in_threads
        self._changes: Final = operation.changes
        self._reads_body: Final = operation.reads_body
        self._handler: Final = backend.bind(operation.handler)
        self._precondition: Final = None if operation.precondition is None else backend.bind(operation.precondition)
        settings = backend.core.settings
        self._closed_by_sso: Final = operation.closed_by_sso and settings.sso.is_enforced
        self._asks_captcha: Final = operation.asks_captcha and backend.captcha.is_on
        is_offered = operation.instance is None or operation.instance.is_kind_of(settings)
        self._not_offered: Final = None if is_offered else operation.instance
        self._reads_accounts: Final = operation.policy not in (Policy.NONE, Policy.GATEWAY_BOT, Policy.URL)
        self._exempt_from_global: Final = operation.bucket is not None and operation.bucket.exempt_from_global
        self._takes_credential: Final = operation.policy is not Policy.URL
        self._bot_in_any_case: Final = operation.policy in BOT_IN_ANY_CASE
        self._takes_admin_keys: Final = operation.policy is Policy.ADMIN
        self._admitted_uncounted: Final = operation.policy in ADMITTED_UNCOUNTED
        self._admitted_before_bucket: Final = operation.policy in ADMITTED_BEFORE_BUCKET
        self._takes_suspended: Final = operation.policy is Policy.GATEWAY_BOT
        self._admit_by_policy: Final = functools.partial(
            admit,
            operation.policy,
            scope=operation.scope,
            bots_refused_with=operation.bots_refused_with,
            acls=operation.acls,
            closed_to_limited=operation.closed_to_limited,
        )
        self._sign_ins: Final = backend.areas.signing_in.sign_ins
        self._admin_api_keys: Final = backend.areas.administration.admin_api_keys
        self._snowflakes: Final = tuple(name.endswith("_id") for name in operation.path_members)
        self._counted: Final = _counted_members(operation)
        self._read_body: Final = None if operation.body is None else body_structure(operation.body)
        form = None if operation.body is None else FormBody(operation.body, operation.payload_field or "")
        self._as_form: Final = None if operation.payload_field is None else form
        self._read_form: Final = None if operation.form is None else query_structure(operation.form)
        self._read_query: Final = None if operation.query is None else query_structure(operation.query)
        self._repeated: Final = frozenset() if operation.query is None else repeated_names(operation.query)

    async def __call__(self, request: Request) -> Answer:
        """Take the request through all checks to the handler.

        :raises ApiError: the first refusal on the way.
        """
        if self._closed_by_sso:
            raise ApiError(ErrorCode.SSO_REQUIRED)
        if self._reads_accounts and self._core.database.failing:
            raise StorageUnavailable
        if not self._takes_credential:
            request.credential = None
        elif self._bot_in_any_case:
            request.credential = parse_authorization(request.authorizations, bot_in_any_case=True)
        caller = self._identify(request)
        request.caller_id = None if caller is None else caller.user_id
        if self._admitted_uncounted:
            self._admit(request.credential, caller)
        if self._asks_captcha and caller is None:
            solved = request.headers.get(CAPTCHA_TOKEN), request.headers.get(CAPTCHA_TYPE)
            await self._backend.captcha.require(*solved, request.address)
        identity = await self._limit_all(request, caller)
        if self._admitted_before_bucket:
            self._admit(request.credential, caller)
        headers = _NO_HEADERS if identity is None else self._limit(request, caller, identity)
        if not self._admitted_uncounted and not self._admitted_before_bucket:
            self._admit(request.credential, caller)
        if caller is not None and caller.session_id_hash is not None:
            self._sign_ins.note_use(caller, request.address, request.now_ms)
        elif caller is not None and caller.key_id is not None:
            self._admin_api_keys.note_use(caller.key_id, request.now_ms)
        if self._changes and self._bus.backlog() > BACKLOG_LIMIT:
            request.waited = True
            await self._bus.wait_for_room()
        if self._not_offered is not None:
            raise ApiError(self._not_offered.refusal)
        if self._precondition is not None:
            self._precondition(request)
        if self.operation.images and not announces_little(request.headers):
            answer = await self._handled_with_image(request)
        else:
            answer = await self._handled(request)
        if request.brought_proof is not None:
            headers = {**headers, **request.sudo_headers}
        if not isinstance(answer, Answer):
            answer = Answer(204) if answer is None else Answer(200, answer)
        if headers:
            answer = attrs.evolve(answer, headers={**headers, **answer.headers})
        return answer

    async def _handled(self, request: Request) -> Any:
        """The handler's result for the request: an object (200), None (204), or an answer."""
        arguments = await self._arguments(request)
        caller = request.caller
        if request.waited and self._reads_body and caller is not None:
            caller = self._identify(request)
            self._admit(request.credential, caller)
        if not (self._changes or self._takes_admin_keys):
            return await self._handler(request, **arguments)
        # Without the request, which holds the guard: a cycle would outlast it.
        still = functools.partial(self._admit_still, request.credential, request.read.capabilities, caller)
        # What is still to be received takes its time: no other request shall wait for the events that come of it.
        comes_in_parts = "body" in arguments and arguments["body"] is None
        cause = int(self._changes and not self.operation.streamed and not comes_in_parts)
        guard = request.guard = Guard(still, is_due=self._takes_admin_keys or comes_in_parts)
        if caller is not None:
            request.caller = request.principal = caller.guarded_by(guard)
        self._bus.causes += cause
        try:
            return await self._handler(request, **arguments)
        finally:
            self._bus.causes -= cause
            guard.release()

    async def _handled_with_image(self, request: Request) -> Any:
        """As `_handled`, for a body that may hold images: it is received into a file, and only a few such bodies are in
        memory at a time."""
        storage = self._backend.areas.policy.media.storage
        announced = request.headers.get("content-length")
        async with storage.receiving() as spooled:
            async for chunk in BodyChunks(request.receive, announced, IMAGE_BODY_BYTES):
                await spooled.write(chunk)
            async with storage.large_bodies:
                request.body, request.waited = await spooled.content(), True
                return await self._handled(request)

    def _identify(self, request: Request) -> Principal | None:
        """Store the account of the request's credential as its caller; None for an admin API key outside /v1/admin
        (access.md, Refused credentials)."""
        credential = request.credential
        if credential is None or (credential.kind is CredentialKind.ADMIN_KEY and not self._takes_admin_keys):
            return None
        request.now_ms = self._core.clock.now_ms()
        caller = self._callers.resolve(credential, request.now_ms, request.read.capabilities)
        request.caller = caller
        request.principal = caller  # type: ignore[assignment]  # whose policy lets in anyone asks for `caller`
        return caller

    def _admit(self, credential: Credential | None, caller: Principal | None) -> None:
        """Let the caller in, or raise the refusal.

        :raises ApiError: as `admit`; ACCOUNT_SUSPENDED_TEMPORARILY for the token of a bot while a ban stands.
        """
        if caller is not None and caller.kind is CredentialKind.BOT and not self._takes_suspended:
            self._require_unsuspended(caller)
        self._admit_by_policy(credential, caller)

    def _require_unsuspended(self, bot: Principal) -> None:
        if bot.is_suspended(self._core.clock.now_ms()):
            raise ApiError(ErrorCode.ACCOUNT_SUSPENDED_TEMPORARILY)

    def _admit_still(
        self,
        credential: Credential | None,
        capabilities: frozenset[str],
        admitted: Principal | None,
        connection: sqlite3.Connection,
    ) -> None:
        """In the first unit that an administrator's request writes, and in others' first one after a slow step: judge
        the caller as they stand now.

        :raises ApiError: as `admit`; MISSING_ACL also where an administrator was let in with an ACL that is gone by
            now, because more than the operation's own may have been asked of them since.
        """
        if admitted is None or credential is None:
            return
        caller = resolve(connection, credential, self._core.clock.now_ms(), capabilities)
        self._admit(credential, caller)
        if self._takes_admin_keys and (caller is None or lost_acls(admitted, caller)):
            raise ApiError(ErrorCode.MISSING_ACL)

    async def _limit_all(self, request: Request, caller: Principal | None) -> Hashable | None:
        """Count the request among all of its caller. The caller's name in buckets; None where nothing is counted.

        :raises RateLimited: when it is one too many.
        """
        limiter = self._limiter
        if not limiter.enabled:
            return None
        identity: Hashable
        if caller is None:
            identity = network_of(request.address)
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
                await self._sign_ins.end(caller.user_id, [caller.session_id_hash], UNGUARDED)
            raise RateLimited(retry_after, "global")
        return identity

    def _limit(self, request: Request, caller: Principal | None, identity: Hashable) -> Mapping[str, str]:
        """Count the request in the operation's bucket; the headers that tell a bot how it stands.

        :raises RateLimited: when it is one too many.
        """
        bucket = self.operation.bucket
        if bucket is None:
            return _NO_HEADERS
        limiter = self._limiter
        if limiter.chosen:
            bucket = limiter.in_force(bucket)
            if bucket is None:
                return _NO_HEADERS
        key = (identity, *(request.members[position] for position in self._counted)) if self._counted else identity
        retry_after = limiter.take(bucket, key)
        if not retry_after and not bucket.told_to_everyone and (caller is None or not caller.is_bot):
            return _NO_HEADERS
        headers = limit_headers(bucket, limiter.standing(bucket, key), self._core.clock.now_ms())
        if retry_after:
            refused = RateLimited(retry_after)
            refused.headers.update(headers)
            raise refused
        return headers

    async def _arguments(self, request: Request) -> dict[str, object]:
        """The handler's arguments beside the request.

        :raises InvalidFormBody: with every field of path, query or body that is wrong.
        """
        arguments: dict[str, object] = {}
        for name, is_snowflake, member, number in zip(
            self.operation.path_members, self._snowflakes, request.members, request.numbers, strict=True
        ):
            if is_snowflake and not isinstance(number, int):
                raise InvalidFormBody.at(name, number)
            arguments[name] = number if is_snowflake else member
        if self._read_query is not None:
            arguments["query"] = self._read_query(parse_query(request.query_string, self._repeated))
        if self._read_body is not None:
            in_parts = request.read.comes_in_parts
            if in_parts and self.operation.multipart:
                arguments["body"] = None  # a form with files is the handler's to read, once it knows that it may come
            elif in_parts and self._as_form is not None:
                request.waited = True
                arguments["body"] = self._read_body(await self._as_form.received(request))
            else:
                values = await self._parsed_body(request)
                arguments["body"] = self._read_body(values if request.dialect is None else request.dialect.read(values))
        elif self._read_form is not None:
            request.waited = True
            form = await read_body(request.receive, request.headers.get("content-length"))
            arguments["body"] = self._read_form(parse_query(form))
        return arguments

    async def _parsed_body(self, request: Request) -> object:
        body = request.body
        if body is None:
            arrived = None if request.arrived is None else request.arrived()
            if arrived is None or len(arrived) > JSON_BODY_BYTES:
                request.waited = True
                arrived = await read_body(request.receive, request.headers.get("content-length"))
            body = request.body = arrived
        parse = functools.partial(self._values, body, request.headers)
        if len(body) < LARGE_BODY or not self._in_threads:
            return parse()
        request.waited = True
        return await trio.to_thread.run_sync(parse)

    def _values(self, body: bytes, headers: Mapping[str, str]) -> object:
        if self._as_form is not None and is_urlencoded(headers, body):
            return self._as_form.of_fields(urlencoded_fields(body))
        return parse_json(body, empty_strings_are_null=self.operation.empty_strings_are_null)


def _counted_members(operation: Operation) -> tuple[int, ...]:
    """Positions of the path's members that the operation's bucket counts apart."""
    if operation.bucket is None:
        return ()
    return tuple(operation.path_members.index(name) for name in operation.bucket.path_members)
