"""Every operation of the HTTP API."""

from __future__ import annotations

from typing import Final

from chat.api.operation import Routes
from chat.api.routes import administration, discovery, gateway_bot, openapi, policy, threads
from chat.api.routes.accounts import accounts, user_settings
from chat.api.routes.applications import applications, oauth2
from chat.api.routes.guilds import (
    community_imports,
    expressions,
    guild_channels,
    guild_discovery,
    guilds,
    invites,
    members,
    placeholders,
    roles,
)
from chat.api.routes.interactions import application_commands, interactions
from chat.api.routes.messages import (
    drafts,
    gifs,
    kept_messages,
    message_deletion,
    message_search,
    messages,
    pins,
    polls,
    reactions,
    read_states,
    reminders,
    scheduled_messages,
    uploads,
)
from chat.api.routes.people import private_channels, relationships
from chat.api.routes.signing_in import (
    authentication,
    email_change,
    handoffs,
    login_completion,
    recovery,
    second_factors,
    single_sign_on,
)
from chat.api.routes.webhooks import webhook_dialects, webhooks

ROUTES: Final[tuple[Routes, ...]] = tuple(
    module.routes
    for module in (
        discovery,
        openapi,
        gateway_bot,
        authentication,
        login_completion,
        single_sign_on,
        recovery,
        accounts,
        email_change,
        second_factors,
        user_settings,
        relationships,
        private_channels,
        threads,
        applications,
        oauth2,
        application_commands,
        interactions,
        guilds,
        handoffs,
        guild_channels,
        guild_discovery,
        roles,
        expressions,
        members,
        messages,
        message_deletion,
        pins,
        message_search,
        polls,
        reactions,
        read_states,
        gifs,
        kept_messages,
        drafts,
        reminders,
        scheduled_messages,
        uploads,
        administration,
        policy,
        webhook_dialects,
        webhooks,
        invites,
        placeholders,
        community_imports,
    )
)
"""The operations of every server beside the administrative ones; those of `chat.development` come on top where they are
wanted."""
