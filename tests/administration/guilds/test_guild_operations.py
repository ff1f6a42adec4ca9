"""Administration of guilds: looked up, changed field by field, its members, what it holds, its end."""

from __future__ import annotations

import base64
from typing import Any, Final

import pytest
import trio
from trio.testing import MockClock

from chat.admin import buckets
from chat.testing.rest_client import Response
from chat.testing.server import ChatServer
from chat.testing.world import World
from tests.administration.access_walk import AUTHENTICATE, Walked, below, walk
from tests.administration.audit import audit_log

UNKNOWN: Final = "1234567890"
PIXEL: Final = base64.b64encode(
    base64.b64decode("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==")
).decode()

LOOKUP, MODIFY, LOG = buckets.LOOKUP, buckets.GUILD_MODIFY, buckets.AUDIT_LOG
GUILD: Final = "/v1/admin/guilds/{guild_id}"
CHANGING: Final = (
    "guild:update:name",
    "guild:update:vanity",
    "guild:transfer_ownership",
    "guild:update:features",
    "guild:update:settings",
)
ROWS: Final = [
    Walked("GET", "/v1/admin/guilds", ("guild:lookup",), LOOKUP),
    Walked("GET", GUILD, ("guild:lookup",), LOOKUP),
    Walked("PATCH", GUILD, CHANGING, MODIFY, {}),
    Walked("POST", f"{GUILD}/reload", ("guild:reload",), MODIFY),
    Walked("POST", f"{GUILD}/shutdown", ("guild:shutdown",), MODIFY),
    Walked("GET", f"{GUILD}/members", ("guild:list:members",), LOOKUP),
    Walked("PUT", f"{GUILD}/members/{{user_id}}", ("guild:force_add_member",), MODIFY),
    Walked("DELETE", f"{GUILD}/members/{{user_id}}", ("guild:kick_member",), MODIFY),
    Walked("PUT", f"{GUILD}/bans/{{user_id}}", ("guild:ban_member",), MODIFY, {}),
    Walked("DELETE", f"{GUILD}/bans/{{user_id}}", ("guild:ban_member",), MODIFY),
    Walked("GET", f"{GUILD}/audit-logs", ("guild:audit_log:view",), LOG),
    Walked("GET", f"{GUILD}/emojis", ("guild:lookup", "asset:purge"), LOOKUP),
    Walked("GET", f"{GUILD}/stickers", ("guild:lookup", "asset:purge"), LOOKUP),
    Walked("DELETE", f"{GUILD}/emojis/{{emoji_id}}", ("asset:purge",), MODIFY),
    Walked("DELETE", f"{GUILD}/stickers/{{sticker_id}}", ("asset:purge",), MODIFY),
    Walked("DELETE", GUILD, ("guild:delete",), MODIFY),
]
ELSEWHERE: Final = {("POST", f"{GUILD}/archives"), ("GET", f"{GUILD}/archives")}
"""Operations below a guild that other tests are about."""


class Asking:
    """Requests of the seeded administrator below one guild, and what they leave in the log."""

    def __init__(self, server: ChatServer, world: World) -> None:
        self.server, self.world = server, world
        self.guild_id = world.guild_id

    async def __call__(self, method: str, path: str = "", body: Any = ..., reason: str | None = None) -> Response:
        headers = {} if reason is None else {"X-Audit-Log-Reason": reason}
        target = f"/v1/admin/guilds/{self.guild_id}{path}"
        return await self.world.admin.rest.request(method, target, json=body, headers=headers)

    async def change(self, **body: Any) -> dict[str, Any]:
        """The guild after a change."""
        guild: dict[str, Any] = (await self("PATCH", body=body)).expect(200)["guild"]
        return guild

    async def refused(self, method: str, path: str = "", body: Any = ...) -> tuple[int, str, dict[str, str]]:
        """Status, code and field codes; no entry, and the guild is as it was."""
        entries, before = audit_log(self.server), (await self.own()).body
        answer = await self(method, path, body)
        assert answer.status >= 400, answer.body
        assert audit_log(self.server) == entries
        assert (await self.own()).body == before
        found = answer.json()
        return answer.status, found["code"], {error["path"]: error["code"] for error in found.get("errors", [])}

    async def own(self) -> Response:
        """The guild as its owner sees it."""
        return await self.world.alice.rest.get(f"/v1/guilds/{self.guild_id}")

    def last(self) -> tuple[str, str, str, dict[str, Any]]:
        """Action, target and metadata of the newest entry."""
        entry = audit_log(self.server)[-1]
        return entry.action, entry.target_type, entry.target_id, dict(entry.metadata)


@pytest.fixture
def ask(chat_server: ChatServer, chat_world: World) -> Asking:
    return Asking(chat_server, chat_world)


async def test_every_operation_on_guilds_has_its_acl_and_its_bucket(
    chat_server: ChatServer, chat_world: World, autojump_clock: MockClock
) -> None:
    values = {
        "guild_id": chat_world.guild_id,
        "user_id": chat_world.bob.id,
        "emoji_id": UNKNOWN,
        "sticker_id": UNKNOWN,
    }
    assert below("/v1/admin/guilds") - ELSEWHERE == {(row.method, row.path) for row in ROWS}
    await walk(chat_server, chat_world, ROWS, values)
    for row in ROWS[1:]:
        path = row.path.replace("{guild_id}", UNKNOWN).replace("{user_id}", chat_world.bob.id)
        path = path.replace("{emoji_id}", UNKNOWN).replace("{sticker_id}", UNKNOWN)
        before = audit_log(chat_server)
        answer = await chat_world.admin.rest.request(row.method, path, json=row.body)
        assert answer.expect(404)["code"] == "UNKNOWN_GUILD", row
        assert audit_log(chat_server) == before, row


async def test_guilds_are_found_by_name_code_and_id(
    chat_server: ChatServer, chat_world: World, ask: Asking, autojump_clock: MockClock
) -> None:
    world, admin = chat_world, chat_world.admin.rest
    made = [
        (await world.bob.rest.post("/v1/guilds", {"name": name})).expect(200)["id"]
        for name in ("Éclair", "eclair 2", "ÉCLAIR drei", world.guild_id)
    ]

    async def found(query: str) -> tuple[list[str], int]:
        answer = (await admin.get(f"/v1/admin/guilds?{query}")).expect(200)
        return [guild["id"] for guild in answer["guilds"]], answer["total"]

    assert await found("") == ([*reversed(made), world.guild_id], 5)
    assert await found("sort_order=asc&limit=2&offset=1") == (made[:2], 5)
    assert await found("q=%C3%A9CLAIR&sort_by=name&sort_order=asc") == ([made[0], made[2]], 2)
    assert await found("sort_by=member_count&limit=1") == ([world.guild_id], 5)
    assert ask.last() == (
        "search_guilds",
        "guild",
        "0",
        {"has_query": "false", "limit": "1", "offset": "0", "result_count": "1", "total": "5"},
    )
    # A text of digits is an id first and a name as well; far beyond the last there is nothing.
    assert await found(f"q={world.guild_id}") == ([world.guild_id, made[3]], 2)
    assert await found(f"q={UNKNOWN}") == await found("q=99999999999999999999999") == ([], 0)
    assert await found("offset=100000") == ([], 5)
    for wrong in ("limit=0", "limit=201", "offset=-1", "sort_by=owner", "sort_order=up"):
        assert (await admin.get(f"/v1/admin/guilds?{wrong}")).expect(400)["code"] == "INVALID_FORM_BODY"

    guild = (await ask("GET", reason="looking")).expect(200)["guild"]
    assert ask.last() == ("get_guild", "guild", world.guild_id, {})
    assert audit_log(chat_server)[-1].reason == "looking"
    own = (await ask.own()).expect(200)
    assert guild["owner_username"] == "alice"
    assert guild["member_count"] == own["member_count"]
    assert [role["id"] for role in guild["roles"]] == [role["id"] for role in own["roles"]]
    assert {channel["id"] for channel in guild["channels"]} == {channel["id"] for channel in own["channels"]}


async def test_each_field_asks_for_its_acl_and_a_request_is_done_whole_or_not(
    chat_server: ChatServer, chat_world: World, ask: Asking, autojump_clock: MockClock
) -> None:
    world = chat_world
    bob = await world.bob.connect()
    wishes: dict[str, dict[str, Any]] = {
        "guild:update:name": {"name": "  Harbour "},
        "guild:update:features": {"add_features": ["VANITY_URL", "VIP_VOICE"], "remove_features": ["VIP_VOICE"]},
        "guild:update:vanity": {"vanity_url_code": "Old Harbour"},
        "guild:update:settings": {"disabled_operations": 4, "settings": {"mfa_level": 1}, "fields": ["icon"]},
        "guild:transfer_ownership": {"new_owner_id": world.bob.id},
    }
    everything = {name: value for wish in wishes.values() for name, value in wish.items()}

    async def as_carol(*acls: str) -> Response:
        (await world.anyone.post(f"/v1/_dev/users/{world.carol.id}", {"acls": [AUTHENTICATE, *acls]})).expect(200)
        return await world.carol.rest.patch(f"/v1/admin/guilds/{world.guild_id}", everything)

    (await world.anyone.post(f"/v1/_dev/guilds/{world.guild_id}", {"features": []})).expect(200)
    before, old_name = (await ask.own()).body, (await ask.own()).expect(200)["name"]
    for left_out in wishes:
        answer = await as_carol(*(acl for acl in wishes if acl != left_out))
        assert answer.expect(403)["code"] == "MISSING_ACL", left_out
    assert (await ask.own()).body == before
    assert not audit_log(chat_server)

    changed = (await as_carol(*wishes)).expect(200)["guild"]
    assert (changed["name"], changed["vanity_url_code"], changed["owner_id"]) == (
        "Harbour",
        "old-harbour",
        world.bob.id,
    )
    assert (changed["features"], changed["disabled_operations"], changed["mfa_level"]) == (["VANITY_URL"], 4, 1)
    update = await bob.expect("GUILD_UPDATE", where=lambda data: data["name"] == "Harbour")
    assert (update.data["name"], update.data["owner_id"]) == ("Harbour", world.bob.id)
    metadata = {entry.action: dict(entry.metadata) for entry in audit_log(chat_server)}
    assert metadata == {
        "update_name": {"old_name": old_name, "new_name": "Harbour"},
        "update_vanity": {"old_vanity_url_code": "null", "new_vanity_url_code": "old-harbour"},
        "transfer_guild_ownership": {"old_owner_id": world.alice.id, "new_owner_id": world.bob.id},
        "update_features": {
            "add_features": "VANITY_URL,VIP_VOICE",
            "remove_features": "VIP_VOICE",
            "new_features": "VANITY_URL",
        },
        "clear_guild_fields": {"fields": "icon"},
        "update_settings": {"disabled_operations": "4", "mfa_level": "1"},
    }
    assert {entry.target_id for entry in audit_log(chat_server)} == {world.guild_id}
    # The guild's own log tells what has changed, and not why the administrator did it.
    own = (await world.bob.rest.get(f"/v1/guilds/{world.guild_id}/audit-logs")).expect(200)["audit_log_entries"][0]
    assert own["user_id"] == world.carol.id
    assert {"name", "disabled_operations", "owner_id", "vanity_url_code"} <= {
        change["key"] for change in own["changes"]
    }

    # Whatever cannot be taken leaves all the rest undone.
    for body, refusal in (
        ({"name": "x" * 101}, (400, "INVALID_FORM_BODY", {"name": "STRING_LENGTH_INVALID"})),
        ({"add_features": ["BEER"]}, (400, "INVALID_FORM_BODY", {"add_features.0": "INVALID_FORMAT"})),
        ({"remove_features": "ALL"}, (400, "INVALID_FORM_BODY", {"remove_features": "INVALID_FORMAT"})),
        (
            {"vanity_url_code": "chat"},
            (400, "INVALID_FORM_BODY", {"vanity_url_code": "VANITY_URL_CODE_CANNOT_CONTAIN_SERVICE"}),
        ),
        ({"new_owner_id": world.admin.id}, (404, "UNKNOWN_MEMBER", {})),
        ({"new_owner_id": world.bot.id}, (400, "CANNOT_TRANSFER_OWNERSHIP_TO_BOT", {})),
        ({"disabled_operations": -1}, (400, "INVALID_FORM_BODY", {"disabled_operations": "INVALID_FORMAT"})),
        ({"settings": {"mfa_level": 2}}, (400, "INVALID_FORM_BODY", {"settings.mfa_level": "INVALID_FORMAT"})),
        ({"fields": ["owner"]}, (400, "INVALID_FORM_BODY", {"fields.0": "INVALID_FORMAT"})),
        (
            {"add_features": ["DISCOVERABLE"]},
            (400, "INVALID_FORM_BODY", {"verification_level": "DISCOVERABLE_GUILD_VERIFICATION_LEVEL_TOO_LOW"}),
        ),
        (
            {"remove_features": ["VANITY_URL"], "vanity_url_code": "other"},
            (400, "INVALID_FORM_BODY", {"vanity_url_code": "VANITY_URL_REQUIRES_FEATURE"}),
        ),
    ):
        found = await ask.refused("PATCH", body={"verification_level": 0, "mfa_level": 0, **body})
        assert found == refusal, body
    # Nothing named, nothing done, nothing recorded.
    entries = audit_log(chat_server)
    assert (await ask.change())["name"] == "Harbour"
    assert audit_log(chat_server) == entries
    assert (await ask.change(vanity_url_code=None))["vanity_url_code"] is None
    assert (await world.anyone.get("/v1/invites/old-harbour")).status == 404
    assert (await ask.change(add_features=["DISCOVERABLE"], verification_level=1))["features"] == [
        "DISCOVERABLE",
        "VANITY_URL",
    ]


async def test_a_guild_is_closed_and_opened_again(
    chat_server: ChatServer, chat_world: World, ask: Asking, autojump_clock: MockClock
) -> None:
    bob = await chat_world.bob.connect()
    await ask.change(add_features=["UNAVAILABLE_FOR_EVERYONE"])
    gone = await bob.expect("GUILD_DELETE")
    assert (gone.data["id"], gone.data["unavailable"]) == (chat_world.guild_id, True)
    assert (await ask.own()).expect(403)["code"] == "MISSING_ACCESS"
    assert (await ask("GET")).expect(200)["guild"]["features"].count("UNAVAILABLE_FOR_EVERYONE") == 1
    await ask.change(remove_features=["UNAVAILABLE_FOR_EVERYONE"])
    assert (await bob.expect("GUILD_CREATE")).data["id"] == chat_world.guild_id
    (await ask.own()).expect(200)

    # What is switched off is switched off at once.
    await ask.change(settings={"disabled_operations": 16})
    refused = await chat_world.bob.rest.post(f"/v1/channels/{chat_world.channel_id}/messages", {"content": "hello"})
    assert refused.expect(403)["code"] == "FEATURE_TEMPORARILY_DISABLED"
    await ask.change(disabled_operations=0)
    (await chat_world.bob.rest.post(f"/v1/channels/{chat_world.channel_id}/messages", {"content": "hello"})).expect(200)

    # Somebody changes the store behind the server's back: a reload takes it up.
    renamed = "UPDATE guilds SET name = 'Quay' WHERE id = ?"
    for path, action in (("/reload", "reload_guild"), ("/shutdown", "shutdown_guild")):
        await chat_server.database.write(
            lambda connection: connection.execute(
                "UPDATE guilds SET name = 'Lost' WHERE id = ?", (chat_world.guild_id,)
            )
        )
        await chat_server.database.write(lambda connection: connection.execute(renamed, (chat_world.guild_id,)))
        (await ask("POST", path)).expect(204)
        assert ask.last() == (action, "guild", chat_world.guild_id, {})
        assert (await ask.own()).expect(200)["name"] == "Quay"
        await chat_world.bob.rest.post(f"/v1/channels/{chat_world.channel_id}/messages", {"content": path})
        assert (await bob.expect("MESSAGE_CREATE", where=lambda data, path=path: data["content"] == path)).data[
            "content"
        ] == path


async def test_members_are_listed_added_removed_and_kept_out(
    chat_server: ChatServer, chat_world: World, ask: Asking, autojump_clock: MockClock
) -> None:
    world = chat_world
    bob, admin = await world.bob.connect(), await world.admin.connect()

    async def listed(query: str = "") -> tuple[list[str], int]:
        answer = (await ask("GET", f"/members{query}")).expect(200)
        return [member["user"]["username"] for member in answer["members"]], answer["total"]

    names, total = await listed()
    assert total == len(names) == 4
    assert await listed("?q=AL") == (["alice", "alices_bot"], 2)
    assert await listed(f"?q={world.bob.id}") == (["bob"], 1)
    assert await listed("?limit=1&offset=3") == (names[3:], 4)
    assert await listed(f"?q={world.admin.id}") == ([], 0)
    assert ask.last()[:3] == ("list_guild_members", "guild", world.guild_id)
    owner = (await ask("GET", "/members?q=alice")).expect(200)["members"][0]
    assert (owner["is_owner"], owner["user"]["discriminator"].isdigit()) == (True, True)

    added = (await ask("PUT", f"/members/{world.admin.id}")).expect(200)["member"]
    assert (added["user"]["id"], added["join_source_type"], added["is_owner"]) == (world.admin.id, 4, False)
    assert ask.last() == ("force_add_member", "guild_member", world.admin.id, {"guild_id": world.guild_id})
    assert (await bob.expect("GUILD_MEMBER_ADD")).data["user"]["id"] == world.admin.id
    assert (await admin.expect("GUILD_CREATE")).data["id"] == world.guild_id
    assert (await listed())[1] == 5
    assert (await ask("PUT", f"/members/{world.admin.id}")).expect(200)["member"]["joined_at"] == added["joined_at"]
    assert await ask.refused("PUT", f"/members/{UNKNOWN}") == (404, "UNKNOWN_USER", {})

    (await ask("DELETE", f"/members/{world.admin.id}", reason="too loud")).expect(204)
    assert ask.last() == ("kick_member", "guild_member", world.admin.id, {"guild_id": world.guild_id})
    assert (await bob.expect("GUILD_MEMBER_REMOVE")).data["user"]["id"] == world.admin.id
    assert await ask.refused("DELETE", f"/members/{world.admin.id}") == (404, "UNKNOWN_MEMBER", {})
    for method, path in (("DELETE", f"/members/{world.alice.id}"), ("PUT", f"/bans/{world.alice.id}")):
        assert await ask.refused(method, path, {}) == (403, "MISSING_PERMISSIONS", {})

    said = (await world.carol.rest.post(f"/v1/channels/{world.channel_id}/messages", {"content": "spam"})).expect(200)
    body = {"reason": "spam", "delete_message_seconds": 3_600, "ban_duration_seconds": 60}
    ban = (await ask("PUT", f"/bans/{world.carol.id}", body, reason="for us alone")).expect(200)["ban"]
    assert (ban["user"]["id"], ban["reason"], ban["moderator_id"]) == (world.carol.id, "spam", world.admin.id)
    assert ask.last() == (
        "ban_member",
        "guild_member",
        world.carol.id,
        {
            "guild_id": world.guild_id,
            "reason": "spam",
            "duration_seconds": "60",
            "delete_message_seconds": "3600",
        },
    )
    assert (await bob.expect("GUILD_BAN_ADD")).data["user"]["id"] == world.carol.id
    assert (await bob.expect("MESSAGE_DELETE_BULK")).data["ids"] == [said["id"]]
    own = (await world.alice.rest.get(f"/v1/guilds/{world.guild_id}/audit-logs")).expect(200)["audit_log_entries"]
    assert [entry.get("reason") for entry in own if entry["user_id"] == world.admin.id] == ["spam", None]
    assert await ask.refused("PUT", f"/members/{world.carol.id}") == (403, "USER_BANNED_FROM_GUILD", {})
    for wrong in ({"reason": "x" * 513}, {"delete_message_seconds": -1}, {"ban_duration_seconds": 10**12}):
        assert (await ask.refused("PUT", f"/bans/{world.carol.id}", wrong))[1] == "INVALID_FORM_BODY"
    (await ask("DELETE", f"/bans/{world.carol.id}")).expect(204)
    assert ask.last()[0] == "unban_member"
    assert await ask.refused("DELETE", f"/bans/{world.carol.id}") == (
        400,
        "INVALID_FORM_BODY",
        {"user_id": "USER_IS_NOT_BANNED"},
    )
    (await ask("PUT", f"/members/{world.carol.id}")).expect(200)

    # Two administrators at once: one removes, the other is told that there is nobody.
    answers: list[int] = []

    async def kick() -> None:
        answers.append((await ask("DELETE", f"/members/{world.carol.id}")).status)

    entries = len(audit_log(chat_server))
    async with trio.open_nursery() as nursery:
        nursery.start_soon(kick)
        nursery.start_soon(kick)
    assert sorted(answers) == [204, 404]
    assert len(audit_log(chat_server)) == entries + 1


async def test_what_a_guild_holds_is_read_and_taken_out_and_the_guild_ends(
    chat_server: ChatServer, chat_world: World, ask: Asking, autojump_clock: MockClock
) -> None:
    world = chat_world
    bob = await world.bob.connect()
    for kind, body in (("emojis", {}), ("stickers", {"description": "", "tags": []})):
        new = {"name": "anchor", "image": PIXEL, **body}
        made = (await world.alice.rest.post(f"/v1/guilds/{world.guild_id}/{kind}", new)).expect(200)
        assert (await ask("GET")).expect(200)["guild"][f"{kind[:-1]}_count"] == 1
        [found] = (await ask("GET", f"/{kind}")).expect(200)[kind]
        assert (found["id"], found["name"], found["creator"]["username"]) == (made["id"], "anchor", "alice")
        assert ask.last() == (f"list_guild_{kind}", "guild", world.guild_id, {"result_count": "1"})
        image = f"/media/{kind}/{made['id']}.webp"
        assert (await world.anyone.get(image)).status == 200
        (await ask("DELETE", f"/{kind}/{made['id']}")).expect(204)
        assert ask.last() == (
            f"purge_guild_{kind[:-1]}",
            f"guild_{kind[:-1]}",
            made["id"],
            {"guild_id": world.guild_id, "name": "anchor"},
        )
        assert (await bob.expect(f"GUILD_{kind.upper()}_UPDATE", where=lambda data, kind=kind: not data[kind])).data[
            kind
        ] == []
        assert (await world.anyone.get(image)).status == 404
        assert (await ask.refused("DELETE", f"/{kind}/{made['id']}"))[:2] == (404, f"UNKNOWN_{kind[:-1].upper()}")

    log = (await ask("GET", "/audit-logs?limit=1")).expect(200)["audit_log_entries"]
    rest = (await ask("GET", f"/audit-logs?before={log[0]['id']}&user_id={world.alice.id}")).expect(200)
    assert len(log) == 1
    assert {entry["user_id"] for entry in rest["audit_log_entries"]} == {world.alice.id}
    assert {user["id"] for user in rest["users"]} == {world.alice.id}
    assert ask.last() == (
        "list_guild_audit_log",
        "guild",
        world.guild_id,
        {
            "limit": "50",
            "entry_count": str(len(rest["audit_log_entries"])),
            "before_entry_id": log[0]["id"],
            "user_id": world.alice.id,
        },
    )

    (await ask("DELETE", reason="abandoned")).expect(204)
    assert (await bob.expect("GUILD_DELETE")).data["id"] == world.guild_id
    assert ask.last()[:3] == ("delete_guild", "guild", world.guild_id)
    assert ask.last()[3]["owner_id"] == world.alice.id
    assert (await ask("GET")).expect(404)["code"] == "UNKNOWN_GUILD"
    assert (await ask("DELETE")).expect(404)["code"] == "UNKNOWN_GUILD"
    assert (await ask.own()).expect(404)["code"] == "UNKNOWN_GUILD"
