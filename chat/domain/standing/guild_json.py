"""A guild as the gateway sends it whole: an entry of Ready's `guilds`, Guild Create, Guild Sync (gateway.md, Guild
payloads).

It has the guild object's members at the top level, as older clients read them, and once more under `properties`, as
newer ones do. Thousands of sessions begin with the same guilds, so what they share of one is encoded once and joined
with what is the session's own.
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

import orjson

from chat import wire
from chat.classes import define
from chat.domain.standing.guild_objects import EMOJIS, STICKERS, membership_object
from chat.domain.standing.user_objects import partial_user
from chat.store.guilds.members import ROLE_SETS_KEPT, Member

if TYPE_CHECKING:
    from chat.domain.standing.guild_state import GuildState

_REST: Final = b'%b,"member_count":%%d,"online_count":%%d,"presences":[],"voice_states":%b,"joined_at":%b,"threads":%b}'
"""Of a guild after its beginning: members, voice states, when its receiver joined, threads. `GuildJson.rest` comes of
it."""

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


@define(eq=False)
class GuildJson:
    """A guild for one session, whole but for how many members it has and how many of them are online."""

    guild_id: int
    member_count: int
    beginning: bytes
    """Up to its members; thousands of sessions share it."""
    rest: bytes
    """From there on, with `%d` for the number of members and for that of those online."""
    user_ids: Collection[int]
    """Who is among `members`."""

    def with_online_count(self, online_count: int) -> bytes:
        """All of it."""
        return self.beginning + self.rest % (self.member_count, online_count)


OwnGuild = tuple["GuildState", bytes, Member, bytes]
"""The same where its receiver is told of no member but itself, as most are: the guild, its `beginning`, and the
membership with its `joined_at`, of which `own_rest` makes the rest."""


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
    beginning = state.encoded.beginning(state, seen, threads=threads)
    rest = _rest([*objects.values()], voice_states, joined_at, shown_threads)
    return GuildJson(state.id, state.member_count, beginning, rest, tuple(objects))


def _rest(*parts: object) -> bytes:
    return _REST % tuple([orjson.dumps(part).replace(b"%", b"%%") for part in parts])


def own_rest(state: GuildState, member: Member, joined_at: bytes, online_count: int) -> bytes:
    """The end of a guild in Ready for a member that is not timed out, is in no active thread and is told of no one in
    voice. The user is reduced to its id; `joined_at` is the member's, as the wire has it."""
    if member[_SHOWN] == _PLAIN:
        roles = _encoded_ids(member.role_ids)
        return _PLAIN_REST % (member.user_id, roles, joined_at, state.member_count, online_count, joined_at)
    own = {"user": {"id": str(member.user_id)}, **state.membership_object(member)}
    return _rest([own], [], own["joined_at"], []) % (state.member_count, online_count)


_SHOWN: Final = slice(Member._fields.index("nick"), Member._fields.index("mention_flags") + 1)
"""What a member object shows of a membership besides the account, the roles and when it began."""

_PLAIN: Final = Member(0, 0, 0)[_SHOWN]
"""Most members: `own_rest` is made for a whole Ready of them in a sixth of the time."""


def _plain_rest() -> bytes:
    """`own_rest` of plain members, with a place for each thing in which they differ."""
    own = {
        "user": {"id": "%d"},
        **membership_object(Member(0, 0, 0), timed_out=False),
        "roles": "%b",
        "joined_at": "%b",
    }
    encoded = orjson.dumps([own]).replace(b'"roles":"%b"', b'"roles":%b')
    return _REST % (encoded, b"[]", b'"%b"', b"[]")


_PLAIN_REST: Final = _plain_rest()


@functools.lru_cache(maxsize=ROLE_SETS_KEPT)
def _encoded_ids(ids: frozenset[int]) -> bytes:
    return orjson.dumps([str(each) for each in sorted(ids)])


def _members(state: GuildState, user_ids: Iterable[int], full_users: bool) -> dict[int, wire.MemberInReady]:
    objects: dict[int, wire.MemberInReady] = {}
    for user_id in user_ids:
        member = None if user_id in objects else state.member(user_id)
        if member is None:
            continue
        account = state.account(user_id) if full_users else None
        user: wire.PartialUser | wire.AccountReference
        user = {"id": str(user_id)} if account is None else partial_user(account)
        objects[user_id] = {"user": user, **state.membership_object(member)}
    return objects
