"""The seeded world: the same chance gives the same world, it is made once, and its secrets open what they should."""

from __future__ import annotations

import random
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from chat.auth.passwords import CHEAP, Passwords
from chat.auth.tokens import application_of, is_session_token, token_hash
from chat.clock import SystemClock
from chat.development import seeded_world
from chat.development.seeded_world import AGE_MS, SeededWorld
from chat.errors import OperatorError
from chat.registries.channel_types import ChannelType
from chat.snowflake import snowflake_time_ms
from chat.store.accounts import accounts
from chat.store.accounts.accounts import Account
from chat.store.administration import admin_api_keys
from chat.store.applications import applications
from chat.store.database import Database, open_database
from chat.store.guilds import channels, guilds, members
from chat.store.signing_in import auth_sessions
from chat.testing.server import fresh_database

MADE_AT = 1_800_000_000_000


@pytest.fixture
async def database(tmp_path: Path) -> AsyncIterator[Database]:
    async with open_database(fresh_database(tmp_path / "chat.db"), inline=True, durable=False) as database:
        yield database


@pytest.fixture
def passwords() -> Passwords:
    return Passwords(random.Random(1), CHEAP, in_threads=False)


async def seeded(database: Database, passwords: Passwords, seed: int = 7) -> SeededWorld:
    return await seeded_world.ensure(database, random.Random(seed), SystemClock(), passwords.hash)


def test_the_same_chance_and_moment_give_the_same_world() -> None:
    assert seeded_world.compose(random.Random(3), MADE_AT) == seeded_world.compose(random.Random(3), MADE_AT)
    assert seeded_world.compose(random.Random(3), MADE_AT) != seeded_world.compose(random.Random(4), MADE_AT)


def test_every_id_is_another_and_tells_when_the_world_was_made() -> None:
    world = seeded_world.compose(random.Random(3), MADE_AT)
    ids = [
        *(account.id for account in world.people),
        world.bot.application_id,
        world.admin_key_id,
        world.guild_id,
        world.text_category_id,
        world.voice_category_id,
        world.channel_id,
        world.voice_channel_id,
    ]
    assert len(set(ids)) == len(ids)
    assert {snowflake_time_ms(snowflake) for snowflake in ids} == {MADE_AT}


def test_the_description_has_what_scripts_rely_on() -> None:
    world = seeded_world.compose(random.Random(3), MADE_AT)
    described = seeded_world.describe(world, base_url="http://h:1/v1", gateway_url="ws://h:1/gateway", pid=5)
    assert list(described) == [
        "base_url",
        "gateway_url",
        "pid",
        "admin",
        "users",
        "bot",
        "admin_key",
        "guild_id",
        "channel_id",
        "voice_channel_id",
    ]
    assert described["base_url"] == "http://h:1/v1"
    assert described["gateway_url"] == "ws://h:1/gateway"
    assert described["pid"] == 5
    assert [user["username"] for user in described["users"]] == ["alice", "bob", "carol"]
    for account in [described["admin"], *described["users"]]:
        assert sorted(account) == ["email", "id", "password", "token", "username"]
        assert account["id"].isdecimal()
        assert is_session_token(account["token"])
        assert 8 <= len(account["password"]) <= 256
    bot = described["bot"]
    assert sorted(bot) == ["application_id", "client_secret", "token", "user_id"]
    assert str(application_of(bot["token"])) == bot["application_id"]
    prefix, key_id, secret = described["admin_key"].split("_")
    assert (prefix, len(secret)) == ("cha", 32)
    assert int(key_id) == world.admin_key_id


async def test_its_secrets_are_stored_as_what_they_open(database: Database, passwords: Passwords) -> None:
    world = await seeded(database, passwords)
    reader = database.reader
    for person in world.people:
        account = auth_sessions.account_of(reader, token_hash(person.token))
        assert account is not None
        assert (account.id, account.email, account.email_verified) == (person.id, person.email, True)
        assert await passwords.verify(account.password_hash, person.password)
        assert account.acls == (("*",) if person == world.admin else ())
    application = applications.by_id(reader, world.bot.application_id)
    assert application is not None
    assert application.owner_id == world.owner.id
    assert application.bot_token_hash == token_hash(world.bot.token)
    assert application.client_secret_hash == token_hash(world.bot.client_secret)
    bot = accounts.by_id(reader, world.bot.user_id)
    assert bot is not None
    assert bot.bot
    key = admin_api_keys.by_id(reader, world.admin_key_id)
    assert key is not None
    assert (key.owner_id, key.key_hash, key.acls) == (world.admin.id, token_hash(world.admin_key), ("*",))


async def test_its_guild_has_everyone_but_the_administrator(database: Database, passwords: Passwords) -> None:
    world = await seeded(database, passwords)
    guild = guilds.by_id(database.reader, world.guild_id)
    assert guild is not None
    inside = {member.user_id for member in members.of_guild(database.reader, world.guild_id, 0, 100)}
    assert guild.owner_id == world.users[0].id
    assert inside == {*(user.id for user in world.users), world.bot.user_id}
    assert guild.member_count == len(inside)
    types = {channel.id: channel.type for channel in channels.of_guild(database.reader, world.guild_id)}
    assert types[world.channel_id] == ChannelType.GUILD_TEXT
    assert types[world.voice_channel_id] == ChannelType.GUILD_VOICE


async def test_it_is_old_enough_for_every_rule_about_new_accounts(database: Database, passwords: Passwords) -> None:
    world = await seeded(database, passwords)
    assert SystemClock().now_ms() - world.made_at >= AGE_MS


async def test_it_is_made_once_and_kept(tmp_path: Path, passwords: Passwords) -> None:
    path = tmp_path / "chat.db"
    async with open_database(path, inline=True, durable=False) as database:
        first = await seeded(database, passwords, seed=7)
    async with open_database(path, inline=True, durable=False) as database:
        assert await seeded(database, passwords, seed=8) == first


async def test_a_directory_in_which_it_has_no_room_is_refused(database: Database, passwords: Passwords) -> None:
    stranger = Account(id=5, username="alice", discriminator=1, email="Alice@example.com")
    await database.write(lambda connection: accounts.insert(connection, stranger))
    with pytest.raises(OperatorError, match="does not fit"):
        await seeded(database, passwords)
    assert accounts.by_email_key(database.reader, "admin@example.com") is None
