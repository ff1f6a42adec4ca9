"""Who is told of an account's presence without asking: friends, and those who are in a group with it (wire facts 1.8).

A block in either direction ends it. The relation is the same from both sides.
"""

from __future__ import annotations

from chat.domain.relationships import RelationshipType
from chat.store import private_channels, relationships
from chat.store.database import Database


def presence_audience(database: Database, user_id: int) -> tuple[int, ...]:
    """These accounts, ascending."""
    reader = database.reader
    friends = relationships.targets(reader, user_id, RelationshipType.FRIEND)
    together = private_channels.in_groups_with(reader, user_id)
    if not together:
        return friends
    apart = {*relationships.targets(reader, user_id, RelationshipType.BLOCKED)}
    apart.update(relationships.sources(reader, user_id, RelationshipType.BLOCKED))
    return tuple(sorted({*friends, *together} - apart))
