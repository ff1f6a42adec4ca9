"""`chat gateway` for a measurement: `python -m chat.bench.observed_node URL NAME` prints its port as JSON."""

from __future__ import annotations

import json
import sys

import trio

from chat import log
from chat.clock import SystemClock, iso_timestamp
from chat.collector import collecting_in_small_portions
from chat.nodes.serving import serve_node


def main(url: str, name: str) -> None:
    """Serve until SIGTERM."""
    clock = SystemClock()
    log.configure("error", timestamp=lambda: iso_timestamp(clock.now_ms()))
    with collecting_in_small_portions():
        trio.run(serve_node, url, "127.0.0.1", 0, name, lambda port: print(json.dumps({"port": port}), flush=True))


if __name__ == "__main__":
    main(*sys.argv[1:])
