"""What an instance is accepted by: three kinds of client on `chat dev --json` hear one message, and none is lost.

Area: conformance. Rules: 000.overview, 000.resume, 000.sequencing, 000.surfaces.
"""

from __future__ import annotations

from pathlib import Path

import trio

from tests.durability.server_process import running
from tests.spec.ledger import proves


async def test_a_plain_client_a_compressed_one_and_a_sharded_bot_hear_and_resume(tmp_path: Path) -> None:
    async with running(tmp_path) as server, trio.open_nursery() as nursery:
        count = 2
        shard = (int(server.world["guild_id"]) >> 22) % count
        plain = await server.connect(nursery)
        compressed = await server.connect(nursery, compressed=True)
        bot = await server.connect(nursery, compressed=True)
        await plain.identify(server.token_of("bob"))
        await compressed.identify(server.token_of("carol"))
        await bot.identify(server.world["bot"]["token"], shard=[shard, count])
        clients = [plain, compressed, bot]
        with proves("000.surfaces.1", "000.surfaces.2"):
            for client in clients:
                await client.expect("READY")
        (await server.alice.send_message(server.channel_id, "for all three")).expect(200)
        for client in clients:
            with proves("000.overview.2"):
                assert (await client.expect("MESSAGE_CREATE")).data["content"] == "for all three"
        for client in clients:
            client.drop()
        missed = [f"missed {number}" for number in range(20)]
        for content in missed:
            (await server.alice.send_message(server.channel_id, content)).expect(200)
        for before in clients:
            after = await server.connect(nursery, compressed=before.is_compressed)
            await after.resume(before.token, before.session_id, before.sequence)
            await after.expect("RESUMED")
            replayed = [entry for entry in after.dispatches if entry.name == "MESSAGE_CREATE"]
            with proves("000.resume.19"):
                assert [entry.data["content"] for entry in replayed] == missed
            sequences = [entry.sequence for entry in after.dispatches if entry.name != "RESUMED"]
            assert before.sequence is not None
            with proves("000.sequencing.3"):
                assert sequences == sorted(set(sequences))
            assert sequences[0] is not None
            with proves("000.sequencing.3"):
                assert sequences[0] > before.sequence
        nursery.cancel_scope.cancel()
