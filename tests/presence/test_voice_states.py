"""Voice states: joining, moving, changing and leaving, who is told, and what is refused."""

from __future__ import annotations

import itertools
from typing import Any

import attrs
import pytest

from chat.auth.principal import Principal
from chat.bus.audience import ToChannel, ToSession
from chat.bus.bus import GuildLeft, GuildStateChanged
from chat.domain.presence.voice_connections import CONNECTIONS_PER_ACCOUNT, VoiceCaller, VoiceRefusal
from chat.domain.presence.voice_states import VoiceStates
from chat.protocol.voice import VoiceStateCommand, parse_voice_state
from chat.registries.channel_types import ChannelType, OverwriteType
from chat.registries.events import EventName
from chat.registries.permissions import Permission
from chat.store.guilds.channels import Overwrite

VIEW, CONNECT, SPEAK, STREAM, MOVE_MEMBERS = (
    Permission.VIEW_CHANNEL.value,
    Permission.CONNECT.value,
    Permission.SPEAK.value,
    Permission.STREAM.value,
    Permission.MOVE_MEMBERS.value,
)


class VoicePlace:
    """A guild with a voice channel, its owner alice and the members bob and carol, each with a gateway session."""

    def __init__(self, world: Any, guild: Any, alice: Principal, bob: Principal, carol: Principal) -> None:
        self.world = world
        self.guild = guild
        numbers = itertools.count(1)
        self.voice = VoiceStates(
            world.bus, world.guild_states, world.clock, random_hex=lambda characters: f"{next(numbers):0{characters}x}"
        )
        self.alice = VoiceCaller(alice.user_id, "session of alice", is_staff=False, e2ee_capable=True)
        self.bob = VoiceCaller(bob.user_id, "session of bob", is_staff=False, e2ee_capable=False)
        self.carol = VoiceCaller(carol.user_id, "session of carol", is_staff=False, e2ee_capable=False)
        self.lounge = next(
            channel.id for channel in guild.state.channels.values() if channel.type == ChannelType.GUILD_VOICE
        )

    def says(self, caller: VoiceCaller, **members: Any) -> VoiceRefusal | None:
        """The session sends opcode 4."""
        command = parse_voice_state(members)
        assert isinstance(command, VoiceStateCommand)
        return self.voice.apply(caller, command)

    def joins(self, caller: VoiceCaller, channel_id: int | None = None, **members: Any) -> str:
        """The session joins a channel (the lounge unless another is named); returns the connection's id."""
        channel_id = self.lounge if channel_id is None else channel_id
        assert self.says(caller, guild_id=str(self.guild.id), channel_id=str(channel_id), **members) is None
        connection_id = self.last(EventName.VOICE_STATE_UPDATE)["connection_id"]
        assert isinstance(connection_id, str)
        return connection_id

    def last(self, name: EventName) -> dict[str, Any]:
        """The payload of the last event of this name."""
        data = self.world.heard.events(name)[-1].data
        assert isinstance(data, dict)
        return data

    def updates(self) -> list[tuple[str | None, int]]:
        """Every Voice State Update so far: the channel that it names, and the channel whose viewers were told."""
        return [
            (event.data["channel_id"], event.audience.channel_id)
            for event in self.world.heard.events(EventName.VOICE_STATE_UPDATE)
        ]

    async def voice_channel(self, *overwrites: Overwrite, **changes: Any) -> int:
        """Another voice channel."""
        channel_id: int = await self.guild.channel(ChannelType.GUILD_VOICE, "booth", overwrites, **changes)
        return channel_id


@pytest.fixture
async def place(world: Any) -> VoicePlace:
    alice, bob, carol = [await world.person(name) for name in ("alice", "bob", "carol")]
    guild = await world.guild(alice, bob, carol)
    return VoicePlace(world, guild, alice, bob, carol)


def of_everyone(place: VoicePlace, *, allow: int = 0, deny: int = 0) -> Overwrite:
    return Overwrite(place.guild.id, OverwriteType.ROLE, allow, deny)


def of_member(caller: VoiceCaller, *, allow: int = 0, deny: int = 0) -> Overwrite:
    return Overwrite(caller.user_id, OverwriteType.MEMBER, allow, deny)


# Joining, changing, leaving


async def test_a_member_joins_a_voice_channel_and_its_viewers_are_told(place: VoicePlace) -> None:
    connection_id = place.joins(place.bob, self_mute=True, is_mobile="true")
    (update,) = place.world.heard.events(EventName.VOICE_STATE_UPDATE)
    assert update.audience == ToChannel(place.guild.id, place.lounge)
    member = update.data["member"]
    assert member["user"]["username"] == "bob"
    assert update.data == {
        "guild_id": str(place.guild.id),
        "channel_id": str(place.lounge),
        "user_id": str(place.bob.user_id),
        "connection_id": connection_id,
        "session_id": "session of bob",
        "member": member,
        "mute": False,
        "deaf": False,
        "self_mute": True,
        "self_deaf": False,
        "self_video": False,
        "self_stream": False,
        "is_mobile": True,
        "suppress": False,
        "viewer_stream_keys": [],
        "e2ee_capable": False,
        "version": 1,
    }
    assert place.voice.of_guild(place.guild.id) == [update.data]
    assert place.voice.is_in_channel(place.bob.user_id, place.lounge)


async def test_no_voice_server_is_announced(place: VoicePlace) -> None:
    place.joins(place.bob)
    assert place.world.heard.events(EventName.VOICE_SERVER_UPDATE) == []


async def test_each_change_takes_the_next_version_and_the_same_again_takes_none(place: VoicePlace) -> None:
    connection_id = place.joins(place.bob, viewer_stream_keys=["k"])
    for _ in range(2):
        place.joins(place.bob, connection_id=connection_id, self_deaf=True)
    assert [event.data["version"] for event in place.world.heard.events(EventName.VOICE_STATE_UPDATE)] == [1, 2]
    (state,) = place.voice.of_guild(place.guild.id)
    assert (state["self_deaf"], state["viewer_stream_keys"]) == (True, ["k"])
    place.joins(place.bob, connection_id=connection_id, self_deaf=True, viewer_stream_keys=None)
    assert place.last(EventName.VOICE_STATE_UPDATE)["viewer_stream_keys"] == []


async def test_an_account_leaves_by_the_connections_id(place: VoicePlace) -> None:
    connection_id = place.joins(place.bob)
    left = {"guild_id": str(place.guild.id), "channel_id": None}
    assert place.says(place.bob, **left) is VoiceRefusal.MISSING_CONNECTION_ID
    assert place.says(place.alice, **left, connection_id=connection_id) is VoiceRefusal.UNKNOWN_CONNECTION
    assert place.says(place.bob, **left, connection_id=connection_id) is None
    assert place.updates() == [(str(place.lounge), place.lounge), (None, place.lounge)]
    assert place.voice.of_guild(place.guild.id) == []
    assert not place.voice.is_in_channel(place.bob.user_id, place.lounge)
    assert place.says(place.bob, **left, connection_id=connection_id) is VoiceRefusal.UNKNOWN_CONNECTION


async def test_null_for_everything_leaves_every_channel_that_the_session_is_in(place: VoicePlace) -> None:
    place.joins(place.bob)
    place.joins(place.bob, await place.voice_channel())
    place.joins(place.alice)
    assert place.says(place.bob, guild_id=None, channel_id=None) is None
    assert [state["user_id"] for state in place.voice.of_guild(place.guild.id)] == [str(place.alice.user_id)]


async def test_a_new_session_of_the_account_takes_a_connection_over(place: VoicePlace) -> None:
    connection_id = place.joins(place.bob)
    later = attrs.evolve(place.bob, session_id="another session")
    place.joins(later, connection_id=connection_id)
    assert place.last(EventName.VOICE_STATE_UPDATE)["session_id"] == "another session"
    place.voice.session_ended("session of bob")
    assert len(place.voice.of_guild(place.guild.id)) == 1
    place.voice.session_ended("another session")
    assert place.voice.of_guild(place.guild.id) == []


# Moving


async def test_a_move_between_channels_with_the_same_viewers_is_one_event(place: VoicePlace) -> None:
    booth = await place.voice_channel()
    connection_id = place.joins(place.bob)
    place.joins(place.bob, booth, connection_id=connection_id)
    assert place.updates() == [(str(place.lounge), place.lounge), (str(booth), booth)]
    assert not place.voice.is_in_channel(place.bob.user_id, place.lounge)


async def test_a_move_to_a_channel_with_other_viewers_is_told_to_those_left_behind(place: VoicePlace) -> None:
    booth = await place.voice_channel(of_everyone(place, allow=VIEW))
    connection_id = place.joins(place.bob)
    place.joins(place.bob, booth, connection_id=connection_id)
    assert place.updates()[1:] == [(None, place.lounge), (str(booth), booth)]
    assert [event.data["version"] for event in place.world.heard.events(EventName.VOICE_STATE_UPDATE)] == [1, 2, 3]


# Refusals, each beside what is accepted


async def test_connecting_needs_the_permission_to_connect(place: VoicePlace) -> None:
    channel_id = await place.voice_channel(of_everyone(place, deny=CONNECT))
    wish = {"guild_id": str(place.guild.id), "channel_id": str(channel_id)}
    assert place.says(place.bob, **wish) is VoiceRefusal.MISSING_PERMISSIONS
    assert place.says(place.alice, **wish) is None


async def test_a_channel_that_is_not_seen_is_not_known(place: VoicePlace) -> None:
    channel_id = await place.voice_channel(of_everyone(place, deny=VIEW))
    wish = {"guild_id": str(place.guild.id), "channel_id": str(channel_id)}
    assert place.says(place.bob, **wish) is VoiceRefusal.UNKNOWN_CHANNEL
    assert place.says(place.alice, **wish) is None


async def test_only_voice_channels_can_be_joined(place: VoicePlace) -> None:
    wish = {"guild_id": str(place.guild.id), "channel_id": str(place.guild.general)}
    assert place.says(place.bob, **wish) is VoiceRefusal.UNKNOWN_CHANNEL
    assert place.says(place.bob, guild_id=None, channel_id="5") is VoiceRefusal.UNKNOWN_CHANNEL


async def test_strangers_know_nothing_of_the_guild(place: VoicePlace) -> None:
    dave = await place.world.person("dave")
    stranger = VoiceCaller(dave.user_id, "s", is_staff=False, e2ee_capable=False)
    wish = {"guild_id": str(place.guild.id), "channel_id": str(place.lounge)}
    assert place.says(stranger, **wish) is VoiceRefusal.UNKNOWN_GUILD
    assert place.says(place.bob, guild_id="4", channel_id=str(place.lounge)) is VoiceRefusal.UNKNOWN_GUILD


async def test_the_user_limit_counts_accounts(place: VoicePlace) -> None:
    booth = await place.voice_channel(user_limit=1)
    wish = {"guild_id": str(place.guild.id), "channel_id": str(booth)}
    assert place.says(place.bob, **wish) is None
    assert place.says(place.carol, **wish) is VoiceRefusal.CHANNEL_FULL
    assert place.says(place.bob, **wish) is None
    place.voice.session_ended(place.bob.session_id)
    assert place.says(place.carol, **wish) is None


async def test_the_user_limit_does_not_hold_for_those_who_may_move_members(place: VoicePlace) -> None:
    booth = await place.voice_channel(of_member(place.carol, allow=MOVE_MEMBERS), user_limit=1)
    wish = {"guild_id": str(place.guild.id), "channel_id": str(booth)}
    assert place.says(place.bob, **wish) is None
    assert place.says(place.carol, **wish) is None
    assert place.says(place.alice, **wish) is None
    place.voice.session_ended(place.bob.session_id)
    assert place.says(place.bob, **wish) is VoiceRefusal.CHANNEL_FULL


async def test_an_account_has_so_many_connections_and_no_more(place: VoicePlace) -> None:
    booth = await place.voice_channel(voice_connection_limit=200)
    wish = {"guild_id": str(place.guild.id), "channel_id": str(booth)}
    connection_ids = [place.joins(place.bob, booth) for _ in range(CONNECTIONS_PER_ACCOUNT)]
    assert place.says(place.bob, **wish) is VoiceRefusal.TOO_MANY_CONNECTIONS
    assert place.says(place.bob, guild_id=str(place.guild.id), channel_id=str(place.lounge)) is (
        VoiceRefusal.TOO_MANY_CONNECTIONS
    )
    # Those that there are may still change, move and leave.
    place.joins(place.bob, connection_id=connection_ids[0])
    assert place.says(place.carol, **wish) is None


async def test_an_unclaimed_account_stays_outside(place: VoicePlace) -> None:
    wish = {"guild_id": str(place.guild.id), "channel_id": str(place.lounge)}
    claimed = "UPDATE users SET email = ?, email_key = ?, password_hash = ?, email_verified = ? WHERE id = ?"
    await place.guild.change(claimed, None, None, None, 0, place.bob.user_id)
    assert place.says(place.bob, **wish) is VoiceRefusal.UNCLAIMED_ACCOUNT
    await place.guild.change(claimed, "b@b.example", "b@b.example", "hash", 1, place.bob.user_id)
    assert place.says(place.bob, **wish) is None


async def test_camera_and_screen_need_the_permission_to_stream(place: VoicePlace) -> None:
    booth = await place.voice_channel(of_everyone(place, deny=STREAM))
    connection_id = place.joins(place.bob, self_video=True, self_stream=True)
    assert shows(place) == (True, True)
    # Moving there takes them away, moving back does not switch them on again.
    place.joins(place.bob, booth, connection_id=connection_id, self_video=True, self_stream=True)
    assert shows(place) == (False, False)
    place.joins(place.bob, connection_id=connection_id, self_deaf=True)
    assert shows(place) == (False, False)
    place.joins(place.alice, booth, self_video=True)
    assert shows(place) == (True, False)


def shows(place: VoicePlace) -> tuple[bool, bool]:
    """Camera and screen as they were last told of."""
    last = place.last(EventName.VOICE_STATE_UPDATE)
    return last["self_video"], last["self_stream"]


@pytest.mark.parametrize(("changes", "limit"), [({}, 5), ({"voice_connection_limit": 2}, 2)])
async def test_the_connection_limit_counts_those_of_one_account(
    place: VoicePlace, changes: dict[str, int], limit: int
) -> None:
    booth = await place.voice_channel(**changes)
    wish = {"guild_id": str(place.guild.id), "channel_id": str(booth)}
    assert [place.says(place.bob, **wish) for _ in range(limit)] == [None] * limit
    assert place.says(place.bob, **wish) is VoiceRefusal.TOO_MANY_CONNECTIONS
    assert place.says(place.alice, **wish) is None


async def test_a_member_who_is_timed_out_stays_outside(place: VoicePlace) -> None:
    until = place.world.clock.now_ms() + 1_000
    await place.guild.change(
        "UPDATE members SET communication_disabled_until = ? WHERE user_id = ?", until, place.bob.user_id
    )
    wish = {"guild_id": str(place.guild.id), "channel_id": str(place.lounge)}
    assert place.says(place.bob, **wish) is VoiceRefusal.COMMUNICATION_DISABLED
    place.world.clock.ms += 1_000
    assert place.says(place.bob, **wish) is None


async def test_who_may_not_speak_is_suppressed(place: VoicePlace) -> None:
    booth = await place.voice_channel(of_everyone(place, deny=SPEAK))
    place.joins(place.bob, booth)
    assert place.last(EventName.VOICE_STATE_UPDATE)["suppress"] is True


# Acknowledgements


async def test_a_mutation_is_acknowledged_to_its_session(place: VoicePlace) -> None:
    connection_id = place.joins(place.bob, mutation_id="m1", runtime_epoch="e1")
    ack = place.world.heard.events(EventName.VOICE_STATE_ACK)[-1]
    assert ack.audience == ToSession("session of bob")
    assert ack.data == {
        "mutation_id": "m1",
        "runtime_epoch": "e1",
        "connection_id": connection_id,
        "guild_id": str(place.guild.id),
        "channel_id": str(place.lounge),
        "status": "applied",
        "server_version": 1,
        "canonical_state": place.voice.of_guild(place.guild.id)[0],
    }


async def test_a_rejected_mutation_says_why(place: VoicePlace) -> None:
    place.says(place.bob, guild_id="4", channel_id="5", mutation_id="m1")
    ack = place.last(EventName.VOICE_STATE_ACK)
    assert (ack["status"], ack["error_code"], ack["runtime_epoch"]) == ("rejected", "unknown_guild", "undefined")
    assert (ack["canonical_state"], ack["server_version"]) == (None, 0)
    assert ack["error_message"]


async def test_leaving_is_acknowledged_with_the_state_that_was_left(place: VoicePlace) -> None:
    connection_id = place.joins(place.bob)
    place.says(place.bob, guild_id=str(place.guild.id), channel_id=None, connection_id=connection_id, mutation_id="m2")
    ack = place.last(EventName.VOICE_STATE_ACK)
    assert (ack["status"], ack["channel_id"], ack["server_version"]) == ("applied", None, 2)
    assert ack["canonical_state"]["channel_id"] is None


async def test_a_base_version_may_be_one_behind_but_not_two(place: VoicePlace) -> None:
    connection_id = place.joins(place.bob)
    place.joins(place.bob, connection_id=connection_id, self_mute=True)
    place.joins(place.bob, connection_id=connection_id, self_mute=False)
    wish = {"guild_id": str(place.guild.id), "channel_id": str(place.lounge), "connection_id": connection_id}
    assert place.says(place.bob, **wish, base_version=1) is VoiceRefusal.STALE_BASE_VERSION
    place.says(place.bob, **wish, base_version=1, mutation_id="m")
    ack = place.last(EventName.VOICE_STATE_ACK)
    assert (ack["error_code"], ack["server_version"]) == ("stale_base_version", 3)
    assert ack["canonical_state"]["self_mute"] is False
    assert place.says(place.bob, **wish, base_version=2, self_mute=True) is None


# Ends that nobody commanded


async def test_a_member_who_leaves_the_guild_leaves_its_voice(place: VoicePlace) -> None:
    place.joins(place.bob)
    place.joins(place.alice)
    place.world.bus.publish(GuildLeft(place.guild.id, place.bob.user_id))
    assert [state["user_id"] for state in place.voice.of_guild(place.guild.id)] == [str(place.alice.user_id)]


async def test_a_channel_that_is_deleted_is_empty(place: VoicePlace) -> None:
    booth = await place.voice_channel()
    place.joins(place.bob, booth)
    place.joins(place.alice)
    await place.guild.change("DELETE FROM channels WHERE id = ?", booth)
    place.world.bus.publish(GuildStateChanged(place.guild.id))
    assert [state["user_id"] for state in place.voice.of_guild(place.guild.id)] == [str(place.alice.user_id)]


async def test_who_lost_sight_of_the_channel_stays_until_leaving(place: VoicePlace) -> None:
    connection_id = place.joins(place.bob)
    await place.guild.overwrite(place.lounge, of_everyone(place, deny=VIEW))
    place.world.bus.publish(GuildStateChanged(place.guild.id))
    place.world.heard.signals.clear()
    assert place.voice.is_in_channel(place.bob.user_id, place.lounge)
    place.says(place.bob, guild_id=str(place.guild.id), channel_id=None, connection_id=connection_id)
    # Recipients are computed afresh only after the others were told.
    update, changed = place.world.heard.signals
    assert update.audience == ToChannel(place.guild.id, place.lounge)
    assert changed == GuildStateChanged(place.guild.id, place.bob.user_id)


async def test_who_may_not_speak_any_more_is_suppressed_with_the_next_version(place: VoicePlace) -> None:
    place.joins(place.bob, self_stream=True)
    place.joins(place.alice)
    place.world.heard.signals.clear()
    await place.guild.overwrite(place.lounge, of_everyone(place, deny=SPEAK | STREAM))
    place.voice.permissions_changed(place.guild.id)
    (update,) = place.world.heard.events(EventName.VOICE_STATE_UPDATE)  # the owner may speak anywhere
    told = {name: update.data[name] for name in ("user_id", "suppress", "self_stream", "version")}
    assert told == {"user_id": str(place.bob.user_id), "suppress": True, "self_stream": False, "version": 2}
    place.voice.permissions_changed(place.guild.id)
    assert len(place.world.heard.events(EventName.VOICE_STATE_UPDATE)) == 1
    await place.guild.overwrite(place.lounge, of_everyone(place, deny=0))
    place.voice.permissions_changed(place.guild.id, place.alice.user_id)
    assert len(place.world.heard.events(EventName.VOICE_STATE_UPDATE)) == 1
    place.voice.permissions_changed(place.guild.id, place.bob.user_id)
    assert place.last(EventName.VOICE_STATE_UPDATE)["suppress"] is False


async def test_the_end_of_a_time_out_is_told(place: VoicePlace) -> None:
    place.joins(place.bob)
    until = place.world.clock.now_ms() + 1_000
    await place.guild.change(
        "UPDATE members SET communication_disabled_until = ? WHERE user_id = ?", until, place.bob.user_id
    )
    place.voice.member_changed(place.guild.id, place.bob.user_id)
    assert place.last(EventName.VOICE_STATE_UPDATE)["mute"] is True
    place.voice.timeouts_looked_at()
    assert len(place.world.heard.events(EventName.VOICE_STATE_UPDATE)) == 2
    place.world.clock.ms += 1_000
    place.voice.timeouts_looked_at()
    last = place.last(EventName.VOICE_STATE_UPDATE)
    assert (last["mute"], last["version"]) == (False, 3)
    place.voice.timeouts_looked_at()
    assert len(place.world.heard.events(EventName.VOICE_STATE_UPDATE)) == 3


async def test_everybody_leaves_when_the_server_ends(place: VoicePlace) -> None:
    place.joins(place.bob)
    place.joins(place.alice)
    place.voice.end_all()
    assert place.voice.every() == []
    assert place.updates()[2:] == [(None, place.lounge)] * 2


async def test_what_a_session_is_shown_are_the_channels_that_it_sees(place: VoicePlace) -> None:
    booth = await place.voice_channel(of_everyone(place, deny=VIEW))
    place.joins(place.alice, booth)
    place.joins(place.alice)

    def shown_to(caller: VoiceCaller) -> list[str]:
        states = place.voice.of_guild(place.guild.id, seen_by=caller.user_id)
        return [state["channel_id"] for state in states]

    assert shown_to(place.alice) == [str(booth), str(place.lounge)]
    assert shown_to(place.bob) == [str(place.lounge)]
