"""Pictures in Chromium: renditions of a size that suits the place, drawn whatever the file's format is, with the
original behind the control that saves it (web client, media)."""

from __future__ import annotations

import io
import re
import urllib.request
from typing import Any, Final
from urllib.parse import parse_qs, urlsplit

import orjson
import pytest
from PIL import Image
from playwright.sync_api import Locator, Response, expect

from tests.field import photographs
from tests.web.browsing import Instance
from tests.web.client.test_shell import DESK, Member
from tests.web.conftest import MakeVisitor
from tests.webhooks.surfaces import FORM_HEADERS, form

WIDTHS: Final = (360, 1024, 1280)
FEW_BYTES: Final = 400_000
"""More than a rendition for a place in a message needs, even of noise."""


class Onlooker(Member):
    """Somebody who looks at pictures, and counts what they cost."""

    def __init__(self, *args: Any, **options: Any) -> None:
        self.media: list[Response] = []
        super().__init__(*args, **options)

    def _answered(self, response: Response) -> None:
        super()._answered(response)
        if "/media/attachments/" in response.url:
            self.media.append(response)

    def bytes_of(self, name: str) -> list[int]:
        """What the files of this name have cost, one for each time."""
        return [len(one.body()) for one in self.media if f"/{name}?" in one.url]

    def picture(self, name: str) -> Locator:
        """A picture in a message, when it is drawn."""
        found = self.page.locator(f".picture img[src*='/{name}?']").last
        found.scroll_into_view_if_needed()
        self.until(lambda: found.evaluate("image => image.complete && image.naturalWidth > 0"))
        return found


@pytest.fixture
def room(home: Instance) -> str:
    """An empty channel; its path in the client."""
    alice = home.person("alice")
    guild = home.call("POST", "/v1/guilds", {"name": "Pictures"}, alice["token"])
    channel = next(
        one for one in home.call("GET", f"/v1/guilds/{guild['id']}/channels", token=alice["token"]) if one["type"] == 0
    )
    return f"/channels/{guild['id']}/{channel['id']}"


def posts(home: Instance, room: str, files: dict[str, bytes]) -> list[dict[str, Any]]:
    """Have a message with these files sent; its attachments."""
    body = form([(f"files[{number}]", name, data) for number, (name, data) in enumerate(files.items())])
    request = urllib.request.Request(
        f"http://127.0.0.1:{home.port}/v1/channels/{room.rpartition('/')[2]}/messages",
        data=body,
        headers={**FORM_HEADERS, "Authorization": home.person("alice")["token"]},
    )
    with urllib.request.urlopen(request, timeout=60) as answer:  # noqa: S310
        attachments: list[dict[str, Any]] = orjson.loads(answer.read())["attachments"]
    return attachments


def shape(picture: Locator) -> float:
    """How wide it is shown for its height."""
    box = picture.bounding_box()
    assert box is not None
    return box["width"] / box["height"]


def test_a_large_photograph_costs_what_its_place_needs(visit: MakeVisitor, home: Instance, room: str) -> None:
    photograph = photographs.large_photograph()
    assert len(photograph) > 10_000_000
    posts(home, room, {"large.jpg": photograph})
    for width in WIDTHS:
        onlooker: Onlooker = visit(kind=Onlooker, viewport={"width": width, "height": 800}, reduced_motion="reduce")
        onlooker.enters_as("alice", room)
        picture = onlooker.picture("large.jpg")
        assert shape(picture) == pytest.approx(0.75, abs=0.02)
        (cost,) = onlooker.bytes_of("large.jpg")
        assert cost < FEW_BYTES
        assert picture.evaluate("image => image.naturalWidth") <= 2 * picture.evaluate("image => image.clientWidth")


def test_a_dense_screen_gets_a_denser_picture(visit: MakeVisitor, home: Instance, room: str) -> None:
    posts(home, room, {"dense.jpg": photographs.large_photograph((1_500, 2_000), 60)})
    widths = []
    for density in (1, 2):
        onlooker: Onlooker = visit(kind=Onlooker, viewport=DESK, device_scale_factor=density)
        onlooker.enters_as("alice", room)
        picture = onlooker.picture("dense.jpg")
        url = picture.evaluate("image => image.currentSrc")
        widths.append(int(parse_qs(urlsplit(url).query)["size"][0]))
        assert widths[-1] >= density * picture.evaluate("image => image.clientHeight")
    assert widths[0] < widths[1]


@pytest.mark.parametrize(("name", "kind"), [("a.heic", "HEIF"), ("a.tiff", "TIFF"), ("a.jxl", "JXL"), ("a.png", "PNG")])
def test_every_format_is_drawn(visit: MakeVisitor, home: Instance, room: str, name: str, kind: str) -> None:
    (file,) = posts(home, room, {name: photographs.in_format(kind)})
    assert file["content_type"].startswith("image/")
    onlooker: Onlooker = visit(kind=Onlooker, viewport=DESK)
    onlooker.enters_as("alice", room)
    picture = onlooker.picture(name)
    assert shape(picture) == pytest.approx(0.75, abs=0.02)
    picture.click()
    large = onlooker.page.locator(".viewer img")
    onlooker.until(lambda: large.evaluate("image => image.naturalWidth > 0"))
    save = onlooker.page.get_by_role("link", name="Download")
    with onlooker.page.expect_download() as download:
        save.click()
    assert download.value.suggested_filename == name
    with open(download.value.path(), "rb") as saved:
        assert Image.open(io.BytesIO(saved.read())).format == kind


def test_pictures_in_a_row_keep_their_shapes(visit: MakeVisitor, home: Instance, room: str) -> None:
    shapes = {"tall.jpg": (300, 600), "wide.jpg": (600, 200), "square.jpg": (250, 250)}
    posts(home, room, {name: photographs.turned(1, size) for name, size in shapes.items()})
    for width in WIDTHS:
        onlooker: Onlooker = visit(kind=Onlooker, viewport={"width": width, "height": 900})
        onlooker.enters_as("alice", room)
        for name, (across, down) in shapes.items():
            assert shape(onlooker.picture(name)) == pytest.approx(across / down, rel=0.03), (name, width)


def test_the_viewer_shows_a_large_rendition_and_saves_the_original(
    visit: MakeVisitor, home: Instance, room: str
) -> None:
    photograph = photographs.large_photograph()
    posts(home, room, {"view.jpg": photograph})
    onlooker: Onlooker = visit(kind=Onlooker, viewport=DESK)
    onlooker.enters_as("alice", room)
    onlooker.picture("view.jpg").click()
    large = onlooker.page.locator(".viewer img")
    onlooker.until(lambda: large.evaluate("image => image.naturalHeight >= 1024"))
    assert max(onlooker.bytes_of("view.jpg")) < len(photograph) / 3
    box = large.bounding_box()
    assert box is not None
    assert box["y"] + box["height"] <= DESK["height"]
    assert shape(large) == pytest.approx(0.75, abs=0.02)
    expect(onlooker.page.get_by_role("link", name="Open in a tab")).to_have_attribute("href", re.compile("size=4096"))
    large.press("Enter")
    onlooker.page.get_by_role("button", name="view.jpg", pressed=True).and_(large).wait_for()
    onlooker.page_is_accessible()
    save = onlooker.page.get_by_role("link", name="Download")
    expect(save).not_to_have_attribute("href", re.compile("[?&]size="))


def test_what_cannot_be_drawn_is_a_file_to_be_saved(visit: MakeVisitor, home: Instance, room: str) -> None:
    posts(home, room, {"broken.jpg": photographs.broken()})
    onlooker: Onlooker = visit(kind=Onlooker, viewport=DESK)
    onlooker.enters_as("alice", room)
    link = onlooker.page.get_by_role("link", name="broken.jpg")
    expect(link).to_be_visible(timeout=20_000)
    expect(onlooker.page.locator(".picture img[src*='broken.jpg']")).to_have_count(0)


def test_a_sound_from_a_browser_has_a_player(visit: MakeVisitor, home: Instance, room: str) -> None:
    visitor: Member = visit(kind=Member, viewport=DESK)
    visitor.enters_as("alice", room)
    recorded = visitor.page.evaluate(
        """async () => {
            const context = new AudioContext();
            const tone = context.createOscillator();
            const goal = context.createMediaStreamDestination();
            tone.connect(goal);
            tone.start();
            const recorder = new MediaRecorder(goal.stream, { mimeType: "audio/webm;codecs=opus" });
            const pieces = [];
            recorder.ondataavailable = (event) => pieces.push(event.data);
            const over = new Promise((done) => (recorder.onstop = done));
            recorder.start();
            await new Promise((done) => setTimeout(done, 1200));
            recorder.stop();
            await over;
            return [...new Uint8Array(await new Blob(pieces).arrayBuffer())];
        }"""
    )
    (file,) = posts(home, room, {"voice.webm": bytes(recorded)})
    assert file["content_type"] == "audio/webm"
    player = visitor.page.locator("audio[src*='voice.webm']")
    visitor.page.wait_for_function("audio => audio.readyState >= 1 && !audio.error", arg=player.element_handle())
