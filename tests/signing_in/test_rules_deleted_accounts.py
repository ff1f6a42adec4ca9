"""Deleted and disabled accounts: who turns them away, and who does not (document 000, Account state gates).

Area: signing_in. Rules: 000.gates.
"""

from __future__ import annotations

from typing import Any, Final

import pytest

from chat.registries.user_flags import UserFlag
from chat.store.accounts import accounts
from chat.store.accounts.accounts import Account
from chat.testing.rest_client import Response
from chat.testing.server import ChatServer
from chat.testing.world import Person, World

NEW_PASSWORD: Final = "correct horse battery"
NEW_EMAIL: Final = "robert@example.com"

DENIED: Final = (403, "ACCESS_DENIED")
ALIVE: Final = pytest.param(UserFlag(0), False, id="alive")
DISABLED: Final = pytest.param(UserFlag.DISABLED, False, id="disabled")
DELETED: Final = pytest.param(UserFlag.DELETED, True, id="deleted")
states = pytest.mark.parametrize(("flag", "refused"), [ALIVE, DISABLED, DELETED])


async def set_account(world: World, person: Person, **members: object) -> None:
    (await world.anyone.post(f"/v1/_dev/users/{person.id}", members)).expect(200)


async def set_flag(world: World, flag: UserFlag) -> None:
    await set_account(world, world.bob, flags=str(int(flag)))


async def mailed(world: World, kind: str) -> str | None:
    """What the last mail of a kind carries."""
    kept: list[dict[str, Any]] = (await world.anyone.get("/v1/_dev/mail")).expect(200)
    tokens = [mail["token"] for mail in kept if mail["kind"] == kind]
    return tokens[-1] if tokens else None


def stored(server: ChatServer, person: Person) -> Account:
    account = accounts.by_id(server.database.reader, int(person.id))
    assert account is not None
    return account


def refusal(answer: Response) -> tuple[int, str | None]:
    return answer.status, answer.code


def field_code(answer: Response) -> str:
    """The code of the one wrong field."""
    (error,) = answer.json()["errors"]
    code: str = error["code"]
    return code


async def steps(person: Person, flow: str, name: str, **members: object) -> Response:
    return await person.rest.post(f"/v1/users/@me/{flow}/{name}", members)


# Nothing decides it for all


@pytest.mark.rule("000.gates.11")
@pytest.mark.parametrize("flag", [UserFlag.DELETED, UserFlag.DISABLED])
async def test_a_credential_that_is_left_goes_on_working(chat_world: World, flag: UserFlag) -> None:
    await set_flag(chat_world, flag)
    bob, channel = chat_world.bob, chat_world.channel_id
    assert (await bob.rest.get("/v1/users/@me")).status == 200
    assert (await bob.rest.get("/v1/users/@me/settings")).status == 200
    assert (await bob.rest.get("/v1/users/@me/guilds")).status == 200
    assert (await bob.rest.get(f"/v1/guilds/{chat_world.guild_id}")).status == 200
    assert (await bob.rest.send_message(channel, "still here")).status == 200
    assert (await bob.rest.patch("/v1/users/@me", {"bio": "still here"})).status == 200
    assert (await bob.rest.get("/v1/auth/sessions")).status == 200
    gateway = await bob.connect()
    await gateway.aclose()


@pytest.mark.rule("000.gates.11")
@states
async def test_one_operation_turns_away_what_another_lets_in(chat_world: World, flag: UserFlag, refused: bool) -> None:
    await set_flag(chat_world, flag)
    assert (await chat_world.bob.rest.patch("/v1/users/@me", {"bio": "x"})).status == 200
    body = {"new_password": NEW_PASSWORD, "password": chat_world.bob.password}
    answer = await chat_world.bob.rest.patch("/v1/users/@me", body)
    assert refusal(answer) == (DENIED if refused else (200, None))


# The password


@pytest.mark.rule("000.gates.13")
@states
async def test_a_deleted_account_is_mailed_no_link(chat_world: World, flag: UserFlag, refused: bool) -> None:
    await set_flag(chat_world, flag)
    (await chat_world.anyone.post("/v1/auth/forgot", {"email": chat_world.bob.email})).expect(204)
    assert (await mailed(chat_world, "password_reset") is None) is refused


@pytest.mark.rule("000.gates.13")
@states
async def test_a_link_from_before_resets_nothing(
    chat_server: ChatServer, chat_world: World, flag: UserFlag, refused: bool
) -> None:
    (await chat_world.anyone.post("/v1/auth/forgot", {"email": chat_world.bob.email})).expect(204)
    token = await mailed(chat_world, "password_reset")
    before = stored(chat_server, chat_world.bob)
    await set_flag(chat_world, flag)
    check = await chat_world.anyone.get(f"/v1/auth/reset/{token}")
    assert check.expect(200) == {"valid": not refused}
    answer = await chat_world.anyone.post("/v1/auth/reset", {"token": token, "password": NEW_PASSWORD})
    if refused:
        assert field_code(answer) == "INVALID_OR_EXPIRED_RESET_TOKEN"
    else:
        assert answer.status == 200
    assert (stored(chat_server, chat_world.bob).password_hash == before.password_hash) is refused


@pytest.mark.rule("000.gates.13")
@pytest.mark.chat_settings(sign_in="username")
@states
async def test_a_recovery_kit_recovers_nothing(
    chat_server: ChatServer, chat_world: World, flag: UserFlag, refused: bool
) -> None:
    bob = chat_world.bob
    path = "/v1/users/@me/recovery-kit"
    code = (await bob.rest.post(path, {"password": bob.password})).expect(200)["code"]
    before = stored(chat_server, bob)
    await set_flag(chat_world, flag)
    made = await bob.rest.post(path, {"password": bob.password})
    assert refusal(made) == (DENIED if refused else (200, None))
    code = code if refused else made.json()["code"]
    body = {"username": "bob", "code": code, "password": NEW_PASSWORD}
    answer = await chat_world.anyone.post("/v1/auth/recovery", body)
    assert answer.status == (400 if refused else 200)
    assert (stored(chat_server, bob).password_hash == before.password_hash) is refused


@pytest.mark.rule("000.gates.13")
@states
async def test_a_mailed_code_changes_no_password(
    chat_server: ChatServer, chat_world: World, flag: UserFlag, refused: bool
) -> None:
    bob, flow = chat_world.bob, "password-change"
    ticket = (await steps(bob, flow, "start")).expect(200)["ticket"]
    code = await mailed(chat_world, "password_change")
    proof = (await steps(bob, flow, "verify", ticket=ticket, code=code)).expect(200)["verification_proof"]
    before = stored(chat_server, bob)
    await set_flag(chat_world, flag)
    members = {"ticket": ticket, "verification_proof": proof, "new_password": NEW_PASSWORD}
    answer = await steps(bob, flow, "complete", **members)
    assert refusal(answer) == (DENIED if refused else (200, None))
    assert (stored(chat_server, bob).password_hash == before.password_hash) is refused
    if refused:
        assert refusal(await steps(bob, flow, "start")) == DENIED


# The address


@pytest.mark.rule("000.gates.14")
@states
async def test_its_address_is_not_verified(
    chat_server: ChatServer, chat_world: World, flag: UserFlag, refused: bool
) -> None:
    await set_account(chat_world, chat_world.bob, email_verified=False)
    (await chat_world.bob.rest.post("/v1/auth/verify/resend")).expect(204)
    token = await mailed(chat_world, "verification")
    await set_flag(chat_world, flag)
    resent = await chat_world.bob.rest.post("/v1/auth/verify/resend")
    assert refusal(resent) == (DENIED if refused else (204, None))
    answer = await chat_world.anyone.post("/v1/auth/verify", {"token": token})
    if refused:
        assert field_code(answer) == "INVALID_OR_EXPIRED_VERIFICATION_TOKEN"
    else:
        assert answer.status == 204
    assert stored(chat_server, chat_world.bob).email_verified is not refused


async def prove_the_new_address(world: World) -> str:
    """Every proof of a change of bob's address, up to the token."""
    bob, flow = world.bob, "email-change"
    ticket = (await steps(bob, flow, "start")).expect(200)["ticket"]
    code = await mailed(world, "email_change")
    proof = (await steps(bob, flow, "verify-original", ticket=ticket, code=code)).expect(200)["original_proof"]
    members = {"ticket": ticket, "original_proof": proof}
    (await steps(bob, flow, "request-new", **members, new_email=NEW_EMAIL)).expect(200)
    code = await mailed(world, "email_change")
    token: str = (await steps(bob, flow, "verify-new", **members, code=code)).expect(200)["email_token"]
    return token


@pytest.mark.rule("000.gates.14")
@states
@pytest.mark.parametrize("way", ["apply", "own account"])
async def test_its_address_is_not_changed(
    chat_server: ChatServer, chat_world: World, way: str, flag: UserFlag, refused: bool
) -> None:
    bob = chat_world.bob
    body = {"email_token": await prove_the_new_address(chat_world), "password": bob.password}
    await set_flag(chat_world, flag)
    if way == "apply":
        answer = await steps(bob, "email-change", "apply", **body)
    else:
        answer = await bob.rest.patch("/v1/users/@me", body)
    assert refusal(answer) == (DENIED if refused else (200, None))
    assert stored(chat_server, bob).email == (bob.email if refused else NEW_EMAIL)


@pytest.mark.rule("000.gates.14")
@pytest.mark.parametrize(
    "name", ["start", "resend-original", "verify-original", "request-new", "resend-new", "verify-new"]
)
async def test_nor_is_any_step_towards_it_taken(chat_world: World, name: str) -> None:
    members = {"ticket": "x", "code": "x", "original_proof": "x", "new_email": NEW_EMAIL}
    alive = await steps(chat_world.bob, "email-change", name, **members)
    assert refusal(alive) != DENIED
    await set_flag(chat_world, UserFlag.DELETED)
    assert refusal(await steps(chat_world.bob, "email-change", name, **members)) == DENIED


@pytest.mark.rule("000.gates.14")
@states
async def test_nor_is_one_replaced_that_takes_no_mail(
    chat_server: ChatServer, chat_world: World, flag: UserFlag, refused: bool
) -> None:
    bob, flow = chat_world.bob, "email-change/bounced"
    await set_account(chat_world, bob, email_bounced=True)
    ticket = (await steps(bob, flow, "request-new", new_email=NEW_EMAIL)).expect(200)["ticket"]
    code = await mailed(chat_world, "email_change")
    await set_flag(chat_world, flag)
    answer = await steps(bob, flow, "verify-new", ticket=ticket, code=code, password=bob.password)
    assert refusal(answer) == (DENIED if refused else (200, None))
    assert stored(chat_server, bob).email == (bob.email if refused else NEW_EMAIL)


@pytest.mark.rule("000.gates.14")
@states
async def test_nor_is_a_change_taken_back(
    chat_server: ChatServer, chat_world: World, flag: UserFlag, refused: bool
) -> None:
    bob = chat_world.bob
    body = {"email_token": await prove_the_new_address(chat_world), "password": bob.password}
    (await steps(bob, "email-change", "apply", **body)).expect(200)
    token = await mailed(chat_world, "email_revert")
    await set_flag(chat_world, flag)
    answer = await chat_world.anyone.post("/v1/auth/email-revert", {"token": token, "password": NEW_PASSWORD})
    if refused:
        assert field_code(answer) == "INVALID_OR_EXPIRED_REVERT_TOKEN"
    else:
        assert answer.status == 200
    assert stored(chat_server, bob).email == (NEW_EMAIL if refused else bob.email)
