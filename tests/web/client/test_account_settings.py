"""The settings of one's own account in the client: what is changed is kept by the server or by this browser, what is
not saved is asked about, and every page is fit for a telephone."""

from __future__ import annotations

import json
import re
import zipfile
from pathlib import Path
from typing import Any, Final

import pytest
from playwright.sync_api import Locator, expect

import chat.web
from tests.web.browsing import Instance, Visitor, instance
from tests.web.conftest import MakeVisitor

WEB: Final = Path(chat.web.__file__).parent
PHONE: Final = {"width": 360, "height": 740}
PATH: Final = "/channels/@me/settings"
PAGES: Final = ["profile", "appearance", "language", "notifications", "privacy", "sessions", "security", "leaving"]

PICTURE: Final = (WEB / "static" / "icon_touch.png").read_bytes()


class Holder(Visitor):
    """The holder of an account, in front of its settings."""

    account: dict[str, Any]

    def opens(self, name: str, page: str) -> None:
        """Sign in and go there."""
        self.is_kept_as(self.home.person(name))
        self.goes_to(f"{PATH}/{page}")
        self.page.locator(".settings-content > *").wait_for()

    def is_kept_as(self, person: dict[str, Any]) -> None:
        """Have this account's session in the browser."""
        self.account = person
        self.goes_to("/offline")
        session = {"token": person["token"], "name": person["email"]}
        self.page.evaluate("(session) => localStorage.setItem('session', JSON.stringify(session))", session)

    def kept(self, path: str = "/v1/users/@me") -> Any:
        """What the server keeps of the account."""
        return self.home.call("GET", path, token=self.account["token"])

    def changes(self, field: Locator, value: str | None = None) -> None:
        """Choose something, and wait until the server has it."""
        with self.page.expect_response(lambda answer: answer.request.method == "PATCH"):
            if value is None:
                field.click()
            else:
                field.select_option(value)

    def root(self, name: str) -> Any:
        """What the root of the page says of how things look."""
        return self.page.evaluate("(name) => document.documentElement.getAttribute(name)", name)


@pytest.fixture
def holder(visit: MakeVisitor, home: Instance) -> Holder:
    found: Holder = visit(home, kind=Holder)
    return found


@pytest.mark.parametrize("page", PAGES)
def test_every_page_is_accessible_and_fits_a_telephone(visit: MakeVisitor, home: Instance, page: str) -> None:
    holder: Holder = visit(home, kind=Holder, viewport=PHONE)
    holder.opens("bob", page)
    holder.page_is_accessible()
    holder.page_fits()
    holder.page.get_by_role("button", name="To the list of pages").click()
    holder.page.get_by_role("navigation", name="Your settings").get_by_role("link").first.wait_for()
    holder.page_is_accessible()


OVERFLOWING: Final = """() => [...document.querySelectorAll(".settings-content, .settings-content *")]
    .filter((one) => one.scrollWidth > one.clientWidth + 1 && getComputedStyle(one).display !== "inline")
    .filter((one) => !one.matches("input, textarea, .clip, .unseen"))
    .map((one) => `${one.className}: ${one.scrollWidth} in ${one.clientWidth}`)"""


def test_large_letters_and_long_words_fit_a_telephone(visit: MakeVisitor, home: Instance) -> None:
    holder: Holder = visit(home, kind=Holder, viewport=PHONE)
    holder.goes_to("/login")
    holder.page.evaluate("localStorage.setItem('appearance', JSON.stringify({ scale: 150 }))")
    holder.page.evaluate("localStorage.setItem('language', 'de')")
    holder.opens("bob", PAGES[0])
    for page in PAGES:
        holder.goes_to(f"{PATH}/{page}")
        holder.page.locator(".settings-content .card").first.wait_for()
        holder.until(lambda: holder.page.evaluate(OVERFLOWING) == [])


def test_back_and_forward_go_from_page_to_page(holder: Holder) -> None:
    guild, channel = holder.home.world["guild_id"], holder.home.world["channel_id"]
    holder.opens("alice", "")
    page = holder.page
    page.get_by_role("heading", name="Profile", level=1).wait_for()
    page.get_by_role("button", name="Close the settings").click()
    holder.goes_to(f"/channels/{guild}/{channel}")
    page.get_by_role("button", name="Settings", exact=True).click()
    page.get_by_role("link", name="Privacy").click()
    page.get_by_role("heading", name="Privacy", level=1).wait_for()
    page.go_back()
    page.get_by_role("heading", name="Profile", level=1).wait_for()
    page.go_forward()
    page.get_by_role("heading", name="Privacy", level=1).wait_for()
    page.keyboard.press("Escape")
    holder.arrives_at(f"/channels/{guild}/{channel}")
    expect(page.locator("textarea")).to_be_visible()


def test_a_profile_is_previewed_saved_and_shown(holder: Holder) -> None:
    holder.opens("alice", "profile")
    page = holder.page
    preview = page.get_by_role("complementary", name="Preview")
    page.get_by_label("Display name").fill("Alice <b>")
    page.get_by_label("About you").fill("**loud**")
    expect(preview.get_by_text("Alice <b>")).to_be_visible()
    expect(preview.locator("strong")).to_have_text("loud")
    assert holder.kept()["bio"] != "**loud**"
    page.get_by_role("button", name="Save").click()
    page.get_by_text("Your changes are saved.").wait_for()
    assert (holder.kept()["global_name"], holder.kept()["bio"]) == ("Alice <b>", "**loud**")
    expect(page.get_by_role("button", name="Save")).to_be_hidden()
    page.get_by_role("button", name="Close the settings").click()
    expect(page.get_by_role("region", name="Your account").get_by_text("Alice <b>")).to_be_visible()


def test_a_name_that_is_refused_is_said_at_its_field(holder: Holder) -> None:
    holder.opens("alice", "profile")
    field = holder.page.get_by_label("Username")
    field.fill("no spaces!")
    holder.page.get_by_role("button", name="Save").click()
    expect(field).to_have_attribute("aria-invalid", "true")
    holder.page_is_accessible()
    holder.page.get_by_role("button", name="Undo").click()
    expect(field).to_have_value("alice")
    assert holder.kept()["username"] == "alice"


def test_a_picture_is_cut_and_kept(holder: Holder) -> None:
    holder.opens("carol", "profile")
    page = holder.page
    picture: Any = {"name": "me.png", "mimeType": "image/png", "buffer": PICTURE}
    page.get_by_label("Choose an avatar").and_(page.locator("input")).set_input_files(picture)
    holder.changes(page.get_by_role("button", name="Save"))
    assert holder.kept()["avatar"]
    page.get_by_role("button", name="Remove the avatar").click()
    holder.changes(page.get_by_role("button", name="Save"))
    expect(page.get_by_role("button", name="Remove the avatar")).to_be_hidden()
    assert holder.kept()["avatar"] is None
    page.get_by_label("Choose an avatar").and_(page.locator("input")).set_input_files(
        {**picture, "buffer": b"no picture"}
    )
    page.get_by_text("This file is no picture").wait_for()


def test_what_is_not_saved_is_asked_about(holder: Holder) -> None:
    holder.opens("alice", "profile")
    page = holder.page
    page.get_by_label("Pronouns").fill("they/them")
    page.get_by_role("link", name="Appearance").click()
    page.get_by_role("dialog", name="Discard your changes?").get_by_role("button", name="Cancel").click()
    expect(page.get_by_label("Pronouns")).to_have_value("they/them")
    page.keyboard.press("Escape")
    page.get_by_role("dialog").get_by_role("button", name="Discard").click()
    holder.arrives_at("/channels/@me")
    assert holder.kept()["pronouns"] != "they/them"


def test_how_it_looks_is_kept_in_the_browser(holder: Holder) -> None:
    holder.opens("bob", "appearance")
    page = holder.page
    holder.changes(page.get_by_label("Dark"))
    page.get_by_label("Tight").check()
    page.get_by_role("switch", name="Reduce motion").check()
    page.get_by_role("slider", name="Size of text").fill("130")
    page.wait_for_function("() => document.documentElement.style.getPropertyValue('--text-scale') === '1.3'")
    page.reload()
    page.get_by_role("slider", name="Size of text").wait_for()
    assert [holder.root(f"data-{name}") for name in ("theme", "density", "motion")] == ["dark", "tight", "reduced"]
    assert holder.kept("/v1/users/@me/settings")["theme"] == "dark"
    kept = json.loads(page.evaluate("localStorage.getItem('appearance')"))
    assert kept == {"theme": "dark", "accent": "instance", "density": "tight", "scale": 130, "isStill": True}


@pytest.mark.parametrize(
    ("theme", "accent", "kept"),
    [("Sand", "Amber", "light"), ("Dusk", "Violet", "dark_legacy"), ("Black", "Blue", "coal")],
)
def test_a_theme_and_an_accent_are_seen_at_once_and_can_be_read(
    holder: Holder, theme: str, accent: str, kept: str
) -> None:
    holder.opens("carol", "appearance")
    holder.changes(holder.page.get_by_label(theme, exact=True))
    holder.page.get_by_label(accent, exact=True).check()
    assert holder.root("data-accent") == accent.lower()
    assert holder.kept("/v1/users/@me/settings")["theme"] == kept
    holder.page_is_accessible("color-contrast")
    holder.page.get_by_label("As this instance").check()
    holder.changes(holder.page.get_by_label("As the device", exact=True))
    assert (holder.root("data-accent"), holder.root("data-theme")) == (None, None)


def test_light_or_dark_follows_the_account_into_another_browser(visit: MakeVisitor, home: Instance) -> None:
    token = home.person("carol")["token"]
    home.call("PATCH", "/v1/users/@me/settings", {"theme": "dark"}, token)
    holder: Holder = visit(home, kind=Holder)
    holder.opens("carol", "appearance")
    holder.page.wait_for_function("() => document.documentElement.dataset.theme === 'dark'")
    expect(holder.page.get_by_label("Dark")).to_be_checked()


def test_the_client_speaks_the_language_that_is_chosen(holder: Holder) -> None:
    holder.opens("bob", "language")
    loaded: list[str] = []
    holder.page.on("request", lambda asked: loaded.append(asked.url) if asked.is_navigation_request() else None)
    with holder.page.expect_navigation():
        holder.page.get_by_label("Deutsch").check()
    holder.page.get_by_role("heading", name="Sprache", level=1).wait_for()
    assert holder.root("lang") == "de"
    assert holder.kept("/v1/users/@me/settings")["locale"] == "de"
    holder.page_is_accessible()
    # The account speaks it in every other browser: back to English, as the next test knows him.
    with holder.page.expect_navigation():
        holder.page.get_by_label("English").check()
    holder.page.get_by_role("heading", name="Language", level=1).wait_for()
    assert len(loaded) == 2, "a choice loads the page once"


def test_a_community_and_a_channel_tell_of_what_was_chosen(holder: Holder) -> None:
    home = holder.home
    world, token = home.world, home.person("bob")["token"]
    path = f"/v1/users/@me/guilds/{world['guild_id']}/settings"
    home.call("PATCH", path, {"channel_overrides": {world["voice_channel_id"]: {"muted": True}}}, token)
    holder.opens("bob", "notifications")
    page = holder.page
    holder.changes(page.get_by_label("Tell me of", exact=True), "Mentions of me")
    holder.changes(page.get_by_label("Tell me of messages in general", exact=True), "Nothing")
    holder.changes(page.get_by_role("switch", name="Ignore @everyone and @here"))
    holder.changes(page.get_by_role("switch", name="Mute it whole"))
    page.reload()
    expect(page.get_by_label("Tell me of", exact=True)).to_have_value("1")
    expect(page.get_by_label("Tell me of messages in general", exact=True)).to_have_value("2")
    expect(page.get_by_role("switch", name="Mute it whole")).to_be_checked()
    kept = home.call("PATCH", path, {}, token)["channel_overrides"]
    assert (kept[world["voice_channel_id"]]["muted"], kept[world["channel_id"]]["message_notifications"]) == (True, 2)
    holder.page_is_accessible()


def test_who_may_come_near_is_kept(holder: Holder) -> None:
    holder.opens("alice", "privacy")
    page = holder.page
    before = holder.kept("/v1/users/@me/settings")["friend_source_flags"]
    holder.changes(page.get_by_role("switch", name="Friends of friends"))
    holder.changes(page.get_by_role("switch", name="Seeded guild"))
    holder.changes(page.get_by_role("group", name="Who may add you to groups").get_by_label("Nobody"))
    holder.changes(page.get_by_role("group", name="Who sees your profile").get_by_label("Friends", exact=True))
    page.reload()
    expect(page.get_by_role("group", name="Who sees your profile").get_by_label("Friends", exact=True)).to_be_checked()
    kept = holder.kept("/v1/users/@me/settings")
    assert kept["friend_source_flags"] == before ^ 1
    assert kept["restricted_guilds"] == [holder.home.world["guild_id"]]
    assert (kept["group_dm_add_permission_flags"], kept["profile_privacy"]) == (16, 2)


def sign_in(home: Instance, person: dict[str, Any]) -> str:
    """Sign in from somewhere else; the token."""
    body = {"email": person["email"], "password": person["password"]}
    return str(home.call("POST", "/v1/auth/login", body)["token"])


def test_sessions_elsewhere_are_ended_with_the_password(holder: Holder) -> None:
    carol = holder.home.person("carol")
    for _ in range(2):
        sign_in(holder.home, carol)
    holder.opens("carol", "sessions")
    page = holder.page
    page.get_by_text("this browser", exact=True).wait_for()
    page.get_by_role("button", name="Sign out everywhere else").click()
    dialog = page.get_by_role("dialog", name="Is it you?")
    dialog.get_by_label("Your password").fill("not hers")
    dialog.get_by_role("button", name="Confirm").click()
    dialog.get_by_role("alert").wait_for()
    holder.page_is_accessible()
    dialog.get_by_label("Your password").fill(carol["password"])
    dialog.get_by_role("button", name="Confirm").click()
    page.get_by_text("You are signed out everywhere else.").wait_for()
    assert [one["current"] for one in holder.kept("/v1/auth/sessions")] == [True]
    expect(page.get_by_role("button", name="Sign out everywhere else")).to_be_hidden()


def signs_up(home: Instance, name: str) -> dict[str, Any]:
    """A new account, with its session."""
    person = {"email": f"{name}@example.org", "password": "four unrelated words"}
    made = home.call("POST", "/v1/auth/register", person)
    home.call("POST", "/v1/auth/verify", {"token": home.mail("verification", person["email"])["token"]})
    return {**person, "token": made["token"]}


def ends_others(holder: Holder) -> Locator:
    """Ask to be signed out everywhere else; the question who it is."""
    assert len(holder.kept("/v1/auth/sessions")) > 1
    holder.goes_to(f"{PATH}/sessions")
    holder.page.get_by_role("button", name="Sign out everywhere else").click()
    return holder.page.get_by_role("dialog", name="Is it you?")


def test_the_proof_is_a_code_where_there_is_an_app(visit: MakeVisitor) -> None:
    with instance() as home:
        holder: Holder = visit(home, kind=Holder)
        person = signs_up(home, "ines")
        sign_in(home, person)
        secret = "JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP"
        home.pass_time(300)
        body = {"secret": secret, "code": home.code(secret), "password": person["password"]}
        codes = home.call("POST", "/v1/users/@me/mfa/totp/enable", body, token=person["token"])["backup_codes"]
        holder.is_kept_as(person)
        proof = ends_others(holder)
        proof.get_by_role("textbox").fill("000000")
        proof.get_by_role("button", name="Confirm").click()
        proof.get_by_role("alert").wait_for()
        holder.page_is_accessible()
        proof.get_by_role("textbox").fill(codes[0]["code"])
        proof.get_by_role("button", name="Confirm").click()
        holder.page.get_by_text("You are signed out everywhere else.").wait_for()
        assert [one["current"] for one in holder.kept("/v1/auth/sessions")] == [True]
        holder.leaves()


def test_the_proof_is_a_passkey_where_there_is_one(visit: MakeVisitor) -> None:
    with instance() as home:
        holder: Holder = visit(home, kind=Holder)
        person = signs_up(home, "jana")
        holder.has_authenticator()
        holder.is_signed_in_as(person)
        holder.presses("Add a passkey")
        holder.fills(name="Key ring")
        holder.presses("Save")
        holder.is_told("The passkey is added.")
        holder.page.get_by_label("Ask for a passkey when I sign in").check()
        holder.confirms("Use a passkey")
        holder.is_told("now asks for a passkey")
        holder.account = {"token": holder.page.evaluate("JSON.parse(localStorage.getItem('session')).token")}
        proof = ends_others(holder)
        proof.get_by_role("button", name="Use a passkey").click()
        holder.page.get_by_text("You are signed out everywhere else.").wait_for()
        assert [one["current"] for one in holder.kept("/v1/auth/sessions")] == [True]
        holder.leaves()


def test_who_thinks_better_of_it_stays_signed_in(holder: Holder) -> None:
    holder.opens("carol", "leaving")
    page = holder.page
    page.get_by_role("button", name="Delete the account").click()
    page.get_by_role("dialog", name="Delete your account?").get_by_role("button", name="Delete the account").click()
    proof = page.get_by_role("dialog", name="Is it you?")
    proof.get_by_role("button", name="Cancel").click()
    proof.wait_for(state="detached")
    assert holder.kept()["username"] == "carol"
    expect(page).to_have_url(re.compile("/settings/leaving$"))


def test_signing_out_here_leaves_nothing_behind(visit: MakeVisitor) -> None:
    with instance() as home:
        holder: Holder = visit(home, kind=Holder)
        home.person("bob")["token"] = sign_in(home, home.person("bob"))
        holder.opens("bob", "profile")
        holder.page.get_by_role("navigation").get_by_role("button", name="Sign out here").click()
        holder.confirms("Sign out here")
        holder.arrives_at("/login")
        left = """() => new Promise((done) => {
            const asked = indexedDB.open("chat");
            asked.onsuccess = () => {
                const keys = asked.result.transaction("kept").objectStore("kept").getAllKeys();
                keys.onsuccess = () => done(keys.result.length);
            };
        })"""
        holder.until(lambda: holder.page.evaluate(left) == 0)
        holder.page.wait_for_function("() => localStorage.getItem('session') === null")


@pytest.mark.parametrize("way", ["Disable the account", "Delete the account"])
def test_who_has_left_comes_back_by_signing_in(visit: MakeVisitor, way: str) -> None:
    with instance() as home:
        holder: Holder = visit(home, kind=Holder)
        holder.opens("carol", "leaving")
        holder.page.get_by_role("button", name=way).click()
        holder.confirms(way)
        proof = holder.page.get_by_role("dialog", name="Is it you?")
        proof.get_by_label("Your password").fill(holder.account["password"])
        proof.get_by_role("button", name="Confirm").click()
        holder.arrives_at("/login")
        assert sign_in(home, holder.account)


def test_what_the_instance_holds_of_somebody_is_taken_along(holder: Holder, tmp_path: Path) -> None:
    holder.opens("carol", "privacy")
    card = holder.page.locator(".card").filter(has_text="My data")
    card.get_by_role("button", name="Put it together").click()
    proof = holder.page.get_by_role("dialog")
    proof.get_by_label("Your password").fill(holder.account["password"])
    proof.get_by_role("button", name="Confirm").click()
    card.get_by_text("It is ready:").wait_for()
    expect(card.get_by_role("button", name="Put it together")).to_be_disabled()
    card.get_by_role("button", name="Download").click()
    proof.get_by_label("Your password").fill(holder.account["password"])
    with holder.page.expect_download() as downloading:
        proof.get_by_role("button", name="Confirm").click()
    downloading.value.save_as(tmp_path / "mine.zip")
    with zipfile.ZipFile(tmp_path / "mine.zip") as mine:
        assert json.loads(mine.read("account/account.json"))["email"] == holder.account["email"]
    holder.page_is_accessible()
