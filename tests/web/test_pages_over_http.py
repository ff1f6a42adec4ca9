"""The pages without a browser: what is sent, with which headers, and to whom."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ElementTree
from typing import Any
from urllib.parse import urlsplit

import pytest

from chat.testing.rest_client import Response, RestClient
from chat.testing.world import World
from chat.web.pages import PAGES

HTML = {"Accept": "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"}
PATHS = [path.replace("<bridge>", "b").replace("<code>", "c") for paths in PAGES.values() for path in paths]

SECRET = "JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP"
TOTP = f"otpauth://totp/Chat%3Aalice?secret={SECRET}&issuer=Chat"

INLINE = re.compile(r'<script(?! type="module" src="/static/)|<style|\sstyle=|\son\w+="')
"""What the content security policy would refuse to run."""


async def asks(client: RestClient, path: str, method: str = "GET", **headers: str) -> Response:
    return await client.request(method, path, headers={name.replace("_", "-"): text for name, text in headers.items()})


def assets_of(page: Response) -> list[str]:
    return re.findall(r'"(/static/[^"]+)"', page.body.decode())


@pytest.mark.parametrize("path", PATHS)
async def test_a_page_is_html_under_a_strict_policy(chat_world: World, path: str) -> None:
    answer = await asks(chat_world.anyone, path)
    assert answer.status == 200
    assert answer.header("content-type") == "text/html; charset=utf-8"
    policy = (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
        "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
    )
    if path in {"/", "/admin", "/dev"}:
        policy += "; require-trusted-types-for 'script'; trusted-types 'none'"
    assert answer.header("content-security-policy") == policy
    assert answer.header("referrer-policy") == "no-referrer"
    assert answer.header("x-content-type-options") == "nosniff"
    assert answer.header("x-frame-options") == "DENY"
    assert answer.header("cross-origin-opener-policy") == "same-origin"
    assert "publickey-credentials-get=(self)" in (answer.header("permissions-policy") or "")
    assert answer.header("set-cookie") is None
    text = answer.body.decode()
    assert text.startswith('<!doctype html>\n<html lang="en">')
    assert INLINE.search(text) is None
    # Sent without its script, no form puts what was typed into an address.
    forms = re.findall(r"<form[^>]*>", text)
    assert all('method="post"' in form or 'method="dialog"' in form for form in forms)


async def test_a_page_is_the_same_for_everybody(chat_world: World) -> None:
    """Nothing that a person sent or is comes back in a page."""
    plain = await asks(chat_world.anyone, "/invite/c")
    for path in ("/invite/%3Cscript%3Ealert(1)%3C", "/invite/c?x=%3Cb%3E"):
        assert (await asks(chat_world.alice.rest, path)).body == plain.body


async def test_a_page_is_asked_for_again_only_when_it_changed(chat_world: World) -> None:
    first = await asks(chat_world.anyone, "/login")
    assert first.header("cache-control") == "no-cache"
    tag = first.header("etag")
    assert tag is not None
    again = await asks(chat_world.anyone, "/login", If_None_Match=tag)
    assert (again.status, again.body) == (304, b"")
    other = await asks(chat_world.anyone, "/login", If_None_Match='"another"')
    assert (other.status, other.body) == (200, first.body)


@pytest.mark.parametrize("path", ["/", "/login", "/oauth2/authorize"])
async def test_head_is_get_without_the_page(chat_world: World, path: str) -> None:
    got = await asks(chat_world.anyone, path)
    head = await asks(chat_world.anyone, path, "HEAD")
    assert (head.status, head.body) == (200, b"")
    assert head.header("content-length") == str(len(got.body)) == got.header("content-length")
    assert head.header("content-security-policy") == got.header("content-security-policy")


async def test_files_may_be_kept_for_ever(chat_world: World) -> None:
    names = assets_of(await asks(chat_world.anyone, "/settings"))
    assert {name.rsplit(".", 1)[1] for name in names} == {"css", "js", "svg"}
    types = {"css": "text/css; charset=utf-8", "js": "text/javascript; charset=utf-8", "svg": "image/svg+xml"}
    for name in names:
        answer = await asks(chat_world.anyone, name)
        assert answer.status == 200
        assert answer.header("cache-control") == "public, max-age=31536000, immutable"
        assert answer.header("content-type") == types[name.rsplit(".", 1)[1]]
        assert answer.header("x-content-type-options") == "nosniff"
        assert answer.header("content-security-policy") is not None
    _, _, digest, folder, script = next(name for name in names if name.endswith(".js")).split("/")
    assert folder == "static"
    for path in (
        f"/static/{'0' * len(digest)}/static/{script}",
        f"/static/{digest}/static/none.js",
        f"/static/{digest}/static/../../pages.py",
        f"/static/{digest}/static/..%2F..%2Fpages.py",
        f"/static/{digest}/%2e%2e%2fassets.py",
        f"/static/{digest}/",
    ):
        assert (await asks(chat_world.anyone, path)).status == 404


async def test_nowhere_is_a_page_for_browsers_and_json_for_programs(chat_world: World) -> None:
    page = await asks(chat_world.anyone, "/nowhere", **HTML)
    assert (page.status, page.header("content-type")) == (404, "text/html; charset=utf-8")
    assert b"There is nothing here" in page.body
    assert page.header("content-security-policy") is not None
    for headers in ({}, {"Accept": "*/*"}, {"Accept": "application/json"}, {"Accept": "text/html;q=0"}):
        answer = await asks(chat_world.anyone, "/nowhere", **headers)
        assert (answer.status, answer.code) == (404, "NOT_FOUND")
        assert answer.header("content-type") == "application/json"
    for path in ("/v1/nowhere", "/v1/"):
        assert (await asks(chat_world.anyone, path, **HTML)).header("content-type") == "application/json"
    assert (await asks(chat_world.anyone, "/login", "POST")).code == "NOT_FOUND"
    assert (await asks(chat_world.anyone, "/login/", **HTML)).status == 404


async def test_browsers_find_the_places_of_the_administration(chat_world: World) -> None:
    """Programs do not: the Admin API lies below /v1 alone (rule 002.versioning.1)."""
    console = await asks(chat_world.anyone, "/admin", **HTML)
    for place in ("/admin/users", "/admin/users/1/history", "/admin/no/such/place"):
        page = await asks(chat_world.anyone, place, **HTML)
        assert (page.status, page.body) == (200, console.body)
        assert page.header("content-security-policy") == console.header("content-security-policy")
        answer = await asks(chat_world.admin.rest, place, Accept="application/json")
        assert (answer.status, answer.code) == (404, "NOT_FOUND")
    assert (await asks(chat_world.anyone, "/admin/", **HTML)).status == 404
    assert (await asks(chat_world.admin.rest, "/admin/users", "POST", **HTML)).status == 404


async def test_the_qr_code_of_a_secret(chat_world: World) -> None:
    alice = chat_world.alice.rest
    answer = await alice.post("/settings/totp-qr-code", {"uri": TOTP})
    assert answer.status == 200
    assert answer.header("content-type") == "image/svg+xml"
    assert answer.header("cache-control") == "no-store"
    assert SECRET.encode() not in answer.body
    assert ElementTree.fromstring(answer.body).tag == "{http://www.w3.org/2000/svg}svg"  # noqa: S314 - our own
    other = await alice.post("/settings/totp-qr-code", {"uri": TOTP.replace("JBSW", "KBSW")})
    assert other.body != answer.body


@pytest.mark.parametrize(
    "body",
    [{}, [], None, {"uri": 1}, {"uri": ""}, {"uri": "https://example.com"}, {"uri": TOTP + "x" * 512}, {"uri": [TOTP]}],
)
async def test_other_texts_are_not_drawn(chat_world: World, body: Any) -> None:
    answer = await chat_world.alice.rest.post("/settings/totp-qr-code", body)
    assert (answer.status, answer.code) == (400, "INVALID_FORM_BODY")
    assert answer.json()["errors"][0]["path"] == "uri"


async def test_drawing_asks_for_a_sign_in(chat_world: World) -> None:
    for client in (chat_world.anyone, chat_world.anyone.signed_in("cht_" + "a" * 36)):
        answer = await client.post("/settings/totp-qr-code", {"uri": TOTP})
        assert (answer.status, answer.code) == (401, "UNAUTHORIZED")
    for rubbish in (b"{", b"\xff", b"[" * 100_000, b'{"uri": NaN}'):
        answer = await chat_world.alice.rest.request("POST", "/settings/totp-qr-code", body=rubbish)
        assert (answer.status, answer.code) == (400, "INVALID_FORM_BODY")


@pytest.mark.chat_settings(service_name='A & B <i>"')
async def test_the_service_is_called_what_its_operator_says(chat_world: World) -> None:
    for path in PATHS:
        text = (await asks(chat_world.anyone, path)).body.decode()
        assert "A &amp; B &lt;i&gt;" in text
        assert "<i>" not in text


@pytest.mark.chat_settings(registration="closed")
async def test_without_registration_nobody_is_led_to_it(chat_world: World) -> None:
    for path in ("/", "/login", "/invite/c"):
        assert b'href="/register"' not in (await asks(chat_world.anyone, path)).body
    assert b"takes no new accounts" in (await asks(chat_world.anyone, "/register")).body


@pytest.mark.chat_settings(**{"mail.mode": "off"})
async def test_without_mail_nobody_waits_for_any(chat_world: World) -> None:
    page = (await asks(chat_world.anyone, "/forgot")).body
    assert b"sends no mail" in page
    assert b'id="forgot-form"' not in page


async def test_links_in_mail_lead_to_pages(chat_world: World) -> None:
    """The pages that letters name are there (`chat.mail.letters`)."""
    await chat_world.anyone.post("/v1/auth/register", {"email": "new@example.org", "password": "four unrelated words"})
    await chat_world.anyone.post("/v1/auth/forgot", {"email": "alice@example.com"})
    mails = (await chat_world.anyone.get("/v1/_dev/mail")).json()
    links = [word for mail in mails for word in mail["text"].split() if "#token=" in word]
    assert len(links) == 2
    for link in links:
        assert (await asks(chat_world.anyone, urlsplit(link).path)).status == 200


@pytest.mark.chat_settings(**{"captcha.provider": "turnstile", "captcha.site_key": "s", "captcha.secret_key": "t"})
async def test_only_pages_with_a_challenge_let_its_provider_in(chat_world: World) -> None:
    provider = "https://challenges.cloudflare.com"
    for path in PATHS:
        answer = await asks(chat_world.anyone, path)
        policy = dict(part.split(" ", 1) for part in (answer.header("content-security-policy") or "").split("; "))
        if path not in {"/login", "/register", "/forgot", "/admin/sign-in"}:
            assert provider not in "".join(policy.values())
            continue
        assert {name: sources for name, sources in policy.items() if provider in sources} == {
            "script-src": f"'self' {provider}",
            "style-src": f"'self' {provider}",
            "connect-src": f"'self' {provider}",
            "frame-src": provider,
        }
        assert policy["default-src"] == policy["base-uri"] == policy["frame-ancestors"] == "'none'"
        assert b'data-provider="turnstile" data-site-key="s"' in answer.body


async def test_without_a_challenge_no_page_names_one(chat_world: World) -> None:
    for path in PATHS:
        assert b"captcha" not in (await asks(chat_world.anyone, path)).body
