"""Requests of members who say that they were a placeholder: the rows of `claim_requests`; and moving what was a
placeholder's to an account, or back, some rows at a time.

Rows are rewritten, so that a claim costs nothing when messages are read, searched, archived or erased. What it takes to
give them back stands beside them: `imported_messages` says who wrote a message in the old place, `claimed_from` whose
a mention or a reaction was. Where both had reacted alike, or were both mentioned, each keeps their own row.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Sequence
from typing import Final

from chat.classes import frozen
from chat.markdown.inline import mentions_in


@frozen
class ClaimRequest:
    """One row of `claim_requests`; `user_id` is the placeholder, `requested_at` Unix milliseconds."""

    guild_id: int
    user_id: int
    claimant_id: int
    requested_at: int


def request(connection: sqlite3.Connection, made: ClaimRequest) -> None:
    """Add a request. It replaces another one of the same member in the guild."""
    connection.execute(
        "INSERT OR REPLACE INTO claim_requests (guild_id, user_id, claimant_id, requested_at) VALUES (?, ?, ?, ?)",
        (made.guild_id, made.user_id, made.claimant_id, made.requested_at),
    )


def requests_of(
    connection: sqlite3.Connection, guild_id: int, user_id: int, most: int, claimant_id: int | None = None
) -> list[ClaimRequest]:
    """Up to `most` requests for a placeholder, the oldest first; those of members only, or that of one of them."""
    rows = connection.execute(
        """
        SELECT asked.guild_id, asked.user_id, asked.claimant_id, asked.requested_at
          FROM claim_requests AS asked
          JOIN members ON members.guild_id = asked.guild_id AND members.user_id = asked.claimant_id
         WHERE asked.guild_id = ?1 AND asked.user_id = ?2 AND (?3 IS NULL OR asked.claimant_id = ?3)
         ORDER BY asked.requested_at, asked.claimant_id
         LIMIT ?4
        """,
        (guild_id, user_id, claimant_id, most),
    )
    return [ClaimRequest(*row) for row in rows]


def is_requested(connection: sqlite3.Connection, guild_id: int, user_id: int, claimant_id: int) -> bool:
    """Whether the member has asked for this placeholder."""
    row = connection.execute(
        "SELECT 1 FROM claim_requests WHERE guild_id = ? AND user_id = ? AND claimant_id = ?",
        (guild_id, user_id, claimant_id),
    )
    return row.fetchone() is not None


def take_back(connection: sqlite3.Connection, guild_id: int, user_id: int, claimant_id: int | None = None) -> None:
    """Delete the request of one member for a placeholder, or those of all."""
    connection.execute(
        "DELETE FROM claim_requests WHERE guild_id = ?1 AND user_id = ?2 AND (?3 IS NULL OR claimant_id = ?3)",
        (guild_id, user_id, claimant_id),
    )


# Moving


@frozen
class ClaimMove:
    """From whom rows of a guild go to whom. `is_back` gives to the placeholder what a claim took from it; `person_id`
    is its id in the export."""

    guild_id: int
    from_id: int
    to_id: int
    person_id: int
    is_back: bool


@frozen
class MovedPortion:
    """How much one portion moved, and behind which id the next one begins; None when that was all."""

    count: int
    after: int | None


Stage = Callable[[sqlite3.Connection, ClaimMove, int, int], MovedPortion]

_IN_GUILD: Final = """
    EXISTS (SELECT 1
              FROM messages JOIN channels ON channels.id = messages.channel_id AND channels.guild_id = :guild_id
             WHERE messages.id = {message_id})
"""


# What was edited since the import may say what the old person never wrote: it stays with who edited it.
_WRITTEN_THERE: Final = """
    AND EXISTS (SELECT 1 FROM imported_messages AS noted JOIN imports ON imports.id = noted.import_id
                 WHERE noted.message_id = messages.id AND noted.person_id = :person_id
                   AND coalesce(messages.edited_at, 0) < imports.created_at)
"""


def move_messages(connection: sqlite3.Connection, move: ClaimMove, after: int, look_at: int) -> MovedPortion:
    """Change the author of some messages, in a unit. Those that were edited here do not go back."""
    page = _page(connection, "SELECT id FROM messages WHERE author_id = ? AND id > ? ORDER BY id", move, after, look_at)
    moved = connection.execute(
        f"""
        UPDATE messages SET author_id = :to_id
         WHERE id IN (SELECT value FROM json_each(:page)) AND webhook_id IS NULL
           AND EXISTS (SELECT 1 FROM channels WHERE channels.id = messages.channel_id AND guild_id = :guild_id)
           {_WRITTEN_THERE if move.is_back else ""}
        RETURNING id
        """,  # noqa: S608 - our own words
        _values(move, page),
    ).fetchall()
    _index_again(connection, [message_id for (message_id,) in moved])
    return MovedPortion(len(moved), page[-1] if len(page) == look_at else None)


def move_mentions(connection: sqlite3.Connection, move: ClaimMove, after: int, look_at: int) -> MovedPortion:
    """Have some messages mention the other one, in their texts too, in a unit."""
    query = "SELECT message_id FROM message_mentions WHERE user_id = ? AND message_id > ? ORDER BY message_id"
    page = _page(connection, query, move, after, look_at)
    moved = connection.execute(
        f"""
        UPDATE OR IGNORE message_mentions AS mentioned
           SET user_id = :to_id, claimed_from = {"NULL" if move.is_back else ":from_id"}, counted = 0
         WHERE user_id = :from_id AND message_id IN (SELECT value FROM json_each(:page))
           AND {_IN_GUILD.format(message_id="mentioned.message_id")}
           {"AND claimed_from = :to_id" if move.is_back else ""}
        RETURNING message_id
        """,  # noqa: S608
        _values(move, page),
    ).fetchall()
    ids = [message_id for (message_id,) in moved]
    texts = connection.execute(
        "SELECT id, content FROM messages WHERE id IN (SELECT value FROM json_each(?))", (json.dumps(ids),)
    ).fetchall()
    renamed = [(_renamed(text, move.from_id, move.to_id), message_id) for message_id, text in texts]
    connection.executemany("UPDATE messages SET content = ?1 WHERE id = ?2 AND content <> ?1", renamed)
    _index_again(connection, ids)
    return MovedPortion(len(moved), page[-1] if len(page) == look_at else None)


def move_reactions(connection: sqlite3.Connection, move: ClaimMove, after: int, look_at: int) -> MovedPortion:
    """Have some reactions be the other one's, in a unit."""
    query = "SELECT reaction_id FROM message_reaction_users WHERE user_id = ? AND reaction_id > ? ORDER BY reaction_id"
    page = _page(connection, query, move, after, look_at)
    of_reaction = "(SELECT message_id FROM message_reactions WHERE id = reacted.reaction_id)"
    moved = connection.execute(
        f"""
        UPDATE OR IGNORE message_reaction_users AS reacted
           SET user_id = :to_id, claimed_from = {"NULL" if move.is_back else ":from_id"}
         WHERE user_id = :from_id AND reaction_id IN (SELECT value FROM json_each(:page))
           AND {_IN_GUILD.format(message_id=of_reaction)}
           {"AND claimed_from = :to_id" if move.is_back else ""}
        RETURNING reaction_id
        """,  # noqa: S608
        _values(move, page),
    ).fetchall()
    return MovedPortion(len(moved), page[-1] if len(page) == look_at else None)


STAGES: Final[Sequence[Stage]] = (move_messages, move_mentions, move_reactions)


def _page(connection: sqlite3.Connection, query: str, move: ClaimMove, after: int, look_at: int) -> list[int]:
    rows = connection.execute(f"{query} LIMIT ?", (move.from_id, after, look_at))
    return [found for (found,) in rows]


def _values(move: ClaimMove, page: Sequence[int]) -> dict[str, int | str]:
    return {
        "guild_id": move.guild_id,
        "from_id": move.from_id,
        "to_id": move.to_id,
        "person_id": move.person_id,
        "page": json.dumps(page),
    }


def _renamed(text: str, old_id: int, new_id: int) -> str:
    """The text with another id in each mention of one account; what stands in code is no mention."""
    said: list[str] = []
    at = 0
    for mention in mentions_in(text):
        if mention.kind == "user" and int(mention.value) == old_id:
            new = text[mention.start : mention.end].replace(str(old_id), str(new_id))
            said += (text[at : mention.start], new)
            at = mention.end
    return "".join([*said, text[at:]])


def _index_again(connection: sqlite3.Connection, message_ids: Sequence[int]) -> None:
    """The search index is told: no trigger sees another author or a row of mentions."""
    connection.execute(
        "INSERT OR IGNORE INTO message_search_queue (message_id) SELECT value FROM json_each(?)",
        (json.dumps(message_ids),),
    )
