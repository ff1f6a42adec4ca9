"""Overwrites in templates of guilds, over HTTP (document 001, Template role overwrite).

Area: guilds. Rules: 001.overwrite.
"""

from __future__ import annotations

from typing import Any

import pytest

from chat.registries.permissions import ALL_DEFINED, Permission
from chat.testing.rest_client import Response
from chat.testing.world import World

VIEW, SEND = Permission.VIEW_CHANNEL.value, Permission.SEND_MESSAGES.value
UNDEFINED = 1 << 62


async def create(world: World, *entries: dict[str, Any]) -> Response:
    """A guild of one role, `Crew` with the id 7, and one text channel with these overwrites."""
    channel = {"id": 1, "type": 0, "name": "deck", "position": 0, "permission_overwrites": list(entries)}
    roles = [{"id": 0, "name": "@everyone"}, {"id": "7", "name": "Crew"}]
    return await world.alice.rest.create_guild("Ship", template={"name": "x", "roles": roles, "channels": [channel]})


async def made(world: World, *entries: dict[str, Any]) -> list[tuple[str, int, int]]:
    """The overwrites that became of them: the role's name, what it is allowed and denied."""
    guild_id = (await create(world, *entries)).expect(200)["id"]
    guild = (await world.alice.rest.get(f"/v1/guilds/{guild_id}")).expect(200)
    names = {role["id"]: role["name"] for role in guild["roles"]}
    [channel] = guild["channels"]
    assert all(entry["type"] == 0 for entry in channel["permission_overwrites"])
    return [(names[entry["id"]], int(entry["allow"]), int(entry["deny"])) for entry in channel["permission_overwrites"]]


@pytest.mark.rule("001.overwrite.1", "001.overwrite.2", "001.overwrite.4")
@pytest.mark.parametrize("role_id", [7, "7"])
@pytest.mark.parametrize("kind", [0, "0", "role"])
async def test_forms_of_ids_and_types(chat_world: World, role_id: object, kind: object) -> None:
    entry = {"id": role_id, "type": kind, "allow": str(VIEW), "deny": SEND}
    assert await made(chat_world, entry) == [("Crew", VIEW, SEND)]
    of_everyone = {**entry, "id": 0 if role_id == 7 else "0"}
    assert await made(chat_world, of_everyone) == [("@everyone", VIEW, SEND)]


@pytest.mark.rule("001.overwrite.3", "001.overwrite.4")
@pytest.mark.parametrize("kind", ["member", 1, "1", "2", 9])
async def test_entries_of_other_types_are_skipped(chat_world: World, kind: object) -> None:
    entry = {"id": 7, "type": kind, "allow": str(VIEW), "deny": "0"}
    assert await made(chat_world, entry) == []
    assert await made(chat_world, entry, {**entry, "type": "role"}) == [("Crew", VIEW, 0)]
    assert await made(chat_world, {**entry, "type": "role", "id": 8}) == [], "no role of the template"


@pytest.mark.rule("001.overwrite.5")
@pytest.mark.parametrize("form", [int, str])
async def test_undefined_bits_are_dropped(chat_world: World, form: type) -> None:
    entry = {"id": 7, "type": 0, "allow": form(UNDEFINED | VIEW), "deny": form(UNDEFINED | SEND)}
    assert await made(chat_world, entry) == [("Crew", VIEW, SEND)]
    everything = {"id": 7, "type": 0, "allow": form(0), "deny": form((1 << 63) - 1)}
    assert await made(chat_world, everything) == [("Crew", 0, ALL_DEFINED)]


@pytest.mark.rule("001.overwrite.6")
@pytest.mark.parametrize("mask", ["allow", "deny"])
@pytest.mark.parametrize("value", ["junk", "1.5", "-1", -1, "0x8"])
async def test_masks_that_are_no_integers(chat_world: World, mask: str, value: object) -> None:
    entry = {"id": 7, "type": 0, "allow": "0", "deny": "0", mask: value}
    before = (await chat_world.alice.rest.get("/v1/users/@me/guilds")).expect(200)
    refused = await create(chat_world, entry)
    assert (refused.status, refused.code) == (400, "GUILD_TEMPLATE_INVALID")
    assert (await chat_world.alice.rest.get("/v1/users/@me/guilds")).expect(200) == before
