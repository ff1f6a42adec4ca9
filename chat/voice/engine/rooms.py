"""What the engine knows: rooms, the people in them, what they publish and who gets it."""

from __future__ import annotations

import enum
from typing import Final

import attrs

from chat.classes import define, frozen
from chat.voice.protocol.sdp import Codec, LocalEnd


class Source(enum.Enum):
    """What a track shows; the values are those of LiveKit's messages and grants."""

    CAMERA = "camera"
    MICROPHONE = "microphone"
    SCREEN_SHARE = "screen_share"
    SCREEN_SHARE_AUDIO = "screen_share_audio"


SHOWN: Final = frozenset({Source.CAMERA, Source.SCREEN_SHARE, Source.SCREEN_SHARE_AUDIO})
"""What the right to stream covers."""


@frozen(kw_only=True)
class Rights:
    """What a participant may do: publish these, and hear and see the others."""

    sources: frozenset[Source]
    hears: bool
    bits_per_second: int | None = None
    """The bit rate of its microphone; None sets no bound."""


@frozen(kw_only=True)
class Grant:
    """What a token says: who may enter which room, and how."""

    room: str
    identity: str
    name: str
    metadata: str
    rights: Rights


@frozen(kw_only=True)
class TrackRequest:
    """A client announces a track; `client_id` is its own name for it, which its offer repeats."""

    client_id: str
    name: str
    is_video: bool
    source: Source
    width: int = 0
    height: int = 0
    muted: bool = False
    codec: str = ""
    """The codec of pictures that the client wants to send, in lower case; empty leaves it to us."""
    stream: str = ""


@define(eq=False, kw_only=True)
class Track:
    id: str
    owner: Participant
    request: TrackRequest
    muted: bool
    mid: str | None = None
    """The section of the publisher's offer, once there is one."""
    codec: Codec | None = None

    @property
    def is_live(self) -> bool:
        """Whether its owner may publish it and has offered it."""
        return self.codec is not None and self.request.source in self.owner.rights.sources


@define(eq=False)
class Subscription:
    """A track on its way to a participant: its section in the offers to it."""

    track: Track
    mid: str
    ssrc: int
    active: bool = True
    """False for a section that is kept and empty: sections of a description never go away."""
    is_free: bool = False
    """The client knows that it is empty, so another track may have the section."""


@define(eq=False, kw_only=True)
class Participant:
    id: str
    identity: str
    name: str
    metadata: str
    room: Room
    rights: Rights
    publisher: LocalEnd
    subscriber: LocalEnd
    joined_ms: int
    version: int = 1
    tracks: dict[str, Track] = attrs.field(factory=dict)
    announced: dict[str, Track] = attrs.field(factory=dict)
    """Tracks by the client's own names for them."""
    subscriptions: dict[str, Subscription] = attrs.field(factory=dict)
    """By the track's id."""
    refused: set[str] = attrs.field(factory=set)
    """Tracks that the client does not want."""
    sections: list[Subscription] = attrs.field(factory=list)
    """Every section of the offers to it, in order."""
    offers: int = 0
    """How many offers it was sent; also the version of the last."""
    offered_empty: set[str] = attrs.field(factory=set)
    """Sections that the last offer to it showed as empty, by mid."""
    awaits_answer: bool = False
    offer_again: bool = False
    """Something changed while an answer was awaited."""
    is_up: bool = False
    """Whether one of its transports carries media."""
    opened: set[str] = attrs.field(factory=set)
    """The transports that the worker was told of."""


@define(eq=False, kw_only=True)
class Room:
    id: str
    name: str
    created_ms: int
    participants: dict[str, Participant] = attrs.field(factory=dict)
    """By identity."""
    speaking: dict[str, float] = attrs.field(factory=dict)
    """Who speaks, by the participant's id, and how loud."""
