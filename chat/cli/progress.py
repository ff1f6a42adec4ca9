"""The bar that long commands show on a terminal, and nowhere else."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Iterator
from typing import Final

WHOLE: Final = 100.0

Tell = Callable[[str, float], None]
"""Says what is done at the moment, and how many percent are done."""


@contextlib.contextmanager
def progress_bar() -> Iterator[Tell]:
    """A bar on standard error for as long as the block lasts."""
    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(stderr=True), transient=True, disable=not sys.stderr.isatty()) as progress:
        task = progress.add_task("", total=WHOLE)
        yield lambda words, percent: progress.update(task, description=words, completed=percent)
