"""Canaries in what a whole process says to others (provider, CAPTCHA service, SMTP server): none is in its log."""

from __future__ import annotations

import re
import signal
from pathlib import Path
from typing import Any

import pytest
import trio

from tests.durability.server_process import running
from tests.loopback_http import Answer, Asked, LoopbackHttp
from tests.mail.smtp_server import HOST, Postbox, free_port, smtp_server
from tests.signing_in.sso.provider import CLIENT_ID, CLIENT_SECRET, Provider

CAPTCHA_SECRET = "captcha-secret-canary"
CAPTCHA_TOKEN = "captcha-token-canary"
SMTP_PASSWORD = "smtp-password-canary"


class Verifier(LoopbackHttp):
    async def answer(self, asked: Asked) -> Answer:
        return Answer(200, {"success": asked.form["response"] == CAPTCHA_TOKEN})


@pytest.mark.filterwarnings("ignore:Requiring AUTH while not requiring TLS")
async def test_nothing_secret_that_is_told_to_others_is_logged(tmp_path: Path) -> None:
    postbox, port = Postbox(), free_port()
    postbox.accounts["chat"] = SMTP_PASSWORD
    secrets: set[str] = {CLIENT_SECRET, CAPTCHA_SECRET, CAPTCHA_TOKEN, SMTP_PASSWORD}
    log = tmp_path / "log"
    with (
        smtp_server(postbox, port, authenticator=postbox.authenticate, auth_require_tls=False),
        log.open("wb") as stream,
    ):
        async with Provider().running() as provider, Verifier().running() as verifier:
            environment = {
                "CHAT_LOG_LEVEL": "debug",
                "CHAT_SSO__ENABLED": "true",
                "CHAT_SSO__ISSUER": provider.issuer,
                "CHAT_SSO__CLIENT_ID": CLIENT_ID,
                "CHAT_SSO__CLIENT_SECRET": CLIENT_SECRET,
                "CHAT_SSO__AUTO_PROVISION": "true",
                "CHAT_CAPTCHA__PROVIDER": "hcaptcha",
                "CHAT_CAPTCHA__SITE_KEY": "site",
                "CHAT_CAPTCHA__SECRET_KEY": CAPTCHA_SECRET,
                "CHAT_CAPTCHA__VERIFY_URL": f"{verifier.origin}/siteverify",
                "CHAT_MAIL__MODE": "smtp",
                "CHAT_MAIL__HOST": HOST,
                "CHAT_MAIL__PORT": str(port),
                "CHAT_MAIL__FROM": "chat@example.com",
                "CHAT_MAIL__TLS": "off",
                "CHAT_MAIL__USERNAME": "chat",
                "CHAT_MAIL__PASSWORD": SMTP_PASSWORD,
            }
            provider.in_userinfo = {"email"}
            provider.sign = lambda claims: remembered(secrets, provider.signed(claims))
            async with running(tmp_path / "data", log=stream, **environment) as server:
                client = server.alice.signed_in(None)
                for wrong in (None, {"aud": "another"}, {"nonce": "another"}):
                    provider.claims = wrong or {}
                    begun = (await client.post("/v1/auth/sso/start", {})).expect(200)
                    back = provider.authorize(begun["authorization_url"])
                    secrets.update(back.values())
                    answer = await client.post("/v1/auth/sso/complete", back)
                    assert answer.status == (502 if wrong == {"aud": "another"} else 400 if wrong else 200)
                    if answer.status == 200:
                        secrets.add(answer.json()["token"])
                for token in ("wrong-captcha-canary", CAPTCHA_TOKEN):
                    secrets.add(token)
                    await client.request(
                        "POST",
                        "/v1/auth/register",
                        json={"email": "dave@example.com", "username": "dave", "password": "password-canary"},
                        headers={"X-Captcha-Token": token},
                    )
                await postbox.wait_for(1, seconds=20)
                await client.aclose()
                assert await server.end(signal.SIGTERM) == 0
    body: Any = postbox.messages[0].get_body(("plain",))
    found = re.search(r"#token=([A-Za-z0-9]{64})", body.get_content())
    assert found is not None
    secrets |= {
        found[1],
        "password-canary",
        *(asked.form.get("code_verifier", CLIENT_SECRET) for asked in provider.requests),
    }
    secrets.update(
        asked.headers["authorization"].split()[1] for asked in provider.requests if "authorization" in asked.headers
    )
    text = await trio.Path(log).read_text()
    assert "mail sent" in text
    assert "an id token is not believed" in text
    assert [secret for secret in sorted(secrets) if secret in text] == []


def remembered(secrets: set[str], secret: str) -> str:
    secrets.add(secret)
    return secret
