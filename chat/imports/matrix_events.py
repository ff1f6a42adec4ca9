"""Events of a Matrix room as records: messages with what later events have made of them."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import Any, Final

import attrs

from chat.classes import define, frozen
from chat.imports.discord_embeds import missing_file_embed
from chat.imports.discord_values import object_in, objects_in, text_of
from chat.imports.export_files import ExportFiles
from chat.imports.form import FileRecord, MessageRecord, ReactionRecord, Record, ReferenceRecord, TroubleRecord
from chat.imports.made_ids import made_id, thing_id
from chat.imports.marks import escaped, marked, on_lines
from chat.imports.matrix_html import markdown_of
from chat.imports.matrix_relations import Relations, moment_of
from chat.imports.message_parts import finished, of_old_times, thread_under
from chat.imports.roster import Roster
from chat.imports.wishes import ReadingWish
from chat.registries.message_types import MessageType
from chat.registries.unicode_emojis import fully_qualified

_FILES: Final = frozenset({"m.image", "m.file", "m.audio", "m.video"})
_HTML: Final = "org.matrix.custom.html"
_ROOM: Final = re.compile(r"(?<!\w)@room(?!\w)")
_NUMBERS: Final = re.compile(r"\d+")
_SILENT: Final = frozenset({"m.reaction", "m.room.redaction"})
"""They are told with what they are about."""


_KNOWN: Final = frozenset(
    {"m.room.create", "m.room.join_rules", "m.room.member", "m.room.name", "m.room.pinned_events", "m.room.topic"}
)
"""What they say of the room came along with it."""


@frozen(kw_only=True)
class Room:
    """The channel that a room became, and the file with its events."""

    key: str
    id: int
    file: str


@define(eq=False)
class MatrixEvents:
    """Makes records of events. `_rooms` are the channels of all rooms of the export, by their ids there."""

    _files: ExportFiles
    _now_ms: int
    _people: Roster
    _rooms: Mapping[str, int]
    _ids: dict[str, int] = attrs.field(factory=dict, init=False)
    """Of events that others are about."""
    _written: set[int] = attrs.field(factory=set, init=False)
    """Threads."""
    _folders: dict[str, dict[str, list[str]]] = attrs.field(factory=dict, init=False)
    """By folder: the paths of its files, by their names up to where a date begins."""

    def records(self, event: Mapping[str, Any], room: Room, by: Relations, wish: ReadingWish) -> Iterator[Record]:
        """What one event comes to."""
        key, sender, moment = text_of(event.get("event_id")), text_of(event.get("sender")), moment_of(event)
        content = object_in(event.get("content"))
        relation = object_in(content.get("m.relates_to"))
        kind = text_of(event.get("type"))
        if kind in _SILENT or relation.get("rel_type") == "m.replace":
            return
        name = key[:200] or f"in {room.file}"[:200]
        if not key or not sender or moment is None:
            yield TroubleRecord(what="message", name=name, reason="no id")
            return
        if moment > self._now_ms:
            yield TroubleRecord(what="message", name=name, reason="from the future")
            return
        message_id = made_id(moment, f"matrix/{key}")
        if key in by.answered or key in by.threads:
            self._ids[key] = message_id
        is_known = kind in _KNOWN and content.get("membership", "join") == "join"
        is_join = kind == "m.room.member" and self._is_join(event, content)
        if moment < wish.since or (is_known and not is_join):
            return
        if kind == "m.room.encrypted":
            yield TroubleRecord(what="message", name=name, reason="encrypted")
            return
        message = MessageRecord(id=message_id, channel_id=room.id, author_id=0, original_id=key[:200])
        if is_join:
            joined = self._people.id_of(text_of(event.get("state_key")) or sender)
            message = attrs.evolve(message, author_id=joined, type=int(MessageType.USER_JOIN))
        elif "state_key" not in event and key not in by.gone:
            message = attrs.evolve(message, author_id=self._people.id_of(sender))
            message = yield from self._filled(message, event, content, key, sender, room, by, wish)
        if not (is_join or message.content or message.files or message.embeds):
            yield TroubleRecord(what="message", name=name, reason="unknown kind")
            return
        yield from of_old_times(name, moment)
        yield from self._placed(message, key, relation, room, by)

    @staticmethod
    def _is_join(event: Mapping[str, Any], content: Mapping[str, Any]) -> bool:
        before = object_in(object_in(event.get("unsigned")).get("prev_content")) or object_in(event.get("prev_content"))
        return content.get("membership") == "join" and before.get("membership") != "join"

    def _filled(
        self,
        message: MessageRecord,
        event: Mapping[str, Any],
        content: Mapping[str, Any],
        key: str,
        sender: str,
        room: Room,
        by: Relations,
        wish: ReadingWish,
    ) -> Any:
        """The message with its text, its file and what hangs on it."""
        edited_at, shown = by.edits.get((key, sender), (None, content))
        reactions = []
        for emoji, senders in sorted(by.reactions.get(key, {}).items()):
            found = fully_qualified(emoji)
            if found is None:
                yield TroubleRecord(what="reaction", name=f"{key}/{emoji}"[:200], reason="unknown kind")
            else:
                users = tuple(sorted(map(self._people.id_of, senders)))
                reactions.append(ReactionRecord(name=found, count=len(users), user_ids=users))
        if event.get("type") == "m.sticker" or text_of(content.get("msgtype")) in _FILES:
            name = text_of(content.get("filename")) or text_of(content.get("body")) or "file"
            shown = {} if shown.get("body") == name or event.get("type") == "m.sticker" else shown
            path = self._path(content, name, moment_of(event) or 0, room.file) if wish.files else None
            if path is not None:
                size = self._files.size(path)
                file = FileRecord(id=thing_id(f"matrix/file/{key}"), name=name, size=size, path=path)
                message = attrs.evolve(message, files=(file,))
            elif wish.files:
                yield TroubleRecord(what="file", name=f"{key}/{name}"[:200], reason="file is missing")
                message = attrs.evolve(message, embeds=(missing_file_embed(name),))
        said = self._text(shown, event)
        return attrs.evolve(
            message,
            content=marked("*", said) if content.get("msgtype") == "m.emote" else said,
            edited_at=edited_at,
            pinned=key in by.pinned,
            reactions=tuple(reactions),
        )

    def _placed(
        self, message: MessageRecord, key: str, relation: Mapping[str, Any], room: Room, by: Relations
    ) -> Iterator[Record]:
        """The message at its place: in a thread, or as an answer."""
        root = text_of(relation.get("event_id")) if relation.get("rel_type") == "m.thread" else ""
        answered = text_of(object_in(relation.get("m.in_reply_to")).get("event_id"))
        thread_id = self._ids.get(root) if root != key else None
        if root and thread_id is None:
            yield TroubleRecord(what="reference", name=key[:200], reason="nobody has it")
        if thread_id is not None:
            message = attrs.evolve(message, channel_id=thread_id)
        is_root = thread_id is not None and self._ids.get(answered) == thread_id
        if answered and not is_root and not (thread_id is not None and relation.get("is_falling_back")):
            target = self._ids.get(answered)
            if target is None or target == message.id:
                yield TroubleRecord(what="reference", name=key[:200], reason="nobody has it")
            else:
                reference = ReferenceRecord(channel_id=message.channel_id, message_id=target)
                message = attrs.evolve(message, type=int(MessageType.REPLY), reference=reference)
        parts = list(finished(message))
        yield from self._people.named()
        if key in by.threads and message.channel_id == room.id and message.id not in self._written:
            self._written.add(message.id)
            yield thread_under(message, room.id)
        elif thread_id is not None and thread_id not in self._written:
            self._written.add(thread_id)
            yield thread_under(message, room.id, is_root=False)
        yield from parts

    # Texts

    def _text(self, content: Mapping[str, Any], event: Mapping[str, Any]) -> str:
        poll = object_in(content.get("m.poll") or content.get("org.matrix.msc3381.poll.start"))
        if poll:
            answers = [f"- {escaped(_plain(one))}" for one in objects_in(poll.get("answers"))]
            return on_lines([marked("**", escaped(_plain(object_in(poll.get("question"))))), *answers])
        html = text_of(content.get("formatted_body"))
        if html and content.get("format") == _HTML:
            said = markdown_of(html, self._mention)
        else:
            said = escaped(_without_fallback(content))
            said = on_lines([said, escaped(text_of(content.get("geo_uri")))])
        calls = object_in(object_in(event.get("content")).get("m.mentions")).get("room") is True
        return _ROOM.sub("@everyone", said) if calls else said

    def _mention(self, key: str, label: str) -> str | None:
        if key.startswith("@"):
            return f"<@{self._people.id_of(key)}>"
        room = self._rooms.get(key)
        return None if room is None else f"<#{room}>"

    # Files

    def _path(self, content: Mapping[str, Any], name: str, moment: int, beside: str) -> str | None:
        """Element names a file by what it was called and when it was sent, in the words of whoever exported it: the
        minute and the second are told everywhere as numbers."""
        written = text_of(content.get("url"))
        found = self._files.find(written, beside) if written else None
        if found is not None:
            return found
        folder = posixpath.dirname(beside)
        stem, ending = posixpath.splitext(name.replace("/", "_"))
        sent = datetime.fromtimestamp(min(moment, self._now_ms) / 1_000, UTC)
        for path in self._folder(folder).get(stem, ()):
            told = posixpath.basename(path)[len(stem) :].removesuffix(ending)
            if list(map(int, _NUMBERS.findall(told)))[-2:] == [sent.minute, sent.second]:
                return path
        return None

    def _folder(self, folder: str) -> dict[str, list[str]]:
        """The files beside the events, by each beginning of their names that ends before a dash."""
        known = self._folders.get(folder)
        if known is None:
            known = self._folders[folder] = {}
            for path in self._files.names():
                if posixpath.dirname(posixpath.dirname(path)) == folder:
                    name = posixpath.basename(path)
                    for dash in re.finditer("-", name[:300]):
                        known.setdefault(name[: dash.start()], []).append(path)
        return known


def _plain(given: Mapping[str, Any]) -> str:
    """The text of a part of a poll."""
    listed = objects_in(given.get("m.text"))
    first = listed[0].get("body") if listed else given.get("org.matrix.msc1767.text") or given.get("body")
    return text_of(first)


def _without_fallback(content: Mapping[str, Any]) -> str:
    """The text without the quote that stands before an answer for old clients."""
    text = text_of(content.get("body"))
    if not object_in(object_in(content.get("m.relates_to")).get("m.in_reply_to")) or not text.startswith("> <"):
        return text
    lines = text.split("\n")
    while lines and lines[0].startswith("> "):
        lines.pop(0)
    return "\n".join(lines).lstrip("\n")
