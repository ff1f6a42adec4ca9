"""Text as the terms by which it is found; the same for what is indexed and for what is asked.

Letters are compared without case, width, accents and strokes. What is between separators (spaces, punctuation) is a
chunk. Mostly a chunk is one word, which is one term. But scripts that put no spaces between words, Korean, which
joins endings to its words, and emoji give one term for each character or syllable: so a chunk of them is found by any
part of it, even by a single character, as a phrase. Of a sequence of emoji joined to one picture, each is found; skin
tones are terms of their own, the selectors of styles are left out. Markdown inside a word does not part it.

An entry holds more than its text gives, behind the rest (`entry_terms`): what stands between the marks of Markdown, for
they may be something else in code, and a number with points without the letters that stand right at it.

In an entry each word begins with the group of the author (`author_group`), so that a search for what one account wrote
reads a part of the index only. Accounts are in one of AUTHOR_GROUPS groups, whatever they write.

Filters are terms too. They begin with a character that no text gives (MARK), so neither finds the other.
"""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections.abc import Iterator
from typing import Final

MARK: Final = "\ue000"
"""Begins the terms of filters. Private characters separate words, so no term of a text holds one."""

TERM_LENGTH: Final = 64
"""Characters of a term that count; the rest of a longer word is not searched."""

AUTHOR_GROUPS: Final = "012"
"""More of them make a search for what one account wrote cheaper, and any other dearer: it looks into every group."""

_BREAK: Final = "\n"
_UNSPACED: Final = (
    (0x1100, 0x11FF),  # letters of Hangul that make no syllable together
    (0x0E00, 0x0EFF),  # Thai, Lao
    (0x0F00, 0x0FFF),  # Tibetan
    (0x1000, 0x109F),  # Myanmar
    (0x1780, 0x17FF),  # Khmer
    (0x1950, 0x1AAF),  # Tai Le, New Tai Lue, Buginese, Tai Tham
    (0x1B00, 0x1B7F),  # Balinese
    (0x2E80, 0x2FDF),  # radicals of Han
    (0x3005, 0x3007),
    (0x3021, 0x312F),  # Hiragana, Katakana, Bopomofo
    (0x31A0, 0x31FF),
    (0x3400, 0x4DBF),  # Han
    (0x4E00, 0x9FFF),
    (0xA000, 0xA4CF),  # Yi
    (0xA960, 0xA9FF),  # Hangul, Javanese, Myanmar
    (0xAA60, 0xAADF),  # Myanmar, Tai Viet
    (0xAC00, 0xD7FF),  # syllables of Hangul
    (0xF900, 0xFAFF),
    (0x1B000, 0x1B16F),  # more Kana
    (0x20000, 0x3FFFF),
)
"""Scripts that put no spaces between words, and Hangul."""

_SILENT: Final = (
    (0x0300, 0x036F),  # accents of Latin, Greek and Cyrillic
    (0x0591, 0x05C7),  # points of Hebrew
    (0x064B, 0x065F),  # vowels of Arabic
    (0x0670, 0x0670),
    (0xFE00, 0xFE0F),  # selectors of styles
    (0xE0100, 0xE01EF),
)
"""Marks that make no difference."""

_PICTURES: Final = (0x1F000, 0x1FAFF)
"""The range of characters that hold emoji; some are newer than the character tables of this Python."""


class _CharacterPlaces(dict[int, str]):
    """What a character is for the search: part of a word, a term of its own, a separator, or nothing."""

    def __missing__(self, code: int) -> str:
        place = self[code] = _place(code)
        return place


def _place(code: int) -> str:
    character = chr(code)
    category = unicodedata.category(character)
    if code < 0x80:
        return character if character.isalnum() else _BREAK
    if category[0] in "LMN":
        return f" {character} " if _is_in(code, _UNSPACED) else character
    if category[0] == "S" or (category == "Cn" and _PICTURES[0] <= code <= _PICTURES[1]):
        return f" {character} "
    return _BREAK


def _is_in(code: int, ranges: tuple[tuple[int, int], ...]) -> bool:
    return any(first <= code <= last for first, last in ranges)


_STROKED: Final = {
    "\u0142": "l",
    "\u00f8": "o",
    "\u0111": "d",
    "\u00f0": "d",
    "\u0127": "h",
    "\u0167": "t",
    "\u0131": "i",
    "\u00e6": "ae",
    "\u0153": "oe",
    "\u00fe": "th",
    "\u0237": "j",
    "\u0138": "k",
    "\u0180": "b",
    "\u023c": "c",
    "\u0247": "e",
    "\u01e5": "g",
    "\u0268": "i",
    "\u0249": "j",
    "\u024d": "r",
    "\u0289": "u",
    "\u024f": "y",
    "\u01b6": "z",
    "\u0253": "b",
    "\u0257": "d",
    "\u0256": "d",
    "\u019a": "l",
    "\u026b": "l",
    "\u2c65": "a",
}
"""Letters that Unicode does not take apart, as people type them who do not have them: Lodz, Tromso, Aegir."""


class _Silent(dict[int, str | None]):
    """Takes the marks that make no difference out of decomposed text, and strokes off letters."""

    def __missing__(self, code: int) -> str | None:
        kept = self[code] = None if _is_in(code, _SILENT) else chr(code)
        return kept


_PLACES: Final = _CharacterPlaces()
_AUDIBLE: Final = _Silent({ord(letter): plain for letter, plain in _STROKED.items()})

_MARKED: Final = re.compile(r"(\*{1,3}|~~|\|\||__)(?=[^\s*~|])([^*~|\n]{1,100}?)(?<=\S)\1")
"""Something between marks of Markdown; an underscore alone is none inside a word. Its length is bounded, or a text of
underscores would be looked through again and again."""

_NESTED: Final = 3
"""How deep marks may be nested in marks for the search to see them."""

_POINT: Final = re.compile(r"\.\d", re.ASCII)
_POINTED: Final = re.compile(r"(?<!\d)\d++(?:\.\d++)+", re.ASCII)
"""A number with points: of a version, a price, an address."""


def chunks(text: str) -> list[list[str]]:
    """The terms of each chunk of the text."""
    found = []
    for chunk in _prepared(text).split(_BREAK):
        terms = _terms(chunk)
        if terms:
            found.append(terms)
    return found


def terms(text: str) -> list[str]:
    """The terms of the text, in order."""
    return _terms(_prepared(text))


def entry_terms(text: str) -> list[str]:
    """The terms by which an entry with this text is found: those of the text, and behind each MARK others that stand
    beside them."""
    shown = _shown(text)
    folded = _folded(shown)
    found = _terms(folded.translate(_PLACES))
    more = []
    if shown is not text:
        known = set(found)
        more.append([term for term in _terms(_folded(text).translate(_PLACES)) if term not in known])
    if _POINT.search(folded) is not None:
        more += _numbers(folded)
    for sequence in more:
        if sequence:
            found += [MARK, *sequence]
    return found


def _numbers(folded: str) -> Iterator[list[str]]:
    """The numbers with points that stand right at a letter, each by its parts."""
    for match in _POINTED.finditer(folded):
        around = folded[match.start() - 1 : match.start()] + folded[match.end() : match.end() + 1]
        if any(map(str.isalpha, around)):
            yield [part[:TERM_LENGTH] for part in match[0].split(".")]


def _terms(prepared: str) -> list[str]:
    return [term[:TERM_LENGTH] for term in prepared.split()]


def _prepared(text: str) -> str:
    return _folded(_shown(text)).translate(_PLACES)


def _shown(text: str) -> str:
    """The text without the marks of Markdown around something: with them it would be parted where nothing is seen."""
    if "*" not in text and "~~" not in text and "||" not in text and "__" not in text:
        return text  # as most are
    for _ in range(_NESTED):
        text, count = _MARKED.subn(r"\2", text)
        if not count:
            break
    return text


def _folded(text: str) -> str:
    """The text in letters as they are compared."""
    if text.isascii():
        return text.lower()
    decomposed = unicodedata.normalize("NFKD", unicodedata.normalize("NFKD", text).casefold())
    return unicodedata.normalize("NFC", decomposed.translate(_AUDIBLE))


def author_group(author_id: int) -> str:
    """The group of an account, one of AUTHOR_GROUPS. The highest bits of a product, because ids that were made one
    after the other differ in the lowest bits or not at all in them."""
    return AUTHOR_GROUPS[(author_id * 0x9E3779B97F4A7C15 & 0xFFFFFFFFFFFFFFFF) * len(AUTHOR_GROUPS) >> 64]


def id_term(kind: str, snowflake: int) -> str:
    """The term of a filter by an id; `kind` is a letter."""
    return f"{MARK}{kind}{snowflake:x}"


def name_term(kind: str, name: str) -> str:
    """The term of a filter by a name without regard to case; `kind` is a letter."""
    return f"{MARK}{kind}{hashlib.blake2b(name.casefold().encode('utf-8', 'replace'), digest_size=8).hexdigest()}"


def pair_term(kind: str, one: int, other: int) -> str:
    """The term of a filter by two ids together; `kind` is a letter. A hash, because every entry has some."""
    pair = one.to_bytes(8, "big") + other.to_bytes(8, "big")
    return f"{MARK}{kind}{hashlib.blake2b(pair, digest_size=8).hexdigest()}"


def word_terms(kind: str, text: str) -> list[str]:
    """The terms of a text in a filter of its own, apart from all others."""
    return [f"{MARK}{kind}{term}" for term in terms(text)]


def entry_word_terms(kind: str, text: str) -> list[str]:
    """As `word_terms`, for the entry of a message with this text."""
    return [f"{MARK}{kind}{'' if term == MARK else term}" for term in entry_terms(text)]
