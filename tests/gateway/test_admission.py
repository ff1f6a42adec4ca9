"""What each source address may still do."""

import pytest
import trio
from trio.testing import MockClock

from chat.gateway.admission import Admission, FixedWindowBudget


def admission(*, connections: int = 2, identifies: int = 3, rate_limited: bool = True) -> Admission:
    return Admission(connections_per_address=connections, identify_budget=identifies, rate_limited=rate_limited)


def test_an_address_holds_so_many_connections_and_others_are_not_concerned() -> None:
    counted = admission(connections=2)
    with counted.connection("10.0.0.1") as first, counted.connection("10.0.0.1") as second:
        assert first
        assert second
        with counted.connection("10.0.0.1") as third:
            assert not third
        with counted.connection("10.0.0.2") as elsewhere:
            assert elsewhere
        assert counted.connections("10.0.0.1") == 2
    with counted.connection("10.0.0.1") as again:
        assert again
    assert counted.connections("10.0.0.1") == 0


async def test_an_exhausted_identify_budget_is_whole_again_after_its_window(autojump_clock: MockClock) -> None:
    counted = admission(identifies=3)
    assert [counted.may_identify("10.0.0.1") for _ in range(4)] == [True, True, True, False]
    assert counted.may_identify("10.0.0.2")
    await trio.sleep(59.9)
    assert not counted.may_identify("10.0.0.1")
    await trio.sleep(0.1)
    assert counted.may_identify("10.0.0.1")


async def test_without_rate_limits_budgets_are_off_and_connections_still_count(autojump_clock: MockClock) -> None:
    counted = admission(connections=1, identifies=1, rate_limited=False)
    assert all(counted.may_identify("10.0.0.1") for _ in range(5))
    assert all(counted.may_send("10.0.0.1") for _ in range(7_000))
    with counted.connection("10.0.0.1"), counted.connection("10.0.0.1") as second:
        assert not second


async def test_windows_of_many_addresses_take_a_bounded_place(
    autojump_clock: MockClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("chat.gateway.admission.WINDOWS_KEPT", 100)
    budget = FixedWindowBudget(1, 60_000)
    for number in range(1_000):
        assert budget.spend(f"10.0.{number >> 8}.{number & 255}")
    assert len(budget._windows) == 100
    budget.clear()
    assert budget.spend("10.0.3.231")
