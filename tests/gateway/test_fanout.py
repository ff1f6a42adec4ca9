"""Delivery: order, batches, fairness, and who is left out."""

import orjson
import trio
import trio.testing
from trio.testing import MockClock

from chat.bus.audience import Mentions
from chat.domain.presence.account_presence import SessionPresence
from chat.gateway.fanout import SESSIONS_PER_TURN, Delivery, Fanout
from chat.gateway.session import GatewaySession
from chat.protocol.frames import EventRun, OutgoingEvent
from chat.registries.statuses import Status


class Socket:
    """Keeps what it is given, and counts its flushes."""

    def __init__(self, fanout: Fanout) -> None:
        self._fanout = fanout
        self._waits = False
        self.delivered: list[tuple[int, str]] = []
        self.flushes = 0
        self.sends = 0
        """How often the fan-out said that it has no more for this socket, so that it may be written at once."""

    def deliver(self, sequence: int, event: OutgoingEvent) -> None:
        self.delivered.append((sequence, orjson.loads(event.data)["n"]))
        if self._fanout.has_no_more and not self._waits:
            self.sends += 1
        elif not self._waits:
            self._waits = True
            self._fanout.flush_later(self)

    def deliver_run(self, first: int, run: EventRun) -> None:
        self.deliver(first, run.events[0])
        self.delivered.extend(
            (sequence, orjson.loads(event.data)["n"]) for sequence, event in enumerate(run.events[1:], first + 1)
        )

    def flush(self) -> None:
        self._waits = False
        self.flushes += 1

    def send_payload(self, payload: bytes) -> None:
        raise AssertionError("only Dispatches are delivered")

    def session_ended(self) -> None:
        raise AssertionError

    displaced = session_ended

    async def drained(self, below_bytes: int) -> None:
        await trio.lowlevel.checkpoint()


def session(
    fanout: Fanout, name: str = "s", *, ignored: frozenset[str] = frozenset(), threads: bool = False
) -> tuple[GatewaySession, Socket]:
    made = GatewaySession(
        name,
        user_id=7,
        bot=False,
        is_staff=False,
        session_id_hash=None,
        shard=None,
        threads=threads,
        debounces_reactions=False,
        ignored_events=ignored,
        presence=SessionPresence(Status.ONLINE),
    )
    made.starting = None
    made.receiver = socket = Socket(fanout)
    return made, socket


def event(number: object, name: str = "TYPING_START") -> OutgoingEvent:
    return OutgoingEvent(name, orjson.dumps({"n": number}))


async def test_events_queued_together_are_numbered_in_order_and_flushed_once(autojump_clock: MockClock) -> None:
    fanout = Fanout()
    made, socket = session(fanout)
    for number in range(8):
        fanout.queue(Delivery(event(number), (made,)))
    assert fanout.backlog() == 8
    async with trio.open_nursery() as nursery:
        nursery.start_soon(fanout.run)
        await trio.testing.wait_all_tasks_blocked()
        nursery.cancel_scope.cancel()
    assert socket.delivered == [(number + 1, number) for number in range(8)]
    assert (socket.sends, socket.flushes) == (0, 1)
    assert fanout.backlog() == 0


async def test_a_socket_is_written_with_the_last_that_a_batch_has_for_it(autojump_clock: MockClock) -> None:
    fanout = Fanout()
    (one, first), (other, second), (choosy, third) = (
        session(fanout),
        session(fanout),
        session(fanout, ignored=frozenset({"TYPING_STOP"})),
    )
    everybody = (one, other, choosy)
    fanout.queue(Delivery(event(0), (one,)))
    for number in range(1, 4):
        fanout.queue(Delivery(event(number), everybody))
    async with trio.open_nursery() as nursery:
        nursery.start_soon(fanout.run)
        await trio.testing.wait_all_tasks_blocked()
        nursery.cancel_scope.cancel()
    assert first.delivered == [(number + 1, number) for number in range(4)]
    assert second.delivered == third.delivered == [(number, number) for number in range(1, 4)]
    assert (first.sends, first.flushes) == (0, 1)  # it waited with what the first run had brought
    assert (second.sends, second.flushes) == (1, 0)
    assert (third.sends, third.flushes) == (0, 1)  # it is dispatched one event after the other


async def test_a_large_audience_gives_other_tasks_their_turn(autojump_clock: MockClock) -> None:
    fanout = Fanout()
    audience = tuple(session(fanout, str(number))[0] for number in range(3 * SESSIONS_PER_TURN))
    turns = 0

    async def somebody_else() -> None:
        nonlocal turns
        while audience[-1].numbering.sequence == 0:
            turns += 1
            await trio.lowlevel.checkpoint()

    async with trio.open_nursery() as nursery:
        nursery.start_soon(fanout.run)
        await trio.testing.wait_all_tasks_blocked()
        fanout.queue(Delivery(event(1), audience))
        nursery.start_soon(somebody_else)
        await trio.testing.wait_all_tasks_blocked()
        nursery.cancel_scope.cancel()
    assert turns >= 2
    assert all(made.numbering.sequence == 1 for made in audience)


async def test_an_ignored_event_takes_no_number_unless_it_mentions_the_account(autojump_clock: MockClock) -> None:
    fanout = Fanout()
    made, socket = session(fanout, ignored=frozenset({"MESSAGE_CREATE", "TYPING_START"}))
    async with trio.open_nursery() as nursery:
        nursery.start_soon(fanout.run)
        fanout.queue(Delivery(event(1, "MESSAGE_CREATE"), (made,), Mentions()))
        fanout.queue(Delivery(event(2, "MESSAGE_CREATE"), (made,), Mentions(user_ids=frozenset({7}))))
        fanout.queue(Delivery(event(3), (made,), Mentions(everyone=True)))
        fanout.queue(Delivery(event(4, "MESSAGE_DELETE"), (made,)))
        await trio.testing.wait_all_tasks_blocked()
        nursery.cancel_scope.cancel()
    assert socket.delivered == [(1, 2), (2, 4)]


async def test_sessions_that_know_threads_get_their_own_form_and_one_may_be_left_out(
    autojump_clock: MockClock,
) -> None:
    fanout = Fanout()
    plain, plain_socket = session(fanout, "plain")
    knowing, knowing_socket = session(fanout, "knowing", threads=True)
    actor, actor_socket = session(fanout, "actor")
    async with trio.open_nursery() as nursery:
        nursery.start_soon(fanout.run)
        fanout.queue(
            Delivery(event("plain"), (plain, knowing, actor), thread_event=event("threads"), ignoring_session="actor")
        )
        await trio.testing.wait_all_tasks_blocked()
        nursery.cancel_scope.cancel()
    assert plain_socket.delivered == [(1, "plain")]
    assert knowing_socket.delivered == [(1, "threads")]
    assert actor_socket.delivered == []


async def test_an_ended_session_is_passed_over(autojump_clock: MockClock) -> None:
    fanout = Fanout()
    made, socket = session(fanout)
    made.ended = True
    async with trio.open_nursery() as nursery:
        nursery.start_soon(fanout.run)
        fanout.queue(Delivery(event(1), (made,)))
        await trio.testing.wait_all_tasks_blocked()
        nursery.cancel_scope.cancel()
    assert socket.delivered == []
    assert made.numbering.sequence == 0


async def test_a_costly_delivery_waits_for_what_is_about_to_come_but_not_for_ever(autojump_clock: MockClock) -> None:
    causes = 1
    fanout = Fanout(lambda: causes)
    audience = tuple(session(fanout, str(number))[0] for number in range(1_000))
    async with trio.open_nursery() as nursery:
        nursery.start_soon(fanout.run)
        fanout.queue(Delivery(event(1), audience))
        await trio.sleep(0.004)
        assert audience[0].numbering.sequence == 0
        fanout.queue(Delivery(event(2), audience))
        causes = 0
        await trio.sleep(0.001)
        assert audience[-1].numbering.sequence == 2
        causes = 1
        fanout.queue(Delivery(event(3), audience))
        await trio.sleep(0.05)
        assert audience[-1].numbering.sequence == 3
        nursery.cancel_scope.cancel()
