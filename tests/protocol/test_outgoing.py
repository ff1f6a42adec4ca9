"""Dispatches on their way out: one event, many receivers; and the frames that carry payloads.

Area: protocol. Rules: 000.framing, 000.payload.
"""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from wsproto.frame_protocol import FrameDecoder
from wsproto.frame_protocol import Opcode as FrameOpcode

from chat.protocol.frames import EventRun, OutgoingEvent, binary_frame, encode_event_prefix, text_frame
from chat.registries.events import EventName
from chat.registries.limits import RETAINED_EVENT_BYTES


def unframe(data: bytes) -> tuple[FrameOpcode, bytes]:
    """One whole message, as an independent reader of RFC 6455 sees it from the client's side."""
    decoder = FrameDecoder(client=True)
    decoder.receive_bytes(data)
    opcode, content, finished = None, b"", False
    while not finished:
        frame = decoder.process_buffer()
        assert frame is not None, "the frame is shorter than its header says"
        assert isinstance(frame.payload, bytes | bytearray)
        opcode = frame.opcode if opcode is None else opcode
        content += frame.payload
        finished = frame.frame_finished and frame.message_finished
    assert decoder.process_buffer() is None, "something follows the frame"
    assert opcode is not None
    return opcode, content


@pytest.mark.rule("000.payload.5", "000.payload.6")
@pytest.mark.parametrize("name", EventName)
def test_a_dispatch_carries_its_name_and_its_sequence(name: EventName) -> None:
    event = OutgoingEvent(name, b'{"x":[1]}')
    assert json.loads(event.payload(7)) == {"op": 0, "t": name.value, "s": 7, "d": {"x": [1]}}


@pytest.mark.rule("000.framing.1")
@given(st.integers(1, 10**15), st.integers(0, 140))
def test_a_frame_holds_exactly_its_payload(sequence: int, width: int) -> None:
    event = OutgoingEvent(EventName.MESSAGE_CREATE, json.dumps("x" * width).encode())
    opcode, content = unframe(event.frame(sequence))
    assert opcode is FrameOpcode.TEXT
    assert content == event.payload(sequence)
    assert len(content) == event.size + len(str(sequence))


@pytest.mark.parametrize("size", [0, 1, 124, 125, 126, 127, 128, 65_534, 65_535, 65_536, 65_537, 2_097_152])
def test_frames_of_every_length_of_header(size: int) -> None:
    payload = b"x" * size
    assert unframe(text_frame(payload)) == (FrameOpcode.TEXT, payload)
    assert unframe(binary_frame(payload)) == (FrameOpcode.BINARY, payload)


@pytest.mark.parametrize("size", [125, 126, 65_535, 65_536])
def test_one_event_crosses_the_lengths_of_headers_as_its_sequence_grows(size: int) -> None:
    bare = OutgoingEvent(EventName.TYPING_START, b"1").size - 1
    event = OutgoingEvent(EventName.TYPING_START, b"1" * (size - bare - 1))
    for sequence in (9, 10, 99, 100, 9, 10):
        assert unframe(event.frame(sequence)) == (FrameOpcode.TEXT, event.payload(sequence))


def test_the_same_event_reads_alike_to_all_but_for_the_sequence() -> None:
    event = OutgoingEvent(EventName.MESSAGE_CREATE, b'{"content":"hi"}')
    payloads = [json.loads(event.payload(sequence)) for sequence in (1, 22, 333)]
    assert [payload.pop("s") for payload in payloads] == [1, 22, 333]
    assert payloads[0] == payloads[1] == payloads[2]


@pytest.mark.rule("000.framing.1")
@given(st.lists(st.integers(0, 200), min_size=1, max_size=6), st.integers(1, 10**6))
def test_a_run_is_framed_like_its_events_one_by_one(widths: list[int], first: int) -> None:
    events = [OutgoingEvent(EventName.MESSAGE_CREATE, json.dumps("x" * width).encode()) for width in widths]
    run = EventRun(events)
    assert run.frames(first) == b"".join(event.frame(first + place) for place, event in enumerate(events))
    assert run.size == sum(event.size for event in events)
    assert run.all_retained
    assert not EventRun([*events, OutgoingEvent(EventName.GUILD_SYNC, b"{}", retained=False)]).all_retained


def test_the_data_of_an_event_can_be_taken_out_again() -> None:
    assert OutgoingEvent(EventName.MESSAGE_CREATE, b'{"content":"hi"}').data == b'{"content":"hi"}'


def test_events_over_2_mib_are_never_retained() -> None:
    bare = OutgoingEvent(EventName.MESSAGE_CREATE, b"").size
    assert OutgoingEvent(EventName.MESSAGE_CREATE, b"1" * (RETAINED_EVENT_BYTES - bare)).retained
    assert not OutgoingEvent(EventName.MESSAGE_CREATE, b"1" * (RETAINED_EVENT_BYTES - bare + 1)).retained
    assert not OutgoingEvent(EventName.GUILD_SYNC, b"1", retained=False).retained


def test_prefixes_are_made_once() -> None:
    assert encode_event_prefix("READY") is encode_event_prefix("READY")
    assert OutgoingEvent("READY", b"1").prefix is OutgoingEvent("READY", b"2").prefix


@pytest.mark.parametrize("count", [1, 2, 3])
@pytest.mark.parametrize("first", [1, 7, 8, 9, 98, 99, 12_345])
def test_a_run_is_framed_right_where_sequences_grow_longer_and_whatever_the_content(first: int, count: int) -> None:
    run = EventRun([OutgoingEvent(EventName.MESSAGE_CREATE, b'{"content":"100%% %d %"}') for _ in range(count)])
    for receiver in (first, first, first + 1, first):
        one_by_one = b"".join(event.frame(sequence) for sequence, event in enumerate(run.events, receiver))
        assert run.frames(receiver) == one_by_one
