"""`chat serve` and `chat dev` as processes: the one line, the lock, the signals."""

from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import attrs
import pytest

import chat
from chat.cli.serve import announce
from chat.serving import ServerAddresses
from tests.cli.command_line import Run
from tests.patience import PATIENCE_SECONDS

ENVIRONMENT = os.environ | {"PYTHONPATH": str(Path(chat.__file__).parents[1])}
LISTENING = re.compile(r"listening on (http://127\.0\.0\.1:(\d+)) gateway ws://127\.0\.0\.1:(\d+)/gateway\n")


@attrs.frozen
class Running:
    """A server process, and the first line that it printed."""

    process: subprocess.Popen[str]
    line: str

    def stop(self, number: signal.Signals = signal.SIGTERM) -> tuple[int, str, str]:
        """Exit status, the rest of standard output, and the log, after this signal."""
        assert self.process.stdout is not None
        assert self.process.stderr is not None
        self.process.send_signal(number)
        status = self.process.wait(timeout=PATIENCE_SECONDS)
        return status, self.process.stdout.read(), self.process.stderr.read()


@contextlib.contextmanager
def running(*arguments: object, start: tuple[str, ...] = (), **environment: str) -> Iterator[Running]:
    process = subprocess.Popen(
        [*start, sys.executable, "-m", "chat", *map(str, arguments)],
        env=ENVIRONMENT | environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    with process:
        try:
            assert process.stdout is not None
            assert process.stderr is not None
            line = process.stdout.readline()
            if not line:
                pytest.fail(f"the server did not start: {process.stderr.read()}")
            yield Running(process, line)
        finally:
            process.kill()


def failing(*arguments: object, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "chat", *map(str, arguments)],
        env=ENVIRONMENT | environment,
        capture_output=True,
        text=True,
        timeout=PATIENCE_SECONDS,
        check=False,
    )


def get(url: str, token: str | None = None) -> Any:
    request = urllib.request.Request(url, headers={} if token is None else {"Authorization": token})  # noqa: S310
    with urllib.request.urlopen(request, timeout=PATIENCE_SECONDS) as answer:  # noqa: S310 - our own server
        return json.load(answer)


def test_the_server_prints_one_line_owns_its_data_and_leaves_with_0_when_asked(data: Path, run: Run) -> None:
    with running("serve", "--data", data, "--port", "0") as server:
        match = LISTENING.fullmatch(server.line)
        assert match is not None
        origin, port, gateway_port = match.groups()
        assert int(port) > 0
        assert port == gateway_port
        assert get(f"{origin}/.well-known/chat")["endpoints"]["api"] == f"{origin}/v1"
        assert [path.name for path in sorted(data.iterdir())][:1] == ["chat.sqlite3"]
        # A second server on the same data is refused, and commands are not.
        second = failing("serve", "--data", data, "--port", "0")
        assert (second.returncode, second.stdout) == (1, "")
        owner = f"is in use by another process (process {server.process.pid})"
        assert second.stderr == f"chat: the data directory {data} {owner}\n"
        assert run("user", "create", "--username", "alice", "--data", data).status == 0
        assert [account["username"] for account in run("user", "list", "--data", data).json] == ["alice"]
        assert run("status", "--data", data).json["answer"] == "ready"  # at a port that no setting names
        # It is killed when the block ends, and leaves no lock behind.
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        with running("serve", "--data", data, "--port", "0") as server:
            assert LISTENING.fullmatch(server.line)
            status, rest, log = server.stop(number)
        assert (status, rest) == (0, ""), number
        assert "Traceback" not in log


def test_a_shell_that_repeats_the_hangup_of_its_terminal_does_not_cut_the_drain_short(data: Path) -> None:
    with running("serve", "--data", data, "--port", "0") as server:
        for _ in range(20):
            server.process.send_signal(signal.SIGHUP)
        status, rest, log = server.stop(signal.SIGHUP)
    assert (status, rest) == (0, "")
    assert "sessions retained" in log


def test_under_nohup_a_hangup_ends_nothing(data: Path) -> None:
    with running("serve", "--data", data, "--port", "0", start=("nohup",)) as server:
        match = LISTENING.fullmatch(server.line)
        assert match is not None
        server.process.send_signal(signal.SIGHUP)
        assert get(f"{match[1]}/_health") == {"status": "ok"}
        assert server.stop()[0] == 0


INTERRUPTED = """
import os, signal, sys
from chat.__main__ import main

class Finder:
    def find_spec(self, name, path=None, target=None):
        if name == MODULE:
            sys.meta_path.remove(self)
            os.kill(os.getpid(), signal.SIGINT)

MODULE = sys.argv.pop(1)
sys.meta_path.insert(0, Finder())
main()
"""
"""Runs the command line, and presses Ctrl-C when it comes to import the module that the first argument names."""


@pytest.mark.parametrize(
    ("module", "ending"),
    [
        ("click", (-signal.SIGINT, "")),
        ("chat.cli.serve", (1, "chat: aborted\n")),
        ("trio", (-signal.SIGINT, "")),
        ("chat.domain.guilds.guilds", (-signal.SIGINT, "")),
        ("chat.development.seeded_world", (0, "")),  # the loop runs, and nothing is served yet
    ],
)
def test_an_interrupt_during_the_start_leaves_no_traceback(data: Path, module: str, ending: tuple[int, str]) -> None:
    ended = subprocess.run(
        [sys.executable, "-c", INTERRUPTED, module, "dev", "--port", "0", "--data", str(data)],
        env=ENVIRONMENT,
        capture_output=True,
        text=True,
        timeout=PATIENCE_SECONDS,
        check=False,
    )
    assert (ended.returncode, ended.stderr.lstrip()) == ending
    assert ended.stdout == ""


def test_metrics_and_the_access_log_of_a_process(data: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    chosen = {"CHAT_METRICS": "on", "CHAT_METRICS_LISTEN": f"127.0.0.1:{port}", "CHAT_ACCESS_LOG": "on"}
    with running("serve", "--data", data, "--port", "0", **chosen) as server:
        match = LISTENING.fullmatch(server.line)
        assert match is not None
        get(f"{match[1]}/.well-known/chat?q=canary")
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=PATIENCE_SECONDS) as answer:
            text = answer.read().decode()
        status, _, log = server.stop()
    assert 'chat_http_requests_total{operation="GET /.well-known/chat",status="200"} 1.0' in text
    assert "process_resident_memory_bytes" in text
    assert status == 0
    [line] = [line for line in map(json.loads, log.splitlines()) if line["event"] == "request"]
    assert (line["logger"], line["route"], line["status"]) == ("chat.access", "/.well-known/chat", 200)
    assert "canary" not in log


def test_a_server_for_everybody_that_does_not_know_its_name_says_so(data: Path) -> None:
    with running("serve", "--data", data, "--port", "0", "--host", "0.0.0.0") as server:  # noqa: S104 - for a moment
        match = re.fullmatch(r"listening on http://0\.0\.0\.0:(\d+) gateway ws://0\.0\.0\.0:\1/gateway\n", server.line)
        assert match is not None
        for host in ("127.0.0.1", "localhost"):
            endpoints = get(f"http://{host}:{match[1]}/.well-known/chat")["endpoints"]
            assert endpoints["gateway"] == f"ws://{host}:{match[1]}/gateway"
        status, _, log = server.stop()
    assert status == 0
    assert log.count("public_url is not set") == 1
    known = ("--host", "0.0.0.0", "--public-url", "https://a.example")  # noqa: S104
    with running("serve", "--data", data, "--port", "0", *known) as server:
        _, _, log = server.stop()
    assert "public_url is not set" not in log


@pytest.mark.parametrize(
    ("name", "value", "told"),
    [
        ("CHAT_PORT", "x", "setting port (environment CHAT_PORT): expected a whole number from 0 to 65535"),
        ("CHAT_WEBAPP_DIRECTORY", "nowhere", "setting webapp_directory: expected a folder with index.html"),
        ("CHAT_LOGO_FILE", "nowhere.png", "setting logo_file: "),
        ("CHAT_BACKUP__DIRECTORY", "uploads/ours", "setting backup.directory: expected a folder of its own"),
        ("CHAT_BACKUP__DIRECTORY", ".", "setting backup.directory: expected a folder of its own"),
    ],
)
def test_a_start_that_a_setting_prevents_is_told_to_a_service_manager(
    data: Path, name: str, value: str, told: str
) -> None:
    for manager, status in (({}, 1), ({"NOTIFY_SOCKET": str(data / "nobody")}, 78)):
        refused = failing("serve", "--data", data, "--port", "0", **manager, **{name: value})
        assert (refused.returncode, refused.stdout) == (status, "")
        assert refused.stderr.splitlines()[-1].startswith(f"chat: {told}")


@pytest.mark.parametrize(("mode", "is_told"), [(0o777, True), (0o770, True), (0o755, False), (0o700, False)])
def test_a_data_directory_that_others_can_write_to_is_told_and_left(data: Path, mode: int, is_told: bool) -> None:
    data.mkdir()
    data.chmod(mode)
    with running("serve", "--data", data, "--port", "0") as server:
        status, _, log = server.stop()
    assert status == 0
    told = [line for line in map(json.loads, log.splitlines()) if "others can write" in line["event"]]
    assert [line["remedy"] for line in told] == ([f"chmod -R go= {data}"] if is_told else [])
    assert data.stat().st_mode & 0o777 == mode


def test_few_files_are_told_of_before_anybody_is_turned_away(data: Path) -> None:
    command = 'ulimit -n 128; exec "$@"'
    refused = subprocess.run(
        ["sh", "-c", command, "sh", sys.executable, "-m", "chat", "serve", "--data", data, "--port", "0"],
        env=ENVIRONMENT,
        capture_output=True,
        text=True,
        timeout=PATIENCE_SECONDS,
        check=False,
    )
    assert (refused.returncode, refused.stdout) == (1, "")
    said = "only 128 files may be open here: raise the limit (ulimit -n) to 256 or more"
    assert refused.stderr.splitlines()[-1] == f"chat: {said}"


def test_a_missing_geolocation_file_is_told_at_the_start(data: Path) -> None:
    with running("serve", "--data", data, "--port", "0", CHAT_GEOLOCATION_FILE="nowhere.mmdb") as server:
        status, _, log = server.stop()
    assert status == 0
    (line,) = [json.loads(line) for line in log.splitlines() if "geolocation" in line]
    assert (line["level"], "nowhere.mmdb" in line["problem"]) == ("warning", True)


IN_A_SMALL_PLACE: Final = """
mount -t tmpfs -o size=3m tmpfs "$1" && cp -a "$2" "$1/data" || exit 99
dd if=/dev/zero of="$1/rest" bs=4k 2>/dev/null
shift 2
exec "$@"
"""
"""What follows runs in a mount namespace of its own, with a copy of the data on a disk that is full."""


@pytest.mark.skipif(shutil.which("unshare") is None or os.geteuid() != 0, reason="mounts a small disk")
def test_a_full_disk_is_named_at_the_start(data: Path, instance: Path, tmp_path: Path) -> None:
    place = tmp_path / "place"
    place.mkdir()
    serve = [sys.executable, "-m", "chat", "serve", "--data", place / "data", "--port", "0"]
    refused = subprocess.run(
        ["unshare", "--mount", "sh", "-c", IN_A_SMALL_PLACE, "sh", place, instance, *serve],
        env=ENVIRONMENT,
        capture_output=True,
        text=True,
        timeout=PATIENCE_SECONDS,
        check=False,
    )
    if refused.returncode == 99 or "unshare" in refused.stderr:
        pytest.skip(f"no disk can be mounted here: {refused.stderr}")
    assert (refused.returncode, refused.stdout) == (1, "")
    assert (
        refused.stderr.splitlines()[-1] == f"chat: the disk of {place / 'data'} is full: nothing can be written there"
    )


def test_a_port_in_use_is_told_in_one_line(data: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        refused = failing("serve", "--data", data, "--port", port)
        assert (refused.returncode, refused.stdout) == (1, "")
        assert refused.stderr.startswith("chat: cannot listen on 127.0.0.1")
        assert refused.stderr.count("\n") == 1
        chosen = {"CHAT_METRICS": "on", "CHAT_METRICS_LISTEN": f"127.0.0.1:{port}"}
        refused = failing("serve", "--data", data, "--port", "0", **chosen)
        assert (refused.returncode, refused.stdout) == (1, "")
        assert refused.stderr.startswith(f"chat: cannot listen on 127.0.0.1 port {port}")


@pytest.mark.long
def test_chat_dev_tells_programs_and_people_of_a_world_that_is_kept_with_its_data(data: Path) -> None:
    with running("dev", "--port", "0", "--json", "--data", data) as server:
        world = json.loads(server.line)
        assert world["pid"] == server.process.pid
        assert world["gateway_url"] == world["base_url"].replace("http", "ws").removesuffix("/v1") + "/gateway"
        assert get(f"{world['base_url']}/users/@me", world["users"][0]["token"])["username"] == "alice"
        assert get(f"{world['base_url']}/users/@me", f"Bot {world['bot']['token']}")["bot"] is True
        status, rest, _ = server.stop()
    assert (status, rest) == (0, "")
    with running("dev", "--port", "0", "--data", data) as server:
        assert LISTENING.fullmatch(server.line)
        _, rest, _ = server.stop()
    lines = rest.splitlines()
    for account in (world["admin"], *world["users"]):
        assert f"{account['username']}\t{account['token']}\t{account['password']}" in lines
    assert f"bot token\t{world['bot']['token']}" in lines
    assert f"guild\t{world['guild_id']}" in lines


def post(address: str, body: object, token: str | None = None) -> tuple[int, object]:
    """One request with a JSON body: its status, and its JSON if there is any."""
    headers = {"Content-Type": "application/json", **({"Authorization": token} if token else {})}
    request = urllib.request.Request(address, json.dumps(body).encode(), headers)  # noqa: S310
    try:
        with urllib.request.urlopen(request, timeout=PATIENCE_SECONDS) as answer:  # noqa: S310
            text = answer.read()
            return answer.status, json.loads(text) if text else None
    except urllib.error.HTTPError as error:
        return error.code, json.loads(error.read())


@pytest.mark.parametrize(
    ("origin", "tunnel"),
    [
        ("http://127.0.0.1:9000", "ssh -L 9000:127.0.0.1:9000 THIS-MACHINE"),
        ("http://[::1]:9000", "ssh -L 9000:[::1]:9000 THIS-MACHINE"),
        ("http://localhost:9000", "ssh -L 9000:localhost:9000 THIS-MACHINE"),
        ("http://192.0.2.7:9000", None),
        ("https://chat.example", None),
    ],
)
def test_a_link_to_this_machine_comes_with_the_way_from_another(
    origin: str, tunnel: str | None, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    link = f"{origin}/setup#token=x"
    addresses = ServerAddresses("127.0.0.1", 9000, origin, f"{origin}/gateway", setup_url=link)
    announce(addresses)
    line = json.loads(capsys.readouterr().err)
    assert (line["link"], line.get("from_another_machine")) == (link, tunnel)
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    announce(addresses)
    said = capsys.readouterr().err
    assert f"    {link}\n" in said
    assert said.count("ssh -L") == (tunnel is not None)
    assert tunnel is None or f"`{tunnel}`" in said


@pytest.mark.long
def test_the_set_up_link_is_printed_until_it_was_used(data: Path) -> None:
    links = []
    for _ in range(2):
        with running("serve", "--data", data, "--port", "0") as server:
            match = LISTENING.fullmatch(server.line)
            assert match is not None
            api = f"{match[1]}/v1"
            if links:
                person = {"email": "ada@example.org", "password": "four unrelated words", "username": "ada"}
                _, registered = post(f"{api}/auth/register", person)
                assert isinstance(registered, dict)
                token = links[0].partition("#token=")[2]
                assert post(f"{api}/instance/setup", {"token": token}, registered["token"])[0] == 204
            _, _, log = server.stop()
        [line] = [line for line in map(json.loads, log.splitlines()) if "link" in line]
        assert line["level"] == "warning"
        links.append(line["link"].replace(match[1], ""))
    # The same after a restart, so that a link that was noted down stays good.
    assert links[0] == links[1]
    assert re.fullmatch(r"/setup#token=[A-Za-z0-9_-]{43}", links[0])
    with running("serve", "--data", data, "--port", "0") as server:
        _, _, log = server.stop()
    assert "/setup#" not in log
