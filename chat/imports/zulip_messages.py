"""Messages of Zulip's exports as records, each in the thread of its topic, with their Markdown in ours."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

import attrs

from chat.classes import define, frozen
from chat.imports.dialects import code_block, dialect, rewritten
from chat.imports.discord_embeds import missing_file_embed
from chat.imports.discord_values import shown_text, text_of
from chat.imports.emoji_names import emoji_named, emoji_of
from chat.imports.export_files import ExportFiles
from chat.imports.form import (
    ChannelRecord,
    FileRecord,
    MessageRecord,
    ReactionRecord,
    Record,
    ThreadRecord,
    TroubleRecord,
)
from chat.imports.made_ids import made_id, thing_id
from chat.imports.marks import code, escaped, marked, on_lines, quoted
from chat.imports.message_parts import finished, of_old_times
from chat.imports.naming import Naming, emoji_name
from chat.imports.wishes import ReadingWish
from chat.imports.zulip_realm import ZulipRealm, milliseconds, number
from chat.registries.channel_types import ChannelType

MESSAGES: Final = "zerver_message"
NAMELESS: Final = "general chat"
"""What Zulip calls a topic without a name."""

_TOKENS: Final = dialect(
    r"""
    @_?\*\*(?P<person>[^*\n]{1,200})\*\*
    |@_?\*(?P<group>[^*\n]{1,200})\*
    |\#\*\*(?P<channel>[^*\n]{1,300})\*\*
    |:(?P<emoji>[A-Za-z0-9_+\-]{1,64}):
    |(?<!\$)\$\$(?P<formula>[^$\n]{1,2000})\$\$(?!\$)
    |!?\[(?P<label>[^\]\n]{0,500})\]\((?P<upload>/?user_uploads/[^)\s]{1,1000})\)
    |!?\[(?P<lead>[^\]\n]{0,500})\]\((?P<inside>[/\#][^)\s]{0,1000})\)
    |<time:(?P<time>[^>\n]{1,100})>
    |(?P<low>(?<![A-Za-z0-9])_+|_+(?![A-Za-z0-9]))
    |(?P<picture>!)(?=\[[^\]\n]{0,500}\]\()
    |^(?P<heading>\#{4,6})(?=[ ])
    """
)
_CALLS: Final = frozenset({"all", "everyone", "channel", "stream"})
_EMBEDS: Final = 10
_ME: Final = "/me "


@frozen(kw_only=True)
class Stream:
    """A channel of Zulip: the forum that it became."""

    id: int
    name: str


@define(eq=False)
class ZulipMessages:
    """Makes records of messages. `_places` are the channels that come along, by recipient."""

    _files: ExportFiles
    _root: str
    _realm: ZulipRealm
    _now_ms: int
    _naming: Naming
    _places: Mapping[int, Stream]
    _topics: dict[tuple[int, str], int] = attrs.field(factory=dict, init=False)
    """The thread of each topic, by its channel and its name."""
    _written: set[int] = attrs.field(factory=set, init=False)

    def records(self, given: Mapping[str, Any], wish: ReadingWish) -> Iterator[Record]:
        """What one message comes to; `given` is its row."""
        key, recipient, sender = (number(given.get(one)) for one in ("id", "recipient", "sender"))
        moment = milliseconds(given.get("date_sent"))
        name = str(key)
        if key is None or recipient is None or sender is None or moment is None:
            yield TroubleRecord(what="message", name=name, reason="no id")
            return
        of = self._places.get(recipient)
        if of is None:
            if recipient not in self._realm.stream_of:
                yield TroubleRecord(what="message", name=name, reason="direct messages")
            elif not wish.channels:
                yield TroubleRecord(what="message", name=name, reason="no channel")
            return
        if moment > self._now_ms:
            yield TroubleRecord(what="message", name=name, reason="from the future")
            return
        message_id = made_id(moment, f"zulip/{self._realm.scope}/message/{key}", key)
        topic = text_of(given.get("subject"))
        thread_id = self._topics.setdefault((of.id, topic.lower()), message_id)
        if moment < wish.since:
            return
        yield from of_old_times(name, moment)
        files: list[FileRecord] = []
        missing: list[str] = []
        content = self._content(text_of(given.get("content")), of, message_id, files, missing)
        edited = milliseconds(given.get("last_edit_time"))
        message = MessageRecord(
            id=message_id,
            channel_id=thread_id,
            author_id=self._naming.people.id_of(str(sender)),
            content=content,
            edited_at=edited,
            files=tuple(files) if wish.files else (),
            embeds=tuple(map(missing_file_embed, missing))[:_EMBEDS] if wish.files else (),
            reactions=tuple(self._reactions(key)),
            original_id=name,
        )
        if wish.files:
            yield from (
                TroubleRecord(what="file", name=f"{key}/{one}"[:200], reason="file is missing") for one in missing
            )
        yield from self._unknown_reactions(key)
        parts = list(finished(message))
        yield from self._naming.people.named()
        if thread_id not in self._written:
            self._written.add(thread_id)
            yield ChannelRecord(
                id=thread_id,
                type=int(ChannelType.PUBLIC_THREAD),
                name=shown_text(topic) or NAMELESS,
                parent_id=of.id,
                thread=ThreadRecord(owner_id=message.author_id, archived=True),
            )
        if not (content or message.files or message.embeds):
            yield TroubleRecord(what="message", name=name, reason="unknown kind")
        else:
            yield from parts

    # Texts

    def _content(self, text: str, of: Stream, message_id: int, files: list[FileRecord], missing: list[str]) -> str:
        def write(found: re.Match[str]) -> str:
            if found["upload"]:
                self._attach(found["label"], found["upload"], message_id, files, missing)
                return ""
            return self._token(found, of)

        def block(info: str, body: str, depth: int) -> str:
            word, _, header = info.partition(" ")
            if word == "quote":
                return quoted(rewritten(body, _TOKENS, write, block, depth + 1))
            if word == "spoiler":
                has_code = "```" in body or "~~~" in body
                inner = body if has_code else rewritten(body, _TOKENS, write, block, depth + 1)
                hidden = [f"||{code(line) if has_code else line}||" for line in inner.split("\n") if line.strip()]
                return on_lines([marked("**", rewritten(header, _TOKENS, write)), *hidden])
            return code_block("latex" if word == "math" else info, body)

        is_act = text.startswith(_ME)
        said = rewritten(text.removeprefix(_ME), _TOKENS, write, block).strip()
        return marked("*", said) if is_act else said

    def _token(self, found: re.Match[str], of: Stream) -> str:
        match found.lastgroup:
            case "person":
                return self._person(found["person"])
            case "group":
                return escaped(f"@{found['group']}")
            case "channel":
                return self._channel(found["channel"])
            case "emoji":
                return self._naming.emoji(found["emoji"])
            case "formula":
                return code(found["formula"])
            case "inside":  # a place in Zulip
                return found["lead"]
            case "time":
                return escaped(found["time"])
            case "low":
                return found["low"].replace("_", "\\_")
            case "heading":
                return "###"
            case _:
                return ""

    def _person(self, written: str) -> str:
        name, _, key = written.partition("|")
        key = key or self._realm.keys.get(name, "")
        if not key and name in _CALLS:
            return "@everyone"
        return self._naming.person(key) if self._naming.people.knows(key) else escaped(f"@{name}")

    def _channel(self, written: str) -> str:
        name, _, topic = written.partition(">")
        channel_id = self._naming.channels.get(name.lower())
        topic = topic.partition("@")[0]
        thread_id = self._topics.get((channel_id or 0, topic.lower())) if topic else None
        if thread_id is not None:
            return f"<#{thread_id}>"
        return self._naming.channel(name.lower(), name) + (f" > {escaped(topic)}" if topic else "")

    # What hangs on a message

    def _attach(self, label: str, upload: str, message_id: int, files: list[FileRecord], missing: list[str]) -> None:
        written = upload.lstrip("/").removeprefix("user_uploads/")
        name = label or written.rpartition("/")[2] or "file"
        path = self._files.find(f"{self._root}uploads/{written}")
        if path is None:
            missing.append(name)
        else:
            file_id, size = thing_id(f"zulip/{message_id}/{len(files)}/{written}"), self._files.size(path)
            files.append(FileRecord(id=file_id, name=name, size=size, path=path))

    def _emoji(self, told: tuple[str, str, str]) -> tuple[str, int | None, bool] | None:
        kind, name, value = told
        custom = self._naming.emojis.get(name)
        if kind == "realm_emoji":
            return None if custom is None else (emoji_name(name), *custom)
        found = emoji_of(value) or emoji_named(name)
        return None if found is None else (found, None, False)

    def _reactions(self, key: int) -> Iterator[ReactionRecord]:
        for told, keys in self._realm.reactions_to(key).items():
            emoji = self._emoji(told)
            if emoji is not None:
                people = tuple(sorted({self._naming.people.id_of(one) for one in keys}))
                name, emoji_id, animated = emoji
                yield ReactionRecord(
                    name=name, emoji_id=emoji_id, animated=animated, count=len(people), user_ids=people
                )

    def _unknown_reactions(self, key: int) -> Iterator[TroubleRecord]:
        for told in self._realm.reactions_to(key):
            if self._emoji(told) is None:
                yield TroubleRecord(what="reaction", name=f"{key}/{told[1]}"[:200], reason="file is missing")
