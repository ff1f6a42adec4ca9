"""What the query of the connection decides, asked over a whole server.

Area: conformance. Rules: 000.connect, 000.query, 000.states.
"""

from __future__ import annotations

from typing import Any, Final

import pytest
import trio
import trio.testing

from chat.registries.opcodes import Opcode
from chat.testing.world import World
from tests.conformance.outcomes import end, outcome, table
from tests.spec.gateway_tables import rules_of_query
from tests.spec.ledger import cases_of, proves

CASES: Final = table("query_cases")
HEARTBEAT: Final = '{"op":1,"d":null}'
REFUSED: Final = (4012, "Invalid API version")


async def judged(world: World, query: str) -> dict[str, Any]:
    """What a query brings, in the table's words; a connection is compressed when it comes and goes compressed."""
    client = await world.bob.open(query=query, hello=False, heartbeats=False)
    if await outcome(client) == REFUSED:
        assert not client.payloads  # nothing before it, Hello neither
        return {"query": query, "version_ok": False, "compressed": None}
    hello = client.payloads[0]
    assert hello.op == Opcode.HELLO
    # What the server sends compressed it wants compressed, and the other way round.
    await client.send_message(HEARTBEAT)
    if hello.binary:
        assert await end(client) == (4002, "Decompression failed")
    else:
        assert await outcome(client) == Opcode.HEARTBEAT_ACK
    client.drop()
    return {"query": query, "version_ok": True, "compressed": hello.binary}


@pytest.mark.chat_settings(**{"compat.discord": "off"})
async def test_every_query_of_the_table_gets_its_verdict(
    chat_world: World, autojump_clock: trio.testing.MockClock
) -> None:
    for case in CASES:
        if rules := rules_of_query(case["query"]):
            with proves(*rules):
                assert await judged(chat_world, case["query"]) == case
    assert [await judged(chat_world, case["query"]) for case in CASES] == CASES


@pytest.mark.rule("000.query.1", "000.states.3")
@pytest.mark.parametrize("version", ["01", "1.0", "%2B1", "+1", "1+", "2", "0", "-1", "1%20", "%EF%BC%91", "one", ""])
async def test_only_the_text_1_is_version_1(
    chat_world: World, autojump_clock: trio.testing.MockClock, version: str
) -> None:
    client = await chat_world.bob.open(query=f"v={version}&encoding=json", hello=False)
    assert await end(client) == REFUSED
    assert not client.payloads


@pytest.mark.parametrize(
    "more",
    [
        *cases_of("000.query.3", "&encoding=json"),
        *cases_of("000.query.4", "&encoding=etf", "&encoding=msgpack"),
        *cases_of("000.query.5", ""),
        *cases_of("000.query.14", "&intents=513&shard=7"),
    ],
)
async def test_whatever_encoding_is_asked_for_a_whole_conversation_is_json(
    chat_world: World, autojump_clock: trio.testing.MockClock, more: str
) -> None:
    client = await chat_world.bob.open(query="v=1" + more)
    await client.identify(chat_world.bob.token)
    await client.expect("READY")
    (await chat_world.alice.rest.send_message(chat_world.channel_id, "hello")).expect(200)
    assert (await client.expect("MESSAGE_CREATE")).data["content"] == "hello"
    assert not any(payload.binary for payload in client.payloads)


@pytest.mark.rule("000.connect.3", "000.query.6", "000.query.7")
@pytest.mark.parametrize("stream", ["1", "true"])
async def test_a_compressed_conversation(
    chat_world: World, autojump_clock: trio.testing.MockClock, stream: str
) -> None:
    query = f"v=1&encoding=json&compress=zstd-stream&stream={stream}"
    client = await chat_world.bob.open(query=query, compressed=True)
    await client.identify(chat_world.bob.token)
    await client.expect("READY")
    (await chat_world.alice.rest.send_message(chat_world.channel_id, "hello")).expect(200)
    assert (await client.expect("MESSAGE_CREATE")).data["content"] == "hello"
