"""Grants as JSON Web Tokens, as LiveKit's clients and servers read them."""

from __future__ import annotations

from typing import Final

import jwt

from chat.classes import frozen
from chat.domain.presence.voice_media import MediaRights

ALGORITHM: Final = "HS256"
TOKEN_SECONDS: Final = 600
TOKEN_CHARACTERS: Final = 4_096

_CLAIMS: Final = ("iss", "sub", "exp", "video")


@frozen
class Opened:
    """What a valid token opens."""

    identity: str
    room: str


def make_token(
    key: str, secret: bytes, *, identity: str, room: str, rights: MediaRights, now_ms: int, token_id: str
) -> str:
    """A grant for one identity in one room, good for TOKEN_SECONDS."""
    now = now_ms // 1_000
    sources = (["microphone"] if rights.speaks else []) + (
        ["camera", "screen_share", "screen_share_audio"] if rights.streams else []
    )
    claims = {
        "iss": key,
        "sub": identity,
        "nbf": now - 5,
        "exp": now + TOKEN_SECONDS,
        "jti": token_id,
        "video": {
            "room": room,
            "roomJoin": True,
            "canPublish": bool(sources) and rights.hears,
            "canSubscribe": rights.hears,
            "canPublishData": False,
            "canPublishSources": sources,
        },
    }
    return jwt.encode(claims, secret, ALGORITHM)


def open_token(token: str, key: str, secret: bytes, now_ms: int) -> Opened | None:
    """Who may enter what; None for a token that is not ours, has expired or opens no room."""
    if len(token) > TOKEN_CHARACTERS:
        return None
    try:
        claims = jwt.decode(
            token,
            secret,
            algorithms=[ALGORITHM],
            issuer=key,
            # The server's clock judges, which tests and `chat dev` move.
            options={"require": list(_CLAIMS), "verify_exp": False, "verify_nbf": False, "verify_iat": False},
        )
    except jwt.InvalidTokenError:
        return None
    video, expires = claims["video"], claims["exp"]
    if type(expires) is not int or expires * 1_000 <= now_ms or type(video) is not dict:
        return None
    room = video.get("room")
    return Opened(claims["sub"], room) if video.get("roomJoin") is True and type(room) is str else None
