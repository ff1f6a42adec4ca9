"""Operations that a start does not import come with the first request for one, and hide behind none that is there
(architecture.md, One port, two engines)."""

from __future__ import annotations

import itertools

import pytest
import trio

from chat.admin.routes import ADMIN_ROUTES
from chat.api.kernel import Kernel
from chat.api.operation import Operation
from chat.api.routes import AT_START
from chat.api.routes.every import ROUTES
from chat.testing.http_client import HttpClient
from chat.testing.server import ChatServer

EARLY = [operation for module in AT_START for operation in module.operations]
LATER = [op for module in (*ROUTES, *ADMIN_ROUTES) if module not in AT_START for op in module.operations]


def fit_together(one: str, other: str) -> bool:
    """Whether a request's path could fit both declared paths."""
    pairs = list(itertools.zip_longest(one.split("/"), other.split("/"), fillvalue=None))
    return all(a is not None and b is not None and (a == b or a.startswith("{") or b.startswith("{")) for a, b in pairs)


def test_no_path_leads_elsewhere_before_all_operations_are_there() -> None:
    assert {id(module) for module in AT_START} <= {id(module) for module in ROUTES}
    assert EARLY
    assert LATER
    hidden = [(one.path, two.path) for one in EARLY for two in LATER if fit_together(one.path, two.path)]
    assert not hidden


@pytest.fixture
def first_asked(chat_server: ChatServer) -> Kernel:
    """The operations of a server that was asked for none yet."""
    return chat_server.server.kernel()


def path_of(operation: Operation) -> str:
    return "/".join("1" if part.startswith("{") else part for part in operation.path.split("/"))


async def test_a_later_operation_is_found_from_its_first_request_on(first_asked: Kernel) -> None:
    for operation in LATER:
        assert first_asked.find(operation.method, path_of(operation)) is None, operation.path
    assert not await first_asked.completed("/login")
    assert first_asked.find("GET", path_of(LATER[0])) is None
    assert await first_asked.completed(path_of(LATER[-1]))
    for operation in LATER:
        found = first_asked.find(operation.method, path_of(operation))
        assert found is not None
        assert found.operations[operation.method] is operation
    assert not await first_asked.completed("/v1/nothing")


async def test_the_first_requests_may_come_at_once(chat_server: ChatServer) -> None:
    answers: dict[str, int] = {}

    async def ask_for(path: str) -> None:
        answers[path] = (await HttpClient(chat_server.route()).get(path)).status

    async with trio.open_nursery() as nursery:
        for path in (
            "/v1/admin/users",
            "/v1/webhooks/1/x",
            "/v1/nothing",
            "/v1/oauth2/applications/@me",
            "/v1/admin/x",
        ):
            nursery.start_soon(ask_for, path)
    assert answers == {
        "/v1/admin/users": 401,
        "/v1/webhooks/1/x": 404,
        "/v1/nothing": 404,
        "/v1/oauth2/applications/@me": 401,
        "/v1/admin/x": 404,
    }
