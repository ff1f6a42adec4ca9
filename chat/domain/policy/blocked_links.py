"""Finds blocked pages and domains in texts (administration.md, Blocklists; the blocklists `url` and `url_domain`)."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator
from typing import Final

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


class BlockedLinks:
    """A set of pages in the form of `comparable_page`, and a set of domains in that of `readable_domain`."""

    def __init__(self) -> None:
        self.pages: Final[set[str]] = set()
        self.domains: Final[set[str]] = set()

    def are_in(self, text: str) -> bool:
        """Whether a text leads to a blocked page, or names a blocked domain or one below it, in time that grows with
        the text."""
        if self.pages and any(comparable_page(found) in self.pages for found in _PAGE.findall(text)):
            return True
        if not self.domains:
            return False
        # Browsers take the ideographic full stop for a dot, and characters in other forms for the plain ones.
        plain = unicodedata.normalize("NFKC", text).replace("\N{IDEOGRAPHIC FULL STOP}", ".")
        return any(map(self.cover, _NAME.findall(plain)))

    def cover(self, name: str) -> bool:
        """Whether a domain is blocked, by itself or with one that it lies in."""
        if "." not in name:
            return False
        return not self.domains.isdisjoint(domain_and_above(readable_domain(name[-HOST_CHARACTERS:])))

    def replace_pages(self, pages: Iterable[str]) -> None:
        """Hold these pages and no others."""
        self.pages.clear()
        self.pages.update(pages)

    def replace_domains(self, domains: Iterable[str]) -> None:
        """Hold these domains and no others."""
        self.domains.clear()
        self.domains.update(map(readable_domain, domains))
