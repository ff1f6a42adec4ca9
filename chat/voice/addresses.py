"""Which addresses a client is offered for its media."""

from __future__ import annotations

import ipaddress
from collections.abc import Sequence

import trio

from chat.port.own_address import own_address

LOOPBACKS = ("127.0.0.1", "::1")


def local_addresses(*, with_ipv6: bool) -> list[str]:
    """The addresses by which this machine reaches others."""
    wildcards = ("0.0.0.0", "::") if with_ipv6 else ("0.0.0.0",)  # noqa: S104 - asked about, not listened on
    return [address for wildcard in wildcards if (address := own_address(wildcard)) is not None]


async def address_of(host: str) -> str | None:
    """The address of a host's name, or of itself; None where nothing is known, and for a loopback address."""
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        try:
            found = await trio.socket.getaddrinfo(host, None, type=trio.socket.SOCK_DGRAM)
        except OSError:
            return None
        address = ipaddress.ip_address(found[0][4][0])
    return None if address.is_loopback else str(address)


def candidate_addresses(client: str, public: str | None, local: Sequence[str]) -> list[str]:
    """The addresses for a client, the best first. Addresses of a private network are of use, and shown, to those alone
    who come from one."""
    try:
        address = ipaddress.ip_address(client)
    except ValueError:
        address = None
    outside = [] if public is None else [public]
    if address is not None and address.is_loopback:
        loopback = LOOPBACKS[0] if address.version == 4 else LOOPBACKS[1]
        return list(dict.fromkeys([loopback, *local, *outside]))
    if address is None or address.is_private:
        return list(dict.fromkeys([*local, *outside]))
    shown = [each for each in local if not ipaddress.ip_address(each).is_private]
    return list(dict.fromkeys([*outside, *shown]))
