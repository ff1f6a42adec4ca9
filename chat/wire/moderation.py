"""What moderators of the instance work with: guilds (administration.md, Administered guilds), blocklists, reports,
applications for discovery (administration.md, Reports and discovery)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, NotRequired, TypedDict

from chat.registries.blocklists import Blocklist
from chat.registries.channel_types import ChannelType
from chat.registries.guild_values import (
    JoinSource,
)
from chat.registries.reports import ReportCategory, ReportKind, ReportStatus
from chat.wire.administration import AdminGuild, AdminUserSummary, OwnerNames
from chat.wire.guild_management import Ban, DiscoveryApplication
from chat.wire.guilds import Emoji, Guild, Role, Sticker
from chat.wire.values import Asset, Color, Count, Nameless, Snowflake, Timestamp, items, one_of


class AdminGuildAnswer(Nameless):
    guild: AdminGuildDetails
    """The guild it is about."""


class AdminListGuildEmojisAnswer(Nameless):
    emojis: list[AdminEmoji]
    """The emojis it is about."""


class AdminListGuildStickersAnswer(Nameless):
    stickers: list[AdminSticker]
    """The stickers it is about."""


class AdminForceAddMemberAnswer(Nameless):
    member: AdminGuildMember
    """The membership it is about."""


class AdminBanGuildMemberAnswer(Nameless):
    ban: Ban
    """The ban as it is stored."""


class BlockedValue(TypedDict):
    list: Annotated[str, one_of(Blocklist)]
    """The blocklist that the value stands on."""
    value: str
    """The text of the entry."""
    reason: str | None
    """Why, in words; null where none was given."""
    added_by: Snowflake | None
    """Id of the administrator who put it there; null if unknown."""
    added_at: Timestamp
    """When the value came onto the list."""


class BlocklistPage(Nameless):
    entries: list[BlockedValue]
    """The entries on this page."""
    total: Count
    """How many there are on all pages."""
    next_after: str | None
    """Where the next page begins; null on the last one."""


class BlocklistAnswer(Nameless):
    banned: bool
    """Whether the value stands on the list."""
    entry: BlockedValue | None
    """The value as it stands on the list; null where it does not."""


class Report(TypedDict):
    report_id: Snowflake
    """The report by its id, which its reporter is told."""
    kind: Annotated[str, one_of(ReportKind)]
    """Whether an account, a message or a guild was reported."""
    reporter_id: Snowflake | None
    """Id of the account that reported; null for reports from outside."""
    reporter: AdminUserSummary | None
    """The account that reported; null for reports from outside."""
    reporter_email: str | None
    """The mail address of a reporter without an account."""
    reporter_full_legal_name: str | None
    """The name of a reporter without an account."""
    reporter_country_of_residence: str | None
    """The country that the reporter lives in, by its two letters."""
    reported_user_id: Snowflake | None
    """Id of the account that was reported; null where it was something else."""
    reported_user: AdminUserSummary | None
    """The account that was reported; null where it was something else, or it is gone."""
    guild_id: Snowflake | None
    """Id of the guild; null outside of guilds."""
    guild_name: str | None
    """The name of the guild at the time."""
    channel_id: Snowflake | None
    """The channel that it is in, by its id."""
    message_id: Snowflake | None
    """The message that is meant, by its id."""
    category: Annotated[str, one_of(ReportCategory)]
    """What the reporter complains of."""
    additional_info: str | None
    """What the reporter writes beside the category."""
    message: Mapping[str, object] | None
    """The message it is about."""
    status: Annotated[str, one_of(ReportStatus)]
    """Whether the report was settled: pending or resolved."""
    public_comment: str | None
    """What the reporter is told; null for nothing."""
    resolved_by: Snowflake | None
    """Id of the administrator who settled it; null while it is open."""
    resolver: AdminUserSummary | None
    """The administrator who settled it; null while it is open."""
    resolved_at: Timestamp | None
    """When the report was settled; null while it is open."""
    created_at: Timestamp
    """When it was made."""


class ReportsFound(Nameless):
    reports: list[Report]
    """The reports on this page."""
    total: Count
    """How many there are on all pages."""


class ReviewedDiscoveryApplication(DiscoveryApplication):
    guild: AdminGuild | None
    """The guild it is about."""
    applied_by: AdminUserSummary | None
    """The account that applied for the guild; null once it is gone."""
    reviewed_by: AdminUserSummary | None
    """The administrator who decided; null before."""


class DiscoveryApplications(Nameless):
    applications: list[ReviewedDiscoveryApplication]
    """The applications on this page."""
    total: Count
    """How many there are on all pages."""


class GuildsFound(Nameless):
    guilds: Annotated[list[AdminGuild], items(200)]
    """The guilds it is about."""
    total: Count
    """How many there are on all pages."""


class AdminGuildChannel(Nameless):
    id: Snowflake
    """Id of the object, as a decimal number in text."""
    name: str | None
    """The name that people read."""
    type: Annotated[int, one_of(ChannelType)]
    """Which kind of its sort it is, from a fixed list."""
    position: Count
    """Where it stands among its neighbours, counted from 0."""
    parent_id: Snowflake | None
    """Id of the category, or of the channel that the thread is in; null for none."""
    nsfw: bool
    """Whether it is for adults only."""


class AdminGuildDetails(Guild, OwnerNames):
    """A guild with its roles and an outline of its channels, threads apart."""

    member_count: Count
    """How many members there are."""
    approximate_member_count: Count
    """How many members the guild has; only where the request asked for counts."""
    approximate_presence_count: Count
    """How many of them are online; only where the request asked for counts."""
    created_at: Timestamp
    """When it was made."""
    roles: list[Role]
    """Roles, or the ids of roles."""
    channels: list[AdminGuildChannel]
    """The channels it is about."""
    emoji_count: Count
    """How many emojis the guild has."""
    sticker_count: Count
    """How many stickers the guild has."""


class AdminGuildMember(TypedDict):
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
    """Roles, or the ids of roles."""
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
    user: AdminUserSummary
    """The account it is about."""
    is_owner: bool
    """Whether the member owns the guild."""
    join_source_type: Annotated[int, one_of(JoinSource)] | None
    """How the member came into the guild, by its number; null where that is not known."""
    inviter_id: Snowflake | None
    """Id of the account whose invite the member used; null where that is not known."""
    mention_flags: NotRequired[Count]
    """Whether replies notify the account: 0 as the author likes, 1 rather yes, 2 rather no."""


class AdminGuildMembers(Nameless):
    members: Annotated[list[AdminGuildMember], items(200)]
    """The members it is about."""
    total: Count
    """How many there are on all pages."""


class CreatedBy(TypedDict):
    creator_id: Snowflake
    """Id of the account that made it."""
    creator: AdminUserSummary | None
    """The account that made it; null once it is gone."""


class AdminEmoji(Emoji, CreatedBy):
    pass


class AdminSticker(Sticker, CreatedBy):
    pass
