"""What `chat check --deep` finds in the rows themselves: JSON of another shape than its column is to have, counts
beside what they count, entries of search indexes and keys of names beside what they were made of, ids that no clock can
have given.

Everything is read, on a connection that changes nothing.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType
from typing import Final

import attrs

from chat.snowflake import MAXIMUM, snowflake_at
from chat.store.messages import message_search_entries
from chat.store.messages.messages import MessageExtra, MessageReference
from chat.store.whole_database import AHEAD_MS, TABLES, few

Shape = Callable[[object], bool]
"""Whether a value that was parsed has the shape of its column."""


def _texts(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(entry, str) for entry in value)


def _object(value: object) -> bool:
    return isinstance(value, dict)


def _objects(value: object) -> bool:
    return isinstance(value, list) and all(map(_object, value))


def _numbers(value: object) -> bool:
    return isinstance(value, dict) and all(isinstance(entry, int) for entry in value.values())


def _anything(_: object) -> bool:
    return True


def _members_of(record: type) -> Shape:
    """An object with no other members than the fields of a class, and with those that have no default."""
    fields = attrs.fields(record)
    known = {field.name for field in fields}
    needed = {field.name for field in fields if field.default is attrs.NOTHING}
    return lambda value: isinstance(value, dict) and needed <= value.keys() <= known


JSON_COLUMNS: Final[Mapping[tuple[str, str], Shape]] = MappingProxyType(
    {
        ("admin_api_keys", "acls"): _texts,
        ("admin_audit_log", "metadata"): _object,
        ("application_command_permissions", "permissions"): _objects,
        ("application_commands", "body"): _object,
        ("applications", "redirect_uris"): _texts,
        ("brought_exports", "preview"): _object,
        ("brought_exports", "wish"): _object,
        ("chosen_settings", "value"): _anything,
        ("ephemeral_messages", "body"): _object,
        ("errands", "state"): _object,
        ("expressions", "tags"): _texts,
        ("favorite_memes", "tags"): _texts,
        ("figures", "latencies"): _numbers,
        ("guild_audit_log", "changes"): _objects,
        ("guild_audit_log", "options"): _object,
        ("guilds", "features"): _texts,
        ("imports", "report"): _object,
        ("imports", "wish"): _object,
        ("interactions", "form"): _object,
        ("interactions", "opened_by"): _object,
        ("jobs", "payload"): _object,
        ("jobs", "result"): _object,
        ("jobs", "state"): _object,
        ("messages", "extra"): _members_of(MessageExtra),
        ("messages", "reference"): _members_of(MessageReference),
        ("notification_words", "words"): _texts,
        ("oauth2_grants", "scopes"): _texts,
        ("outside_changes", "body"): _object,
        ("reports", "snapshot"): _object,
        ("scheduled_messages", "body"): _object,
        ("tickets", "body"): _anything,
        ("unfurled", "embed"): _object,
        ("user_guild_settings", "body"): _object,
        ("user_settings", "body"): _object,
        ("users", "acls"): _texts,
        ("users", "traits"): _texts,
        ("webauthn_credentials", "transports"): _texts,
    }
)
"""Every column of JSON text; null stands for nothing where the column allows it."""


def misshapen(connection: sqlite3.Connection) -> Iterator[str]:
    """JSON that cannot be read, or is of another shape than it was written in."""
    for (table, column), shape in JSON_COLUMNS.items():
        yield from few(_misshapen(connection, table, column, shape))


def _misshapen(connection: sqlite3.Connection, table: str, column: str, shape: Shape) -> Iterator[str]:
    keys = [name for (name,) in connection.execute("SELECT name FROM pragma_table_info(?) WHERE pk", (table,))]
    rows = connection.execute(
        f"SELECT {', '.join(keys)}, {column} FROM {table} WHERE {column} IS NOT NULL"  # noqa: S608 - our own names
    )
    for *key, text in rows:
        try:
            fits = shape(json.loads(text))
        except (ValueError, RecursionError):
            fits = False
        if not fits:
            yield f"{table}.{column} of {' '.join(map(_in_words, key))} is not what belongs there"


def _in_words(value: object) -> str:
    return value.hex() if isinstance(value, bytes) else str(value)


_COUNTS: Final = (
    (
        "reaction {} counts {} accounts, and has {}",
        """
        SELECT id, user_count, present
          FROM (SELECT id, user_count, (SELECT count(*) FROM message_reaction_users WHERE reaction_id = id) AS present
                  FROM message_reactions)
         WHERE user_count <> present
        """,
    ),
    (
        "message {} says that it has reactions ({}), and has {}",
        """
        SELECT id, has_reactions, present
          FROM (SELECT id, has_reactions,
                       (SELECT count(*) FROM message_reactions WHERE message_id = messages.id) AS present
                  FROM messages)
         WHERE has_reactions <> (present > 0)
        """,
    ),
    (
        "answer {} of a poll counts {} votes, and has {}",
        """
        SELECT message_id || '/' || answer_id, votes, present
          FROM (SELECT message_id, answer_id, votes,
                       (SELECT count(*) FROM poll_votes
                         WHERE poll_votes.message_id = poll_answers.message_id
                           AND poll_votes.answer_id = poll_answers.answer_id) AS present
                  FROM poll_answers)
         WHERE votes <> present
        """,
    ),
    (
        "thread {} counts {} messages, and {} were sent",
        "SELECT id, message_count, total_message_sent FROM threads WHERE message_count > total_message_sent",
    ),
)


def wrong_counts(connection: sqlite3.Connection) -> Iterator[str]:
    """Counts of single messages and threads, where they are not what is there."""
    for words, query in _COUNTS:
        yield from few(words.format(*row) for row in connection.execute(query))


_INDEXES: Final = (
    (
        "account {}",
        """
        SELECT coalesce(users.id, entry.rowid)
          FROM users FULL JOIN account_search AS entry ON entry.rowid = users.id
         WHERE entry.tag IS NOT users.username || ' ' || printf('%04d', users.discriminator)
            OR entry.global_name IS NOT users.global_name
        """,
    ),
    (
        "audit entry {}",
        """
        SELECT coalesce(admin_audit_log.id, entry.rowid)
          FROM admin_audit_log FULL JOIN admin_audit_search AS entry ON entry.rowid = admin_audit_log.id
         WHERE entry.action IS NOT admin_audit_log.action OR entry.metadata IS NOT admin_audit_log.metadata
            OR entry.reason IS NOT admin_audit_log.reason
        """,
    ),
    (
        "report {}",
        """
        SELECT coalesce(reports.id, entry.rowid)
          FROM reports FULL JOIN report_search AS entry ON entry.rowid = reports.id
         WHERE entry.additional_info IS NOT reports.additional_info
            OR entry.content IS NOT json_extract(reports.snapshot, '$.content')
        """,
    ),
)


def wrong_search_entries(connection: sqlite3.Connection) -> Iterator[str]:
    """Differences between the search indexes and the tables, apart from messages that wait to be indexed."""
    for words, query in _INDEXES:
        rows = connection.execute(query)
        yield from few(f"{words.format(found)} is found by other words than it has" for (found,) in rows)
    messages = message_search_entries.wrong_entries(connection)
    try:
        yield from few(f"message {found} is found by other words than it has" for found in messages)
    except (TypeError, ValueError) as error:  # of a row that `misshapen` has told of
        yield f"the entries of messages could not be looked at: {error}"


_NAME_KEYS: Final = """
    SELECT user_id, guild_id
      FROM members JOIN users ON users.id = members.user_id
     WHERE name_key <> casefold(coalesce(nick, global_name, username))
"""


def wrong_name_keys(connection: sqlite3.Connection) -> Iterator[str]:
    """Members that lists order by another name than the one that is shown."""
    rows = connection.execute(_NAME_KEYS)
    yield from few(
        f"account {user_id} stands in guild {guild_id} by another name than it has" for user_id, guild_id in rows
    )


def ids_out_of_range(connection: sqlite3.Connection, now_ms: int) -> Iterator[str]:
    """Ids outside the range of snowflakes, or from the future."""
    latest = min(MAXIMUM, snowflake_at(now_ms + AHEAD_MS))
    for table in TABLES:
        rows = connection.execute(
            f"SELECT id FROM {table} WHERE id <= 0 OR id > ? ORDER BY id",  # noqa: S608 - our own names
            (latest,),
        )
        yield from few(f"{table} has the id {found}, which is none of a time up to now" for (found,) in rows)
