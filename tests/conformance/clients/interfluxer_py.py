"""Interfluxer, told where the server is: the base of its routes.

At fault: the library has no public setting for it, so `Route.BASE` is set. It asks for zlib-stream, and takes the plain
text that it is sent. `Client.stop` never returns, because it closes the HTTP session first and then takes its own end
for news; so the gateway is told to close.
"""

from __future__ import annotations

import Interfluxer
from Interfluxer.api import events
from Interfluxer.api.http.route import Route
from reports import ALICE_ID, BASE_URL, BOT_TOKEN, CHANNEL_ID, GUILD_ID, report

Route.BASE = BASE_URL

client = Interfluxer.Client(intents=Interfluxer.Intents.ALL, token=BOT_TOKEN)
own: list[Interfluxer.Message] = []


@Interfluxer.listen(events.Ready)
async def on_ready(_: events.Ready) -> None:
    report("ready", user_id=str(client.user.id), guilds=[str(guild.id) for guild in client.guilds])


@Interfluxer.listen(events.MessageCreate)
async def on_message(event: events.MessageCreate) -> None:
    message = event.message
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
            guild = await client.fetch_guild(GUILD_ID, force=True)
            members = await client.http.list_members(GUILD_ID, limit=100)
            channels = await guild.fetch_channels()
            channel = await client.fetch_channel(CHANNEL_ID, force=True)
            history = await channel.fetch_messages(limit=2)
            report(
                "fetch",
                guild=guild.name,
                members=[member["user"]["id"] for member in members],
                channels=[str(each.id) for each in channels],
                history=[each.content for each in history],
            )
        case "bye":
            client._connection_state.gateway.close()
        case _:
            report("heard", content=message.content)


@Interfluxer.listen(events.MessageUpdate)
async def on_edit(event: events.MessageUpdate) -> None:
    if event.after.author.id == ALICE_ID:
        report("edit_heard", content=event.after.content)


@Interfluxer.listen(events.MessageDelete)
async def on_deletion(event: events.MessageDelete) -> None:
    report("deletion_heard", id=str(event.message.id))


@Interfluxer.listen(events.MessageReactionAdd)
async def on_reaction(event: events.MessageReactionAdd) -> None:
    if event.author.id == ALICE_ID:
        report("reaction_heard", emoji=event.emoji.name)


@Interfluxer.listen(events.Resume)
async def on_resumed(_: events.Resume) -> None:
    report("resumed")


client.start()
