"""Joining, leaving, reading members.

Area: guilds. Rules: 001.leave, 001.registries.
"""

from __future__ import annotations

import pytest
import trio

from chat.bus.audience import ToAccounts, ToChannel, ToGuild
from chat.bus.bus import GuildJoined, GuildLeft
from chat.config import Limits, Settings
from chat.errors import ApiError
from chat.registries.events import EventName
from chat.registries.guild_values import JoinSource
from chat.registries.message_types import MessageType
from chat.store.guard import UNGUARDED
from tests.guilds.guild_world import GuildWorld, refused
from tests.spec.ledger import proves


async def test_a_newcomer_is_announced_to_the_guild_and_gets_it_whole(world: GuildWorld) -> None:
    alice, bob = await world.person("alice"), await world.person("bob")
    place = await world.guild(alice)
    assert await world.memberships.join(
        bob.account, place.id, JoinSource.INSTANT_INVITE, guard=UNGUARDED, inviter_id=alice.user_id
    )
    added, joined, settings, message = world.heard.signals
    assert (added.name, added.audience) == (EventName.GUILD_MEMBER_ADD, ToGuild(place.id))
    assert added.data["guild_id"] == str(place.id)
    assert added.data["user"]["username"] == "bob"
    assert added.data["roles"] == []
    assert joined == GuildJoined(place.id, bob.user_id), "the newcomer's sessions come after those who were there"
    assert (settings.name, settings.audience) == (EventName.USER_SETTINGS_UPDATE, ToAccounts((bob.user_id,)))
    assert (message.name, message.audience) == (EventName.MESSAGE_CREATE, ToChannel(place.id, place.general))
    assert message.data["type"] == MessageType.USER_JOIN
    assert message.data["author"]["id"] == str(bob.user_id)
    assert place.state.member_count == 2
    assert place.state.can_view(bob.user_id, place.general)
    assert (await world.channels.get(bob, place.general))["last_message_id"] == message.data["id"]


async def test_no_second_join(world: GuildWorld) -> None:
    alice, bob = await world.person("alice"), await world.person("bob")
    place = await world.guild(alice, bob)
    assert not await world.memberships.join(bob.account, place.id, JoinSource.INSTANT_INVITE, guard=UNGUARDED)
    assert world.heard.signals == []
    assert place.state.member_count == 2


@pytest.mark.rule("001.registries.8")
async def test_a_guild_that_suppresses_it_gets_no_message_about_joins(world: GuildWorld) -> None:
    alice, bob = await world.person("alice"), await world.person("bob")
    place = await world.guild(alice)
    await place.set("system_channel_flags", 1)
    await world.memberships.join(bob.account, place.id, JoinSource.INSTANT_INVITE, guard=UNGUARDED)
    assert world.heard.events(EventName.MESSAGE_CREATE) == []
    carol = await world.person("carol")
    await place.change("UPDATE guilds SET system_channel_flags = 0, system_channel_id = NULL WHERE id = ?", place.id)
    await world.memberships.join(carol.account, place.id, JoinSource.INSTANT_INVITE, guard=UNGUARDED)
    assert world.heard.events(EventName.MESSAGE_CREATE) == []


class TestFewGuildsAndMembers:
    """An instance where two guilds and three members are the most."""

    @pytest.fixture
    def settings(self) -> Settings:
        limits = Limits(max_guilds=2, max_guild_members=3, max_guild_members_very_large=4)
        return Settings(limits=limits, premium_mode="none")

    async def test_neither_limit_is_passed(self, world: GuildWorld) -> None:
        alice, bob, carol, dan = [await world.person(name) for name in ("alice", "bob", "carol", "dan")]
        place = await world.guild(alice, bob, carol)
        with refused("MAX_GUILD_MEMBERS"):
            await world.memberships.join(dan.account, place.id, JoinSource.INSTANT_INVITE, guard=UNGUARDED)
        await place.set("features", '["VERY_LARGE_GUILD"]')
        assert await world.memberships.join(dan.account, place.id, JoinSource.INSTANT_INVITE, guard=UNGUARDED)
        await world.guild(dan)
        third = await world.guild(bob)
        with refused("MAX_GUILDS"):
            await world.memberships.join(dan.account, third.id, JoinSource.INSTANT_INVITE, guard=UNGUARDED)
        assert place.state.member_count == 4

    async def test_a_race_for_the_last_place_has_one_winner(self, world: GuildWorld) -> None:
        alice, bob, carol, dan = [await world.person(name) for name in ("alice", "bob", "carol", "dan")]
        place = await world.guild(alice, bob)
        outcomes = []

        async def join(account: object) -> None:
            try:
                outcomes.append(
                    await world.memberships.join(account, place.id, JoinSource.INSTANT_INVITE, guard=UNGUARDED)
                )
            except ApiError as error:
                outcomes.append(error.code)

        async with trio.open_nursery() as nursery:
            nursery.start_soon(join, carol.account)
            nursery.start_soon(join, dan.account)
        assert sorted(map(str, outcomes)) == ["MAX_GUILD_MEMBERS", "True"]
        assert place.state.member_count == 3


async def test_leaving_ends_the_membership_and_is_told(world: GuildWorld) -> None:
    alice, bob = await world.person("alice"), await world.person("bob")
    place = await world.guild(alice, bob)
    await world.memberships.leave(bob, place.id)
    left, removed, settings = world.heard.signals
    with proves("001.leave.18"):
        assert left == GuildLeft(place.id, bob.user_id), "the leaver's sessions go before the others are told"
    with proves("001.leave.17"):
        assert (removed.name, removed.audience) == (EventName.GUILD_MEMBER_REMOVE, ToGuild(place.id))
        assert removed.data == {"guild_id": str(place.id), "user": {"id": str(bob.user_id)}}
    with proves("001.leave.16"):
        assert settings.data["guild_folders"][0]["guild_ids"] == []
    with proves("001.leave.1"):
        assert place.state.member_count == 1
    assert not place.state.can_view(bob.user_id, place.general)
    with proves("001.leave.1"), refused("MISSING_PERMISSIONS"):
        await world.guilds.get(bob, place.id)


@pytest.mark.rule("001.leave.21")
async def test_whoever_comes_back_starts_without_roles(world: GuildWorld) -> None:
    alice, bob = await world.person("alice"), await world.person("bob")
    place = await world.guild(alice, bob)
    await place.role(8, bob)
    assert len((await world.memberships.get(alice, place.id, bob.user_id))["roles"]) == 1
    await world.memberships.leave(bob, place.id)
    await world.memberships.join(bob.account, place.id, JoinSource.INSTANT_INVITE, guard=UNGUARDED)
    assert (await world.memberships.get(alice, place.id, bob.user_id))["roles"] == []


async def test_who_cannot_leave(world: GuildWorld) -> None:
    alice, bob, eve = [await world.person(name) for name in ("alice", "bob", "eve")]
    place = await world.guild(alice, bob)
    with proves("001.leave.9"), refused("UNKNOWN_MEMBER"):
        await world.memberships.leave(eve, place.id)
    with proves("001.leave.10"), refused("UNKNOWN_MEMBER"):
        await world.memberships.leave(eve, 999)
    with proves("001.leave.13"), refused("CANNOT_LEAVE_GUILD_AS_OWNER at guild_id"):
        await world.memberships.leave(alice, place.id)
    assert world.heard.signals == []
    await place.set("features", '["UNAVAILABLE_FOR_EVERYONE"]')
    with proves("001.leave.15"):
        await world.memberships.leave(bob, place.id)
    with refused("UNKNOWN_MEMBER"):
        await world.memberships.leave(bob, place.id)


@pytest.mark.rule("001.leave.14")
async def test_nobody_leaves_the_one_community(world: GuildWorld) -> None:
    alice, bob = await world.person("alice"), await world.person("bob")
    place = await world.guild(alice, bob)
    community = GuildWorld(world.database, Settings(single_community_enabled=True, single_community_guild_id=place.id))
    for member in (alice, bob):
        with refused("SINGLE_COMMUNITY_CANNOT_LEAVE"):
            await community.memberships.leave(member, place.id)
    elsewhere = GuildWorld(world.database, Settings(single_community_enabled=True, single_community_guild_id=5))
    await elsewhere.memberships.leave(bob, place.id)


async def test_members_are_listed_by_user_id(world: GuildWorld) -> None:
    people = [await world.person(name) for name in ("alice", "bob", "carol", "dan")]
    place = await world.guild(*people)
    role = await place.role(0, people[1], people[3])
    listed = await world.memberships.of_guild(people[0], place.id, after=0, limit=100)
    assert [member["user"]["username"] for member in listed] == ["alice", "bob", "carol", "dan"]
    assert [member["roles"] for member in listed] == [[], [str(role)], [], [str(role)]]
    page = await world.memberships.of_guild(people[0], place.id, after=people[1].user_id, limit=1)
    assert [member["user"]["username"] for member in page] == ["carol"]
    eve = await world.person("eve")
    with refused("MISSING_PERMISSIONS"):
        await world.memberships.of_guild(eve, place.id, after=0, limit=100)


async def test_one_member(world: GuildWorld) -> None:
    alice, bob, eve = [await world.person(name) for name in ("alice", "bob", "eve")]
    place = await world.guild(alice, bob)
    member = await world.memberships.get(alice, place.id, bob.user_id)
    assert member["joined_at"] == "2027-01-15T08:00:00.000Z"
    assert (member["nick"], member["mute"], member["deaf"]) == (None, False, False)
    with refused("UNKNOWN_MEMBER"):
        await world.memberships.get(alice, place.id, eve.user_id)


async def test_a_timed_out_member_counts_as_muted_until_the_time_is_over(world: GuildWorld) -> None:
    alice, bob = await world.person("alice"), await world.person("bob")
    place = await world.guild(alice, bob)
    await place.change(
        "UPDATE members SET communication_disabled_until = ? WHERE user_id = ?", world.clock.ms + 1000, bob.user_id
    )
    member = await world.memberships.get(alice, place.id, bob.user_id)
    assert (member["mute"], member["communication_disabled_until"]) == (True, "2027-01-15T08:00:01.000Z")
    world.clock.ms += 1000
    member = await world.memberships.get(alice, place.id, bob.user_id)
    assert (member["mute"], member["communication_disabled_until"]) == (False, None)
