"""Watched member lists: shown at once, kept up to date at most once a second, and never to whoever may not look."""

from __future__ import annotations

import random
from typing import Any

import pytest
import trio
from trio.testing import MockClock

from chat.gateway.subscriptions import WATCHED_LISTS
from chat.registries.channel_types import ChannelType, OverwriteType
from chat.registries.events import EventName
from chat.registries.guild_values import JoinSource
from chat.registries.opcodes import Opcode
from chat.registries.permissions import Permission
from chat.store.guard import UNGUARDED
from chat.store.guilds.channels import Overwrite
from tests.gateway.commands.stage import Client, Stage
from tests.guilds.guild_world import GuildPlace


class Deck:
    """A guild of alice, bob and carol; alice, its owner, watches the member list of the general channel."""

    def __init__(self, stage: Stage, guild: GuildPlace, people: dict[str, Any]) -> None:
        self.stage = stage
        self.guild = guild
        self.people = people
        self.alice = stage.connect(people["alice"], guild)

    async def watches(self, client: Client, lists: dict[int, list[list[int]]]) -> list[Any]:
        """The client watches these lists; returns the updates that it received at once."""
        channels = {str(channel_id): ranges for channel_id, ranges in lists.items()}
        wanted = {str(self.guild.id): {"member_list_channels": channels}}
        answers = await client.asks(Opcode.LAZY_REQUEST, {"subscriptions": wanted})
        return [data for event, data in answers if event == EventName.GUILD_MEMBER_LIST_UPDATE]

    async def shown(self, client: Client, *ranges: list[int]) -> Any:
        """What a client is shown of the general channel's list."""
        (update,) = await self.watches(client, {self.guild.general: list(ranges) or [[0, 99]]})
        return update


def rows(update: Any) -> list[str]:
    """The rows of an update's first range: `[group count]`, or the member's username and status."""
    return [
        f"[{item['group']['id']} {item['group']['count']}]"
        if "group" in item
        else f"{item['member']['user']['username']} {item['member']['presence']['status']}"
        for item in update["ops"][0]["items"]
    ]


@pytest.fixture
async def deck(stage: Stage) -> Deck:
    people = {name: await stage.world.person(name) for name in ("alice", "bob", "carol")}
    return Deck(stage, await stage.world.guild(*people.values()), people)


async def test_a_list_is_shown_when_it_is_first_watched(deck: Deck) -> None:
    update = await deck.shown(deck.alice)
    assert rows(update) == ["[online 1]", "alice online", "[offline 2]", "bob offline", "carol offline"]
    general = str(deck.guild.general)
    assert (update["guild_id"], update["id"], update["channel_id"]) == (str(deck.guild.id), general, general)
    assert (update["member_count"], update["online_count"]) == (3, 1)
    assert update["groups"] == [{"id": "online", "count": 1}, {"id": "offline", "count": 2}]
    (op,) = update["ops"]
    assert (op["op"], op["range"]) == ("SYNC", [0, 99])
    assert op["items"][1]["member"]["roles"] == []


async def test_each_range_is_an_op_of_its_own(deck: Deck) -> None:
    update = await deck.shown(deck.alice, [0, 1], [3, 3], [50, 60])
    assert [(op["range"], len(op["items"])) for op in update["ops"]] == [([0, 1], 2), ([3, 3], 1), ([50, 60], 0)]


async def test_members_with_a_hoisted_role_stand_under_it(deck: Deck) -> None:
    role_id = await deck.guild.role(0, deck.people["alice"], hoist=True)
    assert rows(await deck.shown(deck.alice))[0] == f"[{role_id} 1]"


async def test_a_presence_moves_a_member_to_another_group(deck: Deck) -> None:
    await deck.shown(deck.alice)
    deck.stage.connect(deck.people["carol"], deck.guild, status="dnd")
    await deck.stage.settled()
    *_, update = deck.alice.heard(EventName.GUILD_MEMBER_LIST_UPDATE)
    assert rows(update) == ["[online 2]", "alice online", "carol dnd", "[offline 1]", "bob offline"]
    assert update["online_count"] == 2


async def test_a_list_that_changes_often_is_sent_once_a_second(autojump_clock: MockClock, deck: Deck) -> None:
    await deck.shown(deck.alice)
    carol = deck.stage.connect(deck.people["carol"], deck.guild)
    for status in ("idle", "dnd", "online", "idle"):
        await trio.sleep(0.1)
        carol.sends(Opcode.PRESENCE_UPDATE, {"status": status})
    assert len(deck.alice.heard(EventName.GUILD_MEMBER_LIST_UPDATE)) == 2
    await trio.sleep(1)
    updates = deck.alice.heard(EventName.GUILD_MEMBER_LIST_UPDATE)
    assert len(updates) == 3
    assert "carol idle" in rows(updates[-1])
    await trio.sleep(5)
    assert len(deck.alice.heard(EventName.GUILD_MEMBER_LIST_UPDATE)) == 3


async def test_only_ranges_that_look_different_are_sent(deck: Deck) -> None:
    await deck.shown(deck.alice, [0, 0], [2, 3], [4, 4])
    carol = deck.stage.connect(deck.people["carol"], deck.guild)
    await deck.stage.settled()
    *_, update = deck.alice.heard(EventName.GUILD_MEMBER_LIST_UPDATE)
    assert [op["range"] for op in update["ops"]] == [[0, 0], [2, 3], [4, 4]]
    deck.stage.end(carol)
    deck.stage.tell_of_member(deck.guild, deck.people["bob"].user_id)
    await deck.stage.settled()
    assert len(deck.alice.heard(EventName.GUILD_MEMBER_LIST_UPDATE)) == 2


async def test_a_change_that_nobody_can_see_is_not_sent(autojump_clock: MockClock, deck: Deck) -> None:
    await deck.shown(deck.alice)
    deck.stage.tell_of_member(deck.guild, deck.people["bob"].user_id)
    deck.stage.tell_of_guild(deck.guild)
    await trio.sleep(3)
    assert len(deck.alice.heard(EventName.GUILD_MEMBER_LIST_UPDATE)) == 1


async def test_who_joins_or_changes_appears(autojump_clock: MockClock, deck: Deck) -> None:
    await deck.shown(deck.alice)
    dave = await deck.stage.world.person("dave")
    await deck.stage.world.memberships.join(dave.account, deck.guild.id, JoinSource.INSTANT_INVITE, guard=UNGUARDED)
    await trio.sleep(1.1)
    await deck.guild.change("UPDATE members SET nick = 'Aaron' WHERE user_id = ?", dave.user_id)
    deck.stage.tell_of_member(deck.guild, dave.user_id)
    await trio.sleep(1.1)
    joined, renamed = deck.alice.heard(EventName.GUILD_MEMBER_LIST_UPDATE)[1:]
    assert rows(joined)[2:] == ["[offline 3]", "bob offline", "carol offline", "dave offline"]
    assert rows(renamed)[2:] == ["[offline 3]", "dave offline", "bob offline", "carol offline"]


# Who may look


def denied(deck: Deck, permission: Permission) -> Overwrite:
    return Overwrite(deck.guild.id, OverwriteType.ROLE, 0, permission)


@pytest.mark.parametrize("missing", [Permission.VIEW_CHANNEL, Permission.VIEW_CHANNEL_MEMBERS])
async def test_a_list_is_for_those_who_may_know_who_sees_the_channel(deck: Deck, missing: Permission) -> None:
    bob = deck.stage.connect(deck.people["bob"], deck.guild)
    channel_id = await deck.guild.channel(ChannelType.GUILD_TEXT, "hidden", [denied(deck, missing)])
    assert await deck.watches(bob, {channel_id: [[0, 9]], 5: [[0, 9]]}) == []
    (update,) = await deck.watches(deck.alice, {channel_id: [[0, 9]]})
    sees_alone = missing is Permission.VIEW_CHANNEL
    assert update["member_count"] == (1 if sees_alone else 3)


async def test_whoever_may_look_no_longer_is_shown_no_more(autojump_clock: MockClock, deck: Deck) -> None:
    bob = deck.stage.connect(deck.people["bob"], deck.guild)
    await deck.shown(bob)
    await deck.shown(deck.alice)
    await deck.guild.overwrite(deck.guild.general, denied(deck, Permission.VIEW_CHANNEL))
    deck.stage.tell_of_guild(deck.guild)
    await trio.sleep(2)
    assert len(bob.heard(EventName.GUILD_MEMBER_LIST_UPDATE)) == 1
    assert deck.stage.subscriptions.lists_of(bob.session) == ()
    *_, update = deck.alice.heard(EventName.GUILD_MEMBER_LIST_UPDATE)
    assert rows(update) == ["[online 1]", "alice online"]


async def test_a_list_of_a_deleted_channel_is_watched_by_nobody(autojump_clock: MockClock, deck: Deck) -> None:
    booth = await deck.guild.channel(ChannelType.GUILD_TEXT, "booth")
    await deck.watches(deck.alice, {booth: [[0, 9]]})
    await deck.guild.change("DELETE FROM channels WHERE id = ?", booth)
    deck.stage.tell_of_guild(deck.guild)
    await trio.sleep(2)
    assert deck.stage.subscriptions.lists_of(deck.alice.session) == ()


async def test_naming_other_lists_ends_the_watch_of_these(autojump_clock: MockClock, deck: Deck) -> None:
    await deck.shown(deck.alice)
    booth = await deck.guild.channel(ChannelType.GUILD_TEXT, "booth")
    await deck.watches(deck.alice, {booth: [[0, 9]]})
    deck.stage.connect(deck.people["carol"], deck.guild)
    await trio.sleep(2)
    channels = [data["id"] for data in deck.alice.heard(EventName.GUILD_MEMBER_LIST_UPDATE)]
    assert channels == [str(deck.guild.general), str(booth), str(booth)]
    await deck.watches(deck.alice, {booth: []})
    assert deck.stage.subscriptions.lists_of(deck.alice.session) == ()


async def test_the_list_watched_for_longest_is_forgotten_beyond_the_limit(deck: Deck) -> None:
    channel_ids = [await deck.guild.channel(ChannelType.GUILD_TEXT, f"c{n}") for n in range(WATCHED_LISTS + 1)]
    await deck.watches(deck.alice, {channel_id: [[0, 9]] for channel_id in channel_ids[:-1]})
    assert len(deck.stage.subscriptions.lists_of(deck.alice.session)) == WATCHED_LISTS
    updates = await deck.watches(deck.alice, {channel_id: [[0, 9]] for channel_id in channel_ids})
    watched = [channel_id for _, channel_id in deck.stage.subscriptions.lists_of(deck.alice.session)]
    assert watched == channel_ids[1:]
    assert [int(update["id"]) for update in updates] == channel_ids[1:]


# Resume, and a store that fails


async def test_a_resumed_session_is_shown_its_lists_afresh(autojump_clock: MockClock, deck: Deck) -> None:
    await deck.shown(deck.alice)
    deck.alice.drops()
    deck.stage.connect(deck.people["carol"], deck.guild)
    await trio.sleep(2)
    assert len(deck.alice.heard(EventName.GUILD_MEMBER_LIST_UPDATE)) == 1
    deck.alice.resumes()
    await deck.stage.settled()
    *_, update = deck.alice.heard(EventName.GUILD_MEMBER_LIST_UPDATE)
    assert "carol online" in rows(update)


async def test_a_list_survives_a_store_that_fails_for_a_while(autojump_clock: MockClock, deck: Deck) -> None:
    deck.stage.world.database.failing = True
    assert await deck.watches(deck.alice, {deck.guild.general: [[0, 9]]}) == []
    deck.stage.connect(deck.people["carol"], deck.guild)
    await trio.sleep(2)
    deck.stage.world.database.failing = False
    await trio.sleep(2)
    *_, update = deck.alice.heard(EventName.GUILD_MEMBER_LIST_UPDATE)
    assert "carol online" in rows(update)


# What was sent adds up to what is so


@pytest.mark.parametrize("seed", range(8))
async def test_updates_add_up_to_the_list_as_it_is_shown_afresh(
    autojump_clock: MockClock, deck: Deck, seed: int
) -> None:
    chance = random.Random(seed)
    stage, guild = deck.stage, deck.guild
    people = list(deck.people.values())
    role_ids = [await guild.role(0, hoist=True, hoist_position=place) for place in (2, 1)]
    ranges = [[0, 3], [4, 9], [2, 6]]
    await deck.watches(deck.alice, {guild.general: ranges})
    connected: list[Client] = []
    for step in range(40):
        match chance.randrange(5):
            case 0:
                connected.append(stage.connect(chance.choice(people), guild))
            case 1 if connected:
                stage.end(connected.pop(chance.randrange(len(connected))))
            case 2 if connected:
                status = chance.choice(["online", "idle", "dnd", "invisible"])
                chance.choice(connected).sends(Opcode.PRESENCE_UPDATE, {"status": status})
            case 3:
                person = await stage.world.person(f"{chance.choice('abcxyz')}{step}")
                await stage.world.memberships.join(person.account, guild.id, JoinSource.INSTANT_INVITE, guard=UNGUARDED)
                people.append(person)
            case 4:
                user_id = chance.choice(people).user_id
                await guild.change(
                    "INSERT OR REPLACE INTO member_roles (guild_id, user_id, role_id) VALUES (?, ?, ?)",
                    guild.id,
                    user_id,
                    chance.choice(role_ids),
                )
                stage.tell_of_member(guild, user_id)
        await trio.sleep(chance.random())
    await trio.sleep(2)
    client: dict[tuple[int, int], Any] = {}
    for update in deck.alice.heard(EventName.GUILD_MEMBER_LIST_UPDATE):
        client.update({tuple(op["range"]): op["items"] for op in update["ops"]})
    fresh = await deck.shown(stage.connect(deck.people["bob"], guild, status="invisible"), *ranges)
    assert client == {tuple(op["range"]): op["items"] for op in fresh["ops"]}
    last = deck.alice.heard(EventName.GUILD_MEMBER_LIST_UPDATE)[-1]
    assert (last["groups"], last["member_count"]) == (fresh["groups"], fresh["member_count"])
