"""The parts of the OAuth2 protocol: refusals, scopes, PKCE, clients, redirect addresses.

Refusals have RFC 6749 bodies in place of the error envelope (http.md, Error envelope; applications.md, OAuth2
errors). Failed client authentication is 401, everything else 400, and no answer carries WWW-Authenticate. What is wrong
with the session of an account that consents is told in the ordinary envelope, by the errors that it has everywhere.

Every application that an account made has a secret, and shows it. A program that runs in front of its user can keep
none (RFC 6749 2.1): with a code that is bound to a challenge (PKCE, RFC 7636) it may do without, where the code came to
an address of the user's own machine, or where the application says that it is a public client. What comes of such a
code is refreshed and revoked without the secret too. The built-in Admin application has no secret at all.
"""

from __future__ import annotations

import base64
import enum
import hashlib
import hmac
import ipaddress
import re
import sqlite3
from collections.abc import Mapping
from typing import Final
from urllib.parse import urlencode, urlsplit

import attrs

from chat.auth.tokens import token_hash
from chat.classes import frozen
from chat.config import Settings
from chat.errors import ApiError
from chat.registries.error_codes import ErrorCode
from chat.registries.scopes import ADMIN_APPLICATION_ID, ADMIN_APPLICATION_NAME, ADMIN_SCOPE, SCOPES, Scope
from chat.snowflake import MAXIMUM
from chat.store.applications import applications
from chat.store.applications.applications import Application

NOT_STORED: Final = {"Cache-Control": "no-store", "Pragma": "no-cache"}
"""Headers of every answer that carries a token or says why there is none (RFC 6749 5.1)."""


class OAuth2ErrorCode(enum.StrEnum):
    """The protocol's error codes (RFC 6749 4.1.2.1 and 5.2)."""

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
        super().__init__(
            ErrorCode.UNAUTHORIZED if unauthenticated else ErrorCode.BAD_REQUEST, description, headers=NOT_STORED
        )
        self.error = error

    def body(self) -> Mapping[str, str]:
        return {"error": self.error.value, "error_description": self.message}


def invalid_request(description: str) -> OAuth2Error:
    """The request itself is malformed."""
    return OAuth2Error(OAuth2ErrorCode.INVALID_REQUEST, description)


def invalid_grant() -> OAuth2Error:
    """A code or a refresh token is not, or no longer, good for this client: one answer for all reasons."""
    return OAuth2Error(
        OAuth2ErrorCode.INVALID_GRANT, "The code or refresh token is unknown, used, expired, or not for this request."
    )


def invalid_scope() -> OAuth2Error:
    """A scope is not in the registry, or not for this application."""
    return OAuth2Error(OAuth2ErrorCode.INVALID_SCOPE, "A requested scope does not exist or cannot be granted.")


def unknown_client() -> OAuth2Error:
    """An authorisation request names no application; clients do not authenticate there, so this is no 401."""
    return OAuth2Error(OAuth2ErrorCode.INVALID_CLIENT, "There is no such application.")


def unauthenticated_client() -> OAuth2Error:
    """The client did not authenticate, or not rightly: one answer for all reasons."""
    return OAuth2Error(OAuth2ErrorCode.INVALID_CLIENT, "Client authentication failed.", unauthenticated=True)


_SEPARATORS: Final = re.compile(r"[\s+]+")


def scopes_of(application_id: int) -> tuple[str, ...]:
    """Every scope that the application can be granted, in registry order (applications.md, Scopes): `admin` is for the
    built-in one alone, which has no bot."""
    if application_id == ADMIN_APPLICATION_ID:
        return (*(scope.value for scope in SCOPES if scope is not Scope.BOT), ADMIN_SCOPE)
    return tuple(scope.value for scope in SCOPES)


COMMANDS_SCOPE: Final = "applications.commands"


def requested_scopes(text: str | None, application_id: int) -> tuple[str, ...]:
    """The scopes in a `scope` parameter, each once, in registry order. Links that libraries make ask for `bot` and
    `applications.commands`: a bot here brings its commands along.

    :raises OAuth2Error: invalid_scope for none at all, and for one that this application cannot be granted.
    """
    asked = {name for name in _SEPARATORS.split(text or "") if name}
    known = scopes_of(application_id)
    if Scope.BOT in asked:
        asked.discard(COMMANDS_SCOPE)
    if not asked or not asked.issubset(known):
        raise invalid_scope()
    return tuple(name for name in known if name in asked)


S256: Final = "S256"

_VERIFIER: Final = re.compile(r"[A-Za-z0-9._~-]{43,128}", re.ASCII)
_S256_CHALLENGE: Final = re.compile(r"[A-Za-z0-9_-]{43}", re.ASCII)


@frozen
class Challenge:
    """The PKCE challenge of an authorisation request; `method` is S256."""

    method: str
    value: str = attrs.field(repr=False)

    def is_met_by(self, verifier: str) -> bool:
        """Whether this is the verifier."""
        if self.method != S256 or _VERIFIER.fullmatch(verifier) is None:
            return False
        return hmac.compare_digest(s256(verifier), self.value)


def s256(verifier: str) -> str:
    """The challenge that belongs to a verifier under S256 (RFC 7636 4.2)."""
    digest = hashlib.sha256(verifier.encode("ascii")).digest()
    return base64.urlsafe_b64encode(digest).rstrip(b"=").decode("ascii")


def challenge_of(value: str | None, method: str | None, *, required: bool = False) -> Challenge | None:
    """The challenge in an authorisation request; None where it makes no use of PKCE.

    The method is S256 and has to be named: left out it would mean `plain`, which is refused (applications.md,
    Authorisation; RFC 9700 2.1.1). `required` is for clients without a secret, which have nothing but the challenge to
    prove themselves with.

    :raises OAuth2Error: invalid_request.
    """
    if value is None:
        if method is not None or required:
            raise invalid_request("code_challenge is missing.")
        return None
    if method != S256:
        raise invalid_request("code_challenge_method has to be S256.")
    if _S256_CHALLENGE.fullmatch(value) is None:
        raise invalid_request("code_challenge is malformed.")
    return Challenge(method, value)


NO_OWNER: Final = 0
"""In place of the owner of the built-in application."""

ADMIN_PATH: Final = "/admin"
"""The path of the Admin application, below the instance's public address."""

_CLIENT_ID: Final = re.compile(r"0|[1-9][0-9]{0,18}", re.ASCII)
_NO_SECRET: Final = token_hash("")
"""Compared with where an application is unknown or has no secret, so that all take the same path."""


@frozen
class ClientCredentials:
    """The credentials of the client in a request."""

    client_id: str | None
    secret: str | None = attrs.field(default=None, repr=False)


@frozen
class OAuth2Client:
    """The application behind a request, and whether it has shown its secret."""

    application: Application
    is_authenticated: bool


class OAuth2Clients:
    """Finds clients, the built-in one included, and authenticates them (RFC 6749 2.3)."""

    def __init__(self, settings: Settings) -> None:
        self._admin = Application(
            id=ADMIN_APPLICATION_ID,
            owner_id=NO_OWNER,
            name=ADMIN_APPLICATION_NAME,
            bot_public=False,
            redirect_uris=(settings.public_url + ADMIN_PATH,),
        )

    def find(self, connection: sqlite3.Connection, application_id: int) -> Application | None:
        """The application with this snowflake."""
        if application_id == ADMIN_APPLICATION_ID:
            return self._admin
        return applications.by_id(connection, application_id)

    def named(self, connection: sqlite3.Connection, client_id: str) -> Application | None:
        """The application that a `client_id` parameter names."""
        application_id = int(client_id) if _CLIENT_ID.fullmatch(client_id) else MAXIMUM + 1
        return None if application_id > MAXIMUM else self.find(connection, application_id)

    def authenticate(self, connection: sqlite3.Connection, shown: ClientCredentials) -> OAuth2Client:
        """The client. Without a secret it is taken for what it says, not authenticated: what that is good for is the
        operation's to decide.

        :raises OAuth2Error: invalid_client for an unknown client and a wrong secret alike.
        """
        application = None if shown.client_id is None else self.named(connection, shown.client_id)
        known = _NO_SECRET if application is None else application.client_secret_hash or _NO_SECRET
        is_right = hmac.compare_digest(token_hash(shown.secret or ""), known) and known != _NO_SECRET
        if application is None or (shown.secret is not None and not is_right):
            raise unauthenticated_client()
        return OAuth2Client(application, is_authenticated=is_right)


_URI: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:[A-Za-z0-9._~:/?\[\]@!$&'()*+,;=%-]+", re.ASCII)
"""An absolute URI in the characters of RFC 3986, without a fragment."""


def is_redirect(address: str) -> bool:
    """Whether an application may register the address: https, http on the machine itself, or a program's own scheme;
    absolute, without fragment and user information (applications.md, Applications and bots; RFC 8252 7; RFC 9700
    4.1)."""
    if _URI.fullmatch(address) is None:
        return False
    try:
        parts = urlsplit(address)
        host, _ = parts.hostname, parts.port
    except ValueError:
        return False
    if "@" in parts.netloc:
        return False
    match parts.scheme:
        case "https":
            return bool(host)
        case "http":
            return host is not None and _is_of_this_machine(host)
        case scheme:  # its dot tells a program's own scheme from the registered ones
            return "." in scheme and bool(parts.netloc or parts.path)


def is_native_redirect(address: str) -> bool:
    """Whether an address that is registered leads to a program on the user's own machine, which keeps no secret: a
    loopback address, or a scheme of the program's own (RFC 8252 7 and 8.5)."""
    parts = urlsplit(address)
    return parts.scheme not in {"http", "https"} or _is_of_this_machine(parts.hostname or "")


def may_be_public(application: Application, redirect_uri: str | None = None) -> bool:
    """Whether the application may go without its secret, with codes that came to this address; without an address, with
    codes that came to any of its own."""
    if application.client_secret_hash is None or application.public_client:
        return True
    asked = application.redirect_uris if redirect_uri is None else {redirect_uri} & {*application.redirect_uris}
    return any(is_native_redirect(address) for address in asked)


def _is_of_this_machine(host: str) -> bool:
    try:
        return host == "localhost" or ("%" not in host and ipaddress.ip_address(host).is_loopback)
    except ValueError:
        return False


def with_parameters(address: str, parameters: Mapping[str, str | None]) -> str:
    """The address with these parameters behind those that its query has already (RFC 6749 3.1.2); None is left out."""
    query = urlencode({name: value for name, value in parameters.items() if value is not None})
    return f"{address}{'&' if '?' in address else '?'}{query}"
