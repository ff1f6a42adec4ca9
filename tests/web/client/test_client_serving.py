"""What the server sends of the web client: its page, its files, packed for each browser, the manifest, the service
worker; and somebody else's application in its place."""

from __future__ import annotations

import gzip
import json
import re
from pathlib import Path

import pytest
import zstandard

from chat.errors import OperatorError
from chat.testing.rest_client import Response, RestClient
from chat.testing.server import open_chat_server
from chat.testing.world import World
from chat.web.webapp import Webapp

HTML = {"Accept": "text/html,application/xhtml+xml,*/*;q=0.8"}
PLACES = ("/channels/@me", "/channels/@me/1", "/channels/1", "/channels/1/2", "/channels/1/2/3")


async def asks(client: RestClient, path: str, method: str = "GET", **headers: str) -> Response:
    return await client.request(method, path, headers={name.replace("_", "-"): text for name, text in headers.items()})


async def addresses(client: RestClient, path: str = "/channels/@me") -> list[str]:
    page = await asks(client, path, **HTML)
    return re.findall(r'"(/static/[^"]+\.[a-z]+)"', page.body.decode())


async def test_each_place_of_the_client_is_its_page_under_its_policy(chat_world: World) -> None:
    for place in PLACES:
        page = await asks(chat_world.anyone, place, **HTML)
        assert (page.status, page.header("content-type")) == (200, "text/html; charset=utf-8")
        assert page.header("content-security-policy") == (
            "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; connect-src 'self'; "
            "form-action 'self'; base-uri 'none'; frame-ancestors 'none'; media-src 'self' blob:; worker-src 'self'; "
            "manifest-src 'self'; require-trusted-types-for 'script'; trusted-types chat"
        )
        assert (await asks(chat_world.anyone, place, Accept="*/*")).code == "NOT_FOUND"
    tag = page.header("etag")
    assert tag is not None
    assert (await asks(chat_world.anyone, place, If_None_Match=tag, **HTML)).status == 304


async def test_a_file_is_packed_as_the_browser_takes_it(chat_world: World) -> None:
    address = next(name for name in await addresses(chat_world.anyone) if name.endswith("/css/base.css"))
    plain = await asks(chat_world.anyone, address, Accept_Encoding="identity")
    assert plain.header("content-encoding") is None
    assert plain.header("cache-control") == "public, max-age=31536000, immutable"
    unpack = {
        "zstd": lambda body: zstandard.ZstdDecompressor().decompress(body),
        "gzip": gzip.decompress,
    }
    for accepted, packing in (("gzip, deflate, br, zstd", "zstd"), ("gzip", "gzip"), ("br, gzip;q=0.5", "gzip")):
        packed = await asks(chat_world.anyone, address, Accept_Encoding=accepted)
        assert packed.header("content-encoding") == packing
        assert packed.header("vary") == "Accept-Encoding"
        assert len(packed.body) < len(plain.body) / 2
        assert unpack[packing](packed.body) == plain.body
        head = await asks(chat_world.anyone, address, "HEAD", Accept_Encoding=accepted)
        assert (head.body, head.header("content-length")) == (b"", str(len(packed.body)))
        tag = packed.header("etag")
        assert tag is not None
        assert tag != plain.header("etag")
        again = await asks(chat_world.anyone, address, Accept_Encoding=accepted, If_None_Match=tag)
        assert (again.status, again.body) == (304, b"")
    refused = await asks(chat_world.anyone, address, Accept_Encoding="zstd;q=0, gzip;q=0")
    assert refused.header("content-encoding") is None


@pytest.mark.chat_settings(client_packs=True)
async def test_the_page_of_an_instance_names_packs(chat_world: World) -> None:
    names = {"/".join(name.split("/")[3:]) for name in await addresses(chat_world.anyone)}
    assert names == {"packs/main.js", "packs/client.css", "static/icon.svg", "static/icon_touch.png"}


async def test_under_development_the_page_names_modules(chat_world: World) -> None:
    names = {"/".join(name.split("/")[3:]) for name in await addresses(chat_world.anyone)}
    assert {"client/main.js", "client/css/base.css"} <= names
    assert not any(name.startswith("packs/") for name in names)


async def test_the_client_can_be_installed(chat_world: World) -> None:
    answer = await asks(chat_world.anyone, "/manifest.webmanifest")
    assert answer.header("content-type") == "application/manifest+json"
    manifest = json.loads(answer.body)
    assert manifest["name"] == "Chat"
    assert (manifest["start_url"], manifest["display"]) == ("/channels/@me", "standalone")
    assert [icon["purpose"] for icon in manifest["icons"]] == ["any", "maskable"]
    for icon in manifest["icons"]:
        assert (await asks(chat_world.anyone, icon["src"])).status == 200
    worker = await asks(chat_world.anyone, "/service-worker.js")
    assert worker.header("content-type") == "text/javascript; charset=utf-8"
    assert worker.header("cache-control") == "no-cache"
    offline = await asks(chat_world.anyone, "/offline")
    assert b"You are offline" in offline.body


@pytest.fixture
def built(tmp_path: Path) -> Path:
    """A folder as a bundler leaves it, with a neighbour that does not belong to it."""
    folder = tmp_path / "built"
    (folder / "static" / "js").mkdir(parents=True)
    (folder / "index.html").write_text("<p>theirs</p>", encoding="utf-8")
    (folder / "static" / "js" / "app.1.js").write_text("theirs()", encoding="utf-8")
    (folder / "manifest.webmanifest").write_text("{}", encoding="utf-8")
    (folder / ".env").write_text("secret", encoding="utf-8")
    (tmp_path / "secret.txt").write_text("secret", encoding="utf-8")
    (folder / "link.txt").symlink_to(tmp_path / "secret.txt")
    (folder / "circle.txt").symlink_to("circle.txt")
    return folder


def test_no_address_leads_out_of_the_folder(built: Path) -> None:
    webapp = Webapp(built)
    for place in (
        "../secret.txt",
        "static/../../secret.txt",
        "/etc/passwd",
        str(built.parent / "secret.txt"),
        "link.txt",
        "circle.txt",
        ".env",
        "static/../.env",
        "static",
        "a\0b",
        "x" * 5_000,
        "v1/users/@me",
    ):
        assert webapp.find(place, or_index=False) is None, place
    found = webapp.find("static/js/app.1.js", or_index=False)
    assert found is not None
    assert (found.content, found.content_type.partition(";")[0]) == (b"theirs()", "text/javascript")
    index = webapp.find("", or_index=False)
    assert index is not None
    assert index.content == b"<p>theirs</p>"


def test_a_folder_that_leads_in_a_circle_is_refused(tmp_path: Path) -> None:
    circle = tmp_path / "circle"
    circle.symlink_to("circle")
    with pytest.raises(OperatorError, match="expected a folder with index"):
        Webapp(circle)


async def test_somebody_elses_application_stands_in_place_of_ours(built: Path, tmp_path: Path) -> None:
    settings = {"webapp_directory": str(built)}
    data = tmp_path / "data"
    data.mkdir()
    async with open_chat_server(data, settings=settings) as server:
        anyone = RestClient(server.route())
        for place in ("/", "/channels/@me", "/nowhere/at/all"):
            answer = await asks(anyone, place, **HTML)
            assert (answer.status, answer.body) == (200, b"<p>theirs</p>")
            assert "frame-ancestors 'none'" in (answer.header("content-security-policy") or "")
        script = await asks(anyone, "/static/js/app.1.js")
        assert (script.status, script.body) == (200, b"theirs()")
        tag = script.header("etag")
        assert tag is not None
        assert (await asks(anyone, "/static/js/app.1.js", If_None_Match=tag)).status == 304
        assert (await asks(anyone, "/manifest.webmanifest")).body == b"{}"
        assert (await asks(anyone, "/service-worker.js")).code == "NOT_FOUND"
        # The API and the pages that letters lead to are ours.
        for place in ("/nowhere", "/v1/nowhere", "/.env", "/../secret.txt", "/%2e%2e/secret.txt", "/link.txt"):
            assert (await asks(anyone, place)).code == "NOT_FOUND"
        assert (await asks(anyone, "/v1/nowhere", **HTML)).code == "NOT_FOUND"
        assert b"Sign in" in (await asks(anyone, "/login", **HTML)).body
        await anyone.aclose()


async def test_a_folder_without_an_index_stops_the_start(tmp_path: Path) -> None:
    with pytest.raises(OperatorError, match="webapp_directory"):
        Webapp(tmp_path)
