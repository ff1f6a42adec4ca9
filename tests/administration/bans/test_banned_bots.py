"""While a ban of a bot's account stands, its token is refused, over HTTP and at the gateway; a ban that ran out or was
lifted leaves it as it was. A flag alone refuses nothing (002.states.5)."""

from __future__ import annotations

from typing import Final

from trio.testing import MockClock

from chat.registries.opcodes import Opcode
from chat.registries.user_flags import UserFlag
from chat.store.accounts import accounts
from chat.testing import World
from chat.testing.server import ChatServer

SUSPENDED: Final = "ACCOUNT_SUSPENDED_TEMPORARILY"
HOUR: Final = {"duration_hours": 1}
ASKED: Final = (
    ("GET", "/v1/users/@me"),
    ("GET", "/v1/applications/@me"),
    ("POST", "/v1/channels/{channel}/messages"),
    ("GET", "/v1/guilds/{guild}"),
    ("GET", "/v1/guilds/{guild}/threads/active"),
    ("GET", "/v1/auth/sessions"),
    ("GET", "/v1/admin/users/@me"),
    ("GET", "/v1/users/@me/guilds"),
)
"""Operations of every policy that takes a credential."""


async def ban(world: World, **members: object) -> None:
    path = f"/v1/admin/users/{world.bot.id}/ban"
    (await world.admin.rest.put(path, {**HOUR, **members})).expect(200)


async def refusals(world: World) -> set[tuple[int, str | None]]:
    paths = [(method, path.format(channel=world.channel_id, guild=world.guild_id)) for method, path in ASKED]
    rest = world.bot.rest
    answers = [
        await (rest.get(path) if method == "GET" else rest.post(path, {"content": "hello"})) for method, path in paths
    ]
    return {(answer.status, answer.code) for answer in answers}


async def code_of_identify(world: World, query: str | None = None) -> int:
    client = await world.bot.open(query=query)
    await client.identify(world.bot.token, intents=0)
    return (await client.closed()).code


async def test_the_token_of_a_banned_bot_is_refused(chat_world: World, autojump_clock: MockClock) -> None:
    client = await chat_world.bot.connect()
    session_id, sequence = client.session_id, client.sequence
    await ban(chat_world)
    await client.expect_opcode(Opcode.INVALID_SESSION)
    assert await refusals(chat_world) == {(403, SUSPENDED)}
    assert await code_of_identify(chat_world) == 4004
    again = await chat_world.bot.open()
    await again.resume(chat_world.bot.token, session_id, sequence)
    assert (await again.closed()).code == 4004
    # Success at this address proves nothing.
    (await chat_world.bot.rest.get("/v1/gateway/bot")).expect(200)

    (await chat_world.admin.rest.delete(f"/v1/admin/users/{chat_world.bot.id}/ban", {})).expect(200)
    (await chat_world.bot.rest.get("/v1/users/@me")).expect(200)
    await chat_world.bot.connect()


async def test_a_ban_that_ran_out_refuses_nothing(
    chat_server: ChatServer, chat_world: World, autojump_clock: MockClock
) -> None:
    await ban(chat_world)
    chat_server.clock.skip(3_600_001)
    (await chat_world.bot.rest.get("/v1/users/@me")).expect(200)
    await chat_world.bot.connect()


async def test_the_flag_alone_refuses_nothing(
    chat_server: ChatServer, chat_world: World, autojump_clock: MockClock
) -> None:
    patch = {"add_flags": [str(int(UserFlag.DISABLED))]}
    (await chat_world.admin.rest.patch(f"/v1/admin/users/{chat_world.bot.id}/flags", patch)).expect(200)
    account = accounts.by_id(chat_server.server.core.database.reader, int(chat_world.bot.id))
    assert account is not None
    assert account.is_disabled
    (await chat_world.bot.rest.get("/v1/users/@me")).expect(200)
    await chat_world.bot.connect()


async def test_a_banned_bot_that_tries_again_bans_no_address(chat_world: World, autojump_clock: MockClock) -> None:
    await ban(chat_world)
    for _ in range(30):
        assert await code_of_identify(chat_world) == 4004
    await chat_world.alice.connect()
