"""What a guild keeps encoded is what it is: after every kind of change the same as of a state read afresh."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import pytest
from trio.testing import MockClock

from chat.domain.standing.guild_json import GuildJson, guild_json, own_rest
from chat.domain.standing.guild_states import GuildState, GuildStates
from chat.registries.opcodes import IdentifyFlag
from chat.store.guard import UNGUARDED
from chat.testing import ChatServer, World

PNG: Final = (
    "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJg"
    "gg=="
)

Change = tuple[str, str, Mapping[str, Any] | None]
"""Method, path with names of `ids`, and body."""

CHANGES: Final[tuple[tuple[str, Change], ...]] = (
    ("", ("PATCH", "/v1/guilds/{guild}", {"name": "Harbour"})),
    ("role", ("POST", "/v1/guilds/{guild}/roles", {"name": "crew"})),
    ("", ("PATCH", "/v1/guilds/{guild}/roles/{role}", {"name": "mates", "permissions": "2048"})),
    ("channel", ("POST", "/v1/guilds/{guild}/channels", {"name": "deck", "type": 0})),
    ("", ("PATCH", "/v1/channels/{channel}", {"name": "quarterdeck"})),
    ("", ("POST", "/v1/channels/{channel}/messages", {"content": "ahoy"})),
    ("", ("PUT", "/v1/channels/{channel}/permissions/{guild}", {"type": 0, "allow": "0", "deny": "1024"})),
    ("", ("PUT", "/v1/channels/{channel}/permissions/{role}", {"type": 0, "allow": "1024", "deny": "0"})),
    ("", ("PUT", "/v1/guilds/{guild}/members/{bob}/roles/{role}", None)),
    ("", ("PATCH", "/v1/guilds/{guild}/members/@me", {"nick": "Al"})),
    ("", ("PATCH", "/v1/guilds/{guild}/members/{bob}", {"communication_disabled_until": "2026-06-01T00:00:00Z"})),
    ("", ("DELETE", "/v1/guilds/{guild}/roles/{role}", None)),
    ("emoji", ("POST", "/v1/guilds/{guild}/emojis", {"name": "anchor", "image": PNG})),
    ("", ("PATCH", "/v1/guilds/{guild}/emojis/{emoji}", {"name": "rope"})),
    ("", ("DELETE", "/v1/guilds/{guild}/emojis/{emoji}", None)),
    ("", ("DELETE", "/v1/channels/{channel}", None)),
)
"""What is changed, one after the other, and under which name the id of what that makes is kept."""


def told(state: GuildState, user_id: int, *, threads: bool, full_users: bool) -> bytes:
    return guild_json(
        state,
        user_id=user_id,
        seen=state.visible_channels(user_id),
        threads=threads,
        shown_threads=[],
        full_users=full_users,
        voice_states=[],
    ).with_online_count(1)


@pytest.mark.own_parts
async def test_what_is_kept_is_as_if_it_were_encoded_afresh(
    chat_server: ChatServer, chat_world: World, autojump_clock: MockClock
) -> None:
    core = chat_server.server.core
    ids = {"guild": chat_world.guild_id, "bob": chat_world.bob.id}
    alice, bob = int(chat_world.alice.id), int(chat_world.bob.id)
    await chat_world.alice.connect(flags=IdentifyFlag.CHANNEL_THREADS.value)
    await chat_world.bob.connect()
    gateway = chat_server.server.gateway
    room = gateway.hub.rooms[int(ids["guild"])]
    seen: set[bytes] = set()
    plainly: list[int] = []

    def require_alike() -> None:
        kept = core.guild_states.get(int(ids["guild"]))
        afresh = GuildStates(core.database, core.clock).get(int(ids["guild"]))
        assert kept is not None
        assert afresh is not None
        for user_id in (alice, bob):
            for threads in (True, False):
                for full_users in (True, False):
                    encoded = told(kept, user_id, threads=threads, full_users=full_users)
                    assert encoded == told(afresh, user_id, threads=threads, full_users=full_users)
            account = room.accounts[user_id]
            (session,) = account.sessions
            ready = gateway.hub.guild_payloads.in_ready(room, account, session, (), None)
            if isinstance(ready, tuple):
                _, beginning, member, joined_at = ready
                entry = beginning + own_rest(kept, member, joined_at, 1)
                plainly.append(user_id)
            else:
                assert isinstance(ready, GuildJson)
                entry = ready.with_online_count(1)
            assert entry == told(afresh, user_id, threads=session.threads, full_users=False)
        seen.add(told(kept, alice, threads=True, full_users=True))

    require_alike()
    for name, (method, path, body) in CHANGES:
        answer = await chat_world.alice.rest.request(method, path.format(**ids), json=... if body is None else body)
        assert answer.status < 300, (path, answer.body)
        if name:
            ids[name] = answer.expect(answer.status)["id"]
        require_alike()
    rename = "UPDATE guilds SET name = 'elsewhere'"
    await core.database.write(lambda connection: connection.execute(rename).rowcount, guard=UNGUARDED)
    core.guild_states.refresh(int(ids["guild"]))
    require_alike()
    assert len(seen) >= len(CHANGES) - 3  # all but what changes bob alone is seen by alice
    assert plainly.count(alice) > plainly.count(bob) > 0, "bob is timed out at last"
