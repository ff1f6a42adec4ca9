"""Every answer that any test gets is held against what its operation declares.

A pytest plugin beside `tests.canaries`: it listens to the test kit's HTTP client. Which operation an answer comes from
is found by method and path as the server finds it; its status must be declared, and its body must have the shape that
is declared for that status. What the client library cannot know, such as a member that only some answers have, is found
here, because objects take no members but their own.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator
from typing import Any, Final
from urllib.parse import urlsplit

import jsonschema_rs
import orjson
import pytest

from chat.admin.routes import ADMIN_ROUTES
from chat.api.openapi.errors import documented_statuses, error_shape
from chat.api.operation import Operation
from chat.api.routes import ROUTES
from chat.api.routing import RouteTable
from chat.api.schemas.shapes import JSON, Components, Shape, by_status
from chat.testing.rest_client import Response, RestClient

FAULTS_KEPT: Final = 10
"""Of one test: the first ones say enough."""


@functools.cache
def operations() -> RouteTable[Operation]:
    """Every operation that any server has, by its path."""
    table: RouteTable[Operation] = RouteTable()
    for module in (*ROUTES, *ADMIN_ROUTES):
        for operation in module.operations:
            table.add(operation.method, operation.path, operation)
    return table


def operation_of(method: str, path: str) -> Operation | None:
    """The operation behind a path; None for pages, development routes and paths that lead nowhere."""
    found = operations().find(urlsplit(path).path)
    return None if found is None else found[0].get("GET" if method == "HEAD" else method)


Validator = jsonschema_rs.Draft202012Validator
_validators: Final[dict[int, tuple[Shape, Validator]]] = {}


def validator_of(shape: Shape) -> Validator:
    """The compiled form of a shape."""
    kept = _validators.get(id(shape))
    if kept is None:
        components = Components()
        schema = {**components.written(shape), "components": {"schemas": components}}
        assert list(components.missing()) == []
        kept = _validators[id(shape)] = shape, Validator(schema)
    return kept[1]


def fault_of(method: str, path: str, answer: Response) -> str | None:
    """What is wrong with an answer; None where it is as declared, or where nothing is."""
    operation = operation_of(method, path)
    if operation is None or operation.answers is None:
        return None
    where = f"{operation.method} {operation.path} answered {answer.status}"
    shapes = by_status(operation.answers)
    if answer.status >= 400 and answer.status not in shapes:
        if answer.status not in documented_statuses(operation):
            return f"{where}, which is not declared: {answer.body[:200]!r}"
        shape = error_shape(operation)
    elif answer.status in shapes:
        shape = shapes[answer.status]
    else:
        return f"{where}, which is not declared"
    if method == "HEAD":
        return None
    if shape.media_type is None:
        return f"{where} with a body: {answer.body[:200]!r}" if answer.body else None
    if shape.media_type != JSON:
        return None
    if answer.header("content-type") != JSON:
        return f"{where} as {answer.header('content-type')}"
    return next(
        (f"{where} at /{'/'.join(map(str, wrong.instance_path))}: {wrong.message[:2_000]}"
         for wrong in validator_of(shape).iter_errors(orjson.loads(answer.body))),
        None,
    )  # fmt: skip


@pytest.fixture(autouse=True)
def answers_are_as_declared(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """Watches a test; fails it afterwards where an answer was not as declared."""
    faults: list[str] = []
    perform = RestClient.request

    async def request(self: RestClient, method: str, path: str, **options: Any) -> Response:
        answer = await perform(self, method, path, **options)
        if len(faults) < FAULTS_KEPT:
            fault = fault_of(method, path, answer)
            if fault is not None:
                faults.append(fault)
        return answer

    monkeypatch.setattr(RestClient, "request", request)
    yield faults
    assert faults == []
