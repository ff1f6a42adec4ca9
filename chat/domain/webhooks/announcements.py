"""Announcement channels: publishing their messages, and following them from channels of any guild (guilds.md, Guild
features).

A follower is a webhook of type 2 in the following channel, managed and deleted like any other; the copies are what it
writes (`chat.domain.messages.crossposting`).
"""

from __future__ import annotations

import sqlite3
from typing import Final

import attrs

from chat import wire
from chat.auth.principal import Principal
from chat.bus.audience import ToChannel
from chat.bus.bus import Event
from chat.classes import define, frozen
from chat.domain.core import Core
from chat.domain.messages.crossposting import CROSSPOSTED, FOLLOWING_TYPES, IS_CROSSPOST, Crossposting, is_switched_off
from chat.domain.messages.message_events import SystemMessages, WrittenMessage, message_updated
from chat.domain.messages.message_reading import StoredMessages, viewer_of, with_context
from chat.domain.standing.access import GuildChannelAccess
from chat.domain.standing.audit_log import Actor
from chat.domain.webhooks.webhooks import NAME_CHARACTERS, logged_webhook, require_room_for_webhook, sealed_token
from chat.errors import ApiError, InvalidFormBody
from chat.registries.audit_actions import AuditAction
from chat.registries.channel_types import ChannelType
from chat.registries.error_codes import ErrorCode, FieldCode
from chat.registries.events import EventName
from chat.registries.message_types import MessageReferenceType, MessageType
from chat.registries.permissions import Permission
from chat.store.guilds import channels
from chat.store.messages import messages
from chat.store.messages.messages import Message, MessageReference
from chat.store.standing.guild_audit_log import AuditLogEntry
from chat.store.webhooks import crossposts, webhooks
from chat.store.webhooks.crossposts import Follow
from chat.store.webhooks.webhooks import CHANNEL_FOLLOWER, Webhook

PUBLISHABLE_TYPES: Final = frozenset({MessageType.DEFAULT, MessageType.REPLY})
"""Messages that an account wrote; those of the system are about the channel where they stand."""


@frozen
class _Followed:
    """What following wrote; of what is followed already only the webhook."""

    webhook_id: int
    entry: AuditLogEntry | None = None
    told: WrittenMessage | None = None


@frozen
class _Published:
    message: Message
    stored: StoredMessages
    for_caller: StoredMessages
    is_new: bool


@define(kw_only=True, eq=False)
class Announcements:
    _core: Core
    _system_messages: SystemMessages
    _crossposting: Crossposting

    async def crosspost(self, principal: Principal, channel_id: int, message_id: int) -> wire.Message:
        """Publish a message of an announcement channel: one's own, or with MANAGE_MESSAGES any. Channels that follow
        get a copy; a message that is published already stays as it is.

        :raises ApiError: as `Access.guild_channel` with SEND_MESSAGES; FEATURE_TEMPORARILY_DISABLED,
            ANNOUNCEMENT_CHANNEL_REQUIRED, COMMUNICATION_DISABLED, UNKNOWN_MESSAGE, MISSING_PERMISSIONS.
        :raises InvalidFormBody: at `message_id`: INVALID_FORMAT for system messages, copies and forwards;
            POLL_NOT_ALLOWED_HERE for a poll.
        """
        access = self._source(principal, channel_id)
        access.require(Permission.SEND_MESSAGES)
        access.require_voice(self._core.clock.now_ms())
        floor = access.history_floor()
        message = messages.by_id(self._core.database.reader, channel_id, message_id)
        if message is None or floor is None or message_id < floor:
            raise ApiError(ErrorCode.UNKNOWN_MESSAGE)
        if message.author_id != principal.user_id or message.webhook_id is not None:
            access.require(Permission.MANAGE_MESSAGES)
        if not _is_publishable(message):
            raise InvalidFormBody.at("message_id", FieldCode.INVALID_FORMAT)
        if message.extra is not None and message.extra.poll is not None:  # its votes are here
            raise InvalidFormBody.at("message_id", FieldCode.POLL_NOT_ALLOWED_HERE)
        viewer = viewer_of(principal)

        def unit(connection: sqlite3.Connection) -> _Published:
            before = messages.by_id(connection, channel_id, message_id)
            if before is None or channels.guild_of(connection, channel_id) is None:
                raise ApiError(ErrorCode.UNKNOWN_MESSAGE)
            is_new = messages.change_flags(connection, message_id, added=CROSSPOSTED)
            if is_new:
                crossposts.publish(connection, channel_id, message_id)
            after = attrs.evolve(before, flags=before.flags | CROSSPOSTED)
            stored = with_context(connection, [after])
            for_caller = with_context(connection, [after], viewer=viewer) if stored.parts else stored
            return _Published(after, stored, for_caller, is_new)

        def then(published: _Published) -> None:
            renewed = self._core.access.renewed(access)
            if renewed is None or not published.is_new:
                return
            self._core.bus.publish(message_updated(renewed, published.stored, self._core.media_addresses))
            self._crossposting.look_again()

        published = await self._core.database.write(unit, then, guard=principal.guard)
        return published.for_caller.object_of(published.message, self._core.media_addresses, floor)

    async def follow(
        self, principal: Principal, channel_id: int, target_id: int, reason: str | None = None
    ) -> wire.FollowedChannel:
        """Have what is published in a channel brought to another one, by a new webhook there. A channel that follows
        already goes on to.

        :raises ApiError: as `Access.guild_channel`, for the following channel with MANAGE_WEBHOOKS;
            FEATURE_TEMPORARILY_DISABLED, ANNOUNCEMENT_CHANNEL_REQUIRED, INVALID_CHANNEL_TYPE,
            MAX_WEBHOOKS_PER_CHANNEL, MAX_WEBHOOKS_PER_GUILD.
        :raises InvalidFormBody: INVALID_FORMAT at `webhook_channel_id` for the channel itself.
        """
        source = self._source(principal, channel_id)
        target = self._core.access.guild_channel(principal, target_id, Permission.MANAGE_WEBHOOKS)
        if is_switched_off(target.state.guild.features):
            raise ApiError(ErrorCode.FEATURE_TEMPORARILY_DISABLED)
        if target.channel.type not in FOLLOWING_TYPES:
            raise ApiError(ErrorCode.INVALID_CHANNEL_TYPE)
        if target_id == channel_id:
            raise InvalidFormBody.at("webhook_channel_id", FieldCode.INVALID_FORMAT)
        webhook = self._webhook(principal, source, target)
        told = _told(principal, source, target, self._system_messages.new_id())
        actor = Actor(principal.user_id, reason)

        def unit(connection: sqlite3.Connection) -> _Followed:
            known = crossposts.follower_in(connection, channel_id, target_id)
            if known is not None:
                return _Followed(known)
            if channels.guild_of(connection, channel_id) is None or channels.guild_of(connection, target_id) is None:
                raise ApiError(ErrorCode.UNKNOWN_CHANNEL)
            require_room_for_webhook(connection, webhook, self._core.settings.limits)
            webhooks.insert(connection, webhook)
            crossposts.insert_follow(connection, Follow(webhook.id, source.state.id, channel_id))
            action, logged = AuditAction.WEBHOOK_CREATE, logged_webhook(webhook)
            entry = self._core.audit_log.record_change(
                connection, webhook.guild_id, action, actor, webhook.id, {}, logged
            )
            return _Followed(webhook.id, entry, self._system_messages.write(connection, told))

        def then(followed: _Followed) -> None:
            if followed.entry is None:
                return
            self._core.audit_log.publish(followed.entry)
            data = {"guild_id": str(webhook.guild_id), "channel_id": str(target_id)}
            self._core.bus.publish(Event(EventName.WEBHOOKS_UPDATE, data, ToChannel(webhook.guild_id, target_id)))
            self._system_messages.publish(target, followed.told)

        followed = await self._core.database.write(unit, then, guard=principal.guard)
        return {"channel_id": str(channel_id), "webhook_id": str(followed.webhook_id)}

    def _source(self, principal: Principal, channel_id: int) -> GuildChannelAccess:
        """An announcement channel that the caller sees, in a guild where publishing is not switched off."""
        access = self._core.access.guild_channel(principal, channel_id)
        if is_switched_off(access.state.guild.features):
            raise ApiError(ErrorCode.FEATURE_TEMPORARILY_DISABLED)
        if access.channel.type != ChannelType.GUILD_ANNOUNCEMENT:
            raise ApiError(ErrorCode.ANNOUNCEMENT_CHANNEL_REQUIRED)
        return access

    def _webhook(self, principal: Principal, source: GuildChannelAccess, target: GuildChannelAccess) -> Webhook:
        """The new webhook. Its token stays unknown, so no request writes in its name."""
        webhook_id = self._core.snowflakes()
        name = f"{source.state.guild.name} #{source.channel.name}"
        return Webhook(
            id=webhook_id,
            guild_id=target.state.id,
            channel_id=target.channel.id,
            user_id=principal.user_id,
            name=name[:NAME_CHARACTERS].strip(),
            sealed_token=sealed_token(self._core.keys, webhook_id, self._core.mint.secret()),
            type=CHANNEL_FOLLOWER,
        )


def _is_publishable(message: Message) -> bool:
    """Whether an account wrote it here: no system message, copy or forward."""
    if message.type not in PUBLISHABLE_TYPES or message.flags & IS_CROSSPOST:
        return False
    return message.extra is None or not message.extra.snapshots


def _told(principal: Principal, source: GuildChannelAccess, target: GuildChannelAccess, message_id: int) -> Message:
    """What the following channel is told."""
    return Message(
        id=message_id,
        channel_id=target.channel.id,
        author_id=principal.user_id,
        type=MessageType.CHANNEL_FOLLOW_ADD.value,
        content=source.channel.name or "",
        reference=MessageReference(
            channel_id=source.channel.id, message_id=0, guild_id=source.state.id, type=MessageReferenceType.REPLY.value
        ),
    )
