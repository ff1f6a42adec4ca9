"""Forwarding: a message that carries a copy of another one (messages.md, Forwarding).

The copy is made once, of what the sender may read. Its files are rows of their own with the bytes of the original, so
that the copy stays whole when the original goes. Whoever forwards a forward carries what that carries. A forward holds
nothing that its sender may not send: files need ATTACH_FILES and embeds EMBED_LINKS where it goes.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping, Sequence
from typing import Any, Final

import attrs

from chat.auth.principal import Principal
from chat.clock import iso_timestamp
from chat.domain.messages.message_drafts import AttachmentDraft, Forward
from chat.domain.standing.access import Access, ChannelAccess
from chat.errors import ApiError, InvalidFormBody
from chat.registries.message_types import MessageFlag, MessageReferenceType, MessageType
from chat.registries.permissions import Permission
from chat.snowflake import SnowflakeGenerator, snowflake_time_ms
from chat.store.messages import attachments, messages
from chat.store.messages.messages import Message, MessageExtra, MessageReference

ATTACH_FILES: Final = Permission.ATTACH_FILES.value
EMBED_LINKS: Final = Permission.EMBED_LINKS.value

FORWARDED_TYPES: Final = frozenset({MessageType.DEFAULT, MessageType.REPLY})
"""Messages that somebody wrote; what the server says is about the place where it stands."""

SNAPSHOT_FLAGS: Final = int(MessageFlag.SUPPRESS_EMBEDS | MessageFlag.VOICE_MESSAGE | MessageFlag.COMPACT_ATTACHMENTS)
"""Flags that say how a message is shown."""


@attrs.frozen
class ForwardSource:
    """A message that is to be forwarded, in a channel whose history the sender may read."""

    reference: MessageReference
    forward: Forward


@attrs.frozen
class Carried:
    """What a forward carries."""

    source: MessageReference
    snapshot: Mapping[str, Any]
    files: tuple[AttachmentDraft, ...]


def forward_source(principal: Principal, access: Access, here: ChannelAccess, forward: Forward) -> ForwardSource:
    """Where the message comes from. Its channel is this one unless it names another.

    :raises ApiError: as `Access.channel`; UNKNOWN_MESSAGE for one that the sender may not read.
    """
    is_here = forward.channel_id is None or forward.channel_id == here.channel.id
    there = here if is_here else access.channel(principal, forward.channel_id or 0)
    if not there.reads(forward.message_id):
        raise ApiError("UNKNOWN_MESSAGE")
    reference = MessageReference(
        channel_id=there.channel.id,
        message_id=forward.message_id,
        guild_id=there.guild_id,
        type=MessageReferenceType.FORWARD.value,
    )
    return ForwardSource(reference, forward)


def read_source(connection: sqlite3.Connection, source: ForwardSource) -> Message:
    """The message to be forwarded.

    :raises ApiError: UNKNOWN_MESSAGE.
    :raises InvalidFormBody: at `message_reference.message_id` for one that the server wrote.
    """
    message = messages.by_id(connection, source.reference.channel_id, source.reference.message_id)
    if message is None:
        raise ApiError("UNKNOWN_MESSAGE")
    if message.type not in FORWARDED_TYPES:
        raise InvalidFormBody.at("message_reference.message_id", "INVALID_FORMAT")
    return message


def carry(
    message: Message, source: ForwardSource, access: ChannelAccess, user_id: int, snowflakes: SnowflakeGenerator
) -> Carried:
    """What of the message goes into the channel.

    :raises ApiError: MISSING_PERMISSIONS; CANNOT_SEND_EMPTY_MESSAGE where nothing of it is left.
    :raises InvalidFormBody: at `message_reference.attachment_ids` or `message_reference.embed_indices` for what the
        message does not have.
    """
    snapshot = _snapshot(message)
    embeds = _selected_embeds(snapshot.pop("embeds", ()), source.forward.embed_indices)
    if embeds:
        access.require(EMBED_LINKS)
        snapshot["embeds"] = embeds
    files = _copied_files(message, source.forward.attachment_ids, access.channel.id, user_id, snowflakes)
    if files:
        access.require(ATTACH_FILES)
    if not (files or embeds or snapshot.get("content") or snapshot.get("stickers")):
        raise ApiError("CANNOT_SEND_EMPTY_MESSAGE")
    return Carried(source.reference, snapshot, files)


def require_still_there(connection: sqlite3.Connection, carried: Carried) -> None:
    """In the unit that writes the forward: the original and its files have not gone meanwhile.

    :raises ApiError: UNKNOWN_MESSAGE.
    """
    source = carried.source
    if not messages.exists(connection, source.channel_id, source.message_id):
        raise ApiError("UNKNOWN_MESSAGE")
    if carried.files:
        kept = {file.id for file in attachments.of_messages(connection, [source.message_id]).get(source.message_id, ())}
        if not {file.origin_id for file in carried.files} <= kept:
            raise ApiError("UNKNOWN_MESSAGE")


def _snapshot(message: Message) -> dict[str, Any]:
    extra = message.extra or MessageExtra()
    if extra.snapshots:
        return dict(extra.snapshots[0])
    snapshot: dict[str, Any] = {
        "content": message.content,
        "timestamp": iso_timestamp(snowflake_time_ms(message.id)),
        "edited_timestamp": None if message.edited_at is None else iso_timestamp(message.edited_at),
        "mentions": [str(user_id) for user_id in message.mentioned_user_ids],
        "mention_roles": [str(role_id) for role_id in message.mentioned_role_ids],
        "type": message.type,
        "flags": message.flags & SNAPSHOT_FLAGS,
    }
    if extra.mention_channels:
        snapshot["mention_channels"] = list(extra.mention_channels)
    if extra.stickers:
        snapshot["stickers"] = list(extra.stickers)
    if not message.flags & MessageFlag.SUPPRESS_EMBEDS:
        snapshot["embeds"] = [*extra.embeds, *extra.link_embeds]
    return snapshot


def _selected_embeds(embeds: Sequence[dict[str, Any]], indices: Sequence[int] | None) -> list[dict[str, Any]]:
    if indices is None:
        return list(embeds)
    if any(index >= len(embeds) for index in indices):
        raise InvalidFormBody.at("message_reference.embed_indices", "INVALID_FORMAT")
    return [embed for index, embed in enumerate(embeds) if index in indices]


def _copied_files(
    message: Message,
    attachment_ids: Sequence[int] | None,
    channel_id: int,
    user_id: int,
    snowflakes: SnowflakeGenerator,
) -> tuple[AttachmentDraft, ...]:
    files = message.attachments
    if attachment_ids is not None:
        if not {file.id for file in files} >= set(attachment_ids):
            raise InvalidFormBody.at("message_reference.attachment_ids", "INVALID_FORMAT")
        files = tuple(file for file in files if file.id in attachment_ids)
    return tuple(
        AttachmentDraft(
            attrs.evolve(
                file,
                id=snowflakes(),
                channel_id=channel_id,
                message_id=None,
                user_id=user_id,
                position=position,
                file_id=file.id if file.file_id is None else file.file_id,
            ),
            is_promised=False,
            origin_id=file.id,
        )
        for position, file in enumerate(files)
    )
