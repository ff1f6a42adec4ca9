"""Where IP addresses are, from a MaxMind database that the operator supplies (signing_in.md, Client information).

The file is opened anew for each request, which takes a millisecond, so one that was replaced counts from the next on.
It is read as a file rather than mapped into memory: one that is written over in place then fails a look-up or two
instead of ending the process. All of it happens in a thread.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Iterable, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import attrs
import structlog
import trio

if TYPE_CHECKING:
    from maxminddb import Reader

LANGUAGE: Final = "en"
"""The language of the places' names: the one that every edition of these files has."""

ADDRESSES_IN_ONE_GO: Final = 64
"""Addresses that are looked up before a deadline is looked at again."""

log: Final = structlog.get_logger("chat.lookups")


@attrs.frozen(kw_only=True)
class Place:
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

    def as_own(self) -> dict[str, Any]:
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


NOWHERE: Final = Place()
"""Where an address is that the file does not have."""


class Geolocation:
    """Looks addresses up in the file `path`; `in_threads` False does so on the loop's thread, for virtual time."""

    def __init__(self, path: Path, *, in_threads: bool = True) -> None:
        self._path = path
        self._limiter = trio.CapacityLimiter(1) if in_threads else None
        self._is_failing = False

    async def collect(self, addresses: Sequence[str], found: dict[str, Place], seconds: float) -> None:
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

    def _places(self, addresses: Iterable[str]) -> Mapping[str, Place]:
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


def _place(reader: Reader, address: str) -> Place:
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


def place_of(record: Mapping[str, Any]) -> Place:
    """What a record of a City or Country database says; members that it lacks, or has in other forms, are None."""
    regions = record.get("subdivisions")
    region = regions[0] if isinstance(regions, list) and regions else None
    country = record.get("country") or record.get("registered_country")
    location = record.get("location")
    return Place(
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
