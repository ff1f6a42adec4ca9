"""Messages in lists, kept messages, and files before they are sent (messages.md, Message object)."""

from __future__ import annotations

from typing import Annotated, Literal, NotRequired, TypedDict

from chat.wire.accounts import PartialUser
from chat.wire.channels import Channel, Thread, ThreadMember
from chat.wire.messages import Attachment, Embed, Message
from chat.wire.values import Address, Count, Nameless, Snowflake, Timestamp, among, items, length, within


class FoundThreads(Nameless):
    threads: list[Thread]
    """The threads on this page."""
    members: list[ThreadMember]
    """The members it is about."""
    has_more: bool
    """Whether there is another page."""
    total_results: Count
    """How many results there are on all pages."""
    first_messages: list[Message]
    """The first message of each thread found."""


class UploadedFile(TypedDict):
    """A file that waits for its message."""

    id: Snowflake
    """Id of the object, as a decimal number in text."""
    filename: str
    """The name of the file as it is shown and downloaded."""
    upload_filename: str
    """The name under which the upload is kept until its message is sent."""
    size: Count
    """Size of the file in bytes."""
    content_type: str
    """The media type of the file, such as `image/png`."""
    width: NotRequired[Count]
    """Width in pixels; null for what has none."""
    height: NotRequired[Count]
    """Height in pixels; null for what has none."""


class PromisedUpload(TypedDict):
    """An address that takes one file."""

    id: str
    """Id of the object, as a decimal number in text."""
    filename: str
    """The name of the file as it is shown and downloaded."""
    upload_filename: str
    """The name under which the upload is kept until its message is sent."""
    upload_url: Address
    """Where the bytes of the file are sent with PUT."""
    expires_at: Timestamp
    """When it ends; null for never."""


class ReactionUsers(Nameless):
    items: list[PartialUser]
    """The results on this page."""
    has_more: bool
    """Whether there is another page."""
    next_after: Snowflake | None
    """Where the next page begins; null on the last one."""


class Pin(Nameless):
    message: Message
    """The message it is about."""
    pinned_at: Timestamp
    """When the message was pinned."""


class Pins(Nameless):
    items: list[Pin]
    """The results on this page."""
    has_more: bool
    """Whether there is another page."""


class ChannelMessages(Nameless):
    channel_id: Snowflake
    """The channel that it is in, by its id."""
    messages: list[Message]
    """The messages it is about."""


class ChannelsMessages(Nameless):
    channels: list[ChannelMessages]
    """The channels it is about."""


NewestMessages = dict[Snowflake, Message | None]


class Purged(Nameless):
    deleted_count: Count
    """How many messages were deleted."""


class Slowmode(Nameless):
    rate_limit_per_user: Count
    """Seconds between two messages of a member (slow mode); 0 for none."""
    retry_after_ms: Count
    """Milliseconds until the caller may write again."""
    next_send_allowed_at: Timestamp | None
    """When the caller may write again; null for now."""
    can_bypass: bool
    """Whether the caller's permissions lift slow mode."""


class SavedMessage(TypedDict):
    """A message that an account keeps; null where it may not read it at present."""

    id: Snowflake
    """Id of the object, as a decimal number in text."""
    channel_id: Snowflake
    """The channel that it is in, by its id."""
    message_id: Snowflake
    """The message that is meant, by its id."""
    status: Literal["available", "missing_permissions"]
    """How it stands at this moment."""
    message: Message | None
    """The message it is about."""


class ReminderMoments(TypedDict):
    """When an account is reminded of a message, as REMINDER_UPDATE has it."""

    message_id: Snowflake
    """The message that is meant, by its id."""
    channel_id: Snowflake
    """The channel that it is in, by its id."""
    remind_at: Timestamp
    """When the account wants to be reminded."""
    told_at: Timestamp | None
    """When the account was told; null until the reminder has fallen due."""


class Reminder(ReminderMoments):
    """A message of which an account wants to be reminded."""

    status: Literal["available", "deleted", "missing_permissions"]
    """How it stands at this moment."""
    message: Message | None
    """The message it is about; null where it was deleted, or the account may not read it at present."""


class FavoriteMeme(TypedDict):
    """A picture, a film or a sound that an account keeps at hand."""

    id: Snowflake
    """Id of the object, as a decimal number in text."""
    user_id: Snowflake
    """Id of the account."""
    name: Annotated[str, length(100)]
    """The name that people read."""
    alt_text: str | None
    """What the picture shows, for those who cannot see it."""
    tags: list[str]
    """Words by which it is found."""
    attachment_id: Snowflake
    """Id of the attached file."""
    filename: str
    """The name of the file as it is shown and downloaded."""
    content_type: str
    """The media type of the file, such as `image/png`."""
    content_hash: str | None
    """SHA-256 of the file in hexadecimal digits; null where it is not known."""
    size: Count
    """Size of the file in bytes."""
    width: Count | None
    """Width in pixels; null for what has none."""
    height: Count | None
    """Height in pixels; null for what has none."""
    duration: Count | None
    """Seconds that it plays; null for what does not."""
    url: Address
    """The address it leads to."""
    is_gifv: bool
    """Whether it is a film without sound that plays like a moving picture."""


class MessageSearchResults(TypedDict):
    """One page of the messages found. `cursor` is there when another page follows."""

    messages: Annotated[list[Message], items(25)]
    """The messages it is about."""
    channels: Annotated[list[Channel], items(25)]
    """The channels it is about."""
    total: Annotated[int, within(0, 10_000)]
    """How many there are on all pages."""
    hits_per_page: Annotated[int, within(1, 25)]
    """How many results a page has."""
    page: Count
    """Which page of the results, counted from 1."""
    cursor: NotRequired[Annotated[list[Snowflake], items(1)]]
    """Where the next page begins; sent back as it came."""


class Indexing(Nameless):
    indexing: Literal[True]
    """True while the messages are still being made searchable."""


class PromiseUploadsAnswer(Nameless):
    attachments: list[PromisedUpload]
    """Files that belong to the message, in their order."""


class CompleteUploadsAnswer(Nameless):
    attachments: list[UploadedFile]
    """Files that belong to the message, in their order."""


class ScheduledReference(Nameless):
    message_id: Snowflake
    type: Annotated[int, among(0, 1)]
    channel_id: NotRequired[Snowflake]
    fail_if_not_exists: NotRequired[bool]
    attachment_ids: NotRequired[list[Snowflake]]
    embed_indices: NotRequired[list[Count]]


MentionKind = Literal["users", "roles", "everyone"]


class ScheduledMentions(Nameless):
    parse: list[MentionKind]
    users: list[Snowflake]
    roles: list[Snowflake]
    replied_user: bool


class ScheduledBody(TypedDict):
    """What a scheduled message will say, without its files."""

    content: str
    tts: bool
    flags: Count
    embeds: list[Embed]
    sticker_ids: list[Snowflake]
    nonce: NotRequired[str]
    allowed_mentions: NotRequired[ScheduledMentions]
    message_reference: NotRequired[ScheduledReference]


class ScheduledMessagePayload(TypedDict):
    """What a scheduled message will say."""

    content: str
    tts: bool
    flags: Count
    embeds: list[Embed]
    attachments: list[Attachment]
    sticker_ids: list[Snowflake]
    nonce: NotRequired[str]
    allowed_mentions: NotRequired[ScheduledMentions]
    message_reference: NotRequired[ScheduledReference]


class ScheduledMessage(TypedDict):
    """A message that is sent later, or that could not be sent."""

    id: Snowflake
    channel_id: Snowflake
    scheduled_at: Timestamp
    scheduled_local_at: Annotated[str, length(64)]
    timezone: Annotated[str, length(128)]
    status: Literal["pending", "invalid"]
    status_reason: str | None
    payload: ScheduledMessagePayload
    created_at: Timestamp
    invalidated_at: Timestamp | None


class Draft(TypedDict):
    """What an account has typed in a channel and not sent."""

    channel_id: Snowflake
    """The channel that it is in, by its id."""
    content: Annotated[str, length(4_000)]
    """The text; empty once it was sent or deleted."""
    edited_at: Timestamp
    """When the text was last changed."""


class Gif(TypedDict):
    """A moving picture at the service that the operator has named."""

    id: Annotated[str, length(200)]
    """What the service calls the picture."""
    title: Annotated[str, length(200)]
    """What the picture shows, in the service's words; may be empty."""
    url: Address
    """The picture's own address, which is what is sent."""
    preview_url: Address
    """The address here under which this server hands out a small rendition."""
    width: Count
    """Width in pixels; 0 where it is not told."""
    height: Count
    """Height in pixels; 0 where it is not told."""


class Gifs(TypedDict):
    """A page of moving pictures."""

    gifs: Annotated[list[Gif], items(24)]
    """The moving pictures, the best first."""
    next: str | None
    """Where the next page begins; null where there is none."""
