"""TIFF, as scanners and cameras write it: told with the size that a person sees, redrawn, and no avatar."""

from __future__ import annotations

import io
import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image, ImageOps

from chat.media.content_types import content_type
from chat.media.image_header import ImageHeader, image_header
from chat.media.image_intake import intake_header
from chat.testing.world import World
from tests.field import photographs
from tests.webhooks.surfaces import data_uri, fetch, form, post_form


@pytest.mark.parametrize("orientation", range(1, 9))
@pytest.mark.parametrize("order", ["<", ">"])
def test_the_size_is_that_which_pillow_sees(orientation: int, order: str) -> None:
    data = photographs.turned(orientation, kind="TIFF") if order == "<" else big_endian(400, 200, orientation)
    seen = ImageOps.exif_transpose(Image.open(io.BytesIO(data)))
    assert image_header(data, whole=True) == ImageHeader("image/tiff", *seen.size)


def big_endian(width: int, height: int, orientation: int) -> bytes:
    """A grey picture whose numbers have the first byte first, with its directory behind the pixels."""
    pixels = bytes(width * height)
    entries = [
        (0x100, 3, width << 16),
        (0x101, 4, height),
        (0x102, 3, 8 << 16),
        (0x106, 3, 1 << 16),
        (0x111, 4, 8),
        (0x112, 3, orientation << 16),
        (0x116, 4, height),
        (0x117, 4, len(pixels)),
    ]
    directory = struct.pack(">H", len(entries)) + b"".join(struct.pack(">HHII", t, k, 1, v) for t, k, v in entries)
    return struct.pack(">2sHI", b"MM", 42, 8 + len(pixels)) + pixels + directory + bytes(4)


@given(st.sampled_from([b"II*\0", b"MM\0*"]), st.binary(max_size=300))
def test_no_bytes_make_it_fail(mark: bytes, rest: bytes) -> None:
    assert content_type(mark + rest) == "image/tiff"
    image_header(mark + rest, whole=True)


def test_it_is_no_avatar() -> None:
    assert intake_header(photographs.in_format("TIFF")) is None


async def test_it_is_posted_and_redrawn(chat_world: World) -> None:
    body = form([("files[0]", "scan.tiff", photographs.turned(6, kind="TIFF"))])
    path = f"/v1/channels/{chat_world.channel_id}/messages"
    (file,) = (await post_form(chat_world.alice.rest, path, body)).expect(200)["attachments"]
    assert (file["content_type"], file["width"], file["height"]) == ("image/tiff", 200, 400)
    answer = await fetch(chat_world.anyone, f"{file['url']}&size=128")
    assert Image.open(io.BytesIO(answer.body)).size == (64, 128)
    refused = await chat_world.alice.rest.patch(
        "/v1/users/@me", {"avatar": data_uri(photographs.in_format("TIFF"), "image/tiff")}
    )
    assert (refused.status, refused.code) == (400, "INVALID_FORM_BODY")
