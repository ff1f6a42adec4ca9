"""Edits: what of a message changes, who may change it, and what stays (wire facts 5.3)."""

from __future__ import annotations

from typing import Any

import orjson
import pytest
import trio
from trio.testing import MockClock

from chat.clock import iso_timestamp
from chat.registries.permissions import Permission
from chat.snowflake import snowflake_time_ms
from chat.testing.rest_client import Response
from chat.testing.world import Actor, World
from tests.messages.test_reaction_routes import set_permissions
from tests.threads.test_thread_routes import ask, start
from tests.webhooks.surfaces import FORM_HEADERS, form, png


def refused(answer: Response, status: int, code: str) -> None:
    assert (answer.status, answer.code) == (status, code), answer.body


def wrong_fields(answer: Response) -> list[tuple[str, str]]:
    """The wrong fields with their codes."""
    refused(answer, 400, "INVALID_FORM_BODY")
    return [(error["path"], error["code"]) for error in answer.json()["errors"]]


class Edited:
    """`await edit(content="x")` changes bob's message."""

    def __init__(self, world: World, message: dict[str, Any]) -> None:
        self.world = world
        self.message = message
        self.path = f"/v1/channels/{message['channel_id']}/messages/{message['id']}"

    async def ask(self, **body: Any) -> Response:
        """Ask for a change."""
        return await self.world.bob.rest.patch(self.path, body)

    async def __call__(self, **body: Any) -> dict[str, Any]:
        """The message after the change, which everybody reads alike."""
        changed: dict[str, Any] = (await self.ask(**body)).expect(200)
        assert (await self.world.carol.rest.get(self.path)).expect(200) == changed
        return changed

    async def with_files(self, *names: str, **body: Any) -> Response:
        """Ask for a change that brings files."""
        files = [(f"files[{turn}]", name, png(9 + turn)) for turn, name in enumerate(names)]
        whole = form(files, orjson.dumps(body))
        return await self.world.bob.rest.request("PATCH", self.path, body=whole, headers=FORM_HEADERS)


async def written(world: World, content: str = "first", *files: str, **more: Any) -> Edited:
    """Bob's message."""
    path = f"/v1/channels/{world.channel_id}/messages"
    if not files:
        return Edited(world, (await world.bob.rest.send_message(world.channel_id, content, **more)).expect(200))
    parts = [(f"files[{turn}]", name, png(3 + turn)) for turn, name in enumerate(files)]
    body = form(parts, orjson.dumps({"content": content, **more}))
    answer = await world.bob.rest.request("POST", path, body=body, headers=FORM_HEADERS)
    return Edited(world, answer.expect(200))


async def test_what_is_absent_stays_and_null_takes_away(chat_world: World) -> None:
    edit = await written(chat_world, "words", embeds=[{"title": "t"}])
    at_carol = await chat_world.carol.connect()
    unchanged = await edit()
    assert unchanged == edit.message
    assert (await at_carol.expect("MESSAGE_UPDATE")).data["edited_timestamp"] is None
    same = await edit(content="words", embeds=[{"title": "t"}])
    assert same["edited_timestamp"] is None
    other = await edit(content=" other words ")
    assert (other["content"], other["embeds"]) == ("other words", edit.message["embeds"])
    assert other["edited_timestamp"] is not None
    assert (await edit(content=None))["content"] == ""
    refused(await edit.ask(embeds=None), 400, "CANNOT_SEND_EMPTY_MESSAGE")
    refused(await edit.ask(embeds=[], content=" "), 400, "CANNOT_SEND_EMPTY_MESSAGE")
    assert (await edit(embeds=None, content="back"))["embeds"] == []
    assert (await edit(attachments=None))["content"] == "back"
    refused(await edit.ask(content=None), 400, "CANNOT_SEND_EMPTY_MESSAGE")


async def test_the_whole_message_is_told(chat_world: World) -> None:
    edit = await written(chat_world)
    at_carol = await chat_world.carol.connect()
    changed = await edit(content="second")
    told = (await at_carol.expect("MESSAGE_UPDATE")).data
    assert told.pop("member")["joined_at"]
    assert told == {**changed, "guild_id": chat_world.guild_id}


async def test_mentions_are_judged_afresh_and_nobody_is_notified_again(chat_world: World) -> None:
    carol = chat_world.carol
    edit = await written(chat_world)
    changed = await edit(content=f"<@{carol.id}> @everyone")
    assert ([user["id"] for user in changed["mentions"]], changed["mention_everyone"]) == ([carol.id], False)
    quiet = await edit(content=f"<@{carol.id}>!", allowed_mentions={"parse": []})
    assert quiet["mentions"] == []
    client = await carol.open()
    await client.identify(carol.token)
    states = (await client.expect("READY")).data["read_states"]
    assert [state["mention_count"] for state in states if state["id"] == chat_world.channel_id] in ([], [0])


@pytest.mark.parametrize(
    ("body", "path", "code"),
    [
        ({"content": 1}, "content", "INVALID_FORMAT"),
        ({"content": "x" * 4_001}, "content", "CONTENT_EXCEEDS_MAX_LENGTH"),
        ({"flags": -1}, "flags", "INVALID_FORMAT"),
        ({"embeds": [{"title": "x"}] * 11}, "embeds", "TOO_MANY_EMBEDS"),
        ({"embeds": {"title": "x"}}, "embeds", "INVALID_FORMAT"),
        ({"attachments": [{"id": "999999999999999999"}]}, "attachments", "INVALID_FORMAT"),
        ({"attachments": [{"id": 0}]}, "attachments.0.uploaded_filename", "INVALID_FORMAT"),
        ({"attachments": "x"}, "attachments", "INVALID_FORMAT"),
        ({"allowed_mentions": {"parse": ["users"], "users": ["1"]}}, "allowed_mentions.parse", "INVALID_FORMAT"),
        ([], "root", "INVALID_FORMAT"),
    ],
)
async def test_what_is_wrong_with_an_edit(chat_world: World, body: Any, path: str, code: str) -> None:
    edit = await written(chat_world)
    assert wrong_fields(await chat_world.bob.rest.patch(edit.path, body)) == [(path, code)]
    assert await edit() == edit.message


# Files


async def test_files_stay_go_and_come(chat_world: World) -> None:
    edit = await written(chat_world, "x", "a.png", "b.png")
    first, second = edit.message["attachments"]
    described = await edit(attachments=[{"id": first["id"], "description": "A"}, {"id": second["id"]}])
    assert [file["description"] for file in described["attachments"]] == ["A", None]
    assert described["edited_timestamp"] is not None
    more = (await edit.with_files("c.png", attachments=[{"id": second["id"]}, {"id": 0, "title": "New"}])).expect(200)
    assert [(file["filename"], file["title"]) for file in more["attachments"]] == [("b.png", None), ("c.png", "New")]
    assert (await edit())["attachments"] == more["attachments"]
    added = (await edit.with_files("d.png")).expect(200)
    assert [file["filename"] for file in added["attachments"]] == ["b.png", "c.png", "d.png"]
    assert (await edit(attachments=[], content="y"))["attachments"] == []
    refused(await edit.with_files("e.png", attachments=[{"id": first["id"]}, {"id": 0}]), 400, "INVALID_FORM_BODY")


async def test_only_so_many_files(chat_world: World) -> None:
    edit = await written(chat_world, "x", *(f"{number}.png" for number in range(9)))
    (await edit.with_files("a.png")).expect(200)
    answer = await edit.with_files("b.png")
    assert wrong_fields(answer) == [("attachments", "TOO_MANY_FILES")]
    kept = [{"id": file["id"]} for file in edit.message["attachments"][:5]]
    (await edit.with_files("c.png", attachments=[*kept, {"id": 0}])).expect(200)


async def test_new_files_ask_for_their_permission(chat_world: World) -> None:
    edit = await written(chat_world, "x", "a.png")
    await set_permissions(chat_world, chat_world.channel_id, deny=Permission.ATTACH_FILES)
    refused(await edit.with_files("b.png"), 403, "MISSING_PERMISSIONS")
    assert (await edit(attachments=[]))["attachments"] == []
    assert (await edit(content="y"))["content"] == "y"


async def test_one_file_goes_by_itself(chat_world: World) -> None:
    bob, channel_id = chat_world.bob, chat_world.channel_id
    edit = await written(chat_world, "", "a.png", "b.png", "c.png")
    first, second, third = (file["id"] for file in edit.message["attachments"])
    at_carol = await chat_world.carol.connect()

    async def remove(actor: Actor, attachment_id: str) -> Response:
        return await actor.rest.delete(f"{edit.path}/attachments/{attachment_id}")

    refused(await remove(chat_world.carol, first), 403, "MISSING_PERMISSIONS")
    gone = await remove(bob, first)
    assert (gone.status, gone.body) == (204, b"")
    assert [file["id"] for file in (await at_carol.expect("MESSAGE_UPDATE")).data["attachments"]] == [second, third]
    refused(await remove(bob, first), 404, "NOT_FOUND")
    (await remove(chat_world.alice, third)).expect(204)  # she manages messages
    left = await edit()
    assert ([file["id"] for file in left["attachments"]], left["edited_timestamp"] is None) == ([second], False)
    shown = await edit(content="words", embeds=[{"image": {"url": "attachment://b.png"}}])
    assert shown["embeds"]
    (await remove(bob, second)).expect(204)  # the embed that showed it goes along
    assert (await edit(content="other words"))["embeds"] == []
    refused(await bob.rest.delete(f"/v1/channels/{channel_id}/messages/1/attachments/1"), 404, "UNKNOWN_MESSAGE")


async def test_with_the_last_thing_in_it_a_message_goes(chat_world: World) -> None:
    """By its author's hand, and by a moderator's, of which the guild's audit log tells."""
    channel_id = chat_world.channel_id
    at_carol = await chat_world.carol.connect()
    for actor in (chat_world.bob, chat_world.alice):
        edit = await written(chat_world, "", "a.png", "b.png")
        first, second = (file["id"] for file in edit.message["attachments"])
        (await chat_world.alice.rest.put(f"/v1/channels/{channel_id}/pins/{edit.message['id']}")).expect(204)
        (await actor.rest.delete(f"{edit.path}/attachments/{first}")).expect(204)
        assert [file["id"] for file in (await edit())["attachments"]] == [second]
        refused(await edit.ask(attachments=[]), 400, "CANNOT_SEND_EMPTY_MESSAGE")
        path, headers = f"{edit.path}/attachments/{second}", {"X-Audit-Log-Reason": "rude"}
        gone = await actor.rest.request("DELETE", path, headers=headers)
        assert (gone.status, gone.body) == (204, b"")
        refused(await actor.rest.get(edit.path), 404, "UNKNOWN_MESSAGE")
        assert (await at_carol.expect("MESSAGE_DELETE")).data["id"] == edit.message["id"]
        assert (await at_carol.expect("CHANNEL_PINS_UPDATE")).data["last_pin_timestamp"] is None
        refused(await actor.rest.delete(f"{edit.path}/attachments/{second}"), 404, "UNKNOWN_MESSAGE")
    path = f"/v1/guilds/{chat_world.guild_id}/audit-logs?action_type=72"
    (entry,) = (await chat_world.alice.rest.get(path)).expect(200)["audit_log_entries"]
    assert (entry["user_id"], entry["target_id"], entry["reason"]) == (chat_world.alice.id, chat_world.bob.id, "rude")


async def test_files_stand_in_the_order_of_the_array(chat_world: World) -> None:
    edit = await written(chat_world, "x", "a.png", "b.png")
    first, second = ({"id": file["id"]} for file in edit.message["attachments"])

    def names(message: dict[str, Any]) -> list[str]:
        return [file["filename"] for file in message["attachments"]]

    turned = await edit(attachments=[second, first])
    assert (names(turned), turned["edited_timestamp"] is None) == (["b.png", "a.png"], False)
    same = await edit(attachments=[second, first])
    assert (names(same), same["edited_timestamp"]) == (["b.png", "a.png"], turned["edited_timestamp"])
    mixed = (await edit.with_files("c.png", "d.png", attachments=[{"id": 1}, first, {"id": 0}, second])).expect(200)
    assert names(mixed) == ["d.png", "a.png", "c.png", "b.png"]
    assert names(await edit()) == names(mixed)
    # Of which nothing is said stands behind.
    more = (await edit.with_files("e.png", "f.png", attachments=[{"id": 1}, second])).expect(200)
    assert names(more) == ["f.png", "b.png", "e.png"]
    assert names(await edit()) == names(more)


# Who, and where


async def test_nobody_edits_what_somebody_else_wrote(chat_world: World) -> None:
    edit = await written(chat_world)
    for actor in (chat_world.alice, chat_world.carol, chat_world.bot):
        refused(await actor.rest.patch(edit.path, {"content": "x"}), 403, "CANNOT_EDIT_OTHER_USER_MESSAGE")
    refused(await chat_world.admin.rest.patch(edit.path, {"content": "x"}), 403, "MISSING_PERMISSIONS")
    (await chat_world.bob.rest.delete(edit.path)).expect(204)
    refused(await edit.ask(content="x"), 404, "UNKNOWN_MESSAGE")


async def test_nobody_is_shown_by_an_edit_what_they_may_not_read(chat_world: World) -> None:
    alice, bob, channel_id = chat_world.alice, chat_world.bob, chat_world.channel_id
    sent = (await alice.rest.send_files(channel_id, {"a.txt": b"a"}, content="hush")).expect(200)
    answer = {"message_reference": {"message_id": sent["id"]}}
    own = (await bob.rest.send_message(channel_id, "own", **answer)).expect(200)
    masks = {"allow": Permission.MANAGE_MESSAGES, "deny": Permission.READ_MESSAGE_HISTORY}
    overwrite = {"type": 1, **{name: str(int(bits)) for name, bits in masks.items()}}
    (await alice.rest.put(f"/v1/channels/{channel_id}/permissions/{bob.id}", overwrite)).expect(204)
    path = f"/v1/channels/{channel_id}/messages/{sent['id']}"
    refused(await bob.rest.get(path), 404, "UNKNOWN_MESSAGE")
    refused(await bob.rest.patch(path, {"flags": 4}), 404, "UNKNOWN_MESSAGE")
    refused(await bob.rest.delete(f"{path}/attachments/{sent['attachments'][0]['id']}"), 404, "UNKNOWN_MESSAGE")
    edited = (await bob.rest.edit_message(channel_id, own["id"], "still own")).expect(200)
    assert (edited["content"], edited["referenced_message"]) == ("still own", None)


async def test_whoever_cannot_speak_does_not_edit(chat_world: World, autojump_clock: MockClock) -> None:
    edit = await written(chat_world)
    until = iso_timestamp(snowflake_time_ms(int(edit.message["id"])) + 60_000)
    member = f"/v1/guilds/{chat_world.guild_id}/members/{chat_world.bob.id}"
    (await chat_world.alice.rest.patch(member, {"communication_disabled_until": until})).expect(200)
    refused(await edit.ask(content="x"), 403, "COMMUNICATION_DISABLED")
    await trio.sleep(61)
    assert (await edit(content="x"))["content"] == "x"
    # Taking SEND_MESSAGES away leaves one's own words to oneself.
    await set_permissions(chat_world, chat_world.channel_id, deny=Permission.SEND_MESSAGES)
    assert (await edit(content="y"))["content"] == "y"


async def test_an_archived_thread_is_not_edited(chat_world: World) -> None:
    bob = chat_world.bob
    thread = await start(bob, chat_world.channel_id)
    edit = Edited(chat_world, (await bob.rest.send_message(thread["id"], "first")).expect(200))
    (await ask(chat_world.alice, "PATCH", f"/v1/channels/{thread['id']}", {"archived": True})).expect(200)
    refused(await edit.ask(content="x"), 400, "THREAD_ARCHIVED")


async def test_an_edited_answer_still_answers(chat_world: World) -> None:
    alice, channel_id = chat_world.alice, chat_world.channel_id
    question = (await alice.rest.send_message(channel_id, "why?")).expect(200)
    edit = await written(chat_world, "becuase", message_reference={"message_id": question["id"]})
    changed = await edit(content="because")
    assert (changed["type"], changed["referenced_message"]["id"]) == (19, question["id"])
    assert [user["id"] for user in changed["mentions"]] == [alice.id]
    (await alice.rest.delete_message(channel_id, question["id"])).expect(204)
    assert (await edit(content="because!"))["referenced_message"] is None


async def test_two_edits_at_once_leave_one_whole_message(chat_world: World) -> None:
    edit = await written(chat_world, "x", "a.png")
    answers: list[Response] = []

    async def ask_for(**body: Any) -> None:
        answers.append(await edit.ask(**body))

    async with trio.open_nursery() as nursery:
        nursery.start_soon(lambda: ask_for(content="one", attachments=[]))
        nursery.start_soon(lambda: ask_for(content="two"))
        nursery.start_soon(lambda: ask_for(flags=4))
    assert {answer.status for answer in answers} == {200}
    left = await edit()
    assert (left["content"] in ("one", "two"), left["attachments"], left["flags"]) == (True, [], 4)
