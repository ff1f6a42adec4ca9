"""hikari answers: a command, a button that opens a form, the form, and an answer that one person alone sees."""

from __future__ import annotations

import base64

import hikari
from reports import BOT_TOKEN, GATEWAY_URL, MOUNT_URL, report

application_id, _, secret = BOT_TOKEN.partition(".")
token = f"{base64.b64encode(application_id.encode()).decode().rstrip('=')}.{secret}"
bot = hikari.GatewayBot(token, rest_url=MOUNT_URL, banner=None, logs=None)


@bot.listen()
async def on_ready(event: hikari.ShardReadyEvent) -> None:
    slash = bot.rest.slash_command_builder("board", "Shows the board.")
    for kind, name in ((hikari.OptionType.STRING, "name"), (hikari.OptionType.USER, "who")):
        slash.add_option(hikari.CommandOption(type=kind, name=name, description="d", is_required=True))
    await bot.rest.set_application_commands(int(application_id), [slash])
    report("ready", gateway=GATEWAY_URL)


@bot.listen()
async def on_command(event: hikari.CommandInteractionCreateEvent) -> None:
    interaction = event.interaction
    named = {option.name: str(option.value) for option in interaction.options or ()}
    assert interaction.resolved is not None
    row = bot.rest.build_message_action_row()
    row.add_interactive_button(hikari.ButtonStyle.PRIMARY, "why", label="Why?")
    await interaction.create_initial_response(
        hikari.ResponseType.MESSAGE_CREATE, f"hello {named['name']}", component=row
    )
    message = await interaction.fetch_initial_response()
    report(
        "board",
        id=str(message.id),
        by=str(interaction.user.id),
        who=[str(user) for user in interaction.resolved.members],
        named=named,
    )


@bot.listen()
async def on_component(event: hikari.ComponentInteractionCreateEvent) -> None:
    row = bot.rest.build_modal_action_row()
    row.add_text_input("reason", "Reason", max_length=20)
    await event.interaction.create_modal_response("Why?", "form", component=row)
    report("asked", on=str(event.interaction.message.id))


@bot.listen()
async def on_form(event: hikari.ModalInteractionCreateEvent) -> None:
    interaction = event.interaction
    (reason,) = [part.value for row in interaction.components for part in row.components]
    await interaction.create_initial_response(
        hikari.ResponseType.MESSAGE_CREATE, f"because {reason}", flags=hikari.MessageFlag.EPHEMERAL
    )
    edited = await interaction.edit_initial_response(f"because {reason}!")
    report("submitted", reason=reason, content=edited.content, flags=int(edited.flags))
    await interaction.delete_initial_response()
    await bot.close()


bot.run()
