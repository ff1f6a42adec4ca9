"""The pytest plugin of the test kit: loads by itself where `chat` is installed.

    async def test_greeting(chat_world, autojump_clock):
        bob = await chat_world.bob.connect()
        await chat_world.alice.rest.send_message(chat_world.channel_id, "hello")
        await bob.expect("MESSAGE_CREATE", where=lambda d: d["content"] == "hello")

It costs other test suites one small import: everything else is imported when a fixture or an option is used. An
`async def` test that asks for a fixture of the kit is a Trio test (pytest-trio) without a mark. A test that fails shows
what was said, and how it is run again.
"""

from __future__ import annotations

import inspect
import json
import re
import shlex
from collections.abc import AsyncIterator, Generator, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypedDict

import pytest

from chat.testing import options

if TYPE_CHECKING:
    from chat.testing.conversation import Conversation
    from chat.testing.dev_server import DevServer
    from chat.testing.server import ChatServer
    from chat.testing.world import World

FIXTURES: Final = frozenset({"chat_server", "chat_world"})
CLOCKS: Final = frozenset({"autojump_clock", "mock_clock"})

INSTALL: Final = "pip install 'chat[testing]'"

_SAID: Final = pytest.StashKey["Conversation"]()
_REPLAYED: Final = pytest.StashKey["FailureToRepeat"]()


# Options


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("chat", "the chat server's test kit")
    group.addoption("--chat-seed", metavar="N", help="another world for each test; without it its name decides")
    group.addoption("--chat-url", metavar="URL", help="test the server there, such as http://127.0.0.1:8080/v1")
    group.addoption("--chat-world", metavar="FILE", help="its accounts: what `chat dev --json` prints")
    group.addoption("--chat-gateway", metavar="WHOSE", help="server or node: who serves gateway sockets in the tests")
    group.addoption("--chat-replay", metavar="FILE", help="run the test of this file again, as it failed")


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line(
        "markers", "chat_settings(**settings): settings of this test's chat_server, by their dotted names"
    )
    given = {name: config.getoption(f"chat_{name}", None) for name in options.NAMES}
    replay = config.getoption("chat_replay", None)
    if replay is not None:
        config.stash[_REPLAYED] = _replay(Path(replay))
        replayed = config.stash[_REPLAYED]["seed"]
        given["seed"] = given["seed"] or (None if replayed is None else str(replayed))
    try:
        options.choose(options.read(given) if any(given.values()) else None)
        chosen = options.current()
    except options.OptionError as error:
        raise pytest.UsageError(f"chat: {error}") from None
    if chosen.url is not None:
        config.pluginmanager.register(_RealTime(), "chat-real-time")


def pytest_unconfigure() -> None:
    options.choose(None)


class FailureToRepeat(TypedDict):
    """What --chat-replay repeats: a test by its id, and its seed."""

    test: str
    seed: int | None


def _replay(path: Path) -> FailureToRepeat:
    try:
        replay = json.loads(path.read_text())
        return {"test": str(replay["test"]), "seed": replay["seed"]}
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise pytest.UsageError(f"chat: {path} is no file of a failure: {error!r}") from None


class _RealTime:
    """Clocks against a server elsewhere: its time does not follow ours, so ours must not jump."""

    @pytest.fixture
    def autojump_clock(self) -> None:
        return None

    @pytest.fixture
    def mock_clock(self) -> None:
        pytest.skip("a clock that a test turns by hand needs a server in the test")


# Collection


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if _REPLAYED in config.stash:
        wanted = config.stash[_REPLAYED]["test"]
        left_out = [item for item in items if item.nodeid != wanted]
        items[:] = [item for item in items if item.nodeid == wanted]
        config.hook.pytest_deselected(items=left_out)
    for item in items:
        if isinstance(item, pytest.Function) and FIXTURES & set(item.fixturenames):
            _check(config, item)
            item.add_marker(pytest.mark.trio)
            own = inspect.signature(item.obj).parameters
            if "chat_server" in own and (url := options.current().url) is not None:
                item.add_marker(pytest.mark.skip(reason=f"chat_server is a server in the test; {url} is none"))


def _check(config: pytest.Config, item: pytest.Function) -> None:
    """Say what is wrong with a test that cannot run, before it fails in a way that is hard to understand."""
    if not config.pluginmanager.has_plugin("trio"):
        raise pytest.UsageError(f"chat: {item.nodeid} needs the plugin pytest-trio: {INSTALL}, without `-p no:trio`")
    if hasattr(item.obj, "hypothesis"):
        raise pytest.UsageError(
            f"chat: {item.nodeid} asks for a fixture, which all examples of @given would share: "
            "put @chat.testing.in_world below @given, and each example has a world of its own"
        )
    if item.get_closest_marker("asyncio") is not None or item.get_closest_marker("anyio") is not None:
        raise pytest.UsageError(
            f"chat: {item.nodeid} is a Trio test, and is marked for another loop: take its mark away "
            "(asyncio_mode = strict), or decorate it with @chat.testing.in_world"
        )
    if not inspect.iscoroutinefunction(item.obj):
        raise pytest.UsageError(f"chat: {item.nodeid} asks for a fixture of a Trio test: make it `async def`")


# Fixtures


@pytest.fixture
def chat_server_options(request: pytest.FixtureRequest, tmp_path: Path) -> dict[str, object]:
    """What `chat_server` is opened with; override it to change that.

    The seed follows from the test's name, so a test does the same each time.
    """
    settings: dict[str, object] = {}
    for marker in reversed(list(request.node.iter_markers("chat_settings"))):
        settings.update(marker.kwargs)
    return {"folder": tmp_path, "seed": options.current().seed_of(request.node.nodeid), "settings": settings}


@pytest.fixture
async def chat_server(chat_server_options: Mapping[str, Any]) -> AsyncIterator[ChatServer | None]:
    """A whole server inside the test's own Trio run; on virtual time when the test uses `autojump_clock`. None beneath
    a `chat_world` that lives at `--chat-url`."""
    from chat.testing.server import open_chat_server

    if options.current().url is not None:
        yield None
        return
    async with open_chat_server(**chat_server_options) as server:
        yield server


@pytest.fixture
async def chat_world(request: pytest.FixtureRequest, chat_server: ChatServer | None) -> AsyncIterator[World]:
    """The seeded world with ready clients, on `chat_server` or at `--chat-url`."""
    import trio

    from chat.testing.registered_world import describe, route_of
    from chat.testing.world import World

    if chat_server is None:
        description = await describe(options.current())
        route = route_of(description)
    else:
        description, route = chat_server.description(), chat_server.route()
    async with trio.open_nursery() as nursery:
        world = World(description, route, nursery)
        request.node.stash[_SAID] = world.conversation
        yield world
        await world.aclose()
        nursery.cancel_scope.cancel()


@pytest.fixture(scope="session")
def chat_dev_process() -> Iterator[DevServer]:
    """One `chat dev` for all tests of this run."""
    from chat.testing.dev_server import DevServer

    with DevServer() as server:
        yield server


@pytest.fixture
def chat_dev(chat_dev_process: DevServer) -> DevServer:
    """A server in a process of its own with its seeded world, for bots that are programs and for ordinary tests."""
    chat_dev_process.reset()
    return chat_dev_process


# Failures


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    if report.when == "call" and report.failed and _uses_the_kit(item):
        said = item.stash.get(_SAID, None)
        if said is not None and len(said):
            report.sections.append(("what was said", said.report()))
        report.sections.append(("run it again", _again(item, said)))
    return report


def _uses_the_kit(item: pytest.Item) -> bool:
    return _SAID in item.stash or hasattr(getattr(item, "obj", None), "runs_in_world")


def _again(item: pytest.Item, said: Conversation | None) -> str:
    """The command that runs the test again; all that was said is in the file that it names."""
    seed = options.current().seed
    cache = getattr(item.config, "cache", None)
    if cache is None or not item.config.pluginmanager.has_plugin("cacheprovider"):
        asked = "" if seed is None else f" --chat-seed={seed}"
        return f"pytest {shlex.quote(item.nodeid)}{asked}"
    path = Path(cache.mkdir("chat-failures")) / (re.sub(r"[^\w.-]+", "-", item.nodeid)[-100:] + ".json")
    failure = {"test": item.nodeid, "seed": seed, "said": [] if said is None else said.as_json()}
    path.write_text(json.dumps(failure, indent=1))
    return f"pytest --chat-replay {shlex.quote(str(path))}"
