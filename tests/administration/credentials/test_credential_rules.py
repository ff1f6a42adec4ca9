"""Ways into accounts that administrators open and close: letters, links, kits, sign-ins, factors, passkeys (document
002).

Area: administration. Rules: 002.conventions, 002.errors, 002.events, 002.mfa, 002.partial-objects,
002.password-reset, 002.recovery-kit, 002.reset-link, 002.reset-link-object, 002.session-object, 002.sessions,
002.sessions-terminate, 002.user-object, 002.verification-email, 002.webauthn, 002.webauthn-delete.
"""

from __future__ import annotations

import random
import re
from typing import Any

import pytest
import trio
from trio.testing import MockClock

from chat.testing.authenticator import SoftwareAuthenticator, base64url
from chat.testing.rest_client import RestClient
from chat.testing.server import ChatServer
from chat.testing.world import Person, World
from tests.administration.asking import Asking
from tests.administration.audit import audit_log
from tests.enrolment import ORIGIN, Phone, assertion, passkey_of, register
from tests.spec.ledger import proves

USERNAMES = pytest.mark.chat_settings(sign_in="username")
NEW_PASSWORD = "a wholly new password"
MINUTE, HOUR = 60, 3_600


@pytest.fixture
def ask(chat_server: ChatServer, chat_world: World) -> Asking:
    return Asking(chat_server, chat_world)


async def mails(world: World) -> list[dict[str, Any]]:
    kept: list[dict[str, Any]] = (await world.anyone.get("/v1/_dev/mail")).expect(200)
    return kept


# Letters


async def test_a_letter_that_verifies(ask: Asking, autojump_clock: MockClock) -> None:
    world = ask.world
    await ask.set(email_verified=False)
    bob = await world.bob.connect()
    with proves("002.verification-email.3"):
        answer = await ask("POST", "/verification-email")
        answer.expect(204)
        assert answer.body == b""
    with proves("002.verification-email.5"):
        [mail] = await mails(world)
        assert (mail["kind"], mail["to"]) == ("verification", "bob@example.com")
    with proves("002.verification-email.6"):
        assert (await ask.shown())["email_verified"] is False
    with proves("002.verification-email.17"):
        await bob.expect_silence(2)
    with proves("002.verification-email.4"):
        for status in (204, 400):  # once
            assert (await world.anyone.post("/v1/auth/verify", {"token": mail["token"]})).status == status
    with proves("002.verification-email.6"):
        assert (await ask.shown())["email_verified"] is True
    with proves("002.verification-email.18"):
        [entry] = ask.entries("resend_verification_email")
        assert (entry.target_type, entry.target_id, entry.metadata) == (
            "user",
            world.bob.id,
            {"email": "bob@example.com"},
        )


@pytest.mark.rule("002.verification-email.4")
async def test_the_letter_is_good_for_the_address_that_it_went_to(ask: Asking, autojump_clock: MockClock) -> None:
    await ask.set(email_verified=False)
    (await ask("POST", "/verification-email")).expect(204)
    [mail] = await mails(ask.world)
    await ask.user("PATCH", "/email", {"email": "other@example.com"})
    assert (await ask.world.anyone.post("/v1/auth/verify", {"token": mail["token"]})).status == 400
    assert (await ask.shown())["email_verified"] is False


async def test_three_letters_in_fifteen_minutes(ask: Asking, autojump_clock: MockClock) -> None:
    for _ in range(3):
        (await ask("POST", "/verification-email")).expect(204)
    with proves("002.verification-email.7", "002.verification-email.9", "002.verification-email.10"):
        refused = await ask("POST", "/verification-email")
        assert refused.expect(429)["code"] == "RATE_LIMITED"
    with proves("002.verification-email.9"):
        assert (len(await mails(ask.world)), len(ask.entries("resend_verification_email"))) == (3, 3)
    with proves("002.password-reset.7"):
        for _ in range(5):
            (await ask("POST", "/password-reset")).expect(204)
    with proves("002.verification-email.8"):
        await ask.user("PATCH", "/email", {"email": "other@example.com"})
        (await ask("POST", "/verification-email")).expect(204)  # the limit is the address's
    await ask.user("PATCH", "/email", {"email": "bob@example.com"})
    with proves("002.verification-email.7"):
        await trio.sleep(15 * MINUTE + 1)
        (await ask("POST", "/verification-email")).expect(204)


@pytest.mark.rule("002.verification-email.12", "002.password-reset.9", "002.errors.6")
async def test_without_an_address_there_are_no_letters(ask: Asking, autojump_clock: MockClock) -> None:
    await ask.set(email=None)
    for path in ("/verification-email", "/password-reset"):
        refused = await ask.refused("POST", path)
        assert refused == (400, "INVALID_FORM_BODY", "USER_DOES_NOT_HAVE_AN_EMAIL_ADDRESS")
    assert await mails(ask.world) == []


@pytest.mark.rule("002.verification-email.15", "002.password-reset.8")
async def test_letters_to_bots(ask: Asking, autojump_clock: MockClock) -> None:
    bot = Asking(ask.server, ask.world, ask.world.bot.id)
    await bot.set(email="bot@example.com")
    refused = await bot.refused("POST", "/verification-email")
    assert refused[:2] == (403, "BOT_USER_AUTH_ENDPOINT_ACCESS_DENIED")
    (await bot("POST", "/password-reset")).expect(204)
    assert [mail["to"] for mail in await mails(ask.world)] == ["bot@example.com"]


async def test_a_letter_that_resets_the_password(ask: Asking, autojump_clock: MockClock) -> None:
    world = ask.world
    before = await ask.shown()
    bob = await world.bob.connect()
    with proves("002.password-reset.3"):
        answer = await ask("POST", "/password-reset")
        answer.expect(204)
        assert answer.body == b""
    with proves("002.password-reset.5"):
        [mail] = await mails(world)
        assert (mail["kind"], mail["to"]) == ("password_reset", "bob@example.com")
    with proves("002.password-reset.12"):
        await bob.expect_silence(2)
    with proves("002.password-reset.6"):
        assert await ask.shown() == before
        (await world.anyone.login(email="bob@example.com", password=world.bob.password)).expect(200)
        (await world.bob.rest.get("/v1/users/@me")).expect(200)
    with proves("002.password-reset.4"):
        wish = {"token": mail["token"], "password": NEW_PASSWORD}
        (await world.anyone.post("/v1/auth/reset", wish)).expect(200)
        (await world.anyone.post("/v1/auth/reset", wish)).expect(400)
    (await world.anyone.login(email="bob@example.com", password=NEW_PASSWORD)).expect(200)
    with proves("002.password-reset.13"):
        [entry] = ask.entries("send_password_reset")
        assert entry.metadata == {"email": "bob@example.com"}


@pytest.mark.rule("002.conventions.16")
@pytest.mark.chat_settings(**{"mail.mode": "off"})
async def test_an_instance_without_mail_answers_alike(ask: Asking, autojump_clock: MockClock) -> None:
    for path in ("/verification-email", "/password-reset"):
        (await ask("POST", path)).expect(204)
    assert await mails(ask.world) == []


# Links and kits


@pytest.mark.rule("002.reset-link.4", "002.recovery-kit.4", "002.conventions.14")
async def test_links_are_for_instances_without_addresses(ask: Asking, autojump_clock: MockClock) -> None:
    for user_id in (ask.user_id, "1234"):
        ask.user_id = user_id
        assert (await ask.refused("POST", "/password-reset-link"))[:2] == (400, "USERNAME_SIGN_IN_ONLY")
        assert (await ask.refused("DELETE", "/recovery-kit"))[:2] == (400, "USERNAME_SIGN_IN_ONLY")


async def valid(world: World, token: str) -> bool:
    found: bool = (await world.anyone.get(f"/v1/auth/reset/{token}")).expect(200)["valid"]
    return found


async def kit_of(person: Person) -> str:
    wish = {"password": person.password}
    code: str = (await person.rest.post("/v1/users/@me/recovery-kit", wish)).expect(200)["code"]
    return code


async def recovers(world: World, code: str) -> int:
    body = {"code": code, "password": NEW_PASSWORD, "username": "bob", "login": "bob"}
    return (await world.anyone.post("/v1/auth/recovery", body)).status


@USERNAMES
async def test_a_link_to_hand_over(ask: Asking, autojump_clock: MockClock) -> None:
    world = ask.world
    bob = await world.bob.connect()
    with proves("002.reset-link.7"):
        link = (await ask("POST", "/password-reset-link")).expect(200)
        assert link.keys() == {"url", "expires_at"}
    with proves("002.reset-link-object.1"):
        found = re.fullmatch(r"(https?://[^/#]+)/reset#token=([A-Za-z0-9_-]{64})", link["url"])
        assert found is not None
    with proves("002.reset-link.8"):
        assert await mails(world) == []
    with proves("002.reset-link.13"):
        await bob.expect_silence(2)
    with proves("002.reset-link.12"):
        (await world.bob.rest.get("/v1/users/@me")).expect(200)
        (await world.anyone.login(username="bob", password=world.bob.password)).expect(200)
    wish = {"token": found[2], "password": NEW_PASSWORD}
    with proves("002.reset-link.11", "002.reset-link-object.2"):
        (await world.anyone.post("/v1/auth/reset", wish)).expect(200)
    with proves("002.reset-link.11"):
        (await world.anyone.post("/v1/auth/reset", wish)).expect(400)
    with proves("002.reset-link-object.2"):
        (await world.anyone.login(username="bob", password=NEW_PASSWORD)).expect(200)
    with proves("002.reset-link.14"):
        [entry] = ask.entries("create_password_reset_link")
        assert (entry.target_type, entry.target_id, entry.metadata) == ("user", world.bob.id, {})


@USERNAMES
@pytest.mark.rule("002.reset-link-object.3", "002.reset-link.9", "002.reset-link.10")
async def test_a_link_voids_earlier_ones_and_the_kit_and_is_good_for_an_hour(
    ask: Asking, autojump_clock: MockClock
) -> None:
    world = ask.world
    code = await kit_of(world.bob)
    tokens = []
    for _ in range(2):
        url = (await ask("POST", "/password-reset-link")).expect(200)["url"]
        tokens.append(url.partition("token=")[2])
    assert [await valid(world, token) for token in tokens] == [False, True]
    assert await recovers(world, code) == 400
    await trio.sleep(HOUR - 5)
    assert await valid(world, tokens[1])
    await trio.sleep(6)
    assert not await valid(world, tokens[1])


@USERNAMES
async def test_a_kit_is_taken_away(ask: Asking, autojump_clock: MockClock) -> None:
    world = ask.world
    code = await kit_of(world.bob)
    bob = await world.bob.connect()
    with proves("002.recovery-kit.7"):
        for _ in range(2):
            answer = await ask("DELETE", "/recovery-kit")
            answer.expect(204)
            assert answer.body == b""
    with proves("002.recovery-kit.6"):
        assert await recovers(world, code) == 400
    with proves("002.recovery-kit.8"):
        await bob.expect_silence(2)
    with proves("002.recovery-kit.9"):
        assert [(entry.target_type, entry.metadata) for entry in ask.entries("revoke_recovery_kit")] == [
            ("user", {})
        ] * 2


@USERNAMES
@pytest.mark.rule("002.reset-link.3", "002.recovery-kit.3", "002.reset-link.5")
async def test_nobody_opens_the_account_of_a_mightier_one(ask: Asking, autojump_clock: MockClock) -> None:
    world = ask.world
    held = ["admin:authenticate", "user:create:password_reset_link", "user:delete:recovery_kit"]
    await ask.set(acls=held)
    carol = Asking(ask.server, world, world.carol.id)
    for acls, status in (([], 200), (held[:2], 200), ([*held, "user:lookup"], 403), (["*"], 403)):
        await carol.set(acls=acls)
        link = await world.bob.rest.post(f"/v1/admin/users/{world.carol.id}/password-reset-link")
        kit = await world.bob.rest.delete(f"/v1/admin/users/{world.carol.id}/recovery-kit")
        assert (link.status, kit.status) == (status, 204 if status == 200 else 403)
        if status == 403:
            assert {link.json()["code"], kit.json()["code"]} == {"MISSING_ACL"}
    (await ask("POST", "/password-reset-link")).expect(200)
    bot = Asking(ask.server, world, world.bot.id)
    refused = await bot.refused("POST", "/password-reset-link")
    assert refused[:2] == (403, "BOT_USER_AUTH_ENDPOINT_ACCESS_DENIED")


async def test_nobody_takes_the_account_of_a_mightier_one_by_its_address(
    ask: Asking, autojump_clock: MockClock
) -> None:
    """Else a reset link would go to whoever wrote the address, and with it all that the account may do."""
    world = ask.world
    held = ["admin:authenticate", "user:update:email", "admin_api_key:manage"]
    await ask.set(acls=held)
    mallory = {"email": "mallory@example.com"}
    for acls, status in (([], 200), (held[:2], 200), ([*held, "user:lookup"], 403), (["*"], 403)):
        await Asking(ask.server, world, world.carol.id).set(acls=acls, email="carol@example.com")
        before = audit_log(ask.server)
        answer = await world.bob.rest.patch(f"/v1/admin/users/{world.carol.id}/email", mallory)
        assert answer.status == status, acls
        if status == 403:
            assert (answer.code, audit_log(ask.server)) == ("MISSING_ACL", before)
    assert (await world.anyone.post("/v1/auth/forgot", mallory)).status < 300
    assert mallory["email"] not in [mail["to"] for mail in await mails(world)]
    # Nor does a key take its owner's, if it has less.
    body = {"name": "k", "acls": held[:2]}
    key = (await world.bob.rest.post("/v1/admin/api-keys", body)).expect(200)["key"]
    own = f"/v1/admin/users/{world.bob.id}/email"
    assert (await RestClient(world.route, f"Admin {key}").patch(own, mallory)).code == "MISSING_ACL"
    (await world.bob.rest.patch(own, {"email": "robert@example.com"})).expect(200)


# Sign-ins


async def signed_in(world: World, agent: str | None = None) -> RestClient:
    """Another sign-in of bob's."""
    headers = {} if agent is None else {"User-Agent": agent}
    client = RestClient(world.route, headers=headers)
    token = (await client.login(email="bob@example.com", password=world.bob.password)).expect(200)["token"]
    await client.aclose()
    return RestClient(world.route, token=token, headers=headers)


async def test_sign_ins_are_listed_and_ended(ask: Asking, autojump_clock: MockClock) -> None:
    world = ask.world
    first = await signed_in(world)
    await trio.sleep(10)
    second = await signed_in(world)
    (await first.logout()).expect(204)
    await first.aclose()
    bob = await world.bob.connect()

    async def listed() -> list[dict[str, Any]]:
        with proves("002.sessions.5"):
            answer = (await ask("GET", "/sessions")).expect(200)
            assert answer.keys() == {"sessions"}
        sessions: list[dict[str, Any]] = answer["sessions"]
        for session in sessions:
            with proves("002.session-object.1"):
                assert re.fullmatch(r"[A-Za-z0-9_-]{8,256}", session["session_id_hash"])
            with proves("002.session-object.3"):
                assert session["created_at"] <= session["approx_last_used_at"]
        with proves("002.sessions.6"):
            active = [session for session in sessions if session["deleted_at"] is None]
            assert sessions[: len(active)] == active
        with proves("002.sessions.7"):
            for group in (active, sessions[len(active) :]):
                moments = [session["created_at"] for session in group]
                assert moments == sorted(moments, reverse=True)
        return sessions

    before = await listed()
    with proves("002.session-object.8"):
        assert [session["deleted_at"] is None for session in before] == [True, True, False]
    with proves("002.sessions.13"):
        await bob.expect_silence(1)
    heard = len(bob.dispatches)
    with proves("002.partial-objects.5"):
        answer = (await ask("DELETE", "/sessions")).expect(200)
        assert answer == {"terminated_count": 2}
    with proves("002.sessions-terminate.6"):
        assert (await bob.expect_opcode(9)).data is False
    with proves("002.sessions-terminate.9"):
        assert len(bob.dispatches) == heard
    with proves("002.sessions-terminate.3"):
        (await second.get("/v1/users/@me")).expect(401)
        (await world.bob.rest.get("/v1/users/@me")).expect(401)
    with proves("002.sessions-terminate.7"):
        after = await listed()
        assert {session["session_id_hash"] for session in after} == {session["session_id_hash"] for session in before}
        with proves("002.session-object.8"):
            assert all(session["deleted_at"] is not None for session in after)
    with proves("002.session-object.2"):
        tokens = str(after)
        assert world.bob.token not in tokens
    with proves("002.sessions-terminate.10"):
        [entry] = ask.entries("terminate_sessions")
        assert entry.metadata == {}
    with proves("002.sessions.15"):
        assert [entry.metadata["session_count"] for entry in ask.entries("list_user_sessions")] == ["3", "3"]
    with proves("002.sessions.4"):
        unpaged = (await ask("GET", "/sessions?limit=1&offset=1&after=1")).expect(200)["sessions"]
        assert len(unpaged) == len(after)
    await second.aclose()


@pytest.mark.rule("002.sessions-terminate.5", "002.sessions-terminate.4")
async def test_where_nobody_is_signed_in_nothing_ends_and_keys_go_on(ask: Asking, autojump_clock: MockClock) -> None:
    world = ask.world
    await ask.set(acls=["*"])
    key = (await world.bob.rest.post("/v1/admin/api-keys", {"name": "k", "acls": ["*"]})).expect(200)["key"]
    for count in (1, 0):
        assert (await ask("DELETE", "/sessions")).expect(200) == {"terminated_count": count}
    assert len(ask.entries("terminate_sessions")) == 2
    headers = {"Authorization": f"Admin {key}"}
    (await world.anyone.request("GET", f"/v1/admin/users/{world.carol.id}", headers=headers)).expect(200)
    bot = Asking(ask.server, world, world.bot.id)
    (await bot("DELETE", "/sessions")).expect(200)
    (await world.bot.rest.get("/v1/users/@me")).expect(200)


FIREFOX = "Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0"


async def test_where_a_sign_in_came_from_is_for_those_who_may_see_it(ask: Asking, autojump_clock: MockClock) -> None:
    world = ask.world
    client = await signed_in(world, FIREFOX)
    carol = Asking(ask.server, world, world.carol.id)
    path = f"/v1/admin/users/{world.bob.id}/sessions"

    async def newest(*acls: str) -> dict[str, Any]:
        await carol.set(acls=["admin:authenticate", "user:list:sessions", *acls])
        sessions: list[dict[str, Any]] = (await world.carol.rest.get(path)).expect(200)["sessions"]
        return sessions[0]

    with proves("002.sessions.3"):
        hidden = await newest()
    with proves("002.session-object.4"):
        assert hidden["client_ip"] == "[redacted]"
    with proves("002.session-object.5", "002.session-object.7"):
        derived = ("client_ip_reverse", "client_location", "client_os", "client_platform")
        assert [hidden[name] for name in derived] == [None] * 4
    shown = await newest("user:view:ip")
    with proves("002.session-object.4"):
        assert shown["client_ip"] not in {"", "[redacted]"}
    with proves("002.session-object.6"):
        assert "Linux" in shown["client_os"]
        assert shown["client_platform"]
    await client.aclose()


# Factors and passkeys


async def test_every_factor_goes(ask: Asking, autojump_clock: MockClock) -> None:
    world = ask.world
    phone = Phone(ask.server.clock)
    codes = await phone.enable(world.bob.rest, password=world.bob.password)
    with proves("002.user-object.34", "002.user-object.35"):
        shown = await ask.shown()
        assert (shown["has_totp"], shown["authenticator_types"]) == (True, [0])
    assert "ticket" in (await world.anyone.login(email="bob@example.com", password=world.bob.password)).expect(200)
    application = (await world.bob.rest.post("/v1/oauth2/applications", {"name": "Helper"})).expect(200)
    robot = Asking(ask.server, world, application["bot"]["id"])
    assert (await robot.shown())["authenticator_types"] == [0]
    bob = await world.bob.connect()
    with proves("002.mfa.3"):
        answer = await ask("DELETE", "/mfa")
        answer.expect(204)
        assert answer.body == b""
    with proves("002.mfa.10"):
        assert (await bob.expect("USER_UPDATE")).data["mfa_enabled"] is False
    with proves("002.mfa.4", "002.mfa.5"):
        shown = await ask.shown()
        assert (shown["has_totp"], shown["authenticator_types"]) == (False, [])
    with proves("002.mfa.7"):
        assert (await robot.shown())["authenticator_types"] == []
    with proves("002.mfa.6"):
        kept = "SELECT count(*) FROM backup_codes WHERE user_id = ?"
        assert ask.server.database.reader.execute(kept, (int(world.bob.id),)).fetchone() == (0,)
    assert codes
    with proves("002.mfa.8"):
        (await world.bob.rest.get("/v1/users/@me")).expect(200)
    login = (await world.anyone.login(email="bob@example.com", password=world.bob.password)).expect(200)
    assert "token" in login
    with proves("002.mfa.11"):
        [entry] = ask.entries("disable_mfa")
        assert entry.metadata == {}


async def three_passkeys(world: World) -> list[str]:
    """Ids of bob's passkeys: one that was replaced by another of the same model and name, that one, and a third."""
    keys = [await passkey_of(world.bob, "Laptop")]
    for number, name in enumerate(("Laptop", "Phone")):
        key = SoftwareAuthenticator(ORIGIN, chance=random.Random(number))
        (await register(world.bob.rest, key, name, **await assertion(world.bob.rest, keys[-1]))).expect(204)
        keys.append(key)
    return [base64url(key.passkeys[0].credential_id) for key in keys]


async def test_passkeys_are_listed_without_those_that_were_replaced(ask: Asking, autojump_clock: MockClock) -> None:
    world = ask.world
    with proves("002.webauthn.3"):
        assert (await ask("GET", "/webauthn-credentials")).expect(200) == []
    _, laptop, phone = await three_passkeys(world)
    bob = await world.bob.connect()
    listed = (await ask("GET", "/webauthn-credentials")).expect(200)
    with proves("002.webauthn.4", "002.webauthn.6"):
        assert sorted(entry["name"] for entry in listed) == ["Laptop", "Phone"]
    with proves("002.partial-objects.3"):
        assert all(entry.keys() == {"id", "name", "created_at", "last_used_at"} for entry in listed)
    with proves("002.webauthn.5"):
        assert {entry["id"] for entry in listed} == {laptop, phone}
    with proves("002.webauthn.7"):
        await bob.expect_silence(1)
    with proves("002.webauthn.9"):
        counts = [entry.metadata for entry in ask.entries("list_webauthn_credentials")]
        assert counts == [{"credential_count": "0"}, {"credential_count": "2"}]


async def test_a_passkey_goes_with_those_that_it_replaced(ask: Asking, autojump_clock: MockClock) -> None:
    world = ask.world
    replaced, laptop, phone = await three_passkeys(world)

    async def refused(credential: str) -> tuple[int, str]:
        return (await ask.refused("DELETE", f"/webauthn-credentials/{credential}"))[:2]

    with proves("002.webauthn-delete.7"):
        assert await refused(replaced) == (404, "UNKNOWN_WEBAUTHN_CREDENTIAL")
    with proves("002.webauthn-delete.6"):
        assert await refused(base64url(b"another")) == (404, "UNKNOWN_USER")
    with proves("002.webauthn-delete.3"):
        assert await refused("x" * 512) == (404, "UNKNOWN_USER")
        assert await refused("x" * 513) == (400, "INVALID_FORM_BODY")
    with proves("002.webauthn-delete.6"):
        carol = Asking(ask.server, world, world.carol.id)
        assert (await carol.refused("DELETE", f"/webauthn-credentials/{laptop}"))[:2] == (404, "UNKNOWN_USER")

    bob = await world.bob.connect()
    with proves("002.webauthn-delete.4"):
        answer = await ask("DELETE", f"/webauthn-credentials/{laptop}")
        answer.expect(204)
        assert answer.body == b""
    with proves("002.webauthn-delete.13", "002.events.4"):
        event = await bob.expect("WEBAUTHN_CREDENTIALS_UPDATE")
        assert phone in str(event.data)
        assert laptop not in str(event.data)
    with proves("002.webauthn-delete.11"):
        await bob.expect_silence(1)  # and no User Update: passkeys were no second factor
        assert "USER_UPDATE" not in {payload.name for payload in bob.dispatches}
    with proves("002.webauthn-delete.8"):
        assert await refused(replaced) == (404, "UNKNOWN_USER")
    (await ask("DELETE", f"/webauthn-credentials/{phone}")).expect(204)
    with proves("002.webauthn-delete.9"):
        assert ask.server.database.reader.execute("SELECT count(*) FROM webauthn_credentials").fetchone() == (0,)
    with proves("002.webauthn-delete.14"):
        entries = ask.entries("delete_webauthn_credential")
        assert [entry.metadata for entry in entries] == [{"credential_id": laptop}, {"credential_id": phone}]


async def test_without_a_passkey_it_is_no_second_factor(ask: Asking, autojump_clock: MockClock) -> None:
    world = ask.world
    key = await passkey_of(world.bob)
    with proves("002.user-object.37", "002.user-object.38"):
        shown = await ask.shown()
        assert (shown["has_totp"], shown["authenticator_types"]) == (False, [])  # a passkey alone is none
    await ask.set(passkey_second_factor=True)
    with proves("002.user-object.36"):
        assert (await ask.shown())["authenticator_types"] == [2]
    application = (await world.bob.rest.post("/v1/oauth2/applications", {"name": "Helper"})).expect(200)
    bot = Asking(ask.server, world, application["bot"]["id"])
    assert (await bot.shown())["authenticator_types"] == [2]
    bob = await world.bob.connect()
    credential = base64url(key.passkeys[0].credential_id)
    (await ask("DELETE", f"/webauthn-credentials/{credential}")).expect(204)
    with proves("002.webauthn-delete.11"):
        heard = {(await bob.next_payload()).name for _ in range(2)}
        assert heard == {"USER_UPDATE", "WEBAUTHN_CREDENTIALS_UPDATE"}
    with proves("002.webauthn-delete.10", "002.user-object.36"):
        assert (await ask.shown())["authenticator_types"] == []
    with proves("002.webauthn-delete.12"):
        assert (await bot.shown())["authenticator_types"] == []
    assert audit_log(ask.server)
