"""An account's folder layout, which every guild that it joins enters and every guild that it leaves goes out of.

Wire facts 5.4: a new guild is added to the folder with id -1; where there is no folder, that one is made.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from typing import Any

from chat.bus.audience import ToAccounts
from chat.bus.bus import Event
from chat.domain.objects.user_settings import DEFAULT_USER_SETTINGS, UNCATEGORISED_FOLDER, user_settings_object
from chat.registries.events import EventName
from chat.store import user_settings
from chat.store.accounts import Account

Folders = list[dict[str, Any]]


def with_guild(folders: Sequence[dict[str, Any]], guild_id: int) -> Folders:
    """The layout with the guild in it; unchanged if it has a place already."""
    name = str(guild_id)
    if any(name in folder["guild_ids"] for folder in folders):
        return list(folders)
    if not folders:
        folders = user_settings_object(DEFAULT_USER_SETTINGS)["guild_folders"]
    target = next((folder for folder in folders if folder["id"] == UNCATEGORISED_FOLDER), folders[0])
    return [{**folder, "guild_ids": [*folder["guild_ids"], name]} if folder is target else folder for folder in folders]


def without_guild(folders: Sequence[dict[str, Any]], guild_id: int) -> Folders:
    """The layout without the guild; folders that people made and that are empty now stay."""
    name = str(guild_id)
    return [{**folder, "guild_ids": [kept for kept in folder["guild_ids"] if kept != name]} for folder in folders]


def enter_guild(connection: sqlite3.Connection, account: Account, guild_id: int) -> dict[str, Any] | None:
    """In a unit of writing: put the guild into the layout. Returns the settings to announce; None for a bot."""
    return None if account.bot else _change(connection, account.id, with_guild, guild_id)


def leave_guild(connection: sqlite3.Connection, account: Account, guild_id: int) -> dict[str, Any] | None:
    """In a unit of writing: take the guild out of the layout. Returns the settings to announce; None for a bot."""
    return None if account.bot else _change(connection, account.id, without_guild, guild_id)


def settings_changed(user_id: int, settings: dict[str, Any]) -> Event:
    """USER_SETTINGS_UPDATE with the whole object."""
    return Event(EventName.USER_SETTINGS_UPDATE, settings, ToAccounts((user_id,)))


def _change(connection: sqlite3.Connection, user_id: int, change: Any, guild_id: int) -> dict[str, Any]:
    stored = user_settings.of_user(connection, user_id)
    settings = user_settings_object(stored)
    settings["guild_folders"] = change(settings["guild_folders"], guild_id)
    user_settings.put(connection, user_id, {**stored, "guild_folders": settings["guild_folders"]})
    return settings
