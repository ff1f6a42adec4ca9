"""Without public_url, on more than loopback, an answer names the host it was asked at; what others receive does not."""

from __future__ import annotations

from typing import Any

import pytest

from chat.testing.rest_client import RestClient
from chat.testing.server import ChatServer
from chat.testing.world import World

anywhere = pytest.mark.chat_settings(host="0.0.0.0")  # noqa: S104 - nothing listens: the network is in memory

FOLLOWED = {
    "chat.lan:8080": "http://chat.lan:8080",
    "192.168.1.5:8080": "http://192.168.1.5:8080",
    "[FD00::5]": "http://[fd00::5]",
    "evil.example/path": "http://127.0.0.1:8080",
    "user@evil.example": "http://127.0.0.1:8080",
}


def asking(server: ChatServer, host: str, token: str | None = None) -> RestClient:
    """A client that calls the server by this name."""
    return RestClient(server.route(), token, headers={"Host": host})


async def handed_out(server: ChatServer, world: World, host: str) -> list[str]:
    """Every address in answers that nobody else gets, as far as its path."""
    anyone, admin = asking(server, host), asking(server, host, world.admin.rest.token)
    document: dict[str, Any] = (await anyone.get("/.well-known/chat")).expect(200)
    bot = (await asking(server, host, world.bot.rest.token).get("/v1/gateway/bot")).expect(200)
    bridge = (await anyone.post("/v1/auth/passkey-bridge/start", {"code_challenge": "a" * 43})).expect(200)
    link = (await admin.post(f"/v1/admin/users/{world.bob.id}/password-reset-link")).expect(200)
    addresses = [*document["endpoints"].values(), bot["url"], bridge["url"], link["url"]]
    return [address.split("#")[0] for address in addresses]


@anywhere
@pytest.mark.chat_settings(sign_in="username")
async def test_answers_follow_the_host_of_their_request(chat_world: World, chat_server: ChatServer) -> None:
    for host, origin in FOLLOWED.items():
        found = await handed_out(chat_server, chat_world, host)
        gateway = origin.replace("http", "ws") + "/gateway"
        assert gateway in found
        assert f"{origin}/v1" in found
        assert f"{origin}/passkey-bridge" in found
        assert f"{origin}/reset" in found
        assert all(address.startswith((origin, gateway)) for address in found), host


@anywhere
async def test_what_leads_on_is_relative(chat_world: World, chat_server: ChatServer) -> None:
    client = asking(chat_server, "chat.lan")
    document = (await client.get("/v1/openapi.json")).expect(200)
    assert document["servers"] == [{"url": "/"}]
    page = await RestClient(chat_server.route(), headers={"Host": "chat.lan", "Accept": "text/html"}).get("/")
    assert page.status == 200
    assert b"127.0.0.1" not in page.body


@anywhere
async def test_what_many_receive_does_not_follow_what_one_of_them_sent(
    chat_world: World, chat_server: ChatServer
) -> None:
    world = chat_world
    bob = await world.bob.connect()
    alice = asking(chat_server, "evil.example", world.alice.rest.token)
    embed = {"title": "x", "image": {"url": "https://pictures.example/a.png"}}
    sent = (await alice.post(f"/v1/channels/{world.channel_id}/messages", {"embeds": [embed]})).expect(200)
    heard = await bob.expect("MESSAGE_CREATE")
    assert "evil.example" not in str(sent)
    assert "evil.example" not in str(heard.data)
    await bob.aclose()
    await asking(chat_server, "evil.example").post("/v1/auth/forgot", {"email": "bob@example.com"})
    mails = (await world.anyone.get("/v1/_dev/mail")).expect(200)
    assert "evil.example" not in str(mails)


@pytest.mark.chat_settings(sign_in="username")
async def test_on_loopback_no_host_is_followed(chat_world: World, chat_server: ChatServer) -> None:
    found = await handed_out(chat_server, chat_world, "evil.example")
    assert not any("evil" in address for address in found)


@pytest.mark.chat_settings(host="0.0.0.0", public_url="https://chat.example", sign_in="username")  # noqa: S104
async def test_with_a_public_url_no_host_is_followed(chat_world: World, chat_server: ChatServer) -> None:
    found = await handed_out(chat_server, chat_world, "evil.example")
    assert all(address.startswith(("https://chat.example", "wss://chat.example")) for address in found)


@anywhere
async def test_hosts_without_end_do_not_fill_the_memory(chat_world: World, chat_server: ChatServer) -> None:
    for number in range(200):
        document = (await asking(chat_server, f"h{number}.example").get("/.well-known/chat")).expect(200)
        assert document["endpoints"]["webapp"] == f"http://h{number}.example"
    assert len(chat_server.server.areas.administration.discovery._made) <= 64
