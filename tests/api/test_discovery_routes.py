"""The discovery document and the health check (wire facts 2.1, 2.4)."""

from __future__ import annotations

from typing import Any

import pytest
import trio
import trio.testing

from chat.domain.policy.readiness import RETRY_SECONDS, TRUSTED_SECONDS
from chat.store.administration import instance
from chat.testing.server import ChatServer
from chat.testing.world import World

SHAPE: dict[str, Any] = {
    "api_code_version": int,
    "endpoints": dict.fromkeys(
        ("api", "api_client", "api_public", "gateway", "media", "static_cdn", "marketing", "admin", "invite", "gift",
         "webapp"),
        str,
    ),
    "captcha": {"provider": str, "hcaptcha_site_key": None, "turnstile_site_key": None},
    "features": dict.fromkeys(
        ("voice_enabled", "stripe_enabled", "self_hosted", "presigned_attachment_uploads", "emails_enabled",
         "phone_verification_enabled"),
        bool,
    ) | {"account_identity": str, "tag_style": str},
    "gif": {"provider": str, "display_name": str, "attribution_required": bool},
    "sso": {"enabled": bool, "enforced": bool, "display_name": None, "redirect_uri": str},
    "registration": {"mode": str, "admin_registration_urls_enabled": bool},
    "community": {"single_community": bool, "single_community_guild_id": None, "direct_messages_disabled": bool},
    "services": {"gif_enabled": bool, "youtube_enabled": bool, "bluesky_enabled": bool},
    "limits": {"version": int, "traitDefinitions": list, "rules": list, "defaultsHash": str},
    "push": {"public_vapid_key": str},
    "app_public": {
        "branding": {
            "product_name": str, "icon_url": None, "symbol_url": None, "logo_url": None, "wordmark_url": None,
            "favicon_url": None, "theme_color": None,
        },
        "description": None,
        "welcome_invite": None,
        "setup": {"configured": bool, "admin_url": None},
        "legal": {"terms_url": None, "privacy_url": None},
        "registration": {"collect_date_of_birth": bool},
    },
}  # fmt: skip
"""Every key of the document with the type of its value; None for a value that nothing of this instance sets."""


def assert_shape(value: Any, shape: Any, path: str = "") -> None:
    if shape is None:
        assert value is None, path
    elif isinstance(shape, dict):
        assert set(value) == set(shape), path
        for name, inner in shape.items():
            assert_shape(value[name], inner, f"{path}.{name}")
    else:
        assert type(value) is shape, path


async def test_every_key_is_there(chat_world: World) -> None:
    answer = await chat_world.anyone.get("/.well-known/chat")
    assert answer.header("Access-Control-Allow-Origin") == "*"
    assert answer.header("Content-Type") == "application/json"
    assert_shape(answer.expect(200), SHAPE)
    features = answer.json()["features"]
    assert (features["account_identity"], features["tag_style"]) == ("email", "random")
    assert features["phone_verification_enabled"] is False


async def test_addresses_are_below_the_public_origin(chat_world: World, chat_server: ChatServer) -> None:
    endpoints = (await chat_world.anyone.get("/.well-known/chat")).expect(200)["endpoints"]
    origin = chat_server.settings.public_url
    assert endpoints["api"] == f"{origin}/v1"
    assert endpoints["gateway"] == origin.replace("http", "ws") + "/gateway"
    assert all("?" not in address for address in endpoints.values())


@pytest.mark.chat_settings(
    public_url="https://chat.example",
    registration="closed",
    single_community_enabled=True,
    single_community_guild_id=5,
    service_name="Parlour",
    sign_in="username",
    tag_style="none",
    **{"mail.mode": "off"},
)
async def test_the_settings_show(chat_world: World) -> None:
    document = (await chat_world.anyone.get("/.well-known/chat")).expect(200)
    assert document["endpoints"]["api"] == "https://chat.example/v1"
    assert document["endpoints"]["gateway"] == "wss://chat.example/gateway"
    assert document["registration"]["mode"] == "closed"
    assert document["community"]["single_community_guild_id"] == "5"
    assert document["features"]["emails_enabled"] is False
    assert document["features"]["account_identity"] == "username"
    assert document["features"]["tag_style"] == "none"
    assert document["app_public"]["branding"]["product_name"] == "Parlour"


async def test_limits_are_rules_by_trait(chat_world: World) -> None:
    limits = (await chat_world.anyone.get("/.well-known/chat")).expect(200)["limits"]
    plain, premium = limits["rules"]
    assert plain["overrides"]["max_guilds"] == 100
    assert premium["filters"] == {"traits": ["premium"]}
    assert premium["overrides"]["max_guilds"] == 200
    assert limits["traitDefinitions"] == ["premium"]
    for rule in limits["rules"]:
        assert all(type(value) is int for value in rule["overrides"].values())


async def test_health(chat_world: World, chat_server: ChatServer, autojump_clock: trio.testing.MockClock) -> None:
    assert (await chat_world.anyone.get("/_health")).expect(200) == {"status": "ok"}
    assert (await chat_world.anyone.request("HEAD", "/_health")).status == 200
    assert (await chat_world.anyone.get("/_ready")).expect(200) == {"status": "ok"}
    chat_server.database.failing = True
    for path in ("/_health", "/_ready"):
        answer = await chat_world.anyone.get(path)
        assert answer.expect(503) == {"status": "failing", "reason": "the store cannot be written"}
        assert answer.header("Retry-After") == "1"
    chat_server.database.failing = False
    await trio.sleep(RETRY_SECONDS)
    for path in ("/_health", "/_ready"):
        assert (await chat_world.anyone.get(path)).expect(200) == {"status": "ok"}


async def test_a_server_that_drains_is_healthy_and_not_ready(chat_world: World, chat_server: ChatServer) -> None:
    chat_server.server.gateway.node.draining = True
    told = (await chat_world.anyone.get("/_ready")).expect(503)
    assert told == {"status": "draining", "reason": "this server is going away"}
    assert (await chat_world.anyone.get("/_health")).status == 200


async def test_the_store_is_tried_where_nothing_was_written_lately(
    chat_world: World, chat_server: ChatServer, autojump_clock: trio.testing.MockClock
) -> None:
    async def touched() -> str | None:
        assert (await chat_world.anyone.get("/_ready")).status == 200
        return instance.value_of(chat_server.database.reader, instance.TOUCHED)

    seen = []
    for _ in range(3):
        await trio.sleep(TRUSTED_SECONDS)
        seen.append(await touched())
        assert await touched() == seen[-1]  # it was written just now
    assert seen in (["1", "0", "1"], ["0", "1", "0"])
