"""What a sign-in tells its holder about where it came from: the program, the system, part of the address.

Program and system are guessed from the User-Agent header when somebody looks, so a better guess needs no migration.
"""

from __future__ import annotations

import ipaddress
from typing import Any, Final

from chat.store.auth_sessions import AuthSession

_SYSTEMS: Final = (
    ("iphone", "iOS"),
    ("ipad", "iPadOS"),
    ("android", "Android"),
    ("windows", "Windows"),
    ("cros", "ChromeOS"),
    ("mac os", "macOS"),
    ("macintosh", "macOS"),
    ("linux", "Linux"),
)
"""Part of a user agent and the system it betrays; the first that fits counts, as Android says Linux too."""

_BROWSERS: Final = (
    ("edg/", "Edge"),
    ("opr/", "Opera"),
    ("firefox/", "Firefox"),
    ("fxios/", "Firefox"),
    ("crios/", "Chrome"),
    ("chrome/", "Chrome"),
    ("safari/", "Safari"),
    ("curl/", "curl"),
    ("python", "Python"),
    ("node", "Node.js"),
)
"""As above, for programs: Chrome says Safari, Edge and Opera say Chrome."""

_MOBILE_SYSTEMS: Final = frozenset({"iOS", "iPadOS", "Android"})


def client_info(session: AuthSession) -> dict[str, Any] | None:
    """The auth session object's `client_info` (wire facts 5.4); None where nothing is known."""
    agent = (session.user_agent or "").lower()
    system = session.client_os or _first(_SYSTEMS, agent)
    browser = _first(_BROWSERS, agent)
    if system is None and browser is None:
        return None
    mobile = system in _MOBILE_SYSTEMS or "mobile" in agent
    return {
        "platform": session.client_platform,
        "os": system,
        "browser": browser,
        "device": "mobile" if mobile else "desktop",
        "location": None,
    }


def _first(table: tuple[tuple[str, str], ...], agent: str) -> str | None:
    return next((name for part, name in table if part in agent), None)


def masked_address(address: str | None) -> str | None:
    """An address with its own part hidden: the last number of IPv4, all but the first three groups of IPv6."""
    if address is None:
        return None
    try:
        parsed = ipaddress.ip_address(address)
    except ValueError:
        return None
    if isinstance(parsed, ipaddress.IPv4Address):
        return address.rpartition(".")[0] + ".*"
    return ":".join(parsed.exploded.split(":")[:3]) + ":*"
