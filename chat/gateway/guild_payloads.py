"""A guild as a session receives it whole: in Ready, in Guild Create, in Guild Sync, or as an unavailable stub."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from chat.domain.guild_states import GuildState, GuildStates
from chat.domain.objects.guild_ready import guild_ready_object, unavailable_guild
from chat.domain.presences import Presences
from chat.domain.voice_states import VoiceStates
from chat.gateway.rooms import GuildRoom
from chat.gateway.session import GatewaySession
from chat.registries.events import EventName


class ThreadsShown(Protocol):
    """Knows the threads of guilds."""

    def shown_to(self, state: GuildState, user_id: int, *, joined_only: bool) -> Sequence[Mapping[str, Any]]:
        """The active threads of a guild that an account sees, or of those the ones it is in."""
        ...

    def any_below(self, state: GuildState, channel_ids: frozenset[int]) -> bool:
        """Whether there are active threads below any of these channels."""
        ...


class NoThreads:
    """For those who know of no threads."""

    def shown_to(self, state: GuildState, user_id: int, *, joined_only: bool) -> Sequence[Mapping[str, Any]]:
        """None."""
        return ()

    def any_below(self, state: GuildState, channel_ids: frozenset[int]) -> bool:
        """None."""
        return False


class GuildPayloads:
    """Builds the guild objects of wire facts 1.6 for one session at a time."""

    def __init__(
        self,
        guild_states: GuildStates,
        presences: Presences,
        voice_states: VoiceStates,
        threads_shown: ThreadsShown | None = None,
    ) -> None:
        self._guild_states = guild_states
        self._presences = presences
        self._voice_states = voice_states
        self._threads: ThreadsShown = NoThreads() if threads_shown is None else threads_shown

    def is_open_to(self, state: GuildState, session: GatewaySession) -> bool:
        """Whether the guild is available to the session's account, and known to this node at all."""
        return state.id not in self._guild_states.missing_guild_ids and not state.unavailable_for(session.is_staff)

    def whole(self, state: GuildState, session: GatewaySession, *, full_users: bool) -> dict[str, Any]:
        """The guild ready object; members' users are cut to their id unless `full_users`."""
        guild_id = state.guild.id
        threads = self._shown_to(state, session) if session.threads else ()
        return guild_ready_object(
            state,
            user_id=session.user_id,
            threads=session.threads,
            shown_threads=threads,
            full_users=full_users,
            voice_states=self._voice_states.of_guild(guild_id, seen_by=session.user_id),
            online_count=self._presences.online_count(guild_id),
        )

    def on_joining(self, room: GuildRoom, session: GatewaySession) -> tuple[EventName, dict[str, Any]]:
        """What a session hears of a guild that it joins or that changes its availability: Guild Create, or Guild Delete
        with the unavailable stub."""
        if self.is_open_to(room.state, session):
            return EventName.GUILD_CREATE, self.whole(room.state, session, full_users=True)
        return EventName.GUILD_DELETE, unavailable_guild(room.state)

    def any_threads_below(self, state: GuildState, channel_ids: frozenset[int]) -> bool:
        """Whether there are active threads below any of these channels."""
        return self._threads.any_below(state, channel_ids)

    def threads_below(
        self, state: GuildState, session: GatewaySession, channel_ids: frozenset[int]
    ) -> dict[str, Any] | None:
        """Thread List Sync for a session that sees these channels now; None where there is nothing to tell."""
        threads = [thread for thread in self._shown_to(state, session) if int(thread["parent_id"]) in channel_ids]
        if not threads:
            return None
        return {
            "guild_id": str(state.id),
            "channel_ids": [str(channel_id) for channel_id in sorted(channel_ids)],
            "threads": threads,
            "members": [thread["member"] for thread in threads if "member" in thread],
        }

    def _shown_to(self, state: GuildState, session: GatewaySession) -> Sequence[Mapping[str, Any]]:
        return self._threads.shown_to(state, session.user_id, joined_only=not session.bot)

    def sync(self, room: GuildRoom, session: GatewaySession) -> dict[str, Any]:
        """Guild Sync: the whole guild with full users."""
        return self.whole(room.state, session, full_users=True)

    def in_ready(self, guild_id: int, session: GatewaySession) -> dict[str, Any]:
        """An entry of Ready's `guilds`: for a user the whole guild, for a bot or a closed guild the stub."""
        state = self._guild_states.get(guild_id)
        if state is None:
            return {"id": str(guild_id), "unavailable": True}
        if not self.is_open_to(state, session):
            return unavailable_guild(state)
        if session.bot:
            return {"id": str(guild_id), "unavailable": True}
        return self.whole(state, session, full_users=False)
