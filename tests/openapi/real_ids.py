"""Hooks of Schemathesis: most of the ids that it makes up become ids that there are.

Loaded by the tool itself (SCHEMATHESIS_HOOKS). The environment names a file with the ids by the names of path members,
query parameters and members of bodies: `known` ones, and `doomed` ones for the end of the path of a DELETE, so that
what all others need stays. Which one is taken follows from the turn, so that a run can be repeated.
"""

from __future__ import annotations

import itertools
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
"""One id in this many stays as it was made up."""

_ids: dict[str, dict[str, list[str]]] = json.loads(Path(os.environ[FILE]).read_text(encoding="utf-8"))
_turns = itertools.count()


def real(name: str, value: Any, kind: str = "known") -> Any:
    """A value in place of one that was made up."""
    choices = _ids[kind].get(name)
    if not choices:
        return value
    drawn = zlib.crc32(f"{name} {next(_turns)}".encode())
    return value if drawn % MADE_UP == 0 else choices[drawn // MADE_UP % len(choices)]


def _members(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {
            name: real(name, member) if isinstance(member, str | int) else _members(member)
            for name, member in value.items()
        }
    return [_members(item) for item in value] if isinstance(value, list) else value


@schemathesis.hook
def before_call(_context: HookContext, case: schemathesis.Case, **_: Any) -> None:
    """In every phase, just before the request leaves."""
    deletes = case.operation.method.lower() == "delete"
    case.path_parameters = {
        name: real(name, value, "doomed" if deletes and case.operation.path.endswith(f"{{{name}}}") else "known")
        for name, value in (case.path_parameters or {}).items()
    }
    case.query = _members(case.query or {})
    case.body = _members(case.body)
