"""Builds archives step by step: a step reads one page and adds it to the file. What has been done is a `BuildState`,
which whoever goes on with the work needs and which is plain data, to be kept with the job (issue 6, archives).

The server and the command line build the same archives with this: one with threads between the steps, one without.
"""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final

import attrs

from chat.clock import iso_timestamp
from chat.domain.administration.archive_contents import FILES, MESSAGES, Document, Page, Part, Upload, as_json, parts
from chat.media.zip_writing import ZipPosition, ZipWriter
from chat.registries.archives import ArchiveSubject
from chat.store.administration import archive_reading

FORMAT: Final = "chat archive 1"
INDEX: Final = "index.json"
BEFORE_THE_END: Final = 99
"""Percent; the last one is the file under its name."""


class NoRoom(Exception):
    """The disk has too little left for the archive; the text says so to an administrator."""


@attrs.frozen(kw_only=True)
class Wish:
    """What an archive is to be of."""

    kind: ArchiveSubject
    subject_id: int
    include_attachments: bool
    withheld: frozenset[str] = frozenset()
    """ACLs that whoever wants it does not hold: what it takes them to see is left out."""


@attrs.frozen(kw_only=True)
class BuildState:
    """How far it is: the part that is read, what its next page begins above, and what was written so far."""

    part: int = 0
    pages: int = 0
    """Of this part."""
    after: Any = None
    counts: tuple[int, ...] = ()
    """Rows of every part that was begun."""
    missing: int = 0
    """Files that were gone when their turn came."""
    expected_messages: int = 0
    expected_files: int = 0
    position: ZipPosition = attrs.field(factory=ZipPosition)

    def kept(self) -> dict[str, Any]:
        """As JSON has it."""
        return attrs.asdict(self)

    @staticmethod
    def of(kept: Mapping[str, Any]) -> BuildState:
        """The state that was kept; the first one where none was."""
        if not kept:
            return BuildState()
        return BuildState(**{**kept, "counts": tuple(kept["counts"]), "position": ZipPosition(**kept["position"])})


class ArchiveBuild:
    """The steps of one archive. `stored` says where the storage has the file of a key."""

    def __init__(self, wish: Wish, stored: Callable[[str], Path]) -> None:
        self.wish: Final = wish
        self._stored = stored
        self._parts: Final = parts(wish.kind, include_attachments=wish.include_attachments, withheld=wish.withheld)

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
        """What is done next, for people."""
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
    def _points(part: Part, state: BuildState) -> float:
        expected = {MESSAGES: state.expected_messages, FILES: state.expected_files}.get(part.place, 0)
        return max(1.0, expected / (part.rows_of_a_point or 1))

    def read(self, connection: sqlite3.Connection, state: BuildState) -> Page:
        """The next page; in one snapshot of the store."""
        return self._parts[state.part].read(connection, self.wish.subject_id, state.after, state.pages + 1)

    def write(
        self, writer: ZipWriter, state: BuildState, page: Page, *, spare_bytes: int, folder: Path, now_ms: int
    ) -> BuildState:
        """Add a page to the file, durably; for a thread.

        :raises NoRoom: when less than `spare_bytes` would be left on the disk of `folder`.
        """
        missing = 0
        for entry in page.entries:
            require_room(folder, spare_bytes + (len(entry.content) if isinstance(entry, Document) else entry.size))
            match entry:
                case Document(name, content):
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
