"""The settings of a guild in the web client: each page is accessible, does what it says, and is saved. Area: guilds, as
their members see them."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, Final

from PIL import Image
from playwright.sync_api import expect

from tests.web.browsing import Instance, instance
from tests.web.client.test_shell import DESK, PHONE, THREADS, Member, is_fine, talk
from tests.web.conftest import MakeVisitor

__all__ = ["talk"]

PAGES: Final = (
    "Overview",
    "Roles",
    "Channels",
    "Members",
    "Invites",
    "Emoji",
    "Bots",
    "Bans",
    "Audit log",
    "Webhooks",
    "Ownership",
)


def guild_of(talk: str) -> str:
    return talk.split("/")[2]


def opens(member: Member, page: str) -> None:
    """One page of the settings."""
    member.page.get_by_role("navigation").get_by_role("link", name=page, exact=True).click()
    member.page.get_by_role("heading", name=page, exact=True, level=1).wait_for()


def saves(member: Member) -> None:
    """What was changed is saved, and the bar goes."""
    save = member.page.get_by_role("button", name="Save", exact=True)
    save.click()
    expect(save).to_be_hidden()


def listed(home: Instance, path: str) -> Any:
    return home.call("GET", path, token=home.person("alice")["token"])


def test_every_page_can_be_read(visit: MakeVisitor, talk: str) -> None:
    member: Member = visit(kind=Member, viewport=DESK, reduced_motion="reduce")
    member.enters_as("alice", f"/channels/{guild_of(talk)}/settings")
    for page in PAGES:
        opens(member, page)
        is_fine(member)
    phone: Member = visit(kind=Member, viewport=PHONE, reduced_motion="reduce", has_touch=True, is_mobile=True)
    phone.enters_as("alice", f"/channels/{guild_of(talk)}/settings")
    for page in PAGES:
        opens(phone, page)
        phone.page_fits()
        phone.page_is_accessible("target-size")
        phone.page.get_by_role("button", name="To the list of pages").click()


def test_who_may_not_sees_no_page(visit: MakeVisitor, talk: str) -> None:
    member: Member = visit(kind=Member, viewport=DESK)
    member.enters_as("bob", talk)
    member.page.locator(".side-head").click()
    member.page.get_by_role("menu").wait_for()
    expect(member.page.get_by_role("menuitem", name="Settings of the community")).to_have_count(0)


def test_name_roles_and_members(visit: MakeVisitor, talk: str, home: Instance) -> None:
    guild_id = guild_of(talk)
    member: Member = visit(kind=Member, viewport=DESK, reduced_motion="reduce")
    member.enters_as("alice", f"/channels/{guild_id}/settings/overview")
    page = member.page
    page.get_by_label("Name", exact=True).fill("Beds")
    saves(member)
    assert listed(home, f"/v1/guilds/{guild_id}")["name"] == "Beds"
    page.get_by_label("Name", exact=True).fill("Something else")
    page.get_by_role("button", name="Undo").click()
    expect(page.get_by_label("Name", exact=True)).to_have_value("Beds")

    opens(member, "Roles")
    for name in ("Gardeners", "Guests"):
        page.get_by_role("button", name="Make a role").click()
        expect(page.get_by_label("Name", exact=True)).to_have_value("new role")
        page.get_by_label("Name", exact=True).fill(name)
        page.get_by_label("Names have a colour").check()
        page.get_by_label("Kick members").check()
        saves(member)
    roles = {role["name"]: role for role in listed(home, f"/v1/guilds/{guild_id}/roles")}
    assert int(roles["Gardeners"]["permissions"]) & 2
    assert roles["Gardeners"]["color"] != 0
    lower = min(("Gardeners", "Guests"), key=lambda name: roles[name]["position"])
    page.get_by_role("button", name=f"Move {lower} up").click()
    expect(page.locator(".role-list li").first).to_contain_text(lower)

    opens(member, "Members")
    row = page.get_by_role("listitem").filter(has_text="Bob")
    row.get_by_role("button", name="Roles").click()
    page.get_by_role("dialog").get_by_label("Gardeners").check()
    page.get_by_role("dialog").get_by_role("button", name="Save").click()
    expect(row).to_contain_text("Gardeners")
    bob = listed(home, f"/v1/guilds/{guild_id}/members/{home.person('bob')['id']}")
    assert bob["roles"] == [roles["Gardeners"]["id"]]
    opens(member, "Audit log")
    page.locator(".audit-line").filter(has_text="changed the roles of").wait_for()


def test_channels_and_what_is_otherwise_there(visit: MakeVisitor, talk: str, home: Instance) -> None:
    guild_id, channel_id = talk.split("/")[2:]
    member: Member = visit(kind=Member, viewport=DESK, reduced_motion="reduce")
    member.enters_as("alice", f"/channels/{guild_id}/settings/channels")
    page = member.page
    page.locator(".role-list").get_by_role("button", name="general", exact=True).click()
    page.get_by_label("Topic").fill("Seeds & soil")
    page.get_by_label("Slow mode", exact=True).select_option("10")
    saves(member)
    channel = listed(home, f"/v1/channels/{channel_id}")
    assert (channel["topic"], channel["rate_limit_per_user"]) == ("Seeds & soil", 10)
    page.get_by_label("Write messages").select_option("deny")
    row = page.locator(".overwrite-row").filter(has_text="Write messages")
    expect(row).to_contain_text("may not")
    [overwrite] = listed(home, f"/v1/channels/{channel_id}")["permission_overwrites"]
    assert (overwrite["id"], int(overwrite["deny"])) == (guild_id, 1 << 11)
    page.get_by_label("Write messages").select_option("none")
    expect(row).not_to_contain_text("may not")


def test_emoji_invites_and_bans(visit: MakeVisitor, talk: str, home: Instance, tmp_path: Path) -> None:
    guild_id = guild_of(talk)
    bob = home.person("bob")
    home.call("PUT", f"/v1/guilds/{guild_id}/bans/{bob['id']}", {}, home.person("alice")["token"])
    member: Member = visit(kind=Member, viewport=DESK, reduced_motion="reduce")
    member.enters_as("alice", f"/channels/{guild_id}/settings/emoji")
    page = member.page
    Image.new("RGB", (64, 64), (60, 130, 80)).save(tmp_path / "green leaf.png")
    page.get_by_label("Picture", exact=True).set_input_files(str(tmp_path / "green leaf.png"))
    expect(page.get_by_label("Name", exact=True)).to_have_value("green_leaf")
    member.button("Add the emoji").click()
    page.get_by_text(":green_leaf:").wait_for()
    is_fine(member)
    member.button("Remove green_leaf").click()
    expect(page.get_by_text(":green_leaf:")).to_have_count(0)
    opens(member, "Invites")
    remove = page.get_by_role("button", name="Remove the invite")
    remove.click()
    page.get_by_text("No invite holds just now.").wait_for()
    opens(member, "Bans")
    member.button("Lift the ban of Bob").click()
    page.get_by_text("Nobody is banned.").wait_for()
    assert listed(home, f"/v1/guilds/{guild_id}/bans") == []


def test_a_sticker_is_made_and_sent(visit: MakeVisitor, talk: str, home: Instance, tmp_path: Path) -> None:
    guild_id = guild_of(talk)
    member: Member = visit(kind=Member, viewport=DESK, reduced_motion="reduce")
    member.enters_as("alice", f"/channels/{guild_id}/settings/stickers")
    page = member.page
    Image.new("RGB", (320, 320), (60, 130, 80)).save(tmp_path / "Leaf.png")
    page.get_by_label("Picture", exact=True).set_input_files(str(tmp_path / "Leaf.png"))
    member.button("Add the sticker").click()
    member.button("Remove Leaf").wait_for()
    is_fine(member)
    page.goto(talk)
    member.button("Send a sticker").click()
    page.get_by_role("gridcell", name="Leaf").first.wait_for()
    is_fine(member)
    page.get_by_label("Search stickers").fill("lea")
    page.get_by_label("Search stickers").press("ArrowDown")
    page.keyboard.press("Enter")
    sent = page.get_by_role("article").filter(has=page.get_by_role("img", name="Leaf"))
    expect(sent).to_have_count(1)
    channel_id = talk.rsplit("/", 1)[1]
    newest = listed(home, f"/v1/channels/{channel_id}/messages")[0]
    assert [one["name"] for one in newest["stickers"]] == ["Leaf"]


def test_webhooks_and_the_end(visit: MakeVisitor, talk: str, home: Instance) -> None:
    guild_id = guild_of(talk)
    member: Member = visit(kind=Member, viewport=DESK, reduced_motion="reduce")
    member.enters_as("alice", f"/channels/{guild_id}/settings/webhooks")
    page = member.page
    page.get_by_label("Name", exact=True).fill("Weather")
    member.button("Make the webhook").click()
    # No page may read the clipboard, nor may this test.
    page.evaluate("() => { navigator.clipboard.writeText = async (text) => void (window.copied = text); }")
    member.button("Copy the address of Weather").click()
    page.get_by_text("The address is copied.").wait_for()
    address = page.evaluate("() => window.copied")
    assert address.startswith(f"{home.origin}/v1/webhooks/")
    home.call("POST", address.removeprefix(home.origin), {"content": "Rain at noon"})
    member.button("Remove the webhook Weather").click()
    page.get_by_text("There is no webhook.").wait_for()

    opens(member, "Ownership")
    page.get_by_label("Member", exact=True).fill("bob")
    page.get_by_role("main").get_by_role("button", name="Search").click()
    page.get_by_role("button", name="Hand it over to Bob").click()
    page.get_by_role("dialog").wait_for()
    is_fine(member)
    page.get_by_role("dialog").get_by_role("button", name="Cancel").click()
    member.button("Delete the community").click()
    page.get_by_role("dialog").get_by_role("button", name="Delete the community").click()
    page.get_by_label("Password").fill(home.person("alice")["password"])
    page.keyboard.press("Enter")
    page.wait_for_url("**/channels/@me")
    assert guild_id not in [guild["id"] for guild in listed(home, "/v1/users/@me/guilds")]


def test_a_community_is_found_and_joined(visit: MakeVisitor) -> None:
    with instance(CHAT_DISCOVERY__MINIMUM_MEMBERS="1") as home:
        alice, admin = home.person("alice"), home.world["admin"]["token"]
        guild_id = home.call("POST", "/v1/guilds", {"name": "Garden club"}, alice["token"])["id"]
        member: Member = visit(home, kind=Member, viewport=DESK, reduced_motion="reduce")
        member.enters_as("alice", f"/channels/{guild_id}/settings/discovery")
        page = member.page
        page.get_by_text("This community is not in discovery.").wait_for()
        page.get_by_label("About", exact=True).select_option(label="Education")
        page.get_by_label("What the community is about").fill("Seeds, soil and slugs")
        is_fine(member)
        member.button("Apply").click()
        page.get_by_text("The administrators look at your application.").wait_for()
        home.call("POST", f"/v1/admin/discovery/applications/{guild_id}/approve", {}, admin)
        guest: Member = visit(home, kind=Member, viewport=PHONE, reduced_motion="reduce", has_touch=True)
        guest.enters_as("bob", "/channels/@me")
        guest.button("Add a community").click()
        guest.page.get_by_role("menuitem", name="Find a community").click()
        dialog = guest.page.get_by_role("dialog")
        dialog.get_by_text("1 community", exact=True).wait_for()
        is_fine(guest)
        guest.page_fits()
        dialog.get_by_label("About", exact=True).select_option(label="Music")
        dialog.get_by_text("No community is found.").wait_for()
        dialog.get_by_label("About", exact=True).select_option(label="Education")
        dialog.get_by_label("Search communities").fill("slugs")
        dialog.get_by_role("button", name="Join Garden club").click()
        guest.page.get_by_role("heading", name="Garden club").first.wait_for()
        page.reload()
        page.get_by_label("What the community is about").fill("Seeds, soil and snails")
        with page.expect_response(lambda answer: answer.request.method == "PATCH"):
            member.button("Save").click()
        standing = home.call("GET", f"/v1/guilds/{guild_id}/discovery", token=alice["token"])
        assert standing["application"]["description"] == "Seeds, soil and snails"
        member.button("Leave discovery").click()
        page.get_by_text("This community is not in discovery.").or_(page.get_by_text("out of discovery")).wait_for()
        member.leaves()
        guest.leaves()


def test_a_custom_code(visit: MakeVisitor, talk: str, home: Instance) -> None:
    guild_id, admin = guild_of(talk), home.world["admin"]["token"]
    home.call("PATCH", f"/v1/admin/guilds/{guild_id}", {"add_features": ["VANITY_URL"]}, admin)
    member: Member = visit(kind=Member, viewport=DESK, reduced_motion="reduce")
    member.enters_as("alice", f"/channels/{guild_id}/settings/invites")
    page = member.page
    page.get_by_label("Custom code").fill("plots")
    member.button("Save").click()
    page.get_by_text("The code is kept.").wait_for()
    is_fine(member)
    assert home.call("GET", "/v1/invites/plots")["guild"]["id"] == guild_id
    page.reload()
    expect(page.get_by_label("Custom code")).to_have_value("plots")


def test_tags_of_a_forum(visit: MakeVisitor, talk: str, home: Instance) -> None:
    guild_id, token = guild_of(talk), home.person("alice")["token"]
    body = {"name": "questions", "type": 15, "available_tags": [{"name": "Seeds"}, {"name": "Soil"}]}
    forum = home.call("POST", f"/v1/guilds/{guild_id}/channels", body, token, **THREADS)
    seeds = next(tag["id"] for tag in forum["available_tags"] if tag["name"] == "Seeds")
    member: Member = visit(kind=Member, viewport=DESK, reduced_motion="reduce")
    member.enters_as("alice", f"/channels/{guild_id}/settings/channels")
    page = member.page
    page.get_by_role("button", name="questions", exact=True).click()
    tags = page.get_by_label("Tags of posts")
    expect(tags).to_have_value("Seeds\nSoil")
    tags.fill("Slugs\n\n Seeds ")
    is_fine(member)
    member.button("Save").click()
    expect(page.get_by_role("button", name="Save", exact=True)).to_be_hidden()
    kept = home.call("GET", f"/v1/channels/{forum['id']}", token=token, **THREADS)["available_tags"]
    assert [tag["name"] for tag in kept] == ["Slugs", "Seeds"]
    assert kept[1]["id"] == seeds, "posts keep the tag"


def test_a_community_begins_with_a_template(visit: MakeVisitor, home: Instance) -> None:
    member: Member = visit(kind=Member, viewport=PHONE, reduced_motion="reduce", has_touch=True)
    member.enters_as("alice", "/channels/@me")
    page = member.page
    member.button("Add a community").click()
    page.get_by_role("menuitem", name="Make a community").click()
    dialog = page.get_by_role("dialog")
    for kind in ("A club", "A course", "An open project"):
        option = dialog.get_by_role("option").filter(has_text=kind)
        dialog.get_by_label("Begin with").select_option(value=option.get_attribute("value"))
    is_fine(member)
    member.page_fits()
    dialog.get_by_label("Name", exact=True).fill("Open seeds")
    dialog.get_by_role("button", name="Make it").click()
    page.wait_for_url(re.compile(r"/channels/\d+"))
    guilds = listed(home, "/v1/users/@me/guilds")
    guild_id = next(guild["id"] for guild in guilds if guild["name"] == "Open seeds")
    channels = listed(home, f"/v1/guilds/{guild_id}/channels")
    assert {one["name"] for one in channels} >= {"Welcome", "Work", "Talk", "news", "questions", "ideas", "Room"}
    news = next(one for one in channels if one["name"] == "news")
    assert {(one["id"] == guild_id, int(one["deny"]) > 0) for one in news["permission_overwrites"]} == {
        (True, True),
        (False, False),
    }


def test_a_channel_is_dragged_into_another_category(visit: MakeVisitor, home: Instance) -> None:
    token = home.person("alice")["token"]
    guild_id = home.call("POST", "/v1/guilds", {"name": "Drags"}, token=token)["id"]

    def make(name: str, kind: int, parent: str | None = None) -> str:
        body = {"name": name, "type": kind, "parent_id": parent}
        return str(home.call("POST", f"/v1/guilds/{guild_id}/channels", body, token=token)["id"])

    upper, lower = make("Upper", 4), make("Lower", 4)
    seeds, soil = make("seeds", 0, upper), make("soil", 0, lower)
    member: Member = visit(kind=Member, viewport=DESK, reduced_motion="reduce")
    member.enters_as("alice", f"/channels/{guild_id}/settings/channels")
    rows = member.page.locator(".role-list li")
    row = rows.filter(has_text="seeds")
    with member.page.expect_response(lambda answer: answer.request.method == "PATCH"):
        row.drag_to(rows.filter(has_text="soil"), target_position={"x": 40, "y": 2})
    channels = {one["id"]: one for one in listed(home, f"/v1/guilds/{guild_id}/channels")}
    assert channels[seeds]["parent_id"] == lower
    assert channels[seeds]["position"] < channels[soil]["position"]
    # And by keys: back above, out of the category.
    row.get_by_role("button", name="seeds", exact=True).focus()
    member.page.keyboard.press("Shift+Space")
    for _ in range(3):
        member.page.keyboard.press("ArrowUp")
    with member.page.expect_response(lambda answer: answer.request.method == "PATCH"):
        member.page.keyboard.press("Shift+Space")
    channels = {one["id"]: one for one in listed(home, f"/v1/guilds/{guild_id}/channels")}
    assert channels[seeds]["parent_id"] != lower
    member.page_is_accessible()
