"""TypeScript's compiler over the scripts of client, pages and console: their JSDoc types are strict, and they hold. It
knows from the OpenAPI document (`tests.web.client.wire`) what the API answers and takes."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path
from typing import Final

import pytest

from tests.conformance.clients.installed import installed_by_npm, node
from tests.web.client.wire import write

HERE: Final = Path(__file__).parent
LISTS: Final = (HERE / "typescript" / "package.json", HERE / "typescript" / "package-lock.json")
COMPLAINT: Final = re.compile(r"^(?P<path>\S+?)\(\d+,\d+\): error .*(?:\n .*)*", re.MULTILINE)
COMPILER_SECONDS: Final = 300

pytestmark = pytest.mark.long


@pytest.mark.parametrize("project", ["tsconfig.json", "tsconfig.worker.json", "tsconfig.pages.json"])
def test_the_types_of_the_scripts_hold(project: str) -> None:
    write()
    compiler = installed_by_npm("typescript", LISTS) / "node_modules" / "typescript" / "bin" / "tsc"
    command = [str(node()), str(compiler), "--project", str(HERE / project), "--pretty", "false"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=HERE, timeout=COMPILER_SECONDS)
    assert "error TS18003" not in done.stdout, "the compiler found no module"
    complaints = list(COMPLAINT.finditer(done.stdout))
    assert (done.returncode == 0) == (complaints == []), done.stdout
    assert complaints == [], "\n".join(match[0] for match in complaints)
