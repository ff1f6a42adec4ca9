"""An import beside a running server: who looks at the guild is sent it once and finds the messages; nobody hears of
single ones, and a second import at the same time is refused."""

from __future__ import annotations

import fcntl
from pathlib import Path
from typing import Any

import trio

from tests.cli.command_line import Outcome, Run
from tests.durability.server_process import running
from tests.imports.discord_world import ANNA, channel, channel_id, export, message, moment, put


async def test_members_find_the_years_and_hear_one_event(run: Run, tmp_path: Path) -> None:
    data, exported = tmp_path / "data", tmp_path / "export"
    reaction = {"emoji": {"id": "", "name": "\N{THUMBS UP SIGN}"}, "count": 1, "users": [ANNA]}
    put(exported, "a.json", export(channel(1, "harbour"), message(1, "first"), message(2, "x", reactions=[reaction])))

    async def chat(*arguments: object) -> Outcome:
        return await trio.to_thread.run_sync(lambda: run(*arguments, "--data", data))

    async with running(data) as server, trio.open_nursery() as nursery:
        guild_id = server.world["guild_id"]
        bob = await server.connect(nursery)
        await bob.identify(server.token_of("bob"))
        await bob.expect("READY")
        ending = await chat("import", "discord", exported, "--guild", guild_id, "--json")
        assert (ending.status, ending.json["state"]) == (0, "completed"), ending.err
        whole = await bob.expect("GUILD_CREATE")
        made = {one["id"]: one for one in whole.data["channels"]}[str(channel_id(1))]
        assert (made["name"], made["last_message_id"]) == ("harbour", str(moment(2)))
        answer = await server.bob.get(f"/v1/channels/{channel_id(1)}/messages")
        listed: list[dict[str, Any]] = answer.expect(200)
        assert [(one["content"], one["author"]["username"]) for one in listed] == [("x", "anna"), ("first", "anna")]
        assert listed[0]["reactions"][0]["count"] == 1
        search = {"content": "first", "context_guild_id": guild_id, "channel_ids": [str(channel_id(1))]}
        found = (await server.bob.post("/v1/search/messages", search)).expect(200)
        assert [one["id"] for one in found["messages"]] == [str(moment(1))]
        ready = await _ready_again(server, nursery)
        read = {one["id"]: one for one in ready["read_states"]}[str(channel_id(1))]
        assert (read["last_message_id"], read["mention_count"]) == (str(moment(2)), 0)

        person = f"/v1/guilds/{guild_id}/placeholders/{ANNA['id']}/claim"
        (await server.alice.post(person, {})).expect(200)
        put(exported, "b.json", export(channel(1, "harbour"), message(3, "third")))
        again = await chat("import", "discord", exported, "--guild", guild_id, "--json")
        assert (again.status, again.json["counts"]["messages"]) == (0, 1), again.err
        while await _author_of(server, 3) != "alice":  # noqa: ASYNC110 - what moves it tells nobody
            await trio.sleep(0.05)

        with (data / "import.lock").open("rb") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            refused = await chat("import", "discord", exported, "--guild", guild_id)
        assert (refused.status, "another import is under way" in refused.err) == (1, True)
        nursery.cancel_scope.cancel()


async def _author_of(server: Any, number: int) -> str:
    listed = (await server.bob.get(f"/v1/channels/{channel_id(1)}/messages")).expect(200)
    return {one["id"]: one["author"]["username"] for one in listed}[str(moment(number))]


async def _ready_again(server: Any, nursery: trio.Nursery) -> Any:
    again = await server.connect(nursery)
    await again.identify(server.token_of("bob"))
    return (await again.expect("READY")).data
