"""fluxer.py, which takes another server's address as `api_url`."""

from __future__ import annotations

from typing import Any

import fluxer
from reports import ALICE_ID, BASE_URL, BOT_TOKEN, CHANNEL_ID, GUILD_ID, report

client = fluxer.Client(intents=fluxer.Intents.all(), api_url=BASE_URL)
own: list[fluxer.Message] = []


@client.event
async def on_ready() -> None:
    report("ready", user_id=str(client.user.id))


@client.event
async def on_message(message: fluxer.Message) -> None:
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
            guild = await client.fetch_guild(str(GUILD_ID))
            members = await guild.fetch_members(limit=100)
            channels = await client._http.get_guild_channels(GUILD_ID)
            channel = await client.fetch_channel(str(CHANNEL_ID))
            history = await channel.fetch_messages(limit=2)
            report(
                "fetch",
                guild=guild.name,
                members=[str(member.user.id) for member in members],
                channels=[each["id"] for each in channels],
                history=[each.content for each in history],
            )
        case "bye":
            await client.close()
        case _:
            report("heard", content=message.content)


@client.event
async def on_message_edit(message: fluxer.Message) -> None:
    if message.author.id == ALICE_ID:
        report("edit_heard", content=message.content)


@client.event
async def on_message_delete(data: dict[str, Any]) -> None:
    report("deletion_heard", id=data["id"])


@client.event
async def on_raw_reaction_add(event: Any) -> None:
    if event.user_id == ALICE_ID:
        report("reaction_heard", emoji=str(event.emoji))


@client.event
async def on_resumed() -> None:
    report("resumed")


client.run(BOT_TOKEN)
