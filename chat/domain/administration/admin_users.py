"""Accounts as administrators find and see them: the Admin user object (administration.md, Admin user object), what of
it an administrator may see (administration.md, Redaction), and searches (administration.md, Finding accounts)."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Mapping, Sequence
from typing import Final

from chat import wire
from chat.classes import define, frozen
from chat.clock import iso_timestamp, optional_timestamp
from chat.domain.administration.admin_audit_log import NO_TARGET, Acting, AdminAuditLog
from chat.domain.administration.administration_objects import optional_id
from chat.domain.administration.billing import Billing
from chat.domain.core import Core
from chat.domain.signing_in.client_info import NOTHING_KNOWN, AddressFacts, AddressLookups
from chat.domain.standing.user_objects import authenticator_types
from chat.domain.standing.verification import holder_of_factors
from chat.errors import ApiError
from chat.registries.acls import ACLS, Acl
from chat.registries.admin_actions import AdminAction
from chat.registries.error_codes import ErrorCode
from chat.snowflake import MAXIMUM as SNOWFLAKE_MAXIMUM
from chat.store.accounts import account_deletions, accounts, user_settings
from chat.store.accounts.account_deletions import AccountDeletion
from chat.store.accounts.accounts import Account
from chat.store.administration import listings

TRAITS_MAXIMUM: Final = 100
"""Traits that the object names at most."""

_ACLS: Final = frozenset(ACLS)


def admin_user(
    account: Account,
    *,
    locale: str | None,
    deletion: AccountDeletion | None = None,
    facts: AddressFacts = NOTHING_KNOWN,
    factors_of: Account,
    now_ms: int,
) -> wire.AdminUser:
    """The object with every key and nothing redacted.

    `locale` is the account's own setting, None when it never set one; `deletion` is what is scheduled for it; `facts`
    are of its last address; `factors_of` is whose authenticator types it shows; `now_ms` (Unix) decides
    whether a ban still runs.
    """
    scheduled = _deletion(deletion)
    banned_until = account.temp_banned_until
    return {
        "id": str(account.id),
        "username": account.username,
        "discriminator": account.discriminator,
        "global_name": account.global_name,
        "bot": account.bot,
        "system": account.system,
        "flags": str(account.flags),
        "premium_flags": account.premium_flags,
        "avatar": account.avatar,
        "banner": account.banner,
        "bio": account.bio,
        "pronouns": account.pronouns,
        "accent_color": account.accent_color,
        "email": account.email,
        "email_verified": account.email_verified,
        "email_bounced": account.email_bounced,
        "date_of_birth": account.date_of_birth,
        "locale": locale,
        "premium_type": account.premium_type,
        "premium_since": optional_timestamp(account.premium_since),
        "premium_until": optional_timestamp(account.premium_until),
        "premium_grace_ends_at": optional_timestamp(account.premium_grace_ends_at),
        "premium_lifetime_sequence": account.premium_lifetime_sequence,
        "temp_banned_until": None if (banned_until or 0) <= now_ms else optional_timestamp(banned_until),
        "pending_deletion_at": scheduled["pending_deletion_at"],
        "pending_bulk_message_deletion_at": optional_timestamp(account.pending_bulk_message_deletion_at),
        "deletion_reason_code": scheduled["deletion_reason_code"],
        "deletion_public_reason": scheduled["deletion_public_reason"],
        "deletion_audit_log_reason": scheduled["deletion_audit_log_reason"],
        "deletion_scheduled_by": scheduled["deletion_scheduled_by"],
        "deletion_scheduled_at": scheduled["deletion_scheduled_at"],
        "acls": [acl for acl in account.acls if acl in _ACLS],
        "traits": sorted(account.traits)[:TRAITS_MAXIMUM],
        "has_totp": account.totp_secret is not None,
        "authenticator_types": authenticator_types(factors_of),
        "last_active_at": optional_timestamp(account.last_active_at),
        "last_active_ip": account.last_active_ip,
        "last_active_ip_reverse": facts.reverse,
        "last_active_location": facts.location,
    }


def _deletion(deletion: AccountDeletion | None) -> wire.ScheduledDeletion:
    if deletion is None:
        return _NO_DELETION
    return {
        "pending_deletion_at": iso_timestamp(deletion.due_at) if deletion.erased_at is None else None,
        "deletion_reason_code": deletion.reason_code,
        "deletion_public_reason": deletion.public_reason,
        "deletion_audit_log_reason": deletion.audit_log_reason,
        "deletion_scheduled_by": optional_id(deletion.scheduled_by),
        "deletion_scheduled_at": iso_timestamp(deletion.scheduled_at),
    }


_NO_DELETION: Final[wire.ScheduledDeletion] = {
    "pending_deletion_at": None,
    "deletion_reason_code": None,
    "deletion_public_reason": None,
    "deletion_audit_log_reason": None,
    "deletion_scheduled_by": None,
    "deletion_scheduled_at": None,
}


@define(kw_only=True, eq=False)
class AdminAccountViews:
    """Makes Admin user objects, with what the administrator may not see taken out."""

    _core: Core
    _lookups: AddressLookups

    async def of(self, acting: Acting, account: Account) -> wire.AdminUser:
        """The object of one account."""
        [data] = await self.of_all(acting, [account])
        return data

    async def of_all(self, acting: Acting, found: Sequence[Account]) -> list[wire.AdminUser]:
        """The objects of several accounts; all their IP addresses are looked up at once, if they may be seen."""
        if not acting.holds(Acl.USER_VIEW_IP):
            return [self._redacted(acting, account, NOTHING_KNOWN) for account in found]
        facts = await self._lookups.of_all(account.last_active_ip for account in found)
        return [self._redacted(acting, account, facts.of(account.last_active_ip)) for account in found]

    def _redacted(self, acting: Acting, account: Account, facts: AddressFacts) -> wire.AdminUser:
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

    async def own(self, acting: Acting) -> wire.AdminUser:
        """The administrator's own account, with email address, date of birth and IP addresses even if the credential
        does not hold the ACLs for them (administration.md, Admin user object)."""
        account = acting.principal.account
        data = self._whole(account, await self._lookups.of(account.last_active_ip))
        if not acting.holds(Acl.AUDIT_LOG_VIEW):
            data["deletion_audit_log_reason"] = None
        return data

    def _whole(self, account: Account, facts: AddressFacts) -> wire.AdminUser:
        reader = self._core.database.reader
        return admin_user(
            account,
            locale=user_settings.of_user(reader, account.id).get("locale"),
            deletion=account_deletions.of_user(reader, account.id),
            factors_of=holder_of_factors(reader, account),
            facts=facts,
            now_ms=self._core.clock.now_ms(),
        )


_DIGITS: Final = re.compile(r"[0-9]{1,20}", re.ASCII)
_TAG: Final = re.compile(r"(.+)#([0-9]{1,4})", re.ASCII | re.DOTALL)


@frozen(kw_only=True)
class AccountSelection:
    """The accounts to find. Only the first selector that is given counts, in this order; without any, every account is
    found."""

    user_ids: Sequence[int] | None = None
    resolve: str | None = None
    email: str | None = None
    last_active_ip: str | None = None
    text: str | None = None
    limit: int = 50
    offset: int = 0


@frozen
class _FoundAccounts:
    """The result of a selector: accounts, how many there are in all, and what the audit log records of the question."""

    selector: str
    accounts: Sequence[Account]
    total: int
    metadata: Mapping[str, object]


@define(eq=False)
class AccountSearches:
    """Searches accounts. Without `billing` there is no subscription to be asked for."""

    _core: Core
    _log: AdminAuditLog
    _views: AdminAccountViews
    _billing: Billing | None

    async def search(self, acting: Acting, selection: AccountSelection) -> wire.AdminUsersFound:
        """The accounts that fit, as Admin user objects, and how many there are in all. Raises MISSING_ACL for a
        selector that asks for what the administrator may not see, FEATURE_TEMPORARILY_DISABLED for words where nothing
        is searched by words, STORE_BILLING_UNAVAILABLE for a subscription while the store service does not answer."""
        found = await self._found(acting, selection)
        users = await self._views.of_all(acting, found.accounts)
        metadata = {"selector": found.selector, "result_count": len(users), "total": found.total, **found.metadata}
        await self._log.note(acting, AdminAction.SEARCH_USERS, NO_TARGET, metadata)
        return {"users": users, "total": found.total}

    async def _found(self, acting: Acting, wanted: AccountSelection) -> _FoundAccounts:
        if wanted.user_ids is not None:
            return await self._by_ids(wanted.user_ids)
        if wanted.resolve is not None:
            if "@" in wanted.resolve:
                _require(acting, Acl.USER_VIEW_EMAIL)
            return _few("resolve", await self._resolved(acting, wanted.resolve.strip()))
        if wanted.email is not None:
            _require(acting, Acl.USER_VIEW_EMAIL)
            address = wanted.email.strip()
            holders = accounts.of_address(self._core.database.reader, address)
            return _few("email", [account for account in holders if account.email == address][:1])
        window = {"limit": wanted.limit, "offset": wanted.offset}
        if wanted.last_active_ip is not None:
            _require(acting, Acl.USER_VIEW_IP)
            address = wanted.last_active_ip.strip()

            def seen(connection: sqlite3.Connection) -> tuple[list[Account], int]:
                ids, total = listings.ids_by_last_address(connection, address, wanted.limit, wanted.offset)
                return accounts.by_ids(connection, ids), total

            return _FoundAccounts("last_active_ip", *await self._core.database.read(seen), window)
        if self._core.settings.search != "on":
            raise ApiError(ErrorCode.FEATURE_TEMPORARILY_DISABLED)
        text = wanted.text or ""
        matching, total = await self._core.database.read(lambda connection: _matching(connection, text, wanted))
        return _FoundAccounts("search", matching, total, {**window, "has_query": bool(text.strip())})

    async def _by_ids(self, user_ids: Sequence[int]) -> _FoundAccounts:
        distinct = tuple(dict.fromkeys(user_ids))
        known = await self._core.database.read(lambda connection: accounts.by_ids(connection, distinct))
        metadata: dict[str, object] = {"user_id_count": len(user_ids)}
        if len(user_ids) == 1:
            metadata["user_id"] = user_ids[0]
        return _FoundAccounts("user_id", known, len(known), metadata)

    async def _resolved(self, acting: Acting, text: str) -> list[Account]:
        """The account that a text of any kind names; of several that have an address the one that signs in by it, which
        had it first. What has none of the known shapes is a subscription of a payment processor."""
        reader = self._core.database.reader
        tag = _TAG.fullmatch(text)
        if tag is not None:
            return _there(accounts.by_tag(reader, tag[1], int(tag[2])))
        if _DIGITS.fullmatch(text):
            return _there(_by_number(reader, text))
        if "@" in text:
            return accounts.of_address(reader, text)[:1]
        if not text or self._billing is None:
            return []
        acting.guard.judge_again()  # asking the store service takes time
        owner_id = await self._billing.owner(text)
        return [] if owner_id is None else _there(accounts.by_id(reader, owner_id))


def _matching(connection: sqlite3.Connection, text: str, wanted: AccountSelection) -> tuple[list[Account], int]:
    # Digits may be an id as well as a name: the account with that id stands before all that the index finds.
    bare = text.strip()
    exact = _by_number(connection, bare) if _DIGITS.fullmatch(bare) else None
    if exact is None:
        ids, total = listings.accounts_named(connection, text, wanted.limit, wanted.offset)
        return accounts.by_ids(connection, ids), total
    first = [exact.id] if wanted.offset == 0 else []
    ids, total = listings.accounts_named(
        connection, text, wanted.limit - len(first), max(wanted.offset - 1, 0), without=exact.id
    )
    if not listings.is_named(connection, text, exact.id):
        total += 1
    return accounts.by_ids(connection, [*first, *ids]), total


def _by_number(connection: sqlite3.Connection, digits: str) -> Account | None:
    number = int(digits)
    return accounts.by_id(connection, number) if number <= SNOWFLAKE_MAXIMUM else None


def _few(selector: str, found: Sequence[Account]) -> _FoundAccounts:
    return _FoundAccounts(selector, found, len(found), {})


def _there(account: Account | None) -> list[Account]:
    return [] if account is None else [account]


def _require(acting: Acting, acl: Acl) -> None:
    if not acting.holds(acl):
        raise ApiError(ErrorCode.MISSING_ACL)
