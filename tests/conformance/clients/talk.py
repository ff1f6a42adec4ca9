"""What every client library is put through: a conversation between alice, who speaks plain HTTP, and a bot that is a
script on that library, in a process of its own.

Alice's messages are orders to the bot; the bot reports each step as a line of JSON, and what came of it is looked up on
the server. Nothing waits for a time: each step waits for the line that says it is done.
"""

from __future__ import annotations

import json
import subprocess
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote

import attrs
import trio

from chat.testing.rest_client import RestClient
from tests.durability.server_process import ServerProcess

SCRIPT_SECONDS: Final = 180
"""A machine under load takes its time."""

STEPS: Final = 11
"""Ready, four things that the bot does, four that it hears, a fetch, and a Resume."""

EMOJI: Final = "👍"
HEART: Final = "❤️"


@attrs.frozen(kw_only=True)
class Abilities:
    """What a library leaves out. Everything else is asked of each."""

    replies: bool = True
    """Whether it can reply to a message."""

    resumes: bool = True
    """Whether it resumes after its socket was cut; otherwise it begins anew."""

    knows_guilds: bool = True
    """Whether it tells its guilds when it is ready."""


class BotProcess:
    """The script, line by line."""

    def __init__(self, process: trio.Process) -> None:
        self._process = process
        self._received = b""
        self.reports: list[dict[str, Any]] = []

    async def said(self, step: str) -> dict[str, Any]:
        """The next report of this step; others are passed over, because libraries differ in what they tell of
        themselves."""
        while True:
            report = await self._next()
            assert report is not None, f"the script ended before {step}: {self.reports}"
            self.reports.append(report)
            if report["step"] == step:
                return report

    async def ended(self) -> int:
        """Read to the end; the exit status."""
        while (report := await self._next()) is not None:
            self.reports.append(report)
        return await self._process.wait()

    async def _next(self) -> dict[str, Any] | None:
        assert self._process.stdout is not None
        while b"\n" not in self._received:
            piece = await self._process.stdout.receive_some()
            if not piece:
                return None
            self._received += piece
        line, _, self._received = self._received.partition(b"\n")
        report: dict[str, Any] = json.loads(line)
        return report


@asynccontextmanager
async def bot_process(
    command: Sequence[str], environment: Mapping[str, str], folder: Path | None = None
) -> AsyncIterator[BotProcess]:
    """Start the script; it is killed if it outlives the block. What it logs is shown where the test fails."""
    process = await trio.lowlevel.open_process(
        list(command), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, env=dict(environment), cwd=folder
    )
    try:
        yield BotProcess(process)
    finally:
        if process.returncode is None:
            process.kill()
        with trio.CancelScope(shield=True):
            await process.wait()
            if process.stdout is not None:
                await process.stdout.aclose()


class Alice:
    """The person that the bot talks with, in the guild of this conversation."""

    def __init__(self, rest: RestClient, world: Mapping[str, Any]) -> None:
        self.rest = rest
        self.world = world
        self.channel_id: str = world["channel_id"]
        self.bot_id: str = world["bot"]["user_id"]
        self._path = f"/v1/channels/{self.channel_id}/messages"

    async def says(self, content: str) -> str:
        """Send a message; its id."""
        message_id: str = (await self.rest.send_message(self.channel_id, content)).expect(200)["id"]
        return message_id

    async def sees(self, message_id: str) -> dict[str, Any]:
        """A message as it is now."""
        message: dict[str, Any] = (await self.rest.get(f"{self._path}/{message_id}")).expect(200)
        return message

    async def misses(self, message_id: str) -> bool:
        """Whether the message is gone."""
        return (await self.rest.get(f"{self._path}/{message_id}")).status == 404

    async def changes(self, message_id: str, content: str) -> None:
        (await self.rest.edit_message(self.channel_id, message_id, content)).expect(200)

    async def deletes(self, message_id: str) -> None:
        (await self.rest.delete_message(self.channel_id, message_id)).expect(204)

    async def reacts(self, message_id: str, emoji: str) -> None:
        (await self.rest.put(f"{self._path}/{message_id}/reactions/{quote(emoji)}/@me")).expect(204)

    async def sessions_of_bot(self) -> list[str]:
        """Sessions of the bot that have a socket."""
        return [
            session["id"]
            for session in await self.rest.gateway_sessions()
            if session["user_id"] == self.bot_id and session["attached"]
        ]


async def converse(
    server: ServerProcess, command: Sequence[str], environment: Mapping[str, str], abilities: Abilities
) -> int:
    """Connect, Ready, receive, send, edit, react, delete, fetch; lose the socket, resume, and go.

    It has a guild and a bot of its own: several conversations on one server do not hear each other. Returns how many of
    its STEPS were passed.
    """
    rest = RestClient(server.route, server.token_of("alice"))
    try:
        alice = Alice(rest, await own_world(rest, server.world))
        with trio.fail_after(SCRIPT_SECONDS):
            async with bot_process([*command, json.dumps(alice.world)], environment) as bot:
                await _meet(alice, bot, abilities)
                await _write(alice, bot, abilities)
                await _hear(alice, bot)
                await _fetch(alice, bot)
                await _lose_the_socket(alice, bot, abilities)
                await alice.says("bye")
                assert await bot.ended() == 0, bot.reports
            # A session outlives its socket for a while; what counts is that the socket is gone.
            while await alice.sessions_of_bot():  # noqa: ASYNC110 - the server tells nobody
                await trio.sleep(0.05)
    finally:
        await rest.aclose()
    return STEPS - (not abilities.replies) - (not abilities.resumes)


async def own_world(rest: RestClient, world: Mapping[str, Any]) -> dict[str, Any]:
    """What `chat dev --json` printed, with another guild, its channels, and another bot in it."""
    guild_id = (await rest.post("/v1/guilds", {"name": "A conversation"})).expect(200)["id"]
    application = (await rest.post("/v1/oauth2/applications", {"name": "A client library"})).expect(200)
    bot = application["bot"]
    others = [user["id"] for user in world["users"][1:]]
    members = {user_id: {} for user_id in (*others, bot["id"])}
    (await rest.post(f"/v1/_dev/guilds/{guild_id}", {"members": members})).expect(200)
    channels = (await rest.get(f"/v1/guilds/{guild_id}/channels")).expect(200)
    text, voice = (next(channel["id"] for channel in channels if channel["type"] == kind) for kind in (0, 2))
    return {
        **world,
        "bot": {**world["bot"], "application_id": application["id"], "user_id": bot["id"], "token": bot["token"]},
        "guild_id": guild_id,
        "channel_id": text,
        "voice_channel_id": voice,
    }


async def _meet(alice: Alice, bot: BotProcess, abilities: Abilities) -> None:
    ready = await bot.said("ready")
    assert ready["user_id"] == alice.bot_id
    if abilities.knows_guilds:
        assert ready["guilds"] == [alice.world["guild_id"]]
    assert len(await alice.sessions_of_bot()) == 1


async def _write(alice: Alice, bot: BotProcess, abilities: Abilities) -> None:
    asked = await alice.says("reply")
    own = (await bot.said("reply"))["id"]
    message = await alice.sees(own)
    assert (message["content"], message["author"]["id"]) == ("hello", alice.bot_id)
    if abilities.replies:
        assert message["message_reference"]["message_id"] == asked

    await alice.says("edit")
    assert (await bot.said("edit"))["content"] == "hello again"
    message = await alice.sees(own)
    assert (message["content"], message["edited_timestamp"] is None) == ("hello again", False)

    asked = await alice.says("react")
    await bot.said("react")
    (reaction,) = (await alice.sees(asked))["reactions"]
    assert (reaction["emoji"]["name"], reaction["count"]) == (EMOJI, 1)

    await alice.says("delete")
    await bot.said("delete")
    assert await alice.misses(own)


async def _hear(alice: Alice, bot: BotProcess) -> None:
    said = await alice.says("grüße ✉ 😀")
    assert (await bot.said("heard"))["content"] == "grüße ✉ 😀"
    await alice.reacts(said, HEART)
    assert (await bot.said("reaction_heard"))["emoji"] in {HEART, ":red_heart:"}
    await alice.changes(said, "changed")
    assert (await bot.said("edit_heard"))["content"] == "changed"
    await alice.deletes(said)
    while (await bot.said("deletion_heard"))["id"] != said:
        pass  # libraries hear of their own deletions too


async def _fetch(alice: Alice, bot: BotProcess) -> None:
    world = alice.world
    await alice.says("fetch")
    fetched = await bot.said("fetch")
    assert fetched["guild"] == (await alice.rest.get(f"/v1/guilds/{world['guild_id']}")).expect(200)["name"]
    assert set(fetched["members"]) == {alice.bot_id, *(user["id"] for user in world["users"])}
    assert {world["channel_id"], world["voice_channel_id"]} <= set(fetched["channels"])
    assert fetched["history"] == ["fetch", "delete"]


async def _lose_the_socket(alice: Alice, bot: BotProcess, abilities: Abilities) -> None:
    (session,) = await alice.sessions_of_bot()
    assert await alice.rest.fault("drop", {"session_id": session}) == 1
    if abilities.resumes:
        await alice.says("while you were away")
        assert (await bot.said("heard"))["content"] == "while you were away"
        assert await alice.sessions_of_bot() == [session]
    else:
        await bot.said("ready")
    await alice.says("still there?")
    assert (await bot.said("heard"))["content"] == "still there?"
