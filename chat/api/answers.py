"""Answers over HTTP: status, headers and body as bytes.

JSON answers carry `Content-Type: application/json` exactly; no answer carries WWW-Authenticate or `Allow` (http.md,
Answers; access.md, Refused credentials). Any origin may read answers: the API knows no cookies, so a page learns
nothing that its visitor did not hand it. Referrers and content sniffing are off everywhere, because some addresses are
secrets."""

from __future__ import annotations

import re
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable, Mapping
from contextlib import aclosing
from typing import TYPE_CHECKING, Any, Final, Generic

import attrs
import orjson
import trio

from chat import __version__
from chat.api.bodies import Receive
from chat.classes import frozen
from chat.errors import ApiError

if TYPE_CHECKING:
    from typing_extensions import TypeVar

    B = TypeVar("B", default=Any, covariant=True)
else:
    from typing import TypeVar

    B = TypeVar("B", covariant=True)

RawHeaders = list[tuple[bytes, bytes]]

Send = Callable[[Any], Awaitable[None]]
"""ASGI's: the next event of the answer."""

_UNWRITABLE: Final = re.compile(r"[\x00\n\r\f\v]")

CLOSE_SECONDS: Final = 2.0
"""How long what a streamed body was made of may take to go away."""

JSON_TYPE: Final = (b"content-type", b"application/json")
NO_CACHE: Final = (b"cache-control", b"no-cache")

NOT_STORED: Final = {"Cache-Control": "no-store"}
"""In place of NO_CACHE, for answers that carry a secret."""

EVERY_ANSWER: Final = (
    (b"x-service-version", __version__.encode("ascii")),
    (b"referrer-policy", b"no-referrer"),
    (b"x-content-type-options", b"nosniff"),
)

EXPOSE_HEADERS: Final = "Access-Control-Expose-Headers"
EXPOSED: Final = ", ".join(
    (
        "Retry-After",
        "X-RateLimit-Bucket",
        "X-RateLimit-Global",
        "X-RateLimit-Limit",
        "X-RateLimit-Remaining",
        "X-RateLimit-Reset",
        "X-RateLimit-Reset-After",
        "X-RateLimit-Scope",
        "X-Request-ID",
        "X-Service-Sudo-Mode-JWT",
        "X-Service-Version",
    )
)
"""The headers of an answer that pages of any origin may read."""

SHARED: Final = (
    (b"access-control-allow-origin", b"*"),
    (EXPOSE_HEADERS.lower().encode("ascii"), EXPOSED.encode("ascii")),
)
"""Headers that let pages of any origin read an answer."""

PREFLIGHT_HEADERS: Final = {
    "Access-Control-Allow-Methods": "GET, HEAD, POST, PUT, PATCH, DELETE",
    "Access-Control-Allow-Headers": ", ".join(
        (
            "Authorization",
            "Content-Type",
            "If-None-Match",
            "Range",
            "X-Audit-Log-Reason",
            "X-Captcha-Token",
            "X-Captcha-Type",
            "X-Request-ID",
            "X-Service-Client-Properties",
            "X-Service-Features",
            "X-Service-Sudo-Mode-JWT",
        )
    ),
    "Access-Control-Max-Age": "86400",
}
"""The answer to a browser that asks beforehand what it may send."""


@frozen
class Answer(Generic[B]):
    """An answer with a status or headers of its own. `body` is an object for JSON; None sends no body."""

    status: int = 200
    body: B | None = None
    headers: Mapping[str, str] = attrs.field(factory=dict)


@frozen(kw_only=True)
class Streamed(Answer):
    """An answer whose body is made while it is sent; `body` stays None.

    `pieces` starts making it; ending in OSError or EOFError it breaks the answer off. `length` is None where nobody
    knows it beforehand. The headers name its type. `aclose` is called when the answer is over, sent or not.
    """

    pieces: Callable[[], AsyncGenerator[bytes, None]]
    length: int | None
    aclose: Callable[[], Awaitable[None]] | None = None


def refusal(error: ApiError) -> Answer:
    """The answer that tells of an error."""
    return Answer(error.status, error.body(), error.headers)


Encoded = tuple[int, RawHeaders | bytes, bytes]
"""Status, headers and body. The headers have names in lower case; as bytes they are the lines themselves."""


EncodedPairs = tuple[int, RawHeaders, bytes]
"""As `Encoded`, with headers as pairs of name and value."""


def with_pairs(encoded: Encoded) -> EncodedPairs:
    """The encoded answer with its headers as pairs."""
    status, headers, body = encoded
    if isinstance(headers, bytes):
        lines = (line.partition(b": ") for line in headers.split(b"\r\n")[:-1])
        headers = [(name, value) for name, _, value in lines]
    return status, headers, body


def _lines(headers: Iterable[tuple[bytes, bytes]]) -> bytes:
    return b"".join(b"%b: %b\r\n" % header for header in headers)


_BRIEF: Final = _lines((JSON_TYPE, (b"content-length", b"%d"), NO_CACHE, (b"x-request-id", b"%b")))
_ONLY_TAG: Final = {"ETag"}
_BRIEF_REST: Final = _lines(EVERY_ANSWER)
_BRIEF_SHARED: Final = _lines(EVERY_ANSWER + SHARED)


def encode_brief(answer: Answer, request_id: str, *, shared: bool = True) -> Encoded:
    """As `encode`, with the lines of the headers, and quicker where the answer has none of its own but an ETag."""
    headers = answer.headers
    if answer.body is None or (headers and headers.keys() != _ONLY_TAG):
        status, pairs, body = encode(answer, request_id, shared=shared)
        return status, _lines(pairs), body
    body = orjson.dumps(answer.body)
    lines = _BRIEF % (len(body), request_id.encode("ascii")) + (_BRIEF_SHARED if shared else _BRIEF_REST)
    return answer.status, lines + b"etag: %b\r\n" % headers["ETag"].encode("ascii") if headers else lines, body


def encode(answer: Answer, request_id: str, *, shared: bool = True) -> EncodedPairs:
    """An answer as ASGI sends it; not `shared`, only pages of our own origin may read it."""
    headers: RawHeaders = []
    if isinstance(answer, Streamed):
        body = b""
        if answer.length is not None:
            headers.append((b"content-length", b"%d" % answer.length))
    elif answer.body is None:
        body = b""
        if answer.status not in {204, 304}:
            headers.append((b"content-length", b"0"))
    else:
        body = orjson.dumps(answer.body)
        headers.append(JSON_TYPE)
        headers.append((b"content-length", b"%d" % len(body)))
    headers.append(NO_CACHE)
    headers.append((b"x-request-id", request_id.encode("ascii")))
    headers.extend(EVERY_ANSWER)
    if shared:
        headers.extend(SHARED)
    if answer.headers:
        _put(headers, answer.headers.items())
    return answer.status, headers, body


def _put(headers: RawHeaders, additional: Iterable[tuple[str, str]]) -> None:
    """Add an answer's own headers, each in place of one with its name.

    :raises ValueError: for a value that would end its line.
    """
    for name, value in additional:
        if _UNWRITABLE.search(value):
            raise ValueError(f"the value of {name} cannot be written")
        raw = name.lower().encode("ascii")
        headers[:] = [header for header in headers if header[0] != raw]
        headers.append((raw, value.strip().encode("latin-1")))


async def send_streamed(
    answer: Streamed, headers: RawHeaders, receive: Receive, send: Send, *, head_only: bool
) -> None:
    """Send the whole answer, or only its head; breaks off where the body cannot be finished.

    A piece is made only when the one before is on its way, so a client that reads slowly slows the making down. It ends
    when the client goes (its connection's write deadline counts too), and the making is told so at once.
    """
    try:
        await send({"type": "http.response.start", "status": answer.status, "headers": headers})
        if head_only or await _send_pieces(answer, receive, send):
            await send({"type": "http.response.body", "body": b""})
    finally:
        if answer.aclose is not None:
            with trio.move_on_after(CLOSE_SECONDS, shield=True):
                await answer.aclose()


async def _send_pieces(answer: Streamed, receive: Receive, send: Send) -> bool:
    """Whether all of the body went out. The end of the answer is not sent here: it looks as if the client had gone."""
    complete = False
    async with trio.open_nursery() as nursery:
        nursery.start_soon(_cancel_when_gone, receive, nursery.cancel_scope)
        try:
            async with aclosing(answer.pieces()) as pieces:
                async for piece in pieces:
                    await send({"type": "http.response.body", "body": piece, "more_body": True})
            complete = True
        except (OSError, EOFError):
            pass  # the head is out: a body that is too short is all that can be said
        nursery.cancel_scope.cancel()
    return complete


async def _cancel_when_gone(receive: Receive, scope: trio.CancelScope) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
    scope.cancel()
