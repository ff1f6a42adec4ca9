"""Request bodies about the own account, its settings and other people, valid and invalid (accounts.md, User
settings)."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from chat.testing.strategies.values import all_but, invalid_snowflakes, is_there, names, snowflakes

Body = dict[str, Any]

STATUSES = st.sampled_from(["online", "idle", "dnd", "invisible"])
MOMENTS = st.integers(2030, 2990).map(lambda year: f"{year}-06-01T12:00:00.000Z")
COLORS = st.integers(0, 0xFFFFFF)
ID_LISTS = st.lists(snowflakes(), max_size=5)

_NO_COLORS = st.integers(max_value=-1) | st.integers(min_value=0x1000000) | all_but(int, type(None)).filter(is_there)
_NO_BOOLEANS = all_but(bool, type(None)).filter(is_there)


def custom_statuses() -> st.SearchStrategy[Body]:
    """`custom_status` of the settings."""
    return st.fixed_dictionaries(
        {"text": names(1, 128)},
        optional={
            "expires_at": st.none() | MOMENTS,
            "emoji_id": st.none() | snowflakes(),
            "emoji_name": st.none() | st.sampled_from(["🍜", "wave"]),
        },
    )


def guild_folders() -> st.SearchStrategy[Body]:
    """One entry of `guild_folders`."""
    return st.fixed_dictionaries(
        {"id": st.integers(-1, 1 << 30)},
        optional={
            "name": st.none() | names(1, 100),
            "color": st.none() | COLORS,
            "flags": st.integers(0, 7),
            "guild_ids": ID_LISTS,
        },
    )


def settings_bodies() -> st.SearchStrategy[Body]:
    """PATCH /v1/users/@me/settings."""
    return st.fixed_dictionaries(
        {},
        optional={
            "status": STATUSES,
            "status_resets_at": st.none() | MOMENTS,
            "status_resets_to": st.none() | STATUSES,
            "theme": st.sampled_from(["dark", "dark_legacy", "coal", "light", "system"]),
            "locale": st.sampled_from(["de", "en-GB", "zh-Hant-TW"]),
            "restricted_guilds": ID_LISTS,
            "default_guilds_restricted": st.booleans(),
            "animate_stickers": st.integers(0, 2),
            "friend_source_flags": st.integers(0, 7),
            "group_dm_add_permission_flags": st.integers(0, 63),
            "guild_folders": st.lists(guild_folders(), max_size=3),
            "guild_positions": st.lists(snowflakes(), max_size=3),
            "custom_status": st.none() | custom_statuses(),
            "afk_timeout": st.integers(0, 3_600),
            "trusted_domains": st.lists(st.sampled_from(["*", "example.com"]), max_size=2),
            "profile_privacy": st.integers(0, 2),
            "synced_preferences": st.text("ABCabc012+/", max_size=100),
        },
    )


def invalid_settings_bodies() -> st.SearchStrategy[Body]:
    """The same, refused with INVALID_FORM_BODY."""
    return st.one_of(
        st.fixed_dictionaries({"status": st.sampled_from(["offline", "unknown", 5, None])}),
        st.fixed_dictionaries({"theme": names().filter(lambda name: name not in ("dark", "coal", "light", "system"))}),
        st.fixed_dictionaries({"locale": st.sampled_from(["", "x", "not a language", "de_DE", "e" * 40])}),
        st.fixed_dictionaries({"developer_mode": _NO_BOOLEANS}),
        st.fixed_dictionaries({"animate_stickers": st.integers(min_value=3) | st.integers(max_value=-1)}),
        st.fixed_dictionaries({"restricted_guilds": st.lists(invalid_snowflakes(), min_size=1, max_size=3)}),
        st.fixed_dictionaries({"guild_folders": st.lists(all_but(dict), min_size=1, max_size=2)}),
        st.fixed_dictionaries({"custom_status": st.fixed_dictionaries({"text": st.just("x" * 129)})}),
        st.fixed_dictionaries(
            {"custom_status": st.just({"text": "over already", "expires_at": "2001-01-01T00:00:00Z"})}
        ),
    )


def guild_settings_bodies() -> st.SearchStrategy[Body]:
    """PATCH /v1/users/@me/guilds/{guild_id}/settings, and the same for conversations outside of guilds."""
    mute_config = st.none() | st.fixed_dictionaries(
        {"selected_time_window": st.integers(-1, 1 << 30)}, optional={"end_time": st.none() | MOMENTS}
    )
    override = st.fixed_dictionaries(
        {}, optional={"collapsed": st.booleans(), "muted": st.booleans(), "mute_config": mute_config}
    )
    return st.fixed_dictionaries(
        {},
        optional={
            "message_notifications": st.integers(0, 3),
            "muted": st.booleans(),
            "mute_config": mute_config,
            "mobile_push": st.booleans(),
            "suppress_everyone": st.booleans(),
            "channel_overrides": st.none() | st.dictionaries(snowflakes(), override, max_size=3),
        },
    )


def invalid_guild_settings_bodies() -> st.SearchStrategy[Body]:
    """The same, refused with INVALID_FORM_BODY."""
    return st.one_of(
        st.fixed_dictionaries({"message_notifications": st.integers(min_value=4) | st.integers(max_value=-1)}),
        st.fixed_dictionaries({"muted": _NO_BOOLEANS}),
        st.fixed_dictionaries({"channel_overrides": st.just({"a channel": {"muted": True}})}),
    )


def profile_bodies() -> st.SearchStrategy[Body]:
    """What PATCH /v1/users/@me and PATCH /v1/guilds/{guild_id}/members/@me take alike."""
    return st.fixed_dictionaries(
        {},
        optional={
            "bio": st.none() | names(1, 320),
            "pronouns": st.none() | names(1, 40),
            "accent_color": st.none() | COLORS,
            "avatar": st.none(),
            "banner": st.none(),
            "mention_flags": st.sampled_from([0, 1, 2]),
        },
    )


def invalid_profile_bodies() -> st.SearchStrategy[Body]:
    """The same, refused with INVALID_FORM_BODY."""
    return st.one_of(
        st.fixed_dictionaries({"bio": st.just("x" * 321) | all_but(str, type(None), dict)}),
        st.fixed_dictionaries({"pronouns": st.just("x" * 41)}),
        st.fixed_dictionaries({"accent_color": _NO_COLORS}),
        st.fixed_dictionaries({"avatar": st.sampled_from(["no image", "data:image/png;base64,AAAA"])}),
    )


def friendship_changes() -> st.SearchStrategy[Body]:
    """PATCH /v1/users/@me/relationships/{user_id}."""
    changes = st.fixed_dictionaries(
        {}, optional={"nickname": st.none() | names(1, 256), "share_voice_activity": st.booleans()}
    )
    return changes.filter(bool)


def note_bodies() -> st.SearchStrategy[Body]:
    """PUT /v1/users/@me/notes/{user_id}."""
    return st.fixed_dictionaries({"note": st.none() | names(1, 256)})
