"""Guild creation templates, valid and invalid (guilds.md, Creation template)."""

from __future__ import annotations

from typing import Any, Final

from hypothesis import strategies as st

from chat.registries.permissions import ALL_DEFINED, Permission
from chat.testing.strategies.values import all_but, names, texts, words

Template = dict[str, Any]

CREATED_TYPES: Final = (0, 2, 4, 5, 13)
"""Channel types that become a channel."""

OTHER_TYPES: Final = (1, 3, 6, 10, 14, 15, 16, 998, -1, 2**40)


def template_masks() -> st.SearchStrategy[str | int]:
    """Permission values: decimal strings and integers, with defined bits and others."""
    numbers = st.integers(0, 2**63 - 1) | st.sampled_from(
        [0, ALL_DEFINED, Permission.SEND_MESSAGES.value, Permission.MANAGE_THREADS.value | Permission.SEND_MESSAGES]
    )
    return numbers.map(int) | numbers.map(lambda number: str(int(number))) | st.just("9" * 60)


def template_ids(most: int = 12) -> st.SearchStrategy[str | int]:
    """Local identifiers, either as digits or as integers."""
    return st.integers(0, most).flatmap(lambda number: st.sampled_from([number, str(number)]))


def template_roles() -> st.SearchStrategy[Template]:
    """A role of a template."""
    return st.fixed_dictionaries(
        {"id": template_ids()},
        optional={
            "name": st.none() | names(1, 100) | st.just("@everyone"),
            "permissions": template_masks(),
            "permissions_new": template_masks(),
            "color": st.integers(0, 0xFFFFFF),
            "hoist": st.booleans(),
            "mentionable": st.booleans(),
            "unicode_emoji": st.none() | st.sampled_from(["\N{ANCHOR}", "\N{SHIP}\N{VARIATION SELECTOR-16}"]),
        },
    )


def template_overwrites() -> st.SearchStrategy[Template]:
    """An entry of a channel's `permission_overwrites`; some are skipped."""
    return st.fixed_dictionaries(
        {
            "id": template_ids(16),
            "type": st.sampled_from([0, 1, 2, "0", "1", "role", "member", "0.0", "someone"]),
            "allow": template_masks(),
            "deny": template_masks(),
        }
    )


def template_channels() -> st.SearchStrategy[Template]:
    """A channel of a template; some types create nothing."""
    return st.fixed_dictionaries(
        {
            "id": template_ids(),
            "type": st.sampled_from(CREATED_TYPES) | st.sampled_from(OTHER_TYPES),
            "position": st.integers(0, 600),
        },
        optional={
            "name": st.none() | names(1, 100) | st.sampled_from(["The Harbour!", "general", "\u2603 chat"]),
            "topic": st.none() | words(1, 200),
            "parent_id": st.none() | template_ids(),
            "bitrate": st.none() | st.integers(-10, 400_000),
            "user_limit": st.none() | st.integers(-10, 10_000),
            "voice_connection_limit": st.none() | st.integers(-10, 10_000),
            "nsfw": st.booleans(),
            "rate_limit_per_user": st.integers(-10, 100_000),
            "permission_overwrites": st.lists(template_overwrites(), max_size=4),
        },
    )


def guild_templates() -> st.SearchStrategy[Template]:
    """A template that makes a guild."""
    numbers = st.integers(-5, 2**53) | st.floats(-1e6, 1e6)
    return st.fixed_dictionaries(
        {
            "name": names(1, 50),
            "roles": st.lists(template_roles(), max_size=8, unique_by=_local_id),
            "channels": st.lists(template_channels(), max_size=10, unique_by=_local_id),
        },
        optional={
            "description": st.none() | texts(1, 50),
            "verification_level": numbers,
            "default_message_notifications": numbers,
            "explicit_content_filter": numbers,
            "system_channel_id": st.none() | template_ids(),
            "afk_timeout": numbers,
            "system_channel_flags": st.integers(-(2**31), 2**31),
            "icon_hash": st.none() | texts(1, 20) | st.lists(st.integers(0, 9), max_size=2),
        },
    )


def malformed_guild_templates() -> st.SearchStrategy[Any]:
    """A template refused with INVALID_FORM_BODY."""
    required = st.sampled_from(["name", "roles", "channels"])
    return st.one_of(
        st.builds(lambda template, name: {k: v for k, v in template.items() if k != name}, guild_templates(), required),
        _broken("name", _no(str)),
        _broken("roles", _no(list)),
        _broken("channels", _no(list)),
        _broken("verification_level", _no(int, float)),
        _broken("default_message_notifications", _no(int, float)),
        _broken("explicit_content_filter", _no(int, float)),
        _broken("afk_timeout", _no(int, float)),
        _broken("system_channel_flags", _no(int)),
        _broken("system_channel_id", _no(int, str) | st.sampled_from([-1, "one", "1.0", "9" * 101])),
        _with_role("id", _no(int, str) | st.sampled_from([-1, "one"])),
        _with_role("name", _no(str) | st.just("x" * 101)),
        _with_role("color", _no(int) | st.sampled_from([-1, 0x1000000])),
        _with_role("hoist", _no(bool)),
        _with_role("mentionable", _no(bool)),
        _with_role("unicode_emoji", _no(str) | st.just("x" * 101)),
        _with_channel("id", _no(int, str)),
        _with_channel("type", _no(int)),
        _with_channel("name", _no(str) | st.just("x" * 101)),
        _with_channel("topic", _no(str) | st.just("x" * 1_025)),
        _with_channel("position", _no(int) | st.sampled_from([-1, 2**31])),
        _with_channel("parent_id", _no(int, str)),
        _with_channel("bitrate", _no(int)),
        _with_channel("user_limit", _no(int)),
        _with_channel("voice_connection_limit", _no(int)),
        _with_channel("nsfw", _no(bool)),
        _with_channel("rate_limit_per_user", _no(int)),
        _with_channel("permission_overwrites", _no(list) | _no(dict).map(lambda entry: [entry])),
    )


def invalid_guild_templates() -> st.SearchStrategy[Template]:
    """A well-formed template refused with GUILD_TEMPLATE_INVALID."""
    masks = st.sampled_from([-1, "-1", "1.5", "one", "0x10", " 1", 1.5, True, "9" * 101, [1], {"mask": 1}])
    numbered = st.integers(1, 40)
    return st.one_of(
        _with_role("permissions", masks, {"permissions_new"}),
        _with_role("permissions_new", masks),
        st.builds(
            lambda template, name, value: _with_item(
                template,
                "channels",
                {
                    "id": 99,
                    "type": 0,
                    "position": 0,
                    "permission_overwrites": [{"id": 0, "type": 0, "allow": "0", "deny": 0, name: value}],
                },
            ),
            guild_templates(),
            st.sampled_from(["allow", "deny"]),
            masks,
        ),
        st.builds(
            lambda template, more: {**template, "roles": [{"id": number} for number in range(250 + more)]},
            guild_templates(),
            numbered,
        ),
        st.builds(
            lambda template, more: {
                **template,
                "channels": [{"id": number, "type": 0, "position": 0} for number in range(500 + more)],
            },
            guild_templates(),
            numbered,
        ),
        guild_templates().map(lambda template: {**template, "roles": [{"id": 5}, {"id": "5", "name": "again"}]}),
        guild_templates().map(
            lambda template: {
                **template,
                "channels": [{"id": "5", "type": 4, "position": 0}, {"id": 5, "type": 15, "position": 1}],
            }
        ),
    )


def _local_id(one: Template) -> str:
    return str(one["id"])


def _no(*kinds: type) -> st.SearchStrategy[Any]:
    """JSON values of no such type, which do not become null either: that is as if they were missing."""
    return all_but(*kinds).filter(lambda value: not _becomes_null(value))


def _becomes_null(value: Any) -> bool:
    if isinstance(value, dict):
        return all(_becomes_null(member) for member in value.values())
    return value is None or value == ""


def _broken(member: str, values: st.SearchStrategy[Any]) -> st.SearchStrategy[Template]:
    return st.builds(lambda template, value: {**template, member: value}, guild_templates(), values)


def _with_item(template: Template, kind: str, item: Template) -> Template:
    return {**template, kind: [*template[kind], item]}


def _with_role(
    member: str, values: st.SearchStrategy[Any], without: set[str] | frozenset[str] = frozenset()
) -> st.SearchStrategy[Template]:
    role = template_roles().map(lambda one: {k: v for k, v in one.items() if k not in without} | {"id": 99})
    return st.builds(
        lambda template, one, value: _with_item(template, "roles", {**one, member: value}),
        guild_templates(),
        role,
        values,
    )


def _with_channel(member: str, values: st.SearchStrategy[Any]) -> st.SearchStrategy[Template]:
    channel = template_channels().map(lambda one: {**one, "id": 99})
    return st.builds(
        lambda template, one, value: _with_item(template, "channels", {**one, member: value}),
        guild_templates(),
        channel,
        values,
    )
