"""Colours of code: what is coloured, and that the pieces of any text add up to the text."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.web.client.node import NodeProcess, running_node

LANGUAGES: Final = ("python", "js", "TS", "json", "html", "css", "sh", "sql", "rust", "go", "c", "c++", "java", "yaml",
                    "diff", "", "klingon")  # fmt: skip


@pytest.fixture(scope="module")
def node_process() -> Iterator[NodeProcess]:
    with running_node() as node:
        yield node


@pytest.mark.parametrize(
    ("language", "code", "expected"),
    [
        ("py", 'if x: # no\n  "a\\"b"', ["word:if", ":" + " x: ", "comment:# no", ":\n  ", 'string:"a\\"b"']),
        ("py", '"""a\nb""" 1', ['string:"""a\nb"""', ": ", "number:1"]),
        ("js", "let a = `b\nc` // d", ["word:let", ": a = ", "string:`b\nc`", ": ", "comment:// d"]),
        ("js", '"open\nnext', ['string:"open', ":\nnext"]),
        ("c", "/* a */ 0x1F", ["comment:/* a */", ": ", "number:0x1F"]),
        ("sql", "select 1 -- x", ["word:select", ": ", "number:1", ": ", "comment:-- x"]),
        ("diff", "+a\n-b\n c", ["added:+a\n", "removed:-b\n", ": c"]),
        ("klingon", "if 1", [":if 1"]),
    ],
)
def test_what_is_coloured(node_process: NodeProcess, language: str, code: str, expected: list[str]) -> None:
    pieces = node_process.call("text/highlight", "highlight", code, language)
    assert [f"{piece['kind']}:{piece['text']}" for piece in pieces] == expected


code = st.one_of(
    st.text(),
    st.lists(
        st.sampled_from(('"', "'", "`", '"""', "/*", "*/", "//", "#", "--", "\\", "\n", "x1", "0x", "if ", "é"))
    ).map("".join),
)


@given(code, st.sampled_from(LANGUAGES))
def test_the_pieces_are_the_text(node_process: NodeProcess, written: str, language: str) -> None:
    pieces = node_process.call("text/highlight", "highlight", written, language)
    assert "".join(piece["text"] for piece in pieces) == written
    assert all(piece["text"] for piece in pieces)
    assert all(one["kind"] != other["kind"] for one, other in itertools.pairwise(pieces))
