"""The engine: each input changes the rooms and leaves behind what to tell clients and what to order from the worker.

Nothing here waits, knows the time or makes a choice by chance: names and numbers are given.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Final

import attrs

from chat.classes import define, frozen
from chat.voice.engine import negotiation
from chat.voice.engine.commands import (
    CloseTransport,
    Command,
    Forward,
    Heard,
    OpenTransport,
    ReceiveTrack,
    SilenceTrack,
    StopForward,
    StopTrack,
    TransportLost,
    TransportUp,
    TrustPeer,
    WorkerEvent,
)
from chat.voice.engine.messages import (
    Answer,
    Joined,
    Leave,
    LeaveReason,
    Message,
    Offer,
    ParticipantsChanged,
    Speakers,
    Told,
    TrackGone,
    TrackRefused,
    TrackTaken,
)
from chat.voice.engine.rooms import Grant, Participant, Rights, Room, Source, Subscription, Track, TrackRequest
from chat.voice.protocol import sdp
from chat.voice.protocol.sdp import LocalEnd

TRACKS_MAXIMUM: Final = 16
"""Tracks of one participant."""

CAMERAS_MAXIMUM: Final = 25
"""Cameras in one room."""


@frozen
class Presence:
    """A participant's media began to flow, or it is gone; for those who keep voice states."""

    room: str
    identity: str
    is_up: bool


@define(eq=False, kw_only=True)
class Engine:
    """All rooms. After each input take what it left in `told`, `commands` and `presences`, in this order of time."""

    new_name: Callable[[str], str]
    """Makes a name that begins so and that nobody can guess."""
    new_number: Callable[[], int]
    """Gives 32 random bits."""
    fingerprint: str
    """SHA-256 of the certificate that all transports show."""
    told: list[Told] = attrs.field(factory=list, init=False)
    commands: list[Command] = attrs.field(factory=list, init=False)
    presences: list[Presence] = attrs.field(factory=list, init=False)
    rooms: dict[str, Room] = attrs.field(factory=dict, init=False)
    _participants: dict[str, Participant] = attrs.field(factory=dict, init=False)
    _by_transport: dict[str, Participant] = attrs.field(factory=dict, init=False)
    _tracks: dict[str, Track] = attrs.field(factory=dict, init=False)

    # Coming and going

    def join(self, grant: Grant, candidates: tuple[str, ...], now_ms: int) -> str:
        """Somebody enters; returns the participant's id. One of the same identity must go."""
        room = self.rooms.get(grant.room)
        if room is None:
            room = Room(id=self.new_name("RM_"), name=grant.room, created_ms=now_ms)
            self.rooms[grant.room] = room
        elif grant.identity in room.participants:
            self._remove(room.participants[grant.identity], LeaveReason.DUPLICATE_IDENTITY)
            self.rooms[grant.room] = room
        participant = Participant(
            id=self.new_name("PA_"),
            identity=grant.identity,
            name=grant.name,
            metadata=grant.metadata,
            room=room,
            rights=grant.rights,
            publisher=self._local_end(candidates),
            subscriber=self._local_end(candidates),
            joined_ms=now_ms,
        )
        others = tuple(room.participants.values())
        room.participants[grant.identity] = participant
        self._participants[participant.id] = participant
        self._by_transport[participant.publisher.ice_name] = participant
        self._by_transport[participant.subscriber.ice_name] = participant
        self._tell(participant, Joined(participant, others))
        self._tell_others(participant, ParticipantsChanged((participant,)))
        self._subscribe(participant)
        return participant.id

    def _local_end(self, candidates: tuple[str, ...]) -> LocalEnd:
        return LocalEnd(
            ice_name=self.new_name(""),
            ice_password=self.new_name("") + self.new_name(""),
            fingerprint=self.fingerprint,
            candidates=candidates,
        )

    def leave(self, participant_id: str, reason: LeaveReason | None = None) -> None:
        """Somebody left; with a reason it is told to go. One that is gone already leaves nothing."""
        participant = self._participants.get(participant_id)
        if participant is not None:
            self._remove(participant, reason)

    def dismiss(self, room: str, identity: str, reason: LeaveReason) -> None:
        """Whoever has this identity in the room must go."""
        participant = self._find(room, identity)
        if participant is not None:
            self._remove(participant, reason)

    def _find(self, room: str, identity: str) -> Participant | None:
        found = self.rooms.get(room)
        return None if found is None else found.participants.get(identity)

    def _remove(self, participant: Participant, reason: LeaveReason | None) -> None:
        room = participant.room
        if reason is not None:
            self._tell(participant, Leave(reason))
        del room.participants[participant.identity], self._participants[participant.id]
        room.speaking.pop(participant.id, None)
        for track in participant.tracks.values():
            self._stop(track)
        participant.tracks.clear()
        for end in (participant.publisher, participant.subscriber):
            del self._by_transport[end.ice_name]
            if end.ice_name in participant.opened:
                self.commands.append(CloseTransport(end.ice_name))
        if not room.participants:
            del self.rooms[room.name]
        else:
            for other in room.participants.values():
                self._tell(other, ParticipantsChanged((participant,), left=True))
                self._subscribe(other)
        self.presences.append(Presence(room.name, participant.identity, is_up=False))

    # Publishing

    def add_track(self, participant_id: str, request: TrackRequest) -> None:
        """A client announces that it will offer a track."""
        participant = self._participants[participant_id]
        if request.client_id in participant.announced:
            return
        if not self._may_publish(participant, request):
            self._tell(participant, TrackRefused(request.client_id))
            return
        track = Track(id=self.new_name("TR_"), owner=participant, request=request, muted=request.muted)
        participant.announced[request.client_id] = participant.tracks[track.id] = self._tracks[track.id] = track
        self._tell(participant, TrackTaken(request.client_id, track))
        self._changed(participant)

    def _may_publish(self, participant: Participant, request: TrackRequest) -> bool:
        if request.source not in participant.rights.sources or len(participant.tracks) >= TRACKS_MAXIMUM:
            return False
        if request.source is not Source.CAMERA:
            return True
        everybody = participant.room.participants.values()
        cameras = sum(track.request.source is Source.CAMERA for other in everybody for track in other.tracks.values())
        return cameras < CAMERAS_MAXIMUM

    def offer(self, participant_id: str, text: str, offer_id: int) -> None:
        """A client offers what it publishes. Raises SdpRefused."""
        participant = self._participants[participant_id]
        offer = sdp.parse(text)
        wanted = {name: track.request.codec for name, track in participant.announced.items()}
        answer, taken = negotiation.publisher_answer(offer, participant, wanted, max(1, offer_id))
        transport = participant.publisher.ice_name
        self._open(participant, participant.publisher)
        self.commands.append(TrustPeer(transport, *offer.fingerprint))
        published = [track for each in taken if (track := self._published(participant, each)) is not None]
        self._tell(participant, Answer(answer, offer_id))
        gone = [track for track in participant.tracks.values() if track.mid is not None and track not in published]
        for track in gone:
            self._forget(track)
            self._tell(participant, TrackGone(track.id))
        self._changed(participant)
        self._subscribe_others(participant)

    def _published(self, participant: Participant, taken: negotiation.Taken) -> Track | None:
        """The track that a section carries, which the worker receives from now on."""
        section, tracks = taken.section, participant.tracks.values()
        track = next((track for track in tracks if track.mid == section.mid), None)
        if track is not None:
            return track  # offered before, with the same codec
        named = participant.announced.get(section.track or "")
        is_video = section.kind == "video"
        waiting = (track for track in tracks if track.mid is None and track.request.is_video is is_video)
        track = named if named is not None and named.mid is None else next(waiting, None)
        if track is None or track.request.is_video is not is_video:
            return None
        track.mid, track.codec = section.mid, taken.codec
        limit = participant.rights.bits_per_second if track.request.source is Source.MICROPHONE else None
        stream = negotiation.received_stream(taken)
        transport = participant.publisher.ice_name
        self.commands.append(ReceiveTrack(transport, track.id, section.mid, section.ssrcs, stream, limit))
        if not track.is_live:
            self.commands.append(SilenceTrack(track.id, True))
        return track

    def mute(self, participant_id: str, track_id: str, muted: bool) -> None:
        """A client mutes its own track, or unmutes it: the others are told."""
        participant = self._participants[participant_id]
        track = participant.tracks.get(track_id)
        if track is not None and track.muted is not muted:
            track.muted = muted
            self._changed(participant)

    def _stop(self, track: Track) -> None:
        del self._tracks[track.id]
        if track.mid is not None:
            self.commands.append(StopTrack(track.id))

    def _forget(self, track: Track) -> None:
        self._stop(track)
        del track.owner.tracks[track.id]
        track.owner.announced.pop(track.request.client_id, None)

    # Rights

    def change_rights(self, room: str, identity: str, rights: Rights) -> None:
        """What somebody may do changed: tracks that are no longer allowed fall silent at once."""
        participant = self._find(room, identity)
        if participant is None or participant.rights == rights:
            return
        live = {track.id for track in participant.tracks.values() if track.is_live}
        participant.rights = rights
        for track in participant.tracks.values():
            if track.codec is not None and track.is_live is not (track.id in live):
                self.commands.append(SilenceTrack(track.id, not track.is_live))
        self._changed(participant)
        self._subscribe_others(participant)
        self._subscribe(participant)

    # Subscribing

    def want(self, participant_id: str, track_ids: Iterable[str], wanted: bool) -> None:
        """A client wants these tracks, or does not."""
        participant = self._participants[participant_id]
        known = {track_id for track_id in track_ids if track_id in self._tracks}
        participant.refused = participant.refused & self._tracks.keys()
        participant.refused = participant.refused - known if wanted else participant.refused | known
        self._subscribe(participant)

    def answer(self, participant_id: str, text: str, offer_id: int) -> None:
        """A client answers our offer; an answer to another than the last counts for nothing. Raises SdpRefused."""
        participant = self._participants[participant_id]
        if not participant.awaits_answer or offer_id not in (0, participant.offers):
            return
        answer = sdp.parse(text)
        self.commands.append(TrustPeer(participant.subscriber.ice_name, *answer.fingerprint))
        participant.awaits_answer = False
        for subscription in participant.sections:
            subscription.is_free = not subscription.active and subscription.mid in participant.offered_empty
        if participant.offer_again:
            participant.offer_again = False
            self._offer(participant)

    def _subscribe_others(self, participant: Participant) -> None:
        for other in participant.room.participants.values():
            if other is not participant:
                self._subscribe(other)

    def _subscribe(self, participant: Participant) -> None:
        """Bring what a participant gets in line with what it may get and wants."""
        due = self._due(participant)
        gone = [each for track_id, each in participant.subscriptions.items() if track_id not in due]
        for subscription in gone:
            subscription.active = False
            del participant.subscriptions[subscription.track.id]
            if subscription.track.id in self._tracks:
                self.commands.append(StopForward(subscription.track.id, participant.subscriber.ice_name))
        new = [track for track_id, track in due.items() if track_id not in participant.subscriptions]
        for track in new:
            self._add(participant, track)
        if gone or new:
            self._offer(participant)

    def _due(self, participant: Participant) -> dict[str, Track]:
        if not participant.rights.hears:
            return {}
        return {
            track.id: track
            for other in participant.room.participants.values()
            if other is not participant
            for track in other.tracks.values()
            if track.is_live and track.id not in participant.refused
        }

    def _add(self, participant: Participant, track: Track) -> None:
        is_video = track.request.is_video
        sections = participant.sections
        free = (each for each in sections if each.is_free and each.track.request.is_video is is_video)
        place = next(free, None)
        mid = str(len(sections)) if place is None else place.mid
        subscription = Subscription(track, mid, self.new_number() or 1)
        if place is None:
            sections.append(subscription)
        else:
            sections[sections.index(place)] = subscription
        participant.subscriptions[track.id] = subscription
        self._open(participant, participant.subscriber)
        stream = negotiation.sent_stream(track)
        self.commands.append(Forward(track.id, participant.subscriber.ice_name, subscription.ssrc, stream))

    def _offer(self, participant: Participant) -> None:
        if participant.awaits_answer:
            participant.offer_again = True
            return
        participant.awaits_answer = True
        participant.offers += 1
        participant.offered_empty = {each.mid for each in participant.sections if not each.active}
        tracks = {each.mid: track_id for track_id, each in participant.subscriptions.items()}
        text = negotiation.subscriber_offer(participant, participant.offers)
        self._tell(participant, Offer(text, participant.offers, tracks))

    # What the worker says

    def worker_event(self, event: WorkerEvent) -> None:
        """A transport is up or lost, or voices were heard."""
        match event:
            case TransportUp(transport):
                participant = self._by_transport.get(transport)
                if participant is not None and not participant.is_up:
                    participant.is_up = True
                    self.presences.append(Presence(participant.room.name, participant.identity, is_up=True))
                    self._changed(participant)
            case TransportLost(transport):
                participant = self._by_transport.get(transport)
                if participant is not None:
                    self._remove(participant, LeaveReason.MEDIA_FAILURE)
            case Heard(levels):
                self._heard(levels)

    def _heard(self, levels: Mapping[str, float]) -> None:
        by_room: dict[str, dict[str, float]] = {name: {} for name, room in self.rooms.items() if room.speaking}
        for track_id, level in levels.items():
            track = self._tracks.get(track_id)
            if track is not None and track.is_live:
                by_room.setdefault(track.owner.room.name, {})[track.owner.id] = level
        for name, loud in by_room.items():
            room = self.rooms[name]
            changed = {each: 0.0 for each in room.speaking if each not in loud}
            changed.update((each, level) for each, level in loud.items() if room.speaking.get(each) != level)
            room.speaking = loud
            if changed:
                for participant in room.participants.values():
                    if participant.rights.hears:
                        self._tell(participant, Speakers(changed))

    # Telling

    def _open(self, participant: Participant, end: LocalEnd) -> None:
        if end.ice_name not in participant.opened:
            participant.opened.add(end.ice_name)
            self.commands.append(OpenTransport(end.ice_name, end.ice_password))

    def _changed(self, participant: Participant) -> None:
        """The participant and the others see it anew."""
        participant.version += 1
        changed = ParticipantsChanged((participant,))
        for other in participant.room.participants.values():
            self._tell(other, changed)

    def _tell_others(self, participant: Participant, message: Message) -> None:
        for other in participant.room.participants.values():
            if other is not participant:
                self._tell(other, message)

    def _tell(self, participant: Participant, message: Message) -> None:
        self.told.append(Told(participant.id, message))

    def participant(self, participant_id: str) -> Participant | None:
        """Somebody who is in a room."""
        return self._participants.get(participant_id)

    def everybody(self) -> Sequence[Participant]:
        """All participants of all rooms."""
        return list(self._participants.values())
