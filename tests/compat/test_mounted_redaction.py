"""Without MESSAGE_CONTENT nothing of what a message says comes to a bot at the mount, wherever it stands."""

from __future__ import annotations

from typing import Any, Final

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st
from trio.testing import MockClock

from chat import wire
from chat.api.schemas.declared import object_shape
from chat.compat.discord.intents import ALL_INTENTS, Intent
from chat.compat.discord.redaction import EMPTIED, KEPT, LEFT_OUT, NESTED, redacted, without_what_it_answers
from chat.testing import World
from chat.testing.gateway_client import GatewayClient

CANARY: Final = "canary in the coal mine"
SAYING: Final = (*EMPTIED, *LEFT_OUT, "a_member_to_come")
"""Members in which it may stand. Names of people, channels and stickers are no content."""

spoken = st.recursive(
    st.just(CANARY),
    lambda inner: st.lists(inner, min_size=1, max_size=2) | st.dictionaries(st.sampled_from("abc"), inner, min_size=1),
    max_leaves=4,
)
kept = st.dictionaries(st.sampled_from(sorted(KEPT - {"author", "mentions"})), st.just("1"))
said = st.dictionaries(st.sampled_from(SAYING), spoken)
messages = st.recursive(
    st.builds(lambda *parts: {k: v for part in parts for k, v in part.items()}, kept, said),
    lambda inner: st.builds(
        lambda whole, answered, forwarded: {
            **whole,
            "referenced_message": answered,
            "message_snapshots": [{"message": each} for each in forwarded],
        },
        inner,
        inner | st.none(),
        st.lists(inner, max_size=2),
    ),
    max_leaves=6,
)


@given(messages)
def test_a_canary_does_not_come_through(message: dict[str, Any]) -> None:
    bare = redacted(message)
    assert CANARY not in orjson.dumps(bare).decode()
    assert {name: bare[name] for name in message if name in KEPT} == {
        name: value for name, value in message.items() if name in KEPT
    }


@given(messages, messages)
def test_who_may_read_a_message_may_not_read_the_one_it_answers(
    message: dict[str, Any], answered: dict[str, Any]
) -> None:
    told = without_what_it_answers({**message, "referenced_message": answered})
    assert CANARY not in orjson.dumps(told["referenced_message"]).decode()
    for name in message.keys() - {"referenced_message"}:
        assert told[name] == message[name]


def test_each_member_of_a_message_is_known() -> None:
    for shape in (object_shape(wire.Message), object_shape(wire.MessageSnapshot)):
        assert members_of(shape) <= KEPT | EMPTIED.keys() | LEFT_OUT | NESTED.keys()
    assert not KEPT & (EMPTIED.keys() | LEFT_OUT | NESTED.keys())


def members_of(shape: Any) -> set[str]:
    return set(shape.schema["properties"])


async def connected(world: World, intents: int) -> GatewayClient:
    client = await world.bot.open(query="v=10&encoding=json")
    await client.identify(world.bot.token, intents=intents)
    await client.expect("READY")
    return client


@pytest.mark.parametrize("through", ["answer", "forward"])
async def test_what_a_message_answers_or_forwards_is_not_told(
    chat_world: World, autojump_clock: MockClock, through: str
) -> None:
    reader = await connected(chat_world, ALL_INTENTS)
    other = await connected(chat_world, ALL_INTENTS & ~Intent.MESSAGE_CONTENT)
    path = f"/v1/channels/{chat_world.channel_id}/messages"
    alice = chat_world.alice.rest
    first = {"content": CANARY, "embeds": [{"title": CANARY, "fields": [{"name": CANARY, "value": CANARY}]}]}
    message = (await alice.post(path, first)).expect(200)
    reference = {"message_id": message["id"], "channel_id": chat_world.channel_id}
    body: dict[str, Any] = {"message_reference": {**reference, "type": 1 if through == "forward" else 0}}
    if through == "answer":
        body["content"] = f"{CANARY} again"
    second = (await alice.post(path, body)).expect(200)
    named = (
        (await alice.post(path, {**body, "content": f"<@{chat_world.bot.id}> {CANARY}"})).expect(200)
        if (through == "answer")
        else None
    )
    (await reader.expect("MESSAGE_CREATE", where=lambda data: data["id"] == second["id"]))
    told = (await other.expect("MESSAGE_CREATE", where=lambda data: data["id"] == second["id"])).data
    assert CANARY not in orjson.dumps(told).decode()
    assert ("referenced_message" if through == "answer" else "message_snapshots") in told
    whole = next(payload.data for payload in reader.dispatches if payload.data.get("id") == second["id"])
    assert CANARY in orjson.dumps(whole).decode()
    if named is not None:  # it may read this one, and not what that answers
        told = (await other.expect("MESSAGE_CREATE", where=lambda data: data["id"] == named["id"])).data
        assert CANARY in told["content"]
        assert CANARY not in orjson.dumps(told["referenced_message"]).decode()


async def test_an_answer_to_its_own_message_is_told_whole(chat_world: World, autojump_clock: MockClock) -> None:
    other = await connected(chat_world, ALL_INTENTS & ~Intent.MESSAGE_CONTENT)
    path = f"/v1/channels/{chat_world.channel_id}/messages"
    own = (await chat_world.bot.rest.post(path, {"content": CANARY})).expect(200)
    body = {"content": f"<@{chat_world.bot.id}>", "message_reference": {"message_id": own["id"]}}
    answer = (await chat_world.alice.rest.post(path, body)).expect(200)
    told = (await other.expect("MESSAGE_CREATE", where=lambda data: data["id"] == answer["id"])).data
    assert told["referenced_message"]["content"] == CANARY
