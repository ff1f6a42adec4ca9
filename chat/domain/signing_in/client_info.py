"""What a sign-in tells of where it came from: the program, the system, the place, part of the address."""

from __future__ import annotations

import ipaddress
from typing import Any

from chat.domain.signing_in.geolocation import Place
from chat.domain.signing_in.user_agents import Agent
from chat.store.signing_in.auth_sessions import AuthSession


def client_info(session: AuthSession, agent: Agent, place: Place | None = None) -> dict[str, Any] | None:
    """The auth session object's `client_info` (signing_in.md, Sign-ins); None where nothing is known.

    What a native client says of its system goes before what its user agent does. `place` is where the address is, None
    where that is not known.
    """
    system = session.client_os or agent.system
    location = None if place is None or not any(place.as_members().values()) else place.as_members()
    if system is None and agent.program is None and location is None:
        return None
    return {
        "platform": session.client_platform,
        "os": system,
        "browser": agent.program,
        "device": "mobile" if agent.is_mobile else "desktop",
        "location": location,
    }


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
