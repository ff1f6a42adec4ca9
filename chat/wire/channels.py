"""Channels by type, and threads (guilds.md, Channels). A member that a type does not own is absent."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Generic, NotRequired, TypedDict, TypeVar

from chat.registries.channel_types import OverwriteType
from chat.wire.account_settings import MuteConfig
from chat.wire.accounts import PartialUser
from chat.wire.values import (
    GROUPED,
    Address,
    Asset,
    Bits,
    Count,
    Nameless,
    Snowflake,
    Timestamp,
    among,
    items,
    length,
    one_of,
    within,
)


class PermissionOverwrite(TypedDict):
    id: Snowflake
    """Id of the role or of the member."""
    type: Annotated[int, one_of(OverwriteType)]
    """What the overwrite is for: 0 for a role, 1 for a member."""
    allow: Bits
    """Permissions that the overwrite grants, as a decimal number of bits."""
    deny: Bits
    """Permissions that the overwrite takes away, as a decimal number of bits."""


Kind = TypeVar("Kind")


class ChannelOfGuild(TypedDict, Generic[Kind]):
    id: Snowflake
    """Id of the object, as a decimal number in text."""
    guild_id: Snowflake
    """Id of the guild; null outside of guilds."""
    name: Annotated[str, length(100)]
    """The name that people read."""
    position: Count
    """Where it stands among its neighbours, counted from 0."""
    permission_overwrites: list[PermissionOverwrite]
    """What roles and members may do here in a different way than in the guild."""
    nsfw: bool
    """Whether it is for adults only."""
    nsfw_override: bool | None
    """Whether the channel is for adults whatever its category says; null to follow the category."""
    content_warning_level: Count
    """Whether a warning stands before the content: 0 none, 1 one that people confirm."""
    content_warning_text: str | None
    """The words of that warning; null for the usual ones."""
    type: Kind
    """Which kind of its sort it is, from a fixed list."""


class ChannelInCategory(TypedDict):
    parent_id: Snowflake | None
    """Id of the category, or of the channel that the thread is in; null for none."""


class ChannelWithTopic(ChannelInCategory):
    topic: str | None
    """What the channel is about; null for nothing."""
    rate_limit_per_user: Count
    """Seconds between two messages of a member (slow mode); 0 for none."""
    message_retention_days: Count | None
    """After how many days messages are deleted; 0 for never, null as the instance has it, or as the guild has it."""


class ChannelOfMessages(TypedDict):
    last_message_id: Snowflake | None
    """Id of the newest message, which may be deleted; null for none."""
    last_pin_timestamp: Timestamp | None
    """When a message was last pinned here; null for never."""


class ThreadDefaults(TypedDict):
    default_auto_archive_duration: NotRequired[Count | None]
    """Minutes without a message after which new threads here are archived; null for the usual time."""
    default_thread_rate_limit_per_user: NotRequired[Count]
    """Seconds of slow mode in new threads here."""
    flags: NotRequired[Count]
    """Switches as a number of bits."""


class VoiceSettings(TypedDict):
    bitrate: Count
    """Bits per second of sound in the voice channel."""
    user_limit: Count
    """How many may be in the voice channel at once; 0 for any number."""
    voice_connection_limit: Count
    """How many connections a member may have in the voice channel."""
    rtc_region: str | None
    """The region of the voice server; null for the nearest."""


class TextChannel(ChannelOfGuild[Annotated[int, among(0, 5)]], ChannelWithTopic, ChannelOfMessages, ThreadDefaults):
    pass


class DirectVoice(TypedDict):
    rtc_p2p: NotRequired[bool]
    """Whether two people in the channel connect directly."""


class VoiceChannel(
    ChannelOfGuild[Annotated[int, among(2)]],
    ChannelWithTopic,
    ChannelOfMessages,
    VoiceSettings,
    ThreadDefaults,
    DirectVoice,
):
    pass


class CategoryChannel(ChannelOfGuild[Annotated[int, among(4)]]):
    pass


class LinkChannel(ChannelOfGuild[Annotated[int, among(998)]], ChannelInCategory):
    url: Address | None
    """The address that the channel leads to."""


class ForumTag(TypedDict):
    id: Snowflake
    """Id of the object, as a decimal number in text."""
    name: str
    """The words on the tag."""
    moderated: bool
    """Whether only moderators may set the tag."""
    emoji_id: Snowflake | None
    """The guild's emoji, by its id; null for a Unicode one."""
    emoji_name: str | None
    """The Unicode emoji, or the name of the guild's; null for none."""


class DefaultReactionEmoji(Nameless):
    emoji_id: Snowflake | None
    """The guild's emoji, by its id; null for a Unicode one."""
    emoji_name: str | None
    """The Unicode emoji, or the name of the guild's; null for none."""


class ForumStart(TypedDict):
    last_message_id: NotRequired[Snowflake | None]
    """Id of the newest message, which may be deleted; null for none."""
    last_pin_timestamp: NotRequired[Timestamp | None]
    """When a message was last pinned here; null for never."""


class ForumSettings(TypedDict):
    available_tags: NotRequired[list[ForumTag]]
    """The tags that posts in this forum may carry."""
    default_reaction_emoji: NotRequired[DefaultReactionEmoji | None]
    """The emoji that posts here offer for a first reaction; null for none."""
    default_sort_order: NotRequired[Annotated[int, within(0, 1)] | None]
    """How posts are sorted at first: 0 by the latest message, 1 by their making; null for as clients like."""
    default_forum_layout: NotRequired[Annotated[int, within(0, 2)]]
    """How clients show the posts: 0 as they like, 1 a list, 2 a gallery."""
    default_tag_setting: NotRequired[str | None]
    """Whether a post must carry all chosen tags or some of them."""


class ForumChannel(
    ChannelOfGuild[Annotated[int, among(15, 16)]], ChannelWithTopic, ForumStart, ThreadDefaults, ForumSettings
):
    pass


GuildChannel = Annotated[TextChannel | VoiceChannel | CategoryChannel | LinkChannel | ForumChannel, GROUPED]


class KindOfConversation(TypedDict, Generic[Kind]):
    id: Snowflake
    """Id of the object, as a decimal number in text."""
    type: Kind
    """Which kind of its sort it is, from a fixed list."""


class Conversation(KindOfConversation[Kind], ChannelOfMessages, Generic[Kind]):
    pass


class DirectMessageChannel(Conversation[Annotated[int, among(1)]]):
    """The conversation of two; `recipients` is the other."""

    recipients: list[PartialUser]
    """The other accounts in the conversation."""


class GroupNames(TypedDict):
    name: NotRequired[str]
    """The name that people read."""
    recipients: NotRequired[list[PartialUser]]
    """The other accounts in the conversation."""
    nicks: NotRequired[dict[Snowflake, str]]
    """Names that members of the group have in it, by account id."""


class GroupOwner(TypedDict):
    icon: Asset | None
    """The picture of the thing: the hash of a stored picture, or a data address where it is sent; null for none."""
    owner_id: Snowflake | None
    """Id of the account that it belongs to."""


class GroupChannel(Conversation[Annotated[int, among(3)]], GroupOwner, GroupNames):
    """A conversation of several; `recipients` are the others, absent where there are none."""


class PersonalNotesChannel(Conversation[Annotated[int, among(999)]]):
    """What an account writes to itself; its id is that of the account."""


PrivateChannel = Annotated[DirectMessageChannel | GroupChannel | PersonalNotesChannel, GROUPED]


class ThreadMember(TypedDict):
    id: Snowflake
    """Id of the thread."""
    user_id: Snowflake
    """Id of the account."""
    join_timestamp: Timestamp
    """When the account joined the thread."""
    flags: Annotated[int, within(0, 15)]
    """How the thread notifies the member, as bits."""
    muted: bool
    """Whether nothing from here notifies."""
    mute_config: NotRequired[MuteConfig | None]
    """How long the mute lasts; null while it has no end or there is none."""
    member: NotRequired[Mapping[str, object]]
    """The membership it is about."""


class ThreadMetadata(Nameless):
    archived: bool
    """Whether the thread rests: it leaves the list of active threads until a message comes."""
    auto_archive_duration: Annotated[int, among(60, 1440, 4320, 10080)]
    """Minutes without a message after which the thread is archived."""
    archive_timestamp: Timestamp
    """When the thread was last archived or reopened, or since when it is idle."""
    locked: bool
    """Whether only moderators may reopen or write in the thread."""
    create_timestamp: Timestamp
    """When the thread was made."""
    invitable: NotRequired[bool]
    """Whether members of a private thread who do not moderate may add others."""


class Thread(TypedDict):
    id: Snowflake
    """Id of the object, as a decimal number in text."""
    type: Annotated[int, among(10, 11, 12)]
    """Which kind it is: 10 in an announcement channel, 11 public, 12 private."""
    guild_id: Snowflake
    """Id of the guild; null outside of guilds."""
    parent_id: Snowflake
    """Id of the category, or of the channel that the thread is in; null for none."""
    owner_id: Snowflake
    """Id of the account that it belongs to."""
    name: Annotated[str, length(100)]
    """The name that people read."""
    last_message_id: Snowflake | None
    """Id of the newest message, which may be deleted; null for none."""
    last_pin_timestamp: Timestamp | None
    """When a message was last pinned here; null for never."""
    rate_limit_per_user: Count
    """Seconds between two messages of a member (slow mode); 0 for none."""
    flags: Count
    """Switches as a number of bits."""
    thread_metadata: ThreadMetadata
    """The state of the thread: archived, locked, since when."""
    message_count: Count
    """How many messages there are."""
    total_message_sent: Count
    """How many messages were ever written, deleted ones included."""
    member_count: Annotated[int, within(0, 50)]
    """How many members there are."""
    applied_tags: NotRequired[Annotated[list[Snowflake], items(5)]]
    """Ids of the forum's tags that the post carries."""
    member_ids_preview: NotRequired[Annotated[list[Snowflake], items(8)]]
    """Ids of some members of the thread."""
    member: NotRequired[ThreadMember]
    """The membership it is about."""


class FollowedChannel(TypedDict):
    channel_id: Snowflake
    """The channel that it is in, by its id."""
    webhook_id: Snowflake
    """The webhook that wrote it, by its id."""


Channel = Annotated[GuildChannel | Thread | PrivateChannel, GROUPED]


class Threads(Nameless):
    threads: list[Thread]
    """The threads on this page."""
    members: list[ThreadMember]
    """The members it is about."""
    has_more: NotRequired[bool]
    """Whether there is another page."""
