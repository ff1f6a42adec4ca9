"""Guild, channel, role and member objects, and the guild as the gateway sends it whole.

Area: guilds. Rules: 000.sequencing, 001.features, 001.guild-object, 001.partial-guild.
"""

from __future__ import annotations

from typing import Any, cast

import orjson
import pytest

from chat import wire
from chat.domain.standing.channel_objects import channel_object
from chat.domain.standing.guild_events import unavailable_guild
from chat.domain.standing.guild_json import guild_json
from chat.domain.standing.guild_objects import (
    guild_object,
    member_object,
    membership_object,
    partial_guild_object,
    role_object,
)
from chat.domain.standing.user_objects import DEFAULT_USER_SETTINGS, user_settings_object
from chat.registries.channel_types import ChannelType, OverwriteType
from chat.registries.permissions import ALL_DEFINED, THREAD_PERMISSIONS, Permission
from chat.store.guilds.channels import Channel, Overwrite
from chat.store.guilds.guilds import Guild
from chat.store.guilds.members import Member
from chat.store.guilds.roles import Role
from tests.guilds.guild_world import GuildWorld
from tests.spec.ledger import proves

DRESSED: dict[str, Any] = {
    "icon": "a_icon",
    "banner": "a_banner",
    "banner_width": 960,
    "banner_height": 540,
    "splash": "splash",
    "splash_width": 10,
    "splash_height": 20,
    "embed_splash": "embed",
    "embed_splash_width": 30,
    "embed_splash_height": 40,
}


def guild(**changes: Any) -> Guild:
    return Guild(1, 2, "Harbour", 0, **changes)


@pytest.mark.rule("001.guild-object.1")
def test_every_member_is_there_and_null_where_nothing_is_set() -> None:
    data = guild_object(guild())
    assert data.keys() == {
        "id", "name", "icon", "banner", "banner_width", "banner_height", "splash", "splash_width", "splash_height",
        "splash_card_alignment", "embed_splash", "embed_splash_width", "embed_splash_height", "vanity_url_code",
        "owner_id", "system_channel_id", "system_channel_flags", "rules_channel_id", "afk_channel_id", "afk_timeout",
        "features", "verification_level", "mfa_level", "nsfw_level", "nsfw", "content_warning_level",
        "content_warning_text", "explicit_content_filter", "default_message_notifications", "disabled_operations",
        "message_history_cutoff", "message_retention_days",
    }  # fmt: skip
    assert data["system_channel_id"] is None
    assert data["message_history_cutoff"] is None
    assert (data["afk_timeout"], data["features"]) == (300, [])


@pytest.mark.parametrize("shape", [guild_object, partial_guild_object])
def test_assets_show_as_far_as_the_features_allow(shape: Any) -> None:
    whole = shape is guild_object
    hidden = {
        "banner": "001.guild-object.6",
        "banner_width": "001.guild-object.8",
        "banner_height": "001.guild-object.8",
        "splash": "001.guild-object.9",
        "splash_width": "001.guild-object.10",
        "splash_height": "001.guild-object.10",
        "embed_splash": "001.guild-object.12",
        "embed_splash_width": "001.guild-object.13",
        "embed_splash_height": "001.guild-object.13",
    }
    bare = shape(guild(**DRESSED))
    with proves("001.guild-object.5" if whole else "001.partial-guild.2"):
        assert bare["icon"] == "icon"
    for name in DRESSED.keys() - {"icon"}:
        of_a_part = "001.partial-guild.4" if "splash" in name else "001.partial-guild.3"
        with proves(hidden[name] if whole else of_a_part):
            assert bare[name] is None, name
    still = shape(guild(**DRESSED, features=["BANNER", "INVITE_SPLASH"]))
    with proves("001.guild-object.7" if whole else "001.partial-guild.3"):
        assert (still["icon"], still["banner"], still["banner_width"]) == ("icon", "banner", 960)
    assert {name: still[name] for name in DRESSED if "splash" in name} == {
        name: value for name, value in DRESSED.items() if "splash" in name
    }
    moving = shape(guild(**DRESSED, features=["ANIMATED_ICON", "ANIMATED_BANNER", "BANNER", "INVITE_SPLASH"]))
    assert (moving["icon"], moving["banner"]) == ("a_icon", "a_banner")
    undressed = shape(guild(features=["BANNER", "INVITE_SPLASH"], banner_width=1, splash_width=1, embed_splash_width=1))
    assert (undressed["banner_width"], undressed["splash_width"], undressed["embed_splash_width"]) == (None,) * 3


@pytest.mark.rule("001.guild-object.24")
def test_the_nsfw_level_follows_the_mark() -> None:
    assert guild_object(guild(nsfw=True))["nsfw_level"] == 3
    assert guild_object(guild(nsfw=False))["nsfw_level"] == 0


OVERWRITE = Overwrite(7, OverwriteType.ROLE.value, THREAD_PERMISSIONS | 1, 2)
COMMON = {
    "id", "guild_id", "type", "name", "position", "permission_overwrites", "nsfw", "nsfw_override",
    "content_warning_level", "content_warning_text",
}  # fmt: skip
TOPICAL = COMMON | {"parent_id", "topic", "rate_limit_per_user", "message_retention_days"}
TEXT = TOPICAL | {"last_message_id", "last_pin_timestamp"}
ABOVE_THREADS = {"default_auto_archive_duration", "default_thread_rate_limit_per_user"}
FLAGS = {"flags"}
FORUM = {
    "available_tags", "default_reaction_emoji", "default_sort_order", "default_tag_setting", "default_forum_layout",
}  # fmt: skip
"""With the flags, what sessions get that know threads (wire facts 1.9)."""


@pytest.mark.parametrize(
    ("kind", "members"),
    [
        (ChannelType.GUILD_TEXT, TEXT | ABOVE_THREADS | FLAGS),
        (ChannelType.GUILD_ANNOUNCEMENT, TEXT | ABOVE_THREADS | FLAGS),
        (ChannelType.GUILD_VOICE, TEXT | {"bitrate", "user_limit", "voice_connection_limit", "rtc_region"}),
        (ChannelType.GUILD_CATEGORY, COMMON),
        (ChannelType.GUILD_LINK, COMMON | {"parent_id", "url"}),
        (
            ChannelType.GUILD_FORUM,
            TOPICAL | ABOVE_THREADS | FLAGS | FORUM,
        ),
        (
            ChannelType.GUILD_MEDIA,
            TOPICAL | ABOVE_THREADS | FLAGS | (FORUM - {"default_forum_layout"}),
        ),
    ],
)
def test_a_channel_has_the_members_of_its_type(kind: ChannelType, members: set[str]) -> None:
    channel = Channel(3, 1, kind.value, "x", nsfw_override=0, last_pin_timestamp=1000, overwrites=(OVERWRITE,))
    data = channel_object(channel, last_message_id=4)
    assert data.keys() == members
    assert channel_object(channel, last_message_id=4, threads=False).keys() == members - FLAGS - FORUM
    assert data["nsfw_override"] is False
    assert data["permission_overwrites"] == [{"id": "7", "type": 0, "allow": str(THREAD_PERMISSIONS | 1), "deny": "2"}]
    assert data.get("last_pin_timestamp", "1970-01-01T00:00:01.000Z") == "1970-01-01T00:00:01.000Z"
    assert data.get("voice_connection_limit", 5) == 5
    assert data.get("bitrate", 0) == 0
    blind = channel_object(channel, last_message_id=None, threads=False)
    assert blind["permission_overwrites"] == [{"id": "7", "type": 0, "allow": "1", "deny": "2"}]


def test_a_role_has_an_emoji_only_where_one_is_stored() -> None:
    role = Role(3, 1, "x", 1, ALL_DEFINED)
    assert role_object(role, threads=True) == {
        "id": "3",
        "name": "x",
        "color": 0,
        "position": 1,
        "hoist_position": None,
        "permissions": str(ALL_DEFINED),
        "hoist": False,
        "mentionable": False,
    }
    assert int(role_object(role, threads=False)["permissions"]) == ALL_DEFINED & ~THREAD_PERMISSIONS
    assert role_object(Role(3, 1, "x", 1, 0, unicode_emoji="\u2693"), threads=True)["unicode_emoji"] == "\u2693"


def test_a_member_with_and_without_user() -> None:
    member = Member(1, 2, 1000, nick="Bo", mention_flags=1, role_ids=frozenset({5, 4}))
    data = member_object(member, cast(wire.PartialUser, {"id": "2"}), timed_out=False)
    assert data == {
        "user": {"id": "2"},
        "nick": "Bo",
        "avatar": None,
        "banner": None,
        "accent_color": None,
        "roles": ["4", "5"],
        "joined_at": "1970-01-01T00:00:01.000Z",
        "mute": False,
        "deaf": False,
        "communication_disabled_until": None,
        "profile_flags": 0,
        "mention_flags": 1,
    }
    assert {"user": {"id": "2"}, **membership_object(member, timed_out=False)} == data
    assert "mention_flags" not in member_object(Member(1, 2, 1000), None, timed_out=False)


# The guild as the gateway sends it


def whole(state: Any, user_id: int, **changes: Any) -> dict[str, Any]:
    arguments = {
        "threads": False,
        "shown_threads": [],
        "full_users": True,
        "voice_states": [],
        "seen": state.visible_channels(user_id),
        **changes,
    }
    sent: dict[str, Any] = orjson.loads(guild_json(state, user_id=user_id, **arguments).with_online_count(1))
    return sent


@pytest.mark.rule("000.sequencing.9")
async def test_a_guild_is_sent_flat_and_nested_at_once(world: GuildWorld) -> None:
    alice, bob, carol = [await world.person(name) for name in ("alice", "bob", "carol")]
    place = await world.guild(alice, bob, carol)
    voice_states = [{"user_id": str(carol.user_id)}, {"user_id": str(carol.user_id)}, {"user_id": "999"}]
    data = whole(place.state, bob.user_id, voice_states=voice_states)
    assert data["properties"].items() <= data.items()
    assert (data["id"], data["name"], data["owner_id"]) == (str(place.id), "Harbour", str(alice.user_id))
    assert len(data["channels"]) == 4
    assert [member["user"]["username"] for member in data["members"]] == ["bob", "carol"]
    assert (data["member_count"], data["online_count"]) == (3, 1)
    assert data["voice_states"] == voice_states
    assert data["joined_at"] == "2027-01-15T08:00:00.000Z"
    for name in ("emojis", "stickers", "presences", "threads"):
        assert data[name] == []
    reduced = whole(place.state, bob.user_id, full_users=False)
    assert [member["user"] for member in reduced["members"]] == [{"id": str(bob.user_id)}]


async def test_sessions_without_thread_access_see_no_trace_of_threads(world: GuildWorld) -> None:
    alice = await world.person("alice")
    place = await world.guild(alice)
    await place.channel(ChannelType.GUILD_FORUM.value, "forum", [Overwrite(place.id, 0, THREAD_PERMISSIONS, 0)])
    await place.overwrite(place.general, Overwrite(place.id, 0, THREAD_PERMISSIONS | 1, 0))

    def bits(data: dict[str, Any]) -> int:
        masks = [role["permissions"] for role in data["roles"]]
        for channel in data["channels"]:
            masks += [overwrite["allow"] for overwrite in channel["permission_overwrites"]]
        result = 0
        for mask in masks:
            result |= int(mask)
        return result

    seeing, blind = (whole(place.state, alice.user_id, threads=threads) for threads in (True, False))
    assert bits(seeing) & THREAD_PERMISSIONS
    assert not bits(blind) & THREAD_PERMISSIONS
    assert {channel["name"] for channel in seeing["channels"]} - {channel["name"] for channel in blind["channels"]} == {
        "forum"
    }


async def test_channels_that_the_receiver_does_not_see_are_not_sent(world: GuildWorld) -> None:
    alice, bob = await world.person("alice"), await world.person("bob")
    place = await world.guild(alice, bob)
    await place.overwrite(place.general, Overwrite(place.id, 0, 0, Permission.VIEW_CHANNEL.value))
    assert str(place.general) in {channel["id"] for channel in whole(place.state, alice.user_id)["channels"]}
    assert str(place.general) not in {channel["id"] for channel in whole(place.state, bob.user_id)["channels"]}


@pytest.mark.rule("001.features.36")
async def test_the_stub_of_an_unavailable_guild(world: GuildWorld) -> None:
    alice = await world.person("alice")
    place = await world.guild(alice)
    assert unavailable_guild(place.state) == {"id": str(place.id), "unavailable": True}
    await place.set("features", '["UNAVAILABLE_FOR_EVERYONE", "UNAVAILABLE_HIDDEN"]')
    assert unavailable_guild(place.state) == {
        "id": str(place.id),
        "unavailable": True,
        "unavailable_hidden": True,
    }


# User settings


def test_stored_settings_lie_over_the_defaults() -> None:
    settings = user_settings_object({"theme": "dark", "unknown": 1})
    assert settings["theme"] == "dark"
    assert settings.keys() == DEFAULT_USER_SETTINGS.keys()
    assert settings["guild_folders"] == [
        {"id": -1, "name": None, "color": None, "flags": 0, "icon": "folder", "guild_ids": []}
    ]
    settings["guild_folders"][0]["guild_ids"].append("1")
    assert user_settings_object({})["guild_folders"][0]["guild_ids"] == []
