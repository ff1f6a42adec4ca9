"""hikari, which registers commands over HTTP."""

from __future__ import annotations

import asyncio
import base64

import hikari
from hikari.commands import OptionType
from reports import BOT_TOKEN, GUILD_ID, MOUNT_URL, report

application_id, _, secret = BOT_TOKEN.partition(".")
token = f"{base64.b64encode(application_id.encode()).decode().rstrip('=')}.{secret}"


async def main() -> None:
    app = hikari.RESTApp(url=MOUNT_URL)
    await app.start()
    async with app.acquire(token, hikari.TokenType.BOT) as rest:
        slash = rest.slash_command_builder("everything", "Everything.")
        for kind in OptionType:
            if kind not in (OptionType.SUB_COMMAND, OptionType.SUB_COMMAND_GROUP):
                option = hikari.CommandOption(type=kind, name=kind.name.lower(), description="d", is_required=True)
                slash.add_option(option)
        menu = rest.context_menu_command_builder(hikari.CommandType.USER, "Look at")
        everywhere = await rest.set_application_commands(int(application_id), [slash, menu])
        one = await rest.create_slash_command(int(application_id), "here", "Here.", guild=GUILD_ID)
        fetched = await rest.fetch_application_command(int(application_id), one.id, guild=GUILD_ID)
        edited = await rest.edit_application_command(int(application_id), one.id, guild=GUILD_ID, description="Other.")
        listed = await rest.fetch_application_commands(int(application_id))
        told = await rest.fetch_application_guild_commands_permissions(int(application_id), GUILD_ID)
        await rest.delete_application_command(int(application_id), one.id, guild=GUILD_ID)
        report(
            "registered",
            everywhere=[command.name for command in everywhere],
            listed=[command.name for command in listed],
            options=len(everywhere[0].options or ()),
            description=[fetched.description, edited.description],
            permissions=len(told),
        )
    await app.close()


asyncio.run(main())
