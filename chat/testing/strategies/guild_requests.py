"""Request bodies of guilds, their templates, threads and forums, valid and invalid (guilds.md, Guild object, Creation
template; threads.md, Thread object)."""

from __future__ import annotations

from typing import Any, Final

from hypothesis import strategies as st

from chat.registries.permissions import ALL_DEFINED, Permission
from chat.testing.strategies.values import (
    Body,
    all_but,
    broken,
    invalid_snowflakes,
    names,
    one_broken,
    texts,
    words,
    wrong_type,
)


def guild_bodies() -> st.SearchStrategy[Body]:
    """POST /v1/guilds."""
    return st.fixed_dictionaries({"name": names(1, 100)}, optional={"icon": st.none()})


def invalid_guild_bodies() -> st.SearchStrategy[Any]:
    """The same, refused with INVALID_FORM_BODY."""
    return st.one_of(
        all_but(dict), st.just({}), broken(guild_bodies(), "name", wrong_type(str) | st.sampled_from(["", "x" * 101]))
    )


def invite_bodies() -> st.SearchStrategy[Body]:
    """POST /v1/channels/{channel_id}/invites."""
    return st.fixed_dictionaries(
        {},
        optional={
            "max_age": st.integers(0, 604_800),
            "max_uses": st.integers(0, 100),
            "unique": st.booleans(),
            "temporary": st.booleans(),
        },
    )


def invalid_invite_bodies() -> st.SearchStrategy[Any]:
    """The same, refused with INVALID_FORM_BODY."""
    return st.one_of(
        broken(invite_bodies(), "max_age", st.sampled_from([-1, 604_801, "many", [], {"a": 1}])),
        broken(invite_bodies(), "max_uses", st.sampled_from([-1, 101, "many", [], {"a": 1}])),
    )


def accept_invite_paths(codes: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    """POST /v1/invites/{code}."""
    return codes.map(lambda code: f"/v1/invites/{code}")


# Templates

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


def template_roles() -> st.SearchStrategy[Body]:
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


def template_overwrites() -> st.SearchStrategy[Body]:
    """An entry of a channel's `permission_overwrites`; some are skipped."""
    return st.fixed_dictionaries(
        {
            "id": template_ids(16),
            "type": st.sampled_from([0, 1, 2, "0", "1", "role", "member", "0.0", "someone"]),
            "allow": template_masks(),
            "deny": template_masks(),
        }
    )


def template_channels() -> st.SearchStrategy[Body]:
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


def guild_templates() -> st.SearchStrategy[Body]:
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
    of_template: dict[str, st.SearchStrategy[Any]] = {
        "name": wrong_type(str),
        "roles": wrong_type(list),
        "channels": wrong_type(list),
        "verification_level": wrong_type(int, float),
        "default_message_notifications": wrong_type(int, float),
        "explicit_content_filter": wrong_type(int, float),
        "afk_timeout": wrong_type(int, float),
        "system_channel_flags": wrong_type(int),
        "system_channel_id": wrong_type(int, str) | st.sampled_from([-1, "one", "1.0", "9" * 101]),
    }
    of_role: dict[str, st.SearchStrategy[Any]] = {
        "id": wrong_type(int, str) | st.sampled_from([-1, "one"]),
        "name": wrong_type(str) | st.just("x" * 101),
        "color": wrong_type(int) | st.sampled_from([-1, 0x1000000]),
        "hoist": wrong_type(bool),
        "mentionable": wrong_type(bool),
        "unicode_emoji": wrong_type(str) | st.just("x" * 101),
    }
    of_channel: dict[str, st.SearchStrategy[Any]] = {
        "id": wrong_type(int, str),
        "type": wrong_type(int),
        "name": wrong_type(str) | st.just("x" * 101),
        "topic": wrong_type(str) | st.just("x" * 1_025),
        "position": wrong_type(int) | st.sampled_from([-1, 2**31]),
        "parent_id": wrong_type(int, str),
        "bitrate": wrong_type(int),
        "user_limit": wrong_type(int),
        "voice_connection_limit": wrong_type(int),
        "nsfw": wrong_type(bool),
        "rate_limit_per_user": wrong_type(int),
        "permission_overwrites": wrong_type(list) | wrong_type(dict).map(lambda entry: [entry]),
    }
    return st.one_of(
        st.builds(lambda template, name: {k: v for k, v in template.items() if k != name}, guild_templates(), required),
        one_broken(guild_templates(), of_template),
        *(_with_role(member, values) for member, values in of_role.items()),
        *(_with_channel(member, values) for member, values in of_channel.items()),
    )


def invalid_guild_templates() -> st.SearchStrategy[Body]:
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


def _local_id(one: Body) -> str:
    return str(one["id"])


def _with_item(template: Body, kind: str, item: Body) -> Body:
    return {**template, kind: [*template[kind], item]}


def _with_role(
    member: str, values: st.SearchStrategy[Any], without: set[str] | frozenset[str] = frozenset()
) -> st.SearchStrategy[Body]:
    role = template_roles().map(lambda one: {k: v for k, v in one.items() if k not in without} | {"id": 99})
    return st.builds(
        lambda template, one, value: _with_item(template, "roles", {**one, member: value}),
        guild_templates(),
        role,
        values,
    )


def _with_channel(member: str, values: st.SearchStrategy[Any]) -> st.SearchStrategy[Body]:
    channel = template_channels().map(lambda one: {**one, "id": 99})
    return st.builds(
        lambda template, one, value: _with_item(template, "channels", {**one, member: value}),
        guild_templates(),
        channel,
        values,
    )


# Threads, posts and forums

ARCHIVE_MINUTES: Final = st.sampled_from([60, 1_440, 4_320, 10_080])
SLOWMODES: Final = st.integers(0, 21_600)
WRONG_MINUTES: Final = st.sampled_from([0, 61, -60, 60.5, "60", True])
WRONG_SLOWMODES: Final = st.sampled_from([-1, 21_601, 1.5, "5", False])
NO_BOOLEANS: Final = wrong_type(bool, type(None))
WRONG_NAMES: Final = all_but(str) | st.just("x" * 101) | st.just("")


def thread_starts() -> st.SearchStrategy[Body]:
    """POST /v1/channels/{channel_id}/threads in a text channel."""
    return st.fixed_dictionaries(
        {"name": names(1, 100)},
        optional={
            "type": st.sampled_from([11, 12, None]),
            "auto_archive_duration": ARCHIVE_MINUTES | st.none(),
            "rate_limit_per_user": SLOWMODES | st.none(),
            "invitable": st.booleans(),
        },
    )


def invalid_thread_starts() -> st.SearchStrategy[Any]:
    """Bodies that the server refuses as threads."""
    return one_broken(
        st.just({"name": "aside"}),
        {
            "name": WRONG_NAMES,
            "type": st.sampled_from([0, 5, 15, -1, "11", 11.5, True]),
            "auto_archive_duration": WRONG_MINUTES,
            "rate_limit_per_user": WRONG_SLOWMODES,
            "invitable": NO_BOOLEANS,
        },
    )


def posts() -> st.SearchStrategy[Body]:
    """POST /v1/channels/{channel_id}/threads in a forum that asks for no tags."""
    message = st.fixed_dictionaries({"content": names(1, 100)}, optional={"flags": st.sampled_from([0, 1 << 2])})
    return st.fixed_dictionaries(
        {"name": names(1, 100), "message": message},
        optional={
            "applied_tags": st.just([]) | st.none(),
            "auto_archive_duration": ARCHIVE_MINUTES,
            "rate_limit_per_user": SLOWMODES,
        },
    )


def invalid_posts() -> st.SearchStrategy[Any]:
    """Bodies that the server refuses as posts of a forum."""
    wrong_tags = st.lists(invalid_snowflakes(), min_size=1, max_size=2)
    return one_broken(
        st.just({"name": "a post", "message": {"content": "x"}}),
        {
            "name": WRONG_NAMES,
            "message": all_but(dict) | st.just({"content": "x" * 4_001}) | st.just({"content": 5}),
            "applied_tags": wrong_tags | wrong_type(list, type(None)) | st.just([str(tag) for tag in range(1, 7)]),
            "auto_archive_duration": WRONG_MINUTES,
        },
    )


def thread_changes() -> st.SearchStrategy[Body]:
    """PATCH /v1/channels/{channel_id} of an active thread, by a moderator; whether it is archived is left alone."""
    return st.fixed_dictionaries(
        {},
        optional={
            "name": names(1, 100),
            "locked": st.booleans(),
            "auto_archive_duration": ARCHIVE_MINUTES,
            "rate_limit_per_user": SLOWMODES,
            "invitable": st.booleans(),
            "archived": st.just(False),
        },
    )


def invalid_thread_changes() -> st.SearchStrategy[Any]:
    """What no thread can become."""
    return one_broken(
        st.just({}),
        {
            "name": all_but(str) | st.just("x" * 101),
            "locked": NO_BOOLEANS,
            "archived": NO_BOOLEANS,
            "auto_archive_duration": WRONG_MINUTES,
            "rate_limit_per_user": WRONG_SLOWMODES,
            "flags": st.sampled_from([-1, 1 << 31, "2", 2.5, True]),
        },
    )


def forum_fields() -> st.SearchStrategy[Body]:
    """PATCH /v1/channels/{channel_id} of a forum: what only forums have."""
    tag = st.fixed_dictionaries(
        {"name": names(1, 20)},
        optional={"moderated": st.booleans(), "emoji_name": st.sampled_from(["\N{SNOWMAN}", "\N{CAT}"])},
    )
    return st.fixed_dictionaries(
        {},
        optional={
            "available_tags": st.lists(tag, max_size=6, unique_by=lambda made: str(made["name"]).strip().casefold()),
            "default_reaction_emoji": st.none() | st.just({"emoji_name": "\N{SNOWMAN}"}),
            "default_sort_order": st.sampled_from([0, 1, None]),
            "default_forum_layout": st.sampled_from([0, 1, 2, None]),
            "default_tag_setting": st.sampled_from(["match_all", "match_some", None]),
            "default_auto_archive_duration": ARCHIVE_MINUTES | st.none(),
            "default_thread_rate_limit_per_user": SLOWMODES | st.none(),
        },
    )


def invalid_forum_fields() -> st.SearchStrategy[Any]:
    """What no forum can have."""
    return one_broken(
        st.just({}),
        {
            "available_tags": st.sampled_from(
                [[{"name": ""}], [{"name": "x" * 21}], [{"name": "x"}, {"name": "X"}], [{}], ["x"], {"name": "x"}]
            ),
            "default_reaction_emoji": st.sampled_from([{"emoji_id": "x"}, {"emoji_id": "5"}, "x", 5]),
            "default_sort_order": st.sampled_from([2, -1, "0", 0.5]),
            "default_forum_layout": st.sampled_from([3, -1, "0", 0.5]),
            "default_tag_setting": st.sampled_from(["match_none", 0, True]),
            "default_auto_archive_duration": WRONG_MINUTES,
            "default_thread_rate_limit_per_user": WRONG_SLOWMODES,
        },
    )
