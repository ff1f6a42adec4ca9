"""Images inside JSON: a data URI, or base64 alone (wire facts 8)."""

from __future__ import annotations

import base64
import binascii
import re
from typing import Final

_DATA_URI: Final = re.compile(r"data:[a-zA-Z0-9.+-]+/[a-zA-Z0-9.+-]+;base64,", re.ASCII)


def decoded(text: str, maximum: int) -> bytes | None:
    """The bytes behind the text; None when it is neither form.

    :raises OverflowError: when there are more than `maximum` bytes; that is seen before they are decoded.
    """
    prefix = _DATA_URI.match(text)
    start = 0 if prefix is None else prefix.end()
    characters = len(text) - start
    if characters * 3 // 4 > maximum + 3:
        raise OverflowError
    try:
        data = base64.b64decode(text[start:].encode("ascii"), validate=True)
    except (binascii.Error, UnicodeEncodeError):
        return None
    if len(data) > maximum:
        raise OverflowError
    return data or None
