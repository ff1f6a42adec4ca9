"""While thousands of sessions rest, no turn of the loop has much to do for them, and what waits for them stays small.

What is counted here is counted beside the code that keeps count itself.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Final

import attrs
import pytest
import trio
import trio.testing

from chat.gateway import resting as of_resting
from chat.gateway.fanout import Delivery, Fanout
from chat.gateway.numbering import Numbering
from chat.gateway.resting import DELIVERIES, RUN_WORK, WORK_PER_TURN, Resting
from chat.gateway.session import GatewaySession
from chat.protocol.frames import EventRun, OutgoingEvent
from chat.registries.events import EventName
from tests.gateway.test_resting import Socket, session

MOST: Final = WORK_PER_TURN + DELIVERIES + 32 * RUN_WORK
"""A turn ends with the session that is the one too many; at most, all its runs are made for it."""


def event() -> OutgoingEvent:
    return OutgoingEvent(EventName.MESSAGE_CREATE, b"{}")


def that_rest(resting: Resting, count: int) -> list[GatewaySession]:
    rest = [session(number) for number in range(10, 10 + count)]
    for each in rest:
        resting.add(each)
    return rest


async def deliver(resting: Resting, deliveries: Sequence[Delivery]) -> None:
    fanout = Fanout(resting=resting)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(fanout.run)
        for delivery in deliveries:
            fanout.queue(delivery)
        await trio.testing.wait_all_tasks_blocked()
        nursery.cancel_scope.cancel()


@attrs.define(eq=False)
class Turns(trio.abc.Instrument):
    """What was done for sessions that rest, by turns of the loop; a fixture that pytest-trio installs."""

    looks: int = 0
    events: int = 0
    runs: int = 0
    work: list[int] = attrs.field(factory=list)

    def before_io_wait(self, timeout: float) -> None:
        self.work.append(self.looks + self.events + RUN_WORK * self.runs)
        self.looks = self.events = self.runs = 0


@pytest.fixture
def turns(monkeypatch: pytest.MonkeyPatch) -> Turns:
    counted = Turns()
    number_run, split = Numbering.number_run, Resting._split

    class CountedRun(EventRun):
        def __init__(self, events: Sequence[OutgoingEvent]) -> None:
            counted.events += len(events)
            super().__init__(events)

    def counted_run(self: Numbering, run: EventRun) -> int:
        counted.runs += 1
        return number_run(self, run)

    def counted_split(self: Resting, receivers: Sequence[GatewaySession]) -> of_resting.AwakeSplit:
        if id(receivers) not in self._splits:
            counted.looks += len(receivers)
        return split(self, receivers)

    monkeypatch.setattr(of_resting, "EventRun", CountedRun)
    monkeypatch.setattr(Numbering, "number_run", counted_run)
    monkeypatch.setattr(Resting, "_split", counted_split)
    return counted


@pytest.mark.parametrize("alike", [1, of_resting.SHARED_FROM])
async def test_a_turn_numbers_no_more_than_its_measure(turns: Turns, alike: int) -> None:
    """Sessions heard the same in groups, as those of one account do when it goes offline."""
    resting = Resting()
    rest = that_rest(resting, 20 * of_resting.SHARED_FROM)
    groups = [tuple(rest[start : start + alike]) for start in range(0, len(rest), alike)]
    everybody = tuple(rest)
    common = [Delivery(event(), everybody) for _ in range(DELIVERIES + DELIVERIES // 2)]
    await deliver(resting, [*(Delivery(event(), group) for group in groups), *common])
    assert max(turns.work) <= MOST
    # It was the work of many turns, and is over.
    assert sum(turns.work) > 3 * WORK_PER_TURN
    assert not resting._due
    assert all(each.numbering.sequence == DELIVERIES + DELIVERIES // 2 + 1 for each in rest)


def test_who_rests_is_compared_once_where_it_is_listed_anew() -> None:
    """A dictionary compares equal sets member by member, unless they are the same object."""
    sessions = [session(number) for number in range(10)]
    batch = of_resting.DeliveryBatch()
    for _ in range(3):
        listed = frozenset(sessions)
        for _ in range(2):
            batch.take(Delivery(event(), tuple(sessions)), listed)
        ((key, places),) = batch._places.items()
        assert key is listed
    assert places == 0b111111


async def test_a_turn_looks_for_no_more_receivers_than_its_measure(turns: Turns) -> None:
    resting = Resting()
    rest = that_rest(resting, 1_500)
    await deliver(resting, [Delivery(event(), tuple(rest)) for _ in range(100)])
    assert max(turns.work) <= WORK_PER_TURN + len(rest)
    assert sum(turns.work) >= 100 * len(rest)


async def test_lists_of_those_that_rest_are_bounded_while_they_change(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(of_resting, "LISTED", 2_000)
    resting = Resting()
    rest = that_rest(resting, 100)
    most = 0
    for left_out in itertools.islice(itertools.cycle(range(100)), 1_000):
        receivers = (*rest[:left_out], *rest[left_out + 1 :])
        resting.take(Delivery(event(), receivers))
        while resting.keep_pace():
            pass
        batches = (resting._open, resting._full)
        most = max(most, sum(len(listed) for batch in batches for listed in batch._places))
        assert sum(len(each.receivers) for batch in batches for each in batch._deliveries) == 0
    assert most < 2_000 + 2_000 * of_resting.NUMBERED_WITHIN + 2 * len(rest)
    assert all(each.numbering.sequence == 990 for each in rest)


@pytest.mark.parametrize("count", [3, of_resting.SHARED_FROM])
async def test_one_event_that_differs_among_sessions_leaves_the_others_in_runs(
    monkeypatch: pytest.MonkeyPatch, count: int
) -> None:
    resting = Resting()
    rest = that_rest(resting, count)
    alone = 0
    number = Numbering.number

    def counted(self: Numbering, event: OutgoingEvent) -> int:
        nonlocal alone
        alone += 1
        return number(self, event)

    monkeypatch.setattr(Numbering, "number", counted)
    everybody = tuple(rest)
    deliveries = [Delivery(event(), everybody) for _ in range(DELIVERIES)]
    deliveries[1_000] = Delivery(event(), everybody, thread_event=event())
    for delivery in deliveries:
        resting.take(delivery)
    resting.settle()
    assert alone == len(rest)
    for each in rest:
        heard = [event for _, event in each.numbering.retained_above(0)]
        assert heard == [delivery.event_for(each) for delivery in deliveries]


async def test_one_that_finds_a_socket_while_others_have_their_turn_gets_nothing_twice(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    class Notes(Socket):
        def deliver(self, sequence: int, event: OutgoingEvent) -> None:
            heard.append(sequence)

        def deliver_run(self, first: int, run: EventRun) -> None:
            heard.extend(range(first, first + run.count))

    class Comes(trio.abc.Instrument):
        """Takes its session back at the first chance after its events came."""

        def before_task_step(self, task: trio.lowlevel.Task) -> None:
            if finds in resting.sessions and len(resting._open) and task.name == "finds":
                resting.remove(finds)
                finds.receiver = Notes()

    async def others() -> None:
        while True:
            await trio.lowlevel.checkpoint()

    monkeypatch.setattr(of_resting, "WORK_PER_TURN", 1)
    heard: list[int] = []
    resting, awake = Resting(), session(1)
    awake.receiver = Socket()
    finds, stays = rest = that_rest(resting, 2)
    receivers = (*rest, awake)
    fanout = Fanout(resting=resting)
    trio.lowlevel.add_instrument(comes := Comes())
    async with trio.open_nursery() as nursery:
        nursery.start_soon(others, name="finds")
        nursery.start_soon(fanout.run)
        for _ in range(40):  # more than are delivered together
            fanout.queue(Delivery(event(), receivers))
        for _ in range(20):
            await trio.lowlevel.checkpoint()
        nursery.cancel_scope.cancel()
    trio.lowlevel.remove_instrument(comes)
    assert finds.receiver is not None
    assert heard == list(range(33, 41))
    assert finds.numbering.sequence == stays.numbering.sequence == 40
