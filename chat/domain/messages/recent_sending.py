"""What the server remembers of messages sent a moment ago, in memory alone: their nonces, and slow mode.

A message sent twice with the same nonce is one message, so a client that got no answer may simply send again. With slow
mode (`rate_limit_per_user`) a member waits between messages of a channel.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final

import attrs
import trio

from chat.classes import define
from chat.clock import Clock
from chat.errors import ApiError
from chat.registries.error_codes import ErrorCode

NONCE_MS: Final = 300_000
"""How long a nonce stands for its message."""

NONCES: Final = 20_000
"""Nonces remembered at a time; the oldest is forgotten first."""

TURNS: Final = 50_000
"""Members and channels whose last message is remembered; the oldest is forgotten first and then need not wait."""

NonceKey = tuple[int, int, str]
"""Author, channel, nonce."""


@define(eq=False)
class Sending:
    """One message on its way, or sent, under its nonce. `message_id` is set at its commit."""

    started_at: int
    message_id: int | None = None
    finished: trio.Event = attrs.field(factory=trio.Event)


class Nonces:
    """Which message each recent nonce led to; in memory."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._sendings: OrderedDict[NonceKey, Sending] = OrderedDict()

    @asynccontextmanager
    async def sending(self, key: NonceKey) -> AsyncIterator[Sending]:
        """The nonce is this caller's for as long as the block runs; others that bring it wait.

        Where `message_id` is set already, the message was sent before and must not be sent again. At the commit of the
        message `sent` is called; a block that ends before that frees the nonce.
        """
        while (earlier := self._recent(key)) is not None:
            if earlier.message_id is not None:
                yield earlier
                return
            await earlier.finished.wait()
        sending = self._sendings[key] = Sending(self._clock.now_ms())
        if len(self._sendings) > NONCES:
            self._sendings.popitem(last=False)
        try:
            yield sending
        finally:
            sending.finished.set()
            if sending.message_id is None and self._sendings.get(key) is sending:
                self.forget(key)

    def sent(self, key: NonceKey, message_id: int) -> None:
        """The message under this nonce is committed, even if its sender no longer waits for that."""
        sending = self._sendings.setdefault(key, Sending(self._clock.now_ms()))
        sending.message_id = message_id

    def forget_all(self) -> None:
        """Every nonce is free."""
        self._sendings.clear()

    def forget(self, key: NonceKey) -> None:
        """The message behind the nonce is gone: the nonce is free."""
        self._sendings.pop(key, None)

    def _recent(self, key: NonceKey) -> Sending | None:
        sending = self._sendings.get(key)
        if sending is None or self._clock.now_ms() - sending.started_at <= NONCE_MS:
            return sending
        self.forget(key)
        return None


class Slowmode:
    """When each member last wrote in a channel with slow mode; a restart forgets it."""

    def __init__(self) -> None:
        self._sent_at: OrderedDict[tuple[int, int], int] = OrderedDict()

    def take_turn(self, user_id: int, channel_id: int, seconds: int, now_ms: int) -> None:
        """Note that the member writes now.

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
        """For how long the member has yet to wait, in milliseconds; 0 for one who may write."""
        sent_at = self._sent_at.get((user_id, channel_id))
        return 0 if sent_at is None else max(0, sent_at + seconds * 1000 - now_ms)

    def forget(self) -> None:
        """Let every member write."""
        self._sent_at.clear()

    def give_back(self, user_id: int, channel_id: int) -> None:
        """The message was not written after all."""
        self._sent_at.pop((user_id, channel_id), None)
