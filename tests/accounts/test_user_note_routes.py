"""Notes about others, which only the one who writes them sees (wire facts 1.8, appendix A)."""

from __future__ import annotations

import pytest

from chat.testing.world import World

NOTES = "/v1/users/@me/notes"


async def test_a_note_is_written_changed_and_taken_away(chat_world: World) -> None:
    alice, bob = chat_world.alice, chat_world.bob
    at_alice, at_bob = await alice.connect(), await bob.connect()
    assert (await alice.rest.get(NOTES)).expect(200) == {}

    (await alice.rest.write_note(bob.id, "  owes me a book ")).expect(204)
    assert (await at_alice.expect("USER_NOTE_UPDATE")).data == {"id": bob.id, "note": "owes me a book"}
    assert (await alice.rest.get(NOTES)).expect(200) == {bob.id: "owes me a book"}
    assert (await alice.rest.get(f"{NOTES}/{bob.id}")).expect(200) == {"note": "owes me a book"}

    (await alice.rest.write_note(bob.id, "gave it back")).expect(204)
    assert (await at_alice.expect("USER_NOTE_UPDATE")).data["note"] == "gave it back"
    fresh = await alice.connect()
    assert fresh.ready is not None
    assert fresh.ready["notes"] == {bob.id: "gave it back"}

    (await alice.rest.write_note(bob.id, None)).expect(204)
    assert (await at_alice.expect("USER_NOTE_UPDATE")).data == {"id": bob.id, "note": ""}
    assert (await alice.rest.get(NOTES)).expect(200) == {}
    gone = await alice.rest.get(f"{NOTES}/{bob.id}")
    assert (gone.status, gone.code) == (404, "UNKNOWN_USER")

    # Bob has heard nothing of all this.
    (await chat_world.carol.rest.send_message(chat_world.channel_id, "hello")).expect(200)
    await at_bob.expect("MESSAGE_CREATE")
    assert "USER_NOTE_UPDATE" not in [payload.name for payload in at_bob.payloads]
    assert (await bob.rest.get(NOTES)).expect(200) == {}


@pytest.mark.parametrize("note", ["", "   ", "\n"])
async def test_an_empty_note_is_none(chat_world: World, note: str) -> None:
    alice, bob = chat_world.alice, chat_world.bob
    (await alice.rest.write_note(bob.id, "something")).expect(204)
    (await alice.rest.write_note(bob.id, note)).expect(204)
    assert (await alice.rest.get(NOTES)).expect(200) == {}


async def test_how_long_a_note_may_be(chat_world: World) -> None:
    alice, bob = chat_world.alice, chat_world.bob
    (await alice.rest.write_note(bob.id, "n" * 256)).expect(204)
    refused = await alice.rest.write_note(bob.id, "n" * 257)
    assert (refused.status, refused.code) == (400, "INVALID_FORM_BODY")
    assert refused.json()["errors"][0] == refused.json()["errors"][0] | {
        "path": "note",
        "code": "STRING_LENGTH_INVALID",
    }
    assert (await alice.rest.get(NOTES)).expect(200) == {bob.id: "n" * 256}


async def test_about_whom(chat_world: World) -> None:
    alice = chat_world.alice
    for target in (alice.id, chat_world.bot.id):
        (await alice.rest.write_note(target, "a note")).expect(204)
    for path in (f"{NOTES}/999999999999999999",):
        assert (await alice.rest.put(path, {"note": "nobody"})).code == "UNKNOWN_USER"
    refused = await alice.rest.put(f"{NOTES}/somebody", {"note": "no number"})
    assert (refused.status, refused.code) == (400, "INVALID_FORM_BODY")
    refused = await chat_world.bot.rest.write_note(alice.id, "a bot notes nothing")
    assert refused.status == 403


@pytest.mark.chat_settings(**{"content_policy.blocked_phrases": ["forbidden"]})
async def test_blocked_text_is_no_note(chat_world: World) -> None:
    refused = await chat_world.alice.rest.write_note(chat_world.bob.id, "FORBIDDEN words")
    assert (refused.status, refused.code) == (403, "CONTENT_BLOCKED")
