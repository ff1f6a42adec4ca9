"""A real DNS server on loopback, which answers as a test wishes: at once, late, wrongly or not at all."""

from __future__ import annotations

import socket
from collections.abc import Awaitable, Callable

import dns.flags
import dns.message
import dns.name
import dns.rcode
import dns.reversename
import dns.rrset
import trio
from trio.testing import MockClock

LOOPBACK = "127.0.0.1"

Answering = Callable[[dns.message.Message], Awaitable[list[bytes]]]
"""What comes back on a question: any number of datagrams."""


ARRIVING_SECONDS = 0.01
"""How long a virtual clock stands still for what is on its way through a real socket."""


async def pass_time(clock: MockClock, seconds: float) -> None:
    """Let `seconds` of virtual time go by while nothing is on its way."""
    clock.autojump_threshold = 0
    await trio.sleep(seconds)
    clock.autojump_threshold = ARRIVING_SECONDS


class NameServer:
    """Serves what `names` says of addresses; `answering`, when set, decides instead. Keeps count of the questions."""

    def __init__(self) -> None:
        self.names: dict[str, str] = {}
        self.asked: list[str] = []
        self.answering: Answering | None = None
        self.under_way = 0
        self.most_under_way = 0
        self._socket = trio.socket.socket(socket.AF_INET, socket.SOCK_DGRAM)

    @property
    def address(self) -> str:
        """As the setting has it."""
        return f"{LOOPBACK}:{self._socket.getsockname()[1]}"

    async def run(self, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED) -> None:
        """Serve for ever."""
        await self._socket.bind((LOOPBACK, 0))
        with self._socket:
            async with trio.open_nursery() as nursery:
                task_status.started()
                while True:
                    datagram, asker = await self._socket.recvfrom(65_535)
                    nursery.start_soon(self._answer, dns.message.from_wire(datagram), asker)

    async def _answer(self, question: dns.message.Message, asker: object) -> None:
        self.asked.append(dns.reversename.to_address(question.question[0].name))
        self.under_way += 1
        self.most_under_way = max(self.most_under_way, self.under_way)
        try:
            answers = [self.honest(question).to_wire()] if self.answering is None else await self.answering(question)
        finally:
            self.under_way -= 1
        for answer in answers:
            await self._socket.sendto(answer, asker)

    def honest(self, question: dns.message.Message) -> dns.message.Message:
        """The answer of a server that has `names`."""
        answer = dns.message.make_response(question)
        answer.flags |= dns.flags.RA
        asked = question.question[0].name
        name = self.names.get(dns.reversename.to_address(asked))
        if name is None:
            answer.set_rcode(dns.rcode.NXDOMAIN)
        else:
            answer.answer.append(dns.rrset.from_text(asked, 300, "IN", "PTR", name))
        return answer
