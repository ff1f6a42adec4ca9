"""Settings of accounts and push subscriptions (accounts.md, User objects)."""

from __future__ import annotations

from typing import Annotated, Literal, NotRequired, TypedDict

from chat.registries.statuses import Status
from chat.wire.values import (
    Color,
    Count,
    Nameless,
    Snowflake,
    Timestamp,
    among,
    items,
    length,
    matching,
    one_of,
    within,
)


class GuildFolder(TypedDict):
    id: Annotated[int, within(-1)]
    """The number of the folder; -1 holds the guilds that are in none."""
    name: Annotated[str, length(100)] | None
    """The name of the folder; null for the names of its guilds."""
    color: Color | None
    """A colour as a number of 24 bits; 0 for none."""
    flags: Count
    """The sum of bits, each of which is a switch."""
    icon: Annotated[str, length(64)]
    """The sign of the folder, by name."""
    guild_ids: list[Snowflake]
    """Ids of several guilds."""


class CustomStatus(TypedDict):
    text: str | None
    """The words of the status; null for an emoji alone."""
    expires_at: Timestamp | None
    """When the status goes away; null for never."""
    emoji_id: Snowflake | None
    """The guild's emoji, by its id; null for a Unicode one."""
    emoji_name: str | None
    """The Unicode emoji, or the name of the guild's; null for none."""
    emoji_animated: bool
    """Whether that emoji moves."""


class QuietHours(TypedDict):
    """Hours of each day in which an account is not told of messages; they may go over midnight."""

    start: str
    """When they begin, as `HH:MM`."""
    end: str
    """When they end, as `HH:MM`."""
    timezone: str
    """The time zone (IANA) of both."""


class UserSettings(TypedDict):
    status: Annotated[str, one_of(Status)]
    """How it stands at this moment."""
    status_resets_at: Timestamp | None
    """When the status goes back; null for never."""
    status_resets_to: Annotated[str, one_of(Status)] | None
    """The status that comes after; null for online."""
    theme: Literal["dark", "dark_legacy", "coal", "light", "system"]
    """The colours of clients."""
    locale: str
    """The language of the account, such as `en-GB`."""
    restricted_guilds: list[Snowflake]
    """Ids of guilds whose members may not write to the account directly."""
    bot_restricted_guilds: list[Snowflake]
    """Ids of guilds whose bots may not write to the account directly."""
    default_guilds_restricted: bool
    """Whether members of new guilds may not write to the account directly."""
    bot_default_guilds_restricted: bool
    """Whether bots of new guilds may not write to the account directly."""
    inline_attachment_media: bool
    """Whether attached pictures are shown in the conversation."""
    inline_embed_media: bool
    """Whether pictures of links are shown in the conversation."""
    gif_auto_play: bool
    """Whether moving pictures play by themselves."""
    render_embeds: bool
    """Whether links are shown with an embed."""
    render_reactions: bool
    """Whether reactions are shown."""
    animate_emoji: bool
    """Whether moving emojis move."""
    animate_stickers: Annotated[int, within(0, 2)]
    """When clients let stickers move, from 0 to 2; the server keeps it for them."""
    render_spoilers: Annotated[int, within(0, 2)]
    """When clients show hidden text, from 0 to 2; the server keeps it for them."""
    message_display_compact: bool
    """Whether messages are shown closely, without pictures of their authors."""
    friend_source_flags: Count
    """Who may send friend requests, as bits: 1 friends of friends, 2 members of the same guilds, 4 everybody."""
    incoming_call_flags: Count
    """Who may call the account, as a number of bits."""
    group_dm_add_permission_flags: Count
    """Who may add the account to groups, as a number of bits."""
    guild_folders: list[GuildFolder]
    """The folders into which the account sorted its guilds."""
    guild_positions: list[Snowflake]
    """Ids of the guilds in the order of the list."""
    custom_status: CustomStatus | None
    """A short text and an emoji beside the name; null for none."""
    afk_timeout: Count
    """Seconds without a sign of life after which a member counts as idle in voice."""
    time_format: Annotated[int, within(0, 2)]
    """Which of three ways of writing the time clients use, from 0 to 2; 0 follows the language."""
    quiet_hours: QuietHours | None
    """When the account is not told of messages, day by day; null for never."""
    person_notifications: dict[Snowflake, Annotated[int, among(0, 2)]]
    """Which messages of single accounts notify, by their ids: 0 all, 2 none; of others as their places are set."""
    developer_mode: bool
    """Whether clients offer ids to copy."""
    trusted_domains: list[str]
    """Hosts whose links clients open without asking."""
    default_hide_muted_channels: bool
    """Whether muted channels are hidden in new guilds."""
    sensitive_content_friend_dm_filter: Annotated[int, within(0, 2)]
    """How strictly clients hide sensitive pictures of friends, from 0 for not at all to 2."""
    sensitive_content_non_friend_dm_filter: Annotated[int, within(0, 2)]
    """How strictly clients hide sensitive pictures of strangers, from 0 for not at all to 2."""
    sensitive_content_guild_filter: Annotated[int, within(0, 2)]
    """Whether clients hide sensitive pictures in guilds: 0 no, 1 yes."""
    suppress_unprivileged_self_mentions: bool
    """Whether mentions by strangers do not notify."""
    suppress_unprivileged_self_mentions_bypass_user_ids: list[Snowflake]
    """Ids of accounts whose mentions notify all the same."""
    staff_dm_access_user_ids: list[Snowflake]
    """Ids of accounts of the staff that may write to the account directly."""
    synced_preferences: str
    """Settings of a client that travel with the account; the server does not read them."""
    profile_privacy: Annotated[int, within(0, 2)]
    """Who sees the whole profile: 0 everybody, and with higher numbers fewer people."""
    default_share_voice_activity: bool
    """Whether new friends see in which voice channel the account is."""


class MuteConfig(TypedDict):
    end_time: Timestamp | None
    """When the mute ends; null for one that stays."""
    selected_time_window: Annotated[int, within(-1)]
    """The seconds that were chosen for the mute; -1 for no end."""


class ChannelOverride(Nameless):
    collapsed: bool
    """Whether the category is folded in the list of channels."""
    message_notifications: Annotated[int, within(0, 3)]
    """Which messages notify: 0 all, 1 mentions, 2 none, 3 as set one level above."""
    muted: bool
    """Whether nothing from here notifies."""
    mute_config: MuteConfig | None
    """How long the mute lasts; null while it has no end or there is none."""
    unread_badges: NotRequired[Annotated[int, within(0, 3)]]
    """Which unread messages clients count, by the numbers of `message_notifications`; null for as set one level
    above."""


class UserGuildSettings(TypedDict):
    """What an account wants to be told of a guild; `guild_id` null: of conversations outside of guilds."""

    guild_id: Snowflake | None
    """Id of the guild; null outside of guilds."""
    message_notifications: Annotated[int, within(0, 3)]
    """Which messages notify: 0 all, 1 mentions, 2 none, 3 as set one level above."""
    muted: bool
    """Whether nothing from here notifies."""
    mute_config: MuteConfig | None
    """How long the mute lasts; null while it has no end or there is none."""
    mobile_push: bool
    """Whether messages are pushed to telephones."""
    suppress_everyone: bool
    """Whether mentions of everybody do not notify."""
    suppress_roles: bool
    """Whether mentions of roles do not notify."""
    hide_muted_channels: bool
    """Whether muted channels of the guild are hidden."""
    channel_overrides: dict[Snowflake, ChannelOverride] | None
    """Settings for single channels by their ids; null where there are none."""
    unread_badges: Annotated[int, within(0, 3)] | None
    """Which unread messages clients count, by the numbers of `message_notifications`; null for as set one level
    above."""
    version: Count
    """Grows with each change of these settings."""


SubscriptionId = Annotated[str, matching("^[0-9a-f]{32}$")]


class PushSubscription(TypedDict):
    subscription_id: SubscriptionId
    """Names the subscription of one browser."""
    user_agent: str | None
    """The browser in its own words; null where it said nothing."""


class PushSubscribed(Nameless):
    subscription_id: SubscriptionId
    """Names the subscription of one browser."""


class PushSubscriptions(Nameless):
    subscriptions: list[PushSubscription]
    """The browsers that are told of messages."""


class PushUnsubscribed(Nameless):
    success: Annotated[bool, among(True)]
    """Whether it was done, or what was made."""


class NotificationWords(Nameless):
    words: Annotated[list[Annotated[str, length(50, 1)]], items(50)]
