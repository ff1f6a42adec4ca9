"""Application commands over HTTP: who registers them, what is taken and refused by name, and who may use them
(interactions.md, Application commands)."""

from __future__ import annotations

from typing import Any

import pytest
from trio.testing import MockClock

from chat.registries.interactions import COMMAND_CREATIONS_A_DAY, COMMANDS_OF_TYPE, CommandType
from chat.registries.permissions import Permission
from chat.testing.rest_client import Response
from chat.testing.world import Person, World

PING = {"name": "ping", "description": "Answers."}
DAY_MS = 86_400_000


def everywhere(world: World) -> str:
    return f"/v1/applications/{world.bot.application_id}/commands"


def in_guild(world: World) -> str:
    return f"/v1/applications/{world.bot.application_id}/guilds/{world.guild_id}/commands"


def refused(answer: Response, status: int, code: str, **fields: str) -> None:
    assert (answer.status, answer.code) == (status, code), answer
    if fields:
        told = {error["path"]: error["code"] for error in answer.json()["errors"]}
        assert told == {path.replace("__", "."): field for path, field in fields.items()}


def option(kind: int, name: str = "o", **members: Any) -> dict[str, Any]:
    return {"type": kind, "name": name, "description": "d", **members}


async def seen(person: Person, channel_id: str, query: str = "") -> list[str]:
    answer = await person.rest.get(f"/v1/channels/{channel_id}/application-commands", {"query": query})
    return [command["name"] for command in answer.expect(200)["application_commands"]]


@pytest.mark.parametrize("place", [everywhere, in_guild])
async def test_a_command_is_made_read_changed_and_deleted(chat_world: World, place: Any) -> None:
    rest, path = chat_world.bot.rest, place(chat_world)
    assert (await rest.get(path)).expect(200) == []
    made = (await rest.post(path, {**PING, "options": [option(3, "x", required=True)]})).expect(201)
    of_guild = {"guild_id": chat_world.guild_id} if place is in_guild else {}
    assert made == {
        "id": made["id"],
        "application_id": chat_world.bot.application_id,
        **of_guild,
        "type": 1,
        "name": "ping",
        "name_localizations": None,
        "description": "Answers.",
        "description_localizations": None,
        "options": [{"type": 3, "name": "x", "description": "d", "required": True}],
        "default_member_permissions": None,
        "nsfw": False,
        "contexts": None,
        "integration_types": [0],
        "version": made["version"],
    }
    assert (await rest.get(path)).expect(200) == [made]
    assert (await rest.get(f"{path}/{made['id']}")).expect(200) == made
    changed = (await rest.patch(f"{path}/{made['id']}", {"description": "Other.", "contexts": [1, 0]})).expect(200)
    assert changed == {**made, "description": "Other.", "contexts": [0, 1], "version": changed["version"]}
    assert int(changed["version"]) > int(made["version"])
    kept = (await rest.patch(f"{path}/{made['id']}", {"type": made["type"]})).expect(200)
    assert kept == {**changed, "version": kept["version"]}
    refused(await rest.patch(f"{path}/{made['id']}", {"type": 3}), 400, "INVALID_FORM_BODY", type="INVALID_FORMAT")
    bare = (await rest.patch(f"{path}/{made['id']}", {"options": None})).expect(200)
    assert "options" not in bare
    (await rest.delete(f"{path}/{made['id']}")).expect(204)
    for method in ("GET", "DELETE"):
        refused(await rest.request(method, f"{path}/{made['id']}"), 404, "UNKNOWN_APPLICATION_COMMAND")
    refused(await rest.patch(f"{path}/{made['id']}", {"name": "x"}), 404, "UNKNOWN_APPLICATION_COMMAND")


async def test_one_of_the_same_type_and_name_is_replaced(chat_world: World) -> None:
    rest, path = chat_world.bot.rest, everywhere(chat_world)
    first = (await rest.post(path, PING)).expect(201)
    again = (await rest.post(path, {**PING, "description": "Other."})).expect(200)
    assert (again["id"], again["description"]) == (first["id"], "Other.")
    same = (await rest.post(path, {**PING, "description": "Other."})).expect(200)
    assert same == again  # nothing changed, so not even its version
    menu = (await rest.post(path, {"name": "ping", "type": 2})).expect(201)
    assert menu["id"] != first["id"]
    names = await rest.patch(f"{path}/{menu['id']}", {"name": "Look at"})
    assert names.expect(200)["name"] == "Look at"
    (await rest.post(path, {**PING, "name": "pong"})).expect(201)
    refused(
        await rest.patch(f"{path}/{first['id']}", {"name": "pong"}),
        400,
        "INVALID_FORM_BODY",
        name="COMMAND_NAME_NOT_UNIQUE",
    )


async def test_all_are_replaced_at_once_or_none(chat_world: World) -> None:
    rest, path = chat_world.bot.rest, everywhere(chat_world)
    before = (await rest.put(path, [PING, {"name": "Say", "type": 3}])).expect(200)
    after = (await rest.put(path, [{**PING, "name": "pong"}, PING])).expect(200)
    assert [command["name"] for command in after] == ["pong", "ping"]
    assert after[1] == before[0]
    kept = (await rest.get(path)).expect(200)
    refused(
        await rest.put(path, [PING, {**PING, "name": "A B"}, PING]),
        400,
        "INVALID_FORM_BODY",
        **{"1__name": "COMMAND_NAME_INVALID", "2__name": "COMMAND_NAME_NOT_UNIQUE"},
    )
    assert (await rest.get(path)).expect(200) == kept
    assert (await rest.put(path, [])).expect(200) == []
    assert (await rest.get(path)).expect(200) == []


async def test_only_the_bot_and_its_owner_register(chat_world: World) -> None:
    bot, path = chat_world.bot, everywhere(chat_world)
    owners = [
        person
        for person in (chat_world.alice, chat_world.bob, chat_world.carol, chat_world.admin)
        if (await person.rest.post(path, PING)).status in (200, 201)
    ]
    assert len(owners) == 1
    others = [person for person in (chat_world.alice, chat_world.bob) if person not in owners]
    for person in others:
        refused(await person.rest.put(path, []), 403, "ACCESS_DENIED")
    refused(await bot.rest.get("/v1/applications/5/commands"), 404, "UNKNOWN_APPLICATION")
    refused(await bot.rest.get(f"/v1/applications/{bot.application_id}/guilds/5/commands"), 404, "UNKNOWN_GUILD")
    elsewhere = (await chat_world.alice.rest.post("/v1/guilds", {"name": "elsewhere"})).expect(200)
    there = f"/v1/applications/{bot.application_id}/guilds/{elsewhere['id']}/commands"
    refused(await bot.rest.post(there, PING), 403, "MISSING_ACCESS")


WRONG: list[tuple[dict[str, Any], dict[str, str]]] = [
    ({"name": "Ping"}, {"name": "COMMAND_NAME_INVALID"}),
    ({"name": "a b"}, {"name": "COMMAND_NAME_INVALID"}),
    ({"name": "x" * 33}, {"name": "CONTENT_EXCEEDS_MAX_LENGTH"}),
    ({"description": ""}, {"description": "BASE_TYPE_REQUIRED"}),
    ({"description": "x" * 101}, {"description": "CONTENT_EXCEEDS_MAX_LENGTH"}),
    ({"type": 4}, {"type": "INVALID_FORMAT"}),
    ({"type": 2}, {"description": "COMMAND_WITHOUT_DESCRIPTION"}),
    ({"type": 3, "description": "", "options": [option(3)]}, {"options": "COMMAND_WITHOUT_DESCRIPTION"}),
    ({"options": [option(3), option(3)]}, {"options__1__name": "NAME_NOT_UNIQUE"}),
    (
        {"options": [option(3), option(3, "p", required=True)]},
        {"options__1__required": "REQUIRED_OPTIONS_FIRST"},
    ),
    ({"options": [option(12)]}, {"options__0__type": "INVALID_FORMAT"}),
    ({"options": [option(1), option(3, "p")]}, {"options__1__type": "OPTION_TYPE_NOT_ALLOWED_HERE"}),
    ({"options": [option(2)]}, {"options__0__options": "BASE_TYPE_REQUIRED"}),
    ({"options": [option(2, options=[option(3)])]}, {"options__0__options__0__type": "OPTION_TYPE_NOT_ALLOWED_HERE"}),
    ({"options": [option(1, options=[option(1)])]}, {"options__0__options__0__type": "OPTION_TYPE_NOT_ALLOWED_HERE"}),
    ({"options": [option(3, options=[option(3)])]}, {"options__0__options": "NOT_FOR_THIS_TYPE"}),
    ({"options": [option(5, autocomplete=True)]}, {"options__0__autocomplete": "NOT_FOR_THIS_TYPE"}),
    ({"options": [option(3, min_value=1)]}, {"options__0__min_value": "NOT_FOR_THIS_TYPE"}),
    ({"options": [option(4, channel_types=[0])]}, {"options__0__channel_types": "NOT_FOR_THIS_TYPE"}),
    ({"options": [option(4, min_value=2, max_value=1)]}, {"options__0__min_value": "MINIMUM_ABOVE_MAXIMUM"}),
    ({"options": [option(4, min_value=0.5)]}, {"options__0__min_value": "VALUE_MUST_BE_INTEGER_IN_RANGE"}),
    ({"options": [option(10, max_value=2**54)]}, {"options__0__max_value": "VALUE_MUST_BE_INTEGER_IN_RANGE"}),
    ({"options": [option(3, max_length=6_001)]}, {"options__0__max_length": "INVALID_FORMAT"}),
    (
        {"options": [option(3, autocomplete=True, choices=[{"name": "a", "value": "a"}])]},
        {"options__0__choices": "NOT_FOR_THIS_TYPE"},
    ),
    (
        {"options": [option(3, choices=[{"name": "a", "value": "a"}, {"name": "a", "value": 1}])]},
        {"options__0__choices__1__value": "INVALID_FORMAT", "options__0__choices__1__name": "NAME_NOT_UNIQUE"},
    ),
    (
        {"options": [option(3, choices=[{"name": "a", "value": "x" * 101}])]},
        {"options__0__choices__0__value": "CONTENT_EXCEEDS_MAX_LENGTH"},
    ),
    ({"options": [option(3, f"o{index}") for index in range(26)]}, {"options": "INVALID_FORMAT"}),
    ({"contexts": [3]}, {"contexts__0": "INVALID_FORMAT"}),
    ({"default_member_permissions": "x"}, {"default_member_permissions": "INVALID_INTEGER_FORMAT"}),
    ({"name_localizations": {"de": "Groß"}}, {"name_localizations__de": "COMMAND_NAME_INVALID"}),
    (
        {
            "options": [
                option(3, f"o{index}", choices=[{"name": f"{index}-{n}" + "x" * 90, "value": "y"} for n in range(4)])
                for index in range(25)
            ]
        },
        {"options": "COMMAND_TOO_LARGE"},
    ),
]


@pytest.mark.parametrize(("members", "fields"), WRONG)
async def test_what_is_wrong_is_refused_by_name(
    chat_world: World, members: dict[str, Any], fields: dict[str, str]
) -> None:
    rest = chat_world.bot.rest
    refused(await rest.post(everywhere(chat_world), {**PING, **members}), 400, "INVALID_FORM_BODY", **fields)
    assert (await rest.get(everywhere(chat_world))).expect(200) == []


@pytest.mark.parametrize(
    "members",
    [
        {"name": "größe_2-x'y"},
        {"name": "นาฬิกา"},
        {"name": "時計"},
        {"options": [option(2, options=[option(1, options=[option(kind, f"o{kind}") for kind in range(3, 12)])])]},
        {"options": [option(4, min_value=-(2**53), max_value=2.0**53, choices=[{"name": "one", "value": 1.0}])]},
        {"options": [option(3, min_length=0, max_length=6_000, required=False)]},
        {"name_localizations": {"de": "groß", "en-GB": "big"}, "nsfw": True, "default_member_permissions": "0"},
    ],
)
async def test_what_is_good_is_taken(chat_world: World, members: dict[str, Any]) -> None:
    made = (await chat_world.bot.rest.post(everywhere(chat_world), {**PING, **members})).expect(201)
    again = (await chat_world.bot.rest.get(f"{everywhere(chat_world)}/{made['id']}")).expect(200)
    assert again == made
    assert made["name"] == members.get("name", "ping")


async def test_there_is_room_for_a_number_of_each_type(chat_world: World) -> None:
    rest, path = chat_world.bot.rest, everywhere(chat_world)
    most = COMMANDS_OF_TYPE[CommandType.USER]
    menus = [{"name": f"Menu {index}", "type": 2} for index in range(most)]
    (await rest.put(path, menus)).expect(200)
    refused(await rest.post(path, {"name": "More", "type": 2}), 400, "MAX_APPLICATION_COMMANDS")
    refused(await rest.put(path, [*menus, {"name": "More", "type": 2}]), 400, "MAX_APPLICATION_COMMANDS")
    (await rest.post(path, {"name": "More", "type": 3})).expect(201)
    (await rest.post(in_guild(chat_world), {"name": "More", "type": 2})).expect(201)


async def test_an_application_makes_so_many_commands_in_a_day(chat_world: World, autojump_clock: MockClock) -> None:
    rest, path = chat_world.bot.rest, everywhere(chat_world)
    for start in range(0, COMMAND_CREATIONS_A_DAY, 100):
        (await rest.put(path, [{**PING, "name": f"c{start + index}"} for index in range(100)])).expect(200)
    kept = (await rest.get(path)).expect(200)
    refused(await rest.put(path, [PING]), 400, "MAX_APPLICATION_COMMAND_CREATES")
    assert (await rest.get(path)).expect(200) == kept
    (await rest.post(path, {**PING, "name": "c150"})).expect(200)  # none is made
    (await rest.post(in_guild(chat_world), PING)).expect(201)
    await chat_world.anyone.advance_clock(DAY_MS)
    (await rest.put(path, [PING])).expect(200)


async def test_people_see_what_they_can_invoke(chat_world: World) -> None:
    bot, bob, channel_id = chat_world.bot, chat_world.bob, chat_world.channel_id
    assert await seen(bob, channel_id) == []
    (await bot.rest.put(everywhere(chat_world), [PING, {"name": "Look", "type": 2, "contexts": [1]}])).expect(200)
    (await bot.rest.post(in_guild(chat_world), {**PING, "name": "here"})).expect(201)
    listed = (await bob.rest.get(f"/v1/channels/{channel_id}/application-commands")).expect(200)
    assert [command["name"] for command in listed["application_commands"]] == ["ping", "here"]
    [application] = listed["applications"]
    assert application["id"] == bot.application_id
    assert application["bot"]["id"] == bot.id
    assert await seen(bob, channel_id, "HE") == ["here"]
    conversation = (await bob.rest.post("/v1/users/@me/channels", {"recipient_id": bot.id})).expect(200)
    assert await seen(bob, conversation["id"]) == ["ping", "Look"]
    body = {"type": 1, "allow": "0", "deny": str(int(Permission.SEND_MESSAGES))}
    (await chat_world.alice.rest.put(f"/v1/channels/{channel_id}/permissions/{bob.id}", body)).expect(204)
    assert await seen(bob, channel_id) == []
    refused(await bot.rest.get(f"/v1/channels/{channel_id}/application-commands"), 403, "ACCESS_DENIED")


async def test_a_guild_says_who_may_use_a_command(chat_world: World) -> None:
    bot, alice, bob, carol = chat_world.bot, chat_world.alice, chat_world.bob, chat_world.carol
    channel_id, guild_id = chat_world.channel_id, chat_world.guild_id
    path = in_guild(chat_world)
    ping = (await bot.rest.post(everywhere(chat_world), PING)).expect(201)
    mod = (await bot.rest.post(path, {**PING, "name": "mod", "default_member_permissions": "8192"})).expect(201)
    assert await seen(alice, channel_id) == ["ping", "mod"]  # the owner may use everything
    assert await seen(bob, channel_id) == ["ping"]

    async def say(command_id: str, *entries: tuple[str, int, bool]) -> Response:
        told = [{"id": target, "type": kind, "permission": allowed} for target, kind, allowed in entries]
        return await alice.rest.put(f"{path}/{command_id}/permissions", {"permissions": told})

    refused(await bob.rest.put(f"{path}/{mod['id']}/permissions", {"permissions": []}), 403, "MISSING_PERMISSIONS")
    refused(await alice.rest.get(f"{path}/{mod['id']}/permissions"), 404, "UNKNOWN_APPLICATION_COMMAND_PERMISSIONS")
    told = (await say(mod["id"], (bob.id, 2, True))).expect(200)
    assert told == {
        "id": mod["id"],
        "application_id": bot.application_id,
        "guild_id": guild_id,
        "permissions": [{"id": bob.id, "type": 2, "permission": True}],
    }
    assert await seen(bob, channel_id) == ["ping", "mod"]
    assert await seen(carol, channel_id) == ["ping"]
    (await say(bot.application_id, (guild_id, 1, False))).expect(200)  # nobody may use any, unless it says so itself
    assert await seen(bob, channel_id) == ["mod"]
    assert await seen(carol, channel_id) == []
    role = (await alice.rest.post(f"/v1/guilds/{guild_id}/roles", {"name": "r"})).expect(200)
    (await alice.rest.put(f"/v1/guilds/{guild_id}/members/{carol.id}/roles/{role['id']}")).expect(204)
    (await say(ping["id"], (role["id"], 1, True))).expect(200)
    assert await seen(carol, channel_id) == ["ping"]
    (await say(ping["id"], (role["id"], 1, True), (carol.id, 2, False))).expect(200)  # the member's own counts first
    assert await seen(carol, channel_id) == []
    (await say(ping["id"], (guild_id, 1, True), (channel_id, 3, False))).expect(200)
    assert await seen(carol, channel_id) == []
    (await say(ping["id"], (guild_id, 1, True), (channel_id, 3, True), (str(int(guild_id) - 1), 3, False))).expect(200)
    assert await seen(carol, channel_id) == ["ping"]
    listed = (await bot.rest.get(f"{path}/permissions")).expect(200)
    assert {row["id"] for row in listed} == {ping["id"], mod["id"], bot.application_id}
    (await say(bot.application_id)).expect(200)
    assert (await bot.rest.get(f"{path}/{ping['id']}/permissions")).expect(200)["id"] == ping["id"]
    (await bot.rest.delete(f"{everywhere(chat_world)}/{ping['id']}")).expect(204)
    assert {row["id"] for row in (await bot.rest.get(f"{path}/permissions")).expect(200)} == {mod["id"]}
    refused(await say(ping["id"]), 404, "UNKNOWN_APPLICATION_COMMAND")
    log = (await alice.rest.get(f"/v1/guilds/{guild_id}/audit-logs", {"action_type": "121"})).expect(200)
    first = log["audit_log_entries"][-1]
    assert (first["target_id"], first["options"]) == (mod["id"], {"application_id": bot.application_id})
    assert first["changes"] == [{"key": bob.id, "new_value": {"id": bob.id, "type": 2, "permission": True}}]


async def test_who_manages_a_guild_sees_all_commands_there(chat_world: World) -> None:
    alice, bob, bot, path = chat_world.alice, chat_world.bob, chat_world.bot, in_guild(chat_world)
    listed = f"/v1/guilds/{chat_world.guild_id}/application-commands"
    nothing = {"application_commands": [], "applications": [], "permissions": []}
    assert (await alice.rest.get(listed)).expect(200) == nothing
    ping = (await bot.rest.post(path, PING)).expect(201)
    hidden = {"name": "hidden", "type": 3, "default_member_permissions": "0", "nsfw": True}
    (await bot.rest.post(everywhere(chat_world), hidden)).expect(201)
    (await bot.rest.post(everywhere(chat_world), {"name": "alone", "type": 2, "contexts": [1]})).expect(201)
    entries = [{"id": chat_world.guild_id, "type": 1, "permission": False}]
    (await alice.rest.put(f"{path}/{ping['id']}/permissions", {"permissions": entries})).expect(200)
    told = (await alice.rest.get(listed)).expect(200)
    assert sorted(command["name"] for command in told["application_commands"]) == ["hidden", "ping"]
    assert [application["id"] for application in told["applications"]] == [bot.application_id]
    assert [(row["id"], row["permissions"]) for row in told["permissions"]] == [(ping["id"], entries)]
    refused(await bob.rest.get(listed), 403, "MISSING_PERMISSIONS")
    refused(await chat_world.carol.rest.get("/v1/guilds/1/application-commands"), 404, "UNKNOWN_GUILD")
    (await bot.rest.delete(f"/v1/users/@me/guilds/{chat_world.guild_id}")).expect(204)
    assert (await alice.rest.get(listed)).expect(200) == nothing


async def test_commands_for_adults_and_of_a_bot_that_left(chat_world: World) -> None:
    bot, alice, channel_id = chat_world.bot, chat_world.alice, chat_world.channel_id
    (await bot.rest.post(everywhere(chat_world), {**PING, "nsfw": True})).expect(201)
    assert await seen(alice, channel_id) == []
    (await alice.rest.patch(f"/v1/channels/{channel_id}", {"nsfw": True})).expect(200)
    listed = await alice.rest.get(f"/v1/channels/{channel_id}/application-commands")
    assert [command["name"] for command in listed.expect(200)["application_commands"]] == ["ping"]
    (await alice.rest.delete(f"/v1/guilds/{chat_world.guild_id}/members/{bot.id}")).expect(204)
    assert await seen(alice, channel_id) == []


async def test_at_the_mount_refusals_have_their_numbers(chat_world: World) -> None:
    path = f"/api/v10/applications/{chat_world.bot.application_id}/commands"
    made = (await chat_world.bot.rest.put(path, [PING])).expect(200)
    assert (await chat_world.bot.rest.get(path)).expect(200) == made
    gone = await chat_world.bot.rest.delete(f"{path}/5")
    assert (gone.status, gone.json()["code"]) == (404, 10063)
    wrong = (await chat_world.bot.rest.put(path, [{**PING, "name": "A"}])).json()
    assert wrong["errors"]["0"]["name"]["_errors"][0]["code"] == "COMMAND_NAME_INVALID"
