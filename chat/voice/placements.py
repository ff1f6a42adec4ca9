"""Who may be where: connections of voice states, as the media engine needs them, and whose media is awaited."""

from __future__ import annotations

from typing import Final

import attrs

from chat.classes import define
from chat.domain.presence.voice_connections import VoiceState
from chat.domain.presence.voice_media import MediaRights

GRANT_MS: Final = 600_000
"""How long a connection may wait for its media: as long as its token is good."""

LOST_MS: Final = 60_000
"""How long a connection whose media ended may take to bring it back."""


def room_of(state: VoiceState) -> str:
    """The name of the room that a connection belongs to."""
    if state.guild_id is None:
        return f"dm_channel_{state.channel_id}"
    return f"guild_{state.guild_id}_channel_{state.channel_id}"


def identity_of(state: VoiceState) -> str:
    """The name of a connection in its room."""
    return f"user_{state.user_id}_{state.connection_id}"


@define(eq=False)
class Placement:
    connection_id: str
    identity: str
    room: str
    rights: MediaRights
    awaited_until_ms: int | None
    """When the connection is given up unless its media came; None while it flows."""


@define(eq=False)
class Placements:
    """All of them, by connection and by identity."""

    _by_connection: dict[str, Placement] = attrs.field(factory=dict, init=False)
    _by_identity: dict[str, Placement] = attrs.field(factory=dict, init=False)

    def __len__(self) -> int:
        return len(self._by_connection)

    def put(self, state: VoiceState, rights: MediaRights, now_ms: int) -> Placement:
        """The connection is in this room from now on, and its media is awaited."""
        self.drop(state.connection_id)
        placement = Placement(state.connection_id, identity_of(state), room_of(state), rights, now_ms + GRANT_MS)
        self._by_connection[state.connection_id] = self._by_identity[placement.identity] = placement
        return placement

    def get(self, connection_id: str) -> Placement | None:
        """Where a connection is."""
        return self._by_connection.get(connection_id)

    def find(self, room: str, identity: str) -> Placement | None:
        """Whoever has this identity, if it belongs into this room now."""
        placement = self._by_identity.get(identity)
        return placement if placement is not None and placement.room == room else None

    def drop(self, connection_id: str) -> Placement | None:
        """The connection is nowhere any more; returns where it was."""
        placement = self._by_connection.pop(connection_id, None)
        if placement is not None:
            del self._by_identity[placement.identity]
        return placement

    def media(self, room: str, identity: str, *, flows: bool, now_ms: int) -> None:
        """Media of a connection began to flow, or ended."""
        placement = self.find(room, identity)
        if placement is not None:
            placement.awaited_until_ms = None if flows else now_ms + LOST_MS

    def overdue(self, now_ms: int) -> list[str]:
        """Connections whose media did not come in time."""
        return [
            placement.connection_id
            for placement in self._by_connection.values()
            if placement.awaited_until_ms is not None and placement.awaited_until_ms <= now_ms
        ]
