"""`in_world`: each call has a world of its own, under Hypothesis, `unittest` and a plain call."""

from __future__ import annotations

import unittest
from typing import Any

import pytest
import trio
from hypothesis import Phase, assume, given, settings
from hypothesis import strategies as st

from chat.testing import ChatServer, World, in_world, options
from chat.testing.rest_client import UnversionedPath

DAY_SECONDS = 86_400
SAID = st.text("abc ", min_size=1, max_size=20).filter(str.strip)


@given(content=SAID)
@settings(max_examples=10)
@in_world
async def test_each_example_has_a_world_of_its_own(chat_world: World, content: str) -> None:
    bob = await chat_world.bob.connect()
    (await chat_world.alice.rest.send_message(chat_world.channel_id, content)).expect(200)
    await bob.expect("MESSAGE_CREATE", where=lambda message: message["content"] == content.strip())
    assert len((await chat_world.alice.rest.messages(chat_world.channel_id)).expect(200)) == 1


def test_examples_shrink_and_tell_what_was_said() -> None:
    seen: list[int] = []

    @given(number=st.integers(0, 1_000))
    @settings(max_examples=30, database=None, phases=[Phase.generate, Phase.shrink])
    @in_world
    async def fails(chat_world: World, number: int) -> None:
        assume(number != 3)
        seen.append(number)
        await chat_world.alice.rest.send_message(chat_world.channel_id, str(number))
        assert number < 10

    with pytest.raises(AssertionError) as failure:
        fails()
    assert seen[-1] == 10
    report = next(note for note in failure.value.__notes__ if "seconds since the first" in note).splitlines()
    assert len(report) <= 30
    assert any("alice > POST /v1/channels/" in line and '{"content":"10"}' in line for line in report)
    assert any("alice < 200 POST /v1/channels/" in line for line in report)


@in_world
async def test_a_day_takes_no_time(chat_world: World, chat_server: ChatServer) -> None:
    before = chat_server.clock.now_ms()
    bob = await chat_world.bob.connect()
    await trio.sleep(DAY_SECONDS)
    assert chat_server.clock.now_ms() == before + DAY_SECONDS * 1_000
    assert bob.is_open


class Steps(trio.abc.Instrument):
    """Counts what tasks do."""

    def __init__(self) -> None:
        self.taken = 0

    def before_task_step(self, task: trio.lowlevel.Task) -> None:
        self.taken += 1


@in_world
async def test_a_server_at_rest_looks_after_its_duties_now_and_then(chat_server: ChatServer) -> None:
    """Whoever looks each minute for work that cannot have come wakes the machine, and makes virtual days long."""
    steps = Steps()
    trio.lowlevel.add_instrument(steps)
    await trio.sleep(DAY_SECONDS)
    trio.lowlevel.remove_instrument(steps)
    assert steps.taken < 4_000


@in_world(settings={"gateway.heartbeat_interval_ms": 1_000})
async def test_it_takes_settings(chat_world: World) -> None:
    assert (await chat_world.open()).heartbeat_interval_ms == 1_000


class TestUnittest(unittest.TestCase):
    @in_world
    async def test_a_method(self, chat_world: World) -> None:
        assert (await chat_world.alice.rest.get("/v1/users/@me")).status == 200


def test_a_call_replays() -> None:
    tokens: list[str] = []

    @in_world(seed=7)
    async def once(chat_world: World) -> None:
        tokens.append(chat_world.alice.token)

    once()
    once()
    assert tokens[0] == tokens[1]


def test_another_seed_is_another_world(monkeypatch: pytest.MonkeyPatch) -> None:
    tokens: list[str] = []

    @in_world
    async def once(chat_world: World) -> None:
        tokens.append(chat_world.alice.token)

    for seed in ("1", "2", "1"):
        monkeypatch.setenv("CHAT_TEST_SEED", seed)
        once()
    assert tokens[0] == tokens[2] != tokens[1]


async def no_world(content: str) -> None: ...


def no_coroutine(chat_world: World) -> None: ...


@pytest.mark.parametrize("function", [no_world, no_coroutine])
def test_what_it_is_not_for(function: Any) -> None:
    with pytest.raises(TypeError, match="in_world is for an `async def` that takes chat_world or chat_server"):
        in_world(function)


@in_world
async def test_a_path_without_its_version_is_refused(chat_world: World) -> None:
    for path in ("/users/@me", f"/guilds/{chat_world.guild_id}/channels", "/admin/users/1"):
        with pytest.raises(UnversionedPath, match=f"the path of this operation is /v1{path}"):
            await chat_world.alice.rest.get(path)
    assert (await chat_world.alice.rest.get("/nowhere")).status == 404


@pytest.mark.parametrize(
    ("given_options", "complaint"),
    [
        ({"seed": "seven"}, "the seed is a whole number from 0"),
        ({"url": "localhost:8080"}, "the URL is that of an API, such as"),
        ({"gateway": "core"}, "server or node, not 'core'"),
        ({"gateway": "node", "url": "http://127.0.0.1:1/v1"}, "beside a server in the test"),
        ({"world": "world.json"}, "give its URL as well"),
        ({"url": "http://127.0.0.1:1/v1", "world": "/nowhere"}, "does not hold what `chat dev --json` prints"),
    ],
)
def test_options_that_are_none(given_options: dict[str, str], complaint: str) -> None:
    with pytest.raises(options.OptionError, match=complaint):
        options.read(given_options)
