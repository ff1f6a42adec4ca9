"""Whatever a client sends as options, chosen values or a form is read or refused by name: no value of JSON is anything
else, and what is read is what was declared (interactions.md, Interactions)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from hypothesis import given
from hypothesis import strategies as st

from chat.domain.interactions.command_options import OptionReading
from chat.domain.interactions.used_components import find_component, read_form, read_values
from chat.errors import InvalidFormBody
from chat.registries.components import MENUS
from chat.registries.interactions import HOLDING, NAMING, ComponentType, OptionType

T = TypeVar("T")

KNOWN = 7
"""The one account, role and channel that there is."""

NAMES = ("a", "b", "c")
json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**64), 2**64)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.sampled_from([*NAMES, "7", "9" * 5_000, "", "\x00", "<b>"])
    | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=8,
)


def declared(kind: OptionType, name: str, required: bool, bounded: bool) -> dict[str, Any]:
    option: dict[str, Any] = {"type": int(kind), "name": name, "required": required}
    if bounded and kind is OptionType.STRING:
        option |= {"min_length": 1, "max_length": 2}
    if bounded and kind in (OptionType.INTEGER, OptionType.NUMBER):
        option |= {"min_value": -1, "max_value": 1}
    return option


leaves = st.builds(
    declared, st.sampled_from(sorted(set(OptionType) - HOLDING)), st.sampled_from(NAMES), st.booleans(), st.booleans()
)
flat = st.lists(leaves, max_size=3, unique_by=lambda option: option["name"])
nested = st.builds(lambda options: [{"type": 1, "name": "a", "options": options}], flat)
entries = st.fixed_dictionaries(
    {"name": st.sampled_from(NAMES) | json_values, "value": json_values},
    optional={"type": json_values, "focused": json_values, "options": json_values},
)
sent_options = json_values | st.lists(entries | json_values, max_size=4)


def reading(*, typed: bool = False) -> OptionReading:
    return OptionReading(
        is_user=KNOWN.__eq__,
        is_role=KNOWN.__eq__,
        channel_type=lambda channel_id: 0 if channel_id == KNOWN else None,
        typed=typed,
    )


def read_or_refused(path: str, read: Callable[..., T], *arguments: Any) -> T | None:
    """What was read; None where it was refused at this path or below it."""
    try:
        return read(*arguments)
    except InvalidFormBody as refusal:
        paths = [each.path for each in refusal.errors]
    assert paths
    assert all(each.startswith(path) for each in paths)
    return None


@given(flat | nested, sent_options | st.lists(st.fixed_dictionaries({"name": st.just("a"), "options": sent_options})))
def test_options_are_read_as_declared_or_refused(commands: list[dict[str, Any]], sent: Any) -> None:
    for typed in (False, True):
        told = read_or_refused("data.options", reading(typed=typed).read, sent, commands)
        if told is None:
            continue
        holds = bool(commands) and "options" in commands[0]
        inner = told[0]["options"] if holds else told
        known = {option["name"]: option for option in (commands[0]["options"] if holds else commands)}
        assert {option["name"] for option in inner} <= known.keys()
        for option in inner:
            assert option["type"] == known[option["name"]]["type"]
            if option["type"] in NAMING:
                assert option.get("focused") or option["value"] == str(KNOWN)
        if not typed:
            wanted = {name for name, option in known.items() if option["required"]}
            assert wanted <= {option["name"] for option in inner}


menus = st.builds(
    lambda kind, least, most: {
        "type": int(kind),
        "id": 1,
        "custom_id": "a",
        "min_values": min(least, most),
        "max_values": most,
        **({"options": [{"label": "A", "value": "a"}]} if kind is ComponentType.STRING_SELECT else {}),
    },
    st.sampled_from(sorted(MENUS)),
    st.integers(0, 2),
    st.integers(1, 2),
)


@given(menus, json_values)
def test_values_are_those_of_the_menu_or_refused(menu: dict[str, Any], sent: Any) -> None:
    told = read_or_refused("data.values", read_values, menu, sent, reading(), "data.values")
    if told is None:
        return
    assert menu["min_values"] <= len(told) <= menu["max_values"]
    assert set(told) <= ({"a"} if menu["type"] == ComponentType.STRING_SELECT else {str(KNOWN)})


texts = st.fixed_dictionaries(
    {"type": st.just(4), "id": st.just(1), "custom_id": st.just("a"), "required": st.booleans()},
    optional={"min_length": st.just(1), "max_length": st.just(3)},
)
forms = st.builds(
    lambda text, menu: [
        {"type": 1, "id": 2, "components": [text]},
        {"type": 18, "id": 3, "component": {**menu, "custom_id": "b"}},
    ],
    texts,
    menus,
)
parts = st.fixed_dictionaries(
    {"custom_id": st.sampled_from(NAMES) | json_values},
    optional={"value": json_values, "values": json_values, "components": json_values},
)


@given(forms, json_values | st.lists(parts | st.builds(lambda part: {"components": [part]}, parts), max_size=3))
def test_a_form_is_told_in_its_own_shape_or_refused(form: list[dict[str, Any]], sent: Any) -> None:
    told = read_or_refused("data.components", read_form, form, sent, reading())
    if told is None:
        return
    text, menu = told[0]["components"][0], told[1]["component"]
    assert [part["type"] for part in told] == [1, 18]
    assert isinstance(text["value"], str)
    assert text["value"] or not form[0]["components"][0]["required"]
    assert len(menu["values"]) <= form[1]["component"]["max_values"]


@given(json_values)
def test_a_component_is_found_by_its_own_id_alone(custom_id: Any) -> None:
    board = [{"type": 1, "id": 1, "components": [{"type": 2, "id": 2, "style": 1, "custom_id": "a", "label": "A"}]}]
    found = read_or_refused("data.custom_id", find_component, board, custom_id)
    assert (found is not None) is (custom_id == "a")
