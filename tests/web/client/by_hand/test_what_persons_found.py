"""What PersonMachine found, each once more by hand. Area: the web client as a whole."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

import pytest
from playwright.sync_api import Response, Route, expect

from tests.web.browsing import Instance, each
from tests.web.client.test_shell import DESK, PHONE, THREADS, Member, talk
from tests.web.conftest import MakeVisitor

__all__ = ["talk"]
APART: Final = """([row, bar]) => {
  const [upper, stands] = [row, bar].map((id) => document.getElementById(id).getBoundingClientRect().top);
  return Math.abs(upper - stands) <= 24;
}"""
PROFILE: Final = re.compile(r"/packs/people")


def test_the_open_list_of_pins_follows_what_is_pinned(visit: MakeVisitor, talk: str, home: Instance) -> None:
    member: Member = visit(kind=Member, viewport=DESK, reduced_motion="reduce")
    member.enters_as("alice", talk)
    member.button("Pinned messages").click()
    results = member.page.locator(".found-panel .result")
    expect(results).to_have_count(1)
    alice, channel = home.person("alice")["token"], f"/v1/channels/{talk.split('/')[3]}"
    newest, *_ = home.call("GET", f"{channel}/messages?limit=2", token=alice)
    home.call("PUT", f"{channel}/pins/{newest['id']}", None, alice)
    expect(results).to_have_count(2)
    expect(results.first).to_contain_text("example.org")
    home.call("DELETE", f"{channel}/messages/{newest['id']}", None, alice)
    expect(results).to_have_count(1)
    expect(results).to_contain_text("tomato seed")


@pytest.mark.parametrize("width", [360, 768, 1280])
def test_the_line_of_the_connection_is_within_reach_in_settings(visit: MakeVisitor, width: int) -> None:
    member: Member = visit(kind=Member, viewport={"width": width, "height": 740}, reduced_motion="reduce")
    member.enters_as("alice", "/channels/@me/settings/profile")
    member.page.context.set_offline(True)
    again = member.button("Try now")
    again.wait_for()
    again.click(trial=True)
    # What closes the page is within reach beside it.
    member.page.get_by_role("button", name="Close", exact=False).last.click(trial=True)
    member.complaints = [text for text in member.complaints if "ERR_INTERNET_DISCONNECTED" not in text]


def test_a_profile_comes_after_its_page_was_left(visit: MakeVisitor, talk: str, home: Instance) -> None:
    alice, bob = home.person("alice"), home.person("bob")
    home.call("POST", f"/v1/users/@me/relationships/{bob['id']}", None, alice["token"])
    home.call("PUT", f"/v1/users/@me/relationships/{alice['id']}", {}, bob["token"])
    member: Member = visit(kind=Member, viewport=DESK, reduced_motion="reduce", service_worker=False)
    member.enters_as("alice", "/channels/@me/friends")
    page, held, guild = member.page, list[Route](), talk.rpartition("/")[0]
    member.intercepts(PROFILE, lambda route: held.append(route))
    page.get_by_role("tab", name="All").click()
    with page.expect_request(PROFILE):
        page.locator("#talk.friends .friend").filter(has_text="Bob").locator("button.member").click()
    page.get_by_role("navigation", name="Communities").locator(f'a[href^="{guild}"]').click()
    page.wait_for_url(f"**{guild}/*")
    expect(page.locator("#talk.friends")).to_have_count(0)
    for route in held:
        route.continue_()
    page.locator(".popover:popover-open .profile-card").wait_for()


def test_what_cannot_be_fetched_is_said_and_comes_the_next_time(visit: MakeVisitor, talk: str) -> None:
    member: Member = visit(kind=Member, viewport=DESK, reduced_motion="reduce", service_worker=False)
    member.enters_as("alice", talk)
    page, smile = member.page, member.button("Insert an emoji")
    told = page.locator(".notices .notice")
    unreached = "The server could not be reached"
    page.context.set_offline(True)
    smile.click()
    expect(told).to_contain_text(unreached)
    page.locator(".banner").wait_for()
    smile.click()
    # It is there once, and nothing lies above it.
    expect(told).to_have_count(1)
    told.get_by_role("button", name="Close").click()
    page.context.set_offline(False)
    member.intercepts("**/emoji/*.json", lambda route: route.abort())
    smile.click()
    expect(told).to_contain_text(unreached)
    page.unroute("**/emoji/*.json")
    smile.click()
    page.get_by_role("dialog", name="Choose an emoji").wait_for()
    member.complaints = [text for text in member.complaints if "net::ERR_" not in text]


def test_a_folder_has_its_new_name_and_stays_open(visit: MakeVisitor, talk: str, home: Instance) -> None:
    token, guild = home.person("alice")["token"], talk.split("/")[2]

    def named(name: str) -> None:
        folder = {"id": 7, "name": name, "color": None, "guild_ids": [guild]}
        home.call("PATCH", "/v1/users/@me/settings", {"guild_folders": [folder]}, token)

    named("Allotments")
    member: Member = visit(kind=Member, viewport=DESK, reduced_motion="reduce")
    member.enters_as("alice", talk)
    rail = member.page.get_by_role("navigation", name="Communities")
    rail.get_by_role("button", name="Allotments").click()
    named("Gardens")
    folder = rail.get_by_role("button", name="Gardens")
    expect(folder).to_have_attribute("aria-expanded", "true")
    inner = rail.get_by_role("list", name="Gardens").get_by_role("link")
    expect(inner).to_have_count(1)
    member.page.reload()
    expect(folder).to_have_attribute("aria-expanded", "true")
    expect(inner).to_have_count(1)


def test_the_buttons_of_a_row_stay_with_it(visit: MakeVisitor, talk: str, home: Instance) -> None:
    member: Member = visit(kind=Member, viewport=DESK, reduced_motion="reduce")
    member.enters_as("alice", talk)
    page = member.page
    row, bar = page.get_by_role("article").last, page.get_by_role("toolbar", name="What you can do with this message")
    row.focus()
    more = bar.get_by_role("button", name="More")
    leaf = {"name": "leaf.txt", "mimeType": "text/plain", "buffer": b"a leaf"}
    page.locator(".composer input[type=file]").set_input_files([leaf])
    page.get_by_role("list", name="Files to send").wait_for()
    more.click(trial=True)
    more.focus()
    page.mouse.move(1, 1)
    # A message comes: its row moves up, and the bar with it.
    alice, channel = home.person("alice")["token"], f"/v1/channels/{talk.split('/')[3]}"
    [before] = home.call("GET", f"{channel}/messages?limit=1", token=alice)
    home.call("POST", f"{channel}/messages", {"content": "one\ntwo\nthree\nfour"}, alice)
    page.get_by_role("article").filter(has_text="four").wait_for()
    own = page.locator(f'article[data-id="{before["id"]}"]')
    ids = [own.evaluate("one => one.id ||= 'the-row'"), bar.evaluate("one => one.id ||= 'the-bar'")]
    page.wait_for_function(APART, arg=ids)
    # The message goes: so does the bar, and what had the focus there gives it to a row.
    home.call("DELETE", f"{channel}/messages/{before['id']}", None, alice)
    expect(own).to_have_count(0)
    expect(bar).to_be_hidden()
    expect(page.locator("article:focus")).to_have_count(1)


def test_another_community_by_a_key_keeps_the_focus(visit: MakeVisitor, talk: str, home: Instance) -> None:
    alice = home.person("alice")["token"]
    home.call("POST", "/v1/guilds", {"name": "A second one"}, alice)
    member: Member = visit(kind=Member, viewport=PHONE, reduced_motion="reduce")
    page, guild = member.page, talk.rpartition("/")[0]
    member.enters_as("alice", guild)
    settings = member.button("Settings")
    for key in ("Control+Alt+ArrowDown", "Control+Alt+ArrowUp"):
        settings.focus()
        before = page.evaluate("location.pathname")
        page.keyboard.press(key)
        page.wait_for_function("before => location.pathname !== before", arg=before)
        page.locator(".side .channels").wait_for()
        expect(settings).to_be_focused()


@pytest.mark.parametrize("width", [768, 1024, 1280])
def test_the_line_of_the_connection_covers_no_channel(visit: MakeVisitor, talk: str, width: int) -> None:
    member: Member = visit(kind=Member, viewport={"width": width, "height": 740}, reduced_motion="reduce")
    member.enters_as("alice", talk)
    member.page.context.set_offline(True)
    member.page.locator(".banner").wait_for()
    for link in each(member.page.locator(".side ul.channels a"), 2):
        link.click(trial=True)
    member.complaints = [text for text in member.complaints if "ERR_INTERNET_DISCONNECTED" not in text]


def test_a_community_is_called_in_the_settings_as_it_is_called_now(
    visit: MakeVisitor, talk: str, home: Instance
) -> None:
    member: Member = visit(kind=Member, viewport=DESK, reduced_motion="reduce")
    member.enters_as("alice", "/channels/@me/settings/notifications")
    summaries = member.page.locator(".settings-content summary")
    expect(summaries.filter(has_text="Plots & <b>beds</b>")).not_to_have_count(0)
    path, token = f"/v1/guilds/{talk.split('/')[2]}", home.person("alice")["token"]
    home.call("PATCH", path, {"name": "The gardens of today"}, token)
    expect(summaries.filter(has_text="The gardens of today")).to_have_count(1)


def test_the_line_of_the_connection_covers_no_tab_on_a_telephone(visit: MakeVisitor) -> None:
    member: Member = visit(kind=Member, viewport=PHONE, reduced_motion="reduce")
    member.enters_as("alice", "/channels/@me/friends")
    tabs = each(member.page.locator(".friends").get_by_role("tab"), 4)
    member.page.context.set_offline(True)
    member.page.locator(".banner").wait_for()
    for tab in tabs:
        tab.click(trial=True)
    member.page_fits()
    member.complaints = [text for text in member.complaints if "ERR_INTERNET_DISCONNECTED" not in text]


def test_what_is_saved_by_a_key_leaves_the_focus_on_the_page(visit: MakeVisitor) -> None:
    member: Member = visit(kind=Member, viewport=DESK, reduced_motion="reduce")
    member.enters_as("alice", "/channels/@me/settings/profile")
    page = member.page
    page.get_by_label("Username").fill("alice_of_the_beds")
    member.button("Save").focus()
    page.keyboard.press("Enter")
    expect(page.locator(".settings-content .save-bar")).to_be_hidden()
    page.wait_for_function("() => document.activeElement !== document.body")


def test_an_invite_that_leads_nowhere_is_told_while_it_is_typed(visit: MakeVisitor, talk: str) -> None:
    member: Member = visit(kind=Member, viewport=DESK, reduced_motion="reduce")
    member.enters_as("alice", talk)
    page = member.page
    member.button("Add a community").click()
    page.get_by_role("menuitem", name="Join by an invite").click()
    page.get_by_role("textbox", name="Invite").fill("leeks")
    expect(page.get_by_role("dialog").get_by_role("status")).to_contain_text("leads nowhere")
    member.button("Cancel").click()


def test_of_two_changes_the_later_one_holds(visit: MakeVisitor, talk: str, home: Instance) -> None:
    token, hours = home.person("alice")["token"], {"start": "22:00", "end": "07:00", "timezone": "Europe/Berlin"}
    home.call("PATCH", "/v1/users/@me/settings", {"quiet_hours": hours}, token)
    member: Member = visit(kind=Member, viewport=DESK, reduced_motion="reduce", service_worker=False)
    member.enters_as("alice", "/channels/@me/settings/notifications")
    page, held = member.page, list[Route]()

    def hold(route: Route) -> None:
        if route.request.method != "PATCH" or held:
            return route.continue_()
        return held.append(route)

    member.intercepts("**/users/@me/settings", hold)

    def of(moment: str) -> Callable[[Response], bool]:
        return lambda answer: answer.request.method == "PATCH" and moment in (answer.request.post_data or "")

    with page.expect_request("**/users/@me/settings"):
        page.get_by_label("From").fill("00:00")
    with page.expect_response(of("07:00")), page.expect_response(of("23:59")):
        page.get_by_label("Until").fill("23:59")
        page.wait_for_timeout(300)  # were it to overtake, it would now
        held[0].continue_()
    kept = home.call("GET", "/v1/users/@me/settings", None, token)["quiet_hours"]
    assert (kept["start"], kept["end"]) == ("00:00", "23:59")
    home.call("PATCH", "/v1/users/@me/settings", {"quiet_hours": None}, token)


@pytest.mark.parametrize("view", ["forum", "members"])
def test_what_was_looked_for_first_does_not_displace_what_is_looked_for_now(
    visit: MakeVisitor, talk: str, home: Instance, view: str
) -> None:
    token, guild = home.person("alice")["token"], talk.split("/")[2]
    if view == "forum":
        body = {"name": "questions", "type": 15}
        forum = home.call("POST", f"/v1/guilds/{guild}/channels", body, token)["id"]
        for name in ("alder beds", "bob beds"):
            post = {"name": name, "message": {"content": "How?"}}
            home.call("POST", f"/v1/channels/{forum}/threads", post, token, **THREADS)
        path, pattern, label = f"/channels/{guild}/{forum}", "**/threads/search?*name=al*", "Search posts"
    else:
        path, pattern, label = f"/channels/{guild}/settings/members", "**/members-search", "Search members"
    member: Member = visit(kind=Member, viewport=DESK, reduced_motion="reduce", service_worker=False)
    member.enters_as("alice", path)
    page, held = member.page, list[Route]()
    rows = page.locator(".posts > li, .settings-content ul > li")
    expect(rows).to_have_count(2)

    def hold(route: Route) -> None:
        if "al" in (route.request.post_data or route.request.url).lower() and not held:
            held.append(route)
        else:
            route.continue_()

    member.intercepts(pattern, hold)
    field = page.get_by_label(label, exact=True)
    with page.expect_request(pattern):
        field.fill("al")
    field.fill("bob")
    expect(rows).to_have_count(1)
    expect(rows).to_contain_text(re.compile("bob", re.IGNORECASE))
    with page.expect_response(pattern):
        held[0].continue_()
    page.wait_for_timeout(200)  # it is drawn, were it drawn at all
    expect(rows).to_contain_text(re.compile("bob", re.IGNORECASE))


def test_who_goes_elsewhere_before_a_conversation_is_made_stays_there(
    visit: MakeVisitor, talk: str, home: Instance
) -> None:
    alice, bob = home.person("alice"), home.person("bob")
    call = home.call
    call("POST", "/v1/guilds/" + talk.split("/")[2] + "/channels", {"name": "beds", "type": 0}, alice["token"])
    member: Member = visit(kind=Member, viewport=DESK, reduced_motion="reduce", service_worker=False)
    member.enters_as("alice", talk)
    page, held = member.page, list[Route]()
    member.intercepts("**/users/@me/channels", lambda route: held.append(route))
    page.locator(f"article [data-user='{bob['id']}']").first.click(button="right")
    with page.expect_request("**/users/@me/channels"):
        page.get_by_role("menuitem", name="Message", exact=True).click()
    page.get_by_role("link", name="beds", exact=True).click()
    page.get_by_role("heading", name="beds", exact=True, level=1).wait_for()
    chosen = page.evaluate("location.pathname")
    with page.expect_response("**/users/@me/channels"):
        held[0].continue_()
    page.wait_for_timeout(200)  # it is gone to, were it gone to at all
    expect(page).to_have_url(f"{home.origin}{chosen}")
    page.unroute("**/users/@me/channels")
    page.locator(".side").get_by_role("link", name="general", exact=True).click()
    page.locator(f"article [data-user='{bob['id']}']").first.click(button="right")
    page.get_by_role("menuitem", name="Message", exact=True).click()
    page.wait_for_url(re.compile(r"/channels/@me/\d+$"))


def test_settings_that_were_opened_offline_come_with_the_network(visit: MakeVisitor, talk: str) -> None:
    member: Member = visit(kind=Member, viewport=DESK, reduced_motion="reduce")
    guild = talk.rpartition("/")[0]
    for begin, pages in (
        ("/channels/@me/settings/profile", {"sessions": ".session-name", "notifications": ".push-ground label"}),
        (f"{guild}/settings", {"members": ".guild-set-rows button", "audit_log": ".guild-set-rows li"}),
    ):
        for name, shown in pages.items():
            member.enters_as("alice", begin) if name == "sessions" else member.page.goto(begin)
            place = member.page.locator(f"a[href$='/settings/{name}']")
            place.wait_for()
            member.page.context.set_offline(True)
            place.click()
            expect(member.page.locator(".notices .notice")).to_contain_text("could not be reached")
            expect(member.page.locator(shown)).to_have_count(0)
            member.page.context.set_offline(False)
            member.page.locator(shown).first.wait_for()
    member.complaints = [text for text in member.complaints if "net::ERR_" not in text]
