"""Unicode's emoji: which texts are one emoji, and how each is written in full.

The table is that of Unicode's emoji-test.txt (version 18.0): every fully qualified sequence, skin tones and families
included. Regional indicators stand there in pairs only, as flags; single ones are letters that people react with, so
they count too. The table is read at its first use.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from importlib import resources
from typing import Final

PRESENTATION: Final = "\ufe0f"
"""Asks for a picture rather than a letter; people and programs leave it out as they like."""

LONGEST: Final = 16
"""Code points that an emoji has at most, with room to spare: longer text is none."""

REGIONAL_INDICATORS: Final = tuple(chr(letter) for letter in range(0x1F1E6, 0x1F200))
"""The letters that flags are made of; each stands for itself too."""


def fully_qualified(text: str) -> str | None:
    """The emoji in full, whether or not its presentation selectors were left out; None for anything else."""
    if len(text) > LONGEST:
        return None
    return _table().get(text.replace(PRESENTATION, ""))


def all_emojis() -> Sequence[str]:
    """Every emoji in full."""
    return tuple(_table().values())


@functools.cache
def _table() -> Mapping[str, str]:
    listed = resources.files(__package__).joinpath("unicode_emojis.txt").read_text("utf-8").split()
    return {emoji.replace(PRESENTATION, ""): emoji for emoji in (*listed, *REGIONAL_INDICATORS)}
