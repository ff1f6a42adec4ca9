"""The client's Markdown against CommonMark: its own examples, and another parser on random texts."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from tests.conformance.clients.installed import npm_package
from tests.field.commonmark import EXCEPTIONS, VERSION, examples, our_tree, their_tree
from tests.web.client.node import NodeProcess, running_node

OTHER: Final = MarkdownIt("commonmark")


@pytest.fixture(scope="module")
def node_process() -> Iterator[NodeProcess]:
    with running_node() as node:
        yield node


@pytest.mark.long
def test_the_examples_of_commonmark(node_process: NodeProcess) -> None:
    specification = (npm_package("commonmark-spec", VERSION) / "spec.txt").read_text(encoding="utf-8")
    all_of_them = list(examples(specification))
    said = node_process.call("./texts", "html", [example.text for example in all_of_them])
    other = {
        example.number: (example.text, our_tree(html), example.tree)
        for example, html in zip(all_of_them, said, strict=True)
        if our_tree(html) != example.tree
    }
    known = {number for numbers in EXCEPTIONS.values() for number in numbers}
    assert {number: each for number, each in other.items() if number not in known} == {}
    assert known <= other.keys(), "they are exceptions no more"


inline: Final = st.lists(
    st.sampled_from(
        ["*", "**", "***", "_", "__", "___", "`", "``", "```", "\\", "[", "]", "(", ")", "](mailto:a@x.example)",
         "](<mailto:b@x.example>)", '](mailto:(y) "t")', " ", " ", ".", "'", "a", "b c", "\xe9", "\u2014", "$"]
    ),
    max_size=24,
).map(lambda pieces: f"x{''.join(pieces)}x")  # fmt: skip


@settings(max_examples=150)
@given(st.lists(inline, min_size=1, max_size=12))
def test_marks_code_escapes_and_links_as_in_another_parser(node_process: NodeProcess, texts: list[str]) -> None:
    texts = [text for text in texts if not has_bare_blocks(text)]
    for text, html in zip(texts, node_process.call("./texts", "html", texts), strict=True):
        assert our_tree(html) == their_tree(OTHER.render(text)), text


def has_bare_blocks(text: str) -> bool:
    """Whether our Markdown does otherwise on purpose: code blocks within a line, links without words, and addresses
    that are links as they stand."""
    return "```" in text or re.search(r"\[ *\]", text) is not None
