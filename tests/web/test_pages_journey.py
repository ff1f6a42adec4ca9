"""One person and the pages: from signing up to losing the phone, all in a browser (issue 3, Accepted when)."""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

import pytest
from playwright.sync_api import expect

from tests.web.browsing import Instance, Visitor
from tests.web.conftest import MakeVisitor

EMAIL = "dora@example.org"
PASSWORD = "four unrelated words here"
NEW_PASSWORD = "other words that belong to nobody"


class Landing(BaseHTTPRequestHandler):
    """The application's own page, to which a browser comes back."""

    def do_GET(self) -> None:
        body = b"<!doctype html><html lang=en><title>Application</title><h1>Back at the application</h1>"
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: Any) -> None:
        """Nothing to stderr."""


@contextmanager
def landing() -> Iterator[str]:
    """The address of an application that browsers can be sent back to."""
    with HTTPServer(("127.0.0.1", 0), Landing) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}/landed"
        finally:
            server.shutdown()
            thread.join()


def sign_in(visitor: Visitor, password: str) -> None:
    """Email address and password; what comes then is the account's business."""
    visitor.goes_to("/login")
    visitor.fills(email=EMAIL, password=password)
    visitor.presses("Sign in")


def sign_out(visitor: Visitor) -> None:
    visitor.presses("Sign out")
    visitor.arrives_at("/login")


def application_of(home: Instance, redirect_uri: str) -> dict[str, Any]:
    """An application of bob's."""
    made: dict[str, Any] = home.call(
        "POST",
        "/v1/oauth2/applications",
        {"name": "Calendar & <b>co</b>", "redirect_uris": [redirect_uri]},
        home.person("bob")["token"],
    )
    return made


def test_a_person_lives_with_an_account(visit: MakeVisitor, home: Instance) -> None:
    with landing() as redirect_uri:
        visitor = visit(elsewhere=(urlsplit(redirect_uri).netloc,))
        page = visitor.page
        visitor.has_authenticator()

        # She signs up and confirms her address.
        visitor.goes_to("/")
        visitor.follows("Make an account")
        visitor.fills(email=EMAIL, global_name="Dora", username="dora", password=PASSWORD)
        visitor.presses("Make the account")
        visitor.reads("Check your mail")
        visitor.goes_to(home.mail("verification", EMAIL)["link"])
        visitor.reads("Your address is confirmed")
        expect(page).not_to_have_url(re.compile("#"))
        visitor.follows("Go to your settings")
        visitor.section("Profile").get_by_text("confirmed", exact=True).wait_for()

        # She sets up an authenticator app and keeps its backup codes.
        authenticator = visitor.section("Authenticator app")
        authenticator.get_by_role("button", name="Set up").click()
        authenticator.get_by_alt_text("QR code").wait_for()
        secret = authenticator.locator("#totp-secret").inner_text()
        visitor.fills(code="000000")
        authenticator.get_by_role("button", name="Turn on").click()
        visitor.is_told("This code is wrong.")
        visitor.fills(code=home.code(secret))
        authenticator.get_by_role("button", name="Turn on").click()
        visitor.is_told("The authenticator app is set up.")
        expect(page.locator("#codes li")).to_have_count(10)
        codes = page.locator("#codes li").all_inner_texts()
        assert all(re.fullmatch(r"[a-z0-9]{4}-[a-z0-9]{4}", code) for code in codes)
        visitor.presses("I have kept them")
        expect(page.locator("#codes li")).to_have_count(0)

        # She adds a passkey; some time after she signed in, that asks for a proof first.
        home.pass_time(300)
        visitor.presses("Add a passkey")
        visitor.reads("Confirm that it is you")
        visitor.fills(code="nonsense")
        visitor.presses("Continue")
        visitor.is_told("The second factor was not accepted.")
        visitor.fills(code=home.code(secret))
        visitor.presses("Continue")
        visitor.reads("Name the passkey")
        visitor.fills(name="Laptop")
        visitor.presses("Save")
        visitor.is_told("The passkey is added.")
        visitor.section("Passkeys").get_by_text("Laptop", exact=True).wait_for()

        # She signs out, and in again with each.
        sign_out(visitor)
        sign_in(visitor, PASSWORD)
        visitor.reads("Confirm that it is you")
        visitor.fills(code=home.code(secret))
        visitor.presses("Continue")
        visitor.enters()
        visitor.goes_to("/settings")
        sign_out(visitor)
        visitor.presses("Sign in with a passkey")
        visitor.enters()
        visitor.goes_to("/settings")
        sign_out(visitor)

        # She loses the phone: a backup code lets her in, once.
        for attempt in range(2):
            sign_in(visitor, PASSWORD)
            visitor.presses("Lost your phone? Use a backup code")
            visitor.fills(code=codes[0])
            visitor.presses("Continue")
            if attempt == 0:
                visitor.enters()
                visitor.goes_to("/settings")
                sign_out(visitor)
            else:
                visitor.is_told("This code is wrong.")

        # She forgets the password, too, and gets a new one by mail; the second step still stands.
        visitor.follows("Start again")
        visitor.follows("Forgot your password?")
        visitor.fills(email=EMAIL)
        visitor.presses("Send the link")
        visitor.reads("Check your mail")
        link = home.mail("password_reset", EMAIL)["link"]
        visitor.goes_to(link)
        expect(page).not_to_have_url(re.compile("#"))
        visitor.fills(password="short")
        visitor.presses("Set the new password")
        visitor.is_told("Use at least 8 characters.")
        visitor.fills(password=NEW_PASSWORD)
        visitor.presses("Set the new password")
        visitor.reads("Confirm that it is you")
        visitor.presses("Lost your phone? Use a backup code")
        visitor.fills(code=codes[1])
        visitor.presses("Continue")
        visitor.reads("Your password is changed")
        visitor.goes_to(link)
        visitor.fills(password=PASSWORD)
        visitor.presses("Set the new password")
        visitor.reads("This link does not work")

        # She allows an application to see who she is.
        application = application_of(home, redirect_uri)
        query = {
            "client_id": application["id"],
            "redirect_uri": redirect_uri,
            "response_type": "code",
            "scope": "identify email",
            "state": "kept-by-the-application",
        }
        visitor.goes_to(f"/oauth2/authorize?{urlencode(query)}")
        page.get_by_role("heading", name="Calendar & <b>co</b> wants to use your account").wait_for()
        page.get_by_text("See your email address").wait_for()
        visitor.presses("Allow")
        visitor.arrives_at("/landed")
        answer = parse_qs(urlsplit(page.url).query)
        assert answer["state"] == ["kept-by-the-application"]
        tokens = home.exchange(application, answer["code"][0], redirect_uri)
        bearer = f"Bearer {tokens['access_token']}"
        assert home.call("GET", "/v1/users/@me", token=bearer)["email"] == EMAIL

        # She takes it back.
        visitor.goes_to("/settings")
        visitor.presses("Take back Calendar & <b>co</b>")
        visitor.confirms("Take back")
        visitor.is_told("has no access to your account any more")
        with pytest.raises(OSError, match="401"):
            home.call("GET", "/v1/users/@me", token=bearer)

        # Nothing of all this stood in an address that she or the application can find again.
        asked = "\n".join(visitor.addresses)
        assert link.partition("#token=")[2] not in asked
        for secret_text in (PASSWORD, NEW_PASSWORD, secret.replace(" ", ""), codes[0], "cht_"):
            assert secret_text not in asked


def test_the_old_password_is_gone_after_a_change(visitor: Visitor, home: Instance) -> None:
    carol = home.person("carol")
    visitor.is_signed_in_as(carol)
    visitor.fills(new_password=NEW_PASSWORD)
    visitor.presses("Change the password")
    visitor.reads("Confirm that it is you")
    visitor.fills(password="not her password")
    visitor.presses("Continue")
    visitor.is_told("The password is wrong.")
    visitor.fills(password=carol["password"])
    visitor.presses("Continue")
    visitor.arrives_at("/login")
    visitor.is_told("Your password is changed.")
    visitor.fills(email=carol["email"], password=carol["password"])
    visitor.presses("Sign in")
    visitor.is_told("The email address or the password is wrong.")
    visitor.fills(email=carol["email"], password=NEW_PASSWORD)
    visitor.presses("Sign in")
    visitor.enters()
    visitor.goes_to("/settings")
