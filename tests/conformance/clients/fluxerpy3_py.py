"""fluxerpy3, which takes another server's address as `base_url`.

At fault: it waits five seconds before it connects again, and begins a session anew unless the server asked it to
reconnect; then it resumes and identifies at once, for which it is sent away (4005), and only then begins anew.
"""

from __future__ import annotations

import asyncio
from typing import Any

import fluxerpy3
from fluxerpy3.gateway import Intents
from reports import ALICE_ID, BASE_URL, BOT_TOKEN, CHANNEL_ID, GUILD_ID, report


async def main() -> None:
    async with fluxerpy3.Client(token=BOT_TOKEN, base_url=BASE_URL) as client:
        gateway = client.create_gateway_client(intents=Intents.DEFAULT)
        gateway.gateway_url = await client.get_gateway_url()
        own: list[str] = []

        async def on_ready(data: dict[str, Any]) -> None:
            report("ready", user_id=data["user"]["id"])

        async def on_message(data: dict[str, Any]) -> None:
            if data["author"]["id"] != str(ALICE_ID):
                return
            match data["content"]:
                case "reply":
                    own.append((await client.send_message(str(CHANNEL_ID), "hello")).id)
                    report("reply", id=own[-1])
                case "edit":
                    edited = await client.edit_message(str(CHANNEL_ID), own[-1], "hello again")
                    report("edit", content=edited.content)
                case "react":
                    await client.add_reaction(str(CHANNEL_ID), data["id"], "👍")
                    report("react")
                case "delete":
                    await client.delete_message(str(CHANNEL_ID), own.pop())
                    report("delete")
                case "fetch":
                    guild = await client.get_guild(str(GUILD_ID))
                    members = await client.get_guild_members(str(GUILD_ID))
                    channels = await client.get_guild_channels(str(GUILD_ID))
                    history = await client.get_channel_messages(str(CHANNEL_ID), limit=2)
                    report(
                        "fetch",
                        guild=guild.name,
                        members=[member.user.id for member in members],
                        channels=[each.id for each in channels],
                        history=[each.content for each in history],
                    )
                case "bye":
                    await gateway.close()
                case _:
                    report("heard", content=data["content"])

        async def on_edit(data: dict[str, Any]) -> None:
            if data["author"]["id"] == str(ALICE_ID):
                report("edit_heard", content=data["content"])

        async def on_deletion(data: dict[str, Any]) -> None:
            report("deletion_heard", id=data["id"])

        async def on_reaction(data: dict[str, Any]) -> None:
            if data["user_id"] == str(ALICE_ID):
                report("reaction_heard", emoji=data["emoji"]["name"])

        gateway.on("READY", on_ready)
        gateway.on("MESSAGE_CREATE", on_message)
        gateway.on("MESSAGE_UPDATE", on_edit)
        gateway.on("MESSAGE_DELETE", on_deletion)
        gateway.on("MESSAGE_REACTION_ADD", on_reaction)
        await gateway.connect()


asyncio.run(main())
