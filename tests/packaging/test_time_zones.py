"""Time zones are there on a machine that has none of its own: a slim image, or a minimal server.
Area: packaging."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[2]

NAMED = "import zoneinfo; print(zoneinfo.TZPATH, zoneinfo.ZoneInfo('Europe/Berlin'), zoneinfo.ZoneInfo('UTC'))"


def test_the_zones_come_with_the_program() -> None:
    needed = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["dependencies"]
    assert "tzdata" in {re.split(r"[^\w-]", line)[0] for line in needed}
    bare = {**os.environ, "PYTHONTZPATH": ""}
    found = subprocess.run([sys.executable, "-c", NAMED], env=bare, check=True, capture_output=True, timeout=60)
    assert found.stdout.split() == [b"()", b"Europe/Berlin", b"UTC"]


def test_the_one_file_program_carries_them() -> None:
    """They are data in packages that nothing imports by a statement."""
    spec = (ROOT / ".ci" / "binary" / "chat.spec").read_text(encoding="utf-8")
    assert 'collect_submodules("tzdata")' in spec
    assert 'collect_data_files("tzdata")' in spec
