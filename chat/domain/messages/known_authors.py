"""Those who write, as messages show them, kept while nothing has changed about them: the newest page of a channel is
asked for again and again, and its authors are the same."""

from __future__ import annotations

import sqlite3
from collections.abc import Collection, Mapping
from typing import Final

from chat import wire
from chat.domain.messages.message_objects import author_object
from chat.store.accounts import accounts
from chat.store.accounts.caller_changes import Follower

AUTHORS_MAXIMUM: Final = 4_096
"""Authors in memory (some 500 bytes each); beyond it all are read anew."""


def authors(connection: sqlite3.Connection, user_ids: Collection[int]) -> Mapping[int, wire.PartialUser]:
    """The partial user of each of these; the placeholder of a deleted one where there is no account."""
    known = accounts.shown(connection, user_ids)
    return {user_id: author_object(user_id, known.get(user_id)) for user_id in user_ids}


class KnownAuthors:
    """The memory of one server, for the loop's own connection, which never writes."""

    def __init__(self, reader: sqlite3.Connection) -> None:
        self._changes = Follower(reader)
        self._objects: dict[int, wire.PartialUser] = {}

    def __len__(self) -> int:
        """How many authors are kept."""
        return len(self._objects)

    def objects(self, connection: sqlite3.Connection, user_ids: Collection[int]) -> Mapping[int, wire.PartialUser]:
        """As `authors`; callers must not alter them. `connection` is the loop's, in a transaction."""
        objects = self._objects
        changed = self._changes.changed()
        if changed is None or len(objects) > AUTHORS_MAXIMUM:
            objects.clear()
        else:
            for user_id in changed:
                objects.pop(user_id, None)
        unknown = [user_id for user_id in user_ids if user_id not in objects]
        for user_id, account in accounts.shown(connection, unknown).items():
            objects[user_id] = author_object(user_id, account)
        # An id without an account is not kept: it may get one, and no change tells of that.
        return {user_id: objects.get(user_id) or author_object(user_id, None) for user_id in user_ids}

    def start_anew(self) -> None:
        """Forget all authors, because changes of accounts were rolled back or erased (`/v1/_dev/reset`)."""
        self._changes.start_anew()
