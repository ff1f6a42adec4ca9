"""Applications and their bot accounts (applications.md, Applications and bots)."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping, Sequence
from typing import Any, Final

import attrs
import structlog

from chat import wire
from chat.auth.principal import Principal
from chat.classes import define, frozen
from chat.domain.accounts.account_images import ACCOUNT_IMAGES, AccountImages
from chat.domain.applications.application_objects import (
    application_object,
    bot_object,
    bot_of,
    deleted_bot,
    held,
    new_bot,
    own_application,
    owned,
    required_bot_of,
    secret_columns,
    token_columns,
)
from chat.domain.applications.interaction_endpoints import InteractionEndpoints
from chat.domain.applications.oauth2_protocol import is_redirect
from chat.domain.core import Core
from chat.domain.guilds.memberships import Departure, Memberships
from chat.domain.policy.changes import note_changes, without_repeated
from chat.domain.policy.errands import Errand, State
from chat.domain.policy.profiles import KEEP_TAG, ProfileRules, TagChange, Usernames
from chat.domain.signing_in.sudo import SudoMode, SudoProof
from chat.domain.standing.verification import is_unclaimed
from chat.errors import ApiError, FieldError, InvalidFormBody
from chat.registries.error_codes import ErrorCode, FieldCode
from chat.registries.jobs import ErrandKind
from chat.registries.user_flags import UserFlag
from chat.store.accounts import accounts
from chat.store.accounts.accounts import Account
from chat.store.applications import applications
from chat.store.applications.applications import Application
from chat.store.guilds import guilds

log: Final = structlog.get_logger("chat.accounts")

NAME_LENGTH: Final = 100
"""Characters that the name of an application may have (applications.md, Applications and bots)."""

BOT_FLAGS: Final = int(UserFlag.FRIENDLY_BOT | UserFlag.FRIENDLY_BOT_MANUAL_APPROVAL)
"""Bits of a bot's flags that its owner may set."""


@frozen
class NewApplication:
    """What an application is created with."""

    name: str
    redirect_uris: tuple[str, ...] = ()
    bot_public: bool = True
    bot_require_code_grant: bool = False
    public_client: bool = False


@frozen
class BotChange:
    """What is to be different about a bot account.

    `profile` holds columns and their new values; `flags` are the bits of BOT_FLAGS that it is to have, None to keep
    them.
    """

    profile: Mapping[str, Any]
    tag: TagChange = KEEP_TAG
    flags: int | None = None


@define(kw_only=True, eq=False)
class Applications:
    """Creates, reads, changes and deletes applications. Only the owner may: each method that names one raises
    UNKNOWN_APPLICATION or ACCESS_DENIED for all others."""

    _core: Core
    _usernames: Usernames
    _sudo: SudoMode
    _rules: ProfileRules
    _memberships: Memberships
    _images: AccountImages
    _endpoints: InteractionEndpoints

    def __attrs_post_init__(self) -> None:
        self._core.errands.handle(ErrandKind.DELETE_APPLICATION, self._delete)

    async def create(self, principal: Principal, new: NewApplication) -> wire.NewApplication:
        """Create an application with its bot account; the only answer that tells client secret and bot token together.

        :raises ApiError: UNCLAIMED_ACCOUNT_CANNOT_CREATE_APPLICATIONS, CONTENT_BLOCKED, MAX_APPLICATIONS.
        """
        if is_unclaimed(principal.account):
            raise ApiError(ErrorCode.UNCLAIMED_ACCOUNT_CANNOT_CREATE_APPLICATIONS)
        self._require_redirects(new.redirect_uris)
        self._rules.require_name(new.name)
        application_id = self._core.snowflakes()
        client_secret, bot_token = self._core.mint.secret(), self._core.mint.bot_token(application_id)
        now = self._core.clock.now_ms()
        application = Application(
            id=application_id,
            owner_id=principal.user_id,
            name=new.name,
            bot_user_id=application_id,
            bot_public=new.bot_public,
            bot_require_code_grant=new.bot_require_code_grant,
            public_client=new.public_client,
            redirect_uris=new.redirect_uris,
            created_at=now,
            **secret_columns(client_secret, now),
            **token_columns(bot_token, now),
        )
        bot = new_bot(application, service_name=self._core.settings.service_name)
        most = self._core.settings.limits.max_applications_per_user

        def unit(connection: sqlite3.Connection) -> Account:
            if applications.count_of_owner(connection, principal.user_id) >= most:
                raise ApiError(ErrorCode.MAX_APPLICATIONS)
            username, number = self._usernames.allocate_like(connection, bot.username, bot=True)
            made = attrs.evolve(bot, username=username, discriminator=number)
            accounts.insert(connection, made)
            applications.insert(connection, application)
            return made

        made = await self._core.database.write(unit, guard=principal.guard)
        log.info("application created", application_id=application_id, user_id=principal.user_id)
        bot_with_token: wire.NewBot = {**bot_object(made), "token": bot_token}
        return {**self._object(application, None), "bot": bot_with_token, "client_secret": client_secret}

    def _object(self, application: Application, bot: Account | None) -> wire.Application:
        return application_object(application, bot, self._endpoints.verify_key(application.id))

    async def of_account(self, principal: Principal) -> list[wire.Application]:
        """The caller's applications, oldest first."""

        def query(connection: sqlite3.Connection) -> list[wire.Application]:
            own = applications.of_owner(connection, principal.user_id)
            return [self._object(application, bot_of(connection, application)) for application in own]

        return await self._core.database.read(query)

    def get(self, principal: Principal, application_id: int) -> wire.Application:
        """One of the caller's applications."""
        reader = self._core.database.reader
        application = owned(reader, principal.user_id, application_id)
        return self._object(application, bot_of(reader, application))

    def of_bot(self, principal: Principal) -> wire.OwnApplication:
        """The application that a bot belongs to. Raises UNKNOWN_APPLICATION."""
        reader = self._core.database.reader
        application = applications.by_bot(reader, principal.user_id)
        owner = None if application is None else accounts.by_id(reader, application.owner_id)
        if application is None or owner is None:
            raise ApiError(ErrorCode.UNKNOWN_APPLICATION)
        return own_application(application, owner, principal.account, self._endpoints.verify_key(application.id))

    async def change(self, principal: Principal, application_id: int, changes: Mapping[str, Any]) -> wire.Application:
        """Change columns: name, description, redirect_uris, bot_public, bot_require_code_grant, public_client,
        interactions_endpoint_url. A bot changes its own application.

        :raises ApiError: CONTENT_BLOCKED.
        :raises InvalidFormBody: for redirect addresses that cannot be taken; as `InteractionEndpoints.require_good`.
        """
        self._require_redirects(changes.get("redirect_uris", ()))
        self._rules.require_name(changes.get("name", ""))
        self._core.blocked.require_text(changes.get("description") or "")
        present = held(self._core.database.reader, principal, application_id)
        url = changes.get("interactions_endpoint_url")
        if url is not None and url != present.interactions_endpoint_url:
            await self._endpoints.require_good(application_id, url, principal.guard)

        def unit(connection: sqlite3.Connection) -> wire.Application:
            application = attrs.evolve(held(connection, principal, application_id), **changes)
            applications.replace(connection, application)
            return self._object(application, bot_of(connection, application))

        return await self._core.database.write(unit, guard=principal.guard)

    async def delete(self, principal: Principal, application_id: int, proof: SudoProof) -> None:
        """Delete an application. Its bot leaves its guilds and lives on as the deleted author of what it wrote.

        :raises ApiError: SUDO_MODE_REQUIRED.
        :raises InvalidFormBody: INVALID_PASSWORD at `password`.
        """
        owned(self._core.database.reader, principal.user_id, application_id)
        await self._sudo.require(principal.account, proof)
        state = {"application_id": application_id, "owner_id": principal.user_id, "last_guild_id": 0}
        await self._core.errands.do(ErrandKind.DELETE_APPLICATION, state, guard=principal.guard)
        log.info("application deleted", application_id=application_id, user_id=principal.user_id)

    async def _delete(self, errand: Errand) -> None:
        """The bot leaves one guild after the other, but those that it must stay in; then the application goes."""

        def portion(connection: sqlite3.Connection, state: State) -> tuple[State | None, Departure | Account | None]:
            application = applications.by_id(connection, state["application_id"])
            if errand.id is None:
                application = owned(connection, state["owner_id"], state["application_id"])
            if application is None:
                return None, None
            bot = bot_of(connection, application)
            guild_id = None if bot is None else guilds.next_of_user(connection, bot.id, state["last_guild_id"])
            if bot is not None and guild_id is not None:
                left = self._memberships.depart_if_possible(connection, guild_id, bot.id)
                return {**state, "last_guild_id": guild_id}, left
            applications.delete(connection, application.id)
            if bot is not None:
                accounts.replace(connection, deleted_bot(bot))
            return None, bot

        def then(gone: Departure | Account | None) -> None:
            if isinstance(gone, Departure):
                self._memberships.announce_departure(gone)
            elif gone is not None:
                self._core.account_events.signed_out(gone.id)

        while not errand.is_over:
            await errand.step(portion, then)

    async def change_bot(self, principal: Principal, application_id: int, change: BotChange) -> wire.Bot:
        """Change the bot account of an application; returns the bot object.

        :raises ApiError: BOT_USER_NOT_FOUND, INVALID_BOT_FLAG.
        :raises InvalidFormBody: for a tag, bio or image that cannot be taken.
        :raises StorageUnavailable: when an image cannot be written.
        """
        if change.flags is not None and change.flags & ~BOT_FLAGS:
            raise ApiError(ErrorCode.INVALID_BOT_FLAG)
        reader = self._core.database.reader
        known = required_bot_of(reader, owned(reader, principal.user_id, application_id))
        sent = {name: change.profile[name] for name in ACCOUNT_IMAGES.keys() & change.profile.keys()}
        written = {name: value for name, value in change.profile.items() if name not in sent}
        changes = without_repeated(known, self._rules.checked(known, dict(written), change.tag))
        tag = change.tag.without_repeated(known)
        pictures = (await self._images.judged(known, sent, principal.guard)).without_repeated(known)

        def unit(connection: sqlite3.Connection) -> tuple[Account, Account]:
            before = required_bot_of(connection, owned(connection, principal.user_id, application_id))
            after = attrs.evolve(before, **changes, **pictures.columns())
            pictures.store(connection)
            if change.flags is not None:
                after = attrs.evolve(after, flags=(after.flags & ~BOT_FLAGS) | change.flags)
            if tag != KEEP_TAG:
                after = self._usernames.claimed(connection, after, tag.username, tag.discriminator)
                note_changes(connection, before, after, self._core.clock.now_ms())
            if after != before:
                accounts.replace(connection, after)
            return before, after

        def then(changed: tuple[Account, Account]) -> None:
            before, after = changed
            if after != before:
                self._core.account_events.changed(before, after)

        async with self._images.media.kept(*pictures.prepared, guard=principal.guard):
            _, bot = await self._core.database.write(unit, then, guard=principal.guard)
        return bot_object(bot)

    async def reset_bot_token(self, principal: Principal, application_id: int, proof: SudoProof) -> wire.BotToken:
        """Give the bot a new token: the old one is worth nothing, and the bot's gateway sessions end.

        :raises ApiError: BOT_USER_NOT_FOUND, SUDO_MODE_REQUIRED.
        :raises InvalidFormBody: INVALID_PASSWORD at `password`.
        """
        owned(self._core.database.reader, principal.user_id, application_id)
        await self._sudo.require(principal.account, proof)
        return await self.renew_bot_token(principal, application_id)

    async def renew_bot_token(self, principal: Principal, application_id: int) -> wire.BotToken:
        """As `reset_bot_token`, without a proof."""
        token = self._core.mint.bot_token(application_id)

        def unit(connection: sqlite3.Connection) -> Account:
            application = owned(connection, principal.user_id, application_id)
            bot = required_bot_of(connection, application)
            columns = token_columns(token, self._core.clock.now_ms())
            applications.replace(connection, attrs.evolve(application, **columns))
            return bot

        def then(bot: Account) -> None:
            self._core.account_events.signed_out(bot.id)

        bot = await self._core.database.write(unit, then, guard=principal.guard)
        log.info("bot token reset", application_id=application_id, user_id=principal.user_id)
        return {"token": token, "bot": bot_object(bot)}

    async def reset_client_secret(
        self, principal: Principal, application_id: int, proof: SudoProof
    ) -> wire.ClientSecret:
        """Give the application a new client secret.

        :raises ApiError: SUDO_MODE_REQUIRED.
        :raises InvalidFormBody: INVALID_PASSWORD at `password`.
        """
        owned(self._core.database.reader, principal.user_id, application_id)
        await self._sudo.require(principal.account, proof)
        secret = self._core.mint.secret()

        def unit(connection: sqlite3.Connection) -> None:
            application = owned(connection, principal.user_id, application_id)
            columns = secret_columns(secret, self._core.clock.now_ms())
            applications.replace(connection, attrs.evolve(application, **columns))

        await self._core.database.write(unit, guard=principal.guard)
        log.info("client secret reset", application_id=application_id, user_id=principal.user_id)
        return {"client_secret": secret}

    def _require_redirects(self, addresses: Sequence[str]) -> None:
        """Raise InvalidFormBody unless each is an address to be sent back to, and there are not too many."""
        if len(addresses) > self._core.settings.limits.max_redirect_uris_per_application:
            raise InvalidFormBody.at("redirect_uris", FieldCode.INVALID_FORMAT)
        wrong = [position for position, address in enumerate(addresses) if not is_redirect(address)]
        if wrong:
            raise InvalidFormBody(
                [FieldError(f"redirect_uris.{position}", FieldCode.INVALID_FORMAT) for position in wrong]
            )
