"""The conversation of discord.py and of what was made from it: their names are the same.

They insist on what this family does not send: `s`, `t` and `d` in every payload, `resume_gateway_url` in Ready, `flags`
of members, `type` of a reaction, and members of a guild whose accounts are told in full. So they get these, and none of
the others.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Any

from reports import ALICE_ID, BOT_TOKEN, CHANNEL_ID, GATEWAY_URL, GUILD_ID, report


def with_what_is_missing(payload: Any) -> Any:
    """A payload of the gateway, or the answer of an operation, with what the libraries insist on."""
    if isinstance(payload, dict) and "op" in payload:
        payload = {"s": None, "t": None, "d": None, **payload}
    match payload:
        case {"t": "READY", "d": data}:
            data["resume_gateway_url"] = GATEWAY_URL
        case {"t": "GUILD_CREATE", "d": data}:
            data["members"] = [member for member in data["members"] if "username" in member["user"]]
        case {"t": "MESSAGE_REACTION_ADD", "d": data}:
            data["type"] = 0
    for member in filter(is_member, objects_in(payload)):
        member["flags"] = 0
    return payload


def objects_in(value: Any) -> Iterator[dict[str, Any]]:
    """Every object, however deep."""
    if isinstance(value, dict):
        yield value
        value = list(value.values())
    if isinstance(value, list):
        for each in value:
            yield from objects_in(each)


def is_member(value: dict[str, Any]) -> bool:
    """Whether this is a membership."""
    return "joined_at" in value and "roles" in value and "channels" not in value


def hold(
    library: ModuleType,
    decoder: str = "_from_json",
    add: Callable[[Any], None] = lambda payload: None,
    **options: Any,
) -> None:
    """Hold the conversation; `decoder` is the name of the library's function for reading JSON, `add` adds to what it
    has read what this library alone insists on; `options` are of its client."""
    decode = getattr(library.utils, decoder)

    def read(text: str) -> Any:
        payload = with_what_is_missing(decode(text))
        add(payload)
        return payload

    setattr(library.utils, decoder, read)
    intents = library.Intents.default()
    intents.message_content = True
    intents.members = True
    client = library.Client(intents=intents, **options)
    own: list[Any] = []

    @client.event
    async def on_ready() -> None:
        report("ready", user_id=str(client.user.id), guilds=[str(guild.id) for guild in client.guilds])

    @client.event
    async def on_message(message: Any) -> None:
        if message.author.id != ALICE_ID:
            return
        match message.content:
            case "reply":
                own.append(await message.reply("hello"))
                report("reply", id=str(own[-1].id))
            case "edit":
                edited = await own[-1].edit(content="hello again")
                report("edit", content=edited.content)
            case "react":
                await message.add_reaction("👍")
                report("react")
            case "delete":
                await own.pop().delete()
                report("delete")
            case "fetch":
                guild = await client.fetch_guild(GUILD_ID)
                members = [member async for member in guild.fetch_members(limit=100)]
                channels = await guild.fetch_channels()
                channel = await client.fetch_channel(CHANNEL_ID)
                history = [each async for each in channel.history(limit=2)]
                report(
                    "fetch",
                    guild=guild.name,
                    members=[str(member.id) for member in members],
                    channels=[str(each.id) for each in channels],
                    history=[each.content for each in history],
                    cached=[str(member.id) for member in client.get_guild(GUILD_ID).members],
                )
            case "bye":
                await client.close()
            case _:
                report("heard", content=message.content)

    @client.event
    async def on_message_edit(_: Any, after: Any) -> None:
        if after.author.id == ALICE_ID:
            report("edit_heard", content=after.content)

    @client.event
    async def on_message_delete(message: Any) -> None:
        if message.author.id == ALICE_ID:
            report("deletion_heard", id=str(message.id))

    @client.event
    async def on_reaction_add(reaction: Any, user: Any) -> None:
        if user.id == ALICE_ID:
            report("reaction_heard", emoji=str(reaction.emoji))

    @client.event
    async def on_resumed() -> None:
        report("resumed")

    client.run(BOT_TOKEN)
