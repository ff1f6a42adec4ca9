"""Reads rooms that Element exports as JSON: a directory or a ZIP archive with an `export.json`, or with several in
folders of their own, and the files of the messages beside each.

An event tells what it changes, answers or belongs to by the ids of others. So each file is read twice: first for these
relations, of which all are kept, then event by event.
"""

from __future__ import annotations

import io
from collections.abc import Iterator, Mapping
from typing import IO, Any, Final

import attrs

from chat.classes import define, frozen
from chat.errors import OperatorError
from chat.imports.discord_values import object_in, shown_text, text_of
from chat.imports.export_files import BROKEN, ExportFiles
from chat.imports.form import ChannelRecord, GuildRecord, Record, TroubleRecord
from chat.imports.json_stream import JsonStream, NotJson, rows_of
from chat.imports.made_ids import thing_id
from chat.imports.matrix_events import MatrixEvents, Room
from chat.imports.matrix_relations import Relations
from chat.imports.private_channels import overwrites_for
from chat.imports.roster import Known, Roster
from chat.imports.wishes import ReadingWish
from chat.registries.channel_types import ChannelType

MESSAGES: Final = "messages"
GUILD_ID: Final = thing_id("matrix/guild")


@frozen
class _RoomHead:
    """What a file tells before its events."""

    file: str
    name: str
    topic: str
    key: str
    """The id of the room, or what is known of it where no event tells that."""


@define(eq=False)
class MatrixExport:
    """The records of an export."""

    _files: ExportFiles
    _troubles: list[TroubleRecord]
    _heads: list[_RoomHead]
    _read_bytes: int = attrs.field(default=0, init=False)
    _open: IO[bytes] | None = attrs.field(default=None, init=False)

    @staticmethod
    def open(files: ExportFiles) -> MatrixExport:
        """Look at every file. Raises OperatorError where none of them is the export of a room."""
        heads: list[_RoomHead] = []
        troubles: list[TroubleRecord] = []
        for name in files.names():
            if not name.lower().endswith(".json"):
                continue
            try:
                head = _looked_at(files, name)
            except (NotJson, *BROKEN):
                troubles.append(TroubleRecord(what="file", name=name[:200], reason="not readable"))
                continue
            if head is not None:
                heads.append(head)
        if not heads:
            raise OperatorError("there is no export of a room in it, as Element writes JSON")
        return MatrixExport(files, troubles, heads)

    @property
    def percent_read(self) -> float:
        """How much of the export was read, by the bytes of its files, each of which is read twice."""
        read = self._read_bytes + (0 if self._open is None else self._open.tell())
        return 100.0 * read / max(1, 2 * sum(self._files.size(head.file) for head in self._heads))

    def read(self, wish: ReadingWish, now_ms: int) -> Iterator[Record]:
        """Every record, in the order in which it can be written; what is later than `now_ms` is from the future."""
        yield from self._troubles
        yield GuildRecord(id=GUILD_ID, name="Matrix")
        people = Roster("matrix")
        rooms = {head.key: thing_id(f"matrix/room/{head.key}") for head in self._heads}
        events = MatrixEvents(self._files, now_ms, people, rooms)
        wanted = [
            head
            for head in self._heads
            if head.key in wish.channels or wish.takes_channel(rooms[head.key], shown_text(head.name))
        ]
        known: dict[str, Relations] = {}
        for head in wanted:
            for event in self._events(head, []):
                known.setdefault(head.key, Relations()).keep(event)
        for key, name in ((key, name) for one in known.values() for key, name in one.names.items() if name):
            people.know(key, Known(name=name, username=key.removeprefix("@").partition(":")[0]))
        made: set[str] = set()
        for place, head in enumerate(wanted):
            relations = known.get(head.key, Relations())
            if head.key not in made:
                made.add(head.key)
                yield from self._channel(head, rooms[head.key], place, relations, people)
            room = Room(key=head.key, id=rooms[head.key], file=head.file)
            troubles: list[TroubleRecord] = []
            for event in self._events(head, troubles):
                yield from events.records(event, room, relations, wish)
            yield from troubles

    @staticmethod
    def _channel(
        head: _RoomHead, channel_id: int, place: int, relations: Relations, people: Roster
    ) -> Iterator[Record]:
        """A room that everybody may join is for everybody, any other one for those who were in it or wrote there."""
        name = shown_text(head.name) or "?"
        inside = [] if relations.is_public else sorted(relations.inside)
        allowed, troubles = overwrites_for(GUILD_ID, [people.id_of(one) for one in inside], name)
        yield from troubles
        yield from people.named()
        yield ChannelRecord(
            id=channel_id,
            type=int(ChannelType.GUILD_TEXT),
            name=name,
            topic=head.topic.strip() or None,
            position=place,
            overwrites=() if relations.is_public else allowed,
            original_id=head.key[:200],
        )

    def _events(self, head: _RoomHead, troubles: list[TroubleRecord]) -> Iterator[Mapping[str, Any]]:
        try:
            with self._files.open(head.file) as raw:
                self._open = raw
                for _, event in rows_of(raw, [MESSAGES]):
                    yield event
        except (NotJson, *BROKEN):
            troubles.append(TroubleRecord(what="file", name=head.file[:200], reason="not readable"))
        finally:
            self._open = None
            self._read_bytes += self._files.size(head.file)


def _looked_at(files: ExportFiles, name: str) -> _RoomHead | None:
    """What a file is, from its beginning; None for JSON that is no export of a room."""
    told: dict[str, str] = {}
    with files.open(name) as raw, io.TextIOWrapper(raw, "utf-8-sig", errors="replace") as text:
        for member, value in JsonStream(text).members(MESSAGES):
            if member == MESSAGES and "room_name" in told:
                key = text_of(object_in(value).get("room_id")) or f"{told.get('room_creator', '')}/{told['room_name']}"
                return _RoomHead(name, told["room_name"], told.get("topic", ""), key)
            if member != MESSAGES and isinstance(value, str):
                told[member] = text_of(value)
    return None
