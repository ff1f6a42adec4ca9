"""Whom and what a text of another service names, as a text here names it."""

from __future__ import annotations

from collections.abc import Mapping

from chat.classes import define
from chat.imports.emoji_names import emoji_named
from chat.imports.marks import escaped
from chat.imports.roster import Roster


@define(eq=False)
class Naming:
    """Looks up people, channels and emojis of one export. `channels` are those that come along, by what texts call
    them; `emojis` are custom ones, by name: the id, and whether it moves."""

    people: Roster
    channels: Mapping[str, int]
    emojis: Mapping[str, tuple[int, bool]]

    def person(self, key: str) -> str:
        """A mention of somebody."""
        return f"<@{self.people.id_of(key)}>"

    def channel(self, key: str, label: str = "") -> str:
        """A channel, or its name where it does not come along."""
        found = self.channels.get(key)
        return escaped(f"#{label or key}") if found is None else f"<#{found}>"

    def emoji(self, name: str) -> str:
        """An emoji by its name; the name where nobody knows it."""
        custom = self.emojis.get(name)
        if custom is not None:
            return f"<{'a' if custom[1] else ''}:{emoji_name(name)}:{custom[0]}>"
        return emoji_named(name) or f":{name}:"


def emoji_name(name: str) -> str:
    """A name as custom emojis have it here."""
    plain = "".join(one if one.isascii() and (one.isalnum() or one == "_") else "_" for one in name[:32])
    return plain if len(plain) >= 2 else f"{plain}__"[:2]
