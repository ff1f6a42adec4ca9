"""Webhooks executed in the way of other services, over HTTP."""

from __future__ import annotations

from typing import Any

import pytest

from chat.testing.rest_client import Response
from chat.testing.world import World
from tests.threads.thread_world import FORUM, channel, knowing, refused, thread
from tests.webhooks.surfaces import new_webhook, webhook_path

ISSUE = {
    "action": "opened",
    "issue": {"number": 7, "title": "It is @everyone late", "html_url": "https://git.example/7", "body": "Very"},
    "repository": {"full_name": "hatter/tea"},
    "sender": {"login": "hare", "html_url": "https://git.example/hare", "avatar_url": "https://git.example/hare.png"},
}
INCIDENT = {"page": {"url": "https://status.example"}, "incident": {"name": "Cold tea", "status": "INVESTIGATING"}}


async def deliver(world: World, webhook: dict[str, Any], event: str | None, body: object, query: str = "") -> Response:
    """What GitHub sends."""
    headers = {} if event is None else {"X-GitHub-Event": event, "X-GitHub-Delivery": "1"}
    path = f"{webhook_path(webhook)}/github{query}"
    return await world.anyone.request("POST", path, json=body, headers=headers)


async def test_an_event_of_github_is_shown(chat_world: World) -> None:
    webhook = await new_webhook(chat_world.alice.rest, chat_world.channel_id)
    listening = await chat_world.bob.connect()
    answer = await deliver(chat_world, webhook, "issues", ISSUE)
    assert (answer.status, answer.body) == (204, b"")
    heard = (await listening.expect("MESSAGE_CREATE")).data
    (embed,) = heard["embeds"]
    assert (embed["title"], embed["url"]) == (
        "[hatter/tea] Issue opened: #7 It is @everyone late",
        "https://git.example/7",
    )
    assert embed["author"]["name"] == "hare"
    assert embed["author"]["proxy_icon_url"].startswith("http")
    assert (heard["author"]["username"], heard["webhook_id"], heard["mention_everyone"]) == (
        "Herald", webhook["id"], False,
    )  # fmt: skip
    for event, body in (("ping", {"zen": "x"}), ("nonsense", {}), ("issues", {**ISSUE, "action": "labeled"})):
        (await deliver(chat_world, webhook, event, body)).expect(204)
    assert len((await chat_world.bob.rest.messages(chat_world.channel_id)).expect(200)) == 1


async def test_what_is_no_delivery(chat_world: World) -> None:
    webhook = await new_webhook(chat_world.alice.rest, chat_world.channel_id)
    refused(await deliver(chat_world, webhook, None, ISSUE), 400, "BAD_REQUEST")
    for body, path in (({"issue": 5}, "issue"), ({"commits": [5]}, "commits.0"), ({"action": []}, "action")):
        refused(await deliver(chat_world, webhook, "issues", body), 400, "INVALID_FORM_BODY", path)
    refused(await deliver(chat_world, webhook, "issues", []), 400, "INVALID_FORM_BODY", "root")
    assert (await chat_world.bob.rest.messages(chat_world.channel_id)).expect(200) == []


async def test_a_notice_of_a_status_page_is_shown(chat_world: World) -> None:
    webhook = await new_webhook(chat_world.alice.rest, chat_world.channel_id)
    path = f"{webhook_path(webhook)}/instatus"
    (await chat_world.anyone.post(path, INCIDENT)).expect(204)
    (await chat_world.anyone.post(path, {"meta": {}})).expect(204)
    refused(await chat_world.anyone.post(path, {"incident": "x"}), 400, "INVALID_FORM_BODY", "incident")
    (said,) = (await chat_world.bob.rest.messages(chat_world.channel_id)).expect(200)
    assert said["embeds"][0]["title"] == "Cold tea"


async def test_a_message_in_slacks_form(chat_world: World) -> None:
    webhook = await new_webhook(chat_world.alice.rest, chat_world.channel_id)
    path = f"{webhook_path(webhook)}/slack"
    body = {
        "text": "Look: <https://x.example|here> &amp; <!here>", "username": "Slacker", "channel": "#x", "mrkdwn": True,
        "icon_emoji": ":ghost:", "icon_url": "https://x.example/i.png",
        "attachments": [{"title": "T", "color": "good"}],
    }  # fmt: skip
    answer = await chat_world.anyone.post(path, body)
    assert (answer.status, answer.body, answer.header("content-type")) == (200, b"ok", "text/plain; charset=utf-8")
    (said,) = (await chat_world.bob.rest.messages(chat_world.channel_id)).expect(200)
    assert said["content"] == "Look: [here](https://x.example) & @here"
    assert (said["author"]["username"], said["author"]["avatar"] is None) == ("Slacker", False)
    assert said["embeds"] == [{"type": "rich", "title": "T", "color": 0x2EB67D}]
    assert (await chat_world.anyone.post(path, {"text": "x", "icon_url": "ftp://x", "username": ""})).status == 200
    for wrong, code, place in (
        ({}, "CANNOT_SEND_EMPTY_MESSAGE", None),
        ({"text": " ", "attachments": [{}]}, "CANNOT_SEND_EMPTY_MESSAGE", None),
        ({"text": 5}, "INVALID_FORM_BODY", "text"),
        ({"attachments": {}}, "INVALID_FORM_BODY", "attachments"),
    ):
        refused(await chat_world.anyone.post(path, wrong), 400, code, place)
    assert (await chat_world.anyone.post(path, {"text": "x" * 50_000, "username": "y" * 300})).status == 200
    longest = (await chat_world.bob.rest.messages(chat_world.channel_id)).expect(200)[0]
    assert (longest["content"][-3:], longest["author"]["username"]) == ("xx…", "y" * 79 + "…")


async def test_all_of_them_write_in_threads(chat_world: World) -> None:
    webhook = await new_webhook(chat_world.alice.rest, chat_world.channel_id)
    started = await thread(chat_world.alice, chat_world.channel_id)
    query = f"?thread_id={started['id']}"
    (await deliver(chat_world, webhook, "issues", ISSUE, query)).expect(204)
    (await chat_world.anyone.post(f"{webhook_path(webhook)}/instatus{query}", INCIDENT)).expect(204)
    assert (await chat_world.anyone.post(f"{webhook_path(webhook)}/slack{query}", {"text": "x"})).status == 200
    assert len((await knowing(chat_world.bob).messages(started["id"])).expect(200)) == 3
    assert (await chat_world.bob.rest.messages(chat_world.channel_id)).expect(200) == []
    refused(await deliver(chat_world, webhook, "issues", ISSUE, "?thread_id=1"), 404, "UNKNOWN_CHANNEL")
    forum = await channel(chat_world, "ideas", FORUM)
    elsewhere = await new_webhook(chat_world.alice.rest, forum["id"])
    refused(await deliver(chat_world, elsewhere, "issues", ISSUE), 400, "INVALID_FORM_BODY", "thread_name")


@pytest.mark.parametrize("dialect", ["github", "gitlab", "slack", "instatus", "alertmanager", "grafana", "sentry"])
async def test_a_wrong_token_is_refused_as_everywhere(chat_world: World, dialect: str) -> None:
    webhook = await new_webhook(chat_world.alice.rest, chat_world.channel_id)
    bodies = set()
    for path in (
        f"/v1/webhooks/{webhook['id']}/{'x' * len(webhook['token'])}/{dialect}",
        f"/v1/webhooks/1/{webhook['token']}/{dialect}",
    ):
        for client in (chat_world.anyone, chat_world.alice.rest):
            answer = await client.request("POST", path, json={"text": "x"}, headers={"X-GitHub-Event": "ping"})
            refused(answer, 404, "UNKNOWN_WEBHOOK")
            bodies.add(answer.body)
    assert len(bodies) == 1
