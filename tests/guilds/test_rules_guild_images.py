"""Icon, banner and splashes of a guild (document 001, Guild object, Icon rules and Modify guild).

Area: guilds. Rules: 001.features, 001.guild-object, 001.modify, 001.partial-guild.
"""

from __future__ import annotations

import base64
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import trio
from trio.testing import MockClock

from chat.media.image_header import ImageHeader, image_header
from chat.testing.rest_client import Response
from chat.testing.server import ChatServer
from chat.testing.world import World
from tests.image_samples import FORMATS, MOVING, SHOWN_STILL, heif, svg, written
from tests.spec.ledger import proves
from tests.webhooks.surfaces import data_uri, fetch, png

ALL_FEATURES = ("ANIMATED_ICON", "ANIMATED_BANNER", "BANNER", "INVITE_SPLASH")

PLACES = {"icon": "icons", "banner": "banners", "splash": "splashes", "embed_splash": "embed-splashes"}
"""Where the image of each field lies below /media."""

MEASURED = ("banner", "splash", "embed_splash")

GIF = MOVING["GIF"]


async def modify(world: World, **fields: Any) -> Response:
    """Modify guild, by its owner."""
    return await world.alice.rest.patch(f"/v1/guilds/{world.guild_id}", fields)


async def stored(world: World) -> dict[str, Any]:
    """The guild as it is shown."""
    guild: dict[str, Any] = (await world.alice.rest.get(f"/v1/guilds/{world.guild_id}")).expect(200)
    return guild


async def set_features(world: World, *features: str) -> None:
    """Features as an administrator gives them."""
    (await world.anyone.post(f"/v1/_dev/guilds/{world.guild_id}", {"features": list(features)})).expect(200)


async def shown(world: World, field: str, name: str) -> Response:
    """The image behind a hash."""
    return await fetch(world.anyone, f"/media/{PLACES[field]}/{world.guild_id}/{name}.png")


def field_codes(answer: Response) -> dict[str, str]:
    """The wrong fields with their codes."""
    assert (answer.status, answer.code) == (400, "INVALID_FORM_BODY"), answer.body
    return {entry["path"]: entry["code"] for entry in answer.json()["errors"]}


def files(server: ChatServer) -> list[Path]:
    """What lies on the disk."""
    return [path for path in (server.server.surroundings.directory / "uploads").rglob("*") if path.is_file()]


@pytest.mark.rule("001.modify.15", "001.guild-object.4", "001.features.1")
@pytest.mark.parametrize("name", FORMATS)
async def test_an_icon_is_one_of_ten_formats(chat_world: World, name: str) -> None:
    await set_features(chat_world, "ANIMATED_ICON")
    assert (await stored(chat_world))["icon"] is None
    kind, sample = FORMATS[name]
    guild = (await modify(chat_world, icon=data_uri(sample(), kind))).expect(200)
    assert guild["icon"].startswith("a_") is (name == "APNG")
    assert (await stored(chat_world))["icon"] == guild["icon"]
    answer = await shown(chat_world, "icon", guild["icon"])
    assert answer.status == 200
    if name == "SVG":  # a drawing is kept as the bitmap that was made of it
        assert image_header(answer.body) == ImageHeader("image/png", 1_024, 512)
    else:
        assert (answer.body, answer.header("content-type")) == (sample(), kind)
    assert answer.header("x-content-type-options") == "nosniff"
    assert answer.header("content-security-policy") == "default-src 'none'; sandbox"
    assert answer.header("cache-control") == "public, max-age=31536000, immutable"
    assert answer.header("content-disposition") == "inline"
    unchanged = await chat_world.anyone.request(
        "GET",
        f"/media/icons/{chat_world.guild_id}/{guild['icon']}.webp",
        headers={"If-None-Match": answer.header("etag") or ""},
    )
    assert (unchanged.status, unchanged.body) == (304, b"")


@pytest.mark.rule("001.modify.15")
@pytest.mark.chat_settings(**{"limits.avatar_max_size": 3_000})
async def test_icons_are_refused_with_the_codes_of_create_guild(chat_world: World) -> None:
    small = base64.b64encode(png()).decode()
    for text, code in {
        "data:image/png;base64,": "BASE64_LENGTH_INVALID",
        "not base64!": "INVALID_BASE64_FORMAT",
        "data:image/png;base64": "INVALID_BASE64_FORMAT",
        small[:-1]: "INVALID_BASE64_FORMAT",
        data_uri(png(filler=b"x" * 3_000)): "IMAGE_SIZE_EXCEEDS_LIMIT",
        "!" * 4_100: "IMAGE_SIZE_EXCEEDS_LIMIT",
        data_uri(b"%PDF-1.7"): "INVALID_IMAGE_FORMAT",
        data_uri(b"<html><script>alert(1)</script></html>", "image/svg+xml"): "INVALID_IMAGE_FORMAT",
        data_uri(png(50_000, 50_000)): "INVALID_IMAGE_FORMAT",
        data_uri(heif(b"avis", sequence=True), "image/avif"): "INVALID_IMAGE_FORMAT",
    }.items():
        assert field_codes(await modify(chat_world, icon=text, name="Other")) == {"icon": code}
    assert field_codes(await modify(chat_world, icon=5)) == {"icon": "INVALID_FORMAT"}
    assert (await stored(chat_world))["name"] != "Other"
    for text in (small, f"anything at all,{small}", f"data:image/jpeg;base64,{small}"):
        assert (await modify(chat_world, icon=text)).expect(200)["icon"] is not None
        (await modify(chat_world, icon=None)).expect(200)


@pytest.mark.rule("001.modify.15")
async def test_a_payload_beyond_every_bound_is_refused_by_its_length(chat_world: World) -> None:
    answer = await chat_world.alice.rest.request(
        "PATCH",
        f"/v1/guilds/{chat_world.guild_id}",
        body=b'{"icon":"%s"}' % (b"!" * 139_810_137),  # `json=` would take seconds to encode it
        headers={"Content-Type": "application/json"},
    )
    assert field_codes(answer) == {"icon": "BASE64_LENGTH_INVALID"}


@pytest.mark.parametrize("name", MOVING)
async def test_an_animated_icon_is_taken_without_the_feature_and_marked_with_it(chat_world: World, name: str) -> None:
    await set_features(chat_world)
    listening = await chat_world.bob.connect()
    with proves("001.modify.16"):
        bare = (await modify(chat_world, icon=data_uri(MOVING[name]()))).expect(200)["icon"]
    with proves("001.guild-object.5"):
        assert not bare.startswith("a_")
    with proves("001.guild-object.5"):
        assert (await listening.expect("GUILD_UPDATE")).data["icon"] == bare
    assert (await shown(chat_world, "icon", bare)).status == 200
    await set_features(chat_world, "ANIMATED_ICON")
    with proves("001.guild-object.4", "001.features.1"):
        assert (await stored(chat_world))["icon"] == f"a_{bare}"
    with proves("001.features.1"):
        answer = await shown(chat_world, "icon", f"a_{bare}")
        if name in SHOWN_STILL:
            assert image_header(answer.body) == ImageHeader("image/webp", 16, 8)
        else:
            assert answer.body == MOVING[name]()


async def test_which_features_images_need(chat_world: World) -> None:
    still, moving = data_uri(png()), data_uri(GIF())
    await set_features(chat_world, "ANIMATED_BANNER", "ANIMATED_ICON")
    with proves("001.modify.37", "001.modify.40", "001.modify.41"):
        refused = await modify(chat_world, banner=still, splash=still, embed_splash=still, name="Other")
        assert field_codes(refused) == {
            "banner": "GUILD_BANNER_REQUIRES_FEATURE",
            "splash": "INVITE_SPLASH_REQUIRES_FEATURE",
            "embed_splash": "EMBED_SPLASH_REQUIRES_FEATURE",
        }
    with proves("001.modify.37"):
        assert field_codes(await modify(chat_world, banner=moving)) == {"banner": "GUILD_BANNER_REQUIRES_FEATURE"}
    await set_features(chat_world, "BANNER", "INVITE_SPLASH")
    with proves("001.modify.38"):
        assert field_codes(await modify(chat_world, banner=moving)) == {
            "banner": "ANIMATED_GUILD_BANNER_REQUIRES_FEATURE"
        }
    with proves("001.features.3", "001.features.4"):
        guild = (await modify(chat_world, banner=still, splash=still, embed_splash=still)).expect(200)
        assert None not in [guild[field] for field in MEASURED]
    await set_features(chat_world, "BANNER", "ANIMATED_BANNER")
    with proves("001.features.2"):
        assert (await modify(chat_world, banner=moving)).expect(200)["banner"].startswith("a_")
    assert (await stored(chat_world))["name"] != "Other"


@pytest.mark.rule("001.modify.42")
@pytest.mark.parametrize("name", MOVING)
async def test_splashes_stand_still(chat_world: World, name: str) -> None:
    await set_features(chat_world, *ALL_FEATURES)
    moving = data_uri(MOVING[name]())
    for field in ("splash", "embed_splash"):
        assert field_codes(await modify(chat_world, **{field: moving})) == {field: "INVALID_IMAGE_FORMAT"}
        assert (await modify(chat_world, **{field: data_uri(png())})).expect(200)[field] is not None


@pytest.mark.rule("001.guild-object.8", "001.guild-object.10", "001.guild-object.13")
async def test_images_have_their_width_and_height(chat_world: World) -> None:
    await set_features(chat_world, *ALL_FEATURES)
    sizes = {"banner": (40, 30), "splash": (20, 10), "embed_splash": (7, 9)}
    guild = (await modify(chat_world, **{field: data_uri(png(*size)) for field, size in sizes.items()})).expect(200)
    for field, size in sizes.items():
        assert (guild[f"{field}_width"], guild[f"{field}_height"]) == size
        bare = (await modify(chat_world, **{field: None})).expect(200)
        assert [bare[field], bare[f"{field}_width"], bare[f"{field}_height"]] == [None] * 3
    drawn = (await modify(chat_world, banner=data_uri(svg('viewBox="0 0 24 12"'), "image/svg+xml"))).expect(200)
    assert (drawn["banner_width"], drawn["banner_height"]) == (1_024, 512), "the bitmap of it"


async def test_images_are_shown_as_far_as_the_features_reach(chat_world: World) -> None:
    """Wherever a guild is shown: the object itself, the list, Guild Update, Guild Create and inside an invite."""
    alice = chat_world.alice.rest
    await set_features(chat_world, *ALL_FEATURES)
    images = {"icon": GIF(), "banner": written("GIF", (9, 5), 2), "splash": png(4, 5), "embed_splash": png(6, 7)}
    whole = (await modify(chat_world, **{field: data_uri(image) for field, image in images.items()})).expect(200)
    invite = (await alice.post(f"/v1/channels/{chat_world.channel_id}/invites", {})).expect(200)

    async def everywhere() -> list[dict[str, Any]]:
        (listed,) = [
            guild for guild in (await alice.get("/v1/users/@me/guilds")).expect(200) if guild["id"] == whole["id"]
        ]
        partial = (await chat_world.anyone.get(f"/v1/invites/{invite['code']}")).expect(200)["guild"]
        with proves("001.partial-guild.1"):
            assert partial.keys() == {
            "id", "name", "icon", "banner", "banner_width", "banner_height", "splash", "splash_width",
            "splash_height", "splash_card_alignment", "embed_splash", "embed_splash_width", "embed_splash_height",
            "features",
        }  # fmt: skip
        client = await chat_world.alice.connect()
        assert client.ready is not None
        (in_ready,) = [guild for guild in client.ready["guilds"] if guild["id"] == whole["id"]]
        await client.aclose()
        return [await stored(chat_world), listed, partial, in_ready, in_ready["properties"]]

    names = {name for name in whole if name.split("_")[0] in ("icon", "banner", "splash", "embed")}
    without: dict[str, dict[str, Any]] = {
        "ANIMATED_ICON": {"icon": whole["icon"].removeprefix("a_")},
        "ANIMATED_BANNER": {"banner": whole["banner"].removeprefix("a_")},
        "BANNER": {"banner": None, "banner_width": None, "banner_height": None},
        "INVITE_SPLASH": {
            name: None for name in names if "splash" in name and name != "splash_card_alignment"
        },
    }  # fmt: skip
    of_splash = ("001.guild-object.9", "001.guild-object.10", "001.guild-object.12", "001.guild-object.13")
    rules: dict[str | None, tuple[tuple[str, ...], str]] = {
        "ANIMATED_ICON": (("001.guild-object.5",), "001.partial-guild.2"),
        "ANIMATED_BANNER": (("001.guild-object.7",), "001.partial-guild.3"),
        "BANNER": (("001.guild-object.6", "001.guild-object.8"), "001.partial-guild.3"),
        "INVITE_SPLASH": (of_splash, "001.partial-guild.4"),
    }
    for missing in (None, *without):
        await set_features(chat_world, *(feature for feature in ALL_FEATURES if feature != missing))
        expected = {name: whole[name] for name in names} | without.get(missing or "", {})
        of_the_whole, of_a_part = rules.get(missing, ((), "001.partial-guild.1"))
        for seen in await everywhere():
            with proves(*([of_a_part] if "owner_id" not in seen and "properties" not in seen else of_the_whole)):
                assert {name: seen[name] for name in names} == expected
    await set_features(chat_world, *ALL_FEATURES)
    assert {name: (await stored(chat_world))[name] for name in names} == {name: whole[name] for name in names}


@pytest.mark.rule("001.modify.17", "001.modify.39")
async def test_null_and_empty_text_take_images_away_whatever_the_features(chat_world: World) -> None:
    image = data_uri(png())
    for nothing in (None, ""):
        await set_features(chat_world, *ALL_FEATURES)
        guild = (await modify(chat_world, **dict.fromkeys(PLACES, image))).expect(200)
        await set_features(chat_world)
        (await modify(chat_world, **dict.fromkeys(PLACES, nothing))).expect(200)
        await set_features(chat_world, *ALL_FEATURES)
        bare = await stored(chat_world)
        assert [bare[field] for field in PLACES] == [None] * 4
        for field in PLACES:
            assert (await shown(chat_world, field, guild[field])).status == 404


@pytest.mark.rule("001.modify.61")
async def test_a_replaced_image_is_gone(chat_world: World, chat_server: ChatServer, autojump_clock: MockClock) -> None:
    await set_features(chat_world, *ALL_FEATURES)
    for field in PLACES:
        before = (await modify(chat_world, **{field: data_uri(png(5, 5))})).expect(200)[field]
        after = (await modify(chat_world, **{field: data_uri(png(6, 6))})).expect(200)[field]
        assert before != after
        assert (await shown(chat_world, field, before)).status == 404
        assert (await shown(chat_world, field, after)).body == png(6, 6)
        same = (await modify(chat_world, **{field: data_uri(png(6, 6))})).expect(200)[field]
        assert same == after
        assert (await shown(chat_world, field, after)).body == png(6, 6)
    await trio.sleep(1_300)
    assert len(files(chat_server)) == len(PLACES)
    alice = chat_world.alice
    path = f"/v1/guilds/{chat_world.guild_id}/delete"
    (await alice.rest.post(path, {"password": alice.password})).expect(204)
    await trio.sleep(1_300)
    assert files(chat_server) == []


@pytest.mark.rule("001.modify.62")
@pytest.mark.parametrize(
    "fail",
    [
        lambda world: modify(world, icon=data_uri(b"no image")),
        lambda world: modify(world, icon="!!!!"),
        lambda world: modify(world, icon=data_uri(png(9, 9)), afk_timeout=1),
        lambda world: modify(world, icon=data_uri(png(9, 9)), splash=data_uri(GIF())),
        lambda world: modify(world, icon=None, name=""),
        lambda world: world.bob.rest.patch(f"/v1/guilds/{world.guild_id}", {"icon": data_uri(png(9, 9))}),
    ],
    ids=["no image", "no base64", "another field", "another image", "taking away", "not allowed"],
)
async def test_an_image_survives_what_does_not_succeed(
    chat_world: World, chat_server: ChatServer, fail: Callable[[World], Any]
) -> None:
    await set_features(chat_world, *ALL_FEATURES)
    icon = (await modify(chat_world, icon=data_uri(png(5, 5)))).expect(200)["icon"]
    assert (await fail(chat_world)).status in (400, 403)
    assert (await stored(chat_world))["icon"] == icon
    assert (await shown(chat_world, "icon", icon)).body == png(5, 5)
    assert len(files(chat_server)) == 1


@pytest.mark.rule("001.modify.62")
async def test_an_image_survives_a_store_that_fails(chat_world: World, chat_server: ChatServer) -> None:
    icon = (await modify(chat_world, icon=data_uri(png(5, 5)))).expect(200)["icon"]
    await chat_world.anyone.node(storage_failing=True)
    assert (await modify(chat_world, icon=data_uri(png(9, 9)))).status == 503
    await chat_world.anyone.node(storage_failing=False)
    assert (await stored(chat_world))["icon"] == icon
    assert (await shown(chat_world, "icon", icon)).body == png(5, 5)
    assert len(files(chat_server)) == 1


async def test_images_in_the_audit_log(chat_world: World) -> None:
    await set_features(chat_world, *ALL_FEATURES)
    guild = (await modify(chat_world, banner=data_uri(png(5, 5)))).expect(200)
    log = f"/v1/guilds/{chat_world.guild_id}/audit-logs"
    (entry,) = (await chat_world.alice.rest.get(log, {"action_type": 1})).expect(200)["audit_log_entries"]
    assert {change["key"]: change.get("new_value") for change in entry["changes"]} == {
        "banner_hash": guild["banner"],
        "banner_width": 5,
        "banner_height": 5,
    }
    (await modify(chat_world, banner=data_uri(png(5, 5)))).expect(200)
    assert len((await chat_world.alice.rest.get(log, {"action_type": 1})).expect(200)["audit_log_entries"]) == 1


async def test_what_happens_at_once_leaves_one_image(chat_world: World, chat_server: ChatServer) -> None:
    async with trio.open_nursery() as nursery:
        for side in range(1, 7):
            nursery.start_soon(lambda side=side: modify(chat_world, icon=data_uri(png(side, side))))
    icon = (await stored(chat_world))["icon"]
    assert (await shown(chat_world, "icon", icon)).status == 200
    (await modify(chat_world, icon=None)).expect(200)
    assert (await shown(chat_world, "icon", icon)).status == 404
