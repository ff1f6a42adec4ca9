"""What happened, as a Python test on the test kit (development.md, Recordings).

The test does in a fresh world what was done here: connects who was connected, asks what was asked, expects what came.
Ids and tokens of this world are said by what stands for them there (`chat_world.alice.id`, a member of an earlier
answer). Time between two steps passes as virtual time. What cannot be said is left out, and told.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

import orjson

from chat.classes import define, frozen
from chat.development.history import Exchanged, HistoryEntry, ReceivedFrame, SocketEnded
from chat.development.python_text import Names
from chat.development.seeded_world import SeededWorld
from chat.protocol.frames import ABNORMAL_CLOSURE, OutgoingEvent
from chat.protocol.payload import Payload
from chat.registries.events import EventName
from chat.registries.opcodes import Opcode

PAUSE_MS: Final = 1_000
"""A pause as long as this between two steps is kept."""

CONDITIONS: Final = 4
"""Members of an event that are held against what is known, at most."""

USUAL_MEMBERS: Final = frozenset({"token", "properties"})
"""Of Identify: the test's client has its own."""

UNSAID: Final = frozenset({Opcode.HELLO, Opcode.HEARTBEAT, Opcode.HEARTBEAT_ACK})
"""What the test's client does by itself."""

CLOCK_PATH: Final = "/v1/_dev/clock"
QUIET_PATHS: Final = ("/v1/_dev/history",)

INDENT: Final = 4


@frozen
class Recording:
    source: str
    left_out: list[str]


@define
class _RecordedStep:
    """Lines of the test; `made` is the variable that the first of them sets, if somebody needs it."""

    lines: list[str]
    made: str | None = None


@define
class _RecordedSocket:
    variable: str
    actor: str


class Recorder:
    """Turns entries into steps, in the order of their beginning."""

    def __init__(self, world: SeededWorld) -> None:
        self._names = Names()
        self._tokens: dict[str, str] = {}
        self._actors: dict[int, str] = {}
        self._sockets: dict[int, _RecordedSocket] = {}
        self._sessions: dict[str, str] = {}
        self._variables: dict[str, int] = {}
        self._literals: set[str] = set()
        self._steps: list[_RecordedStep] = []
        self._left_out: dict[str, None] = {}
        self._answers = 0
        self._events = 0
        self._know(world)

    def _know(self, world: SeededWorld) -> None:
        people = [("admin", world.admin), *((user.username, user) for user in world.users)]
        for name, person in people:
            actor = f"chat_world.{name}"
            self._actors[person.id] = self._tokens[person.token] = actor
            self._names.give(str(person.id), f"{actor}.id")
            for member in ("token", "email", "password"):
                self._names.give(getattr(person, member), f"{actor}.{member}")
        bot = "chat_world.bot"
        self._actors[world.bot.user_id] = self._tokens[world.bot.token] = self._tokens[f"Bot {world.bot.token}"] = bot
        self._names.give(str(world.bot.user_id), f"{bot}.id")
        self._names.give(world.bot.token, f"{bot}.token")
        self._names.give(world.bot.client_secret, f"{bot}.client_secret")
        for member in ("guild_id", "channel_id", "voice_channel_id"):
            self._names.give(str(getattr(world, member)), f"chat_world.{member}")
        self._names.give(world.admin_key, "chat_world.admin_key")

    def record(self, numbered: Iterable[tuple[int, HistoryEntry]], name: str) -> Recording:
        """The test of what happened; `name` is the rest of its name behind `test_`."""
        entries = [entry for _, entry in sorted(numbered, key=_order)]
        began = {entry.socket for entry in entries if isinstance(entry.what, str)}
        self._connect_who_was_there(entries, began)
        ready = {entry.socket for entry in entries if _is_event(entry, EventName.READY)}
        before_ms: int | None = None
        for entry in entries:
            steps = len(self._steps)
            self._take(entry, entry.socket in ready)
            if len(self._steps) > steps:
                self._pause(before_ms, entry, steps)
                before_ms = entry.at_ms
        return Recording(self._source(name), list(self._left_out))

    def _connect_who_was_there(self, entries: Sequence[HistoryEntry], began: set[int]) -> None:
        """Sockets that were open when the recording began, in the order in which they appear."""
        for entry in entries:
            if not entry.socket or entry.socket in began or entry.socket in self._sockets:
                continue
            session_id, user_id = entry.who
            actor = None if user_id is None else self._actors.get(user_id)
            if actor is None or session_id is None:
                continue
            self._connect(entry.socket, actor, "")
            self._follow_session(entry.socket, session_id)

    def _take(self, entry: HistoryEntry, gets_ready: bool) -> None:
        match entry.what:
            case Exchanged() as exchanged:
                self._request(exchanged)
            case ReceivedFrame(_, Payload() as said):
                self._said(entry, said, gets_ready)
            case ReceivedFrame():
                self._leave_out("a message of a client that is no payload")
            case SocketEnded(close, by_client):
                self._ended(entry.socket, close.code, by_client=by_client)
            case OutgoingEvent() as event:
                self._dispatched(entry, event)
            case bytes() as data:
                self._told(entry, data)
            case _:
                pass  # a socket that was opened says nothing yet

    def _pause(self, before_ms: int | None, entry: HistoryEntry, place: int) -> None:
        began_ms = entry.what.began_ms if isinstance(entry.what, Exchanged) else entry.at_ms
        if before_ms is not None and began_ms - before_ms >= PAUSE_MS:
            self._steps.insert(place, _RecordedStep([f"await trio.sleep({(began_ms - before_ms) / 1000:g})"]))

    # Requests

    def _request(self, exchanged: Exchanged) -> None:
        if exchanged.path.startswith(QUIET_PATHS):
            return
        client = "chat_world.anyone"
        if exchanged.user_id is not None:
            actor = self._actors.get(exchanged.user_id)
            if actor is None:
                self._leave_out(f"requests of account {exchanged.user_id}, whose token is not known")
                return
            client = f"{actor}.rest" if actor.startswith("chat_world.") else f"chat_world.anyone.signed_in({actor})"
        body = self._body(exchanged)
        if body is None:
            return
        arguments = [self._names.text(exchanged.path), *body]
        method = exchanged.method.lower()
        call = f"{client}.{method}({', '.join(arguments)})"
        if exchanged.path == CLOCK_PATH:
            # Virtual time passes meanwhile, more than the client waits for an answer.
            call = f'{client}.request("POST", {arguments[0]}, json={arguments[1]}, seconds=float("inf"))'
        elif method not in {"get", "post", "put", "patch", "delete"}:
            call = f"{client}.request({exchanged.method!r}, {arguments[0]})"
        self._answers += 1
        variable = f"answer_{self._answers}"
        answer = _json(exchanged.answer)
        if exchanged.status >= 400:
            code = answer.get("code") if isinstance(answer, dict) else None
            expected = f"({exchanged.status}, {code!r})".replace("'", '"')
            self._steps.append(
                _RecordedStep(
                    [f"{variable} = await {call}", f"assert ({variable}.status, {variable}.code) == {expected}"]
                )
            )
            return
        self._steps.append(_RecordedStep([f"(await {call}).expect({exchanged.status})"], made=variable))
        self._hold_against(exchanged, answer, variable)
        self._names.harvest(answer, variable)
        self._note_token(answer, variable)

    def _body(self, exchanged: Exchanged) -> list[str] | None:
        """The second argument, if there is one; None where the body cannot be said."""
        if exchanged.has_other_body:
            self._leave_out(f"{exchanged.method} {exchanged.route} with a form, a file or a stream")
            return None
        if exchanged.body is None:
            return []
        try:
            value = orjson.loads(exchanged.body)
        except orjson.JSONDecodeError:
            self._leave_out(f"{exchanged.method} {exchanged.route}, whose body is no JSON")
            return None
        self._note_literals(value)
        return [self._names.value(value, INDENT)]

    def _hold_against(self, exchanged: Exchanged, answer: object, variable: str) -> None:
        """What was sent and came back is expected to come back."""
        sent = _json(exchanged.body or b"")
        if not isinstance(sent, dict) or not isinstance(answer, dict):
            return
        same = [name for name, value in sent.items() if name in answer and answer[name] == value and _is_plain(value)]
        for name in same[:CONDITIONS]:
            said = self._names.value(answer[name])
            self._names.used.add(variable)
            self._steps[-1].lines.append(f'assert {variable}["{name}"] {_comparison(answer[name])} {said}')

    def _note_token(self, answer: object, variable: str) -> None:
        """Who signed in here can be asked as later."""
        if isinstance(answer, dict) and isinstance(answer.get("token"), str) and str(answer.get("user_id")).isdecimal():
            expression = f'{variable}["token"]'
            self._actors.setdefault(int(answer["user_id"]), expression)
            self._names.used.add(variable)

    # Frames

    def _said(self, entry: HistoryEntry, said: Payload, gets_ready: bool) -> None:
        if said.op == Opcode.IDENTIFY and isinstance(said.d, dict):
            self._identified(entry.socket, said.d, gets_ready)
        elif said.op == Opcode.RESUME and isinstance(said.d, dict):
            self._resumed(entry.socket, said.d)
        elif said.op != Opcode.HEARTBEAT:
            socket = self._socket(entry)
            if socket is not None:
                self._note_literals(said.d)
                data = f", {self._names.value(said.d, INDENT)}" if said.has_d else ""
                self._steps.append(_RecordedStep([f"await {socket.variable}.send({said.op}{data})"]))

    def _identified(self, socket: int, d: Mapping[str, object], gets_ready: bool) -> None:
        actor = self._tokens.get(str(d.get("token")))
        if actor is None or not gets_ready:
            self._leave_out("an Identify that led to no session, or of an account outside the seeded world")
            return
        members = {name: value for name, value in d.items() if name not in USUAL_MEMBERS and name.isidentifier()}
        said = ", ".join(f"{name}={self._names.value(value, INDENT)}" for name, value in members.items())
        self._connect(socket, actor, said)

    def _connect(self, socket: int, actor: str, members: str) -> None:
        variable = self._variable(actor)
        self._sockets[socket] = _RecordedSocket(variable, actor)
        self._steps.append(_RecordedStep([f"{variable} = await {actor}.connect({members})"]))

    def _resumed(self, socket: int, d: Mapping[str, object]) -> None:
        actor, before = self._tokens.get(str(d.get("token"))), self._sessions.get(str(d.get("session_id")))
        if actor is None or before is None:
            self._leave_out("a Resume of a session that began before the recording")
            return
        variable = self._variable(actor)
        self._sockets[socket] = _RecordedSocket(variable, actor)
        self._sessions[str(d["session_id"])] = variable
        self._steps.append(_RecordedStep([f"{variable} = await {actor}.resume({before})"]))

    def _dispatched(self, entry: HistoryEntry, event: OutgoingEvent) -> None:
        socket = self._socket(entry)
        if socket is None:
            return
        data = orjson.loads(event.data)
        if event.name == EventName.READY:
            session_id = data.get("session_id")
            self._follow_session(entry.socket, session_id)
            self._names.harvest(data, f"{socket.variable}.ready")
            return
        self._events += 1
        variable = f"event_{self._events}"
        where = self._conditions(data)
        said = f", where=lambda d: {' and '.join(where)}" if where else ""
        line = f'await {socket.variable}.expect("{event.name}"{said})'
        self._steps.append(_RecordedStep([line], made=variable))
        self._names.harvest(data, f"{variable}.data")

    def _conditions(self, data: object) -> list[str]:
        """What an event is held against: members whose values are known, or were sent by somebody."""
        found: list[str] = []
        for path, value in _members(data):
            if not isinstance(value, str) or MOMENT.fullmatch(value) is not None:
                continue  # a moment is another one in every run
            if (self._names.knows(value) or value in self._literals) and len(found) < CONDITIONS:
                found.append(f"d{path} == {self._names.text(value)}")
        return found

    def _told(self, entry: HistoryEntry, data: bytes) -> None:
        op = _json(data).get("op")
        if op in UNSAID:
            return
        socket = self._socket(entry)
        if socket is not None:
            self._steps.append(_RecordedStep([f"await {socket.variable}.expect_opcode({op})"]))

    def _ended(self, number: int, code: int, *, by_client: bool) -> None:
        socket = self._sockets.pop(number, None)
        if socket is None:
            return
        if not by_client:
            line = f"assert (await {socket.variable}.closed()).code == {code}"
        elif code == ABNORMAL_CLOSURE:
            line = f"{socket.variable}.drop()"
        else:
            line = f"await {socket.variable}.aclose({code})"
        self._steps.append(_RecordedStep([line]))

    def _socket(self, entry: HistoryEntry) -> _RecordedSocket | None:
        socket = self._sockets.get(entry.socket)
        if socket is None and entry.who[1] is not None:
            self._leave_out(f"frames of socket {entry.socket}, whose beginning cannot be said")
        return socket

    def _follow_session(self, socket: int, session_id: str | None) -> None:
        if session_id is not None:
            variable = self._sockets[socket].variable
            self._sessions[session_id] = variable
            self._names.give(session_id, f"{variable}.session_id")

    # Words

    def _variable(self, actor: str) -> str:
        name = actor.rpartition(".")[2]
        self._variables[name] = count = self._variables.get(name, 0) + 1
        return name if count == 1 else f"{name}_{count}"

    def _note_literals(self, value: object) -> None:
        for _, each in _members(value):
            if isinstance(each, str) and each:
                self._literals.add(each)

    def _leave_out(self, what: str) -> None:
        self._left_out[what] = None

    def _source(self, name: str) -> str:
        lines = [f"async def test_{name}(chat_world, autojump_clock):"]
        body: list[str] = []
        for step in self._steps:
            first, *others = step.lines
            if step.made is not None and step.made in self._names.used:
                first = f"{step.made} = {first}"
            body += [first, *others]
        lines += [f"{' ' * INDENT}{line}" for line in body or ["pass  # nothing happened"]]
        imports = ["import trio", "", ""] if any("trio.sleep" in line for line in body) else []
        comments = [f"# Left out: {what}." for what in self._left_out]
        source = "\n".join([*imports, *comments, *lines]) + "\n"
        ast.parse(source)  # a test that cannot be read is of no use
        return source


def _order(numbered: tuple[int, HistoryEntry]) -> tuple[int, int]:
    """A request stands where it began, before what came of it."""
    number, entry = numbered
    return (entry.what.began_at, 0) if isinstance(entry.what, Exchanged) else (number, 1)


def _is_event(entry: HistoryEntry, name: EventName) -> bool:
    return isinstance(entry.what, OutgoingEvent) and entry.what.name == name


def _json(data: bytes) -> Any:
    try:
        return orjson.loads(data)
    except orjson.JSONDecodeError:
        return None


def _is_plain(value: object) -> bool:
    return value is None or isinstance(value, (str, int, float))


def _comparison(value: object) -> str:
    return "is" if value is None or isinstance(value, bool) else "=="


def _members(value: object) -> Iterable[tuple[str, object]]:
    """Members and members of members, each with the way to it."""
    if isinstance(value, dict):
        for name, each in value.items():
            if isinstance(each, dict):
                yield from ((f'["{name}"]["{inner}"]', deep) for inner, deep in each.items())
            else:
                yield f'["{name}"]', each


MOMENT: Final = re.compile(r"\d{4}-\d\d-\d\dT.*")
NAME: Final = re.compile(r"[a-z][a-z0-9_]{0,79}", re.ASCII)
