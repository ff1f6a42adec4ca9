"""Waiting for what a server notices by itself."""

from __future__ import annotations

import trio

from chat.testing.gateway_client import GatewayClient
from chat.testing.world import Actor, World
from tests.patience import PATIENCE_SECONDS

SETTLED_SECONDS = 0.15
"""By then a new session has heard of its own presence, if it hears of it at all."""


async def connected(actor: Actor, *, heartbeats: bool = True) -> GatewayClient:
    """A client of this account to whom nothing more is said about its own start."""
    client = await actor.connect(heartbeats=heartbeats)
    await trio.sleep(SETTLED_SECONDS)
    client.unread()
    return client


async def detached(world: World, left: int = 0) -> None:
    """Wait until only `left` sessions still have a socket."""
    with trio.fail_after(PATIENCE_SECONDS):
        while (  # noqa: ASYNC110 - another process tells of it only when asked
            sum(session["attached"] for session in await world.anyone.gateway_sessions()) > left
        ):
            await trio.sleep(0.01)
