"""The user settings object as the wire has it (accounts.md, User settings)."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final

UNCATEGORISED_FOLDER: Final = -1
"""The id of the folder that holds the guilds nobody has put into another."""

DEFAULT_USER_SETTINGS: Final[Mapping[str, Any]] = MappingProxyType(
    {
        "status": "online",
        "status_resets_at": None,
        "status_resets_to": None,
        "theme": "system",
        "locale": "en-US",
        "restricted_guilds": (),
        "bot_restricted_guilds": (),
        "default_guilds_restricted": False,
        "bot_default_guilds_restricted": False,
        "inline_attachment_media": True,
        "inline_embed_media": True,
        "gif_auto_play": True,
        "render_embeds": True,
        "render_reactions": True,
        "animate_emoji": True,
        "animate_stickers": 0,
        "render_spoilers": 1,
        "message_display_compact": False,
        "friend_source_flags": 3,
        "incoming_call_flags": 8,
        "group_dm_add_permission_flags": 8,
        "guild_folders": (
            MappingProxyType(
                {
                    "id": UNCATEGORISED_FOLDER,
                    "name": None,
                    "color": None,
                    "flags": 0,
                    "icon": "folder",
                    "guild_ids": (),
                }
            ),
        ),
        "guild_positions": (),
        "custom_status": None,
        "afk_timeout": 600,
        "time_format": 0,
        "developer_mode": False,
        "trusted_domains": (),
        "default_hide_muted_channels": False,
        "sensitive_content_friend_dm_filter": 1,
        "sensitive_content_non_friend_dm_filter": 2,
        "sensitive_content_guild_filter": 1,
        "suppress_unprivileged_self_mentions": False,
        "suppress_unprivileged_self_mentions_bypass_user_ids": (),
        "staff_dm_access_user_ids": (),
        "synced_preferences": "",
        "profile_privacy": 0,
        "default_share_voice_activity": True,
    }
)
"""The settings of an account that never changed any."""


def user_settings_object(stored: Mapping[str, Any]) -> dict[str, Any]:
    """The whole object: what is stored, and the defaults for the rest. The result is the caller's own.

    `guild_positions` is read off the folders, so that the two always agree.
    """
    settings = {name: _own(stored.get(name, default)) for name, default in DEFAULT_USER_SETTINGS.items()}
    placed = (guild_id for folder in settings["guild_folders"] for guild_id in folder["guild_ids"])
    settings["guild_positions"] = list(dict.fromkeys(placed))
    return settings


def _own(value: Any) -> Any:
    """A copy made of plain lists and dicts, which may be changed and encoded."""
    if isinstance(value, Mapping):
        return {name: _own(member) for name, member in value.items()}
    if isinstance(value, list | tuple):
        return [_own(item) for item in value]
    return value
