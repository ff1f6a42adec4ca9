"""The one bot (`bot_steps.py`) on disnake."""

from __future__ import annotations

import asyncio
import datetime
from typing import Any

import disnake
import disnake.http
from disnake import ui
from disnake.ext import commands
from reports import ALICE_ID, BOT_TOKEN, MOUNT_URL, report

disnake.http.Route.BASE = MOUNT_URL

intents = disnake.Intents.default()
intents.message_content = True
intents.members = True
bot = commands.InteractionBot(intents=intents)
Interaction = disnake.ApplicationCommandInteraction


@bot.event
async def on_ready() -> None:
    while not bot.global_application_commands:  # noqa: ASYNC110 - it registers them beside its start
        await asyncio.sleep(0.05)
    report("ready")


@bot.event
async def on_message(message: disnake.Message) -> None:
    if message.author.id == ALICE_ID:
        report("heard", content=message.content)
        if message.content == "bye":
            await bot.close()


@bot.event
async def on_poll_vote_add(member: disnake.Member, answer: disnake.PollAnswer) -> None:
    report("voted", by=str(member.id), answer=answer.id)
    assert answer.poll is not None
    await answer.poll.expire()
    report("ended")


async def chose(interaction: disnake.MessageInteraction, values: list[Any]) -> None:
    await interaction.response.send_message(f"chose {' '.join(str(getattr(one, 'id', one)) for one in values)}")


class Why(ui.Modal):
    def __init__(self) -> None:
        super().__init__(title="Why?", components=[ui.TextInput(label="Reason", custom_id="reason")])

    async def callback(self, interaction: disnake.ModalInteraction) -> None:
        await interaction.response.send_message(f"because {interaction.text_values['reason']}")


class Board(ui.View):
    @ui.button(label="Go", custom_id="go")
    async def go(self, button: ui.Button[Board], interaction: disnake.MessageInteraction) -> None:
        await interaction.response.edit_message(content="pressed")

    @ui.button(label="Why", custom_id="why")
    async def why(self, button: ui.Button[Board], interaction: disnake.MessageInteraction) -> None:
        await interaction.response.send_modal(Why())

    @ui.string_select(custom_id="colour", options=["red", "green"])
    async def colour(self, select: ui.StringSelect[Board], interaction: disnake.MessageInteraction) -> None:
        await chose(interaction, select.values)


class Menus(ui.View):
    @ui.user_select(custom_id="people", max_values=2)
    async def people(self, select: ui.UserSelect[Menus], interaction: disnake.MessageInteraction) -> None:
        await chose(interaction, select.values)

    @ui.role_select(custom_id="roles")
    async def roles(self, select: ui.RoleSelect[Menus], interaction: disnake.MessageInteraction) -> None:
        await chose(interaction, select.values)

    @ui.mentionable_select(custom_id="both", max_values=2)
    async def both(self, select: ui.MentionableSelect[Menus], interaction: disnake.MessageInteraction) -> None:
        await chose(interaction, select.values)

    @ui.channel_select(custom_id="channels")
    async def channels(self, select: ui.ChannelSelect[Menus], interaction: disnake.MessageInteraction) -> None:
        await chose(interaction, select.values)


@bot.slash_command(description="Every kind of option.")
async def everything(
    interaction: Interaction,
    text: str,
    number: int,
    part: float,
    yes: bool,
    who: disnake.User,
    where: disnake.TextChannel,
    role: disnake.Role,
    whom: disnake.Role | disnake.Member,
    file: disnake.Attachment,
) -> None:
    await interaction.response.send_message("everything")
    ids: dict[str, Any] = {"who": who, "where": where, "role": role, "whom": whom}
    told = {name: str(each.id) for name, each in ids.items()}
    report("everything", text=text, number=number, part=part, yes=yes, **told, file=[file.filename, file.size])


@bot.slash_command(description="d")
async def tree(interaction: Interaction) -> None:
    """Has commands below it."""


@tree.sub_command_group(name="branch")
async def branch(interaction: Interaction) -> None:
    """Has a command below it."""


@branch.sub_command(name="leaf", description="d")
async def leaf(interaction: Interaction, name: str) -> None:
    await interaction.response.send_message(f"leaf {name}")


@bot.slash_command(description="Completes itself.")
async def find(interaction: Interaction, word: str) -> None:
    await interaction.response.send_message(f"found {word}")


@find.autocomplete("word")
async def words(interaction: Interaction, typed: str) -> list[str]:
    return [f"{typed}!"]


@bot.user_command(name="Look at")
async def look_at(interaction: disnake.UserCommandInteraction) -> None:
    await interaction.response.send_message(f"looked at {interaction.target.id}")


@bot.message_command(name="Keep it")
async def keep_it(interaction: disnake.MessageCommandInteraction) -> None:
    await interaction.response.send_message(f"kept {interaction.target.content}")


@bot.slash_command(description="For one person.")
async def secret(interaction: Interaction) -> None:
    await interaction.response.send_message("only you", ephemeral=True)


@bot.slash_command(description="Takes its time.")
async def slow(interaction: Interaction) -> None:
    await interaction.response.defer()
    await interaction.edit_original_response(content="there")
    report("filled")


@bot.slash_command(description="A follow-up.")
async def more(interaction: Interaction) -> None:
    await interaction.response.send_message("first")
    second = await interaction.followup.send("second", wait=True)
    report("more", id=str(second.id))


@bot.slash_command(description="Changes.")
async def change(interaction: Interaction) -> None:
    await interaction.response.send_message("before")
    await interaction.edit_original_response(content="after")
    then = await interaction.followup.send("then", wait=True)
    await then.edit(content="then!")
    report("changed", id=str(then.id))


@bot.slash_command(description="Deletes.")
async def gone(interaction: Interaction) -> None:
    await interaction.response.send_message("here")
    await interaction.delete_original_response()
    report("gone")


@bot.slash_command(description="Buttons and a menu.")
async def board(interaction: Interaction) -> None:
    await interaction.response.send_message("board", view=Board())


@bot.slash_command(description="Menus.")
async def menus(interaction: Interaction) -> None:
    await interaction.response.send_message("menus", view=Menus())


@bot.slash_command(description="The second form.")
async def layout(interaction: Interaction) -> None:
    picture = "https://example.com/a.png"
    container = ui.Container(
        ui.TextDisplay("text"),
        ui.Section("beside", accessory=ui.Thumbnail(picture)),
        ui.MediaGallery(disnake.MediaGalleryItem(picture)),
        ui.Separator(),
        ui.ActionRow(ui.Button(label="Inside", custom_id="inside")),
        accent_colour=disnake.Colour(255),
    )
    await interaction.response.send_message(components=[container])


@bot.listen("on_button_click")
async def pressed(interaction: disnake.MessageInteraction) -> None:
    if interaction.component.custom_id == "inside":
        await interaction.response.send_message("inside")


@bot.slash_command(description="A poll.")
async def ask(interaction: Interaction) -> None:
    poll = disnake.Poll("Which?", answers=["red", "blue"], duration=datetime.timedelta(hours=2))
    await interaction.response.send_message(poll=poll)
    report("asked", id=str((await interaction.original_response()).id))


bot.run(BOT_TOKEN)
