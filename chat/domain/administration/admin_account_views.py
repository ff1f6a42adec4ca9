"""Accounts as an administrator may see them: the Admin user object, redacted by what the administrator holds
(administration.md, Redaction)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import attrs

from chat.domain.administration.admin_audit_log import Acting
from chat.domain.administration.admin_user_object import admin_user
from chat.domain.core import Core
from chat.domain.signing_in.client_info import NOTHING_KNOWN, AddressFacts, AddressLookups
from chat.domain.standing.verification import holder_of_factors
from chat.registries.acls import Acl
from chat.store.accounts import account_deletions, user_settings
from chat.store.accounts.accounts import Account


@attrs.define(kw_only=True, eq=False)
class AdminAccountViews:
    """Makes Admin user objects."""

    _core: Core
    _lookups: AddressLookups

    async def of(self, acting: Acting, account: Account) -> dict[str, Any]:
        """The object with what the administrator may not see taken out; no look-up is made for whom it would tell
        nothing."""
        [data] = await self.of_all(acting, [account])
        return data

    async def of_all(self, acting: Acting, found: Sequence[Account]) -> list[dict[str, Any]]:
        """The objects of several accounts; all their addresses are looked up at once."""
        if not acting.holds(Acl.USER_VIEW_IP):
            return [self._redacted(acting, account, NOTHING_KNOWN) for account in found]
        facts = await self._lookups.of_all(account.last_active_ip for account in found)
        return [self._redacted(acting, account, facts.of(account.last_active_ip)) for account in found]

    def _redacted(self, acting: Acting, account: Account, facts: AddressFacts) -> dict[str, Any]:
        data = self._whole(account, facts)
        if not acting.holds(Acl.USER_VIEW_EMAIL):
            data |= {"email": None, "email_verified": False, "email_bounced": False}
        if not acting.holds(Acl.USER_VIEW_DOB):
            data["date_of_birth"] = None
        if not acting.holds(Acl.USER_VIEW_IP):
            data["last_active_ip"] = None
        if not acting.holds(Acl.AUDIT_LOG_VIEW):
            data["deletion_audit_log_reason"] = None
        return data

    async def own(self, acting: Acting) -> dict[str, Any]:
        """The administrator's own account, with address, date of birth and network addresses whatever the credential
        holds (administration.md, Admin user object)."""
        account = acting.principal.account
        data = self._whole(account, await self._lookups.of(account.last_active_ip))
        if not acting.holds(Acl.AUDIT_LOG_VIEW):
            data["deletion_audit_log_reason"] = None
        return data

    def _whole(self, account: Account, facts: AddressFacts) -> dict[str, Any]:
        reader = self._core.database.reader
        return admin_user(
            account,
            locale=user_settings.of_user(reader, account.id).get("locale"),
            deletion=account_deletions.of_user(reader, account.id),
            factors_of=holder_of_factors(reader, account),
            facts=facts,
            now_ms=self._core.clock.now_ms(),
        )
