"""What every test module shares."""

from __future__ import annotations

import atexit
import gc
import os
import shutil
import signal
import tempfile

from hypothesis import settings

pytest_plugins = [
    "tests.spec.ledger",
    "tests.long",
    "tests.two_ends",
    "tests.at_node",
    "tests.canaries",
    "tests.answers",
    "tests.listeners",
    "tests.units",
    "tests.clients",
    "tests.domain_world",
]

settings.register_profile("suite", deadline=None, max_examples=60)  # a busy machine is no failure
settings.register_profile("quick", deadline=None, max_examples=20)  # --hypothesis-profile=quick, while writing
settings.register_profile("nightly", deadline=None, max_examples=20_000)  # --hypothesis-profile=nightly
settings.load_profile("suite")

gc.disable()  # until everything is collected, which is all kept

if os.environ.pop("PYTHONDONTWRITEBYTECODE", ""):
    # Every server that the tests start would compile the whole program anew.
    compiled = tempfile.mkdtemp(prefix="bytecode-")
    os.environ.setdefault("PYTHONPYCACHEPREFIX", compiled)
    atexit.register(shutil.rmtree, compiled, ignore_errors=True)

for number in (signal.SIGINT, signal.SIGHUP):
    # What `&` or `nohup` of a shell has ignored, servers of these tests would inherit: they would never end.
    if signal.getsignal(number) is signal.SIG_IGN:
        signal.signal(number, lambda *_: None)


niceness = os.getpriority(os.PRIO_PROCESS, 0)


def pytest_runtest_teardown() -> None:
    """A test that makes this process let others go first slows down every test after it."""
    assert os.getpriority(os.PRIO_PROCESS, 0) <= niceness


def pytest_collection_finish() -> None:
    """Keep the garbage collector off what was imported and collected: a sixth of a test's time went there."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(10_000, 20, 20)
    gc.enable()
