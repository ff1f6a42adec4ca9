"""How a setting writes a DNS server, or an address to listen on."""

from __future__ import annotations

import ipaddress
from typing import Final
from urllib.parse import urlsplit

DNS_PORT: Final = 53


def address_and_port(text: str) -> tuple[str, int]:
    """The address and the port of `127.0.0.1:9090` or `[::1]:9090`.

    :raises ValueError: for anything else.
    """
    parts = urlsplit(f"//{text}")
    if parts.netloc != text or parts.username is not None or parts.port is None:
        raise ValueError("expected an address and a port")
    return str(ipaddress.ip_address(parts.hostname or "")), parts.port


def host_and_port(name_server: str) -> tuple[str, int]:
    """A name server's address and port, out of `9.9.9.9`, `9.9.9.9:5300`, `2620:fe::fe` or `[2620:fe::fe]:5300`.

    :raises ValueError: for anything else.
    """
    try:
        return str(ipaddress.ip_address(name_server)), DNS_PORT
    except ValueError:
        parts = urlsplit(f"//{name_server}")
        if parts.netloc != name_server or parts.username is not None:
            raise
        port = parts.port
        return str(ipaddress.ip_address(parts.hostname or "")), DNS_PORT if port is None else port
