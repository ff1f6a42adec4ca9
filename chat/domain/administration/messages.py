"""Messages as administrators look them up, delete them and shred them, in any channel (administration.md, Messages and
shreds).

Shreds are jobs. A job for listed messages holds the list; a job for all messages of an account holds the newest that
there was when it was ordered, so that what is written later stays, and so that a million messages need no list.
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, Literal

from chat import wire
from chat.classes import define, frozen
from chat.clock import iso_timestamp
from chat.domain.administration.admin_audit_log import NO_TARGET, Acting, AdminAuditLog
from chat.domain.administration.administration_objects import channel_outline
from chat.domain.core import Core
from chat.domain.messages.message_deletion import RemovedMessages, announce_lost_pins, announce_removed, remove_messages
from chat.domain.messages.message_events import message_deleted
from chat.domain.messages.message_reading import (
    MessagePage,
    StoredMessages,
    Viewer,
    one_message,
    page_of_messages,
    with_context,
)
from chat.domain.standing.thread_access import ChannelWitness
from chat.errors import ApiError
from chat.jobs import JobRun, Jobs, Progress
from chat.registries.admin_actions import AdminAction
from chat.registries.error_codes import ErrorCode
from chat.registries.jobs import JobStatus, JobType
from chat.snowflake import MAXIMUM
from chat.store.administration import jobs
from chat.store.administration.jobs import Job
from chat.store.guilds import channels
from chat.store.guilds.channels import Channel
from chat.store.messages import attachments, author_messages, messages
from chat.store.messages.messages import Message

TO_MESSAGE: Final = re.compile(r"/channels/(?:@me|[0-9]{1,19})/([0-9]{1,19})/([0-9]{1,19})(?:[/?#]|$)")
_TO_ATTACHMENT: Final = re.compile(r"/attachments/[0-9]{1,19}/([0-9]{1,19})/")
"""URLs that people copy: of a message in a client, of a file in the media of the instance."""


@frozen
class MessageSelector:
    """How one message is named; the first that is there counts."""

    message_id: int | None = None
    attachment_id: int | None = None
    link: str | None = None

    @property
    def word(self) -> str:
        """Its name in the audit log."""
        if self.message_id is not None:
            return "message_id"
        return "link" if self.attachment_id is None else "attachment_id"


@define(kw_only=True, eq=False)
class AdministeredMessages:
    """Reads messages and deletes single ones for administrators, who need not see the channel. UNKNOWN_CHANNEL and
    UNKNOWN_MESSAGE are raised for what does not exist."""

    _core: Core
    _witness: ChannelWitness
    _log: AdminAuditLog

    async def page(self, acting: Acting, channel_id: int, page: MessagePage) -> wire.AdminListChannelMessagesAnswer:
        """A page of a channel's messages, the newest first, and which channel that is."""

        def query(connection: sqlite3.Connection) -> tuple[Channel, StoredMessages]:
            channel = _channel(connection, channel_id)
            return channel, page_of_messages(channel_id, page, 0, connection, viewer=Viewer(acting.user_id))

        channel, found = await self._core.database.read(query)
        cursors = {"around_message_id": page.around, "before_message_id": page.before, "after_message_id": page.after}
        metadata = {"channel_id": channel_id, "limit": page.limit, "message_count": len(found.messages)}
        metadata |= {name: cursor for name, cursor in cursors.items() if cursor is not None}
        await self._log.note(acting, AdminAction.LIST_CHANNEL_MESSAGES, NO_TARGET, metadata)
        shown = [found.object_of(message, self._core.media_addresses) for message in found.messages]
        return {"channel": channel_outline(channel), "messages": shown}

    async def get(self, acting: Acting, channel_id: int, message_id: int) -> wire.FoundMessage:
        """One message and its channel."""

        def query(connection: sqlite3.Connection) -> tuple[Channel, StoredMessages]:
            channel = _channel(connection, channel_id)
            found = one_message(channel_id, message_id, connection, viewer=Viewer(acting.user_id))
            if found is None:
                raise ApiError(ErrorCode.UNKNOWN_MESSAGE)
            return channel, found

        channel, found = await self._core.database.read(query)
        await self._log.note(acting, AdminAction.GET_MESSAGE, message_id, {"channel_id": channel_id})
        return {
            "channel": channel_outline(channel),
            "message": found.object_of(found.messages[0], self._core.media_addresses),
        }

    async def find(self, acting: Acting, selector: MessageSelector) -> list[wire.FoundMessage]:
        """The message with this id or this file, or behind this URL, as `get` shows it; an empty list for what is gone,
        and for a URL that leads to no message."""

        def query(connection: sqlite3.Connection) -> tuple[Channel, StoredMessages] | None:
            message_id = _named(connection, selector)
            found = [] if message_id is None else messages.by_ids(connection, [message_id])
            channel = channels.by_id(connection, found[0].channel_id) if found else None
            if channel is None:
                return None
            return channel, with_context(connection, found, viewer=Viewer(acting.user_id))

        answer = await self._core.database.read(query)
        metadata: dict[str, object] = {"selector": selector.word, "found": answer is not None}
        if answer is None:
            await self._log.note(acting, AdminAction.LOOKUP_MESSAGE, NO_TARGET, metadata)
            return []
        channel, found = answer
        [message] = found.messages
        await self._log.note(acting, AdminAction.LOOKUP_MESSAGE, message.id, {**metadata, "channel_id": channel.id})
        return [{"channel": channel_outline(channel), "message": found.object_of(message, self._core.media_addresses)}]

    async def delete(self, acting: Acting, channel_id: int, message_id: int) -> None:
        """Delete a message. As with a shred, the guild's own audit log does not know of it."""

        def unit(connection: sqlite3.Connection) -> tuple[Message, RemovedMessages]:
            _channel(connection, channel_id)
            message = messages.by_id(connection, channel_id, message_id)
            if message is None:
                raise ApiError(ErrorCode.UNKNOWN_MESSAGE)
            metadata = {"channel_id": channel_id, "author_id": message.author_id}
            self._log.record(connection, acting, AdminAction.DELETE_MESSAGE, message_id, metadata)
            return message, remove_messages(connection, channel_id, [message_id])

        def then(result: tuple[Message, RemovedMessages]) -> None:
            message, removed = result
            access = self._witness.of(channel_id)
            if access is not None:
                self._core.bus.publish(message_deleted(access, message))
                announce_lost_pins(self._core.bus, access, removed)

        await self._core.database.write(unit, then, guard=acting.guard)


def _named(connection: sqlite3.Connection, selector: MessageSelector) -> int | None:
    """The id of the message that is meant; None where none is."""
    if selector.message_id is not None:
        return selector.message_id
    attachment_id = selector.attachment_id
    if attachment_id is None:
        link = selector.link or ""
        if (to_message := TO_MESSAGE.search(link)) is not None:
            channel_id, message_id = int(to_message[1]), int(to_message[2])
            if max(channel_id, message_id) > MAXIMUM or not messages.exists(connection, channel_id, message_id):
                return None
            return message_id
        to_attachment = _TO_ATTACHMENT.search(link)
        attachment_id = None if to_attachment is None else int(to_attachment[1])
    if attachment_id is None or attachment_id > MAXIMUM:
        return None
    attachment = attachments.by_id(connection, attachment_id)
    return None if attachment is None else attachment.message_id


def _channel(connection: sqlite3.Connection, channel_id: int) -> Channel:
    channel = channels.by_id(connection, channel_id)
    if channel is None:
        raise ApiError(ErrorCode.UNKNOWN_CHANNEL)
    return channel


BATCH_MESSAGES: Final = 100
"""Messages of one step, and of one event."""

COUNTED_AT_ONCE: Final = 200
"""Messages of one page of the count; the channels of each page are summed (administration.md, Messages and shreds)."""

STATUS_KEPT_MS: Final = 3_600_000
"""How long after its last word the state of a shred can be read (administration.md, Messages and shreds)."""

NOT_FOUND: Final[wire.MessageShred] = {"status": "not_found"}

WORDS: Final[Mapping[JobStatus, Literal["in_progress", "completed", "failed"]]] = {
    JobStatus.PENDING: "in_progress",
    JobStatus.RUNNING: "in_progress",
    JobStatus.COMPLETED: "completed",
    JobStatus.FAILED: "failed",
    JobStatus.CANCELLED: "failed",
}
"""How a shred calls the states of a job."""


@frozen
class NamedMessage:
    """A message to delete, as the request named it."""

    channel_id: int
    message_id: int


@frozen
class Count:
    """How much an account wrote. `channels` is summed over pages and so an upper bound; `last_id` is the newest
    message."""

    channels: int
    messages: int
    last_id: int


@define(eq=False)
class MessageShreds:
    """Orders shreds, does them, and tells how far they are."""

    _core: Core
    _witness: ChannelWitness
    _orders: Jobs
    _log: AdminAuditLog

    def __attrs_post_init__(self) -> None:
        self._orders.handle(JobType.MESSAGE_SHRED, self.run)

    async def order(self, acting: Acting, user_id: int, entries: Sequence[NamedMessage]) -> wire.MessageShredOrdered:
        """Order the deletion of these messages, as far as the account wrote them; nothing is looked at yet."""
        payload = {"user_id": user_id, "entries": [[entry.channel_id, entry.message_id] for entry in entries]}

        def unit(connection: sqlite3.Connection) -> Job:
            return self._order(connection, acting, user_id, payload, len(entries))

        job = await self._core.database.write(unit, lambda _: self._orders.ordered(), guard=acting.guard)
        return {"success": True, "job_id": str(job.id), "requested": len(entries)}

    async def delete_all(self, acting: Acting, user_id: int, *, dry_run: bool) -> wire.AllMessages:
        """Count what the account wrote and, unless `dry_run`, order the deletion of it all."""
        count = await self._core.database.read(lambda connection: _count(connection, user_id))
        counted = {"channel_count": count.channels, "message_count": count.messages}
        answer: wire.AllMessages = {
            "success": True,
            "dry_run": dry_run,
            "channel_count": count.channels,
            "message_count": count.messages,
        }
        action = AdminAction.DELETE_ALL_USER_MESSAGES_DRY_RUN if dry_run else AdminAction.DELETE_ALL_USER_MESSAGES

        def unit(connection: sqlite3.Connection) -> Job | None:
            metadata = {"user_id": user_id, **counted, "dry_run": dry_run}
            self._log.record(connection, acting, action, user_id, metadata)
            if dry_run or not count.messages:
                return None
            payload = {"user_id": user_id, "last_id": count.last_id}
            return self._order(connection, acting, user_id, payload, count.messages)

        job = await self._core.database.write(unit, lambda _: self._orders.ordered(), guard=acting.guard)
        if job is not None:
            answer["job_id"] = str(job.id)
        return answer

    def _order(
        self, connection: sqlite3.Connection, acting: Acting, user_id: int, payload: Mapping[str, Any], requested: int
    ) -> Job:
        job = self._orders.order_in(
            connection,
            JobType.MESSAGE_SHRED,
            payload,
            subject_id=user_id,
            requested_by=acting.user_id,
            reason=acting.reason,
            total=requested,
        )
        metadata = {"user_id": user_id, "job_id": job.id, "requested_entries": requested}
        self._log.record(connection, acting, AdminAction.QUEUE_MESSAGE_SHRED, user_id, metadata)
        return job

    def status(self, job_id: int) -> wire.MessageShred:
        """The progress of a shred; `not_found` for an unknown one, or one that ended long ago."""
        job = jobs.by_id(self._core.database.reader, job_id)
        if job is None or job.task_type is not JobType.MESSAGE_SHRED:
            return NOT_FOUND
        if job.changed_at + STATUS_KEPT_MS <= self._core.clock.now_ms():
            return NOT_FOUND
        word = WORDS[job.status]
        shown: wire.MessageShred = {
            "status": word,
            "requested": job.progress_total or 0,
            "total": job.progress_total or 0,
            "processed": job.progress_current,
            "skipped": job.state.get("skipped", 0),
            "started_at": iso_timestamp(job.started_at or job.created_at),
        }
        if job.completed_at is not None:
            shown["completed_at" if word == "completed" else "failed_at"] = iso_timestamp(job.completed_at)
        if word == "failed":
            shown["error"] = job.error_message or job.status.value
        return shown

    async def run(self, run: JobRun) -> None:
        """Do one shred."""
        entries = run.job.payload.get("entries")
        if entries is None:
            await self._shred_all(run)
        else:
            await self._shred_listed(run, _by_channel(entries))

    async def _shred_all(self, run: JobRun) -> None:
        user_id, last_id = run.job.payload["user_id"], run.job.payload["last_id"]
        left = True

        def unit(connection: sqlite3.Connection) -> tuple[Progress, RemovedMessages | None]:
            batch = author_messages.next_of_author(connection, user_id, last_id, BATCH_MESSAGES)
            if batch is None:
                # What was deleted meanwhile was counted and is not there.
                total = run.job.progress_total or 0
                return Progress(current=total, state={"skipped": total - run.job.progress_current}), None
            removed = remove_messages(connection, *batch)
            return Progress(current=run.job.progress_current + len(removed.message_ids)), removed

        while left:
            left = await self._step(run, unit)

    async def _shred_listed(self, run: JobRun, batches: Sequence[tuple[int, Sequence[int], int]]) -> None:
        user_id = run.job.payload["user_id"]
        while (position := run.job.state.get("position", 0)) < len(batches):
            channel_id, message_ids, named = batches[position]

            def unit(
                connection: sqlite3.Connection,
                position: int = position,
                channel_id: int = channel_id,
                message_ids: Sequence[int] = message_ids,
                named: int = named,
            ) -> tuple[Progress, RemovedMessages | None]:
                written = [
                    message.id
                    for message in messages.by_ids(connection, message_ids)
                    if message.channel_id == channel_id and message.author_id == user_id and message.webhook_id is None
                ]
                removed = remove_messages(connection, channel_id, written)
                skipped = run.job.state.get("skipped", 0) + named - len(removed.message_ids)
                state = {"position": position + 1, "skipped": skipped}
                return Progress(state=state, current=run.job.progress_current + named), removed

            await self._step(run, unit)

    async def _step(
        self, run: JobRun, unit: Callable[[sqlite3.Connection], tuple[Progress, RemovedMessages | None]]
    ) -> bool:
        """Do one step of a shred; tells whether it had any messages to delete."""
        told: list[RemovedMessages | None] = []

        def whole(connection: sqlite3.Connection) -> Progress:
            told.clear()
            progress, removed = unit(connection)
            told.append(removed)
            return progress

        def then() -> None:
            (removed,) = told
            access = None if removed is None else self._witness.of(removed.channel_id)
            if removed is not None and access is not None:
                announce_removed(self._core.bus, access, removed)

        await run.step(whole, then)
        return told[0] is not None


def _count(connection: sqlite3.Connection, user_id: int) -> Count:
    channels, number, last_id = 0, 0, 0
    while page := author_messages.page_of_author(connection, user_id, last_id, COUNTED_AT_ONCE):
        channels += len({channel_id for _, channel_id in page})
        number += len(page)
        last_id = page[-1][0]
    return Count(channels, number, last_id)


def _by_channel(entries: Sequence[Sequence[int]]) -> list[tuple[int, Sequence[int], int]]:
    """The listed messages in batches of one channel each, with the number of entries that each batch stands for: an
    entry that was listed twice stands in one batch only, and counts in it twice."""
    found: dict[int, dict[int, int]] = {}
    for channel_id, message_id in entries:
        of_channel = found.setdefault(channel_id, {})
        of_channel[message_id] = of_channel.get(message_id, 0) + 1
    batches: list[tuple[int, Sequence[int], int]] = []
    for channel_id, counted in found.items():
        ids = list(counted)
        for start in range(0, len(ids), BATCH_MESSAGES):
            batch = ids[start : start + BATCH_MESSAGES]
            batches.append((channel_id, batch, sum(counted[message_id] for message_id in batch)))
    return batches
