"""Brings published messages to the channels that follow, and keeps the copies what their originals are (guilds.md,
Guild features).

What is to be done stands in the store, so that a restart loses nothing. A note says no more than that a copy is out of
date: the message is looked at when the note is worked off, so several changes may make one update.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from typing import Any, Final

import attrs
import structlog
import trio

from chat.bus.audience import ToChannel
from chat.bus.bus import Event
from chat.classes import frozen
from chat.domain.core import Core
from chat.domain.messages.message_events import message_created, message_updated
from chat.domain.messages.message_reading import StoredMessages, with_context
from chat.domain.policy.due_work import RETRY_SECONDS, DueWork
from chat.domain.standing.thread_access import ChannelWitness
from chat.errors import StorageUnavailable
from chat.registries.channel_types import ChannelType
from chat.registries.events import EventName
from chat.registries.guild_features import GuildFeature
from chat.registries.guild_values import DisabledOperation
from chat.registries.message_types import SHOWING_MESSAGE_FLAGS, MessageFlag, MessageType
from chat.store.guard import UNGUARDED
from chat.store.guilds import channels, guilds
from chat.store.messages import attachments, messages
from chat.store.messages.attachments import Attachment
from chat.store.messages.messages import Message, MessageExtra
from chat.store.webhooks import crossposts, webhooks
from chat.store.webhooks.crossposts import CrosspostDelivery
from chat.store.webhooks.webhooks import Webhook

FOLLOWING_TYPES: Final = frozenset({ChannelType.GUILD_TEXT, ChannelType.GUILD_ANNOUNCEMENT})
"""Channels that may follow others; the webhook of one that was moved elsewhere brings nothing there."""

CROSSPOSTED: Final = MessageFlag.CROSSPOSTED.value
IS_CROSSPOST: Final = MessageFlag.IS_CROSSPOST.value

GONE: Final = "[Original Message Deleted]"
"""The text of a copy whose original was deleted; Discord uses the same words."""

AT_ONCE: Final = 50
"""Deliveries that wait for the store together."""

ATTEMPTS: Final = 5
RETRY_MS: Final = 30_000
"""How long a delivery that failed waits, times the failures; after ATTEMPTS of them it is given up."""

CHANGES: Final = frozenset({EventName.MESSAGE_UPDATE, EventName.MESSAGE_DELETE, EventName.MESSAGE_DELETE_BULK})

log: Final = structlog.get_logger("chat.announcements")


def is_switched_off(features: frozenset[str]) -> bool:
    """Whether an administrator has switched publishing and following off for a guild."""
    return GuildFeature.ANNOUNCEMENT_CHANNELS_DISABLED in features


@frozen
class _Copied:
    """A copy as a delivery left it."""

    stored: StoredMessages
    is_new: bool


class Crossposting(DueWork):
    """Makes deliveries in the background. Hears the bus."""

    NAME = "published messages"
    LOOK_SECONDS = 900.0

    def __init__(self, core: Core, witness: ChannelWitness) -> None:
        self._core = core
        super().__init__(core.clock)
        self._witness = witness
        core.bus.subscribe_events(CHANGES, self._message_changed)

    def _message_changed(self, event: Event) -> None:
        """Look again where a published message may have changed or gone."""
        if not isinstance(event.audience, ToChannel):
            return
        data = event.data
        if isinstance(data, Mapping) and data.get("flags", CROSSPOSTED) & CROSSPOSTED:
            self.look_again()

    async def _work(self) -> None:
        while await self._deliver_some():
            await trio.lowlevel.checkpoint()

    def _next_due(self) -> int | None:
        return crossposts.next_due(self._core.database.reader)

    async def _deliver_some(self) -> int:
        due = crossposts.due(self._core.database.reader, self._clock.now_ms(), AT_ONCE)
        async with trio.open_nursery() as nursery:  # each in a unit of its own, all in one commit
            for delivery in due:
                nursery.start_soon(self._try, delivery)
        return len(due)

    async def _try(self, delivery: CrosspostDelivery) -> None:
        try:
            await self._deliver_or_put_off(delivery)
        except StorageUnavailable:
            log.warning("a published message waits for the store")
            await trio.sleep(RETRY_SECONDS)

    async def _deliver_or_put_off(self, delivery: CrosspostDelivery) -> None:
        try:
            await self._deliver(delivery)
        except StorageUnavailable:
            raise
        except Exception:  # a defect met by one message; raised from here it would end the server
            log.exception("published message not delivered", source_id=delivery.source_id)
            await self._put_off(delivery)

    async def _put_off(self, delivery: CrosspostDelivery) -> None:
        due_at = self._clock.now_ms() + RETRY_MS * (delivery.attempts + 1)

        def unit(connection: sqlite3.Connection) -> None:
            if delivery.attempts + 1 >= ATTEMPTS:
                crossposts.forget_delivery(connection, delivery)
            else:
                crossposts.postpone(connection, delivery, due_at)

        await self._core.database.write(unit, guard=UNGUARDED)

    async def _deliver(self, delivery: CrosspostDelivery) -> None:
        def unit(connection: sqlite3.Connection) -> _Copied | None:
            crossposts.forget_delivery(connection, delivery)
            webhook = webhooks.by_id(connection, delivery.webhook_id)
            if webhook is None or _is_prevented(connection, webhook):
                return None
            source = messages.by_id(connection, delivery.source_channel_id, delivery.source_id)
            copy = self._copy(connection, delivery)
            if copy is None:
                return self._write_new(connection, source, webhook) if delivery.is_first else None
            after = self._as_source(copy, source, webhook)
            if after == copy:
                return None
            self._write_files(connection, copy, after)
            messages.update(connection, after)
            if source is None:
                crossposts.forget_copy(connection, copy.id)
            return _Copied(with_context(connection, [after], referenced=False), is_new=False)

        await self._core.database.write(unit, self._tell, guard=UNGUARDED)

    @staticmethod
    def _copy(connection: sqlite3.Connection, delivery: CrosspostDelivery) -> Message | None:
        copy_id = crossposts.copy_of(connection, delivery.source_id, delivery.webhook_id)
        return None if copy_id is None else next(iter(messages.by_ids(connection, [copy_id])), None)

    def _write_new(self, connection: sqlite3.Connection, source: Message | None, webhook: Webhook) -> _Copied | None:
        if source is None or channels.guild_of(connection, webhook.channel_id) is None:
            return None
        if channels.type_of(connection, webhook.channel_id) not in FOLLOWING_TYPES:
            return None
        blank = Message(
            id=self._core.snowflakes(),
            channel_id=webhook.channel_id,
            author_id=webhook.id,
            webhook_id=webhook.id,
            type=MessageType.DEFAULT.value,
            content="",
            reference=source.as_reference(channels.guild_of(connection, source.channel_id)),
            extra=MessageExtra(webhook_name=webhook.name, webhook_avatar=webhook.avatar),
        )
        copy = self._as_source(blank, source, webhook)
        if not messages.insert(connection, copy):
            return None
        channels.set_last_message(connection, copy.channel_id, copy.id)
        self._write_files(connection, blank, copy)
        crossposts.insert_copy(connection, source.id, webhook.id, copy.id)
        return _Copied(with_context(connection, [copy], referenced=False), is_new=True)

    def _as_source(self, copy: Message, source: Message | None, webhook: Webhook) -> Message:
        """The copy as its original is now, without mentions: the accounts named are not in the channel that follows."""
        own = None if copy.extra is None else copy.extra.of_webhook()
        if source is None:
            flags = copy.flags | MessageFlag.SOURCE_MESSAGE_DELETED.value
            return attrs.evolve(copy, content=GONE, flags=flags, extra=own, attachments=())
        files = self._files(copy, source, webhook)
        extra = attrs.evolve(
            source.extra or MessageExtra(),
            webhook_name=None if own is None else own.webhook_name,
            webhook_avatar=None if own is None else own.webhook_avatar,
            attachments=len(files),
        )
        return attrs.evolve(
            copy,
            content=source.content,
            flags=IS_CROSSPOST | source.flags & int(SHOWING_MESSAGE_FLAGS),
            edited_at=source.edited_at,
            extra=extra,
            attachments=files,
        )

    def _files(self, copy: Message, source: Message, webhook: Webhook) -> tuple[Attachment, ...]:
        """The files of the original as those of the copy; the very same rows where nothing changed."""
        if [_shown(file) for file in copy.attachments] == [_shown(file) for file in source.attachments]:
            return copy.attachments
        return tuple(
            file.copied(self._core.snowflakes(), copy.channel_id, webhook.user_id, message_id=copy.id)
            for file in source.attachments
        )

    @staticmethod
    def _write_files(connection: sqlite3.Connection, before: Message, after: Message) -> None:
        if before.attachments != after.attachments:
            attachments.delete(connection, [file.id for file in before.attachments])
            for file in after.attachments:
                attachments.insert(connection, file)

    def _tell(self, copied: _Copied | None) -> None:
        if copied is None:
            return
        message, addresses = copied.stored.messages[0], self._core.media_addresses
        access = self._witness.of(message.channel_id)
        if access is None:
            return
        if copied.is_new:
            access.note_message(message.id)
            self._core.bus.publish(message_created(access, message, copied.stored.object_of(message, addresses)))
        else:
            self._core.bus.publish(message_updated(access, copied.stored, addresses))


def _is_prevented(connection: sqlite3.Connection, webhook: Webhook) -> bool:
    """Whether publishing is switched off where the message comes from or goes to, or nothing may be sent there."""
    follow = crossposts.follow_of(connection, webhook.id)
    target = guilds.by_id(connection, webhook.guild_id)
    source = None if follow is None else guilds.by_id(connection, follow.source_guild_id)
    if target is None or target.disabled_operations & DisabledOperation.SEND_MESSAGE:
        return True
    return is_switched_off(target.features) or (source is not None and is_switched_off(source.features))


def _shown(file: Attachment) -> tuple[Any, ...]:
    """The fields by which a copy's file is recognised as the original's."""
    return file.shared_id, file.filename, file.title, file.description, file.position, file.flags
