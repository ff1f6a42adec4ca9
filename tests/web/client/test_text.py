"""What people write becomes a tree of text in one pass: nothing of it is lost, nothing of it is markup, and no text is
too hostile."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator
from typing import Any, Final

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.field.test_texts_in_two_languages import HOSTILE
from tests.growth import MOST
from tests.web.client.node import NodeProcess, running_node

CHARACTERS: Final = 16_384
NODES: Final = 2_000
DEPTH: Final = 12


@pytest.fixture(scope="module")
def node_process() -> Iterator[NodeProcess]:
    with running_node() as node:
        yield node


def text(said: str) -> dict[str, str]:
    return {"type": "text", "text": said}


def group(kind: str, *children: dict[str, Any]) -> dict[str, Any]:
    return {"type": kind, "children": list(children)}


BREAK: Final = {"type": "break"}

CASES: Final[dict[str, list[dict[str, Any]]]] = {
    "": [],
    "plain": [text("plain")],
    "**bold** and *it* _it_": [
        group("strong", text("bold")), text(" and "), group("emphasis", text("it")), text(" "),
        group("emphasis", text("it")),
    ],
    "__under__ ~~gone~~ ||hidden||": [
        group("underline", text("under")), text(" "), group("strike", text("gone")), text(" "),
        group("spoiler", text("hidden")),
    ],
    "***both***": [group("emphasis", group("strong", text("both")))],
    "**a *b** c*": [
        group("emphasis", group("emphasis", text("a "), group("emphasis", text("b"))), text(" c")),
    ],
    "snake_case_name": [text("snake_case_name")],
    "2 * 3 * 4": [text("2 * 3 * 4")],
    "**not closed": [text("**not closed")],
    "\\*not\\* \\n": [text("*not* \\n")],
    "`code` ``a ` b``": [{"type": "code", "text": "code"}, text(" "), {"type": "code", "text": "a ` b"}],
    "`**no**`": [{"type": "code", "text": "**no**"}],
    "```py\nx = 1\n```": [{"type": "code_block", "language": "py", "text": "x = 1"}],
    "```x = 1```after": [{"type": "code_block", "language": "", "text": "x = 1"}, text("after")],
    "one\ntwo": [text("one"), BREAK, text("two")],
    "> a\n> b\nc": [group("quote", text("a"), BREAK, text("b")), text("c")],
    ">>> a\nb": [group("quote", text("a"), BREAK, text("b"))],
    "# Head\n-# small": [
        {"type": "heading", "level": 1, "children": [text("Head")]}, group("subtext", text("small")),
    ],
    "#no": [text("#no")],
    "- a\n  - b\n- c": [
        {"type": "list", "ordered": False, "start": 1, "items": [
            [text("a"), {"type": "list", "ordered": False, "start": 1, "items": [[text("b")]]}], [text("c")],
        ]},
    ],
    "3. a\n4. b": [{"type": "list", "ordered": True, "start": 3, "items": [[text("a")], [text("b")]]}],
    "<@12> <@!13> <@&14> <#15> @everyone @here": [
        {"type": "mention", "kind": "user", "id": "12"}, text(" "), {"type": "mention", "kind": "user", "id": "13"},
        text(" "), {"type": "mention", "kind": "role", "id": "14"}, text(" "),
        {"type": "mention", "kind": "channel", "id": "15"}, text(" "),
        {"type": "mention", "kind": "everyone", "id": ""}, text(" "), {"type": "mention", "kind": "here", "id": ""},
    ],
    "me@everyone.org": [text("me@everyone.org")],
    "<:duck:7><a:duck:8>": [
        {"type": "emoji", "name": "duck", "id": "7", "animated": False},
        {"type": "emoji", "name": "duck", "id": "8", "animated": True},
    ],
    "<t:99:R><t:-1>": [
        {"type": "time", "seconds": 99, "style": "R"}, {"type": "time", "seconds": -1, "style": "f"},
    ],
    "see https://a.example/b_(c), d": [
        text("see "), {"type": "link", "href": "https://a.example/b_(c)", "children": [text("https://a.example/b_(c)")]},
        text(", d"),
    ],
    "[**x** y](https://a.example/)": [
        {"type": "link", "href": "https://a.example/", "children": [group("strong", text("x")), text(" y")]},
    ],
    "<https://a.example/>": [
        {"type": "link", "href": "https://a.example/", "children": [text("https://a.example/")]},
    ],
    "[x](javascript:alert(1))": [text("[x](javascript:alert(1))")],
}  # fmt: skip


@pytest.mark.parametrize("source", CASES)
def test_the_dialect(node_process: NodeProcess, source: str) -> None:
    assert node_process.call("./texts", "parsed", source) == CASES[source]


marks = st.sampled_from(
    ("*", "**", "***", "_", "__", "~~", "||", "`", "``", "```", "> ", ">>> ", "# ", "## ", "-# ", "- ", "1. ", "  - ",
     "\n", "\\", "[", "](", ")", "](https://a.example/x)", "https://b.example/(y)", "<", "<@1>", "<:ab:2>", "<#3>",
     "@everyone", " ", "\u202e", "\u0301", "word", "Wort", "x")
)  # fmt: skip
written = st.one_of(st.lists(st.one_of(marks, st.characters(codec="utf-8")), max_size=120).map("".join), st.text())


def letters(said: str) -> str:
    return "".join(character for character in said if unicodedata.category(character)[0] == "L")


@settings(max_examples=400)
@given(written)
def test_no_letter_is_lost(node_process: NodeProcess, source: str) -> None:
    assert letters(node_process.call("./texts", "spoken", source)) == letters(source)


@given(written)
def test_a_tree_is_bounded(node_process: NodeProcess, source: str) -> None:
    found = node_process.call("./texts", "size", source)
    assert found["nodes"] <= NODES + CHARACTERS
    assert found["deepest"] <= 2 * DEPTH + 2


@given(st.lists(st.one_of(marks, st.sampled_from(("javascript:", "data:", "http://", "//c.example", "vbscript:")))))
def test_links_lead_to_the_web_and_to_mail(node_process: NodeProcess, parts: list[str]) -> None:
    for address in node_process.call("./texts", "addresses", "".join(parts)):
        assert address.startswith(("http://", "https://", "mailto:"))


@pytest.mark.parametrize(
    "bomb",
    ["*", "**a", "_a ", "||", "`", "``a`", "[", "[a](", "> ", "> > > > > ", "- ", "  - a\n", "<", "<@", "~~a", "```",
     "\u0301", "\u202e", "https://a/(", "\\", "# \n", "1. a\n"],
)  # fmt: skip
def test_bombs(node_process: NodeProcess, bomb: str) -> None:
    source = (bomb * 65_536)[:65_536]
    assert letters(node_process.call("./texts", "spoken", source)) == letters(source)
    assert node_process.call("./texts", "size", source)["deepest"] <= 2 * DEPTH + 2


def test_hostile_texts_take_no_longer_than_others(node_process: NodeProcess) -> None:
    pieces = [
        *HOSTILE,
        "||",
        "*https://a)",
        "https://a|",
        "- > ",
        "a*b_c~",
        "__a**",
        "# a\n",
        "<:a:1>",
        "<t:1:R>",
        "@here ",
    ]
    # A busy machine only adds: what grows with the square takes 64 times as long however often it is asked.
    for _ in range(4):
        growths = node_process.call("./texts", "growths", pieces, CHARACTERS // 8)
        pieces = [piece for piece, growth in zip(pieces, growths, strict=True) if growth > MOST]
    assert pieces == []
