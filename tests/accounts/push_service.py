"""A push service and a browser for tests: what the server sends is taken over HTTP and read with the browser's key."""

from __future__ import annotations

import base64
import json
import math
import struct
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, Self

import attrs
import h11
import jwt
import trio
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from chat.testing.world import Actor
from tests.patience import PATIENCE_SECONDS


def base64url(data: bytes) -> str:
    """Without padding, as browsers give it out."""
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def from_base64url(text: str) -> bytes:
    """The reverse."""
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


def point_of(key: ec.EllipticCurvePrivateKey) -> bytes:
    """The public half, uncompressed."""
    return key.public_key().public_bytes(Encoding.X962, PublicFormat.UncompressedPoint)


@attrs.define(eq=False)
class Browser:
    """The receiving side of RFC 8291, written from the text of the document and not from what it tests."""

    key: ec.EllipticCurvePrivateKey = attrs.field(factory=lambda: ec.generate_private_key(ec.SECP256R1()))
    auth: bytes = bytes(range(16))

    def keys(self) -> dict[str, str]:
        """`keys` of a subscription."""
        return {"p256dh": base64url(point_of(self.key)), "auth": base64url(self.auth)}

    def decrypted(self, body: bytes) -> bytes:
        """The message in the body of a push request; raises where it is for somebody else, or not whole."""
        salt, (record_bytes, key_bytes) = body[:16], struct.unpack(">IB", body[16:21])
        sender, sealed = body[21 : 21 + key_bytes], body[21 + key_bytes :]
        assert len(sealed) <= record_bytes
        shared = self.key.exchange(ec.ECDH(), ec.EllipticCurvePublicKey.from_encoded_point(ec.SECP256R1(), sender))

        def derived(secret: bytes, salt: bytes, info: bytes, length: int) -> bytes:
            return HKDF(SHA256(), length, salt, info).derive(secret)

        keying = derived(shared, self.auth, b"WebPush: info\x00" + point_of(self.key) + sender, 32)
        content_key = derived(keying, salt, b"Content-Encoding: aes128gcm\x00", 16)
        nonce = derived(keying, salt, b"Content-Encoding: nonce\x00", 12)
        padded = AESGCM(content_key).decrypt(nonce, sealed, None).rstrip(b"\x00")
        assert padded[-1:] == b"\x02"
        return padded[:-1]


@attrs.frozen
class Pushed:
    """A push request that came."""

    path: str
    headers: dict[str, str]
    body: bytes = attrs.field(repr=False)

    def claims(self, public_key: str, origin: str) -> dict[str, Any]:
        """What the sender says of itself, checked as RFC 8292 wants it."""
        scheme, _, members = self.headers["authorization"].partition(" ")
        named = dict(member.strip().split("=", 1) for member in members.split(","))
        assert (scheme, named["k"]) == ("vapid", public_key)
        point = ec.EllipticCurvePublicKey.from_encoded_point(ec.SECP256R1(), from_base64url(public_key))
        claims: dict[str, Any] = jwt.decode(named["t"], point, algorithms=["ES256"], audience=origin)
        return claims


class PushService:
    """A push service on a port of this machine. `answers` are the statuses of the next requests, then 201."""

    def __init__(self) -> None:
        self.origin = ""
        self.answers: list[tuple[int, dict[str, str]]] = []
        self._send, self._receive = trio.open_memory_channel[Pushed](math.inf)

    async def next(self, seconds: float = PATIENCE_SECONDS) -> Pushed:
        """The next request."""
        with trio.fail_after(seconds):
            return await self._receive.receive()

    async def next_message(self, browser: Browser, path: str | None = None) -> dict[str, Any]:
        """What the next request tells the browser."""
        pushed = await self.next()
        assert path is None or pushed.path == path
        told: dict[str, Any] = json.loads(browser.decrypted(pushed.body))
        return told

    def waiting(self) -> int:
        """How many requests came and were not looked at."""
        return self._receive.statistics().current_buffer_used

    @asynccontextmanager
    async def running(self) -> AsyncIterator[Self]:
        """Serve while the block lasts."""
        listeners = await trio.open_tcp_listeners(0, host="127.0.0.1")
        self.origin = f"http://127.0.0.1:{listeners[0].socket.getsockname()[1]}"
        async with trio.open_nursery() as nursery:
            nursery.start_soon(trio.serve_listeners, self._serve, listeners)
            yield self
            nursery.cancel_scope.cancel()

    async def _serve(self, stream: trio.SocketStream) -> None:
        parser = h11.Connection(h11.SERVER)
        request: h11.Request | None = None
        body = b""
        async with stream:
            try:
                while not isinstance(event := parser.next_event(), h11.EndOfMessage):
                    if event is h11.NEED_DATA:
                        parser.receive_data(bytes(await stream.receive_some(65_536)))
                    elif isinstance(event, h11.Request):
                        request = event
                    elif isinstance(event, h11.Data):
                        body += bytes(event.data)
                    else:
                        return
                assert request is not None
                headers = {name.decode(): value.decode() for name, value in request.headers}
                assert request.method == b"POST"
                self._send.send_nowait(Pushed(request.target.decode(), headers, body))
                status, more = self.answers.pop(0) if self.answers else (201, {})
                fields = "".join(f"{name}: {value}\r\n" for name, value in more.items())
                await stream.send_all(f"HTTP/1.1 {status} X\r\n{fields}Content-Length: 0\r\n\r\n".encode())
            except (trio.BrokenResourceError, h11.RemoteProtocolError):
                pass


async def subscribe(actor: Actor, browser: Browser, endpoint: str, **members: object) -> str:
    """The id of the subscription of this browser."""
    answer = (await actor.rest.subscribe_to_push(endpoint, **browser.keys(), **members)).expect(200)
    found: str = answer["subscription_id"]
    return found
