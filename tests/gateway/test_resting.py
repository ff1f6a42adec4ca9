"""Sessions without a socket against twins that are told of each event at once: nobody can see that their numbers come
later, and together.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import hypothesis.strategies as st
import pytest
import trio
import trio.testing
from hypothesis import settings
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from chat.bus.audience import Mentions
from chat.domain.presence.account_presence import SessionPresence
from chat.gateway import resting as of_resting
from chat.gateway.fanout import Delivery, Fanout
from chat.gateway.resting import Resting
from chat.gateway.session import GatewaySession
from chat.protocol.frames import EventRun, OutgoingEvent
from chat.registries.events import EventName
from chat.registries.statuses import Status

SESSIONS: Final = 6

SIZES: Final = {"DELIVERIES": 11, "BLOCK": 4, "SHARED_FROM": 2, "WORK_PER_TURN": 30, "OWN_RECEIVERS": 2}
"""Small batches, so that few events fill several."""


def session(number: int) -> GatewaySession:
    """Some know threads, one ignores messages in which it is not mentioned."""
    begun = GatewaySession(
        f"session {number}",
        user_id=number,
        bot=False,
        is_staff=False,
        session_id_hash=None,
        shard=None,
        threads=number % 2 == 0,
        debounces_reactions=False,
        ignored_events=frozenset({EventName.MESSAGE_CREATE.value}) if number == 1 else frozenset(),
        presence=SessionPresence(Status.ONLINE),
    )
    begun.starting = None
    return begun


class Socket:
    """Takes what a session is sent."""

    def deliver(self, sequence: int, event: OutgoingEvent) -> None:
        pass

    def deliver_run(self, first: int, run: EventRun) -> None:
        pass

    def send_payload(self, payload: bytes) -> None:
        pass

    def session_ended(self) -> None:
        pass

    def displaced(self) -> None:
        pass

    def failed(self) -> None:
        raise AssertionError("nothing fails here")

    async def drained(self, below_bytes: int) -> None:
        pass


class RestingMachine(RuleBasedStateMachine):
    """Each session has a twin that never rests."""

    def __init__(self) -> None:
        super().__init__()
        self._sizes = {name: getattr(of_resting, name) for name in SIZES}
        vars(of_resting).update(SIZES)
        self.resting = Resting()
        self.sessions = [session(number) for number in range(SESSIONS)]
        self.twins = [session(number) for number in range(SESSIONS)]
        self.audiences: list[tuple[GatewaySession, ...]] = []
        for awake in self.sessions:
            awake.receiver = Socket()

    @initialize(members=st.lists(st.sets(st.integers(0, SESSIONS - 1), min_size=1), min_size=1, max_size=3))
    def audiences_are_made(self, members: Sequence[set[int]]) -> None:
        self.audiences = [tuple(self.sessions[number] for number in sorted(some)) for some in members]

    @rule(
        audience=st.integers(0, 2),
        kind=st.sampled_from(["plain", "unretained", "mentioning", "with threads", "not to all"]),
        times=st.sampled_from([1, 1, 2, 5, 12, 25]),
    )
    def events_are_delivered(self, audience: int, kind: str, times: int) -> None:
        receivers = self.audiences[audience % len(self.audiences)]
        for _ in range(times):
            delivery = Delivery(
                OutgoingEvent(EventName.MESSAGE_CREATE, b'{"content":"hi"}', retained=kind != "unretained"),
                receivers,
                mentions=Mentions(user_ids=frozenset({1})) if kind == "mentioning" else None,
                thread_event=OutgoingEvent(EventName.MESSAGE_CREATE, b'{"a":"thread"}')
                if kind == "with threads"
                else None,
                ignoring_session="session 0" if kind == "not to all" else None,
            )
            for awake in self.resting.take(delivery):
                self._tell(awake, delivery)
            while self.resting.keep_pace():
                pass
            for receiver in receivers:
                self._tell(self.twins[receiver.user_id], delivery)

    @rule(number=st.integers(0, SESSIONS - 1))
    def one_is_told_alone(self, number: int) -> None:
        event = OutgoingEvent(EventName.GUILD_CREATE, b"{}")
        if not self.sessions[number].ended:
            self.sessions[number].dispatch(event)
            self.twins[number].dispatch(event)

    @rule(number=st.integers(0, SESSIONS - 1))
    def one_loses_its_socket(self, number: int) -> None:
        loses = self.sessions[number]
        if loses.receiver is not None:
            loses.receiver = None
            self.resting.add(loses)

    @rule(number=st.integers(0, SESSIONS - 1))
    def one_has_a_socket_again(self, number: int) -> None:
        finds = self.sessions[number]
        if finds.receiver is None and not finds.ended:
            self.resting.remove(finds)
            finds.receiver = Socket()

    @rule(number=st.integers(0, SESSIONS - 1))
    def one_ends(self, number: int) -> None:
        over = self.sessions[number]
        over.ended = self.twins[number].ended = True
        over.receiver = None
        self.resting.remove(over)

    @rule(number=st.integers(0, SESSIONS - 1))
    def one_is_looked_at(self, number: int) -> None:
        self._require_alike(self.sessions[number], self.twins[number])

    def teardown(self) -> None:
        try:
            for one, twin in zip(self.sessions, self.twins, strict=True):
                self._require_alike(one, twin)
        finally:
            vars(of_resting).update(self._sizes)

    @rule()
    def all_are_numbered(self) -> None:
        self.resting.settle()
        for one, twin in zip(self.sessions, self.twins, strict=True):
            assert one._numbering.sequence == twin._numbering.sequence

    @invariant()
    def what_waits_is_bounded(self) -> None:
        assert len(self.resting._open) < SIZES["DELIVERIES"]
        assert not self.resting._due or self.resting._open.fullness() < of_resting.NUMBERED_WITHIN

    @staticmethod
    def _tell(told: GatewaySession, delivery: Delivery) -> None:
        event = None if told.ended else delivery.event_for(told)
        if event is not None:
            told.dispatch(event)

    @staticmethod
    def _require_alike(one: GatewaySession, twin: GatewaySession) -> None:
        assert one.numbering.sequence == twin.numbering.sequence
        assert one.numbering.retained_above(0) == twin.numbering.retained_above(0)
        assert one.numbering.retained_bytes == twin.numbering.retained_bytes


RestingMachine.TestCase.settings = settings(max_examples=60, stateful_step_count=30, deadline=None)
TestResting = RestingMachine.TestCase


async def test_a_delivery_costs_one_that_rests_nothing_until_it_is_looked_at() -> None:
    resting, rests = Resting(), session(0)
    fanout = Fanout(resting=resting)
    resting.add(rests)
    receivers = (rests,)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(fanout.run)
        for _ in range(3):
            fanout.queue(Delivery(OutgoingEvent(EventName.MESSAGE_CREATE, b"{}"), receivers))
        await trio.testing.wait_all_tasks_blocked()
        nursery.cancel_scope.cancel()
    rests.settle, settle = None, rests.settle
    assert rests.numbering.sequence == 0
    rests.settle = settle
    assert rests.numbering.sequence == rests.numbering.retained_count == 3


async def test_who_rests_is_looked_up_a_few_times_for_each_delivery_however_many_wait(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    resting, rest = Resting(), [session(number) for number in range(250)]
    for each in rest:
        resting.add(each)
    looks = 0
    split = Resting._split

    def counted(self: Resting, receivers: Sequence[GatewaySession]) -> of_resting.AwakeSplit:
        nonlocal looks
        looks += 1
        self._splits.clear()  # as though another session had lost its socket
        return split(self, receivers)

    monkeypatch.setattr(Resting, "_split", counted)
    fanout = Fanout(resting=resting)
    deliveries = 320
    for _ in range(deliveries):
        fanout.queue(Delivery(OutgoingEvent(EventName.MESSAGE_CREATE, b"{}"), tuple(rest)))
    async with trio.open_nursery() as nursery:
        nursery.start_soon(fanout.run)
        await trio.testing.wait_all_tasks_blocked()
        nursery.cancel_scope.cancel()
    assert rest[0].numbering.sequence == deliveries
    assert looks <= 2 * deliveries
