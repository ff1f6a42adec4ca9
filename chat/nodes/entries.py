"""The entries that one side of a link appends to a stream, and their bytes."""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence
from typing import Final

from chat.classes import frozen
from chat.nodes.codec import Malformed

_LENGTH: Final = struct.Struct("!I")
_FRAME: Final = struct.Struct("!BQQQBB")
_FORMAT: Final = 1


@frozen
class StreamEntry:
    """Messages that one side appends together, numbered from `first` on. `confirmed` is the last message that it
    received from the other side. `gap` says that it misses messages of the other side."""

    sender: str
    epoch: int
    first: int
    confirmed: int
    messages: Sequence[bytes] = ()
    gap: bool = False


def encode_entry(entry: StreamEntry) -> bytes:
    """An entry as bytes."""
    sender = entry.sender.encode()
    parts = [_FRAME.pack(_FORMAT, entry.epoch, entry.first, entry.confirmed, entry.gap, len(sender)), sender]
    for message in entry.messages:
        parts += (_LENGTH.pack(len(message)), message)
    return b"".join(parts)


def decode_entry(data: bytes) -> StreamEntry:
    """The entry in these bytes. Raises Malformed."""
    try:
        form, epoch, first, confirmed, gap, length = _FRAME.unpack_from(data)
        if form != _FORMAT:
            raise Malformed("an entry of another version")
        at = _FRAME.size + length
        sender = data[_FRAME.size : at].decode()
        return StreamEntry(sender, epoch, first, confirmed, tuple(_parts(data, at)), bool(gap))
    except (struct.error, UnicodeDecodeError) as error:
        raise Malformed("an entry that cannot be read") from error


def _parts(data: bytes, at: int) -> Iterator[bytes]:
    while at < len(data):
        (length,) = _LENGTH.unpack_from(data, at)
        at += _LENGTH.size
        if at + length > len(data):
            raise Malformed("an entry that is cut off")
        yield data[at : at + length]
        at += length
