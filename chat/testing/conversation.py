"""What was said between a test and its server, for the report of a failure.

The kit's clients note what they send and receive. A failed test shows the end of it: who, when (Trio's time), which
direction, what. Notes are references to values that exist anyway; text is made of them only for a report.
"""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Iterator, Mapping
from typing import Any, Final

import trio

from chat.classes import frozen

ENTRIES: Final = 256
"""Entries that are remembered; the oldest go first."""

LINES: Final = 30
"""The longest report, its head included."""

COLUMNS: Final = 160
"""The longest line of a report; what is cut ends with an ellipsis."""

TO_SERVER: Final = ">"
FROM_SERVER: Final = "<"


@frozen
class ConversationEntry:
    """One message. `seconds` is Trio's time, `direction` is TO_SERVER or FROM_SERVER, `what` is text or JSON."""

    seconds: float
    who: str
    direction: str
    what: Any

    @property
    def text(self) -> str:
        """The message in one line, uncut."""
        if isinstance(self.what, str):
            return self.what
        if isinstance(self.what, tuple):
            return " ".join(part if isinstance(part, str) else _json(part) for part in self.what if part is not None)
        return _json(self.what)


class Conversation:
    """The last messages of all clients of one test, oldest first."""

    def __init__(self) -> None:
        self._entries: deque[ConversationEntry] = deque(maxlen=ENTRIES)
        self._noted = 0
        self._began: float | None = None

    def note(self, who: str, direction: str, *what: Any) -> None:
        """Remember a message; its parts are text, JSON, or None, which is left out."""
        now = trio.current_time()
        if self._began is None:
            self._began = now
        self._noted += 1
        self._entries.append(ConversationEntry(now - self._began, who, direction, what))

    def __len__(self) -> int:
        return len(self._entries)

    def __iter__(self) -> Iterator[ConversationEntry]:
        return iter(self._entries)

    def report(self, *, lines: int = LINES) -> str:
        """The end of the conversation in at most `lines` lines; empty where nothing was said."""
        if not self._entries:
            return ""
        shown = list(self._entries)[-(lines - 1) :]
        width = max(len(entry.who) for entry in shown)
        head = f"the last {len(shown)} of {self._noted} messages; seconds since the first"
        rows = (f"{entry.seconds:9.3f} {entry.who:{width}} {entry.direction} {entry.text}" for entry in shown)
        return "\n".join([head, *(_cut(row) for row in rows)])

    def as_json(self) -> list[Mapping[str, object]]:
        """All that is remembered, for a file."""
        return [
            {"seconds": round(entry.seconds, 6), "who": entry.who, "direction": entry.direction, "text": entry.text}
            for entry in self._entries
        ]


def _json(value: Any) -> str:
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False, default=str)


def _cut(row: str) -> str:
    plain = "".join(character if character.isprintable() else "�" for character in row)
    return plain if len(plain) <= COLUMNS else plain[: COLUMNS - 1] + "…"
