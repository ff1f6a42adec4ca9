"""Request Guild Members (gateway.md, Request Guild Members), answered in chunks of at most 1,000."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from typing import Any, Final

from chat.domain.presence.presences import Presences
from chat.domain.standing.guild_states import GuildState
from chat.domain.standing.rosters import Rosters
from chat.domain.standing.user_objects import partial_user
from chat.gateway.commands.budgets import FullListWindows
from chat.gateway.commands.visibility import open_room
from chat.gateway.hub import Hub
from chat.gateway.session import GatewaySession
from chat.protocol.requests import MemberRequest
from chat.registries.events import EventName
from chat.registries.limits import MEMBERS_CHUNK_MEMBERS
from chat.registries.opcodes import Opcode
from chat.registries.permissions import MEMBER_REQUEST_PERMISSIONS
from chat.store.database import Database
from chat.store.guilds import member_search

PAUSE_BYTES: Final = 1_048_576
"""The next chunk waits while the socket has more than this unsent."""


class MembersCommands:
    """Answers opcode 8. A guild that the session is not in, or may not list, is passed over without a word."""

    def __init__(self, hub: Hub, presences: Presences, rosters: Rosters, database: Database) -> None:
        self._hub = hub
        self._presences = presences
        self._rosters = rosters
        self._database = database
        self.full_lists = FullListWindows()

    async def answer(self, session: GatewaySession, request: MemberRequest) -> None:
        """Send the members that the request finds in each of its guilds.

        Raises StorageUnavailable.
        """
        for guild_id in request.guild_ids:
            room = open_room(self._hub, session, guild_id)
            if room is None or (request.whole_list and not self._may_list(session, room.state, request)):
                continue
            user_ids = await self._found(guild_id, request)
            chunks = [
                user_ids[start : start + MEMBERS_CHUNK_MEMBERS]
                for start in range(0, len(user_ids), MEMBERS_CHUNK_MEMBERS)
            ] or [[]]
            for index, chunk in enumerate(chunks):
                data = await self._chunk(room.state, chunk, request)
                if open_room(self._hub, session, guild_id) is not room:
                    break
                data["chunk_index"], data["chunk_count"] = index, len(chunks)
                self._hub.send((session,), EventName.GUILD_MEMBERS_CHUNK, data)
                if session.receiver is not None:
                    await session.receiver.drained(PAUSE_BYTES)

    def _may_list(self, session: GatewaySession, state: GuildState, request: MemberRequest) -> bool:
        """The full list rule: a user needs three permissions, a bot gets one list of a guild in 30 s."""
        if not session.bot:
            held = state.permissions(session.user_id)
            return held & MEMBER_REQUEST_PERMISSIONS == MEMBER_REQUEST_PERMISSIONS
        seconds = self.full_lists.seconds_to_wait(session.user_id, state.id)
        if not seconds:
            return True
        meta = {"guild_id": str(state.id)}
        if request.nonce is not None:
            meta["nonce"] = request.nonce
        data = {"opcode": Opcode.REQUEST_GUILD_MEMBERS, "retry_after": round(seconds, 3), "meta": meta}
        self._hub.send((session,), EventName.RATE_LIMITED, data)
        return False

    async def _found(self, guild_id: int, request: MemberRequest) -> list[int]:
        if request.user_ids:
            return list(request.user_ids)
        roster = await self._rosters.get(guild_id)
        if request.whole_list:
            return roster.user_ids()
        return await roster.search(request.query, request.limit)

    async def _chunk(self, state: GuildState, user_ids: Sequence[int], request: MemberRequest) -> dict[str, Any]:
        def read(connection: sqlite3.Connection) -> list[dict[str, Any]]:
            found = member_search.with_accounts(connection, state.id, user_ids)
            return [state.member_object(member, partial_user(account)) for member, account in found]

        members = await self._database.read(read)
        data: dict[str, Any] = {"guild_id": str(state.id), "members": members}
        if request.presences:
            users = [member["user"] for member in members]
            data["presences"] = [
                self._presences.presence_object(int(user["id"]), guild_id=state.id, user=user)
                for user in users
                if self._presences.is_online(int(user["id"]))
            ]
        if request.nonce is not None:
            data["nonce"] = request.nonce
        return data
