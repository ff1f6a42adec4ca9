"""The machine against a fresh server in memory on virtual time, and against a running `chat dev` over real sockets."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import Phase, settings
from hypothesis.stateful import run_state_machine_as_test

from chat.registries.close_codes import Close
from chat.testing import GatewayMachine
from chat.testing.gateway_machine import MACHINE_SETTINGS
from chat.testing.gateway_model import ModelSession

TestGatewayMachine = pytest.mark.long(GatewayMachine.TestCase)


@pytest.fixture
def chat_dev(tmp_path: Path) -> Iterator[Mapping[str, Any]]:
    """A running `chat dev`: what it prints."""
    command = [sys.executable, "-m", "chat", "dev", "--json", "--port", "0"]
    with (
        (tmp_path / "log").open("wb") as log,
        subprocess.Popen(command, stdout=subprocess.PIPE, stderr=log) as process,
    ):
        try:
            assert process.stdout is not None
            yield json.loads(process.stdout.readline())
        finally:
            process.terminate()
            process.wait(30)


@pytest.mark.long
def test_against_a_base_url(chat_dev: Mapping[str, Any]) -> None:
    class AgainstBaseUrl(GatewayMachine):
        description = chat_dev

    few = settings(MACHINE_SETTINGS, max_examples=4, stateful_step_count=15, database=None)
    run_state_machine_as_test(AgainstBaseUrl, settings=few)


@pytest.mark.long
def test_it_finds_a_gateway_that_forgets(monkeypatch: pytest.MonkeyPatch) -> None:
    """A model that is never wrong about a server that is proves nothing: here the two disagree, and it is found."""

    def forgetful(session: ModelSession, owner: str, sequence: int, current: int, now: float) -> Close:
        return Close(4007, "Invalid sequence")

    monkeypatch.setattr(ModelSession, "judge_resume", forgetful)
    thorough = settings(MACHINE_SETTINGS, max_examples=200, database=None, phases=[Phase.generate])
    with pytest.raises((AssertionError, ExceptionGroup)):
        run_state_machine_as_test(GatewayMachine, settings=thorough)
