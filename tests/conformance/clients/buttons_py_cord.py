"""The one bot (`bot_steps.py`) on py-cord; of its end `py_cord.py` tells."""

from __future__ import annotations

import contextlib
from typing import Any

import discord
import discord.http
from discord import ui
from reports import ALICE_ID, BOT_TOKEN, MOUNT_URL, report

discord.http.Route.API_BASE_URL = MOUNT_URL

intents = discord.Intents.default()
intents.message_content = True
intents.members = True
bot = discord.Bot(intents=intents)


@bot.event
async def on_ready() -> None:
    report("ready")


@bot.event
async def on_message(message: discord.Message) -> None:
    if message.author.id == ALICE_ID:
        report("heard", content=message.content)
        if message.content == "bye":
            await bot.close()


@bot.event
async def on_raw_poll_vote_add(vote: discord.RawMessagePollVoteEvent) -> None:
    report("voted", by=str(vote.user_id), answer=vote.answer_id)
    channel: Any = bot.get_channel(vote.channel_id)
    message = await channel.fetch_message(vote.message_id)
    await message.end_poll()
    report("ended")


async def chose(interaction: discord.Interaction, values: list[Any]) -> None:
    await interaction.response.send_message(f"chose {' '.join(str(getattr(one, 'id', one)) for one in values)}")


class Why(ui.Modal):
    def __init__(self) -> None:
        super().__init__(ui.InputText(label="Reason", custom_id="reason"), title="Why?")

    async def callback(self, interaction: discord.Interaction) -> None:
        await interaction.response.send_message(f"because {self.children[0].value}")


class Board(ui.View):
    @ui.button(label="Go", custom_id="go")
    async def go(self, button: ui.Button, interaction: discord.Interaction) -> None:
        await interaction.response.edit_message(content="pressed")

    @ui.button(label="Why", custom_id="why")
    async def why(self, button: ui.Button, interaction: discord.Interaction) -> None:
        await interaction.response.send_modal(Why())

    @ui.string_select(custom_id="colour", options=[discord.SelectOption(label=name) for name in ("red", "green")])
    async def colour(self, select: ui.Select, interaction: discord.Interaction) -> None:
        await chose(interaction, select.values)


class Menus(ui.View):
    @ui.user_select(custom_id="people", max_values=2)
    async def people(self, select: ui.Select, interaction: discord.Interaction) -> None:
        await chose(interaction, select.values)

    @ui.role_select(custom_id="roles")
    async def roles(self, select: ui.Select, interaction: discord.Interaction) -> None:
        await chose(interaction, select.values)

    @ui.mentionable_select(custom_id="both", max_values=2)
    async def both(self, select: ui.Select, interaction: discord.Interaction) -> None:
        await chose(interaction, select.values)

    @ui.channel_select(custom_id="channels")
    async def channels(self, select: ui.Select, interaction: discord.Interaction) -> None:
        await chose(interaction, select.values)


class Inside(ui.Button):
    def __init__(self) -> None:
        super().__init__(label="Inside", custom_id="inside")

    async def callback(self, interaction: discord.Interaction) -> None:
        await interaction.response.send_message("inside")


def layout_view() -> ui.DesignerView:
    picture = "https://example.com/a.png"
    return ui.DesignerView(
        ui.Container(
            ui.TextDisplay("text"),
            ui.Section(ui.TextDisplay("beside"), accessory=ui.Thumbnail(picture)),
            ui.MediaGallery(discord.MediaGalleryItem(picture)),
            ui.Separator(),
            ui.ActionRow(Inside()),
            colour=255,
        )
    )


@bot.slash_command(description="Every kind of option.")
@discord.option("text", str)
@discord.option("number", int)
@discord.option("part", float)
@discord.option("yes", bool)
@discord.option("who", discord.SlashCommandOptionType.user)
@discord.option("where", discord.TextChannel)
@discord.option("role", discord.Role)
@discord.option("whom", discord.SlashCommandOptionType.mentionable)
@discord.option("file", discord.Attachment)
async def everything(ctx: discord.ApplicationContext, text, number, part, yes, who, where, role, whom, file) -> None:  # type: ignore[no-untyped-def]
    await ctx.respond("everything")
    told = {name: str(each.id) for name, each in {"who": who, "where": where, "role": role, "whom": whom}.items()}
    report("everything", text=text, number=number, part=part, yes=yes, **told, file=[file.filename, file.size])


tree = bot.create_group("tree", "d")
branch = tree.create_subgroup("branch", "d")


@branch.command(description="d")
@discord.option("name", str)
async def leaf(ctx: discord.ApplicationContext, name: str) -> None:
    await ctx.respond(f"leaf {name}")


async def words(ctx: discord.AutocompleteContext) -> list[str]:
    return [f"{ctx.value}!"]


@bot.slash_command(description="Completes itself.")
@discord.option("word", str, autocomplete=words)
async def find(ctx: discord.ApplicationContext, word: str) -> None:
    await ctx.respond(f"found {word}")


@bot.user_command(name="Look at")
async def look_at(ctx: discord.ApplicationContext, user: discord.Member) -> None:
    await ctx.respond(f"looked at {user.id}")


@bot.message_command(name="Keep it")
async def keep_it(ctx: discord.ApplicationContext, message: discord.Message) -> None:
    await ctx.respond(f"kept {message.content}")


@bot.slash_command(description="For one person.")
async def secret(ctx: discord.ApplicationContext) -> None:
    await ctx.respond("only you", ephemeral=True)


@bot.slash_command(description="Takes its time.")
async def slow(ctx: discord.ApplicationContext) -> None:
    await ctx.defer()
    await ctx.edit(content="there")
    report("filled")


@bot.slash_command(description="A follow-up.")
async def more(ctx: discord.ApplicationContext) -> None:
    await ctx.respond("first")
    second = await ctx.followup.send("second", wait=True)
    report("more", id=str(second.id))


@bot.slash_command(description="Changes.")
async def change(ctx: discord.ApplicationContext) -> None:
    await ctx.respond("before")
    await ctx.edit(content="after")
    then = await ctx.followup.send("then", wait=True)
    await then.edit(content="then!")
    report("changed", id=str(then.id))


@bot.slash_command(description="Deletes.")
async def gone(ctx: discord.ApplicationContext) -> None:
    await ctx.respond("here")
    await ctx.delete()
    report("gone")


@bot.slash_command(description="Buttons and a menu.")
async def board(ctx: discord.ApplicationContext) -> None:
    await ctx.respond("board", view=Board())


@bot.slash_command(description="Menus.")
async def menus(ctx: discord.ApplicationContext) -> None:
    await ctx.respond("menus", view=Menus())


@bot.slash_command(description="The second form.")
async def layout(ctx: discord.ApplicationContext) -> None:
    await ctx.respond(view=layout_view())


@bot.slash_command(description="A poll.")
async def ask(ctx: discord.ApplicationContext) -> None:
    poll = discord.Poll("Which?", duration=2).add_answer("red").add_answer("blue")
    await ctx.respond(poll=poll)
    report("asked", id=str((await ctx.interaction.original_response()).id))


with contextlib.suppress(RuntimeError):
    bot.run(BOT_TOKEN)
