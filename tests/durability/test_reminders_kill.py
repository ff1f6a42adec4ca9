"""Reminders outlive the process that took them: what fell due while no server ran, or while one was killed, is told."""

from __future__ import annotations

import signal
from pathlib import Path

import pytest

from tests.durability.server_process import running

pytestmark = pytest.mark.long

DAY_MS = 86_400_000
OWN = "/v1/users/@me/reminders"


async def test_killed_before_they_are_due(tmp_path: Path) -> None:
    async with running(tmp_path) as server:
        sent = [
            (await server.bob.send_message(server.channel_id, f"{number}")).expect(200)["id"] for number in range(5)
        ]
        day = (await server.bob.advance_clock(1_000))["now"][:10]
        for message_id in sent:
            body = {"channel_id": server.channel_id, "remind_at": f"{day}T23:59:59.999Z"}
            (await server.bob.put(f"{OWN}/{message_id}", body)).expect(200)
        await server.end(signal.SIGKILL)
    async with running(tmp_path) as server:
        kept = (await server.bob.get(OWN)).expect(200)
        assert sorted(entry["message_id"] for entry in kept) == sorted(sent)
        assert {entry["told_at"] for entry in kept} == {None}
        await server.bob.advance_clock(2 * DAY_MS)
        told = (await server.bob.get(OWN)).expect(200)
        assert all(entry["told_at"] is not None for entry in told)
        await server.end(signal.SIGKILL)
    async with running(tmp_path) as server:
        assert (await server.bob.get(OWN)).expect(200) == told
