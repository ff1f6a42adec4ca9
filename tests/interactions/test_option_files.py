"""Files in the options of commands: they come with the invocation, and the application fetches them (interactions.md,
Interactions)."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import pytest
import trio
from trio.testing import MockClock

from chat.registries.permissions import Permission
from chat.testing.rest_client import Response
from chat.testing.world import Person, World
from tests.interactions.acting import ACTS, register
from tests.webhooks.surfaces import FORM_HEADERS, form

SHOW: dict[str, Any] = {
    "name": "show",
    "description": "Shows.",
    "options": [
        {"type": 11, "name": "first", "description": "d", "required": True},
        {"type": 11, "name": "second", "description": "d"},
        {"type": 3, "name": "word", "description": "d"},
    ],
}
LOOK: dict[str, Any] = {"name": "look", "type": 2}
FIRST: list[dict[str, Any]] = [{"name": "first", "value": "0"}]


async def brought(
    person: Person,
    world: World,
    data: dict[str, Any],
    files: Sequence[tuple[str, str, bytes]] = (("files[0]", "a.txt", b"text"),),
    kind: int = 2,
) -> Response:
    """A person invokes something in the seeded channel with these files: the name of the part, of the file, bytes."""
    body = {
        "type": kind,
        "application_id": world.bot.application_id,
        "channel_id": world.channel_id,
        "data": data,
    }
    sent = form(files, json.dumps(body).encode())
    return await person.rest.request("POST", ACTS, body=sent, headers=FORM_HEADERS)


def refusals(response: Response) -> dict[str, str]:
    assert response.status == 400, response
    return {error["path"]: error["code"] for error in response.json()["errors"]}


async def test_the_application_fetches_what_was_brought(chat_world: World) -> None:
    [show] = await register(chat_world, SHOW)
    at_bot = await chat_world.bot.connect()
    options = [
        {"name": "second", "value": "0"},
        {"name": "word", "value": "0"},
        {"name": "first", "value": "1"},
    ]
    # The parts come in any order: their names count.
    files = [("files[1]", "one.txt", b"one"), ("files[0]", "two.bin", b"\0\0two")]
    (await brought(chat_world.bob, chat_world, {"id": show["id"], "options": options}, files)).expect(204)
    data = (await at_bot.expect("INTERACTION_CREATE")).data["data"]
    assert [(option["name"], option["type"]) for option in data["options"]] == [
        ("second", 11),
        ("word", 3),
        ("first", 11),
    ]
    assert data["options"][1]["value"] == "0"
    sent = data["resolved"]["attachments"]
    assert len(sent) == 2
    for place, name, content in ((2, "one.txt", b"one"), (0, "two.bin", b"\0\0two")):
        file = sent[data["options"][place]["value"]]
        assert (file["filename"], file["size"]) == (name, len(content))
        assert (await chat_world.anyone.fetch(file["url"])).body == content


async def test_by_the_kit(chat_world: World) -> None:
    await register(chat_world, SHOW)
    at_bot = await chat_world.bot.connect()

    async def answering() -> None:
        told = (await at_bot.expect("INTERACTION_CREATE")).data
        file = told["data"]["resolved"]["attachments"][told["data"]["options"][0]["value"]]
        content = (await chat_world.anyone.fetch(file["url"])).body
        await chat_world.bot.answer(told, f"{file['filename']}: {content.decode()}")

    async with trio.open_nursery() as nursery:
        nursery.start_soon(answering)
        shown = await chat_world.bob.invoke("show", first=b"kale", word="x")
    assert shown.message["content"] == "first: kale"


@pytest.mark.parametrize(
    ("options", "wrong"),
    [
        ([], {"data.options.first": "BASE_TYPE_REQUIRED"}),
        ([{"name": "first", "value": "1"}], {"data.options.0.value": "COMPONENT_FILE_MISSING"}),
        ([{"name": "first", "value": 0}], {"data.options.0.value": "COMPONENT_FILE_MISSING"}),
        ([{"name": "first", "value": "-1"}], {"data.options.0.value": "COMPONENT_FILE_MISSING"}),
        ([{"name": "first", "value": "\u0660"}], {"data.options.0.value": "COMPONENT_FILE_MISSING"}),
        ([{"name": "first", "value": "9" * 5000}], {"data.options.0.value": "COMPONENT_FILE_MISSING"}),
        ([{"name": "first", "value": None}], {"data.options.0.value": "COMPONENT_FILE_MISSING"}),
        ([{"name": "first"}], {"data.options.0.value": "COMPONENT_FILE_MISSING"}),
    ],
)
async def test_an_option_without_its_file(chat_world: World, options: list[Any], wrong: dict[str, str]) -> None:
    [show] = await register(chat_world, SHOW)
    response = await brought(chat_world.bob, chat_world, {"id": show["id"], "options": options})
    assert refusals(response) == wrong


async def test_files_that_nothing_names(chat_world: World) -> None:
    show, look = await register(chat_world, SHOW, LOOK)
    bob, data = chat_world.bob, {"id": show["id"], "options": FIRST}
    two = [("files[0]", "a.txt", b"a"), ("files[1]", "b.txt", b"b")]
    assert refusals(await brought(bob, chat_world, data, two)) == {"files.1": "NOT_FOR_THIS_TYPE"}
    gap = [("files[0]", "a.txt", b"a"), ("files[2]", "b.txt", b"b")]
    assert refusals(await brought(bob, chat_world, data, gap)) == {"attachments": "INVALID_FORMAT"}
    target = {"id": look["id"], "target_id": chat_world.alice.id}
    assert refusals(await brought(bob, chat_world, target)) == {"files": "NOT_FOR_THIS_TYPE"}
    assert refusals(await brought(bob, chat_world, {}, kind=5)) == {"files": "NOT_FOR_THIS_TYPE"}
    assert refusals(await brought(bob, chat_world, {"custom_id": "x"}, kind=3)) == {"files": "NOT_FOR_THIS_TYPE"}
    # Nothing of all this is kept: no place is taken of the hundred that may wait.
    for _ in range(2):
        (await brought(bob, chat_world, data)).expect(204)


async def test_a_file_without_a_form(chat_world: World) -> None:
    [show] = await register(chat_world, SHOW)
    body = {
        "type": 2,
        "application_id": chat_world.bot.application_id,
        "channel_id": chat_world.channel_id,
        "data": {"id": show["id"], "options": FIRST},
    }
    refused = await chat_world.bob.rest.post(ACTS, body)
    assert refusals(refused) == {"data.options.0.value": "COMPONENT_FILE_MISSING"}


async def test_who_may_not_send_files(chat_world: World) -> None:
    [show] = await register(chat_world, SHOW)
    denied = {"type": 0, "deny": str(int(Permission.ATTACH_FILES))}
    place = f"/v1/channels/{chat_world.channel_id}/permissions/{chat_world.guild_id}"
    (await chat_world.alice.rest.put(place, denied)).expect(204)
    refused = await brought(chat_world.bob, chat_world, {"id": show["id"], "options": FIRST})
    assert (refused.status, refused.code) == (403, "MISSING_PERMISSIONS")
    (await brought(chat_world.alice, chat_world, {"id": show["id"], "options": FIRST})).expect(204)


async def test_a_file_goes_after_an_hour(chat_world: World, autojump_clock: MockClock) -> None:
    [show] = await register(chat_world, SHOW)
    at_bot = await chat_world.bot.connect()
    (await brought(chat_world.bob, chat_world, {"id": show["id"], "options": FIRST})).expect(204)
    data = (await at_bot.expect("INTERACTION_CREATE")).data["data"]
    [file] = data["resolved"]["attachments"].values()
    await trio.sleep(59 * 60)
    assert (await chat_world.anyone.fetch(file["url"])).body == b"text"
    await trio.sleep(2 * 60 * 60)
    assert (await chat_world.anyone.fetch(file["url"])).status == 404
