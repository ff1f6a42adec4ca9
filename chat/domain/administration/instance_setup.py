"""The first run of an instance: who may configure it while nobody has been given an ACL (access.md, First run).

Whoever completes the setup gets `*`, so it is open as narrowly as can be: only until any account holds an ACL, by
whatever way, and only to a signed-in session of the very first account of a person. On an instance where the operator
has made an administrator on the command line it is never open.
"""

from __future__ import annotations

import sqlite3

import attrs

from chat.auth.principal import CredentialKind, Principal
from chat.errors import ApiError
from chat.registries.acls import Acl
from chat.store.accounts import accounts
from chat.store.accounts.accounts import Account
from chat.store.administration import instance
from chat.store.database import Database


class InstanceSetup:
    """Knows whether the instance is set up."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._configured = False

    @property
    def is_configured(self) -> bool:
        """Whether any account holds, or has held, an ACL; what is once so stays so."""
        if not self._configured:
            self._configured = _is_configured(self._database.reader)
        return self._configured

    def forget(self) -> None:
        """The store was emptied: look again."""
        self._configured = False

    def is_open_to(self, principal: Principal) -> bool:
        """Whether this caller may configure the instance without an ACL."""
        return (
            principal.kind is CredentialKind.SESSION
            and not self.is_configured
            and _may_set_up(self._database.reader, principal.account)
        )

    def complete(self, connection: sqlite3.Connection, principal: Principal) -> tuple[Account, Account]:
        """In a unit of writing: the setup is complete, and the caller holds `*`; the account before and after.

        :raises ApiError: CONFLICT where it is complete already, or not this caller's to complete.
        """
        before = accounts.by_id(connection, principal.user_id)
        if (
            before is None
            or principal.kind is not CredentialKind.SESSION
            or _is_configured(connection)
            or not _may_set_up(connection, before)
        ):
            raise ApiError("CONFLICT")
        after = attrs.evolve(before, acls=(str(Acl.EVERYTHING),))
        accounts.replace(connection, after)
        return before, after


def _is_configured(connection: sqlite3.Connection) -> bool:
    return instance.value_of(connection, instance.CONFIGURED) is not None


def _may_set_up(connection: sqlite3.Connection, account: Account) -> bool:
    return (
        not account.bot
        and not account.is_deleted
        and not account.is_limited
        and accounts.first_person(connection) == account.id
    )
