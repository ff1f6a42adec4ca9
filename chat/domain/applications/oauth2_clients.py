"""The applications as OAuth2 clients: finding them, the built-in one included, and authenticating them (RFC 6749 2.3).

Every application that somebody made has a secret. With a code that is bound to a challenge (PKCE) it may do without, as
a program has to that runs in front of its user and can keep no secret; what comes of such a code is refreshed and
revoked without the secret too. The built-in Admin application has no secret at all.
"""

from __future__ import annotations

import hmac
import re
import sqlite3
from typing import Final

import attrs

from chat.auth.tokens import token_hash
from chat.config import Settings
from chat.domain.applications.oauth2_errors import unauthenticated_client
from chat.registries.built_in_applications import ADMIN_APPLICATION_ID, ADMIN_APPLICATION_NAME
from chat.snowflake import MAXIMUM
from chat.store.applications import applications
from chat.store.applications.applications import Application

NOBODY: Final = 0
"""The owner of the built-in application."""

ADMIN_PATH: Final = "/admin"
"""Where the Admin application lives, below the instance's public address."""

_CLIENT_ID: Final = re.compile(r"0|[1-9][0-9]{0,18}", re.ASCII)
_NO_SECRET: Final = token_hash("")
"""Compared with where an application is unknown or has no secret, so that all take the same path."""


@attrs.frozen
class ClientCredentials:
    """What a request says of the client that sends it."""

    client_id: str | None
    secret: str | None = attrs.field(default=None, repr=False)


@attrs.frozen
class Client:
    """The application behind a request, and whether it has shown its secret."""

    application: Application
    is_authenticated: bool


class OAuth2Clients:
    """Finds and authenticates clients."""

    def __init__(self, settings: Settings) -> None:
        self._admin = Application(
            id=ADMIN_APPLICATION_ID,
            owner_id=NOBODY,
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

    def authenticate(self, connection: sqlite3.Connection, shown: ClientCredentials) -> Client:
        """The client. Without a secret it is whoever it says, not authenticated: what that is good for is the
        operation's to decide.

        :raises OAuth2Error: invalid_client for an unknown client and a wrong secret alike.
        """
        application = None if shown.client_id is None else self.named(connection, shown.client_id)
        known = _NO_SECRET if application is None else application.client_secret_hash or _NO_SECRET
        is_right = hmac.compare_digest(token_hash(shown.secret or ""), known) and known != _NO_SECRET
        if application is None or (shown.secret is not None and not is_right):
            raise unauthenticated_client()
        return Client(application, is_authenticated=is_right)
