"""The machine that plays with somebody's own bot: a good bot passes, and each fault of a bad one is found."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar

import attrs
import pytest
import trio
from hypothesis import Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import run_state_machine_as_test

from chat.testing import BotMachine, DevServer, GatewayClient, World
from chat.testing.bot_machine import MACHINE_SETTINGS
from chat.testing.gateway_client import GatewayClosed, NothingArrived
from tests.testing.echo_program import BOT

ASKED = "!echo "


@attrs.frozen
class Echo:
    """A bot that says what it is asked to say. Its faults are switches."""

    resumes: bool = True
    sends_heartbeats: bool = True
    retries: bool = True
    knows_what_it_answered: bool = True
    waits_before_it_returns: bool = True

    async def run(self, world: World) -> None:
        previous: GatewayClient | None = None
        answered: set[str] = set()
        while True:
            client = await GatewayClient.connect(
                world.nursery, world.route, heartbeats=self.sends_heartbeats, name="echo"
            )
            if self.resumes and previous is not None and previous.session_id is not None:
                await client.resume(world.bot.token, previous.session_id, previous.sequence)
            else:
                await client.identify(world.bot.token)
            previous = client
            try:
                await self._listen(world, client, answered)
            except GatewayClosed:
                await trio.sleep(1 if self.waits_before_it_returns else 0)

    async def _listen(self, world: World, client: GatewayClient, answered: set[str]) -> None:
        while True:
            try:
                payload = await client.next_payload(seconds=3_600)
            except NothingArrived:
                continue
            if payload.op == 9:
                await client.identify(world.bot.token)
            if payload.name == "MESSAGE_CREATE" and payload.data["content"].startswith(ASKED):
                await self._answer(world, payload.data, answered)

    async def _answer(self, world: World, message: Mapping[str, Any], answered: set[str]) -> None:
        if self.knows_what_it_answered and message["id"] in answered:
            return
        answered.add(message["id"])
        text = message["content"].removeprefix(ASKED)
        for _ in range(2 if not self.knows_what_it_answered else 1):
            while True:
                answer = await world.bot.rest.send_message(message["channel_id"], text)
                if answer.status == 200 or not self.retries:
                    break
                await trio.sleep(1)


class EchoMachine(BotMachine):
    bot: ClassVar[Echo] = Echo()
    messages = st.text("abc", min_size=1, max_size=8).map(ASKED.__add__) | st.just("nothing for a bot")
    patience_seconds = 30.0

    async def run_bot(self, world: World) -> None:
        await self.bot.run(world)

    def expected(self, content: str) -> str | None:
        return content.removeprefix(ASKED) if content.startswith(ASKED) else None


TestEchoMachine = pytest.mark.long(EchoMachine.TestCase)
TestEchoMachine.settings = settings(MACHINE_SETTINGS, max_examples=6)

FAULTS = {
    "identifies anew, and misses what was said meanwhile": Echo(resumes=False),
    "sends no heartbeats": Echo(sends_heartbeats=False),
    "does not try again": Echo(retries=False),
    "answers twice": Echo(knows_what_it_answered=False),
}


@pytest.mark.long
@pytest.mark.parametrize("fault", FAULTS)
def test_it_finds_a_bot_that(fault: str) -> None:
    class Bad(EchoMachine):
        bot = FAULTS[fault]

    thorough = settings(MACHINE_SETTINGS, max_examples=100, database=None, phases=[Phase.generate])
    with pytest.raises(AssertionError) as failure:
        run_state_machine_as_test(Bad, settings=thorough)
    assert "messages; seconds since the first" in "".join(failure.value.__notes__)


@pytest.mark.long
def test_a_program_that_does_not_come_back(chat_dev: DevServer, tmp_path: Path) -> None:
    """The bot of the README ends with its first connection: a fault strikes, and the machine says what happened."""
    (tmp_path / "bot.py").write_text(BOT)

    class Program(EchoMachine):
        description = chat_dev.world
        command = (sys.executable, str(tmp_path / "bot.py"))

    few = settings(MACHINE_SETTINGS, max_examples=10, database=None, phases=[Phase.generate])
    with pytest.raises(AssertionError, match=r"the bot ended with status 1"):
        run_state_machine_as_test(Program, settings=few)
