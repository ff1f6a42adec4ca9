"""The base style sheets in a browser, on a page with everything that they give to views: accessible in both schemes,
with room enough on a telephone, with signs that are there."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

from tests.web.browsing import Visitor, instance
from tests.web.conftest import MakeVisitor

CLIENT: Final = Path(__file__).parents[3] / "chat" / "web" / "client"
TEMPLATES: Final = CLIENT.parent / "templates"
GALLERY: Final = Path(__file__).with_name("gallery.js").read_text(encoding="utf-8").split("\n", 1)[1]
SIGNS: Final = re.findall(r'<symbol id="([a-z-]+)"', (CLIENT / "icons.svg").read_text(encoding="utf-8"))

DESK: Final = {"width": 1280, "height": 900}
PHONE: Final = {"width": 360, "height": 740}


def shown(visitor: Visitor) -> None:
    """Open the gallery under the client's own policy."""
    visitor.goes_to_a_bare_client()
    visitor.page.evaluate(GALLERY, SIGNS)
    visitor.reads("Gallery")


def test_every_part_is_accessible_in_both_schemes(visit: MakeVisitor) -> None:
    for scheme in ("light", "dark"):
        visitor = visit(viewport=DESK, color_scheme=scheme, reduced_motion="reduce")
        shown(visitor)
        visitor.page_is_accessible()
        visitor.page.evaluate("document.querySelector('dialog').showModal()")
        visitor.page_is_accessible()


def test_the_sheets_mean_the_same_singly_and_joined(visit: MakeVisitor) -> None:
    """Every computed style of the gallery, from the pack and from the files."""
    computed = """() => [...document.querySelectorAll("main *")].map((one) => {
        const style = getComputedStyle(one);
        return [...style].map((name) => `${name}: ${style.getPropertyValue(name)}`).sort().join(";");
    })"""
    with instance(CHAT_CLIENT_PACKS="false") as singly:
        found = []
        for visitor in (visit(viewport=DESK), visit(singly, viewport=DESK)):
            shown(visitor)
            found.append(visitor.page.evaluate(computed))
    assert found[0] == found[1]


def test_the_theme_that_is_chosen_counts_more_than_the_devices(visit: MakeVisitor) -> None:
    visitor = visit(viewport=DESK, color_scheme="light", reduced_motion="reduce")
    shown(visitor)
    ground = "getComputedStyle(document.documentElement).backgroundColor"
    light = visitor.page.evaluate(ground)
    visitor.page.evaluate("document.documentElement.dataset.theme = 'dark'")
    assert visitor.page.evaluate(ground) != light
    visitor.page_is_accessible("color-contrast")
    visitor.page.evaluate("document.documentElement.dataset.theme = 'light'")
    assert visitor.page.evaluate(ground) == light


def test_everything_fits_a_telephone_and_a_finger(visit: MakeVisitor) -> None:
    for options in ({}, {"has_touch": True, "is_mobile": True}):
        visitor = visit(viewport=PHONE, reduced_motion="reduce", **options)
        shown(visitor)
        visitor.page_fits()
        visitor.page_is_accessible("target-size")
        visitor.page.evaluate("document.documentElement.dir = 'rtl'")
        visitor.page_fits()
    heights = """[...document.querySelectorAll("main :is(.button, .icon-button, [role=menuitem])")]
        .map((one) => one.offsetHeight)"""
    assert min(visitor.page.evaluate(heights)) >= 44


def test_every_sign_is_a_drawing(visit: MakeVisitor) -> None:
    visitor = visit(viewport=DESK)
    shown(visitor)
    empty = """() => [...document.querySelectorAll(".icon")]
        .filter((sign) => sign.getBBox().width === 0)
        .map((sign) => sign.firstChild.getAttribute("href"))"""
    assert len(SIGNS) > 50
    visitor.page.wait_for_function(f"() => ({empty})().length === 0")


def test_signs_are_those_that_are_used() -> None:
    scripts = "".join(path.read_text(encoding="utf-8") for path in CLIENT.rglob("*.js"))
    used = {*re.findall(r'\bicon\(\s*"([a-z-]+)"', scripts)}
    assert used - {*SIGNS} == set()
    assert {*SIGNS} - {*re.findall(r'"([a-z-]+)"', scripts)} == set(), "nothing shows these"


def test_style_sheets_name_what_there_is() -> None:
    """Classes that scripts put together begin as they are written there: `level-${level}`."""
    written = [path for root in (CLIENT, TEMPLATES) for path in root.rglob("*.[jh]*")]
    scripts = "".join(path.read_text(encoding="utf-8") for path in written)
    sheets = "".join(path.read_text(encoding="utf-8") for path in CLIENT.rglob("*.css"))
    named = {*re.findall(r"\.([a-z][a-z0-9-]+)", re.sub(r"/\*.*?\*/", "", sheets, flags=re.DOTALL))}
    made = tuple(re.findall(r"\b([a-z]+-)\$\{", scripts))
    assert {name for name in named - {*re.findall(r"[a-z][a-z0-9-]+", scripts)} if not name.startswith(made)} == set()
