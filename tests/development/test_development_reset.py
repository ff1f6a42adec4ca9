"""Mail that is kept, and the way back to the seeded world."""

from __future__ import annotations

from datetime import datetime

import pytest
import trio
from trio.testing import MockClock

from chat.registries.opcodes import Opcode
from chat.snowflake import snowflake_time_ms
from chat.store.guard import UNGUARDED
from chat.testing.server import ChatServer
from chat.testing.world import World


async def registered(world: World, name: str) -> str:
    """The token of a newcomer, who is sent a verification mail."""
    answer = await world.anyone.register(
        email=f"{name}@example.com",
        username=name,
        password="a long enough password",
        date_of_birth="1990-01-01",
        consent=True,
    )
    token: str = answer.expect(200)["token"]
    return token


async def test_mail_is_kept_and_cleared(world: World) -> None:
    assert (await world.anyone.get("/v1/_dev/mail")).expect(200) == []
    await registered(world, "dora")
    await registered(world, "erin")
    first, second = (await world.anyone.get("/v1/_dev/mail")).expect(200)
    assert list(first) == ["to", "subject", "text", "kind", "token", "created_at"]
    assert (first["to"], first["kind"], second["to"]) == ("dora@example.com", "verification", "erin@example.com")
    assert datetime.fromisoformat(first["created_at"]).tzinfo is not None
    (await world.anyone.post("/v1/auth/verify", {"token": first["token"]})).expect(204)
    (await world.anyone.delete("/v1/_dev/mail")).expect(204)
    assert (await world.anyone.get("/v1/_dev/mail")).expect(200) == []


async def test_a_reset_keeps_ids_tokens_and_passwords(world: World) -> None:
    guild = (await world.alice.rest.get(f"/v1/guilds/{world.guild_id}")).expect(200)
    (await world.alice.rest.send_message(world.channel_id, "gone soon")).expect(200)
    token = await registered(world, "dora")
    (await world.bob.rest.logout()).expect(204)
    await world.anyone.make_guilds(world.bob.id, 3)
    (await world.anyone.post(f"/v1/_dev/users/{world.carol.id}", {"email_verified": False})).expect(200)

    (await world.anyone.post("/v1/_dev/reset")).expect(204)

    assert (await world.alice.rest.get(f"/v1/guilds/{world.guild_id}")).expect(200) == guild
    assert (await world.alice.rest.messages(world.channel_id)).expect(200) == []
    assert (await world.anyone.request("GET", "/v1/users/@me", headers={"Authorization": token})).status == 401
    for person in (world.admin, world.alice, world.bob, world.carol):
        own = (await person.rest.get("/v1/users/@me")).expect(200)
        assert (own["id"], own["email"], own["verified"]) == (person.id, person.email, True)
        (await world.anyone.login(email=person.email, password=person.password)).expect(200)
    assert (await world.bot.rest.get("/v1/users/@me")).expect(200)["id"] == world.bot.id
    listed = (await world.bob.rest.get("/v1/users/@me/guilds")).expect(200)
    assert [entry["id"] for entry in listed] == [world.guild_id]


async def test_a_reset_leaves_nothing_of_before_in_the_search_indexes(
    chat_server: ChatServer, chat_world: World, autojump_clock: MockClock
) -> None:
    def entries() -> dict[str, int]:
        reader = chat_server.database.reader
        names = reader.execute(
            "SELECT name FROM pragma_table_list WHERE schema = 'main' AND type = 'virtual'"
        ).fetchall()
        return {name: reader.execute(f"SELECT count(*) FROM {name}").fetchone()[0] for (name,) in names}  # noqa: S608

    before = entries()
    (await chat_world.alice.rest.send_message(chat_world.channel_id, "gone soon")).expect(200)
    await registered(chat_world, "dora")
    report = {"user_id": chat_world.alice.id, "category": "harassment", "additional_info": "rude"}
    (await chat_world.bob.rest.post("/v1/reports/user", report)).expect(200)
    (await chat_world.admin.rest.get("/v1/admin/instance/config")).expect(200)
    of_an_earlier_version = "INSERT INTO message_search_old (rowid, words, filters) VALUES (1, 'gone too', '')"
    await chat_server.database.write(lambda connection: connection.execute(of_an_earlier_version), guard=UNGUARDED)
    await trio.sleep(60)
    assert all(entries()[name] > count for name, count in before.items())
    (await chat_world.anyone.post("/v1/_dev/reset")).expect(204)
    await trio.sleep(60)
    assert entries() == before


async def test_a_reset_ends_sessions_with_opcode_9(world: World) -> None:
    alice, retained, nobody = await world.alice.connect(), await world.bob.connect(), await world.open()
    retained.drop()
    (await world.anyone.post("/v1/_dev/reset")).expect(204)
    assert (await alice.expect_opcode(Opcode.INVALID_SESSION)).data is False
    assert await world.anyone.gateway_sessions() == []
    assert nobody.is_open
    await alice.identify(world.alice.token)
    ready = await alice.expect("READY")
    assert [guild["id"] for guild in ready.data["guilds"]] == [world.guild_id]


async def test_a_reset_takes_faults_mail_and_the_clock_back(world: World) -> None:
    await registered(world, "dora")
    await world.anyone.advance_clock(3_600_000)
    fault = {"action": "http", "status": 500, "times": 100}
    (await world.anyone.post("/v1/_dev/faults", fault)).expect(200)

    (await world.anyone.post("/v1/_dev/reset")).expect(204)

    assert (await world.anyone.get("/v1/_dev/mail")).expect(200) == []
    clock = (await world.anyone.get("/v1/_dev/clock")).expect(200)
    assert clock["offset_ms"] == 0
    message = (await world.alice.rest.send_message(world.channel_id, "now")).expect(200)
    now = datetime.fromisoformat(clock["now"])
    assert abs((datetime.fromisoformat(message["timestamp"]) - now).total_seconds()) < 10
    assert abs(snowflake_time_ms(int(message["id"])) / 1000 - now.timestamp()) < 10


async def test_a_nonce_of_the_time_before_means_nothing(world: World) -> None:
    before = (await world.alice.rest.send_message(world.channel_id, "before", nonce="5")).expect(200)
    (await world.anyone.post("/v1/_dev/reset")).expect(204)
    after = (await world.alice.rest.send_message(world.channel_id, "after", nonce="5")).expect(200)
    assert after["content"] == "after"
    assert after["id"] != before["id"]


@pytest.mark.parametrize("times", [3])
async def test_resets_in_a_row(world: World, times: int) -> None:
    for _ in range(times):
        (await world.anyone.post("/v1/_dev/reset")).expect(204)
        alice = await world.alice.connect()
        (await world.bob.rest.send_message(world.channel_id, "hello")).expect(200)
        await alice.expect("MESSAGE_CREATE")
