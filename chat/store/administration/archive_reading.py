"""Reads what an archive has, page by page: messages, files, and rows of tables
(`chat.store.administration.archive_tables`).

Every query begins in an index above the last row of the page before, so a page costs the same in a large place as in a
small one.

Rows are shown with names and values as on the wire, ids as text, moments as ISO 8601. Secrets are not left out
afterwards, they are never selected: no hash, no token, no secret of a second factor.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Mapping, Sequence, Set
from types import MappingProxyType
from typing import Any, Final

import attrs

from chat.classes import frozen
from chat.clock import iso_timestamp
from chat.registries.jobs import ArchiveSubject
from chat.store.connections import to_unsigned
from chat.store.messages import attachments, author_messages, messages
from chat.store.messages.attachments import Attachment
from chat.store.messages.messages import Message

MESSAGES_AT_ONCE: Final = 1_000
CHANNELS_AT_ONCE: Final = 100
"""Channels that one page of a guild's messages or files looks into: most may be empty."""

FILES_AT_ONCE: Final = 100
BYTES_AT_ONCE: Final = 67_108_864
"""The most bytes of files on one page, unless a single file has more; other work waits while a page is copied."""

USER_IMAGES: Final = ("avatars", "banners")
GUILD_IMAGES: Final = ("icons", "banners", "splashes", "embed-splashes")
EXPRESSIONS: Final = ("emojis", "stickers")


@frozen
class FoundFile:
    """An uploaded file: its key in the storage, and the path that it gets in an archive."""

    key: str
    path: tuple[str, ...]
    """Directories, and the name that its sender gave to it."""
    size: int


@frozen
class ExpectedRows:
    """How much there is at the moment."""

    messages: int
    files: int


Place = Sequence[int]
"""Above what the next page begins: as many numbers as its order has keys."""


_FILES_OF_USER: Final = """
    expires_at IS NULL
    AND user_id IN (SELECT ?1 UNION ALL SELECT user_id FROM placeholders WHERE claimed_by = ?1)
    AND (user_id = ?1 OR EXISTS (SELECT 1 FROM messages WHERE messages.id = message_id AND author_id = ?1))
"""
"""Files of people whom the account has claimed weigh on nobody's storage, and keep the uploader that they had."""


def exists(connection: sqlite3.Connection, kind: ArchiveSubject, subject_id: int) -> bool:
    """Whether there is such an account or guild."""
    table = "users" if kind is ArchiveSubject.USER else "guilds"
    return connection.execute(f"SELECT 1 FROM {table} WHERE id = ?", (subject_id,)).fetchone() is not None  # noqa: S608


def expected(connection: sqlite3.Connection, kind: ArchiveSubject, subject_id: int) -> ExpectedRows:
    """How much there is to read; may scan an index."""
    if kind is ArchiveSubject.USER:
        query = f"""
            SELECT (SELECT count(*) FROM messages WHERE author_id = ?1),
                   (SELECT count(*) FROM attachments WHERE {_FILES_OF_USER})
        """  # noqa: S608 - our own words
    else:
        query = """
            SELECT (SELECT count(*) FROM messages WHERE channel_id IN (SELECT id FROM channels WHERE guild_id = ?1)),
                   (SELECT count(*) FROM attachments WHERE channel_id IN (SELECT id FROM channels WHERE guild_id = ?1))
        """
    return ExpectedRows(*connection.execute(query, (subject_id,)).fetchone())


def messages_of_user(
    connection: sqlite3.Connection, user_id: int, after: Place | None
) -> tuple[list[Message], Place | None]:
    """A page of the messages that the account wrote, oldest first, and where the next page begins."""
    page = author_messages.page_of_author(connection, user_id, after[0] if after else 0, MESSAGES_AT_ONCE)
    found = sorted(messages.by_ids(connection, [message_id for message_id, _ in page]), key=lambda message: message.id)
    return found, (page[-1][0],) if len(page) == MESSAGES_AT_ONCE else None


def messages_of_guild(
    connection: sqlite3.Connection, guild_id: int, after: Place | None
) -> tuple[list[Message], Place | None]:
    """A page of the guild's messages, channel by channel, and where the next page begins: a channel and the message
    above which to go on, 0 for the channel's beginning."""
    channel_id, message_id = _begun(connection, guild_id, after)
    found: list[Message] = []
    for _ in range(CHANNELS_AT_ONCE):
        if channel_id is None:
            return found, None
        room = MESSAGES_AT_ONCE - len(found)
        page = messages.above(connection, channel_id, room, after=message_id)
        found += sorted(page, key=lambda message: message.id)
        if len(page) == room:
            return found, (channel_id, found[-1].id)
        channel_id, message_id = _next_channel(connection, guild_id, channel_id), 0
    return found, None if channel_id is None else (channel_id, 0)


def files_of_user(
    connection: sqlite3.Connection, user_id: int, after: Place | None
) -> tuple[list[FoundFile], Place | None]:
    """A page of the files that the account uploaded; its images come on the first page."""
    size, attachment_id = after or (-1, 0)
    rows = connection.execute(
        f"""
        SELECT id, size FROM attachments
         WHERE {_FILES_OF_USER} AND (size, id) > (?2, ?3)
         ORDER BY size, id
         LIMIT ?4
        """,  # noqa: S608 - our own words
        (user_id, size, attachment_id, FILES_AT_ONCE),
    ).fetchall()
    rows, cut = _within_bytes(rows)
    found = _attached(connection, [row[0] for row in rows])
    if after is None:
        found = _images(connection, _kinds_of_user(connection, user_id), [user_id]) + found
    return found, (rows[-1][1], rows[-1][0]) if cut or len(rows) == FILES_AT_ONCE else None


def files_of_guild(
    connection: sqlite3.Connection, guild_id: int, after: Place | None
) -> tuple[list[FoundFile], Place | None]:
    """A page of the files that were uploaded in the guild; its images and expressions come on the first page."""
    channel_id, attachment_id = _begun(connection, guild_id, after)
    found: list[FoundFile] = []
    if after is None:
        expressions = connection.execute("SELECT id FROM expressions WHERE guild_id = ?", (guild_id,))
        found += _images(connection, GUILD_IMAGES, [guild_id])
        found += _images(connection, EXPRESSIONS, [row[0] for row in expressions])
    room = FILES_AT_ONCE
    for _ in range(CHANNELS_AT_ONCE):
        if channel_id is None:
            return found, None
        rows = connection.execute(
            """
            SELECT id, size FROM attachments
             WHERE channel_id = ? AND id > ? AND message_id IS NOT NULL
             ORDER BY id
             LIMIT ?
            """,
            (channel_id, attachment_id, room),
        ).fetchall()
        rows, cut = _within_bytes(rows)
        found += _attached(connection, [row[0] for row in rows])
        if cut or len(rows) == room:
            return found, (channel_id, rows[-1][0])
        room -= len(rows)
        channel_id, attachment_id = _next_channel(connection, guild_id, channel_id), 0
    return found, None if channel_id is None else (channel_id, 0)


def attachment_path(attachment: Attachment) -> tuple[str, ...]:
    """The path that an attachment gets in an archive."""
    return ("attachments", str(attachment.channel_id), str(attachment.id), attachment.filename)


def _begun(connection: sqlite3.Connection, guild_id: int, after: Place | None) -> tuple[int | None, int]:
    """The channel that is read, None for none, and what of it is done."""
    return (_next_channel(connection, guild_id, 0), 0) if after is None else (after[0], after[1])


def _next_channel(connection: sqlite3.Connection, guild_id: int, after: int) -> int | None:
    row = connection.execute("SELECT min(id) FROM channels WHERE guild_id = ? AND id > ?", (guild_id, after)).fetchone()
    found: int | None = row[0]
    return found


def _within_bytes(rows: list[tuple[int, int]]) -> tuple[list[tuple[int, int]], bool]:
    """The first of these files (ids and sizes), as many as one page may hold, and whether there were more."""
    total = 0
    for number, (_, size) in enumerate(rows):
        total += size
        if number and total > BYTES_AT_ONCE:
            return rows[:number], True
    return rows, False


def _attached(connection: sqlite3.Connection, attachment_ids: Iterable[int]) -> list[FoundFile]:
    found = (attachments.by_id(connection, attachment_id) for attachment_id in attachment_ids)
    return [
        FoundFile(attachment.key, attachment_path(attachment), attachment.size)
        for attachment in found
        if attachment is not None and attachment.stored
    ]


def _kinds_of_user(connection: sqlite3.Connection, user_id: int) -> list[str]:
    """The kinds of image that an account has: everywhere, and in the guilds that it is in."""
    guilds = connection.execute("SELECT guild_id FROM members WHERE user_id = ?", (user_id,)).fetchall()
    return [*USER_IMAGES, *(f"{kind} of guild {guild_id}" for (guild_id,) in guilds for kind in USER_IMAGES)]


def _images(connection: sqlite3.Connection, kinds: Sequence[str], owner_ids: Sequence[int]) -> list[FoundFile]:
    rows = connection.execute(
        """
        SELECT id, kind, hash, size FROM assets
         WHERE kind IN (SELECT value FROM json_each(?)) AND owner_id IN (SELECT value FROM json_each(?))
           AND source_url IS NULL
         ORDER BY kind, owner_id, hash
        """,
        (json.dumps(list(kinds)), json.dumps(list(owner_ids))),
    )
    return [
        FoundFile(f"assets/{asset_id}", ("images", kind.replace(" ", "_"), f"{asset_id}-{name}"), size)
        for asset_id, kind, name, size in rows
    ]


FIRST: Final = -1
"""Below every key: text comes after all numbers."""

PAGE_ROWS: Final = 1_000

JSON_COLUMNS: Final = frozenset(
    {
        "acls",
        "applied_tags",
        "bulk_message_deletion",
        "changes",
        "disabled",
        "features",
        "forum",
        "message",
        "metadata",
        "options",
        "overwrites",
        "recipients",
        "redirect_uris",
        "roles",
        "scopes",
        "settings",
        "tags",
        "thread",
        "traits",
        "words",
    }
)

BITS: Final = frozenset({"allow", "deny", "disabled_operations", "flags", "permissions", "premium_flags"})

TRUTHS: Final = frozenset(
    {
        "animated",
        "archived",
        "auto_renew",
        "bot",
        "bot_public",
        "bot_require_code_grant",
        "deaf",
        "email_bounced",
        "email_verified",
        "has_password",
        "has_totp",
        "hoist",
        "invitable",
        "is_group",
        "is_shown",
        "locked",
        "mentionable",
        "mute",
        "muted",
        "nsfw",
        "passkey_second_factor",
        "public_client",
        "share_voice_activity",
        "superseded",
        "system",
        "temporary",
    }
)


@frozen
class Table:
    """Rows of one kind about a subject, an account or a guild. `name` is the path of their file in an archive without
    its ending. They are read by pages, in the order of `key`."""

    name: str
    title: str
    """The rows' name for people."""
    source: str
    """The table, or the tables that are joined."""
    columns: str
    key: str = attrs.field(default="id", kw_only=True)
    of: str = attrs.field(default="user_id", kw_only=True)
    """The column that holds the subject's id."""
    single: bool = attrs.field(default=False, kw_only=True)
    """Whether there is one row at most, which then is the file's content, and not a list."""
    protected: Mapping[str, Set[str]] = attrs.field(default=MappingProxyType({}), kw_only=True)
    """Columns that not all readers of the rows may see, and the ACLs that it takes to see them."""

    @property
    def query(self) -> str:
        """Reads up to `:limit` rows about `:subject` above `:after`; `_key` is what orders them."""
        return f"""
            SELECT {self.key} AS _key, {self.columns} FROM {self.source}
             WHERE {self.of} = :subject AND {self.key} > :after
             ORDER BY _key LIMIT :limit
            """  # noqa: S608 - our own names


def page(
    connection: sqlite3.Connection, table: Table, subject_id: int, after: int | str | None, withheld: Set[str]
) -> tuple[Sequence[Mapping[str, object]], int | str | None]:
    """Up to PAGE_ROWS rows above `after`, and what the next page begins above; None where there is none. Columns that
    take an ACL of `withheld` are empty."""
    parameters = {"subject": subject_id, "after": FIRST if after is None else after, "limit": PAGE_ROWS}
    cursor = connection.execute(table.query, parameters)
    names = [description[0] for description in cursor.description]
    found = cursor.fetchall()
    hidden = {name for name, acls in table.protected.items() if acls & withheld}
    rows = [_object(names, row) | dict.fromkeys(hidden) for row in found]
    return rows, found[-1][0] if len(found) == PAGE_ROWS else None


def _object(names: list[str], row: tuple[Any, ...]) -> dict[str, object]:
    return {name: _value(name, value) for name, value in zip(names, row, strict=True) if name != "_key"}


def _value(name: str, value: Any) -> Any:
    if value is None:
        return None
    if name in JSON_COLUMNS:
        return json.loads(value)
    if name in TRUTHS:
        return bool(value)
    if name in BITS:
        return str(to_unsigned(value))
    if isinstance(value, int):
        if name == "id" or name.endswith(("_id", "_by")):
            return str(value)
        if name.endswith(("_at", "_until")):
            return iso_timestamp(value)
    return value
