"""Banned networks at gateway nodes: the core writes the list, nodes refuse sockets by it. The whole list lies at one
key of the broker, and a smaller key tells when it has changed."""

from __future__ import annotations

from typing import Final

import orjson
import trio

from chat.auth.address_bans import REASON, AddressBans, BlockedNetworks, Refusals
from chat.classes import define
from chat.clock import Clock
from chat.nodes.broker import Broker, BrokerUnavailable
from chat.store.signing_in.address_bans import AddressBan

LIST: Final = "bans"
VERSION: Final = "bans:version"

LOOK_SECONDS: Final = 0.5
"""How often both sides look for a changed list, in seconds."""

KEEP_SECONDS: Final = 60.0
AGAIN_SECONDS: Final = 20.0
"""How often the list is written again, since a broker may lose it; a node that cannot read it keeps the last one."""


@define(eq=False)
class RefusalsAtCore:
    """Writes the list whenever it has changed."""

    _broker: Broker
    _bans: AddressBans
    _clock: Clock
    epoch: int = 0
    """The number of this life of the core."""

    async def keep(self) -> None:
        """Write the list when it changes, until cancelled."""
        written, again_at = -1, float("-inf")
        while True:
            changes, now = self._bans.changes, trio.current_time()
            if changes != written or now >= again_at:
                try:
                    await self._write(changes)
                    written, again_at = changes, now + AGAIN_SECONDS
                except BrokerUnavailable:
                    pass  # soon again
            await trio.sleep(LOOK_SECONDS)

    async def _write(self, changes: int) -> None:
        bans, blocked, exempt = self._bans.standing()
        values = {"now": self._clock.now_ms(), "bans": bans, "blocked": blocked, "exempt": exempt}
        version = f"{self.epoch}:{changes}".encode()
        await self._broker.put({LIST: orjson.dumps(values)}, seconds=KEEP_SECONDS)
        await self._broker.put({VERSION: version}, seconds=KEEP_SECONDS)


class RefusalsAtNode(Refusals):
    """The list as the core last wrote it; its times are the core's."""

    def __init__(self) -> None:
        super().__init__(self._core_ms, BlockedNetworks(), ())
        self._version: bytes | None = None
        self._ahead_ms = 0

    def _core_ms(self) -> int:
        return round(trio.current_time() * 1000) + self._ahead_ms

    async def look(self, broker: Broker) -> None:
        """Read the list again if it has changed. Raises BrokerUnavailable."""
        (version,) = await broker.get(VERSION)
        if version is None or version == self._version:
            return
        (written,) = await broker.get(LIST)
        if written is not None:
            self._version = version
            self._take(written)

    def _take(self, written: bytes) -> None:
        values = orjson.loads(written)
        self._ahead_ms = values["now"] - round(trio.current_time() * 1000)
        self._bans = {network: AddressBan(network, REASON, 0, ends) for network, ends in values["bans"].items()}
        self._blocked.replace(values["blocked"])
        self._exempt = self.networks_of(values["exempt"])
