"""The wire as types for TypeScript's compiler: `wire.d.ts`. The HTTP API is made from the OpenAPI document, the
gateway's `Events` from what each row of `EVENTS` carries.

A module of the browser names a type of it as `import("wire").Message`. `Answers` and `Bodies` have a member for each
operation, named by its method and path with `{}` in place of each parameter; `Answer` and `Body` find it for the path
that a call is written with, be it a template.

`python -m tests.web.client.wire` writes it where editors find it; the test of the types does so by itself.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from chat import wire
from chat.admin.routes import ADMIN_ROUTES
from chat.api.openapi.document import openapi_document
from chat.api.routes.every import ROUTES
from chat.api.schemas.declared import shape_of
from chat.api.schemas.shapes import Components
from chat.registries.event_rules import EVENTS

FILE: Final = Path(__file__).parent / "typescript" / "made" / "wire.d.ts"

PLACE: Final = "#/components/schemas/"
BODY: Final = "Body"

PRIMITIVES: Final[Mapping[str, str]] = {
    "string": "string",
    "integer": "number",
    "number": "number",
    "boolean": "boolean",
    "null": "null",
    "object": "{[member: string]: unknown}",
}

CALLS: Final = """
type Hole<Part extends string> = string extends Part ? "{}" : Part extends `{${string}}` ? "{}" : Part;
type Named<Path extends string> = Path extends `${infer Before}?${string}`
  ? Named<Before>
  : Path extends `${infer First}/${infer Rest}`
    ? `${Hole<First>}/${Named<Rest>}`
    : Hole<Path>;

type Keys<Union> = Union extends unknown ? keyof Union : never;
type Value<Union, Key> = Union extends unknown ? (Key extends keyof Union ? Union[Key] : never) : never;

/** Objects of several kinds as one: what not all of them have may be missing. */
export type AnyOf<Union> = Pick<Union, keyof Union> & {
  [Key in Exclude<Keys<Union>, keyof Union>]?: Value<Union, Key>;
};

/** What the operation of this method and path answers; where the path is any text, nobody knows. */
export type Answer<Method extends string, Path extends string> = string extends Path
  ? unknown
  : `${Method} ${Named<Path>}` extends keyof Answers
    ? Answers[`${Method} ${Named<Path>}`]
    : { "no such operation": Path };

/** What it takes. */
export type Body<Method extends string, Path extends string> = string extends Path
  ? unknown
  : `${Method} ${Named<Path>}` extends keyof Bodies
    ? Bodies[`${Method} ${Named<Path>}`]
    : undefined;
"""


def declarations(document: Mapping[str, Any]) -> str:
    """The text of `wire.d.ts`."""
    schemas = document["components"]["schemas"]
    lines = [f"export type {name} = {typed(schema)};" for name, schema in sorted(schemas.items())]
    components = Components()
    events = {
        str(name): typed(components.written(shape_of(getattr(wire, rule.carries)))) for name, rule in EVENTS.items()
    }
    answers, bodies = {}, {}
    for path, operations in document["paths"].items():
        for method, operation in operations.items():
            name = f"{method.upper()} {re.sub(r'{[^}]*}', '{}', path)}"
            answers[name] = " | ".join(dict.fromkeys(_answers(operation))) or "null"
            body = operation.get("requestBody", {}).get("content", {}).get("application/json", {}).get("schema")
            if body is not None:
                bodies[name] = typed(body)
    lines += [f"export type {name} = {typed(schema)};" for name, schema in _only_in_events(schemas, components)]
    tables = [*_table("Answers", answers), *_table("Bodies", bodies), *_table("Events", events)]
    return "\n".join([*lines, *tables, CALLS])


def _only_in_events(schemas: Mapping[str, Any], components: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """The objects that no operation answers with."""
    return ((name, schema) for name, schema in sorted(components.items()) if name not in schemas)


def _table(name: str, rows: Mapping[str, str]) -> Iterator[str]:
    yield f"export interface {name} {{"
    for key, value in sorted(rows.items()):
        yield f"  {json.dumps(key)}: {value};"
    yield "}"


def _answers(operation: Mapping[str, Any]) -> Iterator[str]:
    for status, answer in operation["responses"].items():
        if status.startswith("2"):
            schema = answer.get("content", {}).get("application/json", {}).get("schema")
            yield "null" if schema is None else typed(schema)


def typed(schema: Mapping[str, Any]) -> str:
    """A JSON schema as a type: what only bounds a value is left out."""
    if "$ref" in schema:
        return str(schema["$ref"]).removeprefix(PLACE)
    if "const" in schema:
        return json.dumps(schema["const"])
    if "enum" in schema:
        return " | ".join(json.dumps(value) for value in schema["enum"])
    if "anyOf" in schema:
        return f"({' | '.join(dict.fromkeys(typed(one) for one in schema['anyOf']))})"
    if "allOf" in schema:
        own = [_object(schema)] if "properties" in schema else []
        return f"({' & '.join([*(typed(one) for one in schema['allOf']), *own])})"
    kinds = schema.get("type", ())
    return " | ".join(_kind(kind, schema) for kind in ([kinds] if isinstance(kinds, str) else kinds)) or "unknown"


def _kind(kind: str, schema: Mapping[str, Any]) -> str:
    if kind == "array":
        return f"({typed(schema.get('items', {}))})[]"
    return _object(schema) if kind == "object" else PRIMITIVES[kind]


def _object(schema: Mapping[str, Any]) -> str:
    others = schema.get("additionalProperties")
    if "properties" not in schema:
        return f"{{[member: string]: {typed(others)}}}" if isinstance(others, dict) else PRIMITIVES["object"]
    required = schema.get("required", ())
    members = (
        f"{json.dumps(name)}{'' if name in required else '?'}: {typed(member)}"
        for name, member in schema["properties"].items()
    )
    return f"{{{'; '.join(members)}}}"


def write() -> Path:
    """Make the file. Another process may read it meanwhile: it is there whole, or as it was."""
    text = declarations(openapi_document([*ROUTES, *ADMIN_ROUTES], ""))
    FILE.parent.mkdir(exist_ok=True)
    new = FILE.with_suffix(f".{os.getpid()}")
    new.write_text(text, encoding="utf-8")
    new.replace(FILE)
    return FILE


if __name__ == "__main__":
    print(write())
