"""In every field text with nothing to be seen in it counts as empty, but inside embeds; NUL reaches nobody (design 8,
9)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from chat.testing.rest_client import Response
from chat.testing.world import World
from tests.webhooks.surfaces import new_webhook, webhook_path

INVISIBLE = ["\x00", "\u200b\u200d", " \x00\ufeff\t", "\u3164\u2800"]

Field = Callable[[World, str], Awaitable[Response]]
"""Sends the text in one field."""


def body_of(method: str, path: str, **members: Any) -> Field:
    """A field of a body: where `TEXT` stands. `{guild}`, `{channel}`, `{bob}` of the path are the world's."""

    def put(value: Any, text: str) -> Any:
        if isinstance(value, dict):
            return {name: put(member, text) for name, member in value.items()}
        if isinstance(value, list):
            return [put(member, text) for member in value]
        return text if value == "TEXT" else value

    async def send(world: World, text: str) -> Response:
        names = {"guild": world.guild_id, "channel": world.channel_id, "voice": world.voice_channel_id}
        address = path.format(**names, bob=world.bob.id)
        return await world.alice.rest.request(method, address, json=put(members, text))

    return send


FIELDS: dict[str, Field] = {
    "message": body_of("POST", "/v1/channels/{channel}/messages", content="TEXT"),
    "embed title": body_of("POST", "/v1/channels/{channel}/messages", embeds=[{"title": "TEXT"}]),
    "embed description": body_of("POST", "/v1/channels/{channel}/messages", embeds=[{"description": "TEXT"}]),
    "embed author": body_of("POST", "/v1/channels/{channel}/messages", embeds=[{"author": {"name": "TEXT"}}]),
    "embed footer": body_of("POST", "/v1/channels/{channel}/messages", embeds=[{"footer": {"text": "TEXT"}}]),
    "embed field": body_of(
        "POST", "/v1/channels/{channel}/messages", embeds=[{"fields": [{"name": "TEXT", "value": "TEXT"}]}]
    ),
    "guild name": body_of("PATCH", "/v1/guilds/{guild}", name="TEXT"),
    "new guild": body_of("POST", "/v1/guilds", name="TEXT"),
    "channel name": body_of("POST", "/v1/guilds/{guild}/channels", name="TEXT", type=0),
    "voice channel name": body_of("PATCH", "/v1/channels/{voice}", name="TEXT"),
    "topic": body_of("PATCH", "/v1/channels/{channel}", topic="TEXT"),
    "role name": body_of("POST", "/v1/guilds/{guild}/roles", name="TEXT"),
    "thread name": body_of("POST", "/v1/channels/{channel}/threads", name="TEXT", type=11),
    "webhook name": body_of("POST", "/v1/channels/{channel}/webhooks", name="TEXT"),
    "nickname": body_of("PATCH", "/v1/guilds/{guild}/members/{bob}", nick="TEXT"),
    "own nickname": body_of("PATCH", "/v1/guilds/{guild}/members/@me", nick="TEXT"),
    "bio": body_of("PATCH", "/v1/users/@me", bio="TEXT"),
    "pronouns": body_of("PATCH", "/v1/users/@me", pronouns="TEXT"),
    "global name": body_of("PATCH", "/v1/users/@me", global_name="TEXT"),
    "note": body_of("PUT", "/v1/users/@me/notes/{bob}", note="TEXT"),
    "custom status": body_of("PATCH", "/v1/users/@me/settings", custom_status={"text": "TEXT"}),
    "folder": body_of("PATCH", "/v1/users/@me/settings", guild_folders=[{"id": 1, "name": "TEXT"}]),
    "application": body_of("POST", "/v1/oauth2/applications", name="TEXT"),
    "ban reason": body_of("PUT", "/v1/guilds/{guild}/bans/{bob}", reason="TEXT"),
    "report": body_of("POST", "/v1/reports/user", user_id="1", category="spam", additional_info="TEXT"),
}


def essence(answer: Response) -> Any:
    """What an answer says, apart from what differs every time; codes of fields may be more precise than of none."""
    body = answer.json() if answer.body else None
    if isinstance(body, dict):
        fields = [error["path"] for error in body.get("errors", ())]
        return answer.status, fields, {name: body.get(name) for name in ("code", "nick", "bio", "topic", "name")}
    return answer.status, body


@pytest.mark.parametrize("field", [field for field in FIELDS if not field.startswith("embed ")])
async def test_nothing_to_be_seen_is_empty(chat_world: World, field: str) -> None:
    empty = essence(await FIELDS[field](chat_world, ""))
    for text in INVISIBLE:
        assert essence(await FIELDS[field](chat_world, text)) == empty, ascii(text)


@pytest.mark.parametrize("field", [field for field in FIELDS if field.startswith("embed ")])
async def test_blank_text_of_an_embed_is_text(chat_world: World, field: str) -> None:
    """The idiom of bots for an empty column (design 9); spaces and control characters alone are none."""
    empty = essence(await FIELDS[field](chat_world, ""))
    for text in ("\x00", " \t\r\n", " \x00 "):
        assert essence(await FIELDS[field](chat_world, text)) == empty, ascii(text)
    for text in ("\u200b", "\u2800", "\u3164", "\u00ad", "\ufeff", "\u2060", "\u00a0", "\u200b \u200b"):
        (embed,) = (await FIELDS[field](chat_world, text)).expect(200)["embeds"]
        assert text in str(embed.values()) or ascii(text)[1:-1] in ascii(embed), "sent out as it came"


@pytest.mark.parametrize("field", FIELDS)
async def test_nul_reaches_nobody(chat_world: World, field: str) -> None:
    at_bob = await chat_world.bob.connect()
    answer = await FIELDS[field](chat_world, "be\x00fore")
    assert answer.status < 500
    assert b"u0000" not in answer.body
    assert "\x00" not in repr([payload.data for payload in at_bob.dispatches])
    if answer.status == 200 and field not in {"report"}:
        assert b"before" in answer.body


async def test_what_is_said_beside_the_body(chat_world: World) -> None:
    """A reason in the header."""
    alice, path = chat_world.alice, f"/v1/guilds/{chat_world.guild_id}"
    hidden = {"X-Audit-Log-Reason": b"\xe2\x80\x8b"}
    (await alice.rest.request("PATCH", path, json={"name": "Other"}, headers=hidden)).expect(200)  # type: ignore[arg-type]
    (entry,) = (await alice.rest.get(f"{path}/audit-logs?action_type=1")).expect(200)["audit_log_entries"]
    assert "reason" not in entry


async def test_a_group_and_a_webhook_without_a_name(chat_world: World) -> None:
    """Where a name may be missing, one in which there is nothing to be seen is missing."""
    alice = chat_world.alice.rest
    group = (await alice.post("/v1/users/@me/channels", {"recipients": []})).expect(200)["id"]
    (await alice.patch(f"/v1/channels/{group}", {"name": "both"})).expect(200)
    assert (await alice.patch(f"/v1/channels/{group}", {"name": "\u200b"})).expect(200).get("name") is None
    webhook = await new_webhook(alice, chat_world.channel_id)
    body = {"content": "x", "username": "\u3164", "avatar_url": None}
    said = (await chat_world.anyone.post(f"{webhook_path(webhook)}?wait=true", body)).expect(200)
    assert said["author"]["username"] == webhook["name"]


async def test_a_password_is_what_it_is(chat_world: World) -> None:
    """White space included: somebody who chose it can still sign in."""
    bob, password = chat_world.bob, " " * 12
    body = {"password": bob.password, "new_password": password}
    (await bob.rest.patch("/v1/users/@me", body)).expect(200)
    (await chat_world.anyone.post("/v1/auth/login", {"email": bob.email, "password": password})).expect(200)
