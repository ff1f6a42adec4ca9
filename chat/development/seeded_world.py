"""The seeded world: a few accounts, a bot and a guild whose secrets are known (development.md, Seeded world).

A world is composed once, from a source of chance and a moment, and stored as it is, secrets included, among the
instance's own values: a later start on the same directory, and a reset, find it there and make the rows again with the
same ids, tokens and passwords.
"""

from __future__ import annotations

import random
import sqlite3
import string
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from typing import Final

import attrs
import cattrs
import orjson

from chat.auth.tokens import TokenMint, token_hash, token_preview
from chat.classes import frozen
from chat.clock import Clock
from chat.development.answers import DescribedAccount, DescribedWorld
from chat.domain.accounts import guild_folders
from chat.domain.guilds.guild_plan import EVERYONE_NAME
from chat.errors import OperatorError
from chat.registries.channel_types import ChannelType
from chat.registries.guild_features import NEW_GUILD_FEATURES
from chat.registries.guild_values import JoinSource
from chat.registries.permissions import DEFAULT_EVERYONE
from chat.snowflake import SnowflakeGenerator
from chat.store.accounts import accounts
from chat.store.accounts.accounts import Account
from chat.store.administration import admin_api_keys, instance
from chat.store.administration.admin_api_keys import AdminApiKey
from chat.store.applications import applications
from chat.store.applications.applications import Application
from chat.store.database import Database
from chat.store.guard import UNGUARDED
from chat.store.guilds import channels, guilds, members, roles
from chat.store.guilds.channels import Channel
from chat.store.guilds.guilds import Guild
from chat.store.guilds.members import Member
from chat.store.guilds.roles import Role
from chat.store.signing_in import auth_sessions
from chat.store.signing_in.auth_sessions import AuthSession

MARKER: Final = "seeded_world"
"""The key of the instance's value that holds the world."""

DEVELOPMENT_WORKER: Final = 0
"""The worker in the snowflakes of the world and of guilds made in bulk; servers and commands have others."""

AGE_MS: Final = 86_400_000
"""How old the world is when it is made, so that no rule about new accounts and members holds anyone back."""

EMAIL_DOMAIN: Final = "example.com"
PASSWORD_CHARACTERS: Final = 20

HashPassword = Callable[[str], Awaitable[str]]


@frozen
class SeededAccount:
    """A person of the world, with what signs it in."""

    id: int
    email: str
    username: str
    discriminator: int
    password: str = attrs.field(repr=False)
    token: str = attrs.field(repr=False)


@frozen
class SeededBot:
    """The bot of the world's first user."""

    application_id: int
    user_id: int
    discriminator: int
    token: str = attrs.field(repr=False)
    client_secret: str = attrs.field(repr=False)


@frozen
class SeededWorld:
    """Everything that tells one seeded world from another.

    `made_at` is Unix milliseconds. `users` are the owner of the guild and its members; `admin` holds every ACL and is
    in no guild.
    """

    made_at: int
    admin: SeededAccount
    users: tuple[SeededAccount, ...]
    bot: SeededBot
    admin_key_id: int
    admin_key: str = attrs.field(repr=False)
    guild_id: int
    text_category_id: int
    voice_category_id: int
    channel_id: int
    voice_channel_id: int

    @property
    def owner(self) -> SeededAccount:
        """Who owns the guild and the bot."""
        return self.users[0]

    @property
    def people(self) -> tuple[SeededAccount, ...]:
        """Every account but the bot."""
        return (self.admin, *self.users)


def describe(world: SeededWorld, *, base_url: str, gateway_url: str, pid: int) -> DescribedWorld:
    """The object that `chat dev --json` prints (development.md, Seeded world)."""
    return {
        "base_url": base_url,
        "gateway_url": gateway_url,
        "pid": pid,
        "admin": _described(world.admin),
        "users": [_described(user) for user in world.users],
        "bot": {
            "application_id": str(world.bot.application_id),
            "user_id": str(world.bot.user_id),
            "token": world.bot.token,
            "client_secret": world.bot.client_secret,
        },
        "admin_key": world.admin_key,
        "guild_id": str(world.guild_id),
        "channel_id": str(world.channel_id),
        "voice_channel_id": str(world.voice_channel_id),
    }


def _described(account: SeededAccount) -> DescribedAccount:
    return {
        "id": str(account.id),
        "email": account.email,
        "username": account.username,
        "password": account.password,
        "token": account.token,
    }


async def ensure(database: Database, chance: random.Random, clock: Clock, hash_password: HashPassword) -> SeededWorld:
    """The world of this database; composed and stored where there is none yet. Raises OperatorError when the database
    holds accounts that stand in the world's way."""
    stored = instance.value_of(database.reader, MARKER)
    if stored is not None:
        return _converter.structure(orjson.loads(stored), SeededWorld)
    world = compose(chance, clock.now_ms() - AGE_MS)
    hashes = await hash_passwords(world, hash_password)

    def write(connection: sqlite3.Connection) -> None:
        populate(connection, world, hashes)
        instance.set_value(connection, MARKER, orjson.dumps(attrs.asdict(world)).decode())

    try:
        await database.write(write, guard=UNGUARDED)
    except sqlite3.IntegrityError as error:
        raise OperatorError(f"the seeded world does not fit into this data directory: {error}") from error
    return world


_converter: Final = cattrs.Converter()


def compose(chance: random.Random, made_at: int) -> SeededWorld:
    """A world that is not stored yet; the same chance and moment give the same world."""
    next_id = SnowflakeGenerator(_StandingClock(made_at), DEVELOPMENT_WORKER)
    mint = TokenMint(chance)

    def account(name: str) -> SeededAccount:
        return SeededAccount(
            id=next_id(),
            email=f"{name}@{EMAIL_DOMAIN}",
            username=name,
            discriminator=chance.randint(1, 9999),
            password=_password(chance),
            token=mint.session_token(),
        )

    def bot() -> SeededBot:
        # The bot's account has its application's id (applications.md, Applications and bots).
        application_id = next_id()
        return SeededBot(
            application_id=application_id,
            user_id=application_id,
            discriminator=chance.randint(1, 9999),
            token=mint.bot_token(application_id),
            client_secret=mint.secret(),
        )

    admin_key_id = next_id()
    return SeededWorld(
        made_at=made_at,
        admin=account("admin"),
        users=(account("alice"), account("bob"), account("carol")),
        bot=bot(),
        admin_key_id=admin_key_id,
        admin_key=mint.admin_key(admin_key_id),
        guild_id=next_id(),
        text_category_id=next_id(),
        voice_category_id=next_id(),
        channel_id=next_id(),
        voice_channel_id=next_id(),
    )


@frozen
class _StandingClock:
    moment: int

    def now_ms(self) -> int:
        return self.moment


def _password(chance: random.Random) -> str:
    return "".join(chance.choices(string.ascii_letters + string.digits, k=PASSWORD_CHARACTERS))


async def hash_passwords(world: SeededWorld, hash_password: HashPassword) -> Mapping[int, str]:
    """What is stored of each account's password, by the account's id."""
    return {account.id: await hash_password(account.password) for account in world.people}


# Its rows

GUILD_NAME: Final = "Seeded guild"
VOICE_BITRATE: Final = 64_000
VOICE_CONNECTION_LIMIT: Final = 5
BOT_NAME: Final = "alices_bot"
DATE_OF_BIRTH: Final = "1990-01-01"
EVERY_ACL: Final = "*"


def populate(connection: sqlite3.Connection, world: SeededWorld, password_hashes: Mapping[int, str]) -> None:
    for account in world.people:
        record = _account(world, account, password_hashes[account.id])
        accounts.insert(connection, record)
        if account in world.users:
            guild_folders.enter_guild(connection, record, world.guild_id)
        auth_sessions.insert(
            connection,
            AuthSession(token_hash(account.token), account.id, world.made_at, world.made_at, proved_at=world.made_at),
        )
    _add_bot(connection, world)
    admin_api_keys.insert(
        connection,
        AdminApiKey(
            id=world.admin_key_id,
            owner_id=world.admin.id,
            name="Seeded key",
            key_hash=token_hash(world.admin_key),
            acls=(EVERY_ACL,),
            created_at=world.made_at,
        ),
    )
    _add_guild(connection, world)


def _account(world: SeededWorld, account: SeededAccount, password_hash: str) -> Account:
    return Account(
        id=account.id,
        username=account.username,
        discriminator=account.discriminator,
        global_name=account.username.capitalize(),
        email=account.email,
        email_verified=True,
        password_hash=password_hash,
        date_of_birth=DATE_OF_BIRTH,
        acls=(EVERY_ACL,) if account is world.admin else (),
        created_at=world.made_at,
        password_last_changed_at=world.made_at,
        terms_agreed_at=world.made_at,
        privacy_agreed_at=world.made_at,
    )


def _add_bot(connection: sqlite3.Connection, world: SeededWorld) -> None:
    bot, moment = world.bot, world.made_at
    accounts.insert(
        connection,
        Account(
            id=bot.user_id,
            username=BOT_NAME,
            discriminator=bot.discriminator,
            email_verified=True,
            bot=True,
            created_at=moment,
        ),
    )
    applications.insert(
        connection,
        Application(
            id=bot.application_id,
            owner_id=world.owner.id,
            name=BOT_NAME,
            bot_user_id=bot.user_id,
            client_secret_hash=token_hash(bot.client_secret),
            client_secret_created_at=moment,
            bot_token_hash=token_hash(bot.token),
            bot_token_preview=token_preview(bot.token),
            bot_token_created_at=moment,
            created_at=moment,
        ),
    )


def _add_guild(connection: sqlite3.Connection, world: SeededWorld) -> None:
    guild = Guild(
        id=world.guild_id,
        owner_id=world.owner.id,
        name=GUILD_NAME,
        created_at=world.made_at,
        system_channel_id=world.channel_id,
        features=frozenset(NEW_GUILD_FEATURES),
        member_count=len(world.users) + 1,
    )
    insert_guild(connection, guild, _channels(world), _members(world))


def insert_guild(
    connection: sqlite3.Connection,
    guild: Guild,
    its_channels: Sequence[Channel],
    its_members: Iterable[Member],
    its_roles: Iterable[Role] = (),
) -> None:
    """Write a guild, with @everyone before its other roles."""
    guilds.insert(connection, guild)
    roles.insert(connection, [Role(guild.id, guild.id, EVERYONE_NAME, 0, DEFAULT_EVERYONE), *its_roles])
    channels.insert(connection, its_channels)
    for member in its_members:
        members.insert(connection, member)


def _channels(world: SeededWorld) -> tuple[Channel, ...]:
    guild_id = world.guild_id
    return (
        Channel(world.text_category_id, guild_id, ChannelType.GUILD_CATEGORY, "Text Channels", position=0),
        Channel(world.voice_category_id, guild_id, ChannelType.GUILD_CATEGORY, "Voice Channels", position=1),
        Channel(world.channel_id, guild_id, ChannelType.GUILD_TEXT, "general", parent_id=world.text_category_id),
        Channel(
            world.voice_channel_id,
            guild_id,
            ChannelType.GUILD_VOICE,
            "General",
            parent_id=world.voice_category_id,
            bitrate=VOICE_BITRATE,
            user_limit=0,
            voice_connection_limit=VOICE_CONNECTION_LIMIT,
        ),
    )


def _members(world: SeededWorld) -> tuple[Member, ...]:
    guild_id, moment, owner_id = world.guild_id, world.made_at, world.owner.id
    return (
        Member(guild_id, owner_id, moment, join_source=JoinSource.CREATOR),
        *(
            Member(guild_id, user.id, moment, join_source=JoinSource.INSTANT_INVITE, inviter_id=owner_id)
            for user in world.users[1:]
        ),
        Member(guild_id, world.bot.user_id, moment, join_source=JoinSource.BOT_INVITE, inviter_id=owner_id),
    )
