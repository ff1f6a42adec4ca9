"""A guild as the gateway sends it: whole, as an entry of Ready's `guilds`, Guild Create, Guild Sync (gateway.md, Guild
payloads), and its updates (gateway.md, Audiences).

The whole guild has the guild object's members at the top level, as older clients read them, and once more under
`properties`, as newer ones do (gateway.md, Guild payloads).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from chat.bus.audience import ToChannel, ToGuild
from chat.bus.bus import Event
from chat.clock import iso_timestamp
from chat.domain.standing.guild_objects import EMOJIS, STICKERS
from chat.domain.standing.guild_states import GuildState
from chat.domain.standing.user_objects import partial_user
from chat.registries.events import EventName
from chat.registries.guild_features import GuildFeature


def guild_updated(state: GuildState) -> Event:
    """GUILD_UPDATE with the guild object, for its members."""
    data = {**state.guild_object(), "guild_id": str(state.id)}
    return Event(EventName.GUILD_UPDATE, data, ToGuild(state.id))


def channel_updated(state: GuildState, channel_id: int) -> Event:
    """CHANNEL_UPDATE with the whole channel, for those who see it."""
    return Event(
        EventName.CHANNEL_UPDATE,
        state.channel_object(channel_id, threads=False),
        ToChannel(state.id, channel_id),
        thread_data=state.channel_object(channel_id, threads=True),
    )


def guild_ready_object(
    state: GuildState,
    *,
    user_id: int,
    threads: bool,
    shown_threads: Iterable[Mapping[str, Any]],
    full_users: bool,
    connected_to: frozenset[int] = frozenset(),
    voice_states: Iterable[Mapping[str, Any]],
    online_count: int,
) -> dict[str, Any]:
    """The guild for a session of `user_id`.

    `threads` says whether the session has thread access, `shown_threads` are the threads that it is told of;
    `connected_to` are channels that the account sees because it is in them;
    `voice_states` are the wire objects of everyone in voice in this guild; with `full_users` false the `user` of each
    member is reduced to its id. `members` holds the receiver's own member and every participant in voice. The result is
    the caller's; what hangs below it must not be altered.
    """
    properties = state.guild_object()
    own = state.member(user_id)
    participants = list(voice_states)
    return {
        **properties,
        "properties": properties,
        "roles": state.role_objects(threads=threads),
        "channels": state.channel_objects(state.visible_channels(user_id) | connected_to, threads=threads),
        EMOJIS: state.expression_objects(EMOJIS),
        STICKERS: state.expression_objects(STICKERS),
        "members": _members(state, [user_id, *(int(entry["user_id"]) for entry in participants)], full_users),
        "member_count": state.member_count,
        "online_count": online_count,
        "presences": [],
        "voice_states": participants,
        "joined_at": None if own is None else iso_timestamp(own.joined_at),
        "threads": list(shown_threads),
    }


def unavailable_guild(state: GuildState) -> dict[str, Any]:
    """The stub that stands for a guild that is closed to the session, or not sent yet."""
    stub: dict[str, Any] = {"id": str(state.id), "unavailable": True}
    if GuildFeature.UNAVAILABLE_HIDDEN in state.guild.features:
        stub["unavailable_hidden"] = True
    return stub


def _members(state: GuildState, user_ids: Iterable[int], full_users: bool) -> list[dict[str, Any]]:
    objects = []
    for user_id in dict.fromkeys(user_ids):
        member = state.member(user_id)
        if member is None:
            continue
        account = state.account(user_id) if full_users else None
        user = {"id": str(user_id)} if account is None else partial_user(account)
        objects.append(state.member_object(member, user))
    return objects
