"""Asking to be friends, agreeing, blocking, parting (people.md, Relationships), and which accounts may add another one
to groups (people.md, Groups).

One limit counts an account's friends, blocks and own requests; another counts requests by others. So those who ask use
up none of the account's own room.

A block is never told to the blocked account: its request is refused as one that the settings do not let in, and one
that was sent before stays with the sender until the block ends; then it is turned down. It cannot add the other to
groups either, for the two count as strangers.

Of several flags about groups FRIENDS_ONLY goes before NOBODY and that before EVERYONE; without any flag it is as with
FRIENDS_ONLY.
"""

from __future__ import annotations

import enum
import sqlite3
from collections.abc import Callable, Mapping
from typing import Any, Final

import attrs

from chat import wire
from chat.auth.principal import Principal
from chat.classes import define, frozen
from chat.domain.accounts.guild_folders import settings_changed
from chat.domain.core import Core
from chat.domain.standing.relationships import Change, Relationships, RelationshipType, both_sides, neither_side
from chat.domain.standing.user_objects import user_settings_object
from chat.domain.standing.verification import has_verified_address, is_unclaimed
from chat.errors import ApiError, InvalidFormBody
from chat.registries.error_codes import ErrorCode, FieldCode
from chat.registries.user_flags import UserFlag
from chat.snowflake import snowflake_time_ms
from chat.store.accounts import accounts, user_settings
from chat.store.accounts.accounts import Account
from chat.store.guilds import guilds
from chat.store.standing import relationships
from chat.store.standing.relationships import Relationship

FRIENDLY: Final = UserFlag.FRIENDLY_BOT.value
FRIENDLY_AFTER_APPROVAL: Final = UserFlag.FRIENDLY_BOT_MANUAL_APPROVAL.value

FROM_FRIENDS_OF_FRIENDS: Final = 1
FROM_GUILD_MEMBERS: Final = 2
FROM_ANYONE: Final = 4
"""Bits of `friend_source_flags`: from whom an account takes requests (people.md, Relationships)."""


CHOSEN: Final = (RelationshipType.FRIEND, RelationshipType.BLOCKED, RelationshipType.OUTGOING_REQUEST)
"""Types that an account chose itself."""

SHARING_COOLDOWN_MS: Final = 86_400_000
"""How long a choice for all friends at once stands at least."""


@frozen
class _Sharing:
    """A choice for all friends at once, written; `settings` are None if they were the same before."""

    before: Account
    after: Account
    settings: wire.UserSettings | None
    friends: list[Relationship]


@define(kw_only=True, eq=False)
class Friendships:
    _core: Core
    _relationships: Relationships

    def of_account(self, principal: Principal) -> list[wire.Relationship]:
        """The caller's relationships, in order of the others' ids."""
        return self._relationships.with_user(principal.user_id)

    async def request_by_tag(self, principal: Principal, username: str, discriminator: int | None) -> wire.Relationship:
        """As `request`, of the account with this tag; without a discriminator, of the only one with this username.

        :raises ApiError: NO_USERS_WITH_SERVICE_TAG_EXIST; DISCRIMINATOR_REQUIRED where several accounts have the
            username and no discriminator is given; otherwise as `request`.
        """
        named = [
            account
            for account in accounts.by_username(self._core.database.reader, username)
            if not account.is_deleted and discriminator in (None, account.discriminator)
        ]
        if not named:
            raise ApiError(ErrorCode.NO_USERS_WITH_SERVICE_TAG_EXIST)
        if len(named) > 1:
            raise ApiError(ErrorCode.DISCRIMINATOR_REQUIRED)
        return await self.request(principal, named[0].id)

    async def request(self, principal: Principal, target_id: int) -> wire.Relationship:
        """Ask an account to be friends; where it has asked already, both are friends now.

        :raises ApiError: BOTS_CANNOT_SEND_FRIEND_REQUESTS, UNCLAIMED_ACCOUNT_CANNOT_SEND_FRIEND_REQUESTS,
            FRIEND_REQUEST_EMAIL_VERIFICATION_REQUIRED, CANNOT_SEND_FRIEND_REQUEST_TO_SELF, UNKNOWN_USER,
            ALREADY_FRIENDS, CANNOT_SEND_FRIEND_REQUEST_TO_BLOCKED_USER, FRIEND_REQUEST_BLOCKED, MAX_FRIENDS.
        """
        account = principal.account
        if account.bot:
            raise ApiError(ErrorCode.BOTS_CANNOT_SEND_FRIEND_REQUESTS)
        if is_unclaimed(account):
            raise ApiError(ErrorCode.UNCLAIMED_ACCOUNT_CANNOT_SEND_FRIEND_REQUESTS)
        if not has_verified_address(account):
            raise ApiError(ErrorCode.FRIEND_REQUEST_EMAIL_VERIFICATION_REQUIRED)
        if account.id == target_id:
            raise ApiError(ErrorCode.CANNOT_SEND_FRIEND_REQUEST_TO_SELF)

        def unit(connection: sqlite3.Connection) -> list[Change]:
            target = _present(connection, target_id)
            own = relationships.by_id(connection, account.id, target_id)
            if own is not None and own.type == RelationshipType.INCOMING_REQUEST:
                self._require_room(connection, account.id)
                return self._befriend(connection, account.id, target_id)
            if own is not None:
                _refuse_repetition(own)
                return [(own, own)]
            _require_welcome(connection, account, target)
            self._require_room(connection, account.id)
            self._require_ear(connection, target_id)
            if target.bot and not target.flags & FRIENDLY_AFTER_APPROVAL:
                return self._befriend(connection, account.id, target_id)
            return both_sides(
                connection, account.id, target_id, RelationshipType.OUTGOING_REQUEST, self._core.clock.now_ms()
            )

        return await self._change(principal, unit)

    async def accept(self, principal: Principal, target_id: int) -> wire.Relationship:
        """Agree to what another account asked.

        :raises ApiError: UNCLAIMED_ACCOUNT_CANNOT_ACCEPT_FRIEND_REQUESTS, UNKNOWN_USER, ALREADY_FRIENDS, NOT_FOUND
            (it did not ask), MAX_FRIENDS.
        """
        if is_unclaimed(principal.account):
            raise ApiError(ErrorCode.UNCLAIMED_ACCOUNT_CANNOT_ACCEPT_FRIEND_REQUESTS)

        def unit(connection: sqlite3.Connection) -> list[Change]:
            _present(connection, target_id)
            own = relationships.by_id(connection, principal.user_id, target_id)
            if own is not None and own.type == RelationshipType.FRIEND:
                raise ApiError(ErrorCode.ALREADY_FRIENDS)
            if own is None or own.type != RelationshipType.INCOMING_REQUEST:
                raise ApiError(ErrorCode.NOT_FOUND)
            self._require_room(connection, principal.user_id)
            return self._befriend(connection, principal.user_id, target_id)

        return await self._change(principal, unit)

    async def block(self, principal: Principal, target_id: int) -> wire.Relationship:
        """Block an account: friendship and requests between the two are over, and it can ask no more.

        :raises ApiError: UNKNOWN_USER, CANNOT_BLOCK_SYSTEM_USER, MAX_FRIENDS.
        :raises InvalidFormBody: INVALID_FORMAT at `user_id`, for oneself.
        """
        if principal.user_id == target_id:
            raise InvalidFormBody.at("user_id", FieldCode.INVALID_FORMAT)

        def unit(connection: sqlite3.Connection) -> list[Change]:
            if _present(connection, target_id).system:
                raise ApiError(ErrorCode.CANNOT_BLOCK_SYSTEM_USER)
            own = relationships.by_id(connection, principal.user_id, target_id)
            if own is None or own.type == RelationshipType.INCOMING_REQUEST:
                self._require_room(connection, principal.user_id)
            now = self._core.clock.now_ms()
            return both_sides(connection, principal.user_id, target_id, RelationshipType.BLOCKED, now)

        return await self._change(principal, unit)

    async def change(self, principal: Principal, target_id: int, changes: Mapping[str, Any]) -> wire.Relationship:
        """Give a friend a name of the caller's own (`nickname`, None takes it away), or say whether it hears where the
        caller speaks (`share_voice_activity`).

        :raises ApiError: NOT_FRIENDS_WITH_USER.
        """

        def unit(connection: sqlite3.Connection) -> list[Change]:
            own = relationships.by_id(connection, principal.user_id, target_id)
            if own is None or own.type != RelationshipType.FRIEND:
                raise ApiError(ErrorCode.NOT_FRIENDS_WITH_USER)
            changed = attrs.evolve(own, **changes)
            relationships.put(connection, changed)
            return [(own, changed)]

        return await self._change(principal, unit)

    async def remove(self, principal: Principal, target_id: int) -> None:
        """End a friendship, take back or turn down a request, or unblock.

        :raises ApiError: NOT_FOUND, if there is nothing to end.
        """

        def unit(connection: sqlite3.Connection) -> list[Change]:
            if relationships.by_id(connection, principal.user_id, target_id) is None:
                raise ApiError(ErrorCode.NOT_FOUND)
            return neither_side(connection, principal.user_id, target_id)

        await self._core.database.write(unit, self._relationships.publish, guard=principal.guard)

    async def ignore(self, principal: Principal, younger_than_seconds: int | None = None) -> int:
        """Turn down all friend requests that the caller received, or only those of accounts younger than
        `younger_than_seconds`; returns how many."""
        user_id = principal.user_id
        oldest = None if younger_than_seconds is None else self._core.clock.now_ms() - younger_than_seconds * 1000

        def unit(connection: sqlite3.Connection) -> list[Change]:
            changes: list[Change] = []
            for entry in relationships.of_type(connection, user_id, RelationshipType.INCOMING_REQUEST):
                if oldest is None or snowflake_time_ms(entry.target_id) > oldest:
                    changes += neither_side(connection, user_id, entry.target_id)
            return changes

        changes = await self._core.database.write(unit, self._relationships.publish, guard=principal.guard)
        return sum(before is not None and before.user_id == user_id for before, _ in changes)

    async def share_voice_activity(self, principal: Principal, shares: bool) -> Account:
        """Let all friends hear where the caller speaks, or none; those who come later too. Once a day.

        :raises InvalidFormBody: VOICE_ACTIVITY_SHARING_ON_COOLDOWN at `share_voice_activity`.
        """
        now = self._core.clock.now_ms()

        def unit(connection: sqlite3.Connection) -> _Sharing:
            before = accounts.by_id(connection, principal.user_id)
            if before is None:
                raise ApiError(ErrorCode.UNAUTHORIZED)
            changed_at = before.voice_sharing_changed_at
            if changed_at is not None and now < changed_at + SHARING_COOLDOWN_MS:
                raise InvalidFormBody.at("share_voice_activity", FieldCode.VOICE_ACTIVITY_SHARING_ON_COOLDOWN)
            after = attrs.evolve(before, voice_sharing_changed_at=now)
            accounts.replace(connection, after)
            stored = user_settings.of_user(connection, after.id)
            known = user_settings_object(stored)
            changed = {**stored, "default_share_voice_activity": shares}
            user_settings.put(connection, after.id, changed)
            relationships.share_with_friends(connection, after.id, shares)
            friends = relationships.of_type(connection, after.id, RelationshipType.FRIEND)
            settings = user_settings_object(changed)
            return _Sharing(before, after, None if settings == known else settings, friends)

        def then(sharing: _Sharing) -> None:
            if sharing.settings is not None:
                self._core.bus.publish(settings_changed(sharing.after.id, sharing.settings))
            self._relationships.publish_sharing(sharing.friends, shares)
            self._core.account_events.changed(sharing.before, sharing.after)

        return (await self._core.database.write(unit, then, guard=principal.guard)).after

    async def _change(
        self, principal: Principal, unit: Callable[[sqlite3.Connection], list[Change]]
    ) -> wire.Relationship:
        """Write, publish, and answer with what the caller has now: the first change of the unit."""
        changes = await self._core.database.write(unit, self._relationships.publish, guard=principal.guard)
        after = changes[0][1]
        assert after is not None, "the operation leaves the caller with a relationship"  # noqa: S101
        return self._relationships.object_of(after)

    def _befriend(self, connection: sqlite3.Connection, user_id: int, target_id: int) -> list[Change]:
        return both_sides(connection, user_id, target_id, RelationshipType.FRIEND, self._core.clock.now_ms())

    def _require_room(self, connection: sqlite3.Connection, user_id: int) -> None:
        """Raise MAX_FRIENDS unless the account may have another friend, block or request of its own."""
        self._require_fewer(connection, user_id, *CHOSEN)

    def _require_ear(self, connection: sqlite3.Connection, user_id: int) -> None:
        """Raise MAX_FRIENDS unless the account may be asked by another one, and agree."""
        self._require_room(connection, user_id)
        self._require_fewer(connection, user_id, RelationshipType.INCOMING_REQUEST)

    def _require_fewer(self, connection: sqlite3.Connection, user_id: int, *types: RelationshipType) -> None:
        most = self._core.settings.limits.max_relationships
        if relationships.count_of_types(connection, user_id, *types) >= most:
            raise ApiError(ErrorCode.MAX_FRIENDS, members={"max_relationships": most})


def _present(connection: sqlite3.Connection, user_id: int) -> Account:
    """The account. Raises UNKNOWN_USER for a deleted one too."""
    account = accounts.by_id(connection, user_id)
    if account is None or account.is_deleted:
        raise ApiError(ErrorCode.UNKNOWN_USER)
    return account


def _refuse_repetition(own: Relationship) -> None:
    """Raise for a request to a friend or to a blocked account; a second request like the first changes nothing."""
    if own.type == RelationshipType.FRIEND:
        raise ApiError(ErrorCode.ALREADY_FRIENDS)
    if own.type == RelationshipType.BLOCKED:
        raise ApiError(ErrorCode.CANNOT_SEND_FRIEND_REQUEST_TO_BLOCKED_USER)


def _require_welcome(connection: sqlite3.Connection, account: Account, target: Account) -> None:
    """Raise FRIEND_REQUEST_BLOCKED for a bot that is not friendly, and for an account that has blocked the sender, or
    whose settings take no requests from it."""
    theirs = relationships.by_id(connection, target.id, account.id)
    blocked = theirs is not None and theirs.type == RelationshipType.BLOCKED
    welcome = target.flags & FRIENDLY if target.bot else _takes_request(connection, account.id, target.id)
    if target.system or blocked or not welcome:
        raise ApiError(ErrorCode.FRIEND_REQUEST_BLOCKED)


def _takes_request(connection: sqlite3.Connection, user_id: int, target_id: int) -> bool:
    sources: int = user_settings_object(user_settings.of_user(connection, target_id))["friend_source_flags"]
    if sources & FROM_ANYONE:
        return True
    if sources & FROM_GUILD_MEMBERS and guilds.share_one(connection, user_id, target_id):
        return True
    if not sources & FROM_FRIENDS_OF_FRIENDS:
        return False
    return bool(relationships.common_targets(connection, user_id, target_id, RelationshipType.FRIEND))


class GroupAddFlag(enum.IntFlag):
    """Bits of `group_dm_add_permission_flags`."""

    FRIENDS_OF_FRIENDS = 1 << 0
    GUILD_MEMBERS = 1 << 1
    EVERYONE = 1 << 2
    FRIENDS_ONLY = 1 << 3
    NOBODY = 1 << 4


class Unaddable(enum.StrEnum):
    """Why an account cannot be added to a group."""

    UNKNOWN_USER = "unknown_user"
    NOT_FRIENDS = "not_friends"
    GROUP_DM_ADD_DISABLED = "group_dm_add_disabled"


_WIDER: Final = GroupAddFlag.FRIENDS_OF_FRIENDS | GroupAddFlag.GUILD_MEMBERS | GroupAddFlag.EVERYONE


def group_refusal(connection: sqlite3.Connection, adder: Account, target: Account | None) -> Unaddable | None:
    """Why one account cannot add another to a group now; None if it can."""
    if target is None or target.is_deleted:
        return Unaddable.UNKNOWN_USER
    own = relationships.by_id(connection, adder.id, target.id)
    theirs = relationships.by_id(connection, target.id, adder.id)
    kinds = {relationship.type for relationship in (own, theirs) if relationship is not None}
    if RelationshipType.BLOCKED in kinds:
        return Unaddable.NOT_FRIENDS
    flags: int = user_settings_object(user_settings.of_user(connection, target.id))["group_dm_add_permission_flags"]
    if flags & GroupAddFlag.NOBODY and not flags & GroupAddFlag.FRIENDS_ONLY:
        return Unaddable.GROUP_DM_ADD_DISABLED
    if RelationshipType.FRIEND in kinds or _admits_strangers(connection, flags, adder.id, target.id):
        return None
    return Unaddable.NOT_FRIENDS


def _admits_strangers(connection: sqlite3.Connection, flags: int, adder_id: int, target_id: int) -> bool:
    if flags & GroupAddFlag.FRIENDS_ONLY or not flags & _WIDER:
        return False
    if flags & GroupAddFlag.EVERYONE:
        return True
    if flags & GroupAddFlag.GUILD_MEMBERS and guilds.share_one(connection, adder_id, target_id):
        return True
    if not flags & GroupAddFlag.FRIENDS_OF_FRIENDS:
        return False
    return bool(relationships.common_targets(connection, adder_id, target_id, RelationshipType.FRIEND))
