"""A Trio run that goes on only while somebody asks something of it.

Hypothesis calls the rules of a state machine one after the other from ordinary functions, while sockets and a server
live in one Trio run. So the run is a guest (`trio.lowlevel.start_guest_run`) and the asking function is its host: it
turns the run's wheel until the answer is there, and not once more. Between two questions nothing moves and no virtual
time passes, so a sequence of rules does the same each time.

Virtual time jumps only while a question is being answered: the wheel stops after a turn, and a turn that found
everybody waiting would begin the next question with a jump.
"""

from __future__ import annotations

import queue
from collections.abc import Awaitable, Callable
from types import TracebackType
from typing import Any, Final, TypeVar

import attrs
import outcome
import trio
import trio.testing

T = TypeVar("T")

QUESTIONS: Final = 1
"""Questions that wait at once: the host asks one and waits."""


@attrs.define(eq=False)
class _Question:
    """A function to be called in the run, and what came of it."""

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
        """Start a task that lives as long as the run. To be called from inside the run."""
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
