"""Voice State Update as a client sends it (gateway.md, Voice State Update)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from chat.classes import frozen
from chat.protocol.payload import ABSENT, Absent, parse_snowflake
from chat.protocol.visible_text import without_nul
from chat.protocol.whole_numbers import whole

STREAM_KEYS: Final = 64
"""Streams that one connection may watch; a command that names more changes nothing about them."""

STREAM_KEY_CHARACTERS: Final = 256
"""The longest key of a stream."""


@frozen
class VoiceStateCommand:
    """Opcode 4. A channel of None leaves: the guild's, the call of `connection_id`, or with neither, all."""

    guild_id: int | None
    channel_id: int | None
    connection_id: str | None
    self_mute: bool
    self_deaf: bool
    self_video: bool
    self_stream: bool
    is_mobile: bool
    viewer_stream_keys: tuple[str, ...] | Absent
    """ABSENT keeps what is watched; null arrives as no keys."""
    latitude: str | None
    longitude: str | None
    mutation_id: str | None
    runtime_epoch: str | None
    base_version: int | None
    p2p: bool


def parse_voice_state(d: Any) -> VoiceStateCommand | None:
    """Read opcode 4; None when it names no place that could exist, which is dropped."""
    if type(d) is not dict:
        return None
    guild_id, channel_id = parse_snowflake(d.get("guild_id")), parse_snowflake(d.get("channel_id"))
    connection_id = _text(d.get("connection_id"))
    if (
        (guild_id is None and d.get("guild_id") is not None)
        or (channel_id is None and d.get("channel_id") is not None)
        or (connection_id is None and d.get("connection_id") is not None)
    ):
        return None
    return VoiceStateCommand(
        guild_id=guild_id,
        channel_id=channel_id,
        connection_id=connection_id,
        self_mute=_flag(d, "self_mute"),
        self_deaf=_flag(d, "self_deaf"),
        self_video=_flag(d, "self_video"),
        self_stream=_flag(d, "self_stream"),
        is_mobile=_flag(d, "is_mobile"),
        viewer_stream_keys=_viewer_stream_keys(d),
        latitude=_coordinate(d.get("latitude")),
        longitude=_coordinate(d.get("longitude")),
        mutation_id=_text(d.get("mutation_id")),
        runtime_epoch=_text(d.get("runtime_epoch")),
        base_version=_integer(d.get("base_version")),
        p2p=_flag(d, "p2p"),
    )


def _text(value: Any) -> str | None:
    return without_nul(value) if type(value) is str else None


def _integer(value: Any) -> int | None:
    number = whole(value)
    return number if type(number) is int else None


def _coordinate(value: Any) -> str | None:
    return str(value) if type(value) in (str, int, float) else None


def _flag(d: Mapping[str, Any], member: str) -> bool:
    value = d.get(member)
    return value is True or value == "true"


def _viewer_stream_keys(d: Mapping[str, Any]) -> tuple[str, ...] | Absent:
    value = d.get("viewer_stream_keys", ABSENT)
    if value is None:
        return ()
    if (
        type(value) is list
        and len(value) <= STREAM_KEYS
        and all(type(key) is str and len(key) <= STREAM_KEY_CHARACTERS for key in value)
    ):
        return tuple(map(without_nul, value))
    return ABSENT
