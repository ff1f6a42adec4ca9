"""What stands in an account's list of conversations: closing, opening again, pinning, and the notes to oneself."""

from __future__ import annotations

from chat.testing.rest_client import Response
from chat.testing.world import Actor, World
from tests.people.friends import make_group

CHANNELS = "/v1/users/@me/channels"


async def open_with(actor: Actor, other: Actor) -> str:
    opened = (await actor.rest.post(CHANNELS, {"recipient_id": other.id})).expect(200)
    return str(opened["id"])


async def listed(actor: Actor) -> list[str]:
    return [channel["id"] for channel in (await actor.rest.get(CHANNELS)).expect(200)]


def refused(answer: Response) -> tuple[int, str | None]:
    return answer.status, answer.code


async def test_a_closed_conversation_opens_with_the_next_message(chat_world: World) -> None:
    alice, bob = chat_world.alice, chat_world.bob
    channel_id = await open_with(alice, bob)
    (await alice.rest.send_message(channel_id, "hello")).expect(200)
    at_alice, at_bob = await alice.connect(), await bob.connect()

    (await alice.rest.delete(f"/v1/channels/{channel_id}")).expect(204)
    assert (await at_alice.expect("CHANNEL_DELETE")).data["id"] == channel_id
    assert (await listed(alice), await listed(bob)) == ([], [channel_id])
    (await alice.rest.delete(f"/v1/channels/{channel_id}")).expect(204)  # it is closed already
    assert (await alice.rest.get(f"/v1/channels/{channel_id}")).expect(200)["id"] == channel_id

    (await bob.rest.send_message(channel_id, "are you there?")).expect(200)
    assert (await at_alice.expect("CHANNEL_CREATE")).data["id"] == channel_id
    assert (await at_alice.expect("MESSAGE_CREATE")).data["content"] == "are you there?"
    assert await listed(alice) == [channel_id]
    heard = [payload.name for payload in at_alice.payloads if payload.name == "CHANNEL_DELETE"]
    assert len(heard) == 1
    assert "CHANNEL_DELETE" not in {payload.name for payload in at_bob.payloads}
    refusal = await chat_world.carol.rest.delete(f"/v1/channels/{channel_id}")
    assert refused(refusal) == (404, "UNKNOWN_CHANNEL")


async def test_pinned_conversations_keep_the_order_of_pinning(chat_world: World) -> None:
    alice = chat_world.alice
    first = await open_with(alice, chat_world.bob)
    second = (await make_group(alice))["id"]
    third = await open_with(alice, chat_world.carol)
    here = await alice.connect()

    def path(channel_id: str) -> str:
        return f"{CHANNELS}/{channel_id}/pin"

    for channel_id, expected in (
        (third, [third]),
        (first, [third, first]),
        (second, [third, first, second]),
        (third, [third, first, second]),
    ):
        (await alice.rest.put(path(channel_id))).expect(204)
        assert (await here.expect("USER_PINNED_DMS_UPDATE")).data == expected
    (await alice.rest.delete(path(first))).expect(204)
    assert (await here.expect("USER_PINNED_DMS_UPDATE")).data == [third, second]
    (await alice.rest.put(path(first))).expect(204)
    again = await alice.connect()
    assert again.ready is not None
    assert again.ready["pinned_dms"] == [third, second, first]
    (await alice.rest.delete(f"/v1/channels/{third}")).expect(204)  # closing does not unpin
    assert (await alice.connect()).ready["pinned_dms"] == [third, second, first]  # type: ignore[index]

    for channel_id in (chat_world.channel_id, alice.id):
        for answer in (await alice.rest.put(path(channel_id)), await alice.rest.delete(path(channel_id))):
            assert [error["code"] for error in answer.json()["errors"]] == ["CHANNEL_MUST_BE_DM_OR_GROUP_DM"]
    assert refused(await chat_world.bob.rest.put(path(third))) == (404, "UNKNOWN_CHANNEL")


async def test_notes_to_oneself(chat_world: World) -> None:
    alice, bob = chat_world.alice, chat_world.bob
    here = await alice.connect()
    path = f"/v1/channels/{alice.id}"
    notes = (await alice.rest.get(path)).expect(200)
    assert notes == {"id": alice.id, "type": 999, "last_message_id": None, "last_pin_timestamp": None}
    sent = (await alice.rest.send_message(alice.id, "buy milk")).expect(200)
    heard = (await here.expect("MESSAGE_CREATE")).data
    assert (heard["id"], heard["channel_type"]) == (sent["id"], 999)
    (await alice.rest.edit_message(alice.id, sent["id"], "buy oat milk")).expect(200)
    read = (await alice.rest.messages(alice.id)).expect(200)
    assert [message["content"] for message in read] == ["buy oat milk"]
    assert (await alice.rest.get(path)).expect(200)["last_message_id"] == sent["id"]

    assert await listed(alice) == []
    assert (await alice.connect()).ready["private_channels"] == []  # type: ignore[index]
    assert "CHANNEL_CREATE" not in {payload.name for payload in here.payloads}
    for answer in (
        await bob.rest.get(path),
        await bob.rest.messages(alice.id),
        await bob.rest.send_message(alice.id, "hello"),
    ):
        assert refused(answer) == (404, "UNKNOWN_CHANNEL")
    assert refused(await alice.rest.delete(path)) == (400, "CANNOT_EXECUTE_ON_DM")
    oneself = await alice.rest.post(CHANNELS, {"recipient_id": alice.id})
    assert [error["code"] for error in oneself.json()["errors"]] == ["CANNOT_DM_YOURSELF"]
    bot = chat_world.bot
    assert refused(await bot.rest.get(f"/v1/channels/{bot.id}")) == (404, "UNKNOWN_CHANNEL")


async def test_a_new_account_has_notes_at_once(chat_world: World) -> None:
    made = await chat_world.anyone.register(
        email="dora@example.com",
        username="dora",
        password="correct horse battery",
        date_of_birth="1990-01-01",
        consent=True,
    )
    token, user_id = made.expect(200)["token"], made.json()["user_id"]
    dora = chat_world.anyone.signed_in(token)
    (await dora.send_message(user_id, "first")).expect(200)
    await dora.aclose()
