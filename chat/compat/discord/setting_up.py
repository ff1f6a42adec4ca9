"""Sets up the second mount in a server that has it (architecture.md, Second mount)."""

from __future__ import annotations

from chat.api.operation import Routes
from chat.compat.discord import own_operations
from chat.compat.discord.events import Translator
from chat.compat.discord.gateway import DiscordGateway
from chat.compat.discord.objects import completed
from chat.domain.areas import Areas
from chat.domain.core import Core
from chat.gateway.gateway import Gateway


def set_up(core: Core, areas: Areas, gateway: Gateway) -> Routes:
    """Let the gateway and what endpoints hear speak in the mount's words; returns the operations of the mount alone."""
    translator = Translator(areas.accounts.account_states, core.guild_states, areas.guilds.memberships.every)
    gateway.mount = DiscordGateway(translator, core.origins)
    areas.interactions.deliveries.shaped = completed
    return own_operations.routes
