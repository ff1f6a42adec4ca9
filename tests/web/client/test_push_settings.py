"""The switch that has a browser told of messages while no tab is open. It takes a browser that has notifications."""

from __future__ import annotations

from base64 import urlsafe_b64encode
from typing import Final

import pytest
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from tests.web.client.test_account_settings import Holder, holder

__all__ = ["holder"]

pytestmark = pytest.mark.whole_browser

SUBSCRIBED: Final = """(keys) => {
    const subscription = { endpoint: keys.endpoint, toJSON: () => keys, unsubscribe: async () => (made = null, true) };
    let made = null;
    PushManager.prototype.subscribe = async () => (made = subscription);
    PushManager.prototype.getSubscription = async () => made;
}"""
"""A browser with a push service of its own; the system's Chromium has none."""


def test_a_browser_is_told_of_messages_and_no_more(holder: Holder) -> None:
    holder.context.grant_permissions(["notifications"])
    public = ec.generate_private_key(ec.SECP256R1()).public_key()
    point = public.public_bytes(Encoding.X962, PublicFormat.UncompressedPoint)
    keys = {"p256dh": urlsafe_b64encode(point).decode(), "auth": urlsafe_b64encode(bytes(16)).decode()}
    holder.opens("carol", "privacy")
    holder.page.evaluate(SUBSCRIBED, {"endpoint": "https://push.example/1", "keys": keys})
    holder.follows("Notifications")
    switch = holder.page.get_by_role("switch", name="Notify me in this browser")
    switch.check()
    holder.page.get_by_role("button", name="Stop notifications in Chrome").wait_for()
    assert len(holder.kept("/v1/users/@me/push/subscriptions")["subscriptions"]) == 1
    holder.page_is_accessible()
    switch.uncheck()
    holder.page.get_by_role("button", name="Stop notifications in Chrome").wait_for(state="detached")
    assert holder.kept("/v1/users/@me/push/subscriptions")["subscriptions"] == []
