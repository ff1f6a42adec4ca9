"""Members of message objects that tables of other domains hold: reactions, threads.

A domain adds a `Part` to PARTS: which messages it may have something for, judged by the message alone (a column, a flag
or a member of `extra`, so that a page without them costs no statement), and what reads their members in one statement.
The members come last into the wire object and may replace those that are there. What is written once with the message
and belongs to nobody else goes into `MessageExtra` instead.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

import attrs

from chat.auth.principal import Principal
from chat.domain.messages.message_reactions import has_reactions, read_reactions
from chat.domain.messages.message_threads import concerns_threads, read_threads
from chat.domain.standing.access import sees_threads
from chat.store.messages.messages import Message


@attrs.frozen
class Viewer:
    """Whom messages are read for. Where an event is made for many, there is none."""

    user_id: int
    sees_threads: bool = True


def viewer_of(principal: Principal) -> Viewer:
    """The caller of an operation as a reader of messages."""
    return Viewer(principal.user_id, sees_threads(principal))


Members = Mapping[str, Any]


@attrs.frozen
class Part:
    """What one domain adds to message objects."""

    concerns: Callable[[Message], bool]
    read: Callable[[sqlite3.Connection, Sequence[Message], Viewer | None], Mapping[int, Members]]
    """Gives the members by the message's id; runs in a reader's thread or in a unit."""


PARTS: Final[tuple[Part, ...]] = (Part(has_reactions, read_reactions), Part(concerns_threads, read_threads))
"""In the order in which their members come."""


def has_parts(message: Message) -> bool:
    """Whether other tables may hold members of the message, which can differ from viewer to viewer."""
    return any(part.concerns(message) for part in PARTS)


def parts_of(connection: sqlite3.Connection, found: Sequence[Message], viewer: Viewer | None) -> Mapping[int, Members]:
    """The members that other tables hold for these messages."""
    gathered: dict[int, dict[str, Any]] = {}
    for part in PARTS:
        concerned = [message for message in found if part.concerns(message)]
        if concerned:
            for message_id, members in part.read(connection, concerned, viewer).items():
                gathered.setdefault(message_id, {}).update(members)
    return gathered
