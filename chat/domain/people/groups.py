"""Conversations of several accounts (people.md, Groups): who is in them, and what they are called.

The maker of a group owns it; when the owner leaves, it passes to the account that has been there for longest. All in it
may add others, name it and give it an icon; the owner alone takes others out, names them and hands the group over.
With the last one the group goes, and its messages after it (`chat.store.guilds.channels`).
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

import attrs

from chat import wire
from chat.auth.principal import Principal
from chat.bus.audience import ToAccounts
from chat.bus.bus import AcquaintanceChanged, Event
from chat.classes import define, frozen
from chat.domain.core import Core
from chat.domain.messages.message_events import SystemMessages, WrittenMessage
from chat.domain.people.friendships import Unaddable, group_refusal
from chat.domain.policy.changes import Columns, without_repeated
from chat.domain.policy.images import ICONS, PreparedImage, store
from chat.domain.policy.media_library import MediaLibrary
from chat.domain.standing.private_channels import PrivateChannelAccess, PrivateChannels
from chat.domain.standing.user_objects import partial_user
from chat.domain.standing.verification import is_unclaimed
from chat.errors import ApiError, InvalidFormBody
from chat.protocol.visible_text import tidy
from chat.registries.channel_types import ChannelType
from chat.registries.error_codes import ErrorCode, FieldCode
from chat.registries.events import EventName
from chat.registries.message_types import MessageType
from chat.store.accounts import accounts
from chat.store.accounts.accounts import Account
from chat.store.guilds import channels
from chat.store.messages.messages import Message
from chat.store.standing import private_channels
from chat.store.standing.private_channels import PrivateChannel

NAME_LENGTH: Final = 100
NICK_LENGTH: Final = 32


@frozen
class _GroupArrival:
    """An account came to a group. `joined` is None if it was there already."""

    joined: Account | None
    written: WrittenMessage | None = None


@frozen
class GroupDeparture:
    """An account is in a group no longer; `after` is what is left of it, None if the group is gone."""

    user_id: int
    before: PrivateChannel
    after: PrivateChannel | None
    removed: Account | None
    pinned: list[int] | None
    """The account's pinned conversations without the group, if the group was pinned."""
    written: WrittenMessage | None = None


@frozen
class _GroupChange:
    before: PrivateChannel
    after: PrivateChannel
    written: tuple[WrittenMessage | None, ...]


@define(kw_only=True, eq=False)
class Groups:
    _core: Core
    _private_channels: PrivateChannels
    _system_messages: SystemMessages
    _media: MediaLibrary

    # Making

    async def create(self, principal: Principal, recipient_ids: Sequence[int]) -> wire.PrivateChannel:
        """Make a group of the caller and these accounts; the caller alone is a group too.

        :raises ApiError: DIRECT_MESSAGES_DISABLED, UNCLAIMED_ACCOUNT_CANNOT_JOIN_GROUP_DMS,
            DIRECT_MESSAGE_EMAIL_VERIFICATION_REQUIRED, MAX_GROUP_DM_RECIPIENTS, MAX_GROUP_DMS (of any account in it),
            GROUP_DM_RECIPIENTS_NOT_ADDABLE with `unaddable_recipients` [{user_id, reason}] and `addable_recipients`;
            ACCOUNT_LIMITED for a limited account, with an account to which nothing was ever written.
        :raises InvalidFormBody: DUPLICATE_RECIPIENTS_NOT_ALLOWED, CANNOT_ADD_YOURSELF_TO_GROUP_DM at `recipients`.
        """
        account = principal.account
        self._require_may_join(account)
        if len(set(recipient_ids)) < len(recipient_ids):
            raise InvalidFormBody.at("recipients", FieldCode.DUPLICATE_RECIPIENTS_NOT_ALLOWED)
        if account.id in recipient_ids:
            raise InvalidFormBody.at("recipients", FieldCode.CANNOT_ADD_YOURSELF_TO_GROUP_DM)
        if len(recipient_ids) + 1 > self._core.settings.limits.max_group_dm_recipients:
            raise self._too_many()
        channel_id, now = self._core.snowflakes(), self._core.clock.now_ms()
        message_ids = [self._core.snowflakes() for _ in recipient_ids]

        def unit(connection: sqlite3.Connection) -> tuple[PrivateChannel, list[WrittenMessage | None]]:
            for user_id in (account.id, *recipient_ids):
                self._require_room_for_group(connection, user_id)
            self._require_addable(connection, account, recipient_ids)
            made = private_channels.insert_group(connection, channel_id, account.id, recipient_ids, now)
            written = [
                self._write(connection, channel_id, account.id, MessageType.RECIPIENT_ADD, message_id, user_id)
                for message_id, user_id in zip(message_ids, recipient_ids, strict=True)
            ]
            return made, written

        def then(result: tuple[PrivateChannel, list[WrittenMessage | None]]) -> None:
            made, written = result
            self._private_channels.publish(EventName.CHANNEL_CREATE, made, made.recipient_ids)
            self._acquaint(made, *recipient_ids)
            access = self._private_channels.access(made, account.id)
            for message in written:
                self._system_messages.publish(access, message)

        made, _ = await self._core.database.write(unit, then, guard=principal.guard)
        access = self._private_channels.renewed(self._private_channels.access(made, account.id))
        return access.channel_object()

    # Coming and going

    async def add(self, principal: Principal, access: PrivateChannelAccess, user_id: int) -> None:
        """Put an account into a group of the caller's; one that is there already changes nothing.

        :raises ApiError: INVALID_CHANNEL_TYPE; UNKNOWN_USER, NOT_FRIENDS_WITH_USER, MISSING_ACCESS (it does not let
            itself be added), MAX_GROUP_DM_RECIPIENTS, MAX_GROUP_DMS; otherwise as `create`.
        """
        _require_group(access)
        self._require_may_join(principal.account)

        def admitted(connection: sqlite3.Connection) -> Account:
            target = accounts.by_id(connection, user_id)
            reason = group_refusal(connection, principal.account, target)
            if target is None or reason is Unaddable.UNKNOWN_USER:
                raise ApiError(ErrorCode.UNKNOWN_USER)
            if reason is not None:
                disabled = reason is Unaddable.GROUP_DM_ADD_DISABLED
                raise ApiError(ErrorCode.MISSING_ACCESS if disabled else ErrorCode.NOT_FRIENDS_WITH_USER)
            self._require_known(connection, principal.account, [user_id])
            return target

        await self._arrive(principal, access.channel.id, user_id, admitted, by_invite=False)

    async def join(self, principal: Principal, channel_id: int, spend: Callable[[sqlite3.Connection], None]) -> bool:
        """Put an account into a group by its own wish, as an invite lets it; `spend` runs in the same unit, and may
        refuse. False, and nothing happens, for one that is there already.

        :raises ApiError: UNCLAIMED_ACCOUNT_CANNOT_JOIN_GROUP_DMS, DIRECT_MESSAGES_DISABLED, UNKNOWN_INVITE (the group
            is gone), MAX_GROUP_DM_RECIPIENTS, MAX_GROUP_DMS.
        """
        account = principal.account
        self._require_may_join(account)

        def admitted(connection: sqlite3.Connection) -> Account:
            spend(connection)
            return account

        return await self._arrive(principal, channel_id, account.id, admitted, by_invite=True)

    async def _arrive(
        self,
        principal: Principal,
        channel_id: int,
        user_id: int,
        admitted: Callable[[sqlite3.Connection], Account],
        *,
        by_invite: bool,
    ) -> bool:
        """Put an account into a group: the caller itself by an invite, or another account by the caller."""
        author_id = principal.user_id
        now, message_id = self._core.clock.now_ms(), self._core.snowflakes()

        def unit(connection: sqlite3.Connection) -> _GroupArrival:
            private = _group(connection, channel_id)
            if private is None or not (by_invite or author_id in private.recipient_ids):
                raise ApiError(ErrorCode.UNKNOWN_INVITE if by_invite else ErrorCode.UNKNOWN_CHANNEL)
            if user_id in private.recipient_ids:
                return _GroupArrival(None)
            joined = admitted(connection)
            if len(private.recipient_ids) >= self._core.settings.limits.max_group_dm_recipients:
                raise self._too_many()
            self._require_room_for_group(connection, user_id)
            private_channels.add_to_group(connection, channel_id, user_id, now)
            written = self._write(connection, channel_id, author_id, MessageType.RECIPIENT_ADD, message_id, user_id)
            return _GroupArrival(joined, written)

        def then(arrival: _GroupArrival) -> None:
            private = private_channels.by_id(self._core.database.reader, channel_id)
            if arrival.joined is None or private is None:
                return
            self._private_channels.publish(EventName.CHANNEL_CREATE, private, (user_id,))
            self._publish_recipient(EventName.CHANNEL_RECIPIENT_ADD, private, arrival.joined)
            self._acquaint(private, user_id)
            self._system_messages.publish(self._private_channels.access(private, author_id), arrival.written)

        return (await self._core.database.write(unit, then, guard=principal.guard)).joined is not None

    async def remove(
        self, principal: Principal, access: PrivateChannelAccess, user_id: int, *, silent: bool = False
    ) -> None:
        """Take an account out of a group: the caller itself, or, by the owner, another one. `silent` leaves the system
        message out.

        :raises ApiError: INVALID_CHANNEL_TYPE, UNKNOWN_CHANNEL, MISSING_PERMISSIONS (not the owner).
        :raises InvalidFormBody: USER_NOT_IN_CHANNEL at `user_id`.
        """
        _require_group(access)
        channel_id, message_id = access.channel.id, self._core.snowflakes()

        def unit(connection: sqlite3.Connection) -> GroupDeparture:
            before = _group(connection, channel_id)
            if before is None or principal.user_id not in before.recipient_ids:
                raise ApiError(ErrorCode.UNKNOWN_CHANNEL)
            if user_id not in before.recipient_ids:
                raise InvalidFormBody.at("user_id", FieldCode.USER_NOT_IN_CHANNEL)
            if user_id != principal.user_id and before.channel.owner_id != principal.user_id:
                raise ApiError(ErrorCode.MISSING_PERMISSIONS)
            left = _taken_out(connection, before, user_id)
            if silent or left.after is None:
                return left
            author_id, kind = principal.user_id, MessageType.RECIPIENT_REMOVE
            written = self._write(connection, channel_id, author_id, kind, message_id, user_id)
            return attrs.evolve(left, after=private_channels.by_id(connection, channel_id), written=written)

        await self._core.database.write(unit, self.announce_departure, guard=principal.guard)

    def depart(self, connection: sqlite3.Connection, channel_id: int, user_id: int) -> GroupDeparture | None:
        """In a unit of writing: take an erased account out of a group; hand the result to `announce_departure` after
        the commit. None if it is not in the group."""
        before = _group(connection, channel_id)
        if before is None or user_id not in before.recipient_ids:
            return None
        return _taken_out(connection, before, user_id)

    def announce_departure(self, left: GroupDeparture) -> None:
        """After the commit: take the group away from the one who left, and tell those who stay."""
        user_id = left.user_id
        self._private_channels.publish(EventName.CHANNEL_DELETE, left.before, (user_id,))
        if left.pinned is not None:
            self._private_channels.publish_pinned(user_id, left.pinned)
        if left.after is None:
            return
        if left.removed is not None:
            self._publish_recipient(EventName.CHANNEL_RECIPIENT_REMOVE, left.after, left.removed)
        if left.after.channel.owner_id != left.before.channel.owner_id or user_id in left.before.nicks:
            self._private_channels.publish(EventName.CHANNEL_UPDATE, left.after, left.after.recipient_ids)
        self._acquaint(left.after, user_id)
        witness = self._private_channels.access(left.after, left.after.recipient_ids[0])
        self._system_messages.publish(witness, left.written)

    # Changing

    async def change(
        self, principal: Principal, access: PrivateChannelAccess, fields: Mapping[str, Any]
    ) -> wire.GuildChannel | wire.GroupChannel | wire.Thread:
        """Change the named fields of a group: name, icon (base64 text), owner_id, nicks (by id, None for all).

        :raises ApiError: INVALID_CHANNEL_TYPE, CONTENT_BLOCKED, UNKNOWN_CHANNEL, UNKNOWN_USER (not in the group),
            MISSING_PERMISSIONS (not the owner), CANNOT_TRANSFER_OWNERSHIP_TO_BOT.
        :raises InvalidFormBody: STRING_LENGTH_INVALID; for the icon as `MediaLibrary.prepare`.
        :raises StorageUnavailable: when the icon cannot be written.
        """
        _require_group(access)
        channel_id, user_id = access.channel.id, principal.user_id
        wanted = self._checked(fields)
        icon: PreparedImage | None = None
        if wanted.get("icon"):
            icon = await self._media.prepare(ICONS, channel_id, wanted["icon"], path="icon", guard=principal.guard)
        if "icon" in wanted:
            wanted["icon"] = None if icon is None else icon.hash
        nicks = {"nicks": wanted.pop("nicks")} if "nicks" in wanted else {}
        wanted = {**without_repeated(access.channel, wanted), **nicks}
        message_ids = [self._core.snowflakes(), self._core.snowflakes()]

        def unit(connection: sqlite3.Connection) -> _GroupChange:
            before = _group(connection, channel_id)
            if before is None or user_id not in before.recipient_ids:
                raise ApiError(ErrorCode.UNKNOWN_CHANNEL)
            columns = self._columns(connection, before, user_id, wanted)
            if "nicks" in wanted:
                given = _judged_nicks(before, user_id, wanted["nicks"])
                known = access.nicks
                fresh = {named: nick for named, nick in given.items() if (nick or None) != known.get(named)}
                private_channels.set_nicks(connection, channel_id, fresh)
            changed = attrs.evolve(before.channel, **columns)
            if changed != before.channel:
                store(connection, icon)
                channels.replace(connection, changed)
            written = self._note_changes(connection, before, changed, user_id, message_ids)
            after = private_channels.by_id(connection, channel_id)
            return _GroupChange(before, before if after is None else after, written)

        def then(change: _GroupChange) -> None:
            if change.after == change.before:
                return
            self._private_channels.publish(EventName.CHANNEL_UPDATE, change.after, change.after.recipient_ids)
            for message in change.written:
                self._system_messages.publish(self._private_channels.access(change.after, user_id), message)

        async with self._media.kept(icon, guard=principal.guard):
            change = await self._core.database.write(unit, then, guard=principal.guard)
        return self._private_channels.group_of(change.after, user_id)

    def _checked(self, fields: Mapping[str, Any]) -> Columns:
        """The fields as they are to be stored, as far as that can be said without looking."""
        wanted = dict(fields)
        if wanted.get("name") is not None:
            name = tidy(wanted["name"])
            if not 1 <= len(name) <= NAME_LENGTH:
                raise InvalidFormBody.at("name", FieldCode.STRING_LENGTH_INVALID)
            self._core.blocked.require_text(name)
            wanted["name"] = name
        if wanted.get("nicks") is not None:
            nicks = {user_id: tidy(nick or "") for user_id, nick in wanted["nicks"].items()}
            for user_id, nick in nicks.items():
                if len(nick) > NICK_LENGTH:
                    raise InvalidFormBody.at(f"nicks.{user_id}", FieldCode.STRING_LENGTH_INVALID)
                self._core.blocked.require_text(nick)
            wanted["nicks"] = {user_id: nick or None for user_id, nick in nicks.items()}
        return wanted

    def _columns(
        self, connection: sqlite3.Connection, before: PrivateChannel, user_id: int, wanted: Mapping[str, Any]
    ) -> Columns:
        columns = {name: wanted[name] for name in ("name", "icon") if name in wanted}
        owner_id = wanted.get("owner_id")
        if owner_id is None or owner_id == before.channel.owner_id:
            return columns
        if before.channel.owner_id != user_id:
            raise ApiError(ErrorCode.MISSING_PERMISSIONS)
        owner = accounts.by_id(connection, owner_id) if owner_id in before.recipient_ids else None
        if owner is None:
            raise ApiError(ErrorCode.UNKNOWN_USER)
        if owner.bot:
            raise ApiError(ErrorCode.CANNOT_TRANSFER_OWNERSHIP_TO_BOT)
        return {**columns, "owner_id": owner_id}

    def _note_changes(
        self,
        connection: sqlite3.Connection,
        before: PrivateChannel,
        changed: channels.Channel,
        user_id: int,
        message_ids: Sequence[int],
    ) -> tuple[WrittenMessage | None, ...]:
        """System messages about a new name and a new icon."""
        written = []
        if changed.name != before.channel.name:
            kind, content = MessageType.CHANNEL_NAME_CHANGE, changed.name or ""
            written.append(self._write(connection, changed.id, user_id, kind, message_ids[0], content=content))
        if changed.icon != before.channel.icon:
            written.append(
                self._write(connection, changed.id, user_id, MessageType.CHANNEL_ICON_CHANGE, message_ids[1])
            )
        return tuple(written)

    # What all of them need

    def _require_may_join(self, account: Account) -> None:
        if is_unclaimed(account):
            raise ApiError(ErrorCode.UNCLAIMED_ACCOUNT_CANNOT_JOIN_GROUP_DMS)
        self._private_channels.require_may_converse(account)

    def _require_addable(self, connection: sqlite3.Connection, account: Account, user_ids: Sequence[int]) -> None:
        refused: list[dict[str, str]] = []
        for user_id in user_ids:
            reason = group_refusal(connection, account, accounts.by_id(connection, user_id))
            if reason is not None:
                refused.append({"user_id": str(user_id), "reason": reason.value})
        if refused:
            names = {entry["user_id"] for entry in refused}
            addable = [str(user_id) for user_id in user_ids if str(user_id) not in names]
            members = {"unaddable_recipients": refused, "addable_recipients": addable}
            raise ApiError(ErrorCode.GROUP_DM_RECIPIENTS_NOT_ADDABLE, members=members)
        self._require_known(connection, account, user_ids)

    def _require_known(self, connection: sqlite3.Connection, account: Account, user_ids: Sequence[int]) -> None:
        if not account.is_limited_to_known:
            return
        for user_id in user_ids:
            direct = private_channels.between(connection, account.id, user_id)
            if direct is None or not private_channels.has_written(connection, direct.channel.id):
                raise ApiError(ErrorCode.ACCOUNT_LIMITED)

    def _require_room_for_group(self, connection: sqlite3.Connection, user_id: int) -> None:
        if private_channels.count_groups(connection, user_id) >= self._core.settings.limits.max_group_dms:
            raise ApiError(ErrorCode.MAX_GROUP_DMS, members={"max_group_dms": self._core.settings.limits.max_group_dms})

    def _too_many(self) -> ApiError:
        return ApiError(
            ErrorCode.MAX_GROUP_DM_RECIPIENTS,
            members={"max_recipients": self._core.settings.limits.max_group_dm_recipients},
        )

    def _write(
        self,
        connection: sqlite3.Connection,
        channel_id: int,
        author_id: int,
        kind: MessageType,
        message_id: int,
        user_id: int | None = None,
        *,
        content: str = "",
    ) -> WrittenMessage | None:
        message = Message(
            id=message_id,
            channel_id=channel_id,
            author_id=author_id,
            type=kind.value,
            content=content,
            mentioned_user_ids=() if user_id is None else (user_id,),
        )
        return self._system_messages.write(connection, message)

    def _publish_recipient(self, name: EventName, private: PrivateChannel, account: Account) -> None:
        """Tell all others in the group who came or went."""
        others = tuple(user_id for user_id in private.recipient_ids if user_id != account.id)
        data = {"channel_id": str(private.channel.id), "user": partial_user(account)}
        self._core.bus.publish(Event(name, data, ToAccounts(others)))

    def _acquaint(self, private: PrivateChannel, *user_ids: int) -> None:
        """These, and all others in the group, hear of each other's presence; each two of them once."""
        pairs = {
            (min(user_id, other_id), max(user_id, other_id))
            for user_id in user_ids
            for other_id in private.recipient_ids
            if other_id != user_id
        }
        self._core.bus.publish(*(AcquaintanceChanged(*pair) for pair in sorted(pairs)))


def _group(connection: sqlite3.Connection, channel_id: int) -> PrivateChannel | None:
    private = private_channels.by_id(connection, channel_id)
    return private if private is not None and private.channel.type == ChannelType.GROUP_DM else None


def _require_group(access: PrivateChannelAccess) -> None:
    if not access.is_group:
        raise ApiError(ErrorCode.INVALID_CHANNEL_TYPE)


def _judged_nicks(
    before: PrivateChannel, user_id: int, nicks: Mapping[int, str | None] | None
) -> dict[int, str | None]:
    """The nicknames to write. An account names itself, the owner all; None takes all away that the caller may give,
    since an object of nothing but nulls comes as null (http.md, Empty values)."""
    if nicks is None:
        return dict.fromkeys(before.nicks if before.channel.owner_id == user_id else (user_id,))
    for named_id in nicks:
        if named_id not in before.recipient_ids:
            raise ApiError(ErrorCode.UNKNOWN_USER)
        if named_id != user_id and before.channel.owner_id != user_id:
            raise ApiError(ErrorCode.MISSING_PERMISSIONS)
    return dict(nicks)


def _taken_out(connection: sqlite3.Connection, before: PrivateChannel, user_id: int) -> GroupDeparture:
    """In a unit of writing: take an account out of a group that it is in; the group passes on, or goes with the last
    one."""
    channel_id = before.channel.id
    had_pinned = channel_id in private_channels.pinned(connection, user_id)
    private_channels.remove_from_group(connection, channel_id, user_id)
    pinned = private_channels.pinned(connection, user_id) if had_pinned else None
    removed = accounts.by_id(connection, user_id)
    successor = private_channels.longest_in_group(connection, channel_id)
    if successor is None:
        channels.cut_group_loose(connection, channel_id)
        return GroupDeparture(user_id, before, None, removed, pinned)
    if before.channel.owner_id == user_id:
        channels.replace(connection, attrs.evolve(before.channel, owner_id=successor))
    return GroupDeparture(user_id, before, private_channels.by_id(connection, channel_id), removed, pinned)
