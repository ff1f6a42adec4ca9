"""Messages, what stands in them, and what readers do with them (messages.md, Message object)."""

from __future__ import annotations

from typing import Annotated, Literal, NotRequired, TypedDict

from chat.registries.channel_types import ChannelType
from chat.registries.message_types import MessageReferenceType, MessageType
from chat.wire.accounts import PartialUser
from chat.wire.channels import Thread
from chat.wire.values import Address, Color, Count, Nameless, Snowflake, Timestamp, length, one_of


class Attachment(TypedDict):
    id: Snowflake
    """Id of the file, unique within its message."""
    filename: str
    """The name of the file as it is shown and downloaded."""
    title: str | None
    """The heading above it."""
    description: str | None
    """What the thing is about, in its maker's words; null for nothing."""
    content_type: str
    """The media type of the file, such as `image/png`."""
    content_hash: str | None
    """SHA-256 of the file in hexadecimal digits; null where it is not known."""
    size: Count
    """Size of the file in bytes."""
    url: Address | None
    """The signed address of the file; it ends at `expires_at`."""
    proxy_url: Address | None
    """The address under which this server hands out the file."""
    flags: Count
    """How the file is shown, as bits: 8 hidden until asked for, 16 explicit, 32 moving."""
    expires_at: Timestamp | None
    """When the signed address stops working."""
    width: NotRequired[Count]
    """Width in pixels; null for what has none."""
    height: NotRequired[Count]
    """Height in pixels; null for what has none."""
    placeholder: NotRequired[str]
    """A blurred preview of the picture in base64 (ThumbHash)."""
    nsfw: NotRequired[bool]
    """Whether it is for adults only."""
    duration: NotRequired[float]
    """Seconds that it plays; null for what does not."""
    waveform: NotRequired[str]
    """The loudness of a voice message over its time, in base64."""
    expired: NotRequired[Literal[True]]
    """True where the file was deleted after its time."""


class EmbedMedia(TypedDict):
    url: Address
    """The address at which the file lies in the first place."""
    proxy_url: NotRequired[Address]
    """The address under which this server hands out the file."""
    content_type: NotRequired[str]
    """The media type of the file, such as `image/png`."""
    content_hash: NotRequired[str]
    """SHA-256 of the file in hexadecimal digits; null where it is not known."""
    width: NotRequired[Count]
    """Width in pixels; null for what has none."""
    height: NotRequired[Count]
    """Height in pixels; null for what has none."""
    description: NotRequired[str]
    """What the thing is about, in its maker's words; null for nothing."""
    placeholder: NotRequired[str]
    """A blurred preview of the picture in base64 (ThumbHash)."""
    duration: NotRequired[float]
    """Seconds that it plays; null for what does not."""
    flags: NotRequired[Count]
    """What is known of the file, as bits: 16 explicit, 32 moving."""


class EmbedAuthor(TypedDict):
    name: str
    """The name that people read."""
    url: NotRequired[Address]
    """The address it leads to."""
    icon_url: NotRequired[Address]
    """The address of a small picture."""
    proxy_icon_url: NotRequired[Address]
    """The address under which this server hands out the small picture."""


class EmbedFooter(Nameless):
    text: str
    """Words to be read."""
    icon_url: NotRequired[Address]
    """The address of a small picture."""
    proxy_icon_url: NotRequired[Address]
    """The address under which this server hands out the small picture."""


class EmbedField(Nameless):
    name: str
    """The heading of the field."""
    value: str
    """The text of the field."""
    inline: bool
    """Whether the field may stand beside others."""


class Embed(TypedDict):
    type: str
    """What the embed shows: `rich`, `link`, `image`, `video` or `article`."""
    url: NotRequired[Address]
    """The address it leads to."""
    title: NotRequired[str]
    """The heading above it."""
    color: NotRequired[Color]
    """The colour of the embed's edge."""
    timestamp: NotRequired[Timestamp]
    """When it was written."""
    description: NotRequired[str]
    """What the thing is about, in its maker's words; null for nothing."""
    author: NotRequired[EmbedAuthor]
    """Who wrote it."""
    image: NotRequired[EmbedMedia]
    """A picture; where it is sent, in base64 or as a data address."""
    thumbnail: NotRequired[EmbedMedia]
    """A small picture beside the embed."""
    video: NotRequired[EmbedMedia]
    """A film that the page plays."""
    audio: NotRequired[EmbedMedia]
    """A sound file that the page plays."""
    footer: NotRequired[EmbedFooter]
    """A line at the bottom of the embed."""
    fields: NotRequired[list[EmbedField]]
    """Pairs of a name and a value."""
    provider: NotRequired[EmbedAuthor]
    """The site that the page belongs to."""
    html: NotRequired[str]
    """Markup of a player; clients of ours show none."""
    html_width: NotRequired[Count]
    """Width of that player in pixels."""
    html_height: NotRequired[Count]
    """Height of that player in pixels."""
    nsfw: NotRequired[bool]
    """Whether it is for adults only."""
    children: NotRequired[list[Embed]]
    """Further embeds of the same page."""


class ReactionEmoji(Nameless):
    name: str
    """The name that people read."""
    id: NotRequired[Snowflake | None]
    """Id of the object, as a decimal number in text."""
    animated: NotRequired[bool]
    """Whether the picture moves."""


class Reaction(TypedDict):
    emoji: ReactionEmoji
    """The emoji: its id and name, or the character alone."""
    count: Count
    """How many accounts reacted with this emoji."""
    me: bool
    """Whether the caller reacted this way too."""


class MessageReference(TypedDict):
    """What a message refers to; without `message_id` it tells of the channel."""

    channel_id: Snowflake
    """The channel that it is in, by its id."""
    type: Annotated[int, one_of(MessageReferenceType)]
    """Which kind it is: 0 for an answer, 1 for a message that is forwarded."""
    message_id: NotRequired[Snowflake]
    """The message that is meant, by its id."""
    guild_id: NotRequired[Snowflake]
    """Id of the guild; null outside of guilds."""


class StickerItem(TypedDict):
    id: Snowflake
    """Id of the sticker."""
    name: str
    """The name that people read."""
    animated: bool
    """Whether the picture moves."""
    nsfw: NotRequired[bool]
    """Whether it is for adults only."""


class MentionedChannel(Nameless):
    id: Snowflake
    """Id of the object, as a decimal number in text."""
    name: str
    """The name that people read."""
    type: Annotated[int, one_of(ChannelType)]
    """Which kind of its sort it is, from a fixed list."""
    guild_id: NotRequired[Snowflake]
    """Id of the guild; null outside of guilds."""


MentionedChannels = list[MentionedChannel]


class MessageSnapshot(TypedDict):
    """A forwarded message as it was."""

    timestamp: Timestamp
    """When it was written."""
    type: Annotated[int, one_of(MessageType)]
    """What the forwarded message is, by the numbers of message types."""
    flags: Count
    """Switches as a number of bits."""
    content: NotRequired[str]
    """The text of the message, up to 2,000 characters or what the limits say."""
    edited_timestamp: NotRequired[Timestamp | None]
    """When the message was last edited; null where it never was."""
    mentions: NotRequired[list[Snowflake]]
    """The accounts that the message notifies."""
    mention_roles: NotRequired[list[Snowflake]]
    """Ids of the roles that the message notifies."""
    mention_channels: NotRequired[MentionedChannels]
    """Channels of other guilds that the message names."""
    embeds: NotRequired[list[Embed]]
    """Boxes below the message with a title, text, fields and pictures."""
    attachments: NotRequired[list[Attachment]]
    """Files that belong to the message, in their order."""
    stickers: NotRequired[list[StickerItem]]
    """The stickers it is about."""


class MessageCall(Nameless):
    participants: list[Snowflake]
    """Ids of the accounts that took part."""
    ended_timestamp: Timestamp | None
    """When the call ended; null while it goes on."""


class Message(TypedDict):
    """A message. `referenced_message` is absent where nothing is answered, and null where that is gone."""

    id: Snowflake
    """Id of the object, as a decimal number in text."""
    channel_id: Snowflake
    """The channel that it is in, by its id."""
    author: PartialUser
    """The account that wrote the message, or the webhook in the shape of one."""
    type: Annotated[int, one_of(MessageType)]
    """What the message is: 0 written, 19 a reply, 6 a pin, and so on (see the registry of message types)."""
    flags: Count
    """How the message is shown and where it comes from, as bits: 4 without embeds, 32 has a thread, 4096 silent, 8192 a
    voice message."""
    content: str
    """The text of the message, up to 2,000 characters or what the limits say."""
    timestamp: Timestamp
    """When it was written."""
    edited_timestamp: Timestamp | None
    """When the message was last edited; null where it never was."""
    pinned: bool
    """Whether the message is pinned to its channel."""
    mention_everyone: bool
    """Whether the message notifies everybody in the channel."""
    tts: bool
    """Whether clients may read the message aloud."""
    mentions: list[PartialUser]
    """The accounts that the message notifies."""
    mention_roles: list[Snowflake]
    """Ids of the roles that the message notifies."""
    embeds: list[Embed]
    """Boxes below the message with a title, text, fields and pictures."""
    attachments: list[Attachment]
    """Files that belong to the message, in their order."""
    stickers: list[StickerItem]
    """The stickers it is about."""
    webhook_id: NotRequired[Snowflake]
    """The webhook that wrote it, by its id."""
    mention_channels: NotRequired[MentionedChannels]
    """Channels of other guilds that the message names."""
    users: NotRequired[list[PartialUser]]
    """Accounts, or the ids of accounts."""
    nsfw_emojis: NotRequired[list[Snowflake]]
    """Ids of the emojis in the message that are for adults."""
    reactions: NotRequired[list[Reaction]]
    """What was reacted with, and how often."""
    message_reference: NotRequired[MessageReference]
    """The message that this one answers or forwards."""
    message_snapshots: NotRequired[list[MessageSnapshot]]
    """What the forwarded message said at that time."""
    nonce: NotRequired[Annotated[str, length(32)]]
    """A text of the sender's choice that comes back in the Dispatch, so that it knows its own message again."""
    call: NotRequired[MessageCall]
    """The call that the message tells of."""
    referenced_message: NotRequired[Message | None]
    """The message that was answered; null once it is deleted."""
    thread: NotRequired[Thread]
    """The thread that was started from this message."""


class Post(Thread):
    message: Message
    """The message it is about."""


class MessageParts(TypedDict, total=False):
    """What other tables hold of a message, and what a viewer sees of them."""

    flags: Count
    reactions: list[Reaction]
    thread: Thread
