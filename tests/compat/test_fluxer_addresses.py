"""The addresses and headers that programs of this family expect (compat.md, Addresses of this family)."""

from __future__ import annotations

import pytest

from chat.testing.http_client import HttpClient, Response
from chat.testing.server import ChatServer
from chat.testing.world import World
from tests.signing_in.signing_in import Holder

SUDO_NAMES = ("X-Service-Sudo-Mode-JWT", "X-Fluxer-Sudo-Mode-JWT")
WELL_KNOWN = ("/.well-known/fluxer", "/api/.well-known/fluxer", "/v1/.well-known/fluxer", "/api/v1/.well-known/fluxer")

off = pytest.mark.chat_settings(**{"compat.fluxer": "off"})


@pytest.mark.parametrize("path", WELL_KNOWN)
async def test_the_discovery_document_names_the_other_address_of_the_api(chat_world: World, path: str) -> None:
    ours = (await chat_world.anyone.get("/.well-known/chat")).expect(200)
    theirs = (await chat_world.anyone.get(path)).expect(200)
    origin = ours["endpoints"]["webapp"]
    api = dict.fromkeys(("api", "api_client", "api_public"), f"{origin}/api")
    assert theirs == {**ours, "endpoints": {**ours["endpoints"], **api}}
    assert ours["endpoints"]["api"] == f"{origin}/v1"


@pytest.mark.parametrize("prefix", ["/v1", "/api", "/api/v1"])
async def test_operations_answer_below_every_prefix(chat_world: World, prefix: str) -> None:
    alice = chat_world.alice.rest
    path = f"{prefix}/channels/{chat_world.channel_id}/messages"
    sent = (await alice.post(path, {"content": "hello"})).expect(200)
    assert (await alice.get(f"{path}/{sent['id']}")).expect(200) == sent
    assert (await alice.request("OPTIONS", path, headers={"Access-Control-Request-Method": "POST"})).status == 204
    assert (await alice.get(f"{path}/5")).code == "UNKNOWN_MESSAGE"
    assert (await alice.get(f"{prefix}/nowhere")).code == "NOT_FOUND"
    assert (await chat_world.anyone.get(path)).status == 401


async def test_a_fault_meets_the_operation_by_whatever_address(chat_world: World) -> None:
    await chat_world.anyone.post(
        "/v1/_dev/faults", {"action": "http", "path": "/v1/users/@me", "status": 503, "times": 1}
    )
    assert (await chat_world.alice.rest.get("/api/users/@me")).status == 503
    assert (await chat_world.alice.rest.get("/api/users/@me")).status == 200


@pytest.mark.parametrize("prefix", ["/webhooks", "/api/webhooks", "/api/v1/webhooks", "/v1/webhooks"])
async def test_webhooks_are_executed_where_programs_send_them(chat_world: World, prefix: str) -> None:
    channel = f"/v1/channels/{chat_world.channel_id}/webhooks"
    webhook = (await chat_world.alice.rest.post(channel, {"name": "Alarm"})).expect(200)
    path = f"{prefix}/{webhook['id']}/{webhook['token']}"
    assert (await chat_world.anyone.post(path, {"content": "no wait"})).status == 204
    sent = (await chat_world.anyone.post(f"{path}?wait=true", {"content": "hello"})).expect(200)
    message = f"{path}/messages/{sent['id']}"
    assert (await chat_world.anyone.patch(message, {"content": "changed"})).expect(200)["content"] == "changed"
    assert (await chat_world.anyone.delete(message)).status == 204
    assert (await HttpClient(chat_world.route).post(f"{path}x", {"content": "hello"})).status == 404


async def sudo_answer(world: World, headers: dict[str, str], **proof: str) -> Response:
    """Of an operation that asks for a proof."""
    body = {"session_id_hashes": [], **proof}
    return await world.bob.rest.request("POST", "/api/auth/sessions/logout", json=body, headers=headers)


async def proved(server: ChatServer, world: World) -> Response:
    """The same with a code of the authenticator app that bob has now."""
    bob = Holder(server, world, world.bob)
    await bob.enable_totp()
    answer = await sudo_answer(world, {}, mfa_method="totp", mfa_code=bob.phone.code())
    assert answer.status == 204
    return answer


async def test_the_sudo_token_goes_by_two_names(chat_server: ChatServer, chat_world: World) -> None:
    answer = await proved(chat_server, chat_world)
    ours, theirs = (answer.header(name) for name in SUDO_NAMES)
    assert ours == theirs is not None
    exposed = str(answer.header("Access-Control-Expose-Headers"))
    assert set(SUDO_NAMES) | {"Retry-After", "X-RateLimit-Remaining"} <= set(exposed.split(", "))
    assert (await sudo_answer(chat_world, {})).code == "SUDO_MODE_REQUIRED"
    for name in SUDO_NAMES:
        assert (await sudo_answer(chat_world, {name: str(ours)})).status == 204
    # Where both are sent, ours counts.
    both = {SUDO_NAMES[0]: "no token", SUDO_NAMES[1]: str(ours)}
    assert (await sudo_answer(chat_world, both)).code == "SUDO_MODE_REQUIRED"


async def test_browsers_may_send_the_second_names(chat_world: World) -> None:
    asked = {"Origin": "https://elsewhere.example", "Access-Control-Request-Method": "GET"}
    answer = await chat_world.anyone.request("OPTIONS", "/v1/users/@me", headers=asked)
    allowed = str(answer.header("Access-Control-Allow-Headers")).split(", ")
    assert {*SUDO_NAMES, "X-Fluxer-Features", "X-Fluxer-Client-Properties"} <= set(allowed)


@off
async def test_nothing_of_it_is_there_when_it_is_off(chat_server: ChatServer, chat_world: World) -> None:
    for path in (*WELL_KNOWN, "/api/gateway/bot", "/api/v1/gateway/bot", "/webhooks/5/token"):
        assert (await HttpClient(chat_world.route).get(path)).status == 404, path
    bob = Holder(chat_server, chat_world, chat_world.bob)
    await bob.enable_totp()
    body = {"session_id_hashes": [], "mfa_method": "totp", "mfa_code": bob.phone.code()}
    answer = await bob.person.rest.post("/v1/auth/sessions/logout", body)
    token = answer.header(SUDO_NAMES[0])
    assert token is not None
    assert answer.header(SUDO_NAMES[1]) is None
    assert "Fluxer" not in str(answer.header("Access-Control-Expose-Headers"))
    body = {"session_id_hashes": []}
    refused = await bob.person.rest.request(
        "POST", "/v1/auth/sessions/logout", json=body, headers={SUDO_NAMES[1]: token}
    )
    assert refused.code == "SUDO_MODE_REQUIRED"
