"""What the process does before it can serve."""

from __future__ import annotations

import contextlib
from pathlib import Path

import pytest
import trio

from chat.errors import OperatorError
from chat.serving import migrate
from chat.store.connections import connect
from chat.store.data_directory import DataDirectory
from chat.store.migrations import MIGRATIONS, is_current
from chat.testing.network import MemoryNetwork, MemoryRoute
from chat.testing.rest_client import RestClient


async def test_while_the_database_is_migrated_the_port_says_so(tmp_path: Path) -> None:
    directory, network = DataDirectory(tmp_path), MemoryNetwork()
    client = RestClient(MemoryRoute(network))
    with contextlib.closing(connect(directory.database)) as other:
        other.execute("PRAGMA journal_mode = WAL")
        other.execute("BEGIN IMMEDIATE")  # it has to wait for us
        async with trio.open_nursery() as nursery:
            nursery.start_soon(migrate, directory, [network.listen()])
            ready = await client.get("/_ready")
            assert ready.expect(503) == {"status": "migrating", "reason": "the database is being migrated"}
            assert ready.header("Retry-After") == "1"
            assert (await client.get("/_health")).expect(200) == {"status": "ok"}
            elsewhere = await client.get("/v1/users/@me")
            assert (elsewhere.status, elsewhere.code) == (503, "SERVICE_UNAVAILABLE")
            other.execute("ROLLBACK")
        assert is_current(other)
    await client.aclose()


async def test_a_current_database_is_not_touched_and_a_newer_one_refused(tmp_path: Path) -> None:
    directory = DataDirectory(tmp_path)
    directory.bring_database_up_to_date()
    await migrate(directory, [])
    with contextlib.closing(connect(directory.database)) as connection:
        connection.execute(f"PRAGMA user_version = {len(MIGRATIONS) + 1}")
    with pytest.raises(OperatorError, match="newer version"):
        await migrate(directory, [])
    directory.database.write_bytes(b"no database at all" * 100)
    with pytest.raises(ExceptionGroup) as refused:
        await migrate(directory, [])
    assert isinstance(refused.value.exceptions[0], OperatorError)
