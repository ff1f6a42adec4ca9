"""Messages of Slack's JSON as records, with the threads and the people that they are the first to name."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

import attrs

from chat.classes import define, frozen
from chat.imports.attachment_embeds import attachment_embeds
from chat.imports.discord_embeds import missing_file_embed
from chat.imports.discord_values import object_in, objects_in, shown_text, text_of
from chat.imports.emoji_names import emoji_named
from chat.imports.export_files import ExportFiles
from chat.imports.form import (
    FileRecord,
    MessageRecord,
    ReactionRecord,
    Record,
    ReferenceRecord,
    TroubleRecord,
)
from chat.imports.made_ids import made_id, thing_id
from chat.imports.marks import link, marked, on_lines
from chat.imports.message_parts import finished, of_old_times, thread_under
from chat.imports.roster import Known, Roster
from chat.imports.slack_text import SlackText
from chat.imports.wishes import ReadingWish
from chat.registries.message_types import MessageType

_STAMP: Final = re.compile(r"(\d{1,11})(?:\.(\d{1,6}))?")
_LOGGED: Final = frozenset({"message_changed", "message_deleted", "message_replied"})
"""What was done to other messages, which are there themselves."""

EMBEDS: Final = 10


@frozen
class Stamp:
    """A moment as Slack writes it, which is the id of the message, too."""

    text: str
    microseconds: int

    @staticmethod
    def of(value: object) -> Stamp | None:
        """None for what is no moment."""
        found = _STAMP.fullmatch(str(value)) if isinstance(value, str | int | float) else None
        if found is None:
            return None
        return Stamp(str(value), int(found[1]) * 1_000_000 + int((found[2] or "").ljust(6, "0")))

    @property
    def milliseconds(self) -> int:
        return self.microseconds // 1_000

    def id_in(self, channel: str) -> int:
        """The id of the message of a channel."""
        return made_id(self.milliseconds, f"slack/{channel}/{self.text}", self.microseconds % 1_000)


@frozen(kw_only=True)
class SlackChannel:
    """What messages need to know of their channel; `folder` has their files, `pinned` tells since when, by their
    stamps."""

    key: str
    id: int
    folder: str
    is_general: bool
    pinned: Mapping[str, int]


@define(eq=False)
class SlackMessages:
    """Makes records of messages."""

    _files: ExportFiles
    _now_ms: int
    _people: Roster
    _text: SlackText
    _threads: set[int] = attrs.field(factory=set, init=False)

    def records(self, given: Mapping[str, Any], of: SlackChannel, wish: ReadingWish) -> Iterator[Record]:
        """What one message of a channel comes to; `given` is it as the export has it."""
        stamp = Stamp.of(given.get("ts"))
        name = f"{given.get('ts')} in {of.folder}"[:200]
        if stamp is None:
            yield TroubleRecord(what="message", name=name, reason="no id")
            return
        if stamp.milliseconds > self._now_ms:
            yield TroubleRecord(what="message", name=name, reason="from the future")
            return
        if stamp.milliseconds < wish.since:
            return
        if given.get("subtype") in _LOGGED:
            yield TroubleRecord(what="message", name=name, reason="unknown kind")
            return
        yield from of_old_times(name, stamp.milliseconds)
        message = self._message(given, stamp, of)
        files: list[FileRecord] = []
        for found in self._attached(given, of, name) if wish.files else ():
            if isinstance(found, TroubleRecord):
                yield found
            else:
                files.append(found)
        missing = [missing_file_embed(file.name) for file in files if file.path is None]
        message = attrs.evolve(
            message,
            files=tuple(file for file in files if file.path is not None),
            embeds=(*message.embeds, *missing)[:EMBEDS],
            reactions=tuple(self._reactions(given)),
        )
        yield from self._unknown_reactions(given, name)
        parts = list(finished(self._placed(message, given, stamp, of)))
        yield from self._people.named()
        yield from self._thread(message, given, stamp, of)
        if message.type == MessageType.DEFAULT and not (message.content or message.files or message.embeds):
            yield TroubleRecord(what="message", name=name, reason="unknown kind")
        else:
            yield from parts

    def _message(self, given: Mapping[str, Any], stamp: Stamp, of: SlackChannel) -> MessageRecord:
        author_id, webhook_name = self._author(given)
        subtype = given.get("subtype")
        edited = Stamp.of(object_in(given.get("edited")).get("ts"))
        kind, reference = MessageType.DEFAULT, None
        if subtype == "channel_join" and of.is_general:
            kind = MessageType.USER_JOIN
        item = object_in(given.get("item"))
        pinned = Stamp.of(object_in(item.get("message")).get("ts") or item.get("ts"))
        if subtype == "pinned_item" and pinned is not None:
            kind = MessageType.CHANNEL_PINNED_MESSAGE
            reference = ReferenceRecord(channel_id=of.id, message_id=pinned.id_in(of.key))
        content = self._content(given) if kind is MessageType.DEFAULT else ""
        listed = given.get("pinned_to")
        return MessageRecord(
            id=stamp.id_in(of.key),
            channel_id=of.id,
            author_id=author_id,
            type=int(kind),
            content=marked("*", content) if subtype == "me_message" else content,
            edited_at=None if edited is None else edited.milliseconds,
            pinned=stamp.text in of.pinned or (isinstance(listed, list) and of.key in listed),
            pinned_at=of.pinned.get(stamp.text) or None,
            webhook_name=webhook_name,
            reference=reference,
            embeds=attachment_embeds(objects_in(given.get("attachments")), self._say),
            original_id=f"{of.key}/{stamp.text}"[:200],
        )

    def _content(self, given: Mapping[str, Any]) -> str:
        said = self._text.blocks(given.get("blocks")) or self._text.mrkdwn(text_of(given.get("text")))
        elsewhere = [
            link(text_of(file.get("external_url") or file.get("url_private")), text_of(file.get("title")))
            for file in objects_in(given.get("files"))
            if file.get("mode") == "external"
        ]
        return on_lines([said, *elsewhere])

    def _author(self, given: Mapping[str, Any]) -> tuple[int, str | None]:
        """Who wrote it, and the name under which a webhook did."""
        user = text_of(given.get("user"))
        profile = object_in(given.get("bot_profile"))
        if not user:
            bot = text_of(given.get("bot_id")) or text_of(given.get("username")) or "?"
            name = shown_text(given.get("username")) or shown_text(profile.get("name")) or shown_text(bot) or "?"
            return thing_id(f"slack/bot/{bot}"), name
        if not self._people.knows(user):
            told = object_in(given.get("user_profile"))
            name = text_of(told.get("display_name")) or text_of(told.get("real_name")) or text_of(profile.get("name"))
            is_bot = bool(given.get("bot_id"))
            self._people.know(user, Known(name=name, username=text_of(told.get("name")), bot=is_bot))
        return self._people.id_of(user), None

    # Threads

    @staticmethod
    def _root(given: Mapping[str, Any], stamp: Stamp) -> Stamp | None:
        """The message that has a thread with this one in it: one before it, or itself."""
        root = Stamp.of(given.get("thread_ts"))
        return root if root is not None and root.microseconds <= stamp.microseconds else None

    def _placed(
        self, message: MessageRecord, given: Mapping[str, Any], stamp: Stamp, of: SlackChannel
    ) -> MessageRecord:
        root = self._root(given, stamp)
        if root is None or root.microseconds == stamp.microseconds:
            return message
        return attrs.evolve(message, channel_id=root.id_in(of.key))

    def _thread(
        self, message: MessageRecord, given: Mapping[str, Any], stamp: Stamp, of: SlackChannel
    ) -> Iterator[Record]:
        root = self._root(given, stamp)
        thread_id = None if root is None else root.id_in(of.key)
        if thread_id is None or thread_id in self._threads:
            return
        self._threads.add(thread_id)
        is_root = thread_id == message.id
        yield thread_under(message if is_root else attrs.evolve(message, channel_id=thread_id), of.id, is_root=is_root)

    # What hangs on a message

    def _attached(self, given: Mapping[str, Any], of: SlackChannel, name: str) -> Iterator[FileRecord | TroubleRecord]:
        for file in objects_in(given.get("files")):
            if file.get("mode") in ("external", "tombstone"):
                continue
            key = text_of(file.get("id"))
            called = text_of(file.get("name")) or text_of(file.get("title")) or key or "file"
            path = self._path(file, key, called, of.folder)
            if path is None:
                yield TroubleRecord(what="file", name=f"{name}/{called}"[:200], reason="file is missing")
            yield FileRecord(
                id=thing_id(f"slack/file/{of.key}/{given.get('ts')}/{key}"),
                name=called,
                size=0 if path is None else self._files.size(path),
                path=path,
            )

    def _path(self, file: Mapping[str, Any], key: str, called: str, folder: str) -> str | None:
        """Slack's own export has addresses alone; programs that fetch the files put them to these places."""
        written = [text_of(file.get("url_private_download")), text_of(file.get("url_private"))]
        places = [one for one in written if one] + [f"__uploads/{key}/{called}", f"{folder}/attachments/{key}-{called}"]
        found = (self._files.find(place, f"{folder}/x") for place in places)
        return next((path for path in found if path is not None), None)

    def _reactions(self, given: Mapping[str, Any]) -> Iterator[ReactionRecord]:
        for reaction in objects_in(given.get("reactions")):
            emoji = emoji_named(text_of(reaction.get("name")))
            users = reaction.get("users")
            keys = [one for one in map(text_of, users if isinstance(users, list) else []) if one]
            if emoji is not None:
                people = tuple(sorted({self._people.id_of(key) for key in keys}))
                yield ReactionRecord(name=emoji, count=max(1, len(people)), user_ids=people)

    def _unknown_reactions(self, given: Mapping[str, Any], name: str) -> Iterator[TroubleRecord]:
        """Emojis of the workspace: an export has no pictures of them."""
        for reaction in objects_in(given.get("reactions")):
            written = text_of(reaction.get("name"))
            if emoji_named(written) is None:
                yield TroubleRecord(what="reaction", name=f"{name}/{written}"[:200], reason="file is missing")

    def _say(self, given: Mapping[str, Any], name: str) -> str:
        blocks = self._text.blocks(given.get("blocks")) if name == "text" else ""
        return blocks or self._text.mrkdwn(text_of(given.get(name)))
