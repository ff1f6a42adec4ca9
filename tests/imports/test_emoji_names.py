"""Names that other services have for emojis."""

from __future__ import annotations

from pathlib import Path

import pytest

from chat.imports.emoji_names import emoji_named, emoji_of

THUMB = "\N{THUMBS UP SIGN}"


@pytest.mark.parametrize(
    ("name", "emoji"),
    [
        ("+1", THUMB),
        ("thumbsup", THUMB),
        (":thumbs_up:", THUMB),
        ("+1::skin-tone-2", THUMB + chr(0x1F3FB)),
        ("+1::skin-tone-6", THUMB + chr(0x1F3FF)),
        ("white_check_mark", "\N{WHITE HEAVY CHECK MARK}"),
        ("heart", "\N{HEAVY BLACK HEART}\ufe0f"),
        ("tada::skin-tone-3", "\N{PARTY POPPER}"),
        ("our_ship", None),
        ("", None),
        ("::skin-tone-2", None),
    ],
)
def test_by_name(name: str, emoji: str | None) -> None:
    assert emoji_named(name) == emoji


@pytest.mark.parametrize(
    ("code", "emoji"),
    [("1f44d", THUMB), ("1F44D-1F3FB", THUMB + chr(0x1F3FB)), ("2764", "\N{HEAVY BLACK HEART}\ufe0f")]
    + [(wrong, None) for wrong in ("", "41", "zz", "110000", "-1", "1f44d-")],
)
def test_by_code_points(code: str, emoji: str | None) -> None:
    assert emoji_of(code) == emoji


def test_the_program_with_its_python_has_the_names_too() -> None:
    spec = (Path(__file__).parents[2] / ".ci/binary/chat.spec").read_text(encoding="utf-8")
    assert 'collect_data_files("emoji")' in spec
