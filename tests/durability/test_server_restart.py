"""SIGTERM and a new start: whoever resumes within 60 s misses nothing and keeps the sequence numbers.

Area: durability. Rules: 000.reconnect.
"""

import signal
from pathlib import Path

import pytest
import trio

from chat.testing import GatewayClient
from chat.testing.network import TcpRoute
from tests.durability.server_process import running

pytestmark = pytest.mark.long

DRAINED = (4000, "Session drain requested; reconnect to continue")


@pytest.mark.rule("000.reconnect.1", "000.reconnect.3", "000.reconnect.4")
async def test_a_client_resumes_after_sigterm_and_a_new_start(tmp_path: Path) -> None:
    async with trio.open_nursery() as nursery:
        async with running(tmp_path) as server:
            bob = await server.connect(nursery)
            compressed = await server.connect(nursery, compressed=True)
            for client in (bob, compressed):
                await client.identify(server.token_of("bob"))
                await client.expect("READY")
            (await server.alice.send_message(server.channel_id, "seen")).expect(200)
            for client in (bob, compressed):
                await client.expect("MESSAGE_CREATE")
            compressed.drop()
            (await server.alice.send_message(server.channel_id, "missed while away")).expect(200)
            await bob.expect("MESSAGE_CREATE")
            server.process.send_signal(signal.SIGTERM)
            await bob.expect_opcode(7)
            close = await bob.closed()
            assert (close.code, close.reason) == DRAINED
            with trio.fail_after(60):
                assert await server.process.wait() == 0
        async with running(tmp_path) as server:
            for before, missed in ((bob, []), (compressed, ["missed while away", "live again for bob"])):
                greeting = "live again" if missed else "live again for bob"
                again = await server.connect(nursery, compressed=before.is_compressed)
                assert before.sequence is not None
                await again.resume(before.token, before.session_id, before.sequence)
                resumed = await again.expect("RESUMED")
                replayed = [entry for entry in again.dispatches if entry.name == "MESSAGE_CREATE"]
                assert [entry.data["content"] for entry in replayed] == missed
                assert all(entry.sequence > before.sequence for entry in replayed)
                (await server.alice.send_message(server.channel_id, greeting)).expect(200)
                live = await again.expect("MESSAGE_CREATE", where=lambda data, said=greeting: data["content"] == said)
                assert live.sequence is not None
                assert live.sequence > resumed.sequence
                await again.aclose()
        nursery.cancel_scope.cancel()


async def test_a_resumed_session_is_not_found_twice_and_an_unknown_one_not_at_all(tmp_path: Path) -> None:
    async with trio.open_nursery() as nursery:
        async with running(tmp_path) as server:
            bob = await server.connect(nursery)
            await bob.identify(server.token_of("bob"))
            await bob.expect("READY")
            assert await server.end(signal.SIGINT) == 0
        async with running(tmp_path) as server:
            stranger = await server.connect(nursery)
            await stranger.resume(bob.token, "0" * 32, 1)
            await stranger.expect_opcode(9)
            assert await resumes(nursery, server.route, bob)
            assert await server.end(signal.SIGKILL) == -signal.SIGKILL
        async with running(tmp_path) as server:
            # A process that was killed had no time to write anything down.
            assert not await resumes(nursery, server.route, bob)
        nursery.cancel_scope.cancel()


async def resumes(nursery: trio.Nursery, route: TcpRoute, before: GatewayClient) -> bool:
    again = await GatewayClient.connect(nursery, route)
    await again.resume(before.token, before.session_id, before.sequence)
    answer = await again.next_payload()
    return answer.op != 9
