"""What an export of Zulip tells beside the messages: people, channels, who is in which, emojis, and the reactions to
all messages, which stand in one table."""

from __future__ import annotations

import bisect
from array import array
from collections.abc import Iterator, Mapping
from typing import Any, Final

import attrs

from chat.classes import define
from chat.imports.discord_values import shown_text, text_of
from chat.imports.export_files import BROKEN, ExportFiles
from chat.imports.form import TroubleRecord
from chat.imports.json_stream import NotJson, objects_of, rows_of
from chat.imports.roster import Known, Roster

_CHANNEL: Final = 2
"""The kind of a recipient that is a channel."""

_PEOPLE: Final = ("zerver_userprofile", "zerver_userprofile_crossrealm", "zerver_userprofile_mirrordummy")
_TABLES: Final = frozenset(
    (*_PEOPLE, "zerver_stream", "zerver_recipient", "zerver_subscription", "zerver_realmemoji", "zerver_reaction")
)
_OF_TIME: Final = 1e11
"""Seconds; what is later cannot be a moment."""


_Paths = Mapping[str, str]


def number(value: object) -> int | None:
    """A whole number as tables have it for ids."""
    return value if type(value) is int and 0 <= value < 1 << 62 else None


def milliseconds(value: object) -> int | None:
    """A moment in seconds as Unix milliseconds."""
    is_moment = isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < _OF_TIME
    return round(value * 1_000) if is_moment and isinstance(value, int | float) else None


@define(eq=False)
class ZulipRealm:
    """The tables, as far as they are needed. A reaction takes 24 bytes."""

    _files: ExportFiles
    _root: str
    scope: str
    people: Roster = attrs.field(init=False)
    keys: dict[str, str] = attrs.field(factory=dict, init=False)
    """By full name: the key of a person."""
    streams: dict[int, Mapping[str, Any]] = attrs.field(factory=dict, init=False)
    stream_of: dict[int, int] = attrs.field(factory=dict, init=False)
    """By recipient: the channel."""
    members: dict[int, list[str]] = attrs.field(factory=dict, init=False)
    """By recipient: the keys of people."""
    emojis: dict[str, tuple[str | None, bool]] = attrs.field(factory=dict, init=False)
    """By name: the path of the picture, and whether it moves."""
    _reactions: tuple[array[int], array[int], array[int]] = attrs.field(init=False)
    """Messages, people, and places in `_names`."""
    _names: dict[tuple[str, str, str], int] = attrs.field(factory=dict, init=False)
    _order: list[int] = attrs.field(factory=list, init=False)

    def __attrs_post_init__(self) -> None:
        self.people = Roster(f"zulip/{self.scope}")
        self._reactions = array("q"), array("q"), array("q")

    def load(self) -> Iterator[TroubleRecord]:
        """Read the tables; tells what is broken."""
        avatars: dict[str, str] = {}
        for one in self._listed("avatars/records.json"):
            path = self._files.find(f"{self._root}avatars/{text_of(one.get('path'))}")
            if path is not None:
                avatars[str(one.get("user_profile_id"))] = path
        emojis = [text_of(one.get("path")) for one in self._listed("emoji/records.json")]
        pictures = {path.rpartition("/")[2]: f"{self._root}emoji/{path}" for path in emojis}
        try:
            with self._files.open(f"{self._root}realm.json") as raw:
                for table, row in rows_of(raw, _TABLES):
                    self._keep(table, row, avatars, pictures)
        except (NotJson, *BROKEN):
            yield TroubleRecord(what="file", name=f"{self._root}realm.json"[:200], reason="not readable")
        self._order = sorted(range(len(self._reactions[0])), key=self._reactions[0].__getitem__)

    def _keep(
        self, table: str, row: Mapping[str, Any], avatars: Mapping[str, str], pictures: Mapping[str, str]
    ) -> None:
        key = number(row.get("id"))
        if key is None:
            return
        if table in _PEOPLE:
            name = text_of(row.get("full_name")) or text_of(row.get("email")).partition("@")[0]
            is_bot = bool(row.get("is_bot")) or table.endswith("crossrealm")
            self.keys.setdefault(name, str(key))
            self.people.know(str(key), Known(name=name, username=name, bot=is_bot, avatar=avatars.get(str(key))))
        elif table == "zerver_stream":
            self.streams[key] = row
        elif table == "zerver_recipient":
            of = number(row.get("type_id"))
            if row.get("type") == _CHANNEL and of is not None:
                self.stream_of[key] = of
        elif table == "zerver_subscription":
            recipient, person = number(row.get("recipient")), number(row.get("user_profile"))
            if recipient is not None and person is not None and row.get("active") is not False:
                self.members.setdefault(recipient, []).append(str(person))
        elif table == "zerver_realmemoji":
            name = shown_text(row.get("name"))
            path = self._files.find(pictures.get(text_of(row.get("file_name")), "?"))
            if name and (name not in self.emojis or not row.get("deactivated")):
                self.emojis[name] = path, bool(row.get("is_animated"))
        else:
            self._keep_reaction(row)

    def _keep_reaction(self, row: Mapping[str, Any]) -> None:
        message, person = number(row.get("message")), number(row.get("user_profile"))
        if message is not None and person is not None:
            told = text_of(row.get("reaction_type")), text_of(row.get("emoji_name")), text_of(row.get("emoji_code"))
            for column, value in zip(
                self._reactions, (message, person, self._names.setdefault(told, len(self._names))), strict=True
            ):
                column.append(value)

    def reactions_to(self, message: int) -> Mapping[tuple[str, str, str], list[str]]:
        """By kind, name and code of the emoji: the keys of people who reacted with it to a message."""
        messages, people, names = self._reactions
        found: dict[int, list[str]] = {}
        at = bisect.bisect_left(self._order, message, key=messages.__getitem__)
        while at < len(self._order) and messages[self._order[at]] == message:
            found.setdefault(names[self._order[at]], []).append(str(people[self._order[at]]))
            at += 1
        return {told: found[place] for told, place in self._names.items() if place in found} if found else {}

    def _listed(self, name: str) -> Iterator[Mapping[str, Any]]:
        """The entries of a list beside the realm; none where it is missing or broken."""
        path = f"{self._root}{name}"
        if self._files.find(path) != path:
            return
        try:
            with self._files.open(path) as raw:
                yield from objects_of(raw)
        except (NotJson, *BROKEN):
            return
