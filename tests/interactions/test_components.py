"""Components of messages: read by the table of their kinds, judged as a tree, kept, shown, edited (interactions.md,
Components)."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chat.domain.policy.component_trees import placed_components, read_components, walk
from chat.errors import InvalidFormBody
from chat.registries.components import ComponentPlace
from chat.testing.rest_client import Response
from chat.testing.world import World
from tests.webhooks.surfaces import png

SECOND = 32_768


def button(custom_id: str = "go", **members: Any) -> dict[str, Any]:
    return {"type": 2, "style": 1, "label": "Go", "custom_id": custom_id, **members}


def row(*components: dict[str, Any]) -> dict[str, Any]:
    return {"type": 1, "components": list(components)}


def menu(kind: int = 3, **members: Any) -> dict[str, Any]:
    options = {"options": [{"label": "A", "value": "a"}]} if kind == 3 else {}
    return {"type": kind, "custom_id": f"menu{kind}", **options, **members}


def text(content: str = "hello") -> dict[str, Any]:
    return {"type": 10, "content": content}


async def send(world: World, components: Any, **members: Any) -> Response:
    body = {"components": components, **members}
    return await world.bot.rest.post(f"/v1/channels/{world.channel_id}/messages", body)


def fields(answer: Response) -> dict[str, str]:
    assert answer.status == 400, answer
    return {error["path"]: error["code"] for error in answer.json()["errors"]}


async def test_rows_are_kept_and_shown_to_everybody(chat_world: World) -> None:
    at_bob = await chat_world.bob.connect()
    sent = (await send(chat_world, [row(button(), button("stop", style=4)), row(menu())], content="choose")).expect(200)
    assert sent["components"] == [
        {
            "type": 1,
            "id": 1,
            "components": [
                {"type": 2, "id": 2, "style": 1, "label": "Go", "custom_id": "go"},
                {"type": 2, "id": 3, "style": 4, "label": "Go", "custom_id": "stop"},
            ],
        },
        {
            "type": 1,
            "id": 4,
            "components": [
                {
                    "type": 3,
                    "id": 5,
                    "custom_id": "menu3",
                    "min_values": 1,
                    "max_values": 1,
                    "options": [{"label": "A", "value": "a"}],
                }
            ],
        },
    ]
    heard = (await at_bob.expect("MESSAGE_CREATE", where=lambda data: data["id"] == sent["id"])).data
    assert heard["components"] == sent["components"]
    listed = (await chat_world.bob.rest.get(f"/v1/channels/{chat_world.channel_id}/messages")).expect(200)
    assert listed[0]["components"] == sent["components"]


async def test_every_message_has_the_member(chat_world: World) -> None:
    sent = (await chat_world.bob.rest.send_message(chat_world.channel_id, "hi")).expect(200)
    assert sent["components"] == []
    listed = (await chat_world.bob.rest.get(f"/v1/channels/{chat_world.channel_id}/messages")).expect(200)
    assert listed[0]["components"] == []


async def test_the_second_form_stands_in_place_of_a_text(chat_world: World) -> None:
    image = "https://example.org/a.png"
    tree = [
        text("# Title"),
        {"type": 9, "components": [text()], "accessory": button()},
        {"type": 9, "components": [text()], "accessory": {"type": 11, "media": {"url": image}}},
        {"type": 12, "items": [{"media": {"url": image}, "description": "d", "spoiler": True}]},
        {"type": 14, "divider": False, "spacing": 2},
        {"type": 17, "accent_color": 0xFF0000, "components": [text(), row(button("in"))], "id": 70},
    ]
    sent = (await send(chat_world, tree, flags=SECOND)).expect(200)
    assert sent["flags"] & SECOND
    shown = sent["components"]
    assert [part["type"] for part in shown] == [10, 9, 9, 12, 14, 17]
    assert shown[5]["id"] == 70
    assert shown[5]["components"][1]["components"][0]["custom_id"] == "in"
    assert shown[2]["accessory"]["media"]["url"] == image
    assert shown[2]["accessory"]["media"]["proxy_url"]
    assert shown[4] == {"type": 14, "id": shown[4]["id"], "divider": False, "spacing": 2}
    assert fields(await send(chat_world, tree, flags=SECOND, content="x")) == {"content": "NOT_WITH_SECOND_FORM"}
    assert fields(await send(chat_world, [text()], content="x")) == {
        "components.0.type": "COMPONENT_TYPE_NOT_ALLOWED_HERE"
    }
    empty = await send(chat_world, [], flags=SECOND)
    assert (empty.status, empty.code) == (400, "CANNOT_SEND_EMPTY_MESSAGE")


async def test_a_file_of_the_message_is_shown_as_a_component(chat_world: World) -> None:
    path = f"/v1/channels/{chat_world.channel_id}/messages"
    rest = chat_world.bot.rest
    tree = [{"type": 13, "file": {"url": "attachment://a.png"}}]
    sent = (await rest.send_files(chat_world.channel_id, {"a.png": png()}, flags=SECOND, components=tree)).expect(200)
    [shown] = sent["components"]
    assert shown["name"] == "a.png"
    assert shown["file"]["url"] == sent["attachments"][0]["url"]
    assert fields(await send(chat_world, [{"type": 13, "file": {"url": "attachment://b.png"}}], flags=SECOND)) == {
        "components.0": "COMPONENT_FILE_MISSING"
    }
    gone = await rest.patch(f"{path}/{sent['id']}", {"attachments": []})
    assert fields(gone) == {"components.0": "COMPONENT_FILE_MISSING"}


async def test_an_edit_replaces_and_takes_away(chat_world: World) -> None:
    path = f"/v1/channels/{chat_world.channel_id}/messages"
    sent = (await send(chat_world, [row(button())], content="x")).expect(200)
    rest = chat_world.bot.rest
    same = (await rest.patch(f"{path}/{sent['id']}", {"content": "y"})).expect(200)
    assert same["components"] == sent["components"]
    at_bob = await chat_world.bob.connect()
    changed = (await rest.patch(f"{path}/{sent['id']}", {"components": [row(menu(5))]})).expect(200)
    assert changed["components"][0]["components"][0]["type"] == 5
    assert (await at_bob.expect("MESSAGE_UPDATE")).data["components"] == changed["components"]
    assert (await rest.patch(f"{path}/{sent['id']}", {"components": None})).expect(200)["components"] == []
    tree = [text()]
    assert fields(await rest.patch(f"{path}/{sent['id']}", {"components": tree, "flags": SECOND})) == {
        "content": "NOT_WITH_SECOND_FORM"
    }
    second = (await rest.patch(f"{path}/{sent['id']}", {"components": tree, "flags": SECOND, "content": None})).expect(
        200
    )
    assert (second["flags"], second["content"]) == (SECOND, "")
    back = await rest.patch(f"{path}/{sent['id']}", {"components": [], "content": "z"})
    assert (back.status, back.code) == (400, "CANNOT_SEND_EMPTY_MESSAGE")
    (await rest.patch(f"{path}/{sent['id']}", {"components": tree, "flags": 0})).expect(200)
    read = (await rest.get(f"{path}/{sent['id']}")).expect(200)
    assert read["flags"] & SECOND  # once set it stays


@pytest.mark.parametrize("given", [77, 77.0, "77", 2**63 - 1])
async def test_ids_come_as_text_or_as_numbers(chat_world: World, given: float | str) -> None:
    tree = [row(menu(8, default_values=[{"id": given, "type": "channel"}]))]
    sent = (await send(chat_world, tree, content="x")).expect(200)
    assert sent["components"][0]["components"][0]["default_values"][0]["id"] == f"{int(given)}"


async def test_only_applications_send_components(chat_world: World) -> None:
    path = f"/v1/channels/{chat_world.channel_id}/messages"
    mine = await chat_world.alice.rest.post(path, {"content": "x", "components": [row(button())]})
    assert fields(mine) == {"components": "COMPONENTS_FOR_BOTS_ONLY"}
    own = (await chat_world.alice.rest.send_message(chat_world.channel_id, "x")).expect(200)
    edit = await chat_world.alice.rest.patch(f"{path}/{own['id']}", {"components": [row(button())]})
    assert fields(edit) == {"components": "COMPONENTS_FOR_BOTS_ONLY"}
    hooks = f"/v1/channels/{chat_world.channel_id}/webhooks"
    hook = (await chat_world.alice.rest.post(hooks, {"name": "w"})).expect(200)
    execute = f"/v1/webhooks/{hook['id']}/{hook['token']}?wait=true"
    leads = {"type": 2, "style": 5, "label": "x", "url": "https://example.org"}
    shown = (await chat_world.anyone.post(execute, {"content": "x", "components": [row(leads)]})).expect(200)
    assert shown["components"][0]["components"][0]["url"] == "https://example.org"
    pressed = await chat_world.anyone.post(execute, {"content": "x", "components": [row(button())]})
    assert fields(pressed) == {"components": "COMPONENTS_FOR_BOTS_ONLY"}


async def test_a_forward_carries_them(chat_world: World) -> None:
    sent = (await send(chat_world, [text("carried")], flags=SECOND)).expect(200)
    reference = {"message_id": sent["id"], "channel_id": chat_world.channel_id, "type": 1}
    path = f"/v1/channels/{chat_world.channel_id}/messages"
    forward = (await chat_world.bob.rest.post(path, {"message_reference": reference})).expect(200)
    assert forward["message_snapshots"][0]["components"][0]["content"] == "carried"
    assert forward["components"] == []


async def test_blocked_words_are_refused_in_components(chat_world: World) -> None:
    (await chat_world.admin.rest.post("/v1/admin/blocklists/phrase", {"value": "forbidden words"})).expect(200)
    refused = await send(chat_world, [row(button(label="Forbidden words"))], content="x")
    assert (refused.status, refused.code) == (403, "CONTENT_BLOCKED")


DEFAULTS = {"components.0.components.0.default_values.0.id": "INVALID_FORMAT"}
WRONG: list[tuple[Any, dict[str, str]]] = [
    ([button()], {"components.0.type": "COMPONENT_TYPE_NOT_ALLOWED_HERE"}),
    ([{"type": 99}], {"components.0.type": "INVALID_FORMAT"}),
    (["x"], {"components.0": "INVALID_FORMAT"}),
    ([row()], {"components.0.components": "BASE_TYPE_REQUIRED"}),
    ([row(*(button(str(n)) for n in range(6)))], {"components.0.components": "TOO_MANY_COMPONENTS"}),
    ([row(button(str(n))) for n in range(6)], {"components": "TOO_MANY_COMPONENTS"}),
    ([row(menu(), button())], {"components.0.components": "TOO_MANY_COMPONENTS"}),
    ([row(row(button()))], {"components.0.components.0.type": "COMPONENT_TYPE_NOT_ALLOWED_HERE"}),
    ([row(button(), button())], {"components.0.components.1.custom_id": "CUSTOM_ID_NOT_UNIQUE"}),
    ([row(button(id=5), button("b", id=5))], {"components.0.components.1.id": "NAME_NOT_UNIQUE"}),
    ([row(button("x" * 101))], {"components.0.components.0.custom_id": "CONTENT_EXCEEDS_MAX_LENGTH"}),
    ([row(button(label="x" * 81))], {"components.0.components.0.label": "CONTENT_EXCEEDS_MAX_LENGTH"}),
    ([row(button(style=6))], {"components.0.components.0.style": "VALUE_MUST_BE_INTEGER_IN_RANGE"}),
    ([row(button(label=None))], {"components.0.components.0.label": "BASE_TYPE_REQUIRED"}),
    ([row(button(url="https://a.b"))], {"components.0.components.0.url": "NOT_FOR_THIS_TYPE"}),
    (
        [row(button(style=5))],
        {
            "components.0.components.0.url": "BASE_TYPE_REQUIRED",
            "components.0.components.0.custom_id": "NOT_FOR_THIS_TYPE",
        },
    ),
    (
        [row({"type": 2, "style": 5, "label": "x", "url": "javascript:alert(1)"})],
        {"components.0.components.0.url": "INVALID_FORMAT"},
    ),
    ([row(button(emoji={"id": "x"}))], {"components.0.components.0.emoji": "INVALID_FORMAT"}),
    ([row(menu(options=[]))], {"components.0.components.0.options": "INVALID_FORMAT"}),
    (
        [row(menu(options=[{"label": "A", "value": "a"}, {"label": "B", "value": "a"}]))],
        {"components.0.components.0.options.1.value": "NAME_NOT_UNIQUE"},
    ),
    ([row(menu(min_values=2))], {"components.0.components.0.min_values": "MINIMUM_ABOVE_MAXIMUM"}),
    (
        [row(menu(5, default_values=[{"id": "1", "type": "role"}]))],
        {"components.0.components.0.default_values.0": "INVALID_FORMAT"},
    ),
    *(
        ([row(menu(5, default_values=[{"id": wrong, "type": "user"}]))], DEFAULTS)
        for wrong in (0, -1, 1.5, True, "", "x", "\u0661", "9" * 5_000, "0" * 20 + "1", "01", 2**63)
    ),
    ([row(menu(8, channel_types=[77]))], {"components.0.components.0.channel_types": "INVALID_FORMAT"}),
    (
        [row({"type": 4, "custom_id": "t", "style": 1})],
        {"components.0.components.0.type": "COMPONENT_TYPE_NOT_ALLOWED_HERE"},
    ),
]


@pytest.mark.parametrize(("components", "wrong"), WRONG)
async def test_what_is_wrong_is_refused_by_name(chat_world: World, components: Any, wrong: dict[str, str]) -> None:
    assert fields(await send(chat_world, components, content="x")) == wrong


async def test_the_second_form_has_its_limits(chat_world: World) -> None:
    most = [text(str(number)) for number in range(40)]
    (await send(chat_world, most, flags=SECOND)).expect(200)
    assert fields(await send(chat_world, [*most, text()], flags=SECOND)) == {"components": "TOO_MANY_COMPONENTS"}
    assert fields(await send(chat_world, [text("x" * 2_001), text("x" * 2_000)], flags=SECOND)) == {
        "components": "CONTENT_EXCEEDS_MAX_LENGTH"
    }
    nested = {"type": 17, "components": [{"type": 17, "components": [text()]}]}
    assert fields(await send(chat_world, [nested], flags=SECOND)) == {
        "components.0.components.0.type": "COMPONENT_TYPE_NOT_ALLOWED_HERE"
    }


PLAIN = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 50) | st.text(max_size=5) | st.sampled_from(["a", "https://a.b"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                [
                    "type",
                    "id",
                    "components",
                    "accessory",
                    "component",
                    "custom_id",
                    "style",
                    "label",
                    "options",
                    "media",
                ]
            ),
            inner,
            max_size=6,
        )
    ),
    max_leaves=20,
)


@given(PLAIN, st.sampled_from(ComponentPlace))
def test_anything_is_a_tree_or_refused_by_name(value: Any, place: ComponentPlace) -> None:
    try:
        placed = placed_components(read_components(value), place)
    except InvalidFormBody:
        return
    ids = [component["id"] for _, component in walk(placed)]
    assert len(ids) == len(set(ids))
    assert placed_components(read_components(list(placed)), place) == placed  # what is shown can be sent again
