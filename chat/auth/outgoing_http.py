"""Requests to services that the operator has named: an OpenID Connect provider, a CAPTCHA service, a store service.

What such a service answers is as untrusted as what a client sends, and it may be slow or gone. So everything has a
bound: connections at a time, seconds as a whole, bytes of an answer. No redirect is followed, nothing is compressed, no
proxy of the environment is asked, and plain HTTP goes to this very machine only.
"""

from __future__ import annotations

import functools
import ipaddress
import logging
import ssl
from collections.abc import Mapping
from types import ModuleType
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit

import attrs
import orjson
import structlog
import trio

from chat.classes import frozen
from chat.errors import ApiError
from chat.registries.error_codes import ErrorCode
from chat.store.guard import UNGUARDED, Guard

if TYPE_CHECKING:
    import httpx

REQUEST_SECONDS: Final = 10.0
"""How long one exchange may take, from the name look-up to the last byte."""

ANSWER_BYTES: Final = 1_048_576
"""The longest answer that is read; a provider's keys take some kilobytes."""

REQUESTS_AT_A_TIME: Final = 16
WAITING_SECONDS: Final = 2.0
"""How long a request waits for one of those places before it is refused."""

RETRY_AFTER_SECONDS: Final = 5

log: Final = structlog.get_logger("chat.outgoing")


def unavailable() -> ApiError:
    """The refusal for a service that cannot be reached in time."""
    return ApiError(ErrorCode.SERVICE_UNAVAILABLE, headers={"Retry-After": str(RETRY_AFTER_SECONDS)})


def unusable() -> ApiError:
    """The refusal for a service whose answer makes no sense."""
    return ApiError(ErrorCode.BAD_GATEWAY)


def _without_query(url: str) -> str:
    """As much of an address as a log may have: a query may hold a key."""
    return url.partition("?")[0]


def _is_this_machine(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def is_protected(url: str) -> bool:
    """Whether a request there is safe from eavesdroppers: HTTPS, or this very machine."""
    try:
        parts = urlsplit(url)
        host = parts.hostname
    except ValueError:
        return False
    if not host:
        return False
    return parts.scheme == "https" or (parts.scheme == "http" and _is_this_machine(host))


@frozen
class Reply:
    """A service's answer, of any status."""

    status: int
    content: bytes = attrs.field(repr=False)

    def object(self) -> dict[str, object]:
        """The JSON object that it holds.

        :raises ApiError: BAD_GATEWAY when it is none.
        """
        try:
            value = orjson.loads(self.content)
        except ValueError:
            value = None
        if not isinstance(value, dict):
            raise unusable()
        return value


class OutgoingHttp:
    """Sends HTTP requests to other servers. Each is a slow step: afterwards the `guard` of the client's request, which
    caused it, judges that request again.

    `in_threads` False prepares on the loop's thread, for runs on virtual time.
    """

    def __init__(self, *, in_threads: bool = True) -> None:
        self._in_threads = in_threads
        self._prepared: tuple[ModuleType, ssl.SSLContext] | None = None
        self._places = trio.CapacityLimiter(REQUESTS_AT_A_TIME)

    async def get(self, url: str, headers: Mapping[str, str] | None = None, *, guard: Guard = UNGUARDED) -> Reply:
        """GET; see `_exchange`."""
        return await self._exchange("GET", url, {}, headers, guard)

    async def post_form(self, url: str, form: Mapping[str, str], headers: Mapping[str, str] | None = None) -> Reply:
        """POST a form; see `_exchange`. Only those who are not signed in yet cause one, so no guard is named."""
        return await self._exchange("POST", url, {"data": form}, headers, UNGUARDED)

    async def post_json(
        self, url: str, body: object, headers: Mapping[str, str] | None = None, *, guard: Guard = UNGUARDED
    ) -> Reply:
        """POST a value as JSON; see `_exchange`."""
        kind = {"Content-Type": "application/json", **(headers or {})}
        return await self._exchange("POST", url, {"content": orjson.dumps(body)}, kind, guard)

    async def _exchange(
        self, method: str, url: str, body: Mapping[str, Any], headers: Mapping[str, str] | None, guard: Guard
    ) -> Reply:
        """One exchange within all bounds. `body` is what is sent, under the name by which httpx takes it.

        :raises ApiError: SERVICE_UNAVAILABLE when no answer comes in time, for a server's own failure (5xx) and with
            too many others under way; BAD_GATEWAY for an answer that is too long, encoded, or not HTTP at all, and for
            an address that may not be asked.
        """
        guard.judge_again()
        if not is_protected(url):
            log.error("a service's address is neither HTTPS nor on this machine", url=_without_query(url))
            raise unusable()
        with trio.move_on_after(WAITING_SECONDS) as waiting:
            await self._places.acquire()
        if waiting.cancelled_caught:
            raise unavailable()
        try:
            return await self._within_time(method, url, body, headers)
        finally:
            self._places.release()

    async def _within_time(
        self, method: str, url: str, body: Mapping[str, Any], headers: Mapping[str, str] | None
    ) -> Reply:
        httpx, context = await self._tools()
        try:
            with trio.fail_after(REQUEST_SECONDS):
                async with httpx.AsyncClient(verify=context, trust_env=False, timeout=REQUEST_SECONDS) as client:
                    reply = await _answer(client, method, url, body, headers)
        except (httpx.RemoteProtocolError, httpx.InvalidURL, httpx.UnsupportedProtocol) as error:
            log.warning("a service does not speak HTTP", url=_without_query(url), problem=str(error))
            raise unusable() from error
        except (trio.TooSlowError, httpx.TransportError) as error:
            log.warning(
                "a service cannot be reached", url=_without_query(url), problem=str(error) or type(error).__name__
            )
            raise unavailable() from error
        if reply.status >= 500:
            log.warning("a service has failed", url=_without_query(url), status=reply.status)
            raise unavailable()
        return reply

    async def _tools(self) -> tuple[ModuleType, ssl.SSLContext]:
        """httpx and the certificates to trust: too much work for the start, and for the loop."""
        if self._prepared is None:
            self._prepared = await trio.to_thread.run_sync(_prepare) if self._in_threads else _prepare()
        return self._prepared


@functools.cache
def _prepare() -> tuple[ModuleType, ssl.SSLContext]:
    """Once for all of them: reading what the machine trusts takes 25 ms."""
    import httpx

    for name in ("httpx", "httpcore"):
        logging.getLogger(name).setLevel(logging.WARNING)  # below, they tell whole addresses
    return httpx, ssl.create_default_context()


async def _answer(
    client: httpx.AsyncClient, method: str, url: str, body: Mapping[str, Any], headers: Mapping[str, str] | None
) -> Reply:
    sent = {"Accept": "application/json", "Accept-Encoding": "identity", "User-Agent": "chat", **(headers or {})}
    async with client.stream(method, url, headers=sent, follow_redirects=False, **body) as response:
        if response.headers.get("content-encoding", "identity").lower() != "identity":
            log.warning("a service encodes its answer unasked", url=_without_query(url))
            raise unusable()
        return Reply(response.status_code, await _content(response, url))


async def _content(response: httpx.Response, url: str) -> bytes:
    content, is_too_long = bytearray(), False
    try:
        async for piece in response.aiter_raw():
            if len(content) + len(piece) <= ANSWER_BYTES:
                content += piece
            elif not is_too_long:
                is_too_long = True
                # Leaving the loop would leave the library's generators unfinished; without a connection they end.
                await response.aclose()
    except Exception:  # what is read from a connection that we have closed
        if not is_too_long:
            raise
    if is_too_long:
        log.warning("a service's answer is too long", url=_without_query(url))
        raise unusable()
    return bytes(content)
