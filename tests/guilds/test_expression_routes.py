"""Emojis and stickers over HTTP: who may do what, what is refused, what others hear, and where their images lie.

Area: guilds. Rules: 001.features, 001.get, 001.guild-object.
"""

from __future__ import annotations

from typing import Any

import attrs
import pytest
from trio.testing import MockClock

from chat.media.image_header import ImageHeader, image_header
from chat.registries.permissions import Permission
from chat.testing.rest_client import Response
from chat.testing.world import Actor, World
from tests.image_samples import FORMATS, MOVING
from tests.spec.ledger import proves
from tests.webhooks.surfaces import data_uri, fetch, png

CREATE = Permission.CREATE_EXPRESSIONS.value
MANAGE = Permission.MANAGE_EXPRESSIONS.value
MANAGE_GUILD = Permission.MANAGE_GUILD.value


@attrs.frozen
class Kind:
    """Emojis or stickers, as clients speak of them."""

    name: str
    one: str
    event: str
    unknown: str
    full: str
    actions: tuple[int, int, int]

    @property
    def slots(self) -> str:
        """The setting that limits them."""
        return f"limits.max_guild_{self.name}"


EMOJIS = Kind("emojis", "emoji", "GUILD_EMOJIS_UPDATE", "UNKNOWN_EMOJI", "MAX_EMOJIS", (60, 61, 62))
STICKERS = Kind("stickers", "sticker", "GUILD_STICKERS_UPDATE", "UNKNOWN_STICKER", "MAX_STICKERS", (90, 91, 92))

kinds = pytest.mark.parametrize("kind", [EMOJIS, STICKERS], ids=["emojis", "stickers"])


def path(kind: Kind, guild_id: str, *more: str) -> str:
    """The address of a guild's expressions, or of something below it."""
    return "/".join((f"/v1/guilds/{guild_id}/{kind.name}", *more))


async def try_make(world: World, kind: Kind, actor: Actor | None = None, **members: Any) -> Response:
    """Ask for an expression; alice does, unless another is named."""
    body = {"name": "wave", "image": data_uri(png()), **members}
    return await (actor or world.alice).rest.post(path(kind, world.guild_id), body)


async def make(world: World, kind: Kind, actor: Actor | None = None, **members: Any) -> dict[str, Any]:
    """An expression that is made."""
    made: dict[str, Any] = (await try_make(world, kind, actor, **members)).expect(200)
    return made


async def let(world: World, actor: Actor, permissions: int) -> None:
    """Give somebody permissions."""
    body = {"name": "some", "permissions": str(permissions)}
    role = (await world.alice.rest.post(f"/v1/guilds/{world.guild_id}/roles", body)).expect(200)
    (await world.alice.rest.put(f"/v1/guilds/{world.guild_id}/members/{actor.id}/roles/{role['id']}")).expect(204)


async def set_features(world: World, *features: str) -> None:
    """Features as an administrator gives them."""
    (await world.anyone.post(f"/v1/_dev/guilds/{world.guild_id}", {"features": list(features)})).expect(200)


async def other_guild(actor: Actor) -> str:
    """A guild of the actor's own."""
    guild: dict[str, Any] = (await actor.rest.post("/v1/guilds", {"name": "Elsewhere"})).expect(200)
    return str(guild["id"])


def refused(answer: Response, status: int, code: str) -> None:
    assert (answer.status, answer.code) == (status, code), answer.body


def field_codes(answer: Response) -> dict[str, str]:
    """The wrong fields with their codes."""
    refused(answer, 400, "INVALID_FORM_BODY")
    return {entry["path"]: entry["code"] for entry in answer.json()["errors"]}


@kinds
@pytest.mark.rule("001.get.1", "001.guild-object.37")
async def test_an_expression_comes_changes_and_goes(chat_world: World, kind: Kind) -> None:
    alice, bob = chat_world.alice, chat_world.bob
    at_bob = await bob.connect()
    made = await make(chat_world, kind)
    more = {"description": "", "tags": []} if kind is STICKERS else {}
    assert made == {"id": made["id"], "name": "wave", **more, "animated": False, "nsfw": False}
    assert (await at_bob.expect(kind.event)).data == {"guild_id": chat_world.guild_id, kind.name: [made]}

    second = await make(chat_world, kind, name="bow", image=data_uri(MOVING["GIF"]()))
    assert second["animated"] is True
    assert (await at_bob.expect(kind.event)).data[kind.name] == [made, second]

    listed = (await bob.rest.get(path(kind, chat_world.guild_id))).expect(200)
    assert [{**entry, "user": entry["user"]["id"]} for entry in listed] == [
        {**made, "user": alice.id},
        {**second, "user": alice.id},
    ]
    guild = (await bob.rest.get(f"/v1/guilds/{chat_world.guild_id}")).expect(200)
    assert guild[kind.name] == [made, second]
    changed_guild = (await alice.rest.patch(f"/v1/guilds/{chat_world.guild_id}", {})).expect(200)
    assert changed_guild.keys().isdisjoint({"roles", "emojis", "stickers"})
    fresh = await bob.connect()
    assert fresh.ready is not None
    (in_ready,) = [entry for entry in fresh.ready["guilds"] if entry["id"] == chat_world.guild_id]
    assert in_ready[kind.name] == [made, second]

    one = path(kind, chat_world.guild_id, made["id"])
    renamed = (await alice.rest.patch(one, {"name": "hail"})).expect(200)
    assert renamed == {**made, "name": "hail"}
    assert (await at_bob.expect(kind.event)).data[kind.name] == [renamed, second]
    (await alice.rest.delete(one)).expect(204)
    assert (await at_bob.expect(kind.event)).data[kind.name] == [second]
    refused(await alice.rest.delete(one), 404, kind.unknown)
    refused(await alice.rest.patch(one, {"name": "hail"}), 404, kind.unknown)

    log = (await alice.rest.get(f"/v1/guilds/{chat_world.guild_id}/audit-logs")).expect(200)["audit_log_entries"]
    created, updated, deleted = kind.actions
    assert [entry["action_type"] for entry in log] == [deleted, updated, created, created]
    assert {entry["target_id"] for entry in log} == {made["id"], second["id"]}
    assert log[1]["changes"] == [{"key": "name", "old_value": "wave", "new_value": "hail"}]


@kinds
async def test_whoever_makes_expressions_changes_the_own_and_managers_all(chat_world: World, kind: Kind) -> None:
    bob, carol = chat_world.bob, chat_world.carol
    refused(await try_make(chat_world, kind, bob), 403, "MISSING_PERMISSIONS")
    await let(chat_world, bob, CREATE)
    await let(chat_world, carol, MANAGE)
    refused(await try_make(chat_world, kind, carol), 403, "MISSING_PERMISSIONS")
    own, others = await make(chat_world, kind, bob), await make(chat_world, kind)
    for answer in (
        await bob.rest.patch(path(kind, chat_world.guild_id, others["id"]), {"name": "mine"}),
        await bob.rest.delete(path(kind, chat_world.guild_id, others["id"])),
    ):
        refused(answer, 403, "MISSING_PERMISSIONS")
    (await bob.rest.patch(path(kind, chat_world.guild_id, own["id"]), {"name": "mine"})).expect(200)
    (await carol.rest.patch(path(kind, chat_world.guild_id, own["id"]), {"name": "ours"})).expect(200)
    (await bob.rest.delete(path(kind, chat_world.guild_id, own["id"]))).expect(204)
    (await carol.rest.delete(path(kind, chat_world.guild_id, others["id"]))).expect(204)

    stranger = chat_world.admin
    for answer in (
        await stranger.rest.get(path(kind, chat_world.guild_id)),
        await try_make(chat_world, kind, stranger),
        await stranger.rest.post(path(kind, chat_world.guild_id, "clone"), {f"source_{kind.one}_id": own["id"]}),
        await stranger.rest.delete(path(kind, chat_world.guild_id, others["id"])),
    ):
        refused(answer, 403, "MISSING_PERMISSIONS")
    refused(await stranger.rest.get(path(kind, "1")), 404, "UNKNOWN_GUILD")
    refused(await chat_world.anyone.get(path(kind, chat_world.guild_id)), 401, "UNAUTHORIZED")


@kinds
async def test_an_expression_of_another_guild_is_unknown(chat_world: World, kind: Kind) -> None:
    elsewhere = await other_guild(chat_world.alice)
    made = await make(chat_world, kind)
    one = path(kind, elsewhere, made["id"])
    refused(await chat_world.alice.rest.patch(one, {"name": "other"}), 404, kind.unknown)
    refused(await chat_world.alice.rest.delete(one), 404, kind.unknown)
    other = STICKERS if kind is EMOJIS else EMOJIS
    refused(await chat_world.alice.rest.delete(path(other, chat_world.guild_id, made["id"])), 404, other.unknown)
    assert len((await chat_world.alice.rest.get(path(kind, chat_world.guild_id))).expect(200)) == 1


async def test_what_is_wrong_with_an_emoji(chat_world: World) -> None:
    for members, codes in (
        ({"name": "x"}, {"name": "STRING_LENGTH_INVALID"}),
        ({"name": "x" * 33}, {"name": "STRING_LENGTH_INVALID"}),
        ({"name": "with space"}, {"name": "INVALID_FORMAT"}),
        ({"name": "äö"}, {"name": "INVALID_FORMAT"}),
        ({"name": None}, {"name": "INVALID_FORMAT"}),
        ({"image": ""}, {"image": "INVALID_FORMAT"}),
        ({"image": "data:image/png;base64,"}, {"image": "BASE64_LENGTH_INVALID"}),
        ({"image": "!!!!"}, {"image": "INVALID_BASE64_FORMAT"}),
        ({"image": data_uri(b"text")}, {"image": "INVALID_IMAGE_FORMAT"}),
        ({"image": 5}, {"image": "INVALID_FORMAT"}),
    ):
        assert field_codes(await try_make(chat_world, EMOJIS, **members)) == codes
    for name in ("ab", "x" * 32, "Under_score_9"):
        assert (await make(chat_world, EMOJIS, name=name))["name"] == name


async def test_what_is_wrong_with_a_sticker(chat_world: World) -> None:
    for members, codes in (
        ({"name": "x"}, {"name": "STRING_LENGTH_INVALID"}),
        ({"name": "x" * 31}, {"name": "STRING_LENGTH_INVALID"}),
        ({"name": "  "}, {"name": "STRING_LENGTH_INVALID"}),
        ({"description": "x" * 101}, {"description": "STRING_LENGTH_INVALID"}),
        ({"tags": ["x"] * 11}, {"tags": "INVALID_FORMAT"}),
        ({"tags": ["x" * 31]}, {"tags.0": "STRING_LENGTH_INVALID"}),
        ({"tags": [""]}, {"tags.0": "INVALID_FORMAT"}),
        ({"image": data_uri(b"text")}, {"image": "INVALID_IMAGE_FORMAT"}),
    ):
        assert field_codes(await try_make(chat_world, STICKERS, **members)) == codes
    told = {"name": "A good wave", "description": "Somebody waves", "tags": ["hello", "sea"]}
    made = await make(chat_world, STICKERS, **told)
    assert {name: made[name] for name in told} == told
    one = path(STICKERS, chat_world.guild_id, made["id"])
    kept = (await chat_world.alice.rest.patch(one, {"tags": ["bye"]})).expect(200)
    assert kept == {**made, "tags": ["bye"]}
    bare = (await chat_world.alice.rest.patch(one, {"tags": None, "description": None})).expect(200)
    assert bare == {**made, "tags": [], "description": ""}
    assert (await chat_world.alice.rest.patch(one, {})).expect(200) == bare


@kinds
@pytest.mark.chat_settings(**{"content_policy.blocked_phrases": ["forbidden"]})
async def test_blocked_names(chat_world: World, kind: Kind) -> None:
    refused(await try_make(chat_world, kind, name="forbidden"), 403, "CONTENT_BLOCKED")
    made = await make(chat_world, kind)
    one = path(kind, chat_world.guild_id, made["id"])
    refused(await chat_world.alice.rest.patch(one, {"name": "forbidden"}), 403, "CONTENT_BLOCKED")
    if kind is STICKERS:
        refused(await try_make(chat_world, kind, tags=["so forbidden"]), 403, "CONTENT_BLOCKED")
        refused(await try_make(chat_world, kind, description="so forbidden"), 403, "CONTENT_BLOCKED")


@kinds
@pytest.mark.rule("001.features.26", "001.features.25")
@pytest.mark.chat_settings(**{EMOJIS.slots: 2, STICKERS.slots: 2})
async def test_slots_are_limited_unless_they_are_unlimited(chat_world: World, kind: Kind) -> None:
    for _ in range(2):
        await make(chat_world, kind)
    refused(await try_make(chat_world, kind), 400, kind.full)
    marker, unlimited = ("MORE_EMOJI", "UNLIMITED_EMOJI") if kind is EMOJIS else ("MORE_STICKERS", "UNLIMITED_STICKERS")
    crossed = "UNLIMITED_STICKERS" if kind is EMOJIS else "UNLIMITED_EMOJI"
    await set_features(chat_world, marker, crossed, "LARGE_GUILD_OVERRIDE")
    refused(await try_make(chat_world, kind), 400, kind.full)
    await set_features(chat_world, unlimited)
    await make(chat_world, kind)
    assert len((await chat_world.alice.rest.get(path(kind, chat_world.guild_id))).expect(200)) == 3
    await make(chat_world, STICKERS if kind is EMOJIS else EMOJIS)


@kinds
@pytest.mark.chat_settings(**{EMOJIS.slots: 3, STICKERS.slots: 3})
async def test_several_at_once(chat_world: World, kind: Kind) -> None:
    at_bob = await chat_world.bob.connect()
    alice, bulk = chat_world.alice, path(kind, chat_world.guild_id, "bulk")
    wanted = [{"name": f"wave_{number}", "image": data_uri(png(filler=b"%d" % number))} for number in range(5)]
    wanted[1]["image"] = "!!!!"
    answer = (await alice.rest.post(bulk, {kind.name: wanted})).expect(200)
    assert [entry["name"] for entry in answer["success"]] == ["wave_0", "wave_2", "wave_3"]
    assert [entry["name"] for entry in answer["failed"]] == ["wave_1", "wave_4"]
    assert all(entry["error"] for entry in answer["failed"])
    assert (await at_bob.expect(kind.event)).data[kind.name] == answer["success"]
    for entry, number in zip(answer["success"], (0, 2, 3), strict=True):
        image = await fetch(chat_world.anyone, f"/media/{kind.name}/{entry['id']}.png")
        assert image.body == png(filler=b"%d" % number)
    refused(await alice.rest.post(bulk, {kind.name: wanted}), 400, kind.full)
    assert field_codes(await alice.rest.post(bulk, {kind.name: []})) == {kind.name: "INVALID_FORMAT"}
    assert field_codes(await alice.rest.post(bulk, {kind.name: wanted * 11})) == {kind.name: "INVALID_FORMAT"}
    assert field_codes(await alice.rest.post(bulk, {kind.name: [{"name": "ok"}]})) == {
        f"{kind.name}.0.image": "INVALID_FORMAT"
    }
    refused(await chat_world.bob.rest.post(bulk, {kind.name: wanted}), 403, "MISSING_PERMISSIONS")


@kinds
async def test_who_may_copy(chat_world: World, kind: Kind) -> None:
    """An admin, who is not in the guild, copies into a guild of their own."""
    stranger = chat_world.admin
    made = await make(chat_world, kind, image=data_uri(MOVING["GIF"]()))
    target = await other_guild(stranger)
    body = {f"source_{kind.one}_id": made["id"]}
    word = kind.one.upper()
    enabled, disabled = f"CLONE_{word}_ENABLED", f"CLONE_{word}_DISABLED"
    crossed = "CLONE_STICKER_ENABLED" if kind is EMOJIS else "CLONE_EMOJI_ENABLED"
    metadata = f"/v1/{kind.name}/{made['id']}/metadata"

    await set_features(chat_world, disabled)
    wanted = await chat_world.alice.rest.patch(f"/v1/guilds/{chat_world.guild_id}", {"features": [crossed]})
    with proves("001.features.18"):
        assert sorted(wanted.expect(200)["features"]) == sorted([crossed, disabled])
    with proves("001.features.18"):
        refused(await stranger.rest.post(path(kind, target, "clone"), body), 403, "MISSING_ACCESS")
    assert (await stranger.rest.get(metadata)).expect(200)["allow_cloning"] is False

    wanted = await chat_world.alice.rest.patch(f"/v1/guilds/{chat_world.guild_id}", {"features": [enabled]})
    with proves("001.features.16" if kind is EMOJIS else "001.features.17"):
        assert sorted(wanted.expect(200)["features"]) == sorted([enabled, disabled])
        copy = (await stranger.rest.post(path(kind, target, "clone"), body)).expect(200)
    assert copy == {**made, "id": copy["id"]}
    assert copy["id"] != made["id"]
    image = await fetch(chat_world.anyone, f"/media/{kind.name}/{copy['id']}.gif")
    assert (image.body, image.header("content-type")) == (MOVING["GIF"](), "image/gif")
    assert (await stranger.rest.get(metadata)).expect(200) == {
        "id": made["id"],
        "guild_id": chat_world.guild_id,
        "name": "wave",
        "animated": True,
        "allow_cloning": True,
        "guild": {
            "id": chat_world.guild_id,
            "name": (await chat_world.alice.rest.get(f"/v1/guilds/{chat_world.guild_id}")).expect(200)["name"],
            "icon": None,
            "features": [],
        },
    }
    with proves("001.features.19"):
        wanted = await chat_world.alice.rest.patch(f"/v1/guilds/{chat_world.guild_id}", {"features": [disabled]})
        assert wanted.expect(200)["features"] == [disabled]
    refused(await stranger.rest.post(path(kind, target, "clone"), body), 403, "MISSING_ACCESS")

    added = await chat_world.alice.rest.patch(f"/v1/guilds/{target}", {"features": [enabled]})
    refused(added, 403, "MISSING_PERMISSIONS")
    with proves("001.features.19"):
        toggled = await stranger.rest.patch(f"/v1/guilds/{target}", {"features": [disabled]})
        assert field_codes(toggled) == {"features": "GUILD_FEATURE_NOT_TOGGLEABLE"}


@kinds
async def test_members_copy_within_what_they_see(chat_world: World, kind: Kind) -> None:
    made = await make(chat_world, kind)
    body = {f"source_{kind.one}_id": made["id"]}
    mine = await other_guild(chat_world.bob)
    (await chat_world.bob.rest.post(path(kind, mine, "clone"), body)).expect(200)
    refused(await chat_world.bob.rest.post(path(kind, chat_world.guild_id, "clone"), body), 403, "MISSING_PERMISSIONS")
    unknown = await chat_world.bob.rest.post(path(kind, mine, "clone"), {f"source_{kind.one}_id": "1"})
    refused(unknown, 404, kind.unknown)
    other = STICKERS if kind is EMOJIS else EMOJIS
    crossed = await chat_world.bob.rest.post(path(other, mine, "clone"), {f"source_{other.one}_id": made["id"]})
    refused(crossed, 404, other.unknown)
    refused(await chat_world.bob.rest.get(f"/v1/{kind.name}/1/metadata"), 404, kind.unknown)
    await set_features(chat_world, "UNAVAILABLE_FOR_EVERYONE", f"CLONE_{kind.one.upper()}_ENABLED")
    refused(await chat_world.bob.rest.post(path(kind, mine, "clone"), body), 403, "MISSING_ACCESS")


@kinds
@pytest.mark.rule("001.features.27")
async def test_a_purge_takes_the_image_away(chat_world: World, kind: Kind, autojump_clock: MockClock) -> None:
    first, second, third = [await make(chat_world, kind) for _ in range(3)]
    alice = chat_world.alice.rest

    async def delete(entry: dict[str, Any], purge: str | None = None) -> Response:
        query = {} if purge is None else {"purge": purge}
        return await alice.request("DELETE", path(kind, chat_world.guild_id, entry["id"]), query=query)

    async def image(entry: dict[str, Any]) -> int:
        return (await fetch(chat_world.anyone, f"/media/{kind.name}/{entry['id']}.png")).status

    (await delete(first)).expect(204)
    assert await image(first) == 200
    refused(await delete(second, "true"), 403, "MISSING_ACCESS")
    await set_features(chat_world, "EXPRESSION_PURGE_ALLOWED")
    (await delete(second, "false")).expect(204)
    assert await image(second) == 200
    (await delete(third, "true")).expect(204)
    assert await image(third) == 404


@kinds
@pytest.mark.parametrize("name", FORMATS)
async def test_images_are_handed_out_as_they_came(chat_world: World, kind: Kind, name: str) -> None:
    media_type, sample = FORMATS[name]
    made = await make(chat_world, kind, image=data_uri(sample()))
    assert made["animated"] is (name == "APNG")
    answer = await fetch(chat_world.anyone, f"/media/{kind.name}/{made['id']}.webp")
    assert answer.status == 200
    if name == "SVG":  # a drawing is kept as the bitmap that was made of it
        assert image_header(answer.body) == ImageHeader("image/png", 1_024, 512)
    else:
        assert (answer.body, answer.header("content-type")) == (sample(), media_type)
    assert answer.header("x-content-type-options") == "nosniff"
    assert answer.header("content-security-policy") == "default-src 'none'; sandbox"
    for wrong in (f"{made['id']}", f"0{made['id']}.png", "x.png", f"{made['id']}.png.exe", "9.png"):
        assert (await fetch(chat_world.anyone, f"/media/{kind.name}/{wrong}")).status == 404


@kinds
async def test_expressions_are_still_there_after_a_restart(
    chat_world: World, chat_server: Any, kind: Kind, autojump_clock: MockClock
) -> None:
    made = await make(chat_world, kind)
    await chat_server.restart()
    guild = (await chat_world.alice.rest.get(f"/v1/guilds/{chat_world.guild_id}")).expect(200)
    assert guild[kind.name] == [made]


@kinds
async def test_expressions_go_with_their_guild(chat_world: World, kind: Kind) -> None:
    made = await make(chat_world, kind)
    alice = chat_world.alice
    gone = f"/v1/guilds/{chat_world.guild_id}/delete"
    (await alice.rest.post(gone, {"password": alice.password})).expect(204)
    refused(await alice.rest.get(f"/v1/{kind.name}/{made['id']}/metadata"), 404, kind.unknown)
