"""Messages that administrators look up and delete, and applications that they look up and hand over."""

from __future__ import annotations

from typing import Any, Final

import pytest
from trio.testing import MockClock

from chat.admin import buckets
from chat.testing.server import ChatServer
from chat.testing.world import World
from tests.administration.access_walk import Walked, below, walk
from tests.administration.audit import audit_log
from tests.webhooks.surfaces import form, post_form

UNKNOWN: Final = "1234567890"
CHANNEL: Final = "/v1/admin/channels/{channel_id}/messages"
APPLICATION: Final = "/v1/admin/applications/{application_id}"
ROWS: Final = [
    Walked("GET", CHANNEL, ("message:lookup",), buckets.LOOKUP),
    Walked("GET", f"{CHANNEL}/{{message_id}}", ("message:lookup",), buckets.LOOKUP),
    Walked("GET", "/v1/admin/messages?message_id=1", ("message:lookup",), buckets.LOOKUP),
    Walked("DELETE", f"{CHANNEL}/{{message_id}}", ("message:delete",), buckets.MESSAGE),
    Walked("GET", "/v1/admin/applications?owner_id={user_id}", ("application:list:by_owner",), buckets.LOOKUP),
    Walked("GET", APPLICATION, ("application:lookup",), buckets.LOOKUP),
    Walked(
        "POST",
        f"{APPLICATION}/transfer-ownership",
        ("application:transfer_ownership",),
        buckets.MODIFY,
        {"new_owner_id": UNKNOWN},
    ),
]


def last(server: ChatServer) -> tuple[str, str, str, dict[str, Any]]:
    """Action, target and metadata of the newest entry."""
    entry = audit_log(server)[-1]
    return entry.action, entry.target_type, entry.target_id, dict(entry.metadata)


async def test_messages_are_read_found_and_deleted_wherever_they_stand(
    chat_server: ChatServer, chat_world: World, autojump_clock: MockClock
) -> None:
    world, admin = chat_world, chat_world.admin.rest
    values = {"channel_id": world.channel_id, "message_id": UNKNOWN, "user_id": world.bob.id, "application_id": UNKNOWN}
    assert below("/v1/admin/channels", "/v1/admin/applications") <= {
        (row.method, row.path.partition("?")[0]) for row in ROWS
    }
    await walk(chat_server, world, ROWS, values)

    public = f"/v1/channels/{world.channel_id}/messages"
    written = [(await world.bob.rest.post(public, {"content": f"number {n}"})).expect(200)["id"] for n in range(5)]
    channel = f"/v1/admin/channels/{world.channel_id}/messages"

    async def listed(query: str) -> list[str]:
        answer = (await admin.get(f"{channel}?{query}")).expect(200)
        assert answer["channel"]["guild_id"] == world.guild_id
        return [message["id"] for message in answer["messages"]]

    assert await listed("limit=2") == [written[4], written[3]]
    assert await listed(f"before={written[3]}&limit=2") == [written[2], written[1]]
    assert await listed(f"after={written[3]}") == [written[4]]
    assert await listed(f"around={written[2]}&limit=3") == [written[3], written[2], written[1]]
    assert last(chat_server) == (
        "list_channel_messages",
        "message",
        "0",
        {
            "channel_id": world.channel_id,
            "limit": "3",
            "message_count": "3",
            "around_message_id": written[2],
        },
    )
    for wrong in ("limit=0", "limit=101", "before=x"):
        assert (await admin.get(f"{channel}?{wrong}")).expect(400)["code"] == "INVALID_FORM_BODY"

    # A conversation between others is read like a guild's channel, and nobody notices.
    opened = (await world.alice.rest.post("/v1/users/@me/channels", {"recipient_id": world.bob.id})).expect(200)["id"]
    secret = (await world.alice.rest.post(f"/v1/channels/{opened}/messages", {"content": "psst"})).expect(200)["id"]
    one = f"/v1/admin/channels/{opened}/messages/{secret}"
    answer = (await admin.get(one)).expect(200)
    assert (answer["message"]["content"], answer["channel"]["guild_id"]) == ("psst", None)
    assert last(chat_server) == ("get_message", "message", secret, {"channel_id": opened})

    # Found by its id, by its file, by an address.
    posted = (await post_form(world.bob.rest, public, form([("files[0]", "a.txt", b"hello")], b"{}"))).expect(200)
    file = posted["attachments"][0]
    for query, message_id, word in (
        (f"message_id={secret}", secret, "message_id"),
        (f"attachment_id={file['id']}", posted["id"], "attachment_id"),
        (f"link=https://chat.example/channels/@me/{opened}/{secret}", secret, "link"),
        (f"link=http://h/channels/{world.guild_id}/{world.channel_id}/{written[0]}%3Fjump", written[0], "link"),
        (f"link={file['url'].partition('?')[0]}", posted["id"], "link"),
    ):
        [found] = (await admin.get(f"/v1/admin/messages?{query}")).expect(200)["messages"]
        assert found["message"]["id"] == message_id, query
        metadata = {"selector": word, "found": "true", "channel_id": found["channel"]["id"]}
        assert last(chat_server) == ("lookup_message", "message", message_id, metadata)
    for query in (
        f"message_id={UNKNOWN}",
        f"attachment_id={UNKNOWN}",
        "link=https://chat.example/",
        f"link=/channels/1/{opened}/{written[0]}",
        "link=/channels/1/9999999999999999999/9999999999999999999",
        "link=/attachments/1/9999999999999999999/a",
    ):
        assert (await admin.get(f"/v1/admin/messages?{query}")).expect(200)["messages"] == [], query
        assert last(chat_server)[2:] == ("0", {"selector": query.partition("=")[0], "found": "false"})
    entries = audit_log(chat_server)
    for query in ("", "?link=", "?message_id=x"):
        assert (await admin.get(f"/v1/admin/messages{query}")).expect(400)["code"] == "INVALID_FORM_BODY"

    for target, code in (
        (f"/v1/admin/channels/{UNKNOWN}/messages/{secret}", "UNKNOWN_CHANNEL"),
        (f"/v1/admin/channels/{world.channel_id}/messages/{secret}", "UNKNOWN_MESSAGE"),
    ):
        for method in ("GET", "DELETE"):
            assert (await admin.request(method, target)).expect(404)["code"] == code
    assert audit_log(chat_server) == entries

    bob = await world.bob.connect()
    await world.alice.rest.put(f"/v1/channels/{opened}/messages/pins/{secret}")
    (await admin.request("DELETE", one, headers={"X-Audit-Log-Reason": "threat"})).expect(204)
    gone = (await bob.expect("MESSAGE_DELETE")).data
    assert (gone["id"], gone["channel_id"]) == (secret, opened)
    assert last(chat_server) == (
        "delete_message",
        "message",
        secret,
        {"channel_id": opened, "author_id": world.alice.id},
    )
    assert audit_log(chat_server)[-1].reason == "threat"
    assert (await admin.delete(one)).expect(404)["code"] == "UNKNOWN_MESSAGE"
    assert (await world.alice.rest.get(f"/v1/channels/{opened}/messages")).expect(200) == []


@pytest.mark.chat_settings(**{"limits.max_applications_per_user": 1})
async def test_an_application_is_looked_up_and_handed_over(
    chat_server: ChatServer, chat_world: World, autojump_clock: MockClock
) -> None:
    world, admin = chat_world, chat_world.admin.rest
    path = f"/v1/admin/applications/{world.bot.application_id}"
    shown = (await admin.get(path)).expect(200)["application"]
    assert (shown["owner_user_id"], shown["has_bot_token"]) == (world.alice.id, True)
    assert last(chat_server) == ("get_application", "application", world.bot.application_id, {})
    listed = (await admin.get(f"/v1/admin/applications?owner_id={world.alice.id}")).expect(200)["applications"]
    assert listed == [shown]
    assert last(chat_server) == ("list_user_applications", "user", world.alice.id, {"application_count": "1"})

    entries = audit_log(chat_server)
    (await world.bob.rest.post("/v1/oauth2/applications", {"name": "own"})).expect(200)
    for target, body, status, code in (
        (f"/v1/admin/applications/{UNKNOWN}", {"new_owner_id": world.bob.id}, 404, "UNKNOWN_APPLICATION"),
        (path, {"new_owner_id": UNKNOWN}, 404, "UNKNOWN_USER"),
        (path, {"new_owner_id": world.bot.id}, 400, "CANNOT_TRANSFER_OWNERSHIP_TO_BOT"),
        (path, {"new_owner_id": world.bob.id}, 400, "MAX_APPLICATIONS"),
        (path, {}, 400, "INVALID_FORM_BODY"),
        (path, {"new_owner_id": "x"}, 400, "INVALID_FORM_BODY"),
    ):
        refused = await admin.post(f"{target}/transfer-ownership", body)
        assert refused.expect(status)["code"] == code, body
    for query in ("", "?owner_id=x"):
        assert (await admin.get(f"/v1/admin/applications{query}")).expect(400)["code"] == "INVALID_FORM_BODY"
    assert (await admin.get(f"/v1/admin/applications?owner_id={UNKNOWN}")).expect(404)["code"] == "UNKNOWN_USER"
    assert (await admin.get(f"/v1/admin/applications/{UNKNOWN}")).expect(404)["code"] == "UNKNOWN_APPLICATION"
    assert audit_log(chat_server) == entries

    moved = (await admin.post(f"{path}/transfer-ownership", {"new_owner_id": world.carol.id})).expect(200)
    assert moved["application"] == shown | {
        "owner_user_id": world.carol.id,
        "owner_username": "carol",
        "owner_global_name": moved["application"]["owner_global_name"],
        "owner_discriminator": moved["application"]["owner_discriminator"],
    }
    assert last(chat_server) == (
        "transfer_ownership",
        "application",
        world.bot.application_id,
        {"old_owner_id": world.alice.id, "new_owner_id": world.carol.id},
    )
    own = f"/v1/oauth2/applications/{world.bot.application_id}"
    assert (await world.alice.rest.get(own)).status == 403
    assert (await world.carol.rest.get(own)).expect(200)["id"] == world.bot.application_id
    (await world.bot.rest.get("/v1/users/@me")).expect(200)  # the token is the bot's, whoever owns it
