"""All that the API declares: every wire object by its name, and the JSON body of every operation.

They follow the declarations from which the OpenAPI document is made, so that there is a strategy for all there is. What
comes out has the declared shape; whether it makes sense (whether an id leads anywhere) is not promised. Strategies
that promise more stand in the other modules.

    wire_objects("Message")
    request_bodies("POST /v1/channels/{channel_id}/threads")
"""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping
from typing import Any, Final

from hypothesis import strategies as st

from chat.testing.strategies.values import json_values, timestamps

Schema = Mapping[str, Any]

ORIGIN: Final = "http://127.0.0.1"
REFERENCE: Final = "#/components/schemas/"
JSON: Final = "application/json"

ITEMS: Final = 3
"""Items of a list that has no bounds, and members of an object whose names are free."""

WHOLE_NUMBERS: Final = 2**53 - 1
"""What every JSON reader holds exactly."""


def object_names() -> tuple[str, ...]:
    """The names of everything that answers and bodies are made of."""
    return tuple(sorted(document()["components"]["schemas"]))


def operations_with_bodies() -> tuple[str, ...]:
    """Operations that take a JSON body, as in `POST /v1/guilds`."""
    return tuple(
        f"{method.upper()} {path}"
        for path, item in document()["paths"].items()
        for method, operation in item.items()
        if JSON in operation.get("requestBody", {}).get("content", {})
    )


def wire_objects(name: str) -> st.SearchStrategy[Any]:
    """Objects of one name, such as `Channel`, `Thread` or `VoiceState`; KeyError for an unknown name."""
    return of_schema(document()["components"]["schemas"][name])


def request_bodies(operation: str) -> st.SearchStrategy[Any]:
    """JSON bodies of one operation, named by method and path; KeyError where there is none."""
    method, _, path = operation.partition(" ")
    return of_schema(document()["paths"][path][method.lower()]["requestBody"]["content"][JSON]["schema"])


def of_schema(schema: Schema) -> st.SearchStrategy[Any]:
    """Values of a schema in which only those words of JSON Schema stand that the declarations use."""
    if "$ref" in schema:
        return _named(schema["$ref"].removeprefix(REFERENCE))
    if "const" in schema:
        return st.just(schema["const"])
    if "enum" in schema:
        return st.sampled_from(schema["enum"])
    if "anyOf" in schema:
        return st.one_of([of_schema(one) for one in schema["anyOf"]])
    kinds = schema.get("type")
    if kinds is None:
        return json_values()
    return st.one_of([_OF_KIND[kind](schema) for kind in ([kinds] if isinstance(kinds, str) else kinds)])


@functools.cache
def document() -> Mapping[str, Any]:
    """The OpenAPI document of every operation that any server has."""
    # Half a second that those do not pay who want a snowflake.
    from chat.admin.routes import ADMIN_ROUTES
    from chat.api.openapi.document import openapi_document
    from chat.api.routes.every import ROUTES

    return openapi_document((*ROUTES, *ADMIN_ROUTES), ORIGIN)


@functools.cache
def _named(name: str) -> st.SearchStrategy[Any]:
    """An object that others hold, and perhaps itself."""
    return st.deferred(lambda: wire_objects(name))


def _text(schema: Schema) -> st.SearchStrategy[str]:
    shortest, longest = schema.get("minLength", 0), schema.get("maxLength")
    known = {
        "date-time": timestamps(),
        "date": st.dates().map(str),
        "uri": st.just("https://example.org/"),
        "uri-reference": st.sampled_from(["https://example.org/picture.png", "/media/picture.png"]),
    }.get(schema.get("format", ""))
    if known is not None:
        return known
    if "pattern" not in schema:
        most = longest if longest is not None else max(shortest, 40)
        return st.text(st.characters(codec="utf-8"), min_size=shortest, max_size=min(most, shortest + 40))
    found = st.from_regex(re.compile(schema["pattern"], re.ASCII), fullmatch=True)
    most = len(schema["pattern"]) * 1_000 if longest is None else longest
    return found.filter(lambda text: shortest <= len(text) <= most and not text.endswith("\n"))


def _whole(schema: Schema) -> st.SearchStrategy[int]:
    return st.integers(schema.get("minimum", -WHOLE_NUMBERS), schema.get("maximum", WHOLE_NUMBERS))


def _number(schema: Schema) -> st.SearchStrategy[float]:
    return st.floats(schema.get("minimum"), schema.get("maximum"), allow_nan=False, allow_infinity=False)


def _list(schema: Schema) -> st.SearchStrategy[list[Any]]:
    fewest = schema.get("minItems", 0)
    most = min(schema.get("maxItems", fewest + ITEMS), fewest + ITEMS)
    return st.lists(of_schema(schema.get("items", {})), min_size=fewest, max_size=most)


def _object(schema: Schema) -> st.SearchStrategy[dict[str, object]]:
    properties = {name: of_schema(of) for name, of in schema.get("properties", {}).items()}
    required = set(schema.get("required", ()))
    named = st.fixed_dictionaries(
        {name: strategy for name, strategy in properties.items() if name in required},
        optional={name: strategy for name, strategy in properties.items() if name not in required},
    )
    more = schema.get("additionalProperties")
    if not isinstance(more, Mapping):
        return named  # bodies take unknown members, which say nothing
    names = _text(schema.get("propertyNames", {}))
    fewest = schema.get("minProperties", 0)
    most = min(schema.get("maxProperties", fewest + ITEMS), fewest + ITEMS)
    free = st.dictionaries(names, of_schema(more), min_size=fewest, max_size=most)
    return st.builds(lambda some, others: {**others, **some}, named, free)


_OF_KIND: Final = {
    "string": _text,
    "integer": _whole,
    "number": _number,
    "boolean": lambda _: st.booleans(),
    "null": lambda _: st.none(),
    "array": _list,
    "object": _object,
}
