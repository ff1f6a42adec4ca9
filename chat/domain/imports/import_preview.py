"""What an import would bring, without writing anything."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from typing import Final

from chat.domain.imports.import_report import ImportReport
from chat.imports.form import (
    ChannelRecord,
    ExpressionRecord,
    MessageRecord,
    PersonRecord,
    Record,
    RoleRecord,
    TroubleRecord,
)
from chat.registries.channel_types import THREAD_CHANNEL_TYPES
from chat.store.guilds import roles
from chat.store.imports import imports, portions

TAKEN: Final = "id is taken"
LOOKED_UP: Final = 500
"""Messages that are looked up together."""


def preview(
    connection: sqlite3.Connection, records: Iterator[Record], attachment_bytes: int, guild_id: int | None
) -> ImportReport:
    """Counts of what would come and of what is in the guild already, and everything that stands in the way: a file of
    more than `attachment_bytes` does, and what else here has the id of something. A guild of None is yet to be made.
    """
    counting = _Counting(connection, attachment_bytes, guild_id)
    for record in records:
        counting.take(record)
    return counting.end()


class _Counting:
    def __init__(self, connection: sqlite3.Connection, attachment_bytes: int, guild_id: int | None) -> None:
        self._connection, self._attachment_bytes, self._guild_id = connection, attachment_bytes, guild_id
        made = [] if guild_id is None else imports.of_guild(connection, guild_id)
        self._siblings = {one.id for one in made}
        self._people: set[int] = set()
        self._lost_channels: set[int] = set()
        self._waiting: list[MessageRecord] = []
        self._report = ImportReport()

    def take(self, record: Record) -> None:
        report = self._report
        match record:
            case TroubleRecord():
                report.trouble(record)
            case RoleRecord(id=role_id, name=name):
                is_here = roles.by_id(self._connection, self._guild_id or 0, role_id) is not None
                if is_here or not roles.exists(self._connection, role_id):
                    (report.present if is_here else report.came)["roles"] += 1
                else:
                    report.trouble(TroubleRecord(what="role", name=name, reason=TAKEN))
            case ChannelRecord():
                self._channel(record)
            case PersonRecord():
                self._people.add(record.id)
            case ExpressionRecord():
                report.came[record.what] += 1
            case MessageRecord():
                self._waiting.append(record)
                if len(self._waiting) == LOOKED_UP:
                    self._messages()
            case _:
                pass

    def end(self) -> ImportReport:
        """The report, once all records were taken."""
        self._messages()
        self._report.came["people"] = len(self._people)
        return self._report

    def _channel(self, record: ChannelRecord) -> None:
        kind = "threads" if record.type in THREAD_CHANNEL_TYPES else "channels"
        place = portions.guild_of_channel(self._connection, record.id)
        if place is None:
            self._report.came[kind] += 1
        elif place == self._guild_id:
            self._report.present[kind] += 1
        else:
            self._lost_channels.add(record.id)
            self._report.trouble(TroubleRecord(what="channel", name=record.name, reason=TAKEN))

    def _messages(self) -> None:
        report, records = self._report, self._waiting
        known = portions.known_among(self._connection, [record.id for record in records])
        seen: set[int] = set()
        for record in records:
            if known.imports.get(record.id) in self._siblings:
                report.present["messages"] += 1
            elif record.id in known.channels:
                report.trouble(TroubleRecord(what="message", name=str(record.id), reason=TAKEN))
            elif record.channel_id in self._lost_channels:
                report.trouble(TroubleRecord(what="message", name=str(record.id), reason="no channel"))
            elif record.id not in seen:
                seen.add(record.id)
                report.came["messages"] += 1
                report.came["reactions"] += len(record.reactions)
                self._files(record)
        records.clear()

    def _files(self, record: MessageRecord) -> None:
        for file in record.files:
            if file.size > self._attachment_bytes:
                name = f"{record.id}/{file.name}"
                self._report.trouble(TroubleRecord(what="file", name=name, reason="too large"))
            else:
                self._report.came["files"] += 1
                self._report.bytes += file.size
