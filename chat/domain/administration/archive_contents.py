"""What is in an archive, and in which order it is read: parts, of which each gives pages, of which each becomes a few
entries of a ZIP file (issue 6, archives).

    index.json                             what is where, and how much of it
    account/*.json, guild/*.json, ...      one file for a kind of thing, `-2`, `-3`, ... where a thousand are not all
    messages/CHANNEL/FIRST.jsonl           messages of a channel, one a line; the name is the id of the first of them
    attachments/CHANNEL/ID/NAME, images/*  files as they were uploaded, where they were asked for

Names are made of our own words and numbers. What people call their files is the last member of a path at most, without
anything that leads elsewhere.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Mapping, Sequence, Set
from functools import partial
from typing import Any, Final

import attrs
import orjson

from chat.clock import iso_timestamp
from chat.media.delivery import file_name
from chat.registries.archives import ArchiveSubject
from chat.snowflake import snowflake_time_ms
from chat.store.administration import archive_reading, archive_rows
from chat.store.administration.archive_guild_tables import GUILD_TABLES
from chat.store.administration.archive_reading import FoundFile, Place
from chat.store.administration.archive_rows import Table
from chat.store.administration.archive_user_tables import USER_TABLES
from chat.store.messages.attachments import Attachment
from chat.store.messages.messages import Message, MessageExtra

ROWS_OF_A_POINT: Final = 200
"""Messages that take about as long as a page of something else, for the progress."""

FILES_OF_A_POINT: Final = 5


@attrs.frozen
class Document:
    """An entry that we write."""

    name: str
    content: bytes


@attrs.frozen
class Upload:
    """An entry that is a file of the storage, under its key there."""

    name: str
    key: str
    size: int


@attrs.frozen
class Page:
    """What one step adds: entries, how many rows they hold, and what the next page begins above (None for none)."""

    entries: Sequence[Document | Upload]
    rows: int
    after: Any


Read = Callable[[sqlite3.Connection, int, Any, int], Page]
"""Reads the page of a subject (its id) above a place; the number counts the pages of the part from 1."""


@attrs.frozen
class Part:
    """One kind of thing. `place` is where it lies in the archive, `rows_of_a_point` how many weigh as much as one
    step."""

    place: str
    title: str
    read: Read
    rows_of_a_point: int | None = None


def parts(kind: ArchiveSubject, *, include_attachments: bool, withheld: Set[str]) -> Sequence[Part]:
    """What an archive of this kind has, in the order in which it is read."""
    tables, messages, files = _CONTENTS[kind]
    found = [Part(f"{table.name}.json", table.title, partial(_table_page, table, withheld)) for table in tables]
    found.append(Part(MESSAGES, "Messages", partial(_message_page, messages, include_attachments), ROWS_OF_A_POINT))
    if include_attachments:
        found.append(Part(FILES, "Uploaded files", partial(_file_page, files), FILES_OF_A_POINT))
    return found


MESSAGES: Final = "messages/"
FILES: Final = "attachments/ and images/"

_Messages = Callable[[sqlite3.Connection, int, Place | None], tuple[list[Message], Place | None]]
_Files = Callable[[sqlite3.Connection, int, Place | None], tuple[list[FoundFile], Place | None]]

_CONTENTS: Final[Mapping[ArchiveSubject, tuple[Sequence[Table], _Messages, _Files]]] = {
    ArchiveSubject.USER: (USER_TABLES, archive_reading.messages_of_user, archive_reading.files_of_user),
    ArchiveSubject.GUILD: (GUILD_TABLES, archive_reading.messages_of_guild, archive_reading.files_of_guild),
}


def _table_page(
    table: Table, withheld: Set[str], connection: sqlite3.Connection, subject_id: int, after: Any, number: int
) -> Page:
    rows, place = archive_rows.page(connection, table, subject_id, after, withheld)
    name = f"{table.name}.json" if number == 1 else f"{table.name}-{number}.json"
    content: Any = rows
    if table.single:
        content = rows[0] if rows else None
    if number > 1 and not rows:
        return Page([], 0, None)
    return Page([Document(name, as_json(content))], len(rows), place)


def _message_page(
    read: _Messages,
    include_attachments: bool,
    connection: sqlite3.Connection,
    subject_id: int,
    after: Any,
    number: int,
) -> Page:
    found, place = read(connection, subject_id, after)
    by_channel: dict[int, list[Message]] = {}
    for message in found:
        by_channel.setdefault(message.channel_id, []).append(message)
    entries = [
        Document(
            f"messages/{channel_id}/{messages[0].id}.jsonl",
            b"".join(
                orjson.dumps(_message(message, include_attachments=include_attachments)) + b"\n" for message in messages
            ),
        )
        for channel_id, messages in by_channel.items()
    ]
    return Page(entries, len(found), place)


def _file_page(read: _Files, connection: sqlite3.Connection, subject_id: int, after: Any, number: int) -> Page:
    found, place = read(connection, subject_id, after)
    return Page([Upload(_path(file.path), file.key, file.size) for file in found], len(found), place)


def _path(members: Sequence[str]) -> str:
    """The name of an entry; the last member may be of anybody's making."""
    return "/".join((*members[:-1], file_name(members[-1])))


def _message(message: Message, *, include_attachments: bool) -> dict[str, Any]:
    shown: dict[str, Any] = {
        "id": str(message.id),
        "channel_id": str(message.channel_id),
        "author_id": str(message.author_id),
        "type": message.type,
        "timestamp": iso_timestamp(snowflake_time_ms(message.id)),
        "content": message.content,
        "flags": message.flags,
    }
    if message.webhook_id is not None:
        shown["webhook_id"] = str(message.webhook_id)
    if message.edited_at is not None:
        shown["edited_timestamp"] = iso_timestamp(message.edited_at)
    if message.pinned_at is not None:
        shown["pinned_timestamp"] = iso_timestamp(message.pinned_at)
    if message.reference is not None:
        shown["message_reference"] = {
            name: str(value) if name.endswith("_id") and value is not None else value
            for name, value in attrs.asdict(message.reference).items()
        }
    if message.mentioned_user_ids:
        shown["mentions"] = [str(user_id) for user_id in message.mentioned_user_ids]
    if message.mentioned_role_ids:
        shown["mention_roles"] = [str(role_id) for role_id in message.mentioned_role_ids]
    if message.extra is not None:
        shown |= _extra(message.extra)
    if message.attachments:
        shown["attachments"] = [
            _attachment(attachment, include_attachments=include_attachments) for attachment in message.attachments
        ]
    return shown


def _extra(extra: MessageExtra) -> dict[str, Any]:
    """What few messages have; the number of attachments is told by the list of them."""
    members = attrs.asdict(extra, recurse=False)
    return {name: value for name, value in members.items() if value and name != "attachments"}


def _attachment(attachment: Attachment, *, include_attachments: bool) -> dict[str, Any]:
    shown = {
        "id": str(attachment.id),
        "filename": attachment.filename,
        "title": attachment.title,
        "description": attachment.description,
        "content_type": attachment.content_type,
        "size": attachment.size,
    }
    if include_attachments:
        shown["path"] = _path(archive_reading.attachment_path(attachment))
    return shown


def as_json(value: Any) -> bytes:
    """JSON that people can read too."""
    return orjson.dumps(value, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)
