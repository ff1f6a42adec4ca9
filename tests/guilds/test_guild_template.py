"""Templates as a pure function: JSON in, a plan or the documented refusal out (document 001, Guild creation template
object; design 7, templates).

Area: guilds. Rules: 001.template, 001.template-channel, 001.template-role.
"""

from __future__ import annotations

import random
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from chat.config import Limits
from chat.domain.guilds.guild_plan import GuildPlan, PlannedChannel, PlannedOverwrite
from chat.domain.guilds.guild_template import plan_of, read_template
from chat.errors import ApiError, InvalidFormBody
from chat.registries.channel_types import ChannelType
from chat.registries.permissions import (
    ALL_DEFINED,
    DEFAULT_EVERYONE,
    DEFAULT_THREAD_PERMISSIONS,
    THREAD_PERMISSIONS,
    Permission,
)
from chat.testing import strategies
from tests.guilds.guild_world import refused
from tests.spec.ledger import proves

MANY = settings(max_examples=1_000, deadline=None)
SOME = settings(max_examples=300, deadline=None)
LIMITS = Limits()
SEND = Permission.SEND_MESSAGES.value
VIEW = Permission.VIEW_CHANNEL.value


def planned(template: object) -> GuildPlan:
    """The plan of a template."""
    return plan_of(read_template(template, LIMITS))


def refusal_of(template: object) -> str | None:
    """The code that refuses a template; None when it has a plan."""
    try:
        planned(template)
    except ApiError as refusal:
        return refusal.code
    return None


def plan(roles: Any = (), channels: Any = (), **members: Any) -> GuildPlan:
    """The plan of a template with these members."""
    return planned({"name": "Template", "roles": list(roles), "channels": list(channels), **members})


def channel(id: Any, type: Any = 0, **members: Any) -> dict[str, Any]:
    """A template channel."""
    return {"id": id, "type": type, "position": 0, **members}


def one_channel(**members: Any) -> PlannedChannel:
    """What becomes of a template's only channel."""
    made = plan(channels=[channel(1, **members)]).channels
    return made[0]


# Any JSON


@pytest.mark.long
@MANY
@given(value=strategies.json_values(30))
@example(value={"name": "x", "roles": [], "channels": [], "verification_level": float("inf")})
@example(value={"name": "x", "roles": [], "channels": [], "verification_level": 10**5_000})
@example(value={"name": "x", "roles": [], "channels": [], "system_channel_id": 10**5_000})
@example(value={"name": "x", "roles": [{"id": 1, "permissions": 10**5_000}], "channels": []})
@example(value={"name": "x", "roles": [{"id": 1, "permissions": "9" * 5_000}], "channels": []})
def test_any_json_gives_a_plan_or_a_documented_refusal(value: object) -> None:
    assert refusal_of(value) in {None, "INVALID_FORM_BODY", "GUILD_TEMPLATE_INVALID"}


@SOME
@given(template=strategies.guild_templates())
def test_every_plan_holds_together(template: dict[str, Any]) -> None:
    made = planned(template)
    assert made.channels[made.system_channel].type in {ChannelType.GUILD_TEXT, ChannelType.GUILD_ANNOUNCEMENT}
    assert made.everyone
    assert made.everyone | ALL_DEFINED == ALL_DEFINED
    assert not made.everyone & SEND or made.everyone & THREAD_PERMISSIONS
    assert (made.verification_level, made.default_message_notifications, made.explicit_content_filter) <= (3, 1, 2)
    assert 60 <= made.afk_timeout <= 3_600
    assert made.system_channel_flags in {0, 1}
    assert len(template["roles"]) - len(made.roles) in {0, 1}, "at most one of them is everyone's"
    for one in made.channels:
        if one.parent is not None:
            assert made.channels[one.parent].type is ChannelType.GUILD_CATEGORY
            assert one.type is not ChannelType.GUILD_CATEGORY
        voice = (one.bitrate, one.user_limit, one.voice_connection_limit)
        if one.type is ChannelType.GUILD_VOICE:
            assert all(value is not None for value in voice)
        else:
            assert voice == (None, None, None)
        targets = [entry.role for entry in one.overwrites]
        assert len(set(targets)) == len(targets)
        for entry in one.overwrites:
            assert entry.role is None or 0 <= entry.role < len(made.roles)
            assert (entry.allow | entry.deny) & ~ALL_DEFINED == 0


@SOME
@given(template=strategies.malformed_guild_templates())
def test_what_is_no_template_is_no_form(template: object) -> None:
    with pytest.raises(InvalidFormBody) as refusal:
        read_template(template, LIMITS)
    assert all(error.path.startswith("template") for error in refusal.value.errors)


@SOME
@given(template=strategies.invalid_guild_templates())
def test_what_only_templates_are_judged_by_has_its_own_code(template: dict[str, Any]) -> None:
    with refused("GUILD_TEMPLATE_INVALID"):
        planned(template)


@pytest.mark.long
@MANY
@given(template=strategies.guild_templates(), places=st.randoms(use_true_random=False), value=strategies.json_values(8))
def test_any_json_anywhere_in_a_template_gives_the_same(template: Any, places: random.Random, value: object) -> None:
    """Go down from the template to a random depth and put the value there."""
    at = template
    while True:
        key = places.choice(list(at) if isinstance(at, dict) else range(len(at)))
        if not isinstance(at[key], dict | list) or not at[key] or places.random() < 0.3:
            break
        at = at[key]
    at[key] = value
    before = repr(template)
    assert refusal_of(template) in {None, "INVALID_FORM_BODY", "GUILD_TEMPLATE_INVALID"}
    assert repr(template) == before, "a template is only read"


# The template itself


@pytest.mark.parametrize(
    ("member", "most", "default"),
    [
        pytest.param("verification_level", 3, 0, marks=pytest.mark.rule("001.template.4")),
        pytest.param("default_message_notifications", 1, 0, marks=pytest.mark.rule("001.template.6")),
        pytest.param("explicit_content_filter", 2, 0, marks=pytest.mark.rule("001.template.7")),
    ],
)
def test_levels_lose_their_fraction_and_are_clamped(member: str, most: int, default: int) -> None:
    assert getattr(plan(), member) == default
    for sent, kept in [(1, 1), (0.99, 0), (-0.5, 0), (1.9, 1), (-7, 0), (most, most), (most + 1, most), (1e300, most)]:
        assert getattr(plan(**{member: sent}), member) == kept


@pytest.mark.rule("001.template.5")
@pytest.mark.parametrize("member", ["verification_level", "default_message_notifications", "explicit_content_filter"])
@pytest.mark.parametrize("value", ["1", "high", True, [], [1], {"level": 1}])
def test_a_level_that_is_no_number_is_refused(member: str, value: object) -> None:
    with refused(f"INVALID_FORMAT at template.{member}"):
        plan(**{member: value})


@pytest.mark.rule("001.template.11")
def test_the_afk_timeout_is_forced_between_its_bounds() -> None:
    assert plan().afk_timeout == 300
    for sent, kept in [(59, 60), (60, 60), (61.9, 61), (3_600, 3_600), (3_601, 3_600), (-(10**30), 60)]:
        assert plan(afk_timeout=sent).afk_timeout == kept


@pytest.mark.rule("001.template.12")
def test_only_registered_system_channel_flags_are_kept() -> None:
    assert plan().system_channel_flags == 0
    for sent, kept in [(0, 0), (1, 1), (2, 0), (3, 1), (2**40 | 1, 1)]:
        assert plan(system_channel_flags=sent).system_channel_flags == kept


@pytest.mark.rule("001.template.1", "001.template.8", "001.template.9")
def test_the_system_channel_is_the_one_named_or_else_the_first_that_may_be_one() -> None:
    channels = [
        channel(1, 4),
        channel("2", 2),
        channel(3, 5, name="news"),
        channel("4", 0, name="chat"),
        channel(5, 15),
    ]

    def name(**members: Any) -> str:
        made = plan(channels=channels, **members)
        return made.channels[made.system_channel].name

    assert name(system_channel_id="4") == name(system_channel_id=4) == "chat"
    assert name(system_channel_id="3") == name(system_channel_id=3) == "news"
    for elsewhere in (None, 1, "2", 5, 77, "04"):
        assert name(system_channel_id=elsewhere) == "news"
    assert name() == "news"


@pytest.mark.rule("001.template.10")
def test_a_template_without_a_channel_for_system_messages_gets_one() -> None:
    for channels in ([], [channel(1, 4), channel(2, 2, parent_id=1), channel(3, 15)]):
        made = plan(channels=channels, system_channel_id=2)
        general = made.channels[made.system_channel]
        assert (general.type, general.name, general.parent) == (ChannelType.GUILD_TEXT, "general", None)
        assert made.channels.index(general) == len(made.channels) - 1
    assert [one.name for one in plan(channels=[channel(1, 5, name="news")]).channels] == ["news"]


@pytest.mark.rule("001.template.13", "001.template.15", "001.template.14")
def test_how_many_roles_and_channels_a_template_may_have() -> None:
    made = plan(roles=[{"id": number} for number in range(1, 251)], channels=[channel(n) for n in range(500)])
    assert (len(made.roles), len(made.channels)) == (250, 500)
    with refused("GUILD_TEMPLATE_INVALID"):
        plan(roles=[{"id": number} for number in range(1, 252)])
    with refused("GUILD_TEMPLATE_INVALID"):
        plan(channels=[channel(number) for number in range(501)])


@pytest.mark.rule("001.template.3")
def test_name_and_description_are_read_and_discarded() -> None:
    assert plan(name="A" * 10_000, description="B" * 10_000) == plan(name="C", description=None) == plan()
    for member, wrong in [("name", None), ("name", 5), ("description", 5), ("description", ["B"])]:
        with refused(f"INVALID_FORMAT at template.{member}"):
            plan(**{member: wrong})


def test_null_stands_for_the_default() -> None:
    for member in (
        "verification_level",
        "default_message_notifications",
        "explicit_content_filter",
        "system_channel_flags",
        "afk_timeout",
    ):
        assert plan(**{member: None}) == plan()
    for member in ("color", "hoist", "mentionable", "permissions", "unicode_emoji"):
        assert plan(roles=[{"id": 1, member: None}]) == plan(roles=[{"id": 1}])
    for member in ("nsfw", "rate_limit_per_user", "permission_overwrites"):
        assert one_channel(**{member: None}) == one_channel()


def test_what_is_required() -> None:
    whole = {"name": "Template", "roles": [], "channels": []}
    for member in whole:
        with refused(f"INVALID_FORMAT at template.{member}"):
            planned({name: value for name, value in whole.items() if name != member})
    with refused("INVALID_FORMAT at template.roles.0.id"):
        plan(roles=[{"name": "nameless"}])
    for member in ("id", "type", "position"):
        with refused(f"INVALID_FORMAT at template.channels.0.{member}"):
            plan(channels=[{name: value for name, value in channel(1).items() if name != member}])
    entry = {"id": 0, "type": 0, "allow": 0, "deny": 0}
    for member in entry:
        with refused(f"INVALID_FORMAT at template.channels.0.permission_overwrites.0.{member}"):
            plan(channels=[channel(1, permission_overwrites=[{n: v for n, v in entry.items() if n != member}])])


# Roles


@pytest.mark.rule("001.template-role.1")
def test_a_role_id_may_be_there_once() -> None:
    for first, second in [(1, 1), (1, "1"), ("0", 0)]:
        with refused("GUILD_TEMPLATE_INVALID"):
            plan(roles=[{"id": first}, {"id": second}])
    assert len(plan(roles=[{"id": 1}, {"id": "01"}, {"id": "11"}]).roles) == 3


@pytest.mark.rule("001.template-role.2", "001.template-role.8")
def test_what_a_role_begins_with() -> None:
    for role in ({"id": 1}, {"id": 1, "name": None}):
        [made] = plan(roles=[role]).roles
        assert (made.name, made.color, made.hoist, made.mentionable, made.permissions) == ("", 0, False, False, 0)


@pytest.mark.rule("001.template-role.3", "001.template-role.4")
def test_who_stands_for_everyone() -> None:
    named, zero, other = {"id": 7, "name": "@everyone"}, {"id": "0", "name": "zero"}, {"id": 8, "name": "@Everyone"}
    for role, mask in ((named, 1), (zero, 2), (other, 4)):
        role["permissions"] = mask | VIEW
    by_name = plan(roles=[other, zero, named])
    assert by_name.everyone == 1 | VIEW
    assert [role.name for role in by_name.roles] == ["@Everyone", "zero"]
    by_id = plan(roles=[other, zero])
    assert by_id.everyone == 2 | VIEW
    assert [role.name for role in by_id.roles] == ["@Everyone"]
    neither = plan(roles=[other])
    assert neither.everyone == DEFAULT_EVERYONE
    assert len(neither.roles) == 1
    twice = plan(roles=[named, {"id": 9, "name": "@everyone", "permissions": 8}])
    assert twice.everyone == 1 | VIEW
    assert [role.permissions for role in twice.roles] == [8]


@pytest.mark.rule("001.template-role.5")
def test_the_other_roles_keep_their_order() -> None:
    made = plan(roles=[{"id": 9, "name": "c"}, {"id": 3, "name": "@everyone"}, {"id": 1, "name": "a"}, {"id": 5}])
    assert [role.name for role in made.roles] == ["c", "a", ""]


@pytest.mark.rule("001.template-role.6", "001.template-role.7", "001.template-role.11")
def test_permissions_of_a_role() -> None:
    def mask(**members: Any) -> int:
        return plan(roles=[{"id": 1, **members}]).roles[0].permissions

    assert mask(permissions=8) == mask(permissions="8") == 8
    assert mask(permissions_new=16) == mask(permissions_new="16") == 16
    assert mask(permissions="8", permissions_new="16") == 16
    assert mask(permissions="8", permissions_new=0) == 0
    assert mask(permissions="8", permissions_new=None) == 8
    assert mask(permissions=None) == mask() == 0
    assert mask(permissions=2**64 - 1) == mask(permissions=str(2**80 - 1)) == ALL_DEFINED
    assert mask(permissions=ALL_DEFINED) & THREAD_PERMISSIONS == THREAD_PERMISSIONS


@pytest.mark.rule("001.template-role.12")
@pytest.mark.parametrize("value", ["one", "1.5", "0x1", " 1", "-1", -1, 1.5, 1e300, True, [], {}, "9" * 101])
@pytest.mark.parametrize("member", ["permissions", "permissions_new"])
def test_a_permission_value_that_is_no_integer(member: str, value: object) -> None:
    for name in ("role", "@everyone"):
        with refused("GUILD_TEMPLATE_INVALID"):
            plan(roles=[{"id": 1, "name": name, member: value}])
    entry = {"id": 0, "type": 0, "allow": 0, "deny": 0}
    for mask in ("allow", "deny"):
        with refused("GUILD_TEMPLATE_INVALID"):
            plan(channels=[channel(1, permission_overwrites=[{**entry, mask: value}])])


@pytest.mark.rule("001.template-role.9", "001.template-role.10")
def test_the_emoji_of_a_role() -> None:
    made = plan(roles=[{"id": 0, "unicode_emoji": "\N{ANCHOR}"}, {"id": 1, "unicode_emoji": "\N{SAILBOAT}"}, {"id": 2}])
    assert [role.unicode_emoji for role in made.roles] == ["\N{SAILBOAT}", None]


@pytest.mark.rule("001.template-role.13", "001.template-role.14", "001.template-role.15")
def test_the_mask_of_everyone() -> None:
    def everyone(mask: object) -> int:
        return plan(roles=[{"id": 1, "name": "@everyone", "permissions": mask}]).everyone

    assert everyone(0) == everyone("0") == everyone(1 << 63) == DEFAULT_EVERYONE
    assert everyone(SEND) == SEND | DEFAULT_THREAD_PERMISSIONS
    assert everyone(VIEW) == VIEW
    for bit in (Permission.MANAGE_THREADS, Permission.CREATE_PUBLIC_THREADS, Permission.SEND_MESSAGES_IN_THREADS):
        assert everyone(SEND | bit.value) == SEND | bit.value


# Channels


@pytest.mark.rule("001.template-channel.1")
def test_a_channel_id_may_be_there_once() -> None:
    with refused("GUILD_TEMPLATE_INVALID"):
        plan(channels=[channel(1), channel("1", 4)])
    with refused("GUILD_TEMPLATE_INVALID"):
        plan(channels=[channel(1), channel(1, 15)])


def test_what_becomes_of_a_type() -> None:
    made = {0: 0, 2: 2, 4: 4, 5: 5, 13: 2}
    rules = {kind: f"001.template-channel.{number}" for number, kind in enumerate(made, 2)}
    for kind, becomes in made.items():
        with proves(rules[kind]):
            assert one_channel(type=kind, name="x").type == becomes
    for kind in {*range(-2, 30), 998, 999, 2**40} - made.keys():
        with proves("001.template-channel.7"):
            assert [one.name for one in plan(channels=[channel(1, kind, name="x")]).channels] == ["general"]


def test_what_a_channel_begins_with() -> None:
    for nothing in ({}, {"name": None, "topic": None}):
        with proves(
            "001.template-channel.8", "001.template-channel.9", "001.template-channel.15", "001.template-channel.16"
        ):
            made = one_channel(**nothing)
            assert (made.name, made.topic, made.nsfw, made.rate_limit_per_user) == ("", None, False, 0)
    with proves("001.template-channel.9", "001.template-channel.10"):
        made = one_channel(topic="Ships", position=17, nsfw=True, rate_limit_per_user=30)
        assert (made.topic, made.position, made.nsfw, made.rate_limit_per_user) == ("Ships", 17, True, 30)
    category = one_channel(type=4, topic="Ships", rate_limit_per_user=30)
    assert (category.topic, category.rate_limit_per_user) == (None, 0)
    assert one_channel(rate_limit_per_user=100_000).rate_limit_per_user == 21_600


def test_names_of_text_channels_are_written_as_without_flexible_names() -> None:
    assert one_channel(name="The Harbour!").name == "the-harbour"
    assert one_channel(name="The Harbour!", type=5).name == "the-harbour"
    for kind in (2, 4, 13):
        assert one_channel(name=" The Harbour! ", type=kind).name == "The Harbour!"


@pytest.mark.rule("001.template-channel.11", "001.template-channel.12")
def test_which_category_holds_a_channel() -> None:
    def parent_of(**members: Any) -> int | None:
        made = plan(channels=[channel(1, 0, **members), channel("2", 4), channel(3, 2), channel(4, 4, parent_id=2)])
        assert made.channels[3].parent is None, "no category is in another one"
        return made.channels[0].parent

    assert parent_of(parent_id=2) == parent_of(parent_id="2") == 1
    assert parent_of(parent_id=4) == 3
    for elsewhere in (None, 1, 3, "77", "02"):
        assert parent_of(parent_id=elsewhere) is None
    assert parent_of() is None


@pytest.mark.rule("001.template-channel.13", "001.template-channel.14", "001.template-channel.17")
def test_voice() -> None:
    for kind in (2, 13):
        for nothing in ({}, {"bitrate": None, "user_limit": None, "voice_connection_limit": None}):
            made = one_channel(type=kind, **nothing)
            assert (made.bitrate, made.user_limit, made.voice_connection_limit) == (64_000, 0, 5)
        assert one_channel(type=kind, bitrate=96_000).bitrate == 96_000
        assert one_channel(type=kind, bitrate=96_001).bitrate == 96_000
        assert one_channel(type=kind, bitrate=1).bitrate == 8_000
        made = one_channel(type=kind, user_limit=10_000, voice_connection_limit=0)
        assert (made.user_limit, made.voice_connection_limit) == (99, 1)
    for kind in (0, 4, 5):
        made = one_channel(type=kind, bitrate=32_000, user_limit=3, voice_connection_limit=3)
        assert (made.bitrate, made.user_limit, made.voice_connection_limit) == (None, None, None)


@pytest.mark.rule("001.template-channel.18", "001.template-channel.19", "001.template-channel.20")
def test_overwrites() -> None:
    roles = [{"id": 5, "name": "@everyone"}, {"id": "6", "name": "crew"}, {"id": 0, "name": "zero"}]

    def made(*entries: tuple[Any, Any]) -> list[tuple[int | None, int]]:
        overwrites = [
            {"id": id, "type": type, "allow": str(1 << place), "deny": 1 << 63}
            for place, (id, type) in enumerate(entries)
        ]
        [one, *_] = plan(roles=roles, channels=[channel(1, permission_overwrites=overwrites)]).channels
        assert all(entry.deny == 0 for entry in one.overwrites), "an undefined bit"
        return [(entry.role, entry.allow) for entry in one.overwrites]

    for type in (0, 0.0, "0", "role", "0.0", "-0", " 0 "):
        assert made((6, type)) == [(0, 1)]
    for type in (1, 2, -1, "1", "member", "everyone", "Role", "nan", "1e400"):
        assert made((6, type)) == []
    assert made((0, 0)) == made(("0", "role")) == made((5, 0)) == [(None, 1)]
    assert made((7, 0), (6, 1)) == []
    assert made((0, 0), (7, 0), (6, 0)) == [(None, 1), (0, 4)]
    assert made((0, 0), (5, 0)) == [(None, 2)], "of several for one role the last"
    for type in (None, True, 0.5, [], {}):
        with refused("INVALID_FORMAT at template.channels.0.permission_overwrites.0.type"):
            made((6, type))


def test_masks_of_skipped_overwrites_do_not_matter() -> None:
    entries = [{"id": 0, "type": 1, "allow": "junk", "deny": -1}, {"id": 77, "type": 0, "allow": {}, "deny": []}]
    assert one_channel(permission_overwrites=entries).overwrites == ()
    assert one_channel(
        permission_overwrites=[*entries, {"id": 0, "type": 0, "allow": VIEW, "deny": str(SEND)}]
    ).overwrites == (PlannedOverwrite(None, VIEW, SEND),)


def test_very_many_overwrites_are_refused() -> None:
    entry = {"id": 0, "type": 0, "allow": 0, "deny": 0}
    assert one_channel(permission_overwrites=[entry] * 1_000).overwrites
    with refused("INVALID_FORMAT at template.channels.0.permission_overwrites"):
        one_channel(permission_overwrites=[entry] * 1_001)
