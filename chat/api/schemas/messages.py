"""Messages, what stands in them, and what readers do with them (messages.md, Message object)."""

from __future__ import annotations

from typing import Final

from chat.api.schemas.accounts import PARTIAL_USER
from chat.api.schemas.guilds.channels import CHANNEL, THREAD, THREAD_MEMBER
from chat.api.schemas.instance import ERROR
from chat.api.schemas.shapes import (
    ADDRESS,
    BOOLEAN,
    COLOR,
    COUNT,
    NOTHING,
    NUMBER,
    SNOWFLAKE,
    TEXT,
    TIMESTAMP,
    TRUE,
    binary,
    choice,
    integer,
    listed,
    mapped,
    member_of,
    named,
    nullable,
    record,
    text,
    wire_object,
)
from chat.registries.channel_types import ChannelType
from chat.registries.message_types import MessageReferenceType, MessageType

ATTACHMENT: Final = wire_object(
    "Attachment",
    {
        "id": SNOWFLAKE,
        "filename": TEXT,
        "title": nullable(TEXT),
        "description": nullable(TEXT),
        "content_type": TEXT,
        "content_hash": nullable(TEXT),
        "size": COUNT,
        "url": nullable(ADDRESS),
        "proxy_url": nullable(ADDRESS),
        "flags": COUNT,
        "expires_at": nullable(TIMESTAMP),
    },
    optional={
        "width": COUNT,
        "height": COUNT,
        "placeholder": TEXT,
        "nsfw": BOOLEAN,
        "duration": NUMBER,
        "waveform": TEXT,
        "expired": TRUE,
    },
)

EMBED_MEDIA: Final = wire_object(
    "EmbedMedia",
    {"url": ADDRESS},
    optional={
        "proxy_url": ADDRESS,
        "content_type": TEXT,
        "content_hash": TEXT,
        "width": COUNT,
        "height": COUNT,
        "description": TEXT,
        "placeholder": TEXT,
        "duration": NUMBER,
        "flags": COUNT,
    },
)

_AUTHOR: Final = {"url": ADDRESS, "icon_url": ADDRESS, "proxy_icon_url": ADDRESS}
EMBED_AUTHOR: Final = wire_object("EmbedAuthor", {"name": TEXT}, optional=_AUTHOR)

EMBED: Final = wire_object(
    "Embed",
    {"type": TEXT},
    optional={
        "url": ADDRESS,
        "title": TEXT,
        "color": COLOR,
        "timestamp": TIMESTAMP,
        "description": TEXT,
        "author": EMBED_AUTHOR,
        "image": EMBED_MEDIA,
        "thumbnail": EMBED_MEDIA,
        "video": EMBED_MEDIA,
        "audio": EMBED_MEDIA,
        "footer": record({"text": TEXT}, optional={"icon_url": ADDRESS, "proxy_icon_url": ADDRESS}),
        "fields": listed(record({"name": TEXT, "value": TEXT, "inline": BOOLEAN})),
        "provider": EMBED_AUTHOR,
        "html": TEXT,
        "html_width": COUNT,
        "html_height": COUNT,
        "nsfw": BOOLEAN,
        "children": listed(named("Embed")),
    },
)

REACTION_EMOJI: Final = record({"name": TEXT}, optional={"id": nullable(SNOWFLAKE), "animated": BOOLEAN})

REACTION: Final = wire_object("Reaction", {"emoji": REACTION_EMOJI, "count": COUNT, "me": BOOLEAN})

MESSAGE_REFERENCE: Final = wire_object(
    "MessageReference",
    {"channel_id": SNOWFLAKE, "type": member_of(MessageReferenceType)},
    optional={"message_id": SNOWFLAKE, "guild_id": SNOWFLAKE},
    description="What a message refers to; without `message_id` it tells of the channel.",
)

STICKER_ITEM: Final = wire_object(
    "StickerItem", {"id": SNOWFLAKE, "name": TEXT, "animated": BOOLEAN}, optional={"nsfw": BOOLEAN}
)

_MENTIONED_CHANNELS: Final = listed(
    record({"id": SNOWFLAKE, "name": TEXT, "type": member_of(ChannelType)}, optional={"guild_id": SNOWFLAKE})
)

MESSAGE_SNAPSHOT: Final = wire_object(
    "MessageSnapshot",
    {"timestamp": TIMESTAMP, "type": member_of(MessageType), "flags": COUNT},
    optional={
        "content": TEXT,
        "edited_timestamp": nullable(TIMESTAMP),
        "mentions": listed(SNOWFLAKE),
        "mention_roles": listed(SNOWFLAKE),
        "mention_channels": _MENTIONED_CHANNELS,
        "embeds": listed(EMBED),
        "attachments": listed(ATTACHMENT),
        "stickers": listed(STICKER_ITEM),
    },
    description="A forwarded message as it was.",
)

MESSAGE: Final = wire_object(
    "Message",
    {
        "id": SNOWFLAKE,
        "channel_id": SNOWFLAKE,
        "author": PARTIAL_USER,
        "type": member_of(MessageType),
        "flags": COUNT,
        "content": TEXT,
        "timestamp": TIMESTAMP,
        "edited_timestamp": nullable(TIMESTAMP),
        "pinned": BOOLEAN,
        "mention_everyone": BOOLEAN,
        "tts": BOOLEAN,
        "mentions": listed(PARTIAL_USER),
        "mention_roles": listed(SNOWFLAKE),
        "embeds": listed(EMBED),
        "attachments": listed(ATTACHMENT),
        "stickers": listed(STICKER_ITEM),
    },
    optional={
        "webhook_id": SNOWFLAKE,
        "mention_channels": _MENTIONED_CHANNELS,
        "users": listed(PARTIAL_USER),
        "nsfw_emojis": listed(SNOWFLAKE),
        "reactions": listed(REACTION),
        "message_reference": MESSAGE_REFERENCE,
        "message_snapshots": listed(MESSAGE_SNAPSHOT),
        "nonce": text(32),
        "call": record({"participants": listed(SNOWFLAKE), "ended_timestamp": nullable(TIMESTAMP)}),
        "referenced_message": nullable(named("Message")),
        "thread": THREAD,
    },
    description="A message. `referenced_message` is absent where nothing is answered, and null where that is gone.",
)

POST: Final = THREAD.extended("Post", {"message": MESSAGE})
"""A thread of a forum, with the message that begins it."""

FOUND_THREADS: Final = record(
    {
        "threads": listed(THREAD),
        "members": listed(THREAD_MEMBER),
        "has_more": BOOLEAN,
        "total_results": COUNT,
        "first_messages": listed(MESSAGE),
    }
)
"""A page of a search among threads."""

UPLOADED_FILE: Final = wire_object(
    "UploadedFile",
    {"id": SNOWFLAKE, "filename": TEXT, "upload_filename": TEXT, "size": COUNT, "content_type": TEXT},
    optional={"width": COUNT, "height": COUNT},
    description="A file that waits for its message.",
)

PROMISED_UPLOAD: Final = wire_object(
    "PromisedUpload",
    {"id": TEXT, "filename": TEXT, "upload_filename": TEXT, "upload_url": ADDRESS, "expires_at": TIMESTAMP},
    description="An address that takes one file.",
)

FILE: Final = {200: binary(), 206: binary(), 304: NOTHING, 416: ERROR}
"""A file, a range of it, or nothing for a client that has it already."""

REACTION_USERS: Final = record({"items": listed(PARTIAL_USER), "has_more": BOOLEAN, "next_after": nullable(SNOWFLAKE)})

PINS: Final = record({"items": listed(record({"message": MESSAGE, "pinned_at": TIMESTAMP})), "has_more": BOOLEAN})

CHANNELS_MESSAGES: Final = record({"channels": listed(record({"channel_id": SNOWFLAKE, "messages": listed(MESSAGE)}))})

NEWEST_MESSAGES: Final = mapped(nullable(MESSAGE), names=SNOWFLAKE)
"""By the channel's id."""

PURGED: Final = record({"deleted_count": COUNT})

SLOWMODE: Final = record(
    {
        "rate_limit_per_user": COUNT,
        "retry_after_ms": COUNT,
        "next_send_allowed_at": nullable(TIMESTAMP),
        "can_bypass": BOOLEAN,
    }
)

SAVED_MESSAGE: Final = wire_object(
    "SavedMessage",
    {
        "id": SNOWFLAKE,
        "channel_id": SNOWFLAKE,
        "message_id": SNOWFLAKE,
        "status": choice("available", "missing_permissions"),
        "message": nullable(MESSAGE),
    },
    description="A message that an account keeps; null where it may not read it at present.",
)

_SCHEDULED_REFERENCE: Final = record(
    {"message_id": SNOWFLAKE, "type": choice(0, 1)},
    optional={
        "channel_id": SNOWFLAKE,
        "fail_if_not_exists": BOOLEAN,
        "attachment_ids": listed(SNOWFLAKE),
        "embed_indices": listed(COUNT),
    },
)

_SCHEDULED_MENTIONS: Final = record(
    {
        "parse": listed(choice("users", "roles", "everyone")),
        "users": listed(SNOWFLAKE),
        "roles": listed(SNOWFLAKE),
        "replied_user": BOOLEAN,
    }
)

SCHEDULED_PAYLOAD: Final = wire_object(
    "ScheduledMessagePayload",
    {
        "content": TEXT,
        "tts": BOOLEAN,
        "flags": COUNT,
        "embeds": listed(EMBED),
        "attachments": listed(ATTACHMENT),
        "sticker_ids": listed(SNOWFLAKE),
    },
    optional={
        "nonce": TEXT,
        "allowed_mentions": _SCHEDULED_MENTIONS,
        "message_reference": _SCHEDULED_REFERENCE,
    },
    description="What a scheduled message will say.",
)

SCHEDULED_MESSAGE: Final = wire_object(
    "ScheduledMessage",
    {
        "id": SNOWFLAKE,
        "channel_id": SNOWFLAKE,
        "scheduled_at": TIMESTAMP,
        "scheduled_local_at": text(64),
        "timezone": text(128),
        "status": choice("pending", "invalid"),
        "status_reason": nullable(TEXT),
        "payload": SCHEDULED_PAYLOAD,
        "created_at": TIMESTAMP,
        "invalidated_at": nullable(TIMESTAMP),
    },
    description="A message that is sent later, or that could not be sent.",
)

FAVORITE_MEME: Final = wire_object(
    "FavoriteMeme",
    {
        "id": SNOWFLAKE,
        "user_id": SNOWFLAKE,
        "name": text(100),
        "alt_text": nullable(TEXT),
        "tags": listed(TEXT),
        "attachment_id": SNOWFLAKE,
        "filename": TEXT,
        "content_type": TEXT,
        "content_hash": nullable(TEXT),
        "size": COUNT,
        "width": nullable(COUNT),
        "height": nullable(COUNT),
        "duration": nullable(COUNT),
        "url": ADDRESS,
        "is_gifv": BOOLEAN,
    },
    description="A picture, a film or a sound that an account keeps at hand.",
)

SEARCH_RESULTS: Final = wire_object(
    "MessageSearchResults",
    {
        "messages": listed(MESSAGE, maximum=25),
        "channels": listed(CHANNEL, maximum=25),
        "total": integer(0, 10_000),
        "hits_per_page": integer(1, 25),
        "page": COUNT,
    },
    optional={"cursor": listed(SNOWFLAKE, maximum=1)},
    description="One page of the messages found. `cursor` is there when another page follows.",
)

INDEXING: Final = record({"indexing": TRUE})
"""The index is not ready; ask again later."""
