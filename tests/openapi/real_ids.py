"""Hooks of Schemathesis: most of the ids that it makes up become ids that there are.

Loaded by the tool itself (SCHEMATHESIS_HOOKS). The environment names a file with the ids by the names of path members,
query parameters and members of bodies: `known` ones, and `doomed` ones for the end of the path of a DELETE, so that
what all others need stays. Which one is taken follows from what was made up, so that a run can be repeated.
"""

from __future__ import annotations

import json
import os
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import schemathesis
from schemathesis import HookContext

FILE = "CHAT_REAL_IDS"
MADE_UP = 6
"""One of so many stays as it was made up."""

_ids: dict[str, dict[str, list[str]]] = json.loads(Path(os.environ[FILE]).read_text(encoding="utf-8"))


def real(name: str, value: Any, kind: str = "known") -> Any:
    """A value in the place of one that was made up."""
    choices = _ids[kind].get(name)
    if not choices:
        return value
    drawn = zlib.crc32(f"{name} {value!r}".encode("utf-8", "surrogatepass"))
    return value if drawn % MADE_UP == 0 else choices[drawn // MADE_UP % len(choices)]


def _members(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {
            name: real(name, member) if isinstance(member, str | int) else _members(member)
            for name, member in value.items()
        }
    return [_members(item) for item in value] if isinstance(value, list) else value


@schemathesis.hook
def map_path_parameters(context: HookContext, path_parameters: dict[str, Any] | None) -> dict[str, Any] | None:
    operation = context.operation
    if path_parameters is None or operation is None:
        return path_parameters
    deletes = operation.method.lower() == "delete"
    return {
        name: real(name, value, "doomed" if deletes and operation.path.endswith(f"{{{name}}}") else "known")
        for name, value in path_parameters.items()
    }


@schemathesis.hook
def map_query(_context: HookContext, query: dict[str, Any] | None) -> dict[str, Any] | None:
    return None if query is None else _members(query)


@schemathesis.hook
def map_body(_context: HookContext, body: Any) -> Any:
    return _members(body)
