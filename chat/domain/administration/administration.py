"""What the operator does to accounts from the command line, beside a running server or without one.

A running server learns of it from notes that are written with the change (`chat.store.outside_changes`).
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from typing import Final

import attrs

from chat.auth.passwords import Passwords
from chat.clock import Clock
from chat.config import Settings
from chat.domain.administration.admin_audit_log import NO_TARGET, AdminAuditLog, the_instance
from chat.domain.policy import account_rules
from chat.domain.policy.usernames import Usernames
from chat.errors import InvalidFormBody, OperatorError
from chat.mail.mailer import MailKind
from chat.registries.acls import ACLS
from chat.registries.admin_actions import AdminAction
from chat.snowflake import MAXIMUM, SnowflakeGenerator
from chat.store import outside_changes
from chat.store.accounts import accounts
from chat.store.accounts.accounts import Account
from chat.store.database import Database
from chat.store.outside_changes import CREDENTIALS_REVOKED
from chat.store.signing_in import auth_sessions, email_tokens, tickets

_ACLS: Final = frozenset(ACLS)


@attrs.frozen
class NewAccount:
    """An account as the operator asks for it."""

    username: str
    email: str | None = None
    password: str | None = attrs.field(default=None, repr=False)
    acls: tuple[str, ...] = ()


class Administration:
    """Makes, finds and changes accounts of people."""

    def __init__(
        self,
        database: Database,
        clock: Clock,
        snowflakes: SnowflakeGenerator,
        passwords: Passwords,
        usernames: Usernames,
        log: AdminAuditLog,
        settings: Settings,
    ) -> None:
        self._database = database
        self._clock = clock
        self._snowflakes = snowflakes
        self._passwords = passwords
        self._usernames = usernames
        self._log = log
        self._settings = settings

    def find(self, name: str) -> Account:
        """The account with this snowflake, mail address, tag (`alice#0001`) or username.

        Raises OperatorError when there is none, or more than one of that username.
        """
        found = self._find(name)
        if not found:
            raise OperatorError(f"there is no account {name}")
        if len(found) > 1:
            tags = ", ".join(sorted(tag_of(account) for account in found))
            raise OperatorError(f"several accounts are called {name}: {tags}")
        return found[0]

    def _find(self, name: str) -> Sequence[Account]:
        reader = self._database.reader
        username, _, discriminator = name.rpartition("#")
        found: list[Account | None] = []
        if name.isdecimal() and int(name) <= MAXIMUM:
            found.append(accounts.by_id(reader, int(name)))
        elif "@" in name:
            found.extend(accounts.of_address(reader, name))
        elif username and discriminator.isdecimal():
            found.append(accounts.by_tag(reader, username, int(discriminator)))
        certain = [account for account in found if account is not None]
        return certain or accounts.by_username(reader, name)

    async def every_account(self) -> list[Account]:
        """Every account, bots and deleted ones included, the oldest first; entered in the audit log as a search."""
        found = await self._database.read(accounts.every)
        metadata = {"selector": "search", "result_count": len(found), "total": len(found), "has_query": False}
        await self._log.note(the_instance(), AdminAction.SEARCH_USERS, NO_TARGET, metadata)
        return found

    async def create(self, wanted: NewAccount) -> Account:
        """Make an account; the operator vouches for its address.

        Raises InvalidFormBody for what is wrong with it, OperatorError for an ACL that is none.
        """
        username = account_rules.username(wanted.username, service_name=self._settings.service_name)
        email = None if wanted.email is None else account_rules.email(wanted.email)
        password = wanted.password
        if password is not None:
            account_rules.password(password, names=(username, email))
        now = self._clock.now_ms()
        account = Account(
            id=self._snowflakes(),
            username=username,
            discriminator=0,
            email=email,
            email_verified=True,
            password_hash=None if password is None else await self._passwords.hash(password),
            acls=require_acls(wanted.acls),
            created_at=now,
            password_last_changed_at=None if password is None else now,
        )

        def unit(connection: sqlite3.Connection) -> Account:
            if email is not None and accounts.by_email_key(connection, email) is not None:
                raise InvalidFormBody.at("email", "EMAIL_ALREADY_IN_USE")
            made = attrs.evolve(account, discriminator=self._usernames.allocate(connection, username))
            accounts.insert(connection, made)
            if made.acls:
                metadata = {"acls": made.acls}
                self._log.record(connection, the_instance(), AdminAction.SET_ACLS, made.id, metadata)
            return made

        return await self._database.write(unit)

    async def set_password(self, user_id: int, password: str) -> Account:
        """Give the account a new password; every sign-in of it ends.

        Raises InvalidFormBody for a password that is too short, too long or too common; OperatorError for a bot.
        """
        known = self.find(str(user_id))
        if known.bot:
            raise OperatorError(f"{tag_of(known)} is a bot: it has a token, not a password")
        account_rules.password(password, names=(known.username, known.global_name, known.email))
        password_hash = await self._passwords.hash(password)
        now = self._clock.now_ms()

        def unit(connection: sqlite3.Connection) -> Account:
            account = attrs.evolve(
                _present(connection, user_id), password_hash=password_hash, password_last_changed_at=now
            )
            accounts.replace(connection, account)
            auth_sessions.end_of_user(connection, user_id, now)
            # As in `chat.domain.signing_in.password_change`: nothing that was begun under the old password is left.
            email_tokens.delete_of_user(connection, str(MailKind.PASSWORD_RESET), user_id)
            tickets.delete_of_user(connection, user_id)
            outside_changes.record(connection, CREDENTIALS_REVOKED, {"user_id": user_id}, now)
            return account

        return await self._database.write(unit)


def tag_of(account: Account) -> str:
    """The account's tag as people write it."""
    return f"{account.username}#{account.discriminator:04}"


def require_acls(acls: Sequence[str]) -> tuple[str, ...]:
    """The ACLs, sorted and each once. Raises OperatorError for text that is none."""
    for acl in acls:
        if acl not in _ACLS:
            raise OperatorError(f"{acl!r} is no ACL: expected one such as user:view:email, or *")
    return tuple(sorted(set(acls)))


def _present(connection: sqlite3.Connection, user_id: int) -> Account:
    account = accounts.by_id(connection, user_id)
    if account is None:
        raise OperatorError(f"there is no account {user_id}")
    return account
