"""A guild as a session receives it whole: in Ready, in Guild Create, in Guild Sync, or as an unavailable stub."""

from __future__ import annotations

from collections.abc import KeysView, Mapping, Sequence
from typing import Any

import attrs
import orjson

from chat import wire
from chat.classes import define
from chat.clock import iso_timestamp
from chat.domain.presence.presences import Presences
from chat.domain.presence.voice_states import VoiceStates
from chat.domain.standing.guild_events import unavailable_guild
from chat.domain.standing.guild_json import GuildJson, OwnGuild, guild_json
from chat.domain.standing.guild_states import GuildState, GuildStates
from chat.domain.standing.thread_access import ThreadLookup, shown_objects
from chat.gateway.rooms import GuildRoom, RoomAccount
from chat.gateway.session import GatewaySession
from chat.registries.events import EventName
from chat.store.guilds.members import Member
from chat.store.threads import ShownThread


@define(eq=False)
class GuildPayloads:
    """Builds the guild objects of gateway.md, Guild payloads, for one session at a time."""

    _guild_states: GuildStates
    _presences: Presences
    _voice_states: VoiceStates
    threads: ThreadLookup
    """Finds the threads of guilds."""
    _with_voice: KeysView[int] = attrs.field(init=False)

    def __attrs_post_init__(self) -> None:
        self._with_voice = self._voice_states.guild_ids()

    def is_open_to(self, state: GuildState, session: GatewaySession) -> bool:
        """Whether this node knows the guild and the session's account may use it at present."""
        return state.id not in self._guild_states.missing_guild_ids and not state.unavailable_for(session.is_staff)

    def whole(self, room: GuildRoom, session: GatewaySession, *, every_thread: bool = False) -> orjson.Fragment:
        """The guild ready object of a guild that the session is connected to. People are shown the threads that they
        are in, or `every_thread` that they see."""
        shown = self._shown_to(room.state, session, every=every_thread) if session.threads else ()
        guild = self._guild(room, session, full_users=True, shown_threads=shown)
        return orjson.Fragment(guild.with_online_count(self._presences.online_count(room.guild_id)))

    def _guild(
        self,
        room: GuildRoom,
        session: GatewaySession,
        *,
        full_users: bool,
        shown_threads: Sequence[Mapping[str, Any]],
    ) -> GuildJson:
        return guild_json(
            room.state,
            user_id=session.user_id,
            seen=room.shown_to(session.user_id),
            threads=session.threads,
            shown_threads=shown_threads,
            full_users=full_users,
            voice_states=self._voice_states.of_guild(room.guild_id, seen_by=session.user_id),
        )

    def on_joining(
        self, room: GuildRoom, session: GatewaySession, *, every_thread: bool = False
    ) -> tuple[EventName, object]:
        """What a session hears of a guild that it joins or that changes its availability: Guild Create, or Guild Delete
        with the unavailable stub."""
        if self.is_open_to(room.state, session):
            return EventName.GUILD_CREATE, self.whole(room, session, every_thread=every_thread)
        return EventName.GUILD_DELETE, unavailable_guild(room.state)

    def threads_below(
        self, state: GuildState, session: GatewaySession, channel_ids: frozenset[int], *, every: bool
    ) -> Mapping[str, object] | None:
        """Thread List Sync for a session that has just come to see these channels; None if they have no threads."""
        shown = self._shown_to(state, session, every=every)
        threads = [thread for thread in shown if int(thread["parent_id"]) in channel_ids]
        if not threads:
            return None
        return {"channel_ids": [str(channel_id) for channel_id in sorted(channel_ids)], **_listed(state, threads)}

    def every_thread(self, state: GuildState, session: GatewaySession) -> Mapping[str, object]:
        """Thread List Sync of the whole guild, for a session that wants to know all its active threads."""
        return _listed(state, self._shown_to(state, session, every=True))

    def _shown_to(self, state: GuildState, session: GatewaySession, *, every: bool) -> Sequence[wire.Thread]:
        return self.threads.shown_to(state, session.user_id, joined_only=not (session.bot or every))

    def in_ready(
        self,
        room: GuildRoom,
        account: RoomAccount,
        session: GatewaySession,
        joined: Sequence[ShownThread],
        member: Member | None,
    ) -> GuildJson | OwnGuild | bytes:
        """An entry of a user's Ready: the whole guild but for its `online_count`, for a closed guild the stub. Members'
        users are cut to their id. `account` is the session's; `joined` are the active threads that it is in; `member`
        is its membership where that has just been read."""
        state = room.state
        if (state.is_closed or self._guild_states.missing_guild_ids) and not self.is_open_to(state, session):
            return orjson.dumps(unavailable_guild(state))
        if member is None:
            member = state.member(session.user_id)
        if (
            member is None
            or member.communication_disabled_until is not None  # a time-out ends by itself
            or joined
            or room.guild_id in self._with_voice
        ):
            shown = shown_objects(state, session.user_id, joined)
            return self._guild(room, session, full_users=False, shown_threads=shown)
        entrance = account.entrance
        if entrance is None or entrance.version != state.version or entrance.threads is not session.threads:
            entrance = account.look_around(state, threads=session.threads)
        if not account.joined_at:
            account.joined_at = iso_timestamp(member.joined_at).encode()
        return state, entrance.beginning, member, account.joined_at

    def unsent(self, guild_id: int, session: GatewaySession) -> bytes:
        """An entry of Ready for a guild that is sent later, or that cannot be read."""
        state = self._guild_states.get(guild_id)
        if state is not None and not self.is_open_to(state, session):
            return orjson.dumps(unavailable_guild(state))
        return orjson.dumps({"id": str(guild_id), "unavailable": True})


def _listed(state: GuildState, threads: Sequence[wire.Thread]) -> Mapping[str, object]:
    return {
        "guild_id": str(state.id),
        "threads": threads,
        "members": [thread["member"] for thread in threads if "member" in thread],
    }
