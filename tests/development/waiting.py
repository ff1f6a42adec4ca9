"""Waiting for what a server notices by itself."""

from __future__ import annotations

import trio

from chat.testing.world import World


async def detached(world: World, left: int = 0) -> None:
    """Wait until only so many sessions still have a socket."""
    with trio.fail_after(5):
        while (  # noqa: ASYNC110 - another process tells of it only when asked
            sum(session["attached"] for session in await world.anyone.gateway_sessions()) > left
        ):
            await trio.sleep(0.01)
