"""Grants: opened as long as they are good, by nobody else's key, and only where they name a room."""

from __future__ import annotations

from typing import Any

import jwt
import pytest

from chat.domain.presence.voice_media import CALL_RIGHTS
from chat.voice.tokens import TOKEN_SECONDS, Opened, make_token, open_token

SECRET, KEY, NOW_MS = b"s" * 64, "chat", 1_767_225_600_000
GOOD = {"iss": KEY, "sub": "user_1_a", "exp": NOW_MS // 1_000 + 5, "video": {"room": "r", "roomJoin": True}}


def opened(secret: bytes | None = SECRET, algorithm: str = "HS256", **changes: Any) -> Opened | None:
    claims = {name: value for name, value in {**GOOD, **changes}.items() if value is not None}
    return open_token(jwt.encode(claims, secret, algorithm), KEY, SECRET, NOW_MS)


def test_a_token_is_good_for_its_time() -> None:
    token = make_token(
        KEY, SECRET, identity="user_1_a", room="dm_channel_2", rights=CALL_RIGHTS, now_ms=NOW_MS, token_id="x"
    )
    good = Opened("user_1_a", "dm_channel_2")
    assert open_token(token, KEY, SECRET, NOW_MS) == good
    assert open_token(token, KEY, SECRET, NOW_MS + TOKEN_SECONDS * 1_000 - 1) == good
    assert open_token(token, KEY, SECRET, NOW_MS + TOKEN_SECONDS * 1_000) is None
    assert open_token(token, KEY, b"t" * 32, NOW_MS) is None
    assert open_token(token, "other", SECRET, NOW_MS) is None


def test_a_token_like_ours_is_opened() -> None:
    assert opened() == Opened("user_1_a", "r")


@pytest.mark.parametrize(
    "changes",
    [
        {"secret": b"t" * 32},
        {"algorithm": "none", "secret": None},
        {"algorithm": "HS512"},
        {"exp": NOW_MS // 1_000},
        {"exp": "soon"},
        {"exp": None},
        {"sub": None},
        {"iss": "other"},
        {"video": None},
        {"video": []},
        {"video": {"room": "r"}},
        {"video": {"room": "r", "roomJoin": 1}},
        {"video": {"room": 1, "roomJoin": True}},
        {"filling": "x" * 5_000},
    ],
)
def test_what_opens_nothing(changes: dict[str, Any]) -> None:
    assert opened(**changes) is None
