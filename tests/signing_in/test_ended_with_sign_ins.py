"""Who was signed out everywhere stays out: nothing that was begun or agreed to before becomes a sign-in afterwards."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, Final

import pytest
from trio.testing import MockClock

from chat.testing.rest_client import Response, RestClient
from chat.testing.server import ChatServer
from chat.testing.world import World
from tests.signing_in.signing_in import PASSKEYS, Holder
from tests.signing_in.test_handoff_routes import agree, begin, status
from tests.signing_in.test_passkey_bridge_routes import Page, Program

Collect = Callable[[], Awaitable[Response]]
Begin = Callable[[Holder], Awaitable[Collect]]


async def handed_off(bob: Holder) -> Collect:
    code = await begin(bob.world)
    (await agree(bob.world, code)).expect(204)
    return lambda: status(bob.world, code)


async def over_a_bridge(bob: Holder) -> Collect:
    await bob.add_passkey()
    program = Program(bob.world, RestClient(bob.server.route("198.51.100.7")))
    (await Page(bob, await program.start()).show_key()).expect(204)
    return program.redeem


async def with_a_factor_to_come(bob: Holder) -> Collect:
    await bob.enable_totp()
    ticket = await bob.ticket()
    return lambda: bob.show_code(ticket, bob.phone.code(1))


WAYS: Final[dict[str, Begin]] = {
    "hand-off": handed_off,
    "passkey bridge": over_a_bridge,
    "second factor": with_a_factor_to_come,
}


async def by_an_administrator(bob: Holder) -> None:
    (await bob.world.admin.rest.delete(f"/v1/admin/users/{bob.person.id}/sessions")).expect(200)


async def by_a_ban_that_was_lifted(bob: Holder) -> None:
    path = f"/v1/admin/users/{bob.person.id}/ban"
    (await bob.world.admin.rest.put(path, {"duration_hours": 1})).expect(200)
    (await bob.world.admin.rest.delete(path, {})).expect(200)


async def by_oneself(bob: Holder) -> None:
    """All sign-ins, one of which agreed to a hand-off."""
    sessions: list[dict[str, Any]] = (await bob.person.rest.get("/v1/auth/sessions")).expect(200)
    has_passkey = (await bob.person.rest.get(f"{PASSKEYS}/credentials")).expect(200) != []
    proof = await bob.passkey_proof() if has_passkey else {"password": bob.person.password}
    body = {"session_id_hashes": [session["id_hash"] for session in sessions], **proof}
    (await bob.person.rest.post("/v1/auth/sessions/logout", body)).expect(204)


ENDS: Final = (by_an_administrator, by_a_ban_that_was_lifted, by_oneself)
CASES: Final = [
    (way, end)
    for way in WAYS
    for end in ENDS
    # One who ends sign-ins one by one may be signing in elsewhere, where the password was shown anew.
    if (way, end) != ("second factor", by_oneself)
]


def tickets_of(server: ChatServer, user_id: str) -> list[str]:
    """Kinds of tickets that stand for an account, by their column or within what they describe."""
    rows = server.server.core.database.reader.execute("SELECT kind, user_id, body FROM tickets")
    return [kind for kind, holder, body in rows if str(holder) == user_id or user_id in body]


@pytest.mark.parametrize(("way", "end"), CASES)
async def test_nothing_becomes_a_sign_in_afterwards(
    chat_server: ChatServer,
    chat_world: World,
    autojump_clock: MockClock,
    way: str,
    end: Callable[[Holder], Awaitable[None]],
) -> None:
    bob = Holder(chat_server, chat_world, chat_world.bob)
    collect = await WAYS[way](bob)
    assert tickets_of(chat_server, bob.person.id)
    await end(bob)
    answer = await collect()
    assert answer.status in (400, 401), answer.json()
    assert "token" not in answer.json()


async def test_all_tickets_of_an_account_go_with_its_sign_ins(
    chat_server: ChatServer, chat_world: World, autojump_clock: MockClock
) -> None:
    bob = Holder(chat_server, chat_world, chat_world.bob)
    for begun in (handed_off, over_a_bridge):
        await begun(bob)
    assert {"handoff", "passkey_bridge"} == set(tickets_of(chat_server, bob.person.id))
    await by_an_administrator(bob)
    assert tickets_of(chat_server, bob.person.id) == []
