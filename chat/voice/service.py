"""Voice as the domain and the port see it: places connections, opens the door at /rtc to those who were placed, and
runs the studio (`chat.voice.studio`) while there is anybody. What the studio needs is imported, in a thread, when
the first is placed."""

from __future__ import annotations

import importlib
import math
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Final
from urllib.parse import parse_qs, urlsplit

import attrs
import structlog
import trio

from chat.classes import define
from chat.clock import Clock
from chat.config.settings import VoiceSettings
from chat.domain.presence.voice_connections import VoiceState
from chat.domain.presence.voice_media import MediaRights, MediaServer
from chat.port import request_head
from chat.port.transport import Transport
from chat.port.upgrade import UpgradeRequest
from chat.registries.error_codes import ErrorCode
from chat.voice.placements import Placement, Placements, identity_of, room_of

if TYPE_CHECKING:
    from chat.voice.engine.engine import Presence
    from chat.voice.studio import Studio

API_KEY: Final = "chat"
"""The issuer of our tokens, where LiveKit has the name of an API key."""

READY_SECONDS: Final = 10.0
"""How long a client waits for the studio, which the first one starts."""

EMPTY_SECONDS: Final = 60.0
"""How long a studio without anybody is kept."""

LOOK_SECONDS: Final = 5.0
"""How often it is looked whose media never came."""

RETRY_SECONDS: Final = 5.0

CORS: Final = {
    "Access-Control-Allow-Origin": "*",
    "Access-Control-Allow-Headers": "Authorization, Content-Type",
    "Cache-Control": "no-store",
}

log: Final = structlog.get_logger("chat.voice")


@define(eq=False, kw_only=True)
class EmbeddedVoice:
    """A `VoiceMedia` and the handler of /rtc. `run` must be running."""

    _settings: VoiceSettings
    _clock: Clock
    _secret: bytes = attrs.field(repr=False)
    """Signs tokens."""
    _origin: Callable[[], str]
    """Where people reach this server."""
    _random_hex: Callable[[int], str]
    _give_up: Callable[[str], None]
    """Ends a connection whose media never came."""
    _in_threads: bool
    placements: Placements = attrs.field(factory=Placements, init=False)
    studio: Studio | None = attrs.field(default=None, init=False)
    _wanted: trio.Event = attrs.field(factory=trio.Event, init=False)
    _ready: trio.Event = attrs.field(factory=trio.Event, init=False)

    # The domain

    def place(self, state: VoiceState, rights: MediaRights) -> MediaServer:
        before = self.placements.drop(state.connection_id)
        if before is not None:
            self._dismiss(before)
        placement = self.placements.put(state, rights, self._clock.now_ms())
        self._wanted.set()
        origin = urlsplit(self._origin())
        endpoint = f"{'wss' if origin.scheme == 'https' else 'ws'}://{origin.netloc}"
        return MediaServer(endpoint, self._token(placement))

    def change(self, state: VoiceState, rights: MediaRights) -> None:
        placement = self.placements.get(state.connection_id)
        if placement is None or placement.rights == rights:
            return
        placement.rights = rights
        if self.studio is not None:
            self.studio.change_rights(room_of(state), identity_of(state), rights)

    def end(self, connection_id: str) -> None:
        placement = self.placements.drop(connection_id)
        if placement is not None:
            self._dismiss(placement)

    def _dismiss(self, placement: Placement) -> None:
        if self.studio is not None:
            self.studio.dismiss(placement.room, placement.identity)

    def _token(self, placement: Placement) -> str:
        from chat.voice.tokens import make_token

        return make_token(
            API_KEY,
            self._secret,
            identity=placement.identity,
            room=placement.room,
            rights=placement.rights,
            now_ms=self._clock.now_ms(),
            token_id=self._random_hex(32),
        )

    # The door

    def answer(self, head: bytes) -> bytes | None:
        """As `chat.port.listener.SignallingHandler`. A client that may not enter learns why at /rtc/validate: its
        WebSocket cannot tell it."""
        lines = head.decode("latin-1").split("\r\n")
        method, _, target = lines[0].rpartition(" ")[0].partition(" ")
        parts = urlsplit(target)
        if method == "OPTIONS":
            return request_head.answer(200, {}, CORS)
        if parts.path.startswith("/rtc/v1"):
            return request_head.refusal(
                404, ErrorCode.NOT_FOUND, "This server speaks with two connections.", headers=CORS
            )
        if method != "GET":
            return request_head.refusal(400, ErrorCode.BAD_REQUEST, "Ask with GET.", headers=CORS)
        authorization = next((line[14:].strip() for line in lines if line.lower().startswith("authorization:")), None)
        if self._opened(parts.query, authorization) is None:
            return request_head.refusal(401, ErrorCode.UNAUTHORIZED, "The token opens nothing here.", headers=CORS)
        return request_head.answer(200, {"status": "success"}, CORS) if parts.path == "/rtc/validate" else None

    def _opened(self, query: str, authorization: str | None) -> Placement | None:
        """Whom the token of a request lets in: it must be where the token says, at this moment."""
        if not len(self.placements):
            return None
        from chat.voice.tokens import open_token

        scheme, _, bearer = (authorization or "").partition(" ")
        token = bearer if scheme.lower() == "bearer" else next(iter(parse_qs(query).get("access_token", ())), "")
        opened = open_token(token, API_KEY, self._secret, self._clock.now_ms())
        return None if opened is None else self.placements.find(opened.room, opened.identity)

    async def serve(self, request: UpgradeRequest, connection: Transport) -> None:
        placement = self._opened(request.query_string, request.header("authorization"))
        with trio.move_on_after(READY_SECONDS):
            await self._ready.wait()
        if placement is None or self.studio is None or self.placements.get(placement.connection_id) is not placement:
            connection.close()
            return
        from chat.voice.engine.rooms import Grant
        from chat.voice.studio import rights_of

        grant = Grant(
            room=placement.room, identity=placement.identity, name="", metadata="", rights=rights_of(placement.rights)
        )
        as_text = parse_qs(request.query_string).get("form") == ["json"]
        token = partial(self._fresh_token, placement)
        await self.studio.serve(connection, request.address, grant, token, as_text=as_text)

    def _fresh_token(self, placement: Placement) -> str | None:
        return self._token(placement) if self.placements.get(placement.connection_id) is placement else None

    # The studio

    async def run(self) -> None:
        """Have a studio whenever somebody is in voice."""
        while True:
            if not len(self.placements):
                await self._wanted.wait()
            self._wanted = trio.Event()
            if len(self.placements):
                await self._work()

    async def _work(self) -> None:
        try:
            await self._run_studio()
        except OSError as error:
            log.error("voice cannot listen", port=self._settings.udp_port, error=str(error))  # noqa: TRY400
            await trio.sleep(RETRY_SECONDS)
        finally:
            self._ready, self.studio = trio.Event(), None

    async def _run_studio(self) -> None:
        studio = await self._open_studio()
        async with trio.open_nursery() as nursery:
            await nursery.start(studio.run)
            self.studio = studio
            self._ready.set()
            log.info("voice began", port=studio.port, addresses=studio.local_addresses, public=studio.public_address)
            await self._until_empty()
            nursery.cancel_scope.cancel()

    async def _open_studio(self) -> Studio:
        name = "chat.voice.studio"
        if self._in_threads:
            await trio.to_thread.run_sync(importlib.import_module, name)
        from chat.voice.addresses import address_of, local_addresses
        from chat.voice.media.datagrams import open_socket
        from chat.voice.studio import Studio

        socket = open_socket(self._settings.udp_port)
        public = self._settings.public_address or await address_of(urlsplit(self._origin()).hostname or "")
        return Studio(
            datagrams=socket,
            port=socket.port,
            public_address=public,
            local_addresses=local_addresses(with_ipv6=socket.is_ipv6),
            now_ms=self._clock.now_ms,
            on_presence=self._presence,
        )

    async def _until_empty(self) -> None:
        empty_since = math.inf
        while trio.current_time() - empty_since < EMPTY_SECONDS:
            await trio.sleep(LOOK_SECONDS)
            for connection_id in self.placements.overdue(self._clock.now_ms()):
                log.info("a voice connection without media is given up", connection=connection_id)
                self._give_up(connection_id)
            empty_since = math.inf if len(self.placements) else min(empty_since, trio.current_time())

    def _presence(self, presence: Presence) -> None:
        now_ms = self._clock.now_ms()
        self.placements.media(presence.room, presence.identity, flows=presence.is_up, now_ms=now_ms)
