"""What is in an archive, and how it is built step by step (administration.md, Archives).

An archive has parts, each of which gives pages, each of which becomes a few entries of a ZIP file:

    index.json                             what is where, and how much of it
    account/*.json, guild/*.json, ...      one file for a kind of thing, `-2`, `-3`, ... where a thousand are not all
    messages/CHANNEL/FIRST.jsonl           messages of a channel, one a line; the name is the id of the first of them
    attachments/CHANNEL/ID/NAME, images/*  files as they were uploaded, where they were asked for

Names are made of our own words and numbers. The name that a person gave to a file is the last member of a path at most,
without anything that leads elsewhere.

A step reads one page and adds it to the file. What has been done is a `BuildState`, plain data to be kept with the job,
from which the work goes on. The server builds with threads between the steps, the command line without.
"""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Callable, Mapping, Sequence, Set
from functools import partial
from pathlib import Path
from typing import Any, Final

import attrs
import orjson

from chat.classes import define, frozen
from chat.clock import iso_timestamp
from chat.media.delivery import file_name
from chat.media.zip_writing import ZipPosition, ZipWriter
from chat.registries.jobs import ArchiveSubject
from chat.snowflake import snowflake_time_ms
from chat.store.administration import archive_reading
from chat.store.administration.archive_reading import FoundFile, Place, Table
from chat.store.administration.archive_tables import GUILD_TABLES, USER_TABLES
from chat.store.messages.attachments import Attachment
from chat.store.messages.messages import Message, MessageExtra

FORMAT: Final = "chat archive 1"
INDEX: Final = "index.json"
BEFORE_THE_END: Final = 99
"""Percent; the last one is the file under its name."""

ROWS_OF_A_POINT: Final = 200
"""Messages that take about as long as a page of something else, for the progress."""

FILES_OF_A_POINT: Final = 5


@frozen
class ArchiveDocument:
    """An entry that we write."""

    name: str
    content: bytes


@frozen
class Upload:
    """An entry that is a file of the storage, under its key there."""

    name: str
    key: str
    size: int


@frozen
class ArchivePage:
    """What one step adds to an archive: entries, how many rows they hold, and above what the next page begins (None at
    the end)."""

    entries: Sequence[ArchiveDocument | Upload]
    rows: int
    after: Any


Read = Callable[[sqlite3.Connection, int, Any, int], ArchivePage]
"""Reads the page of a subject (its id) above a place; the number counts the pages of the part from 1."""


@frozen
class ArchivePart:
    """One kind of data in an archive. `place` is its path there; this many `rows_of_a_point` weigh as much as one
    step."""

    place: str
    title: str
    read: Read
    rows_of_a_point: int | None = None


def parts(wish: ArchiveWish) -> Sequence[ArchivePart]:
    """The parts of an archive of this kind, in the order in which they are built."""
    tables, messages, files = _CONTENTS[wish.kind]
    found = [
        ArchivePart(f"{table.name}.json", table.title, partial(_table_page, table, wish.withheld)) for table in tables
    ]
    reading = partial(_message_page, messages, wish.include_attachments)
    found.append(ArchivePart(MESSAGES, "Messages", reading, ROWS_OF_A_POINT))
    if wish.include_attachments:
        found.append(ArchivePart(FILES, "Uploaded files", partial(_file_page, files), FILES_OF_A_POINT))
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
) -> ArchivePage:
    rows, place = archive_reading.page(connection, table, subject_id, after, withheld)
    name = f"{table.name}.json" if number == 1 else f"{table.name}-{number}.json"
    content: Any = rows
    if table.single:
        content = rows[0] if rows else None
    if number > 1 and not rows:
        return ArchivePage([], 0, None)
    return ArchivePage([ArchiveDocument(name, as_json(content))], len(rows), place)


def _message_page(
    read: _Messages, include_attachments: bool, connection: sqlite3.Connection, subject_id: int, after: Any, number: int
) -> ArchivePage:
    found, place = read(connection, subject_id, after)
    by_channel: dict[int, list[Message]] = {}
    for message in found:
        by_channel.setdefault(message.channel_id, []).append(message)
    entries = [
        ArchiveDocument(
            f"messages/{channel_id}/{messages[0].id}.jsonl",
            b"".join(
                orjson.dumps(_message(message, include_attachments=include_attachments)) + b"\n" for message in messages
            ),
        )
        for channel_id, messages in by_channel.items()
    ]
    return ArchivePage(entries, len(found), place)


def _file_page(read: _Files, connection: sqlite3.Connection, subject_id: int, after: Any, number: int) -> ArchivePage:
    found, place = read(connection, subject_id, after)
    return ArchivePage([Upload(_path(file.path), file.key, file.size) for file in found], len(found), place)


def _path(members: Sequence[str]) -> str:
    """The name of an entry; the last member may be a name that a person chose."""
    return "/".join((*members[:-1], file_name(members[-1])))


def _message(message: Message, *, include_attachments: bool) -> Mapping[str, object]:
    shown: dict[str, object] = {
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


def _extra(extra: MessageExtra) -> Mapping[str, object]:
    """The fields that few messages have; the list of attachments makes their number needless."""
    members = attrs.asdict(extra, recurse=False)
    return {name: value for name, value in members.items() if value and name != "attachments"}


def _attachment(attachment: Attachment, *, include_attachments: bool) -> Mapping[str, object]:
    shown: dict[str, object] = {
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


class NoRoom(Exception):
    """The disk has too little left for the archive; the text says so to an administrator."""


@frozen(kw_only=True)
class ArchiveWish:
    """What an archive is to hold."""

    kind: ArchiveSubject
    subject_id: int
    include_attachments: bool
    withheld: frozenset[str] = frozenset()
    """ACLs that the administrator does not hold: what it takes them to see is left out."""


@frozen(kw_only=True)
class BuildState:
    """How far an archive is built: the present part, above what its next page begins, and what was written so far."""

    part: int = 0
    pages: int = 0
    """Pages of the present part."""
    after: Any = None
    counts: tuple[int, ...] = ()
    """Rows of every part that was begun."""
    missing: int = 0
    """Files that were gone when their turn came."""
    expected_messages: int = 0
    expected_files: int = 0
    position: ZipPosition = attrs.field(factory=ZipPosition)

    def kept(self) -> dict[str, object]:
        """As JSON has it."""
        return attrs.asdict(self)

    @staticmethod
    def of(kept: Mapping[str, Any]) -> BuildState:
        """The state that was kept; the first one where none was."""
        if not kept:
            return BuildState()
        return BuildState(**{**kept, "counts": tuple(kept["counts"]), "position": ZipPosition(**kept["position"])})


@define(eq=False)
class ArchiveBuild:
    """The steps of one archive. `stored` says where the storage has the file of a key."""

    wish: ArchiveWish
    _stored: Callable[[str], Path]
    _parts: Sequence[ArchivePart] = attrs.field(init=False)

    def __attrs_post_init__(self) -> None:
        self._parts = parts(self.wish)

    def begun(self, connection: sqlite3.Connection) -> BuildState:
        """The first state: nothing is done, and it is known how much there is to do."""
        expected = archive_reading.expected(connection, self.wish.kind, self.wish.subject_id)
        return BuildState(expected_messages=expected.messages, expected_files=expected.files)

    def subject_exists(self, connection: sqlite3.Connection) -> bool:
        """Whether there is (still) what the archive is of."""
        return archive_reading.exists(connection, self.wish.kind, self.wish.subject_id)

    def is_done(self, state: BuildState) -> bool:
        """Whether every part was read."""
        return state.part >= len(self._parts)

    def step_name(self, state: BuildState) -> str:
        """The next step, in words for people."""
        return "Packing" if self.is_done(state) else self._parts[state.part].title

    def percent(self, state: BuildState) -> int:
        """How much is done, 0 to BEFORE_THE_END."""
        points = [self._points(part, state) for part in self._parts]
        done = sum(points[: state.part])
        if not self.is_done(state) and state.part < len(state.counts):
            part = self._parts[state.part]
            done += min(points[state.part], state.counts[state.part] / (part.rows_of_a_point or 1_000))
        return int(BEFORE_THE_END * done / sum(points))

    @staticmethod
    def _points(part: ArchivePart, state: BuildState) -> float:
        expected = {MESSAGES: state.expected_messages, FILES: state.expected_files}.get(part.place, 0)
        return max(1.0, expected / (part.rows_of_a_point or 1))

    def read(self, connection: sqlite3.Connection, state: BuildState) -> ArchivePage:
        """The next page; in one snapshot of the store."""
        return self._parts[state.part].read(connection, self.wish.subject_id, state.after, state.pages + 1)

    def write(
        self, writer: ZipWriter, state: BuildState, page: ArchivePage, *, spare_bytes: int, folder: Path, now_ms: int
    ) -> BuildState:
        """Add a page to the file, durably; for a thread. Raises NoRoom when less than `spare_bytes` would be left on
        the disk of `folder`."""
        missing = 0
        for entry in page.entries:
            require_room(
                folder, spare_bytes + (len(entry.content) if isinstance(entry, ArchiveDocument) else entry.size)
            )
            match entry:
                case ArchiveDocument(name, content):
                    writer.add(name, content, now_ms)
                case Upload(name, key):
                    missing += not writer.add_file(name, self._stored(key), now_ms)
        counts = [*state.counts, 0] if len(state.counts) == state.part else list(state.counts)
        counts[-1] += page.rows - missing
        ended = page.after is None
        return attrs.evolve(
            state,
            part=state.part + 1 if ended else state.part,
            pages=0 if ended else state.pages + 1,
            after=page.after,
            counts=tuple(counts),
            missing=state.missing + missing,
            position=writer.save(),
        )

    def finish(self, writer: ZipWriter, state: BuildState, *, began_at: int, now_ms: int) -> int:
        """Add the index and close the file, durably; its bytes. For a thread."""
        contents = [
            {"path": part.place, "title": part.title, "count": count}
            for part, count in zip(self._parts, state.counts, strict=True)
        ]
        index = {
            "format": FORMAT,
            "subject_type": str(self.wish.kind),
            "subject_id": str(self.wish.subject_id),
            "include_attachments": self.wish.include_attachments,
            "withheld": sorted(self.wish.withheld),
            "began_at": iso_timestamp(began_at),
            "finished_at": iso_timestamp(now_ms),
            "contents": contents,
            "missing_files": state.missing,
        }
        writer.add(INDEX, as_json(index), now_ms)
        return writer.finish()


def require_room(folder: Path, needed: int) -> None:
    """:raises NoRoom: when the disk of the folder has less left."""
    if shutil.disk_usage(folder).free < needed:
        raise NoRoom("There is too little room on the disk.")
