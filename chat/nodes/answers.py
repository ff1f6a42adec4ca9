"""At a node: answers what the core asks about one session, and acts on its socket for the core."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from chat.classes import define
from chat.gateway.connection import Connection
from chat.gateway.numbering import ResumeVerdict
from chat.gateway.session import GatewaySession
from chat.nodes.messages import AskCounts, CountsAnswer, Drained, Judge, Judged, NodeMessage, Strike, WhenDrained
from chat.nodes.progress import Progress
from chat.nodes.remote import ReportingTable, Seats
from chat.registries.close_codes import Close


@define(eq=False)
class Answers:
    """Answers the core. An answer counts everything that the core said before the question."""

    _say: Callable[[NodeMessage], object]
    _table: ReportingTable
    _seats: Seats
    _progress: Progress
    _connections: Iterable[Connection]

    async def judge(self, message: Judge, asked: GatewaySession | None) -> None:
        """Answer whether the session accepts this Resume."""
        session = await self._seats.settled(asked)
        verdict = ResumeVerdict.BELOW_FLOOR if session is None else session.numbering.judge_resume(message.seq)
        self._say(Judged(message.question, verdict.name))

    async def tell_standing(self, message: AskCounts, asked: GatewaySession | None) -> None:
        """Answer how far the session has counted."""
        await self._progress.caught_up()
        self._table.resting.settle()
        session = await self._seats.settled(asked)
        if session is None:
            self._say(CountsAnswer(message.question, 0, 0, 0, 0))
            return
        has = session.numbering
        self._say(CountsAnswer(message.question, has.sequence, has.acknowledged, has.replay_floor, has.retained_count))

    async def tell_when_drained(self, message: WhenDrained, session: GatewaySession | None) -> None:
        """Answer once the session's peer reads again."""
        await self._progress.caught_up()
        if session is not None and session.receiver is not None:
            await session.receiver.drained(message.below)
        self._say(Drained(message.question))

    def strike(self, message: Strike) -> None:
        """Act on the session's socket, if it has one."""
        session = self._table.by_slot.get(message.slot)
        if session is None:
            return
        connection = next((each for each in self._connections if each.session is session), None)
        if connection is None:
            return
        match message.action:
            case "close":
                connection.close(Close(message.code, message.reason))
            case "reconnect":
                connection.drain()
            case "drop":
                connection.cut()
            case "stall":
                connection.stall(message.milliseconds)
            case _:  # of a later version
                pass
