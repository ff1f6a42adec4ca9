"""Strict-Transport-Security (RFC 6797) on every answer of a server that speaks TLS itself on the host's own port."""

from __future__ import annotations

from typing import Final

import pytest
from trio.testing import MockClock

from chat.testing.world import World

HEADER: Final = "Strict-Transport-Security"
ASKED: Final = ("/v1/instance", "/v1/users/@me", "/v1/nothing", "/", "/login", "/nothing", "/media/avatars/1/x.png")
TLS: Final = {"tls_certificate": "a.pem", "tls_key": "b.pem", "public_url": "https://chat.example"}


@pytest.mark.chat_settings(**TLS)
async def test_every_answer_asks_for_https(chat_world: World, autojump_clock: MockClock) -> None:
    for path in ASKED:
        assert (await chat_world.anyone.get(path)).header(HEADER) == "max-age=31536000", path


async def test_no_answer_does_without_tls(chat_world: World, autojump_clock: MockClock) -> None:
    for path in ASKED:
        assert (await chat_world.anyone.get(path)).header(HEADER) is None, path
