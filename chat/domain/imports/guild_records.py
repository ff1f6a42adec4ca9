"""Rows of a guild as records of the intermediate form, and what of them has no place in it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

import attrs

from chat.imports.community import MESSAGE_FLAGS
from chat.imports.form import (
    ChannelRecord,
    FileRecord,
    ForumRecord,
    MessageRecord,
    OverwriteRecord,
    ReactionRecord,
    ReferenceRecord,
    RoleRecord,
    TagRecord,
    ThreadRecord,
    TroubleRecord,
)
from chat.registries.message_types import AttachmentFlag
from chat.store.guilds.channels import Channel, Forum
from chat.store.guilds.guilds import Guild
from chat.store.guilds.roles import Role
from chat.store.imports.portions import GivenReaction
from chat.store.messages.attachments import Attachment
from chat.store.messages.messages import Message, MessageExtra
from chat.store.threads import Thread

COMES_ALONG: Final[Mapping[type[Any], frozenset[str]]] = {
    Guild: frozenset({"id", "name", "icon", "owner_id", "created_at", "member_count"}),
    Channel: frozenset(field.name for field in attrs.fields(Channel)) - {"rtc_region", "message_retention_days"},
    MessageExtra: frozenset(
        {"webhook_name", "attachments", "embeds", "link_embeds", "stickers", "snapshots", "components"}
    ),
}
"""What of a row comes along, follows from what does, or is the new place's own."""


def left_behind(row: Any, what: str, name: str) -> Iterator[TroubleRecord]:
    """What the form has no place for, of a row in which it says something."""
    for field in attrs.fields(type(row)):
        if field.name not in COMES_ALONG[type(row)] and getattr(row, field.name) != field.default:
            yield TroubleRecord(what=what, name=f"{name}: {field.name}", reason="stays behind")


def left_of_message(message: Message) -> Iterator[TroubleRecord]:
    """The same of a message."""
    name = str(message.id)
    if message.flags & ~MESSAGE_FLAGS:
        yield TroubleRecord(what="message", name=f"{name}: flags", reason="stays behind")
    if any(file.flags & AttachmentFlag.CONTAINS_EXPLICIT_MEDIA for file in message.attachments):
        yield TroubleRecord(what="file", name=f"{name}: explicit", reason="stays behind")
    extra = message.extra
    if extra is not None:
        yield from left_behind(extra, "message", name)
        if extra.snapshots and "components" in extra.snapshots[0]:
            yield TroubleRecord(what="components", name=name, reason="stays behind")


def role_record(role: Role) -> RoleRecord:
    return RoleRecord(
        id=role.id,
        name=role.name,
        color=role.color,
        position=role.position,
        permissions=role.permissions,
        hoist=role.hoist,
        hoist_position=role.hoist_position,
        mentionable=role.mentionable,
        unicode_emoji=role.unicode_emoji,
    )


def channel_record(channel: Channel, thread: Thread | None = None) -> ChannelRecord:
    tags = () if channel.forum is None else channel.forum.tags
    return ChannelRecord(
        id=channel.id,
        type=channel.type,
        name=channel.name or "?",
        topic=channel.topic,
        parent_id=channel.parent_id,
        position=channel.position,
        nsfw=channel.nsfw,
        nsfw_override=channel.nsfw_override,
        content_warning_level=channel.content_warning_level,
        content_warning_text=channel.content_warning_text,
        flags=channel.flags,
        rate_limit_per_user=channel.rate_limit_per_user,
        bitrate=channel.bitrate,
        user_limit=channel.user_limit,
        voice_connection_limit=channel.voice_connection_limit,
        url=channel.url,
        default_auto_archive_duration=channel.default_auto_archive_duration,
        default_thread_rate_limit_per_user=channel.default_thread_rate_limit_per_user,
        overwrites=tuple(
            OverwriteRecord(target_id=one.target_id, type=one.type, allow=one.allow, deny=one.deny)
            for one in channel.overwrites
        ),
        tags=tuple(
            TagRecord(
                id=tag.id, name=tag.name, moderated=tag.moderated, emoji_id=tag.emoji_id, emoji_name=tag.emoji_name
            )
            for tag in tags
        ),
        forum=None if channel.forum is None else _forum_record(channel.forum),
        thread=None if thread is None else _thread_record(thread),
    )


def _forum_record(forum: Forum) -> ForumRecord | None:
    reaction = forum.default_reaction
    found = ForumRecord(
        emoji_id=None if reaction is None else reaction.emoji_id,
        emoji_name=None if reaction is None else reaction.emoji_name,
        sort_order=forum.default_sort_order,
        layout=forum.default_layout,
        tag_setting=forum.default_tag_setting,
    )
    return None if found == ForumRecord() else found


def _thread_record(thread: Thread) -> ThreadRecord:
    return ThreadRecord(
        owner_id=thread.channel.owner_id,
        archived=thread.archived,
        locked=thread.locked,
        invitable=thread.invitable,
        auto_archive_duration=thread.auto_archive_duration,
        created_at=thread.created_at,
        applied_tags=thread.applied_tags,
    )


def message_record(message: Message, reactions: Sequence[GivenReaction]) -> MessageRecord:
    """A message without its files."""
    extra = message.extra or MessageExtra()
    reference = message.reference
    snapshot = dict(extra.snapshots[0]) if extra.snapshots else None
    for left_out in ("attachments", "components") if snapshot else ():
        snapshot = {name: value for name, value in (snapshot or {}).items() if name != left_out}
    return MessageRecord(
        id=message.id,
        channel_id=message.channel_id,
        author_id=message.author_id if message.webhook_id is None else message.webhook_id,
        type=message.type,
        content=message.content or _words_of_poll(extra),
        flags=message.flags & MESSAGE_FLAGS,
        edited_at=message.edited_at,
        pinned=message.pinned_at is not None,
        pinned_at=message.pinned_at,
        webhook_name=None if message.webhook_id is None else extra.webhook_name or "?",
        mentions=message.mentioned_user_ids,
        mention_roles=message.mentioned_role_ids,
        mention_everyone=message.mention_everyone,
        tts=message.tts,
        reference=None
        if reference is None
        else ReferenceRecord(channel_id=reference.channel_id, message_id=reference.message_id, type=reference.type),
        embeds=(*extra.embeds, *extra.link_embeds),
        stickers=extra.stickers,
        components=extra.components,
        snapshot=snapshot,
        reactions=tuple(
            ReactionRecord(
                name=one.emoji.name,
                emoji_id=one.emoji.id,
                animated=one.emoji.animated,
                count=len(one.user_ids),
                user_ids=one.user_ids,
            )
            for one in reactions
        ),
    )


def _words_of_poll(extra: MessageExtra) -> str:
    """What a poll asks, as a text: its votes stay behind."""
    if extra.poll is None:
        return ""
    answers = (answer["poll_media"] for answer in extra.poll["answers"])
    words = (each.get("text") or (each["emoji"]["name"] or "?") for each in answers)
    return "\n".join((extra.poll["question"]["text"], *(f"- {word}" for word in words)))


def file_record(file: Attachment, path: str) -> FileRecord:
    return FileRecord(
        id=file.id,
        name=file.filename,
        size=file.size,
        path=path,
        title=file.title,
        description=file.description,
        spoiler=bool(file.flags & AttachmentFlag.IS_SPOILER),
        waveform=file.waveform,
    )
