"""Writes MaxMind database files (format 2.0), so that look-ups are tested on real ones."""

from __future__ import annotations

import ipaddress
import struct
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

MARKER: Final = b"\xab\xcd\xefMaxMind.com"
RECORD_BYTES: Final = 4

MAP, ARRAY, TEXT, DOUBLE, UINT16, UINT32, UINT64 = 7, 11, 2, 3, 5, 6, 9


def write_database(path: Path, places: Mapping[str, Any]) -> None:
    """A database that has a record for each of the networks, IPv4 or IPv6; written whole, then put in place."""
    root: list[Any] = [None, None]
    data, nodes = b"", [root]
    leaves: list[tuple[list[Any], int, int]] = []
    for text, record in places.items():
        network = ipaddress.ip_network(text)
        length = network.prefixlen + (96 if network.version == 4 else 0)
        number = int(network.network_address)
        node = root
        for position in range(length - 1):
            bit = number >> (127 - position) & 1
            if node[bit] is None:
                node[bit] = [None, None]
                nodes.append(node[bit])
            node = node[bit]
        leaves.append((node, number >> (128 - length) & 1, len(data)))
        data += encoded(record)
    numbers: dict[int, int] = {id(node): number for number, node in enumerate(nodes)}
    targets = {(id(node), side): len(nodes) + 16 + offset for node, side, offset in leaves}
    tree = b"".join(
        struct.pack(">II", *(targets.get((id(node), side), numbers.get(id(node[side]), len(nodes))) for side in (0, 1)))
        for node in nodes
    )
    about = {
        "binary_format_major_version": (UINT16, 2),
        "binary_format_minor_version": (UINT16, 0),
        "build_epoch": (UINT64, 1_700_000_000),
        "database_type": "Test-City",
        "description": {"en": "places of a test"},
        "ip_version": (UINT16, 6),
        "languages": ["en"],
        "node_count": (UINT32, len(nodes)),
        "record_size": (UINT16, RECORD_BYTES * 8),
    }
    new = path.with_suffix(".new")
    new.write_bytes(tree + bytes(16) + data + MARKER + encoded(about))
    new.replace(path)


def encoded(value: Any) -> bytes:
    """A value of the data section; a pair is an integer with its type."""
    match value:
        case dict():
            return _head(MAP, len(value)) + b"".join(encoded(part) for item in value.items() for part in item)
        case list():
            return _head(ARRAY, len(value)) + b"".join(map(encoded, value))
        case str():
            content = value.encode()
            return _head(TEXT, len(content)) + content
        case float():
            return _head(DOUBLE, 8) + struct.pack(">d", value)
        case (int(kind), int(number)):
            content = number.to_bytes((number.bit_length() + 7) // 8, "big")
            return _head(kind, len(content)) + content
        case _:
            raise TypeError(value)


def _head(kind: int, size: int) -> bytes:
    """Type and size of what follows; sizes up to 284 bytes are enough here."""
    inline, rest = (size, b"") if size < 29 else (29, bytes([size - 29]))
    if kind > 7:
        return bytes([inline, kind - 7]) + rest
    return bytes([kind << 5 | inline]) + rest


def city(name: str, region: str, country: str, code: str) -> dict[str, Any]:
    """A record as in a City database."""
    return {
        "city": {"names": {"de": name.upper(), "en": name}},
        "subdivisions": [{"iso_code": region[:2].upper(), "names": {"en": region}}],
        "country": {"iso_code": code, "names": {"en": country}},
        "location": {"latitude": 59.3293, "longitude": -18.0686},
    }
