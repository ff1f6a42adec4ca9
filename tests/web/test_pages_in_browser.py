"""What each page does for a person, in a browser: the accepted way and the refused one beside it."""

from __future__ import annotations

import base64
import hashlib
import re
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

import pytest
from playwright.sync_api import expect

from tests.signing_in.sso.provider import CLIENT_ID, CLIENT_SECRET, Provider
from tests.web.browsing import Instance, Visitor, beside, instance
from tests.web.conftest import MakeVisitor

HOSTILE = '<img src=x onerror="document.title=1"><script>alert(1)</script>'
BACK = "http://127.0.0.1:9/back"
"""An address that no application listens at: a browser that goes there has been sent."""


def application_of(home: Instance, name: str = "Calendar", redirect_uri: str = BACK) -> dict[str, Any]:
    """An application of bob's."""
    made: dict[str, Any] = home.call(
        "POST",
        "/v1/oauth2/applications",
        {"name": name, "redirect_uris": [redirect_uri]},
        home.person("bob")["token"],
    )
    return made


def consent(application: dict[str, Any], **query: str) -> str:
    """The address of the consent page for a request of the application."""
    asked = {
        "client_id": application["id"],
        "redirect_uri": BACK,
        "response_type": "code",
        "scope": "identify",
        **query,
    }
    return f"/oauth2/authorize?{urlencode({name: value for name, value in asked.items() if value})}"


def sent_back(visitor: Visitor, press: str) -> dict[str, list[str]]:
    """Press a button that sends the browser to the application; the query it is sent with."""
    with visitor.page.expect_request(lambda request: request.url.startswith(BACK)) as sent:
        visitor.presses(press)
    return parse_qs(urlsplit(sent.value.url).query)


@pytest.fixture
def at_bobs(visit: MakeVisitor, home: Instance) -> Visitor:
    """Somebody signed in as alice, whose browser may go to the address of bob's application."""
    visitor = visit(elsewhere=(urlsplit(BACK).netloc,))
    visitor.context.route(f"{BACK}*", lambda route: route.fulfill(status=204))
    visitor.is_signed_in_as(home.person("alice"))
    return visitor


# Consent


def test_declining_sends_the_application_away(at_bobs: Visitor, home: Instance) -> None:
    application = application_of(home)
    at_bobs.goes_to(consent(application, state="s 1&2"))
    at_bobs.page.get_by_text("127.0.0.1:9").wait_for()
    answer = sent_back(at_bobs, "Cancel")
    assert answer["error"] == ["access_denied"]
    assert answer["state"] == ["s 1&2"]
    assert "code" not in answer


def test_nobody_is_sent_to_an_address_that_is_not_registered(at_bobs: Visitor, home: Instance) -> None:
    application = application_of(home)
    for address in (
        "http://127.0.0.1:9/back/",
        "http://127.0.0.1:9/other",
        "//[",
        "javascript:alert(1)",
        "//127.0.0.1:9/back",
    ):
        at_bobs.goes_to(consent(application, redirect_uri=address))
        at_bobs.reads("This request does not work")
        expect(at_bobs.page.get_by_role("button", name="Allow")).to_have_count(0)
    at_bobs.goes_to(consent({"id": "1"}))
    at_bobs.reads("This request does not work")
    at_bobs.goes_to(consent(application, scope="everything"))
    at_bobs.presses("Allow")
    at_bobs.page.locator(".errors li").wait_for()


def test_who_is_not_signed_in_signs_in_first_and_comes_back(visit: MakeVisitor, home: Instance) -> None:
    application = application_of(home)
    visitor = visit()
    visitor.goes_to(consent(application))
    visitor.arrives_at("/login")
    bob = home.person("bob")
    visitor.fills(email=bob["email"], password=bob["password"])
    visitor.presses("Sign in")
    visitor.page.get_by_role("heading", name="Calendar wants to use your account").wait_for()
    visitor.page.get_by_text("Signed in as Bob").wait_for()
    visitor.presses("Not you?")
    visitor.arrives_at("/login")
    expect(visitor.page.get_by_role("button", name="Sign out")).to_have_count(0)


def test_a_bot_is_added_to_a_community(at_bobs: Visitor, home: Instance) -> None:
    application = application_of(home)
    alice = home.person("alice")
    guild = home.call("POST", "/v1/guilds", {"name": "Chess club"}, alice["token"])
    at_bobs.goes_to(consent(application, redirect_uri="", scope="bot", permissions=str(8 | 2048)))
    at_bobs.page.get_by_text("Do anything (administrator)").wait_for()
    at_bobs.page.get_by_text("Write messages", exact=True).wait_for()
    at_bobs.presses("Allow")
    at_bobs.is_told("Choose the community that the bot is added to.")
    at_bobs.page.get_by_label("Add the bot to").select_option("Chess club")
    at_bobs.presses("Allow")
    at_bobs.reads("The bot is added")
    members = home.call("GET", f"/v1/guilds/{guild['id']}/members?limit=10", token=alice["token"])
    assert {member["user"]["id"] for member in members} == {alice["id"], application["bot"]["id"]}
    at_bobs.goes_to(consent(application, redirect_uri="", scope="bot"))
    at_bobs.page.get_by_label("Add the bot to").select_option("Chess club")
    at_bobs.presses("Allow")
    at_bobs.page.locator(".errors li").wait_for()


def test_names_from_outside_are_only_ever_text(at_bobs: Visitor, home: Instance) -> None:
    application = application_of(home, HOSTILE)
    alice = home.person("alice")
    guild = home.call("POST", "/v1/guilds", {"name": HOSTILE}, alice["token"])
    channel = next(
        c for c in home.call("GET", f"/v1/guilds/{guild['id']}/channels", token=alice["token"]) if c["type"] == 0
    )
    invite = home.call("POST", f"/v1/channels/{channel['id']}/invites", {}, alice["token"])
    at_bobs.goes_to(consent(application, scope="identify bot"))
    at_bobs.page.get_by_role("heading", name=HOSTILE).wait_for()
    at_bobs.page.get_by_role("option", name=HOSTILE).wait_for(state="attached")
    home.exchange(application, sent_back(at_bobs, "Allow")["code"][0], BACK)
    at_bobs.goes_to("/settings")
    at_bobs.section("Applications").get_by_text(HOSTILE).wait_for()
    at_bobs.goes_to(f"/invite/{invite['code']}")
    at_bobs.page.get_by_role("heading", name=HOSTILE).wait_for()
    expect(at_bobs.page.locator("main img:not(#invite-picture)")).to_have_count(0)
    expect(at_bobs.page.locator("#invite-picture")).to_be_hidden()
    expect(at_bobs.page.locator("main script")).to_have_count(0)


# Invites


def test_an_invite_is_accepted(visit: MakeVisitor, home: Instance) -> None:
    alice = home.person("alice")
    invite = home.call("POST", f"/v1/channels/{home.world['channel_id']}/invites", {"max_uses": 1}, alice["token"])
    visitor = visit()
    visitor.goes_to(f"/invite/{invite['code']}")
    visitor.page.get_by_text("Alice invites you to").wait_for()
    visitor.follows("Make an account")
    visitor.fills(email="frieda@example.org", password="four unrelated words")
    visitor.presses("Make the account")
    visitor.follows("Go on")
    visitor.goes_to(home.mail("verification", "frieda@example.org")["link"])
    visitor.reads("Your address is confirmed")
    visitor.goes_to(f"/invite/{invite['code']}")
    visitor.presses("Accept the invite")
    visitor.enters()
    visitor.goes_to(f"/invite/{invite['code']}")
    visitor.reads("This invite does not work")
    visitor.goes_to("/invite/%3Cb%3E")
    visitor.reads("This invite does not work")


# What stands in the client; passkeys


def test_sessions_and_leaving_stand_in_the_client(visitor: Visitor, home: Instance) -> None:
    visitor.is_signed_in_as(home.person("bob"))
    for name in ("Sessions", "Leaving"):
        visitor.follows(name)
        visitor.reads(name)
        visitor.arrives_at(f"/channels/@me/settings/{name.lower()}")
        visitor.goes_to("/settings")


def test_a_passkey_becomes_the_second_step_and_goes_again(visitor: Visitor, home: Instance) -> None:
    person = {"email": "gina@example.org", "password": "four unrelated words"}
    home.call("POST", "/v1/auth/register", person)
    visitor.has_authenticator()
    visitor.is_signed_in_as(person)
    # Who has just signed in is asked for nothing.
    visitor.presses("Add a passkey")
    visitor.fills(name="Key ring")
    visitor.presses("Save")
    visitor.is_told("The passkey is added.")

    visitor.page.get_by_label("Ask for a passkey when I sign in").check()
    visitor.reads("Confirm that it is you")
    visitor.confirms("Use a passkey")
    visitor.is_told("now asks for a passkey")
    visitor.presses("Sign out")
    visitor.arrives_at("/login")
    visitor.signs_in(person)
    visitor.presses("Use a passkey")
    visitor.enters()
    visitor.goes_to("/settings")

    visitor.presses("Rename Key ring")
    visitor.fills(name="Drawer")
    visitor.presses("Save")
    visitor.is_told("The passkey is now called Drawer.")
    visitor.presses("Remove Drawer")
    visitor.confirms("Cancel")
    visitor.is_told("Nothing was changed.")
    visitor.presses("Remove Drawer")
    visitor.confirms("Remove")
    visitor.confirms("Use a passkey")
    visitor.is_told("The passkey is removed.")
    visitor.page.get_by_text("You have none yet.").wait_for()
    visitor.presses("Sign out")
    visitor.arrives_at("/login")
    visitor.presses("Sign in with a passkey")
    visitor.page.locator(".errors li").wait_for()


def test_backup_codes_are_renewed_and_the_app_is_turned_off(visitor: Visitor, home: Instance) -> None:
    email = "hanna@example.org"
    person = {"email": email, "password": "four unrelated words"}
    home.call("POST", "/v1/auth/register", person)
    home.call("POST", "/v1/auth/verify", {"token": home.mail("verification", email)["token"]})
    visitor.is_signed_in_as(person)
    app = visitor.section("Authenticator app")
    app.get_by_role("button", name="Set up").click()
    secret = app.locator("#totp-secret").inner_text()
    home.pass_time(300)
    visitor.fills(code=home.code(secret))
    visitor.presses("Turn on")
    visitor.reads("Confirm that it is you")
    visitor.fills(password="not her password")
    visitor.presses("Continue")
    visitor.is_told("The password is wrong.")
    visitor.fills(password=person["password"])
    visitor.presses("Continue")
    visitor.is_told("The authenticator app is set up.")
    expect(visitor.page.locator("#codes li")).to_have_count(10)
    first = visitor.page.locator("#codes li").all_inner_texts()
    visitor.presses("I have kept them")
    visitor.presses("Make new codes")
    visitor.confirms("Make new codes")
    visitor.fills(code=first[0])
    visitor.presses("Continue")
    visitor.page.locator("#codes li").first.wait_for()
    visitor.until(lambda: visitor.page.locator("#codes li").count() == 10)
    second = visitor.page.locator("#codes li").all_inner_texts()
    assert not set(first) & set(second)
    app.get_by_role("button", name="Turn off").click()
    visitor.fills(code=first[1])
    app.locator("form:visible").get_by_role("button", name="Turn off").click()
    visitor.page.locator("#totp-disable-form .errors li").wait_for()
    visitor.fills(code=second[0])
    app.locator("form:visible").get_by_role("button", name="Turn off").click()
    visitor.is_told("The authenticator app is turned off")
    visitor.presses("Sign out")
    visitor.arrives_at("/login")
    visitor.is_signed_in_as(person)


def test_an_address_is_changed_and_taken_back(visitor: Visitor, home: Instance) -> None:
    old, new, password = "nora@example.org", "not.nora@example.org", "four unrelated words"
    home.call("POST", "/v1/auth/register", {"email": old, "password": password})
    home.call("POST", "/v1/auth/verify", {"token": home.mail("verification", old)["token"]})
    visitor.is_signed_in_as({"email": old, "password": password})
    visitor.presses("Change the address")
    visitor.page.get_by_text(f"We sent a code to {old}.").wait_for()
    profile = visitor.section("Profile")
    visitor.fills(code="wrong")
    profile.get_by_role("button", name="Continue").click()
    visitor.is_told("This code is wrong.")
    visitor.fills(code=home.sent_code("email_change", old))
    profile.get_by_role("button", name="Continue").click()
    visitor.fills(new_email=new)
    profile.get_by_role("button", name="Continue").click()
    visitor.page.get_by_text(f"We sent a code to {new}.").wait_for()
    visitor.fills(code=home.sent_code("email_change", new))
    profile.get_by_role("button", name="Continue").click()
    visitor.fills(password=password)
    visitor.confirms("Continue")
    visitor.is_told(f"Your address is now {new}.")

    # It was somebody else who did this: whoever reads the old mailbox takes the account back.
    link = home.mail("email_revert", old)["link"]
    visitor.goes_to(link)
    expect(visitor.page).not_to_have_url(re.compile("#"))
    visitor.fills(password="other unrelated words")
    visitor.presses("Take my account back")
    visitor.reads("The account is yours again")
    visitor.follows("Go to your settings")
    visitor.section("Profile").get_by_text(old).wait_for()
    visitor.goes_to(link)
    visitor.fills(password="third unrelated words")
    visitor.presses("Take my account back")
    visitor.reads("This link does not work")


def test_a_session_that_ended_elsewhere_leads_to_signing_in(visitor: Visitor, home: Instance) -> None:
    person = {"email": "jana@example.org", "password": "four unrelated words"}
    token = home.call("POST", "/v1/auth/register", person)["token"]
    visitor.goes_to("/login")
    visitor.page.evaluate(
        "session => localStorage.setItem('session', session)", f'{{"token": "{token}", "name": "Jana"}}'
    )
    visitor.goes_to("/settings")
    visitor.reads("Settings")
    home.call("POST", "/v1/auth/logout", token=token)
    visitor.goes_to("/settings")
    visitor.arrives_at("/login")


def test_without_staying_signed_in_the_session_goes_with_the_tab(visitor: Visitor, home: Instance) -> None:
    bob = home.person("bob")
    visitor.goes_to("/login")
    visitor.page.get_by_label("Stay signed in").uncheck()
    visitor.fills(email=bob["email"], password=bob["password"])
    visitor.presses("Sign in")
    visitor.enters()
    visitor.goes_to("/settings")
    assert visitor.page.evaluate("localStorage.length") == 0
    other = visitor.context.new_page()
    visitor.watch(other)
    other.goto("/settings")
    other.wait_for_url("**/login?next=%2Fsettings")


def test_after_signing_in_nobody_is_led_to_another_site(visitor: Visitor, home: Instance) -> None:
    bob = home.person("bob")
    for place in (
        "https://evil.example/",
        "//evil.example/",
        "/\\evil.example/",
        "/.//evil.example/",
        "/%2e//evil.example/",
        "/login/..//evil.example/",
        "javascript:alert(1)",
    ):
        visitor.goes_to(f"/login?{urlencode({'next': place})}")
        visitor.fills(email=bob["email"], password=bob["password"])
        visitor.presses("Sign in")
        visitor.enters()
        expect(visitor.page).to_have_url(re.compile(f"^{home.origin}/channels/"))
        visitor.goes_to("/settings")
        visitor.presses("Sign out")
        visitor.arrives_at("/login")


# By the address of the machine, by keyboard, without scripts


def test_by_its_ip_address_the_instance_is_used_under_its_name(visitor: Visitor, home: Instance) -> None:
    visitor.page.goto(f"http://127.0.0.1:{home.port}/reset?x=1#token={'a' * 64}")
    visitor.reads("Choose a new password")
    expect(visitor.page).to_have_url(f"{home.origin}/reset?x=1")


def test_signing_in_takes_only_a_keyboard(visitor: Visitor, home: Instance) -> None:
    bob = home.person("bob")
    visitor.goes_to("/login")
    page = visitor.page
    page.get_by_role("heading", name="Sign in").wait_for()
    page.keyboard.press("Tab")
    expect(page.locator(".skip")).to_be_focused()
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    page.keyboard.type(bob["email"])
    page.keyboard.press("Tab")
    page.keyboard.type("wrong password")
    page.keyboard.press("Enter")
    visitor.is_told("The email address or the password is wrong.")
    expect(page.locator("[role=alert]:focus")).to_have_count(1)
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    expect(page.locator("[name=email]")).to_be_focused()
    page.keyboard.press("Tab")
    page.keyboard.press("Control+A")
    page.keyboard.type(bob["password"])
    page.keyboard.press("Tab")
    outline = page.evaluate("getComputedStyle(document.activeElement).outlineStyle")
    assert outline == "solid"
    page.keyboard.press("Shift+Tab")
    page.keyboard.press("Enter")
    visitor.enters()
    visitor.goes_to("/settings")


def test_a_dialog_keeps_the_focus_and_gives_it_back(visitor: Visitor, home: Instance) -> None:
    person = {"email": "ida@example.org", "password": "four unrelated words"}
    home.call("POST", "/v1/auth/register", person)
    visitor.has_authenticator()
    visitor.is_signed_in_as(person)
    page = visitor.page
    page.get_by_role("button", name="Add a passkey").focus()
    page.keyboard.press("Enter")
    page.get_by_role("dialog").wait_for()
    for _ in range(5):
        page.keyboard.press("Tab")
        page.wait_for_function(
            "() => document.activeElement === document.body || !!document.activeElement.closest('dialog')"
        )
    page.keyboard.press("Escape")
    visitor.is_told("Nothing was changed.")
    expect(page.locator("#passkey-add")).to_be_focused()


def test_without_scripts_the_pages_say_so(visit: MakeVisitor) -> None:
    visitor = visit(java_script_enabled=False)
    visitor.goes_to("/login")
    visitor.page.locator("noscript p").wait_for()
    expect(visitor.page.locator("noscript p")).to_contain_text("needs JavaScript")


def test_an_address_that_leads_nowhere(visitor: Visitor) -> None:
    visitor.goes_to("/nowhere")
    visitor.reads("There is nothing here")
    visitor.follows("To the front page")
    visitor.reads("Chat")


# The passkey bridge


def test_a_program_is_signed_in_over_the_passkey_bridge(visitor: Visitor, home: Instance) -> None:
    person = {"email": "kim@example.org", "password": "four unrelated words"}
    user_id = home.call("POST", "/v1/auth/register", person)["user_id"]
    visitor.has_authenticator()
    visitor.is_signed_in_as(person)
    home.pass_time(301)
    visitor.presses("Add a passkey")
    visitor.fills(password=person["password"])
    visitor.presses("Continue")
    visitor.presses("Save")
    visitor.is_told("The passkey is added.")

    verifier = "the secret of the program, forty-three chars"
    challenge = base64.urlsafe_b64encode(hashlib.sha256(verifier.encode()).digest()).rstrip(b"=").decode()
    bridge = home.call("POST", "/v1/auth/passkey-bridge/start", {"code_challenge": challenge})
    redeem = {"bridge_id": bridge["bridge_id"], "code_verifier": verifier}
    assert home.call("POST", "/v1/auth/passkey-bridge/redeem", redeem) == {"completed": False}
    visitor.goes_to(bridge["url"])
    visitor.presses("Use a passkey")
    visitor.reads("The program is signed in")
    expect(visitor.page).not_to_have_url(re.compile(bridge["bridge_id"]))
    assert home.call("POST", "/v1/auth/passkey-bridge/redeem", redeem)["user_id"] == user_id
    visitor.goes_to(bridge["url"])
    visitor.presses("Use a passkey")
    visitor.reads("This request is over")
    visitor.goes_to("/passkey-bridge")
    visitor.reads("This request is over")


# Instances with other settings


def test_a_sign_in_from_a_new_place_waits_for_the_mailed_link(visit: MakeVisitor) -> None:
    with instance(CHAT_IP_AUTHORIZATION="true") as careful:
        bob = careful.person("bob")
        at_home = visit(careful, extra_http_headers={"X-Test-Address": "10.0.0.7"})
        at_home.is_signed_in_as(bob)
        away = visit(careful, extra_http_headers={"X-Test-Address": "10.200.0.9"})
        away.page.clock.install()
        away.signs_in(bob)
        away.reads("Check your mail")
        away.page.get_by_text(bob["email"]).wait_for()
        careful.pass_time(31)
        away.page.clock.run_for(31_000)
        away.presses("Send the link again")
        away.is_told("Sent again.")
        at_home.goes_to(careful.mail("ip_authorization", bob["email"])["link"])
        expect(at_home.page).not_to_have_url(re.compile("#"))
        at_home.presses("Yes, let me in")
        at_home.reads("The sign-in is allowed")
        away.page.clock.run_for(4_000)
        away.enters()
        away.goes_to("/settings")
        at_home.goes_to(careful.mail("ip_authorization", bob["email"])["link"])
        at_home.presses("Yes, let me in")
        at_home.reads("This link does not work")
        visitors_address = away.page.evaluate("localStorage.getItem('session')")
        assert "cht_" in visitors_address


def test_a_forgotten_password_where_people_have_usernames(visit: MakeVisitor) -> None:
    with instance(CHAT_SIGN_IN="username", CHAT_SERVICE_NAME="Die Küche") as kitchen:
        visitor = visit(kitchen)
        visitor.goes_to("/register")
        visitor.fills(username="lena", password="four unrelated words")
        visitor.presses("Make the account")
        visitor.enters()
        visitor.goes_to("/settings")
        expect(visitor.page).to_have_title("Settings \N{EN DASH} Die Küche")
        visitor.presses("Make a recovery kit")
        visitor.confirms("Make a kit")
        visitor.fills(password="four unrelated words")
        visitor.presses("Continue")
        visitor.page.locator("#kit-code").wait_for()
        code = visitor.page.locator("#kit-code").inner_text()
        visitor.presses("Sign out")
        visitor.arrives_at("/login")
        visitor.follows("Forgot your password?")
        for attempt in range(2):
            visitor.fills(username="lena", code=code, password="other unrelated words")
            visitor.presses("Set the new password")
            if attempt == 0:
                visitor.reads("Your password is changed")
                visitor.goes_to("/recovery")
        visitor.page.locator(".errors li").wait_for()
        visitor.goes_to("/settings")  # the first time has signed her in
        visitor.presses("Sign out")
        visitor.arrives_at("/login")
        visitor.fills(username="lena", password="other unrelated words")
        visitor.presses("Sign in")
        visitor.enters()
        visitor.goes_to("/settings")
        visitor.page.wait_for_load_state("networkidle")  # its questions are answered before the server goes


def test_single_sign_on_and_what_it_closes(visit: MakeVisitor) -> None:
    with beside(Provider()) as office:
        settings = {
            "CHAT_SSO__ENABLED": "true",
            "CHAT_SSO__ENFORCED": "true",
            "CHAT_SSO__ISSUER": office.issuer,
            "CHAT_SSO__CLIENT_ID": CLIENT_ID,
            "CHAT_SSO__CLIENT_SECRET": CLIENT_SECRET,
            "CHAT_SSO__DISPLAY_NAME": "The Office",
            "CHAT_SSO__AUTO_PROVISION": "true",
        }
        with instance(**settings) as company:
            visitor = visit(company, elsewhere=(urlsplit(office.issuer).netloc,))
            visitor.goes_to("/settings")
            visitor.arrives_at("/login")
            expect(visitor.page.locator("input")).to_have_count(0)
            visitor.presses("Continue with The Office")
            visitor.arrives_at("/settings")
            visitor.section("Profile").get_by_text("zoe@example.com").wait_for()
            expect(visitor.page).not_to_have_url(re.compile("code="))
            visitor.goes_to("/register")
            visitor.reads("No new accounts here")
            visitor.goes_to("/forgot")
            visitor.page.get_by_text("You sign in to Chat with The Office").wait_for()

            # A sign-in that another browser began is not finished here.
            stranger = visit(company)
            begun = company.call("POST", "/v1/auth/sso/start", {})
            answer = urlencode(office.authorize(begun["authorization_url"]))
            stranger.goes_to(f"/auth/sso/callback?{answer}")
            stranger.reads("You are not signed in")
            stranger.goes_to("/sso/callback?error=access_denied")
            stranger.reads("You are not signed in")
            assert stranger.page.evaluate("localStorage.length + sessionStorage.length") == 0
