"""The examples of the manual's page about tests, each carried out as it stands there.

A block with `file="NAME"` is a file of the reader's project. Bots stand on public client libraries, which are installed
as for `tests/conformance`.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from importlib import resources
from pathlib import Path

import pytest

from tests.conformance.clients.installed import node, node_libraries, python_libraries

pytestmark = pytest.mark.long

BLOCK = re.compile(r'^```(?:python|js) file="(?P<name>[^"]+)"\n(?P<text>.*?)^```$', re.MULTILINE | re.DOTALL)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A folder with the files of the page."""
    page = (resources.files("chat") / "manual" / "testing.md").read_text()
    for block in BLOCK.finditer(page):
        (tmp_path / block["name"]).write_text(block["text"])
    return tmp_path


def pytest_in(project: Path, *arguments: str, **environment: str) -> str:
    command = [sys.executable, "-m", "pytest", "-q", "-W", "error", "-p", "no:schemathesis", *arguments]
    whole = {**os.environ, **environment}
    done = subprocess.run(command, cwd=project, capture_output=True, text=True, timeout=280, check=False, env=whole)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_tests_in_a_world(project: Path) -> None:
    modules = [f"test_{name}.py" for name in ("first", "settings", "given", "time", "faults", "machine")]
    shown = pytest_in(project, *modules)
    assert "6 passed" in shown


def test_bots_on_client_libraries(project: Path) -> None:
    (project / "node_modules").symlink_to(node_libraries() / "node_modules")
    shown = pytest_in(
        project,
        "test_ping.py",
        PYTHONPATH=str(python_libraries()),
        PATH=os.pathsep.join([str(Path(node()).parent), os.environ["PATH"]]),
    )
    assert "6 passed" in shown
