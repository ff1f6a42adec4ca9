"""A whole server whose mail goes over SMTP, and one without any."""

from __future__ import annotations

import re
import zlib
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import structlog
import trio

from chat.testing.rest_client import RestClient
from chat.testing.world import World
from tests.mail.smtp_server import HOST, Postbox, free_port, smtp_server

PASSWORD = "correct horse"


@pytest.fixture
def port() -> int:
    return free_port()


@pytest.fixture
def chat_server_options(request: pytest.FixtureRequest, tmp_path: Path, port: int) -> dict[str, Any]:
    settings: dict[str, object] = {
        "mail.mode": "smtp",
        "mail.host": HOST,
        "mail.port": port,
        "mail.from": "chat@example.com",
        "mail.tls": "off",
    }
    for marker in reversed(list(request.node.iter_markers("chat_settings"))):
        settings.update(marker.kwargs)
    return {"folder": tmp_path, "seed": zlib.crc32(request.node.nodeid.encode()), "settings": settings}


@pytest.fixture
async def postbox(port: int) -> AsyncIterator[Postbox]:
    box = Postbox()
    with smtp_server(box, port):
        yield box


async def register(client: RestClient, name: str) -> dict[str, Any]:
    answer = await client.register(email=f"{name}@example.com", username=name, password=PASSWORD)
    body: dict[str, Any] = answer.expect(200)
    return body


def text_of(postbox: Postbox, number: int) -> str:
    body = postbox.messages[number].get_body(("plain",))
    assert body is not None
    return str(body.get_content())


async def test_the_link_in_the_mail_verifies_the_address(
    autojump_clock: trio.testing.MockClock, postbox: Postbox, chat_world: World
) -> None:
    with structlog.testing.capture_logs() as lines:
        made = await register(chat_world.anyone, "dave")
        await trio.sleep(1)
    assert postbox.recipients == ["dave@example.com"]
    message = postbox.messages[0]
    assert message["Subject"] == "Confirm your address for Chat"
    assert message["From"] == "Chat <chat@example.com>"
    found = re.search(r"/verify#token=([A-Za-z0-9]{64})", text_of(postbox, 0))
    assert found is not None
    assert found[1] not in repr(lines)
    assert "mail sent" in [line["event"] for line in lines]
    (await chat_world.anyone.post("/v1/auth/verify", {"token": found[1]})).expect(204)
    own = (await chat_world.anyone.signed_in(made["token"]).get("/v1/users/@me")).expect(200)
    assert own["verified"] is True


async def test_a_dead_address_is_marked_and_its_holder_told(
    autojump_clock: trio.testing.MockClock, postbox: Postbox, chat_world: World
) -> None:
    postbox.replies["dave@example.com"] = "550 5.1.1 No such user"
    made = await register(chat_world.anyone, "dave")
    client = chat_world.anyone.signed_in(made["token"])
    await trio.sleep(1)
    assert (await client.get("/v1/users/@me")).expect(200)["email_bounced"] is True
    postbox.replies.clear()
    (await client.post("/v1/auth/verify/resend")).expect(204)
    await trio.sleep(1)
    assert postbox.recipients == ["dave@example.com"]
    found = re.search(r"#token=([A-Za-z0-9]{64})", text_of(postbox, 0))
    assert found is not None
    (await chat_world.anyone.post("/v1/auth/verify", {"token": found[1]})).expect(204)
    own = (await client.get("/v1/users/@me")).expect(200)
    assert own["verified"] is True
    assert not own.get("email_bounced")


async def test_who_listens_hears_of_the_bounce(
    autojump_clock: trio.testing.MockClock, postbox: Postbox, chat_world: World
) -> None:
    postbox.replies["alice@example.com"] = "550 5.1.1 No such user"
    client = await chat_world.alice.connect()
    (await chat_world.anyone.post("/v1/auth/forgot", {"email": "alice@example.com"})).expect(204)
    update = await client.expect("USER_UPDATE")
    assert update.data["email_bounced"] is True


async def test_nobody_waits_for_a_server_that_is_away(
    autojump_clock: trio.testing.MockClock, chat_world: World, port: int
) -> None:
    names = [f"user{number}" for number in range(5)]
    for name in names:
        await register(chat_world.anyone, name)
    await trio.sleep(3_600)
    postbox = Postbox()
    with smtp_server(postbox, port):
        await trio.sleep(1_200)
    assert postbox.recipients == [f"{name}@example.com" for name in names]


async def test_mail_outlives_the_server(
    autojump_clock: trio.testing.MockClock, chat_world: World, chat_server: Any, port: int
) -> None:
    await register(chat_world.anyone, "dave")
    await chat_server.stop()
    await chat_server.start()
    postbox = Postbox()
    with smtp_server(postbox, port):
        await trio.sleep(60)
        await chat_server.restart()
        await trio.sleep(60)
    assert postbox.recipients == ["dave@example.com"]


async def test_sent_mail_is_not_kept(
    autojump_clock: trio.testing.MockClock, postbox: Postbox, chat_world: World
) -> None:
    await register(chat_world.anyone, "dave")
    await trio.sleep(1)
    assert (await chat_world.anyone.get("/v1/_dev/mail")).expect(200) == []


@pytest.mark.chat_settings(**{"mail.mode": "off", "sign_in": "username"})
async def test_without_mail_people_come_and_go_by_username(
    autojump_clock: trio.testing.MockClock, chat_world: World
) -> None:
    made = (await chat_world.anyone.register(username="dave", password=PASSWORD)).expect(200)
    client = chat_world.anyone.signed_in(made["token"])
    assert (await client.get("/v1/users/@me")).expect(200)["verified"] is True
    (await client.create_guild("Chess")).expect(200)
    (await client.post("/v1/auth/logout")).expect(204)
    again = (await chat_world.anyone.login(username="dave", password=PASSWORD)).expect(200)
    assert again["user_id"] == made["user_id"]
    assert (await chat_world.anyone.get("/.well-known/chat")).expect(200)["features"]["emails_enabled"] is False
    assert (await chat_world.anyone.get("/v1/_dev/mail")).expect(200) == []


@pytest.mark.chat_settings(**{"mail.mode": "off", "ip_authorization": True})
async def test_without_mail_nothing_waits_for_one(autojump_clock: trio.testing.MockClock, chat_world: World) -> None:
    made = await register(chat_world.anyone, "dave")
    client = chat_world.anyone.signed_in(made["token"])
    assert (await client.get("/v1/users/@me")).expect(200)["verified"] is True
    (await client.create_guild("Chess")).expect(200)
    (await client.post("/v1/auth/verify/resend")).expect(204)
    (await chat_world.anyone.post("/v1/auth/forgot", {"email": "dave@example.com"})).expect(204)
    elsewhere = await chat_world.anyone.request(
        "POST",
        "/v1/auth/login",
        json={"email": "dave@example.com", "password": PASSWORD},
        headers={"X-Test-Address": "10.0.0.7"},
    )
    elsewhere.expect(200)


async def test_a_letter_speaks_the_language_of_its_account(
    autojump_clock: trio.testing.MockClock, postbox: Postbox, chat_world: World
) -> None:
    """First that of the browser that made the account, then the one that its settings name."""
    body = {"email": "dora@example.com", "username": "dora", "password": PASSWORD}
    german = {"Accept-Language": "de-AT,de;q=0.9"}
    made = (await chat_world.anyone.request("POST", "/v1/auth/register", json=body, headers=german)).expect(200)
    await trio.sleep(1)
    message = postbox.messages[-1]
    assert message["Subject"] == "Bestätige deine Adresse für Chat"
    assert "Bestätige innerhalb von 24 Stunden, dass sie dir gehört." in text_of(postbox, -1)
    page = message.get_body(("html",))
    assert page is not None
    assert '<html lang="de">' in page.get_content()
    assert "Wenn die Schaltfläche nicht funktioniert, öffne diese Adresse:" in page.get_content()
    dora = chat_world.anyone.signed_in(made["token"])
    for locale, subject in (("fr", "Reset your password for Chat"), ("de", "Neues Passwort für Chat")):
        (await dora.patch("/v1/users/@me/settings", {"locale": locale})).expect(200)
        (await chat_world.anyone.post("/v1/auth/forgot", {"email": "dora@example.com"})).expect(204)
        await trio.sleep(1)
        assert postbox.messages[-1]["Subject"] == subject
