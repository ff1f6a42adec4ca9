"""Pictures redrawn, in this process and in one of their own."""

from __future__ import annotations

import base64
import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import PIL.Image
import pytest
import trio

from chat.errors import ApiError
from chat.media import image_workers
from chat.media.image_process import FRAMES_MAXIMUM, Unusable, placeholder, render, thumbhash
from chat.media.image_workers import ImageRefused, ImageWorkers
from chat.media.renditions import SIZES, Original, Rendition, next_size
from tests.image_samples import FORMATS, png_bomb, written
from tests.webhooks.surfaces import png

SMALL = Rendition("image/webp", 64, 64)


def late_bomb() -> bytes:
    """A GIF whose header is modest and whose picture is not."""
    modest = bytearray(written("GIF", (8, 8)))
    place = modest.index(b",", 13)
    modest[place + 5 : place + 9] = b"\xff\xff\xff\xff"
    return bytes(modest)


@pytest.mark.parametrize("name", ["PNG", "JPEG", "WebP", "GIF", "APNG", "AVIF"])
@pytest.mark.parametrize("kind", ["image/png", "image/jpeg", "image/webp", "image/gif"])
def test_each_format_becomes_each_other(tmp_path: Path, name: str, kind: str) -> None:
    source, target = tmp_path / "source", tmp_path / "target"
    source.write_bytes(FORMATS[name][1]())
    assert render(source, target, Rendition(kind, 8, 8)) is False
    with PIL.Image.open(target) as image:
        assert PIL.Image.MIME[image.format or ""] == kind
        assert max(image.size) == 8


@pytest.mark.parametrize(
    "data",
    [b"", b"text", png(40, 40)[:60], png(50_000, 50_000), png_bomb(), b"GIF89a", b"\xff\xd8\xff\xe0" + bytes(50)],
    ids=["empty", "text", "cut", "lie", "bomb", "beginning", "nothing"],
)
def test_what_is_no_picture_or_too_much_of_one(tmp_path: Path, data: bytes) -> None:
    source, target = tmp_path / "source", tmp_path / "target"
    source.write_bytes(data)
    with pytest.raises(Unusable):
        render(source, target, SMALL)
    with pytest.raises(Unusable):
        placeholder(source)
    assert not target.exists()


def test_a_picture_that_moves_too_much_stands_still(tmp_path: Path) -> None:
    source, target = tmp_path / "source", tmp_path / "target"
    frames = [PIL.Image.new("L", (2, 2), 255 * (number % 2)) for number in range(FRAMES_MAXIMUM + 1)]
    frames[0].save(source, "GIF", save_all=True, append_images=frames[1:])
    assert render(source, target, Rendition("image/webp", 16, 16, moving=True)) is False
    source.write_bytes(written("GIF", (2, 2), frames=5))
    assert render(source, target, Rendition("image/webp", 16, 16, moving=True)) is True
    with PIL.Image.open(target) as image:
        assert getattr(image, "n_frames", 1) == 5


def test_a_placeholder_has_the_colour_of_its_picture(tmp_path: Path) -> None:
    source = tmp_path / "source"
    source.write_bytes(png(300, 150))
    data = base64.b64decode(placeholder(source))
    head = int.from_bytes(data[:3], "little")
    red, green, blue = 0x10, 0x20, 0x30
    assert abs((head & 63) / 63 - (red + green + blue) / 3 / 255) < 0.02
    assert data[4] & 0x80, "it is wider than high"
    assert not data[2] & 0x80, "nothing shines through"


def test_hashes_known_from_the_format() -> None:
    """Of one colour nothing is left but its mean."""
    assert thumbhash(32, 32, b"\xff" * 4_096)[:3] == (63 | 32 << 6 | 32 << 12).to_bytes(3, "little")
    assert thumbhash(2, 1, bytes(8))[2] & 0x80, "all of it shines through"
    for size in ((0, 1), (101, 1), (1, 101)):
        with pytest.raises(ValueError, match="size"):
            thumbhash(*size, bytes(4 * size[0] * size[1]))
    with pytest.raises(ValueError, match="size"):
        thumbhash(2, 2, bytes(15))


def test_sizes_come_from_a_list() -> None:
    assert [next_size(pixels) for pixels in (1, 16, 17, 129, 4_096, 9_999)] == [16, 16, 20, 160, 4_096, 4_096]
    assert list(SIZES) == sorted(set(SIZES))
    original = Original("image/png", 100, 50, moving=False)
    assert original.fits(Rendition("image/png", 128, 128))
    for other in (
        Rendition("image/webp", 128, 128),
        Rendition("image/png", 96, 96),
        Rendition("image/png", 128, 128, "low"),
    ):
        assert not original.fits(other)
    assert not Original("image/png", None, None, moving=False).fits(Rendition("image/png", 128, 128))


# In processes of their own


async def test_a_process_draws_and_refuses_and_goes_on(tmp_path: Path) -> None:
    good, bad, target = tmp_path / "good", tmp_path / "bad", tmp_path / "target"
    good.write_bytes(png(200, 100))
    bad.write_bytes(png_bomb())
    workers = ImageWorkers(in_processes=True)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(workers.run)
        assert await workers.render(good, target, SMALL) is False
        (worker,) = workers._resting
        with pytest.raises(ImageRefused):
            await workers.render(bad, target, SMALL)
        with pytest.raises(ImageRefused):
            await workers.placeholder(tmp_path / "none")
        assert await workers.placeholder(good)
        assert workers._resting == [worker], "the same process did it all"
        nursery.cancel_scope.cancel()
    assert workers._resting == []
    assert worker.process.returncode == -signal.SIGKILL


async def test_a_process_that_dies_is_replaced(tmp_path: Path) -> None:
    good = tmp_path / "good"
    good.write_bytes(png(200, 100))
    workers = ImageWorkers(in_processes=True)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(workers.run)
        first = await workers.placeholder(good)
        workers._resting[0].process.kill()
        with pytest.raises(ImageRefused):
            await workers.placeholder(good)
        assert workers._resting == []
        assert await workers.placeholder(good) == first
        nursery.cancel_scope.cancel()


async def test_a_process_knows_no_settings_and_no_secrets(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CHAT_MAIL__PASSWORD", "hunter2")
    process = await image_workers._started()
    try:
        environment = await trio.Path(f"/proc/{process.pid}/environ").read_bytes()
        assert b"hunter2" not in environment
        assert b"CHAT_" not in environment
    finally:
        await image_workers._end(image_workers._Worker(process))


async def test_too_many_who_wait_are_told_to_come_back(tmp_path: Path) -> None:
    good = tmp_path / "good"
    good.write_bytes(png(20, 10))
    workers = ImageWorkers(in_processes=True)
    answers: list[str] = []

    async def ask() -> None:
        try:
            answers.append(await workers.placeholder(good))
        except ApiError as error:
            answers.append(error.code)

    async with trio.open_nursery() as nursery:
        nursery.start_soon(workers.run)
        async with trio.open_nursery() as asking:
            for _ in range(image_workers.AT_A_TIME + image_workers.WAITING_MAXIMUM + 3):
                asking.start_soon(ask)
        nursery.cancel_scope.cancel()
    assert answers.count("SERVICE_UNAVAILABLE") == 3


def test_a_process_takes_no_more_memory_than_it_gave_itself(tmp_path: Path) -> None:
    """Not even for a picture that gets past every look at its header."""
    source = tmp_path / "source"
    source.write_bytes(late_bomb())
    job = json.dumps({"kind": "placeholder", "source": str(source)}) + "\n"
    ran = subprocess.run(
        [sys.executable, "-m", "chat.media.image_process"],
        input=job * 2,
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
        env={name: value for name, value in os.environ.items() if name in image_workers.PASSED_ON},
    )
    assert len(ran.stdout.splitlines()) == 2
    assert all("refused" in json.loads(line) or "placeholder" in json.loads(line) for line in ran.stdout.splitlines())
