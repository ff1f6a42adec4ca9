"""The origin in addresses that are handed out: `public_url`, or what the request itself was sent to.

A server that listens on more than loopback and was not told its `public_url` cannot know by which name it is reached.
So an answer that goes to one client alone names the host of its request. What many receive at once, or by mail, must
not follow what one of them sent: it names `shared`.
"""

from __future__ import annotations

import ipaddress
import re
from typing import Final

_HOST: Final = re.compile(r"(?P<host>\[[0-9A-Fa-f:.]{2,45}\]|[A-Za-z0-9.-]{1,253})(?::(?P<port>[0-9]{1,5}))?", re.ASCII)
_LABEL: Final = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?", re.ASCII)
PORTS: Final = range(1, 65_536)


class Origins:
    """Knows the origin of each address. `shared` is `public_url` unless it is said."""

    def __init__(self, public_url: str, *, follows_host: bool = False, shared: str | None = None) -> None:
        self._public_url = public_url
        self._scheme: Final = public_url.partition(":")[0]
        self.follows_host: Final = follows_host
        self.shared: Final = public_url if shared is None else shared

    @property
    def fixed(self) -> str:
        """`public_url`, or nothing where answers follow their requests: addresses are relative then."""
        return "" if self.follows_host else self._public_url

    def of(self, host: str | None) -> str:
        """The origin for the answer to a request with this `Host`; a malformed `Host` counts as not sent."""
        if not self.follows_host or host is None or not is_host(host):
            return self._public_url
        return f"{self._scheme}://{host.lower()}"


def is_host(text: str) -> bool:
    """Whether this is a host with or without a port: an address, or a name of letters, digits and hyphens."""
    match = _HOST.fullmatch(text)
    if match is None or (match["port"] is not None and int(match["port"]) not in PORTS):
        return False
    host: str = match["host"]
    if host.startswith("["):
        return _is_address(host[1:-1])
    labels = host.split(".")
    if labels[-1].isdecimal():  # no top-level name is a number
        return _is_address(host)
    return all(map(_LABEL.fullmatch, labels))


def _is_address(text: str) -> bool:
    try:
        ipaddress.ip_address(text)
    except ValueError:
        return False
    return True
