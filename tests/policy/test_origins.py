"""The origin in addresses that are handed out, and what counts as a host."""

from __future__ import annotations

import ipaddress
from urllib.parse import urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chat.domain.policy.origins import Origins, is_host

GOOD = [
    "chat.example",
    "chat.example:8080",
    "CHAT",
    "localhost:1",
    "192.0.2.7",
    "192.0.2.7:65535",
    "[2001:db8::1]",
    "[::1]:8080",
    "xn--bcher-kva.example",
    "a-b.c",
]
BAD = [
    "",
    " chat.example",
    "chat.example ",
    "chat.example/",
    "chat.example/path",
    "chat.example?x",
    "chat.example#x",
    "user@chat.example",
    "user:pass@chat.example",
    "chat.example:",
    "chat.example:0",
    "chat.example:65536",
    "chat.example:80:80",
    "chat..example",
    ".chat.example",
    "chat.example.",
    "-chat.example",
    "chat-.example",
    "chat_.example",
    "192.0.2.300",
    "192.0.2",
    "1",
    "2001:db8::1",
    "[2001:db8::1",
    "[2001:db8::g]",
    "[]",
    "[v1.x]",
    "chat.example\r\nX: y",
    "chat.example\n",
    "chat.example,other.example",
    'chat.example"',
    "<script>",
    "bücher.example",
    "a" * 64 + ".example",
    "a." * 200 + "example",
    "chat.example:\N{ARABIC-INDIC DIGIT EIGHT}",
]


@pytest.mark.parametrize("host", GOOD)
def test_hosts(host: str) -> None:
    assert is_host(host)
    assert Origins("http://127.0.0.1:8080", follows_host=True).of(host) == f"http://{host.lower()}"


@pytest.mark.parametrize("host", [*BAD, None])
def test_what_is_none_counts_as_not_sent(host: str | None) -> None:
    assert host is None or not is_host(host)
    assert Origins("http://127.0.0.1:8080", follows_host=True).of(host) == "http://127.0.0.1:8080"


@given(st.text() | st.from_regex(r"[a-z0-9.:@/\[\]-]{1,20}", fullmatch=True))
def test_whatever_passes_is_an_origin_and_nothing_more(host: str) -> None:
    if not is_host(host):
        return
    parts = urlsplit(f"http://{host.lower()}")
    assert (parts.scheme, parts.netloc, parts.path, parts.query) == ("http", host.lower(), "", "")
    assert parts.username is None
    assert parts.port is None or parts.port > 0
    assert parts.hostname
    if ":" in parts.hostname:
        ipaddress.ip_address(parts.hostname)


@pytest.mark.parametrize("host", [*GOOD, *BAD])
def test_with_a_public_url_no_host_counts(host: str) -> None:
    origins = Origins("https://chat.example")
    assert (origins.of(host), origins.shared, origins.fixed) == ("https://chat.example",) * 3
