"""What takes the room, cleaning up, and the warning before the disk is full (administration.md, Storage)."""

from __future__ import annotations

import os
import shutil
from collections import namedtuple
from pathlib import Path
from typing import Any

import pytest
import structlog
import trio

from chat.domain.administration.disk_watch import LOOK_SECONDS
from chat.domain.administration.storage import COUNTED_MS, UNUSED_MS
from chat.registries.jobs import CleanUp
from chat.registries.user_flags import UserFlag
from chat.testing.server import ChatServer
from chat.testing.world import World
from tests.administration.erasure.erasure_world import server_write
from tests.webhooks.surfaces import data_uri, form, png, post_form

UPLOAD = b"a photograph of the harbour"
ORPHAN = 5_000_000
Usage = namedtuple("Usage", "total used free")


async def uploaded(world: World) -> dict[str, Any]:
    """A message of bob's with a file."""
    sent: dict[str, Any] = (
        await post_form(
            world.bob.rest,
            f"/v1/channels/{world.channel_id}/messages",
            form([("files[0]", "harbour.txt", UPLOAD)], b'{"attachments": [{"id": 0, "filename": "harbour.txt"}]}'),
        )
    ).expect(200)
    return sent


async def overview(world: World) -> dict[str, Any]:
    found: dict[str, Any] = (await world.admin.rest.get("/v1/admin/storage")).expect(200)
    return found


async def test_what_takes_the_room(chat_world: World, autojump_clock: Any) -> None:
    empty = await overview(chat_world)
    assert (empty["guilds"], empty["accounts"], empty["backup"]) == ([], [], None)
    await uploaded(chat_world)
    conversation = (await chat_world.bob.rest.open_conversation(chat_world.carol.id)).expect(200)["id"]
    body = form([("files[0]", "b.txt", b"12345")], b'{"attachments": [{"id": 0, "filename": "b.txt"}]}')
    (await post_form(chat_world.bob.rest, f"/v1/channels/{conversation}/messages", body)).expect(200)
    avatar = {"avatar": data_uri(png(8, 8)), "password": chat_world.bob.password}
    (await chat_world.bob.rest.patch("/v1/users/@me", avatar)).expect(200)
    assert await overview(chat_world) == empty  # counted once for all who ask
    await trio.sleep(COUNTED_MS / 1_000)
    found = await overview(chat_world)
    parts = {part["part"]: (part["bytes"], part["files"]) for part in found["parts"]}
    assert parts["message_files"] == (len(UPLOAD) + 5, 2)
    assert parts["avatars"][1] == 1
    assert parts["database"][0] > 0
    assert [part["bytes"] for part in found["parts"]] == sorted((size for size, _ in parts.values()), reverse=True)
    assert [(guild["guild_id"], guild["bytes"], guild["files"]) for guild in found["guilds"]] == [
        (chat_world.guild_id, len(UPLOAD), 1),
        ("0", 5, 1),
    ]
    [account] = found["accounts"]
    assert (account["user_id"], account["username"], account["bytes"]) == (chat_world.bob.id, "bob", len(UPLOAD) + 5)
    assert found["disk"]["is_low"] is False
    assert 0 < found["disk"]["free_bytes"] <= found["disk"]["total_bytes"]


async def cleaned(world: World, *kinds: CleanUp, dry_run: bool) -> dict[str, dict[str, int]]:
    """What came of a clean-up."""
    body = {"kinds": list(kinds or CleanUp), "dry_run": dry_run}
    job_id = (await world.admin.rest.post("/v1/admin/storage/clean", body)).expect(200)["job_id"]
    while True:
        job = (await world.admin.rest.get(f"/v1/admin/jobs/{job_id}")).expect(200)
        if job["status"] == "completed":
            result: dict[str, dict[str, int]] = job["result"]
            return result
        assert job["status"] in {"pending", "running"}, job
        await trio.sleep(1)


async def test_what_nothing_needs_goes_and_nothing_else(
    chat_world: World, chat_server: ChatServer, autojump_clock: Any, tmp_path: Path
) -> None:
    sent = await uploaded(chat_world)
    uploads = tmp_path / "uploads"
    [kept] = [path for path in (uploads / "attachments").rglob("*") if path.is_file()]
    # One that a killed process left behind, one that is being sent, an archive of nobody's.
    young = int(sent["id"]) + (1 << 22)
    for file_id in (ORPHAN, young):
        path = uploads / "attachments" / f"{file_id >> 4 & 0xFF:02x}" / str(file_id)
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(b"1234567")
    (tmp_path / "archives").mkdir(exist_ok=True)
    (tmp_path / "archives" / "77.zip").write_bytes(b"123")
    # Renditions of the message's file: one that was asked for lately, one that was not.
    derived = uploads / "derived" / kept.parent.name / f"attachments-{kept.name}"
    derived.mkdir(parents=True)
    now = chat_server.clock.now_ms() / 1_000
    for name, used in (("new", now), ("old", now - UNUSED_MS / 1_000 - 1)):
        (derived / name).write_bytes(b"12")
        os.utime(derived / name, (used, used))
    # carol is erased, and left an avatar and a file that was never sent.
    avatar = {"avatar": data_uri(png(8, 8)), "password": chat_world.carol.password}
    (await chat_world.carol.rest.patch("/v1/users/@me", avatar)).expect(200)
    carol = int(chat_world.carol.id)
    await server_write(chat_server, "UPDATE users SET flags = flags | ? WHERE id = ?", int(UserFlag.DELETED), carol)
    await server_write(
        chat_server, "INSERT INTO account_deletions (user_id, due_at, reason_code, scheduled_at, erased_at)"
        " VALUES (?, 1, 1, 1, 1)", carol
    )  # fmt: skip
    unsent = (
        "INSERT INTO attachments (id, channel_id, user_id, filename, content_type, size, expires_at, stored)"
        " VALUES (9, ?, ?, 'x', 'text/plain', 5, 9000000000000, 1)"
    )
    await server_write(chat_server, unsent, int(chat_world.channel_id), carol)

    expected = {
        "orphans": {"files": 2, "bytes": 10},
        "old_renditions": {"files": 1, "bytes": 2},
        "deleted_accounts": {"files": 2, "bytes": 5 + len(png(8, 8))},
    }
    assert await cleaned(chat_world, dry_run=True) == expected
    assert (derived / "old").exists()
    assert (tmp_path / "archives" / "77.zip").exists()
    assert await cleaned(chat_world, dry_run=False) == expected
    assert kept.exists()
    assert sorted(path.name for path in derived.iterdir()) == ["new"]
    left = {path.name for path in (uploads / "attachments").rglob("*") if path.is_file()}
    assert left == {kept.name, str(young)}
    assert not (tmp_path / "archives" / "77.zip").exists()
    again = await cleaned(chat_world, dry_run=False)
    assert again == {kind: {"files": 0, "bytes": 0} for kind in expected}
    assert await cleaned(chat_world, CleanUp.ORPHANS, dry_run=True) == {"orphans": {"files": 0, "bytes": 0}}
    (await chat_world.bob.rest.get(f"/v1/channels/{chat_world.channel_id}/messages/{sent['id']}")).expect(200)
    log = (await chat_world.admin.rest.get("/v1/admin/audit-logs")).expect(200)["logs"]
    assert [entry["action"] for entry in log if entry["action"] == "clean_storage"] == ["clean_storage"] * 4


@pytest.mark.parametrize("body", [{}, {"kinds": []}, {"kinds": ["everything"]}, {"kinds": "orphans"}])
async def test_a_clean_up_of_nothing_known_is_refused(chat_world: World, body: dict[str, Any]) -> None:
    answer = await chat_world.admin.rest.post("/v1/admin/storage/clean", body)
    assert (answer.status, answer.code) == (400, "INVALID_FORM_BODY")


@pytest.mark.chat_settings(**{"storage.warn_bytes": 1_000})
async def test_administrators_are_warned_before_the_disk_is_full(
    chat_world: World, chat_server: ChatServer, autojump_clock: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    free = 5_000
    monkeypatch.setattr(shutil, "disk_usage", lambda _: Usage(10_000, 10_000 - free, free))
    with structlog.testing.capture_logs() as logs:

        async def warnings(seconds: float) -> int:
            await trio.sleep(seconds)
            return sum(entry["event"] == "the disk is nearly full" for entry in logs)

        assert await warnings(2 * LOOK_SECONDS) == 0
        free = 999
        assert await warnings(2 * LOOK_SECONDS) == 1
        assert await warnings(3_600) == 1  # not again and again
        assert await warnings(24 * 3_600) == 2
        assert (await overview(chat_world))["disk"]["is_low"] is True
        free = 5_000
        await trio.sleep(2 * LOOK_SECONDS)
        free = 999
        assert await warnings(2 * LOOK_SECONDS) == 3  # it was better meanwhile
    letters = (await chat_world.anyone.get("/v1/_dev/mail")).expect(200)
    told = [letter for letter in letters if letter["kind"] == "disk_nearly_full"]
    assert [letter["to"] for letter in told] == [chat_world.admin.email] * 3
    assert "/admin/storage" in told[0]["text"]
