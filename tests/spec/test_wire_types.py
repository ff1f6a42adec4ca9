"""The contract of the wire stays in `chat/wire`: how far types reach is counted, and may only get better."""

from __future__ import annotations

import ast
import functools
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Final, is_typeddict

import pytest

from chat import wire
from chat.api.schemas.declared import members_of, object_shape

ROOT: Final = Path(__file__).parents[2]
LOOSE: Final = "dict[str, Any]"

LOOSE_MOST: Final = 31
"""Lines of `chat` with `dict[str, Any]`. What stays: documents of JSON Schema, JSON of strangers that is walked,
columns and options that go into a call. Lower the number with each that gets a type."""

REASON: Final = "# `dict[str, Any]`: "
"""How a comment begins that says why the line below it has the type."""


def modules() -> Iterator[Path]:
    return (path for path in sorted((ROOT / "chat").rglob("*.py")))


@functools.cache
def text_of(path: Path) -> list[str]:
    """The lines of a module."""
    return path.read_text(encoding="utf-8").splitlines()


def declared() -> Iterator[tuple[str, str, type]]:
    """Every object: its module, its name and the class."""
    for module in wire.MODULES:
        tree = ast.parse((ROOT / "chat" / "wire" / f"{module}.py").read_text(encoding="utf-8"))
        for node in tree.body:
            if isinstance(node, ast.ClassDef) and is_typeddict(getattr(wire, node.name)):
                yield module, node.name, getattr(wire, node.name)


def loose_lines(lines: list[str]) -> Iterator[int]:
    """The numbers of the lines whose code has the type, from 0."""
    return (number for number, line in enumerate(lines) if LOOSE in line.partition("#")[0])


def has_reason(lines: list[str], number: int) -> bool:
    """A comment on the line, a comment with REASON above it, or the text below a name for the type."""
    names_it = lines[number].endswith(f" = {LOOSE}") and lines[number + 1].startswith('"""')
    return names_it or "  # " in lines[number] or lines[number - 1].strip().startswith(REASON)


def test_loose_types_only_go() -> None:
    counted = Counter({str(path.relative_to(ROOT)): len(list(loose_lines(text_of(path)))) for path in modules()})
    most = counted.most_common(10)
    assert counted.total() <= LOOSE_MOST, f"give what is new a type of chat/wire; most stand in {most}"


def test_each_loose_type_has_its_reason() -> None:
    bare = [
        f"{path.relative_to(ROOT)}:{number + 1}"
        for path in modules()
        for number in loose_lines(text_of(path))
        if not has_reason(text_of(path), number)
    ]
    assert bare == [], f"give it a type of chat/wire, or say why there is none, above it behind {REASON!r}"


@pytest.mark.parametrize(
    ("lines", "reasons"),
    [
        (["", "root: dict[str, Any] = {}"], [False]),
        (["", "root: dict[str, Any] = {}  # a tree of any depth"], [True]),
        (["# What it is.", "def root() -> dict[str, Any]:"], [False]),
        (["# `dict[str, Any]`: a tree of any depth.", "def root() -> dict[str, Any]:"], [True]),
        (["", "Tree = dict[str, Any]", ""], [False]),
        (["", "Tree = dict[str, Any]", '"""Of any depth."""'], [True]),
    ],
)
def test_a_reason_is_known(lines: list[str], reasons: list[bool]) -> None:
    assert [has_reason(lines, number) for number in loose_lines(lines)] == reasons


def test_handlers_say_what_they_return() -> None:
    untold = [
        f"{path.relative_to(ROOT)}: {node.name}"
        for folder in ("api/routes", "admin/routes", "compat", "development")
        for path in (ROOT / "chat" / folder).rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.AsyncFunctionDef) and node.decorator_list and node.returns is not None
        if ast.unparse(node.returns) in {"object", "Any"}
    ]
    assert untold == []


def test_nothing_asks_for_a_declaration_at_run_time() -> None:
    """That would import all of them, in whichever request is the first: `cast` takes the name in quotes."""
    asking = [
        f"{path.relative_to(ROOT)}:{number}"
        for path in modules()
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        if "cast(wire." in line or "cast(list[wire." in line
    ]
    assert asking == []


def test_each_object_has_a_name_of_its_own() -> None:
    names = Counter(name for _, name, _ in declared())
    assert [name for name, count in names.items() if count > 1] == []


def test_each_object_can_be_read() -> None:
    """Each declaration has a shape, though nothing may ask for it: a word that the documents do not know fails here."""
    for module, name, kind in declared():
        if getattr(kind, "__parameters__", ()):  # a base, whose kind those that are made of it say
            continue
        shape = object_shape(kind)
        assert shape.members.keys() | shape.optional.keys() == members_of(kind).keys(), f"{module}.{name}"
