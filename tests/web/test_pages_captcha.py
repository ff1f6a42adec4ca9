"""The pages of an instance with a CAPTCHA: the challenge stands before the forms that need it, and nowhere else."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Route

from tests.loopback_http import Answer, Asked, LoopbackHttp
from tests.web.browsing import Instance, Visitor, beside, instance
from tests.web.conftest import MakeVisitor

WIDGET = """
window.%(name)s = {
  solved: null,
  render(place, options) {
    const box = document.createElement("button");
    box.type = "button";
    box.textContent = `I am human (${options.sitekey})`;
    box.addEventListener("click", () => { this.solved = "solved-" + crypto.randomUUID(); });
    place.append(box);
    return 0;
  },
  getResponse() { return this.solved ?? ""; },
  reset() { this.solved = null; },
};
"""
SCRIPTS = {
    "hcaptcha": "https://js.hcaptcha.com/1/api.js?render=explicit",
    "turnstile": "https://challenges.cloudflare.com/turnstile/v0/api.js?render=explicit",
}


class Verifier(LoopbackHttp):
    """Takes each solution once."""

    async def answer(self, asked: Asked) -> Answer:
        token = asked.form["response"]
        earlier = [request.form["response"] for request in self.requests[:-1]]
        return Answer(200, {"success": token.startswith("solved-") and token not in earlier})


@pytest.fixture(scope="module", params=sorted(SCRIPTS))
def guarded(request: pytest.FixtureRequest) -> Iterator[tuple[Instance, str]]:
    with beside(Verifier()) as verifier:
        settings = {
            "CHAT_CAPTCHA__PROVIDER": request.param,
            "CHAT_CAPTCHA__SITE_KEY": "the site",
            "CHAT_CAPTCHA__SECRET_KEY": "secret",
            "CHAT_CAPTCHA__VERIFY_URL": f"{verifier.origin}/siteverify",
        }
        with instance(**settings) as running:
            yield running, request.param


@pytest.fixture
def challenged(guarded: tuple[Instance, str], visit: MakeVisitor) -> Visitor:
    """A visitor whose browser gets the service's script from us."""
    home, provider = guarded
    host = SCRIPTS[provider].split("/")[2]
    visitor = visit(home, elsewhere=(host,))

    def answer(route: Route) -> None:
        route.fulfill(body=WIDGET % {"name": provider}, content_type="text/javascript")

    visitor.page.route(SCRIPTS[provider], answer)
    return visitor


def test_somebody_solves_it_for_each_attempt(challenged: Visitor) -> None:
    alice = challenged.home.person("alice")
    challenged.goes_to("/login")
    challenged.fills(email=alice["email"], password="not the password")
    challenged.presses("Sign in")
    challenged.page.get_by_text("Solve the challenge first.").wait_for()
    challenged.presses("I am human (the site)")
    challenged.presses("Sign in")
    challenged.page.get_by_text("The email address or the password is wrong.").first.wait_for()
    challenged.fills(password=alice["password"])
    challenged.presses("Sign in")
    challenged.page.get_by_text("Solve the challenge first.").wait_for()
    challenged.presses("I am human (the site)")
    challenged.presses("Sign in")
    challenged.enters()


def test_so_does_somebody_who_registers(challenged: Visitor) -> None:
    name = f"dave{challenged.home.port}"
    challenged.goes_to("/register")
    challenged.fills(email=f"{name}@example.com", global_name="Dave", username=name, password="correct horse")
    challenged.presses("I am human (the site)")
    challenged.page.locator("#register-form button[type=submit]").click()
    challenged.page.get_by_text(f"{name}@example.com").wait_for()


def test_and_somebody_who_forgot(challenged: Visitor) -> None:
    challenged.goes_to("/forgot")
    challenged.fills(email="alice@example.com")
    challenged.presses("I am human (the site)")
    challenged.presses("Send the link")
    challenged.page.locator("#sent-to").wait_for()
    assert challenged.home.mail("password_reset", "alice@example.com")


def test_a_script_that_does_not_come_is_told(guarded: tuple[Instance, str], visit: MakeVisitor) -> None:
    home, provider = guarded
    visitor = visit(home, elsewhere=(SCRIPTS[provider].split("/")[2],))
    visitor.page.route(SCRIPTS[provider], lambda route: route.fulfill(status=404, body=""))
    alice = home.person("alice")
    visitor.goes_to("/login")
    visitor.fills(email=alice["email"], password=alice["password"])
    visitor.presses("Sign in")
    visitor.page.get_by_text("The challenge could not be loaded.").wait_for()
