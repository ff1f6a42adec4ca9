"""Identify and Resume as clients write them: the fixtures' tables, and what Identify's members come to.

Area: protocol. Rules: 000.identify, 000.opcodes, 000.resume.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chat.protocol.commands import (
    Identify,
    IdentifyProperties,
    Resume,
    Shard,
    parse_identify,
    parse_resume,
    parse_shard,
    shard_of,
)
from chat.protocol.presence import InitialPresence
from chat.registries.close_codes import (
    CLOSES,
    FAILED_TO_START_SESSION,
    INVALID_IDENTIFY_PAYLOAD,
    INVALID_SHARD,
    Close,
)
from chat.registries.statuses import Status
from tests.protocol.dialogue import PROPERTIES, identify_d
from tests.spec.gateway_tables import IDENTIFY, RESUME, rules_of
from tests.spec.ledger import proves

FIXTURES: Final = Path(__file__).parents[2] / "spec_fixtures" / "gateway"
IDENTIFY_CASES: Final = json.loads((FIXTURES / "identify_cases.json").read_text(encoding="utf-8"))
RESUME_CASES: Final = json.loads((FIXTURES / "resume_cases.json").read_text(encoding="utf-8"))["payload"]


def verdict(outcome: object) -> Any:
    """The outcome of a parser in the fixtures' words."""
    return [outcome.code, outcome.reason] if isinstance(outcome, Close) else "ok"


def identified(**members: Any) -> Identify:
    identify = parse_identify(identify_d(**members))
    assert isinstance(identify, Identify)
    return identify


@pytest.mark.parametrize("case", IDENTIFY_CASES, ids=[case["name"] for case in IDENTIFY_CASES])
def test_an_identify_of_the_table(case: dict[str, Any]) -> None:
    with proves(*rules_of(IDENTIFY, case["name"])):
        assert verdict(parse_identify(case["d"])) == case["verdict"]


@pytest.mark.parametrize("case", RESUME_CASES, ids=[case["name"] for case in RESUME_CASES])
def test_a_resume_of_the_table(case: dict[str, Any]) -> None:
    outcome = parse_resume(case["d"])
    with proves(*rules_of(RESUME, case["name"])):
        assert verdict(outcome) == case["verdict"]
    if isinstance(outcome, Resume):
        assert (outcome.token, outcome.session_id, outcome.seq) == (
            case["d"]["token"],
            case["d"]["session_id"],
            case["d"]["seq"],
        )


def test_the_least_identify() -> None:
    assert identified() == Identify(token="token", properties=IdentifyProperties("linux", "test", "test"))


def test_every_member_of_identify() -> None:
    properties = {**PROPERTIES, "e2ee_capable": True, "mobile": True, "latitude": "52.5", "longitude": "13.4"}
    identify = parse_identify(
        {
            "token": "t",
            "properties": properties,
            "presence": {"status": "dnd", "afk": True, "mobile": True, "custom_status": {"text": "busy"}},
            "ignored_events": ["typing_start", "TYPING_START"],
            "flags": 6,
            "initial_guild_id": "81384788765712384",
            "shard": [1, 2],
        }
    )
    assert identify == Identify(
        token="t",
        properties=IdentifyProperties("linux", "test", "test", True, True, "52.5", "13.4"),
        presence=InitialPresence(Status.DND, True, True, {"text": "busy"}),
        ignored_events=frozenset({"TYPING_START"}),
        flags=6,
        initial_guild_id=81384788765712384,
        shard=Shard(1, 2),
    )


@pytest.mark.parametrize("truthy", [1, "true", "yes", [True], {}])
def test_only_true_is_true(truthy: Any) -> None:
    identify = parse_identify(
        identify_d(
            properties={**PROPERTIES, "e2ee_capable": truthy, "mobile": truthy},
            presence={"afk": truthy, "mobile": truthy},
        )
    )
    assert isinstance(identify, Identify)
    assert identify.properties == IdentifyProperties("linux", "test", "test")
    assert identify.presence is not None
    assert (identify.presence.afk, identify.presence.mobile) == (False, False)


@pytest.mark.parametrize("value", [None, True, "x", "", "-1", "0", 0, -5, 1.5, [], "9223372036854775808", "\u0661"])
def test_an_initial_guild_that_is_no_snowflake_is_ignored(value: Any) -> None:
    assert identified(initial_guild_id=value).initial_guild_id is None


@pytest.mark.parametrize("member", ["latitude", "longitude"])
@pytest.mark.parametrize("value", [52.5, 0, True, "", "x" * 33, [], {}])
def test_a_coordinate_of_a_wrong_type_fails_the_start(member: str, value: Any) -> None:
    assert parse_identify(identify_d(properties={**PROPERTIES, member: value})) is FAILED_TO_START_SESSION


def test_faults_of_the_payload_are_named_before_the_shard() -> None:
    assert parse_identify({"token": "t", "shard": [2, 2]}) is INVALID_IDENTIFY_PAYLOAD
    assert parse_identify(identify_d(flags=-1, shard=[2, 2])) is INVALID_IDENTIFY_PAYLOAD
    assert parse_identify(identify_d(shard=[2, 2])) is INVALID_SHARD


# The first status


def initial_presence(**members: Any) -> InitialPresence:
    presence = identified(presence=members).presence
    assert presence is not None
    return presence


@pytest.mark.parametrize("presence", [None, [], "online", 1, True])
def test_a_presence_that_is_no_object_counts_as_none(presence: Any) -> None:
    assert identified(presence=presence).presence is None


@pytest.mark.parametrize("status", [None, 1, True, [], "unknown", "online", "asleep"])
def test_the_saved_status_wins_over_what_says_nothing(status: Any) -> None:
    assert initial_presence(status=status).status_over(Status.DND) is Status.DND
    assert initial_presence().status_over(Status.IDLE) is Status.IDLE


@pytest.mark.parametrize("status", ["idle", "dnd", "invisible", "offline"])
def test_a_status_that_says_something_wins_over_the_saved_one(status: str) -> None:
    assert initial_presence(status=status).status_over(Status.ONLINE) is Status(status)
    assert initial_presence(status=status).status_over(Status.DND) is Status(status)


def test_online_with_online_saved_is_online() -> None:
    assert initial_presence(status="online").status_over(Status.ONLINE) is Status.ONLINE


# Shards


@pytest.mark.rule("000.identify.4", "000.identify.5")
def test_a_guild_belongs_to_the_shard_of_its_timestamp() -> None:
    assert shard_of(0, 5) == 0
    assert shard_of(1 << 22, 5) == 1
    assert shard_of((7 << 22) | 0x3FFFFF, 5) == 2
    assert shard_of(int("9223372036854775807"), 16_384) == 16_383
    beyond_double_precision = (1 << 62) | (1 << 22)
    assert shard_of(beyond_double_precision, 3) == ((1 << 40) + 1) % 3
    assert float(beyond_double_precision) != beyond_double_precision or shard_of(beyond_double_precision, 2) == 1


@given(st.integers(0, 2**63 - 1), st.integers(1, 16_384))
def test_each_guild_has_exactly_one_shard(guild_id: int, count: int) -> None:
    owner = shard_of(guild_id, count)
    assert 0 <= owner < count
    candidates = {0, owner, (owner + 1) % count, count - 1}
    assert {shard_id for shard_id in candidates if Shard(shard_id, count).owns(guild_id)} == {owner}


@given(st.integers(0, 20_000), st.integers(0, 20_000))
def test_a_pair_in_bounds_is_echoed_and_any_other_refused(shard_id: int, count: int) -> None:
    shard = parse_shard([shard_id, count])
    if 1 <= count <= 16_384 and shard_id < count:
        assert isinstance(shard, Shard)
        assert shard.as_pair() == [shard_id, count]
    else:
        assert shard is INVALID_SHARD


def test_no_pair_is_no_sharding() -> None:
    assert parse_shard(None) is None


# Whatever comes

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda children: st.lists(children, max_size=3) | st.dictionaries(st.text(max_size=3), children, max_size=3),
    max_leaves=6,
)
MEMBERS = st.sampled_from(
    ["token", "properties", "presence", "ignored_events", "flags", "initial_guild_id", "shard", "session_id", "seq"]
)


@given(JSON | st.dictionaries(MEMBERS, JSON), st.dictionaries(MEMBERS, JSON))
def test_anything_is_a_command_or_a_documented_close(d: Any, spoilt: dict[str, Any]) -> None:
    for outcome in (parse_identify(d), parse_identify({**identify_d(), **spoilt})):
        assert isinstance(outcome, Identify) or outcome in CLOSES
    for answer in (parse_resume(d), parse_resume({"token": "t", "session_id": "s", "seq": 1, **spoilt})):
        assert isinstance(answer, Resume) or answer in CLOSES
