"""A guild as the gateway sends it whole: an entry of Ready's `guilds`, Guild Create, Guild Sync (gateway.md, Guild
payloads).

It has the guild object's members at the top level, as older clients read them, and once more under `properties`, as
newer ones do. Thousands of sessions begin with the same guilds, so what they share of one is encoded once and joined
with what is the session's own.
"""

from __future__ import annotations

import operator
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

import attrs
import orjson

from chat.domain.standing.guild_objects import EMOJIS, STICKERS
from chat.domain.standing.user_objects import partial_user

if TYPE_CHECKING:
    from chat.domain.standing.guild_state import GuildState
    from chat.store.guilds.members import Member

SIGHTS_KEPT: Final = 8
"""Sets of channels for which a guild keeps its JSON: most of its members see one of few."""


class EncodedGuild:
    """What sessions of a guild share of its JSON."""

    def __init__(self) -> None:
        self._around: dict[bool, tuple[tuple[object, ...], bytes, bytes]] = {}
        self._beginnings: dict[tuple[frozenset[int], bool], tuple[int, bytes]] = {}

    def beginning(self, state: GuildState, seen: frozenset[int], *, threads: bool) -> bytes:
        """The guild up to its members, with the channels among `seen`."""
        known = self._beginnings.get((seen, threads))
        if known is None or known[0] != state.version:
            if len(self._beginnings) >= SIGHTS_KEPT:
                self._beginnings.clear()
            before, after = self._around_channels(state, threads)
            channels = orjson.dumps(state.channel_objects(seen, threads=threads))
            known = self._beginnings[seen, threads] = state.version, before + channels + after
        return known[1]

    def _around_channels(self, state: GuildState, threads: bool) -> tuple[bytes, bytes]:
        """These stay when somebody writes a message, which is noted in its channel's object."""
        roles = state.role_objects(threads=threads)
        shown = state.guild_object(), roles, state.expression_objects(EMOJIS), state.expression_objects(STICKERS)
        known = self._around.get(threads)
        if known is None or not all(map(operator.is_, known[0], shown)):
            properties, encoded_roles, emojis, stickers = map(orjson.dumps, shown)
            known = self._around[threads] = (
                shown,
                b'%b,"properties":%b,"roles":%b,"channels":' % (properties[:-1], properties, encoded_roles),
                b',"emojis":%b,"stickers":%b,"members":' % (emojis, stickers),
            )
        return known[1], known[2]

    def __len__(self) -> int:
        """How many bytes are kept."""
        around = sum(len(before) + len(after) for _, before, after in self._around.values())
        return around + sum(len(beginning) for _, beginning in self._beginnings.values())


@attrs.define(eq=False)
class GuildJson:
    """A guild for one session, whole but for how many of its members are online."""

    guild_id: int
    beginning: bytes
    """Up to its members; thousands of sessions share it."""
    before: bytes
    """From there to the number that are online."""
    after: bytes
    user_ids: Collection[int]
    """Who is among `members`."""

    def with_online_count(self, online_count: int) -> bytes:
        """All of it."""
        return b"".join((self.beginning, self.before, b"%d" % online_count, self.after))


def guild_json(
    state: GuildState,
    *,
    user_id: int,
    seen: frozenset[int],
    threads: bool,
    shown_threads: Sequence[Mapping[str, Any]],
    full_users: bool,
    voice_states: Sequence[Mapping[str, Any]],
) -> GuildJson:
    """The guild for a session of `user_id`.

    `seen` are the channels that the account sees. `threads` says whether the session has thread access,
    `shown_threads` are the threads that it is told of; `voice_states` are the wire objects of everyone in voice in this
    guild; with `full_users` false the `user` of each member is reduced to its id. `members` holds the receiver's own
    member and every participant in voice.
    """
    objects = _members(state, [user_id, *(int(entry["user_id"]) for entry in voice_states)], full_users)
    joined_at = objects[user_id]["joined_at"] if user_id in objects else None
    return GuildJson(
        state.id,
        state.encoded.beginning(state, seen, threads=threads),
        b'%b,"member_count":%d,"online_count":' % (orjson.dumps([*objects.values()]), state.member_count),
        b',"presences":[],"voice_states":%b,"joined_at":%b,"threads":%b}'
        % (
            orjson.dumps(voice_states) if voice_states else b"[]",
            orjson.dumps(joined_at),
            orjson.dumps(shown_threads) if shown_threads else b"[]",
        ),
        tuple(objects),
    )


@attrs.define(eq=False)
class KeptReady:
    """A guild in the Ready of an account that is in no active thread, while nobody is in voice, which is as a rule so:
    with all that it was made of."""

    _member: Member
    _members_version: int
    _member_count: int
    _seen: frozenset[int]
    _threads: bool
    _version: int
    _json: GuildJson

    def now(self, state: GuildState, seen: frozenset[int], threads: bool) -> GuildJson | None:
        """The guild as it is now; None where more of it changed than what all its members see. `seen` has to be the
        very same set."""
        if self._seen is not seen or self._threads is not threads or self._member_count != state.member_count:
            return None
        if self._members_version != state.members_version:
            if state.member(self._member.user_id) is not self._member:
                return None
            self._members_version = state.members_version
        if self._version != state.version:
            before = self._json
            beginning = state.encoded.beginning(state, seen, threads=threads)
            self._json = GuildJson(state.id, beginning, before.before, before.after, before.user_ids)
            self._version = state.version
        return self._json


def kept_ready(state: GuildState, member: Member, seen: frozenset[int], threads: bool) -> tuple[KeptReady, GuildJson]:
    """The guild of a member without active threads and voice, as Ready has it."""
    json = guild_json(
        state, user_id=member.user_id, seen=seen, threads=threads, shown_threads=(), full_users=False, voice_states=()
    )
    return KeptReady(member, state.members_version, state.member_count, seen, threads, state.version, json), json


def _members(state: GuildState, user_ids: Iterable[int], full_users: bool) -> dict[int, dict[str, Any]]:
    objects: dict[int, dict[str, Any]] = {}
    for user_id in user_ids:
        member = None if user_id in objects else state.member(user_id)
        if member is None:
            continue
        account = state.account(user_id) if full_users else None
        user = {"id": str(user_id)} if account is None else partial_user(account)
        objects[user_id] = state.member_object(member, user)
    return objects
