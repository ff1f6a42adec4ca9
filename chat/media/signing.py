"""Addresses of media, and the signatures in those that are secrets.

An attachment's address carries the moment until which it holds and a signature over both; an outside address is
fetched only when this server signed it, so the media proxy fetches no address of a stranger's choice.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import re
from typing import Final
from urllib.parse import quote

from chat.auth.keys import Keys
from chat.clock import Clock
from chat.store.messages.attachments import Attachment

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
        """Where the attachment is found from now on, for a while."""
        expiry = (self._clock.now_ms() // STEP_MS + STEPS_AHEAD) * STEP_MS // 1000
        signature = self._attachment_signature(attachment.channel_id, attachment.id, expiry)
        place = f"{attachment.channel_id}/{attachment.id}/{quote(attachment.filename, safe='')}"
        return f"{self._media}/attachments/{place}?ex={expiry:x}&hm={signature}"

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
