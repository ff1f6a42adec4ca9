"""Messages that are sent later (messages.md, Scheduled messages).

A scheduled message stands in the store with its files until it is sent. The unit that writes the message takes it from
there, so it is sent once, whatever ends the server. Whether its author may send it is asked when it is scheduled, and
again then: what cannot be sent stays as `invalid`, with the reason, until its author mends or deletes it, for
KEPT_MS at most. Slow mode alone makes it wait.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping, Sequence
from datetime import UTC
from typing import Any, Final, cast
from zoneinfo import ZoneInfo

import attrs
import structlog

from chat import wire
from chat.auth.principal import CredentialKind, Principal
from chat.classes import frozen
from chat.clock import iso_timestamp, optional_timestamp, read_moment
from chat.domain.core import Core
from chat.domain.messages.message_drafts import (
    ALL_MENTIONS,
    AllowedMentions,
    AttachmentDraft,
    Forward,
    KeptAttachment,
    MessageDraft,
    ReplyTo,
)
from chat.domain.messages.message_objects import attachment_objects
from chat.domain.messages.message_sending import MessageSending
from chat.domain.policy.due_work import DueWork
from chat.domain.policy.embeds import embed_objects
from chat.domain.policy.instance_policy import require_room
from chat.domain.standing.permissions import CHANNEL_THREADS
from chat.errors import ApiError, InvalidFormBody, StorageUnavailable
from chat.registries.error_codes import ErrorCode, FieldCode
from chat.registries.limits import SCHEDULED_AHEAD_MS, SCHEDULED_MESSAGES
from chat.registries.message_types import MessageReferenceType
from chat.registries.user_flags import UserFlag
from chat.snowflake import snowflake_time_ms
from chat.store.accounts import account_deletions, accounts
from chat.store.accounts.accounts import Account
from chat.store.guard import UNGUARDED, Guard
from chat.store.messages import attachments, scheduled_messages
from chat.store.messages.attachments import Attachment
from chat.store.messages.scheduled_messages import ScheduledMessage

KEPT_MS: Final = 31 * 86_400_000
"""How long a message that could not be sent is kept."""

RELEASED_MS: Final = 60_000
"""How long its files may wait for their message, which the same unit writes."""

AT_ONCE: Final = 50

CLOSED: Final = int(UserFlag.DISABLED | UserFlag.SELF_DELETED | UserFlag.DELETED)
"""An account with one of these writes nothing."""

log: Final = structlog.get_logger("chat.messages")


@frozen
class Moment:
    """When to send: a time of day and date in a zone (IANA). Where the text names its own offset, that counts."""

    local_at: str
    timezone: str


@frozen
class ScheduleChange:
    """Changes to a scheduled message. Of `draft` the parts that `given` names take the place of what was there; `kept`
    are the files that stay, by id, None for all, and those of the draft come after them."""

    draft: MessageDraft
    given: frozenset[str]
    kept: Mapping[int, KeptAttachment] | None = None
    local_at: str | None = None
    timezone: str | None = None


class _NotThatMessage(Exception):
    """The scheduled message was changed, deleted or sent meanwhile."""


class ScheduledMessages(DueWork):
    """The operations on scheduled messages, and their sending."""

    NAME = "scheduled messages"
    LOOK_SECONDS = 60.0
    EMPTY_SECONDS = 3_600.0

    def __init__(self, core: Core, sending: MessageSending) -> None:
        self._core = core
        super().__init__(core.clock)
        self._sending = sending

    # Operations

    def of_user(self, principal: Principal) -> list[wire.ScheduledMessage]:
        """The caller's scheduled messages, the next one first."""
        reader = self._core.database.reader
        return [self._object(row, reader) for row in scheduled_messages.of_user(reader, principal.user_id)]

    def get(self, principal: Principal, scheduled_id: int) -> wire.ScheduledMessage:
        """One of the caller's scheduled messages. Raises UNKNOWN_MESSAGE."""
        return self._object(self._known(principal, scheduled_id), self._core.database.reader)

    def channel_of(self, principal: Principal, scheduled_id: int) -> int:
        """The channel of one of the caller's scheduled messages. Raises UNKNOWN_MESSAGE."""
        return self._known(principal, scheduled_id).channel_id

    async def schedule(
        self, principal: Principal, channel_id: int, draft: MessageDraft, moment: Moment
    ) -> wire.ScheduledMessage:
        """Have a message sent at a moment.

        :raises ApiError: as `MessageSending.create`; MAX_SCHEDULED_MESSAGES.
        :raises InvalidFormBody: as `MessageSending.create`; INVALID_TIMEZONE_IDENTIFIER at `timezone`;
            INVALID_DATETIME_FOR_SCHEDULED_SEND, SCHEDULED_TIME_MUST_BE_FUTURE, SCHEDULED_MESSAGES_MAX_30_DAYS at
            `scheduled_local_at`; POLL_NOT_ALLOWED_HERE at `poll`.
        """
        at = self._read(moment)
        _require_no_poll(draft)
        await self._sending.require_sendable(principal, channel_id, draft)
        row = ScheduledMessage(
            self._core.snowflakes(),
            principal.user_id,
            channel_id,
            at,
            moment.local_at,
            moment.timezone,
            _body(draft),
            due_at=at,
        )

        def unit(connection: sqlite3.Connection) -> wire.ScheduledMessage:
            if scheduled_messages.count(connection, row.user_id) >= SCHEDULED_MESSAGES:
                raise ApiError(ErrorCode.MAX_SCHEDULED_MESSAGES)
            if accounts.by_id(connection, row.user_id) is None:
                raise ApiError(ErrorCode.UNKNOWN_USER)
            scheduled_messages.put(connection, row)
            self._hold(connection, row, draft.attachments)
            return self._object(row, connection)

        return await self._core.database.write(unit, lambda _: self.look_again(), guard=principal.guard)

    async def change(self, principal: Principal, scheduled_id: int, change: ScheduleChange) -> wire.ScheduledMessage:
        """Change what is sent, or when; one that could not be sent is tried again.

        :raises ApiError: as `schedule`; UNKNOWN_MESSAGE.
        :raises InvalidFormBody: as `schedule`.
        """
        while True:
            try:
                return await self._change(principal, self._known(principal, scheduled_id), change)
            except _NotThatMessage:
                continue  # it was changed meanwhile: this change comes on top of that one

    async def _change(
        self, principal: Principal, before: ScheduledMessage, change: ScheduleChange
    ) -> wire.ScheduledMessage:
        """:raises _NotThatMessage: where it is not as `before` any more."""
        moment = Moment(change.local_at or before.local_at, change.timezone or before.timezone)
        at = self._read(moment)
        _require_no_poll(change.draft)
        held = attachments.of_scheduled(self._core.database.reader, before.id)
        draft = attrs.evolve(
            _draft(before.body),
            **{name: getattr(change.draft, name) for name in change.given},
            attachments=(*_kept(held, change.kept), *change.draft.attachments),
        )
        await self._sending.require_sendable(principal, before.channel_id, draft)
        after = attrs.evolve(
            before,
            scheduled_at=at,
            local_at=moment.local_at,
            timezone=moment.timezone,
            body=_body(draft),
            due_at=at,
            status_reason=None,
            invalidated_at=None,
        )

        def unit(connection: sqlite3.Connection) -> wire.ScheduledMessage:
            if scheduled_messages.by_id(connection, before.user_id, before.id) != before:
                raise _NotThatMessage
            scheduled_messages.put(connection, after)
            kept = {file.attachment.id for file in draft.attachments}
            present = attachments.of_scheduled(connection, before.id)
            attachments.delete(connection, [file.id for file in present if file.id not in kept])
            self._hold(connection, after, draft.attachments)
            return self._object(after, connection)

        return await self._core.database.write(unit, lambda _: self.look_again(), guard=principal.guard)

    async def delete(self, principal: Principal, scheduled_id: int) -> None:
        """Send it never. Raises UNKNOWN_MESSAGE."""
        user_id = principal.user_id

        def unit(connection: sqlite3.Connection) -> None:
            if not scheduled_messages.delete(connection, user_id, scheduled_id):
                raise ApiError(ErrorCode.UNKNOWN_MESSAGE)

        await self._core.database.write(unit, guard=principal.guard)

    async def send_now(self, principal: Principal, scheduled_id: int) -> wire.Message:
        """Send it at once; it stays as it is where it cannot be sent.

        :raises ApiError: as `MessageSending.create`; UNKNOWN_MESSAGE.
        :raises InvalidFormBody: as `MessageSending.create`.
        """
        row = self._known(principal, scheduled_id)
        try:
            return await self._send(principal.guarded_by(self._taking(row, principal.guard)), row)
        except _NotThatMessage:
            raise ApiError(ErrorCode.UNKNOWN_MESSAGE) from None

    # Sending

    async def _work(self) -> None:
        now_ms, reader = self._clock.now_ms(), self._core.database.reader
        while rows := scheduled_messages.due(reader, self._clock.now_ms(), AT_ONCE):
            for row in rows:
                await self._send_or_note(row)
        while scheduled_messages.any_invalid_since(reader, now_ms - KEPT_MS):
            await self._core.database.write(
                lambda connection: scheduled_messages.forget_invalid(connection, now_ms - KEPT_MS), guard=UNGUARDED
            )

    def _next_due(self) -> int | None:
        return scheduled_messages.next_due(self._core.database.reader)

    async def _send_or_note(self, row: ScheduledMessage) -> None:
        try:
            account = accounts.by_id(self._core.database.reader, row.user_id)
            if account is None:
                return  # it went with what it had scheduled
            self._require_able(self._core.database.reader, account)
            guard = self._taking(row, Guard(self._judge_author(row.user_id), is_due=True))
            capabilities = frozenset({CHANNEL_THREADS})  # without it nothing would have been scheduled in a thread
            author = Principal(account, CredentialKind.SESSION, capabilities=capabilities, guard=guard)
            await self._send(author, row, is_absent=True)
        except (_NotThatMessage, StorageUnavailable) as error:
            if isinstance(error, StorageUnavailable):
                raise
        except ApiError as refusal:
            await self._note(row, refusal)
        except Exception:  # a defect met by one message; raised from here it would end the server
            log.exception("scheduled message not sent", user_id=row.user_id, channel_id=row.channel_id)
            await self._note(row, ApiError(ErrorCode.GENERAL_ERROR))

    async def _send(self, author: Principal, row: ScheduledMessage, *, is_absent: bool = False) -> wire.Message:
        files = attachments.of_scheduled(self._core.database.reader, row.id)
        # Its nonce was of the moment in which it was scheduled.
        draft = attrs.evolve(_draft(row.body), nonce=None, attachments=_kept(files, None))
        return await self._sending.create(author, row.channel_id, draft, is_absent=is_absent)

    def _taking(self, row: ScheduledMessage, guard: Guard) -> Guard:
        """The guard, which takes the scheduled message as well: in the transaction that writes the message, before it.

        :raises _NotThatMessage: from the unit, where it is another by then, or none.
        """

        def take(connection: sqlite3.Connection) -> None:
            if scheduled_messages.by_id(connection, row.user_id, row.id) != row:
                raise _NotThatMessage
            attachments.release_scheduled(connection, row.id, self._clock.now_ms() + RELEASED_MS)
            scheduled_messages.delete(connection, row.user_id, row.id)

        return Guard(guard.before(take), is_due=True)

    def _judge_author(self, user_id: int) -> Any:
        def judge(connection: sqlite3.Connection) -> None:
            account = accounts.by_id(connection, user_id)
            if account is None:
                raise _NotThatMessage
            self._require_able(connection, account)

        return judge

    def _require_able(self, connection: sqlite3.Connection, account: Account) -> None:
        if account.is_banned(self._clock.now_ms()):
            raise ApiError(ErrorCode.ACCOUNT_SUSPENDED_TEMPORARILY)
        if account_deletions.is_ordered(connection, account.id):
            raise ApiError(ErrorCode.ACCOUNT_SUSPENDED_PERMANENTLY)
        if account.flags & CLOSED:
            raise ApiError(ErrorCode.FORBIDDEN)

    async def _note(self, row: ScheduledMessage, refusal: ApiError) -> None:
        """Let the message wait if slow mode holds it back; otherwise mark it as invalid."""
        now_ms = self._clock.now_ms()
        if refusal.code == ErrorCode.SLOWMODE_RATE_LIMITED:
            noted = attrs.evolve(row, due_at=now_ms + max(1, round(refusal.members["retry_after"] * 1_000)))
        else:
            noted = attrs.evolve(row, due_at=None, status_reason=_reason(refusal), invalidated_at=now_ms)

        def unit(connection: sqlite3.Connection) -> None:
            if scheduled_messages.by_id(connection, row.user_id, row.id) == row:
                scheduled_messages.put(connection, noted)

        await self._core.database.write(unit, guard=UNGUARDED)

    # Shapes

    def _known(self, principal: Principal, scheduled_id: int) -> ScheduledMessage:
        row = scheduled_messages.by_id(self._core.database.reader, principal.user_id, scheduled_id)
        if row is None:
            raise ApiError(ErrorCode.UNKNOWN_MESSAGE)
        return row

    def _read(self, moment: Moment) -> int:
        """The moment in Unix milliseconds, judged."""
        try:
            zone = ZoneInfo(moment.timezone)
        except (ValueError, OSError, LookupError):
            raise InvalidFormBody.at("timezone", FieldCode.INVALID_TIMEZONE_IDENTIFIER) from None
        try:
            read = read_moment(moment.local_at)
            at = round((read if read.tzinfo else read.replace(tzinfo=zone)).astimezone(UTC).timestamp() * 1_000)
        except (ValueError, OverflowError):
            code = FieldCode.INVALID_DATETIME_FOR_SCHEDULED_SEND
            raise InvalidFormBody.at("scheduled_local_at", code) from None
        ahead = at - self._clock.now_ms()
        if ahead <= 0:
            raise InvalidFormBody.at("scheduled_local_at", FieldCode.SCHEDULED_TIME_MUST_BE_FUTURE)
        if ahead > SCHEDULED_AHEAD_MS:
            raise InvalidFormBody.at("scheduled_local_at", FieldCode.SCHEDULED_MESSAGES_MAX_30_DAYS)
        return at

    def _hold(self, connection: sqlite3.Connection, row: ScheduledMessage, files: Sequence[AttachmentDraft]) -> None:
        """In a unit of writing: make files part of the scheduled message."""
        now_ms = self._clock.now_ms()
        for index, file in enumerate(files):
            attachment = attrs.evolve(file.attachment, position=index)
            is_new = not file.is_promised
            has_bytes = file.origin_id is None or attachments.by_id(connection, file.origin_id) is not None
            waiting = attrs.evolve(attachment, expires_at=now_ms + RELEASED_MS)
            if (
                not has_bytes
                or (is_new and not attachments.insert(connection, waiting))
                or not attachments.put_into_scheduled(connection, attachment, row.id, now_ms)
            ):
                raise InvalidFormBody.at(f"attachments.{index}", FieldCode.INVALID_FORMAT)
        if files:
            require_room(attachments.usage(connection, row.user_id), self._core.settings)

    def _object(self, row: ScheduledMessage, connection: sqlite3.Connection) -> wire.ScheduledMessage:
        files, addresses = attachments.of_scheduled(connection, row.id), self._core.media_addresses
        payload = {**row.body, "attachments": attachment_objects(files, addresses)}
        payload["embeds"] = embed_objects(row.body["embeds"], files, addresses)
        return {
            "id": str(row.id),
            "channel_id": str(row.channel_id),
            "scheduled_at": iso_timestamp(row.scheduled_at),
            "scheduled_local_at": row.local_at,
            "timezone": row.timezone,
            "status": "pending" if row.invalidated_at is None else "invalid",
            "status_reason": row.status_reason,
            "payload": cast("wire.ScheduledMessagePayload", payload),
            "created_at": iso_timestamp(snowflake_time_ms(row.id)),
            "invalidated_at": optional_timestamp(row.invalidated_at),
        }


def _require_no_poll(draft: MessageDraft) -> None:
    if draft.poll is not None:
        raise InvalidFormBody.at("poll", FieldCode.POLL_NOT_ALLOWED_HERE)


def _reason(refusal: ApiError) -> str:
    if isinstance(refusal, InvalidFormBody):
        return refusal.errors[0].message or refusal.errors[0].code.message
    return refusal.message


def _kept(files: Sequence[Attachment], kept: Mapping[int, KeptAttachment] | None) -> tuple[AttachmentDraft, ...]:
    """Files of a scheduled message that stay, in the order of `kept`, with new words.

    :raises InvalidFormBody: INVALID_FORMAT at `attachments` for one that it does not have.
    """
    if kept is None:
        return tuple(AttachmentDraft(file, is_promised=True) for file in files)
    by_id = {file.id: file for file in files}
    if not kept.keys() <= by_id.keys():
        raise InvalidFormBody.at("attachments", FieldCode.INVALID_FORMAT)
    return tuple(
        AttachmentDraft(_described(by_id[file_id], words), is_promised=True) for file_id, words in kept.items()
    )


def _described(file: Attachment, words: KeptAttachment) -> Attachment:
    title = file.title if words.title is None else words.title
    description = file.description if words.description is None else words.description
    return attrs.evolve(file, title=title, description=description)


def _body(draft: MessageDraft) -> wire.ScheduledBody:
    """A draft as its row keeps it and the wire has it, without its files."""
    allowed = draft.allowed_mentions
    body: wire.ScheduledBody = {
        "content": draft.content,
        "tts": draft.tts,
        "flags": draft.flags,
        "embeds": [cast("wire.Embed", embed) for embed in draft.embeds],
        "sticker_ids": list(map(str, draft.sticker_ids)),
    }
    if draft.nonce is not None:
        body["nonce"] = draft.nonce
    if allowed != ALL_MENTIONS:
        body["allowed_mentions"] = {
            "parse": cast("list[wire.MentionKind]", sorted(allowed.parse)),
            "users": sorted(map(str, allowed.user_ids)),
            "roles": sorted(map(str, allowed.role_ids)),
            "replied_user": allowed.replied_user,
        }
    if draft.reply_to is not None:
        reference = _reference(MessageReferenceType.REPLY, draft.reply_to)
        reference["fail_if_not_exists"] = draft.reply_to.required
        body["message_reference"] = reference
    elif draft.forward is not None:
        forward = draft.forward
        reference = _reference(MessageReferenceType.FORWARD, forward)
        if forward.attachment_ids is not None:
            reference["attachment_ids"] = list(map(str, forward.attachment_ids))
        if forward.embed_indices is not None:
            reference["embed_indices"] = list(forward.embed_indices)
        body["message_reference"] = reference
    return body


def _reference(kind: MessageReferenceType, named: ReplyTo | Forward) -> wire.ScheduledReference:
    reference: wire.ScheduledReference = {"type": kind.value, "message_id": str(named.message_id)}
    if named.channel_id is not None:
        reference["channel_id"] = str(named.channel_id)
    return reference


def _draft(body: Mapping[str, Any]) -> MessageDraft:
    """The draft from which `_body` was made, without its files."""
    reference, allowed = body.get("message_reference"), body.get("allowed_mentions")
    reply_to = forward = None
    if reference is not None:
        message_id = int(reference["message_id"])
        channel_id = int(reference["channel_id"]) if "channel_id" in reference else None
        if reference["type"] == MessageReferenceType.REPLY:
            reply_to = ReplyTo(message_id, channel_id, reference["fail_if_not_exists"])
        else:
            files, indices = reference.get("attachment_ids"), reference.get("embed_indices")
            forward = Forward(
                message_id,
                channel_id,
                None if files is None else tuple(map(int, files)),
                None if indices is None else tuple(indices),
            )
    return MessageDraft(
        content=body["content"],
        nonce=body.get("nonce"),
        tts=body["tts"],
        flags=body["flags"],
        reply_to=reply_to,
        allowed_mentions=ALL_MENTIONS
        if allowed is None
        else AllowedMentions(
            frozenset(allowed["parse"]),
            frozenset(map(int, allowed["users"])),
            frozenset(map(int, allowed["roles"])),
            allowed["replied_user"],
        ),
        embeds=tuple(body["embeds"]),
        sticker_ids=tuple(map(int, body["sticker_ids"])),
        forward=forward,
    )
