"""Findings F11 to F15, provoked against the server: virtual time beside threads, bombs, windows, compressors, lax JSON.

What costs memory is measured from outside, on a process of its own.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

import pytest
import trio
import trio.testing
import zstandard

from chat.registries.opcodes import Opcode
from chat.testing.gateway_client import GatewayClient
from chat.testing.world import World
from tests.durability.server_process import ServerProcess, running
from tests.gateway.raw_websocket import client_frame

MIB: Final = 1_048_576
BINARY: Final = 2
SOCKETS: Final = 20

BOMB_BYTES: Final = 500 * MIB
PROMPT_SECONDS: Final = 10.0
"""A machine under load takes its time; what matters more is the memory."""

COMPRESSED_SOCKETS: Final = 150
COMPRESSED_SOCKET_BYTES: Final = 256 * 1_024
"""The aim is 130 KB per idle session; one compressor at level 3 takes more than 650 KB by itself."""

TOO_LARGE: Final = (4002, "Payload too large")
DECOMPRESSION_FAILED: Final = (4002, "Decompression failed")
DECODE_FAILED: Final = (4002, "Decode failed")


def memory(server: ServerProcess, of: str) -> int:
    """Bytes that /proc tells of the server: VmRSS now, VmHWM at most so far, VmPeak of address space at most."""
    status = Path(f"/proc/{server.process.pid}/status").read_text(encoding="ascii")
    return next(int(line.split()[1]) * 1_024 for line in status.splitlines() if line.startswith(f"{of}:"))


def bomb() -> bytes:
    """One zstd frame of at most 16,384 bytes that unpacks to BOMB_BYTES."""
    compressor = zstandard.ZstdCompressor(level=19).compressobj()
    nothing = bytes(MIB)
    packed = b"".join(compressor.compress(nothing) for _ in range(BOMB_BYTES // MIB)) + compressor.flush()
    assert len(packed) <= 16_384
    return packed


def greedy_frame() -> bytes:
    """A zstd frame that wants a window of 128 MiB, and begins to use it."""
    parameters = zstandard.ZstdCompressionParameters(window_log=27, write_content_size=False)
    compressor = zstandard.ZstdCompressor(compression_params=parameters).compressobj()
    return compressor.compress(b'{"op":1,"d":null}') + compressor.flush(zstandard.COMPRESSOBJ_FLUSH_BLOCK)


async def closes(client: GatewayClient) -> tuple[int, str]:
    """Code and reason of the server's close frame."""
    close = await client.closed(seconds=30)
    return int(close.code), close.reason


async def test_f11_virtual_time_stands_still_while_the_server_works(
    chat_world: World, autojump_clock: trio.testing.MockClock
) -> None:
    # Had any of this gone through a thread, the clock would have jumped to somebody's next deadline meanwhile.
    bob = await chat_world.bob.connect(heartbeats=False)
    began = trio.current_time()
    person = {"email": "dave@example.com", "username": "dave", "password": "a long passphrase"}
    dave = chat_world.anyone.signed_in((await chat_world.anyone.register(**person)).expect(200)["token"])
    (await chat_world.anyone.login(email=person["email"], password=person["password"])).expect(200)
    (await dave.get("/v1/users/@me/guilds")).expect(200)
    for _ in range(50):
        (await dave.patch("/v1/users/@me", {"ignored": "x" * 200_000})).expect(200)
    for number in range(30):
        (await chat_world.alice.rest.send_message(chat_world.channel_id, str(number))).expect(200)
    (await chat_world.bob.rest.messages(chat_world.channel_id, limit=30)).expect(200)
    await bob.expect("MESSAGE_CREATE", where=lambda data: data["content"] == "29")
    assert trio.current_time() - began < 1
    await trio.sleep(30)
    assert bob.is_open
    assert not any(payload.op == Opcode.HEARTBEAT for payload in bob.payloads)


async def test_f12_a_bomb_is_not_unpacked(tmp_path: Path) -> None:
    packed = bomb()
    async with running(tmp_path, prepared=False) as server, trio.open_nursery() as nursery:
        witness = await server.connect(nursery, heartbeats=False)
        before = memory(server, "VmHWM")
        for _ in range(SOCKETS):
            client = await server.connect(nursery, compressed=True, heartbeats=False)
            await client.send_bytes(client_frame(BINARY, packed))
            await witness.heartbeat(None)
            with trio.fail_after(PROMPT_SECONDS):
                await witness.expect_opcode(Opcode.HEARTBEAT_ACK)
            assert await closes(client) == TOO_LARGE
        assert memory(server, "VmHWM") - before < 32 * MIB
        nursery.cancel_scope.cancel()


async def test_f13_a_window_of_128_mib_is_refused_before_it_is_reserved(tmp_path: Path) -> None:
    frame = greedy_frame()
    # Otherwise each thread that the server happens to start reserves as much again.
    one_arena = {"MALLOC_ARENA_MAX": "1"}
    async with running(tmp_path, prepared=False, **one_arena) as server, trio.open_nursery() as nursery:
        before = memory(server, "VmPeak")
        for _ in range(SOCKETS):
            client = await server.connect(nursery, compressed=True, heartbeats=False)
            await client.send_bytes(client_frame(BINARY, frame))
            assert await closes(client) == DECOMPRESSION_FAILED
        assert memory(server, "VmPeak") - before < 128 * MIB
        nursery.cancel_scope.cancel()


async def test_f14_a_compressed_connection_costs_little_memory(tmp_path: Path) -> None:
    async with running(tmp_path, prepared=False) as server, trio.open_nursery() as nursery:
        token = server.world["bot"]["token"]  # a bot is not bound to a hundred sessions

        async def join(count: int) -> list[GatewayClient]:
            clients = []
            for _ in range(count):
                client = await server.connect(nursery, compressed=True, heartbeats=False)
                await client.identify(token)
                await client.expect("GUILD_CREATE")
                clients.append(client)
            return clients

        await join(10)  # what is made once is there
        before = memory(server, "VmRSS")
        clients = await join(COMPRESSED_SOCKETS)
        (await server.alice.send_message(server.channel_id, "each compressor has been used")).expect(200)
        for client in clients:
            await client.expect("MESSAGE_CREATE")
            await client.heartbeat()
            await client.expect_opcode(Opcode.HEARTBEAT_ACK)
        assert (memory(server, "VmRSS") - before) / COMPRESSED_SOCKETS < COMPRESSED_SOCKET_BYTES
        nursery.cancel_scope.cancel()


@pytest.mark.parametrize(
    "lax",
    [
        '{"op":1,"d":null}'.encode("utf-16"),
        b'{"op":1,"d":NaN}',
        b'{"op":1,"d":1e999}',
        b"[" * 8_000,
        b'{"op":1,"d":' + b"9" * 5_000 + b"}",
        b'{"op":3,"d":{"status":"\\ud800"}}',
    ],
    ids=["UTF-16", "NaN", "1e999", "8,000 brackets", "5,000 digits", "a lone surrogate"],
)
async def test_f15_what_the_standard_parser_lets_through_is_not_json_here(
    chat_world: World, autojump_clock: trio.testing.MockClock, lax: bytes
) -> None:
    bob = await chat_world.bob.connect(heartbeats=False)
    witness = await chat_world.carol.connect()
    await bob.send_message(lax)
    assert await closes(bob) == DECODE_FAILED
    assert witness.is_open


@pytest.mark.parametrize("lax", [b'{"op":true,"d":null}', b'{"op":1.5,"d":null}'])
async def test_f15_true_and_1_5_are_no_opcodes(
    chat_world: World, autojump_clock: trio.testing.MockClock, lax: bytes
) -> None:
    bob = await chat_world.bob.connect(heartbeats=False)
    await bob.send_message(lax)
    assert await closes(bob) == (4002, "Invalid payload")


async def test_f15_a_number_without_a_fraction_is_an_opcode(
    chat_world: World, autojump_clock: trio.testing.MockClock
) -> None:
    """As everywhere else: programs of languages without integers send such."""
    bob = await chat_world.bob.connect(heartbeats=False)
    await bob.send_message(b'{"op":1.0,"d":null}')
    await bob.expect_opcode(11)
