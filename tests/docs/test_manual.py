"""The manual: every page is rendered, every link of it leads somewhere, and every instance shows it at /docs."""

from __future__ import annotations

import functools
import json
import re
import threading
from html.parser import HTMLParser
from typing import Final

import pytest
from jinja2 import DictLoader, Environment

from chat.manual.contents import PARTS, ManualPart
from chat.manual.library import FOLDER, Library, PageSource
from chat.manual.opening import MADE, open_manual
from chat.manual.rendering import anchor_of, rendered
from chat.testing.rest_client import Response, RestClient
from chat.testing.world import World
from chat.web.assets import AssetStore
from chat.web.manual import FRONT, INDEX, ManualPages, PageEntry, address_of
from tests.web.test_pages_over_http import INLINE

LIBRARY: Final = open_manual()
NAMES: Final = list(LIBRARY.sources)


class Links(HTMLParser):
    """Addresses that a page links to, and the anchors that it has."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.addresses: list[str] = []
        self.anchors: set[str] = set()
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        named = dict(attrs)
        if tag == "a" and named.get("href"):
            self.addresses.append(str(named["href"]))
        if named.get("id"):
            self.anchors.add(str(named["id"]))


@functools.cache
def links_of(name: str) -> Links:
    page = LIBRARY.page(name)
    assert page is not None
    return Links(page.html)


async def asks(client: RestClient, path: str, **headers: str) -> Response:
    return await client.request("GET", path, headers={name.replace("_", "-"): text for name, text in headers.items()})


def test_every_file_and_every_made_page_is_in_the_contents_once() -> None:
    listed = [name for part in PARTS for name in part.pages]
    files = {path.stem for path in FOLDER.glob("*.md")}
    assert sorted([*listed, FRONT]) == sorted({*files, *(source.entry.name for source in MADE)}), (
        "name a new page in chat/manual/contents.py"
    )
    assert len(set(NAMES)) == len(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_every_link_of_a_page_leads_somewhere(name: str) -> None:
    places = {address_of(other): other for other in NAMES}
    for address in links_of(name).addresses:
        if "://" in address or address.startswith("mailto:"):
            continue
        path, _, anchor = address.partition("#")
        if path.startswith("/docs") or not path:
            assert not path or path in places, f"{name} links to {address}"
            assert not anchor or anchor in links_of(places.get(path, name)).anchors, f"{name} links to {address}"
        else:
            assert path in {"/", "/admin", "/dev", "/settings", "/v1/openapi.json", "/v1/asyncapi.json"}, address


def test_headings_have_anchors_and_code_has_colours_that_the_policy_takes() -> None:
    made = rendered(
        "page",
        "# A title\n\nText & `code`.\n\n## The *first* part\n\n```sh no-run=\"why\"\necho '<b>' # all\n```\n\n"
        "<script>alert(1)</script>\n\n[there](other.md#place) [out](https://example.com)\n\n| a |\n|---|\n| b |\n",
    )
    assert (made.page.title, [heading.anchor for heading in made.page.headings]) == ("A title", ["the-first-part"])
    html = made.page.html
    assert '<h2 id="the-first-part">' in html
    assert "<script" not in html
    assert "&lt;script&gt;" in html
    assert 'href="/docs/other#place"' in html
    assert 'rel="noreferrer"' in html
    assert '<span class="c1"># all</span>' in html
    assert INLINE.search(html) is None
    assert [section.title for section in made.sections] == ["A title", "The first part"]
    assert made.sections[0].text == "Text & code."


@pytest.mark.parametrize("source", ["", "text alone", "## no title\n\ntext", "# t\n\n## a\n\n## A\n"])
def test_a_page_without_a_title_or_with_two_equal_anchors_is_refused(source: str) -> None:
    with pytest.raises(ValueError, match=r"title|two headings"):
        rendered("page", source)


def test_anchors_are_words_with_hyphens() -> None:
    assert anchor_of("POST /v1/auth/login: sign in") == "post-v1-auth-login-sign-in"


@pytest.mark.parametrize("name", NAMES)
def test_no_page_is_empty_and_each_is_called_as_in_the_contents(name: str) -> None:
    page = LIBRARY.page(name)
    assert page is not None
    assert page.title == LIBRARY.sources[name].entry.title
    assert len(re.sub(r"<[^>]+>", "", page.html).split()) > 20


async def test_every_page_is_shown_with_its_neighbours(chat_world: World) -> None:
    for before, name in zip([None, *NAMES], NAMES, strict=False):
        answer = await asks(chat_world.anyone, address_of(name))
        assert answer.status == 200
        policy = answer.header("content-security-policy") or ""
        assert "default-src 'none'" in policy
        assert "trusted-types 'none'" in policy
        text = answer.body.decode()
        assert INLINE.search(text) is None
        assert text.count("<h1>") == 1
        assert before is None or f'rel="prev" href="{address_of(before)}"' in text
        tag = answer.header("etag")
        assert tag is not None
        assert (await asks(chat_world.anyone, address_of(name), If_None_Match=tag)).status == 304


async def test_contents_and_language(chat_world: World) -> None:
    english = (await asks(chat_world.anyone, "/docs")).body.decode()
    german = await asks(chat_world.anyone, "/docs", Accept_Language="de")
    assert german.header("vary") == "Accept-Encoding, Accept-Language"
    assert '<html lang="de">' in german.body.decode()
    assert "Inhalt" in german.body.decode()
    links = Links(english).addresses
    assert [address for address in map(address_of, NAMES) if address not in links] == []
    assert 'aria-current="page"' in english
    assert 'href="/docs"' in (await asks(chat_world.anyone, "/login")).body.decode()


async def test_the_index_names_every_section_and_is_packed(chat_world: World) -> None:
    answer = await asks(chat_world.anyone, INDEX)
    assert answer.header("content-type") == "application/json"
    rows = json.loads(answer.body)
    assert {address.partition("#")[0] for _, _, address, _ in rows} == set(map(address_of, NAMES))
    assert all(re.fullmatch(r"/docs(?:/[a-z0-9_-]+)?(?:#[a-z0-9-]+)?", address) for _, _, address, _ in rows)
    packed = await asks(chat_world.anyone, INDEX, Accept_Encoding="gzip")
    assert packed.header("content-encoding") == "gzip"
    assert len(packed.body) < len(answer.body) / 2


async def test_nowhere_in_the_manual_is_nowhere(chat_world: World) -> None:
    for path in ("/docs/none", "/docs/..%2fserver", "/docs/first-hour.md"):
        assert (await asks(chat_world.anyone, path)).status == 404


async def test_what_is_made_is_made_beside_the_loop() -> None:
    """Where a server has threads: a page, the index and the AsyncAPI document hold up nobody while they are made."""
    loop, made_in = threading.get_ident(), dict[str, int]()

    def page() -> str:
        made_in["page"] = threading.get_ident()
        return "# A title\n\nA text.\n"

    def asyncapi() -> bytes:
        made_in["asyncapi"] = threading.get_ident()
        return b"{}"

    def opened() -> Library:
        made_in["opened"] = threading.get_ident()
        return Library(
            [PageSource(PageEntry("made", "A title"), page)], parts=(ManualPart("Part", ("made",)),), asyncapi=asyncapi
        )

    environment = Environment(loader=DictLoader({"manual.html": "{{ content }}"}), autoescape=True)
    environment.globals["language"] = "en"
    for ask in (
        lambda pages: pages.page("made", environment, {}),
        lambda pages: pages.index(),
        lambda pages: pages.asyncapi(),
    ):
        made_in.clear()
        await ask(ManualPages(opened, AssetStore(in_threads=True)))
        assert len(made_in) == 2
        assert loop not in made_in.values(), made_in
