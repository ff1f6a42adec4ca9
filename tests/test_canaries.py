"""The watch over secrets itself: what it would have noticed."""

from __future__ import annotations

import json

import pytest
import structlog

from chat.testing.network import TcpRoute
from chat.testing.rest_client import Response, RestClient
from tests.canaries import Watch, parsed

SESSION = "cht_" + "Ab0" * 12
CLIENT = RestClient(TcpRoute("127.0.0.1", 1), f"Bearer {SESSION}")


def answered(body: object, **headers: str) -> Response:
    return Response(200, tuple(headers.items()), json.dumps(body).encode())


@pytest.mark.parametrize("sent", [{"password": "a canary of mine"}, [{"deep": {"password": "a canary of mine"}}]])
def test_what_is_repeated_is_noticed(sent: object) -> None:
    watch = Watch()
    watch.note(CLIENT, "POST", "/v1/auth/login", sent, answered({"message": "not a canary of mine"}))
    watch.note(CLIENT, "GET", "/v1/users/@me", None, answered({"id": "1"}))
    assert len(watch.repeated) == 1
    watch.note(CLIENT, "GET", "/v1/users/@me", None, answered({"token": SESSION}))
    assert len(watch.repeated) == 2


def test_what_was_received_and_is_logged_is_noticed() -> None:
    watch = Watch()
    watch.note(CLIENT, "POST", "/v1/auth/login", {}, answered({"ticket": "a canary of theirs"}))
    assert watch.logged() == []
    watch.log(None, "info", {"event": "login", "field": {"deep": ["a canary of theirs"]}})
    assert len(watch.logged()) == 1


@pytest.mark.parametrize(
    "answer", [answered({"url": f"https://x/?t={SESSION}"}), answered({}, location=f"/?t={SESSION}")]
)
def test_a_credential_in_an_address_is_noticed(answer: Response) -> None:
    watch = Watch()
    watch.note(CLIENT, "GET", "/v1/oauth2/authorize", None, answer)
    assert watch.addressed() == [SESSION]


def test_forms_are_read_too() -> None:
    assert parsed(b"grant_type=refresh_token&refresh_token=a%20canary") == {
        "grant_type": "refresh_token",
        "refresh_token": "a canary",
    }
    assert parsed(b"[" * 100_000) is None


def test_the_watch_hears_the_log(secrets_stay_secret: Watch) -> None:
    structlog.get_logger().info("heard", field=1)
    assert secrets_stay_secret.lines == ["{'field': 1, 'event': 'heard'}"]
