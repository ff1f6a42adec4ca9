"""Which outside addresses may be asked."""

from __future__ import annotations

import pytest

from chat.media.outside_addresses import AddressGuard, OutsideRefused, parsed


@pytest.mark.parametrize(
    "address",
    [
        "8.8.8.8",
        "93.184.216.34",
        "2606:2800:220:1:248:1893:25c8:1946",
        "64:ff9b::808:808",
        "::ffff:8.8.8.8",
        "2002:808:808::1",
    ],
)
def test_public_addresses_may(address: str) -> None:
    assert AddressGuard().admits(address)


@pytest.mark.parametrize(
    "address",
    [
        "0.0.0.0", "10.1.2.3", "100.64.1.1", "127.0.0.1", "127.255.255.254", "169.254.169.254", "172.16.0.1",  # noqa: S104
        "192.0.0.1", "192.0.2.1", "192.168.0.1", "198.18.0.1", "203.0.113.1", "224.0.0.1", "240.0.0.1",
        "255.255.255.255", "::", "::1", "fc00::1", "fd12::1", "fe80::1", "fe80::1%eth0", "fec0::1", "ff02::1",
        "2001:db8::1", "2001::1", "::ffff:127.0.0.1", "::ffff:10.0.0.1", "64:ff9b::7f00:1", "64:ff9b::a9fe:a9fe",
        "2002:7f00:1::", "2002:a00:1::", "localhost", "",
    ],
)  # fmt: skip
def test_all_others_may_not(address: str) -> None:
    assert not AddressGuard().admits(address)


def test_networks_of_the_operator_may_where_they_are_named() -> None:
    guard = AddressGuard(["10.0.0.0/8", "fd12::/16"])
    assert guard.admits("10.1.2.3")
    assert guard.admits("fd12::1")
    assert not guard.admits("192.168.0.1")
    assert not guard.admits("fd13::1")


@pytest.mark.parametrize(
    "url",
    [
        "", "x", "http:", "http://", "http:///x", "//host/x", "ftp://host/x", "file:///etc/passwd", "gopher://host/",
        "javascript:alert(1)", "http://user@host/", "http://user:pw@host/", "http://host:0x50/", "http://host:99999/",
        "http://host:22/", "http://host:0/", "http://host/ x", "http://host/\r\nX: y", "http://host\\@other/",
        "http://host/\x7f", "http://host/\x00", "http://hößt/", "http://[::1/", "http://host/" + "x" * 3_000,
    ],
)  # fmt: skip
def test_addresses_that_are_none(url: str) -> None:
    with pytest.raises(OutsideRefused):
        parsed(url)


@pytest.mark.parametrize(
    ("url", "host", "port"),
    [
        ("http://host", "host", 80),
        ("https://Host.Example/x?y", "host.example", 443),
        ("https://host:8443/", "host", 8443),
        ("http://[2606:2800:220:1::1]/", "2606:2800:220:1::1", 80),
    ],
)
def test_addresses_in_their_parts(url: str, host: str, port: int) -> None:
    assert parsed(url)[1:] == (host, port)


async def test_the_connection_goes_to_the_address_that_was_judged() -> None:
    target = await AddressGuard().target("https://8.8.8.8:8443/a/b?c=d#e")
    assert (target.address, target.port, target.path) == ("8.8.8.8", 8443, "/a/b?c=d")
    assert target.host_header == "8.8.8.8:8443"
    assert (await AddressGuard().target("http://8.8.8.8")).path == "/"
    assert (await AddressGuard().target("http://8.8.8.8")).host_header == "8.8.8.8"
    with pytest.raises(OutsideRefused):
        await AddressGuard().target("http://localhost/")
