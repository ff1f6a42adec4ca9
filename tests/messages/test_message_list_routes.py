"""Messages of several channels at once, and how long one waits before the next message."""

from __future__ import annotations

import pytest
import trio
from trio.testing import MockClock

from chat.clock import iso_timestamp
from chat.registries.message_types import MessageType
from chat.registries.permissions import Permission
from chat.testing.rest_client import Response
from chat.testing.world import Actor, World
from tests.messages.test_reaction_routes import set_permissions
from tests.threads.test_thread_routes import ask, start


async def written(actor: Actor, channel_id: str, count: int) -> list[str]:
    """Send `count` messages; their ids."""
    return [(await actor.rest.send_message(channel_id, str(number))).expect(200)["id"] for number in range(count)]


def refused(answer: Response, status: int, code: str) -> None:
    assert (answer.status, answer.code) == (status, code)


async def test_windows_of_several_channels(chat_world: World) -> None:
    alice, bob = chat_world.alice, chat_world.bob
    here, there = chat_world.channel_id, chat_world.voice_channel_id
    ids, others = await written(alice, here, 6), await written(alice, there, 2)
    opened = (await alice.rest.post("/v1/users/@me/channels", {"recipient_id": bob.id})).expect(200)
    answer = await bob.rest.messages_of_channels(
        {"channel_id": there, "limit": 50},
        {"channel_id": here, "limit": 2, "before": ids[4]},
        {"channel_id": here, "limit": 2, "after": ids[0]},
        {"channel_id": here, "limit": 3, "around": ids[2]},
        {"channel_id": chat_world.admin.id, "limit": 1},  # somebody else's notes
        {"channel_id": opened["id"], "limit": 1},
        {"channel_id": "999999999999999999", "limit": 1},
    )
    channels = answer.expect(200)["channels"]
    assert [(channel["channel_id"], [message["id"] for message in channel["messages"]]) for channel in channels] == [
        (there, others[::-1]),
        (here, [ids[3], ids[2]]),
        (here, [ids[2], ids[1]]),
        (here, [ids[3], ids[2], ids[1]]),
        (opened["id"], []),
    ]
    single = (await bob.rest.messages(there)).expect(200)
    assert channels[0]["messages"] == single


@pytest.mark.parametrize(
    ("body", "path"),
    [
        ({}, "requests"),
        ({"requests": []}, "requests"),
        ({"requests": [{"channel_id": "1", "limit": 1}] * 26}, "requests"),
        ({"requests": [{"channel_id": "1"}]}, "requests.0.limit"),
        ({"requests": [{"channel_id": "1", "limit": 51}]}, "requests.0.limit"),
        ({"requests": [{"limit": 1}]}, "requests.0.channel_id"),
        ({"requests": [{"channel_id": "1", "limit": 1, "before": "2", "after": "1"}]}, "requests.0.before"),
        ([], "root"),
    ],
)
async def test_what_is_wrong_with_windows(chat_world: World, body: object, path: str) -> None:
    answer = await chat_world.bob.rest.post("/v1/channels/messages/bulk", body)
    refused(answer, 400, "INVALID_FORM_BODY")
    assert [error["path"] for error in answer.json()["errors"]] == [path]


async def test_the_newest_messages_of_channels(chat_world: World) -> None:
    alice, bob = chat_world.alice, chat_world.bob
    ids = await written(alice, chat_world.channel_id, 2)
    opened = (await alice.rest.post("/v1/users/@me/channels", {"recipient_id": bob.id})).expect(200)
    wanted = [chat_world.channel_id, chat_world.channel_id, opened["id"], chat_world.admin.id, "999999999999999999"]
    preloaded = (await bob.rest.preload_messages(*wanted)).expect(200)
    assert preloaded.keys() == {chat_world.channel_id, opened["id"]}
    assert preloaded[chat_world.channel_id]["id"] == ids[1]
    assert preloaded[opened["id"]] is None
    other = await bob.rest.post("/v1/users/@me/channels/messages/preload", {"channels": wanted})
    assert other.expect(200) == preloaded
    for body in ({}, {"channels": ["x"]}, {"channels": ["1"] * 101}, {"channels": None}):
        refused(await bob.rest.post("/v1/users/@me/preload-messages", body), 400, "INVALID_FORM_BODY")
    assert (await bob.rest.preload_messages()).expect(200) == {}


async def test_what_one_may_not_read_is_in_no_list(chat_world: World) -> None:
    alice, bob, channel_id = chat_world.alice, chat_world.bob, chat_world.channel_id
    await written(alice, channel_id, 1)
    await set_permissions(chat_world, channel_id, deny=Permission.READ_MESSAGE_HISTORY)
    assert (await bob.rest.messages_of_channels({"channel_id": channel_id, "limit": 5})).expect(200) == {"channels": []}
    assert (await bob.rest.preload_messages(channel_id)).expect(200) == {}
    assert (await bob.rest.messages(channel_id)).expect(200) == []


async def test_sessions_that_know_no_threads_get_no_messages_about_them(chat_world: World) -> None:
    alice, bob, channel_id = chat_world.alice, chat_world.bob, chat_world.channel_id
    (message_id,) = await written(alice, channel_id, 1)
    await start(alice, channel_id)
    window = {"channel_id": channel_id, "limit": 1}
    assert (await bob.rest.preload_messages(channel_id)).expect(200)[channel_id]["id"] == message_id
    plain = (await bob.rest.messages_of_channels(window)).expect(200)["channels"][0]["messages"]
    assert [message["id"] for message in plain] == [message_id]
    known = (await ask(bob, "POST", "/v1/users/@me/preload-messages", {"channels": [channel_id]})).expect(200)
    assert known[channel_id]["type"] == MessageType.THREAD_CREATED
    listed = (await ask(bob, "POST", "/v1/channels/messages/bulk", {"requests": [window]})).expect(200)
    assert listed["channels"][0]["messages"] == [known[channel_id]]
    # Nor is one of them shown below an answer.
    body = {"content": "x", "message_reference": {"message_id": known[channel_id]["id"]}}
    answer = await ask(alice, "POST", f"/v1/channels/{channel_id}/messages", body)
    refused(answer, 400, "INVALID_FORM_BODY")


async def test_slowmode_tells_how_long(chat_world: World, autojump_clock: MockClock) -> None:
    alice, bob, channel_id = chat_world.alice, chat_world.bob, chat_world.channel_id
    free = {"rate_limit_per_user": 0, "retry_after_ms": 0, "next_send_allowed_at": None, "can_bypass": False}
    assert (await bob.rest.slowmode(channel_id)).expect(200) == free
    (await alice.rest.patch(f"/v1/channels/{channel_id}", {"rate_limit_per_user": 30})).expect(200)
    assert (await bob.rest.slowmode(channel_id)).expect(200) == {**free, "rate_limit_per_user": 30}
    await written(bob, channel_id, 1)
    await trio.sleep(10)
    waiting = (await bob.rest.slowmode(channel_id)).expect(200)
    assert 19_000 <= waiting["retry_after_ms"] <= 20_000
    assert waiting["next_send_allowed_at"] > iso_timestamp(0)
    answer = await bob.rest.send_message(channel_id, "too soon")
    refused(answer, 400, "SLOWMODE_RATE_LIMITED")
    assert 19 <= answer.json()["retry_after"] <= 20
    assert answer.header("Retry-After") is None  # design 7, JSON answers: only on 429 and 503
    assert answer.header("X-RateLimit-Limit") is None
    bypassing = (await alice.rest.slowmode(channel_id)).expect(200)
    assert bypassing == {**free, "rate_limit_per_user": 30, "can_bypass": True}
    await trio.sleep(20)
    assert (await bob.rest.slowmode(channel_id)).expect(200)["retry_after_ms"] == 0
    await written(bob, channel_id, 1)
    refused(await chat_world.admin.rest.slowmode(channel_id), 403, "MISSING_PERMISSIONS")
    refused(await bob.rest.slowmode("999999999999999999"), 404, "UNKNOWN_CHANNEL")
