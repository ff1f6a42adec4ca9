"""Messages from the instance itself: to some accounts, to everybody, over a restart."""

from __future__ import annotations

from typing import Any, Final

import pytest
import trio
from trio.testing import MockClock

from chat.admin import buckets
from chat.testing.server import ChatServer
from chat.testing.world import Person, World
from tests.administration.access_walk import Walked, below, walk
from tests.administration.audit import audit_log

PATH: Final = "/v1/admin/system-dms"
ROWS: Final = [Walked("POST", PATH, ("system_dm:send",), buckets.MESSAGE, {"content": "hello", "user_ids": ["1"]})]


async def finished(world: World, job_id: str) -> dict[str, Any]:
    """The job once it is over."""
    while True:
        job = (await world.admin.rest.get(f"/v1/admin/jobs/{job_id}")).expect(200)
        if job["status"] not in {"pending", "running"}:
            return dict(job)
        await trio.sleep(0.1)


async def received(world: World, person: Person) -> list[dict[str, Any]]:
    """What the instance has written to somebody, the oldest first."""
    found: list[dict[str, Any]] = []
    for channel in (await person.rest.get("/v1/users/@me/channels")).expect(200):
        messages = (await person.rest.get(f"/v1/channels/{channel['id']}/messages")).expect(200)
        found += [message for message in reversed(messages) if message["author"].get("system")]
    return found


@pytest.mark.chat_settings(direct_messages_disabled=True)
async def test_the_instance_writes_to_some_or_to_everybody(
    chat_server: ChatServer, chat_world: World, autojump_clock: MockClock
) -> None:
    world, admin = chat_world, chat_world.admin.rest
    assert below(PATH) == {(row.method, row.path) for row in ROWS}
    await walk(chat_server, world, ROWS, {})
    (await world.anyone.post(f"/v1/_dev/users/{world.carol.id}", {"acls": []})).expect(200)

    bob = await world.bob.connect()
    listed = [world.bob.id, world.bob.id, world.bot.id, "1", world.carol.id]
    ordered = (
        await admin.request(
            "POST",
            PATH,
            json={"content": "Maintenance at noon", "user_ids": listed},
            headers={"X-Audit-Log-Reason": "n"},
        )
    ).expect(200)
    assert ordered["requested"] == 4
    entry = audit_log(chat_server)[-1]
    assert (entry.action, entry.target_type, entry.target_id, entry.reason) == (
        "send_system_dm",
        "system_dm",
        ordered["job_id"],
        "n",
    )
    assert dict(entry.metadata) == {"job_id": ordered["job_id"], "requested_count": "4", "everyone": "false"}
    opened = (await bob.expect("CHANNEL_CREATE")).data
    message = (await bob.expect("MESSAGE_CREATE")).data
    assert (message["channel_id"], message["content"]) == (opened["id"], "Maintenance at noon")
    assert (message["author"]["bot"], message["author"]["system"]) == (True, True)
    job = await finished(world, ordered["job_id"])
    assert (job["status"], job["result"]) == ("completed", {"sent": 2, "skipped": 2})
    assert (job["progress_current"], job["progress_total"]) == (4, 4)

    # The next one stands in the same conversation, from the same account; whoever closed it has it again.
    (await world.bob.rest.delete(f"/v1/channels/{opened['id']}")).expect(204)
    everyone = (await admin.post(PATH, {"content": "Thank you", "everyone": True})).expect(200)
    assert everyone["requested"] == 4
    assert (await finished(world, everyone["job_id"]))["result"] == {"sent": 4, "skipped": 0}
    assert [one["content"] for one in await received(world, world.bob)] == ["Maintenance at noon", "Thank you"]
    assert [one["content"] for one in await received(world, world.alice)] == ["Thank you"]
    authors = {one["author"]["id"] for person in (world.bob, world.carol) for one in await received(world, person)}
    assert authors == {message["author"]["id"]}
    answered = await world.bob.rest.post(f"/v1/channels/{opened['id']}/messages", {"content": "thanks"})
    assert answered.code == "DIRECT_MESSAGES_DISABLED"

    entries = audit_log(chat_server)
    for body in (
        {},
        {"content": "x"},
        {"content": "x", "user_ids": []},
        {"content": "x", "user_ids": ["1"], "everyone": True},
        {"content": "x", "user_ids": ["1"] * 1_001},
        {"content": "x" * 4_001, "everyone": True},
        {"content": 5, "everyone": True},
    ):
        assert (await admin.post(PATH, body)).expect(400)["code"] == "INVALID_FORM_BODY", body
    assert (await admin.post(PATH, {"content": " \n", "everyone": True})).code == "CANNOT_SEND_EMPTY_MESSAGE"
    assert audit_log(chat_server) == entries


async def test_an_order_goes_on_after_a_restart_and_nobody_is_written_to_twice(
    chat_server: ChatServer, chat_world: World, autojump_clock: MockClock
) -> None:
    world = chat_world
    listed = [world.bob.id, *(str(number) for number in range(1, 900)), world.carol.id]
    ordered = (await world.admin.rest.post(PATH, {"content": "once", "user_ids": listed})).expect(200)
    bob = await world.bob.connect()
    if not await received(world, world.bob):
        await bob.expect("MESSAGE_CREATE")
    progress = (await world.admin.rest.get(f"/v1/admin/jobs/{ordered['job_id']}")).expect(200)
    await chat_server.stop()
    await chat_server.start()
    job = await finished(world, ordered["job_id"])
    assert (job["status"], job["result"]) == ("completed", {"sent": 2, "skipped": 899}), progress
    for person in (world.bob, world.carol):
        assert [one["content"] for one in await received(world, person)] == ["once"]
