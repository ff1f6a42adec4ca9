"""Files as versions left them that took no metadata out."""

from __future__ import annotations

import hashlib
import sqlite3

from chat.registries.jobs import JobType
from chat.store.administration import jobs
from chat.store.administration.jobs import Job
from chat.testing.server import ChatServer
from tests.field.photographs import telling

OLD = telling("JPEG", 6)
"""A photograph with its metadata, for whose rows width and height were exchanged."""


def leave_as_before(server: ChatServer, connection: sqlite3.Connection) -> None:
    """Every stored picture is this one, with its metadata and the rows of that time."""
    storage, digest = server.server.surroundings.directory / "uploads", hashlib.sha256(OLD).hexdigest()
    where = "stored AND content_type = 'image/jpeg'"
    rows = connection.execute(f"SELECT 'attachments', coalesce(file_id, id) FROM attachments WHERE {where}")  # noqa: S608
    more = connection.execute("SELECT 'assets', id FROM assets WHERE content_type = 'image/jpeg'")
    for kind, number in {*rows, *more}:
        path = storage / kind / f"{int(number) >> 4 & 0xFF:02x}" / str(number)
        path.write_bytes(OLD)
    told = (len(OLD), digest)
    connection.execute(
        f"UPDATE attachments SET width = 48, height = 24, size = ?, content_hash = ? WHERE {where}",  # noqa: S608
        told,
    )
    connection.execute(
        "UPDATE assets SET width = 48, height = 24, size = ? WHERE content_type = 'image/jpeg'", (len(OLD),)
    )


def order_removal(connection: sqlite3.Connection) -> None:
    """Order the job as the migration does."""
    job = Job(id=2, task_type=JobType.METADATA_REMOVAL, payload={}, run_at=0, created_at=0, changed_at=0)
    jobs.insert(connection, job)
