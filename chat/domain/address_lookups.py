"""What is known of network addresses: their name in DNS, and where they are (document 002, Admin user object).

A look-up that fails, or takes too long, tells nothing, and is no failure of whoever asked.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import attrs


@attrs.frozen
class AddressFacts:
    """What was found out about an address; None where nothing was."""

    reverse: str | None = None
    """Its name in DNS."""
    location: str | None = None
    """Where it is, in words."""


NOTHING_KNOWN = AddressFacts()

Reverse = Callable[[str], Awaitable[str | None]]
"""The name of an address in DNS; None for none, never an exception."""

Locate = Callable[[str], str | None]
"""Where an address is; raises LookupError when the place of it cannot be looked up at all."""


class AddressLookups:
    """Looks addresses up; either half may be missing on an instance."""

    def __init__(self, reverse: Reverse | None = None, locate: Locate | None = None) -> None:
        self._reverse = reverse
        self._locate = locate

    @property
    def locates(self) -> bool:
        """Whether the operator has given a file to locate addresses with."""
        return self._locate is not None

    async def of(self, address: str | None) -> AddressFacts:
        """What can be found out about an address."""
        if address is None:
            return NOTHING_KNOWN
        try:
            location = self.located(address)
        except LookupError:
            location = None
        return AddressFacts(None if self._reverse is None else await self._reverse(address), location)

    def located(self, address: str) -> str | None:
        """Where the address is; None where that is not known.

        :raises LookupError: when the operator's file cannot be read.
        """
        return None if self._locate is None else self._locate(address)
