"""A client's requests, put to the engine."""

from __future__ import annotations

from livekit.protocol import rtc

from chat.voice.engine.engine import Engine
from chat.voice.signalling.reading import SignalRefused, track_request


def carry_out(engine: Engine, participant: str, request: rtc.SignalRequest, now_ms: int) -> rtc.SignalResponse | None:
    """Put one request to the engine; returns what is answered beside what the engine tells.

    Kinds that this server has no use for are passed over. Raises SignalRefused and SdpRefused.
    """
    match request.WhichOneof("message"):
        case "offer":
            engine.offer(participant, request.offer.sdp, request.offer.id)
        case "answer":
            engine.answer(participant, request.answer.sdp, request.answer.id)
        case "add_track":
            engine.add_track(participant, track_request(request.add_track))
        case "mute":
            engine.mute(participant, request.mute.sid, request.mute.muted)
        case "subscription":
            tracks = [*request.subscription.track_sids]
            tracks += [sid for each in request.subscription.participant_tracks for sid in each.track_sids]
            engine.want(participant, tracks, request.subscription.subscribe)
        case "leave":
            engine.leave(participant)
        case "ping":
            return rtc.SignalResponse(pong=now_ms)
        case "ping_req":
            asked = request.ping_req.timestamp
            return rtc.SignalResponse(pong_resp=rtc.Pong(last_ping_timestamp=asked, timestamp=now_ms))
        case None:
            raise SignalRefused("the message is empty")
    return None
