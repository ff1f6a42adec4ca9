"""A server's connections have no mutexes (chat/store/mutexes.py)."""

from __future__ import annotations

import _sqlite3
import json
import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest

PROBE: Final = """
import _sqlite3, ctypes, json, os, signal, sys
from pathlib import Path

from chat.cli.serve import run_server
from chat.config import load_settings

library = ctypes.CDLL(_sqlite3.__file__)
library.sqlite3_db_mutex.restype = ctypes.c_void_p

def has_mutex():
    connection = ctypes.c_void_p()
    assert library.sqlite3_open(b":memory:", ctypes.byref(connection)) == 0
    found = library.sqlite3_db_mutex(connection) is not None
    assert library.sqlite3_close(connection) == 0
    return found

def announce(_):
    seen.append(has_mutex())
    os.kill(os.getpid(), signal.SIGTERM)

seen = [has_mutex()]
run_server(load_settings(Path(sys.argv[1]), None, {}, {"port": 0}), announce, development=False)
print(json.dumps(seen))
"""


@pytest.mark.skipif(not hasattr(_sqlite3, "__file__"), reason="SQLite is built into this Python, with its names hidden")
def test_a_server_opens_connections_without_a_mutex(tmp_path: Path) -> None:
    # In a process of its own: SQLite is shut down for it, and this one has connections.
    told = subprocess.run([sys.executable, "-c", PROBE, tmp_path], capture_output=True, text=True, check=True)
    assert json.loads(told.stdout.splitlines()[-1]) == [True, False]
