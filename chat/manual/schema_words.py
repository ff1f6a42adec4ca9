"""JSON schemas in words: what a member takes, in the way in which tables of the reference say it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from chat.manual.markdown_text import cell, link
from chat.manual.rendering import anchor_of

OBJECTS: Final = "api-objects"
"""The page of objects."""

REFERENCE: Final = "#/components/schemas/"

SNOWFLAKE_DIGITS: Final = "{0,18}"
"""In the pattern of every id."""

DEPTH: Final = 3
"""Objects within objects that a table shows; what lies deeper is told by its type alone."""

MANY: Final = 16
"""Values of an enumeration that are listed one by one."""

PLAIN: Final[Mapping[str, str]] = {
    "string": "text",
    "integer": "integer",
    "number": "number",
    "boolean": "boolean",
    "object": "object",
    "array": "list",
    "null": "null",
}

FORMATS: Final[Mapping[str, str]] = {
    "date-time": "moment",
    "date": "day",
    "uri": "address",
    "uri-reference": "address",
    "email": "mail address",
}

Schema = Mapping[str, Any]


def shown_type(schema: Schema) -> str:
    """What a value of this schema is, with links to the objects of the reference."""
    if "$ref" in schema:
        name = str(schema["$ref"]).removeprefix(REFERENCE)
        return "object" if name.endswith("Body") else link(name, OBJECTS, anchor_of(name))
    if "const" in schema:
        return f"`{_literal(schema['const'])}`"
    if "enum" in schema:
        return _enumeration(schema["enum"])
    for word in ("anyOf", "oneOf"):
        if word in schema:
            return _alternatives(schema[word])
    kinds = schema.get("type", ())
    names = [kinds] if isinstance(kinds, str) else list(kinds)
    shown = [_of_kind(kind, schema) for kind in names if kind != "null"]
    return " or ".join([*shown, *(["null"] if "null" in names else [])]) or "anything"


def members(document: Mapping[str, Any], schema: Schema, ahead: str = "", depth: int = 0) -> Iterator[list[str]]:
    """Rows of name, type and meaning for the members of an object, those within it behind their own."""
    declared = _resolved(document, schema) if depth == 0 or _is_body(schema) else schema
    if "items" in declared and "properties" not in declared:
        yield from members(document, declared["items"], ahead or "[].", depth)
        return
    for word in ("anyOf", "oneOf"):
        for choice in declared.get(word, ()):
            yield from members(document, choice, ahead, depth)
    required = declared.get("required", ())
    for name, member in declared.get("properties", {}).items():
        kind = shown_type(member) + ("" if name in required else ", optional")
        yield [f"`{ahead}{name}`", kind, cell(member.get("description", ""))]
        if depth < DEPTH:
            yield from _within(document, member, f"{ahead}{name}", depth + 1)


def objects_in(value: Any, schemas: Mapping[str, Schema]) -> set[str]:
    """Names of the objects that something refers to, and of those within them."""
    found: set[str] = set()
    left = [value]
    while left:
        one = left.pop()
        if isinstance(one, Mapping):
            reference = one.get("$ref")
            if isinstance(reference, str) and reference.startswith(REFERENCE):
                name = reference.removeprefix(REFERENCE)
                if name not in found:
                    found.add(name)
                    left.append(schemas[name])
            left.extend(one.values())
        elif isinstance(one, list):
            left.extend(one)
    return found


def _within(document: Mapping[str, Any], member: Schema, ahead: str, depth: int) -> Iterator[list[str]]:
    """The members of an object that a member holds itself; objects of the reference have their own table."""
    for choice in (member, *member.get("anyOf", ()), *member.get("oneOf", ())):
        inner = choice.get("items", choice)
        dots = f"{ahead}[]." if "items" in choice else f"{ahead}."
        if "properties" in inner or _is_body(inner):
            yield from members(document, inner, dots, depth)
        further = inner.get("additionalProperties")
        if isinstance(further, Mapping) and "properties" in further:
            yield from members(document, further, f"{ahead}.*.", depth)


def _is_body(schema: Schema) -> bool:
    return str(schema.get("$ref", "")).endswith("Body")


def _resolved(document: Mapping[str, Any], schema: Schema) -> Schema:
    if "$ref" not in schema:
        return schema
    found: Schema = document["components"]["schemas"][str(schema["$ref"]).removeprefix(REFERENCE)]
    return found


def _alternatives(choices: Sequence[Schema]) -> str:
    shown = list(dict.fromkeys(shown_type(choice) for choice in choices))
    if "snowflake" in shown:  # an id is taken as a number too
        shown = [one for one in shown if not one.startswith("integer")]
    return " or ".join([*(one for one in shown if one != "null"), *(["null"] if "null" in shown else [])])


def _enumeration(values: Sequence[Any]) -> str:
    named = [value for value in values if value is not None]
    listed = ", ".join(f"`{_literal(value)}`" for value in named[:MANY])
    more = f" and {len(named) - MANY} more" if len(named) > MANY else ""
    return f"{listed}{more}" + (" or null" if None in values else "")


def _literal(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _of_kind(kind: str, schema: Schema) -> str:
    if kind == "array":
        inner = schema.get("items", {})
        bound = f", at most {schema['maxItems']:,}" if "maxItems" in schema else ""
        return f"list of {shown_type(inner)}{bound}" if inner else f"list{bound}"
    if kind == "object" and isinstance(schema.get("additionalProperties"), Mapping):
        return f"object of {shown_type(schema['additionalProperties'])} by name"
    if kind == "string":
        return _text(schema)
    if kind in {"integer", "number"}:
        return PLAIN[kind] + _range(schema)
    return PLAIN[kind]


def _text(schema: Schema) -> str:
    if SNOWFLAKE_DIGITS in schema.get("pattern", ""):
        return "snowflake"
    if schema.get("format") in FORMATS:
        return FORMATS[schema["format"]]
    least, most = schema.get("minLength"), schema.get("maxLength")
    if least and most:
        return f"text of {least:,} to {most:,} characters" if least != most else f"text of {most:,} characters"
    return f"text of at most {most:,} characters" if most else "text"


def _range(schema: Schema) -> str:
    least, most = schema.get("minimum"), schema.get("maximum")
    if least is not None and most is not None:
        return f" from {least:,} to {most:,}"
    return f" of at least {least:,}" if least else ""
