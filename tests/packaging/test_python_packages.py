"""Wheel and sdist, from the built files: everything is in them, and they run anywhere."""

from __future__ import annotations

import json
import subprocess
import sys
import sysconfig
import tarfile
import venv
import zipfile
from pathlib import Path

import pytest

import chat
from tests.packaging.conftest import ROOT, Built
from tests.packaging.test_binary import text_at

pytestmark = pytest.mark.long


def known_files() -> set[str]:
    """The files of the package that the version control knows."""
    listed = subprocess.run(["git", "ls-files", "-z", "chat"], cwd=ROOT, capture_output=True, text=True, check=True)
    return {name for name in listed.stdout.split("\0") if name}


def test_every_file_of_the_package_is_in_both(built: Built) -> None:
    with zipfile.ZipFile(built.wheel) as wheel:
        in_wheel = {name for name in wheel.namelist() if name.startswith("chat/")}
    with tarfile.open(built.sdist) as sdist:
        in_sdist = {name.partition("/")[2] for name in sdist.getnames()}
    assert in_wheel == known_files()
    assert known_files() <= in_sdist
    assert {"README.md", "LICENSE", "pyproject.toml"} <= in_sdist


def test_the_version_has_one_place(built: Built) -> None:
    names = {built.wheel.name, built.sdist.name, built.binary.name, built.debian.name}
    assert {name.replace("_", "-").split("-")[1].removesuffix(".tar.gz") for name in names} == {chat.__version__}


def test_the_wheel_runs_without_the_checkout(built: Built, tmp_path: Path) -> None:
    place = tmp_path / "venv"
    venv.create(place, with_pip=False)
    (site,) = place.glob("lib/python*/site-packages")
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-index", "--target", site, built.wheel]
    subprocess.run(pip, check=True, capture_output=True)
    # What it depends on is there already; lines of a folder that is named so are not carried out, so ours is not.
    (site / "dependencies.pth").write_text(sysconfig.get_path("purelib") + "\n")
    command = [str(place / "bin/python"), "-I", "-m", "chat", "dev", "--port", "0", "--json"]
    with subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as server:
        try:
            assert server.stdout is not None
            world = json.loads(server.stdout.readline())
            port = int(world["base_url"].rpartition(":")[2].partition("/")[0])
            for path, expected in (
                ("/login", "<form"),
                ("/channels/@me", "<script"),
                ("/docs", "<h1"),
                ("/docs/gateway-events", "Someone joined"),
                ("/docs/asyncapi.json", '"summary": "Someone joined."'),
                ("/admin", "<h1"),
            ):
                assert expected in text_at(port, path, {"Accept": "text/html"})
            me = json.loads(text_at(port, "/v1/users/@me", {"Authorization": world["users"][0]["token"]}))
            assert me["id"] == world["users"][0]["id"]
            server.terminate()
            assert server.wait(60) == 0
        finally:
            server.kill()
