"""What a guild's registries do to those who live in it, over HTTP and the gateway (document 001, Registries).

Area: guilds. Rules: 001.guild-object, 001.mfa, 001.registries, 001.verification.
"""

from __future__ import annotations

import datetime
from typing import Any

import pytest
import trio
from trio.testing import MockClock

from chat.registries.guild_values import DisabledOperation
from chat.registries.opcodes import Opcode
from chat.registries.permissions import Permission
from chat.testing.gateway_client import GatewayClient
from chat.testing.rest_client import Response
from chat.testing.world import Actor, Person, World
from tests.spec.ledger import cases_of, proves

WELCOME = 7
"""The type of the message that tells that somebody joined."""


async def set_guild(world: World, **members: Any) -> None:
    """Guild state as an administrator sets it."""
    (await world.anyone.post(f"/v1/_dev/guilds/{world.guild_id}", members)).expect(200)


async def disable(world: World, *operations: DisabledOperation) -> None:
    """Switch off these operations and no others."""
    await set_guild(world, disabled_operations=sum(operations))


async def modify(world: World, **fields: Any) -> dict[str, Any]:
    """Modify guild, by its owner."""
    guild: dict[str, Any] = (await world.alice.rest.patch(f"/v1/guilds/{world.guild_id}", fields)).expect(200)
    return guild


async def says(actor: Actor, channel_id: str) -> str | None:
    """Send a message; the code of the refusal, None where it was sent."""
    return (await actor.rest.send_message(channel_id, "hello")).code


async def joined(world: World, person: Person, ago_ms: int) -> None:
    """Make the person's membership begin `ago_ms` ago."""
    now = (await world.anyone.get("/v1/_dev/clock")).expect(200)["now"]
    moment = _shifted(now, -ago_ms)
    await set_guild(world, members={person.id: {"joined_at": moment, "roles": []}})


def _shifted(moment: str, by_ms: int) -> str:
    shifted = datetime.datetime.fromisoformat(moment) + datetime.timedelta(milliseconds=by_ms)
    return shifted.isoformat(timespec="milliseconds").replace("+00:00", "Z")


async def created(world: World, person: Person, ago_ms: int) -> None:
    """The person's account is so old."""
    now = (await world.anyone.get("/v1/_dev/clock")).expect(200)["now"]
    body = {"created_at": _shifted(now, -ago_ms)}
    (await world.anyone.post(f"/v1/_dev/users/{person.id}", body)).expect(200)


# Verification levels


@pytest.mark.rule("001.verification.1", "001.verification.2", "001.verification.6")
async def test_low_asks_for_a_verified_address(chat_world: World) -> None:
    bob, channel = chat_world.bob, chat_world.channel_id
    account = f"/v1/_dev/users/{bob.id}"
    (await chat_world.anyone.post(account, {"email_verified": False})).expect(200)
    await modify(chat_world, verification_level=0)
    assert await says(bob, channel) is None
    await set_guild(chat_world, features=["DISCOVERABLE"])
    assert await says(bob, channel) == "GUILD_VERIFICATION_REQUIRED"
    await set_guild(chat_world, features=[])
    await modify(chat_world, verification_level=1)
    refused = await bob.rest.send_message(channel, "hello")
    assert (refused.status, refused.code) == (403, "GUILD_VERIFICATION_REQUIRED")
    (await chat_world.anyone.post(account, {"email_verified": True})).expect(200)
    assert await says(bob, channel) is None


@pytest.mark.rule("001.verification.3", "001.verification.4", "001.verification.7")
async def test_medium_and_high_ask_for_time(chat_world: World) -> None:
    bob, channel = chat_world.bob, chat_world.channel_id
    # The clock of the world stands still; a minute either side is beyond any doubt about who read it when.
    for level, account_ms, membership_ms, refused in (
        (1, 0, 0, False),
        (2, 240_000, 3_600_000, True),
        (2, 300_000, 0, False),
        (3, 240_000, 3_600_000, True),
        (3, 3_600_000, 540_000, True),
        (3, 3_600_000, 600_000, False),
        (4, 3_600_000, 540_000, True),
        (4, 3_600_000, 600_000, False),
    ):
        assert (await modify(chat_world, verification_level=level))["verification_level"] == min(level, 3)
        await created(chat_world, bob, account_ms)
        await joined(chat_world, bob, membership_ms)
        assert await says(bob, channel) == ("GUILD_VERIFICATION_REQUIRED" if refused else None), (level, account_ms)


@pytest.mark.rule("001.verification.5")
async def test_a_join_time_that_nobody_knows_is_no_obstacle(chat_world: World) -> None:
    """A membership whose beginning was not handed down, as after an import, is stored with 0."""
    bob, channel = chat_world.bob, chat_world.channel_id
    await modify(chat_world, verification_level=3)
    await created(chat_world, bob, 3_600_000)
    await joined(chat_world, bob, 0)
    assert await says(bob, channel) == "GUILD_VERIFICATION_REQUIRED"
    unknown = {bob.id: {"joined_at": "1970-01-01T00:00:00.000Z", "roles": []}}
    await set_guild(chat_world, members=unknown)
    assert await says(bob, channel) is None
    await created(chat_world, bob, 0)  # what else the level asks for stays
    assert await says(bob, channel) == "GUILD_VERIFICATION_REQUIRED"


@pytest.mark.rule("001.verification.8", "001.verification.9", "001.verification.10")
async def test_who_is_not_asked(chat_world: World) -> None:
    alice, bob, bot, channel = chat_world.alice, chat_world.bob, chat_world.bot, chat_world.channel_id
    await modify(chat_world, verification_level=3)
    for person in (alice, bob):
        await created(chat_world, person, 0)
        await joined(chat_world, person, 0)
    await set_guild(chat_world, members={bot.id: None})
    await set_guild(chat_world, members={bot.id: {}})
    assert await says(bob, channel) == "GUILD_VERIFICATION_REQUIRED"
    assert await says(alice, channel) is None
    assert await says(bot, channel) is None
    role = (await alice.rest.post(f"/v1/guilds/{chat_world.guild_id}/roles", {"name": "known"})).expect(200)["id"]
    (await alice.rest.put(f"/v1/guilds/{chat_world.guild_id}/members/{bob.id}/roles/{role}")).expect(204)
    assert await says(bob, channel) is None


# Levels that clients act on


@pytest.mark.parametrize(
    ("field", "values"),
    [
        *cases_of("001.guild-object.22", ("verification_level", [0, 1, 2, 3])),
        *cases_of("001.guild-object.28", ("explicit_content_filter", [0, 1, 2])),
        *cases_of("001.guild-object.29", ("default_message_notifications", [0, 1])),
        *cases_of("001.guild-object.11", ("splash_card_alignment", [0, 1, 2])),
        *cases_of("001.guild-object.26", ("content_warning_level", [0, 1])),
        *cases_of("001.guild-object.17", ("system_channel_flags", [0, 1])),
        *cases_of("001.guild-object.20", ("afk_timeout", [60, 3600])),
        *cases_of("001.guild-object.25", ("nsfw", [True, False])),
        *cases_of("001.guild-object.23", ("mfa_level", [0])),
    ],
)
async def test_a_level_is_shown_wherever_the_guild_is(chat_world: World, field: str, values: list[Any]) -> None:
    bob = await chat_world.bob.connect()
    guild = f"/v1/guilds/{chat_world.guild_id}"
    for value in [*values[1:], values[0]]:
        assert (await modify(chat_world, **{field: value}))[field] == value
        assert (await bob.expect("GUILD_UPDATE")).data[field] == value
        assert (await chat_world.bob.rest.get(guild)).expect(200)[field] == value
        [listed] = (await chat_world.bob.rest.get("/v1/users/@me/guilds")).expect(200)
        assert (listed[field], type(listed[field])) == (value, type(value))
        ready = (await chat_world.carol.connect()).ready
        assert ready is not None
        assert ready["guilds"][0]["properties"][field] == value


@pytest.mark.rule("001.guild-object.24", "001.registries.4", "001.registries.5")
async def test_the_nsfw_level_follows_the_mark(chat_world: World) -> None:
    async def shown() -> tuple[bool, int]:
        guild = (await chat_world.bob.rest.get(f"/v1/guilds/{chat_world.guild_id}")).expect(200)
        return guild["nsfw"], guild["nsfw_level"]

    assert await shown() == (False, 0)
    for fields, expected in (
        ({"nsfw": True}, (True, 3)),
        ({"nsfw": False, "nsfw_level": 3}, (False, 0)),
        ({"nsfw_level": 3}, (True, 3)),
        ({"nsfw": True, "nsfw_level": 0}, (True, 3)),
        ({"nsfw_level": 0}, (False, 0)),
    ):
        await modify(chat_world, **fields)
        assert await shown() == expected
    for level in (1, 2, 4):
        refused = await chat_world.alice.rest.patch(f"/v1/guilds/{chat_world.guild_id}", {"nsfw_level": level})
        assert refused.code == "INVALID_FORM_BODY"
    assert await shown() == (False, 0)


async def test_a_channel_that_says_nothing_inherits_the_warning(chat_world: World) -> None:
    """Clients show the warning: of a channel at level 0 what its guild says, and at guild level 0 nothing."""

    async def inherited() -> tuple[int, str | None]:
        guild = (await chat_world.bob.rest.get(f"/v1/guilds/{chat_world.guild_id}")).expect(200)
        channel = next(channel for channel in guild["channels"] if channel["id"] == chat_world.channel_id)
        assert (channel["content_warning_level"], channel["content_warning_text"]) == (0, None)
        return guild["content_warning_level"], guild["content_warning_text"]

    with proves("001.registries.6", "001.guild-object.27"):
        assert await inherited() == (0, None)
    await modify(chat_world, content_warning_level=1)
    with proves("001.registries.7", "001.guild-object.26", "001.guild-object.27"):
        assert await inherited() == (1, None)
    await modify(chat_world, content_warning_text="Strong language")
    with proves("001.registries.7", "001.guild-object.27"):
        assert await inherited() == (1, "Strong language")
    await modify(chat_world, content_warning_level=0)
    with proves("001.registries.6", "001.guild-object.26"):
        assert (await inherited())[0] == 0


# System channel flags


async def come_in(world: World, person: Person) -> None:
    """The person joins by an invite of alice's."""
    invite = (await world.alice.rest.create_channel_invite(world.channel_id)).expect(200)
    (await person.rest.accept_invite(invite["code"])).expect(200)


async def welcomes(world: World) -> list[str]:
    """Whom the system channel welcomed, the latest first."""
    messages = (await world.alice.rest.get(f"/v1/channels/{world.channel_id}/messages")).expect(200)
    return [message["author"]["id"] for message in messages if message["type"] == WELCOME]


@pytest.mark.rule("001.registries.8", "001.guild-object.16", "001.guild-object.17")
async def test_joining_is_told_in_the_system_channel_unless_that_is_suppressed(chat_world: World) -> None:
    await modify(chat_world, system_channel_id=chat_world.channel_id, system_channel_flags=1)
    await come_in(chat_world, chat_world.admin)
    assert await welcomes(chat_world) == []
    (await chat_world.admin.rest.delete(f"/v1/users/@me/guilds/{chat_world.guild_id}")).expect(204)
    await modify(chat_world, system_channel_flags=0)
    await come_in(chat_world, chat_world.admin)
    assert await welcomes(chat_world) == [chat_world.admin.id]
    (await chat_world.admin.rest.delete(f"/v1/users/@me/guilds/{chat_world.guild_id}")).expect(204)
    await modify(chat_world, system_channel_id=None)
    await come_in(chat_world, chat_world.admin)
    assert await welcomes(chat_world) == [chat_world.admin.id]


@pytest.mark.rule("001.registries.9")
async def test_only_the_registered_bit_is_kept(chat_world: World) -> None:
    for sent, kept in ((1, 1), (2, 0), (3, 1), (0x7FFFFFFE, 0), (0x7FFFFFFF, 1), (0, 0)):
        assert (await modify(chat_world, system_channel_flags=sent))["system_channel_flags"] == kept


# Disabled operations


@pytest.mark.rule("001.guild-object.30")
async def test_nobody_writes_disabled_operations_here(chat_world: World) -> None:
    await disable(chat_world, DisabledOperation.TYPING_EVENTS)
    assert (await modify(chat_world, disabled_operations=0))["disabled_operations"] == 4
    assert (await modify(chat_world, disabled_operations=127, name="Quay"))["disabled_operations"] == 4
    made = await chat_world.bob.rest.create_guild("Pier", disabled_operations=127)
    assert made.expect(200)["disabled_operations"] == 0


@pytest.mark.rule("001.registries.11")
async def test_everyone_mentions(chat_world: World) -> None:
    async def mentions(text: str) -> bool:
        sent = (await chat_world.alice.rest.send_message(chat_world.channel_id, text)).expect(200)
        return bool(sent["mention_everyone"])

    assert await mentions("@everyone")
    assert await mentions("@here")
    await disable(chat_world, DisabledOperation.EVERYONE_MENTIONS)
    assert not await mentions("@everyone")
    assert not await mentions("@here")
    named = await chat_world.alice.rest.send_message(chat_world.channel_id, f"<@{chat_world.bob.id}>")
    assert [user["id"] for user in named.expect(200)["mentions"]] == [chat_world.bob.id]
    await disable(chat_world)
    assert await mentions("@everyone")


@pytest.mark.rule("001.registries.12")
async def test_typing_events(chat_world: World) -> None:
    bob = await chat_world.bob.connect()

    async def heard() -> list[str | None]:
        """What bob hears of alice typing; the message behind it marks the end."""
        (await chat_world.alice.rest.post(f"/v1/channels/{chat_world.channel_id}/typing")).expect(204)
        (await chat_world.alice.rest.send_message(chat_world.channel_id, "x")).expect(200)
        names: list[str | None] = []
        while (payload := await bob.next_payload()).name != "MESSAGE_CREATE":
            names.append(payload.name)
        return names

    assert await heard() == ["TYPING_START"]
    await disable(chat_world, DisabledOperation.TYPING_EVENTS)
    await bob.expect("GUILD_UPDATE")
    assert await heard() == []
    await disable(chat_world)
    await bob.expect("GUILD_UPDATE")
    assert await heard() == ["TYPING_START"]


@pytest.mark.rule("001.registries.13")
async def test_instant_invites(chat_world: World) -> None:
    alice = chat_world.alice.rest
    invite = (await alice.create_channel_invite(chat_world.channel_id)).expect(200)["code"]
    await disable(chat_world, DisabledOperation.INSTANT_INVITES)
    refused = await alice.create_channel_invite(chat_world.channel_id)
    assert (refused.status, refused.code) == (403, "FEATURE_TEMPORARILY_DISABLED")
    refused = await chat_world.admin.rest.accept_invite(invite)
    assert (refused.status, refused.code) == (403, "INVITES_DISABLED")
    assert chat_world.guild_id not in await guild_ids(chat_world.admin)
    await disable(chat_world)
    (await alice.create_channel_invite(chat_world.channel_id)).expect(200)
    (await chat_world.admin.rest.accept_invite(invite)).expect(200)
    assert chat_world.guild_id in await guild_ids(chat_world.admin)


async def guild_ids(actor: Actor) -> list[str]:
    """The guilds that the account is in."""
    return [guild["id"] for guild in (await actor.rest.get("/v1/users/@me/guilds")).expect(200)]


@pytest.mark.rule("001.registries.14")
async def test_sending(chat_world: World) -> None:
    def everybody() -> list[Actor]:
        return [chat_world.alice, chat_world.bob, chat_world.bot]

    await disable(chat_world, DisabledOperation.SEND_MESSAGE)
    for actor in everybody():
        refused = await actor.rest.send_message(chat_world.channel_id, "x")
        assert (refused.status, refused.code) == (403, "FEATURE_TEMPORARILY_DISABLED")
    (await chat_world.bob.rest.get(f"/v1/channels/{chat_world.channel_id}/messages")).expect(200)
    await disable(chat_world, *(set(DisabledOperation) - {DisabledOperation.SEND_MESSAGE}))
    for actor in everybody():
        (await actor.rest.send_message(chat_world.channel_id, "x")).expect(200)


async def watch(client: GatewayClient, world: World) -> None:
    """Watch the member list of the world's channel."""
    lists = {world.channel_id: [[0, 99]]}
    await client.send(Opcode.LAZY_REQUEST, {"subscriptions": {world.guild_id: {"member_list_channels": lists}}})


@pytest.mark.rule("001.registries.16")
async def test_member_list_updates(chat_world: World, autojump_clock: MockClock) -> None:
    alice = await chat_world.alice.connect()
    await watch(alice, chat_world)
    assert (await alice.expect("GUILD_MEMBER_LIST_UPDATE")).data["online_count"] == 1
    bob = await chat_world.bob.connect()
    assert (await alice.expect("GUILD_MEMBER_LIST_UPDATE")).data["online_count"] == 2
    await disable(chat_world, DisabledOperation.MEMBER_LIST_UPDATES)
    await alice.expect("GUILD_UPDATE")
    await bob.aclose()
    carol = await chat_world.carol.connect()
    await watch(carol, chat_world)
    await trio.sleep(5)
    assert lists_among(alice) == lists_among(carol) == []
    await disable(chat_world)
    for client in (alice, carol):
        update = (await client.expect("GUILD_MEMBER_LIST_UPDATE")).data
        assert update["member_count"] == 4
        assert [op["range"] for op in update["ops"]] == [[0, 99]]


def lists_among(client: GatewayClient) -> list[object]:
    """Member lists among what has arrived."""
    return [payload for payload in client.unread() if payload.name == "GUILD_MEMBER_LIST_UPDATE"]


# MFA levels


@pytest.mark.rule("001.mfa.1")
async def test_no_factor_is_asked_for_at_level_none(chat_world: World) -> None:
    guild = f"/v1/guilds/{chat_world.guild_id}"
    powers = Permission.MANAGE_GUILD | Permission.MANAGE_ROLES | Permission.BAN_MEMBERS
    role = (await chat_world.alice.rest.post(f"{guild}/roles", {"name": "m", "permissions": str(powers.value)})).expect(
        200
    )["id"]
    (await chat_world.alice.rest.put(f"{guild}/members/{chat_world.bob.id}/roles/{role}")).expect(204)
    assert (await chat_world.bob.rest.get(guild)).expect(200)["mfa_level"] == 0

    async def ask(method: str, path: str, **body: Any) -> Response:
        return await chat_world.bob.rest.request(method, path, json=body if body else ...)

    (await ask("PATCH", guild, name="Moderated")).expect(200)
    (await ask("POST", f"{guild}/roles", name="r")).expect(200)
    (await ask("GET", f"{guild}/bans")).expect(200)
    (await ask("GET", f"{guild}/vanity-url")).expect(200)


# Inactive members


@pytest.mark.rule("001.guild-object.19", "001.guild-object.20")
async def test_inactive_members_move_to_the_afk_channel(chat_world: World, autojump_clock: MockClock) -> None:
    body = {"type": 2, "name": "Away"}
    made = await chat_world.alice.rest.post(f"/v1/guilds/{chat_world.guild_id}/channels", body)
    afk = made.expect(200)["id"]
    alice, bob = await chat_world.alice.connect(), await chat_world.bob.connect()
    voice = {"guild_id": chat_world.guild_id, "channel_id": chat_world.voice_channel_id}
    for client in (alice, bob):
        await client.send(Opcode.VOICE_STATE_UPDATE, {**voice, "self_mute": False, "self_deaf": False})

    async def moved(seconds: float) -> set[str]:
        """Who moves to the AFK channel in this time."""
        alice.unread()
        await trio.sleep(seconds)
        updates = [payload.data for payload in alice.unread() if payload.name == "VOICE_STATE_UPDATE"]
        return {update["user_id"] for update in updates if update["channel_id"] == afk}

    await modify(chat_world, afk_channel_id=None, afk_timeout=60)
    await bob.send(Opcode.PRESENCE_UPDATE, {"status": "idle", "afk": True})
    assert await moved(120) == set()  # there is none to move to
    await bob.send(Opcode.PRESENCE_UPDATE, {"status": "online", "afk": False})
    await modify(chat_world, afk_channel_id=afk, afk_timeout=300)
    assert await moved(600) == set()  # nobody is inactive
    await bob.send(Opcode.PRESENCE_UPDATE, {"status": "idle", "afk": True})
    assert await moved(290) == set()
    assert await moved(20) == {chat_world.bob.id}
    assert await moved(600) == set()  # who is there stays
