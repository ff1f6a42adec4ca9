"""Addresses to which people are sent back with a code: which may be registered, and how parameters get into them."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Mapping
from typing import Final
from urllib.parse import urlencode, urlsplit

_URI: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:[A-Za-z0-9._~:/?\[\]@!$&'()*+,;=%-]+", re.ASCII)
"""An absolute URI in the characters of RFC 3986, without a fragment."""


def is_redirect(address: str) -> bool:
    """Whether an application may register the address: https, http on the machine itself, or a program's own scheme;
    absolute, without fragment and user information (applications.md, Applications and bots; RFC 8252 7; RFC 9700
    4.1)."""
    if _URI.fullmatch(address) is None:
        return False
    try:
        parts = urlsplit(address)
        host, _ = parts.hostname, parts.port
    except ValueError:
        return False
    if "@" in parts.netloc:
        return False
    match parts.scheme:
        case "https":
            return bool(host)
        case "http":
            return host is not None and _is_of_this_machine(host)
        case scheme:  # its dot tells a program's own scheme from those that everybody knows
            return "." in scheme and bool(parts.netloc or parts.path)


def _is_of_this_machine(host: str) -> bool:
    try:
        return host == "localhost" or ("%" not in host and ipaddress.ip_address(host).is_loopback)
    except ValueError:
        return False


def with_parameters(address: str, parameters: Mapping[str, str | None]) -> str:
    """The address with these parameters behind those that its query has already (RFC 6749 3.1.2); None is left out."""
    query = urlencode({name: value for name, value in parameters.items() if value is not None})
    return f"{address}{'&' if '?' in address else '?'}{query}"
