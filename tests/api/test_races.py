"""Requests that overtake each other: whatever the order, what was decided on is what is written."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import pytest
import trio

from chat.auth.passwords import Asker, Match, Passwords
from chat.store.guard import Guard
from chat.testing.rest_client import Response
from chat.testing.server import ChatServer
from chat.testing.world import World

NEW_PASSWORD = "correct horse"


async def together(*requests: Callable[[], Awaitable[Response]]) -> list[Response]:
    """The answers to requests that were under way at the same time."""
    answers: list[Response | None] = [None] * len(requests)

    async def send(place: int) -> None:
        answers[place] = await requests[place]()

    async with trio.open_nursery() as nursery:
        for place in range(len(requests)):
            nursery.start_soon(send, place)
    return [answer for answer in answers if answer is not None]


class Waiting:
    """Holds every verification of a password up, after it was made, until it is told to go on."""

    def __init__(self, passwords: Passwords) -> None:
        self._match = passwords.match
        self.reached = trio.Event()
        self.go_on = trio.Event()

    async def __call__(self, encoded: str | None, password: str, asker: Asker, *, guard: Guard) -> Match | None:
        verdict = await self._match(encoded, password, asker, guard=guard)
        self.reached.set()
        await self.go_on.wait()
        return verdict


async def test_one_address_is_registered_once(chat_world: World) -> None:
    async def register(name: str) -> Response:
        return await chat_world.anyone.register(email="dave@example.com", username=name, password=NEW_PASSWORD)

    answers = await together(*(lambda name=f"dave{number}": register(name) for number in range(5)))
    assert sorted(answer.status for answer in answers) == [200, 400, 400, 400, 400]


async def test_an_old_password_signs_nobody_in_once_it_is_changed(
    chat_world: World, chat_server: ChatServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    bob = chat_world.bob
    waiting = Waiting(chat_server.server.core.passwords)
    logins: list[Response] = []

    async def login() -> None:
        logins.append(await chat_world.anyone.login(email=bob.email, password=bob.password))

    async with trio.open_nursery() as nursery:
        with monkeypatch.context() as patched:
            patched.setattr(chat_server.server.core.passwords, "match", waiting)
            nursery.start_soon(login)
            await waiting.reached.wait()
        body = {"password": bob.password, "new_password": NEW_PASSWORD}
        (await bob.rest.patch("/v1/users/@me", body)).expect(200)
        waiting.go_on.set()
    assert logins[0].status == 400
    assert (await chat_world.anyone.login(email=bob.email, password=NEW_PASSWORD)).status == 200
    sessions = chat_server.database.reader.execute(
        "SELECT count(*) FROM auth_sessions WHERE user_id = ?", (int(bob.id),)
    ).fetchone()
    assert sessions == (1,)


async def test_of_two_password_changes_at_once_one_counts(chat_world: World) -> None:
    bob = chat_world.bob

    async def change(password: str) -> Response:
        return await bob.rest.patch("/v1/users/@me", {"password": bob.password, "new_password": password})

    answers = await together(lambda: change("first new one"), lambda: change("second new one"))
    assert sorted(answer.status for answer in answers)[0] == 200
    works = [
        (await chat_world.anyone.login(email=bob.email, password=password)).status
        for password in ("first new one", "second new one")
    ]
    assert sorted(works) == [200, 400]


async def test_a_store_that_fails_in_the_middle_changes_nothing(chat_world: World, chat_server: ChatServer) -> None:
    chat_server.database.failing = True
    bob = chat_world.bob
    for answer in await together(
        lambda: chat_world.anyone.register(username="dave"),
        lambda: chat_world.anyone.login(email=bob.email, password=bob.password),
        lambda: bob.rest.logout(),
        lambda: bob.rest.patch("/v1/users/@me", {"bio": "changed"}),
        lambda: bob.rest.patch("/v1/users/@me/settings", {"theme": "dark"}),
        lambda: bob.rest.post("/v1/oauth2/applications", {"name": "x"}),
        lambda: bob.rest.get("/v1/auth/sessions"),
        lambda: bob.rest.get("/v1/users/@me"),
    ):
        assert (answer.status, answer.code) == (503, "SERVICE_UNAVAILABLE")
        assert answer.header("Retry-After") == "1"
    chat_server.database.failing = False
    assert (await bob.rest.get("/v1/users/@me")).expect(200)["bio"] is None
    assert len((await bob.rest.get("/v1/auth/sessions")).expect(200)) == 1
