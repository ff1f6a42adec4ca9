"""What an application answers an interaction with, by the token that it was told (interactions.md, Answers).

The first answer and what it makes are one transaction: a second one finds it, whatever came between. Answers that the
person alone sees (flag 64) go to the person's session and into no history; they are kept with the interaction, so that
the application can change them as long as its token is good.
"""

from __future__ import annotations

import hmac
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Final, cast

import attrs
import trio

from chat import wire
from chat.auth.tokens import token_hash
from chat.bus.bus import Event
from chat.classes import define, frozen
from chat.domain.applications.application_objects import bot_of
from chat.domain.core import Core
from chat.domain.interactions.interaction_objects import (
    application_told,
    audience_of,
    metadata_of,
    named_accounts,
    outcome,
)
from chat.domain.messages.assemble import MessagesArea
from chat.domain.messages.message_drafts import (
    MessageDraft,
    MessageEdit,
    Sender,
    place_of_components,
    require_content,
    require_form,
)
from chat.domain.messages.message_objects import whole_message_object
from chat.domain.policy.component_trees import component_objects, placed_components
from chat.domain.policy.embeds import embed_objects
from chat.domain.standing.access import ChannelAccess
from chat.domain.standing.thread_access import ChannelWitness
from chat.domain.standing.user_objects import partial_user
from chat.errors import ApiError, InvalidFormBody
from chat.registries.error_codes import ErrorCode, FieldCode
from chat.registries.events import EventName
from chat.registries.interactions import CALLBACKS_OF, TOKEN_LIFETIME_MS, CallbackType, InteractionType
from chat.registries.message_types import SENDABLE_MESSAGE_FLAGS, MessageFlag, MessageType
from chat.registries.permissions import Permission
from chat.store.accounts.accounts import Account
from chat.store.applications import applications
from chat.store.applications.applications import Application
from chat.store.guard import Guard
from chat.store.guilds import members
from chat.store.interactions import interactions
from chat.store.interactions.interactions import Interaction
from chat.store.messages.messages import Message, MessageExtra

EPHEMERAL: Final = MessageFlag.EPHEMERAL.value
LOADING: Final = MessageFlag.LOADING.value

SETTLING_SECONDS: Final = 1.0
"""For how long a further answer waits for the first one that is on its way. An endpoint that sends it before it has
answered at all would wait for us, and we for it."""

ANSWERING_PERMISSIONS: Final = int(
    Permission.VIEW_CHANNEL
    | Permission.SEND_MESSAGES
    | Permission.SEND_MESSAGES_IN_THREADS
    | Permission.SEND_TTS_MESSAGES
    | Permission.READ_MESSAGE_HISTORY
    | Permission.EMBED_LINKS
    | Permission.ATTACH_FILES
    | Permission.USE_EXTERNAL_EMOJIS
    | Permission.BYPASS_SLOWMODE
)
"""What an application may do in the channel of an interaction, whatever its bot may do there."""


@frozen
class Form:
    """A form that an application opens; `components` as they are stored."""

    custom_id: str
    title: str
    components: Sequence[Mapping[str, Any]]


@frozen(kw_only=True)
class Callback:
    """The first answer. Which of the members it has follows from its type."""

    type: CallbackType
    draft: MessageDraft = MessageDraft()
    edit: MessageEdit = MessageEdit()
    choices: Sequence[Mapping[str, Any]] = ()
    form: Form | None = None


@frozen
class OpenInteraction:
    """An interaction whose token was shown, and who answers it where."""

    interaction: Interaction
    application: Application
    bot: Account
    access: ChannelAccess


@define(kw_only=True, eq=False)
class Answers:
    """Takes answers, first and further ones."""

    _core: Core
    _messages: MessagesArea
    _witness: ChannelWitness
    _settling: dict[int, trio.Event] = attrs.field(factory=dict, init=False)
    """By interaction, for as long as its first answer is on its way."""

    @contextmanager
    def settling(self, interaction_id: int) -> Iterator[None]:
        """While the block runs, the first answer is on its way, and further ones wait for it."""
        if interaction_id in self._settling:
            yield
            return
        settled = self._settling[interaction_id] = trio.Event()
        try:
            yield
        finally:
            del self._settling[interaction_id]
            settled.set()

    def first(self, interaction_id: int, token: str) -> OpenInteraction:
        """The interaction that waits for its first answer.

        :raises ApiError: UNKNOWN_INTERACTION for another token, and after three seconds;
            INTERACTION_ALREADY_ACKNOWLEDGED; UNKNOWN_CHANNEL, MISSING_ACCESS as `further`.
        """
        row = interactions.by_id(self._core.database.reader, interaction_id)
        if row is None or not hmac.compare_digest(row.token_hash, token_hash(token)):
            raise ApiError(ErrorCode.UNKNOWN_INTERACTION)
        if row.answered_with is not None:
            raise ApiError(ErrorCode.INTERACTION_ALREADY_ACKNOWLEDGED)
        if row.due_at is None or row.due_at <= self._core.clock.now_ms():
            raise ApiError(ErrorCode.UNKNOWN_INTERACTION)
        return self._told(row)

    async def further(self, application_id: int, token: str, *, guard: Guard) -> OpenInteraction | None:
        """The interaction of the application that this token belongs to; None for a token of none. Both have to be
        there still when the request of the `guard` writes. Waits a moment for a first answer that is on its way: by
        HTTP a bot sends the next one before it can know that the first has arrived.

        :raises ApiError: INVALID_WEBHOOK_TOKEN once the token has ended; UNKNOWN_INTERACTION before the first answer;
            UNKNOWN_CHANNEL where the channel is gone, or the bot does not see it any more; MISSING_ACCESS for a guild
            that is closed.
        """
        row = interactions.by_token(self._core.database.reader, application_id, token_hash(token))
        if row is not None and row.answered_with is None and row.id in self._settling:
            with trio.move_on_after(SETTLING_SECONDS):
                await self._settling[row.id].wait()
            row = interactions.by_token(self._core.database.reader, application_id, token_hash(token))
        if row is None:
            return None
        if self._core.clock.now_ms() - row.created_at > TOKEN_LIFETIME_MS:
            raise ApiError(ErrorCode.INVALID_WEBHOOK_TOKEN)
        if row.answered_with is None:
            raise ApiError(ErrorCode.UNKNOWN_INTERACTION)
        told = self._told(row)
        guard.claim(_require_there, told)
        return told

    def _told(self, row: Interaction) -> OpenInteraction:
        reader = self._core.database.reader
        application = applications.by_id(reader, row.application_id)
        bot = None if application is None else bot_of(reader, application)
        access = self._witness.of(row.channel_id)
        if application is None or bot is None:
            raise ApiError(ErrorCode.UNKNOWN_INTERACTION)
        if access is None or not access.sees(bot.id):
            raise ApiError(ErrorCode.UNKNOWN_CHANNEL)
        if row.guild_id is not None:
            self._core.access.require_open(None, self._core.guild_states.get(row.guild_id))
        return OpenInteraction(
            row, application, bot, attrs.evolve(access, user_id=bot.id, permissions=ANSWERING_PERMISSIONS)
        )

    # The first answer

    def require_fitting(self, told: OpenInteraction, kind: CallbackType) -> None:
        """Raises InvalidFormBody at `type` for an answer that the interaction does not take."""
        row = told.interaction
        changes = kind in (CallbackType.UPDATE_MESSAGE, CallbackType.DEFERRED_UPDATE_MESSAGE)
        if kind not in CALLBACKS_OF[InteractionType(row.type)] or (changes and row.message_id is None):
            raise InvalidFormBody.at("type", FieldCode.NOT_FOR_THIS_TYPE)

    async def answer(self, told: OpenInteraction, callback: Callback) -> wire.Message | None:
        """Answer an interaction for the first time; gives the message where one was made or changed.

        :raises ApiError: as `first`; as `MessageSending.create_of_application`.
        :raises InvalidFormBody: as `require_fitting`; for what is wrong in the message, the change or the form.
        """
        self.require_fitting(told, callback.type)
        with self.settling(told.interaction.id):
            return await self._answer(told, callback)

    async def _answer(self, told: OpenInteraction, callback: Callback) -> wire.Message | None:
        row = told.interaction
        match callback.type:
            case CallbackType.CHANNEL_MESSAGE_WITH_SOURCE | CallbackType.DEFERRED_CHANNEL_MESSAGE_WITH_SOURCE:
                message_id = self._core.snowflakes()
                return await self._send(told, callback.draft, message_id, self._answering(told, callback, message_id))
            case CallbackType.UPDATE_MESSAGE:
                message_id = row.message_id or 0
                guard = self._answering(told, callback, message_id)
                return await self._edit(told, message_id, callback.edit, guard)
            case CallbackType.DEFERRED_UPDATE_MESSAGE:
                await self._note(told, callback, row.message_id, None)
            case CallbackType.APPLICATION_COMMAND_AUTOCOMPLETE_RESULT:
                data = outcome(row, choices=list(callback.choices))
                await self._note(
                    told, callback, None, Event(EventName.INTERACTION_AUTOCOMPLETE, data, audience_of(row))
                )
            case _:
                await self._open_form(told, callback)
        return None

    async def _open_form(self, told: OpenInteraction, callback: Callback) -> None:
        if callback.form is None:
            raise InvalidFormBody.at("root", FieldCode.BASE_TYPE_REQUIRED)
        data = outcome(
            told.interaction,
            custom_id=callback.form.custom_id,
            title=callback.form.title,
            components=list(callback.form.components),
            application=application_told(told.application, told.bot),
            channel_id=str(told.interaction.channel_id),
        )
        event = Event(EventName.INTERACTION_MODAL_CREATE, data, audience_of(told.interaction))
        await self._note(told, callback, None, event)

    async def _note(
        self, told: OpenInteraction, callback: Callback, answer_id: int | None, event: Event | None
    ) -> None:
        """Note an answer that makes no message."""

        def then(_: None) -> None:
            if event is not None:
                self._core.bus.publish(event)
            self._succeeded(told.interaction)

        guard = self._answering(told, callback, answer_id)
        await self._core.database.write(lambda _: None, then, guard=guard)

    def _answering(self, told: OpenInteraction, callback: Callback, answer_id: int | None) -> Guard:
        """The guard of the first answer: in the transaction of what it makes, before it, nobody else has answered."""
        form = None if callback.form is None else attrs.asdict(callback.form)
        row = told.interaction

        def take(connection: sqlite3.Connection) -> None:
            _require_there(connection, [told])
            if not interactions.answer(connection, row.id, callback.type.value, answer_id=answer_id, form=form):
                present = interactions.by_id(connection, row.id)
                is_answered = present is not None and present.answered_with is not None
                raise ApiError(
                    ErrorCode.INTERACTION_ALREADY_ACKNOWLEDGED if is_answered else ErrorCode.UNKNOWN_INTERACTION
                )

        return Guard(take, is_due=True)

    def _succeeded(self, row: Interaction) -> None:
        self._core.bus.publish(Event(EventName.INTERACTION_SUCCESS, outcome(row), audience_of(row)))

    # Further answers

    async def follow_up(self, told: OpenInteraction, draft: MessageDraft, guard: Guard) -> wire.Message:
        """A further message; after a deferred answer the first one takes its place.

        :raises ApiError: as `MessageSending.create_of_application`.
        """
        row = told.interaction
        if row.answered_with == CallbackType.DEFERRED_CHANNEL_MESSAGE_WITH_SOURCE and row.answer_id is not None:
            original = await self.message(told, row.answer_id)
            if original["flags"] & LOADING:
                return await self.edit(told, row.answer_id, _as_edit(draft), guard)
        return await self._send(told, draft, self._core.snowflakes(), guard, is_first=False)

    async def message(self, told: OpenInteraction, message_id: int) -> wire.Message:
        """One of the application's answers. Raises UNKNOWN_MESSAGE."""
        found = self._ephemeral(told, message_id)
        if found is not None:
            return found
        message = await self._messages.messages.without_viewer(told.access.channel.id, message_id)
        if message["author"]["id"] != str(told.bot.id):
            raise ApiError(ErrorCode.UNKNOWN_MESSAGE)
        return message

    def original_of(self, told: OpenInteraction) -> int:
        """The message that is the first answer. Raises UNKNOWN_MESSAGE where there is none."""
        if told.interaction.answer_id is None:
            raise ApiError(ErrorCode.UNKNOWN_MESSAGE)
        return told.interaction.answer_id

    async def edit(self, told: OpenInteraction, message_id: int, edit: MessageEdit, guard: Guard) -> wire.Message:
        """Change one of the application's answers.

        :raises ApiError: as `MessageEditing.edit_of_application`.
        """
        return await self._edit(told, message_id, edit, guard, is_first=False)

    async def delete(self, told: OpenInteraction, message_id: int, guard: Guard) -> None:
        """Delete one of the application's answers. Raises UNKNOWN_MESSAGE."""
        found = self._ephemeral(told, message_id)
        if found is None:
            await self._messages.deletion.delete_of_application(told.bot.id, told.access, message_id, guard)
            return
        data = {"id": str(message_id), "channel_id": found["channel_id"], **told.access.place_of(None)}

        def then(_: None) -> None:
            self._core.bus.publish(Event(EventName.MESSAGE_DELETE, data, audience_of(told.interaction)))

        await self._core.database.write(
            lambda connection: interactions.delete_ephemeral(connection, message_id), then, guard=guard
        )

    # Messages

    async def _send(
        self, told: OpenInteraction, draft: MessageDraft, message_id: int, guard: Guard, *, is_first: bool = True
    ) -> wire.Message:
        row = told.interaction
        metadata = metadata_of(row)
        if not is_first and row.answer_id is not None:
            metadata = {**metadata, "original_response_message_id": str(row.answer_id)}
        extra = MessageExtra(interaction=metadata)
        named = named_accounts(self._core.database.reader, [row.user_id])
        if draft.flags & EPHEMERAL:
            sent = self._ephemeral_object(told, draft, message_id, extra, named)
            await self._put_ephemeral(told, sent, EventName.MESSAGE_CREATE, guard, is_first=is_first)
            return sent
        sender = Sender(
            told.bot.id,
            partial_user(told.bot),
            keeps_read_state=False,
            extra=extra,
            message_id=message_id,
            named=named,
            guard=guard,
        )
        sent = await self._messages.sending.create_of_application(sender, told.access, attrs.evolve(draft, nonce=None))
        if is_first:
            self._succeeded(row)
        return sent

    def _ephemeral_object(
        self,
        told: OpenInteraction,
        draft: MessageDraft,
        message_id: int,
        extra: MessageExtra,
        named: Mapping[int, Account],
    ) -> wire.Message:
        if draft.attachments:
            raise InvalidFormBody.at("attachments", FieldCode.NOT_FOR_THIS_TYPE)  # they would be in a history
        if draft.poll is not None:
            raise InvalidFormBody.at("poll", FieldCode.POLL_NOT_ALLOWED_HERE)  # one person alone would see it
        self._messages.sending.require_good(draft)
        flags = draft.flags & SENDABLE_MESSAGE_FLAGS.value | EPHEMERAL | (LOADING if draft.is_deferred else 0)
        said: Mapping[str, Any] = {"embeds": draft.embeds, "components": draft.components}
        message = Message(
            id=message_id,
            channel_id=told.access.channel.id,
            author_id=told.bot.id,
            type=MessageType.DEFAULT.value,
            content=draft.content,
            flags=flags,
            tts=draft.tts,
            extra=attrs.evolve(extra, **said),
        )
        addresses = self._core.media_addresses
        return whole_message_object(
            message, author=partial_user(told.bot), mentions=[], accounts=named, addresses=addresses
        )

    async def _put_ephemeral(
        self, told: OpenInteraction, shown: wire.Message, name: EventName, guard: Guard, *, is_first: bool
    ) -> None:
        row, message_id = told.interaction, int(shown["id"])
        place = {**told.access.place_of(told.bot.id), "channel_type": told.access.channel.type}
        data = {**shown, **place} if name is EventName.MESSAGE_CREATE else {**shown, **told.access.place_of(None)}

        def unit(connection: sqlite3.Connection) -> None:
            found = interactions.ephemeral(connection, message_id)
            interaction_id = row.id if found is None else found[0]
            if interactions.by_id(connection, interaction_id) is None:
                raise ApiError(ErrorCode.UNKNOWN_INTERACTION)
            interactions.put_ephemeral(connection, interaction_id, message_id, shown)

        def then(_: None) -> None:
            self._core.bus.publish(Event(name, data, audience_of(row)))
            if is_first:
                self._succeeded(row)

        await self._core.database.write(unit, then, guard=guard)

    async def _edit(
        self, told: OpenInteraction, message_id: int, edit: MessageEdit, guard: Guard, *, is_first: bool = True
    ) -> wire.Message:
        found = self._ephemeral(told, message_id)
        if found is not None:
            shown = self._edited_ephemeral(found, edit)
            await self._put_ephemeral(told, shown, EventName.MESSAGE_UPDATE, guard, is_first=is_first)
            return shown
        edited = await self._messages.editing.edit_of_application(told.bot.id, told.access, message_id, edit, guard)
        if is_first:
            self._succeeded(told.interaction)
        return edited

    def _edited_ephemeral(self, before: wire.Message, edit: MessageEdit) -> wire.Message:
        if edit.attachments:
            raise InvalidFormBody.at("attachments", FieldCode.NOT_FOR_THIS_TYPE)
        shown, addresses = before.copy(), self._core.media_addresses
        flags = before["flags"] & ~LOADING | ((edit.flags or 0) & MessageFlag.IS_COMPONENTS_V2.value)
        shown["flags"] = flags
        if edit.content is not None:
            limits = self._core.settings.limits_for(premium=False)
            require_content(edit.content, limits.max_message_length, needed=False)
            self._core.blocked.require_text(edit.content)
            shown["content"] = edit.content
        if edit.embeds is not None:
            self._core.blocked.require_embeds(edit.embeds)
            shown["embeds"] = embed_objects(edit.embeds, (), addresses)
        if edit.components is not None:
            self._core.blocked.require_components(edit.components)
            placed = placed_components(edit.components, place_of_components(flags))
            shown["components"] = component_objects(placed, (), addresses)
        require_form(flags, shown["components"], shown["content"], shown["embeds"])
        if not (shown["content"] or shown["embeds"] or shown["components"]):
            raise ApiError(ErrorCode.CANNOT_SEND_EMPTY_MESSAGE)
        return shown

    def _ephemeral(self, told: OpenInteraction, message_id: int) -> wire.Message | None:
        """An answer that the person of this interaction alone sees, to this interaction or to an earlier one."""
        reader = self._core.database.reader
        found = interactions.ephemeral(reader, message_id)
        row = None if found is None else interactions.by_id(reader, found[0])
        if found is None or row is None:
            return None
        of = told.interaction
        if (row.user_id, row.application_id) != (of.user_id, of.application_id):
            return None
        return cast("wire.Message", found[1])


def _require_there(connection: sqlite3.Connection, granted: list[OpenInteraction]) -> None:
    """Raises UNKNOWN_INTERACTION where the person or the application has gone, UNKNOWN_CHANNEL where the bot has left
    the guild."""
    for told in granted:
        row = told.interaction
        if interactions.by_id(connection, row.id) is None:
            raise ApiError(ErrorCode.UNKNOWN_INTERACTION)
        if row.guild_id is not None and members.by_id(connection, row.guild_id, told.bot.id) is None:
            raise ApiError(ErrorCode.UNKNOWN_CHANNEL)


def _as_edit(draft: MessageDraft) -> MessageEdit:
    """The change that fills a deferred answer. Raises InvalidFormBody at `poll`, which no message gets later."""
    if draft.poll is not None:
        raise InvalidFormBody.at("poll", FieldCode.POLL_NOT_ALLOWED_HERE)
    return MessageEdit(
        content=draft.content,
        flags=draft.flags,
        allowed_mentions=draft.allowed_mentions,
        attachments=draft.attachments,
        embeds=draft.embeds,
        components=draft.components,
    )
