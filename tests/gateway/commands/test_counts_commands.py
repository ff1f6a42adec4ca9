"""Request Guild Counts and Request Channel Member Counts, opcodes 15 and 16; Request Forum Unreads, opcode 28."""

from __future__ import annotations

from typing import Any

import pytest
import trio
from trio.testing import MockClock

from chat.registries.channel_types import ChannelType, OverwriteType
from chat.registries.close_codes import UNKNOWN_OPCODE
from chat.registries.events import EventName
from chat.registries.opcodes import Opcode
from chat.registries.permissions import Permission
from chat.store.guilds.channels import Overwrite
from tests.gateway.commands.stage import Client, Stage
from tests.guilds.guild_world import GuildPlace

GUILDS, CHANNELS, UNREADS = (
    Opcode.REQUEST_GUILD_COUNTS,
    Opcode.REQUEST_CHANNEL_MEMBER_COUNTS,
    Opcode.REQUEST_FORUM_UNREADS,
)


class Harbour:
    """A guild of alice, its owner, bob and carol; alice and bob are connected."""

    def __init__(self, stage: Stage, guild: GuildPlace, people: dict[str, Any]) -> None:
        self.stage = stage
        self.guild = guild
        self.people = people
        self.alice = stage.connect(people["alice"], guild)
        self.bob = stage.connect(people["bob"], guild, threads=True)

    async def counted(self, client: Client, opcode: Opcode, d: Any) -> list[dict[str, Any]]:
        """The counts in the one answer to a request."""
        ((_, data),) = await client.asks(opcode, d)
        counts: list[dict[str, Any]] = data["counts"]
        return counts


@pytest.fixture
async def harbour(stage: Stage) -> Harbour:
    people = {name: await stage.world.person(name) for name in ("alice", "bob", "carol")}
    return Harbour(stage, await stage.world.guild(*people.values()), people)


# Guild counts


async def test_guild_counts_name_members_and_who_is_online(harbour: Harbour) -> None:
    ((event, data),) = await harbour.bob.asks(GUILDS, {"guild_ids": [str(harbour.guild.id), "7"], "nonce": "n" * 64})
    assert event == EventName.GUILD_COUNTS_UPDATE
    assert data == {
        "counts": [{"guild_id": str(harbour.guild.id), "member_count": 3, "online_count": 2}],
        "nonce": "n" * 64,
    }
    harbour.alice.sends(Opcode.PRESENCE_UPDATE, {"status": "invisible"})
    (counts,) = await harbour.counted(harbour.bob, GUILDS, {"guild_ids": [harbour.guild.id]})
    assert counts["online_count"] == 1


async def test_a_guild_of_strangers_is_not_counted(harbour: Harbour) -> None:
    other = await harbour.stage.world.guild(harbour.people["carol"])
    assert await harbour.counted(harbour.bob, GUILDS, {"guild_ids": [other.id]}) == []


@pytest.mark.parametrize("d", [None, {}, {"guild_ids": ["x"]}, {"guild_ids": list(range(1, 102))}])
async def test_broken_requests_for_counts_are_not_answered(harbour: Harbour, d: Any) -> None:
    assert await harbour.bob.asks(GUILDS, d) == []
    assert await harbour.bob.asks(CHANNELS, d) == []


async def test_a_hundred_guilds_are_counted_and_one_more_is_too_many(harbour: Harbour) -> None:
    ids = [harbour.guild.id, *range(1, 100)]
    assert len(await harbour.counted(harbour.bob, GUILDS, {"guild_ids": ids})) == 1
    assert await harbour.bob.asks(GUILDS, {"guild_ids": [*ids, 100]}) == []


# Channel member counts


async def test_channel_counts_name_viewers_and_who_of_them_is_online(harbour: Harbour) -> None:
    deny = Overwrite(harbour.guild.id, OverwriteType.ROLE, 0, Permission.VIEW_CHANNEL)
    allow = Overwrite(harbour.people["bob"].user_id, OverwriteType.MEMBER, Permission.VIEW_CHANNEL, 0)
    hidden = await harbour.guild.channel(ChannelType.GUILD_TEXT, "hidden", [deny, allow])
    wish = {"guild_id": str(harbour.guild.id), "channel_ids": [harbour.guild.general, hidden, 5], "nonce": "n"}
    ((event, data),) = await harbour.bob.asks(CHANNELS, wish)
    assert event == EventName.CHANNEL_MEMBER_COUNTS_UPDATE
    common = {"guild_id": str(harbour.guild.id), "online_count": 2}
    assert data == {
        "counts": [
            {**common, "channel_id": str(harbour.guild.general), "member_count": 3},
            {**common, "channel_id": str(hidden), "member_count": 2},
        ],
        "nonce": "n",
    }


@pytest.mark.parametrize("missing", [Permission.VIEW_CHANNEL, Permission.VIEW_CHANNEL_MEMBERS])
async def test_counting_a_channel_needs_to_see_it_and_its_members(harbour: Harbour, missing: Permission) -> None:
    wish = {"guild_id": harbour.guild.id, "channel_id": harbour.guild.general}
    assert len(await harbour.counted(harbour.bob, CHANNELS, wish)) == 1
    deny = Overwrite(harbour.guild.id, OverwriteType.ROLE, 0, missing)
    await harbour.guild.overwrite(harbour.guild.general, deny)
    assert await harbour.counted(harbour.bob, CHANNELS, wish) == []
    assert len(await harbour.counted(harbour.alice, CHANNELS, wish)) == 1


async def test_twenty_five_channels_are_counted_and_one_more_is_too_many(harbour: Harbour) -> None:
    ids = [harbour.guild.general, *range(1, 25)]
    assert len(await harbour.counted(harbour.bob, CHANNELS, {"guild_id": harbour.guild.id, "channel_ids": ids})) == 1
    assert await harbour.bob.asks(CHANNELS, {"guild_id": harbour.guild.id, "channel_ids": [*ids, 25]}) == []


# Forum unreads


def unreads(harbour: Harbour, number: int = 1) -> dict[str, Any]:
    threads = [{"thread_id": str(thread_id), "ack_message_id": "1"} for thread_id in range(1, number + 1)]
    return {"guild_id": str(harbour.guild.id), "channel_id": str(harbour.guild.general), "threads": threads}


async def test_threads_that_are_not_there_are_missing(harbour: Harbour) -> None:
    ((event, data),) = await harbour.bob.asks(UNREADS, unreads(harbour, 40))
    assert event == EventName.FORUM_UNREADS
    assert data["threads"] == [{"thread_id": str(thread_id), "missing": True} for thread_id in range(1, 41)]
    assert (data["guild_id"], data["channel_id"]) == (str(harbour.guild.id), str(harbour.guild.general))
    assert await harbour.bob.asks(UNREADS, unreads(harbour, 41)) == []


async def test_without_thread_access_or_an_object_the_opcode_is_unknown(harbour: Harbour) -> None:
    assert harbour.alice.sends(UNREADS, unreads(harbour)) is UNKNOWN_OPCODE
    assert harbour.bob.sends(UNREADS, None) is UNKNOWN_OPCODE
    assert harbour.bob.sends(UNREADS, []) is UNKNOWN_OPCODE
    assert harbour.bob.sends(UNREADS, {}) is None


async def test_unreads_of_a_channel_that_is_not_seen_are_not_answered(harbour: Harbour) -> None:
    assert len(await harbour.bob.asks(UNREADS, unreads(harbour))) == 1
    deny = Overwrite(harbour.guild.id, OverwriteType.ROLE, 0, Permission.VIEW_CHANNEL)
    await harbour.guild.overwrite(harbour.guild.general, deny)
    assert await harbour.bob.asks(UNREADS, unreads(harbour)) == []


async def test_a_sixth_request_for_unreads_within_5_seconds_is_dropped(
    autojump_clock: MockClock, harbour: Harbour
) -> None:
    answered = [len(await harbour.bob.asks(UNREADS, unreads(harbour))) for _ in range(6)]
    assert answered == [1, 1, 1, 1, 1, 0]
    await trio.sleep(5)
    assert len(await harbour.bob.asks(UNREADS, unreads(harbour))) == 1
