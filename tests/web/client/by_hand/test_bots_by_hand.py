"""What bots put into messages, used by hand: buttons, menus, and the parts of the second form. Area: the web client's
talk."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Locator, Route, expect

from tests.web.browsing import Instance
from tests.web.client.by_hand.bot_beside import BotBeside
from tests.web.client.test_shell import DESK, PHONE, Member, is_fine
from tests.web.conftest import MakeVisitor

SILENT = "The application did not answer."
INVOKED = 2
"""The type of an interaction by a command; while an option is typed others come, as late as they like."""


@pytest.fixture
def bot(home: Instance) -> Iterator[BotBeside]:
    home.call("POST", "/v1/_dev/reset")
    with BotBeside(home) as connected:
        yield connected


def button(custom_id: str, **members: Any) -> dict[str, Any]:
    return {"type": 2, "style": 1, "label": custom_id.capitalize(), "custom_id": custom_id, **members}


def row(*components: dict[str, Any]) -> dict[str, Any]:
    return {"type": 1, "components": list(components)}


def test_buttons_are_pressed_and_say_what_became_of_it(visit: MakeVisitor, bot: BotBeside) -> None:
    alice: Member = visit(kind=Member, viewport=DESK, reduced_motion="reduce")
    page = alice.page
    emoji = {"name": "\U0001f331"}
    styles = [button(f"style{style}", style=style, emoji=emoji) for style in (1, 2, 3, 4)]
    link = {"type": 2, "style": 5, "label": "Read", "url": "https://example.org/"}
    more = row(button("plant"), button("never", disabled=True), button("silent"))
    bot.says(content="Beds", components=[row(*styles, link), more])
    bot.answers["plant"] = lambda told: {
        "type": 7,
        "data": {"content": "Beds, planted", "components": [row(button("plant", label="Plant again"))]},
    }
    alice.enters_as("alice", bot.path)
    article = page.get_by_role("article").filter(has_text="Beds")
    expect(article.get_by_role("button", name="Style1")).to_contain_text("\U0001f331")
    expect(article.get_by_role("link", name="Read")).to_have_attribute("href", "https://example.org/")
    expect(article.get_by_role("button", name="Never")).to_be_disabled()
    is_fine(alice)

    # Nobody answers: the button waits, then the row says so, and the button can be pressed again.
    silent = article.get_by_role("button", name="Silent")
    silent.click()
    expect(silent).to_have_attribute("aria-busy", "true")
    alice.home.pass_time(4)
    expect(article.get_by_text(SILENT)).to_be_visible()
    expect(silent).not_to_have_attribute("aria-busy", "true")
    is_fine(alice)

    # By keys; the focus stays where it was when the application draws its buttons anew.
    article.get_by_role("button", name="Plant").focus()
    page.keyboard.press("Enter")
    again = page.get_by_role("button", name="Plant again")
    expect(again).to_be_focused()
    expect(page.get_by_text(SILENT)).to_have_count(0)
    alice.until(lambda: [told["data"]["custom_id"] for told in bot.told] == ["silent", "plant"])
    assert {told["member"]["user"]["username"] for told in bot.told} == {"alice"}


def test_menus_are_chosen_in(visit: MakeVisitor, bot: BotBeside) -> None:
    alice: Member = visit(kind=Member, viewport=PHONE, reduced_motion="reduce")
    page = alice.page
    options = [
        {"label": name, "value": name.lower(), "description": f"A bed of {name.lower()}", "default": name == "Leek"}
        for name in ("Bean", "Kale", "Leek")
    ]
    menus = [
        {"type": 3, "custom_id": "beds", "options": options, "min_values": 1, "max_values": 2},
        {"type": 5, "custom_id": "who", "placeholder": "Who waters?"},
        {"type": 8, "custom_id": "where", "placeholder": "Where?", "channel_types": [0]},
        {"type": 6, "custom_id": "role", "placeholder": "Which role?"},
        {"type": 7, "custom_id": "any", "placeholder": "Whom?", "disabled": True},
    ]
    bot.says(content="Menus", components=[row(menu) for menu in menus])
    for name in ("beds", "who", "where", "role"):
        bot.answers[name] = lambda told: {"type": 6}
    alice.enters_as("alice", bot.path)
    article = page.get_by_role("article").filter(has_text="Menus")
    expect(article.get_by_role("button", name="Whom?")).to_be_disabled()
    is_fine(alice)

    article.get_by_role("button", name="Leek").click()
    dialog = page.get_by_role("dialog", name="Choose")
    expect(dialog.get_by_role("checkbox", name="Leek")).to_be_checked()
    is_fine(alice)
    alice.page_fits()
    for name in ("Bean", "Kale"):
        dialog.get_by_role("checkbox", name=name).check()
    dialog.get_by_role("button", name="Choose").click()
    expect(dialog.get_by_role("alert").filter(has_text="Choose 1 to 2.")).to_be_visible()
    dialog.get_by_role("checkbox", name="Leek").uncheck()
    dialog.get_by_role("button", name="Choose").click()
    expect(dialog).to_have_count(0)

    def choose(menu: str, word: str, name: str) -> None:
        article.get_by_role("button", name=menu).click()
        opened = page.get_by_role("dialog", name=menu)
        opened.get_by_label("Search").fill(word)
        opened.get_by_role("radio", name=name).check()
        opened.get_by_role("button", name="Choose").click()
        expect(opened).to_have_count(0)

    bob = alice.home.person("bob")
    choose("Who waters?", "bob", "bob")
    choose("Where?", "general", "#general")
    expect(article.get_by_role("button", name="Where?")).to_be_focused()
    chosen = [["bean", "kale"], [bob["id"]], [bot.channel_id]]
    alice.until(lambda: [told["data"]["values"] for told in bot.told] == chosen)


def test_components_stand_in_the_place_of_a_text(visit: MakeVisitor, bot: BotBeside) -> None:
    alice: Member = visit(kind=Member, viewport=PHONE, reduced_motion="reduce")
    page = alice.page
    section = {
        "type": 9,
        "components": [{"type": 10, "content": "**Tomatoes** <b>now</b>"}],
        "accessory": button("pick"),
    }
    parts = [section, {"type": 14, "spacing": 2}, {"type": 10, "content": "and kale"}, row(button("more"))]
    bot.answers["pick"] = lambda told: {"type": 7, "data": {"components": [{"type": 10, "content": "Picked."}]}}
    bot.says(flags=32_768, components=[{"type": 17, "accent_color": 0x2E7D32, "components": parts}])
    alice.enters_as("alice", bot.path)
    article = page.get_by_role("article").filter(has_text="and kale")
    expect(article.locator("strong")).to_have_text("Tomatoes")
    expect(article).to_contain_text("<b>now</b>")
    expect(article.get_by_role("separator")).to_have_count(1)
    expect(article).to_have_attribute("aria-label", re.compile(re.escape("Tomatoes <b>now</b> and kale")))
    is_fine(alice)
    alice.page_fits()
    article.get_by_role("button", name="Pick").click()
    expect(page.get_by_role("article").filter(has_text="Picked.")).to_be_visible()


def test_answers_for_one_and_answers_that_come_later(visit: MakeVisitor, bot: BotBeside) -> None:
    alice: Member = visit(kind=Member, viewport=DESK, reduced_motion="reduce")
    page = alice.page
    bot.says(content="Ask me", components=[row(button("secret"), button("later"))])
    bot.answers["secret"] = lambda told: {
        "type": 4,
        "data": {"content": "The key is below the pot.", "flags": 64, "components": [row(button("once"))]},
    }
    bot.answers["once"] = lambda told: {"type": 7, "data": {"content": "It was.", "components": []}}
    bot.answers["later"] = lambda told: {"type": 5}
    alice.enters_as("alice", bot.path)
    asked = page.get_by_role("article").filter(has_text="Ask me")
    asked.get_by_role("button", name="Secret").click()
    secret = page.get_by_role("article").filter(has_text="The key is below")
    expect(secret).to_contain_text("Only you see this.")
    is_fine(alice)

    # It stays when the history is fetched anew, can be used, and has none of what others would have to see.
    secret.hover()
    expect(page.get_by_role("toolbar", name="What you can do with this message")).to_be_hidden()
    asked.get_by_role("button", name="Later").click()
    thinking = page.get_by_role("article").filter(has_text="is thinking")
    expect(thinking).to_be_visible()
    is_fine(alice)
    bot.completes(bot.told[-1], content="I have thought.")
    expect(page.get_by_role("article").filter(has_text="I have thought.")).to_be_visible()
    expect(thinking).to_have_count(0)
    secret.get_by_role("button", name="Once").click()
    used = page.get_by_role("article").filter(has_text="It was.")
    expect(used).to_contain_text("Only you see this.")
    used.get_by_role("button", name="Dismiss").click()
    expect(used).to_have_count(0)

    # Nobody else has seen it, and it is in no history.
    listed = alice.home.call("GET", f"/v1/channels/{bot.channel_id}/messages", token=alice.home.person("bob")["token"])
    assert [message["content"] for message in listed[:2]] == ["I have thought.", "Ask me"]


def test_an_answer_says_who_used_which_command(visit: MakeVisitor, bot: BotBeside) -> None:
    alice: Member = visit(kind=Member, viewport=PHONE, reduced_motion="reduce")
    page, bob = alice.page, alice.home.person("bob")
    bot.registers({"name": "weather", "description": "Tells of rain."})
    bot.answers["weather"] = lambda told: {"type": 4, "data": {"content": "It rains."}}
    alice.enters_as("alice", bot.path)
    listed = alice.home.call("GET", f"/v1/channels/{bot.channel_id}/application-commands", token=bob["token"])
    act = {
        "type": 2,
        "application_id": bot.application_id,
        "channel_id": bot.channel_id,
        "data": {"id": listed["application_commands"][0]["id"]},
    }
    alice.home.call("POST", "/v1/interactions", act, bob["token"])
    answer = page.get_by_role("article").filter(has_text="It rains.")
    expect(answer.locator(".used")).to_have_text("Bob used /weather")
    is_fine(alice)
    alice.page_fits()


def test_a_form_is_filled_in_and_stays_open_until_it_is_taken(visit: MakeVisitor, bot: BotBeside) -> None:
    alice: Member = visit(kind=Member, viewport=PHONE, reduced_motion="reduce")
    page = alice.page
    bed = {"type": 3, "custom_id": "bed", "options": [{"label": name, "value": name} for name in ("north", "south")]}
    parts = [
        {"type": 10, "content": "Tell of **one** bed."},
        row({"type": 4, "custom_id": "what", "style": 1, "label": "What grows?", "min_length": 3, "max_length": 10}),
        {
            "type": 18,
            "label": "More",
            "description": "In your words",
            "component": {"type": 4, "custom_id": "more", "style": 2, "required": False},
        },
        {"type": 18, "label": "Bed", "component": bed},
    ]
    form = {"custom_id": "report", "title": "Report <b>", "components": parts}
    bot.says(content="Report", components=[row(button("open"))])
    bot.answers["open"] = lambda told: {"type": 9, "data": form}
    alice.enters_as("alice", bot.path)
    page.get_by_role("button", name="Open").click()
    dialog = page.get_by_role("dialog", name="Report <b>")
    expect(dialog.locator("strong")).to_have_text("one")
    expect(dialog.get_by_label("What grows?")).to_be_focused()
    expect(dialog.get_by_label("More (optional)")).to_have_attribute("maxlength", "4000")
    is_fine(alice)
    alice.page_fits()

    # What is missing is said at its place; the browser itself holds the lengths.
    dialog.get_by_label("What grows?").press_sequentially("kale and leek")
    expect(dialog.get_by_label("What grows?")).to_have_value("kale and l")
    dialog.get_by_role("button", name="Send").click()
    expect(dialog.get_by_text("This is needed.")).to_be_visible()
    dialog.get_by_role("button", name="Bed").click()
    choice = page.get_by_role("dialog", name="Choose")
    choice.get_by_role("radio", name="south").check()
    choice.get_by_role("button", name="Choose").click()

    # Nobody answers; the form says so and keeps what was written. Then the bot does.
    dialog.get_by_role("button", name="Send").click()
    expect(dialog.locator("form")).to_have_attribute("aria-busy", "true")
    alice.home.pass_time(4)
    expect(dialog.get_by_role("alert").filter(has_text="did not answer")).to_be_visible()
    bot.answers["report"] = lambda told: {"type": 4, "data": {"content": "Thanks.", "flags": 64}}
    dialog.get_by_role("button", name="Send").click()
    expect(dialog).to_have_count(0)
    expect(page.get_by_role("article").filter(has_text="Thanks.")).to_be_visible()
    filled = [part for part in bot.told[-1]["data"]["components"] if part["type"] != 10]
    assert filled[0]["components"][0]["value"] == "kale and l"
    assert [part["component"].get("value", part["component"].get("values")) for part in filled[1:]] == ["", ["south"]]


def test_a_form_that_is_refused_says_why(visit: MakeVisitor, bot: BotBeside) -> None:
    alice: Member = visit(kind=Member, viewport=DESK, reduced_motion="reduce")
    page = alice.page
    name = {"type": 4, "custom_id": "name", "style": 1, "label": "Name", "value": "kale"}
    bot.says(content="Sign up", components=[row(button("sign"))])
    bot.answers["sign"] = lambda told: {
        "type": 9,
        "data": {"custom_id": "signed", "title": "Sign up", "components": [row(name)]},
    }
    alice.enters_as("alice", bot.path)
    page.get_by_role("button", name="Sign").click()
    dialog = page.get_by_role("dialog", name="Sign up")
    expect(dialog.get_by_label("Name")).to_have_value("kale")
    alice.home.pass_time(16 * 60)
    dialog.get_by_role("button", name="Send").click()
    expect(dialog.get_by_role("alert").first).to_be_visible()
    expect(dialog.get_by_label("Name")).to_have_value("kale")
    is_fine(alice)


GARDEN: dict[str, Any] = {
    "name": "garden",
    "description": "What grows where.",
    "options": [
        {
            "type": 1,
            "name": "plant",
            "description": "Plants something.",
            "options": [
                {"type": 3, "name": "what", "description": "A plant", "required": True, "autocomplete": True},
                {
                    "type": 4,
                    "name": "count",
                    "description": "How many",
                    "required": True,
                    "min_value": 1,
                    "max_value": 9,
                },
                {"type": 6, "name": "who", "description": "Who waters it"},
                {"type": 5, "name": "now", "description": "At once"},
                {
                    "type": 3,
                    "name": "bed",
                    "description": "Where",
                    "choices": [{"name": "North", "value": "n"}, {"name": "South", "value": "s"}],
                },
            ],
        },
        {"type": 1, "name": "list", "description": "Tells of all."},
    ],
}


def test_commands_are_found_filled_in_and_invoked_by_keys(visit: MakeVisitor, bot: BotBeside) -> None:
    alice: Member = visit(kind=Member, viewport=DESK, reduced_motion="reduce")
    page = alice.page
    bot.registers(GARDEN, {"name": "hello", "description": "Greets."}, {"name": "Look", "type": 2})

    def answer(told: dict[str, Any]) -> dict[str, Any]:
        if told["type"] != 4:
            return {"type": 4, "data": {"content": f"Done: {told['data']['options'][0]['name']}", "flags": 64}}
        typed = next(one for one in told["data"]["options"][0]["options"] if one.get("focused"))
        names = [name for name in ("kale", "leek", "lettuce") if name.startswith(typed["value"])]
        return {"type": 8, "data": {"choices": [{"name": name.title(), "value": name} for name in names]}}

    bot.answers["garden"] = answer
    bot.answers["hello"] = lambda told: {"type": 4, "data": {"content": "Hello to you."}}
    alice.enters_as("alice", bot.path)
    field = page.locator("textarea.composer-field")

    # One without options is sent at once, and nothing is left in the field.
    field.press_sequentially("/he")
    expect(page.get_by_role("option")).to_have_count(1)
    expect(page.get_by_role("option")).to_contain_text("Greets.")
    is_fine(alice)
    field.press("Enter")
    hello = page.get_by_role("article").filter(has_text="Hello to you.")
    expect(hello.locator(".used")).to_have_text("Alice used /hello")
    expect(field).to_have_value("")

    # One with options asks for them: what is missing is said, and nothing is sent before.
    field.press_sequentially("/")
    expect(page.get_by_role("option")).to_have_count(3)
    field.press_sequentially("garden pl")
    field.press("Enter")
    dialog = page.get_by_role("dialog", name="/garden plant")
    what = dialog.get_by_role("combobox", name="what")
    expect(what).to_be_focused()
    page.keyboard.type("le")
    expect(dialog.get_by_role("listbox", name="what").get_by_role("option")).to_have_count(2)
    is_fine(alice)
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    expect(what).to_have_value("Lettuce")
    dialog.get_by_role("button", name="Send").click()
    expect(dialog.get_by_label("count")).to_be_focused()
    assert [told["data"]["name"] for told in bot.told if told["type"] == INVOKED] == ["hello"]
    page.keyboard.type("3")
    dialog.get_by_label("bed (optional)").select_option("South")
    dialog.get_by_label("now (optional)").select_option("Yes")
    dialog.get_by_role("button", name="who (optional)").click()
    choice = page.get_by_role("dialog", name="Choose")
    choice.get_by_role("radio", name="bob").check()
    choice.get_by_role("button", name="Choose").click()
    is_fine(alice)
    dialog.get_by_label("count").press("Enter")
    expect(dialog).to_have_count(0)
    expect(page.get_by_role("article").filter(has_text="Done: plant")).to_be_visible()
    sent = {one["name"]: one["value"] for one in bot.told[-1]["data"]["options"][0]["options"]}
    bob = alice.home.person("bob")["id"]
    assert sent == {"what": "lettuce", "count": 3, "who": bob, "now": True, "bed": "s"}
    expect(field).to_be_focused()

    # What is no command is a message; a command that nobody answers is said.
    field.press_sequentially("/garden li")
    field.press("Enter")
    expect(page.get_by_role("article").filter(has_text="Done: list")).to_be_visible()
    bot.answers.pop("hello")
    field.press_sequentially("/hello")
    field.press("Enter")
    expect(page.locator(".notices").get_by_text("was asked")).to_be_visible()
    alice.home.pass_time(4)
    expect(page.locator(".notices").get_by_text("did not answer")).to_be_visible()
    field.press_sequentially("/nothing of that")
    expect(page.get_by_role("option")).to_have_count(0)
    field.press("Enter")
    expect(page.get_by_role("article").filter(has_text="/nothing of that")).to_be_visible()


def test_enter_before_the_commands_are_known_takes_effect(visit: MakeVisitor, bot: BotBeside) -> None:
    alice: Member = visit(kind=Member, viewport=DESK, service_worker=False)
    page = alice.page
    bot.registers({"name": "hello", "description": "Greets."})
    bot.answers["hello"] = lambda told: {"type": 4, "data": {"content": "Hello to you."}}
    alice.enters_as("alice", bot.path)
    field = page.locator("textarea.composer-field")
    waiting: list[Route] = []
    listed = f"**/channels/{bot.channel_id}/application-commands"
    alice.intercepts(listed, lambda route: waiting.append(route))

    with page.expect_request(listed):
        field.press_sequentially("/hel")
    field.press("Enter")
    expect(field).to_have_value("/hel")
    waiting.pop().continue_()
    expect(page.get_by_role("article").filter(has_text="Hello to you.")).to_be_visible()
    expect(field).to_have_value("")

    # The next time those that are known stand there at once. Other words are a message.
    with page.expect_request(listed):
        field.press_sequentially("/he")
    expect(page.get_by_role("option")).to_have_count(1)
    field.press_sequentially("aven")
    expect(page.get_by_role("option")).to_have_count(0)
    field.press("Enter")
    expect(page.get_by_role("article").filter(has_text="/heaven")).to_be_visible()

    # In a channel that was just opened nothing is known. Words that turn out to be no command are a message.
    page.reload()
    waiting.clear()
    with page.expect_request(listed):
        field.press_sequentially("/earth")
    field.press("Enter")
    waiting.pop().continue_()
    expect(page.get_by_role("article").filter(has_text="/earth")).to_be_visible()

    # Where they cannot be had, what may be a command is not sent by the first Enter.
    page.reload()
    waiting.clear()
    with page.expect_request(listed):
        field.press_sequentially("/mars")
    field.press("Enter")
    with page.expect_response(listed):
        waiting.pop().fulfill(status=403, json={"code": "MISSING_PERMISSIONS", "message": "You may not."})
    page.keyboard.type(" calls")
    expect(field).to_have_value("/mars calls")
    field.press("Enter")
    expect(page.get_by_role("article").filter(has_text="/mars calls")).to_be_visible()
    assert [told["data"]["name"] for told in bot.told] == ["hello"]


def test_commands_for_messages_and_persons_stand_in_their_menus(visit: MakeVisitor, bot: BotBeside) -> None:
    alice: Member = visit(kind=Member, viewport=DESK, reduced_motion="reduce")
    page, bob = alice.page, alice.home.person("bob")
    said = alice.home.call("POST", f"/v1/channels/{bot.channel_id}/messages", {"content": "Kale is up."}, bob["token"])
    alice.enters_as("alice", bot.path)
    article = page.get_by_role("article").filter(has_text="Kale is up.")

    # Nobody has such a command: that is said, and no empty menu comes.
    article.get_by_text("Kale is up.").click(button="right")
    page.get_by_role("menuitem", name="Apps").click()
    expect(page.locator(".notices").get_by_text("No app has a command for this here.")).to_be_visible()
    expect(page.get_by_role("menu")).to_have_count(0)

    bot.registers({"name": "Praise <b>", "type": 3}, {"name": "Look up", "type": 2}, GARDEN)
    for name in ("Praise <b>", "Look up"):
        bot.answers[name] = lambda told: {"type": 4, "data": {"content": f"{told['data']['name']}: done", "flags": 64}}

    # A message, by keys; only what is for messages stands there.
    article.focus()
    page.keyboard.press("Shift+F10")
    page.get_by_role("menuitem", name="Apps").press("Enter")
    items = page.get_by_role("menu", name="Apps").get_by_role("menuitem")
    expect(items).to_have_count(1)
    expect(items).to_contain_text("Praise <b>")
    expect(items).to_be_focused()
    is_fine(alice)
    page.keyboard.press("Enter")
    expect(page.get_by_role("article").filter(has_text="Praise <b>: done")).to_be_visible()
    assert bot.told[-1]["data"]["target_id"] == said["id"]
    assert bot.told[-1]["data"]["resolved"]["messages"][said["id"]]["content"] == "Kale is up."

    # A person: by the right button, and from the card.
    article.locator("[data-user]").first.click(button="right")
    page.get_by_role("menuitem", name="Apps").click()
    page.get_by_role("menuitem", name="Look up").click()
    expect(page.get_by_role("article").filter(has_text="Look up: done")).to_be_visible()
    assert bot.told[-1]["data"]["target_id"] == bob["id"]
    assert list(bot.told[-1]["data"]["resolved"]["users"]) == [bob["id"]]

    # Nobody answers; and a command that is gone when it is chosen.
    bot.answers.pop("Look up")
    article.locator("[data-user]").first.click()
    card = page.locator(".profile-card")
    is_fine(alice)
    card.get_by_role("button", name="More").click()
    page.get_by_role("menuitem", name="Apps").click()
    page.get_by_role("menuitem", name="Look up").click()
    expect(page.locator(".notices").get_by_text("was asked")).to_be_visible()
    alice.home.pass_time(4)
    expect(page.locator(".notices").get_by_text("did not answer")).to_be_visible()
    article.get_by_text("Kale is up.").click(button="right")
    page.get_by_role("menuitem", name="Apps").click()
    gone = page.get_by_role("menuitem", name="Praise <b>")
    expect(gone).to_be_visible()
    bot.registers()
    heard = len(bot.told)
    gone.click()
    expect(page.locator(".notices > *").last).to_contain_text("command")
    assert len(bot.told) == heard
    expect(page.locator("menuitem b, .menu b")).to_have_count(0)


DROPPED = """(field, [name, content]) => {
    const dataTransfer = new DataTransfer();
    dataTransfer.items.add(new File([content], name, { type: "text/plain" }));
    for (const type of ["dragover", "drop"]) {
        field.dispatchEvent(new DragEvent(type, { dataTransfer, bubbles: true, cancelable: true }));
    }
}"""


def dropped(field: Locator, name: str, content: str) -> None:
    """A file is dropped on a field: a browser under test drags nothing from outside."""
    field.evaluate(DROPPED, [name, content])


def test_a_command_on_a_telephone_and_one_that_needs_a_file(visit: MakeVisitor, bot: BotBeside) -> None:
    alice: Member = visit(kind=Member, viewport=PHONE, reduced_motion="reduce")
    page = alice.page
    file = {"type": 11, "name": "picture", "description": "Of it", "required": True}
    more = {"type": 11, "name": "more", "description": "Another one"}
    bot.registers({"name": "show", "description": "Shows a picture.", "options": [file, more]}, GARDEN)
    alice.enters_as("alice", bot.path)
    field = page.locator("textarea.composer-field")
    field.press_sequentially("/garden plant")
    page.get_by_role("option", name="/garden plant").click()
    dialog = page.get_by_role("dialog", name="/garden plant")
    expect(dialog.get_by_label("count")).to_be_visible()
    alice.page_fits()
    dialog.get_by_role("button", name="Cancel").click()
    expect(dialog).to_have_count(0)
    field.press_sequentially("/show")
    page.get_by_role("option", name="/show").click()
    dialog = page.get_by_role("dialog", name="/show")
    is_fine(alice)

    # The file that is needed, one that is not, and one that is taken away again.
    dialog.get_by_role("button", name="Send").click()
    expect(dialog.get_by_text("This is needed.")).to_be_visible()
    picture = dialog.locator(".field").filter(has_text="Of it")
    with page.expect_file_chooser() as opened:
        picture.get_by_role("button", name="picture").click()
    opened.value.set_files({"name": "bed.txt", "mimeType": "text/plain", "buffer": b"kale"})
    expect(picture.get_by_role("status")).to_have_text("bed.txt · 4 bytes")
    expect(dialog.get_by_text("This is needed.")).to_be_hidden()
    picture.get_by_role("button", name="Remove bed.txt").click()
    expect(picture.get_by_role("status")).to_have_text("None chosen")
    expect(picture.get_by_role("button", name="picture")).to_be_focused()
    dropped(picture, "<b>leek.txt", "leek and kale")
    expect(picture.get_by_role("status")).to_have_text("<b>leek.txt · 13 bytes")
    dropped(dialog.locator(".field").filter(has_text="Another one"), "more.txt", "more")
    is_fine(alice)
    alice.page_fits()
    bot.answers["show"] = lambda told: {"type": 4, "data": {"content": "Shown.", "flags": 64}}
    dialog.get_by_role("button", name="Send").click()
    expect(dialog).to_have_count(0)
    expect(page.get_by_role("article").filter(has_text="Shown.")).to_be_visible()
    data = bot.told[-1]["data"]
    files = [data["resolved"]["attachments"][option["value"]] for option in data["options"]]
    assert [(file["filename"], file["size"]) for file in files] == [("_b_leek.txt", 13), ("more.txt", 4)]
    expect(page.locator(".waiting-file")).to_have_count(0)


def test_who_may_use_a_command_is_set_for_the_guild(visit: MakeVisitor, bot: BotBeside) -> None:
    alice: Member = visit(kind=Member, viewport=PHONE, reduced_motion="reduce")
    page, bob, token = alice.page, alice.home.person("bob"), alice.home.person("alice")["token"]
    guild_id = alice.home.world["guild_id"]
    commands = f"/v1/channels/{bot.channel_id}/application-commands"
    alice.enters_as("alice", f"/channels/{guild_id}/settings/bots")
    expect(page.get_by_text("No bot here has commands.")).to_be_visible()
    bot.registers(GARDEN, {"name": "Look", "type": 2}, {"name": "Keep", "type": 3})
    page.reload()
    rows = page.get_by_role("list").filter(has_text="All commands").get_by_role("listitem")
    expect(rows).to_have_count(4)
    expect(rows.filter(has_text="Look")).to_contain_text("In the menu of a person")
    is_fine(alice)
    alice.page_fits()

    # Everybody is refused, but bob; and one channel, by a search for its name.
    page.get_by_role("button", name="Who may use /garden").click()
    dialog = page.get_by_role("dialog", name="Who may use /garden")
    dialog.get_by_label("Everybody").select_option("denied")
    dialog.get_by_role("button", name="Add members").click()
    choice = page.get_by_role("dialog", name="Add members")
    choice.get_by_label("Search").fill("bob")
    choice.get_by_role("checkbox", name="bob").check()
    choice.get_by_role("button", name="Choose").click()
    expect(choice).to_have_count(0)
    expect(dialog.get_by_label("Bob")).to_have_value("allow")
    is_fine(alice)
    alice.page_fits()
    dialog.get_by_role("button", name="Save").click()
    expect(dialog).to_have_count(0)
    expect(rows.filter(has_text="/garden")).to_contain_text("set by this community")
    expect(page.get_by_role("button", name="Who may use /garden")).to_be_focused()

    def offered(name: str) -> list[str]:
        listed = alice.home.call("GET", commands, token=alice.home.person(name)["token"])
        return sorted(command["name"] for command in listed["application_commands"])

    assert (offered("bob"), offered("carol")) == (["Keep", "Look", "garden"], ["Keep", "Look"])
    permissions = alice.home.call("GET", f"/v1/guilds/{guild_id}/application-commands", token=token)["permissions"]
    assert permissions[0]["permissions"] == [
        {"id": guild_id, "type": 1, "permission": False},
        {"id": bob["id"], "type": 2, "permission": True},
    ]

    # All commands in no channel but one; then it is as it was.
    page.get_by_role("button", name="Who may use All commands").click()
    dialog = page.get_by_role("dialog", name="Who may use All commands")
    dialog.get_by_label("All channels").select_option("denied")
    dialog.get_by_role("button", name="Save").click()
    expect(dialog).to_have_count(0)
    assert offered("bob") == []
    page.get_by_role("button", name="Who may use All commands").click()
    dialog.get_by_label("All channels").select_option("as the bot says")
    dialog.get_by_role("button", name="Save").click()
    expect(dialog).to_have_count(0)
    assert offered("bob") == ["Keep", "Look", "garden"]
