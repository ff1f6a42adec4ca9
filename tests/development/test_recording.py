"""A recording is a test that passes in a fresh world, and fails where the server does something else."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
import trio
from trio.testing import MockClock

from chat.testing.server import open_chat_server
from chat.testing.world import World
from tests.patience import PATIENCE_SECONDS

Conversation = Callable[[World], Awaitable[object]]


async def recorded(world: World, **query: str | int) -> dict[str, Any]:
    return dict((await world.anyone.get("/v1/_dev/history/test", query)).expect(200))


@asynccontextmanager
async def fresh_world(folder: Path) -> Any:
    """A world with other ids, tokens and passwords."""
    await trio.Path(folder).mkdir()
    async with open_chat_server(folder, seed=77) as server, trio.open_nursery() as nursery:
        world = World(server.description(), server.route(), nursery)
        yield world
        await world.aclose()
        nursery.cancel_scope.cancel()


async def played(source: str, folder: Path, *, prepare: Conversation | None = None) -> None:
    """Run the only test of a source in a fresh world."""
    scope: dict[str, Any] = {}
    exec(compile(source, "recorded.py", "exec"), scope)  # noqa: S102 - it is what is tested
    [test] = [value for name, value in scope.items() if name.startswith("test_")]
    async with fresh_world(folder) as world:
        if prepare is not None:
            await prepare(world)
        with trio.fail_after(10_000):
            await test(world, None)


async def talk(world: World) -> None:
    bob, bot = await world.bob.connect(), await world.bot.connect(compressed=True, shard=[0, 1])
    sent = (await world.alice.rest.send_message(world.channel_id, "hello {braces} \"and\" 'quotes'")).expect(200)
    await bob.expect("MESSAGE_CREATE")
    await bot.expect("MESSAGE_CREATE")
    (await world.bot.rest.react(world.channel_id, sent["id"], "👍")).expect(204)
    await bob.expect("MESSAGE_REACTION_ADD")
    answer = await world.bob.rest.send_message(
        world.channel_id,
        f"<@{world.alice.id}> see {sent['id']}",
        message_reference={"message_id": sent["id"], "channel_id": world.channel_id},
    )
    answer.expect(200)
    (await world.alice.rest.delete_message(world.channel_id, sent["id"])).expect(204)
    await bob.expect("MESSAGE_DELETE")
    assert (await world.bob.rest.delete_message(world.channel_id, sent["id"])).code == "UNKNOWN_MESSAGE"
    await bob.update_voice_state(world.guild_id, world.voice_channel_id)
    await bob.expect("VOICE_STATE_UPDATE")
    await bob.request_members(world.guild_id, query="", limit=10)
    await bob.expect("GUILD_MEMBERS_CHUNK")
    await bob.aclose()


async def breakage(world: World) -> None:
    bob, carol = await world.bob.connect(), await world.carol.connect()
    bob.drop()
    await trio.sleep(5)
    (await world.alice.rest.send_message(world.channel_id, "missed")).expect(200)
    again = await world.bob.resume(bob)
    await again.expect("MESSAGE_CREATE")
    await again.expect("RESUMED")
    target = {"session_id": again.session_id}
    (await world.anyone.post("/v1/_dev/faults", {"action": "invalid_session", "target": target})).expect(200)
    await again.expect_opcode(9)
    fault = {"action": "close", "target": {"user_id": world.carol.id}, "code": 4001, "reason": "enough"}
    (await world.anyone.post("/v1/_dev/faults", fault)).expect(200)
    await carol.closed()
    (await world.anyone.post("/v1/_dev/faults", {"action": "http", "status": 503})).expect(200)
    assert (await world.alice.rest.get("/v1/users/@me")).status == 503
    await world.anyone.advance_clock(3_600_000)
    (await world.alice.rest.get(f"/v1/guilds/{world.guild_id}")).expect(200)


async def guild_life(world: World) -> None:
    alice = await world.alice.connect()
    guild = (await world.alice.rest.create_guild("Makers")).expect(200)
    created = await alice.expect("GUILD_CREATE")
    channels = created.data["channels"]
    text = next(channel for channel in channels if channel["type"] == 0)
    invite = (await world.alice.rest.create_channel_invite(text["id"])).expect(200)
    (await world.bob.rest.accept_invite(invite["code"])).expect(200)
    await alice.expect("GUILD_MEMBER_ADD")
    role = (await world.alice.rest.post(f"/v1/guilds/{guild['id']}/roles", {"name": "helpers"})).expect(200)
    (await world.alice.rest.put(f"/v1/guilds/{guild['id']}/members/{world.bob.id}/roles/{role['id']}")).expect(204)
    await alice.expect("GUILD_MEMBER_UPDATE")
    (await world.bob.rest.send_message(text["id"], "hi")).expect(200)
    await alice.expect("MESSAGE_CREATE")


async def newcomer(world: World) -> None:
    answer = await world.anyone.register(
        email="dora@example.com", username="dora", password="a long password", date_of_birth="1990-01-01", consent=True
    )
    dora = world.anyone.signed_in(answer.expect(200)["token"])
    (await dora.get("/v1/users/@me")).expect(200)
    (await dora.patch("/v1/users/@me/settings", {"theme": "light"})).expect(200)


@pytest.mark.parametrize("conversation", [talk, breakage, guild_life, newcomer])
async def test_a_recording_passes_in_a_fresh_world(
    chat_world: World, autojump_clock: MockClock, tmp_path: Path, conversation: Conversation
) -> None:
    await conversation(chat_world)
    recording = await recorded(chat_world)
    source = recording["source"]
    assert recording["left_out"] == [], source
    for actor in chat_world.actors:
        assert actor.id not in source
        assert actor.token not in source
    assert chat_world.guild_id not in source
    assert source.count("await ") >= 3
    await played(source, tmp_path / "fresh")


async def test_it_fails_where_something_else_happens(
    chat_world: World, autojump_clock: MockClock, tmp_path: Path
) -> None:
    bob = await chat_world.bob.connect()
    (await chat_world.alice.rest.send_message(chat_world.channel_id, "hello")).expect(200)
    await bob.expect("MESSAGE_CREATE")
    source = (await recorded(chat_world))["source"]

    async def refusing(world: World) -> None:
        (await world.anyone.post("/v1/_dev/faults", {"action": "http", "status": 403})).expect(200)

    with pytest.raises(BaseExceptionGroup) as refused:
        await played(source, tmp_path / "refusing", prepare=refusing)
    assert refused.group_contains(AssertionError)
    other = source.replace('d["content"] == "hello"', 'd["content"] == "bye"')
    assert other != source, source
    with pytest.raises(BaseExceptionGroup) as nothing:
        await played(other, tmp_path / "other")
    assert nothing.group_contains(AssertionError)


async def test_who_was_connected_before_is_connected_at_the_beginning(
    chat_world: World, autojump_clock: MockClock, tmp_path: Path
) -> None:
    bob, carol = await chat_world.bob.connect(), await chat_world.carol.connect()
    start = (await chat_world.anyone.get("/v1/_dev/history", {"limit": 1})).expect(200)["next"]
    (await chat_world.alice.rest.send_message(chat_world.channel_id, "to both")).expect(200)
    await bob.expect("MESSAGE_CREATE")
    await carol.expect("MESSAGE_CREATE")
    recording = await recorded(chat_world, after=start - 1, name="both_hear")
    assert recording["source"].startswith("async def test_both_hear(chat_world, autojump_clock):\n")
    assert recording["source"].count(".connect()") == 2
    await played(recording["source"], tmp_path / "fresh")
    alone = await recorded(chat_world, after=start - 1, session_id=bob.session_id or "")
    assert "carol" not in alone["source"]
    assert (await chat_world.anyone.get("/v1/_dev/history/test", {"name": "Not a name"})).status == 400


async def test_what_cannot_be_said_is_told(chat_world: World, autojump_clock: MockClock) -> None:
    anyone = await chat_world.open()
    await anyone.identify("nobody's token")
    await anyone.closed()
    (await chat_world.alice.rest.send_files(chat_world.channel_id, {"a.txt": b"x"})).expect(200)
    recording = await recorded(chat_world)
    assert len(recording["left_out"]) == 2, recording
    assert "# Left out: " in recording["source"]


def pytest_in(folder: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"]
    return subprocess.run(
        command, cwd=folder, capture_output=True, text=True, timeout=PATIENCE_SECONDS * 4, check=False
    )


@pytest.mark.long
async def test_it_runs_under_pytest_in_an_empty_directory(chat_world: World, tmp_path: Path) -> None:
    await talk(chat_world)
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "test_it.py").write_text((await recorded(chat_world))["source"], "utf-8")
    (folder / "pytest.ini").write_text("[pytest]\ntrio_mode = true\n", "utf-8")
    ran = await trio.to_thread.run_sync(lambda: pytest_in(folder))
    assert ran.returncode == 0, ran.stdout
    assert "1 passed" in ran.stdout
