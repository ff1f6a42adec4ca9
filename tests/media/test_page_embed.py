"""What is shown of pages and files."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chat.media.outside_fetching import OutsidePage
from chat.media.page_embed import (
    DESCRIPTION_CHARACTERS,
    TITLE_CHARACTERS,
    Embed,
    PageHead,
    embed_of_file,
    embed_of_page,
    oembed_address,
    page_head,
    with_picture_found,
)
from tests.image_samples import MOVING
from tests.webhooks.surfaces import png

URL = "https://site.example/a/page"


def page(data: bytes = b"", kind: str = "text/html") -> OutsidePage:
    """What was found at URL."""
    return OutsidePage(URL, kind, None, data)


def embed(*metas: str, more: dict[str, Any] | None = None, extra: str = "") -> Embed | None:
    """The embed of a page with these `meta` elements, given as `name=content`."""
    elements = "".join(
        f'<meta property="{name}" content="{content}">' for name, content in (m.split("=", 1) for m in metas)
    )
    return embed_of_page(URL, page(), page_head(extra + elements), more or {})


def test_a_page_with_everything() -> None:
    assert embed(
        "og:type=article", "og:title=Title", "og:description=Words", "og:site_name=Site", "og:image=/p.png",
        "og:image:width=640", "og:image:height=320", "og:image:alt=A picture", "theme-color=#F0a",
        "article:published_time=2026-01-02T03:04:05+01:00", "author=Someone",
    ) == {
        "type": "article", "url": URL, "title": "Title", "description": "Words", "provider": {"name": "Site"},
        "author": {"name": "Someone"}, "color": 0xFF00AA, "timestamp": "2026-01-02T02:04:05.000Z",
        "thumbnail": {
            "url": "https://site.example/p.png", "width": 640, "height": 320, "description": "A picture", "flags": 0,
        },
    }  # fmt: skip


@pytest.mark.parametrize(
    ("metas", "extra", "expected"),
    [
        ((), "<title>Only a title</title>", {"type": "link", "title": "Only a title"}),
        (("twitter:title=T", "og:title=O"), "<title>x</title>", {"type": "link", "title": "O"}),
        (("twitter:title=T",), "<title>x</title>", {"type": "link", "title": "T"}),
        (("description=D",), "", {"type": "link", "description": "D"}),
        (("og:title=T", "twitter:card=summary_large_image"), "", {"type": "article", "title": "T"}),
        (("og:title=T", "article:author=https://x.example/who"), "", {"type": "link", "title": "T"}),
        (("og:title=T", "theme-color=red"), "", {"type": "link", "title": "T"}),
        (("og:title=T", "theme-color=#12345"), "", {"type": "link", "title": "T"}),
        (("og:title=T", "theme-color=#000000"), "", {"type": "link", "title": "T", "color": 0}),
        (("og:title=T", "article:published_time=yesterday"), "", {"type": "link", "title": "T"}),
        (("og:title=T", "article:published_time=2026-13-45T99:99:99Z"), "", {"type": "link", "title": "T"}),
        (("og:title=T", "article:published_time=0001-01-01T00:00:00+14:00"), "", {"type": "link", "title": "T"}),
        (("og:title=a\u202eb\u0007c",), "", {"type": "link", "title": "abc"}),
        (("og:title=&lt;script&gt;",), "", {"type": "link", "title": "<script>"}),
        (
            ("og:title=T", "og:video=/v.mp4", "og:video:type=video/mp4"),
            "",
            {
                "type": "video",
                "title": "T",
                "video": {"url": "https://site.example/v.mp4", "content_type": "video/mp4", "flags": 0},
            },
        ),
        (("og:title=T", "og:video=/player", "og:video:type=text/html"), "", {"type": "link", "title": "T"}),
        (
            ("og:image=p.png",),
            "<base href='https://cdn.example/x/'>",
            {"type": "link", "thumbnail": {"url": "https://cdn.example/x/p.png", "flags": 0}},
        ),
    ],
)
def test_parts_of_pages(metas: tuple[str, ...], extra: str, expected: dict[str, Any]) -> None:
    assert embed(*metas, extra=extra) == {"url": URL, **expected}


@pytest.mark.parametrize(
    "address",
    [
        "javascript:alert(1)", "data:image/png;base64,AAAA", "file:///etc/passwd", "https://user@site.example/p.png",
        "http://site.example:22/p.png", "https://[::1", "   ", "https://" + "a" * 3_000, "http://\\\\x/y",
    ],
)  # fmt: skip
def test_addresses_of_pictures_that_are_none(address: str) -> None:
    assert embed("og:title=T", f"og:image={address}") == {"type": "link", "url": URL, "title": "T"}


def test_a_page_that_says_nothing_shows_nothing() -> None:
    assert embed() is None
    assert embed("og:site_name=Site", "theme-color=#fff", "author=A") is None
    assert embed("og:title=   ") is None


def test_long_words_are_cut() -> None:
    found = embed("og:title=" + "x" * 1_000, "og:description=" + "y" * 3_000)
    assert found is not None
    assert (len(found["title"]), len(found["description"])) == (TITLE_CHARACTERS, DESCRIPTION_CHARACTERS)
    assert found["title"].endswith("…")


def test_what_a_page_says_of_itself_in_json() -> None:
    link = '<link rel="alternate" type="application/json+oembed" href="/o?x=1&amp;y=2">'
    assert oembed_address(page_head(link), URL) == "https://site.example/o?x=1&y=2"
    for other in ('<link rel="x" type="application/json+oembed" href="/o">', '<link rel="alternate" href="/o">'):
        assert oembed_address(page_head(other), URL) is None
    assert oembed_address(page_head(link.replace("/o?", "file:///")), URL) is None
    more = {
        "type": "photo", "title": "T", "author_name": "A", "author_url": "https://a.example", "provider_name": "P",
        "provider_url": "javascript:x", "url": "https://p.example/p.png", "width": 5, "height": "7",
    }  # fmt: skip
    assert embed(more=more) == {
        "type": "link", "url": URL, "title": "T", "provider": {"name": "P"},
        "author": {"name": "A", "url": "https://a.example"},
        "thumbnail": {"url": "https://p.example/p.png", "width": 5, "height": 7, "flags": 0},
    }  # fmt: skip


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=5,
)
MEMBERS = ["type", "title", "url", "width", "height", "author_name", "author_url", "provider_name", "thumbnail_url"]


@given(st.dictionaries(st.sampled_from(MEMBERS), JSON | st.just("photo") | st.just("https://x.example/y")))
def test_no_json_makes_it_fail(more: dict[str, Any]) -> None:
    found = embed("og:title=T", more=more)
    assert found is not None
    picture = found.get("thumbnail")
    assert picture is None or picture["url"].startswith(("http://", "https://"))


@given(
    st.dictionaries(
        st.sampled_from(["og:title", "og:image", "og:image:width", "og:image:height", "theme-color", "og:video",
                         "og:video:type", "article:published_time", "og:type", "author", "og:site_name"]),
        st.text(max_size=30) | st.sampled_from(["video/mp4", "https://x.example/y", "#123456", "99999", "²"]),
    )
)  # fmt: skip
def test_no_words_make_it_fail(metas: dict[str, str]) -> None:
    embed_of_page(URL, page(), PageHead(metas=metas), {})


def test_files() -> None:
    url = URL
    assert embed_of_file(url, page(png(30, 20))) == {
        "type": "image", "url": url,
        "thumbnail": {"url": url, "content_type": "image/png", "width": 30, "height": 20, "flags": 0},
    }  # fmt: skip
    moving = embed_of_file(url, page(MOVING["GIF"]()))
    assert moving is not None
    assert moving["thumbnail"]["flags"] == 1 << 5
    film = embed_of_file(url, page(b"\0\0\0\x18ftypmp42"))
    assert film == {"type": "video", "url": url, "video": {"url": url, "content_type": "video/mp4", "flags": 0}}
    sound = embed_of_file(url, page(b"ID3"))
    assert sound == {"type": "audio", "url": url, "audio": {"url": url, "content_type": "audio/mpeg", "flags": 0}}
    for other in (b"", b"<html>", b"PK\x03\x04", b"<svg xmlns='http://www.w3.org/2000/svg'/>", png(50_000, 50_000)):
        assert embed_of_file(url, page(other, "image/png")) is None


def test_a_pictures_size_is_what_it_is() -> None:
    said = embed("og:title=T", "og:image=/p.png", "og:image:width=9999", "og:image:height=9999")
    assert said is not None
    found = with_picture_found(said, page(png(30, 20)))
    assert (found["thumbnail"]["width"], found["thumbnail"]["height"]) == (30, 20)
    assert "thumbnail" not in with_picture_found(said, page(b"<html>"))
    assert "thumbnail" not in with_picture_found(said, page(png(50_000, 50_000)))
