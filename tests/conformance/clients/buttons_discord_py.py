"""The one bot (`bot_steps.py`) on discord.py."""

from __future__ import annotations

import datetime
from typing import Any

import discord
import discord.gateway
import discord.http
import yarl
from discord import app_commands, ui
from reports import ALICE_ID, BOT_TOKEN, GATEWAY_URL, MOUNT_URL, report

discord.http.Route.BASE = MOUNT_URL
discord.gateway.DiscordWebSocket.DEFAULT_GATEWAY = yarl.URL(GATEWAY_URL)

Interaction = discord.Interaction["Client"]


class Client(discord.Client):
    def __init__(self) -> None:
        intents = discord.Intents.default()
        intents.message_content = True
        intents.members = True
        super().__init__(intents=intents)
        self.tree = app_commands.CommandTree(self)

    async def setup_hook(self) -> None:
        await self.tree.sync()

    async def on_ready(self) -> None:
        report("ready")

    async def on_message(self, message: discord.Message) -> None:
        if message.author.id == ALICE_ID:
            report("heard", content=message.content)
            if message.content == "bye":
                await self.close()

    async def on_poll_vote_add(self, user: discord.Member, answer: discord.PollAnswer) -> None:
        report("voted", by=str(user.id), answer=answer.id)
        await answer.poll.end()
        report("ended")


client = Client()
command = client.tree.command


async def chose(interaction: Interaction, values: list[Any]) -> None:
    await interaction.response.send_message(f"chose {' '.join(str(getattr(one, 'id', one)) for one in values)}")


class Why(ui.Modal, title="Why?"):
    reason: ui.TextInput[Why] = ui.TextInput(label="Reason", custom_id="reason")

    async def on_submit(self, interaction: discord.Interaction) -> None:
        await interaction.response.send_message(f"because {self.reason.value}")


class Board(ui.View):
    @ui.button(label="Go", custom_id="go")
    async def go(self, interaction: Interaction, button: ui.Button[Board]) -> None:
        await interaction.response.edit_message(content="pressed")

    @ui.button(label="Why", custom_id="why")
    async def why(self, interaction: Interaction, button: ui.Button[Board]) -> None:
        await interaction.response.send_modal(Why())

    @ui.select(custom_id="colour", options=[discord.SelectOption(label=name) for name in ("red", "green")])
    async def colour(self, interaction: Interaction, select: ui.Select[Board]) -> None:
        await chose(interaction, select.values)


class Menus(ui.View):
    @ui.select(cls=ui.UserSelect, custom_id="people", max_values=2)
    async def people(self, interaction: Interaction, select: ui.UserSelect[Menus]) -> None:
        await chose(interaction, select.values)

    @ui.select(cls=ui.RoleSelect, custom_id="roles")
    async def roles(self, interaction: Interaction, select: ui.RoleSelect[Menus]) -> None:
        await chose(interaction, select.values)

    @ui.select(cls=ui.MentionableSelect, custom_id="both", max_values=2)
    async def both(self, interaction: Interaction, select: ui.MentionableSelect[Menus]) -> None:
        await chose(interaction, select.values)

    @ui.select(cls=ui.ChannelSelect, custom_id="channels")
    async def channels(self, interaction: Interaction, select: ui.ChannelSelect[Menus]) -> None:
        await chose(interaction, select.values)


class Inside(ui.Button["Layout"]):
    def __init__(self) -> None:
        super().__init__(label="Inside", custom_id="inside")

    async def callback(self, interaction: discord.Interaction) -> None:
        await interaction.response.send_message("inside")


class Layout(ui.LayoutView):
    def __init__(self) -> None:
        super().__init__()
        picture = "https://example.com/a.png"
        self.add_item(
            ui.Container(
                ui.TextDisplay("text"),
                ui.Section("beside", accessory=ui.Thumbnail(picture)),
                ui.MediaGallery(discord.MediaGalleryItem(picture)),
                ui.Separator(),
                ui.ActionRow(Inside()),
                accent_colour=255,
            )
        )


@command(description="Every kind of option.")
async def everything(
    interaction: Interaction,
    text: str,
    number: int,
    part: float,
    yes: bool,
    who: discord.User,
    where: discord.TextChannel,
    role: discord.Role,
    whom: discord.Role | discord.Member,
    file: discord.Attachment,
) -> None:
    await interaction.response.send_message("everything")
    ids = {"who": who, "where": where, "role": role, "whom": whom}
    told = {name: str(each.id) for name, each in ids.items()}
    report("everything", text=text, number=number, part=part, yes=yes, **told, file=[file.filename, file.size])


tree = app_commands.Group(name="tree", description="d")
branch = app_commands.Group(name="branch", description="d", parent=tree)


@branch.command(description="d")
async def leaf(interaction: Interaction, name: str) -> None:
    await interaction.response.send_message(f"leaf {name}")


client.tree.add_command(tree)


@command(description="Completes itself.")
async def find(interaction: Interaction, word: str) -> None:
    await interaction.response.send_message(f"found {word}")


@find.autocomplete("word")
async def words(interaction: Interaction, current: str) -> list[app_commands.Choice[str]]:
    return [app_commands.Choice(name=f"{current}!", value=f"{current}!")]


@client.tree.context_menu(name="Look at")
async def look_at(interaction: Interaction, user: discord.Member) -> None:
    await interaction.response.send_message(f"looked at {user.id}")


@client.tree.context_menu(name="Keep it")
async def keep_it(interaction: Interaction, message: discord.Message) -> None:
    await interaction.response.send_message(f"kept {message.content}")


@command(description="For one person.")
async def secret(interaction: Interaction) -> None:
    await interaction.response.send_message("only you", ephemeral=True)


@command(description="Takes its time.")
async def slow(interaction: Interaction) -> None:
    await interaction.response.defer(thinking=True)
    await interaction.edit_original_response(content="there")
    report("filled")


@command(description="A follow-up.")
async def more(interaction: Interaction) -> None:
    await interaction.response.send_message("first")
    second = await interaction.followup.send("second", wait=True)
    report("more", id=str(second.id))


@command(description="Changes.")
async def change(interaction: Interaction) -> None:
    await interaction.response.send_message("before")
    await interaction.edit_original_response(content="after")
    then = await interaction.followup.send("then", wait=True)
    await then.edit(content="then!")
    report("changed", id=str(then.id))


@command(description="Deletes.")
async def gone(interaction: Interaction) -> None:
    await interaction.response.send_message("here")
    await interaction.delete_original_response()
    report("gone")


@command(description="Buttons and a menu.")
async def board(interaction: Interaction) -> None:
    await interaction.response.send_message("board", view=Board())


@command(description="Menus.")
async def menus(interaction: Interaction) -> None:
    await interaction.response.send_message("menus", view=Menus())


@command(description="The second form.")
async def layout(interaction: Interaction) -> None:
    await interaction.response.send_message(view=Layout())


@command(description="A poll.")
async def ask(interaction: Interaction) -> None:
    poll = discord.Poll("Which?", duration=datetime.timedelta(hours=2)).add_answer(text="red").add_answer(text="blue")
    await interaction.response.send_message(poll=poll)
    report("asked", id=str((await interaction.original_response()).id))


client.run(BOT_TOKEN, log_handler=None)
