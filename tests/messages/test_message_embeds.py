"""What a message shows beside its text: embeds, stickers, emojis, channels (wire facts 5.3)."""

from __future__ import annotations

from typing import Any

import orjson
import pytest

from chat.registries.message_types import MessageFlag
from chat.registries.permissions import Permission
from chat.testing.rest_client import Response
from chat.testing.world import Actor, World
from tests.messages.test_reaction_routes import set_permissions
from tests.webhooks.surfaces import FORM_HEADERS, data_uri, form, png

RICH = {
    "url": "https://example.com/",
    "title": "Title",
    "description": "Words",
    "color": 0x336699,
    "timestamp": "2026-11-21T10:00:00.000Z",
    "author": {"name": "Somebody", "url": "https://example.com/me", "icon_url": "https://example.com/me.png"},
    "footer": {"text": "Below", "icon_url": "https://example.com/foot.png"},
    "image": {"url": "https://example.com/a.png", "description": "A picture"},
    "thumbnail": {"url": "https://example.com/b.png"},
    "fields": [{"name": "One", "value": "1"}, {"name": "Two", "value": "2", "inline": True}],
}


def refused(answer: Response, status: int, code: str) -> None:
    assert (answer.status, answer.code) == (status, code), answer.body


def wrong_fields(answer: Response) -> list[tuple[str, str]]:
    """The wrong fields with their codes."""
    refused(answer, 400, "INVALID_FORM_BODY")
    return [(error["path"], error["code"]) for error in answer.json()["errors"]]


async def send(actor: Actor, channel_id: str, content: str = "", **more: Any) -> dict[str, Any]:
    """A message as it was answered, and as it is read afterwards."""
    sent: dict[str, Any] = (await actor.rest.send_message(channel_id, content, **more)).expect(200)
    read = (await actor.rest.get(f"/v1/channels/{channel_id}/messages/{sent['id']}")).expect(200)
    assert read == sent
    return sent


# Embeds


async def test_an_embed_is_shown_as_it_was_sent(chat_world: World) -> None:
    bob = chat_world.bob
    at_alice = await chat_world.alice.connect()
    (embed,) = (await send(bob, chat_world.channel_id, embeds=[RICH]))["embeds"]
    for member in ("image", "thumbnail"):
        assert embed[member].pop("proxy_url").startswith("http")
        assert embed[member].pop("flags") == 0
    for member in ("author", "footer"):
        assert embed[member].pop("proxy_icon_url").startswith("http")
    assert embed == {
        "type": "rich",
        **RICH,
        "fields": [{"name": "One", "value": "1", "inline": False}, {"name": "Two", "value": "2", "inline": True}],
    }
    created = (await at_alice.expect("MESSAGE_CREATE")).data
    assert created["embeds"][0]["title"] == "Title"


async def test_what_only_the_server_says_of_an_embed_is_ignored(chat_world: World) -> None:
    body = {
        "type": "video",
        "title": "t",
        "provider": {"name": "Nobody"},
        "video": {"url": "https://example.com/v"},
        "html": "<b>",
        "image": {"url": "https://example.com/a.png", "proxy_url": "javascript:alert(1)", "width": 9, "flags": 16},
    }
    (embed,) = (await send(chat_world.bob, chat_world.channel_id, embeds=[body]))["embeds"]
    assert embed.keys() == {"type", "title", "image"}
    assert (embed["type"], embed["image"].keys()) == ("rich", {"url", "proxy_url", "flags"})
    assert embed["image"]["flags"] == 0
    assert not embed["image"]["proxy_url"].startswith("javascript")


@pytest.mark.parametrize(
    ("embed", "path", "code"),
    [
        ({"title": "x" * 257}, "title", "CONTENT_EXCEEDS_MAX_LENGTH"),
        ({"description": "x" * 4_097}, "description", "CONTENT_EXCEEDS_MAX_LENGTH"),
        ({"title": 7}, "title", "INVALID_FORMAT"),
        ({"title": "x", "color": -1}, "color", "COLOR_VALUE_TOO_LOW"),
        ({"title": "x", "color": 0x1000000}, "color", "COLOR_VALUE_TOO_HIGH"),
        ({"title": "x", "color": "red"}, "color", "INVALID_FORMAT"),
        ({"title": "x", "timestamp": "today"}, "timestamp", "INVALID_ISO_TIMESTAMP"),
        ({"title": "x", "timestamp": "2026-11-21"}, "timestamp", "INVALID_ISO_TIMESTAMP"),
        ({"title": "x", "url": "javascript:alert(1)"}, "url", "INVALID_FORMAT"),
        ({"title": "x", "url": "https://"}, "url", "INVALID_FORMAT"),
        ({"title": "x", "url": "https://a b"}, "url", "INVALID_FORMAT"),
        ({"title": "x", "url": "//example.com"}, "url", "INVALID_FORMAT"),
        ({"title": "x", "url": "https://[::1"}, "url", "INVALID_FORMAT"),
        ({"title": "x", "url": "attachment://a.png"}, "url", "INVALID_FORMAT"),
        ({"title": "x", "url": f"https://e.com/{'x' * 2_048}"}, "url", "CONTENT_EXCEEDS_MAX_LENGTH"),
        ({"image": {"url": "file:///etc/passwd"}}, "image.url", "INVALID_FORMAT"),
        ({"thumbnail": {"url": "data:image/png;base64,AA"}}, "thumbnail.url", "INVALID_FORMAT"),
        ({"author": {"name": "x" * 257}}, "author.name", "CONTENT_EXCEEDS_MAX_LENGTH"),
        ({"author": {"name": "x", "icon_url": "ftp://example.com"}}, "author.icon_url", "INVALID_FORMAT"),
        ({"footer": {"text": "x" * 2_049}}, "footer.text", "CONTENT_EXCEEDS_MAX_LENGTH"),
        ({"fields": [{"name": "n", "value": "v"}] * 26}, "fields", "INVALID_FORMAT"),
        ({"fields": [{"name": "n"}]}, "fields.0.value", "INVALID_FORMAT"),
        ({"fields": [{"name": "", "value": "v"}]}, "fields.0.name", "INVALID_FORMAT"),
        ({"fields": [{"name": "n", "value": "v" * 1_025}]}, "fields.0.value", "CONTENT_EXCEEDS_MAX_LENGTH"),
        ({"fields": [{"name": "n", "value": "v", "inline": "yes"}]}, "fields.0.inline", "INVALID_FORMAT"),
        ("text", "", "INVALID_FORMAT"),
    ],
)
async def test_what_is_wrong_with_an_embed(chat_world: World, embed: object, path: str, code: str) -> None:
    bob, channel_id = chat_world.bob.rest, chat_world.channel_id
    whole_path = f"embeds.0.{path}".rstrip(".")
    answer = await bob.send_message(channel_id, "x", embeds=[embed])
    assert wrong_fields(answer) == [(whole_path, code)]
    sent = (await bob.send_message(channel_id, "x")).expect(200)
    edit = await bob.patch(f"/v1/channels/{channel_id}/messages/{sent['id']}", {"embeds": [embed]})
    assert wrong_fields(edit) == [(whole_path, code)]


@pytest.mark.parametrize(
    "timestamp",
    ["2026-11-21T10:00:00Z", "2026-11-21 10:00:00", "2026-11-21T10:00:00.000", "2026-11-21 12:00:00.0001+02:00"],
)
async def test_how_a_time_stamp_may_be_written(chat_world: World, timestamp: str) -> None:
    (embed,) = (await send(chat_world.bob, chat_world.channel_id, embeds=[{"title": "t", "timestamp": timestamp}]))[
        "embeds"
    ]
    assert embed["timestamp"] == "2026-11-21T10:00:00.000Z"


async def test_so_many_embeds_and_characters_and_no_more(chat_world: World) -> None:
    bob, channel_id = chat_world.bob, chat_world.channel_id
    ten = [{"title": str(number)} for number in range(10)]
    assert len((await send(bob, channel_id, embeds=ten))["embeds"]) == 10
    eleven = await bob.rest.send_message(channel_id, "", embeds=[*ten, {"title": "x"}])
    assert wrong_fields(eleven) == [("embeds", "TOO_MANY_EMBEDS")]
    hundreds = await bob.rest.send_message(channel_id, "", embeds=[{"title": "x"}] * 101)
    assert wrong_fields(hundreds) == [("embeds", "TOO_MANY_EMBEDS")]
    full = [{"description": "x" * 4_000, "footer": {"text": "y" * 1_990}, "author": {"name": "1234567890"}}]
    assert await send(bob, channel_id, "z" * 4_000, embeds=full)
    over = await bob.rest.send_message(channel_id, "", embeds=[*full, {"title": "x"}])
    assert wrong_fields(over) == [("embeds", "CONTENT_EXCEEDS_MAX_LENGTH")]
    pictures = [{"image": {"url": "https://example.com/", "description": "x" * 4_000}}] * 2
    described = await bob.rest.send_message(channel_id, "", embeds=pictures)
    assert wrong_fields(described) == [("embeds", "CONTENT_EXCEEDS_MAX_LENGTH")]


async def test_an_embed_in_which_nothing_stands_is_none(chat_world: World) -> None:
    bob, channel_id = chat_world.bob, chat_world.channel_id
    for nothing in ({}, {"color": 7}, {"url": "https://example.com"}, {"title": ""}, {"fields": []}, {"image": {}}):
        answer = await bob.rest.send_message(channel_id, "", embeds=[nothing])
        refused(answer, 400, "CANNOT_SEND_EMPTY_MESSAGE")
    assert (await send(bob, channel_id, "words", embeds=[{}, {"title": "t"}]))["embeds"] == [
        {"type": "rich", "title": "t"}
    ]


async def test_embeds_ask_for_their_permission(chat_world: World) -> None:
    bob, channel_id = chat_world.bob, chat_world.channel_id
    own = await send(bob, channel_id, "words", embeds=[{"title": "t"}])
    await set_permissions(chat_world, channel_id, deny=Permission.EMBED_LINKS)
    refused(await bob.rest.send_message(channel_id, "x", embeds=[{"title": "t"}]), 403, "MISSING_PERMISSIONS")
    path = f"/v1/channels/{channel_id}/messages/{own['id']}"
    refused(await bob.rest.patch(path, {"embeds": [{"title": "u"}]}), 403, "MISSING_PERMISSIONS")
    assert (await bob.rest.patch(path, {"embeds": []})).expect(200)["embeds"] == []


@pytest.mark.chat_settings(**{"content_policy.blocked_phrases": ["krakeel"]})
async def test_blocked_text_in_an_embed(chat_world: World) -> None:
    bob, channel_id = chat_world.bob.rest, chat_world.channel_id
    sent = (await bob.send_message(channel_id, "x")).expect(200)
    for embed in (
        {"title": "Krakeel"},
        {"footer": {"text": "so ein KRAKEEL"}},
        {"fields": [{"name": "n", "value": "krakeel"}]},
        {"image": {"url": "https://example.com/a.png", "description": "Krakeel"}},
    ):
        refused(await bob.send_message(channel_id, "", embeds=[embed]), 403, "CONTENT_BLOCKED")
        edit = await bob.patch(f"/v1/channels/{channel_id}/messages/{sent['id']}", {"embeds": [embed]})
        refused(edit, 403, "CONTENT_BLOCKED")


async def test_an_embed_shows_a_file_of_its_message(chat_world: World) -> None:
    bob, channel_id = chat_world.bob.rest, chat_world.channel_id
    path = f"/v1/channels/{channel_id}/messages"

    async def send_form(method: str, path: str, embed: object, name: str = "a b.png") -> Response:
        body = form([("files[0]", name, png())], orjson.dumps({"embeds": [embed]}))
        return await bob.request(method, path, body=body, headers=FORM_HEADERS)

    own = {"image": {"url": "attachment://a b.png"}, "footer": {"text": "f", "icon_url": "attachment://a b.png"}}
    sent = (await send_form("POST", path, own)).expect(200)
    (file,), (embed,) = sent["attachments"], sent["embeds"]
    assert embed["image"]["url"].partition("?")[0] == file["url"].partition("?")[0]
    assert (embed["image"]["width"], embed["image"]["height"]) == (file["width"], file["height"])
    assert embed["image"]["content_type"] == "image/png"
    assert embed["footer"]["icon_url"].partition("?")[0] == file["url"].partition("?")[0]
    # An embed goes without a picture whose file is not there, and as a whole where it had nothing else.
    assert (await send_form("POST", path, {"image": {"url": "attachment://b.png"}})).expect(200)["embeds"] == []
    lost = (await bob.send_message(channel_id, "x", embeds=[own])).expect(200)
    assert lost["embeds"] == [{"type": "rich", "footer": {"text": "f"}}]
    message = f"{path}/{sent['id']}"
    assert (await bob.patch(message, {"content": "y", "attachments": []})).expect(200)["embeds"] == lost["embeds"]


async def test_embeds_are_hidden_and_shown_by_authors_and_by_moderators(chat_world: World) -> None:
    alice, bob, channel_id = chat_world.alice, chat_world.bob, chat_world.channel_id
    sent = await send(bob, channel_id, "x", embeds=[{"title": "t"}], flags=int(MessageFlag.SUPPRESS_EMBEDS))
    assert sent["embeds"] == []
    path = f"/v1/channels/{channel_id}/messages/{sent['id']}"
    at_carol = await chat_world.carol.connect()
    shown = (await bob.rest.patch(path, {"flags": 0})).expect(200)
    assert (shown["embeds"], shown["edited_timestamp"]) == ([{"type": "rich", "title": "t"}], None)
    assert (await at_carol.expect("MESSAGE_UPDATE")).data["embeds"] == shown["embeds"]
    hidden = (await alice.rest.patch(path, {"flags": 4})).expect(200)
    assert (hidden["flags"], hidden["embeds"], hidden["content"]) == (4, [], "x")
    refused(await chat_world.carol.rest.patch(path, {"flags": 0}), 403, "MISSING_PERMISSIONS")
    for more in ({"flags": 0, "content": "y"}, {"embeds": []}, {"content": None}, {"attachments": []}, {}):
        refused(await alice.rest.patch(path, more), 403, "CANNOT_EDIT_OTHER_USER_MESSAGE")


# Flags


async def test_flags_that_a_sender_may_set(chat_world: World) -> None:
    everything = (1 << 53) - 1
    sendable = MessageFlag.SUPPRESS_EMBEDS | MessageFlag.SUPPRESS_NOTIFICATIONS | MessageFlag.COMPACT_ATTACHMENTS
    asked = everything & ~MessageFlag.VOICE_MESSAGE & ~MessageFlag.IS_COMPONENTS_V2  # which applications alone may set
    sent = await send(chat_world.bob, chat_world.channel_id, "quiet", flags=asked)
    assert sent["flags"] == sendable
    path = f"/v1/channels/{chat_world.channel_id}/messages/{sent['id']}"
    cleared = (await chat_world.bob.rest.patch(path, {"flags": 0})).expect(200)
    assert cleared["flags"] == sendable & ~MessageFlag.SUPPRESS_EMBEDS
    silent = await send(chat_world.bob, chat_world.channel_id, "@silent", flags=4096)
    assert silent["flags"] == MessageFlag.SUPPRESS_NOTIFICATIONS


async def test_a_voice_message_is_a_recording_and_nothing_else(chat_world: World) -> None:
    bob, channel_id = chat_world.bob.rest, chat_world.channel_id
    path = f"/v1/channels/{channel_id}/messages"
    sound = b"OggS\0\x02" + bytes(20) + b"\x01\x13OpusHead\x01\x01" + bytes(40)

    async def record(
        data: bytes = sound, *, count: int = 1, more: dict[str, Any] | None = None, **of_file: Any
    ) -> Response:
        described = [{"id": number, "duration_secs": 1.5, "waveform": "AAAA", **of_file} for number in range(count)]
        payload = {"flags": 8192, "attachments": described, **(more or {})}
        files = [(f"files[{number}]", "voice.ogg", data) for number in range(count)]
        return await bob.request("POST", path, body=form(files, orjson.dumps(payload)), headers=FORM_HEADERS)

    sent = (await record()).expect(200)
    (file,) = sent["attachments"]
    assert (sent["flags"], file["duration"], file["waveform"]) == (8192, 2, "AAAA")
    for answer in (
        await record(png()),
        await record(count=2),
        await record(waveform=None),
        await record(more={"content": "words"}),
        await record(more={"embeds": [{"title": "t"}]}),
        await bob.send_message(channel_id, "words", flags=8192),
    ):
        assert wrong_fields(answer) == [("flags", "INVALID_FORMAT")]
    assert wrong_fields(await record(waveform="no base64!")) == [("attachments.0.waveform", "INVALID_FORMAT")]


# Stickers


async def sticker(actor: Actor, guild_id: str, name: str = "wave") -> str:
    """The id of a new sticker."""
    body = {"name": name, "image": data_uri(png())}
    made = (await actor.rest.post(f"/v1/guilds/{guild_id}/stickers", body)).expect(200)
    return str(made["id"])


async def test_stickers_of_the_guild(chat_world: World) -> None:
    alice, bob, channel_id = chat_world.alice, chat_world.bob, chat_world.channel_id
    ids = [await sticker(alice, chat_world.guild_id, name) for name in ("wave", "bow", "nod")]
    at_alice = await alice.connect()
    sent = await send(bob, channel_id, sticker_ids=[ids[1], ids[0]])
    assert sent["stickers"] == [
        {"id": ids[1], "name": "bow", "animated": False},
        {"id": ids[0], "name": "wave", "animated": False},
    ]
    assert (await at_alice.expect("MESSAGE_CREATE")).data["stickers"] == sent["stickers"]
    assert len((await send(bob, channel_id, "words", sticker_ids=ids))["stickers"]) == 3
    four = await bob.rest.send_message(channel_id, "", sticker_ids=[*ids, ids[0]])
    assert wrong_fields(four) == [("sticker_ids", "INVALID_FORMAT")]
    refused(await bob.rest.send_message(channel_id, "", sticker_ids=["999999999999999999"]), 404, "UNKNOWN_STICKER")
    # What was sent stays when the sticker goes.
    (await alice.rest.delete(f"/v1/guilds/{chat_world.guild_id}/stickers/{ids[1]}")).expect(204)
    read = (await bob.rest.get(f"/v1/channels/{channel_id}/messages/{sent['id']}")).expect(200)
    assert read["stickers"] == sent["stickers"]
    refused(await bob.rest.send_message(channel_id, "", sticker_ids=[ids[1]]), 404, "UNKNOWN_STICKER")
    edited = (await bob.rest.edit_message(channel_id, sent["id"], "and words")).expect(200)
    assert edited["stickers"] == sent["stickers"]


async def test_stickers_of_elsewhere(chat_world: World) -> None:
    alice, bob, channel_id = chat_world.alice, chat_world.bob, chat_world.channel_id
    elsewhere = (await bob.rest.create_guild("Elsewhere")).expect(200)["id"]
    foreign = await sticker(bob, elsewhere)
    assert (await send(bob, channel_id, sticker_ids=[foreign]))["stickers"][0]["id"] == foreign
    refused(await alice.rest.send_message(channel_id, "", sticker_ids=[foreign]), 404, "UNKNOWN_STICKER")
    opened = (await bob.rest.post("/v1/users/@me/channels", {"recipient_id": alice.id})).expect(200)
    assert (await send(bob, opened["id"], sticker_ids=[foreign]))["stickers"]
    await set_permissions(chat_world, channel_id, deny=Permission.USE_EXTERNAL_STICKERS)
    refused(await bob.rest.send_message(channel_id, "", sticker_ids=[foreign]), 403, "MISSING_PERMISSIONS")
    own = await sticker(alice, chat_world.guild_id)
    assert await send(bob, channel_id, sticker_ids=[own])


# Emojis and channels in the text


async def emoji(actor: Actor, guild_id: str, name: str = "wave") -> str:
    """The id of a new emoji."""
    body = {"name": name, "image": data_uri(png())}
    made = (await actor.rest.post(f"/v1/guilds/{guild_id}/emojis", body)).expect(200)
    return str(made["id"])


async def test_emojis_of_elsewhere_are_their_names_where_they_are_not_allowed(chat_world: World) -> None:
    alice, bob, channel_id = chat_world.alice, chat_world.bob, chat_world.channel_id
    own, elsewhere = (
        await emoji(alice, chat_world.guild_id),
        (await bob.rest.create_guild("Elsewhere")).expect(200)["id"],
    )
    foreign = await emoji(bob, elsewhere, "bow")
    text = f"<:wave:{own}> <a:bow:{foreign}> <:gone:999> `<:bow:{foreign}>`"
    assert (await send(bob, channel_id, text))["content"] == text
    opened = (await bob.rest.post("/v1/users/@me/channels", {"recipient_id": alice.id})).expect(200)
    assert (await send(bob, opened["id"], text))["content"] == text
    await set_permissions(chat_world, channel_id, deny=Permission.USE_EXTERNAL_EMOJIS)
    sent = await send(bob, channel_id, text)
    assert sent["content"] == f"<:wave:{own}> :bow: :gone: `<:bow:{foreign}>`"
    edited = (await bob.rest.edit_message(channel_id, sent["id"], f"<:bow:{foreign}>")).expect(200)
    assert edited["content"] == ":bow:"


async def test_channels_that_everybody_sees_are_named(chat_world: World) -> None:
    alice, bob, channel_id = chat_world.alice, chat_world.bob, chat_world.channel_id
    hidden = {"id": chat_world.guild_id, "type": 0, "allow": "0", "deny": str(int(Permission.VIEW_CHANNEL))}
    body = {"name": "secret", "type": 0, "permission_overwrites": [hidden]}
    secret = (await alice.rest.post(f"/v1/guilds/{chat_world.guild_id}/channels", body)).expect(200)["id"]
    text = f"<#{channel_id}> <#{secret}> <#999999999999999999> <#{channel_id}>"
    here = (await bob.rest.get(f"/v1/channels/{channel_id}")).expect(200)
    for actor in (alice, bob):
        sent = await send(actor, channel_id, text)
        assert sent["mention_channels"] == [{"id": channel_id, "name": here["name"], "type": 0}]
    assert "mention_channels" not in await send(bob, channel_id, "none")
    edited = (await bob.rest.edit_message(channel_id, sent["id"], "none any more")).expect(200)
    assert "mention_channels" not in edited
