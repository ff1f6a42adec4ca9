"""List current user guilds and Get guild (document 001, GET /v1/users/@me/guilds and GET /v1/guilds/{guild_id}).

Area: guilds. Rules: 001.common, 001.credentials, 001.get, 001.guild-object, 001.list, 001.rate-limits.
"""

from __future__ import annotations

from typing import Any

import pytest
from trio.testing import MockClock

from chat.registries.permissions import DEFAULT_EVERYONE, FULL_MASK, THREAD_PERMISSIONS, Permission
from chat.registries.user_flags import UserFlag
from chat.testing.rest_client import Response, RestClient
from chat.testing.world import Actor, World
from tests.applications.oauth2_client import OAuth2Client
from tests.spec.ledger import proves

PATH = "/v1/users/@me/guilds"
DECLARED = {"X-Service-Features": "channel_threads"}
COUNTS = {"approximate_member_count", "approximate_presence_count"}
COLLECTIONS = {"roles", "emojis", "stickers", "channels", "member_count", "online_count"}
SPECIAL = {"permissions", "threads_active", *COUNTS, *COLLECTIONS}


async def new_guild(actor: Actor, name: str = "Harbour") -> str:
    """A guild of the actor's; its id."""
    guild_id: str = (await actor.rest.create_guild(name)).expect(200)["id"]
    return guild_id


async def listed(actor: Actor, **query: Any) -> list[dict[str, Any]]:
    """The guilds that the list shows."""
    guilds: list[dict[str, Any]] = (await actor.rest.get(PATH, query)).expect(200)
    return guilds


async def ids(actor: Actor, **query: Any) -> list[str]:
    """The same, by id."""
    return [guild["id"] for guild in await listed(actor, **query)]


async def declaring(actor: Actor, path: str) -> Any:
    """What a session that knows threads gets."""
    return (await actor.rest.request("GET", path, headers=DECLARED)).expect(200)


async def features(world: World, *names: str) -> None:
    """Features as an administrator gives them."""
    (await world.anyone.post(f"/v1/_dev/guilds/{world.guild_id}", {"features": list(names)})).expect(200)


async def bearer(world: World, account: Actor, scope: str) -> RestClient:
    """A client with an access token of the account's for the scopes."""
    client = await OAuth2Client.make(world)
    return client.bearer((await client.tokens(account, scope))["access_token"])


def missing_scope(answer: Response) -> bool:
    """Whether the scope `guilds` was asked for."""
    assert (answer.status, answer.code) == (403, "MISSING_OAUTH_SCOPE")
    return bool(answer.json()["required_scope"] == "guilds")


# The list


@pytest.mark.rule("001.list.1", "001.list.10", "001.list.12")
async def test_the_list_has_every_guild_of_the_caller(chat_world: World) -> None:
    alice, bob = chat_world.alice, chat_world.bob
    first, second = await new_guild(alice), await new_guild(alice)
    await new_guild(bob)
    assert await ids(alice) == sorted([chat_world.guild_id, first, second], key=int)
    (await alice.rest.post(f"/v1/guilds/{first}/delete", {"password": alice.password})).expect(204)
    assert await ids(alice) == sorted([chat_world.guild_id, second], key=int)
    assert chat_world.guild_id in await ids(chat_world.bob)
    (await chat_world.bob.rest.delete(f"{PATH}/{chat_world.guild_id}")).expect(204)
    assert chat_world.guild_id not in await ids(chat_world.bob)
    assert await ids(chat_world.admin) == []


async def test_cursors(chat_world: World) -> None:
    alice = chat_world.alice
    foreign = await new_guild(chat_world.bob)
    for _ in range(4):
        await new_guild(alice)
    everything = await ids(alice)
    assert len(everything) == 5
    with proves("001.list.10"):
        assert everything == sorted(everything, key=int)
    for place, cursor in enumerate(everything):
        with proves("001.list.5"):
            assert await ids(alice, after=cursor) == everything[place + 1 :]
        with proves("001.list.3"):
            assert await ids(alice, before=cursor) == everything[:place]
        with proves("001.list.5"):
            assert await ids(alice, after=cursor, limit=2) == everything[place + 1 : place + 3]
        with proves("001.list.4"):
            assert await ids(alice, before=cursor, limit=2) == everything[max(place - 2, 0) : place], (
                "the nearest below"
            )
        with proves("001.list.6"):
            assert await ids(alice, after=cursor, before=everything[0]) == everything[place + 1 :], "after decides"
    for nowhere in (foreign, "1", "9223372036854775807", chat_world.alice.id):
        for query in ({"after": nowhere}, {"before": nowhere}, {"after": nowhere, "before": everything[2]}):
            with proves("001.list.11"):
                assert await ids(alice, **query) == everything
            with proves("001.list.11"):
                assert await ids(alice, limit=2, **query) == everything[:2]


@pytest.mark.rule("001.list.7")
async def test_pages_have_up_to_two_hundred_guilds(chat_world: World) -> None:
    made = await chat_world.anyone.post("/v1/_dev/guilds/bulk", {"user_id": chat_world.alice.id, "count": 205})
    made.expect(200)
    everything = await ids(chat_world.alice)
    assert len(everything) == 200
    assert await ids(chat_world.alice, limit=200) == everything
    assert await ids(chat_world.alice, limit=1) == everything[:1]
    assert len(await ids(chat_world.alice, after=everything[-1])) == 6
    for limit in (0, 201, -1, "1.5", "many", "1e2"):
        refused = await chat_world.alice.rest.get(PATH, {"limit": limit})
        assert (refused.status, refused.code) == (400, "INVALID_FORM_BODY")
        assert [error["path"] for error in refused.json()["errors"]] == ["limit"]
    for name in ("before", "after"):
        for cursor in ("nowhere", "-1", "1.0", "9223372036854775808"):
            refused = await chat_world.alice.rest.get(PATH, {name: cursor})
            assert [error["path"] for error in refused.json()["errors"]] == [name]


@pytest.mark.rule("001.list.2", "001.credentials.2")
async def test_access_tokens_need_the_scope(chat_world: World) -> None:
    path = f"/v1/guilds/{chat_world.guild_id}"
    good = await bearer(chat_world, chat_world.alice, "identify guilds")
    [guild] = (await good.get(PATH)).expect(200)
    assert guild["id"] == chat_world.guild_id
    assert (await good.get(path)).expect(200)["id"] == chat_world.guild_id
    assert missing_scope(await (await bearer(chat_world, chat_world.alice, "identify email")).get(PATH))
    for actor in (chat_world.alice, chat_world.bot):
        assert (await actor.rest.get(PATH)).status == (await actor.rest.get(path)).status == 200
    for address in (PATH, path):
        assert (await chat_world.anyone.get(address)).status == 401


async def test_counts(chat_world: World) -> None:
    alice = chat_world.alice
    second = await new_guild(alice)

    async def counted(**query: Any) -> dict[str, Any]:
        return {guild["id"]: guild for guild in await listed(alice, **query)}[chat_world.guild_id]

    async with await chat_world.bob.connect():
        for query in ({}, {"with_counts": "false"}, {"with_counts": "0"}):
            with proves("001.list.8"):
                assert not COUNTS & (await counted(**query)).keys()
        for query in ({"with_counts": "true"}, {"with_counts": "1"}):
            with proves("001.guild-object.43"):
                guild = await counted(**query)
                assert (guild["approximate_member_count"], guild["approximate_presence_count"]) == (4, 1)
        await features(chat_world, "UNAVAILABLE_FOR_EVERYONE")
        with proves("001.list.13"):
            assert (await counted(with_counts="true"))["approximate_member_count"] == 4, "unavailable ones are listed"
        await features(chat_world)
        await chat_world.anyone.node(rpc_failing=True)
        with proves("001.list.9"):
            assert not COUNTS & (await counted(with_counts="true")).keys()
        await chat_world.anyone.node(rpc_failing=False, missing_guild_ids=[chat_world.guild_id])
        with proves("001.guild-object.44"):
            guild = await counted(with_counts="true")
            assert (guild["approximate_member_count"], guild["approximate_presence_count"]) == (0, 0)
        with proves("001.guild-object.36"):
            with_mask = {one["id"]: "permissions" in one for one in await listed(alice)}
            assert with_mask == {chat_world.guild_id: False, second: True}
        await chat_world.anyone.node(missing_guild_ids=[])
        assert (await counted(with_counts="true"))["approximate_presence_count"] == 1
    for value in ("yes", "2", "TRUE"):
        refused = await alice.rest.get(PATH, {"with_counts": value})
        assert [error["path"] for error in refused.json()["errors"]] == ["with_counts"]
    with proves("001.guild-object.43"):
        alone = (await alice.rest.get(f"/v1/guilds/{chat_world.guild_id}", {"with_counts": "true"})).expect(200)
        assert not COUNTS & alone.keys(), "the list alone has them"


async def test_masks(chat_world: World) -> None:
    bob, path = chat_world.bob, f"/v1/guilds/{chat_world.guild_id}"
    body = {"name": "manager", "permissions": str(Permission.MANAGE_GUILD.value)}
    role = (await chat_world.alice.rest.post(f"{path}/roles", body)).expect(200)
    (await chat_world.alice.rest.put(f"{path}/members/{bob.id}/roles/{role['id']}")).expect(204)
    granted = DEFAULT_EVERYONE | Permission.MANAGE_GUILD.value
    with proves("001.guild-object.34", "001.guild-object.47"):
        [plain], [declared] = await listed(bob), await declaring(bob, PATH)
        assert (int(plain["permissions"]), int(declared["permissions"])) == (granted & ~THREAD_PERMISSIONS, granted)
    [by_owner], [by_bot] = await declaring(chat_world.alice, PATH), await listed(chat_world.bot)
    with proves("001.guild-object.34"):
        assert int(by_owner["permissions"]) == FULL_MASK
    assert int(by_bot["permissions"]) & DEFAULT_EVERYONE == DEFAULT_EVERYONE
    with proves("001.guild-object.47"):
        token = await bearer(chat_world, bob, "identify guilds")
        [by_token] = (await token.request("GET", PATH, headers=DECLARED)).expect(200)
        assert int(by_token["permissions"]) & THREAD_PERMISSIONS == 0, "a bearer is neither a bot nor a user session"
    for caller, shown in ((bob, False), (chat_world.bot, True)):
        with proves("001.guild-object.48"):
            [everyone] = [
                one for one in (await caller.rest.get(path)).expect(200)["roles"] if one["id"] == chat_world.guild_id
            ]
            assert bool(int(everyone["permissions"]) & THREAD_PERMISSIONS) is shown
    with proves("001.guild-object.48"):
        everyone = next(one for one in (await declaring(bob, path))["roles"] if one["id"] == chat_world.guild_id)
        assert int(everyone["permissions"]) == DEFAULT_EVERYONE
    for guild in (
        (await bob.rest.get(path)).expect(200),
        (await chat_world.alice.rest.patch(path, {"name": "Pier"})).expect(200),
        (await chat_world.alice.rest.create_guild("Harbour")).expect(200),
    ):
        with proves("001.guild-object.35"):
            assert "permissions" not in guild


@pytest.mark.rule("001.guild-object.45", "001.guild-object.46")
async def test_threads_active(chat_world: World) -> None:
    alice, path = chat_world.alice, f"/v1/guilds/{chat_world.guild_id}"
    assert [guild["threads_active"] for guild in await declaring(alice, PATH)] == [True]
    assert [guild["threads_active"] for guild in await listed(chat_world.bot)] == [True]
    token = await bearer(chat_world, alice, "identify guilds")
    plain = [*await listed(alice), *(await token.request("GET", PATH, headers=DECLARED)).expect(200)]
    assert len(plain) == 2
    others = [await declaring(alice, path), (await chat_world.bot.rest.get(path)).expect(200)]
    assert not [guild for guild in [*plain, *others] if "threads_active" in guild]


async def test_what_only_get_guild_fills(chat_world: World) -> None:
    alice, path = chat_world.alice, f"/v1/guilds/{chat_world.guild_id}"
    whole = (await alice.rest.get(path)).expect(200)
    with proves("001.guild-object.37", "001.guild-object.38", "001.guild-object.42"):
        assert whole.keys() >= COLLECTIONS
    [in_list] = await listed(alice, with_counts="true")
    modified = (await alice.rest.patch(path, {})).expect(200)
    created = (await alice.rest.create_guild("Pier")).expect(200)
    for guild in (in_list, modified, created):
        with proves("001.guild-object.37", "001.guild-object.38", "001.guild-object.42"):
            assert not COLLECTIONS & guild.keys()
        with proves("001.guild-object.1"):
            assert guild.keys() - SPECIAL == whole.keys() - SPECIAL, "every member that is not optional"


# Get guild


async def test_a_guild_as_its_members_see_it(chat_world: World) -> None:
    alice, bob, path = chat_world.alice, chat_world.bob, f"/v1/guilds/{chat_world.guild_id}"
    overwrite = {"type": 0, "allow": "0", "deny": str(Permission.VIEW_CHANNEL.value)}
    everyone = f"/v1/channels/{chat_world.channel_id}/permissions/{chat_world.guild_id}"
    (await alice.rest.put(everyone, overwrite)).expect(204)
    by_owner, by_member = (await alice.rest.get(path)).expect(200), (await bob.rest.get(path)).expect(200)
    owners, members = ({channel["id"] for channel in guild["channels"]} for guild in (by_owner, by_member))
    with proves("001.get.1", "001.guild-object.39"):
        assert owners - members == {chat_world.channel_id}
    assert members < owners
    (await alice.rest.delete(everyone)).expect(204)
    guild = (await bob.rest.get(path)).expect(200)
    with proves("001.guild-object.39"):
        assert {channel["id"] for channel in guild["channels"]} == owners, "as it is now"
    with proves("001.get.2"):
        assert "permissions" not in guild
    with proves("001.get.1"):
        assert (guild["emojis"], guild["stickers"]) == ([], [])
        assert guild["roles"][0]["id"] == guild["id"]
    with proves("001.get.1", "001.guild-object.42"):
        assert (guild["member_count"], guild["online_count"]) == (4, 0)
    async with await alice.connect(), await bob.connect():
        with proves("001.guild-object.42"):
            assert (await bob.rest.get(path)).expect(200)["online_count"] == 2


@pytest.mark.rule("001.guild-object.40", "001.guild-object.41", "001.guild-object.49")
async def test_forums_are_for_everyone_and_threads_are_for_nobody(chat_world: World) -> None:
    alice, path = chat_world.alice, f"/v1/guilds/{chat_world.guild_id}"
    channels = f"{path}/channels"
    forum = (await alice.rest.post(channels, {"name": "forum", "type": 15})).expect(200)["id"]
    media = (await alice.rest.post(channels, {"name": "media", "type": 16})).expect(200)["id"]
    overwrite = {"type": 0, "allow": str(THREAD_PERMISSIONS), "deny": "0"}
    answer = await alice.rest.request(
        "PUT", f"/v1/channels/{forum}/permissions/{chat_world.guild_id}", json=overwrite, headers=DECLARED
    )
    answer.expect(204)
    started = await alice.rest.request(
        "POST", f"/v1/channels/{chat_world.channel_id}/threads", json={"name": "thread", "type": 11}, headers=DECLARED
    )
    thread = started.json()["id"]
    assert started.status in {200, 201}
    plain, declared = (await alice.rest.get(path)).expect(200), await declaring(alice, path)
    by_bot = (await chat_world.bot.rest.get(path)).expect(200)
    token = await bearer(chat_world, alice, "identify guilds")
    for guild in (plain, declared, by_bot, (await token.get(path)).expect(200)):
        shown = {channel["id"]: channel for channel in guild["channels"]}
        assert {forum, media} <= shown.keys()
        assert thread not in shown
        assert not [channel for channel in shown.values() if channel["type"] in {10, 11, 12}]
        [entry] = shown[forum]["permission_overwrites"]
        assert int(entry["allow"]) == THREAD_PERMISSIONS, "overwrites keep their thread bits for every caller"


async def test_refusals_of_get_guild(chat_world: World) -> None:
    alice, admin, path = chat_world.alice, chat_world.admin, f"/v1/guilds/{chat_world.guild_id}"
    with proves("001.get.3"):
        assert missing_scope(await (await bearer(chat_world, alice, "identify email")).get(path))
    with proves("001.common.2"):
        unknown = await alice.rest.get("/v1/guilds/999999999999999999")
        assert (unknown.status, unknown.code) == (404, "UNKNOWN_GUILD")
    with proves("001.common.3"):
        outside = await admin.rest.get(path)
        assert (outside.status, outside.code) == (403, "MISSING_PERMISSIONS")
    for malformed in ("harbour", "-1", "1.5", "9223372036854775808", "0x1"):
        with proves("001.common.1"):
            refused = await alice.rest.get(f"/v1/guilds/{malformed}")
            assert (refused.status, refused.code) == (400, "INVALID_FORM_BODY")
            assert [error["path"] for error in refused.json()["errors"]] == ["guild_id"]
    await features(chat_world, "UNAVAILABLE_FOR_EVERYONE")
    for caller in (alice, admin):
        refused = await caller.rest.get(path)
        assert (refused.status, refused.code) == (403, "MISSING_ACCESS"), "availability before membership"
    await features(chat_world)
    await chat_world.anyone.node(missing_guild_ids=[chat_world.guild_id])
    for caller in (alice, admin):
        with proves("001.common.4"):
            refused = await caller.rest.get(path)
            assert (refused.status, refused.code) == (403, "ACCESS_DENIED")
    await chat_world.anyone.node(missing_guild_ids=[])
    (await alice.rest.get(path)).expect(200)


# Limits


async def _until_refused(actor: Actor, path: str, most: int) -> int:
    for number in range(most + 1):
        answer = await actor.rest.get(path)
        if answer.status == 429:
            return number
        answer.expect(200)
    return most + 1


@pytest.mark.chat_settings(rate_limits=True)
@pytest.mark.rule("001.rate-limits.1", "001.rate-limits.3")
async def test_forty_lists_in_ten_seconds(chat_world: World, autojump_clock: MockClock) -> None:
    assert await _until_refused(chat_world.bot, PATH, 40) == 40
    assert (await chat_world.bob.rest.get(PATH)).status == 200


@pytest.mark.chat_settings(rate_limits=True)
@pytest.mark.rule("001.rate-limits.4", "001.rate-limits.10")
async def test_a_hundred_reads_of_one_guild_in_ten_seconds(chat_world: World, autojump_clock: MockClock) -> None:
    other = await new_guild(chat_world.alice)
    flags = str(UserFlag.HIGH_GLOBAL_RATE_LIMIT.value)
    (await chat_world.anyone.post(f"/v1/_dev/users/{chat_world.alice.id}", {"flags": flags})).expect(200)
    assert await _until_refused(chat_world.alice, f"/v1/guilds/{chat_world.guild_id}", 100) == 100
    (await chat_world.alice.rest.get(f"/v1/guilds/{other}")).expect(200)
