"""Votes in polls, and how polls end (messages.md, Polls).

Everyone who reads a message with a poll may vote while it is open, bots apart. A poll ends at its moment, or when its
author ends it. One unit marks it as ended and writes the message with its result, so that this comes once, whatever
ends the server.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping, Sequence
from typing import Any, Final

import attrs

from chat import wire
from chat.auth.principal import Principal
from chat.bus.bus import Event
from chat.classes import frozen
from chat.domain.core import Core
from chat.domain.messages.message_events import SystemMessages, WrittenMessage, message_updated
from chat.domain.messages.message_objects import author_object
from chat.domain.messages.message_reading import (
    StoredMessages,
    accounts_by_id,
    require_message,
    viewer_of,
    with_context,
)
from chat.domain.policy.due_work import DueWork
from chat.domain.standing.access import ChannelAccess
from chat.domain.standing.private_channels import require_unblocked
from chat.domain.standing.thread_access import ChannelWitness
from chat.errors import ApiError, InvalidFormBody
from chat.registries.error_codes import ErrorCode, FieldCode
from chat.registries.events import EventName
from chat.registries.message_types import MessageType
from chat.store.guard import UNGUARDED
from chat.store.guilds import channels
from chat.store.messages import messages, polls
from chat.store.messages.messages import Message, MessageExtra
from chat.store.messages.polls import PollState
from chat.store.standing import private_channels

AT_ONCE: Final = 20
"""Polls that one unit ends."""


@frozen
class _Ended:
    """A poll that is over: its message, and what tells the result, None where the channel is gone."""

    message: Message
    stored: StoredMessages
    result: WrittenMessage | None


class Polls(DueWork):
    """The operations on polls, and their ends."""

    NAME = "polls"
    LOOK_SECONDS = 60.0
    EMPTY_SECONDS = 3_600.0

    def __init__(self, core: Core, system_messages: SystemMessages, witness: ChannelWitness) -> None:
        self._core = core
        super().__init__(core.clock)
        self._system_messages = system_messages
        self._witness = witness

    async def vote(self, principal: Principal, channel_id: int, message_id: int, answer_ids: Sequence[int]) -> None:
        """Give these answers, and no others; none takes the vote back.

        :raises ApiError: as `Access.channel`; UNKNOWN_MESSAGE, also for one that the caller may not read;
            COMMUNICATION_DISABLED, CANNOT_SEND_MESSAGES_TO_USER (blocked, either way), THREAD_ARCHIVED, THREAD_LOCKED,
            MESSAGE_WITHOUT_POLL, POLL_ENDED.
        :raises InvalidFormBody: INVALID_FORMAT at `answer_ids` for what the poll does not have, and for several where
            one is to be chosen.
        """
        access = self._readable(principal, channel_id, message_id)
        user_id, wanted = principal.user_id, set(answer_ids)
        access.require_voice(self._clock.now_ms())
        access.require_open(self._clock.now_ms())

        def unit(connection: sqlite3.Connection) -> list[tuple[EventName, int]]:
            message, state = self._open(connection, channel_id, message_id)
            require_unblocked(connection, access)
            known = {answer.answer_id for answer in state.answers}
            if not wanted <= known or (len(wanted) > 1 and not _asked(message)["allow_multiselect"]):
                raise InvalidFormBody.at("answer_ids", FieldCode.INVALID_FORMAT)
            given, now_ms = polls.votes_of(connection, message_id, user_id), self._clock.now_ms()
            for answer_id in given - wanted:
                polls.take_back(connection, message_id, answer_id, user_id)
            for answer_id in wanted - given:
                polls.give(connection, message_id, answer_id, user_id, now_ms)
            gone = [(EventName.MESSAGE_POLL_VOTE_REMOVE, answer_id) for answer_id in sorted(given - wanted)]
            return gone + [(EventName.MESSAGE_POLL_VOTE_ADD, answer_id) for answer_id in sorted(wanted - given)]

        def then(changes: list[tuple[EventName, int]]) -> None:
            renewed = self._core.access.renewed(access)
            if renewed is None:
                return
            data: dict[str, object] = {
                "user_id": str(user_id),
                "channel_id": str(channel_id),
                "message_id": str(message_id),
            }
            if renewed.guild_id is not None:
                data["guild_id"] = str(renewed.guild_id)
            for name, answer_id in changes:
                self._core.bus.publish(Event(name, {**data, "answer_id": answer_id}, renewed.audience(message_id)))

        await self._core.database.write(unit, then, guard=principal.guard)

    async def voters(
        self, principal: Principal, channel_id: int, message_id: int, answer_id: int, *, limit: int, after: int = 0
    ) -> list[wire.PartialUser]:
        """Who gave an answer: at most `limit` accounts with a greater id than `after`, in order of their ids.

        :raises ApiError: as `Access.channel`; UNKNOWN_MESSAGE, MESSAGE_WITHOUT_POLL.
        :raises InvalidFormBody: INVALID_FORMAT at `answer_id` for an answer that the poll does not have.
        """
        self._readable(principal, channel_id, message_id)

        def query(connection: sqlite3.Connection) -> list[wire.PartialUser]:
            _, state = _of_message(connection, channel_id, message_id)
            if answer_id not in {answer.answer_id for answer in state.answers}:
                raise InvalidFormBody.at("answer_id", FieldCode.INVALID_FORMAT)
            found = polls.voters(connection, message_id, answer_id, after=after, limit=limit)
            known = accounts_by_id(connection, found)
            return [author_object(user_id, known.get(user_id)) for user_id in found]

        return await self._core.database.read(query)

    async def expire(self, principal: Principal, channel_id: int, message_id: int) -> wire.Message:
        """End the caller's own poll now. Returns its message.

        :raises ApiError: as `Access.channel`; UNKNOWN_MESSAGE, MESSAGE_WITHOUT_POLL, POLL_ENDED;
            CANNOT_EDIT_OTHER_USER_MESSAGE for another's.
        """
        access = self._readable(principal, channel_id, message_id)
        result_id, viewer = self._system_messages.new_id(), viewer_of(principal)

        def unit(connection: sqlite3.Connection) -> tuple[_Ended | None, StoredMessages]:
            message, _ = self._open(connection, channel_id, message_id)
            if message.webhook_id is not None or message.author_id != principal.user_id:
                raise ApiError(ErrorCode.CANNOT_EDIT_OTHER_USER_MESSAGE)
            ended = self._end(connection, message, result_id)
            return ended, with_context(connection, [message], viewer=viewer)

        def then(done: tuple[_Ended | None, StoredMessages]) -> None:
            self._announce(done[0])

        _, shown = await self._core.database.write(unit, then, guard=principal.guard)
        return shown.object_of(shown.messages[0], self._core.media_addresses, access.history_floor() or 0)

    async def _work(self) -> None:
        def unit(connection: sqlite3.Connection) -> list[_Ended]:
            ended = []
            due = polls.due(connection, self._clock.now_ms(), AT_ONCE)
            for message in sorted(messages.by_ids(connection, due), key=lambda each: due.index(each.id)):
                done = self._end(connection, message, self._system_messages.new_id())
                if done is not None:
                    ended.append(done)
            return ended

        def then(ended: list[_Ended]) -> None:
            for each in ended:
                self._announce(each)

        while (due := self._next_due()) is not None and due <= self._clock.now_ms():
            await self._core.database.write(unit, then, guard=UNGUARDED)

    def _next_due(self) -> int | None:
        return polls.next_due(self._core.database.reader)

    def _end(self, connection: sqlite3.Connection, message: Message, result_id: int) -> _Ended | None:
        """In a unit: end the poll and say how it came out; None where it had ended."""
        if not polls.end(connection, message.id, self._clock.now_ms()):
            return None
        state = polls.state(connection, message.id)
        guild_id = channels.guild_of(connection, message.channel_id)
        conversation = private_channels.by_id(connection, message.channel_id) if guild_id is None else None
        result = None
        if state is not None and (guild_id is not None or conversation is not None):
            recipients = () if conversation is None else conversation.recipient_ids
            told = _result(message, state, result_id, guild_id)
            result = self._system_messages.write(connection, told, recipients=recipients)
        return _Ended(message, with_context(connection, [message]), result)

    def _announce(self, ended: _Ended | None) -> None:
        """After the commit: tell that the poll is over, and its result."""
        access = None if ended is None else self._witness.of(ended.message.channel_id)
        if ended is None or access is None:
            return
        self._core.bus.publish(message_updated(access, ended.stored, self._core.media_addresses))
        self._system_messages.publish(access, ended.result)

    def _readable(self, principal: Principal, channel_id: int, message_id: int) -> ChannelAccess:
        access = self._core.access.channel(principal, channel_id)
        if not access.reads(message_id):
            raise ApiError(ErrorCode.UNKNOWN_MESSAGE)
        return access

    def _open(self, connection: sqlite3.Connection, channel_id: int, message_id: int) -> tuple[Message, PollState]:
        """The message and its poll, which is not over. Raises as `_of_message`; POLL_ENDED."""
        message, state = _of_message(connection, channel_id, message_id)
        if state.ended_at is not None or state.ends_at <= self._clock.now_ms():
            raise ApiError(ErrorCode.POLL_ENDED)
        return message, state


def _of_message(connection: sqlite3.Connection, channel_id: int, message_id: int) -> tuple[Message, PollState]:
    """The message and its poll. Raises UNKNOWN_MESSAGE, MESSAGE_WITHOUT_POLL."""
    message = require_message(connection, channel_id, message_id)
    state = polls.state(connection, message_id)
    if state is None:
        raise ApiError(ErrorCode.MESSAGE_WITHOUT_POLL)
    return message, state


def _asked(message: Message) -> Mapping[str, Any]:
    return (message.extra or MessageExtra()).poll or {}


def _result(message: Message, state: PollState, result_id: int, guild_id: int | None) -> Message:
    """The message that tells how a poll came out: an embed of fields, as at Discord."""
    poll, extra = _asked(message), message.extra or MessageExtra()
    total = sum(answer.votes for answer in state.answers)
    most = max((answer.votes for answer in state.answers), default=0)
    first = [answer.answer_id for answer in state.answers if answer.votes == most]
    said = {"poll_question_text": poll["question"]["text"], "victor_answer_votes": str(most), "total_votes": str(total)}
    if total and len(first) == 1:
        (victor,) = (answer["poll_media"] for answer in poll["answers"] if answer["answer_id"] == first[0])
        said["victor_answer_id"] = str(first[0])
        if "text" in victor:
            said["victor_answer_text"] = victor["text"]
        emoji = victor.get("emoji")
        if emoji is not None:
            said["victor_answer_emoji_name"] = emoji["name"] or ""
            if emoji["id"] is not None:
                said["victor_answer_emoji_id"] = emoji["id"]
                said["victor_answer_emoji_animated"] = "true" if emoji.get("animated") else "false"
    fields: list[Mapping[str, object]] = [
        {"name": name, "value": value, "inline": False} for name, value in said.items()
    ]
    told: Mapping[str, Any] = {"embeds": [{"type": "poll_result", "fields": fields}]}
    return Message(
        id=result_id,
        channel_id=message.channel_id,
        author_id=message.author_id,
        webhook_id=message.webhook_id,
        type=MessageType.POLL_RESULT.value,
        content="",
        reference=message.as_reference(guild_id),
        extra=attrs.evolve(extra.of_webhook() or MessageExtra(), **told),
    )
