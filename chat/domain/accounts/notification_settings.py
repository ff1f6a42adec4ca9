"""What an account wants to be told of a guild, or of its conversations outside of guilds, and whether a message is
among it (accounts.md, User guild settings; messages.md, Push notifications).

What stands nearer counts more: the thread, its channel, the category, the guild as the account has set it, the guild's
own default. What is muted at any of these places is silent, mentions included; a mute with an end is over then. What
the account has chosen for the author itself counts more than all places and their mutes.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import Any, Final, cast
from zoneinfo import ZoneInfo

from chat import wire
from chat.auth.principal import Principal
from chat.bus.audience import Mentions, ToAccounts
from chat.bus.bus import Event
from chat.classes import define, frozen
from chat.clock import iso_timestamp
from chat.domain.core import Core
from chat.errors import ApiError
from chat.registries.channel_types import ThreadMemberFlag
from chat.registries.error_codes import ErrorCode
from chat.registries.events import EventName
from chat.store.accounts import user_settings
from chat.store.guilds import members
from chat.store.threads import ThreadMember

OUTSIDE_GUILDS: Final = 0
"""Stands in the store for what holds outside of guilds."""

ALL_MESSAGES: Final = 0
ONLY_MENTIONS: Final = 1
NO_MESSAGES: Final = 2
INHERIT: Final = 3
"""Values of `message_notifications` (messages.md, Push notifications). INHERIT is as the guild, or the channel's guild,
has them."""

_THREAD_LEVELS: Final = {
    ThreadMemberFlag.NO_MESSAGES.value: NO_MESSAGES,
    ThreadMemberFlag.ONLY_MENTIONS.value: ONLY_MENTIONS,
    ThreadMemberFlag.ALL_MESSAGES.value: ALL_MESSAGES,
}
"""The meaning of a member's choice in a thread; of several flags the first counts."""

DEFAULTS: Final[Mapping[str, Any]] = {
    "message_notifications": INHERIT,
    "muted": False,
    "mute_config": None,
    "mobile_push": True,
    "suppress_everyone": False,
    "suppress_roles": False,
    "hide_muted_channels": False,
    "channel_overrides": None,
    "unread_badges": None,
}
"""The settings of an account that never changed any."""


@define(kw_only=True, eq=False)
class UserGuildSettings:
    """Changes an account's settings for one guild; what was never changed has its default."""

    _core: Core

    async def change(
        self, principal: Principal, guild_id: int | None, changes: Mapping[str, Any]
    ) -> wire.UserGuildSettings:
        """Put new values, as the wire has them, in place of old ones; returns the object with its next version.

        `guild_id` None is for what lies outside of guilds. USER_GUILD_SETTINGS_UPDATE goes to the account's sessions.

        :raises ApiError: as `Access.guild`.
        """
        user_id = principal.user_id
        if guild_id is not None:
            self._core.access.guild(principal, guild_id)

        def unit(connection: sqlite3.Connection) -> wire.UserGuildSettings:
            if guild_id is not None and not members.exists(connection, guild_id, user_id):
                raise ApiError(ErrorCode.MISSING_PERMISSIONS)
            key = OUTSIDE_GUILDS if guild_id is None else guild_id
            before: Mapping[str, Any] = user_settings.of_guild(connection, user_id, key) or {}
            body = {
                "guild_id": None if guild_id is None else str(guild_id),
                **{name: changes.get(name, before.get(name, default)) for name, default in DEFAULTS.items()},
                "version": before.get("version", 0) + 1,
            }
            user_settings.put_of_guild(connection, user_id, key, body)
            return cast("wire.UserGuildSettings", body)

        def then(body: wire.UserGuildSettings) -> None:
            self._core.bus.publish(Event(EventName.USER_GUILD_SETTINGS_UPDATE, body, ToAccounts((user_id,))))

        return await self._core.database.write(unit, then, guard=principal.guard)


@frozen
class HeardMessage:
    """A message as these rules see it. `places` are the ids of its channel and of what is above it, the nearest first;
    `default` is what holds for who chose nothing."""

    places: tuple[int, ...]
    default: int
    mentions: Mentions
    in_thread: bool = False


@frozen
class Listener:
    """An account and what it has chosen: `settings` is its user guild settings object, if it ever changed one."""

    user_id: int
    settings: Mapping[str, Any] | None = None
    in_thread: ThreadMember | None = None
    role_ids: frozenset[int] = frozenset()
    is_online: bool = False
    is_called: bool = False
    """Whether the message has one of the account's notification words."""
    person_level: int | None = None
    """What the account has chosen for the author's messages: ALL_MESSAGES or NO_MESSAGES."""


def is_notified(message: HeardMessage, listener: Listener, now_ms: int) -> bool:
    """Whether the account's devices are told. Blocks, presence and permissions are asked elsewhere."""
    settings: Mapping[str, Any] = listener.settings or {}
    if not settings.get("mobile_push", True):
        return False
    if listener.person_level is not None:
        return listener.person_level == ALL_MESSAGES
    overrides = [found for place in message.places if (found := _override(settings, place)) is not None]
    own = listener.in_thread
    if any(_is_muted(chosen, now_ms) for chosen in (settings, *overrides)):
        return False
    if own is not None and _mutes(own.muted, own.mute_config, now_ms):
        return False
    is_named = listener.user_id in message.mentions.user_ids or listener.is_called
    if message.in_thread and own is None:
        return is_named  # who is not in a thread hears of it when it calls
    level = _level(message, settings, overrides, own)
    if level == ALL_MESSAGES:
        return True
    return level == ONLY_MENTIONS and (is_named or _is_meant(message.mentions, settings, listener))


def zone_of(name: str) -> ZoneInfo | None:
    """The time zone of that name in the IANA database, or None."""
    try:
        return ZoneInfo(name)
    except (ValueError, OSError, LookupError):
        return None


def is_quiet(hours: Mapping[str, str] | None, now_ms: int) -> bool:
    """Whether an account's quiet hours hold, by its setting; a zone that is known no more counts as UTC."""
    if hours is None:
        return False
    now = datetime.fromtimestamp(now_ms / 1_000, zone_of(hours["timezone"]) or UTC).strftime("%H:%M")
    start, end = hours["start"], hours["end"]
    return start <= now < end if start <= end else now >= start or now < end


def _override(settings: Mapping[str, Any], place: int) -> Mapping[str, Any] | None:
    overrides = settings.get("channel_overrides")
    return None if overrides is None else overrides.get(str(place))


def _is_muted(chosen: Mapping[str, Any], now_ms: int) -> bool:
    return _mutes(bool(chosen.get("muted")), chosen.get("mute_config"), now_ms)


def _mutes(muted: bool, config: Mapping[str, Any] | None, now_ms: int) -> bool:
    if not muted or config is None:
        return muted
    end = config.get("end_time")
    return end is None or end > iso_timestamp(now_ms)  # both are of one form, so they compare as text


def _level(
    message: HeardMessage, settings: Mapping[str, Any], overrides: list[Mapping[str, Any]], own: ThreadMember | None
) -> int:
    for level in _levels(settings, overrides, own):
        if level != INHERIT:
            return level
    return message.default


def _levels(settings: Mapping[str, Any], overrides: list[Mapping[str, Any]], own: ThreadMember | None) -> Iterator[int]:
    if own is not None:
        yield next((level for flag, level in _THREAD_LEVELS.items() if own.flags & flag), INHERIT)
    for chosen in (*overrides, settings):
        yield chosen.get("message_notifications", INHERIT)


def _is_meant(mentions: Mentions, settings: Mapping[str, Any], listener: Listener) -> bool:
    """Whether the message means the account as one of many. `here` means those who are online."""
    all_meant = mentions.everyone or (mentions.here and listener.is_online)
    if all_meant and not settings.get("suppress_everyone"):
        return True
    return not settings.get("suppress_roles") and not mentions.role_ids.isdisjoint(listener.role_ids)
