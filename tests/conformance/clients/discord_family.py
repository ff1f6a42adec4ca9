"""The conversation of discord.py and of what was made from it: their names are the same."""

from __future__ import annotations

from types import ModuleType
from typing import Any

from reports import ALICE_ID, BOT_TOKEN, CHANNEL_ID, GUILD_ID, report


def hold(library: ModuleType, **options: Any) -> None:
    """Hold the conversation; `options` are of the library's client."""
    intents = library.Intents.default()
    intents.message_content = True
    intents.members = True
    client = library.Client(intents=intents, **options)
    own: list[Any] = []

    @client.event
    async def on_ready() -> None:
        report("ready", user_id=str(client.user.id), guilds=[str(guild.id) for guild in client.guilds])

    @client.event
    async def on_message(message: Any) -> None:
        if message.author.id != ALICE_ID:
            return
        match message.content:
            case "reply":
                own.append(await message.reply("hello"))
                report("reply", id=str(own[-1].id))
            case "edit":
                edited = await own[-1].edit(content="hello again")
                report("edit", content=edited.content)
            case "react":
                await message.add_reaction("👍")
                report("react")
            case "delete":
                await own.pop().delete()
                report("delete")
            case "fetch":
                guild = await client.fetch_guild(GUILD_ID)
                members = [member async for member in guild.fetch_members(limit=100)]
                channels = await guild.fetch_channels()
                channel = await client.fetch_channel(CHANNEL_ID)
                history = [each async for each in channel.history(limit=2)]
                report(
                    "fetch",
                    guild=guild.name,
                    members=[str(member.id) for member in members],
                    channels=[str(each.id) for each in channels],
                    history=[each.content for each in history],
                    cached=[str(member.id) for member in client.get_guild(GUILD_ID).members],
                )
            case "bye":
                await client.close()
            case _:
                report("heard", content=message.content)

    @client.event
    async def on_message_edit(_: Any, after: Any) -> None:
        if after.author.id == ALICE_ID:
            report("edit_heard", content=after.content)

    @client.event
    async def on_message_delete(message: Any) -> None:
        if message.author.id == ALICE_ID:
            report("deletion_heard", id=str(message.id))

    @client.event
    async def on_reaction_add(reaction: Any, user: Any) -> None:
        if user.id == ALICE_ID:
            report("reaction_heard", emoji=str(reaction.emoji))

    @client.event
    async def on_resumed() -> None:
        report("resumed")

    client.run(BOT_TOKEN)
