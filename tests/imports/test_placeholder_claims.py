"""Members claim people of an import: what was theirs in the old place is theirs here, and can be given back exactly."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import trio

from chat.domain.guilds import claims as claiming
from chat.imports.discord import DiscordExport
from chat.imports.export_files import open_export
from chat.imports.wishes import ReadingWish
from chat.registries.audit_actions import AuditAction
from chat.registries.imports import PROVING_ISSUERS, ImportSource, ImportState
from chat.registries.permissions import Permission
from chat.store import errands, whole_database
from chat.store.imports import claims
from chat.testing.rest_client import Response
from chat.testing.server import ChatServer
from chat.testing.world import World
from tests.imports.discord_world import ANNA, BERT, channel, channel_id, export, message, moment, person, put

THUMB = {"emoji": {"id": "", "name": "\N{THUMBS UP SIGN}"}, "count": 1}
BOT = person(3_000, "robot", isBot=True)
HARBOUR = channel_id(1)
TABLES = ("messages", "message_mentions", "message_reactions", "message_reaction_users", "placeholders", "attachments")


pytestmark = pytest.mark.usefixtures("autojump_clock")


@pytest.fixture(autouse=True)
def small_portions(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(claiming, "AT_ONCE", 2)


async def bring(server: ChatServer, world: World, folder: Path, *messages: dict[str, Any]) -> int:
    """Import a channel of these messages into the guild, while the server runs; the id of the import."""
    folder = folder / "export"
    put(folder, "a.json", export(channel(1, "harbour"), *messages))
    imports = server.server.areas.imports.imports
    files = open_export(folder)
    made = await imports.begin(int(world.guild_id), ImportSource.DISCORD, str(folder), {})
    records = DiscordExport.open(files).read(ReadingWish(), server.clock.now_ms())
    over = await imports.carry_out(made, files, records, lambda _: None, with_files=False)
    assert over.state is ImportState.COMPLETED
    files.close()
    server.server.core.errands.look_again()  # a server that another process writes beside does so by itself
    return made.id


def years() -> list[dict[str, Any]]:
    """Anna writes, is named, is answered, reacts; some of it together with others."""
    anna = ANNA["id"]
    return [
        message(1, "I was here", isPinned=True),
        message(
            2, f"so was I, <@{anna}> and `<@{anna}>`", BERT, mentions=[ANNA], reactions=[THUMB | {"users": [ANNA]}]
        ),
        message(3, "and a third time", reactions=[THUMB | {"users": [BERT]}]),
        message(4, "yes", BERT, type="Reply", reference={"messageId": str(moment(1)), "channelId": str(HARBOUR)}),
        message(5, f"hello <@!{anna}>", BOT, mentions=[ANNA], reactions=[THUMB | {"users": [ANNA, BERT]}]),
        message(6, "last words"),
    ]


def rows(server: ChatServer) -> dict[str, list[tuple[Any, ...]]]:
    """What a claim may touch, without moments of claims."""
    reader: sqlite3.Connection = server.database.reader
    return {table: sorted(reader.execute(f"SELECT * FROM {table}"), key=repr) for table in TABLES}  # noqa: S608


def way(world: World, person_: dict[str, Any] = ANNA) -> str:
    return f"/v1/guilds/{world.guild_id}/placeholders/{person_['id']}"


async def settled(server: ChatServer) -> None:
    """Returns once no errand is left; the runner looks by itself each five minutes."""
    for _ in range(100):
        if not errands.ids(server.database.reader):
            return
        await trio.sleep(1)
    raise AssertionError("an errand is never done")


def refused(answer: Response, status: int, code: str) -> None:
    assert answer.expect(status)["code"] == code


async def listed(world: World) -> dict[int, dict[str, Any]]:
    answer: list[dict[str, Any]] = (await world.bob.rest.get(f"/v1/channels/{HARBOUR}/messages")).expect(200)
    return {int(one["id"]): one for one in answer}


async def found_by(world: World, author_id: str) -> set[int]:
    search = {"author_id": [author_id], "context_guild_id": world.guild_id, "channel_ids": [str(HARBOUR)]}
    found = (await world.bob.rest.post("/v1/search/messages", search)).expect(200)
    return {int(one["id"]) for one in found["messages"]}


async def test_asked_for_and_confirmed_it_is_all_the_members_and_goes_back_exactly(
    chat_server: ChatServer, chat_world: World, tmp_path: Path
) -> None:
    world = chat_world
    await bring(chat_server, world, tmp_path, *years())
    before = rows(chat_server)
    anna, bob, alice = ANNA["id"], world.bob.id, world.alice.rest
    refused(await world.bob.rest.get(f"/v1/guilds/{world.guild_id}/placeholders"), 403, "MISSING_PERMISSIONS")
    people = (await alice.get(f"/v1/guilds/{world.guild_id}/placeholders")).expect(200)
    assert [(one["user"]["username"], one["message_count"]) for one in people] == [("anna", 3), ("bert", 2)]

    asked = (await world.bob.rest.post(f"{way(world)}/claim", {})).expect(200)
    assert [one["user"]["id"] for one in asked["requests"]] == [bob]
    assert (asked["claimed_by"], asked["message_count"]) == (None, None)
    assert rows(chat_server) == before
    carols = (await world.carol.rest.get(way(world))).expect(200)
    assert carols["requests"] == []
    refused(await world.carol.rest.post(f"{way(world)}/claim", {"user_id": bob}), 403, "MISSING_PERMISSIONS")
    refused(await alice.post(f"{way(world)}/claim", {"user_id": world.carol.id}), 404, "UNKNOWN_USER")

    bobs = await world.bob.connect()
    claimed = (await alice.post(f"{way(world)}/claim", {"user_id": bob})).expect(200)
    assert (claimed["claimed_by"]["id"], claimed["requests"], claimed["message_count"]) == (bob, [], 0)
    assert (await bobs.expect("GUILD_CREATE")).data["id"] == world.guild_id
    own_profile = f"/v1/users/{bob}/profile?guild_id={world.guild_id}"
    profile = (await world.bob.rest.get(own_profile)).expect(200)
    assert [one["id"] for one in profile["old_names"]] == [anna]
    assert "old_names" not in (await alice.get(own_profile)).expect(200)
    shown = await listed(world)
    assert {number for number in range(1, 7) if shown[moment(number)]["author"]["id"] == bob} == {1, 3, 6}
    assert shown[moment(1)]["pinned"] is True
    assert shown[moment(2)]["content"] == f"so was I, <@{bob}> and `<@{anna}>`"
    assert [one["id"] for one in shown[moment(2)]["mentions"]] == [bob]
    assert shown[moment(5)]["content"] == f"hello <@{bob}>"
    assert shown[moment(4)]["referenced_message"]["author"]["id"] == bob
    assert [shown[moment(number)]["reactions"][0]["me"] for number in (2, 5)] == [True, True]
    assert await found_by(world, bob) == {moment(1), moment(3), moment(6)}
    assert await found_by(world, anna) == set()
    refused(await world.carol.rest.post(f"{way(world)}/claim", {}), 409, "CONFLICT")

    own = (await world.bob.rest.send_message(str(HARBOUR), "I stay bob's")).expect(200)["id"]
    (await alice.delete(f"{way(world)}/claim?user_id={bob}")).expect(204)
    assert (await listed(world))[int(own)]["author"]["id"] == bob
    (await world.bob.rest.delete(f"/v1/channels/{HARBOUR}/messages/{own}")).expect(204)
    assert rows(chat_server) == before
    assert await found_by(world, anna) == {moment(1), moment(3), moment(6)}
    assert "old_names" not in (await world.bob.rest.get(own_profile)).expect(200)
    log = (await alice.get(f"/v1/guilds/{world.guild_id}/audit-logs")).expect(200)["audit_log_entries"]
    told = [(one["action_type"], one["target_id"], one["options"]["placeholder_id"]) for one in log[:2]]
    assert told == [(AuditAction.PLACEHOLDER_RELEASE, bob, anna), (AuditAction.PLACEHOLDER_CLAIM, bob, anna)]


async def test_what_the_member_has_edited_stays_the_members(
    chat_server: ChatServer, chat_world: World, tmp_path: Path
) -> None:
    """Else the old person would have said what the member wrote; claimed a second time it would go back by itself."""
    world = chat_world
    old = message(2, "mended there", timestampEdited="2020-05-04T03:02:01+00:00")
    await bring(chat_server, world, tmp_path, message(1, "I was here"), old, message(3, "so was I"))
    for _ in range(2):
        (await world.bob.rest.post(f"{way(world)}/claim", {})).expect(200)
        (await world.alice.rest.post(f"{way(world)}/claim", {"user_id": world.bob.id})).expect(200)
        forged = {"content": "I was never here"}
        changed = await world.bob.rest.patch(f"/v1/channels/{HARBOUR}/messages/{moment(1)}", forged)
        assert changed.expect(200)["content"] == "I was never here"
        (await world.bob.rest.delete(f"{way(world)}/claim")).expect(204)
        authors = {number: one["author"]["id"] for number, one in (await listed(world)).items()}
        assert authors == {moment(1): world.bob.id, moment(2): ANNA["id"], moment(3): ANNA["id"]}


async def test_who_has_left_gives_back_their_own_claim_and_no_more(
    chat_server: ChatServer, chat_world: World, tmp_path: Path
) -> None:
    world = chat_world
    await bring(chat_server, world, tmp_path, *years())
    (await world.bob.rest.post(f"{way(world)}/claim", {})).expect(200)
    (await world.alice.rest.post(f"{way(world)}/claim", {"user_id": world.bob.id})).expect(200)
    (await world.bob.rest.delete(f"/v1/users/@me/guilds/{world.guild_id}")).expect(204)
    refused(await world.bob.rest.delete(f"{way(world, BERT)}/claim"), 403, "MISSING_PERMISSIONS")
    refused(await world.bob.rest.delete(f"{way(world)}/claim?user_id={world.carol.id}"), 403, "MISSING_PERMISSIONS")
    (await world.bob.rest.delete(f"{way(world)}/claim")).expect(204)
    assert (await world.alice.rest.get(way(world))).expect(200)["claimed_by"] is None
    shown = await world.alice.rest.get(f"/v1/channels/{HARBOUR}/messages/{moment(1)}")
    assert shown.expect(200)["author"]["id"] == ANNA["id"]
    refused(await world.bob.rest.delete(f"{way(world)}/claim"), 403, "MISSING_PERMISSIONS")


async def test_who_reacted_and_was_named_beside_the_old_self_keeps_both(
    chat_server: ChatServer, chat_world: World, tmp_path: Path
) -> None:
    """One message has one mention of an account, and an emoji one reaction: the member's own row stays."""
    world = chat_world
    await bring(chat_server, world, tmp_path, *years())
    thumb = "%F0%9F%91%8D"
    (await world.bob.rest.put(f"/v1/channels/{HARBOUR}/messages/{moment(2)}/reactions/{thumb}/@me")).expect(204)
    both = f"<@{world.bob.id}> was <@{ANNA['id']}>"
    sent = (await world.alice.rest.send_message(str(HARBOUR), both)).expect(200)["id"]
    before = rows(chat_server)
    (await world.bob.rest.post(f"{way(world)}/claim", {})).expect(200)
    (await world.alice.rest.post(f"{way(world)}/claim", {"user_id": world.bob.id})).expect(200)
    shown = await listed(world)
    assert (shown[moment(2)]["reactions"][0]["count"], shown[int(sent)]["content"]) == (2, both)
    (await world.bob.rest.delete(f"{way(world)}/claim")).expect(204)
    assert rows(chat_server) == before
    assert list(whole_database.wrong_counts(chat_server.database.reader)) == []


async def test_a_new_member_becomes_the_person_whom_the_invite_names(
    chat_server: ChatServer, chat_world: World, tmp_path: Path
) -> None:
    world = chat_world
    await bring(chat_server, world, tmp_path, *years())
    wish = {"placeholder_id": ANNA["id"]}
    invites = f"/v1/channels/{world.channel_id}/invites"
    refused(await world.bob.rest.post(invites, wish), 403, "MISSING_PERMISSIONS")
    refused(await world.alice.rest.post(invites, {"placeholder_id": BOT["id"]}), 404, "UNKNOWN_USER")
    made = (await world.alice.rest.post(invites, wish)).expect(200)
    spare = (await world.alice.rest.post(invites, wish)).expect(200)
    assert (made["max_uses"], made["code"] != spare["code"]) == (1, True)
    assert (await world.bob.rest.get(f"/v1/invites/{made['code']}")).expect(200)["placeholder"]["username"] == "anna"
    (await world.bob.rest.delete(f"/v1/users/@me/guilds/{world.guild_id}")).expect(204)
    (await world.bob.rest.post(f"/v1/invites/{made['code']}")).expect(200)
    await settled(chat_server)
    assert (await listed(world))[moment(1)]["author"]["id"] == world.bob.id
    for code in (made["code"], spare["code"]):
        refused(await world.carol.rest.post(f"/v1/invites/{code}"), 404, "UNKNOWN_INVITE")


async def test_a_member_may_take_such_an_invite_too(chat_server: ChatServer, chat_world: World, tmp_path: Path) -> None:
    world = chat_world
    await bring(chat_server, world, tmp_path, *years())
    made = await world.alice.rest.post(f"/v1/channels/{world.channel_id}/invites", {"placeholder_id": BERT["id"]})
    (await world.bob.rest.post(f"/v1/invites/{made.expect(200)['code']}")).expect(200)
    await settled(chat_server)
    assert (await listed(world))[moment(2)]["author"]["id"] == world.bob.id


async def test_only_who_manages_the_community_learns_such_a_code(
    chat_server: ChatServer, chat_world: World, tmp_path: Path
) -> None:
    world = chat_world
    await bring(chat_server, world, tmp_path, *years())
    guild = f"/v1/guilds/{world.guild_id}"
    rights = Permission.MANAGE_CHANNELS | Permission.VIEW_AUDIT_LOG
    role = (await world.alice.rest.post(f"{guild}/roles", {"name": "keys", "permissions": str(rights)})).expect(200)
    (await world.alice.rest.put(f"{guild}/members/{world.bob.id}/roles/{role['id']}")).expect(204)
    alices, bobs = await world.alice.connect(), await world.bob.connect()
    invites = f"/v1/channels/{world.channel_id}/invites"
    made = (await world.alice.rest.post(invites, {"placeholder_id": ANNA["id"]})).expect(200)
    plain = (await world.alice.rest.post(invites, {"unique": True})).expect(200)
    assert (await alices.expect("INVITE_CREATE")).data["code"] == made["code"]
    assert (await bobs.expect("INVITE_CREATE")).data["code"] == plain["code"]
    for actor, codes in ((world.alice, {made["code"], plain["code"]}), (world.bob, {plain["code"]})):
        assert {one["code"] for one in (await actor.rest.get(invites)).expect(200)} == codes
    log = (await world.bob.rest.get(f"{guild}/audit-logs?action_type={AuditAction.INVITE_CREATE}")).expect(200)
    changes = [entry.get("changes", []) for entry in log["audit_log_entries"]]
    assert changes == [[{"key": "code", "new_value": plain["code"]}], []]
    (await world.alice.rest.delete(f"/v1/invites/{made['code']}")).expect(204)
    (await world.alice.rest.delete(f"/v1/invites/{plain['code']}")).expect(204)
    assert (await alices.expect("INVITE_DELETE")).data["code"] == made["code"]
    assert (await bobs.expect("INVITE_DELETE")).data["code"] == plain["code"]
    log = (await world.bob.rest.get(f"{guild}/audit-logs?action_type={AuditAction.INVITE_DELETE}")).expect(200)
    changes = [entry.get("changes", []) for entry in log["audit_log_entries"]]
    assert changes == [[{"key": "code", "old_value": plain["code"]}], []]


async def test_such_an_invite_ends_with_the_rights_of_who_made_it(
    chat_server: ChatServer, chat_world: World, tmp_path: Path
) -> None:
    world = chat_world
    await bring(chat_server, world, tmp_path, *years())
    guild = f"/v1/guilds/{world.guild_id}"
    rights = {"permissions": str(Permission.MANAGE_GUILD | Permission.CREATE_INSTANT_INVITE)}
    role = (await world.alice.rest.post(f"{guild}/roles", {"name": "keys", **rights})).expect(200)
    worn = f"{guild}/members/{world.bob.id}/roles/{role['id']}"
    (await world.alice.rest.put(worn)).expect(204)
    wish = {"placeholder_id": ANNA["id"]}
    invite = (await world.bob.rest.post(f"/v1/channels/{world.channel_id}/invites", wish)).expect(200)
    way_in = f"/v1/invites/{invite['code']}"
    (await world.carol.rest.get(way_in)).expect(200)
    (await world.alice.rest.delete(worn)).expect(204)
    for answer in (await world.carol.rest.get(way_in), await world.carol.rest.post(way_in)):
        refused(answer, 404, "UNKNOWN_INVITE")
    (await world.alice.rest.put(worn)).expect(204)
    (await world.carol.rest.get(way_in)).expect(200)
    (await world.alice.rest.put(f"{guild}/bans/{world.bob.id}", {})).expect(204)
    for answer in (await world.carol.rest.get(way_in), await world.carol.rest.post(way_in)):
        refused(answer, 404, "UNKNOWN_INVITE")


@pytest.mark.chat_settings(**{"sso.enabled": True, "sso.issuer": "https://discord.com", "sso.client_id": "chat"})
async def test_a_sign_in_with_the_old_service_is_proof(
    chat_server: ChatServer, chat_world: World, tmp_path: Path
) -> None:
    world = chat_world
    await bring(chat_server, world, tmp_path, *years())
    values = "INSERT INTO sso_identities VALUES (?, ?, ?, 1)", (PROVING_ISSUERS[ImportSource.DISCORD], ANNA["id"])
    await chat_server.database.write(
        lambda connection: connection.execute(values[0], (*values[1], world.bob.id)).rowcount
    )
    asked = (await world.bob.rest.post(f"{way(world, BERT)}/claim", {})).expect(200)
    assert asked["claimed_by"] is None  # another person's id is not proven
    claimed = (await world.bob.rest.post(f"{way(world)}/claim", {})).expect(200)
    assert claimed["claimed_by"]["id"] == world.bob.id


async def test_a_newer_export_brings_more_of_who_was_claimed(
    chat_server: ChatServer, chat_world: World, tmp_path: Path
) -> None:
    world = chat_world
    await bring(chat_server, world, tmp_path / "one", *years())
    (await world.alice.rest.post(f"{way(world)}/claim", {})).expect(200)
    more = message(7, f"later, <@{ANNA['id']}>", mentions=[ANNA])
    await bring(chat_server, world, tmp_path / "two", *years(), more)
    await settled(chat_server)
    late = (await listed(world))[moment(7)]
    assert (late["author"]["id"], late["content"]) == (world.alice.id, f"later, <@{world.alice.id}>")
    (await world.alice.rest.delete(f"{way(world)}/claim")).expect(204)
    late = (await listed(world))[moment(7)]
    assert (late["author"]["id"], late["content"]) == (ANNA["id"], f"later, <@{ANNA['id']}>")


async def test_undoing_the_import_leaves_what_was_claimed(
    chat_server: ChatServer, chat_world: World, tmp_path: Path
) -> None:
    world = chat_world
    made = await bring(chat_server, world, tmp_path, *years())
    (await world.alice.rest.post(f"{way(world)}/claim", {})).expect(200)
    undone = await chat_server.server.areas.imports.undoing.undo(made)
    assert (undone["claimed"], undone["messages"]) == (1, 3)
    assert set(await listed(world)) == {moment(1), moment(3), moment(6)}


async def test_one_member_after_another_gets_it_whole(
    chat_server: ChatServer, chat_world: World, tmp_path: Path
) -> None:
    """Bob gives it back, and alice has it before everything has come back: nothing stays with bob."""
    world = chat_world
    await bring(chat_server, world, tmp_path, *years())
    (await world.bob.rest.post(f"{way(world)}/claim", {})).expect(200)
    (await world.alice.rest.post(f"{way(world)}/claim", {"user_id": world.bob.id})).expect(200)
    for _ in range(10):
        async with trio.open_nursery() as nursery:
            nursery.start_soon(world.bob.rest.delete, f"{way(world)}/claim")
            nursery.start_soon(world.alice.rest.post, f"{way(world)}/claim", {})
        (await world.alice.rest.post(f"{way(world)}/claim", {})).expect(200)
        await settled(chat_server)
        authors = {number: one["author"]["id"] for number, one in (await listed(world)).items()}
        assert {authors[moment(number)] for number in (1, 3, 6)} == {world.alice.id}
        (await world.alice.rest.delete(f"{way(world)}/claim")).expect(204)
        (await world.bob.rest.post(f"{way(world)}/claim", {})).expect(200)
        (await world.alice.rest.post(f"{way(world)}/claim", {"user_id": world.bob.id})).expect(200)


@pytest.mark.parametrize("text", ["<@7>", "a <@7> `<@7>` \\<@7> <@77>", "```\n<@7>\n```<@!7>", "nobody", "<@8><@7>"])
def test_mentions_go_there_and_back(text: str) -> None:
    rename: Callable[[str, int, int], str] = claims._renamed
    there = rename(text, 7, 99)
    assert rename(there, 99, 7) == text
    assert ("<@99>" in there or "<@!99>" in there) == (text != "nobody")
