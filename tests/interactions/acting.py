"""What a person does with an application, and what the application answers, over HTTP."""

from __future__ import annotations

from typing import Any

from chat.testing.gateway_client import GatewayClient
from chat.testing.rest_client import Response
from chat.testing.world import Person, World

ACTS = "/v1/interactions"
PING = {
    "name": "ping",
    "description": "Answers.",
    "options": [
        {"type": 3, "name": "name", "description": "d", "required": True},
        {"type": 6, "name": "who", "description": "d"},
    ],
}


async def register(world: World, *commands: dict[str, Any]) -> list[dict[str, Any]]:
    """These commands are those of the world's application, and no others."""
    path = f"/v1/applications/{world.bot.application_id}/commands"
    return list((await world.bot.rest.put(path, list(commands))).expect(200))


async def act(person: Person, world: World, kind: int, data: dict[str, Any], **members: Any) -> Response:
    """What a person does with the world's application in the seeded channel."""
    body = {
        "type": kind,
        "application_id": world.bot.application_id,
        "channel_id": world.channel_id,
        "nonce": "n",
        "data": data,
        **members,
    }
    return await person.rest.post(ACTS, body)


async def invoked(
    world: World, at_bot: GatewayClient, command: dict[str, Any], *options: dict[str, Any], **members: Any
) -> dict[str, Any]:
    """What the bot hears when bob invokes the command."""
    data = {"id": command["id"], "options": list(options)}
    (await act(world.bob, world, 2, data, **members)).expect(204)
    return dict((await at_bot.expect("INTERACTION_CREATE")).data)


async def answer(world: World, told: dict[str, Any], kind: int, data: dict[str, Any] | None = None) -> Response:
    """The first answer of the application."""
    body = {"type": kind} if data is None else {"type": kind, "data": data}
    return await world.anyone.post(f"{ACTS}/{told['id']}/{told['token']}/callback", body)


def of(told: dict[str, Any], message: str = "@original") -> str:
    """The address of an answer to this interaction."""
    return f"/v1/webhooks/{told['application_id']}/{told['token']}/messages/{message}"


NAME = {"name": "name", "value": "x"}
