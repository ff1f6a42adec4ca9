"""Who may do what with an application where: nothing is told to it of a channel or a message that the person does not
have, and what it was not asked for is refused by name (interactions.md, Interactions)."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

import attrs
import pytest

from chat.registries.permissions import Permission
from chat.testing.gateway_client import GatewayClient
from chat.testing.rest_client import Response
from chat.testing.world import World
from tests.interactions.acting import NAME, PING, act, answer, invoked, of, register

BUTTON = {"type": 1, "components": [{"type": 2, "style": 1, "label": "Go", "custom_id": "go"}]}
OFF = {"type": 1, "components": [{"type": 2, "style": 1, "label": "Go", "custom_id": "go", "disabled": True}]}
FORM = {
    "custom_id": "form",
    "title": "Who are you?",
    "components": [{"type": 1, "components": [{"type": 4, "custom_id": "text", "style": 1, "label": "Name"}]}],
}
TYPED = {"type": 3, "name": "x", "description": "d", "autocomplete": True}
COMMANDS = (
    PING,
    {"name": "find", "description": "d", "options": [TYPED, {**TYPED, "name": "y"}]},
    {"name": "Look at", "type": 2},
    {"name": "Keep it", "type": 3},
)


@attrs.frozen
class Stage:
    """The commands of the application by their names, and a message of its bot with a button."""

    world: World
    commands: dict[str, str]
    message_id: str

    def every_act(self) -> list[tuple[int, dict[str, Any], dict[str, Any]]]:
        """One act of each kind that bob may do."""
        ids = self.commands
        return [
            (2, {"id": ids["ping"], "options": [NAME]}, {}),
            (2, {"id": ids["Look at"], "target_id": self.world.carol.id}, {}),
            (2, {"id": ids["Keep it"], "target_id": self.message_id}, {}),
            (3, {"custom_id": "go"}, {"message_id": self.message_id}),
            (4, {"id": ids["find"], "options": [{"name": "x", "value": "a", "focused": True}]}, {}),
        ]

    async def overwrite(self, **bits: Permission) -> None:
        """What bob may not, or may, do in the channel."""
        path = f"/v1/channels/{self.world.channel_id}/permissions/{self.world.bob.id}"
        body = {"type": 1, **{name: str(int(bit)) for name, bit in bits.items()}}
        (await self.world.alice.rest.put(path, body)).expect(204)


@pytest.fixture
async def stage(chat_world: World) -> Stage:
    made = await register(chat_world, *COMMANDS)
    sent = await chat_world.bot.rest.post(
        f"/v1/channels/{chat_world.channel_id}/messages", {"content": "?", "components": [BUTTON]}
    )
    return Stage(chat_world, {command["name"]: command["id"] for command in made}, sent.expect(200)["id"])


def refused(told: Response, path: str, code: str) -> None:
    assert told.code == "INVALID_FORM_BODY", told
    assert (path, code) in {(error["path"], error["code"]) for error in told.json()["errors"]}, told.json()


async def test_each_act_is_told_to_the_bot(stage: Stage) -> None:
    at_bot = await stage.world.bot.connect()
    for kind, data, members in stage.every_act():
        (await act(stage.world.bob, stage.world, kind, data, **members)).expect(204)
        told = (await at_bot.expect("INTERACTION_CREATE")).data
        assert (told["type"], told["member"]["user"]["id"]) == (kind, stage.world.bob.id)


async def test_in_a_channel_that_one_does_not_see(stage: Stage) -> None:
    await stage.overwrite(deny=Permission.VIEW_CHANNEL)
    own = await stage.world.bob.rest.get(f"/v1/channels/{stage.world.channel_id}")
    at_bot = await stage.world.bot.connect()
    for kind, data, members in stage.every_act():
        told = await act(stage.world.bob, stage.world, kind, data, **members)
        assert (told.status, told.code) == (own.status, own.code) != (204, None)
    await nothing_was_told(stage, at_bot)


async def nothing_was_told(stage: Stage, at_bot: GatewayClient) -> None:
    said = (await stage.world.alice.rest.send_message(stage.world.channel_id, "said")).expect(200)
    await at_bot.expect("MESSAGE_CREATE", where=lambda message: message["id"] == said["id"])
    assert "INTERACTION_CREATE" not in [payload.name for payload in at_bot.dispatches]


async def test_without_the_right_to_write_components_alone_are_used(stage: Stage) -> None:
    await stage.overwrite(deny=Permission.SEND_MESSAGES)
    for kind, data, members in stage.every_act():
        told = await act(stage.world.bob, stage.world, kind, data, **members)
        assert (told.status, told.code) == ((204, None) if kind == 3 else (403, "MISSING_PERMISSIONS"))


async def test_a_form_of_a_component_is_submitted_without_the_right_to_write(stage: Stage) -> None:
    await stage.overwrite(deny=Permission.SEND_MESSAGES)
    at_bot, bob = await stage.world.bot.connect(), stage.world.bob
    (await act(bob, stage.world, 3, {"custom_id": "go"}, message_id=stage.message_id)).expect(204)
    pressed = (await at_bot.expect("INTERACTION_CREATE")).data
    (await answer(stage.world, pressed, 9, FORM)).expect(204)
    filled = {"id": pressed["id"], "components": [{"type": 4, "custom_id": "text", "value": "here"}]}
    (await act(bob, stage.world, 5, filled)).expect(204)
    told = (await at_bot.expect("INTERACTION_CREATE")).data
    (await answer(stage.world, told, 4, {"content": "Welcome", "flags": 64})).expect(204)


async def test_an_answer_for_one_person_is_used_in_its_channel_alone(stage: Stage) -> None:
    world = stage.world
    at_bot, at_bob = await world.bot.connect(), await world.bob.connect()
    told = await invoked(world, at_bot, {"id": stage.commands["ping"]}, NAME)
    (await answer(world, told, 4, {"content": "?", "flags": 64, "components": [BUTTON]})).expect(204)
    shown = (await at_bob.expect("MESSAGE_CREATE")).data["id"]
    made = await world.alice.rest.post(f"/v1/guilds/{world.guild_id}/channels", {"name": "other", "type": 0})
    elsewhere = made.expect(200)["id"]
    pressed = await act(world.bob, world, 3, {"custom_id": "go"}, message_id=shown, channel_id=elsewhere)
    assert pressed.code == "UNKNOWN_MESSAGE"
    (await act(world.bob, world, 3, {"custom_id": "go"}, message_id=shown)).expect(204)


async def test_who_is_timed_out_does_nothing(stage: Stage) -> None:
    now = (await stage.world.anyone.get("/v1/_dev/clock")).expect(200)["now"]
    until = (datetime.fromisoformat(now) + timedelta(hours=1)).isoformat()
    path = f"/v1/guilds/{stage.world.guild_id}/members/{stage.world.bob.id}"
    (await stage.world.alice.rest.patch(path, {"communication_disabled_until": until})).expect(200)
    for kind, data, members in stage.every_act():
        assert (await act(stage.world.bob, stage.world, kind, data, **members)).status == 403


async def test_a_message_that_one_may_not_read(stage: Stage) -> None:
    await stage.overwrite(deny=Permission.READ_MESSAGE_HISTORY)
    bob = stage.world.bob
    for kind, data, members in stage.every_act():
        told = await act(bob, stage.world, kind, data, **members)
        names_message = stage.message_id in (data.get("target_id"), members.get("message_id"))
        assert (told.code == "UNKNOWN_MESSAGE") is names_message, (kind, told)


async def test_another_guild_than_the_channels(stage: Stage) -> None:
    for kind, data, members in stage.every_act():
        told = await act(stage.world.bob, stage.world, kind, data, **members, guild_id=stage.world.channel_id)
        assert told.code == "UNKNOWN_CHANNEL"
        (await act(stage.world.bob, stage.world, kind, data, **members, guild_id=stage.world.guild_id)).expect(204)


async def test_a_bot_that_is_not_there(stage: Stage) -> None:
    world = stage.world
    guild = (await world.bob.rest.create_guild("bob's")).expect(200)
    channels = (await world.bob.rest.get(f"/v1/guilds/{guild['id']}/channels")).expect(200)
    elsewhere = next(channel["id"] for channel in channels if channel["type"] == 0)
    for kind, data, members in stage.every_act():
        for place in ({"channel_id": elsewhere}, {"application_id": world.guild_id}):
            told = await act(world.bob, world, kind, data, **members, **place)
            assert told.code == "UNKNOWN_APPLICATION"


async def test_a_command_that_is_gone_or_not_for_everybody(stage: Stage) -> None:
    world, ping = stage.world, stage.commands["ping"]
    path = f"/v1/applications/{world.bot.application_id}/guilds/{world.guild_id}/commands/{ping}/permissions"
    denied = {"permissions": [{"id": world.bob.id, "type": 2, "permission": False}]}
    (await world.alice.rest.put(path, denied)).expect(200)
    data = {"id": ping, "options": [NAME]}
    assert (await act(world.bob, world, 2, data)).code == "UNKNOWN_APPLICATION_COMMAND"
    (await act(world.carol, world, 2, data)).expect(204)
    (await world.bot.rest.delete(f"/v1/applications/{world.bot.application_id}/commands/{ping}")).expect(204)
    assert (await act(world.carol, world, 2, data)).code == "UNKNOWN_APPLICATION_COMMAND"


async def test_nothing_is_typed_into_commands_of_people_and_messages(stage: Stage) -> None:
    for name, target in (("Look at", stage.world.carol.id), ("Keep it", stage.message_id)):
        told = await act(stage.world.bob, stage.world, 4, {"id": stage.commands[name], "target_id": target})
        refused(told, "type", "NOT_FOR_THIS_TYPE")


@pytest.mark.parametrize("focused", [[], ["x", "y"]])
async def test_one_option_is_typed_into(stage: Stage, focused: list[str]) -> None:
    options = [{"name": name, "value": "a", "focused": name in focused} for name in ("x", "y")]
    told = await act(stage.world.bob, stage.world, 4, {"id": stage.commands["find"], "options": options})
    refused(told, "data.options", "BASE_TYPE_REQUIRED")


Data = Callable[[Stage], dict[str, Any]]


@pytest.mark.parametrize(
    ("data", "path", "code"),
    [
        (lambda stage: {}, "data.id", "INVALID_SNOWFLAKE_FORMAT"),
        (lambda stage: {"id": str(2**63)}, "data.id", "INVALID_SNOWFLAKE_FORMAT"),
        (lambda stage: {"id": "9" * 5_000}, "data.id", "INVALID_SNOWFLAKE_FORMAT"),
        (lambda stage: {"id": stage.commands["Look at"]}, "data.target_id", "INVALID_SNOWFLAKE_FORMAT"),
        (
            lambda stage: {"id": stage.commands["Look at"], "target_id": stage.world.guild_id},
            "data.target_id",
            "INVALID_SNOWFLAKE",
        ),
        (
            lambda stage: {
                "id": stage.commands["ping"],
                "options": [NAME, {"name": "who", "value": "9" * 5_000}],
            },
            "data.options.1.value",
            "INVALID_SNOWFLAKE_FORMAT",
        ),
        (lambda stage: {"id": stage.commands["ping"], "options": {}}, "data.options", "INVALID_FORMAT"),
        (lambda stage: {"id": stage.commands["ping"], "options": [5]}, "data.options.0", "NOT_FOR_THIS_TYPE"),
    ],
)
async def test_what_names_nothing_is_refused_where_it_stands(stage: Stage, data: Data, path: str, code: str) -> None:
    refused(await act(stage.world.bob, stage.world, 2, data(stage)), path, code)


async def test_a_component_that_is_not_there_or_is_off(stage: Stage) -> None:
    world = stage.world
    refused(
        await act(world.bob, world, 3, {"custom_id": "other"}, message_id=stage.message_id),
        "data.custom_id",
        "INVALID_FORMAT",
    )
    refused(await act(world.bob, world, 3, {"custom_id": "go"}), "message_id", "BASE_TYPE_REQUIRED")
    path = f"/v1/channels/{world.channel_id}/messages/{stage.message_id}"
    (await world.bot.rest.patch(path, {"components": [OFF]})).expect(200)
    refused(
        await act(world.bob, world, 3, {"custom_id": "go"}, message_id=stage.message_id),
        "data.custom_id",
        "INVALID_FORMAT",
    )
    own = (await world.bob.rest.send_message(world.channel_id, "no bot's")).expect(200)
    assert (await act(world.bob, world, 3, {"custom_id": "go"}, message_id=own["id"])).code == "UNKNOWN_MESSAGE"


@pytest.mark.parametrize(
    ("act_type", "callbacks"), [(2, {6, 7, 8}), (3, {8}), (4, {4, 5, 6, 7, 9})], ids=["command", "component", "typing"]
)
async def test_an_answer_that_does_not_fit_is_refused_and_another_one_taken(
    stage: Stage, act_type: int, callbacks: set[int]
) -> None:
    at_bot = await stage.world.bot.connect()
    kind, data, members = next(each for each in stage.every_act() if each[0] == act_type)
    (await act(stage.world.bob, stage.world, kind, data, **members)).expect(204)
    told = (await at_bot.expect("INTERACTION_CREATE")).data
    fitting = {"content": "x", "choices": [], "custom_id": "f", "title": "t"}
    text = {"type": 4, "custom_id": "why", "style": 1, "label": "Why?"}
    for callback in sorted(callbacks):
        form = {**fitting, "components": [{"type": 1, "components": [text]}]} if callback == 9 else fitting
        refused(await answer(stage.world, told, callback, form), "type", "NOT_FOR_THIS_TYPE")
    (await answer(stage.world, told, 8 if act_type == 4 else 4, fitting)).expect(204)


async def test_each_command_takes_a_message_as_its_answer(stage: Stage) -> None:
    at_bot = await stage.world.bot.connect()
    for kind, data, members in stage.every_act():
        if kind == 2:
            (await act(stage.world.bob, stage.world, kind, data, **members)).expect(204)
            told = (await at_bot.expect("INTERACTION_CREATE")).data
            (await answer(stage.world, told, 4, {"content": "done"})).expect(204)


async def test_a_bot_that_was_removed_answers_nothing_more(stage: Stage) -> None:
    world, at_bot = stage.world, await stage.world.bot.connect()
    first, second = [await invoked(world, at_bot, {"id": stage.commands["ping"]}, NAME) for _ in range(2)]
    (await answer(world, first, 5)).expect(204)
    (await world.alice.rest.delete(f"/v1/guilds/{world.guild_id}/members/{world.bot.id}")).expect(204)
    assert (await answer(world, second, 4, {"content": "x"})).code == "UNKNOWN_CHANNEL"
    assert (await world.anyone.patch(of(first), {"content": "x"})).code == "UNKNOWN_CHANNEL"


async def test_an_interaction_is_answered_by_its_own_token_alone(stage: Stage) -> None:
    at_bot = await stage.world.bot.connect()
    command = {"id": stage.commands["ping"]}
    first, second = [await invoked(stage.world, at_bot, command, NAME) for _ in range(2)]
    assert (await answer(stage.world, {**first, "token": second["token"]}, 5)).code == "UNKNOWN_INTERACTION"
    assert (await answer(stage.world, {**first, "id": "5"}, 5)).code == "UNKNOWN_INTERACTION"
    before = await stage.world.anyone.get(f"/v1/webhooks/{first['application_id']}/{first['token']}/messages/@original")
    assert before.code == "UNKNOWN_INTERACTION"
    (await answer(stage.world, first, 5)).expect(204)
    foreign = await stage.world.anyone.get(f"/v1/webhooks/{stage.world.guild_id}/{first['token']}/messages/@original")
    assert foreign.code == "UNKNOWN_WEBHOOK"
