"""Slow mode (`rate_limit_per_user`): a member waits between two messages in a channel, or between two threads below
it."""

from __future__ import annotations

from collections import OrderedDict
from typing import Final

from chat import wire
from chat.auth.principal import Principal
from chat.classes import define
from chat.clock import iso_timestamp
from chat.domain.core import Core
from chat.errors import ApiError
from chat.registries.error_codes import ErrorCode
from chat.registries.permissions import Permission

BYPASS_SLOWMODE: Final = Permission.BYPASS_SLOWMODE.value

TURNS: Final = 50_000
"""Members and channels whose last message is remembered; the oldest is forgotten first and then need not wait."""


class Slowmode:
    """When each member last wrote in a channel with slow mode; a restart forgets it."""

    def __init__(self) -> None:
        self._sent_at: OrderedDict[tuple[int, int], int] = OrderedDict()

    def take_turn(self, user_id: int, channel_id: int, seconds: int, now_ms: int) -> None:
        """Record that the member writes now.

        :raises ApiError: SLOWMODE_RATE_LIMITED with `retry_after` in seconds while less than `seconds` have passed.
        """
        key = (user_id, channel_id)
        remaining_ms = self.remaining_ms(user_id, channel_id, seconds, now_ms)
        if remaining_ms:
            raise ApiError(ErrorCode.SLOWMODE_RATE_LIMITED, members={"retry_after": remaining_ms / 1000})
        self._sent_at[key] = now_ms
        self._sent_at.move_to_end(key)
        if len(self._sent_at) > TURNS:
            self._sent_at.popitem(last=False)

    def remaining_ms(self, user_id: int, channel_id: int, seconds: int, now_ms: int) -> int:
        """How many milliseconds the member still has to wait; 0 for one who may write."""
        sent_at = self._sent_at.get((user_id, channel_id))
        return 0 if sent_at is None else max(0, sent_at + seconds * 1000 - now_ms)

    def forget(self) -> None:
        """Forget when members wrote, so that all may write."""
        self._sent_at.clear()

    def give_back(self, user_id: int, channel_id: int) -> None:
        """The message was not written after all."""
        self._sent_at.pop((user_id, channel_id), None)


@define(kw_only=True, eq=False)
class SlowmodeStatus:
    """The operation that tells the caller how long to wait."""

    _core: Core
    _slowmode: Slowmode
    """The slow mode of messages; threads have their own."""

    def of_channel(self, principal: Principal, channel_id: int) -> wire.Slowmode:
        """The channel's slow mode in seconds, how many milliseconds the caller still has to wait and until when, and
        whether the caller is exempt.

        :raises ApiError: as `Access.channel`.
        """
        access = self._core.access.channel(principal, channel_id)
        seconds, now_ms = access.channel.rate_limit_per_user, self._core.clock.now_ms()
        bypasses, left = access.may(BYPASS_SLOWMODE), 0
        if seconds and not bypasses:
            left = self._slowmode.remaining_ms(principal.user_id, channel_id, seconds, now_ms)
        return {
            "rate_limit_per_user": seconds,
            "retry_after_ms": left,
            "next_send_allowed_at": iso_timestamp(now_ms + left) if left else None,
            "can_bypass": bypasses,
        }
