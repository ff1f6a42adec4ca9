"""What a sign-in tells of where it came from."""

from __future__ import annotations

import pytest

from chat.domain.client_info import client_info, masked_address
from chat.store.auth_sessions import AuthSession

AGENTS = [
    ("(Windows NT 10.0; Win64; x64) Chrome/142.0 Safari/537.36 Edg/142.0", "Windows", "Edge", "desktop"),
    ("(Linux; Android 15) Chrome/142.0 Mobile Safari/537.36", "Android", "Chrome", "mobile"),
    ("(iPhone; CPU iPhone OS 18_0 like Mac OS X) Version/18.0 Mobile/15E148 Safari/604.1", "iOS", "Safari", "mobile"),
    ("(Macintosh; Intel Mac OS X 15_0) Version/18.0 Safari/605", "macOS", "Safari", "desktop"),
    ("(X11; CrOS x86_64) Chrome/142.0 Safari/537.36", "ChromeOS", "Chrome", "desktop"),
    ("curl/8.5.0", None, "curl", "desktop"),
]


def session(**members: object) -> AuthSession:
    return AuthSession(b"", 1, 0, 0, **members)  # type: ignore[arg-type]


@pytest.mark.parametrize(("agent", "system", "browser", "device"), AGENTS)
def test_user_agents(agent: str, system: str | None, browser: str, device: str) -> None:
    info = client_info(session(user_agent=agent))
    assert info is not None
    assert (info["os"], info["browser"], info["device"]) == (system, browser, device)


def test_what_a_native_client_says_goes_first() -> None:
    info = client_info(session(user_agent="curl/8.5.0", client_os="Haiku", client_platform="native"))
    assert info is not None
    assert (info["os"], info["platform"]) == ("Haiku", "native")


def test_nothing_known() -> None:
    assert client_info(session()) is None
    assert client_info(session(user_agent="???")) is None


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
