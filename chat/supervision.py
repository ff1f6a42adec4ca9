"""A last resort for tasks that share a nursery: what one of them raises is logged, and the others go on.

A defect, or a damaged row, that one of them meets would otherwise end every connection of the process.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, Final

import structlog
import trio

RESTART_SECONDS: Final = 1.0
"""The pause before a lasting task that failed begins anew; it doubles as long as the task keeps failing."""

RESTART_MAXIMUM_SECONDS: Final = 60.0
"""The longest of these pauses; a task that lasted longer than this counts as mended."""

logger = structlog.get_logger(__name__)

Task = Callable[..., Awaitable[object]]


async def guarded(task: Task, *arguments: Any) -> bool:
    """Run a task to its end; returns whether it got there, and logs what it raised."""
    try:
        await task(*arguments)
    except Exception:
        logger.exception("a task failed", task=task.__qualname__)
        return False
    return True


async def lasting(task: Task) -> None:
    """Run a task that is meant to last; each time that it fails it begins anew."""
    pause, began = RESTART_SECONDS, trio.current_time()
    while not await guarded(task):
        if trio.current_time() - began > RESTART_MAXIMUM_SECONDS:
            pause = RESTART_SECONDS
        await trio.sleep(pause)
        pause, began = min(2 * pause, RESTART_MAXIMUM_SECONDS), trio.current_time()
