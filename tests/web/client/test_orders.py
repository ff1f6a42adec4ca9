"""Orders that people make: channels moved in the list of their guild, guilds in the rail and its folders."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.web.client.node import NodeProcess, running_node

CATEGORY: Final = 4
TEXT: Final = 0


@pytest.fixture(scope="module")
def node_process() -> Iterator[NodeProcess]:
    with running_node() as node:
        yield node


def channel(number: int, parent: int | None, position: int, kind: int = TEXT) -> dict[str, Any]:
    parent_id = None if parent is None else str(parent)
    return {"id": str(number), "guild_id": "1", "type": kind, "parent_id": parent_id, "position": position}


@st.composite
def lists(draw: st.DrawFn) -> list[dict[str, Any]]:
    """The channels of a guild in order: loose ones, then categories with those below them."""
    loose = [channel(100 + at, None, at) for at in range(draw(st.integers(0, 3)))]
    found = [*loose]
    for at in range(draw(st.integers(0, 3))):
        found.append(channel(200 + at, None, at, CATEGORY))
        found += [channel(300 + 10 * at + place, 200 + at, place) for place in range(draw(st.integers(0, 3)))]
    return found


def shown(channels: list[dict[str, Any]]) -> list[str]:
    """The ids in the order of the list: loose ones, then each category with those below it."""
    placed = sorted(channels, key=lambda one: one["position"])
    heads = [one for one in placed if one["type"] == CATEGORY]
    below = {one["id"]: [two for two in placed if two["parent_id"] == one["id"]] for one in heads}
    loose = [one for one in placed if one["type"] != CATEGORY and one["parent_id"] is None]
    return [one["id"] for one in [*loose, *(two for head in heads for two in [head, *below[head["id"]]])]]


@given(data=st.data(), channels=lists().filter(bool))
def test_a_channel_comes_to_stand_where_it_is_dropped(
    node_process: NodeProcess, data: st.DataObject, channels: list[dict[str, Any]]
) -> None:
    start = data.draw(st.integers(0, len(channels) - 1))
    end = data.draw(st.integers(0, len(channels) - 1))
    places = node_process.call("store/channels", "movedChannels", channels, start, end)
    told = {place["id"]: place for place in places}
    assert sorted(place["position"] for place in places) == list(range(len(places)))
    after = [{**one, **told.get(one["id"], {})} for one in channels]
    moved = channels[start]
    rest = [one for one in channels if one is not moved]
    wanted = [one["id"] for one in [*rest[:end], moved, *rest[end:]]]
    order = shown(after)
    if moved["type"] == CATEGORY:
        heads = {one["id"] for one in channels if one["type"] == CATEGORY}
        assert [number for number in order if number in heads] == [number for number in wanted if number in heads]
        assert {one["id"]: one["parent_id"] for one in after} == {one["id"]: one["parent_id"] for one in channels}
    else:
        assert order == wanted


GUILDS: Final = [{"id": str(number), "properties": {}, "unavailable": False} for number in range(1, 5)]


def single(guild: dict[str, Any]) -> dict[str, Any]:
    return {"key": guild["id"], "guild": guild, "folder": None}


def folder(number: int, name: str, *guilds: dict[str, Any]) -> dict[str, Any]:
    body = {"id": number, "name": name, "color": None, "guilds": list(guilds)}
    return {"key": f"folder:{number}", "guild": None, "folder": body}


def told(entries: list[dict[str, Any]]) -> list[Any]:
    """Guilds by id, folders as their name with the ids in them."""
    return [
        entry["guild"]["id"]
        if entry["guild"]
        else (entry["folder"]["name"], [guild["id"] for guild in entry["folder"]["guilds"]])
        for entry in entries
    ]


ONE, TWO, THREE, FOUR = GUILDS
RAIL: Final = [single(ONE), folder(7, "Games", TWO, THREE), single(FOUR)]


@pytest.mark.parametrize(
    ("guild", "wanted", "expected"),
    [
        (ONE, {"name": "Work"}, [("Work", ["1"]), ("Games", ["2", "3"]), "4"]),
        (ONE, {"id": 7}, [("Games", ["2", "3", "1"]), "4"]),
        (TWO, None, ["1", ("Games", ["3"]), "2", "4"]),
        (TWO, {"name": "Work"}, ["1", ("Games", ["3"]), ("Work", ["2"]), "4"]),
        (FOUR, None, ["1", ("Games", ["2", "3"]), "4"]),
    ],
)
def test_a_guild_goes_into_a_folder_and_out(
    node_process: NodeProcess, guild: dict[str, Any], wanted: dict[str, Any] | None, expected: list[Any]
) -> None:
    after = node_process.call("store/guild_order", "inFolder", RAIL, guild, wanted)
    assert told(after) == expected
    kept = node_process.call("store/guild_order", "orderSettings", after)
    assert sorted(kept["positions"]) == ["1", "2", "3", "4"]
    numbers = [one["id"] for one in kept["folders"] if one["id"] != -1]
    assert len(numbers) == len(set(numbers))


def test_the_last_guild_takes_its_folder_along(node_process: NodeProcess) -> None:
    alone = [folder(7, "Games", ONE)]
    assert told(node_process.call("store/guild_order", "inFolder", alone, ONE, None)) == ["1"]


def test_a_folder_is_renamed_and_taken_apart(node_process: NodeProcess) -> None:
    renamed = node_process.call("store/guild_order", "renamedFolder", RAIL, 7, "Play")
    assert told(renamed) == ["1", ("Play", ["2", "3"]), "4"]
    assert told(node_process.call("store/guild_order", "renamedFolder", RAIL, 7, None)) == ["1", "2", "3", "4"]
