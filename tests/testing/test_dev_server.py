"""A server in a process of its own, as tests of bots that are programs have it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from chat.testing import DevServer
from chat.testing.dev_server import DevServerError
from tests.testing.echo_program import BOT

pytestmark = pytest.mark.long


def test_a_bot_that_is_a_program(chat_dev: DevServer, tmp_path: Path) -> None:
    (tmp_path / "bot.py").write_text(BOT)
    environment = {**os.environ, **chat_dev.environment}
    with subprocess.Popen([sys.executable, str(tmp_path / "bot.py")], env=environment) as bot:
        try:
            chat_dev.wait_for_session(chat_dev.environment["CHAT_BOT_USER_ID"])
            chat_dev.say("!echo pong")
            message = chat_dev.wait_for_message(lambda message: message["content"] == "pong")
            assert message["author"]["id"] == chat_dev.world["bot"]["user_id"]
        finally:
            bot.kill()


def test_each_test_begins_with_the_seeded_world(chat_dev: DevServer) -> None:
    assert chat_dev.messages() == []
    assert chat_dev.ask("sessions") == []


def test_time_and_faults(chat_dev: DevServer) -> None:
    before = chat_dev.ask("clock")["offset_ms"]
    chat_dev.advance(3_600)
    assert chat_dev.ask("clock")["offset_ms"] == before + 3_600_000
    assert chat_dev.fault("http", path="/v1/users/@me", status=503, times=1) == 1
    alice = chat_dev.world["users"][0]["token"]
    assert [chat_dev.request("GET", "/v1/users/@me", token=alice)[0] for _ in range(2)] == [503, 200]


def test_what_does_not_come_is_told(chat_dev: DevServer) -> None:
    chat_dev.say("hello", by=1)
    with pytest.raises(DevServerError, match=r"no such message among \['hello'\] within 0.1 s"):
        chat_dev.wait_for_message(lambda message: message["content"] == "pong", seconds=0.1)
    with pytest.raises(DevServerError, match="there is no command 'dance'"):
        chat_dev.ask("dance")


def test_a_server_that_does_not_run() -> None:
    with pytest.raises(DevServerError, match="the server does not run"):
        DevServer().reset()
