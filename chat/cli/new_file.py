"""Files that commands write: under their name only once they are whole, and never in the place of another."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path

from chat.errors import OperatorError


@contextlib.contextmanager
def new_file(file: Path) -> Iterator[Path]:
    """A path beside `file` for the block to write; after it that is the file. Where the block fails nothing is left.

    Raises OperatorError when there is such a file already, and when the disk is at fault.
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
        os.link(draft, file)  # in nobody's place
    except FileExistsError:
        raise
    except OSError:  # there are file systems without links
        draft.rename(file)
