"""What can go wrong, as a tree.

    ChatError
    ├── ApiError                 an answer of the HTTP API other than success
    │   ├── InvalidFormBody      400, names each field that is wrong
    │   ├── RateLimited          429, says how long to wait
    │   ├── OAuth2Error          400 or 401 with an RFC 6749 body (`chat.domain.applications.oauth2_protocol`)
    │   └── StorageUnavailable   503, the store cannot be written
    └── OperatorError            what a person at the command line did or must mend; one line, exit status 1

An ApiError carries its code and its extra members; status and default message come from the registry
(`chat.registries.error_codes`), and one handler makes the body (`chat.api.answers`).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from chat.classes import frozen
from chat.registries.error_codes import ErrorCode, FieldCode


class ChatError(Exception):
    """Everything this program raises on purpose."""


class ApiError(ChatError):
    """A refusal with one of the registered codes.

    `members` stand beside `code` and `message` at the top level of the body; `headers` go onto the answer. Raises
    KeyError if the code is not registered.
    """

    def __init__(
        self,
        code: ErrorCode,
        message: str | None = None,
        *,
        members: Mapping[str, Any] | None = None,
        headers: Mapping[str, str] | None = None,
        status: int | None = None,
    ) -> None:
        super().__init__(code)
        self.code: str = code
        registered = ErrorCode[code]
        self.status = registered.status if status is None else status
        self.message = registered.message if message is None else message
        self.members = dict(members or {})
        self.headers = dict(headers or {})

    def body(self) -> Mapping[str, object]:
        """The error envelope (http.md, Error envelope)."""
        return {"code": self.code, "message": self.message, **self.members}


@frozen
class FieldError:
    """One wrong field: `path` is dot-joined with array indices; `root` where no field is meant, `body` for bad JSON."""

    path: str
    code: FieldCode
    message: str | None = None

    def as_member(self) -> dict[str, str]:
        """The entry of the error body's `errors`."""
        return {"path": self.path, "code": self.code, "message": self.message or self.code.message}


class InvalidFormBody(ApiError):
    """400 INVALID_FORM_BODY with one entry per (path, code)."""

    def __init__(self, errors: Sequence[FieldError]) -> None:
        distinct = {(error.path, error.code): error for error in errors}
        super().__init__(
            ErrorCode.INVALID_FORM_BODY, members={"errors": [error.as_member() for error in distinct.values()]}
        )
        self.errors = tuple(distinct.values())

    @classmethod
    def at(cls, path: str, code: FieldCode) -> InvalidFormBody:
        """The common case of a single wrong field."""
        return cls([FieldError(path, code)])


class RateLimited(ApiError):
    """429: `retry_after` is in seconds; `scope` is `user`, `global` or `shared` (http.md, Request limits)."""

    def __init__(self, retry_after: float, scope: str = "user") -> None:
        headers = {"Retry-After": str(max(1, math.ceil(retry_after))), "X-RateLimit-Scope": scope}
        if scope == "global":
            headers["X-RateLimit-Global"] = "true"
        seconds = max(1, math.ceil(retry_after * 1000)) / 1000
        super().__init__(
            ErrorCode.RATE_LIMITED, members={"global": scope == "global", "retry_after": seconds}, headers=headers
        )
        self.scope = scope


class StorageUnavailable(ApiError):
    """The store refuses or fails to write; nothing was written."""

    def __init__(self) -> None:
        super().__init__(ErrorCode.SERVICE_UNAVAILABLE, headers={"Retry-After": "1"})


class OperatorError(ChatError):
    """A condition that a person can mend, told in one line."""


class SettingsError(OperatorError):
    """A server does not start with its settings: trying again changes nothing before somebody changes one."""
