"""Public client libraries hold a conversation with a real server, unattended and unmodified but for the address.

The scripts in `clients/` are bots as their libraries' own documentation would have them (`clients/installed.py` tells
how they are installed). What each passes and needs stands in a table of the manual, `chat/manual/bots.md`. It is held
against what happens here, as is each example of that page.
"""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import AsyncIterator, Iterable, Mapping
from pathlib import Path
from typing import Final

import attrs
import pytest
import trio

import chat.manual
from chat.testing.rest_client import RestClient
from tests.conformance.clients.installed import (
    HERE,
    NODE_LISTS,
    PY_CORD_LIST,
    PYTHON_LIST,
    node,
    node_libraries,
    py_cord,
    python_libraries,
)
from tests.conformance.clients.talk import STEPS, Abilities, bot_process, converse, own_world
from tests.durability.server_process import ServerProcess, running

pytestmark = pytest.mark.long


@attrs.frozen
class Library:
    """A library by its name in the manual, whether it is told of the second mount, and what it leaves out."""

    name: str
    mounted: bool = True
    abilities: Abilities = attrs.field(factory=Abilities)


NO_GUILDS: Final = Abilities(knows_guilds=False)

PYTHON: Final = {
    "discord_py": Library("discord.py"),
    "disnake_py": Library("disnake"),
    "hikari_py": Library("hikari"),
    "nextcord_py": Library("nextcord"),
    "py_cord": Library("py-cord"),
    "fluxer_py": Library("fluxer-py", mounted=False, abilities=NO_GUILDS),
    "fluxerpy3_py": Library(
        "fluxerpy3", mounted=False, abilities=Abilities(knows_guilds=False, replies=False, resumes=False)
    ),
    "interfluxer_py": Library("Interfluxer", mounted=False),
}
NODE: Final = {
    "discordjs": Library("discord.js"),
    "eris": Library("eris"),
    "oceanic": Library("oceanic.js"),
    "discordjs_core": Library("@discordjs/core", mounted=False),
}

MANUAL: Final = Path(chat.manual.__file__).parent / "bots.md"
EXAMPLE: Final = re.compile(r'^```\w+ file="(?P<name>[^"]+)"\n(?P<code>.*?)^```$', re.MULTILINE | re.DOTALL)
EXAMPLE_SECONDS: Final = 180


def table() -> dict[str, tuple[str, str, str]]:
    """Of each library that the manual has: version, steps, where."""
    rows = [
        [cell.strip() for cell in line.split("|")[1:-1]] for line in MANUAL.read_text().splitlines() if line[:1] == "|"
    ]
    return {row[0]: (row[1], row[2], row[3]) for row in rows if len(row) == 5 and " of " in row[2]}


def pinned() -> dict[str, str]:
    """The version of each package that is installed."""
    versions = json.loads(NODE_LISTS[0].read_text())["dependencies"]
    for requirements in (PYTHON_LIST, PY_CORD_LIST):
        lines = [line for line in requirements.read_text().splitlines() if "==" in line]
        versions |= dict(line.split("==") for line in lines)
    return versions


def test_the_manual_has_each_library_with_its_version() -> None:
    libraries = [*PYTHON.values(), *NODE.values()]
    rows, versions = table(), pinned()
    assert rows.keys() == {library.name for library in libraries}
    for library in libraries:
        version, _, where = rows[library.name]
        assert (version, where) == (versions[library.name], "second mount" if library.mounted else "`/v1`")


@pytest.fixture
async def server(tmp_path: Path) -> AsyncIterator[ServerProcess]:
    async with running(tmp_path) as process:
        yield process


Command = tuple[list[str], Mapping[str, str]]


def commands_in_python(scripts: Iterable[str], folder: Path) -> dict[str, Command]:
    """How to start the scripts of a folder, each where its library is found."""
    libraries = [str(python_libraries()), str(HERE)]
    made = {}
    for script in scripts:
        path = [str(py_cord()), *libraries] if "py_cord" in script else libraries
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(path)}
        made[script] = ([sys.executable, str(folder / f"{script}.py")], environment)
    return made


def commands_on_node(scripts: Iterable[str], folder: Path) -> dict[str, Command]:
    """How to start the scripts of a folder. Node searches for modules beside the script that imports them."""
    (folder / "node_modules").symlink_to(node_libraries() / "node_modules")
    return {script: ([str(node()), "--no-warnings", str(folder / f"{script}.mjs")], os.environ) for script in scripts}


async def converse_at_once(
    server: ServerProcess, commands: Mapping[str, Command], libraries: Mapping[str, Library]
) -> None:
    """All conversations side by side, since each waits more than it works; the first that fails is named."""
    rows = table()

    async def hold(script: str, command: Command) -> None:
        library = libraries[script]
        try:
            passed = await converse(server, *command, library.abilities)
        except Exception as error:
            error.add_note(f"in the conversation of {script}")
            raise
        assert rows[library.name][1] == f"{passed} of {STEPS}", script

    async with trio.open_nursery() as nursery:
        for script, command in commands.items():
            nursery.start_soon(hold, script, command)


async def test_bots_in_python(server: ServerProcess) -> None:
    await converse_at_once(server, commands_in_python(PYTHON, HERE), PYTHON)


async def test_bots_on_node(server: ServerProcess, tmp_path: Path) -> None:
    for name in ("reports", *NODE):
        (tmp_path / f"{name}.mjs").write_text((HERE / f"{name}.mjs").read_text())
    await converse_at_once(server, commands_on_node(NODE, tmp_path), NODE)


def examples_of(beginning: str) -> dict[str, str]:
    """The programs of the manual whose names begin so."""
    found = {example["name"]: example["code"] for example in EXAMPLE.finditer(MANUAL.read_text())}
    return {name: code for name, code in found.items() if name.startswith(beginning)}


async def test_the_bots_of_the_manual_answer(server: ServerProcess, tmp_path: Path) -> None:
    examples = examples_of("bot_")
    for name, code in examples.items():
        (tmp_path / name).write_text(code)
    names = [Path(name) for name in examples]
    python = commands_in_python([name.stem for name in names if name.suffix == ".py"], tmp_path)
    commands = python | commands_on_node([name.stem for name in names if name.suffix == ".mjs"], tmp_path)
    assert len(commands) == len(examples) >= 10
    async with trio.open_nursery() as nursery:
        for name, (command, environment) in commands.items():
            (tmp_path / f"of-{name}").mkdir()
            nursery.start_soon(_ping, server, command, environment, trio.Path(tmp_path, f"of-{name}"))


async def _ping(server: ServerProcess, command: list[str], environment: Mapping[str, str], folder: trio.Path) -> None:
    """Start a bot of the manual in a folder with its `world.json`, and say `!ping` until it answers."""
    rest = RestClient(server.route, server.token_of("alice"))
    world = await own_world(rest, server.world)
    await (folder / "world.json").write_text(json.dumps(world))
    with trio.fail_after(EXAMPLE_SECONDS):
        async with bot_process(command, environment, Path(folder)):
            channel = f"/v1/channels/{world['channel_id']}/messages"
            said: list[str] = []
            while not said:
                (await rest.post(channel, {"content": "!ping"})).expect(200)
                await trio.sleep(1)
                messages = (await rest.get(channel)).expect(200)
                said = [each["content"] for each in messages if each["author"]["id"] == world["bot"]["user_id"]]
    assert set(said) == {"pong"}
    await rest.aclose()
