"""The opening handshake: what becomes a WebSocket, and what is told instead.

Area: port. Rules: 000.connect.
"""

from __future__ import annotations

import json

import pytest

from chat.auth.client_address import ClientAddresses
from chat.port.upgrade import UpgradeRefused, open_websocket
from tests.gateway.raw_websocket import upgrade

NOBODY = ClientAddresses()


def test_a_proper_handshake_is_accepted_without_extension_or_subprotocol() -> None:
    head = upgrade(headers=b"Sec-WebSocket-Extensions: permessage-deflate\r\nSec-WebSocket-Protocol: json\r\n")
    request, answer = open_websocket(head, "10.0.0.7", NOBODY)
    assert request.path == "/gateway"
    assert request.query_string == "v=1&encoding=json"
    assert request.address == "10.0.0.7"
    assert request.header("host") == "example.test"
    assert answer == (
        b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
        b"Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n\r\n"
    )


@pytest.mark.rule("000.connect.4")
@pytest.mark.parametrize("origin", [b"null", b"https://example.test", b"http://evil.test", b"file://"])
def test_any_origin_is_accepted(origin: bytes) -> None:
    _, answer = open_websocket(upgrade(headers=b"Origin: " + origin + b"\r\n"), "10.0.0.7", NOBODY)
    assert answer.startswith(b"HTTP/1.1 101 ")


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (b"Upgrade: websocket", b"Upgrade: WebSocket"),
        (b"Upgrade: websocket", b"Upgrade: h2c, websocket"),
        (b"Connection: keep-alive, Upgrade", b"Connection: upgrade"),
        (b"Connection: keep-alive, Upgrade", b"Connection: keep-alive\r\nConnection: Upgrade"),
        (b"Host", b"Content-Length: 0\r\nHost"),
    ],
)
def test_letter_case_and_lists_are_those_of_the_standard(old: bytes, new: bytes) -> None:
    assert open_websocket(upgrade().replace(old, new), "10.0.0.7", NOBODY)[1].startswith(b"HTTP/1.1 101 ")


@pytest.mark.parametrize(
    ("old", "new", "status", "header"),
    [
        pytest.param(b"Upgrade: websocket\r\n", b"", 426, b"Upgrade: websocket", id="no Upgrade"),
        pytest.param(b"Upgrade: websocket", b"Upgrade: h2c", 426, b"Upgrade: websocket", id="another protocol"),
        pytest.param(b", Upgrade\r\n", b"\r\n", 426, b"Upgrade: websocket", id="no Connection: Upgrade"),
        pytest.param(b"Version: 13", b"Version: 8", 426, b"Sec-WebSocket-Version: 13", id="another version"),
        pytest.param(b"Sec-WebSocket-Version: 13\r\n", b"", 426, b"Sec-WebSocket-Version: 13", id="no version"),
        pytest.param(b"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n", b"", 400, b"", id="no key"),
        pytest.param(b"dGhlIHNhbXBsZSBub25jZQ==", b"c2hvcnQ=", 400, b"", id="short key"),
        pytest.param(b"dGhlIHNhbXBsZSBub25jZQ==", b"%%%", 400, b"", id="key not base64"),
        pytest.param(b"Host", b"Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\nHost", 400, b"", id="two keys"),
        pytest.param(b"GET", b"POST", 400, b"", id="another method"),
        pytest.param(b"HTTP/1.1", b"HTTP/1.0", 400, b"", id="HTTP/1.0"),
        pytest.param(b"Host: example.test\r\n", b"", 400, b"", id="no Host"),
        pytest.param(b"Host", b"Content-Length: 5\r\nHost", 400, b"", id="a body"),
        pytest.param(b"Host", b"Transfer-Encoding: chunked\r\nHost", 400, b"", id="a chunked body"),
        pytest.param(b"Host: example.test", b"Host : example.test", 400, b"", id="not HTTP"),
    ],
)
def test_what_is_no_handshake_is_answered_in_json_and_closed(
    old: bytes, new: bytes, status: int, header: bytes
) -> None:
    assert old in upgrade()
    with pytest.raises(UpgradeRefused) as refused:
        open_websocket(upgrade().replace(old, new), "10.0.0.7", NOBODY)
    head, _, body = refused.value.answer.partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 %d " % status)
    assert b"Content-Type: application/json" in head
    assert b"Connection: close" in head
    assert header in head
    assert json.loads(body)["code"] == "BAD_REQUEST"
    assert json.loads(body)["message"]


def test_the_address_is_what_a_trusted_proxy_says() -> None:
    head = upgrade(headers=b"X-Forwarded-For: 203.0.113.9, 198.51.100.4\r\nX-Forwarded-For: 10.0.0.1\r\n")
    trusting = ClientAddresses(["10.0.0.0/8"])
    assert open_websocket(head, "10.0.0.7", trusting)[0].address == "198.51.100.4"
    assert open_websocket(head, "192.0.2.1", trusting)[0].address == "192.0.2.1"
    assert open_websocket(head, "10.0.0.7", NOBODY)[0].address == "10.0.0.7"


def test_the_address_for_tests_counts_from_loopback_only() -> None:
    head = upgrade(headers=b"X-Test-Address: 10.0.0.7\r\n")
    testing = ClientAddresses(test_header=True)
    assert open_websocket(head, "127.0.0.1", testing)[0].address == "10.0.0.7"
    assert open_websocket(head, "192.0.2.1", testing)[0].address == "192.0.2.1"
    assert open_websocket(head, "127.0.0.1", NOBODY)[0].address == "127.0.0.1"
