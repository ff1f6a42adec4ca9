"""Messages over HTTP."""

from __future__ import annotations

import pytest

from chat.testing.world import World


async def test_send_read_edit_and_delete(chat_world: World) -> None:
    bob, carol = chat_world.bob.rest, chat_world.carol.rest
    sent = (await bob.send_message(chat_world.channel_id, "hello", nonce="n1")).expect(200)
    assert (sent["content"], sent["nonce"], sent["author"]["id"]) == ("hello", "n1", chat_world.bob.id)
    path = f"/v1/channels/{chat_world.channel_id}/messages/{sent['id']}"
    assert (await carol.get(path)).expect(200) == sent
    assert (await carol.edit_message(chat_world.channel_id, sent["id"], "x")).code == "CANNOT_EDIT_OTHER_USER_MESSAGE"
    assert (await carol.delete(path)).code == "MISSING_PERMISSIONS"
    edited = (await bob.edit_message(chat_world.channel_id, sent["id"], "better")).expect(200)
    assert edited["edited_timestamp"] is not None
    assert (await carol.messages(chat_world.channel_id)).expect(200)[0] == edited
    gone = await bob.delete(path)
    assert (gone.status, gone.body) == (204, b"")
    for attempt in (bob.get(path), bob.delete(path), bob.edit_message(chat_world.channel_id, sent["id"], "x")):
        answer = await attempt
        assert (answer.status, answer.code) == (404, "UNKNOWN_MESSAGE")


async def test_what_one_writes_the_others_receive(chat_world: World) -> None:
    alice, bot = await chat_world.alice.connect(), await chat_world.bot.connect()
    sent = (await chat_world.bob.rest.send_message(chat_world.channel_id, "hello")).expect(200)
    for client in (alice, bot):
        created = (await client.expect("MESSAGE_CREATE")).data
        assert sent.items() <= created.items()
        assert (created["guild_id"], created["channel_type"]) == (chat_world.guild_id, 0)
    (await chat_world.bob.rest.edit_message(chat_world.channel_id, sent["id"], "better")).expect(200)
    assert (await alice.expect("MESSAGE_UPDATE")).data["content"] == "better"
    (await chat_world.bob.rest.delete_message(chat_world.channel_id, sent["id"])).expect(204)
    deleted = (await alice.expect("MESSAGE_DELETE")).data
    assert (deleted["id"], deleted["channel_id"]) == (sent["id"], chat_world.channel_id)


async def test_pages(chat_world: World) -> None:
    bob = chat_world.bob.rest
    ids = [(await bob.send_message(chat_world.channel_id, str(number))).expect(200)["id"] for number in range(6)]

    async def page(**query: str | int) -> list[str]:
        return [message["content"] for message in (await bob.messages(chat_world.channel_id, **query)).expect(200)]

    assert await page() == ["5", "4", "3", "2", "1", "0"]
    assert await page(limit=2) == ["5", "4"]
    assert await page(before=ids[3], limit=2) == ["2", "1"]
    assert await page(after=ids[1], limit=2) == ["3", "2"]
    assert await page(around=ids[3], limit=3) == ["4", "3", "2"]
    assert await page(around=ids[3], limit=1) == ["3"]
    assert await page(around=ids[0], limit=4) == ["3", "2", "1", "0"]
    assert await page(around=ids[5], limit=4) == ["5", "4", "3", "2"]
    assert await page(around=ids[4], limit=50) == ["5", "4", "3", "2", "1", "0"]
    greatest = str(2**63 - 1)
    assert await page(before=greatest, limit=2) == ["5", "4"]
    assert await page(after=greatest, limit=2) == []
    assert await page(around=greatest, limit=2) == ["5", "4"]
    assert await page(before="0") == []
    assert await page(after="0", limit=2) == ["1", "0"]
    assert await page(around="0", limit=2) == ["1", "0"]
    for query in ({"limit": 0}, {"limit": 101}, {"limit": "many"}, {"before": "x"}, {"around": "-1"}):
        assert (await bob.messages(chat_world.channel_id, **query)).code == "INVALID_FORM_BODY"
    both = (await bob.messages(chat_world.channel_id, before=ids[1], after=ids[0])).expect(400)
    assert both["errors"][0]["code"] == "CANNOT_SPECIFY_BOTH_BEFORE_AND_AFTER"


@pytest.mark.parametrize(
    ("body", "path", "code"),
    [
        ({"content": 1}, "content", "INVALID_FORMAT"),
        ({"content": "x" * 4001}, "content", "CONTENT_EXCEEDS_MAX_LENGTH"),
        ({"content": "x", "nonce": "n" * 33}, "nonce", "CONTENT_EXCEEDS_MAX_LENGTH"),
        ({"content": "x", "nonce": 1.5}, "nonce", "INVALID_FORMAT"),
        ({"content": "x", "nonce": True}, "nonce", "INVALID_FORMAT"),
        ({"content": "x", "flags": -1}, "flags", "INVALID_FORMAT"),
        ({"content": "x", "flags": "4"}, "flags", "INVALID_FORMAT"),
        ({"content": "x", "tts": 1}, "tts", "INVALID_FORMAT"),
        ({"content": "x", "message_reference": {}}, "message_reference.message_id", "INVALID_FORMAT"),
        (
            {"content": "x", "message_reference": {"message_id": "01"}},
            "message_reference.message_id",
            "INVALID_SNOWFLAKE_FORMAT",
        ),
        (
            {"content": "x", "message_reference": {"message_id": "1", "type": 1}},
            "message_reference.type",
            "INVALID_FORMAT",
        ),
        ({"content": "x", "allowed_mentions": {"parse": ["all"]}}, "allowed_mentions.parse.0", "INVALID_FORMAT"),
        ({"content": "x", "allowed_mentions": {"users": ["1"] * 101}}, "allowed_mentions.users", "INVALID_FORMAT"),
        (
            {"content": "x", "allowed_mentions": {"parse": ["users"], "users": ["1"]}},
            "allowed_mentions.parse",
            "INVALID_FORMAT",
        ),
        (
            {"content": "x", "allowed_mentions": {"parse": ["roles"], "roles": ["1"]}},
            "allowed_mentions.parse",
            "INVALID_FORMAT",
        ),
        ({"content": "x", "attachments": [{"id": 0}]}, "attachments.0.uploaded_filename", "INVALID_FORMAT"),
        ({"content": "x", "sticker_ids": ["1", "2", "3", "4"]}, "sticker_ids", "INVALID_FORMAT"),
        ({"content": "x", "sticker_ids": "1"}, "sticker_ids", "INVALID_FORMAT"),
        ({"content": "x", "favorite_meme_id": "x"}, "favorite_meme_id", "INVALID_SNOWFLAKE_FORMAT"),
        ([], "root", "INVALID_FORMAT"),
    ],
)
async def test_what_is_wrong_with_a_body(chat_world: World, body: object, path: str, code: str) -> None:
    answer = await chat_world.bob.rest.post(f"/v1/channels/{chat_world.channel_id}/messages", body)
    assert answer.status == 400
    assert [(error["path"], error["code"]) for error in answer.json()["errors"]] == [(path, code)]


@pytest.mark.parametrize(
    "more",
    [
        {},
        {"nonce": 42},
        {"nonce": None},
        {"nonce": ""},
        {"flags": 4096},
        {"embeds": [], "attachments": None, "sticker_ids": []},
        {"allowed_mentions": None},
        {"allowed_mentions": {}},
        {"allowed_mentions": {"parse": ["roles"], "users": ["1", 2], "replied_user": True}},
        {"message_reference": None},
        {"message_reference": {"message_id": 1, "fail_if_not_exists": False}},
        {"something": "else"},
    ],
)
async def test_what_is_fine_with_a_body(chat_world: World, more: dict[str, object]) -> None:
    sent = (await chat_world.bob.rest.send_message(chat_world.channel_id, "hello", **more)).expect(200)
    assert sent["content"] == "hello"
    assert sent.get("nonce") == ("42" if more.get("nonce") == 42 else None)
    assert sent["flags"] == more.get("flags", 0)


ODD_TEXTS = [
    "\u200bx\u200b",
    "\u202ertl",
    "\U0001f468\u200d\U0001f469\u200d\U0001f467" * 100,
    "\x1b[31m red",
    "\ud7ff\ue000",
    "\u0300" * 4_000,
    "\ufdfd" * 4_000,
    "x\r\ny",
    "<@" * 2_000,
    "<a:" * 1_333,
    "`" * 4_000,
    "@everyone" * 444,
]


async def test_odd_texts_come_back_as_they_are(chat_world: World) -> None:
    bob, channel_id = chat_world.bob.rest, chat_world.channel_id
    for text in ODD_TEXTS:
        sent = (await bob.send_message(channel_id, text)).expect(200)
        assert sent["content"] == text
        assert (await bob.get(f"/v1/channels/{channel_id}/messages/{sent['id']}")).expect(200) == sent
        assert (await bob.edit_message(channel_id, sent["id"], text)).expect(200) == sent


@pytest.mark.parametrize(
    "raw",
    [
        b'{"content":"\\ud800"}',
        b'{"content":"\xff"}',
        b'{"content":1e999}',
        b'{"content":"a","flags":99999999999999999999999}',
        b'{"content":"a","nonce":123456789012345678901234567890123}',
        b"[" * 5_000,
        b'{"content":"a"',
        b"{'content':'a'}",
    ],
)
async def test_what_is_no_json(chat_world: World, raw: bytes) -> None:
    for method, path in (("POST", "messages"), ("PATCH", "messages/1"), ("POST", "messages/bulk-delete")):
        answer = await chat_world.bob.rest.request(
            method,
            f"/v1/channels/{chat_world.channel_id}/{path}",
            body=raw,
            headers={"Content-Type": "application/json"},
        )
        assert (answer.status, answer.code) == (400, "INVALID_FORM_BODY")
        assert [error["path"] for error in answer.json()["errors"]] == ["body"]


async def test_an_empty_message_stays_empty_and_is_refused(chat_world: World) -> None:
    for body in ({"content": ""}, {}, {"content": None}, {"content": "   "}):
        answer = await chat_world.bob.rest.post(f"/v1/channels/{chat_world.channel_id}/messages", body)
        assert (answer.status, answer.code) == (400, "CANNOT_SEND_EMPTY_MESSAGE")


async def test_the_same_nonce_gives_the_same_message(chat_world: World) -> None:
    bob = chat_world.bob.rest
    first = (await bob.send_message(chat_world.channel_id, "hello", nonce="n")).expect(200)
    assert (await bob.send_message(chat_world.channel_id, "hello", nonce="n")).expect(200) == first
    assert len((await bob.messages(chat_world.channel_id)).expect(200)) == 1


async def test_an_answer(chat_world: World) -> None:
    bob, carol = chat_world.bob.rest, chat_world.carol.rest
    question = (await bob.send_message(chat_world.channel_id, "why?")).expect(200)
    reference = {
        "message_id": question["id"],
        "channel_id": chat_world.channel_id,
        "guild_id": chat_world.guild_id,
        "type": 0,
    }
    answer = (await carol.send_message(chat_world.channel_id, "because", message_reference=reference)).expect(200)
    assert answer["referenced_message"]["id"] == question["id"]
    reference["message_id"] = "999999999999999999"
    lost = await carol.send_message(chat_world.channel_id, "because", message_reference=reference)
    assert (lost.status, lost.code) == (404, "UNKNOWN_MESSAGE")


async def test_read_states(chat_world: World) -> None:
    bob = await chat_world.bob.connect()
    sent = (await chat_world.alice.rest.send_message(chat_world.channel_id, f"<@{chat_world.bob.id}>")).expect(200)
    path = f"/v1/channels/{chat_world.channel_id}/messages/{sent['id']}/ack"
    assert (await chat_world.bob.rest.post(path, {"mention_count": 0})).status == 204
    acknowledged = (await bob.expect("MESSAGE_ACK")).data
    assert int(acknowledged.pop("version")) > int(sent["id"])
    assert acknowledged == {"channel_id": chat_world.channel_id, "message_id": sent["id"], "mention_count": 0}
    assert (await chat_world.bob.rest.post(path)).status == 204
    assert (await chat_world.bob.rest.post(path, {"mention_count": -1})).status == 400
    assert (await chat_world.bot.rest.post(path)).code == "ACCESS_DENIED"
    assert (await chat_world.bob.rest.delete(f"/v1/channels/{chat_world.channel_id}/messages/ack")).status == 204


async def test_messages_of_a_guild_that_is_closed(chat_world: World) -> None:
    sent = (await chat_world.bob.rest.send_message(chat_world.channel_id, "hello")).expect(200)
    state = f"/v1/_dev/guilds/{chat_world.guild_id}"
    (await chat_world.anyone.post(state, {"features": ["UNAVAILABLE_FOR_EVERYONE"]})).expect(200)
    base = f"/v1/channels/{chat_world.channel_id}"
    for method, path in [
        ("GET", f"{base}/messages"),
        ("POST", f"{base}/messages"),
        ("GET", f"{base}/messages/{sent['id']}"),
        ("PATCH", f"{base}/messages/{sent['id']}"),
        ("DELETE", f"{base}/messages/{sent['id']}"),
        ("POST", f"{base}/messages/{sent['id']}/ack"),
        ("DELETE", f"{base}/messages/ack"),
        ("POST", f"{base}/typing"),
        ("GET", f"{base}/invites"),
        ("POST", f"{base}/invites"),
    ]:
        answer = await chat_world.bob.rest.request(method, path, json={"content": "x"})
        assert (answer.status, answer.code) == (403, "MISSING_ACCESS"), (method, path)
