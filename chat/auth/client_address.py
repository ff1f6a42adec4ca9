"""Whose address a request comes from: the peer's, or what a trusted proxy says about it.

Only a peer on a trusted network is believed, and of what proxies have noted only the part that trusted ones vouch for:
`X-Forwarded-For` is read from the right, and the first address that is no trusted proxy is the client's.
"""

from __future__ import annotations

import collections
import functools
import ipaddress
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Final

import structlog

FORWARDED_HEADER: Final = "x-forwarded-for"
FORWARDED_HEADERS: Final = frozenset(
    {FORWARDED_HEADER, "forwarded", "via", "x-forwarded-host", "x-forwarded-proto", "x-real-ip"}
)
"""By one of these a request tells that it came through a proxy; only the first is ever believed."""

UNNAMED_MAXIMUM: Final = 1_000
"""Peers that are remembered to look like proxies; any client may send the header."""

NETWORKS_KEPT: Final = 4_096
"""Addresses of which it is kept what counts as one client with them."""

log: Final = structlog.get_logger("chat.auth")

TEST_HEADER: Final = "x-test-address"

_Address = ipaddress.IPv4Address | ipaddress.IPv6Address
_Network = ipaddress.IPv4Network | ipaddress.IPv6Network


class ClientAddresses:
    """Judges peers and the headers they send.

    `trusted_proxies` are networks, as in `192.0.2.0/24`. `test_header` lets a loopback peer name any address in
    `X-Test-Address` (setting `gateway.address_header_for_tests`).
    """

    def __init__(self, trusted_proxies: Iterable[str] = (), *, test_header: bool = False) -> None:
        self._trusted: tuple[_Network, ...] = ()
        self._unnamed: dict[str, None] = {}
        self.on_unnamed: Callable[[str], None] = lambda _: None
        """Told each proxy that is not trusted once."""
        self.trust(trusted_proxies, test_header=test_header)

    def trust(self, proxies: Iterable[str], *, test_header: bool) -> None:
        """From now on these networks are the trusted proxies."""
        self._trusted = tuple(ipaddress.ip_network(network) for network in proxies)
        self._test_header = test_header

    @property
    def unnamed(self) -> Sequence[str]:
        """The proxies that are not trusted, as far as they were seen."""
        return tuple(self._unnamed)

    def of(self, peer: str, forwarded: Sequence[str] = (), test_address: str | None = None) -> str:
        """The client's address. `forwarded` are the values of X-Forwarded-For, in the order of arrival."""
        if not self._trusted and (test_address is None or not self._test_header):
            return peer
        address = parse_address(peer)
        if address is None:
            return peer
        if self._test_header and test_address is not None and address.is_loopback:
            named = parse_address(test_address)
            return peer if named is None else str(named)
        hops = [hop.strip() for value in forwarded for hop in value.split(",")]
        while hops and self._is_trusted(address):
            hop = parse_address(hops.pop())
            if hop is None:
                break
            address = hop
        return str(address)

    def is_proxy(self, peer: str) -> bool:
        """Whether a peer is a trusted proxy, which speaks for others."""
        if not self._trusted:
            return False
        address = parse_address(peer)
        return address is not None and self._is_trusted(address)

    def is_unnamed_proxy(self, peer: str) -> bool:
        """Whether a peer that sent a forwarded header is no trusted proxy; the first one is told to the operator.

        All who are behind it look like the peer itself, so nothing that the peer is let off may be passed on to them.
        """
        if peer in self._unnamed:
            return True
        address = parse_address(peer)
        if address is not None and self._is_trusted(address):
            return False
        if not self._unnamed:
            log.warning(
                "a forwarded header was ignored: its sender is no trusted proxy",
                peer=peer,
                remedy="if it is a proxy of yours, name it in trusted_proxies; else all its clients count as one",
            )
        if len(self._unnamed) < UNNAMED_MAXIMUM:
            self._unnamed[peer] = None
            self.on_unnamed(peer)
        return True

    def note_unnamed(self, peer: str) -> None:
        """A gateway node has seen this peer, which sent a forwarded header."""
        self.is_unnamed_proxy(peer)

    def was_unnamed_proxy(self, address: str) -> bool:
        """Whether a peer at this address has sent a forwarded header without being trusted."""
        return address in self._unnamed

    def _is_trusted(self, address: _Address) -> bool:
        return any(address in network for network in self._trusted if network.version == address.version)


def is_forwarded(headers: Iterable[str]) -> bool:
    """Whether headers (their names in lower case) tell of a proxy, trusted or not."""
    return not FORWARDED_HEADERS.isdisjoint(headers)


@functools.lru_cache(maxsize=NETWORKS_KEPT)
def network_of(address: str) -> str:
    """What counts as one client where addresses are limited: an IPv4 address, or an IPv6 network of 64 bits."""
    parsed = parse_address(address)
    if parsed is None:
        return address
    if isinstance(parsed, ipaddress.IPv4Address):
        return str(parsed)
    return str(ipaddress.ip_network((parsed.packed[:8] + bytes(8), 64)))


def subnet_of(address: str) -> str:
    """The wider neighbourhood of a client: 24 bits of an IPv4 address, 48 of an IPv6 address (access.md, Address
    bans)."""
    parsed = parse_address(address)
    if parsed is None:
        return address
    return str(ipaddress.ip_network((parsed, 24 if parsed.version == 4 else 48), strict=False))


def parse_address(text: str) -> _Address | None:
    """The address in text, IPv4 inside IPv6 unwrapped; None for anything else."""
    try:
        address = ipaddress.ip_address(text)
    except ValueError:
        return None
    if isinstance(address, ipaddress.IPv6Address) and address.ipv4_mapped is not None:
        return address.ipv4_mapped
    return address


class ConnectionCounts:
    """Counts per address, the 64 bits of an IPv6 network being one, up to `limit` each."""

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self._held: collections.Counter[str] = collections.Counter()

    @contextmanager
    def connection(self, address: str) -> Iterator[bool]:
        """Count a connection for as long as the block lasts; yields whether there was room for it."""
        key = network_of(address)
        if self._held.get(key, 0) >= self.limit:
            yield False
            return
        self._held[key] += 1
        try:
            yield True
        finally:
            self._held[key] -= 1
            if not self._held[key]:
                del self._held[key]

    def held(self, address: str) -> int:
        """How many connections the address holds."""
        return self._held.get(network_of(address), 0)
