"""A client of LiveKit's signalling without any media, for tests on the virtual clock."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, Final
from urllib.parse import urlencode

import trio
from google.protobuf import json_format
from livekit.protocol import rtc
from trio_websocket import ConnectionClosed, WebSocketConnection, wrap_client_stream

from chat.testing.gateway_client import GatewayClient
from chat.testing.network import Route
from chat.testing.world import Person, World

SECONDS: Final = 30.0


class SignalClient:
    """Speaks protobuf, or JSON where `as_text`."""

    def __init__(self, websocket: WebSocketConnection, *, as_text: bool = False) -> None:
        self.websocket = websocket
        self.as_text = as_text

    async def send(self, **message: Any) -> None:
        """One message, as the member of SignalRequest."""
        request = rtc.SignalRequest(**message)
        if self.as_text:
            await self.websocket.send_message(json_format.MessageToJson(request))
        else:
            await self.websocket.send_message(request.SerializeToString())

    async def expect(self, kind: str, *, seconds: float = SECONDS) -> Any:
        """The next message of this kind; what comes before it is passed over."""
        with trio.fail_after(seconds):
            while True:
                data = await self.websocket.get_message()
                assert isinstance(data, str) is self.as_text
                response = rtc.SignalResponse()
                if isinstance(data, str):
                    json_format.Parse(data, response)
                else:
                    response.ParseFromString(data)
                if response.WhichOneof("message") == kind:
                    return getattr(response, kind)

    async def closed(self) -> int:
        """The code that the server closed with."""
        with trio.fail_after(SECONDS):
            while True:
                try:
                    await self.websocket.get_message()
                except ConnectionClosed as closed:
                    return 1006 if closed.reason is None else closed.reason.code


@asynccontextmanager
async def signalling(route: Route, token: str, *, as_text: bool = False) -> AsyncIterator[SignalClient]:
    """A socket at /rtc for as long as the block lasts. Raises ConnectionRejected."""
    stream = await route.connect()
    async with trio.open_nursery() as nursery:
        form = {"form": "json"} if as_text else {}
        path = f"/rtc?{urlencode({'access_token': token, 'protocol': 15, **form})}"
        websocket = await wrap_client_stream(nursery, stream, route.host, path)  # type: ignore[arg-type]
        try:
            yield SignalClient(websocket, as_text=as_text)
        finally:
            with trio.move_on_after(1):
                await websocket.aclose()
            await trio.aclose_forcefully(stream)
            nursery.cancel_scope.cancel()


async def enter_voice(world: World, person: Person) -> tuple[GatewayClient, dict[str, Any]]:
    """A gateway session of the person that has entered the voice channel, and what VOICE_SERVER_UPDATE told it."""
    client = await person.connect()
    await client.update_voice_state(world.guild_id, world.voice_channel_id)
    data: dict[str, Any] = (await client.expect("VOICE_SERVER_UPDATE")).data
    return client, data
