"""What happened in a simulation: a log to read, a digest to compare, and how often the rare things happened."""

from __future__ import annotations

import collections
import hashlib

import trio


class History:
    """Lines of `virtual seconds, who, what`; the digest covers all of them, `tail` keeps the last."""

    def __init__(self) -> None:
        self._digest = hashlib.blake2b(digest_size=16)
        self.tail: collections.deque[str] = collections.deque(maxlen=400)
        self.events = 0
        self.reached: collections.Counter[str] = collections.Counter()

    def note(self, who: str, what: str) -> None:
        """Something happened."""
        line = f"{trio.current_time():.6f} {who}: {what}"
        self._digest.update(line.encode() + b"\n")
        self.tail.append(line)
        self.events += 1

    def reach(self, what: str) -> None:
        """A state was reached that a good simulation reaches sometimes."""
        self.reached[what] += 1

    @property
    def digest(self) -> str:
        """Of everything noted so far."""
        return self._digest.hexdigest()
