"""Every view of the web client on a real server: it can be used with a screen reader's rules in mind (axe), by keyboard
and on a telephone, and the console stays empty. Area: the web client as a whole."""

from __future__ import annotations

import io
import json
import re
from datetime import UTC, datetime, timedelta
from typing import Any, Final
from urllib.parse import quote

import pytest
from PIL import Image
from playwright.sync_api import Route, expect

from tests.web.browsing import WAIT_MS, Instance, Visitor, instance
from tests.web.client.node import CLIENT
from tests.web.conftest import MakeVisitor

DESK: Final = {"width": 1280, "height": 800}
THREADS: Final = {"X-Service-Features": "channel_threads"}
PHONE: Final = {"width": 360, "height": 740}


class Member(Visitor):
    """Somebody in the client."""

    def enters_as(self, name: str, path: str) -> None:
        """Open a place with the account's session in the browser."""
        person = self.home.person(name)
        script = "session => localStorage.setItem('session', JSON.stringify(session))"
        self.page.goto("/offline")
        self.page.evaluate(script, {"token": person["token"], "name": name})
        self.page.goto(path)
        self.page.locator(".app.ready").wait_for(state="attached")

    def button(self, name: str) -> Any:
        """A button by its whole name."""
        return self.page.get_by_role("button", name=name, exact=True)


@pytest.fixture
def talk(home: Instance) -> str:
    """A channel with messages of several kinds; its path in the client."""
    alice, bob = home.person("alice"), home.person("bob")
    guild = home.call("POST", "/v1/guilds", {"name": "Plots & <b>beds</b>"}, alice["token"])
    channels = home.call("GET", f"/v1/guilds/{guild['id']}/channels", token=alice["token"])
    channel = next(one for one in channels if one["type"] == 0)
    invite = home.call("POST", f"/v1/channels/{channel['id']}/invites", {}, alice["token"])
    home.call("POST", f"/v1/invites/{invite['code']}", {}, bob["token"])
    messages = f"/v1/channels/{channel['id']}/messages"
    first = home.call("POST", messages, {"content": "Who has **tomato seed**?"}, alice["token"])
    home.call("PUT", f"{messages}/{first['id']}/reactions/{quote(chr(0x1F331))}/@me", None, bob["token"])
    home.call("PUT", f"/v1/channels/{channel['id']}/pins/{first['id']}", None, alice["token"])
    reference = {"message_id": first["id"], "channel_id": channel["id"], "type": 0}
    for text in ("Me! ||Many|| of them", "`seed` and ```js\nconst a = 1;\n```", "https://example.org/<b>"):
        home.call("POST", messages, {"content": text, "message_reference": reference}, bob["token"])
    return f"/channels/{guild['id']}/{channel['id']}"


def is_fine(member: Member) -> None:
    """axe in the light; contrast in the dark."""
    member.page_is_accessible()
    member.page.emulate_media(color_scheme="dark")
    member.page_is_accessible("color-contrast")
    member.page.emulate_media(color_scheme="light")


def test_the_talk_and_all_that_opens_above_it(visit: MakeVisitor, talk: str) -> None:
    member: Member = visit(kind=Member, viewport=DESK, reduced_motion="reduce")
    member.enters_as("alice", talk)
    page = member.page
    page.get_by_role("article").filter(has_text="tomato").first.wait_for()
    is_fine(member)
    for opener in ("Pinned messages", "Threads", "Insert an emoji"):
        member.button(opener).click()
        page.locator(".popover:popover-open").wait_for()
        if opener == "Pinned messages":
            page.locator(".result").wait_for()
        is_fine(member)
        page.keyboard.press("Escape")
        expect(page.locator(".popover")).to_have_count(0)
    member.button("Search").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Words").fill("tomato")
    dialog.get_by_role("button", name="Search").click()
    dialog.locator(".result").first.wait_for()
    is_fine(member)
    page.keyboard.press("Escape")
    page.get_by_role("article").filter(has_text="tomato").first.click(button="right")
    page.get_by_role("menu").wait_for()
    is_fine(member)
    page.get_by_role("menuitem", name="Delete").click()
    page.get_by_role("dialog").wait_for()
    is_fine(member)
    page.keyboard.press("Escape")
    page.locator(".author").first.click()
    page.get_by_role("dialog", name="Profile").wait_for()
    is_fine(member)
    page.keyboard.press("Escape")


def test_what_the_keys_open(visit: MakeVisitor, talk: str) -> None:
    member: Member = visit(kind=Member, viewport=DESK, reduced_motion="reduce")
    member.enters_as("alice", talk)
    page = member.page
    page.get_by_role("article").first.wait_for()
    page.keyboard.press("Control+/")
    page.get_by_role("heading", name="Keys").wait_for()
    is_fine(member)
    page.keyboard.press("Escape")
    page.keyboard.press("Control+k")
    page.get_by_role("combobox").fill("seeded")
    page.get_by_role("option").first.wait_for()
    is_fine(member)
    page.keyboard.press("Enter")
    page.get_by_role("heading", name="Seeded guild").wait_for()
    page.wait_for_url(f"**/channels/{member.home.world['guild_id']}/**")
    page.go_back()
    page.get_by_role("heading", name="Plots & <b>beds</b>").first.wait_for()
    # F6 goes round the regions and comes back.
    regions = []
    for _ in range(8):
        page.keyboard.press("F6")
        regions.append(page.evaluate("() => document.activeElement.className"))
    assert len(set(regions)) >= 4, regions
    page.keyboard.press("Control+Alt+ArrowDown")
    page.wait_for_url("**/channels/**")


def test_making_and_leaving_places(visit: MakeVisitor, talk: str) -> None:
    member: Member = visit(kind=Member, viewport=DESK, reduced_motion="reduce")
    member.enters_as("bob", talk)
    page = member.page
    member.button("Add a community").click()
    page.get_by_role("menu").wait_for()
    is_fine(member)
    page.get_by_role("menuitem", name="Make a community").click()
    page.get_by_role("dialog").wait_for()
    is_fine(member)
    page.get_by_label("Name", exact=True).fill("Bob's corner")
    page.get_by_role("dialog").get_by_role("button", name="Make it").click()
    page.get_by_role("heading", name="Bob's corner").first.wait_for()
    page.get_by_role("button", name="Bob's corner").click()
    page.get_by_role("menuitem", name="Make a channel").click()
    page.get_by_role("dialog").wait_for()
    is_fine(member)
    page.get_by_label("Name", exact=True).fill("seeds")
    page.get_by_role("dialog").get_by_role("button", name="Make it").click()
    page.get_by_role("heading", name="seeds").first.wait_for()
    page.get_by_text("This is the beginning of").wait_for()
    page.get_by_role("button", name="Bob's corner").click()
    page.get_by_role("menuitem", name="Make a channel").click()
    page.get_by_label("Name", exact=True).fill("questions")
    page.get_by_label("Forum: posts with answers").check()
    page.get_by_role("dialog").get_by_role("button", name="Make it").click()
    page.get_by_role("heading", name="questions").first.wait_for()
    is_fine(member)
    page.get_by_role("button", name="New post").click()
    page.get_by_label("Title").fill("When to sow?")
    page.get_by_label("Text", exact=True).fill("In March or in April?")
    is_fine(member)
    page.get_by_role("button", name="Post it").click()
    page.get_by_role("article").filter(has_text="In March or in April?").wait_for()
    page.get_by_role("button", name="Bob's corner").click()
    page.get_by_role("menuitem", name="Invite people").click()
    page.wait_for_function("() => document.querySelector('dialog input').value.includes('/invite/')")
    link = page.get_by_label("Invite link").input_value()
    is_fine(member)
    page.keyboard.press("Escape")

    guest: Member = visit(kind=Member, viewport=DESK, reduced_motion="reduce")
    guest.enters_as("carol", "/channels/@me")
    guest.button("Add a community").click()
    guest.page.get_by_role("menuitem", name="Join by an invite").click()
    guest.page.get_by_label("Invite", exact=True).fill(link)
    guest.page.get_by_role("dialog").get_by_role("button", name="Join").click()
    guest.page.get_by_role("heading", name="Bob's corner").first.wait_for()
    guest.page.get_by_role("button", name="Bob's corner").click()
    guest.page.get_by_role("menuitem", name="Leave the community").click()
    guest.page.get_by_role("dialog").get_by_role("button", name="Leave the community").click()
    expect(guest.page.get_by_role("link", name="Bob's corner")).to_have_count(0)
    expect(guest.page).to_have_url(re.compile("/channels/@me"))


def test_friends_and_a_conversation(visit: MakeVisitor) -> None:
    alice: Member = visit(kind=Member, viewport=DESK, reduced_motion="reduce")
    carol: Member = visit(kind=Member, viewport=PHONE, reduced_motion="reduce", has_touch=True, is_mobile=True)
    alice.enters_as("alice", "/channels/@me/friends")
    carol.enters_as("carol", "/channels/@me/friends")
    is_fine(alice)
    carol.page_fits()
    person = alice.home.call("GET", "/v1/users/@me", token=alice.home.person("carol")["token"])
    alice.page.get_by_label("Add a friend by the username").fill(f"carol#{person['discriminator']}")
    alice.button("Ask").click()
    alice.page.get_by_text("has been asked").wait_for()
    carol.page.get_by_role("tab", name="Requests").click()
    carol.page.get_by_role("button", name="Accept").first.wait_for()
    is_fine(carol)
    carol.button("Accept").click()
    carol.page.get_by_role("tab", name="All").click()
    carol.button("Message").click()
    carol.page.get_by_role("heading", name="Alice").first.wait_for()
    carol.page.locator("textarea.composer-field").fill("Hello")
    carol.button("Send").click()
    carol.page.get_by_role("article").filter(has_text="Hello").wait_for()
    carol.page_fits()
    carol.page_is_accessible("target-size")
    alice.page.get_by_role("link", name="Carol").click()
    alice.page.get_by_role("article").filter(has_text="Hello").wait_for()
    is_fine(alice)


def test_what_is_gone_under_the_reader(visit: MakeVisitor, talk: str) -> None:
    member: Member = visit(kind=Member, viewport=DESK, reduced_motion="reduce")
    member.enters_as("bob", talk)
    member.page.get_by_role("article").first.wait_for()
    home, alice = member.home, member.home.person("alice")
    _, _, guild_id, channel_id = talk.split("/")
    # Without leave to write, the field says so; what was written is kept.
    field = member.page.locator("textarea.composer-field")
    field.fill("half a thought")
    everyone = {"type": 0, "allow": "0", "deny": str(1 << 11)}
    home.call("PUT", f"/v1/channels/{channel_id}/permissions/{guild_id}", everyone, alice["token"])
    expect(field).to_be_disabled()
    home.call("PUT", f"/v1/channels/{channel_id}/permissions/{guild_id}", {**everyone, "deny": "0"}, alice["token"])
    expect(field).to_be_enabled()
    expect(field).to_have_value("half a thought")
    home.call("DELETE", f"/v1/channels/{channel_id}", None, alice["token"])
    member.page.get_by_text("That channel is not there").wait_for()
    home.call("POST", f"/v1/guilds/{guild_id}/delete", {"password": alice["password"]}, alice["token"])
    member.page.wait_for_url("**/channels/@me")


def test_a_session_that_ends_leads_to_sign_in_and_back(visit: MakeVisitor, talk: str, home: Instance) -> None:
    member: Member = visit(kind=Member, viewport=DESK, reduced_motion="reduce")
    session = home.call(
        "POST",
        "/v1/auth/login",
        {"email": home.person("bob")["email"], "password": home.person("bob")["password"]},
    )
    member.page.goto("/offline")
    script = "session => localStorage.setItem('session', JSON.stringify(session))"
    member.page.evaluate(script, {"token": session["token"], "name": "Bob"})
    member.page.goto(talk)
    member.page.get_by_role("article").first.wait_for()
    home.call("POST", "/v1/auth/logout", {}, session["token"])
    member.page.wait_for_url("**/login?next=*")
    bob = home.person("bob")
    member.fills(email=bob["email"], password=bob["password"])
    member.presses("Sign in")
    member.page.wait_for_url(f"**{talk}")
    member.page.get_by_role("article").first.wait_for()


def test_messages_are_forwarded_saved_and_reported(visit: MakeVisitor, talk: str, home: Instance) -> None:
    member: Member = visit(kind=Member, viewport=DESK, reduced_motion="reduce")
    member.enters_as("bob", talk)
    page = member.page
    first = page.get_by_role("article", name="Who has")
    first.wait_for()

    def chooses(name: str) -> None:
        first.click(button="right")
        page.get_by_role("menuitem", name=name, exact=True).click()

    chooses("Save for later")
    page.get_by_text("It is among your saved messages.").wait_for()
    chooses("Report")
    is_fine(member)
    page.get_by_label("What is wrong with it").select_option("scam")
    page.get_by_role("button", name="Report it").click()
    page.get_by_text("Thank you. It is reported.").wait_for()
    [report] = home.call("GET", "/v1/admin/reports", token=home.world["admin"]["token"])["reports"][:1]
    assert report["category"] == "scam"
    chooses("Forward")
    page.get_by_role("dialog").get_by_role("radio").first.wait_for()
    is_fine(member)
    page.get_by_label("To", exact=True).fill("general")
    page.get_by_role("radio").first.check()
    page.get_by_role("button", name="Forward it").click()
    page.get_by_text("It is forwarded.").wait_for()
    page.get_by_role("link", name="Conversations", exact=True).click()
    member.button("Saved messages").click()
    page.locator(".result").filter(has_text="tomato seed").wait_for()
    is_fine(member)
    page.get_by_role("link", name="Go to the message by Alice").click()
    page.wait_for_url(f"**{talk}/*")
    page.get_by_role("article", name="Who has").first.wait_for()


def test_a_server_that_breaks_the_connection_loses_nothing(visit: MakeVisitor, talk: str, home: Instance) -> None:
    """Sockets are closed, sessions ended and reads refused, while somebody else goes on talking."""
    member: Member = visit(kind=Member, viewport=DESK, reduced_motion="reduce")
    member.enters_as("alice", talk)
    member.page.get_by_role("article").first.wait_for()
    bob = home.person("bob")
    path = f"/v1/channels/{talk.split('/')[3]}/messages"
    alice_id = home.person("alice")["id"]
    said = []
    for action in ("drop", "reconnect", "invalid_session", "end_session", "drop"):
        said += [f"before {action} {len(said)}", f"after {action} {len(said)}"]
        home.call("POST", path, {"content": said[-2]}, bob["token"])
        home.call("POST", "/v1/_dev/faults", {"action": action, "target": {"user_id": alice_id}})
        home.call("POST", path, {"content": said[-1]}, bob["token"])
        member.page.get_by_role("article").filter(has_text=said[-1]).wait_for()
    texts = member.page.locator("article .text")
    member.until(lambda: [text for text in texts.all_inner_texts() if text in said] == said)


def test_a_message_that_was_not_sent_outlives_the_page(visit: MakeVisitor, talk: str) -> None:
    member: Member = visit(kind=Member, viewport=DESK, reduced_motion="reduce", service_worker=False)
    member.enters_as("bob", talk)
    page = member.page
    page.get_by_role("article").first.wait_for()

    def refuse(route: Route) -> None:
        if route.request.method == "POST":
            route.fulfill(status=503, json={"code": "SERVICE_UNAVAILABLE", "message": "Not now."})
        else:
            route.continue_()

    member.intercepts("**/messages", refuse)
    field = page.locator("textarea.composer-field")
    field.fill("Written before the reload")
    field.press("Enter")
    row = page.get_by_role("article").filter(has_text="Written before the reload")
    row.get_by_role("button", name="Send again").wait_for()
    page.unroute("**/messages")
    page.reload()
    expect(row).to_have_count(1)
    expect(row.get_by_role("button", name="Send again")).to_have_count(0)
    page.reload()
    row.wait_for()
    expect(row).to_have_count(1)
    # The refusals are this test's own.
    member.complaints = [one for one in member.complaints if "503" not in one]


def test_a_group_of_friends(visit: MakeVisitor) -> None:
    with instance() as home:
        alice, bob, carol = (home.person(name) for name in ("alice", "bob", "carol"))
        for friend in (bob, carol):
            path = "/v1/users/@me/relationships"
            home.call("POST", f"{path}/{friend['id']}", None, alice["token"])
            home.call("PUT", f"{path}/{alice['id']}", {}, friend["token"])
        member: Member = visit(home, kind=Member, viewport=DESK, reduced_motion="reduce")
        member.enters_as("alice", "/channels/@me")
        page = member.page
        member.button("New conversation").click()
        dialog = page.get_by_role("dialog")
        dialog.get_by_label("Search your friends").wait_for()
        is_fine(member)
        dialog.get_by_label("Search your friends").fill("bo")
        expect(dialog.get_by_role("checkbox")).to_have_count(1)
        dialog.get_by_role("checkbox").check()
        dialog.get_by_label("Search your friends").fill("")
        dialog.get_by_role("checkbox", name="carol").check()
        dialog.get_by_role("button", name="Begin").click()
        page.wait_for_url(re.compile(r"/channels/@me/\d+$"))
        member.button("More").click()
        page.get_by_role("menuitem", name="Change the group").wait_for()
        is_fine(member)
        page.get_by_role("menuitem", name="Change the group").click()
        dialog.get_by_label("Name of the group").wait_for()
        is_fine(member)
        dialog.get_by_label("Name of the group").fill("Seed *swap*")
        dialog.get_by_role("button", name="Save").click()
        page.get_by_role("heading", name="Seed *swap*", level=1).wait_for()
        channel_id = page.url.rsplit("/", 1)[1]
        group = home.call("GET", f"/v1/channels/{channel_id}", token=bob["token"])
        assert {one["id"] for one in group["recipients"]} == {alice["id"], carol["id"]}
        member.button("More").click()
        page.get_by_role("menuitem", name="Leave the group").click()
        dialog.get_by_role("button", name="Leave the group").click()
        page.get_by_text("No conversation yet.").wait_for()
        member.leaves()


def test_a_thread_is_followed_and_archived(visit: MakeVisitor, talk: str, home: Instance) -> None:
    token = home.person("alice")["token"]
    channel_id = talk.rsplit("/", 1)[1]
    thread = home.call("POST", f"/v1/channels/{channel_id}/threads", {"name": "Seeds", "type": 11}, token, **THREADS)
    member: Member = visit(kind=Member, viewport=DESK, reduced_motion="reduce")
    member.enters_as("alice", f"{talk.rsplit('/', 1)[0]}/{thread['id']}")
    page = member.page
    for does, then in (
        ("Stop following the thread", "Follow the thread"),
        ("Follow the thread", "Stop following the thread"),
        ("Archive the thread", "Open the thread again"),
        ("Open the thread again", "Archive the thread"),
    ):
        member.button("More").click()
        page.get_by_role("menuitem", name=does, exact=True).click()
        # The menu says what holds when it is opened.
        for _ in range(WAIT_MS // 100):
            member.button("More").click()
            page.get_by_role("menu").wait_for()
            found = page.get_by_role("menuitem", name=then, exact=True).count()
            page.keyboard.press("Escape")
            if found:
                break
            page.wait_for_timeout(100)
        assert found, then


def test_a_reply_quotes_without_signs_and_keeps_what_is_hidden(visit: MakeVisitor, talk: str, home: Instance) -> None:
    token = home.person("alice")["token"]
    messages = f"/v1/channels/{talk.rsplit('/', 1)[1]}/messages"
    first = home.call("POST", messages, {"content": "**Beans** ||are ripe||\n- `now` <t:0:R>"}, token)
    reference = {"message_id": first["id"], "channel_id": talk.rsplit("/", 1)[1], "type": 0}
    home.call("POST", messages, {"content": "Good!", "message_reference": reference}, token)
    member: Member = visit(kind=Member, viewport=DESK, reduced_motion="reduce")
    member.enters_as("alice", talk)
    reply = member.page.get_by_role("article").filter(has_text="Good!").locator(".reply")
    expect(reply).to_contain_text("Beans \u2588\u2588\u2588 now")
    expect(reply).not_to_contain_text("ripe")


def test_who_reacted(visit: MakeVisitor, talk: str) -> None:
    member: Member = visit(kind=Member, viewport=DESK, reduced_motion="reduce")
    member.enters_as("alice", talk)
    page = member.page
    page.get_by_role("article").filter(has_text="tomato").first.click(button="right")
    page.get_by_role("menuitem", name="Who reacted").click()
    dialog = page.get_by_role("dialog", name="Who reacted")
    expect(dialog.get_by_role("listitem")).to_have_text(["Bob"])
    is_fine(member)
    dialog.get_by_role("button", name="Close").click()
    expect(dialog).to_have_count(0)


def test_a_refused_message_says_why(visit: MakeVisitor, talk: str) -> None:
    member: Member = visit(kind=Member, viewport=DESK, reduced_motion="reduce", service_worker=False)
    member.enters_as("bob", talk)
    page = member.page
    page.get_by_role("article").first.wait_for()
    refusal = {"code": "CONTENT_BLOCKED", "message": "This word is not said here."}
    member.intercepts(
        "**/messages",
        lambda route: route.fulfill(status=403, json=refusal) if route.request.method == "POST" else route.continue_(),
    )
    field = page.locator("textarea.composer-field")
    field.fill("a word")
    field.press("Enter")
    row = page.get_by_role("article").filter(has_text="a word")
    expect(row).to_contain_text("This word is not said here.")
    row.get_by_role("button", name="Discard").click()
    expect(row).to_have_count(0)


def test_guilds_are_put_into_folders(visit: MakeVisitor, home: Instance) -> None:
    token = home.person("bob")["token"]
    names = ("Mornings", "Evenings")
    ids = {name: home.call("POST", "/v1/guilds", {"name": name}, token=token)["id"] for name in names}
    member: Member = visit(kind=Member, viewport=DESK, reduced_motion="reduce")
    member.enters_as("bob", f"/channels/{ids['Mornings']}")
    page = member.page
    rail = page.get_by_role("navigation", name="Communities")

    def chooses(tile: str, entry: str, *, is_asked: bool = False) -> None:
        rail.get_by_title(tile, exact=True).click(button="right")
        with page.expect_response(lambda answer: answer.request.method == "PATCH"):
            page.get_by_role("menuitem", name=entry).click()
            if is_asked:
                page.get_by_label("Name", exact=True).fill("Days")
                is_fine(member)
                page.get_by_role("dialog").get_by_role("button", name="Save").click()

    def folders() -> list[tuple[str, list[str]]]:
        kept = home.call("GET", "/v1/users/@me/settings", token=token)["guild_folders"]
        return [(one["name"], one["guild_ids"]) for one in kept if one["name"] is not None]

    chooses("Mornings", "Put into a new folder", is_asked=True)
    chooses("Evenings", "Into Days")
    assert folders() == [("Days", [ids["Mornings"], ids["Evenings"]])]
    head = rail.get_by_role("button", name="Days")
    head.click()
    rail.get_by_title("Evenings", exact=True).wait_for()
    is_fine(member)
    chooses("Mornings", "Take out of the folder")
    assert folders() == [("Days", [ids["Evenings"]])]
    chooses("Days", "Take all out")
    assert folders() == []
    expect(head).to_have_count(0)


def test_what_somebody_does_goes_away_by_itself(visit: MakeVisitor, home: Instance) -> None:
    member: Member = visit(kind=Member, viewport=DESK, reduced_motion="reduce")
    member.enters_as("bob", "/channels/@me")
    page = member.page
    page.get_by_role("region", name="Your account").get_by_role("button").first.click()
    page.get_by_role("menuitem", name="What you are doing").click()
    page.get_by_label("It stands below your name.").fill("Watering")
    page.get_by_label("It goes away after").select_option("1 hour")
    is_fine(member)
    with page.expect_response(lambda answer: answer.request.method == "PATCH") as changed:
        page.get_by_role("dialog").get_by_role("button", name="Save").click()
    custom = changed.value.json()["custom_status"]
    assert custom["text"] == "Watering"
    left = datetime.fromisoformat(custom["expires_at"]) - datetime.now(UTC)
    assert timedelta(minutes=50) < left <= timedelta(hours=1)


def test_a_reaction_that_comes_while_a_page_is_fetched_is_counted(visit: MakeVisitor, home: Instance) -> None:
    alice, carol = home.person("alice")["token"], home.person("carol")["token"]
    guild_id = home.world["guild_id"]
    body = {"name": "late", "type": 0}
    channel_id = home.call("POST", f"/v1/guilds/{guild_id}/channels", body, token=alice)["id"]
    path = f"/v1/channels/{channel_id}/messages"
    message_id = home.call("POST", path, {"content": "first things first"}, token=alice)["id"]
    member: Member = visit(kind=Member, viewport=DESK, reduced_motion="reduce", service_worker=False)
    member.enters_as("bob", f"/channels/{guild_id}/{home.world['channel_id']}")
    page = member.page

    def late(route: Route) -> None:
        """The page as it was before somebody reacted comes after the gateway has told of it."""
        answer = route.fetch()
        home.call("PUT", f"{path}/{message_id}/reactions/%F0%9F%8D%85/@me", token=carol)
        page.wait_for_timeout(500)
        route.fulfill(response=answer)

    member.intercepts(f"**{path}?**", late)
    page.get_by_role("link", name="late").click()
    article = page.get_by_role("article").filter(has_text="first things first")
    article.get_by_text("\N{TOMATO}").wait_for()


def test_an_emoji_that_no_font_draws_is_not_offered(visit: MakeVisitor, talk: str) -> None:
    member: Member = visit(kind=Member, viewport=DESK, reduced_motion="reduce")
    member.enters_as("bob", talk)
    told = """async (emoji) => {
        const { undrawn } = await import(`${document.body.dataset.client}/base/glyphs.js`);
        return [...(await undrawn(emoji))];
    }"""
    rows = json.loads((CLIENT / "emoji" / "en.json").read_text(encoding="utf-8"))
    known = [row[0] for group in rows.values() for row in group]
    unknown = ["\U0001fffe", "\U0003fffe", "\N{GRINNING FACE}\u200d\N{TOMATO}"]
    hidden = member.page.evaluate(told, known + unknown)
    assert [emoji for emoji in hidden if emoji in unknown] == unknown
    assert len(hidden) < len(known) / 20, "the font of this machine has nearly all of them"


def test_a_picture_that_moves_keeps_still_until_it_is_pointed_at(visit: MakeVisitor, talk: str) -> None:
    frames = [Image.new("RGB", (64, 48), colour) for colour in ("red", "green", "blue")]
    moving = io.BytesIO()
    frames[0].save(moving, "GIF", save_all=True, append_images=frames[1:], duration=100, loop=0)
    member: Member = visit(kind=Member, viewport=DESK, reduced_motion="reduce")
    member.enters_as("alice", talk)
    files = [{"name": "moves.gif", "mimeType": "image/gif", "buffer": moving.getvalue()}]
    member.page.locator("input[type=file]").first.set_input_files(files)  # type: ignore[arg-type]
    member.page.get_by_text("moves.gif").wait_for()
    member.page.locator("textarea").first.press("Enter")
    picture = member.page.locator(".picture img[src*='moves.gif']").last
    expect(picture).to_have_attribute("src", re.compile("animated=false"))
    picture.scroll_into_view_if_needed()
    expect(picture).to_have_js_property("naturalWidth", 64)
    picture.hover()
    expect(picture).to_have_attribute("src", re.compile("animated=true"))
    member.page.mouse.move(0, 0)
    expect(picture).to_have_attribute("src", re.compile("animated=false"))
