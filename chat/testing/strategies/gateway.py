"""What a gateway client sends (gateway-codes.md, Opcodes; gateway.md, Presence Update).

The strategies of one opcode give its `d`. Unless said otherwise a valid one satisfies the opcode's rules; what else
can be wrong (an unknown token, a sequence out of bounds) depends on the server.
"""

from __future__ import annotations

import json
from typing import Any, Final

from hypothesis import strategies as st

from chat.registries.close_codes import DECODE_FAILED, INVALID_PAYLOAD, PAYLOAD_TOO_LARGE, Close
from chat.registries.events import EventName
from chat.registries.limits import (
    CHANNEL_COUNTS_CHANNELS,
    GUILD_COUNTS_GUILDS,
    IGNORED_EVENTS_MAXIMUM,
    INBOUND_MESSAGE_BYTES,
    LAZY_RANGE_END,
    LAZY_RANGE_SPAN,
    LAZY_RANGES,
    MEMBERS_USER_IDS,
    SHARD_COUNT_MAXIMUM,
)
from chat.registries.opcodes import SESSION_COMMANDS, Opcode
from chat.registries.statuses import Status
from chat.testing.strategies.objects import messages, readies, ready_guilds
from chat.testing.strategies.values import Body, all_but, json_values, snowflakes, texts, timestamps, words

REQUIRED_PROPERTIES: Final = ("os", "browser", "device")

SENT_BY_CLIENTS: Final = frozenset({Opcode.HEARTBEAT, Opcode.IDENTIFY, Opcode.RESUME, *SESSION_COMMANDS})


def heartbeats(current: int = 0) -> st.SearchStrategy[int | None]:
    """What a session whose sequence is `current` accepts."""
    return st.none() | st.integers(0, current)


def invalid_heartbeats(current: int = 0) -> st.SearchStrategy[Any]:
    """What it closes 4007 for."""
    return all_but(int, type(None)) | st.integers(max_value=-1) | st.integers(current + 1, 2**53)


def invalid_shard_pairs() -> st.SearchStrategy[Any]:
    """What closes 4010 `Invalid shard`."""
    counts = st.integers(1, SHARD_COUNT_MAXIMUM)
    return (
        all_but(list, type(None))
        | st.lists(st.integers(0, 3), max_size=4).filter(lambda pair: len(pair) != 2)
        | counts.flatmap(lambda count: st.tuples(st.integers(min_value=count), st.just(count)).map(list))
        | st.tuples(st.integers(max_value=-1), counts).map(list)
        | st.tuples(st.just(0), st.integers(max_value=0) | st.integers(min_value=SHARD_COUNT_MAXIMUM + 1)).map(list)
        | st.tuples(all_but(int), counts).map(list)
        | st.tuples(st.just(0), all_but(int)).map(list)
    )


def custom_statuses() -> st.SearchStrategy[Body]:
    """Beside a status; the time may lie in the past, which makes the server keep the one that was there."""
    return st.fixed_dictionaries(
        {},
        optional={
            "text": st.none() | words(1, 128),
            "expires_at": st.none() | timestamps(),
            "emoji_id": st.none() | snowflakes(),
            "emoji_name": st.none() | words(1, 32),
        },
    )


def presence_updates() -> st.SearchStrategy[Body]:
    """`d` of opcode 3."""
    return st.fixed_dictionaries(
        {"status": st.sampled_from(["", *Status])},
        optional={
            "afk": st.booleans(),
            "mobile": st.booleans(),
            "custom_status": st.none() | custom_statuses(),
            "since": st.none() | st.integers(0, 2**40),
            "activities": st.just([]),
        },
    )


def invalid_presence_updates() -> st.SearchStrategy[Any]:
    """`d` of opcode 3 that closes 4002 `Invalid presence payload`."""
    unknown = texts(1, 12).filter(lambda status: status not in set(Status))
    return all_but(dict) | st.just({"afk": True}) | st.fixed_dictionaries({"status": unknown})


def identifies(tokens: st.SearchStrategy[str]) -> st.SearchStrategy[Body]:
    """`d` of opcode 2 with one of these tokens."""
    properties = st.fixed_dictionaries(
        {name: texts(maximum=20) for name in REQUIRED_PROPERTIES},
        optional={"e2ee_capable": st.booleans(), "mobile": st.booleans(), "locale": texts(maximum=5)},
    )
    events = st.sampled_from([name.value for name in EventName]).flatmap(
        lambda name: st.sampled_from([name, name.lower()])
    )
    return st.fixed_dictionaries(
        {"token": tokens, "properties": properties},
        optional={
            "presence": st.none() | presence_updates(),
            "ignored_events": st.none() | st.lists(events, max_size=5),
            "flags": st.integers(0, 7),
            "initial_guild_id": st.none() | snowflakes(),
            "intents": st.integers(0, 2**20),
            "shard": st.none(),
        },
    )


def invalid_identifies(tokens: st.SearchStrategy[str]) -> st.SearchStrategy[Any]:
    """`d` of opcode 2 that closes 4002 `Invalid identify payload`, with any token."""

    def broken(member: str, values: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
        return st.builds(lambda data, value: {**data, member: value}, identifies(tokens), values)

    def without(member: str) -> st.SearchStrategy[Any]:
        return identifies(tokens).map(lambda data: {key: value for key, value in data.items() if key != member})

    incomplete = st.sampled_from(REQUIRED_PROPERTIES).map(
        lambda missing: {name: "x" for name in REQUIRED_PROPERTIES if name != missing}
    )
    mistyped = st.builds(
        lambda name, value: {**dict.fromkeys(REQUIRED_PROPERTIES, "x"), name: value},
        st.sampled_from(REQUIRED_PROPERTIES),
        all_but(str),
    )
    return st.one_of(
        all_but(dict),
        without("token"),
        without("properties"),
        broken("token", all_but(str) | st.just("")),
        broken("properties", all_but(dict) | incomplete | mistyped),
        broken(
            "ignored_events", all_but(list, type(None)) | st.just(["X"] * (IGNORED_EVENTS_MAXIMUM + 1)) | st.just([1])
        ),
        broken("flags", all_but(int) | st.integers(max_value=-1)),
    )


def resumes(tokens: st.SearchStrategy[str], session_ids: st.SearchStrategy[str]) -> st.SearchStrategy[Body]:
    """`d` of opcode 6 that is well formed; whether the sequence is acceptable is the session's question."""
    return st.fixed_dictionaries({"token": tokens, "session_id": session_ids, "seq": st.integers(-(2**53), 2**53)})


def invalid_resumes() -> st.SearchStrategy[Any]:
    """`d` of opcode 6 that closes 4002 `Invalid resume payload`."""
    whole: Body = {"token": "t", "session_id": "s", "seq": 0}
    missing = st.sampled_from(list(whole)).map(lambda name: {key: value for key, value in whole.items() if key != name})
    mistyped = st.one_of(
        all_but(str).map(lambda value: {**whole, "token": value}),
        all_but(str).map(lambda value: {**whole, "session_id": value}),
        all_but(int).map(lambda value: {**whole, "seq": value}),
    )
    return all_but(dict) | missing | mistyped


def voice_states(guild_ids: st.SearchStrategy[str] | None = None) -> st.SearchStrategy[Body]:
    """`d` of opcode 4."""
    flag = st.booleans() | st.just("true")
    return st.fixed_dictionaries(
        {"guild_id": st.none() | (guild_ids or snowflakes()), "channel_id": st.none() | snowflakes()},
        optional={
            "connection_id": st.none() | words(1, 36),
            "self_mute": flag,
            "self_deaf": flag,
            "self_video": flag,
            "self_stream": flag,
            "is_mobile": flag,
            "viewer_stream_keys": st.none() | st.lists(words(1, 20), max_size=3),
            "mutation_id": words(1, 36),
            "runtime_epoch": words(1, 36),
            "base_version": st.integers(0, 10),
        },
    )


def member_requests(guild_ids: st.SearchStrategy[str] | None = None) -> st.SearchStrategy[Body]:
    """`d` of opcode 8 for one guild."""
    return st.fixed_dictionaries(
        {"guild_id": guild_ids or snowflakes()},
        optional={
            "query": texts(maximum=10),
            "limit": st.integers(-1, 101),
            "user_ids": st.lists(snowflakes(), max_size=MEMBERS_USER_IDS, unique=True),
            "presences": st.booleans(),
            "nonce": st.text("abc0", min_size=1, max_size=32),
        },
    )


def lazy_requests(guild_ids: st.SearchStrategy[str] | None = None) -> st.SearchStrategy[Body]:
    """`d` of opcode 14."""
    ranges = st.integers(0, LAZY_RANGE_END - LAZY_RANGE_SPAN).flatmap(
        lambda start: st.integers(start, start + LAZY_RANGE_SPAN).map(lambda end: [start, end])
    )
    subscription = st.fixed_dictionaries(
        {},
        optional={
            "active": st.booleans(),
            "sync": st.booleans(),
            "typing": st.booleans(),
            "threads": st.booleans(),
            "member_list_channels": st.dictionaries(snowflakes(), st.lists(ranges, max_size=LAZY_RANGES), max_size=3),
            "members": st.lists(snowflakes(), max_size=5),
            "thread_member_lists": st.lists(snowflakes(), max_size=3),
        },
    )
    guilds = st.dictionaries(guild_ids or snowflakes(), subscription, max_size=3)
    return st.fixed_dictionaries({"subscriptions": guilds})


def guild_counts_requests(guild_ids: st.SearchStrategy[str] | None = None) -> st.SearchStrategy[Body]:
    """`d` of opcode 15."""
    listed = st.lists(guild_ids or snowflakes(), max_size=GUILD_COUNTS_GUILDS)
    return st.fixed_dictionaries({"guild_ids": listed}, optional={"nonce": st.text("abc", min_size=1, max_size=64)})


def channel_counts_requests(guild_ids: st.SearchStrategy[str] | None = None) -> st.SearchStrategy[Body]:
    """`d` of opcode 16."""
    return st.fixed_dictionaries(
        {"guild_id": guild_ids or snowflakes(), "channel_ids": st.lists(snowflakes(), max_size=CHANNEL_COUNTS_CHANNELS)}
    )


def forum_unreads_requests(guild_ids: st.SearchStrategy[str] | None = None) -> st.SearchStrategy[Body]:
    """`d` of opcode 28."""
    thread = st.fixed_dictionaries({"thread_id": snowflakes()}, optional={"ack_message_id": snowflakes()})
    return st.fixed_dictionaries(
        {"guild_id": guild_ids or snowflakes(), "channel_id": snowflakes(), "threads": st.lists(thread, max_size=3)}
    )


def session_commands(guild_ids: st.SearchStrategy[str] | None = None) -> st.SearchStrategy[Body]:
    """Whole payloads of the commands that a session never closes for, unless there are too many."""

    def payload(op: Opcode, data: st.SearchStrategy[Any]) -> st.SearchStrategy[Body]:
        return data.map(lambda d: {"op": int(op), "d": d})

    requests = (
        payload(Opcode.REQUEST_GUILD_MEMBERS, member_requests(guild_ids) | json_values()),
        payload(Opcode.LAZY_REQUEST, lazy_requests(guild_ids) | json_values()),
        payload(Opcode.REQUEST_GUILD_COUNTS, guild_counts_requests(guild_ids) | json_values()),
        payload(Opcode.REQUEST_CHANNEL_MEMBER_COUNTS, channel_counts_requests(guild_ids) | json_values()),
        payload(Opcode.VOICE_STATE_UPDATE, voice_states(guild_ids) | json_values()),
        payload(Opcode.PRESENCE_UPDATE, presence_updates()),
    )
    return st.one_of(*requests)


def unknown_opcodes() -> st.SearchStrategy[int]:
    """Opcodes that no client may send: undefined ones, reserved ones, and the server's."""
    return (st.integers(-1, 64) | st.integers()).filter(lambda op: op not in SENT_BY_CLIENTS)


def client_payloads(tokens: st.SearchStrategy[str]) -> st.SearchStrategy[Body]:
    """Whole payloads, of all opcodes, valid and not."""
    opcodes = st.sampled_from(sorted(SENT_BY_CLIENTS)).map(int) | unknown_opcodes()
    return st.one_of(
        st.fixed_dictionaries({"op": opcodes, "d": json_values()}),
        st.fixed_dictionaries({"op": opcodes}),
        st.fixed_dictionaries({"op": st.just(int(Opcode.IDENTIFY)), "d": identifies(tokens)}),
        st.fixed_dictionaries(
            {"op": st.just(int(Opcode.RESUME)), "d": resumes(tokens, st.text("0f", min_size=32, max_size=32))}
        ),
        session_commands(),
    )


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


def _without_op() -> st.SearchStrategy[dict[str, object]]:
    nameless = st.dictionaries(texts(maximum=5).filter(lambda key: key != "op"), json_values(3), max_size=3)
    return nameless | st.builds(lambda rest, op: {**rest, "op": op}, nameless, all_but(int))


def heartbeat_of(size: int) -> bytes:
    """A well-formed Heartbeat of exactly `size` bytes (at least 17), padded with white space."""
    payload = b'{"op":1,"d":null}'
    return payload + b" " * (size - len(payload))


def dispatches() -> st.SearchStrategy[dict[str, object]]:
    """Payloads with opcode 0."""

    def dispatch(name: EventName, data: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, object]]:
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


def server_payloads() -> st.SearchStrategy[dict[str, object]]:
    """Every payload of a server."""
    plain: list[dict[str, object]] = [
        {"op": int(Opcode.HEARTBEAT), "d": None},
        {"op": int(Opcode.RECONNECT)},
        {"op": int(Opcode.INVALID_SESSION), "d": False},
        {"op": int(Opcode.HELLO), "d": {"heartbeat_interval": 41_250}},
        {"op": int(Opcode.HEARTBEAT_ACK)},
    ]
    return st.sampled_from(plain) | dispatches()
