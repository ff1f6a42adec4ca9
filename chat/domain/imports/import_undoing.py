"""Takes out again what an import brought, as far as nobody here has touched it since: portion by portion, so that it
can be broken off and begun again.

A message stays that somebody here has edited, reacted to, saved or answered, and one whose author somebody has claimed:
whoever wants those gone gives the claim back first. So does a channel with a message in it, a role that a member has,
and a person whom something that stays names or whom somebody has claimed.
"""

from __future__ import annotations

import sqlite3
from collections import Counter, defaultdict
from collections.abc import Collection, Sequence
from typing import Final

import attrs

from chat.classes import define
from chat.domain.administration import server_notes
from chat.domain.core import Core
from chat.errors import OperatorError
from chat.registries.imports import ImportState
from chat.store.guard import UNGUARDED
from chat.store.guilds import channels, expressions, roles
from chat.store.imports import imports, leftovers, portions
from chat.store.imports.imports import Import
from chat.store.messages import message_search_entries, messages

LOOKED_AT: Final = 400
"""Imported messages that one unit looks at."""

THINGS_AT_ONCE: Final = 50


@define(eq=False)
class ImportUndoing:
    _core: Core

    async def undo(self, import_id: int) -> dict[str, str | int]:
        """Take it out; how much of each kind went and stayed. Raises OperatorError for one that was undone."""
        made = imports.by_id(self._core.database.reader, import_id)
        if made is None:
            raise OperatorError(f"there is no import {import_id}")
        if made.state is ImportState.UNDONE:
            raise OperatorError(f"import {import_id} was undone before")
        went: Counter[str] = Counter()
        answered = await self._core.database.read(lambda connection: leftovers.answered_since(connection, import_id))
        after: int | None = 0
        while after is not None:
            after = await self._messages(made, after, answered, went)
        for kind in ("expression", "channel", "role", "person"):
            await self._things(made, kind, went)

        def unit(connection: sqlite3.Connection) -> tuple[int, int]:
            now = self._core.clock.now_ms()
            imports.put(connection, attrs.evolve(made, state=ImportState.UNDONE, changed_at=now, completed_at=now))
            server_notes.leave(connection, server_notes.guild_imported(made.guild_id), now)
            return leftovers.count(connection, import_id), leftovers.claimed(connection, import_id)

        stayed, claimed = await self._core.database.write(unit, guard=UNGUARDED)
        kinds = ("message", "expression", "channel", "role", "person")
        gone = {f"{kind}s": went[kind] for kind in kinds}
        return {"id": str(import_id), "state": "undone", **gone, "stayed": stayed, "claimed": claimed}

    async def _messages(self, made: Import, after: int, answered: Collection[int], went: Counter[str]) -> int | None:
        """One unit; behind which message the next one begins, None at the end."""

        def unit(connection: sqlite3.Connection) -> tuple[int, int | None]:
            ids, last = portions.page_of(connection, made.id, after, LOOKED_AT)
            untouched = portions.untouched_among(connection, ids, made.created_at)
            gone = [message_id for message_id in untouched if message_id not in answered]
            self._delete(connection, gone)
            missing = portions.missing_among(connection, ids)  # deleted here before
            portions.forget(connection, [*gone, *missing])
            return len(gone), last

        count, last = await self._core.database.write(unit, guard=UNGUARDED)
        went["message"] += count
        return last

    @staticmethod
    def _delete(connection: sqlite3.Connection, message_ids: Sequence[int]) -> None:
        by_channel: dict[int, list[int]] = defaultdict(list)
        for message_id, channel_id in portions.known_among(connection, message_ids).channels.items():
            by_channel[channel_id].append(message_id)
        for channel_id, ids in by_channel.items():
            messages.delete_many(connection, channel_id, ids)
            leftovers.recount_channel(connection, channel_id, len(ids))
        message_search_entries.bring_up_to_date(connection, LOOKED_AT)

    async def _things(self, made: Import, kind: str, went: Counter[str]) -> None:
        """Threads before channels, channels before categories: what is above goes once nothing is below it."""
        found = leftovers.undoable(self._core.database.reader, kind, made.id)
        for start in range(0, len(found), THINGS_AT_ONCE):
            some = found[start : start + THINGS_AT_ONCE]

            def unit(connection: sqlite3.Connection, some: Sequence[int] = some) -> int:
                gone = [thing_id for thing_id in some if self._take_out(connection, made, kind, thing_id)]
                imports.forget_things(connection, kind, gone)
                return len(gone)

            went[kind] += await self._core.database.write(unit, guard=UNGUARDED)

    @staticmethod
    def _take_out(connection: sqlite3.Connection, made: Import, kind: str, thing_id: int) -> bool:
        if kind == "expression":
            leftovers.delete_picture(connection, thing_id)
            expressions.delete(connection, thing_id)
            return True
        if kind == "channel":
            if leftovers.channel_is_used(connection, thing_id):
                return False
            channels.delete(connection, thing_id)
            return True
        if kind == "role":
            if leftovers.role_is_used(connection, made.guild_id, thing_id):
                return False
            roles.delete(connection, made.guild_id, thing_id)
            return True
        return leftovers.delete_person(connection, made.guild_id, thing_id)
