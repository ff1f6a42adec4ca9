"""What an operation may refuse, and how that looks (http.md, Error envelope).

Some refusals follow from the declaration: who has a body to read can find it wrong, who asks for a credential can miss
it. The rest stands in `refusals.json` beside this module: codes by method and path, without those that follow. It is
kept by the test run, which holds every refusal against it (`tests/answers.py`).
"""

from __future__ import annotations

import functools
import importlib.resources
from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import Any, Final

import orjson

from chat import wire
from chat.api.fields import Schema, SudoFields
from chat.api.operation import Operation
from chat.api.schemas.declared import shape_of
from chat.api.schemas.shapes import JSON, Components, Shape, either
from chat.auth.policy import Policy
from chat.registries.error_codes import ErrorCode

REFUSALS_FILE: Final = "refusals.json"

EVERYWHERE: Final = (
    ErrorCode.GLOBAL_IP_BANNED,
    ErrorCode.GLOBAL_IP_TEMPORARILY_BANNED,
    ErrorCode.RATE_LIMITED,
    ErrorCode.INTERNAL_SERVER_ERROR,
    ErrorCode.SERVICE_UNAVAILABLE,
)
"""The refusals that any request may get."""

SHARED: Final[Mapping[int, ErrorCode]] = {
    429: ErrorCode.RATE_LIMITED,
    500: ErrorCode.INTERNAL_SERVER_ERROR,
    503: ErrorCode.SERVICE_UNAVAILABLE,
}
"""Statuses that stand for one code at most operations."""

OTHER: Final = "OTHER"
"""The shared response that stands for what is not foreseen."""

ERROR: Final = shape_of(wire.Error)
_PROTOCOL_STATUSES: Final = (400, 401)
_EITHER_ERROR: Final = either(ERROR, shape_of(wire.OAuth2Error))

_OF_POLICY: Final[Mapping[Policy, tuple[ErrorCode, ...]]] = {
    Policy.NONE: (),
    Policy.URL: (),
    Policy.USER: (ErrorCode.UNAUTHORIZED, ErrorCode.ACCESS_DENIED),
    Policy.USER_ONLY: (ErrorCode.UNAUTHORIZED, ErrorCode.ACCESS_DENIED),
    Policy.BOT: (ErrorCode.UNAUTHORIZED, ErrorCode.ACCESS_DENIED),
    Policy.OAUTH2: (ErrorCode.UNAUTHORIZED, ErrorCode.ACCESS_DENIED),
    Policy.GATEWAY_BOT: (ErrorCode.INVALID_AUTH_TOKEN,),
    Policy.OWN_APPLICATION: (ErrorCode.UNAUTHORIZED, ErrorCode.INVALID_TOKEN, ErrorCode.ACCESS_DENIED),
    Policy.THREADS: (ErrorCode.NOT_FOUND,),
    Policy.ADMIN: (
        ErrorCode.UNAUTHORIZED,
        ErrorCode.ACCESS_DENIED,
        ErrorCode.MISSING_PERMISSIONS,
        ErrorCode.MISSING_ACL,
    ),
}


_ACCESS: Final = (ErrorCode.MISSING_ACCESS, ErrorCode.MISSING_PERMISSIONS, ErrorCode.TWO_FACTOR_REQUIRED)

_OF_PATH_MEMBER: Final[Mapping[str, tuple[ErrorCode, ...]]] = {
    "guild_id": (ErrorCode.UNKNOWN_GUILD, *_ACCESS),
    "channel_id": (ErrorCode.UNKNOWN_CHANNEL, ErrorCode.INVALID_CHANNEL_TYPE, *_ACCESS),
    "thread_id": (ErrorCode.UNKNOWN_CHANNEL, ErrorCode.INVALID_CHANNEL_TYPE, *_ACCESS),
    "message_id": (ErrorCode.UNKNOWN_MESSAGE,),
    "role_id": (ErrorCode.UNKNOWN_ROLE,),
    "emoji_id": (ErrorCode.UNKNOWN_EMOJI,),
    "sticker_id": (ErrorCode.UNKNOWN_STICKER,),
    "webhook_id": (ErrorCode.UNKNOWN_WEBHOOK,),
    "invite_code": (ErrorCode.UNKNOWN_INVITE,),
    "application_id": (ErrorCode.UNKNOWN_APPLICATION,),
    "user_id": (ErrorCode.UNKNOWN_USER,),
}
"""The refusals for members of a path that name something missing, or something the caller may not see
(`chat.domain.standing.access`)."""


def name_of(operation: Operation) -> str:
    """Method and path."""
    return f"{operation.method} {operation.path}"


@functools.cache
def refusals() -> Mapping[str, tuple[ErrorCode, ...]]:
    """The codes of `refusals.json`."""
    kept = importlib.resources.files(__package__).joinpath(REFUSALS_FILE).read_bytes()
    return {name: tuple(ErrorCode[code] for code in codes) for name, codes in orjson.loads(kept).items()}


def following_codes(operation: Operation) -> Iterator[ErrorCode]:
    """The codes that an operation may refuse with because of what it declares."""
    yield from EVERYWHERE
    yield from _OF_POLICY[operation.policy]
    if (
        operation.reads_body
        or operation.query is not None
        or any(name.endswith("_id") for name in operation.path_members)
    ):
        yield ErrorCode.INVALID_FORM_BODY
    if operation.reads_body or operation.streamed:
        yield ErrorCode.PAYLOAD_TOO_LARGE
    for member in operation.path_members:
        yield from _OF_PATH_MEMBER.get(member, ())
    if {"guild_id", "user_id"} <= {*operation.path_members}:
        yield ErrorCode.UNKNOWN_MEMBER
    if operation.scope is not None:
        yield ErrorCode.MISSING_OAUTH_SCOPE
    if operation.bots_refused_with is not None:
        yield operation.bots_refused_with
    if isinstance(operation.body, type) and issubclass(operation.body, SudoFields):
        yield ErrorCode.SUDO_MODE_REQUIRED
    if operation.asks_captcha:
        yield from (ErrorCode.CAPTCHA_REQUIRED, ErrorCode.INVALID_CAPTCHA)
    if operation.closed_by_sso:
        yield ErrorCode.SSO_REQUIRED
    if operation.closed_to_limited:
        yield ErrorCode.ACCOUNT_LIMITED
    if operation.instance is not None:
        yield operation.instance.refusal


def codes_of(operation: Operation) -> frozenset[ErrorCode]:
    """Every code that an operation may refuse with."""
    return frozenset({*following_codes(operation), *refusals().get(name_of(operation), ())})


def codes_by_status(operation: Operation) -> Mapping[int, tuple[ErrorCode, ...]]:
    """The codes that an operation may refuse with, by status; both in order."""
    codes: dict[int, list[ErrorCode]] = defaultdict(list)
    for code in sorted(codes_of(operation)):
        codes[code.status].append(code)
    if operation.oauth2_errors:
        for status in _PROTOCOL_STATUSES:
            codes[status] += ()
    return {status: tuple(codes[status]) for status in sorted(codes)}


def error_shape(operation: Operation, status: int) -> Shape:
    """The shape of the operation's refusals."""
    if operation.oauth2_errors and status in _PROTOCOL_STATUSES:
        return _EITHER_ERROR
    return ERROR


def refusing(operation: Operation, components: Components) -> Iterator[tuple[int, dict[str, object]]]:
    """The OpenAPI responses with which the operation refuses, by status, without those that it declares itself.

    The codes are no part of the schema: a program has to live with one that it does not know.
    """
    declared = operation.answers
    for status, codes in codes_by_status(operation).items():
        if status in declared:
            continue
        if status in SHARED and codes == (SHARED[status],):
            yield status, {"$ref": f"#/components/responses/{SHARED[status]}"}
        else:
            yield status, _response(error_shape(operation, status), codes, components)


def shared_responses(components: Components, headers: Mapping[int, Mapping[str, Any]]) -> dict[str, Schema]:
    """The responses that most operations have in common, by their code; `headers` by status."""
    other = {"description": "Any other refusal.", "content": {JSON: {"schema": components.written(ERROR)}}}
    return {OTHER: other} | {
        # The key is plain text: orjson takes no member of an enumeration there.
        str(code): _response(ERROR, (code,), components) | ({"headers": headers[status]} if status in headers else {})
        for status, code in SHARED.items()
    }


def _response(shape: Shape, codes: tuple[ErrorCode, ...], components: Components) -> dict[str, object]:
    told = [f"`{code}`: {code.message}" for code in codes]
    if shape is not ERROR:
        told.insert(0, "A refusal of the OAuth2 protocol.")
    return {
        "description": "\n\n".join(told),
        "content": {JSON: {"schema": components.written(shape)}},
        "x-codes": list(codes),
    }
