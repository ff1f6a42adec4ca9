"""The one bot (`bot_steps.py`) on nextcord. Its 2.6 has neither components of the second form nor polls."""

from __future__ import annotations

from typing import Any

import nextcord
import nextcord.http
from nextcord import SlashOption, ui
from reports import ALICE_ID, BOT_TOKEN, MOUNT_URL, report

nextcord.http.Route.BASE = MOUNT_URL

intents = nextcord.Intents.default()
intents.message_content = True
intents.members = True
client = nextcord.Client(intents=intents)
Interaction = nextcord.Interaction


@client.event
async def on_ready() -> None:
    await client.sync_application_commands()
    report("ready")


@client.event
async def on_message(message: nextcord.Message) -> None:
    if message.author.id == ALICE_ID:
        report("heard", content=message.content)
        if message.content == "bye":
            await client.close()


async def chose(interaction: Interaction, values: Any) -> None:
    await interaction.response.send_message(f"chose {' '.join(str(getattr(one, 'id', one)) for one in values)}")


class Why(ui.Modal):
    def __init__(self) -> None:
        super().__init__("Why?")
        self.reason = ui.TextInput(label="Reason", custom_id="reason")
        self.add_item(self.reason)

    async def callback(self, interaction: Interaction) -> None:
        await interaction.response.send_message(f"because {self.reason.value}")


class Board(ui.View):
    @ui.button(label="Go", custom_id="go")
    async def go(self, button: ui.Button[Board], interaction: Interaction) -> None:
        await interaction.response.edit_message(content="pressed")

    @ui.button(label="Why", custom_id="why")
    async def why(self, button: ui.Button[Board], interaction: Interaction) -> None:
        await interaction.response.send_modal(Why())

    @ui.string_select(custom_id="colour", options=[nextcord.SelectOption(label=name) for name in ("red", "green")])
    async def colour(self, select: ui.StringSelect[Board], interaction: Interaction) -> None:
        await chose(interaction, select.values)


class Menus(ui.View):
    @ui.user_select(custom_id="people", max_values=2)
    async def people(self, select: ui.UserSelect[Menus], interaction: Interaction) -> None:
        await chose(interaction, select.values)

    @ui.role_select(custom_id="roles")
    async def roles(self, select: ui.RoleSelect[Menus], interaction: Interaction) -> None:
        await chose(interaction, select.values)

    @ui.mentionable_select(custom_id="both", max_values=2)
    async def both(self, select: ui.MentionableSelect[Menus], interaction: Interaction) -> None:
        await chose(interaction, select.values)

    @ui.channel_select(custom_id="channels")
    async def channels(self, select: ui.ChannelSelect[Menus], interaction: Interaction) -> None:
        await chose(interaction, select.values)


@client.slash_command(description="Every kind of option.")
async def everything(
    interaction: Interaction,
    text: str,
    number: int,
    part: float,
    yes: bool,
    who: nextcord.User,
    where: nextcord.abc.GuildChannel,
    role: nextcord.Role,
    whom: nextcord.Mentionable,
    file: nextcord.Attachment,
) -> None:
    await interaction.response.send_message("everything")
    ids: dict[str, Any] = {"who": who, "where": where, "role": role, "whom": whom}
    told = {name: str(each.id) for name, each in ids.items()}
    report("everything", text=text, number=number, part=part, yes=yes, **told, file=[file.filename, file.size])


@client.slash_command(description="d")
async def tree(interaction: Interaction) -> None:
    """Has commands below it."""


@tree.subcommand(description="d")
async def branch(interaction: Interaction) -> None:
    """Has a command below it."""


@branch.subcommand(description="d")
async def leaf(interaction: Interaction, name: str) -> None:
    await interaction.response.send_message(f"leaf {name}")


@client.slash_command(description="Completes itself.")
async def find(interaction: Interaction, word: str = SlashOption(autocomplete=True)) -> None:
    await interaction.response.send_message(f"found {word}")


@find.on_autocomplete("word")
async def words(interaction: Interaction, typed: str) -> None:
    await interaction.response.send_autocomplete([f"{typed}!"])


@client.user_command(name="Look at")
async def look_at(interaction: Interaction, user: nextcord.Member) -> None:
    await interaction.response.send_message(f"looked at {user.id}")


@client.message_command(name="Keep it")
async def keep_it(interaction: Interaction, message: nextcord.Message) -> None:
    await interaction.response.send_message(f"kept {message.content}")


@client.slash_command(description="For one person.")
async def secret(interaction: Interaction) -> None:
    await interaction.response.send_message("only you", ephemeral=True)


@client.slash_command(description="Takes its time.")
async def slow(interaction: Interaction) -> None:
    await interaction.response.defer()
    await interaction.edit_original_message(content="there")
    report("filled")


@client.slash_command(description="A follow-up.")
async def more(interaction: Interaction) -> None:
    await interaction.response.send_message("first")
    second = await interaction.followup.send("second", wait=True)
    report("more", id=str(second.id))


@client.slash_command(description="Changes.")
async def change(interaction: Interaction) -> None:
    await interaction.response.send_message("before")
    await interaction.edit_original_message(content="after")
    then = await interaction.followup.send("then", wait=True)
    await then.edit(content="then!")
    report("changed", id=str(then.id))


@client.slash_command(description="Deletes.")
async def gone(interaction: Interaction) -> None:
    await interaction.response.send_message("here")
    await interaction.delete_original_message()
    report("gone")


@client.slash_command(description="Buttons and a menu.")
async def board(interaction: Interaction) -> None:
    await interaction.response.send_message("board", view=Board())


@client.slash_command(description="Menus.")
async def menus(interaction: Interaction) -> None:
    await interaction.response.send_message("menus", view=Menus())


@client.slash_command(description="The second form.")
async def layout(interaction: Interaction) -> None:
    await interaction.response.send_message("This library has none.")


@client.slash_command(description="A poll.")
async def ask(interaction: Interaction) -> None:
    await interaction.response.send_message("This library has none.")
    report("asked", id=str((await interaction.original_message()).id))


client.run(BOT_TOKEN)
