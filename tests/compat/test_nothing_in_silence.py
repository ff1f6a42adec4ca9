"""What bots ask for and this server has not is named, or refused (compat.md, Nothing in silence)."""

from __future__ import annotations

from typing import Any

import pytest
import structlog

from chat.api.unread_members import HEADER, NAME_CHARACTERS, NAMES_TOLD
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
    assert taken.header(HEADER) == ", ".join(f"m{number}" for number in range(NAMES_TOLD - 2))
    assert taken.header("Set-Cookie") is None


@pytest.mark.parametrize("strict", [pytest.param("on"), pytest.param("off", marks=LOUD)])
async def test_long_names_and_a_thousand_of_them_are_cut_short(chat_world: World, strict: str) -> None:
    _, theirs = paths(chat_world)
    for members in ({"y" * 60_000: 1}, {f"{number}{'y' * 500}": 1 for number in range(1_000)}):
        answer = await chat_world.bot.rest.post(theirs, {"content": "x", **members})
        assert answer.status == (400 if strict == "on" else 200)
        names = (answer.header(HEADER) or "").split(", ")
        assert len(names) == min(len(members), NAMES_TOLD)
        assert {len(name) for name in names} == {NAME_CHARACTERS}
        if strict == "on":
            assert [len(name) for name in answer.json()["errors"]] == [NAME_CHARACTERS] * len(names)


@pytest.mark.parametrize(
    ("dialect", "delivery"),
    [
        ("github", {"zen": "Keep it logically awesome.", "hook_id": 5, "hook": {"type": "Repository"}}),
        ("slack", {"text": "hello", "channel": "#general", "icon_emoji": ":robot:", "mrkdwn": True}),
    ],
)
async def test_the_words_of_another_program_are_its_own(
    chat_world: World, dialect: str, delivery: dict[str, Any]
) -> None:
    made = await chat_world.alice.rest.post(f"/v1/channels/{chat_world.channel_id}/webhooks", {"name": "hook"})
    webhook = made.expect(200)
    headers = {"X-GitHub-Event": "ping"}
    way = f"{REST}/webhooks/{webhook['id']}/{webhook['token']}/{dialect}"
    taken = await chat_world.anyone.request("POST", way, json=delivery, headers=headers)
    assert taken.status in {200, 204}
    assert taken.header(HEADER) is None


async def test_what_libraries_send_back_is_passed_over(chat_world: World) -> None:
    _, theirs = paths(chat_world)
    embed = {"type": "rich", "title": "t", "image": {"url": "https://example.com/a.png", "width": 5, "proxy_url": "x"}}
    taken = await chat_world.bot.rest.post(theirs, {"embeds": [embed]})
    assert (taken.status, taken.header(HEADER)) == (200, None)
    sent = taken.json()
    again = {"embeds": sent["embeds"], "attachments": sent["attachments"], "components": sent["components"]}
    changed = await chat_world.bot.rest.patch(f"{theirs}/{sent['id']}", again)
    assert (changed.status, changed.header(HEADER)) == (200, None)


async def test_commands_as_libraries_register_them(chat_world: World) -> None:
    below = {"type": 1, "name": "leaf", "description": "d", "contexts": [0], "integration_types": [0]}
    commands = [
        {"name": "anybody", "description": "d", "default_permission": True},
        {"name": "nobody", "description": "d", "default_permission": False},
        {"name": "few", "description": "d", "default_permission": False, "default_member_permissions": "8"},
        {"name": "tree", "description": "d", "options": [below]},
    ]
    path = f"{REST}/applications/{chat_world.bot.application_id}/commands"
    put = await chat_world.bot.rest.put(path, commands)
    shown = {each["name"]: each["default_member_permissions"] for each in put.expect(200)}
    assert shown == {"anybody": None, "nobody": "0", "few": "8", "tree": None}
    assert put.header(HEADER) is None
    said = await chat_world.bot.rest.post(paths(chat_world)[1], {"content": "x", "pass_self_into_delete": True})
    assert (said.status, said.header(HEADER)) == (200, None)


async def test_a_body_in_parts_is_looked_at_too(chat_world: World) -> None:
    _, theirs = paths(chat_world)
    body = message_form({"a.txt": b"a"}, {"content": "x", "activity": {"type": 1}})
    headers = {"Content-Type": CONTENT_TYPE}
    refused = await chat_world.bot.rest.request("POST", theirs, body=body, headers=headers)
    assert (refused.status, refused.header(HEADER)) == (400, "activity")


async def test_an_address_that_means_something_there_is_named(chat_world: World) -> None:
    refused = await chat_world.bot.rest.post(f"{REST}/guilds/{chat_world.guild_id}/scheduled-events", {"name": "x"})
    assert (refused.status, refused.header(HEADER)) == (404, "scheduled events")
