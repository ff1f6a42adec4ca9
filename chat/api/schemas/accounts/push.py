"""Push subscriptions (a convention of the field)."""

from __future__ import annotations

from typing import Final

from chat.api.schemas.shapes import TEXT, choice, listed, nullable, record, text, wire_object

_ID: Final = text(pattern="^[0-9a-f]{32}$")

PUSH_SUBSCRIBED: Final = record({"subscription_id": _ID})
PUSH_SUBSCRIPTIONS: Final = record(
    {
        "subscriptions": listed(
            wire_object("PushSubscription", {"subscription_id": _ID, "user_agent": nullable(TEXT)})
        ),
    }
)
PUSH_UNSUBSCRIBED: Final = record({"success": choice(True)})
