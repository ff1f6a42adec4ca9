"""Whose request it is: the address that limits and lists count by.

The peer's own address counts, unless the peer is a trusted proxy: then the last address of X-Forwarded-For that is
not a trusted proxy itself. Headers of anybody else are not believed (OWASP ASVS 15.3.4).
"""

from __future__ import annotations

import ipaddress
from collections.abc import Iterable, Sequence
from typing import Final

import attrs

Network = ipaddress.IPv4Network | ipaddress.IPv6Network
Address = ipaddress.IPv4Address | ipaddress.IPv6Address

FORWARDED_FOR: Final = b"x-forwarded-for"
TEST_ADDRESS: Final = b"x-test-address"


def _networks(texts: Iterable[str]) -> tuple[Network, ...]:
    return tuple(ipaddress.ip_network(text, strict=False) for text in texts)


@attrs.frozen
class ClientAddresses:
    """The rule in force: setting `trusted_proxies` (addresses or networks) and `gateway.address_header_for_tests`.

    Raises ValueError for a network that is none.
    """

    trusted_proxies: tuple[Network, ...] = attrs.field(default=(), converter=_networks)
    test_header: bool = False

    def resolve(self, peer: str, headers: Sequence[tuple[bytes, bytes]]) -> str:
        """The client's address as text; header names are in lower case."""
        if not self.trusted_proxies and not self.test_header:
            return peer
        address = parse_address(peer)
        if address is None:
            return peer
        if self.test_header and address.is_loopback:
            stated = parse_address(b"".join(value for name, value in headers if name == TEST_ADDRESS).decode("latin-1"))
            if stated is not None:
                return str(stated)
        if self._is_trusted(address):
            address = self._forwarded(address, headers)
        return str(address)

    def _forwarded(self, proxy: Address, headers: Sequence[tuple[bytes, bytes]]) -> Address:
        listed = b",".join(value for name, value in headers if name == FORWARDED_FOR).decode("latin-1")
        nearest = proxy
        for text in reversed(listed.split(",")):
            address = parse_address(text)
            if address is None:
                break  # what lies beyond was written by someone unknown
            nearest = address
            if not self._is_trusted(address):
                break
        return nearest

    def _is_trusted(self, address: Address) -> bool:
        return any(address in network for network in self.trusted_proxies)


def parse_address(text: str) -> Address | None:
    """An IP address as headers have it: perhaps in brackets, perhaps with a port; an IPv4-mapped one as IPv4."""
    bare = text.strip()
    if bare.startswith("["):
        bare = bare[1:].partition("]")[0]
    elif bare.count(":") == 1:
        bare = bare.partition(":")[0]
    try:
        address = ipaddress.ip_address(bare)
    except ValueError:
        return None
    if isinstance(address, ipaddress.IPv6Address) and address.ipv4_mapped is not None:
        return address.ipv4_mapped
    return address
