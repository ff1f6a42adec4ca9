"""The Debian package in a bare Debian: installed, run as its unit says, upgraded, removed, purged."""

from __future__ import annotations

import configparser
import json
import pwd
import re
import shlex
import subprocess
from pathlib import Path
from typing import Final

import pytest

import chat
from chat.cli.main import WRONG_SETTINGS
from tests.packaging.conftest import ROOT, Built, Debian
from tests.packaging.test_binary import text_at

pytestmark = pytest.mark.long

UNIT: Final = "/lib/systemd/system/chat.service"
DATA: Final = "/var/lib/chat"
ENVIRONMENT: Final = "/etc/chat/environment"
EXPOSURE_MAXIMUM: Final = 2.0
"""Of ten, by `systemd-analyze security`."""

AS_UNIT: Final = ("setpriv", "--reuid=chat", "--regid=chat", "--init-groups")


@pytest.fixture
def installed(debian: Debian, built: Built) -> Debian:
    """A Debian with the package."""
    install(debian, built.debian)
    return debian


def install(debian: Debian, package: Path) -> None:
    debian.holds("/tmp/chat.deb").write_bytes(package.read_bytes())  # noqa: S108 - in the test's own Debian
    debian.run("dpkg", "--install", "/tmp/chat.deb")  # noqa: S108


def unit(debian: Debian) -> configparser.SectionProxy:
    """The unit's section about the service; of a name that comes twice the last."""
    parsed = configparser.ConfigParser(strict=False, interpolation=None)
    parsed.optionxform = str  # type: ignore[assignment,method-assign]
    parsed.read_string(debian.holds(UNIT).read_text())
    return parsed["Service"]


def users(debian: Debian) -> dict[str, list[str]]:
    """The lines of /etc/passwd by name."""
    lines = debian.holds("/etc/passwd").read_text().splitlines()
    return {line.split(":")[0]: line.split(":") for line in lines}


def test_a_life_of_the_package(installed: Debian, built: Built, port: int, tmp_path: Path) -> None:
    uid = int(users(installed)["chat"][2])
    assert users(installed)["chat"][5:] == [DATA, "/usr/sbin/nologin"]
    assert uid < pwd.getpwnam("nobody").pw_uid
    for directory in (DATA, "/var/backups/chat"):
        status = installed.holds(directory).stat()
        assert (status.st_uid, status.st_mode & 0o777) == (uid, 0o700)

    # Root's commands are its account's.
    assert installed.run("chat", "--version") == f"chat {chat.__version__}\n"
    installed.run("chat", "user", "create", "--username", "root", "--password", "-", typed="a quiet harbour 7\n")
    files = [file.stat() for file in installed.holds(DATA).iterdir()]
    assert files
    assert {file.st_uid for file in files} == {uid}

    # Secrets are root's, and root's commands judge the settings that the server has.
    file = installed.holds(ENVIRONMENT)
    assert (file.stat().st_uid, file.stat().st_mode & 0o777) == (0, 0o600)
    file.write_text('# of mine\n\n CHAT_SERVICE_NAME="The $(id) Yard"  \nCHAT_LOG_LEVEL=debug\nOTHER=x\nCHAT_A;B=c')
    shown = installed.run("chat", "config", "show")
    assert "The $(id) Yard" in shown
    assert "environment CHAT_LOG_LEVEL" in shown
    assert "The Harbour" in installed.run("env", "CHAT_SERVICE_NAME=The Harbour", "chat", "config", "show")
    file.chmod(0o644)

    # What the unit starts serves, below the address that a settings file in /etc names.
    installed.holds(f"{DATA}/chat.toml").write_text(f"port = {port}\n")
    assert installed.holds("/etc/chat/chat.toml").readlink() == Path(f"{DATA}/chat.toml")
    command = shlex.split(unit(installed)["ExecStart"])
    with installed.serving("/usr/bin/" + AS_UNIT[0], *AS_UNIT[1:], *command) as server:
        assert server.stdout is not None
        assert f":{port} " in server.stdout.readline()
        assert "<form" in text_at(port, "/login")

    upgraded = newer(built.debian, tmp_path)
    install(installed, upgraded)
    assert file.stat().st_mode & 0o777 == 0o600
    assert "The $(id) Yard" in file.read_text()
    assert f"{chat.__version__}+next" in installed.run("dpkg-query", "--show", "chat")
    assert "root" in installed.run("chat", "user", "list", "--json")

    installed.run("dpkg", "--remove", "chat")
    assert not installed.holds("/usr/lib/chat").exists()
    assert not installed.holds(UNIT).exists()
    assert installed.holds(f"{DATA}/chat.toml").exists()
    installed.holds("/var/backups/chat/kept").write_text("a backup")
    installed.run("dpkg", "--purge", "chat")
    assert not installed.holds(DATA).exists()
    assert not installed.holds("/etc/chat").exists()
    assert installed.holds("/var/backups/chat/kept").exists()


def newer(package: Path, work: Path) -> Path:
    """The same package with a higher version."""
    folder, target = work / "repacked", work / "newer.deb"
    subprocess.run(["dpkg-deb", "--raw-extract", package, folder], check=True)
    control = folder / "DEBIAN/control"
    control.write_text(re.sub(r"^(Version: .*)$", r"\1+next", control.read_text(), flags=re.MULTILINE))
    subprocess.run(
        ["dpkg-deb", "--root-owner-group", "-Znone", "--build", folder, target], check=True, stdout=subprocess.DEVNULL
    )
    return target


@pytest.fixture
def extracted(built: Built, tmp_path: Path) -> Debian:
    """The package's files alone, without a Debian around them."""
    place = tmp_path / "extracted"
    subprocess.run(["dpkg-deb", "--extract", built.debian, place], check=True)
    return Debian(place)


def test_the_unit_is_sound_and_shut_in(extracted: Debian) -> None:
    for name in ("etc", "usr/lib/systemd"):
        extracted.holds(name).mkdir(parents=True, exist_ok=True)
    root = f"--root={extracted.path}"
    verified = subprocess.run(
        ["systemd-analyze", "verify", "--man=no", "--recursive-errors=no", root, "chat.service"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (verified.returncode, [line for line in verified.stderr.splitlines() if "chat" in line]) == (0, [])
    file = extracted.holds(UNIT)
    judged = subprocess.run(
        [
            "systemd-analyze",
            "security",
            "--offline=true",
            "--no-pager",
            f"--threshold={int(EXPOSURE_MAXIMUM * 10)}",
            file,
        ],
        capture_output=True,
        text=True,
        check=False,
    )
    exposure = re.search(r"Overall exposure level for chat.service: ([0-9.]+)", judged.stdout)
    assert exposure is not None, judged.stdout + judged.stderr
    assert float(exposure[1]) <= EXPOSURE_MAXIMUM, judged.stdout
    assert judged.returncode == 0


def test_settings_of_the_unit_are_those_that_the_program_needs(extracted: Debian) -> None:
    section = unit(extracted)
    assert section["Type"] == "notify"
    assert section["KillMode"] == "mixed"
    assert section["EnvironmentFile"] == f"-{ENVIRONMENT}"
    assert int(section["RestartPreventExitStatus"]) == WRONG_SETTINGS
    assert section["StateDirectory"] == "chat"
    assert int(section["WatchdogSec"].removesuffix("s")) >= 30
    command, _, data = section["ExecStart"].partition(" serve --data ")
    assert data == DATA
    assert extracted.holds(command).stat().st_mode & 0o111 == 0o111


def test_the_papers_of_the_package(built: Built, extracted: Debian) -> None:
    shown = subprocess.run(["dpkg-deb", "--field", built.debian], capture_output=True, text=True, check=True).stdout
    assert f"Version: {chat.__version__}\n" in shown
    assert re.search(r"^Depends: libc6 \(>= 2\.[0-9]+\), passwd$", shown, re.MULTILINE)
    assert extracted.holds("/usr/share/doc/chat/copyright").is_file()
    assert "_chat_completion" in extracted.holds("/usr/share/bash-completion/completions/chat").read_text()
    owners = subprocess.run(["dpkg-deb", "--contents", built.debian], capture_output=True, text=True, check=True).stdout
    assert {line.split()[1] for line in owners.splitlines()} == {"root/root"}
    assert (ROOT / ".ci/debian/chat.service").read_text() == extracted.holds(UNIT).read_text()


def test_what_the_container_runs_and_how_it_tells_its_health(installed: Debian, port: int) -> None:
    lines = (ROOT / ".ci" / "Containerfile").read_text().replace("8080", str(port)).splitlines()
    said = {line.partition(" ")[0]: line.partition(" ")[2] for line in lines}
    assert said["USER"] == "chat"
    assert [line for line in lines if line.startswith("VOLUME")] == [f"VOLUME {DATA}"]
    as_user = ("/usr/bin/" + AS_UNIT[0], *AS_UNIT[1:])
    health = [*as_user, *json.loads(said["HEALTHCHECK"].partition("CMD ")[2])]
    command = [*as_user, *json.loads(said["CMD"]), "--port", str(port)]
    with installed.serving(*command) as server:
        assert server.stdout is not None
        assert server.stdout.readline().startswith(f"listening on http://0.0.0.0:{port} ")
        assert subprocess.run(installed.command(*health), capture_output=True, check=False).returncode == 0
    assert subprocess.run(installed.command(*health), capture_output=True, check=False).returncode != 0
