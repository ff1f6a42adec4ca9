"""Reads exports of Zulip: the `tar.gz` that it makes, or what that holds in a directory or a ZIP archive: `realm.json`,
`messages-000001.json` and on, `uploads/`, `avatars/` and `emoji/`.

A channel of Zulip becomes a forum, each of its topics a post there, with the id of the first message of the topic: so a
topic that was renamed since is still the same. Portions of messages are read one after the other, entry by entry.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import IO, Any, Final

import attrs

from chat.classes import define
from chat.errors import OperatorError
from chat.imports.discord_values import shown_text, text_of
from chat.imports.export_files import BROKEN, ExportFiles
from chat.imports.form import ChannelRecord, ExpressionRecord, GuildRecord, Record, TroubleRecord
from chat.imports.json_stream import NotJson, rows_of
from chat.imports.made_ids import made_id, thing_id
from chat.imports.naming import Naming
from chat.imports.private_channels import overwrites_for
from chat.imports.wishes import ReadingWish
from chat.imports.zulip_messages import MESSAGES, Stream, ZulipMessages
from chat.imports.zulip_realm import ZulipRealm, milliseconds, number
from chat.registries.channel_types import ChannelType

_PORTION: Final = re.compile(r"(?:.*/)?messages-\d+\.json")
_REALM: Final = "realm.json"


@define(eq=False)
class ZulipExport:
    """The records of an export. `_root` is the folder in it that has the realm, `_scope` tells it from others."""

    _files: ExportFiles
    _root: str
    _scope: str
    _name: str
    _portions: list[str]
    _read_bytes: int = attrs.field(default=0, init=False)
    _open: IO[bytes] | None = attrs.field(default=None, init=False)

    @staticmethod
    def open(files: ExportFiles) -> ZulipExport:
        """Look for the realm. Raises OperatorError where there is none."""
        names = list(files.names())
        roots = [name.removesuffix(_REALM) for name in names if name == _REALM or name.endswith(f"/{_REALM}")]
        if not roots:
            raise OperatorError("there is no realm.json in it, as exports of Zulip have it")
        root = min(roots, key=len)
        try:
            with files.open(f"{root}{_REALM}") as raw:
                _, realm = next(rows_of(raw, ["zerver_realm"]), ("", None))
        except (NotJson, *BROKEN) as error:
            raise OperatorError(f"{root}{_REALM}: {error}") from error
        if realm is None:
            raise OperatorError(f"{root}{_REALM} tells of no realm, as exports of Zulip do")
        portions = [name for name in names if _PORTION.fullmatch(name) and name.startswith(root)]
        portions.sort(key=lambda name: (len(name), name))
        scope = text_of(realm.get("uuid")) or text_of(realm.get("string_id"))
        return ZulipExport(files, root, scope, shown_text(realm.get("name")) or "Zulip", portions)

    @property
    def percent_read(self) -> float:
        """How much of the messages was read, by the bytes of their files."""
        read = self._read_bytes + (0 if self._open is None else self._open.tell())
        return 100.0 * read / max(1, sum(map(self._files.size, self._portions)))

    def read(self, wish: ReadingWish, now_ms: int) -> Iterator[Record]:
        """Every record, in the order in which it can be written; what is later than `now_ms` is from the future."""
        guild_id = thing_id(f"zulip/{self._scope}/guild")
        yield GuildRecord(id=guild_id, name=self._name, icon=self._files.find(f"{self._root}realm_icons/icon.png"))
        realm = ZulipRealm(self._files, self._root, self._scope)
        yield from realm.load()
        custom: dict[str, tuple[int, bool]] = {}
        if wish.files:
            yield from self._emojis(realm, custom)
        places: dict[int, Stream] = {}
        for recipient, stream_id in sorted(realm.stream_of.items()):
            row = realm.streams.get(stream_id)
            if row is not None:
                yield from self._stream(realm, recipient, stream_id, row, places, guild_id, wish, now_ms)
        naming = Naming(realm.people, {one.name.lower(): one.id for one in places.values()}, custom)
        messages = ZulipMessages(self._files, self._root, realm, now_ms, naming, places)
        for name in self._portions:
            yield from self._portion(messages, name, wish)
            self._read_bytes += self._files.size(name)

    def _emojis(self, realm: ZulipRealm, custom: dict[str, tuple[int, bool]]) -> Iterator[Record]:
        for name, (path, animated) in realm.emojis.items():
            if path is None:
                yield TroubleRecord(what="expression", name=name[:200], reason="file is missing")
                continue
            emoji_id = thing_id(f"zulip/{self._scope}/emoji/{name}")
            custom[name] = emoji_id, animated
            yield ExpressionRecord(id=emoji_id, what="emojis", name=name, path=path, animated=animated)

    def _stream(
        self,
        realm: ZulipRealm,
        recipient: int,
        stream_id: int,
        row: Mapping[str, Any],
        places: dict[int, Stream],
        guild_id: int,
        wish: ReadingWish,
        now_ms: int,
    ) -> Iterator[Record]:
        name = text_of(row.get("name"))
        moment = min(milliseconds(row.get("date_created")) or 0, now_ms)
        channel_id = made_id(moment, f"zulip/{self._scope}/stream/{stream_id}")
        if not (str(stream_id) in wish.channels or wish.takes_channel(channel_id, shown_text(name))):
            return
        is_private = row.get("invite_only") is not False
        told = realm.members.get(recipient, []) if is_private else []
        allowed, troubles = overwrites_for(guild_id, [realm.people.id_of(one) for one in told], name)
        yield from troubles
        yield from realm.people.named()
        if row.get("deactivated"):
            yield TroubleRecord(what="setting", name=f"{name[:150]}: deactivated", reason="stays behind")
        yield ChannelRecord(
            id=channel_id,
            type=int(ChannelType.GUILD_FORUM),
            name=shown_text(name) or "?",
            topic=text_of(row.get("description")).strip() or None,
            position=len(places),
            overwrites=allowed if is_private else (),
            original_id=str(stream_id),
        )
        places[recipient] = Stream(id=channel_id, name=name)

    def _portion(self, messages: ZulipMessages, name: str, wish: ReadingWish) -> Iterator[Record]:
        try:
            with self._files.open(name) as raw:
                self._open = raw
                for _, given in rows_of(raw, [MESSAGES]):
                    if number(given.get("id")) is None:
                        yield TroubleRecord(what="message", name=f"in {name}"[:200], reason="no id")
                    else:
                        yield from messages.records(given, wish)
        except (NotJson, *BROKEN):
            yield TroubleRecord(what="file", name=name[:200], reason="not readable")
        finally:
            self._open = None
