"""Every kind of credential on every operation that is declared, over real sockets.

`spec_fixtures/access/matrix.json` says what each policy answers to each credential, `operations.json` which policy each
operation has: both are the documents' and the rulings', not the program's, and both are walked both ways.

Area: conformance. Rules: 000.admin-credentials, 000.credentials, 000.gates, 000.outcomes, 000.policies, 000.threads.
"""

from __future__ import annotations

import json
import re
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any, Final

import pytest

from chat.admin.routes import ADMIN_ROUTES
from chat.api.operation import Operation
from chat.api.routes.every import ROUTES
from chat.testing.rest_client import Response
from chat.testing.server import ChatServer
from chat.testing.world import World
from tests.conformance.presented_credentials import Issuer
from tests.conformance.raw_requests import Headers, RawClient
from tests.spec.ledger import proves

FIXTURES: Final = Path("spec_fixtures", "access")
MATRIX: Final = json.loads((FIXTURES / "matrix.json").read_text(encoding="utf-8"))
CREDENTIALS: Final[list[str]] = MATRIX["credentials"]
OUTCOMES: Final[dict[tuple[str, str], str]] = {
    (row["policy"], credential): outcome
    for row in MATRIX["policies"]
    for outcome, credentials in row["outcomes"].items()
    for credential in credentials
}
OPERATIONS: Final = [operation for routes in (*ROUTES, *ADMIN_ROUTES) for operation in routes.operations]

ROWS: Final = json.loads((FIXTURES / "operations.json").read_text(encoding="utf-8"))
REFUSES_DELETED: Final = "deleted"
"""What an operation answers a deleted account by a rule of its own (document 000, Account state gates)."""

OF_DELETED: Final = {row["operation"]: row[REFUSES_DELETED] for row in ROWS if REFUSES_DELETED in row}

LET_IN: Final = "in"
ACCESS_CODES: Final = {
    "UNAUTHORIZED",
    "INVALID_TOKEN",
    "INVALID_AUTH_TOKEN",
    "ACCESS_DENIED",
    "MISSING_OAUTH_SCOPE",
    "MISSING_PERMISSIONS",
    "MISSING_ACL",
    "BOT_USER_AUTH_ENDPOINT_ACCESS_DENIED",
}
REQUEST_ID: Final = ("X-Request-ID", b"the-same-each-time")
JSON: Final = ("Content-Type", b"application/json")

RULES_OF: Final[dict[str, tuple[str, ...]]] = {
    "nothing": ("000.outcomes.1",),
    "Bot alone": ("000.credentials.7",),
    "Bearer alone": ("000.credentials.8",),
    "Admin alone": ("000.credentials.9",),
    "Bot and two blanks": ("000.credentials.10",),
    "bot in lower case": ("000.credentials.11", "000.credentials.14", "000.credentials.15"),
    "BOT in upper case": ("000.credentials.11", "000.credentials.14", "000.credentials.15"),
    "bearer in lower case": ("000.credentials.12",),
    "admin in lower case": ("000.credentials.13",),
    "ADMIN in upper case": ("000.credentials.13",),
    "an unknown session": ("000.outcomes.3",),
    "an unknown bot token": ("000.outcomes.3",),
    "an unknown access token": ("000.outcomes.3",),
    "an unknown admin key": ("000.outcomes.3",),
    "a session in other letters": ("000.credentials.19",),
    "a session too long behind Bearer": ("000.credentials.18",),
    "an expired access token": ("000.outcomes.4",),
    "an expired admin key": ("000.outcomes.4",),
    "a revoked session": ("000.outcomes.5",),
    "a revoked access token": ("000.outcomes.5",),
    "a rotated bot token": ("000.outcomes.5",),
    "a deleted admin key": ("000.outcomes.5",),
    "a session": ("000.credentials.4", "000.outcomes.20", "000.outcomes.7"),
    "a session behind Bearer": ("000.credentials.16", "000.credentials.17", "000.outcomes.7"),
    "a session with channel_threads": ("000.threads.2",),
    "a session of a limited account": ("000.gates.1", "000.gates.10"),
    "a session of a disabled account": ("000.gates.11",),
    "a session of a deleted account": ("000.gates.11",),
    "a bot": ("000.credentials.1", "000.policies.2", "000.outcomes.12", "000.outcomes.6", "000.outcomes.8"),
    "an access token": ("000.outcomes.11", "000.policies.1", "000.threads.5"),
    "an access token of an administrator": ("000.admin-credentials.6", "000.credentials.3"),
    "an access token with every other scope": ("000.outcomes.13", "000.outcomes.21", "000.policies.3"),
    "an Admin application's token": ("000.admin-credentials.5",),
    "an admin key": ("000.credentials.5", "000.credentials.6", "000.outcomes.9", "000.threads.6"),
    "an admin key without the ACL": ("000.admin-credentials.9",),
    "an admin key without admin:authenticate": ("000.admin-credentials.12",),
    "an admin key of no administrator": ("000.admin-credentials.11",),
    "a session of an administrator": ("000.admin-credentials.4", "000.admin-credentials.8"),
}


@pytest.fixture
async def client(chat_world: World) -> AsyncIterator[RawClient]:
    raw = RawClient(chat_world.route)
    yield raw
    await raw.aclose()


@pytest.fixture
def chat_server_options(chat_server_options: dict[str, Any]) -> dict[str, Any]:
    # Who may bring a community along is a matter of the instance, not of the credential.
    of_instance = {**(chat_server_options.get("settings") or {}), "imports.from_browser": "everyone"}
    return {**chat_server_options, "sockets": True, "settings": of_instance}


def row_of(operation: Operation) -> str:
    """The row of the matrix that is about this operation."""
    policy = operation.policy.value
    if operation.scope is not None:
        return f"{policy}, scope"
    return f"{policy}, acl" if operation.acls else policy


def described(operation: Operation) -> dict[str, Any]:
    """The operation as the fixture has it."""
    row: dict[str, Any] = {"operation": f"{operation.method} {operation.path}", "policy": operation.policy.value}
    if operation.scope is not None:
        row["scope"] = str(operation.scope)
    if operation.bots_refused_with is not None:
        row["bots"] = operation.bots_refused_with
    if operation.acls:
        row["acls"] = [sorted(map(str, alternatives)) for alternatives in operation.acls]
    return row


def test_each_policy_says_what_becomes_of_each_credential() -> None:
    for row in MATRIX["policies"]:
        named = [credential for credentials in row["outcomes"].values() for credential in credentials]
        assert sorted(named) == sorted(CREDENTIALS), row["policy"]
    assert set(RULES_OF) <= set(CREDENTIALS)
    used = {row_of(operation) for operation in OPERATIONS}
    assert used <= {row["policy"] for row in MATRIX["policies"]}


def test_every_operation_has_the_policy_of_the_fixture_and_there_are_no_others() -> None:
    known = {row["operation"]: {name: row[name] for name in row if name != REFUSES_DELETED} for row in ROWS}
    assert len(known) == len(ROWS)
    declared = {row["operation"]: row for row in map(described, OPERATIONS)}
    new = [json.dumps(declared[name]) for name in declared.keys() - known.keys()]
    file = "spec_fixtures/access/operations.json"
    assert not new, f"operations that nobody has decided about; add to {file}:\n" + "\n".join(new)
    assert known.keys() - declared.keys() == set(), f"{file} names operations that do not exist"
    for name, row in known.items():
        assert declared[name] == row, f"{name}: {file} and its declaration differ"


def body_of(operation: Operation) -> tuple[Headers, bytes]:
    """As little as the operation reads."""
    return ([JSON], b"{}") if operation.body is not None else ([], b"")


def path_of(operation: Operation) -> str:
    """The operation's path, about things that do not exist."""
    return re.sub(r"{(\w+)}", "1", operation.path)


def expected(operation: Operation, credential: str) -> str:
    outcome = OUTCOMES[row_of(operation), credential]
    if credential == "a bot" and operation.bots_refused_with is not None:
        return operation.bots_refused_with
    if credential == "a session of a limited account" and operation.closed_to_limited and outcome == LET_IN:
        return "403 ACCOUNT_LIMITED"
    if credential == "a session of a deleted account":
        return OF_DELETED.get(f"{operation.method} {operation.path}", outcome)
    return outcome


def agrees(answer: Response, outcome: str) -> bool:
    """Whether the answer is the one of the fixture; beyond access it may be anything but a failure of ours."""
    if outcome == LET_IN:
        return answer.status < 500 and answer.code not in ACCESS_CODES
    status, _, code = outcome.rpartition(" ")
    return answer.code == code and status in ("", str(answer.status))


def identity(answer: Response, *, secret: bool = False) -> object:
    """All that there is of an answer but the time of day; nothing may keep one of a `secret` operation."""
    headers = [line for line in answer.headers if line[0] != "date"]
    if secret:
        headers[headers.index(("cache-control", "no-store"))] = ("cache-control", "no-cache")
    return answer.status, sorted(headers), answer.body


async def ask(client: RawClient, operation: Operation, headers: Headers) -> Response:
    of_body, body = body_of(operation)
    return await client.request(operation.method, path_of(operation), [*headers, *of_body, REQUEST_ID], body)


@pytest.mark.long
@pytest.mark.parametrize("credential", CREDENTIALS)
async def test_a_credential_on_every_operation(
    chat_world: World, chat_server: ChatServer, client: RawClient, credential: str
) -> None:
    issuer = Issuer(chat_world, chat_server)
    reference: dict[str, object] = {}
    wrong = []
    for operation in OPERATIONS:
        issuer.scope = operation.scope
        answer = await ask(client, operation, await issuer.present(credential))
        outcome = expected(operation, credential)
        if not agrees(answer, outcome):
            wrong.append(f"{operation.method} {operation.path}: {outcome}, not {answer.status} {answer.body[:200]!r}")
        if answer.status == 401:
            with proves("000.outcomes.17"):
                assert answer.header("WWW-Authenticate") is None
        if outcome != LET_IN and answer.status in {401, 404}:
            # One answer for everything that is wrong with a credential, to the last byte.
            if outcome not in reference:
                reference[outcome] = identity(await reference_of(client, outcome))
            with proves("000.outcomes.18"):
                assert identity(answer, secret=operation.secret) == reference[outcome], (
                    f"{operation.method} {operation.path}"
                )
    with proves("000.outcomes.2", "000.outcomes.10", *RULES_OF.get(credential, ())):
        assert not wrong, "\n".join(wrong)


async def reference_of(client: RawClient, outcome: str) -> Response:
    """The same refusal where its reason is plain."""
    headers: Headers = [REQUEST_ID]
    match outcome:
        case "401 UNAUTHORIZED":
            return await client.request("GET", "/v1/users/@me", headers)
        case "401 INVALID_AUTH_TOKEN":
            return await client.request("GET", "/v1/gateway/bot", headers)
        case "401 INVALID_TOKEN":
            return await client.request("GET", "/v1/applications/@me", [*headers, ("Authorization", b"Token x")])
        case _:
            return await client.request("GET", "/v1/nowhere", headers)


SCHEMES: Final[dict[str, Callable[[str], bool]]] = {
    "session": lambda name: (
        name in {"an unknown session", "a session too short", "a session in other letters", "a revoked session"}
    ),
    "bot": lambda name: (
        name
        in {"an unknown bot token", "a bot token of no application", "a malformed bot token", "a rotated bot token"}
    ),
    "bearer": lambda name: (
        name in {"an unknown access token", "an expired access token", "a revoked access token", "a refresh token"}
    ),
    "admin": lambda name: (
        name in {"an unknown admin key", "a malformed admin key", "an expired admin key", "a deleted admin key"}
    ),
}


@pytest.mark.rule("000.outcomes.18")
@pytest.mark.parametrize("scheme", SCHEMES)
async def test_a_refusal_takes_as_much_work_whatever_is_wrong(
    chat_world: World, chat_server: ChatServer, client: RawClient, scheme: str
) -> None:
    """Look-ups are counted: as many for an unknown token as for one that was good once and for one that never was."""
    issuer = Issuer(chat_world, chat_server)
    path = "/v1/admin/acls" if scheme == "admin" else "/v1/users/@me"
    work: dict[str, list[str]] = {}
    for credential in filter(SCHEMES[scheme], CREDENTIALS):
        headers = await issuer.present(credential)
        await chat_world.carol.rest.get("/v1/users/@me")  # the server has caught up with what this changed
        statements: list[str] = []
        chat_server.database.reader.set_trace_callback(statements.append)
        answer = await client.request("GET", path, headers)
        chat_server.database.reader.set_trace_callback(None)
        assert (answer.status, answer.code) == (401, "UNAUTHORIZED")
        work[credential] = [re.sub(r"x'[0-9a-fA-F]*'|-?[0-9]+|'[^']*'", "?", statement) for statement in statements]
    assert len(work) == 4
    assert len({tuple(statements) for statements in work.values()}) == 1, work
    assert all(work.values()), "something is looked up each time"
