"""Who is told of voice states: sight gained and lost, deleted channels, permissions that change, passive sessions."""

from __future__ import annotations

from typing import Any

import pytest
import trio
from trio.testing import MockClock

from chat.bus.bus import GuildStateChanged
from chat.registries.channel_types import ChannelType, OverwriteType
from chat.registries.events import EventName
from chat.registries.opcodes import Opcode
from chat.registries.permissions import Permission
from chat.store.guilds.channels import Overwrite
from tests.gateway.commands.stage import Client, Stage
from tests.guilds.guild_world import GuildPlace

VIEW = Permission.VIEW_CHANNEL.value
SPEAK = Permission.SPEAK.value


class Booth:
    """Alice, who owns a guild, bob and carol, and a voice channel."""

    def __init__(self, stage: Stage, guild: GuildPlace, clients: list[Client]) -> None:
        self.stage = stage
        self.guild = guild
        self.alice, self.bob, self.carol = clients
        self.id = guild.channel_id("booth")

    async def join(self, client: Client) -> str:
        """The client joins; returns the connection's id."""
        d = {"guild_id": str(self.guild.id), "channel_id": str(self.id)}
        assert client.sends(Opcode.VOICE_STATE_UPDATE, d) is None
        await self.stage.settled()
        connection_id: str = client.heard(EventName.VOICE_STATE_UPDATE)[-1]["connection_id"]
        return connection_id

    async def leave(self, client: Client, connection_id: str) -> None:
        """The client leaves."""
        d = {"guild_id": str(self.guild.id), "channel_id": None, "connection_id": connection_id}
        assert client.sends(Opcode.VOICE_STATE_UPDATE, d) is None
        await self.stage.settled()

    async def everyone(self, *, allow: int = 0, deny: int = 0) -> None:
        """Set the booth's overwrite of the everyone role, and tell of it."""
        await self.guild.overwrite(self.id, Overwrite(self.guild.id, OverwriteType.ROLE, allow, deny))
        self.stage.tell_of_guild(self.guild)
        await self.stage.settled()

    def heard_since(self, client: Client, before: int) -> list[tuple[str, Any]]:
        """What a client heard of channels and voice from a position on: names, and the channel that is named."""
        told = []
        for name, data in client.dispatches[before:]:
            if name == EventName.VOICE_STATE_UPDATE:
                told.append((name, data["channel_id"]))
            elif name in (EventName.CHANNEL_CREATE, EventName.CHANNEL_DELETE):
                told.append((name, data["id"]))
        return told


@pytest.fixture
async def booth(stage: Stage) -> Booth:
    people = [await stage.world.person(name) for name in ("alice", "bob", "carol")]
    guild = await stage.world.guild(*people)
    await guild.channel(ChannelType.GUILD_VOICE, "booth")
    return Booth(stage, guild, [stage.connect(person, guild) for person in people])


async def test_who_gains_sight_of_a_voice_channel_learns_who_is_in_it(booth: Booth) -> None:
    await booth.everyone(deny=VIEW)
    await booth.join(booth.alice)
    assert booth.bob.heard(EventName.VOICE_STATE_UPDATE) == []
    before = len(booth.bob.dispatches)
    await booth.everyone(allow=VIEW)
    assert booth.heard_since(booth.bob, before) == [
        ("CHANNEL_CREATE", str(booth.id)),
        ("VOICE_STATE_UPDATE", str(booth.id)),
    ]
    (told,) = booth.bob.heard(EventName.VOICE_STATE_UPDATE)
    assert told == booth.alice.heard(EventName.VOICE_STATE_UPDATE)[-1]


async def test_who_loses_sight_hears_no_more_but_those_who_are_connected_do(booth: Booth) -> None:
    connection_id = await booth.join(booth.bob)
    before = {client: len(client.dispatches) for client in (booth.bob, booth.carol)}
    await booth.everyone(deny=VIEW)
    assert booth.heard_since(booth.carol, before[booth.carol]) == [("CHANNEL_DELETE", str(booth.id))]
    assert booth.heard_since(booth.bob, before[booth.bob]) == []  # connected, and so it keeps seeing the channel
    await booth.join(booth.alice)
    assert booth.heard_since(booth.bob, before[booth.bob]) == [("VOICE_STATE_UPDATE", str(booth.id))]
    await booth.leave(booth.bob, connection_id)
    assert booth.heard_since(booth.bob, before[booth.bob])[1:] == [
        ("VOICE_STATE_UPDATE", None),
        ("CHANNEL_DELETE", str(booth.id)),
    ]
    assert booth.heard_since(booth.carol, before[booth.carol])[1:] == []


async def test_a_suppression_is_told_to_those_who_see_the_channel_afterwards(booth: Booth) -> None:
    await booth.join(booth.bob)
    before = len(booth.carol.dispatches)
    await booth.everyone(deny=SPEAK)
    last = booth.carol.heard(EventName.VOICE_STATE_UPDATE)[-1]
    assert (last["suppress"], last["version"]) == (True, 2)
    # Losing sight and voice at once: only sight is told to whoever is not in the channel.
    await booth.everyone(deny=0)
    before = len(booth.carol.dispatches)
    await booth.everyone(deny=SPEAK | VIEW)
    assert booth.heard_since(booth.carol, before) == [("CHANNEL_DELETE", str(booth.id))]
    assert booth.bob.heard(EventName.VOICE_STATE_UPDATE)[-1]["suppress"] is True


async def test_the_viewers_of_a_deleted_channel_learn_that_it_was_left(booth: Booth) -> None:
    await booth.join(booth.bob)
    before = len(booth.carol.dispatches)
    shown = booth.guild.state.channel_object(booth.id)
    await booth.guild.change("DELETE FROM channels WHERE id = ?", booth.id)
    booth.stage.world.bus.publish(GuildStateChanged(booth.guild.id, deleted={booth.id: shown}))
    await booth.stage.settled()
    assert booth.heard_since(booth.carol, before) == [
        ("VOICE_STATE_UPDATE", None),
        ("CHANNEL_DELETE", str(booth.id)),
    ]
    assert booth.stage.voice_states.every() == []


async def test_who_never_saw_a_deleted_channel_learns_nothing(booth: Booth) -> None:
    await booth.everyone(deny=VIEW)
    await booth.join(booth.alice)
    before = len(booth.carol.dispatches)
    shown = booth.guild.state.channel_object(booth.id)
    await booth.guild.change("DELETE FROM channels WHERE id = ?", booth.id)
    booth.stage.world.bus.publish(GuildStateChanged(booth.guild.id, deleted={booth.id: shown}))
    await booth.stage.settled()
    assert booth.heard_since(booth.carol, before) == []
    assert booth.alice.heard(EventName.VOICE_STATE_UPDATE)[-1]["channel_id"] is None


async def test_a_passive_update_repeats_who_is_in_voice_where_that_changed(
    autojump_clock: MockClock, booth: Booth
) -> None:
    await booth.stage.crowd(booth.guild, 300)
    booth.stage.tell_of_guild(booth.guild)
    connection_id = await booth.join(booth.bob)
    assert booth.carol.heard(EventName.VOICE_STATE_UPDATE)  # the event itself is told to passive sessions too
    await trio.sleep(31)
    (update,) = booth.carol.heard(EventName.PASSIVE_UPDATES)
    assert update["channels"] == {}
    assert [state["user_id"] for state in update["voice_states"]] == [str(booth.bob.session.user_id)]
    await trio.sleep(31)
    assert len(booth.carol.heard(EventName.PASSIVE_UPDATES)) == 1
    await booth.leave(booth.bob, connection_id)
    await trio.sleep(31)
    assert booth.carol.heard(EventName.PASSIVE_UPDATES)[-1]["voice_states"] == []


async def test_a_passive_update_names_nobody_in_a_channel_that_is_not_seen(
    autojump_clock: MockClock, booth: Booth
) -> None:
    await booth.stage.crowd(booth.guild, 300)
    await booth.everyone(deny=VIEW)
    await booth.join(booth.alice)
    await trio.sleep(31)
    assert [update["voice_states"] for update in booth.carol.heard(EventName.PASSIVE_UPDATES)] == [[]]
    (own,) = booth.alice.heard(EventName.PASSIVE_UPDATES)
    assert [state["channel_id"] for state in own["voice_states"]] == [str(booth.id)]
