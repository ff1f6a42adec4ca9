"""How a client goes through single sign-on."""

from __future__ import annotations

from typing import Any

import trio
from provider import Provider

from chat.testing.rest_client import Response, RestClient
from chat.testing.server import ChatServer
from chat.testing.world import World


class MovingClock:
    """The server's clock, at real speed, and hands to move it with; the provider's may follow."""

    def __init__(self, hands: trio.testing.MockClock, server: ChatServer) -> None:
        self._hands = hands
        self._server = server

    def follow(self, provider: Provider) -> None:
        """Let the provider's clock be the same."""
        provider.now = lambda: self._server.clock.now_ms() / 1_000

    def advance(self, seconds: float) -> None:
        """Move forward."""
        self._hands.jump(seconds)


async def start(client: RestClient, **body: object) -> dict[str, Any]:
    """Begin; what the server says."""
    answer: dict[str, Any] = (await client.post("/v1/auth/sso/start", body)).expect(200)
    return answer


async def come_back(client: RestClient, provider: Provider, **body: object) -> Response:
    """Begin, sign in at the provider, and bring back what it gave."""
    begun = await start(client, **body)
    return await client.post("/v1/auth/sso/complete", provider.authorize(begun["authorization_url"]))


async def set_account(world: World, user_id: str, **members: object) -> None:
    """Set an account's state directly."""
    (await world.anyone.post(f"/v1/_dev/users/{user_id}", members)).expect(200)
