"""What is known of network addresses: their name in DNS, and where they are (signing_in.md, Client information).

A look-up that fails, or takes too long, tells nothing, and is no failure of whoever asked.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

import attrs
import trio

from chat.domain.signing_in.geolocation import NOWHERE, Geolocation, Place
from chat.domain.signing_in.reverse_dns import ReverseDns

WAITING_SECONDS: Final = 2.5
"""How long an answer may wait for look-ups, whatever the number of addresses in it."""


@attrs.frozen
class AddressFacts:
    """What was found out about an address; None where nothing was."""

    reverse: str | None = None
    """Its name in DNS."""
    location: str | None = None
    """Where it is, in words."""


NOTHING_KNOWN: Final = AddressFacts()


class AddressLookups:
    """Looks addresses up; either half may be missing on an instance."""

    def __init__(self, reverse: ReverseDns | None = None, geolocation: Geolocation | None = None) -> None:
        self._reverse = reverse
        self._geolocation = geolocation

    async def of_all(self, addresses: Iterable[str | None]) -> Findings:
        """What can be found out about the addresses in a few seconds, all at once."""
        wanted = [address for address in dict.fromkeys(addresses) if address]
        names: dict[str, str] = {}
        places: dict[str, Place] = {}
        if wanted:
            async with trio.open_nursery() as nursery:
                if self._reverse is not None:
                    nursery.start_soon(self._reverse.collect, wanted, names, WAITING_SECONDS)
                if self._geolocation is not None:
                    nursery.start_soon(self._geolocation.collect, wanted, places, WAITING_SECONDS)
        return Findings(wanted, names, None if self._geolocation is None else places)

    async def of(self, address: str | None) -> AddressFacts:
        """What can be found out about an address."""
        return (await self.of_all([address])).of(address)

    async def places(self, addresses: Iterable[str | None]) -> Mapping[str, Place]:
        """Where the addresses are, as far as the operator's file tells; nobody outside is asked."""
        places: dict[str, Place] = {}
        if self._geolocation is not None:
            wanted = [address for address in dict.fromkeys(addresses) if address]
            await self._geolocation.collect(wanted, places, WAITING_SECONDS)
        return places


@attrs.frozen
class Findings:
    """What was found out about several addresses."""

    _asked: list[str]
    _names: Mapping[str, str]
    _places: Mapping[str, Place] | None
    """None on an instance without a file to locate addresses with."""

    def of(self, address: str | None) -> AddressFacts:
        """What was found out about one of them."""
        if address is None:
            return NOTHING_KNOWN
        place = NOWHERE if self._places is None else self._places.get(address, NOWHERE)
        return AddressFacts(self._names.get(address), str(place) or None)

    @property
    def located_none(self) -> bool:
        """Whether there is a file to locate addresses with and the look-up failed for each of them.

        An address that the file does not know has been looked up; it has no place.
        """
        return self._places is not None and bool(self._asked) and not self._places
