"""The OpenAPI document as it is handed out: made once, when somebody first asks."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence

import orjson
import trio

from chat.api.operation import Routes
from chat.classes import frozen


@frozen
class Edition:
    """The document as bytes, and what tells it from another one (an entity tag, with its quotes)."""

    content: bytes
    etag: str


class PublishedDocument:
    """The document of a server's operations.

    It takes a fifth of a second to make, so that is done in a thread unless `in_threads` is False (virtual time would
    jump).
    """

    def __init__(self, modules: Callable[[], Sequence[Routes]], origin: str, *, in_threads: bool) -> None:
        self._modules = modules
        self._origin = origin
        self._in_threads = in_threads
        self._edition: Edition | None = None
        self._making = trio.Lock()

    async def edition(self) -> Edition:
        """The document in compact JSON."""
        if self._edition is None:
            async with self._making:
                if self._edition is None:
                    self._edition = await trio.to_thread.run_sync(self._made) if self._in_threads else self._made()
        return self._edition

    def _made(self) -> Edition:
        from chat.api.openapi.document import openapi_document  # a start need not wait for it

        content = orjson.dumps(openapi_document(self._modules(), self._origin))
        return Edition(content, f'"{hashlib.sha256(content).hexdigest()[:32]}"')
