"""What is around an account, read and taken away by administrators (document 002).

Area: administration. Rules: 002.applications, 002.change-log, 002.change-log-object, 002.conventions,
002.dm-channels, 002.dm-object, 002.events, 002.get-user, 002.guilds, 002.me, 002.partial-objects,
002.relationship-categories, 002.relationship-delete, 002.relationship-object, 002.relationships,
002.relationships-clear, 002.user-object.
"""

from __future__ import annotations

from typing import Any

import pytest
import trio
from trio.testing import MockClock

from chat.admin import buckets
from chat.admin.routes import ADMIN_ROUTES
from chat.domain.administration.administration_objects import admin_private_channel
from chat.store.database import Database
from chat.testing.server import ChatServer
from chat.testing.world import World
from tests.administration.admin_user_keys import ADMIN_USER_KEYS
from tests.administration.asking import Asking
from tests.administration.audit import audit_log
from tests.spec.ledger import proves

INVALID = (400, "INVALID_FORM_BODY")


@pytest.fixture
def ask(chat_server: ChatServer, chat_world: World) -> Asking:
    return Asking(chat_server, chat_world)


async def store(database: Database, statement: str, *values: object) -> None:
    await database.write(lambda connection: void(connection.execute(statement, values)))


def void(_: object) -> None:
    return None


# Guilds


async def test_guilds_in_a_window(ask: Asking, autojump_clock: MockClock) -> None:
    world = ask.world
    for number in range(5):
        await world.bob.rest.create_guild(f"Guild {number}")
    all_ids = sorted([guild["id"] for guild in (await world.bob.rest.get("/v1/users/@me/guilds")).expect(200)], key=int)
    assert len(all_ids) == 6

    async def listed(query: str) -> list[str]:
        with proves("002.guilds.9"):
            answer = (await ask("GET", f"/guilds{query}")).expect(200)
            assert answer.keys() == {"guilds"}
        return [guild["id"] for guild in answer["guilds"]]

    with proves("002.guilds.6"):
        assert await listed("") == all_ids
    with proves("002.guilds.7", "002.guilds.12"):
        assert ask.entries("list_user_guilds")[-1].metadata == {
            "limit": "200",
            "with_counts": "false",
            "guild_count": "6",
        }
    with proves("002.guilds.3"):
        assert await listed(f"?after={all_ids[1]}") == all_ids[2:]
        assert await listed(f"?before={all_ids[4]}") == all_ids[:4]
    with proves("002.guilds.5"):
        assert await listed(f"?after={all_ids[0]}&before={all_ids[4]}") == all_ids[1:4]
    with proves("002.guilds.13"):
        metadata = ask.entries("list_user_guilds")[-1].metadata
        assert metadata == {
            "limit": "200",
            "with_counts": "false",
            "guild_count": "3",
            "before_guild_id": all_ids[4],
            "after_guild_id": all_ids[0],
        }
    with proves("002.guilds.4"):
        assert await listed("?after=77&before=9223372036854775807") == all_ids  # no guilds of the account
    with proves("002.guilds.10"):
        paged: list[str] = []
        while page := await listed("?limit=4" + (f"&after={paged[-1]}" if paged else "")):
            paged += page
            if len(page) < 4:
                break
        assert paged == all_ids
    with proves("002.guilds.7", "002.guilds.14"):
        for wrong in ("limit=0", "limit=201", "before=x", "after=-1"):
            assert (await ask.refused("GET", f"/guilds?{wrong}"))[:2] == INVALID


@pytest.mark.rule("002.guilds.8", "002.partial-objects.1", "002.partial-objects.2")
@pytest.mark.parametrize(
    ("word", "counts"),
    [("true", True), ("True", True), ("1", True), ("TRUE", False), ("yes", False), ("0", False), ("", False)],
)
async def test_counts_for_whoever_says_so(ask: Asking, autojump_clock: MockClock, word: str, counts: bool) -> None:
    world = ask.world
    await world.alice.connect()
    [guild] = (await ask("GET", f"/guilds?with_counts={word}")).expect(200)["guilds"]
    assert (guild["id"], guild["owner_username"]) == (world.guild_id, "alice")
    assert {"owner_global_name", "owner_discriminator"} <= guild.keys()
    if counts:
        assert (guild["approximate_member_count"], guild["approximate_presence_count"]) == (4, 1)
    else:
        assert not guild.keys() & {"approximate_member_count", "approximate_presence_count"}
    assert ask.entries("list_user_guilds")[-1].metadata["with_counts"] == ("true" if counts else "false")


# Conversations


async def test_conversations(ask: Asking, autojump_clock: MockClock) -> None:
    world = ask.world
    for person in (world.alice, world.carol):
        body = {"user_id": world.bob.id, "target_user_id": person.id, "type": 1}
        (await world.anyone.post("/v1/_dev/relationships", body)).expect(204)
    with_alice = (await world.bob.rest.open_conversation(world.alice.id)).expect(200)["id"]
    with_carol = (await world.bob.rest.open_conversation(world.carol.id)).expect(200)["id"]
    sent = (await world.bob.rest.send_message(with_carol, "hello")).expect(200)["id"]
    (await world.bob.rest.delete(f"/v1/channels/{with_alice}")).expect(204)
    body = {"recipients": [world.alice.id, world.carol.id]}
    group = (await world.bob.rest.post("/v1/users/@me/channels", body)).expect(200)
    bob = await world.bob.connect()

    async def listed(query: str = "") -> list[dict[str, Any]]:
        answer = (await ask("GET", f"/dm-channels{query}")).expect(200)
        with proves("002.dm-channels.9"):
            assert answer.keys() == {"channels"}
        channels: list[dict[str, Any]] = answer["channels"]
        return channels

    by_id = {channel["channel_id"]: channel for channel in await listed()}
    with proves("002.dm-channels.4", "002.dm-object.1"):
        assert by_id.keys() == {with_alice, with_carol}
    with proves("002.dm-channels.13", "002.dm-channels.14"):
        assert ask.entries("list_user_dm_channels")[-1].metadata == {"type": "dm", "channel_count": "2", "limit": "50"}
    with proves("002.dm-object.3"):
        assert by_id[with_carol]["guild_nsfw_level"] is None
    with proves("002.dm-object.7"):
        assert (by_id[with_carol]["last_message_id"], by_id[with_alice]["last_message_id"]) == (sent, None)
    with proves("002.dm-object.8"):
        assert (by_id[with_carol]["is_open"], by_id[with_alice]["is_open"]) == (True, False)
    with proves("002.dm-object.9"):
        assert (by_id[with_carol]["name"], by_id[with_carol]["icon"]) == (None, None)
    with proves("002.dm-object.10"):
        assert by_id[with_carol]["owner_id"] is None
    assert by_id[with_carol] | {"recipients": [], "recipient_ids": []} == {
        "channel_id": with_carol,
        "channel_type": 1,
        "channel_nsfw": False,
        "guild_nsfw_level": None,
        "recipient_ids": [],
        "recipients": [],
        "last_message_id": sent,
        "is_open": True,
        "name": None,
        "icon": None,
        "owner_id": None,
    }
    with proves("002.dm-object.4"):
        assert sorted(by_id[with_carol]["recipient_ids"], key=int) == sorted([world.bob.id, world.carol.id], key=int)
    with proves("002.dm-object.5"):
        assert {entry["username"] for entry in by_id[with_carol]["recipients"]} == {"bob", "carol"}
    assert (by_id[with_alice]["is_open"], by_id[with_alice]["last_message_id"]) == (False, None)

    for query in ("", "&limit=1", "&before=1", "&after=9223372036854775807"):
        with proves("002.dm-channels.8"):
            [shown] = await listed(f"?type=group_dm{query}")
        with proves("002.dm-channels.4", "002.dm-object.10"):
            assert (shown["channel_id"], shown["channel_type"], shown["owner_id"]) == (group["id"], 3, world.bob.id)
        assert len(shown["recipient_ids"]) == 3
    with proves("002.dm-channels.13"):
        metadata = ask.entries("list_user_dm_channels")[-1].metadata
        assert metadata == {"type": "group_dm", "channel_count": "1"}
    with proves("002.dm-channels.5"):
        assert [channel["channel_id"] for channel in await listed(f"?after={with_alice}")] == [with_carol]
    with proves("002.dm-channels.14"):
        assert ask.entries("list_user_dm_channels")[-1].metadata["after_channel_id"] == with_alice
    with proves("002.dm-channels.5"):
        assert [channel["channel_id"] for channel in await listed(f"?before={with_carol}")] == [with_alice]
    with proves("002.dm-channels.14"):
        assert ask.entries("list_user_dm_channels")[-1].metadata["before_channel_id"] == with_carol
    with proves("002.dm-channels.7"):
        assert len(await listed("?limit=1")) == 1
    kind, cursor, both, limit = (f"002.dm-channels.{number}" for number in (4, 5, 6, 7))
    for rule, wrong in (
        (both, "?before=5&after=6"),
        (both, "?before=5&after=6&type=group_dm"),
        (kind, "?type=guild"),
        (limit, "?limit=0"),
        (limit, "?limit=201"),
        (cursor, "?before=x"),
    ):
        with proves(rule):
            assert (await ask.refused("GET", f"/dm-channels{wrong}"))[:2] == INVALID
    with proves("002.dm-channels.3"):
        await bob.expect_silence(1)
        assert (await listed())[0].keys() == by_id[with_carol].keys()
        assert {channel["channel_id"]: channel["is_open"] for channel in await listed()} == {
            with_alice: False,
            with_carol: True,
        }
    without_record = admin_private_channel(int(with_carol), True, None, [], 100)
    with proves("002.dm-object.2"):
        assert (without_record["channel_type"], without_record["channel_nsfw"]) == (None, None)


@pytest.mark.rule("002.dm-object.6")
async def test_recipients_that_are_no_more_are_ids_alone(ask: Asking, autojump_clock: MockClock) -> None:
    world = ask.world
    body = {"user_id": world.bob.id, "target_user_id": world.alice.id, "type": 1}
    (await world.anyone.post("/v1/_dev/relationships", body)).expect(204)
    (await world.bob.rest.open_conversation(world.alice.id)).expect(200)
    await Asking(ask.server, world, world.alice.id).set(flags=str(1 << 34))
    [channel] = (await ask("GET", "/dm-channels")).expect(200)["channels"]
    assert len(channel["recipient_ids"]) == 2
    assert [entry["username"] for entry in channel["recipients"]] == ["bob"]


# Applications


@pytest.mark.rule("002.applications.1", "002.applications.3", "002.applications.5")
async def test_applications_in_full(ask: Asking, autojump_clock: MockClock) -> None:
    world = ask.world
    for number in range(3):
        (await world.bob.rest.post("/v1/oauth2/applications", {"name": f"App {number}"})).expect(200)
    answer = (await ask("GET", "/applications?limit=1&after=5")).expect(200)
    assert answer.keys() == {"applications"}
    assert [entry["name"] for entry in answer["applications"]] == ["App 0", "App 1", "App 2"]
    assert all(entry["owner_user_id"] == world.bob.id for entry in answer["applications"])
    [entry] = ask.entries("list_user_applications")
    assert (entry.target_id, entry.metadata) == (world.bob.id, {"application_count": "3"})


# Relationships

TYPES = {"friend": 1, "blocked": 2, "incoming_request": 3, "outgoing_request": 4}
OTHER_SIDE = {"friend": 1, "incoming_request": 4, "outgoing_request": 3}


async def relate(world: World, category: str, person: str) -> None:
    body = {"user_id": world.bob.id, "target_user_id": person, "type": TYPES[category]}
    (await world.anyone.post("/v1/_dev/relationships", body)).expect(204)


def related(ask: Asking, user_id: str) -> dict[str, int]:
    rows = ask.server.database.reader.execute(
        "SELECT target_id, type FROM relationships WHERE user_id = ?", (int(user_id),)
    )
    return {str(target): kind for target, kind in rows}


async def test_relationships_by_category(ask: Asking, autojump_clock: MockClock) -> None:
    world = ask.world
    people = {"friend": world.alice, "blocked": world.carol, "incoming_request": world.admin}
    for category, person in people.items():
        await relate(world, category, person.id)
    (await world.bob.rest.patch(f"/v1/users/@me/relationships/{world.alice.id}", {"nickname": "Al"})).expect(200)
    await relate(world, "outgoing_request", world.bot.id)
    await Asking(ask.server, world, world.bot.id).set(flags=str(1 << 34))  # erased
    statement = "UPDATE relationships SET since = NULL WHERE target_id = ?"
    await store(ask.server.database, statement, int(world.bot.id))
    with proves("002.relationships.3", "002.relationships.4"):
        answer = (await ask("GET", "/relationships?limit=1")).expect(200)
        assert answer.keys() == {"friends", "incoming_requests", "outgoing_requests", "blocked"}
    [friend] = answer["friends"]
    with proves("002.relationship-object.2", "002.relationship-object.3"):
        assert (friend["target_user_id"], friend["category"], friend["nickname"]) == (world.alice.id, "friend", "Al")
    with proves("002.relationship-object.5"):
        assert (friend["target"]["username"], friend["target"]["discriminator"].isdigit()) == ("alice", True)
    with proves("002.relationship-object.1", "002.relationship-object.4", "002.relationship-object.5"):
        [gone] = answer["outgoing_requests"]
        assert gone == {
            "target_user_id": world.bot.id,
            "category": "outgoing_request",
            "nickname": None,
            "since": None,
            "target": None,
        }
    with proves("002.relationship-categories.1"):
        assert [entry["target_user_id"] for entry in answer["blocked"]] == [world.carol.id]
        assert [entry["target_user_id"] for entry in answer["incoming_requests"]] == [world.admin.id]
    with proves("002.relationships.7"):
        [entry] = ask.entries("list_user_relationships")
        assert entry.metadata == {
            "friend_count": "1",
            "incoming_request_count": "1",
            "outgoing_request_count": "1",
            "blocked_count": "1",
        }


@pytest.mark.parametrize("category", list(TYPES))
async def test_a_category_is_cleared(ask: Asking, autojump_clock: MockClock, category: str) -> None:
    world = ask.world
    for person in (world.alice, world.carol):
        await relate(world, category, person.id)
    bob, alice = await world.bob.connect(), await world.alice.connect()
    with proves("002.relationships-clear.7", "002.relationships-clear.8"):
        answer = (await ask("DELETE", f"/relationships?category={category}")).expect(200)
        assert answer == {"removed_count": 2}
    with proves("002.relationships-clear.5"):
        assert related(ask, world.bob.id) == {}
    with proves("002.relationships-clear.10", "002.events.3"):
        heard = {(await bob.expect("RELATIONSHIP_REMOVE")).data["id"] for _ in range(2)}
        assert heard == {world.alice.id, world.carol.id}
    if category == "blocked":
        with proves("002.relationship-categories.3", "002.relationships-clear.14"):
            await trio.sleep(1)
            assert "RELATIONSHIP_REMOVE" not in {payload.name for payload in alice.dispatches}
    else:
        with proves("002.relationships-clear.13"):
            assert (await alice.expect("RELATIONSHIP_REMOVE")).data["id"] == world.bob.id
        with proves("002.relationship-categories.2"):
            assert related(ask, world.alice.id) == {}
    with proves("002.relationships-clear.15"):
        [entry] = ask.entries("remove_relationships_by_category")
        assert entry.metadata == {"category": category, "removed_count": "2"}


@pytest.mark.rule("002.relationship-categories.3")
async def test_the_other_ones_block_stays(ask: Asking, autojump_clock: MockClock) -> None:
    world = ask.world
    (await world.bob.rest.block(world.alice.id)).expect(200)
    (await world.alice.rest.block(world.bob.id)).expect(200)
    assert (await ask("DELETE", "/relationships?category=blocked")).expect(200) == {"removed_count": 1}
    assert related(ask, world.alice.id) == {world.bob.id: 2}


async def test_the_category_in_query_or_body(ask: Asking, autojump_clock: MockClock) -> None:
    world = ask.world
    await relate(world, "friend", world.alice.id)
    await relate(world, "blocked", world.carol.id)
    for path in ("/relationships", f"/relationships/{world.alice.id}"):
        for query, body in (
            ("", ...),
            ("?category=", ...),
            ("?category=all", ...),
            ("?category=friends", ...),
            ("", {"category": "x"}),
            ("", {"category": ["friend", "blocked"]}),
            ("", {}),
        ):
            with proves("002.relationships-clear.3" if path == "/relationships" else "002.relationship-delete.4"):
                assert (await ask.refused("DELETE", path + query, body))[:2] == INVALID
    with proves("002.relationships-clear.4"):
        assert (await ask("DELETE", "/relationships", {"category": "friend"})).expect(200) == {"removed_count": 1}
    with proves("002.relationships-clear.9"):
        assert (await ask("DELETE", "/relationships?category=friend")).expect(200) == {"removed_count": 0}
    with proves("002.relationships-clear.6"):
        assert related(ask, world.bob.id) == {world.carol.id: 2}
    with proves("002.relationships-clear.9"):
        counts = [entry.metadata["removed_count"] for entry in ask.entries("remove_relationships_by_category")]
        assert counts == ["1", "0"]


@pytest.mark.parametrize("category", list(TYPES))
async def test_one_relationship_is_taken_away(ask: Asking, autojump_clock: MockClock, category: str) -> None:
    world = ask.world
    await relate(world, category, world.alice.id)
    await relate(world, category, world.carol.id)
    path = f"/relationships/{world.alice.id}?category="
    with proves("002.relationship-delete.5", "002.relationship-delete.8"):
        for other in TYPES:
            if other != category:
                assert (await ask.refused("DELETE", path + other))[:2] == (404, "UNKNOWN_USER")
    bob, alice = await world.bob.connect(), await world.alice.connect()
    with proves("002.relationship-delete.6"):
        answer = await ask("DELETE", path + category)
        answer.expect(204)
        assert answer.body == b""
    with proves("002.relationship-delete.3", "002.relationship-delete.5"):
        assert related(ask, world.bob.id) == {world.carol.id: TYPES[category]}
    assert (await bob.expect("RELATIONSHIP_REMOVE")).data["id"] == world.alice.id
    if category == "blocked":
        await trio.sleep(1)
        assert "RELATIONSHIP_REMOVE" not in {payload.name for payload in alice.dispatches}
    else:
        assert (await alice.expect("RELATIONSHIP_REMOVE")).data["id"] == world.bob.id
    with proves("002.relationship-delete.8"):
        assert (await ask.refused("DELETE", path + category))[:2] == (404, "UNKNOWN_USER")
    assert (await ask.refused("DELETE", "/relationships/x?category=friend"))[:2] == INVALID
    with proves("002.relationship-delete.9"):
        [entry] = ask.entries("remove_relationship")
        assert entry.metadata == {"target_user_id": world.alice.id, "category": category}


# The change log


@pytest.mark.rule("002.change-log.3", "002.change-log.4")
@pytest.mark.parametrize("query", ["limit=0", "limit=201", "limit=x", f"page_token={'1' * 65}", "page_token=abc"])
async def test_pages_of_the_change_log_that_are_none(ask: Asking, autojump_clock: MockClock, query: str) -> None:
    assert (await ask.refused("GET", f"/change-log?{query}"))[:2] == INVALID


async def test_the_change_log_page_by_page(ask: Asking, autojump_clock: MockClock) -> None:
    world = ask.world
    await ask.set(email=None)
    for number in range(3):
        await ask.user("PATCH", "/email", {"email": f"bob{number}@example.com"})
        await trio.sleep(1)
    wish = {"username": "robert", "password": world.bob.password}
    (await world.bob.rest.patch("/v1/users/@me", wish)).expect(200)  # the holder's own change

    async def page(query: str) -> tuple[list[dict[str, Any]], str | None]:
        with proves("002.change-log.7"):
            answer = (await ask("GET", f"/change-log{query}")).expect(200)
            assert answer.keys() == {"entries", "next_page_token"}
        return answer["entries"], answer["next_page_token"]

    entries, token = await page("")
    with proves("002.change-log.8"):
        assert token is None
    assert [entry["field"] for entry in entries] == ["service_tag", "email", "email", "email"]
    with proves("002.change-log-object.9"):
        assert (entries[0]["reason"] == "admin_action", entries[0]["actor_user_id"]) == (False, None)
    with proves("002.change-log-object.4"):
        assert entries[-1]["old_value"] is None
    with proves("002.change-log-object.1"):
        assert all(entry["event_id"].isdigit() for entry in entries)
    with proves("002.change-log.5", "002.change-log-object.8"):
        moments = [entry["event_at"] for entry in entries]
        assert moments == sorted(moments, reverse=True)
    with proves("002.change-log.10"):
        metadata = ask.entries("list_user_change_log")[-1].metadata
        assert metadata == {"limit": "50", "entry_count": "4"}

    walked: list[dict[str, Any]] = []
    pages, token = await page("?limit=2")
    with proves("002.change-log.5"):
        while pages:
            walked += pages
            with proves("002.change-log.8", "002.change-log-object.1"):
                assert token == pages[-1]["event_id"]
            pages, token = await page(f"?limit=2&page_token={token}")
    with proves("002.change-log.9"):
        assert token is None
    with proves("002.change-log.5"):
        assert walked == entries
    with proves("002.change-log.11"):
        metadata = ask.entries("list_user_change_log")[-1].metadata
        assert metadata == {"limit": "2", "entry_count": "0", "has_page_token": "true"}
    assert len((await page("?limit=3"))[0]) == 3


@pytest.mark.rule("002.change-log-object.5")
async def test_addresses_are_redacted_for_those_who_may_not_see_them(ask: Asking, autojump_clock: MockClock) -> None:
    world = ask.world
    await ask.user("PATCH", "/email", {"email": "new@example.com"})
    await ask.user("PATCH", "/username", {"username": "robert"})
    carol = Asking(ask.server, world, world.carol.id)
    await carol.set(acls=["admin:authenticate", "user:view:contact_log"])
    path = f"/v1/admin/users/{world.bob.id}/change-log"
    tag, email = (await world.carol.rest.get(path)).expect(200)["entries"]
    assert (email["old_value"], email["new_value"]) == ("[redacted]", "[redacted]")
    assert tag["new_value"].startswith("robert#")
    await carol.set(acls=["admin:authenticate", "user:view:contact_log", "user:view:email"])
    _, email = (await world.carol.rest.get(path)).expect(200)["entries"]
    assert (email["old_value"], email["new_value"]) == ("bob@example.com", "new@example.com")


# The Admin user object


async def test_every_key_is_there_and_what_is_not_for_everybody_is_redacted(
    ask: Asking, autojump_clock: MockClock
) -> None:
    world = ask.world
    await ask.set(email_bounced=True, last_active_ip="203.0.113.7", date_of_birth="1990-01-01")
    await ask.user("PUT", "/deletion", {"reason_code": 2}, reason="private")
    whole = await ask.shown()
    with proves("002.user-object.1"):
        assert set(whole) == set(ADMIN_USER_KEYS)
    with proves("002.user-object.2", "002.user-object.3", "002.user-object.4"):
        assert (whole["id"], whole["username"], type(whole["discriminator"])) == (world.bob.id, "bob", int)
    with proves("002.user-object.7"):
        assert (whole["bot"], whole["system"]) == (False, False)
    with proves("002.user-object.13", "002.user-object.14", "002.user-object.15"):
        assert (whole["email"], whole["email_verified"], whole["email_bounced"]) == ("bob@example.com", True, True)
    with proves("002.user-object.16", "002.user-object.40"):
        assert (whole["last_active_ip"], whole["date_of_birth"]) == ("203.0.113.7", "1990-01-01")
    with proves("002.user-object.27"):
        assert whole["deletion_audit_log_reason"] == "private"
    carol = Asking(ask.server, world, world.carol.id)
    redacted: dict[str, dict[str, Any]] = {
        "user:view:email": {"email": None, "email_verified": False, "email_bounced": False},
        "user:view:dob": {"date_of_birth": None},
        "user:view:ip": {"last_active_ip": None, "last_active_ip_reverse": None, "last_active_location": None},
        "audit_log:view": {"deletion_audit_log_reason": None},
    }
    rules = {
        "user:view:email": ("002.user-object.13", "002.user-object.14", "002.user-object.15"),
        "user:view:dob": ("002.user-object.16",),
        "user:view:ip": ("002.user-object.40", "002.user-object.41"),
        "audit_log:view": ("002.user-object.27",),
    }
    for left_out in redacted:
        held = ["admin:authenticate", "user:lookup", *(acl for acl in redacted if acl != left_out)]
        await carol.set(acls=held)
        answer = (await world.carol.rest.get(f"/v1/admin/users/{world.bob.id}")).expect(200)
        with proves(*rules[left_out]):
            assert answer["users"][0].items() >= redacted[left_out].items()
        with proves("002.user-object.34"):
            assert answer["users"][0]["has_totp"] is False
        with proves("002.user-object.1", "002.get-user.3"):
            assert answer == {"users": [whole | redacted[left_out]]}
    with proves("002.get-user.3"):
        assert (await world.carol.rest.get("/v1/admin/users/77")).expect(200) == {"users": []}
    with proves("002.get-user.6", "002.get-user.7"):
        entry = ask.entries("get_user")[-1]
        assert (entry.target_type, entry.target_id, entry.metadata) == ("user", "77", {"found": "false"})
        assert ask.entries("get_user")[0].metadata == {"found": "true"}
    await ask.set(global_name=None)
    with proves("002.user-object.6"):
        assert (whole["global_name"], (await ask.shown())["global_name"]) == ("Bob", None)


async def test_the_own_account_is_shown_whole_and_nothing_is_kept(ask: Asking, autojump_clock: MockClock) -> None:
    world = ask.world
    await ask.set(acls=["admin:authenticate", "user:lookup"], last_active_ip="203.0.113.7")
    [operation] = [one for routes in ADMIN_ROUTES for one in routes.operations if one.path == "/v1/admin/users/@me"]
    with proves("002.me.2"):
        assert operation.bucket == buckets.LOOKUP
    user = (await world.bob.rest.get("/v1/admin/users/@me")).expect(200)["user"]
    with proves("002.me.3", "002.me.4"):
        assert (user["id"], user["email"], user["date_of_birth"]) == (world.bob.id, "bob@example.com", "1990-01-01")
    with proves("002.me.4"):
        assert user["last_active_ip"] is not None
    wish = {"name": "k", "acls": ["admin:authenticate"]}
    await ask.set(acls=["*"])
    key = (await world.bob.rest.post("/v1/admin/api-keys", wish)).expect(200)["key"]
    headers = {"Authorization": f"Admin {key}"}
    with proves("002.me.1", "002.me.5"):
        answer = await world.anyone.request("GET", "/v1/admin/users/@me", headers=headers)
        assert answer.expect(200)["user"]["acls"] == ["*"]
    await ask.set(acls=["user:lookup"])
    with proves("002.me.7"):
        assert (await world.bob.rest.get("/v1/admin/users/@me")).expect(403)["code"] == "MISSING_PERMISSIONS"
    with proves("002.conventions.3"):
        assert audit_log(ask.server) == []
