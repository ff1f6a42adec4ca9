"""One bot, written on each library as its documentation would have it, is used by a person: unmodified but for the
address. Which library passes which step stands in a table of the manual, `chat/manual/bots.md`; it is held against what
happens here."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Mapping
from pathlib import Path
from typing import Final

import attrs
import pytest
import trio

from chat.testing.rest_client import RestClient
from chat.testing.world import World
from tests.conformance.clients.bot_steps import STEPS, Stage, failures
from tests.conformance.clients.installed import HERE
from tests.conformance.clients.talk import SCRIPT_SECONDS, Alice, bot_process, own_world
from tests.conformance.test_client_libraries import (
    EXAMPLE_SECONDS,
    MANUAL,
    Command,
    commands_in_python,
    commands_on_node,
    examples_of,
    pinned,
)
from tests.durability.server_process import ServerProcess, running

pytestmark = pytest.mark.long

PYTHON: Final = {
    "buttons_discord_py": "discord.py",
    "buttons_py_cord": "py-cord",
    "buttons_nextcord": "nextcord",
    "buttons_disnake": "disnake",
    "buttons_hikari": "hikari, arc",
    "buttons_interactions_py": "interactions.py",
}
NODE: Final = {"buttons_discordjs": "discord.js", "buttons_oceanic": "oceanic.js"}
PACKAGES: Final = {"hikari, arc": ("hikari", "hikari-arc"), "interactions.py": ("discord-py-interactions",)}
"""What a library of the table is installed as, where that is not its name there."""

AT_ONCE: Final = 2
"""Bots that are used side by side. An answer is due in three seconds, and machines have few cores."""


def table() -> dict[str, dict[str, str]]:
    """Of each library that the manual's table of steps has: its version, and what stands there by step."""
    lines = [line for line in MANUAL.read_text().splitlines() if line[:1] == "|"]
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in lines]
    start = next(number for number, row in enumerate(rows) if row[0] == "step")
    heads, steps = rows[start][1:], rows[start + 2 : start + 3 + len(STEPS)]
    return {library: {row[0]: row[place + 1] for row in steps} for place, library in enumerate(heads)}


@pytest.fixture
async def server(tmp_path: Path) -> AsyncIterator[ServerProcess]:
    async with running(tmp_path) as process:
        yield process


@attrs.define
class Played:
    """What went wrong with each bot, by step; nobody is used before all have started, which takes all cores."""

    server: ServerProcess
    waiting: int
    started: trio.Event = attrs.field(factory=trio.Event)
    places: trio.CapacityLimiter = attrs.field(factory=lambda: trio.CapacityLimiter(AT_ONCE))
    failed: dict[str, dict[str, Exception]] = attrs.field(factory=dict)

    async def play(self, script: str, command: Command) -> None:
        """Start the bot in a guild of its own, use it, and let it go."""
        rest = RestClient(self.server.route, self.server.token_of("alice"))
        described = await own_world(rest, self.server.world)
        role = await rest.post(f"/v1/guilds/{described['guild_id']}/roles", {"name": "Gardener", "mentionable": True})
        role_id = role.expect(200)["id"]
        with trio.fail_after(SCRIPT_SECONDS):
            async with (
                bot_process([*command[0], json.dumps(described)], command[1]) as bot,
                trio.open_nursery() as nursery,
            ):
                await bot.said("ready")
                self.waiting -= 1
                if not self.waiting:
                    self.started.set()
                await self.started.wait()
                async with self.places, World(described, self.server.route, nursery) as world:
                    stage = Stage(bot, world, Alice(rest, described), role_id)
                    self.failed[script] = await failures(stage)
                    await stage.alice.says("bye")
                    assert await bot.ended() == 0, (script, bot.reports, self.failed[script])
                nursery.cancel_scope.cancel()
        await rest.aclose()


async def hold_against_the_table(
    server: ServerProcess, commands: Mapping[str, Command], names: Mapping[str, str]
) -> None:
    played, stated = Played(server, len(commands)), table()
    async with trio.open_nursery() as nursery:
        for script, command in commands.items():
            nursery.start_soon(played.play, script, command)
    wrong = [
        f"{names[script]}: {step}: the manual has {stated[names[script]][step]!r}, and there was {failed.get(step)!r}"
        for script, failed in played.failed.items()
        for step in STEPS
        if (stated[names[script]][step] == "yes") != (step not in failed)
    ]
    assert not wrong, "\n".join(wrong)


def test_the_manual_has_each_step_of_each_library() -> None:
    stated = table()
    assert list(stated) == [*PYTHON.values(), *NODE.values()]
    versions = pinned()
    for library, steps in stated.items():
        assert list(steps) == ["version", *STEPS]
        packages = PACKAGES.get(library, (library,))
        assert steps["version"] == ", ".join(versions[package] for package in packages)


async def test_bots_in_python(server: ServerProcess) -> None:
    await hold_against_the_table(server, commands_in_python(PYTHON, HERE), PYTHON)


async def test_bots_on_node(server: ServerProcess, tmp_path: Path) -> None:
    for name in ("reports", "buttons_commands", *NODE):
        (tmp_path / f"{name}.mjs").write_text((HERE / f"{name}.mjs").read_text())
    await hold_against_the_table(server, commands_on_node(NODE, tmp_path), NODE)


async def test_the_recipes_of_the_manual_answer(server: ServerProcess, tmp_path: Path) -> None:
    examples = examples_of("button_")
    for name, code in examples.items():
        (tmp_path / name).write_text(code)
    names = [Path(name) for name in examples]
    python = commands_in_python([name.stem for name in names if name.suffix == ".py"], tmp_path)
    commands = python | commands_on_node([name.stem for name in names if name.suffix == ".mjs"], tmp_path)
    assert len(commands) == len(examples) == 3
    async with trio.open_nursery() as nursery:
        for name, command in commands.items():
            (tmp_path / f"of-{name}").mkdir()
            nursery.start_soon(_use, server, command, tmp_path / f"of-{name}")


async def _use(server: ServerProcess, command: Command, folder: Path) -> None:
    """Start a recipe in a folder with its `world.json`; use its command as soon as it is offered, and its button."""
    rest = RestClient(server.route, server.token_of("alice"))
    described = await own_world(rest, server.world)
    await trio.Path(folder, "world.json").write_text(json.dumps(described))
    offered = f"/v1/channels/{described['channel_id']}/application-commands"
    with trio.fail_after(EXAMPLE_SECONDS):
        async with bot_process(*command, folder), trio.open_nursery() as nursery:
            async with World(described, server.route, nursery) as world:
                while not (await rest.get(offered)).expect(200)["application_commands"]:  # noqa: ASYNC110
                    await trio.sleep(0.1)
                while not await Alice(rest, described).sessions_of_bot():  # noqa: ASYNC110 - the server tells nobody
                    await trio.sleep(0.1)
                shown = await world.bob.invoke("ping")
                assert shown.message["content"] == "pong"
                assert (await world.bob.press(shown.message, "again")).message["content"] == "pong again"
            nursery.cancel_scope.cancel()
    await rest.aclose()
