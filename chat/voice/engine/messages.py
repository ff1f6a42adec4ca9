"""What the engine tells clients, before it is put into LiveKit's messages."""

from __future__ import annotations

import enum
from collections.abc import Mapping

from chat.classes import frozen
from chat.voice.engine.rooms import Participant, Track


class LeaveReason(enum.Enum):
    """Why a participant must go; the values are LiveKit's DisconnectReason."""

    CLIENT_INITIATED = 1
    DUPLICATE_IDENTITY = 2
    SERVER_SHUTDOWN = 3
    PARTICIPANT_REMOVED = 4
    STATE_MISMATCH = 6
    MIGRATION = 8
    """Media begins anew; the client is to come back at once."""
    CONNECTION_TIMEOUT = 14
    MEDIA_FAILURE = 15


@frozen
class Joined:
    """You are in; these are the others."""

    participant: Participant
    others: tuple[Participant, ...]


@frozen
class ParticipantsChanged:
    """These came, changed, or left."""

    participants: tuple[Participant, ...]
    left: bool = False


@frozen
class TrackTaken:
    """Your track was announced under this id."""

    client_id: str
    track: Track


@frozen
class TrackRefused:
    """Your track is not taken: you may not publish it, or there are too many."""

    client_id: str


@frozen
class TrackGone:
    """Your track is no longer taken."""

    track_id: str


@frozen
class Answer:
    sdp: str
    offer_id: int


@frozen
class Offer:
    """Sections by the ids of their tracks."""

    sdp: str
    offer_id: int
    tracks: Mapping[str, str]


@frozen
class Speakers:
    """Who speaks, by participant id, with loudness; a loudness of zero says that one has stopped."""

    levels: Mapping[str, float]


@frozen
class Leave:
    reason: LeaveReason


Message = Joined | ParticipantsChanged | TrackTaken | TrackRefused | TrackGone | Answer | Offer | Speakers | Leave


@frozen
class Told:
    """A message for one participant, by its id. After `Leave` there is no other."""

    participant: str
    message: Message
