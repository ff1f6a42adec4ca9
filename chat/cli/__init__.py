"""The command line.

Importing the command line imports no server: a command imports what it needs when it runs, so that `chat --version` and
completion answer at once.
"""

from __future__ import annotations

import contextlib
import gc
import signal
import threading
from collections.abc import Iterator


@contextlib.contextmanager
def importing() -> Iterator[None]:
    """Let Ctrl-C end the process without a word meanwhile, and the collector rest.

    An import that is interrupted leaves tracebacks of its own, and there is nothing yet to undo. Importing makes no
    garbage, and looking for it costs a tenth of the start.
    """
    is_interruptible = (
        threading.current_thread() is threading.main_thread()
        and signal.getsignal(signal.SIGINT) is signal.default_int_handler
    )
    collected = gc.isenabled()
    gc.disable()
    if is_interruptible:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    try:
        yield
    finally:
        if is_interruptible:
            signal.signal(signal.SIGINT, signal.default_int_handler)
        if collected:
            gc.enable()
