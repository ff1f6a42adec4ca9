"""One answer for a message that the caller may not read, whatever is done to it: that for one which is not there."""

from __future__ import annotations

from typing import Any, Final

import pytest

from chat.api.operation import Operation
from chat.api.routes.every import ROUTES
from chat.auth.policy import Policy
from chat.registries.permissions import ALL_DEFINED, Permission
from chat.testing.rest_client import RestClient
from chat.testing.world import World
from tests.threads.thread_world import ANNOUNCEMENT, allow, channel, knowing
from tests.webhooks.surfaces import form, post_form

HISTORY: Final = int(Permission.READ_MESSAGE_HISTORY)
NOBODY: Final = "1"
"""The id of a message that is not there."""

BODIES: Final[dict[str, Any]] = {
    "PATCH /v1/channels/{channel_id}/messages/{message_id}": {"content": "changed"},
    "POST /v1/channels/{channel_id}/messages/{message_id}/threads": {"name": "aside"},
    "POST /v1/channels/{channel_id}/messages/{message_id}/memes": {"name": "mine"},
    "PUT /v1/channels/{channel_id}/polls/{message_id}/answers/@me": {"answer_ids": ["1"]},
}

ABOUT_THE_CALLER: Final = {
    "POST /v1/channels/{channel_id}/messages/{message_id}/ack": "says how far the caller read, by any id",
}


def operations() -> list[Operation]:
    """Those that name a message by its channel."""
    return [
        operation
        for routes in ROUTES
        for operation in routes.operations
        if {"channel_id", "message_id"} <= set(operation.path_members)
        and operation.policy not in (Policy.URL, Policy.ADMIN)
        and f"{operation.method} {operation.path}" not in ABOUT_THE_CALLER
    ]


def named(operation: Operation) -> str:
    return f"{operation.method} {operation.path}"


async def hidden(world: World) -> tuple[str, dict[str, Any]]:
    """A channel in which bob may do everything but read, and a message in it with a file and a reaction."""
    place = (await channel(world, "news", ANNOUNCEMENT))["id"]
    await allow(world, place, world.bob.id, allow=ALL_DEFINED & ~HISTORY, deny=HISTORY)
    path = f"/v1/channels/{place}/messages"
    sent = (await post_form(world.alice.rest, path, form([("file", "a.txt", b"x")], b'{"content": "secret"}'))).expect(
        200
    )
    (await world.alice.rest.put(f"{path}/{sent['id']}/reactions/%E2%9C%85/@me")).expect(204)
    return place, sent


async def ask(client: RestClient, operation: Operation, place: str, sent: dict[str, Any], user_id: str) -> Any:
    names = {
        "channel_id": place, "message_id": sent["id"], "emoji": "%E2%9C%85", "user_id": user_id,
        "attachment_id": sent["attachments"][0]["id"], "answer_id": "1",
    }  # fmt: skip
    body = BODIES.get(named(operation), ...)
    answer = await client.request(operation.method, operation.path.format(**names), json=body)
    return answer.status, answer.code if answer.status >= 400 else None


@pytest.mark.parametrize("operation", operations(), ids=named)
async def test_whatever_is_done_to_it(chat_world: World, operation: Operation) -> None:
    place, sent = await hidden(chat_world)
    for message in (sent, {**sent, "id": NOBODY}):
        found = await ask(knowing(chat_world.bob), operation, place, message, chat_world.alice.id)
        assert found == (404, "UNKNOWN_MESSAGE")


async def test_what_names_it_in_a_body(chat_world: World) -> None:
    place, sent = await hidden(chat_world)
    bob, here = chat_world.bob.rest, chat_world.channel_id
    for message_id in (sent["id"], NOBODY):
        reference = {"channel_id": place, "message_id": message_id}
        for answer in (
            await bob.send_message(place, "x", message_reference=reference),
            await bob.send_message(place, "", message_reference={**reference, "type": 1}),
            await bob.send_message(here, "", message_reference={**reference, "type": 1}),
            await bob.post("/v1/users/@me/saved-messages", reference),
            await bob.post("/v1/reports/message", {**reference, "category": "spam"}),
        ):
            assert (answer.status, answer.code) == (404, "UNKNOWN_MESSAGE"), answer.body


async def test_what_the_server_wrote_is_neither_answered_nor_carried_on(chat_world: World) -> None:
    place, alice = chat_world.channel_id, chat_world.alice.rest
    sent = (await alice.send_message(place, "pin me")).expect(200)
    (await alice.put(f"/v1/channels/{place}/pins/{sent['id']}")).expect(204)
    told = (await alice.messages(place, limit=1)).expect(200)[0]
    assert told["type"] == 6
    for kind in (0, 1):
        reference = {"channel_id": place, "message_id": told["id"], "type": kind}
        answer = await alice.send_message(place, "x" if kind == 0 else "", message_reference=reference)
        assert (answer.status, answer.json()["errors"][0]["path"]) == (400, "message_reference.message_id")
