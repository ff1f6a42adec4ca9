"""discord.py with a tree of commands: one of each kind, and every kind of option."""

from __future__ import annotations

from typing import Literal

import discord
import discord.gateway
import discord.http
import yarl
from discord import app_commands
from reports import BOT_TOKEN, GATEWAY_URL, GUILD_ID, MOUNT_URL, report

discord.http.Route.BASE = MOUNT_URL
discord.gateway.DiscordWebSocket.DEFAULT_GATEWAY = yarl.URL(GATEWAY_URL)


class Client(discord.Client):
    def __init__(self) -> None:
        super().__init__(intents=discord.Intents.default())
        self.tree = app_commands.CommandTree(self)

    async def setup_hook(self) -> None:
        everywhere = await self.tree.sync()
        here = await self.tree.sync(guild=discord.Object(GUILD_ID))
        fetched = await self.tree.fetch_commands()
        report(
            "synced",
            everywhere=sorted(f"{command.type.value} {command.name}" for command in everywhere),
            here=[command.name for command in here],
            options={
                option.name: option.type.value
                for command in fetched
                if command.name == "everything"
                for option in command.options
            },
        )

    async def on_ready(self) -> None:
        guild = self.get_guild(GUILD_ID)
        assert guild is not None
        (command,) = await self.tree.fetch_commands(guild=guild)
        report("ready", id=str(command.id), version=command.application_id)
        await command.edit(description="Changed.")
        await command.delete()
        try:
            await command.fetch_permissions(guild)
        except discord.NotFound as error:
            report("gone", code=error.code)
        await self.close()


client = Client()
group = app_commands.Group(name="settings", description="Settings.", guild_only=True)


@client.tree.command(description="Everything.")
@app_commands.describe(text="A text.", number="A number.")
async def everything(
    interaction: discord.Interaction,
    text: app_commands.Range[str, 1, 20],
    number: app_commands.Range[int, -5, 5],
    part: app_commands.Range[float, 0.5, 1.5] = 1.0,
    yes: bool = False,
    who: discord.User | None = None,
    where: discord.TextChannel | None = None,
    role: discord.Role | None = None,
    whom: discord.Role | discord.Member | None = None,
    file: discord.Attachment | None = None,
    choice: Literal["a", "b"] = "a",
) -> None:
    """Takes every kind of option."""


@group.command(name="set", description="Sets.")
async def set_value(interaction: discord.Interaction, name: str) -> None:
    """A sub-command."""


@set_value.autocomplete("name")
async def names(interaction: discord.Interaction, current: str) -> list[app_commands.Choice[str]]:
    return []


@client.tree.context_menu(name="Look at")
async def look_at(interaction: discord.Interaction, user: discord.User) -> None:
    """In the menu of a person."""


@client.tree.context_menu(name="Keep it")
@app_commands.default_permissions(manage_messages=True)
async def keep_it(interaction: discord.Interaction, message: discord.Message) -> None:
    """In the menu of a message."""


@client.tree.command(guild=discord.Object(GUILD_ID), description="Here.", nsfw=True)
async def here(interaction: discord.Interaction) -> None:
    """In one guild."""


client.tree.add_command(group)
client.run(BOT_TOKEN, log_handler=None)
