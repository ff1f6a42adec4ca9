"""The pages that are made from declarations say what the declarations say."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Final

import pytest

from tests.docs import manual_pages
from tests.docs.pages import PAGES, REFERENCE

MADE: Final = [
    *((REFERENCE / name, page) for name, page in PAGES.items()),
    *((manual_pages.MANUAL / name, page) for name, page in manual_pages.PAGES.items()),
]


@pytest.mark.parametrize(("path", "page"), MADE, ids=lambda value: value.name if isinstance(value, Path) else "")
def test_a_made_page_is_up_to_date(path: Path, page: Callable[[], str]) -> None:
    assert path.read_text(encoding="utf-8") == page(), f"{path} is out of date: run python -m tests.docs.pages"
