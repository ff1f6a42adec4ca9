"""The web client's connection as a pure machine: whatever the network and the server do, it comes back, takes each
dispatch once, and never asks in vain or without a pause. Area: gateway, as its client sees it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import attrs
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tests.web.client.node import NodeProcess, running_node

INTERVAL_MS: Final = 41_250
PATIENCE_MS: Final = 10_000
RETENTION_MS: Final = 60_000


@pytest.fixture(scope="module")
def node() -> Iterator[NodeProcess]:
    with running_node() as process:
        yield process


@attrs.define(eq=False)
class Server:
    """A gateway with one account: sessions with all their dispatches, and one socket."""

    sessions: dict[str, list[int]] = attrs.field(factory=dict)
    session: str | None = None
    made: int = 0
    is_silent: bool = False

    def answers(self, effect: dict[str, Any], life: dict[str, Any]) -> list[dict[str, Any]]:
        """What it says to a payload of the client."""
        if effect["type"] == "identify":
            self.made += 1
            self.session = f"s{self.made}"
            self.sessions[self.session] = [1]
            return [dispatch("READY", 1, {"session_id": self.session})]
        if effect["type"] == "resume":
            if life["session"] not in self.sessions:
                return [{"op": 9, "d": False}]
            self.session = life["session"]
            missed = [number for number in self.sessions[self.session] if number > life["seq"]]
            end = self.sessions[self.session][-1]
            return [*(dispatch("EVENT", number) for number in missed), dispatch("RESUMED", end)]
        return [{"op": 11}]

    def speaks(self) -> dict[str, Any] | None:
        """One more dispatch of the session, retained whether or not it arrives."""
        if not self.sessions:
            return None
        log = self.sessions[self.session or [*self.sessions][-1]]
        log.append(log[-1] + 1)
        return dispatch("EVENT", log[-1])


def dispatch(name: str, number: int, data: dict[str, Any] | None = None) -> dict[str, Any]:
    return {"op": 0, "t": name, "s": number, "d": data or {}}


@attrs.define(eq=False)
class Client:
    """The machine with its socket; `taken` are the dispatches of the present session."""

    node: NodeProcess
    server: Server
    life: dict[str, Any]
    now: int = 1_000
    is_open: bool = False
    has_network: bool = True
    taken: list[int] = attrs.field(factory=list)
    heartbeats: int = 0
    connects: list[int] = attrs.field(factory=list)
    under_way: list[dict[str, Any]] = attrs.field(factory=list)
    """What the silent network holds back, in its order: what was sent on a socket arrives as long as that is open."""

    def take(self, kind: str, random: float = 0.5, **more: Any) -> None:
        """One input, and all that follows from it at once."""
        before = self.life
        done = self.node.call(
            "net/machine", "step", before, {"type": kind, **more}, {"now": self.now, "random": random}
        )
        self.life = done["life"]
        assert before["name"] != "ended" or (self.life, done["effects"]) == (before, [])
        for effect in done["effects"]:
            self.act(effect, random)

    def act(self, effect: dict[str, Any], random: float) -> None:
        match effect["type"]:
            case "connect":
                self.connects.append(self.now)
                self.under_way.clear()
                self.is_open = self.has_network
                if self.is_open:
                    self.take("payload", random, payload={"op": 10, "d": {"heartbeat_interval": INTERVAL_MS}})
            case "disconnect":
                self.is_open = False
                self.under_way.clear()
                self.server.session = None
            case "dispatch":
                if effect["name"] == "READY":
                    self.taken = []
                if effect["name"] != "RESUMED":
                    self.taken.append(effect["seq"])
            case "identify" | "resume" | "heartbeat" as kind:
                assert kind != "resume" or self.life["session"] is not None
                assert kind != "identify" or self.life["session"] is None
                self.heartbeats += kind == "heartbeat"
                for payload in self.hears(effect):
                    self.take("payload", random, payload=payload)

    def hears(self, effect: dict[str, Any]) -> list[dict[str, Any]]:
        if not self.is_open:
            return []
        if self.server.is_silent:
            self.under_way.append({"effect": effect, "life": self.life})
            return []
        return self.server.answers(effect, self.life)

    def comes_back(self, random: float) -> None:
        """The network works again, and delivers what it held back."""
        self.has_network, self.server.is_silent = True, False
        while self.under_way and self.is_open:
            held = self.under_way.pop(0)
            said = self.server.answers(held["effect"], held["life"]) if "effect" in held else [held["payload"]]
            for payload in said:
                self.take("payload", random, payload=payload)

    def passes(self, milliseconds: int, random: float) -> None:
        """Time goes by, with a tick whenever one is due."""
        end = self.now + milliseconds
        for _ in range(1_000):
            due = self.node.call("net/machine", "dueOf", self.life)
            if due is None or due > end:
                break
            self.now = max(self.now, int(due) + 1)
            self.take("tick", random)
        else:
            raise AssertionError("it never comes to rest")
        self.now = max(self.now, end)


KINDS: Final = (
    "event",
    "event",
    "event",
    "time",
    "time",
    "cut",
    "silence",
    "network",
    "back",
    "reconnect",
    "invalid",
    "limited",
    "sequence",
    "forget",
    "offline",
    "online",
    "visible",
    "retry",
    "beat",
)
steps = st.lists(st.tuples(st.sampled_from(KINDS), st.floats(0, 0.999), st.integers(0, 120_000)), max_size=30)


def carry_out(client: Client, kind: str, random: float, milliseconds: int) -> None:
    """One thing that may happen to a connection."""
    server = client.server
    match kind:
        case "event":
            said = server.speaks()
            if said and client.is_open and server.session:
                if server.is_silent:
                    client.under_way.append({"payload": said})
                else:
                    client.take("payload", random, payload=said)
        case "time":
            client.passes(milliseconds, random)
        case "cut" | "limited" | "sequence":
            if client.is_open:
                client.is_open = False
                client.under_way.clear()
                server.session = None
                client.take("closed", random, code={"cut": 1006, "limited": 4008, "sequence": 4007}[kind])
        case "silence":
            server.is_silent = True
        case "network":
            client.has_network = False
            server.is_silent = True
        case "back":
            client.comes_back(random)
        case "reconnect" | "beat":
            if client.is_open and not server.is_silent:
                client.take("payload", random, payload={"op": 7 if kind == "reconnect" else 1, "d": None})
        case "invalid":
            if client.is_open and server.session and not server.is_silent:
                del server.sessions[server.session]
                server.session = None
                client.take("payload", random, payload={"op": 9, "d": False})
        case "forget":
            if not client.is_open:
                server.sessions.clear()
        case _:
            client.take(kind, random)


@settings(max_examples=60, deadline=None)
@given(steps)
@example([("silence", 0.0, 0), ("event", 0.0, 0)])
def test_it_comes_back_and_takes_each_dispatch_once(node: NodeProcess, happening: list[tuple[str, float, int]]) -> None:
    client = Client(node, Server(), node.call("net/machine", "beginning"))
    client.take("start")
    for kind, random, milliseconds in happening:
        carry_out(client, kind, random, milliseconds)
    # In the end all is well for two minutes and a person with a network looks.
    client.comes_back(0.5)
    client.take("online")
    client.passes(2 * RETENTION_MS + PATIENCE_MS, 0.5)
    assert client.life["name"] == "live"
    session = client.life["session"]
    assert client.taken == client.server.sessions[session]
    assert client.life["seq"] == client.server.sessions[session][-1]


def test_a_server_that_is_never_there_is_asked_ever_more_seldom(node: NodeProcess) -> None:
    client = Client(node, Server(), node.call("net/machine", "beginning"), has_network=False)
    client.take("start")
    client.passes(600_000, 0.999)
    gaps = [later - earlier for earlier, later in zip(client.connects, client.connects[1:], strict=False)]
    assert gaps == sorted(gaps)
    assert max(gaps) <= 30_000 + PATIENCE_MS + 2
    assert 15 <= len(gaps) <= 30


def test_a_silent_server_is_noticed_within_a_beat(node: NodeProcess) -> None:
    client = Client(node, Server(), node.call("net/machine", "beginning"))
    client.take("start")
    client.passes(INTERVAL_MS * 3, 0.5)
    assert client.heartbeats == 3
    client.server.is_silent = True
    client.passes(INTERVAL_MS + PATIENCE_MS, 0.999)
    assert client.life["name"] != "live"


@pytest.mark.parametrize(("code", "effect"), [(4004, "sign_in"), (4012, "reload")])
def test_what_cannot_be_mended_ends_it(node: NodeProcess, code: int, effect: str) -> None:
    client = Client(node, Server(), node.call("net/machine", "beginning"))
    client.take("start")
    done = node.call(
        "net/machine", "step", client.life, {"type": "closed", "code": code}, {"now": client.now, "random": 0.5}
    )
    assert done["life"]["name"] == "ended"
    assert [one["type"] for one in done["effects"]] == [effect]
    again = node.call("net/machine", "step", done["life"], {"type": "retry"}, {"now": client.now, "random": 0.5})
    assert again == {"life": done["life"], "effects": []}


def test_without_a_network_it_waits_for_one_and_not_for_the_clock(node: NodeProcess) -> None:
    client = Client(node, Server(), node.call("net/machine", "beginning"), has_network=False)
    client.take("start")
    client.passes(PATIENCE_MS + 1, 0.5)
    client.take("offline")
    assert client.life["name"] == "offline"
    asked = len(client.connects)
    client.passes(3_600_000, 0.5)
    assert len(client.connects) == asked
    client.has_network = True
    client.take("online")
    assert client.life["name"] == "live"
