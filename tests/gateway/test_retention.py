"""What is written down of sessions: each event once, and sessions that stand afterwards where they stood."""

from __future__ import annotations

from typing import Final

import orjson
from hypothesis import given, settings
from hypothesis import strategies as st

from chat.gateway.retention import RUN_EVENTS, at_rest, revived
from chat.gateway.session import GatewaySession
from chat.protocol.frames import EventRun, OutgoingEvent
from chat.registries.events import EventName
from chat.registries.limits import REPLAY_DISPATCHES
from tests.gateway.test_resting import session

EVENTS: Final = [OutgoingEvent(EventName.MESSAGE_CREATE, b'{"n":%d}' % number) for number in range(2 * RUN_EVENTS)]
SYNC: Final = OutgoingEvent(EventName.GUILD_SYNC, b"{}", retained=False)

KINDS: Final = {GatewaySession.mount: GatewaySession}

heard = st.lists(
    st.tuples(st.integers(0, len(EVENTS) - 1), st.integers(1, len(EVENTS)), st.sampled_from(["one by one", "together"]))
    | st.just("not retained")
    | st.tuples(st.just("acknowledged"), st.floats(0, 1)),
    max_size=6,
)
"""What a session hears: stretches of the events, in any order and as often as it may be."""


def a_session(number: int, history: list[object]) -> GatewaySession:
    begun = session(number)
    numbering = begun.numbering
    for happening in history:
        match happening:
            case "not retained":
                numbering.number(SYNC)
            case ("acknowledged", float(share)):
                numbering.acknowledge(int(share * numbering.sequence))
            case (int(start), int(length), "together"):
                numbering.number_run(EventRun(EVENTS[start : start + length]))
            case (int(start), int(length), _):
                for event in EVENTS[start : start + length]:
                    numbering.number(event)
    return begun


def standing(session: GatewaySession) -> object:
    numbering = session.numbering
    retained = [(sequence, event.name, event.data) for sequence, event in numbering.retained_above(0)]
    return numbering.sequence, numbering.acknowledged, numbering.replay_floor, numbering.retained_bytes, retained


@settings(max_examples=60, deadline=None)
@given(histories=st.lists(heard, max_size=4))
def test_sessions_stand_where_they_stood_and_no_event_is_written_twice(histories: list[list[object]]) -> None:
    before = [a_session(number, history) for number, history in enumerate(histories)]
    records, events = at_rest(before, stored_at=1)
    after = list(revived(records, events, KINDS))
    assert [standing(one) for one in after] == [standing(one) for one in before]
    assert [event.id for event in events] == list(range(len(events)))
    retained = {event for one in before for _, event in one.numbering.retained_above(0)}
    assert sorted(event.data for event in events) == sorted(event.data for event in retained)


def test_sessions_that_heard_the_same_are_one_range_each_and_share_it_afterwards() -> None:
    before = [a_session(number, ["not retained", (0, len(EVENTS), "one by one")] * 4) for number in range(3)]
    records, events = at_rest(before, stored_at=1)
    assert len(events) == len(EVENTS)
    for record in records:
        assert [length for _, _, length in orjson.loads(record.body)["held"]] == [len(EVENTS)] * 4
    first, second, _ = revived(records, events, KINDS)
    assert first.numbering.retained_count == REPLAY_DISPATCHES
    entries = [entry for entry in first.numbering._entries if isinstance(entry, EventRun)]
    assert len(entries) == 4 * len(EVENTS) // RUN_EVENTS
    assert all(
        one is other
        for one, other in zip(first.numbering._entries, second.numbering._entries, strict=True)
        if isinstance(one, EventRun)
    )


def test_a_session_of_another_version_is_left_out() -> None:
    (record,), events = at_rest([a_session(1, [])], stored_at=1)
    body = orjson.dumps({**orjson.loads(record.body), "format": 1})
    assert list(revived([type(record)(record.session_id, record.user_id, body, 1)], events, KINDS)) == []
