"""What telephones, cameras and attackers post is looked at in Chromium, at a desk and on a telephone.

A picture is seen whole and upright, whatever its format, and tells no place; it is loaded in about the size in which it
is shown; what was made to freeze a client leaves it quick, and the browser has nothing to complain of.
"""

from __future__ import annotations

import io
import json
import subprocess
import urllib.request
from pathlib import Path
from typing import Any, Final
from urllib.error import HTTPError

import pytest
from PIL import Image
from playwright.sync_api import Page, expect

from tests.field import hostile_pictures, photographs
from tests.field.programs import program
from tests.web.browsing import Instance, Visitor
from tests.web.conftest import MakeVisitor, chromium, home, visit
from tests.webhooks.surfaces import FORM_HEADERS, data_uri, form

__all__ = ["chromium", "home", "visit"]  # fixtures

pytestmark = pytest.mark.long

VIEWS: Final = {
    "desk": {"viewport": {"width": 1280, "height": 800}},
    "telephone": {"viewport": {"width": 360, "height": 740}, "has_touch": True, "is_mobile": True},
}
FRAMES: Final = 30
SLACK: Final = 0.03
"""How far the shape of a box may be from the picture's: both are whole pixels."""

DENSITIES: Final = 3
"""A picture is loaded at most this many times as wide as its box: the next step above the density that was asked
for."""


DRAWN: Final = """(count) => new Promise((done) => {
  let drawn = 0;
  const one = () => (++drawn < count ? requestAnimationFrame(one) : done(drawn));
  one();
})"""
HAS_COME: Final = "(image) => image.complete && image.naturalWidth > 0"
MEASURE: Final = """(image) => {
  const { width, height } = image.getBoundingClientRect();
  return { natural: [image.naturalWidth, image.naturalHeight], box: [width, height], density: devicePixelRatio };
}"""
ALL_HAVE_COME: Final = """() =>
  [...document.querySelectorAll("article img")].every((image) => image.complete || image.loading === "lazy")
"""


def large(orientation: int = 6) -> bytes:
    """A photograph of 12 megapixels, stored lying, to be seen upright."""
    return photographs.turned(orientation, (4_000, 3_000))


def moving() -> bytes:
    """A GIF of three frames."""
    frames = [Image.new("P", (120, 240), number) for number in range(3)]
    made = io.BytesIO()
    frames[0].save(made, "GIF", save_all=True, append_images=frames[1:], duration=200, loop=0)
    return made.getvalue()


PICTURES: Final = {
    "portrait.jpg": (lambda: photographs.with_place(orientation=6), (200, 400)),
    "large.jpg": (large, (3_000, 4_000)),
    "portrait.heic": (lambda: photographs.turned_heic(1), (200, 400)),
    "portrait.png": (lambda: photographs.turned(8, kind="PNG"), (200, 400)),
    "portrait.webp": (lambda: photographs.turned(5, kind="WEBP"), (200, 400)),
    "portrait.tiff": (lambda: photographs.turned(6, kind="TIFF"), (200, 400)),
    "moving.gif": (moving, (120, 240)),
}
"""By file name: the file, and width and height as a person sees it."""


def post(home: Instance, name: str, *files: tuple[str, bytes]) -> dict[str, Any]:
    """A message of a seeded person with these files."""
    body = form([(f"files[{number}]", file, data) for number, (file, data) in enumerate(files)], b"{}")
    request = urllib.request.Request(
        f"http://127.0.0.1:{home.port}/v1/channels/{home.world['channel_id']}/messages",
        body,
        {**FORM_HEADERS, "Authorization": home.person(name)["token"]},
    )
    with urllib.request.urlopen(request, timeout=60) as answer:  # noqa: S310
        message: dict[str, Any] = json.loads(answer.read())
    return message


def in_the_channel(visit: MakeVisitor, home: Instance, name: str, view: str) -> Visitor:
    """A seeded person in the seeded channel."""
    visitor: Visitor = visit(home, reduced_motion="reduce", **VIEWS[view])
    visitor.goes_to("/login")
    session = {"token": home.person(name)["token"], "name": name}
    visitor.page.evaluate("(session) => localStorage.setItem('session', JSON.stringify(session))", session)
    visitor.goes_to(f"/channels/{home.world['guild_id']}/{home.world['channel_id']}")
    visitor.page.locator("textarea.composer-field").wait_for()
    return visitor


def is_quick(page: Page) -> None:
    """The page takes what is typed, and draws."""
    field = page.locator("textarea.composer-field")
    field.fill("are you there?")
    expect(field).to_have_value("are you there?")
    field.fill("")
    assert page.evaluate(DRAWN, FRAMES) == FRAMES


@pytest.mark.parametrize("view", VIEWS)
def test_pictures_are_seen_whole_and_upright(visit: MakeVisitor, home: Instance, view: str) -> None:
    sizes = {}
    for name, (make, size) in PICTURES.items():
        [file] = post(home, "alice", (name, make()))["attachments"]
        sizes[file["id"]] = (name, size)
        assert (file["width"], file["height"]) == size, name
        with urllib.request.urlopen(file["url"], timeout=60) as answer:  # noqa: S310
            assert photographs.GPS not in Image.open(io.BytesIO(answer.read())).getexif(), name
    visitor = in_the_channel(visit, home, "bob", view)
    for file_id, (name, (width, height)) in sizes.items():
        button = visitor.page.locator(f'[data-file="{file_id}"]')
        button.scroll_into_view_if_needed()
        image = button.locator("img")
        visitor.page.wait_for_function(HAS_COME, arg=image.element_handle())
        seen = image.evaluate(MEASURE)
        for natural_width, natural_height in (seen["natural"], seen["box"]):
            assert abs(natural_width / natural_height - width / height) <= SLACK * width / height, (name, seen)
        assert seen["natural"][0] <= max(DENSITIES * seen["density"] * seen["box"][0], 256), (name, seen)
    is_quick(visitor.page)
    visitor.page_fits()
    # The viewer shows it larger, as upright as before.
    large_id = next(file_id for file_id, (name, _) in sizes.items() if name == "large.jpg")
    visitor.page.locator(f'[data-file="{large_id}"]').click()
    viewed = visitor.page.get_by_role("dialog").locator("img").first
    visitor.page.wait_for_function(HAS_COME, arg=viewed.element_handle())
    seen = viewed.evaluate(MEASURE)
    for wide, high in (seen["natural"], seen["box"]):
        assert abs(wide / high - 3 / 4) <= SLACK, seen


@pytest.mark.parametrize("view", VIEWS)
def test_a_film_has_the_shape_of_its_pictures(visit: MakeVisitor, home: Instance, view: str, tmp_path: Path) -> None:
    film = tmp_path / "film.webm"
    source = ["-f", "lavfi", "-i", "testsrc=size=180x320:rate=10:duration=1"]
    command = [program("ffmpeg"), "-v", "error", *source, "-c:v", "libvpx", "-b:v", "100k", str(film)]
    subprocess.run(command, check=True, timeout=120)
    [file] = post(home, "alice", ("film.webm", film.read_bytes()))["attachments"]
    assert (file["width"], file["height"]) == (180, 320)
    visitor = in_the_channel(visit, home, "bob", view)
    player = visitor.page.locator("video").last
    player.scroll_into_view_if_needed()
    visitor.page.wait_for_function("(film) => film.readyState >= 1", arg=player.element_handle())
    shape = "(film) => [film.videoWidth / film.videoHeight, film.clientWidth / film.clientHeight]"
    for ratio in player.evaluate(shape):
        assert abs(ratio - 180 / 320) <= SLACK
    is_quick(visitor.page)


HOSTILE: Final = {
    "drawing.svg": (hostile_pictures.nested_use, "image/svg+xml"),
    "frames.gif": (hostile_pictures.gif, "image/gif"),
    "frames.png": (hostile_pictures.apng, "image/png"),
    "frames.webp": (hostile_pictures.webp, "image/webp"),
}


@pytest.mark.parametrize("view", VIEWS)
def test_what_is_made_to_freeze_a_client_leaves_it_quick(visit: MakeVisitor, home: Instance, view: str) -> None:
    """As an avatar it is refused; as a file it is shown within bounds, or as a file to be fetched."""
    token = home.person("alice")["token"]
    for name, (make, kind) in HOSTILE.items():
        with pytest.raises(HTTPError) as refused:
            home.call("PATCH", "/v1/users/@me", {"avatar": data_uri(make(), kind)}, token)
        assert refused.value.code == 400, name
        post(home, "alice", (name, make()))
    visitor = in_the_channel(visit, home, "bob", view)
    shown = visitor.page.get_by_role("article").last
    shown.scroll_into_view_if_needed()
    visitor.page.wait_for_function(ALL_HAVE_COME)
    is_quick(visitor.page)
    visitor.page_fits()
