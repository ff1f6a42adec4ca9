"""What an administrator changes of an account: one field group at a time, each with its own entry in the audit log
(administration.md, Account fields).

Every change is one unit of writing that ends with the entry, so neither is there without the other. What it means for
those who see the account is told afterwards (administration.md, Conventions).
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Collection, Mapping
from typing import Any, Final

import attrs
import trio

from chat import wire
from chat.classes import define
from chat.domain.administration.admin_audit_log import Acting, AdminAuditLog
from chat.domain.administration.admin_users import AdminAccountViews
from chat.domain.core import Core
from chat.domain.policy import account_rules
from chat.domain.policy.changes import Columns, note_changes
from chat.domain.policy.profiles import DISCRIMINATORS, Usernames
from chat.domain.standing.user_objects import limits_of
from chat.errors import ApiError, InvalidFormBody, StorageUnavailable
from chat.registries.acls import ACLS, Acl
from chat.registries.admin_actions import AdminAction
from chat.registries.error_codes import ErrorCode, FieldCode
from chat.store.accounts import accounts
from chat.store.accounts.accounts import Account
from chat.store.database import was_locked

FLAGS_MASK: Final = (1 << 64) - 1
PREMIUM_FLAGS_MASK: Final = (1 << 32) - 1

ALLOCATION_WAIT_SECONDS: Final = 10
"""How long a change of username waits for others who allocate tags (administration.md, Account fields)."""

ALLOCATION_PAUSE_SECONDS: Final = 0.25

_COLOURS: Final[Mapping[str, str]] = {"avatar": "avatar_color", "banner": "banner_color"}
_ADMIN_ACLS: Final = frozenset(ACLS)

Edited = tuple[Account, Mapping[str, Any]]
"""The account as it is to be, and the metadata of the entry."""

Edit = Callable[[sqlite3.Connection, Account], Edited]
"""In a unit of writing: what becomes of an account."""


@define(kw_only=True, eq=False)
class AdministeredAccounts:
    """Changes accounts for administrators. Each method returns the Admin user object, and raises UNKNOWN_USER for an
    account that does not exist."""

    _core: Core
    _usernames: Usernames
    _log: AdminAuditLog
    _views: AdminAccountViews

    async def change(
        self, acting: Acting, user_id: int, action: AdminAction, edit: Edit, then: Callable[[], None] | None = None
    ) -> wire.AdminUser:
        """Change an account, write the entry and tell those who see it, even where `edit` leaves it as it was. `then`
        is what else follows the commit, before the update is told. Raises what `edit` refuses."""
        return await self._views.of(acting, await self.changed(acting, user_id, action, edit, then))

    async def changed(
        self, acting: Acting, user_id: int, action: AdminAction, edit: Edit, then: Callable[[], None] | None = None
    ) -> Account:
        """As `change`; returns the account itself."""

        def unit(connection: sqlite3.Connection) -> tuple[Account, Account]:
            before = found(connection, user_id)
            after, metadata = edit(connection, before)
            if after != before:
                accounts.replace(connection, after)
            self._log.record(connection, acting, action, user_id, metadata)
            return before, after

        def told(changed: tuple[Account, Account]) -> None:
            if then is not None:
                then()
            self._core.account_events.changed(*changed)

        _, account = await self._core.database.write(unit, told, guard=acting.guard)
        return account

    async def change_username(
        self, acting: Acting, user_id: int, username: str, discriminator: int | None
    ) -> wire.AdminUser:
        """Give the account another username, and the discriminator asked for or any free one. Raises InvalidFormBody as
        `account_rules.username`; DISCRIMINATOR_NOT_SUPPORTED_ON_INSTANCE at `discriminator`, USERNAME_ALREADY_TAKEN at
        `username`; TAG_ALREADY_TAKEN, also where others allocate for ALLOCATION_WAIT_SECONDS."""
        name = account_rules.username(username.strip(), service_name=self._core.settings.service_name)

        def edit(connection: sqlite3.Connection, before: Account) -> Edited:
            after = self._renamed(connection, before, name, discriminator)
            note_changes(connection, before, after, self._core.clock.now_ms(), actor_id=acting.user_id)
            return after, {
                "old_username": before.username,
                "new_username": after.username,
                "discriminator": after.discriminator,
            }

        # The writer of the store holds the lock on tags: no other request takes one meanwhile, in no other process.
        given_up_at = trio.current_time() + ALLOCATION_WAIT_SECONDS
        while True:
            try:
                account = await self.changed(acting, user_id, AdminAction.CHANGE_USERNAME, edit)
            except StorageUnavailable as refused:
                if trio.current_time() >= given_up_at:
                    raise ApiError(ErrorCode.TAG_ALREADY_TAKEN) from refused
                if not was_locked(refused):
                    raise
                await trio.sleep(ALLOCATION_PAUSE_SECONDS)
            else:
                return await self._views.of(acting, account)

    def _renamed(
        self, connection: sqlite3.Connection, account: Account, username: str, discriminator: int | None
    ) -> Account:
        wanted = discriminator
        if not self._usernames.has_discriminators:
            if wanted not in {None, 0} and not account.bot:
                raise InvalidFormBody.at("discriminator", FieldCode.DISCRIMINATOR_NOT_SUPPORTED_ON_INSTANCE)
            wanted = None
        elif not self._may_choose(account):
            wanted = None
        if wanted is not None and wanted not in DISCRIMINATORS:
            raise InvalidFormBody.at("discriminator", FieldCode.DISCRIMINATOR_OUT_OF_RANGE)
        try:
            return self._usernames.claimed(connection, account, username, wanted)
        except InvalidFormBody as refused:
            if refused.errors[0].code == FieldCode.USERNAME_ALREADY_TAKEN:
                raise
            raise ApiError(ErrorCode.TAG_ALREADY_TAKEN) from None

    def _may_choose(self, account: Account) -> bool:
        """Whether the account may have a discriminator of its choice (administration.md, Account fields)."""
        if self._core.settings.self_hosted and self._core.settings.premium_mode == "everyone":
            return True
        return limits_of(self._core.settings, account, self._core.clock.now_ms()).feature_custom_discriminator > 0

    async def change_email(self, acting: Acting, user_id: int, email: str) -> wire.AdminUser:
        """Give the account another email address, unverified. No mail is sent, and another account may have it too.

        The holder of the address gets reset links and so the account, with all that it may do: the change takes the
        ACLs that making such a link takes (administration.md, ACLs).

        :raises InvalidFormBody: at `email`.
        :raises ApiError: EMAIL_UNAVAILABLE_ON_INSTANCE, MISSING_ACL.
        """
        self.require_mail_instance()
        address = account_rules.email(email)

        def edit(connection: sqlite3.Connection, before: Account) -> Edited:
            require_every_acl_of(acting, before)
            after = attrs.evolve(before, email=address, email_verified=False)
            note_changes(connection, before, after, self._core.clock.now_ms(), actor_id=acting.user_id)
            return after, {"old_email": before.email, "new_email": address}

        return await self.change(acting, user_id, AdminAction.CHANGE_EMAIL, edit)

    async def verify_email(self, acting: Acting, user_id: int) -> wire.AdminUser:
        """Take the account's email address for verified, even if it has none. Raises EMAIL_UNAVAILABLE_ON_INSTANCE."""
        self.require_mail_instance()

        def edit(_: sqlite3.Connection, before: Account) -> Edited:
            return attrs.evolve(before, email_verified=True, email_bounced=False), {"email": before.email}

        return await self.change(acting, user_id, AdminAction.VERIFY_EMAIL, edit)

    async def change_date_of_birth(self, acting: Acting, user_id: int, date_of_birth: str) -> wire.AdminUser:
        """Give the account another date of birth, YYYY-MM-DD."""

        def edit(_: sqlite3.Connection, before: Account) -> Edited:
            after = attrs.evolve(before, date_of_birth=date_of_birth)
            return after, {"old_dob": before.date_of_birth, "new_dob": date_of_birth}

        return await self.change(acting, user_id, AdminAction.CHANGE_DOB, edit)

    async def clear_fields(self, acting: Acting, user_id: int, fields: Collection[str]) -> wire.AdminUser:
        """Clear parts of the profile: avatar, banner, bio, pronouns, global_name. Images go with the change."""
        named = tuple(dict.fromkeys(fields))
        columns: Columns = dict.fromkeys([*named, *(_COLOURS[name] for name in named if name in _COLOURS)])

        def edit(_: sqlite3.Connection, before: Account) -> Edited:
            return attrs.evolve(before, **columns), {"fields": named}

        return await self.change(acting, user_id, AdminAction.CLEAR_FIELDS, edit)

    async def set_bot(self, acting: Acting, user_id: int, *, bot: bool) -> wire.AdminUser:
        """Make the account a bot's or a person's; a person's is no system account either. Raises ACCESS_DENIED for an
        account that holds an ACL."""

        def edit(_: sqlite3.Connection, before: Account) -> Edited:
            if bot and not _ADMIN_ACLS.isdisjoint(before.acls):
                raise ApiError(ErrorCode.ACCESS_DENIED)
            return attrs.evolve(before, bot=bot, system=before.system and bot), {"bot": bot}

        return await self.change(acting, user_id, AdminAction.SET_BOT_STATUS, edit)

    async def set_system(self, acting: Acting, user_id: int, *, system: bool) -> wire.AdminUser:
        """Mark a bot as the system's, or take the mark away. Raises USER_MUST_BE_A_BOT_TO_BE_MARKED_AS_A_SYSTEM_USER at
        `system`."""

        def edit(_: sqlite3.Connection, before: Account) -> Edited:
            if system and not before.bot:
                raise InvalidFormBody.at("system", FieldCode.USER_MUST_BE_A_BOT_TO_BE_MARKED_AS_A_SYSTEM_USER)
            return attrs.evolve(before, system=system), {"system": system}

        return await self.change(acting, user_id, AdminAction.SET_SYSTEM_STATUS, edit)

    async def set_acls(self, acting: Acting, user_id: int, acls: Collection[str]) -> wire.AdminUser:
        """Replace what the account may do as an administrator.

        An administrator without the wildcard adds and takes away only what they may use themselves (administration.md,
        ACLs).

        :raises ApiError: ACCESS_DENIED for the own account and beyond the grant bound.
        """
        wanted = tuple(dict.fromkeys(acls))

        def edit(_: sqlite3.Connection, before: Account) -> Edited:
            if user_id == acting.user_id:
                raise ApiError(ErrorCode.ACCESS_DENIED)
            changed = set(before.acls) ^ set(wanted)
            if not acting.holds(Acl.EVERYTHING) and not all(acting.holds(acl) for acl in changed):
                raise ApiError(ErrorCode.ACCESS_DENIED)
            return attrs.evolve(before, acls=wanted), {"acls": wanted}

        return await self.change(acting, user_id, AdminAction.SET_ACLS, edit)

    async def set_traits(self, acting: Acting, user_id: int, traits: Collection[str]) -> wire.AdminUser:
        """Replace the account's traits."""
        wanted = tuple(sorted(set(traits)))

        def edit(_: sqlite3.Connection, before: Account) -> Edited:
            return attrs.evolve(before, traits=wanted), {"traits": wanted} if wanted else {}

        return await self.change(acting, user_id, AdminAction.SET_TRAITS, edit)

    async def update_flags(
        self, acting: Acting, user_id: int, add: Collection[int], remove: Collection[int]
    ) -> wire.AdminUser:
        """Set bits of the account's flags, then clear bits; bits without a meaning are kept as they are given."""
        return await self._views.of(acting, await self.put_flags(acting, user_id, add, remove))

    async def put_flags(
        self,
        acting: Acting,
        user_id: int,
        add: Collection[int],
        remove: Collection[int],
        also: Callable[[sqlite3.Connection], None] | None = None,
    ) -> Account:
        """As `update_flags`; returns the account itself. `also` is done in the same unit."""

        def edit(connection: sqlite3.Connection, before: Account) -> Edited:
            if also is not None:
                also(connection)
            bits = changed_bits(before.flags, add, remove) & FLAGS_MASK
            named = {"add_flags": tuple(add), "remove_flags": tuple(remove)}
            metadata = {"new_flags": bits, **{name: flags for name, flags in named.items() if flags}}
            return attrs.evolve(before, flags=bits), metadata

        return await self.changed(acting, user_id, AdminAction.UPDATE_FLAGS, edit)

    async def update_premium_flags(
        self, acting: Acting, user_id: int, add: Collection[int], remove: Collection[int]
    ) -> wire.AdminUser:
        """As `update_flags`, for the premium flags."""

        def edit(_: sqlite3.Connection, before: Account) -> Edited:
            bits = changed_bits(before.premium_flags, add, remove) & PREMIUM_FLAGS_MASK
            metadata = {"add_flags": tuple(add), "remove_flags": tuple(remove), "new_flags": bits}
            return attrs.evolve(before, premium_flags=bits), metadata

        return await self.change(acting, user_id, AdminAction.UPDATE_PREMIUM_FLAGS, edit)

    def require_mail_instance(self) -> None:
        """Raise EMAIL_UNAVAILABLE_ON_INSTANCE where people sign in with a username (administration.md, Conventions)."""
        if self._core.settings.sign_in == "username":
            raise ApiError(ErrorCode.EMAIL_UNAVAILABLE_ON_INSTANCE)

    def require_username_instance(self) -> None:
        """Raise USERNAME_SIGN_IN_ONLY where people sign in with an email address (administration.md, Conventions)."""
        if self._core.settings.sign_in != "username":
            raise ApiError(ErrorCode.USERNAME_SIGN_IN_ONLY)


def found(connection: sqlite3.Connection, user_id: int) -> Account:
    """The account that a path names. Raises UNKNOWN_USER."""
    account = accounts.by_id(connection, user_id)
    if account is None:
        raise ApiError(ErrorCode.UNKNOWN_USER)
    return account


def require_every_acl_of(acting: Acting, account: Account) -> None:
    """Raise MISSING_ACL unless the administrator holds all that the account does (administration.md, ACLs)."""
    if not all(acting.holds(acl) for acl in account.acls if acl in _ADMIN_ACLS):
        raise ApiError(ErrorCode.MISSING_ACL)


def require_person(account: Account) -> None:
    """Raise BOT_USER_AUTH_ENDPOINT_ACCESS_DENIED for a bot."""
    if account.bot:
        raise ApiError(ErrorCode.BOT_USER_AUTH_ENDPOINT_ACCESS_DENIED)


def changed_bits(bits: int, add: Collection[int], remove: Collection[int]) -> int:
    """Additions, then removals: what is in both ends cleared."""
    for mask in add:
        bits |= mask
    for mask in remove:
        bits &= ~mask
    return bits
