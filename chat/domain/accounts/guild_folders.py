"""An account's folder layout, which every guild that it joins enters and every guild that it leaves goes out of; and
the guilds whose members may not write to it, where a new one stands if the account wants that of new ones.

A new guild is added to the folder with id -1; where there is no folder, that one is made (accounts.md, User settings).
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from chat import wire
from chat.bus.audience import ToAccounts
from chat.bus.bus import Event
from chat.domain.standing.user_objects import UNCATEGORISED_FOLDER, user_settings_object
from chat.registries.events import EventName
from chat.store.accounts import user_settings
from chat.store.accounts.accounts import Account
from chat.store.guilds import guilds

Folders = list["wire.GuildFolder"]

FOLDERS: Final = "guild_folders"
"""The setting that holds the layout."""

POSITIONS: Final = "guild_positions"
"""The setting that shows the order of the guilds in the layout, and changes it."""


def with_guild(folders: Sequence[wire.GuildFolder], guild_id: int) -> Folders:
    """The layout with the guild in it; unchanged if it has a place already."""
    name = str(guild_id)
    if any(name in folder["guild_ids"] for folder in folders):
        return list(folders)
    if not folders:
        folders = user_settings_object({})["guild_folders"]
    target = next((folder for folder in folders if folder["id"] == UNCATEGORISED_FOLDER), folders[0])
    return [{**folder, "guild_ids": [*folder["guild_ids"], name]} if folder is target else folder for folder in folders]


def without_guild(folders: Sequence[wire.GuildFolder], guild_id: int) -> Folders:
    """The layout without the guild; folders that people made and that are empty now stay."""
    name = str(guild_id)
    return [{**folder, "guild_ids": [kept for kept in folder["guild_ids"] if kept != name]} for folder in folders]


def ordered(folders: Sequence[wire.GuildFolder], positions: Sequence[str]) -> Folders:
    """The layout with its guilds, and its folders by their first guilds, in this order. Guilds that are not named come
    last, as they stood; folders without guilds too."""
    rank = {guild_id: place for place, guild_id in enumerate(dict.fromkeys(positions))}
    last = len(rank)

    def of_folder(folder: wire.GuildFolder) -> int:
        return min((rank.get(guild_id, last) for guild_id in folder["guild_ids"]), default=last)

    sorted_within: Folders = [
        {**folder, "guild_ids": sorted(folder["guild_ids"], key=lambda guild_id: rank.get(guild_id, last))}
        for folder in folders
    ]
    return sorted(sorted_within, key=of_folder)


def enter_guild(connection: sqlite3.Connection, account: Account, guild_id: int) -> wire.UserSettings | None:
    """In a unit of writing: put the guild into the layout, and among the restricted ones where the account wants that
    of new guilds. Returns the settings to announce; None for a bot."""
    return None if account.bot else _change(connection, account.id, _entered, guild_id)


def leave_guild(connection: sqlite3.Connection, account: Account, guild_id: int) -> wire.UserSettings | None:
    """In a unit of writing: take the guild out of the layout and from among the restricted ones. Returns the settings
    to announce; None for a bot."""
    return None if account.bot else _change(connection, account.id, _left, guild_id)


def settings_changed(user_id: int, settings: wire.UserSettings) -> Event:
    """USER_SETTINGS_UPDATE with the whole object."""
    return Event(EventName.USER_SETTINGS_UPDATE, settings, ToAccounts((user_id,)))


RESTRICTIONS: Final = {
    "restricted_guilds": "default_guilds_restricted",
    "bot_restricted_guilds": "bot_default_guilds_restricted",
}
"""The lists of guilds whose people, and whose bots, may not write to the account; and whether new guilds join them."""


GUILD_LISTS: Final = frozenset({FOLDERS, *RESTRICTIONS})
"""The settings that name guilds."""


def without_gone(connection: sqlite3.Connection, lists: Mapping[str, Any]) -> Mapping[str, object]:
    """In a unit of writing: some of GUILD_LISTS as they may be stored, without guilds that were deleted."""
    named = {int(name) for folder in lists.get(FOLDERS) or () for name in folder["guild_ids"]}
    named |= {int(name) for setting in RESTRICTIONS for name in lists.get(setting) or ()}
    left = dict(lists)
    for guild_id in guilds.gone(connection, named) if named else ():
        if FOLDERS in left:
            left[FOLDERS] = without_guild(left[FOLDERS], guild_id)
        for setting in RESTRICTIONS.keys() & left.keys():
            left[setting] = [name for name in left[setting] if name != str(guild_id)]
    return left


def _entered(settings: Mapping[str, Any], guild_id: int) -> Mapping[str, object]:
    name = str(guild_id)
    changed: dict[str, object] = {FOLDERS: with_guild(settings[FOLDERS], guild_id)}
    for restricted, by_default in RESTRICTIONS.items():
        if settings[by_default] and name not in settings[restricted]:
            changed[restricted] = [*settings[restricted], name]
    return changed


def _left(settings: Mapping[str, Any], guild_id: int) -> Mapping[str, object]:
    name = str(guild_id)
    changed: dict[str, object] = {FOLDERS: without_guild(settings[FOLDERS], guild_id)}
    for restricted in RESTRICTIONS:
        if name in settings[restricted]:
            changed[restricted] = [kept for kept in settings[restricted] if kept != name]
    return changed


def _change(
    connection: sqlite3.Connection,
    user_id: int,
    change: Callable[[Mapping[str, Any], int], Mapping[str, object]],
    guild_id: int,
) -> wire.UserSettings:
    stored = user_settings.of_user(connection, user_id)
    settings = user_settings_object(stored)
    changed = change(settings, guild_id)
    user_settings.put(connection, user_id, {**stored, **changed})
    return user_settings_object({**stored, **changed})
