"""What people do with commands, components and forms, as far as the application hears of it, and what becomes of what
no application answers (interactions.md, Interactions).

An interaction stands in the store until its token has ended, so that a restart loses neither it nor its deadline.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping, Sequence
from typing import Any, Final, cast

import attrs
import structlog

from chat import wire
from chat.auth.principal import Principal
from chat.auth.tokens import token_hash
from chat.bus.audience import ToBot
from chat.bus.bus import Event
from chat.classes import frozen
from chat.domain.core import Core
from chat.domain.interactions.command_options import NamedIds, OptionReading
from chat.domain.interactions.command_permissions import CommandAccess
from chat.domain.interactions.endpoint_deliveries import EndpointDeliveries
from chat.domain.interactions.interaction_objects import (
    LOCALE,
    audience_of,
    interaction_told,
    metadata_of,
    outcome,
    resolved_of,
)
from chat.domain.interactions.used_components import find_component, read_form, read_values
from chat.domain.messages.message_drafts import AttachmentDraft
from chat.domain.messages.message_reading import one_message
from chat.domain.messages.message_sending import MessageSending
from chat.domain.messages.uploads import PROMISE_MS, Uploads
from chat.domain.policy.due_work import DueWork
from chat.domain.standing.access import ChannelAccess, GuildChannelAccess
from chat.errors import ApiError, InvalidFormBody
from chat.protocol.payload import parse_snowflake
from chat.registries.error_codes import ErrorCode, FieldCode
from chat.registries.events import EventName
from chat.registries.interactions import (
    ANSWER_WITHIN_MS,
    TOKEN_LIFETIME_MS,
    CommandType,
    InteractionType,
)
from chat.store.accounts import accounts, user_settings
from chat.store.applications import applications
from chat.store.applications.applications import Application
from chat.store.guard import UNGUARDED
from chat.store.interactions import interactions
from chat.store.interactions.interactions import Interaction
from chat.store.messages.attachments import Attachment

KEPT_MS: Final = 2 * TOKEN_LIFETIME_MS
"""How long an interaction is known, so that a token which has ended is told from one that never was."""

WITHOUT_WRITING: Final = frozenset({InteractionType.MESSAGE_COMPONENT, InteractionType.MODAL_SUBMIT})
"""What needs no right to write in the channel: the application put its component there, and opened the form."""

AT_ONCE: Final = 100
NOT_ANSWERED: Final = 1
"""The `reason_code` of INTERACTION_FAILURE: the application did not answer in time."""

log: Final = structlog.get_logger("chat.interactions")


@frozen(kw_only=True)
class Act:
    """What a person does, as it was sent."""

    type: InteractionType
    application_id: int
    channel_id: int
    guild_id: int | None
    session_id: str | None
    nonce: str | None
    data: Mapping[str, Any]
    message_id: int | None = None
    files: Sequence[AttachmentDraft] = ()
    """In the order of their numbers."""


@frozen
class _Judged:
    """The `data` that the application hears, and what else it is told."""

    data: wire.InteractionData
    name: str | None = None
    message: wire.Message | None = None
    message_id: int | None = None
    opened_by: Mapping[str, Any] | None = None
    files: Sequence[Attachment] = ()


class Interactions(DueWork):
    """Takes what people do, and notices what is not answered."""

    NAME = "interactions"
    LOOK_SECONDS = 60.0
    EMPTY_SECONDS = 3_600.0

    def __init__(
        self,
        core: Core,
        command_access: CommandAccess,
        sending: MessageSending,
        uploads: Uploads,
        deliveries: EndpointDeliveries,
    ) -> None:
        self._core = core
        self._uploads = uploads
        self._deliveries = deliveries
        super().__init__(core.clock)
        self._command_access = command_access
        self._sending = sending

    async def act(self, principal: Principal, act: Act) -> None:
        """Tell the application what the caller does; the caller's session hears that it was told.

        :raises ApiError: as `Access.channel`; UNKNOWN_APPLICATION, UNKNOWN_APPLICATION_COMMAND, UNKNOWN_MESSAGE,
            UNKNOWN_INTERACTION (a form that is over); of components and forms COMMUNICATION_DISABLED, of others
            as `MessageSending.require_may_write`.
        :raises InvalidFormBody: for what does not fit the command, the component or the form, below `data`; at `files`
            for files that no option names, and as `Uploads.insert_waiting`.
        """
        access = self._core.access.channel(principal, act.channel_id)
        if act.guild_id not in (None, access.guild_id):
            raise ApiError(ErrorCode.UNKNOWN_CHANNEL)
        if act.type in WITHOUT_WRITING:
            access.require_voice(self._core.clock.now_ms())
        else:
            self._sending.require_may_write(principal, access)
        application, bot_id = self._application(access, act)
        judged = self._judged(principal, access, application, act)
        token, now = self._core.mint.secret(), self._core.clock.now_ms()
        interaction = Interaction(
            id=self._core.snowflakes(),
            application_id=application.id,
            user_id=principal.user_id,
            type=act.type.value,
            channel_id=access.channel.id,
            guild_id=access.guild_id,
            message_id=judged.message_id,
            token_hash=token_hash(token),
            session_id=act.session_id,
            nonce=act.nonce,
            name=judged.name,
            created_at=now,
            due_at=now + ANSWER_WITHIN_MS,
            opened_by=judged.opened_by,
        )
        told = self._told(principal, access, application, judged, interaction, token)
        url = application.interactions_endpoint_url
        delivery = None if url is None else self._deliveries.prepared(interaction, url, told)
        sealed = None if delivery is None else self._deliveries.sealed(delivery)

        def unit(connection: sqlite3.Connection) -> None:
            self._insert(connection, interaction, judged.files)
            if sealed is not None:
                interactions.keep_delivery(connection, interaction.id, sealed)

        def then(_: None) -> None:
            if delivery is None:
                self._core.bus.publish(Event(EventName.INTERACTION_CREATE, told, ToBot(bot_id, access.guild_id)))
            else:
                self._deliveries.put(delivery)
            self._core.bus.publish(Event(EventName.INTERACTION_CREATE, outcome(interaction), audience_of(interaction)))
            self.look_again()

        await self._core.database.write(unit, then, guard=principal.guard)

    def _told(
        self,
        principal: Principal,
        access: ChannelAccess,
        application: Application,
        judged: _Judged,
        interaction: Interaction,
        token: str,
    ) -> wire.ToldInteraction:
        """INTERACTION_CREATE as the application hears it."""
        told = interaction_told(
            interaction,
            token,
            principal.account,
            access,
            application,
            judged.data,
            locale=self._locale(principal),
            attachment_bytes=self._core.settings.limits.attachment_max_size_bot,
        )
        if judged.message is not None:
            told["message"] = judged.message
        return told

    def _insert(self, connection: sqlite3.Connection, interaction: Interaction, files: Sequence[Attachment]) -> None:
        gone = applications.by_id(connection, interaction.application_id) is None
        if gone or accounts.by_id(connection, interaction.user_id) is None:
            raise ApiError(ErrorCode.UNKNOWN_APPLICATION)
        interactions.insert(connection, interaction)
        if files:
            expires_at = interaction.created_at + PROMISE_MS
            self._uploads.insert_waiting(connection, [attrs.evolve(file, expires_at=expires_at) for file in files])

    def _application(self, access: ChannelAccess, act: Act) -> tuple[Application, int]:
        """The application that is asked, and its bot. Raises UNKNOWN_APPLICATION where that is not in the channel."""
        application = applications.by_id(self._core.database.reader, act.application_id)
        if application is None or application.bot_user_id is None or not access.sees(application.bot_user_id):
            raise ApiError(ErrorCode.UNKNOWN_APPLICATION)
        return application, application.bot_user_id

    def _locale(self, principal: Principal) -> str:
        """The language that the person has chosen."""
        return str(user_settings.of_user(self._core.database.reader, principal.user_id).get("locale", LOCALE))

    def _judged(self, principal: Principal, access: ChannelAccess, application: Application, act: Act) -> _Judged:
        match act.type:
            case InteractionType.MESSAGE_COMPONENT:
                _require_no_files(act)
                return self._used(principal, access, application, act)
            case InteractionType.MODAL_SUBMIT:
                _require_no_files(act)
                return self._submitted(principal, access, application, act)
            case _:
                return self._invoked(access, application, act)

    # Commands

    def _invoked(self, access: ChannelAccess, application: Application, act: Act) -> _Judged:
        command_id = _snowflake(act.data.get("id"), "data.id")
        usable = self._command_access.usable(access)
        command = next((one for one in usable if (one.id, one.application_id) == (command_id, application.id)), None)
        if command is None:
            raise ApiError(ErrorCode.UNKNOWN_APPLICATION_COMMAND)
        typed = act.type is InteractionType.APPLICATION_COMMAND_AUTOCOMPLETE
        if typed and command.type != CommandType.CHAT_INPUT:
            raise InvalidFormBody.at("type", FieldCode.NOT_FOR_THIS_TYPE)  # nothing is typed into the other two
        data: wire.InteractionData = {"id": str(command.id), "name": command.name, "type": command.type}
        if command.guild_id is not None:
            data["guild_id"] = str(command.guild_id)
        named = NamedIds()
        if command.type == CommandType.CHAT_INPUT:
            reading = self._reading(access, named, typed=typed, files=[file.attachment for file in act.files])
            data["options"] = reading.read(act.data.get("options", []), command.body.get("options", ()))
        else:
            _require_no_files(act)
            target_id = _snowflake(act.data.get("target_id"), "data.target_id")
            data["target_id"] = str(target_id)
            if command.type == CommandType.USER:
                if not self._is_person(access, target_id):
                    raise InvalidFormBody.at("data.target_id", FieldCode.INVALID_SNOWFLAKE)
                named.users.append(target_id)
        resolved = self._resolved(access, named)
        if command.type == CommandType.MESSAGE:
            resolved["messages"] = {data["target_id"]: self._message(access, int(data["target_id"]))}
        if resolved:
            data["resolved"] = resolved
        return _Judged(data, command.name, files=tuple(dict.fromkeys(named.files)))

    def _reading(
        self, access: ChannelAccess, named: NamedIds, *, typed: bool = False, files: Sequence[Attachment] = ()
    ) -> OptionReading:
        state = access.state if isinstance(access, GuildChannelAccess) else None

        def channel_type(channel_id: int) -> int | None:
            if state is None or channel_id not in state.channels or not state.can_view(access.user_id, channel_id):
                return None
            return state.channels[channel_id].type

        return OptionReading(
            is_user=lambda user_id: self._is_person(access, user_id),
            is_role=lambda role_id: state is not None and role_id in state.roles,
            channel_type=channel_type,
            files=files,
            typed=typed,
            named=named,
        )

    def _resolved(self, access: ChannelAccess, named: NamedIds) -> wire.ResolvedObjects:
        return resolved_of(self._core.database.reader, access, named, self._core.media_addresses)

    def _is_person(self, access: ChannelAccess, user_id: int) -> bool:
        """Whether the account is in the guild, or in the conversation."""
        if isinstance(access, GuildChannelAccess):
            return access.state.member(user_id) is not None
        return access.sees(user_id)

    # Components and forms

    def _used(self, principal: Principal, access: ChannelAccess, application: Application, act: Act) -> _Judged:
        if act.message_id is None:
            raise InvalidFormBody.at("message_id", FieldCode.BASE_TYPE_REQUIRED)
        message = self._ephemeral(principal, access, application, act.message_id)
        if message is None:
            message = self._message(access, act.message_id)
            if message["author"]["id"] != str(application.bot_user_id):
                raise ApiError(ErrorCode.UNKNOWN_MESSAGE)
        component = find_component(message["components"], act.data.get("custom_id"))
        data: wire.InteractionData = {
            "custom_id": component["custom_id"],
            "component_type": component["type"],
            "id": component["id"],
        }
        named = NamedIds()
        values = read_values(component, act.data.get("values"), self._reading(access, named), "data.values")
        if values is not None:
            data["values"] = values
            resolved = self._resolved(access, named)
            if resolved:
                data["resolved"] = resolved
        return _Judged(data, message=message, message_id=act.message_id)

    def _submitted(self, principal: Principal, access: ChannelAccess, application: Application, act: Act) -> _Judged:
        opened = interactions.by_id(self._core.database.reader, _snowflake(act.data.get("id"), "data.id"))
        now = self._core.clock.now_ms()
        if (
            opened is None
            or opened.form is None
            or (opened.user_id, opened.application_id) != (principal.user_id, application.id)
            or opened.channel_id != access.channel.id
            or now - opened.created_at > TOKEN_LIFETIME_MS
        ):
            raise ApiError(ErrorCode.UNKNOWN_INTERACTION)
        named = NamedIds()
        reading = self._reading(access, named)
        components = read_form(opened.form["components"], act.data.get("components"), reading)
        data: wire.InteractionData = {"custom_id": opened.form["custom_id"], "components": components}
        resolved = self._resolved(access, named)
        if resolved:
            data["resolved"] = resolved
        message = None
        if opened.message_id is not None:
            message = self._ephemeral(principal, access, application, opened.message_id)
            if message is None and access.reads(opened.message_id):
                message = self._message(access, opened.message_id)
        message_id = None if message is None else opened.message_id
        return _Judged(data, message=message, message_id=message_id, opened_by=metadata_of(opened))

    def _ephemeral(
        self, principal: Principal, access: ChannelAccess, application: Application, message_id: int
    ) -> wire.Message | None:
        """An answer of the application to the person alone, in the channel; None if there is no such one."""
        found = interactions.ephemeral(self._core.database.reader, message_id)
        row = None if found is None else interactions.by_id(self._core.database.reader, found[0])
        asked = (principal.user_id, access.channel.id, application.id)
        if found is None or row is None or (row.user_id, row.channel_id, row.application_id) != asked:
            return None
        return cast("wire.Message", found[1])

    def _message(self, access: ChannelAccess, message_id: int) -> wire.Message:
        """A message of the channel as everybody there sees it. Raises UNKNOWN_MESSAGE."""
        stored = one_message(access.channel.id, message_id, self._core.database.reader)
        if stored is None or not access.reads(message_id):
            raise ApiError(ErrorCode.UNKNOWN_MESSAGE)
        return stored.object_of(stored.messages[0], self._core.media_addresses)

    # What is not answered

    async def _work(self) -> None:
        reader = self._core.database.reader
        while True:
            now = self._clock.now_ms()
            due = interactions.next_due(reader)
            if due is None or due > now:
                break

            def unit(connection: sqlite3.Connection, until: int = now) -> list[Interaction]:
                return interactions.give_up(connection, until, AT_ONCE)

            await self._core.database.write(unit, self._announce_failures, guard=UNGUARDED)
        before = self._clock.now_ms() - KEPT_MS
        while (oldest := interactions.oldest(reader)) is not None and oldest < before:
            await self._core.database.write(
                lambda connection: interactions.forget_older(connection, before), guard=UNGUARDED
            )

    def _next_due(self) -> int | None:
        due, oldest = interactions.next_due(self._core.database.reader), interactions.oldest(self._core.database.reader)
        moments = [due, None if oldest is None else oldest + KEPT_MS + 1]
        return min((moment for moment in moments if moment is not None), default=None)

    def _announce_failures(self, failed: list[Interaction]) -> None:
        for interaction in failed:
            log.info("interaction not answered", interaction_id=interaction.id, type=interaction.type)
            data = outcome(interaction, reason_code=NOT_ANSWERED)
            self._core.bus.publish(Event(EventName.INTERACTION_FAILURE, data, audience_of(interaction)))


def _require_no_files(act: Act) -> None:
    """Files belong to options of commands alone."""
    if act.files:
        raise InvalidFormBody.at("files", FieldCode.NOT_FOR_THIS_TYPE)


def _snowflake(value: object, path: str) -> int:
    read = parse_snowflake(value)
    if read is None:
        raise InvalidFormBody.at(path, FieldCode.INVALID_SNOWFLAKE_FORMAT)
    return read
