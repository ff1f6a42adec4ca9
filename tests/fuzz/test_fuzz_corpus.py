"""The kept corpus: every input that was ever worth keeping goes through its target in each run of the suite."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.fuzz.run import CORPUS, main
from tests.fuzz.targets import TARGETS

KEPT = sorted(CORPUS.glob("*/*"))


@pytest.mark.parametrize("path", KEPT, ids=[f"{path.parent.name}/{path.name}" for path in KEPT])
def test_a_kept_input(path: Path) -> None:
    TARGETS[path.parent.name](path.read_bytes())


def test_each_target_has_its_corpus_and_each_corpus_its_target() -> None:
    assert {path.parent.name for path in KEPT} == set(TARGETS)


@pytest.mark.parametrize("name", TARGETS)
@given(data=st.binary(max_size=100))
def test_any_bytes(name: str, data: bytes) -> None:
    TARGETS[name](data)


def test_an_input_can_be_replayed(tmp_path: Path) -> None:
    path = tmp_path / "input"
    path.write_bytes(b"v=1")
    assert main(["--replay", str(path), "query_parser"]) == 0
