"""Canaries in a whole process: after a conversation in which everything was said wrongly once, its log at its most
talkative, its answers and its frames hold none of the secrets but where they were asked for."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any, Final

import attrs
import pytest
import trio

from chat.registries.opcodes import Opcode
from chat.testing.gateway_client import GatewayClient, HandshakeRefused
from chat.testing.rest_client import RestClient
from tests.durability.server_process import ServerProcess, running

PASSWORD: Final = "canary-that-sings-in-the-mine"
MINE: Final = "Canary0123456789"
"""What is recognisable of the tokens that nobody issued, however they are cut."""

SESSION: Final = "cht_" + (MINE * 3)[:36]
BOT: Final = "1234567890123456789." + (MINE * 3)[:43]
KEY: Final = "cha_1234567890123456789_" + (MINE * 2)[:32]


@attrs.define
class Conversation:
    """A server, what it logged, and everything that it answered."""

    server: ServerProcess
    nursery: trio.Nursery
    log: Path
    said: list[bytes] = attrs.field(factory=list)

    async def ask(self, method: str, path: str, authorization: str | None = None, **options: Any) -> Any:
        """Perform a request and keep its answer, headers included."""
        client = RestClient(self.server.route, token=authorization)
        answer = await client.request(method, path, **options)
        await client.aclose()
        self.said.append(repr((answer.status, answer.headers)).encode() + answer.body)
        return answer.json() if answer.body else None

    async def tell(self, *messages: tuple[int, object], query: str | None = None, **headers: str) -> None:
        """Open a socket, say all this, and keep what comes back."""
        client = await GatewayClient.connect(
            self.nursery, self.server.route, query=query, hello=False, heartbeats=False, headers=headers
        )
        for op, data in messages:
            await client.send(op, data)
        with trio.move_on_after(1):
            await client.closed()
        self.said.extend(repr(payload.members).encode() for payload in client.payloads if payload.name != "READY")
        self.said.append(repr(client.close_frame).encode())
        client.drop()


@pytest.fixture
async def conversation(tmp_path: Path) -> AsyncIterator[Conversation]:
    log = tmp_path / "log"
    with log.open("wb") as stream:
        async with (
            running(tmp_path / "data", log=stream, CHAT_LOG_LEVEL="debug", CHAT_RATE_LIMITS="true") as server,
            trio.open_nursery() as nursery,
        ):
            yield Conversation(server, nursery, log)
            nursery.cancel_scope.cancel()


def identify(token: object) -> tuple[int, object]:
    return Opcode.IDENTIFY, {"token": token, "properties": {"os": "o", "browser": "b", "device": "d"}}


def resume(token: str, session_id: str = "0" * 32) -> tuple[int, object]:
    return Opcode.RESUME, {"token": token, "session_id": session_id, "seq": 1}


async def test_the_log_and_the_answers_of_a_process_hold_no_canary(conversation: Conversation) -> None:
    talk, world = conversation, conversation.server.world
    body = {"email": "dave@example.com", "username": "dave", "password": PASSWORD}
    dave = (await talk.ask("POST", "/v1/auth/register", json=body))["token"]
    talk.said.clear()  # the one answer that may hold the token
    real = {dave, world["bot"]["token"], world["bot"]["client_secret"], world["admin_key"]}
    real |= {user["token"] for user in world["users"]} | {user["password"] for user in world["users"]}

    # Over HTTP: in every header form, in addresses, in bodies that are wrong.
    for credential in (SESSION, f"Bearer {SESSION}", f"Bot {BOT}", f"Admin {KEY}", f"bot {BOT}", f"Basic {SESSION}"):
        for path in ("/v1/users/@me", "/v1/gateway/bot", "/v1/applications/@me", "/nowhere"):
            await talk.ask("GET", path, credential)
    await talk.ask("GET", f"/v1/users/@me?token={dave}&password={PASSWORD}", dave)
    await talk.ask("GET", f"/v1/{SESSION}/{PASSWORD}", dave)
    await talk.ask("POST", "/v1/auth/login", json={"email": body["email"], "password": PASSWORD + "!"})
    await talk.ask("POST", "/v1/auth/login", json={"email": 5, "password": PASSWORD, "token": SESSION})
    await talk.ask("POST", "/v1/auth/login", body=f'{{"password": "{PASSWORD}", '.encode())
    await talk.ask("PATCH", "/v1/users/@me", dave, json={"password": PASSWORD, "new_password": "short"})

    # Over the gateway: in Identify and Resume, right and wrong, malformed, in the query, in a header.
    for token in (SESSION, BOT, KEY, f"Bot {BOT}", dave, world["bot"]["token"], [SESSION], {"token": BOT}):
        await talk.tell(identify(token))
    await talk.tell(resume(SESSION), resume(dave))
    await talk.tell((Opcode.IDENTIFY, {"token": SESSION}), (Opcode.IDENTIFY, [PASSWORD]))
    await talk.tell((99, {"token": SESSION}))
    await talk.tell(identify(dave), (Opcode.PRESENCE_UPDATE, {"status": PASSWORD}))
    await talk.tell(query=f"v={SESSION}&token={dave}")
    await talk.tell(query=f"v=1&token={dave}", Authorization=f"Bot {BOT}", Cookie=f"token={SESSION}")
    with pytest.raises(HandshakeRefused) as refused:
        await talk.tell(**{"Sec-WebSocket-Version": "12", "Authorization": SESSION})
    talk.said.append(refused.value.body)

    # While something fails inside.
    await talk.ask("POST", "/v1/_dev/gateway", json={"storage_failing": True})
    await talk.tell(identify(dave))
    await talk.ask("POST", "/v1/auth/login", json={"email": body["email"], "password": PASSWORD})
    await talk.ask("POST", "/v1/_dev/gateway", json={"storage_failing": False, "rpc_failing": True})
    await talk.tell(identify(dave), resume(dave))

    log = conversation.log.read_text(encoding="utf-8")
    said = b"".join(talk.said).decode()
    for secret in real | {PASSWORD, MINE}:
        assert secret not in log, f"logged: {log_line(log, secret)}"
        assert secret not in said, f"answered: {log_line(said, secret)}"
    assert "Traceback" not in log


def log_line(text: str, secret: str) -> str:
    """Where it stands."""
    at = text.index(secret)
    return text[max(0, at - 300) : at + 100]
