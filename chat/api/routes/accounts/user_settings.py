"""Operations on an account's settings, in general and for guilds (accounts.md, User settings, User guild settings), and
on Web Push subscriptions, by which browsers are notified of messages."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Annotated, Any, Final, Literal

import attrs

from chat import wire
from chat.api import buckets
from chat.api.fields import OMITTED, Exact, Items, Length, Maybe, Pattern, Range, Snowflake, Timestamp, named_members
from chat.api.operation import Bucket, Policy, Request, Routes
from chat.api.routes.accounts.accounts import Color
from chat.classes import frozen
from chat.clock import iso_timestamp
from chat.domain.accounts.assemble import AccountsArea
from chat.domain.core import Core
from chat.domain.people.assemble import PeopleArea
from chat.errors import InvalidFormBody
from chat.registries.error_codes import FieldCode

routes = Routes(policy=Policy.USER_ONLY)

LIST_MAXIMUM: Final = 1_000
"""Guilds, accounts or domains that one list of the settings may name."""

FOLDERS_MAXIMUM: Final = 200
FOLDER_ID_MINIMUM: Final = -1
INT32_MAXIMUM: Final = (1 << 31) - 1
SYNCED_PREFERENCES_LENGTH: Final = 65_536
"""Characters of base64."""

AFK_SECONDS_MAXIMUM: Final = 3_600

PERSONS_MAXIMUM: Final = 1_000
"""Accounts of which the settings may say whether their messages notify."""

OVERRIDES_MAXIMUM: Final = 2_000
"""Channels and threads that one object may name."""

WINDOW_MINIMUM: Final = -1

GUILD_SETTINGS_CHANGE: Final = Bucket("user:guild:settings", limit=40, window_ms=10_000)

Ids = Annotated[list[Snowflake], Items(0, LIST_MAXIMUM)]
Notifications = Annotated[int, Range(0, 3)]
AllOrNone = Literal[0, 2]
Badges = Annotated[int, Range(0, 3)]
Status = Literal["online", "idle", "dnd", "invisible"]
Locale = Annotated[str, Length(2, 35), Pattern(re.compile(r"[A-Za-z]{2,3}(-[A-Za-z0-9]{2,8})*", re.ASCII))]
Domain = Annotated[str, Length(1, 253)]
TimeOfDay = Annotated[str, Pattern(re.compile(r"([01][0-9]|2[0-3]):[0-5][0-9]", re.ASCII))]
ZeroToOne = Annotated[int, Range(0, 1)]
ZeroToTwo = Annotated[int, Range(0, 2)]


@frozen(kw_only=True)
class Folder:
    """One folder of the guild list."""

    id: Annotated[int, Range(FOLDER_ID_MINIMUM, INT32_MAXIMUM)]
    name: Annotated[str, Length(1, 100)] | None = None
    color: Color | None = None
    flags: Annotated[int, Range(0, INT32_MAXIMUM)] = 0
    icon: Annotated[str, Length(1, 64)] = "folder"
    guild_ids: Ids = attrs.field(factory=list)


@frozen(kw_only=True)
class CustomStatus:
    """What an account says about its state; a custom emoji takes the place of a plain one (gateway.md, Identify)."""

    text: Annotated[str, Length(1, 128)] | None = None
    expires_at: Timestamp | None = None
    emoji_id: Snowflake | None = None
    emoji_name: Annotated[str, Length(1, 32)] | None = None


@frozen(kw_only=True)
class QuietHours:
    """Hours of each day in which the account is not told of messages; they may go over midnight."""

    start: TimeOfDay
    end: TimeOfDay
    timezone: Annotated[str, Length(1, 128)]


@frozen(kw_only=True)
class ChangeSettings:
    """The body of PATCH /v1/users/@me/settings; every member is a setting. Lists and `person_notifications` are sent
    whole."""

    status: Maybe[Status] = OMITTED
    status_resets_at: Maybe[Timestamp | None] = OMITTED
    status_resets_to: Maybe[Status | None] = OMITTED
    theme: Maybe[Literal["dark", "dark_legacy", "coal", "light", "system"]] = OMITTED
    locale: Maybe[Locale] = OMITTED
    restricted_guilds: Maybe[Ids] = OMITTED
    bot_restricted_guilds: Maybe[Ids] = OMITTED
    default_guilds_restricted: Maybe[bool] = OMITTED
    bot_default_guilds_restricted: Maybe[bool] = OMITTED
    inline_attachment_media: Maybe[bool] = OMITTED
    inline_embed_media: Maybe[bool] = OMITTED
    gif_auto_play: Maybe[bool] = OMITTED
    render_embeds: Maybe[bool] = OMITTED
    render_reactions: Maybe[bool] = OMITTED
    animate_emoji: Maybe[bool] = OMITTED
    animate_stickers: Maybe[ZeroToTwo] = OMITTED
    render_spoilers: Maybe[ZeroToTwo] = OMITTED
    message_display_compact: Maybe[bool] = OMITTED
    friend_source_flags: Maybe[Annotated[int, Range(0, 0b111)]] = OMITTED
    incoming_call_flags: Maybe[Annotated[int, Range(0, 0b111111)]] = OMITTED
    group_dm_add_permission_flags: Maybe[Annotated[int, Range(0, 0b111111)]] = OMITTED
    guild_folders: Maybe[Annotated[list[Folder], Items(0, FOLDERS_MAXIMUM)]] = OMITTED
    guild_positions: Maybe[Ids] = OMITTED
    custom_status: Maybe[CustomStatus | None] = OMITTED
    afk_timeout: Maybe[Annotated[int, Range(0, AFK_SECONDS_MAXIMUM)]] = OMITTED
    time_format: Maybe[ZeroToTwo] = OMITTED
    quiet_hours: Maybe[QuietHours | None] = OMITTED
    person_notifications: Maybe[Annotated[dict[Snowflake, AllOrNone], Items(0, PERSONS_MAXIMUM)] | None] = OMITTED
    developer_mode: Maybe[bool] = OMITTED
    trusted_domains: Maybe[Annotated[list[Domain], Items(0, LIST_MAXIMUM)]] = OMITTED
    default_hide_muted_channels: Maybe[bool] = OMITTED
    sensitive_content_friend_dm_filter: Maybe[ZeroToTwo] = OMITTED
    sensitive_content_non_friend_dm_filter: Maybe[ZeroToTwo] = OMITTED
    sensitive_content_guild_filter: Maybe[ZeroToOne] = OMITTED
    suppress_unprivileged_self_mentions: Maybe[bool] = OMITTED
    suppress_unprivileged_self_mentions_bypass_user_ids: Maybe[Ids] = OMITTED
    staff_dm_access_user_ids: Maybe[Ids] = OMITTED
    synced_preferences: Maybe[Annotated[str, Length(0, SYNCED_PREFERENCES_LENGTH)] | None] = OMITTED
    profile_privacy: Maybe[ZeroToTwo] = OMITTED
    default_share_voice_activity: Maybe[bool] = OMITTED


@frozen(kw_only=True)
class ShareVoiceActivity:
    """The body of PUT /v1/users/@me/settings/voice-activity-sharing."""

    share_voice_activity: bool


IDS: Final = frozenset(
    {
        "restricted_guilds",
        "bot_restricted_guilds",
        "guild_positions",
        "suppress_unprivileged_self_mentions_bypass_user_ids",
        "staff_dm_access_user_ids",
    }
)
"""Settings that are lists of snowflakes: text on the wire."""


@routes.operation("GET", "/v1/users/@me/settings", bucket=buckets.USER_SETTINGS)
async def get_settings(request: Request, accounts: AccountsArea) -> wire.UserSettings:
    """The caller's settings."""
    return accounts.user_settings.of_user(request.principal.user_id)


@routes.operation("PATCH", "/v1/users/@me/settings", bucket=buckets.USER_SETTINGS_CHANGE)
async def change_settings(
    request: Request, core: Core, accounts: AccountsArea, body: ChangeSettings
) -> wire.UserSettings:
    """Change the caller's settings; answers all of them."""
    changes = named_members(body)
    status = changes.get("custom_status")
    if status is not None and status.expires_at is not None and status.expires_at <= core.clock.now_ms():
        raise InvalidFormBody.at("custom_status.expires_at", FieldCode.INVALID_FORMAT)
    wire = {name: _wire(name, value) for name, value in changes.items()}
    return await accounts.user_settings.change(request.principal.user_id, wire, request.guard)


@routes.operation("PUT", "/v1/users/@me/settings/voice-activity-sharing", bucket=buckets.VOICE_ACTIVITY_SHARING)
async def share_voice_activity(
    request: Request, accounts: AccountsArea, people: PeopleArea, body: ShareVoiceActivity
) -> wire.PrivateUser:
    """Let all friends hear where the caller speaks, those to come too, or none of them."""
    account = await people.friendships.share_voice_activity(request.principal, body.share_voice_activity)
    return accounts.accounts.own(account)


def _wire(name: str, value: Any) -> Any:
    """A setting's new value as the wire shows it and the store keeps it."""
    if name in IDS:
        return [str(item) for item in value]
    if name == "person_notifications":
        return {str(user_id): level for user_id, level in (value or {}).items()}
    if name == "guild_folders":
        return [
            {**attrs.asdict(folder), "guild_ids": [str(guild_id) for guild_id in folder.guild_ids]} for folder in value
        ]
    if name == "custom_status" and value is not None:
        return _custom_status(value)
    if name == "quiet_hours" and value is not None:
        return attrs.asdict(value)
    if name == "status_resets_at" and value is not None:
        return iso_timestamp(value)
    if name == "synced_preferences":
        return value or ""
    return value


def _custom_status(status: CustomStatus) -> Mapping[str, Any]:
    return {
        "text": status.text,
        "expires_at": None if status.expires_at is None else iso_timestamp(status.expires_at),
        "emoji_id": None if status.emoji_id is None else str(status.emoji_id),
        "emoji_name": None if status.emoji_id is not None else status.emoji_name,
        "emoji_animated": False,
    }


@frozen(kw_only=True)
class UserGuildSettingsMuteConfig:
    """Until when something is muted; `selected_time_window` is the choice, in seconds, that led there."""

    end_time: Timestamp | None = None
    selected_time_window: Annotated[int, Range(WINDOW_MINIMUM, INT32_MAXIMUM)] = WINDOW_MINIMUM


@frozen(kw_only=True)
class ChannelOverride:
    """What holds for one channel instead."""

    collapsed: bool = False
    message_notifications: Notifications = 3
    muted: bool = False
    mute_config: UserGuildSettingsMuteConfig | None = None
    unread_badges: Badges | None = None


@frozen(kw_only=True)
class ChangeGuildSettings:
    """The body of both operations; every member is a setting. `channel_overrides` is sent whole; one that says nothing
    is none."""

    message_notifications: Maybe[Notifications] = OMITTED
    muted: Maybe[bool] = OMITTED
    mute_config: Maybe[UserGuildSettingsMuteConfig | None] = OMITTED
    mobile_push: Maybe[bool] = OMITTED
    suppress_everyone: Maybe[bool] = OMITTED
    suppress_roles: Maybe[bool] = OMITTED
    hide_muted_channels: Maybe[bool] = OMITTED
    channel_overrides: Maybe[Annotated[dict[Snowflake, ChannelOverride | None], Items(0, OVERRIDES_MAXIMUM)] | None] = (
        OMITTED
    )
    unread_badges: Maybe[Badges | None] = OMITTED


@routes.operation("PATCH", "/v1/users/@me/guilds/@me/settings", bucket=GUILD_SETTINGS_CHANGE)
async def change_settings_outside_guilds(
    request: Request, accounts: AccountsArea, body: ChangeGuildSettings
) -> wire.UserGuildSettings:
    """Change the caller's settings for conversations outside of guilds; answers all of them."""
    return await accounts.user_guild_settings.change(request.principal, None, _guild_wire(body))


@routes.operation("PATCH", "/v1/users/@me/guilds/{guild_id}/settings", bucket=GUILD_SETTINGS_CHANGE)
async def change_guild_settings(
    request: Request, accounts: AccountsArea, guild_id: int, body: ChangeGuildSettings
) -> wire.UserGuildSettings:
    """Change the caller's settings for a guild; answers all of them."""
    return await accounts.user_guild_settings.change(request.principal, guild_id, _guild_wire(body))


def _guild_wire(body: ChangeGuildSettings) -> Mapping[str, Any]:
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
    shown = {**attrs.asdict(entry, recurse=False), "mute_config": _mute_config(entry.mute_config)}
    if entry.unread_badges is None:
        del shown["unread_badges"]
    return shown


def _mute_config(config: UserGuildSettingsMuteConfig | None) -> Mapping[str, Any] | None:
    if config is None:
        return None
    end_time = None if config.end_time is None else iso_timestamp(config.end_time)
    return {"end_time": end_time, "selected_time_window": config.selected_time_window}


WORDS_MAXIMUM: Final = 50
WORD_CHARACTERS: Final = 50


@frozen(kw_only=True)
class ChangeNotificationWords:
    """The body of PUT /v1/users/@me/notification-words."""

    words: Annotated[list[Annotated[str, Length(1, WORD_CHARACTERS)]], Items(0, WORDS_MAXIMUM)]


@routes.operation("GET", "/v1/users/@me/notification-words", bucket=buckets.NOTIFICATION_WORDS)
async def get_notification_words(request: Request, accounts: AccountsArea) -> wire.NotificationWords:
    """The words of which the caller is told as of a mention."""
    return {"words": accounts.notification_words.of_user(request.principal.user_id)}


@routes.operation("PUT", "/v1/users/@me/notification-words", bucket=buckets.NOTIFICATION_WORDS_CHANGE)
async def put_notification_words(
    request: Request, accounts: AccountsArea, body: ChangeNotificationWords
) -> wire.NotificationWords:
    """Replace the caller's words by these."""
    return {"words": await accounts.notification_words.put(request.principal, body.words)}


ENDPOINT_CHARACTERS = 2_048
KEY_CHARACTERS = 256
USER_AGENT_CHARACTERS = 512


@frozen(kw_only=True)
class PushKeys:
    """What a browser gives out with a subscription (RFC 8291), in base64 of either alphabet."""

    p256dh: Annotated[str, Length(1, KEY_CHARACTERS)]
    auth: Annotated[str, Exact(), Length(1, KEY_CHARACTERS)] = attrs.field(repr=False)


@frozen(kw_only=True)
class Subscribe:
    """The body of POST /v1/users/@me/push/subscribe, as `PushSubscription.toJSON()` has it."""

    endpoint: Annotated[str, Exact(), Length(1, ENDPOINT_CHARACTERS)] = attrs.field(repr=False)
    keys: PushKeys
    user_agent: Annotated[str, Length(1, USER_AGENT_CHARACTERS)] | None = None


@routes.operation("POST", "/v1/users/@me/push/subscribe", bucket=buckets.PUSH_CHANGE)
async def subscribe_to_push(request: Request, accounts: AccountsArea, body: Subscribe) -> wire.PushSubscribed:
    """Tell a browser of messages while the caller uses no client."""
    return await accounts.push_subscriptions.subscribe(
        request.principal, body.endpoint, body.keys.p256dh, body.keys.auth, body.user_agent
    )


@routes.operation("GET", "/v1/users/@me/push/subscriptions", bucket=buckets.PUSH)
async def list_push_subscriptions(request: Request, accounts: AccountsArea) -> wire.PushSubscriptions:
    """The browsers that are told, the one that subscribed first at the front."""
    return {"subscriptions": accounts.push_subscriptions.of_user(request.principal.user_id)}


@routes.operation("DELETE", "/v1/users/@me/push/subscriptions/{subscription}", bucket=buckets.PUSH_CHANGE)
async def unsubscribe_from_push(request: Request, accounts: AccountsArea, subscription: str) -> wire.PushUnsubscribed:
    """Tell a browser no more. Of one that was not told, or is forgotten already, the answer is the same."""
    await accounts.push_subscriptions.unsubscribe(request.principal.user_id, subscription, request.guard)
    return {"success": True}
