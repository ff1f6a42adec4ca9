"""Whether this server can do its work: for supervisors, load balancers and monitoring."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, Literal

import trio

from chat.classes import frozen
from chat.errors import StorageUnavailable
from chat.store.administration import instance
from chat.store.database import Database
from chat.store.guard import UNGUARDED

TRUSTED_SECONDS: Final = 5.0
"""A store that was written within this time is not tried again."""

RETRY_SECONDS: Final = 1.0
"""How long the outcome of an attempt in vain is told again."""

PATIENCE_SECONDS: Final = 5.0
"""A store that has written nothing by then is told to be stuck."""


@frozen
class Hindrance:
    """What keeps the server from its work: a word for programs, and the reason for people."""

    status: Literal["failing", "draining", "migrating"]
    reason: str


class Readiness:
    """Looks whether the store can be written, and writes where nothing was written lately."""

    def __init__(self, database: Database, is_draining: Callable[[], bool]) -> None:
        self._database = database
        self._is_draining = is_draining
        self._trying = trio.Lock()
        self._tried_at = -RETRY_SECONDS
        self._failure: Hindrance | None = None

    async def hindrance(self) -> Hindrance | None:
        """Why no requests should be sent here; None when they may."""
        if self._is_draining():
            return Hindrance("draining", "this server is going away")
        return await self.failure()

    async def failure(self) -> Hindrance | None:
        """What is wrong with the store; None when it was written lately."""
        if self._is_settled():
            return None
        async with self._trying:  # who asks meanwhile is told the same
            if self._is_settled():
                return None
            if self._failure is None or trio.current_time() - self._tried_at >= RETRY_SECONDS:
                self._failure = await self._attempt()
                self._tried_at = trio.current_time()
            return self._failure

    def _is_settled(self) -> bool:
        database = self._database
        return (
            not database.failing
            and database.write_failure is None
            and trio.current_time() - database.written_at < TRUSTED_SECONDS
        )

    async def _attempt(self) -> Hindrance | None:
        try:
            with trio.fail_after(PATIENCE_SECONDS):
                await self._database.write(instance.touch, guard=UNGUARDED)
        except StorageUnavailable as error:
            because = "" if error.__cause__ is None else f": {error.__cause__}"
            return Hindrance("failing", f"the store cannot be written{because}")
        except trio.TooSlowError:
            return Hindrance("failing", "the store does not answer")
        return None
