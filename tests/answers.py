"""Every answer that any test gets is held against what its operation declares.

A pytest plugin beside `tests.canaries`: it listens to the test kit's HTTP client. Which operation an answer comes from
is found by method and path as the server finds it; its status must be declared, and its body must have the shape that
is declared for that status. What the client library cannot know, such as a member that only some answers have, is found
here, because objects take no members but their own. Whatever lets somebody in says that it must not be kept.

The codes that an operation is known to refuse with are those that follow from its declaration and those of
`chat/api/openapi/refusals.json`. `python -m pytest --write-refusals TESTS` adds what those tests see to that file, and
with `--hold-refusals` a test fails that sees another one; what Hypothesis comes upon is not held against the file,
because it may come upon something else next time.
"""

from __future__ import annotations

import fcntl
import functools
import json
import re
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

import hypothesis
import jsonschema_rs
import orjson
import pytest

from chat.admin.routes import ADMIN_ROUTES
from chat.api.openapi.errors import codes_of, error_shape, following_codes, name_of
from chat.api.operation import Operation
from chat.api.request import SUDO_HEADER
from chat.api.routes.every import ROUTES
from chat.api.routing import RouteTable
from chat.api.schemas.shapes import JSON, Components, Shape
from chat.registries.error_codes import ErrorCode
from chat.testing.rest_client import Response, RestClient

REFUSALS: Final = "chat/api/openapi/refusals.json"

FAULTS_KEPT: Final = 10
"""Of one test: the first ones say enough."""

FAULTS_BY_ORDER: Final = "/v1/_dev/faults"
"""Whoever posts here may ask for refusals that the operation itself would never give."""

NOT_KEPT: Final = frozenset({"no-store", "private, no-store"})
SECRETS: Final = re.compile(
    rb"""
    "cht_[A-Za-z0-9]{36}" | "cha_[0-9]+_[A-Za-z0-9]{32}"     # session tokens, admin API keys
    | "[0-9]{15,20}\.[A-Za-z0-9_-]{43}"                       # bot tokens
    | "backup_codes":\[\{
    | "(?:token|access_token|refresh_token|client_secret|ticket|email_token|[a-z]+_proof)":"[^"]
    | "code":"(?=[2-9]*[A-Z])[A-Z2-9]{32}"                     # recovery kits; a custom invite code may be digits alone
    | [#?&](?:token|bridge_id|state|code)=[A-Za-z0-9_-]{20}
    """,
    re.VERBOSE,
)
"""What lets somebody in, as JSON has it."""

refused: Final[dict[str, set[str]]] = defaultdict(set)
"""The codes that the tests of this process have seen, by operation."""


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
_codes: Final[dict[int, frozenset[str]]] = {}


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
    """What is wrong with an answer; None where it is as declared."""
    operation = operation_of(method, path)
    if operation is None:
        return None
    where = f"{operation.method} {operation.path} answered {answer.status}"
    shapes = operation.answers
    if answer.status in shapes:
        shape = shapes[answer.status]
    elif answer.status >= 400:
        shape = error_shape(operation, answer.status)
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
    value = orjson.loads(answer.body)
    validator = validator_of(shape)
    if validator.is_valid(value):
        return None
    wrong = next(validator.iter_errors(value))
    return f"{where} at /{'/'.join(map(str, wrong.instance_path))}: {wrong.message[:2_000]}"


def kept_secret_of(method: str, path: str, answer: Response) -> str | None:
    """What an answer tells that nothing on the way may keep, without saying so; None where all is well."""
    operation = operation_of(method, path)
    if operation is None or answer.header("cache-control") in NOT_KEPT:
        return None
    found = SECRETS.search(answer.body)
    told = SUDO_HEADER if answer.header(SUDO_HEADER) is not None else None if found is None else repr(found[0])
    return None if told is None else f"{name_of(operation)} tells {told} and may be kept"


def refusal_fault(method: str, path: str, answer: Response) -> str | None:
    """What is wrong with the code of a refusal; None where the operation is known to refuse with it."""
    code = answer.code
    operation = None if code is None else operation_of(method, path)
    if operation is None or code is None:
        return None
    if answer.status in operation.answers:  # and not under the status that the code goes with elsewhere
        return None
    where = f"{name_of(operation)} refused with {code}"
    if code not in ErrorCode.__members__:
        return None if operation.oauth2_errors else f"{where}, which is not registered"
    known = _codes.get(id(operation))
    if known is None:
        known = _codes[id(operation)] = codes_of(operation)
    refused[name_of(operation)].add(code)
    if code in known or hypothesis.currently_in_test_context():
        return None
    return f"{where}, which {REFUSALS} does not list: run `python -m pytest --write-refusals THIS_TEST` and commit that"


def pytest_addoption(parser: pytest.Parser) -> None:
    """The options of this plugin."""
    group = parser.getgroup("answers", "answers as they are declared")
    group.addoption("--write-refusals", action="store_true", help=f"add the refusals that the tests see to {REFUSALS}")
    group.addoption("--hold-refusals", action="store_true", help=f"fail tests that see a refusal not in {REFUSALS}")


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Write down what was seen, in whichever process it was."""
    if session.config.option.write_refusals:
        write_refusals(session.config.rootpath / REFUSALS)


def write_refusals(file: Path) -> None:
    """Add the codes seen to the file, those left out that follow from a declaration."""
    with file.open("r+", encoding="utf-8") as opened:
        fcntl.flock(opened, fcntl.LOCK_EX)
        kept: dict[str, list[str]] = json.load(opened)
        written = {}
        for module in (*ROUTES, *ADMIN_ROUTES):
            for operation in module.operations:
                name = name_of(operation)
                codes = ({*kept.get(name, ())} | refused[name]) - {*following_codes(operation)}
                if codes:
                    written[name] = sorted(codes)
        opened.seek(0)
        opened.write(json.dumps(written, indent=1, sort_keys=True) + "\n")
        opened.truncate()


@pytest.fixture(autouse=True)
def answers_are_as_declared(monkeypatch: pytest.MonkeyPatch, pytestconfig: pytest.Config) -> Iterator[list[str]]:
    """Watches a test; fails it afterwards where an answer was not as declared."""
    faults: list[str] = []
    perform = RestClient.request
    holds = pytestconfig.option.hold_refusals
    by_order = False

    async def request(self: RestClient, method: str, path: str, **options: Any) -> Response:
        nonlocal by_order
        answer = await perform(self, method, path, **options)
        by_order = by_order or path == FAULTS_BY_ORDER
        if len(faults) < FAULTS_KEPT:
            fault = fault_of(method, path, answer) or kept_secret_of(method, path, answer)
            if fault is None and answer.status >= 400 and not by_order:
                fault = refusal_fault(method, path, answer)
                fault = fault if holds else None
            if fault is not None:
                faults.append(fault)
        return answer

    monkeypatch.setattr(RestClient, "request", request)
    yield faults
    assert faults == []
