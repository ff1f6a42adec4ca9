"""The mount on the gateway, as a server has it (compat.md, Gateway of the mount): sockets of its own kind
(`chat.compat.discord.sockets`), and sessions that hear everything translated (`chat.compat.discord.session`)."""

from __future__ import annotations

import functools
from typing import Any, ClassVar

from chat.auth.principal import Principal
from chat.classes import frozen
from chat.compat.discord.events import Translator
from chat.compat.discord.session import LARGE_THRESHOLD, LARGE_THRESHOLD_MAXIMUM, MountedSession
from chat.compat.discord.sockets import MOUNT, mounted_connection
from chat.domain.policy.origins import Origins
from chat.domain.presence.account_presence import SessionPresence
from chat.gateway.connection import Connection
from chat.gateway.parts import GatewayParts
from chat.gateway.session import GatewaySession, MakeSession
from chat.port.transport import Transport
from chat.port.upgrade import UpgradeRequest
from chat.protocol.commands import ConnectionQuery, Identify
from chat.protocol.whole_numbers import whole


@frozen(eq=False)
class DiscordGateway:
    """The mount, as `Gateway.mount` has it."""

    name: ClassVar[str] = MOUNT

    _translator: Translator
    _origins: Origins

    def connection(
        self, request: UpgradeRequest, transport: Transport, parts: GatewayParts
    ) -> tuple[Connection, ConnectionQuery] | None:
        """A socket of the mount, where the query asks for its version."""
        return mounted_connection(request, transport, parts, self.maker(request.header("host")))

    def maker(self, host: str | None) -> MakeSession:
        """Makes the sessions of a socket whose upgrade named this host."""
        return functools.partial(self._begun, f"{self._origins.of(host).replace('http', 'ws', 1)}/gateway")

    def _begun(
        self, resume_url: str, session_id: str, principal: Principal, identify: Identify, presence: SessionPresence
    ) -> GatewaySession:
        return MountedSession.identified(
            session_id,
            principal,
            identify,
            presence,
            intents=identify.d["intents"],  # as the socket has read them
            large_threshold=_large_threshold(identify.d.get("large_threshold")),
            translator=self._translator,
            application_id=str(principal.application_id) if principal.is_bot else "",
            resume_url=resume_url,
        )

    def revive(self, session_id: str, **kept: Any) -> GatewaySession:
        """A session that was kept over a restart."""
        return MountedSession(session_id, translator=self._translator, **kept)


def _large_threshold(asked: object) -> int:
    number = whole(asked)
    if type(number) is not int:
        return LARGE_THRESHOLD
    return max(LARGE_THRESHOLD, min(number, LARGE_THRESHOLD_MAXIMUM))
