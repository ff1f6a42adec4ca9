"""The messages between a core and its nodes; `chat.nodes.codec` turns them into bytes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, Final

import attrs

from chat.auth.tokens import TokenDigest
from chat.bus.audience import Mentions
from chat.classes import frozen
from chat.gateway.fanout import Delivery
from chat.gateway.session import GatewaySession
from chat.protocol.frames import OutgoingEvent

PROTOCOL: Final = 2
"""The version of the protocol. It grows with every change that the other side must know of. Versions that differ by one
work together; a node that is further apart from its core ends. So Hello and Welcome never lose a member."""


DIGESTS: Final = 2
"""The first version in which tokens stay at the node. A core of the version before it only takes tokens in clear."""

WITHHELD: Final = "withheld"
"""Stands in the `d` of an Identify in place of the token."""


class NodeMessage:
    """One of the classes below; `kind` tells them apart in writing."""

    kind: ClassVar[int]
    blobs: ClassVar[tuple[str, ...]] = ()
    """The members that are byte strings."""


@frozen
class SessionFacts:
    """What a node has to know of a session to number its events."""

    session_id: str
    user_id: int
    bot: bool
    threads: bool
    ignored_events: tuple[str, ...] = ()
    """The events that the session ignores; None for a session of a mount, whose events the core words one by one."""

    @classmethod
    def of(cls, session: GatewaySession) -> SessionFacts:
        ignored = () if session.mount else tuple(sorted(session.ignored_events))
        return cls(session.id, session.user_id, session.bot, session.threads, ignored)


@frozen
class Position:
    """A place in what a core says to a node: numbers begin anew with each life of the core (`epoch`)."""

    epoch: int
    number: int

    def __lt__(self, other: Position) -> bool:
        return (self.epoch, self.number) < (other.epoch, other.number)

    def __le__(self, other: Position) -> bool:
        return (self.epoch, self.number) <= (other.epoch, other.number)


# From the core to a node


@frozen(eq=False)
class Deliver(NodeMessage):
    """An event for the sessions in `slots` (16-bit numbers, little-endian)."""

    kind = 1

    event: OutgoingEvent
    slots: bytes
    mentions: Mentions | None = None
    thread_event: OutgoingEvent | None = None
    ignoring_session: str | None = None

    def to(self, receivers: Sequence[GatewaySession]) -> Delivery:
        """As a delivery for the node's fan-out, to these sessions."""
        return Delivery(self.event, receivers, self.mentions, self.thread_event, self.ignoring_session)


@frozen
class Welcome(NodeMessage):
    """The answer to Hello. The sessions in slots that are not among `kept` are over. `version` is the core's. `mounts`
    names the mounts that its gateway has; `names_addresses` is its setting `gateway.address_header_for_tests`."""

    kind = 2

    protocol: int
    heartbeat_interval_ms: int
    connections_per_address: int
    rate_limits: bool
    kept: tuple[int, ...] = ()
    trusted_proxies: tuple[str, ...] = ()
    version: str = ""
    mounts: tuple[str, ...] = ()
    names_addresses: bool = False


@frozen
class Began(NodeMessage):
    """A session was made for an Identify. `waiting` holds the events that follow its Ready (name, whether retained),
    with the encoded `d` of each. Ready (number 1, never replayed) lies at the key `ready`; if that is empty, it comes
    last in `data`."""

    kind = 3
    blobs = ("data",)

    request: int
    slot: int
    facts: SessionFacts
    ready: str = ""
    waiting: tuple[tuple[str, bool], ...] = ()
    data: tuple[bytes, ...] = ()


@frozen
class Refused(NodeMessage):
    """An Identify or a Resume was refused: `outcome` names the machine's input; `code` and `reason` are its close, if
    there is one."""

    kind = 4

    request: int
    outcome: str
    code: int = 0
    reason: str = ""


@frozen
class Ended(NodeMessage):
    """The session is over, and the slot is free."""

    kind = 5

    slot: int


@frozen
class Payload(NodeMessage):
    """A payload that is no Dispatch, for the socket that holds the session."""

    kind = 6
    blobs = ("data",)

    slot: int
    data: tuple[bytes, ...]


@frozen
class ResumeHere(NodeMessage):
    """The session that a Resume names already lives on this node."""

    kind = 7

    request: int
    slot: int


@frozen
class Judge(NodeMessage):
    """Asks whether the session would accept a Resume from this sequence. The answer is Judged."""

    kind = 8

    question: int
    slot: int
    seq: int


@frozen
class Export(NodeMessage):
    """The session leaves this node: put its numbering at the key, and tell its socket to reconnect. The answer is
    Exported."""

    kind = 9

    question: int
    slot: int
    key: str


@frozen
class Seat(NodeMessage):
    """From this message on the session's events come to this slot; its numbering arrives later. `request` is the Resume
    for which it moves."""

    kind = 10

    request: int
    slot: int
    facts: SessionFacts


@frozen
class Arrive(NodeMessage):
    """The numbering of a session that has a seat now lies at the key."""

    kind = 11

    slot: int
    key: str


@frozen
class ArriveFromDead(NodeMessage):
    """The numbering of a session that has a seat is to be worked out from what a dead node left, up to `until`; `seq`
    is the sequence that the client has."""

    kind = 12

    slot: int
    dead: str
    dead_slot: int
    until: Position
    seq: int


@frozen
class Drain(NodeMessage):
    """Send every session elsewhere, and end."""

    kind = 13


@frozen
class WhenDrained(NodeMessage):
    """Answer with Drained once fewer than this many bytes wait to be sent to the session's peer."""

    kind = 14

    question: int
    slot: int
    below: int


@frozen
class Follows(NodeMessage):
    """First message of a restarted core: the number of the last message that it sent in its life before. A node that
    has not received all of them must end its sessions."""

    kind = 15

    said: Position


@frozen
class AskCounts(NodeMessage):
    """Asks how far the session has counted. The answer is CountsAnswer."""

    kind = 16

    question: int
    slot: int


@frozen
class Strike(NodeMessage):
    """Do this to the socket that holds the session, which is retained: `close` it with code and reason, have it
    `reconnect`, `drop` it without a close frame, `stall` its frames for a time."""

    kind = 17

    slot: int
    action: str
    code: int = 0
    reason: str = ""
    milliseconds: int = 0


# From a node to the core


@frozen
class Hello(NodeMessage):
    """A node introduces itself."""

    kind = 32

    name: str
    version: str
    protocol: int


@frozen
class AskIdentify(NodeMessage):
    """A client identifies, at a mount if one is named; its upgrade named this host. `d` is its payload; it holds the
    token in clear only if there is no `credential`."""

    kind = 33
    blobs = ("d",)

    request: int
    address: str
    retried: bool
    d: tuple[bytes, ...]
    mount: str = ""
    host: str | None = None
    credential: TokenDigest | None = None


@frozen
class AskResume(NodeMessage):
    """A client resumes. `token` is empty if there is a `credential`."""

    kind = 34

    request: int
    address: str
    token: str = attrs.field(repr=False)
    session_id: str
    seq: int
    mount: str = ""
    credential: TokenDigest | None = None


@frozen
class Command(NodeMessage):
    """A client's command for its session; `d` is the payload's."""

    kind = 35
    blobs = ("d",)

    slot: int
    opcode: int
    d: tuple[bytes, ...]


@frozen
class Attached(NodeMessage):
    """A socket took the session up."""

    kind = 36

    slot: int
    address: str


@frozen
class ResumeDone(NodeMessage):
    """The session's replay has been sent."""

    kind = 37

    slot: int


@frozen
class Detached(NodeMessage):
    """The session has lost its socket."""

    kind = 38

    slot: int


@frozen
class Gone(NodeMessage):
    """The session cannot be used: its client was never told of it, or its numbers are lost."""

    kind = 39

    slot: int


@frozen
class Judged(NodeMessage):
    """`verdict` is the name of a `ResumeVerdict`."""

    kind = 40

    question: int
    verdict: str


@frozen
class Exported(NodeMessage):
    kind = 41

    question: int


@frozen
class Drained(NodeMessage):
    kind = 42

    question: int


@frozen
class Bye(NodeMessage):
    """The node ends. It has left behind the numberings of its sessions."""

    kind = 43


@frozen
class Figures(NodeMessage):
    """The node's figures, sent every few seconds."""

    kind = 44

    sockets: int
    attached: int
    sessions: int
    backlog: int
    delivered: int
    cpu_seconds: float
    resident_bytes: int
    draining: bool = False


@frozen
class UnnamedProxy(NodeMessage):
    """Somebody at this address sends headers of a proxy and is not a trusted proxy."""

    kind = 46

    address: str


@frozen
class CountsAnswer(NodeMessage):
    """The answer to AskCounts: sequences as in `Numbering`, and how many Dispatches are retained."""

    kind = 45

    question: int
    sequence: int
    acknowledged: int
    replay_floor: int
    retained_count: int


KINDS: Final[dict[int, type[NodeMessage]]] = {each.kind: each for each in NodeMessage.__subclasses__()}
"""The class of every message, by its number."""
