"""Refusals of the OAuth2 protocol: RFC 6749 bodies in the place of the error envelope (http.md, Error envelope;
applications.md, OAuth2 errors).

Failed client authentication is 401, everything else 400, and no answer carries WWW-Authenticate. Whatever is wrong with
the session of somebody who consents is told in the ordinary envelope, by the errors that it has everywhere.
"""

from __future__ import annotations

import enum
from typing import Any, Final

from chat.errors import ApiError

NOT_STORED: Final = {"Cache-Control": "no-store", "Pragma": "no-cache"}
"""Headers of every answer that carries a token or says why there is none (RFC 6749 5.1)."""


class OAuth2ErrorCode(enum.StrEnum):
    """What can be wrong (RFC 6749 4.1.2.1 and 5.2)."""

    INVALID_REQUEST = "invalid_request"
    INVALID_CLIENT = "invalid_client"
    INVALID_GRANT = "invalid_grant"
    INVALID_SCOPE = "invalid_scope"
    UNSUPPORTED_GRANT_TYPE = "unsupported_grant_type"
    UNSUPPORTED_RESPONSE_TYPE = "unsupported_response_type"


class OAuth2Error(ApiError):
    """A refusal of the protocol: `error` and `error_description` are all that its body has.

    The description is plain ASCII without quotation marks and backslashes (RFC 6749 5.2).
    """

    def __init__(self, error: OAuth2ErrorCode, description: str, *, unauthenticated: bool = False) -> None:
        super().__init__("UNAUTHORIZED" if unauthenticated else "BAD_REQUEST", description, headers=NOT_STORED)
        self.error = error

    def body(self) -> dict[str, Any]:
        return {"error": self.error.value, "error_description": self.message}


def invalid_request(description: str) -> OAuth2Error:
    """The request itself is malformed."""
    return OAuth2Error(OAuth2ErrorCode.INVALID_REQUEST, description)


def invalid_grant() -> OAuth2Error:
    """A code or a refresh token is not, or no longer, good for this client: one answer whatever the reason."""
    return OAuth2Error(
        OAuth2ErrorCode.INVALID_GRANT, "The code or refresh token is unknown, used, expired, or not for this request."
    )


def invalid_scope() -> OAuth2Error:
    """A scope is not in the registry, or not for this application."""
    return OAuth2Error(OAuth2ErrorCode.INVALID_SCOPE, "A requested scope does not exist or cannot be granted.")


def unknown_client() -> OAuth2Error:
    """An authorisation request names no application; nobody authenticates there, so this is no 401."""
    return OAuth2Error(OAuth2ErrorCode.INVALID_CLIENT, "There is no such application.")


def unauthenticated_client() -> OAuth2Error:
    """The client did not authenticate, or not rightly: one answer whatever the reason."""
    return OAuth2Error(OAuth2ErrorCode.INVALID_CLIENT, "Client authentication failed.", unauthenticated=True)
