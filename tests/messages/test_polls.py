"""Polls by the routes and the gateway, on the virtual clock (messages.md, Polls)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
import trio

from chat.testing.http_client import Response
from chat.testing.world import World
from tests.threads.thread_world import ANNOUNCEMENT, channel

HOUR_MS = 3_600_000


def asking(*answers: str, hours: int = 1, several: bool = False) -> dict[str, Any]:
    return {
        "question": {"text": "Which?"},
        "answers": [{"poll_media": {"text": text}} for text in answers or ("red", "blue")],
        "duration": hours,
        "allow_multiselect": several,
    }


def refused(answer: Response, status: int, code: str) -> Any:
    said = answer.expect(status)
    assert said["code"] == code
    return said


async def ask(world: World, poll: Mapping[str, Any] | None = None, **members: Any) -> dict[str, Any]:
    path = f"/v1/channels/{world.channel_id}/messages"
    sent = await world.alice.rest.post(path, {"poll": asking() if poll is None else poll, **members})
    return dict(sent.expect(200))


async def votes(world: World, person: Any, message: Mapping[str, Any], *answers: int) -> Any:
    path = f"/v1/channels/{world.channel_id}/polls/{message['id']}/answers/@me"
    return await person.rest.put(path, {"answer_ids": [str(answer) for answer in answers]})


async def seen_by(world: World, person: Any, message: Mapping[str, Any]) -> dict[str, Any]:
    path = f"/v1/channels/{world.channel_id}/messages/{message['id']}"
    return dict((await person.rest.get(path)).expect(200)["poll"])


def counts(poll: Mapping[str, Any]) -> list[tuple[int, bool]]:
    return [(each["count"], each["me_voted"]) for each in poll["results"]["answer_counts"]]


async def test_a_poll_is_told_as_it_was_asked(chat_world: World) -> None:
    emoji = {"poll_media": {"emoji": {"name": "\N{HEAVY BLACK HEART}"}}}
    message = await ask(chat_world, {**asking(), "answers": [*asking()["answers"], emoji]})
    poll = message["poll"]
    assert [answer["answer_id"] for answer in poll["answers"]] == [1, 2, 3]
    assert poll["answers"][2]["poll_media"]["emoji"]["id"] is None
    assert (poll["question"], poll["layout_type"], poll["allow_multiselect"]) == ({"text": "Which?"}, 1, False)
    assert (message["content"], counts(poll), poll["results"]["is_finalized"]) == ("", [(0, False)] * 3, False)
    assert await seen_by(chat_world, chat_world.bob, message) == poll


async def test_votes_are_given_changed_and_taken_back(chat_world: World) -> None:
    message = await ask(chat_world)
    client = await chat_world.carol.connect()
    (await votes(chat_world, chat_world.bob, message, 1)).expect(204)
    place = {"channel_id": chat_world.channel_id, "message_id": message["id"], "guild_id": chat_world.guild_id}
    told = {**place, "user_id": chat_world.bob.id, "answer_id": 1}
    assert (await client.expect("MESSAGE_POLL_VOTE_ADD")).data == told
    assert counts(await seen_by(chat_world, chat_world.bob, message)) == [(1, True), (0, False)]
    assert counts(await seen_by(chat_world, chat_world.carol, message)) == [(1, False), (0, False)]
    (await votes(chat_world, chat_world.bob, message, 2)).expect(204)
    assert (await client.expect("MESSAGE_POLL_VOTE_REMOVE")).data == told
    assert (await client.expect("MESSAGE_POLL_VOTE_ADD")).data == {**told, "answer_id": 2}
    (await votes(chat_world, chat_world.bob, message)).expect(204)
    assert (await client.expect("MESSAGE_POLL_VOTE_REMOVE")).data == {**told, "answer_id": 2}
    assert counts(await seen_by(chat_world, chat_world.bob, message)) == [(0, False), (0, False)]


async def test_several_answers_where_the_poll_takes_them(chat_world: World) -> None:
    one, several = await ask(chat_world), await ask(chat_world, asking(several=True))
    said = refused(await votes(chat_world, chat_world.bob, one, 1, 2), 400, "INVALID_FORM_BODY")
    assert said["errors"][0]["path"] == "answer_ids"
    (await votes(chat_world, chat_world.bob, several, 1, 2)).expect(204)
    refused(await votes(chat_world, chat_world.bob, several, 3), 400, "INVALID_FORM_BODY")
    assert counts(await seen_by(chat_world, chat_world.bob, several)) == [(1, True), (1, True)]


async def test_who_gave_an_answer(chat_world: World) -> None:
    message = await ask(chat_world)
    for person in (chat_world.bob, chat_world.carol):
        (await votes(chat_world, person, message, 1)).expect(204)
    path = f"/v1/channels/{chat_world.channel_id}/polls/{message['id']}/answers"
    first = (await chat_world.alice.rest.get(f"{path}/1?limit=1")).expect(200)["users"]
    others = (await chat_world.alice.rest.get(f"{path}/1?after={first[0]['id']}")).expect(200)["users"]
    assert sorted([first[0]["id"], others[0]["id"]], key=int) == [first[0]["id"], others[0]["id"]]
    assert {first[0]["id"], others[0]["id"]} == {chat_world.bob.id, chat_world.carol.id}
    assert (await chat_world.alice.rest.get(f"{path}/2")).expect(200) == {"users": []}
    refused(await chat_world.alice.rest.get(f"{path}/3"), 400, "INVALID_FORM_BODY")


async def test_a_poll_ends_at_its_moment_and_says_how_it_came_out(autojump_clock: object, chat_world: World) -> None:
    message = await ask(chat_world)
    (await votes(chat_world, chat_world.bob, message, 2)).expect(204)
    client = await chat_world.carol.connect()
    await chat_world.anyone.advance_clock(HOUR_MS + 1_000)
    changed = (await client.expect("MESSAGE_UPDATE")).data
    assert (changed["id"], changed["poll"]["results"]["is_finalized"]) == (message["id"], True)
    result = (await client.expect("MESSAGE_CREATE")).data
    assert (result["type"], result["author"]["id"]) == (46, chat_world.alice.id)
    assert result["message_reference"]["message_id"] == message["id"]
    (embed,) = result["embeds"]
    fields = {field["name"]: field["value"] for field in embed["fields"]}
    assert embed["type"] == "poll_result"
    assert fields == {
        "poll_question_text": "Which?",
        "victor_answer_votes": "1",
        "total_votes": "1",
        "victor_answer_id": "2",
        "victor_answer_text": "blue",
    }
    refused(await votes(chat_world, chat_world.bob, message, 1), 400, "POLL_ENDED")
    listed = (await chat_world.bob.rest.get(f"/v1/channels/{chat_world.channel_id}/messages")).expect(200)
    assert [each["type"] for each in listed].count(46) == 1


async def test_its_author_ends_a_poll(autojump_clock: object, chat_world: World) -> None:
    message = await ask(chat_world)
    path = f"/v1/channels/{chat_world.channel_id}/polls/{message['id']}/expire"
    refused(await chat_world.bob.rest.post(path), 403, "CANNOT_EDIT_OTHER_USER_MESSAGE")
    ended = (await chat_world.alice.rest.post(path)).expect(200)
    assert ended["poll"]["results"]["is_finalized"] is True
    refused(await chat_world.alice.rest.post(path), 400, "POLL_ENDED")
    await chat_world.anyone.advance_clock(2 * HOUR_MS)
    listed = (await chat_world.bob.rest.get(f"/v1/channels/{chat_world.channel_id}/messages")).expect(200)
    assert [each["type"] for each in listed].count(46) == 1


@pytest.mark.parametrize(
    ("poll", "path"),
    [
        ({**asking(), "question": {"text": " "}}, "poll.question.text"),
        ({**asking(), "question": {"text": "x" * 301}}, "poll.question.text"),
        (asking("x" * 56), "poll.answers.0.poll_media.text"),
        (asking("red", " "), "poll.answers.1.poll_media.text"),
        ({**asking(), "answers": []}, "poll.answers"),
        (asking(*map(str, range(11))), "poll.answers"),
        (asking(hours=0), "poll.duration"),
        (asking(hours=769), "poll.duration"),
        ({**asking(), "layout_type": 2}, "poll.layout_type"),
        ({**asking(), "answers": [{"poll_media": {"emoji": {"name": "no emoji"}}}]}, "poll.answers.0.poll_media.emoji"),
    ],
)
async def test_a_wrong_poll_is_refused_at_its_field(chat_world: World, poll: Mapping[str, Any], path: str) -> None:
    sent = await chat_world.alice.rest.post(f"/v1/channels/{chat_world.channel_id}/messages", {"poll": poll})
    assert refused(sent, 400, "INVALID_FORM_BODY")["errors"][0]["path"].startswith(path)


async def test_where_no_poll_can_be(chat_world: World) -> None:
    message, base = await ask(chat_world), f"/v1/channels/{chat_world.channel_id}/messages"
    alice = chat_world.alice.rest
    forward = {"message_reference": {"type": 1, "message_id": message["id"]}}
    for tried in (
        await alice.patch(f"{base}/{message['id']}", {"poll": asking()}),
        await alice.post(base, forward),
    ):
        assert refused(tried, 400, "INVALID_FORM_BODY")["errors"][0]["code"] == "POLL_NOT_ALLOWED_HERE"
    plain = (await alice.post(base, {"content": "none"})).expect(200)
    refused(await votes(chat_world, chat_world.bob, plain, 1), 400, "MESSAGE_WITHOUT_POLL")
    news = (await channel(chat_world, "news", ANNOUNCEMENT))["id"]
    asked = (await alice.post(f"/v1/channels/{news}/messages", {"poll": asking()})).expect(200)
    published = refused(await alice.crosspost(news, asked["id"]), 400, "INVALID_FORM_BODY")["errors"]
    assert [(error["path"], error["code"]) for error in published] == [("message_id", "POLL_NOT_ALLOWED_HERE")]


async def test_a_poll_that_is_edited_keeps_its_votes(chat_world: World) -> None:
    message = await ask(chat_world, content="Vote!")
    (await votes(chat_world, chat_world.alice, message, 1)).expect(204)
    path = f"/v1/channels/{chat_world.channel_id}/messages/{message['id']}"
    edited = (await chat_world.alice.rest.patch(path, {"content": ""})).expect(200)
    assert (edited["content"], counts(edited["poll"])) == ("", [(1, True), (0, False)])


async def test_a_poll_is_found_by_its_words(chat_world: World) -> None:
    message = await ask(chat_world, asking("marzipan", "nougat"))
    plain = await chat_world.alice.rest.post(f"/v1/channels/{chat_world.channel_id}/messages", {"content": "marzipan"})
    plain.expect(200)
    await trio.sleep(1)
    for wanted in ({"content": "nougat"}, {"has": ["poll"]}):
        body = {"context_channel_id": chat_world.channel_id, **wanted}
        found = (await chat_world.alice.rest.post("/v1/search/messages", body)).expect(200)
        assert [each["id"] for each in found["messages"]] == [message["id"]]


async def test_who_does_not_see_the_channel_does_not_see_the_poll(chat_world: World) -> None:
    alice, bob = chat_world.alice, chat_world.bob
    hidden = {"name": "hidden", "permission_overwrites": [{"id": chat_world.guild_id, "type": 0, "deny": "1024"}]}
    channel = (await alice.rest.post(f"/v1/guilds/{chat_world.guild_id}/channels", hidden)).expect(200)["id"]
    message = (await alice.rest.send_message(channel, "", poll=asking())).expect(200)
    polls = f"/v1/channels/{channel}/polls/{message['id']}"
    own = await bob.rest.get(f"/v1/channels/{channel}/messages/{message['id']}")
    for tried in (
        await bob.rest.put(f"{polls}/answers/@me", {"answer_ids": ["1"]}),
        await bob.rest.get(f"{polls}/answers/1"),
        await bob.rest.post(f"{polls}/expire"),
    ):
        assert (tried.status, tried.code) == (own.status, own.code)
    assert own.status in {403, 404}
    assert counts((await alice.rest.get(f"/v1/channels/{channel}/messages/{message['id']}")).expect(200)["poll"]) == [
        (0, False),
        (0, False),
    ]
