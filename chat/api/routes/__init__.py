"""The operations of the HTTP API, one module per family."""

from __future__ import annotations

from typing import Final

from chat.api.operation import Routes
from chat.api.routes import channels, guilds, invites, members, messages

ROUTES: Final[tuple[Routes, ...]] = (
    channels.routes,
    guilds.routes,
    invites.routes,
    members.routes,
    messages.routes,
)
