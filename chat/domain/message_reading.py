"""Messages out of the store with everything that their wire objects need. These run in a reader's thread."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Mapping
from typing import Any

import attrs

from chat.domain.objects.messages import AddressOf, account_ids, answering_message_object
from chat.store import accounts, messages
from chat.store.accounts import Account
from chat.store.messages import Message


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

    def wire(self, message: Message, address_of: AddressOf, floor: int = 0) -> dict[str, Any]:
        """The wire object; an answered message under `floor` is not shown."""
        reference = message.reference
        referenced = None
        if reference is not None and reference.message_id >= floor:
            referenced = self.referenced.get(reference.message_id)
        return answering_message_object(message, referenced, self.accounts, address_of)


def one_message(channel_id: int, message_id: int, connection: sqlite3.Connection) -> StoredMessages | None:
    """One message of a channel; None when there is none."""
    message = messages.by_id(connection, channel_id, message_id)
    return None if message is None else with_context(connection, [message])


def page_of_messages(channel_id: int, page: Page, floor: int, connection: sqlite3.Connection) -> StoredMessages:
    """A page, newest first, without what lies under `floor`. `around` decides before `after`, that before `before`."""
    limit = page.limit
    if page.around is not None:
        newer = messages.above(connection, channel_id, limit // 2, after=page.around, floor=floor)
        older = messages.below(connection, channel_id, limit - limit // 2, before=page.around + 1, floor=floor)
        return with_context(connection, newer + older)
    if page.after is not None:
        return with_context(connection, messages.above(connection, channel_id, limit, after=page.after, floor=floor))
    return with_context(connection, messages.below(connection, channel_id, limit, before=page.before, floor=floor))


def with_context(connection: sqlite3.Connection, found: list[Message], *, referenced: bool = True) -> StoredMessages:
    """These messages with their authors and whom they mention, and, if `referenced`, with what they answer."""
    answered_ids = {message.reference.message_id for message in found if message.reference is not None}
    answered = messages.by_ids(connection, answered_ids) if referenced and answered_ids else []
    return StoredMessages(
        found,
        {message.id: message for message in answered},
        accounts_by_id(connection, account_ids([*found, *answered])),
    )


def accounts_by_id(connection: sqlite3.Connection, user_ids: Iterable[int]) -> dict[int, Account]:
    """Those of these accounts that exist."""
    return {account.id: account for account in accounts.by_ids(connection, tuple(user_ids))}
