"""`chat bench guild`: what one operation costs the server in guilds of growing size, and how that grows.

A guild with hundreds of channels, some of them hidden, and hundreds of connected sessions; everything else about its
members is in the store. Each figure is the CPU time of the server for one operation and everything that it causes,
deliveries included: the median of a few operations, one at a time.
"""

from __future__ import annotations

import contextlib
import functools
import http.client
import itertools
import json
import select
import statistics
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import attrs
import orjson

from chat.bench import world
from chat.bench.gateway import observe, serving
from chat.bench.load_sessions import Session, Watch, client_frame, connect
from chat.bench.measuring import BenchReport, Figure, MeasuredProcess, cpu_seconds, resident_bytes
from chat.bench.world import LargeGuild
from chat.classes import define, frozen
from chat.errors import OperatorError
from chat.registries.channel_types import OverwriteType
from chat.registries.opcodes import Opcode
from chat.registries.permissions import Permission

READ_BYTES: Final = 262_144
QUIET_SECONDS: Final = 0.05
"""The server has finished an operation once it has used no CPU time for this long."""
IDLE_CPU_SECONDS: Final = 0.0005
READY_SECONDS: Final = 60.0
UPDATE_SECONDS: Final = 1.1
VIEW: Final = str(Permission.VIEW_CHANNEL.value)
RANGES: Final = [[0, 99]]


FLAT: Final = 1.3
"""An operation in the largest guild may cost this many times what it costs in the smallest; lists hold all members."""
FIRST_LIST_MS: Final = 50.0
LONGEST_TURN_MS: Final = 20.0


@frozen
class GuildBenchPlan:
    """How large the guilds are, and how often each operation is measured."""

    members: tuple[int, ...] = (1_000, 10_000, 100_000, 200_000)
    roles: int = 500
    channels: int = 500
    sessions: int = 200
    operations: int = 9


WHOLE: Final = GuildBenchPlan()

QUICK: Final = GuildBenchPlan(members=(300,), roles=50, channels=60, sessions=10, operations=1)


def run(plan: GuildBenchPlan) -> BenchReport:
    """Measure every size. Raises OperatorError where the server answers with an error."""
    figures: list[Figure] = []
    notes = [f"{plan.channels} channels, {plan.roles} roles, {plan.sessions} connected sessions"]
    costs: list[Mapping[str, float]] = []
    for member_count in plan.members:
        measured, longest, memory = _measure(plan, member_count)
        costs.append(measured)
        for name, milliseconds in measured.items():
            at_most = FIRST_LIST_MS if name.startswith("first_member_list") else None
            figures.append(Figure(f"{name}_{member_count}", milliseconds, "ms of CPU", at_most=at_most))
        figures.append(Figure(f"longest_turn_{member_count}", longest, "ms of CPU", at_most=LONGEST_TURN_MS))
        figures.append(Figure(f"memory_{member_count}", memory, "MB"))
    for name in costs[0]:
        growth = costs[-1][name] / costs[0][name] if costs[0][name] else 0.0
        at_most = None if "list" in name or "watched" in name else FLAT
        figures.append(
            Figure(f"{name}_growth", growth, f"of {plan.members[0]}, at {plan.members[-1]}", at_most=at_most)
        )
    return BenchReport("guild", tuple(figures), tuple(notes))


def _measure(plan: GuildBenchPlan, member_count: int) -> tuple[dict[str, float], float, float]:
    """The median cost of each operation in milliseconds, the longest turn of the loop, and the memory in the end."""
    with tempfile.TemporaryDirectory(prefix="chat-bench-") as directory:
        here = world.prepare_large(
            Path(directory),
            member_count=member_count,
            role_count=plan.roles,
            channel_count=plan.channels,
            signed_in=plan.sessions,
            stranger_count=plan.operations,
        )
        with serving(directory) as (server, port), contextlib.closing(BenchAudience(port)) as audience:
            observe(server)  # which begins the look
            caller = Caller(port, here.tokens[0])
            measured = _Measurement(server, plan.operations)
            measured.take("ready", [functools.partial(audience.add, token) for token in here.tokens])
            _measure_operations(measured, caller, audience, here, port)
            longest = observe(server)["longest_turn_cpu_ms"]
            return measured.medians, longest, resident_bytes(server.pid) / 1e6


def _measure_operations(
    measured: _Measurement, caller: Caller, audience: BenchAudience, here: LargeGuild, port: int
) -> None:
    guild, channel = f"/v1/guilds/{here.guild_id}", f"/v1/channels/{here.channel_id}"
    code = caller.ask("POST", f"{channel}/invites", {"max_age": 0})["code"]
    turns = itertools.count()
    strangers = [Caller(port, token) for token in here.strangers]

    def message() -> None:
        caller.ask("POST", f"{channel}/messages", {"content": f"measured {next(turns)}"})

    def rename_role() -> None:
        caller.ask("PATCH", f"{guild}/roles/{here.role_id}", {"name": f"renamed {next(turns)}"})

    def change_mask() -> None:
        mask = VIEW if next(turns) % 2 else "0"
        caller.ask("PATCH", f"{guild}/roles/{here.role_id}", {"permissions": mask})

    def give_role() -> None:
        method = "DELETE" if next(turns) % 2 else "PUT"
        caller.ask(method, f"{guild}/members/{here.silent_user_id}/roles/{here.role_id}")

    def show_channel() -> None:
        mask = {"allow": VIEW, "deny": "0"} if next(turns) % 2 else {"allow": "0", "deny": VIEW}
        path = f"/v1/channels/{here.hidden_channel_id}/permissions/{here.guild_id}"
        caller.ask("PUT", path, {"type": 0, **mask})

    def watch_list() -> None:
        audience.subscribe(next(turns), here.guild_id, member_list_channels={str(here.channel_id): RANGES})

    measured.repeat("message_to_passive", message)
    for number in range(len(audience.sessions)):
        audience.subscribe(number, here.guild_id, active=True)
    measured.settle()
    measured.repeat("message", message)
    measured.repeat("role_name", rename_role)
    measured.repeat("role_permissions", change_mask)
    measured.repeat("member_role", give_role)
    measured.repeat("channel_shown", show_channel)
    measured.take("join", [functools.partial(each.ask, "POST", f"/v1/invites/{code}") for each in strangers])
    measured.take(
        "leave", [functools.partial(each.ask, "DELETE", f"/v1/users/@me/guilds/{here.guild_id}") for each in strangers]
    )
    measured.take("first_member_list", [watch_list])
    _measure_hidden_lists(measured, caller, audience, here)
    measured.repeat("member_list", watch_list)

    def give_role_while_watched() -> None:
        give_role()
        time.sleep(UPDATE_SECONDS)  # the watched list is arranged anew at most once a second

    measured.repeat("member_role_while_watched", give_role_while_watched)


def _measure_hidden_lists(measured: _Measurement, caller: Caller, audience: BenchAudience, here: LargeGuild) -> None:
    """The first lists of channels that only a role sees, that a role does not see, and that a hundred members do not
    see. The first session is that of the guild's owner."""
    nothing, view = {"allow": "0", "deny": VIEW}, {"allow": VIEW, "deny": "0"}

    def permit(target_id: int, kind: OverwriteType, mask: Mapping[str, str]) -> None:
        path = f"/v1/channels/{here.hidden_channel_id}/permissions/{target_id}"
        caller.ask("PUT", path, {"type": kind.value, **mask})

    def first_list(name: str) -> None:
        watched = {str(here.hidden_channel_id): RANGES}
        measured.take(name, [lambda: audience.subscribe(0, here.guild_id, member_list_channels=watched)])
        audience.subscribe(0, here.guild_id, member_list_channels={})
        measured.settle()

    permit(here.guild_id, OverwriteType.ROLE, nothing)
    first_list("first_member_list_of_a_role")
    permit(here.guild_id, OverwriteType.ROLE, view)
    permit(here.role_id, OverwriteType.ROLE, nothing)
    first_list("first_member_list_without_a_role")
    for user_id in here.some_user_ids:
        permit(user_id, OverwriteType.MEMBER, nothing)
    first_list("first_member_list_without_members")


@define(eq=False)
class _Measurement:
    """CPU time of the server, operation by operation."""

    _server: MeasuredProcess
    _operations: int
    medians: dict[str, float] = attrs.field(factory=dict, init=False)

    def repeat(self, name: str, operation: Callable[[], object]) -> None:
        """Measure the same operation a few times, as `take` does."""
        self.take(name, [operation] * self._operations)

    def take(self, name: str, operations: Sequence[Callable[[], object]]) -> None:
        """Measure the server's CPU time for each operation (milliseconds), and keep the median under `name`."""
        costs = []
        for operation in operations:
            before = self.settle()
            operation()
            costs.append((self.settle() - before) * 1000)
        self.medians[name] = statistics.median(costs)

    def settle(self) -> float:
        """Wait until the server has nothing to do; its CPU time then."""
        now = cpu_seconds(self._server.pid)
        while True:
            time.sleep(QUIET_SECONDS)
            before, now = now, cpu_seconds(self._server.pid)
            if now - before < IDLE_CPU_SECONDS:
                return now


class Caller:
    def __init__(self, port: int, token: str) -> None:
        self._connection = http.client.HTTPConnection("127.0.0.1", port, timeout=READY_SECONDS)
        self._token = token

    def ask(self, method: str, path: str, body: Mapping[str, Any] | None = None) -> Any:
        """The answer's JSON, None where it has none. Raises OperatorError for an answer that is not a 2xx."""
        headers = {"Authorization": self._token, "Content-Type": "application/json"}
        content = None if body is None and method == "DELETE" else json.dumps(body or {})
        self._connection.request(method, path, body=content, headers=headers)
        answer = self._connection.getresponse()
        text = answer.read()
        if answer.status >= 300:
            raise OperatorError(f"{method} {path} was answered with {answer.status}: {text[:200]!r}")
        return json.loads(text) if text else None


class BenchAudience:
    """Connected sessions; a thread reads what they are sent, and counts it."""

    def __init__(self, port: int) -> None:
        self.sessions: list[Session] = []
        self._port = port
        self._watch = Watch()
        self._poll = select.epoll()
        self._by_descriptor: dict[int, Session] = {}
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._read, name="audience", daemon=True)
        self._thread.start()

    def add(self, token: str) -> None:
        """Connect one session, and wait until it is ready. Raises OperatorError when that takes too long."""
        session = Session(connect(self._port, len(self.sessions)), token, self._watch, sampled=True)
        self._by_descriptor[session.socket.fileno()] = session
        self._poll.register(session.socket.fileno(), select.EPOLLIN)
        self.sessions.append(session)
        session.open(self._port)
        ends = time.monotonic() + READY_SECONDS
        while not session.is_ready:
            if time.monotonic() > ends or self._watch.closed:
                raise OperatorError("a session of the measurement did not become ready")
            time.sleep(0.001)

    def subscribe(self, number: int, guild_id: int, **wishes: object) -> None:
        """Lazy Request of one of the sessions, taken in turn."""
        session = self.sessions[number % len(self.sessions)]
        payload = {"op": Opcode.LAZY_REQUEST.value, "d": {"subscriptions": {str(guild_id): wishes}}}
        session.socket.send(client_frame(orjson.dumps(payload)))

    def close(self) -> None:
        self._over.set()
        self._thread.join()
        for session in self.sessions:
            session.socket.close()
        self._poll.close()

    def _read(self) -> None:
        while not self._over.is_set():
            for session in self._ready_sessions():
                with contextlib.suppress(BlockingIOError):
                    session.take(session.socket.recv(READ_BYTES))

    def _ready_sessions(self) -> Iterator[Session]:
        for descriptor, _ in self._poll.poll(0.05):
            yield self._by_descriptor[descriptor]
