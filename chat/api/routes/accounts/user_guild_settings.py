"""Operations on an account's settings for guilds (accounts.md, User guild settings)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Final

import attrs

from chat.api.fields import OMITTED, Items, Maybe, Range, Snowflake, Timestamp, named_members
from chat.api.operation import Bucket, Policy, Request, Routes
from chat.api.schemas.accounts.users import USER_GUILD_SETTINGS
from chat.clock import iso_timestamp
from chat.domain.accounts.assemble import AccountsArea

routes = Routes()

OVERRIDES_MAXIMUM: Final = 2_000
"""Channels and threads that one object may name."""

WINDOW_MINIMUM: Final = -1
WINDOW_MAXIMUM: Final = (1 << 31) - 1

CHANGE: Final = Bucket("user:guild:settings", limit=40, window_ms=10_000)

Notifications = Annotated[int, Range(0, 3)]
Badges = Annotated[int, Range(0, 3)]


@attrs.frozen(kw_only=True)
class MuteConfig:
    """Until when something is muted; `selected_time_window` is the choice, in seconds, that led there."""

    end_time: Timestamp | None = None
    selected_time_window: Annotated[int, Range(WINDOW_MINIMUM, WINDOW_MAXIMUM)] = WINDOW_MINIMUM


@attrs.frozen(kw_only=True)
class ChannelOverride:
    """What holds for one channel instead."""

    collapsed: bool = False
    message_notifications: Notifications = 3
    muted: bool = False
    mute_config: MuteConfig | None = None
    unread_badges: Badges | None = None


@attrs.frozen(kw_only=True)
class ChangeGuildSettings:
    """The body of both operations; every member is a setting. `channel_overrides` is sent whole; one that says nothing
    is none."""

    message_notifications: Maybe[Notifications] = OMITTED
    muted: Maybe[bool] = OMITTED
    mute_config: Maybe[MuteConfig | None] = OMITTED
    mobile_push: Maybe[bool] = OMITTED
    suppress_everyone: Maybe[bool] = OMITTED
    suppress_roles: Maybe[bool] = OMITTED
    hide_muted_channels: Maybe[bool] = OMITTED
    channel_overrides: Maybe[Annotated[dict[Snowflake, ChannelOverride | None], Items(0, OVERRIDES_MAXIMUM)] | None] = (
        OMITTED
    )
    unread_badges: Maybe[Badges | None] = OMITTED


@routes.operation(
    "PATCH",
    "/v1/users/@me/guilds/@me/settings",
    policy=Policy.USER_ONLY,
    bucket=CHANGE,
    body=ChangeGuildSettings,
    answers=USER_GUILD_SETTINGS,
)
async def change_settings_outside_guilds(request: Request, accounts: AccountsArea, body: ChangeGuildSettings) -> object:
    """Change the caller's settings for conversations outside of guilds; answers all of them."""
    return await accounts.user_guild_settings.change(request.principal, None, _wire(body))


@routes.operation(
    "PATCH",
    "/v1/users/@me/guilds/{guild_id}/settings",
    policy=Policy.USER_ONLY,
    bucket=CHANGE,
    body=ChangeGuildSettings,
    answers=USER_GUILD_SETTINGS,
)
async def change_guild_settings(
    request: Request, accounts: AccountsArea, guild_id: int, body: ChangeGuildSettings
) -> object:
    """Change the caller's settings for a guild; answers all of them."""
    return await accounts.user_guild_settings.change(request.principal, guild_id, _wire(body))


def _wire(body: ChangeGuildSettings) -> Mapping[str, Any]:
    """New values as the wire shows them and the store keeps them."""
    changes = named_members(body)
    if "mute_config" in changes:
        changes["mute_config"] = _mute_config(changes["mute_config"])
    overrides = changes.get("channel_overrides")
    if overrides is not None:
        changes["channel_overrides"] = {
            str(channel_id): _override(entry) for channel_id, entry in overrides.items() if entry is not None
        }
    return changes


def _override(entry: ChannelOverride) -> Mapping[str, Any]:
    shown: dict[str, Any] = {
        "collapsed": entry.collapsed,
        "message_notifications": entry.message_notifications,
        "muted": entry.muted,
        "mute_config": _mute_config(entry.mute_config),
    }
    if entry.unread_badges is not None:
        shown["unread_badges"] = entry.unread_badges
    return shown


def _mute_config(config: MuteConfig | None) -> Mapping[str, Any] | None:
    if config is None:
        return None
    end_time = config.end_time
    return {
        "end_time": None if end_time is None else iso_timestamp(end_time),
        "selected_time_window": config.selected_time_window,
    }
