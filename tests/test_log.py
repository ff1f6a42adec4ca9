"""No secret reaches the log, wherever it stands; everything else does."""

from __future__ import annotations

import contextlib
import io
import json
import logging
import os
import string
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import attrs
import pytest
import structlog
from hypothesis import given
from hypothesis import strategies as st

from chat import log
from chat.log import REDACTED, redact

LETTERS = string.ascii_letters + string.digits
SESSION = "cht_" + "Ab0" * 12
ADMIN_KEY = "cha_1234567890_" + "Ab0z" * 8
BOT = "1234567890." + "A-_z" * 10 + "abc"
PROOF = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJl"
SECRET = "Ab0-_" * 8 + "xyZ"
MAIL_TOKEN = "Ab0z" * 16
PASSWORD_HASH = "$argon2id$v=19$m=65536,t=3,p=2$c29tZXNhbHQ$aGFzaA"


class Output(io.StringIO):
    """What was logged: JSON lines, or text when it plays a terminal."""

    terminal = False

    def isatty(self) -> bool:
        return self.terminal

    @property
    def lines(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.getvalue().splitlines()]


def stumble() -> None:
    raise ValueError(f"bad token {BOT}") from LookupError(SESSION)


@pytest.fixture
def output() -> Iterator[Output]:
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    output = Output()
    log.configure("info", timestamp=lambda: "2026-11-21T12:00:00.000Z", stream=output)
    yield output
    structlog.reset_defaults()
    root.handlers[:] = handlers
    root.setLevel(level)


def test_a_line_has_time_level_name_and_fields(output: Output) -> None:
    structlog.get_logger("chat.gateway").warning("socket dropped", session_id="abc", queued=3)
    assert output.lines == [
        {
            "timestamp": "2026-11-21T12:00:00.000Z",
            "logger": "chat.gateway",
            "level": "warning",
            "event": "socket dropped",
            "session_id": "abc",
            "queued": 3,
        }
    ]


@pytest.mark.parametrize("ours", [True, False], ids=["the journal's", "led elsewhere"])
@pytest.mark.usefixtures("output")
def test_in_the_journal_a_line_has_its_priority(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ours: bool) -> None:
    with (tmp_path / "stream").open("w") as stream:
        place = os.fstat(stream.fileno())
        monkeypatch.setenv("JOURNAL_STREAM", f"{place.st_dev}:{place.st_ino + (not ours)}")
        log.configure("debug", timestamp=lambda: "12:00", stream=stream)
        for level in ("debug", "info", "warning", "error", "critical"):
            structlog.get_logger().log(logging.getLevelNamesMapping()[level.upper()], level)
    lines = (tmp_path / "stream").read_text().splitlines()
    assert [line.partition("{")[0] for line in lines] == (["<7>", "<6>", "<4>", "<3>", "<2>"] if ours else [""] * 5)
    assert [json.loads(line[line.index("{") :])["event"] for line in lines] == [
        "debug",
        "info",
        "warning",
        "error",
        "critical",
    ]


def test_below_the_level_nothing_is_logged(output: Output) -> None:
    structlog.get_logger().debug("quiet")
    logging.getLogger("elsewhere").debug("quiet")
    assert output.lines == []


def test_what_other_packages_log_takes_the_same_way(output: Output) -> None:
    logging.getLogger("hypercorn.error").error("refused %s", SESSION)
    (line,) = output.lines
    assert (line["logger"], line["level"]) == ("hypercorn.error", "error")
    assert line["event"] == f"refused cht_{REDACTED}"


def test_on_a_terminal_lines_are_for_people(output: Output) -> None:
    output.terminal = True
    log.configure("info", timestamp=lambda: "12:00", stream=output)
    try:
        stumble()
    except ValueError:
        structlog.get_logger().exception("stumbled", proof=PROOF)
    assert "stumbled" in output.getvalue()
    assert "ValueError" in output.getvalue()
    assert SESSION not in output.getvalue()
    assert PROOF not in output.getvalue()


def test_a_log_that_cannot_be_written_stops_nobody(output: Output) -> None:
    output.close()
    structlog.get_logger().error("unheard")


@pytest.mark.parametrize(
    ("secret", "shown"),
    [
        (SESSION, f"cht_{REDACTED}"),
        (ADMIN_KEY, f"cha_1234567890_{REDACTED}"),
        (BOT, f"1234567890.{REDACTED}"),
        (PROOF, REDACTED),
        (PASSWORD_HASH, REDACTED),
        ("Authorization: Bearer abc.def", f"Authorization: Bearer {REDACTED}"),
        ("authorization=secret", f"authorization={REDACTED}"),
        ("(b'authorization', b'Bot 1.x')", f"(b'authorization', b'Bot {REDACTED}')"),
        ('{"Authorization": "Basic YTpi"}', f'{{"Authorization": "Basic {REDACTED}"}}'),
        ("X-Service-Sudo-Mode-JWT: abc", f"X-Service-Sudo-Mode-JWT: {REDACTED}"),
        ("X-Fluxer-Sudo-Mode-JWT: abc", f"X-Fluxer-Sudo-Mode-JWT: {REDACTED}"),
        (SECRET, REDACTED),
        (f"/media/relay/{SECRET}", f"/media/relay/{REDACTED}"),
        (f"/v1/webhooks/5/{SECRET}/slack", f"/v1/webhooks/5/{REDACTED}/slack"),
        (MAIL_TOKEN, REDACTED),
        (f"https://chat.example/reset#token={MAIL_TOKEN}", f"https://chat.example/reset#token={REDACTED}"),
        ("/callback?code=swordfish&x=1&state=s", f"/callback?code={REDACTED}&x=1&state={REDACTED}"),
        ("/login?access_token=a.b&password=c", f"/login?access_token={REDACTED}&password={REDACTED}"),
    ],
)
def test_a_secret_in_a_text_is_redacted(secret: str, shown: str) -> None:
    assert redact(f"got {secret} here") == f"got {shown} here"


@pytest.mark.parametrize(
    "text",
    [
        "listening on http://127.0.0.1:8080",
        "guild 1234567890 has 3.14 members a second",
        "GET /v1/channels/1234567890/messages",
        "address 127.0.0.1, version 1.2.3",
        "the authorization failed",
        "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
        "a_name_in_lower_case_of_forty_three_letters",
        "-------------------------------------------",
        "/v1/guilds?limit=5&after=7",
    ],
)
def test_what_is_no_secret_stays(text: str) -> None:
    assert redact(text) == text


@attrs.frozen
class Credential:
    token: str


@pytest.mark.parametrize(
    "field",
    [
        SESSION,
        SESSION.encode(),
        [SESSION],
        (1, {"deep": [SESSION]}),
        {SESSION: 1},
        {"headers": [(b"authorization", SESSION.encode())]},
        Credential(SESSION),
        LookupError(SESSION),
        frozenset({SESSION}),
    ],
    ids=lambda field: type(field).__name__,
)
def test_a_secret_is_redacted_however_deep_it_stands(output: Output, field: object) -> None:
    structlog.get_logger().info("seen", field=field)
    structlog.get_logger().info(f"seen {field}")
    structlog.get_logger().bind(bound=field).info("seen")
    assert len(output.lines) == 3
    assert SESSION not in output.getvalue()


def test_a_secret_in_a_traceback_is_redacted(output: Output) -> None:
    try:
        stumble()
    except ValueError:
        structlog.get_logger().exception("stumbled")
        logging.getLogger("elsewhere").exception("stumbled")
    assert ["ValueError: bad token" in line["exception"] for line in output.lines] == [True, True]
    assert SESSION not in output.getvalue()
    assert BOT not in output.getvalue()


@pytest.mark.parametrize(
    "name",
    [
        "password",
        "Authorization",
        "client-secret",
        "token",
        "totp_secret",
        "code",
        "mfa_code",
        "backup_codes",
        "ticket",
        "refresh_token",
        "webauthn_response",
        "X-Fluxer-Sudo-Mode-JWT",
        "X-Service-Sudo-Mode-JWT",
    ],
)
def test_a_field_of_secrets_is_never_shown(output: Output, name: str) -> None:
    structlog.get_logger().info("seen", **{name: "swordfish"}, body={name: "swordfish", "other": 1})
    structlog.get_logger().info("seen", **{name: None})
    assert "swordfish" not in output.getvalue()
    first, second = output.lines
    assert (first[name], first["body"]) == (REDACTED, {name: REDACTED, "other": 1})
    assert second[name] is None


def test_the_code_of_an_error_or_a_close_is_no_secret(output: Output) -> None:
    structlog.get_logger().info("refused", code="MISSING_ACL", other={"code": 4004})
    assert (output.lines[0]["code"], output.lines[0]["other"]) == ("MISSING_ACL", {"code": 4004})
    structlog.get_logger().info("typed", code="123456", other={"code": "ab12-cd34", "secret": "MISSING_ACCESS_"})
    assert (output.lines[1]["code"], output.lines[1]["other"]) == (
        REDACTED,
        {"code": REDACTED, "secret": REDACTED},
    )


@given(
    before=st.text(" .\"'=:,/\n(é", max_size=4),
    after=st.text(" .\"'=:,/\n)é", max_size=4),
    token=st.one_of(
        st.text(LETTERS, min_size=36, max_size=36).map("cht_{}".format),
        st.text(LETTERS, min_size=32, max_size=32).map("cha_1420070400000_{}".format),
        st.text(LETTERS + "-_", min_size=43, max_size=43).map("1420070400000.{}".format),
    ),
)
def test_no_token_survives(before: str, after: str, token: str) -> None:
    secret = token.rpartition("." if "." in token else "_" if token.startswith("cht_") else "0_")[2]
    assert len(secret) >= 32
    assert secret not in redact(before + token + after)


@pytest.mark.parametrize(
    ("address", "shown"),
    [
        (f"https://x/v1/webhooks/123/{SECRET}", f"https://x/v1/webhooks/123/{REDACTED}"),
        (f"POST /v1/webhooks/123/{SECRET}/messages/5?wait=1", f"POST /v1/webhooks/123/{REDACTED}/messages/5?wait=1"),
        (f"/media/relay/{SECRET} HTTP", f"/media/relay/{REDACTED} HTTP"),
        (f"'/media/external/{SECRET}/aHR0cA'", f"'/media/external/{REDACTED}'"),
        (f"/media/attachments/1/2/a.png?ex=5&hm={SECRET}", f"/media/attachments/1/2/a.png?{REDACTED}"),
        ("/v1/interactions/123/short/callback", f"/v1/interactions/123/{REDACTED}/callback"),
        ("/v1/webhooks/123", "/v1/webhooks/123"),
        ("/media/avatars/1/abc.png?size=64", "/media/avatars/1/abc.png?size=64"),
    ],
)
def test_addresses_that_are_secrets_lose_what_is_secret_of_them(address: str, shown: str) -> None:
    assert redact(address) == shown


@pytest.mark.parametrize("size", [2_001, 100_000])
def test_what_others_said_is_bounded(output: Output, size: int) -> None:
    """A user agent, a path, the name of a node, the words of a provider."""
    hostile: dict[str, Any] = {
        "a": "x" * size,
        "b": ["y" * size] * 1_000,
        "c": {f"{n}{'z' * size}": n for n in range(150)},
    }
    structlog.get_logger("chat").warning("w" * size, **hostile, d=hostile["a"].encode())
    (line,) = output.lines
    assert line["a"].startswith("x" * 1_500)
    assert line["a"].endswith(f"... ({size} characters)")
    assert (len(line["b"]), len(line["c"])) == (100, 100)
    assert len(line["event"]) < 2_100
    assert len(output.getvalue()) < 450_000


@given(before=st.integers(1_900, 8_100), token=st.sampled_from([SESSION, ADMIN_KEY, BOT, SECRET, MAIL_TOKEN]))
def test_no_half_of_a_token_survives_the_cut(before: int, token: str) -> None:
    text = f"{'. ' * (before // 2)}{token} {'. ' * 5_000}"
    (shown,) = log.without_secrets(None, "", {"text": text}).values()
    assert len(shown) < 2_100
    assert token[-20:-10] not in shown


def test_a_traceback_keeps_its_end(output: Output) -> None:
    def stumbles() -> None:
        raise ValueError("deep " * 20_000 + "at the end")

    try:
        stumbles()
    except ValueError:
        structlog.get_logger("chat").exception("stumbled")
    (line,) = output.lines
    assert line["exception"].endswith("at the end")
    assert len(line["exception"]) < 20_100


def test_equal_complaints_are_bounded() -> None:
    now = [0.0]
    complaints = log.Complaints(lambda: now[0])

    def logged(count: int, event: str, level: str = "warning") -> list[dict[str, Any]]:
        lines = []
        for _ in range(count):
            with contextlib.suppress(structlog.DropEvent):
                lines.append(dict(complaints(None, level, {"event": event, "level": level, "logger": "chat"})))
        return lines

    assert len(logged(5_000, "something else writes to the stream of the core")) == log.COMPLAINTS_AT_ONCE
    assert len(logged(1, "another")) == 1
    assert len(logged(500, "request", "info")) == 500  # the access log is whole
    now[0] = log.COMPLAINT_SECONDS
    first, *others = logged(5_000, "something else writes to the stream of the core")
    assert first["left_out"] == 4_900
    assert len(others) == log.COMPLAINTS_AT_ONCE - 1
    for number in range(1_000):  # others' words in an event take no memory
        logged(1, f"event {number}")
    assert len(complaints._begun) <= log.COMPLAINTS_AT_ONCE
