"""The archive of one's own account: ordered once a day, fetched in sudo mode, whole, replaced by the next, gone with
the account (accounts.md, One's own archive)."""

from __future__ import annotations

import io
import json
import zipfile
from pathlib import Path
from typing import Any, Final

import pytest
import trio
from trio.testing import MockClock

from chat.testing.server import ChatServer
from chat.testing.world import World
from tests.webhooks.surfaces import fetch, form, post_form

pytestmark = pytest.mark.chat_settings(**{"archives.spare_bytes": 0})

PATH: Final = "/v1/users/@me/harvest"
DAY: Final = 86_400
KEPT: Final = 14 * DAY
"""Seconds."""

SWEEP: Final = 600


async def whole(person: Any) -> dict[str, Any]:
    """The archive once it is complete."""
    while True:
        found: dict[str, Any] = (await person.rest.get(PATH)).expect(200)["harvest"]
        if found["completed_at"] is not None:
            return found
        await trio.sleep(0.05)


async def order(person: Any, **members: Any) -> Any:
    return await person.rest.post(PATH, {"password": person.password, **members})


async def download(person: Any) -> zipfile.ZipFile:
    """The file, by the address that is given for it."""
    answer = (await person.rest.post(f"{PATH}/download", {"password": person.password})).expect(200)
    fetched = await fetch(person.rest.signed_in(None), answer["download_url"])
    assert fetched.status == 200
    return zipfile.ZipFile(io.BytesIO(fetched.body))


async def test_everything_that_is_held_of_me(chat_world: World, autojump_clock: MockClock) -> None:
    bob = chat_world.bob
    await bob.rest.send_message(chat_world.channel_id, "mine")
    await chat_world.alice.rest.send_message(chat_world.channel_id, "hers")
    await post_form(
        bob.rest, f"/v1/channels/{chat_world.channel_id}/messages", form([("files[0]", "a.txt", b"A")], b"{}")
    )
    assert (await bob.rest.get(PATH)).expect(200) == {"harvest": None}
    ordered = (await order(bob)).expect(200)
    assert (ordered["completed_at"], ordered["include_attachments"]) == (None, False)
    done = await whole(bob)
    assert done["id"] == ordered["id"]
    assert done["progress_percent"] == 100
    found = await download(bob)
    account = json.loads(found.read("account/account.json"))
    assert account["email"] == bob.email
    assert len(json.loads(found.read("account/sessions.json"))) == 1
    written = b"".join(found.read(name) for name in found.namelist() if name.startswith("messages/"))
    assert b"mine" in written
    assert b"hers" not in written
    assert not any(name.startswith("attachments/") for name in found.namelist())


async def test_with_files_and_once_a_day(chat_world: World, autojump_clock: MockClock, tmp_path: Path) -> None:
    bob = chat_world.bob
    await post_form(
        bob.rest, f"/v1/channels/{chat_world.channel_id}/messages", form([("files[0]", "a.txt", b"A")], b"{}")
    )
    first = (await order(bob, include_attachments=True)).expect(200)
    again = await order(bob)
    assert (again.status, again.code) == (429, "RATE_LIMITED")
    assert DAY - 60 < again.json()["retry_after"] <= DAY
    await whole(bob)
    assert [name for name in (await download(bob)).namelist() if name.startswith("attachments/")]
    await trio.sleep(DAY)
    second = (await order(bob)).expect(200)
    assert second["id"] != first["id"]
    await whole(bob)
    await trio.sleep(SWEEP)
    kept = list((tmp_path / "archives").iterdir())
    assert len(kept) == 1, "the second took the place of the first"
    await trio.sleep(KEPT)
    over = await bob.rest.post(f"{PATH}/download", {"password": bob.password})
    assert (over.status, over.code) == (400, "HARVEST_EXPIRED")


async def test_it_takes_a_proof(chat_world: World, autojump_clock: MockClock) -> None:
    bob = chat_world.bob
    for path in (PATH, f"{PATH}/download"):
        refused = await bob.rest.post(path, {})
        assert (refused.status, refused.code) == (403, "SUDO_MODE_REQUIRED")
    none = await bob.rest.post(f"{PATH}/download", {"password": bob.password})
    assert (none.status, none.code) == (404, "UNKNOWN_HARVEST")
    (await order(bob)).expect(200)
    early = await bob.rest.post(f"{PATH}/download", {"password": bob.password})
    assert (early.status, early.code) == (400, "HARVEST_NOT_READY")


async def test_others_have_nothing_of_it(chat_world: World, autojump_clock: MockClock) -> None:
    """Nor an administrator who may not see all of an account."""
    bob, carol = chat_world.bob, chat_world.carol
    made = (await order(bob)).expect(200)
    await whole(bob)
    assert (await carol.rest.get(PATH)).expect(200) == {"harvest": None}
    acls = ["admin:authenticate", "archive:view_all", "user:view:ip", "user:view:email"]
    admin = chat_world.admin.rest
    (await admin.request("PUT", f"/v1/admin/users/{carol.id}/acls", json={"acls": acls})).expect(200)
    place = f"/v1/admin/archives/user/{bob.id}/{made['id']}"
    assert (await carol.rest.get(place)).expect(200)["archive"]["requested_by"] == bob.id
    refused = await carol.rest.get(f"{place}/download")
    assert (refused.status, refused.code) == (404, "UNKNOWN_HARVEST")
    assert (await admin.get(f"{place}/download")).status == 200


async def test_it_goes_with_the_account(
    chat_world: World, autojump_clock: MockClock, chat_server: ChatServer, tmp_path: Path
) -> None:
    bob, reader = chat_world.bob, chat_server.database.reader
    (await order(bob)).expect(200)
    await whole(bob)
    assert reader.execute("SELECT count(*) FROM archives").fetchone() == (1,)
    (await bob.rest.post("/v1/users/@me/delete", {"password": bob.password})).expect(204)
    await trio.sleep(30 * DAY)
    assert reader.execute("SELECT count(*) FROM archives").fetchone() == (0,)
    assert list((tmp_path / "archives").iterdir()) == []
