"""Authors that the server keeps in memory are shown as the store has them at that moment.

messages.md, Message object. Each test reads a page before, so that its authors are in memory.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

import pytest
from trio.testing import MockClock

from chat.domain.messages import known_authors
from chat.registries.user_flags import UserFlag
from chat.store.accounts.accounts import ShownAccount
from chat.store.connections import connect
from chat.testing.server import ChatServer
from chat.testing.world import World

OTHERS = {"flags": int(UserFlag.DELETED), "bot": 1, "system": 1, "discriminator": 7, "avatar_color": 7}


@pytest.fixture
def outside(chat_server: ChatServer) -> Iterator[Any]:
    """Another process's connection to the database."""
    [path] = [row[2] for row in chat_server.database.reader.execute("PRAGMA database_list") if row[1] == "main"]
    with contextlib.closing(connect(path, durable=False)) as connection:
        yield connection


async def page(world: World, limit: int = 50) -> Any:
    """The newest messages; a page of more than fifty takes another way, without the memory."""
    return (await world.carol.rest.get(f"/v1/channels/{world.channel_id}/messages?limit={limit}")).expect(200)


async def written(world: World) -> None:
    for person in (world.alice, world.bob, world.alice, world.carol):
        (await person.rest.send_message(world.channel_id, "hello")).expect(200)
    assert await page(world) == await page(world)


def statements_about_accounts(server: ChatServer) -> list[str]:
    """What is asked of the table of accounts from now on, as long as a page is read."""
    asked: list[str] = []
    server.database.reader.set_trace_callback(
        lambda said: asked.append(said) if " FROM users WHERE id" in said else None
    )
    return asked


async def test_authors_that_are_known_are_not_read_again(
    chat_server: ChatServer, chat_world: World, autojump_clock: MockClock
) -> None:
    await written(chat_world)
    asked = statements_about_accounts(chat_server)
    await page(chat_world)
    assert asked == []
    (await chat_world.bob.rest.patch("/v1/users/@me", {"global_name": "Robert"})).expect(200)
    del asked[:]
    authors = [message["author"] for message in await page(chat_world)]
    assert [author["global_name"] for author in authors if author["id"] == chat_world.bob.id] == ["Robert"]
    assert asked, "the changed author is read"
    assert not any("json_each" in said for said in asked), "and the others are not: that would be one look for several"
    chat_server.database.reader.set_trace_callback(None)


@pytest.mark.parametrize("column", [column for column in ShownAccount._fields if column != "id"])
async def test_every_change_of_what_is_shown_holds_at_once(
    column: str, chat_world: World, outside: Any, autojump_clock: MockClock
) -> None:
    await written(chat_world)
    before = await page(chat_world)
    outside.execute(f"UPDATE users SET {column} = ? WHERE id = ?", (OTHERS.get(column, 1), chat_world.bob.id))  # noqa: S608
    after = await page(chat_world)
    assert after != before
    assert after == await page(chat_world, limit=51)


async def test_an_account_that_goes_or_comes_is_shown_as_it_is(
    chat_world: World, outside: Any, autojump_clock: MockClock
) -> None:
    await written(chat_world)
    kept = outside.execute("SELECT * FROM users WHERE id = ?", (chat_world.bob.id,)).fetchone()
    outside.execute("PRAGMA foreign_keys = OFF")
    before = await page(chat_world)
    outside.execute("DELETE FROM users WHERE id = ?", (chat_world.bob.id,))
    gone = await page(chat_world)
    assert gone == await page(chat_world) == await page(chat_world, limit=51) != before
    outside.execute("DELETE FROM channels WHERE id = ?", (chat_world.bob.id,))  # comes with the account
    outside.execute(f"INSERT INTO users VALUES ({', '.join('?' * len(kept))})", kept)  # noqa: S608
    assert await page(chat_world) == before


async def test_no_more_authors_are_kept_than_may_be(
    chat_server: ChatServer, chat_world: World, autojump_clock: MockClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(known_authors, "AUTHORS_MAXIMUM", 2)
    await written(chat_world)
    known = chat_server.server.areas.messages.messages.known_authors
    assert len(known) == 3
    (await chat_world.bot.rest.send_message(chat_world.channel_id, "mine")).expect(200)
    assert await page(chat_world) == await page(chat_world, limit=51)
    assert len(known) == 4, "those of one page"


async def test_after_a_reset_nobody_of_before_is_shown(
    chat_world: World, outside: Any, autojump_clock: MockClock
) -> None:
    (await chat_world.bob.rest.patch("/v1/users/@me", {"global_name": "Robert"})).expect(200)
    await written(chat_world)
    (await chat_world.anyone.post("/v1/_dev/reset")).expect(204)
    await written(chat_world)
    names = {message["author"]["global_name"] for message in await page(chat_world)}
    assert names == {"Alice", "Bob", "Carol"}
