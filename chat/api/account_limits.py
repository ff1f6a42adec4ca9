"""Operations that a limited account may not call: 403 ACCOUNT_LIMITED (access.md, Account gates).

The documents name the gate and leave the list to the instance; this is it. An operation on it that does not exist yet
takes effect when it is declared. Opening a conversation is limited only towards an account never written to, so the
conversations themselves ask for that, not this list.
"""

from __future__ import annotations

from typing import Final

ACCOUNT_LIMITED_OPERATIONS: Final = frozenset(
    {
        ("POST", "/v1/guilds"),
        ("POST", "/v1/channels/{channel_id}/invites"),
        ("POST", "/v1/invites/{invite_code}"),
        ("POST", "/v1/discovery/guilds/{guild_id}/join"),
        ("POST", "/v1/users/@me/relationships"),
        ("POST", "/v1/users/@me/relationships/{user_id}"),
        ("POST", "/v1/channels/{channel_id}/threads"),
        ("POST", "/v1/channels/{channel_id}/messages/{message_id}/threads"),
        ("POST", "/v1/oauth2/applications"),
        ("POST", "/v1/channels/{channel_id}/webhooks"),
        ("POST", "/v1/channels/{channel_id}/followers"),
    }
)
"""Method and declared path."""
