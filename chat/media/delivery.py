"""How a file is handed out: addresses and the signatures in those that are secrets, names, ranges, validators, and
headers under which a browser shows it but never runs it (RFC 9110, sections 8.8, 13 and 14).

An attachment's address carries the moment until which it holds and a signature over both; an outside address is fetched
only when this server signed it, so the media proxy fetches no address of a stranger's choice.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import re
import unicodedata
from collections.abc import Mapping
from typing import Final
from urllib.parse import quote

from chat.auth.keys import Keys
from chat.classes import frozen
from chat.clock import Clock
from chat.media.content_types import IMAGE_TYPES
from chat.store.messages.attachments import Attachment

# Names that senders give to their files: shown and offered for saving, never used as a path here

FILE_NAME_BYTES: Final = 255
"""The longest name of a file that common systems take, in UTF-8."""

UNNAMED: Final = "file"

_FORBIDDEN: Final = re.compile(r'[<>:"|?*]')
_DIRECTIONS: Final = frozenset("\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
"""Marks that turn text round, and so can make `gpj.exe` look like a picture."""


def file_name(sent: str) -> str:
    """A harmless name made of what was sent: no directory, no control character, not too long.

    A dot at its beginning stays (`.env`), and none at its end, which Windows takes off.
    """
    last = sent.replace("\\", "/").rstrip("/").rpartition("/")[2]
    plain = unicodedata.normalize("NFC", "".join(character for character in last if _is_plain(character)))
    name = _trimmed(_FORBIDDEN.sub("_", plain))
    return _trimmed(_shortened(name)) or UNNAMED


def _trimmed(name: str) -> str:
    """The name without space around it and dots behind it; empty for one of dots alone."""
    ends = (place + 1 for place in reversed(range(len(name))) if name[place] != "." and not name[place].isspace())
    return name[: next(ends, 0)].lstrip()


def _is_plain(character: str) -> bool:
    return unicodedata.category(character) not in {"Cc", "Cs", "Zl", "Zp"} and character not in _DIRECTIONS


def _shortened(name: str) -> str:
    """The name within FILE_NAME_BYTES, its ending kept."""
    if len(name.encode()) <= FILE_NAME_BYTES:
        return name
    stem, dot, ending = name.rpartition(".")
    if not dot or len(ending.encode()) > 16:
        stem, dot, ending = name, "", ""
    room = FILE_NAME_BYTES - len((dot + ending).encode())
    return stem.encode()[:room].decode("utf-8", "ignore") + dot + ending


def with_ending(name: str, ending: str) -> str:
    """The name of a file that was made of one with this name."""
    stem = name.rpartition(".")[0] or name
    return _shortened(f"{stem}.{ending}")


def disposition(kind: str, name: str) -> str:
    """The value of Content-Disposition (RFC 6266); `kind` is `inline` or `attachment`."""
    plain = name.encode("ascii", "replace").decode("ascii").replace('"', "_").replace("\\", "_").replace("%", "_")
    return f"{kind}; filename=\"{plain}\"; filename*=UTF-8''{quote(name, safe='')}"


# Delivery

FOR_EVER: Final = "public, max-age=31536000, immutable"
"""For what lies under a name that will never mean anything else."""

GUARDED: Final = {
    "Content-Security-Policy": "default-src 'none'; sandbox",
    "Cross-Origin-Resource-Policy": "cross-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}
"""On all media: no browser runs anything in them, and no other site learns their address."""

_RANGE: Final = re.compile(r"bytes=(?:([0-9]{1,18})-([0-9]{0,18})|-([0-9]{1,18}))", re.ASCII)


@frozen
class File:
    """What is to be handed out."""

    content_type: str
    size: int
    etag: str
    """A strong validator, without its quotes."""
    cache_control: str
    name: str | None = None
    """Offered for saving."""


@frozen
class MediaDelivery:
    """Status, headers, and which bytes go out (`start` up to `stop`; none when they are equal)."""

    status: int
    headers: dict[str, str]
    start: int = 0
    stop: int = 0


def delivery(file: File, request: Mapping[str, str]) -> MediaDelivery:
    """The answer to a request with these headers (lower-case names)."""
    etag = f'"{file.etag}"'
    headers = {
        **GUARDED,
        "Content-Type": file.content_type,
        "Cache-Control": file.cache_control,
        "ETag": etag,
        "Accept-Ranges": "bytes",
    }
    kind = "inline" if file.content_type in IMAGE_TYPES else "attachment"
    headers["Content-Disposition"] = kind if file.name is None else disposition(kind, file.name)
    if matches(request.get("if-none-match"), etag):
        return MediaDelivery(304, headers)
    wanted = request.get("range")
    if wanted is None or request.get("if-range", etag) != etag:
        return MediaDelivery(200, headers, 0, file.size)
    match = _RANGE.fullmatch(wanted.replace(" ", ""))
    if match is None:  # several ranges, other units, nonsense: a server may answer with everything
        return MediaDelivery(200, headers, 0, file.size)
    start, stop = _bounds(match, file.size)
    if start >= stop:
        headers["Content-Range"] = f"bytes */{file.size}"
        return MediaDelivery(416, headers)
    headers["Content-Range"] = f"bytes {start}-{stop - 1}/{file.size}"
    return MediaDelivery(206, headers, start, stop)


def _bounds(match: re.Match[str], size: int) -> tuple[int, int]:
    first, last, suffix = match.groups()
    if suffix is not None:
        return max(size - int(suffix), 0), size if int(suffix) else 0
    if last and int(last) < int(first):
        return 0, 0
    return int(first), min(int(last) + 1, size) if last else size


def matches(values: str | None, etag: str) -> bool:
    """Whether If-None-Match (None where there is none) names this entity tag, which has its quotes."""
    if values is None:
        return False
    return any(value.strip() in {"*", etag, f"W/{etag}"} for value in values.split(","))


HOUR_MS: Final = 3_600_000

STEP_MS: Final = 12 * HOUR_MS
"""Within this time an attachment keeps one address, so that clients may keep what they fetched."""

STEPS_AHEAD: Final = 3
"""An address holds for at least two whole steps: 24 to 36 hours."""

ADDRESS_CHARACTERS: Final = 2_048
"""The longest outside address that is signed."""

_EXPIRY: Final = re.compile(r"[0-9a-f]{1,12}", re.ASCII)


class MediaAddresses:
    """Makes addresses under `origin`/media and judges signatures. `keys` are the instance's."""

    def __init__(self, origin: str, keys: Keys, clock: Clock) -> None:
        self._media = f"{origin}/media"
        self._attachments = keys.of("attachment addresses")
        self._external = keys.of("external media")
        self._archives = keys.of("archive addresses")
        self._clock = clock

    def attachment(self, attachment: Attachment) -> str:
        """Where the attachment is found from now on, until `attachments_until`."""
        expiry = self.attachments_until() // 1000
        signature = self._attachment_signature(attachment.channel_id, attachment.id, expiry)
        place = f"{attachment.channel_id}/{attachment.id}/{quote(attachment.filename, safe='')}"
        return f"{self._media}/attachments/{place}?ex={expiry:x}&hm={signature}"

    def attachments_until(self) -> int:
        """When the addresses of attachments end that are made now (Unix ms)."""
        return (self._clock.now_ms() // STEP_MS + STEPS_AHEAD) * STEP_MS

    def seconds_left(self, channel_id: int, attachment_id: int, ex: str | None, hm: str | None) -> int | None:
        """How long an attachment's address holds; None for one that is wrong, has expired, or was made elsewhere."""
        expiry = _expiry(ex)
        expected = self._attachment_signature(channel_id, attachment_id, expiry)
        if not hmac.compare_digest(expected.encode(), (hm or "").encode()):
            return None
        left = expiry - self._clock.now_ms() // 1000
        return left if left > 0 else None

    def archive(self, archive_id: int, name: str, until_ms: int) -> str:
        """Where the file of an archive is found until a moment (Unix ms); `name` is what it is to be called."""
        expiry = until_ms // 1000
        signature = self._archive_signature(archive_id, expiry)
        return f"{self._media}/archives/{archive_id}/{quote(name, safe='')}?ex={expiry:x}&hm={signature}"

    def is_of_archive(self, archive_id: int, ex: str | None, hm: str | None) -> bool:
        """Whether these parts of an archive's address are ours, and hold still."""
        expiry = _expiry(ex)
        expected = self._archive_signature(archive_id, expiry)
        return hmac.compare_digest(expected.encode(), (hm or "").encode()) and self._clock.now_ms() < expiry * 1000

    def external(self, url: str) -> str:
        """The address here under which something outside is served."""
        name = _base64url(url.encode())
        return f"{self._media}/external/{self._external_signature(name)}/{name}"

    def outside(self, signature: str, name: str) -> str | None:
        """The outside address that was signed; None when the signature is not ours for it."""
        if not hmac.compare_digest(self._external_signature(name).encode(), signature.encode()):
            return None
        return base64.urlsafe_b64decode(name + "=" * (-len(name) % 4)).decode()

    def relay(self, capability: str) -> str:
        """The address that takes an upload; knowing it is the permission to send the file."""
        return f"{self._media}/relay/{capability}"

    def _attachment_signature(self, channel_id: int, attachment_id: int, expiry: int) -> str:
        return hmac.new(
            self._attachments, f"{channel_id}/{attachment_id}/{expiry}".encode(), hashlib.sha256
        ).hexdigest()

    def _archive_signature(self, archive_id: int, expiry: int) -> str:
        return hmac.new(self._archives, f"{archive_id}/{expiry}".encode(), hashlib.sha256).hexdigest()

    def _external_signature(self, name: str) -> str:
        return _base64url(hmac.new(self._external, name.encode(), hashlib.sha256).digest())


def _expiry(ex: str | None) -> int:
    """The Unix seconds in an address; 0, when everything has expired, for what says none."""
    return int(ex, 16) if ex is not None and _EXPIRY.fullmatch(ex) is not None else 0


def _base64url(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode("ascii")
