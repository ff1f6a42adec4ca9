"""Each field of each operation with what nobody should send there: documented errors, never a failure of ours.

The operations are those that are declared, so a new one is tried as soon as it exists. The caller is let in everywhere
and knows real guilds and channels, so that what passes the form goes on to the rules behind it.
"""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Iterator
from typing import Any, Final
from urllib.parse import quote

import attrs
import pytest
import structlog
import trio.testing

from chat.admin.routes import ADMIN_ROUTES
from chat.api.operation import Operation, Policy, Routes
from chat.api.routes.every import ROUTES
from chat.testing.rest_client import Response
from chat.testing.server import ChatServer
from chat.testing.world import World
from tests.conformance.presented_credentials import CAPABILITY, Issuer
from tests.conformance.raw_requests import Headers, RawClient

MODULES: Final = [routes for routes in (*ROUTES, *ADMIN_ROUTES) if routes.operations]
OPERATIONS: Final = [operation for routes in MODULES for operation in routes.operations]

JSON: Final = b"application/json"
FORM: Final = b"application/x-www-form-urlencoded"
NESTED: Final = 10_000
TEXT: Final = 1_000_000

VALUES: Final[dict[str, bytes]] = {
    "null": b"null",
    "a truth": b"true",
    "zero": b"0",
    "a negative number": b"-1",
    "a fraction": b"1.5",
    "2 ** 63": b"9223372036854775808",
    "a number without end": b"9" * 5_000,
    "infinity": b"1e999",
    "no number": b"NaN",
    "empty text": b'""',
    "blank text": b'" \\t\\n"',
    "text": b'"x"',
    "digits beyond 64 bits": b'"99999999999999999999"',
    "a null character": b'"\\u0000"',
    "a lone surrogate": b'"\\ud800"',
    "a surrogate as bytes": b'"\xed\xa0\x80"',
    "no UTF-8": b'"\xff\xfe"',
    "text that turns": b'"\\u202e\\u2066"',
    "an address": b'"\\u0000@\\u0000.\\u0000"',
    "a megabyte": b'"' + b"x" * TEXT + b'"',
    "an empty list": b"[]",
    "a list of lists": b"[[[]],[null]]",
    "a long list": b"[" + b",".join([b'"1"'] * 20_000) + b"]",
    "a list of objects": b'[{"id":{},"type":[],"code":null}]',
    "an empty object": b"{}",
    "an object": b'{"id":{"id":[]},"type":"public-key","response":{"clientDataJSON":"e30","signature":7},"a":{"":[]}}',
    "deep": b"[" * NESTED + b"]" * NESTED,
    "deep objects": b'{"a":' * NESTED + b"1" + b"}" * NESTED,
}

PARAMETERS: Final = (
    "", "x", "-1", "0", "1.5", "99999999999999999999", "%00", "%FF%FE", "%ED%A0%80", "%", "%zz", "true", "[]",
    "x" * 4_000,
)  # fmt: skip

HEADERS: Final[dict[str, tuple[tuple[str, bytes], ...]]] = {
    "a sudo token of another kind": (("X-Service-Sudo-Mode-JWT", b"eyJhbGciOiJub25lIn0.eyJzdWIiOiIxIn0."),),
    "a malformed sudo token": (("X-Service-Sudo-Mode-JWT", b"\xff" * 100),),
    "a long sudo token": (("X-Service-Sudo-Mode-JWT", b"a." * 4_000),),
    "capabilities that are none": (("X-Service-Features", b"\xff,\xfe," + b"x," * 2_000),),
    "client properties that are none": (("X-Service-Client-Properties", b"\xff\xfe=="),),
    "client properties of another kind": (("X-Service-Client-Properties", b"W10="),),
    "deep client properties": (("X-Service-Client-Properties", b"W1tb" * 2_000),),
    "a reason in no encoding": (("X-Audit-Log-Reason", b"\xff\xfe\x80"),),
    "a malformed CAPTCHA token": (("X-Captcha-Token", b"\xff" * 1_000), ("X-Captcha-Type", b"\xff")),
    "a malformed request id": (("X-Request-ID", b"\xff" * 500),),
    "a malformed browser": (("User-Agent", b"\xff" * 2_000),),
    "an unknown content type": (("Content-Type", b"\xff/\xfe; charset=\xff"),),
    "a forged address": (("X-Forwarded-For", b"\xff, 1.1.1.1, ,"), ("X-Test-Address", b"\xff")),
    "a range": (("Range", b"bytes=9-1,\xff"), ("If-None-Match", b"\xff"), ("If-Modified-Since", b"\xff")),
    "an origin": (("Origin", b"https://evil.example"), ("Referer", b"\xff"), ("Cookie", b"\xff=\xff; \x80")),
    "a host": (("X-Forwarded-Host", b"evil.example"), ("X-Forwarded-Proto", b"javascript")),
}


def name_of(routes: Routes) -> str:
    return routes.operations[0].handler.__module__.rpartition(".")[2]


def fields_of(shape: type[Any] | None) -> list[str]:
    return [field.name for field in attrs.fields(shape)] if shape is not None and attrs.has(shape) else []


PLAUSIBLE: Final[dict[str, object]] = {
    "email": "dave@example.com",
    "password": "a long passphrase",
    "new_password": "another long passphrase",
    "username": "dave",
    "code": "123456",
    "token": "A" * 64,
    "ticket": "A" * 43,
    "challenge": "A" * 43,
    "response": {"id": "AAAA", "rawId": "AAAA", "type": "public-key", "clientExtensionResults": {}, "response": {}},
    "redirect_uri": "https://example.com/",
    "scope": "identify",
    "acls": ["user:lookup"],
    "secret": "JBSWY3DPEHPK3PXP",
    "enabled": True,
    "regenerate": True,
    "type": 0,
    "permissions": "0",
    "session_id_hashes": ["AAAA"],
    "message_ids": ["1"],
    "files": [{"filename": "a", "file_size": 1}],
    "flags": 0,
}
"""What the other fields hold while one is hostile; a name that is not here holds digits, which are text and an id."""


def with_others(shape: type[Any] | None, field: str, value: bytes) -> bytes:
    """A body with the hostile field, and with what else is required."""
    required = [other.name for other in attrs.fields(shape) if other.default is attrs.NOTHING and other.name != field]
    others = {name: PLAUSIBLE.get(name, "123") for name in required}
    return b"{%b%b:%b}" % (
        b"".join(b"%b:%b," % (json.dumps(name).encode(), json.dumps(other).encode()) for name, other in others.items()),
        json.dumps(field).encode(),
        value,
    )


class Hostile:
    """Asks for operations as somebody whom they let in, and looks at what comes back."""

    def __init__(self, world: World, server: ChatServer) -> None:
        self._world = world
        self._issuer = Issuer(world, server)
        self._client = RawClient(world.route)
        self.asked = 0

    async def credential(self, operation: Operation) -> Headers:
        """A fresh one each time: operations may end it."""
        person = int(self._world.alice.id)
        match operation.policy:
            case Policy.BOT | Policy.OWN_APPLICATION | Policy.GATEWAY_BOT:
                return [("Authorization", f"Bot {self._world.bot.token}".encode())]
            case Policy.ADMIN:
                token = await self._issuer.session(int(self._world.admin.id))
                return [("Authorization", token.encode())]
            case Policy.OAUTH2:
                token = await self._issuer.access_token(person, scopes=("identify", "email", "guilds"))
                return [("Authorization", f"Bearer {token}".encode())]
            case Policy.NONE | Policy.URL:
                return []
            case _:
                return [("Authorization", (await self._issuer.session(person)).encode()), CAPABILITY]

    def path(self, operation: Operation) -> str:
        known = {"guild_id": self._world.guild_id, "channel_id": self._world.channel_id, "user_id": self._world.bob.id}
        known["application_id"] = self._world.bot.application_id
        return re.sub(r"{(\w+)}", lambda member: known.get(member[1], "1"), operation.path)

    async def ask(
        self,
        operation: Operation,
        body: bytes,
        *,
        kind: bytes = b"application/json",
        query: str = "",
        more: Headers = (),
    ) -> Response:
        headers = [*await self.credential(operation), *more]
        if not any(name == "Content-Type" for name, _ in more):
            headers.append(("Content-Type", kind))
        answer = await self._client.request(operation.method, self.path(operation) + query, headers, body)
        self.asked += 1
        assert answer.status < 500, f"{operation.method} {operation.path}{query[:100]}: {answer.body[:300]!r}"
        if answer.status >= 400 and answer.body and answer.header("Content-Type") == "application/json":
            told = answer.json()
            assert isinstance(told.get("code", told.get("error")), str)
        return answer

    async def aclose(self) -> None:
        await self._client.aclose()


def bodies(operation: Operation) -> Iterator[tuple[bytes, bytes]]:
    """Bodies with one hostile field, and their content types."""
    for value in VALUES.values():
        if operation.body is not None:
            yield value, JSON
        for field in fields_of(operation.body):
            yield with_others(operation.body, field, value), JSON
    if operation.form is not None:
        for parameter in (*PARAMETERS, "x" * TEXT):
            for field in fields_of(operation.form):
                yield f"{field}={parameter}&{field}={parameter}".encode(), FORM
        yield b"\xff\xfe=&&&=%%%", FORM
        yield b"{}", JSON


@pytest.mark.long
@pytest.mark.parametrize("routes", MODULES, ids=name_of)
async def test_no_field_makes_an_operation_fail(
    chat_world: World, chat_server: ChatServer, autojump_clock: trio.testing.MockClock, routes: Routes
) -> None:
    hostile = Hostile(chat_world, chat_server)
    with structlog.testing.capture_logs() as entries:
        for operation in routes.operations:
            for body, kind in bodies(operation):
                await hostile.ask(operation, body, kind=kind)
            for field in fields_of(operation.query):
                for parameter in PARAMETERS:
                    await hostile.ask(operation, b"", query=f"?{field}={parameter}&{field}={parameter}")
    await hostile.aclose()
    fields = sum(len(fields_of(operation.body)) for operation in routes.operations)
    assert hostile.asked >= fields * len(VALUES)
    assert [entry for entry in entries if entry["log_level"] in {"error", "critical"}] == []


@pytest.mark.long
@pytest.mark.parametrize("routes", MODULES, ids=name_of)
async def test_no_text_in_place_of_an_id_makes_an_operation_fail(
    chat_world: World, chat_server: ChatServer, autojump_clock: trio.testing.MockClock, routes: Routes
) -> None:
    hostile = Hostile(chat_world, chat_server)
    members = [quote(text) for text in ("\ud7ff", "'; --", "..", "%", "x" * 2_000, "\u202e", "-1", "0", "1e9")]
    members += ["%00", "%ff%fe", "%ED%A0%80", "%2e%2e%2f", "99999999999999999999", "%c0%af"]
    for operation in routes.operations:
        for member in members if operation.path_members else ():
            changed = copy.copy(operation)
            changed.path = re.sub(r"{\w+}", lambda _, text=member: text, operation.path)
            await hostile.ask(changed, b"{}" if operation.body is not None else b"")
    await hostile.aclose()


@pytest.mark.long
@pytest.mark.parametrize("name", HEADERS)
async def test_no_header_makes_an_operation_fail(
    chat_world: World, chat_server: ChatServer, autojump_clock: trio.testing.MockClock, name: str
) -> None:
    hostile = Hostile(chat_world, chat_server)
    with structlog.testing.capture_logs() as entries:
        for operation in OPERATIONS:
            answer = await hostile.ask(operation, b"{}" if operation.body is not None else b"", more=HEADERS[name])
            sent = HEADERS[name][0][1]
            assert sent not in answer.body, "nothing of it comes back"
            assert all(b"evil.example" not in value.encode("latin-1") for _, value in answer.headers)
    await hostile.aclose()
    assert [entry for entry in entries if entry["log_level"] in {"error", "critical"}] == []


async def test_a_body_in_another_character_set_is_refused(
    chat_world: World, autojump_clock: trio.testing.MockClock
) -> None:
    text = json.dumps({"email": "ä@example.com", "password": "ö"}, ensure_ascii=False)
    for encoding in ("utf-16", "utf-32", "latin-1", "utf-8-sig"):
        answer = await chat_world.anyone.request("POST", "/v1/auth/login", body=text.encode(encoding))
        assert (answer.status, answer.code) == (400, "INVALID_FORM_BODY"), encoding
