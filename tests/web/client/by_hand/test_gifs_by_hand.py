"""Moving pictures of the service that the operator has named, picked by hand. Area: the web client as a whole."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import expect

from tests.loopback_http import Answer
from tests.messages.gif_service import KEY, GifService
from tests.web.browsing import Instance, beside, instance
from tests.web.client.test_shell import DESK, PHONE, Member
from tests.web.conftest import MakeVisitor


@pytest.fixture(scope="module")
def service() -> Iterator[GifService]:
    with beside(GifService()) as running:
        yield running


@pytest.fixture(scope="module")
def with_gifs(service: GifService) -> Iterator[Instance]:
    settings = {
        "CHAT_GIF__PROVIDER": "klipy",
        "CHAT_GIF__API_KEY": KEY,
        "CHAT_GIF__API_URL": service.origin,
        "CHAT_MEDIA__PRIVATE_NETWORKS_ALLOWED": '["127.0.0.0/8"]',
    }
    with instance(**settings) as running:
        yield running


def opens(member: Member) -> None:
    """The pictures, in the picker of emoji."""
    member.page.get_by_role("button", name="Insert an emoji").click()
    member.page.get_by_role("tab", name="GIFs").click()
    expect(member.page.get_by_role("gridcell", name="popular 0")).to_be_visible()


def test_a_picture_is_found_sent_and_kept(visit: MakeVisitor, with_gifs: Instance, service: GifService) -> None:
    world = with_gifs.world
    place = f"/channels/{world['guild_id']}/{world['channel_id']}"
    member: Member = visit(with_gifs, kind=Member, viewport=DESK, reduced_motion="reduce", color_scheme="dark")
    member.enters_as("alice", place)
    page, cell = member.page, member.page.get_by_role("gridcell")
    opens(member)
    member.page_is_accessible()
    expect(page.get_by_text("Powered by KLIPY")).to_be_visible()

    # By words and by keys; a further page follows the first.
    search = page.get_by_role("searchbox", name="Search KLIPY")
    search.fill("cats")
    expect(page.get_by_role("gridcell", name="cats 23")).to_have_count(1)
    page.get_by_role("button", name="Show more").click()
    expect(page.get_by_role("gridcell", name="cats 24")).to_be_focused()
    expect(cell).to_have_count(30)
    expect(page.get_by_role("button", name="Show more")).to_be_hidden()
    search.focus()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowRight")
    expect(page.get_by_role("gridcell", name="cats 1", exact=True)).to_be_focused()

    # Kept at hand by its menu, and then sent.
    page.keyboard.press("ContextMenu")
    page.get_by_role("menuitem", name="Add to favourites").click()
    expect(page.get_by_role("status").filter(has_text="It is among your favourites.").first).to_be_attached()
    page.get_by_role("gridcell", name="cats 2", exact=True).click()
    expect(page.get_by_role("dialog", name="Choose an emoji")).to_have_count(0)
    picture = page.get_by_role("article").locator(".embeds img")
    expect(picture).to_have_count(1)
    expect(page.get_by_role("article").filter(has_text="2.gif")).to_have_count(0)  # the picture says it
    expect(picture).to_have_attribute("src", re.compile("."))
    token = with_gifs.person("alice")["token"]
    messages = f"/v1/channels/{world['channel_id']}/messages"
    assert with_gifs.call("GET", messages, None, token)[0]["content"] == f"{service.origin}/2.gif"

    # What is kept is sent as a file, and kept no longer.
    opens(member)
    kept = page.get_by_role("rowgroup", name="Favourites").get_by_role("gridcell")
    kept.click()
    expect(page.get_by_role("article").locator(".media img")).to_have_count(1)
    opens(member)
    kept.click(button="right")
    page.get_by_role("menuitem", name="Remove from favourites").click()
    expect(kept).to_have_count(0)
    assert with_gifs.call("GET", "/v1/users/@me/memes", None, token) == []

    # Without results, and without a service for a while.
    search.fill("nothing")
    expect(page.get_by_text("Nothing was found.")).to_be_visible()
    service.said = Answer(500, {})
    search.fill("dogs")
    expect(page.get_by_text("KLIPY cannot be reached.")).to_be_visible()
    assert [complaint for complaint in member.complaints if "503" not in complaint] == []
    member.complaints.clear()
    service.said = None
    page.get_by_role("button", name="Try again").click()
    expect(page.get_by_role("gridcell", name="dogs 0")).to_be_visible()
    page.get_by_role("tab", name="GIFs").focus()
    page.keyboard.press("ArrowLeft")
    expect(page.get_by_role("tab", name="Emoji")).to_be_focused()
    expect(page.get_by_role("searchbox", name="Search emoji")).to_be_visible()
    page.keyboard.press("Escape")

    # The browser itself asked nobody but this server: `elsewhere` of its visitor is empty.
    page.set_viewport_size(PHONE)
    opens(member)
    member.page_fits()
    member.page_is_accessible()


def test_without_a_service_there_is_no_tab(visit: MakeVisitor, home: Instance) -> None:
    member: Member = visit(kind=Member, viewport=DESK, reduced_motion="reduce")
    member.enters_as("alice", f"/channels/{home.world['guild_id']}/{home.world['channel_id']}")
    member.page.get_by_role("button", name="Insert an emoji").click()
    expect(member.page.get_by_role("searchbox").first).to_be_visible()
    expect(member.page.get_by_role("tab", name="GIFs")).to_have_count(0)
