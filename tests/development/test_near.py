"""The development routes give every token away: they answer this machine alone, unless somebody opens them on purpose
(development.md, Development routes)."""

from __future__ import annotations

import pytest
from trio.testing import MockClock

from chat.testing.http_client import HttpClient
from chat.testing.server import ChatServer
from chat.testing.world import World
from tests.cli.command_line import Run
from tests.cli.conftest import run as run

WORLD = "/v1/_dev/world"
OUTSIDE, INSIDE = "203.0.113.7", "192.168.1.9"


async def answered(server: ChatServer, peer: str, host: str = "localhost", **headers: str) -> int:
    client = HttpClient(server.route(peer))
    answer = await client.request("GET", WORLD, headers={"Host": host, **headers})
    await client.aclose()
    assert answer.status == 200 or b"cht_" not in answer.body
    return answer.status


async def test_who_names_itself_localhost_is_not_let_in(chat_server: ChatServer, autojump_clock: MockClock) -> None:
    assert await answered(chat_server, "127.0.0.1") == 200
    assert await answered(chat_server, "127.8.8.8") == 200
    assert await answered(chat_server, "::1", "[::1]") == 200
    for peer in (OUTSIDE, INSIDE, "2001:db8::1", "::ffff:203.0.113.7"):
        for host in ("localhost", "127.0.0.1:8080", f"{peer}:8080", "example.org"):
            assert await answered(chat_server, peer, host) == 403
        # Nor by naming another address, whatever is believed in tests.
        assert await answered(chat_server, peer, **{"X-Forwarded-For": "127.0.0.1"}) == 403
        assert await answered(chat_server, peer, **{"X-Test-Address": "127.0.0.1"}) == 403
    # What a proxy on this machine forwards comes from anywhere.
    assert await answered(chat_server, "127.0.0.1", **{"X-Forwarded-For": OUTSIDE}) == 403
    assert await answered(chat_server, "127.0.0.1", **{"X-Forwarded-For": "127.0.0.1"}) == 403
    # A test that stands for another address is on this machine.
    assert await answered(chat_server, "127.0.0.1", **{"X-Test-Address": OUTSIDE}) == 200


@pytest.mark.chat_settings(dev_allow=["192.168.1.0/24"])
async def test_a_network_is_let_in_on_purpose(chat_server: ChatServer, autojump_clock: MockClock) -> None:
    assert await answered(chat_server, INSIDE, "192.168.1.5:8080") == 200
    assert await answered(chat_server, OUTSIDE, "192.168.1.5:8080") == 403
    assert await answered(chat_server, INSIDE, "rebound.example") == 403
    origin = {"Origin": "http://192.168.1.5:8080"}
    assert await answered(chat_server, INSIDE, "192.168.1.5:8080", **origin) == 200
    assert await answered(chat_server, INSIDE, "192.168.1.5:8080", Origin="http://evil.example") == 403


@pytest.mark.chat_settings(trusted_proxies=["127.0.0.1"], dev_allow=["192.168.1.0/24"])
async def test_behind_a_trusted_proxy_the_client_counts(chat_server: ChatServer, autojump_clock: MockClock) -> None:
    assert await answered(chat_server, "127.0.0.1", **{"X-Forwarded-For": OUTSIDE}) == 403
    assert await answered(chat_server, "127.0.0.1", **{"X-Forwarded-For": INSIDE}) == 200


async def test_every_development_route_is_kept_so(
    chat_server: ChatServer, chat_world: World, autojump_clock: MockClock
) -> None:
    from chat.development.routes import ROUTES

    client = HttpClient(chat_server.route(OUTSIDE))
    walked = 0
    for operation in (operation for routes in ROUTES for operation in routes.operations):
        path = operation.path.replace("{", "").replace("}", "")
        answer = await client.request(operation.method, path, headers={"Host": "localhost"})
        assert answer.status == 403, operation.path
        walked += 1
    assert walked > 15
    await client.aclose()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--host", "0.0.0.0"], "answer this machine alone"),  # noqa: S104
        (["--host", "0.0.0.0", "--allow", "10.0.0.0/8"], "everybody there gets all tokens"),  # noqa: S104
        (["--allow", "10.0.0.0/33"], "expected a list of networks"),
        ([], ""),
    ],
)
def test_the_command_warns(run: Run, monkeypatch: pytest.MonkeyPatch, arguments: list[str], words: str) -> None:
    monkeypatch.setattr("chat.cli.serve.run_server", lambda *_, **__: None)
    said = run("dev", *arguments).err
    assert words in said
    assert bool(said) == bool(words)
