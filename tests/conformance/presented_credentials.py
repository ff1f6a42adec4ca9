"""Every kind of credential that a request can present, made afresh in a running server (document 000, Credential
forms). Rows go into the store as issuing them would put them there; nothing is shared between two of them.
"""

from __future__ import annotations

import itertools
import random
import sqlite3
from collections.abc import Callable
from typing import Final

import attrs

from chat.auth.tokens import TokenMint, token_hash
from chat.registries.scopes import ADMIN_APPLICATION_ID, ADMIN_SCOPE, SCOPES, Scope
from chat.registries.user_flags import UserFlag
from chat.store.accounts import accounts
from chat.store.accounts.accounts import Account
from chat.store.administration import admin_api_keys
from chat.store.administration.admin_api_keys import AdminApiKey
from chat.store.applications import applications, oauth2_grants
from chat.store.applications.oauth2_grants import Grant, Token
from chat.store.signing_in import auth_sessions
from chat.store.signing_in.auth_sessions import AuthSession
from chat.testing.server import ChatServer
from chat.testing.world import World
from tests.conformance.raw_requests import Headers

DAY_MS: Final = 86_400_000
EVERY_ACL: Final = ("*",)
ONLY_AUTHENTICATE: Final = ("admin:authenticate",)
CAPABILITY: Final = ("X-Service-Features", b"channel_threads")
UNKNOWN_SESSION: Final = "cht_" + "u" * 36
UNKNOWN_SECRET: Final = "U" * 43


class Issuer:
    """Issues credentials. `scope` is the one that the operation at hand asks of access tokens."""

    def __init__(self, world: World, server: ChatServer) -> None:
        self.world = world
        self._server = server
        self._numbers = itertools.count(1)
        self._mint = TokenMint(random.Random(world.bot.token))
        self.scope: Scope | None = None

    @property
    def now(self) -> int:
        return self._server.clock.now_ms()

    async def write(self, unit: Callable[[sqlite3.Connection], None]) -> None:
        await self._server.database.write(unit)

    async def person(self, *, acls: tuple[str, ...] = (), flags: int = 0, bot: bool = False) -> int:
        """An account of its own, so that nothing that an operation does to it is felt elsewhere."""
        number = next(self._numbers)
        account = Account(
            id=self._server.server.snowflakes(),
            username=f"person_{number}",
            discriminator=number % 9999 + 1,
            email=None if bot else f"person_{number}@example.com",
            email_verified=True,
            flags=flags,
            acls=acls,
            bot=bot,
            created_at=self.now - DAY_MS,
        )
        await self.write(lambda connection: accounts.insert(connection, account))
        return account.id

    async def session(self, user_id: int, *, revoked: bool = False) -> str:
        token = self._mint.session_token()
        row = AuthSession(token_hash(token), user_id, self.now, self.now)
        await self.write(lambda connection: auth_sessions.insert(connection, row))
        if revoked:
            await self.write(
                lambda connection: void(auth_sessions.end(connection, user_id, [row.token_hash], row.last_used_at))
            )
        return token

    async def bot_token(self, *, rotated: bool = False) -> str:
        """A token of a bot that belongs to nobody else in the world."""
        bot_id = await self.person(bot=True)
        token = self._mint.bot_token(bot_id)
        application = attrs.evolve(
            self._application(), id=bot_id, bot_user_id=bot_id, bot_token_hash=token_hash(token), name="Bot"
        )
        if rotated:
            application = attrs.evolve(application, bot_token_hash=token_hash(self._mint.bot_token(bot_id)))
        await self.write(lambda connection: applications.insert(connection, application))
        return token

    def _application(self) -> applications.Application:
        application = applications.by_id(self._server.database.reader, int(self.world.bot.application_id))
        assert application is not None
        return application

    async def access_token(
        self,
        user_id: int,
        *,
        scopes: tuple[str, ...],
        application_id: int | None = None,
        expired: bool = False,
        revoked: bool = False,
        kind: str = oauth2_grants.ACCESS,
        token: str | None = None,
    ) -> str:
        token = self._mint.secret() if token is None else token
        grant = Grant(
            id=self._server.server.snowflakes(),
            application_id=int(self.world.bot.application_id) if application_id is None else application_id,
            user_id=user_id,
            scopes=scopes,
            public=False,
            code_hash=token_hash(f"code of {token}"),
            created_at=self.now - 10 * DAY_MS,
        )
        ends = self.now if expired else self.now + DAY_MS
        row = Token(token_hash(token), grant.id, kind, self.now - 7 * DAY_MS, ends)

        def unit(connection: sqlite3.Connection) -> None:
            oauth2_grants.insert(connection, grant)
            oauth2_grants.insert_tokens(connection, row)
            if revoked:
                oauth2_grants.delete_token(connection, row.token_hash)

        await self.write(unit)
        return token

    async def admin_key(
        self, owner_id: int, *, acls: tuple[str, ...] = EVERY_ACL, expired: bool = False, deleted: bool = False
    ) -> str:
        key_id = self._server.server.snowflakes()
        key = self._mint.admin_key(key_id)
        ends = self.now if expired else None
        row = AdminApiKey(key_id, owner_id, "Key", token_hash(key), acls, self.now - DAY_MS, ends)
        await self.write(lambda connection: admin_api_keys.insert(connection, row))
        if deleted:
            await self.write(lambda connection: admin_api_keys.delete(connection, key_id))
        return key

    # By the names of the fixture

    async def present(self, name: str) -> Headers:
        """The header lines of one presentation."""
        made = await self._present(name)
        if not isinstance(made, tuple):
            return made
        return [("Authorization", made[0].encode("latin-1")), *made[1:]]

    async def _present(self, name: str) -> Headers | tuple[str, *tuple[tuple[str, bytes], ...]]:
        everybody = Scope.IDENTIFY if self.scope is None else self.scope
        others = tuple(str(scope) for scope in SCOPES if scope is not everybody)
        match name:
            # Nothing, and what cannot be read
            case "nothing":
                return []
            case "an empty header":
                return ("",)
            case "Bot alone" | "Bearer alone" | "Admin alone":
                return (name.partition(" ")[0],)
            case "an unknown scheme":
                return (f"Basic {await self.session(await self.person(acls=EVERY_ACL))}",)
            case "bytes beyond ASCII":
                return [("Authorization", b"Bearer \xff\xfe\xed\xa0\x80")]
            case "Bot and two blanks":
                return (f"Bot  {await self.bot_token()}",)
            case "Bearer and two blanks":
                return (f"Bearer  {await self.session(await self.person(acls=EVERY_ACL))}",)
            case "Admin and two blanks":
                return (f"Admin  {await self.admin_key(await self.person(acls=EVERY_ACL))}",)
            case "bearer in lower case":
                return (f"bearer {await self.session(await self.person(acls=EVERY_ACL))}",)
            case "admin in lower case":
                return (f"admin {await self.admin_key(await self.person(acls=EVERY_ACL))}",)
            case "ADMIN in upper case":
                return (f"ADMIN {await self.admin_key(await self.person(acls=EVERY_ACL))}",)
            case "bot in lower case":
                return (f"bot {await self.bot_token()}",)
            case "BOT in upper case":
                return (f"BOT {await self.bot_token()}",)
            case "two sessions":
                person = await self.person(acls=EVERY_ACL)
                tokens = [await self.session(person), await self.session(person)]
                return [("Authorization", token.encode()) for token in tokens]
            case "the same session twice":
                token = await self.session(await self.person(acls=EVERY_ACL))
                return [("Authorization", token.encode())] * 2
            case "a session and a bot":
                session, bot = await self.session(await self.person(acls=EVERY_ACL)), await self.bot_token()
                return [("Authorization", session.encode()), ("Authorization", f"Bot {bot}".encode())]
            # Sessions
            case "an unknown session":
                return (UNKNOWN_SESSION,)
            case "a session too short":
                return ((await self.session(await self.person(acls=EVERY_ACL)))[:-1],)
            case "a session in other letters":
                return ((await self.session(await self.person(acls=EVERY_ACL))).swapcase(),)
            case "a revoked session":
                return (await self.session(await self.person(acls=EVERY_ACL), revoked=True),)
            case "a session behind Bot":
                return (f"Bot {await self.session(await self.person(acls=EVERY_ACL))}",)
            case "a session behind Admin":
                return (f"Admin {await self.session(await self.person(acls=EVERY_ACL))}",)
            case "a session":
                return (await self.session(await self.person()),)
            case "a session behind Bearer":
                return (f"Bearer {await self.session(await self.person())}",)
            case "a session with channel_threads":
                return (await self.session(await self.person()), CAPABILITY)
            case "a session of a limited account":
                return (await self.session(await self.person(flags=UserFlag.ACCOUNT_LIMITED)),)
            case "a session of a disabled account":
                return (await self.session(await self.person(flags=UserFlag.DISABLED)),)
            case "a session of a deleted account":
                return (await self.session(await self.person(flags=UserFlag.DELETED)),)
            case "a session of an administrator":
                return (await self.session(await self.person(acls=EVERY_ACL)),)
            case "a session of an administrator without the ACL":
                return (await self.session(await self.person(acls=ONLY_AUTHENTICATE)),)
            # Bots
            case "an unknown bot token":
                return (f"Bot {self.world.bot.application_id}.{UNKNOWN_SECRET}",)
            case "a bot token of no application":
                return (f"Bot 1.{UNKNOWN_SECRET}",)
            case "a malformed bot token":
                return ("Bot nonsense",)
            case "a rotated bot token":
                return (f"Bot {await self.bot_token(rotated=True)}",)
            case "a bot token without scheme":
                return (await self.bot_token(),)
            case "a bot":
                return (f"Bot {await self.bot_token()}",)
            # OAuth2
            case "an unknown access token":
                return (f"Bearer {UNKNOWN_SECRET}",)
            case "a session too long behind Bearer":
                return (f"Bearer {await self.session(await self.person(acls=EVERY_ACL))}a",)
            case "an expired access token":
                return (f"Bearer {await self.access_token(await self.person(), scopes=(everybody,), expired=True)}",)
            case "a revoked access token":
                return (f"Bearer {await self.access_token(await self.person(), scopes=(everybody,), revoked=True)}",)
            case "a refresh token":
                person = await self.person()
                token = await self.access_token(person, scopes=(everybody,), kind=oauth2_grants.REFRESH)
                return (f"Bearer {token}",)
            case "an access token without scheme":
                return (await self.access_token(await self.person(), scopes=(everybody,)),)
            case "an access token":
                return (f"Bearer {await self.access_token(await self.person(), scopes=(everybody,))}", CAPABILITY)
            case "an access token of an administrator":
                token = await self.access_token(await self.person(acls=EVERY_ACL), scopes=(everybody,))
                return (f"Bearer {token}",)
            case "an access token with every other scope":
                return (f"Bearer {await self.access_token(await self.person(), scopes=others)}",)
            case "an Admin application's token":
                return (f"Bearer {await self._of_admin_application(EVERY_ACL)}",)
            case "an Admin application's token without the ACL":
                return (f"Bearer {await self._of_admin_application(ONLY_AUTHENTICATE)}",)
            case "an Admin application's token of no administrator":
                return (f"Bearer {await self._of_admin_application(())}",)
            # Admin API keys
            case "an unknown admin key":
                return (f"Admin cha_1_{'U' * 32}",)
            case "a malformed admin key":
                return ("Admin nonsense",)
            case "an expired admin key":
                return (f"Admin {await self.admin_key(await self.person(acls=EVERY_ACL), expired=True)}",)
            case "a deleted admin key":
                return (f"Admin {await self.admin_key(await self.person(acls=EVERY_ACL), deleted=True)}",)
            case "an admin key":
                return (f"Admin {await self.admin_key(await self.person(acls=EVERY_ACL))}", CAPABILITY)
            case "an admin key without the ACL":
                person = await self.person(acls=EVERY_ACL)
                return (f"Admin {await self.admin_key(person, acls=ONLY_AUTHENTICATE)}",)
            case "an admin key without admin:authenticate":
                person = await self.person(acls=EVERY_ACL)
                return (f"Admin {await self.admin_key(person, acls=('user:lookup',))}",)
            case "an admin key of no administrator":
                return (f"Admin {await self.admin_key(await self.person())}",)
            case _:
                raise AssertionError(f"nobody knows how to present {name!r}")

    async def _of_admin_application(self, acls: tuple[str, ...]) -> str:
        person = await self.person(acls=acls)
        return await self.access_token(person, scopes=(ADMIN_SCOPE,), application_id=ADMIN_APPLICATION_ID)


def void(_: object) -> None:
    """What a unit returns does not matter."""
