"""Requests about one guild that overtake each other: documented answers, and everything or nothing is written."""

from __future__ import annotations

import functools
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

import pytest
import trio
import trio.testing

from chat.testing.rest_client import Response
from chat.testing.world import World
from tests.simulation.client_model import ClientModel
from tests.simulation.guild_history import without_doubtful

Ask = Callable[[], Awaitable[Response]]
ROUNDS = 6


async def together(asks: Sequence[Ask]) -> list[Response]:
    """The answers to requests that were under way at the same time."""
    answers: dict[int, Response] = {}

    async def send(place: int, ask: Ask) -> None:
        answers[place] = await ask()

    async with trio.open_nursery() as nursery:
        for place, ask in enumerate(asks):
            nursery.start_soon(send, place, ask)
    return [answers[place] for place in range(len(asks))]


def documented(answers: Sequence[Response], codes: set[str]) -> None:
    """Each answer is a success or one of these errors."""
    assert [
        (answer.status, answer.code) for answer in answers if answer.status >= 300 and answer.code not in codes
    ] == []


async def nothing_left(world: World, guild_id: str) -> None:
    """No account is told of the guild, and it is unknown."""
    for actor in (world.alice, world.bob):
        client = await actor.connect()
        assert client.ready is not None
        assert guild_id not in {guild["id"] for guild in client.ready["guilds"]}
        await client.aclose()
    assert (await world.alice.rest.get(f"/v1/guilds/{guild_id}")).code == "UNKNOWN_GUILD"


async def guild_with_bob(world: World) -> tuple[str, str]:
    """A guild of alice's that bob is in too, and its text channel."""
    made = (await world.alice.rest.create_guild("Short-lived")).expect(200)
    channels = (await world.alice.rest.get(f"/v1/guilds/{made['id']}/channels")).expect(200)
    channel_id = next(channel["id"] for channel in channels if channel["type"] == 0)
    invite = (await world.alice.rest.create_channel_invite(channel_id)).expect(200)
    (await world.bob.rest.accept_invite(invite["code"])).expect(200)
    return made["id"], channel_id


@pytest.mark.parametrize("place", range(ROUNDS))
@pytest.mark.chat_settings(rate_limits=False)
async def test_a_guild_is_deleted_while_everything_else_happens_in_it(
    place: int, chat_world: World, autojump_clock: trio.testing.MockClock
) -> None:
    alice, bob = chat_world.alice.rest, chat_world.bob.rest
    guild_id, channel_id = await guild_with_bob(chat_world)
    path = f"/v1/guilds/{guild_id}"
    role_id = (await alice.post(f"{path}/roles", {"name": "role"})).expect(200)["id"]
    invite = (await alice.create_channel_invite(channel_id)).expect(200)["code"]
    password = chat_world.alice.password
    asks: list[Ask] = [
        lambda: bob.send_message(channel_id, "hello"),
        lambda: alice.patch(path, {"name": "Renamed"}),
        lambda: alice.post(f"{path}/roles", {"name": "another"}),
        lambda: alice.patch(f"{path}/roles/{role_id}", {"permissions": "1024"}),
        lambda: alice.put(f"{path}/members/{chat_world.bob.id}/roles/{role_id}"),
        lambda: alice.post(f"{path}/channels", {"name": "new", "type": 0}),
        lambda: alice.patch(f"/v1/channels/{channel_id}", {"topic": "late"}),
        lambda: alice.put(f"/v1/channels/{channel_id}/permissions/{role_id}", {"type": 0, "deny": "1024"}),
        lambda: alice.delete(f"/v1/channels/{channel_id}"),
        lambda: chat_world.carol.rest.accept_invite(invite),
        lambda: bob.delete(f"/v1/users/@me/guilds/{guild_id}"),
        lambda: alice.put(f"{path}/bans/{chat_world.bob.id}", {}),
        lambda: alice.create_channel_invite(channel_id),
        lambda: bob.post(
            f"/v1/users/@me/guilds/{guild_id}/messages/bulk-delete-mine", {"password": chat_world.bob.password}
        ),
    ]
    asks.insert(place * len(asks) // ROUNDS, lambda: alice.post(f"{path}/delete", {"password": password}))
    answers = await together(asks)
    documented(
        answers,
        {
            "UNKNOWN_GUILD", "UNKNOWN_CHANNEL", "UNKNOWN_ROLE", "UNKNOWN_MEMBER", "UNKNOWN_INVITE",
            "MISSING_ACCESS", "MISSING_PERMISSIONS", "ACCESS_DENIED",
        },
    )  # fmt: skip
    await nothing_left(chat_world, guild_id)


@pytest.mark.parametrize("place", range(ROUNDS))
@pytest.mark.chat_settings(rate_limits=False)
async def test_a_channel_is_deleted_while_people_post_in_it(
    place: int, chat_world: World, autojump_clock: trio.testing.MockClock
) -> None:
    alice, bob = chat_world.alice.rest, chat_world.bob.rest
    made = (await alice.post(f"/v1/guilds/{chat_world.guild_id}/channels", {"name": "x", "type": 0})).expect(200)
    channel_id = made["id"]
    asks: list[Ask] = [lambda: bob.send_message(channel_id, "hello") for _ in range(ROUNDS)]
    asks += [
        lambda: alice.patch(f"/v1/channels/{channel_id}", {"name": "y"}),
        lambda: alice.put(f"/v1/channels/{channel_id}/permissions/{chat_world.bob.id}", {"type": 1, "deny": "2048"}),
        lambda: alice.delete(f"/v1/channels/{channel_id}"),
        lambda: alice.patch(f"/v1/guilds/{chat_world.guild_id}/channels", [{"id": channel_id, "position": 0}]),
    ]
    asks.insert(place, lambda: alice.delete(f"/v1/channels/{channel_id}"))
    answers = await together(asks)
    documented(answers, {"UNKNOWN_CHANNEL", "INVALID_FORM_BODY", "MISSING_PERMISSIONS"})
    assert sum(answer.status == 204 for answer in answers) >= 1
    assert (await alice.messages(channel_id)).code == "UNKNOWN_CHANNEL"
    kept = (await alice.get(f"/v1/guilds/{chat_world.guild_id}/channels")).expect(200)
    assert len(kept) == len({channel["id"] for channel in kept})


@pytest.mark.parametrize("place", range(ROUNDS))
@pytest.mark.chat_settings(rate_limits=False)
async def test_a_role_is_deleted_while_it_is_given(
    place: int, chat_world: World, autojump_clock: trio.testing.MockClock
) -> None:
    alice, path = chat_world.alice.rest, f"/v1/guilds/{chat_world.guild_id}"
    role_id = (await alice.post(f"{path}/roles", {"name": "short"})).expect(200)["id"]
    asks: list[Ask] = [
        functools.partial(alice.put, f"{path}/members/{user.id}/roles/{role_id}")
        for user in (chat_world.bob, chat_world.carol, chat_world.bob, chat_world.carol)
    ]
    asks.append(lambda: alice.put(f"/v1/channels/{chat_world.channel_id}/permissions/{role_id}", {"type": 0}))
    asks.insert(place, lambda: alice.delete(f"{path}/roles/{role_id}"))
    documented(await together(asks), {"UNKNOWN_ROLE", "INVALID_FORM_BODY"})
    for user in (chat_world.bob, chat_world.carol):
        member = (await alice.get(f"{path}/members/{user.id}")).expect(200)
        assert role_id not in member["roles"]
    overwrites = (await alice.get(f"/v1/channels/{chat_world.channel_id}")).expect(200)["permission_overwrites"]
    assert role_id not in {entry["id"] for entry in overwrites}


@pytest.mark.chat_settings(rate_limits=False)
async def test_two_orders_at_once_leave_one_order(chat_world: World, autojump_clock: trio.testing.MockClock) -> None:
    alice, path = chat_world.alice.rest, f"/v1/guilds/{chat_world.guild_id}"
    at_bob = await chat_world.bob.connect()
    assert at_bob.ready is not None
    model = ClientModel(at_bob.ready, threads=False)
    role_ids = [(await alice.post(f"{path}/roles", {"name": f"r{n}"})).expect(200)["id"] for n in range(4)]
    channel_ids = [(await alice.post(f"{path}/channels", {"name": f"c{n}"})).expect(200)["id"] for n in range(4)]
    await together(
        [
            lambda: alice.patch(f"{path}/roles", _order(role_ids)),
            lambda: alice.patch(f"{path}/roles", _order(role_ids[::-1])),
            lambda: alice.patch(f"{path}/channels", _order(channel_ids)),
            lambda: alice.patch(f"{path}/channels", _order(channel_ids[::-1])),
            lambda: alice.delete(f"{path}/roles/{role_ids[0]}"),
        ]
    )
    found = (await alice.get(f"{path}/roles")).expect(200)
    assert sorted(role["position"] for role in found) == list(range(len(found)))
    await trio.sleep(1)
    for payload in at_bob.unread():
        model.take(payload.name, payload.data)
    fresh = await chat_world.bob.connect()
    assert fresh.ready is not None
    known, told = model.picture(), ClientModel(fresh.ready, threads=False).picture()
    without_doubtful(known, told)
    assert known == told


def _order(ids: Sequence[str]) -> list[dict[str, Any]]:
    return [{"id": entry, "position": position} for position, entry in enumerate(ids, start=1)]
