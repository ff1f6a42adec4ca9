"""What a stranger makes to freeze those who see it, or to read what is not theirs: drawn within bounds, or refused."""

from __future__ import annotations

import io
from pathlib import Path

import PIL.Image
import pytest
import trio

from chat.domain.policy import images
from chat.domain.policy.images import ICONS, PreparedImage, bitmap
from chat.media.image_process import DRAWING_SIDE, Unusable, draw, judge, render
from chat.media.image_workers import ImageRefused, ImageWorkers
from chat.media.renditions import Rendition
from chat.store.guard import UNGUARDED
from chat.store.policy import StoredAsset
from chat.testing.rest_client import Response
from chat.testing.server import ChatServer
from chat.testing.world import World
from tests.durability.server_process import running
from tests.field.hostile_pictures import (
    DRAWINGS_DRAWN,
    DRAWINGS_REFUSED,
    HEAD,
    MOVES_TOO_MUCH,
    TOO_LARGE,
    drawing,
    gif,
    late_apng,
    nested_use,
)
from tests.image_samples import MOVING, written
from tests.messages.outside_server import outside, plain
from tests.patience import PATIENCE_SECONDS
from tests.webhooks.surfaces import data_uri, fetch, form, png, post_form

PRIVATE = {"media.private_networks_allowed": ["127.0.0.0/8"]}
GREEN = (0, 128, 0)
REFUSED_AT_ONCE = (
    "entities",
    "an entity declared late",
    "a file as an entity",
    "a deep tree",
    "too many paths",
    "no end",
)
"""Those that no time limit has to end: they may be tried in this process."""


def seen(data: bytes) -> PIL.Image.Image:
    with PIL.Image.open(io.BytesIO(data)) as image:
        return image.convert("RGB")


def is_green(image: PIL.Image.Image) -> bool:
    """Whether the middle of it is, as far as lossy formats keep it."""
    found = image.getpixel((image.width // 2, image.height // 2))
    return all(abs(one - other) <= 3 for one, other in zip(found, GREEN, strict=True))


def only_code(answer: Response) -> tuple[str, str]:
    """The one field that was refused, with its code."""
    (error,) = answer.expect(400)["errors"]
    return error["path"], error["code"]


# In the image process


async def test_hard_drawings_are_refused_while_a_picture_is_drawn_at_once(tmp_path: Path) -> None:
    """One after the other, in processes of their own; each time another picture is done before."""
    good = tmp_path / "good"
    good.write_bytes(png(200, 100))
    workers = ImageWorkers(in_processes=True)
    order: list[str] = []

    async def refuse(name: str) -> None:
        source = tmp_path / "hard"
        await trio.Path(source).write_bytes(DRAWINGS_REFUSED[name]())
        with pytest.raises(ImageRefused):
            await workers.draw(source, tmp_path / "target")
        order.append(name)

    async with trio.open_nursery() as running_workers:
        running_workers.start_soon(workers.run)
        await workers.placeholder(good)
        for name in DRAWINGS_REFUSED:
            async with trio.open_nursery() as nursery:
                nursery.start_soon(refuse, name)
                if name == "large paths upon each other":
                    await workers.placeholder(good)
                    order.append("good")
        running_workers.cancel_scope.cancel()
    assert order.index("good") < order.index("large paths upon each other")
    assert set(order) == {*DRAWINGS_REFUSED, "good"}


@pytest.mark.parametrize("name", DRAWINGS_DRAWN)
def test_what_is_harmful_in_a_drawing_is_left_out_of_it(tmp_path: Path, name: str) -> None:
    source, target = tmp_path / "source", tmp_path / "target"
    source.write_bytes(DRAWINGS_DRAWN[name]())
    assert draw(source, target) == (DRAWING_SIDE, DRAWING_SIDE)
    assert seen(target.read_bytes()).getpixel((900, 900)) == GREEN


def test_a_drawing_reads_no_picture_from_the_disk(tmp_path: Path) -> None:
    """Neither by a path, nor by a filter, nor from a drawing within it, however the reference is written."""
    secret = tmp_path / "secret.png"
    secret.write_bytes(written("PNG", (16, 16)))
    relative = secret.name
    inner = f"{HEAD}<image href='{secret}' width='100' height='100'/></svg>".replace("#", "%23").replace("<", "%3C")
    source, target = tmp_path / "source", tmp_path / "target"
    for inside in (
        f'<image href="{secret}" width="100" height="100"/>',
        f'<image xlink:href="{secret}" width="100" height="100"/>',
        f'<image href=" {secret}" width="100" height="100"/>',
        f'<image href="&#47;{str(secret)[1:]}" width="100" height="100"/>',
        f'<image href="file://{secret}" width="100" height="100"/>',
        f'<image href="{relative}" width="100" height="100"/>',
        f'<s:image xmlns:s="http://www.w3.org/2000/svg" s:href="{secret}" href="{secret}" width="100" height="100"/>',
        f'<filter id="f"><feImage href="{secret}"/></filter><g filter="url(#f)"><path d="M0 0h1v1z" fill="none"/></g>',
        f'<image href="data:image/svg+xml,{inner.replace(chr(34), chr(39))}" width="100" height="100"/>',
    ):
        source.write_bytes(drawing('<rect width="100" height="100" fill="#008000"/>' + inside))
        draw(source, target)
        assert seen(target.read_bytes()).getcolors() == [(DRAWING_SIDE * DRAWING_SIDE, GREEN)], inside


def test_a_picture_within_a_drawing_is_drawn(tmp_path: Path) -> None:
    """Of data, and of another part of the drawing: the rest of a drawing is not lost with what is harmful."""
    source, target = tmp_path / "source", tmp_path / "target"
    inside = (
        f'<image href="{data_uri(png(20, 20))}" width="50" height="100"/><rect id="r" x="50" width="20" height="50"/>'
    )
    source.write_bytes(
        drawing(f'{inside}<use href="#r" x="25" fill="none"/><a href="https://a.example/"><circle r="1"/></a>')
    )
    draw(source, target)
    image = seen(target.read_bytes())
    assert image.getpixel((200, 500)) == (0x10, 0x20, 0x30)
    assert image.getpixel((560, 100)) == (0, 0, 0)


@pytest.mark.parametrize("encoding", ["utf-16", "latin-1"])
def test_a_drawing_is_read_in_its_encoding(tmp_path: Path, encoding: str) -> None:
    source, target = tmp_path / "source", tmp_path / "target"
    text = (
        f'<?xml version="1.0" encoding="{encoding}"?>{HEAD}<rect id="ä" width="100" height="100" fill="#008000"/></svg>'
    )
    source.write_bytes(text.encode(encoding))
    draw(source, target)
    assert seen(target.read_bytes()).getpixel((500, 500)) == GREEN


@pytest.mark.parametrize("name", MOVES_TOO_MUCH)
def test_what_moves_too_much_cannot_be_an_avatar_and_is_shown_still_elsewhere(tmp_path: Path, name: str) -> None:
    source, target = tmp_path / "source", tmp_path / "target"
    source.write_bytes(MOVES_TOO_MUCH[name]())
    with pytest.raises(Unusable):
        judge(source)
    assert render(source, target, Rendition("image/webp", 64, 64, moving=name != "GIF that grows")) is False
    assert max(seen(target.read_bytes()).size) <= 64


# Wherever a member can put a picture


@pytest.mark.parametrize("name", [*REFUSED_AT_ONCE, *MOVES_TOO_MUCH, *(f"large {kind}" for kind in TOO_LARGE)])
@pytest.mark.chat_settings(**{"limits.emoji_max_size": 10_485_760, "limits.sticker_max_size": 10_485_760})
async def test_every_field_refuses_what_cannot_be_drawn(chat_world: World, name: str) -> None:
    (await chat_world.anyone.post(f"/v1/_dev/guilds/{chat_world.guild_id}", {"features": EVERY_PICTURE})).expect(200)
    (await chat_world.anyone.post(f"/v1/_dev/users/{chat_world.alice.id}", {"premium_type": 2})).expect(200)
    data = ({**DRAWINGS_REFUSED, **MOVES_TOO_MUCH, **{f"large {kind}": made for kind, made in TOO_LARGE.items()}})[
        name
    ]()
    image, rest, guild = data_uri(data), chat_world.alice.rest, f"/v1/guilds/{chat_world.guild_id}"
    webhooks = f"/v1/channels/{chat_world.channel_id}/webhooks"
    for method, path, field, more in (
        ("PATCH", "/v1/users/@me", "avatar", {}),
        ("PATCH", "/v1/users/@me", "banner", {}),
        ("PATCH", guild, "icon", {}),
        ("PATCH", guild, "banner", {}),
        ("PATCH", guild, "splash", {}),
        ("PATCH", guild, "embed_splash", {}),
        ("PATCH", f"{guild}/members/@me", "avatar", {}),
        ("POST", f"{guild}/emojis", "image", {"name": "hard"}),
        ("POST", f"{guild}/stickers", "image", {"name": "hard"}),
        ("POST", webhooks, "avatar", {"name": "hook"}),
        ("POST", "/v1/guilds", "icon", {"name": "Harbour"}),
    ):
        answer = await rest.request(method, path, json={**more, field: image})
        told, code = only_code(answer)
        too_long = {"IMAGE_SIZE_EXCEEDS_LIMIT"} if field == "image" and len(data) > 300_000 else set()
        assert told == field
        assert code in {"INVALID_IMAGE_FORMAT", *too_long}, path


EVERY_PICTURE = ["ANIMATED_ICON", "ANIMATED_BANNER", "BANNER", "INVITE_SPLASH"]


async def test_a_drawing_is_handed_out_as_a_bitmap_only(chat_world: World) -> None:
    made = await chat_world.alice.rest.patch(
        f"/v1/guilds/{chat_world.guild_id}", {"icon": data_uri(DRAWINGS_DRAWN["a script"](), "image/svg+xml")}
    )
    address = f"/media/icons/{chat_world.guild_id}/{made.expect(200)['icon']}"
    for asked in (".svg", ".png", ".webp?size=64", ".avif?size=64", ".jpg?size=64", ".gif?size=64"):
        answer = await chat_world.anyone.get(address + asked)
        assert (answer.header("content-type") or "").startswith("image/"), asked
        assert b"<svg" not in answer.body
        shown = seen(answer.body)
        assert is_green(shown), asked


async def stored(server: ChatServer, guild_id: int, data: bytes, kind: str, name: str) -> str:
    """The address of a file that an earlier version took as an icon."""
    media = server.server.areas.policy.media
    asset = StoredAsset(ICONS, guild_id, name, media._snowflakes(), kind, len(data), 100, 100)
    prepared = PreparedImage(asset, data)
    async with media.kept(prepared, guard=UNGUARDED):
        await media._database.write(lambda connection: images.store(connection, prepared), guard=UNGUARDED)
    return f"/media/icons/{guild_id}/{name}"


async def test_a_drawing_that_was_stored_before_is_never_sent(chat_world: World, chat_server: ChatServer) -> None:
    guild_id = int(chat_world.guild_id)
    good = await stored(chat_server, guild_id, DRAWINGS_DRAWN["a file"](), "image/svg+xml", "5e" * 16)
    bad = await stored(chat_server, guild_id, DRAWINGS_REFUSED["a deep tree"](), "image/svg+xml", "5f" * 16)
    for asked in (".svg", ".png", ".webp?size=64", ".avif"):
        answer = await chat_world.anyone.get(good + asked)
        assert answer.status == 200
        assert answer.header("content-type") in {"image/webp", "image/png"}
        assert is_green(seen(answer.body)), asked
        refused = await chat_world.anyone.get(bad + asked)
        assert (refused.status, refused.code) == (404, "NOT_FOUND")


async def test_what_moves_too_much_and_was_stored_before_stands_still(
    chat_world: World, chat_server: ChatServer
) -> None:
    data, guild_id = gif(1_000, 1_000), int(chat_world.guild_id)
    address = await stored(chat_server, guild_id, data, "image/gif", "a_" + "5e" * 16)
    for asked in (".gif", ".png", ".gif?size=4096", ".webp?size=64&animated=true", ".avif"):
        answer = await chat_world.anyone.get(address + asked)
        assert answer.status == 200
        with PIL.Image.open(io.BytesIO(answer.body)) as image:
            assert getattr(image, "n_frames", 1) == 1


@pytest.mark.parametrize("name", MOVES_TOO_MUCH)
async def test_an_attachment_that_moves_too_much_is_shown_still_and_can_be_saved(chat_world: World, name: str) -> None:
    data = MOVES_TOO_MUCH[name]()
    path = f"/v1/channels/{chat_world.channel_id}/messages"
    answer = await post_form(chat_world.bob.rest, path, form([("f", "a.bin", data)]))
    url = answer.expect(200)["attachments"][0]["url"]
    for asked in (
        "&size=4096",
        "&format=gif&size=4096",
        "&format=png&size=4096&animated=true",
        "&width=64&animated=true",
    ):
        shown = await fetch(chat_world.anyone, url + asked)
        assert shown.status == 200, asked
        with PIL.Image.open(io.BytesIO(shown.body)) as image:
            assert getattr(image, "n_frames", 1) == 1, asked


@pytest.mark.chat_settings(**PRIVATE)
async def test_from_outside_comes_only_what_can_be_shown(chat_world: World, chat_server: ChatServer) -> None:
    """What a link shows, and the avatar of a webhook that lies elsewhere."""
    media = chat_server.server.areas.policy.media
    moving = {f"/{kind}": MOVING[kind]() for kind in ("GIF", "APNG", "WebP")}
    still = {
        "/bomb.gif": gif(1_000, 1_000),
        "/late.png": late_apng(),
        "/JXL": MOVING["JXL"](),
        "/HEIC": MOVING["HEIC"](),
    }
    refused = {
        "/drawing": nested_use(),
        "/large.png": TOO_LARGE["PNG"](),
        "/large.gif": TOO_LARGE["GIF"](),
        "/cut.png": png(90, 90)[:60],
        "/long.png": png(9, 9, filler=b"x" * 27_000_000),
    }
    pages = {**moving, **still, **refused, "/photo": written("JPEG", (64, 32))}
    async with outside({path: plain(data) for path, data in pages.items()}) as server:
        for path, data in pages.items():
            answer = await fetch(chat_world.anyone, media.addresses.external(server.origin + path))
            if path in refused:
                assert (answer.status, answer.code) == (502, "BAD_GATEWAY"), path
            elif path in still:
                assert (answer.status, answer.header("content-type")) == (200, "image/webp"), path
                with PIL.Image.open(io.BytesIO(answer.body)) as image:
                    assert getattr(image, "n_frames", 1) == 1
            else:
                assert (answer.status, answer.body) == (200, data), path
    await nothing_is_left(chat_server)


async def nothing_is_left(server: ChatServer) -> None:
    """The last answer is over a moment after its last byte."""
    with trio.fail_after(PATIENCE_SECONDS):
        while server.server.areas.policy.media.external.under_way:  # noqa: ASYNC110 - nobody tells of it
            await trio.sleep(0.01)
    assert list((server.server.surroundings.directory / "uploads" / "incoming").iterdir()) == []


@pytest.mark.chat_settings(**PRIVATE)
async def test_a_picture_from_outside_comes_as_it_is_wanted(chat_world: World, chat_server: ChatServer) -> None:
    """A photograph of many pixels is not loaded whole to be shown small, nor one that only few browsers know."""
    media = chat_server.server.areas.policy.media
    pages = {
        "/photo": written("JPEG", (600, 300)),
        "/small.png": written("PNG", (60, 30)),
        "/heic": written("HEIF", (600, 300)),
        "/moving": written("GIF", (600, 300), 3),
        "/film": b"\0\0\0\x18ftypmp42" + bytes(90_000),
        "/bomb": gif(1_000, 1_000),
    }
    async with outside({path: plain(data) for path, data in pages.items()}) as server:
        for path, asked, found in (
            ("/photo", "size=160", ("JPEG", (160, 80), 1)),
            ("/photo", "size=160&animated=false&format=webp", ("WEBP", (160, 80), 1)),
            ("/photo", "width=100&height=20", ("JPEG", (40, 20), 1)),
            ("/photo", "size=1024", None),
            ("/small.png", "size=160&animated=false", None),
            ("/heic", "size=4096", ("WEBP", (600, 300), 1)),
            ("/moving", "size=1024", None),
            ("/moving", "size=160&animated=true", ("GIF", (160, 80), 3)),
            ("/moving", "size=160&animated=false", ("GIF", (160, 80), 1)),
            ("/bomb", "size=4096&animated=true", ("GIF", (1_000, 1_000), 1)),
            ("/film", "size=160", None),
        ):
            address = media.addresses.external(server.origin + path)
            answer = await fetch(chat_world.anyone, f"{address}?{asked}")
            assert answer.status == 200, (path, asked)
            if found is None:
                assert answer.body == pages[path], (path, asked)
                continue
            with PIL.Image.open(io.BytesIO(answer.body)) as image:
                assert (image.format, image.size, getattr(image, "n_frames", 1)) == found, (path, asked)
        refused = await fetch(chat_world.anyone, media.addresses.external(server.origin + "/photo") + "?size=9")
        assert (refused.status, refused.code) == (400, "INVALID_FORM_BODY")
    await nothing_is_left(chat_server)


def test_a_bitmap_is_named_by_what_is_kept() -> None:
    """`chat check --deep` compares names of files with their content."""
    assert bitmap(b"x", 2, 1).hash == "2d711642b726b04401627ca9fbac32f5"


# In a process of its own, with real processes beside it


@pytest.mark.long
async def test_a_hostile_avatar_stops_nobody(tmp_path: Path) -> None:
    async with running(tmp_path) as server, trio.open_nursery() as nursery:
        client = await server.connect(nursery)
        await client.identify(server.token_of("bob"))
        await client.expect("READY")
        order: list[str] = []

        async def hostile() -> None:
            answer = await server.alice.patch(
                "/v1/users/@me", {"avatar": data_uri(DRAWINGS_REFUSED["a wide morphology"](), "image/svg+xml")}
            )
            assert only_code(answer) == ("avatar", "INVALID_IMAGE_FORMAT")
            order.append("hostile")

        async with trio.open_nursery() as asking:
            asking.start_soon(hostile)
            for number in range(20):
                (await server.bob.send_message(server.channel_id, f"message {number}")).expect(200)
            order.append("messages")
        assert order == ["messages", "hostile"]
        nursery.cancel_scope.cancel()
