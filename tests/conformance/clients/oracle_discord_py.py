"""discord.py without a network: it is given what the mount has shown a bot, and all that it makes of it is read."""

from __future__ import annotations

import asyncio
import json
import logging
import sys
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import discord
from reading import Reading

RECORDED = json.loads(Path(sys.argv[1]).read_text())
IDS = RECORDED["ids"]
OBJECTS = {path.partition("?")[0]: body for path, body in RECORDED["objects"].items()}
EXCUSED = {"Member.dm_channel"}  # the bot's own, which the library does not have
reading = Reading("discord", EXCUSED)


class Heard(logging.Handler):
    """What the library complains of."""

    def emit(self, record: logging.LogRecord) -> None:
        if record.exc_info:
            reading.fault(f"log: {record.msg}", f"{record.getMessage()} {record.exc_info[1]!r}")


async def answered(route: discord.http.Route, **_: Any) -> Any:
    path = route.url.removeprefix(discord.http.Route.BASE)
    if route.method != "GET" or path not in OBJECTS:
        raise LookupError(f"{route.method} {path} is not recorded")
    return json.loads(json.dumps(OBJECTS[path]))


async def all_of(pages: AsyncIterator[Any]) -> list[Any]:
    return [each async for each in pages]


def fetches(client: discord.Client) -> dict[str, Callable[[], Any]]:
    """What a bot asks for, by the library's names."""
    guild = client.get_guild(int(IDS["guild"]))
    channel = client.get_channel(int(IDS["channel"]))
    assert guild is not None
    assert isinstance(channel, discord.TextChannel)
    number = {name: int(value) for name, value in IDS.items() if value.isdecimal()}
    thread = guild.get_thread(number["thread"])
    return {
        "user": lambda: client.fetch_user(number["bob"]),
        "guild": lambda: client.fetch_guild(guild.id),
        "guilds": lambda: all_of(client.fetch_guilds()),
        "preview": lambda: client.fetch_guild_preview(guild.id),
        "application": client.application_info,
        "invite": lambda: client.fetch_invite(IDS["invite"]),
        "webhook": lambda: client.fetch_webhook(number["webhook"]),
        "channels": guild.fetch_channels,
        "roles": guild.fetch_roles,
        "role": lambda: guild.fetch_role(number["role"]),
        "emojis": guild.fetch_emojis,
        "emoji": lambda: guild.fetch_emoji(number["emoji"]),
        "stickers": guild.fetch_stickers,
        "sticker": lambda: guild.fetch_sticker(number["sticker"]),
        "bans": lambda: all_of(guild.bans()),
        "ban": lambda: guild.fetch_ban(discord.Object(number["carol"])),
        "invites": guild.invites,
        "webhooks": guild.webhooks,
        "audit log": lambda: all_of(guild.audit_logs(limit=100)),
        "members": lambda: all_of(guild.fetch_members()),
        "member": lambda: guild.fetch_member(number["bob"]),
        "threads": guild.active_threads,
        "rules": guild.fetch_automod_rules,
        "scheduled events": guild.fetch_scheduled_events,
        "integrations": guild.integrations,
        **{name: lambda name=name: client.fetch_channel(number[name]) for name in ("text", "voice", "private")},
        "thread": lambda: client.fetch_channel(number["thread"]),
        "thread members": lambda: thread.fetch_members() if thread else asyncio.sleep(0),
        "history": lambda: all_of(channel.history(limit=50)),
        "message": lambda: channel.fetch_message(number["message"]),
        "pins": lambda: all_of(channel.pins()),
        "channel invites": channel.invites,
        "channel webhooks": channel.webhooks,
    }


async def main() -> None:
    logging.getLogger().addHandler(Heard(logging.WARNING))
    client = discord.Client(intents=discord.Intents.all(), chunk_guilds_at_startup=False)
    await client._async_setup_hook()
    state = client._connection
    client.http.request = answered
    state.dispatch = lambda name, *arguments: reading.read(f"event {name}", arguments)
    before_the_end = [index for index, (name, _) in enumerate(RECORDED["events"]) if name == "GUILD_MEMBERS_CHUNK"][-1]
    for index, (name, data) in enumerate(RECORDED["events"]):
        with reading.noting(f"parsing {name}"):
            state.parsers[name](json.loads(json.dumps(data)))
        await asyncio.sleep(0)
        if index == before_the_end:
            for what, fetch in fetches(client).items():
                with reading.noting(f"fetching {what}"):
                    reading.read(f"fetched {what}", await fetch())
    reading.report()


asyncio.run(main())
