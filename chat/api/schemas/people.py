"""Profiles (accounts.md, Profiles) and calls (people.md, Calls)."""

from __future__ import annotations

from typing import Final

from chat.api.schemas.accounts import PARTIAL_USER
from chat.api.schemas.guilds.guilds import MEMBER
from chat.api.schemas.shapes import (
    ASSET,
    BOOLEAN,
    COLOR,
    COUNT,
    INTEGER,
    SNOWFLAKE,
    TEXT,
    TIMESTAMP,
    TRUE,
    listed,
    nullable,
    record,
    wire_object,
)

WORDS: Final = {
    "bio": nullable(TEXT),
    "pronouns": nullable(TEXT),
    "banner": nullable(ASSET),
    "accent_color": nullable(COLOR),
}

PROFILE: Final = wire_object(
    "Profile",
    {
        "user": PARTIAL_USER,
        "user_profile": record({**WORDS, "banner_color": nullable(COLOR)}),
        "timezone_offset": nullable(INTEGER),
    },
    optional={
        "guild_member": MEMBER,
        "guild_member_profile": record(WORDS),
        "premium_type": COUNT,
        "premium_since": TIMESTAMP,
        "premium_lifetime_sequence": INTEGER,
        "mutual_friends": listed(PARTIAL_USER),
        "mutual_guilds": listed(record({"id": SNOWFLAKE, "nick": nullable(TEXT)})),
        "connected_accounts": listed(record({})),
        "profile_limited": TRUE,
    },
    description="An account's profile; `profile_limited` where the account does not show it to the caller.",
)


CALL_ELIGIBILITY: Final = wire_object("CallEligibility", {"ringable": BOOLEAN, "silent": BOOLEAN})
