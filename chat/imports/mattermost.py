"""Reads Mattermost's bulk exports: a file of JSON lines, or a ZIP archive or a directory with that file and `data/`.

Teams, channels and people come before the posts; what is known of them is kept, posts are read one by one. A post has
no id in there: its own is made of its moment, channel and author.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import IO, Any, Final

import attrs
import orjson

from chat.classes import define
from chat.errors import OperatorError
from chat.imports.discord_values import object_in, objects_in, shown_text, text_of
from chat.imports.export_files import BROKEN, LINES, ExportFiles
from chat.imports.form import ChannelRecord, ExpressionRecord, GuildRecord, Record, TroubleRecord
from chat.imports.made_ids import thing_id
from chat.imports.mattermost_posts import MattermostPosts, Post, path_of
from chat.imports.naming import Naming
from chat.imports.private_channels import overwrites_for
from chat.imports.roster import Known, Roster
from chat.imports.wishes import ReadingWish
from chat.registries.channel_types import ChannelType

LINE_BYTES: Final = 32 << 20
"""The longest line that is read: a post with all its answers."""

VERSION: Final = 1
_DIRECT: Final = frozenset({"direct_channel", "direct_post"})

Line = tuple[str, Mapping[str, Any]]


@define(eq=False)
class _Team:
    """What was read before the posts. `channels` are by team and name; `members` of private ones."""

    scope: str = ""
    titles: dict[str, str] = attrs.field(factory=dict)
    channels: dict[tuple[str, str], Mapping[str, Any]] = attrs.field(factory=dict)
    members: dict[tuple[str, str], list[str]] = attrs.field(factory=dict)
    emojis: dict[str, str] = attrs.field(factory=dict)
    """The paths of their pictures."""


@define(eq=False)
class MattermostExport:
    """The records of an export. `_lines` is the path of the file."""

    _files: ExportFiles
    _lines: str
    _open: IO[bytes] | None = attrs.field(default=None, init=False)
    _known: _Team = attrs.field(factory=_Team, init=False)
    _people: Roster = attrs.field(init=False)
    _places: dict[tuple[str, str], int] = attrs.field(factory=dict, init=False)
    """The ids of channels that were written, by team and name."""
    _posts: MattermostPosts | None = attrs.field(default=None, init=False)

    @staticmethod
    def open(files: ExportFiles) -> MattermostExport:
        """Look at the first line. Raises OperatorError where it is none of an export."""
        for name in files.names():
            if not name.endswith(LINES):
                continue
            try:
                with files.open(name) as raw:
                    kind, value = _line(raw.readline(LINE_BYTES))
            except BROKEN as error:
                raise OperatorError(f"{name}: {error}") from error
            if kind == "version":
                if value.get("version") != VERSION:
                    raise OperatorError(f"{name} is of version {value.get('version')}; this program reads {VERSION}")
                return MattermostExport(files, name)
        raise OperatorError("there is no file of JSON lines in it that begins with a version, as Mattermost exports it")

    @property
    def percent_read(self) -> float:
        """How much of the lines was read, by their bytes."""
        read = 0 if self._open is None else self._open.tell()
        return 100.0 * read / max(1, self._files.size(self._lines))

    def read(self, wish: ReadingWish, now_ms: int) -> Iterator[Record]:
        """Every record, in the order in which it can be written; what is later than `now_ms` is from the future."""
        yield GuildRecord(id=thing_id("mattermost/guild"), name="Mattermost")
        try:
            with self._files.open(self._lines) as raw:
                self._open = raw
                yield from self._read(raw, wish, now_ms)
        except BROKEN:
            yield TroubleRecord(what="file", name=self._lines[:200], reason="not readable")
        finally:
            self._open = None

    def _read(self, raw: IO[bytes], wish: ReadingWish, now_ms: int) -> Iterator[Record]:
        for number, (kind, value) in enumerate(_lines_in(raw), start=1):
            if kind == "post":
                yield from self._begun(wish, now_ms)
                yield from self._post(value, wish)
            elif kind in _DIRECT:
                what = "channel" if kind == "direct_channel" else "message"
                yield TroubleRecord(what=what, name=f"line {number}", reason="direct messages")
            elif kind == "":
                yield TroubleRecord(what="file", name=f"{self._lines[:150]}, line {number}", reason="not readable")
            else:
                self._keep(kind, value)
        yield from self._begun(wish, now_ms)

    def _post(self, value: Mapping[str, Any], wish: ReadingWish) -> Iterator[Record]:
        key = text_of(value.get("team")), text_of(value.get("channel"))
        place = self._places.get(key)
        if self._posts is None or (place is None and wish.channels):
            return
        if place is None:
            yield TroubleRecord(what="message", name="/".join(key)[:200], reason="no channel")
            return
        yield from self._posts.records(value, Post(key=key, channel_id=place), wish)

    # What comes before the posts

    def _keep(self, kind: str, value: Mapping[str, Any]) -> None:
        known = self._known
        match kind:
            case "team":
                name = text_of(value.get("name"))
                known.scope = known.scope or name
                known.titles.setdefault(name, text_of(value.get("display_name")) or name)
            case "channel":
                known.channels.setdefault((text_of(value.get("team")), text_of(value.get("name"))), value)
            case "emoji":
                known.emojis.setdefault(text_of(value.get("name")), text_of(value.get("image")))
            case "user" | "bot":
                self._keep_person(value, is_bot=kind == "bot")

    def _keep_person(self, value: Mapping[str, Any], *, is_bot: bool) -> None:
        username = text_of(value.get("username")).lower()
        whole = f"{text_of(value.get('first_name'))} {text_of(value.get('last_name'))}".strip()
        shown = text_of(value.get("nickname")) or whole or text_of(value.get("display_name"))
        avatar = self._file(text_of(value.get("profile_image")))
        if username:
            self._known.members.setdefault(("", username), [])
            self._roster().know(username, Known(name=shown, username=username, bot=is_bot, avatar=avatar))
        for team in objects_in(value.get("teams")):
            for channel in objects_in(team.get("channels")):
                key = text_of(team.get("name")), text_of(channel.get("name"))
                if self._known.channels.get(key, {}).get("type") == "P":
                    self._known.members.setdefault(key, []).append(username)

    def _roster(self) -> Roster:
        """People are of the server, which an export names by its teams alone."""
        if not hasattr(self, "_people"):
            self._people = Roster(f"mattermost/{self._known.scope}")
        return self._people

    def _file(self, written: str) -> str | None:
        return path_of(self._files, self._lines, written)

    def _begun(self, wish: ReadingWish, now_ms: int) -> Iterator[Record]:
        """Channels and emojis that are not written yet: before the first post all that there are."""
        people, known = self._roster(), self._known
        if self._posts is None:
            emojis = {name: self._file(path) for name, path in known.emojis.items() if wish.files}
            ids = {name: thing_id(f"mattermost/{known.scope}/emoji/{name}") for name in known.emojis}
            naming = Naming(people, {}, {name: (ids[name], False) for name, path in emojis.items() if path is not None})
            self._posts = MattermostPosts(known.scope, now_ms, naming, self._places, self._files, self._lines)
            for name, path in emojis.items():
                if path is None:
                    yield TroubleRecord(what="expression", name=name[:200], reason="file is missing")
                else:
                    yield ExpressionRecord(id=ids[name], what="emojis", name=shown_text(name) or "emoji", path=path)
        for (team, name), value in known.channels.items():
            yield from self._channel(team, name, value, wish)
        known.channels.clear()

    def _channel(self, team: str, name: str, value: Mapping[str, Any], wish: ReadingWish) -> Iterator[Record]:
        channel_id = thing_id(f"mattermost/{self._known.scope}/channel/{team}/{name}")
        title = shown_text(value.get("display_name")) or shown_text(name) or "?"
        if (team, name) in self._places or not (name in wish.channels or wish.takes_channel(channel_id, title)):
            return
        several = len(self._known.titles) > 1
        above = thing_id(f"mattermost/{self._known.scope}/team/{team}") if several else None
        if above is not None and ("", team) not in self._places:
            self._places["", team] = above
            called = shown_text(self._known.titles.get(team, team)) or "?"
            yield ChannelRecord(id=above, type=int(ChannelType.GUILD_CATEGORY), name=called)
        is_private = value.get("type") != "O"
        guild_id = thing_id("mattermost/guild")
        members = [self._roster().id_of(one) for one in self._known.members.pop((team, name), ()) if one]
        allowed, troubles = overwrites_for(guild_id, members, name)
        yield from troubles
        yield from self._roster().named()
        texts = [text_of(value.get(one)).strip() for one in ("header", "purpose")]
        self._places[team, name] = channel_id
        yield ChannelRecord(
            id=channel_id,
            type=int(ChannelType.GUILD_TEXT),
            name=title,
            topic="\n".join(filter(None, texts)) or None,
            parent_id=above,
            position=len(self._places),
            overwrites=allowed if is_private else (),
            original_id=f"{team}/{name}"[:200],
        )


def _lines_in(raw: IO[bytes]) -> Iterator[Line]:
    """What stands in each line; an empty kind for one that cannot be read."""
    while line := raw.readline(LINE_BYTES):
        if len(line) == LINE_BYTES and not line.endswith(b"\n"):
            while (rest := raw.readline(LINE_BYTES)) and not rest.endswith(b"\n"):
                pass
            yield "", {}
        elif line.strip():
            yield _line(line)


def _line(line: bytes) -> Line:
    try:
        value = orjson.loads(line)
    except ValueError:
        value = _borne(line)
    kind = text_of(object_in(value).get("type"))
    return kind, value if kind == "version" else object_in(object_in(value).get(kind))


def _borne(line: bytes) -> object:
    """What the strict reader does not take, as half of a pair."""
    try:
        return json.loads(line)
    except (ValueError, RecursionError):
        return None
