"""TypeScript's compiler over the web client: its JSDoc types are strict, and they hold."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path
from typing import Final

import pytest

from tests.conformance.clients.installed import installed_by_npm, node

HERE: Final = Path(__file__).parent
LISTS: Final = (HERE / "typescript" / "package.json", HERE / "typescript" / "package-lock.json")
COMPLAINT: Final = re.compile(r"^(?P<path>\S+?)\(\d+,\d+\): error .*(?:\n .*)*", re.MULTILINE)
COMPILER_SECONDS: Final = 300

pytestmark = pytest.mark.long


@pytest.mark.parametrize("project", ["tsconfig.json", "tsconfig.worker.json"])
def test_the_types_of_the_client_hold(project: str) -> None:
    """What the compiler says of modules that the client shares with the pages does not count: those have no types."""
    compiler = installed_by_npm("typescript", LISTS) / "node_modules" / "typescript" / "bin" / "tsc"
    command = [str(node()), str(compiler), "--project", str(HERE / project), "--pretty", "false"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=HERE, timeout=COMPILER_SECONDS)
    assert "error TS18003" not in done.stdout, "the compiler found no module"
    complaints = [match[0] for match in COMPLAINT.finditer(done.stdout)]
    assert (done.returncode == 0) == (complaints == []), done.stdout
    ours = [complaint for complaint in complaints if "chat/web/client/" in complaint.partition("(")[0]]
    assert ours == [], "\n".join(ours)
