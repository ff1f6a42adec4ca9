"""Texts as strangers write them, read by the server and by the web client: both find the same mentions and links.

Whom the client does not show as named, the server does not call; and a link of which the server shows a preview is one
in the client.
"""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chat.domain.messages.links import LINKS_MAXIMUM, links_in
from chat.domain.policy.blocked_values import BlockedLinks, comparable_page
from chat.markdown.addresses import as_visited
from chat.markdown.inline import links_of, mentions_in, spoilers_in
from chat.media.outside_addresses import as_asked_for
from tests.growth import is_linear
from tests.web.client.node import NodeProcess, running_node

FIELD: Final = Path(__file__).parents[2] / "spec_fixtures" / "field"

AT_ONCE: Final = 12
"""Texts of one question to Node."""


@pytest.fixture(scope="module")
def node_process() -> Iterator[NodeProcess]:
    with running_node() as node:
        yield node


def named(text: str) -> list[str]:
    """Whom and what a text names, as `told` of texts.js tells it."""
    return [
        mention.value if mention.kind == "all" else f"{mention.kind}{mention.value}" for mention in mentions_in(text)
    ]


def linked(text: str) -> list[list[Any]]:
    """Where a text leads, likewise."""
    return [[link.href, link.is_hidden] for link in links_of(text)]


def of_pages(links: list[list[Any]]) -> list[list[Any]]:
    """Without those to mail."""
    return [link for link in links if as_visited(link[0]) is not None]


HOSTILE: Final = (
    "[](https://a(", "](https://a ", "[x](https://a \"", "[x](https://a '", "[x](https://a (", "[[a](https://b)", "`",
    "``a`", "```a ````b ", "a```", "> ", "- a\n", "- ```\n", "- a\n\n", "1. a\n   ```\n", "https://a(", "<https://a ",
    "\\`", "\\```", "\\", "(", "\n", "> - ", "*a **b ", "||a", "[", "<@1>", "https://@everyone ", "_a*",
    "https://)", "https://a)", "https://a.b}|",
)  # fmt: skip


@pytest.mark.parametrize("piece", HOSTILE)
def test_hostile_texts_take_no_longer_than_others(piece: str) -> None:
    def read(text: str) -> None:
        assert named(text)[:1] == ["user1"]
        assert linked(text)[0][0] == "https://a.example"
        spoilers_in(text)
        leads_to_the_blocked_page(text)

    assert is_linear(read, lambda length: f"<@1> ||https://a.example {piece * length}"[:length], 2_048)


def is_known(character: str) -> bool:
    """Whether it is a character in the Unicode of this Python; Node may know a newer one."""
    return unicodedata.category(character) != "Cn"


def table(name: str, part: str) -> list[Any]:
    """The rows of a table, each by why it is there."""
    rows = json.loads((FIELD / f"{name}.json").read_text())[part]
    assert len({row["why"] for row in rows}) == len(rows)
    return [pytest.param(row, id=row["why"]) for row in rows]


@pytest.mark.parametrize("row", table("addresses", "addresses"))
def test_addresses(node_process: NodeProcess, row: dict[str, Any]) -> None:
    (told,) = node_process.call("./texts", "told", [row["text"]])
    links = [link.href for link in links_of(row["text"])]
    assert links == [href for href, _ in told["links"]] == row["links"]
    assert links_in(row["text"]) == row.get("previews", [as_asked_for(link) for link in links])[:LINKS_MAXIMUM]


@pytest.mark.parametrize("row", table("mentions", "mentions"))
def test_mentions(node_process: NodeProcess, row: dict[str, Any]) -> None:
    (told,) = node_process.call("./texts", "told", [row["text"]])
    assert named(row["text"]) == told["mentions"] == row["mentions"]


@pytest.mark.parametrize("row", table("markdown", "markdown"))
def test_markdown(node_process: NodeProcess, row: dict[str, Any]) -> None:
    assert node_process.call("./texts", "html", [row["text"]]) == [row["html"]]


def leads_to_the_blocked_page(text: str) -> bool:
    links = BlockedLinks()
    links.pages.replace({comparable_page("https://bad.example/page")})
    return links.are_in(text)


@pytest.mark.parametrize("row", table("addresses", "lead_to_the_blocked_page"))
def test_no_way_to_a_blocked_page(row: dict[str, Any]) -> None:
    links = BlockedLinks()
    links.domains.replace({"bad.example"})
    assert leads_to_the_blocked_page(row["text"])
    assert links.are_in(row["text"])


@pytest.mark.parametrize("row", table("addresses", "lead_elsewhere"))
def test_ways_elsewhere(row: dict[str, Any]) -> None:
    assert not leads_to_the_blocked_page(row["text"])


SIGNS: Final = (
    "`", "``", "```", "````", "\n```", "\n```\n", "\n````js\n", "\n", "\r\n", "\r", "\n\n", "> ", "\n> ", "\n>",
    "\n>>> ", "\n- ", "\n  - ", "\n1. ", "\n   ", "\n# ", "\n-# ", "\\", "\\\\", "[", "]", "](", "](<", "(", ")",
    ">)", "<", ">", '"', "'", '"title")', "](https://a.example/x)", "](<https://a.example/x>", "https://",
    "Https://b.example", "http://c.example/", "<https://d.example>", "mailto:", "<mailto:e@f.example>", "/@everyone",
    "@everyone", "@here", "<@1>", "<@!2>", "<@&3>", "<#4>", "<:ab:5>", "<a:ab:6>", "<@9999999999999999999>", "<@0>",
    "<t:1:R>", "*", "**", "***", "_", "__", "~~", "~", "||", "|", "|||", ".", ",", "!", "\u3002", "\uff0c", "\u201d",
    "\u300d", "\u4e2d", "\uac00", "\u0e01", "\xad", "\u200b", "\ufeff", "\x1c", "\x85", "\u2028", " ", "  ", "\t",
    "a", "x y", "1", "\U0001f44d", "\U0001d400", "%61", "#f", "?q=[]", "{", "}", ":80", "[::1]",
)  # fmt: skip
characters: Final = st.characters(codec="utf-8").filter(is_known)
written: Final = st.lists(st.one_of(st.sampled_from(SIGNS), characters), max_size=40).map("".join)


@settings(max_examples=200)
@given(st.lists(written, min_size=1, max_size=AT_ONCE))
def test_both_find_the_same_in_any_text(node_process: NodeProcess, texts: list[str]) -> None:
    for text, told in zip(texts, node_process.call("./texts", "told", texts), strict=True):
        assert named(text) == told["mentions"], text
        assert linked(text) == of_pages(told["links"]), text
        assert len(spoilers_in(text)) == told["spoilers"], text
