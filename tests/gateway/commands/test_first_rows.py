"""The beginning of a large guild's member list, which is read without the whole roster, is that of the whole list."""

from __future__ import annotations

import random
from typing import Any

import pytest

from chat.gateway.commands import member_lists
from chat.registries.channel_types import OverwriteType
from chat.registries.events import EventName
from chat.registries.opcodes import Opcode
from chat.registries.permissions import Permission
from chat.store.guilds.channels import Overwrite
from tests.gateway.commands.stage import Client, Stage

NAMES = [
    "anna",
    "Anna",
    "ANNA",
    "Émile",
    "émile",
    "straße",
    "STRASSE",
    "zoë",
    "Zora",
    "\u01c5a",
    "李",
    "0x",
    "~",
    "b" * 32,
]
VIEW = Permission.VIEW_CHANNEL.value


async def shown(stage: Stage, client: Client, guild_id: int, channel_id: int, *ranges: list[int]) -> Any:
    wanted = {str(guild_id): {"member_list_channels": {str(channel_id): list(ranges)}}}
    answers = await client.asks(Opcode.LAZY_REQUEST, {"subscriptions": wanted})
    (update,) = [data for event, data in answers if event == EventName.GUILD_MEMBER_LIST_UPDATE]
    return update


def overwrites(kind: str, everyone_id: int, role_id: int, user_ids: list[int]) -> list[Overwrite]:
    """Those of a channel that is hidden from many or from some."""
    members = [Overwrite(user_id, OverwriteType.MEMBER, 0, VIEW) for user_id in user_ids]
    return {
        "none": [],
        "shown to a role": [
            Overwrite(everyone_id, OverwriteType.ROLE, 0, VIEW),
            Overwrite(role_id, OverwriteType.ROLE, VIEW, 0),
        ],
        "hidden from a role": [Overwrite(role_id, OverwriteType.ROLE, 0, VIEW)],
        "hidden from members": members,
        "hidden from most": [Overwrite(role_id, OverwriteType.ROLE, 0, VIEW), *members],
    }[kind]


SIGHTS = ("none", "shown to a role", "hidden from a role", "hidden from members", "hidden from most")


@pytest.mark.parametrize(
    ("maximum", "sight"),
    [*((100_000, sight) for sight in SIGHTS), (154, "none"), (153, "none"), (120, "none"), (120, "hidden from a role")],
)
async def test_the_beginning_is_that_of_the_whole_list(
    stage: Stage, monkeypatch: pytest.MonkeyPatch, maximum: int, sight: str
) -> None:
    for module in ("guilds.member_lists", "standing.rosters"):
        monkeypatch.setattr(f"chat.domain.{module}.MEMBERS_FULL_LIST_MAXIMUM", maximum)
    people = [await stage.world.person(name) for name in ("alice", "bob", "carol", "dave")]
    place = await stage.world.guild(*people)
    role_id = await place.role(0)
    crowd = await stage.crowd(place, 150)
    chance = random.Random(0)
    for user_id in [*crowd, people[1].user_id]:
        name, column = chance.choice(NAMES), chance.choice(["nick", "global_name"])
        if column == "nick":
            await place.change("UPDATE members SET nick = ? WHERE user_id = ?", name, user_id)
        else:
            await place.change("UPDATE users SET global_name = ? WHERE id = ?", name, user_id)
    for user_id in [*chance.sample(crowd, 40), people[2].user_id]:
        await place.change("INSERT INTO member_roles VALUES (?, ?, ?)", place.id, user_id, role_id)
    await place.change("UPDATE roles SET hoist = 1 WHERE id = ?", role_id)
    alice, *_ = [stage.connect(person, place) for person in people[:3]]
    for overwrite in overwrites(sight, place.id, role_id, crowd[:100]):
        await place.overwrite(place.general, overwrite)
    for ranges in ([[0, 99]], [[0, 0], [100, 199]], [[120, 150]], [[200, 299]]):
        updates = []
        for threshold in (0, 1_000_000):
            monkeypatch.setattr(member_lists, "LARGE_GUILD", threshold)
            stage.commands._lists._arranged.clear()
            stage.rosters.forget()
            updates.append(await shown(stage, alice, place.id, place.general, *ranges))
            assert stage.rosters.is_loaded(place.id) is bool(threshold)
        assert updates[0] == updates[1]
        if sight == "none":
            assert updates[0]["member_count"] == min(maximum, 154)
            assert updates[0]["online_count"] == (0 if maximum == 120 else 3)  # the crowd has the lower ids
        else:
            assert 0 < updates[0]["member_count"] < min(maximum, 154)


async def test_rows_far_below_take_the_whole_roster(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(member_lists, "LARGE_GUILD", 0)
    alice, bob = await stage.world.person("alice"), await stage.world.person("bob")
    place = await stage.world.guild(alice, bob)
    client = stage.connect(alice, place)
    await shown(stage, client, place.id, place.general, [0, 99])
    assert not stage.rosters.is_loaded(place.id)
    monkeypatch.setattr(member_lists, "FIRST_ROWS", 200)
    await stage.crowd(place, 300)
    stage.commands._lists._arranged.clear()
    first = await shown(stage, client, place.id, place.general, [0, 99])
    assert not stage.rosters.is_loaded(place.id)
    further = await shown(stage, client, place.id, place.general, [0, 99], [200, 299])
    assert stage.rosters.is_loaded(place.id)
    assert further["ops"][0] == first["ops"][0]
    assert len(further["ops"][1]["items"]) == 100


@pytest.mark.parametrize("hidden", [50, 80])
async def test_viewers_whose_names_come_last_are_found(
    stage: Stage, monkeypatch: pytest.MonkeyPatch, hidden: int
) -> None:
    """Half of the members see it, or a fifth, but none of those whose names come first."""
    monkeypatch.setattr(member_lists, "LARGE_GUILD", 0)
    monkeypatch.setattr(member_lists, "FIRST_ROWS", 10)
    alice = await stage.world.person("alice")
    place = await stage.world.guild(alice)
    crowd = await stage.crowd(place, 100)
    role_id = await place.role(0)
    for number, user_id in enumerate(crowd):
        await place.change("UPDATE members SET nick = ? WHERE user_id = ?", f"{number:03}", user_id)
        if number < hidden:
            await place.change("INSERT INTO member_roles VALUES (?, ?, ?)", place.id, user_id, role_id)
    await place.overwrite(place.general, Overwrite(role_id, OverwriteType.ROLE, 0, VIEW))
    client = stage.connect(alice, place)
    update = await shown(stage, client, place.id, place.general, [0, 9])
    assert not stage.rosters.is_loaded(place.id)
    below = [item["member"]["user"]["id"] for item in update["ops"][0]["items"] if "member" in item][1:]
    assert below == [str(user_id) for user_id in crowd[hidden : hidden + 7]]
