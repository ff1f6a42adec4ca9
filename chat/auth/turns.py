"""Turns at work that costs much: few at a time, and a queue that networks share fairly (signing_in.md, Passwords).

There are two queues, and they take turns. Holders wait in one: an account at a network that it has signed in from, or
signed in already. Each has a place of its own there, whatever everybody else does. Strangers wait in the other. In each
the networks take turns, so that a crowd from one of them holds up nobody but itself; where a queue is full, the network
that has the most in it gives one up. Who finds no place, or loses it, is told to come back.
"""

from __future__ import annotations

from collections import OrderedDict, deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final

import attrs
import trio

from chat.auth.client_address import subnet_of
from chat.errors import RateLimited


@attrs.frozen
class Asker:
    """Who asks for a turn: a network, and the account where it is a holder."""

    network: str
    account: int | None = None

    @classmethod
    def at(cls, address: str, account: int | None = None) -> Asker:
        """Somebody at a network address."""
        return cls(subnet_of(address), account)


OURSELVES: Final = Asker("")
"""The program, for its own purposes."""


@attrs.define(eq=False)
class _Waiter:
    asker: Asker
    called: trio.Event = attrs.field(factory=trio.Event)
    has_turn: bool = False


class _Queue:
    """Those who wait, at most `most` altogether, and `most_of_one` of one asker."""

    def __init__(self, most: int, most_of_one: int) -> None:
        self._most = most
        self._most_of_one = most_of_one
        self._waiting: OrderedDict[str, deque[_Waiter]] = OrderedDict()
        """By network; the first network is the next to have a turn."""
        self._count = 0

    def add(self, waiter: _Waiter) -> _Waiter | None:
        """Let somebody wait; the one who cannot any longer for it, who may be the same."""
        network = waiter.asker.network
        own = self._waiting.get(network, deque())
        if sum(other.asker == waiter.asker for other in own) >= self._most_of_one:
            return waiter
        last = None
        if self._count >= self._most:
            largest = max(self._waiting.values(), key=len)
            if len(largest) <= len(own) + 1:  # to change places would do nobody good
                return waiter
            last = largest[-1]
            self.remove(last)
        self._waiting.setdefault(network, own).append(waiter)
        self._count += 1
        return last

    def take(self) -> _Waiter | None:
        """The next whose turn it is, who waits no longer."""
        if not self._waiting:
            return None
        network, waiters = next(iter(self._waiting.items()))
        waiter = waiters[0]
        self.remove(waiter)
        if waiters:
            self._waiting.move_to_end(network)
        return waiter

    def remove(self, waiter: _Waiter) -> None:
        """Let somebody wait no longer."""
        waiters = self._waiting[waiter.asker.network]
        waiters.remove(waiter)
        self._count -= 1
        if not waiters:
            del self._waiting[waiter.asker.network]


class Turns:
    """So many turns at the same time; `holders` and `strangers` are the most who wait, and the most of one asker."""

    def __init__(self, at_once: int, *, holders: tuple[int, int], strangers: tuple[int, int]) -> None:
        self._free = at_once
        self._holders = _Queue(*holders)
        self._strangers = _Queue(*strangers)
        self._next = self._holders
        """The queue that is looked into first."""

    @asynccontextmanager
    async def turn(self, asker: Asker) -> AsyncIterator[None]:
        """Enter once it is the asker's turn.

        :raises RateLimited: when too many wait already.
        """
        if self._free:
            self._free -= 1
        else:
            await self._wait(asker)
        try:
            yield
        finally:
            self._pass_on()

    async def _wait(self, asker: Asker) -> None:
        queue = self._strangers if asker.account is None else self._holders
        waiter = _Waiter(asker)
        refused = queue.add(waiter)
        if refused is waiter:
            raise RateLimited(1.0, "shared")
        if refused is not None:
            refused.called.set()
        try:
            await waiter.called.wait()
        except trio.Cancelled:
            if waiter.has_turn:
                self._pass_on()
            elif not waiter.called.is_set():
                queue.remove(waiter)
            raise
        if not waiter.has_turn:
            raise RateLimited(1.0, "shared")

    def _pass_on(self) -> None:
        first = self._next
        second = self._strangers if first is self._holders else self._holders
        for queue, other in ((first, second), (second, first)):
            waiter = queue.take()
            if waiter is not None:
                self._next = other
                waiter.has_turn = True
                waiter.called.set()
                return
        self._free += 1
