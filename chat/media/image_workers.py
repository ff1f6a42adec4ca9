"""The processes that unpack pictures, and the queue before them.

A process is started when it is first needed and stays for a while. It works at one picture at a time and has a
limit of seconds for it. A process can be killed at the limit, a thread cannot. After any failure the next job gets a
new one. The processor time of a job is what the process itself limits; the seconds here are for a machine that is too
busy.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Final, cast

import structlog
import trio

from chat.classes import define
from chat.errors import ApiError
from chat.media.renditions import ImageAnswer, ImageJob, Rendition
from chat.registries.error_codes import ErrorCode

AT_A_TIME: Final = 2
"""Processes."""

NEW_AT_A_TIME: Final = 1
"""Of these, for avatars that arrive and pictures from outside: however hard they are, what is stored goes on being
shown."""

WAITING_MAXIMUM: Final = 64
"""Jobs that may wait for one; one more is told to come back."""

JOB_SECONDS: Final = 30.0
IDLE_SECONDS: Final = 60.0
"""How long a process stays that has nothing to do."""

JOBS_OF_A_PROCESS: Final = 1_000
"""Then a new one takes over: libraries of image formats keep what they should not."""

ANSWER_BYTES: Final = 65_536
END_SECONDS: Final = 5.0

PASSED_ON: Final = ("PATH", "PYTHONPATH", "LANG", "LC_ALL", "TMPDIR", "SYSTEMROOT")
"""Of this process's environment: settings, and the secrets among them, stay here."""

FAILURES: Final = (trio.BrokenResourceError, trio.ClosedResourceError)

log: Final = structlog.get_logger("chat.media")


class ImageRefused(Exception):
    """The file is no picture that can be redrawn, or takes too much time or memory."""


@define(eq=False)
class _Worker:
    """A process, how much it has done, and since when it rests."""

    process: trio.Process
    jobs: int = 0
    resting_since: float = 0.0


class ImageWorkers:
    """Redraws pictures. `in_processes` False works on the loop's thread, for a virtual clock."""

    def __init__(self, *, in_processes: bool) -> None:
        self._in_processes = in_processes
        self._places = trio.CapacityLimiter(AT_A_TIME)
        self._new = trio.CapacityLimiter(NEW_AT_A_TIME)
        self._resting: list[_Worker] = []
        self._has_resting = trio.Event()

    async def render(self, source: Path, target: Path, rendition: Rendition, *, is_new: bool = False) -> bool:
        """Write a rendition of `source` into `target`; returns whether it moves. `is_new` says that the picture is not
        stored here, and leaves a process to those that are.

        :raises ImageRefused: for a file that does not lend itself to it.
        :raises ApiError: SERVICE_UNAVAILABLE with too many jobs before this one, and when the machine is too busy.
        """
        job: ImageJob = {"kind": "render", "target": str(target), "rendition": rendition.members()}
        async with self._leaving_room(is_new):
            return bool((await self._done(source, job))["moving"])

    async def placeholder(self, source: Path) -> str:
        """The ThumbHash of a picture, in base64; raises as `render`."""
        return str((await self._done(source, {"kind": "placeholder"}))["placeholder"])

    async def judge(self, source: Path, *, is_new: bool = False) -> int:
        """How many frames a picture has that can be redrawn within the bounds, all of them; as `render`."""
        async with self._leaving_room(is_new):
            return int((await self._done(source, {"kind": "judge"}))["frames"])

    async def draw(self, source: Path, target: Path) -> tuple[int, int]:
        """Write the bitmap of a new drawing (a PNG) into `target`; returns its width and height. Raises as `render`."""
        async with self._leaving_room(True):
            width, height = (await self._done(source, {"kind": "draw", "target": str(target)}))["size"]
        return int(width), int(height)

    async def run(self) -> None:
        """End processes that have rested for a while, and at the end all of them."""
        try:
            while True:
                await self._has_resting.wait()
                await trio.sleep(IDLE_SECONDS)
                until = trio.current_time() - IDLE_SECONDS
                tired = [worker for worker in self._resting if worker.resting_since <= until]
                self._resting = [worker for worker in self._resting if worker not in tired]
                if not self._resting:
                    self._has_resting = trio.Event()
                for worker in tired:
                    await _end(worker)
        finally:
            while self._resting:
                await _end(self._resting.pop())

    async def _done(self, source: Path, job: ImageJob) -> ImageAnswer:
        asked: ImageJob = {**job, "source": str(source)}
        if self._in_processes:
            answer = await self._in_a_process(asked)
        else:
            from chat.media.image_process import done

            await trio.lowlevel.checkpoint()
            answer = done(asked)
        if "refused" in answer:
            raise ImageRefused(answer["refused"])
        return answer

    async def _in_a_process(self, job: ImageJob) -> ImageAnswer:
        async with self._in_turn(self._places):
            try:
                with trio.fail_after(JOB_SECONDS):
                    async with self._worker() as worker:
                        return await _asked(worker.process, job)
            except trio.TooSlowError:
                log.warning("a picture was not finished in time", job=job["kind"])
                raise _busy() from None
            except (*FAILURES, OSError, ValueError) as error:
                # Which file it was stays here: names and addresses of files are their owners' secrets.
                log.info("a picture was given up", reason=type(error).__name__, job=job["kind"])
                raise ImageRefused(type(error).__name__) from None

    @asynccontextmanager
    async def _leaving_room(self, is_new: bool) -> AsyncIterator[None]:
        if not is_new:
            yield
            return
        async with self._in_turn(self._new):
            yield

    @asynccontextmanager
    async def _in_turn(self, places: trio.CapacityLimiter) -> AsyncIterator[None]:
        """One of the places, after those who wait already; SERVICE_UNAVAILABLE with too many of them."""
        if places.statistics().tasks_waiting >= WAITING_MAXIMUM:
            raise _busy()
        async with places:
            yield

    @asynccontextmanager
    async def _worker(self) -> AsyncIterator[_Worker]:
        """A process for one job; one whose job did not come to its end is ended with it."""
        worker = self._resting.pop() if self._resting else _Worker(await _started())
        worker.jobs += 1
        rests = False
        try:
            yield worker
            rests = worker.jobs < JOBS_OF_A_PROCESS
        finally:
            if rests:
                worker.resting_since = trio.current_time()
                self._resting.append(worker)
                self._has_resting.set()
            else:
                await _end(worker)


def _busy() -> ApiError:
    return ApiError(ErrorCode.SERVICE_UNAVAILABLE, headers={"Retry-After": "1"})


async def _started() -> trio.Process:
    environment = {name: os.environ[name] for name in PASSED_ON if name in os.environ}
    return await trio.lowlevel.open_process(
        [sys.executable, "-m", "chat.media.image_process"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        start_new_session=True,  # a terminal's interrupt is for the server, which ends it in good order
        env=environment,
    )


async def _asked(process: trio.Process, job: ImageJob) -> ImageAnswer:
    if process.stdin is None or process.stdout is None:
        raise BrokenPipeError
    await process.stdin.send_all(json.dumps(job).encode() + b"\n")
    answer = b""
    while not answer.endswith(b"\n"):
        piece = await process.stdout.receive_some(ANSWER_BYTES)
        answer += piece
        if not piece or len(answer) > ANSWER_BYTES:
            raise BrokenPipeError
    return cast("ImageAnswer", dict(json.loads(answer)))


async def _end(worker: _Worker) -> None:
    """Kill a process, which holds nothing of value."""
    process = worker.process
    with trio.move_on_after(END_SECONDS, shield=True):
        if process.returncode is None:
            process.send_signal(signal.SIGKILL)
        for pipe in (process.stdin, process.stdout):
            if pipe is not None:
                await trio.aclose_forcefully(pipe)
        await process.wait()
