"""Accounts that enter a room one after the other find what a state read afresh says, whatever changed in between."""

from __future__ import annotations

import random
from typing import Final

import attrs
import pytest

from chat.domain.standing.guild_state import GuildState
from chat.gateway import rooms
from chat.gateway.rooms import GuildRoom
from chat.registries.channel_types import ChannelType, OverwriteType
from chat.registries.permissions import Permission
from chat.store.guilds.channels import Overwrite
from tests.gateway.commands.stage import Client, Stage

MASKS: Final = (0, *(Permission[name].value for name in ("VIEW_CHANNEL", "MANAGE_THREADS", "ADMINISTRATOR")))
STEPS: Final = 400


async def test_who_enters_finds_what_the_guild_shows_now(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rooms, "ENTRANCES_KEPT", 2)
    chance = random.Random(42)
    people = [await stage.world.person(f"person {number}") for number in range(8)]
    place = await stage.world.guild(*people)
    role_ids = [await place.role(0, *chance.sample(people, 4)) for _ in range(3)]
    for number in range(3):
        await place.channel(ChannelType.GUILD_TEXT, f"room-{number}")
    await place.channel(ChannelType.GUILD_FORUM, "board")
    clients: dict[int, Client] = {}
    begun: list[bool] = []
    for _ in range(STEPS):
        state = place.state
        change_one_thing(chance, state, role_ids, [person.user_id for person in people])
        person = chance.choice(people)
        if person.user_id in clients:
            stage.end(clients.pop(person.user_id))
            continue
        threads = chance.random() < 0.5
        clients[person.user_id] = stage.connect(person, place, threads=threads)
        begun.append(look(stage, stage.hub.rooms[place.id], person.user_id, threads=threads))
    assert min(begun.count(True), begun.count(False)) > STEPS // 10


def change_one_thing(chance: random.Random, state: GuildState, role_ids: list[int], user_ids: list[int]) -> None:
    """What the domain does to a state after a commit, or more often nothing."""
    channel = chance.choice(list(state.channels.values()))
    match chance.randrange(18):
        case 0:
            role = state.roles[chance.choice([*role_ids, state.id])]
            state.put_role(attrs.evolve(role, permissions=chance.choice(MASKS) | chance.choice(MASKS)))
        case 1:
            whom, kind = chance.choice(role_ids), OverwriteType.ROLE
            state.put_channel(attrs.evolve(channel, overwrites=(Overwrite(whom, kind, chance.choice(MASKS), 0),)))
        case 2:
            whom, kind = chance.choice(user_ids), OverwriteType.MEMBER
            state.put_channel(attrs.evolve(channel, overwrites=(Overwrite(whom, kind, 0, chance.choice(MASKS)),)))
        case 3:
            state.put_guild(attrs.evolve(state.guild, owner_id=chance.choice(user_ids)))
        case 4:
            state.note_message(channel.id, (channel.last_message_id or channel.id) + chance.randrange(10**6))
        case 5:
            member = state.member(chance.choice(user_ids))
            assert member is not None
            state.put_member(member._replace(role_ids=frozenset(chance.sample(role_ids, chance.randrange(3)))))


def look(stage: Stage, room: GuildRoom, user_id: int, *, threads: bool) -> bool:
    """Compare what the account found with a state that is made of the same; returns whether it found the beginning of
    its Ready as well."""
    state, account = room.state, room.accounts[user_id]
    member = state.member(user_id)
    assert member is not None
    afresh = GuildState(
        stage.world.database.reader, stage.world.clock, state.guild, state.roles.values(), state.channels.values()
    )
    afresh.put_member(member)
    for channel_id in state.channels:
        if (last := state.last_message_id(channel_id)) is not None:
            afresh.note_message(channel_id, last)
    assert account.sees == afresh.visible_channels(user_id)
    assert account.moderates == afresh.thread_moderated_channels(user_id)
    entrance = account.entrance
    if entrance is None:
        return False
    assert (entrance.version, entrance.threads) == (state.version, threads)
    assert entrance.beginning == afresh.encoded.beginning(afresh, account.sees, threads=threads)
    return True


async def test_a_session_of_an_earlier_process_enters_without_a_word_of_the_guild(stage: Stage) -> None:
    owner, bob, carol = [await stage.world.person(name) for name in ("owner", "bob", "carol")]
    place = await stage.world.guild(owner, bob, carol)
    retained = stage.connect(bob).session
    retained.guild_ids = {place.id}
    stage.hub.take_up(retained, [place.id])
    assert stage.hub.rooms[place.id].sessions == [retained]
    assert len(place.state.encoded) == 0
    stage.connect(carol, place)
    assert len(place.state.encoded) > 0
