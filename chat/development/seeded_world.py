"""The seeded world: a few accounts, a bot and a guild whose secrets are known (development.md, Seeded world).

A world is composed once, from a source of chance and a moment, and stored as it is, secrets included, among the
instance's own values: a later start on the same directory, and a reset, find it there and make the rows again with the
same ids, tokens and passwords.
"""

from __future__ import annotations

import random
import sqlite3
import string
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Final

import attrs
import cattrs
import orjson

from chat.auth.tokens import TokenMint
from chat.clock import Clock
from chat.development.world_rows import populate
from chat.errors import OperatorError
from chat.snowflake import SnowflakeGenerator
from chat.store.administration import instance
from chat.store.database import Database

MARKER: Final = "seeded_world"
"""The key of the instance's value that holds the world."""

DEVELOPMENT_WORKER: Final = 0
"""The worker in the snowflakes of the world and of guilds made in bulk; servers and commands have others."""

AGE_MS: Final = 86_400_000
"""How old the world is when it is made, so that no rule about new accounts and members holds anyone back."""

EMAIL_DOMAIN: Final = "example.com"
PASSWORD_CHARACTERS: Final = 20

HashPassword = Callable[[str], Awaitable[str]]


@attrs.frozen
class SeededAccount:
    """A person of the world, with what signs it in."""

    id: int
    email: str
    username: str
    discriminator: int
    password: str = attrs.field(repr=False)
    token: str = attrs.field(repr=False)


@attrs.frozen
class SeededBot:
    """The bot of the world's first user."""

    application_id: int
    user_id: int
    discriminator: int
    token: str = attrs.field(repr=False)
    client_secret: str = attrs.field(repr=False)
    verify_key: str


@attrs.frozen
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


def describe(world: SeededWorld, *, base_url: str, gateway_url: str, pid: int) -> dict[str, Any]:
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


def _described(account: SeededAccount) -> dict[str, Any]:
    return {
        "id": str(account.id),
        "email": account.email,
        "username": account.username,
        "password": account.password,
        "token": account.token,
    }


async def ensure(database: Database, chance: random.Random, clock: Clock, hash_password: HashPassword) -> SeededWorld:
    """The world of this database; composed and stored where there is none yet.

    Raises OperatorError when the database holds accounts that stand in the world's way.
    """
    stored = instance.value_of(database.reader, MARKER)
    if stored is not None:
        return _converter.structure(orjson.loads(stored), SeededWorld)
    world = compose(chance, clock.now_ms() - AGE_MS)
    hashes = await hash_passwords(world, hash_password)

    def write(connection: sqlite3.Connection) -> None:
        populate(connection, world, hashes)
        instance.set_value(connection, MARKER, orjson.dumps(attrs.asdict(world)).decode())

    try:
        await database.write(write)
    except sqlite3.IntegrityError as error:
        raise OperatorError(f"the seeded world does not fit into this data directory: {error}") from error
    return world


_converter: Final = cattrs.Converter()


def compose(chance: random.Random, made_at: int) -> SeededWorld:
    """A world that nobody has stored yet; the same chance and moment give the same world."""
    next_id = SnowflakeGenerator(_Standing(made_at), DEVELOPMENT_WORKER)
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
            verify_key=chance.randbytes(32).hex(),
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


@attrs.frozen
class _Standing:
    """A clock that stands still."""

    moment: int

    def now_ms(self) -> int:
        return self.moment


def _password(chance: random.Random) -> str:
    return "".join(chance.choices(string.ascii_letters + string.digits, k=PASSWORD_CHARACTERS))


async def hash_passwords(world: SeededWorld, hash_password: HashPassword) -> Mapping[int, str]:
    """What is stored of each account's password, by the account's id."""
    return {account.id: await hash_password(account.password) for account in world.people}
