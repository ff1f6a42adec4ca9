"""Errors on demand: the next requests of a kind get an answer that a test chose (contract, Development routes)."""

from __future__ import annotations

import math
from typing import Any, Final

import attrs

from chat.errors import ApiError
from chat.registries.error_codes import ERROR_CODES

UNTOUCHED_PREFIX: Final = "/v1/_dev/"
"""Requests below it are never answered with a fault: they are how faults are set and taken back."""

CODES_BY_STATUS: Final = {
    400: "BAD_REQUEST",
    401: "UNAUTHORIZED",
    403: "FORBIDDEN",
    404: "NOT_FOUND",
    405: "METHOD_NOT_ALLOWED",
    409: "CONFLICT",
    410: "GONE",
    429: "RATE_LIMITED",
    500: "INTERNAL_SERVER_ERROR",
    501: "NOT_IMPLEMENTED",
    502: "BAD_GATEWAY",
    503: "SERVICE_UNAVAILABLE",
    504: "GATEWAY_TIMEOUT",
}
"""What a status is called when nobody says otherwise (wire facts 3.2)."""

FALLBACK_CODE: Final = "GENERAL_ERROR"
RETRY_AFTER_STATUSES: Final = frozenset({429, 503})
"""Statuses with a Retry-After header (design 7, JSON answers)."""


class RequestedError(ApiError):
    """An answer that nothing but a test asked for; its code need not be registered."""

    def __init__(self, status: int, code: str | None, retry_after: float | None) -> None:
        named = CODES_BY_STATUS.get(status, FALLBACK_CODE) if code is None else code
        registered = ERROR_CODES.get(named)
        Exception.__init__(self, named)
        self.code = named
        self.status = status
        self.message = named if registered is None else registered.message
        self.members: dict[str, Any] = {}
        self.headers: dict[str, str] = {}
        seconds = 1.0 if retry_after is None and status in RETRY_AFTER_STATUSES else retry_after
        if seconds is not None and status in RETRY_AFTER_STATUSES:
            self.headers["Retry-After"] = str(max(1, math.ceil(seconds)))
        if status == 429:
            self.headers["X-RateLimit-Scope"] = "user"
            self.members = {"global": False, "retry_after": seconds}


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

        :raises RequestedError: where there is one.
        """
        if not self._faults or path.startswith(UNTOUCHED_PREFIX):
            return
        for fault in self._faults:
            if fault.matches(method, path):
                fault.times -= 1
                if fault.times <= 0:
                    self._faults.remove(fault)
                raise RequestedError(fault.status, fault.code, fault.retry_after)
