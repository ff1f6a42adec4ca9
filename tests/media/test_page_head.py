"""What the head of a page says, hostile pages among them."""

from __future__ import annotations

import html

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chat.media.outside_fetching import PAGE_BYTES
from chat.media.page_embed import VALUE_CHARACTERS, VALUES, PageLink, page_head
from tests.growth import is_linear

PAGE = """<!DOCTYPE html><!-- <meta name=a content=b> -->
<html prefix="og: https://ogp.me/ns#"><HEAD>
<title>  A page &amp; its
 title </title>
<meta property="og:title" content="Open &quot;Graph&quot;">
<meta property='og:title' content='a second one'/>
<META NAME=Description CONTENT=bare>
<meta content="turned round" name="twitter:title" />
<meta charset=utf-8><meta name="empty" content="">
<base href="https://other.example/"><base href="x">
<link rel="alternate nofollow" type="application/json+oembed" href="/oembed?a&amp;b">
<script>"<meta name='script' content='no'>"</script><style><meta name=style content=no></style>
<meta name="theme-color" content="#abc">
</head><meta name=late content=no><body><meta name=body content=no>"""


def test_a_page() -> None:
    head = page_head(PAGE)
    assert head.title == "A page & its title"
    assert head.base == "https://other.example/"
    assert head.metas == {
        "og:title": 'Open "Graph"',
        "description": "bare",
        "twitter:title": "turned round",
        "theme-color": "#abc",
    }
    assert head.links == [PageLink(frozenset({"alternate", "nofollow"}), "application/json+oembed", "/oembed?a&b")]
    assert head.first("none", "twitter:title", "og:title") == "turned round"
    assert head.first("none") is None


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("", None),
        ("<title>a", "a"),
        ("<title></title>", None),
        ("<title>a</title x><title>b</title>", "a"),
        ("<title>a</titles></title>", "a</titles>"),
        ("<title>&lt;script&gt;</title>", "<script>"),
        ("<TITLE lang=en>a</TiTlE>", "a"),
        ("<svg><title>of a drawing</title></svg><title>a</title>", "a"),
        ("<body><title>a</title>", None),
        ("text < 5 <title>a</title>", "a"),
        ("<title " + "x" * 10, None),
        ("<title>" + "x" * 10_000 + "</title>", "x" * VALUE_CHARACTERS),
    ],
)
def test_titles(text: str, title: str | None) -> None:
    assert page_head(text).title == title


def test_numbers_beyond_all_numbers_do_not_fail() -> None:
    page_head("<title>&#" + "9" * 10_000 + ";</title><meta name=a content='&#x" + "f" * 10_000 + ";'>")


def test_only_so_much_is_noted() -> None:
    many = "".join(f"<meta name=m{number} content=x><link rel=x href=y>" for number in range(3 * VALUES))
    head = page_head(many)
    assert (len(head.metas), len(head.links)) == (VALUES, VALUES)
    long = page_head(f"<meta name=a content='{'x' * 100_000}'><meta name=b content=c>")
    assert (len(long.metas["a"]), long.metas["b"]) == (VALUE_CHARACTERS, "c")


@given(st.text(alphabet=st.sampled_from("<>/!-='\"&;# \nabmet"), max_size=200))
def test_no_markup_makes_it_fail(text: str) -> None:
    page_head(text)


@given(st.text(max_size=100))
def test_what_is_quoted_comes_back(text: str) -> None:
    shown = " ".join(html.escape(text).split())
    head = page_head(f'<meta name="a" content="{html.escape(text)}"><title>{shown}</title>')
    expected = " ".join(html.unescape(html.escape(text)).split())
    assert head.metas.get("a", "") == expected
    assert (head.title or "") == " ".join(html.unescape(shown).split())


BOMBS = [
    "<", "<!--", "<!", "<?", "</", "<a ", "<meta ", "<meta a=", "<meta a='", '<meta a="x" ', "<title>", "<script>",
    "<script></script", "<svg>", "&#", "&amp", "<meta content='&amp;", "<meta/", "<meta =", "< ", "\0", "<link rel=a ",
    "<title>&", "<style><", "<a b c d ", "<!-->", "<meta name=a content=" + "&#x41;" * 50 + ">",
]  # fmt: skip


@pytest.mark.parametrize("piece", BOMBS)
def test_a_hostile_page_takes_no_longer_than_any_other(piece: str) -> None:
    def page(length: int) -> str:
        return begin + (piece * (length // len(piece) + 1))[:length]

    for begin in ("", "<head>", "<title>", "<meta name='"):
        assert is_linear(page_head, page, PAGE_BYTES // 8), begin
