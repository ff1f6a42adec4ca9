"""Telling a channel that somebody types (people.md, Typing)."""

from __future__ import annotations

from chat.auth.principal import Principal
from chat.bus.bus import Event
from chat.classes import define
from chat.domain.core import Core
from chat.domain.standing.access import GuildChannelAccess, require_message_channel
from chat.domain.standing.private_channels import PrivateChannelAccess
from chat.domain.standing.user_objects import partial_user
from chat.registries.events import EventName
from chat.registries.guild_values import DisabledOperation
from chat.registries.permissions import Permission


@define(kw_only=True, eq=False)
class TypingIndicators:
    """The operation Typing Start; it stores nothing."""

    _core: Core

    async def start(self, principal: Principal, channel_id: int) -> None:
        """Tell those who see the channel that the caller types, unless the guild's typing events are off.

        :raises ApiError: as `Access.channel`; CANNOT_SEND_MESSAGES_IN_NON_TEXT_CHANNEL, MISSING_PERMISSIONS without
            SEND_MESSAGES, COMMUNICATION_DISABLED; CANNOT_SEND_MESSAGES_TO_USER (blocked, either way).
        """
        access = self._core.access.channel(principal, channel_id)
        require_message_channel(access.channel)
        access.require(Permission.SEND_MESSAGES.value)
        if isinstance(access, PrivateChannelAccess):
            access.conversations.require_unblocked(access)
        now_ms = self._core.clock.now_ms()
        access.require_voice(now_ms)
        if access.disables(DisabledOperation.TYPING_EVENTS.value):
            return
        data: dict[str, object] = {
            "channel_id": str(channel_id),
            "user_id": str(principal.user_id),
            "timestamp": now_ms // 1000,
        }
        if isinstance(access, GuildChannelAccess):
            data["guild_id"] = str(access.state.id)
            data["member"] = access.state.member_object(access.member, partial_user(principal.account))
        self._core.bus.publish(Event(EventName.TYPING_START, data, access.audience()))
