"""Addresses to which people are sent back with a code: which may be registered, and how parameters get into them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final
from urllib.parse import urlencode, urlsplit

DANGEROUS_SCHEMES: Final = frozenset(
    {"about", "blob", "data", "file", "filesystem", "javascript", "vbscript", "view-source"}
)
"""A browser that is sent to one of these runs or shows something in the name of the page that sent it."""

WITH_A_HOST: Final = frozenset({"http", "https"})

_URI: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:[A-Za-z0-9._~:/?\[\]@!$&'()*+,;=%-]+", re.ASCII)
"""An absolute URI in the characters of RFC 3986, without a fragment."""


def is_redirect(address: str) -> bool:
    """Whether an application may register the address: absolute, without a fragment, of no dangerous scheme."""
    if _URI.fullmatch(address) is None:
        return False
    try:
        parts = urlsplit(address)
        host, _ = parts.hostname, parts.port
    except ValueError:
        return False
    scheme = parts.scheme.lower()
    if scheme in DANGEROUS_SCHEMES:
        return False
    return bool(host) if scheme in WITH_A_HOST else bool(parts.netloc or parts.path)


def with_parameters(address: str, parameters: Mapping[str, str | None]) -> str:
    """The address with these parameters behind those that its query has already (RFC 6749 3.1.2); None is left out."""
    query = urlencode({name: value for name, value in parameters.items() if value is not None})
    return f"{address}{'&' if '?' in address else '?'}{query}"
