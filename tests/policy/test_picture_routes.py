"""Pictures over HTTP in the size and format that is asked for; what cannot be redrawn; what is left of renditions."""

from __future__ import annotations

import io
import os
from pathlib import Path
from typing import Any

import PIL.Image
import pytest
import trio
import trio.testing

from chat.testing.rest_client import Response
from chat.testing.server import ChatServer
from chat.testing.world import World
from tests.image_samples import MOVING, png_bomb, svg, written
from tests.webhooks.surfaces import data_uri, fetch, form, png, post_form, target

SMALL = {"media.rendition_cache_bytes": 1}


def below(server: ChatServer, kind: str) -> list[Path]:
    """The files of one kind: `attachments`, `assets`, `derived` or `incoming`."""
    directory = server.server.surroundings.directory / "uploads" / kind
    return sorted(path for path in directory.rglob("*") if path.is_file())


async def attached(world: World, name: str, data: bytes) -> dict[str, Any]:
    """A file in a message."""
    answer = await post_form(world.bob.rest, f"/v1/channels/{world.channel_id}/messages", form([("f", name, data)]))
    attachment: dict[str, Any] = answer.expect(200)["attachments"][0]
    return attachment


async def icon(world: World, data: bytes, kind: str = "image/png") -> str:
    """The address of the guild's icon, without its ending."""
    guild = (await world.alice.rest.patch(f"/v1/guilds/{world.guild_id}", {"icon": data_uri(data, kind)})).expect(200)
    return f"/media/icons/{world.guild_id}/{guild['icon']}"


async def with_features(world: World, *features: str) -> None:
    """Features as an administrator gives them."""
    (await world.anyone.post(f"/v1/_dev/guilds/{world.guild_id}", {"features": list(features)})).expect(200)


def drawn(answer: Response) -> tuple[str | None, tuple[int, int], int]:
    """Format, size and frames of the picture in an answer."""
    assert answer.status == 200, answer.body
    with PIL.Image.open(io.BytesIO(answer.body)) as image:
        kind = PIL.Image.MIME[image.format or ""]
        assert answer.header("content-type") == ("image/png" if kind == "image/apng" else kind)
        assert answer.header("content-length") == str(len(answer.body))
        return image.format, image.size, getattr(image, "n_frames", 1)


async def test_an_address_says_how_large_a_picture_is_wanted_and_in_which_format(chat_world: World) -> None:
    address = await icon(chat_world, png(600, 300))
    for asked, found in {
        ".png": ("PNG", (600, 300)),  # nothing is said but the format that it has
        ".png?size=128": ("PNG", (128, 64)),
        ".png?quality=low": ("PNG", (128, 64)),  # without a size the usual one
        ".webp?size=128": ("WEBP", (128, 64)),
        ".jpg?size=64": ("JPEG", (64, 32)),
        ".jpeg?size=64&quality=lossless": ("JPEG", (64, 32)),
        ".gif?size=16": ("GIF", (16, 8)),
        ".webp?size=129&quality=lossless": ("WEBP", (160, 80)),  # the next size of the list
        ".webp?size=4096": ("WEBP", (600, 300)),  # never larger than it was
    }.items():
        shown = await chat_world.anyone.get(address + asked)
        assert drawn(shown) == (*found, 1), asked
        assert shown.header("cache-control") == "public, max-age=31536000, immutable"
        assert shown.header("content-security-policy") == "default-src 'none'; sandbox"
    for other in (".avif?size=128", ".heic?size=64", ".bin?size=64"):  # nothing is redrawn for these
        assert (await chat_world.anyone.get(address + other)).body == png(600, 300)
    for wrong in ("size=0", "size=15", "size=4097", "size=x", "quality=best", "animated=perhaps"):
        refused = await chat_world.anyone.get(f"{address}.png?{wrong}")
        assert (refused.status, refused.code) == (400, "INVALID_FORM_BODY"), wrong


async def test_each_rendition_has_a_validator_and_ranges_of_its_own(chat_world: World) -> None:
    address = await icon(chat_world, png(600, 300))
    seen = set()
    for asked in (".png", ".png?size=128", ".webp?size=128", ".webp?size=128&quality=low"):
        whole = await chat_world.anyone.get(address + asked)
        etag = whole.header("etag")
        assert etag is not None
        seen.add(etag)
        same = await chat_world.anyone.request("GET", address + asked, headers={"If-None-Match": etag})
        assert (same.status, same.body) == (304, b"")
        part = await chat_world.anyone.request("GET", address + asked, headers={"Range": "bytes=2-9"})
        assert (part.status, part.body) == (206, whole.body[2:10])
        beyond = await chat_world.anyone.request("GET", address + asked, headers={"Range": "bytes=999999-"})
        assert (beyond.status, beyond.header("content-range")) == (416, f"bytes */{len(whole.body)}")
    assert len(seen) == 4


@pytest.mark.parametrize("name", ["GIF", "APNG", "WebP"])
async def test_what_moves_moves_where_that_is_asked_for_and_may_be_seen(chat_world: World, name: str) -> None:
    await with_features(chat_world, "ANIMATED_ICON")
    moving = MOVING[name]()
    address = await icon(chat_world, moving)
    assert "a_" in address
    assert (await chat_world.anyone.get(f"{address}.png")).body == moving
    still, told = await chat_world.anyone.get(f"{address}.png?size=64"), address.replace("a_", "")
    assert drawn(still)[2] == 1
    assert drawn(await chat_world.anyone.get(f"{address}.gif?size=64"))[2] > 1
    assert drawn(await chat_world.anyone.get(f"{address}.webp?size=64&animated=true"))[2] > 1
    assert drawn(await chat_world.anyone.get(f"{address}.gif?size=64&animated=false"))[2] == 1
    assert drawn(await chat_world.anyone.get(f"{address}.jpg?size=64&animated=true"))[2] == 1
    # Under its name without `a_` nobody is told that it moves.
    for asked in (".png", ".gif", ".webp", ".gif?size=64", ".webp?size=64&animated=true"):
        assert drawn(await chat_world.anyone.get(told + asked))[2] == 1


async def test_a_picture_of_a_message_can_be_had_smaller(chat_world: World) -> None:
    attachment = await attached(chat_world, "photo.jpeg", written("JPEG", (800, 400)))
    url = attachment["url"]
    assert attachment["placeholder"]
    assert (await fetch(chat_world.anyone, url)).body == written("JPEG", (800, 400))
    for asked, found in {
        "&size=128": ("JPEG", (128, 64)),
        "&width=400&height=100": ("JPEG", (200, 100)),
        "&width=100": ("JPEG", (100, 50)),
        "&format=webp&width=160": ("WEBP", (160, 80)),
        "&format=png": ("PNG", (800, 400)),
        "&quality=low": ("JPEG", (800, 400)),
    }.items():
        shown = await fetch(chat_world.anyone, url + asked)
        assert drawn(shown) == (*found, 1), asked
        assert (shown.header("cache-control") or "").startswith("private, max-age=")
    named = await fetch(chat_world.anyone, url + "&format=webp")
    assert named.header("content-disposition") == "inline; filename=\"photo.webp\"; filename*=UTF-8''photo.webp"
    # Without its signature there is no rendition either.
    for wrong in (f"{target(url).partition('?')[0]}?size=128", url.replace("hm=", "hm=0") + "&size=128"):
        assert (await fetch(chat_world.anyone, wrong)).status == 404
    for wrong in ("&width=0", "&height=5000", "&format=exe", "&format=svg"):
        assert (await fetch(chat_world.anyone, url + wrong)).status == 400


@pytest.mark.parametrize(
    "is_kept", [False, pytest.param(True, marks=pytest.mark.chat_settings(**{"media.metadata": "keep"}))]
)
async def test_where_a_picture_was_taken_leaves_with_no_rendition(chat_world: World, is_kept: bool) -> None:
    exif = PIL.Image.Exif()
    exif[0x010E] = "taken at home"
    exif[0x0112] = 6  # the camera was held upright
    url = (await attached(chat_world, "a.jpg", written("JPEG", (64, 32), exif=exif)))["url"]
    assert (b"taken at home" in (await fetch(chat_world.anyone, url)).body) is is_kept
    shown = await fetch(chat_world.anyone, url + "&format=webp")
    assert b"taken at home" not in shown.body
    assert drawn(shown) == ("WEBP", (32, 64), 1)


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("text.png", b"no picture at all"),
        ("film.mp4", b"\0\0\0\x18ftypmp42" + bytes(100)),
        ("archive.zip", b"PK\x03\x04" + bytes(200)),
        ("drawing.svg", svg()),
    ],
)
async def test_what_is_no_picture_comes_as_it_is(
    chat_world: World, chat_server: ChatServer, name: str, data: bytes
) -> None:
    attachment = await attached(chat_world, name, data)
    assert "placeholder" not in attachment
    for asked in ("", "&size=128", "&format=webp", "&width=16&quality=low"):
        shown = await fetch(chat_world.anyone, attachment["url"] + asked)
        assert (shown.status, shown.body) == (200, data), asked
        assert (shown.header("content-disposition") or "").startswith("attachment")
    assert below(chat_server, "derived") == below(chat_server, "incoming") == []


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("broken.png", png(40, 40)[:60]),
        ("header.png", png(50_000, 50_000)),
        ("lie.png", png(9_000, 9_000)),
        ("empty.gif", b"GIF89a"),
    ],
)
async def test_a_picture_that_cannot_be_drawn_can_be_saved_and_has_no_rendition(
    chat_world: World, chat_server: ChatServer, name: str, data: bytes
) -> None:
    """A page that asks for a rendition never gets what this server could not draw."""
    attachment = await attached(chat_world, name, data)
    assert not {"placeholder", "width", "height"} & attachment.keys()
    assert (await fetch(chat_world.anyone, attachment["url"])).body == data
    for asked in ("&size=128", "&format=webp", "&width=16&quality=low", "&size=4096", "&format=png&size=4096"):
        shown = await fetch(chat_world.anyone, attachment["url"] + asked)
        assert (shown.status, shown.code) == (404, "NOT_FOUND"), asked
    assert below(chat_server, "derived") == below(chat_server, "incoming") == []


async def test_a_picture_of_more_pixels_than_its_file_holds_is_never_unpacked(
    chat_world: World, chat_server: ChatServer
) -> None:
    """A bomb: few bytes, 31 million pixels; and one that says so only behind its header."""
    bearable = io.BytesIO()
    PIL.Image.new("L", (5_600, 5_600)).save(bearable, "PNG")
    url = (await attached(chat_world, "large.png", bearable.getvalue()))["url"]
    assert drawn(await fetch(chat_world.anyone, url + "&size=128&format=webp")) == ("WEBP", (128, 128), 1)
    bomb = png_bomb()
    attachment = await attached(chat_world, "bomb.png", bomb)
    assert not {"width", "height", "placeholder"} & attachment.keys()
    assert (await fetch(chat_world.anyone, attachment["url"] + "&size=128&format=webp")).status == 404
    assert (await fetch(chat_world.anyone, attachment["url"])).body == bomb
    refused = await chat_world.alice.rest.patch(f"/v1/guilds/{chat_world.guild_id}", {"icon": data_uri(bomb)})
    assert refused.json()["errors"] == [
        {"path": "icon", "code": "INVALID_IMAGE_FORMAT", "message": refused.json()["errors"][0]["message"]}
    ]
    assert len(below(chat_server, "assets")) == 0


async def test_renditions_go_with_their_picture(
    chat_world: World, chat_server: ChatServer, autojump_clock: trio.testing.MockClock
) -> None:
    answer = await post_form(
        chat_world.bob.rest, f"/v1/channels/{chat_world.channel_id}/messages", form([("f", "a.png", png(90, 90))])
    )
    sent = answer.expect(200)
    url = sent["attachments"][0]["url"]
    for asked in ("&size=64", "&format=webp", "&size=64"):
        drawn(await fetch(chat_world.anyone, url + asked))
    assert len(below(chat_server, "derived")) == 2
    (await chat_world.bob.rest.delete_message(chat_world.channel_id, sent["id"])).expect(204)
    assert (await fetch(chat_world.anyone, url + "&size=64")).status == 404
    await trio.sleep(1_300)
    assert below(chat_server, "derived") == below(chat_server, "attachments") == []


@pytest.mark.chat_settings(**SMALL)
async def test_renditions_beyond_their_room_go_and_are_made_again(
    chat_world: World, chat_server: ChatServer, autojump_clock: trio.testing.MockClock
) -> None:
    url = (await attached(chat_world, "a.png", png(90, 90)))["url"]
    for turn in range(3):
        for size in (16, 32, 64):
            assert drawn(await fetch(chat_world.anyone, f"{url}&size={size}")) == ("PNG", (size, size), 1)
        made = below(chat_server, "derived")
        assert len(made) == 3, turn  # in use
        for path in made:
            used = path.stat().st_mtime - 100
            os.utime(path, (used, used))
    drawn(await fetch(chat_world.anyone, f"{url}&size=80"))
    assert [path.name for path in below(chat_server, "derived")] == ["80x80-high-still-2.png"]


async def test_many_who_want_the_same_picture_have_it_made_once(chat_world: World, chat_server: ChatServer) -> None:
    url = (await attached(chat_world, "a.png", png(300, 300)))["url"]
    answers = []

    async def ask() -> None:
        answers.append(await fetch(chat_world.anyone, f"{url}&size=64&format=webp"))

    async with trio.open_nursery() as nursery:
        for _ in range(10):
            nursery.start_soon(ask)
    assert {answer.body for answer in answers} == {answers[0].body}
    assert len(below(chat_server, "derived")) == 1
    assert below(chat_server, "incoming") == []


async def test_many_who_want_the_same_moving_picture_have_it_judged_once(
    chat_world: World, chat_server: ChatServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    await with_features(chat_world, "ANIMATED_ICON")
    address = await icon(chat_world, MOVING["GIF"]())
    workers = chat_server.server.areas.policy.media.workers
    judge, judged = workers.judge, []

    async def counted(source: Path) -> int:
        judged.append(source)
        return await judge(source)

    monkeypatch.setattr(workers, "judge", counted)
    async with trio.open_nursery() as nursery:
        for _ in range(10):
            nursery.start_soon(chat_world.anyone.get, f"{address}.gif")
    assert len(judged) == 1


async def test_who_has_no_avatar_has_one_of_six(chat_world: World) -> None:
    bodies = set()
    for number in range(6):
        shown = await chat_world.anyone.get(f"/static/avatars/{number}.png")
        assert drawn(shown) == ("PNG", (256, 256), 1)
        bodies.add(shown.body)
    assert len(bodies) == 6
    for wrong in ("6.png", "0.gif", "-1.png", "0", "00.png", "..%2F0.png"):
        assert (await chat_world.anyone.get(f"/static/avatars/{wrong}")).status == 404
