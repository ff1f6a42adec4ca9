"""Operations for this server's own pages and for programs on this machine: no page of another origin reaches them.

A browser names in Host what its address bar says and in Origin whose script it runs, and lets neither be forged. So a
name that somebody else's DNS leads to us is refused, as is every origin but our own, the opaque one (`null`) included.
"""

from __future__ import annotations

from collections.abc import Mapping
from urllib.parse import urlsplit

from chat.auth.client_address import parse_address
from chat.errors import ApiError


def require_same_origin(headers: Mapping[str, str], public_url: str) -> None:
    """Let a request pass whose Host is loopback or that of `public_url`, and whose Origin, if any, is the same.

    :raises ApiError: ACCESS_DENIED.
    """
    host = headers.get("host", "").lower()
    origin = headers.get("origin")
    is_ours = _is_loopback(host) or host == urlsplit(public_url).netloc.lower()
    if not is_ours or (origin is not None and origin.lower() not in {f"http://{host}", f"https://{host}"}):
        raise ApiError("ACCESS_DENIED")


def _is_loopback(host: str) -> bool:
    try:
        name = urlsplit(f"//{host}").hostname
    except ValueError:
        return False
    address = parse_address(name or "")
    return name == "localhost" or (address is not None and address.is_loopback)
