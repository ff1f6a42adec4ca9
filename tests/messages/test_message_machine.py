"""A Hypothesis state machine that writes, answers, carries on, edits, deletes, purges and pins in any order, against a
plain list: every page, every list of pins and every refusal is what the list says."""

from __future__ import annotations

import tempfile
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, TypeVar

import attrs
import pytest
import trio
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from chat.registries.message_types import MessageType
from chat.testing.gateway_machine import MACHINE_SETTINGS
from chat.testing.rest_client import Response
from chat.testing.server import open_chat_server
from chat.testing.stepped_run import SteppedRun
from chat.testing.world import Actor, World

T = TypeVar("T")

WORDS = ["one", "two", "Three", "four <@1>"]
WRITTEN = (MessageType.DEFAULT.value, MessageType.REPLY.value)


@attrs.define
class ModelMessage:
    """What is known of a message."""

    id: str
    author: str
    type: int
    content: str
    answers: str | None = None
    carries: str | None = None
    """The text of the message that it carries on."""
    pinned: int = 0
    """A number that grows from pin to pin."""
    edited: bool = False

    @property
    def is_written(self) -> bool:
        """Whether somebody wrote it."""
        return self.type in WRITTEN

    @property
    def is_own(self) -> bool:
        """Whether its text is its author's, who may change it."""
        return self.is_written and self.carries is None


class MessageMachine(RuleBasedStateMachine):
    """See the module. Alice owns the guild; bob and carol are plain members."""

    def __init__(self) -> None:
        super().__init__()
        self.messages: list[ModelMessage] = []
        self.gone: list[str] = ["999999999999999999"]
        self.pins = 0
        self._folder = tempfile.TemporaryDirectory(prefix="chat-messages-")
        self._run = SteppedRun(virtual=True)
        self._call(self._open)
        self.actors = {"alice": self.world.alice, "bob": self.world.bob, "carol": self.world.carol}
        channel = {"name": "machine", "type": 0}
        made = self._call(self.world.alice.rest.post, f"/v1/guilds/{self.world.guild_id}/channels", channel)
        self.channel_id: str = made.expect(200)["id"]
        self.path = f"/v1/channels/{self.channel_id}"

    def _call(self, ask: Callable[..., Awaitable[T]], *arguments: Any) -> T:
        return self._run.call(ask, *arguments)

    async def _open(self) -> None:
        await self._run.nursery.start(self._live)

    async def _live(self, task_status: trio.TaskStatus[None]) -> None:
        async with open_chat_server(Path(self._folder.name)) as server:
            self.world = World(server.description(), server.route(), self._run.nursery)
            task_status.started()
            await trio.sleep_forever()

    def teardown(self) -> None:
        """End the run, and whatever lives in it."""
        self._run.close()
        self._folder.cleanup()

    # Words

    def _ask(self, who: str, method: str, path: str, body: object = ...) -> Response:
        actor: Actor = self.actors[who]
        return self._call(lambda: actor.rest.request(method, self.path + path, json=body))

    def _find(self, message_id: str) -> ModelMessage | None:
        return next((message for message in self.messages if message.id == message_id), None)

    def _draw(self, data: st.DataObject) -> str:
        """The id of a message, mostly of one that is there."""
        there = [message.id for message in self.messages]
        return data.draw(st.sampled_from([*there, *self.gone[-2:]]))

    def _forget(self, message_ids: list[str]) -> None:
        self.gone += [message.id for message in self.messages if message.id in message_ids]
        self.messages = [message for message in self.messages if message.id not in message_ids]

    def _refused(self, answer: Response, status: int, code: str) -> None:
        assert (answer.status, answer.code) == (status, code), answer

    # Steps

    @rule(who=st.sampled_from(["alice", "bob", "carol"]), content=st.sampled_from(WORDS))
    def write(self, who: str, content: str) -> None:
        sent = self._ask(who, "POST", "/messages", {"content": content}).expect(200)
        self.messages.append(ModelMessage(sent["id"], self.actors[who].id, 0, content))

    @rule(data=st.data(), who=st.sampled_from(["alice", "bob"]), content=st.sampled_from(WORDS))
    def answer(self, data: st.DataObject, who: str, content: str) -> None:
        target = self._draw(data)
        answer = self._ask(who, "POST", "/messages", {"content": content, "message_reference": {"message_id": target}})
        found = self._find(target)
        if found is None:
            self._refused(answer, 404, "UNKNOWN_MESSAGE")
            return
        if not found.is_written:  # nobody answers what the server wrote
            self._refused(answer, 400, "INVALID_FORM_BODY")
            return
        sent = answer.expect(200)
        self.messages.append(ModelMessage(sent["id"], self.actors[who].id, 19, content, answers=target))

    @rule(data=st.data(), who=st.sampled_from(["bob", "carol"]))
    def carry_on(self, data: st.DataObject, who: str) -> None:
        target = self._draw(data)
        answer = self._ask(who, "POST", "/messages", {"message_reference": {"message_id": target, "type": 1}})
        found = self._find(target)
        if found is None:
            self._refused(answer, 404, "UNKNOWN_MESSAGE")
        elif not found.is_written:
            self._refused(answer, 400, "INVALID_FORM_BODY")
        else:
            carried = found.content if found.carries is None else found.carries
            self.messages.append(ModelMessage(answer.expect(200)["id"], self.actors[who].id, 0, "", carries=carried))

    @rule(data=st.data(), who=st.sampled_from(["alice", "bob"]), content=st.sampled_from(WORDS))
    def edit(self, data: st.DataObject, who: str, content: str) -> None:
        target = self._draw(data)
        answer = self._ask(who, "PATCH", f"/messages/{target}", {"content": content})
        found = self._find(target)
        if found is None:
            self._refused(answer, 404, "UNKNOWN_MESSAGE")
        elif found.author != self.actors[who].id or not found.is_own:
            self._refused(answer, 403, "CANNOT_EDIT_OTHER_USER_MESSAGE")
        else:
            answer.expect(200)
            found.edited |= content != found.content
            found.content = content

    @rule(data=st.data(), who=st.sampled_from(["alice", "bob"]))
    def delete(self, data: st.DataObject, who: str) -> None:
        target = self._draw(data)
        answer = self._ask(who, "DELETE", f"/messages/{target}")
        found = self._find(target)
        if found is None:
            self._refused(answer, 404, "UNKNOWN_MESSAGE")
        elif who != "alice" and found.author != self.actors[who].id:
            self._refused(answer, 403, "MISSING_PERMISSIONS")
        else:
            answer.expect(204)
            self._forget([target])

    @precondition(lambda self: len(self.messages) > 3)
    @rule(data=st.data())
    def delete_several(self, data: st.DataObject) -> None:
        there = [message.id for message in self.messages]
        targets = data.draw(st.lists(st.sampled_from([*there, *self.gone[-2:]]), min_size=1, max_size=4))
        self._ask("alice", "POST", "/messages/bulk-delete", {"message_ids": targets}).expect(204)
        self._forget(targets)

    @precondition(lambda self: len(self.messages) > 5)
    @rule(
        limit=st.integers(1, 3),
        contains=st.sampled_from([None, "O", "three", "nowhere"]),
        who=st.sampled_from(["alice", "bob", None]),
        pinned=st.booleans(),
    )
    def purge(self, limit: int, contains: str | None, who: str | None, pinned: bool) -> None:
        body = {"limit": limit, "contains": contains, "pinned": pinned}
        if who is not None:
            body["user_ids"] = [self.actors[who].id]
        fitting = [
            message.id
            for message in reversed(self.messages)
            if (pinned or not message.pinned)
            and (contains is None or contains.casefold() in message.content.casefold())
            and (who is None or message.author == self.actors[who].id)
        ][:limit]
        assert self._ask("alice", "POST", "/messages/purge", body).expect(200) == {"deleted_count": len(fitting)}
        self._forget(fitting)

    @rule(data=st.data(), who=st.sampled_from(["alice", "alice", "bob"]))
    def pin(self, data: st.DataObject, who: str) -> None:
        target = self._draw(data)
        answer = self._ask(who, "PUT", f"/pins/{target}")
        found = self._find(target)
        if who != "alice":
            self._refused(answer, 403, "MISSING_PERMISSIONS")
        elif found is None:
            self._refused(answer, 404, "UNKNOWN_MESSAGE")
        elif not found.is_written:
            self._refused(answer, 400, "INVALID_FORM_BODY")
        else:
            answer.expect(204)
            if not found.pinned:
                self.pins += 1
                found.pinned = self.pins
                newest = self._ask("bob", "GET", "/messages?limit=1").expect(200)[0]
                self.messages.append(ModelMessage(newest["id"], self.world.alice.id, 6, "", answers=target))

    @rule(data=st.data())
    def unpin(self, data: st.DataObject) -> None:
        target = self._draw(data)
        answer = self._ask("alice", "DELETE", f"/pins/{target}")
        found = self._find(target)
        if found is None:
            self._refused(answer, 404, "UNKNOWN_MESSAGE")
        else:
            answer.expect(204)
            found.pinned = 0

    @precondition(lambda self: self.messages)
    @rule(data=st.data(), limit=st.integers(1, 5), cursor=st.sampled_from(["before", "after", "around"]))
    def read_a_page(self, data: st.DataObject, limit: int, cursor: str) -> None:
        at = int(self._draw(data))
        ids = [int(message.id) for message in self.messages]
        if cursor == "before":
            expected = [message_id for message_id in ids if message_id < at][-limit:]
        elif cursor == "after":
            expected = [message_id for message_id in ids if message_id > at][:limit]
        else:
            older = sum(message_id <= at for message_id in ids)
            start = max(0, min(older - (limit - limit // 2), len(ids) - limit))
            expected = ids[start : start + limit]
        page = self._ask("carol", "GET", f"/messages?limit={limit}&{cursor}={at}").expect(200)
        assert [int(message["id"]) for message in page] == expected[::-1]
        window = {"channel_id": self.channel_id, "limit": limit, cursor: str(at)}
        bulk = self._call(self.world.carol.rest.messages_of_channels, window).expect(200)
        assert bulk["channels"][0]["messages"] == page

    @rule()
    def look_at_the_pins(self) -> None:
        pinned = sorted((message for message in self.messages if message.pinned), key=lambda message: -message.pinned)
        seen: list[str] = []
        newest: str | None = None
        more, before = True, ""
        while more:
            page = self._ask("bob", "GET", f"/messages/pins?limit=2{before}").expect(200)
            seen += [item["message"]["id"] for item in page["items"]]
            more = page["has_more"]
            before = f"&before={page['items'][-1]['pinned_at']}" if more else ""
            if newest is None and page["items"]:
                newest = page["items"][0]["pinned_at"]
        assert seen == [message.id for message in pinned]
        assert self._ask("bob", "GET", "").expect(200)["last_pin_timestamp"] == newest

    # What is true at any time

    @invariant()
    def the_list_is_the_model_s(self) -> None:
        page = self._ask("carol", "GET", "/messages?limit=100").expect(200)
        assert [self._seen(message) for message in page] == [
            self._expected(message) for message in reversed(self.messages[-100:])
        ]

    def _seen(self, message: dict[str, Any]) -> tuple[Any, ...]:
        answered = message.get("referenced_message", "none")
        return (
            message["id"],
            message["author"]["id"],
            message["type"],
            message["content"],
            message["pinned"],
            message["edited_timestamp"] is not None,
            answered if isinstance(answered, str | None) else answered["id"],
            [snapshot["content"] for snapshot in message.get("message_snapshots", ())],
        )

    def _expected(self, message: ModelMessage) -> tuple[Any, ...]:
        answered: str | None = "none"
        if message.answers is not None:
            answered = None if self._find(message.answers) is None else message.answers
        return (
            message.id,
            message.author,
            message.type,
            message.content,
            bool(message.pinned),
            message.edited,
            answered,
            [] if message.carries is None else [message.carries],
        )


MessageMachine.TestCase.settings = MACHINE_SETTINGS
test_messages_are_a_list_that_everybody_reads_alike = pytest.mark.long(MessageMachine.TestCase)
