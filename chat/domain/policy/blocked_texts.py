"""Finds blocked phrases, pages and domains in a text (administration.md, Blocklists), in time that grows with the text
and not with the number of what is blocked."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final

import attrs

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


_PAGE: Final = re.compile(r"https?://[^\s<>\"]+", re.IGNORECASE)
_ENCODED: Final = "xn--"
_NAME: Final = re.compile(r"[\w.-]+")
_AFTER_A_PAGE: Final = ".,;:!?)]}'*_~|`"
"""What stands behind an address rather than in it, as in running text or Markdown."""

HOST_CHARACTERS: Final = 253
"""No host name is longer (RFC 1035)."""


def comparable_page(url: str) -> str:
    """The form in which addresses of pages are compared: without fragment, scheme and host in lower case; empty for
    what is not the address of a page."""
    scheme, separator, rest = url.partition("://")
    if not separator or scheme.lower() not in ("http", "https"):
        return ""
    rest = rest.partition("#")[0].rstrip(_AFTER_A_PAGE)
    end = min((place for place in map(rest.find, "/?") if place >= 0), default=len(rest))
    host, path = rest[:end].lower(), rest[end:]
    if not host:
        return ""
    return f"{scheme.lower()}://{host}{path if path.startswith('/') else '/' + path}"


def comparable_domain(name: str) -> str:
    """The form in which domains are compared: as the name system has them; empty for what is none."""
    bare = name.lower().strip(".")
    if "." not in bare or len(bare) > HOST_CHARACTERS or _NAME.fullmatch(bare) is None:
        return ""
    if bare.isascii():
        return bare
    try:
        return bare.encode("idna").decode("ascii")
    except UnicodeError:
        return ""


def readable_domain(name: str) -> str:
    """The form in which the names in a text are looked up: characters rather than what the name system has for them.
    There may be a thousand names in one message, and the other way round each would take a hundred times as long."""
    bare = unicodedata.normalize("NFKC", name).casefold().strip(".")
    if _ENCODED not in bare:
        return bare
    return ".".join(map(_readable_label, bare.split(".")))


def _readable_label(label: str) -> str:
    try:
        encoded = label.removeprefix(_ENCODED).encode("ascii")
        return encoded.decode("punycode") if label.startswith(_ENCODED) else label
    except UnicodeError:
        return label


def domain_and_above(domain: str) -> Iterator[str]:
    """The domain and every domain that it lies in."""
    while "." in domain:
        yield domain
        domain = domain.partition(".")[2]


@attrs.define(eq=False)
class Held:
    """Values, each in the form that `form` makes of it."""

    form: Callable[[str], str] = str
    values: set[str] = attrs.field(factory=set, init=False)

    def replace(self, values: Iterable[str], /) -> None:
        """Hold these and no others."""
        self.values = set(map(self.form, values))

    def add(self, value: str, /) -> None:
        """Hold one more."""
        self.values.add(self.form(value))

    def discard(self, value: str, /) -> None:
        """Hold one less."""
        self.values.discard(self.form(value))


class BlockedLinks:
    """A set of pages in the form of `comparable_page`, and a set of domains in that of `readable_domain`."""

    def __init__(self) -> None:
        self.pages: Final = Held()
        self.domains: Final = Held(readable_domain)

    def are_in(self, text: str) -> bool:
        """Whether a text leads to a blocked page, or names a blocked domain or one below it, in time that grows with
        the text."""
        if self.pages.values and any(comparable_page(found) in self.pages.values for found in _PAGE.findall(text)):
            return True
        if not self.domains.values:
            return False
        # Browsers take the ideographic full stop for a dot, and characters in other forms for the plain ones.
        plain = unicodedata.normalize("NFKC", text).replace("\N{IDEOGRAPHIC FULL STOP}", ".")
        return any(map(self.cover, _NAME.findall(plain)))

    def cover(self, name: str) -> bool:
        """Whether a domain is blocked, by itself or with one that it lies in."""
        if "." not in name:
            return False
        return not self.domains.values.isdisjoint(domain_and_above(readable_domain(name[-HOST_CHARACTERS:])))
