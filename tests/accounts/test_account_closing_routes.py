"""Disabling and deleting the own account (wire facts 6.5; document 000, Sudo mode 4; document 002).

Area: accounts. Rules: 000.sudo-mode.
"""

from __future__ import annotations

import pytest

from chat.registries.user_flags import UserFlag
from chat.store.accounts import account_deletions
from chat.store.accounts.account_deletions import AccountDeletion
from chat.testing.server import ChatServer
from chat.testing.world import World
from tests.signing_in.mailed import Clock
from tests.signing_in.signing_in import SUDO_HEADER, Holder, errors, holder_of, refusal, set_account

DISABLE = "/v1/users/@me/disable"
DELETE = "/v1/users/@me/delete"
FORTNIGHT_MS = 14 * 24 * 3_600_000

both = pytest.mark.parametrize(
    ("path", "flag"),
    [pytest.param(DISABLE, UserFlag.DISABLED, id="disable"), pytest.param(DELETE, UserFlag.SELF_DELETED, id="delete")],
)


@pytest.fixture
def bob(chat_server: ChatServer, chat_world: World) -> Holder:
    """Bob, who has had enough."""
    return Holder(chat_server, chat_world, chat_world.bob)


async def flags_of(bob: Holder) -> UserFlag:
    return UserFlag(int((await set_account(bob.world, bob.person.id))["flags"]))


def deletion_of(bob: Holder) -> AccountDeletion | None:
    return account_deletions.of_user(bob.server.database.reader, int(bob.person.id))


@both
async def test_every_sign_in_ends_and_signing_in_opens_it_again(bob: Holder, path: str, flag: UserFlag) -> None:
    gateway = await bob.person.connect()
    other = (await bob.login()).expect(200)["token"]
    answer = await bob.person.rest.post(path, {"password": bob.person.password})
    answer.expect(204)
    assert answer.header(SUDO_HEADER) is None, "there is nothing but a password"
    assert (await gateway.expect_opcode(9)).data is False
    for token in (bob.person.token, other):
        assert (await bob.world.anyone.signed_in(token).get("/v1/users/@me")).status == 401
    assert flag in await flags_of(bob)
    assert await holder_of(bob.world, await bob.login()) == bob.person.id
    assert await flags_of(bob) == UserFlag(0)
    assert deletion_of(bob) is None


@both
async def test_a_wrong_password_opens_nothing(bob: Holder, path: str, flag: UserFlag) -> None:
    (await bob.person.rest.post(path, {"password": bob.person.password})).expect(204)
    assert errors(await bob.login(password="wrong password"))
    assert flag in await flags_of(bob)


@both
async def test_a_login_begun_before_opens_nothing(bob: Holder, path: str, flag: UserFlag) -> None:
    await bob.enable_totp()
    ticket = await bob.ticket()
    (await bob.person.rest.post(path, {"mfa_method": "totp", "mfa_code": bob.backup_codes[0]})).expect(204)
    assert errors(await bob.show_code(ticket, bob.phone.code())) == [("ticket", "SESSION_TIMEOUT")]
    assert flag in await flags_of(bob)


@both
async def test_it_takes_a_proof(bob: Holder, path: str, flag: UserFlag) -> None:
    assert refusal(await bob.person.rest.post(path)) == (403, "SUDO_MODE_REQUIRED")
    assert errors(await bob.person.rest.post(path, {"password": "wrong password"})) == [
        ("password", "INVALID_PASSWORD")
    ]
    assert flag not in await flags_of(bob)
    assert (await bob.person.rest.get("/v1/users/@me")).status == 200


@pytest.mark.rule("000.sudo-mode.12")
async def test_disabling_answers_with_no_sudo_token(bob: Holder) -> None:
    await bob.enable_totp()
    proof = {"mfa_method": "totp", "mfa_code": bob.backup_codes[0]}
    answer = await bob.person.rest.post("/v1/users/@me/mfa/backup-codes", {"regenerate": False, **proof})
    token = answer.header(SUDO_HEADER)
    assert token is not None, "elsewhere the same proof earns one"
    echoed = await bob.person.rest.request("POST", DISABLE, json={}, headers={SUDO_HEADER: token})
    echoed.expect(204)
    assert echoed.header(SUDO_HEADER) is None
    ticket = await bob.ticket()
    again = (await bob.show_code(ticket, bob.phone.code())).expect(200)["token"]
    proof = {"mfa_method": "totp", "mfa_code": bob.backup_codes[1]}
    fresh = await bob.world.anyone.signed_in(again).post(DISABLE, proof)
    fresh.expect(204)
    assert fresh.header(SUDO_HEADER) is None


async def test_deleting_says_when(bob: Holder) -> None:
    before = bob.server.clock.now_ms()
    (await bob.person.rest.post(DELETE, {"password": bob.person.password})).expect(204)
    deletion = deletion_of(bob)
    assert deletion is not None
    assert before <= deletion.scheduled_at <= bob.server.clock.now_ms()
    assert deletion.due_at == deletion.scheduled_at + FORTNIGHT_MS
    assert (deletion.reason_code, deletion.scheduled_by) == (1, None)


async def test_the_date_survives_a_restart(bob: Holder, autojump_clock: Clock) -> None:
    (await bob.person.rest.post(DELETE, {"password": bob.person.password})).expect(204)
    scheduled = deletion_of(bob)
    await bob.server.restart()
    assert deletion_of(bob) == scheduled


async def test_what_an_administrator_scheduled_stands(bob: Holder) -> None:
    theirs = AccountDeletion(int(bob.person.id), 10**15, 3, "spam", None, int(bob.world.admin.id), 1)
    await bob.server.database.write(lambda connection: account_deletions.put(connection, theirs))
    (await bob.person.rest.post(DELETE, {"password": bob.person.password})).expect(204)
    assert deletion_of(bob) == theirs
    await bob.login()
    assert deletion_of(bob) == theirs


async def test_who_owns_a_guild_gives_it_away_first(chat_world: World) -> None:
    alice = chat_world.alice
    proof = {"password": alice.password}
    assert refusal(await alice.rest.post(DELETE)) == (403, "SUDO_MODE_REQUIRED")
    assert refusal(await alice.rest.post(DELETE, proof)) == (400, "USER_OWNS_GUILDS")
    assert (await alice.rest.get("/v1/users/@me")).status == 200
    await chat_world.anyone.post(f"/v1/_dev/guilds/{chat_world.guild_id}", {"owner_id": chat_world.bob.id})
    (await alice.rest.post(DELETE, proof)).expect(204)


async def test_but_may_disable_the_account(chat_world: World) -> None:
    (await chat_world.alice.rest.post(DISABLE, {"password": chat_world.alice.password})).expect(204)


async def test_an_account_that_can_prove_nothing_is_believed(bob: Holder) -> None:
    token = (await bob.world.anyone.register(username="dave")).expect(200)["token"]
    (await bob.world.anyone.signed_in(token).post(DISABLE)).expect(204)


@both
async def test_bots_do_not_close_themselves(chat_world: World, path: str, flag: UserFlag) -> None:
    assert refusal(await chat_world.bot.rest.post(path)) == (403, "ACCESS_DENIED")


@both
async def test_a_link_to_reset_the_password_from_before(bob: Holder, path: str, flag: UserFlag) -> None:
    (await bob.world.anyone.post("/v1/auth/forgot", {"email": bob.person.email})).expect(204)
    (mail,) = (await bob.world.anyone.get("/v1/_dev/mail")).expect(200)
    (await bob.person.rest.post(path, {"password": bob.person.password})).expect(204)
    answer = await bob.world.anyone.get(f"/v1/auth/reset/{mail['token']}")
    assert answer.expect(200) == {"valid": False}


@both
@pytest.mark.parametrize(
    "body",
    [{"password": 5}, {"password": "x" * 257}, {"mfa_method": "sms"}, {"mfa_code": "1" * 33}, [], "text", 5],
)
async def test_bodies_that_are_none(bob: Holder, path: str, flag: UserFlag, body: object) -> None:
    assert errors(await bob.person.rest.post(path, body))
    assert flag not in await flags_of(bob)


async def test_a_ban_is_not_lifted_by_coming_back(bob: Holder, autojump_clock: Clock) -> None:
    (await bob.person.rest.post(DELETE, {"password": bob.person.password})).expect(204)
    await set_account(bob.world, bob.person.id, temp_banned_until="2100-01-01T00:00:00Z")
    assert refusal(await bob.login()) == (403, "ACCOUNT_SUSPENDED_TEMPORARILY")
    assert UserFlag.SELF_DELETED in await flags_of(bob)
    assert deletion_of(bob) is not None
