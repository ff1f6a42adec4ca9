"""Guilds and what belongs to them (guilds.md, Guild object)."""

from __future__ import annotations

from typing import Annotated, NotRequired, TypedDict

from chat.registries.guild_values import (
    DefaultMessageNotifications,
    GuildExplicitContentFilter,
    JoinSource,
    MfaLevel,
    NsfwLevel,
    SplashCardAlignment,
    VerificationLevel,
)
from chat.wire.accounts import PartialUser
from chat.wire.channels import GuildChannel
from chat.wire.values import Asset, Bits, Color, Count, Nameless, Snowflake, Timestamp, items, length, one_of


class NamedGuild(TypedDict):
    id: Snowflake
    """Id of the guild."""
    name: Annotated[str, length(100)]
    """The name that people read."""


class GuildImages(TypedDict):
    icon: Asset | None
    """The picture of the thing: the hash of a stored picture, or a data address where it is sent; null for none."""
    banner: Asset | None
    """The wide picture: the hash of a stored picture, or a data address where it is sent; null for none."""
    banner_width: Count | None
    """Width of the banner in pixels; null without one."""
    banner_height: Count | None
    """Height of the banner in pixels; null without one."""
    splash: Asset | None
    """The picture behind the guild's invites, as a hash or a data address; null for none."""
    splash_width: Count | None
    """Width of that picture in pixels; null without one."""
    splash_height: Count | None
    """Height of that picture in pixels; null without one."""
    splash_card_alignment: Annotated[int, one_of(SplashCardAlignment)]
    """Where the card stands on that picture: 0 in the middle, 1 left, 2 right."""
    embed_splash: Asset | None
    """The picture on the guild's invites elsewhere, as a hash or a data address; null for none."""
    embed_splash_width: Count | None
    """Width of that picture in pixels; null without one."""
    embed_splash_height: Count | None
    """Height of that picture in pixels; null without one."""


class Guild(NamedGuild, GuildImages):
    vanity_url_code: str | None
    """The guild's own invite code; null for none."""
    owner_id: Snowflake
    """Id of the account that it belongs to."""
    system_channel_id: Snowflake | None
    """The channel for notices such as new members; null for none."""
    system_channel_flags: Count
    """Which notices are left out of the system channel, as a number of bits."""
    rules_channel_id: Snowflake | None
    """The channel with the guild's rules; null for none."""
    afk_channel_id: Snowflake | None
    """The voice channel to which idle members are moved; null for none."""
    afk_timeout: Count
    """Seconds without a sign of life after which a member counts as idle in voice."""
    features: list[str]
    """Names of what the guild can do beyond the usual, such as `VANITY_URL`."""
    verification_level: Annotated[int, one_of(VerificationLevel)]
    """What members must have before they may write, from 0 for nothing to the highest level."""
    mfa_level: Annotated[int, one_of(MfaLevel)]
    """Whether moderators need a second factor: 0 no, 1 yes."""
    nsfw_level: Annotated[int, one_of(NsfwLevel)]
    """Whether the guild is for adults: 0 no, 3 yes."""
    nsfw: bool
    """Whether it is for adults only."""
    content_warning_level: Count
    """Whether a warning stands before the content: 0 none, 1 one that people confirm."""
    content_warning_text: str | None
    """The words of that warning; null for the usual ones."""
    explicit_content_filter: Annotated[int, one_of(GuildExplicitContentFilter)]
    """Whose pictures clients look through: 0 none, 1 those of members without a role, 2 those of all."""
    default_message_notifications: Annotated[int, one_of(DefaultMessageNotifications)]
    """Which messages notify members who chose nothing: 0 all, 1 those that mention them."""
    disabled_operations: Count
    """What the guild's members cannot do for now, as a number of bits."""
    message_history_cutoff: Timestamp | None
    """Members who may not read history see no message older than this; null for none."""
    message_retention_days: Count | None
    """After how many days messages are deleted; 0 for never, null as the instance has it, or as the guild has it."""


class PartialGuild(NamedGuild, GuildImages):
    """A guild as holders of an invite see it."""

    features: list[str]
    """Names of what is switched on."""


class ListedGuildExtras(TypedDict):
    permissions: NotRequired[Bits]
    """What the caller may do in the guild, as a decimal number of bits."""
    threads_active: NotRequired[bool]
    """Whether the guild has active threads."""
    approximate_member_count: NotRequired[Count]
    """How many members the guild has; only where the request asked for counts."""
    approximate_presence_count: NotRequired[Count]
    """How many of them are online; only where the request asked for counts."""


class ListedGuild(Guild, ListedGuildExtras):
    """A guild in the list of those that the caller is in."""


class Role(TypedDict):
    id: Snowflake
    """Id of the role; that of everybody has the guild's id."""
    name: Annotated[str, length(100)]
    """The name that people read."""
    color: Color
    """A colour as a number of 24 bits; 0 for none."""
    position: Count
    """Where the role stands in the hierarchy; higher ones rule lower ones, 0 is everybody."""
    hoist_position: Count | None
    """Where that group stands; null for the place of the role."""
    permissions: Bits
    """What the role allows, as a decimal number of bits."""
    hoist: bool
    """Whether members with the role stand in a group of their own in the list."""
    mentionable: bool
    """Whether everybody may mention the role."""
    unicode_emoji: NotRequired[str]
    """An emoji beside the role's name."""


class Emoji(TypedDict):
    id: Snowflake
    """Id of the object, as a decimal number in text."""
    name: str
    """The name that people read."""
    animated: bool
    """Whether the picture moves."""
    nsfw: bool
    """Whether it is for adults only."""


class Sticker(TypedDict):
    id: Snowflake
    """Id of the object, as a decimal number in text."""
    name: str
    """The name that people read."""
    description: str
    """What the thing is about, in its maker's words; null for nothing."""
    tags: Annotated[list[str], items(10)]
    """Words by which the sticker is found."""
    animated: bool
    """Whether the picture moves."""
    nsfw: bool
    """Whether it is for adults only."""


class EmojiWithUser(Emoji):
    user: PartialUser
    """The account it is about."""


class StickerWithUser(Sticker):
    user: PartialUser
    """The account it is about."""


class ExpressionGuild(Nameless):
    id: Snowflake
    """Id of the object, as a decimal number in text."""
    name: str
    """The name that people read."""
    icon: Asset | None
    """The picture of the thing: the hash of a stored picture, or a data address where it is sent; null for none."""
    features: list[str]
    """Names of what is switched on."""


class ExpressionMetadata(TypedDict):
    """Where an emoji or a sticker comes from."""

    id: Snowflake
    """Id of the object, as a decimal number in text."""
    guild_id: Snowflake
    """Id of the guild; null outside of guilds."""
    name: str
    """The name that people read."""
    animated: bool
    """Whether the picture moves."""
    allow_cloning: bool
    """Whether other guilds may copy the expression."""
    guild: ExpressionGuild
    """The guild it is about."""


class FailedExpression(Nameless):
    name: str
    """The name that people read."""
    error: str
    """What went wrong, by a short name."""


FailedExpressions = list[FailedExpression]


class EmojisMade(Nameless):
    success: list[Emoji]
    """Whether it was done, or what was made."""
    failed: FailedExpressions
    """What could not be made, each with its error."""


class StickersMade(Nameless):
    success: list[Sticker]
    """Whether it was done, or what was made."""
    failed: FailedExpressions
    """What could not be made, each with its error."""


class GuildWithCollections(Guild):
    """A guild with its roles, its expressions, the channels that the caller sees, and counts."""

    roles: list[Role]
    """Roles, or the ids of roles."""
    emojis: list[Emoji]
    """The emojis it is about."""
    stickers: list[Sticker]
    """The stickers it is about."""
    channels: list[GuildChannel]
    """The channels it is about."""
    member_count: Count
    """How many members there are."""
    online_count: Count
    """How many members are online."""


class MemberUser(TypedDict):
    user: PartialUser
    """The account it is about."""


class Membership(TypedDict):
    nick: str | None
    """The name of the member in this guild; null for the account's own."""
    avatar: Asset | None
    """The picture beside the name: the hash of a stored picture, or a data address (`data:image/png;base64,…`) where it
    is sent; null for none."""
    banner: Asset | None
    """The wide picture: the hash of a stored picture, or a data address where it is sent; null for none."""
    accent_color: Color | None
    """The colour that the account chose for its profile, as a number of 24 bits; null for none."""
    roles: list[Snowflake]
    """Ids of the member's roles; the role of everybody is not among them."""
    joined_at: Timestamp
    """When the account joined the guild."""
    mute: bool
    """Whether a moderator has silenced the member in voice channels of the guild."""
    deaf: bool
    """Whether the member hears nothing in voice channels of the guild."""
    communication_disabled_until: Timestamp | None
    """Until when the member is in time-out and may not write; null for not at all."""
    profile_flags: Count
    """What the member's profile leaves out, as bits: 1 no picture, 2 no banner."""
    mention_flags: NotRequired[Count]
    """Whether replies notify the account: 0 as the author likes, 1 rather yes, 2 rather no."""


class Member(MemberUser, Membership):
    pass


class FoundMemberOrigin(Nameless):
    join_source_type: Annotated[int, one_of(JoinSource)] | None
    """How the member came into the guild, by its number; null where that is not known."""
    inviter_id: Snowflake | None
    """Id of the account whose invite the member used; null where that is not known."""


class FoundMemberSupplement(TypedDict):
    supplemental: NotRequired[FoundMemberOrigin]
    """How the member came into the guild."""


class FoundMember(Member, FoundMemberSupplement):
    pass


class MemberSearch(TypedDict):
    guild_id: Snowflake
    """Id of the guild; null outside of guilds."""
    members: list[FoundMember]
    """The members it is about."""
    page_result_count: Count
    """How many results this page has."""
    total_result_count: Count
    """How many results there are on all pages."""


class AccountReference(TypedDict):
    """An account of which nothing is told but its id."""

    id: Snowflake


class MemberInReady(Membership):
    """A member as Ready has it: for people the user is reduced to its id."""

    user: PartialUser | AccountReference


class MessagePlace(TypedDict):
    """What events tell of where a message is: for a guild its id, and the membership of the author."""

    guild_id: NotRequired[Snowflake]
    member: NotRequired[Membership]
