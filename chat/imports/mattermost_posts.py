"""Posts of Mattermost's exports as records, with their answers as a thread and their Markdown in ours."""

from __future__ import annotations

import re
from collections import OrderedDict
from collections.abc import Generator, Iterator, Mapping
from typing import Any, Final

import attrs
import orjson

from chat.classes import define, frozen
from chat.imports.attachment_embeds import attachment_embeds
from chat.imports.dialects import dialect, rewritten
from chat.imports.discord_embeds import missing_file_embed
from chat.imports.discord_values import object_in, objects_in, shown_text, text_of
from chat.imports.emoji_names import emoji_named
from chat.imports.export_files import ExportFiles
from chat.imports.form import FileRecord, MessageRecord, ReactionRecord, Record, TroubleRecord
from chat.imports.made_ids import made_id, thing_id
from chat.imports.marks import marked
from chat.imports.message_parts import finished, of_old_times, thread_under
from chat.imports.naming import Naming, emoji_name
from chat.imports.wishes import ReadingWish
from chat.registries.message_types import MessageType

_TOKENS: Final = dialect(
    r"""
    (?<!\w)@(?P<person>[A-Za-z0-9][A-Za-z0-9._\-:]{0,63})
    |(?<![\w~])~(?P<channel>[A-Za-z0-9][A-Za-z0-9_\-]{0,63})
    |:(?P<emoji>[A-Za-z0-9_+\-]{1,64}):
    |(?<!\w)__(?P<bold>[^\s_](?:[^\n_]{0,500}[^\s_])?)__(?!\w)
    |(?P<picture>!)(?=\[[^\]\n]{0,500}\]\()
    |^(?P<heading>\#{4,6})(?=[ ])
    """
)
_CALLS: Final = {"all": "@everyone", "channel": "@everyone", "here": "@here"}
_EMBEDS: Final = 10
_REMEMBERED: Final = 4_096
"""Ids of posts by which two of one author in the same millisecond are told apart."""


@frozen(kw_only=True)
class Post:
    """Where a post stands: its team and channel by their names, and the channel here."""

    key: tuple[str, str]
    channel_id: int


@define(eq=False)
class MattermostPosts:
    """Makes records of posts. `_places` are the channels by team and name; `_lines` is the file that they stand in."""

    _scope: str
    _now_ms: int
    _naming: Naming
    _places: Mapping[tuple[str, str], int]
    _files: ExportFiles
    _lines: str
    _ids: OrderedDict[int, int] = attrs.field(factory=OrderedDict, init=False)

    def records(self, given: Mapping[str, Any], of: Post, wish: ReadingWish) -> Iterator[Record]:
        """What a post comes to with its answers."""
        replies = objects_in(given.get("replies"))
        latest = max((one for reply in replies if type(one := reply.get("create_at")) is int), default=-1)
        root = yield from self._message(given, of, of.channel_id, wish, latest)
        for reply in replies:
            yield from self._message(reply, of, root or of.channel_id, wish)

    def _message(
        self, given: Mapping[str, Any], of: Post, place: int, wish: ReadingWish, latest: int = -1
    ) -> Generator[Record, None, int | None]:
        """The message and, where answers have come until `latest`, its thread; its id."""
        moment = given.get("create_at")
        user = text_of(given.get("user")).lower()
        name = f"{'/'.join(of.key)}/{user}/{moment}"[:200]
        if type(moment) is not int or moment < 0 or not user:
            yield TroubleRecord(what="message", name=name, reason="no id")
            return None
        if moment > self._now_ms:
            yield TroubleRecord(what="message", name=name, reason="from the future")
            return None
        message = self._made(given, of, place, moment, user, name)
        if moment < wish.since:
            if latest >= wish.since:
                yield from self._naming.people.named()
                yield thread_under(message, place)
            return message.id
        yield from of_old_times(name, moment)
        if wish.files:
            message, troubles = self._with_files(given, message, name)
            yield from troubles
        yield from self._unknown_reactions(given, name)
        parts = list(finished(message))
        yield from self._naming.people.named()
        if latest >= 0:
            yield thread_under(message, place)
        if message.type == MessageType.DEFAULT and not (message.content or message.files or message.embeds):
            yield TroubleRecord(what="message", name=name, reason="unknown kind")
        else:
            yield from parts
        return message.id

    def _made(self, given: Mapping[str, Any], of: Post, place: int, moment: int, user: str, name: str) -> MessageRecord:
        props = _props(given.get("props"))
        edited = given.get("edit_at")
        text = text_of(given.get("message"))
        is_join = given.get("type") == "system_join_team"
        is_hook = props.get("from_webhook") in ("true", True)
        shown = shown_text(props.get("override_username")) or shown_text(props.get("webhook_display_name")) or user
        people = self._naming.people
        return MessageRecord(
            id=self._id(f"mattermost/{self._scope}/{'/'.join(of.key)}/{user}/{moment}", moment, text),
            channel_id=place,
            author_id=thing_id(f"mattermost/{self._scope}/hook/{user}") if is_hook else people.id_of(user),
            type=int(MessageType.USER_JOIN if is_join else MessageType.DEFAULT),
            content="" if is_join else self._said(text, of.key[0]),
            edited_at=edited if type(edited) is int and edited > 0 else None,
            pinned=bool(given.get("is_pinned")),
            webhook_name=shown if is_hook else None,
            embeds=attachment_embeds(
                objects_in(props.get("attachments")), lambda one, key: self._said(text_of(one.get(key)), of.key[0])
            ),
            reactions=tuple(self._reactions(given)),
            original_id=name,
        )

    def _id(self, key: str, moment: int, text: str) -> int:
        """Another one where the same author wrote something else in the same millisecond."""
        said = hash(text)
        for number in range(_REMEMBERED):
            found = made_id(moment, f"{key}/{number}" if number else key)
            if self._ids.setdefault(found, said) == said:
                break
        while len(self._ids) > _REMEMBERED:
            self._ids.popitem(last=False)
        return found

    # Texts

    def _said(self, text: str, team: str) -> str:
        def write(found: re.Match[str]) -> str:
            if found["person"]:
                return self._person(found["person"])
            if found["channel"]:
                place = self._places.get((team, found["channel"].lower()))
                return found[0] if place is None else f"<#{place}>"
            if found["emoji"]:
                return self._naming.emoji(found["emoji"])
            if found["bold"]:
                return marked("**", rewritten(found["bold"], _TOKENS, write))
            return "" if found["picture"] else "###"

        return rewritten(text, _TOKENS, write).strip("\n")

    def _person(self, written: str) -> str:
        """A mention of somebody whom the export knows; a name may end in what ends a sentence."""
        name = written
        while name:
            call = _CALLS.get(name.lower())
            if call is not None or self._naming.people.knows(name.lower()):
                return (call or self._naming.person(name.lower())) + written[len(name) :]
            if name[-1].isalnum():
                break
            name = name[:-1]
        return f"@{written}"

    # What hangs on a post

    def _with_files(
        self, given: Mapping[str, Any], message: MessageRecord, name: str
    ) -> tuple[MessageRecord, list[TroubleRecord]]:
        found: list[FileRecord] = []
        missing: list[str] = []
        for place, file in enumerate(objects_in(given.get("attachments"))):
            written = text_of(file.get("path"))
            called = written.replace("\\", "/").rpartition("/")[2] or "file"
            path = path_of(self._files, self._lines, written)
            if path is None:
                missing.append(called)
            else:
                found.append(
                    FileRecord(
                        id=thing_id(f"{message.id}/{place}/{written}"),
                        name=called,
                        size=self._files.size(path),
                        path=path,
                    )
                )
        shown = (*message.embeds, *map(missing_file_embed, missing))[:_EMBEDS]
        troubles = [TroubleRecord(what="file", name=f"{name}/{one}"[:200], reason="file is missing") for one in missing]
        return attrs.evolve(message, files=tuple(found), embeds=shown), troubles

    def _reactions(self, given: Mapping[str, Any]) -> Iterator[ReactionRecord]:
        people: dict[str, set[int]] = {}
        for reaction in objects_in(given.get("reactions")):
            user = text_of(reaction.get("user")).lower()
            if user:
                people.setdefault(text_of(reaction.get("emoji_name")), set()).add(self._naming.people.id_of(user))
        for name, users in people.items():
            custom, emoji = self._naming.emojis.get(name), emoji_named(name)
            shown = emoji if custom is None else emoji_name(name)
            if shown is not None:
                emoji_id = None if custom is None else custom[0]
                yield ReactionRecord(name=shown, emoji_id=emoji_id, count=len(users), user_ids=tuple(sorted(users)))

    def _unknown_reactions(self, given: Mapping[str, Any], name: str) -> Iterator[TroubleRecord]:
        for reaction in objects_in(given.get("reactions")):
            emoji = text_of(reaction.get("emoji_name"))
            if emoji not in self._naming.emojis and emoji_named(emoji) is None:
                yield TroubleRecord(what="reaction", name=f"{name}/{emoji}"[:200], reason="file is missing")


def path_of(files: ExportFiles, lines: str, written: str) -> str | None:
    """The path of a file that the lines name."""
    return (files.find(f"data/{written}", lines) or files.find(written, lines)) if written else None


def _props(given: object) -> Mapping[str, Any]:
    """What programs add to a post: an object, or the text of one."""
    if isinstance(given, str):
        try:
            given = orjson.loads(given)
        except ValueError:
            return {}
    return object_in(given)
