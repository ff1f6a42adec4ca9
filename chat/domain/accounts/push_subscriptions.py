"""Browsers that are told of messages while no client is looked at (Web Push, RFC 8030).

An account subscribes with a sign-in, and with that sign-in it ends. Who subscribed is known in memory too, so that
messages which concern none of them cost nothing.
"""

from __future__ import annotations

import collections
import functools
import hashlib
from collections.abc import Callable, Sequence
from typing import Final

import attrs

from chat import wire
from chat.auth.principal import Principal
from chat.auth.tokens import digest_of
from chat.bus.bus import GuildDeleted, GuildJoined, GuildLeft
from chat.classes import define
from chat.domain.core import Core
from chat.errors import ApiError, InvalidFormBody
from chat.push.encryption import Receiver
from chat.push.sending import PushSender
from chat.registries.error_codes import ErrorCode, FieldCode
from chat.store.accounts import push_subscriptions
from chat.store.accounts.push_subscriptions import PushSubscription
from chat.store.guard import UNGUARDED, Guard

SUBSCRIPTIONS_MAXIMUM: Final = 32
"""Browsers of one account; for one more, the one that subscribed first is forgotten."""

GUILDS_REMEMBERED: Final = 4_096
ID_DIGITS: Final = 32


@define(kw_only=True, eq=False)
class PushSubscriptions:
    """The operations on subscriptions, and who has any. `sender` None where the operator wants none of it."""

    _core: Core
    _sender: PushSender | None
    subscribed: set[int] = attrs.field(factory=set, init=False)
    """Accounts with a subscription, and some that had one."""
    _in_guilds: collections.OrderedDict[int, frozenset[int]] = attrs.field(factory=collections.OrderedDict, init=False)
    """For each guild that was asked about: the subscribed accounts that are members."""
    _changes: int = attrs.field(default=0, init=False)

    def __attrs_post_init__(self) -> None:
        if self._sender is not None:
            self._core.bus.subscribe(GuildJoined, self._member_joined)
            self._core.bus.subscribe(GuildLeft, self._member_left)
            self._core.bus.subscribe(GuildDeleted, lambda signal: self._in_guilds.pop(signal.guild_id, None))

    async def begin(self) -> None:
        """Learn who has subscribed; once, before the server serves."""
        if self._sender is not None:
            self.subscribed = await self._core.database.read(push_subscriptions.user_ids)

    # Operations

    async def subscribe(
        self, principal: Principal, endpoint: str, p256dh: str, auth: str, user_agent: str | None
    ) -> wire.PushSubscribed:
        """Tell this browser of messages from now on; the same endpoint again takes the place of the one before.

        :raises ApiError: FEATURE_TEMPORARILY_DISABLED; UNAUTHORIZED when the sign-in has ended meanwhile.
        :raises InvalidFormBody: INVALID_FORMAT at `endpoint`, `keys.p256dh` or `keys.auth`.
        """
        if self._sender is None:
            raise ApiError(ErrorCode.FEATURE_TEMPORARILY_DISABLED)
        if not self._sender.accepts(endpoint):
            raise InvalidFormBody.at("endpoint", FieldCode.INVALID_FORMAT)
        try:
            receiver = Receiver.of(p256dh, auth)
        except ValueError as error:
            raise InvalidFormBody.at(f"keys.{error}", FieldCode.INVALID_FORMAT) from error
        token_hash = digest_of(principal.session_id_hash or "")
        if token_hash is None:
            raise ApiError(ErrorCode.ACCESS_DENIED)
        subscription = PushSubscription(
            _id_of(principal.user_id, endpoint),
            principal.user_id,
            token_hash,
            endpoint,
            receiver.public_key,
            receiver.auth,
            user_agent,
            self._core.clock.now_ms(),
        )

        def then(subscribed: bool) -> None:
            if subscribed and principal.user_id not in self.subscribed:
                self.subscribed.add(principal.user_id)
                self._in_guilds.clear()
                self._changes += 1

        put = functools.partial(push_subscriptions.put, subscription=subscription, most=SUBSCRIPTIONS_MAXIMUM)
        if not await self._core.database.write(put, then, guard=principal.guard):
            raise ApiError(ErrorCode.UNAUTHORIZED)
        return {"subscription_id": subscription.id}

    def of_user(self, user_id: int) -> list[wire.PushSubscription]:
        """The account's subscriptions, the oldest first."""
        found = push_subscriptions.of_users(self._core.database.reader, (user_id,))
        return [{"subscription_id": each.id, "user_agent": each.user_agent} for each in found]

    async def unsubscribe(self, user_id: int, subscription_id: str, guard: Guard) -> None:
        """Tell a browser no more; it does not matter whether it was told."""
        await self._core.database.write(
            lambda connection: push_subscriptions.delete(connection, user_id, subscription_id), guard=guard
        )

    async def forget(self, subscription: PushSubscription) -> None:
        """The push service knows nothing of the subscription any more."""
        await self.unsubscribe(subscription.user_id, subscription.id, UNGUARDED)

    # Who has any

    def any_of(self, user_ids: Sequence[int]) -> list[int]:
        """The accounts among these that have a subscription."""
        return [user_id for user_id in user_ids if user_id in self.subscribed]

    def may_concern(self, guild_id: int) -> bool:
        """Whether any member of a guild may have subscribed, as far as memory knows."""
        return self._in_guilds.get(guild_id) != frozenset()

    async def members_of(self, guild_id: int) -> frozenset[int]:
        """The members of a guild that have subscribed."""
        known = self._in_guilds.get(guild_id)
        if known is not None:
            self._in_guilds.move_to_end(guild_id)
            return known
        changes = self._changes
        found = await self._core.database.read(lambda connection: push_subscriptions.user_ids_in(connection, guild_id))
        if changes == self._changes:  # else it may be out of date already
            self._in_guilds[guild_id] = found
            if len(self._in_guilds) > GUILDS_REMEMBERED:
                self._in_guilds.popitem(last=False)
        return found

    def _member_joined(self, signal: GuildJoined) -> None:
        if signal.user_id in self.subscribed:
            self._change(signal.guild_id, lambda known: known | {signal.user_id})

    def _member_left(self, signal: GuildLeft) -> None:
        if signal.user_id in self.subscribed:
            self._change(signal.guild_id, lambda known: known - {signal.user_id})

    def _change(self, guild_id: int, change: Callable[[frozenset[int]], frozenset[int]]) -> None:
        self._changes += 1
        known = self._in_guilds.get(guild_id)
        if known is not None:
            self._in_guilds[guild_id] = change(known)


def _id_of(user_id: int, endpoint: str) -> str:
    """The name of a subscription: the same whenever the same browser subscribes for the same account."""
    return hashlib.sha256(f"{user_id}\n{endpoint}".encode()).hexdigest()[:ID_DIGITS]
