"""The papers name what is there, and forget nothing."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Final

import pytest

ROOT: Final = Path(__file__).parents[2]
NAMED: Final = re.compile(r"`((?:chat|tests|spec_fixtures|\.ci)/[\w./-]+)`")
PAPERS: Final = sorted((ROOT / "docs").glob("*.md"))


@pytest.mark.parametrize("page", PAPERS, ids=lambda page: page.stem)
def test_every_path_that_a_page_names_is_there(page: Path) -> None:
    lost = [path for path in NAMED.findall(page.read_text(encoding="utf-8")) if not (ROOT / path).exists()]
    assert lost == []


def test_every_section_of_the_rules_leads_to_its_code() -> None:
    sections = {
        rule["id"].rpartition(".")[0]
        for path in (ROOT / "spec_fixtures" / "rules").glob("*.json")
        for rule in json.loads(path.read_text(encoding="utf-8"))
    }
    assert (
        set(re.findall(r"^\| `([\w.-]+)` \|", (ROOT / "docs" / "rules.md").read_text(encoding="utf-8"), re.M))
        == sections
    )
