"""Images inside JSON: base64 alone, or a data URL, whose payload is everything after the first comma (media.md, Image
intake)."""

from __future__ import annotations

import base64
import binascii
from typing import Final

PAYLOAD_CHARACTERS: Final = 139_810_136
"""The longest payload (media.md, Image intake)."""


class LengthRefused(Exception):
    """The payload is empty, or longer than any may be."""


class SizeRefused(Exception):
    """The payload stands for more bytes than are wanted here."""


def decoded(text: str, maximum: int) -> bytes | None:
    """The bytes behind the text; None when its payload is not base64.

    Both refusals come before anything is decoded.

    :raises LengthRefused: unless the payload has 1 to PAYLOAD_CHARACTERS characters.
    :raises SizeRefused: when there are more than `maximum` bytes.
    """
    start = text.find(",") + 1
    characters = len(text) - start
    if not 1 <= characters <= PAYLOAD_CHARACTERS:
        raise LengthRefused
    if characters * 3 // 4 > maximum + 3:
        raise SizeRefused
    if characters % 4:
        return None
    try:
        data = base64.b64decode(text[start:].encode("ascii"), validate=True)
    except (binascii.Error, UnicodeEncodeError):
        return None
    if len(data) > maximum:
        raise SizeRefused
    return data
