"""Errors on demand: the next requests' answers that a test chose (development.md, Development routes)."""

from __future__ import annotations

import math
from typing import Final

from chat.classes import define
from chat.errors import ApiError, RateLimited
from chat.registries.error_codes import STATUS_FALLBACKS, ErrorCode

UNTOUCHED_PREFIX: Final = "/v1/_dev/"
"""Requests below it are never answered with a fault: they are how faults are set and taken back."""

FALLBACK_CODE: Final = ErrorCode.GENERAL_ERROR
DEFAULT_RETRY_SECONDS: Final = 1.0


@define
class HttpFault:
    """Requests to be answered with an error: `method` and `path` None match every one; `times` is what is left."""

    status: int
    times: int
    method: str | None = None
    path: str | None = None
    code: str | None = None
    retry_after: float | None = None
    """In seconds."""

    def matches(self, method: str, path: str) -> bool:
        """Whether the fault is meant for this request."""
        return self.method in (None, method) and self.path in (None, path)

    def error(self) -> ApiError:
        """The answer. A code outside the registry is its own message."""
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
        """Apply this fault to matching requests from now on."""
        self._faults.append(fault)

    def clear(self) -> None:
        """Remove all faults."""
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
