"""Ready: the state an account starts with (gateway.md, Ready)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, Protocol

import trio

from chat.auth.principal import Principal
from chat.domain.presence.presences import Presences, initial_presence
from chat.gateway.guild_payloads import GuildPayloads
from chat.gateway.hub import Hub
from chat.gateway.session import GatewaySession
from chat.protocol.commands import Identify

READY_VERSION: Final = 1
GUILDS_PER_TURN: Final = 4
"""Guild objects built before other tasks get a turn."""


class AccountState(Protocol):
    """What the domain knows of an account that its own sessions are told."""

    def guild_ids(self, user_id: int) -> list[int]:
        """Guilds the account is a member of, ascending."""
        ...

    def private_user(self, user_id: int) -> dict[str, Any]:
        """The account as it sees itself."""
        ...

    def partial_users(self, user_ids: Sequence[int]) -> list[dict[str, Any]]:
        """Accounts as others see them."""
        ...

    def relationships(self, user_id: int) -> list[dict[str, Any]]:
        """Relationship objects without `user`."""
        ...

    def private_channels(self, user_id: int) -> list[dict[str, Any]]:
        """The account's conversations outside of guilds."""
        ...

    def pinned_channels(self, user_id: int) -> list[str]:
        """The ids of the conversations that the account has pinned."""
        ...

    def notes(self, user_id: int) -> dict[str, str]:
        """What the account noted of others, by their ids."""
        ...

    def calls(self, user_id: int) -> list[dict[str, Any]]:
        """The calls that are going on in the account's conversations, as CALL_CREATE has them."""
        ...

    def voice_regions(self) -> list[dict[str, str]]:
        """The regions that voice channels may ask for, the automatic one first."""
        ...

    def settings(self, user_id: int) -> dict[str, Any]:
        """The user settings object."""
        ...

    def guild_settings(self, user_id: int) -> list[dict[str, Any]]:
        """User guild settings objects."""
        ...

    def favorite_memes(self, user_id: int) -> list[dict[str, Any]]:
        """What the account keeps at hand."""
        ...

    def read_states(self, user_id: int, *, threads: bool) -> list[dict[str, Any]]:
        """Read state objects; without `threads` none of threads."""
        ...

    def webauthn_credentials(self, user_id: int) -> list[dict[str, Any]]:
        """Passkeys, without those that another one has replaced."""
        ...


class ReadyPayloads:
    """Makes sessions and what they are told first."""

    def __init__(self, accounts: AccountState, guild_payloads: GuildPayloads, presences: Presences) -> None:
        self._accounts = accounts
        self._guild_payloads = guild_payloads
        self._presences = presences

    def guild_ids(self, user_id: int) -> list[int]:
        """Guilds the account is a member of."""
        return self._accounts.guild_ids(user_id)

    def calls(self, user_id: int) -> list[dict[str, Any]]:
        """What a session of the account hears after its Ready: the calls that are going on, as CALL_CREATE has them."""
        return self._accounts.calls(user_id)

    def new_session(self, session_id: str, principal: Principal, identify: Identify) -> GatewaySession:
        """A session with the presence that Identify and the saved settings give it."""
        saved = {} if principal.is_bot else self._accounts.settings(principal.user_id)
        presence = initial_presence(
            identify.presence,
            identify.properties.mobile,
            saved.get("status", "online"),
            saved.get("custom_status"),
        )
        return GatewaySession.identified(session_id, principal, identify, presence)

    def _count(self, session: GatewaySession) -> None:
        """The session counts towards its account's presence from now on, and stands in the list of its Ready."""
        self._presences.session_selected(session.user_id, session.id, session.presence)

    async def build(
        self, session: GatewaySession, principal: Principal, guild_ids: Sequence[int], hub: Hub
    ) -> dict[str, Any]:
        """The payload of Ready; a user's session is connected to its guilds on the way, a bot's only afterwards."""
        guilds: list[dict[str, Any]] = []
        named: set[int] = set()
        for position, guild_id in enumerate(guild_ids):
            if session.bot:
                session.joining_guild_ids.add(guild_id)
            else:
                hub.connect(session, guild_id)
            guild = self._guild_payloads.in_ready(guild_id, session)
            guilds.append(guild)
            named.update(int(member["user"]["id"]) for member in guild.get("members", ()))
            if position % GUILDS_PER_TURN == GUILDS_PER_TURN - 1:
                await trio.lowlevel.checkpoint()
        if session.bot:
            # A bot's guilds arrive one by one after Ready.
            self._count(session)
            return self._common(session, principal, guilds, [], [])
        user_id = session.user_id
        self._count(session)
        for guild in guilds:
            if "online_count" in guild:  # taken again, now that the session itself counts
                guild["online_count"] = self._presences.online_count(int(guild["id"]))
        relationships = self._accounts.relationships(user_id)
        named.update(int(relationship["id"]) for relationship in relationships)
        seen = self._presences.seen_by(user_id)
        data = self._common(
            session,
            principal,
            guilds,
            relationships,
            [self._presences.presence_object(other) for other in seen if self._presences.is_online(other)],
        )
        for private in data["private_channels"]:
            named.update(int(recipient["id"]) for recipient in private.get("recipients", ()))
        data["users"] = self._accounts.partial_users(sorted(named))
        return data

    def _common(
        self,
        session: GatewaySession,
        principal: Principal,
        guilds: list[dict[str, Any]],
        relationships: list[dict[str, Any]],
        presences: list[dict[str, Any]],
    ) -> dict[str, Any]:
        user_id = session.user_id
        data: dict[str, Any] = {
            "session_id": session.id,
            "version": READY_VERSION,
            "user": self._accounts.private_user(user_id),
            "guilds": guilds,
            "private_channels": self._accounts.private_channels(user_id),
            "relationships": relationships,
            "presences": presences,
            "users": [],
            "sessions": self._presences.session_presences(user_id),
            "read_states": self._accounts.read_states(user_id, threads=session.threads),
            "user_settings": None if session.bot else self._accounts.settings(user_id),
            "user_guild_settings": self._accounts.guild_settings(user_id),
            "notes": self._accounts.notes(user_id),
            "pinned_dms": self._accounts.pinned_channels(user_id),
            "favorite_memes": self._accounts.favorite_memes(user_id),
            "webauthn_credentials": self._accounts.webauthn_credentials(user_id),
            "rtc_regions": self._accounts.voice_regions(),
            "country_code": "US",
        }
        if session.session_id_hash is not None:
            data["auth_session_id_hash"] = session.session_id_hash
        if session.shard is not None:
            data["shard"] = [session.shard.id, session.shard.count]
        return data
