"""Documents that are read value by value say what they say when they are read at once, however they are written."""

from __future__ import annotations

import io
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chat.imports.json_stream import JsonStream, NotJson

texts = st.text(max_size=8) | st.sampled_from(["\n    }", '"}', "{", "\\", "\N{WAVE DASH}", "\ud83d"])
plain = st.none() | st.booleans() | st.integers(-(2**63), 2**64 - 1) | st.floats(allow_nan=False) | texts
values = st.recursive(
    plain, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3), max_leaves=8
)
indents = st.sampled_from([None, 0, 1, 2, 4, "\t", " \t"])


def entries_of(text: str, piece: int) -> list[Any]:
    return [value for name, value in JsonStream(io.StringIO(text), piece).members("list") if name == "list"]


@given(st.lists(values, max_size=5), indents, st.integers(1, 200), st.booleans())
def test_entries_are_what_they_are_at_once(entries: list[Any], indent: Any, piece: int, is_ascii: bool) -> None:
    text = json.dumps({"first": 1, "list": entries, "last": {}}, indent=indent, ensure_ascii=is_ascii)
    assert entries_of(text, piece) == entries
    assert entries_of(text.replace("\n", "\r\n"), piece) == entries


@pytest.mark.parametrize(
    "text",
    [
        '{"list": [\n  {\n  "a": 1\n  }\n  {\n  }\n]}',
        '{"list": [\n  {\n  "a": 1,\n  }\n]}',
        '{"list": [\n  {\n  "a": {\n  }\n]}',
        '{"list": [\n  {\n  "a": 1\n  }',
    ],
)
def test_what_is_broken_is_told(text: str) -> None:
    with pytest.raises(NotJson):
        entries_of(text, 1_000)


def test_what_programs_write_that_know_no_better_is_read() -> None:
    text = '{"list": [\n  {\n    "a": "two\nlines",\n    "b": NaN\n  }\n]}'
    ((entry,),) = (entries_of(text, 1_000),)
    assert entry["a"] == "two\nlines"
