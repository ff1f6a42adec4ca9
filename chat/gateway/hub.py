"""The hub: the bus's subscriber, which turns audiences into sessions and keeps sessions in the rooms of their guilds.

An audience is settled at the moment of publication, that is, in commit order and on the state of that commit; delivery
follows through the fan-out queue. So a session that connects later does not receive an earlier event, and a member who
lost sight of a channel still receives what was said before.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import attrs
import orjson

from chat.bus.audience import (
    Mentions,
    ToAccounts,
    ToBot,
    ToChannel,
    ToGuild,
    ToPresenceSubscribers,
    ToSession,
    ToThread,
    ToUnsubscribed,
    is_for,
)
from chat.bus.bus import (
    Bus,
    CredentialsRevoked,
    Event,
    GuildAvailabilityChanged,
    GuildChannelsChanged,
    GuildDeleted,
    GuildJoined,
    GuildLeft,
    GuildStateChanged,
    SavedPresenceChanged,
    Turn,
)
from chat.classes import define
from chat.domain.presence.account_presence import taking_on
from chat.domain.presence.presences import Presences
from chat.domain.presence.voice_states import VoiceStates
from chat.domain.standing.channel_objects import channel_without_threads
from chat.domain.standing.guild_states import GuildStates
from chat.gateway.fanout import Delivery, Fanout
from chat.gateway.guild_payloads import GuildPayloads
from chat.gateway.reaction_debounce import ReactionDebounce
from chat.gateway.rooms import GuildRoom, Recipients, Sight
from chat.gateway.session import GatewaySession
from chat.gateway.session_table import SessionTable
from chat.gateway.subscriptions import Subscriptions
from chat.protocol.frames import OutgoingEvent
from chat.registries.channel_types import CHANNEL_THREADS_TYPES, ChannelType
from chat.registries.event_rules import EVENTS, NEVER_RETAINED
from chat.registries.events import (
    PASSIVE_WHEN_MENTIONED,
    PASSIVE_WHEN_OWN,
    SENT_WHILE_UNAVAILABLE,
    SHARD_ZERO_EXEMPT,
    THREAD_EVENTS,
    EventName,
)
from chat.registries.limits import PASSIVE_ROLE_MENTIONS
from chat.store.guilds.members import Member


class WrongAudience(Exception):
    """An event was published to an audience of another kind than its row in the registry says."""


def outgoing(name: EventName, data: object) -> OutgoingEvent:
    """Encode an event once, for all its receivers."""
    return OutgoingEvent(name, orjson.dumps(data), retained=name not in NEVER_RETAINED)


@define(eq=False)
class Hub:
    """Knows every room, and finds the receivers of each event."""

    _guild_states: GuildStates
    _presences: Presences
    _voice_states: VoiceStates
    _table: SessionTable
    _fanout: Fanout
    _subscriptions: Subscriptions
    guild_payloads: GuildPayloads
    rooms: dict[int, GuildRoom] = attrs.field(factory=dict, init=False)
    reactions: ReactionDebounce = attrs.field(init=False)

    def __attrs_post_init__(self) -> None:
        self.reactions = ReactionDebounce(self.send)

    # What the bus tells

    def listen(self, bus: Bus) -> None:
        """Find the receivers of each event, and apply changes of state to sessions."""
        bus.backlog = self._fanout.backlog
        bus.subscribe(Event, self._accept_event, Turn.DELIVERY)
        bus.subscribe(GuildJoined, self._connect_account, Turn.DELIVERY)
        bus.subscribe(GuildLeft, self._disconnect_account, Turn.DELIVERY)
        bus.subscribe(GuildDeleted, self._close_room, Turn.DELIVERY)
        bus.subscribe(GuildStateChanged, self._refresh, Turn.DELIVERY)
        bus.subscribe(GuildChannelsChanged, self._tell_channels, Turn.DELIVERY)
        bus.subscribe(GuildAvailabilityChanged, self._change_availability, Turn.DELIVERY)
        bus.subscribe(SavedPresenceChanged, self._take_on_presence, Turn.DELIVERY)
        bus.subscribe(CredentialsRevoked, self._end_sessions, Turn.DELIVERY)

    def _take_on_presence(self, signal: SavedPresenceChanged) -> None:
        for session in self._table.of_user(signal.user_id):
            session.presence = taking_on(session.presence, signal.settings)

    def _end_sessions(self, signal: CredentialsRevoked) -> None:
        for session in list(self._table.of_user(signal.user_id)):
            if signal.session_id_hash is None or session.session_id_hash == signal.session_id_hash:
                self._table.end(session)

    # Rooms

    def connect(
        self, session: GatewaySession, guild_id: int, member: Member | None = None, *, told: bool = True
    ) -> GuildRoom | None:
        """Put the session into the guild's room; None when the guild cannot be read. `member` and `told` as for the
        room."""
        room = self.rooms.get(guild_id)
        if room is None:
            state = self._guild_states.get(guild_id)
            if state is None:
                return None
            room = GuildRoom(state, self._presences, self._voice_states)
        room.connect(session, member, told=told)
        if guild_id not in self.rooms:
            self._guild_states.hold(guild_id)
            self.rooms[guild_id] = room
        session.guild_ids.add(guild_id)
        self._presences.account_connected({guild_id}, session.user_id)
        return room

    def open_room(self, session: GatewaySession, guild_id: int) -> GuildRoom | None:
        """The room of a guild that the session is connected to and that is available to it; None otherwise."""
        if session.ended or guild_id not in session.guild_ids:
            return None
        room = self.rooms.get(guild_id)
        return None if room is None or room.state.unavailable_for(session.is_staff) else room

    def disconnect(self, session: GatewaySession, guild_id: int) -> None:
        """Take the session out of the guild's room, and forget a room that is empty."""
        room = self.rooms.get(guild_id)
        if room is None:
            return
        room.disconnect(session)
        self._subscriptions.forget(session, guild_id)
        if not room.accounts:
            del self.rooms[guild_id]
            self._guild_states.release(guild_id)

    def disconnect_everywhere(self, session: GatewaySession) -> None:
        """The session ends: no room knows it any more."""
        for guild_id in list(session.guild_ids):
            self.disconnect(session, guild_id)

    def take_up(self, session: GatewaySession, guild_ids: Iterable[int]) -> None:
        """Connect a session that an earlier process retained to its account's guilds, as far as it knows them.

        Those that it was not told of yet are still to join; it hears at once of those that the account has left.
        """
        present = {guild_id for guild_id in guild_ids if session.is_on_shard(guild_id)}
        known, session.guild_ids = session.guild_ids, set()
        for guild_id in sorted(known & present):
            self.connect(session, guild_id, told=False)
        for guild_id in sorted((known | session.joining_guild_ids) - present):
            self.send((session,), EventName.GUILD_DELETE, {"id": str(guild_id)})
        session.joining_guild_ids = frozenset(present - session.guild_ids)

    def send(self, sessions: Iterable[GatewaySession], name: EventName, data: object) -> None:
        """Dispatch to exactly these sessions, after the events that are queued already."""
        receivers = tuple(sessions)
        if receivers:
            self._fanout.queue(Delivery(outgoing(name, data), receivers))

    # Audiences

    def _accept_event(self, event: Event) -> None:
        if not is_for(event.name, event.audience):  # fails closed: nobody hears it, and the bus logs it
            raise WrongAudience(
                f"{event.name} is not for {event.audience}: its row in chat.registries.event_rules differs"
            )
        receivers = self._receivers(event)
        if event.only_threads:
            receivers = tuple(session for session in receivers if session.threads)
        if not receivers:
            return
        if event.name == EventName.MESSAGE_REACTION_ADD and isinstance(event.audience, ToAccounts):
            receivers = self.reactions.gather(event, receivers)
        elif self.reactions.windows:
            self.reactions.before(event)
        if not receivers:
            return
        thread_event = None if event.thread_data is None else outgoing(event.name, event.thread_data)
        data = self._with_presences(event.data) if event.name is EventName.THREAD_MEMBERS_UPDATE else event.data
        self._fanout.queue(
            Delivery(outgoing(event.name, data), receivers, event.mentions, thread_event, event.ignoring_session)
        )

    def _with_presences(self, data: object) -> object:
        """The members who joined a thread, with their presences (gateway.md, Audiences)."""
        if not isinstance(data, dict) or "added_members" not in data:
            return data
        added = [
            {**entry, "presence": self._presences.presence_object(int(entry["user_id"]))}
            for entry in data["added_members"]
        ]
        return {**data, "added_members": added}

    def _receivers(self, event: Event) -> tuple[GatewaySession, ...]:
        match event.audience:
            case ToChannel(guild_id, channel_id, message_id, permission):
                room = self._room(guild_id, event.name)
                if room is None:
                    return ()
                recipients = (
                    room.recipients(channel_id, permission)
                    if message_id is None
                    else room.readers(channel_id, message_id)
                )
                return self._without_decliners(guild_id, self._with_passive(room, recipients, event), event)
            case ToThread(guild_id, parent_id, member_ids, message_id, only, without):
                room = self._room(guild_id, event.name)
                if room is None or (only is not None and only not in room.accounts):
                    return ()
                recipients = room.recipients(parent_id) if message_id is None else room.readers(parent_id, message_id)
                receivers = self._without_decliners(guild_id, self._with_passive(room, recipients, event), event)
                return tuple(
                    session
                    for session in receivers
                    if session.threads
                    and room.is_in_thread(session, parent_id, member_ids)
                    and (only is None or session.user_id == only)
                    and session.user_id != without
                )
            case ToGuild(guild_id, permission):
                room = self._room(guild_id, event.name)
                return () if room is None else self._with_passive(room, room.recipients(0, permission), event)
            case ToAccounts(user_ids, threads):
                everywhere = event.name in SHARD_ZERO_EXEMPT or _names_guild(event)
                of_threads = threads or event.name in THREAD_EVENTS
                return tuple(
                    session
                    for user_id in user_ids
                    for session in self._table.of_user(user_id)
                    if (everywhere or session.hears_account_events) and (session.threads or not of_threads)
                )
            case ToPresenceSubscribers(user_id, without):
                subscribers = self._subscriptions.presence_subscribers(user_id)
                return tuple(session for session in subscribers if session.user_id not in without)
            case ToUnsubscribed(user_id, of_user_id):
                subscribed = self._subscriptions.presence_subscribers(of_user_id)
                return tuple(
                    session
                    for session in self._table.of_user(user_id)
                    if session.hears_account_events and session not in subscribed
                )
            case ToBot(user_id, of_guild):
                return tuple(
                    session
                    for session in self._table.of_user(user_id)
                    if (session.hears_account_events if of_guild is None else session.is_on_shard(of_guild))
                )
            case ToSession(session_id, of_user):
                session = self._table.get(session_id)
                return () if session is None or of_user not in (None, session.user_id) else (session,)

    def _room(self, guild_id: int, name: EventName) -> GuildRoom | None:
        room = self.rooms.get(guild_id)
        if room is None or guild_id in self._guild_states.missing_guild_ids:
            return None
        return room if room.available_to_members or name in SENT_WHILE_UNAVAILABLE else None

    def _with_passive(self, room: GuildRoom, recipients: Recipients, event: Event) -> tuple[GatewaySession, ...]:
        """Add the passive sessions that receive this event although they are passive (gateway.md, Passive sessions)."""
        if not recipients.passive:
            return recipients.full
        if EVENTS[event.name].passive:
            return recipients.full + recipients.passive
        mentions = event.mentions
        if mentions is not None and event.name in PASSIVE_WHEN_MENTIONED:
            return recipients.full + tuple(
                session for session in recipients.passive if _is_mentioned(room, session, mentions)
            )
        if event.name in PASSIVE_WHEN_OWN:
            subject = _subject(event)
            return recipients.full + tuple(session for session in recipients.passive if session.user_id == subject)
        return recipients.full

    def _without_decliners(
        self, guild_id: int, receivers: tuple[GatewaySession, ...], event: Event
    ) -> tuple[GatewaySession, ...]:
        """Leave out sessions that do not want to hear who is typing (gateway.md, Lazy Request)."""
        declined = self._subscriptions.typing_decliners(guild_id) if event.name == EventName.TYPING_START else ()
        return tuple(session for session in receivers if session not in declined) if declined else receivers

    # Membership and availability

    def _connect_account(self, joined: GuildJoined) -> None:
        guild_id, user_id = joined.guild_id, joined.user_id
        for session in self._table.of_user(user_id):
            if not session.is_on_shard(guild_id):
                continue
            room = self.connect(session, guild_id)
            if room is None:
                continue
            name, data = self.guild_payloads.on_joining(room, session)
            self.send((session,), name, data)

    def _disconnect_account(self, left: GuildLeft) -> None:
        sessions = [
            session
            for session in self._table.of_user(left.user_id)
            if left.guild_id in session.guild_ids or left.guild_id in session.joining_guild_ids
        ]
        self._disconnect_all(sessions, left.guild_id)
        self.send(sessions, EventName.GUILD_DELETE, {"id": str(left.guild_id)})

    def _close_room(self, deleted: GuildDeleted) -> None:
        guild_id = deleted.guild_id
        room = self.rooms.get(guild_id)
        sessions = [] if room is None else room.sessions
        sessions += [session for session in self._table if guild_id in session.joining_guild_ids]
        self._disconnect_all(sessions, guild_id)
        self.send(sessions, EventName.GUILD_DELETE, {"id": str(guild_id), "guild_id": str(guild_id)})

    def _disconnect_all(self, sessions: Iterable[GatewaySession], guild_id: int) -> None:
        for session in sessions:
            session.joining_guild_ids -= {guild_id}
            self.disconnect(session, guild_id)

    def _refresh(self, changed: GuildStateChanged) -> None:
        room = self._room_renewed(changed.guild_id)
        if room is None:
            return
        sights = room.look_again(changed.user_id)
        self._subscriptions.guild_changed(changed.guild_id)
        if room.available_to_members:
            self._tell_sights(room, sights, changed.deleted)
        # Only now do the accounts that see a voice channel, and no others, know of it.
        self._voice_states.permissions_changed(changed.guild_id, changed.user_id)

    def _room_renewed(self, guild_id: int) -> GuildRoom | None:
        """The room, with its state read again from the store if it was renewed."""
        room = self.rooms.get(guild_id)
        if room is not None:
            room.state = self._guild_states.get(guild_id) or room.state
        return room

    def _tell_sights(
        self, room: GuildRoom, sights: Sequence[Sight], deleted: Mapping[int, Mapping[str, object]]
    ) -> None:
        """Channel Delete for what accounts no longer see, what is inside a category first; Channel Create for what
        they see now, categories first."""
        lost: dict[int, list[GatewaySession]] = {}
        gained: dict[int, list[GatewaySession]] = {}
        for sight in sights:
            sessions = room.sessions_of(sight.user_id)
            for told, channel_ids in ((lost, sight.lost), (gained, sight.gained)):
                for channel_id in channel_ids:
                    told.setdefault(channel_id, []).extend(sessions)
        for channel_id in sorted(lost, key=lambda channel_id: (_is_category(room, channel_id, deleted), channel_id)):
            self._tell_channel(room, EventName.CHANNEL_DELETE, channel_id, lost[channel_id], deleted)
        for channel_id in sorted(gained, key=lambda channel_id: (not _is_category(room, channel_id, {}), channel_id)):
            self._tell_channel(room, EventName.CHANNEL_CREATE, channel_id, gained[channel_id], {})
            for voice_state in self._voice_states.of_channel(channel_id):
                self.send(gained[channel_id], EventName.VOICE_STATE_UPDATE, voice_state)
        self._tell_threads(room, sights)

    def _tell_threads(self, room: GuildRoom, sights: Sequence[Sight]) -> None:
        """Thread List Sync for what stands below the channels that accounts see now; Thread Delete for private threads
        that those do not see any longer who managed threads and are not in them."""
        gained = frozenset().union(*(sight.gained | sight.moderation_gained for sight in sights))
        if gained and self.guild_payloads.threads.any_below(room.state, gained):
            for sight in sights:
                self._show_threads(room, sight)
        lost = frozenset().union(*(sight.moderation_lost for sight in sights))
        private = self.guild_payloads.threads.private_below(room.state, lost) if lost else ()
        for thread in private:
            for sight in sights:
                if thread.parent_id in sight.moderation_lost and sight.user_id not in thread.member_ids:
                    sessions = room.sessions_of(sight.user_id)
                    knowing = [session for session in sessions if session.threads]
                    self.send(knowing, EventName.THREAD_DELETE, thread.gone)

    def _show_threads(self, room: GuildRoom, sight: Sight) -> None:
        for session in room.sessions_of(sight.user_id):
            # A session that is shown only the threads that it is in sees no others by managing them.
            every = self.shows_every_thread(session, room.guild_id)
            channel_ids = sight.gained | sight.moderation_gained if every else sight.gained
            if session.threads and channel_ids:
                data = self.guild_payloads.threads_below(room.state, session, channel_ids, every=every)
                if data is not None:
                    self.send((session,), EventName.THREAD_LIST_SYNC, data)

    def shows_every_thread(self, session: GatewaySession, guild_id: int) -> bool:
        """Whether the session is told of all active threads that it sees, and not only of those that it is in: bots,
        and who asked for it (gateway.md, Lazy Request)."""
        interest = self._subscriptions.interest(session, guild_id)
        return session.bot or (interest is not None and interest.threads)

    def _tell_channel(
        self,
        room: GuildRoom,
        name: EventName,
        channel_id: int,
        sessions: Sequence[GatewaySession],
        deleted: Mapping[int, Mapping[str, object]],
    ) -> None:
        if channel_id in room.state.channels:
            whole: Mapping[str, object] = room.state.channel_object(channel_id, threads=True)
            without: Mapping[str, object] = room.state.channel_object(channel_id, threads=False)
        elif channel_id in deleted:
            whole = deleted[channel_id]
            without = channel_without_threads(whole)
        else:
            return
        if whole["type"] in CHANNEL_THREADS_TYPES:
            sessions = [session for session in sessions if session.threads]
        if sessions:
            self._fanout.queue(Delivery(outgoing(name, without), tuple(sessions), thread_event=outgoing(name, whole)))

    def _tell_channels(self, changed: GuildChannelsChanged) -> None:
        """Send Channel Update Bulk with the channels that each session sees; a session that sees none gets nothing."""
        guild_id, channel_ids = changed.guild_id, changed.channel_ids
        room = self._room(guild_id, EventName.CHANNEL_UPDATE_BULK)
        if room is None:
            return
        alike: dict[tuple[frozenset[int], bool], list[GatewaySession]] = {}
        for user_id, account in room.accounts.items():
            seen = room.seen_by(user_id)
            for session in account.sessions:
                alike.setdefault((seen, session.threads), []).append(session)
        for (seen, threads), receivers in alike.items():
            told = [
                channel
                for channel in room.state.channel_objects(seen, threads=threads)
                if channel_ids is None or int(channel["id"]) in channel_ids
            ]
            if told:
                self.send(receivers, EventName.CHANNEL_UPDATE_BULK, {"guild_id": str(guild_id), "channels": told})

    def _change_availability(self, changed: GuildAvailabilityChanged) -> None:
        guild_id = changed.guild_id
        room = self._room_renewed(guild_id)
        if room is None:
            return
        room.look_again()  # single channels are not told of: the guild comes whole
        self._subscriptions.guild_changed(guild_id)
        for session in room.sessions:
            every = self.shows_every_thread(session, room.guild_id)
            name, data = self.guild_payloads.on_joining(room, session, every_thread=every)
            self.send((session,), name, data)


def _is_category(room: GuildRoom, channel_id: int, deleted: Mapping[int, Mapping[str, object]]) -> bool:
    channel = room.state.channels.get(channel_id)
    kind = deleted.get(channel_id, {}).get("type") if channel is None else channel.type
    return kind == ChannelType.GUILD_CATEGORY


def _names_guild(event: Event) -> bool:
    return isinstance(event.data, dict) and event.data.get("guild_id") is not None


def _subject(event: Event) -> int:
    user = event.data.get("user") if isinstance(event.data, dict) else None
    return int(user["id"]) if isinstance(user, dict) else 0


def _is_mentioned(room: GuildRoom, session: GatewaySession, mentions: Mentions) -> bool:
    if mentions.everyone or mentions.here or session.user_id in mentions.user_ids:
        return True
    if not mentions.role_ids:
        return False
    member = room.state.member(session.user_id)
    named = sorted(mentions.role_ids)[:PASSIVE_ROLE_MENTIONS]
    return member is not None and not member.role_ids.isdisjoint(named)
