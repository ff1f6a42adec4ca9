"""The processes that look at exports and import them: one that does not end is ended."""

from __future__ import annotations

import sys
from pathlib import Path

import trio
from trio.testing import MockClock

from chat.domain.imports.brought_exports import BroughtExports, export_path
from chat.import_processes import READING_SECONDS, ImportProcesses
from chat.registries.imports import BroughtState, BroughtTrouble
from chat.store.imports import brought_exports
from chat.store.imports.brought_exports import BroughtExport
from chat.testing.server import ChatServer
from chat.testing.world import World

NEVER_ENDS = (sys.executable, "-c", "import time; time.sleep(1_000_000)")


async def test_a_dry_run_that_does_not_end_holds_up_nobody(
    chat_server: ChatServer, chat_world: World, autojump_clock: MockClock, tmp_path: Path
) -> None:
    exports: BroughtExports = chat_server.server.areas.imports.brought
    place, database = chat_server.server.core.directory, chat_server.database
    hostile, next_one = [
        BroughtExport(
            id=number, user_id=int(actor.id), filename="old.zip", size=1, created_at=number, changed_at=number
        )
        for number, actor in ((1, chat_world.alice), (2, chat_world.bob))
    ]
    for brought in (hostile, next_one):
        await database.write(lambda connection, one=brought: brought_exports.insert(connection, one))
        export_path(place, brought).parent.mkdir(exist_ok=True)
        export_path(place, brought).write_bytes(b"x")
    work = ImportProcesses(
        exports=exports, data=place, settings_file=None, clock=chat_server.server.clock, command=NEVER_ENDS
    )
    began = trio.current_time()
    async with trio.open_nursery() as nursery:
        nursery.start_soon(work.run)
        while exports.next_in({BroughtState.READING}) is not None:  # noqa: ASYNC110 - nobody tells of it
            await trio.sleep(READING_SECONDS / 10)
        nursery.cancel_scope.cancel()
    assert trio.current_time() - began > READING_SECONDS
    for brought in (hostile, next_one):
        found = brought_exports.by_id(database.reader, brought.id)
        assert found is not None
        assert (found.state, found.trouble) == (BroughtState.REFUSED, BroughtTrouble.BROKE_OFF)
    assert not export_path(place, hostile).exists()
