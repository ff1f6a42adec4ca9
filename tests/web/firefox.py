#!/usr/bin/env python
"""Firefox as Debian has it, for Playwright: a program that stands for Firefox, and passes WebDriver BiDi on to it.

Playwright drives an unpatched Firefox by WebDriver BiDi, and sends commands that the extended support release does not
know yet. They choose a colour scheme, which no test asks of Firefox, so they are answered here; all else is passed on
in both directions as it comes.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from functools import partial
from typing import Final

import trio
import trio_websocket

PROGRAM: Final = shutil.which("firefox-esr") or shutil.which("firefox")
LISTENS: Final = re.compile(rb"WebDriver BiDi listening on (ws://\S+)")
UNKNOWN: Final = ("emulation.setMediaFeaturesOverride",)
"""Commands that are answered here."""

MESSAGE_BYTES: Final = 134_217_728
"""A picture of a page comes in one message."""


async def pass_on(
    source: trio_websocket.WebSocketConnection, target: trio_websocket.WebSocketConnection, *, answers: bool
) -> None:
    """Pass messages on until either side is closed; commands that Firefox does not know are answered."""
    try:
        while True:
            message = await source.get_message()
            asked = json.loads(message) if answers else {}
            if asked.get("method") in UNKNOWN:
                await source.send_message(json.dumps({"type": "success", "id": asked["id"], "result": {}}))
            else:
                await target.send_message(message)
    except trio_websocket.ConnectionClosed:
        await target.aclose()


async def serve(upstream: str, asked: trio_websocket.WebSocketRequest) -> None:
    """One connection of Playwright."""
    async with (
        trio_websocket.open_websocket_url(upstream + asked.path, max_message_size=MESSAGE_BYTES) as browser,
        trio.open_nursery() as nursery,
    ):
        client = await asked.accept()
        nursery.start_soon(partial(pass_on, client, browser, answers=True))
        nursery.start_soon(partial(pass_on, browser, client, answers=False))


async def stand_for_firefox(arguments: list[str]) -> None:
    """Run Firefox, and tell where to reach it: here."""
    assert PROGRAM is not None
    async with trio.open_nursery() as nursery:
        process: trio.Process = await nursery.start(
            partial(trio.run_process, [PROGRAM, *arguments], stderr=subprocess.PIPE, capture_stderr=False, check=False)
        )
        said = b""
        assert process.stderr is not None
        async for piece in process.stderr:
            said += piece
            found = LISTENS.search(said)
            if found is None:
                continue
            said = b""
            listen = partial(
                trio_websocket.serve_websocket,
                partial(serve, found[1].decode()),
                "127.0.0.1",
                0,
                ssl_context=None,
                max_message_size=MESSAGE_BYTES,
            )
            server: trio_websocket.WebSocketServer = await nursery.start(listen)
            print(f"WebDriver BiDi listening on ws://127.0.0.1:{server.port}", file=sys.stderr, flush=True)
        nursery.cancel_scope.cancel()


if __name__ == "__main__":
    trio.run(stand_for_firefox, sys.argv[1:])
