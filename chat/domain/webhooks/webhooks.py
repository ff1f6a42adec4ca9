"""Webhooks: who may manage them, and what their own token is good for (webhooks.md, Webhooks of channels).

The token is sealed with the instance's key rather than hashed: those who manage webhooks see it again. A request with
the id and the token of a webhook counts as the webhook's, also with another credential (access.md, Secret addresses).
"""

from __future__ import annotations

import functools
import hmac
import sqlite3
from collections.abc import AsyncIterator, Iterable, Mapping
from contextlib import asynccontextmanager
from typing import Final, cast

import attrs

from chat import wire
from chat.auth.keys import Keys
from chat.auth.principal import Principal
from chat.bus.audience import ToChannel
from chat.bus.bus import Event
from chat.classes import frozen
from chat.config import Limits
from chat.domain.core import Core
from chat.domain.messages.assemble import MessagesArea
from chat.domain.messages.message_drafts import MessageDraft, MessageEdit, webhook_sender
from chat.domain.messages.message_objects import author_object
from chat.domain.policy.changes import Columns, without_repeated
from chat.domain.policy.media_library import AVATARS, MediaLibrary
from chat.domain.standing.access import GuildChannelAccess, require_message_channel
from chat.domain.standing.audit_log import Actor
from chat.domain.standing.guild_states import Member
from chat.domain.standing.thread_access import ThreadAccess, permissions_in_thread
from chat.domain.threads.posts import Posts
from chat.domain.threads.threads import NewThread
from chat.errors import ApiError, InvalidFormBody
from chat.media.outside_addresses import OutsideRefused, parsed
from chat.protocol.visible_text import tidy
from chat.registries.audit_actions import AuditAction
from chat.registries.channel_types import THREAD_ONLY_CHANNEL_TYPES
from chat.registries.error_codes import ErrorCode, FieldCode
from chat.registries.events import EventName
from chat.registries.permissions import Permission
from chat.store import policy, threads
from chat.store.accounts import accounts
from chat.store.accounts.accounts import Account
from chat.store.guard import Guard
from chat.store.guilds import channels
from chat.store.guilds.channels import Channel
from chat.store.policy import StoredAsset
from chat.store.standing.guild_audit_log import AuditLogEntry
from chat.store.webhooks import crossposts, webhooks
from chat.store.webhooks.crossposts import FollowedSource
from chat.store.webhooks.webhooks import CHANNEL_FOLLOWER, Webhook

NAME_CHARACTERS: Final = 80
MANAGE_WEBHOOKS: Final = Permission.MANAGE_WEBHOOKS.value

SEALED_FOR: Final = "webhook tokens"
"""The purpose that tokens are sealed for."""

WEBHOOK_PERMISSIONS: Final = int(
    Permission.VIEW_CHANNEL
    | Permission.SEND_MESSAGES
    | Permission.SEND_MESSAGES_IN_THREADS
    | Permission.SEND_TTS_MESSAGES
    | Permission.EMBED_LINKS
    | Permission.ATTACH_FILES
    | Permission.MENTION_EVERYONE
    | Permission.BYPASS_SLOWMODE
)
"""What a webhook may do in its channel."""


@frozen
class WebhookChange:
    """Changes to a webhook; None keeps what is there. An avatar of "" takes it away."""

    name: str | None = None
    avatar: str | None = None
    channel_id: int | None = None


@frozen
class Disguise:
    """The name and avatar that one message is sent under in place of the webhook's own."""

    name: str | None = None
    avatar_url: str | None = attrs.field(default=None, repr=False)


@frozen
class WebhookPlace:
    """Where in its channel a webhook writes: in this thread, in a new post, or in the channel itself."""

    thread_id: int | None = None
    post: NewThread | None = None


class Webhooks:
    def __init__(self, core: Core, messages: MessagesArea, posts: Posts, media: MediaLibrary) -> None:
        self._core = core
        self._messages = messages
        self._posts = posts
        self._media = media
        self._unknown = core.mint.secret().encode()

    @functools.cached_property
    def _stand_in(self) -> Webhook:
        """Compared with where there is no webhook, so that both cases take the same path."""
        return Webhook(0, 0, 0, 0, "", self._core.keys.seal(SEALED_FOR, self._unknown, b"0"))

    # By those who manage webhooks

    async def create(
        self, principal: Principal, channel_id: int, name: str, avatar: str | None, reason: str | None = None
    ) -> wire.Webhook:
        """Make a webhook.

        :raises ApiError: as `Access.guild_channel`; CANNOT_SEND_MESSAGES_IN_NON_TEXT_CHANNEL, MAX_WEBHOOKS_PER_CHANNEL,
            MAX_WEBHOOKS_PER_GUILD.
        :raises InvalidFormBody: WEBHOOK_NAME_LENGTH_INVALID at `name`; at `avatar` as `MediaLibrary.new_image`.
        """
        access = self._core.access.guild_channel(principal, channel_id, MANAGE_WEBHOOKS)
        _require_takes_webhooks(access.channel)
        webhook_id, token = self._core.snowflakes(), self._core.mint.secret()
        webhook = Webhook(
            id=webhook_id,
            guild_id=access.state.id,
            channel_id=channel_id,
            user_id=principal.user_id,
            name=self._name(name),
            sealed_token=sealed_token(self._core.keys, webhook_id, token),
        )

        async with self._new_avatar(webhook_id, avatar, principal.guard) as asset:
            made = webhook if asset is None else attrs.evolve(webhook, avatar=asset.hash)

            def unit(connection: sqlite3.Connection) -> AuditLogEntry | None:
                require_room_for_webhook(connection, made, self._core.settings.limits)
                if channels.guild_of(connection, channel_id) is None or not webhooks.insert(connection, made):
                    raise ApiError(ErrorCode.UNKNOWN_CHANNEL)
                if asset is not None:
                    policy.insert(connection, asset)
                return self._record(connection, Actor(principal.user_id, reason), None, made)

            await self._core.database.write(
                unit, lambda entry: self._tell(made.guild_id, entry, channel_id), guard=principal.guard
            )
        return webhook_object(made, token, principal.account)

    async def of_channel(self, principal: Principal, channel_id: int) -> list[wire.Webhook]:
        """The webhooks of a channel, oldest first.

        :raises ApiError: as `Access.guild_channel`.
        """
        access = self._core.access.guild_channel(principal, channel_id, MANAGE_WEBHOOKS)
        hidden = access.state.hidden_from(principal.user_id)
        return await self._core.database.read(
            lambda connection: self._shown(connection, webhooks.of_channel(connection, channel_id), hidden)
        )

    async def of_guild(self, principal: Principal, guild_id: int) -> list[wire.Webhook]:
        """The webhooks of a guild that `get` shows to the caller, oldest first.

        :raises ApiError: as `Access.guild`.
        """
        access = self._core.access.guild(principal, guild_id, MANAGE_WEBHOOKS)
        open_to = access.state.channels_with(principal.user_id, MANAGE_WEBHOOKS)
        hidden = access.state.hidden_from(principal.user_id)

        def shown(connection: sqlite3.Connection) -> list[wire.Webhook]:
            present = webhooks.of_guild(connection, guild_id)
            return self._shown(connection, [webhook for webhook in present if webhook.channel_id in open_to], hidden)

        return await self._core.database.read(shown)

    def get(self, principal: Principal, webhook_id: int) -> wire.Webhook:
        """One webhook. Raises UNKNOWN_WEBHOOK; as `Access.guild_channel`."""
        return self._shown_to(principal, self._managed(principal, webhook_id))

    async def change(
        self, principal: Principal, webhook_id: int, change: WebhookChange, reason: str | None = None
    ) -> wire.Webhook:
        """Change name, avatar or channel; a new channel is one of the same guild, where the caller manages webhooks
        too.

        :raises ApiError: as `get`; UNKNOWN_CHANNEL, MAX_WEBHOOKS_PER_CHANNEL.
        :raises InvalidFormBody: as `create`.
        """
        webhook = self._managed(principal, webhook_id)
        if change.channel_id is not None and change.channel_id != webhook.channel_id:
            target = self._core.access.guild_channel(principal, change.channel_id, MANAGE_WEBHOOKS)
            _require_takes_webhooks(target.channel)
            if target.state.id != webhook.guild_id:
                raise ApiError(ErrorCode.UNKNOWN_CHANNEL)
        changed = await self._change(webhook, change, Actor(principal.user_id, reason), principal.guard)
        return self._shown_to(principal, changed)

    async def delete(self, principal: Principal, webhook_id: int, reason: str | None = None) -> None:
        """Delete a webhook; its messages stay.

        :raises ApiError: as `get`.
        """
        await self._delete(self._managed(principal, webhook_id), Actor(principal.user_id, reason), principal.guard)

    # By the token

    def identified(self, webhook_id: int, token: str, *, guard: Guard) -> Webhook:
        """The webhook whose token this is. It has to be there still when the request of the `guard` writes.

        :raises ApiError: UNKNOWN_WEBHOOK, in the same time whether the id or the token is wrong; ACCESS_DENIED,
            MISSING_ACCESS for a guild that is closed.
        """
        webhook = webhooks.by_id(self._core.database.reader, webhook_id)
        known = self._token(self._stand_in if webhook is None else webhook)
        if not hmac.compare_digest(known, token.encode()) or webhook is None:
            raise ApiError(ErrorCode.UNKNOWN_WEBHOOK)
        self._core.access.require_open(None, self._core.guild_states.get(webhook.guild_id))
        guard.claim(_require_there, webhook_id)
        return webhook

    def get_by_token(self, webhook: Webhook) -> wire.Webhook:
        """What the webhook sees of itself: not who made it."""
        return webhook_object(webhook, self._token(webhook).decode(), None)

    async def change_by_token(self, webhook: Webhook, change: WebhookChange, guard: Guard) -> wire.Webhook:
        """Change name or avatar.

        :raises InvalidFormBody: as `create`.
        """
        return self.get_by_token(await self._change(webhook, attrs.evolve(change, channel_id=None), None, guard))

    async def delete_by_token(self, webhook: Webhook, guard: Guard) -> None:
        await self._delete(webhook, None, guard)

    async def execute(
        self, webhook: Webhook, draft: MessageDraft, disguise: Disguise, place: WebhookPlace, guard: Guard
    ) -> wire.Message:
        """Send a message.

        :raises ApiError: as `place_of`, `MessageSending.create_of_webhook` and `Posts.create_of_webhook`.
        :raises InvalidFormBody: for the draft; WEBHOOK_NAME_LENGTH_INVALID at `username`, INVALID_FORMAT at
            `avatar_url`, and at `thread_name` where a forum is told no thread, or anything else is told to make one.
        """
        access = self.place_of(webhook, place.thread_id)
        takes_posts = access.channel.type in THREAD_ONLY_CHANNEL_TYPES
        if takes_posts is (place.post is None):
            raise InvalidFormBody.at("thread_name", FieldCode.INVALID_FORMAT)
        name = webhook.name if disguise.name is None else self._name(disguise.name, path="username")
        avatar = webhook.avatar
        if disguise.avatar_url is not None:
            avatar = (await self._outside_avatar(webhook, disguise.avatar_url, guard)).hash
        sender = webhook_sender(webhook, name, avatar, guard)
        if place.post is not None:
            return await self._posts.create_of_webhook(sender, access, place.post, draft)
        return await self._messages.sending.create_of_webhook(sender, access, draft)

    async def message(self, webhook: Webhook, message_id: int, thread_id: int | None = None) -> wire.Message:
        """One of the webhook's messages in its channel, or in a thread there.

        :raises ApiError: as `place_of`; UNKNOWN_MESSAGE.
        """
        return await self._messages.messages.get_of_webhook(webhook.id, self.place_of(webhook, thread_id), message_id)

    async def edit_message(
        self, webhook: Webhook, message_id: int, edit: MessageEdit, thread_id: int | None, guard: Guard
    ) -> wire.Message:
        """Change one of the webhook's messages.

        :raises ApiError: as `message` and `MessageEditing.edit_of_webhook`.
        """
        place = self.place_of(webhook, thread_id)
        return await self._messages.editing.edit_of_webhook(webhook.id, place, message_id, edit, guard)

    async def delete_message(self, webhook: Webhook, message_id: int, thread_id: int | None, guard: Guard) -> None:
        """Delete one of the webhook's messages.

        :raises ApiError: as `message`.
        """
        place = self.place_of(webhook, thread_id)
        await self._messages.deletion.delete_of_webhook(webhook.id, place, message_id, guard)

    def place_of(self, webhook: Webhook, thread_id: int | None) -> GuildChannelAccess:
        """The webhook's channel, or a thread there, as the webhook has access to it.

        :raises ApiError: UNKNOWN_WEBHOOK if the channel is gone; UNKNOWN_CHANNEL for a thread that is not there.
        """
        state = self._core.guild_states.get(webhook.guild_id)
        channel = None if state is None else state.channels.get(webhook.channel_id)
        if state is None or channel is None:
            raise ApiError(ErrorCode.UNKNOWN_WEBHOOK)
        stand_in = Member(guild_id=state.id, user_id=webhook.id, joined_at=0)
        if thread_id is None:
            return GuildChannelAccess(webhook.id, channel, WEBHOOK_PERMISSIONS, state, stand_in)
        reader = self._core.database.reader
        thread = threads.by_id(reader, thread_id)
        if thread is None or (thread.channel.guild_id, thread.channel.parent_id) != (state.id, channel.id):
            raise ApiError(ErrorCode.UNKNOWN_CHANNEL)
        return ThreadAccess(
            webhook.id,
            thread.channel,
            permissions_in_thread(WEBHOOK_PERMISSIONS),
            state,
            stand_in,
            thread,
            None,
            threads.member_ids(reader, thread_id) if thread.is_private else frozenset(),
        )

    # What both have in common

    def _managed(self, principal: Principal, webhook_id: int) -> Webhook:
        webhook = webhooks.by_id(self._core.database.reader, webhook_id)
        if webhook is None:
            raise ApiError(ErrorCode.UNKNOWN_WEBHOOK)
        self._core.access.guild_channel(principal, webhook.channel_id, MANAGE_WEBHOOKS)
        return webhook

    async def _change(self, webhook: Webhook, change: WebhookChange, actor: Actor | None, guard: Guard) -> Webhook:
        async with self._new_avatar(webhook.id, change.avatar, guard) as asset:
            columns: Columns = {}
            if change.name is not None:
                columns["name"] = self._name(change.name)
            if change.channel_id is not None:
                columns["channel_id"] = change.channel_id
            if change.avatar is not None:
                columns["avatar"] = None if asset is None else asset.hash
            columns = without_repeated(webhook, columns)

            def unit(connection: sqlite3.Connection) -> tuple[Webhook, Webhook, AuditLogEntry | None]:
                before = webhooks.by_id(connection, webhook.id)
                if before is None:
                    raise ApiError(ErrorCode.UNKNOWN_WEBHOOK)
                after = attrs.evolve(before, **columns)
                present = webhooks.of_channel(connection, after.channel_id)
                is_new_here = all(other.id != webhook.id for other in present)
                if is_new_here and len(present) >= self._core.settings.limits.max_webhooks_per_channel:
                    raise ApiError(ErrorCode.MAX_WEBHOOKS_PER_CHANNEL)
                webhooks.update(connection, after)
                if before.avatar is not None and before.avatar != after.avatar:
                    policy.delete(connection, AVATARS, webhook.id, before.avatar)
                if asset is not None and after.avatar == asset.hash:
                    policy.insert(connection, asset)
                return before, after, self._record(connection, actor, before, after)

            def then(result: tuple[Webhook, Webhook, AuditLogEntry | None]) -> None:
                before, after, entry = result
                self._tell(webhook.guild_id, entry, *{before.channel_id, after.channel_id})

            _, after, _ = await self._core.database.write(unit, then, guard=guard)
        return after

    async def _delete(self, webhook: Webhook, actor: Actor | None, guard: Guard) -> None:
        def unit(connection: sqlite3.Connection) -> AuditLogEntry | None:
            if not webhooks.delete(connection, webhook.id):
                raise ApiError(ErrorCode.UNKNOWN_WEBHOOK)
            return self._record(connection, actor, webhook, None)

        await self._core.database.write(
            unit, lambda entry: self._tell(webhook.guild_id, entry, webhook.channel_id), guard=guard
        )

    def _record(
        self, connection: sqlite3.Connection, actor: Actor | None, before: Webhook | None, after: Webhook | None
    ) -> AuditLogEntry | None:
        """Note the change in the guild's audit log; what is done by the token has no actor, and no entry."""
        webhook = after or before
        if actor is None or webhook is None:
            return None
        action = AuditAction.WEBHOOK_UPDATE
        if before is None:
            action = AuditAction.WEBHOOK_CREATE
        elif after is None:
            action = AuditAction.WEBHOOK_DELETE
        return self._core.audit_log.record_change(
            connection, webhook.guild_id, action, actor, webhook.id, logged_webhook(before), logged_webhook(after)
        )

    @asynccontextmanager
    async def _new_avatar(self, webhook_id: int, avatar: str | None, guard: Guard) -> AsyncIterator[StoredAsset | None]:
        """The avatar in a body as an asset, for a unit in the block; None without one."""
        if not avatar:
            yield None
        else:
            async with self._media.new_image(AVATARS, webhook_id, avatar, path="avatar", guard=guard) as asset:
                yield asset

    async def _outside_avatar(self, webhook: Webhook, url: str, guard: Guard) -> StoredAsset:
        try:
            parsed(url)
        except OutsideRefused:
            raise InvalidFormBody.at("avatar_url", FieldCode.INVALID_FORMAT) from None
        self._core.blocked.require_text(url)
        asset = self._media.outside_image(AVATARS, webhook.id, url)
        if policy.find(self._core.database.reader, AVATARS, webhook.id, asset.hash) is None:
            await self._core.database.write(lambda connection: policy.insert(connection, asset), guard=guard)
        return asset

    def _name(self, text: str, *, path: str = "name") -> str:
        """A webhook's name: 1 to NAME_CHARACTERS characters after tidying up.

        :raises InvalidFormBody: at `path`.
        :raises ApiError: CONTENT_BLOCKED.
        """
        name = tidy(text)
        if not 1 <= len(name) <= NAME_CHARACTERS:
            raise InvalidFormBody.at(path, FieldCode.WEBHOOK_NAME_LENGTH_INVALID)
        self._core.blocked.require_profile(name)
        return name

    def _tell(self, guild_id: int, entry: AuditLogEntry | None, *channel_ids: int) -> None:
        self._core.audit_log.publish(entry)
        for channel_id in sorted(channel_ids):
            data = {"guild_id": str(guild_id), "channel_id": str(channel_id)}
            self._core.bus.publish(Event(EventName.WEBHOOKS_UPDATE, data, ToChannel(guild_id, channel_id)))

    def _shown_to(self, principal: Principal, webhook: Webhook) -> wire.Webhook:
        state = self._core.guild_states.get(webhook.guild_id)
        hidden = frozenset() if state is None else state.hidden_from(principal.user_id)
        return self._shown(self._core.database.reader, [webhook], hidden)[0]

    def _shown(
        self, connection: sqlite3.Connection, found: list[Webhook], hidden: frozenset[int]
    ) -> list[wire.Webhook]:
        """The webhook objects, without the channels of the same guild that they follow and that are hidden."""
        makers = {account.id: account for account in accounts.by_ids(connection, tuple({row.user_id for row in found}))}
        followed = crossposts.sources(connection, [row.id for row in found if row.type == CHANNEL_FOLLOWER])
        brought = {row_id: source for row_id, source in followed.items() if source.channel_id not in hidden}
        return [
            webhook_object(row, self._token(row).decode(), makers.get(row.user_id), brought.get(row.id))
            for row in found
        ]

    def _token(self, webhook: Webhook) -> bytes:
        token = self._core.keys.open(SEALED_FOR, webhook.sealed_token, str(webhook.id).encode())
        # Sealed with another key: the directory's signing key was replaced. No token fits any more.
        return self._unknown if token is None else token


def _require_there(connection: sqlite3.Connection, webhook_ids: Iterable[int]) -> None:
    """In a unit of writing: raise UNKNOWN_WEBHOOK if a webhook whose token was shown is gone."""
    if any(webhooks.by_id(connection, webhook_id) is None for webhook_id in webhook_ids):
        raise ApiError(ErrorCode.UNKNOWN_WEBHOOK)


def _require_takes_webhooks(channel: Channel) -> None:
    """Raise CANNOT_SEND_MESSAGES_IN_NON_TEXT_CHANNEL for a channel that holds neither messages nor posts."""
    if channel.type not in THREAD_ONLY_CHANNEL_TYPES:
        require_message_channel(channel)


def require_room_for_webhook(connection: sqlite3.Connection, webhook: Webhook, limits: Limits) -> None:
    """Raise MAX_WEBHOOKS_PER_CHANNEL or MAX_WEBHOOKS_PER_GUILD for a new webhook that does not fit."""
    if webhooks.count_of_channel(connection, webhook.channel_id) >= limits.max_webhooks_per_channel:
        raise ApiError(ErrorCode.MAX_WEBHOOKS_PER_CHANNEL)
    if webhooks.count_of_guild(connection, webhook.guild_id) >= limits.max_webhooks_per_guild:
        raise ApiError(ErrorCode.MAX_WEBHOOKS_PER_GUILD)


def sealed_token(keys: Keys, webhook_id: int, token: str) -> bytes:
    """The token of a webhook as it is stored."""
    return keys.seal(SEALED_FOR, token.encode(), str(webhook_id).encode())


def logged_webhook(webhook: Webhook | None) -> Mapping[str, object]:
    """What the audit log compares; never the token."""
    if webhook is None:
        return {}
    place = {"name": webhook.name, "channel_id": str(webhook.channel_id)}
    return {**place, "avatar_hash": webhook.avatar, "type": webhook.type}


def webhook_object(
    webhook: Webhook, token: str, maker: Account | None, source: FollowedSource | None = None
) -> wire.Webhook:
    """The webhook with its token; without `maker` there is no `user`, as in the view that the token gives.

    One that follows a channel shows no token, and its `source` unless that is gone.
    """
    data: wire.Webhook = {
        "id": str(webhook.id),
        "type": webhook.type,
        "guild_id": str(webhook.guild_id),
        "channel_id": str(webhook.channel_id),
        "name": webhook.name,
        "avatar": webhook.avatar,
    }
    if webhook.type != CHANNEL_FOLLOWER:
        data["token"] = token
    if source is not None:
        data["source_guild"] = {"id": str(source.guild_id), "name": source.guild_name, "icon": source.guild_icon}
        data["source_channel"] = {"id": str(source.channel_id), "name": cast(str, source.channel_name)}
    if maker is not None:
        data["user"] = author_object(webhook.user_id, maker)
    return data
