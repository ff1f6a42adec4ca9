"""What people do in a talk in the first weeks, by hand: names in what they write, forms, files, search, forums, threads
beside the channel, announcements. Area: the web client's talk."""

from __future__ import annotations

import functools
import io
import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any, Final

import pytest
from PIL import Image
from playwright.sync_api import Locator, expect

from tests.web.browsing import Instance, each, instance
from tests.web.client.by_hand.test_first_minutes import Place, field_of
from tests.web.client.test_shell import DESK, PHONE, THREADS, Member
from tests.web.conftest import MakeVisitor

CLIPBOARD: Final = ("clipboard-read", "clipboard-write")


@pytest.fixture(scope="module")
def home() -> Iterator[Instance]:
    with instance() as running:
        yield running


@pytest.fixture
def place(home: Instance) -> Place:
    return Place(home)


@pytest.fixture
def alice(visit: MakeVisitor, place: Place) -> Member:
    member: Member = visit(kind=Member, viewport=DESK, reduced_motion="reduce")
    return member


def newest(place: Place) -> dict[str, Any]:
    path = f"/v1/channels/{place.channel_id}/messages?limit=1"
    message: dict[str, Any] = place.home.call("GET", path, token=place.alice["token"])[0]
    return message


def sends(member: Member, place: Place, content: str) -> None:
    """Enter; what has arrived is exactly this."""
    field_of(member).press("Enter")
    expect(field_of(member)).to_have_value("")
    member.until(lambda: newest(place)["content"] == content)


def test_names_stand_for_ids_and_what_is_sent_is_exact(alice: Member, place: Place) -> None:
    alice.context.grant_permissions(list(CLIPBOARD))
    page, bob, carol = alice.page, place.bob["id"], place.carol["id"]
    alice.enters_as("alice", place.path)
    field = field_of(alice)
    # Chosen from the list, beside an input method's own text, and taken back by undo.
    field.press_sequentially("ask @car")
    page.get_by_role("option").filter(has_text="carol").wait_for()
    field.press("Tab")
    expect(field).to_have_value("ask @Carol ")
    expect(page.locator(".composer-named")).to_have_text(["@Carol"])
    field.press("Control+z")
    expect(page.locator(".composer-named")).to_have_count(0)
    field.press("Control+Shift+z")
    expect(field).to_have_value("ask @Carol ")
    keyboard = alice.context.new_cdp_session(page)
    keyboard.send("Input.imeSetComposition", {"text": "\u306b\u3093", "selectionStart": 2, "selectionEnd": 2})
    keyboard.send("Input.insertText", {"text": "\u4eba\u53c2"})
    # Pasted with ids, cut and pasted again, changed by a letter.
    page.evaluate("text => navigator.clipboard.writeText(text)", f" or <@{bob}>, <#{place.channel_id}> <@1>")
    field.press("Control+v")
    expect(field).to_have_value("ask @Carol \u4eba\u53c2 or @Bob, #general <@1>")
    field.press("Control+a")
    field.press("Control+x")
    field.press("Control+v")
    expect(page.locator(".composer-named")).to_have_text(["@Carol", "@Bob", "#general"])
    alice.page_is_accessible()
    # A draft outlives the page.
    page.reload()
    expect(field).to_have_value("ask @Carol \u4eba\u53c2 or @Bob, #general <@1>")
    sends(alice, place, f"ask <@{carol}> \u4eba\u53c2 or <@{bob}>, <#{place.channel_id}> <@1>")
    # What is edited has names again.
    field.press("ArrowUp")
    expect(field).to_have_value("ask @Carol \u4eba\u53c2 or @Bob, #general <@1>")
    field.press("End")
    field.press_sequentially("!")
    field.press("Enter")
    page.get_by_role("article").filter(has_text="\u4eba\u53c2").filter(has_text="!").wait_for()
    edited = f"ask <@{carol}> \u4eba\u53c2 or <@{bob}>, <#{place.channel_id}> <@1>!"
    alice.until(lambda: newest(place)["content"] == edited)
    # Words that only look like a name are words.
    field.press_sequentially("@Bob and @bo")
    page.get_by_role("option").filter(has_text="bob").first.wait_for()
    field.press("Tab")
    expect(field).to_have_value(re.compile("^@Bob and @bob#"))
    sends(alice, place, f"@Bob and <@{bob}>")


def test_forms_by_keys_and_by_the_bar(alice: Member, place: Place) -> None:
    alice.enters_as("alice", place.path)
    field, page = field_of(alice), alice.page
    field.press_sequentially("water the beds")
    bar = page.get_by_role("toolbar", name="Format")
    expect(bar).to_have_count(0)
    for _ in "beds":
        field.press("Shift+ArrowLeft")
    field.press("Control+b")
    expect(field).to_have_value("water the **beds**")
    bar.wait_for()
    alice.page_is_accessible()
    bar.get_by_role("button", name="Italic").click()
    expect(field).to_have_value("water the **_beds_**")
    field.press("Control+i")
    field.press("Control+Shift+X")
    field.press("Control+e")
    expect(field).to_have_value("water the **~~`beds`~~**")
    field.press("Control+z")
    expect(field).to_have_value("water the **~~beds~~**")
    field.press("End")
    expect(bar).to_have_count(0)
    sends(alice, place, "water the **~~beds~~**")
    expect(page.get_by_role("article").last.locator("strong s, strong del")).to_have_text("beds")
    field.press("Control+e")  # nothing is selected
    page.get_by_role("dialog", name=re.compile("[Ee]moji")).wait_for()


def test_pictures_keep_their_shape_and_are_looked_at_one_by_one(alice: Member, place: Place) -> None:
    page = alice.page
    alice.enters_as("alice", place.path)
    shapes = {"wide.png": (1600, 500), "tall.png": (300, 1400)}
    files = [{"name": name, "mimeType": "image/png", "buffer": picture(*size)} for name, size in shapes.items()]
    page.locator("form.composer input[type=file]").set_input_files(files)  # type: ignore[arg-type]
    alice.button("Send").click()
    frames = page.locator("article .frame")
    for frame, (width, height) in zip(each(frames, 2), shapes.values(), strict=True):
        expect(frame.locator("img")).to_have_js_property("complete", True)
        box = frame.bounding_box()
        assert box is not None
        assert abs(box["width"] / box["height"] - width / height) < 0.05 * width / height
    frames.first.get_by_role("button").click()
    shown = page.locator(".viewer-ground img")
    for number, (width, height) in enumerate(shapes.values(), 1):
        page.get_by_role("status").filter(has_text=f"{number} of 2").wait_for()
        alice.until(functools.partial(fits_with_shape, shown, width / height))
        alice.page_is_accessible()
        if number == 1:
            page.keyboard.press("ArrowRight")
    expect(alice.button("The next one").locator("use")).to_have_attribute("href", re.compile("#chevron-forward$"))
    page.keyboard.press("Escape")
    expect(page.locator("dialog")).to_have_count(0)


def fits_with_shape(shown: Locator, ratio: float) -> bool:
    """Whether a picture is drawn as wide for its height as it is, within the window."""
    box = shown.bounding_box()
    if box is None or not shown.evaluate("image => image.complete"):
        return False
    is_within = box["y"] >= 0 and box["y"] + box["height"] <= DESK["height"]
    is_within = is_within and box["x"] + box["width"] <= DESK["width"]
    return is_within and box["width"] > 0 and abs(box["width"] - ratio * box["height"]) < 0.05 * box["width"]


def picture(width: int, height: int) -> bytes:
    file = io.BytesIO()
    Image.new("RGB", (width, height), (90, 140, 90)).save(file, "PNG")
    return file.getvalue()


def test_a_search_finds_by_an_author_nobody_told_of_and_marks_what_it_found(
    alice: Member, visit: MakeVisitor, place: Place
) -> None:
    place.says(place.bob, "Many tomatoes grow in the **tomato** bed")
    place.says(place.carol, "and tomato soup")
    alice.enters_as("alice", place.path)
    alice.button("Search").click()
    dialog = alice.page.get_by_role("dialog")
    dialog.get_by_label("Words").fill("tomato")
    dialog.get_by_label("By").fill("nobody-of-that-name")
    dialog.get_by_role("button", name="Search").click()
    alice.page.wait_for_function("() => document.querySelector('#search-author').validationMessage !== ''")
    expect(dialog.locator(".result")).to_have_count(0)
    dialog.get_by_label("By").fill("BOB")
    dialog.get_by_role("button", name="Search").click()
    result = dialog.locator(".result")
    expect(result).to_have_count(1)
    expect(result.locator(".hit")).to_have_text(["tomatoes", "tomato"])
    expect(result.get_by_role("separator", include_hidden=True)).to_have_count(0)
    alice.page_is_accessible()
    phone: Member = visit(kind=Member, viewport=PHONE, reduced_motion="reduce", has_touch=True, is_mobile=True)
    phone.enters_as("alice", place.path)
    phone.button("Search").click()
    phone.page.get_by_label("Since").wait_for()
    phone.page_fits()
    phone.page.wait_for_function(
        """() => {
          const right = (one) => document.querySelector(one).getBoundingClientRect().right;
          return right("#search-since") <= right("dialog form");
        }"""
    )


def test_who_cannot_write_is_told_why_before_writing(alice: Member, visit: MakeVisitor, place: Place) -> None:
    call, token = place.home.call, place.alice["token"]
    bob: Member = visit(kind=Member, viewport={"width": 1024, "height": 800}, reduced_motion="reduce")
    bob.page.clock.install()
    bob.enters_as("bob", place.path)
    field_of(bob).press_sequentially("I was about to say")
    until = datetime.now(UTC) + timedelta(hours=1)
    member = f"/v1/guilds/{place.guild_id}/members/{place.bob['id']}"
    call("PATCH", member, {"communication_disabled_until": until.isoformat()}, token)
    why = bob.page.locator(".composer-why")
    expect(why).to_contain_text("time-out until")
    bob.page_is_accessible()
    bob.page.clock.fast_forward("40:00")
    expect(why).to_contain_text(re.compile(r"in (19|20) minutes"))
    bob.page.clock.fast_forward("21:00")
    expect(why).to_have_count(0)
    expect(field_of(bob)).to_have_value("I was about to say")
    call("PATCH", member, {"communication_disabled_until": None}, token)
    # A locked thread, an archived one, a channel to read only.
    start = place.says(place.alice, "leeks")
    messages = f"/v1/channels/{place.channel_id}/messages"
    thread = call("POST", f"{messages}/{start}/threads", {"name": "leeks"}, token, **THREADS)
    bob.page.goto(f"/channels/{place.guild_id}/{thread['id']}")
    field_of(bob).wait_for()
    call("PATCH", f"/v1/channels/{thread['id']}", {"locked": True}, token, **THREADS)
    expect(why).to_contain_text("This thread is locked")
    call("PATCH", f"/v1/channels/{thread['id']}", {"locked": False}, token, **THREADS)
    call("PATCH", f"/v1/channels/{thread['id']}", {"archived": True}, token, **THREADS)
    bob.page.get_by_text("This thread is archived.").wait_for()
    expect(field_of(bob)).to_be_enabled()
    overwrite = {"type": 0, "deny": str(1 << 11), "allow": "0"}
    bob.page.goto(place.path)
    field_of(bob).wait_for()
    call("PUT", f"/v1/channels/{place.channel_id}/permissions/{place.guild_id}", overwrite, token)
    expect(why).to_have_text("You may not write here.")
    # Somebody who was blocked.
    conversation = call("POST", "/v1/users/@me/channels", {"recipient_id": place.carol["id"]}, place.bob["token"])
    bob.page.goto(f"/channels/@me/{conversation['id']}")
    field_of(bob).wait_for()
    call("PUT", f"/v1/users/@me/relationships/{place.carol['id']}", {"type": 2}, place.bob["token"])
    expect(why).to_contain_text("You have blocked this person")
    call("DELETE", f"/v1/users/@me/relationships/{place.carol['id']}", None, place.bob["token"])
    expect(why).to_have_count(0)


def test_what_was_written_in_a_dialog_is_not_thrown_away_unasked(alice: Member, place: Place) -> None:
    call, token, page = place.home.call, place.alice["token"], alice.page
    forum = call("POST", f"/v1/guilds/{place.guild_id}/channels", {"name": "questions", "type": 15}, token)
    post = {"name": "Leeks", "message": {"content": f"Where do **leeks** go, <@{place.bob['id']}>? ||here||"}}
    call("POST", f"/v1/channels/{forum['id']}/threads", post, token, **THREADS)
    alice.enters_as("alice", f"/channels/{place.guild_id}/{forum['id']}")
    expect(page.locator(".post-text")).to_have_text("Alice: Where do leeks go, @Bob? \u2588\u2588\u2588")
    alice.button("New post").click()
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_have_count(0)
    for leave in (
        lambda: page.keyboard.press("Escape"),
        lambda: page.mouse.click(5, 5),
        lambda: page.get_by_role("dialog", name="New post").get_by_role("button", name="Cancel").click(),
    ):
        alice.button("New post").click()
        written = page.get_by_role("dialog").get_by_label("Text")
        written.press_sequentially("My first post")
        leave()
        question = page.get_by_role("dialog", name="Discard what you wrote?")
        question.wait_for()
        alice.page_is_accessible()
        page.keyboard.press("Escape")
        expect(question).to_have_count(0)
        expect(written).to_have_value("My first post")
        expect(page.get_by_role("dialog", name="New post").locator(":focus")).to_have_count(1)
        leave()
        question.get_by_role("button", name="Discard").click()
        expect(page.get_by_role("dialog")).to_have_count(0)


def test_an_answer_without_a_ping_and_who_reacted(alice: Member, place: Place) -> None:
    page, call = alice.page, place.home.call
    asked = place.says(place.bob, "who likes soup?")
    reactions = f"/v1/channels/{place.channel_id}/messages/{asked}/reactions/%F0%9F%8D%B2"
    for person in (place.bob, place.carol):
        call("PUT", f"{reactions}/@me", None, person["token"])
    alice.enters_as("alice", place.path)
    row = page.get_by_role("article").filter(has_text="who likes soup?").first
    row.locator(".reaction").first.hover()
    hint = page.get_by_role("tooltip")
    expect(hint).to_have_text(re.compile("Bob and Carol|Carol and Bob"))
    page.keyboard.press("Escape")
    expect(hint).to_have_count(0)
    row.focus()
    page.keyboard.press("Tab")
    for _ in range(6):
        if "reaction" in page.evaluate("document.activeElement.className"):
            break
        page.keyboard.press("Tab")
    expect(hint).to_contain_text("Carol")
    expect(row.locator(".reaction").first).to_have_attribute("aria-describedby", re.compile("^reactors-"))
    for quietly in (True, False):
        row.focus()
        page.keyboard.press("r")
        alice.button("With a ping").wait_for()
        if quietly:
            alice.button("With a ping").click()
            alice.page_is_accessible()
        field_of(alice).fill(f"I do, quietly: {quietly}")
        field_of(alice).press("Enter")
        page.locator('article.row[data-id]:not([data-id=""])').filter(has_text=f"quietly: {quietly}").wait_for()
        assert (place.bob["id"] in [one["id"] for one in newest(place)["mentions"]]) is not quietly


def test_a_thread_counts_its_messages_as_they_come(alice: Member, place: Place) -> None:
    start = place.says(place.bob, "leeks")
    messages = f"/v1/channels/{place.channel_id}/messages"
    body = {"name": "leeks"}
    thread = place.home.call("POST", f"{messages}/{start}/threads", body, place.alice["token"], **THREADS)
    alice.enters_as("alice", place.path)
    chip = alice.page.locator(".thread-link")
    expect(chip).to_contain_text("0 messages")
    said = f"/v1/channels/{thread['id']}/messages"
    one = place.home.call("POST", said, {"content": "in rows"}, place.bob["token"], **THREADS)
    expect(chip).to_contain_text("1 message")
    place.home.call("POST", said, {"content": "and rows"}, place.bob["token"], **THREADS)
    expect(chip).to_contain_text("2 messages")
    place.home.call("DELETE", f"{said}/{one['id']}", None, place.bob["token"], **THREADS)
    expect(chip).to_contain_text("1 message")


def test_a_thread_stands_beside_its_channel_and_alone_where_there_is_no_room(
    alice: Member, visit: MakeVisitor, place: Place
) -> None:
    page, call = alice.page, place.home.call
    start = place.says(place.bob, "leeks")
    messages = f"/v1/channels/{place.channel_id}/messages"
    body = {"name": "leeks of a long name that leaves no room in a narrow window at all"}
    thread = call("POST", f"{messages}/{start}/threads", body, place.bob["token"], **THREADS)
    call("POST", f"/v1/channels/{thread['id']}/messages", {"content": "in rows"}, place.bob["token"], **THREADS)
    alice.enters_as("alice", place.path)
    page.locator(".thread-link").click()
    aside = page.get_by_role("complementary", name="Thread")
    aside.get_by_role("article").filter(has_text="in rows").wait_for()
    expect(page.locator("main.talk h1")).to_have_text("general")
    expect(aside.locator("textarea")).to_be_focused()
    alice.page_is_accessible()
    alice.page_fits()
    for region, words in ((aside, "in the thread"), (page.locator("main.talk"), "in the channel")):
        region.locator("textarea").fill(words)
        region.locator("textarea").press("Enter")
        region.locator('article.row[data-id]:not([data-id=""])').filter(has_text=words).wait_for()
    expect(aside.get_by_role("article").filter(has_text="in the channel")).to_have_count(0)
    # The thread gives its place to the members, and back again.
    page.locator("main.talk").get_by_role("button", name="Members").click()
    expect(aside).to_have_count(0)
    page.go_back()
    aside.wait_for()
    page.set_viewport_size({"width": 1024, "height": 800})
    expect(aside).to_have_count(0)
    expect(page.locator("main.talk h1")).to_contain_text("leeks of")
    page.set_viewport_size(DESK)
    aside.get_by_role("button", name="Close the thread").click()
    expect(aside).to_have_count(0)
    expect(page).to_have_url(re.compile(f"{place.path}$"))
    # Somebody who is not in the thread follows a link to it, on a telephone.
    phone: Member = visit(kind=Member, viewport=PHONE, reduced_motion="reduce", has_touch=True, is_mobile=True)
    phone.enters_as("carol", f"/channels/{place.guild_id}/{thread['id']}")
    phone.page.get_by_role("article").filter(has_text="in rows").wait_for()
    phone.page_fits()
    phone.page_is_accessible()
    phone.page.get_by_role("link", name="To the channel general").click()
    chip = phone.page.locator(".thread-link")
    chip.wait_for()
    phone.page_fits()
    expect(chip).to_be_in_viewport(ratio=0.99)
    expect(chip.locator(".meta")).to_be_in_viewport(ratio=0.9)


def test_announcements_are_published_and_followed(alice: Member, place: Place) -> None:
    page, call, token = alice.page, place.home.call, place.alice["token"]
    news = call("POST", f"/v1/guilds/{place.guild_id}/channels", {"name": "news", "type": 5}, token)
    alice.enters_as("alice", f"/channels/{place.guild_id}/{news['id']}")
    alice.button("More").click()
    page.get_by_role("menuitem", name="Follow this channel").click()
    dialog = page.get_by_role("dialog", name="Follow this channel")
    dialog.get_by_role("radio", name=re.compile("general")).first.check()
    alice.page_is_accessible()
    dialog.get_by_role("button", name="Follow").click()
    page.get_by_text("Announcements of news come there now.").wait_for()
    field_of(alice).fill("The beds are open")
    field_of(alice).press("Enter")
    row = page.locator('article.row[data-id]:not([data-id=""])').filter(has_text="The beds are open")
    row.click(button="right")
    page.get_by_role("menuitem", name="Publish").click()
    page.get_by_role("dialog").get_by_role("button", name="Publish").click()
    expect(row).to_contain_text("(published)")
    row.click(button="right")
    page.get_by_role("menuitem", name="Reply").wait_for()
    expect(page.get_by_role("menuitem", name="Publish")).to_have_count(0)
    page.keyboard.press("Escape")
    page.goto(place.path)
    page.get_by_role("article").filter(has_text="The beds are open").wait_for()


def test_a_draft_is_marked_in_the_list_until_it_is_sent(alice: Member, place: Place) -> None:
    page, call, token = alice.page, place.home.call, place.alice["token"]
    other = call("POST", f"/v1/guilds/{place.guild_id}/channels", {"name": "beds", "type": 0}, token)
    conversation = call("POST", "/v1/users/@me/channels", {"recipient_id": place.bob["id"]}, token)
    alice.enters_as("alice", place.path)
    row = page.locator(f".channel-link[href='{place.path}']")
    sign = page.get_by_role("img", name="Something is written here that was not sent")
    field_of(alice).press_sequentially("half a thought")
    expect(sign).to_have_count(0)
    page.locator(f".channel-link[data-channel='{other['id']}']").click()
    expect(row.locator(".draft-sign")).to_be_visible()
    alice.page_is_accessible()
    page.reload()
    expect(row.locator(".draft-sign")).to_be_visible()
    page.goto(f"/channels/@me/{conversation['id']}")
    field_of(alice).press_sequentially("half of another")
    page.get_by_role("link", name="Friends").click()
    expect(page.locator(f".channel-link[href$='{conversation['id']}'] .draft-sign")).to_be_visible()
    page.goto(place.path)
    expect(field_of(alice)).to_have_value("half a thought")
    field_of(alice).press("Enter")
    page.locator(f".channel-link[data-channel='{other['id']}']").click()
    page.get_by_role("heading", name="beds").first.wait_for()
    expect(sign).to_have_count(0)
