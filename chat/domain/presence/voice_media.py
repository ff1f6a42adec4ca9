"""What voice states need of a media engine, and what an engine is told of a connection's rights (gateway.md, Voice
states). Without one, states are kept and told all the same."""

from __future__ import annotations

from typing import Protocol

from chat.classes import frozen
from chat.domain.presence.voice_connections import VoiceState
from chat.domain.standing.guild_states import GuildState
from chat.registries.permissions import Permission


@frozen
class MediaRights:
    """What a connection may do: speak, show camera and screen, hear and see the others. `bits_per_second` bounds its
    sound; None sets no bound."""

    speaks: bool
    streams: bool
    hears: bool
    bits_per_second: int | None


CALL_RIGHTS = MediaRights(speaks=True, streams=True, hears=True, bits_per_second=None)
"""In the call of a conversation everybody may everything."""

NO_RIGHTS = MediaRights(speaks=False, streams=False, hears=False, bits_per_second=None)


@frozen
class MediaServer:
    """Where a connection's media goes: a WebSocket address, and the token that opens it."""

    endpoint: str
    token: str


class VoiceMedia(Protocol):
    """Called on the loop's thread, after the state changed. Nothing of it waits or fails."""

    def place(self, state: VoiceState, rights: MediaRights) -> MediaServer:
        """The connection entered a channel, or a session took it over: what it had before is over."""
        ...

    def change(self, state: VoiceState, rights: MediaRights) -> None:
        """Rights may have changed: they hold at once."""
        ...

    def end(self, connection_id: str) -> None:
        """The connection is gone: nothing of it is heard any more."""
        ...


def media_rights(state: VoiceState, guild: GuildState | None, *, muted: bool, deafened: bool) -> MediaRights:
    """The rights of a connection; `muted` and `deafened` are what moderators did to the member. Who is deafened neither
    hears nor speaks."""
    if state.guild_id is None:
        return CALL_RIGHTS
    channel = None if guild is None else guild.channels.get(state.channel_id)
    if guild is None or channel is None or deafened:
        return NO_RIGHTS
    mask = guild.permissions(state.user_id, state.channel_id)
    return MediaRights(
        speaks=bool(mask & Permission.SPEAK) and not muted,
        streams=bool(mask & Permission.STREAM),
        hears=True,
        bits_per_second=channel.bitrate,
    )
