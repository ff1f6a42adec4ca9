"""One address on two accounts, which administrators may give (design 8): the older holder signs in by it; whoever gives
it up hands it over at once; selectors find the older holder, and the other is found by its name."""

from __future__ import annotations

import sqlite3
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Final

import pytest
import trio
from trio.testing import MockClock

from chat.domain.signing_in.email_addresses import MailBounces
from chat.store.accounts import accounts
from chat.store.connections import connect
from chat.store.migrations import MIGRATIONS, migrate
from chat.testing.rest_client import Response
from chat.testing.server import ChatServer
from chat.testing.world import Person, World
from tests.administration.asking import Asking
from tests.signing_in.mailed import NEW_PASSWORD, last_token, mails
from tests.signing_in.test_email_change_routes import NEW, Mover

SHARED: Final = "bob@example.com"


@pytest.fixture
async def ask(chat_server: ChatServer, chat_world: World, autojump_clock: MockClock) -> Asking:
    """carol has bob's address too."""
    ask = Asking(chat_server, chat_world, chat_world.carol.id)
    await ask.user("PATCH", "/email", {"email": "Bob@Example.com"})
    return ask


async def sign_in(world: World, person: Person) -> Response:
    return await world.anyone.login(email=SHARED, password=person.password)


async def found_by(ask: Asking, **selector: str) -> list[str]:
    listed = (await ask.world.admin.rest.get("/v1/admin/users", selector)).expect(200)
    assert listed["total"] == len(listed["users"])
    return [user["id"] for user in listed["users"]]


async def test_the_older_holder_signs_in_and_selectors_find_that_one(ask: Asking, autojump_clock: MockClock) -> None:
    world = ask.world
    assert (await sign_in(world, world.bob)).expect(200)["user_id"] == world.bob.id
    assert (await sign_in(world, world.carol)).code == "INVALID_FORM_BODY"
    for written in (SHARED, "Bob@example.com"):
        assert await found_by(ask, resolve=written) == [world.bob.id]
    assert await found_by(ask, email=SHARED) == [world.bob.id]  # as it is written
    assert await found_by(ask, email="Bob@example.com") == [world.carol.id]
    assert world.carol.id in await found_by(ask, q=world.carol.username)


async def changed_by_an_administrator(ask: Asking) -> None:
    await Asking(ask.server, ask.world).user("PATCH", "/email", {"email": "robert@example.com"})


async def erased(ask: Asking) -> None:
    await Asking(ask.server, ask.world).user("PUT", "/deletion", {"reason_code": 1, "days": 14})
    now = ask.server.clock.now_ms()
    await ask.server.database.write(
        lambda connection: connection.execute("UPDATE account_deletions SET due_at = ?", (now,))
    )
    await trio.sleep(700)


async def changed_by_the_holder(ask: Asking) -> None:
    await Mover(ask.world, ask.world.bob).move()


WAYS: Final[list[Callable[[Asking], Awaitable[None]]]] = [changed_by_an_administrator, changed_by_the_holder, erased]


async def refused_to_strangers(world: World, address: str) -> bool:
    stranger = {"email": address, "username": "stranger", "password": "a password of a stranger", "consent": True}
    answer = await world.anyone.register(**stranger, date_of_birth="1990-01-01")
    return answer.status == 400 and answer.json()["errors"][0]["code"] == "EMAIL_ALREADY_IN_USE"


@pytest.mark.parametrize("gives_up", WAYS)
async def test_the_other_takes_over_at_once(
    ask: Asking, autojump_clock: MockClock, gives_up: Callable[[Asking], Awaitable[None]]
) -> None:
    world = ask.world
    await gives_up(ask)
    assert (await sign_in(world, world.carol)).expect(200)["user_id"] == world.carol.id
    assert await found_by(ask, resolve=SHARED) == [world.carol.id]
    assert await refused_to_strangers(world, SHARED)
    await Asking(ask.server, world, world.carol.id).user("PATCH", "/email", {"email": "carola@example.com"})
    assert await found_by(ask, resolve=SHARED) == []


async def test_the_other_takes_over_what_a_revert_gives_up(
    chat_server: ChatServer, chat_world: World, autojump_clock: MockClock
) -> None:
    world = chat_world
    await Mover(world, world.bob).move()
    carol = Asking(chat_server, world, world.carol.id)
    await carol.user("PATCH", "/email", {"email": NEW})
    token = await last_token(world, "email_revert")
    answer = await world.anyone.post("/v1/auth/email-revert", {"token": token, "password": NEW_PASSWORD})
    assert answer.expect(200)["user_id"] == world.bob.id
    assert (await world.anyone.login(email=NEW, password=world.carol.password)).expect(200)["user_id"] == world.carol.id
    assert await found_by(carol, resolve=NEW) == [world.carol.id]
    assert await refused_to_strangers(world, NEW)


async def test_an_address_that_does_not_exist_is_so_for_both(ask: Asking, autojump_clock: MockClock) -> None:
    def unit(connection: sqlite3.Connection) -> object:
        return MailBounces(ask.server.server.core.account_events).note(connection, SHARED)

    await ask.server.database.write(unit)
    for person in (ask.world.bob, ask.world.carol):
        account = accounts.by_id(ask.server.database.reader, int(person.id))
        assert account is not None
        assert account.email_bounced


async def test_mail_to_the_other_stays_when_one_is_erased(ask: Asking, autojump_clock: MockClock) -> None:
    (await ask.world.anyone.post("/v1/auth/forgot", {"email": SHARED})).expect(204)
    before = [mail["to"] for mail in await mails(ask.world)]
    assert SHARED in before
    await erased(ask)
    assert [mail["to"] for mail in await mails(ask.world)][: len(before)] == before


def test_a_store_from_before_finds_the_others_again(tmp_path: Path) -> None:
    """Until then the second holder stayed without the address when the first gave it up."""
    connection = connect(tmp_path / "chat.db")
    names = [migration.__name__ for migration in MIGRATIONS]
    migrate(connection, MIGRATIONS[: names.index("shared_addresses")])
    row = "INSERT INTO users (id, username, username_key, discriminator, email, email_key, created_at)"
    for user_id, email, key in (
        (1, None, None),
        (2, "A@x", None),
        (3, "a@x", None),
        (4, "b@x", "b@x"),
        (5, "B@x", None),
    ):
        connection.execute(f"{row} VALUES (?, ?, ?, 1, ?, ?, 0)", (user_id, f"u{user_id}", f"u{user_id}", email, key))
    migrate(connection)
    found = connection.execute("SELECT id, email_key, address_key FROM users ORDER BY id").fetchall()
    assert found == [(1, None, None), (2, "a@x", "a@x"), (3, None, "a@x"), (4, "b@x", "b@x"), (5, None, "b@x")]
    connection.close()
