"""The queue of notifications: bounded, in lines, patient with push services that fail."""

from __future__ import annotations

import itertools
import random
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import attrs
import pytest
import trio
from trio.testing import MockClock

from chat.push.sending import ATTEMPTS, LINE_NOTICES, NOTICES, Notice, PushOutcome, PushQueue, Result, Urgency


@attrs.frozen
class Device:
    """Somebody to tell."""

    id: str


@attrs.define
class Service:
    """What push services do: `outcomes` are those of the next requests, then they are accepted."""

    outcomes: list[PushOutcome] = attrs.field(factory=list)
    sent: list[tuple[float, str, str]] = attrs.field(factory=list)
    over: list[tuple[str, Result]] = attrs.field(factory=list)
    hanging: set[str] = attrs.field(factory=set)
    under_way: int = 0
    most: int = 0

    async def send(self, device: Device, notice: Notice) -> PushOutcome:
        self.sent.append((round(trio.current_time()), device.id, notice.plain.decode()))
        self.under_way += 1
        self.most = max(self.most, self.under_way)
        try:
            if device.id in self.hanging:
                await trio.sleep(10)
                return PushOutcome(Result.LATER)
            await trio.lowlevel.checkpoint()
        finally:
            self.under_way -= 1
        return self.outcomes.pop(0) if self.outcomes else PushOutcome(Result.ACCEPTED)

    async def ended(self, device: Device, result: Result) -> None:
        self.over.append((device.id, result))

    def told(self, device: str) -> list[str]:
        """What a device was sent, in order."""
        return [text for _, name, text in self.sent if name == device]


def notice(text: str, topic: str | None = None) -> Notice:
    return Notice(text.encode(), Urgency.NORMAL, text if topic is None else topic, 60)


@asynccontextmanager
async def running(service: Service) -> AsyncIterator[PushQueue[Device]]:
    queue: PushQueue[Device] = PushQueue(service.send, service.ended, random.Random(1))
    async with trio.open_nursery() as nursery:
        nursery.start_soon(queue.run)
        yield queue
        nursery.cancel_scope.cancel()


async def test_notices_of_a_device_go_one_after_the_other(autojump_clock: MockClock) -> None:
    service, device = Service(), Device("phone")
    async with running(service) as queue:
        for text in ("one", "two", "three"):
            assert queue.put(device, notice(text))
        await trio.sleep(1)
        assert service.told("phone") == ["one", "two", "three"]
        assert service.over == [("phone", Result.ACCEPTED)] * 3
        assert (len(queue), service.most) == (0, 1)


async def test_of_one_topic_only_the_last_waits(autojump_clock: MockClock) -> None:
    service, device = Service(hanging={"phone"}), Device("phone")
    async with running(service) as queue:
        queue.put(device, notice("one", "a"))
        await trio.sleep(1)
        for text in ("two", "three"):
            queue.put(device, notice(text, "a"))
        queue.put(device, notice("other", "b"))
        assert len(queue) == 2
        service.hanging.clear()
        await trio.sleep(60)
        assert service.told("phone") == ["one", "three", "other"]


async def test_what_fails_is_tried_again_after_longer_and_longer_pauses(autojump_clock: MockClock) -> None:
    service, device = Service([PushOutcome(Result.LATER)] * ATTEMPTS), Device("phone")
    async with running(service) as queue:
        queue.put(device, notice("one"))
        await trio.sleep(3_600)
        assert service.told("phone") == ["one"] * ATTEMPTS
        moments = [moment for moment, *_ in service.sent]
        pauses = [after - before for before, after in itertools.pairwise(moments)]
        assert pauses == sorted(pauses)
        assert pauses[0] >= 3
        assert service.over == [("phone", Result.LATER)]
        assert len(queue) == 0
        queue.put(device, notice("two"))  # and nothing is held against the device
        await trio.sleep(1)
        assert service.told("phone")[-1] == "two"


async def test_the_pause_that_the_service_asks_for(autojump_clock: MockClock) -> None:
    service, device = Service([PushOutcome(Result.LATER, 300.0)]), Device("phone")
    async with running(service) as queue:
        queue.put(device, notice("one"))
        await trio.sleep(299)
        assert len(service.sent) == 1
        await trio.sleep(2)
        assert len(service.sent) == 2


@pytest.mark.parametrize("result", [Result.GONE, Result.REFUSED])
async def test_what_is_refused_is_not_tried_again(autojump_clock: MockClock, result: Result) -> None:
    service, device = Service([PushOutcome(result)]), Device("phone")
    async with running(service) as queue:
        queue.put(device, notice("one"))
        queue.put(device, notice("two"))
        await trio.sleep(3_600)
        assert service.told("phone") == (["one"] if result is Result.GONE else ["one", "two"])
        assert service.over[0] == ("phone", result)
        assert len(queue) == 0


async def test_a_service_that_hangs_holds_up_nobody_else(autojump_clock: MockClock) -> None:
    service = Service(hanging={"slow"})
    async with running(service) as queue:
        for number in range(20):
            queue.put(Device("slow"), notice(f"{number}"))
        for number in range(100):
            queue.put(Device(f"fast{number}"), notice("news"))
        await trio.sleep(5)
        assert len({device for _, device, _ in service.sent}) == 101
        assert service.most <= 16


async def test_a_line_is_bounded_and_the_oldest_goes(autojump_clock: MockClock) -> None:
    service, device = Service(), Device("phone")
    queue: PushQueue[Device] = PushQueue(service.send, service.ended, random.Random(1))
    for number in range(LINE_NOTICES + 4):
        assert queue.put(device, notice(f"{number}"))
    assert len(queue) == LINE_NOTICES


async def test_everything_is_bounded(autojump_clock: MockClock) -> None:
    service = Service()
    queue: PushQueue[Device] = PushQueue(service.send, service.ended, random.Random(1))
    taken = [queue.put(Device(f"{number // 8}"), notice(f"{number}")) for number in range(NOTICES + 100)]
    assert taken.count(True) == len(queue) == NOTICES
    async with trio.open_nursery() as nursery:
        nursery.start_soon(queue.run)
        await trio.sleep(60)
        assert len(service.sent) == NOTICES
        assert len(queue) == 0
        nursery.cancel_scope.cancel()
