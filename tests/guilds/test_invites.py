"""Invites: making, reading, accepting, deleting, listing.

Area: guilds. Rules: 001.features, 001.partial-guild, 001.registries.
"""

from __future__ import annotations

import pytest
import trio

from chat.bus.audience import ToChannel
from chat.bus.bus import GuildJoined
from chat.config import Limits, Settings
from chat.domain.guilds.invites import Invites, InviteTerms
from chat.errors import ApiError
from chat.registries.channel_types import ChannelType
from chat.registries.events import EventName
from chat.registries.permissions import DEFAULT_EVERYONE, Permission
from tests.guilds.guild_world import GuildPlace, GuildWorld, refused

MANAGE_CHANNELS = Permission.MANAGE_CHANNELS.value


@pytest.fixture
async def harbour(world: GuildWorld) -> GuildPlace:
    """Alice's guild, with Bob in it."""
    world.alice, world.bob, world.eve = [await world.person(name) for name in ("alice", "bob", "eve")]
    return await world.guild(world.alice, world.bob)


async def test_an_invite_as_its_maker_and_as_a_stranger_sees_it(world: GuildWorld, harbour: GuildPlace) -> None:
    world.online[harbour.id] = 1
    made = await world.invites.create(world.bob, harbour.general, InviteTerms(max_age=60, max_uses=2))
    assert len(made["code"]) == 8
    assert (made["uses"], made["max_uses"], made["max_age"]) == (0, 2, 60)
    assert (made["created_at"], made["expires_at"]) == ("2027-01-15T08:00:00.000Z", "2027-01-15T08:01:00.000Z")
    read = await world.invites.get(made["code"])
    assert read == {key: made[key] for key in made.keys() - {"created_at", "uses", "max_uses", "max_age"}}
    assert (read["type"], read["temporary"]) == (0, False)
    assert read["channel"] == {"id": str(harbour.general), "name": "general", "type": 0}
    assert read["inviter"]["username"] == "bob"
    assert (read["member_count"], read["presence_count"]) == (2, 1)


@pytest.mark.rule("001.partial-guild.1", "001.partial-guild.5")
async def test_the_guild_in_an_invite_has_just_these_members(world: GuildWorld, harbour: GuildPlace) -> None:
    made = await world.invites.create(world.bob, harbour.general, InviteTerms())
    assert made["guild"].keys() == {
        "id", "name", "icon", "banner", "banner_width", "banner_height", "splash", "splash_width", "splash_height",
        "splash_card_alignment", "embed_splash", "embed_splash_width", "embed_splash_height", "features",
    }  # fmt: skip


async def test_making_an_invite_is_told_to_those_who_manage_the_channel(world: GuildWorld, harbour: GuildPlace) -> None:
    made = await world.invites.create(world.bob, harbour.general, InviteTerms())
    event, entry = world.heard.events()
    assert entry.name == EventName.GUILD_AUDIT_LOG_ENTRY_CREATE
    assert event.name == EventName.INVITE_CREATE
    assert event.audience == ToChannel(harbour.id, harbour.general, permission=MANAGE_CHANNELS)
    assert event.data == made


async def test_the_same_terms_give_the_same_invite_unless_it_is_to_be_unique(
    world: GuildWorld, harbour: GuildPlace
) -> None:
    terms = InviteTerms(max_age=60)
    first = await world.invites.create(world.bob, harbour.general, terms)
    assert (await world.invites.create(world.bob, harbour.general, terms))["code"] == first["code"]
    assert len(world.heard.events(EventName.INVITE_CREATE)) == 1
    for maker, channel, other in [
        (world.alice, harbour.general, terms),
        (world.bob, harbour.channel_id("General"), terms),
        (world.bob, harbour.general, InviteTerms(max_age=60, unique=True)),
        (world.bob, harbour.general, InviteTerms(max_age=61)),
        (world.bob, harbour.general, InviteTerms(max_age=60, max_uses=1)),
        (world.bob, harbour.general, InviteTerms(max_age=60, temporary=True)),
    ]:
        assert (await world.invites.create(maker, channel, other))["code"] != first["code"]
    world.clock.ms += 60_000
    assert (await world.invites.create(world.bob, harbour.general, terms))["code"] != first["code"]


async def test_who_may_not_make_one(world: GuildWorld, harbour: GuildPlace) -> None:
    with refused("MISSING_PERMISSIONS"):
        await world.invites.create(world.eve, harbour.general, InviteTerms())
    with refused("UNKNOWN_CHANNEL"):
        await world.invites.create(world.alice, 999, InviteTerms())
    with refused("INVALID_CHANNEL_TYPE"):
        await world.invites.create(world.alice, harbour.channel_id("Text Channels"), InviteTerms())
    await harbour.everyone(DEFAULT_EVERYONE & ~Permission.CREATE_INSTANT_INVITE.value)
    with refused("MISSING_PERMISSIONS"):
        await world.invites.create(world.bob, harbour.general, InviteTerms())
    assert (await world.invites.create(world.alice, harbour.general, InviteTerms()))["code"]


@pytest.mark.rule("001.registries.13")
async def test_invites_can_be_switched_off_by_an_administrator(world: GuildWorld, harbour: GuildPlace) -> None:
    made = await world.invites.create(world.bob, harbour.general, InviteTerms())
    await harbour.set("disabled_operations", 8)
    with refused("FEATURE_TEMPORARILY_DISABLED"):
        await world.invites.create(world.bob, harbour.general, InviteTerms())
    with refused("INVITES_DISABLED"):
        await world.invites.accept(world.eve, made["code"])


class TestFewInvites:
    """An instance with at most two invites a guild."""

    @pytest.fixture
    def settings(self) -> Settings:
        return Settings(limits=Limits(max_guild_invites=2))

    async def test_dead_invites_make_room(self, world: GuildWorld, harbour: GuildPlace) -> None:
        for _ in range(2):
            await world.invites.create(world.bob, harbour.general, InviteTerms(max_age=60, unique=True))
        with refused("MAX_INVITES"):
            await world.invites.create(world.bob, harbour.general, InviteTerms(unique=True))
        world.clock.ms += 60_000
        assert (await world.invites.create(world.bob, harbour.general, InviteTerms(unique=True)))["code"]


async def test_accepting_joins_once(world: GuildWorld, harbour: GuildPlace) -> None:
    made = await world.invites.create(world.bob, harbour.general, InviteTerms())
    world.heard.signals.clear()
    accepted = await world.invites.accept(world.eve, made["code"])
    assert (accepted["code"], accepted["member_count"]) == (made["code"], 3)
    assert GuildJoined(harbour.id, world.eve.user_id) in world.heard.signals
    assert (await world.memberships.get(world.eve, harbour.id, world.eve.user_id))["user"]["username"] == "eve"
    world.heard.signals.clear()
    assert (await world.invites.accept(world.eve, made["code"]))["member_count"] == 3
    assert world.heard.signals == []
    assert [invite["uses"] for invite in await world.invites.of_guild(world.alice, harbour.id)] == [1]
    stored = harbour.state.member(world.eve.user_id)
    assert (stored.join_source, stored.inviter_id) == (1, world.bob.user_id)


async def test_an_invite_dies_by_time_by_use_and_by_hand(world: GuildWorld, harbour: GuildPlace) -> None:
    by_time = await world.invites.create(world.bob, harbour.general, InviteTerms(max_age=60))
    by_use = await world.invites.create(world.bob, harbour.general, InviteTerms(max_uses=1))
    by_hand = await world.invites.create(world.bob, harbour.general, InviteTerms())
    await world.invites.accept(world.eve, by_use["code"])
    await world.invites.delete(world.bob, by_hand["code"])
    world.clock.ms += 59_999
    assert (await world.invites.get(by_time["code"]))["code"] == by_time["code"]
    world.clock.ms += 1
    newcomer = await world.person("newcomer")
    for dead in (by_time, by_use, by_hand):
        with refused("UNKNOWN_INVITE"):
            await world.invites.get(dead["code"])
        with refused("UNKNOWN_INVITE"):
            await world.invites.accept(newcomer, dead["code"])
    with refused("UNKNOWN_INVITE"):
        await world.invites.get("nothing!")
    assert await world.invites.of_guild(world.alice, harbour.id) == []


async def test_the_last_use_of_an_invite_is_given_once(world: GuildWorld, harbour: GuildPlace) -> None:
    made = await world.invites.create(world.bob, harbour.general, InviteTerms(max_uses=1))
    people = [await world.person(f"p{index}") for index in range(4)]
    outcomes = []

    async def accept(person: object) -> None:
        try:
            await world.invites.accept(person, made["code"])
            outcomes.append("joined")
        except ApiError as error:
            outcomes.append(error.code)

    async with trio.open_nursery() as nursery:
        for person in people:
            nursery.start_soon(accept, person)
    assert sorted(outcomes) == ["UNKNOWN_INVITE"] * 3 + ["joined"]
    assert harbour.state.member_count == 3


@pytest.mark.rule("001.features.21", "001.features.24")
async def test_a_guild_that_takes_nobody_in(world: GuildWorld, harbour: GuildPlace) -> None:
    made = await world.invites.create(world.bob, harbour.general, InviteTerms())
    for feature in ("INVITES_DISABLED", "RAID_DETECTED"):
        await harbour.set("features", f'["{feature}"]')
        with refused("INVITES_DISABLED"):
            await world.invites.accept(world.eve, made["code"])
        assert (await world.invites.accept(world.bob, made["code"]))["code"] == made["code"], "a member already"
    await harbour.set("features", '["UNAVAILABLE_FOR_EVERYONE"]')
    with refused("MISSING_ACCESS"):
        await world.invites.accept(world.eve, made["code"])


async def test_who_may_delete_an_invite(world: GuildWorld, harbour: GuildPlace) -> None:
    async def made_by(maker: object) -> str:
        return (await world.invites.create(maker, harbour.general, InviteTerms(unique=True)))["code"]

    with refused("MISSING_PERMISSIONS"):
        await world.invites.delete(world.bob, await made_by(world.alice))
    with refused("MISSING_PERMISSIONS"):
        await world.invites.delete(world.eve, await made_by(world.alice))
    code = await made_by(world.bob)
    world.heard.signals.clear()
    await world.invites.delete(world.bob, code)
    event, entry = world.heard.events()
    assert entry.name == EventName.GUILD_AUDIT_LOG_ENTRY_CREATE
    assert (event.name, event.audience) == (
        EventName.INVITE_DELETE,
        ToChannel(harbour.id, harbour.general, permission=MANAGE_CHANNELS),
    )
    assert event.data == {"code": code, "channel_id": str(harbour.general), "guild_id": str(harbour.id)}
    await world.invites.delete(world.alice, await made_by(world.bob))
    await harbour.role(MANAGE_CHANNELS, world.bob)
    await world.invites.delete(world.bob, await made_by(world.alice))


async def test_lists_are_for_those_who_manage(world: GuildWorld, harbour: GuildPlace) -> None:
    voice = harbour.channel_id("General")
    first = await world.invites.create(world.bob, harbour.general, InviteTerms())
    world.clock.ms += 1
    second = await world.invites.create(world.bob, voice, InviteTerms())
    for listing in (world.invites.of_channel(world.bob, voice), world.invites.of_guild(world.bob, harbour.id)):
        with refused("MISSING_PERMISSIONS"):
            await listing
    await harbour.role(MANAGE_CHANNELS | Permission.MANAGE_GUILD.value, world.bob)
    assert await world.invites.of_channel(world.bob, voice) == [second]
    assert await world.invites.of_guild(world.bob, harbour.id) == [second, first]


async def test_forum_channels_can_be_invited_into_and_links_cannot(world: GuildWorld, harbour: GuildPlace) -> None:
    forum = await harbour.channel(ChannelType.GUILD_FORUM.value, "forum")
    link = await harbour.channel(ChannelType.GUILD_LINK.value, "link")
    assert (await world.invites.create(world.alice, forum, InviteTerms()))["channel"]["type"] == 15
    with refused("INVALID_CHANNEL_TYPE"):
        await world.invites.create(world.alice, link, InviteTerms())


class Stammering:
    """Chance that gives the same eight characters three times over before it thinks of others."""

    def __init__(self) -> None:
        self.given = 0

    def choice(self, seq: str) -> str:
        self.given += 1
        return seq[0] if self.given <= 24 else seq[1]


async def test_a_code_that_is_taken_is_not_given_again(world: GuildWorld, harbour: GuildPlace) -> None:
    invites = Invites(
        core=world.core,
        memberships=world.memberships,
        randomness=Stammering(),
        online_count=lambda _: 0,
        is_connected=lambda _: True,
        group_invites=world.group_invites,
        claims=world.claims,
    )
    first, second = [await invites.create(world.bob, harbour.general, InviteTerms(unique=True)) for _ in range(2)]
    assert (first["code"], second["code"]) == ("A" * 8, "B" * 8)
    assert len(world.heard.events(EventName.INVITE_CREATE)) == 2
