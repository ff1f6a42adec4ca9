"""The query string of a connection, by the table of query_cases.json and by chance.

Area: protocol. Rules: 000.connect, 000.query, 000.states.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote, urlencode

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chat.protocol.commands import ConnectionQuery, parse_connection_query
from tests.spec.gateway_tables import rules_of_query
from tests.spec.ledger import proves

CASES: Final = json.loads(
    (Path(__file__).parents[2] / "spec_fixtures" / "gateway" / "query_cases.json").read_text(encoding="utf-8")
)


@pytest.mark.parametrize("case", CASES, ids=[case["query"] or "empty" for case in CASES])
def test_a_case_of_the_table(case: dict[str, Any]) -> None:
    with proves(*rules_of_query(case["query"])):
        query = parse_connection_query(case["query"])
        assert query.version_accepted is case["version_ok"]
        if case["compressed"] is not None:
            assert query.compressed is case["compressed"]


@given(st.text())
def test_no_text_raises(text: str) -> None:
    parse_connection_query(text)


@given(st.text(alphabet="v=1&%;+compresztda-tu20[]#?\x00\xff"))
def test_no_near_miss_raises(text: str) -> None:
    parse_connection_query(text)


PARAMETERS = st.lists(
    st.tuples(
        st.sampled_from(["v", "compress", "stream", "encoding", "x"]),
        st.sampled_from(["1", "2", "", "true", "zstd-stream", "none", "json"]) | st.text(max_size=3),
    ),
    max_size=6,
)


@given(PARAMETERS)
def test_the_first_value_of_a_parameter_counts(parameters: list[tuple[str, str]]) -> None:
    first = dict(reversed(parameters))
    expected = ConnectionQuery(
        version_accepted=first.get("v") == "1",
        compressed=first.get("compress") == "zstd-stream" and first.get("stream") in ("1", "true"),
    )
    assert parse_connection_query(urlencode(parameters)) == expected
    assert parse_connection_query(urlencode(parameters, quote_via=quote)) == expected


def test_thousands_of_parameters_are_read() -> None:
    assert parse_connection_query("&".join(["x=1"] * 5_000 + ["v=1"])).version_accepted
