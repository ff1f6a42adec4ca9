"""Every body, query and path of every administrative operation, with what cannot be meant: a documented refusal, no
failure of ours, and nothing in the audit log."""

from __future__ import annotations

import json
from typing import Final

import attrs
import pytest
from trio.testing import MockClock

from chat.admin.operation import AdminOperation
from chat.testing.server import ChatServer
from chat.testing.world import World
from tests.administration.samples import body_of, operations, path_of

NEWER: Final = "SELECT id, action FROM admin_audit_log WHERE id > ? ORDER BY id"

NO_JSON: Final = ("NaN", "1e400", '"\\ud800"', "[" * 2_000 + "]" * 2_000, "")
"""What stands for no value at all."""

DEEP: Final = "[" * 200 + "]" * 200

NEVER: Final = (*NO_JSON, '{"a": 1}', "1.5", DEEP, '[{"a": []}]', "[1.5]", "[[null]]", '"' + "x" * 100_000 + '"')
"""What no field of these bodies may be."""

PERHAPS: Final = (
    "null",
    "true",
    "0",
    "-1",
    "9223372036854775808",
    "18446744073709551616",
    "1" + "0" * 400,
    '""',
    '" "',
    '"\\u0000"',
    '"\\u202e\\ufeff"',
    '"-1"',
    '"1e3"',
    '"9223372036854775808"',
    '"2024-02-30"',
    '"2024-02-30T25:00:00Z"',
    '"0000-01-01T00:00:00Z"',
    '"9999-12-31T23:59:59.999999999+23:59"',
    "[]",
    "[null]",
    '[""]',
    '["a", "a"]',
    "[-1]",
    '["18446744073709551616"]',
    "[" + ", ".join(map(str, range(2_000))) + "]",
)
"""What some field may be, or must not be."""

BODIES: Final = (
    b"",
    b"{",
    b"[]",
    b"null",
    b'"x"',
    b"1",
    b"\xff\xfe{}",
    b'{"a": ' * 600,
    b'{"a": 1, "a": 2}',
    b"{}x",
    b"\0",
)

TEXTS: Final = (
    "",
    "%20",
    "-1",
    "0",
    "1.0",
    "1e3",
    "99999999999999999999999",
    "9223372036854775808",
    "%00",
    "%ff%fe",
    "%ED%A0%80",
    "%D9%A3",
    "x" * 5_000,
    "true",
    "null",
    "[]",
    "%",
)
"""What a parameter of a query or a member of a path may be; percent-encoded."""

OBJECTS: Final = frozenset({"settings"})
"""Fields that are objects, of which unknown members are ignored."""

JSON_HEADERS: Final = {"Content-Type": "application/json"}


class Walk:
    """Asks as the seeded administrator, and keeps what went wrong."""

    def __init__(self, server: ChatServer, world: World) -> None:
        self._server = server
        self._rest = world.admin.rest
        self._newest = 0
        self.wrong: list[str] = []
        self.asked = 0
        self._seen: set[object] = set()

    def is_new(self, part: object) -> bool:
        """Whether this part of a declaration has not been walked yet."""
        is_new = part not in self._seen
        self._seen.add(part)
        return is_new

    async def ask(self, operation: AdminOperation, path: str, body: bytes | None, *, never: bool = False) -> None:
        """One request. `never` is whether it has to be refused as a bad one."""
        headers = {} if body is None else JSON_HEADERS
        answer = await self._rest.request(operation.method, path, body=body, headers=headers)
        self.asked += 1
        entries = self._server.database.reader.execute(NEWER, (self._newest,)).fetchall()
        self._newest = entries[-1][0] if entries else self._newest
        told = f"{operation.method} {path[:150]} {(body or b'')[:150]!r}: {answer.status} {answer.body[:150]!r}"
        if answer.status >= 500:
            self.wrong.append(f"a failure of ours: {told}")
        elif answer.status >= 400 and entries:
            self.wrong.append(f"refused, yet {entries} in the audit log: {told}")
        elif never and answer.status not in {400, 404}:
            self.wrong.append(f"let pass: {told}")


def with_query(path: str, name: str, *values: str) -> str:
    """The path with the parameter, once for each value."""
    return path + "?" + "&".join(f"{name}={value}" for value in values)


async def walked(walk: Walk, world: World, operation: AdminOperation) -> None:
    """Everything bad about one operation; what it shares with another one, and is read before either, only once."""
    path, sample = path_of(operation, world), body_of(operation, world)
    good = None if sample is ... else json.dumps(sample).encode()
    for member in operation.path_members:
        for text in TEXTS if walk.is_new(member) else TEXTS[:3]:
            bad = operation.path.replace("{" + member + "}", text or "%20")
            await walk.ask(operation, path_of(operation, world, path=bad), good)
    if operation.query is not None and walk.is_new(operation.query):
        for field in attrs.fields(operation.query):
            for text in TEXTS:
                await walk.ask(operation, with_query(path, field.name, text), good)
            await walk.ask(operation, with_query(path, field.name, "1", "x", "1"), good)
            await walk.ask(operation, with_query(path, field.name, *map(str, range(300))), good)
    if operation.body is None:
        return
    is_new = walk.is_new(operation.body)  # those of blocklists differ in their values alone
    for raw in BODIES if is_new else ():
        await walk.ask(operation, path, raw)
    for field in attrs.fields(operation.body):
        rest = {name: value for name, value in sample.items() if name != field.name}
        others = "".join(f", {json.dumps(name)}: {json.dumps(value)}" for name, value in rest.items())
        for token in (*NEVER, *PERHAPS) if is_new else PERHAPS:
            body = f"{{{json.dumps(field.name)}: {token}{others}}}".encode()
            await walk.ask(operation, path, body, never=token in NEVER and field.name not in OBJECTS)


@pytest.mark.long
async def test_nothing_bad_gets_further_than_a_refusal(
    chat_server: ChatServer, chat_world: World, autojump_clock: MockClock
) -> None:
    walk = Walk(chat_server, chat_world)
    # What takes something away comes last, so that the others have something to be about.
    for operation in sorted(operations(), key=lambda operation: operation.method == "DELETE"):
        await walked(walk, chat_world, operation)
    assert not walk.wrong, f"{len(walk.wrong)} of {walk.asked}:\n" + "\n".join(walk.wrong[:80])
    (await chat_world.admin.rest.get("/v1/admin/users/@me")).expect(200)
