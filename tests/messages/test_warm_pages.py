"""The newest page of a channel that was read lately is read on the loop; any other in a reader's thread."""

from __future__ import annotations

from pathlib import Path

import trio
import trio.testing

from chat.config import Settings
from chat.domain.messages.message_drafts import MessageDraft
from chat.domain.messages.message_reading import WARM_PAGE, WARM_SECONDS, MessagePage
from chat.registries.message_types import MessageType
from chat.store.database import open_database
from chat.store.guard import UNGUARDED
from chat.testing.server import fresh_database
from tests.guilds.guild_world import GuildWorld


async def test_where_a_page_is_read(tmp_path: Path, mock_clock: trio.testing.MockClock) -> None:
    async with open_database(fresh_database(tmp_path / "chat.db"), durable=False) as database:
        world = GuildWorld(database, Settings(), tmp_path)
        alice = await world.person("alice")
        place = await world.guild(alice)
        on_the_loop: list[str] = []

        async def read(page: MessagePage) -> tuple[list[str], bool]:
            """What the page says, and whether the loop's connection was asked for messages."""
            on_the_loop.clear()
            database.reader.set_trace_callback(on_the_loop.append)
            found = await world.messages.of_channel(alice, place.general, page)
            database.reader.set_trace_callback(None)
            contents = [message["content"] for message in found if message["type"] == 0]
            return contents, any("FROM messages" in statement for statement in on_the_loop)

        await world.sending.create(alice, place.general, MessageDraft("one"))
        assert await read(MessagePage()) == (["one"], False)
        assert await read(MessagePage()) == (["one"], True)
        await world.sending.create(alice, place.general, MessageDraft("two"))
        assert await read(MessagePage()) == (["two", "one"], True)
        assert await read(MessagePage(1)) == (["two"], True)
        assert await read(MessagePage(WARM_PAGE + 1)) == (["two", "one"], False)
        assert await read(MessagePage(before=place.general)) == ([], False)
        mock_clock.jump(WARM_SECONDS)
        assert await read(MessagePage()) == (["two", "one"], False)


async def test_a_page_with_messages_that_are_not_for_the_caller_is_read_in_a_thread(
    tmp_path: Path, mock_clock: trio.testing.MockClock
) -> None:
    """Passing over them may take long: only a reader's thread may."""
    async with open_database(fresh_database(tmp_path / "chat.db"), durable=False) as database:
        world = GuildWorld(database, Settings(), tmp_path)
        alice = await world.person("alice")
        place = await world.guild(alice)
        await world.sending.create(alice, place.general, MessageDraft("one"))
        before = await world.messages.of_channel(alice, place.general, MessagePage())
        kind = MessageType.THREAD_CREATED.value
        await database.write(
            lambda connection: connection.execute("UPDATE messages SET type = ? WHERE content = 'one'", (kind,)),
            guard=UNGUARDED,
        )
        after = await world.messages.of_channel(alice, place.general, MessagePage())
        assert [message["id"] for message in after] == [m["id"] for m in before if m["content"] != "one"]
