"""Which program and which system a User-Agent header betrays, by the rules of uap-core.

The rules are found out when somebody looks, so better ones need no migration. They are run by a matcher that takes
linear time whatever the header says (ua-parser-rs): anybody may send anything there.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

import attrs
import trio

USER_AGENT_CHARACTERS: Final = 512
"""How much of the header is kept with a sign-in, and looked at."""

_SYSTEMS: Final = {"Mac OS X": "macOS", "Chrome OS": "ChromeOS", "Other": None}
"""What the rules call systems, where people say something else."""

_PROGRAMS: Final = {"Mobile Safari": "Safari", "Other": None}
_PROGRAM_KINDS: Final = (" Mobile iOS", " Mobile WebView", " Mobile", " iOS", " WebView")
"""What the rules add to a program's name on a telephone, as in Chrome Mobile iOS."""

_UNKNOWN_TO_THE_RULES: Final = (
    ("python", "Python"),
    ("node", "Node.js"),
    ("undici", "Node.js"),
)
"""Part of what libraries for bots send, which are no browsers, and the program that it betrays."""

_MOBILE_SYSTEMS: Final = frozenset({"iOS", "iPadOS", "Android"})


@attrs.frozen
class Agent:
    """What a header says; None where it says nothing."""

    system: str | None = None
    program: str | None = None
    is_mobile: bool = False


NO_AGENT: Final = Agent()


class UserAgents:
    """Reads headers; `in_threads` False reads on the loop's thread, for runs on virtual time."""

    def __init__(self, *, in_threads: bool = True) -> None:
        self._limiter = trio.CapacityLimiter(1) if in_threads else None

    async def of_all(self, headers: Iterable[str | None]) -> Mapping[str | None, Agent]:
        """What each of the headers says; None, the header that was not sent, says nothing."""
        wanted = [header for header in dict.fromkeys(headers) if header]
        if not wanted or self._limiter is None:
            return _read_all(wanted)
        # The first one takes a sixth of a second, for the rules; each further one a fraction of a millisecond.
        return await trio.to_thread.run_sync(_read_all, wanted, limiter=self._limiter)


def _read_all(headers: Iterable[str]) -> dict[str | None, Agent]:
    found: dict[str | None, Agent] = {header: agent_of(header) for header in headers}
    found[None] = NO_AGENT
    return found


def agent_of(header: str) -> Agent:
    """What the header says."""
    import ua_parser

    # The matcher reads UTF-8, which has no half of a surrogate pair.
    header = header[:USER_AGENT_CHARACTERS].encode(errors="replace").decode()
    read = ua_parser.parse(header)
    system = None if read.os is None else _SYSTEMS.get(read.os.family, read.os.family)
    if system == "iOS" and read.device is not None and read.device.family == "iPad":
        system = "iPadOS"
    program = None if read.user_agent is None else _plain(read.user_agent.family)
    lowered = header.lower()
    if program is None:
        program = next((name for part, name in _UNKNOWN_TO_THE_RULES if part in lowered), None)
    return Agent(system, program, system in _MOBILE_SYSTEMS or "mobile" in lowered)


def _plain(family: str) -> str | None:
    if family in _PROGRAMS:
        return _PROGRAMS[family]
    return next((family.removesuffix(kind) for kind in _PROGRAM_KINDS if family.endswith(kind)), family)
