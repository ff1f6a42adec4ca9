"""Request bodies about signing in, the own account, its settings and other people, valid and invalid (accounts.md, User
settings).

In a body an empty string counts as null, and so does an object that holds nothing but nulls (http.md, Empty values).
"""

from __future__ import annotations

import datetime
from typing import Any

from hypothesis import strategies as st

from chat.testing.strategies.values import (
    Body,
    all_but,
    broken,
    invalid_snowflakes,
    names,
    one_broken,
    snowflakes,
    wrong_type,
)

USERNAMES = st.from_regex(r"[A-Za-z][A-Za-z0-9_]{1,30}[A-Za-z0-9]", fullmatch=True)
BIRTHDAYS = st.dates(datetime.date(1920, 1, 1), datetime.date(2000, 12, 31))
PASSWORDS = st.text(st.characters(min_codepoint=33, max_codepoint=126), min_size=16, max_size=64)

STATUSES = st.sampled_from(["online", "idle", "dnd", "invisible"])
MOMENTS = st.integers(2030, 2990).map(lambda year: f"{year}-06-01T12:00:00.000Z")
COLORS = st.integers(0, 0xFFFFFF)
ID_LISTS = st.lists(snowflakes(), max_size=5)

_NO_COLORS = st.integers(max_value=-1) | st.integers(min_value=0x1000000) | wrong_type(int, type(None))
_NO_BOOLEANS = wrong_type(bool, type(None))


def registrations() -> st.SearchStrategy[Body]:
    """POST /v1/auth/register on an e-mail instance."""
    return st.fixed_dictionaries(
        {
            "email": USERNAMES.map(lambda name: f"{name.lower()}@example.com"),
            "username": USERNAMES,
            "password": PASSWORDS,
            "date_of_birth": BIRTHDAYS.map(lambda day: day.isoformat()),
            "consent": st.just(True),
        },
        optional={"global_name": names()},
    )


def invalid_registrations() -> st.SearchStrategy[Any]:
    """The same, refused with INVALID_FORM_BODY."""
    no_text = wrong_type(str, type(None))
    wrong = {
        "email": st.sampled_from(["@", "no address", "a@b@c"]) | no_text,
        "username": st.sampled_from(["with space", "ümlaut", "x" * 33]) | no_text,
        "password": st.sampled_from(["short", "x" * 257]) | no_text,
        "date_of_birth": st.sampled_from(["1990", "1990-13-01", "tomorrow"]),
    }
    return all_but(dict) | one_broken(registrations(), wrong)


def login_bodies(email: str, password: str) -> st.SearchStrategy[Body]:
    """POST /v1/auth/login that succeeds, in any letter case of the address."""
    return st.sampled_from([email, email.upper(), email.title()]).map(
        lambda written: {"email": written, "password": password}
    )


def invalid_login_bodies() -> st.SearchStrategy[Any]:
    """The same, refused with INVALID_FORM_BODY before accounts are looked at."""
    whole = st.just({"email": "a@example.com", "password": "a good password"})
    return st.one_of(
        all_but(dict),
        broken(whole, "email", wrong_type(str)),
        broken(whole, "password", wrong_type(str)),
        st.sampled_from([{}, {"email": "a@example.com"}, {"password": "a good password"}]),
    )


def relationship_bodies() -> st.SearchStrategy[Body]:
    """POST /v1/_dev/relationships."""
    return st.fixed_dictionaries({"user_id": snowflakes(), "target_user_id": snowflakes(), "type": st.integers(1, 4)})


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
            "person_notifications": st.dictionaries(snowflakes(), st.sampled_from([0, 2]), max_size=3),
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
        st.fixed_dictionaries({"person_notifications": st.sampled_from([[], {"5": 1}, {"5": "0"}, {"x": 0}])}),
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
