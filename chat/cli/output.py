"""What long commands make: a bar on a terminal, and files that are whole or not there."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

from chat.errors import OperatorError

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


@contextlib.contextmanager
def new_file(file: Path) -> Iterator[Path]:
    """A path for the block to write, which becomes `file` at its end; nothing is left of a block that fails.

    Raises OperatorError if there is such a file already, and if the disk is at fault.
    """
    draft = file.with_name(f"{file.name}.{os.getpid()}.part")
    if os.path.lexists(file):
        raise OperatorError(f"{file} exists already")
    try:
        yield draft
        _give_name(draft, file)
    except OSError as error:
        raise OperatorError(f"cannot write {file}: {error.strerror or error}") from error
    finally:
        with contextlib.suppress(OSError):
            draft.unlink()


def _give_name(draft: Path, file: Path) -> None:
    descriptor = os.open(draft, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
    try:
        os.link(draft, file)  # never in the place of another file
    except FileExistsError:
        raise
    except OSError:  # a file system without links
        draft.rename(file)
