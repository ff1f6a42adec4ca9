"""One request on its way through the kernel: what is read off its head, once."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

from chat.api.bodies import Receive
from chat.auth.client_address import FORWARDED_HEADER, FORWARDED_HEADERS, TEST_HEADER, ClientAddresses

CAPABILITIES_LIMIT: Final = 64
"""Names read from X-Service-Features (access.md, Client capabilities)."""

_CAPABILITY: Final = re.compile(r"[a-z0-9_]{1,64}", re.ASCII)
_NO_CAPABILITIES: Final[frozenset[str]] = frozenset()


class Exchange:
    """One request. `scope` and `receive` are ASGI's."""

    __slots__ = (
        "address",
        "authorizations",
        "body",
        "by_proxy",
        "by_unnamed_proxy",
        "caller_id",
        "headers",
        "id",
        "members",
        "query_string",
        "receive",
    )

    def __init__(self, scope: Mapping[str, Any], receive: Receive, addresses: ClientAddresses) -> None:
        self.receive: Final = receive
        self.query_string: Final[bytes] = scope["query_string"]
        self.members: list[str] = []
        """The members of the path, decoded, in order."""
        self.headers: Final[dict[str, str]] = {}
        self.authorizations: Final[list[str]] = []
        forwarded: list[str] = []
        is_forwarded = False
        for raw_name, raw_value in scope["headers"]:
            name, value = raw_name.decode("latin-1"), raw_value.decode("latin-1")
            self.headers[name] = value
            if name == "authorization":
                self.authorizations.append(value)
            elif name in FORWARDED_HEADERS:
                is_forwarded = True
                if name == FORWARDED_HEADER:
                    forwarded.append(value)
        client = scope.get("client")
        peer = client[0] if client else ""
        self.address: Final = addresses.of(peer, forwarded, self.headers.get(TEST_HEADER))
        self.by_proxy: Final = is_forwarded and addresses.is_proxy(peer)
        self.by_unnamed_proxy: Final = is_forwarded and addresses.is_unnamed_proxy(peer)
        self.body: bytes | None = None
        """The whole body, where it has been received before its turn."""
        self.caller_id: int | None = None
        """Of the account that the request's credential stands for, good or not for what it asks."""
        self.id = ""
        """The value of X-Request-ID."""

    def capabilities(self) -> frozenset[str]:
        """What X-Service-Features declares (access.md, Client capabilities)."""
        declared = self.headers.get("x-service-features")
        if declared is None:
            return _NO_CAPABILITIES
        names = (name.strip().lower() for name in declared.split(",", CAPABILITIES_LIMIT)[:CAPABILITIES_LIMIT])
        return frozenset(name for name in names if _CAPABILITY.fullmatch(name))
