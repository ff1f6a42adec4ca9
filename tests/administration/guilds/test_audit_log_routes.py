"""Reading the administrative audit log (wire facts 7.3; document 002).

Area: administration. Rules: 002.email, 002.summary-object.
"""

from __future__ import annotations

import re
from typing import Any

import pytest
import trio
from trio.testing import MockClock

from chat.testing.server import ChatServer
from chat.testing.world import World
from tests.administration.asking import Asking
from tests.administration.audit import audit_log

PATH = "/v1/admin/audit-logs"


@pytest.fixture
def ask(chat_server: ChatServer, chat_world: World) -> Asking:
    return Asking(chat_server, chat_world)


async def found(world: World, query: str = "") -> tuple[list[dict[str, Any]], int]:
    answer = (await world.admin.rest.get(f"{PATH}{query}")).expect(200)
    assert answer.keys() == {"logs", "total"}
    return answer["logs"], answer["total"]


@pytest.mark.rule("002.summary-object.3", "002.summary-object.2")
async def test_an_entry_with_what_it_speaks_of(ask: Asking, autojump_clock: MockClock) -> None:
    world = ask.world
    await ask.user("PATCH", "/username", {"username": "robert", "discriminator": "7"}, reason="asked for")
    [entry], total = await found(world)
    assert total == 1
    assert entry["admin_user"].keys() == {"id", "username", "discriminator", "global_name"}
    assert entry["target_user"] == {
        "id": world.bob.id,
        "username": "robert",
        "discriminator": "0007",
        "global_name": "Bob",
    }
    assert (entry["action"], entry["target_type"], entry["target_id"]) == ("change_username", "user", world.bob.id)
    assert (entry["admin_user_id"], entry["admin_user"]["username"]) == (world.admin.id, "admin")
    assert entry["audit_log_reason"] == "asked for"
    assert entry["metadata"]["new_username"] == "robert"
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}\+00:00", entry["created_at"])
    assert (entry["target_guild"], entry["target_channel"]) == (None, None)
    assert (await world.admin.rest.get(f"{PATH}/{entry['log_id']}")).expect(200) == entry
    assert (await world.admin.rest.get(f"{PATH}/77")).expect(404)["code"] == "NOT_FOUND"
    assert len(audit_log(ask.server)) == 1  # reading it leaves nothing in it


async def test_what_the_metadata_names_is_told(ask: Asking, autojump_clock: MockClock) -> None:
    world = ask.world
    (await ask("GET", f"/guilds?after={world.guild_id}")).expect(200)
    body = {"user_id": world.bob.id, "target_user_id": world.alice.id, "type": 1}
    (await world.anyone.post("/v1/_dev/relationships", body)).expect(204)
    (await ask("DELETE", f"/relationships/{world.alice.id}?category=friend")).expect(204)
    (await ask("GET", "/dm-channels?after=77")).expect(200)
    (channels, removal, guilds), _ = await found(world)
    assert channels["related_channels"] == {"77": None}
    assert removal["related_users"][world.alice.id]["username"] == "alice"
    assert guilds["related_guilds"][world.guild_id]["id"] == world.guild_id


async def test_entries_by_words_target_and_administrator(ask: Asking, autojump_clock: MockClock) -> None:
    world = ask.world
    await ask.set(acls=["*"])
    await ask.user("PUT", "/traits", {"traits": ["gardener"]}, reason="Likes roses")
    await trio.sleep(1)
    carol = Asking(ask.server, world, world.carol.id)
    await carol.user("PUT", "/traits", {"traits": ["sailor"]})
    await trio.sleep(1)
    (await world.bob.rest.put(f"/v1/admin/users/{world.carol.id}/traits", {"traits": ["cook"]})).expect(200)

    async def told(query: str) -> list[str]:
        logs, total = await found(world, query)
        assert total == len(logs)
        return [entry["metadata"]["traits"] for entry in logs]

    assert await told("") == ["cook", "sailor", "gardener"]
    assert await told("?sort_order=asc") == ["gardener", "sailor", "cook"]
    assert await told("?q=roses") == ["gardener"]
    assert await told("?q=set_traits%20sail") == ["sailor"]
    assert await told("?q=set_traits&sort_by=relevance") != []
    assert await told("?q=nothing") == []
    assert await told("?q=%22*%20OR") == []
    assert await told(f"?admin_user_id={world.bob.id}") == ["cook"]
    assert await told(f"?target_type=user&target_id={world.carol.id}") == ["cook", "sailor"]
    assert await told(f"?target_type=guild&target_id={world.carol.id}") == []
    page, total = await found(world, "?limit=1&offset=1")
    assert ([entry["metadata"]["traits"] for entry in page], total) == (["sailor"], 3)
    for wrong in ("?limit=0", "?limit=201", "?target_type=planet", "?sort_by=name", "?offset=-1", "?admin_user_id=x"):
        assert (await world.admin.rest.get(f"{PATH}{wrong}")).expect(400)["code"] == "INVALID_FORM_BODY"


@pytest.mark.rule("002.email.15")
async def test_addresses_in_the_log_are_never_redacted(ask: Asking, autojump_clock: MockClock) -> None:
    world = ask.world
    await ask.user("PATCH", "/email", {"email": "new@example.com"})
    carol = Asking(ask.server, world, world.carol.id)
    await carol.set(acls=["admin:authenticate"])
    assert (await world.carol.rest.get(PATH)).expect(403)["code"] == "MISSING_ACL"
    await carol.set(acls=["admin:authenticate", "audit_log:view"])
    [entry] = (await world.carol.rest.get(PATH)).expect(200)["logs"]
    assert entry["metadata"] == {"old_email": "bob@example.com", "new_email": "new@example.com"}
