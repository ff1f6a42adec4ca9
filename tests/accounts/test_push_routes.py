"""Browsers subscribe and are told of messages, by a push service that is really asked.

Area: accounts. Rules: 001.registries.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo

import pytest
import trio
from trio.testing import MockClock

from chat.testing.gateway_client import GatewayClient
from chat.testing.server import ChatServer
from chat.testing.world import Actor, World
from tests.accounts.push_service import Browser, PushService, subscribe
from tests.patience import PATIENCE_SECONDS
from tests.people.friends import befriend, block, make_group

SUBSCRIBE = "/v1/users/@me/push/subscribe"
SUBSCRIPTIONS = "/v1/users/@me/push/subscriptions"

pytestmark = pytest.mark.chat_settings(**{"push.private_networks_allowed": ["127.0.0.0/8"]})


@pytest.fixture
async def push_service() -> AsyncIterator[PushService]:
    async with PushService().running() as service:
        yield service


@pytest.fixture
def browser() -> Browser:
    return Browser()


async def listed(actor: Actor) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = (await actor.rest.push_subscriptions()).expect(200)["subscriptions"]
    return found


async def conversation(one: Actor, other: Actor) -> str:
    opened = (await one.rest.post("/v1/users/@me/channels", {"recipient_id": other.id})).expect(200)
    channel_id: str = opened["id"]
    return channel_id


class Told:
    """What bob's browser hears, with a way to say that it hears nothing more: a word in a conversation of its own."""

    def __init__(self, world: World, service: PushService, browser: Browser) -> None:
        self.world = world
        self.service = service
        self.browser = browser
        self.asked = 0

    async def message(self) -> dict[str, Any]:
        return await self.service.next_message(self.browser)

    async def nothing(self) -> None:
        """Fail if the browser hears of anything else before the next word from carol."""
        self.asked += 1
        word = f"nothing before this? {self.asked}"
        channel_id = await conversation(self.world.carol, self.world.bob)
        (await self.world.carol.rest.send_message(channel_id, word)).expect(200)
        assert (await self.message())["body"] == word


@pytest.fixture
async def told(chat_world: World, push_service: PushService, browser: Browser) -> Told:
    await subscribe(chat_world.bob, browser, f"{push_service.origin}/bob")
    return Told(chat_world, push_service, browser)


async def goes_away(client: GatewayClient) -> None:
    """Leave the client open, and use it no more."""
    await client.send(3, {"status": "online", "afk": True})
    await client.expect("SESSIONS_REPLACE", where=lambda data: all(session["afk"] for session in data))


async def set_guild(world: World, **settings: object) -> None:
    (await world.bob.rest.change_guild_settings(world.guild_id, **settings)).expect(200)


async def disable(world: World, bits: int) -> None:
    path = f"/v1/_dev/guilds/{world.guild_id}"
    (await world.anyone.post(path, {"disabled_operations": bits})).expect(200)


# Subscriptions


async def test_a_browser_subscribes_and_is_listed_until_it_does_no_more(chat_world: World, browser: Browser) -> None:
    bob = chat_world.bob
    first = await subscribe(bob, browser, "https://push.example/a", user_agent="Firefox on Linux")
    second = await subscribe(bob, browser, "https://push.example/b")
    assert first != second
    assert await listed(bob) == [
        {"subscription_id": first, "user_agent": "Firefox on Linux"},
        {"subscription_id": second, "user_agent": None},
    ]
    again = await subscribe(bob, Browser(), "https://push.example/a", user_agent="Firefox 2")
    assert again == first
    assert {found["user_agent"] for found in await listed(bob)} == {None, "Firefox 2"}
    assert (await bob.rest.delete(f"{SUBSCRIPTIONS}/{first}")).expect(200) == {"success": True}
    assert [found["subscription_id"] for found in await listed(bob)] == [second]
    assert (await bob.rest.delete(f"{SUBSCRIPTIONS}/{first}")).expect(200) == {"success": True}
    (await chat_world.carol.rest.delete(f"{SUBSCRIPTIONS}/{second}")).expect(200)
    assert [found["subscription_id"] for found in await listed(bob)] == [second]  # nobody else's to end
    assert await listed(chat_world.carol) == []


async def test_a_browser_belongs_to_whoever_signed_in_last(chat_world: World, browser: Browser) -> None:
    await subscribe(chat_world.bob, browser, "https://push.example/shared")
    await subscribe(chat_world.carol, browser, "https://push.example/shared")
    assert await listed(chat_world.bob) == []
    assert len(await listed(chat_world.carol)) == 1


async def test_the_browser_that_subscribed_first_makes_room(
    chat_world: World, browser: Browser, autojump_clock: MockClock
) -> None:
    ids = []
    for number in range(34):
        ids.append(await subscribe(chat_world.bob, browser, f"https://push.example/{number}"))
        await trio.sleep(0.01)  # of those of one millisecond none is the first
    assert {found["subscription_id"] for found in await listed(chat_world.bob)} == set(ids[2:])


async def test_a_subscription_ends_with_its_sign_in(chat_world: World, browser: Browser) -> None:
    bob = chat_world.bob
    login = (await chat_world.anyone.login(email=bob.email, password=bob.password)).expect(200)
    elsewhere = bob.rest.signed_in(login["token"])
    body = {"endpoint": "https://push.example/b", "keys": browser.keys()}
    (await elsewhere.post(SUBSCRIBE, body)).expect(200)
    kept = await subscribe(bob, browser, "https://push.example/a")
    assert len(await listed(bob)) == 2
    (await elsewhere.logout()).expect(204)
    assert [found["subscription_id"] for found in await listed(bob)] == [kept]
    await elsewhere.aclose()


@pytest.mark.parametrize(
    ("changed", "path"),
    [
        ({"endpoint": "http://push.example/a"}, "endpoint"),
        ({"endpoint": "https://10.1.2.3/a"}, "endpoint"),
        ({"endpoint": "https://localhost/a"}, "endpoint"),
        ({"endpoint": "not an address"}, "endpoint"),
        ({"endpoint": ""}, "endpoint"),
        ({"endpoint": 7}, "endpoint"),
        ({"endpoint": f"https://push.example/{'a' * 2_048}"}, "endpoint"),
        ({"keys": {"p256dh": "AAAA", "auth": "AAAA"}}, "keys.p256dh"),
        ({"keys": {"p256dh": Browser().keys()["p256dh"], "auth": "AAAA"}}, "keys.auth"),
        ({"keys": {"p256dh": Browser().keys()["p256dh"]}}, "keys.auth"),
        ({"keys": {"p256dh": "A" * 300, "auth": "AAAA"}}, "keys.p256dh"),
        ({"keys": None}, "keys"),
        ({"user_agent": "a" * 513}, "user_agent"),
        ({"user_agent": 7}, "user_agent"),
    ],
)
async def test_subscriptions_that_are_none(
    chat_world: World, browser: Browser, changed: dict[str, object], path: str
) -> None:
    body = {"endpoint": "https://push.example/a", "keys": browser.keys(), **changed}
    refused = (await chat_world.bob.rest.post(SUBSCRIBE, body)).expect(400)
    assert refused["code"] == "INVALID_FORM_BODY"
    assert path in [error["path"] for error in refused["errors"]]
    assert await listed(chat_world.bob) == []


async def test_bots_have_no_browser(chat_world: World, browser: Browser) -> None:
    body = {"endpoint": "https://push.example/a", "keys": browser.keys()}
    assert (await chat_world.bot.rest.post(SUBSCRIBE, body)).status == 403
    assert (await chat_world.anyone.post(SUBSCRIBE, body)).status == 401


@pytest.mark.chat_settings(**{"push.enabled": False})
async def test_an_instance_without_push(chat_world: World, browser: Browser) -> None:
    discovery = (await chat_world.anyone.get("/.well-known/chat")).expect(200)
    assert discovery["push"] == {"public_vapid_key": None}
    body = {"endpoint": "https://push.example/a", "keys": browser.keys()}
    assert (await chat_world.bob.rest.post(SUBSCRIBE, body)).code == "FEATURE_TEMPORARILY_DISABLED"


# What is sent


@pytest.mark.chat_settings(**{"push.contact": "mailto:operator@chat.example"})
async def test_a_push_request_is_what_the_documents_ask_for(
    chat_world: World, push_service: PushService, browser: Browser, told: Told
) -> None:
    bob, alice = chat_world.bob, chat_world.alice
    key = (await chat_world.anyone.get("/.well-known/chat")).expect(200)["push"]["public_vapid_key"]
    channel_id = await conversation(alice, bob)
    message = (await alice.rest.send_message(channel_id, "are you **there**?")).expect(200)
    pushed = await push_service.next()
    assert pushed.path == "/bob"
    assert pushed.headers["content-encoding"] == "aes128gcm"
    assert pushed.headers["ttl"] == "86400"
    assert pushed.headers["urgency"] == "high"
    assert 0 < len(pushed.headers["topic"]) <= 32
    claims = pushed.claims(key, push_service.origin)
    assert claims["sub"] == "mailto:operator@chat.example"
    assert b"there" not in pushed.body
    told_bob = browser.decrypted(pushed.body).decode()
    assert f'"message_id":"{message["id"]}"' in told_bob
    assert '"body":"are you **there**?"' in told_bob
    assert f'"user_id":"{bob.id}"' in told_bob


async def test_what_a_device_reads_of_a_message_in_a_guild(chat_world: World, told: Told) -> None:
    alice, bob = chat_world.alice, chat_world.bob
    guild = (await alice.rest.get(f"/v1/guilds/{chat_world.guild_id}")).expect(200)
    channel = (await alice.rest.get(f"/v1/channels/{chat_world.channel_id}")).expect(200)
    author = (await alice.rest.get("/v1/users/@me")).expect(200)
    text = f"<@{bob.id}> look at <#{channel['id']}> <:wave:123> ||the butler did it||\x07!"
    message = (await alice.rest.send_message(channel["id"], text)).expect(200)
    told_bob = await told.message()
    name = (await bob.rest.get("/v1/users/@me")).expect(200)
    shown = f"@{name['global_name'] or name['username']} look at #{channel['name']} "
    assert told_bob["body"].startswith(shown)
    assert "butler" not in told_bob["body"]
    assert told_bob["title"] == f"{author['global_name'] or author['username']} (#{channel['name']}, {guild['name']})"
    assert told_bob["data"] == {
        "user_id": bob.id,
        "guild_id": guild["id"],
        "channel_id": channel["id"],
        "message_id": message["id"],
        "author_id": alice.id,
        "url": told_bob["data"]["url"],
    }
    assert told_bob["data"]["url"].endswith(f"/channels/{guild['id']}/{channel['id']}/{message['id']}")


async def test_a_locked_screen_shows_nothing_that_the_client_hides(chat_world: World, told: Told) -> None:
    channel_id = await conversation(chat_world.alice, chat_world.bob)
    hidden = ("||the butler | gardener||", f"||{'long ' * 300} butler||", "|| the butler || ||and\nthe butler||")
    for text in (*hidden, "\n> ||the\n> butler||", "[||butler||](https://e.example/)"):
        (await chat_world.alice.rest.send_message(channel_id, f"It was {text}")).expect(200)
        body = (await told.message())["body"]
        assert "It was" in body
        assert "butler" not in body
        assert "long" not in body
    (await chat_world.alice.rest.send_message(channel_id, f"`<@{chat_world.bob.id}>`")).expect(200)
    assert (await told.message())["body"] == f"`<@{chat_world.bob.id}>`"


async def test_long_texts_fit(chat_world: World, told: Told) -> None:
    channel_id = await conversation(chat_world.alice, chat_world.bob)
    for text in ("a" * 2_000, '"' * 2_000, "🦆" * 1_500):
        (await chat_world.alice.rest.send_message(channel_id, text)).expect(200)
        body = (await told.message())["body"]
        assert body.endswith("…")
        assert body[:100] == text[:100]


async def test_everyone_else_in_a_group_is_told(chat_world: World, push_service: PushService, told: Told) -> None:
    alice, bob, carol = chat_world.alice, chat_world.bob, chat_world.carol
    await befriend(alice, bob, carol)
    group = await make_group(alice, bob, carol)
    at_carol, at_alice = Browser(), Browser()
    await subscribe(carol, at_carol, f"{push_service.origin}/carol")
    await subscribe(alice, at_alice, f"{push_service.origin}/alice")
    (await alice.rest.send_message(group["id"], "all of you")).expect(200)
    heard = {}
    for _ in range(2):
        pushed = await push_service.next()
        heard[pushed.path] = pushed.body
    assert set(heard) == {"/bob", "/carol"}
    assert b"all of you" in told.browser.decrypted(heard["/bob"])
    assert b"all of you" in at_carol.decrypted(heard["/carol"])


# Who is told


@pytest.mark.rule("001.registries.10")
async def test_a_guild_in_which_push_notifications_are_disabled(chat_world: World, told: Told) -> None:
    alice, bob = chat_world.alice, chat_world.bob
    (await alice.rest.send_message(chat_world.channel_id, "before")).expect(200)
    assert (await told.message())["body"] == "before"
    await disable(chat_world, 1 << 0)
    (await alice.rest.send_message(chat_world.channel_id, f"<@{bob.id}>")).expect(200)
    (await alice.rest.send_message(chat_world.channel_id, "@everyone")).expect(200)
    await told.nothing()  # but conversations outside of the guild are heard
    await disable(chat_world, 0)
    (await alice.rest.send_message(chat_world.channel_id, "after")).expect(200)
    assert (await told.message())["body"] == "after"


async def test_nobody_is_told_while_a_client_is_in_use(chat_world: World, told: Told) -> None:
    alice, bob = chat_world.alice, chat_world.bob
    client = await bob.connect()
    (await alice.rest.send_message(chat_world.channel_id, "at the desk")).expect(200)
    await client.expect("MESSAGE_CREATE")
    await client.send(3, {"status": "idle", "afk": True})
    await client.expect("SESSIONS_REPLACE", where=lambda data: data[0]["afk"])
    (await alice.rest.send_message(chat_world.channel_id, "away")).expect(200)
    assert (await told.message())["body"] == "away"
    await client.send(3, {"status": "dnd", "afk": True})
    await client.expect("SESSIONS_REPLACE", where=lambda data: data[0]["status"] == "dnd")
    (await alice.rest.send_message(chat_world.channel_id, "not to be disturbed")).expect(200)
    await client.expect("MESSAGE_CREATE", where=lambda data: data["content"] == "not to be disturbed")
    await client.send(3, {"status": "invisible", "afk": True})
    await client.expect("SESSIONS_REPLACE", where=lambda data: data[0]["status"] == "invisible")
    await told.nothing()


async def test_one_person_is_always_heard_of_and_another_never(chat_world: World, told: Told) -> None:
    alice, bob, carol, path = chat_world.alice, chat_world.bob, chat_world.carol, "/v1/users/@me/settings"
    at_bob = await bob.connect()
    chosen = {alice.id: 0, "7": 2}
    assert (await bob.rest.patch(path, {"person_notifications": chosen})).expect(200)["person_notifications"] == chosen
    assert (await at_bob.expect("USER_SETTINGS_UPDATE")).data["person_notifications"] == chosen
    await goes_away(at_bob)

    # One that is chosen is heard of where everything is muted, others are not.
    await set_guild(chat_world, muted=True, channel_overrides={chat_world.channel_id: {"message_notifications": 2}})
    (await carol.rest.send_message(chat_world.channel_id, f"<@{bob.id}> from carol")).expect(200)
    (await alice.rest.send_message(chat_world.channel_id, "from alice")).expect(200)
    assert (await told.message())["body"] == "from alice"
    await set_guild(chat_world, mobile_push=False)
    (await alice.rest.send_message(chat_world.channel_id, "not on telephones")).expect(200)
    await told.nothing()

    # One that is silenced is not heard of by name, nor in a conversation of two; no mention counts.
    await set_guild(chat_world, muted=False, mobile_push=True, channel_overrides=None)
    (await bob.rest.patch(path, {"person_notifications": {alice.id: 2}})).expect(200)
    of_two = await conversation(alice, bob)
    before = (await alice.rest.send_message(chat_world.channel_id, "unread")).expect(200)
    (await bob.rest.acknowledge(chat_world.channel_id, before["id"])).expect(204)
    (await alice.rest.send_message(chat_world.channel_id, f"<@{bob.id}> @everyone")).expect(200)
    first = (await alice.rest.send_message(of_two, "psst")).expect(200)
    (await alice.rest.send_message(of_two, "psst!")).expect(200)
    await told.nothing()
    at_bob = await bob.connect()
    states = {state["id"]: state["mention_count"] for state in at_bob.ready["read_states"]}
    assert (states[chat_world.channel_id], states.get(of_two, 0)) == (0, 0)
    (await bob.rest.acknowledge(of_two, first["id"])).expect(204)
    assert (await at_bob.expect("MESSAGE_ACK")).data["mention_count"] == 0
    await goes_away(at_bob)

    (await bob.rest.patch(path, {"person_notifications": {}})).expect(200)
    (await alice.rest.send_message(of_two, "heard again")).expect(200)
    assert (await told.message())["body"] == "heard again"


async def test_quiet_hours_hold_for_devices(chat_world: World, push_service: PushService, told: Told) -> None:
    alice, bob, carol, path = chat_world.alice, chat_world.bob, chat_world.carol, "/v1/users/@me/settings"
    await befriend(alice, bob, carol)
    group, at_carol = await make_group(alice, bob, carol), Browser()
    await subscribe(carol, at_carol, f"{push_service.origin}/carol")
    always = {"start": "00:00", "end": "23:59", "timezone": "UTC"}
    for hours, where in (
        ({**always, "timezone": "Mars"}, "quiet_hours.timezone"),
        ({**always, "start": "24:00"}, "quiet_hours.start"),
        ({**always, "end": "7:00"}, "quiet_hours.end"),
    ):
        refused = (await bob.rest.patch(path, {"quiet_hours": hours})).expect(400)
        assert [error["path"] for error in refused["errors"]] == [where]
    assert (await bob.rest.get(path)).expect(200)["quiet_hours"] is None
    # From a minute after midnight until midnight, in a zone in which that minute is not now.
    zones = [zone for zone in ("UTC", "Etc/GMT+6") if datetime.now(ZoneInfo(zone)).strftime("%H") != "00"]
    hours = {"start": "00:01", "end": "00:00", "timezone": zones[0]}
    assert (await bob.rest.patch(path, {"quiet_hours": hours})).expect(200)["quiet_hours"] == hours
    (await alice.rest.send_message(group["id"], f"<@{bob.id}> at night")).expect(200)
    assert (await push_service.next()).path == "/carol"
    (await bob.rest.patch(path, {"quiet_hours": None})).expect(200)
    await told.nothing()


async def test_one_s_own_messages_and_silent_ones(chat_world: World, told: Told) -> None:
    (await chat_world.bob.rest.send_message(chat_world.channel_id, "to myself")).expect(200)
    (await chat_world.alice.rest.send_message(chat_world.channel_id, "hush", flags=1 << 12)).expect(200)
    await told.nothing()


async def test_blocked_authors_are_never_heard(chat_world: World, told: Told) -> None:
    await block(chat_world.bob, chat_world.alice)
    (await chat_world.alice.rest.send_message(chat_world.channel_id, f"<@{chat_world.bob.id}>")).expect(200)
    await told.nothing()


async def test_a_channel_that_one_does_not_see(chat_world: World, told: Told) -> None:
    alice, guild_id = chat_world.alice, chat_world.guild_id
    hidden = {"name": "hidden", "type": 0, "permission_overwrites": [{"id": guild_id, "type": 0, "deny": "1024"}]}
    channel = (await alice.rest.post(f"/v1/guilds/{guild_id}/channels", hidden)).expect(200)
    (await alice.rest.send_message(channel["id"], "@everyone")).expect(200)
    await told.nothing()


async def test_whoever_left_is_not_told_and_whoever_came_is(chat_world: World, told: Told) -> None:
    alice, bob = chat_world.alice, chat_world.bob
    await befriend(bob, chat_world.carol)  # else a stranger after bob has left
    invite = (await alice.rest.create_channel_invite(chat_world.channel_id)).expect(200)
    (await alice.rest.send_message(chat_world.channel_id, "with bob")).expect(200)
    assert (await told.message())["body"] == "with bob"
    (await bob.rest.delete(f"/v1/users/@me/guilds/{chat_world.guild_id}")).expect(204)
    (await alice.rest.send_message(chat_world.channel_id, "without bob")).expect(200)
    await told.nothing()
    (await bob.rest.accept_invite(invite["code"])).expect(200)
    (await alice.rest.send_message(chat_world.channel_id, "with bob again")).expect(200)
    assert (await told.message())["body"] == "with bob again"


@pytest.mark.parametrize(
    "settings",
    [
        {"mobile_push": False},
        {"muted": True},
        {"muted": True, "mute_config": {"end_time": "2099-01-01T00:00:00Z", "selected_time_window": 3600}},
        {"message_notifications": 2},
    ],
)
async def test_settings_that_silence_a_guild(chat_world: World, told: Told, settings: dict[str, object]) -> None:
    await set_guild(chat_world, **settings)
    (await chat_world.alice.rest.send_message(chat_world.channel_id, f"<@{chat_world.bob.id}>")).expect(200)
    await told.nothing()


async def test_a_mute_that_is_over(chat_world: World, told: Told) -> None:
    over = {"end_time": "2020-01-01T00:00:00Z", "selected_time_window": 3600}
    await set_guild(chat_world, muted=True, mute_config=over)
    (await chat_world.alice.rest.send_message(chat_world.channel_id, "hello again")).expect(200)
    assert (await told.message())["body"] == "hello again"


async def test_mentions_alone_where_that_is_the_wish(chat_world: World, told: Told) -> None:
    alice, bob, guild_id = chat_world.alice, chat_world.bob, chat_world.guild_id
    role = (await alice.rest.post(f"/v1/guilds/{guild_id}/roles", {"name": "night shift"})).expect(200)
    (await alice.rest.put(f"/v1/guilds/{guild_id}/members/{bob.id}/roles/{role['id']}")).expect(204)
    await set_guild(chat_world, message_notifications=1)

    async def say(text: str) -> None:
        (await alice.rest.send_message(chat_world.channel_id, text)).expect(200)

    await say("nothing for bob")
    await say("@here nothing either: bob is not")
    await told.nothing()
    for text in (f"<@{bob.id}> you", f"<@&{role['id']}> you all", "@everyone too"):
        await say(text)
        assert (await told.message())["data"]["channel_id"] == chat_world.channel_id
    await set_guild(chat_world, suppress_everyone=True, suppress_roles=True)
    await say(f"<@&{role['id']}> again")
    await say("@everyone again")
    await told.nothing()
    await say(f"<@{bob.id}> after all")
    assert (await told.message())["body"].endswith("after all")


async def test_a_channel_may_be_otherwise_than_its_guild(chat_world: World, told: Told) -> None:
    alice, guild_id = chat_world.alice, chat_world.guild_id
    category = (await alice.rest.post(f"/v1/guilds/{guild_id}/channels", {"name": "c", "type": 4})).expect(200)
    made = {"name": "below", "type": 0, "parent_id": category["id"]}
    below = (await alice.rest.post(f"/v1/guilds/{guild_id}/channels", made)).expect(200)
    loud = {"message_notifications": 0, "muted": False, "collapsed": False}
    silent = {"message_notifications": 3, "muted": True, "collapsed": False}
    await set_guild(chat_world, message_notifications=2, channel_overrides={category["id"]: loud})
    (await alice.rest.send_message(chat_world.channel_id, "as the guild")).expect(200)
    await told.nothing()
    (await alice.rest.send_message(below["id"], "as the category")).expect(200)
    assert (await told.message())["body"] == "as the category"
    await set_guild(chat_world, message_notifications=0, channel_overrides={category["id"]: silent})
    (await alice.rest.send_message(below["id"], "muted with its category")).expect(200)
    await told.nothing()
    (await alice.rest.send_message(chat_world.channel_id, "as the guild now")).expect(200)
    assert (await told.message())["body"] == "as the guild now"


async def test_conversations_have_settings_of_their_own(chat_world: World, told: Told) -> None:
    alice, bob = chat_world.alice, chat_world.bob
    channel_id = await conversation(alice, bob)
    override = {"message_notifications": 3, "muted": True, "collapsed": False}
    path = "/v1/users/@me/guilds/@me/settings"
    (await bob.rest.patch(path, {"channel_overrides": {channel_id: override}})).expect(200)
    (await alice.rest.send_message(channel_id, "muted")).expect(200)
    await told.nothing()
    (await bob.rest.patch(path, {"channel_overrides": None})).expect(200)
    (await alice.rest.send_message(channel_id, "heard")).expect(200)
    assert (await told.message())["body"] == "heard"


async def test_a_thread_tells_those_who_are_in_it(chat_world: World, told: Told) -> None:
    alice, bob = chat_world.alice, chat_world.bob
    bob.rest.headers["X-Service-Features"] = alice.rest.headers["X-Service-Features"] = "channel_threads"
    made = {"name": "aside", "type": 11}
    thread = (await alice.rest.post(f"/v1/channels/{chat_world.channel_id}/threads", made)).expect(201)
    (await alice.rest.send_message(thread["id"], "among ourselves")).expect(200)
    await told.nothing()
    (await bob.rest.put(f"/v1/channels/{thread['id']}/thread-members/@me")).expect(204)
    (await alice.rest.send_message(thread["id"], "welcome")).expect(200)
    heard = await told.message()
    assert (heard["body"], heard["data"]["channel_id"]) == ("welcome", thread["id"])
    settings = f"/v1/channels/{thread['id']}/thread-members/@me/settings"
    (await bob.rest.patch(settings, {"flags": 1 << 3})).expect(200)
    (await alice.rest.send_message(thread["id"], "quiet now")).expect(200)
    await told.nothing()


async def test_a_call_is_told_to_those_whom_it_may_make_ring(chat_world: World, told: Told) -> None:
    alice, bob = chat_world.alice, chat_world.bob
    await befriend(alice, bob)
    channel_id = await conversation(alice, bob)
    (await alice.rest.post(f"/v1/channels/{channel_id}/call/ring")).expect(204)
    heard = await told.message()
    assert (heard["body"], heard["data"]["author_id"]) == ("Started a call", alice.id)
    (await alice.rest.post(f"/v1/channels/{channel_id}/call/end")).expect(204)
    (await bob.rest.patch("/v1/users/@me/settings", {"incoming_call_flags": 1 << 4})).expect(200)
    (await alice.rest.post(f"/v1/channels/{channel_id}/call/ring")).expect(204)
    await told.nothing()


async def test_messages_without_words_are_told_by_what_they_carry(chat_world: World, told: Told) -> None:
    alice = chat_world.alice
    made = await alice.rest.send_message(chat_world.channel_id, "", embeds=[{"title": "A poem"}])
    made.expect(200)
    assert (await told.message())["body"] == "A poem"
    await befriend(alice, chat_world.bob)
    channel_id = await conversation(alice, chat_world.bob)
    forwarded = {
        "type": 1,
        "message_id": made.json()["id"],
        "channel_id": chat_world.channel_id,
        "guild_id": chat_world.guild_id,
    }
    (await alice.rest.send_message(channel_id, "", message_reference=forwarded)).expect(200)
    assert (await told.message())["body"] == "Forwarded a message"


# Push services


async def test_a_subscription_that_the_push_service_does_not_know_is_forgotten(
    chat_world: World, push_service: PushService, told: Told
) -> None:
    for status in (404, 410):
        await subscribe(chat_world.bob, told.browser, f"{push_service.origin}/bob")
        push_service.answers.append((status, {}))
        (await chat_world.alice.rest.send_message(chat_world.channel_id, f"{status}")).expect(200)
        assert (await told.message())["body"] == f"{status}"
        with trio.fail_after(PATIENCE_SECONDS):
            while await listed(chat_world.bob):  # noqa: ASYNC110 - nobody is told
                await trio.sleep(0.01)


async def test_a_push_service_that_is_busy_is_asked_again(
    chat_world: World, push_service: PushService, told: Told
) -> None:
    push_service.answers.append((429, {"Retry-After": "1"}))
    (await chat_world.alice.rest.send_message(chat_world.channel_id, "once more")).expect(200)
    assert (await told.message())["body"] == "once more"
    assert (await told.message())["body"] == "once more"
    assert len(await listed(chat_world.bob)) == 1


async def test_a_push_service_that_refuses_is_not_asked_again(
    chat_world: World, push_service: PushService, told: Told
) -> None:
    push_service.answers.append((413, {}))
    (await chat_world.alice.rest.send_message(chat_world.channel_id, "too large for them")).expect(200)
    assert (await told.message())["body"] == "too large for them"
    await told.nothing()
    assert len(await listed(chat_world.bob)) == 1


async def test_what_waits_for_a_sign_in_that_ended_is_not_sent(
    chat_world: World, push_service: PushService, told: Told
) -> None:
    bob = chat_world.bob
    push_service.answers.append((503, {"Retry-After": "1"}))
    (await chat_world.alice.rest.send_message(chat_world.channel_id, "for bob alone")).expect(200)
    await told.message()
    (await bob.rest.unsubscribe_from_push((await listed(bob))[0]["subscription_id"])).expect(200)
    await trio.sleep(1.5)
    assert push_service.waiting() == 0


async def test_subscriptions_outlive_a_restart(chat_server: ChatServer, chat_world: World, told: Told) -> None:
    await chat_server.restart()
    (await chat_world.alice.rest.send_message(chat_world.channel_id, "after the restart")).expect(200)
    assert (await told.message())["body"] == "after the restart"
