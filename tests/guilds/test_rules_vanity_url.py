"""A guild's custom invite code (document 001, vanity-url).

Area: guilds. Rules: 001.vanity-get, 001.vanity-object, 001.vanity-patch.
"""

from __future__ import annotations

from typing import Any

import pytest

from chat.registries.permissions import Permission
from chat.testing.rest_client import Response
from chat.testing.world import Actor, World
from tests.spec.ledger import proves


def path(world: World) -> str:
    """The address of the guild's code."""
    return f"/v1/guilds/{world.guild_id}/vanity-url"


async def features(world: World, *names: str) -> None:
    """Features as an administrator gives them."""
    (await world.anyone.post(f"/v1/_dev/guilds/{world.guild_id}", {"features": list(names)})).expect(200)


async def change(world: World, code: Any, actor: Actor | None = None) -> Response:
    """Change the code; by alice, who owns the guild, unless another is named."""
    return await (actor or world.alice).rest.patch(path(world), {"code": code})


def code_of(answer: Response) -> str:
    """The field code at `code`."""
    assert (answer.status, answer.code) == (400, "INVALID_FORM_BODY"), answer.body
    (error,) = answer.json()["errors"]
    assert error["path"] == "code"
    return str(error["code"])


async def test_a_code_is_taken_used_replaced_and_given_up(chat_world: World) -> None:
    alice, admin = chat_world.alice, chat_world.admin
    with proves("001.vanity-object.3", "001.vanity-get.1"):
        assert (await alice.rest.get(path(chat_world))).expect(200) == {"code": None, "uses": 0}
    await features(chat_world, "VANITY_URL")
    with proves("001.vanity-object.4", "001.vanity-patch.1"):
        assert (await change(chat_world, "harbour")).expect(200) == {"code": "harbour"}
    (await admin.rest.post("/v1/invites/harbour")).expect(200)
    with proves("001.vanity-object.1", "001.vanity-object.2"):
        assert (await alice.rest.get(path(chat_world))).expect(200) == {"code": "harbour", "uses": 1}
    with proves("001.vanity-object.4"):
        assert (await change(chat_world, "pier")).expect(200) == {"code": "pier"}
    with proves("001.vanity-patch.17"):
        assert (await alice.rest.get("/v1/invites/harbour")).code == "UNKNOWN_INVITE"
    with proves("001.vanity-object.3"):
        assert (await alice.rest.get(path(chat_world))).expect(200) == {"code": "pier", "uses": 0}
    assert (await alice.rest.delete("/v1/invites/pier")).code == "MISSING_PERMISSIONS"  # that is not how it is given up
    (await admin.rest.delete(f"/v1/users/@me/guilds/{chat_world.guild_id}")).expect(204)
    (await admin.rest.post("/v1/invites/pier")).expect(200)
    with proves("001.vanity-object.2"):
        assert (await alice.rest.get(path(chat_world))).expect(200) == {"code": "pier", "uses": 1}
    with proves("001.vanity-object.4", "001.vanity-patch.1"):
        assert (await change(chat_world, None)).expect(200) == {"code": None}
    with proves("001.vanity-patch.17"):
        assert (await alice.rest.get("/v1/invites/pier")).code == "UNKNOWN_INVITE"


async def leads_to(world: World, code: str) -> str:
    """The channel that an invite leads to."""
    return str((await world.anyone.get(f"/v1/invites/{code}")).expect(200)["channel"]["id"])


async def test_a_code_outlives_the_channels_that_it_leads_to(chat_world: World) -> None:
    """It leads to the system channel, else to the first text channel that everybody sees, else to what there is."""
    alice, admin, guild = chat_world.alice, chat_world.admin, f"/v1/guilds/{chat_world.guild_id}"
    await features(chat_world, "VANITY_URL")
    (await alice.rest.patch(guild, {"system_channel_id": None})).expect(200)
    (await change(chat_world, "pier")).expect(200)
    (await admin.rest.post("/v1/invites/pier")).expect(200)
    assert await leads_to(chat_world, "pier") == chat_world.channel_id
    hidden = [{"id": chat_world.guild_id, "type": 0, "allow": "0", "deny": str(int(Permission.VIEW_CHANNEL))}]
    made = [
        (await alice.rest.post(f"{guild}/channels", {"name": name, "type": 0, **more})).expect(200)["id"]
        for name, more in (("secret", {"permission_overwrites": hidden}), ("open", {}), ("system", {}))
    ]
    (await alice.rest.patch(guild, {"system_channel_id": made[2]})).expect(200)
    assert await leads_to(chat_world, "pier") == chat_world.channel_id
    for gone, next_one in ((chat_world.channel_id, made[2]), (made[2], made[1]), (made[1], made[0])):
        (await alice.rest.delete(f"/v1/channels/{gone}")).expect(204)
        assert await leads_to(chat_world, "pier") == next_one
    assert (await alice.rest.get(path(chat_world))).expect(200) == {"code": "pier", "uses": 1}


async def test_a_code_without_a_channel_is_kept_and_repaired(chat_world: World) -> None:
    alice, guild = chat_world.alice, f"/v1/guilds/{chat_world.guild_id}"
    await features(chat_world, "VANITY_URL")
    (await change(chat_world, "pier")).expect(200)
    for channel in (await alice.rest.get(f"{guild}/channels")).expect(200):
        (await alice.rest.delete(f"/v1/channels/{channel['id']}")).expect(204)
    assert (await alice.rest.get("/v1/invites/pier")).code == "UNKNOWN_INVITE"
    assert (await alice.rest.get(path(chat_world))).expect(200) == {"code": "pier", "uses": 0}
    for code in ("pier", "quay"):
        refused = await change(chat_world, code)
        assert (refused.status, refused.code) == (404, "UNKNOWN_CHANNEL")
    assert (await alice.rest.get(path(chat_world))).expect(200) == {"code": "pier", "uses": 0}

    made = (await alice.rest.post(f"{guild}/channels", {"name": "new", "type": 0})).expect(200)["id"]
    at_alice = await alice.connect()
    assert (await change(chat_world, "pier")).expect(200) == {"code": "pier"}
    assert await leads_to(chat_world, "pier") == made
    (await alice.rest.send_message(made, "done")).expect(200)
    await at_alice.expect("MESSAGE_CREATE")
    assert "GUILD_UPDATE" not in [payload.members["t"] for payload in at_alice.dispatches]


async def test_codes_are_found_without_case(chat_world: World) -> None:
    alice, admin = chat_world.alice, chat_world.admin
    await features(chat_world, "VANITY_URL")
    (await change(chat_world, "harbour")).expect(200)
    assert (await chat_world.anyone.get("/v1/invites/HARBOUR")).expect(200)["code"] == "harbour"
    assert (await admin.rest.post("/v1/invites/Harbour")).expect(200)["code"] == "harbour"
    assert (await alice.rest.get(path(chat_world))).expect(200) == {"code": "harbour", "uses": 1}
    assert (await alice.rest.delete("/v1/invites/HARBOUR")).code == "MISSING_PERMISSIONS"
    # Other codes are told apart by case.
    other = (await alice.rest.post(f"/v1/channels/{chat_world.channel_id}/invites", {})).expect(200)["code"]
    assert (await chat_world.anyone.get(f"/v1/invites/{other.swapcase()}")).code == "UNKNOWN_INVITE"


@pytest.mark.rule("001.vanity-get.2", "001.vanity-patch.2")
async def test_who_may(chat_world: World) -> None:
    for answer in (await chat_world.bob.rest.get(path(chat_world)), await change(chat_world, "x1", chat_world.bob)):
        assert (answer.status, answer.code) == (403, "MISSING_PERMISSIONS")


async def test_the_feature_is_needed_to_take_one(chat_world: World) -> None:
    with proves("001.vanity-patch.9"):
        assert code_of(await change(chat_world, "harbour")) == "VANITY_URL_REQUIRES_FEATURE"
    await features(chat_world, "VANITY_URL")
    for nothing in (None, ""):
        (await change(chat_world, "harbour")).expect(200)
        await features(chat_world)
        with proves("001.vanity-patch.3", "001.vanity-patch.4", "001.vanity-patch.10"):
            assert (await change(chat_world, nothing)).expect(200) == {"code": None}
        await features(chat_world, "VANITY_URL")


@pytest.mark.parametrize(
    ("sent", "outcome"),
    [
        ("Old Harbour", "old-harbour"),
        ("a \t\n b", "a-b"),
        ("a - - b", "a-b"),
        ("a--b", "a-b"),
        ("x1", "x1"),
        ("9-" * 15 + "99", "9-" * 15 + "99"),
        (" abc", "VANITY_URL_INVALID_CHARACTERS"),
        ("abc-", "VANITY_URL_INVALID_CHARACTERS"),
        ("a_b", "VANITY_URL_INVALID_CHARACTERS"),
        ("ümlaut", "VANITY_URL_INVALID_CHARACTERS"),
        ("abc\x00", "VANITY_URL_INVALID_CHARACTERS"),
        ("x", "VANITY_URL_CODE_LENGTH_INVALID"),
        ("9" * 33, "VANITY_URL_CODE_LENGTH_INVALID"),
        ("9" * 257, "VANITY_URL_CODE_LENGTH_INVALID"),
        ("_", "VANITY_URL_CODE_LENGTH_INVALID"),
    ],
)
async def test_codes_are_normalised_and_judged(chat_world: World, sent: str, outcome: str) -> None:
    await features(chat_world, "VANITY_URL")
    answer = await change(chat_world, sent)
    if outcome == "VANITY_URL_CODE_LENGTH_INVALID":
        rule = "001.vanity-patch.8"
    else:
        rule = "001.vanity-patch.7" if sent.startswith(" ") else "001.vanity-patch.6"
    if outcome.startswith("VANITY"):
        with proves(rule):
            assert code_of(answer) == outcome
    else:
        with proves("001.vanity-patch.5"):
            assert answer.expect(200) == {"code": outcome}


@pytest.mark.rule("001.vanity-patch.11", "001.vanity-patch.15")
@pytest.mark.chat_settings(service_name="Harbour", **{"content_policy.blocked_phrases": ["rude"]})
async def test_words_that_are_not_to_be_had(chat_world: World) -> None:
    await features(chat_world, "VANITY_URL")
    for code in ("harbour", "my-HARBOUR-1"):
        assert code_of(await change(chat_world, code)) == "VANITY_URL_CODE_CANNOT_CONTAIN_SERVICE"
    refused = await change(chat_world, "so-Rude")
    assert (refused.status, refused.code) == (403, "CONTENT_BLOCKED")
    (await change(chat_world, "polite")).expect(200)


@pytest.mark.rule("001.vanity-patch.12")
async def test_a_code_is_one_guilds_alone(chat_world: World) -> None:
    await features(chat_world, "VANITY_URL")
    (await change(chat_world, "harbour")).expect(200)
    other = (await chat_world.alice.rest.create_guild("Other")).expect(200)["id"]
    (await chat_world.anyone.post(f"/v1/_dev/guilds/{other}", {"features": ["VANITY_URL"]})).expect(200)
    elsewhere = f"/v1/guilds/{other}/vanity-url"
    assert code_of(await chat_world.alice.rest.patch(elsewhere, {"code": "Harbour"})) == "VANITY_URL_CODE_ALREADY_TAKEN"
    (await change(chat_world, None)).expect(200)
    (await chat_world.alice.rest.patch(elsewhere, {"code": "harbour"})).expect(200)


@pytest.mark.rule("001.vanity-patch.13", "001.vanity-patch.16", "001.vanity-patch.18")
async def test_what_is_told_of_it(chat_world: World) -> None:
    alice = chat_world.alice
    await features(chat_world, "VANITY_URL")
    at_alice = await alice.connect()
    (await change(chat_world, "harbour")).expect(200)
    assert (await at_alice.expect("GUILD_UPDATE")).data["vanity_url_code"] == "harbour"
    entry = (await at_alice.expect("GUILD_AUDIT_LOG_ENTRY_CREATE")).data
    assert entry["changes"] == [{"key": "vanity_url_code", "old_value": None, "new_value": "harbour"}]
    (await change(chat_world, "HARBOUR")).expect(200)
    (await alice.rest.send_message(chat_world.channel_id, "done")).expect(200)
    await at_alice.expect("MESSAGE_CREATE")
    names = [payload.members["t"] for payload in at_alice.dispatches]
    assert (names.count("GUILD_UPDATE"), names.count("GUILD_AUDIT_LOG_ENTRY_CREATE")) == (1, 1)


@pytest.mark.rule("001.vanity-patch.14")
@pytest.mark.parametrize("body", [{}, {"code": 7}, {"code": ["x"]}, {"code": "x" * 257}, []])
async def test_bad_bodies(chat_world: World, body: Any) -> None:
    answer = await chat_world.alice.rest.patch(path(chat_world), body)
    assert (answer.status, answer.code) == (400, "INVALID_FORM_BODY")
