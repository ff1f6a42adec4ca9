"""A disk that takes nothing more: whoever watches learns it, writes are refused, and all goes on once there is room.

The file size that the kernel allows the server's process stands for the disk: a write beyond it fails the same way.
"""

from __future__ import annotations

import resource
from pathlib import Path

from chat.domain.policy.readiness import RETRY_SECONDS, TRUSTED_SECONDS
from tests.durability.server_process import running

FULL, ROOM = 1, resource.RLIM_INFINITY


async def test_a_full_disk_is_told_and_survived(tmp_path: Path) -> None:
    async with running(tmp_path) as server:

        def limit_files_to(size: int) -> None:
            resource.prlimit(server.process.pid, resource.RLIMIT_FSIZE, (size, ROOM))

        async def statuses() -> list[int]:
            return [(await server.alice.get(path)).status for path in ("/_health", "/_ready")]

        async def wait(seconds: float) -> None:
            (await server.alice.post("/v1/_dev/clock", {"advance_ms": int(seconds * 1000)})).expect(200)

        (await server.alice.send_message(server.channel_id, "before")).expect(200)
        assert await statuses() == [200, 200]
        limit_files_to(FULL)
        await wait(TRUSTED_SECONDS)  # nobody writes anything, and still it is noticed
        told = (await server.alice.get("/_ready")).expect(503)
        assert told["status"] == "failing"
        assert told["reason"].startswith("the store cannot be written: ")
        assert await statuses() == [503, 503]
        refused = await server.alice.send_message(server.channel_id, "lost")
        assert (refused.status, refused.code) == (503, "SERVICE_UNAVAILABLE")
        limit_files_to(ROOM)
        await wait(RETRY_SECONDS)
        assert await statuses() == [200, 200]
        (await server.alice.send_message(server.channel_id, "after")).expect(200)
        messages = (await server.alice.get(f"/v1/channels/{server.channel_id}/messages")).expect(200)
        assert [message["content"] for message in messages] == ["after", "before"]
        # A write that fails is noticed at once, whoever made it.
        limit_files_to(FULL)
        assert (await server.alice.send_message(server.channel_id, "lost as well")).status == 503
        assert await statuses() == [503, 503]
        limit_files_to(ROOM)
        (await server.alice.send_message(server.channel_id, "and again")).expect(200)
        assert await statuses() == [200, 200]
