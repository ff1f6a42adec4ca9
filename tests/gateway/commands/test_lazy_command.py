"""Lazy Request, opcode 14: active and passive, Guild Sync, watched members, typing; and Passive Updates.

Area: gateway. Rules: 000.sequencing.
"""

from __future__ import annotations

from typing import Any

import pytest
import trio
from trio.testing import MockClock

from chat.bus.audience import ToChannel, ToGuild
from chat.bus.bus import Event, GuildLeft
from chat.registries.channel_types import ChannelType, OverwriteType
from chat.registries.events import EventName
from chat.registries.opcodes import Opcode
from chat.registries.permissions import Permission
from chat.store.guilds.channels import Overwrite
from tests.gateway.commands.stage import Client, Stage
from tests.guilds.guild_world import GuildPlace


class Harbour:
    """A guild of alice, bob and carol; alice and bob are connected."""

    def __init__(self, stage: Stage, guild: GuildPlace, people: dict[str, Any]) -> None:
        self.stage = stage
        self.guild = guild
        self.people = people
        self.alice = stage.connect(people["alice"], guild)
        self.bob = stage.connect(people["bob"], guild)

    def id_of(self, name: str) -> str:
        """The id of an account."""
        return str(self.people[name].user_id)

    async def subscribes(self, client: Client, **members: Any) -> list[tuple[str, Any]]:
        """Send what the client wants of the guild; returns what it received."""
        return await client.asks(Opcode.LAZY_REQUEST, {"subscriptions": {str(self.guild.id): members}})

    def writes(self, channel_id: int) -> int:
        """A message is written in a channel; returns its id."""
        message_id = self.stage.world.snowflakes()
        self.guild.state.note_message(channel_id, message_id)
        data = {"id": str(message_id), "channel_id": str(channel_id), "guild_id": str(self.guild.id)}
        audience = ToChannel(self.guild.id, channel_id)
        self.stage.world.bus.publish(Event(EventName.MESSAGE_CREATE, data, audience))
        return message_id

    def types(self, name: str) -> None:
        """Somebody is typing."""
        data = {"channel_id": str(self.guild.general), "user_id": self.id_of(name), "guild_id": str(self.guild.id)}
        audience = ToChannel(self.guild.id, self.guild.general)
        self.stage.world.bus.publish(Event(EventName.TYPING_START, data, audience))


@pytest.fixture
async def harbour(stage: Stage) -> Harbour:
    people = {name: await stage.world.person(name) for name in ("alice", "bob", "carol")}
    return Harbour(stage, await stage.world.guild(*people.values()), people)


# Active, sync


@pytest.mark.rule("000.sequencing.10")
async def test_a_sync_is_the_whole_guild(harbour: Harbour) -> None:
    ((event, data),) = await harbour.subscribes(harbour.bob, sync=True)
    assert event == EventName.GUILD_SYNC
    assert {role["id"] for role in data["roles"]} == {str(role_id) for role_id in harbour.guild.state.roles}
    assert {channel["id"] for channel in data["channels"]} == {str(one) for one in harbour.guild.state.channels}
    assert [data[part] for part in ("emojis", "stickers", "voice_states", "threads")] == [[], [], [], []]
    assert data["members"][0]["user"]["username"] == "bob"


async def test_becoming_active_or_passive_brings_one_sync(harbour: Harbour) -> None:
    names = [
        [event for event, _ in await harbour.subscribes(harbour.bob, **wanted)]
        for wanted in (
            {"active": True, "sync": True},
            {"active": True},
            {"active": True, "sync": False},
            {"active": False},
            {"active": False},
        )
    ]
    assert names == [["GUILD_SYNC"], [], [], ["GUILD_SYNC"], []]


async def test_a_bot_is_always_active(harbour: Harbour) -> None:
    robot = await harbour.stage.world.person("robot", bot=True)
    guild = await harbour.stage.world.guild(harbour.people["alice"], robot)
    client = harbour.stage.connect(robot, guild)
    wanted = {str(guild.id): {"active": True}}
    assert await client.asks(Opcode.LAZY_REQUEST, {"subscriptions": wanted}) == []
    assert client.session.active_guilds == set()


@pytest.mark.parametrize("wanted", [{"active": "yes", "sync": True}, {"sync": 1, "typing": False}])
async def test_what_is_no_boolean_abandons_the_rest(harbour: Harbour, wanted: dict[str, Any]) -> None:
    assert await harbour.subscribes(harbour.bob, **wanted) == []
    harbour.types("alice")
    await harbour.stage.settled()
    assert len(harbour.bob.heard(EventName.TYPING_START)) == 1


@pytest.mark.parametrize("d", [None, [], {}, {"subscriptions": []}, {"subscriptions": {"x": {"sync": True}}}])
async def test_a_broken_request_is_abandoned(harbour: Harbour, d: Any) -> None:
    assert await harbour.bob.asks(Opcode.LAZY_REQUEST, d) == []


async def test_guilds_of_strangers_and_closed_guilds_are_passed_over(harbour: Harbour) -> None:
    other = await harbour.stage.world.guild(harbour.people["carol"])
    wanted = {str(other.id): {"sync": True}, str(harbour.guild.id): {"sync": True}}
    ((_, data),) = await harbour.bob.asks(Opcode.LAZY_REQUEST, {"subscriptions": wanted})
    assert data["id"] == str(harbour.guild.id)
    await harbour.guild.set("features", '["UNAVAILABLE_FOR_EVERYONE"]')
    assert await harbour.bob.asks(Opcode.LAZY_REQUEST, {"subscriptions": wanted}) == []


async def test_requests_are_applied_in_the_order_in_which_they_came(harbour: Harbour) -> None:
    await harbour.stage.settled()
    for active in (True, False, True):
        wanted = {str(harbour.guild.id): {"active": active}}
        harbour.bob.sends(Opcode.LAZY_REQUEST, {"subscriptions": wanted})
    await harbour.stage.settled()
    assert harbour.bob.session.active_guilds == {harbour.guild.id}
    assert len(harbour.bob.heard(EventName.GUILD_SYNC)) == 3


# Watched members


def statuses(client: Client) -> list[tuple[str, str]]:
    return [(entry["user"]["username"], entry["status"]) for entry in client.heard(EventName.PRESENCE_UPDATE)]


async def test_a_watched_members_presence_is_told(harbour: Harbour) -> None:
    harbour.alice.sends(Opcode.PRESENCE_UPDATE, {"status": "idle"})
    await harbour.stage.settled()
    assert statuses(harbour.bob) == []
    await harbour.subscribes(harbour.bob, members=[harbour.id_of("alice")])
    harbour.alice.sends(Opcode.PRESENCE_UPDATE, {"status": "dnd"})
    await harbour.stage.settled()
    assert statuses(harbour.bob) == [("alice", "dnd")]
    await harbour.subscribes(harbour.bob, members=[])
    harbour.alice.sends(Opcode.PRESENCE_UPDATE, {"status": "online"})
    await harbour.stage.settled()
    assert len(statuses(harbour.bob)) == 1


async def test_who_is_online_already_is_told_at_once(harbour: Harbour) -> None:
    ids = [harbour.id_of(name) for name in ("alice", "carol")]
    ((event, data),) = await harbour.subscribes(harbour.bob, members=ids)
    assert event == EventName.PRESENCE_UPDATE_BULK
    assert data["guild_id"] == str(harbour.guild.id)
    assert [(entry["user"]["username"], entry["status"]) for entry in data["presences"]] == [("alice", "online")]
    # Whom the session watched before is not told of again.
    assert await harbour.subscribes(harbour.bob, members=ids) == []


async def test_only_members_of_the_guild_can_be_watched(harbour: Harbour) -> None:
    stranger = await harbour.stage.world.person("stranger")
    await harbour.subscribes(harbour.bob, members=[str(stranger.user_id)])
    harbour.stage.connect(stranger)
    await harbour.stage.settled()
    assert statuses(harbour.bob) == []


async def test_a_member_who_left_is_watched_no_longer(harbour: Harbour) -> None:
    await harbour.subscribes(harbour.bob, members=[harbour.id_of("carol")])
    harbour.stage.world.bus.publish(GuildLeft(harbour.guild.id, harbour.people["carol"].user_id))
    harbour.stage.connect(harbour.people["carol"])
    await harbour.stage.settled()
    assert statuses(harbour.bob) == []


async def test_a_friend_who_is_watched_too_is_told_of_once(harbour: Harbour) -> None:
    alice, bob = harbour.people["alice"].user_id, harbour.people["bob"].user_id
    harbour.stage.friends = {alice: (bob,)}
    await harbour.subscribes(harbour.bob, members=[harbour.id_of("alice")])
    harbour.alice.sends(Opcode.PRESENCE_UPDATE, {"status": "dnd"})
    await harbour.stage.settled()
    assert statuses(harbour.bob) == [("alice", "dnd")]


async def test_a_session_that_leaves_the_guild_watches_nothing_there(harbour: Harbour) -> None:
    harbour.bob.session.threads = True
    channels = {str(harbour.guild.general): [[0, 99]]}
    await harbour.subscribes(
        harbour.bob, members=[harbour.id_of("alice")], typing=False, member_list_channels=channels, threads=True
    )
    interest = harbour.stage.subscriptions.interest(harbour.bob.session, harbour.guild.id)
    assert interest is not None
    assert interest.threads
    harbour.stage.hub.disconnect(harbour.bob.session, harbour.guild.id)
    assert harbour.stage.subscriptions.interest(harbour.bob.session, harbour.guild.id) is None
    assert list(harbour.stage.subscriptions.presence_subscribers(harbour.people["alice"].user_id)) == []
    assert harbour.stage.subscriptions.lists_of(harbour.bob.session) == ()
    assert not harbour.stage.subscriptions.typing_decliners(harbour.guild.id)


@pytest.mark.parametrize(("number", "watched"), [(1_000, 1), (1_001, 0)])
async def test_a_thousand_members_can_be_watched_and_no_more(harbour: Harbour, number: int, watched: int) -> None:
    ids = [harbour.id_of("alice"), *(str(one) for one in range(1, number))]
    await harbour.subscribes(harbour.bob, members=ids)
    assert len(list(harbour.stage.subscriptions.presence_subscribers(int(ids[0])))) == watched


# Typing


async def test_a_session_may_decline_to_hear_who_is_typing(harbour: Harbour) -> None:
    heard = []
    for typing in (None, False, True):
        await harbour.subscribes(harbour.bob, typing=typing)
        harbour.types("alice")
        await harbour.stage.settled()
        heard.append(len(harbour.bob.heard(EventName.TYPING_START)))
    assert heard == [1, 1, 2]
    assert len(harbour.alice.heard(EventName.TYPING_START)) == 3


# Passive Updates


async def test_passive_sessions_of_large_guilds_learn_every_30_seconds_where_was_written(
    autojump_clock: MockClock, harbour: Harbour
) -> None:
    await harbour.stage.crowd(harbour.guild, 248)
    deny = Overwrite(harbour.guild.id, OverwriteType.ROLE, 0, Permission.VIEW_CHANNEL)
    hidden = await harbour.guild.channel(ChannelType.GUILD_TEXT, "hidden", [deny])
    await harbour.subscribes(harbour.alice, active=True)
    await trio.sleep(31)
    harbour.writes(harbour.guild.general)
    last = harbour.writes(harbour.guild.general)
    harbour.writes(hidden)
    await trio.sleep(28)
    assert harbour.bob.heard(EventName.PASSIVE_UPDATES) == []
    await trio.sleep(2)
    assert harbour.bob.heard(EventName.PASSIVE_UPDATES) == [
        {"guild_id": str(harbour.guild.id), "channels": {str(harbour.guild.general): str(last)}}
    ]
    assert harbour.bob.heard(EventName.MESSAGE_CREATE) == []
    assert harbour.alice.heard(EventName.PASSIVE_UPDATES) == []
    assert len(harbour.alice.heard(EventName.MESSAGE_CREATE)) == 3
    await trio.sleep(60)
    assert len(harbour.bob.heard(EventName.PASSIVE_UPDATES)) == 1


async def test_in_a_large_guild_each_session_hears_of_its_own_member_once(harbour: Harbour) -> None:
    await harbour.stage.crowd(harbour.guild, 248)
    await harbour.subscribes(harbour.alice, active=True)
    for name in ("alice", "bob"):
        data = {"guild_id": str(harbour.guild.id), "user": {"id": harbour.id_of(name)}}
        harbour.stage.world.bus.publish(Event(EventName.GUILD_MEMBER_UPDATE, data, ToGuild(harbour.guild.id)))
    await harbour.stage.settled()
    # The active one hears of both, the passive one of its own.
    heard = {client: client.heard(EventName.GUILD_MEMBER_UPDATE) for client in (harbour.alice, harbour.bob)}
    assert [data["user"]["id"] for data in heard[harbour.alice]] == [harbour.id_of("alice"), harbour.id_of("bob")]
    assert [data["user"]["id"] for data in heard[harbour.bob]] == [harbour.id_of("bob")]


async def test_in_a_guild_of_250_nobody_is_passive(autojump_clock: MockClock, harbour: Harbour) -> None:
    await harbour.stage.crowd(harbour.guild, 247)
    harbour.writes(harbour.guild.general)
    await trio.sleep(31)
    assert harbour.bob.heard(EventName.PASSIVE_UPDATES) == []
    assert len(harbour.bob.heard(EventName.MESSAGE_CREATE)) == 1
