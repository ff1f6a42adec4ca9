"""What the operator does from the command line, beside a running server or without one: to accounts, to guilds and
their invites (instance.md, Command line), and the check of the signing key.

A running server learns of it from notes that are written with the change (`server_notes`). Features that
Modify guild does not reach are the operator's (guilds.md, Guild features). Invites of the instance have no inviter; the
guild's own log tells of them.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Final

import attrs

from chat.auth.keys import Keys
from chat.auth.passwords import Passwords
from chat.bus.bus import Bus, GuildAvailabilityChanged, GuildStateChanged
from chat.classes import define, frozen
from chat.clock import Clock
from chat.config import Settings
from chat.domain.administration import server_notes
from chat.domain.administration.admin_audit_log import NO_TARGET, AdminAuditLog, the_instance
from chat.domain.administration.guilds import features_metadata
from chat.domain.guilds.guild_changes import changes_availability
from chat.domain.guilds.invites import CODE_ALPHABET, CODE_CHARACTERS, INVITABLE_CHANNEL_TYPES, InviteTerms, Randomness
from chat.domain.interactions import endpoint_deliveries
from chat.domain.policy import account_rules
from chat.domain.policy.profiles import Usernames
from chat.domain.signing_in import mfa_codes
from chat.domain.standing.audit_log import INSTANCE
from chat.domain.standing.guild_events import guild_updated
from chat.domain.standing.guild_states import GuildState, GuildStates
from chat.domain.webhooks import webhooks
from chat.errors import InvalidFormBody, OperatorError
from chat.mail.mailer import OUTBOX_PURPOSE, MailKind
from chat.registries.acls import ACLS
from chat.registries.admin_actions import AdminAction
from chat.registries.audit_actions import AuditAction
from chat.registries.error_codes import FieldCode
from chat.registries.guild_features import GuildFeature
from chat.snowflake import MAXIMUM, SnowflakeGenerator
from chat.store.accounts import accounts
from chat.store.accounts.accounts import Account
from chat.store.administration import sealed_secrets
from chat.store.database import Database
from chat.store.guard import UNGUARDED
from chat.store.guilds import channels, guilds, invites
from chat.store.guilds.guilds import Guild
from chat.store.guilds.invites import Invite, InviteType
from chat.store.imports import placeholders
from chat.store.signing_in import auth_sessions, tickets
from chat.store.standing import guild_audit_log
from chat.store.standing.guild_audit_log import AuditLogEntry

_ACLS: Final = frozenset(ACLS)


@frozen
class NewAccount:
    """An account as the operator asks for it."""

    username: str
    email: str | None = None
    password: str | None = attrs.field(default=None, repr=False)
    acls: tuple[str, ...] = ()


@define(eq=False)
class Administration:
    """Makes, finds and changes accounts of people."""

    _database: Database
    _clock: Clock
    _snowflakes: SnowflakeGenerator
    _passwords: Passwords
    _usernames: Usernames
    _log: AdminAuditLog
    _settings: Settings

    def find(self, name: str) -> Account:
        """The account with this snowflake, email address, tag (`alice#0001`) or username. Raises OperatorError if there
        is none, or more than one of that username."""
        found = self._find(name)
        if not found:
            raise OperatorError(f"there is no account {name}")
        if len(found) > 1:  # who was brought along from elsewhere has a name, too, and stays behind who can sign in
            found = [one for one in found if not placeholders.is_one(self._database.reader, one.id)] or found
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
        """Make an account; the operator vouches for its address. Raises InvalidFormBody for what is wrong with it,
        OperatorError for an unknown ACL."""
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
                raise InvalidFormBody.at("email", FieldCode.EMAIL_ALREADY_IN_USE)
            made = attrs.evolve(account, discriminator=self._usernames.allocate(connection, username))
            accounts.insert(connection, made)
            if made.acls:
                metadata = {"acls": made.acls}
                self._log.record(connection, the_instance(), AdminAction.SET_ACLS, made.id, metadata)
            return made

        return await self._database.write(unit, guard=UNGUARDED)

    async def set_password(self, user_id: int, password: str) -> Account:
        """Give the account a new password; every sign-in of it ends. Raises InvalidFormBody for a password that is too
        short, too long or too common; OperatorError for a bot, and for a person of an old place."""
        known = self.find(str(user_id))
        if known.bot:
            raise OperatorError(f"{tag_of(known)} is a bot: it has a token, not a password")
        if placeholders.is_one(self._database.reader, user_id):
            raise OperatorError(f"{tag_of(known)} came with an import and is nobody's: no one signs in to it")
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
            tickets.delete_email_tokens(connection, str(MailKind.PASSWORD_RESET), user_id)
            server_notes.leave(connection, server_notes.signed_out(user_id), now)
            return account

        return await self._database.write(unit, guard=UNGUARDED)


def tag_of(account: Account) -> str:
    """The account's tag as people write it."""
    return f"{account.username}#{account.discriminator:04}"


def require_acls(acls: Sequence[str]) -> tuple[str, ...]:
    """The ACLs, sorted and each once. Raises OperatorError for an unknown ACL."""
    for acl in acls:
        if acl not in _ACLS:
            raise OperatorError(f"{acl!r} is no ACL: expected one such as user:view:email, or *")
    return tuple(sorted(set(acls)))


def _present(connection: sqlite3.Connection, user_id: int) -> Account:
    account = accounts.by_id(connection, user_id)
    if account is None:
        raise OperatorError(f"there is no account {user_id}")
    return account


def features_of(names: Collection[str]) -> frozenset[GuildFeature]:
    """The features with these names, in upper or lower case. Raises OperatorError for an unknown name."""
    found = set()
    for name in names:
        try:
            found.add(GuildFeature(name.upper()))
        except ValueError:
            raise OperatorError(f"{name!r} is no guild feature: expected one such as VANITY_URL") from None
    return frozenset(found)


async def change_features(
    database: Database, clock: Clock, log: AdminAuditLog, guild_id: int, add: Collection[str], remove: Collection[str]
) -> Guild:
    """Give a guild features and take others away; the guild as it is then.

    What the guild has already is added, and what it lacks is removed, without a word. Raises OperatorError for a guild
    that is not there, a name that is no feature, and a feature that is to be both added and removed.
    """
    added, removed = features_of(add), features_of(remove)
    if both := added & removed:
        raise OperatorError(f"{sorted(both)[0]} cannot be both added and removed")
    now = clock.now_ms()

    def unit(connection: sqlite3.Connection) -> Guild:
        before = guilds.by_id(connection, guild_id)
        if before is None:
            raise OperatorError(f"there is no guild {guild_id}")
        after = attrs.evolve(before, features=before.features - removed | added)
        if after != before:
            guilds.replace(connection, after)
            server_notes.leave(connection, server_notes.guild_changed(guild_id), now)
            metadata = features_metadata(added, removed, after)
            log.record(connection, the_instance(), AdminAction.UPDATE_FEATURES, guild_id, metadata)
        return after

    return await database.write(unit, guard=UNGUARDED)


def take_up_guild(database: Database, guild_states: GuildStates, bus: Bus, guild_id: int) -> None:
    """Read a guild anew that was changed beside this server, and tell those who see it. A guild that is not in memory
    has no session connected to it, and so none to tell."""
    state, stored = guild_states.loaded(guild_id), guilds.by_id(database.reader, guild_id)
    if state is not None and stored is not None:
        before = state.guild
        state.put_guild(stored)
        announce(bus, state, before)


def take_up_import(guild_states: GuildStates, bus: Bus, guild_id: int) -> None:
    """Read a guild anew with everything in it, and send it whole to those who see it: what a client shows of it is to
    be fetched again."""
    guild_states.refresh(guild_id)
    bus.publish(GuildAvailabilityChanged(guild_id))


def announce(bus: Bus, state: GuildState, before: Guild) -> None:
    """Guild Update where the guild is not as it was `before`, and what follows from other features."""
    after = state.guild
    if attrs.evolve(before, member_count=after.member_count) == after:
        return
    bus.publish(GuildStateChanged(after.id), guild_updated(state))
    if changes_availability(before, after):
        bus.publish(GuildAvailabilityChanged(after.id))


@define(eq=False)
class InviteAdministration:
    """Makes, lists and deletes invites into guilds for the instance."""

    _database: Database
    _clock: Clock
    _snowflakes: SnowflakeGenerator
    _randomness: Randomness
    _settings: Settings

    async def create(self, channel_id: int, terms: InviteTerms) -> Invite:
        """Make an invite that leads to a channel of a guild; always a new one. Raises OperatorError for a channel that
        is not there or that no invite leads to, and for a guild that has as many as it may have."""
        now, most = self._clock.now_ms(), self._settings.limits.max_guild_invites

        def unit(connection: sqlite3.Connection) -> Invite:
            guild_id, kind = channels.guild_of(connection, channel_id), channels.type_of(connection, channel_id)
            guild = None if guild_id is None else guilds.by_id(connection, guild_id)
            if guild is None:
                raise OperatorError(f"there is no channel {channel_id} of a guild")
            if kind not in INVITABLE_CHANNEL_TYPES:
                raise OperatorError(f"channel {channel_id} is of type {kind}: no invite leads there")
            invites.delete_dead(connection, guild.id, now)
            if invites.count_of_guild(connection, guild.id, except_code=guild.vanity_url_code) >= most:
                raise OperatorError(f"guild {guild.id} has {most} invites, which is the most it may have")
            invite = Invite(
                code=self._code(),
                type=InviteType.GUILD.value,
                guild_id=guild.id,
                channel_id=channel_id,
                inviter_id=None,
                created_at=now,
                expires_at=now + terms.max_age * 1_000 if terms.max_age else None,
                max_age=terms.max_age,
                max_uses=terms.max_uses,
                temporary=terms.temporary,
            )
            while not invites.insert(connection, invite):  # the code was taken
                invite = attrs.evolve(invite, code=self._code())
            entry = self._record(connection, AuditAction.INVITE_CREATE, invite)
            server_notes.leave(connection, server_notes.invite_created(invite, entry.id), now)
            return invite

        return await self._database.write(unit, guard=UNGUARDED)

    async def delete(self, code: str) -> Invite:
        """Delete an invite into a guild; the one deleted. Raises OperatorError for one that does not exist, one into a
        group, and a guild's custom code."""

        def unit(connection: sqlite3.Connection) -> Invite:
            invite = invites.named(connection, code, self._clock.now_ms())
            if invite is None or invite.guild_id is None:
                raise OperatorError(f"there is no invite {code} into a guild")
            guild = guilds.by_id(connection, invite.guild_id)
            if guild is not None and guild.vanity_url_code == invite.code:
                raise OperatorError(f"{code} is the custom invite code of guild {guild.id}: its owner gives it up")
            invites.delete(connection, invite.code)
            entry = self._record(connection, AuditAction.INVITE_DELETE, invite)
            server_notes.leave(connection, server_notes.invite_deleted(invite, entry.id), self._clock.now_ms())
            return invite

        return await self._database.write(unit, guard=UNGUARDED)

    async def of_guild(self, guild_id: int) -> list[Invite]:
        """The invites of a guild that hold, newest first. Raises OperatorError for a guild that is not there."""

        def query(connection: sqlite3.Connection) -> list[Invite]:
            guild = guilds.by_id(connection, guild_id)
            if guild is None:
                raise OperatorError(f"there is no guild {guild_id}")
            found = invites.of_guild(connection, guild_id, self._clock.now_ms())
            return [invite for invite in found if invite.code != guild.vanity_url_code]

        return await self._database.read(query)

    def _record(self, connection: sqlite3.Connection, action: AuditAction, invite: Invite) -> AuditLogEntry:
        """The entry that an invite of an account has as well, by the instance (guilds.md, Audit log)."""
        value = "old_value" if action is AuditAction.INVITE_DELETE else "new_value"
        entry = AuditLogEntry(
            id=self._snowflakes(),
            guild_id=guild_id_of(invite),
            action_type=action.value,
            user_id=INSTANCE,
            options={
                "channel_id": str(invite.channel_id),
                "max_age": invite.max_age,
                "max_uses": invite.max_uses,
                "temporary": invite.temporary,
                "uses": invite.uses,
            },
            changes=[{"key": "code", value: invite.code}],
        )
        guild_audit_log.insert(connection, entry)
        return entry

    def _code(self) -> str:
        return "".join(self._randomness.choice(CODE_ALPHABET) for _ in range(CODE_CHARACTERS))


def guild_id_of(invite: Invite) -> int:
    """The guild of an invite that leads into one."""
    if invite.guild_id is None:
        raise TypeError("an invite into a group")
    return invite.guild_id


PURPOSES: Final[Mapping[str, str]] = {
    sealed_secrets.AUTHENTICATORS: mfa_codes.SEALED_TOTP_SECRET,
    sealed_secrets.BACKUP_CODES: mfa_codes.SEALED_BACKUP_CODES,
    sealed_secrets.WEBHOOKS: webhooks.SEALED_FOR,
    sealed_secrets.MAILS: OUTBOX_PURPOSE,
    sealed_secrets.DELIVERIES: endpoint_deliveries.SEALED_FOR,
}
"""For each kind of secret: the purpose with which it is encrypted."""


def unopened(connection: sqlite3.Connection, keys: Keys) -> Iterator[str]:
    """The kinds of which the key does not open all, in words."""
    for kind, purpose in PURPOSES.items():
        found = [
            keys.open(purpose, sealed, context) is not None
            for context, sealed in sealed_secrets.of_kind(connection, kind)
        ]
        if not all(found):
            yield f"does not open {found.count(False)} of {len(found)} {kind}: was it sealed with another key?"
