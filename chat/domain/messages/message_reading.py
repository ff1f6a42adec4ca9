"""Messages out of the store with everything that their wire objects need (these functions run in a reader's thread, or
in a unit), and the operations that read them (messages.md, Message object).

What other tables hold of a message (reactions, its thread) comes as `parts`, whose members come last into the wire
object and may replace those that are there. Whether there are any shows in the message itself (a column, a flag), so
that a page without them costs no statement. What is written once with the message goes into `MessageExtra` instead.
"""

from __future__ import annotations

import functools
import math
import sqlite3
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Final

import attrs
import trio

from chat import wire
from chat.auth.principal import Principal
from chat.classes import define, frozen
from chat.domain.core import Core
from chat.domain.messages.known_authors import KnownAuthors, authors
from chat.domain.messages.message_objects import (
    NO_PARTS,
    Accounts,
    Parts,
    account_ids,
    plain_message_objects,
    poll_results,
    reaction_objects,
    stored_message_object,
)
from chat.domain.policy.embeds import Addresses
from chat.domain.standing.access import ChannelAccess, GuildChannelAccess
from chat.domain.standing.permissions import sees_threads
from chat.domain.standing.thread_objects import thread_object
from chat.errors import ApiError
from chat.registries.error_codes import ErrorCode
from chat.registries.message_types import THREAD_MESSAGE_TYPES, WRITTEN_MESSAGE_TYPES, MessageFlag
from chat.snowflake import MAXIMUM
from chat.store import threads
from chat.store.accounts import accounts
from chat.store.accounts.accounts import Account
from chat.store.messages import messages, polls, reactions
from chat.store.messages.messages import THREAD_FLAGS, Message, PageRow

HAS_THREAD: Final = MessageFlag.HAS_THREAD.value

WARM_CHANNELS: Final = 1_024
"""Channels whose newest messages were read lately; the one that was read longest ago goes for another."""

WARM_SECONDS: Final = 60.0
"""How long what was read stays in memory, as far as can be known."""

WARM_PAGE: Final = 50
"""Messages of a page that is read on the loop: some 0.15 ms of it."""

AuthorsOf = Callable[[sqlite3.Connection, Collection[int]], Mapping[int, "wire.PartialUser"]]
"""The partial users of authors, by id."""


@frozen
class Viewer:
    """The account for which messages are read; None for an event that goes to many."""

    user_id: int
    sees_threads: bool = True


def viewer_of(principal: Principal) -> Viewer:
    """The caller of an operation as a reader of messages."""
    return Viewer(principal.user_id, sees_threads(principal))


@frozen
class MessagePage:
    """Which messages of a channel to read: the newest, or those next to one cursor. `around` includes its message."""

    limit: int = 50
    before: int | None = None
    after: int | None = None
    around: int | None = None


@frozen
class StoredMessages:
    """Messages with everything that their wire objects need."""

    messages: list[Message]
    referenced: Mapping[int, Message]
    accounts: Accounts
    parts: Parts = NO_PARTS

    def object_of(self, message: Message, addresses: Addresses, floor: int = 0) -> wire.Message:
        """The wire object; an answered message under `floor` is not shown, nor one that is not in the channel that the
        reference names."""
        reference = message.reference
        referenced = None
        if reference is not None and reference.message_id >= floor:
            referenced = self.referenced.get(reference.message_id)
            if referenced is not None and referenced.channel_id != reference.channel_id:
                referenced = None
        return stored_message_object(message, referenced, self.accounts, addresses, self.parts)

    def objects(self, addresses: Addresses, floor: int = 0) -> list[wire.Message]:
        """The wire objects of all the messages, as `object_of`."""
        return [self.object_of(message, addresses, floor) for message in self.messages]


def one_message(
    channel_id: int, message_id: int, connection: sqlite3.Connection, *, viewer: Viewer | None = None
) -> StoredMessages | None:
    """One message of a channel; None if missing."""
    message = messages.by_id(connection, channel_id, message_id)
    if message is None or (message.type in THREAD_MESSAGE_TYPES and viewer is not None and not viewer.sees_threads):
        return None
    return with_context(connection, [message], viewer=viewer)


def require_message(connection: sqlite3.Connection, channel_id: int, message_id: int) -> Message:
    """The message by itself. Raises UNKNOWN_MESSAGE if it is missing."""
    message = messages.by_id(connection, channel_id, message_id)
    if message is None:
        raise ApiError(ErrorCode.UNKNOWN_MESSAGE)
    return message


def page_of_messages(
    channel_id: int, page: MessagePage, floor: int, connection: sqlite3.Connection, *, viewer: Viewer | None = None
) -> StoredMessages:
    """A page, newest first, without what lies under `floor`. `around` decides before `after`, that before `before`; at
    an end of the channel its page fills up from the other side."""
    rows = _rows_of_page(connection, channel_id, page, floor, threads=viewer is None or viewer.sees_threads)
    by_id = {message.id: message for message in messages.by_ids(connection, [row[0] for row in rows])}
    return with_context(connection, [by_id[row[0]] for row in rows if row[0] in by_id], viewer=viewer)


def page_of_objects(
    channel_id: int, page: MessagePage, floor: int, addresses: Addresses, viewer: Viewer, connection: sqlite3.Connection
) -> list[wire.Message]:
    """The wire objects of such a page. Most messages are nothing but text: these go straight from their columns into
    their objects, and share those of their authors."""
    rows = _rows_of_page(connection, channel_id, page, floor, threads=viewer.sees_threads)
    others = _others(connection, rows)
    return _objects(channel_id, rows, others, floor, addresses, viewer, authors, connection)


def short_page_of_objects(
    authors_of: AuthorsOf,
    channel_id: int,
    page: MessagePage,
    floor: int,
    addresses: Addresses,
    viewer: Viewer,
    connection: sqlite3.Connection,
) -> list[wire.Message] | None:
    """As `page_of_objects`, by reading no more rows than the page has; None where some are not for the viewer."""
    rows = _rows_of_page(connection, channel_id, page, floor, threads=True)
    others = _others(connection, rows)
    if not viewer.sees_threads and any(message.type in THREAD_MESSAGE_TYPES for message in others):
        return None
    return _objects(channel_id, rows, others, floor, addresses, viewer, authors_of, connection)


def _others(connection: sqlite3.Connection, rows: list[PageRow]) -> list[Message]:
    """The messages of a page that are not plain, in no order."""
    others = [row[0] for row in rows if not row[-1]]
    return messages.by_ids(connection, others) if others else []


def _objects(
    channel_id: int,
    rows: list[PageRow],
    others: list[Message],
    floor: int,
    addresses: Addresses,
    viewer: Viewer,
    authors_of: AuthorsOf,
    connection: sqlite3.Connection,
) -> list[wire.Message]:
    plain = [row for row in rows if row[-1]]
    shown = plain_message_objects(plain, str(channel_id), authors_of(connection, {row[1] for row in plain}))
    if len(plain) == len(rows):
        return shown
    stored = with_context(connection, others, viewer=viewer)
    by_id = {message.id: stored.object_of(message, addresses, floor) for message in others}
    by_id |= zip((row[0] for row in plain), shown, strict=True)
    return [by_id[row[0]] for row in rows if row[0] in by_id]


def _rows_of_page(
    connection: sqlite3.Connection, channel_id: int, page: MessagePage, floor: int, *, threads: bool
) -> list[PageRow]:
    limit = page.limit
    if page.around is not None:
        above = functools.partial(
            messages.rows_above, connection, channel_id, after=page.around, floor=floor, threads=threads
        )
        newer = above(limit // 2)
        before, room = min(page.around + 1, MAXIMUM), limit - len(newer)
        older = messages.rows_below(connection, channel_id, room, before=before, floor=floor, threads=threads)
        if len(older) < room and len(newer) == limit // 2:
            newer = above(limit - len(older))
        return newer + older
    if page.after is not None:
        return messages.rows_above(connection, channel_id, limit, after=page.after, floor=floor, threads=threads)
    return messages.rows_below(connection, channel_id, limit, before=page.before, floor=floor, threads=threads)


def with_context(
    connection: sqlite3.Connection, found: list[Message], *, referenced: bool = True, viewer: Viewer | None = None
) -> StoredMessages:
    """These messages with their authors and whom they mention, with what other domains add to them for the viewer, and,
    if `referenced`, with what they answer."""
    answered_ids = {message.reference.message_id for message in found if message.reference is not None}
    answered = messages.by_ids(connection, answered_ids) if referenced and answered_ids else []
    everything = [*found, *answered]
    return StoredMessages(
        found,
        {message.id: message for message in answered},
        accounts.shown(connection, account_ids(everything)),
        parts_of(connection, everything, viewer),
    )


def accounts_by_id(connection: sqlite3.Connection, user_ids: Iterable[int]) -> dict[int, Account]:
    """The accounts among these ids that exist."""
    return {account.id: account for account in accounts.by_ids(connection, tuple(user_ids))}


def has_parts(message: Message) -> bool:
    """Whether other tables may hold members of the message, which can differ from viewer to viewer."""
    return message.has_reactions or _has_poll(message) or bool(message.flags & THREAD_FLAGS)


def _has_poll(message: Message) -> bool:
    return message.extra is not None and message.extra.poll is not None


def parts_of(connection: sqlite3.Connection, found: Sequence[Message], viewer: Viewer | None) -> Parts:
    """The members that other tables hold for these messages: first `reactions` and the votes of polls, then what
    concerns threads.

    An event, which many see, is without `reactions`: clients keep what the events of reactions said. In it no vote is
    the viewer's.
    """
    gathered: dict[int, wire.MessageParts] = {}
    reacted = [message.id for message in found if message.has_reactions]
    if reacted and viewer is not None:
        seen = reactions.of_messages(connection, reacted, viewer.user_id)
        for message_id, views in seen.items():
            gathered[message_id] = {"reactions": reaction_objects(views)}
    asking = [message.id for message in found if _has_poll(message)]
    if asking:
        states = polls.of_messages(connection, asking, 0 if viewer is None else viewer.user_id)
        for message_id, state in states.items():
            gathered[message_id] = {**gathered.get(message_id, {}), "poll_results": poll_results(state)}
    flagged = [message for message in found if message.flags & THREAD_FLAGS]
    if flagged:
        for message_id, members in _thread_parts(connection, flagged, viewer).items():
            gathered[message_id] = {**gathered.get(message_id, {}), **members}
    return gathered


def _thread_parts(connection: sqlite3.Connection, found: Sequence[Message], viewer: Viewer | None) -> Parts:
    """`thread` of each message that has one; for a viewer who knows no threads the flags without them (messages.md,
    Message object)."""
    if viewer is not None and not viewer.sees_threads:
        return {message.id: {"flags": message.flags & ~THREAD_FLAGS} for message in found}
    present = threads.by_ids(connection, [message.id for message in found if message.flags & HAS_THREAD])
    return {
        thread_id: {"thread": thread_object(thread)}
        for thread_id, thread in present.items()
        if thread.channel.guild_id is not None
    }


@define(kw_only=True, eq=False)
class Messages:
    """The operations that read messages. Of several channels those are left out that the caller may not read."""

    _core: Core
    _warm: dict[int, float] = attrs.field(factory=dict, init=False)
    """When the newest page of a channel was read last. It is in memory then: reading it again waits for no disk, so it
    costs less on the loop than the way to a reader's thread and back."""
    known_authors: KnownAuthors = attrs.field(init=False)

    def __attrs_post_init__(self) -> None:
        self.known_authors = KnownAuthors(self._core.database.reader)

    async def get(self, principal: Principal, channel_id: int, message_id: int) -> wire.Message:
        """One message.

        :raises ApiError: as `Access.channel`; UNKNOWN_MESSAGE, also for one that the caller may not read.
        """
        floor = self._core.access.channel(principal, channel_id).history_floor()
        if floor is None or message_id < floor:
            raise ApiError(ErrorCode.UNKNOWN_MESSAGE)
        return await self._one(channel_id, message_id, viewer_of(principal), floor)

    async def get_of_webhook(self, webhook_id: int, access: GuildChannelAccess, message_id: int) -> wire.Message:
        """One message that the webhook wrote. Raises UNKNOWN_MESSAGE."""
        require_of_webhook(self._core.database.reader, webhook_id, access, message_id)
        return await self._one(access.channel.id, message_id, Viewer(webhook_id))

    async def without_viewer(self, channel_id: int, message_id: int) -> wire.Message:
        """One message, without what differs from viewer to viewer, and without any check of who may read it.

        :raises ApiError: UNKNOWN_MESSAGE.
        """
        return await self._one(channel_id, message_id, None)

    async def _one(self, channel_id: int, message_id: int, viewer: Viewer | None, floor: int = 0) -> wire.Message:
        stored = await self._core.database.read(functools.partial(one_message, channel_id, message_id, viewer=viewer))
        if stored is None:
            raise ApiError(ErrorCode.UNKNOWN_MESSAGE)
        return stored.object_of(stored.messages[0], self._core.media_addresses, floor)

    async def of_channel(self, principal: Principal, channel_id: int, page: MessagePage) -> list[wire.Message]:
        """Messages of a channel, newest first; none of those that the caller may not read.

        :raises ApiError: as `Access.channel`.
        """
        floor = self._core.access.channel(principal, channel_id).history_floor()
        if floor is None:
            return []
        wanted = (channel_id, page, floor, self._core.media_addresses, viewer_of(principal))
        query = functools.partial(page_of_objects, *wanted)
        if page.limit > WARM_PAGE or page != MessagePage(page.limit):
            return await self._core.database.read(query)
        now = trio.current_time()
        found: list[wire.Message] | None = None
        if now - self._warm.pop(channel_id, -math.inf) < WARM_SECONDS:
            query_here = functools.partial(short_page_of_objects, self.known_authors.objects, *wanted)
            found = self._core.database.read_here(query_here)
        if found is None:
            found = await self._core.database.read(query)
        if len(self._warm) >= WARM_CHANNELS:
            del self._warm[next(iter(self._warm))]
        self._warm[channel_id] = now
        return found

    async def newest(self, principal: Principal, channel_ids: Sequence[int]) -> dict[str, wire.Message | None]:
        """The newest message of each of these channels, by the channel's id; None where the caller may read none."""
        floors = self._floors(principal, channel_ids)
        viewer = viewer_of(principal)

        def query(connection: sqlite3.Connection) -> StoredMessages:
            newest = messages.newest_of_channels(connection, floors, threads=viewer.sees_threads)
            return with_context(connection, newest, viewer=viewer)

        found = await self._core.database.read(query)
        by_channel: dict[str, wire.Message | None] = {str(channel_id): None for channel_id in floors}
        for message in found.messages:
            floor = floors[message.channel_id]
            by_channel[str(message.channel_id)] = found.object_of(message, self._core.media_addresses, floor)
        return by_channel

    async def pages(
        self, principal: Principal, windows: Sequence[tuple[int, MessagePage]]
    ) -> list[tuple[int, list[wire.Message]]]:
        """A page of each of these channels with the channel's id, in this order."""
        floors = self._floors(principal, [channel_id for channel_id, _ in windows])
        viewer = viewer_of(principal)

        def query(connection: sqlite3.Connection) -> list[tuple[int, list[wire.Message]]]:
            return [
                (
                    channel_id,
                    page_of_objects(
                        channel_id, page, floors[channel_id], self._core.media_addresses, viewer, connection
                    ),
                )
                for channel_id, page in windows
                if channel_id in floors
            ]

        return await self._core.database.read(query)

    def _floors(self, principal: Principal, channel_ids: Sequence[int]) -> dict[int, int]:
        """The least id that the caller may read, by channel."""
        floors = {}
        for channel_id in channel_ids:
            try:
                floor = self._core.access.channel(principal, channel_id).history_floor()
            except ApiError:
                continue  # each refusal means that there is nothing to read
            if floor is not None:
                floors[channel_id] = floor
        return floors


def require_of_webhook(
    connection: sqlite3.Connection, webhook_id: int, access: GuildChannelAccess, message_id: int
) -> Message:
    """A message that the webhook wrote in the channel. Raises UNKNOWN_MESSAGE."""
    message = messages.by_id(connection, access.channel.id, message_id)
    if message is None or message.webhook_id != webhook_id:
        raise ApiError(ErrorCode.UNKNOWN_MESSAGE)
    return message


def require_of_application(
    connection: sqlite3.Connection, bot_id: int, access: ChannelAccess, message_id: int
) -> Message:
    """A message that the application's bot wrote in the channel, and no line of the server about it.

    :raises ApiError: UNKNOWN_MESSAGE.
    """
    message = messages.by_id(connection, access.channel.id, message_id)
    if message is None or message.author_id != bot_id or message.type not in WRITTEN_MESSAGE_TYPES:
        raise ApiError(ErrorCode.UNKNOWN_MESSAGE)
    return message
