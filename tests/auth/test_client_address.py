"""Whose address a request comes from."""

from __future__ import annotations

import pytest
import structlog
from hypothesis import given
from hypothesis import strategies as st

from chat.auth.client_address import UNNAMED_MAXIMUM, UNREADABLE, ClientAddresses, network_of, subnet_of

PROXIED = ClientAddresses(["10.0.0.0/8", "2001:db8::/32"])


def test_without_trusted_proxies_only_the_peer_counts() -> None:
    assert ClientAddresses().of("192.0.2.1", ["198.51.100.7"], "203.0.113.9") == "192.0.2.1"


@pytest.mark.parametrize(
    ("peer", "forwarded", "client"),
    [
        ("192.0.2.1", ["198.51.100.7"], "192.0.2.1"),
        ("10.0.0.1", ["198.51.100.7"], "198.51.100.7"),
        ("10.0.0.1", [], "10.0.0.1"),
        ("10.0.0.1", ["203.0.113.1, 198.51.100.7"], "198.51.100.7"),
        ("10.0.0.1", ["203.0.113.1, 10.0.0.2"], "203.0.113.1"),
        ("10.0.0.1", ["203.0.113.1", "10.0.0.2"], "203.0.113.1"),
        ("10.0.0.1", ["10.0.0.3, 10.0.0.2"], "10.0.0.3"),
        ("10.0.0.1", ["nonsense"], UNREADABLE),
        ("10.0.0.1", ["198.51.100.7, nonsense"], UNREADABLE),
        ("10.0.0.1", ["nonsense, 198.51.100.7"], "198.51.100.7"),
        ("2001:db8::1", ["198.51.100.7"], "198.51.100.7"),
        ("::ffff:10.0.0.1", ["198.51.100.7"], "198.51.100.7"),
        ("", ["198.51.100.7"], ""),
    ],
)
def test_a_trusted_proxy_is_believed_as_far_as_the_next_stranger(peer: str, forwarded: list[str], client: str) -> None:
    assert PROXIED.of(peer, forwarded) == client


def test_a_test_may_name_an_address_from_loopback_only() -> None:
    addresses = ClientAddresses(test_header=True)
    assert addresses.of("127.0.0.1", (), "10.0.0.7") == "10.0.0.7"
    assert addresses.of("::1", (), "10.0.0.7") == "10.0.0.7"
    assert addresses.of("192.0.2.1", (), "10.0.0.7") == "192.0.2.1"
    assert addresses.of("127.0.0.1", (), "nonsense") == "127.0.0.1"
    assert addresses.of("127.0.0.1") == "127.0.0.1"
    assert ClientAddresses().of("127.0.0.1", (), "10.0.0.7") == "127.0.0.1"


def test_ipv6_counts_by_network() -> None:
    assert network_of("2001:db8:1:2:3:4:5:6") == network_of("2001:db8:1:2::9") != network_of("2001:db8:1:3::9")
    assert network_of("192.0.2.1") != network_of("192.0.2.2")
    assert subnet_of("192.0.2.1") == subnet_of("192.0.2.200") != subnet_of("192.0.3.1")
    assert subnet_of("2001:db8:1::1") == subnet_of("2001:db8:1:ffff::1") != subnet_of("2001:db8:2::1")


@given(st.text(), st.lists(st.text()), st.none() | st.text())
def test_no_header_raises(peer: str, forwarded: list[str], named: str | None) -> None:
    for addresses in (PROXIED, ClientAddresses(["0.0.0.0/0"], test_header=True)):
        assert isinstance(addresses.of(peer, forwarded, named), str)
    assert isinstance(network_of(peer), str)
    assert isinstance(subnet_of(peer), str)


def test_the_first_forwarded_header_of_a_stranger_is_told_once() -> None:
    addresses = ClientAddresses(["10.0.0.0/8"])
    with structlog.testing.capture_logs() as lines:
        assert not addresses.is_unnamed_proxy("10.0.0.1")
        assert not addresses.is_unnamed_proxy("::ffff:10.0.0.1")
        assert lines == []
        for peer in ("127.0.0.1", "192.0.2.1", "127.0.0.1", "nonsense"):
            assert addresses.is_unnamed_proxy(peer)
    [line] = lines
    assert (line["log_level"], line["peer"]) == ("warning", "127.0.0.1")
    assert "trusted_proxies" in line["remedy"]
    assert addresses.was_unnamed_proxy("192.0.2.1")
    assert not addresses.was_unnamed_proxy("10.0.0.1")
    for number in range(2 * UNNAMED_MAXIMUM):
        assert addresses.is_unnamed_proxy(f"198.51.100.{number}")
    assert sum(addresses.was_unnamed_proxy(f"198.51.100.{number}") for number in range(2 * UNNAMED_MAXIMUM)) < 1_000
