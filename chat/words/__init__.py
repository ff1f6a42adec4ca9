"""What the server says to people in languages besides English.

English stands where it is said (templates, scripts, letters) and is the key: `<language>/<surface>.json` holds the same
words in another language, or plural forms by CLDR category where a number decides. What a catalogue lacks is said in
English; `tests/web/test_page_words.py` finds it. The web client, where most words are, has catalogues of its own with
keys.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Final

FOLDER: Final = Path(__file__).parent

ENGLISH: Final = "en"

LANGUAGES: Final = (ENGLISH, "de")
"""The first is what everybody gets who asks for none of them."""


@cache
def catalogue(language: str, surface: str) -> Mapping[str, str]:
    """The plain entries of a surface (`pages`, `console`, `errors`, `letters`) by their English words."""
    path = FOLDER / language / f"{surface}.json"
    entries = json.loads(path.read_text(encoding="utf-8")) if language != ENGLISH else {}
    return {english: words for english, words in entries.items() if isinstance(words, str)}


def language_of(locale: str) -> str:
    """The language of a locale such as `de-AT`, if it is spoken here; English otherwise."""
    language = locale.partition("-")[0].lower()
    return language if language in LANGUAGES else ENGLISH


def said(language: str, surface: str, english: str) -> str:
    """These words in that language, as far as they are known."""
    return catalogue(language, surface).get(english, english)
