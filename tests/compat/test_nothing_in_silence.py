"""What bots ask for and this server has not is named, or refused (compat.md, Nothing in silence)."""

from __future__ import annotations

from typing import Any

import pytest
import structlog

from chat.api.unread_members import HEADER, NAMES_TOLD
from chat.testing.rest_client import CONTENT_TYPE, message_form
from chat.testing.world import World
from tests.compat.mounted import REST

LOUD = pytest.mark.chat_settings(**{"compat.strict": "off"})


def paths(world: World) -> tuple[str, str]:
    """The address of messages, documented and at the mount."""
    path = f"/channels/{world.channel_id}/messages"
    return f"/v1{path}", f"{REST}{path}"


@pytest.mark.parametrize(
    ("more", "at"),
    [
        ({"activity": {"type": 1}}, ["activity"]),
        ({"shared_client_theme": {"colors": ["fff"]}, "activity": "x"}, ["shared_client_theme", "activity"]),
        ({"embeds": [{"title": "a"}, {"title": "b", "sparkles": 3}]}, ["embeds.1.sparkles"]),
        ({"allowed_mentions": {"parse": [], "ghosts": True}}, ["allowed_mentions.ghosts"]),
    ],
)
async def test_what_nothing_reads_is_refused_where_tests_run(
    chat_world: World, more: dict[str, Any], at: list[str]
) -> None:
    ours, theirs = paths(chat_world)
    refused = await chat_world.bot.rest.post(theirs, {"content": "x", **more})
    assert (refused.status, refused.json()["code"]) == (400, 50035)
    for path in at:
        node = refused.json()["errors"]
        for part in path.split("."):
            node = node[part]
        assert [error["code"] for error in node["_errors"]] == ["NOT_SUPPORTED_HERE"]
    named = ", ".join(".".join(part for part in path.split(".") if not part.isdecimal()) for path in at)
    assert refused.header(HEADER) == named
    assert (await chat_world.alice.rest.get(ours)).expect(200) == []
    taken = await chat_world.bot.rest.post(ours, {"content": "x", **more})
    assert (taken.status, taken.header(HEADER)) == (200, named)


@LOUD
async def test_what_nothing_reads_is_named_once_in_the_log(chat_world: World) -> None:
    _, theirs = paths(chat_world)
    with structlog.testing.capture_logs() as logged:
        for _ in range(3):
            taken = await chat_world.bot.rest.post(theirs, {"content": "x", "activity": {"type": 1}})
            assert (taken.status, taken.header(HEADER)) == (200, "activity")
    (line,) = [each for each in logged if each["event"] == "not supported"]
    assert (line["member"], line["route"]) == ("activity", "POST /v1/channels/{channel_id}/messages")


async def test_what_says_nothing_loses_nothing(chat_world: World) -> None:
    _, theirs = paths(chat_world)
    nothing = {"activity": None, "theme": {}, "shapes": [], "loud": False, "speed": 0, "name": ""}
    taken = await chat_world.bot.rest.post(theirs, {"content": "x", "nonce": "5", "enforce_nonce": True, **nothing})
    assert (taken.status, taken.header(HEADER)) == (200, None)


@LOUD
async def test_names_in_the_header_are_few_and_plain(chat_world: World) -> None:
    _, theirs = paths(chat_world)
    odd = {"caf\u00e9": 1, "a\r\nSet-Cookie: b": 1, **{f"m{number}": 1 for number in range(NAMES_TOLD + 5)}}
    taken = await chat_world.bot.rest.post(theirs, {"content": "x", **odd})
    assert taken.header(HEADER) == ", ".join(f"m{number}" for number in range(NAMES_TOLD))
    assert taken.header("Set-Cookie") is None


async def test_what_libraries_send_back_is_passed_over(chat_world: World) -> None:
    _, theirs = paths(chat_world)
    embed = {"type": "rich", "title": "t", "image": {"url": "https://example.com/a.png", "width": 5, "proxy_url": "x"}}
    taken = await chat_world.bot.rest.post(theirs, {"embeds": [embed]})
    assert (taken.status, taken.header(HEADER)) == (200, None)
    sent = taken.json()
    again = {"embeds": sent["embeds"], "attachments": sent["attachments"], "components": sent["components"]}
    changed = await chat_world.bot.rest.patch(f"{theirs}/{sent['id']}", again)
    assert (changed.status, changed.header(HEADER)) == (200, None)


async def test_a_body_in_parts_is_looked_at_too(chat_world: World) -> None:
    _, theirs = paths(chat_world)
    body = message_form({"a.txt": b"a"}, {"content": "x", "activity": {"type": 1}})
    headers = {"Content-Type": CONTENT_TYPE}
    refused = await chat_world.bot.rest.request("POST", theirs, body=body, headers=headers)
    assert (refused.status, refused.header(HEADER)) == (400, "activity")


async def test_an_address_that_means_something_there_is_named(chat_world: World) -> None:
    refused = await chat_world.bot.rest.post(f"{REST}/guilds/{chat_world.guild_id}/scheduled-events", {"name": "x"})
    assert (refused.status, refused.header(HEADER)) == (404, "scheduled events")
