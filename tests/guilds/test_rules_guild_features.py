"""What a guild's features do, with each and without it (document 001, Guild features).

Area: guilds. Rules: 001.features, 001.guild-object.
"""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any, Final

import attrs
import pytest
from trio.testing import MockClock

from chat.domain.administration.admin_audit_log import AdminAuditLog
from chat.domain.administration.command_line import change_features
from chat.registries.user_flags import UserFlag
from chat.store import policy
from chat.store.guilds import guilds
from chat.testing.rest_client import Response
from chat.testing.server import OUTSIDE_POLL_SECONDS, ChatServer
from chat.testing.world import Actor, Person, World
from tests.spec.ledger import proves

FEATURES = json.loads(Path("spec_fixtures", "guilds", "features.json").read_text(encoding="utf-8"))
CLOSED = ("UNAVAILABLE_FOR_EVERYONE", "UNAVAILABLE_FOR_EVERYONE_BUT_STAFF")
PIXEL = base64.b64encode(
    base64.b64decode("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==")
).decode()
"""A PNG of one pixel."""

GIF = base64.b64encode(
    b"GIF89a\x01\x00\x01\x00\x80\x00\x00\x00\x00\x00\xff\xff\xff"
    b"!\xff\x0bNETSCAPE2.0\x03\x01\x00\x00\x00"
    + b"!\xf9\x04\x00\x0a\x00\x00\x00,\x00\x00\x00\x00\x01\x00\x01\x00\x00\x02\x02D\x01\x00" * 2
    + b";"
).decode()
"""A GIF of two frames."""


NOTICED = OUTSIDE_POLL_SECONDS + 1.0
"""After this many seconds a server of the test kit has noticed what the command line changed."""


async def give(world: World, *features: str) -> None:
    """The guild has exactly these features."""
    (await world.anyone.post(f"/v1/_dev/guilds/{world.guild_id}", {"features": list(features)})).expect(200)


async def modify(world: World, **fields: Any) -> Response:
    """Modify guild, by its owner."""
    return await world.alice.rest.patch(f"/v1/guilds/{world.guild_id}", fields)


async def shown(world: World, actor: Actor | None = None) -> dict[str, Any]:
    """Get guild."""
    guild: dict[str, Any] = (await (actor or world.bob).rest.get(f"/v1/guilds/{world.guild_id}")).expect(200)
    return guild


def field_codes(answer: Response) -> dict[str, str]:
    assert (answer.status, answer.code) == (400, "INVALID_FORM_BODY"), answer.body
    return {entry["path"]: entry["code"] for entry in answer.json()["errors"]}


# All of them


@pytest.mark.parametrize("row", FEATURES, ids=lambda row: row["feature"])
async def test_modify_guild_adds_and_removes_what_is_toggleable_and_nothing_else(
    chat_world: World, row: dict[str, Any]
) -> None:
    feature = row["feature"]
    of_its_own = {
        "ANNOUNCEMENT_CHANNELS_DISABLED": "001.features.5",
        "CLONE_EMOJI_DISABLED": "001.features.19",
        "CLONE_STICKER_DISABLED": "001.features.19",
    }
    rules = ["001.features.39", *([of_its_own[feature]] if feature in of_its_own else [])]
    await give(chat_world)
    added = await modify(chat_world, features=[feature, feature])
    if row["toggleable"]:
        with proves("001.features.39", "001.guild-object.21"):
            assert added.expect(200)["features"] == [feature]
        with proves("001.features.39"):
            assert (await modify(chat_world, features=[])).expect(200)["features"] == []
        return
    with proves(*rules):
        assert field_codes(added) == {"features": "GUILD_FEATURE_NOT_TOGGLEABLE"}
    await give(chat_world, feature)
    kept = await modify(chat_world, features=[])
    if row["closes"]:
        assert (kept.status, kept.code) == (403, "MISSING_ACCESS")
        return
    with proves(*rules):
        assert kept.expect(200)["features"] == [feature]
    # What the guild has may be named again: that is no addition.
    assert (await modify(chat_world, features=[feature])).expect(200)["features"] == [feature]


ACTED_ON: Final = {
    "CLONE_EMOJI_ENABLED": "001.features.16",
    "CLONE_STICKER_ENABLED": "001.features.17",
    "CLONE_EMOJI_DISABLED": "001.features.18",
    "CLONE_STICKER_DISABLED": "001.features.18",
    "DETACHED_BANNER": "001.features.20",
    "HIDE_OWNER_CROWN": "001.features.23",
    "PARTNERED": "001.features.30",
    "VERIFIED": "001.features.30",
    "VISIONARY": "001.features.30",
    "VOICE_E2EE": "001.features.32",
}
"""The features that clients act on, and the rule of each."""


@pytest.mark.parametrize(
    "row",
    [
        pytest.param(row, marks=[pytest.mark.rule(rule) for rule in [ACTED_ON.get(row["feature"])] if rule])
        for row in FEATURES
        if not row["closes"]
    ],
    ids=lambda row: row["feature"],
)
async def test_everybody_is_shown_a_feature_by_which_clients_act(chat_world: World, row: dict[str, Any]) -> None:
    bob = await chat_world.bob.connect()
    await give(chat_world, row["feature"])
    assert (await bob.expect("GUILD_UPDATE")).data["features"] == [row["feature"]]
    assert (await shown(chat_world))["features"] == [row["feature"]]
    ready = (await chat_world.carol.connect()).ready
    assert ready is not None
    assert ready["guilds"][0]["properties"]["features"] == [row["feature"]]


@pytest.mark.rule("001.features.18", "001.features.25", "001.features.30")
async def test_markers_change_nothing_but_the_list(chat_world: World) -> None:
    before = await shown(chat_world)
    markers = ["MORE_EMOJI", "MORE_STICKERS", "LARGE_GUILD_OVERRIDE", "PARTNERED", "VERIFIED", "VISIONARY"]
    markers += ["CLONE_EMOJI_DISABLED", "CLONE_STICKER_DISABLED"]
    await give(chat_world, *markers)
    after = await shown(chat_world)
    assert sorted(after["features"]) == sorted(markers)
    assert {**after, "features": []} == {**before, "features": []}
    (await chat_world.bob.rest.send_message(chat_world.channel_id, "as ever")).expect(200)
    (await chat_world.bob.rest.create_channel_invite(chat_world.channel_id)).expect(200)


async def test_what_the_operator_changes_beside_the_server_is_noticed(
    chat_world: World, chat_server: ChatServer, autojump_clock: MockClock
) -> None:
    """As `chat guild features` does it, from another process."""
    bob, carol = await chat_world.bob.connect(), await chat_world.carol.connect()
    log = AdminAuditLog(chat_server.database, chat_server.server.snowflakes)

    async def operator(*, add: tuple[str, ...] = (), remove: tuple[str, ...] = ()) -> None:
        await change_features(chat_server.database, chat_server.clock, log, int(chat_world.guild_id), add, remove)

    await give(chat_world)
    await bob.expect("GUILD_UPDATE")
    await operator(add=("VERIFIED", "VANITY_URL"))
    assert (await bob.expect("GUILD_UPDATE", seconds=NOTICED)).data["features"] == ["VANITY_URL", "VERIFIED"]
    assert (await shown(chat_world))["features"] == ["VANITY_URL", "VERIFIED"]
    await operator(add=("UNAVAILABLE_FOR_EVERYONE",), remove=("VERIFIED",))
    for client in (bob, carol):
        assert (await client.expect("GUILD_DELETE", seconds=NOTICED)).data == {
            "id": chat_world.guild_id,
            "unavailable": True,
        }
    assert (await chat_world.alice.rest.get(f"/v1/guilds/{chat_world.guild_id}")).code == "MISSING_ACCESS"
    await operator(remove=("UNAVAILABLE_FOR_EVERYONE",))
    assert (await bob.expect("GUILD_CREATE", seconds=NOTICED)).data["id"] == chat_world.guild_id
    assert (await shown(chat_world))["features"] == ["VANITY_URL"]


# Assets


async def test_assets_are_shown_and_taken_as_far_as_the_features_go(chat_world: World) -> None:
    every = ("ANIMATED_ICON", "ANIMATED_BANNER", "BANNER", "INVITE_SPLASH")
    await give(chat_world, *every)
    body = {"icon": GIF, "banner": GIF, "splash": PIXEL, "embed_splash": PIXEL}
    made = (await modify(chat_world, **body)).expect(200)
    with proves("001.features.1"):
        assert made["icon"].startswith("a_")
    with proves("001.features.2"):
        assert made["banner"].startswith("a_")
    with proves("001.features.4"):
        assert None not in (made["splash"], made["embed_splash"])
    for missing, member, expected in (
        ("ANIMATED_ICON", "icon", made["icon"].removeprefix("a_")),
        ("ANIMATED_BANNER", "banner", made["banner"].removeprefix("a_")),
        ("BANNER", "banner", None),
        ("INVITE_SPLASH", "splash", None),
        ("INVITE_SPLASH", "embed_splash", None),
    ):
        await give(chat_world, *(feature for feature in every if feature != missing))
        assert (await shown(chat_world))[member] == expected
    await give(chat_world)
    for member, image, code in (
        ("banner", PIXEL, "GUILD_BANNER_REQUIRES_FEATURE"),
        ("splash", PIXEL, "INVITE_SPLASH_REQUIRES_FEATURE"),
        ("embed_splash", PIXEL, "EMBED_SPLASH_REQUIRES_FEATURE"),
    ):
        with proves("001.features.3", "001.features.4"):
            assert field_codes(await modify(chat_world, **{member: image})) == {member: code}
    await give(chat_world, "BANNER")
    with proves("001.features.2"):
        assert field_codes(await modify(chat_world, banner=GIF)) == {"banner": "ANIMATED_GUILD_BANNER_REQUIRES_FEATURE"}
    with proves("001.features.3"):
        (await modify(chat_world, banner=PIXEL)).expect(200)


# Invites and names


@pytest.mark.rule("001.features.21", "001.features.24")
async def test_nobody_comes_in_while_invites_are_closed(chat_world: World) -> None:
    invite = (await chat_world.alice.rest.create_channel_invite(chat_world.channel_id)).expect(200)["code"]
    for feature in ("INVITES_DISABLED", "RAID_DETECTED"):
        await give(chat_world, feature)
        refused = await chat_world.admin.rest.accept_invite(invite)
        assert (refused.status, refused.code) == (403, "INVITES_DISABLED")
        assert (await chat_world.admin.rest.get("/v1/users/@me/guilds")).expect(200) == []
        (await chat_world.bob.rest.accept_invite(invite)).expect(200)  # a member already
    (await give_toggle(chat_world)).expect(200)
    refused = await chat_world.admin.rest.accept_invite(invite)
    assert refused.code == "INVITES_DISABLED"
    (await modify(chat_world, features=[])).expect(200)
    (await chat_world.admin.rest.accept_invite(invite)).expect(200)


async def give_toggle(world: World) -> Response:
    """The owner closes the guild to invites."""
    await give(world)
    return await modify(world, features=["INVITES_DISABLED"])


@pytest.mark.rule("001.features.22")
@pytest.mark.parametrize("kind", [0, 5, 15, 16], ids=["text", "announcement", "forum", "media"])
async def test_flexible_names(chat_world: World, kind: int) -> None:
    async def named(name: str) -> str:
        body = {"type": kind, "name": name}
        made = (await chat_world.alice.rest.post(f"/v1/guilds/{chat_world.guild_id}/channels", body)).expect(200)
        return str(made["name"])

    assert await named("The Harbour, at night!") == "the-harbour-at-night"
    (await modify(chat_world, features=["TEXT_CHANNEL_FLEXIBLE_NAMES"])).expect(200)
    assert await named("The Harbour, at night!") == "The Harbour, at night!"


@pytest.mark.rule("001.features.28")
async def test_a_custom_code_needs_its_feature(chat_world: World) -> None:
    path = f"/v1/guilds/{chat_world.guild_id}/vanity-url"
    refused = await chat_world.alice.rest.patch(path, {"code": "harbour"})
    assert field_codes(refused) == {"code": "VANITY_URL_REQUIRES_FEATURE"}
    await give(chat_world, "VANITY_URL")
    (await chat_world.alice.rest.patch(path, {"code": "harbour"})).expect(200)
    assert (await chat_world.alice.rest.get(path)).expect(200)["code"] == "harbour"


# Emojis and stickers


async def make_emoji(world: World, name: str = "wave", *, guild_id: str | None = None) -> Response:
    body = {"name": name, "image": PIXEL}
    return await world.alice.rest.post(f"/v1/guilds/{guild_id or world.guild_id}/emojis", body)


async def make_sticker(world: World, name: str = "wave") -> Response:
    body = {"name": name, "image": PIXEL}
    return await world.alice.rest.post(f"/v1/guilds/{world.guild_id}/stickers", body)


@pytest.mark.chat_settings(**{"limits.max_guild_emojis": 1, "limits.max_guild_stickers": 1})
@pytest.mark.rule("001.features.26", "001.features.25")
async def test_unlimited_expressions(chat_world: World) -> None:
    for make, feature, marker, code in (
        (make_emoji, "UNLIMITED_EMOJI", "MORE_EMOJI", "MAX_EMOJIS"),
        (make_sticker, "UNLIMITED_STICKERS", "MORE_STICKERS", "MAX_STICKERS"),
    ):
        await give(chat_world, marker)
        (await make(chat_world)).expect(200)
        refused = await make(chat_world)
        assert (refused.status, refused.code) == (400, code)
        await give(chat_world, feature)
        for _ in range(3):
            (await make(chat_world)).expect(200)
        await give(chat_world)
        assert (await make(chat_world)).code == code


@pytest.mark.rule("001.features.16", "001.features.17")
@pytest.mark.parametrize("kind", ["emoji", "sticker"])
async def test_others_copy_where_the_guild_lets_them(chat_world: World, kind: str) -> None:
    made = (await (make_emoji if kind == "emoji" else make_sticker)(chat_world)).expect(200)
    home = (await chat_world.admin.rest.create_guild("Home")).expect(200)["id"]
    path, wish = f"/v1/guilds/{home}/{kind}s/clone", {f"source_{kind}_id": made["id"]}
    for features in ((), (f"CLONE_{kind.upper()}_DISABLED",)):
        await give(chat_world, *features)
        refused = await chat_world.admin.rest.post(path, wish)
        assert (refused.status, refused.code) == (403, "MISSING_ACCESS")
    (await modify(chat_world, features=[f"CLONE_{kind.upper()}_ENABLED"])).expect(200)
    (await chat_world.admin.rest.post(path, wish)).expect(200)
    # The older marker takes nothing away.
    await give(chat_world, f"CLONE_{kind.upper()}_ENABLED", f"CLONE_{kind.upper()}_DISABLED")
    (await chat_world.admin.rest.post(path, wish)).expect(200)


@pytest.mark.rule("001.features.27")
async def test_purging_needs_its_feature(chat_world: World, chat_server: ChatServer) -> None:
    def kept(emoji_id: str) -> bool:
        return policy.only_of(chat_server.database.reader, "emojis", int(emoji_id)) is not None

    first, second, third = [(await make_emoji(chat_world)).expect(200)["id"] for _ in range(3)]
    guild = f"/v1/guilds/{chat_world.guild_id}/emojis"

    async def remove(emoji_id: str, *, purge: bool) -> Response:
        return await chat_world.alice.rest.request(
            "DELETE", f"{guild}/{emoji_id}", query={"purge": "true" if purge else "false"}
        )

    refused = await remove(first, purge=True)
    assert (refused.status, refused.code) == (403, "MISSING_ACCESS")
    assert kept(first)
    (await remove(first, purge=False)).expect(204)
    assert kept(first)  # messages show it still
    await give(chat_world, "EXPRESSION_PURGE_ALLOWED")
    (await remove(second, purge=True)).expect(204)
    (await remove(third, purge=False)).expect(204)
    assert (kept(second), kept(third)) == (False, True)


# What the guild is known for


@pytest.mark.rule("001.features.29")
async def test_a_discoverable_guild_is_in_public_discovery(chat_world: World) -> None:
    admin, path = chat_world.admin.rest, f"/v1/discovery/guilds/{chat_world.guild_id}/join"

    async def found() -> list[str]:
        page = (await admin.get("/v1/discovery/guilds")).expect(200)
        assert page["total"] == len(page["guilds"])
        return [guild["id"] for guild in page["guilds"]]

    await give(chat_world)
    assert await found() == []
    refused = await admin.post(path)
    assert (refused.status, refused.code) == (400, "DISCOVERY_NOT_DISCOVERABLE")
    await give(chat_world, "DISCOVERABLE", "INVITES_DISABLED")
    assert await found() == [chat_world.guild_id]
    assert (await admin.post(path)).code == "INVITES_DISABLED"
    await give(chat_world, "DISCOVERABLE", "UNAVAILABLE_FOR_EVERYONE")
    assert await found() == []
    assert (await admin.post(path)).code == "MISSING_ACCESS"
    await give(chat_world, "DISCOVERABLE")
    [guild] = (await admin.get("/v1/discovery/guilds")).expect(200)["guilds"]
    assert (guild["name"], guild["member_count"], guild["online_count"]) == ("Seeded guild", 4, 0)
    for _ in range(2):  # the second time nothing is left to do
        (await admin.post(path)).expect(204)
    assert (await shown(chat_world, chat_world.admin))["member_count"] == 5
    assert (await admin.post("/v1/discovery/guilds/7/join")).code == "UNKNOWN_GUILD"
    assert (await chat_world.bot.rest.post(path)).status == 403
    assert (await admin.get("/v1/discovery/guilds", {"limit": 1, "offset": 1})).expect(200)["guilds"] == []
    assert (await admin.get("/v1/discovery/guilds", {"limit": 0})).code == "INVALID_FORM_BODY"


@pytest.mark.rule("001.features.31")
@pytest.mark.chat_settings(**{"voice.regions": ("north",), "voice.vip_regions": ("harbour",)})
async def test_regions_for_vip_guilds(chat_world: World) -> None:
    channel = f"/v1/channels/{chat_world.voice_channel_id}"

    async def pick(region: str | None) -> str | None:
        return (await chat_world.alice.rest.patch(channel, {"rtc_region": region})).code

    async def offered() -> list[str]:
        return [region["id"] for region in (await chat_world.bob.rest.get(f"{channel}/rtc-regions")).expect(200)]

    await give(chat_world)
    assert await offered() == ["automatic", "north"]
    assert [await pick(region) for region in ("north", "automatic", None)] == [None, None, None]
    assert await pick("harbour") == await pick("nowhere") == "UNKNOWN_VOICE_REGION"
    await give(chat_world, "VIP_VOICE")
    assert await offered() == ["automatic", "north", "harbour"]
    assert await pick("nowhere") == "UNKNOWN_VOICE_REGION"
    assert await pick("harbour") is None
    assert (await chat_world.bob.rest.get(channel)).expect(200)["rtc_region"] == "harbour"
    made = {"type": 2, "name": "x", "rtc_region": "harbour"}
    (await chat_world.alice.rest.post(f"/v1/guilds/{chat_world.guild_id}/channels", made)).expect(200)
    await give(chat_world)
    refused = await chat_world.alice.rest.post(f"/v1/guilds/{chat_world.guild_id}/channels", made)
    assert (refused.status, refused.code) == (404, "UNKNOWN_VOICE_REGION")
    text = await chat_world.bob.rest.get(f"/v1/channels/{chat_world.channel_id}/rtc-regions")
    assert text.code == "INVALID_CHANNEL_TYPE"


@pytest.mark.rule("001.features.8")
async def test_announcement_channels_are_made_although_they_are_switched_off(chat_world: World) -> None:
    await give(chat_world, "ANNOUNCEMENT_CHANNELS_DISABLED")
    body = {"type": 5, "name": "news"}
    made = (await chat_world.alice.rest.post(f"/v1/guilds/{chat_world.guild_id}/channels", body)).expect(200)
    assert made["type"] == 5
    for kind in (0, 5):
        changed = await chat_world.alice.rest.patch(f"/v1/channels/{made['id']}", {"type": kind})
        assert changed.expect(200)["type"] == kind
    (await chat_world.alice.rest.send_message(made["id"], "news")).expect(200)


# Availability


def guild_routes(world: World) -> list[tuple[str, str, Any]]:
    guild = f"/v1/guilds/{world.guild_id}"
    return [
        ("GET", guild, ...),
        ("PATCH", guild, {"name": "x"}),
        ("GET", f"{guild}/channels", ...),
        ("GET", f"{guild}/roles", ...),
        ("POST", f"{guild}/roles", {"name": "x"}),
        ("GET", f"{guild}/members", ...),
        ("GET", f"{guild}/bans", ...),
        ("GET", f"{guild}/emojis", ...),
        ("GET", f"{guild}/vanity-url", ...),
        ("GET", f"{guild}/audit-logs", ...),
    ]


def channel_routes(world: World) -> list[tuple[str, str, Any]]:
    channel = f"/v1/channels/{world.channel_id}"
    return [
        ("GET", channel, ...),
        ("PATCH", channel, {"name": "x"}),
        ("GET", f"{channel}/messages", ...),
        ("POST", f"{channel}/messages", {"content": "x"}),
        ("POST", f"{channel}/typing", ...),
        ("GET", f"{channel}/invites", ...),
    ]


async def outcomes(actor: Actor, routes: list[tuple[str, str, Any]]) -> set[tuple[int, str | None]]:
    answers = [await actor.rest.request(method, path, json=body) for method, path, body in routes]
    return {(answer.status, answer.code) for answer in answers}


@pytest.mark.rule("001.features.33", "001.features.34", "001.features.35")
async def test_a_closed_guild_is_closed_to_its_owner_too(chat_world: World) -> None:
    alice, carol = chat_world.alice, chat_world.carol
    staff = {"flags": str(UserFlag.STAFF.value)}
    (await chat_world.anyone.post(f"/v1/_dev/users/{carol.id}", staff)).expect(200)
    refused = {(403, "MISSING_ACCESS")}
    for feature in CLOSED:
        await give(chat_world, feature)
        for actor in (alice, chat_world.bob, chat_world.bot):
            assert await outcomes(actor, guild_routes(chat_world)) == refused
            assert await outcomes(actor, channel_routes(chat_world)) == refused
    await give(chat_world, "UNAVAILABLE_FOR_EVERYONE")
    assert await outcomes(carol, guild_routes(chat_world) + channel_routes(chat_world)) == refused
    await give(chat_world, "UNAVAILABLE_FOR_EVERYONE_BUT_STAFF")
    (await carol.rest.get(f"/v1/guilds/{chat_world.guild_id}")).expect(200)
    (await carol.rest.get(f"/v1/channels/{chat_world.channel_id}")).expect(200)
    (await carol.rest.send_message(chat_world.channel_id, "staff")).expect(200)
    assert (await carol.rest.patch(f"/v1/guilds/{chat_world.guild_id}", {"name": "x"})).code == "MISSING_PERMISSIONS"
    await give(chat_world, "UNAVAILABLE_HIDDEN")  # alone it closes nothing
    assert refused.isdisjoint(await outcomes(alice, guild_routes(chat_world) + channel_routes(chat_world)))


@pytest.mark.rule("001.features.36")
@pytest.mark.parametrize("closed", CLOSED)
async def test_the_stub_of_a_closed_guild(chat_world: World, closed: str) -> None:
    async def stub(person: Person) -> dict[str, Any]:
        ready = (await person.connect()).ready
        assert ready is not None
        [guild] = ready["guilds"]
        return {name: guild[name] for name in ("id", "unavailable", "unavailable_hidden") if name in guild}

    guild_id = chat_world.guild_id
    assert "unavailable" not in await stub(chat_world.bob)
    at_bob = await chat_world.bob.connect()
    await give(chat_world, closed)
    assert (await at_bob.expect("GUILD_DELETE")).data == {"id": guild_id, "unavailable": True}
    assert await stub(chat_world.bob) == {"id": guild_id, "unavailable": True}
    await give(chat_world)
    assert (await at_bob.expect("GUILD_CREATE")).data["id"] == guild_id
    await give(chat_world, closed, "UNAVAILABLE_HIDDEN")
    hidden = {"id": guild_id, "unavailable": True, "unavailable_hidden": True}
    assert (await at_bob.expect("GUILD_DELETE")).data == hidden
    assert await stub(chat_world.bob) == hidden
    await give(chat_world, "UNAVAILABLE_HIDDEN")
    assert (await at_bob.expect("GUILD_CREATE")).data["id"] == guild_id
    assert await stub(chat_world.bob) == {"id": guild_id}


# Size


async def fill(server: ChatServer, guild_id: str, member_count: int) -> None:
    """Set the guild's count of members, which its limit looks at."""
    known = guilds.by_id(server.database.reader, int(guild_id))
    assert known is not None
    counted = attrs.evolve(known, member_count=member_count)
    await server.database.write(lambda connection: guilds.replace(connection, counted))


@pytest.mark.rule("001.features.37")
async def test_a_very_large_guild_holds_ten_times_as_many(chat_world: World, chat_server: ChatServer) -> None:
    async def joins() -> str | None:
        invite = (await chat_world.alice.rest.create_channel_invite(chat_world.channel_id)).expect(200)["code"]
        answer = await chat_world.admin.rest.accept_invite(invite)
        if answer.code is None:
            (await chat_world.admin.rest.delete(f"/v1/users/@me/guilds/{chat_world.guild_id}")).expect(204)
        return answer.code

    for features, most in (((), 1_000_000), (("VERY_LARGE_GUILD",), 10_000_000)):
        await give(chat_world, *features)
        await fill(chat_server, chat_world.guild_id, most)
        assert await joins() == "MAX_GUILD_MEMBERS"
        await fill(chat_server, chat_world.guild_id, most - 1)
        assert await joins() is None


@pytest.mark.rule("001.features.38")
@pytest.mark.chat_settings(**{"limits.max_guild_members": 7, "limits.max_guild_members_very_large": 5})
async def test_what_the_instance_configures_comes_after_the_default(chat_world: World, chat_server: ChatServer) -> None:
    """The configuration has the last word, also where it says less than the raised default."""
    invite = (await chat_world.alice.rest.create_channel_invite(chat_world.channel_id)).expect(200)["code"]
    await give(chat_world, "VERY_LARGE_GUILD")
    await fill(chat_server, chat_world.guild_id, 5)
    assert (await chat_world.admin.rest.accept_invite(invite)).code == "MAX_GUILD_MEMBERS"
    await give(chat_world)
    await fill(chat_server, chat_world.guild_id, 5)
    (await chat_world.admin.rest.accept_invite(invite)).expect(200)
