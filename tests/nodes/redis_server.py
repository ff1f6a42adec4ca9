"""A real Redis or Valkey for tests: started on a free port, without persistence; killed, stopped, started again.

It is the redis-server of the machine, or else its valkey-server; `TESTS_BROKER` names another program.
"""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import time
from pathlib import Path
from typing import Final

import pytest

from tests.patience import PATIENCE_SECONDS

HOST: Final = "127.0.0.1"
PROGRAMS: Final = ("redis-server", "valkey-server")
FOLDERS: Final = "/usr/sbin:/usr/local/bin"
"""Where they can be besides."""


def program() -> str:
    """Where it is; the test is left out, or fails where it must not be."""
    wanted = [os.environ["TESTS_BROKER"]] if os.environ.get("TESTS_BROKER") else PROGRAMS
    found = next(filter(None, (shutil.which(name) or shutil.which(name, path=FOLDERS) for name in wanted)), None)
    if found is None:
        if "TESTS_REQUIRE_REDIS" in os.environ or "TESTS_BROKER" in os.environ:
            pytest.fail(f"there is no {' or '.join(wanted)}")
        pytest.skip("no redis-server and no valkey-server on this machine")
    return found


def free_port() -> int:
    with socket.socket() as taken:
        taken.bind((HOST, 0))
        return int(taken.getsockname()[1])


class RedisServer:
    """A server with these settings, such as `--requirepass x`, or with those of a file, which names `port`. The port
    stays the same over restarts."""

    def __init__(self, folder: Path, *settings: str, port: int | None = None, file: Path | None = None) -> None:
        self.port = port or free_port()
        self._folder = folder
        own = [] if file or "--tls-port" in settings else ["--port", str(self.port)]
        given = [str(file)] if file else ["--bind", HOST, "--save", ""]
        self._command = [program(), *given, *own, "--dir", str(folder), *settings]
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        return f"redis://{HOST}:{self.port}"

    def start(self) -> None:
        """Start, empty, and wait until it listens; in a thread where a loop runs."""
        output = self._folder / f"redis-{self.port}.log"
        with output.open("ab") as log:
            self._process = subprocess.Popen(self._command, stdout=log, stderr=log, cwd=self._folder)
        given_up = time.monotonic() + PATIENCE_SECONDS
        while not _listens(self.port):
            assert self._process.poll() is None, output.read_text()
            assert time.monotonic() < given_up, "it does not listen"
            time.sleep(0.01)

    def signal(self, number: signal.Signals) -> None:
        assert self._process is not None
        self._process.send_signal(number)

    def wait(self) -> None:
        """Wait until it has ended by itself."""
        assert self._process is not None
        self._process.wait(PATIENCE_SECONDS)
        self._process = None

    def kill(self) -> None:
        """`kill -9`: what it held is gone. Nothing where it does not run."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None


def _listens(port: int) -> bool:
    try:
        socket.create_connection((HOST, port), timeout=1).close()
    except OSError:
        return False
    return True
