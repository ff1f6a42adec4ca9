"""The pages that are made from declarations say what the declarations say."""

from __future__ import annotations

import pytest

from tests.docs.pages import PAGES, REFERENCE


@pytest.mark.parametrize("name", PAGES)
def test_a_made_page_is_up_to_date(name: str) -> None:
    assert (REFERENCE / name).read_text(encoding="utf-8") == PAGES[name](), (
        f"docs/reference/{name} is out of date: run python -m tests.docs.pages"
    )
