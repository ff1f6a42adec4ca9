"""Every path that the papers name is there."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

import pytest

ROOT: Final = Path(__file__).parents[2]
NAMED: Final = re.compile(r"`((?:chat|tests|spec_fixtures|\.ci)/[\w./-]+)`")
PAPERS: Final = [*sorted((ROOT / "docs").glob("*.md")), *sorted((ROOT / "docs" / "reference").glob("*.md"))]


@pytest.mark.parametrize("page", PAPERS, ids=lambda page: page.stem)
def test_every_path_that_a_page_names_is_there(page: Path) -> None:
    lost = [path for path in NAMED.findall(page.read_text(encoding="utf-8")) if not (ROOT / path).exists()]
    assert lost == []
