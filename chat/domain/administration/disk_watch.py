"""Warns before the disk is full: in the log, in the metrics, in the console, and by mail to those who hold `*`
(administration.md, Storage)."""

from __future__ import annotations

import sqlite3
from typing import Final

import structlog
import trio

from chat.classes import define
from chat.domain.administration.storage import DiskRoom, Storage
from chat.domain.core import Core
from chat.errors import StorageUnavailable
from chat.mail import letters
from chat.mail.letters import Letterhead
from chat.mail.mailer import Mailer
from chat.store.administration import instance, storage
from chat.store.guard import UNGUARDED

LOOK_SECONDS: Final = 600.0

AGAIN_MS: Final = 24 * 3_600_000
"""How long after a warning the next is given while the disk stays as full."""

WARNED: Final = "disk_warned_at"
"""The instance's value with the moment of the last warning; none while there is room."""

MEGABYTE: Final = 1_000_000

log: Final = structlog.get_logger("chat.storage")


@define(kw_only=True, eq=False)
class DiskWatch:
    """Looks how much of the disk is left."""

    _core: Core
    _storage: Storage
    _mailer: Mailer

    async def run(self) -> None:
        """Look at the disk from time to time, for as long as the server runs."""
        while True:
            try:
                await self.look()
            except (StorageUnavailable, OSError):
                log.warning("how full the disk is could not be seen or noted")
            await trio.sleep(LOOK_SECONDS)

    async def look(self) -> DiskRoom:
        """Look once, and warn where it is time to."""
        room = await self._storage.room()
        warned = instance.value_of(self._core.database.reader, WARNED)
        now = self._core.clock.now_ms()
        if not room.is_low:
            if warned is not None:
                await self._core.database.write(
                    lambda connection: instance.remove_value(connection, WARNED), guard=UNGUARDED
                )
        elif warned is None or not 0 <= now - int(warned) < AGAIN_MS:
            log.error(
                "the disk is nearly full",
                free_bytes=room.free_bytes,
                warn_bytes=room.warn_bytes,
                remedy="chat storage shows what takes the room, chat storage clean makes some",
            )
            await self._core.database.write(lambda connection: self._warn(connection, room, now), guard=UNGUARDED)
        return room

    def _warn(self, connection: sqlite3.Connection, room: DiskRoom, now: int) -> None:
        instance.set_value(connection, WARNED, str(now))
        for user_id, address in storage.administrators_with_mail(connection):
            head = Letterhead.to(connection, self._core.settings, user_id)
            free = f"{room.free_bytes / MEGABYTE:,.0f} MB"
            self._mailer.notify(connection, letters.disk_nearly_full(head, address, free=free))
