"""`chat storage`: what takes the room, and ordering a clean-up beside a server."""

from __future__ import annotations

from pathlib import Path

from chat.store.data_directory import DataDirectory
from tests.cli.command_line import Run, stored

ORPHAN = 4_096


def test_what_takes_the_room(run: Run, data: Path, alice: str) -> None:
    found = run("storage", "--data", data, "--json").json
    assert {part["part"] for part in found["parts"]} >= {"database", "renditions", "archives"}
    assert found["disk"]["free_bytes"] > 0
    shown = run("storage", "--data", data, terminal=True)
    assert (shown.status, shown.err) == (0, "")
    assert shown.table[0][0].endswith(" are free")
    assert ["what", "size", "files"] in shown.table
    assert run("storage", "--data", data / "none").err.startswith("chat: there is no data in")


def test_a_dry_run_counts_and_a_clean_up_is_ordered(run: Run, data: Path, alice: str) -> None:
    orphan = data / "uploads" / "attachments" / "00" / str(ORPHAN)
    orphan.parent.mkdir(parents=True)
    orphan.write_bytes(b"12345")
    counted = run("storage", "clean", "--dry-run", "--data", data)
    nothing = [{"kind": kind, "files": 0, "bytes": 0} for kind in ("old_renditions", "deleted_accounts")]
    assert counted.json == [{"kind": "orphans", "files": 1, "bytes": 5}, *nothing]
    one = run("storage", "clean", "--dry-run", "--kind", "orphans", "--data", data, terminal=True)
    assert one.table[-1] == ["orphans", "1", "0.0 MB"]
    assert run("storage", "clean", "--kind", "everything", "--data", data).status == 2
    with DataDirectory(data).locked():  # a server runs
        ordered = run("storage", "clean", "--kind", "orphans", "--data", data)
    job = run("job", "show", ordered.json["job_id"], "--data", data).json
    assert (job["task_type"], job["status"], job["payload"]) == (
        "storage_clean_up",
        "pending",
        {"kinds": ["orphans"], "dry_run": False},
    )
    assert orphan.exists()
    with stored(data) as connection:
        notes = connection.execute("SELECT kind FROM outside_changes").fetchall()
    assert notes == [("job_ordered",)]
