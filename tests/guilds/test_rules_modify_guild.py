"""Modify guild, field by field (document 001, PATCH /v1/guilds/{guild_id}).

Area: guilds. Rules: 001.modify.
"""

from __future__ import annotations

import datetime
from typing import Any

import pyotp
import pytest
from trio.testing import MockClock

from chat.registries.permissions import Permission
from chat.testing.rest_client import Response
from chat.testing.world import Actor, World
from tests.spec.ledger import cases_of, proves

SECRET = "JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP"


async def modify(world: World, actor: Actor | None = None, **fields: Any) -> Response:
    """Modify guild; by alice, who owns it, unless another is named."""
    return await (actor or world.alice).rest.patch(f"/v1/guilds/{world.guild_id}", fields)


async def stored(world: World) -> dict[str, Any]:
    """The guild as it is."""
    guild: dict[str, Any] = (await world.alice.rest.get(f"/v1/guilds/{world.guild_id}")).expect(200)
    return guild


def field_codes(answer: Response) -> dict[str, str]:
    """The wrong fields with their codes."""
    assert (answer.status, answer.code) == (400, "INVALID_FORM_BODY"), answer.body
    return {entry["path"]: entry["code"] for entry in answer.json()["errors"]}


async def log(world: World) -> list[dict[str, Any]]:
    """The guild's audit log, the newest entry first."""
    entries: list[dict[str, Any]] = (
        await world.alice.rest.get(f"/v1/guilds/{world.guild_id}/audit-logs", {"action_type": 1})
    ).expect(200)["audit_log_entries"]
    return entries


async def manager(world: World) -> Actor:
    """Bob, who may manage the guild from now on."""
    body = {"name": "manager", "permissions": str(Permission.MANAGE_GUILD.value)}
    role = (await world.alice.rest.post(f"/v1/guilds/{world.guild_id}/roles", body)).expect(200)
    path = f"/v1/guilds/{world.guild_id}/members/{world.bob.id}/roles/{role['id']}"
    (await world.alice.rest.put(path)).expect(204)
    return world.bob


async def set_features(world: World, *features: str) -> None:
    """Features as an administrator gives them."""
    (await world.anyone.post(f"/v1/_dev/guilds/{world.guild_id}", {"features": list(features)})).expect(200)


@pytest.mark.rule("001.modify.1", "001.modify.2", "001.modify.10")
async def test_who_may_and_what_stays(chat_world: World) -> None:
    refused = await modify(chat_world, chat_world.bob, name="Mine")
    assert (refused.status, refused.code) == (403, "MISSING_PERMISSIONS")
    bob = await manager(chat_world)
    before = await stored(chat_world)
    changed = (await modify(chat_world, bob, name="Ours")).expect(200)
    assert changed["name"] == "Ours"
    assert "roles" not in changed
    after = await stored(chat_world)
    assert {**after, "name": before["name"]} == before
    again = (await modify(chat_world, bob, name="Ours")).expect(200)
    assert again == changed
    assert (await modify(chat_world, bob)).expect(200) == changed


@pytest.mark.rule("001.modify.12", "001.modify.13")
@pytest.mark.parametrize(
    ("sent", "kept"), [("  A\u0308 b ", "Ä b"), ("x" * 100, "x" * 100), ("a\x07b", "ab")], ids=["nfc", "long", "bell"]
)
async def test_names_are_tidied(chat_world: World, sent: str, kept: str) -> None:
    assert (await modify(chat_world, name=sent)).expect(200)["name"] == kept
    for wrong in (" ", "x" * 101, "\x07"):
        assert field_codes(await modify(chat_world, name=wrong)) == {"name": "STRING_LENGTH_INVALID"}
    assert (await stored(chat_world))["name"] == kept


@pytest.mark.rule("001.modify.14")
@pytest.mark.chat_settings(**{"content_policy.blocked_phrases": ["forbidden"]})
async def test_blocked_names(chat_world: World) -> None:
    refused = await modify(chat_world, name="A Forbidden place", afk_timeout=60)
    assert (refused.status, refused.code) == (403, "CONTENT_BLOCKED")
    assert (await stored(chat_world))["afk_timeout"] == 300


async def test_channels_that_a_guild_names(chat_world: World) -> None:
    text, voice = chat_world.channel_id, chat_world.voice_channel_id
    with proves("001.modify.18", "001.modify.21"):
        other = (await chat_world.alice.rest.create_guild("Other")).expect(200)["system_channel_id"]
        assert field_codes(await modify(chat_world, system_channel_id=other, afk_channel_id=other)) == {
            "system_channel_id": "SYSTEM_CHANNEL_MUST_BE_IN_GUILD",
            "afk_channel_id": "AFK_CHANNEL_MUST_BE_IN_GUILD",
        }
    with proves("001.modify.19", "001.modify.22"):
        assert field_codes(await modify(chat_world, system_channel_id=voice, afk_channel_id=text)) == {
            "system_channel_id": "SYSTEM_CHANNEL_MUST_BE_TEXT",
            "afk_channel_id": "AFK_CHANNEL_MUST_BE_VOICE",
        }
    with proves("001.modify.20"):
        changed = (await modify(chat_world, system_channel_id=text, afk_channel_id=voice)).expect(200)
        assert (changed["system_channel_id"], changed["afk_channel_id"]) == (text, voice)
    with proves("001.modify.20", "001.modify.23"):
        cleared = (await modify(chat_world, system_channel_id=None, afk_channel_id=None)).expect(200)
        assert (cleared["system_channel_id"], cleared["afk_channel_id"]) == (None, None)


@pytest.mark.parametrize(
    ("field", "good", "bad"),
    [
        *cases_of("001.modify.24", ("afk_timeout", [60, 3600], [59, 3601, "60", 60.5, None, True])),
        *cases_of("001.modify.25", ("default_message_notifications", [1, 0], [2, -1, "1", None, True])),
        *cases_of("001.modify.36", ("explicit_content_filter", [2, 1, 0], [3, -1, None])),
        *cases_of("001.modify.43", ("splash_card_alignment", [2, 1, 0], [3, -1, "0"])),
        *cases_of("001.modify.27", ("nsfw_level", [3, 0], [1, 2, 4, None])),
        ("mfa_level", [0], [2, None, "0"]),
        ("system_channel_flags", [1, 0], [-1, "x", None]),
    ],
)
async def test_values_of_the_registries(chat_world: World, field: str, good: list[Any], bad: list[Any]) -> None:
    for value in good:
        assert (await modify(chat_world, **{field: value})).expect(200)[field] == value
    for value in bad:
        assert list(field_codes(await modify(chat_world, **{field: value}))) in ([field], [f"{field}.0"])
        assert (await stored(chat_world))[field] == good[-1]


@pytest.mark.rule("001.modify.26")
async def test_verification_levels(chat_world: World) -> None:
    for sent, kept in ((0, 0), (1, 1), (2, 2), (3, 3), (4, 3)):
        assert (await modify(chat_world, verification_level=sent)).expect(200)["verification_level"] == kept
    assert field_codes(await modify(chat_world, verification_level=5)) == {"verification_level": "INVALID_FORMAT"}
    await set_features(chat_world, "DISCOVERABLE")
    refused = await modify(chat_world, verification_level=0)
    assert field_codes(refused) == {"verification_level": "DISCOVERABLE_GUILD_VERIFICATION_LEVEL_TOO_LOW"}
    assert (await modify(chat_world, verification_level=1)).expect(200)["verification_level"] == 1


async def test_adult_content_and_warnings(chat_world: World) -> None:
    async def state(**fields: Any) -> tuple[bool, int, int]:
        changed = (await modify(chat_world, **fields)).expect(200)
        return changed["nsfw"], changed["nsfw_level"], changed["content_warning_level"]

    with proves("001.modify.31"):
        assert await state(nsfw=True) == (True, 3, 0)
    with proves("001.modify.31", "001.modify.32"):
        assert await state(nsfw=False) == (False, 0, 0)
    with proves("001.modify.28"):
        assert await state(nsfw=False, nsfw_level=3) == (False, 0, 0)
    with proves("001.modify.30"):
        assert await state(nsfw_level=3, content_warning_level=0) == (True, 3, 0)
    assert await state(nsfw_level=0) == (False, 0, 0)
    with proves("001.modify.29"):
        assert await state(nsfw_level=3) == (True, 3, 1)
    assert await state(nsfw_level=0) == (False, 0, 1)
    with proves("001.modify.33"):
        assert await state(content_warning_level=7) == (False, 0, 0)
        assert await state(content_warning_level=1) == (False, 0, 1)
    with proves("001.modify.32"):
        assert await state(nsfw=True) == (True, 3, 1)
        assert await state(nsfw=False) == (False, 0, 1)


@pytest.mark.rule("001.modify.34", "001.modify.35", "001.modify.11")
async def test_content_warning_text(chat_world: World) -> None:
    for sent, kept in (("  beware ", "beware"), ("x" * 200, "x" * 200), ("   ", None), ("", None), (None, None)):
        changed = (await modify(chat_world, content_warning_text=sent)).expect(200)
        assert changed["content_warning_text"] == kept
    refused = await modify(chat_world, content_warning_text="x" * 201)
    assert field_codes(refused) == {"content_warning_text": "STRING_LENGTH_INVALID"}


async def test_features(chat_world: World) -> None:
    await set_features(chat_world, "BANNER", "CLONE_EMOJI_DISABLED", "HIDE_OWNER_CROWN")
    changed = (await modify(chat_world, features=["INVITES_DISABLED", "INVITES_DISABLED"])).expect(200)
    with proves("001.modify.44", "001.modify.47"):
        assert sorted(changed["features"]) == ["BANNER", "CLONE_EMOJI_DISABLED", "INVITES_DISABLED"]
    for wrong in ("VERIFIED", "NOT_A_FEATURE", "CLONE_STICKER_DISABLED"):
        with proves("001.modify.46"):
            refused = await modify(chat_world, features=["BANNER", wrong])
            assert field_codes(refused) == {"features": "GUILD_FEATURE_NOT_TOGGLEABLE"}
    for value, path in (
        (["BANNER"] * 101, "features"),
        ("BANNER", "features"),
        ([1], "features.0"),
        (None, "features"),
    ):
        with proves("001.modify.45"):
            assert field_codes(await modify(chat_world, features=value)) == {path: "INVALID_FORMAT"}
    with proves("001.modify.45"):
        changed = (await modify(chat_world, features=["BANNER"] * 100)).expect(200)
    with proves("001.modify.47"):
        assert sorted(changed["features"]) == ["BANNER", "CLONE_EMOJI_DISABLED"]


@pytest.mark.rule("001.modify.48", "001.modify.49", "001.modify.50")
async def test_message_history_cutoff(chat_world: World) -> None:
    for moment, code in (
        ("2015-01-01T00:00:00Z", "MESSAGE_HISTORY_CUTOFF_BEFORE_GUILD_CREATION"),
        ("9000-01-01T00:00:00Z", "MESSAGE_HISTORY_CUTOFF_IN_FUTURE"),
        ("yesterday", "INVALID_ISO_TIMESTAMP"),
    ):
        refused = await modify(chat_world, message_history_cutoff=moment)
        assert field_codes(refused) == {"message_history_cutoff": code}
    sent = (await chat_world.alice.rest.send_message(chat_world.channel_id, "now")).expect(200)
    changed = (await modify(chat_world, message_history_cutoff=sent["timestamp"])).expect(200)
    assert changed["message_history_cutoff"] == sent["timestamp"]
    assert (await modify(chat_world, message_history_cutoff=None)).expect(200)["message_history_cutoff"] is None


async def test_who_hears_of_it(chat_world: World) -> None:
    at_bob, at_alice = await chat_world.bob.connect(), await chat_world.alice.connect()
    path = f"/v1/guilds/{chat_world.guild_id}"
    body = {"name": "Renamed", "afk_timeout": 600}
    with proves("001.modify.53"):
        changed = await chat_world.alice.rest.request(
            "PATCH", path, json=body, headers={"X-Audit-Log-Reason": "spring"}
        )
        guild = changed.expect(200)
        told = (await at_bob.expect("GUILD_UPDATE")).data
        assert told == {**guild, "guild_id": chat_world.guild_id}
    with proves("001.modify.56"):
        entry = (await at_alice.expect("GUILD_AUDIT_LOG_ENTRY_CREATE")).data
    with proves("001.modify.54"):
        assert (entry["action_type"], entry["target_id"], entry["reason"]) == (1, chat_world.guild_id, "spring")
    with proves("001.modify.54"):
        assert {"key": "afk_timeout", "old_value": 300, "new_value": 600} in entry["changes"]
        assert {change["key"] for change in entry["changes"]} == {"name", "afk_timeout"}
    assert (await log(chat_world))[0]["id"] == entry["id"]
    # The same once more: everybody hears of it, the log does not.
    (await modify(chat_world, **body)).expect(200)
    with proves("001.modify.53"):
        await at_bob.expect("GUILD_UPDATE")
    with proves("001.modify.55"):
        assert len(await log(chat_world)) == 1
    (await chat_world.alice.rest.send_message(chat_world.channel_id, "done")).expect(200)
    await at_bob.expect("MESSAGE_CREATE")
    with proves("001.modify.56"):
        assert "GUILD_AUDIT_LOG_ENTRY_CREATE" not in {payload.members["t"] for payload in at_bob.dispatches}


async def test_mfa_level_without_a_factor(chat_world: World) -> None:
    alice, bob = chat_world.alice, await manager(chat_world)
    for actor in (alice, bob):
        with proves("001.modify.3", "001.modify.9"):
            (await modify(chat_world, actor, mfa_level=0)).expect(200)
        with proves("001.modify.4", "001.modify.6"):
            refused = await modify(chat_world, actor, mfa_level=1)
            assert (refused.status, refused.code) == (403, "SUDO_MODE_REQUIRED")
    with proves("001.modify.5"):
        no_owner = await modify(chat_world, bob, mfa_level=1, password=bob.password)
        assert (no_owner.status, no_owner.code) == (403, "MISSING_PERMISSIONS")
    with proves("001.modify.7"):
        no_factor = await modify(chat_world, alice, mfa_level=1, password=alice.password, name="Not written")
        assert field_codes(no_factor) == {"mfa_level": "MUST_ENABLE_2FA_BEFORE_REQUIRING_FOR_MODS"}
    after = await stored(chat_world)
    assert (after["mfa_level"], after["name"] == "Not written") == (0, False)


@pytest.mark.rule("001.modify.8", "001.modify.51", "001.modify.52")
async def test_mfa_level_with_a_factor(chat_world: World, autojump_clock: MockClock) -> None:
    alice = chat_world.alice
    totp = pyotp.TOTP(SECRET)
    now = (await chat_world.anyone.get("/v1/_dev/clock")).expect(200)["now"]
    moment = datetime.datetime.fromisoformat(now)
    body = {"secret": SECRET, "code": totp.at(moment), "password": alice.password}
    enabled = await alice.rest.post("/v1/users/@me/mfa/totp/enable", body)
    codes = [entry["code"] for entry in enabled.expect(200)["backup_codes"]]
    wrong = await modify(chat_world, mfa_level=1, mfa_method="totp", mfa_code="000000")
    assert field_codes(wrong) == {"mfa_code": "INVALID_MFA_CODE"}
    changed = await modify(chat_world, mfa_level=1, mfa_method="totp", mfa_code=codes[0])
    assert changed.expect(200)["mfa_level"] == 1
    proof = changed.header("X-Service-Sudo-Mode-JWT")
    assert proof is not None
    path = f"/v1/guilds/{chat_world.guild_id}"
    back = await alice.rest.request("PATCH", path, json={"mfa_level": 0}, headers={"X-Service-Sudo-Mode-JWT": proof})
    assert back.expect(200)["mfa_level"] == 0
    assert back.header("X-Service-Sudo-Mode-JWT") == proof
    # Where `mfa_level` stays as it is nobody looks at the proof.
    plain = await alice.rest.request("PATCH", path, json={"mfa_level": 0}, headers={"X-Service-Sudo-Mode-JWT": proof})
    assert plain.expect(200)["mfa_level"] == 0
    assert plain.header("X-Service-Sudo-Mode-JWT") is None
