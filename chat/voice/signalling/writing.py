"""What clients are told: the engine's messages as LiveKit's."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from google.protobuf import json_format
from livekit.protocol import models, rtc

from chat.classes import frozen
from chat.protocol.frames import binary_frame, text_frame
from chat.voice.engine.messages import (
    Answer,
    Joined,
    Leave,
    LeaveReason,
    Message,
    Offer,
    ParticipantsChanged,
    Speakers,
    TrackGone,
    TrackRefused,
    TrackTaken,
)
from chat.voice.engine.rooms import Participant, Room, Track
from chat.voice.protocol.sdp import registered_name
from chat.voice.signalling.reading import SOURCES

PING_INTERVAL_SECONDS: Final = 10
PING_TIMEOUT_SECONDS: Final = 30
PROTOCOL_VERSION: Final = 15
"""The version of LiveKit's protocol that is spoken: everything used here is in it."""

SERVER_VERSION: Final = "1.8.0"
"""Clients compare it to know what a server understands."""

SOURCE_NUMBERS: Final = {source: number for number, source in SOURCES.items()}

COMES_BACK: Final = frozenset({LeaveReason.MIGRATION, LeaveReason.MEDIA_FAILURE, LeaveReason.SERVER_SHUTDOWN})
"""After these a client joins anew by itself."""


@frozen
class IceServer:
    """A server that helps through networks in the way."""

    urls: tuple[str, ...]
    username: str = ""
    credential: str = ""


def frame(response: rtc.SignalResponse, *, as_text: bool) -> bytes:
    """The WebSocket frame of a message, in the form that the client speaks."""
    if as_text:
        return text_frame(json_format.MessageToJson(response, indent=None).encode())
    return binary_frame(response.SerializeToString())


def response_of(message: Message, ice_servers: Sequence[IceServer]) -> rtc.SignalResponse:
    """LiveKit's message that says the same."""
    match message:
        case Joined(participant, others):
            return rtc.SignalResponse(join=_join(participant, others, ice_servers))
        case ParticipantsChanged(participants, left):
            infos = [participant_info(participant, left=left) for participant in participants]
            return rtc.SignalResponse(update=rtc.ParticipantUpdate(participants=infos))
        case TrackTaken(client_id, track):
            taken = rtc.TrackPublishedResponse(cid=client_id, track=track_info(track))
            return rtc.SignalResponse(track_published=taken)
        case TrackRefused(client_id):
            refused = rtc.RequestResponse(
                reason=rtc.RequestResponse.NOT_ALLOWED,
                message="This track may not be published.",
                add_track=rtc.AddTrackRequest(cid=client_id),
            )
            return rtc.SignalResponse(request_response=refused)
        case TrackGone(track_id):
            return rtc.SignalResponse(track_unpublished=rtc.TrackUnpublishedResponse(track_sid=track_id))
        case Answer(sdp, offer_id):
            return rtc.SignalResponse(answer=rtc.SessionDescription(type="answer", sdp=sdp, id=offer_id))
        case Offer(sdp, offer_id, tracks):
            offer = rtc.SessionDescription(type="offer", sdp=sdp, id=offer_id, mid_to_track_id=dict(tracks))
            return rtc.SignalResponse(offer=offer)
        case Speakers(levels):
            speakers = [models.SpeakerInfo(sid=name, level=level, active=level > 0) for name, level in levels.items()]
            return rtc.SignalResponse(speakers_changed=rtc.SpeakersChanged(speakers=speakers))
        case Leave(reason):
            return rtc.SignalResponse(leave=leave_request(reason))


def leave_request(reason: LeaveReason) -> rtc.LeaveRequest:
    """A goodbye that says whether to come back."""
    comes_back = reason in COMES_BACK
    action = rtc.LeaveRequest.RECONNECT if comes_back else rtc.LeaveRequest.DISCONNECT
    return rtc.LeaveRequest(can_reconnect=comes_back, reason=reason.value, action=action)  # type: ignore[arg-type]


def _join(
    participant: Participant, others: Sequence[Participant], ice_servers: Sequence[IceServer]
) -> rtc.JoinResponse:
    return rtc.JoinResponse(
        room=_room(participant.room),
        participant=participant_info(participant),
        other_participants=[participant_info(other) for other in others],
        server_version=SERVER_VERSION,
        server_info=models.ServerInfo(version=SERVER_VERSION, protocol=PROTOCOL_VERSION),
        ice_servers=[
            rtc.ICEServer(urls=server.urls, username=server.username, credential=server.credential)
            for server in ice_servers
        ],
        subscriber_primary=False,
        ping_interval=PING_INTERVAL_SECONDS,
        ping_timeout=PING_TIMEOUT_SECONDS,
    )


def _room(room: Room) -> models.Room:
    return models.Room(
        sid=room.id,
        name=room.name,
        creation_time=room.created_ms // 1_000,
        num_participants=len(room.participants),
    )


def participant_info(participant: Participant, *, left: bool = False) -> models.ParticipantInfo:
    """A participant as the others see it."""
    states = models.ParticipantInfo
    state = states.DISCONNECTED if left else states.ACTIVE if participant.is_up else states.JOINED
    rights = participant.rights
    return models.ParticipantInfo(
        sid=participant.id,
        identity=participant.identity,
        state=state,
        name=participant.name,
        metadata=participant.metadata,
        joined_at=participant.joined_ms // 1_000,
        version=participant.version,
        is_publisher=bool(participant.tracks),
        tracks=[] if left else [track_info(track) for track in participant.tracks.values()],
        permission=models.ParticipantPermission(
            can_subscribe=rights.hears,
            can_publish=bool(rights.sources),
            can_publish_data=False,
            can_publish_sources=sorted(SOURCE_NUMBERS[source] for source in rights.sources),
        ),
    )


def track_info(track: Track) -> models.TrackInfo:
    """A track as everybody sees it; one that may not be heard counts as muted."""
    request = track.request
    kind = "video" if request.is_video else "audio"
    silenced = request.source not in track.owner.rights.sources
    return models.TrackInfo(
        sid=track.id,
        type=models.TrackType.VIDEO if request.is_video else models.TrackType.AUDIO,
        name=request.name,
        muted=track.muted or silenced,
        width=request.width,
        height=request.height,
        source=SOURCE_NUMBERS[request.source],
        mime_type="" if track.codec is None else f"{kind}/{registered_name(track.codec)}",
        mid=track.mid or "",
        stream=request.stream,
    )
