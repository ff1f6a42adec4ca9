"""What one task raises ends no other."""

from __future__ import annotations

import trio
from structlog.testing import capture_logs
from trio.testing import MockClock

from chat.bus.bus import AccountDisconnected, Bus, Signal
from chat.supervision import guarded, lasting


async def test_what_a_task_raises_is_logged_and_goes_no_further(autojump_clock: MockClock) -> None:
    async def fail(text: str) -> None:
        raise ValueError(text)

    with capture_logs() as logged:
        assert not await guarded(fail, "no")
        assert await guarded(trio.sleep, 0)
    assert [line["event"] for line in logged] == ["a task failed"]


async def test_a_cancelled_task_is_cancelled(autojump_clock: MockClock) -> None:
    with trio.move_on_after(1) as scope, capture_logs() as logged:
        await guarded(trio.sleep_forever)
    assert scope.cancelled_caught
    assert logged == []


async def test_a_lasting_task_begins_anew_each_time_later(autojump_clock: MockClock) -> None:
    begun: list[float] = []
    start = trio.current_time()

    async def fail() -> None:
        begun.append(trio.current_time() - start)
        if len(begun) == 10:
            await trio.sleep(100)
        raise ValueError("again")

    with capture_logs() as logged, trio.move_on_after(345):
        await lasting(fail)
    assert begun == [0, 1, 3, 7, 15, 31, 63, 123, 183, 243, 344]
    assert len(logged) == 11


async def test_a_task_that_ends_is_not_begun_anew(autojump_clock: MockClock) -> None:
    await lasting(trio.lowlevel.checkpoint)


class Listening:
    """Hears signals, and may fail at each."""

    def __init__(self, *, fails: bool) -> None:
        self.heard: list[Signal] = []
        self._fails = fails

    def accept(self, signal: Signal) -> None:
        self.heard.append(signal)
        if self._fails:
            raise ValueError("a defect")


def test_a_subscriber_that_fails_keeps_no_other_from_hearing(failed_listeners: list[str]) -> None:
    bus = Bus()
    subscribers = [Listening(fails=True), Listening(fails=False)]
    for subscriber in subscribers:
        bus.subscribe_all(subscriber.accept)
    signals = AccountDisconnected(1), AccountDisconnected(2)
    with capture_logs() as logged:
        bus.publish(*signals)
    assert [subscriber.heard for subscriber in subscribers] == [list(signals)] * 2
    assert len(logged) == len(failed_listeners) == 2
    failed_listeners.clear()
