"""Guild state and account state on demand, past the rules (development.md, Development routes)."""

from __future__ import annotations

import enum
import ipaddress
import re
import sqlite3
from collections.abc import Mapping
from typing import Annotated, Final

import attrs

from chat import wire
from chat.admin.routes.account_fields import Date
from chat.api.fields import (
    OMITTED,
    FlagBits,
    Items,
    Length,
    Maybe,
    Omitted,
    Pattern,
    Range,
    Refusal,
    Snowflake,
    Timestamp,
    Trimmed,
    named_members,
)
from chat.bus.audience import ToGuild
from chat.bus.bus import Event, GuildJoined, GuildLeft, GuildStateChanged
from chat.classes import frozen
from chat.development.node import Development
from chat.domain.accounts import guild_folders
from chat.domain.administration.account_fields import found
from chat.domain.administration.admin_users import admin_user
from chat.domain.administration.command_line import announce
from chat.domain.messages.message_objects import author_object
from chat.domain.standing.guild_objects import guild_object
from chat.domain.standing.guild_states import GuildState
from chat.domain.standing.verification import holder_of_factors
from chat.errors import ApiError, InvalidFormBody
from chat.registries.error_codes import ErrorCode, FieldCode
from chat.registries.events import EventName
from chat.registries.guild_values import DisabledOperation, JoinSource
from chat.registries.user_flags import PremiumType, UserFlag
from chat.store.accounts import accounts, user_settings
from chat.store.accounts.accounts import Account
from chat.store.guard import UNGUARDED
from chat.store.guilds import guilds, members, roles
from chat.store.guilds.guilds import Guild
from chat.store.guilds.members import Member

EVERY_DISABLED_OPERATION = sum(operation.value for operation in DisabledOperation)


@frozen
class MemberChange:
    """A member as it is to be; what is omitted stays, or is that of someone who joins now."""

    joined_at: Maybe[Timestamp] = OMITTED
    roles: Maybe[frozenset[Snowflake]] = OMITTED

    def applied_to(self, member: Member) -> Member:
        return member._replace(
            joined_at=member.joined_at if isinstance(self.joined_at, Omitted) else self.joined_at,
            role_ids=member.role_ids if isinstance(self.roles, Omitted) else self.roles - {member.guild_id},
        )


@frozen
class GuildChange:
    """What is to be different; omitted members keep what they are. A member of null is removed."""

    features: Maybe[Annotated[frozenset[Annotated[str, Length(1, 100)]], Items(0, 100)]] = OMITTED
    disabled_operations: Maybe[Annotated[int, Range(0, EVERY_DISABLED_OPERATION)]] = OMITTED
    owner_id: Maybe[Snowflake] = OMITTED
    members: Annotated[dict[Snowflake, MemberChange | None], Items(0, 10_000)] = attrs.Factory(dict)

    def applied_to(self, guild: Guild) -> Guild:
        """The guild as it is to be, its members aside."""
        named = {name: getattr(self, name) for name in ("features", "disabled_operations", "owner_id")}
        return attrs.evolve(guild, **{name: value for name, value in named.items() if not isinstance(value, Omitted)})


class Movement(enum.Enum):
    """What became of a membership."""

    JOINED = enum.auto()
    CHANGED = enum.auto()
    LEFT = enum.auto()


@frozen
class _WrittenState:
    """What was written: the guild before and after, each member that moved, and settings with other folders."""

    before: Guild
    after: Guild
    movements: list[tuple[Movement, Member]]
    settings: Mapping[int, wire.UserSettings]


async def change_guild(development: Development, guild_id: int, change: GuildChange) -> wire.Guild:
    """Change the guild and tell those who see it; returns the guild object. Raises UNKNOWN_GUILD; INVALID_ROLE_ID at a
    member's roles; INVALID_FORMAT at a member that is no account, at the owner where it is removed, and at an
    `owner_id` that is no member."""
    now = development.core.clock.now_ms()

    def write(connection: sqlite3.Connection) -> _WrittenState:
        before = guilds.by_id(connection, guild_id)
        if before is None:
            raise ApiError(ErrorCode.UNKNOWN_GUILD)
        moved = _Movements(connection, guild_id, now)
        for user_id, member_change in change.members.items():
            moved.apply(user_id, member_change)
        _check_owner(connection, change, before)
        after = attrs.evolve(change.applied_to(before), member_count=before.member_count + moved.balance)
        guilds.replace(connection, after)
        return _WrittenState(before, after, moved.movements, moved.settings)

    written = await development.core.database.write(
        write, lambda written: _announce(development, written), guard=UNGUARDED
    )
    return guild_object(written.after)


def _check_owner(connection: sqlite3.Connection, change: GuildChange, before: Guild) -> None:
    """A new owner has to be a member, and the owner has to stay one."""
    owner_id = change.applied_to(before).owner_id
    named = not isinstance(change.owner_id, Omitted)
    if (named or owner_id in change.members) and not members.exists(connection, before.id, owner_id):
        raise InvalidFormBody.at("owner_id" if named else f"members.{owner_id}", FieldCode.INVALID_FORMAT)


class _Movements:
    """The changes to memberships of one unit of writing."""

    def __init__(self, connection: sqlite3.Connection, guild_id: int, now: int) -> None:
        self._connection = connection
        self._guild_id = guild_id
        self._now = now
        self._role_ids = {role.id for role in roles.of_guild(connection, guild_id)}
        self.movements: list[tuple[Movement, Member]] = []
        self.settings: dict[int, wire.UserSettings] = {}
        self.balance = 0

    def apply(self, user_id: int, change: MemberChange | None) -> None:
        """Add, change or remove one member; None removes, and is nothing where there is no such member."""
        member = members.by_id(self._connection, self._guild_id, user_id)
        if change is None:
            if member is not None:
                self._remove(member)
        elif member is None:
            self._add(
                change.applied_to(Member(self._guild_id, user_id, self._now, join_source=JoinSource.ADMIN_FORCE_ADD))
            )
        else:
            changed = change.applied_to(member)
            self._check_roles(changed)
            members.delete(self._connection, self._guild_id, user_id)
            members.insert(self._connection, changed)
            self.movements.append((Movement.CHANGED, changed))

    def _add(self, member: Member) -> None:
        account = accounts.by_id(self._connection, member.user_id)
        if account is None:
            raise InvalidFormBody.at(f"members.{member.user_id}", FieldCode.INVALID_FORMAT)
        self._check_roles(member)
        members.insert(self._connection, member)
        self._note(Movement.JOINED, member, guild_folders.enter_guild(self._connection, account, self._guild_id))

    def _remove(self, member: Member) -> None:
        account = accounts.by_id(self._connection, member.user_id)
        members.delete(self._connection, self._guild_id, member.user_id)
        settings = None
        if account is not None:
            settings = guild_folders.leave_guild(self._connection, account, self._guild_id)
        self._note(Movement.LEFT, member, settings)

    def _note(self, movement: Movement, member: Member, settings: wire.UserSettings | None) -> None:
        self.movements.append((movement, member))
        self.balance += 1 if movement is Movement.JOINED else -1
        if settings is not None:
            self.settings[member.user_id] = settings

    def _check_roles(self, member: Member) -> None:
        if not member.role_ids <= self._role_ids:
            raise InvalidFormBody.at(f"members.{member.user_id}.roles", FieldCode.INVALID_ROLE_ID)


def _announce(development: Development, written: _WrittenState) -> None:
    """Bring memory in step and tell the guild's sessions."""
    before, after = written.before, written.after
    state = development.core.guild_states.get(after.id)
    if state is None:
        return
    state.put_guild(after)
    state.member_count = after.member_count
    for movement, member in written.movements:
        _announce_member(development, state, movement, member)
    for user_id, settings in written.settings.items():
        development.core.bus.publish(guild_folders.settings_changed(user_id, settings))
    announce(development.core.bus, state, before)


def _announce_member(development: Development, state: GuildState, movement: Movement, member: Member) -> None:
    guild_id, user_id, bus = member.guild_id, member.user_id, development.core.bus
    if movement is Movement.LEFT:
        state.drop_member(user_id)
        removed = {"guild_id": str(guild_id), "user": {"id": str(user_id)}}
        bus.publish(GuildLeft(guild_id, user_id), Event(EventName.GUILD_MEMBER_REMOVE, removed, ToGuild(guild_id)))
        return
    state.put_member(member)
    user = author_object(user_id, state.account(user_id))
    data = {**state.member_object(member, user), "guild_id": str(guild_id)}
    if movement is Movement.JOINED:
        bus.publish(Event(EventName.GUILD_MEMBER_ADD, data, ToGuild(guild_id)), GuildJoined(guild_id, user_id))
    else:
        bus.publish(GuildStateChanged(guild_id), Event(EventName.GUILD_MEMBER_UPDATE, data, ToGuild(guild_id)))


EMAIL_CHARACTERS: Final = 254
NAMES_MAXIMUM: Final = 106
"""ACLs of an account at most (administration.md, ACLs); for traits it is as good."""


class _Address:
    def check(self, value: str) -> None:
        try:
            ipaddress.ip_address(value)
        except ValueError:
            raise Refusal from None


Email = Annotated[
    str,
    Trimmed(),
    Length(3, EMAIL_CHARACTERS, FieldCode.EMAIL_LENGTH_INVALID),
    Pattern(re.compile(r"[^@\s]+@[^@\s]+"), FieldCode.INVALID_EMAIL_ADDRESS),
]
Names = Annotated[tuple[Annotated[str, Length(1, 100)], ...], Items(0, NAMES_MAXIMUM)]


@frozen
class WorldAccountChange:
    """What is to be different; omitted members keep what they are. Each is the column of its name."""

    flags: Maybe[FlagBits] = OMITTED
    email: Maybe[Email | None] = OMITTED
    email_verified: Maybe[bool] = OMITTED
    email_bounced: Maybe[bool] = OMITTED
    passkey_second_factor: Maybe[bool] = OMITTED
    premium_type: Maybe[PremiumType | None] = OMITTED
    acls: Maybe[Names] = OMITTED
    traits: Maybe[Names] = OMITTED
    created_at: Maybe[Timestamp] = OMITTED
    last_active_ip: Maybe[Annotated[str, _Address()] | None] = OMITTED
    global_name: Maybe[Annotated[str, Length(1, 32, FieldCode.GLOBAL_NAME_LENGTH_INVALID)] | None] = OMITTED
    avatar: Maybe[Annotated[str, Length(1, 128)] | None] = OMITTED
    date_of_birth: Maybe[Annotated[str, Date()] | None] = OMITTED
    temp_banned_until: Maybe[Timestamp | None] = OMITTED
    pending_bulk_message_deletion_at: Maybe[Timestamp | None] = OMITTED

    def applied_to(self, account: Account) -> Account:
        return attrs.evolve(account, **named_members(self))


async def change_account(development: Development, user_id: int, change: WorldAccountChange) -> wire.AdminUser:
    """Change the account and tell those who see it; returns the Admin user object. Raises UNKNOWN_USER;
    EMAIL_ALREADY_IN_USE at `email`."""

    def write(connection: sqlite3.Connection) -> tuple[Account, Account]:
        before = found(connection, user_id)
        after = change.applied_to(before)
        holder = None if after.email is None else accounts.by_email_key(connection, after.email)
        if holder is not None and holder.id != user_id:
            raise InvalidFormBody.at("email", FieldCode.EMAIL_ALREADY_IN_USE)
        accounts.replace(connection, after)
        return before, after

    def then(changed: tuple[Account, Account]) -> None:
        before, after = changed
        for session in development.gateway.table.of_user(user_id):
            session.is_staff = bool(after.flags & UserFlag.STAFF)
        development.core.account_events.changed(before, after)
        development.areas.messages.own_message_deletion.look_again()

    _, account = await development.core.database.write(write, then, guard=UNGUARDED)
    locale = user_settings.of_user(development.core.database.reader, user_id).get("locale")
    holder = holder_of_factors(development.core.database.reader, account)
    return admin_user(account, locale=locale, factors_of=holder, now_ms=development.core.clock.now_ms())
