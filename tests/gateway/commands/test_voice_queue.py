"""Voice State Update and Voice Signal, opcodes 4 and 13: at once, queued, refused."""

from __future__ import annotations

from typing import Any

import pytest
import trio
from trio.testing import MockClock

from chat.registries.channel_types import ChannelType
from chat.registries.events import EventName
from chat.registries.opcodes import Opcode
from tests.gateway.commands.stage import Client, Stage
from tests.guilds.guild_world import GuildPlace


class Talk:
    """Alice and bob in a guild with a voice channel."""

    def __init__(self, stage: Stage, guild: GuildPlace, alice: Client, bob: Client) -> None:
        self.stage = stage
        self.guild = guild
        self.alice = alice
        self.bob = bob

    def changes(self, client: Client, **members: Any) -> None:
        """Send a voice command for the guild's booth; never closes."""
        d = {"guild_id": str(self.guild.id), "channel_id": str(self.guild.channel_id("booth")), **members}
        assert client.sends(Opcode.VOICE_STATE_UPDATE, d) is None

    async def joins(self, client: Client) -> str:
        """Join the booth; returns the connection's id."""
        self.changes(client)
        await self.stage.settled()
        connection_id: str = client.heard(EventName.VOICE_STATE_UPDATE)[-1]["connection_id"]
        return connection_id


@pytest.fixture
async def talk(stage: Stage) -> Talk:
    alice, bob = await stage.world.person("alice"), await stage.world.person("bob")
    guild = await stage.world.guild(alice, bob)
    await guild.channel(ChannelType.GUILD_VOICE, "booth", user_limit=1)
    return Talk(stage, guild, stage.connect(alice, guild), stage.connect(bob, guild))


async def test_whoever_sees_the_channel_hears_who_joined(talk: Talk) -> None:
    await talk.joins(talk.alice)
    (heard,) = talk.bob.heard(EventName.VOICE_STATE_UPDATE)
    assert (heard["user_id"], heard["session_id"]) == (str(talk.alice.session.user_id), talk.alice.session.id)


async def test_a_full_channel_is_refused_with_an_acknowledgement_and_a_gateway_error(talk: Talk) -> None:
    await talk.joins(talk.alice)
    talk.changes(talk.bob, mutation_id="m", runtime_epoch="e")
    await talk.stage.settled()
    (ack,) = talk.bob.heard(EventName.VOICE_STATE_ACK)
    assert (ack["mutation_id"], ack["status"], ack["error_code"]) == ("m", "rejected", "channel_full")
    (error,) = talk.bob.payloads
    assert error == {"op": 12, "d": {"code": "VOICE_CHANNEL_FULL", "message": error["d"]["message"]}}
    assert talk.alice.heard(EventName.VOICE_STATE_ACK) == []


@pytest.mark.parametrize("d", [None, [], {"guild_id": "x"}, {"guild_id": "1", "channel_id": -4}])
async def test_a_command_that_names_no_place_is_dropped(talk: Talk, d: object) -> None:
    assert await talk.alice.asks(Opcode.VOICE_STATE_UPDATE, d) == []


async def test_the_third_command_of_a_second_waits_for_its_turn(autojump_clock: MockClock, talk: Talk) -> None:
    connection_id = await talk.joins(talk.alice)
    for mute in (True, False, True):
        talk.changes(talk.alice, connection_id=connection_id, self_mute=mute)

    async def muted() -> list[bool]:
        await talk.stage.settled()
        return [state["self_mute"] for state in talk.bob.heard(EventName.VOICE_STATE_UPDATE)]

    assert await muted() == [False, True]
    await trio.sleep(0.45)
    assert await muted() == [False, True]
    await trio.sleep(0.1)
    assert await muted() == [False, True, False]
    await trio.sleep(0.5)
    assert await muted() == [False, True, False, True]
    # With the queue empty and a second gone, commands are applied at once again.
    talk.changes(talk.alice, connection_id=connection_id, self_mute=False)
    assert await muted() == [False, True, False, True, False]


async def test_nothing_overtakes_a_command_that_waits(autojump_clock: MockClock, talk: Talk) -> None:
    connection_id = await talk.joins(talk.alice)
    talk.changes(talk.alice, connection_id=connection_id, self_mute=True)
    await trio.sleep(0.7)
    for mute in (False, True):
        talk.changes(talk.alice, connection_id=connection_id, self_mute=mute)
    await trio.sleep(0.35)  # the window of a second is over, but one command still waits
    talk.changes(talk.alice, connection_id=connection_id, self_deaf=True)
    await trio.sleep(2)
    heard = talk.bob.heard(EventName.VOICE_STATE_UPDATE)
    assert [(state["self_mute"], state["self_deaf"]) for state in heard] == [
        (False, False),
        (True, False),
        (False, False),
        (True, False),
        (False, True),
    ]


async def test_the_sixty_fifth_command_that_would_wait_is_dropped(autojump_clock: MockClock, talk: Talk) -> None:
    connection_id = await talk.joins(talk.alice)
    for number in range(1, 67):
        talk.changes(talk.alice, connection_id=connection_id, viewer_stream_keys=[str(number)])
    await trio.sleep(60)
    keys = [state["viewer_stream_keys"] for state in talk.bob.heard(EventName.VOICE_STATE_UPDATE)]
    # Two at once, 64 from the queue; the 66th change, which came last, is not among them.
    assert keys == [[], *([str(number)] for number in range(1, 66))]


async def test_what_waits_is_forgotten_with_the_socket(autojump_clock: MockClock, talk: Talk) -> None:
    connection_id = await talk.joins(talk.alice)
    for mute in (True, False):
        talk.changes(talk.alice, connection_id=connection_id, self_mute=mute)
    talk.alice.drops()
    await trio.sleep(5)
    assert len(talk.bob.heard(EventName.VOICE_STATE_UPDATE)) == 2


async def test_a_session_that_ends_leaves_its_voice_channel(talk: Talk) -> None:
    await talk.joins(talk.alice)
    talk.stage.voice_states.session_ended(talk.alice.session.id)
    await talk.stage.settled()
    assert talk.bob.heard(EventName.VOICE_STATE_UPDATE)[-1]["channel_id"] is None


async def test_a_voice_signal_is_answered_with_an_error_that_is_no_dispatch(talk: Talk) -> None:
    assert await talk.alice.asks(Opcode.VOICE_SIGNAL, {"anything": 1}) == []
    (error,) = talk.alice.payloads
    assert error == {"op": 12, "d": {"code": "VOICE_P2P_UNAVAILABLE", "message": error["d"]["message"]}}
