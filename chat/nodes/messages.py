"""What a core and its nodes tell each other (`chat.nodes.codec` writes it down)."""

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
"""Grows with every change that the other side must know of. Versions that differ by one work together; of two that are
further apart, the node ends. So Hello and Welcome never lose a member."""


DIGESTS: Final = 2
"""The first protocol in which tokens stay at the node. A core that is one step older knows them in clear alone."""

WITHHELD: Final = "withheld"
"""Stands for the token in the `d` of an Identify."""


class NodeMessage:
    """One of the classes below; `kind` tells them apart in writing."""

    kind: ClassVar[int]
    blobs: ClassVar[tuple[str, ...]] = ()
    """Members that are byte strings."""


@frozen
class SessionFacts:
    """What a node has to know of a session to number its events."""

    session_id: str
    user_id: int
    bot: bool
    threads: bool
    ignored_events: tuple[str, ...] = ()
    """None for one of a mount, whose events the core puts into words one by one."""

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
        """The same for a fan-out."""
        return Delivery(self.event, receivers, self.mentions, self.thread_event, self.ignoring_session)


@frozen
class Welcome(NodeMessage):
    """The answer to Hello. Sessions in slots that are not among `kept` are over. `version` is the core's, `mounts` are
    other ways to speak with its gateway; `names_addresses` is its setting `gateway.address_header_for_tests`."""

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
    """A session is there, as an Identify asked. `waiting` (name, whether retained) follows its Ready, with the encoded
    `d` of each. Ready (number 1, never replayed) lies at the key `ready`, or comes last in `data` where that is empty.
    """

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
    """There is no session for an Identify or a Resume: `outcome` names the machine's input, `code` and `reason` are its
    close, if it has one."""

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
    """The session that a Resume names lives on this very node."""

    kind = 7

    request: int
    slot: int


@frozen
class Judge(NodeMessage):
    """Would the session accept a Resume from this sequence? Answered with Judged."""

    kind = 8

    question: int
    slot: int
    seq: int


@frozen
class Export(NodeMessage):
    """The session leaves this node: put its numbering at the key, tell its socket to reconnect. Answered with
    Exported."""

    kind = 9

    question: int
    slot: int
    key: str


@frozen
class Seat(NodeMessage):
    """From here on the session's events come to this slot; its numbering arrives later. `request` is the Resume that
    brings it."""

    kind = 10

    request: int
    slot: int
    facts: SessionFacts


@frozen
class Arrive(NodeMessage):
    """The numbering of a session that has a seat lies at the key."""

    kind = 11

    slot: int
    key: str


@frozen
class ArriveFromDead(NodeMessage):
    """The numbering of a session that has a seat follows from what a dead node left, up to `until`; `seq` is what the
    client has."""

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
    """How far has the session counted? Answered with Stands."""

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
    """A node is there."""

    kind = 32

    name: str
    version: str
    protocol: int


@frozen
class AskIdentify(NodeMessage):
    """A client identifies, at a mount where one is named; its upgrade named this host. `d` is its payload, with the
    token in clear only where no `credential` stands for it."""

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
    """A client resumes. `token` is empty where `credential` stands for it."""

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
    """What a session asks for; `d` is the payload's."""

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
    """Its replay is through."""

    kind = 37

    slot: int


@frozen
class Detached(NodeMessage):
    """The session has no socket any more."""

    kind = 38

    slot: int


@frozen
class Gone(NodeMessage):
    """The session is of no use: its client never learnt of it, or its numbers are lost."""

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
    """The node ends. What its sessions had numbered by then it has left behind."""

    kind = 43


@frozen
class Figures(NodeMessage):
    """What the node has in hand, told every few seconds."""

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
    """Somebody at this address sends headers of a proxy, and is no trusted one."""

    kind = 46

    address: str


@frozen
class CountsAnswer(NodeMessage):
    """Sequences as `Numbering` has them, and how many Dispatches wait for a Resume."""

    kind = 45

    question: int
    sequence: int
    acknowledged: int
    replay_floor: int
    retained_count: int


KINDS: Final[dict[int, type[NodeMessage]]] = {each.kind: each for each in NodeMessage.__subclasses__()}
"""Every message by its number."""
