"""Reads exports of Slack: a ZIP archive, or what it holds in a directory. `channels.json`, `groups.json` and
`users.json` tell of channels and people; each channel has a folder with a file for each day.

Days are read one after the other over all channels, so messages come about in the order in which they were written, and
no more than one message is in memory. The id of a message is made from its moment, which is its id in Slack, too.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator, Mapping
from typing import IO, Any, Final

import attrs

from chat.classes import define
from chat.errors import OperatorError
from chat.imports.discord_values import object_in, objects_in, shown_text, text_of
from chat.imports.export_files import BROKEN, ExportFiles
from chat.imports.form import ChannelRecord, GuildRecord, Record, TroubleRecord
from chat.imports.json_stream import NotJson, objects_of
from chat.imports.made_ids import made_id, thing_id
from chat.imports.naming import Naming
from chat.imports.private_channels import overwrites_for
from chat.imports.roster import Known, Roster
from chat.imports.slack_messages import SlackChannel, SlackMessages, Stamp
from chat.imports.slack_text import SlackText
from chat.imports.wishes import ReadingWish
from chat.registries.channel_types import ChannelType

_DAY: Final = re.compile(r"\d{4}-\d{2}-\d{2}\.json")
_OPEN, _PRIVATE, _DIRECT = "channels.json", "groups.json", ("dms.json", "mpims.json")
GUILD_ID: Final = thing_id("slack/guild")


@define(eq=False)
class SlackExport:
    """The records of an export. `_root` is the folder in it that has the lists."""

    _files: ExportFiles
    _root: str
    _troubles: list[TroubleRecord]
    _channels: list[tuple[Mapping[str, Any], bool]]
    """As the lists tell of them, and whether they are private."""
    _folders: dict[str, str]
    """By name or id of a channel: its folder."""
    _days: list[tuple[str, str]]
    """The day and the file, in order."""
    _read_bytes: int = attrs.field(default=0, init=False)
    _open: IO[bytes] | None = attrs.field(default=None, init=False)

    @staticmethod
    def open(files: ExportFiles) -> SlackExport:
        """Read the lists. Raises OperatorError where there are none."""
        names = list(files.names())
        roots = {posixpath.dirname(name) for name in names if posixpath.basename(name) in (_OPEN, _PRIVATE)}
        if not roots:
            raise OperatorError("there is neither channels.json nor groups.json in it, as exports of Slack have them")
        root = min(roots, key=len)
        troubles: list[TroubleRecord] = []
        found = [(one, False) for one in _list(files, root, _OPEN, troubles)]
        found += [(one, True) for one in _list(files, root, _PRIVATE, troubles)]
        direct: set[str] = set()
        for name in _DIRECT:
            for one in _list(files, root, name, troubles):
                called = text_of(one.get("name")) or text_of(one.get("id"))
                direct |= {text_of(one.get("name")), text_of(one.get("id"))}
                troubles.append(TroubleRecord(what="channel", name=called[:200], reason="direct messages"))
        days = [(posixpath.basename(name), name) for name in names if _DAY.fullmatch(posixpath.basename(name))]
        folders = {posixpath.basename(posixpath.dirname(name)): posixpath.dirname(name) for _, name in days}
        own = {text_of(one.get(key)) for one, _ in found for key in ("name", "id")}
        strange = sorted(folders.keys() - own - direct)
        troubles += [TroubleRecord(what="channel", name=one[:200], reason="unknown kind") for one in strange]
        days = sorted(day for day in days if posixpath.basename(posixpath.dirname(day[1])) in own)
        return SlackExport(files, root, troubles, found, folders, days)

    @property
    def percent_read(self) -> float:
        """How much of the export was read, by the bytes of its days."""
        read = self._read_bytes + (0 if self._open is None else self._open.tell())
        return 100.0 * read / max(1, sum(self._files.size(name) for _, name in self._days))

    def read(self, wish: ReadingWish, now_ms: int) -> Iterator[Record]:
        """Every record, in the order in which it can be written; what is later than `now_ms` is from the future."""
        yield from self._troubles
        yield GuildRecord(id=GUILD_ID, name="Slack")
        people = Roster("slack")
        yield from self._know(people)
        made: dict[str, SlackChannel] = {}
        for place, (given, is_private) in enumerate(self._channels):
            yield from self._channel(given, place, people, made, wish, now_ms, is_private=is_private)
        text = SlackText(Naming(people, {one.key: one.id for one in made.values()}, {}))
        messages = SlackMessages(self._files, now_ms, people, text)
        by_folder = {one.folder: one for one in made.values()}
        for _, name in self._days:
            of = by_folder.get(posixpath.dirname(name))
            if of is not None:
                yield from self._day(messages, name, of, wish)
            self._read_bytes += self._files.size(name)

    def _know(self, people: Roster) -> Iterator[TroubleRecord]:
        troubles: list[TroubleRecord] = []
        for given in _list(self._files, self._root, "users.json", troubles):
            profile = object_in(given.get("profile"))
            shown = [profile.get("display_name"), profile.get("real_name"), given.get("real_name"), given.get("name")]
            key = text_of(given.get("id"))
            people.know(
                key,
                Known(
                    name=next(filter(None, map(shown_text, shown)), ""),
                    username=text_of(given.get("name")),
                    bot=bool(given.get("is_bot")),
                    avatar=self._picture(key, profile),
                ),
            )
        yield from troubles

    def _picture(self, key: str, profile: Mapping[str, Any]) -> str | None:
        for size in ("original", "512", "192", "72"):
            address = text_of(profile.get(f"image_{size}"))
            for place in (address, f"__avatars/{key}/{posixpath.basename(address)}") if address else ():
                path = self._files.find(place, f"{self._root}/x" if self._root else "")
                if path is not None:
                    return path
        return None

    def _channel(
        self,
        given: Mapping[str, Any],
        place: int,
        people: Roster,
        made: dict[str, SlackChannel],
        wish: ReadingWish,
        now_ms: int,
        *,
        is_private: bool,
    ) -> Iterator[Record]:
        key, name = text_of(given.get("id")), text_of(given.get("name"))
        key = key or name
        created = given.get("created")
        moment = created * 1_000 if type(created) is int and 0 < created * 1_000 <= now_ms else 0
        channel_id = made_id(moment, f"slack/channel/{key}")
        is_wanted = key in wish.channels or wish.takes_channel(channel_id, shown_text(name))
        if not key or key in made or not is_wanted:
            return
        if given.get("is_archived"):
            yield TroubleRecord(what="setting", name=f"{name[:150]}: is_archived", reason="stays behind")
        members = given.get("members")
        told = list(map(text_of, members)) if is_private and isinstance(members, list) else []
        allowed, troubles = overwrites_for(GUILD_ID, [people.id_of(one) for one in told if one], name)
        yield from troubles
        yield from people.named()
        texts = [text_of(object_in(given.get(one)).get("value")).strip() for one in ("topic", "purpose")]
        yield ChannelRecord(
            id=channel_id,
            type=int(ChannelType.GUILD_TEXT),
            name=shown_text(name) or "?",
            topic="\n".join(filter(None, texts)) or None,
            position=place,
            overwrites=allowed if is_private else (),
            original_id=key[:200],
        )
        pins = [(Stamp.of(pin.get("id")), pin.get("created")) for pin in objects_in(given.get("pins"))]
        made[key] = SlackChannel(
            key=key,
            id=channel_id,
            folder=self._folders.get(name) or self._folders.get(key) or f"{self._root}/{name}",
            is_general=bool(given.get("is_general")),
            pinned={
                pin.text: at * 1_000 if type(at) is int and 0 <= at * 1_000 <= now_ms else 0
                for pin, at in pins
                if pin is not None
            },
        )

    def _day(self, messages: SlackMessages, name: str, of: SlackChannel, wish: ReadingWish) -> Iterator[Record]:
        try:
            with self._files.open(name) as raw:
                self._open = raw
                for given in objects_of(raw):
                    yield from messages.records(given, of, wish)
        except (NotJson, *BROKEN):
            yield TroubleRecord(what="file", name=name[:200], reason="not readable")
        finally:
            self._open = None


def _list(files: ExportFiles, root: str, name: str, troubles: list[TroubleRecord]) -> Iterator[Mapping[str, Any]]:
    """The objects of a list beside the others; none where there is no such file."""
    path = posixpath.join(root, name)
    if files.find(path) != path:
        return
    try:
        with files.open(path) as raw:
            yield from objects_of(raw)
    except (NotJson, *BROKEN):
        troubles.append(TroubleRecord(what="file", name=path[:200], reason="not readable"))
