"""Whose address a request comes from: the peer's, or what a trusted proxy says about it.

Only a peer on a trusted network is believed, and of what proxies have noted only the part that trusted ones vouch for:
`X-Forwarded-For` is read from the right, and the first address that is no trusted proxy is the client's. `Forwarded`
(RFC 7239) is read in the same way where a request has no `X-Forwarded-For`. What a trusted proxy notes and is no
address stands for nobody: its request has the address UNREADABLE, and is refused where banned ones are.
"""

from __future__ import annotations

import collections
import functools
import ipaddress
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Final

import structlog

FORWARDED_FOR: Final = "x-forwarded-for"
FORWARDED: Final = "forwarded"
FORWARDED_HEADERS: Final = frozenset(
    {FORWARDED_FOR, FORWARDED, "via", "x-forwarded-host", "x-forwarded-proto", "x-real-ip"}
)
"""By one of these a request tells that it came through a proxy; only the first two are ever believed."""

UNREADABLE: Final = "unreadable"
"""In place of a client's address that a trusted proxy names in no way that can be read."""

HOP_CHARACTERS: Final = 80
"""How much of an unreadable hop the log shows."""

_HOP: Final = re.compile(r"\[([^\[\]]*)\](?::[\w.-]*)?|([^:]*):[\w.-]*|(.*)", re.ASCII | re.DOTALL)
"""`[v6]` and `[v6]:port`, `v4:port`, and an address alone; a port may be a hidden one (RFC 7239, section 6)."""

_FOR: Final = re.compile(r"(?:.*;)?[ \t]*for[ \t]*=[ \t]*([^;]*)(?:;.*)?", re.ASCII | re.IGNORECASE | re.DOTALL)
"""One element of `Forwarded` that names who asked."""

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
        self._unclear: set[str] = set()
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

    def of(
        self,
        peer: str,
        forwarded_for: Sequence[str] = (),
        test_address: str | None = None,
        forwarded: Sequence[str] = (),
    ) -> str:
        """The client's address, or UNREADABLE. `forwarded_for` are the values of X-Forwarded-For, in the order of
        arrival, `forwarded` those of Forwarded."""
        if not self._trusted and (test_address is None or not self._test_header):
            return peer
        address = parse_address(peer)
        if address is None:
            return peer
        if self._test_header and test_address is not None and address.is_loopback:
            named = parse_address(test_address)
            return peer if named is None else str(named)
        hops = _split(forwarded_for) or _named_by(_split(forwarded))
        while hops and self._is_trusted(address):
            hop = hops.pop()
            named = _hop_address(hop)
            if named is None:
                self._tell_unclear(peer, hop)
                return UNREADABLE
            address = named
        return str(address)

    def _tell_unclear(self, peer: str, hop: str) -> None:
        """Tell the operator once of each trusted proxy that does not name its clients."""
        if peer in self._unclear or len(self._unclear) >= UNNAMED_MAXIMUM:
            return
        self._unclear.add(peer)
        log.error(
            "a trusted proxy names no address for its client: the request is refused",
            peer=peer,
            named=hop[:HOP_CHARACTERS],
            remedy="have the proxy write the client's address, or take it out of trusted_proxies: all its clients then"
            " count as one",
        )

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
    """The address in text, without its zone, IPv4 inside IPv6 unwrapped; None for anything else."""
    named, _, _ = text.partition("%")
    try:
        address = ipaddress.ip_address(named if ":" in named else text)
    except ValueError:
        return None
    if isinstance(address, ipaddress.IPv6Address) and address.ipv4_mapped is not None:
        return address.ipv4_mapped
    return address


def _split(values: Iterable[str]) -> list[str]:
    """The members of a header that is a list. A comma parts them within quotes too: no quote that a client leaves open
    may swallow what a proxy writes behind it."""
    return [member for value in values for part in value.split(",") if (member := part.strip())]


def _named_by(elements: Sequence[str]) -> list[str]:
    """Whom the elements of `Forwarded` name; none where it is not about that, and empty text for one that names none
    beside others that do."""
    matches = [_FOR.fullmatch(element) for element in elements]
    return [match[1].strip() if match else "" for match in matches] if any(matches) else []


def _hop_address(hop: str) -> _Address | None:
    """The address that a proxy notes, with or without quotes, brackets and a port; None for `unknown` and its like."""
    text = hop[1:-1].strip() if len(hop) > 1 and hop[0] == hop[-1] == '"' else hop
    address = parse_address(text)
    if address is not None:
        return address
    match = _HOP.fullmatch(text)
    return None if match is None else parse_address(match[1] or match[2] or match[3] or "")


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
