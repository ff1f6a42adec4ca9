"""hikari, which takes another server's address as an option, and tokens that begin with an id in base64 alone."""

from __future__ import annotations

import base64

import hikari
from reports import ALICE_ID, BOT_TOKEN, CHANNEL_ID, GUILD_ID, MOUNT_URL, report

application_id, _, secret = BOT_TOKEN.partition(".")
token = f"{base64.b64encode(application_id.encode()).decode().rstrip('=')}.{secret}"
intents = hikari.Intents.ALL_UNPRIVILEGED | hikari.Intents.MESSAGE_CONTENT | hikari.Intents.GUILD_MEMBERS
bot = hikari.GatewayBot(token, rest_url=MOUNT_URL, intents=intents, banner=None, logs=None)
own: list[hikari.Message] = []


@bot.listen()
async def on_ready(event: hikari.ShardReadyEvent) -> None:
    report("ready", user_id=str(event.my_user.id), guilds=[str(guild) for guild in event.unavailable_guilds])


@bot.listen()
async def on_message(event: hikari.GuildMessageCreateEvent) -> None:
    message = event.message
    if message.author.id != ALICE_ID:
        return
    match message.content:
        case "reply":
            own.append(await message.respond("hello", reply=True))
            report("reply", id=str(own[-1].id))
        case "edit":
            edited = await own[-1].edit("hello again")
            report("edit", content=edited.content)
        case "react":
            await message.add_reaction("👍")
            report("react")
        case "delete":
            await own.pop().delete()
            report("delete")
        case "fetch":
            guild = await bot.rest.fetch_guild(GUILD_ID)
            members = [member async for member in bot.rest.fetch_members(GUILD_ID)]
            channels = await bot.rest.fetch_guild_channels(GUILD_ID)
            history = await bot.rest.fetch_messages(CHANNEL_ID).limit(2)
            report(
                "fetch",
                guild=guild.name,
                members=[str(member.id) for member in members],
                channels=[str(each.id) for each in channels],
                history=[each.content for each in history],
            )
        case "bye":
            await bot.close()
        case _:
            report("heard", content=message.content)


@bot.listen()
async def on_edit(event: hikari.GuildMessageUpdateEvent) -> None:
    if event.message.author and event.message.author.id == ALICE_ID:
        report("edit_heard", content=event.message.content)


@bot.listen()
async def on_deletion(event: hikari.GuildMessageDeleteEvent) -> None:
    report("deletion_heard", id=str(event.message_id))


@bot.listen()
async def on_reaction(event: hikari.GuildReactionAddEvent) -> None:
    if event.user_id == ALICE_ID:
        report("reaction_heard", emoji=str(event.emoji_name))


@bot.listen()
async def on_resumed(_: hikari.ShardResumedEvent) -> None:
    report("resumed")


bot.run()
