"""The way of a request through the API, on operations made for the purpose.

Area: api. Rules: 000.outcomes.
"""

from __future__ import annotations

import logging
import uuid
from collections.abc import Iterator
from typing import Any

import attrs
import pytest
import structlog
import trio

from chat.api.answers import Answer
from chat.api.app import ChatApp
from chat.api.endpoint import LARGE_BODY
from chat.api.operation import Policy, Request, Routes
from chat.bus.bus import BACKLOG_LIMIT
from chat.errors import ApiError
from chat.registries.error_codes import ErrorCode
from chat.registries.limits import JSON_BODY_BYTES
from chat.registries.scopes import Scope
from chat.registries.user_flags import UserFlag
from chat.testing.server import ChatServer
from chat.testing.world import World
from tests.api.asgi import Reply, app_of, ask

routes = Routes()


@attrs.frozen
class Text:
    text: str | None = None


@routes.operation("GET", "/v1/echo/{guild_id}/{word}", policy=Policy.NONE)
async def echo(request: Request, guild_id: int, word: str) -> object:
    return {
        "guild_id": guild_id,
        "word": word,
        "reason": request.audit_log_reason,
        "capabilities": sorted(request.capabilities),
        "address": request.address,
    }


@routes.operation("POST", "/v1/text", policy=Policy.NONE, body=Text)
async def put_text(request: Request, body: Text) -> object:
    return {"text": body.text}


@routes.operation("POST", "/v1/text/kept", policy=Policy.NONE, body=Text, empty_strings_are_null=False)
async def keep_text(request: Request, body: Text) -> object:
    return {"text": body.text}


@routes.operation("DELETE", "/v1/text", policy=Policy.USER)
async def delete_text(request: Request) -> None:
    return None


@routes.operation("GET", "/v1/broken", policy=Policy.NONE)
async def fail(request: Request) -> object:
    raise ZeroDivisionError("a secret of ours")


@routes.operation("GET", "/v1/broken/group", policy=Policy.NONE)
async def fail_in_a_nursery(request: Request) -> object:
    async with trio.open_nursery() as nursery:

        async def stumble() -> None:
            raise ZeroDivisionError

        nursery.start_soon(stumble)
    return None


@routes.operation("GET", "/v1/unencodable", policy=Policy.NONE)
async def answer_what_is_no_json(request: Request) -> object:
    return {"set": {1, 2}}


@routes.operation("GET", "/v1/custom", policy=Policy.NONE)
async def answer_with_headers(request: Request) -> object:
    return Answer(202, None, {"Cache-Control": "max-age=5", "X-Own": "yes"})


@routes.operation("GET", "/v1/scoped", policy=Policy.USER, scope=Scope.GUILDS)
async def scoped(request: Request) -> object:
    return {"user_id": str(request.principal.user_id)}


@routes.operation(
    "POST",
    "/v1/guilds",
    policy=Policy.USER_ONLY,
    bots_refused_with=ErrorCode.BOTS_CANNOT_CREATE_GUILDS,
    closed_to_limited=True,
)
async def gated(request: Request) -> object:
    return {"created": True}


@pytest.fixture
async def app(chat_server: ChatServer) -> ChatApp:
    return app_of(chat_server, routes)


async def reply(app: ChatApp, method: str, path: str, **options: Any) -> Reply:
    answer = await ask(app, method, path, **options)
    assert answer is not None
    return answer


# Answers


async def test_an_object_is_200_with_json_and_nothing_is_204(app: ChatApp, chat_world: World) -> None:
    answer = await reply(app, "GET", "/v1/echo/5/hello")
    assert answer.status == 200
    assert answer.headers["content-type"] == "application/json"
    assert answer.headers["content-length"] == str(len(answer.body))
    assert answer.headers["cache-control"] == "no-cache"
    answer = await reply(app, "DELETE", "/v1/text", headers=[("Authorization", chat_world.alice.token)])
    assert (answer.status, answer.body) == (204, b"")
    assert "content-type" not in answer.headers
    assert "content-length" not in answer.headers


async def test_an_answer_may_have_its_own_status_and_headers(app: ChatApp) -> None:
    answer = await reply(app, "GET", "/v1/custom")
    assert (answer.status, answer.body) == (202, b"")
    assert answer.headers["cache-control"] == "max-age=5"
    assert answer.headers["x-own"] == "yes"
    assert answer.headers["content-length"] == "0"


async def test_head_is_get_without_the_body(app: ChatApp) -> None:
    full = await reply(app, "GET", "/v1/echo/5/hello")
    head = await reply(app, "HEAD", "/v1/echo/5/hello")
    assert (head.status, head.body) == (200, b"")
    assert head.headers["content-length"] == full.headers["content-length"]


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", "/v1/nothing"),
        ("GET", "/v1/echo/5/hello/"),
        ("GET", "/v1/echo/5"),
        ("POST", "/v1/echo/5/hello"),
        ("GET", "/v1/text"),
        ("BREW", "/v1/text"),
        ("OPTIONS", "/v1/text"),
        ("GET", "/echo/5/hello"),
    ],
)
async def test_an_unknown_path_or_method_is_404_and_tells_no_more(app: ChatApp, method: str, path: str) -> None:
    answer = await reply(app, method, path)
    assert answer.status == 404
    assert answer.json["code"] == "NOT_FOUND"
    assert answer.headers["content-type"] == "application/json"
    assert "allow" not in answer.headers
    assert answer.headers["x-request-id"]


async def test_a_browser_may_ask_what_it_may_send(app: ChatApp) -> None:
    headers = [("Origin", "https://elsewhere.example"), ("Access-Control-Request-Method", "DELETE")]
    answer = await reply(app, "OPTIONS", "/v1/text", headers=headers)
    assert answer.status == 204
    assert answer.headers["access-control-allow-origin"] == "*"
    assert "DELETE" in answer.headers["access-control-allow-methods"]
    assert "Authorization" in answer.headers["access-control-allow-headers"]
    assert "X-Service-Features" in answer.headers["access-control-allow-headers"]
    assert (await reply(app, "OPTIONS", "/v1/nothing", headers=headers)).status == 404


async def test_every_answer_names_the_request_and_the_version(app: ChatApp) -> None:
    for path in ("/v1/echo/5/hello", "/v1/nothing", "/v1/broken"):
        answer = await reply(app, "GET", path)
        assert uuid.UUID(answer.headers["x-request-id"]).version == 4
        assert answer.headers["x-service-version"]
        assert "X-Service-Version" in answer.headers["access-control-expose-headers"].split(", ")
        echoed = await reply(app, "GET", path, headers=[("X-Request-ID", "trace-1.2_3")])
        assert echoed.headers["x-request-id"] == "trace-1.2_3"


@pytest.mark.parametrize("offered", ["", "a b", "a\u00e9", "x" * 129, "a;b"])
async def test_a_request_id_that_is_no_plain_word_is_replaced(app: ChatApp, offered: str) -> None:
    answer = await reply(app, "GET", "/v1/echo/5/hello", headers=[("X-Request-ID", offered)])
    assert uuid.UUID(answer.headers["x-request-id"])


# Arguments


async def test_members_of_the_path_by_their_names(app: ChatApp) -> None:
    answer = await reply(app, "GET", "/v1/echo/9223372036854775807/%F0%9F%91%8D%2F%2B+")
    assert answer.json["guild_id"] == 9223372036854775807
    assert answer.json["word"] == "👍/++"


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("x", "INVALID_SNOWFLAKE_FORMAT"),
        ("-1", "INVALID_SNOWFLAKE_FORMAT"),
        ("01", "INVALID_SNOWFLAKE_FORMAT"),
        ("9223372036854775808", "SNOWFLAKE_OUT_OF_RANGE"),
    ],
)
async def test_a_path_that_names_no_snowflake(app: ChatApp, text: str, code: str) -> None:
    answer = await reply(app, "GET", f"/v1/echo/{text}/x")
    assert answer.status == 400
    assert answer.json["code"] == "INVALID_FORM_BODY"
    (error,) = answer.json["errors"]
    assert (error["path"], error["code"]) == ("guild_id", code)
    assert error["message"]


@pytest.mark.parametrize(
    ("header", "reason"),
    [
        ("a reason", "a reason"),
        ("  kept%20as is ", "kept%20as is"),
        ("", None),
        ("x" * 512, "x" * 512),
        ("x" * 513, None),
        ("für Łódź: 🙂".encode().decode("latin-1"), "für Łódź: 🙂"),
        ("ü" * 512, "ü" * 512),
        (("ü" * 513).encode().decode("latin-1"), None),
    ],
)
async def test_the_audit_log_reason(app: ChatApp, header: str, reason: str | None) -> None:
    answer = await reply(app, "GET", "/v1/echo/5/x", headers=[("X-Audit-Log-Reason", header)])
    assert answer.json["reason"] == reason


async def test_capabilities_count_with_a_session_only(app: ChatApp, chat_world: World) -> None:
    declared = ("X-Service-Features", " Channel_Threads, bad-name ,view_channel_members_permission," + "x," * 100)

    async def capabilities(*headers: tuple[str, str]) -> list[str]:
        names: list[str] = (await reply(app, "GET", "/v1/echo/5/x", headers=[declared, *headers])).json["capabilities"]
        return names

    assert await capabilities() == []
    assert await capabilities(("Authorization", f"Bot {chat_world.bot.token}")) == []
    assert await capabilities(("Authorization", chat_world.alice.token)) == [
        "channel_threads",
        "view_channel_members_permission",
        "x",
    ]


# Bodies


@pytest.mark.parametrize("chunks", [[], [b""], [b"{}"], [b'{"te', b'xt": nu', b"ll}"]])
async def test_a_body_comes_in_any_number_of_pieces(app: ChatApp, chunks: list[bytes]) -> None:
    answer = await reply(app, "POST", "/v1/text", body=chunks)
    assert answer.json == {"text": None}


async def test_empty_text_is_null_unless_the_operation_says_otherwise(app: ChatApp) -> None:
    assert (await reply(app, "POST", "/v1/text", body=[b'{"text": ""}'])).json == {"text": None}
    assert (await reply(app, "POST", "/v1/text/kept", body=[b'{"text": ""}'])).json == {"text": ""}


async def test_a_large_body_is_parsed_all_the_same(app: ChatApp) -> None:
    text = "x" * LARGE_BODY
    assert (await reply(app, "POST", "/v1/text", body=[b'{"text": "', text.encode(), b'"}'])).json == {"text": text}


@pytest.mark.parametrize("announced", [None, str(JSON_BODY_BYTES + 1), "9" * 30])
async def test_a_body_beyond_the_limit_is_refused_and_the_connection_closes(
    app: ChatApp, announced: str | None
) -> None:
    headers = [] if announced is None else [("Content-Length", announced)]
    answer = await reply(app, "POST", "/v1/text", headers=headers, body=[b" " * 400_000] * 3)
    assert answer.status == 413
    assert answer.json["code"] == "PAYLOAD_TOO_LARGE"
    assert answer.headers["connection"] == "close"


async def test_a_body_of_exactly_the_limit_is_read(app: ChatApp) -> None:
    body = b'{"text": null}'.ljust(JSON_BODY_BYTES)
    assert (await reply(app, "POST", "/v1/text", body=[body])).status == 200


async def test_a_client_that_leaves_in_the_middle_is_not_answered(app: ChatApp) -> None:
    assert await ask(app, "POST", "/v1/text", body=[b'{"text'], gone=True) is None


async def test_a_wrong_body_names_its_fields(app: ChatApp) -> None:
    answer = await reply(app, "POST", "/v1/text", body=[b'{"text": 5}'])
    assert answer.status == 400
    assert answer.json == {
        "code": "INVALID_FORM_BODY",
        "message": answer.json["message"],
        "errors": [{"path": "text", "code": "INVALID_FORMAT", "message": answer.json["errors"][0]["message"]}],
    }


# Our own mistakes


@pytest.fixture
def logged() -> Iterator[list[dict[str, Any]]]:
    with structlog.testing.capture_logs() as entries:
        yield entries


@pytest.mark.parametrize("path", ["/v1/broken", "/v1/broken/group", "/v1/unencodable"])
async def test_whatever_goes_wrong_inside_the_client_learns_only_that(
    app: ChatApp, path: str, logged: list[dict[str, Any]]
) -> None:
    answer = await reply(app, "GET", path, headers=[("X-Request-ID", "the-request")])
    assert answer.status == 500
    assert answer.json["code"] == "INTERNAL_SERVER_ERROR"
    assert set(answer.json) == {"code", "message"}
    assert b"secret" not in answer.body
    assert b"Traceback" not in answer.body
    (entry,) = [entry for entry in logged if entry["log_level"] == "error"]
    assert entry["request_id"] == "the-request"
    assert entry["path"] == path


async def test_a_store_that_fails_is_503(app: ChatApp, chat_server: ChatServer, chat_world: World) -> None:
    chat_server.database.failing = True
    answer = await chat_world.alice.rest.send_message(chat_world.channel_id, "hello")
    assert answer.status == 503
    assert answer.code == "SERVICE_UNAVAILABLE"
    assert answer.header("Retry-After") == "1"


# Who may call


async def test_a_refusal_of_the_credential_comes_before_the_body_is_looked_at(chat_world: World) -> None:
    answer = await chat_world.anyone.post(f"/v1/channels/{chat_world.channel_id}/messages", {"content": 5})
    assert answer.code == "UNAUTHORIZED"


@pytest.mark.rule("000.outcomes.20")
async def test_a_session_needs_no_scope(app: ChatApp, chat_world: World) -> None:
    answer = await reply(app, "GET", "/v1/scoped", headers=[("Authorization", chat_world.alice.token)])
    assert answer.json == {"user_id": chat_world.alice.id}


async def test_a_limited_account_is_kept_from_some_operations(app: ChatApp, chat_world: World) -> None:
    await chat_world.anyone.post(f"/v1/_dev/users/{chat_world.bob.id}", {"flags": str(int(UserFlag.ACCOUNT_LIMITED))})
    headers = [("Authorization", chat_world.bob.token)]
    answer = await reply(app, "POST", "/v1/guilds", headers=headers)
    assert (answer.status, answer.json["code"]) == (403, "ACCOUNT_LIMITED")
    assert (await reply(app, "DELETE", "/v1/text", headers=headers)).status == 204
    assert (await reply(app, "POST", "/v1/guilds", headers=[("Authorization", chat_world.alice.token)])).status == 200


async def test_bots_get_the_code_of_the_operation(app: ChatApp, chat_world: World) -> None:
    answer = await reply(app, "POST", "/v1/guilds", headers=[("Authorization", f"Bot {chat_world.bot.token}")])
    assert (answer.status, answer.json["code"]) == (400, "BOTS_CANNOT_CREATE_GUILDS")


# The bus


async def test_what_changes_something_waits_for_room_on_the_bus_and_what_reads_does_not(
    app: ChatApp, chat_server: ChatServer, autojump_clock: trio.testing.MockClock
) -> None:
    behind = BACKLOG_LIMIT + 1
    chat_server.server.core.bus.backlog = lambda: behind
    assert (await reply(app, "GET", "/v1/echo/5/x")).status == 200
    with trio.move_on_after(10) as scope:
        await reply(app, "POST", "/v1/text")
    assert scope.cancelled_caught
    behind = 0
    assert (await reply(app, "POST", "/v1/text")).status == 200


# What is not the API's


async def test_a_websocket_is_refused(app: ChatApp) -> None:
    sent: list[dict[str, Any]] = []

    async def receive() -> dict[str, Any]:
        await trio.lowlevel.checkpoint()
        return {"type": "websocket.connect"}

    async def send(event: dict[str, Any]) -> None:
        await trio.lowlevel.checkpoint()
        sent.append(event)

    await app({"type": "websocket", "extensions": {"websocket.http.response": {}}}, receive, send)
    assert sent[0]["status"] == 404
    sent.clear()
    await app({"type": "websocket"}, receive, send)
    assert sent == [{"type": "websocket.close", "code": 1000}]


async def test_a_page_that_fails_is_a_500_in_our_form(
    app: ChatApp, logged: list[dict[str, Any]], caplog: pytest.LogCaptureFixture
) -> None:
    @app.get("/page")
    async def page() -> str:
        raise ZeroDivisionError

    with caplog.at_level(logging.CRITICAL):
        answer = await reply(app, "GET", "/page")
    assert (answer.status, answer.json["code"]) == (500, "INTERNAL_SERVER_ERROR")
    assert any(entry["log_level"] == "error" for entry in logged)
    assert "set-cookie" not in answer.headers


async def test_a_method_that_a_page_does_not_take_is_404(app: ChatApp) -> None:
    @app.get("/page")
    async def page() -> str:
        return "hello"

    assert (await reply(app, "GET", "/page")).body == b"hello"
    assert (await reply(app, "POST", "/page")).status == 404
    assert (await reply(app, "GET", "/page/")).status == 404


def test_an_api_error_of_an_unregistered_code_is_our_own_mistake() -> None:
    with pytest.raises(KeyError):
        ApiError("NO_SUCH_CODE")
