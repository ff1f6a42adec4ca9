"""The token of a webhook, or of an interaction, opens nothing while its guild is unavailable: 403 MISSING_ACCESS on
each of its routes."""

from __future__ import annotations

from typing import Final

from trio.testing import MockClock

from chat.api.operation import Policy
from chat.api.routes.every import ROUTES
from chat.testing.world import World
from tests.interactions.acting import answer, invoked, of, register
from tests.webhooks.surfaces import new_webhook

BY_TOKEN: Final = "/v1/webhooks/{webhook_id}/{token}"
BODIES: Final[dict[str, object]] = {
    "slack": {"text": "hello"},
    "github": {"zen": "hello"},
    "PATCH": {"name": "other"},
}
"""What is sent in place of a message, by the dialect or the method."""


async def test_no_route_by_token_opens_a_closed_guild(chat_world: World, autojump_clock: MockClock) -> None:
    webhook = await new_webhook(chat_world.alice.rest, chat_world.channel_id)
    path = BY_TOKEN.format(webhook_id=webhook["id"], token=webhook["token"])
    message = (await chat_world.anyone.post(f"{path}?wait=true", {"content": "hello"})).expect(200)
    [ping] = await register(chat_world, {"name": "ping", "description": "Answers."})
    at_bot = await chat_world.bot.connect()
    answered, waiting = [await invoked(chat_world, at_bot, ping) for _ in range(2)]
    (await answer(chat_world, answered, 4, {"content": "pong"})).expect(204)
    state = f"/v1/_dev/guilds/{chat_world.guild_id}"
    (await chat_world.anyone.post(state, {"features": ["UNAVAILABLE_FOR_EVERYONE"]})).expect(200)
    walked = [
        operation
        for routes in ROUTES
        for operation in routes.operations
        if operation.path.startswith(BY_TOKEN) and operation.policy is Policy.URL
    ]
    assert len(walked) >= 9
    for operation in walked:
        asked = operation.path.format(webhook_id=webhook["id"], token=webhook["token"], message_id=message["id"])
        if operation.path.endswith("/@original"):
            asked = of(answered)
        dialect = operation.path.rpartition("/")[2]
        body = BODIES.get(dialect, BODIES.get(operation.method, {"content": "hello"}))
        headers = {"X-GitHub-Event": "ping"} if dialect == "github" else {}
        refused = await chat_world.anyone.request(
            operation.method, asked, json=... if operation.method in ("GET", "DELETE") else body, headers=headers
        )
        assert (refused.status, refused.code) == (403, "MISSING_ACCESS"), (operation.method, operation.path)
    assert (await answer(chat_world, waiting, 5)).code == "MISSING_ACCESS"
    (await chat_world.anyone.post(state, {"features": []})).expect(200)
    (await chat_world.anyone.get(of(answered))).expect(200)
    (await chat_world.anyone.get(path)).expect(200)
