"""The operations of the HTTP API, one module per family."""

from __future__ import annotations

from typing import Final

from chat.api.operation import Routes
from chat.api.routes import discovery, gateway_bot, policy, threads
from chat.api.routes.accounts import accounts
from chat.api.routes.guilds import guild_channels, guilds, invites, members, roles
from chat.api.routes.messages import (
    message_deletion,
    messages,
    pins,
    polls,
    reactions,
    read_states,
    scheduled_messages,
    uploads,
)
from chat.api.routes.people import private_channels, relationships
from chat.api.routes.signing_in import authentication

AT_START: Final[tuple[Routes, ...]] = tuple(
    module.routes
    for module in (
        discovery,
        gateway_bot,
        authentication,
        accounts,
        relationships,
        private_channels,
        threads,
        guilds,
        guild_channels,
        roles,
        members,
        messages,
        message_deletion,
        pins,
        polls,
        reactions,
        read_states,
        scheduled_messages,
        uploads,
        policy,
        invites,
    )
)
"""Those that clients call all the time, and the neighbours of their paths. What a server has beside them
(`chat.api.routes.every`, `chat.admin.routes`) is imported when one of it is first asked for, because a tenth of the
start is spent on it."""
