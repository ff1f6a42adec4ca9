"""The access log: one line a request. No query, no path as it was asked for, no address: none of them is the log's."""

from __future__ import annotations

from typing import Final

import structlog

from chat.observation import Observation

log: Final = structlog.get_logger("chat.access")


def write_line(seen: Observation) -> None:
    """Log a request that is over; a status of 0 is a client that left before its answer."""
    log.info(
        "request",
        method=seen.method,
        route=seen.route,
        status=seen.status,
        ms=round(seen.seconds * 1000, 1),
        bytes=seen.bytes_sent,
        account_id=None if seen.account_id is None else str(seen.account_id),
        request_id=seen.request_id,
    )
