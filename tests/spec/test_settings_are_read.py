"""A setting that nothing reads would be a promise that nobody keeps: each is read somewhere in the program.

A setting is read as an attribute: of its section (`settings.mail.host`), or of what the reader calls `settings` or
`limits`, in a module that names the section or its class.
"""

from __future__ import annotations

import ast
import re
import typing
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import attrs
import pytest

from chat.config.declare import Setting, setting, settings_of
from chat.config.limits import Limits
from chat.config.loading import SETTINGS
from chat.config.settings import Settings

CHAT: Final = Path(__file__).parents[2] / "chat"
CALLED: Final = re.compile(r"settings|limits(?:_\w+)?")
"""How a reader calls a section that it was given, or the function that gives it."""


@attrs.frozen
class Read:
    """An attribute that a module reads: its name, what it is read of, and all that the module names."""

    name: str
    of: str
    beside: frozenset[str]


def reads_of(source: str) -> Iterator[Read]:
    nodes = list(ast.walk(ast.parse(source)))
    names = {node.id for node in nodes if isinstance(node, ast.Name)}
    named = frozenset(names | {node.attr for node in nodes if isinstance(node, ast.Attribute)})
    for node in nodes:
        if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Load):
            base = node.value.func if isinstance(node.value, ast.Call) else node.value
            of = base.attr if isinstance(base, ast.Attribute) else base.id if isinstance(base, ast.Name) else ""
            yield Read(node.attr, of.strip("_"), named)


def owner_of(one: Setting, root: type[object]) -> type[object]:
    owner = root
    for section in one.path[:-1]:
        owner = typing.get_type_hints(owner)[section]
    return owner


def is_read(one: Setting, reads: list[Read], root: type[object] = Settings) -> bool:
    section, owner = one.path[-2] if len(one.path) > 1 else "settings", owner_of(one, root).__name__
    for read in reads:
        given = CALLED.fullmatch(read.of) is not None
        if read.of == section or (given and (read.of != "settings" or not read.beside.isdisjoint({section, owner}))):
            return True
    follows = one.declaration.follows
    return follows is not None and one.name.endswith(f"{follows}_premium")  # read in its place: `Settings.limits_for`


def reads_by_name(sources: list[str]) -> dict[str, list[Read]]:
    found: dict[str, list[Read]] = {}
    for source in sources:
        for read in reads_of(source):
            found.setdefault(read.name, []).append(read)
    return found


@pytest.fixture(scope="module")
def reads() -> dict[str, list[Read]]:
    return reads_by_name([path.read_text(encoding="utf-8") for path in sorted(CHAT.rglob("*.py"))])


@pytest.mark.parametrize("name", SETTINGS)
def test_a_setting_is_read(name: str, reads: dict[str, list[Read]]) -> None:
    one = SETTINGS[name]
    place = f"chat/config/{'limits' if owner_of(one, Settings) is Limits else 'settings'}.py"
    assert is_read(one, reads.get(one.path[-1], [])), f"nothing in chat/ reads {name} of {place}: use it, or delete it"


@attrs.frozen
class Section:
    depth: int = setting(1, "how deep")
    height: int = setting(1, "how high")


@attrs.frozen
class Whole:
    name: str = setting("", "how it is called")
    colour: str = setting("", "what it looks like")
    well: Section = attrs.field(factory=Section)


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("print(settings.name, self._settings.well.depth)", {"name", "well.depth"}),
        ("def dig(settings: Section): return settings.height", {"well.height"}),
        ("user.name, other.colour, deep.depth", set()),
        ("settings.colour = 3", set()),
    ],
)
def test_what_counts_as_reading(source: str, found: set[str]) -> None:
    reads = reads_by_name([source])
    declared = {one.name: one for one in settings_of(Whole)}
    assert {name for name, one in declared.items() if is_read(one, reads.get(one.path[-1], []), Whole)} == found
