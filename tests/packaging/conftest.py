"""What `.ci/build` makes, and a bare Debian in which to try it: no Python, no service manager, a root of its own.

A run of `.ci/run` builds meanwhile and says where (TESTS_DIST); elsewhere the first test builds. Where there is no
debootstrap, or no root, what needs a Debian is skipped, unless TESTS_REQUIRE_DEBIAN is set.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Final

import attrs
import pytest

from tests.test_readme import free_port

ROOT: Final = Path(__file__).parents[2]
BUILD_SECONDS: Final = 1_200
SUITE: Final = "bookworm"
READABLE: Final = 0o022

Made = Callable[[Path], None]


@pytest.fixture(autouse=True)
def readable_files() -> Iterator[None]:
    """What is installed here is readable for every account, whatever umask a test before has left behind."""
    before = os.umask(READABLE)
    yield
    os.umask(before)


@pytest.fixture(scope="session")
def once(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str, Made], Path]:
    """Makes a directory of this name that all workers of the run share."""
    base = tmp_path_factory.getbasetemp()
    shared = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base

    def made_once(name: str, make: Made) -> Path:
        place, done = shared / name, shared / f"{name}.done"
        with (shared / f"{name}.lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not done.exists():
                place.mkdir()
                make(place)
                done.touch()
        return place

    return made_once


@attrs.frozen
class Built:
    """The files that are published."""

    directory: Path

    def _one(self, pattern: str) -> Path:
        (found,) = self.directory.glob(pattern)
        return found

    @property
    def wheel(self) -> Path:
        return self._one("chat-*.whl")

    @property
    def sdist(self) -> Path:
        return self._one("chat-*.tar.gz")

    @property
    def binary(self) -> Path:
        return self._one("chat-*-linux-x86_64")

    @property
    def debian(self) -> Path:
        return self._one("chat_*_amd64.deb")


def build(directory: Path) -> None:
    subprocess.run([ROOT / ".ci/build", directory], check=True, stdout=subprocess.DEVNULL, timeout=BUILD_SECONDS)


@pytest.fixture(scope="session")
def built(once: Callable[[str, Made], Path]) -> Built:
    given = os.environ.get("TESTS_DIST")
    if given is None:
        return Built(once("dist", build))
    for _ in range(BUILD_SECONDS):  # it appears when it is whole
        if Path(given).is_dir():
            return Built(Path(given))
        if Path(f"{given}.failed").exists():
            break
        time.sleep(1)
    pytest.fail(f"nothing was built in {given}")


@attrs.frozen
class Debian:
    """A Debian in a directory. What runs in it shares this machine's network and has an empty environment."""

    path: Path

    def command(self, *arguments: str, environment: Mapping[str, str] | None = None) -> list[str]:
        """The command that runs another one in here."""
        values = [f"{name}={value}" for name, value in (environment or {}).items()]
        return ["chroot", str(self.path), "/usr/bin/env", "-i", *values, *arguments]

    def run(self, *arguments: str, environment: Mapping[str, str] | None = None, typed: str = "") -> str:
        """What a command prints; raises CalledProcessError when it fails."""
        path = {"PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"}
        ended = subprocess.run(
            self.command(*arguments, environment=path if environment is None else environment),
            input=typed,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=120,
            check=False,
        )
        assert ended.returncode == 0, f"{arguments}: {ended.stdout}"
        return ended.stdout

    @contextlib.contextmanager
    def serving(self, *command: str, environment: Mapping[str, str] | None = None) -> Iterator[subprocess.Popen[str]]:
        """A server in here, which is drained at the end: SIGTERM reaches it, and it ends with 0."""
        with subprocess.Popen(
            self.command(*command, environment=environment), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        ) as server:
            try:
                yield server
                server.send_signal(signal.SIGTERM)
                assert server.wait(60) == 0
            finally:
                server.kill()

    def holds(self, path: str) -> Path:
        """Where a file of this Debian is from outside."""
        return self.path / path.lstrip("/")


def bootstrap(directory: Path) -> None:
    directory.chmod(0o755)  # every account of the Debian enters its root
    command = ["debootstrap", "--variant=minbase", SUITE, str(directory)]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=BUILD_SECONDS, check=False, umask=READABLE)
    assert ended.returncode == 0, ended.stdout[-2_000:]


@pytest.fixture(scope="session")
def bare_debian(once: Callable[[str, Made], Path]) -> Path:
    given = os.environ.get("TESTS_DEBIAN")
    if given is not None:
        return Path(given)
    if shutil.which("debootstrap") is None or os.geteuid() != 0:
        if "TESTS_REQUIRE_DEBIAN" in os.environ:
            pytest.fail("TESTS_REQUIRE_DEBIAN is set, and there is no debootstrap or no root")
        pytest.skip("needs debootstrap and root")
    return once("debian", bootstrap)


@pytest.fixture
def debian(bare_debian: Path, tmp_path: Path) -> Iterator[Debian]:
    """A Debian of the test's own: a layer above the bare one, where a layer can be, else a copy."""
    place, layer, work = (tmp_path / name for name in ("debian", "layer", "work"))
    for folder in (place, layer, work):
        folder.mkdir()
    options = f"lowerdir={bare_debian},upperdir={layer},workdir={work}"
    mount = ["mount", "-t", "overlay", "-o", options, "overlay", place]
    is_layer = subprocess.run(mount, capture_output=True, check=False).returncode == 0
    if not is_layer:
        place.rmdir()
        subprocess.run(["cp", "-a", bare_debian, place], check=True)
    try:
        inside = Debian(place)
        assert not list(inside.holds("/usr/bin").glob("python*"))
        yield inside
    finally:
        if is_layer:
            subprocess.run(["umount", "--lazy", place], check=True)


@pytest.fixture
def port() -> int:
    return free_port()
