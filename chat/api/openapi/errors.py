"""What an operation may refuse, and how that looks (wire facts 3.1, 3.6).

Some refusals follow from the declaration: who has a body to read can find it wrong, who asks for a credential can miss
it. The rest stands in `chat.api.openapi.refusals`.
"""

from __future__ import annotations

import functools
from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import Any, Final

from chat.api.openapi.refusals import REFUSALS
from chat.api.operation import Operation
from chat.api.schemas.instance import ERROR
from chat.api.schemas.shapes import (
    TEXT,
    Shape,
    choice,
    either,
    wire_object,
)
from chat.api.sudo import SudoFields
from chat.auth.policy import Policy
from chat.domain.oauth2_errors import OAuth2ErrorCode
from chat.registries.error_codes import ERROR_CODES

EVERYWHERE: Final = (
    "GLOBAL_IP_BANNED",
    "GLOBAL_IP_TEMPORARILY_BANNED",
    "RATE_LIMITED",
    "INTERNAL_SERVER_ERROR",
    "SERVICE_UNAVAILABLE",
)
"""What any request may get."""

OAUTH2_ERROR: Final = wire_object(
    "OAuth2Error",
    {"error": choice(*(code.value for code in OAuth2ErrorCode)), "error_description": TEXT},
    description="A refusal of the OAuth2 protocol (RFC 6749 5.2).",
)

OAUTH2_PROTOCOL: Final = frozenset(
    {
        "/v1/oauth2/authorize",
        "/v1/oauth2/authorize/consent",
        "/v1/oauth2/token",
        "/v1/oauth2/token/revoke",
        "/v1/oauth2/introspect",
    }
)
"""Paths below which the protocol refuses in its own words."""


def name_of(operation: Operation) -> str:
    """Method and path."""
    return f"{operation.method} {operation.path}"


def following_codes(operation: Operation) -> Iterator[str]:
    """The codes that an operation may refuse with because of what it declares."""
    yield from EVERYWHERE
    policy = operation.policy
    reads_body = operation.body is not None or operation.form is not None
    if reads_body or operation.query is not None or any(name.endswith("_id") for name in operation.path_members):
        yield "INVALID_FORM_BODY"
    if reads_body or operation.streamed:
        yield "PAYLOAD_TOO_LARGE"
    if policy is Policy.GATEWAY_BOT:
        yield "INVALID_AUTH_TOKEN"
    elif policy is Policy.OWN_APPLICATION:
        yield from ("UNAUTHORIZED", "INVALID_TOKEN", "ACCESS_DENIED")
    elif policy is Policy.THREADS:
        yield "NOT_FOUND"
    elif policy is Policy.ADMIN:
        yield from ("UNAUTHORIZED", "ACCESS_DENIED", "MISSING_PERMISSIONS", "MISSING_ACL")
    elif policy not in (Policy.NONE, Policy.URL):
        yield from ("UNAUTHORIZED", "ACCESS_DENIED")
    if operation.scope is not None:
        yield "MISSING_OAUTH_SCOPE"
    if operation.bots_refused_with is not None:
        yield operation.bots_refused_with
    if isinstance(operation.body, type) and issubclass(operation.body, SudoFields):
        yield "SUDO_MODE_REQUIRED"


@functools.cache
def refusals_of(operation_name: str, following: frozenset[str]) -> Mapping[int, tuple[str, ...]]:
    """The codes by status, both in order."""
    codes: dict[int, list[str]] = defaultdict(list)
    for code in sorted({*following, *REFUSALS.get(operation_name, ())}):
        codes[ERROR_CODES[code].status].append(code)
    return {status: tuple(codes[status]) for status in sorted(codes)}


def codes_by_status(operation: Operation) -> Mapping[int, tuple[str, ...]]:
    """The codes that an operation may refuse with, by status."""
    return refusals_of(name_of(operation), frozenset(following_codes(operation)))


def documented_statuses(operation: Operation) -> frozenset[int]:
    """The statuses that an operation may refuse with."""
    statuses = set(codes_by_status(operation))
    if operation.path in OAUTH2_PROTOCOL:
        statuses |= {400, 401}
    return frozenset(statuses)


def error_shape(operation: Operation) -> Shape:
    """What a refusal of the operation looks like."""
    return _EITHER_ERROR if operation.path in OAUTH2_PROTOCOL else ERROR


_EITHER_ERROR: Final = either(ERROR, OAUTH2_ERROR)


def described_error(codes: tuple[str, ...]) -> Mapping[str, Any]:
    """A short text of what a status stands for."""
    return {"description": "; ".join(f"{code}: {ERROR_CODES[code].message}" for code in codes)}
