"""What `chat setup` looks at from outside: whether the name leads here, the port is free or ours, the way through a
proxy is open for requests and for the gateway, and the mail server lets us in.

Each check says in a sentence what it found, and what to do where something does not hold yet.
"""

from __future__ import annotations

import errno
import socket
import ssl
import time
from collections.abc import Awaitable, Callable
from typing import Any, Final
from urllib.parse import urlsplit

import h11
import orjson
import trio

from chat import __version__
from chat.classes import frozen
from chat.clock import iso_timestamp
from chat.config.settings import Settings, is_loopback
from chat.errors import OperatorError
from chat.port.tls import Certificates, trusting_anybody
from chat.store.data_directory import DataDirectory

STEP_SECONDS: Final = 10.0
"""How long one look at something far away may take."""

ANSWER_BYTES: Final = 1_048_576
"""More of an answer is not read."""

DEFAULT_PORTS: Final = {"http": 80, "https": 443}
GATEWAY_ERRORS: Final = frozenset({502, 503, 504})
"""What proxies answer that do not reach what is behind them."""

WEBSOCKET_KEY: Final = "dGhlIHNhbXBsZSBub25jZQ=="
"""The sample of RFC 6455, 1.2: nothing is said on the connection."""


@frozen
class CheckResult:
    """What a check found. `holds` is None where it cannot be known yet."""

    check: str
    holds: bool | None
    words: str


@frozen
class _ProbeAnswer:
    status: int
    headers: dict[str, str]
    body: bytes


class _Unreachable(Exception):
    """Nothing can be asked; the message says why."""


async def look(settings: Settings, directory: DataDirectory) -> list[CheckResult]:
    """Everything that can be looked at with these settings; takes at most some ten seconds for each check."""
    found = [await _port(settings, directory)]
    if settings.has_tls:
        found.append(_certificate(settings, directory))
    if not is_loopback(urlsplit(settings.public_url).hostname or ""):
        address = await _address(settings)
        found = [address, *found]
        if address.holds:
            found += await _front(settings, is_running=_is_running(directory))
    if settings.mail.mode == "smtp":
        found.append(await trio.to_thread.run_sync(_mail, settings, abandon_on_cancel=True))
    return found


def _certificate(settings: Settings, directory: DataDirectory) -> CheckResult:
    """The certificate of a server that speaks TLS itself."""
    certificate, key = settings.tls_certificate or "", settings.tls_key or ""
    try:
        certificates = Certificates.read(directory.path / certificate, directory.path / key)
    except OperatorError as error:
        return CheckResult("certificate", False, str(error))
    end = iso_timestamp(certificates.expires_at)[:10]
    if certificates.expires_at <= time.time() * 1_000:
        return CheckResult("certificate", False, f"{certificate} has expired on {end}")
    return CheckResult("certificate", True, f"{certificate} holds until {end}")


async def _address(settings: Settings) -> CheckResult:
    host = urlsplit(settings.public_url).hostname or ""
    try:
        with trio.fail_after(STEP_SECONDS):
            addresses = await trio.socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError, trio.TooSlowError):
        words = f"{host} leads nowhere yet: give it an A or AAAA record with the address of this machine or its router"
        return CheckResult("address", False, words)
    listed = sorted({str(each[4][0]) for each in addresses})
    return CheckResult("address", True, f"{host} leads to {', '.join(listed)}")


def _is_running(directory: DataDirectory) -> bool:
    """Whether a server owns the data directory."""
    if not directory.path.is_dir():
        return False
    try:
        with directory.locked():
            return False
    except OperatorError:
        return True


async def _port(settings: Settings, directory: DataDirectory) -> CheckResult:
    host, port = settings.host, settings.port
    if _is_running(directory):
        try:
            answer = await _exchange(settings.own_origin, "/_ready", is_own=True)
        except _Unreachable:
            words = f"a server runs on this data, and nothing answers on {host} port {port}: restart it"
            return CheckResult("port", False, words)
        if answer.status == 200:
            return CheckResult("port", True, f"the server answers on {host} port {port}")
        return CheckResult("port", False, f"what answers on {host} port {port} is not ready (status {answer.status})")
    try:
        for listener in await trio.open_tcp_listeners(port, host=host):
            await listener.aclose()
    except OSError as error:
        return CheckResult("port", False, f"cannot listen on {host} port {port}: {_about(error, port)}")
    return CheckResult("port", True, f"{host} port {port} is free: the server takes it when it starts")


def _about(error: OSError, port: int) -> str:
    if error.errno == errno.EADDRINUSE:
        return "another program has it"
    if error.errno == errno.EACCES and port < 1_024:
        return "a port below 1024 needs the right for it (AmbientCapabilities=CAP_NET_BIND_SERVICE in a unit)"
    return error.strerror or str(error)


async def _front(settings: Settings, *, is_running: bool) -> list[CheckResult]:
    """From outside, by the public address: what everybody gets."""
    origin = settings.public_url
    try:
        document = await _exchange(origin, "/.well-known/chat")
    except _Unreachable as error:
        return [CheckResult("front", False if is_running else None, f"{origin}: {error}")]
    checked = _judged(settings, document, is_running=is_running)
    if not checked.holds:
        return [checked]
    upgrade = await _exchange(
        origin,
        "/gateway",
        ("Upgrade", "websocket"),
        ("Connection", "Upgrade"),
        ("Sec-WebSocket-Version", "13"),
        ("Sec-WebSocket-Key", WEBSOCKET_KEY),
    )
    if upgrade.status == 101:
        return [checked, CheckResult("gateway", True, f"WebSockets pass through {origin}")]
    words = f"{origin}/gateway answers a WebSocket with {upgrade.status}: let the proxy hand Upgrade requests on"
    return [checked, CheckResult("gateway", False, words)]


def _judged(settings: Settings, answer: _ProbeAnswer, *, is_running: bool) -> CheckResult:
    origin, behind = settings.public_url, f"{settings.host} port {settings.port}"
    if answer.status in GATEWAY_ERRORS:
        if not is_running:
            return CheckResult("front", None, f"a proxy answers at {origin}, and waits for the server: start it")
        words = f"the proxy at {origin} does not reach the server (status {answer.status}): lead it to {behind}"
        return CheckResult("front", False, words)
    if 300 <= answer.status < 400:
        where = answer.headers.get("location", "nowhere")
        return CheckResult("front", False, f"{origin} sends people to {where}: set public_url to where they end up")
    api = _api_of(answer)
    if api is None:
        return CheckResult("front", False, f"another program answers at {origin} (status {answer.status})")
    if not api.startswith(f"{origin}/"):
        words = f"the server at {origin} calls itself {api}: restart it, so that it reads its settings"
        return CheckResult("front", False, words)
    protection = "with a certificate that is accepted" if origin.startswith("https:") else "without TLS"
    return CheckResult("front", True, f"the server answers at {origin}, {protection}")


def _api_of(answer: _ProbeAnswer) -> str | None:
    """Where a discovery document says that the API is."""
    try:
        document: Any = orjson.loads(answer.body)
        return str(document["endpoints"]["api"])
    except (ValueError, TypeError, KeyError):
        return None


async def _exchange(origin: str, path: str, *headers: tuple[str, str], is_own: bool = False) -> _ProbeAnswer:
    """One request to an origin, or to the port of this machine (`is_own`), whose certificate names another. Raises
    _Unreachable where there is no answer of HTTP."""
    parts = urlsplit(origin)
    host, port = parts.hostname or "", parts.port or DEFAULT_PORTS[parts.scheme]
    request = h11.Request(
        method="GET",
        target=path,
        headers=[
            ("Host", parts.netloc),
            ("User-Agent", f"chat/{__version__} setup"),
            *(headers or [("Connection", "close")]),
        ],
    )
    trust = None if parts.scheme != "https" else trusting_anybody() if is_own else _trust()
    return await _within(lambda: _asked(host, port, request, trust))


async def _within(ask: Callable[[], Awaitable[_ProbeAnswer]]) -> _ProbeAnswer:
    try:
        with trio.fail_after(STEP_SECONDS):
            return await ask()
    except trio.TooSlowError:
        raise _Unreachable(
            "no answer comes: is it kept off by a firewall, or a router that does not forward?"
        ) from None
    except OSError as error:
        refused = isinstance(error, ConnectionRefusedError) or "all attempts to connect" in str(error)
        why = "nothing answers there: start the proxy, and let its port through" if refused else str(error)
        raise _Unreachable(why) from None
    except trio.BrokenResourceError as error:
        cause = error.__cause__
        if isinstance(cause, ssl.SSLCertVerificationError):
            raise _Unreachable(f"its certificate is not accepted: {cause.verify_message}") from None
        if isinstance(cause, ssl.SSLError):
            raise _Unreachable("what answers there does not speak TLS") from None
        raise _Unreachable("the connection breaks off") from None
    except h11.RemoteProtocolError:
        raise _Unreachable("what answers there does not speak HTTP") from None


async def _asked(host: str, port: int, request: h11.Request, trust: ssl.SSLContext | None) -> _ProbeAnswer:
    stream: trio.abc.Stream = await trio.open_tcp_stream(host, port)
    if trust is not None:
        stream = trio.SSLStream(stream, trust, server_hostname=host, https_compatible=True)
    try:
        connection = h11.Connection(h11.CLIENT)
        await stream.send_all((connection.send(request) or b"") + (connection.send(h11.EndOfMessage()) or b""))
        response: h11.Response | h11.InformationalResponse | None = None
        body = b""
        while True:
            event = connection.next_event()
            if event is h11.NEED_DATA:
                connection.receive_data(bytes(await stream.receive_some(65_536)))
            elif isinstance(event, h11.Response) or (
                isinstance(event, h11.InformationalResponse) and event.status_code == 101
            ):
                response = event
            elif isinstance(event, h11.Data):
                body += bytes(event.data)
            if response is not None and (
                response.status_code == 101 or len(body) > ANSWER_BYTES or isinstance(event, h11.EndOfMessage)
            ):
                headers = {name.decode("ascii"): value.decode("latin-1") for name, value in response.headers}
                return _ProbeAnswer(response.status_code, headers, body)
    finally:
        await trio.aclose_forcefully(stream)


def _trust() -> ssl.SSLContext:
    """Whom the system trusts, and whom browsers do."""
    import httpx

    context = httpx.create_ssl_context()
    context.load_default_certs()
    return context


def _mail(settings: Settings) -> CheckResult:
    """Blocks. Whether the SMTP server lets the instance in."""
    from chat.mail.outbox import Sender
    from chat.mail.smtp import ServerUnusable

    server = f"{settings.mail.host} port {settings.mail.port}"
    try:
        Sender.of(settings).connect().close()
    except ServerUnusable as error:
        return CheckResult("mail", False, f"{server} cannot be used: {error}")
    return CheckResult("mail", True, f"{server} lets this instance in: `chat mail test ADDRESS` sends a letter")
