"""Guilds made from templates, over HTTP (document 001, Guild creation template object). What single values become is
in tests/guilds/test_guild_template.py; here a template goes in and a guild comes out.

Area: guilds. Rules: 001.create, 001.errors, 001.template, 001.template-channel, 001.template-role.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
import trio
from hypothesis import given, settings

from chat.config import Limits
from chat.domain.guilds.guild_plan import GuildPlan, PlannedChannel
from chat.domain.guilds.guild_template import plan_of, read_template
from chat.registries.permissions import ALL_DEFINED, DEFAULT_EVERYONE, THREAD_PERMISSIONS
from chat.testing import World, open_chat_server, strategies
from chat.testing.rest_client import Response
from chat.testing.stepped_run import SteppedRun
from tests.spec.ledger import proves

DECLARED = {"X-Service-Features": "channel_threads"}
SOME = settings(max_examples=40, deadline=None)
OUTCOMES = {(200, None), (400, "INVALID_FORM_BODY"), (400, "GUILD_TEMPLATE_INVALID")}

STARTING_POINT: dict[str, Any] = {
    "name": "Discarded",
    "description": "Discarded too",
    "verification_level": 2.7,
    "default_message_notifications": 9,
    "explicit_content_filter": -4,
    "system_channel_id": 30,
    "afk_timeout": 5,
    "system_channel_flags": 7,
    "icon_hash": None,
    "preferred_locale": "en-GB",
    "roles": [
        {"id": 0, "name": "@everyone", "permissions": "2048", "unicode_emoji": "\N{ANCHOR}"},
        {
            "id": "1",
            "name": "Captain",
            "permissions": 8,
            "permissions_new": str(2**70 - 1),
            "color": 255,
            "hoist": True,
            "mentionable": True,
            "unicode_emoji": "\N{SAILBOAT}",
        },
        {"id": 2},
    ],
    "channels": [
        {"id": 10, "type": 4, "name": "On Deck", "position": 3},
        {"id": 20, "type": 0, "name": "first", "position": 7, "bitrate": 8000, "user_limit": 3},
        {
            "id": 30,
            "type": 5,
            "name": "news",
            "position": 1,
            "parent_id": "10",
            "topic": "What is new",
            "nsfw": True,
            "rate_limit_per_user": 15,
            "permission_overwrites": [
                {"id": "1", "type": "role", "allow": 2048, "deny": "0"},
                {"id": 0, "type": 0, "allow": "0", "deny": 1 << 38 | 2048},
                {"id": 2, "type": "member", "allow": "junk", "deny": "junk"},
            ],
        },
        {"id": 40, "type": 2, "name": "Mess", "position": 2, "parent_id": 10, "bitrate": 384000, "user_limit": 12},
        {"id": 50, "type": 13, "name": "Stage", "position": 4, "parent_id": 20},
        {"id": 60, "type": 15, "name": "forum", "position": 5},
    ],
}


async def whole(world: World, created: dict[str, Any]) -> dict[str, Any]:
    """The guild with everything in it, as its owner, who declares to know threads, gets it."""
    answer = await world.alice.rest.request("GET", f"/v1/guilds/{created['id']}", headers=DECLARED)
    guild: dict[str, Any] = answer.expect(200)
    return guild


async def test_a_whole_template_becomes_a_guild(chat_world: World) -> None:
    async with await chat_world.alice.connect() as client:
        with proves("001.create.15"):
            created = (await chat_world.alice.rest.create_guild("Ship", template=STARTING_POINT)).expect(200)
        arrived = (await client.expect("GUILD_CREATE")).data
    with proves("001.template.3"):
        assert created["name"] == "Ship"
    assert (created["verification_level"], created["default_message_notifications"]) == (2, 1)
    assert (created["explicit_content_filter"], created["afk_timeout"], created["system_channel_flags"]) == (0, 60, 1)
    guild = await whole(chat_world, created)
    assert created.items() <= guild.items()
    everyone, captain, nameless = sorted(guild["roles"], key=lambda role: role["position"])
    assert (everyone["id"], everyone["name"]) == (guild["id"], "@everyone")
    with proves("001.template-role.14"):
        assert int(everyone["permissions"]) == 2048 | (DEFAULT_EVERYONE & THREAD_PERMISSIONS)
    with proves("001.template-role.10"):
        assert everyone.get("unicode_emoji") is None
    with proves("001.template-role.5"):
        assert (captain["name"], captain["color"], captain["position"]) == ("Captain", 255, 1)
    with proves("001.template-role.9"):
        assert (captain["hoist"], captain["mentionable"], captain["unicode_emoji"]) == (True, True, "\N{SAILBOAT}")
    with proves("001.template-role.7", "001.template-role.11"):
        assert int(captain["permissions"]) == ALL_DEFINED
    with proves("001.template-role.5"):
        assert (nameless["name"], nameless["permissions"], nameless["position"]) == ("", "0", 2)
    channels = {channel["name"]: channel for channel in guild["channels"]}
    with proves("001.template-channel.2"):
        assert channels["first"]["type"] == 0
    with proves("001.template-channel.4"):
        assert channels["On Deck"]["type"] == 4
    with proves("001.template-channel.5"):
        assert channels["news"]["type"] == 5
    with proves("001.template-channel.6"):
        assert channels["Stage"]["type"] == 2
    with proves("001.template-channel.7"):
        assert {name: channel["type"] for name, channel in channels.items()} == {
            "On Deck": 4,
            "first": 0,
            "news": 5,
            "Mess": 2,
            "Stage": 2,
        }
    news, deck = channels["news"], channels["On Deck"]
    assert guild["system_channel_id"] == news["id"]
    with proves("001.template-channel.11"):
        assert (news["parent_id"], news["topic"], news["nsfw"]) == (deck["id"], "What is new", True)
    with proves("001.template-channel.10"):
        assert (news["rate_limit_per_user"], news["position"]) == (15, 1)
    overwrites = {entry["id"]: entry for entry in news["permission_overwrites"]}
    with proves("001.template-channel.18", "001.template-channel.19"):
        assert overwrites == {
            captain["id"]: {"id": captain["id"], "type": 0, "allow": "2048", "deny": "0"},
            guild["id"]: {"id": guild["id"], "type": 0, "allow": "0", "deny": str(1 << 38 | 2048)},
        }
    with proves("001.template-channel.11", "001.template-channel.13"):
        assert (channels["Mess"]["parent_id"], channels["Mess"]["bitrate"]) == (deck["id"], 96_000)
    assert (channels["Mess"]["user_limit"], channels["Mess"]["voice_connection_limit"]) == (12, 5)
    with proves("001.template-channel.13"):
        assert (channels["Stage"].get("parent_id"), channels["Stage"]["bitrate"]) == (None, 64_000)
    with proves("001.template-channel.17"):
        assert not {channels["first"].get(name) for name in ("bitrate", "user_limit", "voice_connection_limit")} - {
            None
        }
    with proves("001.template.2"):
        ids = [role["id"] for role in guild["roles"]] + [channel["id"] for channel in guild["channels"]]
        assert len(set(ids)) == len(ids)
        assert all(int(one) > 2**40 for one in ids), "newly allocated snowflakes"
    assert {channel["id"] for channel in arrived["channels"]} == {channel["id"] for channel in guild["channels"]}


async def test_the_largest_template(chat_world: World) -> None:
    rest = chat_world.alice.rest
    roles = [{"id": number, "name": f"role {number}"} for number in range(1, 251)]
    channels = [{"id": number, "type": 0, "name": f"c{number}", "position": number} for number in range(500)]
    template = {"name": "x", "roles": roles, "channels": channels}
    with proves("001.template.14"):
        guild = await whole(chat_world, (await rest.create_guild("Large", template=template)).expect(200))
        assert (len(guild["roles"]), len(guild["channels"])) == (251, 500)
    for rule, member, more in (
        ("001.template.13", "roles", {"id": 0}),
        ("001.template.15", "channels", {"id": "x", "type": 0, "position": 0}),
    ):
        with proves(rule, "001.create.24"):
            refused = await rest.create_guild("Larger", template={**template, member: [*template[member], more]})
            assert (refused.status, refused.code) == (400, "GUILD_TEMPLATE_INVALID")


@pytest.mark.rule("001.create.24", "001.template.5", "001.errors.2")
async def test_refusals_say_where(chat_world: World) -> None:
    rest = chat_world.alice.rest
    before = (await rest.get("/v1/users/@me/guilds")).expect(200)
    for member, value, path in [
        ("verification_level", "high", "template.verification_level"),
        ("roles", {"id": 1}, "template.roles"),
        ("roles", [{"id": 1}, 5], "template.roles.1"),
        ("channels", [{"id": 1, "type": 0, "position": "first"}], "template.channels.0.position"),
        ("system_channel_id", True, "template.system_channel_id"),
    ]:
        refused = await rest.create_guild("x", template={**STARTING_POINT, member: value})
        assert (refused.status, refused.code) == (400, "INVALID_FORM_BODY")
        assert [(error["path"], error["code"]) for error in refused.json()["errors"]] == [(path, "INVALID_FORMAT")]
    for value in ([], "template", 5, True):
        refused = await rest.create_guild("x", template=value)
        assert [error["path"] for error in refused.json()["errors"]] == ["template"]
    refused = await rest.create_guild("x", template={**STARTING_POINT, "roles": [{"id": 1}, {"id": "1"}]})
    assert (refused.status, refused.code) == (400, "GUILD_TEMPLATE_INVALID")
    assert set(refused.json()) >= {"code", "message"}
    assert (await rest.get("/v1/users/@me/guilds")).expect(200) == before
    for nothing in (None, {}, {"name": None}):
        created = (await rest.create_guild("x", template=nothing)).expect(200)
        assert len((await whole(chat_world, created))["channels"]) == 4, "as without a template"


async def test_announcement_channels_are_made_from_templates(chat_world: World) -> None:
    channels = [{"id": 1, "type": 5, "name": "news", "position": 0}]
    template = {"name": "x", "roles": [], "channels": channels}
    guild = await whole(chat_world, (await chat_world.alice.rest.create_guild("x", template=template)).expect(200))
    assert [(channel["type"], channel["id"]) for channel in guild["channels"]] == [(5, guild["system_channel_id"])]


# Properties


class Founder:
    """Makes guilds as alice on one server, which lives as long as the module's tests."""

    def __init__(self, run: SteppedRun, world: World) -> None:
        self.run = run
        self.world = world

    def asks_for(self, template: object) -> Response:
        body = {"name": "Ship", "template": template}
        return self.run.call(self.world.alice.rest.post, "/v1/guilds", body)

    def sees(self, created: dict[str, Any]) -> dict[str, Any]:
        return self.run.call(whole, self.world, created)

    def delete(self, created: dict[str, Any]) -> None:
        body = {"password": self.world.alice.password}
        self.run.call(self.world.alice.rest.post, f"/v1/guilds/{created['id']}/delete", body).expect(204)


@pytest.fixture(scope="module")
def founder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Founder]:
    folder = tmp_path_factory.mktemp("data")
    worlds: list[World] = []

    async def live(task_status: trio.TaskStatus[None]) -> None:
        limits = {"limits.max_guilds": 10_000, "limits.max_guilds_premium": 10_000}
        async with open_chat_server(folder, settings=limits) as server:
            worlds.append(World(server.description(), server.route(), run.nursery))
            task_status.started()
            await trio.sleep_forever()

    with SteppedRun(virtual=True) as run:
        run.call(run.nursery.start, live)
        yield Founder(run, worlds[0])


def described(guild: dict[str, Any]) -> dict[str, Any]:
    """What a guild is made of, with names of places in it instead of ids."""
    ordinary = sorted((role for role in guild["roles"] if role["id"] != guild["id"]), key=lambda r: r["position"])
    channels = sorted(guild["channels"], key=lambda channel: int(channel["id"]))
    role_places: dict[str, int | None] = {role["id"]: place for place, role in enumerate(ordinary)}
    role_places[guild["id"]] = None
    channel_places = {channel["id"]: place for place, channel in enumerate(channels)}
    [everyone] = [role for role in guild["roles"] if role["id"] == guild["id"]]
    return {
        "everyone": int(everyone["permissions"]),
        "positions": [role["position"] for role in ordinary],
        "roles": [
            (r["name"], int(r["permissions"]), r["color"], r["hoist"], r["mentionable"], r.get("unicode_emoji"))
            for r in ordinary
        ],
        "channels": [
            (
                c["type"],
                c["name"],
                c["position"],
                None if c.get("parent_id") is None else channel_places[c["parent_id"]],
                c.get("topic"),
                c["nsfw"],
                c.get("rate_limit_per_user", 0),
                (c.get("bitrate"), c.get("user_limit"), c.get("voice_connection_limit")),
                {(role_places[o["id"]], int(o["allow"]), int(o["deny"])) for o in c["permission_overwrites"]},
            )
            for c in channels
        ],
        "system_channel": channel_places[guild["system_channel_id"]],
        "levels": (
            guild["verification_level"],
            guild["default_message_notifications"],
            guild["explicit_content_filter"],
            guild["afk_timeout"],
            guild["system_channel_flags"],
        ),
    }


def foreseen(plan: GuildPlan) -> dict[str, Any]:
    """The same of a plan."""

    def channel(one: PlannedChannel) -> tuple[Any, ...]:
        return (
            one.type,
            one.name,
            one.position,
            one.parent,
            one.topic,
            one.nsfw,
            one.rate_limit_per_user,
            (one.bitrate, one.user_limit, one.voice_connection_limit),
            {(entry.role, entry.allow, entry.deny) for entry in one.overwrites},
        )

    return {
        "everyone": plan.everyone,
        "positions": list(range(1, len(plan.roles) + 1)),
        "roles": [(r.name, r.permissions, r.color, r.hoist, r.mentionable, r.unicode_emoji) for r in plan.roles],
        "channels": [channel(one) for one in plan.channels],
        "system_channel": plan.system_channel,
        "levels": (
            plan.verification_level,
            plan.default_message_notifications,
            plan.explicit_content_filter,
            plan.afk_timeout,
            plan.system_channel_flags,
        ),
    }


@SOME
@given(template=strategies.guild_templates())
def test_a_created_guild_equals_its_plan(founder: Founder, template: dict[str, Any]) -> None:
    created = founder.asks_for(template).expect(200)
    assert described(founder.sees(created)) == foreseen(plan_of(read_template(template, Limits())))
    founder.delete(created)


@SOME
@given(template=strategies.malformed_guild_templates())
def test_malformed_templates_are_no_bodies(founder: Founder, template: object) -> None:
    answer = founder.asks_for(template)
    assert (answer.status, answer.code) == (400, "INVALID_FORM_BODY"), answer.body


@SOME
@given(template=strategies.invalid_guild_templates())
def test_invalid_templates_are_refused(founder: Founder, template: dict[str, Any]) -> None:
    answer = founder.asks_for(template)
    assert (answer.status, answer.code) == (400, "GUILD_TEMPLATE_INVALID"), answer.body


@SOME
@given(value=strategies.json_values(20))
def test_any_json_gives_a_guild_or_a_documented_refusal(founder: Founder, value: object) -> None:
    answer = founder.asks_for(value)
    assert (answer.status, answer.code) in OUTCOMES, answer.body
    if answer.status == 200:
        founder.delete(answer.json())
