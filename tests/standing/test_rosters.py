"""Rosters: members by name, searches, and keeping in step with the bus."""

from __future__ import annotations

from typing import Any

import pytest
import trio

from chat.bus.bus import GuildDeleted, GuildLeft
from chat.domain.standing import rosters as module
from chat.domain.standing.rosters import Rosters
from chat.errors import StorageUnavailable
from chat.registries.guild_values import JoinSource
from chat.store.database import open_database
from chat.store.guard import UNGUARDED


class Crew:
    """A guild of alice (nick `Zora`), bob (global name `Ann`) and carol, with its roster."""

    def __init__(self, world: Any, guild: Any, people: dict[str, int]) -> None:
        self.world = world
        self.guild = guild
        self.people = people
        self.rosters = Rosters(world.database, world.bus)

    async def names(self) -> list[str]:
        """The members in the order of their shown names, by username."""
        by_id = {user_id: name for name, user_id in self.people.items()}
        return [by_id[member.user_id] for member in await self.rosters.get(self.guild.id)]

    async def found(self, query: str, limit: int = 25) -> list[str]:
        """Whom a search finds, by username."""
        by_id = {user_id: name for name, user_id in self.people.items()}
        roster = await self.rosters.get(self.guild.id)
        return [by_id[user_id] for user_id in await roster.search(query, limit)]


@pytest.fixture
async def crew(world: Any) -> Crew:
    alice, carol = await world.person("alice"), await world.person("carol")
    bob = await world.person("bob", global_name="Ann")
    guild = await world.guild(alice, bob, carol)
    await guild.change("UPDATE members SET nick = 'Zora' WHERE user_id = ?", alice.user_id)
    return Crew(world, guild, {person.account.username: person.user_id for person in (alice, bob, carol)})


async def test_members_are_ordered_by_the_name_that_is_shown(crew: Crew) -> None:
    assert await crew.names() == ["bob", "carol", "alice"]
    roster = await crew.rosters.get(crew.guild.id)
    assert roster.user_ids() == sorted(crew.people.values())


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("zo", ["alice"]),
        ("ZORA", ["alice"]),
        ("a", ["bob", "alice"]),  # bob is shown as Ann; alice is found by her username
        ("bo", ["bob"]),
        ("ra", []),
        ("", ["bob", "carol", "alice"]),
    ],
)
async def test_a_search_finds_the_beginning_of_any_name(crew: Crew, query: str, found: list[str]) -> None:
    assert await crew.found(query) == found


async def test_a_search_ends_at_its_limit(crew: Crew) -> None:
    assert await crew.found("", limit=2) == ["bob", "carol"]


async def test_a_roster_follows_who_joins_and_leaves(crew: Crew) -> None:
    await crew.names()
    dave = await crew.world.person("dave")
    crew.people["dave"] = dave.user_id
    await crew.world.memberships.join(dave.account, crew.guild.id, JoinSource.INSTANT_INVITE, guard=UNGUARDED)
    assert await crew.names() == ["bob", "carol", "dave", "alice"]
    await crew.guild.change("DELETE FROM members WHERE user_id = ?", dave.user_id)
    crew.world.bus.publish(GuildLeft(crew.guild.id, dave.user_id))
    assert await crew.names() == ["bob", "carol", "alice"]
    assert not crew.rosters.may_hold(crew.guild.id, dave.user_id)


async def test_who_joins_while_a_roster_is_read_is_in_it(crew: Crew) -> None:
    roster = None

    async def ask() -> None:
        nonlocal roster
        roster = await crew.rosters.get(crew.guild.id)

    async with trio.open_nursery() as nursery:
        nursery.start_soon(ask)
        nursery.start_soon(ask)  # waits for the first
        dave = await crew.world.person("dave")
        await crew.world.memberships.join(dave.account, crew.guild.id, JoinSource.INSTANT_INVITE, guard=UNGUARDED)
    assert roster is not None
    assert dave.user_id in roster


async def test_a_roster_of_a_deleted_guild_is_forgotten(crew: Crew) -> None:
    await crew.names()
    assert not crew.rosters.may_hold(crew.guild.id, 5)
    crew.world.bus.publish(GuildDeleted(crew.guild.id))
    assert crew.rosters.may_hold(crew.guild.id, 5)


async def test_rosters_unused_for_longest_are_forgotten(crew: Crew, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MEMBERS_KEPT", 3)
    other = await crew.world.guild(await crew.world.person("dave"))
    await crew.names()
    await crew.rosters.get(other.id)
    assert crew.rosters.may_hold(crew.guild.id, 5)
    assert not crew.rosters.may_hold(other.id, 5)


async def test_a_failing_store_leaves_no_roster_half_read(crew: Crew) -> None:
    crew.world.database.failing = True
    with pytest.raises(StorageUnavailable):
        await crew.names()
    crew.world.database.failing = False
    assert await crew.names() == ["bob", "carol", "alice"]


async def test_a_roster_is_read_in_a_thread_beside_writes(crew: Crew) -> None:
    path = crew.world.database.reader.execute("PRAGMA database_list").fetchone()[2]
    async with open_database(path, durable=False) as threaded:
        rosters = Rosters(threaded, crew.world.bus)
        assert len(await rosters.get(crew.guild.id)) == 3
