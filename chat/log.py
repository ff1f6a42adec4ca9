"""Log lines on standard error: with fields, and without secrets.

Coloured on a terminal, one JSON object a line elsewhere, in systemd's journal with its priority before it. What other
packages say through `logging` takes the same way. Nothing reaches the stream before `without_secrets` saw it, however
deep in a field or a traceback it stood: tokens lose their secret part, and fields and headers that carry credentials
lose their value.
"""

from __future__ import annotations

import contextlib
import itertools
import logging
import os
import re
import sys
import time
from collections.abc import Callable, Mapping
from functools import partialmethod
from typing import Any, Final, TextIO

import structlog

from chat.registries.error_codes import ErrorCode

REDACTED: Final = "[redacted]"

FIELD_CHARACTERS: Final = 2_000
"""Of a text in a line: others may have said it, such as a user agent, a path or the name of a node."""

PARTED_CHARACTERS: Final = 200
"""More than a secret has."""

TRACEBACK_CHARACTERS: Final = 20_000
FIELD_MEMBERS: Final = 100
"""Of a list or an object in a line."""

COMPLAINTS_AT_ONCE: Final = 100
COMPLAINT_SECONDS: Final = 60.0
"""The span within which equal warnings or errors are counted: some are logged, then one line says how many were not."""

WARNING: Final = 4
"""The priority of a warning (syslog(3))."""

_SECRETS: Final[tuple[tuple[re.Pattern[str], str], ...]] = (
    (re.compile(r"cht_[A-Za-z0-9]{8,}"), f"cht_{REDACTED}"),
    (re.compile(r"(cha_[0-9]+_)[A-Za-z0-9]+"), rf"\g<1>{REDACTED}"),
    (re.compile(r"(?<![0-9])([0-9]{1,20}\.)[A-Za-z0-9_-]{43}(?![A-Za-z0-9_-])"), rf"\g<1>{REDACTED}"),
    (re.compile(r"eyJ[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]*"), REDACTED),
    (re.compile(r"\$argon2[a-z]{1,2}\$[A-Za-z0-9$=,+/]+"), REDACTED),
    (re.compile(r"(/(?:webhooks|interactions)/[0-9]+/)[^/?#\s'\"]+"), rf"\g<1>{REDACTED}"),
    (re.compile(r"(/media/(?:relay|external)/)[^?#\s'\"]+"), rf"\g<1>{REDACTED}"),
    (re.compile(r"(/media/attachments/[^?#\s'\"]*\?)[^#\s'\"]+"), rf"\g<1>{REDACTED}"),
    (
        re.compile(r"(?i)([?&#](?:[a-z_]*token|code|ticket|state|secret|[a-z_]*password|code_verifier)=)[^&#\s\"']+"),
        rf"\g<1>{REDACTED}",
    ),
    (
        re.compile(r"(?<![A-Za-z0-9_-])(?=[a-z0-9_-]*[A-Z])(?=[A-Z0-9_-]*[a-z])[A-Za-z0-9_-]{43}(?![A-Za-z0-9_-])"),
        REDACTED,
    ),
    (re.compile(r"(?<![A-Za-z0-9])(?=[a-z0-9]*[A-Z])(?=[A-Z0-9]*[a-z])[A-Za-z0-9]{64}(?![A-Za-z0-9])"), REDACTED),
)
"""What is redacted wherever it stands in a text: session tokens, admin keys, bot tokens, JSON web tokens, password
hashes, what is secret of the addresses of webhooks, interactions, uploads and media, secrets in the query or fragment
of any address, and all that has the form of an access token, client secret, ticket or capability (43 characters of
base64url) or of a mailed token (64 letters and digits). The last two need letters of both cases, so that names and
hexadecimal digests stay."""

_COMPLAINING: Final = frozenset({"warning", "error", "critical", "exception"})

_HEADER: Final = re.compile(
    r"""(\b(?:proxy-)?authorization|\bx-(?:service|fluxer)-sudo-mode-jwt|\bcookie)   # the name,
        (['"]?\s*[:=,]\s*(?:b?['"])?)                                      # what may stand between in any notation,
        (?:(bearer|bot|basic)\s+)?                                         # the scheme, which is no secret,
        [^\s'",;)\]}]+                                                     # and the value
    """,
    re.IGNORECASE | re.VERBOSE,
)

_SECRET_FIELDS: Final = frozenset(
    {
        "access_token",
        "authorization",
        "backup_code",
        "backup_codes",
        "bridge_id",
        "capability",
        "challenge",
        "client_secret",
        "code",
        "code_verifier",
        "cookie",
        "email_token",
        "id_token",
        "key",
        "mfa_code",
        "new_password",
        "nonce",
        "password",
        "recovery_code",
        "refresh_token",
        "response",
        "secret",
        "state",
        "ticket",
        "token",
        "totp_secret",
        "upload_url",
        "webauthn_challenge",
        "webauthn_response",
        "x_captcha_token",
        "x_fluxer_sudo_mode_jwt",
        "x_service_sudo_mode_jwt",
    }
)
"""Fields of a log line, or of an object in one, whose value is never shown."""


def redact(text: str) -> str:
    """The text without the secrets that can be told by their form."""
    for pattern, replacement in _SECRETS:
        text = pattern.sub(replacement, text)
    return _HEADER.sub(_without_value, text)


def _without_value(match: re.Match[str]) -> str:
    name, between, scheme = match.groups()
    return f"{name}{between}{scheme + ' ' if scheme else ''}{REDACTED}"


def without_secrets(_logger: object, _method: str, event: Mapping[str, Any]) -> dict[str, object]:
    """A structlog processor: the line with every field redacted. It leaves nothing that is rendered later by `repr`."""
    return {name: _redacted_field(name, _whole_text(name, value)) for name, value in event.items()}


def _whole_text(name: str, value: object) -> object:
    """A traceback cut where its end is, which says what happened; anything else as it is."""
    if name == "exception" and isinstance(value, str) and len(value) > TRACEBACK_CHARACTERS:
        return Traceback(f"... {redact(value)[-TRACEBACK_CHARACTERS:]}")
    return Traceback(value) if name == "exception" and isinstance(value, str) else value


class Traceback(str):
    """A text that may be longer than those of other fields."""

    __slots__ = ()


class Complaints:
    """A structlog processor: bounds how often the same is complained of, whoever causes it."""

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        self._now = now
        self._begun: dict[tuple[object, object], tuple[float, int]] = {}

    def __call__(self, _logger: object, _method: str, event: Mapping[str, Any]) -> Mapping[str, Any]:
        """The line; with `left_out` where others like it were. Raises DropEvent for one that is left out."""
        if event.get("level") not in _COMPLAINING:
            return event
        key, now = (event.get("logger"), event.get("event")), self._now()
        since, count = self._begun.pop(key, (now, 0))
        left_out = 0
        if now >= since + COMPLAINT_SECONDS:
            left_out, since, count = max(count - COMPLAINTS_AT_ONCE, 0), now, 0
        self._begun[key] = since, count + 1
        if len(self._begun) > COMPLAINTS_AT_ONCE:
            del self._begun[next(iter(self._begun))]
        if count >= COMPLAINTS_AT_ONCE:
            raise structlog.DropEvent
        return {**event, "left_out": left_out} if left_out else event


def _redacted_field(name: object, value: object) -> Any:
    if isinstance(name, str) and name.lower().replace("-", "_") in _SECRET_FIELDS and _may_be_secret(value):
        return REDACTED
    return _redacted(value)


def _may_be_secret(value: object) -> bool:
    """A `code` is the digits that a person typed as well as the code of an error or of a close."""
    if value is None or isinstance(value, (bool, int, float)):
        return False
    return not (isinstance(value, str) and value in ErrorCode.__members__)


def _redacted(value: object) -> Any:
    if value is None or isinstance(value, (bool, int, float)):
        return value
    if isinstance(value, Traceback):
        return redact(value)
    if isinstance(value, str):
        return _shown(value)
    if isinstance(value, Mapping):
        members = itertools.islice(value.items(), FIELD_MEMBERS)
        return {_shown(str(name)): _redacted_field(name, inner) for name, inner in members}
    if isinstance(value, (list, tuple, set, frozenset)):
        return [_redacted(inner) for inner in itertools.islice(value, FIELD_MEMBERS)]
    return _shown(repr(value))


def _shown(text: str) -> str:
    """The text without secrets, or its beginning with how long it was. What the cut may have parted is left out: half a
    secret has no form by which it could be told."""
    if len(text) <= FIELD_CHARACTERS:
        return redact(text)
    beginning = redact(text[: 4 * FIELD_CHARACTERS])[:-PARTED_CHARACTERS]
    return f"{beginning[:FIELD_CHARACTERS]}... ({len(text)} characters)"


class _Stream:
    """Writes lines to a stream; a log that cannot be written stops nothing."""

    def __init__(self, stream: TextIO, name: str) -> None:
        self._stream = stream
        self.name = name

    def _put(self, priority: int, line: str) -> None:
        with contextlib.suppress(OSError, ValueError):  # the reader is gone; the stream is closed
            self._stream.write(with_priority(line, priority, self._stream) + "\n")
            self._stream.flush()

    debug = partialmethod(_put, 7)
    info = msg = partialmethod(_put, 6)
    warning = partialmethod(_put, WARNING)
    error = exception = partialmethod(_put, 3)
    critical = partialmethod(_put, 2)


def with_priority(line: str, priority: int, stream: TextIO) -> str:
    """The line as the journal takes it, with a priority of syslog(3) in front (sd-daemon(3)), if the stream leads
    there; else as it is."""
    return f"<{priority}>{line}" if _leads_to_journal(stream) else line


def _leads_to_journal(stream: TextIO) -> bool:
    """Whether the stream is the very one that systemd connected: what it started may have been led elsewhere since."""
    journal = os.environ.get("JOURNAL_STREAM")
    if journal is None:
        return False
    try:
        status = os.fstat(stream.fileno())
    except (OSError, ValueError):
        return False
    return journal == f"{status.st_dev}:{status.st_ino}"


class _Bridge(logging.Handler):
    """Hands what other packages log to structlog."""

    def emit(self, record: logging.LogRecord) -> None:
        logger = structlog.get_logger(record.name)
        logger.log(record.levelno, record.getMessage(), exc_info=record.exc_info)


def configure(level: str, *, timestamp: Callable[[], str], stream: TextIO | None = None) -> None:
    """Log from `level` on (debug, info, warning, error) to `stream`, standard error by default.

    `timestamp` tells the time that stands on every line.
    """
    stream = sys.stderr if stream is None else stream
    threshold = logging.getLevelNamesMapping()[level.upper()]

    def add_time_and_name(logger: _Stream, _method: str, event: Mapping[str, Any]) -> Mapping[str, Any]:
        return {"timestamp": timestamp(), "logger": logger.name, **event}

    structlog.configure(
        processors=[
            structlog.contextvars.merge_contextvars,
            structlog.processors.add_log_level,
            add_time_and_name,
            Complaints(),
            structlog.processors.format_exc_info,
            without_secrets,
            _renderer(stream),
        ],
        wrapper_class=structlog.make_filtering_bound_logger(threshold),
        logger_factory=lambda name="chat": _Stream(stream, name),
    )
    logging.basicConfig(handlers=[_Bridge()], level=threshold, force=True)


def _renderer(stream: TextIO) -> Any:
    if stream.isatty():
        return structlog.dev.ConsoleRenderer(exception_formatter=structlog.dev.plain_traceback)
    return structlog.processors.JSONRenderer()
