"""The one bot (`bot_steps.py`) on hikari, with arc for the commands."""

from __future__ import annotations

import base64
from collections.abc import Iterable
from typing import Any

import arc
import hikari
from hikari import impl
from reports import ALICE_ID, BOT_TOKEN, MOUNT_URL, report

application_id, _, secret_part = BOT_TOKEN.partition(".")
token = f"{base64.b64encode(application_id.encode()).decode().rstrip('=')}.{secret_part}"
intents = hikari.Intents.ALL_UNPRIVILEGED | hikari.Intents.MESSAGE_CONTENT | hikari.Intents.GUILD_MEMBERS
bot = hikari.GatewayBot(token, rest_url=MOUNT_URL, intents=intents, banner=None, logs=None)
client = arc.GatewayClient(bot)

MESSAGE = hikari.ResponseType.MESSAGE_CREATE
PICTURE = "https://example.com/a.png"


@client.add_startup_hook
async def started(_: arc.GatewayClient) -> None:
    report("ready")


@bot.listen()
async def on_message(event: hikari.GuildMessageCreateEvent) -> None:
    if event.author_id == ALICE_ID:
        report("heard", content=event.content)
        if event.content == "bye":
            await bot.close()


@bot.listen()
async def on_vote(event: hikari.PollVoteCreateEvent) -> None:
    report("voted", by=str(event.user_id), answer=event.answer_id)
    await bot.rest.end_poll(event.channel_id, event.message_id)
    report("ended")


@bot.listen()
async def on_component(event: hikari.ComponentInteractionCreateEvent) -> None:
    interaction = event.interaction
    match interaction.custom_id:
        case "go":
            await interaction.create_initial_response(hikari.ResponseType.MESSAGE_UPDATE, "pressed")
        case "why":
            row = bot.rest.build_modal_action_row().add_text_input("reason", "Reason")
            await interaction.create_modal_response("Why?", "form", component=row)
        case "inside":
            await interaction.create_initial_response(MESSAGE, "inside")
        case "colour":
            await interaction.create_initial_response(MESSAGE, chose(interaction.values))
        case _:
            resolved: Any = interaction.resolved
            known = {**resolved.users, **resolved.roles, **resolved.channels}
            await interaction.create_initial_response(
                MESSAGE, chose(str(known[hikari.Snowflake(value)].id) for value in interaction.values)
            )


def chose(values: Iterable[str]) -> str:
    return f"chose {' '.join(values)}"


@bot.listen()
async def on_form(event: hikari.ModalInteractionCreateEvent) -> None:
    (reason,) = [part.value for row in event.interaction.components for part in row.components]
    await event.interaction.create_initial_response(MESSAGE, f"because {reason}")


@client.include
@arc.slash_command("everything", "Every kind of option.")
async def everything(
    ctx: arc.GatewayContext,
    text: arc.Option[str, arc.StrParams("d")],
    number: arc.Option[int, arc.IntParams("d")],
    part: arc.Option[float, arc.FloatParams("d")],
    yes: arc.Option[bool, arc.BoolParams("d")],
    who: arc.Option[hikari.User, arc.UserParams("d")],
    where: arc.Option[hikari.PartialChannel, arc.ChannelParams("d")],
    role: arc.Option[hikari.Role, arc.RoleParams("d")],
    whom: arc.Option[hikari.User | hikari.Role, arc.MentionableParams("d")],
    file: arc.Option[hikari.Attachment, arc.AttachmentParams("d")],
) -> None:
    await ctx.respond("everything")
    ids: dict[str, Any] = {"who": who, "where": where, "role": role, "whom": whom}
    told = {name: str(each.id) for name, each in ids.items()}
    report("everything", text=text, number=number, part=part, yes=yes, **told, file=[file.filename, file.size])


tree = client.include_slash_group("tree", "d")
branch = tree.include_subgroup("branch", "d")


@branch.include
@arc.slash_subcommand("leaf", "d")
async def leaf(ctx: arc.GatewayContext, name: arc.Option[str, arc.StrParams("d")]) -> None:
    await ctx.respond(f"leaf {name}")


async def words(data: arc.AutocompleteData[arc.GatewayClient, str]) -> list[str]:
    return [f"{data.focused_value}!"]


@client.include
@arc.slash_command("find", "Completes itself.")
async def find(ctx: arc.GatewayContext, word: arc.Option[str, arc.StrParams("d", autocomplete_with=words)]) -> None:
    await ctx.respond(f"found {word}")


@client.include
@arc.user_command("Look at")
async def look_at(ctx: arc.GatewayContext, user: hikari.User) -> None:
    await ctx.respond(f"looked at {user.id}")


@client.include
@arc.message_command("Keep it")
async def keep_it(ctx: arc.GatewayContext, message: hikari.Message) -> None:
    await ctx.respond(f"kept {message.content}")


@client.include
@arc.slash_command("secret", "For one person.")
async def secret(ctx: arc.GatewayContext) -> None:
    await ctx.respond("only you", flags=hikari.MessageFlag.EPHEMERAL)


@client.include
@arc.slash_command("slow", "Takes its time.")
async def slow(ctx: arc.GatewayContext) -> None:
    await ctx.defer()
    await ctx.edit_initial_response("there")
    report("filled")


@client.include
@arc.slash_command("more", "A follow-up.")
async def more(ctx: arc.GatewayContext) -> None:
    await ctx.respond("first")
    second = await (await ctx.respond("second")).retrieve_message()
    report("more", id=str(second.id))


@client.include
@arc.slash_command("change", "Changes.")
async def change(ctx: arc.GatewayContext) -> None:
    await ctx.respond("before")
    await ctx.edit_initial_response("after")
    then = await ctx.respond("then")
    await then.edit("then!")
    report("changed", id=str((await then.retrieve_message()).id))


@client.include
@arc.slash_command("gone", "Deletes.")
async def gone(ctx: arc.GatewayContext) -> None:
    await (await ctx.respond("here")).delete()
    report("gone")


@client.include
@arc.slash_command("board", "Buttons and a menu.")
async def board(ctx: arc.GatewayContext) -> None:
    buttons = bot.rest.build_message_action_row()
    buttons.add_interactive_button(hikari.ButtonStyle.PRIMARY, "go", label="Go")
    buttons.add_interactive_button(hikari.ButtonStyle.PRIMARY, "why", label="Why")
    menu = bot.rest.build_message_action_row()
    menu.add_text_menu("colour").add_option("red", "red").add_option("green", "green")
    await ctx.respond("board", components=[buttons, menu])


@client.include
@arc.slash_command("menus", "Menus.")
async def menus(ctx: arc.GatewayContext) -> None:
    kinds = hikari.ComponentType
    made = {"people": kinds.USER_SELECT_MENU, "roles": kinds.ROLE_SELECT_MENU, "both": kinds.MENTIONABLE_SELECT_MENU}
    rows = [
        bot.rest.build_message_action_row().add_select_menu(kind, name, max_values=2) for name, kind in made.items()
    ]
    channels = bot.rest.build_message_action_row()
    channels.add_channel_menu("channels")
    await ctx.respond("menus", components=[*rows, channels])


@client.include
@arc.slash_command("layout", "The second form.")
async def layout(ctx: arc.GatewayContext) -> None:
    made = impl.ContainerComponentBuilder(accent_color=hikari.Color(255))
    made.add_text_display("text")
    section = impl.SectionComponentBuilder(accessory=impl.ThumbnailComponentBuilder(media=PICTURE))
    made.add_component(section.add_text_display("beside"))
    made.add_media_gallery([impl.MediaGalleryItemBuilder(media=PICTURE)])
    made.add_separator()
    made.add_action_row(
        [impl.InteractiveButtonBuilder(style=hikari.ButtonStyle.PRIMARY, custom_id="inside", label="In")]
    )
    await ctx.respond(component=made)


@client.include
@arc.slash_command("ask", "A poll.")
async def ask(ctx: arc.GatewayContext) -> None:
    poll = impl.PollBuilder(question_text="Which?", duration=2, allow_multiselect=False)
    poll.add_answer(text="red")
    poll.add_answer(text="blue")
    asked = await (await ctx.respond(poll=poll)).retrieve_message()
    report("asked", id=str(asked.id))


bot.run()
