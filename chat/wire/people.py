"""Profiles (accounts.md, Profiles) and calls (people.md, Calls)."""

from __future__ import annotations

from typing import Annotated, Literal, NotRequired, TypedDict

from chat.wire.accounts import PartialUser
from chat.wire.guilds import Member
from chat.wire.values import Asset, Color, Count, Nameless, Snowflake, Timestamp, items


class UserProfile(Nameless):
    bio: str | None
    """What the holder writes about themselves, up to 320 characters; null for nothing."""
    pronouns: str | None
    """How the holder wants to be spoken of, up to 40 characters; null for nothing."""
    banner: Asset | None
    """The wide picture: the hash of a stored picture, or a data address where it is sent; null for none."""
    accent_color: Color | None
    """The colour that the account chose for its profile, as a number of 24 bits; null for none."""
    banner_color: Color | None
    """The colour in place of a banner, as a number of 24 bits; null for none."""


class GuildMemberProfile(Nameless):
    bio: str | None
    """What the holder writes about themselves, up to 320 characters; null for nothing."""
    pronouns: str | None
    """How the holder wants to be spoken of, up to 40 characters; null for nothing."""
    banner: Asset | None
    """The wide picture: the hash of a stored picture, or a data address where it is sent; null for none."""
    accent_color: Color | None
    """The colour that the account chose for its profile, as a number of 24 bits; null for none."""


class MutualGuild(Nameless):
    id: Snowflake
    """Id of the object, as a decimal number in text."""
    nick: str | None
    """The name of the member in this guild; null for the account's own."""


class ConnectedAccount(Nameless):
    pass


class Profile(TypedDict):
    """An account's profile; `profile_limited` where the account does not show it to the caller."""

    user: PartialUser
    """The account it is about."""
    user_profile: UserProfile
    """What the profile says everywhere."""
    timezone_offset: int | None
    """Minutes by which the holder's clock differs from UTC; null where it is not shown."""
    guild_member: NotRequired[Member]
    """The account as a member of the guild that was asked about."""
    guild_member_profile: NotRequired[GuildMemberProfile]
    """What the profile shows in that guild alone."""
    premium_type: NotRequired[Count]
    """Which premium the account has; 0 for none."""
    premium_since: NotRequired[Timestamp]
    """Since when the account has premium; null without it."""
    premium_lifetime_sequence: NotRequired[int]
    """The number of a lifetime purchase; null without one."""
    mutual_friends: NotRequired[list[PartialUser]]
    """Accounts that are friends of both."""
    mutual_guilds: NotRequired[list[MutualGuild]]
    """Guilds that both are in."""
    connected_accounts: NotRequired[list[ConnectedAccount]]
    """Accounts elsewhere that the holder shows; there are none here."""
    claim: NotRequired[Literal["open", "requested"]]
    """For a person of an import into the guild whom nobody has claimed: `requested` where the caller has said that they
    are that person."""
    old_names: NotRequired[Annotated[list[PartialUser], items(50)]]
    """In the caller's own profile: people of an import into the guild that the caller has claimed."""
    profile_limited: NotRequired[Literal[True]]
    """True where the holder shows strangers only a part."""


class CallEligibility(TypedDict):
    ringable: bool
    """Whether calling rings at the other side."""
    silent: bool
    """Whether a call would not ring."""


class IgnoreRequestsAnswer(Nameless):
    ignored_count: Count
    """How many requests were ignored."""
