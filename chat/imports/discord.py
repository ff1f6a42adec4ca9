"""Reads exports that DiscordChatExporter made as JSON: a directory or a ZIP archive with a file for each channel or
thread, or with several (`[part n]`), and perhaps the template of the guild, which alone knows permissions.

First every file is looked at as far as its first message: then it is known which channels there are, which of them
are threads, and what a thread hangs below, although no file says that. After that each file is read once, the channels
above before their threads. Ids are Discord's own, whose snowflakes count from the same moment as ours.
"""

from __future__ import annotations

import heapq
import io
from collections.abc import Iterator, Mapping
from typing import IO, Any, Final

import attrs
import orjson

from chat.classes import define, frozen
from chat.errors import OperatorError
from chat.imports.discord_messages import DiscordMessages
from chat.imports.discord_template import GuildTemplate, read_template
from chat.imports.discord_values import number_of, shown_text
from chat.imports.export_files import BROKEN, ExportFiles
from chat.imports.form import ChannelRecord, GuildRecord, Record, ThreadRecord, TroubleRecord
from chat.imports.json_stream import PIECE, JsonStream, NotJson
from chat.imports.wishes import ReadingWish
from chat.registries.channel_types import THREAD_CHANNEL_TYPES, ChannelType

MESSAGES: Final = "messages"

AT_ONCE: Final = 64
"""Files that are read side by side."""

PIECE_MINIMUM: Final = 65_536
"""Characters that are read of one of them at a time, at least."""

_TYPES: Final[Mapping[str, ChannelType]] = {
    "GuildTextChat": ChannelType.GUILD_TEXT,
    "GuildVoiceChat": ChannelType.GUILD_VOICE,
    "GuildStageVoice": ChannelType.GUILD_VOICE,
    "GuildNews": ChannelType.GUILD_ANNOUNCEMENT,
    "GuildNewsThread": ChannelType.ANNOUNCEMENT_THREAD,
    "GuildPublicThread": ChannelType.PUBLIC_THREAD,
    "GuildPrivateThread": ChannelType.PRIVATE_THREAD,
    "GuildForum": ChannelType.GUILD_FORUM,
    "GuildMedia": ChannelType.GUILD_MEDIA,
    "0": ChannelType.GUILD_TEXT,
    "2": ChannelType.GUILD_VOICE,
    "13": ChannelType.GUILD_VOICE,
    "5": ChannelType.GUILD_ANNOUNCEMENT,
    "10": ChannelType.ANNOUNCEMENT_THREAD,
    "11": ChannelType.PUBLIC_THREAD,
    "12": ChannelType.PRIVATE_THREAD,
    "15": ChannelType.GUILD_FORUM,
    "16": ChannelType.GUILD_MEDIA,
}
"""The kinds of channels by the words of the exporter; those that it has no word for it calls by their number."""

_DIRECT: Final = frozenset({"DirectTextChat", "DirectGroupTextChat", "1", "3"})


@frozen
class _Head:
    """What is known of a file before its messages: where it is, its channel, and its first message."""

    file: str
    guild: Mapping[str, Any]
    channel: Mapping[str, Any]
    first_id: int

    @property
    def id(self) -> int:
        return number_of(self.channel.get("id")) or 0

    @property
    def parent_id(self) -> int | None:
        return number_of(self.channel.get("categoryId"))

    @property
    def type(self) -> ChannelType | None:
        return _TYPES.get(str(self.channel.get("type")))

    @property
    def is_thread(self) -> bool:
        return self.type in THREAD_CHANNEL_TYPES


@define(eq=False)
class DiscordExport:
    """The records of an export."""

    _files: ExportFiles
    _troubles: list[TroubleRecord]
    _heads: list[_Head]
    _template: GuildTemplate | None
    _read_bytes: int = attrs.field(default=0, init=False)
    """Of files that are read to their ends."""
    _open: dict[str, IO[bytes]] = attrs.field(factory=dict, init=False)
    """Those that are being read."""

    @staticmethod
    def open(files: ExportFiles) -> DiscordExport:
        """Look at every file. Raises OperatorError where none of them is an export."""
        troubles: list[TroubleRecord] = []
        heads: list[_Head] = []
        template = None
        for name in files.names():
            if not name.lower().endswith(".json"):
                continue
            try:
                found = _looked_at(files, name)
            except (NotJson, *BROKEN):
                troubles.append(TroubleRecord(what="file", name=name, reason="not readable"))
                continue
            if isinstance(found, GuildTemplate):
                template = found
            elif found is not None and str(found.channel.get("type")) in _DIRECT:
                troubles.append(TroubleRecord(what="channel", name=_name(found), reason="direct messages"))
            elif found is not None and found.type is None:
                troubles.append(TroubleRecord(what="channel", name=_name(found), reason="unknown kind"))
            elif found is not None:
                heads.append(found)
        if not heads:
            raise OperatorError("there is no export of a channel in it, as DiscordChatExporter writes JSON")
        guilds = {number_of(head.guild.get("id")) for head in heads}
        if len(guilds) > 1:
            raise OperatorError("there are exports of more than one guild in it: bring one along after the other")
        heads.sort(key=lambda head: (head.is_thread, head.id, head.first_id))
        return DiscordExport(files, troubles, heads, template)

    @property
    def guild_id(self) -> int:
        """The id that the guild had."""
        return number_of(self._heads[0].guild.get("id")) or 0

    @property
    def percent_read(self) -> float:
        """How much of the export was read, by the bytes of its files."""
        read = self._read_bytes + sum(file.tell() for file in self._open.values())
        return 100.0 * read / max(1, sum(self._files.size(head.file) for head in self._heads))

    def read(self, wish: ReadingWish, now_ms: int) -> Iterator[Record]:
        """Every record, in the order in which it can be written; what is later than `now_ms` is from the future."""
        yield from self._troubles
        guild = self._heads[0].guild
        icon = self._files.find(str(guild.get("iconUrl") or ""), self._heads[0].file)
        yield GuildRecord(id=self.guild_id, name=shown_text(guild.get("name")) or "?", icon=icon)
        wanted = [head for head in self._heads if wish.takes_channel(head.id, _name(head))]
        if self._template is not None:
            yield from self._template.roles(self.guild_id)
        yield from self._channels(wanted)
        roles = {} if self._template is None else self._template.by_name(self.guild_id)
        messages = DiscordMessages(self._files, now_ms, self.guild_id, self._names(), roles)
        for start in range(0, len(wanted), AT_ONCE):
            yield from self._side_by_side(messages, wanted[start : start + AT_ONCE], wish)

    def _names(self) -> dict[int, str]:
        return {head.id: _name(head) for head in self._heads}

    def _channels(self, heads: list[_Head]) -> Iterator[ChannelRecord]:
        """Categories and what stands above threads, then channels, then threads; each once."""
        own = {head.id: head for head in heads}
        above = {head.parent_id: head for head in heads if head.parent_id is not None}
        forums = {head.parent_id for head in heads if head.is_thread and head.first_id == head.id}
        places = {channel_id: place for place, channel_id in enumerate(sorted({*own, *above}))}
        for channel_id, head in sorted(above.items()):
            if channel_id not in own and not head.is_thread:
                yield self._above(channel_id, head, ChannelType.GUILD_CATEGORY, places[channel_id])
        for head in own.values():
            if not head.is_thread:
                yield self._channel(head, places[head.id])
        for channel_id, head in sorted(above.items()):
            if channel_id not in own and head.is_thread:
                kind = ChannelType.GUILD_FORUM if channel_id in forums else ChannelType.GUILD_TEXT
                yield self._above(channel_id, head, kind, places[channel_id])
        for head in own.values():
            if head.is_thread:
                yield self._channel(head, 0)

    def _above(self, channel_id: int, head: _Head, kind: ChannelType, place: int) -> ChannelRecord:
        name = shown_text(head.channel.get("category")) or "?"
        record = ChannelRecord(id=channel_id, type=int(kind), name=name, position=place)
        return record if self._template is None else self._template.completed(record, self.guild_id)

    def _channel(self, head: _Head, place: int) -> ChannelRecord:
        record = ChannelRecord(
            id=head.id,
            type=int(head.type or 0),
            name=_name(head),
            topic=None if head.is_thread else shown_text(head.channel.get("topic")) or None,
            parent_id=head.parent_id,
            position=place,
            thread=ThreadRecord(archived=True) if head.is_thread else None,
        )
        if self._template is None or head.is_thread:
            return record
        return self._template.completed(record, self.guild_id)

    def _side_by_side(self, messages: DiscordMessages, heads: list[_Head], wish: ReadingWish) -> Iterator[Record]:
        """The messages of several files in the order of time, in which they were written: then the tables grow at their
        ends, and a message needs no page of its own to be read and written."""
        piece = max(PIECE_MINIMUM, PIECE // max(1, len(heads)))
        for _, head, given in heapq.merge(*(self._given(head, piece) for head in heads), key=_by_id):
            if given is None:
                yield TroubleRecord(what="file", name=head.file, reason="not readable")
            else:
                yield from messages.records(given, head.id, head.file, wish)

    def _given(self, head: _Head, piece: int) -> Iterator[_Given]:
        """The messages of a file, each behind its id; None at the place where it breaks off."""
        last = 0
        try:
            with self._files.open(head.file) as raw:
                self._open[head.file] = raw
                stream = JsonStream(io.TextIOWrapper(raw, "utf-8-sig", errors="replace"), piece)
                for name, message in stream.members(MESSAGES):
                    if name == MESSAGES and isinstance(message, dict):
                        last = number_of(message.get("id")) or last
                        yield last, head, message
        except (NotJson, *BROKEN):
            yield last, head, None
        finally:
            self._open.pop(head.file, None)
            self._read_bytes += self._files.size(head.file)


_Given = tuple[int, _Head, Mapping[str, Any] | None]


def _by_id(given: _Given) -> int:
    return given[0]


def _name(head: _Head) -> str:
    return shown_text(head.channel.get("name")) or "?"


TEMPLATE_BYTES: Final = 4 << 20
"""A larger file is looked at as an export of a channel alone."""


def _looked_at(files: ExportFiles, name: str) -> _Head | GuildTemplate | None:
    """What a file is, from its beginning; None for JSON that is neither an export nor a template."""
    guild: Mapping[str, Any] = {}
    channel: Mapping[str, Any] | None = None
    with files.open(name) as raw:
        stream = JsonStream(io.TextIOWrapper(raw, "utf-8-sig", errors="replace"))
        for member, value in stream.members(MESSAGES):
            if member == "guild" and isinstance(value, dict):
                guild = value
            elif member == "channel" and isinstance(value, dict):
                channel = value
            elif member == "serialized_source_guild" and files.size(name) <= TEMPLATE_BYTES:
                with files.open(name) as whole:
                    return read_template(orjson.loads(whole.read()))
            elif member == MESSAGES and channel is not None:
                first = number_of(value.get("id")) if isinstance(value, dict) else None
                return _Head(name, guild, channel, first or 0)
    return None if channel is None else _Head(name, guild, channel, 0)
