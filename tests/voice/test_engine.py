"""The engine under random histories: who gets whose track follows from rights, offers and wishes alone, the worker is
ordered accordingly, and nothing is left behind."""

from __future__ import annotations

import itertools

from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, consumes, invariant, rule

from chat.voice.engine.commands import (
    CloseTransport,
    Forward,
    OpenTransport,
    ReceiveTrack,
    SilenceTrack,
    StopForward,
    StopTrack,
    TransportUp,
)
from chat.voice.engine.engine import Engine
from chat.voice.engine.messages import Answer, Joined, Leave, LeaveReason, Offer, TrackTaken
from chat.voice.engine.rooms import Grant, Rights, Source, TrackRequest
from chat.voice.protocol import sdp
from chat.voice.protocol.sdp import MID, Codec, LocalEnd, MediaSection, WrittenSection

OPUS = Codec(109, "opus", 48_000, 2)
VP8 = Codec(120, "vp8", 90_000, 1, "", ("nack", "nack pli", "ccm fir"))
PEER = LocalEnd(ice_name="peer", ice_password="p" * 24, fingerprint=":".join(["EF"] * 32), candidates=())

rights = st.builds(
    Rights, sources=st.frozensets(st.sampled_from([Source.MICROPHONE, Source.CAMERA])), hears=st.booleans()
)


class Client:
    """What an honest client knows: its sections in the order of their first offer."""

    def __init__(self, identity: str) -> None:
        self.identity = identity
        self.id = ""
        self.taken: dict[str, str] = {}
        """Track ids by the client's names."""
        self.sections: list[tuple[str, bool]] = []
        """The name of the track in each section, and whether it is sent."""
        self.offer: Offer | None = None
        self.answers = 0
        self.gone = False

    def description(self) -> str:
        sections = []
        for index, (name, sent) in enumerate(self.sections):
            kind = "video" if name.startswith("camera") else "audio"
            section = MediaSection(
                kind=kind,
                protocol="UDP/TLS/RTP/SAVPF",
                mid=str(index),
                direction="sendonly" if sent else "inactive",
                codecs=(VP8 if kind == "video" else OPUS,),
                extensions={MID: 4},
            )
            stream = f"stream {name}" if sent else None
            sections.append(WrittenSection(section=section, stream=stream, ssrc=1_000 + index))
        return sdp.write(PEER, "actpass", 1, sections)


class EngineHistory(RuleBasedStateMachine):
    """Two rooms, clients that come, publish, mute, lose rights and go."""

    clients = Bundle("clients")

    def __init__(self) -> None:
        super().__init__()
        numbers = itertools.count(1)
        self.engine = Engine(
            new_name=lambda beginning: f"{beginning}{next(numbers):08}",
            new_number=lambda: next(numbers),
            fingerprint=":".join(["AB"] * 32),
        )
        self.here: dict[str, Client] = {}
        self.names = itertools.count()
        self.transports: set[str] = set()
        self.received: dict[str, str] = {}
        self.silenced: set[str] = set()
        self.forwards: set[tuple[str, str]] = set()

    def take(self) -> None:
        """Carry out what the engine left behind, as a worker and honest clients would."""
        engine = self.engine
        for command in engine.commands:
            self.order(command)
        engine.commands.clear()
        for told in engine.told:
            client = self.here.get(told.participant)
            if client is None:
                continue
            match told.message:
                case TrackTaken(name, track):
                    client.taken[name] = track.id
                case Offer():
                    assert client.offer is None, "one offer at a time"
                    client.offer = told.message
                case Answer(text):
                    client.answers += 1
                    assert len(sdp.parse(text).sections) == len(client.sections)
                case Leave():
                    client.gone = True
        engine.told.clear()
        engine.presences.clear()

    def order(self, command: object) -> None:
        match command:
            case OpenTransport(name):
                assert name not in self.transports
                self.transports.add(name)
            case CloseTransport(name):
                self.transports.remove(name)
                self.forwards = {(track, to) for track, to in self.forwards if to != name}
            case ReceiveTrack(transport, track):
                assert transport in self.transports
                assert track not in self.received
                self.received[track] = transport
            case StopTrack(track):
                del self.received[track]
                self.silenced.discard(track)
                self.forwards = {(each, to) for each, to in self.forwards if each != track}
            case SilenceTrack(track, silenced):
                assert track in self.received
                (self.silenced.add if silenced else self.silenced.discard)(track)
            case Forward(track, transport):
                assert track in self.received
                assert transport in self.transports
                assert (track, transport) not in self.forwards
                self.forwards.add((track, transport))
            case StopForward(track, transport):
                self.forwards.remove((track, transport))

    @rule(target=clients, room=st.sampled_from(["one", "two"]), identity=st.integers(0, 5), rights=rights)
    def join(self, room: str, identity: int, rights: Rights) -> Client:
        name = f"{room}{identity}"
        client = Client(name)
        client.id = self.engine.join(Grant(room=room, identity=name, name="", metadata="", rights=rights), (), now_ms=0)
        joined = next(told for told in self.engine.told if told.participant == client.id).message
        assert isinstance(joined, Joined)
        self.take()
        self.here = {key: each for key, each in self.here.items() if not each.gone}
        self.here[client.id] = client
        return client

    @rule(client=consumes(clients), reason=st.sampled_from([None, LeaveReason.PARTICIPANT_REMOVED]))
    def leave(self, client: Client, reason: LeaveReason | None) -> None:
        self.engine.leave(client.id, reason)
        self.take()
        self.here.pop(client.id, None)

    @rule(client=clients, source=st.sampled_from([Source.MICROPHONE, Source.CAMERA]))
    def publish(self, client: Client, source: Source) -> None:
        participant = self.engine.participant(client.id)
        if participant is None:
            return
        name = f"{source.value}{next(self.names)}"
        is_video = source is Source.CAMERA
        self.engine.add_track(client.id, TrackRequest(client_id=name, name="", is_video=is_video, source=source))
        self.take()
        assert (name in client.taken) is (source in participant.rights.sources and len(client.taken) < 16)
        if name in client.taken:
            client.sections.append((name, True))
            self.offer(client)

    @rule(client=clients, index=st.integers(0, 3))
    def unpublish(self, client: Client, index: int) -> None:
        if self.engine.participant(client.id) is None or index >= len(client.sections):
            return
        name, sent = client.sections[index]
        client.sections[index] = name, False
        if sent:
            del client.taken[name]
        self.offer(client)

    def offer(self, client: Client) -> None:
        before = client.answers
        self.engine.offer(client.id, client.description(), 1)
        self.take()
        assert client.answers == before + 1

    @rule(client=clients)
    def answer(self, client: Client) -> None:
        offer, client.offer = client.offer, None
        if offer is None or self.engine.participant(client.id) is None:
            return
        described = sdp.parse(offer.sdp)
        live = {section.mid: section.track for section in described.sections if section.direction == "sendonly"}
        assert live == dict(offer.tracks)
        assert len({section.ssrcs for section in described.sections if section.ssrcs}) == len(live)
        sections = [WrittenSection(section=section) for section in described.sections]
        self.engine.answer(client.id, sdp.write(PEER, "active", 1, sections), offer.offer_id)
        self.take()

    @rule(client=clients, rights=rights)
    def change_rights(self, client: Client, rights: Rights) -> None:
        participant = self.engine.participant(client.id)
        if participant is not None:
            self.engine.change_rights(participant.room.name, client.identity, rights)
            self.take()

    @rule(client=clients, other=clients, wanted=st.booleans())
    def want(self, client: Client, other: Client, wanted: bool) -> None:
        if self.engine.participant(client.id) is not None:
            self.engine.want(client.id, list(other.taken.values()), wanted)
            self.take()

    @rule(client=clients)
    def come_up(self, client: Client) -> None:
        participant = self.engine.participant(client.id)
        if participant is not None:
            self.engine.worker_event(TransportUp(participant.publisher.ice_name))
            self.take()
            assert participant.is_up

    @invariant()
    def everybody_gets_what_is_due(self) -> None:
        due, silenced = set(), set()
        for one in self.engine.everybody():
            for track in one.tracks.values():
                if track.codec is not None and track.request.source not in one.rights.sources:
                    silenced.add(track.id)
            if not one.rights.hears:
                continue
            for other in one.room.participants.values():
                for track in other.tracks.values() if other is not one else ():
                    allowed = track.request.source in other.rights.sources
                    if track.codec is not None and allowed and track.id not in one.refused:
                        due.add((track.id, one.subscriber.ice_name))
        assert self.forwards == due
        assert self.silenced == silenced

    @invariant()
    def nothing_is_left_behind(self) -> None:
        everybody = self.engine.everybody()
        assert {one.id for one in everybody} == self.here.keys()
        assert self.transports == {name for one in everybody for name in one.opened}
        assert set(self.received) == {
            track.id for one in everybody for track in one.tracks.values() if track.mid is not None
        }
        assert all(room.participants for room in self.engine.rooms.values())


TestEngineHistory = EngineHistory.TestCase
