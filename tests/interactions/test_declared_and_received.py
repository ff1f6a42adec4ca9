"""What a command declares is what its bot receives, for commands and values of all kinds; components are pressed as
they were sent. What is wrong is refused by name, and nothing is a fault of the server (interactions.md, Application
commands)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import attrs
import pytest
import trio
from hypothesis import given, settings
from hypothesis import strategies as st

from chat.registries.interactions import NAMING, OptionType
from chat.testing import World, open_chat_server, strategies
from chat.testing.gateway_client import GatewayClient
from chat.testing.stepped_run import SteppedRun
from tests.interactions import acting

FEW = settings(max_examples=40, deadline=None)


@attrs.frozen
class Playing:
    """A bot and the people that use it, on a server that lives as long as the module's tests."""

    run: SteppedRun
    world: World
    at_bot: GatewayClient
    ids: Mapping[OptionType, list[str]]

    def registers(self, *commands: Any) -> Any:
        path = f"/v1/applications/{self.world.bot.application_id}/commands"
        return self.run.call(self.world.bot.rest.put, path, list(commands))

    def act(self, kind: int, data: dict[str, Any], **members: Any) -> Any:
        # Administrators may use everything, whatever a command asks for.
        return self.run.call(lambda: acting.act(self.world.alice, self.world, kind, data, **members))

    def hears(self) -> dict[str, Any]:
        return dict(self.run.call(self.at_bot.expect, "INTERACTION_CREATE").data)

    def says(self, components: Any) -> Any:
        body = {"content": "x", "components": components}
        return self.run.call(self.world.bot.rest.post, f"/v1/channels/{self.world.channel_id}/messages", body)


@pytest.fixture(scope="module")
def playing(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Playing]:
    folder = tmp_path_factory.mktemp("data")
    worlds: list[tuple[World, GatewayClient]] = []

    async def live(task_status: trio.TaskStatus[None]) -> None:
        async with open_chat_server(folder) as server:
            world = World(server.description(), server.route(), run.nursery)
            worlds.append((world, await world.bot.connect()))
            task_status.started()
            await trio.sleep_forever()

    with SteppedRun(virtual=True) as run:
        run.call(run.nursery.start, live)
        world, at_bot = worlds[0]
        people = [world.alice.id, world.bob.id, world.bot.id]
        ids = {
            OptionType.USER: people,
            OptionType.CHANNEL: [world.channel_id],
            OptionType.ROLE: [world.guild_id],
            OptionType.MENTIONABLE: [*people, world.guild_id],
        }
        yield Playing(run, world, at_bot, ids)


def same(told: list[dict[str, Any]], sent: list[dict[str, Any]], declared: list[dict[str, Any]]) -> None:
    """What the bot was told is what was sent, with the types that were declared."""
    types = {option["name"]: option for option in declared}
    assert [one["name"] for one in told] == [one["name"] for one in sent]
    for one, given_one in zip(told, sent, strict=True):
        option = types[one["name"]]
        assert one["type"] == option["type"]
        if "options" in one:
            same(one["options"], given_one["options"], option["options"])
        else:
            assert one["value"] == given_one["value"]


def named(options: list[dict[str, Any]]) -> set[str]:
    inner = (named(one["options"]) if "options" in one else set() for one in options)
    return set().union(*inner, {one["value"] for one in options if one["type"] in NAMING})


@FEW
@given(command=strategies.commands(), data=st.data())
def test_what_is_declared_is_what_the_bot_receives(
    playing: Playing, command: dict[str, Any], data: st.DataObject
) -> None:
    [made] = playing.registers(command).expect(200)
    assert [(one["name"], one["type"]) for one in made.get("options", [])] == [
        (one["name"], one["type"]) for one in command.get("options", [])
    ]
    if command.get("nsfw"):
        assert playing.act(2, {"id": made["id"]}).code == "UNKNOWN_APPLICATION_COMMAND"
        return
    if command["type"] != 1:
        said = playing.says([]).expect(200)["id"]
        target = {2: playing.world.bob.id, 3: said}[command["type"]]
        playing.act(2, {"id": made["id"], "target_id": target}).expect(204)
        told = playing.hears()["data"]
        assert (told["name"], told["target_id"]) == (made["name"], target)
        assert target in told["resolved"]["users" if command["type"] == 2 else "messages"]
        return
    sent = data.draw(strategies.filled(command["options"], playing.ids))
    playing.act(2, {"id": made["id"], "options": sent}).expect(204)
    told = playing.hears()["data"]
    same(told["options"], sent, command["options"])
    resolved = told.get("resolved", {})
    kinds = ("users", "roles", "channels")
    assert named(told["options"]) == set().union(*(resolved.get(kind, {}).keys() for kind in kinds))


@FEW
@given(command=strategies.invalid_commands())
def test_wrong_commands_are_refused(playing: Playing, command: object) -> None:
    refused = playing.registers(command)
    assert (refused.status, refused.code) == (400, "INVALID_FORM_BODY"), command


@FEW
@given(command=strategies.commands().filter(lambda command: command["type"] == 1), sent=strategies.json_values())
def test_no_invocation_is_a_fault_of_the_server(playing: Playing, command: dict[str, Any], sent: Any) -> None:
    [made] = playing.registers(command).expect(200)
    names = [option["name"] for option in command["options"]]
    for options in (sent, [sent], [{"name": name, "value": sent} for name in names]):
        answer = playing.act(2, {"id": made["id"], "options": options})
        assert answer.status in {204, 400, 404}, (options, answer)
        if answer.status == 204:
            playing.hears()


@FEW
@given(rows=strategies.component_rows(), data=st.data())
def test_each_component_is_used_as_it_was_sent(playing: Playing, rows: list[Any], data: st.DataObject) -> None:
    message = playing.says(rows).expect(200)
    for row, shown in zip(rows, message["components"], strict=True):
        for sent, one in zip(row["components"], shown["components"], strict=True):
            assert {name: one[name] for name in ("type", "custom_id")} == {
                name: sent[name] for name in ("type", "custom_id")
            }
            used: dict[str, Any] = {"custom_id": sent["custom_id"], "component_type": sent["type"]}
            if sent["type"] == 3:
                used["values"] = [data.draw(st.sampled_from([option["value"] for option in sent["options"]]))]
            elif sent["type"] != 2:
                used["values"] = [playing.world.channel_id if sent["type"] == 8 else playing.world.guild_id]
                if sent["type"] in {5, 7}:
                    used["values"] = [playing.world.bob.id]
            answer = playing.act(3, used, message_id=message["id"])
            if sent.get("disabled"):
                assert answer.code == "INVALID_FORM_BODY"
                continue
            answer.expect(204)
            told = playing.hears()
            assert told["data"]["custom_id"] == sent["custom_id"]
            assert told["data"].get("values") == used.get("values")
            assert told["message"]["id"] == message["id"]


@FEW
@given(rows=strategies.invalid_component_rows())
def test_wrong_components_are_refused(playing: Playing, rows: object) -> None:
    refused = playing.says(rows)
    assert (refused.status, refused.code) == (400, "INVALID_FORM_BODY"), rows
