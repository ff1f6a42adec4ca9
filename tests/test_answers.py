"""What `tests.answers` finds, and what it lets pass."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from chat.testing.rest_client import Response
from chat.testing.world import World
from tests.answers import fault_of, kept_secret_of, refusal_fault, refused, write_refusals

JSON = (("content-type", "application/json"),)


def answer(status: int, body: Any = None, *, headers: tuple[tuple[str, str], ...] = JSON) -> Response:
    return Response(status, headers, b"" if body is None else json.dumps(body).encode())


def refusal(status: int, code: str, **members: object) -> Response:
    return answer(status, {"code": code, "message": "No.", **members})


async def test_what_the_server_says_is_as_declared(chat_world: World) -> None:
    shown = await chat_world.alice.rest.get("/v1/users/@me")
    assert fault_of("GET", "/v1/users/@me", shown) is None


async def test_a_member_too_many_and_one_too_few_are_found(chat_world: World) -> None:
    shown = (await chat_world.alice.rest.get("/v1/users/@me")).expect(200)
    assert "'surprise' was unexpected" in str(fault_of("GET", "/v1/users/@me", answer(200, {**shown, "surprise": 1})))
    del shown["username"]
    assert "username" in str(fault_of("GET", "/v1/users/@me?x=1", answer(200, shown)))


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (answer(200, []), "at /"),
        (answer(202, {}), "not declared"),
        (answer(200, {}, headers=(("content-type", "text/plain"),)), "as text/plain"),
        (answer(400, {"code": "BAD_REQUEST"}), "message"),
        (answer(404, {"code": "UNKNOWN_USER", "message": "No.", "stack": []}), "'stack' was unexpected"),
    ],
)
def test_an_answer_that_is_not_as_declared(given: Response, said: str) -> None:
    assert said in str(fault_of("GET", "/v1/users/@me", given))


def test_nothing_is_nothing() -> None:
    assert fault_of("POST", "/v1/auth/logout", answer(204)) is None
    assert "with a body" in str(fault_of("POST", "/v1/auth/logout", answer(204, {})))
    assert fault_of("HEAD", "/v1/users/@me", answer(200)) is None


def test_what_is_no_operation_is_not_looked_at() -> None:
    assert fault_of("GET", "/nowhere", answer(418, [])) is None
    assert fault_of("POST", "/v1/_dev/reset", answer(200, [])) is None


SESSION = "cht_" + "a" * 36
CACHED = (*JSON, ("cache-control", "no-cache"))


@pytest.mark.parametrize(
    "body",
    [
        {"anything": SESSION},
        {"anything": "cha_1456074443980804131_" + "A" * 32},
        {"anything": "1456074443980804131." + "b" * 43},
        {"client_secret": "x"},
        {"access_token": "x"},
        {"ticket": "x"},
        {"original_proof": "x"},
        {"code": "ABCD2345" * 4},
        {"backup_codes": [{"code": "abcd-efgh", "consumed": False}]},
        {"url": "https://chat.example/reset#token=" + "a" * 64},
    ],
)
def test_what_lets_somebody_in_must_not_be_kept(body: dict[str, object]) -> None:
    path, text = "/v1/users/@me", json.dumps(body, separators=(",", ":")).encode()
    assert "may be kept" in str(kept_secret_of("GET", path, Response(200, CACHED, text)))
    refused = Response(403, (*JSON, ("cache-control", "no-store")), text)
    assert kept_secret_of("GET", path, refused) is None


def test_a_sudo_token_is_one_of_them() -> None:
    carrying = Response(204, (("x-service-sudo-mode-jwt", "a.b.c"), ("cache-control", "no-cache")), b"")
    assert "may be kept" in str(kept_secret_of("POST", "/v1/auth/logout", carrying))
    assert kept_secret_of("POST", "/v1/auth/logout", answer(204)) is None


def test_refusals_are_known_or_not() -> None:
    path = "/v1/channels/1/messages"
    assert refusal_fault("GET", path, refusal(401, "UNAUTHORIZED")) is None
    assert refusal_fault("GET", path, refusal(404, "UNKNOWN_CHANNEL")) is None
    assert "--write-refusals" in str(refusal_fault("GET", path, refusal(400, "MAX_STICKERS")))
    assert "not registered" in str(refusal_fault("GET", path, refusal(400, "WHIM")))
    refused["GET /v1/channels/{channel_id}/messages"].discard("MAX_STICKERS")


def test_refusals_are_added_to_those_that_are_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    name = "GET /v1/channels/{channel_id}/messages"
    file = tmp_path / "refusals.json"
    file.write_text(json.dumps({name: ["CONTENT_BLOCKED"], "GET /v1/gone": ["NOT_FOUND"]}))
    monkeypatch.setitem(refused, name, {"UNAUTHORIZED", "MAX_STICKERS"})
    write_refusals(file)
    kept = json.loads(file.read_text())
    assert kept[name] == ["CONTENT_BLOCKED", "MAX_STICKERS"]
    assert "GET /v1/gone" not in kept
