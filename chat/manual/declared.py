"""What declarations say of themselves: the texts below the members of enumerations and below constants.

No object has them while the program runs, so they are read from the source, which every package brings for these
modules (`.ci/binary/chat.spec`).
"""

from __future__ import annotations

import ast
import enum
import inspect
import itertools
import types
from collections.abc import Iterator, Mapping

from chat.api.openapi.inputs import told


def documented(module: types.ModuleType) -> dict[str, dict[str, str]]:
    """The texts below the assignments of a module (under "") and of each of its classes, by name."""
    tree = ast.parse(inspect.getsource(module))
    found = {"": _texts_below(tree.body)}
    for node in tree.body:
        if isinstance(node, ast.ClassDef):
            found[node.name] = _texts_below(node.body)
    return found


def _texts_below(body: list[ast.stmt]) -> dict[str, str]:
    texts = {}
    for statement, following in itertools.pairwise(body):
        target = statement.targets[0] if isinstance(statement, ast.Assign) else getattr(statement, "target", None)
        if (
            isinstance(target, ast.Name)
            and isinstance(following, ast.Expr)
            and isinstance(following.value, ast.Constant)
            and isinstance(following.value.value, str)
        ):
            texts[target.id] = plain(following.value.value)
    return texts


def members(registry: enum.EnumMeta, texts: Mapping[str, str]) -> Iterator[list[str]]:
    """Rows of value, name and meaning."""
    for member in registry:  # type: ignore[var-annotated]
        value = member.value
        text = f"1 << {value.bit_length() - 1}" if isinstance(member, enum.Flag) and value else str(value)
        yield [text, f"`{member.name}`", texts.get(member.name, "")]


def plain(text: str) -> str:
    """A docstring in one line, without its citations and without its last full stop."""
    return ". ".join(part for part in told(text) if part).removesuffix(".")
