"""What links lead to: asked for on its own, and shown below messages."""

from __future__ import annotations

import json
from typing import Any

import h11
import pytest
import trio
import trio.testing

from chat.domain.messages.links import AT_A_TIME, FOUND_MS, NOTHING_MS, WAITING_MAXIMUM
from chat.testing.rest_client import Response
from chat.testing.server import ChatServer
from chat.testing.world import Person, World
from tests.messages.outside_server import Answering, OutsideServer, outside, plain
from tests.threads.thread_world import knowing, thread, watch
from tests.webhooks.surfaces import fetch, new_webhook, png, webhook_path

HERE = {"media.private_networks_allowed": ("127.0.0.0/8",), "media.link_embeds": True}

SUPPRESS = 1 << 2
EMBED_LINKS = 1 << 14
READ_MESSAGE_HISTORY = 1 << 16

pytestmark = pytest.mark.chat_settings(**HERE)


def html(text: str) -> Answering:
    """A page."""
    return plain(text.encode(), headers=(("Content-Type", "text/html; charset=utf-8"),))


def titled(title: str) -> Answering:
    """A page of this title."""
    return html(f"<title>{title}</title>")


async def unfurl(world: World, url: str) -> list[dict[str, Any]]:
    """What a message with this link would show."""
    embeds: list[dict[str, Any]] = (await world.bob.rest.post("/v1/unfurl", {"url": url})).expect(200)
    return embeds


def paths(server: OutsideServer) -> list[str]:
    """What the outside was asked for, in order."""
    return [request.target.decode() for request in server.requests]


async def say(world: World, content: str, **members: object) -> dict[str, Any]:
    """Bob sends a message."""
    sent: dict[str, Any] = (await world.bob.rest.send_message(world.channel_id, content, **members)).expect(200)
    return sent


async def shown(world: World, message: dict[str, Any]) -> dict[str, Any]:
    """The message as it is read."""
    path = f"/v1/channels/{message['channel_id']}/messages/{message['id']}"
    found: dict[str, Any] = (await world.alice.rest.get(path)).expect(200)
    return found


# Asked for on its own


async def test_nobody_is_shown_a_blocked_page(chat_world: World) -> None:
    async with outside({"/": titled("T"), "/other": titled("O")}) as server:
        entry = {"value": f"{server.origin}/"}
        (await chat_world.admin.rest.post("/v1/admin/blocklists/url", entry)).expect(200)
        assert await unfurl(chat_world, f"{server.origin}/") == []
        assert await unfurl(chat_world, f"{server.origin}/#part") == []
        assert paths(server) == []
        assert len(await unfurl(chat_world, f"{server.origin}/other")) == 1


async def test_a_page_is_taken_apart(chat_world: World) -> None:
    page = """<head><meta property="og:title" content="T"><meta property="og:image" content="/p.png">
        <meta property="og:image:width" content="9999"><meta property="og:image:height" content="9999">
        <meta name="theme-color" content="#112233">
        <link rel="alternate" type="application/json+oembed" href="/o"></head>"""
    more = json.dumps({"provider_name": "P", "author_name": "A", "html": "<script>alert(1)</script>"}).encode()
    pages = {"/": html(page), "/o": plain(more), "/p.png": plain(png(30, 20))}
    async with outside(pages) as server:
        (embed,) = await unfurl(chat_world, f"{server.origin}/")
        picture = embed.pop("thumbnail")
        assert embed == {
            "type": "link", "url": f"{server.origin}/", "title": "T", "color": 0x112233, "provider": {"name": "P"},
            "author": {"name": "A"},
        }  # fmt: skip
        proxied = picture.pop("proxy_url")
        assert picture == {
            "url": f"{server.origin}/p.png", "width": 30, "height": 20, "content_type": "image/png", "flags": 0,
        }  # fmt: skip
        assert paths(server) == ["/", "/o", "/p.png"]
        assert (await fetch(chat_world.anyone, proxied)).body == png(30, 20)


async def test_a_file_shows_itself_and_everything_else_nothing(chat_world: World) -> None:
    pages = {
        "/p.png": plain(png(30, 20), headers=(("Content-Type", "application/octet-stream"),)),
        "/x.zip": plain(b"PK\x03\x04", headers=(("Content-Type", "image/png"),)),
        "/none": plain(b"", status=404),
        "/blank": html("<body>words"),
        "/svg": plain(b"<svg onload='x'/>", headers=(("Content-Type", "image/svg+xml"),)),
    }
    async with outside(pages) as server:
        (embed,) = await unfurl(chat_world, f"{server.origin}/p.png")
        assert (embed["type"], embed["thumbnail"]["width"]) == ("image", 30)
        for path in ("/x.zip", "/none", "/blank", "/svg"):
            assert await unfurl(chat_world, server.origin + path) == []


@pytest.mark.parametrize(
    "url",
    ["", "x", "ftp://x.example/", "http://", "https://user:pw@x.example/", "http://[::1", "https://x.example:99999/",
     "https://x.example/" + "x" * 2_100, "https://" + "x" * 300 + ".example/", 5, None, ["https://x.example"]],
)  # fmt: skip
async def test_what_is_no_link(chat_world: World, url: object) -> None:
    answer = await chat_world.bob.rest.post("/v1/unfurl", {"url": url})
    assert (answer.status, answer.code) == (400, "INVALID_FORM_BODY")
    assert answer.json()["errors"][0]["path"] == "url"


@pytest.mark.chat_settings(**{**HERE, "media.private_networks_allowed": ()})
@pytest.mark.parametrize(
    "url",
    ["http://127.0.0.1:{port}/", "http://localhost:{port}/", "http://[::ffff:127.0.0.1]:{port}/",
     "http://2130706433:{port}/", "http://0x7f.1:{port}/", "http://0:{port}/", "http://169.254.169.254/latest/",
     "http://10.0.0.1/", "http://[fe80::1]/", "http://[fd00::1]/", "http://host.invalid/"],
)  # fmt: skip
async def test_the_operators_own_network_is_out_of_reach(chat_world: World, url: str) -> None:
    async with outside({"/": titled("secret")}) as server:
        asked = url.format(port=server.origin.rpartition(":")[2])
        assert await unfurl(chat_world, asked) == []
        assert server.requests == []


async def test_each_link_is_looked_at_once_and_then_remembered(
    chat_world: World, chat_server: ChatServer, autojump_clock: trio.testing.MockClock
) -> None:
    """Also that there was nothing; for a while."""
    unfurling, reader = chat_server.server.areas.messages.unfurling, chat_server.database.reader
    for url, remembered in (("http://10.0.0.1/", NOTHING_MS),):
        assert await unfurling.embed(url) is None
        before = reader.execute("SELECT expires_at FROM unfurled").fetchone()
        await trio.sleep(remembered / 1_000 - 1)
        assert await unfurling.embed(url) is None
        assert reader.execute("SELECT expires_at FROM unfurled").fetchone() == before
        await trio.sleep(2)
        assert await unfurling.embed(url) is None
        assert reader.execute("SELECT expires_at FROM unfurled").fetchone() > before
    await trio.sleep(FOUND_MS / 1_000 + 1_300)
    assert reader.execute("SELECT count(*) FROM unfurled").fetchone() == (0,)


async def test_many_who_ask_at_once_ask_once(chat_world: World) -> None:
    gate = trio.Event()

    async def slow(request: h11.Request, stream: trio.SocketStream) -> None:
        await gate.wait()
        await titled("T")(request, stream)

    found = []

    async def ask(url: str) -> None:
        found.append(await unfurl(chat_world, url))

    async with outside({"/": slow}) as server, trio.open_nursery() as nursery:
        for _ in range(5):
            nursery.start_soon(ask, f"{server.origin}/")
        while not server.requests:  # noqa: ASYNC110 - nobody is told
            await trio.sleep(0.01)
        gate.set()
        while len(found) < 5:  # noqa: ASYNC110 - nobody is told
            await trio.sleep(0.01)
        assert len(server.requests) == 1
        assert found == [found[0]] * 5


@pytest.mark.chat_settings(**{**HERE, "media.link_embeds": False})
async def test_an_instance_may_do_without(chat_world: World) -> None:
    async with outside({"/": titled("T")}) as server:
        answer = await chat_world.bob.rest.post("/v1/unfurl", {"url": f"{server.origin}/"})
        assert (answer.status, answer.code) == (403, "FEATURE_TEMPORARILY_DISABLED")
        sent = await say(chat_world, f"{server.origin}/")
        await trio.sleep(0.2)
        assert (await shown(chat_world, sent))["embeds"] == []
        assert server.requests == []


# Below messages


async def test_a_message_shows_what_its_link_leads_to(chat_world: World) -> None:
    listening = await chat_world.alice.connect()
    author = await chat_world.bob.connect()
    async with outside({"/": titled("T")}) as server:
        sent = await say(chat_world, f"look: {server.origin}/")
        assert sent["embeds"] == []
        expected = [{"type": "link", "url": f"{server.origin}/", "title": "T"}]
        for client in (listening, author):
            created = (await client.expect("MESSAGE_CREATE")).data
            assert created["embeds"] == []
            updated = (await client.expect("MESSAGE_UPDATE")).data
            assert updated["embeds"] == expected
            same = {**updated, "embeds": []}
            del created["channel_type"]
            created.pop("nonce", None)
            assert same == {name: created[name] for name in same}
            assert updated["edited_timestamp"] is None
            assert (updated["guild_id"], "user" in updated["member"]) == (chat_world.guild_id, False)
        assert await shown(chat_world, sent) == {**sent, "embeds": expected}


async def test_links_are_shown_in_their_order_and_only_those_that_show_something(chat_world: World) -> None:
    listening = await chat_world.alice.connect()
    pages = {"/a": titled("A"), "/b": titled("B"), "/none": plain(b"", status=404), "/p": plain(png(5, 4))}
    async with outside(pages) as server:
        links = [server.origin + path for path in ("/b", "/none", "/p", "/a", "/b")]
        await say(chat_world, f"{' '.join(links)} <{server.origin}/x> `{server.origin}/y` ||{server.origin}/z||")
        embeds = (await listening.expect("MESSAGE_UPDATE")).data["embeds"]
        assert [embed["url"].removeprefix(server.origin) for embed in embeds] == ["/b", "/p", "/a"]
        assert sorted(paths(server)) == ["/a", "/b", "/none", "/p"]


async def test_an_edit_changes_what_is_shown(chat_world: World) -> None:
    listening = await chat_world.alice.connect()
    async with outside({"/a": titled("A"), "/b": titled("B")}) as server:
        sent = await say(chat_world, f"{server.origin}/a")
        assert [embed["title"] for embed in (await listening.expect("MESSAGE_UPDATE")).data["embeds"]] == ["A"]
        for content, titles in (
            (f"{server.origin}/a and {server.origin}/b", ["A", "B"]),
            (f"only {server.origin}/b", ["B"]),
        ):
            (await chat_world.bob.rest.edit_message(chat_world.channel_id, sent["id"], content)).expect(200)
            edited = (await listening.expect("MESSAGE_UPDATE")).data
            assert (edited["embeds"], edited["edited_timestamp"] is None) == ([], False)
            embeds = (await listening.expect("MESSAGE_UPDATE")).data["embeds"]
            assert [embed["title"] for embed in embeds] == titles
        (await chat_world.bob.rest.edit_message(chat_world.channel_id, sent["id"], "none")).expect(200)
        assert (await listening.expect("MESSAGE_UPDATE")).data["embeds"] == []
        assert (await shown(chat_world, sent))["embeds"] == []
        assert len(server.requests) == 2


async def test_embeds_of_ones_own_come_first(chat_world: World) -> None:
    listening = await chat_world.alice.connect()
    async with outside({"/": titled("T")}) as server:
        await say(chat_world, f"{server.origin}/", embeds=[{"title": "mine"}])
        assert [e["title"] for e in (await listening.expect("MESSAGE_UPDATE")).data["embeds"]] == ["mine", "T"]


async def test_who_wants_no_embeds_has_none(chat_world: World) -> None:
    listening = await chat_world.alice.connect()
    async with outside({"/": titled("T")}) as server:
        quiet = await say(chat_world, f"{server.origin}/", flags=SUPPRESS)
        await listening.expect("MESSAGE_CREATE")
        await trio.sleep(0.2)
        assert server.requests == []
        path = f"/v1/channels/{chat_world.channel_id}/messages/{quiet['id']}"
        # Let in later, they are looked at; hidden, they are kept for then.
        (await chat_world.bob.rest.patch(path, {"flags": 0})).expect(200)
        assert (await listening.expect("MESSAGE_UPDATE")).data["embeds"] == []
        assert len((await listening.expect("MESSAGE_UPDATE")).data["embeds"]) == 1
        (await chat_world.alice.rest.patch(path, {"flags": SUPPRESS})).expect(200)
        assert (await listening.expect("MESSAGE_UPDATE")).data["embeds"] == []
        assert (await shown(chat_world, quiet))["embeds"] == []
        (await chat_world.alice.rest.patch(path, {"flags": 0})).expect(200)
        assert len((await listening.expect("MESSAGE_UPDATE")).data["embeds"]) == 1
        assert len(server.requests) == 1


async def test_who_is_told_is_who_may_read(chat_world: World) -> None:
    """And those who may not show links do not."""
    blind, alice = await chat_world.carol.connect(), await chat_world.alice.connect()
    await _deny(chat_world, chat_world.carol, READ_MESSAGE_HISTORY)
    async with outside({"/": titled("T"), "/2": titled("T")}) as server:
        await say(chat_world, f"{server.origin}/")
        await blind.expect("MESSAGE_CREATE")
        await alice.expect("MESSAGE_UPDATE")
        await _deny(chat_world, chat_world.bob, EMBED_LINKS)
        await say(chat_world, f"{server.origin}/2")
        await blind.expect("MESSAGE_CREATE")
        await trio.sleep(0.2)
        assert paths(server) == ["/"]
    told = [payload.name for payload in blind.dispatches]
    assert told.count("MESSAGE_CREATE") == 2
    assert "MESSAGE_UPDATE" not in told


async def _deny(world: World, member: Person, permission: int) -> None:
    path = f"/v1/channels/{world.channel_id}/permissions/{member.id}"
    (await world.alice.rest.put(path, {"type": 1, "allow": "0", "deny": str(permission)})).expect(204)


async def test_conversations_and_webhooks_show_links_too(chat_world: World) -> None:
    listening = await chat_world.bob.connect()
    webhook = await new_webhook(chat_world.alice.rest, chat_world.channel_id)
    async with outside({"/a": titled("A"), "/b": titled("B")}) as server:
        (await chat_world.anyone.post(webhook_path(webhook), {"content": f"{server.origin}/a"})).expect(204)
        updated = (await listening.expect("MESSAGE_UPDATE")).data
        assert ([embed["title"] for embed in updated["embeds"]], updated["webhook_id"]) == (["A"], webhook["id"])
        opened = await chat_world.alice.rest.post("/v1/users/@me/channels", {"recipient_id": chat_world.bob.id})
        channel = opened.expect(200)["id"]
        (await chat_world.alice.rest.send_message(channel, f"{server.origin}/b")).expect(200)
        updated = (await listening.expect("MESSAGE_UPDATE")).data
        assert ([embed["title"] for embed in updated["embeds"]], updated["channel_id"]) == (["B"], channel)
        assert "guild_id" not in updated


async def test_links_in_threads_are_told_to_those_who_know_threads(chat_world: World) -> None:
    started = await thread(chat_world.alice, chat_world.channel_id, type=12)
    (await knowing(chat_world.alice).join_thread(started["id"], chat_world.bob.id)).expect(204)
    member, stranger, ignorant = (
        await watch(chat_world.bob),
        await watch(chat_world.carol),
        await chat_world.bob.connect(),
    )
    async with outside({"/": titled("T")}) as server:
        (await knowing(chat_world.bob).send_message(started["id"], f"{server.origin}/")).expect(200)
        updated = (await member.expect("MESSAGE_UPDATE")).data
        assert ([embed["title"] for embed in updated["embeds"]], updated["channel_id"]) == (["T"], started["id"])
        await say(chat_world, "end")
        for client in (stranger, ignorant):
            assert (await client.expect("MESSAGE_CREATE")).data["content"] == "end"
            assert "MESSAGE_UPDATE" not in [payload.name for payload in client.dispatches]


async def test_what_is_shown_is_found_and_carried_on(chat_world: World) -> None:
    listening = await chat_world.alice.connect()
    async with outside({"/": titled("Marmalade")}) as server:
        sent = await say(chat_world, f"{server.origin}/")
        await listening.expect("MESSAGE_UPDATE")
        body = {"context_channel_id": chat_world.channel_id, "has": ["embed"]}
        found = (await chat_world.alice.rest.post("/v1/search/messages", body)).expect(200)
        assert [message["id"] for message in found["messages"]] == [sent["id"]]
        reference = {"message_id": sent["id"], "channel_id": chat_world.channel_id, "type": 1}
        carried = (
            await chat_world.alice.rest.send_message(chat_world.channel_id, "", message_reference=reference)
        ).json()
        assert carried["message_snapshots"][0]["embeds"][0]["title"] == "Marmalade"


async def test_a_message_that_changed_or_went_meanwhile_is_left_alone(chat_world: World) -> None:
    gate = trio.Event()

    async def slow(request: h11.Request, stream: trio.SocketStream) -> None:
        await gate.wait()
        await titled("T")(request, stream)

    async with outside({"/a": slow, "/b": slow, "/c": slow}) as server:
        edited, deleted, hidden = [await say(chat_world, f"{server.origin}/{name}") for name in "abc"]
        while len(server.requests) < 2:  # noqa: ASYNC110 - nobody is told
            await trio.sleep(0.01)
        (await chat_world.bob.rest.edit_message(chat_world.channel_id, edited["id"], "something else")).expect(200)
        (await chat_world.bob.rest.delete_message(chat_world.channel_id, deleted["id"])).expect(204)
        path = f"/v1/channels/{chat_world.channel_id}/messages/{hidden['id']}"
        (await chat_world.bob.rest.patch(path, {"flags": SUPPRESS})).expect(200)
        listening = await chat_world.alice.connect()
        gate.set()
        last = await say(chat_world, f"{server.origin}/a")
        updated = (await listening.expect("MESSAGE_UPDATE")).data
        assert (updated["id"], len(updated["embeds"])) == (last["id"], 1)
        assert (await shown(chat_world, edited))["embeds"] == []
        (await chat_world.bob.rest.patch(path, {"flags": 0})).expect(200)
        assert (await listening.expect("MESSAGE_UPDATE")).data["id"] == hidden["id"]
        assert len((await listening.expect("MESSAGE_UPDATE")).data["embeds"]) == 1


HOSTILE = [
    "<" * 200_000, "<meta " * 40_000, "<title>" * 40_000, "<!--" * 60_000, "<meta content='" + "&" * 250_000,
    '<meta property="og:title" content="' + "\u202e" * 1_000 + '"><title>\0\x07</title>',
    '<meta property="og:image" content="javascript:alert(1)"><title>x</title>',
    '<link rel=alternate type="application/json+oembed" href="http://10.0.0.1/o"><title>x</title>',
    '<link rel=alternate type="application/json+oembed" href="/deep"><title>x</title>',
    '<meta property="og:image" content="/"><title>x</title>',
]  # fmt: skip


async def test_hostile_pages_hold_nobody_up(chat_world: World, chat_server: ChatServer) -> None:
    pages = {f"/{number}": html(page) for number, page in enumerate(HOSTILE)}
    pages["/"] = titled("no picture")
    pages["/deep"] = plain(b"[" * 60_000)
    async with outside(pages) as server:
        for number in range(len(HOSTILE)):
            with trio.fail_after(10):
                embeds = await unfurl(chat_world, f"{server.origin}/{number}")
            assert not any("thumbnail" in embed or "javascript" in json.dumps(embed) for embed in embeds)
        listening = await chat_world.alice.connect()
        await say(chat_world, f"{server.origin}/")
        assert (await listening.expect("MESSAGE_UPDATE")).data["embeds"][0]["title"] == "no picture"


@pytest.mark.virtual_days
async def test_too_many_messages_that_wait_are_sent_all_the_same(
    chat_world: World, mock_clock: trio.testing.MockClock
) -> None:
    """On a clock that stands still, so that no page is given up meanwhile."""
    gate = trio.Event()

    async def slow(request: h11.Request, stream: trio.SocketStream) -> None:
        await gate.wait()
        await titled("T")(request, stream)

    async with outside({"/": slow}) as server:
        answers: list[Response] = [
            await chat_world.bob.rest.send_message(chat_world.channel_id, f"{number} {server.origin}/")
            for number in range(AT_A_TIME + WAITING_MAXIMUM + 5)
        ]
        assert {answer.status for answer in answers} == {200}
        gate.set()
        first = answers[0].json()
        while not (await shown(chat_world, first))["embeds"]:
            pass  # nobody is told
        assert (await shown(chat_world, answers[-1].json()))["embeds"] == []
        assert len(server.requests) == 1
