"""The first day of an instance in a browser: set-up by the link that the server prints, the front page, the first
visitor who joins."""

from __future__ import annotations

import re
from collections.abc import Iterator
from urllib.parse import urlsplit

import pytest
from PIL import Image
from playwright.sync_api import expect

from tests.web.browsing import Instance, Visitor, served
from tests.web.conftest import MakeVisitor

DESK = {"width": 1280, "height": 900}
PHONE = {"width": 360, "height": 740}
PASSWORD = "four unrelated words"


@pytest.fixture
def fresh() -> Iterator[Instance]:
    """An instance on its first day. It outlives its visitors, whose pages would miss it."""
    with served() as instance:
        yield instance


def is_fine(visitor: Visitor) -> None:
    """axe-core in the light; contrast in the dark; room and targets on a phone."""
    page = visitor.page
    visitor.page_is_accessible()
    page.emulate_media(color_scheme="dark")
    visitor.page_is_accessible("color-contrast")
    page.emulate_media(color_scheme="light")
    page.set_viewport_size(PHONE)
    visitor.page_fits()
    visitor.page_is_accessible("target-size")
    page.set_viewport_size(DESK)


def picture_of(fresh: Instance) -> str:
    """A picture in a file."""
    path = f"{fresh.folder}/picture.png"
    Image.new("RGB", (256, 256), (60, 130, 80)).save(path)
    return path


def test_the_link_makes_an_administrator_a_name_and_a_community(fresh: Instance, visit: MakeVisitor) -> None:
    operator: Visitor = visit(fresh, viewport=DESK, reduced_motion="reduce")
    page = operator.page
    # Without the link nobody gets anywhere.
    operator.goes_to("/")
    operator.reads("This instance is new")
    is_fine(operator)
    operator.goes_to("/setup")
    operator.reads("You need the set-up link")
    is_fine(operator)

    operator.goes_to(fresh.world["setup"])
    operator.reads("Make your account")
    expect(page).not_to_have_url(re.compile("#"))
    is_fine(operator)
    operator.fills(email="ada@example.org", global_name="Ada", username="ada", password=PASSWORD)
    operator.presses("Make the account")
    operator.reads("Name your instance")
    page.reload()  # the link is still known
    operator.reads("Name your instance")
    is_fine(operator)
    operator.presses("Go on")
    operator.is_told("Give it a name.")
    operator.fills(service_name="Garden club", service_description="We grow things, and talk of it.")
    operator.presses("Go on")
    operator.reads("Make the first community")
    is_fine(operator)
    with page.expect_file_chooser() as asked:
        operator.presses("Choose a picture")
    asked.value.set_files(picture_of(fresh))
    operator.is_told("picture.png")
    is_fine(operator)
    operator.fills(name="Plots & <b>beds</b>")
    operator.presses("Make the community")
    operator.reads("Everything is ready")
    is_fine(operator)
    expect(page.locator("#invite-link")).to_have_text(re.compile("/invite/"))
    invite = page.locator("#invite-link").inner_text()
    # The link has done its work, for its owner and for whoever finds it.
    operator.goes_to(fresh.world["setup"])
    operator.reads("Garden club is set up")
    is_fine(operator)
    operator.goes_to("/admin")
    operator.fills(email="ada@example.org", password=PASSWORD)
    operator.presses("Sign in")
    page.get_by_text("everything", exact=True).first.wait_for()

    newcomer: Visitor = visit(fresh, viewport=DESK, reduced_motion="reduce")
    newcomer.goes_to("/")
    newcomer.reads("Garden club")
    newcomer.page.get_by_text("We grow things, and talk of it.").wait_for()
    newcomer.page.get_by_text("Plots & <b>beds</b>").wait_for()
    newcomer.page.get_by_text("1 member").wait_for()
    assert newcomer.page.locator("#picture").evaluate("image => image.decode().then(() => image.naturalWidth)") > 32
    is_fine(newcomer)
    # Who has an invite comes in by it, as a link or as a code.
    code = urlsplit(invite).path.rpartition("/")[2]
    for given in (invite, code, f"https://elsewhere.example/invite/{code}?x=1"):
        newcomer.goes_to("/")
        newcomer.fills(invite=given)
        newcomer.presses("Open the invite")
        newcomer.arrives_at(f"/invite/{code}")
    newcomer.goes_to("/")
    newcomer.follows("Join the community")
    newcomer.reads("Plots & <b>beds</b>")
    expect(newcomer.page).to_have_url(invite)
    assert newcomer.page.locator("#invite-picture").evaluate("image => image.decode().then(() => true)")
    is_fine(newcomer)
    newcomer.follows("Make an account")
    newcomer.fills(email="ben@example.org", username="ben", password=PASSWORD)
    newcomer.presses("Make the account")
    newcomer.presses("Accept the invite")
    newcomer.enters()


def test_a_stranger_who_comes_first_gets_nothing(fresh: Instance, visit: MakeVisitor) -> None:
    stranger: Visitor = visit(fresh)
    for link in ("/setup#token=", f"/setup#token={'A' * 43}"):
        stranger.goes_to("/")
        stranger.goes_to(link)
        if link.endswith("="):
            stranger.reads("You need the set-up link")
            continue
        stranger.fills(email="eve@example.org", username="eve", password=PASSWORD)
        stranger.presses("Make the account")
        stranger.fills(service_name="Mine")
        stranger.presses("Go on")
        stranger.is_told("This is not the set-up link of this server.")
    stranger.goes_to("/admin")
    stranger.fills(email="eve@example.org", password=PASSWORD)
    stranger.presses("Sign in")
    stranger.page.get_by_role("heading", name="You cannot administer").wait_for()
    # The operator comes later, and is the administrator.
    operator: Visitor = visit(fresh)
    operator.goes_to(fresh.world["setup"])
    operator.fills(email="ada@example.org", username="ada", password=PASSWORD)
    operator.presses("Make the account")
    operator.fills(service_name="Garden club")
    operator.page.get_by_label("Nobody, for now").check()
    operator.presses("Go on")
    operator.presses("Later")
    operator.reads("Everything is ready")
    operator.follows("Go in")
    operator.enters()
    late: Visitor = visit(fresh)
    late.goes_to("/")
    late.page.get_by_text("A place to talk").wait_for()
    expect(late.page.get_by_role("link", name="Make an account")).to_have_count(0)


@pytest.mark.parametrize("text", ["x" * 500, "a\u202eb\u2066c", "\U0001f331" * 64])
def test_any_text_stands_on_the_front_page_as_text(visit: MakeVisitor, home: Instance, text: str) -> None:
    token = home.world["admin"]["token"]
    body = {"service_name": text[:64], "service_description": text}
    try:
        home.call("PATCH", "/v1/admin/instance/config", body, token)
        visitor: Visitor = visit(viewport=PHONE)
        visitor.goes_to("/")
        visitor.page.locator(".lead").wait_for()
        visitor.page_fits()
    finally:
        home.call("PATCH", "/v1/admin/instance/config", {"reset": [*body]}, token)
