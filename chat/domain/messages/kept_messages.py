"""The lists that an account keeps of messages, as far as it may read them now: messages of the last days that mention
it, and saved messages (messages.md, Kept messages)."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Sequence
from typing import Final

import attrs

from chat import wire
from chat.auth.principal import Principal
from chat.bus.audience import ToAccounts
from chat.bus.bus import Event
from chat.classes import define
from chat.domain.core import Core
from chat.domain.messages.message_events import message_saved
from chat.domain.messages.message_reading import StoredMessages, one_message, viewer_of, with_context
from chat.domain.standing.permissions import sees_threads
from chat.domain.standing.user_objects import limits_of
from chat.errors import ApiError
from chat.registries.channel_types import CHANNEL_THREADS_TYPES
from chat.registries.error_codes import ErrorCode
from chat.registries.events import EventName
from chat.snowflake import MAXIMUM, snowflake_at
from chat.store.guilds import channels
from chat.store.messages import kept_messages, messages
from chat.store.messages.kept_messages import Mention, MentionFilter, SavedMessage

RECENT_MS: Final = 7 * 86_400_000
"""How long a mention stands on the list."""

ROUNDS: Final = 10
"""How often to look for more where the account does not see what was found; each time a full batch."""

BATCH: Final = 100


@define(eq=False)
class ReadableChannels:
    """Judges for one account what it may read, each channel once. For the length of one request."""

    _core: Core
    _principal: Principal
    _floors: dict[int, int | None] = attrs.field(factory=dict, init=False)

    def floor(self, channel_id: int) -> int | None:
        """The least id of a message that the account may read in the channel; None when it may read none."""
        if channel_id not in self._floors:
            self._floors[channel_id] = self._judged(channel_id)
        return self._floors[channel_id]

    def __call__(self, channel_id: int, message_id: int) -> bool:
        """Whether the account may read the message."""
        floor = self.floor(channel_id)
        return floor is not None and message_id >= floor

    def _judged(self, channel_id: int) -> int | None:
        try:
            access = self._core.access.channel(self._principal, channel_id)
        except ApiError:
            return None
        if access.channel.type in CHANNEL_THREADS_TYPES and not sees_threads(self._principal):
            return None
        return access.history_floor()

    async def objects(self, message_ids: Sequence[int]) -> dict[int, wire.Message]:
        """The message objects of those of these messages that exist, by id. The account may read them all."""
        if not message_ids:
            return {}
        viewer = viewer_of(self._principal)

        def query(connection: sqlite3.Connection) -> StoredMessages:
            return with_context(connection, messages.by_ids(connection, message_ids), viewer=viewer)

        stored = await self._core.database.read(query)
        return {
            message.id: stored.object_of(message, self._core.media_addresses, self.floor(message.channel_id) or 0)
            for message in stored.messages
        }


@define(kw_only=True, eq=False)
class RecentMentions:
    _core: Core

    async def list(self, principal: Principal, sought: MentionFilter, limit: int) -> list[wire.Message]:
        """The newest messages that mention the caller and that it may read, at most `limit`."""
        readable = ReadableChannels(self._core, principal)
        sought, wanted = self._recent(sought), []
        for _ in range(ROUNDS):
            batch = await self._find(principal.user_id, sought)
            wanted += [mention.message_id for mention in batch if readable(mention.channel_id, mention.message_id)]
            if len(batch) < BATCH or len(wanted) >= limit:
                break
            sought = attrs.evolve(sought, before=batch[-1].message_id)
        found = await readable.objects(wanted[:limit])
        return [found[message_id] for message_id in wanted[:limit] if message_id in found]

    async def dismiss(self, principal: Principal, message_ids: Iterable[int]) -> None:
        """Take messages off the caller's list; RECENT_MENTION_DELETE tells its sessions of those that `list` showed."""
        user_id, sought = principal.user_id, self._recent(MentionFilter())

        def unit(connection: sqlite3.Connection) -> list[Mention]:
            gone = []
            for message_id in dict.fromkeys(message_ids):
                for mention in kept_messages.find_mentions(
                    connection, user_id, attrs.evolve(sought, message_id=message_id), 1
                ):
                    kept_messages.dismiss(connection, user_id, message_id)
                    gone.append(mention)
            return gone

        await self._core.database.write(unit, lambda gone: self._announce(principal, gone), guard=principal.guard)

    async def dismiss_all(self, principal: Principal) -> None:
        """Take everything off the caller's list; its sessions are told of the newest, which they may be showing."""
        user_id, sought = principal.user_id, self._recent(MentionFilter())
        up_to = snowflake_at(self._core.clock.now_ms() + 1) - 1

        def unit(connection: sqlite3.Connection) -> Sequence[Mention]:
            gone = kept_messages.find_mentions(connection, user_id, attrs.evolve(sought, before=up_to + 1), BATCH)
            kept_messages.dismiss_all(connection, user_id, up_to)
            return gone

        await self._core.database.write(unit, lambda gone: self._announce(principal, gone), guard=principal.guard)

    def _recent(self, sought: MentionFilter) -> MentionFilter:
        return attrs.evolve(sought, after=max(sought.after, snowflake_at(self._core.clock.now_ms() - RECENT_MS) - 1))

    async def _find(self, user_id: int, sought: MentionFilter) -> Sequence[Mention]:
        return await self._core.database.read(
            lambda connection: kept_messages.find_mentions(connection, user_id, sought, BATCH)
        )

    def _announce(self, principal: Principal, gone: Sequence[Mention]) -> None:
        readable, audience = ReadableChannels(self._core, principal), ToAccounts((principal.user_id,))
        for mention in gone:
            if readable(mention.channel_id, mention.message_id):
                data = {"message_id": str(mention.message_id)}
                self._core.bus.publish(Event(EventName.RECENT_MENTION_DELETE, data, audience))


@define(kw_only=True, eq=False)
class SavedMessages:
    _core: Core

    async def list(self, principal: Principal, limit: int, before: int | None) -> list[wire.SavedMessage]:
        """What the caller keeps, the last one saved first: at most `limit`, saved before the message `before`.

        A message that the caller may not read at present is named without being shown.
        """
        user_id, bound = principal.user_id, MAXIMUM if before is None else before
        kept = await self._core.database.read(
            lambda connection: kept_messages.saved_page(connection, user_id, limit, bound)
        )
        readable = ReadableChannels(self._core, principal)
        found = await readable.objects(
            [saved.message_id for saved in kept if readable(saved.channel_id, saved.message_id)]
        )
        return [_entry(saved, found.get(saved.message_id)) for saved in kept]

    async def save(self, principal: Principal, channel_id: int, message_id: int) -> None:
        """Keep a message. SAVED_MESSAGE_CREATE tells the caller's sessions of one that was not kept yet.

        :raises ApiError: as `Access.channel`; UNKNOWN_MESSAGE, also for one that the caller may not read;
            MAX_BOOKMARKS.
        """
        access = self._core.access.channel(principal, channel_id)
        floor = access.history_floor()
        if floor is None or message_id < floor:
            raise ApiError(ErrorCode.UNKNOWN_MESSAGE)
        user_id = principal.user_id
        limits = limits_of(self._core.settings, principal.account, self._core.clock.now_ms())
        saved = SavedMessage(user_id, message_id, self._core.snowflakes(), channel_id)
        viewer = viewer_of(principal)

        def unit(connection: sqlite3.Connection) -> StoredMessages | None:
            stored = one_message(channel_id, message_id, connection, viewer=viewer)
            if stored is None:
                raise ApiError(ErrorCode.UNKNOWN_MESSAGE)
            if access.guild_id is not None and channels.guild_of(connection, channel_id) is None:
                raise ApiError(ErrorCode.UNKNOWN_CHANNEL)  # it is on its way out, with its messages
            if kept_messages.is_saved(connection, user_id, message_id):
                return None
            if kept_messages.count_saved(connection, user_id) >= limits.max_bookmarks:
                raise ApiError(ErrorCode.MAX_BOOKMARKS, members={"max_bookmarks": limits.max_bookmarks})
            kept_messages.save(connection, saved)
            return stored

        def then(stored: StoredMessages | None) -> None:
            if stored is not None:
                message = stored.messages[0]
                shown = stored.object_of(message, self._core.media_addresses, floor)
                audience = ToAccounts((user_id,), threads=access.channel.type in CHANNEL_THREADS_TYPES)
                self._core.bus.publish(message_saved(message, shown, audience))

        await self._core.database.write(unit, then, guard=principal.guard)

    async def forget(self, principal: Principal, message_id: int) -> None:
        """Keep a message no longer; nothing happens if it was not kept."""
        user_id = principal.user_id

        def then(was_kept: bool) -> None:
            if was_kept:
                data = {"message_id": str(message_id)}
                self._core.bus.publish(Event(EventName.SAVED_MESSAGE_DELETE, data, ToAccounts((user_id,))))

        await self._core.database.write(
            lambda connection: kept_messages.forget_saved(connection, user_id, message_id), then, guard=principal.guard
        )


def _entry(saved: SavedMessage, message: wire.Message | None) -> wire.SavedMessage:
    return {
        "id": str(saved.message_id),
        "channel_id": str(saved.channel_id),
        "message_id": str(saved.message_id),
        "status": "missing_permissions" if message is None else "available",
        "message": message,
    }
