"""What the query string of a gateway connection asks for (gateway.md, Connecting).

A repeated parameter counts by its first value, an unknown one counts for nothing, and `encoding` is not even read:
every value of it selects JSON.
"""

from __future__ import annotations

from typing import Final
from urllib.parse import parse_qsl

import attrs

API_VERSION: Final = "1"
"""The exact text of `v`: neither `01` nor `1.0` is a version (gateway.md, Connecting)."""

ZSTD_STREAM: Final = "zstd-stream"
"""The one value of `compress` that compresses."""

STREAM_VALUES: Final = frozenset({"1", "true"})
"""The values of `stream` that let `compress` take effect."""


@attrs.frozen
class ConnectionQuery:
    """Whether the version is ours, and whether both directions are one zstd stream each."""

    version_accepted: bool
    compressed: bool


def parse_connection_query(query_string: str) -> ConnectionQuery:
    """Read the text after the question mark, percent-encoded as it stood in the request line; never raises."""
    first: dict[str, str] = {}
    for name, value in parse_qsl(query_string, keep_blank_values=True):
        first.setdefault(name, value)
    return ConnectionQuery(
        version_accepted=first.get("v") == API_VERSION,
        compressed=first.get("compress") == ZSTD_STREAM and first.get("stream") in STREAM_VALUES,
    )
