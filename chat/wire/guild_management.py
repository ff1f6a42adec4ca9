"""Bans, invites, webhooks, the audit log and discovery of guilds (guilds.md, Guild object)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, NotRequired, TypedDict

from chat.registries.audit_actions import AuditAction
from chat.registries.channel_types import ChannelType
from chat.registries.guild_values import DiscoveryCategory as DiscoveryCategoryNumber
from chat.registries.guild_values import DiscoveryStatus, SplashCardAlignment, VerificationLevel
from chat.wire.accounts import PartialUser
from chat.wire.channels import Thread
from chat.wire.guilds import PartialGuild
from chat.wire.values import Asset, Count, Nameless, Snowflake, Timestamp, items, length, one_of, within


class DiscoveredGuild(TypedDict):
    id: Snowflake
    """Id of the object, as a decimal number in text."""
    name: Annotated[str, length(100)]
    """The name that people read."""
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
    features: list[str]
    """Names of what is switched on."""
    verification_level: Annotated[int, one_of(VerificationLevel)]
    """What members must have before they may write, from 0 for nothing to the highest level."""
    member_count: Count
    """How many members there are."""
    online_count: Count
    """How many members are online."""
    description: str | None
    """What the thing is about, in its maker's words; null for nothing."""
    category_id: Annotated[int, one_of(DiscoveryCategoryNumber)] | None
    """The subject under which the guild is listed."""


class DiscoveryCategory(TypedDict):
    id: Annotated[int, one_of(DiscoveryCategoryNumber)]
    """Id of the object, as a decimal number in text."""
    name: str
    """The name that people read."""


class DiscoveryApplication(TypedDict):
    guild_id: Snowflake
    """Id of the guild; null outside of guilds."""
    status: Annotated[str, one_of(DiscoveryStatus)]
    """How it stands at this moment."""
    category_id: Annotated[int, one_of(DiscoveryCategoryNumber)]
    """The subject under which the guild is listed."""
    description: str
    """What the thing is about, in its maker's words; null for nothing."""
    applied_at: Timestamp
    """When the guild applied."""
    reviewed_at: Timestamp | None
    """When it was decided; null before."""
    review_reason: str | None
    """What the reviewer wrote; null for nothing."""


class Ban(TypedDict):
    user: PartialUser
    """The account it is about."""
    reason: str | None
    """Why the account was banned; null if no reason was given."""
    moderator_id: Snowflake
    """Id of the account that made the ban."""
    banned_at: Timestamp
    """When the ban was made."""
    expires_at: Timestamp | None
    """When the ban ends by itself; null for never."""


class AskedClaim(Nameless):
    user: PartialUser
    """The member who asks."""
    requested_at: Timestamp
    """When the member asked."""


class Placeholder(TypedDict):
    """A person of an import who has no account here, as an account that nobody can sign in to."""

    user: PartialUser
    """The account under which the person is shown."""
    message_count: Count | None
    """How many messages of the person stand in the guild, counted up to 10,000; null for who does not manage it."""
    claimed_by: PartialUser | None
    """The member who is this person; null while nobody has claimed it."""
    claimed_at: Timestamp | None
    """When the member became this person; null while nobody has claimed it."""
    requests: Annotated[list[AskedClaim], items(25)]
    """Members who say that they are this person, the oldest request first; for others than managers their own."""


class NamedRecipient(Nameless):
    username: str
    """The name that identifies the account, 1 to 32 letters, digits and underscores."""


class InviteChannel(Nameless):
    id: Snowflake
    """Id of the object, as a decimal number in text."""
    name: str | None
    """The name that people read."""
    type: Annotated[int, one_of(ChannelType)]
    """Which kind of its sort it is, from a fixed list."""
    recipients: NotRequired[list[PartialUser | NamedRecipient]]
    """The other accounts in the conversation."""
    icon: NotRequired[Asset | None]
    """The picture of the thing: the hash of a stored picture, or a data address where it is sent; null for none."""


class Invite(TypedDict):
    """An invite as all see it who know its code."""

    code: str
    """The text at the end of the invite's address."""
    type: Annotated[int, within(0, 3)]
    """What the invite leads to: 0 a guild, 1 a group."""
    channel: InviteChannel
    """The channel it is about."""
    member_count: Count
    """How many members there are."""
    presence_count: Count
    """How many members are online."""
    expires_at: Timestamp | None
    """When the invite stops working; null for never."""
    temporary: bool
    """Whether members who came by the invite leave with their last session unless they got a role."""
    guild: NotRequired[PartialGuild]
    """The guild it is about."""
    inviter: NotRequired[PartialUser]
    """The account that made the invite."""
    placeholder: NotRequired[PartialUser]
    """The person of an import whom the one newcomer becomes who joins by the invite."""


class InviteWithMetadata(TypedDict):
    """An invite as those who manage it see it; `max_age` is in seconds."""

    code: str
    """The text at the end of the invite's address."""
    type: Annotated[int, within(0, 3)]
    """Which kind of its sort it is, from a fixed list."""
    channel: InviteChannel
    """The channel it is about."""
    member_count: Count
    """How many members there are."""
    presence_count: Count
    """How many members are online."""
    expires_at: Timestamp | None
    """When it ends; null for never."""
    temporary: bool
    """Whether members who came by the invite leave with their last session unless they got a role."""
    created_at: Timestamp
    """When it was made."""
    uses: Count
    """How often it was used."""
    max_uses: Count
    """How often the invite works; 0 for any number."""
    max_age: Count
    """Seconds that the invite works; 0 for ever."""
    guild: NotRequired[PartialGuild]
    """The guild it is about."""
    inviter: NotRequired[PartialUser]
    """The account that made the invite."""
    placeholder: NotRequired[PartialUser]
    """The person of an import whom the one newcomer becomes who joins by the invite."""


class AuditLogChange(Nameless):
    key: str
    """Which member changed."""
    old_value: NotRequired[Any]
    """What it was before the change; absent or null for nothing."""
    new_value: NotRequired[Any]
    """What it is after the change; absent or null for nothing."""


class AuditLogEntry(TypedDict):
    id: Snowflake
    """Id of the object, as a decimal number in text."""
    action_type: Annotated[int, one_of(AuditAction)]
    """What was done, by its number among the audit log's actions."""
    user_id: Snowflake
    """Id of the account."""
    target_id: str | None
    """Id of what was changed; null for nothing in particular."""
    reason: NotRequired[str]
    """Why, in words; null where none was given."""
    options: NotRequired[Mapping[str, object]]
    """Particulars of the action, such as how many messages it deleted."""
    changes: NotRequired[list[AuditLogChange]]
    """What changed, member by member."""


class WebhookSourceGuild(Nameless):
    id: Snowflake
    """Id of the object, as a decimal number in text."""
    name: str
    """The name that people read."""
    icon: Asset | None
    """The picture of the thing: the hash of a stored picture, or a data address where it is sent; null for none."""


class WebhookSourceChannel(Nameless):
    id: Snowflake
    """Id of the object, as a decimal number in text."""
    name: str
    """The name that people read."""


class Webhook(TypedDict):
    """A webhook. The view that its token gives has no `user`; one that follows a channel has no `token`."""

    id: Snowflake
    """Id of the object, as a decimal number in text."""
    type: Annotated[int, within(1, 2)]
    """Which kind it is: 1 for an incoming webhook, 2 for one that carries over announcements."""
    guild_id: Snowflake
    """Id of the guild; null outside of guilds."""
    channel_id: Snowflake
    """The channel that it is in, by its id."""
    name: str | None
    """The name that people read."""
    avatar: Asset | None
    """The picture of the webhook, as a hash; null for none."""
    token: NotRequired[str]
    """The secret in the webhook's address; it is enough to write with."""
    user: NotRequired[PartialUser]
    """The account it is about."""
    source_guild: NotRequired[WebhookSourceGuild]
    """The guild whose announcements the webhook carries over."""
    source_channel: NotRequired[WebhookSourceChannel]
    """The channel whose announcements the webhook carries over."""


class AuditLog(TypedDict):
    """`threads` is for callers who know threads."""

    audit_log_entries: list[AuditLogEntry]
    """The entries, newest first."""
    users: list[PartialUser]
    """Accounts, or the ids of accounts."""
    webhooks: list[Mapping[str, object]]
    """The webhooks that the entries name."""
    threads: NotRequired[list[Thread]]
    """The threads on this page."""


class VanityUrl(Nameless):
    code: str | None
    """A short text that stands for something: an invite, a one-time code, an error."""
    uses: NotRequired[Count]
    """How often it was used."""


class VoiceRegion(TypedDict):
    id: str
    """Id of the object, as a decimal number in text."""
    name: str
    """The name that people read."""
    emoji: str
    """The emoji: its id and name, or the character alone."""


class ListDiscoveryAnswer(Nameless):
    guilds: list[DiscoveredGuild]
    """The guilds it is about."""
    total: Count
    """How many there are on all pages."""


class GetDiscoveryApplicationAnswer(Nameless):
    application: DiscoveryApplication | None
    """The application itself."""
    eligible: bool
    """Whether the guild fulfils the conditions for being found."""
    min_member_count: Count
    """How many members a guild needs to apply."""


class InvitePlace(TypedDict):
    """Where an invite leads to."""

    channel: InviteChannel
    guild: NotRequired[PartialGuild]


class InviteMaker(TypedDict):
    """Who made an invite, while the account is there, and whom the newcomer becomes."""

    inviter: NotRequired[PartialUser]
    placeholder: NotRequired[PartialUser]
