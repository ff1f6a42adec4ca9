"""A Trio run that goes on only while a caller asks something of it.

Hypothesis calls the rules of a state machine one after the other from ordinary functions, while sockets and a server
live in one Trio run. So the run is a guest (`trio.lowlevel.start_guest_run`) and the asking function is its host: it
turns the run's wheel until the answer is there, and not once more. Between two questions nothing moves and no virtual
time passes, so a sequence of rules does the same each time. A `SteppedMachine` has such a run with the seeded world in
it, and `in_run` carries a rule out there.

Virtual time jumps only while a question is being answered: the wheel stops after a turn, and a turn that found
all tasks waiting would begin the next question with a jump.
"""

from __future__ import annotations

import functools
import queue
import tempfile
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, ClassVar, Concatenate, Final, ParamSpec, TypeVar

import outcome
import trio
import trio.testing
from hypothesis.stateful import RuleBasedStateMachine

from chat.classes import define
from chat.development.answers import DescribedWorld, ShownSession
from chat.testing.conversation import Conversation
from chat.testing.network import TcpRoute
from chat.testing.server import ChatServer, open_chat_server
from chat.testing.world import Actor, World

T = TypeVar("T")
P = ParamSpec("P")
M = TypeVar("M", bound="SteppedMachine")

QUESTIONS: Final = 1
"""Questions that wait at once: the host asks one and waits."""


@define(eq=False)
class _Question:
    """A function that the run is to call, and its result."""

    ask: Callable[[], Awaitable[Any]]
    answer: outcome.Outcome[Any] | None = None


class SteppedRun:
    """Starts when made; `close` ends it. Also a context manager. `virtual` runs on virtual time."""

    def __init__(self, *, virtual: bool = False) -> None:
        self._clock = trio.testing.MockClock() if virtual else None
        self._turns: queue.SimpleQueue[Callable[[], object]] = queue.SimpleQueue()
        self._ended: outcome.Outcome[None] | None = None
        self._token: trio.lowlevel.TrioToken | None = None
        self._to_run: trio.MemorySendChannel[_Question]
        self.conversation: Conversation | None = None
        """What was said in this run; the failure of a question shows the end of it."""
        trio.lowlevel.start_guest_run(
            self._answer_questions,
            run_sync_soon_threadsafe=self._turns.put,
            done_callback=self._note_end,
            host_uses_signal_set_wakeup_fd=True,
            clock=self._clock,
        )
        while self._token is None and self._ended is None:
            self._turn()

    def call(self, ask: Callable[..., Awaitable[T]], *arguments: Any) -> T:
        """Await `ask(*arguments)` inside the run; what it returns or raises. What it started goes on with the next
        call."""
        question = _Question(lambda: ask(*arguments))
        self._send(question)
        while question.answer is None:
            if self._ended is not None:
                self._ended.unwrap()
                raise RuntimeError("the run is over")
            self._turn()
        if isinstance(question.answer, outcome.Error) and isinstance(question.answer.error, trio.Cancelled):
            self.close()  # raises what the run ended with
        if isinstance(question.answer, outcome.Error) and self.conversation is not None:
            question.answer.error.add_note(self.conversation.report())
        answer: T = question.answer.unwrap()
        return answer

    def close(self) -> None:
        """Cancel what still runs and wait for its end. Raises what the run raises."""
        if self._ended is None:
            assert self._token is not None
            self._token.run_sync_soon(self._scope.cancel)
            while self._ended is None:
                self._turn()
        self._ended.unwrap()

    def start_soon(self, function: Callable[..., Awaitable[object]], *arguments: Any) -> None:
        """Start a task that lives as long as the run. Call it from inside the run."""
        self.nursery.start_soon(function, *arguments)

    def __enter__(self) -> SteppedRun:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _send(self, question: _Question) -> None:
        assert self._token is not None
        try:
            self._token.run_sync_soon(self._to_run.send_nowait, question)
        except trio.RunFinishedError as error:
            raise RuntimeError("the run is over") from error

    def _turn(self) -> None:
        self._turns.get()()

    def _note_end(self, ended: outcome.Outcome[None]) -> None:
        self._ended = ended

    async def _answer_questions(self) -> None:
        self._to_run, questions = trio.open_memory_channel[_Question](QUESTIONS)
        with trio.CancelScope() as self._scope:
            async with trio.open_nursery() as self.nursery:
                self._token = trio.lowlevel.current_trio_token()
                async for question in questions:
                    self._let_time_jump(True)
                    answer = await outcome.acapture(question.ask)
                    self._let_time_jump(False)
                    question.answer = answer

    def _let_time_jump(self, jumps: bool) -> None:
        if self._clock is not None:
            self._clock.autojump_threshold = 0 if jumps else float("inf")


class SteppedMachine(RuleBasedStateMachine):
    """A machine whose rules are steps of one run, in which `world` lives.

    `description` is what `chat dev --json` prints: it is played against that server, which is reset first. Without one
    each example has a fresh `server` in memory with `server_settings`, on virtual time.
    """

    description: ClassVar[DescribedWorld | None] = None
    server_settings: ClassVar[Mapping[str, object]] = {}
    at_node: ClassVar[bool | None] = None
    """As of `open_chat_server`."""

    def __init__(self) -> None:
        super().__init__()
        self.is_real = self.description is not None
        self.server: ChatServer | None = None
        self.world: World
        self.run = SteppedRun(virtual=not self.is_real)
        self._folder = tempfile.TemporaryDirectory(prefix="chat-machine-")
        self.run.call(self._open)

    async def _open(self) -> None:
        await self.run.nursery.start(self._live)

    async def _live(self, task_status: trio.TaskStatus[None]) -> None:
        if self.description is not None:
            self._meet(World(self.description, TcpRoute.of(self.description["base_url"]), self.run.nursery))
            (await self.world.anyone.post("/v1/_dev/reset")).expect(204)
            task_status.started()
            return
        folder = Path(self._folder.name)
        async with open_chat_server(folder, settings=self.server_settings, at_node=self.at_node) as server:
            self.server = server
            self._meet(World(server.description(), server.route(), self.run.nursery))
            task_status.started()
            await trio.sleep_forever()

    def _meet(self, world: World) -> None:
        self.world = world
        self.run.conversation = world.conversation

    def teardown(self) -> None:
        """End the run with all its tasks."""
        try:
            self.run.call(self.leave)
            self.run.close()
        finally:
            self._folder.cleanup()

    async def leave(self) -> None:
        """Let go of the server, inside the run."""
        await self.world.aclose()

    async def moment(self) -> float:
        """Trio's time, plus how far a real server's clock was moved."""
        if not self.is_real:
            return trio.current_time()
        offset = (await self.world.anyone.get("/v1/_dev/clock")).expect(200)["offset_ms"]
        return trio.current_time() + float(offset) / 1000

    async def sleep(self, seconds: float) -> None:
        """Let the server's time pass."""
        if self.is_real:
            await self.world.anyone.advance_clock(round(seconds * 1000))
        else:
            await trio.sleep(seconds)

    @property
    def margin(self) -> float:
        """How far two readings of one moment may lie apart, in seconds."""
        return 2.0 if self.is_real else 0.05

    def actor(self, name: str) -> Actor:
        """A person of the world, or its bot, by name."""
        actor: Actor = getattr(self.world, name)
        return actor

    async def shown_sessions(self) -> dict[str, ShownSession]:
        """GET /v1/_dev/sessions, by id."""
        return {session["id"]: session for session in await self.world.anyone.gateway_sessions()}


def in_run(step: Callable[Concatenate[M, P], Awaitable[None]]) -> Callable[Concatenate[M, P], None]:
    """A rule or invariant that is carried out inside the machine's run."""

    def carried_out(machine: M, /, *arguments: P.args, **named: P.kwargs) -> None:
        machine.run.call(functools.partial(step, machine, *arguments, **named))

    functools.update_wrapper(carried_out, step)
    return carried_out
