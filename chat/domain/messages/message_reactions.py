"""`reactions` of message objects (messages.md, Reactions)."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from chat.domain.messages.reaction_objects import reaction_objects
from chat.store.messages import reactions
from chat.store.messages.messages import Message

if TYPE_CHECKING:
    from chat.domain.messages.message_parts import Members, Viewer


def has_reactions(message: Message) -> bool:
    """Whether `read_reactions` may have something for the message."""
    return message.has_reactions


def read_reactions(
    connection: sqlite3.Connection, found: Sequence[Message], viewer: Viewer | None
) -> Mapping[int, Members]:
    """`reactions` of message objects, as the viewer sees them. An event, which many see, is without: everyone keeps
    what the events of reactions said."""
    if viewer is None:
        return {}
    seen = reactions.of_messages(connection, [message.id for message in found], viewer.user_id)
    return {message_id: {"reactions": reaction_objects(of_message)} for message_id, of_message in seen.items()}
