"""The newest page of a channel that was read lately is read on the loop; any other in a reader's thread."""

from __future__ import annotations

from pathlib import Path

import trio
import trio.testing

from chat.config import Settings
from chat.domain.messages.message_drafts import MessageDraft
from chat.domain.messages.message_reading import WARM_PAGE, WARM_SECONDS, Page
from chat.store.database import open_database
from chat.testing.server import fresh_database
from tests.guilds.guild_world import GuildWorld


async def test_where_a_page_is_read(tmp_path: Path, mock_clock: trio.testing.MockClock) -> None:
    async with open_database(fresh_database(tmp_path / "chat.db"), durable=False) as database:
        world = GuildWorld(database, Settings(), tmp_path)
        alice = await world.person("alice")
        place = await world.guild(alice)
        on_the_loop: list[str] = []

        async def read(page: Page) -> tuple[list[str], bool]:
            """What the page says, and whether the loop's connection was asked for messages."""
            on_the_loop.clear()
            database.reader.set_trace_callback(on_the_loop.append)
            found = await world.messages.of_channel(alice, place.general, page)
            database.reader.set_trace_callback(None)
            contents = [message["content"] for message in found if message["type"] == 0]
            return contents, any("FROM messages" in statement for statement in on_the_loop)

        await world.sending.create(alice, place.general, MessageDraft("one"))
        assert await read(Page()) == (["one"], False)
        assert await read(Page()) == (["one"], True)
        await world.sending.create(alice, place.general, MessageDraft("two"))
        assert await read(Page()) == (["two", "one"], True)
        assert await read(Page(1)) == (["two"], True)
        assert await read(Page(WARM_PAGE + 1)) == (["two", "one"], False)
        assert await read(Page(before=place.general)) == ([], False)
        mock_clock.jump(WARM_SECONDS)
        assert await read(Page()) == (["two", "one"], False)
