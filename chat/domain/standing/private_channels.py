"""Conversations outside of guilds (people.md, Private channels).

Two accounts have one conversation with each other. The one that opens it has it in its list at once, the other from the
first message on. Writing in it asks whether the other takes messages: neither has blocked the other, and they are
friends, or share a guild that the other has not restricted. Groups are in `chat.domain.people.groups`; all in a group
may write there. And each account has a conversation with itself, the personal notes, which stands in no list.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, cast

import attrs

from chat import wire
from chat.auth.principal import Principal
from chat.bus.audience import Audience, ToAccounts
from chat.bus.bus import Bus, Event
from chat.classes import define, frozen
from chat.clock import optional_timestamp
from chat.config import Settings
from chat.domain.standing.access import ChannelAccess
from chat.domain.standing.relationships import RelationshipType
from chat.domain.standing.user_objects import user_settings_object
from chat.domain.standing.verification import has_verified_address, is_unclaimed
from chat.errors import ApiError, InvalidFormBody
from chat.registries.channel_types import ChannelType
from chat.registries.error_codes import ErrorCode, FieldCode
from chat.registries.events import EventName
from chat.registries.permissions import Permission
from chat.snowflake import SnowflakeGenerator
from chat.store.accounts import accounts, user_settings
from chat.store.accounts.accounts import Account
from chat.store.database import Database
from chat.store.guard import Guard
from chat.store.guilds import guilds
from chat.store.guilds.channels import Channel
from chat.store.standing import private_channels, relationships
from chat.store.standing.private_channels import PrivateChannel

PRIVATE_PERMISSIONS: Final = int(
    Permission.VIEW_CHANNEL
    | Permission.SEND_MESSAGES
    | Permission.READ_MESSAGE_HISTORY
    | Permission.ADD_REACTIONS
    | Permission.EMBED_LINKS
    | Permission.ATTACH_FILES
    | Permission.SEND_TTS_MESSAGES
    | Permission.USE_EXTERNAL_EMOJIS
    | Permission.USE_EXTERNAL_STICKERS
    | Permission.PIN_MESSAGES
)
"""What an account may do in its conversations."""


@frozen
class PrivateChannelAccess(ChannelAccess):
    """A conversation of the caller. `recipients` are its accounts, the caller included."""

    recipients: tuple[int, ...]
    nicks: Mapping[int, str]
    """The names that accounts have in a group."""
    conversations: PrivateChannels = attrs.field(repr=False, eq=False)

    @property
    def is_group(self) -> bool:
        """Whether others may come and go."""
        return self.channel.type == ChannelType.GROUP_DM

    @property
    def private(self) -> PrivateChannel:
        return PrivateChannel(self.channel, self.recipients, self.nicks)

    def sees(self, user_id: int) -> bool:
        return user_id in self.recipients

    def audience(self, message_id: int | None = None) -> Audience:
        return ToAccounts(self.recipients)

    def names(self) -> Mapping[str, Any]:
        """The names that accounts have in a group, as MESSAGE_CREATE has them."""
        return {"nicks": nicks_object(self.nicks)} if self.nicks else {}

    def afresh(self) -> ChannelAccess:
        """Others may have come to a group, or left it."""
        return self.conversations.renewed(self) if self.is_group else self

    def channel_object(self) -> wire.PrivateChannel:
        return self.conversations.object_of(self.private, self.user_id)


@define(eq=False)
class PrivateChannels:
    """Opens, lists and finds conversations. `partial_user_of` gives the user object of an account."""

    _database: Database
    _bus: Bus
    _snowflakes: SnowflakeGenerator
    _settings: Settings
    _partial_user_of: Callable[[int], wire.PartialUser] = attrs.field(kw_only=True)

    def find(self, user_id: int, channel_id: int) -> PrivateChannelAccess | None:
        """The account's access to a conversation; None if there is none, or it is not in it."""
        private = private_channels.by_id(self._database.reader, channel_id)
        if private is None or user_id not in private.recipient_ids:
            return None
        return self.access(private, user_id)

    def of_any_account(self, channel_id: int) -> PrivateChannelAccess | None:
        """The access of one of its accounts to a conversation; None if there is none, or no account is in it."""
        private = private_channels.by_id(self._database.reader, channel_id)
        return self.access(private, private.recipient_ids[0]) if private and private.recipient_ids else None

    def access(self, private: PrivateChannel, user_id: int) -> PrivateChannelAccess:
        """The access of one of its accounts to a conversation."""
        return PrivateChannelAccess(
            user_id, private.channel, PRIVATE_PERMISSIONS, private.recipient_ids, private.nicks, self
        )

    def renewed(self, access: PrivateChannelAccess) -> PrivateChannelAccess:
        """The same access on what the store holds now."""
        private = private_channels.by_id(self._database.reader, access.channel.id)
        return access if private is None else self.access(private, access.user_id)

    def of_account(self, user_id: int) -> list[wire.PrivateChannel]:
        """The conversations in the account's list, the one with the newest message first; as many as the instance's
        limit, an older one stands in it again when something is written there."""
        shown = private_channels.shown_to(self._database.reader, user_id, self._settings.limits.max_private_channels)
        return [self.object_of(private, user_id) for private in shown]

    async def open(self, principal: Principal, recipient_id: int) -> wire.PrivateChannel:
        """The conversation with an account, made or put back into the caller's list where needed.

        :raises ApiError: DIRECT_MESSAGES_DISABLED, UNKNOWN_USER, UNCLAIMED_ACCOUNT_CANNOT_SEND_DIRECT_MESSAGES,
            DIRECT_MESSAGE_EMAIL_VERIFICATION_REQUIRED, CANNOT_SEND_MESSAGES_TO_USER; ACCOUNT_LIMITED for a limited
            account, towards one with whom nothing was ever written (access.md, Account gates).
        :raises InvalidFormBody: CANNOT_DM_YOURSELF at `recipient_id`.
        """
        account = principal.account
        if recipient_id == account.id:
            raise InvalidFormBody.at("recipient_id", FieldCode.CANNOT_DM_YOURSELF)
        channel_id = self._snowflakes()

        def unit(connection: sqlite3.Connection) -> tuple[PrivateChannel, bool]:
            known = private_channels.between(connection, account.id, recipient_id)
            if account.is_limited_to_known and not (
                known and private_channels.has_written(connection, known.channel.id)
            ):
                raise ApiError(ErrorCode.ACCOUNT_LIMITED)
            self._require_writable(connection, account, recipient_id)
            is_new = known is None or bool(private_channels.show(connection, known.channel.id, account.id))
            if known is None:
                known = private_channels.insert_direct(connection, channel_id, account.id, recipient_id)
            return known, is_new

        def then(opened: tuple[PrivateChannel, bool]) -> None:
            private, is_new = opened
            if is_new:
                self.publish(EventName.CHANNEL_CREATE, private, (account.id,))

        private, _ = await self._database.write(unit, then, guard=principal.guard)
        return self.object_of(private, account.id)

    async def close(self, access: PrivateChannelAccess, guard: Guard) -> None:
        """Take a conversation of two out of the caller's list, where the next message puts it again.

        :raises ApiError: CANNOT_EXECUTE_ON_DM for the personal notes, which stand in no list.
        """
        if access.channel.type != ChannelType.DM:
            raise ApiError(ErrorCode.CANNOT_EXECUTE_ON_DM)

        def then(was_shown: bool) -> None:
            if was_shown:
                self.publish(EventName.CHANNEL_DELETE, access.private, (access.user_id,))

        await self._database.write(
            lambda connection: private_channels.hide(connection, access.channel.id, access.user_id), then, guard=guard
        )

    def pinned(self, user_id: int) -> list[str]:
        """The ids of the conversations that the account has pinned, in the order in which it did."""
        return [str(channel_id) for channel_id in private_channels.pinned(self._database.reader, user_id)]

    async def pin(self, access: ChannelAccess, guard: Guard, *, pinned: bool) -> None:
        """Put a conversation at the end of those that the caller has pinned, or take it away; the caller's sessions
        hear which are pinned even without a change.

        :raises InvalidFormBody: CHANNEL_MUST_BE_DM_OR_GROUP_DM at `channel_id`.
        """
        if access.channel.type not in (ChannelType.DM, ChannelType.GROUP_DM):
            raise InvalidFormBody.at("channel_id", FieldCode.CHANNEL_MUST_BE_DM_OR_GROUP_DM)
        change = private_channels.pin if pinned else private_channels.unpin

        def unit(connection: sqlite3.Connection) -> list[int]:
            change(connection, access.channel.id, access.user_id)
            return private_channels.pinned(connection, access.user_id)

        await self._database.write(
            unit, lambda pinned_ids: self.publish_pinned(access.user_id, pinned_ids), guard=guard
        )

    def publish_pinned(self, user_id: int, channel_ids: Sequence[int]) -> None:
        """Tell the account's sessions which conversations it has pinned."""
        names = [str(channel_id) for channel_id in channel_ids]
        self._bus.publish(Event(EventName.USER_PINNED_DMS_UPDATE, names, ToAccounts((user_id,))))

    def require_may_write(self, access: PrivateChannelAccess, account: Account) -> None:
        """Raise as `open` does, unless the other takes messages from the account now; in a group this is not asked."""
        if access.is_group:
            self.require_may_converse(account)
        for recipient_id in access.recipients:
            if recipient_id != account.id and not access.is_group:
                self._require_writable(self._database.reader, account, recipient_id)

    def require_unblocked(self, access: ChannelAccess) -> None:
        """As the function of this name, on what the store holds now."""
        require_unblocked(self._database.reader, access)

    def show_in(self, connection: sqlite3.Connection, access: PrivateChannelAccess) -> list[int]:
        """In the unit that writes a message: put the conversation into the lists of all; returns the accounts to which
        it is new.

        :raises ApiError: UNKNOWN_CHANNEL for a group that the author has left meanwhile.
        """
        if not access.is_group:
            return private_channels.show(connection, access.channel.id, *access.recipients)
        if not private_channels.is_in(connection, access.channel.id, access.user_id):
            raise ApiError(ErrorCode.UNKNOWN_CHANNEL)
        return []

    def shown(self, access: PrivateChannelAccess, user_ids: Sequence[int]) -> None:
        """After that commit: tell those to whom it is new."""
        if user_ids:
            self.publish(EventName.CHANNEL_CREATE, access.private, user_ids)

    def require_may_converse(self, account: Account) -> None:
        """Raise as `open` does, for an account, or on an instance, without direct messages."""
        if self._settings.direct_messages_disabled:
            raise ApiError(ErrorCode.DIRECT_MESSAGES_DISABLED)
        if is_unclaimed(account):
            raise ApiError(ErrorCode.UNCLAIMED_ACCOUNT_CANNOT_SEND_DIRECT_MESSAGES)
        if not account.bot and not has_verified_address(account):
            raise ApiError(ErrorCode.DIRECT_MESSAGE_EMAIL_VERIFICATION_REQUIRED)

    def _require_writable(self, connection: sqlite3.Connection, account: Account, recipient_id: int) -> None:
        if self._settings.direct_messages_disabled:
            raise ApiError(ErrorCode.DIRECT_MESSAGES_DISABLED)
        recipient = accounts.by_id(connection, recipient_id)
        if recipient is None:
            raise ApiError(ErrorCode.UNKNOWN_USER)
        self.require_may_converse(account)
        if recipient.is_deleted or not _takes_messages(connection, account, recipient):
            raise ApiError(ErrorCode.CANNOT_SEND_MESSAGES_TO_USER)

    def publish(self, name: EventName, private: PrivateChannel, user_ids: Sequence[int]) -> None:
        """Tell each of these accounts of the conversation, as it sees it."""
        users = self._users(private)
        for user_id in user_ids:
            data = private_channel_object(private, user_id, users)
            self._bus.publish(Event(name, data, ToAccounts((user_id,))))

    def object_of(self, private: PrivateChannel, user_id: int) -> wire.PrivateChannel:
        """The channel object as one of its accounts sees it."""
        return private_channel_object(private, user_id, self._users(private))

    def group_of(self, private: PrivateChannel, user_id: int) -> wire.GroupChannel:
        """As `object_of`, of a group."""
        return group_object(private, user_id, self._users(private))

    def _users(self, private: PrivateChannel) -> dict[int, wire.PartialUser]:
        return {user_id: self._partial_user_of(user_id) for user_id in private.recipient_ids}


def require_unblocked(connection: sqlite3.Connection, access: ChannelAccess) -> None:
    """Raise CANNOT_SEND_MESSAGES_TO_USER in the conversation of two of whom one has blocked the other: they hear
    nothing of each other there, be it a message, another text of an old one, a reaction, or that one is typing."""
    if not isinstance(access, PrivateChannelAccess) or access.channel.type != ChannelType.DM:
        return
    for other_id in access.recipients:
        for pair in ((access.user_id, other_id), (other_id, access.user_id)):
            relationship = relationships.by_id(connection, *pair)
            if relationship is not None and relationship.type == RelationshipType.BLOCKED:
                raise ApiError(ErrorCode.CANNOT_SEND_MESSAGES_TO_USER)


def _takes_messages(connection: sqlite3.Connection, account: Account, recipient: Account) -> bool:
    """Whether the recipient takes messages from the account: not blocked either way; friends, or in a guild together
    that the recipient lets strangers write from (`restricted_guilds`; people.md, Private channels)."""
    own = relationships.by_id(connection, account.id, recipient.id)
    theirs = relationships.by_id(connection, recipient.id, account.id)
    kinds = {relationship.type for relationship in (own, theirs) if relationship is not None}
    if RelationshipType.BLOCKED in kinds:
        return False
    if RelationshipType.FRIEND in kinds:
        return True
    if recipient.bot:
        restricted: set[int] = set()
    else:
        settings = user_settings_object(user_settings.of_user(connection, recipient.id))
        names = settings["bot_restricted_guilds" if account.bot else "restricted_guilds"]
        restricted = {int(guild_id) for guild_id in names}
    common = set(guilds.ids_of_user(connection, account.id)) & set(guilds.ids_of_user(connection, recipient.id))
    return bool(common - restricted)


def private_channel_object(
    private: PrivateChannel, user_id: int, users: Mapping[int, wire.PartialUser]
) -> wire.PrivateChannel:
    """The conversation as one of its accounts sees it; `users` holds the partial users of the others.

    Without others there is no member `recipients`, and a group without a name has no `name`.
    """
    channel = private.channel
    begin = _begin(channel)
    others = [users[other] for other in private.recipient_ids if other != user_id]
    if channel.type == ChannelType.DM:
        return cast("wire.DirectMessageChannel", {**begin, "recipients": others} if others else begin)
    if channel.type == ChannelType.GROUP_DM:
        return group_object(private, user_id, users)
    notes: wire.PersonalNotesChannel = {**begin}
    return notes


def group_object(private: PrivateChannel, user_id: int, users: Mapping[int, wire.PartialUser]) -> wire.GroupChannel:
    """As `private_channel_object`, of a group."""
    channel = private.channel
    others = [users[other] for other in private.recipient_ids if other != user_id]
    named: wire.GroupNames = {}
    if others:
        named["recipients"] = others
    if channel.name is not None:
        named["name"] = channel.name
    data: wire.GroupChannel = {
        **_begin(channel),
        **named,
        "icon": channel.icon,
        "owner_id": None if channel.owner_id is None else str(channel.owner_id),
    }
    if private.nicks:
        data["nicks"] = nicks_object(private.nicks)
    return data


def _begin(channel: Channel) -> wire.Conversation[Any]:
    return {
        "id": str(channel.id),
        "type": channel.type,
        "last_message_id": None if channel.last_message_id is None else str(channel.last_message_id),
        "last_pin_timestamp": optional_timestamp(channel.last_pin_timestamp),
    }


def nicks_object(nicks: Mapping[int, str]) -> dict[str, str]:
    """The names that accounts have in a group."""
    return {str(user_id): nick for user_id, nick in nicks.items()}
