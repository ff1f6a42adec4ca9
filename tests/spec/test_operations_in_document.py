"""Every operation is in the OpenAPI document, and nothing else is.

What a change to the routes has to bring along is asked for here, in words that say what is missing.
"""

from __future__ import annotations

import inspect
import json
from pathlib import Path
from typing import Any, Final

import pytest

from chat.admin.routes import ADMIN_ROUTES
from chat.api.openapi.document import families, openapi_document
from chat.api.openapi.errors import REFUSALS_FILE, name_of
from chat.api.operation import Operation
from chat.api.routes.every import ROUTES
from chat.registries.error_codes import ErrorCode

ORIGIN: Final = "https://chat.example"
OPERATIONS: Final = [operation for module in (*ROUTES, *ADMIN_ROUTES) for operation in module.operations]
METHODS: Final = ("get", "put", "post", "delete", "patch", "head", "options", "trace")


@pytest.fixture(scope="module")
def document() -> dict[str, Any]:
    return openapi_document([*ROUTES, *ADMIN_ROUTES], ORIGIN)


def test_every_operation_declares_what_it_answers() -> None:
    said = [operation.handler.__annotations__["return"] for operation in OPERATIONS]
    silent = [name_of(operation) for operation, what in zip(OPERATIONS, said, strict=True) if what in {"object", "Any"}]
    assert silent == [], "annotate the handler with what it returns, a type of chat/wire/"


def test_every_operation_has_a_name_of_its_own() -> None:
    named: dict[str, list[str]] = {}
    for operation in OPERATIONS:
        named.setdefault(operation.name, []).append(name_of(operation))
    doubled = {name: operations for name, operations in named.items() if len(operations) > 1}
    assert doubled == {}, "rename a handler, or declare `name=`"


def test_the_document_has_every_operation_and_no_other(document: dict[str, Any]) -> None:
    written = {
        f"{method.upper()} {path}": operation["operationId"]
        for path, item in document["paths"].items()
        for method, operation in item.items()
        if method in METHODS
    }
    assert written == {name_of(operation): operation.name for operation in OPERATIONS}


def test_a_family_names_operations_that_there_are_each_once(document: dict[str, Any]) -> None:
    named = [operation for family in families().values() for operation in family["operations"]]
    assert sorted(named) == sorted(set(named) & {operation.name for operation in OPERATIONS})
    tags = {tag["name"] for tag in document["tags"]}
    assert families().keys() <= tags, "an entry of families.json that no operation belongs to"
    assert all(family["about"].endswith(".") for family in families().values())


@pytest.mark.parametrize("operation", OPERATIONS, ids=name_of)
def test_an_operation_tells_everything_that_it_declares(operation: Operation, document: dict[str, Any]) -> None:
    written = document["paths"][operation.path][operation.method.lower()]
    assert written["summary"], "the handler has no docstring"
    parameters = written.get("parameters", [])
    assert [parameter["name"] for parameter in parameters if parameter["in"] == "path"] == [*operation.path_members]
    assert all(parameter["required"] for parameter in parameters if parameter["in"] == "path")
    assert ("requestBody" in written) == (
        operation.body is not None or operation.form is not None or operation.streamed
    ), "a streamed operation declares `accepts=`"
    if operation.multipart:
        assert "multipart/form-data" in written["requestBody"]["content"]
    assert ("x-rate-limit" in written) == (operation.bucket is not None)
    if operation.bucket is not None:
        limit = written["x-rate-limit"]
        assert (limit["limit"], limit["window_ms"]) == (operation.bucket.limit, operation.bucket.window_ms)
    assert [{*alternatives} for alternatives in written.get("x-acls", [])] == [{*acls} for acls in operation.acls]
    assert {"429", "500", "503"} <= written["responses"].keys()
    assert any(status < "4" for status in written["responses"])
    assert "default" in written["responses"]
    scopes = [scope for requirement in written["security"] for scope in requirement.get("oauth2", [])]
    if operation.scope is not None:
        assert scopes == [operation.scope.value]


def test_references_lead_somewhere(document: dict[str, Any]) -> None:
    for reference in _references(document):
        place: Any = document
        for word in reference.removeprefix("#/").split("/"):
            place = place[word]


def _references(value: Any) -> list[str]:
    if isinstance(value, dict):
        own = [value["$ref"]] if isinstance(value.get("$ref"), str) else []
        return own + [reference for inner in value.values() for reference in _references(inner)]
    return [reference for inner in value for reference in _references(inner)] if isinstance(value, list) else []


def test_no_text_of_the_document_names_a_source_that_readers_do_not_have(document: dict[str, Any]) -> None:
    text = json.dumps(document)
    assert "wire facts" not in text
    assert "(design" not in text


def test_the_kept_refusals_are_those_of_operations() -> None:
    file = Path(inspect.getfile(openapi_document)).with_name(REFUSALS_FILE)
    kept: dict[str, list[str]] = json.loads(file.read_text(encoding="utf-8"))
    assert kept.keys() <= {*map(name_of, OPERATIONS)}, f"take what is gone out of {REFUSALS_FILE}"
    for name, codes in kept.items():
        assert codes == sorted({*codes}), name
        assert {*codes} <= {*ErrorCode}, name
