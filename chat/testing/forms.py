"""Bodies of `multipart/form-data` as clients send messages with files (messages.md, Sending messages)."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Final

BOUNDARY: Final = "----boundary-of-the-test-kit"
CONTENT_TYPE: Final = f"multipart/form-data; boundary={BOUNDARY}"


def message_form(files: Mapping[str, bytes], members: Mapping[str, object]) -> bytes:
    """A message with these files, by their names, and with these members beside them.

    The boundary may not stand in a file.
    """
    parts: list[tuple[str, str | None, bytes]] = [("payload_json", None, json.dumps(dict(members)).encode())]
    parts += [(f"files[{number}]", name, data) for number, (name, data) in enumerate(files.items())]
    return b"".join(_part(*part) for part in parts) + f"--{BOUNDARY}--\r\n".encode()


def _part(field: str, filename: str | None, data: bytes) -> bytes:
    head = f'--{BOUNDARY}\r\nContent-Disposition: form-data; name="{field}"'
    if filename is not None:
        quoted = filename.replace("\\", "\\\\").replace('"', '\\"')
        head += f'; filename="{quoted}"\r\nContent-Type: application/octet-stream'
    return f"{head}\r\n\r\n".encode() + data + b"\r\n"
