"""Guild states: read once, bounded, held, refreshed."""

from __future__ import annotations

import functools
import random
from pathlib import Path

import attrs
import pytest

from chat.config import Settings
from chat.domain.standing import guild_state
from chat.domain.standing.guild_states import GuildStates
from chat.registries.channel_types import OverwriteType
from chat.registries.permissions import DEFAULT_EVERYONE, Permission
from chat.store.database import open_database
from chat.store.guilds import members
from chat.store.guilds.channels import Overwrite
from chat.store.guilds.members import Member
from tests.guilds.guild_world import GuildWorld

VIEW = Permission.VIEW_CHANNEL.value


async def test_a_state_is_read_once_and_mirrors_the_store(world: GuildWorld) -> None:
    alice, bob = await world.person("alice"), await world.person("bob")
    place = await world.guild(alice, bob)
    states = GuildStates(world.database, world.clock)
    state = states.get(place.id)
    assert state is states.get(place.id)
    assert state is states.loaded(place.id)
    assert (state.guild.name, state.member_count, len(state.channels), len(state.roles)) == ("Harbour", 2, 4, 1)
    assert state.member(bob.user_id).user_id == bob.user_id
    assert state.member(999) is None
    assert states.get(999) is None
    assert states.loaded(999) is None


async def test_an_account_is_met_in_many_guilds_at_once(world: GuildWorld) -> None:
    alice, bob = await world.person("alice"), await world.person("bob")
    places = [await world.guild(alice, bob) for _ in range(4)]
    role_id = await places[1].role(0, bob)
    guild_ids = [place.id for place in places]
    states = GuildStates(world.database, world.clock)
    loaded = [states.get(guild_id) for guild_id in guild_ids[:3]]
    asked: list[str] = []
    world.database.reader.set_trace_callback(asked.append)
    met = states.meet(bob.user_id, guild_ids)
    for state in loaded:
        state.remember_member(met[state.id])
    assert states.meet(bob.user_id, guild_ids) == {}
    world.database.reader.set_trace_callback(None)
    assert len(asked) == 2  # memberships and roles, of however many guilds
    assert states.loaded(guild_ids[3]) is None
    afresh = GuildStates(world.database, world.clock)
    assert met == {guild_id: afresh.get(guild_id).member(bob.user_id) for guild_id in guild_ids}
    assert met[guild_ids[1]].role_ids == {role_id}


SELDOM = {
    "nick": ("Bo", "", 'a "\\ \x01\u2028ü\U0001f600', "[]"),
    "avatar": ("a_0123",),
    "banner": ("4567",),
    "accent_color": (0, 0xFFFFFF),
    "mute": (True,),
    "deaf": (True,),
    "communication_disabled_until": (0, 2**53 + 1),
    "profile_flags": (1,),
    "mention_flags": (2,),
    "join_source": (0, 7),
    "inviter_id": (2**63 - 1,),
    "bio": ("here\n",),
    "pronouns": ("it",),
}
"""What memberships may have, besides what they have as a rule."""


async def test_what_an_account_is_in_its_guilds_is_read_as_each_membership_is(world: GuildWorld) -> None:
    chance = random.Random(7)
    alice, bob = await world.person("alice"), await world.person("bob")
    places = [await world.guild(alice, bob) for _ in range(6)]
    for place in places[::2]:
        await place.role(0, bob)
    for _ in range(40):
        place = chance.choice(places)
        unusual = {name: chance.choice(SELDOM[name]) for name in chance.sample([*SELDOM], chance.randrange(4))}
        member = Member(place.id, bob.user_id, chance.randrange(2**53), **unusual)
        await world.database.write(functools.partial(members.replace, member=member))
        reader = world.database.reader
        found = members.of_user(reader, bob.user_id, places[1].id, places[-1].id)
        each = [members.by_id(reader, place.id, bob.user_id) for place in places[1:]]
        assert found == {member.guild_id: member for member in filter(None, each)}
        assert {(type(one.mute), type(one.deaf)) for one in found.values()} == {(bool, bool)}


async def test_the_least_used_state_goes_first_and_held_ones_stay(world: GuildWorld) -> None:
    alice = await world.person("alice")
    first, second, third, fourth = [(await world.guild(alice)).id for _ in range(4)]
    states = GuildStates(world.database, world.clock, capacity=2)
    held = states.get(first)
    states.hold(first)
    states.hold(first)
    for guild_id in (second, third):
        states.get(guild_id)
    states.get(second)
    states.get(fourth)
    assert states.loaded(third) is None
    assert states.loaded(second) is not None
    assert states.loaded(first) is held
    states.release(first)
    assert states.loaded(first) is held
    states.release(first)
    assert states.loaded(first) is held, "the most recent of those that may go"
    assert states.loaded(second) is None
    assert len(states) == 2
    states.hold(second)
    states.get(second)
    for guild_id in (third, fourth):
        states.get(guild_id)
    assert states.loaded(second) is not None


async def test_channels_lead_to_their_guild_whether_it_is_in_memory_or_not(world: GuildWorld) -> None:
    alice = await world.person("alice")
    place = await world.guild(alice)
    general = place.general
    states = GuildStates(world.database, world.clock, capacity=1)
    assert states.guild_of_channel(general) == place.id
    assert len(states) == 0
    states.get(place.id)
    assert states.guild_of_channel(general) == place.id
    other = await world.guild(alice)
    states.get(other.id)
    assert states.loaded(place.id) is None
    assert states.guild_of_channel(general) == place.id
    assert states.guild_of_channel(999) is None
    await world.database.write(lambda connection: connection.execute("DELETE FROM channels WHERE id = ?", (general,)))
    states.get(place.id)
    states.refresh(place.id)
    assert states.guild_of_channel(general) is None


async def test_a_refreshed_state_is_the_same_object_with_what_the_store_holds(world: GuildWorld) -> None:
    alice, bob = await world.person("alice"), await world.person("bob")
    place = await world.guild(alice, bob)
    state = world.guild_states.get(place.id)
    general = place.general
    assert state.can_view(bob.user_id, general)
    shown = state.channel_objects(state.visible_channels(bob.user_id), threads=True)
    hidden = Overwrite(bob.user_id, OverwriteType.MEMBER.value, 0, VIEW)
    await place.overwrite(general, hidden)
    await place.set("name", "Pier")
    assert world.guild_states.get(place.id) is state
    assert not state.can_view(bob.user_id, general)
    assert len(state.channel_objects(state.visible_channels(bob.user_id), threads=True)) == len(shown) - 1
    assert state.guild_object()["name"] == "Pier"
    await world.database.write(lambda connection: connection.execute("DELETE FROM guilds WHERE id = ?", (place.id,)))
    world.guild_states.refresh(place.id)
    assert world.guild_states.loaded(place.id) is None
    world.guild_states.refresh(place.id)


async def test_objects_follow_every_change(world: GuildWorld) -> None:
    alice, bob = await world.person("alice"), await world.person("bob")
    place = await world.guild(alice, bob)
    role_id = await place.role(0, bob)
    state, general = place.state, place.general
    assert len(state.role_objects(threads=True)) == 2
    state.put_role(attrs.evolve(state.roles[role_id], name="sailor"))
    assert [role["name"] for role in state.role_objects(threads=True)] == ["@everyone", "sailor"]
    state.put_channel(attrs.evolve(state.channels[general], name="deck"))
    assert state.channel_object(general)["name"] == "deck"
    state.put_channel(
        attrs.evolve(state.channels[general], overwrites=(Overwrite(role_id, OverwriteType.ROLE.value, 0, VIEW),))
    )
    assert not state.can_view(bob.user_id, general)
    state.drop_role(role_id)
    assert state.channels[general].overwrites == ()
    assert [role["name"] for role in state.role_objects(threads=True)] == ["@everyone"]
    state.drop_channel(general)
    assert general not in {int(channel["id"]) for channel in state.channel_objects(frozenset({general}), threads=True)}
    assert not state.can_view(alice.user_id, general)
    state.note_message(general, 5)
    assert state.last_message_id(general) is None
    state.drop_member(bob.user_id)
    state.put_guild(attrs.evolve(state.guild, name="Pier", owner_id=bob.user_id))
    assert state.guild_object()["name"] == "Pier"


async def test_the_last_message_moves_on_in_objects_that_were_handed_out(world: GuildWorld) -> None:
    alice = await world.person("alice")
    place = await world.guild(alice)
    state, general = place.state, place.general
    shown = state.channel_objects(state.visible_channels(alice.user_id), threads=False)
    state.note_message(general, 10)
    state.note_message(general, 9)
    assert state.channel_object(general, threads=False)["last_message_id"] == "10"
    assert next(channel for channel in shown if channel["id"] == str(general))["last_message_id"] == "10"
    category = place.channel_id("Text Channels")
    assert "last_message_id" not in state.channel_object(category)


async def test_many_sets_of_roles_do_not_pile_up(world: GuildWorld, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(guild_state, "ROLE_SETS_PER_GUILD", 3)
    monkeypatch.setattr(guild_state, "MEMBERS_PER_GUILD", 4)
    people = [await world.person(f"p{index}") for index in range(10)]
    place = await world.guild(*people)
    for person in people[1:]:
        await place.role(0, person)
    state = place.state
    for _ in range(2):
        for person in people:
            assert state.can_view(person.user_id, place.general)
            assert state.permissions(person.user_id, place.general) & DEFAULT_EVERYONE == DEFAULT_EVERYONE
            state.channel_objects(frozenset({person.user_id}), threads=True)


async def test_states_of_two_processes_on_one_store_agree(world: GuildWorld, tmp_path: Path) -> None:
    alice, bob = await world.person("alice"), await world.person("bob")
    place = await world.guild(alice, bob)
    role = await place.role(Permission.MANAGE_MESSAGES.value, bob)
    await place.overwrite(place.general, Overwrite(role, OverwriteType.ROLE.value, 0, VIEW))
    async with open_database(tmp_path / "chat.db", inline=True, durable=False) as database:
        other = GuildWorld(database, Settings()).guild_states.get(place.id)
        for user_id in (alice.user_id, bob.user_id):
            assert other.visible_channels(user_id) == place.state.visible_channels(user_id)
            assert other.permissions(user_id, place.general) == place.state.permissions(user_id, place.general)
