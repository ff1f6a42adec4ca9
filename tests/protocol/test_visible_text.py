"""What of a text can be seen (design 8)."""

from __future__ import annotations

import sys
import unicodedata

import pytest

from chat.protocol.visible_text import is_empty, tidy, visible, without_nul

IN_PLAIN_SIGHT = frozenset({"\u06dd", "\u070f", "\u08e2", "\U000110bd", "\U000110cd"})
"""Format characters that are drawn all the same, beside those of Arabic numbers and of hieroglyphs."""


def test_whatever_unicode_calls_a_control_a_space_or_a_format_is_not_to_be_seen() -> None:
    for number in range(sys.maxunicode + 1):
        character = chr(number)
        category = unicodedata.category(character)
        drawn = character in IN_PLAIN_SIGHT or "\u0600" <= character <= "\u0605" or "\u0890" <= character <= "\u0891"
        if category in {"Cc", "Zs", "Zl", "Zp"} or (
            category == "Cf" and not drawn and not "\U00013430" <= character <= "\U0001343f"
        ):
            assert is_empty(character), hex(number)
        elif category[0] in "NPS" or category in {"Lu", "Ll", "Lt", "Lm"}:
            assert not is_empty(character) or character in "\u2800\U0001d159", hex(number)


@pytest.mark.parametrize(
    "text",
    ["", " ", "\x00", "\x00\u200b\x00", "\u200d\ufe0f", "\u3164", "\u2800 \u2800", "\ufeff\u2060\u00ad", "\U000e0020"],
)
def test_nothing_to_be_seen(text: str) -> None:
    assert is_empty(text)
    assert (visible(text), tidy(text)) == ("", "")


@pytest.mark.parametrize("text", ["a", " a ", "\u200ba", "👩\u200d🚀", "❤\ufe0f", "क\u094d\u200dष", ".", "\u0301", "0"])
def test_something_to_be_seen_stays_whole(text: str) -> None:
    assert not is_empty(text)
    assert visible(text) == text


def test_nul_goes() -> None:
    assert without_nul("a\x00b\x00") == visible("a\x00b\x00") == tidy("\x00 a\x00b\x07 ") == "ab"
