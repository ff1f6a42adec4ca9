"""Bodies and queries: what is read, and how each wrong field is named."""

from __future__ import annotations

import enum
import json
from typing import Annotated, Any, Literal

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from chat.api.bodies import parse_json, parse_query
from chat.api.fields import (
    OMITTED,
    FlagBits,
    Items,
    Length,
    Maybe,
    Pattern,
    PermissionBits,
    Range,
    Refusal,
    Snowflake,
    Timestamp,
)
from chat.api.structuring import body_structure, query_structure
from chat.errors import InvalidFormBody
from chat.registries.error_codes import FieldCode
from chat.registries.limits import JSON_DEPTH_MAXIMUM
from chat.snowflake import MAXIMUM


class Kind(enum.IntEnum):
    TEXT = 0
    VOICE = 2


class Mood(enum.StrEnum):
    GOOD = "good"


@attrs.frozen(kw_only=True)
class Overwrite:
    id: Snowflake
    allow: PermissionBits = 0


@attrs.frozen(kw_only=True)
class Body:
    name: Annotated[str, Length(2, 5)]
    code: Annotated[str, Length(1, 3, FieldCode.STRING_LENGTH_INVALID)] | None = None
    topic: Maybe[str | None] = OMITTED
    limit: Annotated[int, Range(1, 100)] = 50
    ratio: float = 1.0
    nsfw: bool = False
    kind: Kind = Kind.TEXT
    mood: Mood | None = None
    alignment: Literal[0, 1] = 0
    flags: FlagBits = 0
    until: Timestamp | None = None
    overwrites: Annotated[list[Overwrite], Items(0, 2)] = attrs.field(factory=list)
    ids: frozenset[Snowflake] = frozenset()
    ranges: dict[Snowflake, tuple[int, ...]] | None = None
    nested: Overwrite | None = None


read = body_structure(Body)


def wrong(body: object) -> list[tuple[str, str]]:
    """Path and code of each wrong field of a body."""
    with pytest.raises(InvalidFormBody) as refused:
        read(parse_json(json.dumps(body).encode()))
    return [(error.path, error.code) for error in refused.value.errors]


def test_a_body_with_every_member() -> None:
    body = read(
        {
            "name": "chess",
            "code": "abc",
            "topic": "games",
            "limit": 1,
            "ratio": 2,
            "nsfw": True,
            "kind": 2,
            "mood": "good",
            "alignment": 1,
            "flags": "18446744073709551615",
            "until": "2030-01-01T00:00:00.250+01:00",
            "overwrites": [{"id": "1", "allow": "3"}],
            "ids": ["5", 6],
            "ranges": {"7": [0, 99]},
            "nested": {"id": 8},
            "unknown": "ignored",
        }
    )
    assert body == Body(
        name="chess",
        code="abc",
        topic="games",
        limit=1,
        ratio=2.0,
        nsfw=True,
        kind=Kind.VOICE,
        mood=Mood.GOOD,
        alignment=1,
        flags=(1 << 64) - 1,
        until=1_893_452_400_250,
        overwrites=[Overwrite(id=1, allow=3)],
        ids=frozenset({5, 6}),
        ranges={7: (0, 99)},
        nested=Overwrite(id=8),
    )


def test_absence_and_null_of_optional_members() -> None:
    assert read({"name": "chess"}) == Body(name="chess")
    assert read({"name": "chess", "limit": None, "nsfw": None, "overwrites": None, "ids": None}) == Body(name="chess")
    assert read({"name": "chess", "topic": None}) == Body(name="chess", topic=None)
    assert read({"name": "chess"}).topic is OMITTED


@pytest.mark.parametrize(
    ("members", "expected"),
    [
        ({"name": None}, [("name", "INVALID_FORMAT")]),
        ({"name": 5}, [("name", "INVALID_FORMAT")]),
        ({"name": "x"}, [("name", "INVALID_FORMAT")]),
        ({"name": "too long"}, [("name", "CONTENT_EXCEEDS_MAX_LENGTH")]),
        ({"code": "long"}, [("code", "STRING_LENGTH_INVALID")]),
        ({"topic": ["x"]}, [("topic", "INVALID_FORMAT")]),
        ({"limit": 0}, [("limit", "INVALID_FORMAT")]),
        ({"limit": True}, [("limit", "INVALID_FORMAT")]),
        ({"limit": 1.5}, [("limit", "INVALID_FORMAT")]),
        ({"limit": "1"}, [("limit", "INVALID_FORMAT")]),
        ({"ratio": "1"}, [("ratio", "INVALID_FORMAT")]),
        ({"ratio": True}, [("ratio", "INVALID_FORMAT")]),
        ({"nsfw": 1}, [("nsfw", "INVALID_FORMAT")]),
        ({"nsfw": "true"}, [("nsfw", "INVALID_FORMAT")]),
        ({"kind": 1}, [("kind", "INVALID_FORMAT")]),
        ({"kind": False}, [("kind", "INVALID_FORMAT")]),
        ({"mood": "bad"}, [("mood", "INVALID_FORMAT")]),
        ({"mood": 1}, [("mood", "INVALID_FORMAT")]),
        ({"alignment": 2}, [("alignment", "INVALID_FORMAT")]),
        ({"alignment": True}, [("alignment", "INVALID_FORMAT")]),
        ({"alignment": [1]}, [("alignment", "INVALID_FORMAT")]),
        ({"flags": "x"}, [("flags", "INVALID_INTEGER_FORMAT")]),
        ({"flags": "18446744073709551616"}, [("flags", "INTEGER_OUT_OF_INT64_RANGE")]),
        ({"flags": "9" * 300}, [("flags", "INVALID_INTEGER_FORMAT")]),
        ({"until": 5}, [("until", "INVALID_FORMAT")]),
        ({"until": "tomorrow"}, [("until", "INVALID_ISO_TIMESTAMP")]),
        ({"until": "2030-01-01T00:00:00"}, [("until", "INVALID_ISO_TIMESTAMP")]),
        ({"until": "0001-01-01T00:00:00+23:59"}, [("until", "INVALID_ISO_TIMESTAMP")]),
        ({"until": "9999-12-31T23:59:59-23:59"}, [("until", "INVALID_ISO_TIMESTAMP")]),
        ({"overwrites": {"id": 1}}, [("overwrites", "INVALID_FORMAT")]),
        ({"overwrites": "abc"}, [("overwrites", "INVALID_FORMAT")]),
        ({"overwrites": [{"id": 1}] * 3}, [("overwrites", "INVALID_FORMAT")]),
        ({"overwrites": [{"id": 1}, {"allow": 1}]}, [("overwrites.1.id", "INVALID_FORMAT")]),
        ({"overwrites": [5]}, [("overwrites.0", "INVALID_FORMAT")]),
        (
            {"overwrites": [{"id": "01", "allow": "-1"}]},
            [("overwrites.0.id", "INVALID_SNOWFLAKE_FORMAT"), ("overwrites.0.allow", "INVALID_INTEGER_FORMAT")],
        ),
        ({"ranges": {"x": []}}, [("ranges.x", "INVALID_SNOWFLAKE_FORMAT")]),
        ({"ranges": {"1": ["x"]}}, [("ranges.1.0", "INVALID_FORMAT")]),
        ({"ranges": []}, [("ranges", "INVALID_FORMAT")]),
        ({"nested": {"id": "x"}}, [("nested.id", "INVALID_SNOWFLAKE_FORMAT")]),
        ({"nested": 5}, [("nested", "INVALID_FORMAT")]),
    ],
)
def test_each_wrong_field_has_its_path_and_code(members: dict[str, Any], expected: list[tuple[str, str]]) -> None:
    assert wrong({"name": "chess", **members}) == expected


def test_all_wrong_fields_are_named_at_once() -> None:
    assert wrong({"limit": 0, "nsfw": 5}) == [
        ("name", "INVALID_FORMAT"),
        ("limit", "INVALID_FORMAT"),
        ("nsfw", "INVALID_FORMAT"),
    ]


@pytest.mark.parametrize("body", [[], "text", 5, True, None])
def test_a_body_that_is_no_object_is_wrong_at_the_root(body: object) -> None:
    assert wrong(body) == [("root", "INVALID_FORMAT")]


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("0", 0),
        (0, 0),
        (str(MAXIMUM), MAXIMUM),
        (MAXIMUM, MAXIMUM),
        (str(MAXIMUM + 1), "SNOWFLAKE_OUT_OF_RANGE"),
        (MAXIMUM + 1, "SNOWFLAKE_OUT_OF_RANGE"),
        ("01", "INVALID_SNOWFLAKE_FORMAT"),
        ("-1", "INVALID_SNOWFLAKE_FORMAT"),
        ("+1", "INVALID_SNOWFLAKE_FORMAT"),
        ("1.0", "INVALID_SNOWFLAKE_FORMAT"),
        (" 1", "INVALID_SNOWFLAKE_FORMAT"),
        ("1\n", "INVALID_SNOWFLAKE_FORMAT"),
        ("\u0661", "INVALID_SNOWFLAKE_FORMAT"),
        ("", "INVALID_SNOWFLAKE_FORMAT"),
        (-1, "INVALID_SNOWFLAKE_FORMAT"),
        (1.5, "INVALID_SNOWFLAKE_FORMAT"),
        (1e18, "INVALID_SNOWFLAKE_FORMAT"),
        (True, "INVALID_FORMAT"),
        ([1], "INVALID_FORMAT"),
    ],
)
def test_snowflakes_come_as_text_or_integer(value: object, expected: object) -> None:
    (form,) = Snowflake.__metadata__  # type: ignore[attr-defined]
    try:
        found: object = form.read(value)
    except Refusal as refused:
        found = refused.code
    assert found == expected


def test_a_pattern_holds_for_the_whole_text() -> None:
    import re

    rule = Pattern(re.compile("[a-z]+"))
    rule.check("abc")
    with pytest.raises(Refusal):
        rule.check("abc\n")


# JSON itself


@pytest.mark.parametrize(
    "body",
    [
        b"{",
        b"nonsense",
        b" ",
        b'{"name": NaN}',
        b'{"name": Infinity}',
        b'{"name": 1e999}',
        b'{"name": 18446744073709551616}',
        b'{"name": -9223372036854775809}',
        b'{"name": ' + b"9" * 5_000 + b"}",
        b'{"name": "\xff"}',
        b'{"name": "\xed\xa0\x80"}',
        b'{"name": "\\ud800"}',
        b"\xef\xbb\xbf{}",
        "{}".encode("utf-16"),
        b"[" * 8_000,
        b"[" * (JSON_DEPTH_MAXIMUM + 1) + b"]" * (JSON_DEPTH_MAXIMUM + 1),
        b'{"a":' * (JSON_DEPTH_MAXIMUM + 1) + b"1" + b"}" * (JSON_DEPTH_MAXIMUM + 1),
        b'{"a": 1} {"b": 2}',
    ],
)
def test_what_is_not_json_is_wrong_at_the_body(body: bytes) -> None:
    with pytest.raises(InvalidFormBody) as refused:
        parse_json(body)
    assert [(error.path, error.code) for error in refused.value.errors] == [("body", "INVALID_FORMAT")]


def test_json_at_its_limits_is_read() -> None:
    assert parse_json(b"") == {}
    assert parse_json(b"18446744073709551615") == 18446744073709551615
    assert parse_json(b"[" * JSON_DEPTH_MAXIMUM + b"]" * JSON_DEPTH_MAXIMUM)


def test_empty_strings_and_empty_objects_become_null() -> None:
    assert parse_json(
        b'{"a": "", "b": ["", "x", {}], "c": {}, "d": {"e": "", "f": null}, "g": {"h": [], "i": ""}}'
    ) == {
        "a": None,
        "b": [None, "x", None],
        "c": None,
        "d": None,
        "g": {"h": [], "i": None},
    }
    assert parse_json(b'{"a": ""}') == {"a": None}
    assert parse_json(b"{}") == {}


def test_unless_the_operation_keeps_them() -> None:
    assert parse_json(b'{"a": "", "b": {}}', empty_strings_are_null=False) == {"a": "", "b": {}}


json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**64 - 1) | st.floats(-1e18, 1e18) | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=10,
)


def normalised(value: Any, root: bool = True) -> Any:
    """The rule of wire facts 3.2, said the other way round: bottom up, without changing anything in place."""
    if isinstance(value, list):
        return [normalised(item, False) for item in value]
    if isinstance(value, dict):
        members = {name: normalised(member, False) for name, member in value.items()}
        return members if root or any(member is not None for member in members.values()) else None
    return None if value == "" and isinstance(value, str) and not root else value


@given(json_values)
def test_normalisation_against_a_model(value: Any) -> None:
    assert parse_json(json.dumps(value).encode()) == normalised(value)


@given(st.binary(max_size=60) | json_values.map(lambda value: json.dumps(value).encode()))
def test_any_bytes_are_read_or_refused(body: bytes) -> None:
    try:
        result = read(parse_json(body))
    except InvalidFormBody:
        return
    assert isinstance(result, Body)


# Queries


@attrs.frozen(kw_only=True)
class Query:
    limit: Annotated[int, Range(1, 100)] = 50
    before: Snowflake | None = None
    with_counts: bool = False
    kind: Kind | None = None
    text: str | None = None


read_query = query_structure(Query)


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        (b"", Query()),
        (b"limit=1", Query(limit=1)),
        (b"limit=", Query()),
        (b"limit=1&limit=2", Query(limit=1)),
        (b"with_counts=1&unknown=x", Query(with_counts=True)),
        (b"with_counts=false", Query()),
        (b"with_counts=True", Query(with_counts=True)),
        (b"with_counts=False", Query()),
        (b"before=5&kind=2", Query(before=5, kind=Kind.VOICE)),
        (b"text=a+b%20%C3%A9", Query(text="a b é")),
    ],
)
def test_queries(query: bytes, expected: Query) -> None:
    assert read_query(parse_query(query)) == expected


@pytest.mark.parametrize(
    ("query", "path", "code"),
    [
        (b"limit=0", "limit", "INVALID_FORMAT"),
        (b"limit=-1", "limit", "INVALID_FORMAT"),
        (b"limit=1.5", "limit", "INVALID_FORMAT"),
        (b"limit=6000", "limit", "INVALID_FORMAT"),
        (b"limit=" + b"9" * 30, "limit", "INVALID_FORMAT"),
        (b"before=x", "before", "INVALID_SNOWFLAKE_FORMAT"),
        (b"with_counts=maybe", "with_counts", "INVALID_FORMAT"),
        (b"with_counts=TRUE", "with_counts", "INVALID_FORMAT"),
        (b"kind=7", "kind", "INVALID_FORMAT"),
        (b"&".join(b"a=1" for _ in range(121)), "root", "INVALID_FORMAT"),
    ],
)
def test_wrong_queries(query: bytes, path: str, code: str) -> None:
    with pytest.raises(InvalidFormBody) as refused:
        read_query(parse_query(query))
    assert [(error.path, error.code) for error in refused.value.errors] == [(path, code)]


@given(st.binary(max_size=80))
def test_any_query_is_read_or_refused(query: bytes) -> None:
    try:
        result = read_query(parse_query(query))
    except InvalidFormBody:
        return
    assert isinstance(result, Query)
