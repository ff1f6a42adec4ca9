"""The endpoints of applications that hear interactions by HTTP: their key pairs, and requests to them (interactions.md,
Interactions by HTTP).

A key pair follows from the instance's secret and the application's id, so that it is kept with the instance and stands
in no database. Whoever owns an application chooses an address that this server then asks, so the guard of outside media
judges it, and plain HTTP goes to networks that the operator has named only.
"""

from __future__ import annotations

import ipaddress
from typing import TYPE_CHECKING, Final

import attrs
import orjson
import structlog
import trio

from chat.classes import frozen
from chat.domain.core import Core
from chat.errors import InvalidFormBody
from chat.media.outside_addresses import AddressGuard, OutsideRefused, parsed
from chat.media.outside_fetching import OutsideExchange, PostedBody, connected
from chat.registries.error_codes import FieldCode
from chat.registries.interactions import ANSWER_WITHIN_MS, PING, PONG
from chat.registries.limits import JSON_BODY_BYTES
from chat.store.guard import Guard

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

PATH: Final = "interactions_endpoint_url"
"""The member of an application that an address is refused at."""

REFUSED: Final = frozenset({400, 401, 403})
"""With what libraries refuse a wrong signature; 401 is what that service asks for, hikari answers 400."""

JSON_TYPE: Final = "application/json"

log: Final = structlog.get_logger("chat.interactions")


@frozen
class EndpointReply:
    """What an endpoint has answered, of any status."""

    status: int
    content: bytes = attrs.field(repr=False)

    @property
    def is_pong(self) -> bool:
        """Whether it answers a ping."""
        if self.status != 200:
            return False
        try:
            value = orjson.loads(self.content)
        except ValueError:
            return False
        return isinstance(value, dict) and value.get("type") == PONG


class InteractionEndpoints:
    """Signs what applications are told, and asks their endpoints."""

    def __init__(self, core: Core) -> None:
        self._core = core
        allowed = core.settings.interactions.private_networks_allowed
        self._guard = AddressGuard(allowed)
        self._allowed = tuple(ipaddress.ip_network(network) for network in allowed)

    def verify_key(self, application_id: int) -> str:
        """The application's public key, 64 hexadecimal digits."""
        return self._key(application_id).public_key().public_bytes_raw().hex()

    def _key(self, application_id: int) -> Ed25519PrivateKey:
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

        return Ed25519PrivateKey.from_private_bytes(self._core.keys.of(f"interactions of {application_id}"))

    async def require_good(self, application_id: int, url: str, guard: Guard) -> None:
        """See that the endpoint answers a ping, and refuses one whose signature is wrong. This is a slow step of a
        request, whose `guard` judges again after it.

        :raises InvalidFormBody: INVALID_FORMAT for what is no address; INTERACTIONS_ENDPOINT_UNREACHABLE,
            INTERACTIONS_ENDPOINT_WITHOUT_PONG, INTERACTIONS_ENDPOINT_NOT_VERIFYING.
        """
        try:
            parsed(url)
        except OutsideRefused:
            raise InvalidFormBody.at(PATH, FieldCode.INVALID_FORMAT) from None
        guard.judge_again()
        ping = {
            "id": str(self._core.snowflakes()),
            "application_id": str(application_id),
            "type": PING,
            "token": self._core.mint.secret(),
            "version": 1,
        }
        try:
            answered = await self.ask(application_id, url, orjson.dumps(ping))
            if not answered.is_pong:
                raise InvalidFormBody.at(PATH, FieldCode.INTERACTIONS_ENDPOINT_WITHOUT_PONG)
            answered = await self.ask(application_id, url, orjson.dumps(ping), signed_rightly=False)
        except OutsideRefused as refused:
            log.info("endpoint refused", application_id=application_id, reason=str(refused))
            raise InvalidFormBody.at(PATH, FieldCode.INTERACTIONS_ENDPOINT_UNREACHABLE) from None
        if answered.status not in REFUSED:
            raise InvalidFormBody.at(PATH, FieldCode.INTERACTIONS_ENDPOINT_NOT_VERIFYING)

    async def ask(self, application_id: int, url: str, body: bytes, *, signed_rightly: bool = True) -> EndpointReply:
        """POST a JSON body, signed as the application's endpoint checks it; what comes has three seconds in all.

        :raises OutsideRefused: where the address may not be asked, nothing answers in time, or the answer is longer
            than a body that this server takes.
        """
        timestamp = str(self._core.clock.now_ms() // 1_000)
        signed = timestamp.encode() + body + (b"" if signed_rightly else b" ")
        headers = (
            ("Content-Type", JSON_TYPE),
            ("X-Signature-Ed25519", self._key(application_id).sign(signed).hex()),
            ("X-Signature-Timestamp", timestamp),
        )
        try:
            with trio.fail_after(ANSWER_WITHIN_MS / 1_000):
                return await self._posted(url, PostedBody(body, headers))
        except trio.TooSlowError:
            raise OutsideRefused("it does not answer in time") from None
        except EOFError:
            raise OutsideRefused("its answer breaks off") from None

    async def _posted(self, url: str, posted: PostedBody) -> EndpointReply:
        target = await self._guard.target(url)
        if target.url.scheme != "https" and not self._is_allowed(target.address):
            raise OutsideRefused("the address is not https")
        exchange = OutsideExchange(await connected(target))
        try:
            await exchange.ask(target, JSON_TYPE, posted)
            if exchange.headers.get("content-encoding", "identity").lower() != "identity":
                raise OutsideRefused("its answer is encoded unasked")
            content = bytearray()
            while piece := await exchange.read():
                content += piece
                if len(content) > JSON_BODY_BYTES:
                    raise OutsideRefused("its answer is too long")
            return EndpointReply(exchange.status, bytes(content))
        finally:
            await exchange.aclose()

    def _is_allowed(self, address: str) -> bool:
        found = ipaddress.ip_address(address)
        return any(found.version == network.version and found in network for network in self._allowed)
