"""What is known of the client behind a sign-in: its program and system, the name and the place of its IP address
(signing_in.md, Client information).

Places come from a MaxMind database that the operator supplies. The file is opened anew for each request, which takes a
millisecond, so one that was replaced counts from the next on. It is read as a file rather than mapped into memory: one
that is written over in place then fails a look-up or two instead of ending the process. All of it happens in a
thread.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Iterable, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, cast

import structlog
import trio

from chat import wire
from chat.classes import define, frozen
from chat.domain.signing_in.reverse_dns import ReverseDns
from chat.store.signing_in.auth_sessions import AuthSession

if TYPE_CHECKING:
    from maxminddb import Reader

WAITING_SECONDS: Final = 2.5
"""How long an answer may wait for look-ups, for any number of addresses in it."""

USER_AGENT_CHARACTERS: Final = 512
"""How much of the header is kept with a sign-in, and looked at."""

_SYSTEMS: Final = {"Mac OS X": "macOS", "Chrome OS": "ChromeOS", "Other": None}
"""What the rules call systems, where people say something else."""

_PROGRAMS: Final = {"Mobile Safari": "Safari", "Other": None}
_PROGRAM_KINDS: Final = (" Mobile iOS", " Mobile WebView", " Mobile", " iOS", " WebView")
"""What the rules add to a program's name on a telephone, as in Chrome Mobile iOS."""

_UNKNOWN_TO_THE_RULES: Final = (("python", "Python"), ("node", "Node.js"), ("undici", "Node.js"))
"""Part of what libraries for bots send, which are no browsers, and the program that it betrays."""

_MOBILE_SYSTEMS: Final = frozenset({"iOS", "iPadOS", "Android"})


@frozen
class AddressFacts:
    """What was found out about an address; None where nothing was."""

    reverse: str | None = None
    """Its name in DNS."""
    location: str | None = None
    """Where it is, in words."""


NOTHING_KNOWN: Final = AddressFacts()


@define(eq=False)
class AddressLookups:
    """Looks addresses up; either half may be missing on an instance. A look-up that fails, or takes too long, tells
    nothing, and the caller goes on without."""

    _reverse: ReverseDns | None = None
    _geolocation: Geolocation | None = None

    async def of_all(self, addresses: Iterable[str | None]) -> Findings:
        """What can be found out about the addresses in a few seconds, all at once."""
        wanted = [address for address in dict.fromkeys(addresses) if address]
        names: dict[str, str] = {}
        places: dict[str, AddressLocation] = {}
        if wanted:
            async with trio.open_nursery() as nursery:
                if self._reverse is not None:
                    nursery.start_soon(self._reverse.collect, wanted, names, WAITING_SECONDS)
                if self._geolocation is not None:
                    nursery.start_soon(self._geolocation.collect, wanted, places, WAITING_SECONDS)
        return Findings(wanted, names, None if self._geolocation is None else places)

    async def of(self, address: str | None) -> AddressFacts:
        """What can be found out about an address."""
        return (await self.of_all([address])).of(address)

    async def places(self, addresses: Iterable[str | None]) -> Mapping[str, AddressLocation]:
        """Where the addresses are, as far as the operator's file tells; no other service is asked."""
        places: dict[str, AddressLocation] = {}
        if self._geolocation is not None:
            wanted = [address for address in dict.fromkeys(addresses) if address]
            await self._geolocation.collect(wanted, places, WAITING_SECONDS)
        return places


@frozen
class Findings:
    """What was found out about several addresses."""

    _asked: list[str]
    _names: Mapping[str, str]
    _places: Mapping[str, AddressLocation] | None
    """None on an instance without a file to locate addresses with."""

    def of(self, address: str | None) -> AddressFacts:
        """What was found out about one of them."""
        if address is None:
            return NOTHING_KNOWN
        place = NOWHERE if self._places is None else self._places.get(address, NOWHERE)
        return AddressFacts(self._names.get(address), str(place) or None)

    @property
    def located_none(self) -> bool:
        """Whether there is a file to locate addresses with and the look-up failed for each of them.

        An address that the file does not know has been looked up; it has no place.
        """
        return self._places is not None and bool(self._asked) and not self._places


@frozen
class Agent:
    """What a User-Agent header says; None where it says nothing."""

    system: str | None = None
    program: str | None = None
    is_mobile: bool = False


NO_AGENT: Final = Agent()


class UserAgents:
    """Reads User-Agent headers by the rules of uap-core; `in_threads` False reads on the loop's thread, for runs on
    virtual time.

    Headers are read when an answer shows them, so better rules need no migration. They are run by a matcher that takes
    linear time for any header (ua-parser-rs): any client may send anything there.
    """

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


def client_info(
    session: AuthSession, agent: Agent, place: AddressLocation | None = None
) -> wire.AuthSessionClientInfo | None:
    """The auth session object's `client_info` (signing_in.md, Sign-ins); None where nothing is known.

    What a native client says of its system goes before what its user agent does. `place` is where the address is, None
    where that is not known.
    """
    system = session.client_os or agent.system
    known = None if place is None or not any(place.as_members().values()) else place.as_members()
    location = cast("wire.AuthSessionClientInfoLocation | None", known)
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


LANGUAGE: Final = "en"
"""The language of the places' names: the one that every edition of these files has."""

ADDRESSES_IN_ONE_GO: Final = 64
"""Addresses that are looked up before a deadline is looked at again."""

log: Final = structlog.get_logger("chat.lookups")


@frozen(kw_only=True)
class AddressLocation:
    """Where an address is, as far as the file says; codes are ISO 3166, degrees decimal."""

    city: str | None = None
    region: str | None = None
    country: str | None = None
    country_code: str | None = None
    region_code: str | None = None
    latitude: float | None = None
    longitude: float | None = None

    def __str__(self) -> str:
        """In words: `Stockholm, Stockholm County, Sweden`; empty where the file names no part of it."""
        named = (self.city, self.region, self.country)
        return ", ".join(dict.fromkeys(part for part in named if part is not None))

    def as_own(self) -> wire.OwnPlace:
        """The answer of GET /v1/ip, as clients of this family read it; degrees are text."""
        return {
            "countryCode": self.country_code,
            "regionCode": self.region_code,
            "latitude": None if self.latitude is None else f"{self.latitude:.4f}",
            "longitude": None if self.longitude is None else f"{self.longitude:.4f}",
            "ageRestrictedGeos": [],
            "ageBlockedGeos": [],
        }

    def as_members(self) -> dict[str, str | None]:
        """The `location` of an auth session object (signing_in.md, Client information)."""
        return {"city": self.city, "region": self.region, "country": self.country}


NOWHERE: Final = AddressLocation()
"""Where an address is that the file does not have."""


class Geolocation:
    """Looks addresses up in the file `path`; `in_threads` False does so on the loop's thread, for virtual time."""

    def __init__(self, path: Path, *, in_threads: bool = True) -> None:
        self._path = path
        self._limiter = trio.CapacityLimiter(1) if in_threads else None
        self._is_failing = False

    def look(self) -> None:
        """Open the file once, at the start: one that cannot be read is told in the log."""
        self._places(())

    async def collect(self, addresses: Sequence[str], found: dict[str, AddressLocation], seconds: float) -> None:
        """Put where the addresses are into `found`, for `seconds` at most; one that is missing then has failed."""
        with trio.move_on_after(seconds):
            for start in range(0, len(addresses), ADDRESSES_IN_ONE_GO):
                portion = addresses[start : start + ADDRESSES_IN_ONE_GO]
                if self._limiter is None:
                    found.update(self._places(portion))
                    continue
                # A disk that does not answer keeps the thread, and the next ones waiting for it, but none of them
                # longer than its deadline.
                found.update(
                    await trio.to_thread.run_sync(self._places, portion, limiter=self._limiter, abandon_on_cancel=True)
                )

    def _places(self, addresses: Iterable[str]) -> Mapping[str, AddressLocation]:
        from maxminddb import MODE_FILE, Reader

        try:
            with closing(Reader(self._path, MODE_FILE)) as reader:
                found = {address: _place(reader, address) for address in addresses}
        except Exception as error:  # noqa: BLE001 - a file that is cut off, or no database, fails a parser in any way
            if not self._is_failing:
                log.warning("the geolocation file cannot be read", problem=str(error) or type(error).__name__)
            self._is_failing = True
            return {}
        self._is_failing = False
        return found


def problem_of(path: Path) -> str | None:
    """Why the file cannot be used; None if it can."""
    from maxminddb import MODE_FILE, Reader

    try:
        with closing(Reader(path, MODE_FILE)):
            return None
    except Exception as error:  # noqa: BLE001 - as above
        return str(error) or type(error).__name__


def _place(reader: Reader, address: str) -> AddressLocation:
    try:
        parsed = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return NOWHERE
    if isinstance(parsed, ipaddress.IPv6Address):
        parsed = parsed.ipv4_mapped or parsed
        if parsed.version == 6 and reader.metadata().ip_version == 4:
            return NOWHERE
    record = reader.get(parsed)
    return place_of(record) if isinstance(record, dict) else NOWHERE


def place_of(record: Mapping[str, Any]) -> AddressLocation:
    """What a record of a City or Country database says; members that it lacks, or has in other forms, are None."""
    regions = record.get("subdivisions")
    region = regions[0] if isinstance(regions, list) and regions else None
    country = record.get("country") or record.get("registered_country")
    location = record.get("location")
    return AddressLocation(
        city=_name(record.get("city")),
        region=_name(region),
        country=_name(country),
        country_code=_code(country),
        region_code=_code(region),
        latitude=_degrees(location, "latitude"),
        longitude=_degrees(location, "longitude"),
    )


def _name(part: object) -> str | None:
    """A place's name; some makers of such files write the name where others have names by language."""
    if isinstance(part, dict):
        names = part.get("names")
        part = names.get(LANGUAGE) if isinstance(names, dict) else None
    return part if isinstance(part, str) and part else None


def _code(part: object) -> str | None:
    code = part.get("iso_code") if isinstance(part, dict) else None
    return code if isinstance(code, str) and code else None


def _degrees(location: object, name: str) -> float | None:
    value = location.get(name) if isinstance(location, dict) else None
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None
