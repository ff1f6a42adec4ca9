"""The address as a member of the own account: PATCH /v1/users/@me {email, email_token} (signing_in.md, Change of the
email address).

An account without an address is claimed by giving it one, and a password if it has none. For any other the token of
`chat.domain.signing_in.email_change` is needed, unless the instance sends no mail: then there is nothing that an
address could prove, and it is changed like a name.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable

import attrs

from chat.domain.core import Core
from chat.domain.policy import account_rules
from chat.domain.policy.account_rules import present
from chat.domain.signing_in.email_addresses import EmailAddresses, EmailVerification
from chat.domain.signing_in.email_change import EmailChanges
from chat.errors import ApiError, InvalidFormBody
from chat.mail.mailer import Mailer
from chat.registries.error_codes import ErrorCode, FieldCode
from chat.store.accounts.accounts import Account, email_key


@attrs.frozen
class AddressWish:
    """What a body says of the address."""

    email: str | None = None
    token: str | None = attrs.field(default=None, repr=False)


Move = Callable[[sqlite3.Connection, Account], Account]
"""In a unit of writing: the account with its new address, for the caller to write."""


@attrs.define(kw_only=True, eq=False)
class AddressWishes:
    """Judges wishes."""

    _core: Core
    _mailer: Mailer
    _changes: EmailChanges
    _addresses: EmailAddresses
    _verification: EmailVerification

    def checked(self, account: Account, wish: AddressWish, *, has_password: bool) -> Move | None:
        """What is to be done once the account has proved itself; None for the address that it has already.

        `has_password` is whether the account will have one.

        :raises ApiError: EMAIL_UNAVAILABLE_ON_INSTANCE on a username instance, ACCESS_DENIED for a deleted account.
        :raises InvalidFormBody: at `email`, `email_token` or `password`.
        """
        if self._core.settings.sign_in == "username":
            raise ApiError(ErrorCode.EMAIL_UNAVAILABLE_ON_INSTANCE)
        if account.bot:  # a bot signs in with its token
            raise InvalidFormBody.at("email", FieldCode.INVALID_FORMAT)
        present(account)
        email = None if wish.email is None else account_rules.email(wish.email)
        if wish.token is not None:
            return self._with_token(account, wish.token, email)
        if email is None or (account.email is not None and email_key(account.email) == email_key(email)):
            return None
        if account.email is None:
            if not has_password:
                raise InvalidFormBody.at("password", FieldCode.PASSWORD_NOT_SET)
            return self._claim(email)
        if self._mailer.is_on:
            raise InvalidFormBody.at("email_token", FieldCode.INVALID_FORMAT)
        return lambda connection, current: self._addresses.moved(connection, current, email, path="email")

    def _with_token(self, account: Account, token: str, email: str | None) -> Move:
        promised = self._changes.promised(self._core.database.reader, account, token)
        if email is not None and email_key(email) != email_key(promised):
            raise InvalidFormBody.at("email", FieldCode.INVALID_FORMAT)
        return lambda connection, current: self._changes.redeem(connection, current, token)

    def _claim(self, email: str) -> Move:
        """The account's first address, which is verified by mail like one given at registration."""
        verified = not self._verification.is_needed
        token = self._core.mint.mail_token()

        def move(connection: sqlite3.Connection, current: Account) -> Account:
            if current.email is not None:  # it was claimed in the meantime
                raise InvalidFormBody.at("email_token", FieldCode.INVALID_FORMAT)
            claimed = self._addresses.moved(connection, current, email, verified=verified, path="email")
            if not verified:
                self._verification.send(connection, claimed, token)
            return claimed

        return move
