"""`kill -9` while mail is on its way: none is lost, whenever it comes, and what is sent twice says so."""

from __future__ import annotations

import collections
import random
import signal
from pathlib import Path

import pytest
import trio
from aiosmtpd.smtp import SMTP, Envelope, Session

from tests.durability.server_process import ServerProcess, running
from tests.mail.smtp_server import HOST, Postbox, free_port, smtp_server

pytestmark = pytest.mark.long

KILLS = 3
MAILS = 12


class SlowPostbox(Postbox):
    """Takes its time for each message, so that a kill finds one under way."""

    async def handle_DATA(self, server: SMTP, session: Session, envelope: Envelope) -> str:  # noqa: N802
        import asyncio

        answer = await super().handle_DATA(server, session, envelope)
        await asyncio.sleep(0.03)
        return answer


def environment(port: int) -> dict[str, str]:
    return {
        "CHAT_MAIL__MODE": "smtp",
        "CHAT_MAIL__HOST": HOST,
        "CHAT_MAIL__PORT": str(port),
        "CHAT_MAIL__FROM": "chat@example.com",
        "CHAT_MAIL__TLS": "off",
    }


async def register(server: ServerProcess, name: str) -> str:
    client = server.alice.signed_in(None)
    email = f"{name}@example.com"
    (await client.register(email=email, username=name, password="correct horse")).expect(200)
    await client.aclose()
    return email


async def test_acknowledged_mail_survives_kill_9_and_is_sent_once(tmp_path: Path) -> None:
    port = free_port()
    async with running(tmp_path, **environment(port)) as server:
        expected = [await register(server, f"user{number}") for number in range(5)]
        assert await server.end(signal.SIGKILL) == -signal.SIGKILL
    postbox = Postbox()
    with smtp_server(postbox, port):
        async with running(tmp_path, **environment(port)) as server:
            await postbox.wait_for(5, seconds=30)
            expected.append(await register(server, "last"))
            await postbox.wait_for(6, seconds=30)
            assert await server.end(signal.SIGTERM) == 0
        async with running(tmp_path, **environment(port)) as server:
            await trio.sleep(1)
            assert await server.end(signal.SIGTERM) == 0
    assert postbox.recipients == expected


async def test_killed_while_sending_it_sends_the_rest(tmp_path: Path) -> None:
    chance = random.Random(3)
    port = free_port()
    postbox = SlowPostbox()
    expected: set[str] = set()
    with smtp_server(postbox, port):
        for turn in range(KILLS):
            async with running(tmp_path, **environment(port)) as server:
                before = len(postbox.messages)
                for number in range(MAILS):
                    expected.add(await register(server, f"user{turn}_{number}"))
                await postbox.wait_for(before + 2, seconds=30)
                await trio.sleep(chance.random() / 10)
                assert await server.end(signal.SIGKILL) == -signal.SIGKILL
        async with running(tmp_path, **environment(port)) as server:
            with trio.fail_after(30):
                while not expected <= set(postbox.recipients):  # noqa: ASYNC110 - it comes in another thread
                    await trio.sleep(0.05)
            assert await server.end(signal.SIGTERM) == 0
    numbers: dict[str, set[str]] = collections.defaultdict(set)
    for recipient, message in zip(postbox.recipients, postbox.messages, strict=True):
        numbers[recipient].add(message["Message-ID"])
    assert numbers.keys() == expected
    assert all(len(each) == 1 for each in numbers.values())
    assert len(postbox.messages) - len(expected) <= KILLS


async def test_a_server_that_says_nothing_does_not_hold_up_the_end(tmp_path: Path) -> None:
    (listener,) = await trio.open_tcp_listeners(0, host=HOST)
    port = listener.socket.getsockname()[1]
    async with running(tmp_path, **environment(port)) as server:
        await register(server, "dave")
        connection = await listener.accept()
        started = trio.current_time()
        assert await server.end(signal.SIGTERM) == 0
        assert trio.current_time() - started < 8
        await connection.aclose()
    await listener.aclose()
