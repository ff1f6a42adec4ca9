"""The emoji that the web client offers: the server takes each, and every language has a name for each. Area: messages,
as its client sees them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final

import pytest

from chat.registries.unicode_emojis import fully_qualified

FOLDER: Final = Path(__file__).parents[3] / "chat" / "web" / "client" / "emoji"
LANGUAGES: Final = ("en", "de")


def rows(language: str) -> list[list[Any]]:
    groups = json.loads((FOLDER / f"{language}.json").read_text(encoding="utf-8"))
    return [row for group in groups.values() for row in group]


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_server_takes_each(language: str) -> None:
    offered = [emoji for row in rows(language) for emoji in (row[0], *(row[4] if len(row) > 4 else ()))]
    assert len(offered) > 3_000
    assert len(set(offered)) == len(offered)
    assert [emoji for emoji in offered if fully_qualified(emoji) is None] == []


def test_every_language_names_the_same() -> None:
    english, german = (rows(language) for language in LANGUAGES)
    assert [row[0] for row in english] == [row[0] for row in german]
    assert [row[2] for row in english] == [row[2] for row in german]
    assert all(label.strip() and name for _, label, name, *_ in english + german)
    assert len({row[2] for row in english}) == len(english)
