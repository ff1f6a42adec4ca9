"""Under which address the neighbours of this machine are likely to reach it."""

from __future__ import annotations

import socket


def own_address(wildcard: str) -> str | None:
    """The address by which this machine goes out, and by which its neighbours are likely to reach it; nothing is sent.

    None where it goes nowhere.
    """
    family, anywhere = (socket.AF_INET6, "2001:db8::1") if ":" in wildcard else (socket.AF_INET, "192.0.2.1")
    try:
        with socket.socket(family, socket.SOCK_DGRAM) as unconnected:
            unconnected.connect((anywhere, 9))
            address: str = unconnected.getsockname()[0]
    except OSError:
        return None
    return address
