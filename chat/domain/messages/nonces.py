"""The nonces of messages that were sent a moment ago, in memory alone.

A message sent twice with the same nonce is one message, so a client that got no answer may simply send again.
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

NONCE_MS: Final = 300_000
"""How long a nonce stands for its message."""

NONCES: Final = 20_000
"""Nonces remembered at a time; the oldest is forgotten first."""

NonceKey = tuple[int, int, str]
"""Author, channel, nonce."""


@define(eq=False)
class Sending:
    """One message on its way, or sent, under its nonce. `message_id` is set at its commit."""

    started_at: int
    message_id: int | None = None
    finished: trio.Event = attrs.field(factory=trio.Event)


class Nonces:
    """The message that each recent nonce stands for; in memory only."""

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
