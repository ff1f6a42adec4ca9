"""What a member meets in the first days, by hand: signing in and where it leads, links, invites, menus of people and
channels, the way about on a telephone. Area: the web client as a whole."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import expect

from tests.web.browsing import Instance, instance
from tests.web.client.test_first_minutes import Place, field_of
from tests.web.client.test_shell import DESK, PHONE, Member
from tests.web.conftest import MakeVisitor


@pytest.fixture(scope="module")
def home() -> Iterator[Instance]:
    with instance() as running:
        yield running


@pytest.fixture
def place(home: Instance) -> Place:
    return Place(home)


@pytest.fixture
def alice(visit: MakeVisitor) -> Member:
    member: Member = visit(kind=Member, viewport=DESK, reduced_motion="reduce")
    return member


def test_a_session_is_known_at_the_number_and_the_name_and_leads_where_one_wanted(alice: Member, place: Place) -> None:
    number = f"http://127.0.0.1:{place.home.port}"
    alice.goes_to(f"{number}{place.path}")
    alice.arrives_at("/login")
    person = place.home.person("alice")
    alice.fills(email=person["email"], password=person["password"])
    alice.presses("Sign in")
    alice.arrives_at(place.path)
    for address in (f"{number}{place.path}", f"{number}/login?next={place.path}"):
        alice.goes_to(address)
        field_of(alice).wait_for()
        assert alice.page.url == f"{place.home.origin}{place.path}"
    alice.goes_to("/login?next=https://example.org/channels/1")  # nobody is sent to a stranger
    field_of(alice).wait_for()
    alice.goes_to("/login")
    alice.reads("You are signed in")
    expect(alice.page.locator("#password")).to_be_hidden()
    alice.page_is_accessible()
    alice.follows("Go on")
    field_of(alice).wait_for()
    assert alice.page.url == f"{place.home.origin}{place.path}"
    alice.goes_to("/login")
    alice.presses("Use another account")
    alice.fills(email=place.bob["email"], password=place.bob["password"])
    alice.presses("Sign in")
    field_of(alice).wait_for()
    alice.goes_to("/offline")
    alice.page.evaluate("""localStorage.setItem("session", JSON.stringify({ token: "over", name: "alice" }))""")
    alice.goes_to(f"/login?next={place.path}")  # a session that is over is none
    alice.page.locator("#password").wait_for()


def test_signing_in_leads_to_a_community_or_to_what_there_is_to_do(visit: MakeVisitor, place: Place) -> None:
    newcomer = {"email": "zoe@example.org", "password": "four unrelated words", "username": "zoe"}
    place.home.call("POST", "/v1/auth/register", newcomer)
    zoe: Member = visit(kind=Member, viewport=PHONE, reduced_motion="reduce", has_touch=True, is_mobile=True)
    zoe.signs_in(newcomer)
    zoe.reads("Welcome, zoe")
    zoe.page_is_accessible()
    zoe.page_fits()
    zoe.presses("Add a friend By the username; then you can write to each other.")
    zoe.reads("Friends")
    zoe.page.go_back()
    zoe.reads("Welcome, zoe")
    zoe.page.get_by_role("button", name=re.compile("Join by an invite")).click()
    invite = place.home.call("POST", f"/v1/channels/{place.channel_id}/invites", {}, place.alice["token"])
    zoe.page.get_by_role("textbox").fill(invite["code"])
    zoe.page.get_by_role("dialog").get_by_role("button", name="Join").click()
    zoe.page.wait_for_url(re.compile(f"/channels/{place.guild_id}"))
    wide: Member = visit(kind=Member, viewport=DESK, reduced_motion="reduce")
    wide.signs_in(newcomer)
    field_of(wide).wait_for()
    wide.arrives_at(place.path)
