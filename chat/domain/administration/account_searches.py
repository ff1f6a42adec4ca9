"""Finding accounts for administrators (administration.md, Finding accounts)."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Sequence
from typing import Any, Final

import attrs

from chat.domain.administration.admin_account_views import AdminAccountViews
from chat.domain.administration.admin_audit_log import NO_TARGET, Acting, AdminAuditLog
from chat.domain.administration.billing import Billing
from chat.domain.core import Core
from chat.errors import ApiError
from chat.registries.acls import Acl
from chat.registries.admin_actions import AdminAction
from chat.snowflake import MAXIMUM as SNOWFLAKE_MAXIMUM
from chat.store.accounts import accounts
from chat.store.accounts.accounts import Account
from chat.store.administration import account_search, administration

_DIGITS: Final = re.compile(r"[0-9]{1,20}", re.ASCII)
_TAG: Final = re.compile(r"(.+)#([0-9]{1,4})", re.ASCII | re.DOTALL)


@attrs.frozen(kw_only=True)
class Selection:
    """Which accounts are wanted. Of the selectors the first that is there counts, in this order; with none of them the
    index is searched for nothing in particular."""

    user_ids: Sequence[int] | None = None
    resolve: str | None = None
    email: str | None = None
    last_active_ip: str | None = None
    text: str | None = None
    limit: int = 50
    offset: int = 0


@attrs.frozen
class _Found:
    """What a selector found: accounts, how many there are in all, and what the audit log keeps of the question."""

    selector: str
    accounts: Sequence[Account]
    total: int
    metadata: dict[str, Any]


class AccountSearches:
    """Searches accounts."""

    def __init__(self, core: Core, log: AdminAuditLog, views: AdminAccountViews, billing: Billing | None) -> None:
        self._core = core
        self._log = log
        self._views = views
        self._billing = billing
        self._is_on = core.settings.search == "on"

    async def search(self, acting: Acting, selection: Selection) -> dict[str, Any]:
        """The accounts that fit, as Admin user objects, and how many there are in all.

        :raises ApiError: MISSING_ACL for a selector that asks for what the administrator may not see,
            FEATURE_TEMPORARILY_DISABLED for words where nothing is searched by words, STORE_BILLING_UNAVAILABLE for a
            subscription of which nobody can be asked.
        """
        found = await self._found(acting, selection)
        users = await self._views.of_all(acting, found.accounts)
        metadata = {"selector": found.selector, "result_count": len(users), "total": found.total, **found.metadata}
        await self._log.note(acting, AdminAction.SEARCH_USERS, NO_TARGET, metadata)
        return {"users": users, "total": found.total}

    async def _found(self, acting: Acting, wanted: Selection) -> _Found:
        if wanted.user_ids is not None:
            return await self._by_ids(wanted.user_ids)
        if wanted.resolve is not None:
            if "@" in wanted.resolve:
                _require(acting, Acl.USER_VIEW_EMAIL)
            return _few("resolve", await self._resolved(wanted.resolve.strip()))
        if wanted.email is not None:
            _require(acting, Acl.USER_VIEW_EMAIL)
            address = wanted.email.strip()
            holders = accounts.of_address(self._core.database.reader, address)
            return _few("email", [account for account in holders if account.email == address])
        window = {"limit": wanted.limit, "offset": wanted.offset}
        if wanted.last_active_ip is not None:
            _require(acting, Acl.USER_VIEW_IP)
            address = wanted.last_active_ip.strip()

            def seen(connection: sqlite3.Connection) -> tuple[list[Account], int]:
                ids, total = administration.ids_by_last_address(connection, address, wanted.limit, wanted.offset)
                return accounts.by_ids(connection, ids), total

            return _Found("last_active_ip", *await self._core.database.read(seen), window)
        if not self._is_on:
            raise ApiError("FEATURE_TEMPORARILY_DISABLED")
        text = wanted.text or ""
        matching, total = await self._core.database.read(lambda connection: _matching(connection, text, wanted))
        return _Found("search", matching, total, {**window, "has_query": bool(text.strip())})

    async def _by_ids(self, user_ids: Sequence[int]) -> _Found:
        distinct = tuple(dict.fromkeys(user_ids))
        known = await self._core.database.read(lambda connection: accounts.by_ids(connection, distinct))
        metadata: dict[str, Any] = {"user_id_count": len(user_ids)}
        if len(user_ids) == 1:
            metadata["user_id"] = user_ids[0]
        return _Found("user_id", known, len(known), metadata)

    async def _resolved(self, text: str) -> list[Account]:
        """The account that a text of any kind names, or those that have an address. What has none of the known shapes
        is a subscription of a payment processor, of which a self-hosted instance has none.

        :raises ApiError: STORE_BILLING_UNAVAILABLE where the processor cannot be asked.
        """
        reader = self._core.database.reader
        tag = _TAG.fullmatch(text)
        if tag is not None:
            return _there(accounts.by_tag(reader, tag[1], int(tag[2])))
        if _DIGITS.fullmatch(text):
            return _there(_by_number(reader, text))
        if "@" in text:
            return accounts.of_address(reader, text)
        owner_id = await self._billing.owner(text) if text and self._billing is not None else None
        return [] if owner_id is None else _there(accounts.by_id(reader, owner_id))


def _matching(connection: sqlite3.Connection, text: str, wanted: Selection) -> tuple[list[Account], int]:
    # Digits may be an id as well as a name: whoever has it stands before all that the index finds.
    bare = text.strip()
    exact = _by_number(connection, bare) if _DIGITS.fullmatch(bare) else None
    if exact is None:
        ids, total = account_search.found(connection, text, wanted.limit, wanted.offset)
        return accounts.by_ids(connection, ids), total
    first = [exact.id] if wanted.offset == 0 else []
    ids, total = account_search.found(
        connection, text, wanted.limit - len(first), max(wanted.offset - 1, 0), without=exact.id
    )
    if not account_search.finds(connection, text, exact.id):
        total += 1
    return accounts.by_ids(connection, [*first, *ids]), total


def _by_number(connection: sqlite3.Connection, digits: str) -> Account | None:
    number = int(digits)
    return accounts.by_id(connection, number) if number <= SNOWFLAKE_MAXIMUM else None


def _few(selector: str, found: Sequence[Account]) -> _Found:
    return _Found(selector, found, len(found), {})


def _there(account: Account | None) -> list[Account]:
    return [] if account is None else [account]


def _require(acting: Acting, acl: Acl) -> None:
    if not acting.holds(acl):
        raise ApiError("MISSING_ACL")
