"""What a client sends: its messages, bounded and put into the engine's words."""

from __future__ import annotations

from typing import Final

from google.protobuf import json_format
from google.protobuf.message import DecodeError
from livekit.protocol import models, rtc

from chat.voice.engine.rooms import Source, TrackRequest

MESSAGE_BYTES: Final = 524_288
"""The longest message: a description, with what JSON makes of it."""

NAME_CHARACTERS: Final = 256
DIMENSION_MAXIMUM: Final = 16_384

SOURCES: Final = {
    models.TrackSource.CAMERA: Source.CAMERA,
    models.TrackSource.MICROPHONE: Source.MICROPHONE,
    models.TrackSource.SCREEN_SHARE: Source.SCREEN_SHARE,
    models.TrackSource.SCREEN_SHARE_AUDIO: Source.SCREEN_SHARE_AUDIO,
}


class SignalRefused(ValueError):
    """The message cannot be understood; the text says why."""


def read_request(data: bytes, *, is_text: bool) -> rtc.SignalRequest:
    """A message in the form that its frame has. Raises SignalRefused."""
    request = rtc.SignalRequest()
    try:
        if is_text:
            json_format.Parse(data, request, ignore_unknown_fields=True, max_recursion_depth=16)
        else:
            request.ParseFromString(data)
    except (DecodeError, json_format.ParseError, UnicodeDecodeError, RecursionError) as error:
        raise SignalRefused("this is no message of a client") from error
    return request


def track_request(asked: rtc.AddTrackRequest) -> TrackRequest:
    """The announcement of a track. Raises SignalRefused."""
    if not asked.cid or max(map(len, (asked.cid, asked.name, asked.stream))) > NAME_CHARACTERS:
        raise SignalRefused("a track needs a name, of a sensible length")
    if asked.type not in (models.TrackType.AUDIO, models.TrackType.VIDEO):
        raise SignalRefused("a track is of sound or of pictures")
    is_video = asked.type == models.TrackType.VIDEO
    source = SOURCES.get(asked.source, Source.CAMERA if is_video else Source.MICROPHONE)
    if is_video is not (source in {Source.CAMERA, Source.SCREEN_SHARE}):
        raise SignalRefused("the source does not fit the kind of track")
    codec = asked.simulcast_codecs[0].codec.lower().removeprefix("video/") if asked.simulcast_codecs else ""
    return TrackRequest(
        client_id=asked.cid,
        name=asked.name,
        is_video=is_video,
        source=source,
        width=min(asked.width, DIMENSION_MAXIMUM),
        height=min(asked.height, DIMENSION_MAXIMUM),
        muted=asked.muted,
        codec=codec,
        stream=asked.stream,
    )
