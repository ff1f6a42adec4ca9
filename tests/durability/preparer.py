"""Imports what a server imports, then forks one for each order that comes (`prepared.py`); a program of its own."""

from __future__ import annotations

import atexit
import contextlib
import gc
import importlib
import json
import os
import random
import select
import signal
import socket
import sys
import threading
from typing import NoReturn

MODULES = (
    "chat.cli.main",
    "chat.cli.serve",
    "chat.server",
    "chat.serving",
    "chat.config",
    "chat.development.node",
    "chat.development.routes",
    "chat.development.seeded_world",
    "sqlite_utils.migrations",
)

ORDER_BYTES = 1 << 20


class Preparer:
    """Forks, and tells of each child its process id and then its exit status, a line each."""

    def __init__(self, control: socket.socket) -> None:
        self._control = control
        self._lives: dict[int, int] = {}
        self._wake, wake = os.pipe()
        os.set_blocking(self._wake, False)
        os.set_blocking(wake, False)
        self._poll = select.poll()
        self._poll.register(control, select.POLLIN)
        self._poll.register(self._wake, select.POLLIN)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.set_wakeup_fd(wake)
        self._descriptors = [control.fileno(), self._wake, wake]

    def serve(self) -> list[str]:
        """In each child: the arguments of its command line. In the preparer itself it does not return."""
        while True:
            for descriptor, _ in self._poll.poll():
                if descriptor == self._wake:
                    os.read(self._wake, 1_024)
                    self._reap()
                    continue
                order, descriptors, _, _ = socket.recv_fds(self._control, ORDER_BYTES, 3)
                if not order:
                    self._end()
                stdout, stderr, life = descriptors
                child = os.fork()
                if child == 0:
                    return self._become(json.loads(order), stdout, stderr, life)
                os.write(life, b"%d\n" % child)
                self._lives[child] = life
                os.close(stdout)
                os.close(stderr)

    def _become(self, order: dict[str, object], stdout: int, stderr: int, life: int) -> list[str]:
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        os.dup2(stdout, 1)
        os.dup2(stderr, 2)
        for descriptor in (stdout, stderr, life, *self._lives.values(), *self._descriptors):
            os.close(descriptor)
        self._control.detach()
        os.environ.clear()
        os.environ.update(order["environment"])  # type: ignore[call-overload]
        os.chdir(str(order["directory"]))
        random.seed()
        return list(order["arguments"])  # type: ignore[call-overload]

    def _reap(self) -> None:
        while self._lives:
            child, status = os.waitpid(-1, os.WNOHANG)
            if child == 0:
                return
            life = self._lives.pop(child)
            with contextlib.suppress(BrokenPipeError):  # nobody waits for it any more
                os.write(life, b"%d\n" % os.waitstatus_to_exitcode(status))
            os.close(life)

    def _end(self) -> None:
        for child in self._lives:
            os.kill(child, signal.SIGKILL)
        os._exit(0)


def leave(status: object) -> NoReturn:
    """End as the interpreter ends, except that nothing is taken apart: each page of memory that a child shares with the
    preparer would be copied for it, which takes longer than most commands."""
    assert isinstance(status, int), "`chat.cli.main` exits with a number"
    for thread in threading.enumerate():
        if thread is not threading.current_thread() and not thread.daemon:
            thread.join()
    atexit._run_exitfuncs()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(status)


if __name__ == "__main__":
    for module in MODULES:
        importlib.import_module(module)
    gc.collect()
    gc.freeze()
    command = Preparer(socket.socket(fileno=int(sys.argv[1]))).serve()
    from chat.cli.main import main

    try:
        main(command)
    except SystemExit as ended:
        leave(ended.code)
