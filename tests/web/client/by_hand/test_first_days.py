"""What a member meets in the first days, by hand: signing in and where it leads, links, invites, menus of people and
channels, the way about on a telephone. Area: the web client as a whole."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Locator, expect

from chat.registries.audit_actions import AuditAction
from tests.web.browsing import Instance, instance
from tests.web.client.by_hand.test_first_minutes import Place, field_of
from tests.web.client.node import CLIENT
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
        expect(alice.page).to_have_url(f"{place.home.origin}{place.path}")
    alice.goes_to("/login?next=https://example.org/channels/1")  # nobody is sent to a stranger
    field_of(alice).wait_for()
    alice.goes_to("/login")
    alice.reads("You are signed in")
    expect(alice.page.locator("#password")).to_be_hidden()
    alice.page_is_accessible()
    alice.follows("Go on")
    field_of(alice).wait_for()
    expect(alice.page).to_have_url(f"{place.home.origin}{place.path}")
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


def test_links_of_this_instance_open_in_the_page_and_invites_have_cards(alice: Member, place: Place) -> None:
    call = place.home.call
    bees = call("POST", "/v1/guilds", {"name": "Beekeepers"}, place.bob["token"])
    channels = call("GET", f"/v1/guilds/{bees['id']}/channels", token=place.bob["token"])
    hive = next(one["id"] for one in channels if one["type"] == 0)
    invite = call("POST", f"/v1/channels/{hive}/invites", {}, place.bob["token"])["code"]
    other = call("POST", f"/v1/guilds/{place.guild_id}/channels", {"name": "other", "type": 0}, place.alice["token"])
    seeds = call("POST", f"/v1/channels/{other['id']}/messages", {"content": "the seeds"}, place.bob["token"])
    here, number = place.home.origin, f"http://127.0.0.1:{place.home.port}"
    there = f"/channels/{place.guild_id}/{other['id']}"
    place.says(place.bob, f"one {here}{there}/{seeds['id']} two {number}{there} three [named]({here}/channels/1/2)")
    place.says(place.bob, f"join {here}/invite/{invite} or {here}/invite/nonesuch")
    # What is encoded wrongly leads nowhere, and hides no message.
    place.says(place.bob, f"join {here}/invite/%zz")
    alice.enters_as("alice", place.path)
    pages = len(alice.context.pages)
    alice.page.get_by_role("link", name="A message in #other").click()
    alice.page.get_by_role("article").filter(has_text="the seeds").wait_for()
    alice.page.go_back()
    alice.page.get_by_role("link", name="#other", exact=True).last.click()
    alice.arrives_at(there)
    alice.page.go_back()
    alice.page.get_by_role("link", name="named").click()
    alice.is_told("not there")
    alice.arrives_at(place.path)
    expect(alice.page.get_by_text("This invite leads nowhere any more.")).to_have_count(2)
    alice.page.get_by_role("link", name="%zz").click()
    alice.is_told("leads nowhere")
    alice.page_is_accessible()
    alice.page.get_by_role("link", name=f"{here}/invite/{invite}").click()
    alice.page.get_by_role("dialog").get_by_role("button", name="Cancel").click()
    alice.button("Join: Beekeepers").click()
    alice.page.wait_for_url(re.compile(f"/channels/{bees['id']}"))
    alice.goes_to(place.path)
    alice.button("Open: Beekeepers").click()
    alice.page.wait_for_url(re.compile(f"/channels/{bees['id']}"))
    assert len(alice.context.pages) == pages


def test_the_switcher_finds_members_and_brings_rows_into_view(visit: MakeVisitor, place: Place) -> None:
    for number in range(30):
        channel = {"name": f"plot {number:02}", "type": 0}
        place.home.call("POST", f"/v1/guilds/{place.guild_id}/channels", channel, place.alice["token"])
    member: Member = visit(kind=Member, viewport={"width": 1280, "height": 480}, reduced_motion="reduce")
    member.enters_as("alice", place.path)
    expect(member.page.locator(".channel-link[aria-current]")).to_be_in_viewport()
    member.page.keyboard.press("Control+k")
    member.page.keyboard.type("plot")
    member.page.get_by_role("option").nth(11).wait_for()
    for _ in range(11):
        member.page.keyboard.press("ArrowDown")
    expect(member.page.get_by_role("option", selected=True)).to_be_in_viewport(ratio=1)
    expect(member.page.get_by_role("combobox")).to_be_in_viewport(ratio=1)
    member.page.keyboard.press("Enter")
    expect(member.page.locator(".channel-link[aria-current]")).to_be_in_viewport()
    member.page.keyboard.press("Control+k")
    member.page.keyboard.type("caro")
    member.page.get_by_role("option").filter(has_text="carol").wait_for()
    member.page.keyboard.press("Enter")
    member.page.wait_for_url(re.compile(r"/channels/@me/\d+$"))


class Finger:
    """One finger on a telephone, by the browser's own input."""

    def __init__(self, member: Member) -> None:
        self._page = member.page
        self._session = member.context.new_cdp_session(member.page)

    def _touches(self, kind: str, *points: tuple[float, float]) -> None:
        touched = [{"x": x, "y": y} for x, y in points]
        self._session.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": touched})

    def goes(self, start: tuple[float, float], x: float) -> None:
        """Across, at the height where it begins."""
        self._touches("touchStart", start)
        for step in range(1, 11):
            self._touches("touchMove", (start[0] + (x - start[0]) * step / 10, start[1]))
        self._touches("touchEnd")

    def rests_on(self, target: Locator) -> None:
        """Until a menu is there."""
        target.click(trial=True)  # it stands still, and nothing covers it
        box = target.bounding_box()
        assert box is not None
        self._touches("touchStart", (box["x"] + box["width"] / 2, box["y"] + box["height"] / 2))
        self._page.get_by_role("menu").wait_for()
        self._touches("touchEnd")
        self._page.get_by_role("menu").wait_for()


def test_a_finger_brings_the_list_and_the_menus(visit: MakeVisitor, place: Place) -> None:
    place.says(place.bob, "hello")
    member: Member = visit(kind=Member, viewport=PHONE, reduced_motion="reduce", has_touch=True, is_mobile=True)
    member.enters_as("alice", "/channels/@me")
    member.page.goto(place.path)
    row = member.page.get_by_role("article").filter(has_text="hello")
    row.wait_for()
    finger = Finger(member)
    finger.rests_on(row)
    member.page.get_by_role("menuitem", name="Reply").click()
    member.page.get_by_text("You reply to Bob").wait_for()
    finger.goes((40, 300), 260)
    channel = member.page.locator(f".channel-link[href='{place.path}']")
    expect(channel).to_be_in_viewport()
    member.arrives_at(place.path)
    finger.rests_on(channel)
    member.page.get_by_role("menuitem", name="Mark as read").wait_for()
    member.page.keyboard.press("Escape")
    member.arrives_at(place.path)


def test_the_menu_of_a_person_is_the_same_wherever_the_person_is_shown(alice: Member, place: Place) -> None:
    call, token = place.home.call, place.alice["token"]
    call("POST", f"/v1/guilds/{place.guild_id}/roles", {"name": "gardener"}, token)
    conversation = call("POST", "/v1/users/@me/channels", {"recipient_id": place.carol["id"]}, token)
    place.says(place.bob, f"hello <@{place.carol['id']}>")
    alice.enters_as("alice", place.path)
    page, item = alice.page, alice.page.get_by_role("menuitem")
    row = page.get_by_role("article").filter(has_text="hello @carol")
    row.locator(".author").click(button="right")
    expect(item).to_have_text(
        [
            *("Profile", "Mention", "Message", "Write a note", "Notifications", "Nickname", "Roles"),
            *("Add as a friend", "Block", "Apps", "Copy the id", "Time out", "Kick", "Ban"),
        ]
    )
    alice.page_is_accessible()
    item.filter(has_text="Mention").click()
    expect(field_of(alice)).to_have_value("@Bob ")
    field_of(alice).fill("")
    row.locator("button.mention").click(button="right")
    item.filter(has_text="Nickname").click()
    page.get_by_label("Nickname", exact=True).fill("Caro")
    page.get_by_role("dialog").get_by_role("button", name="Save").click()
    page.get_by_role("dialog").wait_for(state="detached")
    member = page.locator("button.member").filter(has_text="Caro")
    member.focus()
    page.keyboard.press("ContextMenu")
    item.filter(has_text="Roles").click()
    page.get_by_role("checkbox", name="gardener").check()
    page.get_by_role("dialog").get_by_role("button", name="Save").click()
    expect(page.get_by_role("dialog")).to_have_count(0)
    carol = f"/v1/guilds/{place.guild_id}/members/{place.carol['id']}"
    alice.until(lambda: len(call("GET", carol, token=token)["roles"]) == 1)
    assert call("GET", carol, token=token)["nick"] == "Caro"
    page.locator("button.member").filter(has_text="Alice").click(button="right")
    expect(item).to_have_text(["Profile", "Mention", "Nickname", "Roles", "Apps", "Copy the id"])
    page.keyboard.press("Escape")
    page.goto("/channels/@me/friends")
    page.locator(f".channel-link[href='/channels/@me/{conversation['id']}']").click(button="right")
    item.filter(has_text="The person").click()
    item.filter(has_text="Write a note").click()
    page.get_by_label("Note (only you see it)").fill("grows leeks")
    page.get_by_role("dialog").get_by_role("button", name="Save").click()
    expect(page.get_by_role("dialog")).to_have_count(0)
    alice.until(lambda: call("GET", "/v1/users/@me/notes", token=token) == {place.carol["id"]: "grows leeks"})
    call("POST", f"/v1/users/@me/relationships/{place.carol['id']}", {}, token)
    page.get_by_role("tab", name=re.compile("Requests")).click()
    page.locator(".friend button.member").click(button="right")
    item.filter(has_text="Take the request back").click()
    expect(page.locator(".friend")).to_have_count(0)


def test_who_may_little_is_offered_little(visit: MakeVisitor, place: Place) -> None:
    place.says(place.alice, "hello")
    bob: Member = visit(kind=Member, viewport=DESK, reduced_motion="reduce")
    bob.enters_as("bob", place.path)
    bob.page.get_by_role("article").filter(has_text="hello").locator(".author").click(button="right")
    expect(bob.page.get_by_role("menuitem")).to_have_text(
        [
            *("Profile", "Mention", "Message", "Write a note", "Notifications"),
            *("Add as a friend", "Block", "Apps", "Copy the id"),
        ]
    )


def test_the_audit_log_says_which_and_what_and_can_be_asked(alice: Member, place: Place) -> None:
    call, token, guild = place.home.call, place.alice["token"], f"/v1/guilds/{place.guild_id}"
    role = call("POST", f"{guild}/roles", {"name": "gardener"}, token)["id"]
    call("PATCH", f"{guild}/roles/{role}", {"name": "head gardener", "permissions": "2048"}, token)
    change = {"name": "seeds", "topic": "all seeds", "rate_limit_per_user": 5, "nsfw": True}
    call("PATCH", f"/v1/channels/{place.channel_id}", change, token)
    overwrite = {"type": 0, "allow": "1024", "deny": "2048"}
    call("PUT", f"/v1/channels/{place.channel_id}/permissions/{role}", overwrite, token)
    call("PATCH", f"{guild}/members/{place.bob['id']}", {"roles": [role]}, token)
    call("PATCH", f"{guild}/members/@me", {"nick": "Bobby"}, place.bob["token"])
    call("DELETE", f"{guild}/members/{place.carol['id']}", None, token, **{"X-Audit-Log-Reason": "rude"})
    alice.enters_as("alice", f"/channels/{place.guild_id}/settings/audit_log")
    rows = alice.page.locator(".audit-rows > li")
    for line, *changes in (
        ("Alice kicked Carol", "Reason: rude"),
        ("Bob changed the member Bob", "Nickname: Bobby"),
        ("Alice changed the roles of Bob", "Given: head gardener"),
        ("Alice gave special permissions in #seeds for head gardener", "Allowed: See channels"),
        ("Alice gave special permissions in #seeds for head gardener", "Forbidden: Write messages"),
        ("Alice changed the channel #seeds", "Name: general → seeds", "Topic: all seeds"),
        ("Alice changed the channel #seeds", "Slow mode: 5 seconds", "For adults only: no → yes"),
        ("Alice changed the role head gardener", "Name: gardener → head gardener", "Permissions: Write messages"),
    ):
        row = rows.filter(has=alice.page.locator(".audit-line", has_text=line))
        for part in changes:
            expect(row).to_contain_text(part)
    alice.page_is_accessible()
    alice.page.get_by_label("By", exact=True).select_option("Bob")
    expect(rows).to_have_count(1)
    alice.page.get_by_label("By", exact=True).select_option("Everybody")
    alice.page.get_by_label("Action", exact=True).select_option("changed the role")
    expect(rows).to_have_count(1)
    alice.page.set_viewport_size({"width": 360, "height": 740})
    alice.page_fits()


def test_every_action_of_the_audit_log_has_words() -> None:
    script = (CLIENT / "areas/guild/audit_log.js").read_text("utf-8")
    said = {int(number) for number in re.findall(r"^  (\d+): \(\) => t\(", script, re.MULTILINE)}
    assert {int(action) for action in AuditAction} <= said


def test_channels_and_roles_are_put_in_order_and_what_is_new_out_of_sight_is_told(alice: Member, place: Place) -> None:
    call, token, guild = place.home.call, place.alice["token"], f"/v1/guilds/{place.guild_id}"
    plots = [call("POST", f"{guild}/channels", {"name": f"plot {n}", "type": 0}, token)["id"] for n in range(30)]
    roles = [call("POST", f"{guild}/roles", {"name": name}, token)["id"] for name in ("one", "two", "three")]
    call("POST", f"/v1/channels/{plots[0]}/messages", {"content": "early"}, place.bob["token"])
    call("POST", f"/v1/channels/{plots[28]}/messages", {"content": f"<@{place.alice['id']}>"}, place.bob["token"])

    def order() -> list[int]:
        found = call("GET", f"{guild}/channels", token=token)
        places = {one["id"]: one["position"] for one in found}
        return sorted(range(30), key=lambda number: places[plots[number]])

    alice.enters_as("alice", f"/channels/{place.guild_id}/{plots[14]}")
    page = alice.page

    def link(number: int) -> Locator:
        return page.locator(f".channel-link[data-channel='{plots[number]}']")

    expect(link(28)).not_to_be_in_viewport()
    alice.page_is_accessible()
    alice.button("New below").click()
    expect(link(28)).to_be_in_viewport()
    expect(link(28)).to_be_focused()
    expect(link(0)).not_to_be_in_viewport()
    with page.expect_response(lambda answer: answer.request.method == "PATCH"):
        for key in ("Shift+Space", "ArrowUp", "ArrowUp", "Shift+Space"):
            page.keyboard.press(key)
    expect(page.locator(".channels > li").nth(26)).to_contain_text("plot-28")
    with page.expect_response(lambda answer: answer.request.method == "PATCH"):
        link(25).drag_to(link(22), target_position={"x": 60, "y": 3})
    expect(page.locator(".channels > li").nth(22)).to_contain_text("plot-25")
    alice.until(lambda: order()[20:] == [20, 21, 25, 22, 23, 24, 28, 26, 27, 29])
    alice.button("New above").click()
    expect(link(0)).to_be_in_viewport()
    page.goto(f"/channels/{place.guild_id}/settings/roles")
    names = page.locator(".role-list li .clip")
    expect(names).to_have_text(["one", "two", "three", "Everybody"])
    role = page.locator(f"[data-key='{roles[0]}']")
    with page.expect_response(lambda answer: answer.request.method == "PATCH"):
        role.drag_to(page.locator(f"[data-key='{roles[2]}']"), target_position={"x": 60, "y": 3})
    expect(names).to_have_text(["two", "one", "three", "Everybody"])
    role.focus()
    for key in ("Shift+Space", "ArrowDown", "Shift+Space"):
        page.keyboard.press(key)
    expect(names).to_have_text(["two", "three", "one", "Everybody"])


def test_a_channel_is_edited_and_closed_where_it_stands(alice: Member, visit: MakeVisitor, place: Place) -> None:
    call, token, guild = place.home.call, place.alice["token"], f"/v1/guilds/{place.guild_id}"
    role = call("POST", f"{guild}/roles", {"name": "gardener"}, token)["id"]
    call("PATCH", f"{guild}/members/{place.bob['id']}", {"roles": [role]}, token)
    carol: Member = visit(kind=Member, viewport=DESK, reduced_motion="reduce")
    carol.enters_as("carol", place.path)
    alice.enters_as("alice", place.path)
    page, item, dialog = alice.page, alice.page.get_by_role("menuitem"), alice.page.get_by_role("dialog")
    channel = page.locator(f".channel-link[href='{place.path}']")
    for is_private in (True, False):
        channel.click(button="right")
        item.filter(has_text="Who sees it").click()
        page.get_by_label("Private channel").set_checked(is_private)
        if is_private:
            page.get_by_label("gardener").check()
            alice.page_is_accessible()
        dialog.get_by_role("button", name="Save").click()
        expect(dialog).to_have_count(0)
        expect(carol.page.locator(f".channel-link[href='{place.path}']")).to_have_count(0 if is_private else 1)
        call("GET", f"/v1/channels/{place.channel_id}/messages", token=place.bob["token"])
    channel.click(button="right")
    item.filter(has_text="Edit the channel").click()
    expect(page.locator("#channel-title")).to_have_value("general")
    page.go_back()
    page.get_by_role("button", name="Make a channel in Text Channels").click()
    page.get_by_label("Name", exact=True).fill("shed")
    page.get_by_label("Private channel").check()
    page.get_by_role("button", name="Make", exact=False).last.click()
    page.locator(".channel-link").filter(has_text="shed").wait_for()
    assert all(one["name"] != "shed" for one in call("GET", f"{guild}/channels", token=place.carol["token"]))


def test_nothing_of_a_channel_for_adults_is_loaded_before_the_answer(visit: MakeVisitor, place: Place) -> None:
    call, token = place.home.call, place.alice["token"]
    other = call("POST", f"/v1/guilds/{place.guild_id}/channels", {"name": "late", "type": 0, "nsfw": True}, token)
    call("PATCH", f"/v1/channels/{place.channel_id}", {"nsfw": True}, token)
    place.says(place.alice, "only for adults")
    member: Member = visit(kind=Member, viewport=PHONE, reduced_motion="reduce", has_touch=True, is_mobile=True)
    member.enters_as("alice", place.path)
    member.reads("general")
    member.button("I am an adult: enter").wait_for()
    member.page_is_accessible()
    member.page_fits()
    assert not [address for address in member.addresses if "/v1/channels/" in address and "/messages" in address]
    member.button("Go back").click()
    member.page.locator(f".channel-link[href='{place.path}']").click()
    member.button("I am an adult: enter").click()
    member.page.get_by_role("article").filter(has_text="only for adults").wait_for()
    member.page.goto(f"/channels/{place.guild_id}/{other['id']}")
    field_of(member).wait_for()


def test_signing_out_stands_where_one_looks_and_files_are_chosen_in_ones_language(alice: Member, place: Place) -> None:
    alice.goes_to("/offline")
    alice.page.evaluate("localStorage.setItem('language', 'de')")
    alice.enters_as("alice", place.path)
    alice.page.locator(".panel-me").click()
    alice.page.get_by_role("menuitem", name="Hier abmelden").click()
    alice.page.get_by_role("dialog").get_by_role("button", name="Abbrechen").click()
    alice.button("Community hinzufügen").click()
    alice.page.get_by_role("menuitem").first.click()
    dialog = alice.page.get_by_role("dialog")
    with alice.page.expect_file_chooser() as asked:
        dialog.get_by_role("button", name="Datei wählen").click()
    asked.value.set_files({"name": "leaf.png", "mimeType": "image/png", "buffer": b"leaf"})
    dialog.get_by_text("leaf.png").wait_for()
    alice.page_is_accessible()
    alice.goes_to("/settings")
    alice.reads("Einstellungen")
    expect(alice.page).to_have_url(re.compile(r"/settings\?lang=de$"))
