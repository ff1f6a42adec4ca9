"""Where addresses are, by real MaxMind files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import trio

from chat.domain.signing_in.client_info import NOWHERE, AddressLocation, AddressLookups, Geolocation, place_of
from tests.mmdb_file import city, write_database
from tests.patience import PATIENCE_SECONDS

SWEDEN = city("Stockholm", "Stockholm County", "Sweden", "SE")


async def places(geolocation: Geolocation, *addresses: str) -> dict[str, str]:
    found: dict[str, AddressLocation] = {}
    await geolocation.collect(addresses, found, 5)
    return {address: str(place) for address, place in found.items()}


async def test_a_file_is_read_and_a_replaced_one_noticed(tmp_path: Path) -> None:
    path = tmp_path / "places.mmdb"
    geolocation = Geolocation(path)
    assert await places(geolocation, "8.8.8.8") == {}

    write_database(path, {"8.8.8.0/24": SWEDEN, "2606:4700::/32": city("Lyon", "Lyon", "France", "FR")})
    asked = ("8.8.8.8", "::ffff:8.8.8.9", "2606:4700::1", "9.9.9.9", "10.0.0.1", "nonsense")
    assert await places(geolocation, *asked) == {
        "8.8.8.8": "Stockholm, Stockholm County, Sweden",
        "::ffff:8.8.8.9": "Stockholm, Stockholm County, Sweden",
        "2606:4700::1": "Lyon, France",
        "9.9.9.9": "",
        "10.0.0.1": "",
        "nonsense": "",
    }

    write_database(path, {"9.0.0.0/8": city("Lyon", "Lyon", "France", "FR")})
    assert await places(geolocation, "8.8.8.8", "9.9.9.9") == {"8.8.8.8": "", "9.9.9.9": "Lyon, France"}
    whole = path.read_bytes()
    for cut in (0, 1, 40, len(whole) // 2, len(whole) - 1):
        path.write_bytes(whole[:cut])
        assert await places(geolocation, "9.9.9.9") in ({}, {"9.9.9.9": "Lyon, France"})
    path.unlink()
    path.mkdir()
    assert await places(geolocation, "9.9.9.9") == {}


async def test_a_thousand_addresses_do_not_hold_the_loop(tmp_path: Path) -> None:
    path = tmp_path / "places.mmdb"
    write_database(path, {f"9.{number}.0.0/16": SWEDEN for number in range(256)})
    turns = 0

    async def watch() -> None:
        nonlocal turns
        while True:
            await trio.sleep(0.005)
            turns += 1

    async with trio.open_nursery() as nursery:
        nursery.start_soon(watch)
        found = await places(Geolocation(path), *(f"9.{number % 256}.{number // 256}.1" for number in range(1_000)))
        nursery.cancel_scope.cancel()
    assert len(found) == 1_000
    assert turns >= 3


async def test_a_file_that_hangs_costs_the_deadline_and_no_more(tmp_path: Path) -> None:
    class Hanging(Geolocation):
        def _places(self, addresses: Any) -> Any:
            trio.from_thread.run(trio.sleep, 10 * PATIENCE_SECONDS)
            return {}

    hanging = Hanging(tmp_path)
    with trio.fail_after(PATIENCE_SECONDS):
        found: dict[str, AddressLocation] = {}
        await hanging.collect(["9.9.9.9"], found, 0.1)
        await hanging.collect(["9.9.9.9"], found, 0.1)


@pytest.mark.parametrize(
    ("record", "place"),
    [
        ({}, NOWHERE),
        ({"city": "Paris", "country": "FR"}, AddressLocation(city="Paris", country="FR")),
        (
            {"registered_country": {"iso_code": "FR", "names": {"en": "France"}}},
            AddressLocation(country="France", country_code="FR"),
        ),
        ({"city": {"names": {"de": "Wien"}}, "subdivisions": [], "location": {"latitude": "x"}}, NOWHERE),
        ({"city": 1, "subdivisions": {"a": 1}, "country": ["x"], "location": [1]}, NOWHERE),
        ({"location": {"latitude": 1, "longitude": True}}, AddressLocation(latitude=1.0)),
    ],
)
def test_records_of_other_makers(record: dict[str, Any], place: AddressLocation) -> None:
    assert place_of(record) == place


async def test_an_instance_without_either_half_knows_nothing() -> None:
    findings = await AddressLookups().of_all(["9.9.9.9", None, ""])
    assert not findings.located_none
    assert (findings.of("9.9.9.9").reverse, findings.of("9.9.9.9").location, findings.of(None).location) == (None,) * 3
