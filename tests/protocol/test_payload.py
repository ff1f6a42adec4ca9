"""What a client's message says: the table of framing_cases.json, and what always holds of the decoder.

Area: protocol. Rules: 000.framing, 000.limits, 000.opcodes, 000.payload.
"""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any, Final

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from chat.protocol.machine import Settled, settle_payload
from chat.protocol.payload import (
    HEARTBEAT_ACK,
    HEARTBEAT_REQUEST,
    INVALID_SESSION,
    RECONNECT,
    Payload,
    decode_payload,
    hello,
)
from chat.protocol.transitions import Kind
from chat.registries.close_codes import DECODE_FAILED, INVALID_PAYLOAD, PAYLOAD_TOO_LARGE, Close
from chat.registries.opcodes import Opcode
from tests.spec.gateway_tables import FRAMING, rules_of
from tests.spec.ledger import proves

CASES: Final = json.loads(
    (Path(__file__).parents[2] / "spec_fixtures" / "gateway" / "framing_cases.json").read_text(encoding="utf-8")
)


def verdict(data: bytes) -> Any:
    """What the decoder and, for a missing `d`, the settlement make of a message, in the fixture's words."""
    payload = decode_payload(data)
    settled = Settled(Kind.FAULT, payload) if isinstance(payload, Close) else settle_payload(payload)
    if settled.kind is not Kind.FAULT:
        return "ok"
    assert isinstance(settled.subject, Close)
    return [settled.subject.code, settled.subject.reason]


@pytest.mark.rule("000.payload.1")
@pytest.mark.parametrize("case", CASES, ids=[case["name"] for case in CASES])
def test_a_case_of_the_table(case: dict[str, Any]) -> None:
    with proves(*rules_of(FRAMING, case["name"])):
        data = base64.b64decode(case["base64"]) if "base64" in case else case["text"].encode()
        assert verdict(data) == case["verdict"]


@pytest.mark.rule("000.framing.15")
def test_zstd_data_on_an_uncompressed_connection_fails_to_decode() -> None:
    assert decode_payload(bytes.fromhex("28b52ffd0458550000097b226f70223a317d")) is DECODE_FAILED


def test_null_and_absent_d_are_told_apart() -> None:
    assert decode_payload(b'{"op":1,"d":null}') == Payload(1, True, None)
    assert decode_payload(b'{"op":1}') == Payload(1, False, None)


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**70), 2**70)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=8),
    lambda children: st.lists(children, max_size=4) | st.dictionaries(st.text(max_size=3), children, max_size=4),
    max_leaves=20,
)


@given(st.integers(), JSON, st.booleans())
def test_what_json_can_say_arrives_unchanged(op: int, d: Any, ascii_only: bool) -> None:
    message = json.dumps({"op": op, "d": d}, ensure_ascii=ascii_only)
    assert decode_payload(message.encode()) == Payload(op, True, d)


@given(st.binary(max_size=200) | st.text(max_size=200).map(lambda text: text.encode(errors="surrogatepass")))
@example(b"\xef\xbb\xbf{}")
@example(b'{"op":' + b"9" * 4_300 + b',"d":0}')
@example(b"[" * 16_384)
def test_any_bytes_are_a_payload_or_a_documented_close(data: bytes) -> None:
    outcome = decode_payload(data)
    assert isinstance(outcome, Payload) or outcome in (DECODE_FAILED, INVALID_PAYLOAD)


@given(st.text(alphabet='{}[]":,opd01eE+-.\\u \n\tntrufalsNI', max_size=60))
def test_near_json_is_a_payload_or_a_documented_close(text: str) -> None:
    outcome = decode_payload(text.encode())
    if isinstance(outcome, Payload):
        assert json.loads(text)["op"] == outcome.op


@given(st.integers(1, 200))
def test_depth_is_bounded_at_64_wherever_the_nesting_stands(depth: int) -> None:
    nested = "[" * depth + "]" * depth
    beside = decode_payload(b'{"op":3,"d":0,"x":%b}' % nested.encode())
    inside = decode_payload(b'{"op":3,"d":%b}' % nested.encode())
    for outcome in (beside, inside):
        assert isinstance(outcome, Payload) is (depth + 1 <= 64)


def test_brackets_in_text_are_no_nesting() -> None:
    assert isinstance(decode_payload(b'{"op":3,"d":"%b"}' % (b"[{" * 5_000)), Payload)


def test_wide_is_not_deep() -> None:
    assert isinstance(decode_payload(b'{"op":3,"d":[%b]}' % b",".join([b"[]"] * 5_000)), Payload)


@pytest.mark.rule("000.limits.1", "000.framing.4")
def test_size_is_judged_before_content() -> None:
    assert isinstance(decode_payload(b'{"op":1,"d":0}'.ljust(16_384)), Payload)
    assert decode_payload(b'{"op":1,"d":0}'.ljust(16_385)) is PAYLOAD_TOO_LARGE
    assert decode_payload(b"\xff" * 16_385) is PAYLOAD_TOO_LARGE


def test_the_servers_fixed_payloads() -> None:
    with proves("000.payload.3"):
        assert json.loads(HEARTBEAT_ACK) == {"op": Opcode.HEARTBEAT_ACK}
    with proves("000.payload.4"):
        assert json.loads(RECONNECT) == {"op": Opcode.RECONNECT}
    with proves("000.opcodes.10"):
        assert json.loads(INVALID_SESSION) == {"op": Opcode.INVALID_SESSION, "d": False}
    assert json.loads(HEARTBEAT_REQUEST) == {"op": Opcode.HEARTBEAT, "d": None}
    with proves("000.opcodes.11", "000.opcodes.12"):
        assert json.loads(hello(41_250)) == {"op": Opcode.HELLO, "d": {"heartbeat_interval": 41_250}}
