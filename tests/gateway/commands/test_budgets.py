"""Rolling windows, and the memory of whole lists given to bots."""

from __future__ import annotations

import pytest
import trio
from hypothesis import given
from hypothesis import strategies as st
from trio.testing import MockClock

from chat.gateway.commands import budgets
from chat.gateway.commands.budgets import FullListWindows, RollingWindow


@given(st.lists(st.floats(0, 3), max_size=40))
def test_no_stretch_of_a_windows_length_holds_more_uses_than_allowed(pauses: list[float]) -> None:
    async def main() -> list[tuple[float, bool]]:
        window, seen = RollingWindow(3, 2_000), []
        for pause in pauses:
            await trio.sleep(pause)
            seen.append((trio.current_time(), window.spend()))
        return seen

    seen = trio.run(main, clock=MockClock(autojump_threshold=0))
    spent = [time for time, allowed in seen if allowed]
    for time, allowed in seen:
        # Written as the window reckons, for `time - 2 < other` rounds otherwise.
        within = [other for other in spent if other < time < other + 2 or (allowed and other == time)]
        assert len(within) <= 3
        if not allowed:
            assert len([other for other in spent if other <= time < other + 2]) == 3


async def test_a_bot_waits_for_the_rest_of_its_window(autojump_clock: MockClock) -> None:
    windows = FullListWindows()
    assert windows.seconds_to_wait(1, 5) == 0
    assert windows.seconds_to_wait(1, 6) == 0
    assert windows.seconds_to_wait(2, 5) == 0
    await trio.sleep(29)
    assert windows.seconds_to_wait(1, 5) == pytest.approx(1)
    await trio.sleep(1)
    assert windows.seconds_to_wait(1, 5) == 0


async def test_the_oldest_windows_are_forgotten_beyond_the_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(budgets, "FULL_LISTS_REMEMBERED", 2)
    windows = FullListWindows()
    for guild_id in (5, 6, 7):
        assert windows.seconds_to_wait(1, guild_id) == 0
    assert windows.seconds_to_wait(1, 7) > 0
    assert windows.seconds_to_wait(1, 5) == 0
