"""How an instance looks by its operator's choice: colours that cannot be read are refused, a logo is a picture."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
import trio
from hypothesis import example, given
from hypothesis import strategies as st

from chat.errors import OperatorError
from chat.testing.server import open_chat_server
from chat.testing.world import World
from chat.web.look import LOGO_BYTES, READABLE, channels, perceived, read_look
from tests.web.client.test_colours import Colour, colour, contrast, themes

HTML = {"Accept": "text/html"}
GREEN = "#0b6e4f"
PNG = b"\x89PNG\r\n\x1a\n" + bytes(40)
WHITE: Colour = (1.0, 0.0, 0.0)

colours = st.integers(0, 0xFFFFFF).map(lambda number: f"#{number:06x}")


def of(text: str) -> Colour:
    return perceived(channels(text))


@given(accent=colours)
@example(accent="#000000")
@example(accent="#ffffff")
@example(accent="#767676")
@example(accent="#777777")
def test_a_colour_is_taken_where_white_can_be_read_on_it(accent: str) -> None:
    """The oracle goes back from lightness, chroma and hue, by the inverse matrices: a wrong conversion tells, too."""
    ratio = contrast(WHITE, of(accent))
    if abs(ratio - READABLE) < 0.01:
        return  # the two ways round differently
    if ratio > READABLE:
        assert read_look(accent, None, Path()).style is not None
        return
    with pytest.raises(OperatorError, match=f"has a contrast of {ratio:.1f}, and text needs 4.5") as refused:
        read_look(accent, None, Path())
    [nearest] = re.findall(r"(#[0-9a-f]{6}) is the nearest", str(refused.value))
    assert READABLE - 0.05 <= contrast(WHITE, of(nearest)) <= READABLE + 0.15


@given(accent=colours)
def test_the_dark_scheme_can_be_read_as_well(accent: str) -> None:
    if contrast(WHITE, of(accent)) < READABLE + 0.01:
        return
    style = read_look(accent, None, Path()).style
    assert style is not None
    [dark] = re.findall(r"--accent: light-dark\(#\w+, oklch\(([\d. ]+)\)\);", style.content.decode())
    [written] = re.findall(r"--on-accent: oklch\(([\d. ]+)\);", style.content.decode())
    assert contrast(colour(dark), colour(written)) >= READABLE
    for theme, tokens in themes("").items():
        if theme.endswith("dark"):
            assert min(contrast(colour(dark), tokens[ground]) for ground in ("side", "chat", "raised")) >= 3, theme


@pytest.mark.parametrize(
    ("name", "content"),
    [("sign.png", PNG), ("sign.svg", b"<?xml version='1.0'?><svg xmlns='http://www.w3.org/2000/svg'/>")],
)
async def test_pages_client_and_manifest_show_it(tmp_path: Path, name: str, content: bytes) -> None:
    (tmp_path / name).write_bytes(content)
    settings = {"accent_colour": GREEN, "logo_file": name}
    async with (
        open_chat_server(tmp_path, settings=settings) as server,
        trio.open_nursery() as nursery,
        World(server.description(), server.route(), nursery) as world,
    ):
        anyone = world.anyone
        for place in ("/login", "/", "/channels/@me"):
            page = (await anyone.request("GET", place, headers=HTML)).body.decode()
            [style] = re.findall(r'<link rel="stylesheet" href="(/look/[^"]+)">', page)
            assert set(re.findall(r'"(/look/[^"]+/logo)"', page)) != set()
        sheet = await anyone.request("GET", style)
        assert (sheet.status, sheet.header("content-type")) == (200, "text/css; charset=utf-8")
        assert GREEN in sheet.body.decode()
        manifest = json.loads((await anyone.request("GET", "/manifest.webmanifest")).body)
        [icon] = manifest["icons"]
        logo = await anyone.request("GET", icon["src"], headers={"Accept-Encoding": "identity"})
        assert (logo.status, logo.header("content-type"), logo.body) == (200, icon["type"], content)
        assert "sandbox" in (logo.header("content-security-policy") or "")
        assert (await anyone.request("GET", icon["src"] + "x")).status == 404
        nursery.cancel_scope.cancel()


@pytest.mark.parametrize(
    "content", [None, b"", b"<html>", b"GIF89a", PNG + bytes(LOGO_BYTES)], ids=["none", "empty", "html", "gif", "large"]
)
async def test_what_is_no_logo_stops_the_start(tmp_path: Path, content: bytes | None) -> None:
    if content is not None:
        (tmp_path / "logo.png").write_bytes(content)
    words = r"logo_file: .*expected a picture \(PNG, SVG or WebP\) of at most 256 KiB"
    with pytest.RaisesGroup(pytest.RaisesExc(OperatorError, match=words), flatten_subgroups=True):
        async with open_chat_server(tmp_path, settings={"logo_file": "logo.png"}):
            raise AssertionError("it served")
