"""What a dry run tells the owner of an export: its channels and its people with their messages, beside the counts of
`chat.domain.imports.import_preview`. Lists are bounded, whatever the export holds."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Final, TypedDict

import attrs

from chat import wire
from chat.classes import define
from chat.domain.imports.import_report import CountedTrouble, ImportReport, ReportFields, report_fields
from chat.imports.form import ChannelRecord, GuildRecord, MessageRecord, PersonRecord, Record
from chat.registries.channel_types import THREAD_CHANNEL_TYPES, ChannelType
from chat.registries.imports import ImportSource

CHANNELS: Final = 1_000
PEOPLE: Final = 200
OBSTACLES: Final = 200
"""The longest lists; those with the most messages are in them."""

THREADS: Final = 50_000
"""Threads of which it is remembered where they hang."""

NAME_CHARACTERS: Final = 100


class KeptChannel(TypedDict):
    """A channel as the store has it, with the threads below it."""

    id: str
    name: str
    message_count: int
    threads: list[str]


class KeptPreview(TypedDict):
    """A preview as the store has it."""

    source: str
    name: str | None
    counts: dict[str, int]
    bytes: int
    channels: list[KeptChannel]
    people: list[wire.BroughtPerson]
    obstacles: list[wire.BroughtObstacle]


@define(eq=False)
class ExportOutline:
    """Looks at the records of an export as they pass."""

    name: str | None = None
    _channels: dict[int, ChannelRecord] = attrs.field(factory=dict)
    _people: dict[int, PersonRecord] = attrs.field(factory=dict)
    _in_channel: Counter[int] = attrs.field(factory=Counter)
    _by_person: Counter[int] = attrs.field(factory=Counter)

    def watched(self, records: Iterator[Record]) -> Iterator[Record]:
        """The same records."""
        for record in records:
            match record:
                case GuildRecord():
                    self.name = record.name[:NAME_CHARACTERS] or None
                case ChannelRecord():
                    self._channels[record.id] = record
                case PersonRecord():
                    self._people[record.id] = record
                case MessageRecord():
                    self._in_channel[record.channel_id] += 1
                    self._by_person[record.author_id] += 1
                case _:
                    pass
            yield record

    def kept(self, source: ImportSource, report: ImportReport) -> KeptPreview:
        """As the store has it: the preview, and the threads below each listed channel."""
        threads: dict[int, list[int]] = {}
        of_channel = Counter[int]()
        left = THREADS
        for channel in self._channels.values():
            is_thread = channel.type in THREAD_CHANNEL_TYPES
            above = channel.parent_id if is_thread and channel.parent_id is not None else channel.id
            of_channel[above] += self._in_channel[channel.id]
            if is_thread and left:
                left -= 1
                threads.setdefault(above, []).append(channel.id)
        listed = [
            channel
            for channel in self._channels.values()
            if channel.type not in THREAD_CHANNEL_TYPES and channel.type != ChannelType.GUILD_CATEGORY
        ]
        listed.sort(key=lambda channel: -of_channel[channel.id])
        told = report_fields(report)
        return {
            "source": str(source),
            "name": self.name,
            "counts": told["counts"],
            "bytes": told["bytes"],
            "channels": [
                {
                    "id": str(channel.id),
                    "name": channel.name[:NAME_CHARACTERS] or "?",
                    "message_count": of_channel[channel.id],
                    "threads": [str(thread_id) for thread_id in threads.get(channel.id, ())],
                }
                for channel in listed[:CHANNELS]
            ],
            "people": self._who(),
            "obstacles": obstacles(told),
        }

    def _who(self) -> list[wire.BroughtPerson]:
        found = sorted(self._people.values(), key=lambda person: -self._by_person[person.id])
        return [
            {
                "name": person.name[:NAME_CHARACTERS] or "?",
                "bot": person.bot,
                "message_count": self._by_person[person.id],
            }
            for person in found[:PEOPLE]
        ]


def obstacles(told: ReportFields) -> list[wire.BroughtObstacle]:
    """What does not come, the most frequent first."""
    every: list[CountedTrouble] = [*told["missing"], *told["refused"]]
    every.sort(key=lambda one: -one["count"])
    return [
        {"kind": one["kind"], "reason": one["reason"], "words": one["words"], "count": one["count"]}
        for one in every[:OBSTACLES]
    ]
