"""hikari without a network: it is given what the mount has shown a bot, and all that it makes of it is read."""

from __future__ import annotations

import asyncio
import inspect
import json
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from urllib.parse import quote

import hikari
from hikari.impl import event_manager, rest
from reading import Reading

RECORDED = json.loads(Path(sys.argv[1]).read_text())
IDS = RECORDED["ids"]
OBJECTS = {path.partition("?")[0]: body for path, body in RECORDED["objects"].items()}
EXCUSED = {"app", "shard", "shard_id"}  # the program itself
reading = Reading("hikari", EXCUSED)


async def answered(_: Any, compiled_route: Any, **__: Any) -> Any:
    path = quote(compiled_route.compiled_path, safe="/@")
    if compiled_route.method != "GET" or path not in OBJECTS:
        raise LookupError(f"{compiled_route.method} {path} is not recorded")
    return json.loads(json.dumps(OBJECTS[path]))


async def first_page(pages: hikari.LazyIterator[Any]) -> list[Any]:
    """What the first answer holds: pages after it are the same again."""
    return [each async for each in pages.limit(1)]


def fetches(client: rest.RESTClientImpl) -> dict[str, Callable[[], Awaitable[Any]]]:
    """What a bot asks for, by the library's names."""
    number = {name: hikari.Snowflake(value) for name, value in IDS.items() if value.isdecimal()}
    guild, channel = number["guild"], number["channel"]
    return {
        "me": client.fetch_my_user,
        "user": lambda: client.fetch_user(number["bob"]),
        "guild": lambda: client.fetch_guild(guild),
        "guilds": lambda: first_page(client.fetch_my_guilds()),
        "preview": lambda: client.fetch_guild_preview(guild),
        "application": client.fetch_application,
        "commands": lambda: client.fetch_application_commands(number["application"]),
        "invite": lambda: client.fetch_invite(IDS["invite"]),
        "webhook": lambda: client.fetch_webhook(number["webhook"]),
        "channels": lambda: client.fetch_guild_channels(guild),
        "roles": lambda: client.fetch_roles(guild),
        "role": lambda: client.fetch_role(guild, number["role"]),
        "emojis": lambda: client.fetch_guild_emojis(guild),
        "emoji": lambda: client.fetch_emoji(guild, number["emoji"]),
        "stickers": lambda: client.fetch_guild_stickers(guild),
        "sticker": lambda: client.fetch_guild_sticker(guild, number["sticker"]),
        "bans": lambda: first_page(client.fetch_bans(guild)),
        "ban": lambda: client.fetch_ban(guild, number["carol"]),
        "invites": lambda: client.fetch_guild_invites(guild),
        "webhooks": lambda: client.fetch_guild_webhooks(guild),
        "audit log": lambda: first_page(client.fetch_audit_log(guild)),
        "members": lambda: first_page(client.fetch_members(guild)),
        "member": lambda: client.fetch_member(guild, number["bob"]),
        "threads": lambda: client.fetch_active_threads(guild),
        "rules": lambda: client.fetch_auto_mod_rules(guild),
        "scheduled events": lambda: client.fetch_scheduled_events(guild),
        "integrations": lambda: client.fetch_integrations(guild),
        **{
            name: lambda name=name: client.fetch_channel(number[name])
            for name in ("text", "voice", "private", "thread", "news", "forum")
            if name in number
        },
        "thread members": lambda: first_page(client.fetch_thread_members(number["thread"])),
        "history": lambda: first_page(client.fetch_messages(channel)),
        "message": lambda: client.fetch_message(channel, number["message"]),
        "pins": lambda: first_page(client.fetch_pins(channel)),
        "channel invites": lambda: client.fetch_channel_invites(channel),
        "channel webhooks": lambda: client.fetch_channel_webhooks(channel),
        "reactions": lambda: first_page(client.fetch_reactions_for_emoji(channel, number["message"], "👍")),
    }


async def main() -> None:
    bot = hikari.GatewayBot("MQ.x", banner=None, logs=None, auto_chunk_members=False, intents=hikari.Intents.ALL)
    shard = SimpleNamespace(id=0, intents=hikari.Intents.ALL, get_user_id=lambda: hikari.Snowflake(IDS["bot"]))
    rest.RESTClientImpl._request = answered  # type: ignore[method-assign]
    now = ""

    def dispatched(_: Any, event: Any, **__: Any) -> None:
        reading.read(f"event {now}", event)

    event_manager.EventManagerImpl.dispatch = dispatched  # type: ignore[method-assign, assignment]
    before_the_end = [index for index, (name, _) in enumerate(RECORDED["events"]) if name == "GUILD_MEMBERS_CHUNK"][-1]
    for index, (name, data) in enumerate(RECORDED["events"]):
        now = name
        with reading.noting(f"parsing {name}"):
            made = getattr(bot.event_manager, f"on_{name.lower()}")(shard, json.loads(json.dumps(data)))
            if inspect.isawaitable(made):
                await made
        if index == before_the_end:
            for what, fetch in fetches(bot.rest).items():  # type: ignore[arg-type]
                with reading.noting(f"fetching {what}"):
                    reading.read(f"fetched {what}", await fetch())
    reading.report()


asyncio.run(main())
