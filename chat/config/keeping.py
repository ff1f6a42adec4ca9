"""Settings of what is kept: how long, and with how much room left on the disk."""

from __future__ import annotations

from typing import Final

from chat.classes import frozen
from chat.config.declare import setting

MOST_DAYS: Final = 36_500
"""A hundred years: no age is longer, but for ever."""


@frozen(kw_only=True)
class RetentionSettings:
    """How long things are kept. Guilds and channels may choose other ages for their messages, within bounds."""

    messages_days: int | None = setting(
        None, "the age at which messages are deleted where nobody chose another; null: never",
        unit="days", minimum=1, maximum=MOST_DAYS,
    )  # fmt: skip
    least_days: int = setting(
        1, "the shortest age of messages that a guild or a channel may choose", unit="days", minimum=1,
        maximum=MOST_DAYS,
    )  # fmt: skip
    most_days: int | None = setting(
        None, "the longest one; null: they may keep messages for ever, too", unit="days", minimum=1, maximum=MOST_DAYS
    )


@frozen(kw_only=True)
class ArchiveSettings:
    """Archives of accounts and guilds, which administrators order."""

    spare_bytes: int = setting(
        1_073_741_824, "room on the disk that archives leave free; one that would take more fails",
        unit="bytes", minimum=0,
    )  # fmt: skip


@frozen(kw_only=True)
class StorageSettings:
    warn_bytes: int = setting(
        2_147_483_648, "room on the disk of the data directory under which administrators are warned; 0 for no warning",
        unit="bytes", minimum=0,
    )  # fmt: skip
