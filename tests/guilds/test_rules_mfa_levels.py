"""Elevated permissions in a guild that asks its moderators for a second factor (document 001, MFA levels).

Area: guilds. Rules: 001.common, 001.mfa.
"""

from __future__ import annotations

import datetime
from typing import Any

import pyotp
import pytest
from trio.testing import MockClock

from chat.registries.permissions import Permission
from chat.testing.rest_client import RestClient
from chat.testing.world import Person, World
from tests.spec.ledger import proves

SECRET = "JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP"
POWERS = Permission.MANAGE_GUILD | Permission.MANAGE_ROLES | Permission.BAN_MEMBERS | Permission.MANAGE_MESSAGES


async def enrol(world: World, person: Person) -> list[str]:
    """Enable TOTP for a person; the backup codes."""
    now = (await world.anyone.get("/v1/_dev/clock")).expect(200)["now"]
    code = pyotp.TOTP(SECRET).at(datetime.datetime.fromisoformat(now))
    body = {"secret": SECRET, "code": code, "password": person.password}
    enabled = await person.rest.post("/v1/users/@me/mfa/totp/enable", body)
    return [entry["code"] for entry in enabled.expect(200)["backup_codes"]]


async def ask_for_factors(world: World) -> None:
    """Alice, who owns the guild, asks its moderators for a second factor."""
    codes = await enrol(world, world.alice)
    body = {"mfa_level": 1, "mfa_method": "totp", "mfa_code": codes[0]}
    assert (await world.alice.rest.patch(f"/v1/guilds/{world.guild_id}", body)).expect(200)["mfa_level"] == 1


async def empower(world: World, user_id: str) -> None:
    """A role with elevated permissions."""
    role = {"name": "moderator", "permissions": str(POWERS.value)}
    made = (await world.alice.rest.post(f"/v1/guilds/{world.guild_id}/roles", role)).expect(200)
    (await world.alice.rest.put(f"/v1/guilds/{world.guild_id}/members/{user_id}/roles/{made['id']}")).expect(204)


def moderation(world: World, message_id: str, code: str) -> list[tuple[str, str, Any]]:
    """Operations that assert an elevated permission."""
    guild = f"/v1/guilds/{world.guild_id}"
    return [
        ("PATCH", guild, {"name": "Moderated"}),
        ("GET", f"{guild}/vanity-url", None),
        ("PATCH", f"{guild}/vanity-url", {"code": None}),
        ("POST", f"{guild}/roles", {"name": "r"}),
        ("GET", f"{guild}/bans", None),
        ("DELETE", f"/v1/invites/{code}", None),
        ("DELETE", f"/v1/channels/{world.channel_id}/messages/{message_id}", None),
        ("POST", f"/v1/channels/{world.channel_id}/messages/bulk-delete", {"message_ids": [message_id]}),
        ("POST", f"/v1/channels/{world.channel_id}/messages/purge", {"limit": 1}),
    ]


async def test_a_moderator_without_a_factor_can_do_nothing_elevated(
    chat_world: World, autojump_clock: MockClock
) -> None:
    bob, carol = chat_world.bob, chat_world.carol
    await empower(chat_world, bob.id)
    sent = (await carol.rest.send_message(chat_world.channel_id, "x")).expect(200)["id"]
    code = (await chat_world.alice.rest.create_channel_invite(chat_world.channel_id)).expect(200)["code"]
    with proves("001.mfa.1"):
        (await bob.rest.patch(f"/v1/guilds/{chat_world.guild_id}", {"name": "At level 0"})).expect(200)
    await ask_for_factors(chat_world)
    for method, path, body in moderation(chat_world, sent, code):
        with proves("001.mfa.2", "001.mfa.5", "001.common.6"):
            refused = await bob.rest.request(method, path, json=... if body is None else body)
            assert (refused.status, refused.code) == (400, "TWO_FACTOR_REQUIRED"), path
        # Whoever does not hold the permission at all learns that first.
        lacking = await carol.rest.request(method, path, json=... if body is None else body)
        own_message = method == "DELETE" and "messages" in path
        with proves("001.mfa.6"):
            assert own_message or (lacking.status, lacking.code) == (403, "MISSING_PERMISSIONS")
        sent = (await carol.rest.send_message(chat_world.channel_id, "x")).expect(200)["id"] if own_message else sent
    (await bob.rest.send_message(chat_world.channel_id, "what is not elevated works")).expect(200)
    await enrol(chat_world, bob)
    for method, path, body in moderation(chat_world, sent, code):
        with proves("001.mfa.3"):
            answer = await bob.rest.request(method, path, json=... if body is None else body)
            assert answer.status in (200, 204), (path, answer.body)


@pytest.mark.rule("001.mfa.4")
async def test_a_bot_is_as_good_as_its_owner(chat_world: World, autojump_clock: MockClock) -> None:
    await empower(chat_world, chat_world.bot.id)
    await ask_for_factors(chat_world)  # alice owns the bot's application, too
    path = f"/v1/guilds/{chat_world.guild_id}"
    (await chat_world.bot.rest.patch(path, {"name": "By a bot"})).expect(200)
    made = (await chat_world.bob.rest.post("/v1/oauth2/applications", {"name": "Other"})).expect(200)
    bot_id = made["bot"]["id"]
    change = {"members": {bot_id: {"roles": []}}}
    (await chat_world.anyone.post(f"/v1/_dev/guilds/{chat_world.guild_id}", change)).expect(200)
    await empower(chat_world, bot_id)
    other = RestClient(chat_world.route, f"Bot {made['bot']['token']}")
    refused = await other.patch(path, {"name": "By another bot"})
    assert (refused.status, refused.code) == (400, "TWO_FACTOR_REQUIRED")
    await other.aclose()
