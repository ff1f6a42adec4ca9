"""Finds any of many phrases in a text, in time that grows with the text and not with the number of phrases."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable
from typing import Any, Final

CHANGES_BORNE: Final = 64
"""Phrases that may come and go before the automaton is made anew, which takes 8 microseconds a phrase."""


def comparable_text(text: str) -> str:
    """The form in which phrases and texts are compared: compatibility forms resolved, letter case folded."""
    return unicodedata.normalize("NFKC", text).casefold()


class PhraseMatcher:
    """A set of phrases, in the form of `comparable_text`, none of them empty.

    An automaton holds most of them (Aho and Corasick: one pass over the text for all). What was added since it was
    made is looked for one by one; what was taken away since is found and then not counted.
    """

    def __init__(self, phrases: Iterable[str] = ()) -> None:
        self._phrases: set[str] = set()
        self._recent: set[str] = set()
        self._gone = 0
        self._automaton: Any = None
        self.replace(phrases)

    def __len__(self) -> int:
        """How many phrases there are."""
        return len(self._phrases)

    def replace(self, phrases: Iterable[str]) -> None:
        """Hold these and no others."""
        self._phrases = set(phrases)
        self._rebuild()

    def add(self, phrase: str) -> None:
        """Look for this as well."""
        if phrase not in self._phrases:
            self._phrases.add(phrase)
            self._recent.add(phrase)
            if len(self._recent) > CHANGES_BORNE:
                self._rebuild()

    def discard(self, phrase: str) -> None:
        """Look for this no more."""
        if phrase in self._phrases:
            self._phrases.remove(phrase)
            self._recent.discard(phrase)
            self._gone += 1
            if self._gone > CHANGES_BORNE:
                self._rebuild()

    def is_in(self, text: str) -> bool:
        """Whether any of the phrases occurs in a text, whose form is that of `comparable_text`."""
        if not self._phrases:
            return False
        if any(phrase in text for phrase in self._recent):
            return True
        if self._automaton is None:
            return False
        found = self._automaton.iter(text)
        return any(text[end + 1 - length : end + 1] in self._phrases for end, length in found)

    def _rebuild(self) -> None:
        self._gone, self._automaton = 0, None
        if len(self._phrases) <= CHANGES_BORNE:
            self._recent = set(self._phrases)
            return
        import ahocorasick  # type: ignore[import-not-found]  # only an instance with many phrases needs it

        self._recent = set()
        automaton = ahocorasick.Automaton(ahocorasick.STORE_LENGTH)
        for phrase in self._phrases:
            automaton.add_word(phrase)
        automaton.make_automaton()
        self._automaton = automaton
