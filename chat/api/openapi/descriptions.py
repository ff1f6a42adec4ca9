"""What every property and every parameter means, in a sentence of `descriptions.json`.

Most names mean the same wherever they stand, so they have one sentence: `members` holds it by the name. `of_objects`
has a better one where an object means something of its own, by the way to it (`Discovery.sso.enabled`), and
`parameters` has those of paths and queries.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from chat.api.fields import Schema

FILE: Final = Path(__file__).with_name("descriptions.json")

NO_DESCRIPTION: Final = ""


@functools.cache
def descriptions() -> Mapping[str, Mapping[str, str]]:
    """The sentences."""
    found: dict[str, dict[str, str]] = json.loads(FILE.read_text(encoding="utf-8"))
    return found


def of_member(name: str, places: Sequence[str]) -> str:
    """The meaning of a member of the object to which `places` lead (`Discovery`, `sso`); empty if it has no
    sentence."""
    known = descriptions()
    special = known["of_objects"].get(".".join((*places, name)))
    return special or known["members"].get(name, NO_DESCRIPTION)


def of_parameter(name: str) -> str:
    """The meaning of a parameter of a path or a query."""
    known = descriptions()
    return known["parameters"].get(name) or known["members"].get(name, NO_DESCRIPTION)


def describe(schema: Any, places: Sequence[str] = ()) -> Any:
    """The schema with a description at every property that has none, in all objects within it."""
    if isinstance(schema, list):
        return [describe(item, places) for item in schema]
    if not isinstance(schema, dict):
        return schema
    written = {word: value if word == "properties" else describe(value, places) for word, value in schema.items()}
    if isinstance(schema.get("properties"), dict):
        written["properties"] = {
            name: _described(member, name, places) for name, member in schema["properties"].items()
        }
    return written


def _described(member: Schema, name: str, places: Sequence[str]) -> Schema:
    inner: Schema = describe(member, (*places, name))
    return inner if inner.get("description") else {**inner, "description": of_member(name, places)}
