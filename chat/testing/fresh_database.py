"""A database as migrations leave it, without running them: they take longer than most tests."""

from __future__ import annotations

import functools
import tempfile
from pathlib import Path

from chat.store.migrations import prepare


def fresh_database(path: Path) -> Path:
    """The path; a database with the whole schema and no rows is put there unless there was one."""
    if not path.exists():
        path.write_bytes(_bytes())
    return path


@functools.cache
def _bytes() -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "empty.sqlite3"
        prepare(path, durable=False)
        return path.read_bytes()
