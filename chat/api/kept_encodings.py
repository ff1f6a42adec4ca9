"""Answers that many ask for and that seldom change: each object is encoded once, and a client that has it already is
told so (http.md, Entity tags).

The domain renders a guild's roles, expressions and channels, and the caller's account, once per change, and hands out
the very same object until then; what throws the object away on a change throws away its bytes too, since another object
comes in its place. Objects that were handed out are never changed.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any, Final

import orjson

from chat.api.answers import Answer
from chat.media.delivery import matches

SEEN_MAXIMUM: Final = 256
KEPT_MAXIMUM: Final = 4_096
"""Objects whose bytes are kept."""

KEPT_BYTES: Final = 8 * 1_048_576
"""Bytes of all of them together; beyond either limit all are forgotten."""

TAG_BYTES: Final = 12
"""How many bytes of the hash make an entity tag."""


class KeptEncodings:
    """The bytes of one server's rendered objects."""

    def __init__(self) -> None:
        # Objects are kept beside their bytes and tags: as long as one is, no other has its address.
        self._kept: dict[int, tuple[object, bytes, str]] = {}
        self._seen: dict[int, object] = {}
        """Objects that were asked for once: what is made for one request alone is not worth keeping."""
        self._bytes = 0

    def __len__(self) -> int:
        """How many objects are kept."""
        return len(self._kept)

    def of(self, rendered: object) -> bytes:
        """The JSON of an object that the domain renders once per change."""
        return self._entry(rendered, ())[1]

    def answer(self, answer: Answer, members: tuple[str, ...], known: str | None) -> Answer:
        """The same answer with its body encoded and an entity tag; 304 where `known`, the value of If-None-Match, names
        the tag. `members` are those of the body that are rendered once per change even where the whole is not."""
        _, encoded, tag = self._entry(answer.body, members)
        tag = tag or _tag(encoded)
        headers: Mapping[str, Any] = {**answer.headers, "ETag": tag}
        if known is not None and matches(known, tag):
            return Answer(304, headers=headers)
        return Answer(answer.status, orjson.Fragment(encoded), headers)

    def _entry(self, rendered: Any, members: tuple[str, ...]) -> tuple[object, bytes, str]:
        """The object, its JSON, and its tag where that is kept."""
        kept = self._kept.get(id(rendered))
        if kept is not None:
            return kept
        if members:
            parts = {name: orjson.Fragment(self.of(rendered[name])) for name in members}
            encoded = orjson.dumps({**rendered, **parts})
        else:
            encoded = orjson.dumps(rendered)
        if id(rendered) in self._seen:
            del self._seen[id(rendered)]
            return self._keep(rendered, encoded)
        if len(self._seen) >= SEEN_MAXIMUM:
            self._seen.clear()
        self._seen[id(rendered)] = rendered
        return rendered, encoded, ""

    def _keep(self, rendered: object, encoded: bytes) -> tuple[object, bytes, str]:
        if len(self._kept) >= KEPT_MAXIMUM or self._bytes + len(encoded) > KEPT_BYTES:
            self._kept.clear()
            self._bytes = 0
        kept = self._kept[id(rendered)] = rendered, encoded, _tag(encoded)
        self._bytes += len(encoded)
        return kept


def _tag(encoded: bytes) -> str:
    return f'"{hashlib.blake2b(encoded, digest_size=TAG_BYTES).hexdigest()}"'
