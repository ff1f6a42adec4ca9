"""discord.py answers: commands with options, a menu of a person and one of a message, buttons, menus, a form, choices,
messages that come later, ephemeral ones, with files, and changes to what was said."""

from __future__ import annotations

import io
from typing import Any

import discord
import discord.gateway
import discord.http
import yarl
from discord import app_commands, ui
from reports import BOT_TOKEN, GATEWAY_URL, MOUNT_URL, report

discord.http.Route.BASE = MOUNT_URL
discord.gateway.DiscordWebSocket.DEFAULT_GATEWAY = yarl.URL(GATEWAY_URL)


class Why(ui.Modal, title="Why?"):
    reason: ui.TextInput[Why] = ui.TextInput(label="Reason", max_length=20)

    async def on_submit(self, interaction: discord.Interaction) -> None:
        await interaction.response.defer()
        sent = await interaction.followup.send(f"because {self.reason.value}", wait=True)
        report("submitted", reason=self.reason.value, id=str(sent.id))


class Board(ui.View):
    def __init__(self) -> None:
        super().__init__(timeout=None)

    @ui.button(label="Go", custom_id="go", style=discord.ButtonStyle.success)
    async def go(self, interaction: discord.Interaction, button: ui.Button[Board]) -> None:
        button.label = "Gone"
        await interaction.response.edit_message(content="pressed", view=self)
        report("pressed", by=str(interaction.user.id), on=str(interaction.message and interaction.message.id))

    @ui.button(label="Why", custom_id="why")
    async def why(self, interaction: discord.Interaction, button: ui.Button[Board]) -> None:
        await interaction.response.send_modal(Why())
        report("asked")

    @ui.select(custom_id="colour", options=[discord.SelectOption(label=name) for name in ("red", "green")])
    async def colour(self, interaction: discord.Interaction, select: ui.Select[Board]) -> None:
        await interaction.response.send_message(f"chose {select.values[0]}", ephemeral=True)
        changed = await interaction.edit_original_response(content=f"chose {select.values[0]}!")
        report("chose", values=select.values, ephemeral=changed.flags.ephemeral)

    @ui.select(cls=ui.UserSelect, custom_id="who", max_values=2)
    async def who(self, interaction: discord.Interaction, select: ui.UserSelect[Board]) -> None:
        await interaction.response.defer()
        names = [f"{type(one).__name__} {one.id}" for one in select.values]
        edited = await interaction.edit_original_response(content="named")
        report("named", values=names, content=edited.content)


class Client(discord.Client):
    def __init__(self) -> None:
        super().__init__(intents=discord.Intents.default())
        self.tree = app_commands.CommandTree(self)

    async def setup_hook(self) -> None:
        await self.tree.sync()

    async def on_ready(self) -> None:
        report("ready")


client = Client()


@client.tree.error
async def failed(interaction: discord.Interaction, error: app_commands.AppCommandError) -> None:
    report("failed", error=repr(error))


@client.tree.command(description="Shows the board.")
async def board(interaction: discord.Interaction, name: str, who: discord.Member, where: discord.TextChannel) -> None:
    answered = await interaction.response.send_message(f"hello {name}", view=Board())
    report(
        "board",
        id=str(answered.message_id),
        who=f"{who.id} {who.joined_at is not None} {who.guild_permissions.value > 0}",
        where=str(where.id),
        by=str(interaction.user.id),
        guild=str(interaction.guild_id),
        may=interaction.permissions.send_messages,
        app_may=interaction.app_permissions.send_messages,
    )


@client.tree.command(description="Takes its time.")
async def slow(interaction: discord.Interaction, secret: bool) -> None:
    await interaction.response.defer(ephemeral=secret, thinking=True)
    told = await interaction.original_response()
    filled = await interaction.edit_original_response(content="there")
    report("slow", loading=told.flags.loading, content=filled.content, id=str(filled.id))


@client.tree.command(description="Sends files.")
async def files(interaction: discord.Interaction) -> None:
    await interaction.response.send_message("first", file=discord.File(io.BytesIO(b"one"), "one.txt"))
    first = await interaction.original_response()
    second = await interaction.followup.send("second", file=discord.File(io.BytesIO(b"two"), "two.txt"), wait=True)
    await interaction.delete_original_response()
    report(
        "files",
        names=[attachment.filename for sent in (first, second) for attachment in sent.attachments],
        first=str(first.id),
        second=str(second.id),
    )


@client.tree.command(description="Reads files.")
async def read(interaction: discord.Interaction, first: discord.Attachment, second: discord.Attachment | None) -> None:
    given = [first] if second is None else [first, second]
    contents = [(await one.read()).decode() for one in given]
    await interaction.response.send_message("read", ephemeral=True)
    names = [f"{one.filename} {one.size} {one.content_type} {one.id}" for one in given]
    report("read", names=names, contents=contents)


@client.tree.command(description="Finds.")
async def find(interaction: discord.Interaction, word: str) -> None:
    await interaction.response.send_message(f"found {word}")


@find.autocomplete("word")
async def words(interaction: discord.Interaction, current: str) -> list[app_commands.Choice[str]]:
    report("typed", current=current)
    return [app_commands.Choice(name=f"{current}!", value=current)]


@client.tree.context_menu(name="Look at")
async def look_at(interaction: discord.Interaction, user: discord.Member) -> None:
    await interaction.response.send_message(f"looked at {user.id}", ephemeral=True)
    own = False
    try:
        await interaction.response.send_message("again")
    except discord.InteractionResponded:
        own = True
    try:
        await second_answer(interaction)
    except discord.HTTPException as error:
        report("looked", on=str(user.id), own=own, code=error.code)


async def second_answer(interaction: discord.Interaction) -> Any:
    """An answer that the library does not hold back by itself."""
    again: Any = discord.InteractionResponse(interaction)
    return await again.send_message("again")


@client.tree.context_menu(name="Keep it")
async def keep_it(interaction: discord.Interaction, message: discord.Message) -> None:
    await interaction.response.send_message(f"kept {message.content}")
    report("kept", content=message.content)
    if message.content == "bye":
        await client.close()


client.run(BOT_TOKEN, log_handler=None)
