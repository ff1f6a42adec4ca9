"""What a sign-in tells of where it came from."""

from __future__ import annotations

import pytest

from chat.domain.signing_in.client_info import (
    NO_AGENT,
    USER_AGENT_CHARACTERS,
    AddressLocation,
    UserAgents,
    agent_of,
    client_info,
    masked_address,
)
from chat.store.signing_in.auth_sessions import AuthSession
from tests.growth import is_linear

AGENTS = [
    ("(Windows NT 10.0; Win64; x64) Chrome/142.0 Safari/537.36 Edg/142.0", "Windows", "Edge", "desktop"),
    ("(Linux; Android 15) Chrome/142.0 Mobile Safari/537.36", "Android", "Chrome", "mobile"),
    ("(iPhone; CPU iPhone OS 18_0 like Mac OS X) Version/18.0 Mobile/15E148 Safari/604.1", "iOS", "Safari", "mobile"),
    ("(Macintosh; Intel Mac OS X 15_0) Version/18.0 Safari/605", "macOS", "Safari", "desktop"),
    ("(X11; CrOS x86_64 14541.0.0) Chrome/142.0 Safari/537.36", "ChromeOS", "Chrome", "desktop"),
    ("curl/8.5.0", None, "curl", "desktop"),
    ("(X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0", "Linux", "Firefox", "desktop"),
    ("(iPad; CPU OS 18_0 like Mac OS X) Version/18.0 Mobile/15E148 Safari/604.1", "iPadOS", "Safari", "mobile"),
    ("(iPhone; CPU iPhone OS 18_0 like Mac OS X) CriOS/142.0 Mobile/15E148 Safari/604.1", "iOS", "Chrome", "mobile"),
    ("python-httpx/0.28.1", None, "Python", "desktop"),
    ("Python/3.11 aiohttp/3.9.1", None, "Python aiohttp", "desktop"),
    ("node", None, "Node.js", "desktop"),
    ("okhttp/4.12.0", None, "okhttp", "desktop"),
]


def session(**members: object) -> AuthSession:
    return AuthSession(b"", 1, 0, 0, **members)  # type: ignore[arg-type]


@pytest.mark.parametrize(("agent", "system", "browser", "device"), AGENTS)
def test_user_agents(agent: str, system: str | None, browser: str, device: str) -> None:
    prefix = "Mozilla/5.0 " if agent.startswith("(") else ""
    info = client_info(session(), agent_of(prefix + agent))
    assert info is not None
    assert (info["os"], info["browser"], info["device"]) == (system, browser, device)


def test_what_a_native_client_says_goes_first() -> None:
    info = client_info(session(client_os="Haiku", client_platform="native"), agent_of("curl/8.5.0"))
    assert info is not None
    assert (info["os"], info["platform"]) == ("Haiku", "native")


def test_nothing_known() -> None:
    assert client_info(session(), NO_AGENT) is None
    assert client_info(session(), agent_of("???"), AddressLocation(latitude=1.0)) is None
    info = client_info(session(), NO_AGENT, AddressLocation(country="Sweden"))
    assert info is not None
    assert info["location"] == {"city": None, "region": None, "country": "Sweden"}


async def test_hostile_headers_are_read_in_no_time_and_off_the_loop() -> None:
    hostile = ["Mozilla/5.0 (" + part * 500 for part in ("Android ", "(" * 8, "a;", "iPhone OS 1_", "\x00\ud800", " /")]
    found = await UserAgents().of_all([*hostile, None, "", *hostile])
    assert found.keys() == {*hostile, None}
    for header in hostile:
        assert is_linear(agent_of, lambda length, header=header: header[:length], USER_AGENT_CHARACTERS // 8), header


@pytest.mark.parametrize(
    ("address", "masked"),
    [
        ("192.0.2.17", "192.0.2.*"),
        ("2001:db8:1:2:3:4:5:6", "2001:0db8:0001:*"),
        ("unknown", None),
        (None, None),
    ],
)
def test_addresses_are_masked(address: str | None, masked: str | None) -> None:
    assert masked_address(address) == masked
