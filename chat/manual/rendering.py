"""Markdown into HTML that the content security policy of the pages takes: CommonMark with tables, no HTML of its own.

Headings have anchors, a link to another file of the manual leads to its page, and code has its colours as classes.
"""

from __future__ import annotations

import functools
import html
import itertools
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final

import attrs
from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.token import Token
from markdown_it.utils import OptionsDict
from pygments import highlight
from pygments.formatters.html import HtmlFormatter
from pygments.lexer import Lexer
from pygments.lexers.configs import IniLexer, NginxConfLexer, TOMLLexer
from pygments.lexers.data import JsonLexer
from pygments.lexers.javascript import JavascriptLexer
from pygments.lexers.python import PythonLexer
from pygments.lexers.shell import BashLexer
from pygments.lexers.textfmts import HttpLexer

from chat.classes import frozen
from chat.web.manual import Heading, ManualPage, address_of

LEXERS: Final[Mapping[str, Callable[[], Lexer]]] = {
    "http": HttpLexer,
    "ini": IniLexer,
    "js": JavascriptLexer,
    "json": JsonLexer,
    "nginx": NginxConfLexer,
    "python": PythonLexer,
    "sh": BashLexer,
    "toml": TOMLLexer,
}
"""Code that has colours, by the first word behind the fence; any other is shown as it is."""

_PAGE_LINK: Final = re.compile(r"(?P<page>[a-z0-9_-]+)\.md(?P<anchor>#[\w-]+)?")
_NOT_IN_ANCHOR: Final = re.compile(r"[^a-z0-9]+")


@frozen
class Section:
    """What stands below one heading as plain text, for those who search."""

    title: str
    anchor: str
    """Empty for what stands above the first of them."""
    text: str


@frozen
class Rendered:
    """A page, and what is searched of it."""

    page: ManualPage
    sections: tuple[Section, ...] = attrs.field(repr=False)


def rendered(name: str, source: str) -> Rendered:
    """The page that a Markdown text makes; its first line is the title.

    :raises ValueError: when it does not begin with a title, or when two headings of it have one anchor.
    """
    tokens = _markdown().parse(source)
    if len(tokens) < 3 or tokens[0].type != "heading_open" or tokens[0].tag != "h1":
        raise ValueError(f"{name} does not begin with a title")
    title = text_of(tokens[1])
    headings = tuple(_with_anchors(tokens[3:]))
    anchors = [heading.anchor for heading in headings]
    twice = {anchor for anchor in anchors if anchors.count(anchor) > 1}
    if twice:
        raise ValueError(f"{name} has two headings for each of {', '.join(sorted(twice))}")
    content = _markdown().renderer.render(tokens[3:], _markdown().options, {})
    return Rendered(ManualPage(name, title, content, headings), tuple(_sections(title, tokens[3:])))


def anchor_of(title: str) -> str:
    """The anchor of a heading: its words in lower case with hyphens between."""
    return _NOT_IN_ANCHOR.sub("-", title.lower()).strip("-")


def text_of(token: Token) -> str:
    """What an inline token says, without its markup."""
    parts = (part.content if part.type in {"text", "code_inline"} else " " for part in token.children or ())
    return " ".join("".join(parts).split())


def _with_anchors(tokens: Sequence[Token]) -> Iterator[Heading]:
    for opening, inline in itertools.pairwise(tokens):
        if opening.type == "heading_open":
            title = text_of(inline)
            anchor = anchor_of(title)
            opening.attrSet("id", anchor)
            yield Heading(int(opening.tag[1:]), anchor, title)


def _sections(title: str, tokens: Sequence[Token]) -> Iterator[Section]:
    heading, anchor, words = title, "", list[str]()
    for before, token in zip([None, *tokens], tokens, strict=False):
        if before is not None and before.type == "heading_open":
            yield Section(heading, anchor, " ".join(words))
            heading, anchor, words = text_of(token), str(before.attrGet("id")), []
        elif token.type == "inline":
            words.append(text_of(token))
        elif token.type == "fence":
            words.append(" ".join(token.content.split()))
    yield Section(heading, anchor, " ".join(words))


class _Renderer(RendererHTML):
    """What differs from plain HTML of CommonMark."""

    def heading_close(self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: Any) -> str:
        anchor, title = tokens[idx - 2].attrGet("id"), html.escape(text_of(tokens[idx - 1]))
        link = f'<a class="anchor" href="#{anchor}" aria-label="{title}">#</a>'
        return f" {link}</{tokens[idx].tag}>\n"

    def link_open(self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: Any) -> str:
        token = tokens[idx]
        target = str(token.attrGet("href"))
        inside = _PAGE_LINK.fullmatch(target)
        if inside is not None:
            token.attrSet("href", address_of(inside["page"]) + (inside["anchor"] or ""))
        elif "://" in target:
            token.attrSet("rel", "noreferrer")
        return self.renderToken(tokens, idx, options, env)

    def fence(self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: Any) -> str:
        language = language_of(tokens[idx])
        coloured = _coloured(tokens[idx].content, language)
        return f'<pre class="code" data-language="{html.escape(language)}" tabindex="0"><code>{coloured}</code></pre>\n'

    def table_open(self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: Any) -> str:
        return '<div class="table" tabindex="0"><table>\n'

    def table_close(self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: Any) -> str:
        return "</table></div>\n"


def language_of(fence: Token) -> str:
    """The first word behind a fence; empty where there is none."""
    return (fence.info.split() or [""])[0]


def _coloured(code: str, language: str) -> str:
    lexer = LEXERS.get(language)
    if lexer is None:
        return html.escape(code)
    return str(highlight(code, lexer(), HtmlFormatter(nowrap=True)))


@functools.cache
def _markdown() -> MarkdownIt:
    return MarkdownIt("commonmark", {"html": False}, renderer_cls=_Renderer).enable("table")
