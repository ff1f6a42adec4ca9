"""Moving pictures of a service that the operator has named (messages.md, Moving pictures)."""

from __future__ import annotations

import logging
import zlib
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import trio
from trio.testing import MockClock

from chat.auth.outgoing_http import REQUEST_SECONDS
from chat.config import Settings
from chat.config.settings import GifSettings
from chat.domain.messages.gif_providers import CURSOR_CHARACTERS, GIF_PROVIDERS, GIFS_AT_A_TIME, GifQuery
from chat.domain.messages.gifs import REMEMBERED_MS
from chat.testing.rest_client import Response, RestClient
from chat.testing.world import World
from tests.loopback_http import Answer
from tests.messages.gif_service import FOUND, KEY, GifService


@pytest.fixture
async def service() -> AsyncIterator[GifService]:
    async with GifService().running() as running:
        yield running


@pytest.fixture
async def chat_server_options(request: pytest.FixtureRequest, tmp_path: Path, service: GifService) -> dict[str, Any]:
    settings: dict[str, object] = {
        "gif.provider": "klipy",
        "gif.api_key": KEY,
        "gif.api_url": f"{service.origin}/v2",
        "gif.rating": "pg",
        "media.private_networks_allowed": ("127.0.0.0/8",),
    }
    for marker in reversed(list(request.node.iter_markers("chat_settings"))):
        settings.update(marker.kwargs)
    return {"folder": tmp_path, "seed": zlib.crc32(request.node.nodeid.encode()), "settings": settings}


def refused(answer: Response) -> tuple[int, str]:
    assert KEY.encode() not in answer.body
    return answer.status, str(answer.code)


async def finds(world: World, service: GifService) -> dict[str, list[str]]:
    """Look at what can be found; returns what the service was asked first."""
    bob = world.bob
    page = (await bob.rest.search_gifs("  Two   Cats ", language="de")).expect(200)
    assert len(page["gifs"]) == GIFS_AT_A_TIME
    first = page["gifs"][0]
    assert (first["title"], first["url"]) == ("two cats 0", f"{service.origin}/0.gif")
    assert (first["width"], first["height"]) == (64, 48)
    rest = (await bob.rest.search_gifs("two cats", language="de", after=page["next"])).expect(200)
    assert (len(rest["gifs"]), rest["next"]) == (FOUND - GIFS_AT_A_TIME, None)
    popular = (await bob.rest.trending_gifs()).expect(200)
    assert popular["gifs"][0]["title"] == "popular 0"
    assert (await bob.rest.search_gifs("nothing")).expect(200) == {"gifs": [], "next": None}

    # The picture comes from here, and moves.
    _, place, name = first["preview_url"].partition("/media/")
    preview = await bob.rest.get(f"{place}{name}")
    assert (preview.status, preview.body[:4]) == (200, b"GIF8")
    assert service.paths()[-1] == "/0-tiny.gif"
    return dict(service.queries[0])


async def test_pictures_are_found_at_klipy(chat_world: World, service: GifService) -> None:
    asked = await finds(chat_world, service)
    assert asked == {
        "key": [KEY],
        "limit": ["24"],
        "contentfilter": ["medium"],
        "media_filter": ["gif,tinygif"],
        "locale": ["de"],
        "q": ["two cats"],
    }


@pytest.mark.chat_settings(**{"gif.provider": "giphy"})
async def test_pictures_are_found_at_giphy(chat_world: World, service: GifService) -> None:
    asked = await finds(chat_world, service)
    assert asked == {"api_key": [KEY], "limit": ["24"], "rating": ["pg"], "lang": ["de"], "q": ["two cats"]}


async def test_one_search_of_several_at_once_is_asked_once(chat_world: World, service: GifService) -> None:
    service.delay = 0.05
    found: list[Any] = []

    async def ask(rest: RestClient) -> None:
        found.append((await rest.search_gifs("cats")).expect(200))

    async with trio.open_nursery() as nursery:
        for actor in (chat_world.alice, chat_world.bob, chat_world.carol):
            nursery.start_soon(ask, actor.rest)
    assert found[0] == found[1] == found[2]
    assert len(service.queries) == 1


async def test_those_who_wait_for_a_search_fail_with_it(chat_world: World, service: GifService) -> None:
    service.delay, service.said = 0.05, Answer(429, {})
    found: list[tuple[int, str]] = []

    async def ask(rest: RestClient) -> None:
        found.append(refused(await rest.search_gifs("cats")))

    async with trio.open_nursery() as nursery:
        for actor in (chat_world.alice, chat_world.bob, chat_world.carol):
            nursery.start_soon(ask, actor.rest)
    assert found == [(503, "SERVICE_UNAVAILABLE")] * 3
    assert len(service.queries) == 1, "each in turn would wait as long as the service takes to fail"
    service.said = None
    (await chat_world.bob.rest.search_gifs("cats")).expect(200)


async def test_what_was_found_is_remembered_for_a_while(
    mock_clock: MockClock, chat_world: World, service: GifService
) -> None:
    for _ in range(2):
        (await chat_world.bob.rest.search_gifs("cats")).expect(200)
    assert len(service.queries) == 1
    mock_clock.jump(REMEMBERED_MS / 1_000)
    (await chat_world.bob.rest.search_gifs("cats")).expect(200)
    assert len(service.queries) == 2


async def test_a_service_that_does_not_answer_is_not_waited_for(
    mock_clock: MockClock, chat_world: World, service: GifService
) -> None:
    mock_clock.rate = 30
    service.delay = 10 * REQUEST_SECONDS
    assert refused(await chat_world.bob.rest.search_gifs("cats")) == (503, "SERVICE_UNAVAILABLE")


async def test_a_service_that_fails_is_told_as_others_are(
    chat_world: World, service: GifService, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    bob = chat_world.bob
    caplog.set_level(logging.DEBUG)
    html = (("Content-Type", "text/html"),)
    answers = [
        (Answer(500, {}), (503, "SERVICE_UNAVAILABLE")),
        (Answer(429, {}), (503, "SERVICE_UNAVAILABLE")),
        (Answer(401, {"error": "no such key"}), (502, "BAD_GATEWAY")),
        (Answer(302, b"", (("Location", "https://example.com/"),)), (502, "BAD_GATEWAY")),
        (Answer(200, b"<!doctype html><title>Sign in</title>", html), (502, "BAD_GATEWAY")),
        (Answer(200, b" " * 1_100_000 + b"{}"), (502, "BAD_GATEWAY")),
        (Answer(200, b"[]"), (502, "BAD_GATEWAY")),
    ]
    for number, (answer, expected) in enumerate(answers):
        service.said = answer
        assert refused(await bob.rest.search_gifs(f"cats {number}")) == expected, number
    # Nothing of it is remembered.
    service.said = None
    assert (await bob.rest.search_gifs("cats 0")).expect(200)["gifs"]
    # No log has the key, which stands in the address.
    assert KEY not in caplog.text
    assert KEY not in "".join(capfd.readouterr())


async def test_entries_without_sense_are_passed_over(chat_world: World, service: GifService) -> None:
    good = {
        "id": 5,
        "title": "ok\u202e",
        "media_formats": {"gif": {"url": "https://example.com/a.gif", "dims": [10**9, -1]}},
    }
    bad: list[Any] = [
        None,
        "x",
        {},
        {"id": "1", "media_formats": []},
        {"id": "1", "media_formats": {"gif": {"url": "javascript:alert(1)"}}},
        {"id": "1", "media_formats": {"gif": {"url": "https://user:password@example.com/a.gif"}}},
        {"id": "1", "media_formats": {"gif": {"url": 7}}},
        {"id": None, "media_formats": good["media_formats"]},
    ]
    service.said = Answer(200, {"results": [*bad, good], "next": "n" * (CURSOR_CHARACTERS + 1)})
    page = (await chat_world.bob.rest.trending_gifs()).expect(200)
    assert [(gif["id"], gif["url"]) for gif in page["gifs"]] == [("5", "https://example.com/a.gif")]
    assert (page["gifs"][0]["width"], page["gifs"][0]["height"], page["next"]) == (0, 0, None)
    service.said = Answer(200, {"results": {"a": 1}, "next": 5})
    assert (await chat_world.bob.rest.search_gifs("x")).expect(200) == {"gifs": [], "next": None}


async def test_requests_that_make_no_sense_are_refused(chat_world: World, service: GifService) -> None:
    rest = chat_world.bob.rest
    for query in ({"q": "x" * 101}, {"q": ""}, {}, {"q": "x", "language": "german"}, {"q": "x", "after": "y" * 201}):
        answer = await rest.get("/v1/gifs/search", query)
        assert (answer.status, answer.code) == (400, "INVALID_FORM_BODY"), query
    assert (await chat_world.anyone.get("/v1/gifs/trending")).status == 401
    assert service.queries == []


async def test_discovery_names_the_service(chat_world: World) -> None:
    found = (await chat_world.anyone.get("/.well-known/chat")).expect(200)
    assert found["services"]["gif_enabled"] is True
    assert found["gif"] == {"provider": "klipy", "display_name": "KLIPY", "attribution_required": True}
    assert KEY not in str(found)


@pytest.mark.chat_settings(**{"gif.provider": "none"})
async def test_an_instance_without_a_service_has_none(chat_world: World, service: GifService) -> None:
    found = (await chat_world.anyone.get("/.well-known/chat")).expect(200)
    assert found["services"]["gif_enabled"] is False
    for answer in (await chat_world.bob.rest.search_gifs("cats"), await chat_world.bob.rest.trending_gifs()):
        assert refused(answer) == (403, "FEATURE_TEMPORARILY_DISABLED")
    assert service.requests == []


def test_each_service_is_asked_at_its_own_address() -> None:
    settings = Settings(gif=GifSettings(provider="giphy", api_key="k", rating="pg-13"))
    addresses = {name: provider.address_of(settings.gif, GifQuery("a b")) for name, provider in GIF_PROVIDERS.items()}
    assert addresses["giphy"] == "https://api.giphy.com/v1/gifs/search?api_key=k&limit=24&rating=pg-13&lang=en&q=a+b"
    assert addresses["klipy"].startswith("https://api.klipy.com/v2/search?key=k&limit=24&contentfilter=low&")
