"""Accounts made at a person's first single sign-on (setting `sso.auto_provision`)."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from typing import Final

import attrs
import structlog

from chat.auth.openid_connect import Claims
from chat.domain.core import Core
from chat.domain.policy import account_rules
from chat.domain.policy.usernames import Usernames
from chat.domain.signing_in.authentication import SignedIn
from chat.domain.signing_in.ip_authorization import IpAuthorization
from chat.domain.signing_in.registration import NAMELESS
from chat.domain.signing_in.sign_ins import Client, SignIns
from chat.errors import InvalidFormBody
from chat.protocol.visible_text import tidy
from chat.store.accounts import accounts, user_settings
from chat.store.accounts.accounts import Account
from chat.store.signing_in import sso_identities

log: Final = structlog.get_logger("chat.sso")

HolderOf = Callable[[sqlite3.Connection, Claims], Account | None]


@attrs.define(kw_only=True, eq=False)
class SsoAccounts:
    """Makes accounts of claims: no password, the verified address, names as near to the provider's as they can be."""

    _core: Core
    _usernames: Usernames
    _sign_ins: SignIns
    _addresses: IpAuthorization

    async def make(self, claims: Claims, client: Client, holder_of: HolderOf) -> SignedIn | None:
        """Make the account and sign it in; None when the person has one at the moment of writing.

        :raises ApiError: CONTENT_BLOCKED for an address or a name that nobody may have.
        """
        account = self._account(claims)
        if account.email is not None:
            self._core.blocked.require_email(account.email)
        for name in (account.username, account.global_name or ""):
            self._core.blocked.require_profile(name)
        sign_in = self._sign_ins.new(account.id, client, proved_at=account.created_at)

        def unit(connection: sqlite3.Connection) -> Account | None:
            if holder_of(connection, claims) is not None:
                return None
            username, number = self._usernames.allocate_like(connection, account.username, bot=False)
            made = attrs.evolve(account, username=username, discriminator=number)
            if made.email is not None and accounts.by_email_key(connection, made.email) is not None:
                made = attrs.evolve(made, email=None, email_verified=False)  # it is somebody else's of the provider's
            accounts.insert(connection, made)
            user_settings.put(connection, made.id, {})
            sso_identities.put(connection, claims.issuer, claims.subject, made.id, made.created_at)
            self._addresses.remember(connection, made, client.address)
            return self._sign_ins.enter(connection, made, sign_in)

        made = await self._core.database.write(unit)
        if made is None:
            return None
        log.info("account made at single sign-on", user_id=made.id, address=client.address)
        return SignedIn(made, sign_in)

    def _account(self, claims: Claims) -> Account:
        """The account as it is to be, without its discriminator. A username instance keeps no addresses."""
        email = None if claims.email is None or self._core.settings.sign_in == "username" else _email(claims.email)
        return Account(
            id=self._core.snowflakes(),
            username=self._username(claims),
            discriminator=0,
            global_name=_global_name(claims.name),
            email=email,
            email_verified=email is not None or self._core.settings.sign_in == "username",
            created_at=self._core.clock.now_ms(),
        )

    def _username(self, claims: Claims) -> str:
        names = (claims.preferred_username, claims.email, claims.name)
        for name in names:
            made = account_rules.username_from(
                (name or "").partition("@")[0], service_name=self._core.settings.service_name
            )
            if made is not None:
                return made
        return NAMELESS


def _email(text: str) -> str | None:
    try:
        return account_rules.email(text)
    except InvalidFormBody:
        return None


def _global_name(text: str | None) -> str | None:
    try:
        return account_rules.global_name(tidy(text or "")[: account_rules.GLOBAL_NAME_LENGTH])
    except InvalidFormBody:
        return None
