"""Accounts as their holders and others read, change and close them (accounts.md, Private user, Closing an account)."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Mapping
from typing import Any, Final

import attrs
import structlog

from chat import wire
from chat.auth.principal import CredentialKind, Principal
from chat.classes import define, frozen
from chat.domain.accounts.account_images import ACCOUNT_IMAGES, AccountImages
from chat.domain.accounts.account_states import own_user
from chat.domain.core import Core
from chat.domain.policy import account_rules
from chat.domain.policy.account_rules import present
from chat.domain.policy.changes import note_changes, without_repeated
from chat.domain.policy.profiles import KEEP_TAG, ProfileRules, TagChange, Usernames, marked
from chat.domain.signing_in.email_change import AddressWish, AddressWishes, Move
from chat.domain.signing_in.password_change import NewPasswords
from chat.domain.signing_in.sudo import SudoMode, SudoProof
from chat.domain.standing.user_objects import bearer_user, has_premium, partial_user
from chat.errors import ApiError, InvalidFormBody
from chat.mail.mailer import MailKind
from chat.registries.error_codes import ErrorCode, FieldCode
from chat.registries.reports import MINIMUM_DAYS_ON_REQUEST, DeletionReason
from chat.registries.scopes import Scope
from chat.registries.user_flags import UserFlag
from chat.store.accounts import account_deletions, accounts
from chat.store.accounts.account_deletions import AccountDeletion
from chat.store.accounts.accounts import Account
from chat.store.applications import oauth2_grants
from chat.store.guard import Guard
from chat.store.guilds import guilds
from chat.store.signing_in import auth_sessions, tickets

log: Final = structlog.get_logger("chat.accounts")

DAY_MS: Final = 86_400_000
RENDERED_MAXIMUM: Final = 1_024
"""Accounts whose object for themselves is kept; all are forgotten when there are more."""

ERASED_AFTER_MS: Final = MINIMUM_DAYS_ON_REQUEST * 24 * 3_600_000
"""How long an account waits for its holder to come back."""


@frozen(kw_only=True)
class CredentialChange:
    """A new password, another address, or both, and the proof that it is the holder who wants it."""

    password: str | None = attrs.field(default=None, repr=False)
    password_path: str = "new_password"  # noqa: S105 - a member of the body
    """The member of the body that the password came in."""
    address: AddressWish | None = None
    proof: SudoProof


@frozen
class _Checked:
    """A change of credentials that the holder has proved to want."""

    password_hash: str | None = attrs.field(default=None, repr=False)
    move: Move | None = None


_NOTHING: Final = _Checked()
NO_MARKS: Final[Mapping[str, bool]] = {}


@define(kw_only=True, eq=False)
class Accounts:
    _core: Core
    _new_passwords: NewPasswords
    _addresses: AddressWishes
    _sudo: SudoMode
    _usernames: Usernames
    _rules: ProfileRules
    _images: AccountImages
    _rendered: dict[int, tuple[Account, tuple[int, bool, str], wire.PrivateUser]] = attrs.field(
        factory=dict, init=False
    )

    def own(self, account: Account) -> wire.PrivateUser:
        """The private user object, as the account sees itself."""
        return own_user(self._core, account)

    def of_caller(self, principal: Principal) -> wire.PrivateUser:
        """The private user object of the caller's account; behind an access token only as much as its scopes show."""
        if principal.kind is CredentialKind.OAUTH2:
            private = self.own(principal.account)
            return bearer_user(principal.account, private, with_email=Scope.EMAIL in principal.scopes)
        return self.own(principal.account) if principal.is_bot else self._rendered_once(principal.account)

    def _rendered_once(self, account: Account) -> wire.PrivateUser:
        """As `own`, the same object until something changes: the account's row, its age or premium, or the setting. A
        bot shows its owner's factors besides, and is rendered anew."""
        now = self._core.clock.now_ms()
        depends_on = (now // DAY_MS, has_premium(account, now), self._core.settings.premium_mode)
        kept = self._rendered.get(account.id)
        if kept is None or kept[0] is not account or kept[1] != depends_on:
            if len(self._rendered) >= RENDERED_MAXIMUM:
                self._rendered.clear()
            kept = self._rendered[account.id] = (account, depends_on, self.own(account))
        return kept[2]

    def get(self, user_id: int) -> wire.PartialUser:
        """The partial user object of any account. Raises UNKNOWN_USER."""
        account = accounts.by_id(self._core.database.reader, user_id)
        if account is None:
            raise ApiError(ErrorCode.UNKNOWN_USER)
        return partial_user(account)

    def is_taken(self, principal: Principal, username: str, discriminator: int) -> bool:
        """Whether another account has this tag.

        :raises InvalidFormBody: at `username`, for a name that no account may have.
        """
        username = account_rules.username(username, service_name=self._core.settings.service_name)
        holder = accounts.by_tag(self._core.database.reader, username, discriminator)
        return holder is not None and holder.id != principal.user_id

    async def accept_terms(self, principal: Principal) -> Account:
        """Record that the caller agrees to the terms of service and the privacy policy now."""
        now = self._core.clock.now_ms()

        def unit(connection: sqlite3.Connection) -> tuple[Account, Account]:
            before = accounts.by_id(connection, principal.user_id)
            if before is None:
                raise ApiError(ErrorCode.UNAUTHORIZED)
            after = attrs.evolve(before, terms_agreed_at=now, privacy_agreed_at=now)
            accounts.replace(connection, after)
            return before, after

        _, account = await self._core.database.write(
            unit, lambda changed: self._core.account_events.changed(*changed), guard=principal.guard
        )
        return account

    async def change(
        self,
        principal: Principal,
        profile: Mapping[str, Any],
        tag: TagChange = KEEP_TAG,
        credentials: CredentialChange | None = None,
        marks: Mapping[str, bool] = NO_MARKS,
    ) -> Account:
        """Change the caller's own account. Another password ends every sign-in of the account.

        `profile` holds columns and their new values: global_name, bio, pronouns, accent_color, mention_flags; and, as
        base64 text, avatar and banner. `marks` are those of `chat.domain.policy.profiles.MARKS`.

        :raises InvalidFormBody: with the field that cannot be taken; INVALID_PASSWORD at `password`.
        :raises StorageUnavailable: when an image cannot be written.
        :raises ApiError: SUDO_MODE_REQUIRED for other credentials without proof; ACCESS_DENIED for those of a deleted
            account; CONTENT_BLOCKED.
        """
        known = principal.account
        sent = {name: profile[name] for name in ACCOUNT_IMAGES.keys() & profile.keys()}
        written = {name: value for name, value in profile.items() if name not in sent}
        changes = without_repeated(known, self._rules.checked(known, written, tag))
        tag = tag.without_repeated(known)
        pictures = (await self._images.judged(known, sent, principal.guard)).without_repeated(known)
        changes |= pictures.columns()
        checked = _NOTHING if credentials is None else await self._checked(known, credentials)
        ends_sign_ins = checked.password_hash is not None and known.password_hash is not None

        def unit(connection: sqlite3.Connection) -> tuple[Account, Account]:
            before = accounts.by_id(connection, principal.user_id)
            if before is None:
                raise ApiError(ErrorCode.UNAUTHORIZED)
            after = marked(attrs.evolve(before, **changes), marks)
            if tag != KEEP_TAG:
                after = self._usernames.claimed(connection, after, tag.username, tag.discriminator)
                note_changes(connection, before, after, self._core.clock.now_ms())
            if checked != _NOTHING:
                if before.password_hash != known.password_hash:  # it was changed after the proof was checked
                    raise InvalidFormBody.at("password", FieldCode.INVALID_PASSWORD)
                after = self._with_credentials(connection, present(after), checked)
            pictures.store(connection)
            if after != before:
                accounts.replace(connection, after)
            return before, after

        def then(changed: tuple[Account, Account]) -> None:
            before, after = changed
            if after != before:
                self._core.account_events.changed(before, after)
            if ends_sign_ins:
                self._core.account_events.signed_out(after.id)

        async with self._images.media.kept(*pictures.prepared, guard=principal.guard):
            _, account = await self._core.database.write(unit, then, guard=principal.guard)
        if checked.password_hash is not None:
            log.info("password changed", user_id=account.id)
        if checked.move is not None:
            log.info("address changed", user_id=account.id)
        return account

    async def _checked(self, account: Account, change: CredentialChange) -> _Checked:
        """The columns to write, after the holder has proved who they are."""
        has_password = account.password_hash is not None or change.password is not None
        move = None
        if change.address is not None:
            move = self._addresses.checked(account, change.address, has_password=has_password)
        if change.password is None and move is None:
            return _NOTHING
        if change.password is not None:
            self._new_passwords.require_acceptable(present(account), change.password, path=change.password_path)
        await self._sudo.require(account, change.proof)
        if change.password is None:
            return _Checked(None, move)
        password_hash = await self._new_passwords.hashed(
            account, change.password, change.proof.asker, change.proof.guard, path=change.password_path
        )
        return _Checked(password_hash, move)

    def _with_credentials(self, connection: sqlite3.Connection, account: Account, checked: _Checked) -> Account:
        """The address first: its token is one of the things that go with an old password."""
        if checked.move is not None:
            account = checked.move(connection, account)
        if checked.password_hash is None:
            return account
        if account.password_hash is None:  # a first one replaces nothing
            return attrs.evolve(
                account, password_hash=checked.password_hash, password_last_changed_at=self._core.clock.now_ms()
            )
        return self._new_passwords.replaced(connection, account, checked.password_hash)


@define(kw_only=True, eq=False)
class AccountClosing:
    """Closes accounts for their holders: for a while, or for good (administration.md, Scheduled deletion).

    Either way every sign-in ends, and signing in again takes it back (`SignIns.enter`). What is closed for good is
    erased once its date has come.
    """

    _core: Core
    _sudo: SudoMode

    async def disable(self, account: Account, proof: SudoProof) -> None:
        """Disable the account until its holder signs in again; no sudo token is issued (access.md, Sudo mode).

        :raises ApiError: ACCESS_DENIED for a deleted account, SUDO_MODE_REQUIRED.
        :raises InvalidFormBody: as `SudoMode.require`.
        """
        present(account)
        await self._sudo.require(account, proof, issues_token=False)
        await self._close(account, UserFlag.DISABLED, lambda connection: None, proof.guard)
        log.info("account disabled", user_id=account.id)

    async def delete(self, account: Account, proof: SudoProof) -> None:
        """Schedule the account's erasure, which its holder takes back by signing in before the date.

        :raises ApiError: ACCESS_DENIED for a deleted account, SUDO_MODE_REQUIRED, USER_OWNS_GUILDS.
        :raises InvalidFormBody: as `SudoMode.require`.
        """
        present(account)
        await self._sudo.require(account, proof)
        now = self._core.clock.now_ms()
        reason = int(DeletionReason.USER_REQUESTED)
        deletion = AccountDeletion(account.id, now + ERASED_AFTER_MS, reason, None, None, None, now)

        def schedule(connection: sqlite3.Connection) -> None:
            if guilds.are_owned_by(connection, account.id):
                raise ApiError(ErrorCode.USER_OWNS_GUILDS)
            if account_deletions.of_user(connection, account.id) is None:  # what an administrator scheduled stands
                account_deletions.put(connection, deletion)
            oauth2_grants.delete_of_user(connection, account.id)  # as scheduling does

        await self._close(account, UserFlag.SELF_DELETED, schedule, proof.guard)
        log.info("account deletion scheduled", user_id=account.id)

    async def _close(
        self, account: Account, flag: UserFlag, also: Callable[[sqlite3.Connection], None], guard: Guard
    ) -> None:
        def unit(connection: sqlite3.Connection) -> tuple[Account, Account]:
            before = present(accounts.by_id(connection, account.id))
            also(connection)
            after = attrs.evolve(before, flags=before.flags | flag)
            accounts.replace(connection, after)
            auth_sessions.end_of_user(connection, account.id, self._core.clock.now_ms())
            # Signing in opens the account again, but nothing that was begun before does.
            tickets.delete_email_tokens(connection, str(MailKind.PASSWORD_RESET), account.id)
            return before, after

        def then(changed: tuple[Account, Account]) -> None:
            self._core.account_events.signed_out(account.id)
            self._core.account_events.changed(*changed)

        await self._core.database.write(unit, then, guard=guard)
