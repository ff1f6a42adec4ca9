"""Which addresses of the outside may be asked for media: a guard against requests that turn round into the operator's
own network (SSRF).

Every address that a name stands for must be one that is public on the internet, and the connection goes to the
very address that was judged: a name that answers differently a moment later gains nothing.
"""

from __future__ import annotations

import ipaddress
import re
import socket
from collections.abc import Sequence
from typing import Final
from urllib.parse import SplitResult, quote, urlsplit, urlunsplit

import trio

from chat.classes import frozen
from chat.markdown.addresses import host_of

URL_CHARACTERS: Final = 2_048
LEAST_OTHER_PORT: Final = 1_024
"""Below it only 80 and 443 are spoken to: other services there do not serve media."""

_Address = ipaddress.IPv4Address | ipaddress.IPv6Address
_Network = ipaddress.IPv4Network | ipaddress.IPv6Network

_TRANSLATED: Final = ipaddress.ip_network("64:ff9b::/96")
"""NAT64: the last 32 bits are an IPv4 address (RFC 6052)."""


_URL_MARKS: Final = "%/:?#[]@!$&'()*+,;=~-._"
"""What stays as it is in the path, the query and the fragment of an address."""

HOST_CHARACTERS: Final = 253

_VISIBLE: Final = re.compile(r"[!-~]+")
_HOST: Final = re.compile(r"[A-Za-z0-9_-]+(?:\.[A-Za-z0-9_-]+)*\.?", re.ASCII)
"""A name or an IPv4 address; what stands in brackets has been looked at when the address was taken apart."""


class OutsideRefused(Exception):
    """There is nothing at this address, or it may not be asked."""


@frozen
class JudgedTarget:
    """One place to connect to: the address that was judged, and what the URL says."""

    url: SplitResult
    host: str
    port: int
    address: str

    @property
    def path(self) -> str:
        """What the request asks for: path and query."""
        path = self.url.path or "/"
        return f"{path}?{self.url.query}" if self.url.query else path

    @property
    def host_header(self) -> str:
        """The name that the server there knows itself by."""
        name = f"[{self.host}]" if ":" in self.host else self.host
        default = 443 if self.url.scheme == "https" else 80
        return name if self.port == default else f"{name}:{self.port}"


class AddressGuard:
    """Judges outside addresses. `allowed` are networks that may be asked although they are not public."""

    def __init__(self, allowed: Sequence[str] = ()) -> None:
        self._allowed: tuple[_Network, ...] = tuple(ipaddress.ip_network(network) for network in allowed)

    async def target(self, url: str) -> JudgedTarget:
        """Where to connect for this URL.

        :raises OutsideRefused: for what is no plain http or https URL, and for a host that is not, or not only, public.
        """
        parts, host, port = parsed(url)
        try:
            found = await trio.socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
        except (OSError, UnicodeError) as error:
            raise OutsideRefused("the host is not known") from error
        addresses = [str(entry[4][0]) for entry in found]
        if not addresses or not all(self.admits(address) for address in addresses):
            raise OutsideRefused("the host is not public")
        return JudgedTarget(parts, host, port, addresses[0])

    def admits(self, text: str) -> bool:
        """Whether a connection to this address may be made."""
        try:
            address = ipaddress.ip_address(text)
        except ValueError:  # with a zone: link-local at best
            return False
        if any(address.version == network.version and address in network for network in self._allowed):
            return True
        return _is_public(address)


def parsed(url: str) -> tuple[SplitResult, str, int]:
    """A URL in its parts, with host and port.

    :raises OutsideRefused: unless it is http or https, short, without user names, at a port where media are served.
    """
    if len(url) > URL_CHARACTERS or not _VISIBLE.fullmatch(url):
        raise OutsideRefused("the address is malformed")
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError as error:
        raise OutsideRefused("the address is malformed") from error
    if parts.scheme not in {"http", "https"} or not parts.hostname or "@" in parts.netloc or "\\" in url:
        raise OutsideRefused("the address is not plain http or https")
    if port is None:
        port = 443 if parts.scheme == "https" else 80
    if port < LEAST_OTHER_PORT and port not in {80, 443}:
        raise OutsideRefused("nothing is served at this port")
    return parts, parts.hostname, port


def as_asked_for(url: str) -> str | None:
    """The same address in ASCII; None for what is no address, or too long a one."""
    try:
        parts = urlsplit(url)
        host, port = parts.hostname, parts.port
        if not host or len(host) > HOST_CHARACTERS or parts.scheme.lower() not in {"http", "https"}:
            return None
        name = host if host.isascii() else host_of(f"http://{host}")
    except (ValueError, UnicodeError):
        return None
    if ":" not in name and _HOST.fullmatch(name) is None:
        return None
    place = f"[{name}]" if ":" in name else name
    if port is not None:
        place = f"{place}:{port}"
    if "@" in parts.netloc:
        return None
    path, query = (quote(part, safe=_URL_MARKS) for part in (parts.path, parts.query))
    address = urlunsplit((parts.scheme.lower(), place, path, query, quote(parts.fragment, safe=_URL_MARKS)))
    return address if len(address) <= URL_CHARACTERS else None


def _is_public(address: _Address) -> bool:
    if isinstance(address, ipaddress.IPv6Address):
        if address in _TRANSLATED:
            return _is_public(ipaddress.IPv4Address(address.packed[-4:]))
        embedded = address.ipv4_mapped or address.sixtofour
        if embedded is not None:
            return _is_public(embedded)
        if address.teredo is not None or address.is_site_local:
            return False
    return address.is_global and not address.is_multicast and not address.is_reserved and not address.is_unspecified
