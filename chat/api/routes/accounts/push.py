"""Operations on push subscriptions: browsers that are told of messages (Web Push; a convention of the field)."""

from __future__ import annotations

from typing import Annotated

import attrs

from chat.api import buckets
from chat.api.fields import Exact, Length
from chat.api.operation import Policy, Request, Routes
from chat.api.schemas.accounts import PUSH_SUBSCRIBED, PUSH_SUBSCRIPTIONS, PUSH_UNSUBSCRIBED
from chat.domain.accounts.assemble import AccountsArea

routes = Routes(policy=Policy.USER_ONLY)

ENDPOINT_CHARACTERS = 2_048
KEY_CHARACTERS = 256
USER_AGENT_CHARACTERS = 512


@attrs.frozen(kw_only=True)
class PushKeys:
    """What a browser gives out with a subscription (RFC 8291), in base64 of either alphabet."""

    p256dh: Annotated[str, Length(1, KEY_CHARACTERS)]
    auth: Annotated[str, Exact(), Length(1, KEY_CHARACTERS)] = attrs.field(repr=False)


@attrs.frozen(kw_only=True)
class Subscribe:
    """The body of POST /v1/users/@me/push/subscribe, as `PushSubscription.toJSON()` has it."""

    endpoint: Annotated[str, Exact(), Length(1, ENDPOINT_CHARACTERS)] = attrs.field(repr=False)
    keys: PushKeys
    user_agent: Annotated[str, Length(1, USER_AGENT_CHARACTERS)] | None = None


@routes.operation("POST", "/v1/users/@me/push/subscribe", bucket=buckets.PUSH_CHANGE, answers=PUSH_SUBSCRIBED)
async def subscribe_to_push(request: Request, accounts: AccountsArea, body: Subscribe) -> object:
    """Tell a browser of messages while the caller uses no client."""
    return await accounts.push_subscriptions.subscribe(
        request.principal, body.endpoint, body.keys.p256dh, body.keys.auth, body.user_agent
    )


@routes.operation("GET", "/v1/users/@me/push/subscriptions", bucket=buckets.PUSH, answers=PUSH_SUBSCRIPTIONS)
async def list_push_subscriptions(request: Request, accounts: AccountsArea) -> object:
    """The browsers that are told, the one that subscribed first at the front."""
    return {"subscriptions": accounts.push_subscriptions.of_user(request.principal.user_id)}


@routes.operation(
    "DELETE", "/v1/users/@me/push/subscriptions/{subscription}", bucket=buckets.PUSH_CHANGE, answers=PUSH_UNSUBSCRIBED
)
async def unsubscribe_from_push(request: Request, accounts: AccountsArea, subscription: str) -> object:
    """Tell a browser no more. Of one that was not told, or is forgotten already, the answer is the same."""
    await accounts.push_subscriptions.unsubscribe(request.principal.user_id, subscription, request.guard)
    return {"success": True}
