"""The gateway of the mount: intents, translation, Resume, compression (compat.md, Gateway of the mount; compat.md,
Intents)."""

from __future__ import annotations

import zlib
from typing import Any

import pytest
import trio
from trio.testing import MockClock

from chat.compat.discord.events import CHANGES, OF_MANY
from chat.compat.discord.intents import ALL_INTENTS, HEARD, Intent
from chat.registries.event_rules import EVENTS
from chat.registries.events import EventName
from chat.registries.permissions import Permission
from chat.testing import ChatServer, GatewayClient, World
from chat.testing.network import Route
from tests.compat.mounted import NOT_CONTENT, QUERY, connected, resumed

OURS_ALONE = {
    "AUTH_SESSION_CHANGE", "CALL_CREATE", "CALL_DELETE", "CALL_UPDATE", "CHANNEL_MEMBER_COUNTS_UPDATE",
    "CHANNEL_PINS_ACK", "CHANNEL_RECIPIENT_ADD", "CHANNEL_RECIPIENT_REMOVE", "ENTRANCE_SOUND_PLAY",
    "FAVORITE_MEME_CREATE", "FAVORITE_MEME_DELETE", "FAVORITE_MEME_UPDATE", "FORUM_UNREADS", "GUILD_COUNTS_UPDATE",
    "GUILD_MEMBER_LIST_UPDATE", "GUILD_SYNC", "INTERACTION_AUTOCOMPLETE", "INTERACTION_FAILURE",
    "INTERACTION_MODAL_CREATE", "INTERACTION_SUCCESS", "MESSAGE_ACK", "MESSAGE_REACTION_ADD_MANY", "PASSIVE_UPDATES",
    "RECENT_MENTION_DELETE", "RELATIONSHIP_ADD", "RELATIONSHIP_REMOVE", "RELATIONSHIP_UPDATE", "RESUMED",
    "REMINDER_DELETE", "REMINDER_UPDATE",
    "SAVED_MESSAGE_CREATE", "SAVED_MESSAGE_DELETE", "SESSIONS_REPLACE", "THREAD_MEMBER_LIST_UPDATE",
    "USER_CONNECTIONS_UPDATE", "USER_GUILD_SETTINGS_UPDATE", "USER_NOTE_UPDATE", "USER_PINNED_DMS_UPDATE",
    "USER_SETTINGS_UPDATE", "VOICE_SERVER_UPDATE", "VOICE_STATE_ACK", "WEBAUTHN_CREDENTIALS_UPDATE",
}  # fmt: skip
"""Dispatches that the mount leaves out; RESUMED is the socket's, not the session's."""


def names_of(client: GatewayClient) -> list[str]:
    return [str(payload.name) for payload in client.dispatches]


async def all_that_comes(client: GatewayClient) -> list[str]:
    await trio.sleep(2)
    return names_of(client)


def test_every_dispatch_is_heard_with_an_intent_or_is_ours_alone() -> None:
    here = "in chat/compat/discord/intents.py"
    placed = {str(name) for name in HEARD} | OURS_ALONE
    lost = sorted({str(name) for name in EVENTS} - placed)
    assert not lost, f"give {lost} an intent in HEARD {here}, or name them in OURS_ALONE"
    assert placed <= {str(name) for name in EVENTS}, f"no such event, {here}: {sorted(placed - {*map(str, EVENTS)})}"
    assert not {str(name) for name in HEARD} & OURS_ALONE, f"in HEARD and in OURS_ALONE, {here}"
    assert {*CHANGES, *OF_MANY} <= HEARD.keys(), f"translated, but heard by nobody: HEARD {here}"


# Ready


async def test_ready_has_what_libraries_demand_and_nothing_of_our_clients(
    chat_world: World, autojump_clock: MockClock
) -> None:
    bot = await connected(chat_world.bot, shard=[0, 1])
    assert bot.ready is not None
    assert {*bot.ready} == {
        "application", "guilds", "private_channels", "resume_gateway_url", "session_id", "shard", "user", "v",
    }  # fmt: skip
    assert bot.ready["v"] == 10
    assert bot.ready["application"]["id"] == chat_world.bot.application_id
    assert bot.ready["resume_gateway_url"] == "ws://127.0.0.1:8080/gateway"
    assert bot.ready["guilds"] == [{"id": chat_world.guild_id, "unavailable": True}]
    guild = (await bot.expect("GUILD_CREATE")).data
    assert guild["roles"][0]["colors"] == {"primary_color": 0, "secondary_color": None, "tertiary_color": None}
    assert all("username" in member["user"] and member["flags"] == 0 for member in guild["members"])


async def guild_told(world: World, **members: Any) -> Any:
    bot = await connected(world.bot, **members)
    return (await bot.expect("GUILD_CREATE")).data


async def test_a_small_guild_comes_with_every_member(chat_world: World, autojump_clock: MockClock) -> None:
    everybody = {chat_world.bot.id, *(actor.id for actor in (chat_world.alice, chat_world.bob, chat_world.carol))}
    guild = await guild_told(chat_world)
    assert {member["user"]["id"] for member in guild["members"]} == everybody
    assert (guild["large"], guild["member_count"]) == (False, 4)
    # Who did not ask for members is told that there are more of them.
    guild = await guild_told(chat_world, intents=ALL_INTENTS & ~Intent.GUILD_MEMBERS)
    assert [member["user"]["id"] for member in guild["members"]] == [chat_world.bot.id]
    assert guild["large"] is True


@pytest.mark.parametrize(
    ("threshold", "whole"), [(None, False), (55, True), (10, False), ("many", False), (9_000, True)]
)
async def test_a_large_guild_is_asked_for(
    chat_world: World, threshold: object, whole: bool, autojump_clock: MockClock
) -> None:
    body = {"user_id": chat_world.bot.id, "count": 1, "members": 50}
    (guild_id,) = (await chat_world.anyone.post("/v1/_dev/guilds/bulk", body)).expect(200)["guild_ids"]
    named = {} if threshold is None else {"large_threshold": threshold}
    bot = await connected(chat_world.bot, **named)
    guild = (await bot.expect("GUILD_CREATE", where=lambda d: d["id"] == guild_id)).data
    assert (len(guild["members"]), guild["large"]) == ((51, False) if whole else (1, True))
    await bot.send(8, {"guild_id": [guild_id], "query": "", "limit": 0})
    assert len((await bot.expect("GUILD_MEMBERS_CHUNK")).data["members"]) == 51


@pytest.mark.parametrize("version", ["10", "9"])
async def test_every_payload_has_s_t_and_d(chat_world: World, version: str, autojump_clock: MockClock) -> None:
    bot = await connected(chat_world.bot, query=f"v={version}&encoding=json")
    await bot.heartbeat()
    await bot.expect("GUILD_CREATE")
    await chat_world.anyone.fault("reconnect", {"session_id": bot.session_id})
    await bot.closed()
    assert {payload.op for payload in bot.payloads} == {0, 7, 10, 11}
    assert all({"op", "s", "t", "d"} == payload.members.keys() for payload in bot.payloads)


async def test_identify_takes_what_older_libraries_send(chat_world: World, autojump_clock: MockClock) -> None:
    activity = {"type": 4, "name": "Custom Status", "state": "at work"}
    presence = {"status": "idle", "afk": False, "since": None, "activities": [activity]}
    members = {"properties": {"$os": "linux"}, "presence": presence, "large_threshold": 50, "compress": False}
    friend = await chat_world.alice.connect()
    await friend.watch(chat_world.guild_id, active=True, members=[chat_world.bot.id])
    await friend.expect("GUILD_SYNC")
    await connected(chat_world.bot, **members)
    heard = (await friend.expect("PRESENCE_UPDATE", where=lambda d: d["user"]["id"] == chat_world.bot.id)).data
    assert (heard["status"], heard["custom_status"]["text"]) == ("idle", "at work")


@pytest.mark.parametrize("intents", [None, -1, 1 << 33, "513", 1.5, True])
async def test_intents_that_are_none_close_the_socket(
    chat_world: World, intents: object, autojump_clock: MockClock
) -> None:
    bot = await chat_world.bot.open(query=QUERY)
    await bot.identify(chat_world.bot.token, intents=intents)
    assert (await bot.closed()).code == 4013


async def test_a_wrong_token_closes_as_everywhere(chat_world: World, autojump_clock: MockClock) -> None:
    bot = await chat_world.bot.open(query=QUERY)
    await bot.identify("Bot 5.nothing", intents=0)
    assert (await bot.closed()).code == 4004


# Intents


async def everything_happens(world: World) -> None:
    """One event of each kind that takes an intent."""
    alice, guild, channel = world.alice.rest, f"/v1/guilds/{world.guild_id}", f"/v1/channels/{world.channel_id}"
    message = (await alice.post(f"{channel}/messages", {"content": "hello"})).expect(200)["id"]
    (await alice.put(f"{channel}/messages/{message}/reactions/%E2%9C%85/@me")).expect(204)
    (await alice.post(f"{channel}/typing")).expect(204)
    (await alice.post(f"{channel}/invites", {})).expect(200)
    (await alice.post(f"{channel}/webhooks", {"name": "Alarm"})).expect(200)
    (await alice.patch(f"{guild}/members/{world.bob.id}", {"nick": "Bobby"})).expect(200)
    role = (await alice.post(f"{guild}/roles", {"name": "Crew"})).expect(200)["id"]
    (await alice.patch(f"{guild}/roles", [{"id": role, "position": 1}])).expect(204)
    (await alice.put(f"{guild}/bans/{world.carol.id}", {})).expect(204)


OF_INTENT: dict[Intent, set[str]] = {
    Intent.GUILDS: {"GUILD_CREATE", "GUILD_ROLE_CREATE"},
    Intent.GUILD_MEMBERS: {"GUILD_MEMBER_UPDATE", "GUILD_MEMBER_REMOVE"},
    Intent.GUILD_MODERATION: {"GUILD_BAN_ADD"},
    Intent.GUILD_WEBHOOKS: {"WEBHOOKS_UPDATE"},
    Intent.GUILD_INVITES: {"INVITE_CREATE"},
    Intent.GUILD_MESSAGES: {"MESSAGE_CREATE"},
    Intent.GUILD_MESSAGE_REACTIONS: {"MESSAGE_REACTION_ADD"},
    Intent.GUILD_MESSAGE_TYPING: {"TYPING_START"},
}


async def test_events_come_with_their_intent_and_take_numbers_only_then(
    chat_world: World, autojump_clock: MockClock
) -> None:
    guild = f"/v1/guilds/{chat_world.guild_id}"
    manager = {"name": "Manager", "permissions": str(int(Permission.MANAGE_CHANNELS))}
    role = (await chat_world.alice.rest.post(f"{guild}/roles", manager)).expect(200)["id"]
    (await chat_world.alice.rest.put(f"{guild}/members/{chat_world.bot.id}/roles/{role}")).expect(204)
    one_each = {intent: await connected(chat_world.bot, intents=int(intent)) for intent in OF_INTENT}
    nothing = await connected(chat_world.bot, intents=0)
    await everything_happens(chat_world)
    assert await all_that_comes(nothing) == ["READY"]
    for intent, client in one_each.items():
        heard = names_of(client)
        assert OF_INTENT[intent] <= set(heard) - {"READY"}, intent
        assert not set(heard) & {name for other, names in OF_INTENT.items() if other != intent for name in names}, (
            intent
        )
        assert [payload.sequence for payload in client.dispatches] == list(range(1, len(heard) + 1))


async def test_a_bot_hears_of_its_own_membership_unasked(chat_world: World, autojump_clock: MockClock) -> None:
    bot = await connected(chat_world.bot, intents=0)
    path = f"/v1/guilds/{chat_world.guild_id}/members"
    (await chat_world.alice.rest.patch(f"{path}/{chat_world.bob.id}", {"nick": "Bobby"})).expect(200)
    (await chat_world.alice.rest.patch(f"{path}/{chat_world.bot.id}", {"nick": "Robot"})).expect(200)
    assert await all_that_comes(bot) == ["READY", "GUILD_MEMBER_UPDATE"]


async def content_of(client: GatewayClient, message: dict[str, Any]) -> tuple[str, int]:
    """What the client was told of a message: its text, and how many embeds."""
    told = (await client.expect("MESSAGE_CREATE", where=lambda data: data["id"] == message["id"])).data
    return told["content"], len(told["embeds"])


async def test_content_is_empty_without_its_intent(chat_world: World, autojump_clock: MockClock) -> None:
    reader, other = await connected(chat_world.bot), await connected(chat_world.bot, intents=NOT_CONTENT)
    path = f"/v1/channels/{chat_world.channel_id}/messages"
    embeds = [{"title": "A title"}]
    said = (await chat_world.alice.rest.post(path, {"content": "hello", "embeds": embeds})).expect(200)
    assert await content_of(reader, said) == ("hello", 1)
    assert await content_of(other, said) == ("", 0)
    to_it = {"content": f"<@{chat_world.bot.id}> hello"}
    mention = (await chat_world.alice.rest.post(path, to_it)).expect(200)
    assert await content_of(other, mention) == (to_it["content"], 0)
    own = (await chat_world.bot.rest.post(path, {"content": "mine"})).expect(200)
    assert await content_of(other, own) == ("mine", 0)
    (await chat_world.alice.rest.patch(f"{path}/{said['id']}", {"content": "changed"})).expect(200)
    assert (await other.expect("MESSAGE_UPDATE")).data["content"] == ""
    assert (await reader.expect("MESSAGE_UPDATE")).data["content"] == "changed"


async def test_conversations_have_intents_and_content_of_their_own(
    chat_world: World, autojump_clock: MockClock
) -> None:
    bot = await connected(chat_world.bot, intents=int(Intent.DIRECT_MESSAGES))
    deaf = await connected(chat_world.bot, intents=int(Intent.GUILD_MESSAGES))
    private = (await chat_world.bot.rest.post("/v1/users/@me/channels", {"recipient_id": chat_world.alice.id})).expect(
        200
    )
    said = (await chat_world.alice.rest.send_message(private["id"], "psst")).expect(200)
    assert await content_of(bot, said) == ("psst", 0)
    assert "MESSAGE_CREATE" not in await all_that_comes(deaf)


async def test_many_events_at_once_are_heard_in_their_order(chat_world: World, autojump_clock: MockClock) -> None:
    """Events that wait together are delivered together."""
    bots = [await connected(chat_world.bot, intents=intents) for intents in (ALL_INTENTS, NOT_CONTENT, 0)]
    texts = [f"<@{chat_world.bot.id}> {number}" if number % 3 == 0 else str(number) for number in range(20)]

    async def say(text: str) -> None:
        (await chat_world.alice.rest.send_message(chat_world.channel_id, text)).expect(200)

    async with trio.open_nursery() as nursery:
        for text in texts:
            nursery.start_soon(say, text)
    await trio.sleep(2)
    whole, bare, nothing = (
        [payload.data for payload in bot.dispatches if payload.name == "MESSAGE_CREATE"] for bot in bots
    )
    assert sorted(message["content"] for message in whole) == sorted(texts)
    assert [message["id"] for message in bare] == [message["id"] for message in whole]
    shown = [message["content"] if message["mentions"] else "" for message in whole]
    assert [message["content"] for message in bare] == shown
    assert nothing == []


# Words


async def test_many_updates_in_one_come_singly(chat_world: World, autojump_clock: MockClock) -> None:
    guild = f"/v1/guilds/{chat_world.guild_id}"
    roles = [(await chat_world.alice.rest.post(f"{guild}/roles", {"name": name})).expect(200) for name in "ab"]
    bot = await connected(chat_world.bot)
    ours = await chat_world.bot.connect()
    order = [{"id": role["id"], "position": position} for position, role in enumerate(roles, 1)]
    (await chat_world.alice.rest.patch(f"{guild}/roles", order)).expect(204)
    bulk = (await ours.expect("GUILD_ROLE_UPDATE_BULK")).data["roles"]
    told = [(await bot.expect("GUILD_ROLE_UPDATE")).data for _ in bulk]
    assert [each["role"]["id"] for each in told] == [role["id"] for role in bulk]
    assert all(each["role"]["colors"] for each in told)
    assert all(each["guild_id"] == chat_world.guild_id for each in told)


async def test_a_guild_that_changes_is_told_with_its_roles(chat_world: World, autojump_clock: MockClock) -> None:
    bot, ours = await connected(chat_world.bot), await chat_world.bot.connect()
    (await chat_world.alice.rest.patch(f"/v1/guilds/{chat_world.guild_id}", {"name": "Harbour"})).expect(200)
    told = (await bot.expect("GUILD_UPDATE")).data
    assert told["name"] == "Harbour"
    assert [role["id"] for role in told["roles"]] == [chat_world.guild_id]
    assert (told["emojis"], told["stickers"], told["premium_tier"]) == ([], [], 0)
    assert not {"roles", "premium_tier"} & (await ours.expect("GUILD_UPDATE")).data.keys()


async def test_who_leaves_or_is_banned_is_told_in_full(chat_world: World, autojump_clock: MockClock) -> None:
    bot = await connected(chat_world.bot)
    guild = f"/v1/guilds/{chat_world.guild_id}"
    (await chat_world.alice.rest.put(f"{guild}/bans/{chat_world.carol.id}", {})).expect(204)
    banned, left = (await bot.expect("GUILD_BAN_ADD")).data, (await bot.expect("GUILD_MEMBER_REMOVE")).data
    assert banned["user"]["username"] == left["user"]["username"] == "carol"


async def test_a_reaction_and_a_presence_have_their_members(chat_world: World, autojump_clock: MockClock) -> None:
    bot = await connected(chat_world.bot)
    message = (await chat_world.alice.rest.send_message(chat_world.channel_id, "hello")).expect(200)
    path = f"/v1/channels/{chat_world.channel_id}/messages/{message['id']}/reactions/%E2%9C%85/@me"
    (await chat_world.alice.rest.put(path)).expect(204)
    reaction = (await bot.expect("MESSAGE_REACTION_ADD")).data
    assert (reaction["type"], reaction["burst"], reaction["emoji"]) == (0, False, {"name": "\u2705", "id": None})
    assert reaction["member"]["flags"] == 0


async def test_the_documented_gateway_speaks_as_before(chat_world: World, autojump_clock: MockClock) -> None:
    ours, theirs = await chat_world.bot.connect(), await connected(chat_world.bot)
    role = {"name": "Crew"}
    (await chat_world.alice.rest.post(f"/v1/guilds/{chat_world.guild_id}/roles", role)).expect(200)
    said, translated = [(await client.expect("GUILD_ROLE_CREATE")).data["role"] for client in (ours, theirs)]
    added = {"colors", "managed"}
    assert translated.keys() - said.keys() == added
    assert {name: translated[name] for name in said} == said
    assert ours.ready is not None
    assert not {"application", "resume_gateway_url", "v"} & ours.ready.keys()
    assert ours.payloads[0].members.keys() == {"op", "d"}


@pytest.mark.chat_settings(**{"compat.discord": "off"})
async def test_without_the_setting_there_is_no_such_version(chat_world: World, autojump_clock: MockClock) -> None:
    bot = await chat_world.bot.open(query=QUERY, hello=False)
    assert (await bot.closed()).code == 4012
    assert (await chat_world.bot.rest.get("/api/v10/users/@me")).code == "NOT_FOUND"


async def test_other_versions_are_none(chat_world: World, autojump_clock: MockClock) -> None:
    bot = await chat_world.bot.open(query="v=7", hello=False)
    assert (await bot.closed()).code == 4012


# Resume


async def test_resume_replays_what_was_translated(chat_world: World, autojump_clock: MockClock) -> None:
    bot = await connected(chat_world.bot, intents=NOT_CONTENT)
    await bot.expect("GUILD_CREATE")
    bot.drop()
    for text in ("one", f"two <@{chat_world.bot.id}>"):
        (await chat_world.alice.rest.send_message(chat_world.channel_id, text)).expect(200)
    again = await resumed(chat_world, bot)
    await again.expect("RESUMED")
    said = [payload for payload in again.dispatches if payload.name == "MESSAGE_CREATE"]
    assert [payload.data["content"] for payload in said] == ["", f"two <@{chat_world.bot.id}>"]
    assert [payload.sequence for payload in said] == [bot.sequence + 1, bot.sequence + 2]  # type: ignore[operator]


@pytest.mark.parametrize("query", [QUERY, None])
async def test_a_session_is_resumed_only_where_it_was_begun(
    chat_world: World, query: str | None, autojump_clock: MockClock
) -> None:
    begun = await connected(chat_world.bot) if query is None else await chat_world.bot.connect()
    begun.drop()
    elsewhere = await chat_world.bot.open(query=query)
    await elsewhere.resume(chat_world.bot.token, begun.session_id, begun.sequence)
    await elsewhere.expect_opcode(9)


async def test_a_session_outlives_a_restart_with_its_intents(
    chat_server: ChatServer, chat_world: World, autojump_clock: MockClock
) -> None:
    bot = await connected(chat_world.bot, intents=NOT_CONTENT & ~Intent.GUILD_MESSAGE_TYPING)
    await bot.expect("GUILD_CREATE")
    bot.drop()
    (await chat_world.alice.rest.send_message(chat_world.channel_id, "before")).expect(200)
    await chat_server.restart()
    again = await resumed(chat_world, bot)
    await again.expect("RESUMED")
    (await chat_world.alice.rest.post(f"/v1/channels/{chat_world.channel_id}/typing")).expect(204)
    (await chat_world.alice.rest.send_message(chat_world.channel_id, "after")).expect(200)
    await trio.sleep(1)
    told = [(payload.name, payload.data["content"]) for payload in again.dispatches if payload.name != "RESUMED"]
    assert told == [("MESSAGE_CREATE", ""), ("MESSAGE_CREATE", "")]
    assert again.dispatches[0].data["author"]["public_flags"] == 0


# Compression


class ZlibClient(GatewayClient):
    """Understands `compress=zlib-stream`."""

    def __init__(self, route: Route, **options: Any) -> None:
        super().__init__(route, **options)
        self._decompressor: Any = zlib.decompressobj()


@pytest.mark.parametrize(("kind", "compress"), [(ZlibClient, "zlib-stream"), (GatewayClient, "zstd-stream")])
async def test_what_the_server_says_is_one_stream(
    chat_world: World, kind: type[GatewayClient], compress: str, autojump_clock: MockClock
) -> None:
    route = chat_world.route
    bot = await kind.connect(chat_world.nursery, route, query=f"{QUERY}&compress={compress}")
    await bot.identify(f"Bot {chat_world.bot.token}", intents=ALL_INTENTS)
    await bot.expect("GUILD_CREATE")
    for text in ("one", "two"):
        (await chat_world.alice.rest.send_message(chat_world.channel_id, text)).expect(200)
        assert (await bot.expect("MESSAGE_CREATE")).data["content"] == text
    assert all(payload.binary for payload in bot.payloads)
    await bot.heartbeat()
    await trio.sleep(1)
    assert bot.acknowledgements >= 1
    bot.drop()
    (await chat_world.alice.rest.send_message(chat_world.channel_id, "three")).expect(200)
    again = await kind.connect(chat_world.nursery, route, query=f"{QUERY}&compress={compress}")
    await again.resume(chat_world.bot.token, bot.session_id, bot.sequence)
    assert (await again.expect("MESSAGE_CREATE")).data["content"] == "three"
    await again.expect("RESUMED")


async def test_what_is_not_known_as_compression_is_plain(chat_world: World, autojump_clock: MockClock) -> None:
    bot = await connected(chat_world.bot, query=f"{QUERY}&compress=brotli")
    assert not any(payload.binary for payload in bot.payloads)


def test_names_of_events_are_ours() -> None:
    assert all(isinstance(name, EventName) for name in HEARD)
