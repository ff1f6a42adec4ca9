"""Whether a change alters the wire: `python -m tests.simulation.wire_digest --seeds N --start S > FILE`.

Each seed carries out one history, of the kinds in turn, and prints a digest of everything that the server said in it:
every answer (method, path, status, body) and every frame of the gateway, with its members in their order. Run it before
and after the change and compare the two files; the first line that differs names the seed and the history.
"""

from __future__ import annotations

import argparse
import hashlib
import random
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Final
from unittest.mock import patch

import structlog

from chat.testing.gateway_client import GatewayClient
from chat.testing.http_client import HttpClient, Response
from tests.simulation import people_history, reading_history
from tests.simulation.conversation_history import (
    MESSAGE_KINDS,
    PEOPLE_KINDS,
    SIGHT_KINDS,
    ConversationHistory,
)
from tests.simulation.guild_history import AROUND_THREADS, GuildHistory, steps_of
from tests.simulation.oracle import carry_out
from tests.simulation.simulation import Simulation

STEPS: Final = 40
"""Of each history."""

HOURS: Final = 6.0
"""Virtual hours of the simulated server with faults."""

EVERY_KIND: Final = (*MESSAGE_KINDS, *PEOPLE_KINDS, *SIGHT_KINDS)


def _guild(seed: int) -> None:
    carry_out(GuildHistory, steps_of(random.Random(seed).randrange, STEPS), seed=seed)


def _threads(seed: int) -> None:
    carry_out(GuildHistory, steps_of(random.Random(seed).randrange, STEPS, AROUND_THREADS), seed=seed)


def _conversation(seed: int) -> None:
    steps = steps_of(random.Random(seed).randrange, STEPS, EVERY_KIND)
    carry_out(ConversationHistory, steps, seed=seed, compared_every=10, restarted=False)


def _people(seed: int) -> None:
    carry_out(people_history.PeopleHistory, people_history.steps_of(random.Random(seed).randrange, STEPS), seed=seed)


def _reading(seed: int) -> None:
    carry_out(reading_history.ReadingHistory, reading_history.steps_of(random.Random(seed).randrange, STEPS), seed=seed)


def _faults(seed: int) -> None:
    Simulation(seed, HOURS).run()


HISTORIES: Final[Mapping[str, Callable[[int], None]]] = {
    "guild": _guild,
    "threads": _threads,
    "conversation": _conversation,
    "people": _people,
    "reading": _reading,
    "faults": _faults,
}

KINDS: Final = tuple(HISTORIES)


class Heard:
    """The digest of what a server said, and how much it was."""

    def __init__(self) -> None:
        self.digest = hashlib.blake2b(digest_size=16)
        self.answers = 0
        self.frames = 0

    def answer(self, method: str, path: str, answer: Response) -> None:
        self.answers += 1
        self.digest.update(f"{method} {path} {answer.status}\n".encode() + answer.body + b"\n")

    def frame(self, text: str) -> None:
        self.frames += 1
        self.digest.update(text.encode() + b"\n")


@contextmanager
def listening() -> Iterator[Heard]:
    """Hears what all clients of the test kit are told."""
    heard = Heard()
    perform, take = HttpClient.request, GatewayClient._take

    async def request(self: HttpClient, method: str, path: str, **options: Any) -> Response:
        answer = await perform(self, method, path, **options)
        heard.answer(method, path, answer)
        return answer

    def taking(self: GatewayClient, message: str | bytes, nursery: Any) -> None:
        take(self, message, nursery)
        heard.frame(repr(self.payloads[-1].members))

    with patch.object(HttpClient, "request", request), patch.object(GatewayClient, "_take", taking):
        yield heard


def main() -> int:
    """Print a line for each seed."""
    parser = argparse.ArgumentParser(description="Digests of all that simulated servers say.")
    parser.add_argument("--seeds", type=int, default=20, help="how many seeds")
    parser.add_argument("--start", type=int, default=0, help="the first of them")
    arguments = parser.parse_args()
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(50))
    for seed in range(arguments.start, arguments.start + arguments.seeds):
        name = KINDS[seed % len(KINDS)]
        failure = ""
        with listening() as heard:
            try:
                HISTORIES[name](seed)
            except BaseExceptionGroup as failed:  # what an oracle finds is for its own tests; the wire is heard anyway
                failure = f", ended by {type(failed.exceptions[0]).__name__}"
        told = f"{heard.answers} answers, {heard.frames} frames, {heard.digest.hexdigest()}{failure}"
        print(f"seed {seed} {name}: {told}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
