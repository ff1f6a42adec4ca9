"""Slowmode: how long a member waits between messages of a channel (`rate_limit_per_user`)."""

from __future__ import annotations

from collections import OrderedDict
from typing import Final

from chat.errors import ApiError

REMEMBERED: Final = 50_000
"""Members and channels whose last message is remembered; the oldest is forgotten first and then need not wait."""


class Slowmode:
    """Remembers in memory when each member last wrote in a channel with slowmode; a restart forgets it."""

    def __init__(self) -> None:
        self._sent_at: OrderedDict[tuple[int, int], int] = OrderedDict()

    def take_turn(self, user_id: int, channel_id: int, seconds: int, now_ms: int) -> None:
        """Note that the member writes now.

        :raises ApiError: SLOWMODE_RATE_LIMITED with `retry_after` in seconds while less than `seconds` have passed.
        """
        key = (user_id, channel_id)
        remaining_ms = self.remaining_ms(user_id, channel_id, seconds, now_ms)
        if remaining_ms:
            raise ApiError("SLOWMODE_RATE_LIMITED", members={"retry_after": remaining_ms / 1000})
        self._sent_at[key] = now_ms
        self._sent_at.move_to_end(key)
        if len(self._sent_at) > REMEMBERED:
            self._sent_at.popitem(last=False)

    def remaining_ms(self, user_id: int, channel_id: int, seconds: int, now_ms: int) -> int:
        """For how long the member has yet to wait, in milliseconds; 0 for one who may write."""
        sent_at = self._sent_at.get((user_id, channel_id))
        return 0 if sent_at is None else max(0, sent_at + seconds * 1000 - now_ms)

    def forget(self) -> None:
        """Nobody need wait."""
        self._sent_at.clear()

    def give_back(self, user_id: int, channel_id: int) -> None:
        """The message was not written after all."""
        self._sent_at.pop((user_id, channel_id), None)
