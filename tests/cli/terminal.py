"""A command in a terminal of its own, with somebody who types."""

from __future__ import annotations

import contextlib
import os
import pty
import re
import select
import subprocess
import sys
import time
from pathlib import Path
from types import TracebackType

from tests.patience import PATIENCE_SECONDS

CONTROL_C = b"\x03"
CONTROL_D = b"\x04"
UNHEARD_SECONDS = 5
COLUMNS, LINES = 110, 200
CODES = re.compile(r"\x1b\[[0-9;?]*[a-zA-Z]")


class Terminal:
    """A running `chat`. What it shows is read up to what is expected, so that nothing is typed before it is asked."""

    def __init__(self, *arguments: object, directory: Path) -> None:
        self._own, theirs = pty.openpty()
        environment = {name: value for name, value in os.environ.items() if not name.startswith("CHAT_")}
        self._process = subprocess.Popen(
            ["setsid", "--ctty", "--wait", sys.executable, "-m", "chat", *map(str, arguments)],
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
            cwd=directory,
            env={**environment, "TERM": "xterm", "COLUMNS": str(COLUMNS), "LINES": str(LINES)},
        )
        os.close(theirs)
        self.shown = ""
        self._read_to = 0

    def __enter__(self) -> Terminal:
        return self

    def __exit__(self, *_: type[BaseException] | BaseException | TracebackType | None) -> None:
        os.close(self._own)  # hangs up
        self._process.wait(PATIENCE_SECONDS)

    def expect(self, text: str) -> str:
        """Wait until this is shown behind what was expected before; what stands between them."""
        until = time.monotonic() + PATIENCE_SECONDS
        while (at := self.shown.find(text, self._read_to)) < 0:
            assert self._receive(until), f"{text!r} is not shown: {self.shown[self._read_to :]!r}"
        between, self._read_to = self.shown[self._read_to : at], at + len(text)
        return between

    def type(self, keys: str | bytes) -> None:
        os.write(self._own, keys.encode() if isinstance(keys, str) else keys)

    def answer(self, question: str, *answers: str) -> None:
        """Type the answers, each when the question is asked."""
        for answer in answers:
            self.expect(question)
            self.type(f"{answer}\n")

    def refused(self, question: str, answer: str, words: str) -> None:
        """Type an answer that is refused with these words."""
        self.answer(question, answer)
        self.expect(f"Error: {words}")

    def ending(self) -> int:
        """Wait for the end; the exit status."""
        until = time.monotonic() + PATIENCE_SECONDS
        while self._receive(until):
            pass
        return self._process.wait(PATIENCE_SECONDS)

    def leave(self, key: bytes) -> int:
        """Press a key until the command ends, as people do; the exit status. It is pressed once the command waits for a
        line. It can go unheard all the same: Python looks for signals before it waits, and one that comes in between is
        seen at the next key."""
        until = time.monotonic() + PATIENCE_SECONDS
        while time.monotonic() < until and not self._waits():
            time.sleep(0.001)
        while time.monotonic() < until:
            with contextlib.suppress(OSError):  # the command has ended
                self.type(key)
            unheard = time.monotonic() + UNHEARD_SECONDS
            while self._receive(unheard):
                pass
            with contextlib.suppress(subprocess.TimeoutExpired):
                return self._process.wait(max(0, unheard - time.monotonic()))
        raise AssertionError(f"it goes on: {self.shown[-200:]!r}")

    def _waits(self) -> bool:
        """Whether the command sleeps, as it does in front of a question."""
        try:
            stat = Path(f"/proc/{os.tcgetpgrp(self._own)}/stat").read_text()
        except OSError:  # it is over
            return True
        return stat.rpartition(")")[2].split()[0] == "S"

    def _receive(self, until: float) -> bool:
        if not select.select([self._own], [], [], max(0, until - time.monotonic()))[0]:
            return False
        try:
            piece = os.read(self._own, 65_536)
        except OSError:  # the command has ended
            return False
        self.shown += CODES.sub("", piece.decode("utf-8", "replace")).replace("\r\n", "\n")
        return bool(piece)
