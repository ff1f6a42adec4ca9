"""Editing messages (messages.md, Editing messages).

Authors change what they wrote; others may, with MANAGE_MESSAGES, hide and show the embeds of a message and nothing
else. The change is made to the message as it is in the unit, so that what comes to it from elsewhere meanwhile (embeds
of links, a call's end, a pin) stays.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping, Sequence
from typing import Any, Final

import attrs

from chat import wire
from chat.auth.principal import Principal
from chat.classes import define, frozen
from chat.config import Limits
from chat.domain.core import Core
from chat.domain.messages.message_context import (
    CountedMentions,
    JudgedText,
    ParsedMentions,
    count_mentions,
    judge_text,
    parse_mentions,
)
from chat.domain.messages.message_deletion import (
    DeletedMessage,
    MessageDeletion,
    is_own,
    moderating_actor,
    named_message,
)
from chat.domain.messages.message_drafts import (
    SECOND_FORM,
    AttachmentDraft,
    MessageEdit,
    place_of_components,
    put_into_message,
    require_content,
    require_form,
)
from chat.domain.messages.message_events import message_updated
from chat.domain.messages.message_reading import (
    StoredMessages,
    Viewer,
    accounts_by_id,
    has_parts,
    require_message,
    require_of_application,
    require_of_webhook,
    viewer_of,
    with_context,
)
from chat.domain.policy.component_trees import is_interactive, placed_components, require_own_files, walk
from chat.domain.policy.embeds import require_embeds, with_own_files
from chat.domain.standing.access import ChannelAccess, GuildChannelAccess
from chat.domain.standing.guild_objects import EMOJIS
from chat.domain.standing.private_channels import require_unblocked
from chat.domain.standing.user_objects import limits_of
from chat.errors import ApiError, InvalidFormBody
from chat.registries.error_codes import ErrorCode, FieldCode
from chat.registries.message_types import WRITTEN_MESSAGE_TYPES, MessageFlag
from chat.registries.permissions import Permission
from chat.snowflake import MAXIMUM
from chat.store.accounts import accounts
from chat.store.accounts.accounts import Account
from chat.store.guard import Guard
from chat.store.guilds import expressions
from chat.store.guilds.expressions import ExpressionPlace
from chat.store.messages import attachments, messages
from chat.store.messages.attachments import Attachment
from chat.store.messages.messages import Message, MessageExtra

EDITABLE_FLAGS: Final = MessageFlag.SUPPRESS_EMBEDS.value
"""Bits that an edit sets and clears."""

LOADING: Final = MessageFlag.LOADING.value
MANAGE_MESSAGES: Final = Permission.MANAGE_MESSAGES.value


@frozen
class _NewText:
    """A new text, and what it names."""

    text: JudgedText
    counted: CountedMentions


@frozen
class _Edited:
    stored: StoredMessages
    for_author: StoredMessages


@define(kw_only=True, eq=False)
class MessageEditing:
    _core: Core
    _deletion: MessageDeletion

    async def edit(self, principal: Principal, channel_id: int, message_id: int, edit: MessageEdit) -> wire.Message:
        """Change a message; mentions are judged afresh, and notify no account again.

        Only a change of text, embeds or files marks the message as edited.

        :raises ApiError: as `Access.channel`; UNKNOWN_MESSAGE, CANNOT_EDIT_OTHER_USER_MESSAGE (also for what the server
            wrote, and for what a forward carries), MISSING_PERMISSIONS, COMMUNICATION_DISABLED, THREAD_ARCHIVED,
            THREAD_LOCKED, CANNOT_SEND_EMPTY_MESSAGE, CANNOT_SEND_MESSAGES_TO_USER (blocked, either way),
            CONTENT_BLOCKED, FILE_SIZE_TOO_LARGE.
        :raises InvalidFormBody: CONTENT_EXCEEDS_MAX_LENGTH at `content`; as `require_embeds`; TOO_MANY_FILES and
            INVALID_FORMAT at `attachments`.
        """
        access, message = named_message(self._core, principal, channel_id, message_id)
        now_ms, own = self._core.clock.now_ms(), is_own(access, message)
        if message.type not in WRITTEN_MESSAGE_TYPES or not (own or edit.changes_flags_alone):
            raise ApiError(ErrorCode.CANNOT_EDIT_OTHER_USER_MESSAGE)
        if not own:
            access.require(MANAGE_MESSAGES)
        access.require_voice(now_ms)
        access.require_open(now_ms)
        if edit.attachments:
            access.require(Permission.ATTACH_FILES.value)
        if edit.embeds:
            access.require(Permission.EMBED_LINKS.value)
        if edit.components and not principal.is_bot:
            raise InvalidFormBody.at("components", FieldCode.COMPONENTS_FOR_BOTS_ONLY)
        limits = limits_of(self._core.settings, principal.account, now_ms)
        return await self._edited(access, message, edit, limits, viewer_of(principal), principal.guard)

    async def remove_attachment(
        self, principal: Principal, channel_id: int, message_id: int, attachment_id: int, reason: str | None = None
    ) -> None:
        """Take one file off one's own message, or with MANAGE_MESSAGES off any. A message without anything left in it
        is deleted.

        :raises ApiError: as `edit`; NOT_FOUND for a file that the message does not have.
        """
        access, message = named_message(self._core, principal, channel_id, message_id)
        actor = moderating_actor(access, message, reason)
        now_ms = self._core.clock.now_ms()
        access.require_voice(now_ms)
        access.require_open(now_ms)
        edit, viewer = MessageEdit(removed_attachment=attachment_id), viewer_of(principal)
        limits = limits_of(self._core.settings, principal.account, now_ms)

        def unit(connection: sqlite3.Connection) -> _Edited | DeletedMessage:
            before = require_message(connection, message.channel_id, message.id)
            if _is_empty(_with_files(before, edit, limits)):
                return self._deletion.remove(connection, access, before, actor)
            return self._write(connection, before, edit, _applied(before, edit, None, limits, now_ms), viewer)

        def then(done: _Edited | DeletedMessage) -> None:
            if isinstance(done, DeletedMessage):
                self._deletion.announce(access, done)
            else:
                self._announce(access, done)

        await self._core.database.write(unit, then, guard=principal.guard)

    async def edit_of_webhook(
        self, webhook_id: int, access: GuildChannelAccess, message_id: int, edit: MessageEdit, guard: Guard
    ) -> wire.Message:
        """Change a message that the webhook wrote.

        :raises ApiError: UNKNOWN_MESSAGE, THREAD_ARCHIVED, THREAD_LOCKED, CANNOT_SEND_EMPTY_MESSAGE, CONTENT_BLOCKED,
            FILE_SIZE_TOO_LARGE.
        :raises InvalidFormBody: as `edit`.
        """
        message = require_of_webhook(self._core.database.reader, webhook_id, access, message_id)
        access.require_open(self._core.clock.now_ms())
        if any(is_interactive(component) for _, component in walk(edit.components or ())):
            raise InvalidFormBody.at("components", FieldCode.COMPONENTS_FOR_BOTS_ONLY)
        limits = self._core.settings.limits_for(premium=False)
        return await self._edited(access, message, edit, limits, Viewer(message.author_id), guard)

    async def edit_of_application(
        self, bot_id: int, access: ChannelAccess, message_id: int, edit: MessageEdit, guard: Guard
    ) -> wire.Message:
        """Change a message that the application wrote in answer to an interaction.

        :raises ApiError: as `edit_of_webhook`.
        :raises InvalidFormBody: as `edit`.
        """
        message = require_of_application(self._core.database.reader, bot_id, access, message_id)
        access.require_open(self._core.clock.now_ms())
        limits = self._core.settings.limits_for(premium=False)
        return await self._edited(access, message, edit, limits, Viewer(bot_id), guard)

    async def _edited(
        self, access: ChannelAccess, message: Message, edit: MessageEdit, limits: Limits, viewer: Viewer, guard: Guard
    ) -> wire.Message:
        self._require_good(message, edit, limits)
        new_text = None if edit.content is None else await self._judged(access, message, edit.content, edit)
        now_ms = self._core.clock.now_ms()

        def unit(connection: sqlite3.Connection) -> _Edited:
            before = require_message(connection, message.channel_id, message.id)
            if not edit.changes_flags_alone:
                require_unblocked(connection, access)
            return self._write(connection, before, edit, _applied(before, edit, new_text, limits, now_ms), viewer)

        done = await self._core.database.write(unit, lambda done: self._announce(access, done), guard=guard)
        floor, shown = access.history_floor(), done.for_author
        return shown.object_of(shown.messages[0], self._core.media_addresses, MAXIMUM if floor is None else floor)

    def _write(
        self, connection: sqlite3.Connection, before: Message, edit: MessageEdit, edited: Message, viewer: Viewer
    ) -> _Edited:
        """In a unit: write the message as it is after the edit."""
        messages.update(connection, edited)
        _write_files(connection, before, edited)
        if edit.attachments:
            drafts = _placed(edit.attachments, edited)
            put_into_message(connection, edited, drafts, self._core.settings, self._core.clock.now_ms())
        stored = with_context(connection, [edited])
        shown_alike = not any(has_parts(shown) for shown in (edited, *stored.referenced.values()))
        for_author = stored if shown_alike else with_context(connection, [edited], viewer=viewer)
        return _Edited(stored, for_author)

    def _announce(self, access: ChannelAccess, done: _Edited) -> None:
        renewed = self._core.access.renewed(access)
        if renewed is not None:
            self._core.bus.publish(message_updated(renewed, done.stored, self._core.media_addresses))

    def _require_good(self, message: Message, edit: MessageEdit, limits: Limits) -> None:
        """Check what can be checked of an edit by itself."""
        if edit.content is not None:
            require_content(edit.content, limits.max_message_length, needed=False)
            self._core.blocked.require_text(edit.content)
        if edit.embeds:
            require_embeds(edit.embeds, limits.max_embeds_per_message)
            self._core.blocked.require_embeds(edit.embeds)
        self._core.blocked.require_components(edit.components or ())
        for kept in (edit.kept_attachments or {}).values():
            self._core.blocked.require_text("\n".join((kept.title or "", kept.description or "")))
        if edit.attachments:
            self._core.blocked.require_files(file.attachment for file in edit.attachments)
        if message.extra is not None and message.extra.snapshots and not edit.changes_flags_alone:
            raise ApiError(ErrorCode.CANNOT_EDIT_OTHER_USER_MESSAGE)

    async def _judged(self, access: ChannelAccess, message: Message, content: str, edit: MessageEdit) -> _NewText:
        """The new text and its mentions; an author who is mentioned by being answered stays so."""
        parsed = parse_mentions(content)
        if message.reference is None and not parsed.user_ids and not parsed.emoji_ids:
            counted = count_mentions(access, parsed, edit.allowed_mentions, {})
            return _NewText(judge_text(access, content, parsed, {}), counted)
        named, replied_to, emojis = await self._core.database.read(
            lambda connection: _find_named(connection, message, parsed)
        )
        counted = count_mentions(access, parsed, edit.allowed_mentions, named, replied_to)
        return _NewText(judge_text(access, content, parsed, emojis), counted)


def _is_empty(message: Message) -> bool:
    """Whether there is nothing in the message."""
    extra = message.extra or MessageExtra()
    return not (
        message.content.strip()
        or message.attachments
        or extra.embeds
        or extra.components
        or extra.stickers
        or extra.snapshots
        or extra.poll
    )


def _find_named(
    connection: sqlite3.Connection, message: Message, parsed: ParsedMentions
) -> tuple[Mapping[int, Account], Account | None, Mapping[int, ExpressionPlace]]:
    named = accounts_by_id(connection, parsed.user_ids)
    emojis = expressions.places(connection, EMOJIS, parsed.emoji_ids) if parsed.emoji_ids else {}
    reference, answered = message.reference, None
    if reference is not None:
        answered = messages.by_id(connection, reference.channel_id, reference.message_id)
    if answered is None or answered.author_id not in message.mentioned_user_ids:
        return named, None, emojis
    return named, accounts.by_id(connection, answered.author_id), emojis


def _applied(before: Message, edit: MessageEdit, new_text: _NewText | None, limits: Limits, now_ms: int) -> Message:
    """The message after the edit.

    :raises ApiError: CANNOT_SEND_EMPTY_MESSAGE; NOT_FOUND for a file to be removed that is not there.
    :raises InvalidFormBody: at `attachments`.
    """
    edited = _with_files(before, edit, limits)
    if new_text is not None:
        edited = _with_text(edited, new_text)
    if edit.embeds is not None:
        edited = _with_extra(edited, embeds=with_own_files(edit.embeds, edited.attachments))
    edited = _with_components(edited, edit)
    if _is_empty(edited):
        raise ApiError(ErrorCode.CANNOT_SEND_EMPTY_MESSAGE)
    if edit.flags is not None:
        edited = attrs.evolve(edited, flags=edited.flags & ~EDITABLE_FLAGS | edit.flags & EDITABLE_FLAGS)
    if edited.flags & LOADING and not edit.changes_flags_alone:
        return attrs.evolve(edited, flags=edited.flags & ~LOADING)  # it is there now, and was not there before
    return attrs.evolve(edited, edited_at=now_ms) if _says_something_else(before, edited) else edited


def _with_components(message: Message, edit: MessageEdit) -> Message:
    """The message with its new components. Once they stand in place of a text they stay there; those of a file that
    goes cannot stay."""
    if edit.components is not None:
        flags = message.flags | ((edit.flags or 0) & SECOND_FORM)
        placed = placed_components(edit.components, place_of_components(flags))
        message = _with_extra(attrs.evolve(message, flags=flags), components=placed)
    extra = message.extra or MessageExtra()
    if extra.components:
        require_own_files(extra.components, message.attachments)
    require_form(message.flags, extra.components, message.content, extra.embeds or extra.stickers)
    return message


def _says_something_else(before: Message, after: Message) -> bool:
    """Whether text, embeds, components or files differ."""

    def said(message: Message) -> tuple[object, ...]:
        extra = message.extra or MessageExtra()
        return message.content, extra.embeds, extra.components, message.attachments

    return said(before) != said(after)


def _with_text(message: Message, new: _NewText) -> Message:
    counted = new.counted
    changed = attrs.evolve(
        message,
        content=new.text.content,
        mention_everyone=counted.everyone or counted.here,
        mentioned_user_ids=counted.user_ids,
        mentioned_role_ids=counted.role_ids,
    )
    links = {} if new.text.content == message.content else {"link_embeds": ()}  # they are of the links in the old text
    return _with_extra(changed, **new.text.extra, **links)


def _with_files(message: Message, edit: MessageEdit, limits: Limits) -> Message:
    """The message with those of its files that stay, and with the new ones."""
    kept = {file.id: file for file in message.attachments}
    if edit.kept_attachments is not None:
        if not edit.kept_attachments.keys() <= kept.keys():
            raise InvalidFormBody.at("attachments", FieldCode.INVALID_FORMAT)
        kept = {file_id: _worded(file, edit) for file_id, file in kept.items() if file_id in edit.kept_attachments}
    if edit.removed_attachment is not None and kept.pop(edit.removed_attachment, None) is None:
        raise ApiError(ErrorCode.NOT_FOUND)
    files = _in_order(kept, [attrs.evolve(draft.attachment, message_id=message.id) for draft in edit.attachments], edit)
    if files == message.attachments:
        return message
    if len(files) > limits.max_attachments_per_message:
        raise InvalidFormBody.at("attachments", FieldCode.TOO_MANY_FILES)
    changed = _with_extra(attrs.evolve(message, attachments=files), attachments=len(files))
    embeds = (changed.extra or MessageExtra()).embeds
    return _with_extra(changed, embeds=with_own_files(embeds, files)) if embeds else changed


def _in_order(kept: dict[int, Attachment], new: Sequence[Attachment], edit: MessageEdit) -> tuple[Attachment, ...]:
    """The files that stay and the new ones, in the order of the edit; positions are written again if they do not
    ascend."""
    coming, left = iter(new), dict(kept)
    named = (next(coming, None) if file_id is None else left.pop(file_id, None) for file_id in edit.attachment_order)
    files = [*filter(None, named), *left.values(), *coming]
    positions = [file.position for file in files]
    if not new and positions == sorted(positions):
        return tuple(files)
    return tuple(attrs.evolve(file, position=position) for position, file in enumerate(files))


def _placed(drafts: Sequence[AttachmentDraft], edited: Message) -> list[AttachmentDraft]:
    """New files as the message has them."""
    placed = {file.id: file for file in edited.attachments}
    return [attrs.evolve(draft, attachment=placed[draft.attachment.id]) for draft in drafts]


def _worded(file: Attachment, edit: MessageEdit) -> Attachment:
    words = {} if edit.kept_attachments is None else attrs.asdict(edit.kept_attachments[file.id])
    return attrs.evolve(file, **{name: text for name, text in words.items() if text is not None})


def _with_extra(message: Message, **members: Any) -> Message:
    extra = message.extra
    if extra is None:
        members = {name: value for name, value in members.items() if value}
        if not members:
            return message
        extra = MessageExtra()
    return attrs.evolve(message, extra=attrs.evolve(extra, **members))


def _write_files(connection: sqlite3.Connection, before: Message, after: Message) -> None:
    """Write what became of the files that were there."""
    if before.attachments == after.attachments:
        return
    left = {file.id: file for file in after.attachments}
    attachments.delete(connection, [file.id for file in before.attachments if file.id not in left])
    for file in before.attachments:
        if file.id in left and left[file.id] != file:
            attachments.describe(connection, left[file.id])
