"""The manual's page about installing, followed in a bare Debian: from nothing to two people who talk behind TLS, and
back from a backup after the data directory was destroyed.

Pictures of it lie in the test's own directory.

What a bare Debian without a running systemd lacks is put in its place: a `systemctl` that starts what the units say.
The ports are free ones, and the proxy makes its certificate itself.
"""

from __future__ import annotations

import re
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import attrs
import pytest
from playwright.sync_api import Browser, ConsoleMessage, sync_playwright

from tests.packaging.conftest import ROOT, Built, Debian
from tests.packaging.test_binary import text_at
from tests.patience import PATIENCE_SECONDS
from tests.test_readme import BLOCK, free_port
from tests.web.browsing import CHROMIUM, FLAGS, Instance
from tests.web.client.by_hand.test_journey import PASSWORD, Member, comes_by

pytestmark = pytest.mark.long(minutes=1)

PAGE: Final = (ROOT / "chat/manual/install.md").read_text(encoding="utf-8")
NAME: Final = "chat.example.org"

SYSTEMCTL: Final = r"""#!/bin/bash
# Starts and stops what a unit names, as its account; there is no service manager in here.
set -eu
action=$1 unit=${2%.service}
file=/lib/systemd/system/$unit.service pid=/run/$unit.pid
value() { sed -n "s/^$1=//p" "$file" | tail -n 1; }
stop() {
    if [ -s "$pid" ] && kill -TERM "$(cat "$pid")" 2>/dev/null; then
        while kill -0 "$(cat "$pid")" 2>/dev/null; do sleep 0.1; done
    fi
    rm -f "$pid"
}
start() {
    environment=$(value EnvironmentFile); environment=${environment#-}
    if [ -n "$environment" ] && [ -e "$environment" ]; then set -a; . "$environment"; set +a; fi
    export HOME=$(getent passwd "$(value User)" | cut -d: -f6)
    cd "$HOME"
    setsid setpriv --reuid="$(value User)" --regid="$(value Group)" --init-groups \
        $(value ExecStart) </dev/null >>"/var/log/$unit.log" 2>&1 &
    echo $! >"$pid"
}
case $action in
start) start ;;
stop) stop ;;
restart) stop; start ;;
status) kill -0 "$(cat "$pid")" ;;
esac
"""


class Guest(Member):
    """Somebody in the client, whose browser notes that the proxy finds no server while that restarts."""

    def _heard(self, message: ConsoleMessage) -> None:
        if "502" not in message.text:
            super()._heard(message)


def commands(heading: str) -> list[str]:
    """The command blocks of the page below a heading that are to be run."""
    section = next(part for part in re.split(r"^## ", PAGE, flags=re.MULTILINE) if part.startswith(heading + "\n"))
    return [code for language, code in BLOCK.findall(section) if language == "sh"]


@attrs.frozen
class Behind(Instance):
    """An instance behind a proxy with a name of its own."""

    proxy_port: int = 0

    @property
    def origin(self) -> str:
        """Where a browser finds it."""
        return f"https://{NAME}:{self.proxy_port}"


@attrs.frozen
class Machine:
    """A bare Debian, and what differs in here from what the page says."""

    debian: Debian
    package: str
    port: int
    proxy_port: int

    def follow(self, heading: str) -> str:
        """Run the blocks below a heading; what they print."""
        return "".join(self.run(code) for code in commands(heading))

    def run(self, code: str) -> str:
        """Run a block of the page."""
        here = (
            code.replace(f"https://{NAME}", f"https://{NAME}:{self.proxy_port}")
            .replace(f"{NAME} {{", f"https://{NAME}:{self.proxy_port} {{\n    tls internal")
            .replace("127.0.0.1:8080", f"127.0.0.1:{self.port}")
            .replace(
                "<<'END'\n", "<<'END'\n{\n    auto_https disable_redirects\n    admin off\n    skip_install_trust\n}\n"
            )
        )
        here = re.sub(r"\./chat_\S+_amd64\.deb", f"./{self.package}", here)
        here = re.sub(r"^journalctl.*$", "tail -n 20 /var/log/chat.log", here, flags=re.MULTILINE)
        environment = {"DEBIAN_FRONTEND": "noninteractive", "PATH": "/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"}
        return self.debian.run("bash", "-euc", f"cd /root\n{here}", environment=environment)

    def is_served(self, port: int) -> None:
        """Wait until somebody listens on a port."""
        until = time.monotonic() + PATIENCE_SECONDS
        while True:
            try:
                with socket.create_connection(("127.0.0.1", port), 1):
                    return
            except OSError:
                logs = [log.read_text()[-2_000:] for log in self.debian.holds("/var/log").glob("c[ah]*.log")]
                assert time.monotonic() < until, "\n".join(logs)
                time.sleep(0.1)


@pytest.fixture
def machine(debian: Debian, built: Built) -> Iterator[Machine]:
    shutil.copy2(built.debian, debian.holds("/root"))
    shutil.copy2("/etc/resolv.conf", debian.holds("/etc/resolv.conf"))
    debian.holds("/usr/local/bin/systemctl").write_text(SYSTEMCTL)
    debian.holds("/usr/local/bin/systemctl").chmod(0o755)
    port = free_port()
    yield Machine(debian, built.debian.name, port, free_port())
    for unit in ("chat", "caddy"):
        subprocess.run(debian.command("/usr/local/bin/systemctl", "stop", unit), check=False, capture_output=True)


@pytest.fixture
def chromium(machine: Machine) -> Iterator[Browser]:
    """A browser that finds the name on this machine, and takes the proxy's own certificate."""
    if CHROMIUM is None:
        pytest.skip("no chromium on this machine")
    flags = [*FLAGS, f"--host-resolver-rules=MAP {NAME} 127.0.0.1", "--ignore-certificate-errors"]
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=flags, headless=True)
        yield browser
        browser.close()


def test_the_first_hour_and_the_day_when_the_disk_dies(machine: Machine, chromium: Browser, tmp_path: Path) -> None:
    debian = machine.debian
    assert "chat " in machine.follow("The package")
    # 8080 may be another program's on this machine.
    debian.holds("/var/lib/chat/chat.toml").write_text(f"port = {machine.port}\n")
    invite = re.search(r"https://\S+/invite/\S+", machine.follow("Set up"))
    assert invite is not None
    machine.follow("TLS")
    machine.is_served(machine.port)
    machine.is_served(machine.proxy_port)

    home = Behind({"base_url": f"http://127.0.0.1:{machine.port}/v1"}, "", machine.proxy_port)
    with_name = {"elsewhere": (f"{NAME}:{machine.proxy_port}",), "ignore_https_errors": True}
    ana, ben = (Guest(chromium, home, reduced_motion="reduce", **with_name) for _ in range(2))
    enters(ana)
    comes_by(ben, invite[0])
    ana.says("Welcome to the harbour")
    ben.sees("Welcome to the harbour")
    ben.says("Hello Ana")
    ana.sees("Hello Ana")
    ana.page.screenshot(path=tmp_path / "talk.png")

    machine.follow("See how it is doing")
    machine.is_served(machine.port)
    metrics = text_at(machine.port, "/metrics", {"Accept": "text/plain"})
    assert re.search(r"^chat_\w+", metrics, re.MULTILINE)

    make, restore = commands("Back up, and get it back")
    machine.run(make)
    stop, rest = restore.split("\n", 1)
    machine.run(stop)
    shutil.rmtree(debian.holds("/var/lib/chat"))
    debian.run("install", "-d", "-o", "chat", "-g", "chat", "-m", "0700", "/var/lib/chat")
    machine.run(rest)
    machine.is_served(machine.port)

    for one in (ana, ben):
        one.page.reload()
        one.sees("Hello Ana")
    ben.says("That was quick")
    ana.sees("That was quick")
    ben.page.screenshot(path=tmp_path / "restored.png")
    for one in (ana, ben):
        one.close()


def enters(ana: Guest) -> None:
    """The first administrator signs in, and goes to the first channel."""
    ana.goes_to("/login")
    ana.fills(email="ana@example.org", password=PASSWORD)
    ana.presses("Sign in")
    ana.enters()
    ana.page.get_by_role("link", name="Harbour").click()
    ana.page.get_by_role("heading", name="general").first.wait_for()
