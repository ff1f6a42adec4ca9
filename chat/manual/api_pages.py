"""The reference of the HTTP API, made of the OpenAPI document: a page for each family of operations, one of objects.

What a page says stands in the declarations of the operations, so it cannot differ from what the server does.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final

from chat.api.openapi.document import families
from chat.api.openapi.errors import EVERYWHERE, OTHER
from chat.api.rate_limit import GLOBAL
from chat.api.schemas.shapes import JSON
from chat.manual.library import PageSource
from chat.manual.markdown_text import cell, link, table
from chat.manual.rendering import anchor_of
from chat.manual.schema_words import OBJECTS, members, objects_in, shown_type
from chat.registries.error_codes import ErrorCode, FieldCode
from chat.web.manual import PageEntry

PART: Final = "HTTP API by subject"
ERRORS: Final = "api-errors"
BUCKETS: Final = "api-limits"

METHODS: Final = ("get", "post", "put", "patch", "delete")

CREDENTIALS: Final[Mapping[str, str]] = {
    "session": "a session token",
    "bot": "a bot token",
    "adminKey": "an admin key",
    "oauth2Client": "the application's id and secret",
    "oauth2": "an access token",
}

MANY_OPERATIONS: Final = 40
"""A code that more operations have is not listed with each of them."""

EXAMPLE: Final = json.dumps(
    {
        "code": ErrorCode.INVALID_FORM_BODY,
        "message": ErrorCode.INVALID_FORM_BODY.message,
        "errors": [
            {"path": "name", "code": FieldCode.INVALID_FORMAT, "message": FieldCode.INVALID_FORMAT.message},
        ],
    },
    indent=2,
)

ABOUT_ERRORS: Final = f"""\
# Errors

A refusal is an object with a `code` for programs and a `message` for people:

```json
{EXAMPLE}
```

Programs read `code`, which stays; texts may change. `errors` names the fields of a body that are wrong. A refusal with
429 says in `retry_after` and in the header `Retry-After` how many seconds to wait.

Any request may get one of these, so they do not stand with each operation:
{", ".join(f"`{one}`" for one in EVERYWHERE)}.

## Codes of answers"""

ABOUT_BUCKETS: Final = f"""\
# Request limits

A request counts in the bucket of its operation and in one of all requests of its caller: {GLOBAL.limit} in
{GLOBAL.window_ms / 1_000:g} s. What a bucket counts by besides the caller stands with each operation. A caller that
goes over a limit gets 429 with the code `RATE_LIMITED`, `retry_after` in seconds, and the header `Retry-After`. Bots
are told with each answer how a bucket stands:

| header | meaning |
|---|---|
| `X-RateLimit-Limit` | requests that the bucket holds |
| `X-RateLimit-Remaining` | requests that would pass now |
| `X-RateLimit-Reset` | Unix seconds at which it is empty |
| `X-RateLimit-Reset-After` | seconds until it is empty |
| `X-RateLimit-Bucket` | the bucket's name on the wire |
| `X-RateLimit-Scope` | with a refusal: `user`, `global` or `shared` |

`chat dev` has no limits unless `rate_limits = true` asks for them."""

Document = Mapping[str, Any]


def api_sources(document: Callable[[], Document]) -> list[PageSource]:
    """The pages of the document, in the order of its tags. It is made when the first of them is rendered."""
    pages = [_family(document, tag, family["about"]) for tag, family in families().items()]
    return [
        *pages,
        PageSource(PageEntry(OBJECTS, "Objects"), lambda: _objects_page(document())),
        PageSource(PageEntry(ERRORS, "Errors"), lambda: _errors_page(document())),
        PageSource(PageEntry(BUCKETS, "Request limits"), lambda: _buckets_page(document())),
    ]


def page_name(tag: str) -> str:
    """The name of a family's page."""
    return f"api-{anchor_of(tag)}"


def _family(document: Callable[[], Document], tag: str, about: str) -> PageSource:
    return PageSource(PageEntry(page_name(tag), tag), lambda: _family_page(document(), tag, about))


def _family_page(document: Document, tag: str, about: str) -> str:
    parts = [f"# {tag}", cell(about)]
    for method, path, operation in operations_of(document, tag):
        parts.append(_operation(document, method, path, operation))
    return "\n\n".join(parts) + "\n"


def operations_of(document: Document, tag: str) -> Iterator[tuple[str, str, Mapping[str, Any]]]:
    """Method, path and operation of everything below a tag."""
    for path, item in document["paths"].items():
        for method in METHODS:
            if method in item and item[method]["tags"] == [tag]:
                yield method.upper(), path, item[method]


def _operation(document: Document, method: str, path: str, operation: Mapping[str, Any]) -> str:
    summary = operation["summary"].removesuffix(".")
    parts = [f"## {method} {path}", f"{cell(summary)}."]
    if "description" in operation:
        parts.append(cell(operation["description"]))
    parts.append("\n".join(f"- {line}" for line in _conditions(operation)))
    parameters = operation.get("parameters", ())
    if parameters:
        rows = ([f"`{one['name']}`", one["in"], _parameter_type(one), cell(one["description"])] for one in parameters)
        parts.append(table(("parameter", "in", "takes", "meaning"), rows))
    parts += _body(document, operation)
    parts += _answers(document, operation)
    return "\n\n".join(part for part in parts if part)


def _conditions(operation: Mapping[str, Any]) -> Iterator[str]:
    yield f"Credential: {_credential(operation['security'])}."
    if "x-acls" in operation:
        needed = " and ".join(" or ".join(f"`{acl}`" for acl in one) for one in operation["x-acls"])
        yield f"Administrative right: {needed}."
    limit = operation.get("x-rate-limit")
    if limit is not None:
        counted = "".join(f", counted by `{name}`" for name in limit["counted_by"])
        seconds = limit["window_ms"] / 1_000
        yield f"Limit: {limit['limit']:,} in {seconds:g} s, bucket `{limit['name']}`{counted}."
    yield f"Name in the OpenAPI document: `{operation['operationId']}`."


def _credential(security: Sequence[Mapping[str, Sequence[str]]]) -> str:
    ways = []
    for requirement in security:
        if not requirement:
            ways.append("none")
        for name, scopes in requirement.items():
            with_scopes = f" with the scope {' and '.join(f'`{scope}`' for scope in scopes)}" if scopes else ""
            ways.append(CREDENTIALS[name] + with_scopes)
    return ", ".join(ways[:-1]) + (" or " if len(ways) > 1 else "") + ways[-1] if ways else "none"


def _parameter_type(parameter: Mapping[str, Any]) -> str:
    needed = parameter.get("required", False)
    return shown_type(parameter["schema"]) + ("" if needed or parameter["in"] == "header" else ", optional")


def _body(document: Document, operation: Mapping[str, Any]) -> Iterator[str]:
    body = operation.get("requestBody")
    if body is None:
        return
    media_types = ", ".join(f"`{name}`" for name in body["content"])
    yield f"**Body:** {media_types}. " + ("It is required." if body.get("required") else "It may be left out.")
    schema = next(iter(body["content"].values()))["schema"]
    yield _members_table(document, schema) or f"The body is {shown_type(schema)}."


def _members_table(document: Document, schema: Mapping[str, Any]) -> str:
    rows = list(members(document, schema))
    return table(("member", "takes", "meaning"), rows) if rows else ""


def _answers(document: Document, operation: Mapping[str, Any]) -> Iterator[str]:
    good = [
        [status, _answer_type(response), cell(response.get("description", ""))]
        for status, response in operation["responses"].items()
        if status != "default" and int(status) < 400
    ]
    bad = [
        [status, ", ".join(link(f"`{code}`", ERRORS, anchor_of(code)) for code in codes)]
        for status, codes in _refusals(operation).items()
        if codes
    ]
    if good:
        yield table(("status", "answer", "what it is"), good)
    for response in operation["responses"].values():
        schema = response.get("content", {}).get(JSON, {}).get("schema", {})
        rows = list(members(document, schema)) if "$ref" not in schema and "properties" in _inner(schema) else []
        if rows and not any(code in str(schema) for code in ("#/components/schemas/Error", "OAuth2Error")):
            yield table(("member of the answer", "holds", "meaning"), rows)
    if bad:
        yield table(("refusal", "codes"), bad)


def _answer_type(response: Mapping[str, Any]) -> str:
    content = response.get("content", {})
    return (
        "; ".join(shown_type(one["schema"]) if name == JSON else f"`{name}`" for name, one in content.items())
        or "no body"
    )


def _objects_page(document: Document) -> str:
    schemas = document["components"]["schemas"]
    answered = objects_in({path: _without_bodies(item) for path, item in document["paths"].items()}, schemas)
    parts = [
        "# Objects",
        "Objects that answers are made of. A member that is `optional` may be absent; any other is always there. "
        "The bodies of requests stand with their operations.",
    ]
    for name in sorted(answered | {"Error"}):
        schema = schemas[name]
        rows = list(members(document, schema))
        parts.append(f"## {name}")
        if schema.get("description"):
            parts.append(cell(schema["description"]))
        parts.append(table(("member", "holds", "meaning"), rows) if rows else f"It is {shown_type(schema)}.")
    return "\n\n".join(parts) + "\n"


def _errors_page(document: Document) -> str:
    """Every code of the API with the operations that refuse with it."""
    by_code: dict[str, list[str]] = defaultdict(list)
    for tag in document["tags"]:
        for method, path, operation in operations_of(document, tag["name"]):
            for codes in _refusals(operation).values():
                for code in codes:
                    by_code[code].append(_link(tag["name"], method, path))
    parts = [ABOUT_ERRORS]
    for code in sorted(ErrorCode):
        places = by_code.get(code, [])
        told = f"{len(places)} operations." if len(places) > MANY_OPERATIONS else ", ".join(places)
        parts.append(f"### {code}\n\n{code.status}. {cell(code.message)}" + (f"\n\n{told}" if told else ""))
    fields = ([f"`{code}`", cell(code.message)] for code in FieldCode)
    parts.append(f"## Codes of fields\n\n{table(('code', 'default text'), fields)}")
    return "\n\n".join(parts) + "\n"


def _buckets_page(document: Document) -> str:
    """Every bucket with the operations that count in it."""
    buckets: dict[str, tuple[Mapping[str, Any], list[str]]] = {}
    for tag in document["tags"]:
        for method, path, operation in operations_of(document, tag["name"]):
            limit = operation.get("x-rate-limit")
            if limit is not None:
                buckets.setdefault(limit["name"], (limit, []))[1].append(_link(tag["name"], method, path))
    rows = (
        [f"`{name}`", f"{limit['limit']:,}", f"{limit['window_ms'] / 1_000:g} s", ", ".join(places)]
        for name, (limit, places) in sorted(buckets.items())
    )
    return f"{ABOUT_BUCKETS}\n\n{table(('bucket', 'requests', 'in', 'operations'), rows)}\n"


def _refusals(operation: Mapping[str, Any]) -> dict[str, list[str]]:
    """Codes by status, without those that any request may get."""
    found = {}
    for status, response in operation["responses"].items():
        if status != "default" and int(status) >= 400:
            codes = response.get("x-codes") or [str(response.get("$ref", "")).rpartition("/")[2]]
            found[status] = [code for code in codes if code and code not in EVERYWHERE and code != OTHER]
    return found


def _inner(schema: Mapping[str, Any]) -> Mapping[str, Any]:
    inner: Mapping[str, Any] = schema.get("items", schema)
    return inner


def _link(tag: str, method: str, path: str) -> str:
    return link(f"{method} {cell(path)}", page_name(tag), anchor_of(f"{method} {path}"))


def _without_bodies(item: Mapping[str, Any]) -> Any:
    return {method: operation["responses"] for method, operation in item.items() if method in METHODS}
