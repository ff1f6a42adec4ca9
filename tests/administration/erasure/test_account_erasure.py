"""What is left of an account whose deadline has come, whoever set it (document 002; design 7).

Area: administration. Rules: 002.deletion, 002.get-user, 002.states.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final

import attrs
import trio
from trio.testing import MockClock

from chat.domain.administration.account_erasure import AccountErasure, erased
from chat.domain.standing.user_objects import DELETED_GLOBAL_NAME, DELETED_USERNAME
from chat.registries.user_flags import UserFlag
from chat.store.accounts import account_deletions, accounts
from chat.store.accounts.account_deletions import AccountDeletion
from chat.testing.gateway_client import GatewayClient
from chat.testing.server import ChatServer
from chat.testing.world import World
from tests.administration.asking import Asking
from tests.administration.erasure.erasure_world import WORDS, columns, found, prepare, server_write
from tests.spec.ledger import proves

DAY_MS: Final = 24 * 3_600_000
FIXTURE: Final = Path(__file__).parents[3] / "spec_fixtures" / "erasure.json"
DELETED_AUTHOR: Final = {"username": DELETED_USERNAME, "discriminator": "0000", "global_name": DELETED_GLOBAL_NAME}


async def comes_due(server: ChatServer) -> None:
    """Every deadline is now; returns once the server has looked and has done what there was to do."""
    await server_write(server, "UPDATE account_deletions SET due_at = ?", server.clock.now_ms())
    await trio.sleep(AccountErasure.LOOK_SECONDS + 1)


def deletion_of(server: ChatServer, user_id: str) -> AccountDeletion | None:
    return account_deletions.of_user(server.database.reader, int(user_id))


async def test_nothing_is_left_but_what_others_hold(
    chat_server: ChatServer, chat_world: World, autojump_clock: MockClock
) -> None:
    """Every column of every table stands in the fixture: a new one needs a word there on what erasure does with it,
    and, where it is about accounts, a row in `erasure_world`."""
    world, reader = chat_world, chat_server.database.reader
    told = json.loads(FIXTURE.read_text())
    described = {(table, column) for table, fates in told.items() for fate in fates.values() for column in fate}
    there = {(table, column) for table, names in columns(reader).items() for column in names}
    assert described == there, f"{FIXTURE.name} and the tables differ: {sorted(described ^ there)}"

    victim = await prepare(chat_server, world)
    asking = Asking(chat_server, world, victim.id)
    pictures = [f"/media/{kind}/{victim.id}/{name}.png" for kind, name in
                (("avatars", victim.avatar), ("banners", victim.banner))]  # fmt: skip
    for picture in pictures:
        assert (await world.anyone.get(picture)).status == 200
    sought = (*WORDS, victim.avatar, victim.banner, victim.id, victim.bot_id)
    before = found(reader, *sought)
    account = accounts.by_id(reader, int(victim.id))
    assert account is not None
    bob, carol, bot = await world.bob.connect(), await world.carol.connect(), await world.bot.connect()
    await comes_due(chat_server)

    with proves("002.states.24"):
        assert accounts.by_id(reader, int(victim.id)) == erased(account)
        after = found(reader, *sought)
        for table, fates in told.items():
            for column in fates["goes"]:
                assert ((table, column) in before, (table, column) in after) == (True, False), f"{table}.{column}"
            for column in fates["stays"]:
                assert (table, column) in after, f"{table}.{column} holds nothing of the account any more"
            for column in fates["other"]:
                assert (table, column) not in before | after, f"{table}.{column} is about accounts"
    assert not reader.execute(
        "SELECT 1 FROM attachments WHERE user_id = ? AND message_id IS NULL", (victim.id,)
    ).fetchone()
    indexed = found(reader, *WORDS, kind="shadow")
    assert not {table for table, _ in indexed if table.startswith("account_search")}
    await others_were_told(world, victim.id, bob=bob, carol=carol, group_id=victim.group_id)
    assert await world.session_of(bot) is None

    with proves("002.states.26"):
        await the_guilds_passed_on(chat_server, world, victim.own_guild_id, victim.bobs_guild_id)
    with proves("002.states.25"):
        await messages_have_a_deleted_author(world, victim.message_id, victim.conversation_id)
    for picture in pictures:
        assert (await world.anyone.get(picture)).status == 404
    await trio.sleep(1_300)  # files are swept
    assert not reader.execute("SELECT 1 FROM media_garbage").fetchone()
    assert not reader.execute("SELECT 1 FROM channels WHERE id = ?", (victim.id,)).fetchone()  # notes to herself

    await nobody_gets_in_and_the_names_are_free(world, victim.id)
    with proves("002.get-user.5"):
        await the_administrator_sees_it(asking)
    with proves("002.deletion.26"):
        (ended,) = (await world.admin.rest.get("/v1/admin/jobs?task_type=account_erasure")).expect(200)["jobs"]
        assert (ended["status"], ended["result"]) == ("completed", {"outcome": "erased"})
    assert ended["progress_current"] == ended["progress_total"]


async def told(client: GatewayClient, name: str, **options: Any) -> Any:
    return (await client.expect(name, **options)).data


async def others_were_told(
    world: World, user_id: str, *, bob: GatewayClient, carol: GatewayClient, group_id: str
) -> None:
    shown = await told(bob, "GUILD_MEMBER_UPDATE", where=lambda d: d["user"]["id"] == user_id)
    assert shown["user"].items() >= DELETED_AUTHOR.items()
    passed = await told(bob, "GUILD_UPDATE", where=lambda d: d["id"] == world.guild_id)
    assert passed["owner_id"] == world.carol.id  # the higher role, though bob was there first
    left = {(await told(bob, "GUILD_MEMBER_REMOVE", where=lambda d: d["user"]["id"] == user_id))["guild_id"]}
    left.add((await told(bob, "GUILD_MEMBER_REMOVE", where=lambda d: d["user"]["id"] == user_id))["guild_id"])
    assert world.guild_id in left
    gone = await told(bob, "CHANNEL_RECIPIENT_REMOVE")
    assert (gone["channel_id"], gone["user"]["username"]) == (group_id, DELETED_USERNAME)
    assert (await told(bob, "CHANNEL_UPDATE"))["owner_id"] in {world.bob.id, world.carol.id}
    assert (await told(bob, "RELATIONSHIP_REMOVE"))["id"] == user_id
    assert await told(bob, "USER_NOTE_UPDATE") == {"id": user_id, "note": ""}
    assert (await told(carol, "RELATIONSHIP_REMOVE"))["id"] == user_id  # a block


async def the_guilds_passed_on(server: ChatServer, world: World, own_guild_id: str, bobs_guild_id: str) -> None:
    guild = (await world.carol.rest.get(f"/v1/guilds/{world.guild_id}")).expect(200)
    assert guild["owner_id"] == world.carol.id
    (await world.carol.rest.patch(f"/v1/guilds/{world.guild_id}", {"name": "Carol's"})).expect(200)
    counts = dict(server.database.reader.execute("SELECT id, member_count FROM guilds"))
    assert counts == {int(world.guild_id): 2, int(bobs_guild_id): 1}  # the bot has gone too, and nobody was left
    assert int(own_guild_id) not in counts
    entries = (await world.carol.rest.get(f"/v1/guilds/{world.guild_id}/audit-logs")).expect(200)
    entry = next(
        entry
        for entry in entries["audit_log_entries"]
        if any(change["key"] == "owner_id" for change in entry.get("changes") or [])
    )
    assert entry["reason"] == "The account of the owner was erased."


async def messages_have_a_deleted_author(world: World, message_id: str, conversation_id: str) -> None:
    message = (await world.bob.rest.get(f"/v1/channels/{world.channel_id}/messages/{message_id}")).expect(200)
    assert message["author"].items() >= DELETED_AUTHOR.items()
    assert message["author"]["avatar"] is None
    assert message["content"].startswith("hello")
    written = (await world.bob.rest.messages(conversation_id)).expect(200)
    assert [entry["content"] for entry in written] == ["to her", "to bob"]
    assert written[1]["author"].items() >= DELETED_AUTHOR.items()
    refused = await world.bob.rest.send_message(conversation_id, "are you there?")
    assert refused.expect(400)["code"] == "CANNOT_SEND_MESSAGES_TO_USER"


async def nobody_gets_in_and_the_names_are_free(world: World, user_id: str) -> None:
    for token in (world.alice.rest, world.bot.rest):
        assert (await token.get("/v1/users/@me")).status == 401
    email = WORDS[0] + "@mail.example"
    answer = await world.anyone.login(email=email, password=world.alice.password)
    assert answer.expect(400)["errors"][0]["code"] == "INVALID_EMAIL_OR_PASSWORD"
    assert (await world.bob.rest.get(f"/v1/users/{user_id}")).expect(200).items() >= DELETED_AUTHOR.items()
    sought = {"username": WORDS[0], "discriminator": "0001"}
    assert (await world.bob.rest.post("/v1/users/@me/relationships", sought)).status == 400
    admin = f"/v1/admin/users/{world.bob.id}"
    renamed = (await world.admin.rest.patch(f"{admin}/username", {"username": WORDS[0]})).expect(200)["user"]
    assert renamed["username"] == WORDS[0]
    (await world.admin.rest.patch(f"{admin}/email", {"email": email})).expect(200)
    assert (await world.anyone.login(email=email, password=world.bob.password)).status == 200


async def the_administrator_sees_it(asking: Asking) -> None:
    user = await asking.shown()
    assert (user["flags"], user["email"], user["pending_deletion_at"]) == (str(int(UserFlag.DELETED)), None, None)
    assert user["deletion_reason_code"] == 2
    found_again = (await asking.world.admin.rest.get(f"/v1/admin/users?resolve={user['id']}")).expect(200)
    assert [entry["id"] for entry in found_again["users"]] == [user["id"]]
    by_name = (await asking.world.admin.rest.get(f"/v1/admin/users?q={WORDS[0]}")).expect(200)["users"]
    assert user["id"] not in {entry["id"] for entry in by_name}
    deletion = deletion_of(asking.server, user["id"])
    assert deletion is not None
    assert deletion.erased_at is not None
    late = {"expected_pending_deletion_at": "2100-01-01T00:00:00.000Z"}
    assert (await asking.refused("DELETE", "/deletion", late))[:2] == (409, "CONFLICT")
    assert (await asking.refused("PUT", "/deletion", {"reason_code": 2}))[:2] == (409, "CONFLICT")


async def closed_by_holder(world: World, name: str) -> Any:
    person = getattr(world, name)
    return (await person.rest.post("/v1/users/@me/delete", {"password": person.password})).expect(204)


async def test_only_who_does_not_come_back_is_erased_and_not_before_the_day(
    chat_server: ChatServer, chat_world: World, autojump_clock: MockClock
) -> None:
    world = chat_world
    asking = Asking(chat_server, world)
    reader = chat_server.database.reader

    def are_erased() -> dict[str, bool]:
        people = {"bob": world.bob, "carol": world.carol, "bot": world.bot}
        return {
            name: bool((account := accounts.by_id(reader, int(person.id))) and account.is_deleted)
            for name, person in people.items()
        }

    # carol closes her account and comes back; bob closes his; an administrator takes the bot's deletion back.
    await closed_by_holder(world, "carol")
    await closed_by_holder(world, "bob")
    bots = Asking(chat_server, world, world.bot.id)
    pending = (await bots.user("PUT", "/deletion", {"reason_code": 1, "days_until_deletion": 14}))[
        "pending_deletion_at"
    ]
    chat_server.clock.skip(14 * DAY_MS - 60_000)
    await trio.sleep(1)
    assert not any(are_erased().values())
    (await world.anyone.login(email="carol@example.com", password=world.carol.password)).expect(200)
    await bots.user("DELETE", "/deletion", {"expected_pending_deletion_at": pending})
    await trio.sleep(57)
    assert not any(are_erased().values())
    await trio.sleep(5)
    assert are_erased() == {"bob": True, "carol": False, "bot": False}
    user = await asking.shown()
    assert user["flags"] == str(int(UserFlag.DELETED | UserFlag.SELF_DELETED))
    answer = await world.anyone.login(email="bob@example.com", password=world.bob.password)
    assert answer.expect(400)["code"] == "INVALID_FORM_BODY"

    # What fell due while no server ran is done at the start; a bot goes alone, and its application stays.
    await bots.user("PUT", "/deletion", {"reason_code": 1, "days_until_deletion": 14})
    await chat_server.stop()
    chat_server.clock.skip(20 * DAY_MS)
    await chat_server.start()
    await trio.sleep(2)
    reader = chat_server.database.reader
    assert are_erased() == {"bob": True, "carol": False, "bot": True}
    (await world.admin.rest.get(f"/v1/admin/users/{world.alice.id}/applications")).expect(200)
    assert reader.execute("SELECT bot_user_id, bot_token_hash FROM applications").fetchall() == [(None, None)]
    deletion = deletion_of(chat_server, world.bot.id)
    assert deletion is not None
    # An erasure that was begun and given up is taken up by the next server.
    await server_write(chat_server, "DELETE FROM jobs")
    again = attrs.evolve(deletion, erased_at=None)
    await chat_server.database.write(lambda connection: account_deletions.put(connection, again))
    await trio.sleep(600)
    assert deletion_of(chat_server, world.bot.id) == again
    await chat_server.stop()
    await chat_server.start()
    await trio.sleep(2)
    deletion = deletion_of(chat_server, world.bot.id)
    assert deletion is not None
    assert deletion.erased_at is not None
