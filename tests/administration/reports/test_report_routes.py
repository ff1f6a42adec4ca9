"""People report accounts, messages and guilds (design 7, reports)."""

from __future__ import annotations

import json
from typing import Any

import pytest
from trio.testing import MockClock

from chat.registries.user_flags import UserFlag
from chat.testing.rest_client import Response
from chat.testing.server import ChatServer
from chat.testing.world import World


def kept(server: ChatServer) -> list[tuple[Any, ...]]:
    columns = "kind, reporter_id, reported_user_id, guild_id, channel_id, message_id, category, additional_info, status"
    return server.database.reader.execute(f"SELECT {columns} FROM reports ORDER BY id").fetchall()  # noqa: S608


DIALOGS = {
    "user": [
        "harassment",
        "hate_speech",
        "spam_account",
        "impersonation",
        "underage_user",
        "inappropriate_profile",
        "other",
    ],
    "message": [
        "harassment",
        "hate_speech",
        "violent_content",
        "spam",
        "nsfw_violation",
        "illegal_activity",
        "doxxing",
        "self_harm",
        "child_safety",
        "malicious_links",
        "impersonation",
        "other",
    ],
    "guild": [
        "harassment",
        "hate_speech",
        "extremist_community",
        "illegal_activity",
        "child_safety",
        "raid_coordination",
        "spam",
        "malware_distribution",
        "other",
    ],
}
"""What this family's clients offer to somebody who reports something."""


async def report(world: World, kind: str, **members: object) -> Response:
    """carol reports something."""
    return await world.carol.rest.post(f"/v1/reports/{kind}", {"category": "spam", **members})


async def test_a_message_is_kept_as_it_was(
    chat_server: ChatServer, chat_world: World, autojump_clock: MockClock
) -> None:
    world = chat_world
    sent = (await world.bob.rest.send_message(world.channel_id, "buy now")).expect(200)
    body = {"channel_id": world.channel_id, "message_id": sent["id"], "additional_info": "again"}
    answer = (await report(world, "message", **body)).expect(200)
    assert answer == {"report_id": answer["report_id"], "status": "pending"}
    (await world.bob.rest.delete_message(world.channel_id, sent["id"])).expect(204)
    ids = (int(world.carol.id), int(world.bob.id), int(world.guild_id), int(world.channel_id), int(sent["id"]))
    assert kept(chat_server) == [("message", *ids, "spam", "again", "pending")]
    [(snapshot,)] = chat_server.database.reader.execute("SELECT snapshot FROM reports").fetchall()
    assert json.loads(snapshot)["content"] == "buy now"


async def test_a_guild_and_an_account(chat_server: ChatServer, chat_world: World, autojump_clock: MockClock) -> None:
    world = chat_world
    (await report(world, "guild", guild_id=world.guild_id)).expect(200)
    (await report(world, "user", user_id=world.bob.id, guild_id=world.guild_id, category="scam")).expect(200)
    carol, alice, bob, guild = map(int, (world.carol.id, world.alice.id, world.bob.id, world.guild_id))
    assert kept(chat_server) == [
        ("guild", carol, alice, guild, None, None, "spam", None, "pending"),
        ("user", carol, bob, guild, None, None, "scam", None, "pending"),
    ]


@pytest.mark.parametrize("kind", ["user", "message", "guild"])
async def test_the_categories_of_the_report_dialogs(chat_world: World, kind: str) -> None:
    sent = (await chat_world.bob.rest.send_message(chat_world.channel_id, "look")).expect(200)["id"]
    about = {
        "user": {"user_id": chat_world.bob.id},
        "message": {"channel_id": chat_world.channel_id, "message_id": sent},
        "guild": {"guild_id": chat_world.guild_id},
    }
    for category in DIALOGS[kind]:
        (await report(chat_world, kind, category=category, **about[kind])).expect(200)


async def test_what_cannot_be_reported(chat_server: ChatServer, chat_world: World, autojump_clock: MockClock) -> None:
    world = chat_world
    own = (await world.carol.rest.send_message(world.channel_id, "mine")).expect(200)["id"]
    sent = (await world.bob.rest.send_message(world.channel_id, "his")).expect(200)["id"]
    elsewhere = (await world.bob.rest.open_conversation(world.alice.id)).expect(200)["id"]
    secret = (await world.bob.rest.send_message(elsewhere, "psst")).expect(200)["id"]
    guild = (await world.carol.rest.create_guild("Mine")).expect(200)["id"]
    for kind, members, refusal in (
        ("user", {"user_id": world.carol.id}, (400, "CANNOT_REPORT_YOURSELF")),
        ("user", {"user_id": "77"}, (404, "UNKNOWN_USER")),
        ("message", {"channel_id": world.channel_id, "message_id": own}, (400, "CANNOT_REPORT_OWN_MESSAGE")),
        ("message", {"channel_id": world.channel_id, "message_id": "77"}, (404, "UNKNOWN_MESSAGE")),
        ("message", {"channel_id": elsewhere, "message_id": secret}, (404, "UNKNOWN_CHANNEL")),
        ("guild", {"guild_id": guild}, (400, "CANNOT_REPORT_OWN_GUILD")),
        ("guild", {"guild_id": "77"}, (404, "UNKNOWN_GUILD")),
        ("user", {"user_id": world.bob.id, "category": "boring"}, (400, "INVALID_FORM_BODY")),
        ("user", {"user_id": world.bob.id, "additional_info": "x" * 1_001}, (400, "INVALID_FORM_BODY")),
        ("message", {"message_id": sent}, (400, "INVALID_FORM_BODY")),
    ):
        answer = await report(world, kind, **members)
        assert (answer.status, answer.code) == refusal, (kind, members)
    assert kept(chat_server) == []


@pytest.mark.parametrize(
    ("state", "code"),
    [
        ({"flags": str(int(UserFlag.REPORT_BANNED))}, "REPORT_BANNED"),
        ({"email_verified": False}, "REPORT_EMAIL_VERIFICATION_REQUIRED"),
    ],
)
async def test_who_may_not_report(
    chat_server: ChatServer, chat_world: World, autojump_clock: MockClock, state: dict[str, Any], code: str
) -> None:
    world = chat_world
    (await world.anyone.post(f"/v1/_dev/users/{world.carol.id}", state)).expect(200)
    sent = (await world.bob.rest.send_message(world.channel_id, "his")).expect(200)["id"]
    for kind, members in (
        ("user", {"user_id": world.bob.id}),
        ("message", {"channel_id": world.channel_id, "message_id": sent}),
        ("guild", {"guild_id": world.guild_id}),
    ):
        assert (await report(world, kind, **members)).expect(403)["code"] == code
    assert kept(chat_server) == []
