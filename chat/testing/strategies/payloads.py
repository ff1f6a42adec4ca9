"""Messages on the transport: what brings a socket down, and what a server says."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import strategies as st

from chat.registries.close_codes import DECODE_FAILED, INVALID_PAYLOAD, PAYLOAD_TOO_LARGE, Close
from chat.registries.events import EventName
from chat.registries.limits import INBOUND_MESSAGE_BYTES
from chat.registries.opcodes import Opcode
from chat.testing.strategies.objects import messages, readies, ready_guilds
from chat.testing.strategies.values import all_but, json_values, snowflakes, texts


def malformed_messages() -> st.SearchStrategy[tuple[bytes, Close]]:
    """Uncompressed messages that close the socket in every state, with the close that they bring about."""
    return st.one_of(
        _not_json().map(lambda data: (data, DECODE_FAILED)),
        all_but(dict).map(lambda value: (json.dumps(value).encode(), DECODE_FAILED)),
        _without_op().map(lambda value: (json.dumps(value).encode(), INVALID_PAYLOAD)),
        st.integers(INBOUND_MESSAGE_BYTES + 1, INBOUND_MESSAGE_BYTES + 4_096).map(
            lambda size: (heartbeat_of(size), PAYLOAD_TOO_LARGE)
        ),
    )


def _not_json() -> st.SearchStrategy[bytes]:
    return st.one_of(
        st.just(b""),
        st.binary(min_size=1, max_size=64).filter(_is_not_utf8),
        st.sampled_from([b"{", b"{}{}", b'{"op":1,}', b"{'op':1}", b'{"op":NaN}', b'{"op":1,"d":1e999}', b"[" * 8_000]),
        st.just(json.dumps({"op": 1, "d": None}).encode("utf-16")),
        st.just(b'{"op":3,"d":"\\ud800"}'),
    )


def _is_not_utf8(data: bytes) -> bool:
    try:
        data.decode()
    except UnicodeDecodeError:
        return True
    return False


def _without_op() -> st.SearchStrategy[dict[str, Any]]:
    nameless = st.dictionaries(texts(maximum=5).filter(lambda key: key != "op"), json_values(3), max_size=3)
    return nameless | st.builds(lambda rest, op: {**rest, "op": op}, nameless, all_but(int))


def heartbeat_of(size: int) -> bytes:
    """A well-formed Heartbeat of exactly so many bytes (at least 17), padded with white space."""
    payload = b'{"op":1,"d":null}'
    return payload + b" " * (size - len(payload))


def dispatches() -> st.SearchStrategy[dict[str, Any]]:
    """Payloads with opcode 0."""

    def dispatch(name: EventName, data: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
        return st.builds(lambda s, d: {"op": 0, "t": name.value, "s": s, "d": d}, st.integers(1, 2**31), data)

    deleted = st.fixed_dictionaries({"id": snowflakes(), "channel_id": snowflakes(), "guild_id": snowflakes()})
    return st.one_of(
        dispatch(EventName.READY, readies()),
        dispatch(EventName.RESUMED, st.just({})),
        dispatch(EventName.GUILD_CREATE, ready_guilds()),
        dispatch(EventName.GUILD_SYNC, ready_guilds()),
        dispatch(EventName.MESSAGE_CREATE, messages()),
        dispatch(EventName.MESSAGE_UPDATE, messages()),
        dispatch(EventName.MESSAGE_DELETE, deleted),
    )


def server_payloads() -> st.SearchStrategy[dict[str, Any]]:
    """Whatever a server says."""
    plain: list[dict[str, Any]] = [
        {"op": int(Opcode.HEARTBEAT), "d": None},
        {"op": int(Opcode.RECONNECT)},
        {"op": int(Opcode.INVALID_SESSION), "d": False},
        {"op": int(Opcode.HELLO), "d": {"heartbeat_interval": 41_250}},
        {"op": int(Opcode.HEARTBEAT_ACK)},
    ]
    return st.sampled_from(plain) | dispatches()
