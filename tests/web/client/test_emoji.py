"""The emoji that the web client offers: the server takes each, and every language has a name for each. Area: messages,
as its client sees them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final

import pytest

from chat.registries.unicode_emojis import REGIONAL_INDICATORS, all_emojis, fully_qualified

FOLDER: Final = Path(__file__).parents[3] / "chat" / "web" / "client" / "emoji"
LANGUAGES: Final = ("en", "de")
TONES: Final = {chr(code) for code in range(0x1F3FB, 0x1F400)}
NEWEST: Final = {
    chr(code) for code in (0x1F6D9, 0x1FA8B, 0x1FA8C, 0x1FA8D, 0x1FACC, 0x1FADD, 0x1FAEB, 0x1FAF9, 0x1FAFA)
}
"""Those of Unicode 18, for which no language has names yet."""


def rows(language: str) -> list[list[Any]]:
    groups = json.loads((FOLDER / f"{language}.json").read_text(encoding="utf-8"))
    return [row for group in groups.values() for row in group]


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_server_takes_each(language: str) -> None:
    offered = [emoji for row in rows(language) for emoji in (row[0], *(row[4] if len(row) > 4 else ()))]
    assert len(offered) > 3_000
    assert len(set(offered)) == len(offered)
    assert [emoji for emoji in offered if fully_qualified(emoji) is None] == []


def test_each_that_the_server_takes_is_offered() -> None:
    """Thumbs, ticks and stars among them, which Unicode writes without a sign that asks for a picture."""
    offered = {row[0] for row in rows("en")}
    plain = {emoji for emoji in all_emojis() if not TONES & set(emoji)}
    assert plain - offered - {*REGIONAL_INDICATORS} == NEWEST


def test_what_people_type_for_an_emoji_finds_it() -> None:
    words = {row[0]: {row[2], *row[3].split()} for row in rows("en")}
    for typed, emoji in (
        ("+1", "\U0001f44d"),
        ("tada", "\U0001f389"),
        ("tomato", "\U0001f345"),
        ("heart", "\u2764\ufe0f"),
    ):
        assert typed in words[emoji], typed


def test_every_language_names_the_same() -> None:
    english, german = (rows(language) for language in LANGUAGES)
    assert [row[0] for row in english] == [row[0] for row in german]
    assert [row[2] for row in english] == [row[2] for row in german]
    assert all(label.strip() and name for _, label, name, *_ in english + german)
    assert len({row[2] for row in english}) == len(english)
