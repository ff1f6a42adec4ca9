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
from chat.store.imports import portions

LOOKED_UP: Final = 500
"""Messages that are looked up together."""


def preview(connection: sqlite3.Connection, records: Iterator[Record], attachment_bytes: int) -> ImportReport:
    """Counts of what would come and of what is here already, and everything that stands in the way; a file of more than
    `attachment_bytes` does."""
    report = ImportReport()
    people: set[int] = set()
    waiting: list[MessageRecord] = []
    for record in records:
        match record:
            case TroubleRecord():
                report.trouble(record)
            case RoleRecord():
                report.came["roles"] += 1
            case ChannelRecord():
                report.came["threads" if record.type in THREAD_CHANNEL_TYPES else "channels"] += 1
            case PersonRecord():
                people.add(record.id)
            case ExpressionRecord():
                report.came[record.what] += 1
            case MessageRecord():
                waiting.append(record)
                if len(waiting) == LOOKED_UP:
                    _count(connection, waiting, report, attachment_bytes)
                    waiting.clear()
            case _:
                pass
    _count(connection, waiting, report, attachment_bytes)
    report.came["people"] = len(people)
    return report


def _count(
    connection: sqlite3.Connection, records: list[MessageRecord], report: ImportReport, attachment_bytes: int
) -> None:
    known = portions.known_among(connection, [record.id for record in records])
    seen: set[int] = set()
    for record in records:
        if record.id in known.imports:
            report.present["messages"] += 1
        elif record.id in known.channels:
            report.trouble(TroubleRecord(what="message", name=str(record.id), reason="id is taken"))
        elif record.id not in seen:
            seen.add(record.id)
            report.came["messages"] += 1
            report.came["reactions"] += len(record.reactions)
            for file in record.files:
                if file.size > attachment_bytes:
                    report.trouble(TroubleRecord(what="file", name=f"{record.id}/{file.name}", reason="too large"))
                else:
                    report.came["files"] += 1
                    report.bytes += file.size
