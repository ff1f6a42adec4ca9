"""Commands of applications, what people fill into them, and rows of components."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from hypothesis import strategies as st

from chat.registries.interactions import HOLDING, SAFE_INTEGER, OptionType
from chat.testing.strategies.values import Body, all_but, one_broken, permission_sets, words

TYPED_NAMES: Final = st.from_regex(r"[a-z0-9_'-]{1,32}", fullmatch=True) | st.sampled_from(["größe", "名前", "имя"])
DESCRIPTIONS: Final = words(1, 60).map(str.strip).filter(bool)
NUMBERS: Final = {
    OptionType.INTEGER: st.integers(-SAFE_INTEGER, SAFE_INTEGER),
    OptionType.NUMBER: st.floats(-1e9, 1e9, allow_nan=False).map(lambda value: round(value, 3)),
}
NAMED: Final = (OptionType.USER, OptionType.CHANNEL, OptionType.ROLE, OptionType.MENTIONABLE)
TAKING: Final = tuple(kind for kind in OptionType if kind not in HOLDING and kind is not OptionType.ATTACHMENT)
"""Options that take a value which can stand in JSON."""


def options(most: int = 4) -> st.SearchStrategy[list[Body]]:
    """Options that take values: each name once, those that have to be there first."""
    one = st.sampled_from(TAKING).flatmap(_option)
    several = st.lists(one, max_size=most, unique_by=lambda option: option["name"])
    return several.map(lambda found: sorted(found, key=lambda option: not option.get("required", False)))


def _option(kind: OptionType) -> st.SearchStrategy[Body]:
    common = st.fixed_dictionaries(
        {"type": st.just(int(kind)), "name": TYPED_NAMES, "description": DESCRIPTIONS},
        optional={"required": st.booleans()},
    )
    return st.builds(lambda option, more: {**option, **more}, common, _members(kind))


def _members(kind: OptionType) -> st.SearchStrategy[Body]:
    """What options of one type may have besides."""
    nothing: st.SearchStrategy[Body] = st.just({})
    if kind is OptionType.STRING:
        lengths = st.builds(
            lambda one, other: {"min_length": min(one, other), "max_length": max(one, other)},
            st.integers(1, 20),
            st.integers(1, 20),
        )
        return st.one_of(nothing, lengths, _choices(words(1, 30)), st.just({"autocomplete": True}))
    if kind in NUMBERS:
        bounds = st.builds(
            lambda one, other: {"min_value": min(one, other), "max_value": max(one, other)},
            NUMBERS[kind],
            NUMBERS[kind],
        )
        return st.one_of(nothing, bounds, _choices(NUMBERS[kind]))
    if kind is OptionType.CHANNEL:
        return nothing | st.just({"channel_types": [0]})
    return nothing


def _choices(values: st.SearchStrategy[Any]) -> st.SearchStrategy[Body]:
    rows = st.lists(st.fixed_dictionaries({"name": words(1, 30), "value": values}), min_size=1, max_size=4)
    return rows.map(lambda found: {"choices": list({row["name"]: row for row in found}.values())})


def commands() -> st.SearchStrategy[Body]:
    """Commands of each type; those behind the slash with options, sub-commands or groups of them."""
    sub_command = _holding(OptionType.SUB_COMMAND, options())
    subs = _unique(sub_command, 3)
    groups = _holding(OptionType.SUB_COMMAND_GROUP, _unique(sub_command, 2))
    trees = st.one_of(options(), subs, _unique(groups, 2))
    masks = permission_sets().filter(lambda mask: int(mask) < 1 << 63)
    members = {"default_member_permissions": masks | st.none(), "nsfw": st.booleans()}
    slash = st.fixed_dictionaries(
        {"type": st.just(1), "name": TYPED_NAMES, "description": DESCRIPTIONS, "options": trees}, optional=members
    )
    menu = st.fixed_dictionaries({"type": st.sampled_from([2, 3]), "name": words(1, 32)}, optional=members)
    return slash | menu


def _holding(kind: OptionType, held: st.SearchStrategy[list[Body]]) -> st.SearchStrategy[Body]:
    return st.fixed_dictionaries(
        {"type": st.just(int(kind)), "name": TYPED_NAMES, "description": DESCRIPTIONS, "options": held}
    )


def _unique(one: st.SearchStrategy[Body], most: int) -> st.SearchStrategy[list[Body]]:
    return st.lists(one, min_size=1, max_size=most, unique_by=lambda option: option["name"])


def invalid_commands() -> st.SearchStrategy[Any]:
    """The same, refused with INVALID_FORM_BODY."""
    good = {"type": 3, "name": "a", "description": "d"}
    slash = commands().filter(lambda command: command["type"] == 1)
    wrong_options: list[Any] = [
        [good, good],
        [good, {**good, "name": "b", "required": True}],
        [good, {**good, "name": "b", "type": 1}],
        [{**good, "type": 2}],
        [{**good, "type": 2, "options": [good]}],
        [{**good, "type": 12}],
        [{**good, "name": "A"}],
        [{**good, "description": "x" * 101}],
        [{**good, "min_value": 1}],
        [{**good, "min_length": 2, "max_length": 1}],
        [{**good, "autocomplete": True, "choices": [{"name": "a", "value": "a"}]}],
        [{**good, "choices": [{"name": "a", "value": 1}]}],
        [{**good, "type": 4, "max_value": SAFE_INTEGER + 1}],
        [{**good, "name": f"o{number}"} for number in range(26)],
    ]
    wrong: Mapping[str, st.SearchStrategy[Any]] = {
        "type": st.sampled_from([0, 4, "x"]),
        "name": st.sampled_from(["", "A", "a b", "x" * 33, 7, None]),
        "description": st.sampled_from(["", "x" * 101, 7]),
        "options": st.sampled_from(wrong_options),
        "default_member_permissions": st.sampled_from(["x", "-1", []]),
        "contexts": st.sampled_from([[3], ["x"], 7]),
    }
    return all_but(dict, type(None)) | one_broken(slash, wrong)


def filled(declared: Sequence[Body], ids: Mapping[OptionType, Sequence[str]]) -> st.SearchStrategy[list[Body]]:
    """Values for these options, as a person may send them. `ids` are those that there are, by the type of the option;
    an option whose type has none is left out, and has to be there for nobody."""
    if declared and declared[0]["type"] in HOLDING:
        return st.sampled_from(declared).flatmap(
            lambda option: filled(option.get("options", []), ids).map(
                lambda inner: [{"name": option["name"], "options": inner}]
            )
        )
    parts: list[st.SearchStrategy[Body | None]] = []
    for option in declared:
        told = st.fixed_dictionaries({"name": st.just(option["name"]), "value": _values(option, ids)})
        parts.append(told if option.get("required") else told | st.none())
    return st.tuples(*parts).map(lambda found: [each for each in found if each is not None])


def _values(option: Body, ids: Mapping[OptionType, Sequence[str]]) -> st.SearchStrategy[Any]:
    kind = OptionType(option["type"])
    if option.get("choices"):
        return st.sampled_from([choice["value"] for choice in option["choices"]])
    if kind is OptionType.STRING:
        least, most = option.get("min_length", 0), option.get("max_length", 40)
        return words(max(1, least), most)
    if kind is OptionType.BOOLEAN:
        return st.booleans()
    if kind in NAMED:
        return st.sampled_from(list(ids[kind]))
    least, most = option.get("min_value", -SAFE_INTEGER), option.get("max_value", SAFE_INTEGER)
    if kind is OptionType.INTEGER:
        return st.integers(least, most)
    return st.floats(least, most, allow_nan=False)


def component_rows() -> st.SearchStrategy[list[Body]]:
    """The `components` of a message: rows of buttons, or of a menu, each `custom_id` once."""
    button = st.fixed_dictionaries(
        {"type": st.just(2), "style": st.integers(1, 4), "label": words(1, 40)}, optional={"disabled": st.booleans()}
    )
    entry = st.fixed_dictionaries({"label": words(1, 40), "value": words(1, 40)})
    menu = st.fixed_dictionaries(
        {"type": st.just(3), "options": st.lists(entry, min_size=1, max_size=5, unique_by=lambda one: one["value"])}
    ) | st.fixed_dictionaries({"type": st.integers(5, 8)})
    row = st.lists(button, min_size=1, max_size=5) | menu.map(lambda one: [one])
    return st.lists(row, min_size=1, max_size=5).map(_numbered)


def _numbered(rows: Sequence[Sequence[Body]]) -> list[Body]:
    return [
        {"type": 1, "components": [{**each, "custom_id": f"{place}-{turn}"} for turn, each in enumerate(row)]}
        for place, row in enumerate(rows)
    ]


def invalid_component_rows() -> st.SearchStrategy[Any]:
    """The same, refused with INVALID_FORM_BODY."""
    button = {"type": 2, "style": 1, "label": "a", "custom_id": "a"}
    menu = {"type": 5, "custom_id": "m"}
    wrong: list[Any] = [
        [button],
        [{"type": 1, "components": []}],
        [{"type": 1, "components": [button, button]}],
        [{"type": 1, "components": [button, menu]}],
        [{"type": 1, "components": [{**button, "custom_id": f"b{number}"} for number in range(6)]}],
        [{"type": 1, "components": [{**menu, "custom_id": f"m{number}"}]} for number in range(6)],
        [{"type": 1, "components": [{**button, "custom_id": "x" * 101}]}],
        [{"type": 1, "components": [{**button, "custom_id": ""}]}],
        [{"type": 1, "components": [{**button, "style": 5}]}],
        [{"type": 1, "components": [{**button, "style": 9}]}],
        [{"type": 1, "components": [{**button, "label": "x" * 81}]}],
        [{"type": 1, "components": [{"type": 3, "custom_id": "m", "options": []}]}],
        [{"type": 1, "components": [{**menu, "min_values": 3, "max_values": 2}]}],
        [{"type": 1, "components": [{"type": 4, "custom_id": "t", "style": 1, "label": "a"}]}],
        [{"type": 1, "components": [{"type": 1, "components": [button]}]}],
        [{"type": 17, "components": [{"type": 10, "content": "only in the second form"}]}],
        [{"type": 99}],
        [{}],
        ["x"],
    ]
    return st.sampled_from(wrong) | all_but(list, type(None), str)
