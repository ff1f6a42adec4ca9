"""What proxies write of their clients: the address comes through in every form, and other text never counts as the
proxy's.

The forms are those of X-Forwarded-For as Azure's gateways, HAProxy, Envoy, IIS and Squid write it, and of RFC 7239.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Callable
from typing import Final

import pytest
import structlog
from hypothesis import given
from hypothesis import strategies as st
from trio.testing import MockClock

from chat.auth.client_address import UNREADABLE, ClientAddresses, parse_address
from chat.testing.server import ChatServer
from chat.testing.world import World

PROXY: Final = "10.0.0.1"
TRUSTING: Final = ClientAddresses(["10.0.0.0/8", "2001:db8:ffff::/48"])

HOPS: Final = [
    ("203.0.113.8", "203.0.113.8"),
    ("203.0.113.8:4711", "203.0.113.8"),
    ('"203.0.113.8:4711"', "203.0.113.8"),
    ('"203.0.113.8"', "203.0.113.8"),
    ("203.0.113.8:_hidden", "203.0.113.8"),
    ("2001:db8::2", "2001:db8::2"),
    ("2001:DB8:0::2", "2001:db8::2"),
    ("[2001:db8::2]", "2001:db8::2"),
    ("[2001:db8::2]:443", "2001:db8::2"),
    ('"[2001:db8::2]:443"', "2001:db8::2"),
    ('"[2001:db8::2]"', "2001:db8::2"),
    ("fe80::1%eth0", "fe80::1"),
    ("[fe80::1%25eth0]:443", "fe80::1"),
    ("::ffff:203.0.113.8", "203.0.113.8"),
    ("[::ffff:203.0.113.8]:4711", "203.0.113.8"),
    ("::ffff:cb00:7108", "203.0.113.8"),
    ("unknown", UNREADABLE),
    ('"unknown"', UNREADABLE),
    ("_hidden", UNREADABLE),
    ("_SEVKISEK", UNREADABLE),
    ("unix:", UNREADABLE),
    ("-", UNREADABLE),
    ("localhost", UNREADABLE),
    ("client.example.org:80", UNREADABLE),
    ("203.0.113", UNREADABLE),
    ("203.0.113.8.", UNREADABLE),
    ("203.0.113.008", UNREADABLE),
    ("203.0.113.8/32", UNREADABLE),
    ("203.0.113.8%1:80", UNREADABLE),
    ("203.0.113.8 10.0.0.1", UNREADABLE),
    ("[203.0.113.8", UNREADABLE),
    ("[]:80", UNREADABLE),
    (":80", UNREADABLE),
    ('"', UNREADABLE),
    ('""', UNREADABLE),
    ("3405803784", UNREADABLE),
    ("\u0662\u0660\u0663.0.113.8", UNREADABLE),
]


@pytest.mark.parametrize(("hop", "client"), HOPS)
def test_a_hop(hop: str, client: str) -> None:
    assert TRUSTING.of(PROXY, [hop]) == client
    assert TRUSTING.of(PROXY, [f"198.51.100.1, {hop}"]) == client
    assert TRUSTING.of(PROXY, [f"{hop}, 10.0.0.2:80"]) == client
    assert TRUSTING.of(PROXY, [hop, '"[2001:db8:ffff::7]:80"']) == client
    assert TRUSTING.of(PROXY, [], None, [f"for={hop}"]) == client
    assert TRUSTING.of("192.0.2.1", [hop], None, [f"for={hop}"]) == "192.0.2.1"


@pytest.mark.parametrize(
    ("values", "client"),
    [
        (["for=203.0.113.8;proto=https;by=10.0.0.1"], "203.0.113.8"),
        (["proto=https; For = 203.0.113.8 ; by=10.0.0.1"], "203.0.113.8"),
        (['by="10.0.0.1:80";for="[2001:db8::2]:443";host="x"'], "2001:db8::2"),
        (["for=198.51.100.1, for=203.0.113.8"], "203.0.113.8"),
        (["for=203.0.113.8, for=10.0.0.2"], "203.0.113.8"),
        (["for=203.0.113.8", "for=10.0.0.2"], "203.0.113.8"),
        (['for="198.51.100.1', "for=203.0.113.8"], "203.0.113.8"),
        (['for="198.51.100.1, for=203.0.113.8'], "203.0.113.8"),
        (["for=203.0.113.8, proto=https"], UNREADABLE),
        (["proto=https;host=chat.example.org"], PROXY),
        (["x-for=203.0.113.8"], PROXY),
        ([""], PROXY),
    ],
)
def test_forwarded(values: list[str], client: str) -> None:
    assert TRUSTING.of(PROXY, [], None, values) == client


@pytest.mark.parametrize(
    ("values", "client"),
    [
        ([], PROXY),
        ([""], PROXY),
        (["203.0.113.8,"], "203.0.113.8"),
        (["203.0.113.8, , 10.0.0.3"], "203.0.113.8"),
        (["10.0.0.3:1, 10.0.0.2:2"], "10.0.0.3"),
    ],
)
def test_what_says_nothing_counts_for_nothing(values: list[str], client: str) -> None:
    assert TRUSTING.of(PROXY, values) == client


def test_the_usual_header_goes_before_the_standard_one() -> None:
    assert TRUSTING.of(PROXY, ["203.0.113.8"], None, ["for=198.51.100.1"]) == "203.0.113.8"


FORMS: Final[list[Callable[[str], str]]] = [
    lambda address: address,
    lambda address: f'"{address}"',
    lambda address: f"[{address}]" if ":" in address else address,
    lambda address: f"[{address}]:443" if ":" in address else f"{address}:65535",
    lambda address: f'"[{address}]:_x.y-z"' if ":" in address else f'"{address}:80"',
]


@given(st.ip_addresses(), st.sampled_from(FORMS), st.text(max_size=40))
def test_every_address_comes_through_whatever_the_client_writes_before_it(
    address: ipaddress.IPv4Address | ipaddress.IPv6Address, form: Callable[[str], str], before: str
) -> None:
    wanted = str(parse_address(str(address)))
    everywhere = ClientAddresses(["198.18.0.1"])
    assert everywhere.of("198.18.0.1", [f"{before},{form(str(address))}"]) == wanted
    assert everywhere.of("198.18.0.1", [before, form(str(address))]) == wanted
    assert everywhere.of("198.18.0.1", (), None, [f"{before},for={form(str(address))}"]) == wanted


UPGRADE: Final = (
    b"get /gateway?v=1 HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
    b"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n%b\r\n\r\n"
)


@given(st.lists(st.text('for=;",[]:.%_0123456789abcdef \u0662', max_size=40) | st.text(), min_size=1))
def test_a_proxy_is_never_taken_for_a_client_that_it_names(values: list[str]) -> None:
    found = TRUSTING.of(PROXY, values)
    if found == PROXY:
        hops = [hop.strip() for value in values for hop in value.split(",")]
        assert all(not hop or PROXY in hop for hop in hops)
    assert found == UNREADABLE or parse_address(found) is not None


def test_the_operator_hears_of_it_once_from_each_proxy() -> None:
    addresses = ClientAddresses(["10.0.0.0/8"])
    with structlog.testing.capture_logs() as lines:
        for peer in ("10.0.0.1", "10.0.0.1", "10.0.0.2"):
            assert addresses.of(peer, ["unknown" + "x" * 10_000]) == UNREADABLE
    assert [(line["peer"], len(line["named"])) for line in lines] == [("10.0.0.1", 80), ("10.0.0.2", 80)]
    assert all("trusted_proxies" in line["remedy"] for line in lines)


@pytest.mark.chat_settings(trusted_proxies=["127.0.0.0/8"])
async def test_a_client_that_its_proxy_does_not_name_is_refused_and_told_so(
    chat_server: ChatServer, chat_world: World, autojump_clock: MockClock
) -> None:
    rest = chat_world.alice.rest
    for headers in ({"X-Forwarded-For": "unknown"}, {"Forwarded": "for=_hidden"}):
        for path in ("/v1/users/@me", "/nothing-here"):
            answer = await rest.request("GET", path, headers=headers)
            assert (answer.status, answer.code) == (400, "BAD_REQUEST")
            assert "does not name your address" in answer.body.decode()
    async with await chat_server.route("127.0.0.1").connect_to_gateway() as socket:
        await socket.send_all(UPGRADE % b"X-Forwarded-For: unknown")
        assert (await socket.receive_some()).startswith(b"HTTP/1.1 400 ")
    async with await chat_server.route("127.0.0.1").connect_to_gateway() as socket:
        await socket.send_all(UPGRADE % b'Forwarded: for="[2001:db8::2]:443"')
        assert (await socket.receive_some()).startswith(b"HTTP/1.1 101 ")
    (await rest.request("GET", "/v1/users/@me", headers={"X-Forwarded-For": "203.0.113.8:4711"})).expect(200)
    (await rest.request("GET", "/v1/users/@me")).expect(200)
