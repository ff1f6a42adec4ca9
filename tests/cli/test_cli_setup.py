"""`chat setup`: asked in a real terminal, told by options, run again; and what it finds when it looks."""

from __future__ import annotations

import json
import os
import shutil
import socket
import ssl
import tempfile
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest
import trio

from chat.cli import service_unit
from chat.cli.main import main
from chat.config import load_settings
from chat.port.tls import Certificates
from chat.store.data_directory import DataDirectory
from chat.store.guilds import guilds, invites
from tests.certificates import Authority
from tests.cli.command_line import Run, stored
from tests.cli.terminal import CONTROL_C, CONTROL_D, Terminal
from tests.durability.server_process import running

OFFLINE = ("--no-check",)


@pytest.mark.long
def test_every_question_is_asked_until_its_answer_can_be_used(tmp_path: Path, run: Run) -> None:
    data = tmp_path / "data"
    with Terminal("setup", "--data", data, "--no-check", directory=tmp_path) as terminal:
        terminal.refused("Address [here]: ", "https://x/path", "expected an origin such as https://chat.example")
        terminal.refused("Address [here]: ", "ftp://x", "expected an origin")
        terminal.answer("Address [here]: ", "chat.example")
        terminal.refused("In front [proxy]: ", "magic", "expected proxy, elsewhere, itself or none")
        terminal.answer("In front [proxy]: ", "else")
        terminal.refused("of the proxy: ", "10.0.0.999", "expected a list of networks")
        terminal.answer("of the proxy: ", "10.0.0.2, 10.1.0.0/16")
        terminal.refused("listens on [8080]: ", "99999", "expected a whole number from 0 to 65535")
        terminal.refused("listens on [8080]: ", "0", "expected a port from 1")
        terminal.refused("listens on [8080]: ", "eighty", "expected a whole number")
        terminal.answer("listens on [8080]: ", "9000")
        terminal.refused("Send mail [no]: ", "perhaps", "expected yes or no")
        terminal.answer("Send mail [no]: ", "y")
        terminal.refused("SMTP server: ", "   ", "expected a host name")
        terminal.answer("SMTP server: ", "smtp.example")
        terminal.refused("Protection [starttls]: ", "ssl", "expected starttls, implicit or off")
        terminal.answer("Protection [starttls]: ", "implicit")
        terminal.refused("Port [465]: ", "-1", "expected a whole number from 1 to 65535")
        terminal.answer("Port [465]: ", "")
        terminal.answer("User name (- for none) [-]: ", "postie")
        terminal.answer("Password: ", "let me in")
        terminal.refused("Sender of the mails: ", "postie", "expected a mail address, not")
        terminal.answer("Sender of the mails: ", "chat@chat.example")
        terminal.refused("Registration [open]: ", "all", "expected open, approval or closed")
        terminal.answer("Registration [open]: ", "approval")
        terminal.refused("now) [admin]: ", "two words", "")
        terminal.refused("now) [admin]: ", "everyone", "This username is reserved.")
        terminal.answer("now) [admin]: ", "root")
        terminal.refused("to sign in with: ", "root", "This is not an email address.")
        terminal.answer("to sign in with: ", "root@chat.example")
        terminal.refused("makes one): ", "short", "The password is too short or too long.")
        terminal.refused("makes one): ", "password1", "")
        terminal.answer("makes one): ", "a long enough word")
        terminal.answer("Once more: ", "another word")
        terminal.expect("Error: these were two different ones.")
        terminal.answer("makes one): ", "a long enough word")
        terminal.answer("Once more: ", "a long enough word")
        terminal.refused("now) [-]: ", "x" * 101, "")
        terminal.answer("now) [-]: ", "Pier")
        assert not data.exists()
        shown = terminal.expect("Write ")
        assert "let me in" not in shown
        assert "a long enough word" not in terminal.shown
        terminal.type("\n")
        assert terminal.ending() == 0
        assert "https://chat.example/invite/" in terminal.shown
    settings = load_settings(data).settings
    assert (settings.public_url, settings.host, settings.port) == ("https://chat.example", "0.0.0.0", 9000)  # noqa: S104
    assert settings.trusted_proxies == ("10.0.0.2", "10.1.0.0/16")
    mail = settings.mail
    assert (mail.host, mail.port, mail.tls, mail.username) == ("smtp.example", 465, "implicit", "postie")
    assert (mail.password, mail.from_, settings.registration) == ("let me in", "chat@chat.example", "approval")
    assert DataDirectory(data).settings.stat().st_mode & 0o777 == 0o600
    (account,) = run("user", "list", "--data", data).json
    assert (account["username"], account["email"], account["acls"]) == ("root", "root@chat.example", ["*"])
    assert [guild["name"] for guild in run("guild", "list", "--data", data).json] == ["Pier"]


@pytest.mark.parametrize(
    ("question", "key"),
    [
        pytest.param("Address [here]: ", CONTROL_D, marks=pytest.mark.long),
        pytest.param("makes one): ", CONTROL_D, marks=pytest.mark.long),
        pytest.param("makes one): ", CONTROL_C, marks=pytest.mark.long),
        ("? [Y/n]: ", CONTROL_C),
        pytest.param("? [Y/n]: ", CONTROL_D, marks=pytest.mark.long),
    ],
)
def test_who_leaves_at_a_question_leaves_nothing_behind(tmp_path: Path, question: str, key: bytes) -> None:
    with Terminal("setup", "--data", "data", directory=tmp_path) as terminal:
        for each, answer in (
            ("Address [here]: ", ""),
            ("listens on [8080]: ", ""),
            ("Send mail [no]: ", ""),
            ("Registration [open]: ", ""),
            ("now) [admin]: ", ""),
            ("to sign in with: ", "root@chat.example"),
            ("makes one): ", ""),
            ("now) [-]: ", "Pier"),
            ("? [Y/n]: ", ""),
        ):
            terminal.expect(each)
            if each == question:
                break
            terminal.type(f"{answer}\n")
        assert terminal.leave(key) == 1
        assert terminal.shown.endswith("\nchat: aborted\n")
    assert list(tmp_path.iterdir()) == []


WRITTEN_BY_HAND = """\
# Ours since 2019.
port = 9000  # the firewall knows it

[mail]  # never again
# Port 25 is closed here.
mode = "smtp"
host = "smtp.example"
from = "chat@chat.example"
password = "old"
username = "postie"

# Fewer than usual.
[limits]
max_guilds = 7
"""


def test_what_a_person_wrote_stays(tmp_path: Path, run: Run) -> None:
    (tmp_path / "data").mkdir()
    file = tmp_path / "data" / "chat.toml"
    file.write_text(WRITTEN_BY_HAND)
    with Terminal("setup", "--data", "data", *OFFLINE, directory=tmp_path) as terminal:
        terminal.answer("Address [here]: ", "http://10.0.0.9:9000")
        terminal.answer("In front [none]: ", "")
        terminal.answer("listens on [9000]: ", "")
        terminal.answer("Send mail [yes]: ", "")
        terminal.answer("SMTP server [smtp.example]: ", "")
        terminal.answer("Protection [starttls]: ", "")
        terminal.answer("Port [587]: ", "")
        terminal.answer("none) [postie]: ", "")
        terminal.answer("is known): ", "")
        terminal.answer("mails [chat@chat.example]: ", "")
        terminal.answer("Registration [open]: ", "closed")
        terminal.answer("now) [admin]: ", "-")
        terminal.answer("? [Y/n]: ", "")
        assert terminal.ending() == 0
        assert "old" not in terminal.shown
    text = file.read_text()
    at = -1
    for line in WRITTEN_BY_HAND.splitlines():
        at = text.index(line, at + 1)
    settings = load_settings(tmp_path / "data").settings
    assert (settings.public_url, settings.registration) == ("http://10.0.0.9:9000", "closed")
    assert (settings.mail.password, settings.limits.max_guilds) == ("old", 7)
    # Again, with the same answers: not a byte differs.
    run("setup", "--data", tmp_path / "data", "--registration", "closed", "--port", 9000, *OFFLINE)
    assert file.read_text() == text


SCRIPTED = ("--public-url", "chat.example", "--admin", "root", "--admin-email", "root@chat.example", "--guild", "Pier")


def test_options_are_answers(run: Run, data: Path) -> None:
    done = run(
        "setup", "--data", data, *SCRIPTED, "--admin-password", "-", *OFFLINE, "--json", stdin="a long enough word\n"
    )
    assert (done.status, done.err) == (0, "")
    made = done.json
    assert made["written"] == ["public_url"]
    assert (made["administrator"]["username"], "password" in made["administrator"]) == ("root", False)
    assert made["guild"]["invite"].startswith("https://chat.example/invite/")
    with stored(data) as connection:
        guild = guilds.by_id(connection, int(made["guild"]["id"]))
        assert guild is not None
        assert str(guild.owner_id) == made["administrator"]["id"]
        code = made["guild"]["invite"].rpartition("/")[2]
        assert invites.by_code(connection, code, 0) is not None
    again = run("setup", "--data", data, *SCRIPTED, *OFFLINE, "--json").json
    assert (again["written"], again["administrator"], again["guild"]) == ([], None, None)
    assert len(run("user", "list", "--data", data).json) == 1


def test_a_password_is_made_and_a_guild_may_come_later(run: Run, data: Path) -> None:
    made = run("setup", "--data", data, "--admin", "root", *OFFLINE, "--json").json
    assert len(made["administrator"]["password"]) == 20
    later = run("setup", "--data", data, "--guild", "Pier", *OFFLINE, "--json").json
    assert later["guild"]["owner_id"] == made["administrator"]["id"]


@pytest.mark.parametrize(
    ("arguments", "status", "told"),
    [
        (("--public-url", "ftp://x"), 2, "expected an origin such as https://chat.example"),
        (("--trusted-proxy", "rabbit"), 2, "expected a list of networks"),
        (("--mail", "smtp"), 1, "chat.toml"),
        (("--mail", "smtp", "--mail-host", "x", "--mail-from", "nobody"), 2, "expected a mail address"),
        (("--registration", "perhaps"), 2, "'perhaps' is not one of"),
        (("--admin", "two words"), 1, "username: "),
        (("--admin", "root", "--admin-email", "nope"), 1, "email: "),
        (("--admin", "root", "--admin-password", "x"), 1, "password: "),
        (("--admin-password", "x"), 2, "go with --admin"),
        (("--guild", "Pier"), 2, "--guild needs somebody who owns it"),
        (("--admin", "root", "--guild", ""), 2, ""),
        (("--check", "--port", "1"), 2, "--check changes nothing"),
        ((), 2, "there is no terminal to ask on"),
    ],
)
def test_options_that_cannot_be_write_nothing(
    run: Run, data: Path, arguments: tuple[str, ...], status: int, told: str
) -> None:
    ending = run("setup", "--data", data, *arguments)
    assert (ending.status, ending.out) == (status, "")
    assert told in ending.err
    assert list(data.glob("*")) == []


def test_a_certificate_is_looked_at(run: Run, data: Path, tmp_path: Path) -> None:
    certificate, key = Authority().issue(tmp_path, "chat.example", days=9)
    options = ("--tls-certificate", certificate, "--tls-key", key)
    held, words = found(run, data, "--public-url", "https://127.0.0.1:8443", *options)["certificate"]
    assert held is True
    assert words.startswith(f"{certificate} holds until ")
    Authority().issue(tmp_path, "chat.example", days=-1)
    assert "has expired on" in found(run, data, "--check")["certificate"][1]
    key.unlink()
    held, words = found(run, data, "--check")["certificate"]
    assert (held, "cannot read" in words) == (False, True)
    with Terminal("setup", "--data", "data", *OFFLINE, directory=tmp_path) as terminal:
        terminal.answer("Address [https://127.0.0.1:8443]: ", "")
        terminal.answer("In front [itself]: ", "")
        terminal.answer(f"certificate [{certificate}]: ", "")
        terminal.refused(f"key [{key}]: ", "", f"there is no file {key}")
        assert terminal.leave(CONTROL_C) == 1


def test_a_file_that_is_wrong_already_is_not_touched(run: Run, data: Path) -> None:
    data.mkdir()
    for text in ("port = ", "prot = 1\n", "port = 'x'\n"):
        (data / "chat.toml").write_text(text)
        assert run("setup", "--data", data, "--registration", "closed", *OFFLINE).status == 1
        assert (data / "chat.toml").read_text() == text
    (data / "chat.toml").unlink()
    (data / "chat.toml").mkdir()
    ending = run("setup", "--data", data, "--registration", "closed", *OFFLINE)
    assert (ending.status, ending.err.count("\n")) == (1, 1)


def test_what_was_chosen_in_the_console_counts_more(run: Run, data: Path, alice: str, tmp_path: Path) -> None:
    with stored(data) as connection, connection:
        connection.execute("INSERT INTO chosen_settings VALUES ('registration', ?)", (json.dumps("closed"),))
    with Terminal("setup", "--data", "data", *OFFLINE, directory=tmp_path) as terminal:
        terminal.answer("Address [here]: ", "")
        terminal.answer("listens on [8080]: ", "")
        terminal.answer("Send mail [no]: ", "")
        terminal.expect("registration is closed: it was chosen in the console, which counts more than the file.")
        assert terminal.leave(CONTROL_C) == 1


@pytest.fixture
def stack() -> Iterator[ExitStack]:
    with ExitStack() as stack:
        yield stack


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may become another")
def test_root_makes_what_the_server_can_open(run: Run, tmp_path: Path, stack: ExitStack) -> None:
    """As after the installation of a package: the directory is there, and belongs to the server's account."""
    options = ("--admin", "root", "--guild", "Pier", "--no-check")
    run("setup", "--data", tmp_path / "first", *options)  # imports what another account may not be allowed to read
    place = stack.enter_context(tempfile.TemporaryDirectory())  # where others may go, unlike in pytest's
    Path(place).chmod(0o711)
    data = Path(place) / "data"
    data.mkdir()
    os.chown(data, 4_242, 4_343)
    child = os.fork()
    if child == 0:  # what it becomes it stays
        try:
            main(["setup", "--data", str(data), *options])
        except SystemExit as ending:
            os._exit(int(ending.code or 0))
        os._exit(99)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    made = {file.name: (file.stat().st_uid, file.stat().st_gid) for file in data.iterdir()}
    assert made.keys() >= {"chat.toml", "chat.sqlite3", "signing.key"}
    assert set(made.values()) == {(4_242, 4_343)}


# What it says of the start


@pytest.fixture
def units(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where the units of a machine are that systemd runs."""
    place = tmp_path / "units"
    place.mkdir()
    monkeypatch.setattr(service_unit, "PLACES", (place, tmp_path / "nowhere"))
    monkeypatch.setattr(service_unit, "BOOTED", place)
    return place


@pytest.mark.parametrize(
    ("command", "is_it"),
    [
        ("/usr/lib/chat/chat serve --data {}", True),
        ("/usr/lib/chat/chat serve --data={}/ --port 8080", True),
        ("/usr/lib/chat/chat serve --data {}-of-another", False),
        ("/usr/lib/chat/chat backups make --data {}", False),
        ("/usr/lib/chat/chat serve '--data {}", False),
    ],
)
def test_the_next_step_is_that_of_the_unit(run: Run, data: Path, units: Path, command: str, is_it: bool) -> None:
    (units / "chat.service").write_text(f"[Service]\nExecStart={command.format(data)}\n")
    said = run("setup", "--data", data, "--port", 9000, *OFFLINE).out.splitlines()
    if is_it:
        assert said[-2] == "`systemctl restart chat` runs the server."
        assert said[-1].endswith(" in its log: journalctl --unit chat.")
    else:
        assert said[-2] == f"`chat serve --data {data}` runs the server."
        assert said[-1].endswith(" on standard error.")
    said = run("setup", "--data", data, "--admin", "root", *OFFLINE).out.splitlines()
    assert said[-1].endswith(" runs the server.")


def test_the_packages_unit_is_found_where_systemd_runs(units: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shutil.copy(Path(__file__).parents[2] / ".ci/debian/chat.service", units)
    assert service_unit.unit_of(Path("/var/lib/chat")) == "chat"
    monkeypatch.setattr(service_unit, "BOOTED", units / "nowhere")
    assert service_unit.unit_of(Path("/var/lib/chat")) is None


def test_a_server_that_runs_is_not_to_be_started(run: Run, data: Path) -> None:
    run("setup", "--data", data, "--admin", "root", *OFFLINE)
    with DataDirectory(data).locked():
        assert run("setup", "--data", data, "--guild", "Pier", *OFFLINE).out.endswith("\nThe server runs.\n")
        said = run("setup", "--data", data, "--port", 9000, *OFFLINE).out
        assert said.endswith(f"\nThe server runs as process {os.getpid()}: start it anew.\n")


# What it finds


@pytest.mark.long
async def test_everything_holds_beside_a_server_that_runs(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with running(tmp_path) as server:
        origin = server.world["base_url"].removesuffix("/v1")
        port = int(origin.rpartition(":")[2])
        monkeypatch.setattr("chat.cli.setup_checks.is_loopback", lambda host: False)

        def look() -> dict[str, tuple[bool | None, str]]:
            return found(run, tmp_path, "--public-url", origin, "--port", port)

        checks = await trio.to_thread.run_sync(look)
        assert {name: holds for name, (holds, _) in checks.items()} == {
            "address": True,
            "port": True,
            "front": True,
            "gateway": True,
        }
        assert checks["gateway"][1] == f"WebSockets pass through {origin}"
        assert checks["port"][1] == f"the server answers on 127.0.0.1 port {port}"
        told = (await trio.to_thread.run_sync(lambda: run("status", "--data", tmp_path))).json
        assert (told["running"], told["process"], told["answer"]) == (True, server.process.pid, "ready")
        assert told["memory_bytes"] > 10_000_000
        assert told["uptime_seconds"] >= 0


def found(run: Run, data: Path, *arguments: object) -> dict[str, tuple[bool | None, str]]:
    checks = run("setup", "--data", data, "--json", *arguments).json["checks"]
    return {each["check"]: (each["holds"], each["words"]) for each in checks}


def test_a_port_that_another_program_has(run: Run, data: Path) -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        assert found(run, data, "--port", port) == {
            "port": (False, f"cannot listen on 127.0.0.1 port {port}: another program has it")
        }
        ending = run("setup", "--data", data, "--check", terminal=True)
        assert (ending.status, ending.err) == (1, "chat: 1 thing does not hold yet\n")
        assert f"port: cannot listen on 127.0.0.1 port {port}: another program has it" in ending.out
    assert found(run, data, "--check")["port"][0] is True


@contextmanager
def another_program(answer: bytes, status: int = 200, context: ssl.SSLContext | None = None) -> Iterator[int]:
    """An HTTP server that gives every request the same answer; its port."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(status)
            self.send_header("Content-Length", str(len(answer)))
            self.send_header("Location", "https://elsewhere.example")
            self.end_headers()
            self.wfile.write(answer)

        def log_message(self, *_: object) -> None:
            pass

    with HTTPServer(("127.0.0.1", 0), Handler) as server:
        if context is not None:
            server.socket = context.wrap_socket(server.socket, server_side=True)
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield int(server.server_address[1])
        finally:
            server.shutdown()
            thread.join()


@pytest.mark.parametrize(
    ("status", "answer", "holds", "told"),
    [
        (200, b"hello", False, "another program answers at"),
        (200, b'{"endpoints": {"api": "https://other.example/v1"}}', False, "calls itself https://other.example/v1"),
        (301, b"", False, "sends people to https://elsewhere.example"),
        (502, b"", None, "a proxy answers at"),
    ],
)
def test_what_answers_in_place_of_the_server(
    run: Run, data: Path, monkeypatch: pytest.MonkeyPatch, status: int, answer: bytes, holds: bool | None, told: str
) -> None:
    monkeypatch.setattr("chat.cli.setup_checks.is_loopback", lambda host: False)  # a test has no other address
    with another_program(answer, status) as port:
        held, words = found(run, data, "--public-url", f"http://localhost:{port}", "--port", 9)["front"]
    assert held is holds
    assert told in words


def test_what_is_wrong_with_tls(run: Run, data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("chat.cli.setup_checks.is_loopback", lambda host: False)
    authority = Authority()
    certificate, key = authority.issue(tmp_path, "localhost")
    document = b'{"endpoints": {"api": "https://localhost:%d/v1"}}'
    with another_program(document, context=Certificates.read(certificate, key).context) as port:
        found_there = found(run, data, "--public-url", f"https://localhost:{port}", "--port", 9)["front"]
        assert "its certificate is not accepted: " in found_there[1]
        monkeypatch.setenv("SSL_CERT_FILE", str(authority.write(tmp_path)))
        trusted = found(run, data, "--check")["front"][1]
        assert "certificate" not in trusted
    with another_program(b"") as port:
        held, words = found(run, data, "--public-url", f"https://localhost:{port}")["front"]
    assert (held, "does not speak TLS" in words) == (None, True)


def test_nothing_answers_and_mail_is_refused(run: Run, data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("chat.cli.setup_checks.is_loopback", lambda host: False)
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        port = silent.getsockname()[1]
        mail = ("--mail", "smtp", "--mail-host", "127.0.0.1", "--mail-port", port, "--mail-from", "chat@chat.example")
        checks = found(run, data, "--public-url", f"https://localhost:{port}", *mail)
    assert checks["front"][0] is None
    assert "nothing answers there" in checks["front"][1]
    assert checks["mail"][0] is False
    assert f"127.0.0.1 port {port} cannot be used" in checks["mail"][1]
    assert found(run, data, "--public-url", "https://nowhere.invalid")["address"][0] is False
