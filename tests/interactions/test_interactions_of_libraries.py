"""A bot on a client library, unmodified but for the address, answers what a person does (compat.md, Second mount)."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import attrs
import pytest
import trio

from chat.testing.gateway_client import GatewayClient
from chat.testing.rest_client import RestClient
from tests.conformance.clients.installed import HERE
from tests.conformance.clients.talk import SCRIPT_SECONDS, BotProcess, bot_process, own_world
from tests.conformance.test_client_libraries import commands_in_python
from tests.durability.server_process import ServerProcess, running

pytestmark = pytest.mark.long


@attrs.frozen
class Bob:
    """A person in the bot's guild, who looks at one channel with one client."""

    rest: RestClient
    client: GatewayClient
    world: Mapping[str, Any]
    commands: Mapping[str, str]

    @property
    def id(self) -> str:
        return str(self.world["users"][1]["id"])

    async def does(self, kind: int, data: Mapping[str, Any], **members: Any) -> None:
        """One act, of which this client hears."""
        body = {
            "type": kind,
            "application_id": self.world["bot"]["application_id"],
            "channel_id": self.world["channel_id"],
            "guild_id": self.world["guild_id"],
            "session_id": self.client.session_id,
            "data": data,
            **members,
        }
        (await self.rest.post("/v1/interactions", body)).expect(204)

    async def brings(self, name: str, *options: str, **files: bytes) -> None:
        """A command with files: the options that take them, in order, and the files by their names."""
        told = [{"name": option, "value": str(number)} for number, option in enumerate(options)]
        body = {
            "type": 2,
            "application_id": self.world["bot"]["application_id"],
            "channel_id": self.world["channel_id"],
            "session_id": self.client.session_id,
            "data": {"id": self.commands[name], "options": told},
        }
        (await self.rest.act(body, files)).expect(204)

    async def invokes(self, name: str, target_id: str | None = None, /, **options: Any) -> None:
        """A command by its name."""
        told = [{"name": option, "value": value} for option, value in options.items()]
        data = {"options": told} if target_id is None else {"target_id": target_id}
        await self.does(2, {"id": self.commands[name], **data})

    async def hears(self, name: str) -> dict[str, Any]:
        """The next Dispatch of this name."""
        return dict((await self.client.expect(name)).data)

    async def sees(self, message_id: str) -> dict[str, Any]:
        """A message as it is now."""
        path = f"/v1/channels/{self.world['channel_id']}/messages/{message_id}"
        return dict((await self.rest.get(path)).expect(200))


@pytest.fixture
async def server(tmp_path: Path) -> AsyncIterator[ServerProcess]:
    async with running(tmp_path) as process:
        yield process


@asynccontextmanager
async def meeting(server: ServerProcess, name: str) -> AsyncIterator[tuple[BotProcess, Bob]]:
    """The script of a library, once it has registered its commands, and bob."""
    command, environment = commands_in_python([name], HERE)[name]
    world = await own_world(server.alice, server.world)
    with trio.fail_after(SCRIPT_SECONDS):
        async with trio.open_nursery() as nursery, bot_process([*command, json.dumps(world)], environment) as bot:
            await bot.said("ready")
            client = await server.connect(nursery)
            await client.identify(server.token_of("bob"))
            await client.expect("READY")
            listed = await server.bob.get(f"/v1/channels/{world['channel_id']}/application-commands")
            shown = {each["name"]: each["id"] for each in listed.expect(200)["application_commands"]}
            yield bot, Bob(server.bob, client, world, shown)
            nursery.cancel_scope.cancel()


async def test_discord_py_answers(server: ServerProcess) -> None:
    async with meeting(server, "interactions_discord_py") as (bot, bob):
        await a_command_with_a_board(bot, bob)
        await later_and_with_files(bot, bob)
        await choices_and_menus(bot, bob)
        assert await bot.ended() == 0, bot.reports
        assert "failed" not in {report["step"] for report in bot.reports}, bot.reports


async def a_command_with_a_board(bot: BotProcess, bob: Bob) -> None:
    alice_id = bob.world["users"][0]["id"]
    await bob.invokes("board", name="bob", who=alice_id, where=bob.world["channel_id"])
    shown = await bot.said("board")
    assert shown | {"id": ""} == {
        "step": "board",
        "id": "",
        "who": f"{alice_id} True True",
        "where": bob.world["channel_id"],
        "by": bob.id,
        "guild": bob.world["guild_id"],
        "may": True,
        "app_may": True,
    }
    board = await bob.sees(shown["id"])
    assert (board["content"], board["interaction_metadata"]["user"]["id"]) == ("hello bob", bob.id)
    used = {"message_id": shown["id"]}
    await bob.does(3, {"custom_id": "go"}, **used)
    assert await bot.said("pressed") == {"step": "pressed", "by": bob.id, "on": shown["id"]}
    pressed = await bob.sees(shown["id"])
    labels = [each.get("label") for row in pressed["components"] for each in row["components"]]
    assert (pressed["content"], labels[:2]) == ("pressed", ["Gone", "Why"])
    await bob.does(3, {"custom_id": "colour", "values": ["green"]}, **used)
    assert await bot.said("chose") == {"step": "chose", "values": ["green"], "ephemeral": True}
    assert (await bob.hears("MESSAGE_UPDATE"))["id"] == shown["id"]
    assert (await bob.hears("MESSAGE_UPDATE"))["content"] == "chose green!"
    await bob.does(3, {"custom_id": "who", "values": [alice_id, bob.id]}, **used)
    named = await bot.said("named")
    assert (named["values"], named["content"]) == ([f"Member {alice_id}", f"Member {bob.id}"], "named")
    await bob.does(3, {"custom_id": "why"}, **used)
    await bot.said("asked")
    form = await bob.hears("INTERACTION_MODAL_CREATE")
    (field,) = [part for row in form["components"] for part in row["components"]]
    assert (form["title"], field["label"], field["max_length"]) == ("Why?", "Reason", 20)
    await bob.does(5, {"id": form["id"], "components": [{"custom_id": field["custom_id"], "value": "I can"}]})
    submitted = await bot.said("submitted")
    assert submitted["reason"] == "I can"
    assert (await bob.sees(submitted["id"]))["content"] == "because I can"


async def later_and_with_files(bot: BotProcess, bob: Bob) -> None:
    for secret in (False, True):
        await bob.invokes("slow", secret=secret)
        slow = await bot.said("slow")
        assert (slow["loading"], slow["content"]) == (True, "there")
        path = f"/v1/channels/{bob.world['channel_id']}/messages/{slow['id']}"
        assert (await bob.rest.get(path)).status == (404 if secret else 200)
    await bob.brings("read", "second", "first", kale=b"green", leek=b"white and green")
    read = await bot.said("read")
    assert read["contents"] == ["white and green", "green"]
    assert [name.split(" ")[:2] for name in read["names"]] == [["leek", "15"], ["kale", "5"]]
    await bob.invokes("files")
    sent = await bot.said("files")
    assert sent["names"] == ["one.txt", "two.txt"]
    assert (await bob.sees(sent["second"]))["attachments"][0]["filename"] == "two.txt"
    assert (await bob.rest.get(f"/v1/channels/{bob.world['channel_id']}/messages/{sent['first']}")).status == 404


async def choices_and_menus(bot: BotProcess, bob: Bob) -> None:
    await bob.does(4, {"id": bob.commands["find"], "options": [{"name": "word", "value": "wo", "focused": True}]})
    assert (await bot.said("typed"))["current"] == "wo"
    assert (await bob.hears("INTERACTION_AUTOCOMPLETE"))["choices"] == [{"name": "wo!", "value": "wo"}]
    await bob.invokes("Look at", bob.world["users"][2]["id"])
    looked = await bot.said("looked")
    assert (looked["on"], looked["own"], looked["code"]) == (bob.world["users"][2]["id"], True, 40060)
    for content in ("keep me", "bye"):
        own = (await bob.rest.send_message(bob.world["channel_id"], content)).expect(200)["id"]
        await bob.invokes("Keep it", own)
        assert (await bot.said("kept"))["content"] == content


async def test_hikari_answers(server: ServerProcess) -> None:
    async with meeting(server, "interactions_hikari") as (bot, bob):
        alice_id = bob.world["users"][0]["id"]
        await bob.invokes("board", name="bob", who=alice_id)
        shown = await bot.said("board")
        assert (shown["by"], shown["who"], shown["named"]) == (bob.id, [alice_id], {"name": "bob", "who": alice_id})
        assert (await bob.sees(shown["id"]))["content"] == "hello bob"
        await bob.does(3, {"custom_id": "why"}, message_id=shown["id"])
        assert (await bot.said("asked"))["on"] == shown["id"]
        form = await bob.hears("INTERACTION_MODAL_CREATE")
        await bob.does(5, {"id": form["id"], "components": [{"custom_id": "reason", "value": "I can"}]})
        submitted = await bot.said("submitted")
        assert (submitted["reason"], submitted["content"], submitted["flags"]) == ("I can", "because I can!", 64)
        assert (await bob.hears("MESSAGE_DELETE"))["channel_id"] == bob.world["channel_id"]
        assert await bot.ended() == 0, bot.reports
