"""Deleting messages: one, several by id, or those that fit (messages.md, Deleting messages); what their channel loses
with them, and who is told."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable, Sequence
from typing import Final

from chat.auth.principal import Principal
from chat.bus.bus import Bus
from chat.classes import frozen
from chat.domain.core import Core
from chat.domain.messages.message_events import message_deleted, messages_deleted, pins_changed
from chat.domain.messages.message_reading import require_of_application, require_of_webhook
from chat.domain.policy.errands import Errand, State
from chat.domain.standing.access import ChannelAccess, GuildChannelAccess
from chat.domain.standing.audit_log import Actor
from chat.domain.standing.private_channels import PrivateChannelAccess
from chat.domain.standing.thread_access import ChannelWitness
from chat.errors import ApiError
from chat.markdown.inline import links_of
from chat.registries.audit_actions import AuditAction
from chat.registries.channel_types import ChannelType
from chat.registries.error_codes import ErrorCode
from chat.registries.jobs import ErrandKind
from chat.registries.permissions import Permission
from chat.snowflake import MAXIMUM
from chat.store import threads
from chat.store.accounts import accounts
from chat.store.guard import Guard
from chat.store.guilds import channels
from chat.store.messages import messages
from chat.store.messages.messages import Message
from chat.store.standing.guild_audit_log import AuditLogEntry

MANAGE_MESSAGES: Final = Permission.MANAGE_MESSAGES.value

BATCH_MESSAGES: Final = 100
"""Messages that go in one unit, and that one event names."""

SCANNED_AT_ONCE: Final = 500
SCANNED_MAXIMUM: Final = 10_000
"""Messages that one purge looks at; what lies deeper stays."""

PURGED_DEFAULT: Final = 100
PURGED_MAXIMUM: Final = 1_000
"""Messages that one purge takes at most."""


@frozen
class RemovedMessages:
    """The messages that were deleted from a channel: ids, oldest first; and the channel's newest pin if pins were among
    them."""

    channel_id: int
    message_ids: list[int]
    took_pins: bool
    last_pin: int | None


def remove_messages(connection: sqlite3.Connection, channel_id: int, message_ids: Iterable[int]) -> RemovedMessages:
    """In a unit: delete those of these messages that the channel has, with their pins and files."""
    gone = messages.delete_many(connection, channel_id, message_ids)
    took_pins, last_pin = any(was_pinned for _, was_pinned in gone), None
    if gone:
        threads.discount_messages(connection, channel_id, len(gone))
    if took_pins:
        last_pin = messages.last_pin(connection, channel_id)
        channels.set_last_pin(connection, channel_id, last_pin)
    return RemovedMessages(channel_id, [message_id for message_id, _ in gone], took_pins, last_pin)


def announce_removed(bus: Bus, access: ChannelAccess, removed: RemovedMessages) -> None:
    """After the commit: publish one event for all the messages; none if nothing was deleted."""
    if removed.message_ids:
        bus.publish(messages_deleted(access, removed.message_ids))
    announce_lost_pins(bus, access, removed)


def announce_lost_pins(bus: Bus, access: ChannelAccess, removed: RemovedMessages) -> None:
    """After the commit: publish the change of the channel's pins, if pins were deleted."""
    if removed.took_pins:
        access.note_pins(removed.last_pin)
        bus.publish(pins_changed(access, removed.last_pin))


@frozen
class DeletedMessage:
    """A message that went, with what its channel lost; `entry` where the guild's audit log tells of it."""

    message: Message
    removed: RemovedMessages
    entry: AuditLogEntry | None


_BulkDeletion = tuple[RemovedMessages, AuditLogEntry | None]
"""The messages that one unit deleted, and the audit entry about them."""


@frozen
class Purge:
    """Which messages of a channel a purge takes, the newest first, at most `limit`.

    `before` and `after` are ids, exclusive. `has` holds `attachment`, `embed`, `sticker`, `link` or `forward`, all of
    which a message must have. Pinned messages stay unless `pinned` says otherwise.
    """

    limit: int = PURGED_DEFAULT
    before: int | None = None
    after: int | None = None
    user_ids: frozenset[int] = frozenset()
    contains: str | None = None
    has: frozenset[str] = frozenset()
    bots: bool | None = None
    pinned: bool = False


HAS: Final[dict[str, Callable[[Message], bool]]] = {
    "attachment": lambda message: bool(message.attachments),
    "embed": lambda message: message.extra is not None and bool(message.extra.embeds or message.extra.link_embeds),
    "sticker": lambda message: message.extra is not None and bool(message.extra.stickers),
    "link": lambda message: any(links_of(message.content)),
    "forward": lambda message: message.extra is not None and bool(message.extra.snapshots),
}
"""The predicates that a purge can name."""


class MessageDeletion:
    def __init__(self, core: Core, witness: ChannelWitness) -> None:
        self._core = core
        self._witness = witness
        core.errands.handle(ErrandKind.PURGE, self._purge)

    async def delete(self, principal: Principal, channel_id: int, message_id: int, reason: str | None = None) -> None:
        """Delete one's own message, or with MANAGE_MESSAGES any that the caller may read, which the guild's audit log
        counts.

        :raises ApiError: as `Access.channel`; UNKNOWN_MESSAGE, MISSING_PERMISSIONS.
        """
        access, message = named_message(self._core, principal, channel_id, message_id)
        await self._delete(access, message, moderating_actor(access, message, reason), principal.guard)

    async def delete_of_webhook(
        self, webhook_id: int, access: GuildChannelAccess, message_id: int, guard: Guard
    ) -> None:
        """Delete a message that the webhook wrote. Raises UNKNOWN_MESSAGE."""
        message = require_of_webhook(self._core.database.reader, webhook_id, access, message_id)
        await self._delete(access, message, None, guard)

    async def delete_of_application(self, bot_id: int, access: ChannelAccess, message_id: int, guard: Guard) -> None:
        """Delete a message that the application wrote in answer to an interaction. Raises UNKNOWN_MESSAGE."""
        message = require_of_application(self._core.database.reader, bot_id, access, message_id)
        await self._delete(access, message, None, guard)

    async def _delete(self, access: ChannelAccess, message: Message, actor: Actor | None, guard: Guard) -> None:
        await self._core.database.write(
            lambda connection: self.remove(connection, access, message, actor),
            lambda deleted: self.announce(access, deleted),
            guard=guard,
        )

    def remove(
        self, connection: sqlite3.Connection, access: ChannelAccess, message: Message, actor: Actor | None
    ) -> DeletedMessage:
        """In a unit: delete a message; `actor` is given where that is not its author.

        :raises ApiError: UNKNOWN_MESSAGE when it went meanwhile.
        """
        removed, entry = remove_messages(connection, message.channel_id, [message.id]), None
        if not removed.message_ids:
            raise ApiError(ErrorCode.UNKNOWN_MESSAGE)
        if actor is not None and access.guild_id is not None:
            options = {"channel_id": str(message.channel_id)}
            entry = self._core.audit_log.count(
                connection, access.guild_id, AuditAction.MESSAGE_DELETE, actor, message.author_id, options
            )
        return DeletedMessage(message, removed, entry)

    def announce(self, access: ChannelAccess, deleted: DeletedMessage) -> None:
        """After the commit: publish the deletion of a message by `remove`."""
        renewed = self._core.access.renewed(access)
        if renewed is not None:
            self._core.audit_log.publish(deleted.entry)
            self._core.bus.publish(message_deleted(renewed, deleted.message))
            announce_lost_pins(self._core.bus, renewed, deleted.removed)

    async def delete_many(
        self, principal: Principal, channel_id: int, message_ids: Sequence[int], reason: str | None = None
    ) -> None:
        """Delete messages, at most BATCH_MESSAGES; ids of messages that are missing, or that the caller may not read,
        are passed over.

        :raises ApiError: as `Access.channel`; CANNOT_EXECUTE_ON_DM, MISSING_PERMISSIONS.
        """
        access = self._core.access.channel(principal, channel_id)
        _require_moderator(access)
        batch = [message_id for message_id in message_ids[:BATCH_MESSAGES] if access.reads(message_id)]
        actor = Actor(principal.user_id, reason)
        await self._core.database.write(
            lambda connection: self._remove_in(connection, channel_id, access.guild_id, batch, actor),
            self._announce,
            guard=principal.guard,
        )

    async def purge(self, principal: Principal, channel_id: int, purge: Purge, reason: str | None = None) -> int:
        """Delete the messages that fit and that the caller may read; returns how many went once all of them are gone.
        The caller's personal notes are emptied, without regard to the purge.

        Each batch is a unit, an event and an entry in the audit log of its own; all of them are one errand.

        :raises ApiError: as `delete_many`.
        """
        access = self._core.access.channel(principal, channel_id)
        if access.channel.type == ChannelType.DM_PERSONAL_NOTES:
            last_id = await self._core.database.read(
                lambda connection: messages.last_of_channel(connection, channel_id)
            )
            return await self._purged(access, {"last_id": last_id, "reason": None}, principal.guard)
        _require_moderator(access)
        floor = access.history_floor()
        if floor is None:
            return 0
        least = floor if purge.after is None else max(floor, min(purge.after + 1, MAXIMUM))
        chosen = await self._core.database.read(lambda connection: _choose(connection, channel_id, purge, least))
        return await self._purged(access, {"message_ids": chosen, "reason": reason}, principal.guard)

    async def _purged(self, access: ChannelAccess, what: State, guard: Guard) -> int:
        place = {"channel_id": access.channel.id, "guild_id": access.guild_id, "actor_id": access.user_id}
        state = {**what, **place}
        return (await self._core.errands.do(ErrandKind.PURGE, state, guard=guard)).count

    async def _purge(self, errand: Errand) -> None:
        channel_id: int = errand.state["channel_id"]
        guild_id: int | None = errand.state["guild_id"]
        actor = Actor(errand.state["actor_id"], errand.state["reason"])

        def portion(connection: sqlite3.Connection, state: State) -> tuple[State | None, _BulkDeletion]:
            chosen = state.get("message_ids")
            if chosen is None:
                batch = messages.ids_up_to(connection, channel_id, state["last_id"], BATCH_MESSAGES)
                left = state if len(batch) == BATCH_MESSAGES else None
            else:
                batch, rest = chosen[:BATCH_MESSAGES], chosen[BATCH_MESSAGES:]
                left = {**state, "message_ids": rest} if rest else None
            return left, self._remove_in(connection, channel_id, guild_id, batch, actor)

        def then(done: _BulkDeletion) -> None:
            errand.count += len(done[0].message_ids)
            self._announce(done)

        while not errand.is_over:
            await errand.step(portion, then)

    def _remove_in(
        self,
        connection: sqlite3.Connection,
        channel_id: int,
        guild_id: int | None,
        message_ids: Sequence[int],
        actor: Actor,
    ) -> _BulkDeletion:
        removed = remove_messages(connection, channel_id, message_ids)
        if not removed.message_ids or guild_id is None:
            return removed, None
        action, options = AuditAction.MESSAGE_BULK_DELETE, {"count": str(len(removed.message_ids))}
        entry = self._core.audit_log.record(connection, guild_id, action, actor, target_id=channel_id, options=options)
        return removed, entry

    def _announce(self, done: _BulkDeletion) -> None:
        removed, entry = done
        access = self._witness.of(removed.channel_id)
        if access is not None:
            self._core.audit_log.publish(entry)
            announce_removed(self._core.bus, access, removed)


def _require_moderator(access: ChannelAccess) -> None:
    if isinstance(access, PrivateChannelAccess):
        raise ApiError(ErrorCode.CANNOT_EXECUTE_ON_DM)
    access.require(MANAGE_MESSAGES)


def named_message(core: Core, principal: Principal, channel_id: int, message_id: int) -> tuple[ChannelAccess, Message]:
    """A message that the caller wrote or may read, and the caller's access to its channel.

    :raises ApiError: as `Access.channel`; UNKNOWN_MESSAGE.
    """
    access = core.access.channel(principal, channel_id)
    message = messages.by_id(core.database.reader, channel_id, message_id)
    if message is None or not (is_own(access, message) or access.reads(message_id)):
        raise ApiError(ErrorCode.UNKNOWN_MESSAGE)
    return access, message


def moderating_actor(access: ChannelAccess, message: Message, reason: str | None) -> Actor | None:
    """Whom the audit log names where the caller takes something from another's message; None for its own.

    :raises ApiError: MISSING_PERMISSIONS, TWO_FACTOR_REQUIRED.
    """
    if is_own(access, message):
        return None
    access.require(MANAGE_MESSAGES)
    return Actor(access.user_id, reason)


def is_own(access: ChannelAccess, message: Message) -> bool:
    """Whether the caller wrote the message itself."""
    return message.author_id == access.user_id and message.webhook_id is None


def _choose(connection: sqlite3.Connection, channel_id: int, purge: Purge, floor: int) -> list[int]:
    """The ids of the messages that a purge takes, none of them under `floor`."""
    chosen: list[int] = []
    before, scanned = purge.before, 0
    while scanned < SCANNED_MAXIMUM:
        page = messages.below(connection, channel_id, SCANNED_AT_ONCE, before=before, floor=floor)
        bots = _bots(connection, page) if purge.bots is not None else frozenset()
        for message in page:
            if _fits(message, purge, bots):
                chosen.append(message.id)
                if len(chosen) == purge.limit:
                    return chosen
        if len(page) < SCANNED_AT_ONCE:
            break
        before, scanned = page[-1].id, scanned + len(page)
    return chosen


def _bots(connection: sqlite3.Connection, page: Sequence[Message]) -> frozenset[int]:
    """The authors on the page that are bots or webhooks."""
    hooks = frozenset(message.author_id for message in page if message.webhook_id is not None)
    people = {message.author_id for message in page} - hooks
    return hooks | {account.id for account in accounts.by_ids(connection, tuple(people)) if account.bot}


def _fits(message: Message, purge: Purge, bots: frozenset[int]) -> bool:
    if message.pinned_at is not None and not purge.pinned:
        return False
    if purge.user_ids and message.author_id not in purge.user_ids:
        return False
    if purge.bots is not None and (message.author_id in bots) is not purge.bots:
        return False
    if purge.contains is not None and purge.contains.casefold() not in message.content.casefold():
        return False
    return all(HAS[kind](message) for kind in purge.has)
