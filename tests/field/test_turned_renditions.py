"""A picture that a page shows stands upright, in browsers that turn what EXIF says and in formats where none does."""

from __future__ import annotations

import io

import pytest
from PIL import Image, ImageOps

from chat.testing.server import ChatServer
from chat.testing.world import World
from tests.field import photographs
from tests.messages.outside_server import outside, plain
from tests.webhooks.surfaces import data_uri, fetch, form, post_form

TURNED_BY_BROWSERS = {"JPEG", "PNG"}
"""Formats whose EXIF Chromium minds."""


def as_browsers_see(data: bytes) -> Image.Image:
    picture = Image.open(io.BytesIO(data))
    return ImageOps.exif_transpose(picture) if picture.format in TURNED_BY_BROWSERS else picture


def marked(orientation: int, kind: str) -> bytes:
    """A picture that has a white corner at the top left, to a person, and is turned by its EXIF."""
    back = {1: None, 2: 0, 3: 3, 4: 1, 5: 5, 6: 2, 7: 6, 8: 4}[orientation]
    seen = Image.new("RGB", (40, 80), photographs.RED)
    seen.paste((255, 255, 255), (0, 0, 12, 12))
    stored = seen if back is None else seen.transpose(Image.Transpose(back))
    exif = Image.Exif()
    exif[photographs.ORIENTATION] = orientation
    made = io.BytesIO()
    stored.save(made, kind, exif=exif, quality=95)
    return made.getvalue()


@pytest.mark.parametrize("kind", ["JPEG", "PNG", "WEBP"])
@pytest.mark.parametrize("orientation", range(1, 9))
async def test_what_a_page_shows_stands_upright(chat_world: World, kind: str, orientation: int) -> None:
    data = marked(orientation, kind)
    assert ImageOps.exif_transpose(Image.open(io.BytesIO(data))).getpixel((4, 4))[1] > 200
    body = form([("files[0]", f"a.{kind.lower()}", data)])
    path = f"/v1/channels/{chat_world.channel_id}/messages"
    [file] = (await post_form(chat_world.alice.rest, path, body)).expect(200)["attachments"]
    for query in ("size=4096", "size=4096&animated=false", "size=40", "size=4096&format=webp"):
        shown = as_browsers_see((await fetch(chat_world.anyone, f"{file['url']}&{query}")).body)
        assert shown.width < shown.height, query
        corner = shown.convert("RGB").getpixel((shown.width // 10, shown.height // 20))
        assert corner[1] > 150, (query, corner)


@pytest.mark.parametrize("kind", ["JPEG", "PNG", "WEBP"])
async def test_an_avatar_stands_upright(chat_world: World, kind: str) -> None:
    alice = chat_world.alice
    changed = {"avatar": data_uri(marked(6, kind), f"image/{kind.lower()}")}
    avatar = (await alice.rest.patch("/v1/users/@me", changed)).expect(200)["avatar"]
    for address in (f"{avatar}.{kind.lower().replace('jpeg', 'jpg')}", f"{avatar}.webp?size=4096"):
        answer = await fetch(chat_world.anyone, f"/media/avatars/{alice.id}/{address}")
        shown = as_browsers_see(answer.body)
        assert shown.width < shown.height, address


@pytest.mark.chat_settings(**{"media.private_networks_allowed": ("127.0.0.0/8",)})
async def test_what_a_link_shows_stands_upright(chat_world: World, chat_server: ChatServer) -> None:
    addresses = chat_server.server.areas.policy.media.addresses
    pages = {f"/{kind}": plain(marked(6, kind)) for kind in ("JPEG", "PNG", "WEBP")}
    async with outside(pages) as server:
        for path in pages:
            answer = await fetch(chat_world.anyone, f"{addresses.external(server.origin + path)}?size=4096")
            assert answer.status == 200, path
            shown = as_browsers_see(answer.body)
            assert shown.width < shown.height, path
