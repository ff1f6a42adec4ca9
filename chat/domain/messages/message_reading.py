"""Messages out of the store with everything that their wire objects need. These run in a reader's thread."""

from __future__ import annotations

import functools
import sqlite3
from collections.abc import Iterable, Mapping
from typing import Any

import attrs

from chat.domain.messages.message_objects import NO_PARTS, Parts, account_ids, stored_message_object
from chat.domain.messages.message_parts import Viewer, parts_of
from chat.domain.policy.public_addresses import Addresses
from chat.registries.message_types import THREAD_MESSAGE_TYPES
from chat.snowflake import MAXIMUM
from chat.store.accounts import accounts
from chat.store.accounts.accounts import Account
from chat.store.messages import messages
from chat.store.messages.messages import Message


@attrs.frozen
class Page:
    """Which messages of a channel to read: the newest, or those next to one cursor. `around` includes its message."""

    limit: int = 50
    before: int | None = None
    after: int | None = None
    around: int | None = None


@attrs.frozen
class StoredMessages:
    """Messages with everything that their wire objects need."""

    messages: list[Message]
    referenced: Mapping[int, Message]
    accounts: Mapping[int, Account]
    parts: Parts = NO_PARTS

    def wire(self, message: Message, addresses: Addresses, floor: int = 0) -> dict[str, Any]:
        """The wire object; an answered message under `floor` is not shown."""
        reference = message.reference
        referenced = None
        if reference is not None and reference.message_id >= floor:
            referenced = self.referenced.get(reference.message_id)
        return stored_message_object(message, referenced, self.accounts, addresses, self.parts)


def one_message(
    channel_id: int, message_id: int, connection: sqlite3.Connection, *, viewer: Viewer | None = None
) -> StoredMessages | None:
    """One message of a channel; None when there is none."""
    message = messages.by_id(connection, channel_id, message_id)
    if message is None or (message.type in THREAD_MESSAGE_TYPES and viewer is not None and not viewer.sees_threads):
        return None
    return with_context(connection, [message], viewer=viewer)


def page_of_messages(
    channel_id: int, page: Page, floor: int, connection: sqlite3.Connection, *, viewer: Viewer | None = None
) -> StoredMessages:
    """A page, newest first, without what lies under `floor`. `around` decides before `after`, that before `before`; at
    an end of the channel its page fills up from the other side."""
    limit, threads = page.limit, viewer is None or viewer.sees_threads
    if page.around is not None:
        above = functools.partial(
            messages.above, connection, channel_id, after=page.around, floor=floor, threads=threads
        )
        newer = above(limit // 2)
        before, room = min(page.around + 1, MAXIMUM), limit - len(newer)
        older = messages.below(connection, channel_id, room, before=before, floor=floor, threads=threads)
        if len(older) < room and len(newer) == limit // 2:
            newer = above(limit - len(older))
        found = newer + older
    elif page.after is not None:
        found = messages.above(connection, channel_id, limit, after=page.after, floor=floor, threads=threads)
    else:
        found = messages.below(connection, channel_id, limit, before=page.before, floor=floor, threads=threads)
    return with_context(connection, found, viewer=viewer)


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
        accounts_by_id(connection, account_ids(everything)),
        parts_of(connection, everything, viewer),
    )


def accounts_by_id(connection: sqlite3.Connection, user_ids: Iterable[int]) -> dict[int, Account]:
    """Those of these accounts that exist."""
    return {account.id: account for account in accounts.by_ids(connection, tuple(user_ids))}
