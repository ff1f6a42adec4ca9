"""What the tests of webhooks, uploads and media share: small files, forms, and ways to send them."""

from __future__ import annotations

import base64
import struct
import zlib
from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import urlsplit

from chat.testing.rest_client import Response, RestClient

BOUNDARY = "----a-boundary-of-tests"


def png(width: int = 3, height: int = 2, *, filler: bytes = b"") -> bytes:
    """A whole PNG image; `filler` makes it another one."""

    def chunk(name: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))

    rows = zlib.compress((b"\0" + b"\x10\x20\x30" * width) * height) if width * height < 1_000_000 else b""
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    palette = chunk(b"sPLT", b"suggested\0\x08" + filler) if filler else b""  # which stays: it is no metadata
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + palette + chunk(b"IDAT", rows) + chunk(b"IEND", b"")


def data_uri(data: bytes, kind: str = "image/png") -> str:
    """An image as JSON bodies have it."""
    return f"data:{kind};base64,{base64.b64encode(data).decode()}"


def form(files: Sequence[tuple[str, str, bytes]], payload: bytes | None = None) -> bytes:
    """A multipart body: files as (field, file name, bytes), and `payload_json`."""
    parts = []
    if payload is not None:
        parts.append(
            b'Content-Disposition: form-data; name="payload_json"\r\nContent-Type: application/json\r\n\r\n' + payload
        )
    for field, name, data in files:
        quoted = name.replace("\\", "\\\\").replace('"', '\\"')
        head = f'Content-Disposition: form-data; name="{field}"; filename="{quoted}"\r\nContent-Type: text/html\r\n\r\n'
        parts.append(head.encode() + data)
    opening = f"--{BOUNDARY}\r\n".encode()
    return b"".join(opening + part + b"\r\n" for part in parts) + f"--{BOUNDARY}--\r\n".encode()


FORM_HEADERS = {"Content-Type": f"multipart/form-data; boundary={BOUNDARY}"}


async def post_form(client: RestClient, path: str, body: bytes) -> Response:
    """POST a form."""
    return await client.request("POST", path, body=body, headers=FORM_HEADERS)


def target(url: str) -> str:
    """The path and query of an address that the server handed out."""
    parts = urlsplit(url)
    return f"{parts.path}?{parts.query}" if parts.query else parts.path


async def fetch(client: RestClient, url: str, headers: Mapping[str, str] | None = None) -> Response:
    """GET an address that the server handed out."""
    return await client.request("GET", target(url), headers=headers)


async def new_webhook(client: RestClient, channel_id: str, **members: Any) -> dict[str, Any]:
    """Make a webhook."""
    answer = await client.post(f"/v1/channels/{channel_id}/webhooks", {"name": "Herald", **members})
    webhook: dict[str, Any] = answer.expect(200)
    return webhook


def webhook_path(webhook: Mapping[str, Any]) -> str:
    """The address that is the webhook's credential."""
    return f"/v1/webhooks/{webhook['id']}/{webhook['token']}"


async def promised(client: RestClient, channel_id: str, *files: tuple[str, int]) -> list[dict[str, Any]]:
    """Promises for files given as (name, size)."""
    body = {
        "files": [{"id": str(number), "filename": name, "file_size": size} for number, (name, size) in enumerate(files)]
    }
    answer = await client.post(f"/v1/channels/{channel_id}/attachments", body)
    attachments: list[dict[str, Any]] = answer.expect(200)["attachments"]
    return attachments
