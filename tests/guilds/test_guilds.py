"""Create guild, List current user guilds, Get guild (document 001).

Area: guilds. Rules: 001.common, 001.create, 001.features, 001.get, 001.guild-object, 001.list.
"""

from __future__ import annotations

import attrs
import pytest

from chat.bus.audience import ToAccounts
from chat.bus.bus import GuildJoined
from chat.config import Limits, Settings
from chat.config.settings import ContentPolicySettings
from chat.domain.guilds.guilds import GuildPage
from chat.registries.events import EventName
from chat.registries.guild_features import NEW_GUILD_FEATURES
from chat.registries.guild_values import JoinSource
from chat.registries.permissions import DEFAULT_EVERYONE, FULL_MASK, THREAD_PERMISSIONS, Permission
from chat.registries.user_flags import UserFlag
from chat.store.guard import UNGUARDED
from tests.guilds.guild_world import GuildWorld, refused
from tests.spec.ledger import proves


async def test_a_new_guild_has_its_default_channels_and_belongs_to_its_maker(world: GuildWorld) -> None:
    alice = await world.person("alice")
    created = await world.create(alice, "Harbour")
    guild = await world.guilds.get(alice, int(created["id"]))
    names = {channel["id"]: channel["name"] for channel in guild["channels"]}
    with proves("001.create.16", "001.create.17", "001.create.30"):
        shape = {
            (channel["type"], channel["name"], names.get(channel.get("parent_id")), channel["position"])
            for channel in guild["channels"]
        }
        assert shape == {
            (4, "Text Channels", None, 0),
            (4, "Voice Channels", None, 1),
            (0, "general", "Text Channels", 0),
            (2, "General", "Voice Channels", 0),
        }
    assert guild["owner_id"] == str(alice.user_id)
    with proves("001.create.19"):
        assert names[created["system_channel_id"]] == "general"
    with proves("001.create.30"):
        everyone = await world.guilds.roles(alice, int(created["id"]))
        assert everyone[0]["id"] == created["id"]
    with proves("001.create.18"):
        assert int(everyone[0]["permissions"]) == DEFAULT_EVERYONE & ~THREAD_PERMISSIONS
    assert (everyone[0]["name"], everyone[0]["position"], everyone[0]["hoist_position"]) == ("@everyone", 0, None)
    with proves("001.create.30"):
        assert (await world.memberships.get(alice, int(created["id"]), alice.user_id))["roles"] == []


@pytest.mark.rule("001.create.33", "001.create.32")
async def test_the_owner_hears_of_the_new_guild_and_finds_it_in_the_folders(world: GuildWorld) -> None:
    alice = await world.person("alice")
    created = await world.create(alice, "Harbour")
    joined, settings = world.heard.signals
    assert joined == GuildJoined(int(created["id"]), alice.user_id)
    assert settings.name == EventName.USER_SETTINGS_UPDATE
    assert settings.audience == ToAccounts((alice.user_id,))
    assert settings.data["guild_folders"][0]["guild_ids"] == [created["id"]]
    second = await world.create(alice, "Pier")
    assert world.heard.signals[-1].data["guild_folders"][0]["guild_ids"] == [created["id"], second["id"]]


@pytest.mark.rule("001.create.13", "001.create.14")
async def test_the_first_features_are_given_unless_declined(world: GuildWorld) -> None:
    alice = await world.person("alice")
    assert (await world.create(alice, "Harbour"))["features"] == sorted(NEW_GUILD_FEATURES)
    assert (await world.create(alice, "Harbour", empty_features=True))["features"] == []


@pytest.mark.rule("001.create.3", "001.create.4")
async def test_names_are_tidied_and_measured(world: GuildWorld) -> None:
    alice = await world.person("alice")
    for name, stored in [("  Harbour ", "Harbour"), ("e\u0301", "\u00e9"), ("a\x07b\n", "ab"), ("x" * 100, "x" * 100)]:
        assert (await world.create(alice, name))["name"] == stored
    for name in ["", "   ", "\n\t", "x" * 101]:
        with refused("STRING_LENGTH_INVALID at name"):
            await world.create(alice, name)


@pytest.mark.rule("001.create.21", "001.create.26")
async def test_an_account_without_owner_or_with_an_unverified_address_creates_nothing(world: GuildWorld) -> None:
    unclaimed = await world.person("ghost", email=None, password_hash=None, email_verified=False)
    with refused("UNCLAIMED_ACCOUNT_CANNOT_CREATE_GUILDS"):
        await world.create(unclaimed, "Harbour")
    unverified = await world.person("eve", email_verified=False)
    with refused("GUILD_CREATION_EMAIL_VERIFICATION_REQUIRED"):
        await world.create(unverified, "Harbour")
    by_username = await world.person("ursula", email=None, email_verified=True)
    assert (await world.create(by_username, "Harbour"))["name"] == "Harbour"


class TestASingleCommunity:
    """An instance that is one guild."""

    @pytest.fixture
    def settings(self) -> Settings:
        return Settings(single_community_enabled=True, single_community_guild_id=77)

    @pytest.mark.rule("001.create.23")
    async def test_nobody_creates_another(self, world: GuildWorld) -> None:
        with refused("SINGLE_COMMUNITY_CANNOT_CREATE_GUILDS"):
            await world.create(await world.person("alice"), "")


class TestSmallLimits:
    """An instance with low limits and a blocked phrase."""

    @pytest.fixture
    def settings(self) -> Settings:
        return Settings(
            limits=Limits(max_guilds=2, max_guilds_premium=3),
            premium_mode="none",
            content_policy=ContentPolicySettings(blocked_phrases=("Krakeel",)),
        )

    @pytest.mark.rule("001.create.22")
    async def test_the_guild_limit_counts_memberships_and_premium_widens_it(self, world: GuildWorld) -> None:
        alice, bob = await world.person("alice"), await world.person("bob", premium_type=1)
        for _ in range(2):
            await world.create(alice, "Harbour")
        with refused("MAX_GUILDS"):
            await world.create(alice, "Harbour")
        for _ in range(3):
            await world.create(bob, "Pier")
        with refused("MAX_GUILDS"):
            await world.create(bob, "Pier")

    @pytest.mark.rule("001.create.27")
    async def test_a_blocked_name_is_refused_in_any_letter_case(self, world: GuildWorld) -> None:
        alice = await world.person("alice")
        with refused("CONTENT_BLOCKED"):
            await world.create(alice, "Mein kRAKEEL")
        assert (await world.create(alice, "Mein Kraken"))["name"] == "Mein Kraken"


async def test_the_stock_limit_is_that_of_premium(world: GuildWorld) -> None:
    assert world.settings.limits_for(premium=False).max_guilds == 200


# Get guild


@pytest.mark.rule("001.get.1", "001.get.2", "001.guild-object.39")
async def test_get_guild_shows_what_the_caller_may_see(world: GuildWorld) -> None:
    alice, bob = await world.person("alice"), await world.person("bob")
    place = await world.guild(alice, bob)
    world.online[place.id] = 5
    await place.change(
        "INSERT INTO permission_overwrites VALUES (?, ?, 0, 0, ?)",
        place.general,
        place.id,
        Permission.VIEW_CHANNEL.value | Permission.CREATE_PUBLIC_THREADS.value,
    )
    seen_by_owner, seen_by_member = await world.guilds.get(alice, place.id), await world.guilds.get(bob, place.id)
    assert {channel["name"] for channel in seen_by_owner["channels"]} == {
        "general",
        "General",
        "Text Channels",
        "Voice Channels",
    }
    # Bob still sees the category by its own VIEW_CHANNEL.
    assert {channel["name"] for channel in seen_by_member["channels"]} == {
        "General",
        "Text Channels",
        "Voice Channels",
    }
    assert "permissions" not in seen_by_member
    assert (seen_by_member["member_count"], seen_by_member["online_count"]) == (2, 5)
    assert (seen_by_member["emojis"], seen_by_member["stickers"]) == ([], [])
    overwrite = next(c for c in seen_by_owner["channels"] if c["name"] == "general")["permission_overwrites"][0]
    assert int(overwrite["deny"]) & THREAD_PERMISSIONS, "overwrites keep their thread bits for everyone"


@pytest.mark.rule("001.guild-object.48")
async def test_thread_bits_of_roles_are_for_bots_and_for_those_who_declared_it(world: GuildWorld) -> None:
    alice, robot = await world.person("alice"), await world.person("robot", bot=True)
    place = await world.guild(alice, robot)
    capable = attrs.evolve(alice, capabilities=frozenset({"channel_threads"}))
    for caller, shown in [(alice, False), (capable, True), (robot, True)]:
        role = (await world.guilds.get(caller, place.id))["roles"][0]
        assert bool(int(role["permissions"]) & THREAD_PERMISSIONS) is shown


async def test_checks_come_in_their_order(world: GuildWorld) -> None:
    alice, eve = await world.person("alice"), await world.person("eve")
    with proves("001.common.2"), refused("UNKNOWN_GUILD"):
        await world.guilds.get(alice, 999_999_999_999_999_999)
    place = await world.guild(alice)
    with proves("001.common.3"), refused("MISSING_PERMISSIONS"):
        await world.guilds.get(eve, place.id)
    await place.set("features", '["UNAVAILABLE_FOR_EVERYONE"]')
    with proves("001.common.5"):
        for caller in (alice, eve):
            with refused("MISSING_ACCESS"):
                await world.guilds.get(caller, place.id)
    world.guild_states.missing_guild_ids.add(place.id)
    with proves("001.common.4", "001.common.5"):
        for caller in (alice, eve):
            with refused("ACCESS_DENIED"):
                await world.guilds.get(caller, place.id)
    world.guild_states.missing_guild_ids.clear()
    await place.set("features", "[]")
    assert (await world.guilds.get(alice, place.id))["id"] == str(place.id)


@pytest.mark.rule("001.features.33", "001.features.34", "001.features.35")
async def test_staff_enters_a_guild_that_is_closed_to_everyone_but_staff(world: GuildWorld) -> None:
    alice, staff = await world.person("alice"), await world.person("mod", flags=UserFlag.STAFF.value)
    place = await world.guild(alice, staff)
    for feature, staff_enters in [("UNAVAILABLE_FOR_EVERYONE_BUT_STAFF", True), ("UNAVAILABLE_FOR_EVERYONE", False)]:
        await place.set("features", f'["{feature}"]')
        with refused("MISSING_ACCESS"):
            await world.guilds.get(alice, place.id)
        with refused("MISSING_ACCESS"):
            await world.channels.get(alice, place.general)
        if staff_enters:
            assert (await world.guilds.get(staff, place.id))["id"] == str(place.id)
            assert (await world.channels.get(staff, place.general))["name"] == "general"
        else:
            with refused("MISSING_ACCESS"):
                await world.guilds.get(staff, place.id)
    await place.set("features", '["UNAVAILABLE_HIDDEN"]')
    assert (await world.guilds.get(alice, place.id))["id"] == str(place.id), "hidden alone closes nothing"


# List current user guilds


async def test_the_list_is_paged_by_id_and_ignores_cursors_of_other_guilds(world: GuildWorld) -> None:
    alice, bob = await world.person("alice"), await world.person("bob")
    foreign = (await world.guild(bob)).id
    ids = [(await world.guild(alice)).id for _ in range(5)]

    async def listed(**page: int) -> list[int]:
        return [int(guild["id"]) for guild in await world.guilds.of_account(alice, GuildPage(**page))]

    with proves("001.list.1", "001.list.10"):
        assert await listed() == ids
    with proves("001.list.7"):
        assert await listed(limit=2) == ids[:2]
    with proves("001.list.5"):
        assert await listed(after=ids[1]) == ids[2:]
    assert await listed(after=ids[1], limit=1) == ids[2:3]
    with proves("001.list.3"):
        assert await listed(before=ids[3]) == ids[:3]
    with proves("001.list.4"):
        assert await listed(before=ids[3], limit=2) == ids[1:3], "the nearest below the cursor, ascending"
    with proves("001.list.6"):
        assert await listed(before=ids[1], after=ids[2]) == ids[3:], "after decides"
    with proves("001.list.11"):
        assert await listed(after=foreign) == ids
        assert await listed(before=foreign, limit=2) == ids[:2]
        assert await listed(before=ids[2], after=foreign) == ids
    assert await listed(after=ids[4]) == []
    assert await listed(before=ids[0]) == []


async def test_the_list_tells_what_the_caller_may_do(world: GuildWorld) -> None:
    alice, bob, robot = (
        await world.person("alice"),
        await world.person("bob"),
        await world.person("robot", bot=True),
    )
    place = await world.guild(alice, bob, robot)
    await place.role(Permission.MANAGE_GUILD.value, bob)
    [by_owner] = await world.guilds.of_account(alice, GuildPage())
    [by_bob] = await world.guilds.of_account(bob, GuildPage())
    [by_robot] = await world.guilds.of_account(robot, GuildPage())
    with proves("001.guild-object.34"):
        assert int(by_owner["permissions"]) == FULL_MASK & ~THREAD_PERMISSIONS
    with proves("001.guild-object.34", "001.guild-object.47"):
        assert int(by_bob["permissions"]) == (DEFAULT_EVERYONE | Permission.MANAGE_GUILD.value) & ~THREAD_PERMISSIONS
    with proves("001.guild-object.47"):
        assert int(by_robot["permissions"]) == DEFAULT_EVERYONE
    with proves("001.guild-object.46"):
        assert "threads_active" not in by_bob
    with proves("001.guild-object.45", "001.guild-object.46"):
        assert by_robot["threads_active"] is True
    await place.role(Permission.ADMINISTRATOR.value, robot)
    with proves("001.guild-object.34"):
        [by_robot] = await world.guilds.of_account(robot, GuildPage())
        assert int(by_robot["permissions"]) == FULL_MASK


async def test_counts_come_on_request_and_unavailable_guilds_are_listed(world: GuildWorld) -> None:
    alice, bob = await world.person("alice"), await world.person("bob")
    place = await world.guild(alice, bob)
    world.online[place.id] = 1
    with proves("001.list.8", "001.guild-object.43"):
        [plain] = await world.guilds.of_account(alice, GuildPage())
        assert not {"approximate_member_count", "approximate_presence_count", "roles", "channels"} & plain.keys()
    await place.set("features", '["UNAVAILABLE_FOR_EVERYONE"]')
    with proves("001.list.13"):
        [counted] = await world.guilds.of_account(alice, GuildPage(with_counts=True))
    with proves("001.guild-object.43"):
        assert (counted["approximate_member_count"], counted["approximate_presence_count"]) == (2, 1)
    world.guild_states.missing_guild_ids.add(place.id)
    with proves("001.guild-object.44"):
        [unknown] = await world.guilds.of_account(alice, GuildPage(with_counts=True))
        assert (unknown["approximate_member_count"], unknown["approximate_presence_count"]) == (0, 0)
    world.guild_states.counts_failing = True
    with proves("001.list.9"):
        [uncounted] = await world.guilds.of_account(alice, GuildPage(with_counts=True))
        assert uncounted["id"] == str(place.id)
        assert not {"approximate_member_count", "approximate_presence_count"} & uncounted.keys()


@pytest.mark.rule("001.guild-object.36")
async def test_a_guild_whose_permissions_cannot_be_looked_up_is_listed_without(world: GuildWorld) -> None:
    alice = await world.person("alice")
    first, second = await world.guild(alice), await world.guild(alice)
    world.guild_states.missing_guild_ids.add(first.id)
    listed = await world.guilds.of_account(alice, GuildPage())
    assert [guild.get("permissions") for guild in listed] == [None, str(FULL_MASK & ~THREAD_PERMISSIONS)]
    assert [int(guild["id"]) for guild in listed] == [first.id, second.id]


async def test_a_join_shows_in_the_counts_at_once(world: GuildWorld) -> None:
    alice, bob = await world.person("alice"), await world.person("bob")
    place = await world.guild(alice)
    assert (await world.guilds.get(alice, place.id))["member_count"] == 1
    await world.memberships.join(bob.account, place.id, JoinSource.DISCOVERY, guard=UNGUARDED)
    assert (await world.guilds.get(alice, place.id))["member_count"] == 2
