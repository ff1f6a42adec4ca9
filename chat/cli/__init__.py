"""The command line.

Importing the command line imports no server: a command imports what it needs when it runs, so that `chat --version` and
completion answer at once.
"""

from __future__ import annotations

import contextlib
import gc
import signal
import sys
import threading
from collections.abc import Iterator


@contextlib.contextmanager
def importing() -> Iterator[None]:
    """As `interruptible`, and let the collector rest: a command is over before it would matter."""
    collected = gc.isenabled()
    gc.disable()
    try:
        with interruptible():
            yield
    finally:
        if collected:
            gc.enable()


@contextlib.contextmanager
def interruptible() -> Iterator[None]:
    """Let Ctrl-C end the process without a word meanwhile.

    An import that is interrupted leaves tracebacks of its own, and there is nothing yet to undo.
    """
    is_interruptible = (
        threading.current_thread() is threading.main_thread()
        and signal.getsignal(signal.SIGINT) is signal.default_int_handler
    )
    if is_interruptible:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    try:
        yield
    finally:
        if is_interruptible:
            signal.signal(signal.SIGINT, signal.default_int_handler)


@contextlib.contextmanager
def unseen(package: str) -> Iterator[None]:
    """Let packages that use another one only where it is installed do without it, unless it was imported before."""
    if package in sys.modules:
        yield
        return
    sys.modules[package] = None  # type: ignore[assignment]  # Python's own sign that there is no such module
    try:
        yield
    finally:
        del sys.modules[package]
