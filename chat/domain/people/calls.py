"""Calls in conversations of two and in groups (people.md, Calls).

There is no media server: a call is who is connected and who is being rung. It begins with the first connection or ring,
with a message of type 3, and ends when the last account has left, when none came within a minute, when it is ended, or
with the server; then the message gets its `ended_timestamp`. A process that was killed leaves its calls in the store;
the next one ends them before it serves.
"""

from __future__ import annotations

import collections
import contextlib
import math
import sqlite3
from collections.abc import Sequence
from typing import Any, Final

import attrs
import structlog
import trio

from chat import wire
from chat.auth.principal import Principal
from chat.bus.audience import ToAccounts
from chat.bus.bus import Event
from chat.classes import define
from chat.clock import iso_timestamp
from chat.domain.core import Core
from chat.domain.messages.message_events import SystemMessages, message_updated
from chat.domain.messages.message_reading import StoredMessages, with_context
from chat.domain.presence.calls import ActiveCalls, Call, Ringing, ringing
from chat.domain.presence.voice_connections import CALL_CHANNEL_TYPES, VoiceCaller, VoiceRefusal, VoiceRegions
from chat.domain.presence.voice_states import VoiceStates
from chat.domain.standing.private_channels import PrivateChannelAccess, PrivateChannels
from chat.domain.standing.verification import is_unclaimed
from chat.errors import ApiError, InvalidFormBody, StorageUnavailable
from chat.protocol.payload import Absent
from chat.registries.channel_types import ChannelType
from chat.registries.error_codes import ErrorCode, FieldCode
from chat.registries.events import EventName
from chat.registries.message_types import MessageType
from chat.store import people
from chat.store.accounts import accounts
from chat.store.accounts.accounts import Account
from chat.store.guard import UNGUARDED, Guard
from chat.store.messages import messages
from chat.store.messages.messages import Message, MessageExtra
from chat.store.standing import private_channels

RINGING_SECONDS: Final = 60.0
"""How long an account is rung, and how long a call waits for the first one to connect."""

RETRY_SECONDS: Final = 2.0
"""After a failure of the store, how long until the end of a call is written again."""

ENDING_SECONDS: Final = 10.0
"""How long a request waits for the store to know that a call is over."""

RECIPIENTS_CHANGED: Final = frozenset({EventName.CHANNEL_RECIPIENT_ADD, EventName.CHANNEL_RECIPIENT_REMOVE})

log: Final = structlog.get_logger("chat.calls")


@define(kw_only=True, eq=False)
class Calls:
    """The operations on calls. Hears the bus; `run` must be running for calls to be written down and to end."""

    _core: Core
    _conversations: PrivateChannels
    _system_messages: SystemMessages
    _voice_states: VoiceStates
    _active: ActiveCalls
    _regions: VoiceRegions
    _ending: dict[int, Call] = attrs.field(init=False, factory=dict)
    """Calls that are over, while the store does not know it, by channel."""
    _grown: collections.deque[Call] = attrs.field(init=False, factory=collections.deque)
    """Calls with new participants."""
    _wake: trio.Event = attrs.field(init=False, factory=trio.Event)

    def __attrs_post_init__(self) -> None:
        self._voice_states.on_call.append(self._participants_changed)
        self._core.bus.subscribe_events(RECIPIENTS_CHANGED, self._recipient_changed)

    # Operations

    def eligibility(self, principal: Principal, channel_id: int) -> wire.CallEligibility:
        """Whether a call by the caller makes an account of the conversation ring, and whether it does so silently.

        :raises ApiError: as `Access.channel`; INVALID_CHANNEL_TYPE_FOR_CALL.
        """
        access = self._conversation(principal, channel_id)
        verdicts = {
            ringing(self._core.database.reader, access.user_id, other)
            for other in access.recipients
            if other != access.user_id
        }
        try:
            self._require_may_call(access, principal.account)
        except ApiError:
            verdicts = set()
        return {
            "ringable": bool(verdicts - {Ringing.REFUSED}),
            "silent": Ringing.SILENT in verdicts and Ringing.LOUD not in verdicts,
        }

    async def ring(self, principal: Principal, channel_id: int, recipient_ids: Sequence[int] | None) -> None:
        """Ring these accounts of the conversation, or all, and begin the call if there is none. Accounts that do not
        let the caller ring, and those in the call already, are passed over.

        :raises ApiError: as `Access.channel`; INVALID_CHANNEL_TYPE_FOR_CALL, the refusals of
            `PrivateChannels.require_may_write` between two; UNCLAIMED_ACCOUNT_CANNOT_JOIN_ONE_ON_ONE_VOICE_CALLS,
            UNCLAIMED_ACCOUNT_CANNOT_JOIN_VOICE_CHANNELS.
        :raises InvalidFormBody: INVALID_SNOWFLAKE at `recipients.N` for an account that is not in the conversation.
        """
        access = self._conversation(principal, channel_id)
        self._require_may_call(access, principal.account)
        named = self._named(access, recipient_ids)
        call = await self._call(access, principal.guard)
        connected = set(self._voice_states.accounts_in(channel_id))
        until = trio.current_time() + RINGING_SECONDS
        rung = {
            user_id: until
            for user_id in named
            if user_id not in connected
            and user_id != access.user_id
            and ringing(self._core.database.reader, access.user_id, user_id) is Ringing.LOUD
        }
        if rung and self._active.by_channel.get(channel_id) is call:
            call.ringing.update(rung)
            self._tell(call)
            self._wake.set()

    def stop_ringing(self, principal: Principal, channel_id: int, recipient_ids: Sequence[int] | None) -> None:
        """Ring these accounts no more; without any named, the caller: so a call is declined.

        :raises ApiError: as `Access.channel`; INVALID_CHANNEL_TYPE_FOR_CALL, NO_ACTIVE_CALL; MISSING_PERMISSIONS for
            others while the caller is not in the call.
        :raises InvalidFormBody: as `ring`.
        """
        access = self._conversation(principal, channel_id)
        call = self._running(channel_id)
        named = [access.user_id] if recipient_ids is None else self._named(access, recipient_ids)
        if set(named) - {access.user_id} and not self._takes_part(call, access.user_id):
            raise ApiError(ErrorCode.MISSING_PERMISSIONS)
        if self._stop_ringing(call, named):
            self._tell(call)
            self._wake.set()

    def change_region(self, principal: Principal, channel_id: int, region: str | Absent | None) -> None:
        """Have the call in another region; None lets the server choose, ABSENT changes nothing.

        :raises ApiError: as `Access.channel`; INVALID_CHANNEL_TYPE_FOR_CALL, NO_ACTIVE_CALL, UNKNOWN_VOICE_REGION;
            MISSING_PERMISSIONS while the caller is not in the call.
        """
        access = self._conversation(principal, channel_id)
        call = self._running(channel_id)
        if not self._takes_part(call, access.user_id):
            raise ApiError(ErrorCode.MISSING_PERMISSIONS)
        if isinstance(region, Absent):
            return
        self._regions.require(frozenset(), region)
        if region != call.region:
            call.region = region
            self._tell(call)

    async def end(self, principal: Principal, channel_id: int) -> None:
        """End the call for all: either of two may, in a group its owner and those in the call.

        :raises ApiError: as `Access.channel`; INVALID_CHANNEL_TYPE_FOR_CALL, NO_ACTIVE_CALL, MISSING_PERMISSIONS.
        """
        access = self._conversation(principal, channel_id)
        call = self._running(channel_id)
        owns = not access.is_group or access.channel.owner_id == access.user_id
        if not owns and not self._takes_part(call, access.user_id):
            raise ApiError(ErrorCode.MISSING_PERMISSIONS)
        self._over(call)
        with trio.move_on_after(ENDING_SECONDS):
            await call.finished.wait()
        if not call.finished.is_set():
            raise StorageUnavailable

    async def prepare(self, caller: VoiceCaller, channel_id: int) -> VoiceRefusal | None:
        """Make sure that there is a call which a gateway session may enter; returns why not, if it may not."""
        access = self._conversations.find(caller.user_id, channel_id)
        account = accounts.by_id(self._core.database.reader, caller.user_id)
        if access is None or account is None or access.channel.type not in CALL_CHANNEL_TYPES:
            return VoiceRefusal.UNKNOWN_CHANNEL
        if is_unclaimed(account):
            return VoiceRefusal.UNCLAIMED_ACCOUNT
        try:
            self._require_may_call(access, account)
            await self._call(access, UNGUARDED)  # a gateway session asks, and no request
        except StorageUnavailable:
            return VoiceRefusal.UNAVAILABLE
        except ApiError as error:
            return VoiceRefusal.UNAVAILABLE if error.status >= 500 else VoiceRefusal.MISSING_PERMISSIONS
        return None

    # Who may what

    def _conversation(self, principal: Principal, channel_id: int) -> PrivateChannelAccess:
        access = self._core.access.channel(principal, channel_id)
        if not isinstance(access, PrivateChannelAccess) or access.channel.type not in CALL_CHANNEL_TYPES:
            raise ApiError(ErrorCode.INVALID_CHANNEL_TYPE_FOR_CALL)
        return access

    def _require_may_call(self, access: PrivateChannelAccess, account: Account) -> None:
        if account.bot:
            raise ApiError(ErrorCode.MISSING_PERMISSIONS)
        if is_unclaimed(account):
            raise ApiError(
                ErrorCode.UNCLAIMED_ACCOUNT_CANNOT_JOIN_VOICE_CHANNELS
                if access.is_group
                else ErrorCode.UNCLAIMED_ACCOUNT_CANNOT_JOIN_ONE_ON_ONE_VOICE_CALLS
            )
        if access.channel.type == ChannelType.DM:
            self._conversations.require_may_write(access, account)

    def _named(self, access: PrivateChannelAccess, recipient_ids: Sequence[int] | None) -> Sequence[int]:
        if recipient_ids is None:
            return access.recipients
        for index, user_id in enumerate(recipient_ids):
            if user_id not in access.recipients:
                raise InvalidFormBody.at(f"recipients.{index}", FieldCode.INVALID_SNOWFLAKE)
        return recipient_ids

    def _running(self, channel_id: int) -> Call:
        call = self._active.by_channel.get(channel_id)
        if call is None:
            raise ApiError(ErrorCode.NO_ACTIVE_CALL)
        return call

    def _takes_part(self, call: Call, user_id: int) -> bool:
        """Whether the account is connected, or began the call and is about to be."""
        return self._voice_states.is_in_channel(user_id, call.channel_id) or (
            user_id == call.participants[0] and not self._voice_states.accounts_in(call.channel_id)
        )

    # Beginning

    async def _call(self, access: PrivateChannelAccess, guard: Guard) -> Call:
        """The call in a conversation, begun now if there was none."""
        channel_id = access.channel.id
        with trio.move_on_after(ENDING_SECONDS):
            while (call := self._active.by_channel.get(channel_id)) is None:
                ending = self._ending.get(channel_id)
                if ending is None:
                    await self._begin(access, guard)
                else:
                    await ending.finished.wait()
            return call
        raise StorageUnavailable

    async def _begin(self, access: PrivateChannelAccess, guard: Guard) -> None:
        call = Call(
            channel_id=access.channel.id,
            message_id=self._system_messages.new_id(),
            created_at=self._core.clock.now_ms(),
            recipients=access.recipients,
            participants=[access.user_id],
            empty_until=math.inf,
        )
        message = Message(
            id=call.message_id,
            channel_id=call.channel_id,
            author_id=access.user_id,
            type=MessageType.CALL.value,
            content="",
            extra=MessageExtra(call=call.told()),
        )
        others = [user_id for user_id in access.recipients if user_id != access.user_id]

        def unit(connection: sqlite3.Connection) -> Any:
            if not people.insert(connection, call.channel_id, call.message_id):
                return None
            written = self._system_messages.write(connection, message, recipients=access.recipients, notified=others)
            if written is None:
                raise ApiError(ErrorCode.UNKNOWN_CHANNEL)
            return written

        def then(written: Any) -> None:
            if written is None:
                return
            call.empty_until = trio.current_time() + RINGING_SECONDS
            self._active.by_channel[call.channel_id] = call
            self._system_messages.publish(access, written)
            data = self._active.object_of(call, created=True)
            self._core.bus.publish(Event(EventName.CALL_CREATE, data, ToAccounts(call.recipients)))
            self._wake.set()

        await self._core.database.write(unit, then, guard=guard)
        # If it was another caller's call, and is over by now, its end must get a turn.
        await trio.lowlevel.checkpoint()

    # Going on

    def _participants_changed(self, channel_id: int) -> None:
        """An account came to a call, or left it; the others hear of it, unless the call is over with it."""
        call = self._active.by_channel.get(channel_id)
        if call is None:
            return
        connected = self._voice_states.accounts_in(channel_id)
        if not connected:
            self._over(call)
            return
        call.empty_until = math.inf
        self._stop_ringing(call, connected)
        self._tell(call)
        newcomers = [user_id for user_id in connected if user_id not in call.participants]
        if newcomers:
            call.participants.extend(newcomers)
            self._grown.append(call)
        self._wake.set()

    def _stop_ringing(self, call: Call, user_ids: Sequence[int]) -> bool:
        """Returns whether any of them was being rung."""
        stopped = [user_id for user_id in user_ids if call.ringing.pop(user_id, None) is not None]
        return bool(stopped)

    def _tell(self, call: Call) -> None:
        self._core.bus.publish(Event(EventName.CALL_UPDATE, self._active.object_of(call), ToAccounts(call.recipients)))

    def _recipient_changed(self, signal: Event) -> None:
        """An account that comes to a group hears of its call; one that leaves it leaves the call."""
        if isinstance(signal.data, dict):
            call = self._active.by_channel.get(int(signal.data["channel_id"]))
            if call is not None:
                self._recipients_changed(call, int(signal.data["user"]["id"]))

    def _recipients_changed(self, call: Call, user_id: int) -> None:
        before, present = call.recipients, private_channels.recipient_ids(self._core.database.reader, call.channel_id)
        call.recipients = present
        if user_id in present and user_id not in before:
            data = self._active.object_of(call, created=True)
            self._core.bus.publish(Event(EventName.CALL_CREATE, data, ToAccounts((user_id,))))
        elif user_id in before and user_id not in present:
            if self._stop_ringing(call, [user_id]):
                self._tell(call)
            self._voice_states.leave_call(call.channel_id, user_id)
            gone = {"channel_id": str(call.channel_id)}
            self._core.bus.publish(Event(EventName.CALL_DELETE, gone, ToAccounts((user_id,))))

    # Ending

    def _over(self, call: Call) -> None:
        """Close the call to all; `run` writes it down and tells."""
        if self._active.by_channel.get(call.channel_id) is not call:
            return
        del self._active.by_channel[call.channel_id]
        self._ending[call.channel_id] = call
        self._voice_states.leave_call(call.channel_id)
        self._wake.set()

    async def run(self) -> None:
        """Write down who took part and what is over, and end what rings too long; runs until cancelled."""
        while True:
            self._wake = trio.Event()
            self._end_what_waits()
            try:
                await self._write_down()
            except StorageUnavailable:
                log.warning("the end of a call cannot be written down", calls=len(self._ending))
                await trio.sleep(RETRY_SECONDS)
                continue
            deadlines = [call.next_deadline for call in self._active.by_channel.values()]
            with trio.move_on_at(min(deadlines, default=math.inf)):
                await self._wake.wait()

    async def close(self) -> None:
        """End every call, for the server ends, and tell their accounts."""
        for call in list(self._active.by_channel.values()):
            self._over(call)
        with contextlib.suppress(StorageUnavailable):  # then the next process ends them
            await self._write_down()

    async def end_those_left_behind(self) -> None:
        """End the calls of a process that was killed, before requests are served."""
        ended_at = self._core.clock.now_ms()

        def unit(connection: sqlite3.Connection) -> int:
            left_behind = people.every(connection)
            for channel_id, message_id in left_behind:
                people.delete(connection, channel_id, message_id)
                message = messages.by_id(connection, channel_id, message_id)
                if message is not None and message.extra is not None and message.extra.call is not None:
                    ended = {**message.extra.call, "ended_timestamp": iso_timestamp(ended_at)}
                    messages.change_extra(connection, channel_id, message_id, call=ended)
            return len(left_behind)

        ended = await self._core.database.write(unit, guard=UNGUARDED)
        if ended:
            log.info("calls of the process before were ended", calls=ended)

    def _end_what_waits(self) -> None:
        now = trio.current_time()
        for call in list(self._active.by_channel.values()):
            if self._stop_ringing(call, [user_id for user_id, until in call.ringing.items() if until <= now]):
                self._tell(call)
            if call.empty_until <= now:
                self._over(call)

    async def _write_down(self) -> None:
        while self._grown:
            call = self._grown[0]
            if self._active.by_channel.get(call.channel_id) is call:
                await self._write(call, None)
            # Those that are over are written once more below.
            with contextlib.suppress(IndexError):
                self._grown.popleft()
        while self._ending:
            call = next(iter(self._ending.values()))
            await self._write(call, self._core.clock.now_ms())

    async def _write(self, call: Call, ended_at: int | None) -> None:
        told = call.told(ended_at=ended_at)

        def unit(connection: sqlite3.Connection) -> StoredMessages | None:
            if ended_at is not None:
                people.delete(connection, call.channel_id, call.message_id)
            changed = messages.change_extra(connection, call.channel_id, call.message_id, call=told)
            return None if changed is None else with_context(connection, [changed])

        def then(stored: StoredMessages | None) -> None:
            if stored is not None:
                self._publish_message(call, stored)
            if ended_at is not None and self._ending.get(call.channel_id) is call:
                del self._ending[call.channel_id]
                gone = {"channel_id": str(call.channel_id)}
                self._core.bus.publish(Event(EventName.CALL_DELETE, gone, ToAccounts(call.recipients)))
                call.finished.set()

        await self._core.database.write(unit, then, guard=UNGUARDED)

    def _publish_message(self, call: Call, stored: StoredMessages) -> None:
        views = (self._conversations.find(user_id, call.channel_id) for user_id in call.recipients)
        access = next((view for view in views if view is not None), None)
        if access is not None:
            self._core.bus.publish(message_updated(access, stored, self._core.media_addresses))
