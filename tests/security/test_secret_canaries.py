"""Secrets go through everything the API does with them; none comes out in a log line or where it was not asked for.

The log is looked at before its redaction: nothing is handed to it in the first place.

Area: security. Rules: 000.credentials.
"""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator
from typing import Any

import attrs
import pytest
import structlog

from chat.testing.rest_client import Response, RestClient
from chat.testing.world import World
from tests import canaries

PASSWORD = "canary-password-in-a-coal-mine"
NEW_PASSWORD = "second-canary-in-the-same-mine"


@attrs.define
class Watch:
    """Everything said, to the log and in answers, and the secrets that were in use."""

    entries: list[Any]
    answers: list[Response] = attrs.field(factory=list)
    secrets: set[str] = attrs.field(factory=set)

    def note(self, answer: Response) -> Any:
        self.answers.append(answer)
        return answer.json() if answer.body else None

    def assert_silent(self, log: str) -> None:
        said = repr(self.entries) + log
        for secret in self.secrets:
            assert secret not in said
            assert secret.partition(".")[2] not in said or "." not in secret


@pytest.fixture
async def watch() -> AsyncIterator[Watch]:
    with structlog.testing.capture_logs() as entries:
        yield Watch(entries)


async def test_a_life_of_an_account_leaves_no_secret_behind(
    chat_world: World, watch: Watch, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    note, anyone = watch.note, chat_world.anyone
    watch.secrets |= {PASSWORD, NEW_PASSWORD, "wrong-canary"}
    body = note(await anyone.register(email="dave@example.com", username="dave", password=PASSWORD))
    watch.secrets.add(body["token"])
    dave = anyone.signed_in(body["token"])
    mail_token = (await anyone.get("/v1/_dev/mail")).expect(200)[0]["token"]
    watch.secrets.add(mail_token)
    note(await anyone.post("/v1/auth/verify", {"token": mail_token[:-1] + "!"}))
    note(await anyone.post("/v1/auth/verify", {"token": mail_token}))
    note(await anyone.login(email="dave@example.com", password="wrong-canary"))
    second = note(await anyone.login(email="dave@example.com", password=PASSWORD))
    watch.secrets.add(second["token"])
    note(await dave.post("/v1/auth/sessions/logout", {"session_id_hashes": [], "password": "wrong-canary"}))
    application = note(await dave.post("/v1/oauth2/applications", {"name": "Canary"}))
    watch.secrets |= {application["client_secret"], application["bot"]["token"]}
    path = f"/v1/oauth2/applications/{application['id']}"
    reset = note(await dave.post(f"{path}/bot/reset-token", {"password": PASSWORD}))
    watch.secrets.add(reset["token"])
    note(await dave.request("DELETE", path, json={"password": "wrong-canary"}))
    note(await dave.request("DELETE", path, json={"password": PASSWORD}))
    note(await dave.get(f"/v1/users/@me?token={body['token']}"))
    note(await dave.patch("/v1/users/@me", {"password": PASSWORD, "new_password": NEW_PASSWORD}))
    watch.assert_silent(caplog.text)
    for answer in watch.answers:
        told = {secret for secret in watch.secrets if secret.encode() in answer.body}
        assert len(told) <= 2, "an answer tells what was just made, and nothing else"
        assert PASSWORD not in told
        assert NEW_PASSWORD not in told


@pytest.mark.parametrize(
    ("method", "path", "json"),
    [
        ("POST", "/v1/auth/login", {"email": 5, "password": PASSWORD}),
        ("POST", "/v1/auth/register", {"username": "x y", "password": PASSWORD}),
        ("PATCH", "/v1/users/@me", {"new_password": PASSWORD}),
        ("POST", "/v1/auth/verify", {"token": PASSWORD}),
        ("GET", f"/v1/{PASSWORD}", {}),
        ("GET", f"/v1/users/{PASSWORD}", {}),
    ],
)
async def test_no_refusal_repeats_what_was_sent(
    chat_world: World, watch: Watch, method: str, path: str, json: object
) -> None:
    client: RestClient = chat_world.alice.rest
    answer = await client.request(method, path, json=json)
    assert answer.status >= 400
    assert PASSWORD.encode() not in answer.body
    assert client.token is not None
    assert client.token.encode() not in answer.body
    assert PASSWORD not in repr(watch.entries)


@pytest.mark.rule("000.credentials.22")
async def test_no_address_that_is_handed_out_holds_a_token(chat_world: World) -> None:
    tokens = [actor.token.encode() for actor in chat_world.actors]
    for path in ("/.well-known/chat", "/v1/gateway/bot"):
        answer = await chat_world.bot.rest.get(path)
        assert answer.status == 200
        assert not any(token in answer.body for token in tokens)


async def test_what_is_stored_signs_nobody_in(chat_world: World, chat_server: Any) -> None:
    """Every text and blob of the database, but for the mail that `chat dev` keeps and the seeded world's own record."""
    made = (await chat_world.alice.rest.post("/v1/oauth2/applications", {"name": "Canary"})).expect(200)
    signed_in = (await chat_world.anyone.register(username="dave", password=PASSWORD)).expect(200)
    secrets = [PASSWORD, signed_in["token"], made["client_secret"], made["bot"]["token"].partition(".")[2]]
    reader = chat_server.database.reader
    tables = [name for (name,) in reader.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
    assert "auth_sessions" in tables
    for table in set(tables) - {"mails", "instance"}:
        stored = repr(reader.execute(f"SELECT * FROM {table}").fetchall())  # noqa: S608
        assert not any(secret in stored for secret in secrets), table


def test_what_the_program_says_itself_is_no_secret() -> None:
    watch = canaries.Watch(secrets={"totp disabled": "POST /a", "0123456789abc": "POST /b"})
    watch.log(None, "info", {"event": "totp disabled"})
    assert watch.logged() == []
    watch.log(None, "info", {"event": "0123456789abc"})
    assert watch.logged() == ["'0123456789abc' of POST /b"]
