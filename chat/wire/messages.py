"""Messages, what stands in them, and what readers do with them (messages.md, Message object)."""

from __future__ import annotations

from typing import Annotated, Literal, NotRequired, TypedDict

from chat.registries.channel_types import ChannelType
from chat.registries.interactions import ComponentType, InteractionType
from chat.registries.message_types import MessageReferenceType, MessageType
from chat.wire.accounts import PartialUser
from chat.wire.channels import Thread
from chat.wire.polls import Poll, PollResults
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


class ComponentEmoji(Nameless):
    id: Snowflake | None
    """Id of an emoji of a guild; null for a character."""
    name: str | None
    """The character, or the name of the emoji."""
    animated: NotRequired[bool]
    """Whether the picture moves."""


class ComponentMedia(Nameless):
    url: Address
    """The address of the picture, the film or the file."""
    proxy_url: NotRequired[Address]
    """The address under which this server hands out the file."""
    width: NotRequired[Count]
    """Width in pixels."""
    height: NotRequired[Count]
    """Height in pixels."""
    content_type: NotRequired[str]
    """The media type of the file, such as `image/png`."""
    placeholder: NotRequired[str]
    """A blurred preview of the picture in base64 (ThumbHash)."""
    attachment_id: NotRequired[Snowflake]
    """The attachment of the message that it is."""


class MenuOption(Nameless):
    label: str
    """What people read, up to 100 characters."""
    value: str
    """What the application gets, up to 100 characters."""
    description: NotRequired[str]
    """A line below, up to 100 characters."""
    emoji: NotRequired[ComponentEmoji]
    """A sign before the label."""
    default: NotRequired[bool]
    """Whether it is chosen from the beginning."""


class MenuDefault(Nameless):
    id: Snowflake
    """What is chosen from the beginning."""
    type: str
    """What the id is of: `user`, `role` or `channel`."""


class GalleryItem(Nameless):
    media: ComponentMedia
    """The picture or film."""
    description: NotRequired[str]
    """What it shows, for those who cannot see it."""
    spoiler: NotRequired[bool]
    """Whether it is hidden until asked for."""


class Component(TypedDict):
    """A part of a message or of a form; which members it has follows from its type (interactions.md, Components)."""

    type: Annotated[int, one_of(ComponentType)]
    """What it is: 1 a row, 2 a button, 3 a menu of texts, 4 a text input, 5 to 8 menus of people, roles, both and
    channels, 9 a section, 10 text, 11 a small picture, 12 a gallery, 13 a file, 14 a separator, 17 a box,
    18 a label."""
    id: int
    """A number that no other component of the message has."""
    custom_id: NotRequired[str]
    """By what the application knows it, 1 to 100 characters; what has one can be pressed, chosen in or filled in."""
    components: NotRequired[list[Component]]
    """What a row, a section or a box holds."""
    component: NotRequired[Component]
    """What a label stands above."""
    accessory: NotRequired[Component]
    """The button or the small picture beside the texts of a section."""
    style: NotRequired[int]
    """Of a button 1 primary, 2 secondary, 3 success, 4 danger, 5 leads to `url`; of a text input 1 a line, 2 a
    field."""
    label: NotRequired[str]
    """What people read on it or above it."""
    emoji: NotRequired[ComponentEmoji]
    """A sign on the button."""
    url: NotRequired[Address]
    """Where a button of style 5 leads."""
    disabled: NotRequired[bool]
    """Whether it is shown and cannot be used."""
    placeholder: NotRequired[str]
    """What stands in a menu or an input that is empty."""
    min_values: NotRequired[Count]
    """The fewest values that may be chosen."""
    max_values: NotRequired[Count]
    """The most values that may be chosen."""
    options: NotRequired[list[MenuOption]]
    """The values of a menu of texts."""
    default_values: NotRequired[list[MenuDefault]]
    """What is chosen from the beginning in menus of people, roles and channels."""
    channel_types: NotRequired[list[Annotated[int, one_of(ChannelType)]]]
    """Types of the channels that may be chosen."""
    min_length: NotRequired[Count]
    """The fewest characters of a text input."""
    max_length: NotRequired[Count]
    """The most characters of a text input."""
    required: NotRequired[bool]
    """Whether a part of a form has to be filled in."""
    value: NotRequired[str]
    """What stands in a text input from the beginning."""
    content: NotRequired[str]
    """The text, with the markup of messages."""
    media: NotRequired[ComponentMedia]
    """The small picture."""
    description: NotRequired[str]
    """What a picture shows, or a line below a label."""
    spoiler: NotRequired[bool]
    """Whether it is hidden until asked for."""
    items: NotRequired[list[GalleryItem]]
    """The pictures and films of a gallery."""
    file: NotRequired[ComponentMedia]
    """The file of the message that is shown here."""
    name: NotRequired[str]
    """The name of the file."""
    size: NotRequired[Count]
    """The size of the file in bytes."""
    divider: NotRequired[bool]
    """Whether a separator shows a line."""
    spacing: NotRequired[int]
    """How much room a separator takes: 1 little, 2 more."""
    accent_color: NotRequired[Color]
    """The colour of the box's edge."""


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
    components: NotRequired[list[Component]]
    """Buttons, menus and other parts; nothing happens when they are used here."""


class MessageCall(Nameless):
    participants: list[Snowflake]
    """Ids of the accounts that took part."""
    ended_timestamp: Timestamp | None
    """When the call ended; null while it goes on."""


class TriggeringInteraction(Nameless):
    id: Snowflake
    """The interaction that was answered with the form."""
    type: Annotated[int, one_of(InteractionType)]
    """What the person did: 2 invoked a command, 3 used a component."""
    user: PartialUser
    """Who did it."""
    authorizing_integration_owners: dict[str, Snowflake]
    """To what the application is installed: by `0` the guild, or 0 for a conversation with its bot."""
    name: NotRequired[str]
    """The name of the command."""
    interacted_message_id: NotRequired[Snowflake]
    """The message whose component was used."""


class InteractionMetadata(Nameless):
    id: Snowflake
    """The interaction that the message answers."""
    type: Annotated[int, one_of(InteractionType)]
    """What the person did: 2 invoked a command, 3 used a component, 5 submitted a form."""
    user: PartialUser
    """Who did it."""
    authorizing_integration_owners: dict[str, Snowflake]
    """To what the application is installed: by `0` the guild, or 0 for a conversation with its bot."""
    name: NotRequired[str]
    """The name of the command."""
    interacted_message_id: NotRequired[Snowflake]
    """The message whose component was used."""
    original_response_message_id: NotRequired[Snowflake]
    """The first answer, where the message is a further one."""
    triggering_interaction_metadata: NotRequired[TriggeringInteraction]
    """The interaction that was answered with the form, where a form was submitted."""


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
    voice message, 64 for the reader alone, 128 an application is at work on it, 32768 its components stand in
    place of text and embeds."""
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
    components: list[Component]
    """Buttons, menus and other parts below the message, or in place of its text (flag 32768)."""
    poll: NotRequired[Poll]
    """What the message asks its readers, and their votes."""
    interaction_metadata: NotRequired[InteractionMetadata]
    """The interaction that an application answers with this message."""
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
    poll_results: PollResults
