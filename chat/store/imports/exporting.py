"""What an export of a guild reads that nobody else asks for."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Sequence

from chat.store.imports.portions import GivenReaction
from chat.store.messages.reactions import Emoji


def left_of(connection: sqlite3.Connection, guild_id: int) -> dict[str, int]:
    """How many members, bans, invites and webhooks a guild has."""
    row = connection.execute(
        """
        SELECT (SELECT count(*) FROM members WHERE guild_id = ?1), (SELECT count(*) FROM bans WHERE guild_id = ?1),
               (SELECT count(*) FROM invites WHERE guild_id = ?1), (SELECT count(*) FROM webhooks WHERE guild_id = ?1)
        """,
        (guild_id,),
    ).fetchone()
    return dict(zip(("members", "bans", "invites", "webhooks"), row, strict=True))


def reactions_of(connection: sqlite3.Connection, message_ids: Sequence[int]) -> dict[int, tuple[GivenReaction, ...]]:
    """The reactions to these messages with everybody who reacted, in the order in which they are shown."""
    rows = connection.execute(
        """
        SELECT made.message_id, made.emoji_name, made.emoji_id, made.animated, json_group_array(reacted.user_id)
          FROM message_reactions AS made JOIN message_reaction_users AS reacted ON reacted.reaction_id = made.id
         WHERE made.message_id IN (SELECT value FROM json_each(?))
         GROUP BY made.id ORDER BY made.message_id, made.first_reacted_at, made.id
        """,
        (json.dumps(list(message_ids)),),
    )
    found: dict[int, tuple[GivenReaction, ...]] = {}
    for message_id, name, emoji_id, animated, people in rows:
        given = GivenReaction(Emoji(name, emoji_id, bool(animated)), tuple(sorted(json.loads(people))))
        found[message_id] = (*found.get(message_id, ()), given)
    return found
