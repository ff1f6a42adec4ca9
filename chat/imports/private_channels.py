"""Who sees a channel that was private elsewhere: its members, and nobody by their roles."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from chat.imports.form import OverwriteRecord, TroubleRecord
from chat.registries.channel_types import OverwriteType
from chat.registries.permissions import Permission

OVERWRITES: Final = 1_000
"""That a channel may have."""


def overwrites_for(
    guild_id: int, people: Sequence[int], name: str
) -> tuple[tuple[OverwriteRecord, ...], list[TroubleRecord]]:
    """What the channel denies everyone and allows these people; and how many of them found no room."""
    sees = int(Permission.VIEW_CHANNEL)
    each = sorted(set(people))
    closed = OverwriteRecord(target_id=guild_id, type=int(OverwriteType.ROLE), allow=0, deny=sees)
    opened = [
        OverwriteRecord(target_id=one, type=int(OverwriteType.MEMBER), allow=sees, deny=0)
        for one in each[: OVERWRITES - 1]
    ]
    left = [
        TroubleRecord(what="permission", name=f"{name}/{one}"[:200], reason="no room") for one in each[OVERWRITES - 1 :]
    ]
    return (closed, *opened), left
