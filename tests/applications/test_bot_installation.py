"""Adding a bot to a guild through consent (wire facts 5.7; appendix D, OAuth2)."""

from __future__ import annotations

import sqlite3
from typing import Any

import pytest
import trio

from chat.registries.permissions import ALL_DEFINED, Permission
from chat.store.guilds import members, roles
from chat.store.guilds.roles import Role
from chat.testing.gateway_client import GatewayClient
from chat.testing.rest_client import Response
from chat.testing.server import ChatServer
from chat.testing.world import Person, World
from tests.applications.oauth2_client import BACK, OAuth2Client, parameters, refusal

SOME = Permission.MANAGE_MESSAGES | Permission.KICK_MEMBERS | Permission.SEND_MESSAGES_IN_THREADS


def told(answer: Response) -> tuple[int, str | None]:
    return answer.status, answer.code


async def install(client: OAuth2Client, person: Person, guild_id: str, **members: object) -> Response:
    """Consent with the scope `bot` alone: nobody is sent back anywhere."""
    return await client.ask(person, "bot", **{"redirect_uri": None, "guild_id": guild_id, **members})  # type: ignore[arg-type]


async def member_of(world: World, client: OAuth2Client) -> Response:
    """The bot's membership; its account has the application's id."""
    return await world.alice.rest.get(f"/v1/guilds/{world.guild_id}/members/{client.id}")


async def roles_of(world: World) -> list[dict[str, Any]]:
    roles: list[dict[str, Any]] = (await world.alice.rest.get(f"/v1/guilds/{world.guild_id}/roles")).expect(200)
    return roles


async def let_manage(world: World, server: ChatServer, person: Person, permissions: int) -> None:
    """Give a member a role; roles cannot be made over HTTP yet."""
    role_id = server.server.snowflakes()
    guild_id = int(world.guild_id)

    def unit(connection: sqlite3.Connection) -> None:
        roles.insert(connection, [Role(role_id, guild_id, "helpers", 1, permissions)])
        members.add_roles(connection, guild_id, int(person.id), [role_id])

    await server.database.write(unit)
    server.server.core.guild_states.refresh(guild_id)


async def test_the_owner_adds_a_bot_with_a_role_of_its_name(chat_world: World) -> None:
    client = await OAuth2Client.make(chat_world)
    answer = await install(client, chat_world.alice, chat_world.guild_id, permissions=str(int(SOME)))
    assert "code" not in parameters(answer.expect(200)["redirect_to"])
    member = (await member_of(chat_world, client)).expect(200)
    everyone, role = await roles_of(chat_world)
    assert everyone["id"] == chat_world.guild_id
    assert (role["name"], role["position"], member["roles"]) == ("Chess_master", 1, [role["id"]])
    assert int(role["permissions"]) | int(Permission.SEND_MESSAGES_IN_THREADS) == SOME
    guild = (await chat_world.alice.rest.get(f"/v1/guilds/{chat_world.guild_id}")).expect(200)
    assert guild["member_count"] == 5


@pytest.mark.parametrize("permissions", [None, "0", 0])
async def test_no_role_where_no_permissions_are_asked_for(chat_world: World, permissions: object) -> None:
    client = await OAuth2Client.make(chat_world)
    (await install(client, chat_world.alice, chat_world.guild_id, permissions=permissions)).expect(200)
    assert (await member_of(chat_world, client)).expect(200)["roles"] == []
    assert len(await roles_of(chat_world)) == 1


async def test_bits_that_do_not_exist_are_dropped(chat_world: World) -> None:
    client = await OAuth2Client.make(chat_world)
    (await install(client, chat_world.alice, chat_world.guild_id, permissions=str((1 << 63) - 1))).expect(200)
    bearer = await chat_world.bot.rest.get(f"/v1/guilds/{chat_world.guild_id}/roles")  # a bot is shown thread bits
    assert int(bearer.expect(200)[1]["permissions"]) == ALL_DEFINED


async def test_together_with_other_scopes_a_code_comes_back(chat_world: World) -> None:
    client = await OAuth2Client.make(chat_world)
    code = await client.code(chat_world.alice, "bot identify", guild_id=chat_world.guild_id, permissions="8")
    assert (await member_of(chat_world, client)).status == 200
    tokens = (await client.exchange(code)).expect(200)
    assert tokens["scope"] == "identify bot"


async def test_links_of_libraries_ask_for_commands_besides(chat_world: World) -> None:
    client = await OAuth2Client.make(chat_world)
    link = {"redirect_uri": None, "guild_id": chat_world.guild_id}
    (await client.ask(chat_world.alice, "bot applications.commands", **link)).expect(200)  # type: ignore[arg-type]
    (await member_of(chat_world, client)).expect(200)
    alone = await client.ask(chat_world.alice, "applications.commands", **link)  # type: ignore[arg-type]
    assert alone.status == 400


async def test_without_the_scope_or_a_guild_nobody_joins(chat_world: World) -> None:
    client = await OAuth2Client.make(chat_world)
    await client.code(chat_world.alice, "identify", guild_id=chat_world.guild_id, permissions="8")
    await client.code(chat_world.alice, "bot identify", permissions="8")
    assert told(await member_of(chat_world, client)) == (404, "UNKNOWN_MEMBER")


async def test_everyone_hears_of_it_in_order_and_the_bot_gets_the_guild(chat_world: World) -> None:
    made = (await chat_world.bob.rest.post("/v1/oauth2/applications", {"name": "Herald"})).expect(200)
    client = OAuth2Client(made["id"], made["client_secret"], chat_world.anyone)
    async with trio.open_nursery() as nursery:
        robot = await GatewayClient.connect(nursery, chat_world.route)
        await robot.identify(made["bot"]["token"])
        await robot.expect("READY")
        carol = await chat_world.carol.connect()
        (await install(client, chat_world.alice, chat_world.guild_id, permissions="8192")).expect(200)
        role = (await carol.expect("GUILD_ROLE_CREATE")).data
        member = (await carol.expect("GUILD_MEMBER_ADD")).data
        assert (role["guild_id"], role["role"]["name"]) == (chat_world.guild_id, "Herald")
        assert (member["user"]["id"], member["user"]["bot"]) == (made["id"], True)
        assert member["roles"] == [role["role"]["id"]]
        names = [dispatch.name for dispatch in carol.dispatches]
        assert names.index("GUILD_ROLE_CREATE") < names.index("GUILD_MEMBER_ADD")
        guild = (await robot.expect("GUILD_CREATE")).data
        assert guild["id"] == chat_world.guild_id
        assert role["role"]["id"] in {known["id"] for known in guild["roles"]}
        assert [own["roles"] for own in guild["members"] if own["user"]["id"] == made["id"]] == [member["roles"]]
        rest = chat_world.anyone.signed_in(f"Bot {made['bot']['token']}")
        (await rest.send_message(chat_world.channel_id, "hello")).expect(200)
        await carol.expect("MESSAGE_CREATE", where=lambda data: data["content"] == "hello")
        await robot.aclose()


async def test_the_audit_log_tells_who_added_the_bot_and_its_role(chat_world: World) -> None:
    client = await OAuth2Client.make(chat_world)
    alice = await chat_world.alice.connect()
    consent = {"client_id": client.id, "scope": "bot", "guild_id": chat_world.guild_id, "permissions": "8192"}
    answer = await chat_world.alice.rest.request(
        "POST", "/v1/oauth2/authorize/consent", json=consent, headers={"X-Audit-Log-Reason": "for chess"}
    )
    answer.expect(200)
    log = (await chat_world.alice.rest.get(f"/v1/guilds/{chat_world.guild_id}/audit-logs")).expect(200)
    added, role = log["audit_log_entries"]
    assert (added["action_type"], added["target_id"], added["options"]) == (28, client.id, {"temporary": False})
    assert (role["action_type"], role["reason"]) == (30, "for chess")
    for entry in (role, added):
        assert (entry["user_id"], entry["reason"]) == (chat_world.alice.id, "for chess")
        await alice.expect("GUILD_AUDIT_LOG_ENTRY_CREATE", where=lambda data, entry=entry: data["id"] == entry["id"])


async def test_a_new_role_goes_to_the_bottom_and_the_others_move_up(chat_world: World) -> None:
    client = await OAuth2Client.make(chat_world)
    path = f"/v1/guilds/{chat_world.guild_id}/roles"
    older = (await chat_world.alice.rest.post(path, {"name": "older"})).expect(200)
    (await install(client, chat_world.alice, chat_world.guild_id, permissions="8192")).expect(200)
    standing = {role["name"]: role["position"] for role in await roles_of(chat_world)}
    assert standing == {"@everyone": 0, "Chess_master": 1, "older": 2}
    assert older["position"] == 1


async def test_a_banned_bot_is_not_added(chat_world: World) -> None:
    client = await OAuth2Client.make(chat_world)
    ban = f"/v1/guilds/{chat_world.guild_id}/bans/{client.id}"
    assert (await chat_world.alice.rest.put(ban, {})).status == 204
    answer = await client.ask(chat_world.alice, "bot identify", guild_id=chat_world.guild_id, permissions="8")
    assert told(answer) == (403, "USER_BANNED_FROM_GUILD")
    assert len(await roles_of(chat_world)) == 1
    assert (await chat_world.alice.rest.delete(ban)).status == 204
    assert (await install(client, chat_world.alice, chat_world.guild_id)).status == 200


# Who may


async def test_who_may_not_manage_the_guild_adds_nothing(chat_world: World) -> None:
    client = await OAuth2Client.make(chat_world)
    for person in (chat_world.carol, chat_world.admin):  # a member, a stranger
        answer = await install(client, person, chat_world.guild_id, permissions="8")
        assert told(answer) == (403, "MISSING_PERMISSIONS")
        with_code = await client.ask(person, "bot identify", guild_id=chat_world.guild_id)
        assert told(with_code) == (403, "MISSING_PERMISSIONS")
    unknown = await install(client, chat_world.alice, "999999999999999999")
    assert told(unknown) == (404, "UNKNOWN_GUILD")
    assert told(await member_of(chat_world, client)) == (404, "UNKNOWN_MEMBER")
    assert len(await roles_of(chat_world)) == 1


async def test_a_manager_gives_the_bot_no_more_than_the_manager_holds(
    chat_world: World, chat_server: ChatServer
) -> None:
    client = await OAuth2Client.make(chat_world)
    held = Permission.MANAGE_GUILD | Permission.MANAGE_MESSAGES
    await let_manage(chat_world, chat_server, chat_world.carol, int(held))
    asked = Permission.ADMINISTRATOR | Permission.MANAGE_MESSAGES | Permission.BAN_MEMBERS | Permission.SEND_MESSAGES
    (await install(client, chat_world.carol, chat_world.guild_id, permissions=str(int(asked)))).expect(200)
    role = next(role for role in await roles_of(chat_world) if role["name"] == "Chess_master")
    assert int(role["permissions"]) == Permission.MANAGE_MESSAGES | Permission.SEND_MESSAGES


async def test_an_administrator_gives_all(chat_world: World, chat_server: ChatServer) -> None:
    client = await OAuth2Client.make(chat_world)
    await let_manage(chat_world, chat_server, chat_world.carol, int(Permission.ADMINISTRATOR))
    asked = Permission.ADMINISTRATOR | Permission.BAN_MEMBERS
    (await install(client, chat_world.carol, chat_world.guild_id, permissions=str(int(asked)))).expect(200)
    role = next(role for role in await roles_of(chat_world) if role["name"] == "Chess_master")
    assert int(role["permissions"]) == asked


async def test_a_private_bot_goes_only_where_its_owner_takes_it(chat_world: World) -> None:
    client = await OAuth2Client.make(chat_world, bot_public=False)
    for answer in (
        await install(client, chat_world.alice, chat_world.guild_id),
        await install(client, chat_world.alice, "999999999999999999"),
        await client.ask(chat_world.alice, "bot identify"),
    ):
        assert told(answer) == (403, "BOT_IS_PRIVATE")
    assert (await client.ask(chat_world.alice, "identify")).status == 200
    own = (await chat_world.bob.rest.create_guild("Bob's place")).expect(200)["id"]
    assert (await install(client, chat_world.bob, own)).status == 200


async def test_a_bot_that_is_there_already_is_not_added_again(chat_world: World) -> None:
    client = await OAuth2Client.make(chat_world)
    (await install(client, chat_world.alice, chat_world.guild_id, permissions="8")).expect(200)
    answer = await client.ask(chat_world.alice, "bot identify", guild_id=chat_world.guild_id, permissions="8")
    assert told(answer) == (400, "BOT_ALREADY_IN_GUILD")
    assert len(await roles_of(chat_world)) == 2


async def test_of_two_installations_at_once_one_wins(chat_world: World) -> None:
    client = await OAuth2Client.make(chat_world)
    answers: list[Response] = []

    async def ask() -> None:
        answers.append(await install(client, chat_world.alice, chat_world.guild_id, permissions="8"))

    async with trio.open_nursery() as nursery:
        for _ in range(5):
            nursery.start_soon(ask)
    assert [answer.status for answer in answers].count(200) == 1
    assert {told(answer) for answer in answers if answer.status != 200} == {(400, "BOT_ALREADY_IN_GUILD")}
    assert len(await roles_of(chat_world)) == 2


@pytest.mark.chat_settings(**{"limits.max_guild_roles": 1})
async def test_where_roles_are_too_many_nothing_is_done(chat_world: World) -> None:
    client = await OAuth2Client.make(chat_world)
    path = f"/v1/guilds/{chat_world.guild_id}/roles"
    (await chat_world.alice.rest.post(path, {"name": "the only one"})).expect(200)
    answer = await install(client, chat_world.alice, chat_world.guild_id, permissions="8")
    assert told(answer) == (400, "MAX_GUILD_ROLES")
    assert told(await member_of(chat_world, client)) == (404, "UNKNOWN_MEMBER")
    assert (await install(client, chat_world.alice, chat_world.guild_id)).status == 200


@pytest.mark.chat_settings(**{"limits.max_guilds": 1})
async def test_the_limit_of_guilds_is_for_people(chat_world: World) -> None:
    client = await OAuth2Client.make(chat_world)
    own = (await chat_world.admin.rest.create_guild("Another place")).expect(200)["id"]
    assert (await install(client, chat_world.alice, chat_world.guild_id)).status == 200
    assert (await install(client, chat_world.admin, own)).status == 200


# Applications that want the whole dialogue


async def test_an_application_may_insist_on_a_code(chat_world: World) -> None:
    client = await OAuth2Client.make(chat_world, bot_require_code_grant=True)
    assert refusal(await install(client, chat_world.alice, chat_world.guild_id)) == "invalid_request"
    assert told(await member_of(chat_world, client)) == (404, "UNKNOWN_MEMBER")
    code = await client.code(chat_world.alice, "bot", guild_id=chat_world.guild_id)
    assert (await client.exchange(code)).expect(200)["scope"] == "bot"
    assert (await member_of(chat_world, client)).status == 200


async def test_a_refused_request_adds_nobody(chat_world: World) -> None:
    client = await OAuth2Client.make(chat_world)
    for fault in ({"redirect_uri": BACK + "x"}, {"response_type": "token"}, {"code_challenge": "short"}):
        answer = await client.ask(chat_world.alice, "bot identify", guild_id=chat_world.guild_id, **fault)
        assert answer.status == 400
    assert told(await member_of(chat_world, client)) == (404, "UNKNOWN_MEMBER")


async def test_the_bot_leaves_with_its_application(chat_world: World) -> None:
    client = await OAuth2Client.make(chat_world)
    (await install(client, chat_world.alice, chat_world.guild_id)).expect(200)
    path = f"/v1/oauth2/applications/{client.id}"
    assert (await chat_world.bob.rest.delete(path, {"password": chat_world.bob.password})).status == 204
    assert told(await member_of(chat_world, client)) == (404, "UNKNOWN_MEMBER")
