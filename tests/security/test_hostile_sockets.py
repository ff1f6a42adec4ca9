"""Hostile sockets against a process: garbage, resets in the middle, half-open peers. Nobody else notices, and the log
holds no traceback."""

from __future__ import annotations

import random
import socket
import struct
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Final

import trio

from chat.registries.opcodes import Opcode
from chat.testing.rest_client import RestClient
from tests.durability.server_process import ServerProcess, running
from tests.gateway.raw_websocket import client_frame, upgrade

AT_ONCE: Final = 20
PROMPT_SECONDS: Final = 20
"""A machine under load takes its time."""

TEXT: Final = 1
LINGER_NOT: Final = struct.pack("ii", 1, 0)

Assault = Callable[[trio.SocketStream, random.Random], Awaitable[None]]


async def reset(stream: trio.SocketStream) -> None:
    """End the connection with a reset."""
    stream.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, LINGER_NOT)
    stream.socket.close()
    await trio.lowlevel.checkpoint()


async def garbage(stream: trio.SocketStream, chance: random.Random) -> None:
    await stream.send_all(chance.randbytes(chance.randrange(1, 30_000)))
    await reset(stream)


async def tls(stream: trio.SocketStream, _chance: random.Random) -> None:
    await stream.send_all(b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + bytes(200))
    await stream.send_eof()


async def http2(stream: trio.SocketStream, _chance: random.Random) -> None:
    await stream.send_all(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + bytes(9))
    await reset(stream)


async def half_a_head(stream: trio.SocketStream, chance: random.Random) -> None:
    head = upgrade()
    await stream.send_all(head[: chance.randrange(1, len(head))])
    await reset(stream)


async def half_a_body(stream: trio.SocketStream, _chance: random.Random) -> None:
    await stream.send_all(b"POST /v1/auth/login HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\n{")
    await reset(stream)


async def gone_before_the_answer(stream: trio.SocketStream, _chance: random.Random) -> None:
    await stream.send_all(b"GET /.well-known/chat HTTP/1.1\r\nHost: x\r\n\r\n" * 50)
    await reset(stream)


async def garbage_for_frames(stream: trio.SocketStream, chance: random.Random) -> None:
    await stream.send_all(upgrade() + chance.randbytes(chance.randrange(1, 5_000)))
    await stream.receive_some()
    await reset(stream)


async def half_a_frame(stream: trio.SocketStream, chance: random.Random) -> None:
    frame = client_frame(TEXT, b'{"op":1,"d":null}' + b" " * 5_000)
    await stream.send_all(upgrade() + frame[: chance.randrange(1, len(frame))])
    await reset(stream)


async def pings_without_end(stream: trio.SocketStream, _chance: random.Random) -> None:
    await stream.send_all(upgrade() + client_frame(9, b"x" * 125) * 5_000)
    await reset(stream)


async def one_byte_fragments(stream: trio.SocketStream, _chance: random.Random) -> None:
    pieces = client_frame(0, b" ", fin=False) * 10_000
    await stream.send_all(upgrade() + client_frame(TEXT, b" ", fin=False) + pieces)
    await reset(stream)


async def half_open(stream: trio.SocketStream, _chance: random.Random) -> None:
    await stream.send_all(upgrade())
    await stream.send_eof()
    await stream.receive_some()


async def closed_and_talking_on(stream: trio.SocketStream, _chance: random.Random) -> None:
    await stream.send_all(upgrade() + client_frame(8, b"\x03\xe8") + client_frame(TEXT, b'{"op":1,"d":null}') * 100)
    await stream.receive_some()


ASSAULTS: Final[tuple[Assault, ...]] = (
    garbage,
    tls,
    http2,
    half_a_head,
    half_a_body,
    gone_before_the_answer,
    garbage_for_frames,
    half_a_frame,
    pings_without_end,
    one_byte_fragments,
    half_open,
    closed_and_talking_on,
)


async def assault(server: ServerProcess, how: Assault, seed: int) -> None:
    """One connection; that the server ends it at some point is all right."""
    stream = await trio.open_tcp_stream(server.route.hostname, server.route.port)
    try:
        await how(stream, random.Random(seed))
    except (trio.BrokenResourceError, trio.ClosedResourceError):
        pass  # the server had enough of it
    finally:
        await trio.aclose_forcefully(stream)


async def test_hostile_sockets_disturb_nobody(tmp_path: Path) -> None:
    log = tmp_path / "log"
    with log.open("wb") as stream:
        async with running(tmp_path / "data", log=stream) as server, trio.open_nursery() as nursery:
            witness = await server.connect(nursery, heartbeats=False)
            await witness.identify(server.token_of("bob"))
            await witness.expect("READY")
            for seed, how in enumerate(ASSAULTS):
                with trio.fail_after(PROMPT_SECONDS):
                    async with trio.open_nursery() as assaults:
                        for number in range(AT_ONCE):
                            assaults.start_soon(assault, server, how, seed * AT_ONCE + number)
                    sent = (await server.alice.send_message(server.channel_id, how.__name__)).expect(200)
                    heard = await witness.expect("MESSAGE_CREATE", seconds=PROMPT_SECONDS)
                    assert heard.data["id"] == sent["id"]
                    await witness.heartbeat()
                    await witness.expect_opcode(Opcode.HEARTBEAT_ACK)
            health = RestClient(server.route)
            (await health.get("/_health")).expect(200)
            assert [session["id"] for session in await health.gateway_sessions()] == [witness.session_id]
            await health.aclose()
            nursery.cancel_scope.cancel()
    said = log.read_text(encoding="utf-8")
    assert "Traceback" not in said
    assert '"level": "error"' not in said
