"""OAuth2 scopes (applications.md, Scopes), and the application that every instance has (access.md, Admin
credentials)."""

from __future__ import annotations

import enum
from typing import Final


class Scope(enum.StrEnum):
    """What an OAuth2 access token may be granted; the registry is closed (applications.md, Scopes)."""

    IDENTIFY = "identify"
    """Read the account without its email address."""

    EMAIL = "email"
    """Read the account's email address too."""

    GUILDS = "guilds"
    """List and read the account's guilds."""

    CONNECTIONS = "connections"
    """List the account's connections."""

    BOT = "bot"
    """Add the application's bot to a guild."""


SCOPES: Final[tuple[Scope, ...]] = tuple(Scope)
"""The scopes in the order in which a token response names them (applications.md, Scopes)."""

ADMIN_SCOPE: Final = "admin"
"""Use the administrative API. It exists inside the built-in Admin application only, and comes after all others
(applications.md, Scopes)."""


ADMIN_APPLICATION_ID: Final = 2
"""The snowflake of the Admin application: below all that are ever made, and beside the fixed ids of accounts
(access.md, Admin credentials)."""

ADMIN_APPLICATION_NAME: Final = "Admin"
"""What people read when the Admin application asks for their consent."""
