"""Matrix writes text as HTML (`formatted_body`), which becomes Markdown: by the standard library's parser, with nothing
but the elements that the specification lets clients send.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from html.parser import HTMLParser
from typing import Final
from urllib.parse import unquote

from chat.imports.marks import code, escaped, fenced, link, marked, quoted

_MARKS: Final = {"strong": "**", "b": "**", "em": "*", "i": "*", "del": "~~", "s": "~~", "strike": "~~", "u": "__"}
_PARAGRAPHS: Final = frozenset(
    {"p", "div", "blockquote", "pre", "ul", "ol", "h1", "h2", "h3", "h4", "h5", "h6", "hr", "table", "tr"}
)
_LEFT_OUT: Final = frozenset({"mx-reply", "script", "style", "head", "title"})
_VOID: Final = frozenset({"br", "hr", "img"})
_NAMED: Final = re.compile(
    r"https?://matrix\.to/#/(?P<key>[^?/]+)(?:/(?P<event>[^?]+))?(?:\?.*)?"
    r"|matrix:(?P<kind>u|r|roomid)/(?P<name>[^?/]+)(?:\?.*)?"
)
_BLANKS: Final = re.compile(r"[ \t\r\n]+")
_LINES: Final = re.compile("\n+")
_SIGILS: Final = {"u": "@", "r": "#", "roomid": "!"}
DEPTH: Final = 64
"""How deep elements lie in each other; what lies deeper is text."""

Mention = Callable[[str, str], str | None]
"""The text for somebody or something by its id and its label; None where nobody knows it."""


class _Element:
    def __init__(self, name: str, attributes: dict[str, str]) -> None:
        self.name = name
        self.attributes = attributes
        self.parts: list[str] = []
        self.raw: list[str] = []
        """What code holds."""
        self.items = 0


class MatrixHtml(HTMLParser):
    """Reads one text. `mention` turns links to people and rooms into mentions."""

    def __init__(self, mention: Mention) -> None:
        super().__init__(convert_charrefs=True)
        self._mention = mention
        self._open = [_Element("", {})]
        self._deeper = 0

    def read(self, text: str) -> str:
        """The text as Markdown."""
        self.feed(text)
        self.close()
        while len(self._open) > 1:
            self._end()
        return _tidy("".join(self._open[0].parts))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in _VOID:
            self._void(tag, {name: value or "" for name, value in attrs})
        elif len(self._open) >= DEPTH:
            self._deeper += 1
        else:
            if tag == "li":
                self._open[-1].items += 1
            self._open.append(_Element(tag, {name: value or "" for name, value in attrs}))

    def handle_endtag(self, tag: str) -> None:
        if tag in _VOID:
            return
        if self._deeper:
            self._deeper -= 1
            return
        if any(one.name == tag for one in self._open[1:]):
            while self._open[-1].name != tag:
                self._end()
            self._end()

    def handle_data(self, data: str) -> None:
        top = self._open[-1]
        top.raw.append(data)
        if not self._is_code():
            top.parts.append(escaped(_BLANKS.sub(" ", data)))

    def _is_code(self) -> bool:
        return any(one.name in ("code", "pre") for one in self._open)

    def _void(self, tag: str, attributes: dict[str, str]) -> None:
        top = self._open[-1]
        if tag == "img":
            label = attributes.get("alt") or attributes.get("title") or ""
            top.parts.append(escaped(label))
            top.raw.append(label)
        elif tag == "br":
            top.parts.append("\n")
            top.raw.append("\n")
        else:
            top.parts.append("\n\n")

    def _end(self) -> None:
        """The innermost element is over."""
        element = self._open.pop()
        above = self._open[-1]
        said, raw = "".join(element.parts), "".join(element.raw)
        if element.name in _LEFT_OUT:
            return
        above.raw.append(raw)
        if element.name not in ("pre",) and self._is_code():
            if element.name == "code":
                language = element.attributes.get("class", "").partition("language-")[2].split(" ")[0]
                above.attributes.setdefault("language", language)
            return
        written = self._written(element, above, said, raw)
        above.parts.append(f"\n\n{written}\n\n" if element.name in _PARAGRAPHS else written)

    def _written(self, element: _Element, above: _Element, said: str, raw: str) -> str:
        match element.name:
            case "pre":
                language = element.attributes.get("language", "")
                return fenced(raw, language if language.isalnum() else "")
            case "code":
                return code(raw)
            case "a":
                return self._link(element.attributes.get("href", ""), said, raw)
            case "blockquote":
                return quoted(_tidy(said))
            case "li":
                sign = f"{above.items}." if above.name == "ol" else "-"
                inner = _LINES.sub("\n  ", _tidy(said))
                return f"\n{sign} {inner}"
            case "span" | "font" if "data-mx-spoiler" in element.attributes:
                return marked("||", said.replace("\n\n", "\n"))
            case "span" | "div" if "data-mx-maths" in element.attributes:
                return code(element.attributes["data-mx-maths"])
            case "h1" | "h2" | "h3" | "h4" | "h5" | "h6":
                return f"{'#' * min(3, int(element.name[1]))} {_tidy(said)}"
            case "td" | "th":
                return f"{said} | "
            case _ if element.name in _MARKS:
                mark = _MARKS[element.name]
                return said if any(_MARKS.get(one.name) == mark for one in self._open) else marked(mark, said)
            case _:
                return said

    def _link(self, address: str, said: str, raw: str) -> str:
        found = _NAMED.fullmatch(address)
        if found is not None:
            key = unquote(found["key"] or "") or _SIGILS.get(found["kind"] or "", "") + unquote(found["name"] or "")
            mention = self._mention(key, raw)
            if mention is not None and not found["event"]:
                return mention
        return said if address == raw else link(address, said)


def _tidy(text: str) -> str:
    """Paragraphs with one empty line between them at most, and no blanks at the ends of lines."""
    lines: list[str] = []
    fence = ""
    for line in text.strip().split("\n"):
        if line.startswith("```") and (not fence or line.strip() == fence):
            fence = "" if fence else line[: len(line) - len(line.lstrip("`"))]
        shown = line if fence else line.rstrip()
        if shown or fence or (lines and lines[-1]):
            lines.append(shown if fence or shown.startswith("  ") else shown.removeprefix(" "))
    return "\n".join(lines).strip()


def markdown_of(html: str, mention: Mention) -> str:
    """The text of a `formatted_body`."""
    return MatrixHtml(mention).read(html)
