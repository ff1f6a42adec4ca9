"""The strategies say what they mean: what they call valid parses, what they call invalid closes as they say."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chat.protocol.commands import Identify, Resume, Shard, parse_identify, parse_resume, parse_shard
from chat.protocol.payload import Payload, decode_payload, parse_snowflake
from chat.protocol.presence import PresenceUpdate, parse_presence_update
from chat.protocol.requests import parse_guild_counts, parse_lazy_request, parse_member_request
from chat.protocol.voice import parse_voice_state
from chat.registries.close_codes import (
    INVALID_IDENTIFY_PAYLOAD,
    INVALID_PRESENCE_PAYLOAD,
    INVALID_RESUME_PAYLOAD,
    INVALID_SHARD,
)
from chat.testing import strategies
from chat.testing.strategies.gateway import guild_counts_requests, heartbeat_of, invalid_shard_pairs

TOKENS = st.just("cht_token")
SESSION_IDS = st.just("0" * 32)


@given(strategies.snowflakes())
def test_snowflakes_are_snowflakes(text: str) -> None:
    assert parse_snowflake(text) == int(text)


@given(strategies.invalid_snowflakes())
def test_invalid_snowflakes_are_none(value: object) -> None:
    assert parse_snowflake(value) is None


@given(strategies.identifies(TOKENS))
def test_identifies_are_accepted(data: object) -> None:
    assert isinstance(parse_identify(data), Identify)


@given(strategies.invalid_identifies(TOKENS))
def test_invalid_identifies_are_refused(data: object) -> None:
    assert parse_identify(data) == INVALID_IDENTIFY_PAYLOAD


@given(strategies.resumes(TOKENS, SESSION_IDS))
def test_resumes_are_accepted(data: object) -> None:
    assert isinstance(parse_resume(data), Resume)


@given(strategies.invalid_resumes())
def test_invalid_resumes_are_refused(data: object) -> None:
    assert parse_resume(data) == INVALID_RESUME_PAYLOAD


@given(strategies.shard_pairs())
def test_shard_pairs_are_accepted(pair: list[int]) -> None:
    assert parse_shard(pair) == Shard(*pair)


@given(invalid_shard_pairs())
def test_invalid_shard_pairs_are_refused(pair: object) -> None:
    assert parse_shard(pair) == INVALID_SHARD


@given(strategies.presence_updates())
def test_presence_updates_are_accepted(data: object) -> None:
    assert isinstance(parse_presence_update(data), PresenceUpdate)


@given(strategies.invalid_presence_updates())
def test_invalid_presence_updates_are_refused(data: object) -> None:
    assert parse_presence_update(data) == INVALID_PRESENCE_PAYLOAD


@given(strategies.voice_states(), strategies.member_requests(), strategies.lazy_requests(), guild_counts_requests())
def test_requests_to_a_session_are_understood(
    voice_state: object, member_request: object, lazy_request: object, guild_counts: object
) -> None:
    assert parse_voice_state(voice_state) is not None
    assert parse_member_request(member_request, False) is not None
    assert parse_lazy_request(lazy_request) is not None
    assert parse_guild_counts(guild_counts) is not None


@given(strategies.malformed_messages())
def test_malformed_messages_close_as_they_say(message_and_close: tuple[bytes, object]) -> None:
    message, close = message_and_close
    assert decode_payload(message) == close


@given(strategies.client_payloads(TOKENS))
def test_client_payloads_decode(payload: dict[str, object]) -> None:
    decoded = decode_payload(json.dumps(payload).encode())
    assert isinstance(decoded, Payload)
    assert (decoded.op, decoded.has_d) == (payload["op"], "d" in payload)


def test_a_heartbeat_is_as_long_as_it_is_to_be() -> None:
    message = heartbeat_of(16_384)
    assert len(message) == 16_384
    assert decode_payload(message) == Payload(1, True, None)


@pytest.mark.parametrize(
    "objects",
    [
        strategies.partial_users(),
        strategies.roles(),
        strategies.channels(),
        strategies.members(),
        strategies.guilds(),
        strategies.ready_guilds(),
        strategies.messages(),
        strategies.invites(),
        strategies.readies(),
        strategies.server_payloads(),
        strategies.registrations(),
        strategies.message_bodies(),
    ],
    ids=str,
)
def test_objects_survive_the_wire(objects: st.SearchStrategy[object]) -> None:
    @given(objects)
    def survives(value: object) -> None:
        assert json.loads(json.dumps(value)) == value

    survives()


@given(strategies.permission_sets())
def test_permission_sets_are_64_bits(text: str) -> None:
    assert 0 <= int(text) < 2**64
