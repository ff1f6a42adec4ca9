"""The table of failures: what counts, what is forgotten, what bounds it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from chat.auth import address_bans
from chat.auth.address_bans import AddressBans
from chat.config.settings import IpBanSettings
from chat.errors import ApiError
from chat.store.database import Database, open_database
from chat.testing.server import fresh_database


@attrs.define
class Standing:
    """A clock that a test sets."""

    moment: int = 1_000_000_000_000

    def now_ms(self) -> int:
        return self.moment


@pytest.fixture
def clock() -> Standing:
    return Standing()


@pytest.fixture
async def database(tmp_path: Path) -> AsyncIterator[Database]:
    async with open_database(fresh_database(tmp_path / "database"), inline=True, durable=False) as opened:
        yield opened


SETTINGS = IpBanSettings(failures=3, window_seconds=10, duration_seconds=60, exempt=("127.0.0.0/8", "::1"))


@pytest.fixture
def bans(database: Database, clock: Standing) -> AddressBans:
    return AddressBans(database, clock, SETTINGS)


def is_banned(bans: AddressBans, address: str) -> bool:
    try:
        bans.refuse(address)
    except ApiError as refused:
        return refused.code == "GLOBAL_IP_TEMPORARILY_BANNED"
    return False


def fail(bans: AddressBans, address: str, times: int = 1) -> None:
    for _ in range(times):
        bans.note_failure(address)


async def test_the_last_failure_of_a_window_bans_and_only_that_address(bans: AddressBans) -> None:
    fail(bans, "192.0.2.1", 2)
    assert not is_banned(bans, "192.0.2.1")
    fail(bans, "192.0.2.1")
    assert is_banned(bans, "192.0.2.1")
    assert not is_banned(bans, "192.0.2.2")


async def test_the_window_slides(bans: AddressBans, clock: Standing) -> None:
    for _ in range(10):
        fail(bans, "192.0.2.1")
        clock.moment += 5_000
    assert not is_banned(bans, "192.0.2.1")
    fail(bans, "192.0.2.1")
    clock.moment += 4_999
    fail(bans, "192.0.2.1")
    assert is_banned(bans, "192.0.2.1")


async def test_a_ban_ends_and_what_led_to_it_is_forgotten(bans: AddressBans, clock: Standing) -> None:
    fail(bans, "192.0.2.1", 3)
    clock.moment += 59_999
    assert is_banned(bans, "192.0.2.1")
    clock.moment += 1
    assert not is_banned(bans, "192.0.2.1")
    assert len(bans) == 0
    fail(bans, "192.0.2.1", 2)
    assert not is_banned(bans, "192.0.2.1")


async def test_ipv6_counts_with_its_network_and_ipv4_in_any_clothes(bans: AddressBans) -> None:
    fail(bans, "2001:db8::1")
    fail(bans, "2001:db8::ffff:2")
    fail(bans, "2001:db8:0:0:3::")
    assert is_banned(bans, "2001:db8::77")
    assert not is_banned(bans, "2001:db8:0:1::1")
    fail(bans, "192.0.2.1", 2)
    fail(bans, "::ffff:192.0.2.1")
    assert is_banned(bans, "192.0.2.1")
    assert is_banned(bans, "::ffff:192.0.2.1")


@pytest.mark.parametrize("address", ["127.0.0.1", "127.9.9.9", "::1", "::ffff:127.0.0.1", "", "nonsense"])
async def test_exempt_networks_and_what_is_no_address_are_never_banned(bans: AddressBans, address: str) -> None:
    fail(bans, address, 50)
    assert not is_banned(bans, address)
    assert bans.failures_remembered == 0


async def test_bans_are_read_back_from_the_store(bans: AddressBans, database: Database, clock: Standing) -> None:
    fail(bans, "192.0.2.1", 3)
    fail(bans, "192.0.2.2", 2)
    await bans.write()
    later = AddressBans(database, clock, SETTINGS)
    assert not is_banned(later, "192.0.2.1")
    await later.load()
    assert is_banned(later, "192.0.2.1")
    assert not is_banned(later, "192.0.2.2")
    clock.moment += 60_000
    much_later = AddressBans(database, clock, SETTINGS)
    await much_later.load()
    assert len(much_later) == 0


async def test_a_ban_that_cannot_be_written_stands_and_waits(bans: AddressBans, database: Database) -> None:
    database.failing = True
    fail(bans, "192.0.2.1", 3)
    await bans.write()
    assert is_banned(bans, "192.0.2.1")
    database.failing = False
    await bans.write()
    assert database.reader.execute("SELECT network FROM address_bans").fetchall() == [("192.0.2.1",)]


async def test_a_setting_that_exempts_later_lifts(database: Database, bans: AddressBans, clock: Standing) -> None:
    fail(bans, "192.0.2.1", 3)
    await bans.write()
    kinder = AddressBans(database, clock, attrs.evolve(SETTINGS, exempt=("192.0.2.0/24",)))
    await kinder.load()
    assert not is_banned(kinder, "192.0.2.1")


async def test_spoofed_networks_do_not_grow_the_table(
    bans: AddressBans, monkeypatch: pytest.MonkeyPatch, clock: Standing
) -> None:
    monkeypatch.setattr(address_bans, "NETWORKS_MAXIMUM", 100)
    monkeypatch.setattr(address_bans, "BANS_MAXIMUM", 10)
    fail(bans, "192.0.2.1", 2)
    for number in range(1_000):
        fail(bans, f"2001:db8:{number:x}::1")
        assert bans.failures_remembered <= 101
    fail(bans, "192.0.2.1")
    assert not is_banned(bans, "192.0.2.1"), "the least recent are forgotten first"
    for number in range(20):
        fail(bans, f"2001:db8:{number:x}::1", 3)
    assert len(bans) == 10
    assert is_banned(bans, "2001:db8:13::1")


async def test_failures_are_bounded_in_all(bans: AddressBans, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(address_bans, "FAILURES_MAXIMUM", 10)
    for number in range(50):
        fail(bans, f"192.0.2.{number}", 2)
        assert bans.failures_remembered <= 10


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 6_000)), max_size=60))
def test_the_ban_falls_exactly_where_counting_by_hand_puts_it(steps: list[tuple[int, int]]) -> None:
    clock = Standing()
    bans = AddressBans(None, clock, SETTINGS)  # type: ignore[arg-type] - nothing is written here
    failures: dict[str, list[int]] = {}
    banned: dict[str, int] = {}
    for host, pause in steps:
        clock.moment += pause
        now, address = clock.moment, f"192.0.2.{host}"
        assert is_banned(bans, address) == (banned.get(address, 0) > now)
        if banned.get(address, 0) > now:
            continue  # nobody lets it try
        bans.note_failure(address)
        failures.setdefault(address, []).append(now)
        recent = [moment for moment in failures[address] if moment > now - 10_000]
        if len(recent) >= 3:
            banned[address] = now + 60_000
            failures[address] = []
    assert bans.failures_remembered <= sum(map(len, failures.values()))
