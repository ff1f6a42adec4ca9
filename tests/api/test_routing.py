"""Which path leads where."""

from __future__ import annotations

from urllib.parse import quote, unquote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chat.api.routing import RouteTable, canonical


@pytest.fixture(scope="module")
def table() -> RouteTable[str]:
    table: RouteTable[str] = RouteTable()
    for method, path in [
        ("GET", "/v1/users/@me"),
        ("PATCH", "/v1/users/@me"),
        ("GET", "/v1/users/{user_id}"),
        ("GET", "/v1/users/{user_id}/profile"),
        ("GET", "/v1/users/@me/settings"),
        ("PUT", "/v1/channels/{channel_id}/messages/{message_id}/reactions/{emoji}/@me"),
    ]:
        table.add(method, path, f"{method} {path}")
    return table


@pytest.mark.parametrize(
    ("path", "target", "members"),
    [
        ("/v1/users/@me", "GET /v1/users/@me", []),
        ("/v1/users/5", "GET /v1/users/{user_id}", ["5"]),
        ("/v1/users/5/profile", "GET /v1/users/{user_id}/profile", ["5"]),
        ("/v1/users/@me/profile", "GET /v1/users/{user_id}/profile", ["@me"]),
        ("/v1/users/%40me", "GET /v1/users/@me", []),
        ("/v1/%75sers/%35", "GET /v1/users/{user_id}", ["5"]),
        ("/v1/users/a%2Fb", "GET /v1/users/{user_id}", ["a/b"]),
        ("/v1/users/@me/settings", "GET /v1/users/@me/settings", []),
    ],
)
def test_paths_that_lead_somewhere(table: RouteTable[str], path: str, target: str, members: list[str]) -> None:
    found = table.find(canonical(path))
    assert found is not None
    targets, named = found
    assert (targets["GET"], named) == (target, members)


@pytest.mark.parametrize("path", ["/v1/users/a%2Fb%25%20c%3F%23", "/v1/users/%FF", "//", "*"])
def test_what_needs_an_escape_keeps_it(path: str) -> None:
    assert canonical(path) == path


@given(st.text(max_size=20).filter(lambda text: not any("\ud800" <= each <= "\udfff" for each in text)))
def test_an_escaped_segment_means_what_it_meant(text: str) -> None:
    escaped = "".join(f"%{octet:02x}" for octet in text.encode())
    assert unquote(canonical(f"/{escaped}")) == f"/{text}"
    assert canonical(f"/{escaped}") == canonical(f"/{quote(text, safe='')}") == canonical(canonical(f"/{escaped}"))


def test_an_emoji_keeps_its_escapes_to_itself(table: RouteTable[str]) -> None:
    found = table.find("/v1/channels/1/messages/2/reactions/%F0%9F%91%8D%2F%3A5/@me")
    assert found is not None
    assert found[1] == ["1", "2", "👍/:5"]


@pytest.mark.parametrize(
    "path",
    ["", "/", "/v1", "/v1/users", "/v1/users/", "/v1/users/@me/", "/v1/users//profile", "//v1/users/@me",
     "/V1/users/@me", "/v1/users/5/unknown", "/v1/users/%FF", "*"],
)  # fmt: skip
def test_paths_that_lead_nowhere(table: RouteTable[str], path: str) -> None:
    assert table.find(path) is None


def test_one_method_of_a_path_leads_to_one_place(table: RouteTable[str]) -> None:
    with pytest.raises(ValueError, match="declared twice"):
        table.add("GET", "/v1/users/{id}", "again")


@given(st.text(alphabet="/%v1users@me5F.", max_size=40))
def test_any_path_leads_somewhere_or_nowhere(path: str) -> None:
    table: RouteTable[str] = RouteTable()
    table.add("GET", "/v1/users/{user_id}", "user")
    found = table.find(path)
    assert found is None or len(found[1]) == 1
