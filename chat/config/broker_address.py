"""Where the broker between core and nodes is, as the setting `nodes` names it."""

from __future__ import annotations

import functools
from typing import Final
from urllib.parse import parse_qs, unquote, urlsplit

import attrs

from chat.classes import frozen

PORT: Final = 6379
FORM: Final = "an address such as rediss://user:password@broker.example:6379/0"


@frozen
class BrokerAddress:
    """A server of Redis or Valkey. `authority` is a file of certificates that are trusted in place of the system's."""

    host: str
    port: int
    tls: bool = False
    user: str | None = None
    password: str | None = attrs.field(default=None, repr=False)
    database: int = 0
    authority: str | None = None

    @functools.cached_property
    def place(self) -> str:
        """The address without user and password, for people."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{'rediss' if self.tls else 'redis'}://{host}:{self.port}"


def broker_address(text: str) -> BrokerAddress:
    """The address out of `redis[s]://[user[:password]@]host[:port][/database][?ca=file]`. Raises ValueError for
    anything else, with no word of the text."""
    try:
        parts = urlsplit(text)
        host, port = parts.hostname, parts.port
        query = parse_qs(parts.query, keep_blank_values=True, strict_parsing=True) if parts.query else {}
        database = int(parts.path.removeprefix("/") or 0)
    except ValueError:
        raise ValueError("expected " + FORM) from None
    authorities = query.pop("ca", [None])
    tls = parts.scheme == "rediss"
    is_plain = parts.scheme == "redis" and authorities == [None]
    if (
        not host
        or not (tls or is_plain)
        or query
        or parts.fragment
        or len(authorities) > 1
        or database < 0
        or port == 0
    ):
        raise ValueError("expected " + FORM)
    return BrokerAddress(
        host=unquote(host),
        port=PORT if port is None else port,
        tls=tls,
        user=unquote(parts.username) if parts.username else None,
        password=unquote(parts.password) if parts.password else None,
        database=database,
        authority=authorities[0] or None,
    )
