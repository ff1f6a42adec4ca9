"""What plain messages cost the store: what others add to messages may not cost those who do not use it a statement."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest

from chat.domain.messages.message_drafts import MessageDraft, MessageEdit
from chat.domain.messages.message_reading import MessagePage
from tests.guilds.guild_world import GuildPlace, GuildWorld

NO_WORK = re.compile(r"BEGIN|COMMIT|SAVEPOINT|RELEASE|ROLLBACK|--", re.IGNORECASE)
"""The frame of a unit."""

TABLE = re.compile(r"\b(?:FROM|INTO|UPDATE)\s+([a-z_]+)", re.IGNORECASE)


class Watch:
    """The statements of readers and of the writer since it began, as `VERB table`."""

    def __init__(self) -> None:
        self.statements: list[str] = []
        self._last = ""

    def note(self, statement: str) -> None:
        """Of a statement with triggers SQLite tells once more for each trigger that runs."""
        text = statement.strip()
        if NO_WORK.match(text) or text == self._last:
            return
        self._last = text
        table = TABLE.search(text)
        self.statements.append(f"{text.split()[0].upper()} {'' if table is None else table[1]}".strip())


@asynccontextmanager
async def watching(world: GuildWorld) -> AsyncIterator[Watch]:
    """Watch both connections for the time of the block."""
    watch = Watch()

    async def put(callback: Callable[[str], Any] | None) -> None:
        def unit(connection: sqlite3.Connection) -> None:
            connection.set_trace_callback(callback)

        await world.database.write(unit)
        world.database.reader.set_trace_callback(callback)

    await put(watch.note)
    try:
        yield watch
    finally:
        await put(None)


@pytest.fixture
async def harbour(world: GuildWorld) -> GuildPlace:
    """Alice's guild with Bob; both have written there already."""
    world.alice, world.bob = [await world.person(name) for name in ("alice", "bob")]
    place = await world.guild(world.alice, world.bob)
    for who in (world.alice, world.bob):
        await world.sending.create(who, place.general, MessageDraft("warm"))
    return place


async def test_a_plain_message_is_written_with_these_statements_and_no_others(
    world: GuildWorld, harbour: GuildPlace
) -> None:
    async with watching(world) as watch:
        await world.sending.create(world.bob, harbour.general, MessageDraft("hello", nonce="n"))
    assert watch.statements == ["UPDATE channels", "INSERT messages", "INSERT read_states"]


async def test_a_page_of_plain_messages_is_read_with_these_statements_and_no_others(
    world: GuildWorld, harbour: GuildPlace
) -> None:
    for number in range(30):
        await world.sending.create(world.bob, harbour.general, MessageDraft(str(number)))
    async with watching(world) as watch:
        found = await world.messages.of_channel(world.alice, harbour.general, MessagePage(50))
    assert len(found) > 30
    assert watch.statements == [
        "SELECT messages",
        "SELECT messages",  # all columns of the one that is not plain
        "SELECT message_mentions",  # of the one that tells of a member who came
        "SELECT message_role_mentions",
        "SELECT users",  # whom that one names
        "SELECT users",  # the authors of all others
    ]
    # Soon after, on the loop: the authors the first time and after something changed, later not even these.
    for authors in (["SELECT caller_changes", "SELECT users"], []):
        async with watching(world) as watch:
            await world.messages.of_channel(world.alice, harbour.general, MessagePage(30))
        assert watch.statements == ["SELECT messages", "PRAGMA", *authors]


async def test_a_message_that_names_somebody_costs_what_that_asks_for(world: GuildWorld, harbour: GuildPlace) -> None:
    async with watching(world) as watch:
        await world.sending.create(world.bob, harbour.general, MessageDraft(f"<@{world.alice.user_id}>"))
    assert len(watch.statements) <= 9, watch.statements


async def test_a_plain_edit_and_a_deletion_are_bounded(world: GuildWorld, harbour: GuildPlace) -> None:
    sent = await world.sending.create(world.bob, harbour.general, MessageDraft("hello"))
    async with watching(world) as watch:
        await world.editing.edit(world.bob, harbour.general, int(sent["id"]), MessageEdit("better"))
    assert len(watch.statements) <= 12, watch.statements
    async with watching(world) as watch:
        await world.deletion.delete(world.bob, harbour.general, int(sent["id"]))
    assert len(watch.statements) <= 8, watch.statements
