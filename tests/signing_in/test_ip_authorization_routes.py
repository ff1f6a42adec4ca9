"""Sign-ins from networks that an account has not used before (wire facts 6.1, 6.2)."""

from __future__ import annotations

from typing import Any

import pytest
import trio

from chat.registries.user_flags import UserFlag
from chat.testing.rest_client import Response, RestClient
from chat.testing.server import ChatServer
from chat.testing.world import World
from tests.signing_in.signing_in import Holder, errors, holder_of, refusal, set_account, set_password_hash

Clock = trio.testing.MockClock

pytestmark = pytest.mark.chat_settings(ip_authorization=True)

HOME = "192.0.2.1"
ELSEWHERE = "198.51.100.7"
UNKNOWN_TICKET = [("ticket", "INVALID_OR_EXPIRED_TICKET")]
UNKNOWN_TOKEN = [("token", "INVALID_OR_EXPIRED_VERIFICATION_TOKEN")]


class Traveller(Holder):
    """Somebody who signs in from several places."""

    def at(self, address: str) -> RestClient:
        """A client without credential at this address."""
        return RestClient(self.server.route(address))

    async def login_from(self, address: str, **members: object) -> Response:
        return await self.login(self.at(address), **members)

    async def wait_at(self, address: str, **members: object) -> str:
        """Sign in from a strange address; the ticket under which that waits."""
        answer = await self.login_from(address, **members)
        assert refusal(answer) == (403, "IP_AUTHORIZATION_REQUIRED")
        ticket: str = answer.json()["ticket"]
        return ticket

    async def mails(self) -> list[dict[str, Any]]:
        kept = (await self.world.anyone.get("/v1/_dev/mail")).expect(200)
        return [mail for mail in kept if mail["kind"] == "ip_authorization"]

    async def follow(self, token: str) -> Response:
        """Follow the link of a mail, from anywhere."""
        return await self.at("203.0.113.9").post("/v1/auth/authorize-ip", {"token": token})

    async def poll(self, ticket: str) -> Response:
        return await self.at(ELSEWHERE).get("/v1/auth/ip-authorization/poll", {"ticket": ticket})

    async def resend(self, ticket: str) -> Response:
        return await self.at(ELSEWHERE).post("/v1/auth/ip-authorization/resend", {"ticket": ticket})


@pytest.fixture
async def bob(chat_server: ChatServer, chat_world: World) -> Traveller:
    """Bob, who has signed in at home."""
    bob = Traveller(chat_server, chat_world, chat_world.bob)
    (await bob.login_from(HOME)).expect(200)
    return bob


async def test_the_first_login_s_address_is_authorized(bob: Traveller) -> None:
    assert await holder_of(bob.world, await bob.login_from(HOME)) == bob.person.id
    assert await bob.mails() == []


async def test_so_is_that_of_the_registration(bob: Traveller) -> None:
    dave = {"email": "dave@example.com", "password": "correct horse"}
    (await bob.at(HOME).register(username="dave", **dave)).expect(200)
    (await bob.at(HOME).login(**dave)).expect(200)
    assert (await bob.at(ELSEWHERE).login(**dave)).code == "IP_AUTHORIZATION_REQUIRED"


async def test_a_new_address_waits_for_a_mailed_link(bob: Traveller) -> None:
    answer = await bob.login_from(ELSEWHERE)
    assert refusal(answer) == (403, "IP_AUTHORIZATION_REQUIRED")
    body = answer.json()
    assert set(body) == {
        *("code", "message", "ip_authorization_required", "ticket", "email", "resend_available_in"),
    }
    assert (body["ip_authorization_required"], body["email"], body["resend_available_in"]) == (
        True,
        bob.person.email,
        30,
    )
    (mail,) = await bob.mails()
    assert mail["to"] == bob.person.email
    assert f"/authorize-ip#token={mail['token']}" in mail["text"]
    assert ELSEWHERE in mail["text"]
    assert len(mail["token"]) == 64
    assert body["ticket"] not in mail["text"]
    assert (await bob.poll(body["ticket"])).expect(200) == {"completed": False}
    assert (await bob.follow(mail["token"])).status == 204
    fetched = await bob.poll(body["ticket"])
    assert await holder_of(bob.world, fetched) == bob.person.id
    assert set(fetched.json()) == {"completed", "token", "user_id", "user"}
    assert fetched.json()["completed"] is True
    assert await holder_of(bob.world, await bob.login_from(ELSEWHERE)) == bob.person.id, "authorized from now on"


async def test_a_wrong_password_sends_nothing(bob: Traveller) -> None:
    errors(await bob.login_from(ELSEWHERE, password="wrong password"))
    assert await bob.mails() == []


async def test_every_poll_brings_the_same_session(bob: Traveller) -> None:
    ticket = await bob.wait_at(ELSEWHERE)
    (mail,) = await bob.mails()
    (await bob.follow(mail["token"])).expect(204)
    before = len((await bob.person.rest.get("/v1/auth/sessions")).expect(200))
    tokens = {(await bob.poll(ticket)).expect(200)["token"] for _ in range(3)}
    assert len(tokens) == 1
    assert len((await bob.person.rest.get("/v1/auth/sessions")).expect(200)) == before + 1


async def test_polls_at_the_same_moment_do_too(bob: Traveller) -> None:
    ticket = await bob.wait_at(ELSEWHERE)
    (mail,) = await bob.mails()
    (await bob.follow(mail["token"])).expect(204)
    tokens = set()

    async def poll() -> None:
        tokens.add((await bob.poll(ticket)).expect(200)["token"])

    async with trio.open_nursery() as nursery:
        for _ in range(5):
            nursery.start_soon(poll)
    assert len(tokens) == 1


async def test_the_session_can_be_fetched_for_a_minute(bob: Traveller, autojump_clock: Clock) -> None:
    tickets = [await bob.wait_at(ELSEWHERE), await bob.wait_at("198.51.100.8")]
    for mail in await bob.mails():
        (await bob.follow(mail["token"])).expect(204)
    await trio.sleep(59)
    (await bob.poll(tickets[0])).expect(200)
    await trio.sleep(1)
    for ticket in tickets:
        assert errors(await bob.poll(ticket)) == UNKNOWN_TICKET
    (await bob.login_from(ELSEWHERE)).expect(200)


async def test_a_quarter_of_an_hour_to_follow_the_link(bob: Traveller, autojump_clock: Clock) -> None:
    tickets = [await bob.wait_at(ELSEWHERE), await bob.wait_at("198.51.100.8")]
    first, second = await bob.mails()
    await trio.sleep(899)
    (await bob.follow(first["token"])).expect(204)
    await trio.sleep(1)
    assert errors(await bob.follow(second["token"])) == UNKNOWN_TOKEN
    (await bob.poll(tickets[0])).expect(200)
    assert errors(await bob.poll(tickets[1])) == UNKNOWN_TICKET


async def test_a_link_works_once(bob: Traveller) -> None:
    await bob.wait_at(ELSEWHERE)
    (mail,) = await bob.mails()
    (await bob.follow(mail["token"])).expect(204)
    used = await bob.follow(mail["token"])
    assert errors(used) == UNKNOWN_TOKEN
    assert used.body == (await bob.follow("A" * 64)).body == (await bob.follow("x")).body


async def test_a_link_is_for_one_network_only(bob: Traveller) -> None:
    tickets = [await bob.wait_at(ELSEWHERE), await bob.wait_at("198.51.100.8")]
    first, second = await bob.mails()
    (await bob.follow(second["token"])).expect(204)
    assert (await bob.poll(tickets[0])).expect(200) == {"completed": False}
    (await bob.poll(tickets[1])).expect(200)
    assert (await bob.login_from(ELSEWHERE)).code == "IP_AUTHORIZATION_REQUIRED"
    (await bob.login_from("198.51.100.8")).expect(200)
    (await bob.follow(first["token"])).expect(204)


async def test_networks_of_ipv6_count_as_one_address(bob: Traveller) -> None:
    await bob.wait_at("2001:db8:1:2::7")
    (mail,) = await bob.mails()
    (await bob.follow(mail["token"])).expect(204)
    (await bob.login_from("2001:db8:1:2:ffff::9")).expect(200)
    assert (await bob.login_from("2001:db8:1:3::7")).code == "IP_AUTHORIZATION_REQUIRED"


# Sent again


async def test_the_mail_is_sent_again_once_after_thirty_seconds(bob: Traveller, autojump_clock: Clock) -> None:
    ticket = await bob.wait_at(ELSEWHERE)
    await trio.sleep(29)
    early = await bob.resend(ticket)
    assert refusal(early) == (429, "IP_AUTHORIZATION_RESEND_COOLDOWN")
    assert early.header("Retry-After") == "1"
    await trio.sleep(1)
    assert (await bob.resend(ticket)).status == 204
    assert refusal(await bob.resend(ticket)) == (400, "IP_AUTHORIZATION_RESEND_LIMIT_EXCEEDED")
    first, second = await bob.mails()
    assert first["token"] != second["token"]
    assert (await bob.follow(first["token"])).status == 204
    assert errors(await bob.follow(second["token"])) == UNKNOWN_TOKEN, "one of them was enough"
    assert await holder_of(bob.world, await bob.poll(ticket)) == bob.person.id
    assert errors(await bob.resend(ticket)) == UNKNOWN_TICKET


async def test_the_second_mail_s_link_works_as_well(bob: Traveller, autojump_clock: Clock) -> None:
    ticket = await bob.wait_at(ELSEWHERE)
    await trio.sleep(30)
    (await bob.resend(ticket)).expect(204)
    _, second = await bob.mails()
    (await bob.follow(second["token"])).expect(204)
    (await bob.poll(ticket)).expect(200)


async def test_a_ticket_that_is_none_is_not_mailed_about(bob: Traveller) -> None:
    for ticket in ("x", "A" * 43):
        assert errors(await bob.resend(ticket)) == UNKNOWN_TICKET
        assert errors(await bob.poll(ticket)) == UNKNOWN_TICKET
    assert await bob.mails() == []


async def test_an_account_that_has_lost_its_address_is_not_mailed(bob: Traveller, autojump_clock: Clock) -> None:
    ticket = await bob.wait_at(ELSEWHERE)
    await trio.sleep(30)
    await set_account(bob.world, bob.person.id, email=None)
    assert errors(await bob.resend(ticket)) == UNKNOWN_TICKET
    assert len(await bob.mails()) == 1


async def test_a_login_ticket_is_no_waiting_ticket(bob: Traveller) -> None:
    await bob.enable_totp()
    ticket = (await bob.login_from(ELSEWHERE)).expect(200)["ticket"]
    assert errors(await bob.poll(ticket)) == UNKNOWN_TICKET
    assert errors(await bob.resend(ticket)) == UNKNOWN_TICKET


async def test_a_ticket_is_needed(bob: Traveller) -> None:
    anyone = bob.world.anyone
    assert errors(await anyone.get("/v1/auth/ip-authorization/poll")) == [("ticket", "INVALID_FORMAT")]
    assert errors(await anyone.post("/v1/auth/ip-authorization/resend")) == [("ticket", "INVALID_FORMAT")]
    assert errors(await anyone.post("/v1/auth/authorize-ip")) == [("token", "INVALID_FORMAT")]
    long = {"token": "x" * 257}
    assert errors(await anyone.post("/v1/auth/authorize-ip", long)) == [("token", "CONTENT_EXCEEDS_MAX_LENGTH")]


# Together with other things


async def test_the_second_factor_comes_first(bob: Traveller) -> None:
    await bob.enable_totp()
    ticket = (await bob.login_from(ELSEWHERE)).expect(200)["ticket"]
    assert await bob.mails() == [], "who knows nothing but the password causes no mail"
    answer = await bob.show_code(ticket, bob.phone.code(), bob.at(ELSEWHERE))
    assert refusal(answer) == (403, "IP_AUTHORIZATION_REQUIRED")
    (mail,) = await bob.mails()
    (await bob.follow(mail["token"])).expect(204)
    assert await holder_of(bob.world, await bob.poll(answer.json()["ticket"])) == bob.person.id
    assert errors(await bob.show_code(ticket, bob.backup_codes[0], bob.at(ELSEWHERE))) == [
        ("ticket", "SESSION_TIMEOUT")
    ]


async def test_a_passkey_from_a_new_address_waits_too(bob: Traveller) -> None:
    await bob.add_passkey()
    assert (await bob.show_key_alone(client=bob.at(ELSEWHERE))).code == "IP_AUTHORIZATION_REQUIRED"
    (await bob.show_key_alone(client=bob.at(HOME))).expect(200)


async def test_the_login_s_invite_is_kept_for_the_end(bob: Traveller) -> None:
    guild = (await bob.world.alice.rest.create_guild("Chess")).expect(200)
    invite = (await bob.world.alice.rest.create_channel_invite(guild["system_channel_id"])).expect(200)
    ticket = await bob.wait_at(ELSEWHERE, invite_code=invite["code"])
    (mail,) = await bob.mails()
    (await bob.follow(mail["token"])).expect(204)
    (await bob.poll(ticket)).expect(200)
    assert guild["id"] in [entry["id"] for entry in (await bob.person.rest.get("/v1/users/@me/guilds")).expect(200)]


async def test_a_new_password_ends_the_wait(bob: Traveller) -> None:
    ticket = await bob.wait_at(ELSEWHERE)
    (mail,) = await bob.mails()
    (await bob.follow(mail["token"])).expect(204)
    body = {"new_password": "another correct horse", "password": bob.person.password}
    (await bob.person.rest.patch("/v1/users/@me", body)).expect(200)
    assert errors(await bob.poll(ticket)) == UNKNOWN_TICKET


async def test_whoever_changed_it(bob: Traveller) -> None:
    ticket = await bob.wait_at(ELSEWHERE)
    (mail,) = await bob.mails()
    (await bob.follow(mail["token"])).expect(204)
    await set_password_hash(bob.server, bob.person.id, "another")
    assert errors(await bob.poll(ticket)) == UNKNOWN_TICKET


async def test_a_ban_meets_whoever_waits(bob: Traveller) -> None:
    ticket = await bob.wait_at(ELSEWHERE)
    (mail,) = await bob.mails()
    (await bob.follow(mail["token"])).expect(204)
    other = await bob.wait_at("198.51.100.8")
    _, link = await bob.mails()
    await set_account(bob.world, bob.person.id, temp_banned_until="2999-01-01T00:00:00Z")
    suspended = (403, "ACCOUNT_SUSPENDED_TEMPORARILY")
    assert refusal(await bob.poll(ticket)) == suspended
    assert refusal(await bob.poll(other)) == suspended
    assert refusal(await bob.resend(other)) == suspended
    assert refusal(await bob.follow(link["token"])) == suspended
    assert refusal(await bob.login_from("198.51.100.99")) == suspended
    assert len(await bob.mails()) == 2
    await set_account(bob.world, bob.person.id, temp_banned_until=None)
    (await bob.follow(link["token"])).expect(204)


async def test_a_deleted_account_is_gone_for_whoever_waits(bob: Traveller) -> None:
    tickets = [await bob.wait_at(ELSEWHERE), await bob.wait_at("198.51.100.8")]
    first, second = await bob.mails()
    (await bob.follow(first["token"])).expect(204)
    await set_account(bob.world, bob.person.id, flags=str(int(UserFlag.DELETED)))
    assert errors(await bob.poll(tickets[0])) == UNKNOWN_TICKET
    assert errors(await bob.follow(second["token"])) == UNKNOWN_TOKEN


async def test_addresses_can_be_forgotten(bob: Traveller) -> None:
    path = "/v1/users/@me/authorized-ips"
    assert (await bob.person.rest.delete(path)).code == "SUDO_MODE_REQUIRED"
    wrong = await bob.person.rest.delete(path, {"password": "wrong password"})
    assert errors(wrong) == [("password", "INVALID_PASSWORD")]
    (await bob.login_from(HOME)).expect(200)
    assert (await bob.person.rest.delete(path, {"password": bob.person.password})).status == 204
    assert (await bob.login_from(HOME)).code == "IP_AUTHORIZATION_REQUIRED"


async def test_forgetting_is_for_people_who_are_signed_in(bob: Traveller) -> None:
    path = "/v1/users/@me/authorized-ips"
    assert refusal(await bob.world.anyone.delete(path)) == (401, "UNAUTHORIZED")
    assert refusal(await bob.world.bot.rest.delete(path)) == (403, "ACCESS_DENIED")


async def test_a_wait_outlives_the_server(bob: Traveller, autojump_clock: Clock) -> None:
    ticket = await bob.wait_at(ELSEWHERE)
    (mail,) = await bob.mails()
    await bob.server.restart()
    (await bob.follow(mail["token"])).expect(204)
    token = (await bob.poll(ticket)).expect(200)["token"]
    await bob.server.restart()
    assert (await bob.poll(ticket)).expect(200)["token"] == token


async def test_a_stolen_database_signs_nobody_in(bob: Traveller) -> None:
    ticket = await bob.wait_at(ELSEWHERE)
    (mail,) = await bob.mails()
    (await bob.follow(mail["token"])).expect(204)
    token = (await bob.poll(ticket)).expect(200)["token"]
    rows = bob.server.database.reader.execute("SELECT * FROM tickets").fetchall()
    assert rows
    for secret in (ticket, mail["token"], token):
        assert not any(secret in str(row) for row in rows)


@pytest.mark.chat_settings(**{"mail.mode": "off"})
async def test_without_mail_nothing_is_asked(chat_server: ChatServer, chat_world: World) -> None:
    bob = Traveller(chat_server, chat_world, chat_world.bob)
    (await bob.login_from(HOME)).expect(200)
    (await bob.login_from(ELSEWHERE)).expect(200)


@pytest.mark.chat_settings(ip_authorization=False)
async def test_nor_without_the_setting(chat_server: ChatServer, chat_world: World) -> None:
    bob = Traveller(chat_server, chat_world, chat_world.bob)
    (await bob.login_from(HOME)).expect(200)
    (await bob.login_from(ELSEWHERE)).expect(200)


@pytest.mark.chat_settings(sign_in="username")
async def test_nor_of_an_account_without_an_address(chat_server: ChatServer, chat_world: World) -> None:
    members = {"username": "dave", "password": "correct horse"}
    (await chat_world.anyone.register(**members)).expect(200)
    (await RestClient(chat_server.route(ELSEWHERE)).login(**members)).expect(200)
