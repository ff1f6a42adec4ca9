"""Which links in a message are shown."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chat.domain.messages.links import LINKS_MAXIMUM, links_in
from chat.media.outside_addresses import URL_CHARACTERS
from tests.growth import is_linear


@pytest.mark.parametrize(
    ("text", "links"),
    [
        ("", []),
        ("nothing here, not even example.org", []),
        ("see https://example.org", ["https://example.org"]),
        ("HTTPS://Example.ORG/A", ["https://example.org/A"]),
        ("https://example.org.", ["https://example.org"]),
        ("(https://example.org/a)", ["https://example.org/a"]),
        ("https://example.org/a_(b)", ["https://example.org/a_(b)"]),
        ("(see https://example.org/a_(b)).", ["https://example.org/a_(b)"]),
        ("[text](https://example.org/x)", ["https://example.org/x"]),
        ("**https://example.org/x**", ["https://example.org/x"]),
        ("https://example.org/?a=1&b=2#c", ["https://example.org/?a=1&b=2#c"]),
        ("https://example.org/ä b", ["https://example.org/%C3%A4"]),
        ("https://bücher.example/", ["https://xn--bcher-kva.example/"]),
        ("https://faß.example/ https://❤.example/", ["https://xn--fa-hia.example/", "https://xn--qei.example/"]),
        ("https://a.example https://a.example https://b.example", ["https://a.example", "https://b.example"]),
        ("<https://example.org>", []),
        ("<https://example.org and more", ["https://example.org"]),
        ("`https://example.org`", []),
        ("``https://example.org``", []),
        ("```\nhttps://example.org\n```https://b.example", ["https://b.example"]),
        ("`https://example.org", ["https://example.org"]),
        ("||https://example.org||", []),
        ("||https://example.org", ["https://example.org"]),
        ("https://user:password@example.org/", []),
        ("https:///x http:// https://", []),
        ("https://a'b.example/ https://%61/ https://a..b/ https://.a/", []),
        ("https://[::1]:8080/a https://[fe80::1%25eth0]/", ["https://[::1]:8080/a"]),
        ("https://a_b.example./", ["https://a_b.example./"]),
        ("ftp://example.org javascript:alert(1) file:///etc/passwd", []),
        ("https://example.org:99999/ https://[::1", []),
        ("https://example.org/" + "x" * URL_CHARACTERS, []),
        ("https://" + "a" * 300 + ".example", []),
    ],
)
def test_links(text: str, links: list[str]) -> None:
    assert links_in(text) == links


def test_only_the_first_few_count() -> None:
    text = " ".join(f"https://example.org/{number}" for number in range(20))
    assert links_in(text) == [f"https://example.org/{number}" for number in range(LINKS_MAXIMUM)]


PIECES = [
    "https://",
    "http://a.example",
    "<",
    ">",
    "`",
    "``",
    "```",
    "||",
    "|",
    "(",
    ")",
    "[",
    "]",
    " ",
    "\n",
    "x",
    "ä",
    "@",
]


@given(st.lists(st.sampled_from(PIECES), max_size=60).map("".join))
def test_every_link_is_an_address_that_stays_itself(text: str) -> None:
    found = links_in(text)
    assert len(found) == len(set(found)) <= LINKS_MAXIMUM
    for link in found:
        assert link.isascii()
        assert not set(link) & set(' <>`\\\n"')
        assert links_in(link) == [link]


@given(st.text(max_size=300))
def test_no_text_makes_it_fail(text: str) -> None:
    links_in(text)


@pytest.mark.parametrize(
    "piece",
    [
        "`",
        "``",
        "```",
        "||",
        "<https://",
        "https://",
        "https://a((((",
        "https://)",
        "https://a)",
        "https://a]|",
        "<http://a>",
        "`|",
        "|`<",
    ],
)
def test_the_time_grows_with_the_text_and_no_faster(piece: str) -> None:
    assert is_linear(links_in, lambda length: piece * (length // len(piece)), 10_000)
