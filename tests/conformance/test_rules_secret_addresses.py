"""Addresses that are secrets, and what a credential beside them means: nothing (document 000, Credential forms 5, and
Gateway and other surfaces 2 and 3).

Area: conformance. Rules: 000.credentials, 000.surfaces.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any, Final

import attrs
import pytest
import structlog
import trio
import trio.testing

from chat.testing.network import TcpRoute
from chat.testing.rest_client import Response, RestClient
from chat.testing.server import ChatServer
from chat.testing.world import World
from tests.conformance.presented_credentials import Issuer
from tests.conformance.raw_requests import Headers, RawClient
from tests.durability.server_process import running
from tests.messages.outside_server import OutsideServer, outside, plain
from tests.spec.ledger import proves
from tests.webhooks.surfaces import (
    FORM_HEADERS,
    data_uri,
    fetch,
    form,
    new_webhook,
    png,
    post_form,
    promised,
    target,
    webhook_path,
)

PRESENTED: Final = (
    "nothing",
    "an empty header",
    "Bot alone",
    "an unknown scheme",
    "bytes beyond ASCII",
    "Bot and two blanks",
    "two sessions",
    "the same session twice",
    "a session and a bot",
    "an unknown session",
)
"""Ways to present no credential or a bad one, of `Issuer`."""

FAR: Final = {"media.private_networks_allowed": ("127.0.0.0/8",)}
CANARY: Final = "c4n4ry" * 7 + "Z"


async def every_authorization(world: World, server: ChatServer) -> list[Headers]:
    """Credentials of every kind, good ones, bad ones, doubled ones."""
    issuer = Issuer(world, server)
    stranger = await issuer.person(acls=("*",))
    good = [
        world.alice.token,
        f"Bearer {world.bob.token}",
        f"Bot {world.bot.token}",
        f"Admin {world.admin_key}",
        await issuer.session(stranger),
        f"Bearer {await issuer.access_token(stranger, scopes=('identify',))}",
        f"Bearer {await issuer.access_token(stranger, scopes=('identify',), expired=True)}",
        await issuer.session(stranger, revoked=True),
        f"Bot {await issuer.bot_token(rotated=True)}",
    ]
    presented: list[Headers] = [[("Authorization", value.encode())] for value in good]
    return presented + [await issuer.present(name) for name in PRESENTED]


def told(answer: Response) -> tuple[object, ...]:
    """An answer without what differs between any two."""
    varying = {
        "date",
        "cache-control",
        "x-request-id",
        "x-ratelimit-remaining",
        "x-ratelimit-reset",
        "x-ratelimit-reset-after",
    }
    return answer.status, tuple(header for header in answer.headers if header[0] not in varying), answer.body


@pytest.fixture
async def raw(chat_server: ChatServer) -> AsyncIterator[RawClient]:
    client = RawClient(chat_server.route())
    yield client
    await client.aclose()


# Webhooks


@pytest.mark.rule("000.surfaces.5", "000.surfaces.6", "000.credentials.23")
async def test_a_webhooks_address_is_all_it_takes_and_authorization_is_nothing_to_it(
    chat_world: World, chat_server: ChatServer, raw: RawClient
) -> None:
    webhook = await new_webhook(chat_world.alice.rest, chat_world.channel_id)
    other = await new_webhook(chat_world.alice.rest, chat_world.channel_id)
    path = webhook_path(webhook)
    wrong = f"/v1/webhooks/{webhook['id']}/{other['token']}"
    body = b'{"content": "heard"}'
    kind = ("Content-Type", b"application/json")
    shown: set[tuple[object, ...]] = set()
    refused: set[tuple[object, ...]] = set()
    for turn, authorization in enumerate(await every_authorization(chat_world, chat_server)):
        said = await raw.request("POST", f"{path}?wait=true", [*authorization, kind], body)
        assert said.status == 200, authorization
        assert (said.json()["author"]["id"], said.json()["webhook_id"]) == (webhook["id"], webhook["id"])
        message = f"{path}/messages/{said.json()['id']}"
        assert (await raw.request("GET", message, authorization)).status == 200
        assert (await raw.request("PATCH", message, [*authorization, kind], b'{"content": "x"}')).status == 200
        if turn:
            assert (await raw.request("DELETE", message, authorization)).status == 204
        shown.add(told(await raw.request("GET", path, authorization)))
        for method, missing in (
            ("POST", wrong),
            ("GET", wrong),
            ("PATCH", wrong),
            ("DELETE", wrong),
            ("POST", f"/v1/webhooks/{webhook['id']}"),
        ):
            answer = await raw.request(method, missing, [*authorization, kind], body)
            assert answer.status == 404, (method, authorization)
            refused.add((method, missing, *told(answer)))
    assert len(shown) == 1
    assert len(refused) == 5
    assert len((await chat_world.bob.rest.messages(chat_world.channel_id)).expect(200)) == 1
    changed = await raw.request("PATCH", path, [kind], b'{"name": "Bell"}')
    assert changed.json()["name"] == "Bell"
    assert (await raw.request("DELETE", path, [])).status == 204


@pytest.mark.rule("000.surfaces.6")
async def test_a_bans_worth_of_wrong_credentials_does_not_hinder_a_webhook(
    chat_world: World, chat_server: ChatServer
) -> None:
    webhook = await new_webhook(chat_world.alice.rest, chat_world.channel_id)
    stranger = RestClient(chat_server.route("10.9.8.7"), token="cht_" + "x" * 36)
    for _ in range(40):
        (await stranger.post(webhook_path(webhook), {"content": "x"})).expect(204)
    await stranger.aclose()


@pytest.mark.chat_settings(rate_limits=True)
@pytest.mark.rule("000.surfaces.6")
async def test_authorization_does_not_choose_whose_requests_are_counted(
    chat_world: World, chat_server: ChatServer, raw: RawClient, autojump_clock: trio.testing.MockClock
) -> None:
    webhook = await new_webhook(chat_world.alice.rest, chat_world.channel_id)
    authorizations = await every_authorization(chat_world, chat_server)
    kind = ("Content-Type", b"application/json")
    remaining = []
    for number in range(31):
        headers = [*authorizations[number % len(authorizations)], kind]
        answer = await raw.request("POST", webhook_path(webhook), headers, b'{"content": "x"}')
        remaining.append((answer.status, answer.header("X-RateLimit-Remaining")))
    assert remaining == [(204, str(left)) for left in range(29, -1, -1)] + [(429, "0")]
    # Nobody's session was ended by that, and nobody's own requests were counted.
    (await chat_world.alice.rest.get("/v1/users/@me")).expect(200)


# Media


@pytest.mark.chat_settings(**FAR)
async def test_authorization_changes_nothing_for_media(
    chat_world: World, chat_server: ChatServer, raw: RawClient
) -> None:
    async with outside({"/a.png": plain(png(9, 9))}) as server:
        media = await Media.make(chat_world, chat_server, server)
        expected: dict[str, tuple[object, ...]] = {}
        for authorization in await every_authorization(chat_world, chat_server):
            for path in (*media.good, *media.bad):
                answer = await raw.request("GET", path, authorization)
                with proves("000.surfaces.9", "000.surfaces.10", "000.surfaces.11"):
                    assert answer.status == (200 if path in media.good else 404), (path, authorization)
                if path in media.good:
                    assert answer.body == media.good[path]
                with proves("000.surfaces.7", "000.surfaces.8"):
                    assert told(answer) == expected.setdefault(path, told(answer))
        assert len({expected[path] for path in media.bad}) == 1


@pytest.mark.rule("000.surfaces.8", "000.surfaces.11", "000.credentials.25")
async def test_an_uploads_address_is_all_it_takes(chat_world: World, chat_server: ChatServer, raw: RawClient) -> None:
    for authorization in await every_authorization(chat_world, chat_server):
        for method in ("PUT", "POST"):
            (upload,) = await promised(chat_world.bob.rest, chat_world.channel_id, ("a.png", len(png())))
            address = target(upload["upload_url"])
            for wrong in (address[:-1], address + "A", address.rpartition("/")[0] + "/" + CANARY):
                answer = await raw.request(method, wrong, authorization, png())
                assert (answer.status, answer.code) == (404, "NOT_FOUND")
            assert (await raw.request(method, address, authorization, png())).status == 200
            assert (await raw.request("GET", address, authorization)).body == png()
            assert (await raw.request(method, address, authorization, png())).status == 404
            reference = {"id": "0", "uploaded_filename": upload["upload_filename"]}
            path = f"/v1/channels/{chat_world.channel_id}/messages"
            (await chat_world.bob.rest.post(path, {"attachments": [reference]})).expect(200)


@attrs.frozen
class Media:
    """Paths of media with what they hold, and paths that are wrong in one thing."""

    good: dict[str, bytes]
    bad: tuple[str, ...]

    @classmethod
    async def make(cls, world: World, chat_server: ChatServer, server: OutsideServer) -> Media:
        webhook = await new_webhook(world.alice.rest, world.channel_id, avatar=data_uri(png()))
        avatar = f"/media/avatars/{webhook['id']}/{webhook['avatar']}.png"
        path = f"/v1/channels/{world.channel_id}/messages"
        sent = (await post_form(world.bob.rest, path, form([("f", "a.png", png(4, 4))]))).expect(200)
        attachment = target(sent["attachments"][0]["url"])
        external = target(chat_server.server.areas.policy.media.addresses.external(f"{server.origin}/a.png"))
        (upload,) = await promised(world.bob.rest, world.channel_id, ("b.png", len(png(5, 5))))
        relay = target(upload["upload_url"])
        (await world.anyone.request("PUT", relay, body=png(5, 5))).expect(200)
        signature, name = external.split("/")[-2:]
        return cls(
            {avatar: png(), attachment: png(4, 4), external: png(9, 9), relay: png(5, 5)},
            (
                avatar.replace(webhook["avatar"], "0" * 32),
                attachment.partition("?")[0],
                attachment[:-2] + ("00" if attachment[-2:] != "00" else "11"),
                f"/media/external/{CANARY}/{name}",
                f"/media/external/{signature}/aHR0cDovLzEyNy4wLjAuMS8",
                f"/media/relay/{CANARY}",
                "/media/relay/" + relay.rpartition("/")[2][:-1],
            ),
        )


@pytest.mark.rule("000.surfaces.9")
async def test_a_stored_objects_path_is_all_that_addresses_it(chat_world: World, chat_server: ChatServer) -> None:
    webhook = await new_webhook(chat_world.alice.rest, chat_world.channel_id, avatar=data_uri(png()))
    path = f"/media/avatars/{webhook['id']}/{webhook['avatar']}.png"
    elsewhere = RestClient(chat_server.route("10.1.2.3"))
    shown = await elsewhere.get(path)
    assert (shown.status, shown.body) == (200, png())
    assert (await elsewhere.get(path.replace(webhook["id"], chat_world.alice.id))).status == 404
    await elsewhere.aclose()


@pytest.mark.rule("000.credentials.24")
async def test_a_signed_path_is_all_it_takes_as_long_as_it_holds(
    chat_world: World, chat_server: ChatServer, autojump_clock: trio.testing.MockClock
) -> None:
    path = f"/v1/channels/{chat_world.channel_id}/messages"
    sent = (await post_form(chat_world.bob.rest, path, form([("f", "a.png", png())]))).expect(200)
    url = sent["attachments"][0]["url"]
    elsewhere = RestClient(chat_server.route("10.1.2.3"))
    assert (await fetch(elsewhere, url)).body == png()
    (await chat_world.bob.rest.logout()).expect(204)
    assert (await fetch(elsewhere, url)).body == png()
    # What the path does not hold does not help: neither its plain part, nor a credential of a member.
    unsigned = target(url).partition("?")[0]
    assert (await elsewhere.get(unsigned)).status == 404
    assert (await chat_world.alice.rest.get(unsigned)).status == 404
    await trio.sleep(36 * 3_600 + 1)
    assert (await fetch(elsewhere, url)).status == 404
    assert (await fetch(chat_world.alice.rest, url)).status == 404
    await elsewhere.aclose()


@pytest.mark.chat_settings(**FAR)
@pytest.mark.rule("000.surfaces.10")
async def test_outside_media_need_the_signature(chat_world: World, chat_server: ChatServer) -> None:
    async with outside({"/a.png": plain(png(9, 9))}) as server:
        address = target(chat_server.server.areas.policy.media.addresses.external(f"{server.origin}/a.png"))
        signature, name = address.split("/")[-2:]
        for wrong in (CANARY, signature[:-1], signature.swapcase(), name):
            answer = await chat_world.alice.rest.get(f"/media/external/{wrong}/{name}")
            assert (answer.status, answer.code) == (404, "NOT_FOUND")
        assert server.requests == []
        assert (await chat_world.anyone.get(address)).body == png(9, 9)


# What becomes of the addresses


@attrs.define
class Listener:
    """Performs requests below secret addresses in every way there is, and keeps what was said."""

    client: RestClient
    secrets: list[str]
    paths: list[str]
    answers: list[Response] = attrs.field(factory=list)

    async def ask_everything(self) -> None:
        for path in self.paths:
            plain_path = path.partition("?")[0]
            for asked in (
                path,
                f"{plain_path}/",
                f"/{path}",
                path.replace("/", "//", 2),
                path.replace("/v1/", "/V1/").replace("/media/", "/Media/"),
                f"{plain_path}/.",
                f"{plain_path}/../x",
                f"{plain_path}%2f",
                f"{plain_path}?wait=perhaps&ex=1",
                f"{plain_path}#fragment",
            ):
                for method in ("GET", "POST"):
                    await self.ask(method, asked)
            for method in ("HEAD", "PUT", "PATCH", "OPTIONS", "TRACE", "PROPFIND"):
                await self.ask(method, path)
            await self.ask("GET", path, headers={"Range": "bytes=99999999-"})
            await self.ask("GET", path, headers={"Range": "bytes=0-1"})
            await self.ask("GET", path, headers={"If-None-Match": "*"})
            await self.ask("POST", path, body=b"{", headers={"Content-Type": "application/json"})
            await self.ask("POST", path, body=b"x", headers=FORM_HEADERS)
            await self.ask("POST", path, body=form([("f", "a", b"x")]), headers=FORM_HEADERS)
            await self.ask("PATCH", path, body=b"[]", headers={"Content-Type": "application/json"})
            await self.ask("PUT", path, body=b"x" * 2_000)

    async def ask(self, method: str, path: str, **options: Any) -> Response:
        answer = await self.client.request(method, path, **options)
        self.answers.append(answer)
        return answer


async def listener(world: World, channel_id: str, client: RestClient, *, external: str | None) -> Listener:
    """One secret address of each kind, a good and a bad one."""
    webhook = await new_webhook(world.alice.rest, channel_id, avatar=data_uri(png()))
    body = {"content": "x"}
    said = (await client.post(f"{webhook_path(webhook)}?wait=true", body)).expect(200)
    path = f"/v1/channels/{channel_id}/messages"
    sent = (await post_form(world.bob.rest, path, form([("f", "a.png", png(4, 4))]))).expect(200)
    attachment = target(sent["attachments"][0]["url"])
    first, second = await promised(world.bob.rest, channel_id, ("b.png", len(png())), ("c.png", 1_000))
    (await client.request("PUT", target(first["upload_url"]), body=png())).expect(200)
    relays = [target(upload["upload_url"]) for upload in (first, second)]
    paths = [
        f"{webhook_path(webhook)}/messages/{said['id']}",
        webhook_path(webhook),
        attachment,
        *relays,
        f"/v1/webhooks/{webhook['id']}/{CANARY}",
        f"/media/relay/{CANARY}",
        f"/media/external/{CANARY}/{CANARY}",
        attachment.partition("&hm=")[0] + f"&hm={CANARY}",
    ]
    secrets = [
        webhook["token"],
        attachment.partition("&hm=")[2],
        *(relay.rpartition("/")[2] for relay in relays),
        CANARY,
    ]
    if external is not None:
        paths.append(external)
        secrets.extend(external.split("/")[-2:])
    return Listener(client, secrets, paths)


@pytest.mark.chat_settings(**FAR)
@pytest.mark.rule("000.credentials.26", "000.credentials.28")
async def test_no_answer_below_a_secret_address_leads_elsewhere_or_lets_it_be_told(
    chat_world: World, chat_server: ChatServer, raw: RawClient
) -> None:
    async with outside({"/a.png": plain(png(9, 9))}) as server:
        external = target(chat_server.server.areas.policy.media.addresses.external(f"{server.origin}/a.png"))
        heard = await listener(chat_world, chat_world.channel_id, chat_world.anyone, external=external)
        await heard.ask_everything()
    await chat_world.anyone.node(storage_failing=True)
    await heard.ask_everything()
    for path in heard.paths:
        fault = {"action": "http", "path": path.partition("?")[0], "status": 500, "times": 1}
        (await chat_world.anyone.post("/v1/_dev/faults", fault)).expect(200)
        assert (await heard.ask("GET", path)).status == 500
        stream = await chat_server.route().connect()
        await stream.send_all(f"GET {path} HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: gzip\r\n\r\n".encode())
        broken = bytes(await stream.receive_some(65_536))
        assert broken.startswith((b"HTTP/1.1 400", b"HTTP/1.1 501"))
        assert b"\r\nreferrer-policy: no-referrer\r\n" in broken.lower()
        assert b"\r\nlocation:" not in broken.lower()
        await trio.aclose_forcefully(stream)
    assert {answer.status for answer in heard.answers} >= {200, 204, 206, 304, 400, 404, 413, 416, 500, 502, 503}
    for answer in heard.answers:
        assert answer.header("location") is None
        assert answer.header("refresh") is None
        assert answer.header("referrer-policy") == "no-referrer"
        assert b"<html" not in answer.body.lower()
        served = answer.header("content-type")
        assert served in {None, "application/json", "image/png"}, served


@pytest.mark.chat_settings(**FAR)
@pytest.mark.rule("000.credentials.27")
async def test_no_secret_address_reaches_the_log_even_before_its_redaction(
    chat_world: World, chat_server: ChatServer, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(0)
    with structlog.testing.capture_logs() as entries:
        async with outside({}) as server:
            external = target(chat_server.server.areas.policy.media.addresses.external(f"{server.origin}/gone.png"))
        heard = await listener(chat_world, chat_world.channel_id, chat_world.anyone, external=external)
        await heard.ask_everything()
        assert any(answer.status == 502 for answer in heard.answers)
        # Even a failure of ours, with its traceback, does not name the address.
        areas = chat_server.server.areas
        await chat_server.database.write(lambda connection: void(connection.execute("DROP TABLE webhooks")))
        assert areas.webhooks.webhooks is not None
        for path in heard.paths[:2]:
            assert (await heard.ask("GET", path)).status == 500
    assert any(entry["event"] == "request failed" for entry in entries)
    logged = repr(entries) + caplog.text
    for secret in heard.secrets:
        assert secret not in logged


@pytest.mark.rule("000.credentials.27")
async def test_the_log_of_a_process_holds_no_secret_address(tmp_path: Path) -> None:
    log = tmp_path / "log"
    with log.open("wb") as stream:
        async with (
            running(tmp_path / "data", log=stream, CHAT_LOG_LEVEL="debug") as server,
            trio.open_nursery() as nursery,
        ):
            route = TcpRoute.of(server.world["base_url"])
            world = World(server.world, route, nursery)
            heard = await listener(world, server.channel_id, world.anyone, external=None)
            await heard.ask_everything()
            for path in heard.paths:
                for cut in ("", "\r\nContent-Length: 5000\r\nContent-Type: multipart/form-data; boundary=x"):
                    broken = await route.connect()
                    await broken.send_all(f"POST {path} HTTP/1.1\r\nHost: x{cut}\r\n\r\n--x".encode())
                    await trio.sleep(0.01)
                    await trio.aclose_forcefully(broken)
            await world.aclose()
            nursery.cancel_scope.cancel()
    text = log.read_text(encoding="utf-8")
    for secret in heard.secrets:
        assert secret not in text


def void(_: object) -> None:
    """Nothing."""
