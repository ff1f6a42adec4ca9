"""The archive of the own account by its id, as programs of this family ask for it (compat.md, Addresses of this
family)."""

from __future__ import annotations

import io
import zipfile
from typing import Final

import pytest
import trio
from trio.testing import MockClock

from chat.testing.http_client import HttpClient
from chat.testing.world import World
from tests.accounts.test_own_archive import order, whole
from tests.compat.test_fluxer_addresses import off
from tests.webhooks.surfaces import fetch

PATH: Final = "/api/v1/users/@me/harvest"
DAY: Final = 86_400
KEPT: Final = 14 * DAY

pytestmark = pytest.mark.chat_settings(**{"archives.spare_bytes": 0})


async def test_an_archive_by_its_id(chat_world: World, autojump_clock: MockClock) -> None:
    bob, carol = chat_world.bob, chat_world.carol
    latest = await bob.rest.get(f"{PATH}/latest")
    assert (latest.status, latest.body) == (200, b"null")
    made = (await order(bob)).expect(200)
    assert (made["harvest_id"], made["created_at"], made["status"]) == (made["id"], made["requested_at"], "pending")
    place = f"{PATH}/{made['harvest_id']}"
    early = await bob.rest.get(f"{place}/download")
    assert (early.status, early.code) == (400, "HARVEST_NOT_READY")
    await whole(bob)
    done = (await bob.rest.get(f"{PATH}/latest")).expect(200)
    assert done == (await bob.rest.get(place)).expect(200)
    assert (done["harvest_id"], done["status"], done["progress_percent"]) == (made["id"], "completed", 100)
    assert (done["failed_at"], done["error_message"], done["download_url_expires_at"]) == (None, None, None)
    assert int(done["file_size"]) > 0
    # Nobody else has anything of it, and what there is not is not there.
    for rest, path in (
        (carol.rest, place),
        (carol.rest, f"{place}/download"),
        (bob.rest, f"{PATH}/77"),
        (bob.rest, f"{PATH}/77/download"),
    ):
        answer = await rest.get(path)
        assert (answer.status, answer.code) == (404, "UNKNOWN_HARVEST")
    refused = await chat_world.bot.rest.get(place)
    assert refused.status == 403


async def test_it_is_downloaded_with_a_proof_or_after_a_fresh_sign_in(
    chat_world: World, autojump_clock: MockClock
) -> None:
    bob = chat_world.bob
    made = (await order(bob)).expect(200)
    await whole(bob)
    path = f"{PATH}/{made['id']}/download"
    await trio.sleep(DAY / 24)
    refused = await bob.rest.get(path)
    assert (refused.status, refused.code) == (403, "SUDO_MODE_REQUIRED")
    wrong = await bob.rest.request("GET", path, json={"password": "wrong password"})
    assert (wrong.status, wrong.code) == (400, "INVALID_FORM_BODY")
    answers = [(await bob.rest.request("GET", path, json={"password": bob.password})).expect(200)]
    signed_in = await chat_world.anyone.post("/v1/auth/login", {"email": bob.email, "password": bob.password})
    again = bob.rest.signed_in(signed_in.expect(200)["token"])
    answers.append((await again.get(path)).expect(200))
    for answer in answers:
        assert set(answer) == {"download_url", "expires_at"}
        fetched = await fetch(bob.rest.signed_in(None), answer["download_url"])
        assert "account/account.json" in zipfile.ZipFile(io.BytesIO(fetched.body)).namelist()
    assert (await bob.rest.get(f"{PATH}/{made['id']}")).expect(200)["download_url_expires_at"] is not None
    await trio.sleep(KEPT)
    over = await bob.rest.get(path)
    assert (over.status, over.code) == (400, "HARVEST_EXPIRED")


@off
async def test_only_where_the_family_is_spoken_to(chat_world: World) -> None:
    token = chat_world.bob.rest
    for path in ("/v1/users/@me/harvest/latest", "/v1/users/@me/harvest/5", "/v1/users/@me/harvest/5/download"):
        assert (await token.get(path)).status == 404
    assert (await HttpClient(chat_world.route).get(f"{PATH}/latest")).status == 404
