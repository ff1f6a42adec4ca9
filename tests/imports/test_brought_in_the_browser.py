"""Communities that people bring along over HTTP: the upload, the dry run, what is chosen, the import by a process of
its own, and that nothing is left of what was refused, cancelled, or killed."""

from __future__ import annotations

import signal
from collections.abc import Collection
from pathlib import Path
from typing import Any

import httpx
import pytest
import trio

from chat.imports.export_files import open_export
from chat.imports.sources import recognised
from tests.durability.server_process import ServerProcess, running
from tests.imports.discord_world import BERT, channel, channel_id, export, message, packed, put
from tests.imports.import_command import PICTURE
from tests.imports.talk_services import SERVICES
from tests.imports.talk_world import EXAMPLE

OVER = ("completed", "failed", "cancelled", "refused", "undone")
EVERYONE = {"CHAT_IMPORTS__FROM_BROWSER": "everyone"}


def _exported(folder: Path, messages: int = 30) -> bytes:
    """Two channels, one with a picture and a thread, packed."""
    picture = {"id": "77", "url": "media/dawn.png", "fileName": "dawn.png"}
    put(folder, "media/dawn.png", PICTURE)
    first = [message(number, f"word{number} of the night") for number in range(1, messages)]
    put(folder, "a.json", export(channel(1, "harbour"), *first, message(messages, "dawn", BERT, attachments=[picture])))
    put(folder, "b.json", export(channel(2, "kitchen"), message(5_001, "soup", BERT)))
    return packed(folder, folder.with_suffix(".zip")).read_bytes()


async def _upload(server: ServerProcess, content: bytes) -> httpx.Response:
    async with httpx.AsyncClient(base_url=server.world["base_url"], timeout=60) as client:
        return await client.post(
            "/imports",
            params={"filename": "harbour.zip"},
            content=content,
            headers={"Authorization": server.token_of("alice"), "Content-Type": "application/octet-stream"},
        )


async def _in_state(server: ServerProcess, import_id: str, states: Collection[str]) -> dict[str, Any]:
    while True:
        found: dict[str, Any] = (await server.alice.get(f"/v1/imports/{import_id}")).expect(200)
        if found["state"] in states:
            return found
        assert found["state"] not in OVER, found
        await trio.sleep(0.1)


async def _channels(server: ServerProcess, guild_id: str, names: list[str]) -> None:
    """Wait until the server, which hears of it from the process that did the work, has these text channels."""
    found: list[str] | None = None
    while found != names:
        answer = await server.alice.get(f"/v1/guilds/{guild_id}/channels")
        found = [one["name"] for one in answer.expect(200) if one["type"] == 0]
        await trio.sleep(0.05)


async def _no_file(data: Path) -> None:
    while any((data / "imports").iterdir()):  # noqa: ASYNC110 - nobody tells of it
        await trio.sleep(0.05)


async def test_a_community_is_looked_at_chosen_brought_and_taken_out_again(tmp_path: Path) -> None:
    data = tmp_path / "data"
    content = _exported(tmp_path / "export")
    async with running(data, **EVERYONE) as server:
        answer = await _upload(server, content)
        assert answer.status_code == 201, answer.text
        import_id = answer.json()["id"]
        assert (await _upload(server, content)).status_code == 409
        found = await _in_state(server, import_id, ["ready"])
        told = found["preview"]
        assert (told["source"], told["counts"]["messages"], told["counts"]["files"]) == ("discord", 31, 1)
        counts = [(one["name"], one["message_count"]) for one in told["channels"]]
        assert counts == [("harbour", 30), ("kitchen", 1)]
        assert [(one["name"], one["message_count"]) for one in told["people"]][1][1] == 2
        assert (await server.bob.get(f"/v1/imports/{import_id}")).status == 404
        wrong = await server.alice.post(f"/v1/imports/{import_id}/start", {"name": "Old", "channels": ["4"]})
        assert wrong.status == 400
        body = {"name": "Old harbour", "channels": [str(channel_id(1))]}
        started = (await server.alice.post(f"/v1/imports/{import_id}/start", body)).expect(200)
        assert (await server.alice.post(f"/v1/imports/{import_id}/start", body)).status == 409
        guild_id = started["guild_id"]
        found = await _in_state(server, import_id, ["completed"])
        assert found["progress"]["expected_messages"] == found["progress"]["counts"]["messages"] == 30
        guild = (await server.alice.get(f"/v1/guilds/{guild_id}")).expect(200)
        assert (guild["name"], guild["owner_id"]) == ("Old harbour", server.world["users"][0]["id"])
        await _channels(server, guild_id, ["harbour"])
        await _no_file(data)
        undone = f"/v1/imports/{import_id}/undo"
        (await server.alice.post(undone, {})).expect(200)
        await _in_state(server, import_id, ["undone"])
        await _channels(server, guild_id, [])
        assert (await server.alice.post(undone, {})).status == 409
        listed = (await server.alice.get("/v1/imports")).expect(200)
        assert (listed["allowed"], [one["state"] for one in listed["imports"]]) == (True, ["undone"])


async def test_a_community_that_was_deleted_is_brought_again(tmp_path: Path) -> None:
    content = _exported(tmp_path / "export")
    async with running(tmp_path / "data", **EVERYONE) as server:
        for _ in range(2):
            import_id = (await _upload(server, content)).json()["id"]
            preview = (await _in_state(server, import_id, ["ready"]))["preview"]
            assert (preview["counts"]["messages"], preview["obstacles"]) == (31, [])
            wish = {"name": "Old harbour", "channels": [str(channel_id(1))] * 3 + [str(channel_id(2))]}
            started = (await server.alice.post(f"/v1/imports/{import_id}/start", wish)).expect(200)
            found = await _in_state(server, import_id, ["completed"])
            assert found["progress"]["counts"]["messages"] == found["progress"]["expected_messages"] == 31
            # As long as it is here, nothing of it comes again, and the dry run says so.
            import_id = (await _upload(server, content)).json()["id"]
            preview = (await _in_state(server, import_id, ["ready"]))["preview"]
            taken = {one["kind"]: one["count"] for one in preview["obstacles"] if one["reason"] == "id is taken"}
            assert (preview["counts"]["messages"], taken) == (0, {"message": 31, "channel": 2})
            (await server.alice.post(f"/v1/imports/{import_id}/cancel", {})).expect(200)
            password = {"password": server.world["users"][0]["password"]}
            (await server.alice.post(f"/v1/guilds/{started['guild_id']}/delete", password)).expect(204)


async def test_what_is_no_export_is_refused_in_words_and_leaves_nothing(tmp_path: Path) -> None:
    data = tmp_path / "data"
    whole = _exported(tmp_path / "export")
    put(tmp_path / "other", "letter.txt", b"no export")
    async with running(data, CHAT_IMPORTS__MAX_BYTES="100000", **EVERYONE) as server:
        for content, trouble in (
            (whole[: len(whole) // 2], "not_readable"),
            (b"words", "not_readable"),
            (packed(tmp_path / "other", tmp_path / "other.zip").read_bytes(), "unknown_export"),
        ):
            import_id = (await _upload(server, content)).json()["id"]
            found = await _in_state(server, import_id, ["refused"])
            assert found["trouble"] == trouble
            await _no_file(data)
        assert (await _upload(server, b"0" * 100_001)).status_code == 413
        assert (await _upload(server, b"")).status_code == 400
        import_id = (await _upload(server, whole)).json()["id"]
        cancelled = (await server.alice.post(f"/v1/imports/{import_id}/cancel", {})).expect(200)
        assert cancelled["state"] == "cancelled"
        await _no_file(data)
        assert (await server.alice.post(f"/v1/imports/{import_id}/cancel", {})).status == 409
        assert list((data / "uploads" / "incoming").iterdir()) == []


async def test_administrators_alone_may_unless_the_operator_says_otherwise(tmp_path: Path) -> None:
    content = _exported(tmp_path / "export")
    async with running(tmp_path / "data") as server:
        assert (await _upload(server, content)).json()["code"] == "MISSING_PERMISSIONS"
        assert (await server.alice.get("/v1/imports")).expect(200)["allowed"] is False
        async with httpx.AsyncClient(base_url=server.world["base_url"]) as client:
            headers = {"Authorization": server.world["admin"]["token"]}
            assert (await client.get("/imports", headers=headers)).json()["allowed"] is True
    async with running(tmp_path / "other", CHAT_IMPORTS__FROM_BROWSER="off") as server:
        assert (await _upload(server, content)).json()["code"] == "FEATURE_TEMPORARILY_DISABLED"


@pytest.mark.long
async def test_a_killed_server_goes_on_with_the_import(tmp_path: Path) -> None:
    data = tmp_path / "data"
    content = _exported(tmp_path / "export", messages=3_000)
    async with running(data, **EVERYONE) as server:
        import_id = (await _upload(server, content)).json()["id"]
        await _in_state(server, import_id, ["ready"])
        (await server.alice.post(f"/v1/imports/{import_id}/start", {"name": "Old harbour"})).expect(200)
        await server.end(signal.SIGKILL)
    async with running(data, **EVERYONE) as server:
        found = await _in_state(server, import_id, ["completed"])
        assert found["progress"]["counts"]["messages"] == 3_001
        await _no_file(data)


@pytest.mark.parametrize("name", sorted(SERVICES))
def test_every_service_is_recognised(tmp_path: Path, name: str) -> None:
    found = recognised(open_export(SERVICES[name].write(tmp_path / "export", EXAMPLE)))
    assert found is not None
    assert found[0] == name
