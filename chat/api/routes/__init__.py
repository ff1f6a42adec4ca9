"""The operations of the HTTP API, one module per family."""

from __future__ import annotations

from typing import Final

from chat.api.operation import Routes
from chat.api.routes import (
    account_closing,
    accounts,
    applications,
    audit_log,
    authentication,
    bans,
    channels,
    discovery,
    email_change,
    expressions,
    gateway_bot,
    guild_channels,
    guild_discovery,
    guilds,
    invites,
    ip_authorization,
    login_completion,
    media,
    members,
    messages,
    oauth2,
    passkey_bridge,
    password_change,
    private_channels,
    recovery,
    relationships,
    roles,
    second_factors,
    single_sign_on,
    threads,
    uploads,
    user_guild_settings,
    user_settings,
    webhooks,
)

ROUTES: Final[tuple[Routes, ...]] = tuple(
    module.routes
    for module in (
        discovery,
        gateway_bot,
        authentication,
        login_completion,
        passkey_bridge,
        ip_authorization,
        single_sign_on,
        recovery,
        accounts,
        password_change,
        email_change,
        account_closing,
        second_factors,
        user_settings,
        user_guild_settings,
        relationships,
        private_channels,
        threads,
        applications,
        oauth2,
        guilds,
        guild_channels,
        guild_discovery,
        roles,
        expressions,
        bans,
        audit_log,
        members,
        channels,
        messages,
        uploads,
        media,
        webhooks,
        invites,
    )
)
"""Every operation that any server has; those of `chat.development` come on top where they are wanted."""
