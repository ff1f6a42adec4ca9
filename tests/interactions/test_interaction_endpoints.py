"""Applications that hear interactions by HTTP in place of the gateway (interactions.md, Interactions by HTTP)."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from typing import Any

import pytest
import structlog
import trio
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from trio.testing import MockClock, wait_all_tasks_blocked

from chat.domain.interactions import endpoint_deliveries
from chat.registries.limits import JSON_BODY_BYTES
from chat.testing.rest_client import Response
from chat.testing.server import ChatServer
from chat.testing.world import World
from tests.interactions.acting import NAME, PING, act, answer, register
from tests.loopback_http import Answer, Asked, LoopbackHttp

PONG = Answer(200, {"type": 1})


def says(content: str, **members: Any) -> Answer:
    """A message as the answer to the request."""
    return Answer(200, {"type": 4, "data": {"content": content, **members}})


class Endpoint(LoopbackHttp):
    """An application's endpoint, which checks signatures as its library would. `says` answers all but pings."""

    def __init__(self, verify_key: str) -> None:
        super().__init__()
        self.key = Ed25519PublicKey.from_public_bytes(bytes.fromhex(verify_key))
        self.verifies = True
        self.pong = PONG
        self.says: Callable[[dict[str, Any]], Answer] = lambda told: says("pong")
        self.held: trio.Event | None = None
        self.heard: list[dict[str, Any]] = []

    @property
    def url(self) -> str:
        return f"{self.origin}/interactions"

    async def answer(self, asked: Asked) -> Answer:
        signature = bytes.fromhex(asked.headers["x-signature-ed25519"])
        try:
            self.key.verify(signature, asked.headers["x-signature-timestamp"].encode() + asked.body)
        except InvalidSignature:
            if self.verifies:
                return Answer(401, b"invalid request signature")
        told = asked.json()
        if told["type"] == 1:
            return self.pong
        self.heard.append(told)
        if self.held is not None:
            await self.held.wait()
        return self.says(told)


@pytest.fixture
async def endpoint(chat_world: World) -> AsyncIterator[Endpoint]:
    own = (await chat_world.bot.rest.get("/v1/applications/@me")).expect(200)
    async with Endpoint(own["verify_key"]).running() as running:
        yield running


async def set_address(world: World, url: str | None) -> Response:
    """Alice names the endpoint of her application."""
    path = f"/v1/oauth2/applications/{world.bot.application_id}"
    return await world.alice.rest.patch(path, {"interactions_endpoint_url": url})


async def pinged(world: World, command: dict[str, Any], **members: Any) -> None:
    """Bob invokes the command."""
    (await act(world.bob, world, 2, {"id": command["id"], "options": [NAME]}, **members)).expect(204)


async def test_an_address_is_set_once_it_has_answered_and_refused(chat_world: World, endpoint: Endpoint) -> None:
    changed = (await set_address(chat_world, endpoint.url)).expect(200)
    assert changed["interactions_endpoint_url"] == endpoint.url
    first, second = [asked.json() for asked in endpoint.requests]
    assert first["type"] == second["type"] == 1
    assert first["application_id"] == chat_world.bot.application_id
    own = (await chat_world.bot.rest.get("/v1/applications/@me")).expect(200)
    assert (own["verify_key"], own["interactions_endpoint_url"]) == (changed["verify_key"], endpoint.url)
    (await set_address(chat_world, endpoint.url)).expect(200)
    assert len(endpoint.requests) == 2, "what does not change is not asked again"
    assert (await set_address(chat_world, None)).expect(200)["interactions_endpoint_url"] is None


async def test_each_application_has_a_key_of_its_own_that_stays(chat_server: ChatServer, chat_world: World) -> None:
    made = (await chat_world.alice.rest.post("/v1/oauth2/applications", {"name": "Other"})).expect(200)
    listed = (await chat_world.alice.rest.get("/v1/oauth2/applications/@me")).expect(200)
    keys = {each["id"]: each["verify_key"] for each in listed}
    assert keys[made["id"]] == made["verify_key"] != keys[chat_world.bot.application_id]
    await chat_server.restart()
    again = (await chat_world.alice.rest.get("/v1/oauth2/applications/@me")).expect(200)
    assert {each["id"]: each["verify_key"] for each in again} == keys


def code_of(refused: Response) -> str:
    """Why the address was refused."""
    (error,) = refused.json()["errors"]
    assert (refused.status, error["path"]) == (400, "interactions_endpoint_url")
    return str(error["code"])


@pytest.mark.parametrize(
    ("url", "code"),
    [
        ("gopher://example.com/", "INVALID_FORMAT"),
        ("https://user@example.com/", "INVALID_FORMAT"),
        ("https://example.com:22/", "INVALID_FORMAT"),
        ("http://127.0.0.1:1/", "INVALID_FORMAT"),
        ("http://127.0.0.1:65533/", "INTERACTIONS_ENDPOINT_UNREACHABLE"),
        ("https://10.0.0.7/", "INTERACTIONS_ENDPOINT_UNREACHABLE"),
        ("http://[::ffff:10.0.0.7]/", "INTERACTIONS_ENDPOINT_UNREACHABLE"),
        ("http://169.254.169.254/latest/meta-data", "INTERACTIONS_ENDPOINT_UNREACHABLE"),
    ],
)
async def test_addresses_that_may_not_be_asked(chat_world: World, url: str, code: str) -> None:
    assert code_of(await set_address(chat_world, url)) == code


@pytest.mark.chat_settings(**{"interactions.private_networks_allowed": ()})
async def test_this_machine_is_asked_only_where_the_operator_allows_it(chat_world: World, endpoint: Endpoint) -> None:
    assert code_of(await set_address(chat_world, endpoint.url)) == "INTERACTIONS_ENDPOINT_UNREACHABLE"
    assert endpoint.requests == []


@pytest.mark.parametrize(
    "pong",
    [
        Answer(204, b""),
        Answer(200, b"no JSON"),
        Answer(200, [1]),
        Answer(200, {"type": 4}),
        Answer(500, {"type": 1}),
        Answer(302, b"", (("Location", "/elsewhere"),)),
    ],
)
async def test_an_endpoint_that_does_not_answer_a_ping(chat_world: World, endpoint: Endpoint, pong: Answer) -> None:
    endpoint.pong = pong
    assert code_of(await set_address(chat_world, endpoint.url)) == "INTERACTIONS_ENDPOINT_WITHOUT_PONG"
    assert len(endpoint.requests) == 1, "no redirect is followed"


async def test_an_endpoint_that_believes_any_signature(chat_world: World, endpoint: Endpoint) -> None:
    endpoint.verifies = False
    assert code_of(await set_address(chat_world, endpoint.url)) == "INTERACTIONS_ENDPOINT_NOT_VERIFYING"
    own = (await chat_world.bot.rest.get("/v1/applications/@me")).expect(200)
    assert own["interactions_endpoint_url"] is None


@pytest.mark.parametrize(
    "pong",
    [
        Answer(200, b" " * (JSON_BODY_BYTES + 1)),
        Answer(200, {"type": 1}, (("Content-Encoding", "gzip"),)),
        Answer(200, {"type": 1}, (("Content-Length", "10000"),)),
    ],
)
async def test_an_answer_that_cannot_be_read(chat_world: World, endpoint: Endpoint, pong: Answer) -> None:
    endpoint.pong = pong
    assert code_of(await set_address(chat_world, endpoint.url)) == "INTERACTIONS_ENDPOINT_UNREACHABLE"


async def test_an_endpoint_that_is_silent_when_it_is_set(
    mock_clock: MockClock, chat_world: World, endpoint: Endpoint
) -> None:
    mock_clock.rate = 1
    endpoint.pong = Answer(200, b"", (("Content-Length", "100"), ("Connection", "keep-alive")))

    async def never(asked: Asked) -> Answer:
        mock_clock.jump(3)
        await trio.sleep_forever()
        raise AssertionError

    endpoint.answer = never  # type: ignore[method-assign]
    assert code_of(await set_address(chat_world, endpoint.url)) == "INTERACTIONS_ENDPOINT_UNREACHABLE"


# Interactions


async def until(holds: Callable[[], bool]) -> None:
    """What comes over sockets takes no virtual time."""
    while not holds():
        await trio.lowlevel.checkpoint()


def reasons(logged: Sequence[Mapping[str, Any]]) -> list[str]:
    """Why endpoints did not answer, as the log has it."""
    return [each["reason"] for each in logged if each["event"] == "endpoint did not answer"]


@pytest.fixture
async def command(chat_world: World, endpoint: Endpoint) -> dict[str, Any]:
    """A command of an application that hears by HTTP."""
    (await set_address(chat_world, endpoint.url)).expect(200)
    return (await register(chat_world, PING))[0]


async def test_the_answer_to_the_request_is_the_answer(
    chat_world: World, endpoint: Endpoint, command: dict[str, Any]
) -> None:
    at_bot, at_bob = await chat_world.bot.connect(), await chat_world.bob.connect()
    await pinged(chat_world, command, session_id=at_bob.session_id)
    assert (await at_bob.expect("INTERACTION_CREATE")).data["nonce"] == "n"
    shown = (await at_bob.expect("MESSAGE_CREATE")).data
    (told,) = endpoint.heard
    assert (shown["content"], shown["interaction_metadata"]["id"]) == ("pong", told["id"])
    assert (await at_bob.expect("INTERACTION_SUCCESS")).data == {"id": told["id"], "nonce": "n"}
    assert (told["data"]["name"], told["member"]["user"]["id"]) == ("ping", chat_world.bob.id)
    assert told["member"]["flags"] == 0, "the second mount is on, so it has what libraries demand"
    changed = await chat_world.anyone.patch(
        f"/v1/webhooks/{told['application_id']}/{told['token']}/messages/@original", {"content": "later"}
    )
    assert changed.expect(200)["id"] == shown["id"]
    again = await answer(chat_world, told, 4, {"content": "again"})
    assert again.code == "INTERACTION_ALREADY_ACKNOWLEDGED"
    assert [each.name for each in at_bot.dispatches if each.name == "INTERACTION_CREATE"] == []


async def test_choices_forms_and_components_by_http(
    chat_world: World, endpoint: Endpoint, command: dict[str, Any]
) -> None:
    at_bob = await chat_world.bob.connect()
    session = {"session_id": at_bob.session_id}
    finding = {"type": 3, "name": "word", "description": "d", "autocomplete": True}
    [find] = await register(chat_world, {**PING, "name": "find", "options": [finding]})
    endpoint.says = lambda told: Answer(200, {"type": 8, "data": {"choices": [{"name": "a", "value": "b"}]}})
    typed = {"id": find["id"], "options": [{"name": "word", "value": "w", "focused": True}]}
    (await act(chat_world.bob, chat_world, 4, typed, **session)).expect(204)
    assert (await at_bob.expect("INTERACTION_AUTOCOMPLETE")).data["choices"] == [{"name": "a", "value": "b"}]
    button = {"type": 1, "components": [{"type": 2, "style": 1, "label": "Go", "custom_id": "go"}]}
    endpoint.says = lambda told: says("press", components=[button])
    (await act(chat_world.bob, chat_world, 2, {"id": find["id"]}, **session)).expect(204)
    shown = (await at_bob.expect("MESSAGE_CREATE")).data
    field = {"type": 1, "components": [{"type": 4, "style": 1, "label": "Why", "custom_id": "why"}]}
    form = {"custom_id": "form", "title": "Form", "components": [field]}
    endpoint.says = lambda told: Answer(200, {"type": 9, "data": form})
    pressed = {"custom_id": "go"}
    (await act(chat_world.bob, chat_world, 3, pressed, message_id=shown["id"], **session)).expect(204)
    assert (await at_bob.expect("INTERACTION_MODAL_CREATE")).data["title"] == "Form"
    assert endpoint.heard[-1]["message"]["id"] == shown["id"]


@pytest.mark.parametrize("status", [202, 204])
async def test_an_endpoint_may_answer_at_the_address_of_callbacks(
    chat_world: World, endpoint: Endpoint, command: dict[str, Any], status: int
) -> None:
    endpoint.says = lambda told: Answer(status, b"")
    at_bob = await chat_world.bob.connect()
    await pinged(chat_world, command)
    await at_bob.expect("INTERACTION_CREATE")
    await until(lambda: bool(endpoint.heard))
    (await answer(chat_world, endpoint.heard[0], 4, {"content": "by itself"})).expect(204)
    assert (await at_bob.expect("MESSAGE_CREATE")).data["content"] == "by itself"


async def test_a_further_answer_waits_for_the_first(
    chat_world: World, endpoint: Endpoint, command: dict[str, Any]
) -> None:
    endpoint.held = trio.Event()
    at_bob = await chat_world.bob.connect()
    async with trio.open_nursery() as nursery:
        await pinged(chat_world, command)
        await until(lambda: bool(endpoint.heard))
        told = endpoint.heard[0]

        async def follow_up() -> None:
            more = f"/v1/webhooks/{told['application_id']}/{told['token']}"
            (await chat_world.anyone.post(more, {"content": "more"})).expect(200)

        nursery.start_soon(follow_up)
        await wait_all_tasks_blocked()
        endpoint.held.set()
    assert [(await at_bob.expect("MESSAGE_CREATE")).data["content"] for _ in range(2)] == ["pong", "more"]


async def test_an_endpoint_that_sends_further_answers_before_the_first_is_refused(
    mock_clock: MockClock, chat_world: World, endpoint: Endpoint, command: dict[str, Any]
) -> None:
    mock_clock.rate = 1
    endpoint.held = trio.Event()
    await pinged(chat_world, command)
    await until(lambda: bool(endpoint.heard))
    told = endpoint.heard[0]
    more = f"/v1/webhooks/{told['application_id']}/{told['token']}"
    refused = await chat_world.anyone.post(more, {"content": "more"})
    assert refused.code == "UNKNOWN_INTERACTION"
    endpoint.held.set()


@pytest.mark.parametrize(
    ("said", "reason"),
    [
        (Answer(404, b""), "it answers 404"),
        (Answer(200, b""), "its answer is wrong"),
        (Answer(200, b"[" * 10_000), "its answer is wrong"),
        (Answer(200, {"type": 1}), "its answer is wrong"),
        (Answer(200, {"type": 8, "data": {"choices": []}}), "its answer is wrong"),
        (Answer(200, {"type": 4, "data": {}}), "its answer is refused"),
        (Answer(200, {"type": 4, "data": {"content": "x" * 5_000}}), "its answer is wrong"),
        (Answer(200, b" " * (JSON_BODY_BYTES + 1)), "its answer is too long"),
    ],
)
async def test_what_is_no_answer_is_told_and_counts_as_none(
    mock_clock: MockClock, chat_world: World, endpoint: Endpoint, command: dict[str, Any], said: Answer, reason: str
) -> None:
    mock_clock.rate = 1
    endpoint.says = lambda told: said
    at_bob = await chat_world.bob.connect()
    with structlog.testing.capture_logs() as logged:
        await pinged(chat_world, command)
        await until(lambda: bool(reasons(logged)))
    assert reasons(logged) == [reason]
    assert endpoint.heard[0]["token"] not in str(logged)
    mock_clock.jump(3.1)
    assert (await at_bob.expect("INTERACTION_FAILURE")).data["reason_code"] == 1


async def test_an_endpoint_that_never_answers_is_asked_a_few_times_at_once(
    mock_clock: MockClock, chat_world: World, endpoint: Endpoint, command: dict[str, Any]
) -> None:
    mock_clock.rate = 1
    endpoint.held = trio.Event()
    at_bob = await chat_world.bob.connect()
    for _ in range(endpoint_deliveries.AT_A_TIME_OF_ONE + 2):
        await pinged(chat_world, command)
    await until(lambda: len(endpoint.heard) == endpoint_deliveries.AT_A_TIME_OF_ONE)
    mock_clock.jump(3.1)
    for _ in range(endpoint_deliveries.AT_A_TIME_OF_ONE + 2):
        assert (await at_bob.expect("INTERACTION_FAILURE")).data["reason_code"] == 1
    assert len(endpoint.heard) == endpoint_deliveries.AT_A_TIME_OF_ONE
    endpoint.held.set()


async def test_one_too_many_is_told(
    monkeypatch: pytest.MonkeyPatch, chat_world: World, endpoint: Endpoint, command: dict[str, Any]
) -> None:
    monkeypatch.setattr(endpoint_deliveries, "WAITING", 1)
    endpoint.held = trio.Event()
    with structlog.testing.capture_logs() as logged:
        await pinged(chat_world, command)
        await pinged(chat_world, command)
    assert reasons(logged) == ["too many interactions wait"]
    endpoint.held.set()


async def test_a_restart_sends_what_was_not_answered_once_more(
    mock_clock: MockClock, chat_server: ChatServer, chat_world: World, endpoint: Endpoint, command: dict[str, Any]
) -> None:
    mock_clock.rate = 0.1  # so that three seconds are enough on any machine
    endpoint.held = trio.Event()
    at_bob = await chat_world.bob.connect()
    await pinged(chat_world, command, session_id=at_bob.session_id)
    await until(lambda: bool(endpoint.heard))
    endpoint.held = None
    await chat_server.restart()
    again = await chat_world.bob.resume(at_bob)
    assert (await again.expect("MESSAGE_CREATE")).data["content"] == "pong"
    first, second = endpoint.heard
    assert first == second
    await chat_server.restart()
    assert len(endpoint.heard) == 2, "what was answered is not sent again"
