"""`chat dev --stdio`: a server that another program starts and steers by lines of JSON.

One line asks, one line answers. The first asks for a start, the end of the input ends the server, so it never outlives
the test runner that it belongs to:

    > {"do": "start", "settings": {"gateway.heartbeat_interval_ms": 1000}}
    < {"ok": true, "result": {"base_url": "http://127.0.0.1:40123/v1", "users": [...], ...}}
    > {"do": "fault", "action": "drop", "target": "all", "id": 2}
    < {"ok": true, "id": 2, "result": {"affected": 1}}
    > {"do": "nonsense"}
    < {"ok": false, "error": "there is no command 'nonsense': clock, fault, ..."}

Whatever is no command of its own here goes to the development route of that name (development.md, Development routes),
with the other members as its body, or as its query where it is read.
"""

from __future__ import annotations

import http.client
import json
import os
import signal
import sys
import threading
from collections.abc import Mapping
from typing import Any, Final, TextIO
from urllib.parse import urlencode

from chat.classes import frozen

LINE_BYTES: Final = 1_048_576
"""A longer line is refused."""

REQUEST_SECONDS: Final = 600.0
"""Moving the clock by a year takes its time."""


@frozen
class StdioCommand:
    """Where a command goes: the method with members, and without any (None: the same)."""

    path: str
    method: str = "POST"
    bare: str | None = None


COMMANDS: Final[Mapping[str, StdioCommand]] = {
    "clock": StdioCommand("/v1/_dev/clock", bare="GET"),
    "fault": StdioCommand("/v1/_dev/faults"),
    "gateway": StdioCommand("/v1/_dev/gateway"),
    "history": StdioCommand("/v1/_dev/history", "GET"),
    "limits": StdioCommand("/v1/_dev/limits", bare="GET"),
    "mail": StdioCommand("/v1/_dev/mail", "GET"),
    "reset": StdioCommand("/v1/_dev/reset"),
    "sessions": StdioCommand("/v1/_dev/sessions", "GET"),
}
OWN: Final = ("request", "start", "stop")


class CommandRefused(ValueError):
    """A line that asks for nothing that there is; the text says why."""


def read_line(lines: TextIO) -> dict[str, object] | None:
    """The next line, None at the end. Raises Refused."""
    line = lines.readline(LINE_BYTES + 1)
    if not line:
        return None
    if len(line) > LINE_BYTES:
        while line and not line.endswith("\n"):
            line = lines.readline(LINE_BYTES)
        raise CommandRefused(f"a line has at most {LINE_BYTES} bytes")
    try:
        asked = json.loads(line)
    except ValueError:
        asked = None
    if not isinstance(asked, dict) or not isinstance(asked.get("do"), str):
        raise CommandRefused('a line is a JSON object with a text member "do"')
    return asked


def settings_of_start(lines: TextIO) -> dict[str, object] | None:
    """The settings of the line that asks for the start, by their dotted names; None where the input ends first."""
    while True:
        try:
            asked = read_line(lines)
        except CommandRefused as refused:
            answer({}, error=str(refused))
            continue
        if asked is None:
            return None
        settings = asked.get("settings", {})
        if asked["do"] == "start" and isinstance(settings, dict):
            return settings
        answer(asked, error='the first line is {"do": "start"}, with an object of "settings" where there are any')


class StdioConversation(threading.Thread):
    """Answers the lines that follow the start, beside the server, until the input ends.

    A thread: it waits for its own server over HTTP, whose time may be moved meanwhile.
    """

    def __init__(self, lines: TextIO, host: str, port: int) -> None:
        super().__init__(name="stdio", daemon=True)
        self._lines = lines
        self._host = host
        self._port = port

    def run(self) -> None:
        """Ends the process in good order, as SIGTERM does, with the input or with `stop`."""
        while True:
            asked: dict[str, object] | None = {}
            try:
                asked = read_line(self._lines)
                if asked is None or asked["do"] == "stop":
                    break
                answer(asked, result=self._carry_out(asked))
            except (CommandRefused, OSError, http.client.HTTPException) as error:
                answer(asked or {}, error=str(error) or type(error).__name__)
        if asked is not None:
            answer(asked, result=None)
        os.kill(os.getpid(), signal.SIGTERM)

    def _carry_out(self, asked: dict[str, Any]) -> Any:  # JSON of the program that asks
        members = {name: value for name, value in asked.items() if name not in ("do", "id")}
        if asked["do"] == "request":
            return self._request_as_asked(members)
        command = COMMANDS.get(asked["do"])
        if command is None:
            raise CommandRefused(f"there is no command {asked['do']!r}: {', '.join(sorted((*COMMANDS, *OWN)))}")
        method = command.method if members else command.bare or command.method
        status, body = self._request(method, command.path, members)
        if status >= 300:
            raise CommandRefused(f"{status} {json.dumps(body)}")
        return body

    def _request_as_asked(self, members: Mapping[str, Any]) -> Mapping[str, object]:
        method, path, token = members.get("method", "GET"), members.get("path"), members.get("token")
        if not isinstance(path, str) or not path.startswith("/") or not isinstance(method, str):
            raise CommandRefused('a request has a "path" that begins with /, and perhaps "method", "token" and "body"')
        status, body = self._request(method, path, members.get("body"), token=token)
        return {"status": status, "body": body}

    def _request(self, method: str, path: str, members: Any, *, token: str | None = None) -> tuple[int, Any]:
        headers = {"Content-Type": "application/json"}
        if token is not None:
            headers["Authorization"] = token
        content = None
        if method != "GET":
            content = json.dumps({} if members is None else members).encode()
        elif members:
            path = f"{path}?{urlencode(members)}"
        connection = http.client.HTTPConnection(self._host, self._port, timeout=REQUEST_SECONDS)
        try:
            connection.request(method, path, content, headers)
            response = connection.getresponse()
            text = response.read()
        finally:
            connection.close()
        try:
            return response.status, json.loads(text) if text else None
        except ValueError:
            return response.status, text.decode("utf-8", "replace")


def answer(asked: Mapping[str, Any], *, result: Any = None, error: str | None = None) -> None:
    """Print one line, with the `id` of what was asked."""
    named = {"id": asked["id"]} if "id" in asked else {}
    line = {"ok": True, **named, "result": result} if error is None else {"ok": False, **named, "error": error}
    sys.stdout.write(json.dumps(line) + "\n")
    sys.stdout.flush()
