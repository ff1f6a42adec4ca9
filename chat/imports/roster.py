"""The people of an export by what they were called there. A person's record comes before the first thing that names
them; who is never named does not come."""

from __future__ import annotations

from collections.abc import Iterator

import attrs

from chat.classes import define, frozen
from chat.imports.discord_values import shown_text
from chat.imports.form import PersonRecord
from chat.imports.made_ids import thing_id


@frozen(kw_only=True)
class Known:
    """What an export tells of a person; `avatar` is the path of the picture."""

    name: str = ""
    username: str = ""
    bot: bool = False
    avatar: str | None = None


@define(eq=False)
class Roster:
    """Gives ids to people. `scope` tells which service they are of."""

    _scope: str
    _known: dict[str, Known] = attrs.field(factory=dict, init=False)
    _ids: dict[str, int] = attrs.field(factory=dict, init=False)
    _waiting: list[PersonRecord] = attrs.field(factory=list, init=False)

    def know(self, key: str, told: Known) -> None:
        """The export tells of somebody; what it told first counts."""
        self._known.setdefault(key, told)

    def knows(self, key: str) -> bool:
        """Whether the export told of somebody."""
        return key in self._known

    def id_of(self, key: str) -> int:
        """The id of somebody who is named here."""
        found = self._ids.get(key)
        if found is None:
            found = self._ids[key] = thing_id(f"{self._scope}/person/{key}")
            told = self._known.get(key, Known())
            self._waiting.append(
                PersonRecord(
                    id=found,
                    name=shown_text(told.name) or shown_text(told.username) or shown_text(key) or "?",
                    username=shown_text(told.username) or shown_text(key) or None,
                    bot=told.bot,
                    avatar=told.avatar,
                    original_id=key[:200],
                )
            )
        return found

    def named(self) -> Iterator[PersonRecord]:
        """Those who were named since this was asked last."""
        waiting, self._waiting = self._waiting, []
        yield from waiting
