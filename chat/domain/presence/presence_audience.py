"""Who is told of an account's presence without asking: friends, and those who are in a group with it (gateway.md,
Presences).

A block in either direction ends it. The relation is the same from both sides.
"""

from __future__ import annotations

from chat.domain.standing.relationships import RelationshipType
from chat.store.database import Database
from chat.store.standing import private_channels, relationships


def are_acquainted(database: Database, one_id: int, other_id: int) -> bool:
    """Whether each of the two is in the other's audience; the same as asking for the whole of it, and much cheaper."""
    reader = database.reader
    own, theirs = relationships.by_id(reader, one_id, other_id), relationships.by_id(reader, other_id, one_id)
    kinds = {entry.type for entry in (own, theirs) if entry is not None}
    if RelationshipType.BLOCKED in kinds:
        return False
    return RelationshipType.FRIEND in kinds or private_channels.share_group(reader, one_id, other_id)


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
