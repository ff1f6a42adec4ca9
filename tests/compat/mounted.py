"""Clients of the mount, in tests that look at what its sessions hear."""

from __future__ import annotations

from typing import Any, Final

from chat.compat.discord.intents import ALL_INTENTS, Intent
from chat.testing import GatewayClient, World
from chat.testing.network import Route
from chat.testing.world import Actor

QUERY: Final = "v=10&encoding=json"
NOT_CONTENT: Final = ALL_INTENTS & ~Intent.MESSAGE_CONTENT
REST: Final = "/api/v10"


async def connected(
    actor: Actor, *, intents: int = ALL_INTENTS, query: str = QUERY, route: Route | None = None, **members: Any
) -> GatewayClient:
    """A client at the mount that has received Ready."""
    client = await actor.open(query=query, route=route)
    await client.identify(f"Bot {actor.token}", intents=intents, **members)
    await client.expect("READY")
    return client


async def resumed(
    world: World, client: GatewayClient, query: str = QUERY, *, route: Route | None = None
) -> GatewayClient:
    """The bot's client, after Resume was sent on a new socket."""
    successor = await world.bot.open(query=query, route=route)
    await successor.resume(f"Bot {world.bot.token}", client.session_id, client.sequence)
    return successor
