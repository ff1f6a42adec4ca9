"""Drafts: who keeps what, which of two stays, and how many there are."""

from __future__ import annotations

from typing import Any

import trio
from trio.testing import MockClock

from chat.clock import iso_timestamp
from chat.registries.limits import DRAFTS
from chat.testing.rest_client import Response
from chat.testing.world import Actor, World
from tests.messages.test_scheduled_messages import now

OWN = "/v1/users/@me/drafts"


async def put(actor: Actor, channel_id: str, content: str, **members: Any) -> Response:
    return await actor.rest.put(f"{OWN}/{channel_id}", {"content": content, **members})


async def texts(actor: Actor) -> dict[str, str]:
    return {draft["channel_id"]: draft["content"] for draft in (await actor.rest.get(OWN)).expect(200)}


async def test_a_draft_is_kept_for_its_account_alone(chat_world: World) -> None:
    alice, bob, channel_id = chat_world.alice, chat_world.bob, chat_world.channel_id
    present = await now(chat_world)
    (await put(bob, channel_id, " half a th\u00f6ught\n", edited_at=iso_timestamp(present - 5_000))).expect(204)
    assert (await bob.rest.get(OWN)).expect(200) == [
        {
            "channel_id": channel_id,
            "content": " half a th\u00f6ught\n",
            "edited_at": iso_timestamp(present - 5_000),
        }
    ]
    assert await texts(alice) == {}
    for answer, status, code in (
        (await put(bob, "1", "x"), 404, "UNKNOWN_CHANNEL"),
        (await put(bob, channel_id, "x" * 4_001), 400, "INVALID_FORM_BODY"),
        (await put(bob, channel_id, "x", edited_at="yesterday"), 400, "INVALID_FORM_BODY"),
        (await chat_world.bot.rest.get(OWN), 403, "ACCESS_DENIED"),
    ):
        assert (answer.status, answer.code) == (status, code)


async def test_the_text_edited_later_stays(chat_world: World, autojump_clock: MockClock) -> None:
    bob, channel_id = chat_world.bob, chat_world.channel_id
    present = await now(chat_world)
    (await put(bob, channel_id, "new", edited_at=iso_timestamp(present - 1_000))).expect(204)
    (await put(bob, channel_id, "old", edited_at=iso_timestamp(present - 2_000))).expect(204)
    assert await texts(bob) == {channel_id: "new"}
    # What lies ahead is now: nobody's clock keeps others from writing.
    (await put(bob, channel_id, "ahead", edited_at=iso_timestamp(present + 10**9))).expect(204)
    await trio.sleep(1)
    (await put(bob, channel_id, "")).expect(204)
    (await put(bob, channel_id, "old", edited_at=iso_timestamp(present - 2_000))).expect(204)
    assert await texts(bob) == {channel_id: ""}


async def test_the_one_edited_first_makes_room(chat_world: World, autojump_clock: MockClock) -> None:
    alice = chat_world.alice
    made = []
    for number in range(DRAFTS + 1):
        body = {"name": f"c{number}", "type": 0}
        made.append((await alice.rest.post(f"/v1/guilds/{chat_world.guild_id}/channels", body)).expect(200)["id"])
        (await put(alice, made[-1], f"{number}")).expect(204)
        await trio.sleep(2)
    kept = await texts(alice)
    assert list(kept) == made[:0:-1]
    assert made[0] not in kept
