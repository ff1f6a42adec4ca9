"""The rows that the ledger names are rows of the tables.

Area: spec. Rules: 000.framing, 000.identify, 000.limits, 000.opcodes, 000.resume.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.spec.gateway_tables import FRAMING, IDENTIFY, QUERIES, RESUME, Proofs

TABLES = Path(__file__).parents[2] / "spec_fixtures" / "gateway"


@pytest.mark.parametrize(
    ("proofs", "table"), [(FRAMING, "framing_cases"), (IDENTIFY, "identify_cases"), (RESUME, "resume_cases")]
)
def test_each_beginning_is_that_of_a_row(proofs: Proofs, table: str) -> None:
    rows = json.loads((TABLES / f"{table}.json").read_text(encoding="utf-8"))
    names = [row["name"] for row in (rows["payload"] if isinstance(rows, dict) else rows)]
    for beginnings in proofs.values():
        for beginning in beginnings:
            assert any(name.startswith(beginning) for name in names), beginning


def test_each_query_is_one_of_the_table() -> None:
    queries = {row["query"] for row in json.loads((TABLES / "query_cases.json").read_text(encoding="utf-8"))}
    assert {query for named in QUERIES.values() for query in named} <= queries
