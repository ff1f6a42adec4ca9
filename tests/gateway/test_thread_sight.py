"""Threads on the gateway: who is told of which, what comes into sight and goes out of it, what one may ask for.

Area: gateway. Rules: 000.sequencing, 001.guild-object.
"""

from __future__ import annotations

from typing import Any

import pytest
import trio.testing

from chat.registries.opcodes import Opcode
from chat.testing.gateway_client import GatewayClient
from chat.testing.world import World
from tests.threads.thread_world import FORUM, MANAGE_THREADS, VIEW_CHANNEL, allow, channel, knowing, post, thread, watch


async def nothing_more(world: World, client: GatewayClient, *names: str) -> None:
    """Whatever was caused has arrived, and none of these was among it."""
    marker = (await world.alice.rest.send_message(world.channel_id, "marker")).expect(200)["id"]
    seen: list[str | None] = []
    while True:
        payload = await client.next_payload()
        seen.append(payload.name)
        if payload.name == "MESSAGE_CREATE" and payload.data["id"] == marker:
            break
    assert not [name for name in seen if name in names]


async def test_a_channel_comes_into_sight_with_its_threads(chat_world: World) -> None:
    above = (await channel(chat_world, "above", 0))["id"]
    joined, other = await thread(chat_world.bob, above), await thread(chat_world.alice, above)
    private = await thread(chat_world.alice, above, type=12)
    archived = await thread(chat_world.bob, above)
    (await knowing(chat_world.bob).change_channel(archived["id"], archived=True)).expect(200)
    for actor in (chat_world.bob, chat_world.bot):
        await allow(chat_world, above, actor.id, deny=VIEW_CHANNEL)
    at_bob, at_bot = await watch(chat_world.bob), await watch(chat_world.bot)
    assert at_bob.ready["guilds"][0]["threads"] == []
    for actor in (chat_world.bob, chat_world.bot):
        await allow(chat_world, above, actor.id, allow=VIEW_CHANNEL)

    await at_bob.expect("CHANNEL_CREATE")
    sync = (await at_bob.expect("THREAD_LIST_SYNC")).data
    assert (sync["guild_id"], sync["channel_ids"]) == (chat_world.guild_id, [above])
    assert [entry["id"] for entry in sync["threads"]] == [joined["id"]]
    assert [(entry["id"], entry["user_id"]) for entry in sync["members"]] == [(joined["id"], chat_world.bob.id)]
    sync = (await at_bot.expect("THREAD_LIST_SYNC")).data
    assert {entry["id"] for entry in sync["threads"]} == {joined["id"], other["id"]}
    assert private["id"] not in {entry["id"] for entry in sync["threads"]}
    # Out of sight again: nothing is heard from there.
    await allow(chat_world, above, chat_world.bob.id, deny=VIEW_CHANNEL)
    await at_bob.expect("CHANNEL_DELETE")
    (await chat_world.alice.rest.send_message(joined["id"], "x")).expect(200)
    (await knowing(chat_world.alice).change_channel(joined["id"], name="renamed")).expect(200)
    await thread(chat_world.alice, above)
    await nothing_more(chat_world, at_bob, "THREAD_UPDATE", "THREAD_CREATE", "THREAD_MEMBERS_UPDATE")


async def test_managing_threads_shows_private_ones(chat_world: World) -> None:
    where = chat_world.channel_id
    private, own = await thread(chat_world.alice, where, type=12), await thread(chat_world.alice, where, type=12)
    for actor in (chat_world.bob, chat_world.bot):
        (await knowing(chat_world.alice).join_thread(own["id"], actor.id)).expect(204)
    at_bob, at_bot = await watch(chat_world.bob), await watch(chat_world.bot)
    for actor in (chat_world.bob, chat_world.bot):
        await allow(chat_world, where, actor.id, allow=MANAGE_THREADS)
    sync = (await at_bot.expect("THREAD_LIST_SYNC")).data
    assert {entry["id"] for entry in sync["threads"]} == {private["id"], own["id"]}
    assert [entry["id"] for entry in sync["members"]] == [own["id"]]
    # From now on both hear of it.
    (await chat_world.alice.rest.send_message(private["id"], "secret")).expect(200)
    for client in (at_bob, at_bot):
        assert (await client.expect("MESSAGE_CREATE")).data["content"] == "secret"
    new = await thread(chat_world.alice, where, type=12)
    for client in (at_bob, at_bot):
        assert (await client.expect("THREAD_CREATE")).data["id"] == new["id"]

    for actor in (chat_world.bob, chat_world.bot):
        await allow(chat_world, where, actor.id)
    for client in (at_bob, at_bot):
        gone = {(await client.expect("THREAD_DELETE")).data["id"] for _ in range(2)}
        assert gone == {private["id"], new["id"]}
    (await chat_world.alice.rest.send_message(private["id"], "secret")).expect(200)
    (await knowing(chat_world.alice).change_channel(new["id"], name="renamed")).expect(200)
    (await chat_world.alice.rest.send_message(own["id"], "not so secret")).expect(200)
    for client in (at_bob, at_bot):
        said = (await client.expect("MESSAGE_CREATE")).data
        assert said["content"] == "not so secret"
        await nothing_more(chat_world, client, "THREAD_UPDATE", "THREAD_DELETE")


async def test_a_role_shows_private_threads_to_all_who_have_it(chat_world: World) -> None:
    private = await thread(chat_world.alice, chat_world.channel_id, type=12)
    at_bot, knows_nothing = await watch(chat_world.bot), await chat_world.carol.connect()
    roles = f"/v1/guilds/{chat_world.guild_id}/roles"
    made = {"name": "wardens", "permissions": str(MANAGE_THREADS)}
    role = (await knowing(chat_world.alice).post(roles, made)).expect(200)["id"]
    for actor in (chat_world.bot, chat_world.carol):
        path = f"/v1/guilds/{chat_world.guild_id}/members/{actor.id}/roles/{role}"
        (await knowing(chat_world.alice).put(path)).expect(204)
    assert (await at_bot.expect("THREAD_LIST_SYNC")).data["threads"][0]["id"] == private["id"]
    (await knowing(chat_world.alice).patch(f"{roles}/{role}", {"permissions": "0"})).expect(200)
    assert (await at_bot.expect("THREAD_DELETE")).data["id"] == private["id"]
    await nothing_more(chat_world, knows_nothing, "THREAD_LIST_SYNC", "THREAD_DELETE", "THREAD_CREATE")


async def test_whoever_asks_is_told_of_every_active_thread(chat_world: World) -> None:
    where, at_bob = chat_world.channel_id, await watch(chat_world.bob)
    other, private = await thread(chat_world.alice, where), await thread(chat_world.alice, where, type=12)
    own = await thread(chat_world.bob, where)

    async def ask(client: GatewayClient, **wish: Any) -> None:
        await client.send(Opcode.LAZY_REQUEST, {"subscriptions": {chat_world.guild_id: wish}})

    await ask(at_bob, threads=True)
    sync = (await at_bob.expect("THREAD_LIST_SYNC")).data
    assert "channel_ids" not in sync
    assert {entry["id"] for entry in sync["threads"]} == {other["id"], own["id"]}
    # Once is enough; and from then on the whole guild comes with all of them.
    await ask(at_bob, threads=True)
    await ask(at_bob, sync=True)
    threads = (await at_bob.expect("GUILD_SYNC")).data["threads"]
    assert {entry["id"] for entry in threads} == {other["id"], own["id"]}
    await ask(at_bob, threads=False)
    await ask(at_bob, sync=True)
    assert [entry["id"] for entry in (await at_bob.expect("GUILD_SYNC")).data["threads"]] == [own["id"]]
    assert private["id"] not in {entry["id"] for entry in threads}
    # A session that knows no threads asks in vain.
    knows_nothing = await chat_world.carol.connect()
    await ask(knows_nothing, threads=True, thread_member_lists=[other["id"]])
    await nothing_more(chat_world, knows_nothing, "THREAD_LIST_SYNC", "THREAD_MEMBER_LIST_UPDATE")


async def test_watching_who_is_in_a_thread(chat_world: World, autojump_clock: trio.testing.MockClock) -> None:
    where, at_bob = chat_world.channel_id, await watch(chat_world.bob)
    opened, private = await thread(chat_world.alice, where), await thread(chat_world.alice, where, type=12)
    wish = {"thread_member_lists": [opened["id"], private["id"], "1"]}
    await at_bob.send(Opcode.LAZY_REQUEST, {"subscriptions": {chat_world.guild_id: wish}})

    async def shown() -> list[str]:
        data = (await at_bob.expect("THREAD_MEMBER_LIST_UPDATE")).data
        assert (data["guild_id"], data["thread_id"]) == (chat_world.guild_id, opened["id"])
        for entry in data["members"]:
            assert entry["member"]["user"]["id"] == entry["user_id"] == entry["presence"]["user"]["id"]
        return [entry["user_id"] for entry in data["members"]]

    assert await shown() == [chat_world.alice.id]
    (await knowing(chat_world.carol).join_thread(opened["id"])).expect(204)
    assert set(await shown()) == {chat_world.alice.id, chat_world.carol.id}
    (await knowing(chat_world.carol).leave_thread(opened["id"])).expect(204)
    assert await shown() == [chat_world.alice.id]
    # No replay brings these; whoever resumes is shown them afresh.
    at_bob.drop()
    at_bob = await chat_world.bob.resume(at_bob)
    assert await shown() == [chat_world.alice.id]
    await at_bob.send(Opcode.LAZY_REQUEST, {"subscriptions": {chat_world.guild_id: {"thread_member_lists": []}}})
    await trio.sleep(2)
    (await knowing(chat_world.carol).join_thread(opened["id"])).expect(204)
    await trio.sleep(5)
    await nothing_more(chat_world, at_bob, "THREAD_MEMBER_LIST_UPDATE")


async def test_how_much_is_unread_in_a_forum(chat_world: World, autojump_clock: trio.testing.MockClock) -> None:
    forum, other = (await channel(chat_world, "help", FORUM))["id"], (await channel(chat_world, "news", FORUM))["id"]
    read, busy = await post(chat_world.alice, forum), await post(chat_world.alice, forum)
    elsewhere = await post(chat_world.alice, other)
    last = (await chat_world.alice.rest.send_message(read["id"], "answer")).expect(200)["id"]
    for number in range(30):
        (await chat_world.alice.rest.send_message(busy["id"], str(number))).expect(200)
        await trio.sleep(1)
    at_bob = await watch(chat_world.bob)

    async def unread(*threads: dict[str, Any]) -> list[dict[str, Any]]:
        wish = {"guild_id": chat_world.guild_id, "channel_id": forum, "threads": list(threads)}
        await at_bob.send(Opcode.REQUEST_FORUM_UNREADS, wish)
        data = (await at_bob.expect("FORUM_UNREADS")).data
        assert (data["guild_id"], data["channel_id"]) == (chat_world.guild_id, forum)
        told: list[dict[str, Any]] = data["threads"]
        return told

    assert await unread(
        {"thread_id": read["id"], "ack_message_id": last},
        {"thread_id": busy["id"]},
        {"thread_id": elsewhere["id"]},
        {"thread_id": "1"},
    ) == [
        {"thread_id": read["id"], "count": 0},
        {"thread_id": busy["id"], "count": 25},
        {"thread_id": elsewhere["id"], "missing": True},
        {"thread_id": "1", "missing": True},
    ]
    assert await unread({"thread_id": read["id"], "ack_message_id": read["id"]}) == [
        {"thread_id": read["id"], "count": 1}
    ]
    await allow(chat_world, forum, chat_world.bob.id, deny=VIEW_CHANNEL)
    await at_bob.send(
        Opcode.REQUEST_FORUM_UNREADS, {"guild_id": chat_world.guild_id, "channel_id": forum, "threads": []}
    )
    await nothing_more(chat_world, at_bob, "FORUM_UNREADS")


@pytest.mark.rule("000.sequencing.9", "000.sequencing.10", "001.guild-object.41")
async def test_guild_create_and_guild_sync_have_the_threads(chat_world: World) -> None:
    where = chat_world.channel_id
    opened, private = await thread(chat_world.bob, where), await thread(chat_world.bob, where, type=12)
    archived = await thread(chat_world.bob, where)
    (await knowing(chat_world.bob).change_channel(archived["id"], archived=True)).expect(200)
    await thread(chat_world.alice, where)
    at_bob = await watch(chat_world.bob)
    ready = at_bob.ready["guilds"][0]
    assert {entry["id"] for entry in ready["threads"]} == {opened["id"], private["id"]}
    assert all(entry["member"]["user_id"] == chat_world.bob.id for entry in ready["threads"])
    await at_bob.send(Opcode.LAZY_REQUEST, {"subscriptions": {chat_world.guild_id: {"sync": True}}})
    synced = (await at_bob.expect("GUILD_SYNC")).data
    assert synced["threads"] == ready["threads"]
    for guild in (ready, synced):
        assert {opened["id"], private["id"]}.isdisjoint(entry["id"] for entry in guild["channels"])
    got = (await knowing(chat_world.bob).get(f"/v1/guilds/{chat_world.guild_id}")).expect(200)
    assert opened["id"] not in {entry["id"] for entry in got["channels"]}
    plain = await chat_world.bob.connect()
    assert plain.ready["guilds"][0]["threads"] == []


async def test_ignored_events_and_own_settings(chat_world: World) -> None:
    at_bob = await chat_world.bob.connect(flags=1 << 2, ignored_events=["THREAD_CREATE"])
    opened = await thread(chat_world.bob, chat_world.channel_id)
    settings = f"/v1/channels/{opened['id']}/thread-members/@me/settings"
    until = {"end_time": "2099-01-01T00:00:00.000Z", "selected_time_window": 3_600}
    changed = (await knowing(chat_world.bob).patch(settings, {"muted": True, "mute_config": until})).expect(200)
    assert (changed["muted"], changed["mute_config"]) == (True, until)
    assert (await at_bob.expect("THREAD_MEMBER_UPDATE")).data["mute_config"] == until
    assert (await knowing(chat_world.bob).patch(settings, {"muted": False})).expect(200)["mute_config"] is None
    at_carol = await watch(chat_world.carol)
    (await knowing(chat_world.bob).patch(settings, {"flags": 4})).expect(200)
    await nothing_more(chat_world, at_carol, "THREAD_MEMBER_UPDATE")  # it is Bob's own matter
    for body in ({"flags": 16}, {"muted": "yes"}, {"mute_config": {"selected_time_window": "x"}}):
        answer = await knowing(chat_world.bob).patch(settings, body)
        assert (answer.status, answer.code) == (400, "INVALID_FORM_BODY")
    await nothing_more(chat_world, at_bob, "THREAD_CREATE")
