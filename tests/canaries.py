"""Every credential that any test of the run sends or receives is a canary: it stays out of the log and out of answers.

A pytest plugin. It listens to the test kit's HTTP client and to everything that is handed to the log, before redaction,
in every test. What a test sends as a secret must not come back in the body of the answer, and nothing secret that was
sent or received may be in a log line. Tests of the log itself arrange their own log and are not heard.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final
from urllib.parse import parse_qs

import attrs
import pytest
import structlog

import chat
from chat.registries.error_codes import ErrorCode, FieldCode
from chat.testing.rest_client import Response, RestClient

NEVER_REPEATED: Final = frozenset(
    {
        "access_token", "client_secret", "code", "code_verifier", "email_token", "mfa_code", "new_password", "password",
        "refresh_token", "secret", "token",
    }
)  # fmt: skip
"""Members of bodies whose value, once it was sent, has no business in the answer."""

NEVER_LOGGED: Final = NEVER_REPEATED | {
    "bridge_id", "challenge", "key", "original_proof", "redirect_to", "state", "ticket", "upload_url",
    "verification_proof",
}  # fmt: skip
"""Members whose value stays out of the log, sent or received."""

CREDENTIAL: Final = re.compile(r"cht_[A-Za-z0-9]{36}|cha_[0-9]+_[A-Za-z0-9]{32}|[0-9]+\.[A-Za-z0-9_-]{43}")
"""Session tokens, admin API keys and bot tokens, by their forms."""

ADDRESS: Final = re.compile(r"(?:https?|wss?):[^\s\"'\\<>]+")

PLAINLY: Final = structlog.dev.ConsoleRenderer(exception_formatter=structlog.dev.plain_traceback)
"""How lines are written while nothing else is arranged; structlog's stock tracebacks take a tenth of a second each."""

SHORTEST: Final = 10
"""Shorter values are not looked for: six digits are part of many a number."""

SECRETS_MAXIMUM: Final = 5_000
"""Of one test; those that hammer the server send more than is worth looking for."""

MAY_REPEAT: Final = ("/v1/_dev/",)
"""Below these paths a test sets what it reads back."""


PUBLIC_CODES: Final = re.compile(r"/v1/guilds/[0-9]+/vanity-url")
"""Here a `code` is an invitation to everybody."""


@attrs.define
class Watch:
    """What one test said and heard."""

    secrets: dict[str, str] = attrs.field(factory=dict)
    """Each with the request that it belongs to."""
    lines: list[str] = attrs.field(factory=list)
    repeated: list[str] = attrs.field(factory=list)
    credentials: set[str] = attrs.field(factory=set)
    """Those of the secrets that stand for somebody in an Authorization header."""
    addresses: set[str] = attrs.field(factory=set)
    """Every address in an answer."""

    def log(self, _logger: object, _method: str, event: dict[str, Any]) -> dict[str, Any]:
        """A structlog processor in front of all others."""
        self.lines.append(repr(event))
        return event

    def note(self, client: RestClient, method: str, path: str, sent: object, answer: Response) -> None:
        """One exchange."""
        where = f"{method} {path.partition('?')[0]}"
        credential = [] if client.token is None else [client.token.rpartition(" ")[2]]
        if not path.startswith(MAY_REPEAT) and PUBLIC_CODES.fullmatch(path) is None:
            for secret in (*values_of(sent, NEVER_REPEATED), *credential):
                if len(secret) >= SHORTEST and secret.encode() in answer.body and not is_written_in_the_program(secret):
                    self.repeated.append(f"{where} repeats {secret!r}")
        if len(self.secrets) < SECRETS_MAXIMUM:
            said = (*values_of(sent, NEVER_LOGGED), *values_of(body_of(answer), NEVER_LOGGED), *credential)
            self.secrets.update((secret, where) for secret in said if len(secret) >= SHORTEST)
            self.credentials.update(secret for secret in said if CREDENTIAL.fullmatch(secret))
            self.credentials.update(values_of(body_of(answer), frozenset({"access_token", "refresh_token"})))
            self.addresses.update(ADDRESS.findall(answer.body.decode("utf-8", "replace")))
            self.addresses.update(value for name, value in answer.headers if name == "location")

    def logged(self) -> list[str]:
        """The secrets that are in the log."""
        text = "\n".join(self.lines)
        found = [(secret, where) for secret, where in self.secrets.items() if secret in text]
        return [f"{secret!r} of {where}" for secret, where in found if not is_written_in_the_program(secret)]

    def addressed(self) -> list[str]:
        """The credentials that are in an address which the server made (document 000, Credential forms 5)."""
        text = "\n".join(self.addresses)
        return [secret for secret in self.credentials if secret in text]


def is_written_in_the_program(text: str) -> bool:
    """Whether the text is one of the program's own words: Hypothesis also sends those, a message of the log for one."""
    return any(f'"{text}"' in path.read_text() for path in Path(chat.__file__).parent.rglob("*.py"))


def body_of(answer: Response) -> object:
    try:
        return answer.json()
    except ValueError:
        return None


def values_of(body: object, names: frozenset[str]) -> Iterator[str]:
    """The texts under these names, however deep."""
    if isinstance(body, Mapping):
        for name, value in body.items():
            if (
                isinstance(value, str)
                and name in names
                and value not in ErrorCode.__members__
                and value not in FieldCode.__members__
            ):
                yield value
            elif not isinstance(value, str):
                yield from values_of(value, names)
    elif isinstance(body, list):
        for item in body:
            yield from values_of(item, names)


@pytest.fixture(autouse=True)
def secrets_stay_secret(monkeypatch: pytest.MonkeyPatch) -> Iterator[Watch]:
    """Watches a test; fails it afterwards where something secret came out."""
    watch = Watch()
    perform = RestClient.request

    async def request(self: RestClient, method: str, path: str, **options: Any) -> Response:
        answer = await perform(self, method, path, **options)
        sent = options.get("json", ...)
        if sent is ... and options.get("body"):
            sent = parsed(options["body"])
        watch.note(self, method, path, sent, answer)
        return answer

    monkeypatch.setattr(RestClient, "request", request)
    structlog.reset_defaults()
    structlog.configure(processors=[watch.log, *structlog.get_config()["processors"][:-1], PLAINLY])
    yield watch
    structlog.reset_defaults()
    assert watch.repeated == []
    assert watch.logged() == []
    assert watch.addressed() == []


def parsed(body: bytes) -> object:
    """A body in JSON, or a form."""
    try:
        return json.loads(body)
    except RecursionError:
        return None
    except ValueError:
        return {name: values[0] for name, values in parse_qs(body.decode("latin-1")).items()}
