"""A process at its most talkative, through every way to prove who one is, right and wrong: what it logs holds none of
the secrets that were said, and no address that it makes holds a credential.

Which values are secrets the run's own watch knows (`tests.canaries`), which also looks at the answers.

Area: security. Rules: 000.credentials.
"""

from __future__ import annotations

import time
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any, Final

import attrs
import pytest
import trio

from chat.testing.authenticator import Lie, SoftwareAuthenticator
from chat.testing.rest_client import RestClient
from chat.testing.world import World
from tests.applications.oauth2_client import BACK, CHALLENGE, VERIFIER, OAuth2Client
from tests.canaries import Watch
from tests.durability.server_process import ServerProcess, running
from tests.enrolment import MFA, PASSKEYS, Phone, assertion, register

PASSWORD: Final = "canary-that-sings-in-the-mine"
WRONG: Final = "wrong-canary-in-another-mine"
UNKNOWN: Final = "CanaryThatNobodyIssued-0123456789_abcdefghi"
MAILED: Final = "CanaryThatNobodyMailed0123456789abcdefghijklmnopqrstuvwxyzABCDEF"


@attrs.define
class ClockOfProcess:
    """What the server's clock shows, as far as this process can know."""

    offset_ms: int = 0

    def now_ms(self) -> int:
        return time.time_ns() // 1_000_000 + self.offset_ms


@attrs.define
class Talk:
    """The server, its world and its log."""

    server: ServerProcess
    world: World
    log: Path
    clock: ClockOfProcess = attrs.field(factory=ClockOfProcess)

    async def later(self) -> None:
        """In the next step of TOTP."""
        await self.world.anyone.advance_clock(30_000)
        self.clock.offset_ms += 30_000

    async def mailed(self, kind: str) -> Any:
        """The token of the last mail of this kind, which is under way for a moment."""
        with trio.fail_after(10):
            while True:
                mails = (await self.world.anyone.get("/v1/_dev/mail")).expect(200)
                tokens = [mail["token"] for mail in mails if mail["kind"] == kind]
                if tokens:
                    return tokens[-1]
                await trio.sleep(0.05)


@pytest.fixture
async def signed_in(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[None]:
    """Clients with a credential close their connections in the end."""
    made: list[RestClient] = []
    with_credential = RestClient.signed_in

    def signed_in(self: RestClient, token: str | None) -> RestClient:
        made.append(with_credential(self, token))
        return made[-1]

    monkeypatch.setattr(RestClient, "signed_in", signed_in)
    yield
    for client in made:
        await client.aclose()


@pytest.fixture
async def talk(tmp_path: Path, settings: dict[str, str], signed_in: None) -> AsyncIterator[Talk]:
    log = tmp_path / "log"
    with log.open("wb") as stream:
        async with (
            running(tmp_path / "data", log=stream, CHAT_LOG_LEVEL="debug", **settings) as server,
            trio.open_nursery() as nursery,
        ):
            world = World(server.world, server.route, nursery)
            yield Talk(server, world, log)
            await world.aclose()
            nursery.cancel_scope.cancel()


def heard_nothing(talk: Talk, watch: Watch) -> None:
    """The log is there, and none of the secrets is in it."""
    log = talk.log.read_text(encoding="utf-8")
    assert log.count("\n") >= 3
    assert "Traceback" not in log
    assert len(watch.secrets) >= 5
    for secret, where in watch.secrets.items():
        assert secret not in log, f"{where}: {log[max(0, log.index(secret) - 300) : log.index(secret) + 50]}"
    assert watch.addressed() == []


async def sign_up(talk: Talk, **members: object) -> RestClient:
    anyone = talk.world.anyone
    body = {"username": "dave", "password": PASSWORD, **members}
    return anyone.signed_in((await anyone.register(**body)).expect(200)["token"])


@pytest.mark.rule("000.credentials.22")
@pytest.mark.parametrize("settings", [{}])
async def test_passwords_second_factors_and_recovery(talk: Talk, secrets_stay_secret: Watch) -> None:
    anyone, email = talk.world.anyone, "dave@example.com"
    dave = await sign_up(talk, email=email)
    (await anyone.post("/v1/auth/verify", {"token": MAILED})).expect(400)
    (await anyone.post("/v1/auth/verify", {"token": await talk.mailed("verification")})).expect(204)
    (await anyone.login(email=email, password=WRONG)).expect(400)
    (await anyone.get(f"/v1/auth/reset/{MAILED}")).expect(200)
    secrets_stay_secret.secrets[MAILED] = "GET /v1/auth/reset/{token}"

    phone = Phone(talk.clock)
    backup_codes = await phone.enable(dave)
    ticket = (await anyone.login(email=email, password=PASSWORD)).expect(200)["ticket"]
    for code in (phone.wrong_code(), "canary-code-that-is-none"):
        (await anyone.post("/v1/auth/login/mfa/totp", {"ticket": ticket, "code": code})).expect(400)
    (await anyone.post("/v1/auth/login/mfa/totp", {"ticket": UNKNOWN, "code": backup_codes[0]})).expect(400)
    (await anyone.post("/v1/auth/login/mfa/totp", {"ticket": ticket, "code": backup_codes[0]})).expect(200)
    for wrong in ({"mfa_method": "totp", "mfa_code": phone.wrong_code()}, {"password": WRONG}, {}):
        assert (await dave.post(f"{MFA}/backup-codes", {"regenerate": True, **wrong})).status in (400, 403)
    await talk.later()
    proof = {"mfa_method": "totp", "mfa_code": phone.code()}
    answer = await dave.post(f"{MFA}/backup-codes", {"regenerate": True, **proof})
    answer.expect(200)
    sudo = answer.header("X-Service-Sudo-Mode-JWT")
    assert sudo is not None
    secrets_stay_secret.secrets[sudo] = "the sudo header"
    for token in (sudo, sudo[:-2] + "xx", UNKNOWN):
        await dave.request(
            "POST",
            "/v1/auth/sessions/logout",
            json={"session_id_hashes": []},
            headers={"X-Service-Sudo-Mode-JWT": token},
        )

    (await anyone.post("/v1/auth/forgot", {"email": email})).expect(204)
    token = await talk.mailed("password_reset")
    (await anyone.get(f"/v1/auth/reset/{token}")).expect(200)
    (await anyone.post("/v1/auth/reset", {"token": MAILED, "password": PASSWORD})).expect(400)
    (await anyone.post("/v1/auth/reset", {"token": token, "password": "short"})).expect(400)
    (await anyone.post("/v1/auth/reset", {"token": token, "password": PASSWORD + "!"})).expect(200)
    (await anyone.post("/v1/auth/email-revert", {"token": MAILED, "password": PASSWORD})).expect(400)
    (await anyone.post("/v1/_dev/gateway", {"storage_failing": True})).expect(200)
    for path, body in (
        ("/v1/auth/login", {"email": email, "password": PASSWORD + "!"}),
        ("/v1/auth/login/mfa/totp", {"ticket": ticket, "code": backup_codes[1]}),
        ("/v1/auth/reset", {"token": token, "password": PASSWORD + "?"}),
        ("/v1/auth/register", {"email": "erin@example.com", "username": "erin", "password": PASSWORD}),
    ):
        assert (await anyone.post(path, body)).status >= 400
    heard_nothing(talk, secrets_stay_secret)


@pytest.mark.rule("000.credentials.22")
@pytest.mark.parametrize("settings", [{}])
async def test_passkeys_and_the_bridge(talk: Talk, secrets_stay_secret: Watch) -> None:
    world = talk.world
    origin = f"http://localhost:{talk.server.route.port}"
    key = SoftwareAuthenticator(origin)
    evil = SoftwareAuthenticator("https://evil.example")
    assert (await register(world.bob.rest, evil, password=world.bob.password)).status == 400
    (await register(world.bob.rest, key, password=world.bob.password)).expect(204)
    proof = await assertion(world.bob.rest, key)
    listed = (await world.bob.rest.get(PASSKEYS)).expect(200)
    (await world.bob.rest.delete(f"{PASSKEYS}/{UNKNOWN}", proof)).expect(404)
    assert len(listed) == 1
    for lie in (Lie(signature=b"canary"), Lie(origin="https://evil.example"), Lie(challenge=UNKNOWN)):
        options = (await world.anyone.post("/v1/auth/webauthn/authentication-options")).expect(200)
        body = {"response": key.get(options, lie), "challenge": options["challenge"]}
        assert (await world.anyone.post("/v1/auth/webauthn/authenticate", body)).status == 401
    start = {"code_challenge": CHALLENGE["code_challenge"]}
    bridge = (await world.anyone.post("/v1/auth/passkey-bridge/start", start)).expect(200)
    redeem = {"bridge_id": bridge["bridge_id"], "code_verifier": VERIFIER}
    (await world.anyone.post("/v1/auth/passkey-bridge/redeem", {**redeem, "code_verifier": UNKNOWN})).expect(400)
    (await world.anyone.post("/v1/auth/passkey-bridge/redeem", redeem)).expect(202)
    heard_nothing(talk, secrets_stay_secret)


@pytest.mark.rule("000.credentials.22")
@pytest.mark.parametrize("settings", [{}])
async def test_oauth2_keys_webhooks_and_uploads(talk: Talk, secrets_stay_secret: Watch) -> None:
    world = talk.world
    client = await OAuth2Client.make(world)
    for state in ("canary-state-of-the-client", None):
        await client.ask(world.alice, state=state, redirect_uri="https://evil.example")
    code = await client.code(world.alice, "identify email guilds", **CHALLENGE)
    secrets_stay_secret.secrets[code] = "the authorisation code"
    (await client.exchange(code, secret=WRONG, code_verifier=VERIFIER)).expect(401)
    (await client.exchange(UNKNOWN, code_verifier=VERIFIER)).expect(400)
    granted = (await client.exchange(code, code_verifier=VERIFIER)).expect(200)
    (await client.exchange(code, code_verifier=VERIFIER)).expect(400)
    assert not await client.works(granted["access_token"]), "a code used twice ends what it gave"
    granted = await client.tokens(world.alice, "identify email guilds")
    renewed = (await client.refresh(granted["refresh_token"])).expect(200)
    for token in (renewed["access_token"], UNKNOWN):
        await client.introspect(token)
        await client.bearer(token).get("/v1/oauth2/userinfo")
        await client.bearer(token).get("/v1/guilds/1")
        await client.bearer(token).get("/v1/users/@me/settings")
    (await client.refresh(granted["refresh_token"])).expect(400)
    await client.revoke(UNKNOWN)
    query = {
        "client_id": client.id,
        "response_type": "code",
        "scope": "identify",
        "redirect_uri": BACK,
        "state": UNKNOWN,
    }
    assert (await world.alice.rest.get("/v1/oauth2/authorize", query)).status < 400

    made = (await world.admin.rest.post("/v1/admin/api-keys", {"name": "Canary", "acls": ["*"]})).expect(200)
    for key in (made["key"], made["key"][:-1] + "x", f"cha_1_{MAILED[:32]}"):
        for path in ("/v1/admin/users/@me", "/v1/users/@me", "/v1/admin/nowhere"):
            await world.anyone.signed_in(f"Admin {key}").get(path)

    webhooks = f"/v1/channels/{world.channel_id}/webhooks"
    webhook = (await world.alice.rest.post(webhooks, {"name": "Canary"})).expect(200)
    for token in (webhook["token"], UNKNOWN):
        path = f"/v1/webhooks/{webhook['id']}/{token}"
        await world.anyone.post(path, {"content": "sung"})
        await world.anyone.post(f"{path}/nowhere", {"content": "sung"})
        await world.anyone.request("POST", path, body=b"{")
        for dialect in ("github", "gitlab", "slack", "instatus", "alertmanager", "grafana", "sentry"):
            headers = {"X-GitHub-Event": "watch"}
            await world.anyone.request("POST", f"{path}/{dialect}", json={"text": "sung"}, headers=headers)
            await world.anyone.request("POST", f"{path}/{dialect}?thread_id=1", json={"text": []}, headers=headers)
        said = await world.anyone.post(f"{path}?wait=true", {"content": "sung"})
        message = f"{path}/messages/{said.json().get('id', '1')}"
        for method in ("GET", "PATCH", "DELETE", "GET"):
            await world.anyone.request(method, message, json={"content": "sung again"} if method == "PATCH" else ...)
    secrets_stay_secret.secrets[UNKNOWN] = "what nobody issued"
    files = {"files": [{"id": "0", "filename": "song.txt", "file_size": 4}]}
    await world.alice.rest.post(f"/v1/channels/{world.channel_id}/attachments", files)
    await world.anyone.request("PUT", f"/media/relay/{UNKNOWN}", body=b"sung")
    await world.anyone.get(f"/media/external/{UNKNOWN}/aHR0cDovL2V4YW1wbGUuY29tLw")
    heard_nothing(talk, secrets_stay_secret)


@pytest.mark.parametrize("settings", [{"CHAT_SIGN_IN": "username"}])
async def test_a_recovery_kit(talk: Talk, secrets_stay_secret: Watch) -> None:
    anyone = talk.world.anyone
    dave = await sign_up(talk)
    (await dave.post("/v1/users/@me/recovery-kit", {"password": WRONG})).expect(400)
    kit = (await dave.post("/v1/users/@me/recovery-kit", {"password": PASSWORD})).expect(200)
    for code, password in ((UNKNOWN[:32], PASSWORD), (kit["code"], "short")):
        (await anyone.post("/v1/auth/recovery", {"username": "dave", "code": code, "password": password})).expect(400)
    body = {"username": "dave", "code": kit["code"], "password": PASSWORD + "!"}
    assert (await anyone.post("/v1/auth/recovery", body)).status in (200, 204)
    assert (await anyone.post("/v1/auth/recovery", body)).status == 400
    secrets_stay_secret.secrets[kit["code"]] = "the recovery kit"
    heard_nothing(talk, secrets_stay_secret)


@pytest.mark.parametrize("settings", [{"CHAT_IP_AUTHORIZATION": "true"}])
async def test_addresses_that_wait_for_a_mailed_link(talk: Talk, secrets_stay_secret: Watch) -> None:
    world = talk.world
    (await world.anyone.login(email=world.bob.email, password=world.bob.password)).expect(200)  # from home
    elsewhere = RestClient(world.route, headers={"X-Test-Address": "203.0.113.77"})
    refused = await elsewhere.login(email=world.bob.email, password=world.bob.password)
    assert (refused.status, refused.code) == (403, "IP_AUTHORIZATION_REQUIRED")
    ticket = refused.json()["ticket"]
    await elsewhere.get("/v1/auth/ip-authorization/poll", {"ticket": ticket})
    await elsewhere.get("/v1/auth/ip-authorization/poll", {"ticket": UNKNOWN})
    (await elsewhere.post("/v1/auth/authorize-ip", {"token": MAILED})).expect(400)
    (await elsewhere.post("/v1/auth/authorize-ip", {"token": await talk.mailed("ip_authorization")})).expect(204)
    (await elsewhere.get("/v1/auth/ip-authorization/poll", {"ticket": ticket})).expect(200)
    await elsewhere.aclose()
    secrets_stay_secret.secrets[UNKNOWN] = "what nobody issued"
    heard_nothing(talk, secrets_stay_secret)
